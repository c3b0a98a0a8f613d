//! The setting `email_address_visibility`.

use super::{Role, UserId};

/// Visibility of a user's real email: `email_address_visibility`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmailVisibility {
    /// 1.
    #[default]
    Everyone,
    /// 2: not guests.
    Members,
    /// 3.
    Administrators,
    /// 4: only the user.
    Nobody,
    /// 5: administrators too.
    Moderators,
}

impl EmailVisibility {
    /// The choice of a number; an unknown one hides.
    pub fn from_code(code: i64) -> Self {
        match code {
            1 => Self::Everyone,
            2 => Self::Members,
            3 => Self::Administrators,
            5 => Self::Moderators,
            _ => Self::Nobody,
        }
    }

    /// True if another user with this role may see it.
    pub fn admits(self, role: Role) -> bool {
        match self {
            Self::Everyone => true,
            Self::Members => role != Role::Guest,
            Self::Moderators => role.is_moderator(),
            Self::Administrators => role.is_administrator(),
            Self::Nobody => false,
        }
    }

    /// The API email of a user.
    pub fn api_email(self, user_id: UserId, delivery_email: &str, domain: &str) -> String {
        if self == Self::Everyone { delivery_email.to_owned() } else { format!("user{user_id}@{domain}") }
    }
}
