//! `GET /accounts/login/social/{provider}` and `GET /accounts/register/social/{provider}`: the first step.

use crate::api::sign_on::{cookie, next, view};
use crate::app::App;
use crate::auth::session;
use crate::domain::realm;
use crate::http::{Anyone, ApiError, ApiResult, Call, NotJson, Reply, RequestInfo, page};
use crate::oidc::flows::{Ending, Pad, Purpose};
use crate::oidc::{Failure, Provider};
use crate::types::Language;
use serde::Deserialize;

/// The longest secret part of an invitation link, in bytes.
const MAX_INVITATION: usize = 100;

/// Parameters of the first step.
#[derive(Deserialize)]
pub struct BeginParams {
    /// The provider, by its `id` in the configuration.
    provider: String,
    /// The path to which the browser goes after the login. Paths of other servers become `/`.
    next: Option<String>,
    /// The one-time pad of the mobile app: 64 hexadecimal digits.
    mobile_flow_otp: Option<String>,
    /// The key of the desktop app: 64 hexadecimal digits.
    desktop_flow_otp: Option<String>,
    /// The secret part of an invitation link, for people without an account.
    multiuse_object_key: Option<String>,
}

/// `GET /accounts/login/social/{provider}`: sends the browser to the provider. The desktop app gets a page that does so in the
/// person's browser.
pub async fn log_in(call: Call<Anyone>, params: BeginParams) -> ApiResult<Reply<NotJson>> {
    begin(call, params).await
}

/// `GET /accounts/register/social/{provider}`: the same for a person without an account.
pub async fn sign_up(call: Call<Anyone>, params: BeginParams) -> ApiResult<Reply<NotJson>> {
    begin(call, params).await
}

async fn begin(call: Call<Anyone>, params: BeginParams) -> ApiResult<Reply<NotJson>> {
    let Call { app, info, .. } = call;
    let provider = find(&app, &info, &params.provider)?;
    let language = language(&app, &info).await?;
    if let Err(error) = app.rate_limiter.count_sign_on(info.peer, &app.clock) {
        return Ok(page::too_many_attempts(language, &error));
    }
    let ending = ending(params.mobile_flow_otp.as_deref(), params.desktop_flow_otp.as_deref())?;
    if ending == Ending::Browser && info.browser.as_deref().is_some_and(session::is_desktop_app) {
        return Ok(view::desktop_login(language));
    }
    let is_key = |key: &String| (1..=MAX_INVITATION).contains(&key.len());
    let purpose = Purpose {
        next: next::path(params.next.as_deref(), &info.origin),
        invitation: params.multiuse_object_key.filter(is_key),
        ending,
    };
    let (browser, cookie) = cookie::begin(&info);
    let redirect_uri = format!("{}/complete/{}/", info.origin, provider.id);
    let environment = app.sign_on_environment();
    match app.sign_on.begin(environment, provider, redirect_uri, browser, purpose).await {
        Ok(url) => Ok(view::redirect(url.into(), vec![cookie])),
        Err(Failure::Unusable(reason)) => {
            tracing::warn!(provider = provider.id, reason, "a login at a provider did not begin");
            Ok(view::unreachable(language))
        }
        Err(Failure::Refused(reason)) => Err(ApiError::internal(reason)),
    }
}

/// The provider of a path.
pub fn find<'a>(app: &'a App, info: &RequestInfo, id: &str) -> ApiResult<&'a Provider> {
    let found = app.options.oidc.iter().find(|provider| provider.id == id);
    found.ok_or_else(|| not_found(app, info))
}

/// The error of a path of which there is no provider.
pub fn not_found(app: &App, info: &RequestInfo) -> ApiError {
    let is_page = info.accepts_html && !app.options.oidc.is_empty();
    let error = ApiError::not_found();
    if is_page { error.with_page(page::not_found(info.language.unwrap_or_default())) } else { error }
}

/// The language of the pages.
pub async fn language(app: &App, info: &RequestInfo) -> ApiResult<Language> {
    app.readers.read(|snapshot| realm::page_language(snapshot, info.language)).await
}

/// The program that logs in, by the secret that it has sent.
fn ending(mobile: Option<&str>, desktop: Option<&str>) -> ApiResult<Ending> {
    let read = |text: &str| Pad::parse(text).ok_or_else(|| ApiError::bad_request("Invalid OTP"));
    match (mobile, desktop) {
        (Some(_), Some(_)) => {
            Err(ApiError::bad_request("Can't use both mobile_flow_otp and desktop_flow_otp together."))
        }
        (Some(pad), None) => Ok(Ending::Mobile(read(pad)?)),
        (None, Some(key)) => Ok(Ending::Desktop(read(key)?)),
        (None, None) => Ok(Ending::Browser),
    }
}
