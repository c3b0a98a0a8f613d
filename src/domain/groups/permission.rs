//! The permissions of the organization, of channels and of groups: the `can_..._group` settings, one row each.
//!
//! Parameters, state, events and the description of the interface follow from the rows. `POST /register` shows the allowed
//! and default groups to settings pages, as `server_supported_permission_settings`.

use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::system::SystemGroup::{
    Administrators, Everyone, Members, Moderators, Nobody, Owners,
};
use crate::types::{ChangedBy, Effect};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A permission, with the published rule for its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Permission {
    /// The name on the wire and in the database.
    #[serde(skip)]
    pub name: &'static str,
    /// The holders, for the description of the interface: one sentence.
    #[serde(skip)]
    pub about: &'static str,
    /// The users who may change the value for the organization. Channels and groups have rules of their own.
    #[serde(skip)]
    pub changed_by: ChangedBy,
    /// The place where it has an effect.
    #[serde(skip)]
    pub effect: Effect,
    /// True if only a system group is accepted.
    pub require_system_group: bool,
    /// True if `role:internet` is accepted.
    pub allow_internet_group: bool,
    /// True if `role:nobody` is accepted.
    pub allow_nobody_group: bool,
    /// True if `role:everyone` is accepted. If not, guests do not have the permission, even as members of another
    /// group.
    pub allow_everyone_group: bool,
    /// The name of the group that has the permission by default.
    #[serde(rename = "default_group_name")]
    pub default: DefaultGroup,
    /// The default of settings of system groups; null for permissions that are not settings of groups.
    pub default_for_system_groups: Option<SystemGroup>,
    /// The names of the accepted system groups. If empty, the other members decide which ones are accepted.
    pub allowed_system_groups: &'static [SystemGroup],
}

/// Default holders of a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultGroup {
    System(SystemGroup),
    /// The creator of the channel; empty without a creator.
    ChannelCreator,
    /// The creator of the group; empty without a creator.
    GroupCreator,
}

impl DefaultGroup {
    /// The system group that is used if the setting was never set.
    pub fn system_group(self) -> SystemGroup {
        match self {
            Self::System(group) => group,
            Self::ChannelCreator | Self::GroupCreator => SystemGroup::Nobody,
        }
    }
}

impl Serialize for DefaultGroup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::System(group) => group.name(),
            Self::ChannelCreator => "channel_creator",
            Self::GroupCreator => "group_creator",
        })
    }
}

impl Permission {
    /// The usual rule: any group is accepted, including `role:nobody` but not `role:everyone`.
    const fn new(default: DefaultGroup) -> Self {
        Self {
            name: "",
            about: "",
            changed_by: ChangedBy::Administrator,
            effect: Effect::Server,
            require_system_group: false,
            allow_internet_group: false,
            allow_nobody_group: true,
            allow_everyone_group: false,
            default,
            default_for_system_groups: None,
            allowed_system_groups: &[],
        }
    }

    /// True if a system group may hold it.
    pub fn allows(&self, group: SystemGroup) -> bool {
        let allowed = match group {
            SystemGroup::Internet => self.allow_internet_group,
            SystemGroup::Everyone => self.allow_everyone_group,
            SystemGroup::Nobody => self.allow_nobody_group,
            _ => true,
        };
        allowed && (self.allowed_system_groups.is_empty() || self.allowed_system_groups.contains(&group))
    }

    /// `role:everyone` is accepted, including guests.
    const fn or_everyone(mut self) -> Self {
        self.allow_everyone_group = true;
        self
    }

    /// Excludes `role:nobody`.
    const fn not_nobody(mut self) -> Self {
        self.allow_nobody_group = false;
        self
    }

    /// One of these system groups and nothing else.
    const fn only(mut self, groups: &'static [SystemGroup]) -> Self {
        self.require_system_group = true;
        self.allowed_system_groups = groups;
        self
    }

    /// A setting of groups. Its value for system groups is `role:nobody`.
    const fn of_groups(mut self) -> Self {
        self.default_for_system_groups = Some(Nobody);
        self
    }

    /// Only owners may change it.
    const fn by_owners(mut self) -> Self {
        self.changed_by = ChangedBy::Owner;
        self
    }

    /// Without an effect, for this reason.
    const fn unused(mut self, why: &'static str) -> Self {
        self.effect = Effect::Nowhere(why);
        self
    }
}

