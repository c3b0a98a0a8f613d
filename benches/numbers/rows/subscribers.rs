//! Sends into a channel of 10,000 subscribers against sends into one of 10, in the same file.

use super::{Bench, Side, compare_times, take_turns};
use crate::report::Figure;
use crate::seed::{self, CHANNEL_OF_10, CHANNEL_OF_10000};
use crate::{Outcome, ours};

/// Runs the row at 1 and 16 connections. It has no floor: the server is compared with itself.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let Some(server) = &bench.server else { return Ok(Vec::new()) };
    let process = server.start_with(10_000, "subscribers").await?;
    let owner = seed::account(0);
    let mut sides = Vec::new();
    for (name, channel) in [("10,000 subscribers", CHANNEL_OF_10000), ("10 subscribers", CHANNEL_OF_10)] {
        let request = ours::send_message(&owner, server.base.stream_id(channel)?);
        sides.push(Side { name, process: &process, request });
    }
    let mut figures = Vec::new();
    for connections in [1, 16] {
        let turns = take_turns(bench, connections, &sides).await?;
        let plural = if connections == 1 { "" } else { "s" };
        let what = format!("send to 10,000 subscribers against 10, {connections} connection{plural}");
        figures.push(compare_times(what, connections, &turns, 1.2));
    }
    Ok(figures)
}
