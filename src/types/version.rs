//! Version.

use serde::Serialize;

/// The announced feature level: everything up to it is supported, and clients behave as for release 11.0.
pub const FEATURE_LEVEL: i64 = 421;

/// The version of this program, without that of the compatible release.
pub const PROGRAM_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The compatible release, followed by the version of this program.
pub const VERSION: &str = concat!("11.0-teamchat-", env!("CARGO_PKG_VERSION"));

/// The version fields, under the published names and under those of the spec.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Versions {
    /// The version of the server: the compatible release, and the server's own version.
    zulip_version: &'static str,
    /// The feature level: all features up to it are supported.
    zulip_feature_level: i64,
    /// The same as `zulip_version`.
    zulip_merge_base: &'static str,
    /// The same as `zulip_version`.
    svc_version: &'static str,
    /// The same as `zulip_feature_level`.
    svc_feature_level: i64,
    /// The same as `zulip_merge_base`.
    svc_merge_base: &'static str,
}

impl Versions {
    /// The version of this program.
    pub const CURRENT: Self = Self {
        zulip_version: VERSION,
        zulip_feature_level: FEATURE_LEVEL,
        zulip_merge_base: VERSION,
        svc_version: VERSION,
        svc_feature_level: FEATURE_LEVEL,
        svc_merge_base: VERSION,
    };
}
