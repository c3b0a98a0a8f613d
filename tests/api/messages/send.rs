//! `POST /messages`: recipients, errors and events. `permissions` tests who may send.

use super::{edit, message};
use crate::harness::{Client, START, TestServer};
use serde_json::{Value, json};
use teamchat::types::Role;

async fn channel_message(by: &Client, more: Value) -> i64 {
    let mut message = json!({"type": "channel", "topic": "t", "content": "c"});
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    by.post("/messages", message).await.ok()["id"].as_i64().unwrap()
}

async fn direct_message(by: &Client, kind: &str, to: Value) -> i64 {
    let message = json!({"type": kind, "to": to, "content": "c"});
    by.post("/messages", message).await.ok()["id"].as_i64().unwrap()
}

/// Line feeds at the start and white space at the end go, on every way by which a message comes in.
// conformance: edit-4, send-22
#[tokio::test]
async fn texts_are_normalized_however_they_come_in() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let content = async |id: i64| message(&ada, id).await["content"].clone();

    let waves = ada.send(garden, "t", "\n\n/me waves \n").await;
    assert_eq!(seen(&ada, waves, "is_me_message").await, true);
    assert_eq!(content(waves).await, "/me waves");
    let poll = ada.send(garden, "t", "\n/poll Lunch?").await;
    assert_eq!(seen(&ada, poll, "submessages").await.as_array().unwrap().len(), 1);
    let code = ada.send(garden, "t", "\n    code\t").await;
    assert_eq!(content(code).await, "    code");
    let direct = ada.send_direct(&[&bob], "\n/me whispers").await;
    assert_eq!(content(direct).await, "/me whispers");
    edit(&ada, code, json!({"content": "\n/me bows\n"})).await.ok();
    assert_eq!(content(code).await, "/me bows");
    let rendered = ada.post("/messages/render", json!({"content": "\n    code"})).await.ok();
    let sent = ada.send(garden, "t", "    code").await;
    assert_eq!(rendered["rendered"], seen(&ada, sent, "content").await);

    let later = START + 3600;
    let scheduled = json!({"type": "channel", "to": garden, "topic": "t", "content": "\n/me waits\n",
        "scheduled_delivery_timestamp": later});
    let id = ada.post("/scheduled_messages", scheduled).await.ok()["scheduled_message_id"].clone();
    let stored = async || {
        let list = ada.get("/scheduled_messages", ()).await.ok();
        list["scheduled_messages"][0]["content"].clone()
    };
    assert_eq!(stored().await, "/me waits");
    ada.patch(&format!("/scheduled_messages/{id}"), json!({"content": "\n/me sleeps\n"})).await.ok();
    assert_eq!(stored().await, "/me sleeps");

    let draft = |content: &str| json!({"type": "", "to": [], "topic": "", "content": content});
    let made = ada.post("/drafts", json!({"drafts": [draft("\n/me thinks\n")]})).await.ok();
    let stored = async || ada.get("/drafts", ()).await.ok()["drafts"][0]["content"].clone();
    assert_eq!(stored().await, "/me thinks");
    let path = format!("/drafts/{}", made["ids"][0]);
    ada.patch(&path, json!({"draft": draft("\n/me dreams\n")})).await.ok();
    assert_eq!(stored().await, "/me dreams");

    let welcome = json!({"welcome_message_custom_text": "\n/me greets\n"});
    let id = owner.post("/realm/test_welcome_bot_custom_message", welcome).await.ok()["message_id"].clone();
    assert_eq!(message(&owner, id.as_i64().unwrap()).await["content"], "/me greets");
    let blank = json!({"welcome_message_custom_text": "\n "});
    let refused = owner.post("/realm/test_welcome_bot_custom_message", blank).await;
    refused.error(400, "BAD_REQUEST", "Message must not be empty");
    let blank = json!({"type": "channel", "to": garden, "topic": "t", "content": "\n \n"});
    ada.post("/messages", blank).await.error(400, "BAD_REQUEST", "Message must not be empty");
}

/// A member of a message as its sender sees it.
async fn seen(by: &Client, id: i64, name: &str) -> Value {
    by.message(id).await[name].clone()
}

