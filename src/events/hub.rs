//! The queues, and the buffer of recent events that they share.
//!
//! All cursors of a queue are event numbers:
//!
//! ```text
//!   events   ──┬─────────┬─────────┬─────────┬─────────┬─────────┬──▶
//!              │         │         │         │         │         │
//!   log        trimmed   ╞═══════════ in the `event` table ══════╡
//!   buffer               │         base ╞═════ in memory ════════╡ head
//!   queue      saved  acknowledged      first            newest
//! ```
//!
//! - `acknowledged`: the client has all events up to here. `saved` is the position in the file, and `pruned` the
//!   position acknowledged by the client since the start.
//! - `first`: no event for the queue lies between `acknowledged` and this one. A poll skips events that were found to
//!   be for others.
//! - `newest`: the newest event for the queue. Nothing is pending when it is acknowledged.
//! - `base`: the buffer has every logged event after it. Older events are read from the table.
//! - `head`: the newest event that any queue can have seen.

use super::buffer::{BufferedEvent, Change, EventBuffer, ParsedEvents};
use super::ids::{EventIdAllocator, Outcome};
use super::needs::Needs;
use super::pending::{CommittedEvent, PendingEvent};
use super::poll::{PollResult, QueueError, QueueFigures, is_for};
use super::state::{Queue, State};
use super::{NewQueue, QueueId, Registration, Registry, log, queue_store};
use crate::store::{Readers, StoreError};
use crate::types::{EventId, UserId};
use parking_lot::Mutex;
use rusqlite::Connection;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The most queues of a user with all their bots that live for days without polls.
const MAX_LONG_LIVED_QUEUES: usize = 5;

/// The most events without rows that a client acknowledges before the position of its queue is saved: few compared with those
/// that a queue can be behind.
pub(super) const MAX_UNLOGGED: i64 = 1 << 12;

/// The most queues that are removed, or whose positions are collected, while the lock is held once.
const MAX_QUEUES_PER_LOCK: usize = 1000;

/// Events in one response; a client that is further behind polls again.
pub(super) const MAX_EVENTS_PER_POLL: usize = 1000;

/// The queues. One lock guards them; nothing is read from the disk or written to a client while it is held. If the lock
/// of `ids` is needed too, it is taken first.
pub struct Hub {
    state: Mutex<State>,
    pub(super) parsed: ParsedEvents,
    pub(super) ids: EventIdAllocator<PendingEvent>,
    pub(super) registry: &'static Registry,
    pub(super) readers: Arc<Readers>,
}

impl Hub {
    /// Loads the queues of the file, each where it was, and the newest events that they may need. A queue whose
    /// registration cannot be read expires: its client registers again. `now` is monotonic, in milliseconds, here and in
    /// all other methods.
    pub fn load(
        connection: &Connection,
        registry: &'static Registry,
        readers: Arc<Readers>,
        now: i64,
    ) -> Result<Self, StoreError> {
        let ids = EventIdAllocator::load(connection)?;
        let head = ids.last();
        let stored = queue_store::load(connection)?;
        // Events that all queues have are not needed: without a queue, none is read.
        let oldest = stored.iter().map(|queue| queue.acknowledged).min().unwrap_or(head);
        let rows = log::read_newest(connection, oldest, MAX_EVENTS_PER_POLL)?;
        let base = rows.first().map_or(oldest, |row| EventId(row.id.0 - 1));
        let mut state = State::new(head, EventBuffer::after(base));
        for row in rows {
            state.buffer.push(Arc::new(BufferedEvent::logged(row, registry)));
        }
        for stored in stored {
            let registration = match stored.registration {
                Ok(registration) => Arc::new(registration),
                Err(error) => {
                    tracing::warn!(%error, queue_id = %stored.queue_id, "a queue whose registration is unreadable expires");
                    state.expired.push(stored.queue_id);
                    continue;
                }
            };
            let queue = Queue::new(stored.user_id, registration, stored.acknowledged, now);
            state.insert(stored.queue_id, Queue { newest: state.head, ..queue });
        }
        Ok(Self { state: Mutex::new(state), parsed: ParsedEvents::default(), ids, registry, readers })
    }

