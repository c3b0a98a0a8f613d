//! Changing somebody's presence: by what their clients report, and by whether they want to be seen.

use crate::domain::limits::PRESENCE_OFFLINE_THRESHOLD_SECONDS;
use crate::domain::presence::record::{ACTIVE_BEFORE_CONNECTED_SECONDS, Times};
use crate::domain::presence::rules::Status;
use crate::domain::presence::{events, rules, sql, state};
use crate::domain::user_settings;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::UserId;
use roaring::RoaringBitmap;
use rusqlite::Connection;

/// The setting of who wants to be seen.
pub const SETTING: &str = "presence_enabled";

/// Whether a report would change anything.
pub fn is_worth_a_job(connection: &Connection, user_id: UserId, status: Status, now: i64) -> ApiResult<bool> {
    let before = sql::of(connection, user_id)?.map(|presence| presence.times);
    Ok(rules::step(before, status, now).is_some() && user_settings::get(connection, user_id, SETTING)?)
}

/// Takes a report of a client. Nothing is kept of people who do not want to be seen.
pub fn report(tx: &mut Tx<'_>, user_id: UserId, status: Status) -> ApiResult<()> {
    if !user_settings::get::<bool>(tx, user_id, SETTING)? {
        return Ok(());
    }
    let before = sql::of(tx, user_id)?.map(|presence| presence.times);
    let Some(step) = rules::step(before, status, tx.now()) else { return Ok(()) };
    sql::put(tx, user_id, step.times)?;
    if step.came_online { events::tell(tx, user_id) } else { Ok(()) }
}

/// Somebody wants to be seen from now on, or not any more: then they look as if they had gone.
pub fn visibility_changed(tx: &mut Tx<'_>, user_id: UserId, is_visible: bool) -> ApiResult<()> {
    let now = tx.now();
    if is_visible {
        sql::put(tx, user_id, Times { last_active: Some(now), last_connected: now })?;
        return events::tell(tx, user_id);
    }
    let Some(before) = sql::of(tx, user_id)? else { return Ok(()) };
    let gone_since = now - PRESENCE_OFFLINE_THRESHOLD_SECONDS - 1;
    // So long before the last connection that the older form says "idle".
    let inactive_since = gone_since - ACTIVE_BEFORE_CONNECTED_SECONDS - 1;
    let times = Times {
        last_active: before.times.last_active.map(|active| active.min(inactive_since)),
        last_connected: before.times.last_connected.min(gone_since),
    };
    sql::put(tx, user_id, times)?;
    events::tell(tx, user_id)
}

/// Tells others, who can access somebody from now on, when they were here, if that is not long ago.
pub fn introduce(tx: &mut Tx<'_>, user_id: UserId, to: &RoaringBitmap) -> ApiResult<()> {
    let since = tx.now() - state::HISTORY_DAYS * state::DAY;
    match sql::of(tx, user_id)? {
        Some(presence) if presence.times.last_connected >= since => {
            events::tell_these(tx, user_id, to.clone())
        }
        _ => Ok(()),
    }
}
