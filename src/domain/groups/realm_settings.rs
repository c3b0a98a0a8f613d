//! The organization's group settings: who may do what in it.

use crate::domain::groups::membership::Membership;
use crate::domain::groups::permission::{Permission, named_permissions};
use crate::domain::groups::setting;
use crate::domain::groups::setting::{GroupSetting, Owner};
use crate::domain::groups::system::SystemGroup;
use crate::events::uniform_event;
use crate::http::{ApiResult, Caller};
use crate::types::GroupId;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A permission in the organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RealmGroup {
    /// May see all users; others see only those they share a conversation with.
    CanAccessAllUsers,
    /// May add custom emoji.
    CanAddCustomEmoji,
    /// May subscribe others to channels.
    CanAddSubscribers,
    /// May make bots.
    CanCreateBots,
    /// May make user groups.
    CanCreateGroups,
    /// May make private channels.
    CanCreatePrivateChannel,
    /// May make public channels.
    CanCreatePublicChannel,
    /// May make channels that the internet can read.
    CanCreateWebPublicChannel,
    /// May make bots that only send.
    CanCreateWriteOnlyBots,
    /// May delete anybody's messages.
    CanDeleteAnyMessage,
    /// May delete their own messages.
    CanDeleteOwnMessage,
    /// May invite by email.
    CanInviteUsers,
    /// May change any user group.
    CanManageAllGroups,
    /// May see to the plan.
    CanManageBilling,
    /// May mention everybody in large channels.
    CanMentionManyUsers,
    /// May move messages to other channels.
    CanMoveMessagesBetweenChannels,
    /// May move messages to other topics.
    CanMoveMessagesBetweenTopics,
    /// May resolve topics.
    CanResolveTopics,
    /// May say who may delete messages in a channel.
    CanSetDeleteMessagePolicy,
    /// May say whether a channel has topics.
    CanSetTopicsPolicy,
    /// May have topics summarized.
    CanSummarizeTopics,
    /// May make invitation links for many.
    CreateMultiuseInvite,
    /// May start direct conversations.
    DirectMessageInitiator,
    /// At least one of them has to take part in a direct conversation.
    DirectMessagePermission,
}

named_permissions!(RealmGroup);

impl RealmGroup {
    /// All of them, by name.
    pub const ALL: [Self; 24] = [
        Self::CanAccessAllUsers,
        Self::CanAddCustomEmoji,
        Self::CanAddSubscribers,
        Self::CanCreateBots,
        Self::CanCreateGroups,
        Self::CanCreatePrivateChannel,
        Self::CanCreatePublicChannel,
        Self::CanCreateWebPublicChannel,
        Self::CanCreateWriteOnlyBots,
        Self::CanDeleteAnyMessage,
        Self::CanDeleteOwnMessage,
        Self::CanInviteUsers,
        Self::CanManageAllGroups,
        Self::CanManageBilling,
        Self::CanMentionManyUsers,
        Self::CanMoveMessagesBetweenChannels,
        Self::CanMoveMessagesBetweenTopics,
        Self::CanResolveTopics,
        Self::CanSetDeleteMessagePolicy,
        Self::CanSetTopicsPolicy,
        Self::CanSummarizeTopics,
        Self::CreateMultiuseInvite,
        Self::DirectMessageInitiator,
        Self::DirectMessagePermission,
    ];

    /// The permission to create a private or a public channel.
    pub fn to_create_channel(is_private: bool) -> Self {
        if is_private { Self::CanCreatePrivateChannel } else { Self::CanCreatePublicChannel }
    }

