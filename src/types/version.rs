//! Version.

use serde_json::{Map, Value};

/// The feature level that we announce: nothing below it is missing from what we serve, and clients take the ways of
/// release 11.0.
pub const FEATURE_LEVEL: i64 = 421;

/// The release whose ways we follow, with our own version behind it.
pub const VERSION: &str = concat!("11.0-teamchat-", env!("CARGO_PKG_VERSION"));

/// The version fields, under the published names and under those of the spec.
pub fn versions() -> Map<String, Value> {
    let mut fields = Map::new();
    for prefix in ["zulip", "svc"] {
        fields.insert(format!("{prefix}_version"), VERSION.into());
        fields.insert(format!("{prefix}_feature_level"), FEATURE_LEVEL.into());
        fields.insert(format!("{prefix}_merge_base"), VERSION.into());
    }
    fields
}
