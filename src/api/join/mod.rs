//! `/join/{key}/`, the page that an invitation link opens: sign-up without a client and without scripts. The first
//! owner of a new database signs up by the link that `teamchat serve` prints.
//!
//! - `page`: the handlers; `form`: the submitted fields and their checks; `accept`: creating the user, with
//!   [`crate::domain::sign_up`]; `view`: the HTML;
//! - `password`: `/join/password/{key}/`, which sets a new password through a link of an administrator.
//!
//! The page loads nothing from other sites, cannot be framed, is not cached, and sends no referrer.

mod accept;
mod form;
mod page;
mod password;
mod view;

use crate::api::resource::Resource;
use crate::http::{ANYONE, Route};
use hyper::Method;

pub const RESOURCE: Resource = Resource { name: "join", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/join/{key}/", ANYONE, page::show).outside(),
        Route::read(Method::GET, "/join/{key}", ANYONE, page::redirect_to_slash).outside(),
        Route::call(Method::POST, "/join/{key}/", ANYONE, page::submit).outside(),
        Route::read(Method::GET, "/join/password/{key}/", ANYONE, password::show).outside(),
        Route::call(Method::POST, "/join/password/{key}/", ANYONE, password::submit).outside(),
    ]
}
