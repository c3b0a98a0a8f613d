//! Cursors: ids of messages in order, from indexes. Their cost must not depend on how many messages there are.
//!
//! A [`Cursor`] seeks the first id from a bound on. Cursors over single indexes are combined: a union merges
//! conversations, an intersection leaps from one input to the other. Nothing scans a whole table.

use crate::domain::access::messages::Ranges;
use crate::domain::messages::read_state::read_set::ReadSet;
use crate::domain::messages::record::attribute;
use crate::error::ApiResult;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ToSql};
use std::collections::{BinaryHeap, VecDeque};
use std::fmt;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// The most ids read from an index at a time; for the search index, the first time.
const BATCH: usize = 256;

/// The most ids read from the search index at a time. Continuing a search is slow, so that a narrower cursor that leaps
/// through very many matches must not start a query every few hundred of them.
const SEARCH_BATCH: usize = 1 << 18;

/// The direction in which a cursor steps through ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a bound to older messages.
    Down,
    /// From a bound to newer messages.
    Up,
}

impl Direction {
    /// The bound after an id; `None` at the end of all ids.
    pub fn past(self, id: u32) -> Option<u32> {
        match self {
            Self::Down => id.checked_sub(1),
            Self::Up => id.checked_add(1),
        }
    }

    /// True if an id comes before a bound.
    fn before(self, id: u32, bound: u32) -> bool {
        match self {
            Self::Down => id > bound,
            Self::Up => id < bound,
        }
    }

    /// Larger for ids that come first.
    fn rank(self, id: u32) -> u32 {
        match self {
            Self::Down => id,
            Self::Up => u32::MAX - id,
        }
    }
}

/// Ids in one direction. Bounds must only move in it.
pub trait Cursor {
    /// Returns the first id at the bound or beyond it.
    fn seek(&mut self, bound: u32) -> ApiResult<Option<u32>>;
}

/// An index that lists ids for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// Messages of a conversation.
    Recipient,
    /// Messages of a topic.
    Topic,
    /// Messages of a sender.
    Sender,
    /// Messages of a conversation with a channel wildcard mention.
    StreamWildcard,
    /// Messages that a user starred.
    Starred,
    /// Messages of a conversation with a link.
    Link,
    /// Messages of a conversation with an image.
    Image,
    /// Messages of a conversation with an uploaded file.
    Attachment,
    /// Messages of a conversation with a reaction, now or in the past.
    Reaction,
    /// Messages found by an FTS5 expression.
    Search,
    /// Messages that mention a user, without channel wildcard mentions.
    Mentioned,
    /// Messages with an alert word of a user.
    Alerted,
}

impl Index {
    #[cfg(test)]
    const ALL: [Self; 12] = [
        Self::Recipient,
        Self::Topic,
        Self::Sender,
        Self::StreamWildcard,
        Self::Starred,
        Self::Link,
        Self::Image,
        Self::Attachment,
        Self::Reaction,
        Self::Search,
        Self::Mentioned,
        Self::Alerted,
    ];

    /// The index of a conversation's messages with an attribute, if there is one.
    pub fn with_attribute(attribute: i64) -> Option<Self> {
        match attribute {
            attribute::HAS_LINK => Some(Self::Link),
            attribute::HAS_IMAGE => Some(Self::Image),
            attribute::HAS_ATTACHMENT => Some(Self::Attachment),
            attribute::HAS_REACTION => Some(Self::Reaction),
            _ => None,
        }
    }

    fn largest_batch(self) -> usize {
        if self == Self::Search { SEARCH_BATCH } else { BATCH }
    }

