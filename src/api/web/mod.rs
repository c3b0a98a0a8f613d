//! The web client: pages at `/` and `/login/`, and the files that they load.
//!
//! - `assets`: the files, joined and compressed by the build script, under one hash of all their contents;
//! - `manifest`: the manifest of the installed page, and its icons;
//! - `pages`: the handlers and the headers of pages.
//!
//! The client itself is in `web/`. `--web-dir` serves it as written.

mod assets;
mod manifest;
mod pages;

use crate::api::resource::Resource;
use crate::http::{ANYONE, Route};
use hyper::Method;

pub const RESOURCE: Resource = Resource { name: "web", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    let page = |path| Route::read(Method::GET, path, ANYONE, pages::page).outside();
    vec![
        Route::read(Method::GET, "/", ANYONE, pages::start).outside(),
        page("/login"),
        page("/login/"),
        page("/accounts/login/"),
        page("/desktop_home/"),
        Route::read(Method::GET, "/accounts/go/", ANYONE, pages::to_login).outside(),
        Route::read(Method::GET, "/accounts/deactivated/", ANYONE, pages::to_login).outside(),
        Route::read(Method::GET, "/service_worker.js", ANYONE, pages::service_worker).outside(),
        Route::read(Method::GET, "/manifest.webmanifest", ANYONE, manifest::manifest).outside(),
        Route::read(Method::GET, manifest::ICON_PATH, ANYONE, manifest::icon).outside(),
        Route::read(Method::GET, "/static/{hash}/{path...}", ANYONE, pages::asset).outside(),
    ]
}
