//! `GET`, `POST` and `DELETE /realm/logo`: a wide image, and one for dark themes.

use crate::api::realm_images::{change, redirect};
use crate::domain::images::decoding::{ImageError, decode};
use crate::domain::images::realm::RealmImage;
use crate::domain::images::scaling::{fit_within, to_png};
use crate::domain::images::upload;
use crate::domain::limits::MAX_LOGO_FILE_SIZE_MIB;
use crate::domain::realm::settings;
use crate::http::{Administrator, ApiResult, Call, Read, Reply, User};
use crate::store::Tx;
use serde::Deserialize;

/// A logo is made smaller until it fits, and never larger. In pixels.
const MAX_WIDTH: u32 = 800;

/// In pixels.
const MAX_HEIGHT: u32 = 100;

/// Parameters of all of them.
#[derive(Deserialize)]
pub struct LogoParams {
    /// The logo for dark themes rather than the usual one.
    night: bool,
}

impl LogoParams {
    fn image(&self) -> RealmImage {
        if self.night { RealmImage::NightLogo } else { RealmImage::Logo }
    }
}

/// `GET /realm/logo`: the way to the image.
pub fn get_logo(read: &Read<'_, User>, params: LogoParams) -> ApiResult<Reply> {
    Ok(redirect(params.image().url(&settings::all(read)?)))
}

/// `POST /realm/logo`, with the image as the one file of a multipart body.
pub async fn upload_logo(mut call: Call<Administrator>, params: LogoParams) -> ApiResult<Reply> {
    let file = upload::only_file(std::mem::take(&mut call.files), "You must upload exactly one logo.")?;
    upload::check(&file, MAX_LOGO_FILE_SIZE_MIB)?;
    let logo = upload::make(file, scale).await?;
    call.write(move |tx, _caller| change::set(tx, params.image(), Some(&logo))).await?;
    Ok(Reply::ok())
}

/// `DELETE /realm/logo`: back to the default.
pub fn delete_logo(tx: &mut Tx<'_>, _caller: &Administrator, params: LogoParams) -> ApiResult<Reply> {
    change::set(tx, params.image(), None)?;
    Ok(Reply::ok())
}

fn scale(file: &[u8]) -> Result<Vec<u8>, ImageError> {
    Ok(to_png(&fit_within(&decode(file)?.picture, MAX_WIDTH, MAX_HEIGHT)?)?)
}
