//! Decides who is notified of waiting messages, in snapshots after their commit.

use crate::api::web_push::queue;
use crate::api::web_push::queue::{HeldMessage, Transports, WaitingMessage};
use crate::app::App;
use crate::domain::access::messages::{direct_user_ids, stream_of};
use crate::domain::messages::read_state;
use crate::domain::messages::record::MessageRow;
use crate::domain::notifications::facts::is_away;
use crate::domain::notifications::{Facts, PUSH, Trigger, facts, trigger};
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::{messages, rows, user_settings, user_topics};
use crate::error::ApiResult;
use crate::events::Hub;
use crate::store::{Budget, Snapshot, Tx};
use crate::types::{MessageId, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::VecDeque;
use std::sync::Arc;

/// Messages that are decided in one snapshot.
const MESSAGES_PER_SNAPSHOT: i64 = 100;

/// Held messages that are checked in one step.
const HELD_PER_STEP: i64 = 10;

/// Seconds between two checks of a held message.
const CHECK_INTERVAL: i64 = 60;

/// A message of which a user is notified.
#[derive(Debug)]
struct Notified {
    user_id: UserId,
    /// Names the conversation, also in the browser.
    tag: String,
    message_id: MessageId,
}

/// Decisions about some messages.
#[derive(Debug, Default)]
struct Decisions {
    notified: VecDeque<Notified>,
    /// Users, and messages of which they are notified only if no client of theirs receives them.
    held: VecDeque<(UserId, MessageId)>,
    /// The last waiting message that was decided.
    until: Option<i64>,
}

/// Decides about all waiting messages.
pub async fn decide_waiting(app: &App) -> ApiResult<()> {
    loop {
        let has_waiting =
            app.readers.read(|snapshot| ApiResult::Ok(!queue::waiting_messages(snapshot, 1)?.is_empty()));
        if !has_waiting.await? {
            return Ok(());
        }
        let (hub, now, transports) =
            (Arc::clone(&app.hub), app.clock.seconds(), Transports::of(&app.options));
        let decide = move |snapshot: &Snapshot<'_>| decide(snapshot, &hub, now, transports);
        let decided = app.read_in(&app.pools.slow_reads, None, decide);
        let mut decisions = decided.await?;
        let hub = Arc::clone(&app.hub);
        let store = move |tx: &mut Tx<'_>, budget: &mut Budget| -> ApiResult<bool> {
            // The writer has published the events of the messages before it runs this job.
            let delivered_with = hub.head();
            while budget.next_step() {
                if let Some(Notified { user_id, tag, message_id }) = decisions.notified.pop_front() {
                    queue::add(tx, user_id, &tag, message_id, transports)?;
                } else if let Some((user_id, message_id)) = decisions.held.pop_front() {
                    let held = HeldMessage { user_id, message_id, delivered_with };
                    queue::hold(tx, &held, tx.now() + CHECK_INTERVAL)?;
                } else {
                    // Until here, a crash repeats the decisions.
                    decisions.until.map_or(Ok(()), |until| queue::remove_waiting(tx, until))?;
                    return Ok(true);
                }
            }
            Ok(false)
        };
        app.writer.run_in_parts("push_decisions", store).await?;
    }
}

fn decide(connection: &Connection, hub: &Hub, now: i64, transports: Transports) -> ApiResult<Decisions> {
    let mut decisions = Decisions::default();
    let subscribed = queue::subscribed_users(connection, transports)?;
    for waiting in queue::waiting_messages(connection, MESSAGES_PER_SNAPSHOT)? {
        decisions.until = Some(waiting.id);
        // A message that cannot be decided must not hold up the others.
        if let Err(error) = decide_one(connection, hub, (&waiting, &subscribed), now, &mut decisions) {
            tracing::warn!(%error, message_id = %waiting.message_id, "no one is notified of a message");
        }
    }
    Ok(decisions)
}

