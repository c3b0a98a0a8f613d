//! `GET /complete/{provider}/`: the provider sends the browser back.

use crate::api::sign_on::account::{Found, Refusal, SignUp, create};
use crate::api::sign_on::begin::{find, language};
use crate::api::sign_on::{account, cookie, token, view};
use crate::app::App;
use crate::auth::session;
use crate::domain::accounts::password;
use crate::domain::logins::identities;
use crate::domain::logins::known::LoginSource;
use crate::domain::realm::bot_domain;
use crate::domain::rows::user::UserRow;
use crate::domain::{keys, logins, realm, users};
use crate::http::{Anyone, ApiResult, Call, NotJson, Reply, RequestInfo, page};
use crate::oidc::flows::{Ending, Pad};
use crate::oidc::{Failure, Identity, Provider, ProviderError};
use crate::store::Tx;
use crate::types::{Language, UserId, hex};
use form_urlencoded::Serializer;
use serde::Deserialize;
use std::sync::Arc;

/// The client name of the mobile app's API key.
const MOBILE_APP: &str = "ZulipMobile";

/// Parameters of the last step, which the provider sets.
#[derive(Deserialize)]
pub struct CompleteParams {
    /// The provider, by its `id` in the configuration.
    provider: String,
    /// The login.
    state: Option<String>,
    /// The code that the provider exchanges for an identity.
    code: Option<String>,
    /// The reason for which there is no code.
    error: Option<String>,
    /// The description of the reason.
    error_description: Option<String>,
    /// The issuer (RFC 9207).
    iss: Option<String>,
}

/// The result of a login.
enum Outcome {
    /// The person is logged in.
    Done(Box<Login>),
    /// The account with this email is deactivated.
    Deactivated(UserId, String),
    /// Refused without a reason for the person.
    Refused(Option<UserId>, &'static str),
    /// There is no account, and none was created.
    NoAccount(Refusal),
}

/// A login that succeeded.
struct Login {
    user: UserRow,
    /// The secret of the session or the API key; of the desktop app none yet.
    secret: String,
}

/// `GET /complete/{provider}/`: logs in the person whom the provider names.
pub async fn complete(call: Call<Anyone>, params: CompleteParams) -> ApiResult<Reply<NotJson>> {
    let (app, info) = (Arc::clone(&call.app), call.info.clone());
    let provider = find(&app, &info, &params.provider)?.clone();
    let language = language(&app, &info).await?;
    if let Err(error) = app.rate_limiter.count_sign_on(info.peer, &app.clock) {
        return Ok(page::too_many_attempts(language, &error));
    }
    let refused = |reason: &str| {
        tracing::info!(address = %info.peer, provider = provider.id, reason, "a login at a provider failed");
        Ok(view::to_login(None))
    };
    let flow = params.state.and_then(|state| app.sign_on.flows.take(&state, &app.clock));
    let is_own =
        |provider_id: &str, browser: &str| provider_id == provider.id && cookie::is_of(&info, browser);
    let Some(flow) = flow.filter(|flow| is_own(&flow.provider, &flow.browser)) else {
        return refused("the login is over, or was begun in another browser");
    };
    let is_other = params
        .iss
        .is_some_and(|issuer| issuer.trim_end_matches('/') != provider.issuer.trim_end_matches('/'));
    if is_other {
        return refused("the answer is of another issuer");
    }
    if let Some(error) = params.error {
        let error = ProviderError { error, error_description: params.error_description };
        return refused(&format!("the provider answers with the error {}", error.words()));
    }
    let Some(code) = params.code else { return refused("the provider sends no code") };
    let environment = app.sign_on_environment();
    let identity = match app.sign_on.exchange(environment, &provider, &flow, &code).await {
        Ok(identity) => identity,
        Err(Failure::Refused(reason)) => {
            record_failure(&app, &info, &provider, None, reason).await;
            return Ok(view::to_login(None));
        }
        Err(Failure::Unusable(reason)) => {
            tracing::warn!(provider = provider.id, reason, "a login at a provider failed");
            return Ok(view::to_login(None));
        }
    };
    let purpose = flow.purpose;
    let source = match purpose.ending {
        Ending::Mobile(_) => LoginSource { client: MOBILE_APP.to_owned(), address: info.peer },
        _ => LoginSource { client: info.browser.clone().unwrap_or_default(), address: info.peer },
    };
    let (ending, invitation) = (purpose.ending.clone(), purpose.invitation);
    let domain = bot_domain(app.options.public_url.as_deref());
    let auto_create = provider.auto_create;
    let email = identity.email.clone();
    let job = move |tx: &mut Tx<'_>, _: &Anyone| {
        let sign_up = SignUp { invitation: invitation.as_deref(), auto_create, domain: &domain, language };
        log_in(tx, &identity, &sign_up, &ending, &source)
    };
    match call.write(job).await? {
        Outcome::Done(login) => match &purpose.ending {
            Ending::Browser => Ok(view::redirect(purpose.next, session::begin(&login.secret, &info.origin))),
            Ending::Mobile(pad) => {
                Ok(view::redirect(mobile_link(pad, &login.secret, &login.user, &info.origin), Vec::new()))
            }
            Ending::Desktop(key) => {
                let sealed = token::hand_over(&app, key, login.user.user_id, purpose.next)?;
                Ok(view::desktop_token(language, &sealed))
            }
        },
        Outcome::Deactivated(user_id, email) => {
            record_failure(&app, &info, &provider, Some(user_id), "the account is deactivated").await;
            Ok(view::to_login(Some(&email)))
        }
        Outcome::Refused(user_id, reason) => {
            record_failure(&app, &info, &provider, user_id, reason).await;
            Ok(view::to_login(None))
        }
        Outcome::NoAccount(refusal) => {
            record_failure(&app, &info, &provider, None, "there is no account").await;
            Ok(no_account(language, &email, refusal))
        }
    }
}

