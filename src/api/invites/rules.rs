//! Who may invite whom to what.

use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::access::{channel_rows, permissions};
use crate::domain::channels::sql as channels;
use crate::domain::groups::permission::UserGroupSetting;
use crate::domain::groups::realm_settings::RealmGroup;
use crate::domain::groups::rules as groups;
use crate::domain::groups::rules::Manager;
use crate::domain::invites::record::{InviteRow, random_key};
use crate::domain::invites::sql;
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::{GroupId, Role, StreamId};
use rusqlite::Connection;
use serde::Deserialize;

/// Ten days: how long an invitation is good if nobody says otherwise, in minutes.
const VALIDITY_MINUTES: i64 = 14_400;

/// The longest welcome text, in characters.
pub const MAX_WELCOME_LENGTH: usize = 8000;

/// The parameters that both kinds of invitations have.
#[derive(Clone, Debug, Deserialize)]
pub struct InviteParams {
    /// In so many minutes it can no longer be used; null: never.
    #[serde(default = "validity")]
    pub invite_expires_in_minutes: Option<i64>,
    /// The role of who comes by it.
    #[serde(default = "member")]
    pub invite_as: Role,
    /// Groups to add them to.
    #[serde(default)]
    pub group_ids: Vec<GroupId>,
    /// Whether they begin in the default channels.
    #[serde(default)]
    pub include_realm_default_subscriptions: bool,
    /// What the welcome bot says to them. Null: the organization's text. Only for administrators.
    #[serde(default)]
    pub welcome_message_custom_text: Option<crate::http::params::BoundedText<MAX_WELCOME_LENGTH>>,
}

fn validity() -> Option<i64> {
    Some(VALIDITY_MINUTES)
}

fn member() -> Role {
    Role::Member
}

impl InviteParams {
    /// The welcome text. Texts are sent as they stand, so that `null` comes as that word.
    fn welcome_text(&self) -> Option<String> {
        let text = self.welcome_message_custom_text.clone()?.into_inner();
        (text != "null").then_some(text)
    }

    /// When it can no longer be used, UNIX seconds.
    fn expiry_date(&self, now: i64) -> ApiResult<Option<i64>> {
        match self.invite_expires_in_minutes {
            Some(..1) => Err(ApiError::bad_request("invite_expires_in_minutes is too small")),
            minutes => Ok(minutes.map(|minutes| now.saturating_add(minutes.saturating_mul(60)))),
        }
    }
}

/// Refuses those who manage no invitations at all.
pub fn require_person(caller: &Caller) -> ApiResult<()> {
    if caller.is_guest() {
        return Err(ApiError::bad_request("Not allowed for guest users"));
    }
    if caller.is_bot() {
        return Err(ApiError::bad_request("This endpoint does not accept bot requests."));
    }
    Ok(())
}

/// Refuses a caller who may not invite this way, or not to this role. Owners are invited by owners, moderators and
/// administrators by administrators.
pub fn require_inviter(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    permission: RealmGroup,
    invite_as: Role,
) -> ApiResult<()> {
    require_person(caller)?;
    permissions::require(&Viewer::new(Ctx::new(connection, caller, now)), permission)?;
    require_role(caller, invite_as, invite_as.is_moderator())
}

fn require_role(caller: &Caller, invited_as: Role, only_administrators: bool) -> ApiResult<()> {
    if invited_as == Role::Owner && caller.role != Role::Owner {
        return Err(ApiError::owners_only());
    }
    if only_administrators && !caller.role.is_administrator() {
        return Err(ApiError::bad_request("Must be an organization administrator"));
    }
    Ok(())
}

/// An invitation that the caller may manage: their own, and for administrators those of others. The first owner's link
/// is nobody's.
pub fn find(
    connection: &Connection,
    caller: &Caller,
    invite_id: i64,
    is_multiuse: bool,
) -> ApiResult<InviteRow> {
    require_person(caller)?;
    let invite = sql::by_id(connection, invite_id)?
        .filter(|invite| invite.is_multiuse() == is_multiuse && invite.invited_by_user_id.is_some())
        .ok_or_else(|| ApiError::bad_request("No such invitation"))?;
    if invite.invited_by_user_id != Some(caller.user_id) {
        require_role(caller, invite.invited_as, true)?;
    }
    Ok(invite)
}

/// Checks what is invited to, and makes the invitation of it, without an email and without an id.
pub fn invitation(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    params: &InviteParams,
    stream_ids: &[StreamId],
) -> ApiResult<InviteRow> {
    check_channels(connection, caller, now, stream_ids)?;
    for group_id in &params.group_ids {
        check_group(connection, caller, now, *group_id)?;
    }
    // Of others than administrators the text is null whatever they say, as specified.
    let welcome_message_custom_text = params.welcome_text().filter(|_| caller.role.is_administrator());
    Ok(InviteRow {
        invite_id: 0,
        key: random_key(),
        email: None,
        invited_by_user_id: Some(caller.user_id),
        invited: now,
        expiry_date: params.expiry_date(now)?,
        invited_as: params.invite_as,
        stream_ids: stream_ids.to_vec(),
        group_ids: params.group_ids.clone(),
        include_realm_default_subscriptions: params.include_realm_default_subscriptions,
        notify_referrer_on_join: true,
        welcome_message_custom_text,
        is_revoked: false,
    })
}

/// Channels that people are invited to: default channels, and those to which the caller may add others.
fn check_channels(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    stream_ids: &[StreamId],
) -> ApiResult<()> {
    let viewer = Viewer::new(Ctx::new(connection, caller, now));
    let mut streams = Vec::new();
    for stream_id in stream_ids {
        let mut readable = None;
        if let Some(stream) = channel_rows::by_id(connection, *stream_id)?
            && !stream.is_archived
            && viewer.can_read(&stream)?
        {
            readable = Some(stream);
        }
        let msg = || format!("Invalid channel ID {stream_id}. No invites were sent.");
        streams.push(readable.ok_or_else(|| ApiError::bad_request(msg()))?);
    }
    let defaults = channels::default_streams(connection)?;
    for stream in streams.iter().filter(|stream| !defaults.contains(&stream.stream_id)) {
        if !permissions::may_add_others(&viewer, stream)? {
            let msg = "You do not have permission to subscribe other users to channels.";
            return Err(ApiError::bad_request(msg));
        }
    }
    Ok(())
}

/// A group that people are invited to: one with a name, to which the caller may add others.
fn check_group(connection: &Connection, caller: &Caller, now: i64, group_id: GroupId) -> ApiResult<()> {
    let group = groups::find_active(connection, group_id)?;
    Manager::new(connection, caller, now)?.require(&group, &[UserGroupSetting::CanAddMembers])
}