    /// `?1` is the key, `?2` and `?3` the bounds, `?4` the limit. The masks of flags and attributes are those of the indexes
    /// in the schema: SQLite uses an index with a condition only for the very same one.
    fn statement(self, direction: Direction) -> &'static str {
        macro_rules! ordered {
            ($table:literal, $id:literal, $condition:literal, $order:literal) => {
                concat!(
                    "SELECT ",
                    $id,
                    " FROM ",
                    $table,
                    " WHERE ",
                    $condition,
                    " AND ",
                    $id,
                    " BETWEEN ?2 AND ?3 ORDER BY ",
                    $id,
                    $order,
                    " LIMIT ?4"
                )
            };
        }
        macro_rules! both {
            ($table:literal, $id:literal, $condition:literal) => {
                match direction {
                    Direction::Down => ordered!($table, $id, $condition, " DESC"),
                    Direction::Up => ordered!($table, $id, $condition, ""),
                }
            };
        }
        match self {
            Self::Recipient => both!("message INDEXED BY message_recipient", "id", "recipient_id = ?1"),
            Self::Topic => both!("message INDEXED BY message_topic", "id", "topic_id = ?1"),
            Self::Sender => both!("message INDEXED BY message_sender", "id", "sender_id = ?1"),
            Self::StreamWildcard => both!(
                "message INDEXED BY message_stream_wildcard",
                "id",
                "recipient_id = ?1 AND attributes & 1"
            ),
            Self::Link => {
                both!("message INDEXED BY message_link", "id", "recipient_id = ?1 AND attributes & 4")
            }
            Self::Image => {
                both!("message INDEXED BY message_image", "id", "recipient_id = ?1 AND attributes & 8")
            }
            Self::Attachment => {
                both!("message INDEXED BY message_attachment", "id", "recipient_id = ?1 AND attributes & 16")
            }
            Self::Reaction => {
                both!("message INDEXED BY message_reaction", "id", "recipient_id = ?1 AND attributes & 32")
            }
            Self::Search => both!("message_search", "rowid", "message_search MATCH ?1"),
            Self::Starred => both!(
                "user_message_flags INDEXED BY user_message_starred",
                "message_id",
                "user_id = ?1 AND flags & 1"
            ),
            Self::Mentioned => both!(
                "user_message_flags INDEXED BY user_message_mentioned",
                "message_id",
                "user_id = ?1 AND flags & 20"
            ),
            Self::Alerted => both!(
                "user_message_flags INDEXED BY user_message_alerted",
                "message_id",
                "user_id = ?1 AND flags & 8"
            ),
        }
    }
}

/// The key that an index is searched for.
#[derive(Clone, Debug)]
pub enum Key {
    /// The id of a conversation, topic or user.
    Id(i64),
    /// An FTS5 expression.
    Expression(Rc<str>),
}

impl ToSql for Key {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Id(id) => id.to_sql(),
            Self::Expression(text) => text.to_sql(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(formatter),
            Self::Expression(text) => text.fmt(formatter),
        }
    }
}

impl From<i64> for Key {
    fn from(id: i64) -> Self {
        Self::Id(id)
    }
}

/// Filter of the ids that a cursor returns.
#[derive(Clone)]
pub enum IdFilter {
    /// Ids in these ranges.
    Ranges(Ranges),
    /// Unread ids in these ranges.
    Unread(Ranges, Rc<ReadSet>),
    /// Read ids in these ranges.
    Read(Ranges, Rc<ReadSet>),
}

impl IdFilter {
    /// Returns the ranges from a bound on, in order.
    fn pieces(&self, direction: Direction, bound: u32) -> Box<dyn Iterator<Item = RangeInclusive<u32>> + '_> {
        let ranges = match self {
            Self::Ranges(ranges) | Self::Unread(ranges, _) | Self::Read(ranges, _) => ranges,
        };
        let cut = move |range: &RangeInclusive<u32>| {
            let (start, end) = match direction {
                Direction::Down => (*range.start(), bound.min(*range.end())),
                Direction::Up => (bound.max(*range.start()), *range.end()),
            };
            (start <= end).then_some(start..=end)
        };
        match (self, direction) {
            (Self::Ranges(_), Direction::Down) => Box::new(ranges.iter().rev().filter_map(cut)),
            (Self::Ranges(_), Direction::Up) => Box::new(ranges.iter().filter_map(cut)),
            (Self::Unread(_, set), Direction::Down) => {
                Box::new(ranges.iter().rev().filter_map(cut).flat_map(|range| set.gaps_down(range)))
            }
            (Self::Unread(_, set), Direction::Up) => {
                Box::new(ranges.iter().filter_map(cut).flat_map(|range| set.gaps(range)))
            }
            (Self::Read(_, set), Direction::Down) => {
                Box::new(ranges.iter().rev().filter_map(cut).flat_map(|range| set.runs_down(range)))
            }
            (Self::Read(_, set), Direction::Up) => {
                Box::new(ranges.iter().filter_map(cut).flat_map(|range| set.runs(range)))
            }
        }
    }
}

/// A cursor over one key of an index.
pub struct IndexCursor<'c> {
    connection: &'c Connection,
    index: Index,
    key: Key,
    within: IdFilter,
    direction: Direction,
    batch: usize,
    found: VecDeque<u32>,
    exhausted: bool,
}

