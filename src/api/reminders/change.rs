//! `GET`, `POST` and `DELETE /reminders`.

use crate::api::reminders::text;
use crate::auth::Ctx;
use crate::domain::limits::{Accounts, MAX_OWNED_LENGTH, MAX_REMINDERS};
use crate::domain::messages::reminders::record::{ReminderRecord, ReminderRow};
use crate::domain::messages::reminders::{record, sql};
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::rendering::render_for;
use crate::http::params::{NoParams, UnixTime};
use crate::http::{ApiError, ApiResult, Call, Caller, Read, Reply, User};
use crate::store::Tx;
use crate::types::MessageId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The reply to `GET /reminders`.
#[derive(Serialize)]
pub struct Reminders {
    /// The caller's reminders, in the order of delivery.
    pub reminders: Vec<ReminderRecord>,
}

/// `GET /reminders`: lists the caller's reminders in the order of delivery.
pub fn get_reminders(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<Reminders>> {
    let rows = sql::of_user(read, read.caller.user_id)?;
    let records: Vec<_> = rows.iter().map(ReminderRecord::new).collect();
    Reply::data(&Reminders { reminders: records })
}

/// Parameters of `POST /reminders`.
#[derive(Deserialize)]
pub struct CreateParams {
    /// The id of the message to be reminded of. The caller must be able to see it.
    message_id: MessageId,
    /// When to send the reminder, in UNIX seconds; in the future.
    scheduled_delivery_timestamp: UnixTime,
    /// A text to send with the reminder, at most 1000 characters.
    note: Option<String>,
}

/// The reply to `POST /reminders`.
#[derive(Serialize)]
pub struct CreatedReminder {
    /// The id of the new reminder.
    pub reminder_id: i64,
}

/// `POST /reminders`: schedules a reminder of a message, which the notification bot sends to the caller. A person can
/// have at most 500.
pub async fn create_reminder(call: Call<User>, params: CreateParams) -> ApiResult<Reply<CreatedReminder>> {
    let app = Arc::clone(&call.app);
    let now = app.clock.seconds();
    let scheduled_delivery_timestamp = params.scheduled_delivery_timestamp.seconds();
    if scheduled_delivery_timestamp <= now {
        return Err(ApiError::bad_request("Scheduled delivery time must be in the future."));
    }
    let (caller, origin) = (Caller::clone(&call.caller), call.info.origin.clone());
    // The message that is quoted may be long.
    let prepared = app.read_in(&app.pools.rendering, Some(caller.quota_owner()), move |snapshot| {
        let message = MessageViewer::new(Ctx::new(snapshot, &caller, now)).find(params.message_id)?;
        let note = text::note(&params.note.unwrap_or_default())?;
        let content = text::of_message(snapshot, &caller, &message, &note)?;
        let rendered = render_for(Ctx::new(snapshot, &caller, now), &origin, &content)?;
        Ok(ReminderRow {
            reminder_id: 0,
            user_id: caller.user_id,
            message_id: message.id,
            note,
            content,
            rendered_content: rendered.html,
            scheduled_delivery_timestamp,
            origin,
            failed: false,
        })
    });
    let mut row = prepared.await?;
    let id = call
        .write(move |tx, caller| {
            MessageViewer::new(tx.ctx(caller)).find(row.message_id)?;
            let accounts = Accounts::of(tx, row.user_id, tx.now())?;
            let statement =
                "SELECT count(*) FROM reminder WHERE user_id IN (SELECT value FROM json_each(?1))";
            accounts.check("reminders", statement, 1, MAX_REMINDERS)?;
            row.reminder_id = sql::insert(tx, &row)?;
            let statement = "SELECT sum(octet_length(content) + octet_length(rendered_content)) FROM reminder
                 WHERE user_id IN (SELECT value FROM json_each(?1))";
            accounts.check_length("reminders", statement, MAX_OWNED_LENGTH)?;
            record::emit_added(tx, &row);
            tx.wake_tasks_after_commit();
            Ok(row.reminder_id)
        })
        .await?;
    Reply::data(&CreatedReminder { reminder_id: id })
}

/// Parameters of `DELETE /reminders/{reminder_id}`.
#[derive(Deserialize)]
pub struct DeleteParams {
    /// The id of a reminder of the caller.
    reminder_id: i64,
}

/// `DELETE /reminders/{reminder_id}`: deletes a reminder.
pub fn delete_reminder(tx: &mut Tx<'_>, caller: &User, params: DeleteParams) -> ApiResult<Reply> {
    let row = sql::by_id(tx, params.reminder_id)?
        .filter(|row| row.user_id == caller.user_id)
        .ok_or_else(|| ApiError::bad_request("Reminder does not exist"))?;
    sql::delete(tx, row.reminder_id)?;
    record::emit_removed(tx, &row);
    Ok(Reply::ok())
}
