//! Linkifiers: patterns that become links in messages and topics.
//!
//! - `sql`: the patterns in their order; who renders takes them from [`compiled`];
//! - `rules`: what a pattern and its template have to be.

mod change;
mod events;
mod list;
mod rules;

use crate::api::Slice;
use crate::http::{ADMINISTRATOR, Route, StatePart, USER};
use hyper::Method;

/// Linkifiers.
pub const SLICE: Slice =
    Slice { name: "linkifiers", routes, state: STATE, event_types: events::event_types, ..Slice::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "realm_linkifiers", fetch: events::linkifiers },
    StatePart { name: "realm_filters", fetch: events::filters },
];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/realm/linkifiers", USER, list::get_linkifiers),
        Route::write(Method::PATCH, "/realm/linkifiers", ADMINISTRATOR, change::reorder_linkifiers),
        Route::read(Method::GET, "/realm/filters", USER, list::get_filters),
        Route::write(Method::POST, "/realm/filters", ADMINISTRATOR, change::add_linkifier),
        Route::write(Method::PATCH, "/realm/filters/{filter_id}", ADMINISTRATOR, change::update_linkifier),
        Route::write(Method::DELETE, "/realm/filters/{filter_id}", ADMINISTRATOR, change::remove_linkifier),
    ]
}
