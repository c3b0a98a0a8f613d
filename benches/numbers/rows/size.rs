//! A file of 1,000,000 messages against one of 10,000.

use super::{Bench, Side, compare_times, take_turns};
use crate::load::MakeRequest;
use crate::report::Figure;
use crate::seed::{self, CHANNEL_WITH_HISTORY};
use crate::{Outcome, ours};
use std::sync::Arc;

const CONNECTIONS: usize = 16;

/// Reads, sends and registers at 16 connections. Nothing without the server: it is held against itself.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let Some(server) = &bench.server else { return Ok(Vec::new()) };
    let large = server.start_with(1_000_000, "large").await?;
    let small = server.start_with(10_000, "small").await?;
    let owner = seed::account(0);
    let stream_id = server.base.stream_id(CHANNEL_WITH_HISTORY)?;
    let parts = r#"["realm", "realm_user", "stream", "subscription"]"#;
    let register = seed::account(1).post("/api/v1/register", &[("fetch_event_types", parts)]);
    let mut figures = Vec::new();
    let requests: [(&str, MakeRequest); 3] = [
        ("newest 100", ours::newest_messages(&owner, CHANNEL_WITH_HISTORY)),
        ("send", ours::send_message(&owner, stream_id)),
        (
            "register with channels and people",
            Arc::new(move |_, request| request.extend_from_slice(&register)),
        ),
    ];
    for (what, request) in requests {
        let sides = [
            Side { name: "1,000,000 messages", process: &large, request: request.clone() },
            Side { name: "10,000 messages", process: &small, request },
        ];
        let turns = take_turns(bench, CONNECTIONS, &sides).await?;
        let what = format!("{what} in 1,000,000 messages against 10,000, {CONNECTIONS} connections");
        figures.push(compare_times(what, CONNECTIONS, &turns, 1.2));
    }
    Ok(figures)
}
