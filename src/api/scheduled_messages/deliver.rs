//! Sending scheduled messages when their time has come.

use crate::api::scheduled_messages::record::{ScheduledMessageRow, Target};
use crate::api::scheduled_messages::{record, sql};
use crate::app::App;
use crate::domain::access::{channel_rows as channels, user_rows as users};
use crate::domain::messages::create::{Draft, send};
use crate::domain::messages::destination::Address;
use crate::domain::messages::quote::global_time;
use crate::domain::messages::render_context::render_for;
use crate::domain::messages::{destination, file_references};
use crate::domain::notices::{BotMessage, direct_address};
use crate::domain::realm;
use crate::http::{ApiError, ApiResult, Caller};
use crate::store::Snapshot;
use crate::types::Topic;
use rusqlite::Connection;

/// A message that is later than this, in seconds, is not sent any more: nobody expects it by then.
const LATEST: i64 = 10 * 60;

/// Sends every message whose time has come, the oldest first, and answers when the next one is due, in UNIX seconds.
pub async fn deliver_due(app: &App) -> ApiResult<Option<i64>> {
    loop {
        let next = app.readers.read(next).await?;
        match next {
            Some(row) if row.scheduled_delivery_timestamp <= app.clock.seconds() => deliver(app, row).await?,
            next => return Ok(next.map(|row| row.scheduled_delivery_timestamp)),
        }
    }
}

/// The next message; none while the organization is closed.
fn next(snapshot: &Snapshot<'_>) -> ApiResult<Option<ScheduledMessageRow>> {
    if realm::is_deactivated(snapshot)? { Ok(None) } else { Ok(sql::next(snapshot)?) }
}

/// Sends a message, or says why not. An error means that neither could be done.
async fn deliver(app: &App, row: ScheduledMessageRow) -> ApiResult<()> {
    let now = app.clock.seconds();
    let prepared = app.readers.read(|snapshot| prepare(snapshot, &row, now)).await;
    let sent = match prepared {
        Ok((caller, draft)) => {
            let row = row.clone();
            let job = app.writer.run(move |tx| -> ApiResult<()> {
                // Changed or deleted since: it is looked at again, if it is still there.
                if sql::by_id(tx, row.scheduled_message_id)?.as_ref() != Some(&row) {
                    return Ok(());
                }
                let mut caller = caller;
                caller.reload(tx)?;
                send(tx, &caller, draft)?;
                file_references::release_scheduled(tx, row.scheduled_message_id)?;
                sql::set_sent(tx, row.scheduled_message_id)?;
                record::tell_removed(tx, &row);
                Ok(())
            });
            job.await
        }
        Err(error) => Err(error),
    };
    match sent {
        Err(error) if error.status() != 503 => fail(app, row, &error).await,
        sent => sent,
    }
}

/// The sender, and the message rendered for this moment.
fn prepare(connection: &Connection, row: &ScheduledMessageRow, now: i64) -> ApiResult<(Caller, Draft)> {
    let caller = users::caller(connection, row.sender_id)?;
    if now - row.scheduled_delivery_timestamp > LATEST {
        return Err(ApiError::bad_request("Message could not be sent at the scheduled time."));
    }
    let mut address = match &row.target {
        Target::Channel(stream_id, topic) => {
            let stream = channels::by_id(connection, *stream_id)?;
            let stream = stream.ok_or_else(|| ApiError::no_channel_with_id(stream_id.0))?;
            Address::Channel(Box::new(stream), Topic::stored(topic.clone()))
        }
        Target::Direct(people) => Address::Direct(people.clone()),
    };
    destination::recheck(connection, &caller, now, &mut address)?;
    let rendered = render_for(connection, &caller, now, &row.origin, &row.content)?;
    let draft = Draft {
        read_by_sender: row.read_by_sender,
        ..Draft::new(address, row.content.clone(), rendered, row.client.clone())
    };
    Ok((caller, draft))
}

/// Marks a message as failed and tells its sender why, unless nobody is there to read it.
async fn fail(app: &App, mut row: ScheduledMessageRow, error: &ApiError) -> ApiResult<()> {
    let now = app.clock.seconds();
    let content = format!(
        "The message you scheduled for {} was not sent because of the following error:\n\n> {}\n\n\
         [View scheduled messages](#scheduled)",
        global_time(row.scheduled_delivery_timestamp),
        error.msg(),
    );
    let notice = app.readers.read(|snapshot| {
        let caller = users::caller(snapshot, row.sender_id)?;
        let to = direct_address(snapshot, row.sender_id)?;
        BotMessage::new(snapshot, &caller, now, &row.origin, to, content)
    });
    let notice = notice.await;
    let job = app.writer.run(move |tx| -> ApiResult<()> {
        if sql::by_id(tx, row.scheduled_message_id)?.as_ref() != Some(&row) {
            return Ok(());
        }
        row.failed = true;
        sql::update(tx, &row)?;
        record::tell_changed(tx, &row);
        match notice {
            Ok(notice) => notice.send(tx),
            // The account is deactivated.
            Err(_) => Ok(()),
        }
    });
    job.await
}
