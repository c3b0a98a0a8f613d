//! Accepting an invitation: creates the user with subscriptions, groups and an API key, in one job.

use crate::api::join::form::{FieldErrors, SignupForm};
use crate::api::join::welcome;
use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::accounts::create::{NewUser, create_without_channels};
use crate::domain::accounts::first_channel;
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::channel_commands::subscribe;
use crate::domain::groups::events::MembersChanged;
use crate::domain::groups::rules::Manager;
use crate::domain::invites::record::InviteRow;
use crate::domain::logins::known::LoginSource;
use crate::domain::logins::sessions;
use crate::domain::realm::user_ids;
use crate::domain::rows::channel::StreamRow;
use crate::domain::visibility::Scope;
use crate::domain::{
    channels, groups, invites, keys, logins, notices, realm, rows, user_settings, users, visibility,
};
use crate::http::{ApiResult, ok_unless_refused};
use crate::store::Tx;
use crate::types::{GroupId, Language, UserId};
use rusqlite::Connection;
use serde_json::json;

/// The client of the new user's key in lists of keys.
const CLIENT: &str = "join page";

/// Data with which a new user connects a client.
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
    /// The link of the first owner is used, but an owner exists already.
    SetUp,
    /// The organization is closed.
    Closed,
    /// As many people as may joined by invitations of its inviter in the last day.
    TooMany,
}

/// Loads the invitation of a link if it is usable at `now`. The link of the first owner works until a user can log in.
pub fn find(connection: &Connection, key: &str, now: i64) -> ApiResult<Result<InviteRow, Unusable>> {
    if realm::is_deactivated(connection)? {
        return Ok(Err(Unusable::Closed));
    }
    let Some(invite) = invites::load_by_key(connection, key)? else { return Ok(Err(Unusable::Unknown)) };
    if invite.is_for_owner() {
        let is_set_up = invite.is_revoked || users::can_anyone_log_in(connection)?;
        return Ok(if is_set_up { Err(Unusable::SetUp) } else { Ok(invite) });
    }
    let works =
        invite.is_usable(now) && invites::rules::find_entitled_inviter(connection, &invite, now)?.is_some();
    Ok(if works { Ok(invite) } else { Err(Unusable::Unknown) })
}

/// Creates the user with subscriptions, groups and a key, and sends the events and messages that follow. A session begins in
/// the browser that `browser` describes, if any. `language` is that of the page, and becomes that of the user.
pub fn accept(
    tx: &mut Tx<'_>,
    form: &SignupForm,
    password_hash: String,
    domain: &str,
    browser: Option<&LoginSource>,
    language: Language,
) -> ApiResult<AcceptResult> {
    let invite = match find(tx, &form.key, tx.now())? {
        Ok(invite) => invite,
        Err(reason) => return Ok(AcceptResult::Unusable(reason)),
    };
    let errors = form.check(tx, &invite, language)?;
    if !errors.is_empty() {
        return Ok(AcceptResult::Invalid(Box::new((invite, errors))));
    }
    if invites::rules::has_reached_daily_limit(tx, &invite, tx.now())? {
        return Ok(AcceptResult::Unusable(Unusable::TooMany));
    }
    if invite.is_for_owner() {
        realm::settings::set(tx, "name", &form.organization.trim().into())?;
        let named = Entry::new(Action::SettingChanged, Subject::setting("name"));
        tx.audit(named.after(form.organization.trim()))?;
        invites::set_revoked(tx, invite.invite_id)?;
        invites::delete_unused_owner_links(tx)?;
    }
    first_channel::create_if_new(tx)?;
    let new = NewUser {
        email: form.email_for(&invite).to_owned(),
        full_name: form.full_name.clone(),
        role: invite.invited_as,
        bot: None,
        password_hash: Some(password_hash),
    };
    let user = create_without_channels(tx, &new, domain)?;
    if notices::language_of(tx, user.user_id)? != language {
        user_settings::set(tx, user.user_id, "default_language", &language.code().into())?;
    }
    users::set_invited_by(tx, user.user_id, invite.invited_by_user_id)?;
    let facts = json!({ "user_id": user.user_id, "invited_by": invite.invited_by_user_id });
    tx.audit(Entry::new(Action::InvitationAccepted, &invite).by(user.user_id).after(facts))?;
    let streams = invited_channels(tx, &invite, tx.now())?;
    if !streams.is_empty() {
        subscribe::subscribe_users(tx, &streams, &[user.user_id], &subscribe::Colors::new())?;
    }
    add_to_groups(tx, &invite, user.user_id)?;
    invites::delete_for_email(tx, &user.delivery_email)?;
    if invite.invited_by_user_id.is_some() {
        invites::events::changed(tx, invite.invited_by_user_id)?;
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
    let inviter = invites::rules::find_entitled_inviter(connection, invite, now)?;
    let mut streams = Vec::new();
    for stream_id in &invite.stream_ids {
        let Some((stream, inviter)) = rows::channel::by_id(connection, *stream_id)?.zip(inviter.as_ref())
        else {
            continue;
        };
        let viewer = Viewer::new(Ctx::new(connection, inviter, now));
        if viewer.can_read(&stream)? && invites::rules::may_add_to_channel(&viewer, &stream)? {
            streams.push(stream);
        }
    }
    if invite.include_realm_default_subscriptions {
        for stream_id in channels::default_streams(connection)? {
            streams.extend(rows::channel::by_id(connection, stream_id)?);
        }
    }
    streams.retain(|stream| !stream.is_archived);
    streams.sort_unstable_by_key(|stream| stream.stream_id);
    streams.dedup_by_key(|stream| stream.stream_id);
    Ok(streams)
}

/// Returns the groups that are active and to which the inviter may still add members.
fn usable_groups(ctx: Ctx<'_>, group_ids: &[GroupId]) -> ApiResult<Vec<GroupId>> {
    let manager = Manager::new(ctx)?;
    let mut usable = Vec::new();
    for group_id in group_ids {
        if ok_unless_refused(invites::rules::check_group(&ctx, &manager, *group_id))?.is_some() {
            usable.push(*group_id);
        }
    }
    Ok(usable)
}

/// Adds the user to the active groups of an invitation to which the inviter may still add members.
fn add_to_groups(tx: &mut Tx<'_>, invite: &InviteRow, user_id: UserId) -> ApiResult<()> {
    let now = tx.now();
    let Some(inviter) = invites::rules::find_entitled_inviter(tx, invite, now)? else { return Ok(()) };
    if invite.group_ids.is_empty() {
        return Ok(());
    }
    visibility::with_events(tx, Scope::Members(&[user_id]), |tx| {
        for group_id in usable_groups(tx.ctx(&inviter), &invite.group_ids)? {
            if groups::set_member(tx, group_id, user_id, true)? {
                let everyone = user_ids::everyone(tx)?;
                tx.emit(MembersChanged::new(true, group_id, &[user_id]), everyone);
            }
        }
        Ok(())
    })
}
