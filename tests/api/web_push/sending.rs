//! Requests to push services: contents, order, failures, and what no service gets.

use super::service::{Browser, PushService, Reply, claims_of};
use crate::harness::{Client, ReservedPort, START, TestServer};
use serde_json::{Value, json};
use std::sync::{Arc, Barrier};
use teamchat::domain::groups::system::SystemGroup;
use teamchat::domain::limits::{MAX_PUSH_NOTIFICATIONS, MAX_RECIPIENTS};

const DAY: i64 = 24 * 60 * 60;

async fn waiting(server: &TestServer) -> Vec<String> {
    let query = "SELECT tag FROM push_notification WHERE next_try IS NOT NULL ORDER BY queued, tag";
    server.column(query).await
}

// conformance: push-10
#[tokio::test]
async fn a_direct_message_is_pushed() {
    let (mut service, _server, ada, bob, browser) = PushService::with_reader().await;
    let key =
        browser.client.get("/users/me/web_push", ()).await.ok()["public_key"].as_str().unwrap().to_owned();
    let id = bob.send_direct(&[&ada], "Do you **have** a minute? :tada:").await;
    let pushed = service.next().await;
    let payload = browser.read(&pushed);
    let icon = ada.get(&format!("/users/{}", bob.user_id), json!({"client_gravatar": false})).await.ok();
    let expected = json!({"type": "message", "id": id, "tag": format!("dm/{}", bob.user_id),
        "fragment": format!("narrow/dm/{},{}/with/{id}", ada.user_id, bob.user_id), "title": "Bob",
        "body": "Do you have a minute? 🎉", "icon": icon["user"]["avatar_url"], "count": 1, "time": START,
        "user_id": ada.user_id, "close": []});
    assert_eq!(payload, expected);
    let header = |name: &str| pushed.headers[name].as_str();
    assert_eq!((header("ttl"), header("urgency")), ("86400", "high"));
    assert_eq!(header("content-encoding"), "aes128gcm");
    assert_eq!(header("content-type"), "application/octet-stream");
    assert_eq!(header("topic").len(), 32);
    assert!(header("topic").bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
    let claims = claims_of(&pushed, &key);
    let origin = format!("https://127.0.0.1:{}", service.port);
    assert_eq!(claims, json!({"aud": origin, "exp": START + DAY / 2, "sub": "mailto:operator@localhost"}));
    assert_eq!(pushed.body.len(), 512 + 103, "padded");
}

// conformance: push-11
#[tokio::test]
async fn a_conversation_has_one_notification() {
    let (mut service, server) = PushService::with_server().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let browser = Browser::subscribed(&server, &ada, &service).await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    ada.patch("/settings", json!({"enable_stream_push_notifications": true})).await.ok();
    bob.send(channel, "Lunch", "one").await;
    let first = service.next().await;
    assert_eq!(first.headers["urgency"], "normal");
    let first_id = browser.read(&first)["id"].as_i64().unwrap();
    assert_eq!(browser.read(&first)["tag"], format!("channel/{channel}/lunch"));
    assert!(service.all(&server).await.is_empty());
    bob.send(channel, "lunch", "two").await;
    let second = service.next().await;
    let payload = browser.read(&second);
    assert_eq!((&payload["count"], &payload["body"]), (&json!(2), &json!("Bob: two")));
    assert_eq!(second.headers["topic"], first.headers["topic"]);
    assert!(service.all(&server).await.is_empty());
    // What is read does not count, and what is deleted is not shown.
    ada.post("/messages/flags", json!({"messages": [first_id], "op": "add", "flag": "read"})).await.ok();
    let third = bob.send(channel, "lunch", "three").await;
    assert_eq!(browser.read(&service.next().await)["count"], 2);
    assert!(service.all(&server).await.is_empty());
    // All of it is read: the next notification of another conversation closes this one, once.
    ada.post("/mark_all_as_read", ()).await.ok();
    let other = cleo.send_direct(&[&ada], "elsewhere").await;
    let pushed = service.next().await;
    let payload = browser.read(&pushed);
    assert_ne!(pushed.headers["topic"], first.headers["topic"]);
    assert_eq!((&payload["id"], &payload["count"]), (&json!(other), &json!(1)));
    assert_eq!(payload["close"], json!([format!("channel/{channel}/lunch")]));
    assert!(service.all(&server).await.is_empty());
    cleo.send_direct(&[&ada], "again").await;
    assert_eq!(browser.read(&service.next().await)["close"], json!([]));
    assert!(third > first_id);
}

/// Their names are longer than those of the conversations that one notification can close.
// conformance: push-11
#[tokio::test]
async fn unread_conversations_keep_none_from_being_closed() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    ada.patch("/settings", json!({"enable_stream_push_notifications": true})).await.ok();
    let read = bob.send(channel, "read", "one").await;
    assert_eq!(service.all(&server).await.len(), 1);
    for number in 0..5 {
        server.clock.advance(1);
        bob.send(channel, &format!("{}{number}", "𝔹".repeat(59)), "unread").await;
        assert_eq!(service.all(&server).await.len(), 1);
    }
    ada.post("/messages/flags", json!({"messages": [read], "op": "add", "flag": "read"})).await.ok();
    bob.send_direct(&[&ada], "elsewhere").await;
    let pushed = service.all(&server).await;
    assert_eq!(browser.read(&pushed[0])["close"], json!([format!("channel/{channel}/read")]));
}

