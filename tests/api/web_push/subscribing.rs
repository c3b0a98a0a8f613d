//! Subscriptions: parameters, limits, and their end.

use super::service::{Browser, PushService, base64url};
use serde_json::{Value, json};
use teamchat::app::{Options, WebPush};
use teamchat::domain::limits::MAX_PUSH_SUBSCRIPTIONS;
use teamchat::types::Role;

const PATH: &str = "/users/me/web_push";

// conformance: push-1
#[tokio::test]
async fn a_browser_subscribes_for_the_key_of_the_server() {
    let (service, mut server) = PushService::with_server().await;
    let ada = server.member("ada").await;
    let browser = Browser::log_in(&server, &ada).await;
    let state = browser.client.get(PATH, ()).await.ok();
    let key = state["public_key"].as_str().unwrap().to_owned();
    assert_eq!((key.len(), &state["subscription"]), (87, &Value::Null));
    let subscription = browser.subscription(&service);
    browser.client.post(PATH, subscription.clone()).await.ok();
    let expected = json!({"endpoint": subscription["endpoint"], "shows_content": true});
    assert_eq!(browser.client.get(PATH, ()).await.ok()["subscription"], expected);
    // The key stays, and a repetition keeps the choice.
    server.restart().await;
    let hidden = json!({"endpoint": subscription["endpoint"], "p256dh": subscription["p256dh"],
        "auth": subscription["auth"], "shows_content": false});
    browser.client.post(PATH, hidden).await.ok();
    browser.client.post(PATH, subscription.clone()).await.ok();
    let state = browser.client.get(PATH, ()).await.ok();
    assert_eq!(state["public_key"], key);
    assert_eq!(state["subscription"]["shows_content"], false);
    assert_eq!(server.count("push_subscription").await, "1");

    // An API key has the key, and no subscription.
    assert_eq!(
        ada.get(PATH, ()).await.ok(),
        json!({"result": "success", "msg": "", "public_key": key, "subscription": null})
    );
    ada.post(PATH, subscription).await.error(400, "BAD_REQUEST", "Web Push needs the session of a browser");
    ada.delete(PATH, ()).await.ok();
    assert_eq!(server.count("push_subscription").await, "1");
    browser.client.delete(PATH, ()).await.ok();
    assert_eq!(server.count("push_subscription").await, "0");
    browser.client.delete(PATH, ()).await.ok();
}

/// A browser whose subscription is older than the file, as after a restored backup.
#[tokio::test]
async fn the_key_is_made_with_the_first_subscription_at_the_latest() {
    let (service, server) = PushService::with_server().await;
    let ada = server.member("ada").await;
    let browser = Browser::log_in(&server, &ada).await;
    let keys = async || server.column("SELECT count(*) FROM push_key").await.remove(0);
    assert_eq!(keys().await, "0");
    browser.client.post(PATH, browser.subscription(&service)).await.ok();
    assert_eq!(keys().await, "1");
}

// conformance: push-2
#[tokio::test]
async fn addresses_and_keys_are_checked() {
    let (service, server) = PushService::with_server().await;
    let ada = server.member("ada").await;
    let browser = Browser::log_in(&server, &ada).await;
    let with = |name: &str, value: &str| {
        let mut subscription = browser.subscription(&service);
        subscription[name] = json!(value);
        subscription
    };
    let long = format!("https://push.example/{}", "a".repeat(2048));
    for endpoint in [
        "http://127.0.0.1:8000/push",
        "https://push.example:8443/push",
        "https://me@push.example/push",
        "https://me:secret@push.example/push",
        "https://push.example/push#fragment",
        "https://",
        "ftp://push.example/push",
        "push.example",
        "",
        &long,
    ] {
        let answer = browser.client.post(PATH, with("endpoint", endpoint)).await;
        answer.error(400, "BAD_REQUEST", "Invalid endpoint of the subscription");
    }
    let off_the_curve = base64url(&[4; 65]);
    for (name, value) in [
        ("p256dh", off_the_curve.as_str()),
        ("p256dh", "BA"),
        ("p256dh", "*"),
        ("auth", "AAAA"),
        ("auth", ""),
    ] {
        let answer = browser.client.post(PATH, with(name, value)).await;
        answer.error(400, "BAD_REQUEST", "Invalid keys of the subscription");
    }
    let mut missing = browser.subscription(&service);
    missing.as_object_mut().unwrap().remove("auth");
    browser.client.post(PATH, missing).await.error(
        400,
        "REQUEST_VARIABLE_MISSING",
        "Missing 'auth' argument",
    );
    assert_eq!(server.count("push_subscription").await, "0");
    // Padding is accepted, and so are public hosts.
    let auth = browser.subscription(&service)["auth"].as_str().unwrap().to_owned() + "==";
    browser.client.post(PATH, with("auth", &auth)).await.ok();
    browser.client.post(PATH, with("endpoint", "https://push.example/x")).await.ok();
    assert_eq!(server.count("push_subscription").await, "1");
}

