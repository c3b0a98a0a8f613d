//! The longest time that each kind of background work holds the writer, under the input that is worst for it: messages of as
//! many emoji as there may be, which are edited, deleted and expire; a large file; and a queue that lets the log grow. Sends and
//! `/health` are measured beside this work.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{Bench, Server, double};
use crate::load::{Connection, MakeRequest, Sample, check};
use crate::process::Process;
use crate::report::{Figure, Reach, number};
use crate::seed::{self, CHANNEL_OF_10};
use crate::{Outcome, ours, progress};

/// The most milliseconds of one job: five, and the step that exceeds them.
const AT_MOST_MS: f64 = 15.0;
/// Words that share their stems with those of all other messages.
const WORDS: usize = 100;
/// Messages with these stems: with one more, the purge would not look at them.
const SHARING: usize = 19;
/// Emoji that fill a message.
const EMOJI: usize = 9_000;
/// Messages of a topic that is deleted at once, and of one that expires.
const LONG_MESSAGES: usize = 200;
/// The ends of words that their stem does not have.
const ENDINGS: [&str; 6] = ["s", "ed", "ing", "ness", "ful", "ly"];
/// Time for all of the work.
const PATIENCE: Duration = Duration::from_secs(300);
/// The time between two looks at the figures of the work.
const WINDOW: Duration = Duration::from_secs(2);
/// Sends beside the work start this far apart, however long they take.
const SEND_EVERY: Duration = Duration::from_millis(20);
/// Connections that send in turns.
const SENDERS: u32 = 8;
/// The same for requests of `/health`.
const PROBE_EVERY: Duration = Duration::from_millis(100);
/// The most milliseconds of 99 of 100 sends beside the work.
const SEND_AT_MOST_MS: f64 = 50.0;

/// One figure for each kind of work, and those of sends and of `/health` beside it.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let Some(server) = &bench.server else { return Ok(Vec::new()) };
    let file = server.base.file_with(10_000, "background")?;
    // In two runs: what is due in hours or days is made due between them.
    let (process, metrics) = start(server, &file).await?;
    make_work(server, process.address).await?;
    let mut longest = figures(metrics).await?;
    ours::stop(process)?;
    make_due(&file)?;
    let (process, metrics) = start(server, &file).await?;
    let send = ours::send_message(&seed::account(0), server.base.stream_id(CHANNEL_OF_10)?);
    let is_over = Cell::new(false);
    let ((jobs, busy), mut sends, statuses) = tokio::try_join!(
        until_ended(metrics, &is_over),
        send_steadily(process.address, &send, &is_over),
        probe_steadily(process.address, &is_over),
    )?;
    drop(process);
    for (job, figure) in jobs {
        let add = |known: &mut Job| {
            known.jobs += figure.jobs;
            known.longest = known.longest.max(figure.longest);
        };
        longest.entry(job).and_modify(add).or_insert(figure);
    }
    let figure = |(job, Job { jobs, longest }): (String, Job)| Figure {
        what: format!("the writer at a time: {job}"),
        unit: "ms",
        measured: Some(vec![longest * 1e3].into()),
        against: None,
        ratio: None,
        reach: Reach::AtMost(AT_MOST_MS),
        notes: vec![format!("{job}: {jobs} jobs")],
    };
    let mut figures: Vec<Figure> = longest.into_iter().map(figure).collect();
    sends.retain(|(due, _)| busy.iter().any(|window| window.contains(due)));
    let mut latencies: Vec<u32> = sends.into_iter().map(|(_, latency)| latency).collect();
    latencies.sort_unstable();
    let seconds: f64 = busy.iter().map(|window| (window.end - window.start).as_secs_f64()).sum();
    let sample = Sample { answers: latencies.len(), seconds, latencies };
    let [median, last, most] = [0.5, 0.99, 1.0].map(|share| sample.latency(share) / 1e3);
    figures.push(Figure {
        what: "a send beside the background work, 99 of 100".to_owned(),
        unit: "ms",
        measured: Some(vec![last].into()),
        against: None,
        ratio: None,
        reach: Reach::AtMost(SEND_AT_MOST_MS),
        notes: vec![format!(
            "{} sends in {} s; p50 {} ms, the longest {} ms",
            sample.answers,
            number(sample.seconds),
            number(median),
            number(most)
        )],
    });
    let failed = statuses.iter().filter(|status| **status != Some(200)).count();
    figures.push(Figure {
        what: "answers of /health beside it that are not 200".to_owned(),
        unit: "",
        measured: Some(vec![failed as f64].into()),
        against: None,
        ratio: None,
        reach: Reach::AtMost(0.0),
        notes: vec![format!("of {} requests", statuses.len())],
    });
    Ok(figures)
}