#[tokio::test]
async fn every_browser_of_a_person_is_notified() {
    let (mut service, server) = PushService::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let phone = Browser::subscribed(&server, &ada, &service).await;
    let laptop = Browser::subscribed(&server, &ada, &service).await;
    bob.send_direct(&[&ada], "hello").await;
    let mut pushed = service.all(&server).await;
    pushed.sort_by(|one, other| one.path.cmp(&other.path));
    assert_eq!(pushed.len(), 2);
    assert_eq!(phone.read(&pushed[0])["body"], "hello");
    assert_eq!(laptop.read(&pushed[1])["body"], "hello");
}

// conformance: push-12
#[tokio::test]
async fn a_browser_that_is_gone_is_forgotten() {
    for status in [404, 410] {
        let (mut service, server) = PushService::with_server().await;
        let (ada, bob) = (server.member("ada").await, server.member("bob").await);
        Browser::subscribed(&server, &ada, &service).await;
        service.reply([Reply::Status(status, "")]);
        bob.send_direct(&[&ada], "hello").await;
        assert_eq!(service.all(&server).await.len(), 1);
        assert_eq!(server.count("push_subscription").await, "0", "{status}");
        assert_eq!(server.column("SELECT count(*) FROM push_notification").await, ["0"]);
        bob.send_direct(&[&ada], "hello").await;
        assert!(service.all(&server).await.is_empty());
    }
}

// conformance: push-12
#[tokio::test]
async fn failures_are_retried_as_late_as_the_service_asks() {
    let (mut service, server) = PushService::with_server().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let browser = Browser::subscribed(&server, &ada, &service).await;
    service.reply([Reply::Status(429, "Retry-After: 600\r\n")]);
    bob.send_direct(&[&ada], "one").await;
    assert_eq!(service.all(&server).await.len(), 1);
    // Neither this conversation nor another one is sent before.
    bob.send_direct(&[&ada], "two").await;
    cleo.send_direct(&[&ada], "three").await;
    assert!(service.all(&server).await.is_empty());
    server.clock.advance(599);
    assert!(service.all(&server).await.is_empty());
    server.clock.advance(1);
    let pushed = service.all(&server).await;
    let payloads: Vec<Value> = pushed.iter().map(|one| browser.read(one)).collect();
    assert_eq!(payloads.len(), 2);
    assert_eq!((&payloads[0]["body"], &payloads[0]["count"]), (&json!("two"), &json!(2)));
    assert_eq!(payloads[1]["body"], "three");
    assert_eq!(pushed[0].headers["ttl"], (DAY - 600).to_string());

    // Without a wish: 10, 60, 300 seconds and so on, until it is a day old.
    service.always(&browser, Reply::Status(503, ""));
    bob.send_direct(&[&ada], "four").await;
    assert_eq!(service.all(&server).await.len(), 1);
    for pause in [10, 60, 300, 1800, 7200, 7200] {
        server.clock.advance(pause - 1);
        assert!(service.all(&server).await.is_empty(), "{pause}");
        server.clock.advance(1);
        assert_eq!(service.all(&server).await.len(), 1, "{pause}");
    }
    server.clock.advance(DAY);
    service.all(&server).await;
    assert_eq!(waiting(&server).await.len(), 0, "given up");
    assert_eq!(server.count("push_subscription").await, "1");
}

