//! Animated GIF files in another size.

use crate::domain::images::decoding::{ImageError, MAX_PIXELS};
use crate::domain::images::scaling::Picture;
use gif::{ColorOutput, DecodeOptions, Decoder, DisposalMethod, Encoder, Frame, Repeat};

/// More frames than this are refused: each costs time, however small it is.
const MAX_FRAMES: u32 = 1_000;

/// How hastily the colours of a frame are chosen, from 1 to 30; 10 is what the library advises.
const SPEED: i32 = 10;

/// Bytes of a pixel.
const CHANNELS: usize = 4;

/// An animation and its first frame.
pub struct Animation {
    /// A GIF file with all frames.
    pub gif: Vec<u8>,
    /// The first frame, as it was.
    pub still: Picture,
}

/// Scales all frames of a GIF file into a square, with nothing around pictures that are not square. This takes up to a
/// second: not for a thread that others wait for.
pub fn scaled(file: &[u8], side: u16) -> Result<Animation, ImageError> {
    check_size(file)?;
    let mut frames = Frames::new(file)?;
    let mut encoder = Encoder::new(Vec::new(), side, side, &[]).map_err(broken)?;
    encoder.set_repeat(Repeat::Infinite).map_err(broken)?;
    let mut still = None;
    while let Some((picture, delay)) = frames.next_frame()? {
        let mut pixels = in_the_middle(&picture, side)?.pixels;
        let mut scaled = Frame::from_rgba_speed(side, side, &mut pixels, SPEED);
        scaled.delay = delay;
        // Each frame is the whole picture: nothing of the one before may shine through.
        scaled.dispose = DisposalMethod::Background;
        encoder.write_frame(&scaled).map_err(broken)?;
        still.get_or_insert(picture);
    }
    let still = still.ok_or_else(|| broken("it has no frame"))?;
    Ok(Animation { gif: encoder.into_inner().map_err(broken)?, still })
}

fn broken(error: impl std::fmt::Display) -> ImageError {
    ImageError::Broken(error.to_string())
}

/// All frames together count as one picture: a small file may hold many large ones.
fn check_size(file: &[u8]) -> Result<(), ImageError> {
    let mut options = DecodeOptions::new();
    options.skip_frame_decoding(true);
    let mut decoder = options.read_info(file).map_err(broken)?;
    let (width, height) = (u32::from(decoder.width()), u32::from(decoder.height()));
    let limit = MAX_PIXELS / (u64::from(width) * u64::from(height)).max(1);
    let mut frames = 0;
    while decoder.next_frame_info().map_err(broken)?.is_some() {
        frames += 1;
        if frames > MAX_FRAMES || u64::from(frames) > limit {
            return Err(ImageError::Size { width, height: height.saturating_mul(frames) });
        }
    }
    Ok(())
}

/// A picture as large as it fits, in the middle of a square.
fn in_the_middle(picture: &Picture, side: u16) -> Result<Picture, ImageError> {
    let side = u32::from(side);
    let long = picture.width.max(picture.height);
    let scaled = |length: u32| (length * side / long).max(1);
    // Filling a frame of the picture's own proportions cuts nothing off, and makes small pictures larger as well.
    let inner = picture.cover(scaled(picture.width), scaled(picture.height));
    let row = side as usize * CHANNELS;
    let mut pixels = vec![0; row * side as usize];
    let left = ((side - inner.width) / 2) as usize * CHANNELS;
    let places = pixels.chunks_exact_mut(row).skip(((side - inner.height) / 2) as usize);
    for (place, line) in places.zip(inner.pixels.chunks_exact(inner.width as usize * CHANNELS)) {
        place[left..][..line.len()].copy_from_slice(line);
    }
    Picture::new(side, side, pixels).ok_or_else(|| broken("its rows are short"))
}

/// The frames of a file, each as it is seen: drawn over what the ones before left.
struct Frames<'f> {
    decoder: Decoder<&'f [u8]>,
    canvas: Vec<u8>,
    clean_up: CleanUp,
}

/// What happens to the canvas before the next frame is drawn.
enum CleanUp {
    Nothing,
    Clear { left: usize, top: usize, width: usize, height: usize },
    Restore(Vec<u8>),
}

impl<'f> Frames<'f> {
    fn new(file: &'f [u8]) -> Result<Self, ImageError> {
        let mut options = DecodeOptions::new();
        options.set_color_output(ColorOutput::RGBA);
        let decoder = options.read_info(file).map_err(broken)?;
        let canvas = vec![0; usize::from(decoder.width()) * usize::from(decoder.height()) * CHANNELS];
        Ok(Self { decoder, canvas, clean_up: CleanUp::Nothing })
    }

