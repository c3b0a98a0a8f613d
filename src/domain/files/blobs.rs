//! The contents of files. They are written and read in chunks, so that no file is in memory as a whole, and jobs and
//! snapshots are short.

use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::store::{ExecuteCached, Tx, current_reader, read_for};
use crate::types::UserId;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use rusqlite::{Connection, OptionalExtension};
use std::io::{self, Read};
use std::sync::Arc;

/// The length of a chunk, in bytes. Writing one takes a few milliseconds.
const PIECE: usize = 256 * 1024;

/// An upload that has not written for this many seconds has ended. Connections without data time out much sooner.
const UPLOAD_TIMEOUT: i64 = 10 * 60;

/// Seconds without data after which an unfinished upload no longer counts for the quota of others.
const SILENCE: i64 = 15;

/// The content of an upload in progress. It is not visible before a file refers to it.
pub struct Incoming {
    app: Arc<App>,
    /// The key of its chunks, which the row of the file gets when the upload is complete.
    pub content_id: i64,
    /// The bytes so far, also those that are not written yet.
    pub size: u64,
    next_piece: i64,
    buffer: Vec<u8>,
}

impl Incoming {
    /// Inserts an empty content, which counts for a person until it is finished.
    pub async fn begin(app: Arc<App>, quota_owner: UserId) -> ApiResult<Self> {
        let insert = move |tx: &mut Tx<'_>| Ok::<_, ApiError>(insert(tx, quota_owner, tx.now())?);
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
        if written.await? { Ok(()) } else { Err(ApiError::request_timeout()) }
    }

    /// Schedules the deletion of the written chunks.
    pub async fn abort(self) -> ApiResult<()> {
        let content_id = self.content_id;
        self.app.writer.run(move |tx| Ok(schedule_deletion(tx, content_id, tx.now())?)).await
    }
}

/// Returns a function that reads parts of a content from an offset on, for the owner of the current request: the part at an
/// offset from there, of at most a number of bytes. A part ends with the chunk in which it begins.
pub fn parts(
    app: Arc<App>,
    content_id: i64,
    start: u64,
) -> impl Fn(u64, usize) -> BoxFuture<'static, ApiResult<Bytes>> + Send + Sync + 'static {
    let reader = current_reader();
    move |at: u64, most: usize| {
        let (app, at) = (Arc::clone(&app), start + at);
        Box::pin(read_for(reader, async move {
            let (number, first) = ((at / PIECE as u64) as i64, (at % PIECE as u64) as i64);
            let read =
                app.readers.read(|snapshot| part_of_piece(snapshot, content_id, number, first, most as i64));
            let bytes = read.await?;
            bytes.ok_or_else(|| ApiError::internal("a piece of a file was removed while it was sent"))
        }))
    }
}

/// The number of bytes that [`BlobReader`] reads of the content of an attachment, for statements: a backup from elsewhere can have
/// any size in the row.
pub const STORED_SIZE: &str = "(SELECT coalesce(sum(length(bytes)), 0) FROM upload_piece
     WHERE upload_piece.content_id = attachment.content_id AND number >= 0)";

/// Reads the stored chunks of a content from a snapshot, one at a time.
pub struct BlobReader<'c> {
    connection: &'c Connection,
    content_id: i64,
    /// The number of the last chunk that was read.
    last: i64,
    piece: Bytes,
}

impl<'c> BlobReader<'c> {
    /// A reader of a content, at its beginning.
    pub fn new(connection: &'c Connection, content_id: i64) -> Self {
        Self { connection, content_id, last: -1, piece: Bytes::new() }
    }
}

impl Read for BlobReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            let next = next_piece(self.connection, self.content_id, self.last).map_err(io::Error::other)?;
            let Some((number, bytes)) = next else { return Ok(0) };
            (self.last, self.piece) = (number, bytes.into());
        }
        let length = buffer.len().min(self.piece.len());
        buffer[..length].copy_from_slice(&self.piece.split_to(length));
        Ok(length)
    }
}

