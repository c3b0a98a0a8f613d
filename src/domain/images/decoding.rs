//! Files of pictures to pixels: PNG, JPEG, GIF and WebP.
//!
//! The files come from strangers. Sizes are looked at before any room is made for pixels, so that a small file cannot
//! claim all memory, and whatever is wrong with a file is an error and never a panic.

use crate::domain::images::scaling::Picture;
use image_webp::WebPDecoder;
use png::{ColorType, Transformations};
use std::io::Cursor;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// A picture with more pixels than this is not decoded: four bytes for each have to fit into the memory of a small
/// server. Telephones take pictures of 12 to 50 million; most of them save 12.
pub const MAX_PIXELS: u64 = 32 << 20;

/// How a picture is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `image/png`, animated ones too.
    Png,
    /// `image/jpeg`.
    Jpeg,
    /// `image/gif`.
    Gif,
    /// `image/webp`.
    Webp,
}

impl Format {
    /// What a file is by its first bytes, whatever its name says.
    pub fn of(file: &[u8]) -> Option<Self> {
        match file {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ => None,
        }
    }

    /// The media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }
}

/// A picture out of its file.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// How it was stored.
    pub format: Format,
    /// Its pixels, the right way up; of an animation the first frame.
    pub picture: Picture,
    /// Whether there are more frames.
    pub is_animated: bool,
}

/// Why a file is no picture for us.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It is none of the formats.
    #[error("not a PNG, JPEG, GIF or WebP image")]
    UnknownFormat,
    /// It has more than [`MAX_PIXELS`], or no pixels at all.
    #[error("an image of {width}x{height} pixels")]
    Size {
        /// In pixels.
        width: u32,
        /// In pixels.
        height: u32,
    },
    /// It does not hold what it promises; the text says what.
    #[error("a broken image: {0}")]
    Broken(String),
}

/// Decodes a picture. This takes up to a second: not for a thread that others wait for.
pub fn decode(file: &[u8]) -> Result<Decoded, ImageError> {
    let format = Format::of(file).ok_or(ImageError::UnknownFormat)?;
    let (picture, is_animated) = match format {
        Format::Png => png(file)?,
        Format::Jpeg => (jpeg(file)?, false),
        Format::Gif => gif(file)?,
        Format::Webp => webp(file)?,
    };
    Ok(Decoded { format, picture, is_animated })
}

fn broken(error: impl std::fmt::Display) -> ImageError {
    ImageError::Broken(error.to_string())
}

/// Room for the pixels of a picture, if it may have so many.
fn room(width: u32, height: u32, bytes_per_pixel: usize) -> Result<Vec<u8>, ImageError> {
    let pixels = u64::from(width) * u64::from(height);
    if (1..=MAX_PIXELS).contains(&pixels) {
        Ok(vec![0; pixels as usize * bytes_per_pixel])
    } else {
        Err(ImageError::Size { width, height })
    }
}

fn png(file: &[u8]) -> Result<(Picture, bool), ImageError> {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(Transformations::normalize_to_color8() | Transformations::ALPHA);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info().map_err(broken)?;
    let (width, height) = reader.info().size();
    let is_animated = reader.info().animation_control().is_some_and(|control| control.num_frames > 1);
    let is_grey = reader.output_color_type().0 == ColorType::GrayscaleAlpha;
    let mut pixels = room(width, height, if is_grey { 2 } else { 4 })?;
    reader.next_frame(&mut pixels).map_err(broken)?;
    if is_grey {
        pixels = pixels.chunks_exact(2).flat_map(|grey| [grey[0], grey[0], grey[0], grey[1]]).collect();
    }
    Ok((Picture::new(width, height, pixels).ok_or_else(|| broken("its rows are short"))?, is_animated))
}

