//! Narrows: parsed or refused, and answered in time with messages that the caller may read.

use super::{Source, fuzz, runtime};
use crate::harness::TestServer;
use serde_json::{Value, json};

const OPERATORS: &[&str] = &[
    "channel",
    "stream",
    "channels",
    "streams",
    "topic",
    "subject",
    "dm",
    "pm-with",
    "dm-including",
    "group-pm-with",
    "sender",
    "is",
    "in",
    "id",
    "with",
    "near",
    "has",
    "search",
    "mentions",
    "date",
    "unknown",
    "",
];

const WORDS: &[&str] = &[
    "general",
    "shed",
    "greetings",
    "ada",
    "ada@example.com",
    "owner@example.com",
    "1",
    "2",
    "3",
    "99",
    "-1",
    "public",
    "web-public",
    "archived",
    "dm",
    "unread",
    "starred",
    "mentioned",
    "alerted",
    "resolved",
    "followed",
    "muted",
    "home",
    "all",
    "link",
    "image",
    "attachment",
    "reaction",
    "reaction:tada",
    "hello",
    "\"hello there\"",
    "\"",
    "*",
    "(",
    ")",
    "AND",
    "NOT",
    "NEAR",
    "^",
    ":",
    "-",
    "'",
    "é",
    "👍",
    "\u{0}",
    " ",
    ",",
    "ada@example.com,owner@example.com",
    "2026-01-01",
    "me",
];

fn operand(source: &mut Source<'_>) -> Value {
    match source.below(8) {
        0 => json!(i64::try_from(source.below(20)).unwrap() - 2),
        1 => json!([1, 4, 5, source.byte()]),
        2 => json!([source.pick(WORDS), source.pick(WORDS)]),
        3 => json!({"a": source.pick(WORDS)}),
        4 => source
            .pick(&[Value::Null, json!(true), json!(1.5), json!([]), json!(u64::MAX)].each_ref())
            .clone(),
        5 => source.text(WORDS, 32).into(),
        _ => source.pick(WORDS).into(),
    }
}

fn narrow(source: &mut Source<'_>) -> Value {
    let mut terms = Vec::new();
    for _ in 0..source.below(12) {
        let (operator, negated) = (source.pick(OPERATORS), source.below(3) == 0);
        let operand = operand(source);
        terms.push(match source.below(8) {
            0 => json!([operator, operand]),
            1 => json!([operator]),
            2 => operand,
            3 => json!({"operator": operator, "operand": operand, "negated": source.pick(WORDS)}),
            _ => json!({"operator": operator, "operand": operand, "negated": negated}),
        });
    }
    terms.into()
}

#[test]
fn narrows() {
    let runtime = runtime();
    let (_server, ada, hidden) = runtime.block_on(async {
        let server = TestServer::start().await;
        let (owner, ada) = (server.owner().await, server.member("ada").await);
        let general = server.channel("general", &[&owner, &ada]).await;
        let shed = server.private_channel("shed", &[&owner]).await;
        for place in [general, shed] {
            let first = owner.send(place, "greetings", "hello there https://e.example/x.png").await;
            owner.send(place, "✔ greetings", "hello @**all** again").await;
            server.add_copies(first, 200).await;
        }
        owner.send_direct(&[&ada], "hello").await;
        ada.send_direct(&[&ada], "to myself").await;
        (server, ada, shed)
    });
    fuzz!(|mut source: Source<'_>| {
        let anchor =
            source.pick(&["newest", "oldest", "first_unread", "5", "0", "10000000000000000", "date", "-1"]);
        let narrow = if source.below(16) == 0 { json!(source.text(WORDS, 16)) } else { narrow(&mut source) };
        let parameters = json!({
            "anchor": anchor, "num_before": source.below(60), "num_after": source.below(60), "narrow": narrow,
        });
        let answer = runtime.block_on(ada.get("/messages", &parameters));
        assert!(matches!(answer.status, 200 | 400), "{answer} to {parameters}");
        let found = answer["messages"].as_array().into_iter().flatten();
        let strange = found.filter(|message| message["stream_id"] == hidden).count();
        assert_eq!(strange, 0, "messages of a channel that the caller is not in: {parameters}");
        if source.below(4) == 0 {
            let flags = json!({
                "op": "add", "flag": "read", "anchor": anchor, "num_before": 5, "num_after": 5,
                "narrow": parameters["narrow"],
            });
            let answer = runtime.block_on(ada.post("/messages/flags/narrow", &flags));
            assert!(matches!(answer.status, 200 | 400), "{answer} to {flags}");
        }
    });
}
