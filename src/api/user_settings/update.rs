//! `PATCH /settings` and its older aliases `/settings/display` and `/settings/notifications`.

use crate::api::setting_params::{SettingParams, check};
use crate::app::App;
use crate::auth::password_attempts::Wrong;
use crate::domain::accounts::password;
use crate::domain::allowed_domains::check_may_join;
use crate::domain::logins::known;
use crate::domain::realm::bot_domain;
use crate::domain::realm::settings::{EMAIL_CHANGES_DISABLED, NAME_CHANGES_DISABLED, RealmSetting};
use crate::domain::rows::user::UserRow;
use crate::domain::user_settings::all;
use crate::domain::user_settings::table::UserTable;
use crate::domain::users::passwords::OnBehalfOf;
use crate::domain::users::{emails, passwords};
use crate::domain::{accounts, logins, mail, realm, rows, user_settings, users};
use crate::http::params::Trimmed;
use crate::http::{ApiError, ApiResult, Call, Caller, Params2, Reply, User};
use crate::store::Tx;
use crate::types::Property;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// Parameters of `PATCH /settings` other than the settings.
#[derive(Deserialize)]
pub struct AccountParams {
    /// The new display name, at most 100 characters. Ignored if the organization does not allow name changes.
    full_name: Option<String>,
    /// The new real email. Requires `old_password` if the account has a password. If the server sends email, the change
    /// takes effect when the user opens the link sent to the new address, otherwise immediately.
    email: Option<Trimmed>,
    /// The current password, required with `email` and `new_password`.
    old_password: Option<String>,
    /// The new password, 6 to 100 characters. Requires `old_password`. All other API keys and sessions of the caller
    /// end.
    new_password: Option<String>,
    /// The new time zone, as IANA identifier such as `Europe/Berlin`.
    timezone: Option<String>,
}

