//! `GET /realm/domains`.

use super::sql;
use crate::http::{ApiResult, Read, Reply, User};
use serde::Deserialize;

/// `GET /realm/domains` has no parameters.
#[derive(Deserialize)]
pub struct NoParams {}

/// `GET /realm/domains`: all of them, the oldest first.
pub fn get_domains(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    Reply::field("domains", &sql::all(read)?)
}
