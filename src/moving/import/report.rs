//! The report of an import.

use crate::domain::accounts::password::PasswordLink;
use serde::Serialize;
use std::collections::BTreeMap;

/// The reason why a password is left out.
pub const UNKNOWN_HASH: &str =
    "their hashes use an unknown or too slow method; --password-links prints links to set new passwords";

/// The reason why an address is left out.
pub const PLACEHOLDER_ADDRESS: &str =
    "these users have placeholder addresses, which can be changed by `teamchat user email`";

/// The reason why a time zone is left out.
pub const UNKNOWN_TIMEZONE: &str = "this server does not know their names";

/// The most examples of one kind in a report.
const MAX_EXAMPLES: usize = 20;

/// The counts of what an import wrote, and of what it left out.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// True if nothing was kept.
    pub dry_run: bool,
    /// Number of accounts of people and bots, deactivated ones included.
    pub users: u64,
    /// Number of channels, archived ones included.
    pub channels: u64,
    /// Number of messages.
    pub messages: u64,
    /// Number of uploaded files.
    pub attachments: u64,
    /// Rows of other kinds, by name.
    pub others: BTreeMap<&'static str, u64>,
    /// The active owners and administrators. Only the archive decides who they are.
    pub administrators: Vec<Administrator>,
    /// Data of the archive that has no place here, or is broken.
    pub left_out: Vec<LeftOut>,
    /// Messages whose HTML differs from that of the archive.
    pub rendered_differently: Differences,
    /// Links with which people without a password set one, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub password_links: Vec<PasswordLink>,
    /// Seconds that the import took.
    pub seconds: f64,
}

/// An owner or administrator of the new organization.
#[derive(Debug, Serialize)]
pub struct Administrator {
    /// The name of the role.
    pub role: &'static str,
    /// The user's name.
    pub full_name: String,
    /// The user's email.
    pub email: String,
}

/// Data that was left out.
#[derive(Debug, Serialize)]
pub struct LeftOut {
    /// The kind of data.
    pub what: String,
    /// Number of rows that are left out.
    pub count: u64,
    /// The reason why they are left out.
    pub why: String,
}

/// Messages that look different here.
#[derive(Debug, Default, Serialize)]
pub struct Differences {
    /// The number of messages whose HTML was compared.
    pub compared: u64,
    /// The number of those that differ.
    pub count: u64,
    /// The ids of some.
    pub examples: Vec<u32>,
}

impl Report {
    /// Counts data that was left out, with its reason.
    pub fn leave_out(&mut self, what: &str, count: u64, why: &str) {
        if count == 0 {
            return;
        }
        match self.left_out.iter_mut().find(|known| known.what == what && known.why == why) {
            Some(known) => known.count += count,
            None => self.left_out.push(LeftOut { what: what.to_owned(), count, why: why.to_owned() }),
        }
    }

    /// Counts an image of a kind, or its file as left out.
    pub fn add_image(&mut self, what: &'static str, is_stored: bool) {
        if is_stored {
            self.add(what, 1);
        } else {
            self.leave_out(what, 1, "the files are not images, or are too large");
        }
    }

    /// Counts rows of a kind.
    pub fn add(&mut self, what: &'static str, count: usize) {
        if count > 0 {
            *self.others.entry(what).or_default() += count as u64;
        }
    }
}

impl Differences {
    /// Counts a message that was compared.
    pub fn add(&mut self, id: u32, is_different: bool) {
        self.compared += 1;
        if is_different {
            self.count += 1;
            if self.examples.len() < MAX_EXAMPLES {
                self.examples.push(id);
            }
        }
    }
}
