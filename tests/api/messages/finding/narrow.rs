//! `narrow`: every operator, both forms, every refusal, and whose messages are found.

use super::{found, outsider, send, send_direct, stream_id, subscribe};
use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

/// Two people who share a channel, a private channel and direct conversations.
struct NarrowFixture {
    server: TestServer,
    ada: Client,
    bob: Client,
    cleo: Client,
    lunch: i64,
    /// Message ids in the order of sending; see [`NarrowFixture::new`].
    ids: Vec<i64>,
}

impl NarrowFixture {
    async fn new() -> Self {
        let server = TestServer::start().await;
        let ada = server.member("ada").await;
        let bob = server.member("bob").await;
        let cleo = server.member("cleo").await;
        // Disables automatic following of topics.
        let settings = json!({
            "automatically_follow_topics_policy": 4,
            "automatically_follow_topics_where_mentioned": false,
        });
        ada.patch("/settings", settings).await.ok();
        subscribe(&ada, &["lunch", "talk"], json!({"principals": [ada.user_id, bob.user_id]})).await;
        subscribe(&ada, &["board"], json!({"principals": [ada.user_id, bob.user_id], "invite_only": true}))
            .await;
        let lunch = stream_id(&ada, "lunch").await;
        let ids = vec![
            send(&ada, "lunch", "soup", "tomato [menu](https://example.com)").await,
            send(&bob, "lunch", "Soup", "@**Ada** leek").await,
            send(&ada, "lunch", "", "no topic").await,
            send(&bob, "lunch", "✔ bread", "@**all** rye").await,
            send(&bob, "talk", "soup", "elsewhere").await,
            send(&bob, "board", "money", "a secret").await,
            send_direct(&ada, &[&bob], "to bob").await,
            send_direct(&bob, &[&ada, &cleo], "to both").await,
            send_direct(&ada, &[&ada], "to myself").await,
            send_direct(&cleo, &[&bob], "not for ada").await,
        ];
        Self { server, ada, bob, cleo, lunch, ids }
    }

    /// Positions in the list of the messages that a narrow finds.
    async fn found(&self, client: &Client, narrow: Value) -> Vec<usize> {
        let ids = found(client, narrow).await;
        ids.into_iter().map(|id| self.ids.iter().position(|known| *known == id).unwrap()).collect()
    }
}

