//! One poll of a queue without waiting, and its result.

use super::buffer::BufferedEvent;
use super::{Audience, QueueId, Receiver, Registration};
use crate::error::ApiError;
use crate::store::StoreError;
use crate::types::{EventId, UserId};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Why a poll was refused (spec, "Events").
#[derive(Debug)]
pub enum QueueError {
    /// There is no such queue, it is another user's, or it has expired. Its client registers again.
    Unknown,
    /// The client acknowledged an event and now asks for it again.
    Pruned(EventId),
    /// Reading the log failed.
    Store(StoreError),
    /// The pool for large pages has no room.
    Refused(ApiError),
}

/// Result of one poll.
pub struct PollResult {
    pub user_id: UserId,
    pub registration: Arc<Registration>,
    /// Events in memory, the oldest first.
    pub events: Vec<Arc<BufferedEvent>>,
    /// A part of the log to read before them: after the first number, up to the second.
    pub behind: Option<(EventId, EventId)>,
    /// Wakes when there may be events; `None` unless the poll may wait and has to.
    pub wake: Option<oneshot::Receiver<()>>,
}

/// Checks whether a queue is in an event's audience and asked for its type.
pub fn is_for(
    event_type: &str,
    audience: &Audience,
    queue_id: &QueueId,
    user_id: UserId,
    registration: &Registration,
) -> bool {
    if let Some(only) = audience.only_queue() {
        return only == queue_id;
    }
    registration.wants(event_type)
        && (audience.contains(user_id) || (audience.is_also_public() && registration.all_public_streams))
}

impl PollResult {
    /// True if there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.behind.is_none()
    }

    /// Returns the queue as the delivery of an event sees it.
    pub fn receiver<'a>(&'a self, queue_id: &'a QueueId) -> Receiver<'a> {
        Receiver { user_id: self.user_id, queue_id, registration: &self.registration }
    }
}

/// Figures of the queues at one moment.
#[derive(Clone, Copy, Debug)]
pub struct QueueFigures {
    pub queues: usize,
    /// Number of polls that wait.
    pub waiting: usize,
    /// Number of the newest event.
    pub head: i64,
    /// Number of events since the one that the slowest queue has acknowledged.
    pub lag: i64,
}

impl QueueFigures {
    /// Collects the figures. Each queue has its acknowledged and its newest event, and the poll that waits.
    pub(super) fn of<'q>(
        head: EventId,
        queues: impl Iterator<Item = (EventId, EventId, Option<&'q oneshot::Sender<()>>)>,
    ) -> Self {
        let mut figures = Self { queues: 0, waiting: 0, head: head.0, lag: 0 };
        for (acknowledged, newest, waiter) in queues {
            figures.queues += 1;
            figures.waiting += usize::from(waiter.is_some_and(|waiter| !waiter.is_closed()));
            if newest > acknowledged {
                figures.lag = figures.lag.max(head.0 - acknowledged.0);
            }
        }
        figures
    }
}
