//! The operations that admit visitors, and those that do not.

use super::{NOT_LOGGED_IN, Place, fetch, page, refused};
use reqwest::Method;
use serde_json::json;

/// The published list (feature level 387), public pages, and posts to webhooks, which have the key of a bot in the query
/// string.
const OPEN: [&str; 14] = [
    "GET /api/v1/messages",
    "GET /api/v1/messages/{message_id}",
    "GET /api/v1/users",
    "GET /api/v1/users/me/{stream_id}/topics",
    "GET /avatar/{user_id_or_email}",
    "GET /avatar/{user_id_or_email}/medium",
    "GET /public",
    "GET /public/{channel}",
    "GET /public/{channel}/{topic}",
    "GET /user_uploads/download/{realm_id}/{filename...}",
    "GET /user_uploads/thumbnail/{realm_id}/{filename...}",
    "GET /user_uploads/{realm_id}/{filename...}",
    "POST /api/v1/external/{integration}",
    "POST /api/v1/register",
];

// conformance: visit-10
#[tokio::test]
async fn visitors_call_these_operations_and_no_others() {
    let place = Place::new().await;
    let service = teamchat::http::Router::new(teamchat::api::routes()).unwrap();
    let mut open: Vec<String> = service
        .routes()
        .iter()
        .filter(|route| route.access == "visitor")
        .map(|route| format!("{} {}", route.method, route.full_path()))
        .collect();
    open.sort();
    assert_eq!(open, OPEN);
    let id = place.ada.send(place.web, "t", "x").await;
    for route in service.routes().iter().filter(|route| !route.outside && route.access != "anyone") {
        let line = format!("{} {}", route.method, route.full_path());
        if OPEN.contains(&line.as_str()) {
            continue;
        }
        let path = route.path.replace("{message_id}", &id.to_string()).replace(['{', '}', '.'], "");
        // Many refusals of one address would be refused for that.
        place.server.app().rate_limiter.clear();
        refused(place.visitor.request(route.method.clone(), &path).send().await);
    }
    refused(place.visitor.get("/events", json!({"queue_id": "1", "last_event_id": -1})).await);
    let reaction = json!({"emoji_name": "tada"});
    refused(place.visitor.post(&format!("/messages/{id}/reactions"), reaction).await);
    assert_eq!(place.ada.message(id).await["reactions"], json!([]));
}

// conformance: visit-11
#[tokio::test]
async fn programs_have_a_key() {
    let place = Place::new().await;
    let id = place.ada.send(place.web, "t", "x").await;
    let program = place.server.anonymous();
    let narrow = page(json!([]));
    let one = format!("/messages/{id}");
    let topics = format!("/users/me/{}/topics", place.web);
    for (method, path) in [
        (Method::GET, "/messages"),
        (Method::GET, &*one),
        (Method::GET, &*topics),
        (Method::GET, "/users"),
        (Method::POST, "/register"),
    ] {
        let request = |client: &crate::harness::Client| {
            let request = client.request(method.clone(), path);
            if path == "/messages" { request.query(&narrow) } else { request }
        };
        request(&program).send().await.error(401, "UNAUTHORIZED", NOT_LOGGED_IN);
        request(&place.ada.with_key(&"0".repeat(32))).send().await.error(
            401,
            "UNAUTHORIZED",
            "Invalid API key",
        );
        request(&place.visitor).send().await.ok();
        request(&place.ada).send().await.ok();
        // A session that ended is none. One that lives counts.
        request(&place.visitor.in_browser(Some("x".repeat(32)))).send().await.ok();
    }
    // With a wrong key there is no file and no image, even of a web-public channel.
    let forged = place.ada.with_key(&"0".repeat(32));
    let avatar = format!("/avatar/{}", place.ada.user_id);
    forged.request_outside(Method::GET, &avatar).send().await.error(401, "UNAUTHORIZED", "Invalid API key");
    // Another site cannot have a browser register.
    let request = place.visitor.request(Method::POST, "/register").header("Sec-Fetch-Site", "cross-site");
    request.send().await.error(403, "CSRF_FAILED", "CSRF error: The request comes from another site.");
    // A user has the ordinary rules, even those that are stricter.
    let narrow = json!([["channels", "web-public"]]);
    place.guest.get("/messages", fetch(narrow)).await.ok();
}

// conformance: visit-12
#[tokio::test]
async fn settings_announce_if_there_is_anything_to_read() {
    let place = Place::new().await;
    let is_announced = async || {
        let settings = place.server.anonymous().get("/server_settings", ()).await.ok();
        let register = place.ada.post("/register", json!({"fetch_event_types": ["realm"]})).await.ok();
        assert_eq!(register["server_web_public_streams_enabled"], true);
        settings["realm_web_public_access_enabled"].as_bool().unwrap()
    };
    assert!(is_announced().await);
    place.archive(place.old).await;
    let path = format!("/streams/{}", place.web);
    place.owner.patch(&path, json!({"is_web_public": false})).await.ok();
    assert!(!is_announced().await, "without a channel");
    place.owner.patch(&path, json!({"is_web_public": true})).await.ok();
    assert!(is_announced().await);
    let mut events = place.ada.register(json!({"event_types": ["realm"]})).await;
    place.set_access(false).await;
    assert!(!is_announced().await, "while it is off");
    events
        .expect(&[
            json!({"type": "realm", "op": "update", "property": "enable_spectator_access", "value": false}),
        ])
        .await;
    place.set_access(true).await;
    events
        .expect(&[
            json!({"type": "realm", "op": "update", "property": "enable_spectator_access", "value": true}),
        ])
        .await;
}
