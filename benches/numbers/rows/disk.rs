//! Bytes that a send writes, and space that a message takes in the file.

use std::path::Path;

use super::{Bench, Side, fresh, ratio, split, start_floor};
use crate::floor::Floor;
use crate::load;
use crate::report::{Figure, Reach, Spread};
use crate::seed::{self, CHANNEL_OF_10};
use crate::{Outcome, ours};

/// Maximum space of a message, with its indexes and its words, in bytes.
const SPACE: f64 = 270.0;

/// KiB written for each send of one side, in its turns.
struct Written(Vec<f64>);

/// Sends at 1 and 16 connections; then the space of all of them.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let floor = start_floor(&Floor::Send(fresh(bench, "floor-disk")?))?;
    let mut server = None;
    let mut stream_id = 1;
    let mut before = None;
    if let Some(ours) = &bench.server {
        let file = ours.base.file_with(10_000, "disk")?;
        before = Some((space(&file)?, file.clone()));
        let process = ours::start(&ours.binary, &file)?;
        ours::until_ready(&process).await?;
        server = Some(process);
        stream_id = ours.base.stream_id(CHANNEL_OF_10)?;
    }
    let request = ours::send_message(&seed::account(0), stream_id);
    let mut figures = Vec::new();
    for connections in [1, 16] {
        let mut sides = Vec::new();
        if let Some(process) = &server {
            sides.push(Side { name: "server", process, request: request.clone() });
        }
        sides.push(Side { name: "floor", process: &floor, request: request.clone() });
        let mut written: Vec<Written> = sides.iter().map(|_| Written(Vec::new())).collect();
        for _ in 0..bench.rounds {
            for (side, written) in sides.iter().zip(&mut written) {
                let begun = side.process.written_kib()?;
                let sample =
                    load::drive(side.process.address, connections, bench.span, &side.request).await?;
                written.0.push((side.process.written_kib()? - begun) / sample.answers as f64);
            }
        }
        let (measured, against) = split(&written, |written: &Written| Spread::from(written.0.clone()));
        let plural = if connections == 1 { "" } else { "s" };
        figures.push(Figure {
            what: format!("written for a send, {connections} connection{plural}"),
            unit: "KiB",
            ratio: ratio(measured.as_ref(), against.as_ref()),
            measured,
            against,
            reach: Reach::AtMost(1.0),
            notes: Vec::new(),
        });
    }
    if let (Some(process), Some(((bytes, messages), file))) = (server, before) {
        ours::stop(process)?;
        let (bytes_after, messages_after) = space(&file)?;
        let each = (bytes_after - bytes) / (messages_after - messages);
        figures.push(Figure {
            what: "space of a message".to_owned(),
            unit: "bytes",
            measured: Some(vec![each].into()),
            against: None,
            ratio: None,
            reach: Reach::AtMost(SPACE),
            notes: vec![format!("of {} messages of 80 characters", messages_after - messages)],
        });
    }
    Ok(figures)
}

/// The bytes of the tables and indexes of messages, and the number of messages.
fn space(file: &Path) -> Outcome<(f64, f64)> {
    let connection = seed::open(file)?;
    let bytes = connection.query_row(
        "SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND (name = 'message' OR name GLOB 'message_search*'
             OR name IN ('search_word', 'message_recipient', 'message_topic', 'message_sender'))",
        [],
        |row| row.get::<_, i64>(0),
    )?;
    let messages = connection.query_row("SELECT count(*) FROM message", [], |row| row.get::<_, i64>(0))?;
    Ok((bytes as f64, messages as f64))
}
