//! Sends scheduled messages when they are due.

use crate::api::scheduled_messages::record::{ScheduledMessageRow, Target};
use crate::api::scheduled_messages::{record, sql};
use crate::app::App;
use crate::auth::Ctx;
use crate::domain::access::channels::no_channel_with_id;
use crate::domain::files::references;
use crate::domain::messages::create::{OutgoingMessage, send};
use crate::domain::messages::destination;
use crate::domain::messages::destination::Destination;
use crate::domain::notices::{BotMessage, direct_address};
use crate::domain::rendering::{on_snapshot, render_for};
use crate::domain::{realm, rows, user_settings};
use crate::http::{ApiError, ApiResult, Caller};
use crate::scheduler;
use crate::scheduler::DuePosition;
use crate::store::Snapshot;
use crate::types::Topic;
use rusqlite::Connection;
use teamchat_markdown::{Composition, Words};

/// The largest delay, in seconds. A message that is later fails instead of being sent.
const MAX_DELAY: i64 = 10 * 60;

/// Sends all messages that are due, the oldest first. Returns when the next one is due, in UNIX seconds.
pub async fn deliver_due(app: &App) -> ApiResult<Option<i64>> {
    scheduler::process_due(app, load_next, |row| deliver(app, row)).await
}

/// The first message after a position; `None` while the organization is deactivated.
fn load_next(
    snapshot: &Snapshot<'_>,
    after: DuePosition,
) -> ApiResult<Option<(DuePosition, ScheduledMessageRow)>> {
    let row = if realm::is_deactivated(snapshot)? { None } else { sql::next(snapshot, after)? };
    Ok(row.map(|row| ((row.scheduled_delivery_timestamp, row.scheduled_message_id), row)))
}

/// Sends a message, or marks it as failed and informs its sender. Returns an error if neither was possible, or if the
/// server and not the message is to blame: then it is tried again.
async fn deliver(app: &App, row: ScheduledMessageRow) -> ApiResult<()> {
    let now = app.clock.seconds();
    let to_render = row.clone();
    let prepared =
        on_snapshot(app, None, &[&row.content], move |snapshot| prepare(snapshot, &to_render, now)).await;
    let sent = match prepared {
        Ok((caller, draft)) => {
            let row = row.clone();
            let job = app.writer.run(move |tx| -> ApiResult<()> {
                // The message was changed or deleted in the meantime. If it still exists, it is loaded again.
                if sql::by_id(tx, row.scheduled_message_id)?.as_ref() != Some(&row) {
                    return Ok(());
                }
                let mut caller = caller;
                caller.reload(tx)?;
                send(tx, &caller, draft)?;
                references::release_scheduled(tx, row.scheduled_message_id)?;
                sql::set_sent(tx, row.scheduled_message_id)?;
                record::emit_removed(tx, &row);
                Ok(())
            });
            job.await
        }
        Err(error) => Err(error),
    };
    match sent {
        Err(error) if !error.is_transient() => fail(app, row, &error).await,
        sent => sent,
    }
}

/// Loads the sender, checks the destination again and renders the message.
fn prepare(
    connection: &Connection,
    row: &ScheduledMessageRow,
    now: i64,
) -> ApiResult<(Caller, OutgoingMessage)> {
    let caller = rows::user::caller(connection, row.sender_id)?;
    if now - row.scheduled_delivery_timestamp > MAX_DELAY {
        return Err(ApiError::bad_request("Message could not be sent at the scheduled time."));
    }
    let mut address = match &row.target {
        Target::Channel(stream_id, topic) => {
            let stream = rows::channel::by_id(connection, *stream_id)?;
            let stream = stream.ok_or_else(|| no_channel_with_id(stream_id.0))?;
            Destination::Channel(Box::new(stream), Topic::stored(topic.clone()))
        }
        Target::Direct(people) => Destination::Direct(people.clone()),
    };
    destination::recheck(Ctx::new(connection, &caller, now), &mut address)?;
    let rendered = render_for(Ctx::new(connection, &caller, now), &row.origin, &row.content)?;
    let draft = OutgoingMessage {
        read_by_sender: row.read_by_sender,
        ..OutgoingMessage::new(address, row.content.clone(), rendered, row.client.clone())
    };
    Ok((caller, draft))
}

/// Marks a message as failed and sends its sender the reason, unless the account is deactivated.
async fn fail(app: &App, mut row: ScheduledMessageRow, error: &ApiError) -> ApiResult<()> {
    let time = Words::default().time(row.scheduled_delivery_timestamp);
    let notice = app.readers.read(|snapshot| {
        rows::user::caller(snapshot, row.sender_id)?;
        let language = user_settings::language_of(snapshot, row.sender_id)?;
        let text =
            language.t("The message you scheduled for {time} was not sent because of the following error:");
        let content = Composition::from(Words::filled(text, &[("time", time)]))
            .quote_text(error.msg())
            .paragraph(Words::new(language.t("[View scheduled messages](#scheduled)")));
        BotMessage::composed(snapshot, direct_address(snapshot, row.sender_id)?, content)
    });
    let notice = notice.await;
    let job = app.writer.run(move |tx| -> ApiResult<()> {
        if sql::by_id(tx, row.scheduled_message_id)?.as_ref() != Some(&row) {
            return Ok(());
        }
        row.failed = true;
        sql::update(tx, &row)?;
        record::emit_changed(tx, &row);
        match notice {
            Ok(notice) => notice.send(tx),
            // The account is deactivated.
            Err(_) => Ok(()),
        }
    });
    job.await
}