fn jpeg(file: &[u8]) -> Result<Picture, ImageError> {
    let options = DecoderOptions::new_safe()
        .set_max_width(usize::from(u16::MAX))
        .set_max_height(usize::from(u16::MAX))
        .jpeg_set_out_colorspace(ColorSpace::RGBA);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(file), options);
    decoder.decode_headers().map_err(broken)?;
    let info = decoder.info().ok_or_else(|| broken("it has no size"))?;
    let (width, height) = (u32::from(info.width), u32::from(info.height));
    // Pictures for printers are turned into three colours, and not into three and an opacity.
    let has_inks = matches!(decoder.input_colorspace(), Some(ColorSpace::CMYK | ColorSpace::YCCK));
    if has_inks {
        decoder.set_options(options.jpeg_set_out_colorspace(ColorSpace::RGB));
    }
    let mut pixels = room(width, height, if has_inks { 3 } else { 4 })?;
    if decoder.output_buffer_size() != Some(pixels.len()) {
        return Err(broken("its colours are of no known kind"));
    }
    decoder.decode_into(&mut pixels).map_err(broken)?;
    if has_inks {
        pixels = with_opacity(&pixels);
    }
    let picture = Picture::new(width, height, pixels).ok_or_else(|| broken("its rows are short"))?;
    let orientation = decoder.exif().and_then(|exif| orientation(exif)).unwrap_or(1);
    Ok(picture.turned(orientation))
}

fn gif(file: &[u8]) -> Result<(Picture, bool), ImageError> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(file).map_err(broken)?;
    let (width, height) = (usize::from(decoder.width()), usize::from(decoder.height()));
    let mut canvas = room(width as u32, height as u32, 4)?;
    let frame = decoder.next_frame_info().map_err(broken)?.ok_or_else(|| broken("it has no frame"))?;
    let (left, top) = (usize::from(frame.left), usize::from(frame.top));
    let (frame_width, frame_height) = (usize::from(frame.width), usize::from(frame.height));
    let mut pixels = room(frame_width as u32, frame_height as u32, 4)?;
    decoder.read_into_buffer(&mut pixels).map_err(broken)?;
    // A frame may cover a part of the picture only, or stand out of it.
    let shown = frame_width.min(width.saturating_sub(left)) * 4;
    let places = canvas.chunks_exact_mut(width * 4).skip(top);
    for (place, row) in places.zip(pixels.chunks_exact(frame_width * 4)) {
        if shown > 0 {
            place[left * 4..][..shown].copy_from_slice(&row[..shown]);
        }
    }
    let is_animated = matches!(decoder.next_frame_info(), Ok(Some(_)));
    let picture = Picture::new(width as u32, height as u32, canvas);
    Ok((picture.ok_or_else(|| broken("its rows are short"))?, is_animated))
}

fn webp(file: &[u8]) -> Result<(Picture, bool), ImageError> {
    let mut decoder = WebPDecoder::new(Cursor::new(file)).map_err(broken)?;
    let (width, height) = decoder.dimensions();
    let has_alpha = decoder.has_alpha();
    let mut pixels = room(width, height, if has_alpha { 4 } else { 3 })?;
    decoder.set_memory_limit(MAX_PIXELS as usize * 4);
    let is_animated = decoder.is_animated();
    if is_animated {
        decoder.read_frame(&mut pixels).map_err(broken)?;
    } else {
        decoder.read_image(&mut pixels).map_err(broken)?;
    }
    if !has_alpha {
        pixels = with_opacity(&pixels);
    }
    Ok((Picture::new(width, height, pixels).ok_or_else(|| broken("its rows are short"))?, is_animated))
}

fn with_opacity(rgb: &[u8]) -> Vec<u8> {
    rgb.chunks_exact(3).flat_map(|rgb| [rgb[0], rgb[1], rgb[2], u8::MAX]).collect()
}

