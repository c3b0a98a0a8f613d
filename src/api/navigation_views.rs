//! `/navigation_views`: views in the navigation of a user's clients (feature level 390).

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::domain::limits::{Accounts, MAX_NAVIGATION_VIEW_LENGTH, MAX_NAVIGATION_VIEWS};
use crate::events::{Audience, uniform_event};
use crate::http::params::{NoParams, RequiredText};
use crate::http::{ApiError, ApiResult, Read, Reply, Route, USER, User};
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use hyper::Method;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Deserializer, Serialize};

pub const RESOURCE: Resource = Resource { name: "navigation_views", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "navigation_views", fetch: state }];

fn routes() -> Vec<Route> {
    // A fragment has slashes, and not every client encodes them.
    vec![
        Route::read(Method::GET, "/navigation_views", USER, get_navigation_views),
        Route::write(Method::POST, "/navigation_views", USER, add_navigation_view),
        Route::write(Method::PATCH, "/navigation_views/{fragment...}", USER, edit_navigation_view),
        Route::write(Method::DELETE, "/navigation_views/{fragment...}", USER, remove_navigation_view),
    ]
}

/// Views that every client has. A stored built-in view only has its position.
const BUILT_IN: [&str; 7] = [
    "inbox",
    "recent",
    "feed",
    "drafts",
    "narrow/has/reaction/sender/me",
    "narrow/is/mentioned",
    "narrow/is/starred",
];

/// A navigation view: a link to a view of messages, in the sidebar or in the menu of more views.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NavigationView {
    /// Identifies the view: the part after `#` of its URL in the web client.
    pub fragment: String,
    /// True if the view is in the sidebar, false if it is in the menu of more views.
    pub is_pinned: bool,
    /// The display name; null for built-in views.
    pub name: Option<String>,
}

/// `navigation_view`, `op: add`: a view was added.
#[derive(Serialize, Deserialize)]
pub struct ViewAdded {
    navigation_view: NavigationView,
}

uniform_event!(ViewAdded: "navigation_view", op "add", version 1);

/// `navigation_view`, `op: update`: a view changed.
#[derive(Serialize, Deserialize)]
pub struct ViewChanged {
    /// The fragment of the view.
    fragment: String,
    /// The changed members of the view.
    data: ChangedParts,
}

uniform_event!(ViewChanged: "navigation_view", op "update", version 1);

#[derive(Serialize, Deserialize)]
struct ChangedParts {
    /// The new name; absent if unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// True if the view is in the sidebar now; absent if unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_pinned: Option<bool>,
}

/// `navigation_view`, `op: remove`: a view was deleted.
#[derive(Serialize, Deserialize)]
pub struct ViewRemoved {
    /// The fragment of the deleted view.
    fragment: String,
}

uniform_event!(ViewRemoved: "navigation_view", op "remove", version 1);

/// A fragment or a name.
type ViewText = RequiredText<MAX_NAVIGATION_VIEW_LENGTH>;

/// The reply to `GET /navigation_views`.
#[derive(Serialize)]
struct NavigationViews {
    /// The caller's views, in the order in which they were added.
    navigation_views: Vec<NavigationView>,
}

