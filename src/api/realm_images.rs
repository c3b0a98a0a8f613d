//! `/realm/icon` and `/realm/logo`: the organization's icon and logos, which administrators set.

use crate::api::resource::Resource;
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::images::decoding::{ImageError, decode};
use crate::domain::images::realm::RealmImage;
use crate::domain::images::scaling::{cover, fit_within, to_png};
use crate::domain::images::upload::BODY_LIMIT;
use crate::domain::images::{public, upload};
use crate::domain::limits::{MAX_ICON_FILE_SIZE_MIB, MAX_LOGO_FILE_SIZE_MIB};
use crate::domain::realm;
use crate::domain::realm::events::RealmUpdatedDict;
use crate::domain::realm::user_ids::everyone;
use crate::domain::upload_quota::UploadQuota;
use crate::http::params::NoParams;
use crate::http::{
    ADMINISTRATOR, Administrator, ApiResult, Call, NotJson, OtherReply, Read, Reply, Route, USER, User,
};
use crate::store::Tx;
use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub const RESOURCE: Resource = Resource { name: "realm_images", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/realm/icon", USER, get_icon),
        Route::call(Method::POST, "/realm/icon", ADMINISTRATOR, upload_icon).body_limit(BODY_LIMIT),
        Route::write(Method::DELETE, "/realm/icon", ADMINISTRATOR, delete_icon),
        Route::read(Method::GET, "/realm/logo", USER, get_logo),
        Route::call(Method::POST, "/realm/logo", ADMINISTRATOR, upload_logo).body_limit(BODY_LIMIT),
        Route::write(Method::DELETE, "/realm/logo", ADMINISTRATOR, delete_logo),
    ]
}

/// Redirects to an image.
fn redirect(location: String) -> Reply<NotJson> {
    let headers = vec![("Location", location)];
    Reply::other(OtherReply { status: 302, content_type: "text/plain", headers, body: bytes::Bytes::new() })
}

/// The width and height of an icon, in pixels.
const ICON_SIDE: u32 = 100;

/// `GET /realm/icon`: redirects to the icon of the organization.
fn get_icon(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<NotJson>> {
    Ok(redirect(RealmImage::Icon.url(&realm::settings::all(read)?)))
}

/// The icon of the organization.
#[derive(Serialize)]
struct Icon {
    /// The URL of the icon.
    icon_url: String,
}

/// `POST /realm/icon`: replaces the icon of the organization. The image, at most 5 MiB, is the only file of a multipart
/// body.
async fn upload_icon(mut call: Call<Administrator>, _params: NoParams) -> ApiResult<Reply<Icon>> {
    let file = upload::only_file(std::mem::take(&mut call.files), "You must upload exactly one icon.")?;
    upload::check(&file, MAX_ICON_FILE_SIZE_MIB)?;
    let icon = upload::make(&call.app, call.caller.quota_owner(), file, scale_icon).await?;
    let quota = UploadQuota::of(&call.app.options);
    let url = call.write(move |tx, caller| replace(tx, caller, RealmImage::Icon, &icon, quota)).await?;
    Reply::data(&Icon { icon_url: url })
}

/// `DELETE /realm/icon`: restores the generated icon.
fn delete_icon(tx: &mut Tx<'_>, _caller: &Administrator, _params: NoParams) -> ApiResult<Reply<Icon>> {
    Reply::data(&Icon { icon_url: set_image(tx, RealmImage::Icon, None)? })
}

fn scale_icon(file: &[u8]) -> Result<Vec<u8>, ImageError> {
    Ok(to_png(&cover(&decode(file)?.picture, ICON_SIDE, ICON_SIDE)?)?)
}

/// The maximum width of a logo, in pixels. Larger images are scaled down; smaller ones keep their size.
const MAX_LOGO_WIDTH: u32 = 800;

/// The maximum height of a logo, in pixels.
const MAX_LOGO_HEIGHT: u32 = 100;

/// Parameters of `/realm/logo`.
#[derive(Deserialize)]
pub struct LogoParams {
    /// True for the logo for dark themes, false for the other one.
    night: bool,
}

impl LogoParams {
    fn image(&self) -> RealmImage {
        if self.night { RealmImage::NightLogo } else { RealmImage::Logo }
    }
}

/// `GET /realm/logo`: redirects to a logo of the organization.
fn get_logo(read: &Read<'_, User>, params: LogoParams) -> ApiResult<Reply<NotJson>> {
    Ok(redirect(params.image().url(&realm::settings::all(read)?)))
}

/// `POST /realm/logo`: replaces a logo of the organization. The image, at most 5 MiB, is the only file of a multipart
/// body.
async fn upload_logo(mut call: Call<Administrator>, params: LogoParams) -> ApiResult<Reply> {
    let file = upload::only_file(std::mem::take(&mut call.files), "You must upload exactly one logo.")?;
    upload::check(&file, MAX_LOGO_FILE_SIZE_MIB)?;
    let logo = upload::make(&call.app, call.caller.quota_owner(), file, scale_logo).await?;
    let quota = UploadQuota::of(&call.app.options);
    call.write(move |tx, caller| replace(tx, caller, params.image(), &logo, quota)).await?;
    Ok(Reply::ok())
}

/// `DELETE /realm/logo`: restores the default logo.
fn delete_logo(tx: &mut Tx<'_>, _caller: &Administrator, params: LogoParams) -> ApiResult<Reply> {
    set_image(tx, params.image(), None)?;
    Ok(Reply::ok())
}

fn scale_logo(file: &[u8]) -> Result<Vec<u8>, ImageError> {
    Ok(to_png(&fit_within(&decode(file)?.picture, MAX_LOGO_WIDTH, MAX_LOGO_HEIGHT)?)?)
}

/// Sets an image to a PNG file, within the quotas.
fn replace(
    tx: &mut Tx<'_>,
    caller: &Administrator,
    image: RealmImage,
    file: &[u8],
    quota: UploadQuota,
) -> ApiResult<String> {
    let url = set_image(tx, image, Some(file))?;
    quota.check_stored(tx, caller.user_id, file.len())?;
    Ok(url)
}

/// Sets an image to a PNG file, or restores the default, and emits it to everyone. Returns the URL.
fn set_image(tx: &mut Tx<'_>, image: RealmImage, file: Option<&[u8]>) -> ApiResult<String> {
    match file {
        Some(file) => public::store(tx, &image.path(), "image/png", file)?,
        None => public::delete(tx, &image.path())?,
    }
    let source = if file.is_some() { "U" } else { image.default_source() };
    let version = image.version().get(tx)?;
    realm::settings::set(tx, &image.source(), &json!(source))?;
    realm::settings::set(tx, image.version().name(), &json!(version + 1))?;
    tx.audit(Entry::new(Action::SettingChanged, Subject::setting(&image.source())).after(source))?;
    let url = image.url(&realm::settings::all(tx)?);
    let event = match image {
        RealmImage::Icon => RealmUpdatedDict::Icon { icon_url: url.clone(), icon_source: source.into() },
        RealmImage::Logo => RealmUpdatedDict::Logo { logo_url: url.clone(), logo_source: source.into() },
        RealmImage::NightLogo => {
            RealmUpdatedDict::NightLogo { night_logo_url: url.clone(), night_logo_source: source.into() }
        }
    };
    let audience = everyone(tx)?;
    tx.emit(event, audience);
    Ok(url)
}
