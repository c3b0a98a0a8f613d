//! The web client: pages at `/` and `/login/`, and the files that they load.
//!
//! - `assets`: the files, compressed once, under one hash of all their contents;
//! - `pages`: the handlers and the headers of pages.
//!
//! The client itself is in `web/`, as written: there is no build step.

mod assets;
mod pages;

use crate::http::{ANYONE, Resource, Route};
use hyper::Method;

/// The resource of the web client.
pub const RESOURCE: Resource = Resource { name: "web", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    let page = |path| Route::read(Method::GET, path, ANYONE, pages::page).outside();
    vec![
        page("/"),
        page("/login"),
        page("/login/"),
        page("/accounts/login/"),
        page("/desktop_home/"),
        Route::read(Method::GET, "/service_worker.js", ANYONE, pages::service_worker).outside(),
        Route::read(Method::GET, "/static/{hash}/{path...}", ANYONE, pages::asset).outside(),
    ]
}
