//! Thumbnails of uploaded images. They are made at the upload and stored with the image.

use crate::app::App;
use crate::domain::files::blobs;
use crate::domain::files::sql::AttachmentRow;
use crate::domain::images::decoding::{ImageError, decode, format_of};
use crate::domain::images::scaling::{fit_within, to_webp};
use crate::domain::images::upload::in_turn;
use crate::http::ApiResult;
use crate::markdown::UploadedFile;
use serde::Serialize;
use std::sync::Arc;

/// One format of thumbnails, as `server_thumbnail_formats` lists it.
#[derive(Debug, Serialize)]
pub struct ThumbnailFormat {
    name: &'static str,
    max_width: u32,
    max_height: u32,
    format: &'static str,
    animated: bool,
}

/// The formats that every image has.
pub const FORMATS: [ThumbnailFormat; 1] = [ThumbnailFormat {
    name: "840x560.webp",
    max_width: 840,
    max_height: 560,
    format: "webp",
    animated: false,
}];

/// The media type of all formats.
pub const CONTENT_TYPE: &str = "image/webp";

/// The largest file, in bytes, for which thumbnails are made: decoding needs it in memory.
const MAX_SIZE: u64 = 32 << 20;

/// The thumbnails of an image, and its properties.
pub struct Thumbnails {
    /// The media type of the image.
    pub content_type: &'static str,
    /// Its width and height in pixels, after rotation by its EXIF orientation.
    pub dimensions: (u32, u32),
    /// The name of each format and its file.
    pub formats: Vec<(&'static str, Vec<u8>)>,
}

/// Makes the thumbnails of an uploaded file; `None` if it cannot be decoded as an image.
pub async fn make(
    app: &Arc<App>,
    content_id: i64,
    size: u64,
    content_type: &str,
) -> ApiResult<Option<Thumbnails>> {
    if !content_type.starts_with("image/") || size > MAX_SIZE {
        return Ok(None);
    }
    let app = Arc::clone(app);
    let made = in_turn(move || {
        let file = blobs::read_all(&app, content_id, size)?;
        Ok(of_image(&file))
    });
    // A file that makes the decoder fail is a file without a thumbnail.
    made.await.unwrap_or(Ok(None))
}

fn of_image(file: &[u8]) -> Option<Thumbnails> {
    format_of(file)?;
    scale(file).map_err(|error| tracing::debug!(%error, "no thumbnail")).ok()
}

fn scale(file: &[u8]) -> Result<Thumbnails, ImageError> {
    let decoded = decode(file)?;
    let formats = FORMATS.iter().map(|format| {
        let scaled = fit_within(&decoded.picture, format.max_width, format.max_height)?;
        Ok((format.name, to_webp(&scaled)?))
    });
    Ok(Thumbnails {
        formats: formats.collect::<Result<_, ImageError>>()?,
        content_type: decoded.format.to_mime_type(),
        dimensions: decoded.picture.dimensions(),
    })
}

/// The preview of a file in messages that link to it; `None` if they show only the link.
pub fn shown(file: &AttachmentRow) -> Option<UploadedFile> {
    let [format] = &FORMATS;
    let is_image = file.content_type.starts_with("image/");
    if is_image && file.dimensions.is_none() {
        return None;
    }
    let address = || format!("/user_uploads/thumbnail/{}/{}", file.path_id, format.name);
    Some(UploadedFile {
        content_type: file.content_type.clone(),
        dimensions: file.dimensions,
        thumbnail_url: is_image.then(address),
    })
}
