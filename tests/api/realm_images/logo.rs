//! `GET`, `POST` and `DELETE /realm/logo`.

use super::{announced, changed, load, upload};
use crate::harness::TestServer;
use crate::harness::pictures::{self, BLUE, Looks};
use image::ImageFormat;
use reqwest::Method;
use serde_json::json;

// conformance: realm-13
#[tokio::test]
async fn there_are_logos_for_light_and_for_dark_themes() {
    let server = TestServer::start().await;
    let (ada, eve) = (server.administrator("ada").await, server.guest("eve").await);
    let mut events = eve.register(json!({"event_types": ["realm"]})).await;
    let default = json!("/static/images/organization.png");
    // Large ones are made smaller in their own proportions, small ones stay as they are.
    for (night, name, file, (width, height)) in [
        (false, "logo", pictures::png(1000, 100), (800, 80)),
        (true, "night_logo", pictures::png(40, 20), (40, 20)),
    ] {
        assert_eq!(announced(&eve, name).await, (default.clone(), json!("D")));
        let night = json!({"night": night});
        upload(&ada, "/realm/logo", night.clone(), &[("file", "logo.png", &file)]).await.ok();
        let url = json!(format!("/user_avatars/1/realm/{name}.png?version=2"));
        events.expect(&[changed(name, &url, "U")]).await;
        assert_eq!(announced(&eve, name).await, (url.clone(), json!("U")));
        let image = load(&server, &url).await;
        assert_eq!(pictures::look(&image.bytes), Looks(ImageFormat::Png, width, height, false, BLUE));
        let way = eve.request(Method::GET, "/realm/logo").query(&night).send().await;
        assert_eq!((way.status, json!(way.header("location"))), (302, url));
    }
    for (night, name, other) in [(true, "night_logo", "logo"), (false, "logo", "icon")] {
        let before = announced(&eve, other).await;
        ada.delete("/realm/logo", json!({"night": night})).await.ok();
        events.expect(&[changed(name, &default, "D")]).await;
        assert_eq!(announced(&eve, name).await, (default.clone(), json!("D")));
        assert_eq!(announced(&eve, other).await, before);
    }
}

// conformance: realm-14
#[tokio::test]
async fn invalid_logos_and_callers_are_refused() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.administrator("ada").await, server.moderator("bob").await);
    let png = pictures::png(10, 10);
    let (light, path) = (json!({"night": false}), "/realm/logo");
    let refused = "Must be an organization administrator";
    upload(&bob, path, light.clone(), &[("a", "a.png", &png)]).await.error(
        400,
        "UNAUTHORIZED_PRINCIPAL",
        refused,
    );
    bob.delete(path, light.clone()).await.error(400, "UNAUTHORIZED_PRINCIPAL", refused);
    let missing = "Missing 'night' argument";
    upload(&ada, path, json!({}), &[("a", "a.png", &png)]).await.error(
        400,
        "REQUEST_VARIABLE_MISSING",
        missing,
    );
    ada.delete(path, ()).await.error(400, "REQUEST_VARIABLE_MISSING", missing);
    bob.get(path, ()).await.error(400, "REQUEST_VARIABLE_MISSING", missing);
    let msg = "night is not valid JSON";
    ada.delete(path, json!({"night": "dark"})).await.error(400, "BAD_REQUEST", msg);
    let one = "You must upload exactly one logo.";
    ada.post(path, light.clone()).await.error(400, "BAD_REQUEST", one);
    let two = [("a", "a.png", &png[..]), ("b", "b.png", &png)];
    upload(&ada, path, light.clone(), &two).await.error(400, "BAD_REQUEST", one);
    let large = vec![0; (5 << 20) + 1];
    let msg = "Uploaded file is larger than the allowed limit of 5 MiB";
    upload(&ada, path, light.clone(), &[("a", "a.png", &large)]).await.error(400, "BAD_REQUEST", msg);
    let msg = "Invalid image format";
    upload(&ada, path, light.clone(), &[("a", "a.svg", &png)]).await.error(400, "BAD_IMAGE", msg);
    let msg = "Could not decode image; did you upload an image file?";
    upload(&ada, path, light.clone(), &[("a", "a.png", b"hello")]).await.error(400, "BAD_IMAGE", msg);
    assert_eq!(announced(&ada, "logo").await.1, "D");
    let msg = "Not logged in: API authentication or user session required";
    for method in [Method::GET, Method::POST, Method::DELETE] {
        server.anonymous().request(method, path).query(&light).send().await.error(401, "UNAUTHORIZED", msg);
    }
}
