//! Presence: rows, what a report changes, the forms that clients know, and `presence` events.

use crate::domain::access::users::Accessible;
use crate::domain::access::{user_rows as users, users as access};
use crate::domain::limits::PRESENCE_OFFLINE_THRESHOLD_SECONDS;
use crate::domain::{realm, user_settings};
use crate::events::{Audience, Event, Form, Receiver, Routed};
use crate::http::State;
use crate::http::StateRequest;
use crate::http::{ApiError, ApiResult, Caller};
use crate::store::Tx;
use crate::types::UserId;
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// How far back presences go unless the client says otherwise, in days.
const HISTORY_DAYS: i64 = 14;

/// A day, in seconds.
const DAY: i64 = 24 * 60 * 60;

/// Times that are nearly as new as the report are left alone: people have several clients, and each reports.
const WORTH_A_CHANGE_SECONDS: i64 = 55;

/// Whoever was active so shortly before they were last connected was active then, in the older form, which has only one
/// time. In seconds.
const ACTIVE_BEFORE_CONNECTED_SECONDS: i64 = 70;

/// In larger organizations nobody is told at once: in the morning everybody comes, and all would have to be told of
/// each. Clients hear of it when they next ask.
const MAX_AUDIENCE: u64 = 1000;

/// The client that older clients are told of, whichever it was.
const CLIENT: &str = "website";

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

/// What a client reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The person uses the client.
    Active,
    /// The client runs.
    Idle,
}

impl Status {
    /// The status of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "active" => Some(Self::Active),
            "idle" => Some(Self::Idle),
            _ => None,
        }
    }
}

/// What a report makes of the times so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    /// The times from now on.
    times: Times,
    /// Whether the person was away, and is back.
    came_online: bool,
}

/// What a report at `now` changes; `None` for nothing.
fn step(before: Option<Times>, status: Status, now: i64) -> Option<Step> {
    let mut times = before.unwrap_or(Times { last_active: None, last_connected: now });
    let mut came_online = false;
    let inactive_for = times.last_active.map_or(i64::MAX, |active| now - active);
    if now - times.last_connected > WORTH_A_CHANGE_SECONDS {
        times.last_connected = now;
    }
    if status == Status::Active && inactive_for > WORTH_A_CHANGE_SECONDS {
        came_online = inactive_for > PRESENCE_OFFLINE_THRESHOLD_SECONDS;
        times = Times { last_active: Some(now), last_connected: now };
    }
    (before != Some(times)).then_some(Step { times, came_online })
}

/// Whether a report would change anything.
pub fn is_worth_a_job(connection: &Connection, user_id: UserId, status: Status, now: i64) -> ApiResult<bool> {
    let before = find(connection, user_id)?.map(|presence| presence.times);
    Ok(step(before, status, now).is_some() && user_settings::PRESENCE_ENABLED.get(connection, user_id)?)
}

/// Takes a report of a client. Nothing is kept of people who do not want to be seen.
pub fn report(tx: &mut Tx<'_>, user_id: UserId, status: Status) -> ApiResult<()> {
    if !user_settings::PRESENCE_ENABLED.get(tx, user_id)? {
        return Ok(());
    }
    let before = find(tx, user_id)?.map(|presence| presence.times);
    let Some(step) = step(before, status, tx.now()) else { return Ok(()) };
    save(tx, user_id, step.times)?;
    if step.came_online { emit(tx, user_id) } else { Ok(()) }
}

/// Somebody wants to be seen from now on, or not any more: then they look as if they had gone.
pub fn visibility_changed(tx: &mut Tx<'_>, user_id: UserId, is_visible: bool) -> ApiResult<()> {
    let now = tx.now();
    if is_visible {
        save(tx, user_id, Times { last_active: Some(now), last_connected: now })?;
        return emit(tx, user_id);
    }
    let Some(before) = find(tx, user_id)? else { return Ok(()) };
    let gone_since = now - PRESENCE_OFFLINE_THRESHOLD_SECONDS - 1;
    // So long before the last connection that the older form says "idle".
    let inactive_since = gone_since - ACTIVE_BEFORE_CONNECTED_SECONDS - 1;
    let times = Times {
        last_active: before.times.last_active.map(|active| active.min(inactive_since)),
        last_connected: before.times.last_connected.min(gone_since),
    };
    save(tx, user_id, times)?;
    emit(tx, user_id)
}

/// Tells others, who can access somebody from now on, when they were here, if that is not long ago.
pub fn introduce(tx: &mut Tx<'_>, user_id: UserId, to: &RoaringBitmap) -> ApiResult<()> {
    let since = tx.now() - HISTORY_DAYS * DAY;
    match find(tx, user_id)? {
        Some(presence) if presence.times.last_connected >= since => emit_to(tx, user_id, to.clone()),
        _ => Ok(()),
    }
}

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
    let server_timestamp = seconds(milliseconds);
    let days = wanted.history_limit_days.unwrap_or(HISTORY_DAYS);
    if realm::settings::PRESENCE_DISABLED.get(connection)? {
        return Ok(Found { presences: Map::new(), server_timestamp, presence_last_update_id: -1 });
    }
    let has_some = wanted.last_update_id.is_some_and(|id| id > 0);
    let since = if has_some { 0 } else { (milliseconds / 1000).saturating_sub(days.saturating_mul(DAY)) };
    let after = wanted.last_update_id.unwrap_or(-1);
    // No days at all is how a client says that it wants none.
    let rows = if days == 0 { Vec::new() } else { list_changed(connection, after, since)? };
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

