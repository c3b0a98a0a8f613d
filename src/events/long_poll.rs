//! Waiting for a queue's events.

use super::hub::{Hub, Look, MAX_EVENTS_IN_ANSWER, QueueError, is_for};
use super::tail::TailEvent;
use super::{QueueId, log};
use crate::store::StoreError;
use crate::types::{Clock, EventId, UserId};
use std::time::Duration;

/// How a poll ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Events, as the members of a JSON array; empty when there are none and the poll may not wait.
    Events(String),
    /// Nothing happened for so long that the client should hear that the server is there.
    Quiet,
}

impl Hub {
    /// Acknowledges what the client has and answers what is there, or waits for it up to `patience`. A poll that does
    /// not block has no patience.
    pub async fn poll(
        &self,
        queue_id: &QueueId,
        user_id: UserId,
        mut last_event_id: Option<EventId>,
        patience: Option<Duration>,
        clock: &Clock,
    ) -> Result<Delivery, QueueError> {
        let deadline = patience.map(|patience| tokio::time::Instant::now() + patience);
        loop {
            let look =
                self.look(queue_id, user_id, last_event_id, deadline.is_some(), clock.milliseconds())?;
            // Said once: a second look in the same poll must not call it pruned.
            last_event_id = None;
            let Look { wake: Some(wake), .. } = look else {
                let events = self.write(queue_id, &look).await.map_err(QueueError::Store)?;
                if events.is_empty() && deadline.is_some() && !look.is_empty() {
                    continue;
                }
                return Ok(Delivery::Events(events));
            };
            drop(look.events);
            drop(look.registration);
            match deadline {
                Some(deadline) => match tokio::time::timeout_at(deadline, wake).await {
                    Ok(Ok(())) => {}
                    // A second poll has taken over, or the server stops.
                    Ok(Err(_)) => return Ok(Delivery::Events(String::new())),
                    Err(_) => return Ok(Delivery::Quiet),
                },
                None => return Ok(Delivery::Events(String::new())),
            }
        }
    }

    /// Writes what a look found as this queue sees it.
    async fn write(&self, queue_id: &QueueId, look: &Look) -> Result<String, StoreError> {
        let receiver = look.receiver(queue_id);
        let mut out = String::new();
        let mut written = 0;
        let mut add = |event: &TailEvent| {
            let before = out.len();
            if before > 0 {
                out.push(',');
            }
            if event.write_for(&receiver, &mut out) {
                written += 1;
            } else {
                out.truncate(before);
            }
            written < MAX_EVENTS_IN_ANSWER
        };
        let mut seen = None;
        let mut room = true;
        if let Some((mut after, until)) = look.behind {
            while room && after < until {
                let rows = self
                    .readers
                    .read(|snapshot| {
                        log::read(snapshot, after, until, MAX_EVENTS_IN_ANSWER).map_err(StoreError::from)
                    })
                    .await?;
                after = rows.last().map_or(until, |row| row.id);
                for row in rows {
                    let event = TailEvent::logged(row, self.types);
                    seen = Some(event.id);
                    if is_for(&event, queue_id, look.user_id, &look.registration) {
                        room = add(&event);
                    }
                    if !room {
                        break;
                    }
                }
            }
            if room {
                seen = Some(until);
            }
        }
        if room {
            for event in &look.events {
                seen = Some(event.id);
                if !add(event) {
                    break;
                }
            }
        }
        if written == 0
            && let Some(seen) = seen
        {
            self.skip_to(queue_id, seen);
        }
        Ok(out)
    }
}

impl Look {
    /// Whether there was nothing to write.
    fn is_empty(&self) -> bool {
        self.events.is_empty() && self.behind.is_none()
    }
}
