//! Permissions of the organization that are about channels (`semantics.md` section 10).

use super::access::Viewer;
use crate::api::groups::setting::{self, Owner};
use crate::api::groups::system::SystemGroup;
use crate::api::realm;
use crate::http::{ApiError, ApiResult, Caller};
use rusqlite::Connection;

/// A permission that a group of the organization holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// To make public channels.
    CreatePublic,
    /// To make private channels.
    CreatePrivate,
    /// To make channels that can be read without an account.
    CreateWebPublic,
    /// To subscribe others to every channel that one may read.
    AddSubscribers,
    /// To say whether a channel has the empty topic.
    SetTopicsPolicy,
    /// To say who deletes messages of a channel.
    SetDeleteMessagePolicy,
}

impl Permission {
    /// The setting's name, and who has the permission unless it was changed.
    fn setting(self) -> (&'static str, SystemGroup) {
        match self {
            Self::CreatePublic => ("can_create_public_channel_group", SystemGroup::Members),
            Self::CreatePrivate => ("can_create_private_channel_group", SystemGroup::Members),
            Self::CreateWebPublic => ("can_create_web_public_channel_group", SystemGroup::Owners),
            Self::AddSubscribers => ("can_add_subscribers_group", SystemGroup::Members),
            Self::SetTopicsPolicy => ("can_set_topics_policy_group", SystemGroup::Members),
            Self::SetDeleteMessagePolicy => ("can_set_delete_message_policy_group", SystemGroup::Moderators),
        }
    }

    /// Whether the caller has it. Guests have none of these.
    pub fn is_held(self, connection: &Connection, caller: &Caller, viewer: &Viewer<'_>) -> ApiResult<bool> {
        if caller.is_guest() {
            return Ok(false);
        }
        let (name, default) = self.setting();
        Ok(viewer.membership()?.contains(setting::group_of(connection, Owner::Realm, name, default)?))
    }

    /// Refuses a caller who does not have it.
    pub fn require(self, connection: &Connection, caller: &Caller, viewer: &Viewer<'_>) -> ApiResult<()> {
        if self.is_held(connection, caller, viewer)? {
            Ok(())
        } else {
            Err(ApiError::insufficient_permission())
        }
    }
}

/// Refuses what makes a channel readable without an account, where the organization or the caller may not.
pub fn require_web_public(connection: &Connection, caller: &Caller, viewer: &Viewer<'_>) -> ApiResult<()> {
    if !realm::settings::get(connection, "enable_spectator_access")? {
        return Err(ApiError::bad_request("Web-public channels are not enabled."));
    }
    Permission::CreateWebPublic.require(connection, caller, viewer)
}

/// Refuses callers who are not administrators.
pub fn require_administrator(caller: &Caller) -> ApiResult<()> {
    if caller.role.is_administrator() { Ok(()) } else { Err(ApiError::administrators_only()) }
}

/// Refuses callers who are not owners.
pub fn require_owner(caller: &Caller) -> ApiResult<()> {
    if caller.role == crate::types::Role::Owner { Ok(()) } else { Err(ApiError::owners_only()) }
}
