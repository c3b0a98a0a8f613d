//! References of messages to files. A message claims a file when it is sent or edited, if its sender may load the file.
//! From then on, everyone who may read the message may load it.

use crate::auth::{Caller, Ctx};
use crate::domain::access::messages::MessageAccess;
use crate::domain::files::record::AttachmentRecord;
use crate::domain::files::sql::AttachmentRow;
use crate::domain::files::{access, blobs, record, sql};
use crate::domain::limits::MAX_LOOKED_UP_MESSAGES;
use crate::domain::rows;
use crate::error::{ApiResult, ok_unless_refused};
use crate::store::Tx;
use crate::types::{MessageId, UserId};
use rusqlite::Connection;

/// Files that a text links to and that its sender may share.
#[derive(Debug, Default)]
pub struct ClaimableFiles(Vec<AttachmentRow>);

impl ClaimableFiles {
    /// The files at these paths that a user may load. The server's own bots may load none.
    ///
    /// Other changes wait meanwhile, so at most [`MAX_LOOKED_UP_MESSAGES`] are looked at. If none of these lets the user load a file of
    /// another user, it is left out.
    pub fn of(connection: &Connection, sender_id: UserId, now: i64, path_ids: &[String]) -> ApiResult<Self> {
        if path_ids.is_empty() {
            return Ok(Self::default());
        }
        let Some(sender) = ok_unless_refused(rows::user::caller(connection, sender_id))? else {
            return Ok(Self::default());
        };
        let messages = MessageAccess::new(Ctx::new(connection, &sender, now));
        let (mut files, mut room) = (Vec::new(), MAX_LOOKED_UP_MESSAGES);
        for file in all_at(connection, path_ids)? {
            if access::may_load_within(&messages, &file, &mut room)? {
                files.push(file);
            }
        }
        Ok(Self(files))
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The files at some paths, each once.
fn all_at(connection: &Connection, path_ids: &[String]) -> ApiResult<Vec<AttachmentRow>> {
    let mut files: Vec<AttachmentRow> = Vec::new();
    for path_id in path_ids {
        let file = access::by_address(connection, path_id)?;
        files.extend(file.filter(|file| !files.iter().any(|known| known.id == file.id)));
    }
    Ok(files)
}

/// Claims files for a new message.
pub fn claim(tx: &mut Tx<'_>, files: ClaimableFiles, message_id: MessageId) -> ApiResult<()> {
    for file in files.0 {
        sql::claim(tx, file.id, message_id)?;
        record::emit_updated(tx, file)?;
    }
    Ok(())
}

/// Hands files of a new message over from its sender to another user, for whom they count from then on: those to which no other
/// message links.
pub fn hand_over(tx: &mut Tx<'_>, message_id: MessageId, from: UserId, to: UserId) -> ApiResult<()> {
    for id in sql::of_message(tx, message_id)? {
        let Some(file) = sql::by_id(tx, id)?.filter(|file| file.user_id == from) else { continue };
        if sql::messages_of(tx, id)?.len() == 1 {
            sql::set_user(tx, id, to)?;
            record::emit_added(tx, AttachmentRow { user_id: to, ..file })?;
        }
    }
    Ok(())
}

/// The result of an edit for the files of a message.
pub struct ReferenceChange {
    /// True if the message links to files after the edit.
    pub has_attachment: bool,
    /// Files of the editor that no message links to any more, which they may want to delete.
    pub detached: Vec<AttachmentRecord>,
}

/// Claims the files that an edited message links to, and releases the others.
pub fn change(
    tx: &mut Tx<'_>,
    editor: &Caller,
    sender_id: UserId,
    message_id: MessageId,
    path_ids: &[String],
) -> ApiResult<ReferenceChange> {
    let before = sql::of_message(tx, message_id)?;
    let linked = all_at(tx, path_ids)?;
    let added = ClaimableFiles::of(tx, sender_id, tx.now(), path_ids)?;
    let added: Vec<_> = added.0.into_iter().filter(|file| !before.contains(&file.id)).collect();
    let removed: Vec<i64> =
        before.iter().copied().filter(|id| !linked.iter().any(|file| file.id == *id)).collect();
    let has_attachment = before.len() > removed.len() || !added.is_empty();
    let mut detached = Vec::new();
    for id in removed {
        sql::release(tx, id, message_id)?;
        let Some(file) = sql::by_id(tx, id)? else { continue };
        if !sql::is_claimed(tx, id)? {
            sql::set_unclaimed_since(tx, id, Some(tx.now()))?;
            if file.user_id == editor.user_id {
                detached.push(AttachmentRecord::load(tx, file.clone())?);
            }
        }
        record::emit_updated(tx, file)?;
    }
    claim(tx, ClaimableFiles(added), message_id)?;
    Ok(ReferenceChange { has_attachment, detached })
}

/// Releases the files of messages that are about to be deleted. A file that nothing else links to is deleted.
pub fn release_deleted(tx: &mut Tx<'_>, message_ids: &[MessageId]) -> ApiResult<()> {
    let mut files = Vec::new();
    for message_id in message_ids {
        for id in sql::of_message(tx, *message_id)? {
            sql::release(tx, id, *message_id)?;
            files.push(id);
        }
    }
    files.sort_unstable();
    files.dedup();
    for id in files {
        let Some(file) = sql::by_id(tx, id)? else { continue };
        if sql::is_claimed(tx, id)? {
            record::emit_updated(tx, file)?;
        } else {
            delete(tx, &file)?;
        }
    }
    Ok(())
}

/// Claims the files that a scheduled message links to, and no others.
pub fn set_scheduled(
    tx: &mut Tx<'_>,
    sender_id: UserId,
    scheduled_message_id: i64,
    path_ids: &[String],
) -> ApiResult<()> {
    let files = ClaimableFiles::of(tx, sender_id, tx.now(), path_ids)?;
    release_scheduled(tx, scheduled_message_id)?;
    for file in files.0 {
        sql::claim_for_scheduled(tx, file.id, scheduled_message_id)?;
    }
    Ok(())
}

/// Releases the files of a scheduled message that was sent or deleted.
pub fn release_scheduled(tx: &Tx<'_>, scheduled_message_id: i64) -> ApiResult<()> {
    let files = sql::of_scheduled_message(tx, scheduled_message_id)?;
    sql::release_scheduled(tx, scheduled_message_id)?;
    for id in files {
        if !sql::is_claimed(tx, id)? {
            sql::set_unclaimed_since(tx, id, Some(tx.now()))?;
        }
    }
    Ok(())
}

/// Deletes a file and emits that to its uploader. Its content is deleted in pieces later.
pub fn delete(tx: &mut Tx<'_>, file: &AttachmentRow) -> ApiResult<()> {
    sql::delete(tx, file)?;
    blobs::schedule_deletion(tx, file.content_id, tx.now())?;
    record::emit_removed(tx, file)
}
