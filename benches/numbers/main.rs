//! The figures that the design is judged by, measured in one run, each against its floor.
//!
//! `cargo bench --bench numbers` prints the table; `benches/README.md` explains it. The modules in reading order:
//! [`rows`] (the measurements), [`load`] (the client), [`floor`] (the bare servers), [`ours`] (the server under test),
//! [`seed`] (its files), [`process`] and [`report`].

#![expect(clippy::cast_precision_loss, reason = "no count here is beyond 52 bits")]

use std::error::Error;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};

use crate::report::{Figure, Spread, number};
use crate::rows::{Bench, Server};

mod floor;
mod load;
mod ours;
mod process;
mod report;
mod rows;
mod seed;
mod text;

/// The result of anything here: an error ends the row it happens in, and is shown.
pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Open files that 10,000 waiting clients need, on either side.
const OPEN_FILES: usize = 10_500;

/// Set once the limit of open files was raised as far as it goes.
const LIMIT_RAISED: &str = "NUMBERS_LIMIT_RAISED";

/// Measures the server against bare servers that do the least possible for the same answers.
#[derive(Parser)]
#[command(name = "numbers")]
struct Arguments {
    /// Rows to measure; all by default.
    rows: Vec<Row>,
    /// Shorter and fewer turns: about a minute, and rougher.
    #[arg(long)]
    quick: bool,
    /// Print one JSON object instead of the table.
    #[arg(long)]
    json: bool,
    /// Run only the floors.
    #[arg(long)]
    floors_only: bool,
    /// The server's binary.
    #[arg(long, default_value = env!("CARGO_BIN_EXE_teamchat"))]
    server: PathBuf,
    /// Directory of the files, on the disk to measure; its folder `run` is emptied.
    #[arg(long, default_value = concat!(env!("CARGO_TARGET_TMPDIR"), "/numbers"))]
    directory: PathBuf,
    /// Given by `cargo bench`; without it (`cargo test --benches`) nothing runs.
    #[arg(long, hide = true)]
    bench: bool,
}

/// A part of the table.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Row {
    /// Durable sends at 1, 16 and 64 connections.
    Send,
    /// The newest 100 messages of a channel.
    Read,
    /// One message to 1,000 waiting queues.
    FanOut,
    /// Sends to 10,000 subscribers against 10.
    Subscribers,
    /// A file of 1,000,000 messages against one of 10,000.
    Size,
    /// The newest 100 of every kind of view, in 1,000,000 messages against 10,000.
    Fetch,
    /// Bytes written for a send, and the space of a message.
    Disk,
    /// Memory: idle, of each waiting long-poll, and after logins, sends and reads.
    Memory,
    /// Memory after many requests of each operation. It takes half an hour, and is measured only when it is named.
    Operations,
    /// A simple request beside those who search and render.
    Beside,
    /// Sends while 10,000 people are notified of a missed message.
    Missed,
    /// The longest time of each kind of background work in the writer.
    Background,
    /// Start to first answer, and the size of the binary.
    Start,
    /// The server as a test double: start, reset, a hundred at once.
    Double,
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("floor") {
        return floor::run(arguments);
    }
    let arguments = Arguments::parse();
    if !arguments.bench {
        writeln!(std::io::stdout(), "Nothing measured: run `cargo bench --bench numbers`.")?;
        return Ok(());
    }
    let open_files = raise_open_files()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(&arguments, open_files))
}

