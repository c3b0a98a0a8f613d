//! A channel's description as HTML.

use crate::domain::messages::render_context::render_description;
use crate::http::{ApiResult, Call, User};

/// Renders descriptions as their author sees the organization, before the writer is asked.
pub async fn render(call: &Call<User>, texts: &[String]) -> ApiResult<Vec<String>> {
    if texts.iter().all(String::is_empty) {
        return Ok(texts.to_vec());
    }
    let now = call.app.clock.seconds();
    let origin = &call.info.origin;
    call.app
        .readers
        .read(|snapshot| {
            texts
                .iter()
                .map(|text| render_description(snapshot, &call.caller, now, origin, text))
                .collect::<ApiResult<_>>()
        })
        .await
}
