//! Small image files to upload, and looking at what became of them.

use teamchat::domain::images::decoding::{Format, decode};
use teamchat::domain::images::scaling::Picture;

/// Red, opaque.
pub const RED: [u8; 4] = [255, 0, 0, 255];
/// Blue, opaque.
pub const BLUE: [u8; 4] = [0, 0, 255, 255];

/// A PNG file: red, with a blue right half.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let pixel = |place: u32| if place % width < width / 2 { RED } else { BLUE };
    Picture::new(width, height, (0..width * height).flat_map(pixel).collect()).unwrap().to_png().unwrap()
}

/// A GIF file with a frame of each colour.
pub fn gif(width: u16, height: u16, frames: &[[u8; 4]]) -> Vec<u8> {
    let mut encoder = gif::Encoder::new(Vec::new(), width, height, &[]).unwrap();
    for colour in frames {
        let mut pixels = colour.repeat(usize::from(width) * usize::from(height));
        encoder.write_frame(&gif::Frame::from_rgba(width, height, &mut pixels)).unwrap();
    }
    encoder.into_inner().unwrap()
}

/// What a file is: format, width, height, whether it moves, and a pixel on the right.
#[derive(Debug, PartialEq, Eq)]
pub struct Looks(pub Format, pub u32, pub u32, pub bool, pub [u8; 4]);

/// Looks at a file.
pub fn look(file: &[u8]) -> Looks {
    let decoded = decode(file).unwrap();
    let picture = decoded.picture;
    let place = ((picture.height / 2 * picture.width + picture.width * 3 / 4) * 4) as usize;
    let pixel = std::array::from_fn(|channel| picture.pixels[place + channel]);
    Looks(decoded.format, picture.width, picture.height, decoded.is_animated, pixel)
}
