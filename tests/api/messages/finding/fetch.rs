//! `GET /messages`: pages around anchors, messages by id, flags.

use super::{flags, ids, outsider, send, send_direct, stream_id, subscribe};
use crate::harness::{Client, TestServer, pictures};
use reqwest::Method;
use serde_json::{Value, json};

/// The anchor that clients expect if there are no unread messages.
const NEWEST: i64 = 10_000_000_000_000_000;

async fn lunch(server: &TestServer) -> (Client, Client, Vec<i64>) {
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    subscribe(&ada, &["lunch"], json!({"principals": [ada.user_id, bob.user_id]})).await;
    let mut sent = Vec::new();
    for number in 0..6 {
        sent.push(send(&ada, "lunch", "soup", &format!("number {number}")).await);
    }
    (ada, bob, sent)
}

async fn page(client: &Client, parameters: Value) -> Value {
    let mut parameters = parameters;
    parameters["narrow"] = json!([["channel", "lunch"]]);
    client.get("/messages", parameters).await.ok()
}

// conformance: fetch-1, fetch-2, fetch-3, fetch-4, fetch-5, fetch-6
#[tokio::test]
async fn a_page_is_around_its_anchor() {
    let server = TestServer::start().await;
    let (ada, _, sent) = lunch(&server).await;
    let between = send_direct(&ada, &[&ada], "elsewhere").await;
    // anchor, include_anchor, num_before, num_after; ids, found_anchor, found_oldest, found_newest, anchor
    let cases = [
        (json!(sent[2]), true, 1, 1, 1..4, (true, false, false), sent[2]),
        (json!(sent[2]), true, 2, 3, 0..6, (true, false, false), sent[2]),
        (json!(sent[2]), true, 3, 4, 0..6, (true, true, true), sent[2]),
        (json!(sent[2]), false, 2, 0, 0..2, (false, false, false), sent[2]),
        (json!(sent[2]), false, 0, 2, 3..5, (false, false, false), sent[2]),
        (json!(sent[2]), false, 0, 9, 3..6, (false, false, true), sent[2]),
        (json!(sent[2]), true, 0, 0, 2..3, (true, false, false), sent[2]),
        (json!(sent[2]), false, 0, 0, 2..3, (true, false, false), sent[2]),
        (json!(sent[2]), true, 1, 0, 1..3, (true, false, false), sent[2]),
        (json!("newest"), true, 2, 0, 4..6, (false, false, true), NEWEST),
        (json!("newest"), true, 9, 9, 0..6, (false, true, true), NEWEST),
        (json!("oldest"), true, 0, 2, 0..2, (false, true, false), 0),
        (json!("oldest"), true, 2, 9, 0..6, (false, true, true), 0),
        (json!(-7), true, 0, 1, 0..1, (false, true, false), 0),
        (json!(between), true, 1, 1, 5..6, (false, false, true), between),
        (json!(2_147_483_647), true, 1, 1, 5..6, (false, false, true), 2_147_483_647),
        (json!(3_000_000_000_i64), true, 1, 1, 5..6, (false, false, true), 3_000_000_000),
        (json!("99999999999999999999"), true, 1, 1, 5..6, (false, false, true), NEWEST),
        (json!(sent[0]), true, 1, 1, 0..2, (true, true, false), sent[0]),
    ];
    for (anchor, include_anchor, num_before, num_after, range, found, resolved) in cases {
        let parameters = json!({"anchor": anchor, "include_anchor": include_anchor, "num_before": num_before,
            "num_after": num_after});
        let answer = page(&ada, parameters.clone()).await;
        assert_eq!(ids(&answer), sent[range], "{parameters}");
        let flags = (found.0, found.1, found.2);
        let ends_found =
            ["found_anchor", "found_oldest", "found_newest"].map(|name| answer[name].as_bool().unwrap());
        assert_eq!((ends_found[0], ends_found[1], ends_found[2]), flags, "{parameters}");
        assert_eq!((&answer["anchor"], &answer["history_limited"]), (&json!(resolved), &json!(false)));
    }
}

