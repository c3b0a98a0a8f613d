//! The server as a test double: with fixtures of 10 people and 100 messages, from its start to its first answer; going back
//! to them; and a hundred at once.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::json;

use super::{Bench, start_floor};
use crate::floor::Floor;
use crate::load::Connection;
use crate::process::Process;
use crate::report::{Figure, Reach, Spread, number};
use crate::{Outcome, text};

/// Servers that run at once.
const CROWD: usize = 100;

/// Resets that are timed.
const RESETS: usize = 50;

/// Number of timed starts, more than turns because each takes milliseconds.
const STARTS: usize = 20;

/// Starts, resets, and a crowd.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let mut floor_times = Vec::new();
    for _ in 0..STARTS {
        let process = start_floor(&Floor::Wait)?;
        first_answer(&process, b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}").await?;
        floor_times.push(process.started.elapsed().as_secs_f64() * 1e3);
    }
    let floor: Spread = floor_times.into();
    let mut start = Figure {
        what: "test server: start to first answer, 10 people, 100 messages".to_owned(),
        unit: "ms",
        measured: None,
        ratio: None,
        reach: Reach::AtMost(3.0),
        notes: vec!["floor: a bare server without a file".to_owned()],
        against: None,
    };
    let Some(server) = &bench.server else {
        start.against = Some(floor);
        return Ok(vec![start]);
    };
    let fixtures = write_fixtures(&bench.directory)?;
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let process = start_double(&server.binary, &fixtures, None)?;
        first_answer(&process, SETTINGS).await?;
        times.push(process.started.elapsed().as_secs_f64() * 1e3);
    }
    let measured: Spread = times.into();
    start.ratio = Some(vec![measured.median() / floor.median()].into());
    (start.measured, start.against) = (Some(measured), Some(floor));

    let control = free_address()?;
    let process = start_double(&server.binary, &fixtures, Some(control))?;
    first_answer(&process, SETTINGS).await?;
    let mut connection = Connection::open(control).await?;
    let mut times = Vec::new();
    for _ in 0..RESETS {
        let before = Instant::now();
        connection.exchange(b"POST /reset HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n").await?;
        times.push(before.elapsed().as_secs_f64() * 1e3);
    }
    let reset = Figure {
        what: "test server: back to the fixtures".to_owned(),
        unit: "ms",
        measured: Some(times.into()),
        against: None,
        ratio: None,
        reach: Reach::AtMost(5.0),
        notes: Vec::new(),
    };
    drop(process);

    let before = Instant::now();
    let mut crowd = Vec::with_capacity(CROWD);
    for _ in 0..CROWD {
        crowd.push(start_double(&server.binary, &fixtures, Some(free_address()?))?);
    }
    for process in &crowd {
        first_answer(process, SETTINGS).await?;
    }
    let seconds = before.elapsed().as_secs_f64();
    let memory: Vec<f64> = crowd.iter().map(Process::resident_kib).collect::<Outcome<_>>()?;
    let mib = Spread::from(memory.iter().map(|kib| kib / 1024.0).collect::<Vec<_>>()).median();
    start.notes.push(format!(
        "{CROWD} at once: all answer after {} s, one after the other; {} MiB each",
        number(seconds),
        number(mib)
    ));
    Ok(vec![start, reset])
}

const SETTINGS: &[u8] = b"GET /api/v1/server_settings HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

async fn first_answer(process: &Process, request: &[u8]) -> Outcome<()> {
    Connection::open(process.address).await?.exchange(request).await?;
    Ok(())
}

fn start_double(binary: &Path, fixtures: &Path, control: Option<SocketAddr>) -> Outcome<Process> {
    let mut command = Command::new(binary);
    command.args(["serve", "--ephemeral", "--json", "--listen", "127.0.0.1:0", "--fixtures"]).arg(fixtures);
    if let Some(control) = control {
        command.arg("--test-control").arg(control.to_string());
    }
    Process::start(command)
}

/// Returns a free local address.
pub fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

fn write_fixtures(directory: &Path) -> Outcome<PathBuf> {
    let email = |number: usize| format!("user{number}@example.com");
    let users: Vec<_> = (0..10)
        .map(|number| {
            let role = if number == 0 { "owner" } else { "member" };
            json!({"email": email(number), "full_name": format!("User {number}"), "role": role,
                "api_key": format!("key {number}")})
        })
        .collect();
    let everybody: Vec<String> = (0..10).map(email).collect();
    let messages: Vec<_> = (0..100_u64)
        .map(|number| {
            json!({"sender": email(number as usize % 10), "channel": "general", "topic": text::topic(number),
                "content": text::sentence(number)})
        })
        .collect();
    let channels = json!([{"name": "general", "subscribers": everybody}]);
    let path = directory.join("fixtures.json");
    std::fs::write(&path, json!({"users": users, "channels": channels, "messages": messages}).to_string())?;
    Ok(path)
}
