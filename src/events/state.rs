//! The state of the [`Hub`](super::Hub): the queues, and the buffer of recent events. See there for a picture of the cursors.

use super::buffer::{BufferedEvent, EventBuffer};
use super::needs::{Need, Needs};
use super::pending::CommittedEvent;
use super::poll::QueueError;
use super::{DEFAULT_IDLE_SECONDS, QueueId, Registration};
use crate::types::{EventId, UserId};
use roaring::RoaringBitmap;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::oneshot;

/// The most queues of a person with all their bots, and of all accounts that count with them. Each event for a user looks
/// at all queues of that user. For one more, that queue of the person expires which was not polled for the longest time.
pub const MAX_QUEUES_PER_USER: usize = 1024;

/// Maximum number of events that a queue can be behind. The log keeps all events that the slowest queue needs, so a
/// client that never acknowledges would keep it forever.
pub const MAX_EVENTS_BEHIND: i64 = 1 << 19;

/// The queues and the buffer, behind the lock of the hub.
pub struct State {
    pub buffer: EventBuffer,
    pub head: EventId,
    /// The newest event that may have a row in the log.
    pub logged: EventId,
    pub queues: HashMap<QueueId, Queue>,
    pub by_user: HashMap<UserId, HashSet<QueueId>>,
    /// The users in `by_user`: an intersection with an audience is quicker than walking either.
    pub listening: RoaringBitmap,
    /// Queues that asked for all public channels.
    pub public: HashSet<QueueId>,
    /// Queues that have expired and may still have rows.
    pub expired: Vec<QueueId>,
    /// Polls of queues that got events.
    pub to_wake: Vec<oneshot::Sender<()>>,
    /// Set when the server stops: no poll waits any more.
    pub closed: bool,
}

/// A queue in memory.
pub struct Queue {
    pub user_id: UserId,
    pub registration: Arc<Registration>,
    pub acknowledged: EventId,
    /// True if a poll found events that are not acknowledged yet.
    pub is_answered: bool,
    pub pruned: Option<EventId>,
    pub saved: EventId,
    pub first: EventId,
    pub newest: EventId,
    /// Wakes the poll that waits. Dropped when a second poll comes, which ends the first.
    pub waiter: Option<oneshot::Sender<()>>,
    /// When the last poll came, in milliseconds of the monotonic clock.
    pub last_seen: i64,
}

impl State {
    /// Returns a state without queues.
    pub fn new(head: EventId, buffer: EventBuffer) -> Self {
        Self {
            buffer,
            head,
            logged: head,
            queues: HashMap::new(),
            by_user: HashMap::new(),
            listening: RoaringBitmap::new(),
            public: HashSet::new(),
            expired: Vec::new(),
            to_wake: Vec::new(),
            closed: false,
        }
    }

    pub fn insert(&mut self, queue_id: QueueId, queue: Queue) {
        self.by_user.entry(queue.user_id).or_default().insert(queue_id.clone());
        self.listening.extend(queue.user_id.bit());
        if queue.registration.all_public_streams {
            self.public.insert(queue_id.clone());
        }
        self.queues.insert(queue_id, queue);
    }

    pub fn remove(&mut self, queue_id: &QueueId) -> bool {
        let Some(queue) = self.queues.remove(queue_id) else { return false };
        self.public.remove(queue_id);
        if let Some(queues) = self.by_user.get_mut(&queue.user_id) {
            queues.remove(queue_id);
            if queues.is_empty() {
                self.by_user.remove(&queue.user_id);
                if let Some(bit) = queue.user_id.bit() {
                    self.listening.remove(bit);
                }
            }
        }
        true
    }

    /// Removes a queue whose row is to be deleted later.
    pub fn expire(&mut self, queue_id: &QueueId) {
        if self.remove(queue_id) {
            self.expired.push(queue_id.clone());
        }
    }

    /// The queues of a user that get messages.
    pub fn message_queues(&self, user_id: UserId) -> impl Iterator<Item = &Queue> {
        let queues = self.by_user.get(&user_id).into_iter().flatten().filter_map(|id| self.queues.get(id));
        queues.filter(|queue| queue.registration.wants("message"))
    }

    pub fn low_watermark(&self) -> EventId {
        self.queues.values().map(|queue| queue.low_watermark(self.head)).min().unwrap_or(self.head)
    }

    /// The logged events that the queues need, up to the newest one that is published: the queues do not know of later ones.
    /// Queues without a poll for longer than usual are named, since they need not have everything.
    pub fn needs(&self, now: i64) -> Needs {
        let pending = self.queues.iter().filter(|(_, queue)| queue.newest > queue.acknowledged);
        let needs = pending.map(|(queue_id, queue)| {
            let is_idle = !queue.is_waiting() && now - queue.last_seen > DEFAULT_IDLE_SECONDS * 1000;
            Need {
                after: queue.low_watermark(self.head),
                user_id: queue.user_id,
                registration: Arc::clone(&queue.registration),
                idle: is_idle.then(|| queue_id.clone()),
            }
        });
        Needs::new(self.logged, needs.collect())
    }

