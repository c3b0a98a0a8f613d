//! Counts and sizes of the database, for metrics and `teamchat status`.

use crate::domain::mail::Kind;
use crate::error::ApiResult;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

/// Number of the newest messages among which those of the last hour and day are counted.
const NEWEST_MESSAGES: i64 = 50_000;

/// The database at one moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Statistics {
    /// Active people.
    pub people: i64,
    /// Active bots, without those of the server.
    pub bots: i64,
    /// Channels that are not archived.
    pub channels: i64,
    /// The id of the newest message, which counts those that were sent.
    pub newest_message_id: i64,
    /// The size of the uploaded files.
    pub upload_bytes: i64,
    /// Range of the numbers in the event log.
    pub log_events: i64,
    /// Free space inside the file.
    pub unused_bytes: i64,
}

impl Statistics {
    /// Loads the figures. None of the statements walks all messages.
    pub fn load(connection: &Connection) -> ApiResult<Self> {
        let people_and_bots =
            "SELECT coalesce(sum(bot_type IS NULL), 0), coalesce(sum(bot_type IS NOT NULL), 0)
             FROM user WHERE is_active AND NOT is_system_bot";
        let (people, bots) =
            connection.prepare_cached(people_and_bots)?.query_row([], |row| row.try_into())?;
        let one = |statement: &str| -> ApiResult<i64> {
            Ok(connection.prepare_cached(statement)?.query_row([], |row| row.get(0))?)
        };
        Ok(Self {
            people,
            bots,
            channels: one("SELECT count(*) FROM stream WHERE NOT is_archived")?,
            newest_message_id: one("SELECT coalesce(max(id), 0) FROM message")?,
            upload_bytes: one("SELECT space_used FROM upload_state")?,
            log_events: one(
                "SELECT coalesce((SELECT max(id) FROM event) - (SELECT min(id) FROM event) + 1, 0)",
            )?,
            unused_bytes: one(
                "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size",
            )?,
        })
    }
}

/// Growth of the database until a moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Recent {
    /// Messages of the last hour.
    pub messages_in_hour: i64,
    /// Messages of the last day; of a busy organization at least this many.
    pub messages_in_day: i64,
    /// Number of uploaded files.
    pub uploads: i64,
    /// The size of those of the last 30 days.
    pub upload_bytes_in_30_days: i64,
}

impl Recent {
    /// Loads the counts. Looks at the newest messages and at all files.
    pub fn load(connection: &Connection, now: i64) -> ApiResult<Self> {
        let messages_since = |since: i64| -> ApiResult<i64> {
            let statement = "SELECT count(*) FROM (SELECT timestamp FROM message ORDER BY id DESC LIMIT ?2)
                 WHERE timestamp > ?1";
            Ok(connection.prepare_cached(statement)?.query_row((since, NEWEST_MESSAGES), |row| row.get(0))?)
        };
        let statement =
            "SELECT count(*), coalesce(sum(size) FILTER (WHERE create_time > ?1), 0) FROM attachment";
        let (uploads, upload_bytes_in_30_days) = connection
            .prepare_cached(statement)?
            .query_row([now - 30 * 24 * 60 * 60], |row| row.try_into())?;
        Ok(Self {
            messages_in_hour: messages_since(now - 60 * 60)?,
            messages_in_day: messages_since(now - 24 * 60 * 60)?,
            uploads,
            upload_bytes_in_30_days,
        })
    }
}

/// A queue of deliveries to another server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Backlog {
    /// Number of deliveries that wait.
    pub waiting: i64,
    /// Since when the oldest one waits, in UNIX seconds.
    pub oldest_waiting: Option<i64>,
}

/// The queues of deliveries to other servers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlogs {
    /// Emails, without reminders whose time has not come.
    pub mail: Backlog,
    /// Notifications of browsers.
    pub web_push: Backlog,
    /// Notifications of phones.
    pub phone_push: Backlog,
}

impl Backlogs {
    /// Loads the queues. They are bounded; texts of emails are not read.
    pub fn load(connection: &Connection, now: i64) -> ApiResult<Self> {
        let reminder = Kind::InvitationReminder.name();
        let waiting = connection
            .prepare_cached("SELECT count(*) FROM outgoing_mail WHERE kind <> ?1 OR next_try <= ?2")?
            .query_row((reminder, now), |row| row.get(0))?;
        let oldest_waiting = connection
            .prepare_cached("SELECT created FROM outgoing_mail WHERE kind <> ?1 ORDER BY id LIMIT 1")?
            .query_row([reminder], |row| row.get(0))
            .optional()?;
        let mut push = connection.prepare_cached(
            "SELECT count(*), min(queued) FROM push_notification
             CROSS JOIN push_subscription ON push_subscription.id = subscription_id
             WHERE next_try IS NOT NULL AND (session_id IS NULL) = ?1",
        )?;
        let mut push = |phones: bool| {
            push.query_row([phones], |row| Ok(Backlog { waiting: row.get(0)?, oldest_waiting: row.get(1)? }))
        };
        let mail = Backlog { waiting, oldest_waiting };
        Ok(Self { mail, web_push: push(false)?, phone_push: push(true)? })
    }
}