    /// The name in the file, and on the wire after `realm_`.
    pub fn name(self) -> &'static str {
        match self {
            Self::CanAccessAllUsers => "can_access_all_users_group",
            Self::CanAddCustomEmoji => "can_add_custom_emoji_group",
            Self::CanAddSubscribers => "can_add_subscribers_group",
            Self::CanCreateBots => "can_create_bots_group",
            Self::CanCreateGroups => "can_create_groups",
            Self::CanCreatePrivateChannel => "can_create_private_channel_group",
            Self::CanCreatePublicChannel => "can_create_public_channel_group",
            Self::CanCreateWebPublicChannel => "can_create_web_public_channel_group",
            Self::CanCreateWriteOnlyBots => "can_create_write_only_bots_group",
            Self::CanDeleteAnyMessage => "can_delete_any_message_group",
            Self::CanDeleteOwnMessage => "can_delete_own_message_group",
            Self::CanInviteUsers => "can_invite_users_group",
            Self::CanManageAllGroups => "can_manage_all_groups",
            Self::CanManageBilling => "can_manage_billing_group",
            Self::CanMentionManyUsers => "can_mention_many_users_group",
            Self::CanMoveMessagesBetweenChannels => "can_move_messages_between_channels_group",
            Self::CanMoveMessagesBetweenTopics => "can_move_messages_between_topics_group",
            Self::CanResolveTopics => "can_resolve_topics_group",
            Self::CanSetDeleteMessagePolicy => "can_set_delete_message_policy_group",
            Self::CanSetTopicsPolicy => "can_set_topics_policy_group",
            Self::CanSummarizeTopics => "can_summarize_topics_group",
            Self::CreateMultiuseInvite => "create_multiuse_invite_group",
            Self::DirectMessageInitiator => "direct_message_initiator_group",
            Self::DirectMessagePermission => "direct_message_permission_group",
        }
    }

    /// Which groups may hold it, and which one does at first.
    pub fn permission(self) -> Permission {
        use SystemGroup::{Administrators, Everyone, Members, Moderators, Nobody, Owners};
        match self {
            Self::CanAccessAllUsers => {
                Permission::system(Everyone).or_everyone().not_nobody().only(&[Everyone, Members])
            }
            Self::CanCreateWebPublicChannel => {
                Permission::system(Owners).only(&[Moderators, Administrators, Owners, Nobody])
            }
            Self::CanManageAllGroups => Permission::system(Owners).not_nobody(),
            Self::CanManageBilling => Permission::system(Administrators).not_nobody(),
            Self::CanDeleteAnyMessage | Self::CreateMultiuseInvite => Permission::system(Administrators),
            Self::CanMentionManyUsers => Permission::system(Administrators).or_everyone(),
            Self::CanSetDeleteMessagePolicy => Permission::system(Moderators),
            Self::CanSetTopicsPolicy => Permission::system(Members).or_everyone(),
            Self::CanDeleteOwnMessage
            | Self::CanMoveMessagesBetweenTopics
            | Self::CanResolveTopics
            | Self::CanSummarizeTopics
            | Self::DirectMessageInitiator
            | Self::DirectMessagePermission => Permission::system(Everyone).or_everyone(),
            Self::CanAddCustomEmoji
            | Self::CanAddSubscribers
            | Self::CanCreateBots
            | Self::CanCreateGroups
            | Self::CanCreatePrivateChannel
            | Self::CanCreatePublicChannel
            | Self::CanCreateWriteOnlyBots
            | Self::CanInviteUsers
            | Self::CanMoveMessagesBetweenChannels => Permission::system(Members),
        }
    }

    /// Who may until somebody changes it.
    pub fn default_group(self) -> SystemGroup {
        self.permission().default.system_group()
    }
}

/// `realm`, `op: update_dict`: other people have a permission in the organization from now on.
#[derive(Serialize, Deserialize)]
#[serde(tag = "property", content = "data", rename_all = "snake_case")]
pub enum RealmPermissionUpdated {
    /// The permission, and who has it.
    Default(BTreeMap<RealmGroup, GroupSetting>),
}

uniform_event!(RealmPermissionUpdated: "realm", op "update_dict", name "realm/permission", version 1);

impl RealmPermissionUpdated {
    /// The event for a permission.
    pub fn new(permission: RealmGroup, value: GroupSetting) -> Self {
        Self::Default(BTreeMap::from([(permission, value)]))
    }
}

/// The group that holds a permission in the organization.
pub fn group(connection: &Connection, permission: RealmGroup) -> ApiResult<GroupId> {
    setting::group_of(connection, Owner::Realm, permission.name(), permission.default_group())
}

/// Whether a caller has a permission in the organization. A guest does not have one that may not be given to everyone,
/// whatever groups they are in.
pub fn is_held(
    connection: &Connection,
    caller: &Caller,
    membership: &Membership,
    permission: RealmGroup,
) -> ApiResult<bool> {
    if caller.is_guest() && !permission.permission().allow_everyone_group {
        return Ok(false);
    }
    Ok(membership.contains(group(connection, permission)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_defaults_are_allowed() {
        let names: HashSet<&str> = RealmGroup::ALL.map(RealmGroup::name).into();
        assert_eq!(names.len(), RealmGroup::ALL.len());
        for setting in RealmGroup::ALL {
            let rule = setting.permission();
            let default = setting.default_group();
            assert!(rule.allow_everyone_group || default != SystemGroup::Everyone, "{setting:?}");
            assert!(rule.allow_nobody_group || default != SystemGroup::Nobody, "{setting:?}");
            assert_eq!(rule.require_system_group, !rule.allowed_system_groups.is_empty(), "{setting:?}");
            assert!(
                !rule.require_system_group || rule.allowed_system_groups.contains(&default),
                "{setting:?}"
            );
        }
    }
}
