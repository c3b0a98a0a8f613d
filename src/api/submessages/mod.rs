//! Submessages: the data of polls and to-do lists, which clients create and interpret. The server validates it, so that
//! one client cannot break others.

pub mod add;
mod rules;

use crate::api::resource::Resource;
use crate::http::{Route, USER};
use hyper::Method;

pub const RESOURCE: Resource = Resource { name: "submessages", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![Route::write(Method::POST, "/submessage", USER, add::add_submessage)]
}
