//! A newcomer becomes a user: one job, with everything that belongs to it.

use crate::api::join::form::{FieldErrors, SignupForm, is_for_owner};
use crate::api::join::welcome;
use crate::domain::access::channel_rows;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::accounts::create::{NewUser, create_outside_channels};
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
use crate::domain::{keys, realm as domain_realm, visibility};
use crate::events::Audience;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::UserId;
use rusqlite::Connection;

/// What the key of the new user is called in the list of keys.
const CLIENT: &str = "join page";

/// A new user, and what they need to connect a client.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The email to log in with.
    pub email: String,
    /// The name shown.
    pub full_name: String,
    /// A key, shown this once.
    pub api_key: String,
    /// What they joined.
    pub organization: String,
}

/// What became of a submitted form.
pub enum Accepted {
    /// There is a new user.
    Joined(Joined),
    /// Something was wrong.
    Invalid(Box<(InviteRow, FieldErrors)>),
    /// The link does not work any more.
    NoSuchInvite,
}

/// The invitation of a link that somebody may use now. That of the first owner works until somebody can log in.
pub fn find(connection: &Connection, key: &str, now: i64) -> ApiResult<Option<InviteRow>> {
    let invite = sql::by_key(connection, key)?.filter(|invite| invite.is_open(now));
    Ok(match invite {
        Some(invite) if is_for_owner(&invite) && users::somebody_can_log_in(connection)? => None,
        found => found,
    })
}

/// Makes the user, with channels, groups and a key, and tells whom it concerns.
pub fn accept(
    tx: &mut Tx<'_>,
    form: &SignupForm,
    password_hash: String,
    origin: &str,
) -> ApiResult<Accepted> {
    let Some(invite) = find(tx, &form.key, tx.now())? else { return Ok(Accepted::NoSuchInvite) };
    let errors = form.check(tx, &invite)?;
    if !errors.is_empty() {
        return Ok(Accepted::Invalid(Box::new((invite, errors))));
    }
    if is_for_owner(&invite) {
        domain_realm::settings::set(tx, "name", &form.organization.trim().into())?;
        sql::delete_owner_links(tx)?;
    }
    let new = NewUser {
        email: form.email_for(&invite).to_owned(),
        full_name: form.full_name.clone(),
        role: invite.invited_as,
        bot: None,
        password_hash: Some(password_hash),
    };
    let user = create_outside_channels(tx, &new, &bot_domain(origin))?;
    let streams = channels_of(tx, &invite)?;
    if !streams.is_empty() {
        subscribe::subscribe(tx, &streams, &[user.user_id], &subscribe::Colors::new())?;
    }
    add_to_groups(tx, &invite, user.user_id)?;
    sql::delete_for(tx, &user.delivery_email)?;
    if invite.invited_by_user_id.is_some() {
        events::changed(tx, invite.invited_by_user_id)?;
    }
    welcome::say(tx, &invite, &user)?;
    Ok(Accepted::Joined(Joined {
        api_key: keys::mint(tx, user.user_id, CLIENT)?,
        email: user.delivery_email,
        full_name: user.full_name,
        organization: domain_realm::settings::NAME.get(tx)?,
    }))
}

/// The channels of an invitation that are still in use, with the default ones if it includes them.
fn channels_of(connection: &Connection, invite: &InviteRow) -> ApiResult<Vec<StreamRow>> {
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

/// Groups that are no longer in use are left out. Some channels may be seen by a group.
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
