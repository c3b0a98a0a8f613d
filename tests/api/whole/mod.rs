//! The whole picture, which slices hide: every route, event type and statement, each in one snapshot; and the rules
//! that hold the code in its places.
//!
//! When a snapshot changed for a good reason, write it anew with `INSTA_UPDATE=always cargo test --test api whole`.

mod conformance;
mod places;
mod plans;
mod snapshots;
pub mod source;
