//! The set of message ids that a user has read of one conversation.
//!
//! If no unread message lies between two read ones, all ids between them are in the set, even those of messages in
//! other conversations. So the set consists of few runs, and the unread messages are exactly the conversation's
//! messages in its gaps. The statements are in [`super`].

use roaring::RoaringBitmap;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Binary digits of the ids in one stored chunk.
pub const CHUNK_BITS: u32 = 16;

/// A set of read ids: all up to a mark, and some above it.
#[derive(Clone, Debug, Default)]
pub struct ReadSet {
    until: u32,
    /// The mark that is stored; `None` if none is.
    stored: Option<u32>,
    /// Only ids above the mark, and never the one right above it.
    above: RoaringBitmap,
    /// Chunks that differ from those stored.
    changed: BTreeSet<u32>,
}

impl ReadSet {
    /// A set that was loaded.
    pub fn stored(until: u32, above: RoaringBitmap) -> Self {
        Self { until, stored: Some(until), above, changed: BTreeSet::new() }
    }

    /// The mark: all ids up to it are in the set.
    pub fn until(&self) -> u32 {
        self.until
    }

    /// True if an id is in the set.
    pub fn contains(&self, id: u32) -> bool {
        id <= self.until || self.above.contains(id)
    }

    /// Adds ids, ascending. `unread_between` returns whether the conversation has a message in a range of ids that are
    /// not in the set; a range without messages is added too.
    pub fn insert<E>(
        &mut self,
        ids: &[u32],
        mut unread_between: impl FnMut(RangeInclusive<u32>) -> Result<bool, E>,
    ) -> Result<(), E> {
        for (index, &id) in ids.iter().enumerate() {
            if self.contains(id) {
                continue;
            }
            let before = self.above.range(..id).next_back().unwrap_or(self.until);
            let after = self.above.range(id..).next();
            let mut run = id..=id;
            if before + 1 < id && !unread_between(before + 1..=id - 1)? {
                run = before + 1..=id;
            }
            // If the next id to add is before the next run, it covers this gap itself.
            let next_added = ids.get(index + 1).copied().unwrap_or(u32::MAX);
            if let Some(after) = after.filter(|after| *after <= next_added)
                && (after == id + 1 || !unread_between(id + 1..=after - 1)?)
            {
                run = *run.start()..=after;
            }
            self.fill(run);
        }
        self.raise_mark();
        Ok(())
    }

    /// Adds a range of ids.
    pub fn insert_range(&mut self, ids: RangeInclusive<u32>) {
        let start = (*ids.start()).max(self.until.saturating_add(1));
        if start <= *ids.end() {
            self.fill(start..=*ids.end());
            self.raise_mark();
        }
    }

    /// Adds everything up to an id.
    pub fn insert_until(&mut self, id: u32) {
        if id > self.until {
            self.touch(self.until..=id);
            self.above.remove_range(..=id);
            self.until = id;
            self.raise_mark();
        }
    }

    /// Marks a message as unread.
    pub fn remove(&mut self, id: u32) {
        if self.contains(id) {
            self.remove_range(id..=id);
        }
    }

    /// Marks all messages within a range of ids as unread.
    pub fn remove_range(&mut self, ids: RangeInclusive<u32>) {
        let (first, last) = (*ids.start(), *ids.end());
        if first == 0 || first > last {
            return;
        }
        if first <= self.until {
            if last < self.until {
                self.fill(last + 1..=self.until);
            }
            self.until = first - 1;
        }
        self.touch(ids.clone());
        self.above.remove_range(ids);
    }

    /// The ranges of ids within bounds that are not in the set, the lowest first.
    pub fn gaps(&self, within: RangeInclusive<u32>) -> impl Iterator<Item = RangeInclusive<u32>> {
        let start = (*within.start()).max(self.until.saturating_add(1));
        let end = *within.end();
        let mut runs = self.above.range(start..=end.max(start));
        let mut next = Some(start).filter(|start| *start <= end && self.until < u32::MAX);
        std::iter::from_fn(move || {
            loop {
                let from = next?;
                let Some(run) = runs.next_range() else {
                    next = None;
                    return Some(from..=end);
                };
                next = run.end().checked_add(1).filter(|next| *next <= end);
                if from < *run.start() {
                    return Some(from..=*run.start() - 1);
                }
            }
        })
    }

