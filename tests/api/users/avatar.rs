//! `POST` and `DELETE /users/me/avatar`.

use crate::harness::pictures::{self, BLUE, Looks, RED};
use crate::harness::{Answer, Client, TestServer};
use image::ImageFormat;
use reqwest::Method;
use serde_json::{Value, json};

async fn upload(client: &Client, files: &[(&str, &str, &[u8])]) -> Answer {
    client.request(Method::POST, "/users/me/avatar").multipart((), files).send().await
}

async fn load(server: &TestServer, url: &Value) -> Answer {
    server.anonymous().request_outside(Method::GET, url.as_str().unwrap()).send().await
}

// conformance: user-34
#[tokio::test]
async fn an_uploaded_image_is_everywhere_until_it_is_deleted() {
    let server = TestServer::start().await;
    let (ada, eve) = (server.member("ada").await, server.guest("eve").await);
    let id = ada.send_direct(&[&eve], "hello").await;
    let mut events =
        eve.register(json!({"event_types": ["realm_user", "message"], "client_gravatar": true})).await;
    let wide = pictures::png(900, 300);
    let answer = upload(&ada, &[("file", "me.png", &wide)]).await.ok();
    let url = answer["avatar_url"].clone();
    let medium = json!(url.as_str().unwrap().replace(".png?", "-medium.png?"));
    let person = json!({"user_id": ada.user_id, "avatar_url": url, "avatar_source": "U", "avatar_url_medium": medium,
        "avatar_version": 2});
    events.expect(&[json!({"type": "realm_user", "op": "update", "person": person})]).await;
    for (url, side) in [(&url, 100), (&medium, 500)] {
        let image = load(&server, url).await;
        assert_eq!((image.status, image.header("content-type")), (200, "image/png"));
        assert_eq!(image.header("cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(pictures::look(&image.bytes), Looks(ImageFormat::Png, side, side, false, BLUE));
    }
    assert!(url.as_str().unwrap().ends_with(".png?version=2"), "{url}");
    let sent = ada.send_direct(&[&eve], "with a face").await;
    for id in [id, sent] {
        assert_eq!(eve.message(id).await["avatar_url"], url);
    }
    let received = events.events().await;
    assert_eq!(received[0]["message"]["avatar_url"], url);
    assert_eq!(eve.get(&format!("/users/{}", ada.user_id), ()).await.ok()["user"]["avatar_url"], url);
    let own = ada.get("/users/me", ()).await.ok();
    assert_eq!((&own["avatar_url"], &own["avatar_version"]), (&url, &json!(2)));
    let state = ada.post("/register", json!({"fetch_event_types": ["realm_user"]})).await.ok();
    assert_eq!(state["avatar_source"], "U");
    assert_eq!((&state["avatar_url"], &state["avatar_url_medium"]), (&url, &medium));
    let path = format!("/avatar/{}/medium", ada.user_id);
    let way = eve.request_outside(Method::GET, &path).send().await;
    assert_eq!((way.status, json!(way.header("location"))), (302, medium));

    let answer = ada.delete("/users/me/avatar", ()).await.ok();
    let drawn = json!(format!("/user_avatars/1/generated/{}.png?version=3", ada.user_id));
    assert_eq!(answer["avatar_url"], drawn);
    let medium = json!(format!("/user_avatars/1/generated/{}-medium.png?version=3", ada.user_id));
    let person = json!({"user_id": ada.user_id, "avatar_url": drawn, "avatar_source": "G",
        "avatar_url_medium": medium, "avatar_version": 3});
    events.expect(&[json!({"type": "realm_user", "op": "update", "person": person})]).await;
    assert_eq!(eve.message(id).await["avatar_url"], drawn);
    load(&server, &url).await.error(404, "BAD_REQUEST", "Not found");
    assert_eq!(load(&server, &drawn).await.status, 200);
}

// conformance: user-35
#[tokio::test]
async fn a_new_image_takes_the_place_of_the_old_one() {
    let server = TestServer::start().await;
    let ada = server.guest("ada").await;
    let mut urls = Vec::new();
    for (name, file) in [("a.gif", pictures::gif(8, 8, &[RED, BLUE])), ("b.png", pictures::png(10, 20))] {
        urls.push(upload(&ada, &[("file", name, &file)]).await.ok()["avatar_url"].clone());
    }
    load(&server, &urls[0]).await.error(404, "BAD_REQUEST", "Not found");
    assert_eq!(
        pictures::look(&load(&server, &urls[1]).await.bytes),
        Looks(ImageFormat::Png, 100, 100, false, BLUE)
    );
    assert_eq!(server.column("SELECT count(*) FROM public_image").await, ["2"]);
}

// conformance: user-36
#[tokio::test]
async fn invalid_images_change_nothing() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let png = pictures::png(10, 10);
    let one = "You must upload exactly one avatar.";
    ada.post("/users/me/avatar", ()).await.error(400, "BAD_REQUEST", one);
    upload(&ada, &[("a", "a.png", &png), ("b", "b.png", &png)]).await.error(400, "BAD_REQUEST", one);
    let large = vec![0; (5 << 20) + 1];
    let msg = "Uploaded file is larger than the allowed limit of 5 MiB";
    upload(&ada, &[("a", "a.png", &large)]).await.error(400, "BAD_REQUEST", msg);
    upload(&ada, &[("a", "a.pdf", &png)]).await.error(400, "BAD_IMAGE", "Invalid image format");
    let msg = "Could not decode image; did you upload an image file?";
    upload(&ada, &[("a", "a.png", b"\x89PNG\r\n\x1a\nand so on")]).await.error(400, "BAD_IMAGE", msg);
    let own = ada.get("/users/me", ()).await.ok();
    assert_eq!(own["avatar_version"], 1);
    assert_eq!(server.column("SELECT count(*) FROM public_image").await, ["0"]);
    let msg = "Not logged in: API authentication or user session required";
    upload(&server.anonymous(), &[("a", "a.png", &png)]).await.error(401, "UNAUTHORIZED", msg);
    server.anonymous().delete("/users/me/avatar", ()).await.error(401, "UNAUTHORIZED", msg);
}

// conformance: user-37
#[tokio::test]
async fn where_images_may_not_be_changed_administrators_still_may() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.administrator("bob").await);
    server.set_realm_setting("avatar_changes_disabled", json!(true)).await;
    let png = pictures::png(10, 10);
    let msg = "Avatar changes are disabled in this organization.";
    upload(&ada, &[("a", "a.png", &png)]).await.error(400, "BAD_REQUEST", msg);
    ada.delete("/users/me/avatar", ()).await.error(400, "BAD_REQUEST", msg);
    ada.post("/users/me/avatar", ()).await.error(400, "BAD_REQUEST", "You must upload exactly one avatar.");
    upload(&bob, &[("a", "a.png", &png)]).await.ok();
    bob.delete("/users/me/avatar", ()).await.ok();
}

// conformance: user-38
#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.administrator("ada").await, server.member("bob").await);
    ada.send_direct(&[&bob], "hello").await;
    upload(&bob, &[("a", "a.png", &pictures::png(10, 10))]).await.ok();
    server
        .check_state_sync(&[&ada, &bob], async || {
            upload(&ada, &[("a", "a.png", &pictures::png(10, 10))]).await.ok();
            bob.delete("/users/me/avatar", ()).await.ok();
        })
        .await;
}
