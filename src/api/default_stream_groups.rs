//! Default channel groups: named lists of channels that new users can choose when they join. The published interface
//! calls them experimental; only administrators can change them.

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::channels::default_groups::{GroupRecord, delete_stream, emit_changed, list};
use crate::domain::limits::{
    MAX_CHANNELS_PER_REQUEST, MAX_DEFAULT_STREAM_GROUP_DESCRIPTION_LENGTH, MAX_DEFAULT_STREAM_GROUPS,
    organization,
};
use crate::domain::rows::channel::StreamRow;
use crate::domain::{access, channels, limits};
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Caller, Reply, Route, USER, User};
use crate::store::{ExecuteCached, Tx};
use crate::types::{StreamId, find_forbidden_in_name};
use hyper::Method;
use rusqlite::{Connection, OptionalExtension};
use serde::Deserialize;
use serde_json::json;

pub const RESOURCE: Resource =
    Resource { name: "default_stream_groups", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "default_stream_groups", fetch: state }];

/// The longest name of a group, in characters.
const MAX_NAME_LENGTH: usize = 60;

fn routes() -> Vec<Route> {
    vec![
        Route::write(Method::POST, "/default_stream_groups/create", USER, create),
        Route::write(Method::PATCH, "/default_stream_groups/{group_id}", USER, update),
        Route::write(Method::DELETE, "/default_stream_groups/{group_id}", USER, remove),
        Route::write(Method::PATCH, "/default_stream_groups/{group_id}/streams", USER, update_streams),
    ]
}

/// Parameters of `POST /default_stream_groups/create`.
#[derive(Deserialize)]
pub struct CreateParams {
    /// The name of the group, 1 to 60 characters. No other group may have it.
    group_name: String,
    /// The description as plain text, at most 1024 characters.
    description: BoundedText<MAX_DEFAULT_STREAM_GROUP_DESCRIPTION_LENGTH>,
    /// The names of its channels, at most 500. The caller must be able to read them. A channel that is a default
    /// channel is refused.
    stream_names: Vec<String>,
}

/// `POST /default_stream_groups/create`: creates a default channel group. Only for administrators.
fn create(tx: &mut Tx<'_>, caller: &User, params: CreateParams) -> ApiResult<Reply> {
    access::permissions::require_default_channels(caller)?;
    let streams = find_streams(tx, caller, &params.stream_names)?;
    check_not_default(tx, &streams, &params.group_name)?;
    check_name(&params.group_name)?;
    check_unique(tx, &params.group_name)?;
    let statement = "SELECT count(*) FROM default_stream_group";
    organization::check_few(tx, "default channel groups", statement, MAX_DEFAULT_STREAM_GROUPS)?;
    tx.execute_cached(
        "INSERT INTO default_stream_group (name, description) VALUES (?1, ?2)",
        (&params.group_name, &*params.description),
    )?;
    let group_id = tx.last_insert_rowid();
    for stream in &streams {
        insert_stream(tx, group_id, stream.stream_id)?;
    }
    tx.audit(
        Entry::new(Action::ItemCreated, subject(group_id, &params.group_name)).after(params.stream_names),
    )?;
    emit_changed(tx)?;
    Ok(Reply::ok())
}

/// A group as the subject of an entry of the audit log.
fn subject(group_id: i64, name: &str) -> Subject {
    Subject::with_id("default channel group", group_id).with_name(name)
}

/// Parameters of `PATCH /default_stream_groups/{group_id}`.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// The id of the group to change.
    group_id: i64,
    /// The new name, 1 to 60 characters. No other group may have it.
    new_group_name: Option<String>,
    /// The new description as plain text, at most 1024 characters.
    new_description: Option<BoundedText<MAX_DEFAULT_STREAM_GROUP_DESCRIPTION_LENGTH>>,
}

/// `PATCH /default_stream_groups/{group_id}`: changes name, description, or both. Only for administrators.
fn update(tx: &mut Tx<'_>, caller: &User, params: UpdateParams) -> ApiResult<Reply> {
    access::permissions::require_default_channels(caller)?;
    let is_empty = |text: Option<&str>| text.is_none_or(str::is_empty);
    if is_empty(params.new_group_name.as_deref()) && is_empty(params.new_description.as_deref()) {
        return Err(ApiError::bad_request("You must pass \"new_description\" or \"new_group_name\"."));
    }
    let mut group = find(tx, params.group_id)?;
    if let Some(name) = params.new_group_name {
        if name == group.name {
            return Err(ApiError::bad_request(format!(
                "This default channel group is already named '{name}'"
            )));
        }
        check_name(&name)?;
        check_unique(tx, &name)?;
        group.name = name;
    }
    if let Some(description) = params.new_description {
        group.description = description.into_inner();
    }
    tx.execute_cached(
        "UPDATE default_stream_group SET name = ?2, description = ?3 WHERE id = ?1",
        (group.id, &group.name, &group.description),
    )?;
    tx.audit(Entry::new(Action::ItemChanged, subject(group.id, &group.name)).after(group.description))?;
    emit_changed(tx)?;
    Ok(Reply::ok())
}

/// Parameters of `DELETE /default_stream_groups/{group_id}`.
#[derive(Deserialize)]
pub struct RemoveParams {
    /// The id of the group to delete.
    group_id: i64,
}

