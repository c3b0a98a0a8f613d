//! Uploaded files: metadata, contents in chunks, and thumbnails.

pub mod access;
pub mod blobs;
pub mod media_types;
pub mod names;
pub mod record;
pub mod references;
mod sql;
pub mod thumbnails;

pub use self::sql::*;
