//! Small image files for uploads, and inspection of the results.

use image::codecs::gif::{GifDecoder, GifEncoder};
use image::{AnimationDecoder, Frame, ImageFormat, Rgba, RgbaImage};
use std::io::Cursor;
use teamchat::domain::images::decoding::decode;
use teamchat::domain::images::scaling::to_png;

/// Red, opaque.
pub const RED: [u8; 4] = [255, 0, 0, 255];
/// Blue, opaque.
pub const BLUE: [u8; 4] = [0, 0, 255, 255];

/// A PNG file: red, with a blue right half.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let pixel = |place: u32| if place % width < width / 2 { RED } else { BLUE };
    let pixels = (0..width * height).flat_map(pixel).collect();
    to_png(&RgbaImage::from_raw(width, height, pixels).unwrap()).unwrap()
}

/// A PNG file that cannot be compressed.
pub fn noise(width: u32, height: u32) -> Vec<u8> {
    let pixel = |place: u32| place.wrapping_mul(2_654_435_761).rotate_left(place % 31).to_le_bytes();
    let pixels = (0..width * height).flat_map(pixel).map(|byte| byte | 1).collect();
    to_png(&RgbaImage::from_raw(width, height, pixels).unwrap()).unwrap()
}

/// A GIF file with a frame of each colour.
pub fn gif(width: u32, height: u32, frames: &[[u8; 4]]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = GifEncoder::new(&mut file);
    for colour in frames {
        encoder.encode_frame(Frame::new(RgbaImage::from_pixel(width, height, Rgba(*colour)))).unwrap();
    }
    drop(encoder);
    file
}

/// Properties of a file: format, width, height, whether it is animated, and a pixel on the right.
#[derive(Debug, PartialEq, Eq)]
pub struct Looks(pub ImageFormat, pub u32, pub u32, pub bool, pub [u8; 4]);

/// Looks at a file.
pub fn look(file: &[u8]) -> Looks {
    let decoded = decode(file).unwrap();
    let (width, height) = decoded.picture.dimensions();
    let moves = decoded.format == ImageFormat::Gif
        && GifDecoder::new(Cursor::new(file)).unwrap().into_frames().count() > 1;
    Looks(decoded.format, width, height, moves, decoded.picture.get_pixel(width * 3 / 4, height / 2).0)
}
