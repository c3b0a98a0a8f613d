//! Phones: their registration at the push bouncer, its end, and test notifications.

use super::bouncer::{APPLE, Bouncer, GOOGLE, ORG_ID, ORIGIN, Reply, phone, refusal};
use super::service::Browser;
use crate::harness::{ReservedPort, TestServer};
use hyper::Method;
use serde_json::{Value, json};
use std::time::Duration;
use teamchat::app::{Options, Overrides, PushBouncer};
use teamchat::domain::limits::MAX_PUSH_DEVICES;

const TEST: &str = "/mobile_push/test_notification";

// conformance: push-17
#[tokio::test]
async fn phones_are_registered_at_the_bouncer() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let ada = server.member("ada").await;
    let of_google = phone(&mut bouncer, &ada, "google").await.body;
    let uuid = of_google["user_uuid"].as_str().unwrap().to_owned();
    let user_id = ada.user_id.to_string();
    assert_eq!(
        of_google,
        json!({"server_uuid": ORG_ID, "user_id": user_id, "user_uuid": uuid, "token": "google", "token_kind": "2"})
    );
    assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"));
    ada.post(APPLE, json!({"token": "c0ffee", "appid": "org.zulip.Zulip"})).await.ok();
    let of_apple = bouncer.next().await.body;
    assert_eq!(
        of_apple,
        json!({"server_uuid": ORG_ID, "user_id": user_id, "user_uuid": uuid, "token": "c0ffee", "token_kind": "1",
            "ios_app_id": "org.zulip.Zulip"})
    );
    // Apps repeat it at their start.
    phone(&mut bouncer, &ada, "google").await;
    assert_eq!(server.column("SELECT token FROM push_device ORDER BY id").await, ["google", "c0ffee"]);
    let settings = server.anonymous().get("/server_settings", ()).await.ok();
    assert_eq!(settings["push_notifications_enabled"], true);
    let state = ada.post("/register", ()).await.ok();
    assert_eq!(state["realm_push_notifications_enabled"], true);
    assert_eq!(state["realm_push_notifications_enabled_end_timestamp"], Value::Null);

    // An app ends its phone. The bouncer forgets it in the background.
    ada.request(Method::DELETE, APPLE).form(json!({"token": "c0ffee"})).send().await.ok();
    let asked = bouncer.all(&server).await;
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].endpoint, "unregister");
    assert_eq!(
        asked[0].body,
        json!({"server_uuid": ORG_ID, "user_id": user_id, "user_uuid": uuid, "token": "c0ffee", "token_kind": "1"})
    );
    assert_eq!(server.count("push_device").await, "1");
    let again = ada.request(Method::DELETE, APPLE).form(json!({"token": "c0ffee"})).send().await;
    again.error(400, "BAD_REQUEST", "Token does not exist");
    ada.request(Method::DELETE, GOOGLE).form(json!({"token": "google"})).send().await.ok();
    assert_eq!(bouncer.endpoints(&server).await, ["unregister"]);
    assert_eq!(
        (server.count("push_device").await, server.count("push_subscription").await),
        ("0".into(), "0".into())
    );
}

// conformance: push-17
#[tokio::test]
async fn malformed_tokens_are_refused() {
    let mut bouncer = Bouncer::start();
    // Over http, as sessions of the tests are.
    let options = Options { public_url: None, ..bouncer.options() };
    let server = TestServer::start_with(options).await;
    let ada = server.member("ada").await;
    let bot = server.bot("robot", &ada).await;
    let refused = async |path: &str, params: Value, msg: &str| {
        ada.post(path, params).await.error(400, "BAD_REQUEST", msg);
    };
    refused(GOOGLE, json!({"token": ""}), "Empty or invalid length token").await;
    refused(GOOGLE, json!({"token": "a".repeat(4097)}), "Empty or invalid length token").await;
    refused(APPLE, json!({"token": "not hex", "appid": "a.b"}), "Invalid APNS token").await;
    let missing = ada.post(APPLE, json!({"token": "c0ffee"})).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'appid' argument");
    refused(APPLE, json!({"token": "c0ffee", "appid": "a b"}), "Invalid app ID").await;
    for path in [GOOGLE, APPLE] {
        let answer = bot.post(path, json!({"token": "c0ffee", "appid": "a.b"})).await;
        answer.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");
    }
    let browser = Browser::log_in(&server, &ada).await;
    browser.client.post(GOOGLE, json!({"token": "google"})).await.error(
        400,
        "BAD_REQUEST",
        "Notifications of a device need the API key of its app",
    );
    assert!(bouncer.all(&server).await.is_empty());
    assert_eq!(server.count("push_device").await, "0");
}