/// `DELETE /default_stream_groups/{group_id}`: deletes a group, but not its channels. Only for administrators.
fn remove(tx: &mut Tx<'_>, caller: &User, params: RemoveParams) -> ApiResult<Reply> {
    access::permissions::require_default_channels(caller)?;
    let group = find(tx, params.group_id)?;
    tx.execute_cached("DELETE FROM default_stream_group_stream WHERE group_id = ?1", [group.id])?;
    tx.execute_cached("DELETE FROM default_stream_group WHERE id = ?1", [group.id])?;
    tx.audit(Entry::new(Action::ItemDeleted, subject(group.id, &group.name)))?;
    emit_changed(tx)?;
    Ok(Reply::ok())
}

/// Parameters of `PATCH /default_stream_groups/{group_id}/streams`.
#[derive(Deserialize)]
pub struct StreamsParams {
    /// The id of the group to change.
    group_id: i64,
    /// `add` or `remove`.
    op: String,
    /// The names of the channels to add or remove, at most 500.
    stream_names: Vec<String>,
}

/// `PATCH /default_stream_groups/{group_id}/streams`: adds channels to a group or removes them, all or none. Only for
/// administrators.
fn update_streams(tx: &mut Tx<'_>, caller: &User, params: StreamsParams) -> ApiResult<Reply> {
    access::permissions::require_default_channels(caller)?;
    let group = find(tx, params.group_id)?;
    let streams = find_streams(tx, caller, &params.stream_names)?;
    let change: fn(&Connection, i64, StreamId) -> rusqlite::Result<bool> = match params.op.as_str() {
        "add" => {
            check_not_default(tx, &streams, &group.name)?;
            insert_stream
        }
        "remove" => delete_stream,
        _ => {
            let msg = "Invalid value for \"op\". Specify one of \"add\" or \"remove\".";
            return Err(ApiError::bad_request(msg));
        }
    };
    for stream in &streams {
        if !change(tx, group.id, stream.stream_id)? {
            let state = if params.op == "add" { "already" } else { "not" };
            return Err(ApiError::bad_request(format!(
                "Channel '{}' is {state} present in default channel group '{}'",
                stream.name, group.name
            )));
        }
    }
    tx.audit(
        Entry::new(Action::ItemChanged, subject(group.id, &group.name))
            .after(json!({ (params.op): params.stream_names })),
    )?;
    emit_changed(tx)?;
    Ok(Reply::ok())
}

/// `realm_default_stream_groups` of `POST /register`: the groups of channels that new users can choose, by name. Empty
/// for guests.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let groups = if request.caller.is_guest() { Vec::new() } else { list(request.connection)? };
    state.set::<Vec<GroupRecord>>("realm_default_stream_groups", &groups)
}

fn check_name(name: &str) -> ApiResult<()> {
    if name.trim().is_empty() {
        return Err(ApiError::bad_request(format!("Invalid default channel group name '{name}'")));
    }
    if name.chars().count() > MAX_NAME_LENGTH {
        return Err(ApiError::bad_request(format!(
            "Default channel group name too long (limit: {MAX_NAME_LENGTH} characters)"
        )));
    }
    if name.contains('\0') {
        return Err(ApiError::bad_request(format!(
            "Default channel group name '{name}' contains NULL (0x00) characters."
        )));
    }
    if find_forbidden_in_name(name).is_some() {
        return Err(ApiError::bad_request(format!("Invalid default channel group name '{name}'")));
    }
    Ok(())
}

fn check_unique(connection: &Connection, name: &str) -> ApiResult<()> {
    let exists: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM default_stream_group WHERE name = ?1)")?
        .query_row([name], |row| row.get(0))?;
    if exists {
        return Err(ApiError::bad_request(format!("Default channel group '{name}' already exists")));
    }
    Ok(())
}

/// Checks that no channel is a default channel: new users are subscribed to those anyway.
fn check_not_default(connection: &Connection, streams: &[StreamRow], group: &str) -> ApiResult<()> {
    let defaults = channels::default_streams(connection)?;
    match streams.iter().find(|stream| defaults.contains(&stream.stream_id)) {
        None => Ok(()),
        Some(stream) => Err(ApiError::bad_request(format!(
            "'{}' is a default channel and cannot be added to '{group}'",
            stream.name
        ))),
    }
}

fn find_streams(tx: &Tx<'_>, caller: &Caller, names: &[String]) -> ApiResult<Vec<StreamRow>> {
    limits::check("channels in one request", names.len(), MAX_CHANNELS_PER_REQUEST)?;
    let mut streams = Vec::new();
    for name in names {
        let found = channels::by_name(tx, name)?.filter(|stream| !stream.is_archived);
        match found {
            Some(stream) if access::channels::has_content_access(tx.ctx(caller), &stream)? => {
                streams.push(stream);
            }
            _ => return Err(ApiError::bad_request(format!("Invalid channel name '{name}'"))),
        }
    }
    Ok(streams)
}

fn find(connection: &Connection, group_id: i64) -> ApiResult<GroupRecord> {
    let group = connection
        .prepare_cached("SELECT name, id, description FROM default_stream_group WHERE id = ?1")?
        .query_row([group_id], |row| {
            Ok(GroupRecord {
                name: row.get(0)?,
                id: row.get(1)?,
                description: row.get(2)?,
                streams: Vec::new(),
            })
        })
        .optional()?;
    group.ok_or_else(|| {
        ApiError::bad_request(format!("Default channel group with id '{group_id}' does not exist."))
    })
}

/// Adds a channel to a group. Returns whether it was not in the group before.
fn insert_stream(connection: &Connection, group_id: i64, stream_id: StreamId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO default_stream_group_stream (group_id, stream_id) VALUES (?1, ?2)",
        )?
        .execute((group_id, stream_id))
        .map(|rows| rows > 0)
}
