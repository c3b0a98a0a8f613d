//! Pages and files of the web client over HTTP.

use crate::api::web::assets::{Asset, find};
use crate::http::page::redirect;
use crate::http::params::NoParams;
use crate::http::{Anyone, ApiError, ApiResult, OtherReply, Read, Reply};
use serde::Deserialize;
use teamchat_markdown::encode_fragment;

/// Content security policy of pages: everything from this server, nothing inline, and no HTML except through the
/// policies of the two modules that need them: one for the HTML of messages, one for the URL of the service worker.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
     media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types message worker";

/// One year, in seconds.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// Parameters of `GET /`.
#[derive(Deserialize)]
pub struct StartParams {
    /// The name of a channel that is opened, as in links of old clients.
    #[serde(default)]
    stream: String,
    /// A topic of that channel.
    #[serde(default)]
    topic: String,
}

/// `GET /`: the page. With a channel, a redirect to its place in the page.
pub fn start(read: &Read<'_, Anyone>, params: StartParams) -> ApiResult<Reply> {
    let page = page(read, NoParams {})?;
    if params.stream.is_empty() {
        return Ok(page);
    }
    let channel = format!("/#narrow/channel/{}", encode_fragment(&params.stream));
    Ok(redirect(if params.topic.is_empty() {
        channel
    } else {
        format!("{channel}/topic/{}", encode_fragment(&params.topic))
    }))
}

/// `GET /accounts/go/` and `/accounts/deactivated/`, where a server of several organizations asks for one of them: a
/// redirect to the page to log in.
pub fn to_login(read: &Read<'_, Anyone>, params: NoParams) -> ApiResult<Reply> {
    page(read, params)?;
    Ok(redirect("/login/".to_owned()))
}

/// `GET /login/`, and the other paths of the page. Clients that accept no HTML get the error of a path that does not exist.
pub fn page(read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    if !read.info.accepts_html {
        return Err(ApiError::not_found());
    }
    let page = find(&read.app.options.client_files, None, "index.html").ok_or_else(ApiError::not_found)?;
    Ok(reply(read, &page, "no-cache", true))
}

/// `GET /service_worker.js`. Its path decides for which pages it may work, so it has no hash.
pub fn service_worker(read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    let script =
        find(&read.app.options.client_files, None, "service_worker.js").ok_or_else(ApiError::not_found)?;
    Ok(reply(read, &script, "no-cache", true))
}

/// Parameters of `GET /static/{hash}/{path}`.
#[derive(Deserialize)]
pub struct AssetParams {
    /// The hash of the version.
    hash: String,
    /// The path in the folder of the client.
    path: String,
}

/// `GET /static/{hash}/{path}`. A missing file is an error and never the page, so that a page of an older version fails
/// where it can tell.
pub fn asset(read: &Read<'_, Anyone>, params: AssetParams) -> ApiResult<Reply> {
    let found = find(&read.app.options.client_files, Some(&params.hash), &params.path);
    let found = found.ok_or_else(ApiError::not_found)?;
    // Scripts and styles are subject to the policy of the page that loads them.
    let is_part = ["text/javascript", "text/css"].iter().any(|kind| found.content_type.starts_with(kind));
    Ok(reply(read, &found, if found.is_immutable { IMMUTABLE } else { "no-store" }, !is_part))
}

/// The reply with a file. Security headers are as long as a small module, so only files that can be opened as a page
/// have them.
fn reply(read: &Read<'_, Anyone>, asset: &Asset, cache_control: &str, can_be_page: bool) -> Reply {
    let mut headers = vec![
        ("Cache-Control", cache_control.to_owned()),
        ("Cross-Origin-Resource-Policy", "same-origin".to_owned()),
    ];
    if can_be_page {
        headers.extend([
            ("Content-Security-Policy", CONTENT_SECURITY_POLICY.to_owned()),
            ("Cross-Origin-Opener-Policy", "same-origin".to_owned()),
            ("Referrer-Policy", "same-origin".to_owned()),
            ("X-Frame-Options", "DENY".to_owned()),
        ]);
    }
    let (body, coding) = asset.body(read.info.accepts_brotli, read.info.accepts_gzip);
    if let Some(coding) = coding {
        headers.push(("Content-Encoding", coding.to_owned()));
    }
    Reply::other(OtherReply { status: 200, content_type: asset.content_type, headers, body })
}
