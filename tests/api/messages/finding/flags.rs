//! Flags: by id, by narrow, and the older ways to mark much as read.

use super::{found, outsider, send, send_direct, stream_id, subscribe};
use crate::harness::{Client, TestServer, overtaken};
use serde_json::{Value, json};

struct FlagFixture {
    server: TestServer,
    ada: Client,
    bob: Client,
    /// Four in `lunch`, topic `soup` and `bread` by turns; the last is direct.
    ids: Vec<i64>,
    stream_id: i64,
}

impl FlagFixture {
    async fn new() -> Self {
        let server = TestServer::start().await;
        let ada = server.member("ada").await;
        let bob = server.member("bob").await;
        subscribe(&ada, &["lunch"], json!({"principals": [ada.user_id, bob.user_id]})).await;
        let mut ids = Vec::new();
        for topic in ["soup", "bread", "soup", "bread"] {
            ids.push(send(&ada, "lunch", topic, "@**Bob** hello").await);
        }
        ids.push(send_direct(&ada, &[&bob], "hello").await);
        let stream_id = stream_id(&ada, "lunch").await;
        Self { server, ada, bob, ids, stream_id }
    }

    async fn unread(&self) -> Vec<i64> {
        found(&self.bob, json!([["is", "unread"]])).await
    }

    /// Statements that make all messages unread for Bob.
    fn all_unread(&self) -> String {
        let user_id = self.bob.user_id;
        format!(
            "DELETE FROM read_state WHERE user_id = {user_id}; DELETE FROM read_chunk WHERE user_id = {user_id}"
        )
    }

    /// An event of a flag for Bob.
    fn event(op: &str, flag: &str, messages: &[i64]) -> Value {
        json!({"type": "update_message_flags", "op": op, "operation": op, "flag": flag, "messages": messages,
            "all": false})
    }
}

const FLAG_EVENTS: &str = "[\"update_message_flags\"]";

// conformance: flag-1, flag-9, flag-11, flag-17, flag-19
#[tokio::test]
async fn flags_change_by_id_and_are_emitted() {
    let fixture = FlagFixture::new().await;
    let (bob, ids) = (&fixture.bob, &fixture.ids);
    let mut queue = bob.register(&[("event_types", FLAG_EVENTS)]).await;
    let mut other = fixture.ada.register(&[("event_types", FLAG_EVENTS)]).await;
    let change = async |messages: Value, op: &str, flag: &str| {
        bob.post("/messages/flags", json!({"messages": messages, "op": op, "flag": flag})).await
    };
    let answer = change(json!([ids[1], ids[0], ids[0]]), "add", "starred").await.ok();
    assert_eq!(answer["messages"], json!([ids[0], ids[1]]));
    assert_eq!(answer.get("ignored_because_not_subscribed_channels"), None);
    let answer = change(json!([ids[0]]), "add", "starred").await.ok();
    assert_eq!(answer["messages"], json!([]));
    change(json!([ids[0]]), "remove", "starred").await.ok();
    change(json!([ids[0], ids[4]]), "add", "read").await.ok();
    let answer = change(json!([ids[0], ids[4]]), "remove", "read").await.ok();
    assert_eq!(answer["ignored_because_not_subscribed_channels"], json!([]));
    let mut unread = FlagFixture::event("remove", "read", &[ids[0], ids[4]]);
    unread["message_details"] = json!({
        ids[0].to_string(): {"type": "stream", "stream_id": fixture.stream_id, "topic": "soup",
            "unmuted_stream_msg": true, "mentioned": true},
        ids[4].to_string(): {"type": "private", "user_ids": [fixture.ada.user_id]},
    });
    queue
        .expect(&[
            FlagFixture::event("add", "starred", &ids[..2]),
            FlagFixture::event("remove", "starred", &ids[..1]),
            FlagFixture::event("add", "read", &[ids[0], ids[4]]),
            unread,
        ])
        .await;
    other.expect_nothing().await;
}

