//! Limits of the whole organization on objects that all clients receive, in `POST /register` and in events, so that the
//! response stays small.

use super::{Accounts, MAX_SUBSCRIPTIONS_PER_REQUEST, MAX_SUBSCRIPTIONS_PER_REQUEST_OF_MEMBER, check};
use crate::auth::{Caller, Ctx};
use crate::error::{ApiError, ApiResult};
use crate::types::Role;
use rusqlite::Connection;

/// A kind of object that all clients receive.
pub struct Shared {
    /// Names them in the plural.
    what: &'static str,
    /// Counts those of people who are not administrators. Its parameter is the role of administrators: greater ones may
    /// less.
    of_members: &'static str,
    /// Limit of users who are not administrators together.
    members: usize,
    /// Counts all.
    all: &'static str,
    /// Limit of the organization.
    limit: usize,
}

/// Channels, archived ones too. Each takes about two kilobytes of the answer beside its descriptions.
pub const CHANNELS: Shared = Shared {
    what: "channels",
    of_members: "SELECT count(*) FROM stream JOIN user ON user_id = creator_id WHERE role > ?1",
    members: 4000,
    all: "SELECT count(*) FROM stream",
    limit: 20_000,
};

/// Custom emoji, deactivated ones too. Each event about one lists all.
pub const EMOJI: Shared = Shared {
    what: "custom emoji",
    of_members: "SELECT count(*) FROM realm_emoji JOIN user ON user_id = author_id WHERE role > ?1",
    members: 2000,
    all: "SELECT count(*) FROM realm_emoji",
    limit: 10_000,
};

/// User groups that have a name, deactivated ones too.
pub const GROUPS: Shared = Shared {
    what: "groups",
    of_members: "SELECT count(*) FROM user_group JOIN user ON user_id = creator_id WHERE role > ?1",
    members: 1000,
    all: "SELECT count(*) FROM user_group WHERE name_key IS NOT NULL",
    limit: 5000,
};

/// Bots, deactivated ones too.
pub const BOTS: Shared = Shared {
    what: "bots",
    of_members: "SELECT count(*) FROM bot JOIN user AS maker ON maker.user_id = bot.created_by WHERE role > ?1",
    members: 5000,
    all: "SELECT count(*) FROM bot",
    limit: 20_000,
};

/// Maximum number of alert words of all users together. Each message is searched for all of them.
const MAX_ALERT_WORDS_OF_ALL: usize = 500_000;

/// Maximum number of members of all groups together, including the values of permissions, each of which is stored as a
/// group; administrators may add twice as many.
const MAX_GROUP_MEMBERS: usize = 1_000_000;

/// Maximum number of members of the groups that one person who is not an administrator created, and of the values of permissions
/// of these groups and of the channels that they created.
pub const MAX_GROUP_MEMBERS_OF_CREATOR: usize = 100_000;

/// Maximum number of inclusions of groups among these. They are followed to find the groups of a person: for many requests, and of
/// many people in some.
pub const MAX_SUBGROUPS_OF_CREATOR: usize = 5000;

/// The groups that some accounts created, and those of the permissions of their channels and groups.
const MADE: &str = "WITH made (group_id) AS (
         SELECT id FROM user_group WHERE creator_id IN (SELECT value FROM json_each(?1))
         UNION
         SELECT group_id FROM stream JOIN group_setting ON owner = 'stream' AND owner_id = stream_id
         JOIN user_group ON user_group.id = group_id AND kind = 'anonymous'
         WHERE stream.creator_id IN (SELECT value FROM json_each(?1))
         UNION
         SELECT group_id FROM user_group AS own JOIN group_setting ON owner = 'group' AND owner_id = own.id
         JOIN user_group ON user_group.id = group_id AND user_group.kind = 'anonymous'
         WHERE own.creator_id IN (SELECT value FROM json_each(?1)))";

/// Number of subscriptions of all users above which members cannot add any. Clients receive the subscribers of all channels
/// that they see.
const MAX_SUBSCRIPTIONS: usize = 4_000_000;

/// Maximum total length of the descriptions of all channels, in bytes of Markdown and HTML, when a user who is not an
/// administrator writes one; administrators may write twice as much.
pub const MAX_DESCRIPTIONS: usize = 16 << 20;

impl Shared {
    /// Checks that this number of further objects is within the limits.
    pub fn check(&self, connection: &Connection, caller: &Caller, added: usize) -> ApiResult<()> {
        let what = format!("{} in the organization", self.what);
        if !caller.role.is_administrator() {
            let statement = connection.prepare_cached(self.of_members);
            let count: u32 = statement?.query_row([Role::Administrator], |row| row.get(0))?;
            check(&what, (count as usize).saturating_add(added), self.members)?;
        }
        check(&what, count(connection, self.all)?.saturating_add(added), self.limit)
    }
}

