//! Checks and conversion of images that are uploaded as avatars, emoji, icons and logos.

use crate::app::App;
use crate::domain::images::decoding::{FORMATS, ImageError};
use crate::error::{ApiError, ApiResult};
use crate::types::{UploadedFile, UserId};
use image::ImageFormat;

/// The largest request body with an image, in bytes. It is larger than the largest image, so that most images that are
/// too large get the published error.
pub const BODY_LIMIT: usize = 8 << 20;

/// Returns the only file of a form, with any field name. Fails with `refusal` if there are none or several.
pub fn only_file(mut files: Vec<UploadedFile>, refusal: &'static str) -> ApiResult<UploadedFile> {
    match (files.pop(), files.is_empty()) {
        (Some(file), true) => Ok(file),
        _ => Err(ApiError::bad_request(refusal)),
    }
}

/// Checks the size of a file and the client's media type, without decoding. Fails with 400, or 400 `BAD_IMAGE` for the
/// type.
pub fn check(file: &UploadedFile, limit_mib: usize) -> ApiResult<()> {
    if file.bytes.len() > limit_mib << 20 {
        let msg = format!("Uploaded file is larger than the allowed limit of {limit_mib} MiB");
        return Err(ApiError::bad_request(msg));
    }
    let media_type = file.content_type.as_deref().unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let format = if media_type.is_empty() { of_name(&file.file_name) } else { of_media_type(&media_type) };
    if format.is_some() { Ok(()) } else { Err(bad_image("Invalid image format")) }
}

/// Runs `work`, which decodes a file of the user, in the pool for images. Fails with 400 `BAD_IMAGE` if the file cannot be
/// decoded.
pub async fn make<T: Send + 'static>(
    app: &App,
    user_id: UserId,
    file: UploadedFile,
    work: fn(&[u8]) -> Result<T, ImageError>,
) -> ApiResult<T> {
    app.pools.images.run(Some(user_id), move || work(&file.bytes)).await?.map_err(|error| {
        tracing::debug!(%error, "an uploaded file is no image");
        bad_image(match error {
            ImageError::Size { .. } => "Image size exceeds limit.",
            ImageError::UnknownFormat | ImageError::Broken(_) | ImageError::Scaling(_) => {
                "Could not decode image; did you upload an image file?"
            }
        })
    })
}

fn bad_image(msg: &'static str) -> ApiError {
    ApiError::new(400, "BAD_IMAGE", msg)
}

fn of_media_type(media_type: &str) -> Option<ImageFormat> {
    FORMATS.into_iter().find(|format| format.to_mime_type() == media_type)
}

fn of_name(name: &str) -> Option<ImageFormat> {
    let (_, ending) = name.rsplit_once('.')?;
    match ending.to_ascii_lowercase().as_str() {
        "png" => Some(ImageFormat::Png),
        "jpg" | "jpeg" | "jpe" => Some(ImageFormat::Jpeg),
        "gif" => Some(ImageFormat::Gif),
        "webp" => Some(ImageFormat::WebP),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn file(name: &str, content_type: Option<&str>, length: usize) -> UploadedFile {
        UploadedFile {
            field_name: "file".to_owned(),
            file_name: name.to_owned(),
            content_type: content_type.map(str::to_owned),
            bytes: Bytes::from(vec![0; length]),
        }
    }

    #[test]
    fn forms_contain_exactly_one_file() {
        let files = |count| (0..count).map(|index| file(&index.to_string(), None, 0)).collect::<Vec<_>>();
        assert_eq!(only_file(files(1), "One!").unwrap().file_name, "0");
        for count in [0, 2, 3] {
            assert_eq!(only_file(files(count), "One!").unwrap_err().msg(), "One!");
        }
    }

    #[test]
    fn files_are_checked_by_size_and_type() {
        for (name, content_type) in [
            ("/home/ada/x.PNG", None),
            ("x.jpeg", Some("")),
            ("x.jpg", None),
            ("x.gif", None),
            (".webp", None),
            ("noname", Some("image/png")),
            ("x.txt", Some("IMAGE/JPEG; q=1")),
        ] {
            assert!(check(&file(name, content_type, 5 << 20), 5).is_ok(), "{name}");
        }
        for (name, content_type) in
            [("png", None), ("x.svg", None), ("x.png", Some("text/plain")), ("x.png", Some("image/svg+xml"))]
        {
            let error = check(&file(name, content_type, 1), 5).unwrap_err();
            assert_eq!(
                (error.status(), error.code(), error.msg()),
                (400, "BAD_IMAGE", "Invalid image format")
            );
        }
        let error = check(&file("x.png", None, (5 << 20) + 1), 5).unwrap_err();
        assert_eq!(error.code(), "BAD_REQUEST");
        assert_eq!(error.msg(), "Uploaded file is larger than the allowed limit of 5 MiB");
    }
}
