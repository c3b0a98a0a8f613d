//! The scope of a change.

use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::user_rows::UserRow;
use crate::domain::groups::roles::Among;
use crate::types::UserId;

/// What a change may affect. Only state that depends on it is loaded and compared.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    /// The role of a user.
    Role(&'a UserRow),
    /// Whether the account of a user is active.
    Account(&'a UserRow),
    /// The groups that name these users as members.
    Members(&'a [UserId]),
    /// What groups include, or whether they are active.
    Groups,
    /// Which members are new ones.
    WaitingPeriod,
    /// The subscriptions of users to channels.
    Subscriptions(&'a [UserId], &'a [StreamRow]),
    /// The settings of a channel.
    Channel(&'a StreamRow),
    /// Who can access all users.
    AccessToUsers,
    /// The first direct message among these users.
    Conversation(&'a [UserId]),
}

impl<'a> Scope<'a> {
    /// The users who may see other channels than before.
    pub fn among(&self) -> Among<'a> {
        match *self {
            Self::Role(user) | Self::Account(user) => Among::Users(std::slice::from_ref(&user.user_id)),
            Self::Members(users) | Self::Subscriptions(users, _) => Among::Users(users),
            Self::Groups | Self::WaitingPeriod | Self::Channel(_) => Among::Everyone,
            Self::AccessToUsers | Self::Conversation(_) => Among::Users(&[]),
        }
    }
}
