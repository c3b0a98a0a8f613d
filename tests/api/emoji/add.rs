//! `GET /realm/emoji` and `POST /realm/emoji/{emoji_name}`.

use super::{add, all, record, upload};
use crate::harness::pictures::{self, Looks, RED};
use crate::harness::{TestServer, differences};
use image::ImageFormat;
use reqwest::Method;
use serde_json::json;
use teamchat::domain::groups::system::SystemGroup;

#[tokio::test]
async fn added_emoji_are_emitted_as_a_full_list() {
    let server = TestServer::start().await;
    let (ada, bob, eve) =
        (server.member("ada").await, server.administrator("bob").await, server.guest("eve").await);
    assert_eq!(all(&ada).await, json!({}));
    let mut events = eve.register(json!({"event_types": ["realm_emoji"]})).await;
    assert_eq!(events.state["realm_emoji"], json!({}));
    add(&ada, "green%20tick").await.ok();
    let first = json!({"1": record(1, "green_tick", &ada, false)});
    events.expect(&[json!({"type": "realm_emoji", "op": "update", "realm_emoji": first})]).await;
    add(&bob, "%20dance-2").await.ok();
    let both = json!({"1": record(1, "green_tick", &ada, false), "2": record(2, "dance-2", &bob, false)});
    events.expect(&[json!({"type": "realm_emoji", "op": "update", "realm_emoji": both})]).await;
    assert_eq!(differences(&both, &all(&eve).await), [""; 0]);
    let urls = all(&eve).await;
    assert_ne!(urls["1"]["source_url"], urls["2"]["source_url"]);
    for client in [&ada, &eve] {
        let state = client.post("/register", json!({"fetch_event_types": ["realm_emoji"]})).await.ok();
        assert_eq!(state["realm_emoji"], all(client).await);
    }
    server.anonymous().get("/realm/emoji", ()).await.error(
        401,
        "UNAUTHORIZED",
        "Not logged in: API authentication or user session required",
    );
}