/// Waits until the background work has ended, and sets `is_over`. Returns its figures, and the times in which there was some.
async fn until_ended(
    metrics: SocketAddr,
    is_over: &Cell<bool>,
) -> Outcome<(BTreeMap<String, Job>, Vec<Range<Instant>>)> {
    let (begun, mut before, mut busy) = (Instant::now(), BTreeMap::new(), Vec::new());
    loop {
        let start = Instant::now();
        tokio::time::sleep(WINDOW).await;
        let now = figures(metrics).await?;
        // The index is merged after the words are removed; the event log is trimmed within a minute.
        let has_ended = ["search_index_merge", "event_log"].iter().all(|job| now.contains_key(*job));
        if now != before {
            busy.push(start..Instant::now());
        } else if has_ended {
            is_over.set(true);
            return Ok((now, busy));
        }
        if begun.elapsed() > PATIENCE {
            return Err("the background work did not end".into());
        }
        before = now;
    }
}

/// Sends a message at regular times until the work is over, on several connections in turns, so that a slow send does not delay the
/// next ones. Returns when each was due, and the microseconds from then to its answer.
async fn send_steadily(
    address: SocketAddr,
    send: &MakeRequest,
    is_over: &Cell<bool>,
) -> Outcome<Vec<(Instant, u32)>> {
    let first = Instant::now();
    let senders = (0..SENDERS).map(|sender| send_on_one(address, send, is_over, first, sender));
    Ok(futures_util::future::try_join_all(senders).await?.concat())
}

async fn send_on_one(
    address: SocketAddr,
    send: &MakeRequest,
    is_over: &Cell<bool>,
    first: Instant,
    sender: u32,
) -> Outcome<Vec<(Instant, u32)>> {
    let mut connection = Connection::open(address).await?;
    let mut times = tokio::time::interval_at(first + SEND_EVERY * sender, SEND_EVERY * SENDERS);
    let (mut request, mut sends) = (Vec::new(), Vec::new());
    while !is_over.get() {
        let due = times.tick().await;
        request.clear();
        send(u64::from(sender) << 32 | sends.len() as u64, &mut request);
        check(&connection.exchange(&request).await?)?;
        sends.push((due, u32::try_from(due.elapsed().as_micros()).unwrap_or(u32::MAX)));
    }
    Ok(sends)
}

/// Requests `/health` at regular times until the work is over, as monitors do: each on a connection of its own. Returns the
/// statuses; `None` without an answer.
async fn probe_steadily(address: SocketAddr, is_over: &Cell<bool>) -> Outcome<Vec<Option<u16>>> {
    let mut times = tokio::time::interval(PROBE_EVERY);
    let mut statuses = Vec::new();
    while !is_over.get() {
        times.tick().await;
        statuses.push(status_of_health(address).await.ok());
    }
    Ok(statuses)
}

