//! `POST /messages/render`: renders a text without sending it.

use crate::auth::Ctx;
use crate::domain::messages;
use crate::domain::rendering::{on_snapshot, render_for};
use crate::http::{ApiResult, Call, Caller, Reply, User};
use serde::{Deserialize, Serialize};

/// Parameters of `POST /messages/render`.
#[derive(Deserialize)]
pub struct RenderParams {
    /// The text in Markdown. It is cut to 10,000 characters.
    content: String,
}

/// The reply to `POST /messages/render`.
#[derive(Serialize)]
pub struct RenderedMessage {
    /// The text as HTML.
    pub rendered: String,
}

/// `POST /messages/render`: returns the HTML of a text, as a message of the caller would have it. Sends nothing.
pub async fn render_message(call: Call<User>, params: RenderParams) -> ApiResult<Reply<RenderedMessage>> {
    let content = messages::rules::content(&params.content).unwrap_or_default();
    let (now, caller, origin) = (call.app.clock.seconds(), Caller::clone(&call.caller), call.info.origin);
    let text = content.clone();
    let rendered = on_snapshot(&call.app, Some(caller.quota_owner()), &[&text], move |snapshot| {
        render_for(Ctx::new(snapshot, &caller, now), &origin, &content)
    })
    .await?;
    Reply::data(&RenderedMessage { rendered: rendered.html })
}
