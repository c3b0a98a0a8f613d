//! Counts and sizes of the database, for metrics and `teamchat status`.

use crate::domain::mail::Kind;
use crate::domain::messages;
use crate::domain::space::Space;
use crate::error::ApiResult;
use crate::types::SECONDS_PER_DAY;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

/// Number of the newest messages among which those of the last hour and day are counted.
const NEWEST_MESSAGES: i64 = 50_000;

/// The database at one moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Statistics {
    /// Active people, without bots.
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
            newest_message_id: messages::newest_id(connection)?.0,
            upload_bytes: one("SELECT space_used FROM upload_state")?,
            log_events: one(
                "SELECT coalesce((SELECT max(id) FROM event) - (SELECT min(id) FROM event) + 1, 0)",
            )?,
            unused_bytes: Space::of(connection)?.free,
        })
    }
}

/// The space of a database without messages, in bytes.
const EMPTY: i64 = 2 << 20;

/// Growth of the database until a moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Recent {
    /// Messages of the last hour.
    pub messages_in_hour: i64,
    /// Messages of the last day; of a busy organization at least this many.
    pub messages_in_day: i64,
    /// Number of uploaded files.
    pub uploads: i64,
    /// The size of those of the last 30 days.
    pub upload_bytes_in_30_days: i64,
    /// Messages of the last 30 days.
    pub messages_in_30_days: i64,
    /// Days of these 30 in which the organization existed, at least 1.
    pub days: i64,
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
        let since = now - 30 * SECONDS_PER_DAY;
        let (uploads, upload_bytes_in_30_days) =
            connection.prepare_cached(statement)?.query_row([since], |row| row.try_into())?;
        let oldest_account = "SELECT min(date_joined) FROM user WHERE NOT is_system_bot";
        let began: Option<i64> =
            connection.prepare_cached(oldest_account)?.query_row([], |row| row.get(0))?;
        Ok(Self {
            messages_in_hour: messages_since(now - 60 * 60)?,
            messages_in_day: messages_since(now - SECONDS_PER_DAY)?,
            uploads,
            upload_bytes_in_30_days,
            messages_in_30_days: count_messages_since(connection, since)?,
            days: ((now - since.max(began.unwrap_or(now))) / SECONDS_PER_DAY).max(1),
        })
    }

    /// The growth of a file of this size in a day, in bytes: uploads, and messages at their average size. It is an estimate.
    pub fn bytes_per_day(&self, statistics: &Statistics, database_bytes: u64) -> i64 {
        let database_bytes = i64::try_from(database_bytes).unwrap_or(i64::MAX);
        let of_messages = database_bytes - statistics.unused_bytes - statistics.upload_bytes - EMPTY;
        let of_message = of_messages.max(0) / statistics.newest_message_id.max(1);
        let grown = self.messages_in_30_days.saturating_mul(of_message) + self.upload_bytes_in_30_days;
        grown / self.days.max(1)
    }
}

/// Counts the messages after a time. Their times grow with their ids, so that a few of them are looked at.
fn count_messages_since(connection: &Connection, since: i64) -> ApiResult<i64> {
    let mut next =
        connection.prepare_cached("SELECT id, timestamp FROM message WHERE id >= ?1 ORDER BY id LIMIT 1")?;
    let range =
        "SELECT coalesce((SELECT min(id) FROM message), 1), coalesce((SELECT max(id) FROM message), 0)";
    let (mut low, newest): (i64, i64) =
        connection.prepare_cached(range)?.query_row([], |row| row.try_into())?;
    let mut high = newest + 1;
    while low < high {
        let middle = low + (high - low) / 2;
        match next.query_row([middle], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))).optional()? {
            Some((id, time)) if time <= since => low = id + 1,
            _ => high = middle,
        }
    }
    Ok(newest + 1 - low)
}

/// Sizes of the parts of the file, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Messages with their edits and reactions, and what users have read and marked.
    pub messages: i64,
    /// The search index.
    pub search: i64,
    /// The event log and the event queues.
    pub events: i64,
    /// Uploaded files, avatars and thumbnails.
    pub files: i64,
    /// The other tables.
    pub other: i64,
    /// Free space inside the file.
    pub unused: i64,
}

impl Sizes {
    /// Measures the parts. Reads the whole file.
    pub fn measure(connection: &Connection) -> rusqlite::Result<Self> {
        let mut sizes = Self::default();
        let mut parts = connection.prepare(
            "SELECT coalesce(object.tbl_name, dbstat.name), sum(pgsize) FROM dbstat
             LEFT JOIN sqlite_schema AS object ON object.name = dbstat.name WHERE aggregate = TRUE GROUP BY 1",
        )?;
        let mut rows = parts.query([])?;
        while let Some(row) = rows.next()? {
            let table: String = row.get(0)?;
            *sizes.part(&table) += row.get::<_, i64>(1)?;
        }
        sizes.unused = Space::of(connection)?.free;
        Ok(sizes)
    }

    /// The part that a table belongs to.
    fn part(&mut self, table: &str) -> &mut i64 {
        match table {
            "search_word" | "retired_word" | "search_purge" | "search_backlog" => &mut self.search,
            "event" | "event_audience" | "event_queue" => &mut self.events,
            "upload_content" | "upload_piece" | "upload_state" | "thumbnail" | "public_image" => {
                &mut self.files
            }
            "message" | "message_edit" | "message_topic_link" | "reaction" | "submessage" | "arrival"
            | "topic" | "read_state" | "read_chunk" | "user_message_flags" => &mut self.messages,
            _ if table.starts_with("message_search") => &mut self.search,
            _ if table.starts_with("attachment") => &mut self.files,
            _ => &mut self.other,
        }
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