    /// The number of queues of users that live longer without polls than a number of seconds.
    pub fn long_lived_queues(&self, user_ids: &[UserId], seconds: i64) -> usize {
        let queues = user_ids.iter().filter_map(|user_id| self.by_user.get(user_id)).flatten();
        let queues = queues.filter_map(|queue_id| self.queues.get(queue_id));
        queues.filter(|queue| queue.registration.idle_seconds() > seconds).count()
    }

    fn queues_of<'a>(&'a self, user_ids: &'a [UserId]) -> impl Iterator<Item = &'a QueueId> {
        user_ids.iter().filter_map(|user_id| self.by_user.get(user_id)).flatten()
    }

    /// Returns the queue that goes before a person (the accounts `own`) can have one more: of those that no poll waits for, or
    /// else of all, the one that was not polled for the longest time. If all accounts that count with them have the most
    /// queues, the others leave the person a tenth at least.
    pub fn excess_queue(&self, own: &[UserId], counted: &[UserId]) -> Option<QueueId> {
        let last_use = |id: &&QueueId| self.queues.get(*id).map(|it| (it.is_waiting(), it.last_seen));
        let is_room = self.queues_of(counted).count() < MAX_QUEUES_PER_USER;
        let limit = if is_room { MAX_QUEUES_PER_USER } else { MAX_QUEUES_PER_USER / 10 };
        self.queues_of(own).min_by_key(last_use).filter(|_| self.queues_of(own).count() >= limit).cloned()
    }

    /// Adds an event to the buffer if it is for some queue: one that is added later starts after it.
    pub fn publish(&mut self, event: CommittedEvent) {
        self.head = self.head.max(event.id);
        if event.is_logged {
            self.logged = self.logged.max(event.id);
        }
        let event = BufferedEvent::published(event);
        let mut is_wanted = false;
        let mut wake = |queue: &mut Queue| {
            is_wanted = true;
            if queue.newest <= queue.acknowledged {
                queue.first = event.id;
            }
            queue.newest = event.id;
            self.to_wake.extend(queue.waiter.take());
        };
        if let Some(queue_id) = event.audience.only_queue() {
            if let Some(queue) = self.queues.get_mut(queue_id) {
                wake(queue);
            }
        } else {
            for bit in event.audience.bitmap() & &self.listening {
                for queue_id in self.by_user.get(&UserId::from(bit)).into_iter().flatten() {
                    if let Some(queue) = self.queues.get_mut(queue_id)
                        && queue.registration.wants(&event.event_type)
                    {
                        wake(queue);
                    }
                }
            }
            if event.audience.is_also_public() {
                for queue_id in &self.public {
                    if let Some(queue) = self.queues.get_mut(queue_id)
                        && !event.audience.contains(queue.user_id)
                        && queue.registration.wants(&event.event_type)
                    {
                        wake(queue);
                    }
                }
            }
        }
        if is_wanted {
            self.buffer.push(Arc::new(event));
        }
    }
}

impl Queue {
    /// A queue whose client has all events up to one, and for which there are no later ones.
    pub fn new(user_id: UserId, registration: Arc<Registration>, acknowledged: EventId, now: i64) -> Self {
        Self {
            user_id,
            registration,
            acknowledged,
            is_answered: false,
            pruned: None,
            saved: acknowledged,
            // Not the newest event itself: one that is not in the log has a greater number than any in the state.
            first: EventId(acknowledged.0 + 1),
            newest: acknowledged,
            waiter: None,
            last_seen: now,
        }
    }

    /// Records that the client has all events up to one. Fails if the client has acknowledged a later one before.
    pub fn acknowledge(&mut self, last: EventId) -> Result<(), QueueError> {
        if self.pruned.is_some_and(|pruned| last < pruned) {
            return Err(QueueError::Pruned(last));
        }
        // A number before the queue's start (clients of older servers begin with -1) acknowledges nothing.
        if last > self.acknowledged {
            self.acknowledged = last;
            self.is_answered = false;
            self.pruned = Some(last);
        }
        Ok(())
    }

    pub fn is_waiting(&self) -> bool {
        self.waiter.as_ref().is_some_and(|waiter| !waiter.is_closed())
    }

    /// The event up to which the queue does not need the log.
    pub fn low_watermark(&self, head: EventId) -> EventId {
        if self.newest <= self.acknowledged { head } else { EventId(self.first.0 - 1).max(self.acknowledged) }
    }

    pub fn must_expire(&self, now: i64, head: EventId) -> bool {
        let behind = head.0 - self.low_watermark(head).0;
        let is_idle = !self.is_waiting() && self.registration.is_idle_too_long(now - self.last_seen, behind);
        is_idle || behind > MAX_EVENTS_BEHIND
    }
}
