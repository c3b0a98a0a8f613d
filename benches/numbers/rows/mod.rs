//! The rows of the table, and the way two servers are measured side by side.

use std::path::PathBuf;
use std::time::Duration;

use crate::floor::Floor;
use crate::load::{self, MakeRequest, Sample};
use crate::process::Process;
use crate::report::{Figure, Reach, Spread, number};
use crate::seed::Base;
use crate::{Outcome, ours};

pub mod background;
pub mod beside;
pub mod disk;
pub mod double;
pub mod fan_out;
pub mod fetch;
pub mod memory;
pub mod missed;
pub mod operations;
pub mod read;
pub mod send;
pub mod size;
pub mod start;
pub mod subscribers;

/// Shared context of all rows.
pub struct Bench {
    /// The server under test and the file to copy; `None`: only the floors run.
    pub server: Option<Server>,
    /// Directory of the files of this run.
    pub directory: PathBuf,
    /// Number of turns of each side.
    pub rounds: usize,
    /// Duration of a turn.
    pub span: Duration,
    /// Number of logins before memory is measured.
    pub logins: u64,
    /// Duration of sends and reads before memory is measured.
    pub work: Duration,
    /// Number of requests of each operation before memory is measured.
    pub requests: u64,
    /// Time limit of these requests.
    pub requests_for: Duration,
    /// Maximum number of open files and sockets of a process.
    pub open_files: usize,
}

/// The server under test.
pub struct Server {
    /// The path of the server's binary.
    pub binary: PathBuf,
    /// The file that others are copied from.
    pub base: Base,
}

impl Server {
    /// Starts the server on a new file with this number of messages.
    pub async fn start_with(&self, messages: u64, name: &str) -> Outcome<Process> {
        let file = self.base.file_with(messages, name)?;
        let process = ours::start(&self.binary, &file)?;
        ours::until_ready(&process).await?;
        Ok(process)
    }
}

/// One of the servers that take turns.
pub struct Side<'a> {
    /// Name in notes.
    pub name: &'static str,
    /// The server.
    pub process: &'a Process,
    /// Builds the request.
    pub request: MakeRequest,
}

/// Measurements of one side in its turns.
pub struct Turns {
    name: &'static str,
    samples: Vec<Sample>,
    /// Processor time of an answer in microseconds: program, kernel.
    processor: (f64, f64),
}

pub fn start_floor(floor: &Floor) -> Outcome<Process> {
    Process::start(floor.command()?)
}

/// Loads the sides in turn, A B A B, after a short turn each that does not count.
pub async fn take_turns(bench: &Bench, connections: usize, sides: &[Side<'_>]) -> Outcome<Vec<Turns>> {
    for side in sides {
        load::drive(side.process.address, connections, bench.span / 3, &side.request).await?;
    }
    let mut turns: Vec<Turns> = sides
        .iter()
        .map(|side| Turns { name: side.name, samples: Vec::new(), processor: (0.0, 0.0) })
        .collect();
    for _ in 0..bench.rounds {
        for (side, turns) in sides.iter().zip(&mut turns) {
            let before = side.process.processor_time()?;
            let sample = load::drive(side.process.address, connections, bench.span, &side.request).await?;
            let after = side.process.processor_time()?;
            turns.processor.0 += after.user - before.user;
            turns.processor.1 += after.system - before.system;
            turns.samples.push(sample);
        }
    }
    for turns in &mut turns {
        let answers: usize = turns.samples.iter().map(|sample| sample.answers).sum();
        turns.processor.0 *= 1e6 / answers as f64;
        turns.processor.1 *= 1e6 / answers as f64;
    }
    Ok(turns)
}

impl Turns {
    /// Responses a second, turn by turn.
    pub fn rates(&self) -> Spread {
        self.samples.iter().map(Sample::rate).collect::<Vec<_>>().into()
    }

    /// Microseconds of a connection's time for an answer, turn by turn.
    fn times(&self, connections: usize) -> Spread {
        self.samples.iter().map(|sample| 1e6 * connections as f64 / sample.rate()).collect::<Vec<_>>().into()
    }

    fn note(&self) -> String {
        let latency = |share| {
            let turns: Vec<_> = self.samples.iter().map(|sample| sample.latency(share)).collect();
            number(Spread::from(turns).median() / 1e3)
        };
        format!(
            "{}: p50 {} ms, p99 {} ms; processor time of an answer {} us (program) + {} us (kernel)",
            self.name,
            latency(0.5),
            latency(0.99),
            number(self.processor.0),
            number(self.processor.1),
        )
    }
}

/// Responses a second; the last of the sides is the floor.
pub fn compare_rates(what: String, turns: &[Turns], at_least: f64) -> Figure {
    let (measured, against) = split(turns, Turns::rates);
    Figure {
        what,
        unit: "/s",
        ratio: ratio(measured.as_ref(), against.as_ref()),
        measured,
        against,
        reach: Reach::AtLeast(at_least),
        notes: turns.iter().map(Turns::note).collect(),
    }
}

/// Compares response times; the first side is compared with the last.
pub fn compare_times(what: String, connections: usize, turns: &[Turns], at_most: f64) -> Figure {
    let (measured, against) = split(turns, |turns| turns.times(connections));
    Figure {
        what,
        unit: "us",
        ratio: ratio(measured.as_ref(), against.as_ref()),
        measured,
        against,
        reach: Reach::AtMost(at_most),
        notes: turns.iter().map(Turns::note).collect(),
    }
}

/// The values of the server (absent when only the floor ran) and those of the floor.
pub fn split<Measured>(
    sides: &[Measured],
    values: impl Fn(&Measured) -> Spread,
) -> (Option<Spread>, Option<Spread>) {
    match sides {
        [floor] => (None, Some(values(floor))),
        [server, .., floor] => (Some(values(server)), Some(values(floor))),
        [] => (None, None),
    }
}

/// Measured in terms of the floor, if both ran.
pub fn ratio(measured: Option<&Spread>, against: Option<&Spread>) -> Option<Spread> {
    Some(measured?.over(against?))
}

/// A new path in the folder of this run; an existing file is removed.
pub fn fresh(bench: &Bench, name: &str) -> Outcome<PathBuf> {
    let file = bench.directory.join(format!("{name}.sqlite"));
    crate::seed::remove(&file)?;
    Ok(file)
}
