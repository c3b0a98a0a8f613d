//! What everybody is told all of, in `POST /register` and in events: limits of the whole organization, so that the answer
//! can be given whatever members do together.

use super::{Accounts, check};
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::Role;
use rusqlite::Connection;

/// A kind of thing that everybody gets all of.
pub struct Shared {
    /// Names them in the plural.
    what: &'static str,
    /// Counts those of people who are not administrators. Its parameter is the role of administrators: greater ones may
    /// less.
    of_members: &'static str,
    /// How many people who are not administrators may make together.
    members: usize,
    /// Counts all.
    all: &'static str,
    /// How many there may be.
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

/// How many alert words all users may have together. A message is searched for all of them.
pub const MAX_ALERT_WORDS_OF_ALL: usize = 500_000;

/// How many people and groups may be members of all groups together, with the values of permissions, each of which is stored
/// as a group; administrators may add twice as many.
pub const MAX_GROUP_MEMBERS: usize = 1_000_000;

/// The same for the groups and channels that one person who is not an administrator created.
pub const MAX_GROUP_MEMBERS_OF_CREATOR: usize = 100_000;

/// How many subscriptions all users may have together when somebody adds many who is not an administrator. Clients get the
/// subscribers of all channels that they see.
pub const MAX_SUBSCRIPTIONS: usize = 4_000_000;

/// How many subscriptions in one request are many.
const MANY_SUBSCRIPTIONS: usize = 1000;

/// How long the descriptions of all channels may be together, in bytes of Markdown and HTML, when somebody writes another
/// one who is not an administrator; administrators may write twice as much.
pub const MAX_DESCRIPTIONS: usize = 16 << 20;

impl Shared {
    /// Refuses so many more of them.
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

/// Refuses one more of a few rows that administrators make and everybody gets. `statement` counts those that are there.
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
pub fn check_group_members(connection: &Connection, caller: &Caller, now: i64) -> ApiResult<()> {
    let is_administrator = caller.role.is_administrator();
    if !is_administrator {
        let statement = "WITH made (group_id) AS (
                 SELECT id FROM user_group WHERE creator_id IN (SELECT value FROM json_each(?1))
                 UNION
                 SELECT group_id FROM stream JOIN group_setting ON owner = 'stream' AND owner_id = stream_id
                 JOIN user_group ON user_group.id = group_id AND kind = 'anonymous'
                 WHERE stream.creator_id IN (SELECT value FROM json_each(?1))
                 UNION
                 SELECT group_id FROM user_group AS own JOIN group_setting ON owner = 'group' AND owner_id = own.id
                 JOIN user_group ON user_group.id = group_id AND user_group.kind = 'anonymous'
                 WHERE own.creator_id IN (SELECT value FROM json_each(?1)))
             SELECT (SELECT count(*) FROM made JOIN user_group_member USING (group_id))
                  + (SELECT count(*) FROM made JOIN user_group_subgroup USING (group_id))";
        let (what, limit) =
            ("members of groups and permissions of one creator", MAX_GROUP_MEMBERS_OF_CREATOR);
        Accounts::of(connection, caller.user_id, now)?.check(what, statement, 0, limit)?;
    }
    let statement =
        "SELECT (SELECT count(*) FROM user_group_member) + (SELECT count(*) FROM user_group_subgroup)";
    let limit = if is_administrator { 2 * MAX_GROUP_MEMBERS } else { MAX_GROUP_MEMBERS };
    check("members of groups and permissions in the organization", count(connection, statement)?, limit)
}

/// Refuses subscriptions that would be too many for the organization, of requests for many.
pub fn check_subscriptions(connection: &Connection, caller: &Caller, added: usize) -> ApiResult<()> {
    if added < MANY_SUBSCRIPTIONS || caller.role.is_administrator() {
        return Ok(());
    }
    let there = count(connection, "SELECT count(*) FROM subscription WHERE active")?;
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
