//! `narrow` of `POST /register`: the messages that a queue receives.

use super::{outsider, send, send_direct, stream_id, subscribe};
use crate::harness::{Queue, TestServer};
use serde_json::{Value, json};

/// Takes the ids of the messages that came.
async fn heard(queue: &mut Queue) -> Vec<i64> {
    let events = queue.events().await;
    events
        .iter()
        .filter(|event| event["type"] == "message")
        .map(|event| event["message"]["id"].as_i64().unwrap())
        .collect()
}

// conformance: fetch-102, fetch-103
#[tokio::test]
async fn queues_receive_messages_of_their_narrow() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    subscribe(&ada, &["lunch", "talk"], json!({"principals": [ada.user_id, bob.user_id]})).await;
    ada.post("/users/me/alert_words", json!({"alert_words": ["soup"]})).await.ok();
    let lunch = stream_id(&ada, "lunch").await.to_string();
    let pair = |operator: &str, operand: &str| json!([[operator, operand]]);
    let cases: Vec<(Value, &[usize])> = vec![
        (json!([]), &[0, 1, 2, 3, 4, 5]),
        (pair("channel", "lunch"), &[0, 1, 2]),
        (pair("stream", "LUNCH"), &[0, 1, 2]),
        (pair("channel", &lunch), &[0, 1, 2]),
        (pair("topic", "SOUP"), &[0, 3]),
        (pair("topic", ""), &[1]),
        (pair("topic", "general chat"), &[1]),
        (pair("sender", "BOB@example.com"), &[0, 2, 3, 4]),
        (pair("is", "dm"), &[4, 5]),
        (pair("is", "private"), &[4, 5]),
        (pair("is", "mentioned"), &[2, 3]),
        (pair("is", "alerted"), &[4]),
        (pair("is", "resolved"), &[2]),
        (pair("is", "unread"), &[0, 2, 3, 4]),
        (pair("is", "starred"), &[]),
        (json!([["channel", "lunch"], ["sender", "bob@example.com"]]), &[0, 2]),
        (json!([["channel", "lunch"], ["is", "dm"]]), &[]),
        (pair("channel", "nowhere"), &[]),
    ];
    let mut queues = Vec::new();
    for (narrow, _) in &cases {
        queues.push(ada.register(json!({"narrow": narrow, "event_types": ["message", "reaction"]})).await);
    }
    let outsider = outsider(&server).await;
    let mut of_outsider = outsider.register(json!({"narrow": [["channel", "lunch"]]})).await;
    let ids = [
        send(&bob, "lunch", "soup", "leek").await,
        send(&ada, "lunch", "", "no topic").await,
        send(&bob, "lunch", "✔ bread", "@**all** rye").await,
        send(&bob, "talk", "Soup", "@**Ada** leek").await,
        send_direct(&bob, &[&ada], "soup").await,
        send_direct(&ada, &[&ada], "to myself").await,
    ];
    for ((narrow, expected), queue) in cases.iter().zip(&mut queues) {
        let expected: Vec<i64> = expected.iter().map(|index| ids[*index]).collect();
        assert_eq!(heard(queue).await, expected, "{narrow}");
    }
    // It gives no access to channels without a subscription, and filters messages only.
    assert_eq!(heard(&mut of_outsider).await, [0; 0]);
    bob.post(&format!("/messages/{}/reactions", ids[0]), json!({"emoji_name": "tada"})).await.ok();
    for queue in &mut queues {
        queue.expect_kinds(&["reaction/add"]).await;
    }
    of_outsider.ignore();
}

/// A match on the real email would reveal it to a guest.
#[tokio::test]
async fn senders_have_the_email_that_a_guest_is_shown() {
    let server = TestServer::start().await;
    let (ada, bob, guest) =
        (server.member("ada").await, server.member("bob").await, server.guest("guest").await);
    server.channel("general", &[&ada, &guest]).await;
    server.restrict_guests().await;
    let shown = format!("user{}@bots.invalid", bob.user_id);
    let id = bob.user_id.to_string();
    let cases = [
        (&ada, "bob@example.com", true),
        (&ada, &shown, false),
        (&guest, "bob@example.com", false),
        (&guest, &shown, true),
        (&guest, &id, true),
        (&guest, "ada@example.com", false),
    ];
    let mut queues = Vec::new();
    for (reader, sender, _) in cases {
        let parameters = json!({"narrow": [["sender", sender]], "event_types": ["message"]});
        queues.push(reader.register(parameters).await);
    }
    let sent = send(&bob, "general", "greetings", "hello").await;
    for ((reader, sender, is_delivered), queue) in cases.iter().zip(&mut queues) {
        let expected = if *is_delivered { vec![sent] } else { Vec::new() };
        assert_eq!(heard(queue).await, expected, "{sender} for {}", reader.full_name);
    }
}