/// The permissions of one kind of owner, which are read and written by their names.
pub trait PermissionTable: Sized {
    /// All of them, with their rows.
    fn rows() -> impl Iterator<Item = (Self, Permission)>;
}

/// Declares the permissions of an owner. Each is one row: name on the wire, rule, and text.
macro_rules! permissions {
    ($(#[$attribute:meta])* $owner:ident { $($permission:ident($name:literal, $rule:expr, $about:literal))* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $owner {
            $(#[doc = $about] $permission,)*
        }

        impl $owner {
            /// All of them, in the order of the interface's lists.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$permission),*];

            /// The row of the table that describes the setting.
            pub const fn permission(self) -> Permission {
                match self {
                    $(Self::$permission => Permission { name: $name, about: $about, ..$rule },)*
                }
            }

            /// The name on the wire and in the file.
            pub const fn name(self) -> &'static str {
                self.permission().name
            }

            /// The permission with a name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|permission| permission.name() == name)
            }
        }

        impl PermissionTable for $owner {
            fn rows() -> impl Iterator<Item = (Self, Permission)> {
                Self::ALL.into_iter().map(|permission| (permission, permission.permission()))
            }
        }

        impl Serialize for $owner {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $owner {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = String::deserialize(deserializer)?;
                Self::named(&name).ok_or_else(|| de::Error::custom("no permission has this name"))
            }
        }
    };
}

const fn system(default: SystemGroup) -> Permission {
    Permission::new(DefaultGroup::System(default))
}

const CHANNEL_CREATOR: Permission = Permission::new(DefaultGroup::ChannelCreator);
const GROUP_CREATOR: Permission = Permission::new(DefaultGroup::GroupCreator).of_groups();

permissions! {
    /// A permission in the organization.
    RealmGroup {
        CanAccessAllUsers(
            "can_access_all_users_group",
            system(Everyone).or_everyone().not_nobody().only(&[Everyone, Members]),
            "Group that can see all users. Others see only users with whom they share a conversation."
        )
        CanAddCustomEmoji("can_add_custom_emoji_group", system(Members), "Group that may add custom emoji.")
        CanAddSubscribers(
            "can_add_subscribers_group", system(Members), "Group that may subscribe others to channels."
        )
        CanCreateBots("can_create_bots_group", system(Members), "Group that may create bots.")
        CanCreateGroups(
            "can_create_groups", system(Members).by_owners(), "Group that may create user groups."
        )
        CanCreatePrivateChannel(
            "can_create_private_channel_group", system(Members), "Group that may create private channels."
        )
        CanCreatePublicChannel(
            "can_create_public_channel_group", system(Members), "Group that may create public channels."
        )
        CanCreateWebPublicChannel(
            "can_create_web_public_channel_group",
            system(Owners).only(&[Moderators, Administrators, Owners, Nobody]),
            "Group that may create channels that can be read without an account."
        )
        CanCreateWriteOnlyBots(
            "can_create_write_only_bots_group", system(Members), "Group that may create bots that only send."
        )
        CanDeleteAnyMessage(
            "can_delete_any_message_group", system(Administrators), "Group that may delete any message."
        )
        CanDeleteOwnMessage(
            "can_delete_own_message_group",
            system(Everyone).or_everyone(),
            "Group that may delete their own messages."
        )
        CanInviteUsers(
            "can_invite_users_group", system(Members).by_owners(), "Group that may invite users by email."
        )
        CanManageAllGroups(
            "can_manage_all_groups",
            system(Owners).not_nobody().by_owners(),
            "Group that may change any user group."
        )
        CanManageBilling(
            "can_manage_billing_group",
            system(Administrators).not_nobody().by_owners().unused("there is no billing"),
            "Group that may manage the plan."
        )
        CanMentionManyUsers(
            "can_mention_many_users_group",
            system(Administrators).or_everyone(),
            "Group that may use wildcard mentions in large channels."
        )
        CanMoveMessagesBetweenChannels(
            "can_move_messages_between_channels_group",
            system(Members),
            "Group that may move messages to other channels."
        )
        CanMoveMessagesBetweenTopics(
            "can_move_messages_between_topics_group",
            system(Everyone).or_everyone(),
            "Group that may move messages to other topics."
        )
        CanResolveTopics(
            "can_resolve_topics_group", system(Everyone).or_everyone(), "Group that may resolve topics."
        )
        CanSetDeleteMessagePolicy(
            "can_set_delete_message_policy_group",
            system(Moderators),
            "Group that may set the permissions to delete messages in a channel."
        )
        CanSetTopicsPolicy(
            "can_set_topics_policy_group",
            system(Members).or_everyone(),
            "Group that may set the topics policy of a channel."
        )
        CanSummarizeTopics(
            "can_summarize_topics_group",
            system(Everyone).or_everyone().unused("nothing is summarized"),
            "Group that may have topics summarized."
        )
        CreateMultiuseInvite(
            "create_multiuse_invite_group",
            system(Administrators).by_owners(),
            "Group that may create reusable invitation links."
        )
        DirectMessageInitiator(
            "direct_message_initiator_group",
            system(Everyone).or_everyone(),
            "Group that may start direct conversations."
        )
        DirectMessagePermission(
            "direct_message_permission_group",
            system(Everyone).or_everyone(),
            "Group of which every direct conversation needs a member."
        )
    }
}

