//! `POST /user_uploads`: uploads one file.

use crate::app::{App, DISK_RESERVE_MIB, Options};
use crate::domain::files::blobs::Incoming;
use crate::domain::files::sql::AttachmentRow;
use crate::domain::files::{blobs, media_types, names, record, sql, thumbnails};
use crate::domain::limits::{MAX_FILE_UPLOAD_SIZE_MIB, UPLOAD_SHARE_OF_GUEST, UPLOAD_SHARE_OF_MEMBER};
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Call, Caller, FilePart, MultipartStream, Reply, User};
use crate::store::Tx;
use crate::types::{Role, UserId};
use rusqlite::Connection;
use serde::Serialize;
use std::sync::Arc;

const MIB: u64 = 1 << 20;

/// The most bytes of a multipart body beside the file.
const MULTIPART_OVERHEAD: u64 = MIB;

/// The reply to `POST /user_uploads`.
#[derive(Serialize)]
pub struct Uploaded {
    /// The deprecated name of `url`.
    uri: String,
    /// The file's path, relative to the origin.
    url: String,
    /// The file's name, without folders and control characters.
    filename: String,
}

/// `POST /user_uploads`. The form field may have any name; of several files in one field, the first is used.
pub async fn upload_file(
    call: Call<User>,
    _params: NoParams,
    mut files: MultipartStream,
) -> ApiResult<Reply<Uploaded>> {
    let limits = Limits::of(&call.app.options, &call.caller);
    let at_least = files.content_length().map_or(0, |length| length.saturating_sub(MULTIPART_OVERHEAD));
    limits.check_size(at_least)?;
    let Some(file) = files.next_file().await? else {
        return Err(ApiError::bad_request("You must specify a file to upload"));
    };
    let app = Arc::clone(&call.app);
    limits.check_disk(app.writer.free_space(), at_least)?;
    let mut content = Incoming::begin(Arc::clone(&app), limits.accountable).await?;
    match receive(&app, &limits, &mut files, &file, &mut content).await {
        Ok(()) => finish(call, limits, file, content).await,
        Err(error) => {
            content.abort().await?;
            Err(error)
        }
    }
}

/// Writes the file while it arrives, and reads the body to its end: only then the file is known to be complete.
async fn receive(
    app: &App,
    limits: &Limits,
    files: &mut MultipartStream,
    file: &FilePart,
    content: &mut Incoming,
) -> ApiResult<()> {
    let content_id = content.content_id;
    // What is uploaded at the same time counts as well.
    let used_by_others = || {
        app.readers.read(|snapshot| {
            let now = app.clock.seconds();
            let (all, own) = blobs::unfinished(snapshot, content_id, limits.accountable, now)?;
            let used = limits.used(snapshot)?;
            Ok::<_, ApiError>(Used { all: used.all + all, own: used.own + own })
        })
    };
    let (mut used, mut used_at) = (Used::default(), None);
    while let Some(piece) = files.chunk().await? {
        content.write(piece).await?;
        limits.check_size(content.size)?;
        if used_at.is_none_or(|size| content.size >= size + MIB) {
            used = used_by_others().await?;
            used_at = Some(content.size);
        }
        limits.check_quota(used, content.size)?;
        limits.check_disk(app.writer.free_space(), 0)?;
    }
    let mut skipped = 0;
    while let Some(other) = files.next_file().await? {
        if other.field_name != file.field_name {
            return Err(ApiError::bad_request("You may only upload one file at a time"));
        }
        while let Some(piece) = files.chunk().await? {
            skipped += piece.len() as u64;
            limits.check_size(skipped)?;
        }
    }
    content.flush().await
}

/// Makes thumbnails and inserts the file.
async fn finish(
    call: Call<User>,
    limits: Limits,
    file: FilePart,
    content: Incoming,
) -> ApiResult<Reply<Uploaded>> {
    let name = names::kept_name(&file.file_name);
    let content_type = media_types::of_upload(file.content_type.as_deref(), &name);
    let (content_id, size) = (content.content_id, content.size);
    let made =
        thumbnails::make(&call.app, call.caller.accountable(), content_id, size, &content_type).await?;
    let row = AttachmentRow {
        id: 0,
        user_id: call.caller.user_id,
        path_id: String::new(),
        name,
        content_type: made.as_ref().map_or(content_type, |made| made.content_type.to_owned()),
        size,
        create_time: 0,
        content_id,
        dimensions: made.as_ref().map(|made| made.dimensions),
    };
    let thumbnails = made.map(|made| made.formats).unwrap_or_default();
    let row = call.write(move |tx, _caller| add(tx, &limits, row, &thumbnails)).await;
    let row = match row {
        Ok(row) => row,
        Err(error) => {
            content.abort().await?;
            return Err(error);
        }
    };
    let url = format!("/user_uploads/{}", row.path_id);
    Reply::data(&Uploaded { uri: url.clone(), url, filename: row.name })
}

