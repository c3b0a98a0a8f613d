//! Sends reminders when they are due.

use crate::api::reminders::text;
use crate::app::App;
use crate::auth::Ctx;
use crate::domain::messages::reminders::record::ReminderRow;
use crate::domain::messages::reminders::{record, sql};
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::notices::{BotMessage, direct_address};
use crate::domain::{realm, rows};
use crate::http::ApiResult;
use crate::scheduler;
use crate::scheduler::DuePosition;
use crate::store::Snapshot;
use rusqlite::Connection;

/// Sends all reminders that are due, the oldest first. Returns when the next one is due, in UNIX seconds. Unlike a
/// scheduled message, a reminder is sent however late it is, since only the user who created it gets it.
pub async fn deliver_due(app: &App) -> ApiResult<Option<i64>> {
    scheduler::process_due(app, load_next, |row| deliver(app, row)).await
}

/// The first reminder after a position; `None` while the organization is deactivated.
fn load_next(snapshot: &Snapshot<'_>, after: DuePosition) -> ApiResult<Option<(DuePosition, ReminderRow)>> {
    let row = if realm::is_deactivated(snapshot)? { None } else { sql::next(snapshot, after)? };
    Ok(row.map(|row| ((row.scheduled_delivery_timestamp, row.reminder_id), row)))
}

async fn deliver(app: &App, row: ReminderRow) -> ApiResult<()> {
    let now = app.clock.seconds();
    let to_render = row.clone();
    let prepared =
        app.read_in(&app.pools.rendering, None, move |snapshot| prepare(snapshot, &to_render, now));
    let message = match prepared.await {
        // The server is to blame and not the reminder, which is tried again.
        Err(error) if error.is_transient() => return Err(error),
        message => message,
    };
    if let Err(error) = &message {
        tracing::info!(%error, row.reminder_id, "a reminder could not be sent");
    }
    let job = app.writer.run(move |tx| -> ApiResult<()> {
        // The reminder was deleted in the meantime.
        if sql::by_id(tx, row.reminder_id)?.as_ref() != Some(&row) {
            return Ok(());
        }
        match message {
            Ok(message) => {
                message.send(tx)?;
                sql::delete(tx, row.reminder_id)?;
                record::emit_removed(tx, &row);
            }
            // The account is deactivated, so that there are no clients to emit an event to.
            Err(_) => sql::set_failed(tx, row.reminder_id)?,
        }
        Ok(())
    });
    job.await
}

/// Renders the reminder with the current message, or as it was created if the user can no longer see the message, or if the HTML
/// of the current one is too long for a message of the user.
fn prepare(connection: &Connection, row: &ReminderRow, now: i64) -> ApiResult<BotMessage> {
    let caller = rows::user::caller(connection, row.user_id)?;
    let ctx = Ctx::new(connection, &caller, now);
    let address = direct_address(connection, row.user_id)?;
    let render = |content: String| BotMessage::new(ctx, &row.origin, address.clone(), content);
    let current = MessageViewer::new(ctx)
        .find(row.message_id)
        .and_then(|message| text::of_message(connection, &caller, &message, &row.note))
        .and_then(render);
    match current {
        Err(error) if !error.is_transient() => render(row.content.clone()),
        current => current,
    }
}
