//! Emails about accounts and the server. Each does nothing where this server sends no mail.

use crate::domain::mail::letter::{Body, Kind, Letter};
use crate::domain::mail::{Setup, queue, setup};
use crate::domain::realm;
use crate::domain::realm::user_ids;
use crate::domain::rows;
use crate::domain::rows::user::UserRow;
use crate::domain::user_settings;
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{Language, UserId};
use std::net::IpAddr;

/// Seconds after the creation of an account in which logins are not reported.
const NEW_ACCOUNT: i64 = 60;

/// The way emails go, and the name of the organization; `None` if this server sends no mail.
fn begin(tx: &Tx<'_>) -> ApiResult<Option<(Setup, String)>> {
    let Some(setup) = setup(tx)? else { return Ok(None) };
    Ok(Some((setup, realm::settings::NAME.get(tx)?)))
}

/// The name beside the sender's address of emails about the security of accounts.
fn security_of(organization: &str) -> String {
    format!("{organization} account security")
}

/// Informs a person of their new account, however it was created.
pub fn account_created(tx: &mut Tx<'_>, user: &UserRow) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let body = Body::new()
        .paragraph(&format!("Welcome to {organization}. This is how you log in:"))
        .facts(&[("Organization", &setup.url), ("Email", &user.delivery_email)])
        .button("Open the chat", &setup.url)
        .link("Help", &format!("{}/help/", setup.url));
    let subject = format!("{organization}: Your new account details");
    queue(tx, Letter::to_user(Kind::AccountCreated, user, Language::English, subject, body))
}

/// Informs a person of a login, unless the account is new or they do not want to know.
pub fn new_login(tx: &mut Tx<'_>, user_id: UserId, client: &str, address: IpAddr) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let Some(user) = rows::user::by_id(tx, user_id)? else { return Ok(()) };
    if user.is_bot()
        || tx.now() - user.date_joined < NEW_ACCOUNT
        || !user_settings::ENABLE_LOGIN_EMAILS.get(tx, user_id)?
    {
        return Ok(());
    }
    let client = if client.is_empty() { "an unknown browser on an unknown operating system" } else { client };
    let (time, address) = (local_time(tx.now(), &user.timezone), address.to_canonical().to_string());
    let body = Body::new()
        .paragraph(&format!("There was a new login to your account in {organization}."))
        .facts(&[
            ("Email", &user.delivery_email),
            ("Time", &time),
            ("Client", client),
            ("IP address", &address),
        ])
        .paragraph("If this was you, there is nothing to do. If not, set a new password immediately and inform an administrator.")
        .link("Set a new password", &format!("{}/accounts/password/reset/", setup.url))
        .small("To stop these emails, change your notification settings.");
    let subject = format!("New login from {client}");
    let letter = Letter::to_user(Kind::NewLogin, &user, Language::English, subject, body);
    let now = tx.now();
    queue(tx, letter.from_name(security_of(&organization)).dated(now))
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
    let account = format!("your account {} in {organization}", user.delivery_email);
    let (subject, text, note) = if is_requested {
        (
            reset_subject(&organization),
            format!("You asked to set a new password for {account}."),
            "If you did not request this, you can ignore this email. Your password does not change.",
        )
    } else {
        (
            format!("Set a password for {organization}"),
            format!("Please set a password for {account}."),
            "The operator of the server sent you this email.",
        )
    };
    let body = Body::new()
        .paragraph(&text)
        .button("Set a new password", &format!("{}/join/password/{key}/", setup.url))
        .paragraph("The link works once and expires after a day.")
        .small(note);
    let letter = Letter::to_user(Kind::PasswordReset, user, Language::English, subject, body);
    let about = format!("password:{}", user.user_id);
    super::withdraw(tx, &about)?;
    queue(tx, letter.from_name(security_of(&organization)).about(about).expires(expires))
}

fn reset_subject(organization: &str) -> String {
    format!("Password reset request for {organization}")
}

/// Answers a request for a new password of an address that has no active account.
pub fn no_password_to_reset(tx: &mut Tx<'_>, email: &str, is_deactivated: bool) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let text = if is_deactivated {
        format!(
            "You asked to set a new password, but your account in {organization} is deactivated. An administrator can reactivate it."
        )
    } else {
        format!(
            "You asked to set a new password, but there is no account with this email address in {organization} ({}).",
            setup.url
        )
    };
    let body = Body::new().paragraph(&text).small("If you did not request this, you can ignore this email.");
    let letter =
        Letter::to_address(Kind::PasswordReset, email, Language::English, reset_subject(&organization), body);
    queue(tx, letter.from_name(security_of(&organization)))
}

