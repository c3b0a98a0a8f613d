//! How long somebody is a new member: `waiting_period_threshold` of the organization, in days.

use crate::domain::realm;
use crate::http::ApiResult;
use rusqlite::Connection;

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// The waiting period, as it ends now.
#[derive(Clone, Copy, Debug)]
pub struct WaitingPeriod {
    /// Whoever joined after this time is new, UNIX seconds.
    since: i64,
}

impl WaitingPeriod {
    /// Loads it; `now` in UNIX seconds.
    pub fn load(connection: &Connection, now: i64) -> ApiResult<Self> {
        let days: i64 = realm::settings::get(connection, "waiting_period_threshold")?;
        Ok(Self { since: now - days * SECONDS_PER_DAY })
    }

    /// Whether somebody who joined then is still new, if they are a member.
    pub fn is_new(self, date_joined: i64) -> bool {
        date_joined > self.since
    }
}
