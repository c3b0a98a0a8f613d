//! Messages of the Welcome Bot to new users (feature level 416).

use crate::app::App;
use crate::auth::Ctx;
use crate::domain::messages::rules;
use crate::domain::rendering::{on_snapshot, render_for};
use crate::domain::rows::user::UserRow;
use crate::domain::{mail, notices, realm, rows};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{MessageId, UserId};
use teamchat_markdown::{Composition, Words};

/// Greets a new person in the job that creates the account, however it is created: no client starts with an empty list of
/// messages, and an email says how to log in.
pub fn send_hello(tx: &mut Tx<'_>, new_user: &UserRow) -> ApiResult<()> {
    let organization: String = realm::settings::NAME.get(tx)?;
    let language = notices::language_of(tx, new_user.user_id)?;
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
    mail::letters::account_created(tx, new_user)
}

/// Sends a new user a welcome text, by default the organization's, if there is one. It is sent after the job that
/// created the user, because it is rendered with the access of the user.
///
/// The user exists whether or not it can be sent, so a failure is only logged.
pub async fn greet(app: &App, user_id: UserId, text: Option<String>) {
    if let Err(error) = send_greeting(app, user_id, text).await {
        tracing::warn!(%error, %user_id, "the welcome text was not sent");
    }
}

async fn send_greeting(app: &App, user_id: UserId, text: Option<String>) -> ApiResult<()> {
    let text = match text {
        Some(text) => text,
        None => {
            app.readers.read(|snapshot| realm::settings::WELCOME_MESSAGE_CUSTOM_TEXT.get(snapshot)).await?
        }
    };
    if text.trim().is_empty() { Ok(()) } else { send(app, user_id, text).await.map(|_| ()) }
}

/// Renders a text with the access of a user, and sends it to them as the Welcome Bot.
pub async fn send(app: &App, user_id: UserId, text: String) -> ApiResult<MessageId> {
    let text = rules::content(&text)?;
    let (now, source) = (app.clock.seconds(), text.clone());
    let rendered = on_snapshot(app, None, &[&text], move |snapshot| {
        let reader = rows::user::caller(snapshot, user_id)?;
        render_for(Ctx::new(snapshot, &reader, now), "", &source)
    })
    .await?;
    app.writer.run(move |tx| notices::send_as_welcome_bot(tx, user_id, (text, rendered))).await
}
