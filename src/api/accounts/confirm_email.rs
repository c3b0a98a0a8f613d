//! `/accounts/confirm_new_email/{key}`: the link that changes the address of a user. The page has a button, since scanners of mail
//! follow links.

use crate::api::accounts::pages::{dead_link, form};
use crate::domain::allowed_domains::check_may_join;
use crate::domain::mail::{confirmation, letters};
use crate::domain::realm::settings::EMAIL_CHANGES_DISABLED;
use crate::domain::users::emails;
use crate::domain::{realm, rows, users};
use crate::http::{Anyone, ApiError, ApiResult, Call, Read, Reply, page};
use crate::store::Tx;
use crate::types::{Language, fill};
use serde::Deserialize;
use std::sync::Arc;

/// Parameters of both.
#[derive(Deserialize)]
pub struct ConfirmParams {
    /// The secret part of the link.
    key: String,
}

/// `GET /accounts/confirm_new_email/{key}`: asks.
pub fn show(read: &Read<'_, Anyone>, params: ConfirmParams) -> ApiResult<Reply> {
    let language = realm::page_language(read, read.info.language)?;
    let Some((_, email)) = confirmation::find(read, &params.key, read.app.clock.seconds())? else {
        read.app.rate_limiter.count_wrong_key(read.info.peer, &read.app.clock)?;
        return Ok(dead_link(language));
    };
    let text = language.t("The address of your account will be {email}. You will log in with it.");
    Ok(form(&page::Form {
        language,
        title: language.t("Confirm your address"),
        sentences: &[&fill(text, &[("email", &email)])],
        button: language.t("Confirm the new address"),
        ..page::Form::default()
    }))
}

/// `POST /accounts/confirm_new_email/{key}`: changes the address, which is checked again, and informs the former one.
pub async fn confirm(call: Call<Anyone>, params: ConfirmParams) -> ApiResult<Reply> {
    let (app, info) = (Arc::clone(&call.app), call.info.clone());
    let (language, is_known) = app
        .readers
        .read(|snapshot| {
            let found = confirmation::find(snapshot, &params.key, app.clock.seconds())?;
            ApiResult::Ok((realm::page_language(snapshot, info.language)?, found.is_some()))
        })
        .await?;
    if !is_known {
        app.rate_limiter.count_wrong_key(info.peer, &app.clock)?;
        return Ok(dead_link(language));
    }
    let changed = call.write(move |tx, _| change(tx, &params.key)).await;
    let changed =
        changed.map_err(|error| if info.accepts_html { with_page(error, language) } else { error })?;
    let Some(email) = changed else { return Ok(dead_link(language)) };
    let text = language.t("The address of your account is now {email}. You log in with it.");
    let sentence = fill(text, &[("email", &email)]);
    Ok(page::reply(200, language, language.t("Your address is confirmed"), &[&sentence]))
}

/// Shows a refusal as a page in browsers.
fn with_page(error: ApiError, language: Language) -> ApiError {
    if error.status() != 400 {
        return error;
    }
    let sentence = language.t("Another account has this address, or the organization does not allow it. Please ask an administrator of the organization.");
    error.with_page(page::plain(language, language.t("Your address was not changed"), &[sentence]))
}

/// Changes the address; `None` if the link does not work any more.
fn change(tx: &mut Tx<'_>, key: &str) -> ApiResult<Option<String>> {
    let Some((user_id, email)) = confirmation::find(tx, key, tx.now())? else { return Ok(None) };
    let user = rows::user::existing(tx, user_id)?;
    if realm::is_deactivated(tx)? {
        return Err(ApiError::bad_request("This organization has been deactivated"));
    }
    if !user.is_active {
        return Err(ApiError::bad_request("Account is deactivated"));
    }
    if EMAIL_CHANGES_DISABLED.get(tx)? && !user.role.is_administrator() {
        return Err(ApiError::bad_request("Email address changes are disabled in this organization."));
    }
    check_may_join(tx, &email)?.map_err(|refusal| ApiError::bad_request(refusal.reason()))?;
    emails::check_free(tx, &user, &email)?;
    confirmation::delete_of_user(tx, user_id)?;
    letters::email_changed(tx, &user, &email)?;
    emails::change(tx, &user, &email)?;
    users::set_email_proven(tx, user_id, true)?;
    Ok(Some(email))
}