#[tokio::test]
async fn unread_messages_of_muted_topics_have_details() {
    let fixture = FlagFixture::new().await;
    let bob = &fixture.bob;
    let everyone = send(&fixture.ada, "lunch", "soup", "@**all** hello").await;
    let mute = json!({"stream_id": fixture.stream_id, "topic": "SOUP", "visibility_policy": 1});
    bob.post("/user_topics", mute).await.ok();
    let ids = [&fixture.ids[..], &[everyone]].concat();
    bob.post("/messages/flags", json!({"messages": ids, "op": "add", "flag": "read"})).await.ok();
    let mut queue = bob.register(&[("event_types", FLAG_EVENTS)]).await;
    let ids = [ids[0], ids[1], everyone];
    bob.post("/messages/flags", json!({"messages": ids, "op": "remove", "flag": "read"})).await.ok();
    let events = queue.expect_kinds(&["update_message_flags/remove"]).await;
    let details = &events[0]["message_details"];
    assert_eq!(details[ids[0].to_string()]["unmuted_stream_msg"], false);
    assert_eq!(details[ids[1].to_string()]["unmuted_stream_msg"], true);
    let mentioned = ids.map(|id| details[id.to_string()]["mentioned"] == true);
    assert_eq!(mentioned, [true, true, false]);
    // They are not counted either.
    let state =
        bob.register(&[("event_types", "[\"message\", \"update_message_flags\"]")]).await.state.clone();
    assert_eq!(state["unread_msgs"]["count"], 1);
    assert_eq!(state["unread_msgs"]["mentions"], json!(ids[..2]));
    assert_eq!(state["unread_msgs"]["streams"].as_array().unwrap().len(), 2);
}

// conformance: flag-11, flag-13, flag-14, flag-15, flag-16
#[tokio::test]
async fn flags_that_cannot_be_changed_are_refused() {
    let fixture = FlagFixture::new().await;
    let id = fixture.ids[0];
    let change = async |client: &Client, id: i64, op: &str, flag: &str| {
        client.post("/messages/flags", json!({"messages": [id], "op": op, "flag": flag})).await
    };
    change(&fixture.bob, id, "add", "nice").await.error(400, "BAD_REQUEST", "Invalid flag: 'nice'");
    for flag in [
        "mentioned",
        "wildcard_mentioned",
        "stream_wildcard_mentioned",
        "topic_wildcard_mentioned",
        "has_alert_word",
        "historical",
    ] {
        let msg = format!("Flag not editable: '{flag}'");
        change(&fixture.bob, id, "add", flag).await.error(400, "BAD_REQUEST", &msg);
    }
    let refused = change(&fixture.bob, id, "toggle", "read").await;
    refused.error(400, "BAD_REQUEST", "Invalid message flag operation: 'toggle'");
    let outsider = outsider(&fixture.server).await;
    let direct = fixture.ids[4];
    for (op, flag) in [("add", "starred"), ("add", "collapsed"), ("remove", "read")] {
        change(&outsider, direct, op, flag).await.error(400, "BAD_REQUEST", "Invalid message(s)");
        change(&outsider, 999_999, op, flag).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    }
    for (op, flag) in [("remove", "starred"), ("add", "read")] {
        assert_eq!(change(&outsider, direct, op, flag).await.ok()["messages"], json!([]));
    }
    let ignored = change(&outsider, id, "remove", "read").await.ok();
    assert_eq!(ignored["messages"], json!([]));
    assert_eq!(ignored["ignored_because_not_subscribed_channels"], json!([fixture.stream_id]));
}

