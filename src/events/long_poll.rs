//! Waiting for a queue's events.

use super::buffer::{BufferedEvent, ParsedEvents, Undeliverable};
use super::hub::{Hub, MAX_EVENTS_PER_POLL};
use super::poll::{PollResult, QueueError, is_for};
use super::{Audience, QueueId, Receiver, log};
use crate::pool::Pool;
use crate::store::StoreError;
use crate::types::{Clock, EventId, UserId};
use std::sync::Arc;
use std::time::Duration;

tokio::task_local! {
    /// Called when a poll of the request that the task serves begins to wait.
    static ON_WAIT: Box<dyn Fn() + Send>;
}

/// Serves a request, and calls `on_wait` whenever a poll in it begins to wait for events. Test servers use it.
pub async fn observe_waits<F: Future>(on_wait: Box<dyn Fn() + Send>, request: F) -> F::Output {
    ON_WAIT.scope(on_wait, request).await
}

/// The polling user, and the pool for slow work.
#[derive(Clone, Copy)]
pub struct Poller<'a> {
    /// The owner of the queue.
    pub user_id: UserId,
    /// The user whose share of the pool is used: the caller, or the creator of a bot.
    pub quota_owner: UserId,
    /// The pool in which large pages, and those from the log, are read and written.
    pub pool: &'a Pool,
}

/// Result of a poll.
#[derive(Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Events, as the members of a JSON array; empty when there are none and the poll may not wait.
    Events(String),
    /// There was no event within the timeout: the client should get a heartbeat.
    TimedOut,
}

impl Hub {
    /// Acknowledges events and returns those after them, or waits for some up to `timeout`. Without a timeout, the poll
    /// does not wait. Not an async function, whose future has two places for each parameter.
    pub fn poll(
        self: &Arc<Self>,
        queue_id: &QueueId,
        poller: Poller<'_>,
        mut last_event_id: Option<EventId>,
        timeout: Option<Duration>,
        clock: &Clock,
    ) -> impl Future<Output = Result<Delivery, QueueError>> + Send {
        let deadline = timeout.map(|timeout| tokio::time::Instant::now() + timeout);
        // The same on the server's clock, which a test may set: then the poll is woken.
        let milliseconds = timeout.and_then(|timeout| i64::try_from(timeout.as_millis()).ok());
        let until = milliseconds.map(|milliseconds| clock.monotonic().saturating_add(milliseconds));
        async move {
            loop {
                let now = clock.monotonic();
                let found =
                    self.poll_once(queue_id, poller.user_id, last_event_id, deadline.is_some(), now)?;
                // Acknowledged once: the next round of this poll must not call the event pruned.
                last_event_id = None;
                let PollResult { wake: Some(wake), .. } = found else {
                    let is_empty = found.is_empty();
                    let events = if is_large(&found) {
                        // Boxed, so that polls that wait do not hold the place for it.
                        Box::pin(self.write_in_pool(queue_id, poller, found)).await?
                    } else {
                        self.write(queue_id, &found)?
                    };
                    if events.is_empty() && deadline.is_some() && !is_empty {
                        continue;
                    }
                    return Ok(Delivery::Events(events));
                };
                drop(found.events);
                drop(found.registration);
                if until.is_some_and(|until| now >= until) {
                    return Ok(Delivery::TimedOut);
                }
                let _unobserved = ON_WAIT.try_with(|on_wait| on_wait());
                match deadline {
                    Some(deadline) => match tokio::time::timeout_at(deadline, wake).await {
                        Ok(Ok(())) => {}
                        // A second poll has taken over, or the server stops.
                        Ok(Err(_)) => return Ok(Delivery::Events(String::new())),
                        Err(_) => return Ok(Delivery::TimedOut),
                    },
                    None => return Ok(Delivery::Events(String::new())),
                }
            }
        }
    }

    /// Like [`write`](Self::write), on a thread of the pool. A user has one such page written at a time, however many polls
    /// ask for it.
    async fn write_in_pool(
        self: &Arc<Self>,
        queue_id: &QueueId,
        poller: Poller<'_>,
        found: PollResult,
    ) -> Result<String, QueueError> {
        let (hub, queue_id) = (Arc::clone(self), queue_id.clone());
        let written = poller.pool.run(Some(poller.quota_owner), move || hub.write(&queue_id, &found));
        written.await.map_err(QueueError::Refused)?
    }

    /// Serializes the found events for the queue. The queue expires if an event cannot be delivered. Blocks if a part
    /// is in the log.
    fn write(&self, queue_id: &QueueId, found: &PollResult) -> Result<String, QueueError> {
        let mut page = Page::default();
        let receiver = found.receiver(queue_id);
        let mut add = |event: &Arc<BufferedEvent>, parsed| {
            page.add(event, &receiver, parsed).map_err(|Undeliverable| {
                self.expire_queue(queue_id);
                QueueError::Unknown
            })
        };
        let (mut seen, mut first) = (None, None);
        let mut has_room = true;
        if let Some((mut after, until)) = found.behind {
            while has_room && after < until {
                let wanted = |event_type: &str, audience: &Audience| {
                    is_for(event_type, audience, queue_id, found.user_id, &found.registration)
                };
                let read = self.readers.read_now(|snapshot| {
                    log::read(snapshot, after, until, MAX_EVENTS_PER_POLL, wanted).map_err(StoreError::from)
                });
                let logged = read.map_err(QueueError::Store)?;
                after = logged.until;
                for row in logged.rows {
                    let event = Arc::new(BufferedEvent::logged(row, self.registry));
                    seen = Some(event.id);
                    first = first.or(seen);
                    has_room = add(&event, None)?;
                    if !has_room {
                        break;
                    }
                }
            }
            if has_room {
                seen = Some(until);
            }
        }
        if has_room {
            for event in &found.events {
                seen = Some(event.id);
                if !add(event, Some(&self.parsed))? {
                    break;
                }
            }
        }
        if page.events == 0
            && let Some(seen) = seen
        {
            self.advance(queue_id, seen);
        }
        // The next poll need not read the events before the first one again.
        if let Some(first) = first {
            self.skip_to(queue_id, first);
        }
        Ok(page.out)
    }
}

/// Several events with more bytes than this are not written on a thread that serves requests. A single one is: it is written
/// once for all queues.
const MAX_BYTES_AT_ONCE: usize = 256 << 10;

/// True if reading and serializing takes too long for request threads.
fn is_large(found: &PollResult) -> bool {
    let size = || found.events.iter().map(|event| event.size()).sum::<usize>();
    found.behind.is_some() || (found.events.len() > 1 && size() > MAX_BYTES_AT_ONCE)
}

/// A response with more bytes than this ends. Its client polls again for the rest.
const MAX_BYTES_PER_POLL: usize = 4 << 20;

/// The events of one response.
#[derive(Default)]
struct Page {
    out: String,
    events: usize,
}

impl Page {
    /// Adds an event if the receiver gets it, and returns whether there is room for more.
    fn add(
        &mut self,
        event: &Arc<BufferedEvent>,
        receiver: &Receiver<'_>,
        parsed: Option<&ParsedEvents>,
    ) -> Result<bool, Undeliverable> {
        let before = self.out.len();
        if before > 0 {
            self.out.push(',');
        }
        if event.write_for(receiver, parsed, &mut self.out)? {
            self.events += 1;
        } else {
            self.out.truncate(before);
        }
        Ok(self.events < MAX_EVENTS_PER_POLL && self.out.len() < MAX_BYTES_PER_POLL)
    }
}
