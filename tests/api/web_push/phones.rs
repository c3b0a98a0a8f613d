//! Phones: what the push bouncer passes on, and takes back.

use super::bouncer::{APPLE, Asked, Bouncer, GOOGLE, ORIGIN, Reply, phone, refusal};
use super::service::{Browser, PushService};
use crate::harness::{Client, START, TestServer};
use hyper::Method;
use serde_json::{Value, json};
use std::sync::{Arc, Barrier};
use teamchat::app::Options;
use teamchat::domain::groups::system::SystemGroup;

const DAY: i64 = 24 * 60 * 60;

/// The parts of these requests that phones of Google get: texts of messages, and ids of those that are taken back.
fn passed_on(asked: &[Asked]) -> Vec<String> {
    let text = |asked: &Asked| {
        let payload = &asked.body["gcm_payload"];
        match payload["event"].as_str().unwrap() {
            "message" => payload["content"].as_str().unwrap().to_owned(),
            event => format!("{event} {}", payload["zulip_message_ids"].as_str().unwrap()),
        }
    };
    asked.iter().filter(|asked| asked.endpoint == "notify").map(text).collect()
}

async fn mark_read(client: &Client, ids: &[i64]) {
    client.post("/messages/flags", json!({"messages": ids, "op": "add", "flag": "read"})).await.ok();
}

// conformance: push-19
#[tokio::test]
async fn phones_get_a_direct_message() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let registered = phone(&mut bouncer, &ada, "google").await.body;
    ada.post(APPLE, json!({"token": "c0ffee", "appid": "org.zulip.Zulip"})).await.ok();
    bouncer.next().await;
    let id = bob.send_direct(&[&ada], "Do you **have** a minute? :tada:").await;
    let asked = bouncer.next().await;
    let user = ada.get(&format!("/users/{}", bob.user_id), json!({"client_gravatar": false})).await.ok();
    let avatar = user["user"]["avatar_url"].as_str().unwrap();
    let content = "Do you have a minute? 🎉";
    let common = json!({"server": "chat.example.com", "realm_id": 1, "realm_uri": ORIGIN, "realm_url": ORIGIN,
        "realm_name": "Team chat", "user_id": ada.user_id, "sender_id": bob.user_id,
        "sender_email": user["user"]["email"], "time": START, "recipient_type": "private"});
    let with = |more: Value| {
        let mut all = common.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let google = with(json!({"event": "message", "zulip_message_id": id, "content": content,
        "content_truncated": false, "sender_full_name": "Bob", "sender_avatar_url": format!("{ORIGIN}{avatar}")}));
    let apple = json!({"alert": {"title": "Bob", "subtitle": "", "body": content}, "sound": "default", "badge": 0,
        "custom": {"zulip": with(json!({"message_ids": [id]}))}});
    assert_eq!(asked.endpoint, "notify");
    assert_eq!(
        asked.body,
        json!({"user_id": ada.user_id, "user_uuid": registered["user_uuid"], "gcm_payload": google,
            "apns_payload": apple, "gcm_options": {"priority": "high"}, "android_devices": ["google"],
            "apple_devices": ["c0ffee"]})
    );
    assert!(bouncer.all(&server).await.is_empty());
}

