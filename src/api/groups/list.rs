//! `GET /user_groups`.

use super::events;
use crate::http::{ApiResult, Read, Reply, User};
use serde::Deserialize;

/// Parameters of `GET /user_groups`.
#[derive(Deserialize)]
pub struct GroupsParams {
    /// Also the groups that are no longer in use.
    #[serde(default)]
    include_deactivated_groups: bool,
}

/// `GET /user_groups`: all groups.
pub fn user_groups(read: &Read<'_, User>, params: GroupsParams) -> ApiResult<Reply> {
    let groups = events::all(read, params.include_deactivated_groups, read.app.clock.seconds())?;
    Reply::field("user_groups", &groups)
}