/// The first message is too old then.
// conformance: push-12
#[tokio::test]
async fn services_that_ask_to_wait_for_a_day_are_left_alone() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    service.reply([Reply::Status(429, "Retry-After: 86400\r\n")]);
    bob.send_direct(&[&ada], "one").await;
    assert_eq!(service.all(&server).await.len(), 1);
    server.clock.advance(10);
    bob.send_direct(&[&ada], "two").await;
    assert!(service.all(&server).await.is_empty());
    server.clock.advance(DAY - 11);
    assert!(service.all(&server).await.is_empty());
    server.clock.advance(1);
    let pushed = service.all(&server).await;
    assert_eq!(pushed.len(), 1);
    assert_eq!((&browser.read(&pushed[0])["body"], pushed[0].headers["ttl"].as_str()), (&json!("two"), "10"));
    assert_eq!(waiting(&server).await.len(), 0);
}

// conformance: push-12
#[tokio::test]
async fn a_new_address_does_not_wait_as_long_as_the_former_one() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    service.reply([Reply::Status(503, "Retry-After: 3600\r\n")]);
    bob.send_direct(&[&ada], "hello").await;
    assert_eq!(service.all(&server).await.len(), 1);
    // The page repeats its subscription at each start.
    let mut subscription = browser.subscription(&service);
    browser.client.post("/users/me/web_push", subscription.clone()).await.ok();
    assert!(service.all(&server).await.is_empty());
    let endpoint = subscription["endpoint"].as_str().unwrap().replace("/push/", "/changed/");
    subscription["endpoint"] = json!(endpoint);
    browser.client.post("/users/me/web_push", subscription).await.ok();
    let pushed = service.all(&server).await;
    assert_eq!(pushed.len(), 1);
    assert!(endpoint.ends_with(&pushed[0].path), "{}", pushed[0].path);
    assert_eq!(waiting(&server).await.len(), 0);
}

/// The push service has forgotten the former address, or fails there, while the browser changes it.
// conformance: push-12
#[tokio::test]
async fn answers_about_a_former_address_do_not_concern_the_new_one() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    let mut subscription = browser.subscription(&service);
    for (status, path) in [(410, "/second"), (503, "/third")] {
        let barrier = Arc::new(Barrier::new(2));
        service.reply([Reply::Held(Arc::clone(&barrier), status)]);
        bob.send_direct(&[&ada], "hello").await;
        assert_ne!(service.next().await.path, path);
        subscription["endpoint"] = json!(format!("https://127.0.0.1:{}{path}", service.port));
        browser.client.post("/users/me/web_push", subscription.clone()).await.ok();
        barrier.wait();
        let pushed = service.all(&server).await;
        let paths: Vec<&str> = pushed.iter().map(|pushed| pushed.path.as_str()).collect();
        assert_eq!(paths, [path], "{status}");
    }
    assert_eq!(server.count("push_subscription").await, "1");
    assert_eq!(waiting(&server).await.len(), 0);
}

// conformance: push-12
#[tokio::test]
async fn a_service_that_refuses_is_not_asked_again() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    for (status, head) in [(400, ""), (401, ""), (403, ""), (301, "Location: https://127.0.0.1:1/\r\n")] {
        service.reply([Reply::Status(status, head)]);
        bob.send_direct(&[&ada], "hello").await;
        assert_eq!(service.all(&server).await.len(), 1, "{status}");
        assert_eq!(waiting(&server).await.len(), 0, "{status}");
    }
    assert_eq!(server.count("push_subscription").await, "1");
    // One success ends the count of days.
    server.clock.advance(6 * DAY);
    bob.send_direct(&[&ada], "hello").await;
    assert_eq!(service.all(&server).await.len(), 1);
    service.always(&browser, Reply::Status(403, ""));
    for (days, expected) in [(6, "1"), (6, "1"), (2, "0")] {
        server.clock.advance(days * DAY);
        bob.send_direct(&[&ada], "hello").await;
        service.all(&server).await;
        assert_eq!(server.count("push_subscription").await, expected);
        // The session stays alive.
        browser.client.get("/users/me", ()).await.ok();
        teamchat::domain::logins::save_uses(server.app()).await.unwrap();
    }
}