// conformance: fetch-7, fetch-8, fetch-9
#[tokio::test]
async fn the_first_unread_message_is_an_anchor_unless_it_is_muted() {
    let server = TestServer::start().await;
    let (ada, bob, sent) = lunch(&server).await;
    let more = send(&ada, "lunch", "bread", "rye").await;
    let stream_id = stream_id(&ada, "lunch").await;
    let everywhere = json!({"anchor": "first_unread", "num_before": 0, "num_after": 0});
    let anchor = async |parameters: Value| bob.get("/messages", parameters).await.ok()["anchor"].clone();
    assert_eq!(anchor(everywhere.clone()).await, sent[0]);
    let read = json!({"messages": [sent[0]], "op": "add", "flag": "read"});
    bob.post("/messages/flags", read).await.ok();
    assert_eq!(anchor(everywhere.clone()).await, sent[1]);
    let older = json!({"anchor": "5", "use_first_unread_anchor": true, "num_before": 0, "num_after": 0});
    assert_eq!(anchor(older).await, sent[1]);
    let alone = json!({"use_first_unread_anchor": true, "num_before": 0, "num_after": 0});
    assert_eq!(anchor(alone).await, sent[1]);
    let mute = json!({"stream_id": stream_id, "topic": "soup", "visibility_policy": 1});
    bob.post("/user_topics", mute).await.ok();
    assert_eq!(anchor(everywhere.clone()).await, more);
    let change = json!([{"stream_id": stream_id, "property": "is_muted", "value": true}]);
    let parameters = json!({"subscription_data": change});
    bob.post("/users/me/subscriptions/properties", parameters).await.ok();
    assert_eq!(anchor(everywhere.clone()).await, NEWEST);
    // In a selected channel, only its muted topics are skipped.
    let in_channel = json!({"anchor": "first_unread", "num_before": 0, "num_after": 0,
        "narrow": [["channel", "lunch"]]});
    assert_eq!(anchor(in_channel).await, more);
    assert_eq!(ada.get("/messages", everywhere).await.ok()["anchor"], NEWEST);
}

// conformance: fetch-16, fetch-17, fetch-18, fetch-19, fetch-20
#[tokio::test]
async fn messages_by_id() {
    let server = TestServer::start().await;
    let (ada, _, sent) = lunch(&server).await;
    let outsider = outsider(&server).await;
    let secret = send_direct(&ada, &[&ada], "secret").await;
    let wanted = json!({"message_ids": [sent[3], secret, sent[1], sent[1], 999_999, 0]});
    let answer = outsider.get("/messages", &wanted).await.ok();
    assert_eq!(ids(&answer), [sent[1], sent[3]]);
    assert_eq!(answer.get("anchor"), None);
    for name in ["found_anchor", "found_oldest", "found_newest", "history_limited"] {
        assert_eq!(answer[name], false, "{name}");
    }
    assert_eq!(ids(&ada.get("/messages", &wanted).await.ok()), [sent[1], sent[3], secret]);
    let narrowed = json!({"message_ids": [sent[3], secret], "narrow": [["is", "dm"]]});
    assert_eq!(ids(&ada.get("/messages", narrowed).await.ok()), [secret]);
    let combination = "Unsupported parameter combination: num_before, num_after, anchor, message_ids, \
                       include_anchor, use_first_unread_anchor";
    for (name, value) in [
        ("anchor", "newest"),
        ("include_anchor", "true"),
        ("use_first_unread_anchor", "true"),
        ("num_before", "1"),
        ("num_after", "1"),
    ] {
        let answer = ada.get("/messages", &[("message_ids", "[1]"), (name, value)]).await;
        answer.error(400, "BAD_REQUEST", combination);
    }
    let many: Vec<i64> = (1..=5001).collect();
    // More than fits into a line of a request.
    let request = ada.request(reqwest::Method::GET, "/messages").form(json!({"message_ids": many}));
    request.send().await.error(400, "BAD_REQUEST", "Too many messages requested (maximum 5000).");
    let negative = ada.get("/messages", &[("message_ids", "[1, -1]")]).await;
    negative.error(400, "BAD_REQUEST", "message_ids[1] is too small");
}

