//! What a job on the writer works with: rows, and an outbox of events that is kept or dropped with them.

use super::locals::Locals;
use crate::events::{Audience, Event};
use rusqlite::Connection;
use std::ops::Deref;

/// An event that waits for its job to succeed.
#[derive(Debug)]
pub struct Unsent {
    /// Its type on the wire.
    pub kind: &'static str,
    /// For all receivers, as JSON; what differs between them is decided at delivery.
    pub payload: Box<str>,
    /// Who it is for.
    pub audience: Audience,
    /// Whether it is written to the log. Typing and presence are not worth it: they take a number and are gone.
    pub logged: bool,
}

/// Work that waits for the end of the group.
pub(super) type BeforeCommit = Box<dyn FnOnce(&Connection, &mut Locals) -> rusqlite::Result<()> + Send>;

/// One job's transaction. Dereferences to the connection, on which slices run their statements. The writer gives the
/// job a savepoint: if it answers an error, its rows and events are undone together.
pub struct Tx<'c> {
    connection: &'c Connection,
    locals: &'c mut Locals,
    now: i64,
    pub(super) outbox: Vec<Unsent>,
    pub(super) before_commit: Vec<BeforeCommit>,
}

impl Deref for Tx<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl<'c> Tx<'c> {
    pub(super) fn new(connection: &'c Connection, locals: &'c mut Locals, now: i64) -> Self {
        Self { connection, locals, now, outbox: Vec::new(), before_commit: Vec::new() }
    }

    /// UNIX seconds, UTC; the same for the whole job.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Sends an event to its audience once the job is committed, and keeps it for queues that are not listening.
    pub fn emit<E: Event>(&mut self, event: &E, audience: Audience) {
        self.push(event, audience, true);
    }

    /// Sends an event that is not worth keeping: who does not listen now will not hear of it.
    pub fn emit_unlogged<E: Event>(&mut self, event: &E, audience: Audience) {
        self.push(event, audience, false);
    }

    /// Puts work off to the end of the group, just before the commit: it is part of the transaction, but of no job's
    /// savepoint. For indexes that write out all they have at each savepoint, as full-text search does. Its rows are
    /// not seen by the jobs of the group; if the job fails it is not done, and if it fails the group does.
    pub fn before_commit(
        &mut self,
        work: impl FnOnce(&Connection, &mut Locals) -> rusqlite::Result<()> + Send + 'static,
    ) {
        self.before_commit.push(Box::new(work));
    }

    fn push<E: Event>(&mut self, event: &E, audience: Audience, logged: bool) {
        if audience.is_empty() {
            return;
        }
        // Serializing our own structs cannot fail: their keys are strings.
        match serde_json::to_string(event) {
            Ok(payload) => {
                self.outbox.push(Unsent { kind: E::TYPE, payload: payload.into(), audience, logged });
            }
            Err(error) => tracing::error!(%error, kind = E::TYPE, "an event could not be serialized"),
        }
    }

    /// A slice's cache on the writer, with the connection to fill it from.
    pub fn local<T: Default + Send + 'static>(&mut self) -> (&Connection, &mut T) {
        (self.connection, self.locals.get())
    }

    /// A slice's cache on the writer, if there is one, to read.
    pub fn peek<T: 'static>(&self) -> Option<&T> {
        self.locals.peek()
    }
}
