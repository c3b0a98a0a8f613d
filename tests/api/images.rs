//! Pictures and data at plain addresses.

use crate::harness::TestServer;
use serde_json::Value;

async fn load(server: &TestServer, path: &str) -> (u16, String, Vec<u8>) {
    let answer = reqwest::get(format!("http://{}{path}", server.address())).await.unwrap();
    let content_type = answer.headers()["content-type"].to_str().unwrap().to_owned();
    (answer.status().as_u16(), content_type, answer.bytes().await.unwrap().to_vec())
}

#[tokio::test]
async fn everybody_has_an_image_at_the_address_that_records_name() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let own = ada.get("/users/me", ()).await.ok();
    let (status, content_type, image) = load(&server, own["avatar_url"].as_str().unwrap()).await;
    assert_eq!((status, content_type.as_str(), &image[1..4]), (200, "image/png", &b"PNG"[..]));
    let other = bob.get("/users/me", ()).await.ok();
    assert_ne!(load(&server, other["avatar_url"].as_str().unwrap()).await.2, image);
    let by_email = load(&server, &format!("/avatar/{}", own["email"].as_str().unwrap())).await;
    assert_eq!(by_email.2, image);
    let medium = load(&server, &format!("/avatar/{}/medium", ada.user_id)).await;
    assert_eq!((medium.0, medium.1.as_str()), (200, "image/png"));
    assert_eq!(load(&server, "/avatar/999999").await.0, 404);
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
    let extra = load(&server, "/static/generated/emoji/images/emoji/unicode/zulip.png").await;
    assert_eq!((extra.0, extra.1.as_str()), (200, "image/png"));
}