// conformance: fetch-10, fetch-11, fetch-12, fetch-13, fetch-14, fetch-15
#[tokio::test]
async fn invalid_requests_are_refused() {
    let server = TestServer::start().await;
    let (ada, _, _) = lunch(&server).await;
    let missing = ada.get("/messages", &[("num_before", "1"), ("num_after", "1")]).await;
    missing.error(400, "BAD_REQUEST", "Missing 'anchor' argument.");
    let invalid = ada.get("/messages", &[("anchor", "x"), ("num_before", "1"), ("num_after", "1")]).await;
    invalid.error(400, "BAD_REQUEST", "Invalid anchor");
    let no_count = ada.get("/messages", &[("anchor", "newest"), ("num_after", "1")]).await;
    no_count.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'num_before' argument");
    let no_count = ada.get("/messages", &[("anchor", "newest"), ("num_before", "1")]).await;
    no_count.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'num_after' argument");
    let negative =
        ada.get("/messages", &[("anchor", "newest"), ("num_before", "-1"), ("num_after", "0")]).await;
    negative.error(400, "BAD_REQUEST", "num_before is too small");
    let many =
        ada.get("/messages", &[("anchor", "newest"), ("num_before", "3000"), ("num_after", "2001")]).await;
    many.error(400, "BAD_REQUEST", "Too many messages requested (maximum 5000).");
    let parameters = &[("anchor", "5"), ("num_before", "1"), ("num_after", "1"), ("include_anchor", "false")];
    let excluded = ada.get("/messages", parameters).await;
    excluded.error(400, "BAD_REQUEST", "The anchor can only be excluded at an end of the range");
}

// conformance: fetch-42, flag-1, flag-2, flag-3, flag-5, flag-8
#[tokio::test]
async fn flags_are_the_viewers_own() {
    let server = TestServer::start().await;
    let (ada, bob, sent) = lunch(&server).await;
    let outsider = outsider(&server).await;
    let id = send(&ada, "lunch", "soup", "@**Bob** and @**all**").await;
    let mentioned = json!(["mentioned", "stream_wildcard_mentioned", "wildcard_mentioned"]);
    assert_eq!(flags(&bob, id).await, mentioned);
    assert_eq!(flags(&outsider, id).await, json!(["read", "historical"]));
    assert_eq!(flags(&bob, sent[0]).await, json!([]));
    for flag in ["starred", "collapsed", "read"] {
        let change = json!({"messages": [sent[0]], "op": "add", "flag": flag});
        bob.post("/messages/flags", change).await.ok();
    }
    assert_eq!(flags(&bob, sent[0]).await, json!(["read", "starred", "collapsed"]));
}

// conformance: fetch-21, fetch-22, fetch-23
#[tokio::test]
async fn content_and_topic_come_in_the_form_that_is_asked_for() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    subscribe(&ada, &["lunch"], json!({})).await;
    send(&ada, "lunch", "", "*soup*").await;
    let base = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "client_gravatar": false});
    let message = async |more: Value| {
        let mut parameters = base.clone();
        parameters.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = ada.get("/messages", parameters).await.ok();
        let message = &answer["messages"][0];
        (message["content"].clone(), message["content_type"].clone(), message["subject"].clone())
    };
    let html = (json!("<p><em>soup</em></p>"), json!("text/html"), json!("general chat"));
    assert_eq!(message(json!({})).await, html);
    let markdown = (json!("*soup*"), json!("text/x-markdown"), json!(""));
    let parameters = json!({"apply_markdown": false, "allow_empty_topic_name": true});
    assert_eq!(message(parameters).await, markdown);
}

