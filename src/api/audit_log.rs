//! `GET /audit_log`: the entries of the audit log, for owners. Not part of the published interface, whose server shows
//! them to its operator only.

use crate::api::resource::Resource;
use crate::domain::audit;
use crate::domain::audit::{AuditRecord, Filter};
use crate::http::params::UnixTime;
use crate::http::{ApiError, ApiResult, OWNER, Owner, Read, Reply, Route};
use crate::types::UserId;
use hyper::Method;
use serde::{Deserialize, Serialize};

pub const RESOURCE: Resource = Resource { name: "audit_log", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![Route::read(Method::GET, "/audit_log", OWNER, list).slow()]
}

/// Number of entries in a reply, if the request does not say.
const DEFAULT_LIMIT: usize = 100;

/// Parameters of `GET /audit_log`.
#[derive(Deserialize)]
struct ListParams {
    /// Only entries with smaller ids. For the next page, pass the last id of the previous page.
    before_id: Option<i64>,
    /// Only entries since this time, in UNIX seconds.
    since: Option<UnixTime>,
    /// Only entries of one kind, such as `login_failed`.
    action: Option<String>,
    /// Only entries by or about this user.
    user_id: Option<UserId>,
    /// Maximum number of entries: at most 1000, and 100 by default.
    limit: Option<usize>,
}

/// The reply to `GET /audit_log`.
#[derive(Serialize)]
struct AuditLog {
    /// The entries, the newest first.
    entries: Vec<AuditRecord>,
}

/// `GET /audit_log`: logins and changes to accounts, credentials, permissions and settings, the newest first.
fn list(read: &Read<'_, Owner>, params: ListParams) -> ApiResult<Reply<AuditLog>> {
    let ListParams { before_id, since, action, user_id, limit } = params;
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if limit > audit::MAX_ENTRIES {
        return Err(ApiError::bad_request(format!("Invalid limit: at most {}", audit::MAX_ENTRIES)));
    }
    let since = since.map(UnixTime::seconds);
    let filter = Filter { before_id, since, action, user_id, with_emails: false, limit };
    Reply::data(&AuditLog { entries: audit::list(read, &filter)? })
}
