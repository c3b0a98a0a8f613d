//! `/accounts/find/`: emails that say whether addresses have accounts.

use crate::api::accounts::pages::{by_mail, form};
use crate::domain::mail::letters;
use crate::domain::{realm, users};
use crate::http::params::NoParams;
use crate::http::{Anyone, ApiResult, Call, Read, Reply, page};
use crate::store::Tx;
use crate::types::{Language, fill};
use serde::Deserialize;
use std::sync::Arc;

/// The most addresses of one request.
const MAX_EMAILS: usize = 10;

/// The fields of the form.
#[derive(Deserialize)]
pub struct FindForm {
    /// Addresses, separated by commas: at most 10.
    #[serde(default)]
    emails: String,
}

/// `GET /accounts/find/`.
pub fn show(read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    let found = by_mail(read, read.info, without_mail)?;
    Ok(found.map_or_else(|page| page, |language| page_with(language, None)))
}

/// Each server has one organization.
fn without_mail(language: Language) -> Reply {
    page::reply(
        200,
        language,
        language.t("Find your account"),
        &[
            language.t("This server has only one organization, at the address that you have opened. Log in here with your \
                 email."),
            language.t("If you do not know which email you have here, ask an administrator of the organization."),
        ],
    )
}

fn page_with(language: Language, error: Option<&str>) -> Reply {
    form(&page::Form {
        language,
        title: language.t("Find your account"),
        sentences: &[
            language.t("Enter your email addresses, separated by commas: at most 10. Each receives an email that says whether it has \
                 an account here."),
        ],
        error,
        field: Some(page::Input { name: "emails", label: language.t("Email"), kind: "text", value: "" }),
        button: language.t("Send the emails"),
        ..page::Form::default()
    })
}

/// `POST /accounts/find/`: sends one email to each address, and none in a deactivated organization, with the same answer. Each
/// counts for the limits of the client's address and of its own.
pub async fn submit(call: Call<Anyone>, params: FindForm) -> ApiResult<Reply> {
    let (app, info) = (Arc::clone(&call.app), call.info.clone());
    let language = match app.readers.read(|snapshot| by_mail(snapshot, &info, without_mail)).await? {
        Ok(language) => language,
        Err(page) => return Ok(page),
    };
    let emails = users::emails::distinct(params.emails.split([',', '\n']), MAX_EMAILS);
    if emails.is_empty()
        || emails.len() > MAX_EMAILS
        || !emails.iter().all(|email| users::names::is_new_email(email))
    {
        return Ok(page_with(language, Some(language.t("Enter between 1 and 10 email addresses."))));
    }
    for email in &emails {
        if let Err(error) = app.rate_limiter.count_letter_to("find", email, info.peer, &app.clock) {
            return Ok(page::too_many_attempts(language, &error));
        }
    }
    let typed = emails.join(", ");
    let job = move |tx: &mut Tx<'_>, _: &Anyone| -> ApiResult<()> {
        if realm::is_deactivated(tx)? {
            return Ok(());
        }
        for email in &emails {
            let user = users::by_delivery_email(tx, email)?;
            let has_account = user.is_some_and(|user| user.is_active && !user.is_bot());
            letters::find_account(tx, email, has_account, language)?;
        }
        Ok(())
    };
    call.write(job).await?;
    let sentence = fill(language.t("Emails were sent to: {emails}."), &[("emails", &typed)]);
    Ok(page::reply(200, language, language.t("Check your email"), &[&sentence]))
}
