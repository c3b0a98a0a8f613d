//! Decides who is notified of a message, in a snapshot after its commit.

use crate::app::App;
use crate::domain::access::messages::{direct_user_ids, stream_of};
use crate::domain::messages::flags::bit;
use crate::domain::messages::read_state;
use crate::domain::messages::record::{MessageRow, attribute};
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::notifications::facts::is_away;
use crate::domain::notifications::waiting::{HeldMessage, WaitingMessage};
use crate::domain::notifications::{Facts, Medium, Trigger, facts, trigger, waiting};
use crate::domain::realm::user_ids;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::{messages, rows, user_topics};
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

/// The number of users up to which each is looked up, instead of all of the organization or of a channel.
const FEW: u64 = 100;

/// The status of errors that are not faults of the program: the time of a read is over, or the disk fails.
const STORE_FAILED: u16 = 503;

/// Seconds between two checks of a held message.
const CHECK_INTERVAL: i64 = 60;

/// The active people whom a medium reaches.
pub struct People<'p> {
    /// Loads all of them.
    pub all: &'p dyn Fn() -> ApiResult<RoaringBitmap>,
    /// Returns whether a user is one of them.
    pub has: &'p dyn Fn(UserId) -> ApiResult<bool>,
}

/// Decisions about some messages, in the order in which they wait.
#[derive(Debug, Default)]
pub struct Decisions(VecDeque<DecidedMessage>);

/// A waiting message, and the users whose decisions are not stored yet.
#[derive(Debug)]
struct DecidedMessage {
    waiting: WaitingMessage,
    users: VecDeque<Decision>,
}

/// A user who is notified of a message.
#[derive(Clone, Copy, Debug)]
struct Decision {
    user_id: UserId,
    /// True if they are notified only if no client of theirs receives the message.
    is_held: bool,
}