// conformance: fetch-44, fetch-91, fetch-92, fetch-93, fetch-94
#[tokio::test]
async fn one_message_is_fetched_with_its_markdown() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let outsider = outsider(&server).await;
    let garden = server.channel("garden", &[&ada]).await;
    let shed = server.private_channel("shed", &[&ada]).await;
    let id = ada.send(garden, "", "*soup*").await;
    let path = format!("/messages/{id}");
    let shown = bob.get(&path, ()).await.ok();
    assert_eq!(
        (&shown["raw_content"], &shown["message"]["content"]),
        (&json!("*soup*"), &json!("<p><em>soup</em></p>"))
    );
    assert_eq!(shown["message"]["subject"], "general chat");
    assert_eq!(shown["message"]["flags"], json!(["read", "historical"]));
    let raw = bob.get(&path, json!({"apply_markdown": false, "allow_empty_topic_name": true})).await.ok();
    assert_eq!((&raw["raw_content"], &raw["message"]["content"]), (&json!("*soup*"), &json!("*soup*")));
    assert_eq!(
        (&raw["message"]["content_type"], &raw["message"]["subject"]),
        (&json!("text/x-markdown"), &json!(""))
    );
    // Unknown and inaccessible messages have the same error.
    let (private, direct) = (ada.send(shed, "t", "x").await, ada.send_direct(&[&bob], "x").await);
    for id in [private, direct, 999_999] {
        let answer = outsider.get(&format!("/messages/{id}"), ()).await;
        answer.error(400, "BAD_REQUEST", "Invalid message(s)");
    }
    let guest = server.guest("gus").await;
    guest.get(&path, ()).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    server.sql(&format!("UPDATE stream SET is_web_public = 1 WHERE stream_id = {garden}")).await;
    assert_eq!(guest.get(&path, ()).await.ok()["raw_content"], "*soup*");
    let unread =
        json!({"anchor": "newest", "num_before": 9, "num_after": 0, "narrow": [["channels", "web-public"]]});
    assert_eq!(ids(&guest.get("/messages", unread).await.ok()), [0; 0]);
}

// conformance: fetch-24, fetch-25, fetch-29, fetch-31
#[tokio::test]
async fn a_message_has_only_the_members_that_apply() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada]).await;
    let members = async |id: i64| {
        let message = ada.message(id).await;
        message.as_object().unwrap().keys().cloned().collect::<std::collections::BTreeSet<_>>()
    };
    let always = [
        "avatar_url",
        "client",
        "content",
        "content_type",
        "display_recipient",
        "flags",
        "id",
        "is_me_message",
        "reactions",
        "recipient_id",
        "sender_email",
        "sender_full_name",
        "sender_id",
        "sender_realm_str",
        "subject",
        "submessages",
        "timestamp",
        "topic_links",
        "type",
    ];
    let with = |more: &[&str]| {
        always.iter().chain(more).map(|name| (*name).to_owned()).collect::<std::collections::BTreeSet<_>>()
    };
    let direct = ada.send_direct(&[&bob], "x").await;
    assert_eq!(members(direct).await, with(&[]));
    let id = ada.send(garden, "t", "x").await;
    assert_eq!(members(id).await, with(&["stream_id"]));
    server.clock.advance(5);
    ada.patch(&format!("/messages/{id}"), json!({"content": "y"})).await.ok();
    assert_eq!(members(id).await, with(&["stream_id", "edit_history", "last_edit_timestamp"]));
    server.clock.advance(5);
    let mv = json!({"topic": "u", "send_notification_to_new_thread": false});
    ada.patch(&format!("/messages/{id}"), mv).await.ok();
    let all = with(&["stream_id", "edit_history", "last_edit_timestamp", "last_moved_timestamp"]);
    assert_eq!(members(id).await, all);
    let message = ada.message(id).await;
    let start = crate::harness::START;
    assert_eq!(
        json!([message["timestamp"], message["last_edit_timestamp"], message["last_moved_timestamp"]]),
        json!([start, start + 5, start + 10])
    );
    // Edits are listed newest first, with their changes.
    assert_eq!(
        message["edit_history"],
        json!([
            {"user_id": ada.user_id, "timestamp": start + 10, "prev_topic": "t", "topic": "u"},
            {"user_id": ada.user_id, "timestamp": start + 5, "prev_content": "x",
                "prev_rendered_content": "<p>x</p>"},
        ])
    );
}

