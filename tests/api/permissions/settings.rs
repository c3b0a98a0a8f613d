//! The group settings named by rules, as the interface describes them: default holders, and allowed groups.

use super::people::Who;
use Holders::{Administrators, Everyone, FullMembers, Maker, Members, Moderators, Named, Nobody, Owners};
use Of::{Channel, Group, Organization};

/// The object that has the setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Organization,
    Channel,
    Group,
}

/// A value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holders {
    Nobody,
    Owners,
    Administrators,
    Moderators,
    FullMembers,
    Members,
    Everyone,
    /// The creator of the channel or the group.
    Maker,
    /// A group without a name, of some users: the full members and the guests of the table.
    Named,
}

impl Holders {
    /// True if a user is included. A role's group includes the roles above it.
    pub fn include(self, who: Who) -> bool {
        match self {
            Nobody => false,
            Owners => who == Who::Owner,
            Administrators => matches!(who, Who::Owner | Who::Administrator),
            Moderators => Administrators.include(who) || who == Who::Moderator,
            FullMembers => Members.include(who) && who != Who::NewMember,
            Members => who != Who::Guest && Everyone.include(who),
            Everyone => !matches!(who, Who::Deactivated | Who::Outsider),
            Maker => who == Who::Maker,
            Named => matches!(who, Who::FullMember | Who::Guest),
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Nobody => "nobody",
            Owners => "owners",
            Administrators => "administrators",
            Moderators => "moderators",
            FullMembers => "full members",
            Members => "members",
            Everyone => "everyone",
            Maker => "the maker",
            Named => "some users",
        }
    }
}

/// A group setting.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    pub of: Of,
    pub name: &'static str,
    /// The group that has it at first.
    pub default: Holders,
    /// The other values that are tried. If everyone is not among them, nor the default, a guest does not have the
    /// permission by any group.
    pub others: &'static [Holders],
}

impl Setting {
    const fn new(of: Of, name: &'static str, default: Holders, others: &'static [Holders]) -> Self {
        Self { of, name, default, others }
    }

    fn may_be_everyones(&self) -> bool {
        self.default == Everyone || self.others.contains(&Everyone)
    }

    /// True if a user has the permission with this value.
    pub fn is_held(&self, value: Holders, who: Who) -> bool {
        value.include(who) && (who != Who::Guest || self.may_be_everyones())
    }
}

/// Values of a setting that everyone may have.
const ANY: &[Holders] = &[Nobody, FullMembers, Everyone, Named];
/// Values of a setting that guests cannot have.
const NO_GUESTS: &[Holders] = &[Nobody, FullMembers, Members, Named];

pub const ACCESS_ALL_USERS: Setting =
    Setting::new(Organization, "can_access_all_users_group", Everyone, &[Members]);
pub const ADD_CUSTOM_EMOJI: Setting =
    Setting::new(Organization, "can_add_custom_emoji_group", Members, NO_GUESTS);
pub const ADD_SUBSCRIBERS: Setting =
    Setting::new(Organization, "can_add_subscribers_group", Members, NO_GUESTS);
pub const CREATE_BOTS: Setting = Setting::new(Organization, "can_create_bots_group", Members, NO_GUESTS);
pub const CREATE_GROUPS: Setting = Setting::new(Organization, "can_create_groups", Members, NO_GUESTS);
pub const CREATE_PRIVATE_CHANNEL: Setting =
    Setting::new(Organization, "can_create_private_channel_group", Members, NO_GUESTS);
pub const CREATE_PUBLIC_CHANNEL: Setting =
    Setting::new(Organization, "can_create_public_channel_group", Members, NO_GUESTS);
pub const CREATE_WEB_PUBLIC_CHANNEL: Setting = Setting::new(
    Organization,
    "can_create_web_public_channel_group",
    Owners,
    &[Nobody, Administrators, Moderators],
);
pub const CREATE_WRITE_ONLY_BOTS: Setting =
    Setting::new(Organization, "can_create_write_only_bots_group", Members, NO_GUESTS);
pub const DELETE_ANY_MESSAGE: Setting =
    Setting::new(Organization, "can_delete_any_message_group", Administrators, NO_GUESTS);
pub const DELETE_OWN_MESSAGE: Setting =
    Setting::new(Organization, "can_delete_own_message_group", Everyone, ANY);
