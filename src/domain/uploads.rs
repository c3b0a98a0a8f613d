//! Saving an uploaded file: limits and quotas, its type, thumbnails, and the row.

use crate::app::{App, DISK_RESERVE_MIB, Options};
use crate::auth::Caller;
use crate::domain::files;
use crate::domain::files::blobs::Incoming;
use crate::domain::files::{AttachmentRow, blobs, media_types, names, thumbnails};
use crate::domain::limits::{Accounts, MAX_FILE_UPLOAD_SIZE_MIB, MAX_FILES};
use crate::domain::upload_quota::{UploadQuota, Usage};
use crate::error::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{Author, Origin, Role, UserId};
use bytes::Bytes;
use std::sync::Arc;

const MIB: u64 = 1 << 20;

/// The limits on the uploads of a user.
#[derive(Clone, Copy)]
pub struct UploadLimits {
    /// The person for whom files count.
    pub quota_owner: UserId,
    /// The role of the uploader.
    role: Role,
    /// The largest size of a file, in MiB.
    file_mib: u64,
    quota: UploadQuota,
    /// Space to leave free on the disk, in MiB.
    reserve_mib: u64,
}

impl UploadLimits {
    /// The limits of a caller.
    pub fn of(options: &Options, caller: &Caller) -> Self {
        let file_mib = options.max_file_upload_size_mib.unwrap_or(MAX_FILE_UPLOAD_SIZE_MIB);
        let reserve_mib = options.overrides.disk_reserve_mib.unwrap_or(DISK_RESERVE_MIB);
        let (quota_owner, role) = (caller.quota_owner(), caller.role);
        Self { quota_owner, role, file_mib, quota: UploadQuota::of(options), reserve_mib }
    }

    /// Checks the size of a file, in bytes.
    pub fn check_size(&self, size: u64) -> ApiResult<()> {
        if size <= self.file_mib.saturating_mul(MIB) {
            return Ok(());
        }
        let mib = self.file_mib;
        let msg = format!("File is larger than this server's configured maximum upload size ({mib} MiB).");
        Err(ApiError::bad_request(msg))
    }

    /// Checks that the disk has room for this number of further bytes and the reserve. `free` is `None` if it is
    /// unknown.
    pub fn check_disk(&self, free: Option<u64>, size: u64) -> ApiResult<()> {
        let needed = self.reserve_mib.saturating_mul(MIB).saturating_add(size);
        if free.is_none_or(|free| free >= needed) {
            return Ok(());
        }
        let msg = "The server's disk is almost full: no files can be uploaded";
        Err(ApiError::new(507, "INTERNAL_SERVER_ERROR", msg))
    }

    /// Loads the bytes in use beside a content that arrives, concurrent uploads included; `None` without quotas.
    pub async fn used_beside(&self, app: &App, content_id: i64) -> ApiResult<Option<Usage>> {
        let read = app.readers.read(|snapshot| {
            if !self.quota.is_limited() {
                return Ok(None);
            }
            let now = app.clock.seconds();
            let (all, own) = blobs::unfinished(snapshot, content_id, self.quota_owner, now)?;
            let used = Usage::load(snapshot, self.quota_owner)?;
            Ok::<_, ApiError>(Some(Usage { all: used.all + all, own: used.own + own, ..used }))
        });
        read.await
    }

    /// Checks that the quotas have room for a content of this size.
    pub fn check_quota(&self, used: Usage, size: u64) -> ApiResult<()> {
        self.quota.check(used, size)
    }
}

/// A file whose content has arrived, with its thumbnails.
pub struct ArrivedFile {
    limits: UploadLimits,
    row: AttachmentRow,
    thumbnails: Vec<(&'static str, Vec<u8>)>,
}

impl ArrivedFile {
    /// Finds out the type of a content, and creates its thumbnails. `file_name` and `content_type` are those that the client
    /// named.
    pub async fn new(
        app: &Arc<App>,
        caller: &Caller,
        limits: UploadLimits,
        (file_name, content_type): (&str, Option<&str>),
        content: &Incoming,
    ) -> ApiResult<Self> {
        let name = names::stored_name(file_name);
        let content_type = media_types::of_upload(content_type, &name);
        let (content_id, size) = (content.content_id, content.size);
        let head = app.readers.read(|snapshot| blobs::head(snapshot, content_id, media_types::HEAD)).await?;
        let content_type = media_types::of_content(content_type, &head);
        let made = thumbnails::make(app, limits.quota_owner, content_id, size, &content_type).await?;
        let row = AttachmentRow {
            id: 0,
            user_id: caller.user_id,
            path_id: String::new(),
            name,
            content_type: made.as_ref().map_or(content_type, |made| made.content_type.to_owned()),
            size,
            create_time: 0,
            content_id,
            dimensions: made.as_ref().map(|made| made.dimensions),
        };
        Ok(Self { limits, row, thumbnails: made.map(|made| made.formats).unwrap_or_default() })
    }

    /// Inserts the file, if the quotas have room for it, and emits it to its owner.
    pub fn insert(self, tx: &mut Tx<'_>) -> ApiResult<AttachmentRow> {
        let Self { limits, mut row, thumbnails } = self;
        if limits.quota.is_limited() {
            limits.quota.check(Usage::load(tx, limits.quota_owner)?, row.size)?;
        }
        if !limits.role.is_administrator() {
            let statement =
                "SELECT count(*) FROM attachment WHERE user_id IN (SELECT value FROM json_each(?1))";
            let accounts = Accounts::of(tx, limits.quota_owner, tx.now())?;
            accounts.check("uploaded files", statement, 1, MAX_FILES)?;
        }
        if !blobs::finish(tx, row.content_id, tx.now())? {
            return Err(ApiError::internal("the content of an upload was removed before its file was saved"));
        }
        row.path_id = names::new_path_id(files::realm_id(tx)?, &row.name);
        row.create_time = tx.now();
        row.id = files::insert(tx, &row)?;
        for (format, bytes) in &thumbnails {
            files::insert_thumbnail(tx, row.id, format, bytes)?;
        }
        files::record::emit_added(tx, row.clone())?;
        Ok(row)
    }
}

/// Saves a file that is in memory, as an upload of a caller for whom the server acts. The limits may be those of another user.
pub async fn save(
    app: &Arc<App>,
    caller: &Caller,
    limits: UploadLimits,
    (file_name, content_type): (&str, Option<&str>),
    bytes: Bytes,
) -> ApiResult<AttachmentRow> {
    let size = bytes.len() as u64;
    limits.check_size(size)?;
    limits.check_disk(app.writer.free_space(), size)?;
    let mut content = Incoming::begin(Arc::clone(app), limits.quota_owner).await?;
    let saved = async {
        if let Some(used) = limits.used_beside(app, content.content_id).await? {
            limits.check_quota(used, size)?;
        }
        content.write(bytes).await?;
        content.flush().await?;
        let file = ArrivedFile::new(app, caller, limits, (file_name, content_type), &content).await?;
        let mut caller = caller.clone();
        let job = move |tx: &mut Tx<'_>| {
            caller.reload(tx)?;
            tx.set_origin(Origin { author: Author::User(caller.user_id), address: None });
            file.insert(tx)
        };
        app.writer.run(job).await
    }
    .await;
    if saved.is_err() {
        content.abort().await?;
    }
    saved
}
