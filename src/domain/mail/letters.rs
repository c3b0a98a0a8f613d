//! Emails about accounts and the server. Each does nothing where this server sends no mail.
//!
//! They are in the language of the reader's account. To people without one, who requested the email on a page, they are in the
//! language of the page.

use crate::domain::mail::letter::{Body, Kind, Letter};
use crate::domain::mail::{Setup, confirmation, queue, setup};
use crate::domain::realm::user_ids;
use crate::domain::rows::user::UserRow;
use crate::domain::user_settings::{ENABLE_LOGIN_EMAILS, language_of};
use crate::domain::{realm, rows, users};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{Language, UserId, fill};
use std::net::IpAddr;

/// Seconds after the creation of an account in which logins are not reported.
const NEW_ACCOUNT: i64 = 60;

/// The way emails go, and the name of the organization; `None` if this server sends no mail.
fn begin(tx: &Tx<'_>) -> ApiResult<Option<(Setup, String)>> {
    let Some(setup) = setup(tx)? else { return Ok(None) };
    Ok(Some((setup, realm::settings::NAME.get(tx)?)))
}

/// The name beside the sender's address of emails about the security of accounts.
fn security_of(language: Language, organization: &str) -> String {
    fill(language.t("{organization} account security"), &[("organization", organization)])
}

/// The language of an email that was requested on a page: that of the account with the address, or else of the page.
fn language_at(tx: &Tx<'_>, email: &str, of_page: Language) -> ApiResult<Language> {
    match users::by_delivery_email(tx, email)? {
        Some(user) => language_of(tx, user.user_id),
        None => Ok(of_page),
    }
}

/// Informs a person of their new account, however it was created.
pub fn account_created(tx: &mut Tx<'_>, user: &UserRow) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let language = language_of(tx, user.user_id)?;
    let names = [("organization", organization.as_str())];
    let body = Body::new()
        .paragraph(&fill(language.t("Welcome to {organization}. This is how you log in:"), &names))
        .facts(&[(language.t("Organization"), &setup.url), (language.t("Email"), &user.delivery_email)])
        .button(language.t("Open the chat"), &setup.url)
        .link(language.t("Help"), &format!("{}/help/", setup.url));
    let subject = fill(language.t("{organization}: Your new account details"), &names);
    queue(tx, Letter::to_user(Kind::AccountCreated, user, language, subject, body))
}

/// Informs a person of a login, unless the account is new or they do not want to know.
pub fn new_login(tx: &mut Tx<'_>, user_id: UserId, client: &str, address: IpAddr) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let Some(user) = rows::user::by_id(tx, user_id)? else { return Ok(()) };
    if user.is_bot() || tx.now() - user.date_joined < NEW_ACCOUNT || !ENABLE_LOGIN_EMAILS.get(tx, user_id)? {
        return Ok(());
    }
    let language = language_of(tx, user_id)?;
    let (time, address) = (local_time(tx.now(), &user.timezone), address.to_canonical().to_string());
    let advice = [
        language.t("If this was you, there is nothing to do."),
        language.t(
            "If this was not you, set a new password immediately, log out all other devices in your settings, and inform \
             an administrator.",
        ),
    ];
    let body = Body::new()
        .paragraph(language.t("There was a new login to your account."))
        .facts(&[
            (language.t("Organization"), &organization),
            (language.t("Email"), &user.delivery_email),
            (language.t("Time"), &time),
            (language.t("Client"), client),
            (language.t("IP address"), &address),
        ])
        .paragraph(&advice.join(language.between_sentences()))
        .link(language.t("Set a new password"), &format!("{}/accounts/password/reset/", setup.url))
        .small(language.t("To stop these emails, change your notification settings."));
    let subject = fill(language.t("New login from {client}"), &[("client", client)]);
    let letter = Letter::to_user(Kind::NewLogin, &user, language, subject, body);
    let now = tx.now();
    queue(tx, letter.from_name(security_of(language, &organization)).dated(now))
}

/// A time in the zone of a person.
fn local_time(seconds: i64, timezone: &str) -> String {
    let zone = jiff::tz::TimeZone::get(timezone).unwrap_or(jiff::tz::TimeZone::UTC);
    match jiff::Timestamp::from_second(seconds) {
        Ok(time) => time.to_zoned(zone).strftime("%Y-%m-%d %H:%M (%Z)").to_string(),
        Err(_) => String::new(),
    }
}

