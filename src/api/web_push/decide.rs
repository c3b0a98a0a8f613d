//! Decides who is notified of waiting messages, in snapshots after their commit.

use crate::api::web_push::queue;
use crate::api::web_push::queue::Transports;
use crate::app::App;
use crate::domain::access::messages::{direct_user_ids, stream_of};
use crate::domain::messages;
use crate::domain::notifications::{PUSH, deciding, waiting};
use crate::error::ApiResult;
use crate::store::{Budget, Tx};
use crate::types::{MessageId, UserId};
use rusqlite::Connection;
use std::sync::Arc;

/// Decides about all waiting messages.
pub async fn decide_waiting(app: &App) -> ApiResult<()> {
    let transports = Transports::of(&app.options);
    loop {
        let has_waiting = app
            .readers
            .read(|snapshot| ApiResult::Ok(!waiting::waiting_messages(snapshot, PUSH.queue, 1)?.is_empty()));
        if !has_waiting.await? {
            return Ok(());
        }
        let (hub, now) = (Arc::clone(&app.hub), app.clock.seconds());
        let decided = app.read_in(&app.pools.slow_reads, None, move |snapshot| {
            let subscribed = queue::subscribed_users(snapshot, transports)?;
            deciding::decide(snapshot, &hub, &PUSH, now, |_, _| Ok(subscribed.clone()))
        });
        let mut decisions = decided.await?;
        let hub = Arc::clone(&app.hub);
        let store = move |tx: &mut Tx<'_>, budget: &mut Budget| {
            decisions.store(tx, budget, &hub, &PUSH, |tx, user_id, message_id| {
                notify(tx, user_id, message_id, transports)
            })
        };
        app.writer.run_in_parts("push_decisions", store).await?;
    }
}

/// Checks held messages. Returns when they are checked next, in UNIX seconds.
pub async fn check_held(app: &App) -> ApiResult<Option<i64>> {
    let next_check =
        || app.readers.read(|snapshot| ApiResult::Ok(waiting::next_check(snapshot, PUSH.queue)?));
    if next_check().await?.is_none_or(|next| next > app.clock.seconds()) {
        return next_check().await;
    }
    let (hub, transports) = (Arc::clone(&app.hub), Transports::of(&app.options));
    let check = move |tx: &mut Tx<'_>, budget: &mut Budget| {
        deciding::check_held(tx, budget, &hub, &PUSH, |tx, user_id, message_id| {
            notify(tx, user_id, message_id, transports)
        })
    };
    app.writer.run_in_parts("push_checks", check).await?;
    next_check().await
}

/// Adds a message to the notifications of a user, unless it was deleted.
fn notify(tx: &mut Tx<'_>, user_id: UserId, message_id: MessageId, transports: Transports) -> ApiResult<()> {
    if let Some(tag) = tag_of(tx, message_id, user_id)? {
        queue::add(tx, user_id, &tag, message_id, transports)?;
    }
    Ok(())
}

/// The name of a message's conversation in a user's browser, as the web client names it.
fn tag_of(connection: &Connection, message_id: MessageId, user_id: UserId) -> ApiResult<Option<String>> {
    let Some(message) = messages::by_id(connection, message_id)? else { return Ok(None) };
    if let Some(stream_id) = stream_of(connection, message.recipient_id)? {
        return Ok(Some(format!("channel/{stream_id}/{}", message.topic().key())));
    }
    let mut people = direct_user_ids(connection, message.recipient_id)?.unwrap_or_default();
    people.retain(|other| *other != user_id);
    Ok(Some(format!("dm/{}", messages::joined(&people))))
}
