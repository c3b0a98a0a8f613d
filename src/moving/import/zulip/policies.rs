//! Permissions of archives from before release 10.0, which have some of them as numbers.

use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::system::SystemGroup::{
    Administrators, Everyone, FullMembers, Members, Moderators, Nobody, Owners,
};
use serde_json::{Map, Value};

/// The groups that the numbers of a column stand for.
type Numbers = &'static [(i64, SystemGroup)];

/// The meaning in most columns. Each of them has some of these numbers.
const USUAL: Numbers = &[
    (1, Members),
    (2, Administrators),
    (3, FullMembers),
    (4, Moderators),
    (5, Everyone),
    (6, Nobody),
    (7, Owners),
];

const WILDCARDS: Numbers =
    &[(1, Everyone), (2, Members), (3, FullMembers), (5, Administrators), (6, Nobody), (7, Moderators)];

/// The columns, and the permission of each.
const COLUMNS: [(&str, Numbers, RealmGroup); 14] = [
    ("add_custom_emoji_policy", USUAL, RealmGroup::CanAddCustomEmoji),
    ("create_private_stream_policy", USUAL, RealmGroup::CanCreatePrivateChannel),
    ("create_public_stream_policy", USUAL, RealmGroup::CanCreatePublicChannel),
    ("create_web_public_stream_policy", USUAL, RealmGroup::CanCreateWebPublicChannel),
    ("delete_own_message_policy", USUAL, RealmGroup::CanDeleteOwnMessage),
    ("edit_topic_policy", USUAL, RealmGroup::CanMoveMessagesBetweenTopics),
    ("invite_to_realm_policy", USUAL, RealmGroup::CanInviteUsers),
    ("invite_to_stream_policy", USUAL, RealmGroup::CanAddSubscribers),
    ("move_messages_between_streams_policy", USUAL, RealmGroup::CanMoveMessagesBetweenChannels),
    ("user_group_edit_policy", USUAL, RealmGroup::CanCreateGroups),
    ("wildcard_mention_policy", WILDCARDS, RealmGroup::CanMentionManyUsers),
    ("bot_creation_policy", &[(2, Administrators), (3, Administrators)], RealmGroup::CanCreateBots),
    ("bot_creation_policy", &[(3, Administrators)], RealmGroup::CanCreateWriteOnlyBots),
    ("private_message_policy", &[(2, Nobody)], RealmGroup::DirectMessagePermission),
];

/// The permissions that only a number grants.
pub fn of_realm(row: &Map<String, Value>) -> impl Iterator<Item = (&'static str, SystemGroup)> {
    COLUMNS.into_iter().filter_map(move |(column, numbers, permission)| {
        let number = row.get(column)?.as_i64()?;
        let (_, group) = numbers.iter().find(|(known, _)| *known == number)?;
        let name = permission.name();
        (!row.contains_key(name)).then_some((name, *group))
    })
}