/// Sends a person the link that sets a new password: one that they asked for, or one from the operator.
pub fn password_reset(
    tx: &mut Tx<'_>,
    user: &UserRow,
    key: &str,
    expires: i64,
    is_requested: bool,
) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let language = language_of(tx, user.user_id)?;
    let names = [("organization", organization.as_str()), ("email", user.delivery_email.as_str())];
    let (kind, subject, text, note) = if is_requested {
        let advice = [
            language.t("If you did not request this, you can ignore this email."),
            language.t("Your password does not change."),
        ];
        (
            Kind::PasswordReset,
            reset_subject(language, &organization),
            language.t("You asked to set a new password for your account {email} in {organization}."),
            advice.join(language.between_sentences()),
        )
    } else {
        (
            Kind::PasswordLink,
            fill(language.t("Set a password for {organization}"), &names),
            language.t("Please set a password for your account {email} in {organization}."),
            language.t("The operator of the server sent you this email.").to_owned(),
        )
    };
    let body = Body::new()
        .paragraph(&fill(text, &names))
        .button(language.t("Set a new password"), &format!("{}/join/password/{key}/", setup.url))
        .paragraph(language.t("The link works once and expires after a day."))
        .small(&note);
    let letter = Letter::to_user(kind, user, language, subject, body);
    let letter = letter.about(about_password(user.user_id));
    queue(tx, letter.from_name(security_of(language, &organization)).expires(expires))
}

fn about_password(user_id: UserId) -> String {
    format!("password:{user_id}")
}

/// Drops the email with the link that sets the password of a user, if it waits: the link has ended.
pub fn withdraw_password_reset(tx: &Tx<'_>, user_id: UserId) -> rusqlite::Result<()> {
    super::withdraw(tx, &about_password(user_id))
}

fn reset_subject(language: Language, organization: &str) -> String {
    fill(language.t("Password reset request for {organization}"), &[("organization", organization)])
}

/// Answers a request for a new password of an address that has no active account.
pub fn no_password_to_reset(
    tx: &mut Tx<'_>,
    email: &str,
    is_deactivated: bool,
    of_page: Language,
) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let language = language_at(tx, email, of_page)?;
    let text = if is_deactivated {
        language.t(
            "You asked to set a new password, but your account in {organization} is deactivated. An administrator can \
             reactivate it.",
        )
    } else {
        language.t(
            "You asked to set a new password, but there is no account with this email address in {organization} ({url}).",
        )
    };
    let body = Body::new()
        .paragraph(&fill(text, &[("organization", &organization), ("url", &setup.url)]))
        .small(language.t("If you did not request this, you can ignore this email."));
    let subject = reset_subject(language, &organization);
    let letter = Letter::to_address(Kind::PasswordReset, email, language, subject, body);
    queue(tx, letter.from_name(security_of(language, &organization)))
}

/// Informs an address whether it has an account.
pub fn find_account(tx: &mut Tx<'_>, email: &str, has_account: bool, of_page: Language) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let language = language_at(tx, email, of_page)?;
    let names = [("organization", organization.as_str()), ("email", email), ("url", setup.url.as_str())];
    let (subject, body) = if has_account {
        let body = Body::new()
            .paragraph(&fill(language.t("There is an account for {email} in {organization}."), &names))
            .button(language.t("Log in"), &setup.url)
            .link(language.t("Set a new password"), &format!("{}/accounts/password/reset/", setup.url));
        (language.t("Your account in {organization}"), body)
    } else {
        let text = language.t(
            "There is no account for {email} in {organization} ({url}). You may have used another address.",
        );
        (language.t("No account found in {organization}"), Body::new().paragraph(&fill(text, &names)))
    };
    let body = body.small(language.t("If you did not request this, you can ignore this email."));
    queue(tx, Letter::to_address(Kind::FindAccount, email, language, fill(subject, &names), body))
}

/// Sends the link that proves a new address of a person, to that address.
pub fn confirm_email(
    tx: &mut Tx<'_>,
    user: &UserRow,
    new_email: &str,
    key: &str,
    expires: i64,
) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let language = language_of(tx, user.user_id)?;
    let request = fill(
        language.t(
            "You asked to change the email address of your account in {organization} from {old} to {new}.",
        ),
        &[("organization", &organization), ("old", &user.delivery_email), ("new", new_email)],
    );
    let url = format!("{}/accounts/confirm_new_email/{key}", setup.url);
    let body = Body::new()
        .paragraph(&request)
        .button(language.t("Confirm the new address"), &url)
        .paragraph(language.t("The link expires after a day."))
        .small(language.t("If you did not request this, do not confirm it, and inform an administrator."));
    let subject = fill(language.t("Verify your new email address for {host}"), &[("host", &setup.host())]);
    let letter = Letter::to_address(Kind::ConfirmEmail, new_email, language, subject, body);
    let letter = letter.named(&user.full_name).from_name(security_of(language, &organization));
    queue(tx, letter.about(confirmation::about(user.user_id)).expires(expires))
}

