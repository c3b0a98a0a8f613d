//! `GET /realm/profile_fields`.

use crate::domain::profile_fields::sql;
use crate::http::params::NoParams;
use crate::http::{ApiResult, Read, Reply, User};

/// `GET /realm/profile_fields`: all fields, as they are shown.
pub fn get_profile_fields(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    Reply::field("custom_fields", &sql::all(read)?)
}
