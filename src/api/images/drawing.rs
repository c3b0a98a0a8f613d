//! Generated images, drawn pixel by pixel.

use crate::domain::images::scaling::png_encoder;
use image::{ImageResult, Rgb, RgbImage};
use sha2::{Digest, Sha256};

/// The number of squares on a side of a pattern.
const SQUARES: u32 = 5;

/// Colours that can be distinguished on light and dark backgrounds.
const COLOURS: [[u8; 3]; 12] = [
    [0x2f, 0x6f, 0xed],
    [0x0b, 0x8a, 0x6b],
    [0xb4, 0x3a, 0x5e],
    [0x8a, 0x4f, 0xd1],
    [0xc2, 0x5e, 0x0c],
    [0x1d, 0x7f, 0xa3],
    [0x6b, 0x7d, 0x0e],
    [0xa3, 0x2f, 0xa8],
    [0x4d, 0x5b, 0x9e],
    [0x9c, 0x42, 0x2c],
    [0x2c, 0x8c, 0x3c],
    [0x7a, 0x5a, 0x1e],
];

const GROUND: [u8; 3] = [0xf2, 0xf3, 0xf5];

/// Draws the pattern of a text: the left half is derived from its hash, the right half mirrors it.
pub fn pattern(text: &str, side: u32) -> ImageResult<Vec<u8>> {
    let digest = Sha256::digest(text.as_bytes());
    let colour = COLOURS[usize::from(digest[0]) % COLOURS.len()];
    let margin = side / 10;
    let square = (side - 2 * margin).div_ceil(SQUARES);
    draw(side, |x, y| {
        let inside =
            |at: u32| (at >= margin).then(|| (at - margin) / square).filter(|place| *place < SQUARES);
        let (Some(column), Some(row)) = (inside(x), inside(y)) else { return GROUND };
        let column = column.min(SQUARES - 1 - column);
        let bit = digest[1 + (row * SQUARES.div_ceil(2) + column) as usize] & 1;
        if bit == 1 { colour } else { GROUND }
    })
}

/// Draws a speech bubble with three dots.
pub fn speech_bubble(side: u32) -> ImageResult<Vec<u8>> {
    let bubble = COLOURS[0];
    draw(side, |x, y| {
        // In thirty-seconds of the side, so that the picture is the same at every size.
        let (x, y) = (x * 32 / side, y * 32 / side);
        let in_box = (3..29).contains(&x) && (4..22).contains(&y);
        let corner = (x == 3 || x == 28) && (y == 4 || y == 21);
        let in_tail = (22..28).contains(&y) && (8..8 + (28 - y)).contains(&x);
        let dot = (11..15).contains(&y) && [(8..12), (14..18), (20..24)].iter().any(|dot| dot.contains(&x));
        if (in_box && !corner && !dot) || in_tail { bubble } else { GROUND }
    })
}

fn draw(side: u32, pixel: impl Fn(u32, u32) -> [u8; 3]) -> ImageResult<Vec<u8>> {
    let mut file = Vec::new();
    RgbImage::from_fn(side, side, |x, y| Rgb(pixel(x, y))).write_with_encoder(png_encoder(&mut file))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(file: &[u8]) -> (u32, Vec<u8>) {
        let image = image::load_from_memory(file).unwrap().into_rgb8();
        (image.width(), image.into_raw())
    }

    #[test]
    fn patterns_are_the_same_for_one_text_and_mirror_themselves() {
        let (width, pixels) = decoded(&pattern("ada", 100).unwrap());
        assert_eq!(width, 100);
        assert_eq!(pixels, decoded(&pattern("ada", 100).unwrap()).1);
        assert_ne!(pixels, decoded(&pattern("bob", 100).unwrap()).1);
        let at = |x: usize, y: usize| &pixels[(y * 100 + x) * 3..][..3];
        for (x, y) in [(15, 15), (30, 50), (45, 80)] {
            assert_eq!(at(x, y), at(99 - x, y));
        }
    }

    #[test]
    fn the_bubble_has_ground_around_it() {
        let (width, pixels) = decoded(&speech_bubble(64).unwrap());
        assert_eq!(width, 64);
        assert_eq!(pixels[..3], GROUND);
        assert!(pixels.chunks(3).any(|pixel| pixel == COLOURS[0]));
    }
}
