//! An uploaded file on the wire (spec, "Attachment"), and the `attachment` events. Only the uploader gets them.

use crate::domain::files::sql;
use crate::domain::files::sql::AttachmentRow;
use crate::error::ApiResult;
use crate::events::{Audience, uniform_event};
use crate::store::Tx;
use crate::types::MessageId;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// An uploaded file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachmentRecord {
    /// The file's id.
    id: i64,
    /// The name that the file had when it was uploaded.
    name: String,
    /// The part of the file's URL after `/user_uploads/`.
    path_id: String,
    /// The size, in bytes.
    size: u64,
    /// When the file was uploaded, in UNIX milliseconds.
    create_time: i64,
    /// The newest messages that link to the file, at most 100, ascending by id.
    messages: Vec<LinkingMessage>,
}

/// A message that links to an uploaded file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LinkingMessage {
    /// The message's id.
    id: MessageId,
    /// When the message was sent, in UNIX milliseconds.
    date_sent: i64,
}

impl AttachmentRecord {
    /// The record of a row.
    pub fn load(connection: &Connection, row: AttachmentRow) -> rusqlite::Result<Self> {
        let messages = sql::messages_of(connection, row.id)?;
        let messages = messages
            .into_iter()
            .map(|(id, timestamp)| LinkingMessage { id, date_sent: timestamp * 1000 })
            .collect();
        Ok(Self {
            id: row.id,
            name: row.name,
            path_id: row.path_id,
            size: row.size,
            create_time: row.create_time * 1000,
            messages,
        })
    }

    /// Keeps the messages that `keep` accepts.
    pub fn retain_messages(&mut self, mut keep: impl FnMut(MessageId) -> ApiResult<bool>) -> ApiResult<()> {
        let mut kept = Vec::new();
        for message in std::mem::take(&mut self.messages) {
            if keep(message.id)? {
                kept.push(message);
            }
        }
        self.messages = kept;
        Ok(())
    }
}

/// `attachment`, `op: add` and `update`: the user uploaded a file, or the messages that link to it changed.
#[derive(Serialize, Deserialize)]
pub struct AttachmentChanged {
    /// `add` for a new file, `update` if the messages that link to it changed.
    op: Cow<'static, str>,
    /// The file as it is now.
    attachment: AttachmentRecord,
    /// The size of all files of the organization, in bytes.
    upload_space_used: u64,
}

uniform_event!(AttachmentChanged: "attachment", name "attachment/change", version 1);

/// `attachment`, `op: remove`: a file of the user was deleted.
#[derive(Serialize, Deserialize)]
pub struct AttachmentRemoved {
    /// The deleted file.
    attachment: RemovedAttachment,
    /// The size of all files of the organization, in bytes.
    upload_space_used: u64,
}

uniform_event!(AttachmentRemoved: "attachment", op "remove", version 1);

#[derive(Serialize, Deserialize)]
struct RemovedAttachment {
    /// The file's id.
    id: i64,
}

/// Emits a new file to its uploader.
pub fn emit_added(tx: &mut Tx<'_>, row: AttachmentRow) -> ApiResult<()> {
    emit_record(tx, "add", row)
}

/// Emits a file to its uploader after the messages that link to it changed.
pub fn emit_updated(tx: &mut Tx<'_>, row: AttachmentRow) -> ApiResult<()> {
    emit_record(tx, "update", row)
}

fn emit_record(tx: &mut Tx<'_>, op: &'static str, row: AttachmentRow) -> ApiResult<()> {
    let audience = Audience::user(row.user_id);
    let upload_space_used = sql::space_used(tx)?;
    let attachment = AttachmentRecord::load(tx, row)?;
    tx.emit(AttachmentChanged { op: op.into(), attachment, upload_space_used }, audience);
    Ok(())
}

/// Emits the deletion of a file to its uploader.
pub fn emit_removed(tx: &mut Tx<'_>, row: &AttachmentRow) -> ApiResult<()> {
    let upload_space_used = sql::space_used(tx)?;
    let event = AttachmentRemoved { attachment: RemovedAttachment { id: row.id }, upload_space_used };
    tx.emit(event, Audience::user(row.user_id));
    Ok(())
}
