//! Animated GIF and WebP files: telling them from still images, and scaling GIF files.

use crate::domain::images::decoding::{ImageError, MAX_PIXELS, check_size};
use crate::domain::images::scaling::contain;
use gif::DecodeOptions;
use image::codecs::gif::{GifDecoder, GifEncoder, Repeat};
use image::codecs::webp::WebPDecoder;
use image::{AnimationDecoder, Frame, ImageDecoder, ImageFormat, Limits};
use std::io::Cursor;

/// The most frames an animation may have: each costs time, however small it is.
const MAX_FRAMES: u64 = 1_000;

/// The speed of choosing the colours of a frame, from 1 (best) to 30 (fastest); the encoder's documentation recommends
/// 10.
const SPEED: i32 = 10;

/// True if a file has more than one frame. None is decoded: those of GIF files would take memory for three more images.
pub fn is_animation(file: &[u8], format: ImageFormat) -> bool {
    match format {
        ImageFormat::Gif => announced_frames(file, 2) == 2,
        ImageFormat::WebP => WebPDecoder::new(Cursor::new(file)).is_ok_and(|decoder| decoder.has_animation()),
        _ => false,
    }
}

/// Number of frames that the headers of a GIF file announce, counted up to `most`. No frame is decoded.
fn announced_frames(file: &[u8], most: u64) -> u64 {
    let mut options = DecodeOptions::new();
    options.skip_frame_decoding(true);
    let Ok(mut decoder) = options.read_info(file) else { return 0 };
    let mut count = 0;
    while count < most && matches!(decoder.next_frame_info(), Ok(Some(_))) {
        count += 1;
    }
    count
}

