//! The waiting period of new members: `waiting_period_threshold` of the organization, in days.

use crate::domain::realm;
use crate::error::ApiResult;
use crate::types::SECONDS_PER_DAY;
use rusqlite::Connection;

/// The waiting period at a time.
#[derive(Clone, Copy, Debug)]
pub struct WaitingPeriod {
    seconds: i64,
    now: i64,
}

impl WaitingPeriod {
    /// Loads it; `now` in UNIX seconds.
    pub fn load(connection: &Connection, now: i64) -> ApiResult<Self> {
        let days: i64 = realm::settings::WAITING_PERIOD_THRESHOLD.get(connection)?;
        Ok(Self { seconds: days * SECONDS_PER_DAY, now })
    }

    /// True if there is no waiting period.
    pub fn is_zero(self) -> bool {
        self.seconds == 0
    }

    /// Members who joined after this time are new, UNIX seconds.
    pub fn new_since(self) -> i64 {
        self.now - self.seconds
    }

    /// True if a member who joined at a time is new.
    pub fn is_new(self, date_joined: i64) -> bool {
        date_joined > self.new_since()
    }

    /// When a member who joined at a time is new no longer, UNIX seconds.
    pub fn end(self, date_joined: i64) -> i64 {
        date_joined + self.seconds
    }
}