// conformance: push-19
#[tokio::test]
async fn phones_get_mentions_channels_and_groups() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let owner = server.owner().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    phone(&mut bouncer, &ada, "google").await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    let crew = json!({"name": "crew", "description": "", "members": [ada.user_id]});
    let crew = owner.post("/user_groups/create", crew).await.ok()["group_id"].as_i64().unwrap();
    let shown = |asked: &[Asked]| {
        assert_eq!(asked.len(), 1);
        let alert = &asked[0].body["apns_payload"]["alert"];
        ["title", "subtitle", "body"].map(|name| alert[name].as_str().unwrap().to_owned())
    };

    bob.send(channel, "plain", "nothing").await;
    assert!(bouncer.all(&server).await.is_empty());
    bob.send(channel, "named", "@**Ada** hello").await;
    let asked = bouncer.all(&server).await;
    assert_eq!(shown(&asked), ["#general > named", "Bob mentioned you:", "@Ada hello"]);
    let google = &asked[0].body["gcm_payload"];
    assert_eq!(
        (&google["recipient_type"], &google["stream"], &google["stream_id"], &google["topic"]),
        (&json!("stream"), &json!("general"), &json!(channel), &json!("named"))
    );
    assert_eq!(google.get("mentioned_user_group_id"), None);
    bob.send(channel, "all", "@**all** hello").await;
    assert_eq!(
        shown(&bouncer.all(&server).await),
        ["#general > all", "Bob mentioned everyone:", "@all hello"]
    );
    bob.send(channel, "group", "@*crew* look").await;
    let asked = bouncer.all(&server).await;
    assert_eq!(shown(&asked), ["#general > group", "Bob mentioned @crew:", "@crew look"]);
    let google = &asked[0].body["gcm_payload"];
    assert_eq!(
        (&google["mentioned_user_group_id"], &google["mentioned_user_group_name"]),
        (&json!(crew), &json!("crew"))
    );
    ada.patch("/settings", json!({"enable_stream_push_notifications": true})).await.ok();
    bob.send(channel, "plain", "now something").await;
    assert_eq!(shown(&bouncer.all(&server).await), ["#general > plain", "Bob:", "now something"]);
    bob.send_direct(&[&ada, &cleo], "you two").await;
    let asked = bouncer.all(&server).await;
    assert_eq!(shown(&asked), ["Ada, Bob, Cleo", "Bob:", "you two"]);
    let people = format!("{},{},{}", ada.user_id, bob.user_id, cleo.user_id);
    assert_eq!(asked[0].body["gcm_payload"]["pm_users"], people);
    ada.patch("/settings", json!({"enable_offline_push_notifications": false})).await.ok();
    bob.send_direct(&[&ada], "not any more").await;
    assert!(bouncer.all(&server).await.is_empty());
}

// conformance: push-13
#[tokio::test]
async fn phones_of_guests_do_not_learn_names_that_they_may_not_know() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let owner = server.owner().await;
    let (gus, bob) = (server.guest("gus").await, server.member("bob").await);
    let members = json!({"new": SystemGroup::Members.id()});
    owner.patch("/realm", json!({"can_access_all_users_group": members})).await.ok();
    phone(&mut bouncer, &gus, "google").await;
    let channel = server.channel("general", &[&owner, &gus]).await;
    let id = bob.send(channel, "hello", "@**all** from outside").await;
    let asked = bouncer.next().await;
    let (google, apple) = (&asked.body["gcm_payload"], &asked.body["apns_payload"]);
    assert_eq!(google["sender_full_name"], "Unknown user");
    assert_eq!(apple["alert"]["subtitle"], "Unknown user mentioned everyone:");
    let message = gus.get(&format!("/messages/{id}"), ()).await.ok()["message"].clone();
    for payload in [google, &apple["custom"]["zulip"]] {
        assert_eq!(payload["sender_email"], message["sender_email"]);
    }
    let avatar = format!("{ORIGIN}{}", message["avatar_url"].as_str().unwrap());
    assert_eq!(google["sender_avatar_url"], avatar);
    let body = asked.body.to_string();
    assert!(!body.contains("Bob") && !body.contains("bob@example.com"), "{body}");
}

// conformance: push-19
#[tokio::test]
async fn phones_get_the_beginning_of_long_texts() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    phone(&mut bouncer, &ada, "google").await;
    for (content, is_cut) in [("a".repeat(200), false), ("b".repeat(201), true)] {
        bob.send_direct(&[&ada], &content).await;
        let asked = bouncer.next().await;
        let google = &asked.body["gcm_payload"];
        let text = google["content"].as_str().unwrap();
        assert_eq!((text.chars().count(), text.ends_with('…')), (200, is_cut), "{text}");
        assert_eq!(google["content_truncated"], is_cut);
        assert_eq!(asked.body["apns_payload"]["alert"]["body"], text);
    }
}

// conformance: push-20
#[tokio::test]
async fn texts_are_hidden_where_the_organization_says_so() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    phone(&mut bouncer, &ada, "google").await;
    for (name, hidden) in
        [("require_e2ee_push_notifications", true), ("message_content_allowed_in_email_notifications", false)]
    {
        owner.patch("/realm", json!({name: hidden})).await.ok();
        bob.send_direct(&[&ada], "a secret").await;
        let asked = bouncer.all(&server).await;
        assert_eq!(passed_on(&asked), ["New message"], "{name}");
        assert_eq!(asked[0].body["apns_payload"]["alert"]["body"], "New message", "{name}");
        assert!(!asked[0].body.to_string().contains("secret"), "{name}");
        owner.patch("/realm", json!({name: !hidden})).await.ok();
        bob.send_direct(&[&ada], "no secret").await;
        assert_eq!(passed_on(&bouncer.all(&server).await), ["no secret"], "{name}");
    }
}

