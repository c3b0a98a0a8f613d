//! `GET` and `POST /join/{key}/`.

use crate::api::join::accept::{AcceptResult, InvalidForm};
use crate::api::join::form::{FieldErrors, SignupForm};
use crate::api::join::view::SignupPage;
use crate::api::join::{accept, view};
use crate::app::ClientFiles;
use crate::domain::invites::record::InviteRow;
use crate::domain::logins::known::LoginSource;
use crate::domain::realm::bot_domain;
use crate::domain::sign_up::{Unusable, find_invitation};
use crate::domain::users::passwords;
use crate::domain::users::passwords::OnBehalfOf;
use crate::domain::{images, mail, realm, rows};
use crate::http::page::{HTML, redirect};
use crate::http::{Anyone, ApiResult, Call, OtherReply, Read, Reply, RequestInfo};
use crate::oidc::Provider;
use crate::types::Language;
use rand::RngExt;
use rand::distr::Alphanumeric;
use rusqlite::Connection;
use serde::Deserialize;
use std::sync::Arc;

/// The cookie that a submitted form has to match, against cross-site request forgery: a page of another site may know
/// the link, but not the cookie.
const COOKIE: &str = "teamchat_join";

/// The error of a form whose token does not match the cookie.
pub fn stale_page(language: Language) -> &'static str {
    language.t("This page was open for too long, or your browser does not keep cookies. Please try again.")
}

/// The length of the token in the cookie and in the form.
const TOKEN_LENGTH: usize = 32;

/// Parameters of `GET /join/{key}/`.
#[derive(Deserialize)]
pub struct PageParams {
    /// The secret part of the link.
    key: String,
}

/// `GET /join/{key}`: redirects to the path with a slash.
pub fn redirect_to_slash(_read: &Read<'_, Anyone>, params: PageParams) -> ApiResult<Reply> {
    let key: String = params.key.chars().filter(char::is_ascii_alphanumeric).collect();
    let headers = vec![("Location", format!("/join/{key}/"))];
    let body = bytes::Bytes::new();
    Ok(Reply::other(OtherReply { status: 301, content_type: HTML, headers, body }))
}

/// `GET /join/{key}/`: the sign-up page.
pub fn show(read: &Read<'_, Anyone>, params: PageParams) -> ApiResult<Reply> {
    let now = read.app.clock.seconds();
    let invite = match find_invitation(read, &params.key, now)? {
        Ok(invite) => invite,
        Err(reason) => {
            read.app.rate_limiter.count_wrong_key(read.info.peer, &read.app.clock)?;
            return Ok(view::unusable(&organization(read, read.info)?, reason));
        }
    };
    let providers = &read.app.options.oidc;
    let has_passwords = realm::settings::PASSWORD_AUTH_ENABLED.get(read)?;
    let has_form = has_form(has_passwords, &invite);
    if !has_form && providers.is_empty() {
        return Ok(view::unusable(&organization(read, read.info)?, Unusable::Unknown));
    }
    if has_form && needs_proof(read, &invite)? {
        return Ok(prove_address(&params.key));
    }
    let organization = organization(read, read.info)?;
    let (key, name) = (params.key, organization.name.clone());
    let signup = SignupForm { key, organization: name, ..SignupForm::default() };
    let page = Page { info: read.info, providers, has_passwords };
    render_signup(read, page, organization, &invite, &signup, &FieldErrors::default())
}

/// `POST /join/{key}/`: creates the user, or shows the sign-up page with the errors.
pub async fn submit(call: Call<Anyone>, signup: SignupForm) -> ApiResult<Reply> {
    let (app, info) = (Arc::clone(&call.app), call.info.clone());
    if let Err(error) = app.rate_limiter.count_sign_up(info.peer, &app.clock) {
        let organization = app.readers.read(|snapshot| organization(snapshot, &info)).await?;
        return Ok(view::too_many_attempts(&organization, &error));
    }
    let checked = app.readers.read(|snapshot| -> ApiResult<_> {
        let invite = match find_invitation(snapshot, &signup.key, app.clock.seconds())? {
            Ok(invite) => invite,
            Err(reason) => return Ok(Err(view::unusable(&organization(snapshot, &info)?, reason))),
        };
        let has_passwords = realm::settings::PASSWORD_AUTH_ENABLED.get(snapshot)?;
        if !has_form(has_passwords, &invite) {
            return Ok(Err(view::unusable(&organization(snapshot, &info)?, Unusable::Unknown)));
        }
        if needs_proof(snapshot, &invite)? {
            return Ok(Err(prove_address(&signup.key)));
        }
        let language = organization(snapshot, &info)?.language;
        let mut errors = signup.check(snapshot, &invite, has_passwords, language)?;
        if !has_valid_token(&info, &signup.token) {
            errors = FieldErrors { page: Some(stale_page(language).to_owned()), ..FieldErrors::default() };
        }
        if !errors.is_empty() {
            let organization = organization(snapshot, &info)?;
            let page = Page { info: &info, providers: &app.options.oidc, has_passwords };
            return render_signup(snapshot, page, organization, &invite, &signup, &errors).map(Err);
        }
        Ok(Ok(has_passwords))
    });
    let has_passwords = match checked.await? {
        Ok(has_passwords) => has_passwords,
        Err(page) => return Ok(page),
    };
    let has_web = app.options.client_files != ClientFiles::Off;
    let password_hash = if has_passwords {
        Some(passwords::hash_async(&call.app.pools, OnBehalfOf::Stranger, signup.password.clone()).await?)
    } else {
        None
    };
    let domain = bot_domain(app.options.public_url.as_deref());
    let providers = app.options.oidc.clone();
    call.write(move |tx, _| {
        let source = LoginSource { client: info.browser.clone().unwrap_or_default(), address: info.peer };
        let organization = organization(tx, &info)?;
        let (browser, language) = (has_web.then_some(&source), organization.language);
        let accepted = accept::accept(tx, &signup, password_hash, &domain, browser, language)?;
        Ok(match accepted {
            AcceptResult::Joined(joined) => view::joined(&organization, &joined, &info.origin),
            AcceptResult::Invalid(found) => {
                let InvalidForm { invite, errors, has_passwords } = *found;
                let page = Page { info: &info, providers: &providers, has_passwords };
                render_signup(tx, page, organization, &invite, &signup, &errors)?
            }
            AcceptResult::Unusable(reason) => view::unusable(&organization, reason),
        })
    })
    .await
}