fn decide_one(
    connection: &Connection,
    hub: &Hub,
    (waiting, subscribed): (&WaitingMessage, &RoaringBitmap),
    now: i64,
    decisions: &mut Decisions,
) -> ApiResult<()> {
    let Some(message) = messages::by_id(connection, waiting.message_id)? else { return Ok(()) };
    let stream_id = stream_of(connection, message.recipient_id)?;
    let receivers: RoaringBitmap = match stream_id {
        Some(stream_id) => rows::channel::subscribers(connection, stream_id)?,
        None => {
            let people = direct_user_ids(connection, message.recipient_id)?.unwrap_or_default();
            people.into_iter().filter_map(UserId::bit).collect()
        }
    };
    for user_id in (receivers & subscribed) - &waiting.known_to {
        let user_id = UserId::from(user_id);
        if user_id == waiting.edited_by.unwrap_or(message.sender_id) || user_id == message.sender_id {
            continue;
        }
        let is_edit = waiting.edited_by.is_some();
        if reason(connection, (&message, stream_id), user_id, is_edit)?.is_none() {
            continue;
        }
        let message_id = message.id;
        if is_away(connection, hub, user_id, now)?
            || user_settings::ENABLE_ONLINE_PUSH_NOTIFICATIONS.get(connection, user_id)?
        {
            let tag = tag_of(connection, (&message, stream_id), user_id)?;
            decisions.notified.push_back(Notified { user_id, tag, message_id });
        } else {
            decisions.held.push_back((user_id, message_id));
        }
    }
    Ok(())
}

/// The reason for which a user is notified of a message, if they are: they have not read it, and their settings say so.
pub fn reason(
    connection: &Connection,
    (message, stream_id): (&MessageRow, Option<StreamId>),
    user_id: UserId,
    is_edit: bool,
) -> ApiResult<Option<Trigger>> {
    let mut facts = Facts { is_edit, ..facts::load(connection, &PUSH, (message, stream_id), user_id)? };
    // A mention lets users follow the topic: they were not notified of the message as followers.
    if let (true, Some(stream_id), Some(edited)) = (is_edit, stream_id, message.last_edit_timestamp)
        && user_topics::last_updated(connection, user_id, stream_id, &message.topic().key())? >= Some(edited)
    {
        facts.policy = VisibilityPolicy::Inherit;
    }
    let Some(trigger) = trigger(&facts) else { return Ok(None) };
    let read = read_state::load(connection, user_id, message.recipient_id)?;
    let is_read = message.id.bit().is_none_or(|bit| read.contains(bit));
    Ok((!is_read).then_some(trigger))
}

/// The name of a message's conversation in a user's browser, as the web client names it.
fn tag_of(
    connection: &Connection,
    (message, stream_id): (&MessageRow, Option<StreamId>),
    user_id: UserId,
) -> ApiResult<String> {
    if let Some(stream_id) = stream_id {
        return Ok(format!("channel/{stream_id}/{}", message.topic().key()));
    }
    let mut people = direct_user_ids(connection, message.recipient_id)?.unwrap_or_default();
    people.retain(|other| *other != user_id);
    Ok(format!("dm/{}", messages::joined(&people)))
}

/// Checks held messages: their users are notified when they have no queue any more, and not if a client received the message.
/// Returns when they are checked next, in UNIX seconds.
pub async fn check_held(app: &App) -> ApiResult<Option<i64>> {
    let next_check = || app.readers.read(|snapshot| ApiResult::Ok(queue::next_check(snapshot)?));
    if next_check().await?.is_none_or(|next| next > app.clock.seconds()) {
        return next_check().await;
    }
    let (hub, transports) = (Arc::clone(&app.hub), Transports::of(&app.options));
    let check = move |tx: &mut Tx<'_>, budget: &mut Budget| -> ApiResult<bool> {
        while budget.next_step() {
            let due = queue::held_messages(tx, tx.now(), HELD_PER_STEP)?;
            for held in &due {
                check_one(tx, &hub, held, transports)?;
            }
            if due.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    };
    app.writer.run_in_parts("push_checks", check).await?;
    next_check().await
}

/// Checks a held message, and sets when it is checked next if it stays.
fn check_one(tx: &Tx<'_>, hub: &Hub, held: &HeldMessage, transports: Transports) -> ApiResult<()> {
    if hub.has_delivered(held.user_id, held.delivered_with) {
        queue::release(tx, held)?;
    } else if hub.receives_messages(held.user_id) {
        queue::postpone_check(tx, held, tx.now() + CHECK_INTERVAL)?;
    } else {
        queue::release(tx, held)?;
        if let Some(message) = messages::by_id(tx, held.message_id)? {
            let stream_id = stream_of(tx, message.recipient_id)?;
            let tag = tag_of(tx, (&message, stream_id), held.user_id)?;
            queue::add(tx, held.user_id, &tag, held.message_id, transports)?;
        }
    }
    Ok(())
}
