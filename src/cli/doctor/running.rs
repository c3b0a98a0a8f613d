//! The server that has the database open.

use super::findings::Findings;
use crate::cli::common::{Failure, send};
use crate::cli::serve::Serve;
use serde_json::Value;
use std::time::Duration;
use teamchat::commands::{Command, Status};
use teamchat::server::ListenAddress;
use teamchat::store::{Announcement, Database};

/// The time after which a server without an answer hangs.
const PATIENCE: Duration = Duration::from_secs(15);

/// A server that has the database open.
pub(super) struct Running {
    /// The content of the lock file, by which commands reach it.
    pub(super) announcement: Announcement,
    /// The sockets that it listens on, which may be those of a systemd unit.
    pub(super) listen: Vec<ListenAddress>,
    pub(super) status: Status,
}

impl Running {
    /// Runs a command on the server.
    pub(super) fn send(&self, command: &Command) -> Result<Value, Failure> {
        send(&self.announcement, command, Some(PATIENCE))
    }
}

/// Asks the server that has the database open for its status.
pub(super) fn find(serve: &Serve, findings: &mut Findings) -> Option<Running> {
    let Some(announcement) = Database::announced(&serve.file.db) else {
        findings.ok("server", "it is stopped");
        return None;
    };
    let answer = send(&announcement, &Command::Status, Some(PATIENCE));
    let answer = answer.and_then(|answer| Ok(serde_json::from_value(answer)?));
    let status: Status = match answer {
        Ok(status) => status,
        Err(error) => {
            findings.problem(
                "server",
                format!("the server has the database open and does not answer: {error}"),
                "wait until it has started; if it hangs, restart it and read its log",
            );
            return None;
        }
    };
    let own = env!("CARGO_PKG_VERSION");
    if status.version == own {
        findings.ok("server", format!("it runs, version {own}"));
    } else {
        findings.warning(
            "server",
            format!("it runs version {}, and this program is {own}", status.version),
            "restart the server to finish the upgrade",
        );
    }
    let listen = announcement.listen.iter().filter_map(|address| address.parse().ok()).collect();
    Some(Running { announcement, listen, status })
}
