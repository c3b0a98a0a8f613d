//! Every statement about users.

use crate::domain::access::user_rows::{COLUMNS, UserRow};
use crate::domain::images::avatar::Avatar;
use crate::types::{BotType, Role, UserId};
use rusqlite::{Connection, OptionalExtension};

/// A user by real email, upper and lower case alike.
pub fn by_delivery_email(connection: &Connection, email: &str) -> rusqlite::Result<Option<UserRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM user WHERE delivery_email_key = ?1"))?
        .query_row([email.trim().to_lowercase()], UserRow::read)
        .optional()
}

/// A user by API email, upper and lower case alike.
pub fn by_email(connection: &Connection, email: &str) -> rusqlite::Result<Option<UserRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM user WHERE lower(email) = ?1"))?
        .query_row([email.trim().to_lowercase()], UserRow::read)
        .optional()
}

/// All users but the server's own bots, in the order of their ids.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<UserRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM user WHERE NOT is_system_bot ORDER BY user_id"))?
        .query_map([], UserRow::read)?
        .collect()
}

/// The server's own bots.
pub fn system_bots(connection: &Connection) -> rusqlite::Result<Vec<UserRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM user WHERE is_system_bot ORDER BY user_id"))?
        .query_map([], UserRow::read)?
        .collect()
}

/// The active users and their roles.
pub fn active_roles(connection: &Connection) -> rusqlite::Result<Vec<(UserId, Role)>> {
    connection
        .prepare_cached("SELECT user_id, role FROM user WHERE is_active AND NOT is_system_bot")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// The names of all active users but one.
pub fn other_names(connection: &Connection, but: Option<UserId>) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached(
            "SELECT full_name FROM user WHERE is_active AND NOT is_system_bot AND user_id IS NOT ?1",
        )?
        .query_map([but], |row| row.get(0))?
        .collect()
}

/// Sets the role.
pub fn set_role(connection: &Connection, user_id: UserId, role: Role) -> rusqlite::Result<()> {
    let statement = "UPDATE user SET role = ?2 WHERE user_id = ?1";
    connection.prepare_cached(statement)?.execute((user_id, role)).map(|_| ())
}

/// Says whether the account is in use.
pub fn set_active(connection: &Connection, user_id: UserId, is_active: bool) -> rusqlite::Result<()> {
    let statement = "UPDATE user SET is_active = ?2 WHERE user_id = ?1";
    connection.prepare_cached(statement)?.execute((user_id, is_active)).map(|_| ())
}

/// Gives a bot to another owner.
pub fn set_bot_owner(connection: &Connection, bot_id: UserId, owner_id: UserId) -> rusqlite::Result<()> {
    let statement = "UPDATE user SET bot_owner_id = ?2 WHERE user_id = ?1";
    connection.prepare_cached(statement)?.execute((bot_id, owner_id)).map(|_| ())
}

/// The active bots of an owner.
pub fn active_bots_of(connection: &Connection, owner_id: UserId) -> rusqlite::Result<Vec<UserRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM user WHERE bot_owner_id = ?1 AND is_active ORDER BY user_id"
        ))?
        .query_map([owner_id], UserRow::read)?
        .collect()
}