    /// The next picture, and how long it is shown, in hundredths of a second.
    fn next_frame(&mut self) -> Result<Option<(Picture, u16)>, ImageError> {
        let (full_width, full_height) =
            (usize::from(self.decoder.width()), usize::from(self.decoder.height()));
        let row = full_width * CHANNELS;
        match std::mem::replace(&mut self.clean_up, CleanUp::Nothing) {
            CleanUp::Nothing => {}
            CleanUp::Restore(before) => self.canvas = before,
            CleanUp::Clear { left, top, width, height } => {
                for line in self.canvas.chunks_exact_mut(row.max(1)).skip(top).take(height) {
                    line[left * CHANNELS..][..width * CHANNELS].fill(0);
                }
            }
        }
        let Some(frame) = self.decoder.read_next_frame().map_err(broken)? else { return Ok(None) };
        // A frame may cover a part of the picture only, or stand out of it.
        let (left, top) = (full_width.min(frame.left.into()), full_height.min(frame.top.into()));
        let width = (full_width - left).min(frame.width.into());
        let height = (full_height - top).min(frame.height.into());
        self.clean_up = match frame.dispose {
            DisposalMethod::Background => CleanUp::Clear { left, top, width, height },
            DisposalMethod::Previous => CleanUp::Restore(self.canvas.clone()),
            DisposalMethod::Any | DisposalMethod::Keep => CleanUp::Nothing,
        };
        let lines = self.canvas.chunks_exact_mut(row.max(1)).skip(top).take(height);
        for (line, drawn) in lines.zip(frame.buffer.chunks_exact(usize::from(frame.width).max(1) * CHANNELS))
        {
            let places = line[left * CHANNELS..][..width * CHANNELS].chunks_exact_mut(CHANNELS);
            for (place, pixel) in places.zip(drawn.chunks_exact(CHANNELS)).filter(|(_, pixel)| pixel[3] != 0)
            {
                place.copy_from_slice(pixel);
            }
        }
        let delay = frame.delay;
        let picture = Picture::new(full_width as u32, full_height as u32, self.canvas.clone());
        picture.map(|picture| Some((picture, delay))).ok_or_else(|| broken("it has no pixels"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DisposalMethod::{Background, Keep, Previous};

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

    fn at(picture: &Picture, x: u32, y: u32) -> [u8; 4] {
        picture.pixels[((y * picture.width + x) * 4) as usize..][..4].try_into().unwrap()
    }

    #[test]
    fn animations_keep_their_frames_and_times() {
        let frames = [
            (Keep, [0, 0, 20, 10], RED),
            (Previous, [0, 0, 10, 10], GREEN),
            (Background, [10, 0, 10, 10], BLUE),
            (Keep, [0, 0, 10, 10], GREEN),
        ];
        for scale in [1, 10] {
            let frames = frames.map(|(dispose, place, colour)| (dispose, place.map(|n| n * scale), colour));
            let animation = scaled(&file(20 * scale, 10 * scale, &frames), 64).unwrap();
            assert_eq!((animation.still.width, at(&animation.still, 0, 0)), (20 * u32::from(scale), RED));
            let mut found = Frames::new(&animation.gif).unwrap();
            for expected in [[RED, RED], [GREEN, RED], [RED, BLUE], [GREEN, NOTHING]] {
                let (picture, delay) = found.next_frame().unwrap().unwrap();
                assert_eq!((picture.width, picture.height, delay), (64, 64, 7));
                assert_eq!([at(&picture, 10, 32), at(&picture, 54, 32)], expected);
                assert_eq!(at(&picture, 32, 15), NOTHING, "nothing is above what is not square");
                assert_ne!(at(&picture, 10, 16), NOTHING);
            }
            assert!(found.next_frame().unwrap().is_none());
        }
    }

    #[test]
    fn frames_that_stand_out_are_cut_and_broken_files_do_no_harm() {
        let odd = file(4, 4, &[(Background, [3, 3, 9, 9], RED), (Background, [30, 30, 2, 2], BLUE)]);
        let animation = scaled(&odd, 4).unwrap();
        assert_eq!((at(&animation.still, 3, 3), at(&animation.still, 2, 2)), (RED, NOTHING));
        for length in 0..odd.len() {
            let _ = scaled(&odd[..length], 4);
            let mut changed = odd.clone();
            changed[length] ^= 0x55;
            let _ = scaled(&changed, 4);
        }
        let narrow = file(1, 3000, &[(Keep, [0, 0, 1, 3000], RED)]);
        assert_eq!(scaled(&narrow, 4).unwrap().still.height, 3000);
    }

    #[test]
    fn many_large_frames_are_refused_before_they_are_decoded() {
        let many = file(1000, 1000, &[(Keep, [0, 0, 1, 1], RED); 40]);
        assert!(matches!(scaled(&many, 64), Err(ImageError::Size { width: 1000, height: 34_000 })));
        let more = file(1, 1, &[(Keep, [0, 0, 1, 1], RED); 1001]);
        assert!(matches!(scaled(&more, 64), Err(ImageError::Size { width: 1, height: 1001 })));
    }
}
