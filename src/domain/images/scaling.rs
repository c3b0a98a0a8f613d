//! Pictures as pixels: making them smaller, turning them, and writing them to files.
//!
//! Reading files is in [`super::decoding`]. Both are pure and slow: they belong on a blocking thread.

use image_webp::{EncodingError, WebPEncoder};

/// Bytes of a pixel: red, green, blue, and how opaque it is.
const CHANNELS: usize = 4;

/// A picture in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// In pixels, at least one.
    pub width: u32,
    /// In pixels, at least one.
    pub height: u32,
    /// Rows from the top, each from the left, four bytes for each pixel: red, green, blue, opacity.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// A picture of these pixels; `None` if they are not as many as the size says.
    pub fn new(width: u32, height: u32, pixels: Vec<u8>) -> Option<Self> {
        let picture = Self { width, height, pixels };
        let is_whole = picture.pixels.len() == picture.columns() * picture.rows() * CHANNELS;
        (is_whole && width > 0 && height > 0).then_some(picture)
    }

    /// The picture as it fits into a frame, in its own proportions. One that fits already stays as it is.
    #[must_use]
    pub fn fit_within(&self, width: u32, height: u32) -> Self {
        if self.width <= width && self.height <= height {
            return self.clone();
        }
        // Compared as fractions: the side that is further over decides.
        let is_wide = u64::from(self.width) * u64::from(height) >= u64::from(self.height) * u64::from(width);
        let scaled = |side: u32, by: u32, of: u32| {
            let rounded = (u64::from(side) * u64::from(by) + u64::from(of) / 2) / u64::from(of);
            u32::try_from(rounded).unwrap_or(u32::MAX).max(1)
        };
        let (width, height) = if is_wide {
            (width, scaled(self.height, width, self.width))
        } else {
            (scaled(self.width, height, self.height), height)
        };
        self.resample((0, 0, self.width, self.height), width, height)
    }

    /// The middle of the picture in exactly this size: what stands over on two sides is cut off. Small pictures grow.
    #[must_use]
    pub fn cover(&self, width: u32, height: u32) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        let part = |side: u32, by: u32, of: u32| {
            let part = u64::from(side) * u64::from(by) / u64::from(of);
            u32::try_from(part).unwrap_or(u32::MAX).max(1)
        };
        let shown_width = part(self.height, width, height).min(self.width);
        let shown_height = part(self.width, height, width).min(self.height);
        let (left, top) = ((self.width - shown_width) / 2, (self.height - shown_height) / 2);
        self.resample((left, top, shown_width, shown_height), width, height)
    }

    /// Whether nothing shines through.
    pub fn is_opaque(&self) -> bool {
        self.pixels.chunks_exact(CHANNELS).all(|pixel| pixel[3] == u8::MAX)
    }

    /// A PNG file.
    pub fn to_png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let is_opaque = self.is_opaque();
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
        encoder.set_color(if is_opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        if is_opaque {
            writer.write_image_data(&self.without_opacity())?;
        } else {
            writer.write_image_data(&self.pixels)?;
        }
        writer.finish()?;
        Ok(file)
    }

    /// A WebP file without loss.
    pub fn to_webp(&self) -> Result<Vec<u8>, EncodingError> {
        let mut file = Vec::new();
        let encoder = WebPEncoder::new(&mut file);
        if self.is_opaque() {
            let pixels = self.without_opacity();
            encoder.encode(&pixels, self.width, self.height, image_webp::ColorType::Rgb8)?;
        } else {
            encoder.encode(&self.pixels, self.width, self.height, image_webp::ColorType::Rgba8)?;
        }
        Ok(file)
    }

    /// The picture turned and mirrored as an EXIF orientation from 1 to 8 says.
    #[must_use]
    pub fn turned(self, orientation: u8) -> Self {
        let (width, height) = (self.columns(), self.rows());
        let from = |x: usize, y: usize| match orientation {
            2 => (width - 1 - x, y),
            3 => (width - 1 - x, height - 1 - y),
            4 => (x, height - 1 - y),
            5 => (y, x),
            6 => (y, height - 1 - x),
            7 => (width - 1 - y, height - 1 - x),
            8 => (width - 1 - y, x),
            _ => (x, y),
        };
        let (new_width, new_height) = match orientation {
            2..=4 => (width, height),
            5..=8 => (height, width),
            _ => return self,
        };
        let mut pixels = Vec::with_capacity(self.pixels.len());
        for y in 0..new_height {
            for x in 0..new_width {
                let (x, y) = from(x, y);
                pixels.extend_from_slice(&self.pixels[(y * width + x) * CHANNELS..][..CHANNELS]);
            }
        }
        Self { width: new_width as u32, height: new_height as u32, pixels }
    }

    fn columns(&self) -> usize {
        self.width as usize
    }

    fn rows(&self) -> usize {
        self.height as usize
    }

    fn without_opacity(&self) -> Vec<u8> {
        self.pixels.chunks_exact(CHANNELS).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
    }

    /// A part of the picture (left, top, width, height) in another size. Each new pixel is a mean of the old ones around
    /// its place, the nearer the heavier. Rows are taken one after the other, so that beside the two pictures only a few
    /// rows are in memory.
    fn resample(&self, part: (u32, u32, u32, u32), width: u32, height: u32) -> Self {
        let (left, top, part_width, part_height) = part;
        let across = means(part_width, width);
        let down = means(part_height, height);
        let rows = self.pixels.chunks_exact(self.columns() * CHANNELS).skip(top as usize);
        let new_length = width as usize * CHANNELS;
        let mut row = vec![0.0_f32; new_length];
        // The sums of the rows that are not complete yet; the first of them is row `done` of the new picture.
        let mut sums: std::collections::VecDeque<Vec<f32>> = std::collections::VecDeque::new();
        let mut done = 0;
        let mut pixels = Vec::with_capacity(new_length * height as usize);
        for (y, old) in rows.take(part_height as usize).enumerate() {
            narrow(&old[left as usize * CHANNELS..], &across, &mut row);
            for (index, mean) in down.iter().enumerate().skip(done) {
                if mean.first > y {
                    break;
                }
                while sums.len() <= index - done {
                    sums.push_back(vec![0.0; new_length]);
                }
                let weight = mean.weights.get(y - mean.first).copied().unwrap_or(0.0);
                for (sum, value) in sums[index - done].iter_mut().zip(&row) {
                    *sum += value * weight;
                }
            }
            while let Some(mean) = down.get(done).filter(|mean| mean.first + mean.weights.len() <= y + 1) {
                debug_assert!(mean.first <= y, "a mean ends after it begins");
                let sum = sums.pop_front().unwrap_or_else(|| vec![0.0; new_length]);
                pixels.extend(sum.chunks_exact(CHANNELS).flat_map(to_pixel));
                done += 1;
            }
        }
        Self { width, height, pixels }
    }
}