// conformance: push-18
#[tokio::test]
async fn failures_of_the_bouncer_have_the_published_errors() {
    let (bouncer, server) = Bouncer::with_server().await;
    let ada = server.member("ada").await;
    let unexpected = "Push notification bouncer returned unexpected status code";
    let cases = [
        (refusal("BAD_REQUEST", "Invalid token type"), 400, "Invalid token type".to_owned()),
        (
            refusal("INVALID_ZULIP_SERVER", "Zulip server auth failure"),
            502,
            "Push notifications bouncer error: Zulip server auth failure".to_owned(),
        ),
        (refusal("BAD_REQUEST", &"long ".repeat(1000)), 400, "long ".repeat(60)),
        (Reply::Status(500, ""), 502, "Received 500 from push notification bouncer".to_owned()),
        (Reply::Status(429, ""), 502, "Received 500 from push notification bouncer".to_owned()),
        (Reply::Status(404, ""), 400, format!("{unexpected} 404")),
        (Reply::Status(302, "Location: http://127.0.0.1:1/\r\n"), 400, format!("{unexpected} 302")),
        (
            Reply::Noise,
            502,
            "ConnectionError while trying to connect to push notification bouncer".to_owned(),
        ),
        (
            Reply::EndlessBody,
            502,
            "ConnectionError while trying to connect to push notification bouncer".to_owned(),
        ),
    ];
    for (reply, status, msg) in cases {
        bouncer.reply([reply]);
        ada.post(GOOGLE, json!({"token": "google"})).await.error(status, "BAD_REQUEST", &msg);
        assert_eq!(server.count("push_device").await, "0");
    }
    let closed = ReservedPort::new();
    let url = format!("http://{}", closed.address());
    let named = |url: String| PushBouncer { url, org_id: ORG_ID.to_owned(), org_key: "key".to_owned() };
    let server = server.with_options(Options { push_bouncer: Some(named(url)), ..Options::default() }).await;
    ada.post(GOOGLE, json!({"token": "google"})).await.error(
        502,
        "BAD_REQUEST",
        "ConnectionError while trying to connect to push notification bouncer",
    );
    bouncer.always(Some(Reply::Silence));
    let options = Options {
        overrides: Overrides { outgoing_timeout: Some(Duration::ZERO), ..Overrides::default() },
        ..bouncer.options()
    };
    let server = server.with_options(options).await;
    ada.post(GOOGLE, json!({"token": "google"})).await.error(
        502,
        "BAD_REQUEST",
        "Timeout while trying to connect to push notification bouncer",
    );
    assert_eq!(server.count("push_device").await, "0");
}

// conformance: push-23
#[tokio::test]
async fn phones_that_are_gone_are_forgotten() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    phone(&mut bouncer, &ada, "old").await;
    phone(&mut bouncer, &ada, "new").await;
    // The same token of someone else, who keeps it.
    phone(&mut bouncer, &bob, "old").await;
    let gone = json!({"result": "success", "msg": "", "total_android_devices": 1, "total_apple_devices": 0,
        "deleted_devices": {"android_devices": ["old", "unknown"], "apple_devices": ["new"]}});
    bouncer.reply([Reply::Json(200, gone)]);
    bob.send_direct(&[&ada], "hello").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    let query = "SELECT user_id || ' ' || token FROM push_device ORDER BY id";
    let expected = [format!("{} new", ada.user_id), format!("{} old", bob.user_id)];
    assert_eq!(server.column(query).await, expected);
    let gone = json!({"result": "success", "msg": "", "deleted_devices": {"android_devices": ["new"]}});
    bouncer.reply([Reply::Json(200, gone)]);
    bob.send_direct(&[&ada], "hello").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    bob.send_direct(&[&ada], "hello").await;
    assert!(bouncer.all(&server).await.is_empty());
    assert_eq!(server.column(query).await, expected[1..]);
    assert_eq!(server.count("push_subscription").await, "1");
}

// conformance: push-23
#[tokio::test]
async fn a_phone_ends_with_its_key_and_its_person() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let owner = server.owner().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    phone(&mut bouncer, &ada, "first").await;
    ada.post("/users/me/api_key/regenerate", ()).await.ok();
    assert_eq!(bouncer.endpoints(&server).await, ["unregister"]);
    bob.send_direct(&[&ada], "hello").await;
    assert!(bouncer.all(&server).await.is_empty());

    phone(&mut bouncer, &cleo, "first").await;
    phone(&mut bouncer, &cleo, "second").await;
    owner.delete(&format!("/users/{}", cleo.user_id), ()).await.ok();
    let asked = bouncer.all(&server).await;
    let asked: Vec<_> = asked.iter().map(|asked| (asked.endpoint.as_str(), &asked.body["user_id"])).collect();
    assert_eq!(asked, [("unregister/all", &json!(cleo.user_id.to_string()))]);
    assert_eq!(
        (server.count("push_device").await, server.count("push_subscription").await),
        ("0".into(), "0".into())
    );
}

