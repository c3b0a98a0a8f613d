//! Logging in at a provider of OpenID Connect: `/accounts/login/social/{provider}` sends the browser to the provider, and
//! `/complete/{provider}/` is where it comes back. Without a configured provider these paths do not exist.
//!
//! - `begin`: the first step, and the page of the desktop app; `complete`: the last one; `token`: the login of the desktop app
//!   with the token that the browser shows;
//! - `account`: the account of an identity, and new accounts;
//! - `cookie`: the cookie that binds a login to its browser; `next`: paths after a login; `view`: the HTML.
//!
//! The protocol itself is in [`crate::oidc`].

mod account;
mod begin;
mod complete;
mod cookie;
mod next;
mod token;
mod view;

use crate::api::resource::Resource;
use crate::http::{ANYONE, Route};
use hyper::Method;

pub const RESOURCE: Resource = Resource { name: "sign_on", routes, ..Resource::EMPTY };

/// None of them answers `HEAD`: each begins or ends a login.
fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::GET, "/accounts/login/social/{provider}", ANYONE, begin::log_in)
            .outside()
            .without_head(),
        Route::call(Method::GET, "/accounts/register/social/{provider}", ANYONE, begin::sign_up)
            .outside()
            .without_head(),
        Route::call(Method::GET, "/complete/{provider}/", ANYONE, complete::complete)
            .outside()
            .without_head(),
        Route::call(Method::GET, "/accounts/login/subdomain/{token}", ANYONE, token::log_in)
            .outside()
            .without_head(),
    ]
}
