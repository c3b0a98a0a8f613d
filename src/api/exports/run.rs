//! Writing requested archives in the background, and deleting old ones.

use crate::api::exports::record::{PUBLIC, emit_changed};
use crate::api::exports::sql;
use crate::api::exports::sql::{ArchiveContent, ExportRow};
use crate::app::App;
use crate::domain::export::{ENDING, Mode, Written, write_archive};
use crate::domain::files;
use crate::domain::files::blobs;
use crate::domain::files::blobs::Incoming;
use crate::domain::notices;
use crate::domain::user_settings;
use crate::error::{ApiError, ApiResult};
use crate::store::Tx;
use bytes::Bytes;
use rand::RngExt;
use rand::distr::Alphanumeric;
use std::io::{self, Write};
use std::sync::Arc;
use teamchat_markdown::Words;
use tokio::sync::mpsc;

/// Retention of archives, in seconds: a week, as long as the links of published servers are valid.
const ARCHIVE_RETENTION: i64 = 7 * 24 * 60 * 60;

/// The length of a chunk on its way to the writer, and the number of chunks that wait.
const CHUNK: usize = 256 * 1024;
const WAITING_CHUNKS: usize = 4;

/// Marks exports as failed that the last stop interrupted.
pub fn fail_interrupted(tx: &mut Tx<'_>) -> ApiResult<()> {
    if sql::fail_started(tx, tx.now())? > 0 {
        emit_changed(tx)?;
    }
    Ok(())
}

/// Writes all requested archives, one after the other, and deletes old ones. Returns when the next one is to be deleted, in
/// UNIX seconds.
pub async fn run_due(app: Arc<App>) -> ApiResult<Option<i64>> {
    while let Some(row) =
        app.readers.read(|snapshot| Ok::<_, ApiError>(sql::next_requested(snapshot)?)).await?
    {
        run(&app, row).await?;
    }
    loop {
        let oldest = app.readers.read(|snapshot| Ok::<_, ApiError>(sql::oldest_archive(snapshot)?)).await?;
        let Some((row, since)) = oldest else { return Ok(None) };
        let due = since + ARCHIVE_RETENTION;
        if due > app.clock.seconds() || !app.jump_detector.is_steady(&app.clock) {
            return Ok(Some(due));
        }
        app.writer.run(move |tx| delete_archive(tx, &row)).await?;
    }
}

async fn run(app: &Arc<App>, row: ExportRow) -> ApiResult<()> {
    let id = row.id;
    app.writer.run(move |tx| Ok::<_, ApiError>(sql::set_started(tx, id, tx.now())?)).await?;
    let done = match write(app, &row).await {
        Ok((content_id, written)) => {
            let content = ArchiveContent { content_id, path: new_path(), size: written.size };
            app.writer.run(move |tx| succeed(tx, &row, &content, &written.sha256)).await
        }
        Err(error) => Err(error),
    };
    let Err(error) = done else { return Ok(()) };
    tracing::warn!(export = id, %error, "an export failed");
    let fail = move |tx: &mut Tx<'_>| {
        sql::set_failed(tx, id, tx.now())?;
        emit_changed(tx)
    };
    app.writer.run(fail).await
}

/// Writes an archive. A blocking thread reads the snapshot and compresses; here the chunks go to the writer, one job each, so
/// that changes of others wait behind one chunk at most.
async fn write(app: &Arc<App>, row: &ExportRow) -> ApiResult<(i64, Written)> {
    let mode = if row.export_type == PUBLIC { Mode::Public } else { Mode::Consent };
    let uploads = app.readers.read(|snapshot| Ok::<_, ApiError>(files::space_used(snapshot)?)).await?;
    // The log of SQLite holds the archive too, until the snapshot ends.
    if !app.has_space_for(uploads.saturating_mul(2)) {
        return Err(no_space());
    }
    let mut content = Incoming::begin(Arc::clone(app), row.acting_user_id).await?;
    let (sender, receiver) = mpsc::channel(WAITING_CHUNKS);
    let (readers, now) = (Arc::clone(&app.readers), app.clock.seconds());
    let archive = app.pools.exports.run(None, move || {
        readers.read_everything(|snapshot| {
            let out = Chunks { sender, chunk: Vec::new() };
            let written = write_archive(snapshot, mode, "zulip-export", now, out, &mut |_| Ok(()));
            written.map(|(_, written)| written).map_err(ApiError::internal)
        })
    });
    // The receiver ends with the block, so that the thread does not go on after a failure here.
    let store = async {
        let mut receiver: mpsc::Receiver<Bytes> = receiver;
        while let Some(chunk) = receiver.recv().await {
            content.write(chunk).await?;
            if !app.has_space_for(content.size) {
                return Err(no_space());
            }
        }
        content.flush().await
    };
    let (archive, stored) = tokio::join!(archive, store);
    match stored.and(archive.flatten()) {
        Ok(written) => Ok((content.content_id, written)),
        Err(error) => {
            content.abort().await?;
            Err(error)
        }
    }
}

fn no_space() -> ApiError {
    ApiError::internal("the disk has no space for an export")
}

/// The end of an archive's address, which cannot be guessed.
fn new_path() -> String {
    let random = |length: usize| {
        rand::rng().sample_iter(Alphanumeric).take(length).map(char::from).collect::<String>()
    };
    format!("{}/zulip-export-{}{ENDING}", random(24), random(8).to_lowercase())
}

fn succeed(tx: &mut Tx<'_>, row: &ExportRow, content: &ArchiveContent, sha256: &str) -> ApiResult<()> {
    if !blobs::finish(tx, content.content_id, tx.now())? {
        return Err(ApiError::internal("the archive was removed while it was written"));
    }
    sql::set_archive(tx, row.id, content, sha256, tx.now())?;
    emit_changed(tx)?;
    let user_id = row.acting_user_id;
    let language = user_settings::language_of(tx, user_id)?;
    let link =
        Words::default().link(language.t("View and download exports"), "/#organization/data-exports-admin");
    let text = Words::filled(language.t("Your data export is complete. {link}."), &[("link", link)]);
    let address = notices::direct_address(tx, user_id)?;
    notices::send_as_notification_bot(tx, address, text.into()).map(|_| ())
}

/// Deletes the archive of an export.
pub fn delete_archive(tx: &mut Tx<'_>, row: &ExportRow) -> ApiResult<()> {
    sql::remove_archive(tx, row.id, tx.now())?;
    if let Some(content) = &row.content {
        blobs::schedule_deletion(tx, content.content_id, tx.now())?;
    }
    emit_changed(tx)
}

/// Passes bytes on in chunks. Fails when the receiver has ended.
struct Chunks {
    sender: mpsc::Sender<Bytes>,
    chunk: Vec<u8>,
}

impl Chunks {
    fn send(&mut self) -> io::Result<()> {
        let chunk = Bytes::from(std::mem::take(&mut self.chunk));
        self.sender.blocking_send(chunk).map_err(|_| io::Error::other("the export was stopped"))
    }
}

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() { Ok(()) } else { self.send() }
    }
}