// conformance: push-20
#[tokio::test]
async fn notifications_of_phones_are_in_the_language_of_the_user() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    phone(&mut bouncer, &ada, "google").await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    let crew = json!({"name": "crew", "description": "", "members": [ada.user_id]});
    owner.post("/user_groups/create", crew).await.ok();
    ada.patch("/settings", json!({"default_language": "de"})).await.ok();
    for (topic, content, subtitle) in [
        ("a", "@**Ada** hello", "Bob hat dich erwähnt:"),
        ("b", "@**all** hello", "Bob hat alle erwähnt:"),
        ("c", "@*crew* hello", "Bob hat @crew erwähnt:"),
    ] {
        bob.send(channel, topic, content).await;
        let asked = bouncer.all(&server).await;
        let alert = &asked[0].body["apns_payload"]["alert"];
        assert_eq!(
            (&alert["title"], &alert["subtitle"]),
            (&json!(format!("#general > {topic}")), &json!(subtitle))
        );
    }
    bob.send(channel, "", "@**Ada** hello").await;
    let asked = bouncer.all(&server).await;
    assert_eq!(asked[0].body["apns_payload"]["alert"]["title"], "#general > Allgemeines");
    assert_eq!(asked[0].body["gcm_payload"]["topic"], "Allgemeines", "as published");
    owner.patch("/realm", json!({"require_e2ee_push_notifications": true})).await.ok();
    bob.send_direct(&[&ada], "a secret").await;
    let asked = bouncer.all(&server).await;
    assert_eq!(passed_on(&asked), ["Neue Nachricht"]);
    assert_eq!(asked[0].body["apns_payload"]["alert"]["body"], "Neue Nachricht");
}

// conformance: push-21
#[tokio::test]
async fn what_is_read_is_taken_back() {
    let (mut bouncer, mut server) = Bouncer::with_server().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    phone(&mut bouncer, &ada, "google").await;
    let one = bob.send_direct(&[&ada], "one").await;
    let two = bob.send_direct(&[&ada], "two").await;
    let other = cleo.send_direct(&[&ada], "other").await;
    let mut shown = passed_on(&bouncer.all(&server).await);
    shown.sort();
    assert_eq!(shown, ["one", "other", "two"]);
    mark_read(&ada, &[one]).await;
    let asked = bouncer.all(&server).await;
    assert_eq!(passed_on(&asked), [format!("remove {one}")]);
    let body = &asked[0].body;
    let base = json!({"server": "chat.example.com", "realm_id": 1, "realm_uri": ORIGIN, "realm_url": ORIGIN,
        "realm_name": "Team chat", "user_id": ada.user_id, "event": "remove", "zulip_message_ids": one.to_string()});
    let mut google = base.clone();
    google["zulip_message_id"] = json!(one);
    assert_eq!(body["gcm_payload"], google);
    assert_eq!(body["apns_payload"], json!({"badge": 0, "custom": {"zulip": base}}));
    assert_eq!(body["gcm_options"], json!({"priority": "normal"}));
    // Once only, and not what comes back as unread.
    ada.post("/messages/flags", json!({"messages": [one], "op": "remove", "flag": "read"})).await.ok();
    assert!(bouncer.all(&server).await.is_empty());
    mark_read(&ada, &[one]).await;
    assert!(bouncer.all(&server).await.is_empty());
    // What a phone shows is known after a restart.
    server.restart().await;
    let three = bob.send_direct(&[&ada], "three").await;
    assert_eq!(passed_on(&bouncer.all(&server).await), ["three"]);
    ada.post("/mark_all_as_read", ()).await.ok();
    let mut removed = passed_on(&bouncer.all(&server).await);
    removed.sort();
    let mut expected = [format!("remove {two},{three}"), format!("remove {other}")];
    expected.sort();
    assert_eq!(removed, expected);
    assert_eq!(server.count("push_notification").await, "0");
    // What was read before it was sent is not sent.
    bouncer.reply([Reply::Status(503, "")]);
    let four = bob.send_direct(&[&ada], "four").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    mark_read(&ada, &[four]).await;
    server.clock.advance(10);
    assert!(bouncer.all(&server).await.is_empty());
    assert_eq!(server.count("push_notification").await, "0");
}

