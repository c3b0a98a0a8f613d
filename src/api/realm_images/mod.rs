//! `/realm/icon` and `/realm/logo`: the organization's own images, which administrators choose. Where they are is in
//! [`super::realm::images`].

mod change;
mod icon;
mod logo;

use crate::api::Slice;
use crate::domain::images::upload::BODY_LIMIT;
use crate::http::{ADMINISTRATOR, OtherReply, Reply, Route, USER};
use hyper::Method;

/// The organization's icon and logos.
pub const SLICE: Slice = Slice { name: "realm_images", routes, ..Slice::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/realm/icon", USER, icon::get_icon),
        Route::call(Method::POST, "/realm/icon", ADMINISTRATOR, icon::upload_icon).body_limit(BODY_LIMIT),
        Route::write(Method::DELETE, "/realm/icon", ADMINISTRATOR, icon::delete_icon),
        Route::read(Method::GET, "/realm/logo", USER, logo::get_logo),
        Route::call(Method::POST, "/realm/logo", ADMINISTRATOR, logo::upload_logo).body_limit(BODY_LIMIT),
        Route::write(Method::DELETE, "/realm/logo", ADMINISTRATOR, logo::delete_logo),
    ]
}

/// The way to an image.
fn redirect(location: String) -> Reply {
    let headers = vec![("Location", location)];
    Reply::Other(OtherReply { status: 302, content_type: "text/plain", headers, body: bytes::Bytes::new() })
}
