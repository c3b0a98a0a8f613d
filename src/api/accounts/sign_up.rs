//! Sign-up with a proven address: `/register/`, and the pages after it. The link in the email leads to `/join/{key}/`.

use crate::api::accounts::pages::{dead_link, form};
use crate::domain::allowed_domains::check_may_join;
use crate::domain::invites::record::InviteRow;
use crate::domain::users::{emails, names};
use crate::domain::{invites, mail, realm};
use crate::http::{Anyone, ApiResult, Call, Read, Reply, page};
use crate::store::Tx;
use crate::types::{Language, fill};
use rusqlite::Connection;
use serde::Deserialize;
use std::sync::Arc;

/// The fields of the form.
#[derive(Deserialize)]
pub struct SignUpForm {
    /// The address of the new account.
    #[serde(default)]
    email: String,
    /// The secret part of a reusable link.
    #[serde(default)]
    invite: String,
}

/// Parameters of the pages after it.
#[derive(Deserialize)]
pub struct KeyParams {
    /// The secret part of the link.
    key: String,
}

/// Parameters of `GET /accounts/send_confirm/`.
#[derive(Deserialize)]
pub struct SentParams {
    /// The address to which the email went.
    #[serde(default)]
    email: String,
}

/// The terms on which a person may sign up.
enum Terms {
    /// The organization admits people without an invitation.
    Open,
    /// A reusable link has them.
    Link(Box<InviteRow>),
}

/// The terms of a request; `None` if an invitation is needed.
fn terms(connection: &Connection, key: &str, now: i64) -> ApiResult<Option<Terms>> {
    if !mail::is_on(connection)? || !realm::settings::PASSWORD_AUTH_ENABLED.get(connection)? {
        return Ok(None);
    }
    if key.is_empty() {
        return Ok(invites::sign_up::is_open(connection)?.then_some(Terms::Open));
    }
    let invite = invites::load_by_key(connection, key)?
        .filter(|invite| invite.is_multiuse() && !invite.is_for_owner() && invite.is_usable(now));
    let Some(invite) = invite else { return Ok(None) };
    let is_entitled = invites::rules::find_entitled_inviter(connection, &invite, now)?.is_some();
    Ok(is_entitled.then(|| Terms::Link(Box::new(invite))))
}

/// `GET /register/`.
pub fn show(read: &Read<'_, Anyone>, params: SignUpForm) -> ApiResult<Reply> {
    let language = realm::page_language(read, read.info.language)?;
    if terms(read, &params.invite, read.app.clock.seconds())?.is_none() {
        return Ok(needs_invitation(language));
    }
    Ok(page_with(language, &params, None))
}

fn needs_invitation(language: Language) -> Reply {
    let sentence =
        language.t("You need an invitation to join this organization. Please ask one of its members.");
    page::reply(404, language, language.t("You need an invitation"), &[sentence])
}

fn page_with(language: Language, params: &SignUpForm, error: Option<&str>) -> Reply {
    form(&page::Form {
        language,
        title: language.t("Sign up"),
        sentences: &[language
            .t("Enter your email address. You will receive an email with the link to your new account.")],
        error,
        hidden: &[("invite", &params.invite)],
        field: Some(page::Input {
            name: "email",
            label: language.t("Email"),
            kind: "email",
            value: &params.email,
        }),
        button: language.t("Send the email"),
    })
}

/// `POST /register/`: sends the email. For an address with an account it says how to log in, and the page is the same.
pub async fn submit(call: Call<Anyone>, params: SignUpForm) -> ApiResult<Reply> {
    let (app, info) = (Arc::clone(&call.app), call.info.clone());
    let now = app.clock.seconds();
    let email = params.email.trim().to_owned();
    let checked = app.readers.read(|snapshot| -> ApiResult<_> {
        let language = realm::page_language(snapshot, info.language)?;
        if terms(snapshot, &params.invite, now)?.is_none() {
            return Ok((language, Some(needs_invitation(language))));
        }
        let error = if !names::is_new_email(&email) || emails::is_reserved(snapshot, &email)? {
            Some(language.t("Please enter your email address.").to_owned())
        } else {
            let refusal = check_may_join(snapshot, &email)?.err();
            refusal.map(|refusal| refusal.reason_for_new_user(language, &email))
        };
        Ok((language, error.map(|error| page_with(language, &params, Some(&error)))))
    });
    let (language, page) = checked.await?;
    if let Some(page) = page {
        return Ok(page);
    }
    if let Err(error) = app.rate_limiter.count_letter_to("sign-up", &email, info.peer, &app.clock) {
        return Ok(page::too_many_attempts(language, &error));
    }
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("email", &email).finish();
    let job = move |tx: &mut Tx<'_>, _: &Anyone| -> ApiResult<()> {
        let Some(terms) = terms(tx, &params.invite, tx.now())? else { return Ok(()) };
        if emails::is_taken(tx, &email)? {
            return mail::letters::find_account(tx, &email, true, language);
        }
        let reusable = match &terms {
            Terms::Open => None,
            Terms::Link(invite) => Some(invite.as_ref()),
        };
        invites::sign_up::ask(tx, &email, reusable, language)
    };
    call.write(job).await?;
    Ok(page::redirect(format!("/accounts/send_confirm/?{query}")))
}

/// `GET /accounts/send_confirm/`: says that an email is on its way.
pub fn sent(read: &Read<'_, Anyone>, params: SentParams) -> ApiResult<Reply> {
    let language = realm::page_language(read, read.info.language)?;
    let email = params.email.trim();
    let sentence = if names::is_new_email(email) {
        let text = language
            .t("An email was sent to {email}. The link in it creates your account, and works for a day.");
        fill(text, &[("email", email)])
    } else {
        language
            .t("An email was sent to you. The link in it creates your account, and works for a day.")
            .to_owned()
    };
    Ok(page::reply(200, language, language.t("Check your email"), &[&sentence]))
}

/// `GET /accounts/do_confirm/{key}`: leads to the page that creates the account.
pub fn confirm(read: &Read<'_, Anyone>, params: KeyParams) -> ApiResult<Reply> {
    let is_key = params.key.len() == 24 && params.key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_key {
        read.app.rate_limiter.count_wrong_key(read.info.peer, &read.app.clock)?;
        return Ok(dead_link(realm::page_language(read, read.info.language)?));
    }
    Ok(page::redirect(format!("/join/{}/", params.key)))
}