// conformance: push-12
#[tokio::test]
async fn a_short_form_is_sent_where_the_long_one_is_refused() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    service.reply([Reply::Status(413, "")]);
    bob.send_direct(&[&ada], &"long ".repeat(100)).await;
    let pushed = service.all(&server).await;
    assert_eq!(pushed.len(), 2);
    let (long, short) = (browser.read(&pushed[0]), browser.read(&pushed[1]));
    assert_eq!(long["body"].as_str().unwrap().chars().count(), 200);
    assert_eq!((&short["title"], &short["body"]), (&json!("Bob"), &json!("")));
    assert_eq!(waiting(&server).await.len(), 0);
}

#[tokio::test]
async fn the_longest_names_fit() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    let channel = server.channel(&"𝔸".repeat(60), &[&ada, &bob]).await;
    bob.send(channel, &"𝔹".repeat(60), &format!("@**Ada** {}", "ℂ😀".repeat(300))).await;
    let pushed = service.all(&server).await;
    assert_eq!(browser.read(&pushed[0])["tag"], format!("channel/{channel}/{}", "𝔹".repeat(60)));
    assert!(pushed[0].body.len() <= 4096);
}

/// The ids of the people leave no room for anything else.
// conformance: push-10
#[tokio::test]
async fn the_largest_conversations_notify() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    let crowd = server.crowd(MAX_RECIPIENTS + 50).await;
    let people: Vec<&Client> = crowd.iter().rev().take(MAX_RECIPIENTS - 1).chain([&ada]).collect();
    bob.send_direct(&people, "to all of you").await;
    let pushed = service.all(&server).await;
    assert_eq!(pushed.len(), 1);
    assert_eq!(pushed[0].body.len(), 512 + 103);
    let payload = browser.read(&pushed[0]);
    assert_eq!((&payload["title"], &payload["fragment"]), (&json!("New message"), &json!("")));
    // The next one replaces it, and other conversations notify as well.
    bob.send_direct(&people, "again").await;
    let again = service.all(&server).await;
    assert_eq!(browser.read(&again[0])["tag"], payload["tag"]);
    assert_eq!(again[0].headers["topic"], pushed[0].headers["topic"]);
    bob.send_direct(&[&ada], "hello").await;
    assert_eq!(browser.read(&service.all(&server).await[0])["body"], "hello");
}

// conformance: push-16
#[tokio::test]
async fn a_restart_loses_nothing() {
    let (mut service, mut server, ada, bob, browser) = PushService::with_reader().await;
    service.reply([Reply::Status(503, "Retry-After: 60\r\n")]);
    bob.send_direct(&[&ada], "before").await;
    assert_eq!(service.all(&server).await.len(), 1);
    server.restart().await;
    assert!(service.all(&server).await.is_empty());
    server.clock.advance(60);
    assert_eq!(browser.read(&service.all(&server).await[0])["body"], "before");
    // A message whose decision was not made before a crash.
    let id = bob.send_direct(&[&ada], "after").await;
    service.all(&server).await;
    server
        .sql(&format!("DELETE FROM push_notification; INSERT INTO push_message (message_id) VALUES ({id})"))
        .await;
    server.crash().await;
    assert_eq!(browser.read(&service.all(&server).await[0])["body"], "after");
}