impl<'c> IndexCursor<'c> {
    /// A cursor that reads `batch` ids first, and more each time.
    pub fn new(
        connection: &'c Connection,
        index: Index,
        key: impl Into<Key>,
        within: IdFilter,
        direction: Direction,
        batch: usize,
    ) -> Self {
        let batch = batch.clamp(1, BATCH);
        let (key, found) = (key.into(), VecDeque::new());
        Self { connection, index, key, within, direction, batch, found, exhausted: false }
    }

    fn refill(&mut self, bound: u32) -> ApiResult<()> {
        let mut statement = self.connection.prepare_cached(self.index.statement(self.direction))?;
        for piece in self.within.pieces(self.direction, bound) {
            let wanted = self.batch - self.found.len();
            let mut rows = statement.query((&self.key, piece.start(), piece.end(), wanted as i64))?;
            while let Some(row) = rows.next()? {
                self.found.push_back(row.get(0)?);
            }
            if self.found.len() >= self.batch {
                break;
            }
        }
        self.exhausted = self.found.len() < self.batch;
        self.batch = (self.batch * 4).min(self.index.largest_batch());
        Ok(())
    }
}

impl Cursor for IndexCursor<'_> {
    fn seek(&mut self, bound: u32) -> ApiResult<Option<u32>> {
        while self.found.front().is_some_and(|id| self.direction.before(*id, bound)) {
            self.found.pop_front();
        }
        if self.found.is_empty() && !self.exhausted {
            self.refill(bound)?;
        }
        Ok(self.found.front().copied())
    }
}

/// The ids of several cursors, merged.
pub struct Union<'c> {
    cursors: Vec<Box<dyn Cursor + 'c>>,
    direction: Direction,
    /// The rank of each cursor's next id, with the cursor's index; empty before the first seek.
    heads: BinaryHeap<(u32, usize)>,
    started: bool,
}

impl<'c> Union<'c> {
    /// Merges cursors of one direction.
    pub fn new(cursors: Vec<Box<dyn Cursor + 'c>>, direction: Direction) -> Self {
        Self { cursors, direction, heads: BinaryHeap::new(), started: false }
    }

    fn push(&mut self, index: usize, bound: u32) -> ApiResult<()> {
        if let Some(id) = self.cursors[index].seek(bound)? {
            self.heads.push((self.direction.rank(id), index));
        }
        Ok(())
    }
}

impl Cursor for Union<'_> {
    fn seek(&mut self, bound: u32) -> ApiResult<Option<u32>> {
        if !self.started {
            self.started = true;
            for index in 0..self.cursors.len() {
                self.push(index, bound)?;
            }
        }
        let bound_rank = self.direction.rank(bound);
        while let Some((rank, index)) = self.heads.peek().copied() {
            if rank <= bound_rank {
                // The rank of a rank is the id.
                return Ok(Some(self.direction.rank(rank)));
            }
            self.heads.pop();
            self.push(index, bound)?;
        }
        Ok(None)
    }
}

/// The ids that all of several cursors have.
pub struct Intersection<'c> {
    cursors: Vec<Box<dyn Cursor + 'c>>,
}

impl<'c> Intersection<'c> {
    /// Intersects cursors of one direction; there is at least one.
    pub fn new(cursors: Vec<Box<dyn Cursor + 'c>>) -> Self {
        Self { cursors }
    }
}

impl Cursor for Intersection<'_> {
    fn seek(&mut self, bound: u32) -> ApiResult<Option<u32>> {
        let mut candidate = bound;
        'leap: loop {
            let mut agreed = None;
            for cursor in &mut self.cursors {
                let Some(id) = cursor.seek(candidate)? else { return Ok(None) };
                if agreed.is_some_and(|agreed| agreed != id) {
                    candidate = id;
                    continue 'leap;
                }
                agreed = Some(id);
                candidate = id;
            }
            return Ok(agreed);
        }
    }
}

/// Iterates over ids that are known in advance.
pub struct IdCursor {
    ids: Vec<u32>,
    direction: Direction,
}

impl IdCursor {
    /// A cursor over known ids.
    pub fn new(mut ids: Vec<u32>, direction: Direction) -> Self {
        ids.sort_unstable_by_key(|id| direction.rank(*id));
        Self { ids, direction }
    }
}