/// Scales all frames of a GIF file into a square, with nothing around images that are not square. Returns a GIF file,
/// or `None` if there is only one frame. This takes up to a second: call it on a blocking thread.
pub fn scaled(file: &[u8], side: u32) -> Result<Option<Vec<u8>>, ImageError> {
    let mut decoder = GifDecoder::new(Cursor::new(file))?;
    let (width, height) = decoder.dimensions();
    check_size(width, height)?;
    let pixels = u64::from(width) * u64::from(height);
    // The decoder holds two whole images and a frame, which may be somewhat larger than the image.
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(3 * 4 * pixels + (1 << 20));
    decoder.set_limits(limits)?;
    // A small file may hold many large frames.
    let max_frames = MAX_FRAMES.min(MAX_PIXELS / pixels);
    let announced = announced_frames(file, max_frames + 1);
    if announced > max_frames {
        return Err(ImageError::Size { width, height: height.saturating_mul(announced as u32) });
    }
    if announced < 2 {
        return Ok(None);
    }
    let mut gif = Vec::new();
    let mut encoder = GifEncoder::new_with_speed(&mut gif, SPEED);
    encoder.set_repeat(Repeat::Infinite)?;
    let mut count = 0;
    for frame in decoder.into_frames().take(max_frames as usize) {
        let frame = match frame {
            Ok(frame) => frame,
            // A file that breaks off after its first frame is a still image.
            Err(_) if count == 1 => break,
            Err(error) => return Err(error.into()),
        };
        count += 1;
        let delay = frame.delay();
        encoder.encode_frame(Frame::from_parts(contain(frame.buffer(), side)?, 0, 0, delay))?;
    }
    drop(encoder);
    Ok((count > 1).then_some(gif))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::images::decoding::decode;
    use gif::DisposalMethod::{self, Background, Keep, Previous};
    use gif::{Encoder, Frame};
    use image::RgbaImage;

    const RED: [u8; 4] = [255, 0, 0, 255];
    const GREEN: [u8; 4] = [0, 255, 0, 255];
    const BLUE: [u8; 4] = [0, 0, 255, 255];
    const NOTHING: [u8; 4] = [0; 4];

    fn file(width: u16, height: u16, frames: &[(DisposalMethod, [u16; 4], [u8; 4])]) -> Vec<u8> {
        let mut encoder = Encoder::new(Vec::new(), width, height, &[]).unwrap();
        for (dispose, [left, top, width, height], colour) in frames {
            let mut pixels = colour.repeat(usize::from(*width) * usize::from(*height));
            let mut frame = Frame::from_rgba(*width, *height, &mut pixels);
            (frame.left, frame.top, frame.dispose, frame.delay) = (*left, *top, *dispose, 7);
            encoder.write_frame(&frame).unwrap();
        }
        encoder.into_inner().unwrap()
    }

    fn frames(file: &[u8]) -> Vec<(RgbaImage, u32)> {
        let frames = GifDecoder::new(Cursor::new(file)).unwrap().into_frames().map(Result::unwrap);
        frames.map(|frame| (frame.buffer().clone(), frame.delay().numer_denom_ms().0)).collect()
    }

    #[test]
    fn animations_keep_frames_and_delays() {
        let parts = [
            (Keep, [0, 0, 20, 10], RED),
            (Previous, [0, 0, 10, 10], GREEN),
            (Background, [10, 0, 10, 10], BLUE),
            (Keep, [0, 0, 10, 10], GREEN),
        ];
        for scale in [1, 10] {
            let frames_of_file =
                parts.map(|(dispose, place, colour)| (dispose, place.map(|n| n * scale), colour));
            let animation = scaled(&file(20 * scale, 10 * scale, &frames_of_file), 64).unwrap().unwrap();
            let found = frames(&animation);
            let expected = [[RED, RED], [GREEN, RED], [RED, BLUE], [GREEN, NOTHING]];
            assert_eq!(found.len(), expected.len());
            for ((picture, delay), expected) in found.iter().zip(expected) {
                assert_eq!((picture.dimensions(), *delay), ((64, 64), 70));
                let at = |x, y| picture.get_pixel(x, y).0;
                assert_eq!([at(10, 32), at(54, 32)], expected);
                assert_eq!(at(32, 15), NOTHING, "nothing is above what is not square");
                assert_ne!(at(10, 16), NOTHING);
            }
        }
    }

    #[test]
    fn one_frame_is_no_animation() {
        let one = file(4, 4, &[(Keep, [0, 0, 4, 4], RED)]);
        assert!(!is_animation(&one, ImageFormat::Gif));
        assert!(is_animation(&file(4, 4, &[(Keep, [0, 0, 4, 4], RED); 2]), ImageFormat::Gif));
        assert!(scaled(&one, 4).unwrap().is_none());
        // A file that breaks off before its second frame.
        let two = file(4, 4, &[(Keep, [0, 0, 4, 4], RED); 2]);
        assert!(scaled(&two, 4).unwrap().is_some());
        assert!(scaled(&two[..one.len() - 1], 4).unwrap().is_none());
    }

    #[test]
    fn frames_are_counted_without_decoding_them() {
        // The last frame claims four billion pixels.
        let claiming = |mut gif: Vec<u8>| {
            let descriptor = [0x2c, 0, 0, 0, 0, 4, 0, 4, 0];
            let at = gif.windows(descriptor.len()).rposition(|bytes| bytes == descriptor).unwrap();
            gif[at + 5..at + 9].fill(0xff);
            gif
        };
        let [one, two] = [1, 2].map(|count| claiming(file(4, 4, &[(Keep, [0, 0, 4, 4], RED); 2][..count])));
        assert!(!is_animation(&one, ImageFormat::Gif) && is_animation(&two, ImageFormat::Gif));
        assert!(scaled(&one, 4).unwrap().is_none());
        assert!(scaled(&two, 4).unwrap().is_none(), "it breaks off after its first frame");
    }

    #[test]
    fn frames_that_stand_out_are_cut_and_broken_files_do_no_harm() {
        let odd = file(4, 4, &[(Background, [3, 3, 9, 9], RED), (Background, [30, 30, 2, 2], BLUE)]);
        let still = decode(&odd).unwrap().picture;
        assert_eq!((still.get_pixel(3, 3).0, still.get_pixel(2, 2).0), (RED, NOTHING));
        let found = frames(&scaled(&odd, 4).unwrap().unwrap());
        assert_eq!((found.len(), &found[0].0), (2, &still));
        for length in 0..odd.len() {
            let _ = scaled(&odd[..length], 4);
            let mut changed = odd.clone();
            changed[length] ^= 0x55;
            let _ = scaled(&changed, 4);
        }
        let narrow = file(1, 3000, &[(Keep, [0, 0, 1, 3000], RED); 2]);
        assert_eq!(frames(&scaled(&narrow, 4).unwrap().unwrap()).len(), 2);
        assert_eq!(decode(&narrow).unwrap().picture.height(), 3000);
    }

    #[test]
    fn many_large_frames_are_refused() {
        let many = file(1000, 1000, &[(Keep, [0, 0, 1, 1], RED); 40]);
        assert!(matches!(scaled(&many, 64), Err(ImageError::Size { width: 1000, height: 34_000 })));
        let more = file(1, 1, &[(Keep, [0, 0, 1, 1], RED); 1001]);
        assert!(matches!(scaled(&more, 64), Err(ImageError::Size { width: 1, height: 1001 })));
        // Larger than the image they are of by far.
        let large = file(1, 1, &[(Keep, [0, 0, 2000, 2000], RED); 2]);
        assert!(matches!(scaled(&large, 64), Err(ImageError::Broken(_))));
    }
}