/// `presence`: somebody is back, or wants to be seen, or not any more. The older form.
#[derive(Serialize, Deserialize)]
pub struct PresenceChanged {
    user_id: UserId,
    email: String,
    /// UNIX seconds, with a fraction.
    server_timestamp: f64,
    /// By client.
    presence: Value,
}

/// The modern form of `presence`.
#[derive(Serialize, Deserialize)]
pub struct ModernPresences {
    /// By user.
    presences: Value,
}

/// In which form a client gets presences.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PresenceForm {
    /// By client.
    Legacy,
    /// By user, for clients with `simplified_presence_events`.
    Modern,
}

impl Event for PresenceChanged {
    const TYPE: &'static str = "presence";
    const OP: Option<&'static str> = None;
    const NAME: &'static str = "presence";
    const VERSION: u32 = 1;
    type Routing = ModernPresences;
    type Variant = PresenceForm;

    fn deliver(&self, _modern: &ModernPresences, receiver: &Receiver<'_>) -> Option<PresenceForm> {
        let is_modern = receiver.registration.client_capabilities.simplified_presence_events;
        Some(if is_modern { PresenceForm::Modern } else { PresenceForm::Legacy })
    }

    fn form(&self, modern: &ModernPresences, form: PresenceForm) -> serde_json::Result<Form> {
        match form {
            PresenceForm::Legacy => Form::of(self),
            PresenceForm::Modern => Form::with_members::<Self>(modern),
        }
    }
}

/// Tells those who can access a person how their presence is now, unless the organization does not show any.
fn emit(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<()> {
    let user =
        users::by_id(tx, user_id)?.ok_or_else(|| ApiError::internal("the user of a presence has no row"))?;
    let audience = access::who_can_access(tx, &user)?;
    if audience.len() > MAX_AUDIENCE {
        return Ok(());
    }
    emit_to(tx, user_id, audience)
}

/// Tells some users how a person's presence is now, unless the organization does not show any.
fn emit_to(tx: &mut Tx<'_>, user_id: UserId, audience: RoaringBitmap) -> ApiResult<()> {
    let Some(presence) = find(tx, user_id)? else { return Ok(()) };
    if realm::settings::PRESENCE_DISABLED.get(tx)? {
        return Ok(());
    }
    let routing = ModernPresences { presences: json!({user_id.to_string(): presence.modern()}) };
    let event = PresenceChanged {
        user_id,
        server_timestamp: seconds(tx.now() * 1000),
        presence: json!({CLIENT: presence.legacy_website()}),
        email: presence.email,
    };
    tx.emit_unlogged(Routed { event, routing }, Audience::set(audience));
    Ok(())
}

/// Milliseconds as the fraction that the interface wants.
#[expect(clippy::cast_precision_loss, reason = "a time in milliseconds fits in the 53 bits")]
fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1000.0
}

const COLUMNS: &str =
    "presence.user_id, email, date_joined, last_active_time, last_connected_time, update_id";

fn read(row: &Row<'_>) -> rusqlite::Result<Presence> {
    Ok(Presence {
        user_id: row.get(0)?,
        email: row.get(1)?,
        date_joined: row.get(2)?,
        times: Times { last_active: row.get(3)?, last_connected: row.get(4)? },
        update_id: row.get(5)?,
    })
}

/// A person's presence; `None` if no client of theirs ever reported.
pub fn find(connection: &Connection, user_id: UserId) -> rusqlite::Result<Option<Presence>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM presence JOIN user USING (user_id) WHERE presence.user_id = ?1"
        ))?
        .query_row([user_id], read)
        .optional()
}

/// The presences of active people that changed after an update, of those who were connected since a time.
fn list_changed(connection: &Connection, after: i64, since: i64) -> rusqlite::Result<Vec<Presence>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM presence JOIN user USING (user_id)
             WHERE update_id > ?1 AND last_connected_time >= ?2 AND is_active ORDER BY update_id"
        ))?
        .query_map((after, since), read)?
        .collect()
}

/// Sets the times of a person, as the newest update of all.
fn save(connection: &Connection, user_id: UserId, times: Times) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO presence (user_id, last_active_time, last_connected_time, update_id)
             SELECT ?1, ?2, ?3, 1 + coalesce(max(update_id), 0) FROM presence WHERE true
             ON CONFLICT (user_id) DO UPDATE SET last_active_time = excluded.last_active_time,
                 last_connected_time = excluded.last_connected_time, update_id = excluded.update_id",
        )?
        .execute((user_id, times.last_active, times.last_connected))
        .map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_000_000;

    fn times(active: Option<i64>, connected: i64) -> Times {
        Times { last_active: active.map(|ago| NOW - ago), last_connected: NOW - connected }
    }

    #[test]
    fn reports_change_what_is_old() {
        use Status::{Active, Idle};
        let cases = [
            (None, Active, Some((times(Some(0), 0), true))),
            (None, Idle, Some((times(None, 0), false))),
            (Some(times(None, 10)), Active, Some((times(Some(0), 0), true))),
            (Some(times(None, 10)), Idle, None),
            (Some(times(Some(55), 55)), Active, None),
            (Some(times(Some(56), 56)), Active, Some((times(Some(0), 0), false))),
            (Some(times(Some(56), 56)), Idle, Some((times(Some(56), 0), false))),
            (Some(times(Some(200), 10)), Active, Some((times(Some(0), 0), false))),
            (Some(times(Some(201), 10)), Active, Some((times(Some(0), 0), true))),
            (Some(times(Some(201), 10)), Idle, None),
            // A clock that was set back changes nothing.
            (Some(times(Some(-100), -100)), Active, None),
        ];
        for (before, status, expected) in cases {
            let found = step(before, status, NOW).map(|step| (step.times, step.came_online));
            assert_eq!(found, expected, "{before:?} {status:?}");
        }
    }
}