// conformance: fetch-27, send-1, send-2, send-4
#[tokio::test]
async fn a_channel_is_named_by_its_id_or_its_name() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let garden = server.channel("garden", &[&ada]).await;
    let before = ada.send(garden, "t", "before").await;
    for (kind, to) in [
        ("channel", json!(garden)),
        ("stream", json!(garden)),
        ("channel", json!("garden")),
        ("stream", json!("GARDEN")),
        ("channel", json!("\"garden\"")),
        ("channel", json!([garden])),
        ("channel", json!(["garden"])),
    ] {
        let id = channel_message(&ada, json!({"type": kind, "to": to})).await;
        assert!(id > before);
        assert_eq!(seen(&ada, id, "stream_id").await, garden, "{kind} {to}");
        assert_eq!(seen(&ada, id, "type").await, "stream");
    }
}

// conformance: fetch-27, fetch-28, send-1, send-3
#[tokio::test]
async fn people_are_named_by_ids_or_emails() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let (a, b, c) = (ada.user_id, bob.user_id, cleo.user_id);
    let first = direct_message(&bob, "direct", json!([a])).await;
    let with_bob = seen(&ada, first, "recipient_id").await;
    for (kind, to) in [
        ("direct", json!([b])),
        ("private", json!([b])),
        // The sender may be a recipient, and duplicates are allowed.
        ("direct", json!([a, b])),
        ("direct", json!([b, b])),
        ("direct", json!(b)),
        ("direct", json!(["bob@example.com"])),
        ("direct", json!(["BOB@example.com", "ada@example.com"])),
        ("direct", json!("bob@example.com")),
    ] {
        let id = direct_message(&ada, kind, to.clone()).await;
        assert_eq!(seen(&ada, id, "recipient_id").await, with_bob, "{kind} {to}");
        assert_eq!(seen(&bob, id, "type").await, "private");
    }
    let group = direct_message(&ada, "direct", json!([b, c])).await;
    let group = seen(&ada, group, "recipient_id").await;
    assert_ne!(group, with_bob);
    for to in [
        json!([a, b, c]),
        json!(["bob@example.com", "cleo@example.com"]),
        json!("bob@example.com, cleo@example.com"),
    ] {
        let id = direct_message(&ada, "direct", to.clone()).await;
        assert_eq!(seen(&cleo, id, "recipient_id").await, group, "{to}");
    }
    let notes = direct_message(&ada, "direct", json!([a])).await;
    let people = json!([{"id": a, "email": "ada@example.com", "full_name": "Ada", "is_mirror_dummy": false}]);
    assert_eq!(seen(&ada, notes, "display_recipient").await, people);
}

