//! Generated images of two colours, as PNG.
//!
//! They are drawn for each request, also of callers without credentials, so they are cheap: one bit for each pixel.

use flate2::{Compression, Crc, write::ZlibEncoder};
use sha2::{Digest, Sha256};
use std::io::{self, Write};

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
pub fn pattern(text: &str, side: u32) -> io::Result<Vec<u8>> {
    let digest = Sha256::digest(text.as_bytes());
    let colour = COLOURS[usize::from(digest[0]) % COLOURS.len()];
    let margin = side / 10;
    let square = (side - 2 * margin).div_ceil(SQUARES);
    draw(side, colour, |x, y| {
        let inside =
            |at: u32| (at >= margin).then(|| (at - margin) / square).filter(|place| *place < SQUARES);
        let (Some(column), Some(row)) = (inside(x), inside(y)) else { return false };
        let column = column.min(SQUARES - 1 - column);
        digest[1 + (row * SQUARES.div_ceil(2) + column) as usize] & 1 == 1
    })
}

/// Draws a speech bubble with three dots.
pub fn speech_bubble(side: u32) -> io::Result<Vec<u8>> {
    draw(side, COLOURS[0], |x, y| {
        // In thirty-seconds of the side, so that the picture is the same at every size.
        let (x, y) = (x * 32 / side, y * 32 / side);
        let in_box = (3..29).contains(&x) && (4..22).contains(&y);
        let corner = (x == 3 || x == 28) && (y == 4 || y == 21);
        let in_tail = (22..28).contains(&y) && (8..8 + (28 - y)).contains(&x);
        let dot = (11..15).contains(&y) && [(8..12), (14..18), (20..24)].iter().any(|dot| dot.contains(&x));
        (in_box && !corner && !dot) || in_tail
    })
}

/// Writes a square of the colour where `is_coloured` says so, and of the ground elsewhere.
fn draw(side: u32, colour: [u8; 3], is_coloured: impl Fn(u32, u32) -> bool) -> io::Result<Vec<u8>> {
    const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
    // One bit for each pixel, which selects a colour of the palette; neither filters nor interlacing.
    const FORMAT: [u8; 5] = [1, 3, 0, 0, 0];
    let mut pixels = ZlibEncoder::new(Vec::new(), Compression::fast());
    for y in 0..side {
        let mut row = vec![0; 1 + side.div_ceil(8) as usize];
        for x in (0..side).filter(|&x| is_coloured(x, y)) {
            row[1 + (x / 8) as usize] |= 0x80 >> (x % 8);
        }
        pixels.write_all(&row)?;
    }
    let header = [&side.to_be_bytes()[..], &side.to_be_bytes(), &FORMAT].concat();
    let mut file = SIGNATURE.to_vec();
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"PLTE", &[GROUND, colour].concat());
    chunk(&mut file, *b"IDAT", &pixels.finish()?);
    chunk(&mut file, *b"IEND", &[]);
    Ok(file)
}

/// Appends a chunk of a PNG file: length, name, content, checksum of the two.
fn chunk(file: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    let mut checksum = Crc::new();
    checksum.update(&name);
    checksum.update(content);
    file.extend((content.len() as u32).to_be_bytes());
    file.extend(name);
    file.extend(content);
    file.extend(checksum.sum().to_be_bytes());
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