// conformance: push-21
#[tokio::test]
async fn what_is_read_while_the_bouncer_is_asked_is_taken_back() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    phone(&mut bouncer, &ada, "google").await;
    let barrier = Arc::new(Barrier::new(2));
    let hold = |bouncer: &Bouncer| bouncer.reply([Reply::Held(Arc::clone(&barrier))]);
    hold(&bouncer);
    let read = bob.send_direct(&[&ada], "read").await;
    assert_eq!(bouncer.next().await.endpoint, "notify");
    mark_read(&ada, &[read]).await;
    barrier.wait();
    assert_eq!(passed_on(&bouncer.all(&server).await), [format!("remove {read}")]);
    hold(&bouncer);
    let deleted = bob.send_direct(&[&ada], "deleted").await;
    assert_eq!(bouncer.next().await.endpoint, "notify");
    bob.delete(&format!("/messages/{deleted}"), ()).await.ok();
    barrier.wait();
    assert_eq!(passed_on(&bouncer.all(&server).await), [format!("remove {deleted}")]);
    // While another message of the conversation is taken back.
    let one = bob.send_direct(&[&ada], "one").await;
    let two = bob.send_direct(&[&ada], "two").await;
    assert_eq!(passed_on(&bouncer.all(&server).await), ["one", "two"]);
    hold(&bouncer);
    mark_read(&ada, &[one]).await;
    assert_eq!(passed_on(&[bouncer.next().await]), [format!("remove {one}")]);
    mark_read(&ada, &[two]).await;
    barrier.wait();
    assert_eq!(passed_on(&bouncer.all(&server).await), [format!("remove {two}")]);
    assert_eq!(server.count("push_notification").await, "0");
}

// conformance: push-21
#[tokio::test]
async fn what_is_deleted_or_does_not_mention_any_more_is_taken_back() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    phone(&mut bouncer, &ada, "google").await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    let path = |id: i64| format!("/messages/{id}");
    // A mention makes the user follow the topic, which would be another reason.
    ada.patch("/settings", json!({"enable_followed_topic_push_notifications": false})).await.ok();
    let edited = bob.send(channel, "named", "@**Ada** hello").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    bob.patch(&path(edited), json!({"content": "@**Ada** hello again"})).await.ok();
    assert!(bouncer.all(&server).await.is_empty());
    bob.patch(&path(edited), json!({"content": "hello"})).await.ok();
    assert_eq!(passed_on(&bouncer.all(&server).await), [format!("remove {edited}")]);
    let deleted = bob.send(channel, "named", "@**Ada** once more").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    bob.delete(&path(deleted), ()).await.ok();
    assert_eq!(passed_on(&bouncer.all(&server).await), [format!("remove {deleted}")]);
    let direct = bob.send_direct(&[&ada], "oops").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    bob.delete(&path(direct), ()).await.ok();
    assert_eq!(passed_on(&bouncer.all(&server).await), [format!("remove {direct}")]);
    assert_eq!(server.count("push_notification").await, "0");
    // All messages of the channel notify her, also this one.
    ada.patch("/settings", json!({"enable_stream_push_notifications": true})).await.ok();
    let id = bob.send(channel, "named", "@**Ada** hello").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    bob.patch(&path(id), json!({"content": "hello"})).await.ok();
    assert!(bouncer.all(&server).await.is_empty());
}

// conformance: push-21
#[tokio::test]
async fn deleted_channel_messages_are_taken_back() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    phone(&mut bouncer, &ada, "google").await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    let path = |id: i64| format!("/messages/{id}");
    let edited = bob.send(channel, "all", "@**all** hello").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    bob.patch(&path(edited), json!({"content": "@**all** hello again"})).await.ok();
    assert!(bouncer.all(&server).await.is_empty());
    bob.patch(&path(edited), json!({"content": "hello"})).await.ok();
    assert_eq!(passed_on(&bouncer.all(&server).await), [format!("remove {edited}")]);
    let deleted = bob.send(channel, "all", "@**all** once more").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    bob.delete(&path(deleted), ()).await.ok();
    assert_eq!(passed_on(&bouncer.all(&server).await), [format!("remove {deleted}")]);
    // All messages of the channel notify her. Phones keep the others of the conversation, and know its first topic.
    ada.patch("/settings", json!({"enable_stream_push_notifications": true})).await.ok();
    let moved = bob.send(channel, "plain", "one").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    bob.send(channel, "plain", "two").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    let renamed = json!({"topic": "renamed", "send_notification_to_new_thread": false});
    bob.patch(&path(moved), renamed).await.ok();
    assert!(bouncer.all(&server).await.is_empty());
    bob.delete(&path(moved), ()).await.ok();
    assert_eq!(passed_on(&bouncer.all(&server).await), [format!("remove {moved}")]);
    assert_eq!(server.count("push_notification").await, "1");
}

