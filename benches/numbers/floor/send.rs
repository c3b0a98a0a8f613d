//! The floor of sending: one thread with the writing connection commits all waiting requests, then answers.
//!
//! A message row and a search row for each send, with the durability and the search table of the server under test.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use rusqlite::{Connection, params};
use tokio::sync::oneshot;

use super::json;
use crate::Outcome;

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE message (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        stream_id INTEGER NOT NULL,
        sender_id INTEGER NOT NULL,
        timestamp INTEGER NOT NULL,
        subject TEXT NOT NULL,
        content TEXT NOT NULL
    ) STRICT;
    CREATE VIRTUAL TABLE message_search USING fts5 (
        content, subject, content = '', contentless_delete = 1,
        tokenize = 'porter unicode61 remove_diacritics 2'
    );";

/// The most sends in one commit.
const GROUP: usize = 1024;

struct Job {
    stream_id: i64,
    subject: String,
    content: String,
    /// The id of the message, once it is on the disk.
    reply: oneshot::Sender<i64>,
}

/// Serves `POST` of the form of `POST /api/v1/messages`.
pub async fn serve(path: PathBuf) -> Outcome<()> {
    #[expect(clippy::disallowed_methods, reason = "a floor shares no code with the server")]
    let connection = Connection::open(path)?;
    connection.execute_batch(SCHEMA)?;
    let (jobs, waiting) = channel();
    thread::spawn(move || {
        if let Err(error) = write(&connection, &waiting) {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "the floor cannot write: {error}");
            std::process::exit(1);
        }
    });
    super::serve(move |request| answer(request, jobs.clone())).await
}

async fn answer(request: Request<Incoming>, jobs: Sender<Job>) -> Response<Full<Bytes>> {
    let Ok(body) = request.into_body().collect().await else {
        return json(400, "{}");
    };
    let (reply, committed) = oneshot::channel();
    let mut job = Job { stream_id: 0, subject: String::new(), content: String::new(), reply };
    for (name, value) in form_urlencoded::parse(&body.to_bytes()) {
        match &*name {
            "to" => job.stream_id = value.parse().unwrap_or_default(),
            "topic" => job.subject = value.into_owned(),
            "content" => job.content = value.into_owned(),
            _ => {}
        }
    }
    if jobs.send(job).is_err() {
        return json(500, "{}");
    }
    match committed.await {
        Ok(id) => json(200, format!(r#"{{"result":"success","msg":"","id":{id}}}"#)),
        Err(_) => json(500, "{}"),
    }
}

fn write(connection: &Connection, waiting: &Receiver<Job>) -> rusqlite::Result<()> {
    let mut insert = connection.prepare(
        "INSERT INTO message (stream_id, sender_id, timestamp, subject, content) VALUES (?, 1, unixepoch(), ?, ?)",
    )?;
    let mut insert_words =
        connection.prepare("INSERT INTO message_search (rowid, content, subject) VALUES (?, ?, ?)")?;
    let mut replies = Vec::new();
    while let Ok(first) = waiting.recv() {
        let transaction = connection.unchecked_transaction()?;
        let mut next = Some(first);
        while let Some(job) = next {
            let id = insert.insert(params![job.stream_id, job.subject, job.content])?;
            insert_words.execute(params![id, job.content, job.subject])?;
            replies.push((job.reply, id));
            next = if replies.len() < GROUP { waiting.try_recv().ok() } else { None };
        }
        transaction.commit()?;
        for (reply, id) in replies.drain(..) {
            // A client that left needs no answer.
            let _ = reply.send(id);
        }
    }
    Ok(())
}
