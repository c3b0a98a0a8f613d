//! The scope of a change.

use crate::domain::groups::roles::UserFilter;
use crate::domain::rows::channel::StreamRow;
use crate::domain::rows::user::UserRow;
use crate::types::UserId;

/// State that a change may affect. Only this state is loaded and compared.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    Role(&'a UserRow),
    /// Activation of a user's account.
    Account(&'a UserRow),
    /// The groups that name these users as members.
    Members(&'a [UserId]),
    /// Inclusions of groups, or their activation.
    Groups,
    /// Membership in the group of full members.
    WaitingPeriod,
    /// The subscriptions of users to channels.
    Subscriptions(&'a [UserId], &'a [StreamRow]),
    /// The settings of a channel.
    Channel(&'a StreamRow),
    /// Access to all users.
    AccessToUsers,
    /// The first direct message among these users.
    Conversation(&'a [UserId]),
}

impl<'a> Scope<'a> {
    /// The users who may see other channels than before.
    pub fn among(&self) -> UserFilter<'a> {
        match *self {
            Self::Role(user) | Self::Account(user) => UserFilter::Users(std::slice::from_ref(&user.user_id)),
            Self::Members(users) | Self::Subscriptions(users, _) => UserFilter::Users(users),
            Self::Groups | Self::WaitingPeriod | Self::Channel(_) => UserFilter::Everyone,
            Self::AccessToUsers | Self::Conversation(_) => UserFilter::Users(&[]),
        }
    }
}
