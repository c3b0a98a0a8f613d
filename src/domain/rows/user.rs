//! User rows, and the statements that decide who sees a user.

use crate::auth::{Caller, Credential};
use crate::domain::images::avatar::Avatar;
use crate::domain::realm::user_ids::set;
use crate::error::{ApiError, ApiResult};
use crate::types::{BotType, EmailVisibility, Role, UserId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::{BTreeMap, BTreeSet};

/// Loads a user by id, active or not; `None` if there is none.
pub fn by_id(connection: &Connection, user_id: UserId) -> rusqlite::Result<Option<UserRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM user WHERE user_id = ?1"))?
        .query_row([user_id], UserRow::read)
        .optional()
}

/// Loads a user whose id is that of a row: a caller, or one that another row refers to.
#[track_caller]
pub fn existing(connection: &Connection, user_id: UserId) -> ApiResult<UserRow> {
    match by_id(connection, user_id)? {
        Some(user) => Ok(user),
        None => Err(ApiError::internal(format_args!("user {user_id} has no row"))),
    }
}

/// The owner of a bot; `None` for bots and people without one.
pub fn owner(connection: &Connection, owner_id: Option<UserId>) -> rusqlite::Result<Option<UserRow>> {
    owner_id.map_or(Ok(None), |owner_id| by_id(connection, owner_id))
}

/// Returns the `Caller` of a user, for work that the server does on their behalf. Fails with the same errors as
/// authentication.
pub fn caller(connection: &Connection, user_id: UserId) -> ApiResult<Caller> {
    let user = existing(connection, user_id)?;
    let (role, bot_type, bot_owner_id) = (user.role, user.bot_type, user.bot_owner_id);
    let bot_creator_id = if user.is_bot() { bot_creator(connection, user_id)? } else { None };
    let credential = Credential::Server;
    let mut caller = Caller { user_id, role, bot_type, bot_owner_id, bot_creator_id, credential, version: 0 };
    caller.reload(connection)?;
    Ok(caller)
}

fn bot_creator(connection: &Connection, bot_id: UserId) -> rusqlite::Result<Option<UserId>> {
    let mut statement = connection.prepare_cached("SELECT created_by FROM bot WHERE user_id = ?1")?;
    Ok(statement.query_row([bot_id], |row| row.get(0)).optional()?.flatten())
}

/// Users, each with others.
pub type Partners = BTreeMap<u32, RoaringBitmap>;

const CHANNELS: &str = "SELECT stream_id FROM subscription WHERE user_id = ?1 AND active";

/// Returns the users who share a channel with each of some users, including deactivated users and the user. Channels and
/// conversations that several of these users have are read once.
pub fn channel_partners(connection: &Connection, users: &RoaringBitmap) -> rusqlite::Result<Partners> {
    let mut partners = Partners::default();
    for (stream_id, members) in shared(connection, CHANNELS, users)? {
        let statement = "SELECT user_id FROM subscription WHERE stream_id = ?1 AND active";
        add(&mut partners, &members, &set(connection, statement, [stream_id])?);
    }
    Ok(partners)
}