impl Cursor for IdCursor {
    fn seek(&mut self, bound: u32) -> ApiResult<Option<u32>> {
        while self.ids.last().is_some_and(|id| self.direction.before(*id, bound)) {
            self.ids.pop();
        }
        Ok(self.ids.last().copied())
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::narrow::cursor::*;

    fn all(mut cursor: impl Cursor, direction: Direction, start: u32) -> Vec<u32> {
        let mut bound = Some(start);
        let mut ids = Vec::new();
        while let Some(from) = bound {
            let Some(id) = cursor.seek(from).unwrap() else { break };
            ids.push(id);
            bound = direction.past(id);
        }
        ids
    }

    #[test]
    fn every_index_is_walked_from_a_bound_without_sorting() {
        let folder = tempfile::tempdir().unwrap();
        let database = crate::store::Database::open(&folder.path().join("chat.sqlite")).unwrap();
        let connection = database.connect_writer().unwrap();
        let mut plans = Vec::new();
        for index in Index::ALL {
            for direction in [Direction::Down, Direction::Up] {
                let explain = format!("EXPLAIN QUERY PLAN {}", index.statement(direction));
                let mut statement = connection.prepare(&explain).unwrap();
                // A plan needs no parameters.
                let steps = statement.raw_query().mapped(|row| row.get::<_, String>("detail"));
                let steps: Vec<String> = steps.map(Result::unwrap).collect();
                plans.push(format!("{index:?} {direction:?}: {}", steps.join("; ")));
            }
        }
        insta::assert_snapshot!(plans.join("\n"));
    }

    fn known(ids: &[u32], direction: Direction) -> Box<dyn Cursor> {
        Box::new(IdCursor::new(ids.to_vec(), direction))
    }

    #[test]
    fn a_search_goes_on_behind_each_of_its_growing_batches() {
        let folder = tempfile::tempdir().unwrap();
        let database = crate::store::Database::open(&folder.path().join("chat.sqlite")).unwrap();
        let connection = database.connect_writer().unwrap();
        let fill =
            "WITH RECURSIVE number (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number LIMIT 6000)
            INSERT INTO message_search (rowid, content, subject)
                SELECT value, iif(value % 3, 'leek soup', 'soup'), '' FROM number";
        connection.execute_batch(fill).unwrap();
        for direction in [Direction::Down, Direction::Up] {
            let start = if direction == Direction::Down { 5900 } else { 100 };
            let order = |ids: Vec<u32>| match direction {
                Direction::Down => ids.into_iter().rev().filter(|id| *id <= start).collect::<Vec<_>>(),
                Direction::Up => ids.into_iter().filter(|id| *id >= start).collect(),
            };
            let search = || {
                let within = IdFilter::Ranges(vec![10..=2500, 2600..=5950]);
                let key = Key::Expression(Rc::from("leek"));
                IndexCursor::new(&connection, Index::Search, key, within, direction, 1)
            };
            let found = (1..=6000).filter(|id| id % 3 != 0 && (10..=5950).contains(id));
            let found: Vec<u32> = found.filter(|id| !(2501..2600).contains(id)).collect();
            assert_eq!(all(search(), direction, start), order(found.clone()));
            let sparse: Vec<u32> = (1..60).map(|number| number * 97).collect();
            let met = Intersection::new(vec![Box::new(search()), known(&sparse, direction)]);
            let both = found.into_iter().filter(|id| sparse.contains(id)).collect();
            assert_eq!(all(met, direction, start), order(both));
        }
    }

    #[test]
    fn unions_merge_and_intersections_meet_in_both_directions() {
        let (odd, three) = ([1, 3, 5, 7, 9, 11, 13, 15], [3, 6, 9, 12, 15]);
        for direction in [Direction::Down, Direction::Up] {
            let start = if direction == Direction::Down { 14 } else { 2 };
            let order = |mut ids: Vec<u32>| {
                if direction == Direction::Down {
                    ids.reverse();
                }
                ids
            };
            let cursors = || vec![known(&odd, direction), known(&three, direction)];
            let (union, both) = match direction {
                Direction::Down => (vec![1, 3, 5, 6, 7, 9, 11, 12, 13], vec![3, 9]),
                Direction::Up => (vec![3, 5, 6, 7, 9, 11, 12, 13, 15], vec![3, 9, 15]),
            };
            assert_eq!(all(Union::new(cursors(), direction), direction, start), order(union));
            assert_eq!(all(Intersection::new(cursors()), direction, start), order(both));
        }
    }
}
