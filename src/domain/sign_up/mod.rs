//! Creating the accounts of people who join: by the link of an invitation, or at a provider of OpenID Connect.

mod welcome;

use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::accounts::create::{NewUser, create_with_domain, create_without_channels};
use crate::domain::accounts::first_channel;
use crate::domain::audit::{Action, Entry};
use crate::domain::channel_commands::subscribe;
use crate::domain::groups::events::MembersChanged;
use crate::domain::groups::rules::Manager;
use crate::domain::invites::record::InviteRow;
use crate::domain::realm::user_ids;
use crate::domain::rows::channel::StreamRow;
use crate::domain::rows::user::UserRow;
use crate::domain::visibility::Scope;
use crate::domain::{channels, groups, invites, notices, realm, rows, user_settings, users, visibility};
use crate::error::{ApiResult, ok_unless_refused};
use crate::store::Tx;
use crate::types::{GroupId, Language, Role, UserId};
use rusqlite::Connection;
use serde_json::json;

/// A person who joins. The values have been checked.
pub struct NewPerson {
    /// The email to log in with.
    pub email: String,
    /// The display name.
    pub full_name: String,
    /// The argon2id hash of the password; `None` for people who log in at a provider.
    pub password_hash: Option<String>,
    /// The language of the page, which becomes that of the person.
    pub language: Language,
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
pub fn find_invitation(
    connection: &Connection,
    key: &str,
    now: i64,
) -> ApiResult<Result<InviteRow, Unusable>> {
    if realm::is_deactivated(connection)? {
        return Ok(Err(Unusable::Closed));
    }
    let Some(invite) = invites::load_by_key(connection, key)? else { return Ok(Err(Unusable::Unknown)) };
    if invite.is_for_owner() {
        let is_set_up = invite.is_revoked || users::can_anyone_log_in(connection)?;
        return Ok(if is_set_up { Err(Unusable::SetUp) } else { Ok(invite) });
    }
    Ok(if is_usable(connection, &invite, now)? { Ok(invite) } else { Err(Unusable::Unknown) })
}

/// True if an invitation is usable at `now`, and its inviter may still invite to its role, or people may sign up without one.
pub fn is_usable(connection: &Connection, invite: &InviteRow, now: i64) -> ApiResult<bool> {
    if !invite.is_usable(now) {
        return Ok(false);
    }
    if invite.is_sign_up() {
        return invites::sign_up::is_open(connection);
    }
    Ok(invites::rules::find_entitled_inviter(connection, invite, now)?.is_some())
}

/// Creates the account of an invited person with subscriptions and groups, and sends the events and messages that follow.
/// `domain` is that of dummy emails.
pub fn create_invited(
    tx: &mut Tx<'_>,
    invite: &InviteRow,
    person: NewPerson,
    domain: &str,
) -> ApiResult<UserRow> {
    first_channel::create_if_new(tx)?;
    let language = person.language;
    let user = create_without_channels(tx, &new_user(person, invite.invited_as), domain)?;
    set_language(tx, user.user_id, language)?;
    users::set_invited_by(tx, user.user_id, invite.invited_by_user_id)?;
    if invite.is_mailed {
        users::set_email_proven(tx, user.user_id, true)?;
    }
    let facts = json!({ "user_id": user.user_id, "invited_by": invite.invited_by_user_id });
    tx.audit(Entry::new(Action::InvitationAccepted, invite).by(user.user_id).after(facts))?;
    let streams = invited_channels(tx, invite, tx.now())?;
    if !streams.is_empty() {
        subscribe::subscribe_users(tx, &streams, &[user.user_id], &subscribe::Colors::new())?;
    }
    add_to_groups(tx, invite, user.user_id)?;
    invites::delete_for_email(tx, &user.delivery_email)?;
    if invite.invited_by_user_id.is_some() {
        invites::events::changed(tx, invite.invited_by_user_id)?;
    }
    welcome::notify_inviter(tx, invite, &user)?;
    if !invite.is_for_owner() {
        welcome::announce(tx, &user)?;
    }
    notices::welcome::greet(tx, &user, invite.welcome_message_custom_text.clone())?;
    Ok(user)
}

/// Creates the account of a member without an invitation, likewise.
pub fn create_uninvited(tx: &mut Tx<'_>, person: NewPerson, domain: &str) -> ApiResult<UserRow> {
    let language = person.language;
    let user = create_with_domain(tx, &new_user(person, Role::Member), domain)?;
    set_language(tx, user.user_id, language)?;
    welcome::announce(tx, &user)?;
    notices::welcome::greet(tx, &user, None)?;
    Ok(user)
}

fn new_user(person: NewPerson, role: Role) -> NewUser {
    let NewPerson { email, full_name, password_hash, .. } = person;
    NewUser { email, full_name, role, bot: None, password_hash }
}

fn set_language(tx: &mut Tx<'_>, user_id: UserId, language: Language) -> ApiResult<()> {
    if user_settings::language_of(tx, user_id)? != language {
        user_settings::set(tx, user_id, "default_language", &language.code().into())?;
    }
    Ok(())
}

/// Returns the active channels of an invitation to which the inviter may still add others, and the default channels if it
/// includes them.
fn invited_channels(connection: &Connection, invite: &InviteRow, now: i64) -> ApiResult<Vec<StreamRow>> {
    let inviter = invites::rules::find_entitled_inviter(connection, invite, now)?;
    let viewer = inviter.as_ref().map(|inviter| Viewer::new(Ctx::new(connection, inviter, now)));
    let mut streams = Vec::new();
    for stream_id in &invite.stream_ids {
        let Some((stream, viewer)) = rows::channel::by_id(connection, *stream_id)?.zip(viewer.as_ref())
        else {
            continue;
        };
        if viewer.can_read(&stream)? && invites::rules::may_add_to_channel(viewer, &stream)? {
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
