//! The end of waiting periods: new members become full members as time passes.

use super::{Scope, Snapshot, emit_changes};
use crate::domain::groups;
use crate::domain::groups::waiting_period::WaitingPeriod;
use crate::error::ApiResult;
use crate::store::{Tx, counter};
use rusqlite::Connection;

/// The row of `counter` that holds the time up to which ended waiting periods were emitted, in UNIX seconds.
const EMITTED_UNTIL: &str = "waiting_period";

/// The time at which [`emit_ended`] has something to do next, in UNIX seconds; `None` if no member is new.
pub fn next_end(connection: &Connection, now: i64) -> ApiResult<Option<i64>> {
    let emitted_until = counter::load(connection, EMITTED_UNTIL)?;
    let waiting_period = WaitingPeriod::load(connection, emitted_until.unwrap_or(now))?;
    if waiting_period.is_zero() {
        return Ok(None);
    }
    let next = groups::next_new_member(connection, waiting_period.new_since())?;
    Ok(next.map(|joined| if emitted_until.is_some() { waiting_period.end(joined) } else { now }))
}

/// Emits the channels and group memberships that members gain when their waiting period ends, for all periods that ended
/// since the last call. Must also be called before the length of the waiting period changes.
pub fn emit_ended(tx: &mut Tx<'_>) -> ApiResult<()> {
    let now = tx.now();
    let waiting_period = WaitingPeriod::load(tx, now)?;
    if let Some(since) = counter::load(tx, EMITTED_UNTIL)?.filter(|_| !waiting_period.is_zero()) {
        let first = WaitingPeriod::load(tx, since)?.new_since();
        let users = groups::members_joined(tx, first, waiting_period.new_since())?;
        if !users.is_empty() {
            let scope = Scope::Members(&users);
            let before = Snapshot::load(tx, scope, since)?;
            emit_changes(tx, scope, before, |_, _| Ok(()))?;
        }
    }
    Ok(counter::set(tx, EMITTED_UNTIL, now)?)
}