// conformance: send-8, send-9, send-10, send-11, send-12, send-13, send-14, send-15, send-16, send-17
// conformance: send-18, send-19, send-20, send-24, send-25, send-29, send-30
#[tokio::test]
async fn invalid_messages_are_refused_as_published() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let gone = server.member("gone").await;
    owner.delete(&format!("/users/{}", gone.user_id), ()).await.ok();
    let garden = server.channel("garden", &[&owner, &ada]).await;
    let secret = server.private_channel("secret", &[&owner]).await;
    let shut = server.channel("shut", &[&owner, &ada]).await;
    owner.delete(&format!("/streams/{shut}"), ()).await.ok();
    let channel = |to: Value| json!({"type": "channel", "to": to, "topic": "t", "content": "c"});
    let direct = |to: Value| json!({"type": "direct", "to": to, "content": "c"});
    let content = |text: &str| json!({"type": "channel", "to": garden, "topic": "t", "content": text});
    let topic = |text: &str| json!({"type": "channel", "to": garden, "topic": text, "content": "c"});
    let both = "Recipient lists may contain emails or user IDs, but not both.";
    for (message, msg) in [
        (json!({"type": "letter", "to": garden, "topic": "t", "content": "c"}), "Invalid type"),
        (json!({"type": "channel", "to": garden, "content": "c"}), "Missing topic"),
        (channel(json!([garden, secret])), "Expected exactly one channel"),
        (channel(json!([])), "Expected exactly one channel"),
        (channel(json!({})), "Invalid data type for channel"),
        (channel(json!([1.5])), "Invalid data type for channel"),
        (channel(json!("secret")), "Not authorized to send to channel 'secret'"),
        (channel(json!(shut)), "Not authorized to send to channel 'shut'"),
        (topic("a\u{7}b"), "Invalid character in topic, at position 2!"),
        (content(""), "Message must not be empty"),
        (content(" \n"), "Message must not be empty"),
        (content("a\0b"), "Message must not contain null bytes"),
        (direct(json!([])), "Message must have recipients"),
        (direct(json!("")), "Message must have recipients"),
        (direct(json!({})), "Invalid data type for recipients"),
        (direct(json!([[1]])), "Invalid data type for recipients"),
        (direct(json!([ada.user_id, "ada@example.com"])), both),
        (direct(json!([9999])), "Invalid user ID 9999"),
        (direct(json!(["nobody@example.com"])), "Invalid email 'nobody@example.com'"),
        (direct(json!([gone.user_id])), "'Gone' is no longer using this organization."),
    ] {
        ada.post("/messages", &message).await.error(400, "BAD_REQUEST", msg);
    }
    let unknown = ada.post("/messages", channel(json!("nowhere"))).await;
    let unknown = unknown.error(400, "STREAM_DOES_NOT_EXIST", "Channel 'nowhere' does not exist");
    assert_eq!(unknown["stream"], "nowhere");
    // The error does not distinguish other users' private channels from unknown ones.
    for stream_id in [9999, secret] {
        let msg = format!("Channel with ID '{stream_id}' does not exist");
        let unknown = ada.post("/messages", channel(json!(stream_id))).await;
        assert_eq!(unknown.error(400, "STREAM_DOES_NOT_EXIST", &msg)["stream_id"], stream_id);
        // The topic is checked first, so it does not distinguish them either.
        let without_topic = json!({"type": "channel", "to": stream_id, "content": "c"});
        ada.post("/messages", without_topic).await.error(400, "BAD_REQUEST", "Missing topic");
        let mut bad_topic = channel(json!(stream_id));
        bad_topic["topic"] = json!("a\u{7}b");
        let msg = "Invalid character in topic, at position 2!";
        ada.post("/messages", &bad_topic).await.error(400, "BAD_REQUEST", msg);
        bad_topic["scheduled_delivery_timestamp"] = json!(START + 3600);
        ada.post("/scheduled_messages", bad_topic).await.error(400, "BAD_REQUEST", msg);
    }
    for name in ["type", "to", "content"] {
        let mut message = channel(json!(garden));
        message.as_object_mut().unwrap().remove(name);
        let msg = format!("Missing '{name}' argument");
        let error = ada.post("/messages", message).await.error(400, "REQUEST_VARIABLE_MISSING", &msg);
        assert_eq!(error["var_name"], name);
    }
    // Nothing of all this was sent.
    assert_eq!(super::contents(&ada, garden, "t").await, [""; 0]);
    // Users without a subscription may send to a public channel; guests may not.
    let (eve, guest) = (server.member("eve").await, server.guest("guest").await);
    eve.post("/messages", content("hi")).await.ok();
    let refused = guest.post("/messages", content("hi")).await;
    refused.error(400, "STREAM_DOES_NOT_EXIST", &format!("Channel with ID '{garden}' does not exist"));
    let refused = guest.post("/messages", channel(json!("garden"))).await;
    refused.error(400, "BAD_REQUEST", "Not authorized to send to channel 'garden'");
}

// conformance: send-58
#[tokio::test]
async fn hidden_emails_are_never_confirmed() {
    let server = TestServer::start().await;
    let (owner, eve, bob) = (server.owner().await, server.member("eve").await, server.member("bob").await);
    bob.patch("/settings", json!({"email_address_visibility": 3})).await.ok();
    let direct = |to: Value| json!({"type": "direct", "to": to, "content": "c"});
    for to in
        [json!(["bob@example.com"]), json!("bob@example.com"), json!("BOB@example.com, owner@example.com")]
    {
        let email = to.as_str().or_else(|| to[0].as_str()).unwrap().split(',').next().unwrap().to_owned();
        let msg = format!("Invalid email '{email}'");
        eve.post("/messages", direct(to)).await.error(400, "BAD_REQUEST", &msg);
    }
    owner.post("/messages", direct(json!(["bob@example.com"]))).await.ok();
    bob.post("/messages", direct(json!(["bob@example.com"]))).await.ok();
    // An invitation to a registered email is created as usual; the page of its link reports the account.
    let invitation = json!({"invitee_emails": "bob@example.com", "stream_ids": []});
    eve.post("/invites", &invitation).await.ok();
    let refused = owner.post("/invites", &invitation).await;
    refused.error(400, "INVITATION_FAILED", "We weren't able to invite anyone.");
}

