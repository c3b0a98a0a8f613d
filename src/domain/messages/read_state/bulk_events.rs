//! Telling the clients of many users which messages became read when channels were marked as read for them.
//!
//! Marking is fast for any number of unread messages, but an event lists all of them. So users with the same gaps in
//! their read sets share a list, each list has only messages that are part of `unread_msgs`, and follow-up jobs emit
//! the rest.

use crate::domain::access::messages::Ranges;
use crate::domain::limits::MAX_SHOWN_UNREAD;
use crate::domain::messages::events::FlagsChanged;
use crate::domain::messages::{read_state, sql};
use crate::error::ApiResult;
use crate::events::Audience;
use crate::store::{FollowUp, Tx};
use crate::types::{MessageId, RecipientId, UserId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Number of messages listed by one job, before it leaves the others to the next.
const LISTED_PER_JOB: usize = MAX_SHOWN_UNREAD;

/// Number of users and gaps that a follow-up job begins with. Each job writes its rest again, so long rests are divided.
const LEFT_PER_JOB: usize = 2_000;

/// First and last ids of unread ranges, ascending.
type Gaps = Vec<(u32, u32)>;

/// Unread messages of users in channels that were marked as read for them, without an event yet.
#[derive(Debug, Default)]
pub struct BulkReadEvents {
    /// Users by channel, and by their unread ranges in it.
    by_gaps: BTreeMap<(RecipientId, Gaps), Vec<UserId>>,
}

/// Users with the same unread ranges in a channel.
#[derive(Serialize, Deserialize)]
struct UnreadList {
    recipient_id: RecipientId,
    gaps: Gaps,
    users: Vec<UserId>,
}

/// Lists whose events are emitted after the job that marked the messages: users may have marked some as unread since.
#[derive(Serialize, Deserialize)]
pub struct LateReadEvents(VecDeque<UnreadList>);

impl FollowUp for LateReadEvents {
    const NAME: &'static str = "read_events";

    fn run(self, tx: &mut Tx<'_>) -> ApiResult<()> {
        emit(tx, self.0, true)
    }
}

impl BulkReadEvents {
    /// Adds the unread ranges of a user in a channel.
    pub fn add(&mut self, user_id: UserId, recipient_id: RecipientId, unread: &Ranges) {
        if !unread.is_empty() {
            let gaps = unread.iter().map(|gap| (*gap.start(), *gap.end())).collect();
            self.by_gaps.entry((recipient_id, gaps)).or_default().push(user_id);
        }
    }

    /// Emits to users which messages became read: as many lists as fit into this job, and the others in jobs of their own.
    pub fn emit(self, tx: &mut Tx<'_>) -> ApiResult<()> {
        let list = |((recipient_id, gaps), users)| UnreadList { recipient_id, gaps, users };
        emit(tx, self.by_gaps.into_iter().map(list).collect(), false)
    }
}

fn emit(tx: &mut Tx<'_>, mut lists: VecDeque<UnreadList>, is_late: bool) -> ApiResult<()> {
    let mut listed = 0;
    let mut budget = tx.budget(LateReadEvents::NAME);
    while listed < LISTED_PER_JOB
        && !lists.is_empty()
        && budget.next_step()
        && let Some(UnreadList { recipient_id, gaps, users }) = lists.pop_front()
    {
        let ids = newest_ids(tx, recipient_id, &gaps)?;
        // A gap costs a statement, with messages or without.
        listed += ids.len().max(gaps.len());
        let users = if is_late { emit_to_changed(tx, recipient_id, &ids, users)? } else { users };
        if !ids.is_empty() && !users.is_empty() {
            tx.emit(FlagsChanged::new(true, "read", &ids, None), Audience::users(users));
        }
    }
    for part in divided(lists) {
        tx.then(LateReadEvents(part))?;
    }
    Ok(())
}

/// The lists in parts, each for a follow-up job. A list stays whole.
fn divided(lists: VecDeque<UnreadList>) -> Vec<VecDeque<UnreadList>> {
    let mut parts: Vec<VecDeque<UnreadList>> = Vec::new();
    let mut room = 0;
    for list in lists {
        let length = list.gaps.len() + list.users.len();
        match parts.last_mut() {
            Some(part) if length <= room => {
                room -= length;
                part.push_back(list);
            }
            _ => {
                room = LEFT_PER_JOB.saturating_sub(length);
                parts.push(VecDeque::from([list]));
            }
        }
    }
    parts
}

/// Emits to each of the users who have not read all of the messages which ones they have read. Returns the other users.
fn emit_to_changed(
    tx: &mut Tx<'_>,
    recipient_id: RecipientId,
    ids: &[MessageId],
    users: Vec<UserId>,
) -> ApiResult<Vec<UserId>> {
    let newest = ids.last().and_then(|id| id.bit()).unwrap_or_default();
    let mut unchanged = Vec::with_capacity(users.len());
    for user_id in users {
        let read = read_state::load(tx, user_id, recipient_id)?;
        if newest <= read.until() {
            unchanged.push(user_id);
            continue;
        }
        let is_read = |id: &&MessageId| id.bit().is_some_and(|bit| read.contains(bit));
        let ids: Vec<MessageId> = ids.iter().filter(is_read).copied().collect();
        if !ids.is_empty() {
            tx.emit(FlagsChanged::new(true, "read", &ids, None), Audience::user(user_id));
        }
    }
    Ok(unchanged)
}

/// The newest messages of a conversation in ranges of ids, ascending.
fn newest_ids(
    tx: &Tx<'_>,
    recipient_id: RecipientId,
    gaps: &[(u32, u32)],
) -> rusqlite::Result<Vec<MessageId>> {
    let mut statement = tx.prepare_cached(
        "SELECT id FROM message INDEXED BY message_recipient WHERE recipient_id = ?1 AND id BETWEEN ?2 AND ?3
         ORDER BY id DESC LIMIT ?4",
    )?;
    sql::newest_in(&mut statement, recipient_id, gaps.iter().copied(), MAX_SHOWN_UNREAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rests_are_divided() {
        let list = |gaps: u32, users: i64| UnreadList {
            recipient_id: RecipientId(1),
            gaps: (0..gaps).map(|gap| (gap, gap)).collect(),
            users: (0..users).map(UserId).collect(),
        };
        let lists = [list(900, 100), list(999, 1), list(1, 1), list(5_000, 1), list(1, 500), list(1, 1_000)];
        let lengths: Vec<usize> = divided(lists.into()).iter().map(VecDeque::len).collect();
        assert_eq!(lengths, [2, 1, 1, 2]);
        assert!(divided(VecDeque::new()).is_empty());
    }
}
