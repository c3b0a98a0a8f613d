//! `/user_groups`: groups, their settings, members and subgroups.
//!
//! Groups affect visibility, so their changes run inside [`crate::domain::visibility::with_events`].

mod create;
mod deactivate;
mod list;
mod members;
mod update;
mod waiting_period;

pub use waiting_period::emit_ended_waiting_periods;

use crate::api::resource::{Resource, StatePart};
use crate::domain::groups::system;
use crate::http::{Route, USER};
use hyper::Method;

pub const RESOURCE: Resource = Resource {
    name: "groups",
    routes,
    state: STATE,
    set_up: system::set_up,
    background: Some(waiting_period::BACKGROUND),
    ..Resource::EMPTY
};

const STATE: &[StatePart] = &[StatePart { name: "realm_user_groups", fetch: list::state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/user_groups", USER, list::list_groups).slow(),
        Route::write(Method::POST, "/user_groups/create", USER, create::create),
        Route::write(Method::PATCH, "/user_groups/{user_group_id}", USER, update::update),
        Route::write(Method::POST, "/user_groups/{user_group_id}/deactivate", USER, deactivate::deactivate)
            .on_full_disk(),
        Route::read(Method::GET, "/user_groups/{user_group_id}/members", USER, list::list_members),
        Route::write(Method::POST, "/user_groups/{user_group_id}/members", USER, members::update_members),
        Route::read(Method::GET, "/user_groups/{user_group_id}/members/{user_id}", USER, list::is_member),
        Route::read(Method::GET, "/user_groups/{user_group_id}/subgroups", USER, list::list_subgroups),
        Route::write(Method::POST, "/user_groups/{user_group_id}/subgroups", USER, members::update_subgroups),
    ]
}