    /// The ranges of ids within bounds that are not in the set, the highest first.
    pub fn gaps_down(&self, within: RangeInclusive<u32>) -> impl Iterator<Item = RangeInclusive<u32>> {
        let start = (*within.start()).max(self.until.saturating_add(1));
        let end = *within.end();
        let mut runs = self.above.range(start..=end.max(start));
        let mut next = Some(end).filter(|end| start <= *end && self.until < u32::MAX);
        std::iter::from_fn(move || {
            loop {
                let to = next?;
                let Some(run) = runs.next_range_back() else {
                    next = None;
                    return Some(start..=to);
                };
                next = run.start().checked_sub(1).filter(|next| *next >= start);
                if *run.end() < to {
                    return Some(*run.end() + 1..=to);
                }
            }
        })
    }

    /// The ids of another set that are not in this one. It takes as long as there are gaps, and not ids.
    pub fn missing(&self, ids: &RoaringBitmap) -> RoaringBitmap {
        let mut missing = RoaringBitmap::new();
        if let (Some(first), Some(last)) = (ids.min(), ids.max()) {
            for gap in self.gaps(first..=last) {
                missing.insert_range(gap);
            }
        }
        missing & ids
    }

    /// The ranges of ids within bounds that are in the set, the lowest first.
    pub fn runs(&self, within: RangeInclusive<u32>) -> impl Iterator<Item = RangeInclusive<u32>> {
        let (marked, mut above) = self.parts(within);
        marked.into_iter().chain(std::iter::from_fn(move || above.next_range()))
    }

    /// The ranges of ids within bounds that are in the set, the highest first.
    pub fn runs_down(&self, within: RangeInclusive<u32>) -> impl Iterator<Item = RangeInclusive<u32>> {
        let (marked, mut above) = self.parts(within);
        std::iter::from_fn(move || above.next_range_back()).chain(marked)
    }

    /// The ids of the set within bounds: up to the mark, and above it.
    fn parts(&self, within: RangeInclusive<u32>) -> (Option<RangeInclusive<u32>>, roaring::bitmap::Iter<'_>) {
        let marked = *within.start()..=self.until.min(*within.end());
        let above = if within.is_empty() { self.above.range(..0) } else { self.above.range(within) };
        (Some(marked).filter(|marked| !marked.is_empty()), above)
    }

    /// Takes the mark to store, if it is not the stored one.
    pub fn take_changed_mark(&mut self) -> Option<u32> {
        (self.stored.replace(self.until) != Some(self.until)).then_some(self.until)
    }

    /// Takes the chunks to store, by number; an empty one is to be deleted.
    pub fn take_changed(&mut self) -> Vec<(u32, RoaringBitmap)> {
        std::mem::take(&mut self.changed)
            .into_iter()
            .map(|chunk| {
                let first = chunk << CHUNK_BITS;
                let last = first | ((1 << CHUNK_BITS) - 1);
                let mut bits = RoaringBitmap::new();
                let mut runs = self.above.range(first..=last);
                while let Some(run) = runs.next_range() {
                    bits.insert_range(run);
                }
                bits.optimize();
                (chunk, bits)
            })
            .collect()
    }

    fn fill(&mut self, run: RangeInclusive<u32>) {
        self.touch(run.clone());
        self.above.insert_range(run);
    }

    fn touch(&mut self, run: RangeInclusive<u32>) {
        self.changed.extend((run.start() >> CHUNK_BITS)..=(run.end() >> CHUNK_BITS));
    }