    /// Adds a queue, which gets all events after the one that is returned. Its person (the accounts `own`) loses the one that
    /// was not polled for the longest time if there are too many, or too many of all that count with them (`counted`).
    pub fn add(&self, new: &NewQueue, own: &[UserId], counted: &[UserId], now: i64) -> EventId {
        let mut state = self.state.lock();
        while let Some(oldest) = state.excess_queue(own, counted) {
            tracing::warn!(user_id = %new.user_id, "a user has too many event queues; the oldest expires");
            state.expire(&oldest);
        }
        let head = state.head;
        let queue = Queue::new(new.user_id, Arc::clone(&new.registration), head, now);
        state.insert(new.queue_id.clone(), queue);
        head
    }

    /// Sets where a new queue starts: its client has the state as of this event. A snapshot may have an event that the
    /// writer is about to publish, so that the client may name it first.
    pub fn start_at(&self, queue_id: &QueueId, last_event_id: EventId) {
        let mut state = self.state.lock();
        state.head = state.head.max(last_event_id);
        if let Some(queue) = state.queues.get_mut(queue_id) {
            queue.acknowledged = last_event_id;
            queue.saved = last_event_id;
        }
    }

    /// Removes a queue and returns whether there was one.
    pub fn remove(&self, queue_id: &QueueId) -> bool {
        self.state.lock().remove(queue_id)
    }

    /// Removes a queue whose row is to be deleted later.
    pub fn abandon(&self, queue_id: &QueueId) {
        self.state.lock().expire(queue_id);
    }

    /// Removes all queues of users, whose polls end.
    pub(super) fn remove_of(&self, user_ids: &[UserId]) {
        let mut state = self.state.lock();
        for user_id in user_ids {
            for queue_id in state.by_user.get(user_id).cloned().unwrap_or_default() {
                state.remove(&queue_id);
            }
        }
    }

    /// Expires the queues of a user, or all, and returns how many. Their clients get `BAD_EVENT_QUEUE_ID`, a poll that waits at
    /// once, and register again.
    pub fn expire_of(&self, user_id: Option<UserId>) -> usize {
        let mut waiters = Vec::new();
        let mut state = self.state.lock();
        let gone = state.queues.iter_mut().filter(|(_, queue)| user_id.is_none_or(|id| id == queue.user_id));
        let gone: Vec<QueueId> = gone
            .map(|(queue_id, queue)| {
                waiters.extend(queue.waiter.take());
                queue_id.clone()
            })
            .collect();
        for queue_id in &gone {
            state.expire(queue_id);
        }
        drop(state);
        wake(waiters);
        gone.len()
    }

    /// Expires all queues and drops the events in memory: the rows of the file have been replaced.
    pub fn clear(&self) {
        self.expire_of(None);
        let mut state = self.state.lock();
        // Their rows were removed with the others.
        state.expired.clear();
        state.buffer = EventBuffer::after(state.head);
    }

    /// Wakes all polls that wait: the clock was set, and they may have waited long enough.
    pub fn wake_all(&self) {
        let waiters: Vec<_> =
            self.state.lock().queues.values_mut().filter_map(|queue| queue.waiter.take()).collect();
        wake(waiters);
    }

    /// Returns the owner of a queue and its registration.
    pub fn owner(&self, queue_id: &QueueId) -> Option<(UserId, Arc<Registration>)> {
        self.state.lock().queues.get(queue_id).map(|queue| (queue.user_id, Arc::clone(&queue.registration)))
    }

    /// True if a user has a queue that gets messages.
    pub fn receives_messages(&self, user_id: UserId) -> bool {
        self.state.lock().message_queues(user_id).next().is_some()
    }

    /// True if the client of a queue that gets a user's messages has all events up to this one.
    pub fn has_delivered(&self, user_id: UserId, event_id: EventId) -> bool {
        let state = self.state.lock();
        state.message_queues(user_id).any(|queue| queue.low_watermark(state.head) >= event_id)
    }

    /// Numbers and publishes an event that is not logged.
    pub(super) fn publish_unlogged(&self, event: PendingEvent) -> Outcome {
        let outcome = self.ids.publish_unlogged(event, |id, pending| self.publish([pending.numbered(id)]));
        self.wake();
        outcome
    }

