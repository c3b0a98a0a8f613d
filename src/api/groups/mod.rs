//! User groups: system groups that follow from roles, named groups, and the anonymous groups that hold the value of a
//! single `can_..._group` setting.
//!
//! Groups decide what users can see, so their changes run inside [`crate::domain::visibility::with_events`].

mod change;
mod create;
mod deactivate;
mod list;
mod update;
mod waiting_period;

pub use waiting_period::emit_ended_waiting_periods;

use crate::domain::groups::{events, system};
use crate::http::Resource;
use crate::http::{Route, StatePart, USER};
use hyper::Method;

/// User groups.
pub const RESOURCE: Resource = Resource {
    name: "groups",
    routes,
    state: STATE,
    set_up: system::set_up,
    background: Some(waiting_period::BACKGROUND),
    ..Resource::EMPTY
};

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
