//! `POST /messages/render`: renders a text without sending it.

use crate::domain::messages::rules;
use crate::domain::rendering::render_for;
use crate::http::{ApiResult, Read, Reply, User};
use serde::Deserialize;

/// Parameters of `POST /messages/render`.
#[derive(Deserialize)]
pub struct RenderParams {
    /// Markdown.
    content: String,
}

/// `POST /messages/render`.
pub fn render_message(read: &Read<'_, User>, params: RenderParams) -> ApiResult<Reply> {
    let content = rules::content(&params.content).unwrap_or_default();
    let rendered = render_for(read, read.caller, read.app.clock.seconds(), &read.info.origin, &content)?;
    Reply::field("rendered", &rendered.html)
}