/// Informs a person at their former address that it was changed.
pub fn email_changed(tx: &mut Tx<'_>, user: &UserRow, new_email: &str) -> ApiResult<()> {
    let Some((_, organization)) = begin(tx)? else { return Ok(()) };
    let language = language_of(tx, user.user_id)?;
    let change = fill(
        language.t(
            "The email address of your account in {organization} was changed from {old} to {new}. Use the new address to \
             log in.",
        ),
        &[("organization", &organization), ("old", &user.delivery_email), ("new", new_email)],
    );
    let body = Body::new()
        .paragraph(&change)
        .paragraph(language.t("If this was not you, inform an administrator immediately."));
    let subject = fill(language.t("Email changed for {organization}"), &[("organization", &organization)]);
    let letter = Letter::to_user(Kind::EmailChanged, user, language, subject, body);
    queue(tx, letter.from_name(security_of(language, &organization)))
}

/// Informs a person that an administrator deactivated their account, with a comment that may be empty.
pub fn account_deactivated(tx: &mut Tx<'_>, user: &UserRow, comment: &str) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let language = language_of(tx, user.user_id)?;
    let text =
        language.t("Your account in {organization} at {host} was deactivated. You can no longer log in.");
    let mut body =
        Body::new().paragraph(&fill(text, &[("organization", &organization), ("host", &setup.host())]));
    if !comment.is_empty() {
        body = body.paragraph(language.t("An administrator wrote:")).paragraph(comment);
    }
    let subject = language.t("Notification of account deactivation on {organization}");
    let subject = fill(subject, &[("organization", &organization)]);
    // Not to the account, which is not active.
    let letter = Letter::to_address(Kind::AccountDeactivated, &user.delivery_email, language, subject, body);
    queue(tx, letter.named(&user.full_name))
}

/// The owners, who are people and active.
fn owners(tx: &Tx<'_>) -> ApiResult<Vec<UserRow>> {
    let ids = user_ids::owner_ids(tx)? - user_ids::bot_ids(tx)?;
    let rows = ids.iter().map(|id| rows::user::by_id(tx, UserId(id.into())));
    let found: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
    Ok(found.into_iter().flatten().filter(|owner| owner.is_active).collect())
}

/// Informs the owners that the organization was deactivated. `by` is the name of the person who did it, if it was one.
pub fn organization_deactivated(tx: &mut Tx<'_>, by: Option<&str>) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let host = setup.host();
    let (organization, name) = (organization.as_str(), by.unwrap_or_default());
    let names = [("organization", organization), ("host", host.as_str()), ("name", name)];
    for owner in owners(tx)? {
        let language = language_of(tx, owner.user_id)?;
        let event = match by {
            Some(_) => language.t("Your organization {organization} at {host} was deactivated by {name}."),
            None => language.t("Your organization {organization} at {host} was deactivated."),
        };
        let effect = language.t(
            "No one can log in. No data was deleted: the operator of the server can reactivate the organization.",
        );
        let body = Body::new()
            .paragraph(&[fill(event, &names), effect.to_owned()].join(language.between_sentences()));
        let subject = fill(language.t("Your organization {organization} has been deactivated"), &names);
        let letter = Letter::to_user(Kind::OrganizationDeactivated, &owner, language, subject, body);
        queue(tx, letter.from_name(security_of(language, organization)))?;
    }
    Ok(())
}

/// The text about a backup that failed, of the email and of the notice.
pub fn text_of_failed_backup(language: Language) -> &'static str {
    language.t(
        "The backup of this server failed: {error}. The server will try again, and send a message when a backup \
         succeeds. Until then, new data is not backed up.",
    )
}

/// Informs the owners that a backup failed.
pub fn backup_failed(tx: &mut Tx<'_>, error: &str) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    for owner in owners(tx)? {
        let language = language_of(tx, owner.user_id)?;
        let body = Body::new()
            .paragraph(&fill(text_of_failed_backup(language), &[("error", error)]))
            .link(language.t("Open the chat"), &setup.url);
        let subject =
            fill(language.t("The backup of {organization} failed"), &[("organization", &organization)]);
        queue(tx, Letter::to_user(Kind::BackupFailed, &owner, language, subject, body))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_those_of_the_person() {
        assert_eq!(super::local_time(1_790_000_000, "Europe/Berlin"), "2026-09-21 16:13 (CEST)");
        assert_eq!(super::local_time(1_790_000_000, ""), "2026-09-21 14:13 (UTC)");
    }
}
