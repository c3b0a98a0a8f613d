//! Resident memory: just started, and of each long-poll that waits.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::task::JoinSet;

use super::{Bench, fresh, start_floor};
use crate::floor::Floor;
use crate::load::Connection;
use crate::process::Process;
use crate::report::{Figure, Reach};
use crate::seed::{self, USERS};
use crate::{Outcome, ours};

/// The first ones only warm the server up: what they cost is not counted.
const FIRST: u64 = 500;
/// How many connections are opened at the same time.
const OPENERS: u64 = 32;
/// How long memory has to come to rest.
const REST: Duration = Duration::from_millis(1500);
/// Files a process opens beside its sockets.
const SPARE_FILES: usize = 200;

/// What one side needs.
struct Use {
    idle_mib: f64,
    waiting_kib: f64,
    all_mib: f64,
}

/// Idle on a new file, and per waiting long-poll with one queue for each of 10,000 users.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let waiting = USERS.min(bench.open_files.saturating_sub(SPARE_FILES) as u64);
    if waiting < 2 * FIRST {
        return Err(format!("only {} open files are allowed", bench.open_files).into());
    }
    let floor = start_floor(&Floor::Wait)?;
    // An answered request, so that the floor too has done something.
    let mut connection = Connection::open(floor.address).await?;
    connection.exchange(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}").await?;
    tokio::time::sleep(REST).await;
    let idle_mib = floor.resident_kib()? / 1024.0;
    let floor_use = with_waiting(&floor, waiting, idle_mib, wait_at_floor).await?;
    drop(floor);

    let mut server_use = None;
    if let Some(server) = &bench.server {
        let file = fresh(bench, "idle")?;
        ours::create_owner(&server.binary, &file, "owner@example.com")?;
        let idle = ours::start(&server.binary, &file)?;
        ours::until_ready(&idle).await?;
        tokio::time::sleep(REST).await;
        let idle_mib = idle.resident_kib()? / 1024.0;
        ours::stop(idle)?;
        let process = server.start_with(10_000, "memory").await?;
        server_use = Some(with_waiting(&process, waiting, idle_mib, wait_at_server).await?);
    }

    let figure = |what: String, unit, value: fn(&Use) -> f64, at_most| Figure {
        what,
        unit,
        measured: server_use.as_ref().map(|server| vec![value(server)].into()),
        against: Some(vec![value(&floor_use)].into()),
        ratio: None,
        reach: Reach::AtMost(at_most),
        notes: Vec::new(),
    };
    let idle = figure("resident memory, idle".to_owned(), "MiB", |side| side.idle_mib, 12.0);
    let mut each = figure(
        format!("resident memory of each of {waiting} long-polls"),
        "KiB",
        |side| side.waiting_kib,
        16.0,
    );
    for (name, side) in [("server", server_use.as_ref()), ("floor", Some(&floor_use))] {
        if let Some(side) = side {
            each.notes.push(format!("{name}: {:.1} MiB with all of them waiting", side.all_mib));
        }
    }
    Ok(vec![idle, each])
}

/// Lets readers wait and takes the memory of all but the first of them.
async fn with_waiting<Waiting>(
    process: &Process,
    waiting: u64,
    idle_mib: f64,
    wait: fn(SocketAddr, u64) -> Waiting,
) -> Outcome<Use>
where
    Waiting: Future<Output = Outcome<Connection>> + Send + 'static,
{
    let mut connections = open(process.address, 1..=FIRST, wait).await?;
    tokio::time::sleep(REST).await;
    let before = process.resident_kib()?;
    connections.extend(open(process.address, FIRST + 1..=waiting, wait).await?);
    tokio::time::sleep(REST).await;
    let after = process.resident_kib()?;
    let answered = connections.iter().filter(|connection| connection.has_something()).count();
    if answered > 0 {
        return Err(format!("{answered} of {waiting} long-polls did not wait").into());
    }
    Ok(Use { idle_mib, waiting_kib: (after - before) / (waiting - FIRST) as f64, all_mib: after / 1024.0 })
}

/// Opens a connection for each user, some at a time, and lets it wait.
async fn open<Waiting>(
    address: SocketAddr,
    users: std::ops::RangeInclusive<u64>,
    wait: fn(SocketAddr, u64) -> Waiting,
) -> Outcome<Vec<Connection>>
where
    Waiting: Future<Output = Outcome<Connection>> + Send + 'static,
{
    let mut openers = JoinSet::new();
    for opener in 0..OPENERS {
        let mine: Vec<u64> = users.clone().filter(|user| user % OPENERS == opener).collect();
        openers.spawn(async move {
            let mut connections = Vec::with_capacity(mine.len());
            for user in mine {
                connections.push(wait(address, user).await?);
            }
            Outcome::Ok(connections)
        });
    }
    let mut connections = Vec::new();
    while let Some(opened) = openers.join_next().await {
        connections.extend(opened??);
    }
    Ok(connections)
}

async fn wait_at_floor(address: SocketAddr, _user: u64) -> Outcome<Connection> {
    let mut connection = Connection::open(address).await?;
    connection.send(b"GET /?after=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").await?;
    Ok(connection)
}

async fn wait_at_server(address: SocketAddr, user: u64) -> Outcome<Connection> {
    let account = seed::account(user);
    let mut connection = Connection::open(address).await?;
    let queue = ours::register(&mut connection, &account).await?;
    connection.send(&queue.poll(&account)).await?;
    Ok(connection)
}
