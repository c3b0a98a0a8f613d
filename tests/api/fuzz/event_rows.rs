//! Rows of the event log from another version, or damaged ones: a queue receives them or expires. The server starts,
//! and delivers later events.

use super::{Source, fuzz, runtime};
use crate::harness::TestServer;
use serde_json::{Value, json};

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "true",
    "1",
    "-1",
    "1e400",
    "99999999999999999999",
    "\"id\"",
    "\"type\"",
    "\"op\"",
    "\"a\"",
    "\"message\"",
    "\"subject\"",
    "\"flags\"",
    "\"\\ud800\"",
    "\\",
    "\u{0}",
    "é",
    " ",
    "{}",
    "[]",
    "\"\"",
];

/// A value with one part changed.
fn changed(value: &Value, source: &mut Source<'_>) -> Value {
    match value {
        Value::Object(members) if !members.is_empty() && source.below(6) > 0 => {
            let name = members.keys().nth(source.below(members.len())).unwrap().clone();
            let mut members = members.clone();
            match source.below(4) {
                0 => {
                    members.remove(&name);
                }
                1 => {
                    members.insert("unknown".to_owned(), json!(1));
                }
                _ => {
                    let inner = changed(&members[&name], source);
                    members.insert(name, inner);
                }
            }
            members.into()
        }
        Value::Array(items) if !items.is_empty() && source.below(6) > 0 => {
            let mut items = items.clone();
            let place = source.below(items.len());
            items[place] = changed(&items[place], source);
            items.into()
        }
        _ => match source.below(7) {
            0 => Value::Null,
            1 => json!({}),
            2 => json!([]),
            3 => json!("a"),
            4 => json!(i64::MAX),
            5 => json!([value, value]),
            _ => json!({"a": value}),
        },
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\u{0}', "").replace('\'', "''"))
}

#[test]
fn event_rows() {
    let runtime = runtime();
    let (mut server, ada, rows) = runtime.block_on(async {
        let server = TestServer::start().await;
        let (owner, ada) = (server.owner().await, server.member("ada").await);
        // Events of many kinds, to begin with.
        let mut queue = ada.register(()).await;
        queue.ignore();
        let general = server.channel("general", &[&owner, &ada]).await;
        let id = owner.send(general, "greetings", "hello @**Ada**").await;
        owner.patch(&format!("/messages/{id}"), json!({"content": "bye", "topic": "end"})).await.ok();
        owner.post(&format!("/messages/{id}/reactions"), json!({"emoji_name": "tada"})).await.ok();
        ada.post("/messages/flags", json!({"op": "add", "flag": "starred", "messages": [id]})).await.ok();
        ada.post("/user_topics", json!({"stream_id": general, "topic": "end", "visibility_policy": 3}))
            .await
            .ok();
        ada.patch("/settings", json!({"full_name": "Ada L"})).await.ok();
        owner
            .patch(&format!("/streams/{general}"), json!({"new_name": "garden", "is_private": true}))
            .await
            .ok();
        owner
            .post("/user_groups/create", json!({"name": "g", "description": "", "members": [ada.user_id]}))
            .await
            .ok();
        let deleted = owner.send(general, "end", "gone").await;
        owner.delete(&format!("/messages/{deleted}"), ()).await.ok();
        let columns = ["type", "name", "version", "payload", "coalesce(routing, '')"];
        let mut rows: Vec<Vec<String>> = Vec::new();
        for column in columns {
            let values = server.column(&format!("SELECT {column} FROM event ORDER BY id")).await;
            rows.resize_with(values.len(), Vec::new);
            rows.iter_mut().zip(values).for_each(|(row, value)| row.push(value));
        }
        (server, ada, rows)
    });
    assert!(rows.len() > 8, "{rows:?}");
    fuzz!(|mut source: Source<'_>| {
        let mut queues = Vec::new();
        for capabilities in [json!({}), json!({"bulk_message_deletion": true, "empty_topic_name": true})] {
            let parameters = json!({"client_capabilities": capabilities, "fetch_event_types": []});
            let mut queue = runtime.block_on(ada.register(parameters));
            queue.ignore();
            queues.push(queue);
        }
        for number in 0..=source.below(3) {
            let row = &rows[source.below(rows.len())];
            let json = |text: &str, source: &mut Source<'_>| match source.below(3) {
                0 => text.to_owned(),
                1 => source.text(PIECES, 16),
                _ => serde_json::from_str(text)
                    .map_or(String::new(), |value| changed(&value, source).to_string()),
            };
            let other = &rows[source.below(rows.len())];
            let kind = if source.below(8) == 0 { &other[0] } else { &row[0] };
            let name = match source.below(8) {
                0 => &other[1],
                1 => "unknown",
                _ => &row[1],
            };
            let version = if source.below(8) == 0 { "99" } else { row[2].as_str() };
            let (payload, routing) = (json(&row[3], &mut source), json(&row[4], &mut source));
            let routing = if routing.is_empty() { "NULL".to_owned() } else { quoted(&routing) };
            runtime.block_on(server.sql(&format!(
                "INSERT INTO event (id, type, name, version, audience, also_public, payload, routing)
                 SELECT max(id) + 1, {}, {}, {version}, (SELECT audience FROM event WHERE audience IS NOT NULL
                     ORDER BY id LIMIT 1 OFFSET {number}), {}, {}, {routing} FROM event",
                quoted(kind),
                quoted(name),
                source.below(2),
                quoted(&payload),
            )));
        }
        runtime.block_on(server.restart());
        for queue in &queues {
            let answer = runtime.block_on(ada.get("/events", queue.poll(true)));
            let is_gone = answer["code"] == "BAD_EVENT_QUEUE_ID";
            assert!(is_gone || answer.status == 200, "{answer}");
            for event in answer["events"].as_array().into_iter().flatten() {
                assert!(event["id"].is_i64() && event["type"].is_string(), "{event}");
            }
        }
        // The server keeps working.
        runtime.block_on(async {
            let mut queue = ada.register(json!({"event_types": ["message"]})).await;
            ada.send_direct(&[&ada], "still here").await;
            queue.expect_kinds(&["message"]).await;
        });
    });
}
