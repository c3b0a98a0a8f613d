//! Users: people and bots.

pub mod change;
pub mod create;
pub mod emails;
pub mod events;
mod get;
pub mod names;
pub mod passwords;
pub mod record;
pub mod sql;

use super::Slice;
use super::register::StatePart;
use crate::http::{Route, USER};
use hyper::Method;

/// Users.
pub const SLICE: Slice = Slice { name: "users", routes, state: STATE, ..Slice::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "realm_user", fetch: events::state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/users/me", USER, get::own_user),
        Route::read(Method::GET, "/users", USER, get::users),
        Route::read(Method::GET, "/users/{user_id_or_email}", USER, get::user),
    ]
}
