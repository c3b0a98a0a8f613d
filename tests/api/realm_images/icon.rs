//! `GET`, `POST` and `DELETE /realm/icon`.

use super::{announced, changed, load, upload};
use crate::harness::TestServer;
use crate::harness::pictures::{self, BLUE, Looks};
use image::ImageFormat;
use reqwest::Method;
use serde_json::json;

// conformance: realm-12
#[tokio::test]
async fn administrators_change_the_icon_for_all_users() {
    let server = TestServer::start().await;
    let (ada, eve) = (server.administrator("ada").await, server.guest("eve").await);
    let mut events = eve.register(json!({"event_types": ["realm"]})).await;
    let default = json!("/static/images/organization.png");
    assert_eq!(announced(&eve, "icon").await, (default.clone(), json!("G")));
    let icon = pictures::png(600, 300);
    let answer = upload(&ada, "/realm/icon", json!({}), &[("file", "icon.png", &icon)]).await.ok();
    let url = json!("/user_avatars/1/realm/icon.png?version=2");
    assert_eq!(answer["icon_url"], url);
    events.expect(&[changed("icon", &url, "U")]).await;
    assert_eq!(announced(&eve, "icon").await, (url.clone(), json!("U")));
    let settings = server.anonymous().get("/server_settings", ()).await.ok();
    assert_eq!(settings["realm_icon"], url);
    let image = load(&server, &url).await;
    assert_eq!((image.status, image.header("content-type")), (200, "image/png"));
    assert_eq!(pictures::look(&image.bytes), Looks(ImageFormat::Png, 100, 100, false, BLUE));
    let way = eve.request(Method::GET, "/realm/icon").send().await;
    assert_eq!((way.status, json!(way.header("location"))), (302, url.clone()));

    let answer = ada.delete("/realm/icon", ()).await.ok();
    assert_eq!(answer["icon_url"], default);
    events.expect(&[changed("icon", &default, "G")]).await;
    assert_eq!(announced(&eve, "icon").await, (default.clone(), json!("G")));
    load(&server, &url).await.error(404, "BAD_REQUEST", "Not found");
    let way = eve.request(Method::GET, "/realm/icon").send().await;
    assert_eq!((way.status, json!(way.header("location"))), (302, default));
    // A version is never used twice.
    let answer = upload(&ada, "/realm/icon", json!({}), &[("file", "icon.png", &icon)]).await.ok();
    assert_eq!(answer["icon_url"], "/user_avatars/1/realm/icon.png?version=4");
    events.expect(&[changed("icon", &answer["icon_url"], "U")]).await;
}

// conformance: realm-14
#[tokio::test]
async fn invalid_icons_and_callers_are_refused() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.administrator("ada").await, server.moderator("bob").await);
    let png = pictures::png(10, 10);
    let refused = "Must be an organization administrator";
    upload(&bob, "/realm/icon", json!({}), &[("a", "a.png", &png)]).await.error(
        400,
        "UNAUTHORIZED_PRINCIPAL",
        refused,
    );
    bob.delete("/realm/icon", ()).await.error(400, "UNAUTHORIZED_PRINCIPAL", refused);
    let one = "You must upload exactly one icon.";
    ada.post("/realm/icon", ()).await.error(400, "BAD_REQUEST", one);
    let two = [("a", "a.png", &png[..]), ("b", "b.png", &png)];
    upload(&ada, "/realm/icon", json!({}), &two).await.error(400, "BAD_REQUEST", one);
    let large = vec![0; (5 << 20) + 1];
    let msg = "Uploaded file is larger than the allowed limit of 5 MiB";
    upload(&ada, "/realm/icon", json!({}), &[("a", "a.png", &large)]).await.error(400, "BAD_REQUEST", msg);
    let msg = "Invalid image format";
    upload(&ada, "/realm/icon", json!({}), &[("a", "a.svg", &png)]).await.error(400, "BAD_IMAGE", msg);
    let msg = "Could not decode image; did you upload an image file?";
    upload(&ada, "/realm/icon", json!({}), &[("a", "a.png", b"hello")]).await.error(400, "BAD_IMAGE", msg);
    assert_eq!(announced(&ada, "icon").await.1, "G");
    let anonymous = server.anonymous();
    let msg = "Not logged in: API authentication or user session required";
    for method in [Method::GET, Method::POST, Method::DELETE] {
        anonymous.request(method, "/realm/icon").send().await.error(401, "UNAUTHORIZED", msg);
    }
}

#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.owner().await, server.member("bob").await);
    let png = pictures::png(10, 10);
    server
        .check_state_sync(&[&ada, &bob], async || {
            upload(&ada, "/realm/icon", json!({}), &[("a", "a.png", &png)]).await.ok();
            upload(&ada, "/realm/logo", json!({"night": true}), &[("a", "a.png", &png)]).await.ok();
            upload(&ada, "/realm/logo", json!({"night": false}), &[("a", "a.png", &png)]).await.ok();
        })
        .await;
    server
        .check_state_sync(&[&ada, &bob], async || {
            ada.delete("/realm/icon", ()).await.ok();
            ada.delete("/realm/logo", json!({"night": true})).await.ok();
        })
        .await;
}
