//! The URLs of avatars.

use crate::domain::images::public;
use crate::types::UserId;

/// The side of the small version, in pixels.
pub const SIDE: u32 = 100;

/// The side of the large version, in pixels.
pub const MEDIUM_SIDE: u32 = 500;

/// The facts that determine the URLs of a user's avatar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avatar {
    pub user_id: UserId,
    /// The number of changes. It is in the URL, so that clients can cache images forever.
    pub version: i64,
    /// The random name of the uploaded image; `None` if the avatar is generated.
    pub key: Option<i64>,
}

impl Avatar {
    /// `avatar_url`: 100 pixels wide and high.
    pub fn url(self) -> String {
        self.sized("")
    }

    /// `avatar_url_medium`: 500 pixels. Clients also derive it from `avatar_url` by adding `-medium` to the name.
    pub fn medium_url(self) -> String {
        self.sized("-medium")
    }

    /// `avatar_source`: `U` for an uploaded image, `G` for a generated one.
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

    /// The path among the public images; `size` is empty or `-medium`.
    pub fn path(self, size: &str) -> String {
        match self.key {
            Some(key) => format!("{:016x}{size}.png", key.cast_unsigned()),
            None => format!("{}{}{size}.png", public::GENERATED, self.user_id),
        }
    }
}