// conformance: push-22
#[tokio::test]
async fn a_bouncer_that_is_down_is_asked_again() {
    let (mut bouncer, mut server) = Bouncer::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    phone(&mut bouncer, &ada, "google").await;
    bouncer.reply([Reply::Status(503, "Retry-After: 600\r\n")]);
    bob.send_direct(&[&ada], "one").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    bob.send_direct(&[&ada], "two").await;
    assert!(bouncer.all(&server).await.is_empty());
    server.restart().await;
    server.clock.advance(599);
    assert!(bouncer.all(&server).await.is_empty());
    server.clock.advance(1);
    assert_eq!(passed_on(&bouncer.all(&server).await), ["one", "two"]);

    // Without a wish: 10, 60, 300 seconds and so on, until it is a day old.
    bouncer.always(Some(Reply::Status(500, "")));
    bob.send_direct(&[&ada], "three").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    for pause in [10, 60, 300, 1800, 7200, 7200] {
        server.clock.advance(pause - 1);
        assert!(bouncer.all(&server).await.is_empty(), "{pause}");
        server.clock.advance(1);
        assert_eq!(bouncer.endpoints(&server).await, ["notify"], "{pause}");
    }
    server.clock.advance(DAY);
    bouncer.always(None);
    assert!(bouncer.all(&server).await.is_empty());
    // It is left alone for as long as it asks, and gets both messages then.
    bouncer.reply([Reply::Status(429, "Retry-After: 86400\r\n")]);
    bob.send_direct(&[&ada], "old").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    server.clock.advance(10);
    bob.send_direct(&[&ada], "new").await;
    assert!(bouncer.all(&server).await.is_empty());
    server.clock.advance(DAY - 10);
    assert_eq!(passed_on(&bouncer.all(&server).await), ["old", "new"]);
    // Refusals are not repeated.
    bouncer.reply([refusal(
        "PUSH_NOTIFICATIONS_DISALLOWED",
        "Your plan doesn't allow sending push notifications.",
    )]);
    bob.send_direct(&[&ada], "four").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    server.clock.advance(DAY);
    assert!(bouncer.all(&server).await.is_empty());
    bob.send_direct(&[&ada], "five").await;
    assert_eq!(passed_on(&bouncer.all(&server).await), ["five"]);
    assert_eq!(server.count("push_device").await, "1");
}

// conformance: push-22
#[tokio::test]
async fn a_hostile_bouncer_holds_up_no_one() {
    let (mut bouncer, mut service) = (Bouncer::start(), PushService::start());
    let options = Options { web_push: service.options().web_push, public_url: None, ..bouncer.options() };
    let server = TestServer::start_with(options).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let browser = Browser::subscribed(&server, &ada, &service).await;
    let replies = [Reply::Noise, Reply::EndlessBody, Reply::Silence, Reply::Silence, Reply::Silence];
    for (number, reply) in replies.into_iter().enumerate() {
        let eve = server.member(&format!("eve{number}")).await;
        phone(&mut bouncer, &eve, "google").await;
        bouncer.reply([reply]);
        bob.send_direct(&[&eve], "hello").await;
        assert_eq!(bouncer.next().await.endpoint, "notify");
    }
    // Silent requests go on meanwhile.
    bob.send_direct(&[&ada], "hello").await;
    assert_eq!(browser.read(&service.next().await)["body"], "hello");
}