/// The checked changes, with the password already hashed.
struct Update {
    settings: Vec<(&'static Property, Value)>,
    full_name: Option<String>,
    email: Option<String>,
    password: CheckedPassword,
    timezone: Option<String>,
    /// The domain of dummy emails.
    domain: String,
}

/// Result of checking and hashing the passwords of a request.
#[derive(Default)]
struct CheckedPassword {
    /// The stored hash that the old password matched; `None` if none was asked for.
    verified_hash: Option<String>,
    /// The hash of the new password.
    new_hash: Option<String>,
}

/// `PATCH /settings`: changes the given settings of the caller, the name, email and password, all or none.
pub async fn update(
    call: Call<User>,
    Params2(settings, account): Params2<SettingParams<UserTable>, AccountParams>,
) -> ApiResult<Reply> {
    call.caller.check_is_person()?;
    let checked = |(row, written)| Ok((row, check(row, written)?));
    let settings = settings.values.into_iter().map(checked).collect::<ApiResult<_>>()?;
    if let Some(timezone) = &account.timezone
        && !accounts::change::is_timezone(timezone)
    {
        return Err(ApiError::bad_request("Invalid timezone: Value error, Not a recognized time zone"));
    }
    let password = check_passwords(&call, &account).await?;
    let update = Update {
        settings,
        full_name: account.full_name,
        email: account.email.map(Trimmed::into_inner),
        password,
        timezone: account.timezone,
        domain: bot_domain(call.app.options.public_url.as_deref()),
    };
    let app = Arc::clone(&call.app);
    call.write(move |tx, caller| apply(tx, &app, caller, &update)).await?;
    Ok(Reply::ok())
}

/// Checks the old password where the changes need it, and hashes the new one. A new email needs it if there is a
/// password: the email is the login, and a link sent to it sets a new password.
async fn check_passwords(call: &Call<User>, account: &AccountParams) -> ApiResult<CheckedPassword> {
    if account.new_password.is_none() && account.email.is_none() {
        return Ok(CheckedPassword::default());
    }
    let user_id = call.caller.user_id;
    let (user, stored, enabled) = call
        .app
        .readers
        .read(|snapshot| -> ApiResult<_> {
            let user = rows::user::existing(snapshot, user_id)?;
            let stored = users::load_password(snapshot, &user.delivery_email)?.and_then(|(_, hash, _)| hash);
            let enabled: bool = realm::settings::PASSWORD_AUTH_ENABLED.get(snapshot)?;
            Ok((user, stored, enabled))
        })
        .await?;
    let changes_email = account.email.as_ref().is_some_and(|email| **email != user.delivery_email);
    let Some(new) = &account.new_password else {
        if !changes_email || stored.is_none() {
            return Ok(CheckedPassword::default());
        }
        let old = account.old_password.clone().ok_or_else(|| ApiError::missing("old_password"))?;
        check_password(call, &user, old, stored.clone()).await?;
        return Ok(CheckedPassword { verified_hash: stored, new_hash: None });
    };
    let old = account.old_password.clone().unwrap_or_default();
    check_password(call, &user, old, stored.clone().filter(|_| enabled)).await?;
    if !passwords::has_allowed_length(new) {
        return Err(ApiError::bad_request("New password is too weak!"));
    }
    let new_hash = passwords::hash_async(&call.app.pools, OnBehalfOf::User(user_id), new.clone()).await?;
    Ok(CheckedPassword { verified_hash: stored, new_hash: Some(new_hash) })
}

/// Checks the caller's password against its hash.
async fn check_password(
    call: &Call<User>,
    user: &UserRow,
    password: String,
    stored: Option<String>,
) -> ApiResult<()> {
    let app = &call.app;
    let (account, peer) = (user.delivery_email.to_lowercase(), call.info.peer);
    let is_known = app
        .readers
        .read(|snapshot| known::is_known_address(snapshot, user.user_id, peer, app.clock.seconds()))
        .await?;
    let begun = app.rate_limiter.passwords.begin(&account, peer, is_known, &app.clock).await;
    let attempt = begun.map_err(|error| too_many_attempts(&error))?;
    let whose = OnBehalfOf::User(call.caller.quota_owner());
    let right = match passwords::verify(&app.pools, whose, password, stored).await {
        Ok(right) => right,
        Err(error) => {
            attempt.cancel();
            return Err(error);
        }
    };
    if !right {
        let Wrong { error, begins_lock } = attempt.wrong(wrong_password());
        if begins_lock {
            logins::tell_locked_out(app, user.user_id, peer);
        }
        return Err(if error.status() == 429 { too_many_attempts(&error) } else { error });
    }
    attempt.right();
    Ok(())
}

fn wrong_password() -> ApiError {
    ApiError::bad_request("Wrong password!")
}

fn too_many_attempts(error: &ApiError) -> ApiError {
    let seconds = error.headers().iter().find(|(name, _)| *name == "Retry-After");
    let seconds = seconds.map_or("some", |(_, seconds)| seconds);
    let msg = format!("You're making too many attempts! Try again in {seconds} seconds.");
    ApiError::bad_request(msg)
}

fn apply(tx: &mut Tx<'_>, app: &App, caller: &Caller, update: &Update) -> ApiResult<()> {
    let user = rows::user::existing(tx, caller.user_id)?;
    let new_email = update.email.as_ref().filter(|email| **email != user.delivery_email);
    let needs_password = update.password.new_hash.is_some() || new_email.is_some();
    // The password was verified before the job, and may have been changed since then.
    if needs_password && !password::is_current(tx, user.user_id, update.password.verified_hash.as_deref())? {
        return Err(wrong_password());
    }
    if let Some(hash) = &update.password.new_hash {
        password::change_own(tx, caller, hash)?;
    }
    if let Some(email) = new_email {
        may_change(tx, caller, &EMAIL_CHANGES_DISABLED)?.then_some(()).ok_or_else(|| {
            ApiError::bad_request("Email address changes are disabled in this organization.")
        })?;
        if mail::is_on(tx)? {
            request_email(tx, app, &user, email)?;
        } else {
            check_may_join(tx, email)?.map_err(|refusal| ApiError::bad_request(refusal.reason()))?;
            emails::change_own(tx, &user, email)?;
        }
    }
    if let Some(full_name) = &update.full_name
        && *full_name != user.full_name
        // Ignored rather than refused, as on the published server.
        && may_change(tx, caller, &NAME_CHANGES_DISABLED)?
    {
        accounts::change::set_full_name(tx, &user, full_name)?;
    }
    if let Some(timezone) = &update.timezone
        && *timezone != user.timezone
    {
        users::set_timezone(tx, user.user_id, timezone)?;
        let value = Value::from(timezone.as_str());
        user_settings::events::emit_setting_updated(tx, user.user_id, &user.email, "timezone", &value)?;
        accounts::change::emit_timezone(tx, &user, timezone)?;
    }
    set(tx, &user, &update.settings, &update.domain)
}

/// Checks, in the published order, that a user may have an email.
fn check_new_email(connection: &Connection, user: &UserRow, email: &str) -> ApiResult<()> {
    emails::check_form(email)?;
    check_may_join(connection, email)?.map_err(|refusal| ApiError::bad_request(refusal.reason()))?;
    emails::check_free(connection, user, email)
}

/// Sends the link that changes an email to the new address. A second request replaces the first.
fn request_email(tx: &mut Tx<'_>, app: &App, user: &UserRow, email: &str) -> ApiResult<()> {
    check_new_email(tx, user, email)?;
    app.rate_limiter.count_letter_of_account(&format!("user {}", user.user_id), &app.clock)?;
    let (key, expires) = mail::confirmation::create(tx, user.user_id, email)?;
    mail::letters::confirm_email(tx, user, email, &key, expires)
}

/// Returns true if a caller may make a change that the setting `disabled` reserves for administrators.
fn may_change(tx: &Tx<'_>, caller: &Caller, disabled: &RealmSetting<bool>) -> ApiResult<bool> {
    Ok(caller.role.is_administrator() || !disabled.get(tx)?)
}

/// Sets the settings whose values differ, and emits them.
fn set(
    tx: &mut Tx<'_>,
    user: &UserRow,
    changes: &[(&'static Property, Value)],
    domain: &str,
) -> ApiResult<()> {
    let current = all(tx, user.user_id)?;
    for (property, value) in changes {
        if current.value(property.name) == value {
            continue;
        }
        accounts::change::set_setting(tx, user, property.name, value)?;
        if property.name == "email_address_visibility" {
            emails::apply_visibility_change(tx, user.user_id, current.value(property.name), domain)?;
        }
    }
    Ok(())
}
