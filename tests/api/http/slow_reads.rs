//! Reads that may take long run in a pool, and hold up nothing else.

use crate::harness::{Blocked, Client, TestServer};
use reqwest::Method;
use serde_json::{Value, json};
use std::task::Poll;
use teamchat::domain::limits::MAX_BOT_STORAGE;

/// Takes as much time as the server needs for a few requests.
async fn is_answered_before_requests<T>(
    server: &TestServer,
    answer: &mut std::pin::Pin<Box<impl Future<Output = T>>>,
) -> bool {
    for _ in 0..10 {
        server.anonymous().get("/server_settings", ()).await.ok();
        if std::future::poll_fn(|context| Poll::Ready(answer.as_mut().poll(context).is_ready())).await {
            return true;
        }
    }
    false
}

// conformance: conv-60
#[tokio::test]
async fn large_events_delay_no_other_requests() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let mut large = ada.register(json!({"event_types": ["message"]})).await;
    let mut small = bob.register(json!({"event_types": ["message"]})).await;
    for _ in 0..40 {
        ada.send_direct(&[&ada], &"a".repeat(10_000)).await;
    }
    ada.send_direct(&[&bob], "short").await;
    let blocked = Blocked::new(server.app(), |app| &app.pools.slow_reads).await;
    let mut poll = Box::pin(ada.get("/events", large.poll(true)));
    assert!(!is_answered_before_requests(&server, &mut poll).await);
    assert_eq!(small.wait().await.len(), 1, "few bytes are written at once");
    blocked.end().await;
    assert_eq!(poll.await.ok()["events"].as_array().unwrap().len(), 41);
    large.ignore();
}

// conformance: conv-60
#[tokio::test]
async fn long_lists_and_searches_delay_no_other_requests() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let message = ada.send_direct(&[&ada], "hello").await;
    let page = |narrow: Value, num_before: i64| {
        let page = json!({"anchor": "newest", "num_before": num_before, "num_after": 0, "narrow": narrow});
        ("/messages".to_owned(), page)
    };
    let search = json!([{"operator": "search", "operand": "hello"}]);
    let escaped = json!(r#"[{"operator": "se\u0061rch", "operand": "hello"}]"#);
    let slow = [
        page(search, 1),
        page(escaped, 1),
        page(json!([]), 501),
        ("/streams".to_owned(), json!({})),
        ("/users".to_owned(), json!({})),
        ("/user_groups".to_owned(), json!({})),
        ("/users/me/subscriptions".to_owned(), json!({})),
        ("/attachments".to_owned(), json!({})),
        ("/drafts".to_owned(), json!({})),
        ("/saved_snippets".to_owned(), json!({})),
        ("/scheduled_messages".to_owned(), json!({})),
        ("/reminders".to_owned(), json!({})),
        ("/bot_storage".to_owned(), json!({})),
    ];
    let quick = [
        page(json!([{"operator": "is", "operand": "dm"}]), 500),
        ("/users/me".to_owned(), json!({})),
        (format!("/messages/{message}"), json!({})),
    ];
    let blocked = Blocked::new(server.app(), |app| &app.pools.slow_reads).await;
    let mut waiting: Vec<_> = slow.iter().map(|(path, query)| Box::pin(ada.get(path, query))).collect();
    // The registration too, unless it asks for no state; and the search for messages to mark, which the writer does not do.
    let mut registering = Box::pin(ada.post("/register", ()));
    let everything = json!({"anchor": "newest", "num_before": 10, "num_after": 0, "narrow": [], "op": "add", "flag": "read"});
    let mut marking = Box::pin(ada.post("/messages/flags/narrow", everything));
    for (path, query) in &quick {
        ada.get(path, query).await.ok();
        for (answer, (path, _)) in waiting.iter_mut().zip(&slow) {
            let is_waiting =
                std::future::poll_fn(|context| Poll::Ready(answer.as_mut().poll(context).is_pending()));
            assert!(is_waiting.await, "{path}");
        }
        let is_waiting =
            std::future::poll_fn(|context| Poll::Ready(registering.as_mut().poll(context).is_pending()));
        assert!(is_waiting.await);
        let is_waiting =
            std::future::poll_fn(|context| Poll::Ready(marking.as_mut().poll(context).is_pending()));
        assert!(is_waiting.await);
    }
    ada.post("/register", json!({"fetch_event_types": []})).await.ok();
    ada.send_direct(&[&ada], "sent").await;
    blocked.end().await;
    for answer in waiting {
        answer.await.ok();
    }
    registering.await.ok();
    marking.await.ok();
}