/// Checks that one more row is within `limit`, for objects that administrators create and all clients receive.
/// `statement` counts the existing rows.
pub fn check_few(connection: &Connection, what: &str, statement: &str, limit: usize) -> ApiResult<()> {
    check(&format!("{what} in the organization"), count(connection, statement)?.saturating_add(1), limit)
}

/// Refuses alert words that are too many for the organization, with those that this job has written.
pub fn check_alert_words(connection: &Connection) -> ApiResult<()> {
    let count = count(connection, "SELECT count(*) FROM alert_word")?;
    check("alert words in the organization", count, MAX_ALERT_WORDS_OF_ALL)
}

/// Refuses members of groups, and people and groups in values of permissions, that are too many with those that this job has
/// written: in the groups and channels of the caller, and in all.
pub fn check_group_members(ctx: Ctx<'_>) -> ApiResult<()> {
    let is_administrator = ctx.caller.role.is_administrator();
    if !is_administrator {
        let accounts = Accounts::of(&ctx, ctx.caller.user_id, ctx.now)?;
        let members = format!(
            "{MADE} SELECT (SELECT count(*) FROM made JOIN user_group_member USING (group_id))
                         + (SELECT count(*) FROM made JOIN user_group_subgroup USING (group_id))"
        );
        let what = "members of groups and permissions of one creator";
        accounts.check(what, &members, 0, MAX_GROUP_MEMBERS_OF_CREATOR)?;
        let inclusions =
            format!("{MADE} SELECT count(*) FROM made JOIN user_group_subgroup USING (group_id)");
        let what = "subgroups of groups and permissions of one creator";
        accounts.check(what, &inclusions, 0, MAX_SUBGROUPS_OF_CREATOR)?;
    }
    let statement =
        "SELECT (SELECT count(*) FROM user_group_member) + (SELECT count(*) FROM user_group_subgroup)";
    let limit = if is_administrator { 2 * MAX_GROUP_MEMBERS } else { MAX_GROUP_MEMBERS };
    check("members of groups and permissions in the organization", count(&ctx, statement)?, limit)
}

/// Refuses more subscriptions in one request than the caller may change: channels times users, as given.
pub fn check_subscriptions_of_request(caller: &Caller, channels: usize, users: usize) -> ApiResult<()> {
    let limit = if caller.role.is_administrator() {
        MAX_SUBSCRIPTIONS_PER_REQUEST
    } else {
        MAX_SUBSCRIPTIONS_PER_REQUEST_OF_MEMBER
    };
    check("subscriptions in one request", channels.saturating_mul(users), limit)
}

/// Refuses subscriptions that would be too many for the organization, which has `there` now.
pub fn check_subscriptions(caller: &Caller, there: usize, added: usize) -> ApiResult<()> {
    if caller.role.is_administrator() {
        return Ok(());
    }
    check("subscriptions in the organization", there.saturating_add(added), MAX_SUBSCRIPTIONS)
}

/// Refuses descriptions of channels that are too long together, with those that this job has written.
pub fn check_descriptions(connection: &Connection, caller: &Caller) -> ApiResult<()> {
    let statement = "SELECT sum(octet_length(description) + octet_length(rendered_description)) FROM stream";
    let limit = if caller.role.is_administrator() { 2 * MAX_DESCRIPTIONS } else { MAX_DESCRIPTIONS };
    if count(connection, statement)? <= limit {
        return Ok(());
    }
    Err(ApiError::bad_request(format!("Too much text in descriptions of channels (limit: {limit} bytes)")))
}

fn count(connection: &Connection, statement: &str) -> ApiResult<usize> {
    let count: Option<i64> = connection.prepare_cached(statement)?.query_row([], |row| row.get(0))?;
    Ok(usize::try_from(count.unwrap_or(0)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Credential;
    use crate::types::UserId;

    #[test]
    fn members_cannot_add_subscriptions_beyond_the_limit() {
        let check = |role, added| {
            let caller = Caller {
                user_id: UserId(9),
                role,
                bot_type: None,
                bot_owner_id: None,
                bot_creator_id: None,
                credential: Credential::Server,
                version: 0,
            };
            check_subscriptions(&caller, MAX_SUBSCRIPTIONS - 1, added)
        };
        assert!(check(Role::Member, 1).is_ok());
        let refusal = check(Role::Member, 2).unwrap_err();
        assert_eq!(refusal.msg(), "Too many subscriptions in the organization (limit: 4000000)");
        assert!(check(Role::Administrator, 1000).is_ok());
    }
}