// conformance: flag-25, flag-26, flag-27, flag-28, flag-29
#[tokio::test]
async fn flags_change_over_a_narrow() {
    let fixture = FlagFixture::new().await;
    let (bob, ids) = (&fixture.bob, &fixture.ids);
    let mut queue = bob.register(&[("event_types", FLAG_EVENTS)]).await;
    let change = async |parameters: Value| bob.post("/messages/flags/narrow", parameters).await;
    let soup = json!([["channel", "lunch"], ["topic", "soup"]]);
    let answer =
        change(json!({"anchor": "oldest", "num_before": 0, "num_after": 1, "narrow": soup, "op": "add",
        "flag": "read"}))
        .await
        .ok();
    let summary = |answer: &Value| {
        let names = [
            "processed_count",
            "updated_count",
            "first_processed_id",
            "last_processed_id",
            "found_oldest",
            "found_newest",
        ];
        json!(names.map(|name| answer[name].clone()))
    };
    assert_eq!(summary(&answer), json!([1, 1, ids[0], ids[0], true, false]));
    assert_eq!(answer.get("ignored_because_not_subscribed_channels"), None);
    let answer = change(json!({"anchor": ids[0], "include_anchor": true, "num_before": 5, "num_after": 5,
        "narrow": soup, "op": "add", "flag": "read"}))
    .await
    .ok();
    assert_eq!(summary(&answer), json!([2, 1, ids[0], ids[2], true, true]));
    let answer = change(json!({"anchor": ids[0], "include_anchor": false, "num_before": 0, "num_after": 5,
        "narrow": soup, "op": "remove", "flag": "read"}))
    .await
    .ok();
    assert_eq!(summary(&answer), json!([1, 1, ids[2], ids[2], false, true]));
    assert_eq!(answer["ignored_because_not_subscribed_channels"], json!([]));
    let answer =
        change(json!({"anchor": "newest", "num_before": 9, "num_after": 0, "narrow": [["is", "starred"]],
        "op": "remove", "flag": "starred"}))
        .await
        .ok();
    assert_eq!(summary(&answer), json!([0, 0, null, null, true, true]));
    let answer =
        change(json!({"anchor": "first_unread", "num_before": 0, "num_after": 100_000, "narrow": [],
        "op": "add", "flag": "starred"}))
        .await
        .ok();
    assert_eq!(summary(&answer), json!([4, 4, ids[1], ids[4], false, true]));
    queue
        .expect_kinds(&[
            "update_message_flags/add",
            "update_message_flags/add",
            "update_message_flags/remove",
            "update_message_flags/add",
        ])
        .await;
}

// conformance: flag-30, flag-31
#[tokio::test]
async fn invalid_flag_changes_by_narrow_are_refused() {
    let fixture = FlagFixture::new().await;
    let good =
        json!({"anchor": "5", "num_before": 1, "num_after": 0, "narrow": [], "op": "add", "flag": "read"});
    for name in ["anchor", "num_before", "num_after", "narrow", "op", "flag"] {
        let mut parameters = good.clone();
        parameters.as_object_mut().unwrap().remove(name);
        let answer = fixture.bob.post("/messages/flags/narrow", parameters).await;
        answer.error(400, "REQUEST_VARIABLE_MISSING", &format!("Missing '{name}' argument"));
    }
    for (name, value, msg) in [
        ("anchor", json!("x"), "Invalid anchor"),
        ("num_before", json!(-1), "num_before is too small"),
        ("num_after", json!(-1), "num_after is too small"),
        ("op", json!("toggle"), "Invalid message flag operation: 'toggle'"),
        ("flag", json!("nice"), "Invalid flag: 'nice'"),
        ("flag", json!("mentioned"), "Flag not editable: 'mentioned'"),
        ("narrow", json!({}), "narrow is not a list"),
    ] {
        let mut parameters = good.clone();
        parameters[name] = value;
        fixture.bob.post("/messages/flags/narrow", parameters).await.error(400, "BAD_REQUEST", msg);
    }
    let mut narrow = good.clone();
    narrow["narrow"] = json!([["is", "nice"]]);
    let answer = fixture.bob.post("/messages/flags/narrow", narrow).await;
    answer.error(400, "BAD_NARROW", "Invalid narrow operator: unknown 'is' operand nice");
    let mut excluded = good.clone();
    excluded["include_anchor"] = false.into();
    excluded["num_after"] = 1.into();
    let msg = "The anchor can only be excluded at an end of the range";
    fixture.bob.post("/messages/flags/narrow", excluded).await.error(400, "BAD_REQUEST", msg);
}

