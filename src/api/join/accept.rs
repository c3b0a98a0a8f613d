//! Accepting an invitation: creates the user with subscriptions, groups and an API key, in one job.

use crate::api::join::form::{FieldErrors, SignupForm, is_for_owner};
use crate::api::join::welcome;
use crate::domain::access::channel_rows;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::accounts::create::{NewUser, create_without_channels};
use crate::domain::channels::sql as channels;
use crate::domain::groups::events::MembersChanged;
use crate::domain::groups::sql as groups;
use crate::domain::invites::record::InviteRow;
use crate::domain::invites::{events, sql};
use crate::domain::membership::subscribe;
use crate::domain::realm::bot_domain;
use crate::domain::realm::user_ids;
use crate::domain::users::sql as users;
use crate::domain::visibility::Scope;
use crate::domain::{keys, realm, visibility};
use crate::events::Audience;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::UserId;
use rusqlite::Connection;

/// The client of the new user's key in lists of keys.
const CLIENT: &str = "join page";

/// What a new user needs to connect a client.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The email to log in with.
    pub email: String,
    /// The display name.
    pub full_name: String,
    /// The API key, which is shown only once.
    pub api_key: String,
    /// The name of the organization.
    pub organization: String,
}

/// The result of a submitted form.
pub enum AcceptResult {
    /// The user was created.
    Joined(Joined),
    /// The form has errors.
    Invalid(Box<(InviteRow, FieldErrors)>),
    /// The link is unknown, expired or revoked.
    NoSuchInvite,
}

/// Loads the invitation of a link if it is usable at `now`. The link of the first owner works until anyone can log in.
pub fn find(connection: &Connection, key: &str, now: i64) -> ApiResult<Option<InviteRow>> {
    let invite = sql::load_by_key(connection, key)?.filter(|invite| invite.is_usable(now));
    Ok(match invite {
        Some(invite) if is_for_owner(&invite) && users::can_anyone_log_in(connection)? => None,
        found => found,
    })
}

/// Creates the user with subscriptions, groups and a key, and sends the events and messages that follow.
pub fn accept(
    tx: &mut Tx<'_>,
    form: &SignupForm,
    password_hash: String,
    origin: &str,
) -> ApiResult<AcceptResult> {
    let Some(invite) = find(tx, &form.key, tx.now())? else { return Ok(AcceptResult::NoSuchInvite) };
    let errors = form.check(tx, &invite)?;
    if !errors.is_empty() {
        return Ok(AcceptResult::Invalid(Box::new((invite, errors))));
    }
    if is_for_owner(&invite) {
        realm::settings::set(tx, "name", &form.organization.trim().into())?;
        sql::delete_owner_links(tx)?;
    }
    let new = NewUser {
        email: form.email_for(&invite).to_owned(),
        full_name: form.full_name.clone(),
        role: invite.invited_as,
        bot: None,
        password_hash: Some(password_hash),
    };
    let user = create_without_channels(tx, &new, &bot_domain(origin))?;
    let streams = invited_channels(tx, &invite)?;
    if !streams.is_empty() {
        subscribe::subscribe_users(tx, &streams, &[user.user_id], &subscribe::Colors::new())?;
    }
    add_to_groups(tx, &invite, user.user_id)?;
    sql::delete_for_email(tx, &user.delivery_email)?;
    if invite.invited_by_user_id.is_some() {
        events::changed(tx, invite.invited_by_user_id)?;
    }
    welcome::send(tx, &invite, &user)?;
    Ok(AcceptResult::Joined(Joined {
        api_key: keys::mint(tx, user.user_id, CLIENT)?,
        email: user.delivery_email,
        full_name: user.full_name,
        organization: realm::settings::NAME.get(tx)?,
    }))
}

/// Returns the active channels of an invitation, and the default channels if it includes them.
fn invited_channels(connection: &Connection, invite: &InviteRow) -> ApiResult<Vec<StreamRow>> {
    let mut ids = invite.stream_ids.clone();
    if invite.include_realm_default_subscriptions {
        ids.extend(channels::default_streams(connection)?);
    }
    ids.sort_unstable();
    ids.dedup();
    let mut streams = Vec::new();
    for stream_id in ids {
        streams.extend(channel_rows::by_id(connection, stream_id)?.filter(|stream| !stream.is_archived));
    }
    Ok(streams)
}

/// Adds the user to the active groups of an invitation.
fn add_to_groups(tx: &mut Tx<'_>, invite: &InviteRow, user_id: UserId) -> ApiResult<()> {
    if invite.group_ids.is_empty() {
        return Ok(());
    }
    visibility::with_events(tx, Scope::Members(&[user_id]), |tx| {
        for group_id in &invite.group_ids {
            let is_usable = groups::group(tx, *group_id)?.is_some_and(|group| !group.deactivated);
            if is_usable && groups::set_member(tx, *group_id, user_id, true)? {
                let everyone = Audience::set(user_ids::active_ids(tx)?);
                tx.emit(MembersChanged::new(true, *group_id, &[user_id]), everyone);
            }
        }
        Ok(())
    })
}