async fn status_of_health(address: SocketAddr) -> Outcome<u16> {
    let mut connection = Connection::open(address).await?;
    Ok(connection.exchange(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").await?.status)
}

/// Figures of one kind of background work.
#[derive(Clone, Copy, PartialEq)]
struct Job {
    jobs: u64,
    /// In seconds.
    longest: f64,
}

async fn start(server: &Server, file: &Path) -> Outcome<(Process, SocketAddr)> {
    let metrics = double::free_address()?;
    let process = ours::start_with(&server.binary, file, &["--metrics", &metrics.to_string()])?;
    ours::until_ready(&process).await?;
    Ok((process, metrics))
}

/// Sends, edits and deletes what the background work is about.
async fn make_work(server: &Server, address: SocketAddr) -> Outcome<()> {
    let (owner, to) = (seed::account(0), server.base.stream_id(CHANNEL_OF_10)?.to_string());
    let mut connection = Connection::open(address).await?;
    let mut call = async |request: Vec<u8>| -> Outcome<Value> {
        let answer = connection.exchange(&request).await?;
        check(&answer)?;
        Ok(serde_json::from_slice(answer.body)?)
    };
    let send = |topic: &str, content: &str| {
        let parameters = [("type", "channel"), ("to", &*to), ("topic", topic), ("content", content)];
        owner.post("/api/v1/messages", &parameters)
    };
    let emoji = format!("\n```\n{}\n```", "\u{1f600}".repeat(EMOJI));
    let words = |ending: &str| {
        let word = |number: usize| format!("bak{}dp{ending}", letters(number));
        (0..WORDS).map(word).collect::<Vec<_>>().join(" ")
    };
    // Waits for each edit, and acknowledges none.
    call(owner.post("/api/v1/register", &[("event_types", r#"["update_message"]"#)])).await?;
    progress("background: words");
    for _ in 0..SHARING {
        call(send("words", &format!("{}{emoji}", words("")))).await?;
    }
    let edited = call(send("words", "start")).await?["id"].clone();
    for ending in ENDINGS.iter().cycle().take(60) {
        let content = format!("{}{emoji}", words(ending));
        let form = form_urlencoded::Serializer::new(String::new()).append_pair("content", &content).finish();
        let line = format!("PATCH /api/v1/messages/{edited}");
        call(owner.request(&line, "application/x-www-form-urlencoded", form.as_bytes())).await?;
    }
    let line = format!("DELETE /api/v1/messages/{edited}");
    call(owner.request(&line, "application/x-www-form-urlencoded", b"")).await?;
    progress("background: long messages");
    for number in 0..LONG_MESSAGES {
        call(send("deleted", &format!("{} {number}{emoji}", words("")))).await?;
        call(send("expired", &format!("{} {number}{emoji}", words("")))).await?;
    }
    let search = r#"[["search", "start"]]"#;
    call(owner.get(
        "/api/v1/messages",
        &[("anchor", "newest"), ("num_before", "1"), ("num_after", "0"), ("narrow", search)],
    ))
    .await?;
    let delete = format!("/api/v1/streams/{to}/delete_topic");
    while call(owner.post(&delete, &[("topic_name", "deleted")])).await?["complete"] != true {}
    progress("background: a file");
    let body = [
        &b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n"[..],
        &vec![b'x'; 64 << 20],
        b"\r\n--b--\r\n",
    ];
    let upload = "POST /api/v1/user_uploads";
    call(owner.request(upload, "multipart/form-data; boundary=b", &body.concat())).await?;
    let files = call(owner.get("/api/v1/attachments", &[])).await?;
    let line = format!("DELETE /api/v1/attachments/{}", files["attachments"][0]["id"]);
    call(owner.request(&line, "application/x-www-form-urlencoded", b"")).await?;
    Ok(())
}

/// A number as emails.
fn letters(number: usize) -> String {
    const VOWELS: [char; 5] = ['a', 'e', 'i', 'o', 'u'];
    let digit = |value: usize| VOWELS[value % VOWELS.len()];
    [digit(number), 'k', digit(number / 5), 'n', digit(number / 25)].iter().collect()
}

/// Makes the purge due, and lets the messages of a topic expire.
fn make_due(file: &Path) -> Outcome<()> {
    seed::open(file)?.execute_batch(
        "INSERT OR REPLACE INTO search_purge (due) VALUES (0);
         INSERT OR REPLACE INTO realm_setting (property, value) VALUES ('message_retention_days', '1');
         UPDATE message SET timestamp = 1;",
    )?;
    Ok(())
}

/// The figures of background work, from the metrics of the server.
async fn figures(metrics: SocketAddr) -> Outcome<BTreeMap<String, Job>> {
    let mut connection = Connection::open(metrics).await?;
    let answer = connection.exchange(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").await?;
    check(&answer)?;
    let text = String::from_utf8_lossy(answer.body);
    let values = |name: &str| -> BTreeMap<String, f64> {
        let start = format!("{name}{{job=\"");
        let lines = text.lines().filter_map(|line| line.strip_prefix(&*start)?.split_once("\"} "));
        lines.filter_map(|(job, value)| Some((job.to_owned(), value.parse().ok()?))).collect()
    };
    let mut longest = values("teamchat_writer_background_longest_seconds");
    let jobs = values("teamchat_writer_background_jobs_total").into_iter();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of jobs")]
    let job = |(name, jobs): (String, f64)| {
        let longest = longest.remove(&name).unwrap_or(f64::NAN);
        (name, Job { jobs: jobs as u64, longest })
    };
    Ok(jobs.map(job).collect())
}