// conformance: flag-32
#[tokio::test]
async fn everything_can_be_marked_as_read() {
    let fixture = FlagFixture::new().await;
    let mut queue = fixture.bob.register(&[("event_types", FLAG_EVENTS)]).await;
    assert_eq!(fixture.unread().await, fixture.ids);
    assert_eq!(fixture.bob.post("/mark_all_as_read", ()).await.ok()["complete"], true);
    assert_eq!(fixture.unread().await, [0; 0]);
    let mut event = FlagFixture::event("add", "read", &[]);
    event["all"] = true.into();
    queue.expect(&[event]).await;
    let later = send(&fixture.ada, "lunch", "soup", "later").await;
    assert_eq!(fixture.unread().await, [later]);
}

/// The messages of the channel become unread after the request has begun.
#[tokio::test]
async fn an_event_about_everything_covers_what_became_unread_before() {
    let fixture = FlagFixture::new().await;
    let (bob, ids) = (&fixture.bob, &fixture.ids);
    bob.post("/messages/flags", json!({"messages": ids, "op": "add", "flag": "read"})).await.ok();
    let unread = fixture.all_unread();
    overtaken(fixture.server.app(), &unread, bob.post("/mark_all_as_read", ())).await.ok();
    assert_eq!(fixture.unread().await, [0; 0]);
}

// conformance: flag-33, flag-35, flag-36
#[tokio::test]
async fn a_channel_can_be_marked_as_read() {
    let fixture = FlagFixture::new().await;
    let mut queue = fixture.bob.register(&[("event_types", FLAG_EVENTS)]).await;
    let mark =
        async |client: &Client, id: i64| client.post("/mark_stream_as_read", json!({"stream_id": id})).await;
    mark(&fixture.bob, fixture.stream_id).await.ok();
    assert_eq!(fixture.unread().await, fixture.ids[4..]);
    mark(&fixture.bob, fixture.stream_id).await.ok();
    queue.expect(&[FlagFixture::event("add", "read", &fixture.ids[..4])]).await;
    mark(&fixture.bob, 999).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    let guest = fixture.server.guest("guest").await;
    mark(&guest, fixture.stream_id).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    let missing = fixture.bob.post("/mark_stream_as_read", ()).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'stream_id' argument");
}

/// Two messages become unread after those to mark were looked up.
#[tokio::test]
async fn messages_that_become_unread_while_a_channel_is_marked_stay_unread() {
    let fixture = FlagFixture::new().await;
    let (bob, ids) = (&fixture.bob, &fixture.ids);
    let read = json!({"messages": ids[..2], "op": "add", "flag": "read"});
    bob.post("/messages/flags", read).await.ok();
    let mut queue = bob.register(&[("event_types", FLAG_EVENTS)]).await;
    let unread = fixture.all_unread();
    let mark = bob.post("/mark_stream_as_read", json!({"stream_id": fixture.stream_id}));
    overtaken(fixture.server.app(), &unread, mark).await.ok();
    queue.expect(&[FlagFixture::event("add", "read", &ids[2..4])]).await;
    assert_eq!(fixture.unread().await, [ids[0], ids[1], ids[4]]);
}

