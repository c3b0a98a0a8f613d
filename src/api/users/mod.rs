//! Users: people and bots.
//!
//! - [`access`]: whom guests know, and who may hear of whom; every event about a user goes to [`access::audience`];
//! - [`create`], [`activity`], [`role`], [`change`], [`emails`]: what can happen to an account, whoever asks for it;
//! - [`find`] and [`rules`]: which user is meant, and who may.

mod create_user;
mod deactivate;
mod get;
mod own_avatar;
mod update;

use crate::domain::images::upload::BODY_LIMIT;
use crate::domain::users::events;
use crate::http::Resource;
use crate::http::{ADMINISTRATOR, Route, StatePart, USER};
use hyper::Method;

/// Users.
pub const RESOURCE: Resource = Resource { name: "users", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "realm_user", fetch: events::state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/users/me", USER, get::own_user),
        Route::call(Method::DELETE, "/users/me", USER, deactivate::deactivate_own_user),
        Route::call(Method::POST, "/users/me/avatar", USER, own_avatar::upload_avatar).body_limit(BODY_LIMIT),
        Route::write(Method::DELETE, "/users/me/avatar", USER, own_avatar::delete_avatar),
        Route::read(Method::GET, "/users", USER, get::users),
        Route::call(Method::POST, "/users", ADMINISTRATOR, create_user::create_user),
        Route::read(Method::GET, "/users/{user_id_or_email}", USER, get::user),
        Route::call(Method::PATCH, "/users/{user_id_or_email}", USER, update::update_user),
        Route::call(Method::DELETE, "/users/{user_id}", USER, deactivate::deactivate_user),
        Route::write(Method::POST, "/users/{user_id}/reactivate", USER, deactivate::reactivate_user),
    ]
}
