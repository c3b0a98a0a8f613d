//! The operator `search`: what it finds, and the marks in it.

use super::{found, newest, send, send_direct, subscribe};
use crate::harness::TestServer;
use serde_json::json;

// conformance: fetch-37, fetch-89
#[tokio::test]
async fn found_words_are_marked_in_text_and_topic() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    subscribe(&ada, &["lunch"], json!({})).await;
    let content = "Running **costs** & <runs> [run](https://example.com/run)";
    let id = send(&ada, "lunch", "cost & run", content).await;
    let answer = newest(&ada, json!([["search", "run cost"]])).await;
    let message = &answer["messages"][0];
    assert_eq!(message["id"], id);
    assert_eq!(
        message["match_content"],
        "<p><span class=\"highlight\">Running</span> <strong><span class=\"highlight\">costs</span></strong> &amp; \
         &lt;<span class=\"highlight\">runs</span>&gt; \
         <a href=\"https://example.com/run\"><span class=\"highlight\">run</span></a></p>"
    );
    assert_eq!(
        message["match_subject"],
        "<span class=\"highlight\">cost</span> &amp; <span class=\"highlight\">run</span>"
    );
    // The marks are in HTML also where the content is not, and where messages were named.
    let named = json!({"message_ids": [id], "narrow": [["search", "run cost"]], "apply_markdown": false});
    let raw = &ada.get("/messages", named).await.ok()["messages"][0];
    assert_eq!((&raw["match_content"], &raw["content"]), (&message["match_content"], &json!(content)));
    let without = newest(&ada, json!([["channel", "lunch"]])).await;
    assert_eq!(without["messages"][0].get("match_content"), None);
    assert_eq!(without["messages"][0].get("match_subject"), None);
}

// conformance: fetch-82, fetch-83, fetch-84, fetch-85, fetch-86
#[tokio::test]
async fn words_phrases_and_beginnings() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    subscribe(&ada, &["lunch", "talk"], json!({"principals": [ada.user_id, bob.user_id]})).await;
    let ids = [
        send(&ada, "lunch", "menu", "Tomato soup and fresh bread").await,
        send(&bob, "lunch", "Tomatoes", "soups of the week").await,
        send(&ada, "talk", "languages", "東京都に住んでいます").await,
        send(&ada, "talk", "languages", "Éclairs à la crème, naïve café").await,
        send_direct(&bob, &[&ada], "bread and soup").await,
    ];
    let not_soup = json!([{"operator": "search", "operand": "soup", "negated": true}]);
    let both = json!([["search", "soup"], ["search", "bread"]]);
    let cases = [
        (json!([["search", "soup"]]), vec![0, 1, 4]),
        (json!([["search", "SOUPS tomato"]]), vec![0, 1]),
        (both, vec![0, 4]),
        (json!([["search", "\"soup and\""]]), vec![0]),
        (json!([["search", "\"and soup\""]]), vec![4]),
        (json!([["search", "\"fresh bread\" soup"]]), vec![0]),
        (json!([["search", "toma"]]), vec![0, 1]),
        (json!([["search", "toma soup"]]), vec![]),
        (json!([["search", "\"toma\""]]), vec![]),
        (json!([["search", "to"]]), vec![]),
        (json!([["search", "京都"]]), vec![2]),
        (json!([["search", "住"]]), vec![2]),
        (json!([["search", "京住"]]), vec![]),
        (json!([["search", "creme eclair naive"]]), vec![3]),
        (not_soup, vec![2, 3]),
        (json!([["search", "soup"], ["channel", "lunch"]]), vec![0, 1]),
        (json!([["search", "soup"], ["sender", "bob@example.com"]]), vec![1, 4]),
        (json!([["search", "soup"], ["is", "dm"]]), vec![4]),
        (json!([["search", "soup"], ["is", "unread"]]), vec![1, 4]),
        (json!([["search", "soup"], ["channel", "lunch"], ["topic", "menu"]]), vec![0]),
        (json!([["search", "soup\" OR (bread* NEAR"]]), vec![]),
        (json!([["search", "!!!"]]), vec![]),
    ];
    for (narrow, expected) in cases {
        let expected: Vec<i64> = expected.into_iter().map(|index: usize| ids[index]).collect();
        assert_eq!(found(&ada, narrow.clone()).await, expected, "{narrow}");
    }
    let around = json!({"anchor": ids[1], "num_before": 1, "num_after": 1, "narrow": [["search", "soup"]]});
    let answer = ada.get("/messages", around).await.ok();
    assert_eq!(super::ids(&answer), [ids[0], ids[1], ids[4]]);
    assert_eq!(answer["found_anchor"], true);
    let after = json!({"anchor": ids[2], "num_before": 0, "num_after": 9, "narrow": [["search", "soup"]]});
    let answer = ada.get("/messages", after).await.ok();
    assert_eq!(super::ids(&answer), [ids[4]]);
    assert_eq!((&answer["found_anchor"], &answer["found_newest"]), (&json!(false), &json!(true)));
}

