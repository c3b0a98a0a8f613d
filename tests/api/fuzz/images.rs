//! Images that are broken in all ways: decoded or refused, in time, without more memory than the pixels take.

use super::{Source, fuzz, peak_of};
use image::{ImageFormat, Rgba, RgbaImage};
use std::io::Cursor;
use teamchat::domain::images::decoding::{MAX_PIXELS, decode};
use teamchat::domain::images::{animation, scaling};

/// The most memory that one file may take, in KiB: the pixels a few times over.
const MAX_MEMORY: u64 = 5 * MAX_PIXELS * 4 / 1024;

fn samples() -> Vec<Vec<u8>> {
    let picture = RgbaImage::from_fn(24, 17, |x, y| Rgba([x as u8 * 9, y as u8 * 13, (x * y) as u8, 255]));
    let formats = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
    let mut samples: Vec<Vec<u8>> = formats
        .into_iter()
        .map(|format| {
            let mut file = Cursor::new(Vec::new());
            let picture = image::DynamicImage::from(picture.clone());
            // JPEG has no opacity.
            let picture = if format == ImageFormat::Jpeg { picture.to_rgb8().into() } else { picture };
            picture.write_to(&mut file, format).unwrap();
            file.into_inner()
        })
        .collect();
    let mut moving = Vec::new();
    let mut encoder = gif::Encoder::new(&mut moving, 9, 9, &[255, 0, 0, 0, 0, 255]).unwrap();
    for delay in 0..4 {
        let frame =
            gif::Frame { delay, left: 2, top: 1, ..gif::Frame::from_indexed_pixels(3, 3, vec![1; 9], None) };
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    samples.push(moving);
    samples
}

#[test]
fn images() {
    let samples = samples();
    fuzz!(|mut source: Source<'_>| {
        let mut file = samples[source.below(samples.len())].clone();
        for _ in 0..source.below(12) {
            let place = source.below(file.len().max(1));
            match source.below(6) {
                0 => file.truncate(place),
                1 => {
                    let inserted = source.take(4).to_vec();
                    file.splice(place..place, inserted);
                }
                2 => {
                    let end = (place + source.below(32)).min(file.len());
                    let again = file[place..end].to_vec();
                    file.splice(place..place, again);
                }
                3 => {
                    // Lengths and sizes are numbers of two or four bytes.
                    let number = source.pick(&[0, 1, 0x7fff, 0xffff, 0x1_0000, 0x7fff_ffff, u32::MAX]);
                    let bytes =
                        if source.below(2) == 0 { number.to_be_bytes() } else { number.to_le_bytes() };
                    for (at, byte) in bytes.into_iter().enumerate() {
                        if let Some(old) = file.get_mut(place + at) {
                            *old = byte;
                        }
                    }
                }
                _ => {
                    if let Some(old) = file.get_mut(place) {
                        *old = source.byte();
                    }
                }
            }
            if file.is_empty() {
                break;
            }
        }
        let memory = peak_of(|| {
            if let Ok(decoded) = decode(&file) {
                let picture = decoded.picture;
                let small = scaling::fit_within(&picture, 100, 100).unwrap();
                assert!(small.width() <= 100 && small.height() <= 100);
                assert_eq!(scaling::contain(&picture, 64).unwrap().dimensions(), (64, 64));
                if animation::is_animation(&file, decoded.format) {
                    // Refused or scaled.
                    let _ = animation::scaled(&file, 64);
                }
            }
        });
        assert!(memory < MAX_MEMORY, "{memory} KiB for {} bytes", file.len());
    });
}