// conformance: flag-34, flag-35, flag-36, flag-37
#[tokio::test]
async fn a_topic_can_be_marked_as_read() {
    let fixture = FlagFixture::new().await;
    let (bob, ids) = (&fixture.bob, &fixture.ids);
    let mut queue = bob.register(&[("event_types", FLAG_EVENTS)]).await;
    let mark = async |client: &Client, topic: &str| {
        let parameters = json!({"stream_id": fixture.stream_id, "topic_name": topic});
        client.post("/mark_topic_as_read", parameters).await
    };
    mark(bob, "SOUP").await.ok();
    assert_eq!(fixture.unread().await, [ids[1], ids[3], ids[4]]);
    mark(bob, "soup").await.ok();
    queue.expect(&[FlagFixture::event("add", "read", &[ids[0], ids[2]])]).await;
    mark(bob, "cake").await.error(400, "BAD_REQUEST", "No such topic 'cake'");
    let outsider = outsider(&fixture.server).await;
    mark(&outsider, "soup").await.error(400, "BAD_REQUEST", "No such topic 'soup'");
    let unknown = bob.post("/mark_topic_as_read", json!({"stream_id": 999, "topic_name": "soup"})).await;
    unknown.error(400, "BAD_REQUEST", "Invalid channel ID");
    let missing = bob.post("/mark_topic_as_read", json!({"stream_id": fixture.stream_id})).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'topic_name' argument");
    let empty = send(&fixture.ada, "lunch", "", "no topic").await;
    mark(bob, "general chat").await.ok();
    queue.expect(&[FlagFixture::event("add", "read", &[empty])]).await;
}

// conformance: flag-8, flag-10
#[tokio::test]
async fn messages_before_the_subscription_can_become_unread() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada]).await;
    let (first, second) = (ada.send(garden, "a", "one").await, ada.send(garden, "a", "two").await);
    let change = async |op: &str| {
        let change = json!({"messages": [first], "op": op, "flag": "read"});
        bob.post("/messages/flags", change).await.ok()
    };
    // Not while the channel is none of theirs.
    assert_eq!(change("remove").await["ignored_because_not_subscribed_channels"], json!([garden]));
    subscribe(&bob, &["garden"], json!({})).await;
    assert_eq!(bob.message(first).await["flags"], json!(["read", "historical"]));
    let mut queue = bob.register(json!({"event_types": ["update_message_flags"]})).await;
    let answer = change("remove").await;
    assert_eq!(answer["messages"], json!([first]));
    assert_eq!(answer["ignored_because_not_subscribed_channels"], json!([]));
    let details = json!({"type": "stream", "stream_id": garden, "topic": "a", "unmuted_stream_msg": true});
    let mut event = FlagFixture::event("remove", "read", &[first]);
    event["message_details"] = json!({ first.to_string(): details });
    queue.expect(&[event]).await;
    assert_eq!(bob.message(first).await["flags"], json!(["historical"]));
    assert_eq!(found(&bob, json!([["is", "unread"]])).await, [first]);
    let state = bob.post("/register", json!({})).await.ok();
    assert_eq!(state["unread_msgs"]["streams"][0]["unread_message_ids"], json!([first]));
    // Again nothing changes; and the one beside it is as before.
    assert_eq!(change("remove").await["messages"], json!([]));
    assert_eq!(bob.message(second).await["flags"], json!(["read", "historical"]));
    assert_eq!(change("add").await["messages"], json!([first]));
    queue.expect(&[FlagFixture::event("add", "read", &[first])]).await;
    assert_eq!(bob.message(first).await["flags"], json!(["read", "historical"]));
    // The same for one that came from another channel.
    let shed = server.channel("shed", &[&ada]).await;
    let moved = ada.send(shed, "b", "three").await;
    let mv = json!({"stream_id": garden, "send_notification_to_new_thread": false});
    ada.patch(&format!("/messages/{moved}"), mv).await.ok();
    let change = json!({"messages": [moved], "op": "remove", "flag": "read"});
    assert_eq!(bob.message(moved).await["flags"], json!(["read", "historical"]));
    assert_eq!(bob.post("/messages/flags", change).await.ok()["messages"], json!([moved]));
    assert_eq!(bob.message(moved).await["flags"], json!(["historical"]));
    assert_eq!(ada.message(moved).await["flags"], json!([]));
    queue.ignore();
}