/// Returns the users in `among` who share a channel with a user. It reads their channels, which may have many subscribers.
pub fn channel_partners_among(
    connection: &Connection,
    user_id: UserId,
    among: &RoaringBitmap,
) -> rusqlite::Result<RoaringBitmap> {
    let mut statement = connection.prepare_cached(CHANNELS)?;
    let own: BTreeSet<i64> = statement.query_map([user_id], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut partners = RoaringBitmap::new();
    for other in among {
        let mut rows = statement.query([other])?;
        while let Some(row) = rows.next()? {
            if own.contains(&row.get(0)?) {
                partners.insert(other);
                break;
            }
        }
    }
    Ok(partners)
}

/// Returns the users who ever shared a direct conversation with each of some users, including deactivated users and the user.
pub fn direct_partners(connection: &Connection, users: &RoaringBitmap) -> rusqlite::Result<Partners> {
    let of_user = "SELECT recipient_id FROM direct_participant WHERE user_id = ?1";
    let mut statement =
        connection.prepare_cached("SELECT user_ids FROM recipient WHERE recipient_id = ?1")?;
    let mut partners = Partners::default();
    for (recipient_id, members) in shared(connection, of_user, users)? {
        let participants = statement.query_row([recipient_id], |row| {
            let text = row.get_ref(0)?.as_str()?;
            Ok(text.split(',').filter_map(|user_id| user_id.parse::<u32>().ok()).collect::<RoaringBitmap>())
        })?;
        add(&mut partners, &members, &participants);
    }
    Ok(partners)
}

/// Returns the things that users have, each with the users who have it. The statement lists the things of one user.
fn shared(
    connection: &Connection,
    statement: &str,
    users: &RoaringBitmap,
) -> rusqlite::Result<BTreeMap<i64, RoaringBitmap>> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut shared: BTreeMap<i64, RoaringBitmap> = BTreeMap::new();
    for user in users {
        let mut rows = statement.query([user])?;
        while let Some(row) = rows.next()? {
            shared.entry(row.get(0)?).or_default().insert(user);
        }
    }
    Ok(shared)
}

fn add(partners: &mut Partners, members: &RoaringBitmap, others: &RoaringBitmap) {
    for user in members {
        *partners.entry(user).or_default() |= others;
    }
}

/// A user's row.
#[derive(Clone, Debug)]
pub struct UserRow {
    pub user_id: UserId,
    /// The API email.
    pub email: String,
    /// The real email.
    pub delivery_email: String,
    /// The name shown.
    pub full_name: String,
    pub role: Role,
    /// True if the account is not deactivated.
    pub is_active: bool,
    /// Set for bots: 1 generic, 2 incoming webhook, 3 outgoing webhook, 4 embedded.
    pub bot_type: Option<BotType>,
    /// A bot's owner.
    pub bot_owner_id: Option<UserId>,
    /// One of the server's own bots.
    pub is_system_bot: bool,
    /// IANA identifier, possibly empty.
    pub timezone: String,
    /// UNIX seconds.
    pub date_joined: i64,
    /// The image.
    pub avatar: Avatar,
    /// Visibility of the real email. Emails of bots are visible to everyone.
    pub email_visibility: EmailVisibility,
}

/// The columns of [`UserRow`], in order.
pub const COLUMNS: &str =
    "user_id, email, delivery_email, full_name, role, is_active, bot_type, bot_owner_id,
    is_system_bot, timezone, date_joined, avatar_version, avatar_key,
    (SELECT value FROM user_setting
         WHERE user_setting.user_id = user.user_id AND property = 'email_address_visibility' AND bot_type IS NULL)";

impl UserRow {
    /// Reads a row of a statement that selects [`COLUMNS`].
    pub fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            user_id: row.get(0)?,
            email: row.get(1)?,
            delivery_email: row.get(2)?,
            full_name: row.get(3)?,
            role: row.get(4)?,
            is_active: row.get(5)?,
            bot_type: row.get(6)?,
            bot_owner_id: row.get(7)?,
            is_system_bot: row.get(8)?,
            timezone: row.get(9)?,
            date_joined: row.get(10)?,
            avatar: Avatar { user_id: row.get(0)?, version: row.get(11)?, key: row.get(12)? },
            email_visibility: match row.get::<_, Option<String>>(13)? {
                Some(code) => EmailVisibility::from_code(code.parse().unwrap_or_default()),
                None => EmailVisibility::default(),
            },
        })
    }

    /// True if a caller may see the real email.
    pub fn shows_email_to(&self, caller: &Caller) -> bool {
        self.user_id == caller.user_id || self.email_visibility.admits(caller.role)
    }

    /// Fails for a deactivated user.
    pub fn check_is_active(&self) -> ApiResult<()> {
        if self.is_active { Ok(()) } else { Err(ApiError::bad_request("User is deactivated")) }
    }

    /// True if the user is a bot.
    pub fn is_bot(&self) -> bool {
        self.bot_type.is_some()
    }
}