/// Reads the first bytes of a content, at most this number.
pub fn head(connection: &Connection, content_id: i64, most: usize) -> ApiResult<Bytes> {
    Ok(part_of_piece(connection, content_id, 0, 0, most as i64)?.unwrap_or_default())
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

/// Deletes a chunk, which overwrites it, of a content whose deletion is due. Returns whether there is such a content.
pub fn delete_some(tx: &mut Tx<'_>) -> ApiResult<bool> {
    let next = next_deletion(tx)?;
    let Some((content_id, _)) = next.filter(|(_, from)| *from <= tx.now()) else { return Ok(false) };
    let removed = tx
        .prepare_cached(
            "DELETE FROM upload_piece WHERE content_id = ?1 AND number IN
                 (SELECT number FROM upload_piece WHERE content_id = ?1 ORDER BY number LIMIT 1)",
        )?
        .execute([content_id])?;
    if removed == 0 {
        tx.execute_cached("DELETE FROM upload_content WHERE content_id = ?1", [content_id])?;
    }
    Ok(true)
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

/// Upper bounds of the bytes of unfinished uploads, except for one of them: of all uploads that are not stalled, and of
/// those of one person.
pub fn unfinished(
    connection: &Connection,
    but: i64,
    quota_owner: UserId,
    now: i64,
) -> rusqlite::Result<(u64, u64)> {
    connection
        .prepare_cached(
            "SELECT coalesce(sum(removed_from > ?3), 0), coalesce(sum(user_id IS ?4), 0)
             FROM upload_content CROSS JOIN upload_piece USING (content_id)
             WHERE removed_from > ?2 AND content_id <> ?1",
        )?
        .query_row((but, now, now + UPLOAD_TIMEOUT - SILENCE, quota_owner), |row| {
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
    connection.execute_cached(
        "UPDATE upload_content SET removed_from = ?2 WHERE content_id = ?1",
        (content_id, time),
    )
}

/// Schedules the immediate deletion of all contents that do not belong to a file.
pub fn schedule_deletion_of_unfinished(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE upload_content SET removed_from = 0 WHERE removed_from IS NOT NULL", [])
}

fn insert(connection: &Connection, quota_owner: UserId, now: i64) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("INSERT INTO upload_content (removed_from, user_id) VALUES (?1, ?2)")?
        .insert((now + UPLOAD_TIMEOUT, quota_owner))
}

/// Inserts a content that a file gets in the same job. Returns its id and size.
pub fn insert_whole(connection: &Connection, mut content: impl Read) -> ApiResult<(i64, u64)> {
    let content_id =
        connection.prepare_cached("INSERT INTO upload_content (user_id) VALUES (NULL)")?.insert(())?;
    let mut size = 0;
    for number in 0.. {
        let mut bytes = Vec::new();
        content.by_ref().take(PIECE as u64).read_to_end(&mut bytes).map_err(ApiError::internal)?;
        if bytes.is_empty() {
            break;
        }
        size += bytes.len() as u64;
        insert_piece(connection, content_id, number, &bytes)?;
    }
    Ok((content_id, size))
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
    connection.execute_cached(
        "INSERT INTO upload_piece (content_id, number, bytes) VALUES (?1, ?2, ?3)",
        (content_id, number, bytes),
    )
}

fn read_piece(connection: &Connection, content_id: i64, number: i64) -> ApiResult<Option<Bytes>> {
    let bytes: Option<Vec<u8>> = connection
        .prepare_cached("SELECT bytes FROM upload_piece WHERE content_id = ?1 AND number = ?2")?
        .query_row((content_id, number), |row| row.get(0))
        .optional()?;
    Ok(bytes.map(Bytes::from))
}

fn next_piece(
    connection: &Connection,
    content_id: i64,
    after: i64,
) -> rusqlite::Result<Option<(i64, Vec<u8>)>> {
    connection
        .prepare_cached(
            "SELECT number, bytes FROM upload_piece WHERE content_id = ?1 AND number > ?2 ORDER BY number LIMIT 1",
        )?
        .query_row((content_id, after), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

fn part_of_piece(
    connection: &Connection,
    content_id: i64,
    number: i64,
    first: i64,
    most: i64,
) -> ApiResult<Option<Bytes>> {
    let bytes: Option<Vec<u8>> = connection
        .prepare_cached(
            "SELECT substr(bytes, ?3 + 1, ?4) FROM upload_piece WHERE content_id = ?1 AND number = ?2",
        )?
        .query_row((content_id, number, first, most), |row| row.get(0))
        .optional()?;
    Ok(bytes.map(Bytes::from))
}
