//! Reminders of messages: rows, records and events, and the removal of the text of deleted messages.

pub mod record;
pub mod sql;

use crate::domain::messages::reminders::record::{ReminderRow, emit_added, emit_removed};
use crate::domain::user_settings;
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{Language, MessageId, UserId};
use teamchat_markdown::{Composition, Words};

/// Deletes the reminders of a user, with events, and returns their number.
pub fn delete_all(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<usize> {
    let rows = sql::of_user(tx, user_id)?;
    for row in &rows {
        sql::delete(tx, row.reminder_id)?;
        emit_removed(tx, row);
    }
    Ok(rows.len())
}

/// Removes the text of deleted messages from the reminders of them. Their users get `remove` and `add`: the interface has no
/// event about a changed reminder.
pub fn forget_messages(tx: &mut Tx<'_>, ids: &[MessageId]) -> ApiResult<()> {
    for row in sql::of_messages(tx, &serde_json::to_string(ids)?)? {
        let language = user_settings::language_of(tx, row.user_id)?;
        let (content, rendered) = text_of_deleted(language, &row.note).finish();
        let after = ReminderRow { content, rendered_content: rendered.html, ..row };
        sql::set_content(tx, &after)?;
        emit_removed(tx, &after);
        emit_added(tx, &after);
        // A delivery that has read the old text skips the reminder.
        tx.wake_tasks_after_commit();
    }
    Ok(())
}

/// The text of a reminder whose message was deleted.
fn text_of_deleted(language: Language, note: &str) -> Composition {
    if note.is_empty() {
        return Words::new(language.t("You requested a reminder for a message that was deleted.")).into();
    }
    let words = Words::new(language.t("You requested a reminder for a message that was deleted. Note:"));
    Composition::from(words).quote_text(note)
}
