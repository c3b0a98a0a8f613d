//! User groups: system groups that follow from roles, named groups, and the anonymous groups that hold the value of a
//! single `can_..._group` setting.
//!
//! - [`membership::Membership`] answers every "is this user in the group that may" with one rule; [`members`] and
//!   [`graph`] answer it from the group's end, for one group and for all;
//! - [`setting`], [`permission`]: values of settings, and which groups may hold them;
//! - [`rules`], [`sql`], [`events`]; the others are operations.
//!
//! What is in a group decides what people may see, so its changes run inside [`crate::api::who_is_who::change`].

mod change;
mod create;
mod deactivate;
mod list;
mod update;

use crate::domain::groups::{events, system};
use crate::http::Resource;
use crate::http::{Route, StatePart, USER};
use hyper::Method;

/// User groups.
pub const RESOURCE: Resource =
    Resource { name: "groups", routes, state: STATE, set_up: system::set_up, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "realm_user_groups", fetch: events::state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/user_groups", USER, list::user_groups),
        Route::write(Method::POST, "/user_groups/create", USER, create::create),
        Route::write(Method::PATCH, "/user_groups/{user_group_id}", USER, update::update),
        Route::write(Method::POST, "/user_groups/{user_group_id}/deactivate", USER, deactivate::deactivate),
        Route::read(Method::GET, "/user_groups/{user_group_id}/members", USER, list::members),
        Route::write(Method::POST, "/user_groups/{user_group_id}/members", USER, change::members),
        Route::read(Method::GET, "/user_groups/{user_group_id}/members/{user_id}", USER, list::member),
        Route::read(Method::GET, "/user_groups/{user_group_id}/subgroups", USER, list::subgroups),
        Route::write(Method::POST, "/user_groups/{user_group_id}/subgroups", USER, change::subgroups),
    ]
}
