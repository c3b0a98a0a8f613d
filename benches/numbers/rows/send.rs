//! Durable sends against group commit in a bare loop.

use super::{Bench, Side, compare_rates, fresh, start_floor, take_turns};
use crate::floor::Floor;
use crate::report::Figure;
use crate::seed::{self, CHANNEL_OF_10};
use crate::{Outcome, ours};

/// Runs the row at 1, 16 and 64 connections.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let floor = start_floor(&Floor::Send(fresh(bench, "floor-send")?))?;
    let mut server = None;
    let mut stream_id = 1;
    if let Some(ours) = &bench.server {
        server = Some(ours.start_with(10_000, "send").await?);
        stream_id = ours.base.stream_id(CHANNEL_OF_10)?;
    }
    // The floor takes the very same requests.
    let request = ours::send_message(&seed::account(0), stream_id);
    let mut sides = Vec::new();
    if let Some(process) = &server {
        sides.push(Side { name: "server", process, request: request.clone() });
    }
    sides.push(Side { name: "floor", process: &floor, request });
    let mut figures = Vec::new();
    for connections in [1, 16, 64] {
        let turns = take_turns(bench, connections, &sides).await?;
        let plural = if connections == 1 { "" } else { "s" };
        figures.push(compare_rates(format!("durable send, {connections} connection{plural}"), &turns, 0.7));
    }
    Ok(figures)
}
