//! Pictures and data that clients load by plain addresses: people's images, emoji, the organization's icon, the names
//! of emoji. Everything is made here; nothing is fetched from elsewhere.

mod drawing;

use crate::domain::access::user_rows;
use crate::domain::access::users::{Accessible, UNKNOWN_AVATAR_URL};
use crate::domain::images::avatar::Avatar;
use crate::domain::images::public;
use crate::domain::images::public::EMOJI_DATA_PATH;
use crate::domain::users::sql as users;
use crate::http::Resource;
use crate::http::params::NoParams;
use crate::http::{ANYONE, Anyone, ApiError, ApiResult, OtherReply, Read, Reply, Route, USER, User};
use crate::markdown::emoji;
use crate::types::UserId;
use ::image::ImageResult;
use bytes::Bytes;
use hyper::Method;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Images and static data.
pub const RESOURCE: Resource = Resource { name: "images", routes, ..Resource::EMPTY };

/// Addresses carry a version, or their content never changes: clients may keep what they got for a year.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/avatar/{user_id_or_email}", USER, avatar).outside(),
        Route::read(Method::GET, "/avatar/{user_id_or_email}/medium", USER, medium_avatar).outside(),
        Route::read(Method::GET, "/user_avatars/1/{path...}", ANYONE, image).outside(),
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
}

/// Parameters of the addresses of images.
#[derive(Deserialize)]
pub struct ImageParams {
    /// Which image.
    path: String,
    /// Only there so that the address changes with the image.
    #[serde(default, rename = "version")]
    _version: Option<String>,
}

/// `GET /avatar/{user_id}` and `/avatar/{email}`: the way to a user's image, for clients that were not told its address
/// (`user_avatar_url_field_optional`).
fn avatar(read: &Read<'_, User>, params: AvatarParams) -> ApiResult<Reply> {
    Ok(redirect(avatar_of(read, &params)?.map_or(UNKNOWN_AVATAR_URL.to_owned(), Avatar::url)))
}

/// `GET /avatar/{user_id}/medium`: the same, larger.
fn medium_avatar(read: &Read<'_, User>, params: AvatarParams) -> ApiResult<Reply> {
    Ok(redirect(avatar_of(read, &params)?.map_or(UNKNOWN_AVATAR_URL.to_owned(), Avatar::medium_url)))
}

/// `None` for those whom the caller cannot access. Whoever does not exist has an image as well, as on the published
/// server.
fn avatar_of(read: &Read<'_, User>, params: &AvatarParams) -> ApiResult<Option<Avatar>> {
    let (user_id, user) = match params.user_id_or_email.parse() {
        Ok(id) => (UserId(id), user_rows::by_id(read, UserId(id))?),
        Err(_) => (UserId(0), users::by_email(read, &params.user_id_or_email)?),
    };
    let Some(user) = user else { return Ok(Some(Avatar { user_id, version: 1, key: None })) };
    let is_known = user.is_system_bot || Accessible::to(read, read.caller)?.contains(user.user_id);
    Ok(is_known.then_some(user.avatar))
}

fn redirect(location: String) -> Reply {
    let headers = vec![("Location", location)];
    Reply::Other(OtherReply { status: 302, content_type: "text/plain", headers, body: Bytes::new() })
}

/// `GET /user_avatars/{realm_id}/{path}`: an uploaded image, or one that is drawn for a user.
fn image(read: &Read<'_, Anyone>, params: ImageParams) -> ApiResult<Reply> {
    if let Some((user_id, side)) = public::generated(&params.path) {
        // Of users who do not exist as well: it says nothing of who is here.
        let uuid = realm_uuid(read)?;
        return png_reply(drawing::pattern(&format!("{uuid}/{user_id}"), side));
    }
    let (content_type, content) = public::get(read, &params.path)?.ok_or_else(ApiError::not_found)?;
    let content_type = if content_type == "image/gif" { "image/gif" } else { "image/png" };
    Ok(kept(content_type, content.into()))
}

/// The organization's icon until somebody uploads one.
fn organization(read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    png_reply(drawing::pattern(&realm_uuid(read)?, 200))
}

fn realm_uuid(connection: &Connection) -> rusqlite::Result<String> {
    connection.prepare_cached("SELECT uuid FROM realm")?.query_row([], |row| row.get(0))
}

/// The image of users whom the reader cannot access: the same for all.
fn unknown_avatar(_read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    png_reply(drawing::pattern(UNKNOWN_AVATAR_URL, 100))
}

/// The one emoji that is neither Unicode nor the organization's own.
fn extra_emoji(_read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    png_reply(drawing::speech_bubble(64))
}

/// The names of all Unicode emoji by code point, as `server_emoji_data_url` promises them.
fn emoji_names(_read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    let names: Map<String, Value> =
        emoji::all().map(|emoji| (emoji.code.to_owned(), emoji.names().collect())).collect();
    let body = json!({ "code_to_names": names }).to_string();
    Ok(kept("application/json", body.into()))
}

fn png_reply(image: ImageResult<Vec<u8>>) -> ApiResult<Reply> {
    let bytes =
        image.map_err(|error| ApiError::internal(format_args!("an image could not be written: {error}")))?;
    Ok(kept("image/png", bytes.into()))
}

fn kept(content_type: &'static str, body: Bytes) -> Reply {
    let headers = vec![("Cache-Control", FOR_EVER.to_owned())];
    Reply::Other(OtherReply { status: 200, content_type, headers, body })
}
