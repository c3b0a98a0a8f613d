//! The author of a change.

use super::UserId;
use std::net::IpAddr;

/// The author of a job's changes, and the address that the request came from. The audit log records it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The user or program that makes the changes.
    pub author: Author,
    /// The client's address; `None` on the machine itself.
    pub address: Option<IpAddr>,
}

/// The author of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Author {
    /// The server: scheduled and background work.
    #[default]
    Server,
    /// The operator, by a command on the machine.
    Operator,
    /// A client that is not logged in.
    Stranger,
    /// A user, who is logged in, or a bot.
    User(UserId),
}

impl Author {
    /// The kind of author, as stored.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Operator => "command line",
            Self::Stranger => "anyone",
            Self::User(_) => "user",
        }
    }

    /// The user's id, if it is a user.
    pub fn user_id(self) -> Option<UserId> {
        if let Self::User(user_id) = self { Some(user_id) } else { None }
    }
}

impl Origin {
    /// A command on the machine.
    pub const OPERATOR: Self = Self { author: Author::Operator, address: None };

    /// A request from an address, by a user if it is authenticated.
    pub fn request(user_id: Option<UserId>, address: IpAddr) -> Self {
        let author = user_id.map_or(Author::Stranger, Author::User);
        Self { author, address: Some(address.to_canonical()) }
    }
}
