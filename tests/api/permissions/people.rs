//! Callers and channels: the columns and rows of the table.

use super::settings::{Holders, Setting};
use teamchat::types::Role;

/// A kind of caller: a column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    Owner,
    Administrator,
    Moderator,
    FullMember,
    /// A full member who administers the channels and made the other things.
    Maker,
    /// Joined within the waiting period of three days.
    NewMember,
    Guest,
    /// A generic bot; its owner is a full member.
    Bot,
    /// A bot that only sends; its owner is a full member.
    WebhookBot,
    Deactivated,
    /// A client without an account.
    Outsider,
}

impl Who {
    pub const ALL: [Self; 11] = [
        Self::Owner,
        Self::Administrator,
        Self::Moderator,
        Self::FullMember,
        Self::Maker,
        Self::NewMember,
        Self::Guest,
        Self::Bot,
        Self::WebhookBot,
        Self::Deactivated,
        Self::Outsider,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Administrator => "administrator",
            Self::Moderator => "moderator",
            Self::FullMember => "full member",
            Self::Maker => "creator",
            Self::NewMember => "new member",
            Self::Guest => "guest",
            Self::Bot => "bot",
            Self::WebhookBot => "webhook bot",
            Self::Deactivated => "deactivated",
            Self::Outsider => "outsider",
        }
    }

    pub fn role(self) -> Role {
        match self {
            Self::Owner => Role::Owner,
            Self::Administrator => Role::Administrator,
            Self::Moderator => Role::Moderator,
            Self::Guest => Role::Guest,
            _ => Role::Member,
        }
    }
}

/// Relation of a user to a channel: with the kind of the channel, a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Subscribed from the beginning.
    In,
    /// Was subscribed, and had all messages of the channel, until they were unsubscribed.
    Left,
    /// Was never subscribed.
    Never,
}

impl Relation {
    pub const ALL: [Self; 3] = [Self::In, Self::Left, Self::Never];

    pub fn title(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Left => "left",
            Self::Never => "never in",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelKind {
    Public,
    WebPublic,
    PrivateShared,
    PrivateProtected,
    /// Was public.
    Archived,
}

impl ChannelKind {
    pub const ALL: [Self; 5] =
        [Self::Public, Self::WebPublic, Self::PrivateShared, Self::PrivateProtected, Self::Archived];

    pub fn title(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::WebPublic => "web-public",
            Self::PrivateShared => "private, shared history",
            Self::PrivateProtected => "private, protected history",
            Self::Archived => "archived",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Public => "square",
            Self::WebPublic => "window",
            Self::PrivateShared => "club",
            Self::PrivateProtected => "vault",
            Self::Archived => "cellar",
        }
    }

    pub fn is_private(self) -> bool {
        matches!(self, Self::PrivateShared | Self::PrivateProtected)
    }
}

/// A setting with a value that is not its default.
pub type Change = (&'static Setting, Holders);

/// All that a rule asks about.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    pub who: Who,
    pub relation: Relation,
    pub kind: ChannelKind,
    pub change: Option<Change>,
}

impl Situation {
    /// True if the caller has the permission.
    pub fn holds(&self, setting: &Setting) -> bool {
        self.is_held_by(setting, self.who)
    }

    /// True if another user with the caller's relation to the channel has the permission.
    pub fn is_held_by(&self, setting: &Setting, who: Who) -> bool {
        let changed = self.change.filter(|(changed, _)| *changed == setting);
        setting.is_held(changed.map_or(setting.default, |(_, value)| value), who)
    }
}
