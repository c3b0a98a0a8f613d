//! The operator `search`: results and highlights.

use super::{found, newest, send, send_direct, subscribe};
use crate::harness::TestServer;
use futures_util::future::join_all;
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
async fn search_finds_readable_messages_only() {
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
    assert_eq!(found(&owner, json!([["search", "artichoke"]])).await.len(), 3);
    assert_eq!(server.column(indexed).await, ["3"]);
    for id in ids {
        owner.delete(&format!("/messages/{id}"), ()).await.ok();
    }
    assert_eq!(server.column(indexed).await, ["1"]);
    owner.patch(&format!("/messages/{other}"), json!({"content": "nothing"})).await.ok();
    assert_eq!(server.column(indexed).await, ["0"]);
}

/// Messages are acknowledged before they are indexed. A search has them indexed first, and they are indexed without one when
/// enough of them wait.
#[tokio::test]
async fn words_are_indexed_after_the_answer_and_before_a_search() {
    let mut server = TestServer::start().await;
    let owner = server.owner().await;
    subscribe(&owner, &["lunch"], json!({})).await;
    let waiting = "SELECT count(*) FROM message WHERE id NOT IN (SELECT id FROM message_search_docsize)";
    assert_eq!(found(&owner, json!([["search", "nothing"]])).await, [0_i64; 0]);
    assert_eq!(server.column(waiting).await, ["0"]);
    let kept = send(&owner, "lunch", "menu", "first artichoke").await;
    let edited = send(&owner, "lunch", "menu", "second artichoke").await;
    let deleted = send(&owner, "lunch", "menu", "third artichoke").await;
    assert_eq!(server.column(waiting).await, ["3"]);
    owner.patch(&format!("/messages/{edited}"), json!({"content": "an aubergine"})).await.ok();
    owner.delete(&format!("/messages/{deleted}"), ()).await.ok();
    assert_eq!(server.column(waiting).await, ["2"], "an edit leaves the order of the index alone");
    server.crash().await;
    assert_eq!(found(&owner, json!([["search", "artichoke"]])).await, [kept]);
    assert_eq!(found(&owner, json!([["search", "aubergine"]])).await, [edited]);
    assert_eq!(server.column(waiting).await, ["0"]);

    let flags = json!({"op": "add", "flag": "starred", "anchor": "newest", "num_before": 9, "num_after": 0});
    let starred = async |word: &str| {
        let mut parameters = flags.clone();
        parameters["narrow"] = json!([["search", word]]);
        owner.post("/messages/flags/narrow", parameters).await.ok()["updated_count"].clone()
    };
    send(&owner, "lunch", "menu", "turnip").await;
    assert_eq!(starred("turnip").await, 1);
    let id = send(&owner, "lunch", "menu", "parsnip").await;
    let matches = json!({"msg_ids": [id], "narrow": [["search", "parsnip"]]});
    let matches = owner.get("/messages/matches_narrow", matches).await.ok();
    assert!(matches["messages"][id.to_string()]["match_content"].is_string(), "{matches}");

    for number in 0..300 {
        send(&owner, "lunch", "menu", &format!("number {number}")).await;
    }
    let waiting: usize = server.column(waiting).await[0].parse().unwrap();
    assert!(waiting < 256, "{waiting} messages wait");
}

/// The words of a message are found as soon as sending or editing it is acknowledged.
#[tokio::test]
async fn searches_find_every_acknowledged_word() {
    const SENDERS: usize = 6;
    const ROUNDS: usize = 30;
    let server = TestServer::start().await;
    let owner = server.owner().await;
    subscribe(&owner, &["lunch"], json!({})).await;
    let mut senders = Vec::new();
    for number in 0..SENDERS {
        let sender = server.member(&format!("sender{number}")).await;
        subscribe(&sender, &["lunch"], json!({})).await;
        senders.push(sender);
    }
    let sending = senders.iter().enumerate().map(async |(number, sender)| {
        for round in 0..ROUNDS {
            for other in 0..number {
                send(sender, "lunch", "menu", &format!("filler {other}")).await;
            }
            let word = format!("word{number}x{round}x");
            let id = send(sender, "lunch", "menu", &word).await;
            assert_eq!(found(sender, json!([["search", &word]])).await, [id], "{word}");
            let changed = format!("changed{number}x{round}x");
            sender.patch(&format!("/messages/{id}"), json!({"content": changed})).await.ok();
            assert_eq!(found(sender, json!([["search", &changed]])).await, [id], "{changed}");
            assert_eq!(found(sender, json!([["search", format!("\"{word}\"")]])).await, [0_i64; 0]);
        }
    });
    join_all(sending).await;
}
