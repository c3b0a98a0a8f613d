//! The page behind an invitation link, `/join/{key}/`: a person becomes a user there, without a client and without a
//! script. The first owner of a new file comes the same way, by the link that `teamchat serve` prints.
//!
//! The page loads nothing from elsewhere, may not be framed, is kept by no cache, and tells no other site where it was.

mod accept;
mod form;
mod page;
mod view;
mod welcome;

use super::Resource;
use crate::http::{ANYONE, Route};
use hyper::Method;

/// The page for newcomers.
pub const RESOURCE: Resource = Resource { name: "join", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/join/{key}/", ANYONE, page::show).outside(),
        Route::read(Method::GET, "/join/{key}", ANYONE, page::without_slash).outside(),
        Route::call(Method::POST, "/join/{key}/", ANYONE, page::submit).outside(),
    ]
}