/// A new pixel of a row or column: a weighted mean of old ones, beginning with `first`.
struct Mean {
    first: usize,
    /// Their sum is 1.
    weights: Vec<f32>,
}

/// The means that make `new` pixels of `old` ones. Weights fall off to both sides in a straight line, over one old or
/// one new pixel, whichever is larger.
#[expect(clippy::cast_precision_loss, reason = "sides of pictures are far below 2^24")]
fn means(old: u32, new: u32) -> Vec<Mean> {
    let scale = old as f32 / new as f32;
    let reach = scale.max(1.0);
    (0..new)
        .map(|index| {
            let centre = (index as f32 + 0.5) * scale;
            let first = (centre - reach).floor().max(0.0) as usize;
            let end = ((centre + reach).ceil() as usize).min(old as usize);
            let weight = |at: usize| (1.0 - ((at as f32 + 0.5 - centre) / reach).abs()).max(0.0);
            let mut weights: Vec<f32> = (first..end).map(weight).collect();
            let sum: f32 = weights.iter().sum();
            for weight in &mut weights {
                *weight /= sum;
            }
            Mean { first, weights }
        })
        .collect()
}

/// Scales a row. Colours are multiplied by their opacity, so that what cannot be seen has no colour to give.
fn narrow(old: &[u8], means: &[Mean], new: &mut [f32]) {
    for (mean, sum) in means.iter().zip(new.chunks_exact_mut(CHANNELS)) {
        sum.fill(0.0);
        let pixels = old.chunks_exact(CHANNELS).skip(mean.first);
        for (pixel, weight) in pixels.zip(&mean.weights) {
            let opacity = f32::from(pixel[3]) * weight;
            for channel in 0..3 {
                sum[channel] += f32::from(pixel[channel]) * opacity;
            }
            sum[3] += opacity;
        }
    }
}