/// Finds or creates the account of an identity, and logs in. The first login to an account whose address is not proven ends the
/// credentials that it has.
fn log_in(
    tx: &mut Tx<'_>,
    identity: &Identity,
    sign_up: &SignUp<'_>,
    ending: &Ending,
    source: &LoginSource,
) -> ApiResult<Outcome> {
    if realm::is_deactivated(tx)? {
        return Ok(Outcome::Refused(None, "the organization is deactivated"));
    }
    let (user, is_new_identity) = match account::find(tx, identity)? {
        Found::Account(user, is_new_identity) => (*user, is_new_identity),
        Found::Taken => {
            return Ok(Outcome::Refused(None, "the email belongs to the account of another identity"));
        }
        Found::None => match create(tx, identity, sign_up)? {
            Ok(user) => (user, true),
            Err(refusal) => return Ok(Outcome::NoAccount(refusal)),
        },
    };
    if !user.is_active {
        return Ok(Outcome::Deactivated(user.user_id, user.delivery_email));
    }
    if is_new_identity {
        if !users::is_email_proven(tx, user.user_id)? {
            password::end_unproven(tx, user.user_id)?;
            users::set_email_proven(tx, user.user_id, true)?;
        }
        identities::insert(tx, user.user_id, &identity.issuer, &identity.subject)?;
    }
    let secret = match ending {
        Ending::Browser => logins::begin_session(tx, user.user_id, source)?,
        Ending::Mobile(_) => {
            logins::record(tx, user.user_id, source)?;
            keys::mint(tx, user.user_id, MOBILE_APP)?
        }
        Ending::Desktop(_) => String::new(),
    };
    Ok(Outcome::Done(Box::new(Login { user, secret })))
}

/// The link that brings the mobile app its API key, which only the app with the one-time pad can read.
fn mobile_link(pad: &Pad, api_key: &str, user: &UserRow, origin: &str) -> String {
    let query = Serializer::new(String::new())
        .append_pair("otp_encrypted_api_key", &hex(&pad.encrypt(api_key)))
        .append_pair("email", &user.delivery_email)
        .append_pair("user_id", &user.user_id.to_string())
        .append_pair("realm", origin)
        .finish();
    format!("zulip://login?{query}")
}

fn no_account(language: Language, email: &str, refusal: Refusal) -> Reply<NotJson> {
    match refusal {
        Refusal::NotInvited => view::not_invited(language, email),
        Refusal::Email(reason) => view::no_account(language, &reason),
        Refusal::TooMany => view::no_account(
            language,
            language.t("The person who invited you has invited many others. Please try again tomorrow, or ask an administrator for a link."),
        ),
    }
}

/// Records a failed login in the program's log and in the audit log.
async fn record_failure(
    app: &App,
    info: &RequestInfo,
    provider: &Provider,
    user_id: Option<UserId>,
    reason: &'static str,
) {
    let (peer, id) = (info.peer, user_id.map(|user_id| user_id.0));
    tracing::info!(address = %peer, user_id = id, provider = provider.id, reason, "a login failed");
    logins::record_failure(app, peer, user_id, reason).await;
}
