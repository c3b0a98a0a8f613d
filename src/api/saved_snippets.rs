//! `/saved_snippets`: texts that a user saves for reuse (feature levels 297 and 368).

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::domain::limits::{Accounts, MAX_MESSAGE_LENGTH, MAX_OWNED_LENGTH, MAX_SAVED_SNIPPETS};
use crate::events::{Audience, uniform_event};
use crate::http::params::{NoParams, RequiredText};
use crate::http::{ApiError, ApiResult, Read, Reply, Route, USER, User};
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use hyper::Method;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

pub const RESOURCE: Resource = Resource { name: "saved_snippets", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "saved_snippets", fetch: state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/saved_snippets", USER, get_saved_snippets).slow(),
        Route::write(Method::POST, "/saved_snippets", USER, create_saved_snippet),
        Route::write(Method::PATCH, "/saved_snippets/{saved_snippet_id}", USER, edit_saved_snippet),
        Route::write(Method::DELETE, "/saved_snippets/{saved_snippet_id}", USER, delete_saved_snippet),
    ]
}

/// The maximum length of a title, in characters.
const MAX_TITLE_LENGTH: usize = 60;

/// A saved snippet: a text to insert in messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSnippet {
    /// The snippet's id.
    pub id: i64,
    /// The title, at most 60 characters.
    pub title: String,
    /// The content, in Markdown.
    pub content: String,
    /// When the snippet was created, in UNIX seconds.
    pub date_created: i64,
}

/// `saved_snippets`, `op: add` and `update`: a snippet was created or changed.
#[derive(Serialize, Deserialize)]
pub struct SnippetChanged {
    /// `add` for a new snippet, `update` for a changed one.
    op: Cow<'static, str>,
    /// The snippet as it is now.
    saved_snippet: SavedSnippet,
}

uniform_event!(SnippetChanged: "saved_snippets", name "saved_snippets/change", version 1);

/// `saved_snippets`, `op: remove`: a snippet was deleted.
#[derive(Serialize, Deserialize)]
pub struct SnippetRemoved {
    /// The id of the deleted snippet.
    saved_snippet_id: i64,
}

uniform_event!(SnippetRemoved: "saved_snippets", op "remove", version 1);

/// The reply to `GET /saved_snippets`.
#[derive(Serialize)]
struct SavedSnippets {
    /// The caller's snippets, the oldest first.
    saved_snippets: Vec<SavedSnippet>,
}

