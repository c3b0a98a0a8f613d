//! SQL statements on the `bot` table.

use crate::domain::rows;
use crate::domain::rows::user::UserRow;
use crate::store::ExecuteCached;
use crate::types::{StreamId, UserId};
use rusqlite::{Connection, OptionalExtension, Row};

/// The columns of a bot beyond its [`UserRow`].
#[derive(Clone, Debug)]
pub struct BotRow {
    pub user_id: UserId,
    /// The API key that the owner can read; `None` if it was revoked.
    pub api_key: Option<String>,
    pub default_sending_stream: Option<DefaultChannel>,
    pub default_events_register_stream: Option<DefaultChannel>,
    /// True if the bot receives events of all public channels by default.
    pub default_all_public_streams: bool,
    /// The service, for outgoing webhooks.
    pub service: Option<Service>,
}

impl BotRow {
    /// Removes secrets that give the bot's rights: the key of the bot, and the token that authenticates this server to
    /// the server of an outgoing webhook.
    pub fn hide_secrets(&mut self) {
        self.api_key = None;
        if let Some(service) = &mut self.service {
            service.token.clear();
        }
    }

    /// The name of the default channel to send to.
    pub fn sending_stream_name(&self) -> Option<String> {
        self.default_sending_stream.as_ref().map(|channel| channel.name.clone())
    }

    /// The name of the default channel for events.
    pub fn events_stream_name(&self) -> Option<String> {
        self.default_events_register_stream.as_ref().map(|channel| channel.name.clone())
    }
}

/// A default channel of a bot, with its name now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultChannel {
    pub stream_id: StreamId,
    pub name: String,
}

/// The service that an outgoing webhook posts messages to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The http or https URL.
    pub base_url: String,
    /// The payload format. 1: native, 2: Slack's.
    pub interface: i64,
    /// A secret in the payload by which the service recognizes this server.
    pub token: String,
}

const COLUMNS: &str =
    "bot.user_id, api_key, sending.stream_id, sending.name, registering.stream_id, registering.name,
    default_all_public_streams, payload_url, interface, token";

const TABLES: &str = "bot
    LEFT JOIN stream sending ON sending.stream_id = default_sending_stream
    LEFT JOIN stream registering ON registering.stream_id = default_events_register_stream";

fn read(row: &Row<'_>) -> rusqlite::Result<BotRow> {
    let channel = |column: usize| match row.get::<_, Option<StreamId>>(column)? {
        Some(stream_id) => Ok(Some(DefaultChannel { stream_id, name: row.get(column + 1)? })),
        None => Ok::<_, rusqlite::Error>(None),
    };
    let service = match row.get::<_, Option<String>>(7)? {
        Some(base_url) => Some(Service { base_url, interface: row.get(8)?, token: row.get(9)? }),
        None => None,
    };
    Ok(BotRow {
        user_id: row.get(0)?,
        api_key: row.get(1)?,
        default_sending_stream: channel(2)?,
        default_events_register_stream: channel(4)?,
        default_all_public_streams: row.get(6)?,
        service,
    })
}

/// Loads a bot's row; `None` for people and system bots.
pub fn load(connection: &Connection, user_id: UserId) -> rusqlite::Result<Option<BotRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE bot.user_id = ?1"))?
        .query_row([user_id], read)
        .optional()
}

/// Lists the bots of an owner, or all bots, by id, deactivated ones included.
pub fn list(connection: &Connection, owner: Option<UserId>) -> rusqlite::Result<Vec<(UserRow, BotRow)>> {
    let rows: Vec<BotRow> = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM {TABLES} JOIN user ON user.user_id = bot.user_id
             WHERE ?1 IS NULL OR bot_owner_id = ?1 ORDER BY bot.user_id"
        ))?
        .query_map([owner], read)?
        .collect::<Result<_, _>>()?;
    let mut bots = Vec::with_capacity(rows.len());
    for bot in rows {
        bots.extend(rows::user::by_id(connection, bot.user_id)?.map(|user| (user, bot)));
    }
    Ok(bots)
}

/// Lists the bots that have a channel as a default channel: whether they send to it, and whether they have its events.
pub fn with_default_channel(
    connection: &Connection,
    stream_id: StreamId,
) -> rusqlite::Result<Vec<(UserId, bool, bool)>> {
    connection
        .prepare_cached(
            "SELECT user_id, default_sending_stream IS ?1, default_events_register_stream IS ?1 FROM bot
             WHERE default_sending_stream = ?1 OR default_events_register_stream = ?1",
        )?
        .query_map([stream_id], |row| row.try_into())?
        .collect()
}

