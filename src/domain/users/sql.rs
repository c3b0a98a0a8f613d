//! SQL statements on the `user` table.

use crate::domain::access::users::Accessible;
use crate::domain::images::avatar::Avatar;
use crate::domain::look_alikes::Named;
use crate::domain::rows::user::{COLUMNS, UserRow};
use crate::domain::{look_alikes, rows};
use crate::store::ExecuteCached;
use crate::types::{BotType, Role, UserId};
use rusqlite::{Connection, OptionalExtension};

/// Loads a user by real email, ignoring case.
pub fn by_delivery_email(connection: &Connection, email: &str) -> rusqlite::Result<Option<UserRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM user WHERE delivery_email_key = ?1"))?
        .query_row([email.trim().to_lowercase()], UserRow::read)
        .optional()
}

/// Loads a user by API email, ignoring case.
pub fn by_email(connection: &Connection, email: &str) -> rusqlite::Result<Option<UserRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM user WHERE lower(email) = ?1"))?
        .query_row([email.trim().to_lowercase()], UserRow::read)
        .optional()
}

/// Lists all users except system bots, by id.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<UserRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM user WHERE NOT is_system_bot ORDER BY user_id"))?
        .query_map([], UserRow::read)?
        .collect()
}

/// Lists the system bots, by id.
pub fn system_bots(connection: &Connection) -> rusqlite::Result<Vec<UserRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM user WHERE is_system_bot ORDER BY user_id"))?
        .query_map([], UserRow::read)?
        .collect()
}

/// Lists the active users with their roles.
pub fn active_roles(connection: &Connection) -> rusqlite::Result<Vec<(UserId, Role)>> {
    connection
        .prepare_cached("SELECT user_id, role FROM user WHERE is_active AND NOT is_system_bot")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// True if an active user, other than `except`, has the same or a similar name.
pub fn looks_like_another(
    connection: &Connection,
    full_name: &str,
    except: Option<UserId>,
) -> rusqlite::Result<bool> {
    let mut is_active = connection.prepare_cached("SELECT is_active FROM user WHERE user_id = ?1")?;
    for id in look_alikes::list(connection, Named::User, full_name)? {
        let other = is_active.query_row([id], |row| row.get(0)).optional()?;
        if Some(UserId(id)) != except && other == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Loads the user, other than `except`, whose real email looks like this one, if either has letters beyond ASCII.
pub fn by_confusable_email(
    connection: &Connection,
    email: &str,
    except: Option<UserId>,
) -> rusqlite::Result<Option<UserRow>> {
    for id in look_alikes::list(connection, Named::Email, email.trim())? {
        let other = rows::user::by_id(connection, UserId(id))?;
        let is_other = |user: &UserRow| {
            Some(user.user_id) != except && look_alikes::is_confusable(email, &user.delivery_email)
        };
        if let Some(user) = other.filter(is_other) {
            return Ok(Some(user));
        }
    }
    Ok(None)
}

/// Sets a user's role.
pub fn set_role(connection: &Connection, user_id: UserId, role: Role) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE user SET role = ?2 WHERE user_id = ?1", (user_id, role))
}

/// Sets whether an account is active.
pub fn set_active(connection: &Connection, user_id: UserId, is_active: bool) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE user SET is_active = ?2 WHERE user_id = ?1", (user_id, is_active))
}

pub fn set_bot_owner(connection: &Connection, bot_id: UserId, owner_id: UserId) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE user SET bot_owner_id = ?2 WHERE user_id = ?1", (bot_id, owner_id))
}

/// Lists the active bots of an owner, by id.
pub fn active_bots_of(connection: &Connection, owner_id: UserId) -> rusqlite::Result<Vec<UserRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM user WHERE bot_owner_id = ?1 AND is_active ORDER BY user_id"
        ))?
        .query_map([owner_id], UserRow::read)?
        .collect()
}

/// Stores whose invitation made an account.
pub fn set_invited_by(
    connection: &Connection,
    user_id: UserId,
    inviter: Option<UserId>,
) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE user SET invited_by = ?2 WHERE user_id = ?1", (user_id, inviter))
}

/// Counts the accounts that joined by invitations of some users after `since`, in UNIX seconds; deactivated ones count too.
/// `inviters` is a JSON list of ids.
pub fn count_invited_by(connection: &Connection, inviters: &str, since: i64) -> rusqlite::Result<u32> {
    connection
        .prepare_cached(
            "SELECT count(*) FROM user
             WHERE invited_by IN (SELECT value FROM json_each(?1)) AND date_joined > ?2",
        )?
        .query_row((inviters, since), |row| row.get(0))
}

/// Counts the active people, and the owners among them.
pub fn count_people(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    connection
        .prepare_cached(
            "SELECT count(*), coalesce(sum(role = ?1), 0) FROM user WHERE is_active AND bot_type IS NULL",
        )?
        .query_row([Role::Owner], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// True if a user is the only active owner of the organization.
pub fn is_only_owner(connection: &Connection, user: &UserRow) -> rusqlite::Result<bool> {
    Ok(user.role == Role::Owner && user.is_active && !user.is_bot() && count_people(connection)?.1 == 1)
}

/// Sets a user's display name.
pub fn set_full_name(connection: &Connection, user_id: UserId, full_name: &str) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE user SET full_name = ?2 WHERE user_id = ?1", (user_id, full_name))?;
    look_alikes::set(connection, Named::User, user_id.0, full_name)
}

/// Sets a user's time zone, an IANA identifier.
pub fn set_timezone(connection: &Connection, user_id: UserId, timezone: &str) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE user SET timezone = ?2 WHERE user_id = ?1", (user_id, timezone))
}