// conformance: fetch-47, fetch-55, fetch-56, fetch-57, fetch-58, fetch-59, fetch-60, fetch-61, fetch-62
// conformance: fetch-64, fetch-67, fetch-68, fetch-69
#[tokio::test]
async fn operators_match_their_operands() {
    let fixture = NarrowFixture::new().await;
    let (ada, bob, cleo) = (&fixture.ada, &fixture.bob, &fixture.cleo);
    bob.post(&format!("/messages/{}/reactions", fixture.ids[2]), &[("emoji_name", "tada")]).await.ok();
    let star = json!({"messages": [fixture.ids[4]], "op": "add", "flag": "starred"});
    ada.post("/messages/flags", star).await.ok();
    let follow = json!({"stream_id": stream_id(ada, "talk").await, "topic": "SOUP", "visibility_policy": 3});
    ada.post("/user_topics", follow).await.ok();
    let dict = |operator: &str, operand: Value| json!([{"operator": operator, "operand": operand}]);
    let not =
        |operator: &str, operand: Value| json!([{"operator": operator, "operand": operand, "negated": true}]);
    let cases: Vec<(Value, &[usize])> = vec![
        (json!([]), &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (json!([["channel", "lunch"]]), &[0, 1, 2, 3]),
        (json!([["stream", "LUNCH"]]), &[0, 1, 2, 3]),
        (dict("channel", json!(fixture.lunch)), &[0, 1, 2, 3]),
        (not("channel", json!("lunch")), &[4, 5, 6, 7, 8]),
        (json!([["channels", "public"]]), &[0, 1, 2, 3, 4]),
        (json!([["streams", "public"]]), &[0, 1, 2, 3, 4]),
        (not("channels", json!("public")), &[5, 6, 7, 8]),
        (json!([["channels", "web-public"]]), &[]),
        (json!([["topic", "SOUP"]]), &[0, 1, 4]),
        (not("topic", json!("soup")), &[2, 3, 5, 6, 7, 8]),
        (json!([["channel", "lunch"], ["topic", "soup"]]), &[0, 1]),
        (json!([["topic", "nowhere"]]), &[]),
        (json!([["channel", "lunch"], ["topic", ""]]), &[2]),
        (json!([["channel", "lunch"], ["topic", "general chat"]]), &[2]),
        (dict("dm", json!([bob.user_id])), &[6]),
        (dict("dm", json!([bob.user_id, ada.user_id])), &[6]),
        (json!([["dm", "bob@example.com"]]), &[6]),
        (json!([["pm-with", "bob@example.com"]]), &[6]),
        (json!([["pm_with", "bob@example.com,cleo@example.com"]]), &[7]),
        (dict("dm", json!([ada.user_id])), &[8]),
        (dict("dm", json!([cleo.user_id])), &[]),
        (dict("dm", json!([])), &[]),
        (not("dm", json!([bob.user_id])), &[0, 1, 2, 3, 4, 5, 7, 8]),
        (dict("dm-including", json!(bob.user_id)), &[6, 7]),
        (json!([["dm-including", "cleo@example.com"]]), &[7]),
        (dict("dm-including", json!(ada.user_id)), &[6, 7, 8]),
        (not("dm-including", json!(cleo.user_id)), &[0, 1, 2, 3, 4, 5, 6, 8]),
        (dict("group-pm-with", json!(bob.user_id)), &[7]),
        (json!([["group_pm_with", "ada@example.com"]]), &[7]),
        (dict("sender", json!(bob.user_id)), &[1, 3, 4, 5, 7]),
        (json!([["sender", "BOB@example.com"], ["channel", "lunch"]]), &[1, 3]),
        (not("sender", json!(bob.user_id)), &[0, 2, 6, 8]),
        (json!([["is", "dm"]]), &[6, 7, 8]),
        (json!([["is", "private"]]), &[6, 7, 8]),
        (not("is", json!("dm")), &[0, 1, 2, 3, 4, 5]),
        (json!([["is", "starred"]]), &[4]),
        (not("is", json!("starred")), &[0, 1, 2, 3, 5, 6, 7, 8]),
        (json!([["is", "mentioned"]]), &[1, 3]),
        (json!([["is", "mentioned"], ["channel", "lunch"], ["topic", "soup"]]), &[1]),
        (not("is", json!("mentioned")), &[0, 2, 4, 5, 6, 7, 8]),
        (json!([["is", "alerted"]]), &[]),
        (json!([["is", "resolved"]]), &[3]),
        (not("is", json!("resolved")), &[0, 1, 2, 4, 5, 6, 7, 8]),
        (json!([["is", "followed"]]), &[4]),
        (not("is", json!("followed")), &[0, 1, 2, 3, 5, 6, 7, 8]),
        (json!([["is", "followed"], ["topic", "soup"]]), &[4]),
        (json!([["has", "link"]]), &[0]),
        (not("has", json!("link")), &[1, 2, 3, 4, 5, 6, 7, 8]),
        (json!([["has", "image"]]), &[]),
        (json!([["has", "attachment"]]), &[]),
        (json!([["has", "reaction"]]), &[2]),
        (json!([["has", "reaction"], ["channel", "lunch"], ["topic", ""]]), &[2]),
        (json!([["in", "all"]]), &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (not("in", json!("all")), &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (dict("id", json!(fixture.ids[5])), &[5]),
        (json!([["id", fixture.ids[5].to_string()]]), &[5]),
        (dict("id", json!(fixture.ids[9])), &[]),
        (json!([["near", "1"], ["channel", "talk"]]), &[4]),
    ];
    for (narrow, expected) in cases {
        assert_eq!(fixture.found(ada, narrow.clone()).await, expected, "{narrow}");
    }
    drop(fixture.server);
}

// conformance: fetch-63
#[tokio::test]
async fn unread_messages_are_found_wherever_they_are() {
    let fixture = NarrowFixture::new().await;
    let unread = json!([["is", "unread"]]);
    assert_eq!(fixture.found(&fixture.ada, unread.clone()).await, [1, 3, 4, 5, 7]);
    let read = json!({"messages": [fixture.ids[3], fixture.ids[7]], "op": "add", "flag": "read"});
    fixture.ada.post("/messages/flags", read).await.ok();
    assert_eq!(fixture.found(&fixture.ada, unread).await, [1, 4, 5]);
    let not = json!([{"operator": "is", "operand": "unread", "negated": true}, ["channel", "lunch"]]);
    assert_eq!(fixture.found(&fixture.ada, not).await, [0, 2, 3]);
    let in_topic = json!([["is", "unread"], ["topic", "soup"], ["sender", "bob@example.com"]]);
    assert_eq!(fixture.found(&fixture.ada, in_topic).await, [1, 4]);
}

// conformance: fetch-65
#[tokio::test]
async fn muted_channels_and_topics_are_not_at_home() {
    let fixture = NarrowFixture::new().await;
    let ada = &fixture.ada;
    let all = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    let home = json!([["in", "home"]]);
    let muted = json!([["is", "muted"]]);
    assert_eq!(fixture.found(ada, home.clone()).await, all);
    assert_eq!(fixture.found(ada, muted.clone()).await, [0; 0]);
    let set = async |topic: &str, policy: i64| {
        let parameters = json!({"stream_id": fixture.lunch, "topic": topic, "visibility_policy": policy});
        ada.post("/user_topics", parameters).await.ok();
    };
    set("soup", 1).await;
    assert_eq!(fixture.found(ada, home.clone()).await, [2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(fixture.found(ada, muted.clone()).await, [0, 1]);
    let change = json!([{"stream_id": fixture.lunch, "property": "is_muted", "value": true}]);
    let parameters = json!({"subscription_data": change});
    ada.post("/users/me/subscriptions/properties", parameters).await.ok();
    assert_eq!(fixture.found(ada, home.clone()).await, [4, 5, 6, 7, 8]);
    set("", 2).await;
    set("✔ bread", 3).await;
    assert_eq!(fixture.found(ada, home.clone()).await, [2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(fixture.found(ada, muted.clone()).await, [0, 1]);
    let not_home = json!([{"operator": "in", "operand": "home", "negated": true}]);
    assert_eq!(fixture.found(ada, not_home).await, [0, 1]);
    let not_muted = json!([{"operator": "is", "operand": "muted", "negated": true}]);
    assert_eq!(fixture.found(ada, not_muted).await, [2, 3, 4, 5, 6, 7, 8]);
    // A channel asked for by name is muted here all the same.
    assert_eq!(fixture.found(ada, json!([["in", "home"], ["channel", "lunch"]])).await, [2, 3]);
    // Others are not concerned.
    assert_eq!(fixture.found(&fixture.bob, muted).await, [0; 0]);
}

// conformance: fetch-70, fetch-71
#[tokio::test]
async fn with_leads_to_where_the_message_is_now() {
    let fixture = NarrowFixture::new().await;
    let (ada, ids) = (&fixture.ada, &fixture.ids);
    let with = |id: i64, others: Value| {
        let mut narrow = others.as_array().unwrap().clone();
        narrow.push(json!({"operator": "with", "operand": id}));
        Value::from(narrow)
    };
    assert_eq!(fixture.found(ada, with(ids[1], json!([]))).await, [0, 1]);
    assert_eq!(fixture.found(ada, json!([["with", ids[1].to_string()]])).await, [0, 1]);
    assert_eq!(
        fixture.found(ada, with(ids[1], json!([["channel", "talk"], ["topic", "gone"]]))).await,
        [0, 1]
    );
    assert_eq!(fixture.found(ada, with(ids[7], json!([["channel", "lunch"], ["topic", "soup"]]))).await, [7]);
    assert_eq!(fixture.found(ada, with(ids[8], json!([["dm", "bob@example.com"]]))).await, [8]);
    assert_eq!(fixture.found(ada, with(ids[1], json!([["sender", "bob@example.com"]]))).await, [1]);
    // A message that Ada may not see: the other terms have to name a conversation.
    let named = json!([["channel", "lunch"], ["topic", "soup"]]);
    assert_eq!(fixture.found(ada, with(ids[9], named)).await, [0, 1]);
    assert_eq!(fixture.found(ada, with(999_999, json!([["dm", "bob@example.com"]]))).await, [6]);
}

// conformance: fetch-49, fetch-51, fetch-54, fetch-72, fetch-73, fetch-74, fetch-75, fetch-76, fetch-77
// conformance: fetch-78, fetch-79, fetch-80, fetch-81
#[tokio::test]
async fn invalid_narrows_are_refused_as_published() {
    let fixture = NarrowFixture::new().await;
    let narrow = |list: Value| json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": list});
    let dict = |operator: &str, operand: Value| json!([{"operator": operator, "operand": operand}]);
    let both = "No message can be both a channel message and direct message";
    let hidden = fixture.ids[9];
    let cases = [
        (json!([["channel", "nowhere"]]), "unknown channel nowhere"),
        (dict("stream", json!(999)), "unknown channel 999"),
        (json!([["channels", "all"]]), "unknown channels operand all"),
        (json!([["dm", "nobody@example.com"]]), "unknown user in nobody@example.com"),
        (json!([["dm", "bob@example.com,x"]]), "unknown user in bob@example.com,x"),
        (dict("dm", json!([1, 99_999])), "unknown user in [1, 99999]"),
        (json!([["sender", "nobody@example.com"]]), "unknown user nobody@example.com"),
        (dict("sender", json!(99_999)), "unknown user 99999"),
        (dict("dm-including", json!(99_999)), "unknown user 99999"),
        (json!([["group-pm-with", "x"]]), "unknown user x"),
        (json!([["is", "nice"]]), "unknown 'is' operand nice"),
        (json!([["has", "links"]]), "unknown 'has' operand links"),
        (json!([["in", "bed"]]), "unknown 'in' operand bed"),
        (json!([["id", "seven"]]), "Invalid message ID"),
        (dict("id", json!(-1)), "Invalid message ID"),
        (dict("id", json!(2_147_483_648_i64)), "Invalid message ID"),
        (json!([["from", "bob@example.com"]]), "unknown operator from"),
        (json!([["mentions", "bob@example.com"]]), "unknown operator mentions"),
        (json!([["channel", "lunch"], ["dm", "bob@example.com"]]), both),
        (json!([["is", "dm"], ["topic", "soup"]]), both),
        (json!([["dm-including", "bob@example.com"], ["channels", "public"]]), both),
        (json!([{"operator": "is", "operand": "dm", "negated": true}, ["dm", "bob@example.com"]]), both),
        (json!([["with", "seven"]]), "Invalid 'with' operator"),
        (json!([["with", hidden.to_string()]]), "Invalid 'with' operator"),
        (json!([["with", hidden.to_string()], ["channel", "lunch"]]), "Invalid 'with' operator"),
        (
            json!([{"operator": "with", "operand": fixture.ids[1], "negated": true}]),
            "Invalid 'with' operator",
        ),
    ];
    for (list, desc) in cases {
        let error = fixture.ada.get("/messages", narrow(list)).await;
        let error = error.error(400, "BAD_NARROW", &format!("Invalid narrow operator: {desc}"));
        assert_eq!(error["desc"], desc);
    }
    let twice = fixture.ada.get("/messages", narrow(json!([["with", "1"], ["with", "2"]]))).await;
    let desc = "Duplicate 'with' operators.";
    let error = twice.error(400, "BAD_NARROW", &format!("Invalid narrow operator combination: {desc}"));
    assert_eq!(error["desc"], desc);
    let not_list = fixture.ada.get("/messages", narrow(json!({}))).await;
    not_list.error(400, "BAD_REQUEST", "narrow is not a list");
    let element = fixture.ada.get("/messages", narrow(json!([["channel"]]))).await;
    element.error(400, "BAD_REQUEST", "Invalid narrow[0]: Value error, element is not a string pair");
    let blank = fixture.ada.get("/messages", narrow(json!([["search", " "]]))).await;
    blank.error(400, "BAD_REQUEST", "operand cannot be blank.");
    let broken = &[("anchor", "newest"), ("num_before", "1"), ("num_after", "0"), ("narrow", "[[")];
    fixture.ada.get("/messages", broken).await.error(400, "BAD_REQUEST", "narrow is not valid JSON");
}

// conformance: fetch-39, fetch-40, fetch-41, fetch-43, fetch-44
#[tokio::test]
async fn history_is_shared_only_where_a_narrow_asks_for_it() {
    let fixture = NarrowFixture::new().await;
    let outsider = outsider(&fixture.server).await;
    let guest = fixture.server.guest("guest").await;
    let lunch = json!([["channel", "lunch"]]);
    assert_eq!(fixture.found(&outsider, lunch.clone()).await, [0, 1, 2, 3]);
    assert_eq!(fixture.found(&outsider, json!([["channel", "lunch"], ["is", "resolved"]])).await, [3]);
    assert_eq!(fixture.found(&outsider, json!([["channels", "public"], ["topic", "soup"]])).await, [0, 1, 4]);
    for without in [
        json!([]),
        json!([["topic", "soup"]]),
        json!([["sender", "bob@example.com"]]),
        json!([["search", "tomato"]]),
        json!([["has", "link"]]),
        json!([["channel", "lunch"], ["is", "unread"]]),
        json!([["channel", "lunch"], ["is", "mentioned"]]),
        json!([["channel", "lunch"], {"operator": "is", "operand": "starred", "negated": true}]),
        json!([["channel", "board"]]),
        json!([{"operator": "channel", "operand": "talk", "negated": true}]),
        json!([{"operator": "id", "operand": fixture.ids[0]}]),
    ] {
        assert_eq!(fixture.found(&outsider, without.clone()).await, [0; 0], "{without}");
    }
    for hidden in [lunch, json!([["channels", "public"]]), json!([])] {
        assert_eq!(fixture.found(&guest, hidden.clone()).await, [0; 0], "{hidden}");
    }
    // Later subscribers read the history of a public channel, but not of a private one with protected history.
    subscribe(&outsider, &["lunch"], json!({})).await;
    let invite = json!({"principals": [outsider.user_id, guest.user_id], "invite_only": true,
        "history_public_to_subscribers": false});
    subscribe(&fixture.ada, &["board"], invite).await;
    let later = send(&fixture.ada, "board", "money", "another secret").await;
    assert_eq!(found(&outsider, json!([["channel", "board"]])).await, [later]);
    assert_eq!(found(&guest, json!([["channel", "board"], ["topic", "money"]])).await, [later]);
    assert_eq!(found(&outsider, json!([["is", "unread"]])).await, [later]);
}

#[tokio::test]
async fn starring_adds_a_message_to_the_history() {
    let fixture = NarrowFixture::new().await;
    let outsider = outsider(&fixture.server).await;
    let star = json!({"messages": [fixture.ids[1]], "op": "add", "flag": "starred"});
    outsider.post("/messages/flags", star).await.ok();
    assert_eq!(fixture.found(&outsider, json!([["is", "starred"]])).await, [1]);
    assert_eq!(fixture.found(&outsider, json!([["is", "starred"], ["channel", "lunch"]])).await, [1]);
    assert_eq!(fixture.found(&outsider, json!([["is", "starred"], ["channel", "talk"]])).await, [0; 0]);
    // It stays on a message that moved to a channel where its owner received nothing, in combination with any term.
    let star = json!({"messages": [fixture.ids[0]], "op": "add", "flag": "starred"});
    fixture.bob.post("/messages/flags", star).await.ok();
    subscribe(&fixture.ada, &["garden"], json!({"principals": [fixture.ada.user_id]})).await;
    let garden = stream_id(&fixture.ada, "garden").await;
    let message = format!("/messages/{}", fixture.ids[0]);
    let quietly = json!({"stream_id": garden, "topic": "✔ soup", "send_notification_to_new_thread": false});
    fixture.server.owner().await.patch(&message, quietly).await.ok();
    let terms =
        [["has", "link"], ["topic", "✔ soup"], ["is", "resolved"], ["search", "menu"], ["channel", "garden"]];
    for term in terms {
        assert_eq!(fixture.found(&fixture.bob, json!([["is", "starred"], term])).await, [0], "{term:?}");
    }
}

/// Ids of hidden objects are indistinguishable from unknown ids: each operator has the same answer for both, negated or
/// not.
#[tokio::test]
async fn hidden_objects_behave_like_unknown_ones() {
    let fixture = NarrowFixture::new().await;
    let (server, ids) = (&fixture.server, &fixture.ids);
    let (outsider, guest) = (outsider(server).await, server.guest("guest").await);
    server.restrict_guests().await;
    let board = stream_id(&fixture.ada, "board").await;
    let unread = json!(ids[9]);
    let messages = |operator| (operator, unread.clone(), json!(999_999));
    let emails = |operator| (operator, json!("cleo@example.com"), json!("nobody@example.com"));
    let cases = [
        (&outsider, vec![("channel", json!(board), json!(999_999))]),
        (
            &guest,
            vec![("stream", json!(board), json!(999_999)), ("channel", json!(fixture.lunch), json!(999_999))],
        ),
        (&outsider, vec![messages("id"), messages("near"), messages("with")]),
        (&guest, vec![emails("sender"), emails("dm"), emails("dm-including"), emails("group-pm-with")]),
        (
            &guest,
            vec![(
                "dm",
                json!("cleo@example.com,bob@example.com"),
                json!("nobody@example.com,bob@example.com"),
            )],
        ),
    ];
    for (viewer, cases) in cases {
        for (operator, hidden, unknown) in cases {
            for negated in [false, true] {
                let ask = async |operand: &Value| {
                    let narrow = json!([{"operator": operator, "operand": operand, "negated": negated}]);
                    let page =
                        json!({"anchor": "newest", "num_before": 100, "num_after": 0, "narrow": narrow});
                    let mut flags = page.clone();
                    flags["op"] = json!("add");
                    flags["flag"] = json!("starred");
                    let some = json!({"msg_ids": [1, 2, 3], "narrow": narrow});
                    let answers = [
                        viewer.get("/messages", page).await,
                        viewer.get("/messages/matches_narrow", some).await,
                        viewer.post("/messages/flags/narrow", flags).await,
                    ];
                    let shown = operand.as_str().map_or_else(|| operand.to_string(), str::to_owned);
                    answers.map(|answer| answer.json.to_string().replace(&shown, "?"))
                };
                assert_eq!(
                    ask(&hidden).await,
                    ask(&unknown).await,
                    "{operator} {hidden}, negated: {negated}"
                );
            }
        }
    }
}