permissions! {
    /// A permission in a channel.
    StreamSetting {
        CanAddSubscribers(
            "can_add_subscribers_group",
            system(Nobody),
            "Group that may subscribe others, and so read the channel."
        )
        CanAdministerChannel(
            "can_administer_channel_group",
            CHANNEL_CREATOR,
            "Group that may change the channel; at first its creator."
        )
        CanDeleteAnyMessage(
            "can_delete_any_message_group", system(Nobody), "Group that may delete any message in the channel."
        )
        CanDeleteOwnMessage(
            "can_delete_own_message_group",
            system(Nobody).or_everyone(),
            "Group that may delete their own messages in the channel."
        )
        CanMoveMessagesOutOfChannel(
            "can_move_messages_out_of_channel_group",
            system(Nobody).or_everyone(),
            "Group that may move messages to other channels."
        )
        CanMoveMessagesWithinChannel(
            "can_move_messages_within_channel_group",
            system(Nobody).or_everyone(),
            "Group that may move messages to other topics of the channel."
        )
        CanRemoveSubscribers(
            "can_remove_subscribers_group", system(Administrators), "Group that may unsubscribe others."
        )
        CanResolveTopics(
            "can_resolve_topics_group", system(Nobody).or_everyone(), "Group that may resolve topics."
        )
        CanSendMessage("can_send_message_group", system(Everyone).or_everyone(), "Group that may post.")
        CanSubscribe(
            "can_subscribe_group",
            system(Nobody),
            "Group that may subscribe themselves to a private channel, and so read it."
        )
    }
}

permissions! {
    /// A permission in a user group.
    UserGroupSetting {
        CanAddMembers(
            "can_add_members_group", GROUP_CREATOR, "Group that may add members; at first the creator."
        )
        CanJoin("can_join_group", system(Nobody).of_groups(), "Group that may join this one.")
        CanLeave("can_leave_group", system(Everyone).or_everyone().of_groups(), "Group that may leave this one.")
        CanManage("can_manage_group", GROUP_CREATOR, "Group that may change this one; at first the creator.")
        CanMention(
            "can_mention_group", system(Everyone).or_everyone().of_groups(), "Group that may mention this one."
        )
        CanRemoveMembers(
            "can_remove_members_group", system(Nobody).of_groups(), "Group that may remove members."
        )
    }
}

impl UserGroupSetting {
    /// The default holders: `role:nobody` for system groups, otherwise by the rule.
    pub fn default_group(self, is_system_group: bool) -> SystemGroup {
        let permission = self.permission();
        match permission.default_for_system_groups {
            Some(group) if is_system_group => group,
            _ => permission.default.system_group(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn check<P: PermissionTable>() {
        let mut names = HashSet::new();
        for (_, rule) in P::rows() {
            let (name, default) = (rule.name, rule.default.system_group());
            assert!(names.insert(name), "{name}");
            assert!(rule.allow_everyone_group || default != Everyone, "{name}");
            assert!(rule.allow_nobody_group || default != Nobody, "{name}");
            assert_eq!(rule.require_system_group, !rule.allowed_system_groups.is_empty(), "{name}");
            assert!(!rule.require_system_group || rule.allowed_system_groups.contains(&default), "{name}");
        }
    }

    #[test]
    fn names_are_unique_and_defaults_are_allowed() {
        check::<RealmGroup>();
        check::<StreamSetting>();
        check::<UserGroupSetting>();
    }
}
