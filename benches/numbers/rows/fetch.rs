//! The newest 100 of every kind of view, in a file of 1,000,000 messages against one of 10,000.

use super::{Bench, Side, compare_times, take_turns};
use crate::load::MakeRequest;
use crate::report::Figure;
use crate::seed::{self, CHANNEL_WITH_HISTORY, CORRESPONDENT, READER, SEARCHED};
use crate::{Outcome, ours};
use serde_json::{Value, json};

const CONNECTIONS: usize = 2;

/// Maximum ratio of the time in the larger file to the smaller.
const REACH: f64 = 1.2;
/// The same for a search, which has to merge its results.
const REACH_OF_SEARCH: f64 = 2.0;

const TOPIC: &str = "a topic";

/// Each view by itself. Nothing without the server: it is held against itself.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let Some(server) = &bench.server else { return Ok(Vec::new()) };
    let large = server.start_with(1_000_000, "large").await?;
    let small = server.start_with(10_000, "small").await?;
    let mut figures = Vec::new();
    for (what, narrow, reach) in views() {
        // As many as the smaller file has: a topic there has 20.
        let count = if what == TOPIC { 20 } else { 100 };
        let request: MakeRequest = ours::newest_of(&seed::account(READER), &narrow, count);
        for process in [&large, &small] {
            super::read::shape(process, &request, count).await.map_err(|error| format!("{what}: {error}"))?;
        }
        let sides = [
            Side { name: "1,000,000 messages", process: &large, request: request.clone() },
            Side { name: "10,000 messages", process: &small, request },
        ];
        let turns = take_turns(bench, CONNECTIONS, &sides).await?;
        figures.push(compare_times(format!("newest {count} of {what}"), CONNECTIONS, &turns, reach));
    }
    Ok(figures)
}

/// Views of clients, for a user of 200 channels.
fn views() -> Vec<(&'static str, Value, f64)> {
    let correspondent = format!("user{CORRESPONDENT}@example.com");
    vec![
        ("a channel", json!([["channel", CHANNEL_WITH_HISTORY]]), REACH),
        (TOPIC, json!([["channel", CHANNEL_WITH_HISTORY], ["topic", "topic 2"]]), REACH),
        ("a direct conversation", json!([["dm", correspondent]]), REACH),
        ("everything", json!([]), REACH),
        ("is:unread", json!([["is", "unread"]]), REACH),
        ("is:mentioned", json!([["is", "mentioned"]]), REACH),
        ("a search for a word of 2 %", json!([["search", SEARCHED]]), REACH_OF_SEARCH),
        ("a search for two words", json!([["search", format!("{SEARCHED} topics")]]), REACH_OF_SEARCH),
        (
            "a search in a channel",
            json!([["search", "topics"], ["channel", CHANNEL_WITH_HISTORY]]),
            REACH_OF_SEARCH,
        ),
    ]
}
