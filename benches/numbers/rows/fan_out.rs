//! One message to 1,000 waiting long-polls against one body to 1,000 waiting GETs.
//!
//! The clock runs from before the message is posted until a reader holds the whole event, so the server's time holds
//! the commit to disk; the floor commits nothing.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{Bench, ratio, split, start_floor};
use crate::Outcome;
use crate::floor::Floor;
use crate::load::{self, Connection};
use crate::ours::{self, Account, Queue};
use crate::report::{Figure, Reach, Spread};
use crate::seed::{self, CHANNEL_OF_1000};

const WAITING: u64 = 1_000;

/// Time for the server to accept 1,000 polls before the message is posted.
const SETTLE: Duration = Duration::from_millis(150);

/// One reader and how it asks for the next message.
struct Reader {
    connection: Connection,
    asks: Asks,
}

enum Asks {
    Server(Account, Queue),
    /// The number of the last body.
    Floor(u64),
}

/// One side: its readers, and who posts.
struct Crowd {
    name: &'static str,
    address: SocketAddr,
    readers: Vec<Reader>,
    /// Milliseconds of each round until half of the readers had it, until all had it, until the sender was answered.
    rounds: Vec<[f64; 3]>,
}

/// The median and the last delivery, and the answer to the sender.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let floor_process = start_floor(&Floor::Wait)?;
    let mut floor =
        Crowd { name: "floor", address: floor_process.address, readers: Vec::new(), rounds: Vec::new() };
    for _ in 0..WAITING {
        let connection = Connection::open(floor.address).await?;
        floor.readers.push(Reader { connection, asks: Asks::Floor(0) });
    }
    let mut delivered = vec![b' '; 1_000];
    let mut crowds = Vec::new();
    let mut server_process = None;
    let mut stream_id = 1;
    if let Some(server) = &bench.server {
        let process = server.start_with(10_000, "fan-out").await?;
        stream_id = server.base.stream_id(CHANNEL_OF_1000)?;
        let mut crowd =
            Crowd { name: "server", address: process.address, readers: Vec::new(), rounds: Vec::new() };
        for user in 1..=WAITING {
            let account = seed::account(user);
            let mut connection = Connection::open(crowd.address).await?;
            let queue = ours::register(&mut connection, &account).await?;
            crowd.readers.push(Reader { connection, asks: Asks::Server(account, queue) });
        }
        // A first delivery, which does not count, shows how long the floor's body has to be.
        delivered = crowd.deliver(&message(stream_id, 0)).await?;
        crowd.rounds.clear();
        crowds.push(crowd);
        server_process = Some(process);
    }
    let body = format!("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n\r\n", delivered.len());
    let floor_request = [body.as_bytes(), &delivered].concat();
    floor.deliver(&floor_request).await?;
    floor.rounds.clear();
    crowds.push(floor);

    for round in 0..bench.rounds as u64 * 3 {
        for crowd in &mut crowds {
            let request =
                if crowd.name == "server" { message(stream_id, round + 1) } else { floor_request.clone() };
            crowd.deliver(&request).await?;
        }
    }
    drop(server_process);

    let notes = vec![format!("{} bytes a delivery", delivered.len())];
    let figure = |what: &str, column, at_most, notes| {
        let (measured, against) = split(&crowds, |crowd: &Crowd| crowd.spread(column));
        Figure {
            what: format!("one message to {WAITING} waiting queues, {what}"),
            unit: "ms",
            ratio: ratio(measured.as_ref(), against.as_ref()),
            measured,
            against,
            reach: Reach::AtMost(at_most),
            notes,
        }
    };
    Ok(vec![
        figure("median delivery", 0, 1.2, notes),
        figure("last delivery", 1, 1.5, Vec::new()),
        figure("answer to the sender", 2, 2.0, Vec::new()),
    ])
}

fn message(stream_id: i64, number: u64) -> Vec<u8> {
    let mut request = Vec::new();
    ours::send_message(&seed::account(0), stream_id)(number, &mut request);
    request
}

impl Crowd {
    fn spread(&self, column: usize) -> Spread {
        self.rounds.iter().map(|round| round[column]).collect::<Vec<_>>().into()
    }

    /// Lets all readers wait, posts, and measures the time of every delivery. Returns the body of the last reader.
    async fn deliver(&mut self, request: &[u8]) -> Outcome<Vec<u8>> {
        let mut waiting = JoinSet::new();
        for reader in self.readers.drain(..) {
            waiting.spawn(reader.wait());
        }
        let mut sender = Connection::open(self.address).await?;
        tokio::time::sleep(SETTLE).await;
        let posted = Instant::now();
        let answered = {
            let answer = sender.exchange(request).await?;
            load::check(&answer)?;
            posted.elapsed()
        };
        let mut times = Vec::with_capacity(waiting.len());
        let mut delivered = Vec::new();
        let mut finished = Vec::with_capacity(waiting.len());
        while let Some(delivery) = waiting.join_next().await {
            finished.push(delivery??);
        }
        // Bodies are read only after the last delivery.
        for (mut reader, at, body) in finished {
            reader.acknowledge(&body)?;
            self.readers.push(reader);
            times.push(at.saturating_duration_since(posted).as_secs_f64() * 1e3);
            delivered = body;
        }
        times.sort_by(f64::total_cmp);
        let last = times.last().copied().unwrap_or(f64::NAN);
        self.rounds.push([Spread::from(times).median(), last, answered.as_secs_f64() * 1e3]);
        Ok(delivered)
    }
}

impl Reader {
    /// Asks, waits, and returns with the moment of the delivery and its body.
    async fn wait(mut self) -> Outcome<(Self, Instant, Vec<u8>)> {
        let request = match &self.asks {
            Asks::Server(account, queue) => queue.poll(account),
            Asks::Floor(number) => {
                format!("GET /?after={number} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").into_bytes()
            }
        };
        let answer = self.connection.exchange(&request).await?;
        let at = Instant::now();
        load::check(&answer)?;
        let body = answer.body.to_vec();
        Ok((self, at, body))
    }

    /// Sets the next request to acknowledge this delivery, which must be one message.
    fn acknowledge(&mut self, body: &[u8]) -> Outcome<()> {
        match &mut self.asks {
            Asks::Server(_, queue) => queue.last_event_id = message_event_id(body)?,
            Asks::Floor(number) => *number += 1,
        }
        Ok(())
    }
}

/// The id of the one event of an answer, which must be a message.
fn message_event_id(body: &[u8]) -> Outcome<i64> {
    let answer: serde_json::Value = serde_json::from_slice(body)?;
    match answer["events"].as_array().map(Vec::as_slice) {
        Some([event]) if event["type"] == "message" => {
            Ok(event["id"].as_i64().ok_or("an event without its id")?)
        }
        _ => Err(format!("not one message: {}", String::from_utf8_lossy(body)).into()),
    }
}
