//! Pagination: the messages around an anchor that match a narrow.

use crate::domain::access::messages::ALL_IDS;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::narrow::cursor::Direction;
use crate::domain::narrow::executor::Query;
use crate::domain::narrow::{Narrow, Term, Test, is_muted};
use crate::error::{ApiError, ApiResult};
use crate::types::MessageId;

/// The anchor after every message. Clients compare with this number.
const NEWEST: i64 = 10_000_000_000_000_000;

/// The position of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At an id, which need not be that of a message; 0 is before all.
    At(i64),
    /// At the oldest unread message that matches and is not muted; after the newest if there is none.
    FirstUnread,
}

impl Anchor {
    /// Parses `anchor`. `is_first_unread` is the deprecated parameter for `first_unread`, which takes precedence.
    pub fn read(anchor: Option<&str>, is_first_unread: bool) -> ApiResult<Self> {
        if is_first_unread {
            return Ok(Self::FirstUnread);
        }
        let text = anchor.ok_or_else(|| ApiError::bad_request("Missing 'anchor' argument."))?;
        match text.trim_matches('"') {
            "newest" => Ok(Self::At(NEWEST)),
            "oldest" => Ok(Self::At(0)),
            "first_unread" => Ok(Self::FirstUnread),
            text => {
                let number: i128 =
                    text.trim().parse().map_err(|_| ApiError::bad_request("Invalid anchor"))?;
                Ok(Self::At(i64::try_from(number.clamp(0, i128::from(NEWEST))).unwrap_or(NEWEST)))
            }
        }
    }
}

/// Parses the number of messages on one side.
pub fn count(name: &str, number: i64) -> ApiResult<usize> {
    usize::try_from(number).map_err(|_| ApiError::bad_request(format!("{name} is too small")))
}

/// The messages that a request asks for.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The position in the list at which the page begins.
    pub anchor: Anchor,
    /// True if the anchor itself may be returned.
    pub include_anchor: bool,
    /// The number of messages before the anchor.
    pub num_before: usize,
    /// The number of messages after the anchor.
    pub num_after: usize,
}

/// The messages that were found.
#[derive(Debug)]
pub struct Page {
    /// Ascending.
    pub ids: Vec<MessageId>,
    /// The anchor as a number; absent if messages were selected by id.
    pub anchor: Option<i64>,
    /// True if the anchor itself is included.
    pub found_anchor: bool,
    /// True if there are no older matches.
    pub found_oldest: bool,
    /// True if there are no newer matches.
    pub found_newest: bool,
}

impl Page {
    /// Messages that were selected by id.
    pub fn of_selected(ids: Vec<MessageId>) -> Self {
        Self { ids, anchor: None, found_anchor: false, found_oldest: false, found_newest: false }
    }

    /// Keeps this number of messages, those next to the anchor: the same number on both sides, or more on one if the
    /// other has fewer. Messages that were selected by id cannot be left out.
    pub fn shorten(&mut self, count: usize) -> ApiResult<()> {
        let Some(anchor) = self.anchor else {
            return Err(ApiError::bad_request(
                "These messages are too large for one response; ask for fewer.",
            ));
        };
        let before = self.ids.partition_point(|id| id.0 < anchor);
        let after = self.ids.len() - before;
        let count = count.max(1);
        let kept_after = after.min(count.div_ceil(2).max(count.saturating_sub(before)));
        let kept_before = before.min(count - kept_after);
        self.found_oldest &= kept_before == before;
        self.found_newest &= kept_after == after;
        self.ids.truncate(before + kept_after);
        self.ids.drain(..before - kept_before);
        Ok(())
    }
}