    /// Adds events that are for some queue to the buffer, in the order of their numbers. Polls of these queues, no others,
    /// end with the next [`wake`](Self::wake).
    pub(super) fn publish(&self, events: impl IntoIterator<Item = CommittedEvent>) {
        let mut state = self.state.lock();
        for event in events {
            state.publish(event);
        }
    }

    /// Changes events of the buffer as their rows were changed.
    pub(super) fn change(&self, changes: Vec<(EventId, Change)>) {
        let mut state = self.state.lock();
        for (id, change) in changes {
            state.buffer.change(id, change);
        }
    }

    /// Wakes the polls that wait for events that were published.
    pub(super) fn wake(&self) {
        let waiters = std::mem::take(&mut self.state.lock().to_wake);
        wake(waiters);
    }

    /// Acknowledges events, and collects those after them.
    pub(super) fn poll_once(
        &self,
        queue_id: &QueueId,
        user_id: UserId,
        last_event_id: Option<EventId>,
        wait: bool,
        now: i64,
    ) -> Result<PollResult, QueueError> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let queue = state.queues.get_mut(queue_id).filter(|queue| queue.user_id == user_id);
        let queue = queue.ok_or(QueueError::Unknown)?;
        // The client has events that this file never had, because an older copy of it was restored. Its state differs
        // from the file, so it has to register again.
        if last_event_id.is_some_and(|last| last > state.head) {
            tracing::warn!(%queue_id, ?last_event_id, "a queue expires: its client is ahead of the log");
            state.expire(queue_id);
            return Err(QueueError::Unknown);
        }
        queue.last_seen = now;
        queue.waiter = None;
        if let Some(last) = last_event_id {
            queue.acknowledge(last)?;
        }
        let after = queue.acknowledged;
        let mut result = PollResult {
            user_id,
            registration: Arc::clone(&queue.registration),
            events: Vec::new(),
            behind: None,
            wake: None,
        };
        if queue.newest > after {
            queue.first = queue.first.max(EventId(after.0 + 1));
            let seen = EventId(queue.first.0 - 1);
            let base = state.buffer.base();
            result.behind = (seen < base).then_some((seen, base));
            result.events.extend(
                state
                    .buffer
                    .after_id(seen)
                    .filter(|event| {
                        let (event_type, audience) = (&event.event_type, &event.audience);
                        is_for(event_type, audience, queue_id, queue.user_id, &queue.registration)
                    })
                    .take(MAX_EVENTS_PER_POLL)
                    .cloned(),
            );
            queue.is_answered |= !result.is_empty();
            if result.is_empty() {
                // The events that were pending have been withdrawn.
                queue.newest = queue.acknowledged;
            }
        }
        if wait && result.events.is_empty() && result.behind.is_none() && !state.closed {
            let (sender, receiver) = oneshot::channel();
            queue.waiter = Some(sender);
            result.wake = Some(receiver);
        }
        Ok(result)
    }

    /// True if a poll requests events again that an earlier poll returned, because it acknowledges none of them.
    pub fn is_repeated(&self, queue_id: &QueueId, user_id: UserId, last_event_id: Option<EventId>) -> bool {
        self.state.lock().queues.get(queue_id).is_some_and(|queue| {
            let acknowledges_nothing = last_event_id.is_none_or(|last| last <= queue.acknowledged);
            queue.user_id == user_id && queue.is_answered && acknowledges_nothing
        })
    }

    /// Advances a queue past events of which none was for it, so that the next poll does not read them again.
    pub(super) fn advance(&self, queue_id: &QueueId, seen: EventId) {
        if let Some(queue) = self.state.lock().queues.get_mut(queue_id) {
            queue.is_answered = false;
            queue.first = queue.first.max(EventId(seen.0 + 1));
            if queue.newest <= seen {
                queue.newest = queue.acknowledged;
            }
        }
    }

    /// Skips the events before `first`: none of them was for the queue.
    pub(super) fn skip_to(&self, queue_id: &QueueId, first: EventId) {
        if let Some(queue) = self.state.lock().queues.get_mut(queue_id) {
            queue.first = queue.first.max(first);
        }
    }

    /// Removes a queue that waits for an event which cannot be delivered. Its client gets `BAD_EVENT_QUEUE_ID` and
    /// registers again.
    pub(super) fn expire_queue(&self, queue_id: &QueueId) {
        tracing::warn!(%queue_id, "a queue expires: it waits for an event that cannot be delivered");
        self.abandon(queue_id);
    }

    /// Removes the queues that were not polled for as long as they live, and those that are too far behind. The lock is
    /// released now and then.
    pub fn expire(&self, now: i64) {
        let candidates: Vec<QueueId> = {
            let state = self.state.lock();
            let gone = state.queues.iter().filter(|(_, queue)| queue.must_expire(now, state.head));
            gone.map(|(queue_id, _)| queue_id.clone()).collect()
        };
        for some in candidates.chunks(MAX_QUEUES_PER_LOCK) {
            let mut state = self.state.lock();
            for queue_id in some {
                // It may have been polled in the meantime.
                if state.queues.get(queue_id).is_some_and(|queue| queue.must_expire(now, state.head)) {
                    state.expire(queue_id);
                }
            }
        }
    }

    /// Returns the queues that have expired since the last call, whose rows are to be deleted.
    pub fn take_expired(&self) -> Vec<QueueId> {
        std::mem::take(&mut self.state.lock().expired)
    }

    /// Returns the positions that the file does not know yet, and marks them as saved. A queue whose client has acknowledged
    /// only a few events that have no rows, such as heartbeats, misses nothing at its old position.
    pub fn take_unsaved_positions(&self) -> Vec<(QueueId, EventId)> {
        let mut state = self.state.lock();
        let logged = state.logged;
        let is_unsaved = |queue: &Queue| {
            let unsaved = queue.acknowledged.0 - queue.saved.0;
            unsaved > 0 && (queue.saved < logged || unsaved > MAX_UNLOGGED)
        };
        let unsaved = state.queues.iter_mut().filter(|(_, queue)| is_unsaved(queue));
        unsaved
            .map(|(queue_id, queue)| {
                queue.saved = queue.acknowledged;
                (queue_id.clone(), queue.acknowledged)
            })
            .collect()
    }

    /// Figures of the queues. Takes the lock, and looks at all of them.
    pub fn figures(&self) -> QueueFigures {
        let state = self.state.lock();
        let queues = state.queues.values().map(|one| (one.acknowledged, one.newest, one.waiter.as_ref()));
        QueueFigures::of(state.head, queues)
    }

    /// Returns which events the queues need, of those so far.
    pub fn needs(&self, now: i64) -> Needs {
        self.state.lock().needs(now)
    }

    /// Returns the lifetime without polls of a new queue, in seconds, of which `wanted` is requested: `usual` at most, if users
    /// whose queues count together have as many as they may of a longer one.
    pub fn allowed_idle_seconds(&self, user_ids: &[UserId], wanted: i64, usual: i64) -> i64 {
        let has_room = || self.state.lock().long_lived_queues(user_ids, usual) < MAX_LONG_LIVED_QUEUES;
        if wanted <= usual || has_room() { wanted } else { usual }
    }

    /// Frees the memory of events that all queues have, and of the values of the others.
    pub fn trim_buffer(&self) {
        self.parsed.clear();
        let mut state = self.state.lock();
        let until = state.low_watermark();
        state.buffer.trim(until);
    }

    /// Returns the newest event that any queue can have seen.
    pub fn head(&self) -> EventId {
        self.state.lock().head
    }

    /// Returns how many events are in memory.
    #[cfg(test)]
    pub fn buffered(&self) -> usize {
        self.state.lock().buffer.after_id(EventId(0)).count()
    }

    /// True if there are events of a type.
    pub fn is_event_type(&self, name: &str) -> bool {
        self.registry.kinds().iter().any(|kind| kind.event_type == name)
    }

    /// Returns the number of queues.
    pub fn len(&self) -> usize {
        self.state.lock().queues.len()
    }

    /// True if there are no queues.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends every poll that waits, now and from now on: the server stops.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        for queue in state.queues.values_mut() {
            queue.waiter = None;
        }
    }
}

fn wake(waiters: Vec<oneshot::Sender<()>>) {
    for waiter in waiters {
        // A poll whose client has left no longer listens.
        let _gone = waiter.send(());
    }
}