/// Lists the bots without a row in `bot`.
pub fn list_without_row(connection: &Connection) -> rusqlite::Result<Vec<UserId>> {
    connection
        .prepare_cached(
            "SELECT user_id FROM user WHERE bot_type IS NOT NULL AND NOT is_system_bot
                 AND user_id NOT IN (SELECT user_id FROM bot) ORDER BY user_id",
        )?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// The values of a new row.
#[derive(Clone, Debug, Default)]
pub struct NewBotRow {
    pub user_id: UserId,
    /// The default channel to send to.
    pub default_sending_stream: Option<StreamId>,
    /// The default channel for events.
    pub default_events_register_stream: Option<StreamId>,
    /// True if the bot receives events of all public channels by default.
    pub default_all_public_streams: bool,
    /// The integration, for incoming webhooks.
    pub service_name: Option<String>,
    /// The service, for outgoing webhooks.
    pub service: Option<Service>,
    /// The configuration, a JSON object of strings. The empty string means no configuration.
    pub config_data: String,
}

/// Inserts a bot's row. Its owner of now is the one who made it.
pub fn insert(connection: &Connection, bot: &NewBotRow) -> rusqlite::Result<()> {
    let service = bot.service.as_ref();
    connection.execute_cached(
        "INSERT INTO bot (user_id, default_sending_stream, default_events_register_stream,
             default_all_public_streams, service_name, payload_url, interface, token, config_data, created_by)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, iif(?9 = '', '{}', ?9),
             (SELECT bot_owner_id FROM user WHERE user_id = ?1))",
        (
            bot.user_id,
            bot.default_sending_stream,
            bot.default_events_register_stream,
            bot.default_all_public_streams,
            &bot.service_name,
            service.map(|service| &service.base_url),
            service.map(|service| service.interface),
            service.map(|service| &service.token),
            &bot.config_data,
        ),
    )
}

/// Sets the API key that a bot's owner can read.
pub fn set_api_key(connection: &Connection, user_id: UserId, api_key: Option<&str>) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE bot SET api_key = ?2 WHERE user_id = ?1", (user_id, api_key))
}

/// Sets a bot's default channel to send to.
pub fn set_default_sending_stream(
    connection: &Connection,
    user_id: UserId,
    stream_id: Option<StreamId>,
) -> rusqlite::Result<()> {
    let statement = "UPDATE bot SET default_sending_stream = ?2 WHERE user_id = ?1";
    connection.execute_cached(statement, (user_id, stream_id))
}

/// Sets a bot's default channel for events.
pub fn set_default_events_register_stream(
    connection: &Connection,
    user_id: UserId,
    stream_id: Option<StreamId>,
) -> rusqlite::Result<()> {
    let statement = "UPDATE bot SET default_events_register_stream = ?2 WHERE user_id = ?1";
    connection.execute_cached(statement, (user_id, stream_id))
}

/// Sets whether a bot receives events of all public channels by default.
pub fn set_default_all_public_streams(
    connection: &Connection,
    user_id: UserId,
    on: bool,
) -> rusqlite::Result<()> {
    let statement = "UPDATE bot SET default_all_public_streams = ?2 WHERE user_id = ?1";
    connection.execute_cached(statement, (user_id, on))
}

/// Sets the URL and the payload format of an outgoing webhook.
pub fn set_service(
    connection: &Connection,
    user_id: UserId,
    base_url: &str,
    interface: i64,
) -> rusqlite::Result<()> {
    let statement =
        "UPDATE bot SET payload_url = ?2, interface = ?3, owner_notified = NULL WHERE user_id = ?1";
    connection.execute_cached(statement, (user_id, base_url, interface))
}

/// Removes the URL of an outgoing webhook and changes its token. Returns `false` for other bots.
pub fn clear_service(connection: &Connection, user_id: UserId, token: &str) -> rusqlite::Result<bool> {
    let statement =
        "UPDATE bot SET payload_url = '', token = ?2 WHERE user_id = ?1 AND payload_url IS NOT NULL";
    Ok(connection.prepare_cached(statement)?.execute((user_id, token))? > 0)
}

/// Marks the scheduled messages of a bot as failed, so that they are not sent. Returns whether there were any.
pub fn stop_scheduled_messages(connection: &Connection, user_id: UserId) -> rusqlite::Result<bool> {
    let statement =
        "UPDATE scheduled_message SET failed = 1 WHERE sender_id = ?1 AND NOT sent AND NOT failed";
    Ok(connection.prepare_cached(statement)?.execute([user_id])? > 0)
}

/// Merges a JSON object into a bot's configuration and returns the result.
pub fn merge_config_data(
    connection: &Connection,
    user_id: UserId,
    config_data: &str,
) -> rusqlite::Result<String> {
    let statement =
        "UPDATE bot SET config_data = json_patch(config_data, ?2) WHERE user_id = ?1 RETURNING config_data";
    connection.prepare_cached(statement)?.query_row((user_id, config_data), |row| row.get(0))
}

/// Forgets that a bot's owner was notified of a failure: it works again, so the next failure is news.
pub fn clear_owner_notice(connection: &Connection, user_id: UserId) -> rusqlite::Result<()> {
    let statement = "UPDATE bot SET owner_notified = NULL WHERE user_id = ?1 AND owner_notified IS NOT NULL";
    connection.execute_cached(statement, [user_id])
}

/// Records that a bot's owner is notified of a failure now. Returns `false`, without a change, if they were notified
/// within the last `interval` seconds.
pub fn note_owner_notice(
    connection: &Connection,
    user_id: UserId,
    now: i64,
    interval: i64,
) -> rusqlite::Result<bool> {
    let statement = "UPDATE bot SET owner_notified = ?2
         WHERE user_id = ?1 AND (owner_notified IS NULL OR owner_notified <= ?2 - ?3)";
    Ok(connection.prepare_cached(statement)?.execute((user_id, now, interval))? > 0)
}