// conformance: push-16
#[tokio::test]
async fn no_request_begins_while_the_server_stops() {
    let (mut service, mut server, ada, bob, browser) = PushService::with_reader().await;
    service.reply([Reply::Status(503, "")]);
    bob.send_direct(&[&ada], "hello").await;
    assert_eq!(service.all(&server).await.len(), 1);
    server.app().writer.background().stop();
    server.clock.advance(10);
    assert!(service.all(&server).await.is_empty());
    server.restart().await;
    assert_eq!(browser.read(&service.all(&server).await[0])["body"], "hello");
}

// conformance: push-15
#[tokio::test]
async fn hostile_services_delay_no_others() {
    let (mut service, server) = PushService::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let mut hostile = Vec::new();
    for reply in
        [Reply::Silence, Reply::Noise, Reply::Endless, Reply::EndlessBody, Reply::Silence, Reply::Silence]
    {
        let eve = server.member(&format!("eve{}", hostile.len())).await;
        let browser = Browser::subscribed(&server, &eve, &service).await;
        service.always(&browser, reply);
        hostile.push(eve);
    }
    // A person with as many browsers as there can be, all of them silent.
    let mallory = server.member("mallory").await;
    for _ in 0..20 {
        let browser = Browser::subscribed(&server, &mallory, &service).await;
        service.always(&browser, Reply::Silence);
    }
    let browser = Browser::subscribed(&server, &ada, &service).await;
    bob.send_direct(&[&mallory], "to all of them").await;
    for eve in &hostile {
        bob.send_direct(&[eve], "anybody there?").await;
    }
    bob.send_direct(&[&ada], "hello").await;
    // Silent requests go on meanwhile.
    let own = loop {
        let pushed = service.next().await;
        if pushed.path == format!("/push/{}?secret", browser.session_id) {
            break pushed;
        }
    };
    assert_eq!(browser.read(&own)["body"], "hello");
}

#[tokio::test]
async fn a_service_without_a_server_is_tried_again() {
    let (service, server) = PushService::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let browser = Browser::log_in(&server, &ada).await;
    browser.client.get("/users/me/web_push", ()).await.ok();
    let closed = ReservedPort::new();
    let mut subscription = browser.subscription(&service);
    subscription["endpoint"] = json!(format!("https://{}/push", closed.address()));
    browser.client.post("/users/me/web_push", subscription).await.ok();
    bob.send_direct(&[&ada], "hello").await;
    teamchat::scheduler::settle(server.app()).await;
    let tries = server.column("SELECT failed_tries FROM push_notification").await;
    assert_eq!(tries, ["1"]);
}

// conformance: push-14
#[tokio::test]
async fn certificates_are_verified() {
    let mut service = PushService::start();
    let mut options = service.options();
    options.web_push.authorities = None;
    let server = TestServer::start_with(options).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    Browser::subscribed(&server, &ada, &service).await;
    bob.send_direct(&[&ada], "hello").await;
    assert!(service.all(&server).await.is_empty());
    assert_eq!(server.column("SELECT failed_tries FROM push_notification").await, ["1"]);
}

// conformance: push-14
#[tokio::test]
async fn private_addresses_are_not_asked() {
    let mut service = PushService::start();
    let mut options = service.options();
    options.web_push.hosts = Vec::new();
    let server = TestServer::start_with(options).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let browser = Browser::log_in(&server, &ada).await;
    browser.client.get("/users/me/web_push", ()).await.ok();
    for host in ["localhost", "10.0.0.1", "[::1]", "127.1", "2130706433", "169.254.169.254", "0x7f000001"] {
        let mut subscription = browser.subscription(&service);
        subscription["endpoint"] = json!(format!("https://{host}/push"));
        browser.client.post("/users/me/web_push", subscription).await.ok();
        bob.send_direct(&[&ada], "hello").await;
        assert!(service.all(&server).await.is_empty());
        // It is refused, and not tried again.
        assert_eq!(server.column("SELECT count(*) FROM push_notification").await, ["0"], "{host}");
    }
    let port = service.port;
    server.sql(&format!("UPDATE push_subscription SET endpoint = 'https://127.0.0.1:{port}/push'")).await;
    bob.send_direct(&[&ada], "hello").await;
    assert!(service.all(&server).await.is_empty(), "a host that was allowed once");
}

