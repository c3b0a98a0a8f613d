//! The parameters of new invitations, and checks of their channels and groups.

use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::groups::rules::Manager;
use crate::domain::invites::record::InviteRow;
use crate::domain::limits::{
    AccountSet, Accounts, MAX_CHANNELS_PER_REQUEST, MAX_GROUPS_OF_INVITE, MAX_INVITES,
};
use crate::domain::realm::settings::MAX_WELCOME_MESSAGE_LENGTH;
use crate::domain::{invites, limits, rows};
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::{GroupId, LAST_SECOND, Role, StreamId, distinct};
use rusqlite::Connection;
use serde::Deserialize;

/// The default validity of an invitation: ten days.
const DEFAULT_VALIDITY_MINUTES: i64 = 14_400;

/// The parameters that reusable links and email invitations share.
#[derive(Clone, Debug, Deserialize)]
pub struct InviteParams {
    /// Minutes until the invitation expires, at least 1; null for never. 14400, ten days, by default.
    #[serde(default = "default_validity")]
    pub invite_expires_in_minutes: Option<i64>,
    /// The role of the new users: 100 for owners, 200 for administrators, 300 for moderators, 400 for members, 600 for
    /// guests. 400 by default. It must not have more permissions than the caller's role.
    #[serde(default = "default_role")]
    pub invite_as: Role,
    /// The ids of the groups to which the new users are added, at most 100; by default none. The caller must be able to
    /// add members to them.
    #[serde(default)]
    pub group_ids: Vec<GroupId>,
    /// True to subscribe the new users to the default channels. False by default.
    #[serde(default)]
    pub include_realm_default_subscriptions: bool,
    /// The custom text of the welcome message in Markdown, at most 8000 characters; empty for no text, null for the
    /// organization's. Ignored unless the caller is an administrator.
    pub welcome_message_custom_text: Option<BoundedText<MAX_WELCOME_MESSAGE_LENGTH>>,
}

fn default_validity() -> Option<i64> {
    Some(DEFAULT_VALIDITY_MINUTES)
}

fn default_role() -> Role {
    Role::Member
}

impl InviteParams {
    /// Returns the welcome text. String parameters are not JSON, so `null` arrives as that word.
    fn welcome_text(&self) -> Option<String> {
        let text = self.welcome_message_custom_text.clone()?.into_inner();
        (text != "null").then_some(text)
    }

    /// Returns when the invitation expires, in UNIX seconds.
    fn expiry_date(&self, now: i64) -> ApiResult<Option<i64>> {
        let Some(minutes) = self.invite_expires_in_minutes else { return Ok(None) };
        match now.saturating_add(minutes.saturating_mul(60)) {
            _ if minutes < 1 => Err(ApiError::bad_request("invite_expires_in_minutes is too small")),
            date if date > LAST_SECOND => {
                Err(ApiError::bad_request("invite_expires_in_minutes is too large"))
            }
            date => Ok(Some(date)),
        }
    }
}

/// Loads a reusable link that the caller may manage: their own, or anyone's for administrators. The link of the first
/// owner cannot be managed.
pub fn find_link(connection: &Connection, caller: &Caller, invite_id: i64) -> ApiResult<InviteRow> {
    find(connection, caller, invite_id, InviteRow::is_multiuse)
}

/// Loads an email invitation that the caller may manage: their own, or anyone's for administrators.
pub fn find_email_invite(connection: &Connection, caller: &Caller, invite_id: i64) -> ApiResult<InviteRow> {
    find(connection, caller, invite_id, |invite| !invite.is_multiuse())
}

fn find(
    connection: &Connection,
    caller: &Caller,
    invite_id: i64,
    is_of_kind: fn(&InviteRow) -> bool,
) -> ApiResult<InviteRow> {
    caller.check_is_member()?;
    let invite = invites::load(connection, invite_id)?
        .filter(|invite| is_of_kind(invite) && invite.invited_by_user_id.is_some())
        .ok_or_else(|| ApiError::bad_request("No such invitation"))?;
    if invite.invited_by_user_id != Some(caller.user_id) {
        invites::rules::check_may_manage(caller, invite.invited_as)?;
    }
    Ok(invite)
}

/// Checks the channels and groups of an invitation, and that the caller may have `count` more. Returns a new one, without
/// email and with id 0.
pub fn new_invite(
    ctx: Ctx<'_>,
    params: &InviteParams,
    stream_ids: &[StreamId],
    count: usize,
) -> ApiResult<InviteRow> {
    ctx.caller.check_is_member()?;
    let stream_ids = distinct(stream_ids.to_vec());
    limits::check("channels in one request", stream_ids.len(), MAX_CHANNELS_PER_REQUEST)?;
    let group_ids = distinct(params.group_ids.clone());
    limits::check("groups in one request", group_ids.len(), MAX_GROUPS_OF_INVITE)?;
    let accounts = Accounts::of(&ctx, ctx.caller.user_id, ctx.now)?;
    let with_new =
        |accounts: &AccountSet| Ok(invites::count_usable(&ctx, accounts.list(), ctx.now)? as usize + count);
    if !accounts.are_within(MAX_INVITES, with_new)? {
        let msg = format!("You have too many invitations (limit: {MAX_INVITES}). Revoke some of them first.");
        return Err(ApiError::bad_request(msg));
    }
    check_channels(ctx, &stream_ids)?;
    if !group_ids.is_empty() {
        let manager = Manager::new(ctx)?;
        group_ids.iter().try_for_each(|group_id| invites::rules::check_group(&ctx, &manager, *group_id))?;
    }
    // Ignored for callers who are not administrators, as specified.
    let welcome_message_custom_text = params.welcome_text().filter(|_| ctx.caller.role.is_administrator());
    Ok(InviteRow {
        invited_by_user_id: Some(ctx.caller.user_id),
        expiry_date: params.expiry_date(ctx.now)?,
        stream_ids,
        group_ids,
        include_realm_default_subscriptions: params.include_realm_default_subscriptions,
        notify_referrer_on_join: true,
        welcome_message_custom_text,
        ..InviteRow::new(params.invite_as, ctx.now)
    })
}

/// Checks that each channel is a default channel or one that the caller may subscribe others to.
fn check_channels(ctx: Ctx<'_>, stream_ids: &[StreamId]) -> ApiResult<()> {
    let viewer = Viewer::new(ctx);
    let mut may_add = true;
    for stream_id in stream_ids {
        let mut readable = None;
        if let Some(stream) = rows::channel::by_id(&ctx, *stream_id)?
            && !stream.is_archived
            && viewer.can_read(&stream)?
        {
            readable = Some(stream);
        }
        let msg = || format!("Invalid channel ID {stream_id}. No invites were sent.");
        let stream = readable.ok_or_else(|| ApiError::bad_request(msg()))?;
        // An unreadable channel is reported before one to which the inviter may not add users, regardless of their
        // order.
        may_add = may_add && invites::rules::may_add_to_channel(&viewer, &stream)?;
    }
    if !may_add {
        let msg = "You do not have permission to subscribe other users to channels.";
        return Err(ApiError::bad_request(msg));
    }
    Ok(())
}
