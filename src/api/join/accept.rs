//! Accepting an invitation: creates the user with subscriptions, groups and an API key, in one job.

use crate::api::join::form::{FieldErrors, SignupForm, password_error};
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::invites::record::InviteRow;
use crate::domain::logins::known::LoginSource;
use crate::domain::sign_up::{NewPerson, Unusable, create_invited, find_invitation};
use crate::domain::{invites, keys, logins, realm};
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::Language;

/// The client of the new user's key in lists of keys.
const CLIENT: &str = "join page";

/// Data with which a new user connects a client.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The email to log in with.
    pub email: String,
    /// True if the user has a password.
    pub has_password: bool,
    /// The display name.
    pub full_name: String,
    /// The API key, which is shown only once.
    pub api_key: String,
    /// The secret of the session that begins in the browser, where there is a web client.
    pub session: Option<String>,
    /// The name of the organization.
    pub organization: String,
}

/// A form with errors.
pub struct InvalidForm {
    /// The invitation whose form it is.
    pub invite: InviteRow,
    /// The error messages beside the fields.
    pub errors: FieldErrors,
    /// True if people log in with passwords.
    pub has_passwords: bool,
}

/// The result of a submitted form.
pub enum AcceptResult {
    /// The user was created.
    Joined(Joined),
    /// The form has errors.
    Invalid(Box<InvalidForm>),
    /// The link does not work.
    Unusable(Unusable),
}

/// Creates the user with subscriptions, groups and a key, and sends the events and messages that follow. A session begins in
/// the browser that `browser` describes, if any. `language` is that of the page, and becomes that of the user. The hash is `None`
/// where people do not log in with passwords.
pub fn accept(
    tx: &mut Tx<'_>,
    form: &SignupForm,
    password_hash: Option<String>,
    domain: &str,
    browser: Option<&LoginSource>,
    language: Language,
) -> ApiResult<AcceptResult> {
    let invite = match find_invitation(tx, &form.key, tx.now())? {
        Ok(invite) => invite,
        Err(reason) => return Ok(AcceptResult::Unusable(reason)),
    };
    let has_passwords = realm::settings::PASSWORD_AUTH_ENABLED.get(tx)?;
    if !has_passwords && !invite.works_without_password() {
        return Ok(AcceptResult::Unusable(Unusable::Unknown));
    }
    let password_hash = password_hash.filter(|_| has_passwords);
    let mut errors = form.check(tx, &invite, has_passwords, language)?;
    if has_passwords && password_hash.is_none() {
        // Logins with passwords were turned on after the form was read: it is shown again with the field.
        errors.password = password_error("", language);
    }
    if !errors.is_empty() {
        return Ok(AcceptResult::Invalid(Box::new(InvalidForm { invite, errors, has_passwords })));
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
    let person = NewPerson {
        email: form.email_for(&invite).to_owned(),
        full_name: form.full_name.clone(),
        password_hash,
        language,
    };
    let user = create_invited(tx, &invite, person, domain)?;
    let session = browser.map(|source| logins::begin_session(tx, user.user_id, source)).transpose()?;
    Ok(AcceptResult::Joined(Joined {
        api_key: keys::mint(tx, user.user_id, CLIENT)?,
        session,
        has_password: has_passwords,
        email: user.delivery_email,
        full_name: user.full_name,
        organization: realm::settings::NAME.get(tx)?,
    }))
}
