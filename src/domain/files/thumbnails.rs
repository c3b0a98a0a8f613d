//! Thumbnails of uploaded images. They are made at the upload and stored with the image.

use crate::app::App;
use crate::domain::files::sql::AttachmentRow;
use crate::domain::files::{blobs, sql};
use crate::domain::images::animation::is_animation;
use crate::domain::images::decoding::{ImageError, decode, format_of};
use crate::domain::images::scaling::{fit_within, to_webp};
use crate::error::ApiResult;
use crate::types::UserId;
use rusqlite::Connection;
use serde::Serialize;
use std::sync::Arc;
use teamchat_markdown::UploadedFile;

/// A format of thumbnails.
#[derive(Debug, Serialize)]
pub struct ThumbnailFormat {
    /// The name of the format: the last part of the URL of a thumbnail.
    name: &'static str,
    /// The maximum width, in pixels.
    max_width: u32,
    /// The maximum height, in pixels.
    max_height: u32,
    /// The extension of the file's name.
    format: &'static str,
    /// True for animated thumbnails, which only animations have.
    animated: bool,
}

/// All formats. Every image has the still one, and an animation the animated one too.
pub const FORMATS: [ThumbnailFormat; 2] = [ANIMATED, STILL];

/// The format of animations. Its file is the animation itself, of any size and format: a lossless re-encoding would be
/// larger.
const ANIMATED: ThumbnailFormat = ThumbnailFormat {
    name: "840x560-anim.webp",
    max_width: 840,
    max_height: 560,
    format: "webp",
    animated: true,
};

const STILL: ThumbnailFormat = ThumbnailFormat {
    name: "840x560.webp",
    max_width: 840,
    max_height: 560,
    format: "webp",
    animated: false,
};

/// The largest animation, in bytes, that messages show moving: every reader loads it.
pub const MAX_ANIMATION_SIZE: usize = 8 << 20;

/// The media type of still thumbnails.
pub const CONTENT_TYPE: &str = "image/webp";

/// The largest file, in bytes, for which thumbnails are made: decoding needs it in memory.
const MAX_SIZE: u64 = 32 << 20;

/// The thumbnails of an image, and its properties.
pub struct Thumbnails {
    /// The media type of the image.
    pub content_type: &'static str,
    /// Its width and height in pixels, after rotation by its EXIF orientation.
    pub dimensions: (u32, u32),
    /// The name of each format and its file, which is empty if it is the image itself.
    pub formats: Vec<(&'static str, Vec<u8>)>,
}

/// Creates the thumbnails of an uploaded file; `None` if it cannot be decoded as an image.
pub async fn make(
    app: &Arc<App>,
    user_id: UserId,
    content_id: i64,
    size: u64,
    content_type: &str,
) -> ApiResult<Option<Thumbnails>> {
    if !content_type.starts_with("image/") || size > MAX_SIZE {
        return Ok(None);
    }
    let reading = Arc::clone(app);
    let made = app.pools.images.run(Some(user_id), move || {
        let file = blobs::read_all(&reading, content_id, size)?;
        Ok(of_image(&file))
    });
    match made.await {
        Ok(made) => made,
        // If the decoder panics, the file has no thumbnail.
        Err(error) if error.status() == 500 => Ok(None),
        Err(busy) => Err(busy),
    }
}

fn of_image(file: &[u8]) -> Option<Thumbnails> {
    format_of(file)?;
    scale(file).map_err(|error| tracing::debug!(%error, "no thumbnail")).ok()
}

fn scale(file: &[u8]) -> Result<Thumbnails, ImageError> {
    let decoded = decode(file)?;
    let still = fit_within(&decoded.picture, STILL.max_width, STILL.max_height)?;
    let mut formats = vec![(STILL.name, to_webp(&still)?)];
    if file.len() <= MAX_ANIMATION_SIZE && is_animation(file, decoded.format) {
        formats.push((ANIMATED.name, Vec::new()));
    }
    Ok(Thumbnails {
        formats,
        content_type: decoded.format.to_mime_type(),
        dimensions: decoded.picture.dimensions(),
    })
}

/// The preview of a file in messages that link to it; `None` if they show only the link.
pub fn shown(connection: &Connection, file: &AttachmentRow) -> rusqlite::Result<Option<UploadedFile>> {
    let is_image = file.content_type.starts_with("image/");
    if is_image && file.dimensions.is_none() {
        return Ok(None);
    }
    let may_move = matches!(file.content_type.as_str(), "image/gif" | "image/webp");
    let is_animated = may_move && sql::thumbnail(connection, file.id, ANIMATED.name)?.is_some();
    let format = if is_animated { ANIMATED } else { STILL };
    let address = || format!("/user_uploads/thumbnail/{}/{}", file.path_id, format.name);
    Ok(Some(UploadedFile {
        content_type: file.content_type.clone(),
        dimensions: file.dimensions,
        is_animated,
        thumbnail_url: is_image.then(address),
    }))
}