/// Informs an address whether it has an account.
pub fn find_account(tx: &mut Tx<'_>, email: &str, has_account: bool) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let (subject, body) = if has_account {
        let body = Body::new()
            .paragraph(&format!("There is an account for {email} in {organization}."))
            .button("Log in", &setup.url)
            .link("Set a new password", &format!("{}/accounts/password/reset/", setup.url));
        (format!("Your account in {organization}"), body)
    } else {
        let text = format!(
            "There is no account for {email} in {organization} ({}). You may have used another address.",
            setup.url
        );
        (format!("No account found in {organization}"), Body::new().paragraph(&text))
    };
    let body = body.small("If you did not request this, you can ignore this email.");
    queue(tx, Letter::to_address(Kind::FindAccount, email, Language::English, subject, body))
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
    let text = format!(
        "You asked to change the email address of your account in {organization} from {} to {new_email}.",
        user.delivery_email
    );
    let body = Body::new()
        .paragraph(&text)
        .button("Confirm the new address", &format!("{}/accounts/confirm_new_email/{key}", setup.url))
        .paragraph("The link expires after a day.")
        .small("If you did not request this, do not confirm it, and inform an administrator.");
    let subject = format!("Verify your new email address for {}", setup.host());
    let letter = Letter::to_address(Kind::ConfirmEmail, new_email, Language::English, subject, body);
    let about = format!("confirm_email:{}", user.user_id);
    super::withdraw(tx, &about)?;
    let letter = letter.named(&user.full_name).from_name(security_of(&organization));
    queue(tx, letter.about(about).expires(expires))
}

/// Informs a person at their former address that it was changed.
pub fn email_changed(tx: &mut Tx<'_>, user: &UserRow, new_email: &str) -> ApiResult<()> {
    let Some((_, organization)) = begin(tx)? else { return Ok(()) };
    let text = format!(
        "The email address of your account in {organization} was changed from {} to {new_email}. Use the new address to log in.",
        user.delivery_email
    );
    let body =
        Body::new().paragraph(&text).paragraph("If this was not you, inform an administrator immediately.");
    let subject = format!("Email changed for {organization}");
    let letter = Letter::to_user(Kind::EmailChanged, user, Language::English, subject, body);
    queue(tx, letter.from_name(security_of(&organization)))
}

/// Informs a person that an administrator deactivated their account, with a comment that may be empty.
pub fn account_deactivated(tx: &mut Tx<'_>, user: &UserRow, comment: &str) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let text = format!(
        "Your account in {organization} at {} was deactivated. You can no longer log in.",
        setup.host()
    );
    let mut body = Body::new().paragraph(&text);
    if !comment.is_empty() {
        body = body.paragraph("An administrator wrote:").paragraph(comment);
    }
    let subject = format!("Notification of account deactivation on {organization}");
    // Not to the account, which is not active.
    let letter =
        Letter::to_address(Kind::AccountDeactivated, &user.delivery_email, Language::English, subject, body);
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
    let by = by.map(|name| format!(" by {name}")).unwrap_or_default();
    let text = format!(
        "Your organization {organization} at {} was deactivated{by}. No one can log in. No data was deleted: \
         the operator of the server can reactivate the organization.",
        setup.host()
    );
    for owner in owners(tx)? {
        let subject = format!("Your organization {organization} has been deactivated");
        let body = Body::new().paragraph(&text);
        let letter = Letter::to_user(Kind::OrganizationDeactivated, &owner, Language::English, subject, body);
        queue(tx, letter.from_name(security_of(&organization)))?;
    }
    Ok(())
}

/// Informs the owners that a backup failed.
pub fn backup_failed(tx: &mut Tx<'_>, error: &str) -> ApiResult<()> {
    let Some((setup, organization)) = begin(tx)? else { return Ok(()) };
    let text = format!(
        "The backup of {organization} at {} failed. The server will try again. Until a backup succeeds, new data is not backed up.",
        setup.host()
    );
    for owner in owners(tx)? {
        let subject = format!("The backup of {organization} failed");
        let body = Body::new().paragraph(&text).facts(&[("Error", error)]);
        queue(tx, Letter::to_user(Kind::BackupFailed, &owner, Language::English, subject, body))?;
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