// conformance: fetch-45, flag-8, flag-10, react-5
#[tokio::test]
async fn starring_or_reacting_makes_users_receivers() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada]).await;
    let mut ids = Vec::new();
    for text in ["one", "two", "three", "four"] {
        ids.push(ada.send(garden, "a", text).await);
    }
    assert_eq!(found(&bob, json!([])).await, [0; 0]);
    let mut queue = bob.register(json!({"event_types": ["reaction", "update_message"]})).await;
    let change = async |id: i64, op: &str, flag: &str| {
        bob.post("/messages/flags", json!({"messages": [id], "op": op, "flag": flag})).await.ok();
    };
    change(ids[0], "add", "starred").await;
    change(ids[1], "add", "collapsed").await;
    bob.post(&format!("/messages/{}/reactions", ids[2]), json!({"emoji_name": "tada"})).await.ok();
    // Messages that he reads, and those without the removed flag, do not change.
    change(ids[3], "add", "read").await;
    change(ids[3], "remove", "starred").await;
    assert_eq!(found(&bob, json!([])).await, ids[..3]);
    assert_eq!(bob.message(ids[0]).await["flags"], json!(["read", "starred", "historical"]));
    assert_eq!(bob.message(ids[2]).await["flags"], json!(["read", "historical"]));
    // They stay in his history without the star, and he receives their events, starting with his own reaction.
    change(ids[0], "remove", "starred").await;
    assert_eq!(found(&bob, json!([["sender", "ada@example.com"]])).await, ids[..3]);
    for id in [ids[0], ids[3]] {
        ada.patch(&format!("/messages/{id}"), json!({"content": "edited"})).await.ok();
    }
    let events = queue.expect_kinds(&["reaction/add", "update_message"]).await;
    assert_eq!((&events[0]["user_id"], &events[1]["message_id"]), (&json!(bob.user_id), &json!(ids[0])));
    // Nothing of it is unread, nor when he subscribes.
    subscribe(&bob, &["garden"], json!({})).await;
    assert_eq!(found(&bob, json!([["is", "unread"]])).await, [0; 0]);
    let later = ada.send(garden, "a", "five").await;
    assert_eq!(found(&bob, json!([])).await, [&ids[..3], &[later]].concat());
}

// conformance: flag-12, flag-18, flag-19, flag-20
#[tokio::test]
async fn unread_events_have_details_for_counting() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let ids = [
        ada.send(garden, "", "no topic").await,
        ada.send(garden, "t", "@**all**").await,
        bob.send_direct(&[&bob], "notes").await,
        ada.send_direct(&[&bob, &cleo], "group").await,
    ];
    let change = async |op: &str| {
        bob.post("/messages/flags", json!({"messages": ids, "op": op, "flag": "read"})).await.ok();
    };
    change("add").await;
    let capabilities = json!({"empty_topic_name": true});
    let mut queue = bob.register(&[("event_types", FLAG_EVENTS)]).await;
    let types = json!(["update_message_flags"]);
    let mut newer = bob.register(json!({"event_types": types, "client_capabilities": capabilities})).await;
    change("remove").await;
    let mut event = FlagFixture::event("remove", "read", &ids);
    let stream = |topic: &str| json!({"type": "stream", "stream_id": garden, "topic": topic, "unmuted_stream_msg": true});
    let mut mention = stream("t");
    mention["mentioned"] = json!(true);
    event["message_details"] = json!({
        ids[0].to_string(): stream("general chat"),
        ids[1].to_string(): mention,
        ids[2].to_string(): {"type": "private", "user_ids": []},
        ids[3].to_string(): {"type": "private", "user_ids": [ada.user_id, cleo.user_id]},
    });
    queue.expect(&[event.clone()]).await;
    event["message_details"][ids[0].to_string()]["topic"] = json!("");
    newer.expect(&[event]).await;
    // An unchanged flag emits no event.
    change("remove").await;
    queue.expect_nothing().await;
    newer.expect_nothing().await;
    for name in ["messages", "op", "flag"] {
        let mut parameters = json!({"messages": ids, "op": "add", "flag": "read"});
        parameters.as_object_mut().unwrap().remove(name);
        let answer = bob.post("/messages/flags", parameters).await;
        answer.error(400, "REQUEST_VARIABLE_MISSING", &format!("Missing '{name}' argument"));
    }
}