// conformance: push-3
#[tokio::test]
async fn an_endpoint_belongs_to_the_last_session() {
    let (service, server) = PushService::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let of_ada = Browser::subscribed(&server, &ada, &service).await;
    let of_bob = Browser::log_in(&server, &bob).await;
    of_bob.client.post(PATH, of_ada.subscription(&service)).await.ok();
    assert_eq!(of_ada.client.get(PATH, ()).await.ok()["subscription"], Value::Null);
    assert_eq!(
        server.column("SELECT session_id FROM push_subscription").await,
        [of_bob.session_id.to_string()]
    );
}

// conformance: push-3
#[tokio::test]
async fn a_person_has_a_limited_number() {
    let (service, server) = PushService::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    Browser::subscribed(&server, &bob, &service).await;
    let mut browsers = Vec::new();
    for _ in 0..=MAX_PUSH_SUBSCRIPTIONS {
        browsers.push(Browser::subscribed(&server, &ada, &service).await);
    }
    assert_eq!(server.count("push_subscription").await, (MAX_PUSH_SUBSCRIPTIONS + 1).to_string());
    assert_eq!(browsers[0].client.get(PATH, ()).await.ok()["subscription"], Value::Null, "the oldest ends");
    assert!(browsers[1].client.get(PATH, ()).await.ok()["subscription"].is_object());
}

// conformance: push-4
#[tokio::test]
async fn a_subscription_ends_with_its_session() {
    let (service, server) = PushService::with_server().await;
    let owner = server.owner().await;
    let ada = server.user("ada", Role::Member, None, Some("correct horse")).await;
    let browser = Browser::subscribed(&server, &ada, &service).await;
    browser.client.request_outside(reqwest::Method::POST, "/accounts/logout/").send().await.ok();
    assert_eq!(server.count("push_subscription").await, "0", "logout");

    let one = Browser::subscribed(&server, &ada, &service).await;
    Browser::subscribed(&server, &ada, &service).await;
    ada.delete(&format!("/users/me/sessions/{}", one.session_id), ()).await.ok();
    assert_eq!(server.count("push_subscription").await, "1", "a session that the user ended");

    let own = Browser::subscribed(&server, &ada, &service).await;
    let passwords = json!({"old_password": "correct horse", "new_password": "battery staple"});
    own.client.patch("/settings", passwords).await.ok();
    let left = server.column("SELECT session_id FROM push_subscription").await;
    assert_eq!(left, [own.session_id.to_string()], "a new password ends the other sessions");

    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    assert_eq!(server.count("push_subscription").await, "0", "deactivation");
}

// conformance: push-5
#[tokio::test]
async fn web_push_can_be_off() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    let web_push = WebPush { is_off: true, ..WebPush::default() };
    let server = server.with_options(Options { web_push, ..Options::default() }).await;
    let expected = json!({"result": "success", "msg": "", "public_key": null, "subscription": null});
    assert_eq!(browser.client.get(PATH, ()).await.ok(), expected);
    browser.client.post(PATH, browser.subscription(&service)).await.error(
        400,
        "PUSH_SERVICE_NOT_CONFIGURED",
        "Server is not configured to use push notification service.",
    );
    bob.send_direct(&[&ada], "hello").await;
    assert!(service.all(&server).await.is_empty());
    assert_eq!(server.column("SELECT count(*) FROM push_message").await, ["0"]);
    // Subscriptions stay for when it is on again.
    let server = server.with_options(service.options()).await;
    bob.send_direct(&[&ada], "hello again").await;
    assert_eq!(browser.read(&service.next().await)["body"], "hello again");
    drop(server);
}
