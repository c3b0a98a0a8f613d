//! Presence: effects of reports, the modern and the legacy wire format, SQL statements, and `presence` events.

use crate::auth::Caller;
use crate::domain::access::users::Accessible;
use crate::domain::limits::PRESENCE_OFFLINE_THRESHOLD_SECONDS;
use crate::domain::{access, realm, rows, user_settings};
use crate::error::ApiResult;
use crate::events::{Audience, Event, Form, Receiver, Routed};
use crate::store::{ExecuteCached, Tx};
use crate::types::{SECONDS_PER_DAY, UserId, fractional_seconds};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Default age limit of returned presences, in days.
const DEFAULT_HISTORY_DAYS: i64 = 14;

/// Stored times are not updated until they are older than this, because each of a user's clients reports every minute.
const UPDATE_AFTER_SECONDS: i64 = 55;

/// In the legacy format, which has only one time, users are active if they were active at most this long before they
/// were last connected. In seconds.
const ACTIVE_BEFORE_CONNECTED_SECONDS: i64 = 70;

/// Above this number of receivers no event is emitted: when everyone comes online in the morning, events would be the
/// square of the users. Clients get the change with their next report.
const MAX_AUDIENCE: u64 = 1000;

/// The client name in the legacy format, whichever client reported.
const LEGACY_CLIENT: &str = "website";

/// The times of a presence, in UNIX seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// When the user last used a client; `None` if never reported.
    pub last_active: Option<i64>,
    /// When a client of the user last reported.
    last_connected: i64,
}

impl Times {
    /// Returns the times, or `limit` instead of later ones.
    fn at_most(self, limit: i64) -> Self {
        Self {
            last_active: self.last_active.map(|active| active.min(limit)),
            last_connected: self.last_connected.min(limit),
        }
    }

    /// Returns the times of a user who is offline at `now`.
    fn offline(self, now: i64) -> Self {
        let since = now - PRESENCE_OFFLINE_THRESHOLD_SECONDS - 1;
        // Early enough before the last connection that the legacy status is "idle".
        let inactive_since = since - ACTIVE_BEFORE_CONNECTED_SECONDS - 1;
        Self {
            last_active: self.last_active.map(|active| active.min(inactive_since)),
            last_connected: self.last_connected.min(since),
        }
    }
}

/// A person's presence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    /// The person.
    pub user_id: UserId,
    /// The API email, which is the key in the legacy format.
    pub email: String,
    /// When the account was created, in UNIX seconds. Used for an unknown `last_active`.
    pub date_joined: i64,
    /// When they were last active and connected.
    pub times: Times,
    /// The number of the update, which increases with each change of any presence.
    pub update_id: i64,
}

impl Presence {
    /// Returns the presence at `now`. Times far beyond it are of a clock that was wrong: the user is offline until a client
    /// reports again.
    fn at(mut self, now: i64) -> Self {
        if self.times.last_connected > now + PRESENCE_OFFLINE_THRESHOLD_SECONDS {
            self.times = self.times.offline(now);
        }
        self
    }

    /// Returns the modern format.
    pub fn modern(&self) -> ModernPresence {
        let active_timestamp = self.times.last_active.unwrap_or(self.date_joined);
        ModernPresence { active_timestamp, idle_timestamp: self.times.last_connected }
    }

    /// Returns the legacy format: the same status under `website` and `aggregated`.
    pub fn legacy(&self) -> LegacyPresence {
        let (status, timestamp) = self.status();
        let aggregated =
            LegacyStatus { client: LEGACY_CLIENT.into(), status: status.into(), timestamp, pushable: None };
        LegacyPresence { aggregated: Some(aggregated), website: self.legacy_website() }
    }

    /// Returns the entry of `website` in the legacy format.
    fn legacy_website(&self) -> LegacyStatus {
        let (status, timestamp) = self.status();
        let pushable = Some(false);
        LegacyStatus { client: LEGACY_CLIENT.into(), status: status.into(), timestamp, pushable }
    }

