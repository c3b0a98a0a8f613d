//! Messages of the Welcome Bot to new users (feature level 416).

use crate::domain::rows::user::UserRow;
use crate::domain::{mail, notices, realm, user_settings};
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use teamchat_markdown::{Composition, Words};

/// Greets a new person in the job that creates the account, however it is created: no client starts with an empty list of
/// messages, and an email says how to log in. `text` is the welcome text; `None` means that of the organization.
pub fn greet(tx: &mut Tx<'_>, new_user: &UserRow, text: Option<String>) -> ApiResult<()> {
    let organization: String = realm::settings::NAME.get(tx)?;
    let language = user_settings::language_of(tx, new_user.user_id)?;
    let hello =
        language.t("Hello, and welcome to {organization}! 👋 This is a direct message from me, Welcome Bot.");
    let organization = Words::default().strong_text(&organization);
    let hello = Words::filled(hello, &[("organization", organization)]);
    let mut content = Composition::from(hello).paragraph(Words::new(language.t(
        "Conversations happen in channels, and each channel has topics. Look around, reply where you have something \
         to say, or begin a topic of your own.",
    )));
    if new_user.role.is_administrator() {
        content =
            content.paragraph(Words::new(language.t(
                "You are an administrator of this organization: you can create channels and invite people.",
            )));
    }
    notices::send_as_welcome_bot(tx, new_user.user_id, content.finish())?;
    queue_text(tx, new_user.user_id, text)?;
    mail::letters::account_created(tx, new_user)
}

/// Queues a welcome text that is not blank: jobs do not render, and it is rendered with the access of the new user.
fn queue_text(tx: &Tx<'_>, user_id: UserId, text: Option<String>) -> ApiResult<()> {
    let text = match text {
        Some(text) => text,
        None => realm::settings::WELCOME_MESSAGE_CUSTOM_TEXT.get(tx)?,
    };
    if !text.trim().is_empty() {
        tx.execute_cached("INSERT INTO welcome_text (user_id, content) VALUES (?1, ?2)", (user_id, text))?;
        tx.wake_tasks_after_commit();
    }
    Ok(())
}
