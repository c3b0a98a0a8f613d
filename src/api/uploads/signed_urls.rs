//! Signed URLs, with which a file can be downloaded without credentials for a minute. They are for programs that cannot
//! send credentials, such as media players and browsers that a client opens. A URL has the rights of the user who asked
//! for it, at the time of the download: it ends with their account and with their access to the file.

use crate::api::uploads::download::{ENCODED_IN_PART, FileParams, serve};
use crate::auth::Ctx;
use crate::domain::files::AttachmentRow;
use crate::domain::{files, rows};
use crate::http::{Anyone, ApiError, ApiResult, Call, Caller, Reply, User, ok_unless_refused};
use crate::types::{UserId, is_valid_until};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::utf8_percent_encode;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// Validity of a URL in seconds.
const VALIDITY: i64 = 60;

/// The reply to `GET /user_uploads/{realm_id}/{filename}`.
#[derive(Serialize)]
pub struct TemporaryUrl {
    /// The path of the file, relative to the organization's URL. It needs no credentials for 60 seconds.
    pub url: String,
}

/// `GET /user_uploads/{realm_id}/{filename}` below `/api/v1`: returns a temporary URL of an uploaded file.
pub async fn get_temporary_url(call: Call<User>, params: FileParams) -> ApiResult<Reply<TemporaryUrl>> {
    let (caller, now) = (Caller::clone(&call.caller), call.app.clock.seconds());
    let url = call.app.read_quickly_or_slowly(Some(caller.quota_owner()), move |snapshot| {
        let file =
            files::access::find(Ctx::new(snapshot, &caller, now), &params.path_id()).map_err(as_operation)?;
        let token = sign(snapshot, file.id, caller.user_id, now + VALIDITY)?;
        let name = utf8_percent_encode(file_name(&file), ENCODED_IN_PART);
        Ok(format!("/user_uploads/temporary/{token}/{name}"))
    });
    Reply::data(&TemporaryUrl { url: url.await? })
}

/// The refusal of a file, which is addressed by a path, as that of an operation: `BAD_REQUEST` has the status 400.
fn as_operation(refusal: ApiError) -> ApiError {
    match refusal.code() {
        "BAD_REQUEST" => ApiError::bad_request(refusal.msg().to_owned()),
        _ => refusal,
    }
}

/// Parameters of `GET /user_uploads/temporary/{token}/{filename}`.
#[derive(Deserialize)]
pub struct TemporaryParams {
    /// The ids of the file and of the user, and the time of expiry, signed.
    token: String,
    /// The last part of the file's path id.
    filename: String,
    /// True if browsers save the file instead of showing it. False by default.
    #[serde(default)]
    download: bool,
}

/// `GET /user_uploads/temporary/{token}/{filename}`.
pub async fn get_file_by_temporary_url(call: Call<Anyone>, params: TemporaryParams) -> ApiResult<Reply> {
    let TemporaryParams { token, filename, download } = params;
    let now = call.app.clock.seconds();
    let file = call.app.read_quickly_or_slowly(Some(Caller::VISITOR.quota_owner()), move |snapshot| {
        let invalid = || ApiError::bad_request("Invalid token");
        let (id, user_id) = verify(snapshot, &token, now)?.ok_or_else(invalid)?;
        let file = files::by_id(snapshot, id)?.ok_or_else(files::access::does_not_exist)?;
        let caller = ok_unless_refused(rows::user::caller(snapshot, user_id))?.ok_or_else(invalid)?;
        if !files::access::may_load(Ctx::new(snapshot, &caller, now), &file)? {
            return Err(invalid());
        }
        if file_name(&file) != filename {
            return Err(ApiError::bad_request("Invalid filename"));
        }
        Ok(file)
    });
    serve(&call.app, call.info.conditions.as_deref(), &Caller::VISITOR, &file.await?, download)
}

fn file_name(file: &AttachmentRow) -> &str {
    file.path_id.rsplit('/').next().unwrap_or_default()
}

/// Signs a token for a file and a user that is valid until a time in UNIX seconds.
fn sign(connection: &Connection, id: i64, user_id: UserId, until: i64) -> ApiResult<String> {
    let mut bytes = [id.to_be_bytes(), user_id.0.to_be_bytes(), until.to_be_bytes()].concat();
    let signature = new_mac(connection)?.chain_update(&bytes).finalize();
    bytes.extend_from_slice(&signature.into_bytes());
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The file and the user of a token; `None` if the signature is invalid or the token has expired.
fn verify(connection: &Connection, token: &str, now: i64) -> ApiResult<Option<(i64, UserId)>> {
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(token) else { return Ok(None) };
    let Some((signed, signature)) = bytes.split_at_checked(24) else { return Ok(None) };
    if new_mac(connection)?.chain_update(signed).verify_slice(signature).is_err() {
        return Ok(None);
    }
    let number = |at: usize| signed.get(at..at + 8)?.try_into().ok().map(i64::from_be_bytes);
    let is_valid = number(16).is_some_and(|until| is_valid_until(until, now, VALIDITY));
    Ok(number(0).zip(number(8).map(UserId)).filter(|_| is_valid))
}

fn new_mac(connection: &Connection) -> ApiResult<Hmac<Sha256>> {
    Hmac::new_from_slice(&files::secret(connection)?)
        .map_err(|error| ApiError::internal(format_args!("the key of signed addresses is unusable: {error}")))
}