// conformance: fetch-42, fetch-43
#[tokio::test]
async fn messages_that_were_not_received_are_read_and_historical() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    subscribe(&ada, &["open"], json!({})).await;
    subscribe(&ada, &["shared"], json!({"invite_only": true, "history_public_to_subscribers": true})).await;
    subscribe(&ada, &["protected"], json!({"invite_only": true})).await;
    for channel in ["open", "shared", "protected"] {
        let before = send(&ada, channel, "t", "@**all** @**Bob**").await;
        subscribe(&ada, &[channel], json!({"principals": [bob.user_id]})).await;
        let after = send(&ada, channel, "t", "later").await;
        let narrow = json!([["channel", channel]]);
        let answer = super::newest(&bob, narrow).await;
        let shown: Vec<Value> = answer["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| json!([message["id"], message["flags"]]))
            .collect();
        let (old, new) = (json!([before, ["read", "historical"]]), json!([after, []]));
        let expected = if channel == "protected" { vec![new] } else { vec![old, new] };
        assert_eq!(shown, expected, "{channel}");
    }
}

// conformance: flag-7
#[tokio::test]
async fn an_edit_brings_flags_and_takes_them_away() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    ada.send(garden, "t", "she takes part").await;
    let id = bob.send(garden, "t", "nobody").await;
    let mut queue = ada.register(json!({"event_types": ["update_message"]})).await;
    for (content, expected) in [
        ("@**Ada**", json!(["mentioned"])),
        ("@**all**", json!(["stream_wildcard_mentioned", "wildcard_mentioned"])),
        ("@**topic**", json!(["topic_wildcard_mentioned", "wildcard_mentioned"])),
        ("@**Ada** @**topic**", json!(["mentioned", "topic_wildcard_mentioned", "wildcard_mentioned"])),
        ("nobody again", json!([])),
    ] {
        bob.patch(&format!("/messages/{id}"), json!({"content": content})).await.ok();
        assert_eq!(flags(&ada, id).await, expected, "{content}");
        assert_eq!(queue.expect_kinds(&["update_message"]).await[0]["flags"], expected, "{content}");
    }
}

// conformance: fetch-105
#[tokio::test]
async fn a_page_of_large_messages_is_shorter() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let large = ada.send_direct(&[&ada], &"x".repeat(10_000)).await;
    server.add_copies(large, 2_000).await;
    let newest = json!({"anchor": "newest", "num_before": 5000, "num_after": 0});
    let page = ada.get("/messages", newest).await;
    assert!(page.bytes.len() < 17 << 20, "{}", page.bytes.len());
    let page = page.ok();
    let ids: Vec<i64> =
        page["messages"].as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect();
    assert_eq!((&page["found_oldest"], &page["found_newest"]), (&json!(false), &json!(true)));
    assert_eq!(ids, (large + 2_001 - ids.len() as i64..=large + 2_000).collect::<Vec<_>>());
    let rest = json!({"anchor": ids[0], "include_anchor": false, "num_before": 5000, "num_after": 0});
    let rest = ada.get("/messages", rest).await.ok();
    assert_eq!(rest["messages"].as_array().unwrap().last().unwrap()["id"], ids[0] - 1);
    let all: Vec<i64> = (large..=large + 2_000).collect();
    let msg = "These messages are too large for one response; ask for fewer.";
    ada.get("/messages", json!({"message_ids": all})).await.error(400, "BAD_REQUEST", msg);
}