fn to_pixel(sum: &[f32]) -> [u8; CHANNELS] {
    let opacity = sum[3];
    // A number that is out of range becomes the nearest that is in it.
    let colour = |channel: usize| if opacity > 0.0 { (sum[channel] / opacity).round() as u8 } else { 0 };
    [colour(0), colour(1), colour(2), opacity.round() as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: [u8; 4] = [255, 0, 0, 255];
    const BLUE: [u8; 4] = [0, 0, 255, 255];
    const NOTHING: [u8; 4] = [0, 255, 0, 0];

    fn picture(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 4]) -> Picture {
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        Picture::new(width, height, places.flat_map(|(x, y)| pixel(x, y)).collect()).unwrap()
    }

    fn at(picture: &Picture, x: u32, y: u32) -> [u8; 4] {
        picture.pixels[((y * picture.width + x) * 4) as usize..][..4].try_into().unwrap()
    }

    #[test]
    fn pictures_keep_their_proportions_and_never_grow_to_fit() {
        let cases = [
            ((1680, 1120), (840, 560)),
            ((2000, 1000), (840, 420)),
            ((1000, 2000), (280, 560)),
            ((100, 50), (100, 50)),
            ((840, 560), (840, 560)),
            ((5000, 1), (840, 1)),
            ((1, 5000), (1, 560)),
            ((841, 560), (840, 559)),
        ];
        for ((width, height), expected) in cases {
            let scaled = picture(width, height, |_, _| RED).fit_within(840, 560);
            assert_eq!((scaled.width, scaled.height), expected, "{width}x{height}");
            assert_eq!(scaled.pixels.len(), (expected.0 * expected.1 * 4) as usize);
            assert!(scaled.pixels.chunks(4).all(|pixel| pixel == RED));
        }
    }

    #[test]
    fn the_middle_is_cut_out_to_cover() {
        // A third of red, a third of blue, a third of red.
        let wide = picture(90, 30, |x, _| if (30..60).contains(&x) { BLUE } else { RED });
        for side in [1, 10, 30, 100] {
            let square = wide.cover(side, side);
            assert_eq!((square.width, square.height), (side, side));
            assert!(square.pixels.chunks(4).all(|pixel| pixel == BLUE), "{side}");
        }
        let high = picture(30, 90, |_, y| if (30..60).contains(&y) { BLUE } else { RED });
        assert!(high.cover(10, 10).pixels.chunks(4).all(|pixel| pixel == BLUE));
    }

    #[test]
    fn pixels_become_means_and_what_is_not_seen_has_no_colour() {
        let half = picture(100, 100, |x, _| if x < 50 { RED } else { BLUE });
        let scaled = half.fit_within(10, 10);
        assert_eq!((at(&scaled, 0, 5), at(&scaled, 9, 5)), (RED, BLUE));
        let stripes = picture(100, 2, |x, _| if x % 2 == 0 { RED } else { NOTHING });
        let [red, green, blue, opacity] = at(&stripes.fit_within(10, 2), 5, 0);
        assert_eq!((red, green, blue), (255, 0, 0));
        assert!(opacity.abs_diff(128) < 4, "{opacity}");
    }

    #[test]
    fn orientations_put_the_corner_where_it_belongs() {
        // One red corner, which is at the top left when the picture is upright.
        let upright = picture(3, 2, |x, y| if (x, y) == (0, 0) { RED } else { BLUE });
        let corners = [
            (1, (0, 0)),
            (2, (2, 0)),
            (3, (2, 1)),
            (4, (0, 1)),
            (5, (0, 0)),
            (6, (0, 2)),
            (7, (1, 2)),
            (8, (1, 0)),
        ];
        for (orientation, corner) in corners {
            let (width, height) = if orientation < 5 { (3, 2) } else { (2, 3) };
            let stored = picture(width, height, |x, y| if (x, y) == corner { RED } else { BLUE });
            assert_eq!(stored.turned(orientation), upright, "{orientation}");
        }
    }

    #[test]
    fn files_hold_the_same_pixels() {
        for pixel in [BLUE, [10, 20, 30, 40]] {
            let picture = picture(7, 5, |x, _| if x == 3 { RED } else { pixel });
            for file in [picture.to_png().unwrap(), picture.to_webp().unwrap()] {
                assert_eq!(crate::domain::images::decoding::decode(&file).unwrap().picture, picture);
            }
        }
    }
}
