//! Accepting an invitation: creates the user with subscriptions, groups and an API key, in one job.

use crate::api::join::form::{FieldErrors, SignupForm};
use crate::api::join::welcome;
use crate::auth::Ctx;
use crate::domain::access::channel_rows;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::channels::Viewer;
use crate::domain::accounts::create::{NewUser, create_without_channels};
use crate::domain::accounts::first_channel;
use crate::domain::channels::sql as channels;
use crate::domain::groups::events::MembersChanged;
use crate::domain::groups::rules::Manager;
use crate::domain::groups::sql as groups;
use crate::domain::invites::record::InviteRow;
use crate::domain::invites::{events, rules, sql};
use crate::domain::logins::known::LoginSource;
use crate::domain::logins::sessions;
use crate::domain::membership::subscribe;
use crate::domain::realm::bot_domain;
use crate::domain::realm::user_ids;
use crate::domain::users::sql as users;
use crate::domain::visibility::Scope;
use crate::domain::{keys, logins, realm, visibility};
use crate::http::{ApiResult, Caller, allowed};
use crate::store::Tx;
use crate::types::{GroupId, UserId};
use rusqlite::Connection;

/// The client of the new user's key in lists of keys.
const CLIENT: &str = "join page";

/// What a new user needs to connect a client.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The new user.
    pub user_id: UserId,
    /// The welcome text of the invitation, if it has one of its own.
    pub welcome_text: Option<String>,
    /// The email to log in with.
    pub email: String,
    /// The display name.
    pub full_name: String,
    /// The API key, which is shown only once.
    pub api_key: String,
    /// The secret of the session that begins in the browser, where there is a web client.
    pub session: Option<String>,
    /// The name of the organization.
    pub organization: String,
}

/// The result of a submitted form.
pub enum AcceptResult {
    /// The user was created.
    Joined(Joined),
    /// The form has errors.
    Invalid(Box<(InviteRow, FieldErrors)>),
    /// The link does not work.
    Unusable(Unusable),
}

/// Why a link does not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It is unknown, expired or revoked, or its inviter may not invite to this role any more.
    Unknown,
    /// It is the link of the first owner, and somebody can log in already.
    SetUp,
    /// The organization is closed.
    Closed,
    /// As many people as may joined by invitations of its inviter in the last day.
    TooMany,
}

/// Loads the invitation of a link if it is usable at `now`. The link of the first owner works until anyone can log in.
pub fn find(connection: &Connection, key: &str, now: i64) -> ApiResult<Result<InviteRow, Unusable>> {
    if realm::is_deactivated(connection)? {
        return Ok(Err(Unusable::Closed));
    }
    let Some(invite) = sql::load_by_key(connection, key)? else { return Ok(Err(Unusable::Unknown)) };
    if invite.is_for_owner() {
        let is_set_up = invite.is_revoked || users::can_anyone_log_in(connection)?;
        return Ok(if is_set_up { Err(Unusable::SetUp) } else { Ok(invite) });
    }
    let works = invite.is_usable(now) && rules::find_entitled_inviter(connection, &invite, now)?.is_some();
    Ok(if works { Ok(invite) } else { Err(Unusable::Unknown) })
}

