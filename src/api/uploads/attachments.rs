//! `GET /attachments` and `DELETE /attachments/{attachment_id}`: the caller's uploaded files.

use crate::domain::files::access;
use crate::domain::files::record::AttachmentRecord;
use crate::domain::files::references;
use crate::domain::files::sql;
use crate::domain::files::sql::AttachmentRow;
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Caller, Read, Reply, User};
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
    /// A file of the caller. For administrators also one that nothing links to, or that a message links to which they may
    /// read. Others do not exist for them.
    attachment_id: i64,
}

/// `DELETE /attachments/{attachment_id}`. Messages that link to the file do not change.
pub fn remove_attachment(tx: &mut Tx<'_>, caller: &User, params: RemoveParams) -> ApiResult<Reply> {
    let none = || ApiError::bad_request("Invalid attachment");
    let file = sql::by_id(tx, params.attachment_id)?.ok_or_else(none)?;
    if !may_delete(tx, caller, &file)? {
        return Err(none());
    }
    references::delete(tx, &file)?;
    Ok(Reply::ok())
}

fn may_delete(tx: &Tx<'_>, caller: &Caller, file: &AttachmentRow) -> ApiResult<bool> {
    if file.user_id == caller.user_id {
        return Ok(true);
    }
    Ok(caller.role.is_administrator()
        && (!sql::is_claimed(tx, file.id)? || access::may_load(tx, caller, tx.now(), file)?))
}
