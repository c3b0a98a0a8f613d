//! Resident memory: just started, of each long-poll that waits, and after logins, sends and reads.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::task::JoinSet;

use super::{Bench, Server, fresh, start_floor};
use crate::floor::Floor;
use crate::load::{self, Connection, check};
use crate::process::Process;
use crate::report::{Figure, Reach};
use crate::seed::{self, CHANNEL_OF_10, CHANNEL_WITH_HISTORY, USERS};
use crate::{Outcome, ours};

/// Number of polls for warming up, which are not counted.
const FIRST: u64 = 500;
/// Number of connections opened concurrently.
const OPENERS: u64 = 32;
/// Time for memory usage to settle.
const REST: Duration = Duration::from_millis(1500);
/// Files a process opens beside its sockets.
const SPARE_FILES: usize = 200;

const OWNER: &str = "owner@example.com";
/// Number of concurrent logins.
const LOGGING_IN: u64 = 4;
/// Maximum memory after the work has ended.
const AFTER_WORK_MIB: f64 = 24.0;

/// Memory usage of one side.
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
    let (mut after_logins, mut after_work) = (None, None);
    if let Some(server) = &bench.server {
        let file = fresh(bench, "idle")?;
        let owner = ours::create_owner(&server.binary, &file, OWNER)?;
        let idle = ours::start(&server.binary, &file)?;
        ours::until_ready(&idle).await?;
        tokio::time::sleep(REST).await;
        let idle_mib = idle.resident_kib()? / 1024.0;
        log_in(&idle, &owner.password, bench.logins).await?;
        after_logins = Some((idle_mib, idle.resident_kib()? / 1024.0));
        ours::stop(idle)?;
        after_work = Some(work(bench, server).await?);
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
    // Each is held against the same process before.
    let kept = |what, sides: Option<(f64, f64)>| {
        let (before, after) = sides.unzip();
        Figure {
            what,
            unit: "MiB",
            measured: after.map(|after| vec![after].into()),
            against: before.map(|before| vec![before].into()),
            ratio: None,
            reach: Reach::AtMost(AFTER_WORK_MIB),
            notes: Vec::new(),
        }
    };
    let logins = kept(format!("resident memory after {} logins", bench.logins), after_logins);
    let work =
        kept(format!("resident memory after {} s of sends and reads", bench.work.as_secs()), after_work);
    Ok(vec![idle, each, logins, work])
}

/// Logs in with a password, a few at a time.
async fn log_in(process: &Process, password: &str, logins: u64) -> Outcome<()> {
    let form: String = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("username", OWNER), ("password", password)])
        .finish();
    let request = format!(
        "POST /api/v1/fetch_api_key HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\n\r\n{form}",
        form.len()
    );
    let mut people = JoinSet::new();
    for person in 0..LOGGING_IN {
        let (address, request) = (process.address, request.clone());
        people.spawn(async move {
            let mut connection = Connection::open(address).await?;
            for _ in (person..logins).step_by(LOGGING_IN as usize) {
                check(&connection.exchange(request.as_bytes()).await?)?;
            }
            Outcome::Ok(())
        });
    }
    while let Some(finished) = people.join_next().await {
        finished??;
    }
    tokio::time::sleep(REST).await;
    Ok(())
}

/// The memory in MiB before and after sends and reads, each at 8 connections, with 10,000 messages in the file.
async fn work(bench: &Bench, server: &Server) -> Outcome<(f64, f64)> {
    let file = server.base.file_with(10_000, "work")?;
    let process = ours::start(&server.binary, &file)?;
    ours::until_ready(&process).await?;
    tokio::time::sleep(REST).await;
    let before = process.resident_kib()? / 1024.0;
    let account = seed::account(0);
    let sends = ours::send_message(&account, server.base.stream_id(CHANNEL_OF_10)?);
    let reads = ours::newest_messages(&account, CHANNEL_WITH_HISTORY);
    tokio::try_join!(
        load::drive(process.address, 8, bench.work, &sends),
        load::drive(process.address, 8, bench.work, &reads),
    )?;
    tokio::time::sleep(REST).await;
    Ok((before, process.resident_kib()? / 1024.0))
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