/// More of them wait for the bouncer than are loaded again at each wake-up.
// conformance: push-22
#[tokio::test]
async fn many_notifications_of_phones_hold_up_no_browser() {
    let (bouncer, mut service) = (Bouncer::start(), PushService::start());
    let mut options = Options { web_push: service.options().web_push, public_url: None, ..bouncer.options() };
    // The push service of browsers is another host.
    options.push_bouncer.as_mut().unwrap().url = format!("http://localhost:{}", bouncer.port);
    let server = TestServer::start_with(options).await;
    let (ada, bob) = (server.member("ada").await, server.administrator("bob").await);
    let browser = Browser::subscribed(&server, &ada, &service).await;
    let crowd = server.crowd(90).await;
    let phones = "FROM api_key JOIN user USING (user_id) WHERE delivery_email LIKE 'person%'";
    server
        .sql(&format!(
            "INSERT INTO push_subscription (user_id, shows_content, origin) SELECT user_id, 1, '{ORIGIN}' {phones};
             INSERT INTO push_device (user_id, kind, token, api_key_id) SELECT user_id, 2, 'phone', id {phones}"
        ))
        .await;
    let everyone: Vec<&Client> = crowd.iter().chain([&bob]).collect();
    let channel = server.channel("general", &everyone).await;
    bouncer.always(Some(Reply::Silence));
    bob.send(channel, "all", "@**all** hello").await;
    while server.count("push_notification").await != "90" {
        tokio::task::yield_now().await;
    }
    bob.send_direct(&[&ada], "hello").await;
    assert_eq!(browser.read(&service.next().await)["body"], "hello");
}

// conformance: push-25
#[tokio::test]
async fn people_share_a_phone() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let of_ada = phone(&mut bouncer, &ada, "shared").await.body;
    let of_bob = phone(&mut bouncer, &bob, "shared").await.body;
    assert_ne!(of_ada["user_uuid"], of_bob["user_uuid"]);
    for (person, registered) in [(&ada, &of_ada), (&bob, &of_bob)] {
        cleo.send_direct(&[person], "hello").await;
        let asked = bouncer.all(&server).await;
        assert_eq!(passed_on(&asked), ["hello"]);
        assert_eq!(asked[0].body["user_uuid"], registered["user_uuid"]);
        assert_eq!(asked[0].body["gcm_payload"]["user_id"], person.user_id);
    }
    ada.request(Method::DELETE, GOOGLE).form(json!({"token": "shared"})).send().await.ok();
    let asked = bouncer.all(&server).await;
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].body["user_id"], ada.user_id.to_string());
    assert_eq!(server.count("push_device").await, "1");
}

// conformance: push-26
#[tokio::test]
async fn nothing_is_sent_to_a_bouncer_that_is_not_named() {
    let (mut bouncer, server) = Bouncer::with_server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    phone(&mut bouncer, &ada, "google").await;
    bouncer.reply([Reply::Status(503, "")]);
    bob.send_direct(&[&ada], "before").await;
    assert_eq!(bouncer.endpoints(&server).await, ["notify"]);
    let server = server.with_options(Options::default()).await;
    server.clock.advance(DAY);
    bob.send_direct(&[&ada], "hello").await;
    for client in [&ada, &bob] {
        client.post(GOOGLE, json!({"token": "other"})).await.ok();
        client.request(Method::DELETE, GOOGLE).form(json!({"token": "other"})).send().await.ok();
        client.post("/mobile_push/test_notification", ()).await.ok();
    }
    assert!(bouncer.all(&server).await.is_empty());
    let settings = server.anonymous().get("/server_settings", ()).await.ok();
    assert_eq!(settings["push_notifications_enabled"], false);
    assert_eq!(ada.post("/register", ()).await.ok()["realm_push_notifications_enabled"], false);
    // Phones stay for when it is named again, without what is old.
    let server = server.with_options(bouncer.options()).await;
    assert!(bouncer.all(&server).await.is_empty());
    bob.send_direct(&[&ada], "hello again").await;
    assert_eq!(passed_on(&bouncer.all(&server).await), ["hello again"]);
}

/// The bouncer gets what Web Push turned off does not send.
#[tokio::test]
async fn phones_do_not_need_web_push() {
    let (mut bouncer, mut service) = (Bouncer::start(), PushService::start());
    let options = || Options { web_push: service.options().web_push, public_url: None, ..bouncer.options() };
    let server = TestServer::start_with(options()).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let mut off = options();
    off.web_push.is_off = true;
    Browser::subscribed(&server, &ada, &service).await;
    phone(&mut bouncer, &ada, "google").await;
    let server = server.with_options(off).await;
    bob.send_direct(&[&ada], "hello").await;
    assert_eq!(passed_on(&bouncer.all(&server).await), ["hello"]);
    assert!(service.all(&server).await.is_empty());
}