#[tokio::test]
async fn a_narrow_has_a_limit() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let narrow = |terms: usize| {
        let narrow = vec![json!({"operator": "is", "operand": "dm"}); terms];
        json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": narrow})
    };
    ada.get("/messages", narrow(100)).await.ok();
    let msg = "narrow is too long (limit: 100 terms)";
    ada.get("/messages", narrow(101)).await.error(400, "BAD_REQUEST", msg);
}

/// Pages share the parts of messages that do not depend on the reader. Every kind of change has to reach them.
#[tokio::test]
async fn pages_show_every_change_of_a_message_at_once() {
    let server = TestServer::start().await;
    let (ada, bob, sent) = lunch(&server).await;
    let owner = server.owner().await;
    subscribe(&owner, &["lunch", "dinner"], json!({})).await;
    let dinner = stream_id(&owner, "dinner").await;
    let id = sent[3];
    let shown = async |narrow: Value| {
        let parameters = json!({"anchor": "newest", "num_before": 100, "num_after": 0, "narrow": narrow});
        // The second page is made of what the first one left.
        bob.get("/messages", parameters.clone()).await.ok();
        let page = bob.get("/messages", parameters).await.ok();
        page["messages"].as_array().unwrap().iter().find(|message| message["id"] == id).cloned()
    };
    let lunch = json!([["channel", "lunch"]]);
    let path = format!("/messages/{id}");
    assert_eq!(shown(lunch.clone()).await.unwrap()["content"], "<p>number 3</p>");

    ada.patch(&path, json!({"content": "edited"})).await.ok();
    assert_eq!(shown(lunch.clone()).await.unwrap()["content"], "<p>edited</p>");
    ada.patch(&path, json!({"topic": "salad"})).await.ok();
    assert_eq!(shown(lunch.clone()).await.unwrap()["subject"], "salad");
    let reaction = json!({"emoji_name": "tada"});
    ada.post(&format!("{path}/reactions"), reaction.clone()).await.ok();
    assert_eq!(shown(lunch.clone()).await.unwrap()["reactions"][0]["emoji_name"], "tada");
    ada.delete(&format!("{path}/reactions"), reaction).await.ok();
    assert_eq!(shown(lunch.clone()).await.unwrap()["reactions"], json!([]));
    bob.post("/messages/flags", json!({"messages": [id], "op": "add", "flag": "starred"})).await.ok();
    assert!(shown(lunch.clone()).await.unwrap()["flags"].as_array().unwrap().contains(&json!("starred")));
    ada.patch("/settings", json!({"full_name": "Ada Lovelace"})).await.ok();
    assert_eq!(shown(lunch.clone()).await.unwrap()["sender_full_name"], "Ada Lovelace");
    ada.patch("/settings", json!({"email_address_visibility": 5})).await.ok();
    let email = format!("user{}@bots.invalid", ada.user_id);
    assert_eq!(shown(lunch.clone()).await.unwrap()["sender_email"], email);
    let face = pictures::png(9, 9);
    let files: [(&str, &str, &[u8]); 1] = [("file", "me.png", &face)];
    let answer = ada.request(Method::POST, "/users/me/avatar").multipart((), &files).send().await.ok();
    assert_eq!(shown(lunch.clone()).await.unwrap()["avatar_url"], answer["avatar_url"]);
    let renamed = json!({"new_name": "brunch"});
    owner.patch(&format!("/streams/{}", stream_id(&owner, "lunch").await), renamed).await.ok();
    let brunch = json!([["channel", "brunch"]]);
    assert_eq!(shown(brunch.clone()).await.unwrap()["display_recipient"], "brunch");
    owner.patch(&path, json!({"stream_id": dinner})).await.ok();
    assert_eq!(shown(brunch).await, None);
    let there = shown(json!([["channel", "dinner"]])).await.unwrap();
    assert_eq!((&there["display_recipient"], &there["subject"]), (&json!("dinner"), &json!("salad")));
    owner.delete(&path, ()).await.ok();
    assert_eq!(shown(json!([["channel", "dinner"]])).await, None);
}
