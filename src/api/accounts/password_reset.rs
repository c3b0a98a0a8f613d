//! `/accounts/password/reset/`: an email with the link that sets a new password.

use crate::api::accounts::pages::{by_mail, form};
use crate::domain::accounts::password;
use crate::domain::mail::letters;
use crate::domain::{realm, users};
use crate::http::params::NoParams;
use crate::http::{Anyone, ApiResult, Call, Read, Reply, page};
use crate::store::Tx;
use crate::types::Language;
use serde::Deserialize;
use std::sync::Arc;

/// The fields of the form.
#[derive(Deserialize)]
pub struct ResetForm {
    /// The address of the account.
    #[serde(default)]
    email: String,
}

/// `GET /accounts/password/reset/`.
pub fn show(read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    let found = by_mail(read, read.info, without_mail)?;
    Ok(found.map_or_else(|page| page, |language| page_with(language, None)))
}

/// Says what to do where the server sends no mail.
fn without_mail(language: Language) -> Reply {
    page::reply(
        200,
        language,
        language.t("Forgot your password?"),
        &[
            language.t("This server does not send email. Ask an administrator of the organization for a link to set a new \
                 password."),
            language.t("If you are the only administrator, ask the operator of the server to run the command teamchat user \
                 password. It sets a new password."),
        ],
    )
}

fn page_with(language: Language, error: Option<&str>) -> Reply {
    form(&page::Form {
        language,
        title: language.t("Forgot your password?"),
        sentences: &[language.t(
            "Enter the email address of your account. You will receive an email with a link for a new password.",
        )],
        error,
        field: Some(page::Input { name: "email", label: language.t("Email"), kind: "email", value: "" }),
        button: language.t("Send the email"),
        ..page::Form::default()
    })
}

/// `POST /accounts/password/reset/`: sends the email. The answer is the same for all addresses.
pub async fn submit(call: Call<Anyone>, params: ResetForm) -> ApiResult<Reply> {
    let (app, info) = (Arc::clone(&call.app), call.info.clone());
    let language = match app.readers.read(|snapshot| by_mail(snapshot, &info, without_mail)).await? {
        Ok(language) => language,
        Err(page) => return Ok(page),
    };
    let email = params.email.trim().to_owned();
    if !users::names::is_new_email(&email) {
        return Ok(page_with(language, Some(language.t("Please enter your email address."))));
    }
    let counted = app
        .rate_limiter
        .count_letter(info.peer, &app.clock)
        .and_then(|()| app.rate_limiter.count_letter_of_account(&email, &app.clock));
    if let Err(error) = counted {
        return Ok(page::too_many_attempts(language, &error));
    }
    call.write(move |tx, _| send(tx, &email, language)).await?;
    Ok(page::redirect("/accounts/password/reset/done/".to_owned()))
}

fn send(tx: &mut Tx<'_>, email: &str, of_page: Language) -> ApiResult<()> {
    if realm::is_deactivated(tx)? || !realm::settings::PASSWORD_AUTH_ENABLED.get(tx)? {
        return Ok(());
    }
    match users::by_delivery_email(tx, email)? {
        Some(user) if user.is_bot() || user.is_system_bot => Ok(()),
        Some(user) if user.is_active => {
            let (key, expires) = password::create_reset_by_mail(tx, &user)?;
            letters::password_reset(tx, &user, &key, expires, true)
        }
        Some(user) => letters::no_password_to_reset(tx, &user.delivery_email, true, of_page),
        None => letters::no_password_to_reset(tx, email, false, of_page),
    }
}

/// `GET /accounts/password/reset/done/`.
pub fn done(read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    let language = realm::page_language(read, read.info.language)?;
    let sentence = language.t(
        "If there is an account that can have a new password, an email was sent to this address. The link in it \
         works once, within a day.",
    );
    Ok(page::reply(200, language, language.t("Check your email"), &[sentence]))
}