// conformance: send-5, send-6, send-7, send-21
#[tokio::test]
async fn topics_are_trimmed_shortened_and_may_be_empty() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let garden = server.channel("garden", &[&owner]).await;
    let longest = "é".repeat(60);
    for (topic, expected) in [
        ("  roses ", "roses"),
        ("", ""),
        ("  ", ""),
        ("(no topic)", ""),
        ("general chat", ""),
        (longest.as_str(), longest.as_str()),
        (&"é".repeat(61), &("é".repeat(57) + "...")),
    ] {
        let id = channel_message(&owner, json!({"to": garden, "topic": topic})).await;
        assert_eq!(seen(&owner, id, "subject").await, expected, "{topic}");
    }
    // The older name of the parameter.
    let subject = json!({"type": "stream", "to": garden, "subject": "tulips", "content": "c"});
    let id = owner.post("/messages", subject).await.ok()["id"].as_i64().unwrap();
    assert_eq!(seen(&owner, id, "subject").await, "tulips");
    // Direct messages have no topic, even if one is given.
    let notes = json!({"type": "direct", "to": [owner.user_id], "topic": "tulips", "content": "c"});
    let id = owner.post("/messages", notes).await.ok()["id"].as_i64().unwrap();
    assert_eq!(seen(&owner, id, "subject").await, "");
    // If topics are required, all spellings of the empty topic are refused.
    server.set_realm_setting("topics_policy", json!("disable_empty_topic")).await;
    for topic in ["", "(no topic)", "general chat"] {
        let message = json!({"type": "channel", "to": garden, "topic": topic, "content": "c"});
        let refused = owner.post("/messages", message).await;
        refused.error(400, "BAD_REQUEST", "Topics are required in this organization");
    }
    channel_message(&owner, json!({"to": garden})).await;
}

// conformance: send-22, send-23
#[tokio::test]
async fn contents_are_trimmed_at_their_end_and_shortened() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let state = ada.post("/register", json!({"fetch_event_types": ["realm"]})).await.ok();
    let limit = usize::try_from(state["max_message_length"].as_i64().unwrap()).unwrap();
    assert_eq!(limit, 10_000);
    for (content, expected) in [
        ("  code \n\n", "  code".to_owned()),
        (&"é".repeat(limit), "é".repeat(limit)),
        (&"é".repeat(limit + 1), "é".repeat(limit - 20) + "\n[message truncated]"),
    ] {
        let id = ada.send_direct(&[&ada], content).await;
        let raw = ada.get(&format!("/messages/{id}"), ()).await.ok()["raw_content"].clone();
        assert_eq!(raw, expected);
    }
}

// conformance: send-26, send-27, send-44
#[tokio::test]
async fn a_sender_has_read_a_message_if_they_say_so_or_use_a_client_for_people() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let garden = server.channel("garden", &[&ada]).await;
    for (more, expected) in [
        (json!({"read_by_sender": true}), json!(["read"])),
        (json!({"read_by_sender": false, "client": "website"}), json!([])),
        (json!({}), json!([])),
        (json!({"client": "ZulipPython"}), json!([])),
        (json!({"client": "website"}), json!(["read"])),
        (json!({"client": "ZulipTerminal"}), json!(["read"])),
        (json!({"client": "ios"}), json!(["read"])),
    ] {
        let mut parameters = more.clone();
        parameters["to"] = garden.into();
        let id = channel_message(&ada, parameters).await;
        assert_eq!(seen(&ada, id, "flags").await, expected, "{more}");
        let client = more.get("client").and_then(Value::as_str).unwrap_or("teamchat-tests");
        assert_eq!(seen(&ada, id, "client").await, client);
    }
    let maybe =
        json!({"type": "channel", "to": garden, "topic": "t", "content": "c", "read_by_sender": "maybe"});
    let refused = ada.post("/messages", maybe).await;
    refused.error(400, "BAD_REQUEST", "read_by_sender is not valid JSON");
}

