//! Emitting events: from a job, with its rows, or without the writer.

use super::audience::Audience;
use super::buffer::Change;
use super::event::{Registered, Routed};
use super::hub::Hub;
use super::ids::{GroupIds, Outcome};
use super::log;
use super::pending::{CommittedEvent, PendingEvent};
use super::queue_store::DeletedQueues;
use super::serialized::SerializedEvent;
use super::withdraw::Withdrawal;
use crate::store::{CommitSink, OutboxItem, StoreError, Tx, Writer, WriterCaches};
use crate::types::{EventId, UserId};
use rusqlite::Connection;
use std::sync::Arc;

/// Emitting events in a job. These are methods of [`Tx`] so that a job reads top to bottom; `store` does not depend on
/// them.
impl Tx<'_> {
    /// Emits an event: it is stored with the job's rows and sent to the audience after the commit. An event that cannot be
    /// serialized fails the job. Nothing happens if the audience is empty.
    ///
    /// Only events that are listed in the [`Registry`](super::Registry) can be emitted:
    ///
    /// ```compile_fail,E0277
    /// use serde::{Deserialize, Serialize};
    /// use teamchat::events::{Audience, Event, Form, Receiver};
    /// use teamchat::store::Tx;
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Unlisted {}
    ///
    /// impl Event for Unlisted {
    ///     const TYPE: &'static str = "unlisted";
    ///     const VERSION: u32 = 1;
    ///     type Routing = ();
    ///     type Variant = ();
    ///     fn deliver(&self, _: &(), _: &Receiver<'_>) -> Option<()> {
    ///         Some(())
    ///     }
    ///     fn form(&self, _: &(), _: ()) -> serde_json::Result<Form> {
    ///         Form::of(self)
    ///     }
    /// }
    ///
    /// fn job(tx: &mut Tx<'_>, audience: Audience) {
    ///     tx.emit(Unlisted {}, audience);
    /// }
    /// ```
    pub fn emit<E: Registered>(&mut self, event: impl Into<Routed<E>>, audience: Audience) {
        self.push_event(event.into(), audience, true);
    }

    /// Emits an event that is not worth keeping: it is sent after the commit to queues whose clients still listen, and is
    /// lost for the others.
    pub fn emit_unlogged<E: Registered>(&mut self, event: impl Into<Routed<E>>, audience: Audience) {
        self.push_event(event.into(), audience, false);
    }

    fn push_event<E: Registered>(&mut self, routed: Routed<E>, audience: Audience, is_logged: bool) {
        if audience.is_empty() || self.is_muted() {
            return;
        }
        match SerializedEvent::new(&routed) {
            Ok(event) => {
                let message_id = routed.event.message_id();
                self.push_outbox(Box::new(PendingEvent { audience, event, message_id, is_logged }));
            }
            Err(error) => {
                tracing::error!(%error, name = E::NAME, "an event could not be serialized");
                self.fail(error.into());
            }
        }
    }
}

/// Sends an event that is not worth keeping and that no job belongs to, such as a typing notification. It needs no
/// transaction: it is published at once, or after the group of jobs that the writer is about to commit. When the reserved
/// event numbers are used up, a job reserves more.
pub async fn broadcast<E: Registered>(
    hub: &Hub,
    writer: &Writer,
    event: impl Into<Routed<E>>,
    audience: Audience,
) -> Result<(), StoreError> {
    if audience.is_empty() {
        return Ok(());
    }
    let event = SerializedEvent::new(&event.into())?;
    match hub.publish_unlogged(PendingEvent { audience, event, message_id: None, is_logged: false }) {
        Outcome::Published | Outcome::Deferred => Ok(()),
        Outcome::NeedsBlock => writer.run(|_| Ok(())).await,
        Outcome::Closed => Err(StoreError::Stopped),
    }
}

/// Writes the events of jobs to the log and publishes them in the hub.
pub struct EventSink {
    hub: Arc<Hub>,
    group: Option<Group>,
}

/// The events of the jobs since the last commit.
struct Group {
    ids: GroupIds,
    events: Vec<CommittedEvent>,
    /// Changes of events that were published before.
    changes: Vec<(EventId, Change)>,
    /// The users whose queues are deleted.
    without_queues: Vec<UserId>,
}

impl EventSink {
    /// Publishes in this hub.
    pub fn new(hub: Arc<Hub>) -> Self {
        Self { hub, group: None }
    }
}

impl Group {
    fn open(hub: &Hub) -> Self {
        let ids = hub.ids.open_group();
        Self { ids, events: Vec::new(), changes: Vec::new(), without_queues: Vec::new() }
    }

    /// Changes an event of the group, or else one that was published before.
    fn change(&mut self, id: EventId, change: Change) {
        match self.events.binary_search_by_key(&id, |event| event.id) {
            Err(_) => self.changes.push((id, change)),
            Ok(index) => match change {
                Change::Removed => drop(self.events.remove(index)),
                Change::Payload(payload) => self.events[index].event.payload = payload,
                Change::Audience(audience) => self.events[index].audience = audience,
            },
        }
    }
}

impl CommitSink for EventSink {
    fn append(
        &mut self,
        connection: &Connection,
        caches: &mut WriterCaches,
        outbox: Vec<OutboxItem>,
    ) -> rusqlite::Result<()> {
        let group = self.group.get_or_insert_with(|| Group::open(&self.hub));
        for item in outbox {
            match item.downcast::<PendingEvent>() {
                Ok(pending) => {
                    let id = group.ids.take(connection)?;
                    if pending.is_logged {
                        let columns = (&pending.audience, pending.message_id);
                        log::append(connection, caches.cache_mut(), id, &pending.event, columns)?;
                    }
                    group.events.push(pending.numbered(id));
                }
                Err(item) => match item.downcast::<Withdrawal>() {
                    Ok(withdrawal) => {
                        let registry = self.hub.registry;
                        for (id, change) in withdrawal.apply(connection, caches.cache_mut(), registry)? {
                            group.change(id, change);
                        }
                    }
                    Err(item) => {
                        let deleted = item.downcast::<DeletedQueues>();
                        group.without_queues.extend(deleted.map(|deleted| deleted.0));
                    }
                },
            }
        }
        Ok(())
    }

    fn before_commit(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.group.is_none() && self.hub.ids.needs_block() {
            self.group = Some(Group::open(&self.hub));
        }
        match &mut self.group {
            Some(group) => group.ids.top_up(connection),
            None => Ok(()),
        }
    }

    fn committed(&mut self) {
        if let Some(Group { ids, events, changes, without_queues }) = self.group.take() {
            self.hub.ids.commit_group(
                ids,
                || {
                    self.hub.remove_of(&without_queues);
                    self.hub.change(changes);
                    self.hub.publish(events);
                },
                |id, pending| self.hub.publish([pending.numbered(id)]),
            );
        }
    }

    fn answered(&mut self) {
        self.hub.wake();
    }

    fn rolled_back(&mut self) {
        if let Some(Group { ids, .. }) = self.group.take() {
            self.hub.ids.roll_back_group(ids, |id, pending| self.hub.publish([pending.numbered(id)]));
            self.hub.wake();
        }
    }

    fn stopped(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.hub.ids.close(connection)
    }
}
