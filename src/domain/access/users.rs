//! Who can access whom: the organization's `can_access_all_users_group` (feature levels 225, 228 and 232).
//!
//! Where only members may access everybody, a guest accesses those with whom they share something:
//!
//! | the guest and the other | accessed |
//! |---|---|
//! | are the same | yes |
//! | the other is a bot | yes |
//! | are subscribed to a channel, and the other's account is in use | yes |
//! | ever had a direct conversation, alone or with others | yes |
//! | none of these | no |
//!
//! Everybody else accesses everybody. Of whom somebody cannot access they know the id and nothing more: messages,
//! lists and events show [`UNKNOWN_USER`] in their place. What is told of a user goes to [`audience`].

use crate::domain::access::user_rows;
use crate::domain::access::user_rows::UserRow;
use crate::domain::groups::realm_settings::{RealmGroup, group};
use crate::domain::groups::system::SystemGroup;
use crate::domain::realm::user_ids;
use crate::events::Audience;
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::{Role, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;

/// The name of those whom the reader cannot access.
pub const UNKNOWN_USER: &str = "Unknown user";

/// Their image.
pub const UNKNOWN_AVATAR_URL: &str = "/static/images/unknown-user-avatar.png";

/// Their API email: it tells the id, which the reader has anyway.
pub fn unknown_email(user_id: UserId) -> String {
    format!("user{user_id}@{}", crate::domain::realm::DUMMY_DOMAIN)
}

/// Whom somebody can access.
#[derive(Clone, Debug, PartialEq)]
pub enum Accessible {
    /// Everybody.
    Everybody,
    /// These, deactivated users too.
    Only(RoaringBitmap),
}

impl Accessible {
    /// Whom a caller can access.
    pub fn to(connection: &Connection, caller: &Caller) -> ApiResult<Self> {
        Self::to_user(connection, caller.user_id, caller.role)
    }

    /// Whom a user with a role can access.
    pub fn to_user(connection: &Connection, user_id: UserId, role: Role) -> ApiResult<Self> {
        if role != Role::Guest || !is_restricted(connection)? {
            return Ok(Self::Everybody);
        }
        let mut ids = user_rows::channel_partners(connection, user_id)?;
        ids &= user_ids::active_ids(connection)?;
        ids |= user_rows::direct_partners(connection, user_id)? | user_ids::bot_ids(connection)?;
        ids.extend(user_id.bit());
        Ok(Self::Only(ids))
    }

    /// Whether a user is among them.
    pub fn contains(&self, user_id: UserId) -> bool {
        match self {
            Self::Everybody => true,
            Self::Only(ids) => user_id.bit().is_some_and(|bit| ids.contains(bit)),
        }
    }

    /// The ids, spelt out, without the server's own bots: these are known to everybody and nobody hears of them.
    pub fn ids(self, connection: &Connection) -> ApiResult<RoaringBitmap> {
        let all = user_ids::all_ids(connection)?;
        Ok(match self {
            Self::Everybody => all,
            Self::Only(ids) => ids & all,
        })
    }
}

/// Whether guests cannot access everybody.
pub fn is_restricted(connection: &Connection) -> ApiResult<bool> {
    Ok(group(connection, RealmGroup::CanAccessAllUsers)? != SystemGroup::Everyone.id())
}

/// Refuses a user whom the caller cannot access.
pub fn check(connection: &Connection, caller: &Caller, user: &UserRow) -> ApiResult<()> {
    if Accessible::to(connection, caller)?.contains(user.user_id) {
        Ok(())
    } else {
        Err(ApiError::insufficient_permission())
    }
}

/// Refuses direct messages to users whom the caller cannot access.
pub fn check_recipients(connection: &Connection, caller: &Caller, people: &[UserId]) -> ApiResult<()> {
    let accessible = Accessible::to(connection, caller)?;
    if people.iter().all(|user_id| accessible.contains(*user_id)) {
        return Ok(());
    }
    Err(ApiError::bad_request("You do not have permission to access some of the recipients."))
}

/// Those of some users who can access all of some people: who may hear of what these do together.
pub fn who_can_access_all(
    connection: &Connection,
    users: RoaringBitmap,
    people: &[UserId],
) -> ApiResult<RoaringBitmap> {
    let mut all = users;
    if is_restricted(connection)? {
        for user_id in people {
            if let Some(user) = user_rows::by_id(connection, *user_id)? {
                all &= who_can_access(connection, &user)?;
            }
        }
    }
    Ok(all)
}

/// The active users who can access a user: who may hear of them.
pub fn who_can_access(connection: &Connection, user: &UserRow) -> ApiResult<RoaringBitmap> {
    let mut all = user_ids::active_ids(connection)?;
    if !user.is_bot() && is_restricted(connection)? {
        let mut partners = user_rows::direct_partners(connection, user.user_id)?;
        if user.is_active {
            partners |= user_rows::channel_partners(connection, user.user_id)?;
        }
        partners.extend(user.user_id.bit());
        all -= user_ids::guest_ids(connection)? - partners;
    }
    Ok(all)
}

/// The same, to send events to.
pub fn audience(connection: &Connection, user: &UserRow) -> ApiResult<Audience> {
    Ok(Audience::set(who_can_access(connection, user)?))
}

/// Those of an audience who cannot access a user.
pub fn without_access(
    connection: &Connection,
    user: &UserRow,
    audience: &RoaringBitmap,
) -> ApiResult<RoaringBitmap> {
    if user.is_bot() || !is_restricted(connection)? {
        return Ok(RoaringBitmap::new());
    }
    Ok(audience - who_can_access(connection, user)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::groups::setting::{Owner, set};

    /// Users 1 member, 2 guest, 3 another guest, 4 deactivated member, 5 bot, 6 guest who shares nothing.
    fn organization() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(crate::store::SCHEMA).unwrap();
        for group in SystemGroup::ALL {
            let row = (group.id(), group.name());
            let sql = "INSERT INTO user_group (id, kind, name) VALUES (?1, 'system', ?2)";
            connection.execute(sql, row).unwrap();
        }
        for (user_id, role, is_active, bot) in [
            (1, 400, true, None),
            (2, 600, true, None),
            (3, 600, true, None),
            (4, 400, false, None),
            (5, 400, true, Some(1)),
            (6, 600, true, None),
        ] {
            let sql = "INSERT INTO user (user_id, email, delivery_email, delivery_email_key, full_name, role, is_active,
                           bot_type, date_joined) VALUES (?1, ?1, ?1, ?1, 'x', ?2, ?3, ?4, 0)";
            connection.execute(sql, (user_id, role, is_active, bot)).unwrap();
        }
        connection
            .execute_batch(
                "INSERT INTO stream (stream_id, name, name_key, date_created) VALUES (1, 'a', 'a', 0)",
            )
            .unwrap();
        connection
    }

    fn subscribe(connection: &Connection, users: &[i64]) {
        for user_id in users {
            let sql = "INSERT INTO subscription (user_id, stream_id, active, color) VALUES (?1, 1, 1, '')";
            connection.execute(sql, [user_id]).unwrap();
        }
    }

    fn talk(connection: &Connection, people: &[i64]) {
        let key = people.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        connection.execute("INSERT INTO recipient (user_ids) VALUES (?1)", [key]).unwrap();
        let recipient = connection.last_insert_rowid();
        for user_id in people {
            let sql = "INSERT INTO direct_participant (user_id, recipient_id) VALUES (?1, ?2)";
            connection.execute(sql, (user_id, recipient)).unwrap();
        }
    }

    fn restrict(connection: &Connection) {
        let setting = RealmGroup::CanAccessAllUsers.name();
        set(connection, Owner::Realm, setting, SystemGroup::Members.id()).unwrap();
    }

    fn accessed_by(connection: &Connection, user_id: i64) -> Vec<u32> {
        let user = user_rows::by_id(connection, UserId(user_id)).unwrap().unwrap();
        let accessible = Accessible::to_user(connection, user.user_id, user.role).unwrap();
        accessible.ids(connection).unwrap().into_iter().collect()
    }

    /// What is done, and whom guest 2, guest 3 and guest 6 access then.
    type Case = (fn(&Connection), [Vec<u32>; 3]);

    #[test]
    fn guests_access_those_with_whom_they_share_something() {
        let all = vec![1, 2, 3, 4, 5, 6];
        let cases: [Case; 7] = [
            (|_| {}, [all.clone(), all.clone(), all.clone()]),
            (restrict, [vec![2, 5], vec![3, 5], vec![5, 6]]),
            (
                |connection| {
                    restrict(connection);
                    subscribe(connection, &[1, 2]);
                },
                [vec![1, 2, 5], vec![3, 5], vec![5, 6]],
            ),
            (
                |connection| {
                    restrict(connection);
                    subscribe(connection, &[2, 3, 4]);
                },
                [vec![2, 3, 5], vec![2, 3, 5], vec![5, 6]],
            ),
            (
                |connection| {
                    restrict(connection);
                    subscribe(connection, &[1, 2]);
                    connection.execute("UPDATE subscription SET active = 0 WHERE user_id = 1", []).unwrap();
                },
                [vec![2, 5], vec![3, 5], vec![5, 6]],
            ),
            (
                |connection| {
                    restrict(connection);
                    talk(connection, &[2, 4]);
                },
                [vec![2, 4, 5], vec![3, 5], vec![5, 6]],
            ),
            (
                |connection| {
                    restrict(connection);
                    talk(connection, &[1, 2, 3]);
                },
                [vec![1, 2, 3, 5], vec![1, 2, 3, 5], vec![5, 6]],
            ),
        ];
        for (index, (share, expected)) in cases.into_iter().enumerate() {
            let connection = organization();
            share(&connection);
            assert_eq!([2, 3, 6].map(|guest| accessed_by(&connection, guest)), expected, "case {index}");
            assert_eq!(accessed_by(&connection, 1), all, "members access everybody, case {index}");
        }
    }

    #[test]
    fn who_can_access_is_the_same_rule_from_the_other_end() {
        let connection = organization();
        restrict(&connection);
        subscribe(&connection, &[1, 2, 4]);
        talk(&connection, &[3, 4]);
        for user_id in 1..=6 {
            let user = user_rows::by_id(&connection, UserId(user_id)).unwrap().unwrap();
            let who = who_can_access(&connection, &user).unwrap();
            for viewer in user_ids::active_ids(&connection).unwrap() {
                let accessed = accessed_by(&connection, viewer.into()).contains(&(user_id as u32));
                assert_eq!(who.contains(viewer), accessed, "{viewer} accesses {user_id}");
            }
        }
    }
}
