//! Subscriptions: who is in which channel, since when, and how they want to see it.

pub mod members;
pub mod sql;

use super::Slice;

/// Subscriptions.
pub const SLICE: Slice = Slice { name: "subscriptions", ..Slice::EMPTY };
