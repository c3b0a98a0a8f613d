//! Decoding of uploaded images: PNG, JPEG, GIF and WebP.
//!
//! The files are untrusted. The size is checked before memory is reserved for pixels, so that a small file cannot claim
//! all memory, and invalid files cause an error, never a panic.

use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, RgbaImage};
use std::io::Cursor;

/// The most pixels an image may have, and all frames of an animation together: four bytes for each have to fit into the
/// memory of a small server. Telephones take pictures of 12 to 50 million; most of them save 12.
pub const MAX_PIXELS: u64 = 32 << 20;

/// The longest side of an image, in pixels, which JPEG and GIF have as well. Scaling takes 60 bytes for each pixel of a side: two
/// GB for a PNG file of one line.
const MAX_SIDE: u32 = 65_535;

/// The formats that are decoded.
pub const FORMATS: [ImageFormat; 4] =
    [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];

/// A decoded file.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The format of the file.
    pub format: ImageFormat,
    /// Its pixels, the right way up; of an animation the first frame.
    pub picture: RgbaImage,
}

/// Why an image cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It has none of the [`FORMATS`].
    #[error("not a PNG, JPEG, GIF or WebP image")]
    UnknownFormat,
    /// It has more than [`MAX_PIXELS`], a side of more than 65,535, takes more memory than images of that size usually do, or has
    /// no pixels at all.
    #[error("an image of {width}x{height} pixels")]
    Size {
        /// In pixels.
        width: u32,
        /// In pixels; of an animation that of all frames.
        height: u32,
    },
    /// It cannot be decoded or encoded.
    #[error("a broken image: {0}")]
    Broken(#[from] image::ImageError),
    /// It cannot be scaled.
    #[error("an image that cannot be scaled: {0}")]
    Scaling(#[from] fast_image_resize::ResizeError),
}

/// The format of a file by its first bytes, regardless of its name.
pub fn format_of(file: &[u8]) -> Option<ImageFormat> {
    image::guess_format(file).ok().filter(|format| FORMATS.contains(format))
}

/// Decodes an image and applies its EXIF orientation. This takes up to a second: call it on a blocking thread.
pub fn decode(file: &[u8]) -> Result<Decoded, ImageError> {
    let format = format_of(file).ok_or(ImageError::UnknownFormat)?;
    // On machines of 32 bits, the decoder of PNG refuses sizes beyond their memory by an error of its own.
    if format == ImageFormat::Png
        && let Some((width, height)) = png_size(file)
    {
        check_size(width, height)?;
    }
    let mut reader = ImageReader::with_format(Cursor::new(file), format);
    // Memory of decoders besides the pixels, such as metadata and frames larger than the image.
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_PIXELS * 4);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    check_size(width, height)?;
    // Images with 16 bits a channel may have half as many pixels.
    if decoder.total_bytes() > MAX_PIXELS * 4 {
        return Err(ImageError::Size { width, height });
    }
    // Cameras write JPEG. The decoder of WebP would reserve as much memory as the chunk claims to have.
    let orientation = (format == ImageFormat::Jpeg).then(|| decoder.orientation()).transpose()?;
    let mut picture = DynamicImage::from_decoder(decoder)?;
    if let Some(orientation) = orientation {
        picture.apply_orientation(orientation);
    }
    Ok(Decoded { format, picture: picture.into_rgba8() })
}

/// The size in the header of a PNG file, which is at byte 16.
fn png_size(file: &[u8]) -> Option<(u32, u32)> {
    let (width, rest) = file.get(16..)?.split_first_chunk()?;
    Some((u32::from_be_bytes(*width), u32::from_be_bytes(*rest.first_chunk()?)))
}

