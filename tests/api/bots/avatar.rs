//! Images of bots: `POST /bots` and `PATCH /bots/{bot_id}` with a file.

use super::{bot, client, realm_bots};
use crate::harness::pictures::{self, BLUE, Looks};
use crate::harness::{Answer, Client, TestServer};
use hyper::Method;
use image::ImageFormat;
use serde_json::{Value, json};

async fn send(
    client: &Client,
    method: Method,
    path: &str,
    params: Value,
    files: &[(&str, &str, &[u8])],
) -> Answer {
    client.request(method, path).multipart(params, files).send().await
}

// conformance: bot-9
#[tokio::test]
async fn bots_are_created_with_an_image() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let params = json!({"full_name": "Helper", "short_name": "helper"});
    let made =
        send(&ada, Method::POST, "/bots", params, &[("f", "a.png", &pictures::png(20, 20))]).await.ok();
    let url = made["avatar_url"].as_str().unwrap();
    let image = server.anonymous().request_outside(Method::GET, url).send().await;
    assert_eq!(pictures::look(&image.bytes), Looks(ImageFormat::Png, 100, 100, false, BLUE));
    assert_eq!(realm_bots(&ada).await[0]["avatar_url"], url);
    let user = ada.get(&format!("/users/{}", made["user_id"]), ()).await.ok();
    assert_eq!(user["user"]["avatar_url"], url);
    let msg = "Could not decode image; did you upload an image file?";
    let params = json!({"full_name": "Other", "short_name": "other"});
    let answer = send(&ada, Method::POST, "/bots", params, &[("f", "a.png", b"no image")]).await;
    answer.error(400, "BAD_IMAGE", msg);
    assert_eq!(realm_bots(&ada).await.len(), 1);
}

// conformance: bot-18
#[tokio::test]
async fn bot_images_are_emitted_to_administrators_and_users() {
    let server = TestServer::start().await;
    let (ada, eve) = (server.member("ada").await, server.member("eve").await);
    let id = bot(&ada, "helper").await;
    let register = json!({"event_types": ["realm_bot", "realm_user"]});
    let (mut of_ada, mut of_eve) = (ada.register(&register).await, eve.register(&register).await);
    let path = format!("/bots/{id}");
    let png = pictures::png(20, 20);
    let answer = send(&ada, Method::PATCH, &path, json!({}), &[("f", "a.png", &png)]).await.ok();
    let url = answer["avatar_url"].clone();
    let medium = url.as_str().unwrap().replace(".png", "-medium.png");
    let of_bot = json!({"type": "realm_bot", "op": "update", "bot": {"user_id": id, "avatar_url": url}});
    let person = json!({"user_id": id, "avatar_url": url, "avatar_source": "U", "avatar_url_medium": medium,
        "avatar_version": 2});
    let of_user = json!({"type": "realm_user", "op": "update", "person": person});
    of_ada.expect(&[of_bot, of_user.clone()]).await;
    of_eve.expect(&[of_user]).await;
    let two = [("a", "a.png", &png[..]), ("b", "b.png", &png)];
    let msg = "You may only upload one file at a time";
    send(&ada, Method::PATCH, &path, json!({}), &two).await.error(400, "BAD_REQUEST", msg);
    let msg = "Invalid image format";
    send(&ada, Method::PATCH, &path, json!({}), &[("a", "a.exe", &png)]).await.error(400, "BAD_IMAGE", msg);
    let refused = send(&eve, Method::PATCH, &path, json!({}), &[("a", "a.png", &png)]).await;
    refused.error(400, "BAD_REQUEST", "Insufficient permission");
}

// conformance: bot-19
#[tokio::test]
async fn image_events_reproduce_state() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let made = ada.post("/bots", json!({"full_name": "Helper", "short_name": "helper"})).await.ok();
    let bot = client(&server, &ada, &made).await;
    let png = pictures::png(20, 20);
    server
        .check_state_sync(&[&owner, &ada], async || {
            let params = json!({"full_name": "Other", "short_name": "other"});
            send(&ada, Method::POST, "/bots", params, &[("f", "a.png", &png)]).await.ok();
            send(&bot, Method::POST, "/users/me/avatar", json!({}), &[("f", "a.png", &png)]).await.ok();
        })
        .await;
}