/// Sets a user's avatar.
pub fn set_avatar(connection: &Connection, avatar: Avatar) -> rusqlite::Result<()> {
    let statement = "UPDATE user SET avatar_version = ?2, avatar_key = ?3 WHERE user_id = ?1";
    connection.execute_cached(statement, (avatar.user_id, avatar.version, avatar.key))
}

/// Sets a user's password hash.
pub fn set_password(connection: &Connection, user_id: UserId, hash: &str) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE user SET password_hash = ?2 WHERE user_id = ?1", (user_id, hash))
}

/// Deletes a user's password: they cannot log in with one.
pub fn delete_password(connection: &Connection, user_id: UserId) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE user SET password_hash = NULL WHERE user_id = ?1", [user_id])
}

/// True if an email or a provider of OpenID Connect has proven that a user has their address.
pub fn is_email_proven(connection: &Connection, user_id: UserId) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached("SELECT is_email_proven FROM user WHERE user_id = ?1")?;
    statement.query_row([user_id], |row| row.get(0))
}

/// Records whether a user's address is proven.
pub fn set_email_proven(connection: &Connection, user_id: UserId, is_proven: bool) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE user SET is_email_proven = ?2 WHERE user_id = ?1", (user_id, is_proven))
}

/// Sets a user's API email and real email. The domain of a placeholder is recorded, so that no other user gets such an
/// address.
pub fn set_emails(
    connection: &Connection,
    user_id: UserId,
    email: &str,
    delivery_email: &str,
) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE user SET email = ?2, delivery_email = ?3, delivery_email_key = ?4 WHERE user_id = ?1",
        (user_id, email, delivery_email, delivery_email.to_lowercase()),
    )?;
    if let Some((_, domain)) = email.rsplit_once('@').filter(|_| email != delivery_email) {
        reserve_dummy_domain(connection, domain)?;
    }
    look_alikes::set(connection, Named::Email, user_id.0, delivery_email)
}

/// Keeps a domain that dummy emails have.
pub fn reserve_dummy_domain(connection: &Connection, domain: &str) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT OR IGNORE INTO dummy_email_domain (domain) VALUES (?1)",
        [domain.to_lowercase()],
    )
}

/// True if placeholder emails have or had this domain, in lower case.
pub fn is_dummy_domain(connection: &Connection, domain: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM dummy_email_domain WHERE domain = ?1)")?
        .query_row([domain], |row| row.get(0))
}

/// True if any active person has a password or an API key.
pub fn can_anyone_log_in(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM user WHERE is_active AND bot_type IS NULL AND NOT is_system_bot
                 AND (password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM api_key WHERE user_id = user.user_id)))",
        )?
        .query_row([], |row| row.get(0))
}

/// The values of a new row.
#[derive(Clone, Debug)]
pub struct NewUserRow<'a> {
    /// The real email; also the API email.
    pub email: &'a str,
    /// The display name.
    pub full_name: &'a str,
    /// The role in the organization.
    pub role: Role,
    /// Set for bots.
    pub bot_type: Option<BotType>,
    pub bot_owner_id: Option<UserId>,
    pub is_system_bot: bool,
    /// The argon2id hash of the password.
    pub password_hash: Option<&'a str>,
    /// When the account was created, in UNIX seconds.
    pub date_joined: i64,
}

/// Inserts a user and returns the id.
pub fn insert(connection: &Connection, user: &NewUserRow<'_>) -> rusqlite::Result<UserId> {
    connection.execute_cached(
        "INSERT INTO user (email, delivery_email, delivery_email_key, full_name, role, bot_type, bot_owner_id,
             is_system_bot, password_hash, date_joined)
         VALUES (?1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        (
            user.email,
            user.email.to_lowercase(),
            user.full_name,
            user.role,
            user.bot_type,
            user.bot_owner_id,
            user.is_system_bot,
            user.password_hash,
            user.date_joined,
        ),
    )?;
    let user_id = connection.last_insert_rowid();
    look_alikes::set(connection, Named::User, user_id, user.full_name)?;
    look_alikes::set(connection, Named::Email, user_id, user.email)?;
    Ok(UserId(user_id))
}

/// Loads the id, the password hash and the active flag of the person with this real email.
pub fn load_password(
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

/// Loads a user's password hash; `None` for a user without one.
pub fn password_hash(connection: &Connection, user_id: UserId) -> rusqlite::Result<Option<String>> {
    let mut statement = connection.prepare_cached("SELECT password_hash FROM user WHERE user_id = ?1")?;
    Ok(statement.query_row([user_id], |row| row.get(0)).optional()?.flatten())
}

/// Lists at most two accessible users with this name, active ones first. Case is ignored for ASCII letters only, because the
/// index folds no others.
pub fn by_full_name(
    connection: &Connection,
    accessible: &Accessible,
    name: &str,
) -> rusqlite::Result<Vec<UserRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM user WHERE lower(full_name) = lower(?1)
             ORDER BY is_active DESC, user_id"
        ))?
        .query_map([name], UserRow::read)?
        .filter(|found| found.as_ref().map_or(true, |user| accessible.contains(user.user_id)))
        .take(2)
        .collect()
}

/// Lists the users whose names have characters outside ASCII, active ones first.
pub fn with_non_ascii_names(connection: &Connection) -> rusqlite::Result<Vec<(UserId, String)>> {
    connection
        .prepare_cached(
            "SELECT user_id, full_name FROM user WHERE full_name GLOB '*[^ -~]*'
             ORDER BY is_active DESC, user_id",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}
