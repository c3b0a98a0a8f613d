//! Which groups may hold a permission, and which one does at first: the published rule of each `can_..._group` setting.
//!
//! `POST /register` shows all of them to settings pages, as `server_supported_permission_settings`.

use crate::domain::groups::system::SystemGroup;
use serde::{Serialize, Serializer};

/// Finds the permissions of an enum by their names on the wire, and reads and writes them as these.
macro_rules! named_permissions {
    ($permission:ty) => {
        impl $permission {
            /// The permission with a name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|permission| permission.name() == name)
            }
        }

        impl serde::Serialize for $permission {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $permission {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = String::deserialize(deserializer)?;
                Self::named(&name).ok_or_else(|| serde::de::Error::custom("no permission has this name"))
            }
        }
    };
}
pub(crate) use named_permissions;

/// The published rule of a group setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Permission {
    /// Only a system group will do.
    pub require_system_group: bool,
    /// `role:internet` will do.
    pub allow_internet_group: bool,
    /// `role:nobody` will do.
    pub allow_nobody_group: bool,
    /// `role:everyone` will do. Where it will not, guests do not have the permission, whatever group they are in.
    pub allow_everyone_group: bool,
    /// Who has it at first.
    #[serde(rename = "default_group_name")]
    pub default: DefaultGroup,
    /// The default for the system groups' own settings; absent for settings of other things.
    pub default_for_system_groups: Option<SystemGroup>,
    /// Only these system groups will do, if there are any here.
    pub allowed_system_groups: &'static [SystemGroup],
}

/// Who has a permission at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultGroup {
    /// A system group.
    System(SystemGroup),
    /// Who made the channel. Without a creator: nobody.
    ChannelCreator,
    /// Who made the group. Without a creator: nobody.
    GroupCreator,
}

impl DefaultGroup {
    /// The system group to fall back to when nobody was ever named.
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
    /// The usual rule: any group will do, `role:nobody` included and `role:everyone` not.
    pub const fn new(default: DefaultGroup) -> Self {
        Self {
            require_system_group: false,
            allow_internet_group: false,
            allow_nobody_group: true,
            allow_everyone_group: false,
            default,
            default_for_system_groups: None,
            allowed_system_groups: &[],
        }
    }

    /// Whether a system group may hold it.
    pub fn allows(&self, group: SystemGroup) -> bool {
        let allowed = match group {
            SystemGroup::Internet => self.allow_internet_group,
            SystemGroup::Everyone => self.allow_everyone_group,
            SystemGroup::Nobody => self.allow_nobody_group,
            _ => true,
        };
        allowed && (self.allowed_system_groups.is_empty() || self.allowed_system_groups.contains(&group))
    }

    /// The usual rule with a system group as default.
    pub const fn system(default: SystemGroup) -> Self {
        Self::new(DefaultGroup::System(default))
    }

    /// `role:everyone` will do, guests included.
    #[must_use]
    pub const fn or_everyone(mut self) -> Self {
        self.allow_everyone_group = true;
        self
    }

    /// Somebody has to have it.
    #[must_use]
    pub const fn not_nobody(mut self) -> Self {
        self.allow_nobody_group = false;
        self
    }

    /// One of these system groups and nothing else.
    #[must_use]
    pub const fn only(mut self, groups: &'static [SystemGroup]) -> Self {
        self.require_system_group = true;
        self.allowed_system_groups = groups;
        self
    }

    /// A setting of groups, which system groups have too: for nobody.
    #[must_use]
    pub const fn of_groups(mut self) -> Self {
        self.default_for_system_groups = Some(SystemGroup::Nobody);
        self
    }
}

/// A setting of user groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UserGroupSetting {
    /// May add others.
    CanAddMembers,
    /// May add themselves.
    CanJoin,
    /// May remove themselves.
    CanLeave,
    /// May change the group.
    CanManage,
    /// May mention the group.
    CanMention,
    /// May remove others.
    CanRemoveMembers,
}

named_permissions!(UserGroupSetting);

impl UserGroupSetting {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::CanAddMembers,
        Self::CanJoin,
        Self::CanLeave,
        Self::CanManage,
        Self::CanMention,
        Self::CanRemoveMembers,
    ];

    /// The name on the wire and in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::CanAddMembers => "can_add_members_group",
            Self::CanJoin => "can_join_group",
            Self::CanLeave => "can_leave_group",
            Self::CanManage => "can_manage_group",
            Self::CanMention => "can_mention_group",
            Self::CanRemoveMembers => "can_remove_members_group",
        }
    }

    /// The published rule.
    pub fn permission(self) -> Permission {
        use SystemGroup::{Everyone, Nobody};
        match self {
            Self::CanAddMembers | Self::CanManage => Permission::new(DefaultGroup::GroupCreator),
            Self::CanJoin | Self::CanRemoveMembers => Permission::system(Nobody),
            Self::CanLeave | Self::CanMention => Permission::system(Everyone).or_everyone(),
        }
        .of_groups()
    }

    /// Who may when nobody was ever named: in system groups nobody, else by the rule.
    pub fn default_group(self, is_system_group: bool) -> SystemGroup {
        let permission = self.permission();
        match permission.default_for_system_groups {
            Some(group) if is_system_group => group,
            _ => permission.default.system_group(),
        }
    }
}