    /// Raises the mark to the end of the run right above it.
    fn raise_mark(&mut self) {
        let mut runs = self.above.iter();
        let Some(run) = runs.next_range() else { return };
        if *run.start() == self.until + 1 {
            self.touch(run.clone());
            self.until = *run.end();
            self.above.remove_range(..=self.until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    /// A plain model: the conversation's messages, and which of them are read.
    #[derive(Default)]
    struct Plain {
        messages: BTreeSet<u32>,
        read: BTreeSet<u32>,
    }

    #[derive(Clone, Debug)]
    enum Step {
        Send,
        Skip,
        Read(Vec<usize>),
        Unread(usize),
        ReadUntil(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => Just(Step::Send),
            2 => Just(Step::Skip),
            3 => prop::collection::vec(0usize..60, 1..6).prop_map(Step::Read),
            2 => (0usize..60).prop_map(Step::Unread),
            1 => (0usize..60).prop_map(Step::ReadUntil),
        ]
    }

    proptest! {
        #[test]
        fn the_set_agrees_with_a_plain_model(steps in prop::collection::vec(step(), 1..120), start in 1u32..70_000) {
            let mut plain = Plain::default();
            let mut set = ReadSet::default();
            let mut next = start;
            for step in steps {
                let sent: Vec<u32> = plain.messages.iter().copied().collect();
                let pick = |index: usize| sent.get(index % sent.len().max(1)).copied();
                match step {
                    Step::Send => { plain.messages.insert(next); next += 1; }
                    Step::Skip => next += 1,
                    Step::Read(indexes) => {
                        let ids: BTreeSet<u32> = indexes.into_iter().filter_map(pick).collect();
                        plain.read.extend(&ids);
                        let ids: Vec<u32> = ids.into_iter().collect();
                        let messages = &plain.messages;
                        set.insert(&ids, |range| Ok::<_, Infallible>(messages.range(range).next().is_some())).unwrap();
                    }
                    Step::Unread(index) => if let Some(id) = pick(index) {
                        plain.read.remove(&id);
                        set.remove(id);
                    },
                    Step::ReadUntil(index) => if let Some(id) = pick(index) {
                        plain.read.extend(plain.messages.range(..=id));
                        set.insert_until(id);
                    },
                }
                let unread: Vec<u32> = plain.messages.difference(&plain.read).copied().collect();
                let within = 1..=next;
                let found: Vec<u32> = set
                    .gaps(within.clone())
                    .flat_map(|gap| plain.messages.range(gap).copied().collect::<Vec<_>>())
                    .collect();
                prop_assert_eq!(&found, &unread);
                let messages: RoaringBitmap = plain.messages.iter().copied().collect();
                prop_assert_eq!(set.missing(&messages).into_iter().collect::<Vec<_>>(), unread);
                let mut down: Vec<_> = set.gaps_down(within.clone()).collect();
                down.reverse();
                prop_assert_eq!(down, set.gaps(within.clone()).collect::<Vec<_>>());
                let bounds = next / 3..=next - next / 5;
                let read: Vec<u32> = plain.read.range(bounds.clone()).copied().collect();
                let runs = set.runs(bounds.clone());
                let found: Vec<u32> =
                    runs.flat_map(|run| plain.messages.range(run).copied().collect::<Vec<_>>()).collect();
                prop_assert_eq!(&found, &read);
                let mut down: Vec<_> = set.runs_down(bounds.clone()).collect();
                down.reverse();
                prop_assert_eq!(down, set.runs(bounds).collect::<Vec<_>>());
                for id in &plain.messages {
                    prop_assert_eq!(set.contains(*id), plain.read.contains(id));
                }
            }
        }

        #[test]
        fn stored_pieces_give_the_same_set(ids in prop::collection::btree_set(2u32..300_000, 1..50)) {
            let mut set = ReadSet::default();
            let ids: Vec<u32> = ids.into_iter().collect();
            set.insert(&ids, |_| Ok::<_, Infallible>(true)).unwrap();
            let mut stored = RoaringBitmap::new();
            for (_, bits) in set.take_changed() {
                stored |= bits;
            }
            prop_assert_eq!(set.take_changed_mark(), Some(set.until()), "the first is stored, whatever it is");
            let mut again = ReadSet::stored(set.until(), stored);
            prop_assert_eq!(&again.above, &set.above);
            prop_assert_eq!(again.take_changed_mark(), None);
            again.insert_until(300_000);
            prop_assert_eq!(again.take_changed_mark(), Some(again.until()));
        }
    }

    #[test]
    fn ranges_raise_the_mark_or_stay_above_it() {
        let mut set = ReadSet::stored(10, RoaringBitmap::new());
        for ids in [3..=8, 20..=25, 9..=12] {
            set.insert_range(ids);
        }
        assert_eq!(set.gaps(1..=30).collect::<Vec<_>>(), [13..=19, 26..=30]);
        assert_eq!((set.until(), set.above.min()), (12, Some(20)));
    }

    #[test]
    fn reading_in_order_stores_one_run() {
        let mut set = ReadSet::default();
        for id in [5, 9, 40, 70_000] {
            set.insert(&[id], |_| Ok::<_, Infallible>(false)).unwrap();
        }
        assert_eq!((set.until(), set.above.is_empty()), (70_000, true));
    }
}
