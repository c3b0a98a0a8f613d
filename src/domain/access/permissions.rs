//! Permissions of the caller in the organization and in its channels.

use crate::auth::Caller;
use crate::domain::access::channels::Viewer;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::groups::realm_settings;
use crate::domain::realm;
use crate::domain::rows::channel::StreamRow;
use crate::error::{ApiError, ApiResult};

/// True if the caller has a permission in the organization.
pub fn is_held(viewer: &Viewer<'_>, permission: RealmGroup) -> ApiResult<bool> {
    realm_settings::is_held(&viewer.ctx, viewer.ctx.caller, viewer.membership()?, permission)
}

/// Refuses a caller who does not have a permission in the organization.
pub fn require(viewer: &Viewer<'_>, permission: RealmGroup) -> ApiResult<()> {
    if is_held(viewer, permission)? { Ok(()) } else { Err(ApiError::insufficient_permission()) }
}

/// Refuses to make a channel web-public if the organization or the caller may not have web-public channels.
pub fn require_web_public(viewer: &Viewer<'_>) -> ApiResult<()> {
    if !realm::settings::ENABLE_SPECTATOR_ACCESS.get(&viewer.ctx)? {
        return Err(ApiError::bad_request("Web-public channels are not enabled."));
    }
    require(viewer, RealmGroup::CanCreateWebPublicChannel)
}

/// Checks that the caller may choose the default channels: administrators may.
pub fn require_default_channels(caller: &Caller) -> ApiResult<()> {
    if caller.role.is_administrator() {
        Ok(())
    } else {
        Err(ApiError::bad_request("You do not have permission to change default channels."))
    }
}

/// True if the caller may subscribe others to a channel that they may read.
pub fn may_add_others(viewer: &Viewer<'_>, stream: &StreamRow) -> ApiResult<bool> {
    Ok(viewer.may_administer(stream)?
        || is_held(viewer, RealmGroup::CanAddSubscribers)?
        || viewer.has_permission(stream, StreamSetting::CanAddSubscribers)?)
}
