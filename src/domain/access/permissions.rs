//! Permissions of the organization that are about channels.

use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::channels::Viewer;
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::groups::realm_settings;
use crate::domain::groups::realm_settings::RealmGroup;
use crate::domain::realm;
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::Role;

/// Whether the caller has a permission in the organization.
pub fn is_held(viewer: &Viewer<'_>, permission: RealmGroup) -> ApiResult<bool> {
    realm_settings::is_held(&viewer.ctx, viewer.ctx.caller, viewer.membership()?, permission)
}

/// Refuses a caller who does not have a permission in the organization.
pub fn require(viewer: &Viewer<'_>, permission: RealmGroup) -> ApiResult<()> {
    if is_held(viewer, permission)? { Ok(()) } else { Err(ApiError::insufficient_permission()) }
}

/// Refuses what makes a channel readable without an account, where the organization or the caller may not.
pub fn require_web_public(viewer: &Viewer<'_>) -> ApiResult<()> {
    if !realm::settings::ENABLE_SPECTATOR_ACCESS.get(&viewer.ctx)? {
        return Err(ApiError::bad_request("Web-public channels are not enabled."));
    }
    require(viewer, RealmGroup::CanCreateWebPublicChannel)
}

/// Refuses callers who are not administrators.
pub fn require_administrator(caller: &Caller) -> ApiResult<()> {
    if caller.role.is_administrator() { Ok(()) } else { Err(ApiError::administrators_only()) }
}

/// Refuses callers who may not say which channels new users find: administrators may.
pub fn require_default_channels(caller: &Caller) -> ApiResult<()> {
    if caller.role.is_administrator() {
        Ok(())
    } else {
        Err(ApiError::bad_request("You do not have permission to change default channels."))
    }
}

/// Refuses callers who are not owners.
pub fn require_owner(caller: &Caller) -> ApiResult<()> {
    if caller.role == Role::Owner { Ok(()) } else { Err(ApiError::owners_only()) }
}

/// Whether the caller may subscribe others to a channel that they may read.
pub fn may_add_others(viewer: &Viewer<'_>, stream: &StreamRow) -> ApiResult<bool> {
    Ok(viewer.may_administer(stream)?
        || is_held(viewer, RealmGroup::CanAddSubscribers)?
        || viewer.has_permission(stream, StreamSetting::CanAddSubscribers)?)
}
