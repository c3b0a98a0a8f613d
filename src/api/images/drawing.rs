//! Generated images of two colours, as PNG.
//!
//! They are drawn for callers without credentials too, so they are cheap: one bit for each pixel, and a cache of those that
//! were drawn before.

use bytes::Bytes;
use flate2::Crc;
use miniz_oxide::deflate::compress_to_vec_zlib;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io;
use std::sync::LazyLock;

/// The number of squares on a side of a pattern.
const SQUARES: u32 = 5;

/// The most patterns in the cache. The largest have about a kilobyte.
const CAPACITY: usize = 1000;

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

/// The facts that determine a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Pattern {
    colour: [u8; 3],
    /// One bit for each square of the left half and the middle, row by row.
    squares: u16,
    /// The side in pixels.
    side: u32,
}

/// Recently drawn patterns.
static PATTERNS: LazyLock<Mutex<HashMap<Pattern, Bytes>>> = LazyLock::new(Mutex::default);

/// Returns the pattern of a text: the left half is derived from its hash, the right half mirrors it.
pub fn pattern(text: &str, side: u32) -> io::Result<Bytes> {
    let digest = Sha256::digest(text.as_bytes());
    let colour = COLOURS[usize::from(digest[0]) % COLOURS.len()];
    let count = (SQUARES * SQUARES.div_ceil(2)) as usize;
    let squares = (0..count).fold(0, |squares, square| squares | u16::from(digest[1 + square] & 1) << square);
    let pattern = Pattern { colour, squares, side };
    let known = || PATTERNS.lock();
    if let Some(image) = known().get(&pattern) {
        return Ok(image.clone());
    }
    let image = pattern.draw()?;
    let mut known = known();
    if known.len() >= CAPACITY {
        known.clear();
    }
    known.insert(pattern, image.clone());
    Ok(image)
}

impl Pattern {
    fn draw(self) -> io::Result<Bytes> {
        let Self { colour, squares, side } = self;
        let margin = side / 10;
        let square = (side - 2 * margin).div_ceil(SQUARES);
        let inside =
            |at: u32| (at >= margin).then(|| (at - margin) / square).filter(|place| *place < SQUARES);
        draw(side, colour, inside, |x, row| {
            let (Some(column), Some(row)) = (inside(x), row) else { return false };
            let column = column.min(SQUARES - 1 - column);
            squares >> (row * SQUARES.div_ceil(2) + column) & 1 == 1
        })
    }
}

/// Draws a speech bubble with three dots.
pub fn speech_bubble(side: u32) -> io::Result<Bytes> {
    // In thirty-seconds of the side, so that the picture is the same at every size.
    let scaled = |at: u32| at * 32 / side;
    draw(side, COLOURS[0], scaled, |x, y| {
        let x = scaled(x);
        let in_box = (3..29).contains(&x) && (4..22).contains(&y);
        let corner = (x == 3 || x == 28) && (y == 4 || y == 21);
        let in_tail = (22..28).contains(&y) && (8..8 + (28 - y)).contains(&x);
        let dot = (11..15).contains(&y) && [(8..12), (14..18), (20..24)].iter().any(|dot| dot.contains(&x));
        (in_box && !corner && !dot) || in_tail
    })
}

/// Draws a square of the colour where `is_coloured` returns true, and of the background elsewhere. Consecutive lines of
/// pixels with the same `row_of` are drawn once.
fn draw<R: Copy + PartialEq>(
    side: u32,
    colour: [u8; 3],
    row_of: impl Fn(u32) -> R,
    is_coloured: impl Fn(u32, R) -> bool,
) -> io::Result<Bytes> {
    /// A level of compression. The compressor must write the same bytes in every version of this program.
    const FASTEST: u8 = 1;
    const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
    // One bit for each pixel, which selects a colour of the palette; neither filters nor interlacing.
    const FORMAT: [u8; 5] = [1, 3, 0, 0, 0];
    let mut pixels = Vec::new();
    let mut line = vec![0; 1 + side.div_ceil(8) as usize];
    let mut drawn = None;
    for y in 0..side {
        let row = row_of(y);
        if drawn.replace(row) != Some(row) {
            line.fill(0);
            for x in (0..side).filter(|&x| is_coloured(x, row)) {
                line[1 + (x / 8) as usize] |= 0x80 >> (x % 8);
            }
        }
        pixels.extend_from_slice(&line);
    }
    let header = [&side.to_be_bytes()[..], &side.to_be_bytes(), &FORMAT].concat();
    let mut file = SIGNATURE.to_vec();
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"PLTE", &[GROUND, colour].concat());
    chunk(&mut file, *b"IDAT", &compress_to_vec_zlib(&pixels, FASTEST));
    chunk(&mut file, *b"IEND", &[]);
    Ok(file.into())
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

    /// Clients keep images for a year, so the same address must not lead to another file.
    #[test]
    fn files_are_the_same_in_every_version() {
        let digest =
            |file: &[u8]| Sha256::digest(file)[..8].iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
        for (text, side, expected) in [
            ("ada", 100, 0xb562_a757_33ad_f02d),
            ("ada", 500, 0x5479_d1b7_c908_1c8b),
            ("bob", 200, 0x2ceb_de54_dcda_4962),
            ("x", 33, 0xe8e1_c8e4_effc_b95e),
        ] {
            for attempt in ["drawn", "cached"] {
                assert_eq!(digest(&pattern(text, side).unwrap()), expected, "{text} {side} {attempt}");
            }
        }
        assert_eq!(digest(&speech_bubble(64).unwrap()), 0xb1bd_6e70_cccb_27d3);
    }

    #[test]
    fn the_bubble_has_ground_around_it() {
        let (width, pixels) = decoded(&speech_bubble(64).unwrap());
        assert_eq!(width, 64);
        assert_eq!(pixels[..3], GROUND);
        assert!(pixels.chunks(3).any(|pixel| pixel == COLOURS[0]));
    }
}