// conformance: push-4, push-13
#[tokio::test]
async fn who_lost_access_gets_nothing() {
    let (mut service, server) = PushService::with_server().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let browser = Browser::subscribed(&server, &ada, &service).await;
    let secret = server.private_channel("secret", &[&owner, &ada, &bob]).await;
    let retry = |server: &TestServer| server.clock.advance(10);

    service.reply([Reply::Status(503, "")]);
    bob.send(secret, "plans", "@**Ada** one").await;
    assert_eq!(service.all(&server).await.len(), 1);
    ada.delete("/users/me/subscriptions", json!({"subscriptions": ["secret"]})).await.ok();
    retry(&server);
    assert!(service.all(&server).await.is_empty(), "she left the channel");
    assert_eq!(waiting(&server).await.len(), 0);

    service.reply([Reply::Status(503, "")]);
    let id = bob.send_direct(&[&ada], "two").await;
    assert_eq!(service.all(&server).await.len(), 1);
    bob.delete(&format!("/messages/{id}"), ()).await.ok();
    retry(&server);
    assert!(service.all(&server).await.is_empty(), "the message was deleted");

    service.reply([Reply::Status(503, "")]);
    let id = bob.send_direct(&[&ada], "three").await;
    assert_eq!(service.all(&server).await.len(), 1);
    ada.post("/messages/flags", json!({"messages": [id], "op": "add", "flag": "read"})).await.ok();
    retry(&server);
    assert!(service.all(&server).await.is_empty(), "she has read it");

    service.reply([Reply::Status(503, "")]);
    bob.send_direct(&[&ada], "four").await;
    assert_eq!(service.all(&server).await.len(), 1);
    ada.patch("/settings", json!({"enable_offline_push_notifications": false})).await.ok();
    retry(&server);
    assert!(service.all(&server).await.is_empty(), "she switched it off");
    ada.patch("/settings", json!({"enable_offline_push_notifications": true})).await.ok();

    // A session that was not used for a month is over, although its row is there.
    server.clock.advance(30 * DAY);
    bob.send_direct(&[&ada], "five").await;
    assert!(service.all(&server).await.is_empty());
    assert_eq!(server.count("push_subscription").await, "0");

    let browser_again = Browser::subscribed(&server, &ada, &service).await;
    service.reply([Reply::Status(503, "")]);
    bob.send_direct(&[&ada], "six").await;
    assert_eq!(service.all(&server).await.len(), 1);
    browser_again.client.request_outside(reqwest::Method::POST, "/accounts/logout/").send().await.ok();
    retry(&server);
    assert!(service.all(&server).await.is_empty(), "she logged out");
    drop(browser);
}

// conformance: push-13
#[tokio::test]
async fn guests_do_not_learn_names_that_they_may_not_know() {
    let (mut service, server) = PushService::with_server().await;
    let owner = server.owner().await;
    let (gus, bob) = (server.guest("gus").await, server.member("bob").await);
    let members = json!({"new": SystemGroup::Members.id()});
    owner.patch("/realm", json!({"can_access_all_users_group": members})).await.ok();
    let browser = Browser::subscribed(&server, &gus, &service).await;
    let channel = server.channel("general", &[&owner, &gus]).await;
    bob.send(channel, "hello", "@**all** from outside").await;
    let payload = browser.read(&service.next().await);
    assert_eq!(payload["body"], "Unknown user mentioned everyone:\n@all from outside");
    assert_eq!(payload["icon"], Value::Null);
}

#[tokio::test]
async fn notifications_are_limited_by_conversation() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    ada.patch("/settings", json!({"enable_stream_push_notifications": true})).await.ok();
    service.always(&browser, Reply::Status(503, "Retry-After: 3600\r\n"));
    for number in 0..=MAX_PUSH_NOTIFICATIONS {
        server.clock.advance(1);
        bob.send(channel, &format!("topic {number:03}"), "hello").await;
        service.all(&server).await;
    }
    let waiting = waiting(&server).await;
    assert_eq!(waiting.len(), MAX_PUSH_NOTIFICATIONS);
    assert_eq!(waiting[0], format!("channel/{channel}/topic 001"), "the oldest is gone");
}
