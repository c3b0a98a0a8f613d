//! Sends while 10,000 people are notified of a message that they missed, by mail and on their phones, compared with sends before it;
//! and the emails and notifications that go out meanwhile.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{Bench, ratio};
use crate::load::{self, Sample};
use crate::report::{Figure, Reach, Spread, number};
use crate::seed::{self, CHANNEL_OF_10, CHANNEL_OF_10000};
use crate::{Outcome, ours};

/// The people in the channel beside the sender.
const PEOPLE: usize = 9_999;

const CONNECTIONS: usize = 16;

/// Maximum ratio of the response times.
const REACH: f64 = 2.0;

/// Minimum of emails and of notifications in a second. At these rates, all people are notified within nine and four minutes, if the
/// load goes on.
const EMAILS: f64 = 20.0;
const NOTIFICATIONS: f64 = 50.0;

/// The 99th percentile, and rates. Nothing without the server: it is held against itself.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let Some(server) = &bench.server else { return Ok(Vec::new()) };
    let file = server.base.file_with(10_000, "missed")?;
    seed::add_phones(&file)?;
    let (mail, bouncer) = (Sink::start(take_letters)?, Sink::start(take_notifications)?);
    let (smtp, push) =
        (format!("smtp://127.0.0.1:{}?tls=none", mail.port), format!("http://127.0.0.1:{}", bouncer.port));
    let arguments = [
        "--smtp-url",
        &smtp,
        "--mail-from",
        "chat@example.com",
        "--push-bouncer",
        &push,
        "--push-org-id",
        "6b9b4a3e-0c67-4f6c-9c2b-8d5c1f8a2e01",
        "--push-org-key",
        "key",
    ];
    let process = ours::start_with(&server.binary, &file, &arguments)?;
    ours::until_ready(&process).await?;
    let owner = seed::account(0);
    let send = ours::send_message(&owner, server.base.stream_id(CHANNEL_OF_10)?);
    load::drive(process.address, CONNECTIONS, bench.span / 3, &send).await?;
    let mut alone = Vec::new();
    for _ in 0..bench.rounds {
        alone.push(load::drive(process.address, CONNECTIONS, bench.span, &send).await?);
    }
    let to = server.base.stream_id(CHANNEL_OF_10000)?.to_string();
    let message = [("type", "channel"), ("to", &*to), ("topic", "missed"), ("content", "@**all** hello")];
    ours::call(process.address, &owner.post("/api/v1/messages", &message)).await?;
    let has_ended = || mail.count() >= PEOPLE && bouncer.count() >= PEOPLE;
    let mut beside = Vec::new();
    let (mut emails, mut notifications) = (Vec::new(), Vec::new());
    while beside.len() < bench.rounds {
        let (mailed, notified) = (mail.count(), bouncer.count());
        let sample = load::drive(process.address, CONNECTIONS, bench.span, &send).await?;
        // A turn in which the work ends is no turn beside it, unless there is no other.
        let is_last = has_ended();
        if !is_last || beside.is_empty() {
            emails.push((mail.count() - mailed) as f64 / sample.seconds);
            notifications.push((bouncer.count() - notified) as f64 / sample.seconds);
            beside.push(sample);
        }
        if is_last {
            break;
        }
    }
    let latency = |samples: &[Sample], share| -> Spread {
        samples.iter().map(|sample| sample.latency(share)).collect::<Vec<_>>().into()
    };
    let (measured, against) = (latency(&beside, 0.99), latency(&alone, 0.99));
    let medians = [&alone, &beside].map(|samples| number(latency(samples, 0.5).median() / 1e3));
    let notes = vec![format!(
        "{} of {PEOPLE} emails and {} of {PEOPLE} notifications went out in {} turns; p50 {} ms alone, {} ms beside",
        mail.count(),
        bouncer.count(),
        beside.len(),
        medians[0],
        medians[1],
    )];
    Ok(vec![
        Figure {
            what: "send while 10,000 people are notified of a missed message, 99 of 100".to_owned(),
            unit: "us",
            ratio: ratio(Some(&measured), Some(&against)),
            measured: Some(measured),
            against: Some(against),
            reach: Reach::AtMost(REACH),
            notes,
        },
        rate("emails to them beside these sends", emails, EMAILS),
        rate("notifications of their phones beside these sends", notifications, NOTIFICATIONS),
    ])
}

/// The rates of turns.
fn rate(what: &str, values: Vec<f64>, at_least: f64) -> Figure {
    Figure {
        what: what.to_owned(),
        unit: "/s",
        measured: Some(values.into()),
        against: None,
        ratio: None,
        reach: Reach::AtLeast(at_least),
        notes: Vec::new(),
    }
}

/// Another server, which takes all that it gets.
struct Sink {
    port: u16,
    count: Arc<AtomicUsize>,
}

impl Sink {
    /// Listens, with threads of its own: those that measure do not wait for them.
    fn start(take: fn(TcpStream, &AtomicUsize) -> io::Result<()>) -> Outcome<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let count = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&count);
        thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let counted = Arc::clone(&counted);
                // A server that is stopped closes its connections.
                thread::spawn(move || drop(take(stream, &counted)));
            }
        });
        Ok(Self { port, count })
    }

    /// The number of what it got.
    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

/// A conversation of SMTP.
fn take_letters(stream: TcpStream, count: &AtomicUsize) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    reader.get_mut().write_all(b"220 sink\r\n")?;
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut answer: &[u8] = b"250 OK\r\n";
        if line.starts_with("DATA") {
            reader.get_mut().write_all(b"354 go on\r\n")?;
            while line != ".\r\n" {
                line.clear();
                if reader.read_line(&mut line)? == 0 {
                    return Ok(());
                }
            }
            count.fetch_add(1, Ordering::Relaxed);
        } else if line.starts_with("QUIT") {
            answer = b"221 bye\r\n";
        }
        reader.get_mut().write_all(answer)?;
    }
}

/// A request to the push bouncer.
fn take_notifications(stream: TcpStream, count: &AtomicUsize) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            // The line of the request, or the empty one at the end of the head.
            if line.trim_end().is_empty() {
                break;
            }
            continue;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    count.fetch_add(1, Ordering::Relaxed);
    let body = r#"{"result": "success", "msg": ""}"#;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    reader.get_mut().write_all(format!("{head}{body}").as_bytes())
}
