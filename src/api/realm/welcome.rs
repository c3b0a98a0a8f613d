//! Sending welcome texts. A text is rendered with the access of its reader, after the job that created the account and queued
//! the text.

use crate::app::App;
use crate::auth::Ctx;
use crate::domain::messages::rules;
use crate::domain::rendering::{on_snapshot, render_for};
use crate::domain::{notices, realm, rows};
use crate::http::ApiResult;
use crate::scheduler;
use crate::scheduler::DuePosition;
use crate::store::Snapshot;
use crate::types::{MessageId, UserId};
use rusqlite::OptionalExtension;
use teamchat_markdown::Rendered;

/// Sends all queued texts.
pub async fn deliver_due(app: &App) -> ApiResult<Option<i64>> {
    scheduler::process_due(app, load_next, |(user_id, text)| deliver(app, user_id, text)).await
}

/// The text of the first user after a position; `None` while the organization is deactivated. All texts are due.
fn load_next(
    snapshot: &Snapshot<'_>,
    (_, after): DuePosition,
) -> ApiResult<Option<(DuePosition, (UserId, String))>> {
    if realm::is_deactivated(snapshot)? {
        return Ok(None);
    }
    let row = snapshot
        .prepare_cached(
            "SELECT user_id, content FROM welcome_text WHERE user_id > ?1 ORDER BY user_id LIMIT 1",
        )?
        .query_row([after], |row| Ok(((0, row.get(0)?), (row.get(0)?, row.get(1)?))));
    Ok(row.optional()?)
}

/// Sends a text, or drops one that cannot be sent. Returns an error if the server and not the text is to blame: then it is tried
/// again.
async fn deliver(app: &App, user_id: UserId, text: String) -> ApiResult<()> {
    let message = match render(app, user_id, &text).await {
        Err(error) if error.is_transient() => return Err(error),
        message => message,
    };
    if let Err(error) = &message {
        tracing::warn!(%error, %user_id, "the welcome text was not sent");
    }
    let job = app.writer.run(move |tx| -> ApiResult<()> {
        let statement = "DELETE FROM welcome_text WHERE user_id = ?1";
        let is_waiting = tx.prepare_cached(statement)?.execute([user_id])? > 0;
        if is_waiting && let Ok(message) = message {
            notices::send_as_welcome_bot(tx, user_id, message)?;
        }
        Ok(())
    });
    job.await
}

/// Sends a text to a user as the Welcome Bot.
pub async fn send(app: &App, user_id: UserId, text: &str) -> ApiResult<MessageId> {
    let message = render(app, user_id, text).await?;
    app.writer.run(move |tx| notices::send_as_welcome_bot(tx, user_id, message)).await
}

/// Renders a text with the access of a user.
async fn render(app: &App, user_id: UserId, text: &str) -> ApiResult<(String, Rendered)> {
    let text = rules::content(text)?;
    let (now, source) = (app.clock.seconds(), text.clone());
    let rendered = on_snapshot(app, None, &[&text], move |snapshot| {
        let reader = rows::user::caller(snapshot, user_id)?;
        render_for(Ctx::new(snapshot, &reader, now), "", &source)
    })
    .await?;
    Ok((text, rendered))
}
