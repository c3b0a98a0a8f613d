//! `POST /user_uploads`: uploads one file.

use crate::app::{App, DISK_RESERVE_MIB, Options};
use crate::domain::files;
use crate::domain::files::blobs::Incoming;
use crate::domain::files::{AttachmentRow, blobs, media_types, names, thumbnails};
use crate::domain::limits::{Accounts, MAX_FILE_UPLOAD_SIZE_MIB, MAX_FILES};
use crate::domain::upload_quota::{UploadQuota, Usage};
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Call, Caller, FilePart, MultipartStream, Reply, User};
use crate::store::Tx;
use crate::types::{Role, UserId};
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
    let mut content = Incoming::begin(Arc::clone(&app), limits.quota_owner).await?;
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
    // Concurrent uploads count as well.
    let used_by_others = || {
        app.readers.read(|snapshot| {
            if !limits.quota.is_limited() {
                return Ok(None);
            }
            let now = app.clock.seconds();
            let (all, own) = blobs::unfinished(snapshot, content_id, limits.quota_owner, now)?;
            let used = Usage::load(snapshot, limits.quota_owner)?;
            Ok::<_, ApiError>(Some(Usage { all: used.all + all, own: used.own + own, ..used }))
        })
    };
    let (mut used, mut next_look) = (None, 0);
    while let Some(piece) = files.chunk().await? {
        content.write(piece).await?;
        limits.check_size(content.size)?;
        if content.size >= next_look {
            used = used_by_others().await?;
            next_look = content.size + MIB;
        }
        if let Some(used) = used {
            limits.quota.check(used, content.size)?;
        }
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

/// Creates thumbnails and inserts the file.
async fn finish(
    call: Call<User>,
    limits: Limits,
    file: FilePart,
    content: Incoming,
) -> ApiResult<Reply<Uploaded>> {
    let name = names::stored_name(&file.file_name);
    let content_type = media_types::of_upload(file.content_type.as_deref(), &name);
    let (content_id, size) = (content.content_id, content.size);
    let head = call.app.readers.read(|snapshot| blobs::head(snapshot, content_id, media_types::HEAD)).await?;
    let content_type = media_types::of_content(content_type, &head);
    let made =
        thumbnails::make(&call.app, call.caller.quota_owner(), content_id, size, &content_type).await?;
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
    if limits.quota.is_limited() {
        limits.quota.check(Usage::load(tx, limits.quota_owner)?, row.size)?;
    }
    if !limits.role.is_administrator() {
        let statement = "SELECT count(*) FROM attachment WHERE user_id IN (SELECT value FROM json_each(?1))";
        Accounts::of(tx, row.user_id, tx.now())?.check("uploaded files", statement, 1, MAX_FILES)?;
    }
    if !blobs::finish(tx, row.content_id, tx.now())? {
        return Err(ApiError::internal("the content of an upload was removed before its file was saved"));
    }
    row.path_id = names::new_path_id(files::realm_id(tx)?, &row.name);
    row.create_time = tx.now();
    row.id = files::insert(tx, &row)?;
    for (format, bytes) in thumbnails {
        files::insert_thumbnail(tx, row.id, format, bytes)?;
    }
    files::record::emit_added(tx, row.clone())?;
    Ok(row)
}

/// The limits on uploads.
#[derive(Clone, Copy)]
struct Limits {
    /// The person for whom the file counts.
    quota_owner: UserId,
    /// The role of the uploader.
    role: Role,
    /// The largest size of a file, in MiB.
    file_mib: u64,
    quota: UploadQuota,
    /// Space to leave free on the disk, in MiB.
    reserve_mib: u64,
}

impl Limits {
    fn of(options: &Options, caller: &Caller) -> Self {
        let file_mib = options.max_file_upload_size_mib.unwrap_or(MAX_FILE_UPLOAD_SIZE_MIB);
        let reserve_mib = options.disk_reserve_mib.unwrap_or(DISK_RESERVE_MIB);
        let (quota_owner, role) = (caller.quota_owner(), caller.role);
        Self { quota_owner, role, file_mib, quota: UploadQuota::of(options), reserve_mib }
    }

    fn check_size(&self, size: u64) -> ApiResult<()> {
        if size <= self.file_mib.saturating_mul(MIB) {
            return Ok(());
        }
        let mib = self.file_mib;
        let msg = format!("Uploaded file is larger than the allowed limit of {mib} MiB");
        Err(ApiError::bad_request(msg))
    }

    /// Checks that the disk has room for this number of further bytes and the reserve. `free` is `None` if it is
    /// unknown.
    fn check_disk(&self, free: Option<u64>, size: u64) -> ApiResult<()> {
        let needed = self.reserve_mib.saturating_mul(MIB).saturating_add(size);
        if free.is_none_or(|free| free >= needed) {
            return Ok(());
        }
        let msg = "The server's disk is almost full: no files can be uploaded";
        Err(ApiError::new(507, "INTERNAL_SERVER_ERROR", msg))
    }
}
