//! A large organization: it is imported from lines of JSON, moves as the published archive, and loses no message.

use super::texts::{Names, text};
use super::{Comparison, Move};
use crate::harness::{Client, Rng, START, TestServer, budget, seed};
use crate::moving::import::{Import, client};
use crate::upgrades::{ORIGIN, populate};
use serde_json::{Value, json};
use teamchat::types::Clock;

/// The messages of each unit of the budget. That of `.ci/deep` makes 100,000.
const MESSAGES: usize = 1000;

/// The messages of a request.
const PAGE: usize = 2000;

const PEOPLE: [&str; 4] = ["ada", "bob", "cyd", "dan"];

const CHANNELS: [&str; 6] = ["harbour", "dock", "pier", "quay", "hold", "bilge"];

const TOPICS: [&str; 5] = ["ropes", "tides of SHIP-7", "✔ lanterns", "", "über *alles*"];

/// The lines of an organization with this number of messages.
fn lines(seed: u64, messages: usize) -> String {
    let mut rng = Rng::new(seed);
    let mut lines: Vec<Value> = Vec::new();
    for (number, person) in PEOPLE.iter().enumerate() {
        let role = ["owner", "member", "member", "guest"][number];
        lines.push(json!({"type": "user", "id": person, "email": format!("{person}@example.com"), "full_name": person,
            "role": role}));
    }
    for (number, channel) in CHANNELS.iter().enumerate() {
        let mut subscribers = vec!["ada"];
        subscribers.extend(PEOPLE[1..].iter().filter(|_| rng.below(3) > 0));
        lines.push(
            json!({"type": "channel", "name": channel, "private": number > 3, "shared_history": number != 5,
            "subscribers": subscribers}),
        );
    }
    let mut names = Names::default();
    let numbered = |all: &[&str]| all.iter().map(|name| (1, (*name).to_owned())).collect::<Vec<_>>();
    names.learn(&numbered(&PEOPLE), &[], &numbered(&CHANNELS));
    let begin = START - 2 * messages as i64;
    for number in 0..messages {
        let date = begin + 2 * number as i64;
        let mut some = |of: usize| {
            let chosen = PEOPLE.iter().filter(|_| rng.below(of) == 0);
            chosen.map(|person| (*person).to_owned()).collect::<Vec<_>>()
        };
        let (unread, starred, reacting, to) = (some(6), some(30), some(8), some(2));
        let reactions: Vec<Value> =
            reacting.iter().map(|person| json!({"user": person, "emoji": "tada"})).collect();
        let mut line = json!({"type": "message", "sender": rng.pick(&PEOPLE), "content": text(&mut rng, &names),
            "date": date, "reactions": reactions, "starred_by": starred, "unread_by": unread});
        if rng.below(5) == 0 {
            line["to"] = if to.is_empty() { json!(["cyd"]) } else { json!(to) };
        } else {
            line["channel"] = json!(rng.pick(&CHANNELS));
            line["topic"] = match rng.below(3) {
                0 => format!("voyage {}", rng.below(300)).into(),
                _ => json!(rng.pick(&TOPICS)),
            };
        }
        if rng.below(10) == 0 {
            line["edited"] = (date + 1).into();
        }
        if rng.below(50) == 0 {
            line["files"] = json!([{"path": "list.txt", "name": format!("list {number}.txt")}]);
        }
        lines.push(line);
    }
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

/// The messages of a person after one, by id.
async fn page(person: &Client, after: i64) -> Value {
    let parameters = json!({"anchor": after, "num_before": 0, "num_after": PAGE, "include_anchor": false,
        "allow_empty_topic_name": true});
    person.get("/messages", parameters).await.ok()
}

#[tokio::test]
async fn a_large_organization_loses_no_message() {
    let messages = MESSAGES * budget();
    let import = Import::new("json");
    import.write("messages.jsonl", lines(seed(0x5eed_1000), messages));
    import.write("list.txt", "oars");
    assert_eq!(import.run(&["--public-url", ORIGIN])["messages"], messages);
    let file = std::fs::read(import.database()).unwrap();
    let before = TestServer::start_on(&file, Clock::manual(START), populate::options()).await;
    let mut people = Vec::new();
    for person in PEOPLE {
        people.push(client(&before, &format!("{person}@example.com")).await);
    }
    let moved = Move::carry_out(before, people).await;
    let counts = "SELECT (SELECT count(*) FROM message) || ' ' || (SELECT count(*) FROM attachment)";
    let counted = moved.before.column(counts).await;
    assert!(counted[0].starts_with(&format!("{messages} ")), "{counted:?}");
    assert_eq!(moved.after.column(counts).await, counted);

    let mut comparison = Comparison::default();
    let [before, after] = &moved.people;
    for (before, after) in before.iter().zip(after) {
        let (mut last, mut is_newest) = (0, false);
        while !is_newest {
            let (one, other) = (page(before, last).await, page(after, last).await);
            is_newest = one["found_newest"] == true;
            last = one["messages"]
                .as_array()
                .unwrap()
                .last()
                .map_or(last, |message| message["id"].as_i64().unwrap());
            let what = format!("{} up to {last}", before.email);
            comparison.add("/api/v1/messages", &what, &json!({"answer": one}), &json!({"answer": other}));
        }
        let state = json!({"fetch_event_types": ["message", "update_message_flags", "starred_messages"]});
        let (one, other) =
            (before.post("/register", &state).await.ok(), after.post("/register", &state).await.ok());
        for member in ["unread_msgs", "starred_messages"] {
            assert_eq!(one[member], other[member], "{member} of {}", before.email);
        }
    }
    comparison.check();
}