// conformance: push-23
#[tokio::test]
async fn nothing_is_sent_to_a_phone_that_logged_out() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    phone(&mut bouncer, &ada, "lost").await;
    phone(&mut bouncer, &ada, "kept").await;
    // The bouncer would pass a notification on to both, so it waits until the bouncer has forgotten one.
    bouncer.reply([Reply::Status(503, ""), refusal("BAD_REQUEST", "Not now")]);
    ada.request(Method::DELETE, GOOGLE).form(json!({"token": "lost"})).send().await.ok();
    assert_eq!(bouncer.endpoints(&server).await, ["unregister"]);
    bob.send_direct(&[&ada], "hello").await;
    assert!(bouncer.all(&server).await.is_empty());
    server.clock.advance(10);
    assert_eq!(bouncer.endpoints(&server).await, ["unregister"]);
    server.clock.advance(60);
    let asked = bouncer.all(&server).await;
    let endpoints: Vec<_> = asked.iter().map(|asked| asked.endpoint.as_str()).collect();
    assert_eq!(endpoints, ["unregister", "notify"]);
    assert_eq!(asked[1].body["android_devices"], json!(["kept"]));
    // A token that the bouncer does not know is forgotten as well.
    bouncer.reply([refusal("BAD_REQUEST", "Token does not exist")]);
    ada.request(Method::DELETE, GOOGLE).form(json!({"token": "kept"})).send().await.ok();
    assert_eq!(bouncer.endpoints(&server).await, ["unregister"]);
    assert_eq!(server.count("push_device").await, "0");
}

// conformance: push-23
#[tokio::test]
async fn the_phones_of_a_person_are_limited() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let ada = server.member("ada").await;
    for number in 0..=MAX_PUSH_DEVICES {
        phone(&mut bouncer, &ada, &format!("phone {number}")).await;
    }
    let asked = bouncer.all(&server).await;
    let asked: Vec<_> = asked.iter().map(|asked| (asked.endpoint.as_str(), &asked.body["token"])).collect();
    assert_eq!(asked, [("unregister", &json!("phone 0"))]);
    assert_eq!(server.count("push_device").await, MAX_PUSH_DEVICES.to_string());
    // While the bouncer has to forget as many, it is asked to register no more: it would keep them.
    server.sql("UPDATE push_device SET api_key_id = NULL, next_try = 9999999999").await;
    let refused = ada.post(GOOGLE, json!({"token": "one more"})).await;
    refused.error(400, "BAD_REQUEST", "The push bouncer has not forgotten your earlier devices yet");
    assert!(bouncer.all(&server).await.is_empty());
}

// conformance: push-24
#[tokio::test]
async fn test_notifications_are_for_the_callers_phones() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    ada.post(TEST, ()).await.ok();
    let registered = phone(&mut bouncer, &ada, "google").await.body;
    ada.post(APPLE, json!({"token": "c0ffee", "appid": "org.zulip.Zulip"})).await.ok();
    bouncer.next().await;
    let unknown = "Device not recognized";
    bob.post(TEST, json!({"token": "google"})).await.error(400, "INVALID_PUSH_DEVICE_TOKEN", unknown);
    ada.post(TEST, ()).await.ok();
    let base = json!({"server": "chat.example.com", "realm_id": 1, "realm_uri": ORIGIN, "realm_url": ORIGIN,
        "realm_name": "Team chat", "user_id": ada.user_id});
    for (token, kind) in [("google", 2), ("c0ffee", 1)] {
        let asked = bouncer.next().await;
        assert_eq!(asked.endpoint, "test_notification");
        assert_eq!(
            asked.body,
            json!({"user_id": ada.user_id, "user_uuid": registered["user_uuid"], "token": token, "token_kind": kind,
                "base_payload": base})
        );
    }
    ada.post(TEST, json!({"token": "c0ffee"})).await.ok();
    assert_eq!(bouncer.next().await.body["token"], "c0ffee");
    bouncer.reply([refusal("INVALID_REMOTE_PUSH_DEVICE_TOKEN", "Device not recognized by the push bouncer")]);
    ada.post(TEST, json!({"token": "c0ffee"})).await.error(
        400,
        "INVALID_REMOTE_PUSH_DEVICE_TOKEN",
        "Device not recognized by the push bouncer",
    );
    bouncer.reply([Reply::Status(500, "")]);
    let msg = "Received 500 from push notification bouncer";
    ada.post(TEST, ()).await.error(502, "BAD_REQUEST", msg);
    // Encrypted notifications are not for the apps of this level.
    let msg = "Server is not configured to use push notification service.";
    ada.post("/mobile_push/register", ()).await.error(400, "PUSH_SERVICE_NOT_CONFIGURED", msg);
}