    /// Returns the status of the legacy format and its time, in UNIX seconds.
    pub fn status(&self) -> (&'static str, i64) {
        let Times { last_active, last_connected } = self.times;
        match last_active {
            Some(active) if active + ACTIVE_BEFORE_CONNECTED_SECONDS >= last_connected => ("active", active),
            _ => ("idle", last_connected),
        }
    }
}

/// The status in a client's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The user uses the client.
    Active,
    /// The client is only running.
    Idle,
}

impl Status {
    /// Parses `active` or `idle`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "active" => Some(Self::Active),
            "idle" => Some(Self::Idle),
            _ => None,
        }
    }
}

/// A change of a presence by a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PresenceUpdate {
    /// The new times.
    times: Times,
    /// True if the user was offline before.
    came_online: bool,
}

/// Returns the changes of a report at `now`; `None` if there are none. Later times than `now` are of a clock that was wrong, and
/// become `now`.
fn apply_report(before: Option<Times>, status: Status, now: i64) -> Option<PresenceUpdate> {
    let mut times = before.unwrap_or(Times { last_active: None, last_connected: now }).at_most(now);
    let mut came_online = false;
    let inactive_for = times.last_active.map_or(i64::MAX, |active| now - active);
    if now - times.last_connected > UPDATE_AFTER_SECONDS {
        times.last_connected = now;
    }
    if status == Status::Active && inactive_for > UPDATE_AFTER_SECONDS {
        came_online = inactive_for > PRESENCE_OFFLINE_THRESHOLD_SECONDS;
        times = Times { last_active: Some(now), last_connected: now };
    }
    (before != Some(times)).then_some(PresenceUpdate { times, came_online })
}

/// True if a report would change anything. Lets the caller skip the job of the writer.
pub fn would_change(connection: &Connection, user_id: UserId, status: Status, now: i64) -> ApiResult<bool> {
    let before = load(connection, user_id, now)?.map(|presence| presence.times);
    Ok(apply_report(before, status, now).is_some()
        && user_settings::PRESENCE_ENABLED.get(connection, user_id)?)
}

/// Stores a client's report, and emits it if the user comes online. Ignored for users who hide their presence.
pub fn report(tx: &mut Tx<'_>, user_id: UserId, status: Status) -> ApiResult<()> {
    if !user_settings::PRESENCE_ENABLED.get(tx, user_id)? {
        return Ok(());
    }
    let before = load(tx, user_id, tx.now())?.map(|presence| presence.times);
    let Some(update) = apply_report(before, status, tx.now()) else { return Ok(()) };
    save(tx, user_id, update.times)?;
    if update.came_online { emit(tx, user_id) } else { Ok(()) }
}

/// Updates and emits a presence after the user shows or hides it. A hidden presence looks like that of an offline user.
pub fn visibility_changed(tx: &mut Tx<'_>, user_id: UserId, is_visible: bool) -> ApiResult<()> {
    let now = tx.now();
    if is_visible {
        save(tx, user_id, Times { last_active: Some(now), last_connected: now })?;
        return emit(tx, user_id);
    }
    let Some(before) = load(tx, user_id, now)? else { return Ok(()) };
    save(tx, user_id, before.times.offline(now))?;
    emit(tx, user_id)
}

/// Emits a recent presence to users who can access the person from now on.
pub fn introduce(tx: &mut Tx<'_>, user_id: UserId, to: &RoaringBitmap) -> ApiResult<()> {
    let since = tx.now() - DEFAULT_HISTORY_DAYS * SECONDS_PER_DAY;
    match load(tx, user_id, tx.now())? {
        Some(presence) if presence.times.last_connected >= since => emit_to(tx, user_id, to.clone()),
        _ => Ok(()),
    }
}

/// Selection and format of presences.
#[derive(Clone, Copy, Debug, Default)]
pub struct PresenceQuery {
    /// The last update that the client has, if any. Only later ones are loaded.
    pub last_update_id: Option<i64>,
    /// Age limit in days, for clients without an update yet.
    pub history_limit_days: Option<i64>,
    /// True for the modern format, by user id, false for the legacy one, by API email.
    pub is_slim: bool,
}

