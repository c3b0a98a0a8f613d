//! Pictures and data at plain addresses.

use crate::harness::{TestServer, pictures};
use flate2::read::GzDecoder;
use image::ImageFormat;
use reqwest::Method;
use serde_json::Value;

async fn load(server: &TestServer, path: &str) -> (u16, String, Vec<u8>) {
    let answer = server.anonymous().request_outside(Method::GET, path).send().await;
    (answer.status, answer.header("content-type").to_owned(), answer.bytes)
}

#[tokio::test]
async fn avatars_are_served_at_the_url_of_user_records() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let own = ada.get("/users/me", ()).await.ok();
    let url = own["avatar_url"].as_str().unwrap();
    assert_eq!(url, format!("/user_avatars/1/generated/{}.png?version=1", ada.user_id));
    let (status, content_type, image) = load(&server, url).await;
    assert_eq!((status, content_type.as_str()), (200, "image/png"));
    assert_eq!(size(&image), (100, 100));
    // Clients make the address of the larger one themselves.
    let medium = load(&server, &url.replace(".png", "-medium.png")).await;
    assert_eq!((medium.0, size(&medium.2)), (200, (500, 500)));
    let other = bob.get("/users/me", ()).await.ok();
    assert_ne!(load(&server, other["avatar_url"].as_str().unwrap()).await.2, image);
    for path in ["generated/x.png", "generated/1.gif", "generated/.png", "nothing.png"] {
        assert_eq!(load(&server, &format!("/user_avatars/1/{path}")).await.0, 404, "{path}");
    }
}

fn size(file: &[u8]) -> (u32, u32) {
    let pictures::Looks(format, width, height, ..) = pictures::look(file);
    assert_eq!(format, ImageFormat::Png);
    (width, height)
}

#[tokio::test]
async fn avatars_redirect_by_id_and_email() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.guest("bob").await);
    let (url, medium) = (
        format!("/user_avatars/1/generated/{}.png?version=1", ada.user_id),
        format!("/user_avatars/1/generated/{}-medium.png?version=1", ada.user_id),
    );
    let unknown = "/user_avatars/1/generated/0.png?version=1";
    for (path, expected) in [
        (format!("/avatar/{}", ada.user_id), url.as_str()),
        (format!("/avatar/{}", ada.email), &url),
        (format!("/avatar/{}?version=7", ada.user_id), &url),
        (format!("/avatar/{}/medium", ada.user_id), &medium),
        (format!("/avatar/{}/medium", ada.email), &medium),
        ("/avatar/999999".to_owned(), "/user_avatars/1/generated/999999.png?version=1"),
        ("/avatar/nobody@example.com".to_owned(), unknown),
    ] {
        let answer = bob.request_outside(Method::GET, &path).send().await;
        assert_eq!((answer.status, answer.header("location")), (302, expected), "{path}");
        let msg = "Not logged in: API authentication or user session required";
        server.anonymous().request_outside(Method::GET, &path).send().await.error(401, "UNAUTHORIZED", msg);
    }
}

#[tokio::test]
async fn the_addresses_of_register_and_server_settings_lead_somewhere() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let settings = server.anonymous().get("/server_settings", ()).await.ok();
    assert_eq!(load(&server, settings["realm_icon"].as_str().unwrap()).await.1, "image/png");
    let state = ada.post("/register", ()).await.ok();
    let address = state["server_emoji_data_url"].as_str().unwrap();
    let data: Value = reqwest::get(address).await.unwrap().json().await.unwrap();
    assert_eq!(data["code_to_names"]["1f600"][0], "grinning");
    let request = server.anonymous().request_outside(Method::GET, "/static/generated/emoji/emoji_api.json");
    let packed = request.header("Accept-Encoding", "gzip").send().await;
    assert_eq!((packed.header("content-encoding"), packed.header("vary")), ("gzip", "Accept-Encoding"));
    let unpacked: Value = serde_json::from_reader(GzDecoder::new(&*packed.bytes)).unwrap();
    assert_eq!(unpacked, data);
    // All codes of the published table are known, as they are in it. It has no times of day, and nothing of its own for skin.
    let published = include_str!("emoji/codes.txt").lines().filter(|code| {
        let is_clock = ("1f550"..="1f567").contains(code) && *code != "1f557";
        !is_clock && !("1f3fb"..="1f3ff").contains(code)
    });
    let names = data["code_to_names"].as_object().unwrap();
    let unknown: Vec<&str> = published.filter(|code| !names.contains_key(*code)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let published: Vec<&str> = include_str!("emoji/codes.txt").lines().collect();
    let newer: Vec<&String> = names.keys().filter(|code| !published.contains(&code.as_str())).collect();
    assert_eq!(newer.len(), 8, "{newer:?}");
    let mut all_names: Vec<&str> = names
        .values()
        .flat_map(|names| names.as_array().unwrap())
        .map(|name| name.as_str().unwrap())
        .collect();
    let count = all_names.len();
    all_names.sort_unstable();
    all_names.dedup();
    assert_eq!(all_names.len(), count, "a name means one emoji");
    let extra = load(&server, "/static/generated/emoji/images/emoji/unicode/zulip.png").await;
    assert_eq!((extra.0, extra.1.as_str()), (200, "image/png"));
}