// conformance: edit-9, fetch-90
#[tokio::test]
async fn an_edited_message_is_found_by_its_new_words() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    subscribe(&ada, &["lunch"], json!({})).await;
    let id = send(&ada, "lunch", "menu", "tomato").await;
    ada.patch(&format!("/messages/{id}"), &[("content", "pumpkin 南瓜")]).await.ok();
    assert_eq!(found(&ada, json!([["search", "tomato"]])).await, [0; 0]);
    assert_eq!(found(&ada, json!([["search", "pumpkin"]])).await, [id]);
    assert_eq!(found(&ada, json!([["search", "南瓜"]])).await, [id]);
}

// conformance: fetch-46
#[tokio::test]
async fn nobody_finds_what_they_may_not_read() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    subscribe(&ada, &["board"], json!({"invite_only": true})).await;
    let secret = send(&ada, "board", "money", "a purple secret").await;
    let direct = send_direct(&ada, &[&ada], "purple notes").await;
    let purple = json!([["search", "purple"]]);
    assert_eq!(found(&ada, purple.clone()).await, [secret, direct]);
    assert_eq!(found(&bob, purple).await, [0; 0]);
    assert_eq!(found(&bob, json!([["search", "purple"], ["channel", "board"]])).await, [0; 0]);
}

// conformance: fetch-87
#[tokio::test]
async fn emoji_are_found_however_they_are_written() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    subscribe(&ada, &["lunch"], json!({})).await;
    let ids = [
        send(&ada, "lunch", "menu", "soup :thumbs_up: today").await,
        send(&ada, "lunch", "menu", "bread 👍 today").await,
        send(&ada, "lunch", "menu", "thumbs up, :smile:").await,
        send(&ada, "lunch", "news 🎉", "rice and a smile").await,
        send(&ada, "lunch", "menu", "number 1").await,
    ];
    for (query, expected) in [
        ("👍", vec![0, 1]),
        (":thumbs_up:", vec![0, 1]),
        // Another name of the same.
        (":+1:", vec![0, 1]),
        ("soup 👍", vec![0]),
        ("bread:+1:", vec![1]),
        ("🙂", vec![2]),
        (":smile:", vec![2]),
        ("smile", vec![2, 3]),
        ("🎉", vec![3]),
        ("tada", vec![3]),
        ("\"👍 today\"", vec![1]),
        ("🍕", vec![]),
        (":no_such_emoji:", vec![]),
    ] {
        let expected: Vec<i64> = expected.into_iter().map(|index: usize| ids[index]).collect();
        assert_eq!(found(&ada, json!([["search", query]])).await, expected, "{query}");
    }
    let answer = newest(&ada, json!([["search", "🙂 thumbs"]])).await;
    let marked = answer["messages"][0]["match_content"].as_str().unwrap();
    assert!(marked.starts_with("<p><span class=\"highlight\">thumbs</span> up, <span"), "{marked}");
    assert!(marked.contains("><span class=\"highlight\">:smile:</span></span>"), "{marked}");
}

/// The words of a message leave the index with it: by its number it would be found again.
#[tokio::test]
async fn words_of_a_deleted_message_are_not_in_the_index() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    subscribe(&owner, &["lunch"], json!({})).await;
    let indexed = "SELECT count(*) FROM message_search WHERE message_search MATCH 'artichoke'";
    let ids =
        [send(&owner, "lunch", "menu", "artichoke").await, send(&owner, "lunch", "artichoke", "yes").await];
    let other = send(&owner, "lunch", "menu", "artichokes again").await;
    assert_eq!(server.column(indexed).await, ["3"]);
    for id in ids {
        owner.delete(&format!("/messages/{id}"), ()).await.ok();
    }
    assert_eq!(server.column(indexed).await, ["1"]);
    owner.patch(&format!("/messages/{other}"), json!({"content": "nothing"})).await.ok();
    assert_eq!(server.column(indexed).await, ["0"]);
}
