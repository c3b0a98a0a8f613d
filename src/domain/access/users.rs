//! Access to users, by the organization's `can_access_all_users_group` (feature levels 225, 228, 232).
//!
//! `AccessReasons` has the rule. [`Accessible`] evaluates it for one viewer, [`users_with_access_to`] for one user and all viewers.
//! Of users whom a viewer cannot access, messages, lists and events have the id and [`UNKNOWN_USER`]. Events about a user
//! go to [`audience`].

use crate::auth::Caller;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::realm_settings::group;
use crate::domain::groups::system::SystemGroup;
use crate::domain::realm::user_ids;
use crate::domain::rows;
use crate::domain::rows::user::UserRow;
use crate::error::{ApiError, ApiResult};
use crate::events::Audience;
use crate::types::{Role, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The name shown for users whom the reader cannot access.
pub const UNKNOWN_USER: &str = "Unknown user";

/// The image of users whom the caller cannot access.
pub const UNKNOWN_AVATAR_URL: &str = "/static/images/unknown-user-avatar.png";

/// Their API email, and that of all users for visitors. It contains the id, which the reader has anyway.
pub fn unknown_email(user_id: UserId) -> String {
    format!("user{user_id}@{}", crate::domain::realm::DUMMY_DOMAIN)
}

/// The reasons for which a guest can access a user. Either side may be a set: the users whom one guest can access, or
/// the guests who can access one user.
///
/// If only members can access all users, a guest can access a user for one of these reasons:
///
/// | the guest and the user | accessed |
/// |---|---|
/// | are the same, or the user is a bot | yes |
/// | are subscribed to a channel, and the user is active | yes |
/// | ever had a direct conversation, alone or with others | yes |
///
/// All others access everyone.
struct AccessReasons {
    /// The user is the guest.
    is_self: RoaringBitmap,
    /// The user is a bot.
    is_bot: RoaringBitmap,
    /// The user is active.
    is_active: RoaringBitmap,
    /// They are subscribed to the same channel.
    share_channel: RoaringBitmap,
    /// They have had a direct conversation.
    share_conversation: RoaringBitmap,
}

impl AccessReasons {
    /// The users for whom at least one reason applies.
    fn accessible(self) -> RoaringBitmap {
        self.is_self | self.is_bot | self.share_conversation | (self.share_channel & self.is_active)
    }
}

/// The users whom a viewer can access.
#[derive(Clone, Debug, PartialEq)]
pub enum Accessible {
    /// All users.
    Everyone,
    /// These, deactivated users included.
    Only(RoaringBitmap),
}

impl Accessible {
    /// The users whom a caller can access.
    pub fn to(connection: &Connection, caller: &Caller) -> ApiResult<Self> {
        Self::to_user(connection, caller.user_id, caller.role)
    }

    /// The users whom a user with a role can access.
    pub fn to_user(connection: &Connection, user_id: UserId, role: Role) -> ApiResult<Self> {
        if role != Role::Guest || !is_restricted(connection)? {
            return Ok(Self::Everyone);
        }
        let mut accessible = to_guests(connection, &user_id.bit().into_iter().collect())?;
        Ok(Self::Only(accessible.remove(&user_id).unwrap_or_default()))
    }

    /// True if a user is one of them.
    pub fn contains(&self, user_id: UserId) -> bool {
        match self {
            Self::Everyone => true,
            Self::Only(ids) => user_id.is_in(ids),
        }
    }
}

/// The users whom each of some guests can access, where guests are restricted.
fn to_guests(connection: &Connection, guests: &RoaringBitmap) -> ApiResult<BTreeMap<UserId, RoaringBitmap>> {
    let (bots, active) = (user_ids::bot_ids(connection)?, user_ids::active_ids(connection)?);
    let mut in_channels = rows::user::channel_partners(connection, guests)?;
    let mut in_conversations = rows::user::direct_partners(connection, guests)?;
    let of_guest = |guest: u32| {
        let ties = AccessReasons {
            is_self: RoaringBitmap::from_iter([guest]),
            is_bot: bots.clone(),
            is_active: active.clone(),
            share_channel: in_channels.remove(&guest).unwrap_or_default(),
            share_conversation: in_conversations.remove(&guest).unwrap_or_default(),
        };
        (UserId::from(guest), ties.accessible())
    };
    Ok(guests.iter().map(of_guest).collect())
}

/// The users whom each of some users can access, without the system bots: all users can access these, and there are no
/// events about them.
pub fn accessible_to_each(
    connection: &Connection,
    viewers: &[UserRow],
) -> ApiResult<BTreeMap<UserId, RoaringBitmap>> {
    if viewers.is_empty() {
        return Ok(BTreeMap::new());
    }
    let is_limited = is_restricted(connection)?;
    let guests = viewers.iter().filter(|viewer| is_limited && viewer.role == Role::Guest);
    let mut of_guests = to_guests(connection, &guests.filter_map(|guest| guest.user_id.bit()).collect())?;
    let all = user_ids::all_ids(connection)?;
    let of_viewer = |viewer: &UserRow| match of_guests.remove(&viewer.user_id) {
        Some(accessible) => (viewer.user_id, accessible & &all),
        None => (viewer.user_id, all.clone()),
    };
    Ok(viewers.iter().map(of_viewer).collect())
}

/// True if there are users whom guests cannot access.
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

/// Returns the users among `candidates` who can access every user in `subjects`.
pub fn filter_by_access_to_all(
    connection: &Connection,
    candidates: RoaringBitmap,
    subjects: &[UserId],
) -> ApiResult<RoaringBitmap> {
    let guests = restricted_among(connection, &candidates)?;
    if guests.is_empty() {
        return Ok(candidates);
    }
    if guests.len() < subjects.len() as u64 {
        let accessible = to_guests(connection, &guests)?;
        let misses = |ids: &RoaringBitmap| subjects.iter().any(|user_id| !user_id.is_in(ids));
        let missing = accessible.into_iter().filter(|(_, ids)| misses(ids));
        return Ok(candidates - missing.filter_map(|(guest, _)| guest.bit()).collect::<RoaringBitmap>());
    }
    let mut all = candidates;
    for user_id in subjects {
        if let Some(user) = rows::user::by_id(connection, *user_id)? {
            let unknowing = without_access(connection, &user, &all)?;
            all -= unknowing;
        }
    }
    Ok(all)
}

/// The guests of a set, if they cannot access all users.
fn restricted_among(connection: &Connection, users: &RoaringBitmap) -> ApiResult<RoaringBitmap> {
    if is_restricted(connection)? {
        return Ok(users & user_ids::guest_ids(connection)?);
    }
    Ok(RoaringBitmap::new())
}

/// The active users who can access a user. They may receive events about the user.
pub fn users_with_access_to(connection: &Connection, user: &UserRow) -> ApiResult<RoaringBitmap> {
    let active = user_ids::active_ids(connection)?;
    let unknowing = without_access(connection, user, &active)?;
    Ok(active - unknowing)
}

/// The audience of events about a user: those who can access them.
pub fn audience(connection: &Connection, user: &UserRow) -> ApiResult<Audience> {
    Ok(Audience::set(users_with_access_to(connection, user)?))
}

/// Returns the active users in `audience` who cannot access a user.
pub fn without_access(
    connection: &Connection,
    user: &UserRow,
    audience: &RoaringBitmap,
) -> ApiResult<RoaringBitmap> {
    if user.is_bot() {
        return Ok(RoaringBitmap::new());
    }
    let guests = restricted_among(connection, audience)?;
    if guests.is_empty() {
        return Ok(guests);
    }
    let own: RoaringBitmap = user.user_id.bit().into_iter().collect();
    let in_conversations = rows::user::direct_partners(connection, &own)?;
    let ties = AccessReasons {
        is_self: own,
        is_bot: RoaringBitmap::new(),
        is_active: if user.is_active { guests.clone() } else { RoaringBitmap::new() },
        share_channel: rows::user::channel_partners_among(connection, user.user_id, &guests)?,
        share_conversation: in_conversations.into_values().next().unwrap_or_default(),
    };
    Ok(guests - ties.accessible())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::groups::setting::{Owner, set};
    use proptest::collection::{hash_set, vec};
    use proptest::prelude::*;

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
        // Random cases may have a conversation twice.
        if connection.execute("INSERT OR IGNORE INTO recipient (user_ids) VALUES (?1)", [key]).unwrap() == 0 {
            return;
        }
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
        let user = rows::user::by_id(connection, UserId(user_id)).unwrap().unwrap();
        let accessible = Accessible::to_user(connection, user.user_id, user.role).unwrap();
        let all = user_ids::all_ids(connection).unwrap();
        all.into_iter().filter(|bit| accessible.contains(UserId::from(*bit))).collect()
    }

    /// A change, and the users accessible to guests 2, 3 and 6 afterwards.
    type Case = (fn(&Connection), [Vec<u32>; 3]);

    #[test]
    fn guests_access_users_with_shared_conversations() {
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
            assert_eq!(accessed_by(&connection, 1), all, "members access everyone, case {index}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn both_forms_agree(
            is_restricted in prop::bool::weighted(0.9),
            subscribers in hash_set(1_i64..=6, 0..5),
            conversations in vec(hash_set(1_i64..=6, 2..4), 0..3),
        ) {
            let connection = organization();
            if is_restricted {
                restrict(&connection);
            }
            subscribe(&connection, &Vec::from_iter(subscribers));
            for people in conversations {
                let mut people = Vec::from_iter(people);
                people.sort_unstable();
                talk(&connection, &people);
            }
            for user_id in 1..=6 {
                let user = rows::user::by_id(&connection, UserId(user_id)).unwrap().unwrap();
                let who = users_with_access_to(&connection, &user).unwrap();
                for viewer in user_ids::active_ids(&connection).unwrap() {
                    let accessed = accessed_by(&connection, viewer.into()).contains(&(user_id as u32));
                    prop_assert_eq!(who.contains(viewer), accessed, "{} accesses {}", viewer, user_id);
                }
            }
            let people: Vec<UserRow> = (1..=6)
                .map(|user_id| rows::user::by_id(&connection, UserId(user_id)).unwrap().unwrap())
                .collect();
            for (viewer, accessible) in accessible_to_each(&connection, &people).unwrap() {
                prop_assert_eq!(Vec::from_iter(accessible), accessed_by(&connection, viewer.0), "{}", viewer);
            }
            // Fewer users than there are guests, and more.
            for subjects in [&[1_u32, 4][..], &[1, 2, 3, 4, 5, 6]] {
                let active = user_ids::active_ids(&connection).unwrap();
                let user_ids: Vec<UserId> = subjects.iter().copied().map(UserId::from).collect();
                let who = filter_by_access_to_all(&connection, active.clone(), &user_ids).unwrap();
                for viewer in active {
                    let accessed = accessed_by(&connection, viewer.into());
                    let is_in = subjects.iter().all(|user_id| accessed.contains(user_id));
                    prop_assert_eq!(who.contains(viewer), is_in, "{} accesses {:?}", viewer, subjects);
                }
            }
        }
    }
}