/// How a camera was held: the value 1 to 8 of the orientation tag in EXIF data, which is a TIFF file.
fn orientation(exif: &[u8]) -> Option<u8> {
    const ORIENTATION: u16 = 0x0112;
    let little_endian = match exif.get(..4)? {
        [b'I', b'I', 42, 0] => true,
        [b'M', b'M', 0, 42] => false,
        _ => return None,
    };
    let short = |at: usize| {
        let bytes: [u8; 2] = exif.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if little_endian { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let (first, second) = (usize::from(short(4)?), usize::from(short(6)?));
    let directory = if little_endian { first | second << 16 } else { first << 16 | second };
    let count = usize::from(short(directory)?);
    let entries = (0..count).map(|index| directory + 2 + index * 12);
    let entry = entries.take_while(|at| *at < exif.len()).find(|at| short(*at) == Some(ORIENTATION))?;
    let value = short(entry + 8)?;
    u8::try_from(value).ok().filter(|value| (1..=8).contains(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A JPEG of 16x8 pixels, red in the left half and blue in the right.
    const RED_AND_BLUE: &[u8] = include_bytes!("samples/red_and_blue.jpg");
    /// The same, and a camera that was held on its side.
    const TURNED: &[u8] = include_bytes!("samples/turned.jpg");

    /// Larger, and for a printer.
    const FOUR_INKS: &[u8] = include_bytes!("samples/four_inks.jpg");

    fn colour(picture: &Picture, x: u32, y: u32) -> [u8; 4] {
        let at = (y * picture.width + x) as usize * 4;
        picture.pixels[at..at + 4].try_into().unwrap()
    }

    fn is_like(found: [u8; 4], wanted: [u8; 4]) -> bool {
        found.iter().zip(wanted).all(|(found, wanted)| found.abs_diff(wanted) < 24)
    }

    const RED: [u8; 4] = [255, 0, 0, 255];
    const BLUE: [u8; 4] = [0, 0, 255, 255];

    #[test]
    fn every_format_is_known_by_its_content_and_decoded() {
        let picture = Picture::new(2, 1, [RED, BLUE].concat()).unwrap();
        let mut gif_file = Vec::new();
        let mut encoder = gif::Encoder::new(&mut gif_file, 3, 2, &[255, 0, 0, 0, 0, 255]).unwrap();
        let frame = gif::Frame { left: 1, top: 1, ..gif::Frame::from_indexed_pixels(2, 1, vec![0, 1], None) };
        encoder.write_frame(&frame).unwrap();
        encoder.write_frame(&frame).unwrap();
        drop(encoder);
        let cases = [
            (picture.to_png().unwrap(), Format::Png, (2, 1), (0, 0), false),
            (picture.to_webp().unwrap(), Format::Webp, (2, 1), (0, 0), false),
            (gif_file, Format::Gif, (3, 2), (1, 1), true),
            (RED_AND_BLUE.to_vec(), Format::Jpeg, (16, 8), (0, 0), false),
            (TURNED.to_vec(), Format::Jpeg, (8, 16), (0, 0), false),
            (FOUR_INKS.to_vec(), Format::Jpeg, (48, 16), (0, 0), false),
        ];
        for (file, format, size, red_at, is_animated) in cases {
            let decoded = decode(&file).unwrap();
            let found = &decoded.picture;
            assert_eq!((decoded.format, (found.width, found.height)), (format, size));
            assert_eq!(decoded.is_animated, is_animated, "{format:?}");
            let (red, blue) = (colour(found, red_at.0, red_at.1), colour(found, size.0 - 1, size.1 - 1));
            assert!(is_like(red, RED) && is_like(blue, BLUE), "{format:?}: {red:?} {blue:?}");
            for end in 0..file.len() {
                // Whatever is missing: an answer, no panic.
                let _answer = decode(&file[..end]);
            }
        }
    }

    #[test]
    fn what_is_no_picture_or_too_large_is_refused_before_it_takes_room() {
        assert!(matches!(decode(b"hello"), Err(ImageError::UnknownFormat)));
        assert!(matches!(
            decode(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
            Err(ImageError::UnknownFormat)
        ));
        let mut bomb = Picture::new(1, 1, RED.to_vec()).unwrap().to_png().unwrap();
        // Width and height stand at byte 16; the checksum of the header follows at byte 29.
        bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
        let mut crc = flate2::Crc::new();
        crc.update(&bomb[12..29]);
        bomb[29..33].copy_from_slice(&crc.sum().to_be_bytes());
        assert!(matches!(decode(&bomb), Err(ImageError::Size { width: 65535, height: 65535 })));
    }

    #[test]
    fn the_orientation_is_read_in_both_byte_orders() {
        let little = b"II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0";
        let big = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0";
        assert_eq!((orientation(little), orientation(big)), (Some(6), Some(8)));
        for end in 0..little.len() - 2 {
            assert_eq!(orientation(&little[..end]), None);
        }
        assert_eq!(orientation(b"II\x2a\0\xff\xff\xff\xff"), None);
    }
}
