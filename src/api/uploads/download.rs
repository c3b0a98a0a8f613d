//! `GET /user_uploads/{realm_id}/{filename}`: downloads a file at the URL that messages link to.

use crate::app::App;
use crate::auth::Ctx;
use crate::domain::files;
use crate::domain::files::{AttachmentRow, blobs, media_types};
use crate::http::ranges::{Wanted, wanted};
use crate::http::{
    Anyone, ApiError, ApiResult, Call, Caller, Conditions, OtherReply, Read, Reply, Visitor, ranges,
};
use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use std::sync::Arc;

/// The characters that are percent-encoded in a part of a path, and after `filename*=UTF-8''` (RFC 8187).
pub const ENCODED_IN_PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The characters that are percent-encoded in the path of a file.
const ENCODED_IN_PATH: &AsciiSet = &ENCODED_IN_PART.remove(b'/');

/// Keeps uploaded files from running scripts on the server's origin, from loading anything but styles and media, and
/// from being shown inside other pages.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'; \
    object-src 'self'; frame-ancestors 'none'; sandbox";

/// The policy for PDF files, without a sandbox: browsers show none of them in one.
const CONTENT_SECURITY_POLICY_OF_PDF: &str =
    "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'; frame-ancestors 'none'";
const PDF: &str = "application/pdf";

/// Files never change, but permissions to download them do, so shared caches must not store them, and browsers ask each time:
/// the next person at one may not have the file. Only programs with a key of their own need not.
fn cache_control(caller: &Caller) -> &'static str {
    if caller.credential.api_key_id().is_some() { "private, immutable" } else { "private, no-cache" }
}

/// Parameters of `GET /user_uploads/{realm_id}/{filename}`.
#[derive(Deserialize)]
pub struct FileParams {
    /// The first part of the file's `path_id`: the id of the organization.
    pub realm_id: String,
    /// The rest of the file's `path_id`.
    pub filename: String,
    /// True if browsers save the file instead of showing it. False by default.
    #[serde(default)]
    download: bool,
}

impl FileParams {
    /// The file's path id.
    pub fn path_id(&self) -> String {
        format!("{}/{}", self.realm_id, self.filename)
    }
}

/// `GET /user_uploads/{realm_id}/{filename}`.
pub async fn get_file(call: Call<Visitor>, params: FileParams) -> ApiResult<Reply> {
    let path_id = params.path_id();
    count_visit(&call, &path_id)?;
    let (caller, now) = (Caller::clone(&call.caller), call.app.clock.seconds());
    let file = call.app.read_quickly_or_slowly(Some(caller.quota_owner()), move |snapshot| {
        files::access::find(Ctx::new(snapshot, &caller, now), &path_id)
    });
    serve(&call.app, call.info.conditions.as_deref(), &call.caller, &file.await?, params.download)
}

/// Counts a visitor's request for a file. Beyond the limit the file is refused as one that they may not load.
pub fn count_visit(call: &Call<Visitor>, path_id: &str) -> ApiResult<()> {
    if !call.caller.is_visitor() || !call.app.options.rate_limit {
        return Ok(());
    }
    call.app.rate_limiter.count_visit(path_id, &call.app.clock).map_err(|_| ApiError::not_logged_in())
}

/// `GET /user_uploads/download/{realm_id}/{filename}`: the same, for browsers to save.
pub async fn get_file_to_save(call: Call<Visitor>, params: FileParams) -> ApiResult<Reply> {
    get_file(call, FileParams { download: true, ..params }).await
}

/// Parameters of `GET /thumbnail`.
#[derive(Deserialize)]
pub struct OldThumbnailParams {
    /// The path of an uploaded file.
    url: String,
}

/// `GET /thumbnail`: redirects to the file. Messages that were rendered before release 9.0 have such addresses.
pub fn redirect_old_thumbnail(_read: &Read<'_, Anyone>, params: OldThumbnailParams) -> ApiResult<Reply> {
    let path = params.url.trim_start_matches('/');
    // Of this server only, and no way out of its files.
    let is_file = path.starts_with("user_uploads/") && path.split('/').all(|part| part != "..");
    if !is_file {
        return Err(ApiError::not_found());
    }
    let path = utf8_percent_encode(path, ENCODED_IN_PATH);
    let headers = vec![("Location", format!("/{path}"))];
    Ok(Reply::other(OtherReply { status: 302, content_type: "text/plain", headers, body: Bytes::new() }))
}

/// The response with a file or the requested range of it.
pub fn serve(
    app: &Arc<App>,
    conditions: Option<&Conditions>,
    caller: &Caller,
    file: &AttachmentRow,
    download: bool,
) -> ApiResult<Reply> {
    let etag = format!("\"{}\"", file.content_id);
    let (content_type, is_shown) = media_types::served(&file.content_type);
    let mut headers = common_headers(&etag, content_type, caller);
    headers.push(("Accept-Ranges", "bytes".to_owned()));
    headers.push(("Content-Disposition", disposition(&file.name, is_shown && !download)));
    match wanted(conditions, file.size, &etag) {
        Wanted::NotModified => Ok(not_modified(content_type, headers)),
        part => ranges::respond(part, file.size, content_type, headers, |start| {
            Box::new(blobs::parts(Arc::clone(app), file.content_id, start))
        }),
    }
}

/// Headers of every response with a file.
pub fn common_headers(etag: &str, content_type: &str, caller: &Caller) -> Vec<(&'static str, String)> {
    let policy = if content_type == PDF { CONTENT_SECURITY_POLICY_OF_PDF } else { CONTENT_SECURITY_POLICY };
    vec![
        ("ETag", etag.to_owned()),
        ("Cache-Control", cache_control(caller).to_owned()),
        ("Content-Security-Policy", policy.to_owned()),
    ]
}

/// The response 304 to a client that has the file already.
pub fn not_modified(content_type: &'static str, headers: Vec<(&'static str, String)>) -> Reply {
    Reply::other(OtherReply { status: 304, content_type, headers, body: Bytes::new() })
}

/// The value of `Content-Disposition` (RFC 6266). Names that are not plain ASCII are percent-encoded.
fn disposition(name: &str, inline: bool) -> String {
    let kind = if inline { "inline" } else { "attachment" };
    let is_plain = |c: char| c.is_ascii() && !c.is_ascii_control() && !matches!(c, '"' | '\\' | '%');
    if name.chars().all(is_plain) {
        return format!("{kind}; filename=\"{name}\"");
    }
    format!("{kind}; filename*=UTF-8''{}", utf8_percent_encode(name, ENCODED_IN_PART))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_header() {
        let cases = [
            ("a b.txt", "inline; filename=\"a b.txt\""),
            ("café.png", "inline; filename*=UTF-8''caf%C3%A9.png"),
            ("a\"; b=\"c", "inline; filename*=UTF-8''a%22%3B%20b%3D%22c"),
            ("a\r\nb", "inline; filename*=UTF-8''a%0D%0Ab"),
        ];
        for (name, expected) in cases {
            assert_eq!(disposition(name, true), expected);
        }
        assert_eq!(disposition("x", false), "attachment; filename=\"x\"");
    }
}
