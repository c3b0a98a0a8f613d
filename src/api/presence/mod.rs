//! Presence: who was here, and when. Clients say so once a minute, and ask for the others' at the same time; events tell
//! only of those who come back, for whoever would otherwise think that a message came from nobody.
//!
//! - `record`: two times for each person, in the forms that clients know;
//! - `rules`: what a report changes;
//! - [`change`]: reports, and the setting that hides a person.

pub mod change;
mod events;
mod get;
mod record;
mod rules;
pub mod sql;
mod state;
mod update;

use super::Slice;
use super::register::StatePart;
use crate::http::{Route, USER};
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
