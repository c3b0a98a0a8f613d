//! The floor of reading: one prepared statement on a connection per worker thread, rows written as JSON by hand.
//!
//! A row has as many fields and as many bytes as a message of the server under test.

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use rusqlite::{Connection, OpenFlags, params};

use super::json;
use crate::{Outcome, text};

/// The channels that the rows are spread over.
const CHANNELS: u64 = 20;

/// The channel that is read.
const READ_CHANNEL: u64 = 1;

const NEWEST: &str = "SELECT id, sender_id, timestamp, subject, content, sender_full_name, sender_email
    FROM message WHERE stream_id = ? ORDER BY id DESC LIMIT 100";

thread_local! {
    static READER: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

/// Creates the file that [`serve`] reads: messages of about `bytes` bytes of JSON each.
pub fn create(path: &Path, messages: u64, bytes: usize) -> Outcome<()> {
    #[expect(clippy::disallowed_methods, reason = "a floor shares no code with the server")]
    let mut connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         CREATE TABLE message (
             id INTEGER PRIMARY KEY,
             stream_id INTEGER NOT NULL,
             sender_id INTEGER NOT NULL,
             timestamp INTEGER NOT NULL,
             subject TEXT NOT NULL,
             content TEXT NOT NULL,
             sender_full_name TEXT NOT NULL,
             sender_email TEXT NOT NULL
         ) STRICT;
         CREATE INDEX message_stream ON message (stream_id);",
    )?;
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
        for id in 1..=messages {
            let mut row = Row {
                id: id as i64,
                sender_id: (id % 100) as i64,
                timestamp: 1_760_000_000 + id as i64,
                subject: &text::topic(id / CHANNELS),
                content: "",
                sender_full_name: &format!("User {}", id % 100),
                sender_email: &format!("user{}@example.com", id % 100),
            };
            let mut without_content = Vec::new();
            write_row(&mut without_content, &row);
            let mut content = String::from("<p>");
            let wanted = bytes.saturating_sub(without_content.len() + "<p></p>".len());
            let mut sentences = id;
            while content.len() < wanted {
                content.push_str(&text::sentence(sentences));
                sentences += 1;
            }
            content.truncate("<p>".len() + wanted);
            content.push_str("</p>");
            row.content = &content;
            insert.execute(params![
                row.id,
                (id % CHANNELS) as i64,
                row.sender_id,
                row.timestamp,
                row.subject,
                row.content,
                row.sender_full_name,
                row.sender_email
            ])?;
        }
    }
    transaction.commit()?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

/// Answers every request with the newest 100 messages of one channel, oldest first.
pub async fn serve(path: PathBuf) -> Outcome<()> {
    super::serve(move |_request| {
        let answer = newest(&path);
        async move { answer }
    })
    .await
}

fn newest(path: &Path) -> Response<Full<Bytes>> {
    let body = READER.with_borrow_mut(|reader| {
        let connection = match reader {
            Some(connection) => connection,
            None => reader.insert(open(path)?),
        };
        write_newest(connection)
    });
    match body {
        Ok(body) => json(200, body),
        Err(error) => json(500, error.to_string()),
    }
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    #[expect(clippy::disallowed_methods, reason = "a floor shares no code with the server")]
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

fn write_newest(connection: &Connection) -> rusqlite::Result<Vec<u8>> {
    let mut statement = connection.prepare_cached(NEWEST)?;
    let mut rows = statement.query([READ_CHANNEL as i64])?;
    let mut written = Vec::with_capacity(64 * 1024);
    let mut places: Vec<Range<usize>> = Vec::with_capacity(100);
    while let Some(row) = rows.next()? {
        let start = written.len();
        write_row(
            &mut written,
            &Row {
                id: row.get(0)?,
                sender_id: row.get(1)?,
                timestamp: row.get(2)?,
                subject: row.get_ref(3)?.as_str()?,
                content: row.get_ref(4)?.as_str()?,
                sender_full_name: row.get_ref(5)?.as_str()?,
                sender_email: row.get_ref(6)?.as_str()?,
            },
        );
        places.push(start..written.len());
    }
    let mut body = Vec::with_capacity(written.len() + 256);
    body.extend_from_slice(
        br#"{"result":"success","msg":"","found_anchor":false,"found_newest":true,"found_oldest":false,"#,
    );
    body.extend_from_slice(br#""history_limited":false,"anchor":10000000000000000,"messages":["#);
    for (index, place) in places.into_iter().rev().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(&written[place]);
    }
    body.extend_from_slice(b"]}");
    Ok(body)
}

struct Row<'a> {
    id: i64,
    sender_id: i64,
    timestamp: i64,
    subject: &'a str,
    content: &'a str,
    sender_full_name: &'a str,
    sender_email: &'a str,
}

fn write_row(out: &mut Vec<u8>, row: &Row<'_>) {
    use std::io::Write as _;
    // Writing into a Vec cannot fail.
    let _ = write!(
        out,
        r#"{{"id":{},"sender_id":{},"timestamp":{},"stream_id":{READ_CHANNEL},"recipient_id":17,"subject":""#,
        row.id, row.sender_id, row.timestamp
    );
    write_escaped(out, row.subject);
    out.extend_from_slice(br#"","content":""#);
    write_escaped(out, row.content);
    out.extend_from_slice(br#"","sender_full_name":""#);
    write_escaped(out, row.sender_full_name);
    out.extend_from_slice(br#"","sender_email":""#);
    write_escaped(out, row.sender_email);
    out.extend_from_slice(br#"","type":"stream","content_type":"text/html","client":"numbers","#);
    out.extend_from_slice(br#""display_recipient":"channel 1","is_me_message":false,"avatar_url":null,"#);
    out.extend_from_slice(br#""sender_realm_str":"","topic_links":[],"reactions":[],"submessages":[],"#);
    out.extend_from_slice(br#""flags":["read"]}"#);
}

/// Writes escaped JSON text, copying runs without special characters.
fn write_escaped(out: &mut Vec<u8>, text: &str) {
    use std::io::Write as _;
    let bytes = text.as_bytes();
    let mut written = 0;
    for (index, byte) in bytes.iter().enumerate() {
        if *byte >= b' ' && *byte != b'"' && *byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[written..index]);
        match byte {
            b'"' => out.extend_from_slice(br#"\""#),
            b'\\' => out.extend_from_slice(br"\\"),
            b'\n' => out.extend_from_slice(br"\n"),
            // Writing into a Vec cannot fail.
            control => drop(write!(out, r"\u{control:04x}")),
        }
        written = index + 1;
    }
    out.extend_from_slice(&bytes[written..]);
}