#[tokio::test]
async fn images_are_scaled_and_served_publicly() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let load = async |url: &serde_json::Value| {
        let answer = server.anonymous().request_outside(Method::GET, url.as_str().unwrap()).send().await;
        assert_eq!(answer.status, 200, "{url}");
        assert_eq!(answer.header("cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        answer
    };
    upload(&ada, "still", &[("f", "a.png", &pictures::png(300, 90))]).await.ok();
    upload(&ada, "tiny_one", &[("f", "a.gif", &pictures::gif(8, 8, &[RED]))]).await.ok();
    upload(&ada, "moving", &[("f", "b.gif", &pictures::gif(100, 50, &[RED, pictures::BLUE]))]).await.ok();
    let emoji = all(&ada).await;
    let still = load(&emoji["1"]["source_url"]).await;
    assert_eq!(still.header("content-type"), "image/png");
    assert_eq!(pictures::look(&still.bytes), Looks(ImageFormat::Png, 64, 64, false, pictures::BLUE));
    assert_eq!(emoji["1"]["still_url"], json!(null));
    let small = load(&emoji["2"]["source_url"]).await;
    assert_eq!(pictures::look(&small.bytes), Looks(ImageFormat::Png, 64, 64, false, RED));
    let moving = load(&emoji["3"]["source_url"]).await;
    assert_eq!(moving.header("content-type"), "image/gif");
    assert_eq!(pictures::look(&moving.bytes), Looks(ImageFormat::Gif, 64, 64, true, RED));
    let (source, first) = (emoji["3"]["source_url"].as_str().unwrap(), &emoji["3"]["still_url"]);
    let stem = source.strip_prefix("/user_avatars/1/emoji/images/").unwrap().strip_suffix(".gif").unwrap();
    assert_eq!(*first, json!(format!("/user_avatars/1/emoji/images/still/{stem}.png")));
    let first = load(first).await;
    assert_eq!(pictures::look(&first.bytes), Looks(ImageFormat::Png, 64, 64, false, RED));
    let nothing = server.anonymous();
    for path in
        ["/user_avatars/1/emoji/images/1.png", "/user_avatars/1/", "/user_avatars/2/emoji/images/1.png"]
    {
        nothing.request_outside(Method::GET, path).send().await.error(404, "BAD_REQUEST", "Not found");
    }
}

#[tokio::test]
async fn invalid_names_and_files_are_refused() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.administrator("bob").await);
    let characters =
        "Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores.";
    for (name, msg) in [
        ("Green", characters),
        ("my_em*oji", characters),
        ("my/emoji/with/slashes/", characters),
        ("my%2Femoji", characters),
        ("a_", "Emoji names must end with either a letter or digit."),
        ("%20", "Emoji name is missing"),
    ] {
        add(&ada, name).await.error(400, "BAD_REQUEST", msg);
    }
    let png = pictures::png(10, 10);
    let one = "You must upload exactly one file.";
    upload(&ada, "good", &[("a", "a.png", &png), ("b", "b.png", &png)]).await.error(400, "BAD_REQUEST", one);
    ada.post("/realm/emoji/good", ()).await.error(400, "BAD_REQUEST", one);
    let decode = "Could not decode image; did you upload an image file?";
    upload(&ada, "good", &[("a", "a.txt", b"hello")]).await.error(400, "BAD_IMAGE", "Invalid image format");
    upload(&ada, "good", &[("a", "a.png", b"hello")]).await.error(400, "BAD_IMAGE", decode);
    upload(&ada, "good", &[("a", "a.png", &png[..40])]).await.error(400, "BAD_IMAGE", decode);
    upload(&ada, "good", &[("a", "a.png", b"")]).await.error(400, "BAD_IMAGE", decode);
    let many = pictures::gif(2000, 1000, &[RED; 20]);
    upload(&ada, "good", &[("a", "a.gif", &many)]).await.error(400, "BAD_IMAGE", "Image size exceeds limit.");
    let large = vec![0; (5 << 20) + 1];
    let msg = "Uploaded file is larger than the allowed limit of 5 MiB";
    upload(&ada, "good", &[("a", "a.png", &large)]).await.error(400, "BAD_REQUEST", msg);
    upload(&ada, "good", &[("a", "a.png", &vec![0; 9 << 20])]).await.error(
        413,
        "BAD_REQUEST",
        "Request body is too large",
    );
    let built_in = "Only administrators can override default emoji.";
    add(&ada, "smile").await.error(400, "BAD_REQUEST", built_in);
    assert_eq!(all(&ada).await, json!({}));
    add(&bob, "smile").await.ok();
    // The field may have any name; the published Python client sends the file's whole path.
    let head =
        b"--edge\r\nContent-Disposition: form-data; name=\"/home/ada/a.png\"; filename=\"a.png\"\r\n\r\n";
    let body = [head, &png[..], b"\r\n--edge--\r\n"].concat();
    let request = ada.request(Method::POST, "/realm/emoji/good");
    request.body("multipart/form-data; boundary=edge", body).send().await.ok();
    for client in [&ada, &bob] {
        let exists = "A custom emoji with this name already exists.";
        add(client, "good").await.error(400, "BAD_REQUEST", exists);
    }
    assert_eq!(all(&ada).await.as_object().unwrap().len(), 2);
}

#[tokio::test]
async fn adding_emoji_needs_permission_and_excludes_guests() {
    let server = TestServer::start().await;
    let (ada, bob, eve) =
        (server.member("ada").await, server.moderator("bob").await, server.guest("eve").await);
    let refused = "Insufficient permission";
    add(&eve, "tick_1").await.error(400, "BAD_REQUEST", refused);
    add(&ada, "tick_1").await.ok();
    server.set_realm_group("can_add_custom_emoji_group", SystemGroup::Moderators).await;
    add(&ada, "tick_2").await.error(400, "BAD_REQUEST", refused);
    // The missing permission is reported first.
    add(&ada, "tick_1").await.error(400, "BAD_REQUEST", refused);
    add(&bob, "tick_2").await.ok();
    server.anonymous().post("/realm/emoji/tick_3", ()).await.error(
        401,
        "UNAUTHORIZED",
        "Not logged in: API authentication or user session required",
    );
}

#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.administrator("bob").await);
    add(&ada, "tick_0").await.ok();
    server
        .check_state_sync(&[&ada, &bob], async || {
            add(&ada, "tick_1").await.ok();
            upload(&bob, "tick_2", &[("f", "b.gif", &pictures::gif(9, 9, &[RED, pictures::BLUE]))])
                .await
                .ok();
            super::deactivate(&ada, "tick_0").await.ok();
            add(&bob, "tick_0").await.ok();
        })
        .await;
}
