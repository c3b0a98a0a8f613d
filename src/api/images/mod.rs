//! Pictures and data that clients load by plain addresses: people's generated images, the organization's icon, the
//! names of emoji. Everything is made here; nothing is fetched from elsewhere.

pub mod decoding;
mod drawing;
pub mod scaling;

use super::Slice;
use super::server_state::EMOJI_DATA_PATH;
use super::users::access::UNKNOWN_AVATAR_URL;
use super::users::sql as users;
use crate::http::{ANYONE, Anyone, ApiError, ApiResult, OtherReply, Read, Reply, Route};
use crate::markdown::emoji;
use crate::types::UserId;
use bytes::Bytes;
use hyper::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Images and static data.
pub const SLICE: Slice = Slice { name: "images", routes, ..Slice::EMPTY };

/// Addresses carry a version, or their content never changes: clients may keep what they got for a year.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/avatar/{user_id_or_email}", ANYONE, avatar).outside(),
        Route::read(Method::GET, "/avatar/{user_id_or_email}/medium", ANYONE, medium_avatar).outside(),
        Route::read(Method::GET, "/static/images/organization.png", ANYONE, organization).outside(),
        Route::read(Method::GET, UNKNOWN_AVATAR_URL, ANYONE, unknown_avatar).outside(),
        Route::read(Method::GET, emoji::EXTRA_EMOJI_URL, ANYONE, extra_emoji).outside(),
        Route::read(Method::GET, EMOJI_DATA_PATH, ANYONE, emoji_names).outside(),
    ]
}

/// Parameters of the avatar addresses.
#[derive(Deserialize)]
pub struct AvatarParams {
    /// Whose: an id, or an API email.
    user_id_or_email: String,
    /// Only there so that the address changes with the image.
    #[serde(default, rename = "version")]
    _version: Option<String>,
}

/// The addresses of fixed pictures have no parameters.
#[derive(Deserialize)]
pub struct NoParams {}

/// `GET /avatar/{user_id}` and `/avatar/{email}`: a user's image. It tells nothing but that the user exists, so that
/// clients can show it without credentials.
fn avatar(read: &Read<'_, Anyone>, params: AvatarParams) -> ApiResult<Reply> {
    picture_of(read, &params, 100)
}

/// `GET /avatar/{user_id}/medium`: the same, larger.
fn medium_avatar(read: &Read<'_, Anyone>, params: AvatarParams) -> ApiResult<Reply> {
    picture_of(read, &params, 500)
}

fn picture_of(read: &Read<'_, Anyone>, params: &AvatarParams, side: u32) -> ApiResult<Reply> {
    let user = match params.user_id_or_email.parse() {
        Ok(id) => users::by_id(read, UserId(id))?,
        Err(_) => users::by_email(read, &params.user_id_or_email)?,
    };
    let user = user.ok_or_else(ApiError::not_found)?;
    let uuid: String = read.prepare_cached("SELECT uuid FROM realm")?.query_row([], |row| row.get(0))?;
    png(drawing::pattern(&format!("{uuid}/{}", user.user_id), side))
}

/// The organization's icon until somebody uploads one.
fn organization(read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    let uuid: String = read.prepare_cached("SELECT uuid FROM realm")?.query_row([], |row| row.get(0))?;
    png(drawing::pattern(&uuid, 200))
}

/// The image of users whom the reader cannot access: the same for all.
fn unknown_avatar(_read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    png(drawing::pattern(UNKNOWN_AVATAR_URL, 100))
}

/// The one emoji that is neither Unicode nor the organization's own.
fn extra_emoji(_read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    png(drawing::speech_bubble(64))
}

/// The names of all Unicode emoji by code point, as `server_emoji_data_url` promises them.
fn emoji_names(_read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    let names: Map<String, Value> =
        emoji::all().map(|emoji| (emoji.code.to_owned(), emoji.names().collect())).collect();
    let body = json!({ "code_to_names": names }).to_string();
    Ok(kept("application/json", body.into()))
}

fn png(image: Result<Vec<u8>, png::EncodingError>) -> ApiResult<Reply> {
    let bytes = image.map_err(|error| {
        tracing::error!(%error, "an image could not be written");
        ApiError::internal()
    })?;
    Ok(kept("image/png", bytes.into()))
}

fn kept(content_type: &'static str, body: Bytes) -> Reply {
    let headers = vec![("Cache-Control", FOR_EVER.to_owned())];
    Reply::Other(OtherReply { status: 200, content_type, headers, body })
}
