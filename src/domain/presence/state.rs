//! Everybody's presence, for clients that begin and for those that ask again.

use crate::domain::access::users::Accessible;
use crate::domain::presence::record::Presence;
use crate::domain::presence::{events, sql};
use crate::domain::realm;
use crate::http::{ApiResult, Caller, State, StateRequest};
use rusqlite::Connection;
use serde::Serialize;
use serde_json::{Map, Value};

/// How far back presences go unless the client says otherwise, in days.
pub const HISTORY_DAYS: i64 = 14;

/// A day, in seconds.
pub const DAY: i64 = 24 * 60 * 60;

/// What a client wants to know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// The last update that it has; absent if it has none.
    pub last_update_id: Option<i64>,
    /// How far back, in days; only for clients that have nothing yet.
    pub history_limit_days: Option<i64>,
    /// The modern form, by user id. The older one is by API email.
    pub is_slim: bool,
}

/// The presences of an organization, as parts of an answer.
#[derive(Debug, Serialize)]
pub struct Found {
    /// By user id, or by API email.
    pub presences: Map<String, Value>,
    /// UNIX seconds, with a fraction.
    pub server_timestamp: f64,
    /// The newest update that is included; what the client said if there is none, and -1 if it said nothing.
    pub presence_last_update_id: i64,
}

/// Loads what is wanted, of those whom the caller can access. An organization that does not show presences has none.
pub fn load(connection: &Connection, caller: &Caller, wanted: Wanted, milliseconds: i64) -> ApiResult<Found> {
    let server_timestamp = events::seconds(milliseconds);
    let days = wanted.history_limit_days.unwrap_or(HISTORY_DAYS);
    if realm::settings::get(connection, "presence_disabled")? {
        return Ok(Found { presences: Map::new(), server_timestamp, presence_last_update_id: -1 });
    }
    let has_some = wanted.last_update_id.is_some_and(|id| id > 0);
    let since = if has_some { 0 } else { (milliseconds / 1000).saturating_sub(days.saturating_mul(DAY)) };
    let after = wanted.last_update_id.unwrap_or(-1);
    // No days at all is how a client says that it wants none.
    let rows = if days == 0 { Vec::new() } else { sql::changed(connection, after, since)? };
    let accessible = Accessible::to(connection, caller)?;
    let entry = |presence: &Presence| {
        if wanted.is_slim {
            (presence.user_id.to_string(), presence.modern())
        } else {
            (presence.email.clone(), presence.legacy())
        }
    };
    Ok(Found {
        presences: rows.iter().filter(|row| accessible.contains(row.user_id)).map(entry).collect(),
        server_timestamp,
        presence_last_update_id: rows.last().map_or(after, |presence| presence.update_id),
    })
}

/// Word `presence`.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let wanted = Wanted {
        last_update_id: None,
        history_limit_days: request.presence_history_limit_days,
        is_slim: request.registration.slim_presence,
    };
    let loaded = load(request.connection, request.caller, wanted, request.app.clock.milliseconds())?;
    state.insert("presences".into(), loaded.presences.into());
    state.insert("presence_last_update_id".into(), loaded.presence_last_update_id.into());
    state.insert("server_timestamp".into(), loaded.server_timestamp.into());
    Ok(())
}
