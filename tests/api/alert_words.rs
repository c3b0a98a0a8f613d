//! `/users/me/alert_words`, and the flag `has_alert_word`.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

async fn add(client: &Client, words: Value) -> Value {
    client.post("/users/me/alert_words", json!({"alert_words": words})).await.ok()["alert_words"].clone()
}

async fn is_alerted(client: &Client, id: i64) -> bool {
    client.message(id).await["flags"].as_array().unwrap().contains(&json!("has_alert_word"))
}

// conformance: alert-1, alert-2, alert-3, alert-4, flag-51
#[tokio::test]
async fn words_are_added_listed_and_removed() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let mut events = ada.register(json!({"event_types": ["alert_words"]})).await;
    let mut others = bob.register(json!({"event_types": ["alert_words"]})).await;
    assert_eq!(add(&ada, json!(["Pizza", " two words ", " ", ""])).await, json!(["Pizza", "two words"]));
    // Upper and lower case are one word, which keeps its first spelling.
    assert_eq!(add(&ada, json!(["pizza", "TWO WORDS"])).await, json!(["Pizza", "two words"]));
    assert_eq!(add(&ada, json!(["été"])).await, json!(["Pizza", "two words", "été"]));
    let listed = ada.get("/users/me/alert_words", ()).await.ok();
    assert_eq!(listed["alert_words"], json!(["Pizza", "two words", "été"]));
    assert_eq!(bob.get("/users/me/alert_words", ()).await.ok()["alert_words"], json!([]));
    let removed = ada.delete("/users/me/alert_words", json!({"alert_words": ["PIZZA", "unknown"]})).await;
    assert_eq!(removed.ok()["alert_words"], json!(["two words", "été"]));
    ada.delete("/users/me/alert_words", json!({"alert_words": ["unknown"]})).await.ok();
    events
        .expect(&[
            json!({"type": "alert_words", "alert_words": ["Pizza", "two words"]}),
            json!({"type": "alert_words", "alert_words": ["Pizza", "two words", "été"]}),
            json!({"type": "alert_words", "alert_words": ["two words", "été"]}),
        ])
        .await;
    others.expect_nothing().await;
}

// conformance: alert-5, alert-6, alert-7, flag-52, flag-53
#[tokio::test]
async fn words_have_a_limit_and_are_a_list() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let longest = "é".repeat(100);
    assert_eq!(add(&ada, json!([longest])).await, json!([longest]));
    let cases = [
        (json!(["a", "é".repeat(101)]), "alert_words[1] is too long (limit: 100 characters)"),
        (json!("a"), "alert_words is not valid JSON"),
        (json!({"a": 1}), "alert_words is not a list"),
        (json!([1]), "alert_words[0] is not a string"),
    ];
    for (words, msg) in cases {
        let parameters = json!({"alert_words": words});
        ada.post("/users/me/alert_words", &parameters).await.error(400, "BAD_REQUEST", msg);
        ada.delete("/users/me/alert_words", &parameters).await.error(400, "BAD_REQUEST", msg);
    }
    let msg = "Missing 'alert_words' argument";
    ada.post("/users/me/alert_words", ()).await.error(400, "REQUEST_VARIABLE_MISSING", msg);
    ada.delete("/users/me/alert_words", ()).await.error(400, "REQUEST_VARIABLE_MISSING", msg);
}

// conformance: alert-9, alert-10, flag-6, flag-7, flag-50
#[tokio::test]
async fn alert_words_flag_messages_for_their_users() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let eve = server.member("eve").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    for client in [&ada, &eve] {
        add(client, json!(["pizza"])).await;
    }
    let mut events = ada.register(json!({"event_types": ["message", "update_message"]})).await;
    let mut others = bob.register(json!({"event_types": ["message", "update_message"]})).await;

    let with = bob.send(general, "food", "Is there **PIZZA**?").await;
    let without = bob.send(general, "food", "There are pizzas:\n```\npizza\n```").await;
    assert!(is_alerted(&ada, with).await && !is_alerted(&ada, without).await);
    // Eve may read the channel but did not receive the message, and Bob has no words.
    assert!(!is_alerted(&eve, with).await && !is_alerted(&bob, with).await);
    let received = events.expect_kinds(&["message", "message"]).await;
    assert_eq!(received[0]["flags"], json!(["has_alert_word"]));
    assert_eq!(received[1]["flags"], json!([]));
    let received = others.expect_kinds(&["message", "message"]).await;
    assert_eq!(received[0]["flags"], json!([]));

    bob.patch(&format!("/messages/{with}"), &[("content", "no more")]).await.ok();
    bob.patch(&format!("/messages/{without}"), &[("content", "but pizza")]).await.ok();
    assert!(!is_alerted(&ada, with).await && is_alerted(&ada, without).await);
    let edited = events.expect_kinds(&["update_message", "update_message"]).await;
    assert_eq!(edited[0]["flags"], json!([]));
    assert_eq!(edited[1]["flags"], json!(["has_alert_word"]));
    others.ignore();

    // A changed list of words changes the results.
    ada.delete("/users/me/alert_words", json!({"alert_words": ["pizza"]})).await.ok();
    add(&ada, json!(["soup"])).await;
    let after = bob.send(general, "food", "pizza").await;
    let soup = bob.send_direct(&[&ada], "soup").await;
    assert!(
        !is_alerted(&ada, after).await && is_alerted(&ada, soup).await && is_alerted(&ada, without).await
    );
    events.ignore();
}

