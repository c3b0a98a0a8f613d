//! `GET /attachments` and `DELETE /attachments/{attachment_id}`: the caller's uploaded files.

use crate::domain::files::record::AttachmentRecord;
use crate::domain::files::references;
use crate::domain::files::sql;
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Read, Reply, User};
use crate::store::Tx;
use serde::{Deserialize, Serialize};

/// The reply to `GET /attachments`.
#[derive(Serialize)]
pub struct Attachments {
    attachments: Vec<AttachmentRecord>,
    /// Bytes, of all files of the organization.
    upload_space_used: u64,
}

/// `GET /attachments`: the caller's newest files, ascending.
pub fn get_attachments(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<Attachments>> {
    let rows = sql::of_user(read, read.caller.user_id)?;
    let attachments = rows.into_iter().map(|row| AttachmentRecord::load(read, row));
    let attachments = attachments.collect::<Result<_, _>>()?;
    Reply::data(&Attachments { attachments, upload_space_used: sql::space_used(read)? })
}

/// Parameters of `DELETE /attachments/{attachment_id}`.
#[derive(Deserialize)]
pub struct RemoveParams {
    /// A file of the caller; those of other users do not exist for them.
    attachment_id: i64,
}

/// `DELETE /attachments/{attachment_id}`. Messages that link to the file do not change.
pub fn remove_attachment(tx: &mut Tx<'_>, caller: &User, params: RemoveParams) -> ApiResult<Reply> {
    let file = sql::by_id(tx, params.attachment_id)?.filter(|file| file.user_id == caller.user_id);
    let file = file.ok_or_else(|| ApiError::bad_request("Invalid attachment"))?;
    references::delete(tx, &file)?;
    Ok(Reply::ok())
}
