//! What files hold: written and read piece by piece, so that no file is whole in memory, no job is long, and no snapshot
//! either.

use crate::app::App;
use crate::http::{ApiError, ApiResult, BodyStream};
use crate::store::Tx;
use bytes::Bytes;
use futures_util::stream::try_unfold;
use rusqlite::{Connection, OptionalExtension};
use std::ops::Range;
use std::sync::Arc;

/// The length of a piece, in bytes: a few milliseconds of a disk.
pub const PIECE: usize = 256 * 1024;

/// An upload that has not written for so many seconds has broken off. A sender who is silent is given up much sooner.
const PATIENCE: i64 = 10 * 60;

/// Pieces that are removed in one job.
const REMOVED_AT_ONCE: i64 = 16;

/// A content that is being written. Nobody sees it before a file is made of it.
pub struct Incoming {
    app: Arc<App>,
    /// Which one.
    pub content_id: i64,
    /// How long it is by now, in bytes.
    pub size: u64,
    next_piece: i64,
    buffer: Vec<u8>,
}

impl Incoming {
    /// Begins to write.
    pub async fn begin(app: Arc<App>) -> ApiResult<Self> {
        let content_id = app.writer.run(|tx| Ok::<_, ApiError>(insert(tx, tx.now())?)).await?;
        Ok(Self { app, content_id, size: 0, next_piece: 0, buffer: Vec::new() })
    }

    /// Adds some bytes.
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

    /// Writes what is still in memory.
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

    /// Gives up: what is there is removed.
    pub async fn give_up(self) -> ApiResult<()> {
        let content_id = self.content_id;
        self.app.writer.run(move |tx| Ok(remove_from(tx, content_id, tx.now())?)).await
    }
}

/// The bytes of a part of a content, read while they are asked for.
pub fn pieces(app: Arc<App>, content_id: i64, part: Range<u64>) -> BodyStream {
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

/// A whole content of so many bytes. For threads that may block, and contents that may be in memory.
pub fn read_now(app: &App, content_id: i64, size: u64) -> ApiResult<Vec<u8>> {
    let mut whole = Vec::with_capacity(size as usize);
    for number in 0..size.div_ceil(PIECE as u64) {
        let bytes = app.readers.read_now(|snapshot| read_piece(snapshot, content_id, number as i64))?;
        whole.extend_from_slice(&bytes.ok_or_else(|| ApiError::internal("a stored file lacks a piece"))?);
    }
    Ok(whole)
}

/// Removes some pieces of contents that no file stands for, if it is time.
pub fn remove_some(tx: &mut Tx<'_>) -> ApiResult<()> {
    let next = next_removed(tx)?;
    let Some((content_id, _)) = next.filter(|(_, from)| *from <= tx.now()) else { return Ok(()) };
    let removed = tx
        .prepare_cached(
            "DELETE FROM upload_piece WHERE content_id = ?1 AND number IN
                 (SELECT number FROM upload_piece WHERE content_id = ?1 ORDER BY number LIMIT ?2)",
        )?
        .execute((content_id, REMOVED_AT_ONCE))?;
    if (removed as i64) < REMOVED_AT_ONCE {
        tx.prepare_cached("DELETE FROM upload_content WHERE content_id = ?1")?.execute([content_id])?;
    }
    Ok(())
}

/// The content that is the next to be removed, and from when on.
pub fn next_removed(connection: &Connection) -> rusqlite::Result<Option<(i64, i64)>> {
    connection
        .prepare_cached(
            "SELECT content_id, removed_from FROM upload_content WHERE removed_from IS NOT NULL
             ORDER BY removed_from LIMIT 1",
        )?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// Keeps a content: it is a file's now. Answers whether it is still there.
pub fn keep(connection: &Connection, content_id: i64, now: i64) -> rusqlite::Result<bool> {
    let kept = connection
        .prepare_cached(
            "UPDATE upload_content SET removed_from = NULL WHERE content_id = ?1 AND removed_from > ?2",
        )?
        .execute((content_id, now))?;
    Ok(kept > 0)
}

/// Has a content removed from a time on.
pub fn remove_from(connection: &Connection, content_id: i64, time: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE upload_content SET removed_from = ?2 WHERE content_id = ?1")?
        .execute((content_id, time))
        .map(|_| ())
}

/// Has all contents removed that no file stands for.
pub fn give_up_all(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE upload_content SET removed_from = 0 WHERE removed_from IS NOT NULL")?
        .execute([])
        .map(|_| ())
}

fn insert(connection: &Connection, now: i64) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("INSERT INTO upload_content (removed_from) VALUES (?1)")?
        .insert([now + PATIENCE])
}

/// Says that an upload goes on. Answers whether its content is still there.
fn postpone_removal(connection: &Connection, content_id: i64, now: i64) -> rusqlite::Result<bool> {
    let postponed = connection
        .prepare_cached(
            "UPDATE upload_content SET removed_from = ?3 WHERE content_id = ?1 AND removed_from > ?2",
        )?
        .execute((content_id, now, now + PATIENCE))?;
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
