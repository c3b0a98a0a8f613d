//! Users: people and bots.

pub mod avatar;
pub mod change;
pub mod create;
pub mod emails;
pub mod events;
mod get;
pub mod names;
mod own_avatar;
pub mod passwords;
pub mod record;
pub mod sql;

use super::Slice;
use super::images::upload::BODY_LIMIT;
use super::register::StatePart;
use crate::http::{Route, USER};
use hyper::Method;

/// Users.
pub const SLICE: Slice = Slice { name: "users", routes, state: STATE, ..Slice::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "realm_user", fetch: events::state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/users/me", USER, get::own_user),
        Route::call(Method::POST, "/users/me/avatar", USER, own_avatar::upload_avatar).body_limit(BODY_LIMIT),
        Route::write(Method::DELETE, "/users/me/avatar", USER, own_avatar::delete_avatar),
        Route::read(Method::GET, "/users", USER, get::users),
        Route::read(Method::GET, "/users/{user_id_or_email}", USER, get::user),
    ]
}
