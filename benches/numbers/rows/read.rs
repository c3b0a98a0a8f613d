//! The newest 100 messages of a channel against one statement in a bare loop.

use super::{Bench, Side, compare_rates, fresh, start_floor, take_turns};
use crate::floor::{self, Floor};
use crate::load::Connection;
use crate::report::Figure;
use crate::seed::{self, CHANNEL_WITH_HISTORY};
use crate::{Outcome, load, ours};

const CONNECTIONS: usize = 16;
const MESSAGES: u64 = 10_000;

/// Assumed size of a message if no server can be asked.
const SUPPOSED_BYTES: usize = 600;

/// Size and count of the messages in a response.
pub struct Shape {
    bytes: usize,
    bytes_per_message: usize,
    fields: usize,
}

/// Runs the row at 16 connections.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let request = ours::newest_messages(&seed::account(0), CHANNEL_WITH_HISTORY);
    let mut notes = Vec::new();
    let mut server = None;
    let mut bytes_per_message = SUPPOSED_BYTES;
    if let Some(ours) = &bench.server {
        let process = ours.start_with(MESSAGES, "read").await?;
        let shape = shape(&process, &request, 100).await?;
        notes.push(format!("server: {} bytes an answer, {} fields a message", shape.bytes, shape.fields));
        bytes_per_message = shape.bytes_per_message;
        server = Some(process);
    }
    let file = fresh(bench, "floor-read")?;
    floor::read::create(&file, MESSAGES, bytes_per_message)?;
    let floor = start_floor(&Floor::Read(file))?;
    let floor_shape = shape(&floor, &request, 100).await?;
    notes.push(format!(
        "floor: {} bytes an answer, {} fields a message",
        floor_shape.bytes, floor_shape.fields
    ));

    let mut sides = Vec::new();
    if let Some(process) = &server {
        sides.push(Side { name: "server", process, request: request.clone() });
    }
    sides.push(Side { name: "floor", process: &floor, request });
    let turns = take_turns(bench, CONNECTIONS, &sides).await?;
    let mut figure =
        compare_rates(format!("newest 100 of a channel, {CONNECTIONS} connections"), &turns, 0.9);
    figure.notes.extend(notes);
    Ok(vec![figure])
}

/// Sends one request and validates the response.
pub async fn shape(
    process: &crate::process::Process,
    request: &load::MakeRequest,
    count: usize,
) -> Outcome<Shape> {
    let mut connection = Connection::open(process.address).await?;
    let mut bytes = Vec::new();
    request(0, &mut bytes);
    let answer = connection.exchange(&bytes).await?;
    load::check(&answer)?;
    let parsed: serde_json::Value = serde_json::from_slice(answer.body)?;
    let messages = parsed["messages"].as_array().ok_or("an answer without messages")?;
    let newest =
        messages.last().and_then(serde_json::Value::as_object).ok_or("an answer without a message")?;
    if messages.len() != count {
        return Err(format!("{} messages instead of {count}", messages.len()).into());
    }
    let bytes_of_messages = serde_json::to_vec(messages)?.len();
    Ok(Shape {
        bytes: answer.body.len(),
        bytes_per_message: (bytes_of_messages - count - 1) / count,
        fields: newest.len(),
    })
}
