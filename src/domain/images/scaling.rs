//! Scaling of images, and encoding them as files.
//!
//! `fast_image_resize` scales in a fraction of the time that `image` takes, and weighs colours by their opacity, so that
//! pixels that cannot be seen leave no colour behind. All of it is slow: call it on a blocking thread.

use crate::domain::images::decoding::ImageError;
use fast_image_resize::images::{CroppedImage, Image, ImageRef};
use fast_image_resize::{PixelType, ResizeError, ResizeOptions, Resizer};
use image::buffer::ConvertBuffer;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::codecs::webp::WebPEncoder;
use image::{ImageEncoder, ImageResult, RgbImage, RgbaImage, imageops};

/// Scales an image down until it fits into a frame, in its own proportions. One that fits already stays as it is.
pub fn fit_within(picture: &RgbaImage, width: u32, height: u32) -> Result<RgbaImage, ImageError> {
    let (old_width, old_height) = picture.dimensions();
    if old_width <= width && old_height <= height {
        return Ok(picture.clone());
    }
    // Compared as fractions: the side that is further over decides.
    let is_wide = u64::from(old_width) * u64::from(height) >= u64::from(old_height) * u64::from(width);
    let scaled = |side: u32, by: u32, of: u32| {
        let rounded = (u64::from(side) * u64::from(by) + u64::from(of) / 2) / u64::from(of);
        u32::try_from(rounded).unwrap_or(u32::MAX).max(1)
    };
    let (width, height) = if is_wide {
        (width, scaled(old_height, width, old_width))
    } else {
        (scaled(old_width, height, old_height), height)
    };
    resize(picture, (0, 0, old_width, old_height), width, height)
}

/// Scales the middle of an image to exactly this size, cropping two sides. Small images are enlarged.
pub fn cover(picture: &RgbaImage, width: u32, height: u32) -> Result<RgbaImage, ImageError> {
    let (old_width, old_height) = picture.dimensions();
    let part = |side: u32, by: u32, of: u32| {
        let part = u64::from(side) * u64::from(by) / u64::from(of);
        u32::try_from(part).unwrap_or(u32::MAX).max(1)
    };
    let shown_width = part(old_height, width, height).min(old_width);
    let shown_height = part(old_width, height, width).min(old_height);
    let (left, top) = ((old_width - shown_width) / 2, (old_height - shown_height) / 2);
    resize(picture, (left, top, shown_width, shown_height), width, height)
}

/// Scales an image until it fits into a square, and puts it in the middle of it, with nothing around. Small images grow.
pub fn contain(picture: &RgbaImage, side: u32) -> Result<RgbaImage, ImageError> {
    let (width, height) = picture.dimensions();
    let scaled = |length: u32| (length * side / width.max(height)).max(1);
    let inner = resize(picture, (0, 0, width, height), scaled(width), scaled(height))?;
    let mut square = RgbaImage::new(side, side);
    let (left, top) = ((side - inner.width()) / 2, (side - inner.height()) / 2);
    imageops::replace(&mut square, &inner, left.into(), top.into());
    Ok(square)
}

/// Scales a part of an image (left, top, width, height). Pixels outside of it have no influence.
fn resize(
    picture: &RgbaImage,
    (left, top, part_width, part_height): (u32, u32, u32, u32),
    width: u32,
    height: u32,
) -> Result<RgbaImage, ImageError> {
    let whole = ImageRef::new(picture.width(), picture.height(), picture.as_raw(), PixelType::U8x4)
        .map_err(|_| ResizeError::PixelTypesAreDifferent)?;
    let part = CroppedImage::new(&whole, left, top, part_width, part_height).map_err(ResizeError::from)?;
    let mut scaled = Image::new(width, height, PixelType::U8x4);
    // Weighing by opacity takes a copy of the image.
    let options = ResizeOptions::new().use_alpha(!is_opaque(picture));
    Resizer::new().resize(&part, &mut scaled, &options)?;
    let pixels = RgbaImage::from_raw(width, height, scaled.into_vec());
    pixels.ok_or(ImageError::Size { width, height })
}

/// Encodes an image as PNG.
pub fn to_png(picture: &RgbaImage) -> ImageResult<Vec<u8>> {
    let mut file = Vec::new();
    encode(picture, png_encoder(&mut file))?;
    Ok(file)
}