impl Range {
    /// Finds the messages.
    pub fn page(self, viewer: &MessageViewer<'_>, narrow: &Narrow) -> ApiResult<Page> {
        let Self { include_anchor, num_before, num_after, .. } = self;
        if !include_anchor && num_before > 0 && num_after > 0 {
            return Err(ApiError::bad_request("The anchor can only be excluded at an end of the range"));
        }
        let anchor = match self.anchor {
            Anchor::At(anchor) => anchor,
            Anchor::FirstUnread => first_unread(viewer, narrow)?,
        };
        let is_newest = anchor >= NEWEST;
        let num_after = if is_newest { 0 } else { num_after };
        // A request for nothing on both sides is one for the anchor.
        let include_anchor = include_anchor || (num_before == 0 && num_after == 0);
        // All ids beyond the largest possible one are the position after the newest message.
        let position = u32::try_from(anchor).unwrap_or(u32::MAX).min(ALL_IDS.end() + 1);
        let mut ids = Vec::new();
        if num_before > 0 {
            let start = Direction::Down.past(position).filter(|id| *id > 0);
            ids = Query::new(viewer, narrow, Direction::Down, num_before)?.take(start, num_before)?;
            ids.reverse();
        }
        let found_oldest = anchor == 0 || ids.len() < num_before;
        let mut after = Vec::new();
        if num_after > 0 || (include_anchor && !is_newest) {
            let limit = num_after + usize::from(include_anchor);
            let start = if include_anchor { Some(position) } else { Direction::Up.past(position) };
            after = Query::new(viewer, narrow, Direction::Up, limit)?.take(start, limit)?;
        }
        let found_anchor = after.first().is_some_and(|id| id.0 == anchor);
        after.truncate(num_after + usize::from(found_anchor));
        let found_newest = is_newest || after.len() - usize::from(found_anchor) < num_after;
        ids.append(&mut after);
        Ok(Page { ids, anchor: Some(anchor), found_anchor, found_oldest, found_newest })
    }
}

/// The oldest unread message that matches and is not muted; after the newest if there is none.
fn first_unread(viewer: &MessageViewer<'_>, narrow: &Narrow) -> ApiResult<i64> {
    let with_channels = !narrow.names_channel;
    if narrow.terms.iter().any(|term| is_muted(term, with_channels)) {
        return Ok(NEWEST);
    }
    let mut unread = narrow.clone();
    for test in [Test::Unread, Test::Home { with_channels }] {
        unread.terms.push(Term { test, negated: false });
    }
    let first = Query::new(viewer, &unread, Direction::Up, 1)?.take(Some(*ALL_IDS.start()), 1)?;
    Ok(first.first().map_or(NEWEST, |id| id.0))
}

#[cfg(test)]
mod tests {
    use crate::domain::narrow::page::*;

    #[test]
    fn a_page_is_shortened_at_its_ends() {
        let page = |ids: std::ops::Range<i64>, anchor: i64| Page {
            ids: ids.map(MessageId).collect(),
            anchor: Some(anchor),
            found_anchor: true,
            found_oldest: true,
            found_newest: true,
        };
        // First and last id, anchor, count; the remaining ids, and the flags for the oldest and the newest.
        for (ids, anchor, count, left, found) in [
            (0..10, 5, 4, 3..7, (false, false)),
            (0..10, 5, 1, 5..6, (false, false)),
            (0..10, NEWEST, 4, 6..10, (false, true)),
            (0..10, 0, 4, 0..4, (true, false)),
            (0..10, 8, 6, 4..10, (false, true)),
            (0..10, 1, 6, 0..6, (true, false)),
            (0..10, 5, 10, 0..10, (true, true)),
        ] {
            let mut page = page(ids, anchor);
            page.shorten(count).unwrap();
            assert_eq!(page.ids, left.map(MessageId).collect::<Vec<_>>(), "{anchor} {count}");
            assert_eq!((page.found_oldest, page.found_newest), found, "{anchor} {count}");
        }
        assert!(Page::of_selected(vec![MessageId(1), MessageId(2)]).shorten(1).is_err());
    }

    // conformance: fetch-3
    #[test]
    fn anchors_are_read_as_published() {
        let read = |text| Anchor::read(Some(text), false).map_err(|error| error.msg().to_owned());
        for (text, expected) in [
            ("newest", Ok(Anchor::At(NEWEST))),
            ("\"oldest\"", Ok(Anchor::At(0))),
            ("first_unread", Ok(Anchor::FirstUnread)),
            ("-5", Ok(Anchor::At(0))),
            ("17", Ok(Anchor::At(17))),
            ("99999999999999999999999", Ok(Anchor::At(NEWEST))),
            ("", Err("Invalid anchor".to_owned())),
            ("1.5", Err("Invalid anchor".to_owned())),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        assert_eq!(Anchor::read(Some("5"), true).unwrap(), Anchor::FirstUnread);
        assert_eq!(Anchor::read(None, false).unwrap_err().msg(), "Missing 'anchor' argument.");
    }
}
