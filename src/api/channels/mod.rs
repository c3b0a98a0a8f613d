//! Channels (streams): their rows, their group settings, and who may see them.

pub mod access;
pub mod row;
pub mod settings;
pub mod sql;

use super::Slice;

/// Channels.
pub const SLICE: Slice = Slice { name: "channels", ..Slice::EMPTY };