/// A presence in the modern format.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModernPresence {
    /// When the user was last active, in UNIX seconds.
    active_timestamp: i64,
    /// When a client of the user was last connected, in UNIX seconds.
    idle_timestamp: i64,
}

/// A presence in the legacy format. The server stores one presence for all clients.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LegacyPresence {
    /// The presence in all clients; absent in events.
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregated: Option<LegacyStatus>,
    /// The same presence, for clients that read the presence of the web client.
    website: LegacyStatus,
}

/// The presence in a client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LegacyStatus {
    /// Always `website`.
    client: Cow<'static, str>,
    /// `active` or `idle`.
    status: Cow<'static, str>,
    /// When the client last reported it, in UNIX seconds.
    timestamp: i64,
    /// Always false; absent in `aggregated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pushable: Option<bool>,
}

/// A presence, in the modern or the legacy format.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum PresenceRecord {
    /// The modern format.
    Modern(ModernPresence),
    /// The legacy format.
    Legacy(LegacyPresence),
}

/// The presences in a response.
#[derive(Debug, Serialize)]
pub struct PresenceList {
    /// The presences by user id in the modern format, by API email in the legacy format.
    pub presences: BTreeMap<String, PresenceRecord>,
    /// The time of the response, in UNIX seconds with a fraction.
    pub server_timestamp: f64,
    /// The id of the newest returned update, for `last_update_id` of the next request. If no update is returned, the
    /// `last_update_id` of this request, or -1.
    pub presence_last_update_id: i64,
}

/// Lists the presences of users whom the caller can access. There are none if the organization disabled presence, and
/// none for visitors.
pub fn list(
    connection: &Connection,
    caller: &Caller,
    query: PresenceQuery,
    milliseconds: i64,
) -> ApiResult<PresenceList> {
    let server_timestamp = fractional_seconds(milliseconds);
    let days = query.history_limit_days.unwrap_or(DEFAULT_HISTORY_DAYS);
    if caller.is_visitor() || realm::settings::PRESENCE_DISABLED.get(connection)? {
        return Ok(PresenceList {
            presences: BTreeMap::new(),
            server_timestamp,
            presence_last_update_id: -1,
        });
    }
    let has_some = query.last_update_id.is_some_and(|id| id > 0);
    let now = milliseconds / 1000;
    let since = if has_some { 0 } else { now.saturating_sub(days.saturating_mul(SECONDS_PER_DAY)) };
    let after = query.last_update_id.unwrap_or(-1);
    // 0 days is how clients ask for no presences.
    let rows = if days == 0 { Vec::new() } else { list_changed(connection, after, since, now)? };
    let accessible = Accessible::to(connection, caller)?;
    let entry = |presence: &Presence| {
        if query.is_slim {
            (presence.user_id.to_string(), PresenceRecord::Modern(presence.modern()))
        } else {
            (presence.email.clone(), PresenceRecord::Legacy(presence.legacy()))
        }
    };
    Ok(PresenceList {
        presences: rows.iter().filter(|row| accessible.contains(row.user_id)).map(entry).collect(),
        server_timestamp,
        presence_last_update_id: rows.last().map_or(after, |presence| presence.update_id),
    })
}

/// `presence` in the legacy format: a user is back, or changed the visibility of their presence.
#[derive(Serialize, Deserialize)]
pub struct PresenceChanged {
    /// The user's id.
    user_id: UserId,
    /// The user's API email.
    email: String,
    /// The time of the event, in UNIX seconds with a fraction.
    server_timestamp: f64,
    /// The user's presence.
    presence: LegacyPresence,
}