/// `GET /saved_snippets`: lists the caller's snippets, the oldest first.
fn get_saved_snippets(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<SavedSnippets>> {
    Reply::data(&SavedSnippets { saved_snippets: list(read, read.caller.user_id)? })
}

/// Parameters of `POST /saved_snippets`.
#[derive(Deserialize)]
pub struct CreateParams {
    /// The title, 1 to 60 characters.
    title: RequiredText<MAX_TITLE_LENGTH>,
    /// The content in Markdown, 1 to 10,000 characters.
    content: RequiredText<MAX_MESSAGE_LENGTH>,
}

/// The reply to `POST /saved_snippets`.
#[derive(Serialize)]
struct CreatedSnippet {
    /// The id of the new snippet.
    saved_snippet_id: i64,
}

/// `POST /saved_snippets`: creates a saved snippet. A person can have at most 500.
fn create_saved_snippet(
    tx: &mut Tx<'_>,
    caller: &User,
    params: CreateParams,
) -> ApiResult<Reply<CreatedSnippet>> {
    let statement = "SELECT count(*) FROM saved_snippet WHERE user_id IN (SELECT value FROM json_each(?1))";
    let accounts = Accounts::of(tx, caller.user_id, tx.now())?;
    accounts.check("saved snippets", statement, 1, MAX_SAVED_SNIPPETS)?;
    let mut snippet = SavedSnippet {
        id: 0,
        title: params.title.into_inner(),
        content: params.content.into_inner(),
        date_created: tx.now(),
    };
    snippet.id = insert(tx, caller.user_id, &snippet)?;
    check_length(tx, caller)?;
    let saved_snippet_id = snippet.id;
    emit_changed(tx, "add", caller.user_id, snippet);
    Reply::data(&CreatedSnippet { saved_snippet_id })
}

/// Parameters of `PATCH /saved_snippets/{saved_snippet_id}`.
#[derive(Deserialize)]
pub struct EditParams {
    /// The id of a snippet of the caller.
    saved_snippet_id: i64,
    /// The new title, 1 to 60 characters.
    title: Option<RequiredText<MAX_TITLE_LENGTH>>,
    /// The new content in Markdown, 1 to 10,000 characters.
    content: Option<RequiredText<MAX_MESSAGE_LENGTH>>,
}

/// `PATCH /saved_snippets/{saved_snippet_id}`: changes the title, the content, or both.
fn edit_saved_snippet(tx: &mut Tx<'_>, caller: &User, params: EditParams) -> ApiResult<Reply> {
    let before = load(tx, caller.user_id, params.saved_snippet_id)?;
    let mut snippet = before.clone();
    if let Some(title) = params.title {
        snippet.title = title.into_inner();
    }
    if let Some(content) = params.content {
        snippet.content = content.into_inner();
    }
    if snippet != before {
        tx.execute_cached(
            "UPDATE saved_snippet SET title = ?2, content = ?3 WHERE id = ?1",
            (snippet.id, &snippet.title, &snippet.content),
        )?;
        check_length(tx, caller)?;
        emit_changed(tx, "update", caller.user_id, snippet);
    }
    Ok(Reply::ok())
}

fn check_length(tx: &Tx<'_>, caller: &User) -> ApiResult<()> {
    let statement = "SELECT sum(octet_length(content)) FROM saved_snippet WHERE user_id IN (SELECT value FROM json_each(?1))";
    let accounts = Accounts::of(tx, caller.user_id, tx.now())?;
    accounts.check_length("saved snippets", statement, MAX_OWNED_LENGTH)
}

/// Parameters of `DELETE /saved_snippets/{saved_snippet_id}`.
#[derive(Deserialize)]
pub struct DeleteParams {
    /// The id of a snippet of the caller.
    saved_snippet_id: i64,
}

/// `DELETE /saved_snippets/{saved_snippet_id}`: deletes a saved snippet.
fn delete_saved_snippet(tx: &mut Tx<'_>, caller: &User, params: DeleteParams) -> ApiResult<Reply> {
    let saved_snippet_id = load(tx, caller.user_id, params.saved_snippet_id)?.id;
    tx.execute_cached("DELETE FROM saved_snippet WHERE id = ?1", [saved_snippet_id])?;
    let event = SnippetRemoved { saved_snippet_id };
    tx.emit(event, Audience::user(caller.user_id));
    Ok(Reply::ok())
}

/// Deletes the snippets of a user, with events, and returns their number.
pub fn purge(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<usize> {
    let snippets = list(tx, user_id)?;
    tx.execute_cached("DELETE FROM saved_snippet WHERE user_id = ?1", [user_id])?;
    for snippet in &snippets {
        tx.emit(SnippetRemoved { saved_snippet_id: snippet.id }, Audience::user(user_id));
    }
    Ok(snippets.len())
}

/// State part `saved_snippets`: the caller's snippets, the oldest first.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let snippets = list(request.connection, request.caller.user_id)?;
    state.set::<Vec<SavedSnippet>>("saved_snippets", &snippets)
}

fn emit_changed(tx: &mut Tx<'_>, op: &'static str, user_id: UserId, saved_snippet: SavedSnippet) {
    let event = SnippetChanged { op: op.into(), saved_snippet };
    tx.emit(event, Audience::user(user_id));
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<SavedSnippet> {
    Ok(SavedSnippet { id: row.get(0)?, title: row.get(1)?, content: row.get(2)?, date_created: row.get(3)? })
}

fn list(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<SavedSnippet>> {
    connection
        .prepare_cached(
            "SELECT id, title, content, date_created FROM saved_snippet WHERE user_id = ?1 ORDER BY id",
        )?
        .query_map([user_id], read_row)?
        .collect()
}

/// Loads a snippet of the caller. Those of other users are not found.
fn load(connection: &Connection, user_id: UserId, id: i64) -> ApiResult<SavedSnippet> {
    connection
        .prepare_cached(
            "SELECT id, title, content, date_created FROM saved_snippet WHERE id = ?1 AND user_id = ?2",
        )?
        .query_row((id, user_id), read_row)
        .optional()?
        .ok_or_else(|| ApiError::bad_request("Saved snippet does not exist."))
}

fn insert(connection: &Connection, user_id: UserId, snippet: &SavedSnippet) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO saved_snippet (user_id, title, content, date_created) VALUES (?1, ?2, ?3, ?4)",
        )?
        .insert((user_id, &snippet.title, &snippet.content, snippet.date_created))
}
