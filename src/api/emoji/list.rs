//! `GET /realm/emoji`.

use super::events;
use crate::http::params::NoParams;
use crate::http::{ApiResult, Read, Reply, User};

/// `GET /realm/emoji`: all custom emoji by their ids, also those that are deactivated.
pub fn get_custom_emoji(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    Reply::field("emoji", &events::all(read)?)
}
