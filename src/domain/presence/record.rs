//! A person's presence, in the forms that clients know.

use crate::types::UserId;
use serde_json::{Value, json};

/// Whoever was active so shortly before they were last connected was active then, in the older form, which has only one
/// time. In seconds.
pub const ACTIVE_BEFORE_CONNECTED_SECONDS: i64 = 70;

/// When somebody was here, in UNIX seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// When they last used a client; `None` if nobody saw them do so.
    pub last_active: Option<i64>,
    /// When a client of theirs last reported at all.
    pub last_connected: i64,
}

/// A person's presence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    /// Who.
    pub user_id: UserId,
    /// Their API email: older clients know presences by it.
    pub email: String,
    /// When they joined, which stands for a time that is not known.
    pub date_joined: i64,
    /// When they were here.
    pub times: Times,
    /// Grows with each change of anybody's presence.
    pub update_id: i64,
}

impl Presence {
    /// The modern form.
    pub fn modern(&self) -> Value {
        let active = self.times.last_active.unwrap_or(self.date_joined);
        json!({"active_timestamp": active, "idle_timestamp": self.times.last_connected})
    }

    /// The older form: the same twice, under `website` and `aggregated`.
    pub fn legacy(&self) -> Value {
        let (status, timestamp) = self.status();
        let aggregated = json!({"client": CLIENT, "status": status, "timestamp": timestamp});
        json!({"aggregated": aggregated, CLIENT: self.legacy_website()})
    }

    /// What the older form says of the one client that it knows.
    pub fn legacy_website(&self) -> Value {
        let (status, timestamp) = self.status();
        json!({"client": CLIENT, "status": status, "timestamp": timestamp, "pushable": false})
    }

    /// The older form's one status, and its time.
    pub fn status(&self) -> (&'static str, i64) {
        let Times { last_active, last_connected } = self.times;
        match last_active {
            Some(active) if active + ACTIVE_BEFORE_CONNECTED_SECONDS >= last_connected => ("active", active),
            _ => ("idle", last_connected),
        }
    }
}

/// The client that older clients are told of, whichever it was.
pub const CLIENT: &str = "website";
