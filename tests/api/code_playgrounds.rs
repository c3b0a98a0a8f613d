//! Code playgrounds.

use crate::harness::TestServer;
use serde_json::{Value, json};

fn playground(name: &str, language: &str, url_template: &str) -> Value {
    json!({"name": name, "pygments_language": language, "url_template": url_template})
}

// conformance: realm-20
#[tokio::test]
async fn playgrounds_are_added_and_removed() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let guest = server.guest("guest").await;
    let mut queue = guest.register(json!({"event_types": ["realm_playgrounds"]})).await;
    assert_eq!(queue.state["realm_playgrounds"], json!([]));
    let template = "https://play.example.com/?c={code}";
    let added = admin.post("/realm/playgrounds", playground(" Play ", " C++ ", template)).await.ok();
    let one =
        json!({"id": added["id"], "name": "Play", "pygments_language": "C++", "url_template": template});
    let added = owner.post("/realm/playgrounds", playground("Play", "Rust", template)).await.ok();
    let two =
        json!({"id": added["id"], "name": "Play", "pygments_language": "Rust", "url_template": template});
    owner.delete(&format!("/realm/playgrounds/{}", one["id"]), ()).await.ok();
    let event = |all: Value| json!({"type": "realm_playgrounds", "realm_playgrounds": all});
    queue.expect(&[event(json!([one])), event(json!([one, two])), event(json!([two]))]).await;
    let state = guest.post("/register", json!({"fetch_event_types": ["realm_playgrounds"]})).await.ok();
    assert_eq!(state["realm_playgrounds"], json!([two]));
}

// conformance: realm-20
#[tokio::test]
async fn invalid_playgrounds_are_refused() {
    let server = TestServer::start().await;
    let (admin, ada) = (server.administrator("admin").await, server.member("ada").await);
    let template = "https://play.example.com/?c={code}";
    let good = playground("Play", "Rust", template);
    let id = admin.post("/realm/playgrounds", &good).await.ok()["id"].clone();
    let blank = "This field cannot be blank.";
    let missing = r#"Missing the required variable "code" in the URL template"#;
    let only = r#""code" should be the only variable present in the URL template"#;
    let taken = "Realm playground with this Realm, Pygments language and Name already exists.";
    for (wrong, field, msg) in [
        (playground(" ", "Rust", template), "name", blank),
        (playground("Play", " ", template), "pygments_language", blank),
        (playground("Play", "C", ""), "url_template", blank),
        (playground("Play", "C", "https://play.example.com/{"), "url_template", "Invalid URL template."),
        (playground("Play", "C", "javascript:{code}"), "url_template", "Invalid URL template."),
        (playground("Play", "C", "https://play.example.com"), "__all__", missing),
        (playground("Play", "C", "https://play.example.com/{text}"), "__all__", missing),
        (playground("Play", "C", "https://play.example.com/{code}/{text}"), "__all__", only),
        (good.clone(), "__all__", taken),
    ] {
        let error = admin.post("/realm/playgrounds", &wrong).await.error(400, "BAD_REQUEST", msg);
        assert_eq!(error["errors"][field][0], msg, "{wrong}");
    }
    let wrong = playground("Play", "C\u{e9}", template);
    let refused = admin.post("/realm/playgrounds", wrong).await;
    refused.error(400, "BAD_REQUEST", "Invalid characters in pygments language");
    let wrong = playground("Play", &"c".repeat(41), template);
    let refused = admin.post("/realm/playgrounds", wrong).await;
    refused.error(400, "BAD_REQUEST", "pygments_language is too long (limit: 40 characters)");
    let refused = admin.delete("/realm/playgrounds/99", ()).await;
    refused.error(400, "BAD_REQUEST", "Invalid playground");
    let msg = "Must be an organization administrator";
    ada.post("/realm/playgrounds", &good).await.error(400, "UNAUTHORIZED_PRINCIPAL", msg);
    let path = format!("/realm/playgrounds/{id}");
    ada.delete(&path, ()).await.error(400, "UNAUTHORIZED_PRINCIPAL", msg);
}

#[tokio::test]
async fn events_and_a_new_state_agree() {
    let server = TestServer::start().await;
    let (owner, ada, guest) = (server.owner().await, server.member("ada").await, server.guest("guest").await);
    server
        .check_state_sync(&[&owner, &ada, &guest], async || {
            let added = playground("Play", "Rust", "https://play.example.com/?c={code}");
            let id = owner.post("/realm/playgrounds", added).await.ok()["id"].clone();
            let added = playground("Other", "Rust", "https://play.example.com/?c={code}");
            owner.post("/realm/playgrounds", added).await.ok();
            owner.delete(&format!("/realm/playgrounds/{id}"), ()).await.ok();
        })
        .await;
}
