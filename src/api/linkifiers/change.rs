//! Adding, changing, removing and ordering linkifiers. Messages that are there already stay as they are.

use crate::api::linkifiers::{events, rules};
use crate::domain::linkifiers::sql;
use crate::http::params::Trimmed;
use crate::http::{Administrator, ApiError, ApiResult, Reply};
use crate::store::Tx;
use serde::Deserialize;
use std::collections::HashSet;

/// Parameters of `POST /realm/filters`.
#[derive(Deserialize)]
pub struct AddParams {
    /// A regular expression with named groups.
    pattern: Trimmed,
    /// RFC 6570; its variables are the groups.
    url_template: Trimmed,
}

/// `POST /realm/filters`: adds a linkifier behind the others.
pub fn add_linkifier(tx: &mut Tx<'_>, _caller: &Administrator, params: AddParams) -> ApiResult<Reply> {
    rules::check(&params.pattern, &params.url_template, is_taken(tx, &params.pattern, None)?)?;
    let id = sql::insert(tx, &params.pattern, &params.url_template)?;
    events::tell_changed(tx)?;
    Reply::field("id", &id)
}

/// Parameters of `PATCH /realm/filters/{filter_id}`.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// Which one.
    filter_id: i64,
    /// A regular expression with named groups.
    pattern: Trimmed,
    /// RFC 6570; its variables are the groups.
    url_template: Trimmed,
}

/// `PATCH /realm/filters/{filter_id}`: changes a linkifier; it keeps its place.
pub fn update_linkifier(tx: &mut Tx<'_>, _caller: &Administrator, params: UpdateParams) -> ApiResult<Reply> {
    let id = params.filter_id;
    if !sql::all(tx)?.iter().any(|linkifier| linkifier.id == id) {
        return Err(not_found());
    }
    rules::check(&params.pattern, &params.url_template, is_taken(tx, &params.pattern, Some(id))?)?;
    sql::update(tx, id, &params.pattern, &params.url_template)?;
    events::tell_changed(tx)?;
    Ok(Reply::ok())
}

/// Parameters of `DELETE /realm/filters/{filter_id}`.
#[derive(Deserialize)]
pub struct RemoveParams {
    /// Which one.
    filter_id: i64,
}

/// `DELETE /realm/filters/{filter_id}`.
pub fn remove_linkifier(tx: &mut Tx<'_>, _caller: &Administrator, params: RemoveParams) -> ApiResult<Reply> {
    if !sql::delete(tx, params.filter_id)? {
        return Err(not_found());
    }
    events::tell_changed(tx)?;
    Ok(Reply::ok())
}

/// Parameters of `PATCH /realm/linkifiers`.
#[derive(Deserialize)]
pub struct ReorderParams {
    /// The ids of all linkifiers, the first to be tried first.
    ordered_linkifier_ids: Vec<i64>,
}

/// `PATCH /realm/linkifiers`: orders the linkifiers; where two match the same text, the first wins.
pub fn reorder_linkifiers(
    tx: &mut Tx<'_>,
    _caller: &Administrator,
    params: ReorderParams,
) -> ApiResult<Reply> {
    let ids = params.ordered_linkifier_ids;
    let wanted: HashSet<i64> = ids.iter().copied().collect();
    if wanted.len() < ids.len() {
        return Err(ApiError::bad_request("The ordered list must not contain duplicated linkifiers"));
    }
    let all: HashSet<i64> = sql::all(tx)?.iter().map(|linkifier| linkifier.id).collect();
    if wanted != all {
        return Err(ApiError::bad_request(
            "The ordered list must enumerate all existing linkifiers exactly once",
        ));
    }
    if !ids.is_empty() {
        for (position, id) in ids.iter().enumerate() {
            sql::set_position(tx, *id, position)?;
        }
        events::tell_changed(tx)?;
    }
    Ok(Reply::ok())
}

/// Whether another linkifier has the pattern.
fn is_taken(tx: &Tx<'_>, pattern: &str, own_id: Option<i64>) -> ApiResult<bool> {
    let all = sql::all(tx)?;
    Ok(all.iter().any(|linkifier| linkifier.pattern == pattern && Some(linkifier.id) != own_id))
}

fn not_found() -> ApiError {
    ApiError::bad_request("Linkifier not found.")
}
