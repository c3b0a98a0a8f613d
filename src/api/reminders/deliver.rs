//! Reminding when the time has come.

use crate::api::reminders::record::ReminderRow;
use crate::api::reminders::{record, sql, text};
use crate::app::App;
use crate::domain::access::user_rows as users;
use crate::domain::messages::access::Sight;
use crate::domain::notices::{BotMessage, direct_address};
use crate::domain::realm;
use crate::http::ApiResult;
use crate::store::Snapshot;
use rusqlite::Connection;

/// Sends every reminder whose time has come, the oldest first, and answers when the next one is due, in UNIX seconds.
/// However late it is: it surprises nobody but the user who asked for it.
pub async fn deliver_due(app: &App) -> ApiResult<Option<i64>> {
    loop {
        let next = app.readers.read(next).await?;
        match next {
            Some(row) if row.scheduled_delivery_timestamp <= app.clock.seconds() => deliver(app, row).await?,
            next => return Ok(next.map(|row| row.scheduled_delivery_timestamp)),
        }
    }
}

/// The next reminder; none while the organization is closed.
fn next(snapshot: &Snapshot<'_>) -> ApiResult<Option<ReminderRow>> {
    if realm::is_deactivated(snapshot)? { Ok(None) } else { Ok(sql::next(snapshot)?) }
}

async fn deliver(app: &App, row: ReminderRow) -> ApiResult<()> {
    let now = app.clock.seconds();
    let message = app.readers.read(|snapshot| prepare(snapshot, &row, now)).await;
    if let Err(error) = &message {
        tracing::info!(%error, row.reminder_id, "nobody could be reminded");
    }
    let job = app.writer.run(move |tx| -> ApiResult<()> {
        // Deleted since: nothing is left to do.
        if sql::by_id(tx, row.reminder_id)?.as_ref() != Some(&row) {
            return Ok(());
        }
        match message {
            Ok(message) => {
                message.send(tx)?;
                sql::delete(tx, row.reminder_id)?;
                record::tell_removed(tx, &row);
            }
            // The account is deactivated: none of its clients listens.
            Err(_) => sql::set_failed(tx, row.reminder_id)?,
        }
        Ok(())
    });
    job.await
}

/// The reminder as it is now; as it was when it was asked for, if the user may not see the message any more.
fn prepare(connection: &Connection, row: &ReminderRow, now: i64) -> ApiResult<BotMessage> {
    let caller = users::caller(connection, row.user_id)?;
    let content = match Sight::new(connection, &caller, now).find(row.message_id) {
        Ok(message) => text::of_message(connection, &message, &row.note)?,
        Err(_) => row.content.clone(),
    };
    BotMessage::new(connection, &caller, now, &row.origin, direct_address(connection, row.user_id)?, content)
}