/// A channel may have many unread messages, and a topic many read ones between the unread ones of others.
#[tokio::test]
async fn unread_messages_to_mark_are_found_in_the_pool() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let topic = json!({"stream_id": garden, "topic_name": "lunch"});
    for (path, parameters) in
        [("/mark_stream_as_read", json!({"stream_id": garden})), ("/mark_topic_as_read", topic)]
    {
        let id = bob.send(garden, "lunch", "hello").await;
        let blocked = Blocked::new(server.app(), |app| &app.pools.slow_reads).await;
        let mut marked = Box::pin(ada.post(path, parameters));
        assert!(!is_answered_before_requests(&server, &mut marked).await, "{path}");
        blocked.end().await;
        marked.await.ok();
        assert_eq!(ada.message(id).await["flags"], json!(["read"]));
    }
}

/// Characters are counted only if the bytes may exceed the limit, and other changes do not wait for that.
#[tokio::test]
async fn the_characters_of_a_storage_are_counted_in_the_pool() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let emoji = "\u{1f600}";
    server
        .sql(&format!(
            "INSERT INTO bot_storage (user_id, key, value)
             SELECT {}, 'k', replace(hex(zeroblob({})), '00', '{emoji}')",
            ada.user_id,
            MAX_BOT_STORAGE / emoji.len()
        ))
        .await;
    let put = async |client: &Client| {
        client.request(Method::PUT, "/bot_storage").form(json!({"storage": {"a": "b"}})).send().await
    };
    let blocked = Blocked::new(server.app(), |app| &app.pools.slow_reads).await;
    let mut counted = Box::pin(put(&ada));
    assert!(!is_answered_before_requests(&server, &mut counted).await);
    put(&bob).await.ok();
    blocked.end().await;
    counted.await.ok();
}

/// The requests look quick.
#[tokio::test]
async fn slow_reads_delay_no_others() {
    let mut server = TestServer::start().await;
    let (ada, bob) = (server.administrator("ada").await, server.member("bob").await);
    let channel = server.channel("channel", &[&ada, &bob]).await;
    let long = "\u{1f419}".repeat(5000);
    for _ in 0..4 {
        ada.send(channel, "topic", &long).await;
    }
    let last = ada.send(channel, "topic", "last").await;
    // Many messages, of which a narrow finds none, and no index knows that.
    server
        .sql(&format!(
            "INSERT INTO message (recipient_id, topic_id, subject, sender_id, client_id, timestamp, content,
                 html, rendered_version, attributes)
             WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < 20000)
             SELECT recipient_id, topic_id, subject, sender_id, client_id, timestamp, content, html,
                 rendered_version, attributes FROM one, message WHERE id = {last}"
        ))
        .await;
    server.restart().await;
    let not = |client: &crate::harness::Client| json!({"operator": "sender", "operand": client.user_id, "negated": true});
    let here = json!({"operator": "channel", "operand": channel});
    let narrow = json!([here, not(&ada), not(&bob)]);
    let none = json!({"anchor": "oldest", "num_before": 0, "num_after": 1, "narrow": narrow});
    let large = json!({"anchor": last, "num_before": 4, "num_after": 0});
    let blocked = Blocked::new(server.app(), |app| &app.pools.slow_reads).await;
    let mut waiting = [Box::pin(bob.get("/messages", &none)), Box::pin(ada.get("/messages", &large))];
    for (number, answer) in waiting.iter_mut().enumerate() {
        let is_in_pool = async {
            while server.app().pools.slow_reads.admitted() <= blocked.count() + number {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            answer = answer => panic!("{answer}"),
            () = is_in_pool => {}
        }
    }
    bob.get("/users/me", ()).await.ok();
    blocked.end().await;
    let [found, page] = waiting;
    assert_eq!(found.await.ok()["messages"], json!([]));
    assert_eq!(page.await.ok()["messages"].as_array().unwrap().len(), 5);
}
