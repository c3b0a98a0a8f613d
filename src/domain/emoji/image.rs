//! Images of custom emoji.

use crate::domain::emoji::sql;
use crate::domain::images::decoding::{Decoded, ImageError, decode};
use crate::domain::images::scaling::{cover, to_png};
use crate::domain::images::{animation, public};
use image::ImageFormat;
use rusqlite::Connection;

/// Emoji are squares of this side, in pixels.
const SIDE: u32 = 64;

/// An emoji's image in its size.
pub struct EmojiImage {
    content: Vec<u8>,
    /// The first frame of an animation, as PNG.
    still: Option<Vec<u8>>,
}

impl EmojiImage {
    /// Scales an image. Animations stay animated. Other shapes than a square are cropped or, if animated, padded.
    pub fn scale(file: &[u8]) -> Result<Self, ImageError> {
        let Decoded { format, picture } = decode(file)?;
        let still = to_png(&cover(&picture, SIDE, SIDE)?)?;
        // The frames of an animation take memory for several images.
        drop(picture);
        if format == ImageFormat::Gif
            && let Some(animation) = animation::scaled(file, SIDE)?
        {
            return Ok(Self { content: animation, still: Some(still) });
        }
        Ok(Self { content: still, still: None })
    }

    /// True for an animation.
    pub fn is_animated(&self) -> bool {
        self.still.is_some()
    }

    /// Its length with that of the still image, in bytes.
    pub fn size(&self) -> usize {
        self.content.len() + self.still.as_ref().map_or(0, Vec::len)
    }

    /// Stores the image among the public ones, and returns the name of its file, which is random.
    pub fn store(&self, connection: &Connection) -> rusqlite::Result<String> {
        self.store_as(connection, &public::random_name())
    }

    /// Stores the image under a name without ending, and returns the name of its file.
    pub fn store_as(&self, connection: &Connection, name: &str) -> rusqlite::Result<String> {
        let (ending, content_type) =
            if self.is_animated() { ("gif", "image/gif") } else { ("png", "image/png") };
        let file = format!("{name}.{ending}");
        public::store(connection, &sql::image_path(&file), content_type, &self.content)?;
        if let Some(still) = &self.still {
            public::store(connection, &sql::still_image_path(&file), "image/png", still)?;
        }
        Ok(file)
    }
}
