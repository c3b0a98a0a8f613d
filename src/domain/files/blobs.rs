//! The contents of files. They are written and read in chunks, so that no file is in memory as a whole, and jobs and
//! snapshots are short.

use crate::app::App;
use crate::http::{ApiError, ApiResult, BodyStream};
use crate::store::Tx;
use crate::types::UserId;
use bytes::Bytes;
use futures_util::stream::try_unfold;
use rusqlite::{Connection, OptionalExtension};
use std::ops::Range;
use std::sync::Arc;

/// The length of a chunk, in bytes. Writing one takes a few milliseconds.
pub const PIECE: usize = 256 * 1024;

/// An upload that has not written for this many seconds has ended. Connections without data time out much sooner.
const UPLOAD_TIMEOUT: i64 = 10 * 60;

/// The unfinished upload of somebody who has not written for this many seconds takes no room from others.
const SILENCE: i64 = 15;

/// The most chunks that one job deletes, which overwrites them.
const DELETED_PER_JOB: i64 = 8;

/// The content of an upload in progress. It is not visible before a file refers to it.
pub struct Incoming {
    app: Arc<App>,
    /// Identifies the content.
    pub content_id: i64,
    /// The bytes so far, also those that are not written yet.
    pub size: u64,
    next_piece: i64,
    buffer: Vec<u8>,
}

impl Incoming {
    /// Inserts an empty content, which counts for a person until it is finished.
    pub async fn begin(app: Arc<App>, accountable: UserId) -> ApiResult<Self> {
        let insert = move |tx: &mut Tx<'_>| Ok::<_, ApiError>(insert(tx, accountable, tx.now())?);
        let content_id = app.writer.run(insert).await?;
        Ok(Self { app, content_id, size: 0, next_piece: 0, buffer: Vec::new() })
    }

    /// Appends bytes, and writes each chunk that is full.
    pub async fn write(&mut self, mut bytes: Bytes) -> ApiResult<()> {
        self.size += bytes.len() as u64;
        while !bytes.is_empty() {
            let fits = bytes.split_to(bytes.len().min(PIECE - self.buffer.len()));
            self.buffer.reserve_exact(PIECE - self.buffer.len());
            self.buffer.extend_from_slice(&fits);
            if self.buffer.len() == PIECE {
                self.flush().await?;
            }
        }
        Ok(())
    }

    /// Writes the buffered bytes. Fails with 408 if the content was deleted since, because the upload took too long.
    pub async fn flush(&mut self) -> ApiResult<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let (bytes, number, content_id) =
            (std::mem::take(&mut self.buffer), self.next_piece, self.content_id);
        self.next_piece += 1;
        let written = self.app.writer.run(move |tx| {
            let is_there = postpone_removal(tx, content_id, tx.now())?;
            if is_there {
                insert_piece(tx, content_id, number, &bytes)?;
            }
            Ok::<_, ApiError>(is_there)
        });
        let too_late = || ApiError::new(408, "REQUEST_TIMEOUT", "The request body did not arrive in time");
        if written.await? { Ok(()) } else { Err(too_late()) }
    }

    /// Schedules the deletion of the written chunks.
    pub async fn abort(self) -> ApiResult<()> {
        let content_id = self.content_id;
        self.app.writer.run(move |tx| Ok(schedule_deletion(tx, content_id, tx.now())?)).await
    }
}

/// Streams a range of a content. Each chunk is read when the previous one was sent.
pub fn stream(app: Arc<App>, content_id: i64, part: Range<u64>) -> BodyStream {
    let piece = PIECE as u64;
    Box::pin(try_unfold((app, part.start), move |(app, at)| {
        let end = part.end;
        async move {
            if at >= end {
                return Ok(None);
            }
            let number = (at / piece) as i64;
            let bytes = app.readers.read(|snapshot| read_piece(snapshot, content_id, number)).await?;
            let mut bytes =
                bytes.ok_or_else(|| ApiError::internal("a piece of a file was removed while it was sent"))?;
            let first = (at % piece) as usize;
            if first >= bytes.len() {
                return Err(ApiError::internal("a piece of a file is shorter than its size says"));
            }
            let bytes = bytes.split_off(first);
            let length = (bytes.len() as u64).min(end - at);
            Ok(Some((bytes.slice(..length as usize), (app, at + length))))
        }
    }))
}

/// Reads a whole content of `size` bytes into memory. Blocks: call it on a blocking thread.
pub fn read_all(app: &App, content_id: i64, size: u64) -> ApiResult<Vec<u8>> {
    let mut whole = Vec::with_capacity(size as usize);
    for number in 0..size.div_ceil(PIECE as u64) {
        let bytes = app.readers.read_now(|snapshot| read_piece(snapshot, content_id, number as i64))?;
        whole.extend_from_slice(&bytes.ok_or_else(|| ApiError::internal("a stored file lacks a piece"))?);
    }
    Ok(whole)
}