/// Decides about the first waiting messages of a medium, and checks its held messages. `decide` decides in a snapshot ([`decide`]),
/// and `notify` adds a message to the notifications of a user. Returns when there is something to decide next, in UNIX seconds.
pub async fn decide_due(
    app: &App,
    medium: &'static Medium,
    decide: impl Fn(&Snapshot<'_>, &Hub, i64) -> ApiResult<Decisions> + Copy + Send + Sync + 'static,
    notify: impl FnMut(&mut Tx<'_>, UserId, MessageId) -> ApiResult<()> + Copy + Send + 'static,
) -> ApiResult<Option<i64>> {
    let has_decided = decide_waiting(app, medium, decide, notify).await?;
    let next_check = check_held(app, medium, notify).await?;
    // More may wait. On a busy server some always do, so the held messages are checked in between.
    Ok(if has_decided { Some(app.clock.seconds()) } else { next_check })
}

/// Decides about the first waiting messages. Returns false if there are none.
async fn decide_waiting(
    app: &App,
    medium: &'static Medium,
    decide: impl Fn(&Snapshot<'_>, &Hub, i64) -> ApiResult<Decisions> + Copy + Send + Sync + 'static,
    notify: impl FnMut(&mut Tx<'_>, UserId, MessageId) -> ApiResult<()> + Copy + Send + 'static,
) -> ApiResult<bool> {
    let (hub, now) = (Arc::clone(&app.hub), app.clock.seconds());
    // Most decisions take less time than the send did, and have its priority, so that they are made as fast as messages are sent.
    // Those about many people have that of pools.
    let decide = move |snapshot: &Snapshot<'_>| decide(snapshot, &hub, now);
    let mut decisions = app.read_quickly_or_in(&app.pools.notifications, None, decide).await?;
    if decisions.0.is_empty() {
        return Ok(false);
    }
    let hub = Arc::clone(&app.hub);
    let store =
        move |tx: &mut Tx<'_>, budget: &mut Budget| decisions.store_some(tx, budget, &hub, medium, notify);
    app.writer.run_in_parts(medium.decision_job, store).await?;
    Ok(true)
}

/// Decides about the first waiting messages of a medium.
pub fn decide(
    snapshot: &Snapshot<'_>,
    hub: &Hub,
    medium: &Medium,
    now: i64,
    people: &People<'_>,
) -> ApiResult<Decisions> {
    let mut decisions = Decisions::default();
    for waiting in waiting::waiting_messages(snapshot, medium.queue, MESSAGES_PER_SNAPSHOT)? {
        let users = match decide_one(snapshot, hub, medium, &waiting, now, people) {
            Ok(users) => users,
            // The time of the snapshot is over. The message is decided in another one.
            Err(error) if error.status() == STORE_FAILED && snapshot.is_quick() => return Err(error),
            Err(error) if error.status() == STORE_FAILED && !decisions.0.is_empty() => break,
            // A message that cannot be decided must not hold up the others.
            Err(error) => {
                tracing::warn!(%error, message_id = %waiting.message_id, "no one is notified of a message");
                VecDeque::new()
            }
        };
        decisions.0.push_back(DecidedMessage { waiting, users });
    }
    Ok(decisions)
}

fn decide_one(
    snapshot: &Snapshot<'_>,
    hub: &Hub,
    medium: &Medium,
    waiting: &WaitingMessage,
    now: i64,
    people: &People<'_>,
) -> ApiResult<VecDeque<Decision>> {
    let mut decisions = VecDeque::new();
    let Some(message) = messages::by_id(snapshot, waiting.message_id)? else { return Ok(decisions) };
    let stream_id = stream_of(snapshot, message.recipient_id)?;
    let candidates = candidates(snapshot, medium, (&message, stream_id), people)?;
    for user_id in candidates - &waiting.known_to {
        let user_id = UserId::from(user_id);
        if user_id == waiting.edited_by.unwrap_or(message.sender_id) || user_id == message.sender_id {
            continue;
        }
        let is_edit = waiting.edited_by.is_some();
        if reason(snapshot, medium, (&message, stream_id), user_id, is_edit)?.is_none() {
            continue;
        }
        let while_active = match medium.while_active {
            Some(setting) => setting.get(snapshot, user_id)?,
            None => false,
        };
        let is_held = !while_active && !is_away(snapshot, hub, user_id, now)?;
        decisions.push_back(Decision { user_id, is_held });
    }
    Ok(decisions)
}

/// The people who receive a message and may have a reason to be notified of it. Aborts a quick read if there may be many.
fn candidates(
    snapshot: &Snapshot<'_>,
    medium: &Medium,
    (message, stream_id): (&MessageRow, Option<StreamId>),
    people: &People<'_>,
) -> ApiResult<RoaringBitmap> {
    let receivers: RoaringBitmap = match stream_id {
        Some(stream_id) if message.has(attribute::STREAM_WILDCARD) => {
            rows::channel::subscribers(snapshot, stream_id)?
        }
        Some(stream_id) => {
            let interested = interested(snapshot, medium, message, stream_id)?;
            if interested.len() <= FEW {
                subscribed(snapshot, &interested, stream_id)?
            } else {
                interested & rows::channel::subscribers(snapshot, stream_id)?
            }
        }
        None => {
            let users = direct_user_ids(snapshot, message.recipient_id)?.unwrap_or_default();
            users.into_iter().filter_map(UserId::bit).collect()
        }
    };
    if receivers.len() > FEW {
        if snapshot.is_quick() {
            return Err(snapshot.abort_quick_read().into());
        }
        return Ok(receivers & (people.all)()?);
    }
    let mut reached = RoaringBitmap::new();
    for user_id in receivers {
        if (people.has)(UserId::from(user_id))? {
            reached.insert(user_id);
        }
    }
    Ok(reached)
}

/// The users who may have a reason to be notified of a channel message without a wildcard mention of the channel, by the rows that
/// name them: few in a large channel, so that a message costs the same there.
fn interested(
    connection: &Connection,
    medium: &Medium,
    message: &MessageRow,
    stream_id: StreamId,
) -> ApiResult<RoaringBitmap> {
    let flags = bit::MENTIONED | bit::TOPIC_WILDCARD_MENTIONED;
    let mut found = messages::users_with_flag(connection, message.id, flags)?;
    let policies = user_topics::of_topic(connection, stream_id, &message.topic().key())?;
    let followers = policies.into_iter().filter(|(_, policy)| *policy == VisibilityPolicy::Followed);
    found.extend(followers.map(|(user_id, _)| user_id));
    let named: RoaringBitmap = found.into_iter().filter_map(UserId::bit).collect();
    let subscribers = user_ids::set(connection, medium.subscribers, [stream_id])?;
    Ok(named | subscribers | user_ids::set(connection, medium.everywhere, ())?)
}

/// Returns those of a few users who are subscribed to a channel, which may have many subscribers.
fn subscribed(
    connection: &Connection,
    users: &RoaringBitmap,
    stream_id: StreamId,
) -> rusqlite::Result<RoaringBitmap> {
    let mut found = RoaringBitmap::new();
    for user_id in users {
        if rows::channel::is_subscribed(connection, UserId::from(user_id), stream_id)? {
            found.insert(user_id);
        }
    }
    Ok(found)
}

impl Decisions {
    /// Stores decisions as long as there is time. With them, it removes the messages whose decisions are all stored from the queue,
    /// and notes the users of the next one: they may be notified before the rest is stored, and a restart does not notify them
    /// again. Returns true when all decisions are stored.
    fn store_some(
        &mut self,
        tx: &mut Tx<'_>,
        budget: &mut Budget,
        hub: &Hub,
        medium: &Medium,
        mut notify: impl FnMut(&mut Tx<'_>, UserId, MessageId) -> ApiResult<()>,
    ) -> ApiResult<bool> {
        let mut stored = None;
        while let Some(DecidedMessage { waiting, users }) = self.0.front_mut() {
            let Some(Decision { user_id, is_held }) = users.front().copied() else {
                stored = Some(waiting.id);
                self.0.pop_front();
                continue;
            };
            if !budget.next_step() {
                waiting::note_known(tx, medium.queue, waiting)?;
                break;
            }
            let message_id = waiting.message_id;
            if is_held {
                // The writer has published the events of the messages before it runs this job.
                let held = HeldMessage { user_id, message_id, delivered_with: hub.head() };
                waiting::hold(tx, medium.queue, &held, tx.now() + CHECK_INTERVAL)?;
            } else {
                notify(tx, user_id, message_id)?;
            }
            users.pop_front();
            waiting.known_to.extend(user_id.bit());
        }
        if let Some(stored) = stored {
            waiting::remove_waiting(tx, medium.queue, stored)?;
        }
        Ok(self.0.is_empty())
    }
}

/// Checks the held messages, if it is time. Returns when they are checked next, in UNIX seconds.
async fn check_held(
    app: &App,
    medium: &'static Medium,
    notify: impl FnMut(&mut Tx<'_>, UserId, MessageId) -> ApiResult<()> + Copy + Send + 'static,
) -> ApiResult<Option<i64>> {
    let next_check =
        || app.readers.read(|snapshot| ApiResult::Ok(waiting::next_check(snapshot, medium.queue)?));
    let (next, now) = (next_check().await?, app.clock.seconds());
    // Later checks were planned while the clock was ahead.
    if next.is_none_or(|next| (1..=CHECK_INTERVAL).contains(&(next - now))) {
        return Ok(next);
    }
    let hub = Arc::clone(&app.hub);
    let check = move |tx: &mut Tx<'_>| check_some(tx, &hub, medium, notify);
    app.writer.run_in_steps(medium.check_job, check).await?;
    next_check().await
}

/// Checks some held messages: their users are notified when they have no queue any more, and not if a client received the
/// message. Returns true when all are checked.
fn check_some(
    tx: &mut Tx<'_>,
    hub: &Hub,
    medium: &Medium,
    mut notify: impl FnMut(&mut Tx<'_>, UserId, MessageId) -> ApiResult<()>,
) -> ApiResult<bool> {
    let queue = medium.queue;
    let times = (tx.now(), tx.now() + CHECK_INTERVAL);
    let due = waiting::held_messages(tx, queue, times, HELD_PER_STEP)?;
    for held in &due {
        if hub.has_delivered(held.user_id, held.delivered_with) {
            waiting::release(tx, queue, held)?;
        } else if hub.receives_messages(held.user_id) {
            waiting::postpone_check(tx, queue, held, tx.now() + CHECK_INTERVAL)?;
        } else {
            waiting::release(tx, queue, held)?;
            notify(tx, held.user_id, held.message_id)?;
        }
    }
    Ok(due.is_empty())
}

/// A message that a user may read and has not read, and of which their settings notify them.
pub struct Notifiable {
    pub message: MessageRow,
    /// Its channel; `None` for direct messages.
    pub stream_id: Option<StreamId>,
    /// Why the user is notified.
    pub trigger: Trigger,
}

impl Notifiable {
    /// Loads a message, if the viewer is still to be notified of it.
    pub fn load(viewer: &MessageViewer<'_>, medium: &Medium, id: MessageId) -> ApiResult<Option<Self>> {
        let ctx = viewer.ctx();
        let Some(message) = messages::by_id(&ctx, id)? else { return Ok(None) };
        if !viewer.can_read(message.recipient_id, id)? || !viewer.has_received(message.recipient_id, id)? {
            return Ok(None);
        }
        let stream_id = stream_of(&ctx, message.recipient_id)?;
        let trigger = reason(&ctx, medium, (&message, stream_id), ctx.caller.user_id, false)?;
        Ok(trigger.map(|trigger| Self { message, stream_id, trigger }))
    }
}

/// The reason for which a user is notified of a message, if they are: they have not read it, and their settings say so.
fn reason(
    connection: &Connection,
    medium: &Medium,
    (message, stream_id): (&MessageRow, Option<StreamId>),
    user_id: UserId,
    is_edit: bool,
) -> ApiResult<Option<Trigger>> {
    let mut facts = Facts { is_edit, ..facts::load(connection, medium, (message, stream_id), user_id)? };
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