/// `presence` in the modern format, for clients with the `simplified_presence_events` capability.
#[derive(Serialize, Deserialize)]
pub struct ModernPresences {
    /// The presence of the user, by user id.
    presences: BTreeMap<UserId, ModernPresence>,
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

/// Emits a user's current presence to all who can access them, unless the organization has presence disabled.
fn emit(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<()> {
    let user = rows::user::existing(tx, user_id)?;
    let audience = access::users::users_with_access_to(tx, &user)?;
    if audience.len() > MAX_AUDIENCE {
        return Ok(());
    }
    emit_to(tx, user_id, audience)
}

/// Emits a user's current presence to `audience`, unless the organization has presence disabled.
fn emit_to(tx: &mut Tx<'_>, user_id: UserId, audience: RoaringBitmap) -> ApiResult<()> {
    let Some(presence) = load(tx, user_id, tx.now())? else { return Ok(()) };
    if realm::settings::PRESENCE_DISABLED.get(tx)? {
        return Ok(());
    }
    let routing = ModernPresences { presences: BTreeMap::from([(user_id, presence.modern())]) };
    let event = PresenceChanged {
        user_id,
        server_timestamp: fractional_seconds(tx.now() * 1000),
        presence: LegacyPresence { aggregated: None, website: presence.legacy_website() },
        email: presence.email,
    };
    tx.emit_unlogged(Routed { event, routing }, Audience::set(audience));
    Ok(())
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

/// Loads a person's presence at `now`; `None` if no client has reported.
pub fn load(connection: &Connection, user_id: UserId, now: i64) -> rusqlite::Result<Option<Presence>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM presence JOIN user USING (user_id) WHERE presence.user_id = ?1"
        ))?
        .query_row([user_id], |row| Ok(read(row)?.at(now)))
        .optional()
}

/// Lists the presences at `now` of active people that changed after an update, if last connected since a time.
fn list_changed(
    connection: &Connection,
    after: i64,
    since: i64,
    now: i64,
) -> rusqlite::Result<Vec<Presence>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM presence JOIN user USING (user_id)
             WHERE update_id > ?1 AND last_connected_time >= ?2 AND is_active ORDER BY update_id"
        ))?
        .query_map((after, since), |row| Ok(read(row)?.at(now)))?
        .collect()
}

/// Stores a person's times as the newest update.
fn save(connection: &Connection, user_id: UserId, times: Times) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO presence (user_id, last_active_time, last_connected_time, update_id)
         SELECT ?1, ?2, ?3, 1 + coalesce(max(update_id), 0) FROM presence WHERE true
         ON CONFLICT (user_id) DO UPDATE SET last_active_time = excluded.last_active_time,
             last_connected_time = excluded.last_connected_time, update_id = excluded.update_id",
        (user_id, times.last_active, times.last_connected),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_000_000;

    fn times(active: Option<i64>, connected: i64) -> Times {
        Times { last_active: active.map(|ago| NOW - ago), last_connected: NOW - connected }
    }

    #[test]
    fn legacy_presence_is_active_at_the_last_connection() {
        let cases = [
            (times(Some(70), 0), ("active", NOW - 70)),
            (times(Some(71), 0), ("idle", NOW)),
            (times(Some(100), 30), ("active", NOW - 100)),
            (times(None, 30), ("idle", NOW - 30)),
        ];
        for (times, expected) in cases {
            let (user_id, email) = (UserId(1), String::new());
            let presence = Presence { user_id, email, date_joined: 0, times, update_id: 1 };
            assert_eq!(presence.status(), expected, "{times:?}");
        }
    }

    #[test]
    fn reports_update_stale_presences() {
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
            // Times that were stored while the clock was ahead.
            (Some(times(Some(-100), -100)), Active, Some((times(Some(0), 0), false))),
            (Some(times(Some(-100), -100)), Idle, Some((times(Some(0), 0), false))),
            (Some(times(None, -100)), Idle, Some((times(None, 0), false))),
        ];
        for (before, status, expected) in cases {
            let found = apply_report(before, status, NOW).map(|update| (update.times, update.came_online));
            assert_eq!(found, expected, "{before:?} {status:?}");
        }
    }
}
