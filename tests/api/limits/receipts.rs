//! Limits on the rows about messages of a channel that users received without being subscribed.

use crate::harness::{Client, TestServer};
use crate::messages::finding;
use serde_json::{Value, json};
use teamchat::domain::limits::MAX_SEPARATE_SPANS;

async fn spans(server: &TestServer, user: &Client) -> Vec<String> {
    let query = "SELECT from_message_id || '-' || until_message_id FROM subscription_span WHERE user_id =";
    server.column(&format!("{query} {} ORDER BY from_message_id", user.user_id)).await
}

async fn ids(client: &Client, narrow: Value) -> Vec<i64> {
    let page = json!({"anchor": "newest", "num_before": 1000, "num_after": 0, "narrow": narrow});
    finding::ids(&client.get("/messages", page).await.ok())
}

/// Changes of older messages read the rows of all users that come after them.
#[tokio::test]
async fn starred_messages_have_a_limited_number_of_rows() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let general = server.channel("general", &[&ada]).await;
    let first = ada.send(general, "topic", "x").await;
    server.add_copies(first, 400).await;
    let star = async |ids: Value| {
        bob.post("/messages/flags", json!({"messages": ids, "op": "add", "flag": "starred"})).await.ok();
    };
    star(json!([first, first + 1, first + 2])).await;
    assert_eq!(spans(&server, &bob).await, [format!("{first}-{}", first + 3)]);

    let count = i64::try_from(MAX_SEPARATE_SPANS).unwrap();
    let apart: Vec<i64> = (1..count).map(|number| first + 3 + 2 * number).collect();
    star(json!(apart)).await;
    let before = spans(&server, &bob).await;
    assert_eq!(before.len(), MAX_SEPARATE_SPANS);
    let starred: Vec<i64> = (first..first + 3).chain(apart.iter().copied()).collect();
    assert_eq!(ids(&bob, json!([])).await, starred);

    // Beyond that, the messages between are received too, and read.
    let last = apart[apart.len() - 1];
    star(json!([last + 3, last + 6])).await;
    let after = spans(&server, &bob).await;
    assert_eq!(after[..after.len() - 1], before[..before.len() - 1]);
    assert_eq!(after[after.len() - 1], format!("{last}-{}", last + 7));
    let starred: Vec<i64> = starred.into_iter().chain([last + 3, last + 6]).collect();
    assert_eq!(ids(&bob, json!([["is", "starred"]])).await, starred);
    assert_eq!(ids(&bob, json!([])).await.last(), Some(&(last + 6)));
    assert!(ids(&bob, json!([])).await.contains(&(last + 1)));
    assert_eq!(ids(&bob, json!([["is", "unread"]])).await, [0; 0]);
}

/// A bot receives the messages that mention it, also where it is not subscribed.
#[tokio::test]
async fn mentions_of_a_bot_have_a_limited_number_of_rows() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bot = server.bot("helper", &ada).await;
    let general = server.channel("general", &[&ada]).await;
    let first = ada.send(general, "topic", "x").await;
    server.add_copies(first, 2 * u32::try_from(MAX_SEPARATE_SPANS).unwrap()).await;
    server
        .sql(&format!(
            "INSERT INTO subscription_span (user_id, stream_id, from_message_id, until_message_id)
             SELECT {}, {general}, id, id + 1 FROM message WHERE id >= {first} AND (id - {first}) % 2 = 0
             ORDER BY id LIMIT {MAX_SEPARATE_SPANS}",
            bot.user_id
        ))
        .await;
    let before = spans(&server, &bot).await;
    let mention = format!("@**|{}** hello", bot.user_id);
    let id = ada.send(general, "topic", &mention).await;
    let after = spans(&server, &bot).await;
    assert_eq!(after.len(), MAX_SEPARATE_SPANS);
    assert_eq!(after[..MAX_SEPARATE_SPANS - 1], before[..MAX_SEPARATE_SPANS - 1]);
    assert!(after[MAX_SEPARATE_SPANS - 1].ends_with(&format!("-{}", id + 1)), "{after:?}");
    let unread = (0..i64::try_from(MAX_SEPARATE_SPANS).unwrap()).map(|number| first + 2 * number).chain([id]);
    assert_eq!(ids(&bot, json!([["is", "unread"]])).await, unread.collect::<Vec<i64>>());
}