// conformance: alert-9, alert-11, flag-6
#[tokio::test]
async fn alert_words_are_looked_for_in_the_source() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let general = server.channel("general", &[&ada, &bob]).await;
    server.channel("Verona", &[&ada, &bob]).await;
    add(&ada, json!(["\u{1f6a8}", "bob", "https://test.com", "verona", ":parrot:", ":tada:", "soup"])).await;
    let cases = [
        ("\u{1f6a8} fire", true),
        ("Ask @_**bob**", true),
        ("[docs](https://test.com)", true),
        ("In #**Verona**", true),
        ("A :parrot: sings", true),
        ("\u{1f389}", false),
        ("The `soup`", true),
        ("> soup", true),
        ("```quote\nsoup\n```", true),
        ("```spoiler soup\nno\n```", true),
        ("```\nsoup\n```", false),
        ("```quote\n~~~\nsoup\n~~~\n```", false),
        ("```math\nsoup\n```", false),
    ];
    for (text, expected) in cases {
        let id = bob.send(general, "topic", text).await;
        assert_eq!(is_alerted(&ada, id).await, expected, "{text:?}");
        // The same holds for an edit.
        let id = bob.send(general, "topic", "nothing").await;
        bob.patch(&format!("/messages/{id}"), &[("content", text)]).await.ok();
        assert_eq!(is_alerted(&ada, id).await, expected, "{text:?}");
    }
}

// conformance: alert-8
#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    add(&ada, json!(["a"])).await;
    server
        .check_state_sync(&[&ada], async || {
            add(&ada, json!(["b", "c"])).await;
            ada.delete("/users/me/alert_words", json!({"alert_words": ["a"]})).await.ok();
            let id = ada.send(general, "t", "b").await;
            ada.send(general, "t", "a").await;
            ada.patch(&format!("/messages/{id}"), &[("content", "none")]).await.ok();
        })
        .await;
}

/// A message is searched for the words as they are when it is sent, also after a change that was refused.
#[tokio::test]
async fn alert_words_are_those_at_the_time_of_sending() {
    let mut server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let channel = server.channel("channel", &[&ada, &bob]).await;
    let alerts = async |text: &str| {
        let id = bob.send(channel, "topic", text).await;
        (is_alerted(&ada, id).await, is_alerted(&bob, id).await)
    };
    let text = "lunch and team lunch";
    assert_eq!(alerts(text).await, (false, false));
    add(&ada, json!(["lunch"])).await;
    assert_eq!(alerts(text).await, (true, false));
    add(&bob, json!(["lunch", "team lunch"])).await;
    assert_eq!(alerts(text).await, (true, true));
    ada.delete("/users/me/alert_words", json!({"alert_words": ["LUNCH"]})).await.ok();
    assert_eq!(alerts(text).await, (false, true));
    let many: Vec<String> = (0..300).map(|number| format!("team{number}")).collect();
    bob.post("/users/me/alert_words", json!({"alert_words": many})).await;
    assert_eq!(alerts("team7").await, (false, false));
    bob.delete("/users/me/alert_words", json!({"alert_words": ["lunch"]})).await.ok();
    assert_eq!((alerts("lunch").await, alerts(text).await), ((false, false), (false, true)));
    server.restart().await;
    assert_eq!((alerts("lunch").await, alerts(text).await), ((false, false), (false, true)));
}
