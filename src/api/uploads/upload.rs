//! `POST /user_uploads`: uploads one file.

use crate::app::{App, Options};
use crate::domain::files::blobs::Incoming;
use crate::domain::files::sql::AttachmentRow;
use crate::domain::files::{blobs, media_types, names, record, sql, thumbnails};
use crate::domain::limits::{DISK_RESERVE_MIB, MAX_FILE_UPLOAD_SIZE_MIB};
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Call, FilePart, MultipartStream, Reply, User};
use crate::store::Tx;
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
    let limits = Limits::of(&call.app.options);
    let at_least = files.content_length().map_or(0, |length| length.saturating_sub(MULTIPART_OVERHEAD));
    limits.check_size(at_least)?;
    let Some(file) = files.next_file().await? else {
        return Err(ApiError::bad_request("You must specify a file to upload"));
    };
    let app = Arc::clone(&call.app);
    limits.check_disk(app.writer.free_space(), at_least)?;
    let mut content = Incoming::begin(Arc::clone(&app)).await?;
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
    // What others upload at the same time counts as well.
    let used_by_others = || {
        app.readers.read(|snapshot| {
            let unfinished = blobs::unfinished(snapshot, content_id, app.clock.seconds())?;
            Ok::<_, ApiError>(sql::space_used(snapshot)? + unfinished)
        })
    };
    let (mut used, mut used_at) = (0, None);
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
    limits.check_quota(sql::space_used(tx)?, row.size)?;
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

/// The limits on uploads.
#[derive(Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "the unit belongs to each name")]
struct Limits {
    /// The largest size of a file, in MiB.
    file_mib: u64,
    /// The largest size of all files together, in MiB.
    quota_mib: Option<u64>,
    /// What has to stay free on the disk, in MiB.
    reserve_mib: u64,
}

impl Limits {
    fn of(options: &Options) -> Self {
        let file_mib = options.max_file_upload_size_mib.unwrap_or(MAX_FILE_UPLOAD_SIZE_MIB);
        let reserve_mib = options.disk_reserve_mib.unwrap_or(DISK_RESERVE_MIB);
        Self { file_mib, quota_mib: options.upload_quota_mib, reserve_mib }
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

    fn check_quota(&self, used: u64, size: u64) -> ApiResult<()> {
        let quota = self.quota_mib.map_or(u64::MAX, |mib| mib.saturating_mul(MIB));
        if used.saturating_add(size) <= quota {
            return Ok(());
        }
        let msg = "Upload would exceed your organization's upload quota.";
        Err(ApiError::new(400, "REALM_UPLOAD_QUOTA", msg))
    }
}