/// Deletes some chunks of a content whose deletion is due.
pub fn delete_some(tx: &mut Tx<'_>) -> ApiResult<()> {
    let next = next_deletion(tx)?;
    let Some((content_id, _)) = next.filter(|(_, from)| *from <= tx.now()) else { return Ok(()) };
    let removed = tx
        .prepare_cached(
            "DELETE FROM upload_piece WHERE content_id = ?1 AND number IN
                 (SELECT number FROM upload_piece WHERE content_id = ?1 ORDER BY number LIMIT ?2)",
        )?
        .execute((content_id, DELETED_PER_JOB))?;
    if (removed as i64) < DELETED_PER_JOB {
        tx.prepare_cached("DELETE FROM upload_content WHERE content_id = ?1")?.execute([content_id])?;
    }
    Ok(())
}

/// The next content to be deleted, and when, in UNIX seconds.
pub fn next_deletion(connection: &Connection) -> rusqlite::Result<Option<(i64, i64)>> {
    connection
        .prepare_cached(
            "SELECT content_id, removed_from FROM upload_content WHERE removed_from IS NOT NULL
             ORDER BY removed_from LIMIT 1",
        )?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// How many bytes the uploads take that are not finished, at most, but for one of them: in all, without those whose sender
/// has fallen silent; and those of one person.
pub fn unfinished(
    connection: &Connection,
    but: i64,
    accountable: UserId,
    now: i64,
) -> rusqlite::Result<(u64, u64)> {
    connection
        .prepare_cached(
            "SELECT coalesce(sum(removed_from > ?3), 0), coalesce(sum(user_id IS ?4), 0)
             FROM upload_content CROSS JOIN upload_piece USING (content_id)
             WHERE removed_from > ?2 AND content_id <> ?1",
        )?
        .query_row((but, now, now + UPLOAD_TIMEOUT - SILENCE, accountable), |row| {
            let bytes = |pieces: i64| pieces as u64 * PIECE as u64;
            Ok((bytes(row.get(0)?), bytes(row.get(1)?)))
        })
}

/// Cancels the deletion of a content that is complete and belongs to a file. Returns whether the content still exists.
pub fn finish(connection: &Connection, content_id: i64, now: i64) -> rusqlite::Result<bool> {
    let kept = connection
        .prepare_cached(
            "UPDATE upload_content SET removed_from = NULL WHERE content_id = ?1 AND removed_from > ?2",
        )?
        .execute((content_id, now))?;
    Ok(kept > 0)
}

/// Schedules the deletion of a content at a time in UNIX seconds.
pub fn schedule_deletion(connection: &Connection, content_id: i64, time: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE upload_content SET removed_from = ?2 WHERE content_id = ?1")?
        .execute((content_id, time))
        .map(|_| ())
}

/// Schedules the immediate deletion of all contents that do not belong to a file.
pub fn schedule_deletion_of_unfinished(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE upload_content SET removed_from = 0 WHERE removed_from IS NOT NULL")?
        .execute([])
        .map(|_| ())
}

fn insert(connection: &Connection, accountable: UserId, now: i64) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("INSERT INTO upload_content (removed_from, user_id) VALUES (?1, ?2)")?
        .insert((now + UPLOAD_TIMEOUT, accountable))
}

/// Postpones the deletion of an upload in progress. Returns whether the content still exists.
fn postpone_removal(connection: &Connection, content_id: i64, now: i64) -> rusqlite::Result<bool> {
    let postponed = connection
        .prepare_cached(
            "UPDATE upload_content SET removed_from = ?3 WHERE content_id = ?1 AND removed_from > ?2",
        )?
        .execute((content_id, now, now + UPLOAD_TIMEOUT))?;
    Ok(postponed > 0)
}

fn insert_piece(connection: &Connection, content_id: i64, number: i64, bytes: &[u8]) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO upload_piece (content_id, number, bytes) VALUES (?1, ?2, ?3)")?
        .execute((content_id, number, bytes))
        .map(|_| ())
}

fn read_piece(connection: &Connection, content_id: i64, number: i64) -> ApiResult<Option<Bytes>> {
    let bytes: Option<Vec<u8>> = connection
        .prepare_cached("SELECT bytes FROM upload_piece WHERE content_id = ?1 AND number = ?2")?
        .query_row((content_id, number), |row| row.get(0))
        .optional()?;
    Ok(bytes.map(Bytes::from))
}