/// How many active people there are, and how many of them are owners.
pub fn count_people(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    connection
        .prepare_cached(
            "SELECT count(*), coalesce(sum(role = ?1), 0) FROM user WHERE is_active AND bot_type IS NULL",
        )?
        .query_row([Role::Owner], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Sets the name shown.
pub fn set_full_name(connection: &Connection, user_id: UserId, full_name: &str) -> rusqlite::Result<()> {
    let statement = "UPDATE user SET full_name = ?2 WHERE user_id = ?1";
    connection.prepare_cached(statement)?.execute((user_id, full_name)).map(|_| ())
}

/// Sets the time zone.
pub fn set_timezone(connection: &Connection, user_id: UserId, timezone: &str) -> rusqlite::Result<()> {
    let statement = "UPDATE user SET timezone = ?2 WHERE user_id = ?1";
    connection.prepare_cached(statement)?.execute((user_id, timezone)).map(|_| ())
}

/// Sets the image.
pub fn set_avatar(connection: &Connection, avatar: Avatar) -> rusqlite::Result<()> {
    let statement = "UPDATE user SET avatar_version = ?2, avatar_key = ?3 WHERE user_id = ?1";
    connection.prepare_cached(statement)?.execute((avatar.user_id, avatar.version, avatar.key)).map(|_| ())
}

/// Sets the password's hash.
pub fn set_password(connection: &Connection, user_id: UserId, hash: &str) -> rusqlite::Result<()> {
    let statement = "UPDATE user SET password_hash = ?2 WHERE user_id = ?1";
    connection.prepare_cached(statement)?.execute((user_id, hash)).map(|_| ())
}

/// Sets the API email and the real email.
pub fn set_emails(
    connection: &Connection,
    user_id: UserId,
    email: &str,
    delivery_email: &str,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE user SET email = ?2, delivery_email = ?3, delivery_email_key = ?4 WHERE user_id = ?1",
        )?
        .execute((user_id, email, delivery_email, delivery_email.to_lowercase()))
        .map(|_| ())
}

/// Whether somebody could log in: an active person with a password or a key.
pub fn somebody_can_log_in(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM user WHERE is_active AND bot_type IS NULL AND NOT is_system_bot
                 AND (password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM api_key WHERE user_id = user.user_id)))",
        )?
        .query_row([], |row| row.get(0))
}

/// A user to be made.
#[derive(Clone, Debug)]
pub struct NewUserRow<'a> {
    /// The real email; also the API email.
    pub email: &'a str,
    /// The name shown.
    pub full_name: &'a str,
    /// The role.
    pub role: Role,
    /// Set for bots.
    pub bot_type: Option<BotType>,
    /// A bot's owner.
    pub bot_owner_id: Option<UserId>,
    /// One of the server's own bots.
    pub is_system_bot: bool,
    /// argon2id hash.
    pub password_hash: Option<&'a str>,
    /// UNIX seconds.
    pub date_joined: i64,
}

/// Makes a user and answers the id.
pub fn insert(connection: &Connection, user: &NewUserRow<'_>) -> rusqlite::Result<UserId> {
    connection
        .prepare_cached(
            "INSERT INTO user (email, delivery_email, delivery_email_key, full_name, role, bot_type, bot_owner_id,
                 is_system_bot, password_hash, date_joined)
             VALUES (?1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute((
            user.email,
            user.email.to_lowercase(),
            user.full_name,
            user.role,
            user.bot_type,
            user.bot_owner_id,
            user.is_system_bot,
            user.password_hash,
            user.date_joined,
        ))?;
    Ok(UserId(connection.last_insert_rowid()))
}

/// The password's hash of the account with this email, and whether the account is active.
pub fn password_of(
    connection: &Connection,
    email: &str,
) -> rusqlite::Result<Option<(UserId, Option<String>, bool)>> {
    connection
        .prepare_cached(
            "SELECT user_id, password_hash, is_active FROM user WHERE delivery_email_key = ?1 AND bot_type IS NULL",
        )?
        .query_row([email.trim().to_lowercase()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()
}

/// Two users of a name, or fewer if there are fewer; active ones come first. Upper and lower case are alike in ASCII
/// only: that is what the index can compare.
pub fn by_full_name(connection: &Connection, name: &str) -> rusqlite::Result<Vec<UserRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM user WHERE lower(full_name) = lower(?1)
             ORDER BY is_active DESC, user_id LIMIT 2"
        ))?
        .query_map([name], UserRow::read)?
        .collect()
}

/// The users whose names are not ASCII, active ones first.
pub fn with_other_letters(connection: &Connection) -> rusqlite::Result<Vec<(UserId, String)>> {
    connection
        .prepare_cached(
            "SELECT user_id, full_name FROM user WHERE full_name GLOB '*[^ -~]*'
             ORDER BY is_active DESC, user_id",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}
