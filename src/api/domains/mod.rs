//! `/realm/domains`: the domains whose addresses may join while the organization is restricted to some.

mod change;
mod events;
mod list;

use crate::api::Slice;
use crate::http::{OWNER, Route, StatePart, USER};
use hyper::Method;

/// Domains.
pub const SLICE: Slice = Slice { name: "domains", routes, state: STATE, ..Slice::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "realm_domains", fetch: events::state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/realm/domains", USER, list::get_domains),
        Route::write(Method::POST, "/realm/domains", OWNER, change::add_domain),
        Route::write(Method::PATCH, "/realm/domains/{domain}", OWNER, change::update_domain),
        Route::write(Method::DELETE, "/realm/domains/{domain}", OWNER, change::remove_domain),
    ]
}
