//! `GET` and `POST /join/{key}/`.

use crate::api::join::accept::AcceptResult;
use crate::api::join::form::{FieldErrors, SignupForm};
use crate::api::join::view::SignupPage;
use crate::api::join::{accept, view};
use crate::domain::access::user_rows as users;
use crate::domain::invites::record::InviteRow;
use crate::domain::users::passwords;
use crate::domain::{images, realm};
use crate::http::{Anyone, ApiError, ApiResult, Call, OtherReply, Read, Reply, RequestInfo};
use rand::RngExt;
use rand::distr::Alphanumeric;
use rusqlite::Connection;
use serde::Deserialize;

/// The cookie that a submitted form has to match, against cross-site request forgery: a page of another site may know
/// the link, but not the cookie.
const COOKIE: &str = "teamchat_join";

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
    Ok(Reply::Other(OtherReply { status: 301, content_type: view::HTML, headers, body }))
}

/// `GET /join/{key}/`: the sign-up page.
pub fn show(read: &Read<'_, Anyone>, params: PageParams) -> ApiResult<Reply> {
    let now = read.app.clock.seconds();
    let Some(invite) = accept::find(read, &params.key, now)? else {
        read.app.rate_limiter.record_key_failure(read.info.peer, read.app.clock.milliseconds())?;
        return Ok(view::no_such_invite(&organization(read)?));
    };
    let organization = organization(read)?;
    let signup = SignupForm { organization: organization.name.clone(), ..SignupForm::default() };
    render_signup(read, read.info, organization, &invite, &signup, &FieldErrors::default())
}

/// `POST /join/{key}/`: creates the user, or shows the sign-up page with the errors.
pub async fn submit(call: Call<Anyone>, signup: SignupForm) -> ApiResult<Reply> {
    let (app, info) = (std::sync::Arc::clone(&call.app), call.info.clone());
    if let Err(error) = app.rate_limiter.record_sign_up(info.peer, app.clock.milliseconds()) {
        let organization = app.readers.read(|snapshot| organization(snapshot)).await?;
        return Ok(view::too_many_attempts(&organization, &error));
    }
    let checked = app.readers.read(|snapshot| -> ApiResult<_> {
        let Some(invite) = accept::find(snapshot, &signup.key, app.clock.seconds())? else {
            return Ok(Err(view::no_such_invite(&organization(snapshot)?)));
        };
        let mut errors = signup.check(snapshot, &invite)?;
        if !has_valid_token(&info, &signup) {
            let words =
                "This page was open for too long, or your browser does not keep cookies. Please try again.";
            errors = FieldErrors { page: Some(words.to_owned()), ..FieldErrors::default() };
        }
        if !errors.is_empty() {
            return render_signup(snapshot, &info, organization(snapshot)?, &invite, &signup, &errors)
                .map(Err);
        }
        Ok(Ok(()))
    });
    if let Err(page) = checked.await? {
        return Ok(page);
    }
    let password_hash = passwords::hash_async(signup.password.clone()).await?;
    let (job_signup, job_info) = (signup.clone(), info.clone());
    let joined = call.write(move |tx, _| {
        let accepted = accept::accept(tx, &job_signup, password_hash, &job_info.origin)?;
        let organization = organization(tx)?;
        Ok::<_, ApiError>(match accepted {
            AcceptResult::Joined(joined) => view::joined(&organization, &joined, &job_info.origin),
            AcceptResult::Invalid(found) => {
                let (invite, errors) = *found;
                render_signup(tx, &job_info, organization, &invite, &job_signup, &errors)?
            }
            AcceptResult::NoSuchInvite => view::no_such_invite(&organization),
        })
    });
    joined.await
}

/// Loads the organization's name and icon.
fn organization(connection: &Connection) -> ApiResult<view::Organization> {
    let settings = realm::settings::all(connection)?;
    let name = settings.value("name").as_str().unwrap_or_default().to_owned();
    Ok(view::Organization { name, icon_url: images::realm::RealmImage::Icon.url(&settings) })
}

/// Renders the sign-up page and sets its cookie.
fn render_signup(
    connection: &Connection,
    info: &RequestInfo,
    organization: view::Organization,
    invite: &InviteRow,
    signup: &SignupForm,
    errors: &FieldErrors,
) -> ApiResult<Reply> {
    let inviter = match invite.invited_by_user_id {
        Some(user_id) => users::by_id(connection, user_id)?.map(|user| user.full_name),
        None => None,
    };
    // Keeps the token of the cookie, because the page may be open in several tabs.
    let token = token_of(info).map_or_else(random_token, str::to_owned);
    let contents = SignupPage { organization, invite, inviter, form: signup, errors, token: &token };
    let secure = if info.origin.starts_with("https://") { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={token}; Path=/join/; Max-Age=86400; HttpOnly; SameSite=Lax{secure}");
    Ok(view::signup(&contents, cookie))
}

/// Whether the token of the form matches the cookie, compared in constant time.
fn has_valid_token(info: &RequestInfo, signup: &SignupForm) -> bool {
    token_of(info).is_some_and(|token| {
        let different =
            token.bytes().zip(signup.token.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
        token.len() == signup.token.len() && different == 0
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