/// Creates the user with subscriptions, groups and a key, and sends the events and messages that follow. A session begins in
/// the browser that `browser` describes, if any.
pub fn accept(
    tx: &mut Tx<'_>,
    form: &SignupForm,
    password_hash: String,
    origin: &str,
    browser: Option<&LoginSource>,
) -> ApiResult<AcceptResult> {
    let invite = match find(tx, &form.key, tx.now())? {
        Ok(invite) => invite,
        Err(reason) => return Ok(AcceptResult::Unusable(reason)),
    };
    let errors = form.check(tx, &invite)?;
    if !errors.is_empty() {
        return Ok(AcceptResult::Invalid(Box::new((invite, errors))));
    }
    if rules::has_reached_daily_limit(tx, &invite, tx.now())? {
        return Ok(AcceptResult::Unusable(Unusable::TooMany));
    }
    if invite.is_for_owner() {
        realm::settings::set(tx, "name", &form.organization.trim().into())?;
        sql::set_revoked(tx, invite.invite_id)?;
        sql::delete_unused_owner_links(tx)?;
    }
    first_channel::create_if_new(tx)?;
    let new = NewUser {
        email: form.email_for(&invite).to_owned(),
        full_name: form.full_name.clone(),
        role: invite.invited_as,
        bot: None,
        password_hash: Some(password_hash),
    };
    let user = create_without_channels(tx, &new, &bot_domain(origin))?;
    users::set_invited_by(tx, user.user_id, invite.invited_by_user_id)?;
    let (invite_id, invited_by) = (invite.invite_id, invite.invited_by_user_id.map(|user_id| user_id.0));
    tracing::info!(user_id = user.user_id.0, %invite_id, invited_by, "an invitation was accepted");
    let streams = invited_channels(tx, &invite, tx.now())?;
    if !streams.is_empty() {
        subscribe::subscribe_users(tx, &streams, &[user.user_id], &subscribe::Colors::new())?;
    }
    add_to_groups(tx, &invite, user.user_id)?;
    sql::delete_for_email(tx, &user.delivery_email)?;
    if invite.invited_by_user_id.is_some() {
        events::changed(tx, invite.invited_by_user_id)?;
    }
    welcome::send(tx, &invite, &user)?;
    let session = match browser {
        Some(source) => {
            logins::record(tx, user.user_id, source)?;
            Some(sessions::begin(tx, user.user_id, source)?)
        }
        None => None,
    };
    Ok(AcceptResult::Joined(Joined {
        user_id: user.user_id,
        welcome_text: invite.welcome_message_custom_text,
        api_key: keys::mint(tx, user.user_id, CLIENT)?,
        session,
        email: user.delivery_email,
        full_name: user.full_name,
        organization: realm::settings::NAME.get(tx)?,
    }))
}

/// Returns the active channels of an invitation to which the inviter may still add others, and the default channels if it
/// includes them.
fn invited_channels(connection: &Connection, invite: &InviteRow, now: i64) -> ApiResult<Vec<StreamRow>> {
    let inviter = rules::find_entitled_inviter(connection, invite, now)?;
    let mut streams = Vec::new();
    for stream_id in &invite.stream_ids {
        let Some((stream, inviter)) = channel_rows::by_id(connection, *stream_id)?.zip(inviter.as_ref())
        else {
            continue;
        };
        let viewer = Viewer::new(Ctx::new(connection, inviter, now));
        if viewer.can_read(&stream)? && rules::may_add_to_channel(&viewer, &stream)? {
            streams.push(stream);
        }
    }
    if invite.include_realm_default_subscriptions {
        for stream_id in channels::default_streams(connection)? {
            streams.extend(channel_rows::by_id(connection, stream_id)?);
        }
    }
    streams.retain(|stream| !stream.is_archived);
    streams.sort_unstable_by_key(|stream| stream.stream_id);
    streams.dedup_by_key(|stream| stream.stream_id);
    Ok(streams)
}

/// Returns the groups that are active and to which the inviter may still add members.
fn usable_groups(
    connection: &Connection,
    inviter: &Caller,
    now: i64,
    group_ids: &[GroupId],
) -> ApiResult<Vec<GroupId>> {
    let manager = Manager::new(connection, inviter, now)?;
    let mut usable = Vec::new();
    for group_id in group_ids {
        if allowed(rules::check_group(connection, &manager, *group_id))?.is_some() {
            usable.push(*group_id);
        }
    }
    Ok(usable)
}

/// Adds the user to the active groups of an invitation to which the inviter may still add members.
fn add_to_groups(tx: &mut Tx<'_>, invite: &InviteRow, user_id: UserId) -> ApiResult<()> {
    let now = tx.now();
    let Some(inviter) = rules::find_entitled_inviter(tx, invite, now)? else { return Ok(()) };
    if invite.group_ids.is_empty() {
        return Ok(());
    }
    visibility::with_events(tx, Scope::Members(&[user_id]), |tx| {
        for group_id in usable_groups(tx, &inviter, now, &invite.group_ids)? {
            if groups::set_member(tx, group_id, user_id, true)? {
                let everyone = user_ids::everyone(tx)?;
                tx.emit(MembersChanged::new(true, group_id, &[user_id]), everyone);
            }
        }
        Ok(())
    })
}