/// An encoder that prefers small files to quick work: images are loaded more often than they are made.
fn png_encoder(file: &mut Vec<u8>) -> PngEncoder<&mut Vec<u8>> {
    PngEncoder::new_with_quality(file, CompressionType::Default, FilterType::Adaptive)
}

/// Encodes an image as WebP, without loss.
pub fn to_webp(picture: &RgbaImage) -> ImageResult<Vec<u8>> {
    let mut file = Vec::new();
    encode(picture, WebPEncoder::new_lossless(&mut file))?;
    Ok(file)
}

/// Encodes an image, without an alpha channel where it needs none.
fn encode(picture: &RgbaImage, encoder: impl ImageEncoder) -> ImageResult<()> {
    if is_opaque(picture) {
        let opaque: RgbImage = picture.convert();
        opaque.write_with_encoder(encoder)
    } else {
        picture.write_with_encoder(encoder)
    }
}

fn is_opaque(picture: &RgbaImage) -> bool {
    picture.pixels().all(|pixel| pixel[3] == u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgba;

    const RED: [u8; 4] = [255, 0, 0, 255];
    const BLUE: [u8; 4] = [0, 0, 255, 255];
    const NOTHING: [u8; 4] = [0, 255, 0, 0];

    fn picture(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 4]) -> RgbaImage {
        RgbaImage::from_fn(width, height, |x, y| Rgba(pixel(x, y)))
    }

    fn is_all(picture: &RgbaImage, colour: [u8; 4]) -> bool {
        picture.pixels().all(|pixel| pixel.0 == colour)
    }

    #[test]
    fn pictures_keep_their_proportions_and_never_grow_to_fit() {
        let cases = [
            ((1680, 1120), (840, 560)),
            ((2000, 1000), (840, 420)),
            ((1000, 2000), (280, 560)),
            ((100, 50), (100, 50)),
            ((840, 560), (840, 560)),
            ((5000, 1), (840, 1)),
            ((1, 5000), (1, 560)),
            ((841, 560), (840, 559)),
        ];
        for ((width, height), expected) in cases {
            let picture = RgbaImage::from_raw(width, height, RED.repeat((width * height) as usize)).unwrap();
            let scaled = fit_within(&picture, 840, 560).unwrap();
            assert_eq!(scaled.dimensions(), expected, "{width}x{height}");
            assert!(is_all(&scaled, RED));
        }
    }

    #[test]
    fn the_middle_is_cut_out_to_cover() {
        // A third of red, a third of blue, a third of red.
        let wide = picture(90, 30, |x, _| if (30..60).contains(&x) { BLUE } else { RED });
        for side in [1, 10, 30, 100] {
            let square = cover(&wide, side, side).unwrap();
            assert_eq!(square.dimensions(), (side, side));
            assert!(is_all(&square, BLUE), "{side}");
        }
        let high = picture(30, 90, |_, y| if (30..60).contains(&y) { BLUE } else { RED });
        assert!(is_all(&cover(&high, 10, 10).unwrap(), BLUE));
    }

    #[test]
    fn scaling_averages_pixels_without_transparent_ones() {
        let half = picture(100, 100, |x, _| if x < 50 { RED } else { BLUE });
        let scaled = fit_within(&half, 10, 10).unwrap();
        assert_eq!((scaled.get_pixel(0, 5).0, scaled.get_pixel(9, 5).0), (RED, BLUE));
        let stripes = picture(100, 2, |x, _| if x % 2 == 0 { RED } else { NOTHING });
        let [red, green, blue, opacity] = fit_within(&stripes, 10, 2).unwrap().get_pixel(5, 0).0;
        assert_eq!((red, green, blue), (255, 0, 0));
        assert!(opacity.abs_diff(128) < 4, "{opacity}");
    }

    #[test]
    fn files_hold_the_same_pixels() {
        for pixel in [BLUE, [10, 20, 30, 40]] {
            let picture = picture(7, 5, |x, _| if x == 3 { RED } else { pixel });
            for file in [to_png(&picture).unwrap(), to_webp(&picture).unwrap()] {
                assert_eq!(super::super::decoding::decode(&file).unwrap().picture, picture);
            }
        }
    }
}
