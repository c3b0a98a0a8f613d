//! The location of a user's avatar.

use crate::domain::images::public;
use crate::types::UserId;

/// The side of the usual image, in pixels.
pub const SIDE: u32 = 100;

/// The side of the large one.
pub const MEDIUM_SIDE: u32 = 500;

/// What says where a user's image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avatar {
    /// Whose.
    pub user_id: UserId,
    /// Counts changes, so that clients may keep an image for as long as they like.
    pub version: i64,
    /// The name of the uploaded image, if there is one: a number that cannot be guessed.
    pub key: Option<i64>,
}

impl Avatar {
    /// `avatar_url`: 100 pixels wide and high.
    pub fn url(self) -> String {
        self.sized("")
    }

    /// `avatar_url_medium`: 500 pixels. Clients know that its name is the other one with `-medium`.
    pub fn medium_url(self) -> String {
        self.sized("-medium")
    }

    /// `avatar_source`: `U` for an uploaded image, `G` for one that is drawn.
    pub fn source(self) -> &'static str {
        if self.key.is_some() { "U" } else { "G" }
    }

    fn sized(self, size: &str) -> String {
        let mut url = String::with_capacity(64);
        url.push_str(public::ROOT);
        url.push_str(&self.path(size));
        url.push_str("?version=");
        url.push_str(&self.version.to_string());
        url
    }

    /// The name of the image among the public images; `size` is empty or `-medium`.
    pub fn path(self, size: &str) -> String {
        match self.key {
            Some(key) => format!("{:016x}{size}.png", key.cast_unsigned()),
            None => format!("{}{}{size}.png", public::GENERATED, self.user_id),
        }
    }
}