pub const INVITE_USERS: Setting = Setting::new(Organization, "can_invite_users_group", Members, NO_GUESTS);
pub const MANAGE_ALL_GROUPS: Setting =
    Setting::new(Organization, "can_manage_all_groups", Owners, &[Administrators, Members, Named]);
pub const MENTION_MANY_USERS: Setting =
    Setting::new(Organization, "can_mention_many_users_group", Administrators, ANY);
pub const MOVE_BETWEEN_CHANNELS: Setting =
    Setting::new(Organization, "can_move_messages_between_channels_group", Members, NO_GUESTS);
pub const MOVE_BETWEEN_TOPICS: Setting =
    Setting::new(Organization, "can_move_messages_between_topics_group", Everyone, ANY);
pub const RESOLVE_TOPICS: Setting = Setting::new(Organization, "can_resolve_topics_group", Everyone, ANY);
pub const SET_DELETE_MESSAGE_POLICY: Setting =
    Setting::new(Organization, "can_set_delete_message_policy_group", Moderators, NO_GUESTS);
pub const SET_TOPICS_POLICY: Setting =
    Setting::new(Organization, "can_set_topics_policy_group", Members, ANY);
pub const CREATE_MULTIUSE_INVITE: Setting =
    Setting::new(Organization, "create_multiuse_invite_group", Administrators, NO_GUESTS);
pub const DIRECT_MESSAGE_INITIATOR: Setting =
    Setting::new(Organization, "direct_message_initiator_group", Everyone, ANY);
pub const DIRECT_MESSAGE_PERMISSION: Setting =
    Setting::new(Organization, "direct_message_permission_group", Everyone, ANY);

/// Values of a channel's setting that everyone may have.
const ANY_IN_CHANNEL: &[Holders] = &[Nobody, Everyone, Named];
/// Values of a channel's setting that guests cannot have.
const NO_GUESTS_IN_CHANNEL: &[Holders] = &[Nobody, Members, Named];

pub const CHANNEL_ADD_SUBSCRIBERS: Setting =
    Setting::new(Channel, "can_add_subscribers_group", Nobody, NO_GUESTS_IN_CHANNEL);
pub const CHANNEL_ADMINISTER: Setting =
    Setting::new(Channel, "can_administer_channel_group", Maker, NO_GUESTS_IN_CHANNEL);
pub const CHANNEL_DELETE_ANY: Setting =
    Setting::new(Channel, "can_delete_any_message_group", Nobody, NO_GUESTS_IN_CHANNEL);
pub const CHANNEL_DELETE_OWN: Setting =
    Setting::new(Channel, "can_delete_own_message_group", Nobody, ANY_IN_CHANNEL);
pub const CHANNEL_MOVE_OUT: Setting =
    Setting::new(Channel, "can_move_messages_out_of_channel_group", Nobody, ANY_IN_CHANNEL);
pub const CHANNEL_MOVE_WITHIN: Setting =
    Setting::new(Channel, "can_move_messages_within_channel_group", Nobody, ANY_IN_CHANNEL);
pub const CHANNEL_REMOVE_SUBSCRIBERS: Setting =
    Setting::new(Channel, "can_remove_subscribers_group", Administrators, NO_GUESTS_IN_CHANNEL);
pub const CHANNEL_RESOLVE_TOPICS: Setting =
    Setting::new(Channel, "can_resolve_topics_group", Nobody, ANY_IN_CHANNEL);
pub const CHANNEL_SEND: Setting = Setting::new(Channel, "can_send_message_group", Everyone, ANY_IN_CHANNEL);
pub const CHANNEL_SUBSCRIBE: Setting =
    Setting::new(Channel, "can_subscribe_group", Nobody, NO_GUESTS_IN_CHANNEL);

pub const GROUP_ADD_MEMBERS: Setting = Setting::new(Group, "can_add_members_group", Maker, NO_GUESTS);
pub const GROUP_JOIN: Setting = Setting::new(Group, "can_join_group", Nobody, NO_GUESTS);
pub const GROUP_LEAVE: Setting = Setting::new(Group, "can_leave_group", Everyone, ANY);
pub const GROUP_MANAGE: Setting = Setting::new(Group, "can_manage_group", Maker, NO_GUESTS);
pub const GROUP_MENTION: Setting = Setting::new(Group, "can_mention_group", Everyone, ANY);
pub const GROUP_REMOVE_MEMBERS: Setting = Setting::new(Group, "can_remove_members_group", Nobody, NO_GUESTS);
