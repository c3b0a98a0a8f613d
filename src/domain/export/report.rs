//! Summaries of exports.

use serde::Serialize;

/// A part of the data that is not in the archive.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// The kind of data.
    pub what: &'static str,
    /// The number of items.
    pub count: u64,
    /// The reason why it is left out.
    pub why: &'static str,
}

/// Summary of an archive.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Number of accounts, with bots and deactivated ones.
    pub users: u64,
    /// Number of channels.
    pub channels: u64,
    /// Number of messages.
    pub messages: u64,
    /// Number of uploaded files.
    pub attachments: u64,
    /// Data that is not in the archive.
    pub left_out: Vec<LeftOut>,
}

/// A written archive.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Written {
    /// The length in bytes.
    pub size: u64,
    /// The SHA-256 digest, hexadecimal.
    pub sha256: String,
    /// Counts of the contents, and what was left out.
    #[serde(flatten)]
    pub report: Report,
}

/// The state of a running export.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Messages that are written.
    pub messages: u64,
    /// The part of all messages that has been read, from 0 to 1.
    pub fraction: f64,
}
