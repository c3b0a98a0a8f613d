//! `/realm/domains`: the domains whose addresses may join while the organization is restricted to some.

mod change;
mod events;
mod list;
pub mod rules;
mod sql;

use super::Slice;
use super::register::StatePart;
use crate::http::{OWNER, Route, USER};
use hyper::Method;
use serde::Serialize;

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

/// A domain on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RealmDomain {
    /// Lower case.
    pub domain: String,
    /// Whether addresses of its subdomains may join too.
    pub allow_subdomains: bool,
}
