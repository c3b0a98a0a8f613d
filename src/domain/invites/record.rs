//! An invitation as it is stored, and as clients see it.

use crate::types::{GroupId, Role, StreamId, UserId};
use rand::RngExt;
use serde::Serialize;

/// Characters of a link's key: lower-case base32, 120 bits in all.
const KEY_LENGTH: usize = 24;

const KEY_LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// An invitation's row.
#[derive(Clone, Debug)]
pub struct InviteRow {
    /// The id.
    pub invite_id: i64,
    /// The secret part of the link.
    pub key: String,
    /// Whom it is for; `None` for a link that many may use.
    pub email: Option<String>,
    /// Who made it; `None` for the link by which the first owner comes.
    pub invited_by_user_id: Option<UserId>,
    /// When it was made, UNIX seconds.
    pub invited: i64,
    /// UNIX seconds; `None`: never.
    pub expiry_date: Option<i64>,
    /// The role of who comes by it.
    pub invited_as: Role,
    /// Channels to subscribe them to.
    pub stream_ids: Vec<StreamId>,
    /// Groups to add them to.
    pub group_ids: Vec<GroupId>,
    /// Whether they begin in the default channels.
    pub include_realm_default_subscriptions: bool,
    /// Whether the inviter hears that they came.
    pub notify_referrer_on_join: bool,
    /// What the welcome bot says to them; `None`: the organization's text, empty: nothing.
    pub welcome_message_custom_text: Option<String>,
    /// Whether it was taken back.
    pub is_revoked: bool,
}

impl InviteRow {
    /// Whether many people may use it.
    pub fn is_multiuse(&self) -> bool {
        self.email.is_none()
    }

    /// Whether somebody may come by it at this time, in UNIX seconds.
    pub fn is_open(&self, now: i64) -> bool {
        !self.is_revoked && self.expiry_date.is_none_or(|expiry| now < expiry)
    }

    /// The whole link.
    pub fn link(&self, origin: &str) -> String {
        format!("{origin}/join/{}/", self.key)
    }
}

/// A new key.
pub fn random_key() -> String {
    let mut random = rand::rng();
    (0..KEY_LENGTH).map(|_| char::from(KEY_LETTERS[random.random_range(0..KEY_LETTERS.len())])).collect()
}

/// An invitation on the wire, in `GET /invites`.
#[derive(Clone, Debug, Serialize)]
pub struct InviteRecord {
    id: i64,
    invited_by_user_id: Option<UserId>,
    invited: i64,
    expiry_date: Option<i64>,
    invited_as: Role,
    is_multiuse: bool,
    notify_referrer_on_join: bool,
    /// Only of a link for one person.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    /// Only of a link for many.
    #[serde(skip_serializing_if = "Option::is_none")]
    link_url: Option<String>,
}

impl InviteRecord {
    /// The record; `origin` is where clients reach the server.
    pub fn new(invite: &InviteRow, origin: &str) -> Self {
        Self {
            id: invite.invite_id,
            invited_by_user_id: invite.invited_by_user_id,
            invited: invite.invited,
            expiry_date: invite.expiry_date,
            invited_as: invite.invited_as,
            is_multiuse: invite.is_multiuse(),
            notify_referrer_on_join: invite.notify_referrer_on_join,
            email: invite.email.clone(),
            link_url: invite.is_multiuse().then(|| invite.link(origin)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_published_form() {
        let key = random_key();
        assert_eq!(key.len(), 24);
        assert!(key.bytes().all(|byte| KEY_LETTERS.contains(&byte)), "{key}");
        assert_ne!(key, random_key());
    }
}