/// Refuses images without pixels, those with more than [`MAX_PIXELS`], and those with a side that is too long.
pub fn check_size(width: u32, height: u32) -> Result<(), ImageError> {
    let pixels = u64::from(width) * u64::from(height);
    let is_allowed = (1..=MAX_PIXELS).contains(&pixels) && width.max(height) <= MAX_SIDE;
    if is_allowed { Ok(()) } else { Err(ImageError::Size { width, height }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::images::scaling::{to_png, to_webp};
    use image::Rgba;

    /// A JPEG of 16x8 pixels, red in the left half and blue in the right.
    const RED_AND_BLUE: &[u8] = include_bytes!("samples/red_and_blue.jpg");
    /// The same, and a camera that was held on its side.
    const TURNED: &[u8] = include_bytes!("samples/turned.jpg");

    /// Larger, and for a printer.
    const FOUR_INKS: &[u8] = include_bytes!("samples/four_inks.jpg");

    fn is_like(found: [u8; 4], wanted: [u8; 4]) -> bool {
        found.iter().zip(wanted).all(|(found, wanted)| found.abs_diff(wanted) < 24)
    }

    const RED: [u8; 4] = [255, 0, 0, 255];
    const BLUE: [u8; 4] = [0, 0, 255, 255];

    #[test]
    fn every_format_is_known_by_its_content_and_decoded() {
        let picture = RgbaImage::from_raw(2, 1, [RED, BLUE].concat()).unwrap();
        let mut gif_file = Vec::new();
        let mut encoder = gif::Encoder::new(&mut gif_file, 3, 2, &[255, 0, 0, 0, 0, 255]).unwrap();
        let frame = gif::Frame { left: 1, top: 1, ..gif::Frame::from_indexed_pixels(2, 1, vec![0, 1], None) };
        encoder.write_frame(&frame).unwrap();
        encoder.write_frame(&frame).unwrap();
        drop(encoder);
        let cases = [
            (to_png(&picture).unwrap(), ImageFormat::Png, (2, 1), (0, 0)),
            (to_webp(&picture).unwrap(), ImageFormat::WebP, (2, 1), (0, 0)),
            (gif_file, ImageFormat::Gif, (3, 2), (1, 1)),
            (RED_AND_BLUE.to_vec(), ImageFormat::Jpeg, (16, 8), (0, 0)),
            (TURNED.to_vec(), ImageFormat::Jpeg, (8, 16), (0, 0)),
            (FOUR_INKS.to_vec(), ImageFormat::Jpeg, (48, 16), (0, 0)),
        ];
        for (file, format, size, red_at) in cases {
            let decoded = decode(&file).unwrap();
            let found = &decoded.picture;
            assert_eq!((decoded.format, found.dimensions()), (format, size));
            let colour = |x, y| found.get_pixel(x, y).0;
            let (red, blue) = (colour(red_at.0, red_at.1), colour(size.0 - 1, size.1 - 1));
            assert!(is_like(red, RED) && is_like(blue, BLUE), "{format:?}: {red:?} {blue:?}");
            for end in 0..file.len() {
                // Truncated files cause an error, not a panic.
                let _answer = decode(&file[..end]);
            }
        }
    }

    #[test]
    fn invalid_and_large_images_are_refused_before_decoding() {
        assert!(matches!(decode(b"hello"), Err(ImageError::UnknownFormat)));
        assert!(matches!(
            decode(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
            Err(ImageError::UnknownFormat)
        ));
        let mut bomb = to_png(&RgbaImage::from_pixel(1, 1, Rgba(RED))).unwrap();
        // Two are lines of few bytes, which scaling would take gigabytes for. The decoder has another error for the last one.
        for size @ (width, height) in [(65_535, 65_535), (1 << 20, 1), (1, 65_536), (0, 1)] {
            // Width and height are at byte 16; the checksum of the header follows at byte 29.
            bomb[16..20].copy_from_slice(&u32::to_be_bytes(width));
            bomb[20..24].copy_from_slice(&u32::to_be_bytes(height));
            let mut crc = flate2::Crc::new();
            crc.update(&bomb[12..29]);
            bomb[29..33].copy_from_slice(&crc.sum().to_be_bytes());
            let refused = decode(&bomb).unwrap_err();
            assert!(
                matches!(refused, ImageError::Size { width, height } if (width, height) == size),
                "{size:?}: {refused}"
            );
        }
        let line = to_png(&RgbaImage::from_pixel(65_535, 1, Rgba(RED))).unwrap();
        assert_eq!(decode(&line).unwrap().picture.dimensions(), (65_535, 1));
    }

    #[test]
    fn images_are_turned_as_their_orientation_says_in_both_byte_orders() {
        let little = |value| {
            [b"Exif\0\0II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", &[value, 0, 0, 0][..]].concat()
        };
        let big = |value| {
            [b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01", &[0, value, 0, 0][..]].concat()
        };
        // Position of the left half, which is red.
        let (left, right, top, bottom) = ((4, 4), (12, 4), (4, 4), (4, 12));
        let places = [left, left, right, right, left, top, top, bottom, bottom, left];
        for (value, (x, y)) in (0..).zip(places) {
            for exif in [little(value), big(value)] {
                let segment = [&[0xff, 0xe1, 0, exif.len() as u8 + 2], &exif[..]].concat();
                let file = [&RED_AND_BLUE[..2], &segment, &RED_AND_BLUE[2..]].concat();
                let picture = decode(&file).unwrap().picture;
                let size = if (5..=8).contains(&value) { (8, 16) } else { (16, 8) };
                assert_eq!(picture.dimensions(), size, "{value}");
                let (red, blue) =
                    (picture.get_pixel(x, y).0, picture.get_pixel(size.0 - 1 - x, size.1 - 1 - y).0);
                assert!(is_like(red, RED) && is_like(blue, BLUE), "{value}: {red:?} {blue:?}");
            }
        }
    }

    #[test]
    fn palettes_and_deep_or_grey_pixels_become_colours_of_eight_bits() {
        use image::{GrayAlphaImage, GrayImage, ImageBuffer, Luma, LumaA, Rgb};
        let encoded = |image: DynamicImage| {
            let mut file = Cursor::new(Vec::new());
            image.write_to(&mut file, ImageFormat::Png).unwrap();
            file.into_inner()
        };
        // One pixel in one bit: the second of two colours, half transparent.
        let palette = include_bytes!("samples/palette.png").to_vec();
        let deep = ImageBuffer::from_pixel(1, 1, Rgb([0xffff_u16, 0x8000, 0]));
        let cases = [
            (palette, [0, 0, 255, 128]),
            (encoded(deep.into()), [255, 128, 0, 255]),
            (encoded(GrayImage::from_pixel(1, 1, Luma([7])).into()), [7, 7, 7, 255]),
            (encoded(GrayAlphaImage::from_pixel(1, 1, LumaA([7, 9])).into()), [7, 7, 7, 9]),
        ];
        for (file, expected) in cases {
            assert_eq!(decode(&file).unwrap().picture.get_pixel(0, 0).0, expected);
        }
    }

    #[test]
    fn deep_pixels_count_by_their_bytes() {
        // The header announces 16 bits a channel, four channels, 5000 by 5000 pixels.
        let mut deep = to_png(&RgbaImage::from_pixel(1, 1, Rgba(RED))).unwrap();
        deep[16..26].copy_from_slice(&[0, 0, 0x13, 0x88, 0, 0, 0x13, 0x88, 16, 6]);
        let mut crc = flate2::Crc::new();
        crc.update(&deep[12..29]);
        deep[29..33].copy_from_slice(&crc.sum().to_be_bytes());
        assert!(matches!(decode(&deep), Err(ImageError::Size { width: 5000, height: 5000 })));
    }
}
