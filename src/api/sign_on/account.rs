//! The account of an identity: that of the person who used it before, or else that of the email; and new accounts.

use crate::domain::allowed_domains::check_may_join;
use crate::domain::invites::record::InviteRow;
use crate::domain::logins::identities;
use crate::domain::rows::user::UserRow;
use crate::domain::sign_up::{NewPerson, create_invited, create_uninvited, find_invitation, is_usable};
use crate::domain::users::{emails, names};
use crate::domain::{invites, realm, rows, users};
use crate::http::{ApiResult, ok_unless_refused};
use crate::oidc::Identity;
use crate::store::Tx;
use crate::types::{Language, without_forbidden};
use rusqlite::Connection;

/// The most characters of a name.
const MAX_NAME: usize = 100;

/// Number of endings that are tried to make a name unique.
const ENDINGS: usize = 100;

/// The result of looking up the account for an identity of a provider.
pub enum Found {
    /// This one, which may be deactivated. The identity is new to it if the second value is true.
    Account(Box<UserRow>, bool),
    /// None. The email belongs to no account.
    None,
    /// None. The email belongs to the account of another identity, or to a bot.
    Taken,
}

/// Finds the account by issuer and subject, or else by the email.
pub fn find(connection: &Connection, identity: &Identity) -> ApiResult<Found> {
    if let Some(user_id) = identities::user_of(connection, &identity.issuer, &identity.subject)?
        && let Some(user) = rows::user::by_id(connection, user_id)?
    {
        return Ok(Found::Account(Box::new(user), false));
    }
    // Two letters can have the same lower case, such as K and the Kelvin sign: then it is the mailbox of someone else. Their upper
    // case differs.
    let upper = identity.email.to_uppercase();
    let is_same = |user: &UserRow| user.delivery_email.to_uppercase() == upper;
    let Some(user) = users::by_delivery_email(connection, &identity.email)?.filter(is_same) else {
        return Ok(Found::None);
    };
    let is_taken = user.is_bot()
        || user.is_system_bot
        || identities::has_one(connection, user.user_id, &identity.issuer)?;
    Ok(if is_taken { Found::Taken } else { Found::Account(Box::new(user), true) })
}

/// Why there is no new account.
pub enum Refusal {
    /// It needs an invitation.
    NotInvited,
    /// The email may not join, for this reason.
    Email(String),
    /// As many people as may joined by invitations of the inviter in the last day.
    TooMany,
}

/// The environment of new accounts.
pub struct SignUp<'a> {
    /// The secret part of an invitation link.
    pub invitation: Option<&'a str>,
    /// True if the provider's people get accounts.
    pub auto_create: bool,
    /// The domain of dummy emails.
    pub domain: &'a str,
    /// The language of the person.
    pub language: Language,
}

/// Creates an account, if an invitation link or the provider allows it. An invitation for the email is used for the role, channels
/// and groups.
pub fn create(
    tx: &mut Tx<'_>,
    identity: &Identity,
    sign_up: &SignUp<'_>,
) -> ApiResult<Result<UserRow, Refusal>> {
    // The first account is that of an owner, by the link that the program prints.
    if !users::can_anyone_log_in(tx)? {
        return Ok(Err(Refusal::NotInvited));
    }
    let by_link = invitation_of_link(tx, identity, sign_up.invitation)?;
    let is_open = sign_up.auto_create && !realm::settings::INVITE_REQUIRED.get(tx)?;
    let invite = match by_link {
        Some(invite) => Some(invite),
        None if is_open => {
            let invite = invites::load_by_email(tx, &identity.email, tx.now())?;
            match invite {
                Some(invite) if is_usable(tx, &invite, tx.now())? => Some(invite),
                _ => None,
            }
        }
        None => return Ok(Err(Refusal::NotInvited)),
    };
    let email = &identity.email;
    if !names::is_new_email(email) || emails::is_taken(tx, email)? {
        let reason = sign_up.language.t("Enter a valid email address.");
        return Ok(Err(Refusal::Email(reason.to_owned())));
    }
    if let Err(refusal) = check_may_join(tx, email)? {
        return Ok(Err(Refusal::Email(refusal.reason_for_new_user(sign_up.language, email))));
    }
    let full_name = find_name(tx, &identity.names)?;
    let person =
        NewPerson { email: email.clone(), full_name, password_hash: None, language: sign_up.language };
    let Some(invite) = invite else {
        return create_uninvited(tx, person, sign_up.domain).map(Ok);
    };
    if invites::rules::has_reached_daily_limit(tx, &invite, tx.now())? {
        return Ok(Err(Refusal::TooMany));
    }
    create_invited(tx, &invite, person, sign_up.domain).map(Ok)
}

/// The invitation of a link, if it is usable by this person.
fn invitation_of_link(
    connection: &Tx<'_>,
    identity: &Identity,
    key: Option<&str>,
) -> ApiResult<Option<InviteRow>> {
    let Some(key) = key else { return Ok(None) };
    let invite = find_invitation(connection, key, connection.now())?.ok();
    let is_theirs = |invite: &InviteRow| {
        let is_for_another =
            invite.email.as_ref().is_some_and(|email| email.to_lowercase() != identity.email.to_lowercase());
        !invite.is_for_owner() && !is_for_another
    };
    Ok(invite.filter(is_theirs))
}

/// The first of some names that can be the name of an account. Characters that it cannot have are left out, and a name that is in
/// use gets a number.
fn find_name(connection: &Connection, wanted: &[String]) -> ApiResult<String> {
    let cleaned = wanted.iter().map(|name| clean(name)).chain(["User".to_owned()]);
    for name in cleaned.filter(|name| !name.is_empty()) {
        let numbered = (2..ENDINGS).map(|number| format!("{name} {number}"));
        for candidate in std::iter::once(name.clone()).chain(numbered) {
            let checked = names::check_full_name(&candidate)
                .and_then(|name| names::check_available(connection, &name, None).map(|()| name));
            if let Some(name) = ok_unless_refused(checked)? {
                return Ok(name);
            }
        }
    }
    Ok("User".to_owned())
}

/// A name without the characters that names cannot have.
fn clean(name: &str) -> String {
    let plain: String =
        without_forbidden(name).chars().map(|c| if "*`\\>\"@|".contains(c) { ' ' } else { c }).collect();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = words.chars().take(MAX_NAME - 4).collect();
    cut.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_providers_become_names_of_accounts() {
        for (name, expected) in [
            ("Ada Lovelace", "Ada Lovelace"),
            ("  Ada\tL.  ", "Ada L."),
            ("Ada **Lovelace**", "Ada Lovelace"),
            ("ada@example.com", "ada example.com"),
            ("Ada|7", "Ada 7"),
            ("\u{202e}\n", ""),
        ] {
            assert_eq!(clean(name), expected, "{name:?}");
        }
        assert_eq!(clean(&"x".repeat(300)).len(), MAX_NAME - 4);
    }
}
