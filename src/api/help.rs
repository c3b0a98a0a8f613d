//! Help, which clients and notices link to: the book of this version, and the published help center for the rest.

use crate::api::resource::Resource;
use crate::http::{ANYONE, Anyone, ApiResult, OtherReply, Read, Reply, Route, page, unpacked};
use bytes::Bytes;
use hyper::Method;
use serde::Deserialize;

pub const RESOURCE: Resource = Resource { name: "help", routes, ..Resource::EMPTY };

/// The published help center, whose pages apply to this server too.
const HELP_CENTER: &str = "https://zulip.com/help/";

/// The pages, images, styles and script of the book, which the build script writes.
mod book {
    include!(concat!(env!("OUT_DIR"), "/help_files.rs"));

    /// Finds a file by its path.
    pub fn find(path: &str) -> Option<&'static [u8]> {
        FILES.iter().find(|(name, _)| *name == path).map(|(_, content)| *content)
    }
}

/// Content security policy of the book: its own styles, images and script, which loads its pages.
const BOOK_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The longest path of a page of help, in bytes.
const MAX_PATH: usize = 200;

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/help", ANYONE, help).outside(),
        Route::read(Method::GET, "/help/", ANYONE, help).outside(),
        Route::read(Method::GET, "/help/{path...}", ANYONE, help).outside(),
        Route::read(Method::GET, "/integrations/", ANYONE, integrations).outside(),
        Route::read(Method::GET, "/integrations/{path...}", ANYONE, integrations).outside(),
    ]
}

/// Parameters of `GET /help/{path}`.
#[derive(Deserialize)]
pub struct HelpParams {
    /// The name of a page; the start when absent.
    #[serde(default)]
    path: String,
}

/// `GET /help/{path}`: a page of the book, or else a redirect to the page of the published help center. A name that no page
/// has leads to its start.
fn help(read: &Read<'_, Anyone>, params: HelpParams) -> ApiResult<Reply> {
    if let Some(content) = book::find(params.path.trim_end_matches('/')) {
        return Ok(book_file(read, &params.path, content));
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/');
    let has_name = params.path.len() <= MAX_PATH && params.path.chars().all(is_plain);
    let name = if has_name { params.path.trim_matches('/') } else { "" };
    Ok(page::redirect(format!("{HELP_CENTER}{name}")))
}

/// `GET /integrations/{path}`: a redirect to the list of integrations in the book. One page has all of them.
fn integrations(_read: &Read<'_, Anyone>, _params: HelpParams) -> ApiResult<Reply> {
    Ok(page::redirect("/help/integrations".to_owned()))
}

/// The reply with a file of the book.
fn book_file(read: &Read<'_, Anyone>, path: &str, content: &'static [u8]) -> Reply {
    // After an upgrade, images may be a day old. Shared caches keep none, because their clients accept different encodings.
    let (content_type, caching) = match path.rsplit_once('.') {
        Some((_, "css")) => ("text/css; charset=utf-8", "no-cache"),
        Some((_, "js")) => ("text/javascript; charset=utf-8", "no-cache"),
        Some((_, "webp")) => ("image/webp", "private, max-age=86400"),
        _ => (page::HTML, "no-cache"),
    };
    let mut headers = vec![
        ("Cache-Control", caching.to_owned()),
        ("Content-Security-Policy", BOOK_POLICY.to_owned()),
        ("Referrer-Policy", "same-origin".to_owned()),
        ("X-Frame-Options", "DENY".to_owned()),
    ];
    let body = if read.info.accepts_gzip {
        headers.push(("Content-Encoding", "gzip".to_owned()));
        Bytes::from_static(content)
    } else {
        unpacked(content)
    };
    Reply::other(OtherReply { status: 200, content_type, headers, body })
}
