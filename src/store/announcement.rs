//! The content of the lock file.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The way to reach the server that has the database open. While it starts or stops, and while a command has the database open,
/// it has no process. Before a start it is what the last server left when it had stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Announcement {
    /// The process of the server.
    pub pid: Option<u32>,
    /// The socket for commands.
    pub control: Option<PathBuf>,
    /// Scheme, host and port at which the server is reached on this machine; `None` if it has no port.
    pub origin: Option<String>,
    /// The addresses that the server listens on, which may be those of a systemd unit.
    pub listen: Vec<String>,
    /// The id that the next event would have had when the server stopped.
    pub next_event: Option<i64>,
}

impl Announcement {
    /// Parses the content of a lock file. Other content was not written by this program, and counts as none.
    pub(super) fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The process, for error messages.
    pub fn process(&self) -> String {
        self.pid.map_or_else(|| "unknown".to_owned(), |pid| pid.to_string())
    }
}
