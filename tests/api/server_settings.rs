//! `GET /server_settings`: the request of clients before a login.

use crate::harness::TestServer;
use reqwest::Method;
use serde_json::{Value, json};

// conformance: conv-35, conv-36
#[tokio::test]
async fn a_client_finds_all_that_it_needs_to_log_in() {
    let server = TestServer::start().await;
    let settings = server.anonymous().get("/server_settings", ()).await.ok();
    let origin = format!("http://{}", server.address());
    let version = concat!("11.0-teamchat-", env!("CARGO_PKG_VERSION"));
    let expected = json!({
        "result": "success",
        "msg": "",
        "authentication_methods": {
            "password": true, "email": true, "dev": false, "ldap": false, "remoteuser": false, "github": false,
            "azuread": false, "gitlab": false, "apple": false, "google": false, "saml": false,
            "openid connect": false,
        },
        "external_authentication_methods": [],
        "zulip_feature_level": 421,
        "zulip_version": version,
        "zulip_merge_base": version,
        "svc_feature_level": 421,
        "svc_version": version,
        "svc_merge_base": version,
        "push_notifications_enabled": false,
        "is_incompatible": false,
        "email_auth_enabled": true,
        "require_email_format_usernames": true,
        "realm_uri": origin,
        "realm_url": origin,
        "realm_name": "Team chat",
        "realm_icon": "/static/images/organization.png",
        "realm_description": "",
        "realm_web_public_access_enabled": false,
        "realm_sign_up_enabled": false,
    });
    let sorted = |value: &Value| {
        let mut members: Vec<_> = value.as_object().unwrap().clone().into_iter().collect();
        members.sort_by(|one, other| one.0.cmp(&other.0));
        members
    };
    assert_eq!(sorted(&settings), sorted(&expected));
}

// conformance: auth-4
#[tokio::test]
async fn wrong_credentials_do_no_harm() {
    let server = TestServer::start().await;
    let mut ada = server.member("ada").await;
    ada.api_key = Some("0".repeat(32));
    ada.get("/server_settings", ()).await.ok();
}

// conformance: conv-34
#[tokio::test]
async fn only_a_client_of_one_name_is_too_old() {
    let server = TestServer::start().await;
    for (client, expected) in [("ZulipInvalid/1.0", true), ("ZulipMobile/1.0", false)] {
        let request =
            server.anonymous().request(Method::GET, "/server_settings").header("User-Agent", client);
        assert_eq!(request.send().await.ok()["is_incompatible"], expected, "{client}");
    }
}

// conformance: conv-37
#[tokio::test]
async fn server_settings_follow_the_settings_of_the_organization() {
    let server = TestServer::start().await;
    let admin = server.administrator("admin").await;
    server.set_realm_setting("password_auth_enabled", json!(false)).await;
    server.set_realm_setting("icon_source", json!("U")).await;
    server.set_realm_setting("icon_version", json!(3)).await;
    admin.patch("/realm", json!({"name": "The garden", "description": "With *roses* <b>"})).await.ok();
    let settings = server.anonymous().get("/server_settings", ()).await.ok();
    assert_eq!(settings["email_auth_enabled"], false);
    assert_eq!(
        (&settings["authentication_methods"]["password"], &settings["realm_name"]),
        (&json!(false), &json!("The garden"))
    );
    assert_eq!(settings["realm_icon"], "/user_avatars/1/realm/icon.png?version=3");
    assert_eq!(settings["realm_description"], "<p>With <em>roses</em> &lt;b&gt;</p>");
}

// conformance: conv-38
#[tokio::test]
async fn access_without_an_account_is_offered_where_there_is_something_to_read() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let fetch = json!({"fetch_event_types": ["realm", "realm_user"]});
    let state = owner.post("/register", &fetch).await.ok();
    assert_eq!(state["can_create_web_public_streams"], false);
    owner.patch("/realm", &[("enable_spectator_access", "true")]).await.ok();
    let channel = json!({"subscriptions": [{"name": "shop"}], "is_web_public": true});
    owner.post("/users/me/subscriptions", channel).await.ok();
    let settings = server.anonymous().get("/server_settings", ()).await.ok();
    assert_eq!(settings["realm_web_public_access_enabled"], true);
    let state = owner.post("/register", &fetch).await.ok();
    assert_eq!(state["server_web_public_streams_enabled"], true);
    assert_eq!(state["can_create_web_public_streams"], true);
}

#[tokio::test]
async fn the_description_of_the_operations_is_served() {
    let server = TestServer::start().await;
    let found = server.anonymous().request_outside(Method::GET, "/api/openapi.yaml").send().await;
    assert_eq!((found.status, found.header("content-type")), (200, "text/yaml; charset=utf-8"));
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.yaml");
    assert!(found.bytes == std::fs::read(file).unwrap(), "it is the file");
}

#[tokio::test]
async fn description_is_cached_by_tag() {
    let server = TestServer::start().await;
    let ask = |headers: &[(&str, &str)]| {
        let request = server.anonymous().request_outside(Method::GET, "/api/openapi.yaml");
        headers.iter().fold(request, |request, (name, value)| request.header(name, value)).send()
    };
    let whole = ask(&[]).await;
    let packed = ask(&[("Accept-Encoding", "gzip")]).await;
    assert_eq!((whole.status, packed.status), (200, 200));
    assert!(String::from_utf8_lossy(&whole.bytes).contains("\nopenapi: "));
    assert!(packed.bytes.len() * 4 < whole.bytes.len());
    assert_ne!(whole.header("etag"), packed.header("etag"));
    let known = whole.header("etag").to_owned();
    let again = ask(&[("If-None-Match", &known)]).await;
    assert_eq!((again.status, again.bytes.len(), again.header("etag")), (304, 0, known.as_str()));
    assert_eq!(ask(&[("If-None-Match", "\"other\"")]).await.status, 200);
}
