//! Pages about accounts that work by mail: sign-up with a proven address, forgotten passwords, finding an account, confirming a new
//! address, and ending mail of a kind. Where this server sends no mail, the pages say what to do instead.
//!
//! Answers do not reveal which addresses have accounts. All emails that such a page causes are limited by the address of the
//! client, and by the email that they go to.

mod confirm_email;
mod find;
mod pages;
mod password_reset;
mod sign_up;
mod unsubscribe;

use crate::api::resource::Resource;
use crate::http::{ANYONE, Route};
use hyper::Method;

pub const RESOURCE: Resource = Resource { name: "accounts", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/accounts/password/reset", ANYONE, password_reset::show).outside(),
        Route::read(Method::GET, "/accounts/password/reset/", ANYONE, password_reset::show).outside(),
        Route::call(Method::POST, "/accounts/password/reset/", ANYONE, password_reset::submit).outside(),
        Route::read(Method::GET, "/accounts/password/reset/done/", ANYONE, password_reset::done).outside(),
        Route::read(Method::GET, "/accounts/find", ANYONE, find::show).outside(),
        Route::read(Method::GET, "/accounts/find/", ANYONE, find::show).outside(),
        Route::call(Method::POST, "/accounts/find/", ANYONE, find::submit).outside(),
        Route::read(Method::GET, "/register/", ANYONE, sign_up::show).outside(),
        Route::call(Method::POST, "/register/", ANYONE, sign_up::submit).outside(),
        Route::read(Method::GET, "/accounts/home/", ANYONE, sign_up::show).outside(),
        Route::call(Method::POST, "/accounts/home/", ANYONE, sign_up::submit).outside(),
        Route::read(Method::GET, "/accounts/send_confirm/", ANYONE, sign_up::sent).outside(),
        Route::read(Method::GET, "/accounts/do_confirm/{key}", ANYONE, sign_up::confirm).outside(),
        Route::read(Method::GET, "/accounts/confirm_new_email/{key}", ANYONE, confirm_email::show).outside(),
        Route::call(Method::POST, "/accounts/confirm_new_email/{key}", ANYONE, confirm_email::confirm)
            .outside(),
        Route::read(Method::GET, "/accounts/unsubscribe/{kind}/{key}", ANYONE, unsubscribe::show).outside(),
        Route::call(Method::POST, "/accounts/unsubscribe/{kind}/{key}", ANYONE, unsubscribe::submit)
            .outside(),
    ]
}
