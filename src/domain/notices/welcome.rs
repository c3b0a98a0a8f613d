//! Messages of the Welcome Bot to new users (feature level 416).

use crate::app::App;
use crate::domain::access::user_rows;
use crate::domain::access::user_rows::UserRow;
use crate::domain::notices;
use crate::domain::realm::settings;
use crate::domain::rendering::{on_snapshot, render_for};
use crate::http::ApiResult;
use crate::markdown::{Composition, Words};
use crate::store::Tx;
use crate::types::{MessageId, UserId};

/// Greets a new person in the job that creates the account, however it is created: no client starts with an empty list of
/// messages.
pub fn send_hello(tx: &mut Tx<'_>, new_user: &UserRow) -> ApiResult<()> {
    let organization: String = settings::NAME.get(tx)?;
    let hello = Words::new("Hello, and welcome to ")
        .strong_text(&organization)
        .words("! 👋 This is a direct message from me, Welcome Bot.");
    let mut content = Composition::from(hello).paragraph(Words::new(
        "Conversations happen in channels, and each channel has topics. Look around, reply where you have something \
         to say, or begin a topic of your own.",
    ));
    if new_user.role.is_administrator() {
        content = content.paragraph(Words::new(
            "You administer this organization: you can make channels and invite people.",
        ));
    }
    notices::send_as_welcome_bot(tx, new_user.user_id, content.finish()).map(|_| ())
}

/// Sends a new user a welcome text, by default the organization's, if there is one. It is sent after the job that created
/// the user, because it is rendered with what the user may see.
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
        None => app.readers.read(|snapshot| settings::WELCOME_MESSAGE_CUSTOM_TEXT.get(snapshot)).await?,
    };
    if text.trim().is_empty() { Ok(()) } else { send(app, user_id, text).await.map(|_| ()) }
}

/// Renders a text with what a user may see, and sends it to them as the Welcome Bot.
pub async fn send(app: &App, user_id: UserId, text: String) -> ApiResult<MessageId> {
    let (now, source) = (app.clock.seconds(), text.clone());
    let rendered = on_snapshot(app, None, &[&text], move |snapshot| {
        let reader = user_rows::caller(snapshot, user_id)?;
        render_for(snapshot, &reader, now, "", &source)
    })
    .await?;
    app.writer.run(move |tx| notices::send_as_welcome_bot(tx, user_id, (text, rendered))).await
}
