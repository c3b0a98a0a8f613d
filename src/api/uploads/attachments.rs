//! `GET /attachments` and `DELETE /attachments/{attachment_id}`: uploaded files.

use crate::auth::Ctx;
use crate::domain::access::messages::MessageAccess;
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::files::record::AttachmentRecord;
use crate::domain::files::{AttachmentRow, references};
use crate::domain::{files, users};
use crate::http::{ApiError, ApiResult, Read, Reply, User};
use crate::store::Tx;
use crate::types::UserId;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Parameters of `GET /attachments`.
#[derive(Deserialize)]
pub struct ListParams {
    /// The id of the user whose files to list; by default the caller. Only administrators may name others, and receive
    /// the files that they may delete, with the messages that they may read.
    user_id: Option<UserId>,
}

/// The reply to `GET /attachments`.
#[derive(Serialize)]
pub struct Attachments {
    attachments: Vec<AttachmentRecord>,
    /// The size of all files of the organization, in bytes.
    upload_space_used: u64,
}

/// `GET /attachments`: lists the newest files that a user uploaded, at most 10,000, the oldest of them first.
pub fn get_attachments(read: &Read<'_, User>, params: ListParams) -> ApiResult<Reply<Attachments>> {
    let user_id = params.user_id.unwrap_or(read.caller.user_id);
    let is_own = user_id == read.caller.user_id;
    if !is_own {
        read.caller.check_is_administrator()?;
        users::find::by_id(read, user_id)?;
    }
    let access = MessageAccess::new(read.ctx());
    let mut attachments = Vec::new();
    for file in files::of_user(read, user_id)? {
        if !may_delete(read.ctx(), &file)? {
            continue;
        }
        let mut record = AttachmentRecord::load(read, file)?;
        if !is_own {
            record.retain_messages(|id| Ok(access.recipient_of(id)?.is_some()))?;
        }
        attachments.push(record);
    }
    Reply::data(&Attachments { attachments, upload_space_used: files::space_used(read)? })
}

/// Parameters of `DELETE /attachments/{attachment_id}`.
#[derive(Deserialize)]
pub struct RemoveParams {
    /// The id of a file of the caller. Administrators can also name a file of another user, if no message links to it or
    /// if they can read a message that links to it.
    attachment_id: i64,
}

/// `DELETE /attachments/{attachment_id}`: deletes an uploaded file. Messages that link to it do not change.
pub fn remove_attachment(tx: &mut Tx<'_>, caller: &User, params: RemoveParams) -> ApiResult<Reply> {
    let none = || ApiError::bad_request("Invalid attachment");
    let file = files::by_id(tx, params.attachment_id)?.ok_or_else(none)?;
    if !may_delete(tx.ctx(caller), &file)? {
        return Err(none());
    }
    if file.user_id != caller.user_id {
        let deleted = Subject::with_id("file", params.attachment_id);
        tx.audit(Entry::new(Action::FileDeleted, deleted).before(json!({ "user_id": file.user_id })))?;
    }
    references::delete(tx, &file)?;
    Ok(Reply::ok())
}

fn may_delete(ctx: Ctx<'_>, file: &AttachmentRow) -> ApiResult<bool> {
    if file.user_id == ctx.caller.user_id {
        return Ok(true);
    }
    Ok(ctx.caller.role.is_administrator()
        && (!files::is_claimed(&ctx, file.id)? || files::access::may_load(ctx, file)?))
}
