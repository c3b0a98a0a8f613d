//! Custom emoji: statements, and the check of an emoji that a client names by name, code and type. Names of emoji in
//! other products.

pub mod events;
pub mod image;
pub mod resolve;
pub mod short_names;
mod sql;

pub use self::sql::*;

use crate::domain::images::public;

/// The URL of an emoji's image.
pub fn source_url(emoji: &RealmEmoji) -> String {
    format!("{}{}", public::ROOT, sql::image_path(&emoji.file))
}
