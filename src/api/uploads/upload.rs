//! `POST /user_uploads`: uploads one file.

use crate::app::App;
use crate::domain::files::blobs::Incoming;
use crate::domain::uploads::{ArrivedFile, UploadLimits};
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Call, FilePart, MultipartStream, Reply, User};
use serde::Serialize;
use std::sync::Arc;

const MIB: u64 = 1 << 20;

/// The most bytes of a multipart body beside the file.
const MULTIPART_OVERHEAD: u64 = MIB;

/// The reply to `POST /user_uploads`.
#[derive(Serialize)]
pub struct Uploaded {
    /// Deprecated name of `url`.
    uri: String,
    /// The path of the file, relative to the organization's URL, for links in messages.
    url: String,
    /// The name of the file, without folders and control characters.
    filename: String,
}

/// `POST /user_uploads`: uploads a file as multipart body. The form field may have any name; of several files in a
/// field, only the first is stored.
pub async fn upload_file(
    call: Call<User>,
    _params: NoParams,
    mut files: MultipartStream,
) -> ApiResult<Reply<Uploaded>> {
    let limits = UploadLimits::of(&call.app.options, &call.caller);
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
    limits: &UploadLimits,
    files: &mut MultipartStream,
    file: &FilePart,
    content: &mut Incoming,
) -> ApiResult<()> {
    let content_id = content.content_id;
    let (mut used, mut next_look) = (None, 0);
    while let Some(piece) = files.chunk().await? {
        content.write(piece).await?;
        limits.check_size(content.size)?;
        if content.size >= next_look {
            used = limits.used_beside(app, content_id).await?;
            next_look = content.size + MIB;
        }
        if let Some(used) = used {
            limits.check_quota(used, content.size)?;
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
    limits: UploadLimits,
    file: FilePart,
    content: Incoming,
) -> ApiResult<Reply<Uploaded>> {
    let named = (file.file_name.as_str(), file.content_type.as_deref());
    let file = ArrivedFile::new(&call.app, &call.caller, limits, named, &content).await?;
    let row = match call.write(move |tx, _caller| file.insert(tx)).await {
        Ok(row) => row,
        Err(error) => {
            content.abort().await?;
            return Err(error);
        }
    };
    let url = format!("/user_uploads/{}", row.path_id);
    Reply::data(&Uploaded { uri: url.clone(), url, filename: row.name })
}
