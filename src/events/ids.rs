//! Event numbers, which all events share and in whose order they are published.
//!
//! The writer numbers the events of a group while the group runs, and publishes them after the commit. Meanwhile events
//! that are not logged are deferred, so that no number is published before a smaller one. At other times they take the
//! next number at once, without the writer.
//!
//! Numbers come from blocks that are reserved in the file (`counter`). A crash leaves the rest of a block unused, so that
//! no number is used twice, not even one of an event that was never stored.

use crate::store::counter;
use crate::types::EventId;
use parking_lot::Mutex;
use rusqlite::Connection;

/// The row of `counter` with the end of the reserved block.
const COUNTER: &str = "event";

/// Numbers reserved at a time: few compared with those that an idle queue can be behind, because a crash skips them.
const BLOCK: i64 = 1 << 12;

/// Numbers that a group leaves for events that are not logged.
const LEFT: i64 = BLOCK / 2;

/// Allocates event ids. `W` is an event that waits for an id while a group runs.
pub struct EventIdAllocator<W> {
    state: Mutex<State<W>>,
}

struct State<W> {
    next: i64,
    /// The end of the block, which is on the disk.
    reserved: i64,
    /// The writer has numbers that are not published.
    is_group_open: bool,
    /// Waits for the end of the group, or for a block.
    deferred: Vec<W>,
    is_closed: bool,
}

/// Result of publishing an event that is not logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Published,
    /// It is published at the end of the writer's current group.
    Deferred,
    /// It is published at the end of a later group of the writer, which has to reserve numbers first.
    NeedsBlock,
    /// The server stops: it is dropped.
    Closed,
}

/// The numbers of a group of the writer.
pub struct GroupIds {
    next: i64,
    reserved: i64,
}

impl<W> EventIdAllocator<W> {
    /// Starts after every number that was ever given out.
    pub fn load(connection: &Connection) -> rusqlite::Result<Self> {
        let next = connection.query_row(
            "SELECT max(coalesce((SELECT value FROM counter WHERE name = 'event'), 1),
                        coalesce((SELECT max(id) + 1 FROM event), 1))",
            [],
            |row| row.get(0),
        )?;
        let state =
            State { next, reserved: next, is_group_open: false, deferred: Vec::new(), is_closed: false };
        Ok(Self { state: Mutex::new(state) })
    }

    /// Returns the newest number that may have been given out.
    pub fn last(&self) -> EventId {
        EventId(self.state.lock().next - 1)
    }

    /// Numbers an event that is not logged and publishes it, or defers it. `publish` runs under the allocator's lock.
    pub fn publish_unlogged(&self, event: W, publish: impl FnOnce(EventId, W)) -> Outcome {
        let mut state = self.state.lock();
        if state.is_closed {
            Outcome::Closed
        } else if state.is_group_open {
            state.deferred.push(event);
            if state.deferred.len() as i64 <= LEFT { Outcome::Deferred } else { Outcome::NeedsBlock }
        } else if state.next < state.reserved {
            let id = state.take();
            publish(id, event);
            Outcome::Published
        } else {
            state.deferred.push(event);
            Outcome::NeedsBlock
        }
    }

    /// Opens a group. Until it is closed, ids are allocated only to the group.
    pub fn open_group(&self) -> GroupIds {
        let mut state = self.state.lock();
        state.is_group_open = true;
        GroupIds { next: state.next, reserved: state.reserved }
    }

    /// Returns whether events wait for a block.
    pub fn needs_block(&self) -> bool {
        !self.state.lock().deferred.is_empty()
    }

    /// Closes a group whose transaction was committed: runs `publish_group`, then numbers and publishes deferred
    /// events. Both run under the allocator's lock.
    pub fn commit_group(&self, ids: GroupIds, publish_group: impl FnOnce(), publish: impl FnMut(EventId, W)) {
        let mut state = self.state.lock();
        (state.next, state.reserved) = (ids.next, ids.reserved);
        publish_group();
        state.close_group(publish);
    }

    /// Closes a group whose transaction was rolled back. Its numbers stay unused; the block that it reserved is lost.
    pub fn roll_back_group(&self, ids: GroupIds, publish: impl FnMut(EventId, W)) {
        let mut state = self.state.lock();
        state.next = ids.next;
        state.close_group(publish);
    }

    /// Gives no more numbers out and saves the next one, which gives the rest of the block back.
    pub fn close(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut state = self.state.lock();
        state.is_closed = true;
        counter::set(connection, COUNTER, state.next)
    }
}

impl<W> State<W> {
    fn take(&mut self) -> EventId {
        let id = EventId(self.next);
        self.next += 1;
        id
    }

    /// Publishes deferred events. Those beyond the end of the block wait for the next group.
    fn close_group(&mut self, mut publish: impl FnMut(EventId, W)) {
        self.is_group_open = false;
        let free = usize::try_from(self.reserved - self.next).unwrap_or(0);
        let count = self.deferred.len().min(free);
        let deferred: Vec<W> = self.deferred.drain(..count).collect();
        for event in deferred {
            let id = self.take();
            publish(id, event);
        }
    }
}

impl GroupIds {
    /// Returns the next number. Reserves a block in the group's transaction when the current one is used up.
    pub fn take(&mut self, connection: &Connection) -> rusqlite::Result<EventId> {
        if self.next >= self.reserved {
            self.reserve(connection)?;
        }
        let id = EventId(self.next);
        self.next += 1;
        Ok(id)
    }

    /// Reserves a block in the group's transaction unless enough of one is left for events that are not logged.
    pub fn top_up(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.reserved - self.next < LEFT { self.reserve(connection) } else { Ok(()) }
    }

    fn reserve(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let reserved = self.next + BLOCK;
        counter::set(connection, COUNTER, reserved)?;
        self.reserved = reserved;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_beyond_the_numbers_of_a_group_ask_for_another() {
        let connection = Connection::open_in_memory().unwrap();
        let tables =
            "CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER); CREATE TABLE event (id INTEGER)";
        connection.execute_batch(tables).unwrap();
        let ids = EventIdAllocator::load(&connection).unwrap();
        let mut group = ids.open_group();
        for _ in 0..BLOCK - LEFT {
            group.take(&connection).unwrap();
        }
        let outcomes = [(); BLOCK as usize].map(|()| ids.publish_unlogged((), |_, ()| ()));
        let (deferred, others) = outcomes.split_at(LEFT as usize);
        assert!(deferred.iter().all(|outcome| *outcome == Outcome::Deferred));
        assert!(others.iter().all(|outcome| *outcome == Outcome::NeedsBlock));
        let mut published = Vec::new();
        group.top_up(&connection).unwrap();
        ids.commit_group(group, || (), |id, ()| published.push(id));
        assert_eq!(published.len(), deferred.len());
        assert!(ids.needs_block());
        let mut group = ids.open_group();
        group.top_up(&connection).unwrap();
        ids.commit_group(group, || (), |id, ()| published.push(id));
        assert!(published.len() == outcomes.len() && published.is_sorted());
    }
}