// conformance: send-43
#[tokio::test]
async fn local_ids_are_sent_to_the_senders_queue() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let register = json!({"event_types": ["message"]});
    let (mut here, mut elsewhere) = (ada.register(&register).await, ada.register(&register).await);
    let mut of_bob = bob.register(&register).await;
    let echo = json!({"to": garden, "queue_id": here.queue_id, "local_id": "100.01"});
    channel_message(&ada, echo).await;
    // A local id without a queue, or for an unknown queue, is not part of events.
    channel_message(&ada, json!({"to": garden, "local_id": "100.02"})).await;
    channel_message(&ada, json!({"to": garden, "queue_id": "gone", "local_id": "100.03"})).await;
    let plain = json!({"type": "message", "message": "*", "flags": []});
    let mut echoed = plain.clone();
    echoed["local_message_id"] = json!("100.01");
    here.expect(&[echoed, plain.clone(), plain.clone()]).await;
    for queue in [&mut elsewhere, &mut of_bob] {
        queue.expect(&[plain.clone(), plain.clone(), plain.clone()]).await;
    }
}

// conformance: send-43
#[tokio::test]
async fn repeated_sends_return_the_stored_message() {
    let mut server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let shed = server.channel("shed", &[&ada, &bob]).await;
    let mut of_bob = bob.register(&json!({"event_types": ["message"]})).await;
    let first = json!({"to": garden, "queue_id": "q", "local_id": "1.01", "content": "once"});
    let id = channel_message(&ada, first.clone()).await;
    assert_eq!(channel_message(&ada, first.clone()).await, id);
    // For concurrent requests, the writer decides.
    let second = json!({"to": garden, "queue_id": "q", "local_id": "1.02", "content": "twice"});
    let (one, other) =
        tokio::join!(channel_message(&ada, second.clone()), channel_message(&ada, second.clone()));
    assert_eq!(one, other);
    let heard = json!({"type": "message", "message": "*", "flags": []});
    of_bob.expect(&[heard.clone(), heard]).await;
    drop(of_bob);
    // Another queue, name, text, topic, channel, kind of destination or sender: other messages.
    let with = |more: Value| {
        let mut message = first.clone();
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        message
    };
    let mut ids = vec![id, one];
    for more in [
        json!({"queue_id": "r"}),
        json!({"local_id": "1.03"}),
        json!({"content": "Once"}),
        json!({"topic": "u"}),
        json!({"to": shed}),
        json!({"type": "direct", "to": [bob.user_id]}),
        json!({"type": "direct", "to": [ada.user_id]}),
    ] {
        ids.push(channel_message(&ada, with(more)).await);
    }
    ids.push(channel_message(&bob, first.clone()).await);
    assert!(ids.is_sorted_by(|before, after| before < after), "{ids:?}");
    // The same destination by another name, even after a restart, but not a destination that there is not.
    server.restart().await;
    assert_eq!(channel_message(&ada, with(json!({"to": "Garden"}))).await, id);
    let nowhere =
        ada.post("/messages", with(json!({"type": "channel", "topic": "t", "to": "nowhere"}))).await;
    nowhere.error(400, "STREAM_DOES_NOT_EXIST", "Channel 'nowhere' does not exist");
    // A message that was deleted is sent again.
    assert_eq!(server.column("SELECT count(*) FROM sent_name").await, ["10"]);
    let owner = server.owner().await;
    owner.delete(&format!("/messages/{id}"), json!({})).await.ok();
    assert_eq!(server.column("SELECT count(*) FROM sent_name").await, ["9"]);
    let again = channel_message(&ada, first.clone()).await;
    assert!(!ids.contains(&again), "{again} {ids:?}");
    // Even without permission to send.
    owner.delete(&format!("/streams/{garden}"), json!({})).await.ok();
    assert_eq!(channel_message(&ada, second).await, one);
    assert_eq!(channel_message(&ada, first).await, again);
}

