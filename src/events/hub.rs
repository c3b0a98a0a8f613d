//! All living queues, and the tail of the log that they share.

use super::tail::{Tail, TailEvent};
use super::{EventType, QueueId, Receiver, Registration, log};
use crate::store::{Committed, Readers, StoreError};
use crate::types::{EventId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// A queue without a poll for so long is expired, in milliseconds.
const IDLE_MILLISECONDS: i64 = 10 * 60 * 1000;

/// Events in one answer; a queue that is further behind asks again.
pub(super) const MAX_EVENTS_IN_ANSWER: usize = 1000;

/// Why a poll was refused (spec, "Events").
#[derive(Debug)]
pub enum QueueError {
    /// No such queue, or another user's.
    Unknown,
    /// The client acknowledged an event and now asks for it again.
    Pruned(EventId),
    /// The client acknowledges an event that does not exist yet.
    NotInQueue(EventId),
    /// Reading the log failed.
    Store(StoreError),
}

/// The queues. One lock, held for moments: nothing is read from the disk or written to a client under it.
pub struct Hub {
    state: Mutex<State>,
    pub(super) types: &'static [EventType],
    pub(super) readers: Arc<Readers>,
}

struct State {
    tail: Tail,
    /// The newest number that any queue can have seen.
    head: EventId,
    queues: HashMap<QueueId, Queue>,
    by_user: HashMap<UserId, Vec<QueueId>>,
    /// The users in `by_user`, to meet an audience without walking either.
    listening: RoaringBitmap,
    /// Queues that asked for all public channels.
    public: Vec<QueueId>,
    /// Set when the server stops: nobody may wait any more.
    closed: bool,
}

struct Queue {
    user_id: UserId,
    registration: Arc<Registration>,
    /// The client has everything up to here.
    acknowledged: EventId,
    /// The last that its client acknowledged to this process; earlier events cannot be asked for again.
    pruned: Option<EventId>,
    /// What of `acknowledged` the file knows.
    saved: EventId,
    /// No event for this queue lies between `acknowledged` and this one.
    first: EventId,
    /// The newest event for this queue. Nothing is pending when it is acknowledged.
    newest: EventId,
    /// Wakes the poll that waits. Dropped when a second poll comes, which ends the first.
    waiter: Option<oneshot::Sender<()>>,
    /// When the last poll came or ended, milliseconds.
    last_seen: i64,
}

/// What one look at a queue found.
pub(super) struct Look {
    pub user_id: UserId,
    pub registration: Arc<Registration>,
    /// Events in memory, oldest first.
    pub events: Vec<Arc<TailEvent>>,
    /// A part of the log to read before them: after the first number, up to the second.
    pub behind: Option<(EventId, EventId)>,
    /// Wakes when there is something to see; `None` unless waiting was asked for and is needed.
    pub wake: Option<oneshot::Receiver<()>>,
}

impl Hub {
    /// Brings back the queues of the file, each where it was.
    pub fn load(
        connection: &Connection,
        types: &'static [EventType],
        readers: Arc<Readers>,
        now: i64,
    ) -> Result<Self, StoreError> {
        let rows = log::read_newest(connection, MAX_EVENTS_IN_ANSWER)?;
        let reserved = connection.query_row(
            "SELECT max(coalesce((SELECT value FROM counter WHERE name = 'event'), 0) - 1,
                        (SELECT coalesce(max(id), 0) FROM event))",
            [],
            |row| row.get(0),
        )?;
        let base = rows.first().map_or(EventId(0), |row| EventId(row.id.0 - 1));
        let mut state = State {
            tail: Tail::after(base),
            head: reserved,
            queues: HashMap::new(),
            by_user: HashMap::new(),
            listening: RoaringBitmap::new(),
            public: Vec::new(),
            closed: false,
        };
        for row in rows {
            state.tail.push(Arc::new(TailEvent::logged(row, types)));
        }
        let mut statement =
            connection.prepare("SELECT queue_id, user_id, registration, acknowledged FROM event_queue")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let queue_id = QueueId(row.get::<_, String>(0)?.into());
            let registration = serde_json::from_str(row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?);
            let acknowledged = row.get(3)?;
            let queue = Queue {
                user_id: row.get(1)?,
                registration: Arc::new(registration.unwrap_or_default()),
                acknowledged,
                pruned: None,
                saved: acknowledged,
                first: EventId(acknowledged.0 + 1),
                newest: reserved,
                waiter: None,
                last_seen: now,
            };
            state.insert(queue_id, queue);
        }
        Ok(Self { state: Mutex::new(state), types, readers })
    }

    /// Adds a queue, which hears of everything from now on.
    pub fn add(&self, queue_id: QueueId, user_id: UserId, registration: Arc<Registration>, now: i64) {
        let mut state = self.lock();
        let head = state.head;
        let queue = Queue {
            user_id,
            registration,
            acknowledged: head,
            pruned: None,
            saved: head,
            // Not the newest event itself: one that is not in the log has a greater number than any in the state.
            first: EventId(head.0 + 1),
            newest: head,
            waiter: None,
            last_seen: now,
        };
        state.insert(queue_id, queue);
    }

    /// Says where a new queue starts: its client has the state as of this event.
    pub fn start_at(&self, queue_id: &QueueId, last_event_id: EventId) {
        if let Some(queue) = self.lock().queues.get_mut(queue_id) {
            queue.acknowledged = last_event_id;
            queue.saved = last_event_id;
        }
    }

    /// Removes a queue; answers whether there was one.
    pub fn remove(&self, queue_id: &QueueId) -> bool {
        self.lock().remove(queue_id)
    }

    /// Removes all queues of users, whose polls end.
    pub fn remove_of(&self, user_ids: &[UserId]) {
        let mut state = self.lock();
        let gone: Vec<QueueId> = state
            .queues
            .iter()
            .filter(|(_, queue)| user_ids.contains(&queue.user_id))
            .map(|(queue_id, _)| queue_id.clone())
            .collect();
        for queue_id in &gone {
            state.remove(queue_id);
        }
    }

    /// Whose queue it is, and what it asked for.
    pub fn owner(&self, queue_id: &QueueId) -> Option<(UserId, Arc<Registration>)> {
        self.lock().queues.get(queue_id).map(|queue| (queue.user_id, Arc::clone(&queue.registration)))
    }

    /// Takes in the events of a committed group and wakes the queues that they are for, no others.
    pub fn publish(&self, committed: Vec<Committed>) {
        let mut waiters = Vec::new();
        let mut state = self.lock();
        for event in committed {
            let event = Arc::new(TailEvent::committed(event, self.types));
            state.publish(event, &mut waiters);
        }
        drop(state);
        for waiter in waiters {
            // A poll whose client has left no longer listens.
            let _gone = waiter.send(());
        }
    }

    /// Looks at a queue for its client: acknowledges, and collects what is there.
    pub(super) fn look(
        &self,
        queue_id: &QueueId,
        user_id: UserId,
        last_event_id: Option<EventId>,
        wait: bool,
        now: i64,
    ) -> Result<Look, QueueError> {
        let mut state = self.lock();
        let state = &mut *state;
        let queue = state.queues.get_mut(queue_id).filter(|queue| queue.user_id == user_id);
        let queue = queue.ok_or(QueueError::Unknown)?;
        queue.last_seen = now;
        queue.waiter = None;
        if let Some(last) = last_event_id {
            if last > state.head {
                return Err(QueueError::NotInQueue(last));
            }
            if queue.pruned.is_some_and(|pruned| last < pruned) {
                return Err(QueueError::Pruned(last));
            }
            // A number before the queue's start (clients of older servers begin with -1) acknowledges nothing.
            if last > queue.acknowledged {
                queue.acknowledged = last;
                queue.pruned = Some(last);
            }
        }
        let after = queue.acknowledged;
        let mut look = Look {
            user_id,
            registration: Arc::clone(&queue.registration),
            events: Vec::new(),
            behind: None,
            wake: None,
        };
        if queue.newest > after {
            queue.first = queue.first.max(EventId(after.0 + 1));
            let seen = EventId(queue.first.0 - 1);
            let base = state.tail.base();
            look.behind = (seen < base).then_some((seen, base));
            look.events.extend(
                state
                    .tail
                    .after_id(seen)
                    .filter(|event| is_for(event, queue_id, queue.user_id, &queue.registration))
                    .take(MAX_EVENTS_IN_ANSWER)
                    .cloned(),
            );
        }
        if wait && look.events.is_empty() && look.behind.is_none() && !state.closed {
            let (sender, receiver) = oneshot::channel();
            queue.waiter = Some(sender);
            look.wake = Some(receiver);
        }
        Ok(look)
    }

    /// Says that what a look found came to nothing for this queue, so that the next look starts behind it.
    pub(super) fn skip_to(&self, queue_id: &QueueId, seen: EventId) {
        if let Some(queue) = self.lock().queues.get_mut(queue_id) {
            queue.first = queue.first.max(EventId(seen.0 + 1));
            if queue.newest <= seen {
                queue.newest = queue.acknowledged;
            }
        }
    }

    /// Removes the queues that nobody has asked for in ten minutes, and answers their names.
    pub fn expire(&self, now: i64) -> Vec<QueueId> {
        let mut state = self.lock();
        let idle: Vec<QueueId> = state
            .queues
            .iter()
            .filter(|(_, queue)| {
                let waits = queue.waiter.as_ref().is_some_and(|waiter| !waiter.is_closed());
                !waits && now - queue.last_seen > IDLE_MILLISECONDS
            })
            .map(|(queue_id, _)| queue_id.clone())
            .collect();
        for queue_id in &idle {
            state.remove(queue_id);
        }
        idle
    }

    /// The queues whose acknowledgement the file does not know yet. They are taken as saved.
    pub fn take_unsaved(&self) -> Vec<(QueueId, EventId)> {
        let mut state = self.lock();
        let unsaved = state.queues.iter_mut().filter(|(_, queue)| queue.saved < queue.acknowledged);
        unsaved
            .map(|(queue_id, queue)| {
                queue.saved = queue.acknowledged;
                (queue_id.clone(), queue.acknowledged)
            })
            .collect()
    }

    /// Up to which event no queue can ask for anything any more.
    pub fn acknowledged_by_all(&self) -> EventId {
        let state = self.lock();
        state.queues.values().map(|queue| queue.acknowledged).min().unwrap_or(state.head)
    }

    /// How many queues there are.
    pub fn len(&self) -> usize {
        self.lock().queues.len()
    }

    /// Whether there are no queues.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Answers every poll that waits, now and from now on: the server stops.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for queue in state.queues.values_mut() {
            queue.waiter = None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn insert(&mut self, queue_id: QueueId, queue: Queue) {
        self.by_user.entry(queue.user_id).or_default().push(queue_id.clone());
        self.listening.extend(queue.user_id.bit());
        if queue.registration.all_public_streams {
            self.public.push(queue_id.clone());
        }
        self.queues.insert(queue_id, queue);
    }

    fn remove(&mut self, queue_id: &QueueId) -> bool {
        let Some(queue) = self.queues.remove(queue_id) else { return false };
        self.public.retain(|public| public != queue_id);
        if let Some(queues) = self.by_user.get_mut(&queue.user_id) {
            queues.retain(|other| other != queue_id);
            if queues.is_empty() {
                self.by_user.remove(&queue.user_id);
                if let Some(bit) = queue.user_id.bit() {
                    self.listening.remove(bit);
                }
            }
        }
        true
    }

    fn publish(&mut self, event: Arc<TailEvent>, waiters: &mut Vec<oneshot::Sender<()>>) {
        self.head = self.head.max(event.id);
        let mut wake = |queue: &mut Queue| {
            if queue.newest <= queue.acknowledged {
                queue.first = event.id;
            }
            queue.newest = event.id;
            waiters.extend(queue.waiter.take());
        };
        if let Some(queue_id) = event.audience.only_queue() {
            if let Some(queue) = self.queues.get_mut(queue_id) {
                wake(queue);
            }
        } else {
            for bit in event.audience.bitmap() & &self.listening {
                for queue_id in self.by_user.get(&UserId::from(bit)).into_iter().flatten() {
                    if let Some(queue) = self.queues.get_mut(queue_id)
                        && queue.registration.wants(&event.kind)
                    {
                        wake(queue);
                    }
                }
            }
            if event.audience.is_also_public() {
                for queue_id in &self.public {
                    if let Some(queue) = self.queues.get_mut(queue_id)
                        && !event.audience.contains(queue.user_id)
                        && queue.registration.wants(&event.kind)
                    {
                        wake(queue);
                    }
                }
            }
        }
        self.tail.push(event);
    }
}

/// Whether a queue gets an event, as far as its audience and its type decide.
pub(super) fn is_for(
    event: &TailEvent,
    queue_id: &QueueId,
    user_id: UserId,
    registration: &Registration,
) -> bool {
    if let Some(only) = event.audience.only_queue() {
        return only == queue_id;
    }
    registration.wants(&event.kind)
        && (event.audience.contains(user_id)
            || (event.audience.is_also_public() && registration.all_public_streams))
}

impl Look {
    /// The queue as the delivery of an event sees it.
    pub fn receiver<'a>(&'a self, queue_id: &'a QueueId) -> Receiver<'a> {
        Receiver { user_id: self.user_id, queue_id, registration: &self.registration }
    }
}
