//! Every statement about bots.

use crate::domain::access::user_rows as users;
use crate::domain::access::user_rows::UserRow;
use crate::types::{StreamId, UserId};
use rusqlite::{Connection, OptionalExtension, Row};

/// What a bot has beside its [`UserRow`].
#[derive(Clone, Debug)]
pub struct BotRow {
    /// The bot.
    pub user_id: UserId,
    /// Its key, unless that was revoked.
    pub api_key: Option<String>,
    /// The name of the channel that it sends to by default.
    pub default_sending_stream: Option<String>,
    /// The name of the channel whose messages it hears by default.
    pub default_events_register_stream: Option<String>,
    /// Whether it hears all public channels by default.
    pub default_all_public_streams: bool,
    /// Where its messages are posted, for outgoing webhooks.
    pub service: Option<Service>,
}

/// Where the messages of an outgoing webhook are posted, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The address.
    pub base_url: String,
    /// 1: the published format; 2: like another chat's.
    pub interface: i64,
    /// By which the receiver knows us.
    pub token: String,
}

const COLUMNS: &str =
    "bot.user_id, api_key, sending.name, registering.name, default_all_public_streams, payload_url,
    interface, token";

const TABLES: &str = "bot
    LEFT JOIN stream sending ON sending.stream_id = default_sending_stream
    LEFT JOIN stream registering ON registering.stream_id = default_events_register_stream";

fn read(row: &Row<'_>) -> rusqlite::Result<BotRow> {
    let service = match row.get::<_, Option<String>>(5)? {
        Some(base_url) => Some(Service { base_url, interface: row.get(6)?, token: row.get(7)? }),
        None => None,
    };
    Ok(BotRow {
        user_id: row.get(0)?,
        api_key: row.get(1)?,
        default_sending_stream: row.get(2)?,
        default_events_register_stream: row.get(3)?,
        default_all_public_streams: row.get(4)?,
        service,
    })
}

/// What a bot has; `None` for people and the server's own bots.
pub fn by_id(connection: &Connection, user_id: UserId) -> rusqlite::Result<Option<BotRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE bot.user_id = ?1"))?
        .query_row([user_id], read)
        .optional()
}

/// The bots of an owner, or all bots, by id; deactivated ones too.
pub fn all(connection: &Connection, owner: Option<UserId>) -> rusqlite::Result<Vec<(UserRow, BotRow)>> {
    let rows: Vec<BotRow> = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM {TABLES} JOIN user ON user.user_id = bot.user_id
             WHERE ?1 IS NULL OR bot_owner_id = ?1 ORDER BY bot.user_id"
        ))?
        .query_map([owner], read)?
        .collect::<Result<_, _>>()?;
    let mut bots = Vec::with_capacity(rows.len());
    for bot in rows {
        bots.extend(users::by_id(connection, bot.user_id)?.map(|user| (user, bot)));
    }
    Ok(bots)
}

/// The bots that have no row yet.
pub fn without_row(connection: &Connection) -> rusqlite::Result<Vec<UserId>> {
    connection
        .prepare_cached(
            "SELECT user_id FROM user WHERE bot_type IS NOT NULL AND NOT is_system_bot
                 AND user_id NOT IN (SELECT user_id FROM bot) ORDER BY user_id",
        )?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// A bot's row to be made.
#[derive(Clone, Debug, Default)]
pub struct NewBotRow {
    /// The bot.
    pub user_id: UserId,
    /// The channel that it sends to by default.
    pub default_sending_stream: Option<StreamId>,
    /// The channel whose messages it hears by default.
    pub default_events_register_stream: Option<StreamId>,
    /// Whether it hears all public channels by default.
    pub default_all_public_streams: bool,
    /// The integration, for incoming webhooks.
    pub service_name: Option<String>,
    /// Where its messages are posted, for outgoing webhooks.
    pub service: Option<Service>,
    /// A JSON object of texts; empty means none.
    pub config_data: String,
}

/// Makes a bot's row.
pub fn insert(connection: &Connection, bot: &NewBotRow) -> rusqlite::Result<()> {
    let service = bot.service.as_ref();
    connection
        .prepare_cached(
            "INSERT INTO bot (user_id, default_sending_stream, default_events_register_stream,
                 default_all_public_streams, service_name, payload_url, interface, token, config_data)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, iif(?9 = '', '{}', ?9))",
        )?
        .execute((
            bot.user_id,
            bot.default_sending_stream,
            bot.default_events_register_stream,
            bot.default_all_public_streams,
            &bot.service_name,
            service.map(|service| &service.base_url),
            service.map(|service| service.interface),
            service.map(|service| &service.token),
            &bot.config_data,
        ))
        .map(|_| ())
}

/// Keeps a bot's key.
pub fn set_api_key(connection: &Connection, user_id: UserId, api_key: Option<&str>) -> rusqlite::Result<()> {
    let statement = "UPDATE bot SET api_key = ?2 WHERE user_id = ?1";
    connection.prepare_cached(statement)?.execute((user_id, api_key)).map(|_| ())
}

/// Sets the channel that a bot sends to by default.
pub fn set_default_sending_stream(
    connection: &Connection,
    user_id: UserId,
    stream_id: Option<StreamId>,
) -> rusqlite::Result<()> {
    let statement = "UPDATE bot SET default_sending_stream = ?2 WHERE user_id = ?1";
    connection.prepare_cached(statement)?.execute((user_id, stream_id)).map(|_| ())
}

/// Sets the channel whose messages a bot hears by default.
pub fn set_default_events_register_stream(
    connection: &Connection,
    user_id: UserId,
    stream_id: Option<StreamId>,
) -> rusqlite::Result<()> {
    let statement = "UPDATE bot SET default_events_register_stream = ?2 WHERE user_id = ?1";
    connection.prepare_cached(statement)?.execute((user_id, stream_id)).map(|_| ())
}

/// Sets whether a bot hears all public channels by default.
pub fn set_default_all_public_streams(
    connection: &Connection,
    user_id: UserId,
    on: bool,
) -> rusqlite::Result<()> {
    let statement = "UPDATE bot SET default_all_public_streams = ?2 WHERE user_id = ?1";
    connection.prepare_cached(statement)?.execute((user_id, on)).map(|_| ())
}

/// Sets where an outgoing webhook posts, and how.
pub fn set_service(
    connection: &Connection,
    user_id: UserId,
    base_url: &str,
    interface: i64,
) -> rusqlite::Result<()> {
    let statement = "UPDATE bot SET payload_url = ?2, interface = ?3 WHERE user_id = ?1";
    connection.prepare_cached(statement)?.execute((user_id, base_url, interface)).map(|_| ())
}

/// Adds to a bot's configuration: names that are there get the new values. Both are JSON objects.
pub fn merge_config_data(
    connection: &Connection,
    user_id: UserId,
    config_data: &str,
) -> rusqlite::Result<String> {
    let statement =
        "UPDATE bot SET config_data = json_patch(config_data, ?2) WHERE user_id = ?1 RETURNING config_data";
    connection.prepare_cached(statement)?.query_row((user_id, config_data), |row| row.get(0))
}

/// Whether an active user has exactly this name.
pub fn is_name_in_use(connection: &Connection, full_name: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM user WHERE lower(full_name) = lower(?1) AND full_name = ?1 AND is_active)")?
        .query_row([full_name], |row| row.get(0))
}
