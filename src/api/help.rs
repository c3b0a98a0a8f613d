//! Pages that clients and notices link to and that are no part of the client: help, and what people do who cannot log in.

use crate::http::params::NoParams;
use crate::http::{ANYONE, Anyone, ApiResult, OtherReply, Read, Reply, Resource, Route, page};
use hyper::Method;
use serde::Deserialize;

/// The resource of help.
pub const RESOURCE: Resource = Resource { name: "help", routes, ..Resource::EMPTY };

/// The published help center. Its pages are about what this server serves too.
const HELP_CENTER: &str = "https://zulip.com/help/";

/// The longest path of a page of help, in bytes.
const MAX_PATH: usize = 200;

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/help", ANYONE, help).outside(),
        Route::read(Method::GET, "/help/", ANYONE, help).outside(),
        Route::read(Method::GET, "/help/{path...}", ANYONE, help).outside(),
        Route::read(Method::GET, "/accounts/password/reset", ANYONE, forgotten_password).outside(),
        Route::read(Method::GET, "/accounts/password/reset/", ANYONE, forgotten_password).outside(),
        Route::read(Method::GET, "/accounts/find", ANYONE, find_accounts).outside(),
        Route::read(Method::GET, "/accounts/find/", ANYONE, find_accounts).outside(),
    ]
}

/// Parameters of `GET /help/{path}`.
#[derive(Deserialize)]
pub struct HelpParams {
    /// The name of a page; all pages when absent.
    #[serde(default)]
    path: String,
}

/// `GET /help/{path}`: redirects to the page of the published help center. A name that no page has leads to its start.
fn help(_read: &Read<'_, Anyone>, params: HelpParams) -> ApiResult<Reply> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/');
    let has_name = params.path.len() <= MAX_PATH && params.path.chars().all(is_plain);
    let name = if has_name { params.path.trim_matches('/') } else { "" };
    let headers = vec![("Location", format!("{HELP_CENTER}{name}"))];
    Ok(Reply::other(OtherReply { status: 302, content_type: page::HTML, headers, body: bytes::Bytes::new() }))
}

/// `GET /accounts/password/reset/`: says what to do, since the server sends no mail.
fn forgotten_password(_read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    Ok(shown(
        "Forgot your password?",
        &[
            "Ask an administrator of the organization for a link on which you set a new password. This server sends no email.",
            "If you are the only administrator, ask whoever runs the server: the command teamchat user password sets a new one.",
        ],
    ))
}

/// `GET /accounts/find/`: says where one's account is: each server has one organization.
fn find_accounts(_read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    Ok(shown(
        "Find your account",
        &[
            "This server has one organization, and its address is the one that you are at: log in here with your email.",
            "If you do not know which email you have here, ask an administrator of the organization.",
        ],
    ))
}

fn shown(title: &str, sentences: &[&str]) -> Reply {
    let body = page::plain(title, sentences).into();
    Reply::other(OtherReply { status: 200, content_type: page::HTML, headers: page::headers(), body })
}