#[tokio::test]
async fn the_names_of_a_senders_latest_messages_are_kept() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let garden = server.channel("garden", &[&ada]).await;
    let name = |number: i32| json!({"to": garden, "queue_id": "q", "local_id": number.to_string()});
    let first = channel_message(&ada, name(0)).await;
    let mut last = first;
    for number in 1..=200 {
        last = channel_message(&ada, name(number)).await;
    }
    let count = || server.column("SELECT count(*) FROM sent_name");
    assert_eq!(count().await, ["200"]);
    let again = channel_message(&ada, name(0)).await;
    assert_ne!(again, first);
    assert_eq!(channel_message(&ada, name(0)).await, again);
    // A name goes with its message, and leaves room for another one.
    server.owner().await.delete(&format!("/messages/{last}"), ()).await.ok();
    assert_eq!(count().await, ["199"]);
    channel_message(&ada, name(201)).await;
    assert_eq!(count().await, ["200"]);
    let ids = "SELECT min(message_id) FROM sent_name";
    let oldest = server.column(ids).await;
    channel_message(&ada, name(202)).await;
    assert_eq!(count().await, ["200"]);
    assert_ne!(server.column(ids).await, oldest, "the oldest one is dropped");
}

/// The event of a message, in HTML.
fn record(id: i64, by: &Client, content: &str) -> Value {
    json!({
        "id": id,
        "sender_id": by.user_id,
        "sender_full_name": by.full_name,
        "sender_email": by.email,
        "sender_realm_str": "",
        "avatar_url": format!("/user_avatars/{}", by.user_id),
        "client": "teamchat-tests",
        "content": content,
        "content_type": "text/html",
        "is_me_message": false,
        "reactions": [],
        "recipient_id": "*",
        "submessages": [],
        "timestamp": crate::harness::START,
        "topic_links": [],
    })
}

// conformance: fetch-25, fetch-26, fetch-33, fetch-91, send-40, send-41, send-42
#[tokio::test]
async fn message_events_equal_fetched_messages() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let (eve, guest) = (server.member("eve").await, server.guest("guest").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let shed = server.private_channel("shed", &[&ada, &bob]).await;
    let html = json!({"event_types": ["message"], "apply_markdown": true});
    let mut raw = json!({"event_types": ["message"]});
    raw["client_capabilities"] = json!({"empty_topic_name": true});
    let public = json!({"event_types": ["message"], "apply_markdown": true, "all_public_streams": true});
    let mut of_bob = bob.register(&html).await;
    let mut raw_of_bob = bob.register(&raw).await;
    let (mut of_eve, mut all_of_eve) = (eve.register(&html).await, eve.register(&public).await);
    let mut of_guest = guest.register(&html).await;
    let content = "*hi* @**Bob**";
    let rendered = format!(
        "<p><em>hi</em> <span class=\"user-mention\" data-user-id=\"{}\">@Bob</span></p>",
        bob.user_id
    );
    let in_garden = ada.send(garden, "", content).await;
    let in_shed = ada.send(shed, "t", "c").await;
    let direct = ada.send_direct(&[&bob], "/me waves").await;
    let mut first = record(in_garden, &ada, &rendered);
    first["avatar_url"] = json!("*");
    first["type"] = json!("stream");
    first["stream_id"] = garden.into();
    first["display_recipient"] = json!("garden");
    first["subject"] = json!("general chat");
    let mut second = record(in_shed, &ada, "<p>c</p>");
    second["avatar_url"] = json!("*");
    second["type"] = json!("stream");
    second["stream_id"] = shed.into();
    second["display_recipient"] = json!("shed");
    second["subject"] = json!("t");
    let mut third = record(direct, &ada, "<p>/me waves</p>");
    third["avatar_url"] = json!("*");
    third["is_me_message"] = json!(true);
    third["type"] = json!("private");
    third["subject"] = json!("");
    let person = |client: &Client| json!({"id": client.user_id, "email": client.email, "full_name": client.full_name, "is_mirror_dummy": false});
    third["display_recipient"] = json!([person(&ada), person(&bob)]);
    let event =
        |message: &Value, flags: Value| json!({"type": "message", "message": message, "flags": flags});
    let expected = [event(&first, json!(["mentioned"])), event(&second, json!([])), event(&third, json!([]))];
    of_bob.expect(&expected).await;
    let mut fetched = first.clone();
    fetched["flags"] = json!(["mentioned"]);
    let answer = bob.get(&format!("/messages/{in_garden}"), ()).await.ok();
    assert_eq!(crate::harness::differences(&fetched, &answer["message"]), [""; 0]);
    // Another client wants Markdown, and knows the empty topic.
    for (message, content) in [(&mut first, content), (&mut second, "c"), (&mut third, "/me waves")] {
        message["content"] = json!(content);
        message["content_type"] = json!("text/x-markdown");
    }
    let mut in_raw = expected.clone();
    for (event, message) in in_raw.iter_mut().zip([&first, &second, &third]) {
        event["message"] = message.clone();
    }
    in_raw[0]["message"]["subject"] = json!("");
    raw_of_bob.expect(&in_raw).await;
    // Users without a subscription receive messages of public channels only with `all_public_streams`, and without
    // flags.
    of_eve.expect_nothing().await;
    all_of_eve.expect(&[event(&expected[0]["message"], json!([]))]).await;
    of_guest.expect_nothing().await;
}