fn add(
    tx: &mut Tx<'_>,
    limits: &Limits,
    mut row: AttachmentRow,
    thumbnails: &[(&'static str, Vec<u8>)],
) -> ApiResult<AttachmentRow> {
    limits.check_quota(limits.used(tx)?, row.size)?;
    if !blobs::finish(tx, row.content_id, tx.now())? {
        return Err(ApiError::internal("the content of an upload was removed before its file was saved"));
    }
    row.path_id = names::new_path_id(sql::realm_id(tx)?, &row.name);
    row.create_time = tx.now();
    row.id = sql::insert(tx, &row)?;
    for (format, bytes) in thumbnails {
        sql::insert_thumbnail(tx, row.id, format, bytes)?;
    }
    record::emit_added(tx, row.clone())?;
    Ok(row)
}

/// How many bytes are taken.
#[derive(Clone, Copy, Default)]
struct Used {
    /// By all files.
    all: u64,
    /// By those of the uploader, and of bots for whom the same person answers.
    own: u64,
}

/// The limits on uploads.
#[derive(Clone, Copy)]
struct Limits {
    /// The person for whom the file counts.
    accountable: UserId,
    /// Their role.
    role: Role,
    /// The largest size of a file, in MiB.
    file_mib: u64,
    /// The largest size of all files together, in MiB.
    quota_mib: Option<u64>,
    /// What has to stay free on the disk, in MiB.
    reserve_mib: u64,
}

impl Limits {
    fn of(options: &Options, caller: &Caller) -> Self {
        let file_mib = options.max_file_upload_size_mib.unwrap_or(MAX_FILE_UPLOAD_SIZE_MIB);
        let reserve_mib = options.disk_reserve_mib.unwrap_or(DISK_RESERVE_MIB);
        let (accountable, role) = (caller.accountable(), caller.role);
        Self { accountable, role, file_mib, quota_mib: options.upload_quota_mib, reserve_mib }
    }

    fn used(&self, connection: &Connection) -> rusqlite::Result<Used> {
        let own =
            if self.quota_mib.is_some() { sql::space_used_by(connection, self.accountable)? } else { 0 };
        Ok(Used { all: sql::space_used(connection)?, own })
    }

    /// The part of the quota that one person may use.
    fn share_of(&self, quota: u64) -> u64 {
        let share = match self.role {
            Role::Owner | Role::Administrator => quota,
            Role::Moderator | Role::Member => quota / UPLOAD_SHARE_OF_MEMBER,
            Role::Guest => quota / UPLOAD_SHARE_OF_GUEST,
        };
        share.max(self.file_mib.saturating_mul(MIB).min(quota))
    }

    fn check_size(&self, size: u64) -> ApiResult<()> {
        if size <= self.file_mib.saturating_mul(MIB) {
            return Ok(());
        }
        let mib = self.file_mib;
        let msg = format!("Uploaded file is larger than the allowed limit of {mib} MiB");
        Err(ApiError::bad_request(msg))
    }

    /// Checks that the disk has room for so many more bytes and everything else. `free` is `None` if the system does not
    /// tell.
    fn check_disk(&self, free: Option<u64>, size: u64) -> ApiResult<()> {
        let needed = self.reserve_mib.saturating_mul(MIB).saturating_add(size);
        if free.is_none_or(|free| free >= needed) {
            return Ok(());
        }
        let msg = "The server's disk is almost full: no files can be uploaded";
        Err(ApiError::new(507, "INTERNAL_SERVER_ERROR", msg))
    }

    fn check_quota(&self, used: Used, size: u64) -> ApiResult<()> {
        let Some(quota_mib) = self.quota_mib else { return Ok(()) };
        let quota = quota_mib.saturating_mul(MIB);
        let refuse = |msg: &'static str| Err(ApiError::new(400, "REALM_UPLOAD_QUOTA", msg));
        if used.all.saturating_add(size) > quota {
            return refuse("Upload would exceed your organization's upload quota.");
        }
        if used.own.saturating_add(size) > self.share_of(quota) {
            return refuse("Upload would exceed your share of your organization's upload quota.");
        }
        Ok(())
    }
}
