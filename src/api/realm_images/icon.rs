//! `GET`, `POST` and `DELETE /realm/icon`: a square image.

use crate::api::realm_images::{change, redirect};
use crate::domain::images::decoding::{ImageError, decode};
use crate::domain::images::realm::RealmImage;
use crate::domain::images::scaling::{cover, to_png};
use crate::domain::images::upload;
use crate::domain::limits::MAX_ICON_FILE_SIZE_MIB;
use crate::domain::realm::settings;
use crate::http::params::NoParams;
use crate::http::{Administrator, ApiResult, Call, Read, Reply, User};
use crate::store::Tx;

/// The side of an icon, in pixels.
const SIDE: u32 = 100;

/// `GET /realm/icon`: the way to the image.
pub fn get_icon(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    Ok(redirect(RealmImage::Icon.url(&settings::all(read)?)))
}

/// `POST /realm/icon`, with the image as the one file of a multipart body.
pub async fn upload_icon(mut call: Call<Administrator>, _params: NoParams) -> ApiResult<Reply> {
    let file = upload::only_file(std::mem::take(&mut call.files), "You must upload exactly one icon.")?;
    upload::check(&file, MAX_ICON_FILE_SIZE_MIB)?;
    let icon = upload::make(file, scale).await?;
    let url = call.write(move |tx, _caller| change::set(tx, RealmImage::Icon, Some(&icon))).await?;
    Reply::field("icon_url", &url)
}

/// `DELETE /realm/icon`: back to the one that is drawn.
pub fn delete_icon(tx: &mut Tx<'_>, _caller: &Administrator, _params: NoParams) -> ApiResult<Reply> {
    Reply::field("icon_url", &change::set(tx, RealmImage::Icon, None)?)
}

fn scale(file: &[u8]) -> Result<Vec<u8>, ImageError> {
    Ok(to_png(&cover(&decode(file)?.picture, SIDE, SIDE)?)?)
}