async fn measure(arguments: &Arguments, open_files: usize) -> Outcome<()> {
    let started = Instant::now();
    // The folder of a run is removed; the seeds beside it stay.
    let directory = arguments.directory.join("run");
    remove_folder(&directory)?;
    std::fs::create_dir_all(&directory)?;
    let mut conditions = conditions(&directory)?;
    let server = if arguments.floors_only {
        None
    } else {
        let base = seed::prepare(&arguments.server, &arguments.directory, &directory).await?;
        Some(Server { binary: arguments.server.clone(), base })
    };
    let bench = Bench {
        server,
        directory,
        rounds: if arguments.quick { 3 } else { 7 },
        span: Duration::from_millis(if arguments.quick { 500 } else { 1500 }),
        logins: if arguments.quick { 100 } else { 1000 },
        work: Duration::from_secs(if arguments.quick { 10 } else { 60 }),
        requests: if arguments.quick { 2_000 } else { 10_000 },
        requests_for: Duration::from_secs(if arguments.quick { 4 } else { 30 }),
        open_files,
    };
    let mut wanted = arguments.rows.clone();
    if wanted.is_empty() {
        wanted.extend(Row::value_variants().iter().filter(|row| **row != Row::Operations));
    }
    let mut figures = Vec::new();
    let mut failed = Vec::new();
    for row in &wanted {
        let name = row.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        progress(&name);
        match row.run(&bench).await {
            Ok(measured) => figures.extend(measured),
            Err(error) => failed.push(format!("not measured: {name}: {error}")),
        }
    }
    conditions.push(format!(
        "{} turns of {:.1} s for each side; {:.0} s in all.",
        bench.rounds,
        bench.span.as_secs_f64(),
        started.elapsed().as_secs_f64()
    ));
    let failures = failed.len();
    conditions.append(&mut failed);
    let text = if arguments.json {
        report::as_json(&conditions, &figures)
    } else {
        report::as_table(&conditions, &figures)
    };
    writeln!(std::io::stdout(), "{text}")?;
    remove_folder(&bench.directory)?;
    if failures > 0 {
        return Err(format!("{failures} of the rows could not be measured").into());
    }
    Ok(())
}

impl Row {
    async fn run(self, bench: &Bench) -> Outcome<Vec<Figure>> {
        match self {
            Self::Send => rows::send::run(bench).await,
            Self::Read => rows::read::run(bench).await,
            Self::FanOut => rows::fan_out::run(bench).await,
            Self::Subscribers => rows::subscribers::run(bench).await,
            Self::Size => rows::size::run(bench).await,
            Self::Fetch => rows::fetch::run(bench).await,
            Self::Disk => rows::disk::run(bench).await,
            Self::Memory => rows::memory::run(bench).await,
            Self::Operations => rows::operations::run(bench).await,
            Self::Beside => rows::beside::run(bench).await,
            Self::Missed => rows::missed::run(bench).await,
            Self::Background => rows::background::run(bench).await,
            Self::Start => rows::start::run(bench).await,
            Self::Double => rows::double::run(bench).await,
        }
    }
}

/// Prints progress on standard error.
pub fn progress(what: &str) {
    // Standard error may be closed.
    let _ = writeln!(std::io::stderr(), "... {what}");
}

fn remove_folder(folder: &Path) -> Outcome<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Conditions of the measurement: build, cores, load, and disk.
fn conditions(directory: &Path) -> Outcome<Vec<String>> {
    let cores = std::thread::available_parallelism()?;
    let load = std::fs::read_to_string("/proc/loadavg")?;
    let mut conditions = vec![format!(
        "{cores} cores, load {} before the start; a 4 KiB write reaches the disk in {} ms.",
        load.split(' ').next().unwrap_or_default(),
        number(sync_time(directory)?)
    )];
    if cfg!(debug_assertions) {
        conditions.push("NOT A RELEASE BUILD: the figures mean nothing.".to_owned());
    }
    Ok(conditions)
}

/// The median time of a durable 4 KiB write in milliseconds, a lower bound for a commit.
fn sync_time(directory: &Path) -> Outcome<f64> {
    let path = directory.join("sync-probe");
    let file = std::fs::File::create(&path)?;
    let mut times = Vec::new();
    for number in 0..100 {
        let before = Instant::now();
        file.write_all_at(&[number; 4096], u64::from(number % 16) * 4096)?;
        file.sync_data()?;
        times.push(before.elapsed().as_secs_f64() * 1e3);
    }
    std::fs::remove_file(path)?;
    Ok(Spread::from(times).median())
}

/// Starts this program again with more open files when there are too few. Returns how many there are.
fn raise_open_files() -> Outcome<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap_or_default();
    let allowed = line.split_whitespace().next().and_then(|soft| soft.parse().ok()).unwrap_or(1024);
    if allowed >= OPEN_FILES || std::env::var_os(LIMIT_RAISED).is_some() {
        return Ok(allowed);
    }
    let error = Command::new("sh")
        .arg("-c")
        .arg(format!(
            "ulimit -n {OPEN_FILES} 2>/dev/null || ulimit -n \"$(ulimit -H -n)\"; exec \"$0\" \"$@\""
        ))
        .arg(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(LIMIT_RAISED, "1")
        .exec();
    Err(error.into())
}
