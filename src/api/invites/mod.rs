//! Invitations: links by which people get an account. `join` has the page behind them.
//!
//! No email leaves this server. An invitation by email is a link for one person all the same: the notification bot
//! gives it to the inviter, who hands it over.

mod create;
mod list;
mod revoke;
mod rules;
mod send;

use crate::http::Resource;
use crate::http::{Route, USER};
use hyper::Method;

/// Invitations.
pub const RESOURCE: Resource = Resource { name: "invites", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/invites", USER, list::get_invites),
        Route::call(Method::POST, "/invites", USER, send::send_invites),
        Route::call(Method::POST, "/invites/multiuse", USER, create::create_invite_link),
        Route::write(Method::DELETE, "/invites/multiuse/{invite_id}", USER, revoke::revoke_invite_link),
        Route::write(Method::DELETE, "/invites/{invite_id}", USER, revoke::revoke_email_invite),
        Route::call(Method::POST, "/invites/{invite_id}/resend", USER, send::resend_email_invite),
    ]
}