// conformance: send-45
#[tokio::test]
async fn mentioned_bots_receive_messages_without_a_subscription() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let (bot, other) = (server.bot("helper", &ada).await, server.bot("other", &ada).await);
    let garden = server.channel("garden", &[&ada]).await;
    let shed = server.private_channel("shed", &[&ada]).await;
    let register = json!({"event_types": ["message", "reaction"]});
    let (mut of_bot, mut of_other) = (bot.register(&register).await, other.register(&register).await);
    let called = ada.send(garden, "t", "@**Helper** and @_**Other**").await;
    ada.send(garden, "t", "`@**Helper**` and nobody").await;
    ada.send(shed, "t", "@**Helper** in private").await;
    let events = of_bot.expect_kinds(&["message"]).await;
    assert_eq!((&events[0]["message"]["id"], &events[0]["flags"]), (&json!(called), &json!(["mentioned"])));
    assert_eq!(seen(&bot, called, "flags").await, json!(["mentioned"]));
    assert_eq!(super::finding::found(&bot, json!([])).await, [called]);
    // The bot also receives later events of that message.
    ada.post(&format!("/messages/{called}/reactions"), json!({"emoji_name": "tada"})).await.ok();
    of_bot.expect_kinds(&["reaction/add"]).await;
    of_other.expect_nothing().await;
    // People who are mentioned where they are not get nothing.
    let eve = server.member("eve").await;
    ada.send(garden, "t", "@**Eve**").await;
    assert_eq!(super::finding::found(&eve, json!([])).await, [0; 0]);
    // Bots that are guests see what guests see.
    let guest = server.user("visitor", Role::Guest, Some(&ada), None).await;
    let mut of_guest = guest.register(&register).await;
    ada.send(garden, "t", "@**Visitor**").await;
    of_guest.expect_nothing().await;
    server.sql(&format!("UPDATE stream SET is_web_public = 1 WHERE stream_id = {garden}")).await;
    ada.send(garden, "t", "@**Visitor**").await;
    of_guest.expect_kinds(&["message"]).await;
}

// conformance: send-52, send-53, send-54
#[tokio::test]
async fn render_returns_html_without_sending() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let render = async |content: &str| ada.post("/messages/render", json!({"content": content})).await;
    assert_eq!(render("**foo**").await.ok()["rendered"], "<p><strong>foo</strong></p>");
    assert_eq!(render("").await.ok()["rendered"], "");
    let missing = ada.post("/messages/render", ()).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'content' argument");
    assert_eq!(super::finding::found(&ada, json!([])).await, [0; 0]);
    let unknown = ada.post("/messages/render", json!({"content": "a", "stream_id": 1, "about": 2})).await;
    unknown.ok_ignoring(&["about", "stream_id"]);
}

#[tokio::test]
async fn html_of_plain_messages_is_not_stored() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let stored = "SELECT html FROM message ORDER BY id DESC LIMIT 1";
    let seen =
        async |id: i64| ada.get(&format!("/messages/{id}"), ()).await.ok()["message"]["content"].clone();
    let id = ada.send_direct(&[&ada], "plain text").await;
    assert_eq!(
        (server.column(stored).await, seen(id).await),
        (vec!["=".to_owned()], json!("<p>plain text</p>"))
    );
    for (content, html, is_stored) in [
        ("*no* longer", "<p><em>no</em> longer</p>", true),
        ("=", "<p>=</p>", false),
        ("a < b", "<p>a &lt; b</p>", true),
        ("plain again", "<p>plain again</p>", false),
    ] {
        ada.patch(&format!("/messages/{id}"), json!({"content": content})).await.ok();
        assert_eq!(server.column(stored).await, [if is_stored { html } else { "=" }]);
        assert_eq!(seen(id).await, html);
    }
}
