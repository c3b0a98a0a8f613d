//! The end of waiting periods: new members become full members as time passes.

use super::{Scope, Snapshot, emit_changes};
use crate::domain::groups;
use crate::domain::groups::waiting_period::WaitingPeriod;
use crate::error::ApiResult;
use crate::store::{Tx, counter};
use crate::types::UserId;
use rusqlite::Connection;

/// The row of `counter` that holds the time up to which ended waiting periods were emitted, in UNIX seconds.
const EMITTED_UNTIL: &str = "waiting_period";

/// The row of `counter` that holds the last member that was emitted, of those whose period ended at that time.
const EMITTED_MEMBER: &str = "waiting_period_member";

/// The most members in one step.
const MEMBERS_PER_STEP: i64 = 20;

/// The end of the waiting periods that were emitted, in the order of their ends and of the ids of members.
struct Position {
    /// In UNIX seconds.
    time: i64,
    member: UserId,
}

impl Position {
    /// All periods that ended up to a time.
    fn all_until(time: i64) -> Self {
        Self { time, member: UserId(i64::MAX) }
    }

    fn load(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        let Some(time) = counter::load(connection, EMITTED_UNTIL)? else { return Ok(None) };
        let member = counter::load(connection, EMITTED_MEMBER)?.unwrap_or(i64::MAX);
        Ok(Some(Self { time, member: UserId(member) }))
    }

    fn save(&self, connection: &Connection) -> rusqlite::Result<()> {
        counter::set(connection, EMITTED_UNTIL, self.time)?;
        counter::set(connection, EMITTED_MEMBER, self.member.0)
    }

    /// When the member of this position joined, in UNIX seconds, and their id.
    fn joined(&self, connection: &Connection) -> ApiResult<(i64, UserId)> {
        Ok((WaitingPeriod::load(connection, self.time)?.new_since(), self.member))
    }
}

/// The time at which [`emit_some`] has something to do next, in UNIX seconds; `None` if no member is new.
pub fn next_end(connection: &Connection, now: i64) -> ApiResult<Option<i64>> {
    let waiting_period = WaitingPeriod::load(connection, now)?;
    if waiting_period.is_zero() {
        return Ok(None);
    }
    let position = Position::load(connection)?;
    let is_known = position.is_some();
    let after = position.unwrap_or_else(|| Position::all_until(now)).joined(connection)?;
    let next = groups::members_joined(connection, after, i64::MAX, 1)?.first().copied();
    Ok(next.map(|(joined, _)| if is_known { waiting_period.end(joined) } else { now }))
}

/// Emits the channels and group memberships that members gain when their waiting period ends, for all periods that ended
/// since the last call. Must be called before the length of the waiting period changes.
pub fn emit_ended(tx: &mut Tx<'_>) -> ApiResult<()> {
    emit_first(tx, i64::MAX)?;
    Ok(())
}

/// Emits gains as [`emit_ended`], for a few members. Returns true if these were all.
pub fn emit_some(tx: &mut Tx<'_>) -> ApiResult<bool> {
    emit_first(tx, MEMBERS_PER_STEP)
}

/// Emits gains as [`emit_ended`], for the members whose periods ended first. Returns true if these were all.
fn emit_first(tx: &mut Tx<'_>, limit: i64) -> ApiResult<bool> {
    let now = tx.now();
    let waiting_period = WaitingPeriod::load(tx, now)?;
    let mut done = Position::all_until(now);
    let mut is_all = true;
    if let Some(position) = Position::load(tx)?.filter(|_| !waiting_period.is_zero()) {
        let joined = groups::members_joined(tx, position.joined(tx)?, waiting_period.new_since(), limit)?;
        if let (Some((first, _)), Some((last, member))) = (joined.first(), joined.last()) {
            is_all = (joined.len() as i64) < limit;
            if !is_all {
                done = Position { time: waiting_period.end(*last), member: *member };
            }
            let users: Vec<UserId> = joined.iter().map(|(_, user_id)| *user_id).collect();
            let scope = Scope::Members(&users);
            // All of them were new then.
            let before = Snapshot::load(tx, scope, waiting_period.end(*first) - 1)?;
            emit_changes(tx, scope, before, |_, _| Ok(()))?;
        }
    }
    done.save(tx)?;
    Ok(is_all)
}
