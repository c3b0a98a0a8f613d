//! `POST /realm/test_welcome_bot_custom_message`: what a greeting would look like.

use crate::api::realm::changes::MAX_WELCOME_MESSAGE_LENGTH;
use crate::domain::notices::welcome;
use crate::http::params::BoundedText;
use crate::http::{Administrator, ApiError, ApiResult, Reply};
use crate::store::Tx;
use serde::Deserialize;

/// Parameters of `POST /realm/test_welcome_bot_custom_message`.
#[derive(Deserialize)]
pub struct TestParams {
    /// Markdown.
    welcome_message_custom_text: BoundedText<MAX_WELCOME_MESSAGE_LENGTH>,
}

/// `POST /realm/test_welcome_bot_custom_message`: the Welcome Bot sends the text to the caller (feature level 416).
pub fn send_test_message(tx: &mut Tx<'_>, caller: &Administrator, params: TestParams) -> ApiResult<Reply> {
    let text = params.welcome_message_custom_text.into_inner();
    if text.is_empty() {
        return Err(ApiError::bad_request("Message must not be empty"));
    }
    Reply::field("message_id", &welcome::send(tx, caller.user_id, text)?)
}
