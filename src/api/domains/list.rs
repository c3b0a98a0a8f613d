//! `GET /realm/domains`.

use crate::domain::domains::sql;
use crate::http::params::NoParams;
use crate::http::{ApiResult, Read, Reply, User};

/// `GET /realm/domains`: all of them, the oldest first.
pub fn get_domains(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    Reply::field("domains", &sql::all(read)?)
}
