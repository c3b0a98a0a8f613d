//! The row and the wire form of an invitation.

use crate::types::{GroupId, Role, StreamId, UserId, random_key};
use serde::Serialize;

#[derive(Clone, Debug)]
pub struct InviteRow {
    /// Identifies the invitation; 0 before it is inserted.
    pub invite_id: i64,
    /// The secret part of the link: of a new invitation, and of a stored one if `GET /invites` lists its link. The file
    /// has only the digest of others.
    pub key: Option<String>,
    /// The email of the invited person; `None` for a reusable link.
    pub email: Option<String>,
    /// The inviter; `None` for the link of the first owner, and of people who sign up without an invitation.
    pub invited_by_user_id: Option<UserId>,
    /// When it was created, in UNIX seconds.
    pub invited: i64,
    /// When it expires, in UNIX seconds; `None`: never.
    pub expiry_date: Option<i64>,
    /// The role of the new users.
    pub invited_as: Role,
    /// Channels to subscribe the new users to.
    pub stream_ids: Vec<StreamId>,
    /// Groups to add the new users to.
    pub group_ids: Vec<GroupId>,
    /// True to subscribe the new users to the default channels.
    pub include_realm_default_subscriptions: bool,
    /// True to notify the inviter when a user joins.
    pub notify_referrer_on_join: bool,
    /// The text of the welcome bot; `None`: the organization's text, empty: no text.
    pub welcome_message_custom_text: Option<String>,
    /// True if it was revoked.
    pub is_revoked: bool,
    /// When its link was last made again, in UNIX seconds; `None`: never.
    pub resent: Option<i64>,
    /// The reusable link with whose terms a person signs up.
    pub parent_id: Option<i64>,
    /// True if only an email to the address has the link.
    pub is_mailed: bool,
}

impl InviteRow {
    /// A reusable link with a new key: without an inviter and an end, and for the default channels.
    pub fn new(invited_as: Role, now: i64) -> Self {
        Self {
            invite_id: 0,
            key: Some(random_key()),
            email: None,
            invited_by_user_id: None,
            invited: now,
            expiry_date: None,
            invited_as,
            stream_ids: Vec::new(),
            group_ids: Vec::new(),
            include_realm_default_subscriptions: true,
            notify_referrer_on_join: false,
            welcome_message_custom_text: None,
            is_revoked: false,
            resent: None,
            parent_id: None,
            is_mailed: false,
        }
    }

    /// True if it is a reusable link.
    pub fn is_multiuse(&self) -> bool {
        self.email.is_none()
    }

    /// True if it is neither revoked nor expired at `now`, in UNIX seconds.
    pub fn is_usable(&self, now: i64) -> bool {
        !self.is_revoked && self.expiry_date.is_none_or(|expiry| now < expiry)
    }

    /// True if it is the link of the first owner.
    pub fn is_for_owner(&self) -> bool {
        self.invited_by_user_id.is_none() && self.email.is_none()
    }

    /// True if it is the link of a person who signs up without an invitation: see [`super::sign_up`].
    pub fn is_sign_up(&self) -> bool {
        self.invited_by_user_id.is_none() && self.email.is_some()
    }

    /// True if an account is made by it where people do not log in with passwords: the link is for one address, or for the first
    /// owner. By a reusable link they sign up at a provider.
    pub fn works_without_password(&self) -> bool {
        !self.is_multiuse() || self.is_for_owner()
    }

    /// Returns the link if the key is known. `origin` is the URL at which clients reach the server.
    pub fn link(&self, origin: &str) -> Option<String> {
        self.key.as_ref().map(|key| format!("{origin}/join/{key}/"))
    }
}

/// An invitation.
#[derive(Clone, Debug, Serialize)]
pub struct InviteRecord {
    /// The id of the invitation.
    id: i64,
    /// The user id of the inviter; null for the link of the first owner.
    invited_by_user_id: Option<UserId>,
    /// When it was created, in UNIX seconds.
    invited: i64,
    /// When it expires, in UNIX seconds; null for never.
    expiry_date: Option<i64>,
    /// The role that the new users get.
    invited_as: Role,
    /// True for a reusable link, false for an email invitation.
    is_multiuse: bool,
    /// True if the inviter is notified when an invited person joins.
    notify_referrer_on_join: bool,
    /// The email of the invited person. Absent for reusable links.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    /// The URL of a reusable link; empty if the caller may not invite users to its role. Absent for email invitations.
    #[serde(skip_serializing_if = "Option::is_none")]
    link_url: Option<String>,
}

impl InviteRecord {
    /// Returns the record. `origin` is the URL at which clients reach the server. A reader who may not give the role does
    /// not get the link, with which they would have it.
    pub fn new(invite: &InviteRow, origin: &str, may_give_role: bool) -> Self {
        let link = if may_give_role { invite.link(origin) } else { Some(String::new()) };
        Self {
            id: invite.invite_id,
            invited_by_user_id: invite.invited_by_user_id,
            invited: invite.invited,
            expiry_date: invite.expiry_date,
            invited_as: invite.invited_as,
            is_multiuse: invite.is_multiuse(),
            notify_referrer_on_join: invite.notify_referrer_on_join,
            email: invite.email.clone(),
            link_url: link.filter(|_| invite.is_multiuse()),
        }
    }
}