/// `GET /navigation_views`: lists the caller's views in the order in which they were added.
fn get_navigation_views(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<NavigationViews>> {
    Reply::data(&NavigationViews { navigation_views: list(read, read.caller.user_id)? })
}

/// Reads a name. `null` means no name: some clients encode every value as JSON.
fn name_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ViewText>, D::Error> {
    let name = Option::<ViewText>::deserialize(deserializer)?;
    Ok(name.filter(|name| **name != *"null"))
}

/// Parameters of `POST /navigation_views`.
#[derive(Deserialize)]
pub struct AddParams {
    /// The part after `#` of the view's URL in the web client, 1 to 500 characters. The caller must not have a view
    /// with it.
    fragment: ViewText,
    /// True to show the view in the sidebar, false to show it in the menu of more views.
    is_pinned: bool,
    /// The display name, 1 to 500 characters. Required for custom views; built-in views must not have one.
    #[serde(default, deserialize_with = "name_or_null")]
    name: Option<ViewText>,
}

/// `POST /navigation_views`: adds a navigation view. A person can have at most 200.
fn add_navigation_view(tx: &mut Tx<'_>, caller: &User, params: AddParams) -> ApiResult<Reply> {
    let view = NavigationView {
        fragment: params.fragment.into_inner(),
        is_pinned: params.is_pinned,
        name: params.name.map(ViewText::into_inner),
    };
    if is_built_in(&view.fragment) {
        check_no_name(view.name.as_ref())?;
    } else if view.name.is_none() {
        return Err(ApiError::bad_request("Custom views must have a valid name."));
    }
    if load(tx, caller.user_id, &view.fragment)?.is_some() {
        return Err(already_exists());
    }
    check_name_is_free(tx, caller.user_id, &view.fragment, view.name.as_deref())?;
    let statement = "SELECT count(*) FROM navigation_view WHERE user_id IN (SELECT value FROM json_each(?1))";
    let accounts = Accounts::of(tx, caller.user_id, tx.now())?;
    accounts.check("navigation views", statement, 1, MAX_NAVIGATION_VIEWS)?;
    tx.execute_cached(
        "INSERT INTO navigation_view (user_id, fragment, is_pinned, name) VALUES (?1, ?2, ?3, ?4)",
        (caller.user_id, &view.fragment, view.is_pinned, &view.name),
    )?;
    let event = ViewAdded { navigation_view: view };
    tx.emit(event, Audience::user(caller.user_id));
    Ok(Reply::ok())
}

/// Parameters of `PATCH /navigation_views/{fragment}`.
#[derive(Deserialize)]
pub struct EditParams {
    /// The fragment of the view.
    fragment: ViewText,
    /// True to show the view in the sidebar, false to show it in the menu of more views.
    is_pinned: Option<bool>,
    /// The new display name, 1 to 500 characters. Built-in views must not have one.
    #[serde(default, deserialize_with = "name_or_null")]
    name: Option<ViewText>,
}

/// `PATCH /navigation_views/{fragment}`: changes the name of a view, its place, or both.
fn edit_navigation_view(tx: &mut Tx<'_>, caller: &User, params: EditParams) -> ApiResult<Reply> {
    let name = params.name.map(ViewText::into_inner);
    if is_built_in(&params.fragment) {
        check_no_name(name.as_ref())?;
    }
    check_name_is_free(tx, caller.user_id, &params.fragment, name.as_deref())?;
    let before = load(tx, caller.user_id, &params.fragment)?.ok_or_else(does_not_exist)?;
    let view = NavigationView {
        is_pinned: params.is_pinned.unwrap_or(before.is_pinned),
        name: name.or_else(|| before.name.clone()),
        fragment: before.fragment.clone(),
    };
    if view == before {
        return Ok(Reply::ok());
    }
    tx.execute_cached(
        "UPDATE navigation_view SET is_pinned = ?3, name = ?4 WHERE user_id = ?1 AND fragment = ?2",
        (caller.user_id, &view.fragment, view.is_pinned, &view.name),
    )?;
    let data = ChangedParts {
        is_pinned: (view.is_pinned != before.is_pinned).then_some(view.is_pinned),
        name: view.name.filter(|name| before.name.as_ref() != Some(name)),
    };
    let event = ViewChanged { fragment: view.fragment, data };
    tx.emit(event, Audience::user(caller.user_id));
    Ok(Reply::ok())
}

/// Parameters of `DELETE /navigation_views/{fragment}`.
#[derive(Deserialize)]
pub struct RemoveParams {
    /// The fragment of the view.
    fragment: RequiredText,
}

/// `DELETE /navigation_views/{fragment}`: deletes a navigation view.
fn remove_navigation_view(tx: &mut Tx<'_>, caller: &User, params: RemoveParams) -> ApiResult<Reply> {
    let view = load(tx, caller.user_id, &params.fragment)?.ok_or_else(does_not_exist)?;
    tx.execute_cached(
        "DELETE FROM navigation_view WHERE user_id = ?1 AND fragment = ?2",
        (caller.user_id, &view.fragment),
    )?;
    let event = ViewRemoved { fragment: view.fragment };
    tx.emit(event, Audience::user(caller.user_id));
    Ok(Reply::ok())
}

/// Deletes the views of a user, with events, and returns their number.
pub fn purge(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<usize> {
    let views = list(tx, user_id)?;
    tx.execute_cached("DELETE FROM navigation_view WHERE user_id = ?1", [user_id])?;
    let count = views.len();
    for view in views {
        tx.emit(ViewRemoved { fragment: view.fragment }, Audience::user(user_id));
    }
    Ok(count)
}

/// State part `navigation_views`: the caller's views, in the order in which they were added.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let views = list(request.connection, request.caller.user_id)?;
    state.set::<Vec<NavigationView>>("navigation_views", &views)
}

fn is_built_in(fragment: &str) -> bool {
    BUILT_IN.contains(&fragment)
}

/// Checks that a built-in view has no name: clients name it in the user's language.
fn check_no_name(name: Option<&String>) -> ApiResult<()> {
    if name.is_some() {
        return Err(ApiError::bad_request("Built-in views cannot have a custom name."));
    }
    Ok(())
}

/// Checks that no other view has this name.
fn check_name_is_free(
    connection: &Connection,
    user_id: UserId,
    fragment: &str,
    name: Option<&str>,
) -> ApiResult<()> {
    let is_taken: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM navigation_view WHERE user_id = ?1 AND name = ?2 AND fragment <> ?3)",
        )?
        .query_row((user_id, name, fragment), |row| row.get(0))?;
    if is_taken { Err(already_exists()) } else { Ok(()) }
}

fn already_exists() -> ApiError {
    ApiError::bad_request("Navigation view already exists.")
}

fn does_not_exist() -> ApiError {
    ApiError::bad_request("Navigation view does not exist.")
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<NavigationView> {
    Ok(NavigationView { fragment: row.get(0)?, is_pinned: row.get(1)?, name: row.get(2)? })
}

fn list(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<NavigationView>> {
    connection
        .prepare_cached(
            "SELECT fragment, is_pinned, name FROM navigation_view WHERE user_id = ?1 ORDER BY id",
        )?
        .query_map([user_id], read_row)?
        .collect()
}

fn load(connection: &Connection, user_id: UserId, fragment: &str) -> ApiResult<Option<NavigationView>> {
    Ok(connection
        .prepare_cached(
            "SELECT fragment, is_pinned, name FROM navigation_view WHERE user_id = ?1 AND fragment = ?2",
        )?
        .query_row((user_id, fragment), read_row)
        .optional()?)
}
