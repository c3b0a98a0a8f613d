//! Polls and to-do lists: data that belongs to a message, which clients make and read. The server knows enough of it to
//! refuse what no client could read.

pub mod add;
mod rules;

use crate::http::Resource;
use crate::http::{Route, USER};
use hyper::Method;

/// Submessages.
pub const RESOURCE: Resource = Resource { name: "submessages", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![Route::write(Method::POST, "/submessage", USER, add::add_submessage)]
}