/// True if people sign up by the form, and not only at providers: with a password, or without one by an invitation that works so.
fn has_form(has_passwords: bool, invite: &InviteRow) -> bool {
    has_passwords || invite.works_without_password()
}

/// True if people who join by a reusable link prove their addresses first, which takes an email.
fn needs_proof(connection: &Connection, invite: &InviteRow) -> ApiResult<bool> {
    Ok(invite.is_multiuse() && !invite.is_for_owner() && mail::is_on(connection)?)
}

/// Redirects to the page that asks for the address.
fn prove_address(key: &str) -> Reply {
    let key: String = key.chars().filter(char::is_ascii_alphanumeric).collect();
    redirect(format!("/register/?invite={key}"))
}

/// Loads the organization's name and icon, and the language of the page.
pub fn organization(connection: &Connection, info: &RequestInfo) -> ApiResult<view::Organization> {
    let settings = realm::settings::all(connection)?;
    let name = settings.value("name").as_str().unwrap_or_default().to_owned();
    let language = realm::page_language(connection, info.language)?;
    Ok(view::Organization { name, language, icon_url: images::realm::RealmImage::Icon.url(&settings) })
}

/// Facts that the sign-up page depends on, apart from the invitation and the form.
#[derive(Clone, Copy)]
struct Page<'a> {
    info: &'a RequestInfo,
    providers: &'a [Provider],
    /// True if people log in with passwords.
    has_passwords: bool,
}

/// Renders the sign-up page with the buttons of providers, and sets its cookie.
fn render_signup(
    connection: &Connection,
    Page { info, providers, has_passwords }: Page<'_>,
    organization: view::Organization,
    invite: &InviteRow,
    signup: &SignupForm,
    errors: &FieldErrors,
) -> ApiResult<Reply> {
    let inviter = match invite.invited_by_user_id {
        Some(user_id) => rows::user::by_id(connection, user_id)?.map(|user| user.full_name),
        None => None,
    };
    let (token, cookie) = form_token(info);
    let contents = SignupPage {
        organization,
        invite,
        inviter,
        form: signup,
        errors,
        token: &token,
        providers,
        has_form: has_form(has_passwords, invite),
        asks_password: has_passwords,
    };
    Ok(view::signup(&contents, cookie))
}

/// Returns the token of a form and the cookie that it has to match. Keeps the token of the request's cookie, because the
/// page may be open in several tabs.
pub fn form_token(info: &RequestInfo) -> (String, String) {
    let token = token_of(info).map_or_else(random_token, str::to_owned);
    let secure = if info.origin.starts_with("https://") { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={token}; Path=/join/; Max-Age=86400; HttpOnly; SameSite=Lax{secure}");
    (token, cookie)
}

/// True if the token of a form matches the cookie, compared in constant time.
pub fn has_valid_token(info: &RequestInfo, submitted: &str) -> bool {
    token_of(info).is_some_and(|token| {
        let different = token.bytes().zip(submitted.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
        token.len() == submitted.len() && different == 0
    })
}

/// Returns the token of the cookie, if it has the form of one.
fn token_of(info: &RequestInfo) -> Option<&str> {
    let cookies = info.cookies.as_deref()?.split(';').filter_map(|cookie| cookie.trim().split_once('='));
    let token = cookies.into_iter().find(|(name, _)| *name == COOKIE).map(|(_, token)| token)?;
    let fits = token.len() == TOKEN_LENGTH && token.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then_some(token)
}

fn random_token() -> String {
    rand::rng().sample_iter(Alphanumeric).take(TOKEN_LENGTH).map(char::from).collect()
}
