//! Time from the start of the process to its first response, and the size of the binary.

use super::{Bench, start_floor};
use crate::floor::Floor;
use crate::load::{Connection, find};
use crate::report::{Figure, Reach};
use crate::{Outcome, ours};

/// Runs the row with 1,000,000 messages in the file, which is in the page cache after the first start.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let mut floor_times = Vec::new();
    for _ in 0..bench.rounds {
        let process = start_floor(&Floor::Wait)?;
        let mut connection = Connection::open(process.address).await?;
        connection.exchange(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}").await?;
        floor_times.push(process.started.elapsed().as_secs_f64() * 1e3);
    }
    let mut start = Figure {
        what: "start to first answer, 1,000,000 messages".to_owned(),
        unit: "ms",
        measured: None,
        against: Some(floor_times.into()),
        ratio: None,
        reach: Reach::AtMost(100.0),
        notes: vec!["floor: a bare server without a file".to_owned()],
    };
    let Some(server) = &bench.server else { return Ok(vec![start]) };

    let file = server.base.file_with(1_000_000, "start")?;
    let mut times = Vec::new();
    let mut stops = Vec::new();
    for _ in 0..bench.rounds {
        let process = ours::start(&server.binary, &file)?;
        times.push(ours::until_ready(&process).await?.as_secs_f64() * 1e3);
        stops.push(ours::stop(process)?.as_secs_f64() * 1e3);
    }
    start.measured = Some(times.into());
    let stops = crate::report::Spread::from(stops);
    start.notes.push(format!("server: SIGTERM to its end {} ms", crate::report::number(stops.median())));

    let binary = std::fs::read(&server.binary)?;
    let mut size = Figure {
        what: "release binary".to_owned(),
        unit: "MiB",
        measured: Some(vec![binary.len() as f64 / 1024.0 / 1024.0].into()),
        against: None,
        ratio: None,
        reach: Reach::AtMost(20.0),
        notes: Vec::new(),
    };
    if find(&binary, b".symtab\0").is_some() {
        size.notes.push("it is not stripped".to_owned());
    }
    Ok(vec![start, size])
}
