//! `GET` and `POST /join/password/{key}/`: a user sets a new password, once, by a link that an administrator created.

use crate::api::join::form::password_error;
use crate::api::join::page::{form_token, has_valid_token, organization, stale_page};
use crate::api::join::view;
use crate::api::join::view::PasswordPage;
use crate::app::ClientFiles;
use crate::domain::accounts::password;
use crate::domain::accounts::password::Reset;
use crate::domain::logins::known::LoginSource;
use crate::domain::notices::security::PasswordSetBy;
use crate::domain::rows::user::UserRow;
use crate::domain::users::passwords;
use crate::domain::users::passwords::OnBehalfOf;
use crate::domain::{logins, users};
use crate::http::{Anyone, ApiError, ApiResult, Call, Read, Reply, RequestInfo};
use rusqlite::Connection;
use serde::Deserialize;
use std::sync::Arc;

/// Parameters of `GET /join/password/{key}/`.
#[derive(Deserialize)]
pub struct ShowParams {
    /// The secret part of the link.
    key: String,
}

/// The fields of the page.
#[derive(Clone, Debug, Deserialize)]
pub struct PasswordForm {
    /// The secret part of the link.
    key: String,
    /// The token of the form, which has to match the cookie.
    #[serde(default)]
    token: String,
    /// The new password, 6 to 100 characters.
    #[serde(default)]
    password: String,
}

/// `GET /join/password/{key}/`.
pub fn show(read: &Read<'_, Anyone>, params: ShowParams) -> ApiResult<Reply> {
    let Some(reset) = password::find_by_reset_key(read, &params.key, read.app.clock.seconds())? else {
        read.app.rate_limiter.count_wrong_key(read.info.peer, &read.app.clock)?;
        return Ok(view::no_such_reset(&organization(read, read.info)?));
    };
    render(read, read.info, &reset.user, None, None)
}

/// `POST /join/password/{key}/`: sets the password, which ends all API keys and sessions of the user, and begins a session where there
/// is a web client; or shows the page again with the error.
pub async fn submit(call: Call<Anyone>, form: PasswordForm) -> ApiResult<Reply> {
    let (app, info) = (Arc::clone(&call.app), call.info.clone());
    if let Err(error) = app.rate_limiter.count_sign_up(info.peer, &app.clock) {
        let organization = app.readers.read(|snapshot| organization(snapshot, &info)).await?;
        return Ok(view::too_many_attempts(&organization, &error));
    }
    let checked = app.readers.read(|snapshot| -> ApiResult<_> {
        let Some(reset) = password::find_by_reset_key(snapshot, &form.key, app.clock.seconds())? else {
            return Ok(Some(view::no_such_reset(&organization(snapshot, &info)?)));
        };
        let language = organization(snapshot, &info)?.language;
        let stale = (!has_valid_token(&info, &form.token)).then(|| stale_page(language));
        let error = password_error(&form.password, language).filter(|_| stale.is_none());
        if stale.is_none() && error.is_none() {
            return Ok(None);
        }
        render(snapshot, &info, &reset.user, stale, error.as_deref()).map(Some)
    });
    if let Some(page) = checked.await? {
        return Ok(page);
    }
    let hash = passwords::hash_async(&app.pools, OnBehalfOf::Stranger, form.password.clone()).await?;
    let source = LoginSource { client: info.browser.clone().unwrap_or_default(), address: info.peer };
    let has_web = app.options.client_files != ClientFiles::Off;
    let job = call.write(move |tx, _| {
        let Some(Reset { user, created_by }) = password::find_by_reset_key(tx, &form.key, tx.now())? else {
            return Ok::<_, ApiError>((view::no_such_reset(&organization(tx, &info)?), None));
        };
        let by = if created_by == user.user_id {
            PasswordSetBy::LinkByMail
        } else {
            PasswordSetBy::LinkOf(created_by)
        };
        password::set(tx, &user, &hash, by)?;
        if by == PasswordSetBy::LinkByMail {
            users::set_email_proven(tx, user.user_id, true)?;
        }
        let session = if has_web { Some(logins::begin_session(tx, user.user_id, &source)?) } else { None };
        let page = view::password_set(
            &organization(tx, &info)?,
            &user.delivery_email,
            session.as_deref(),
            &info.origin,
        );
        Ok((page, Some(user)))
    });
    let (page, user) = job.await?;
    if let Some(user) = user {
        app.rate_limiter.passwords.unlock(&user.delivery_email.to_lowercase());
    }
    Ok(page)
}

fn render(
    connection: &Connection,
    info: &RequestInfo,
    user: &UserRow,
    page_error: Option<&str>,
    password_error: Option<&str>,
) -> ApiResult<Reply> {
    let (token, cookie) = form_token(info);
    let organization = organization(connection, info)?;
    let email = &user.delivery_email;
    let contents = PasswordPage { organization, email, page_error, password_error, token: &token };
    Ok(view::password(&contents, cookie))
}
