//! Presence: who was here, and when. Clients say so once a minute, and ask for the others' at the same time; events tell
//! only of those who come back, for whoever would otherwise think that a message came from nobody.
//!
//! - `record`: two times for each person, in the forms that clients know;
//! - `rules`: what a report changes;
//! - [`change`]: reports, and the setting that hides a person.

mod get;
mod update;

use crate::api::Slice;
use crate::domain::presence::{events, state};
use crate::http::{Route, StatePart, USER};
use hyper::Method;

/// Presence.
pub const SLICE: Slice =
    Slice { name: "presence", routes, state: STATE, event_types: events::event_types, ..Slice::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "presence", fetch: state::state }];

fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::POST, "/users/me/presence", USER, update::update_presence),
        Route::read(Method::GET, "/users/{user_id_or_email}/presence", USER, get::get_user_presence),
        Route::read(Method::GET, "/realm/presence", USER, get::get_presence),
    ]
}
