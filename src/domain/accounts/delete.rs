//! Deleting an account.

use crate::domain::accounts::{avatar, deactivation, handover};
use crate::domain::audit::{Action, Entry};
use crate::domain::channel_commands::unsubscribe;
use crate::domain::realm::DUMMY_DOMAIN;
use crate::domain::rows::user::UserRow;
use crate::domain::users::emails;
use crate::domain::users::events::{UserChange, UserUpdated};
use crate::domain::{access, audit, logins, mail, mail_addresses, rows, subscriptions, users};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::UserId;

/// The name under which the messages of a deleted user are shown.
pub fn name_of_deleted(user_id: UserId) -> String {
    format!("Deleted user {user_id}")
}

/// Deletes an account: name, email, avatar, time zone, password, keys, sessions, known places, identities at providers, addresses for mail, subscriptions, memberships of groups
/// and permissions. The row stays as the author of messages, files, channels and reactions, which stay too. Bots are deactivated before.
pub fn delete(tx: &mut Tx<'_>, user: &UserRow) -> ApiResult<()> {
    let user_id = user.user_id;
    tx.audit(Entry::new(Action::AccountDeleted, user_id))?;
    let mut streams = Vec::new();
    for own in subscriptions::list_active(tx, user_id)? {
        streams.extend(rows::channel::by_id(tx, own.stream_id)?);
    }
    unsubscribe::unsubscribe_users(tx, &streams, &[user_id])?;
    handover::leave_groups_unless(tx, user_id, |_, _| Ok(false))?;
    avatar::set(tx, user, None)?;
    let full_name = name_of_deleted(user_id);
    users::set_full_name(tx, user_id, &full_name)?;
    users::set_timezone(tx, user_id, "")?;
    let audience = access::users::audience(tx, user)?;
    tx.emit(UserUpdated::new(user_id, UserChange::FullName { full_name }), audience);
    emails::change(tx, user, &format!("deleteduser{user_id}@{DUMMY_DOMAIN}"))?;
    mail::outbox::withdraw_of_user(tx, user_id)?;
    mail::unsubscribe::forget(tx, user_id)?;
    logins::end_all(tx, user_id)?;
    logins::known::forget(tx, user_id)?;
    logins::identities::delete_all(tx, user_id)?;
    mail_addresses::forget_replies(tx, user_id)?;
    users::delete_password(tx, user_id)?;
    audit::forget_user(tx, user_id)?;
    if user.is_active { deactivation::deactivate(tx, user) } else { Ok(()) }
}
