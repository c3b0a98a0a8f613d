//! Importing archives of other servers into a new database.
//!
//! The database is written beside its final path ([`Place`]), by jobs of its own writer (`target`), and gets its name when
//! it is complete and checked. A killed import leaves files that the next one to the same path removes. Archives are read
//! as a stream, row by row (`json`), and rendered in batches on all processors (`message`).

mod blocks;
mod descriptions;
mod earlier;
mod error;
mod files;
mod html;
mod json;
mod lines;
mod links;
mod mattermost;
mod message;
mod place;
mod progress;
mod receipts;
pub mod report;
mod rocketchat;
mod rows;
pub mod slack;
mod target;
mod topics;
mod unpack;
mod zulip;

pub use self::place::Place;

use crate::app::App;
use crate::domain::accounts::password::create_links;
use crate::domain::users;
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::links::OldAddress;
use crate::moving::import::progress::Progress;
use crate::moving::import::report::{Administrator, Report};
use crate::moving::import::target::Target;
use crate::moving::import::unpack::Archive;
use crate::store::{integrity_problems, missing_references};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::Handle;

/// A format of archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The published archive.
    Zulip,
    /// Slack's export.
    Slack,
    /// Mattermost's bulk export.
    Mattermost,
    /// A dump of Rocket.Chat's database.
    RocketChat,
    /// Lines of JSON.
    Json,
}

impl Format {
    /// All formats with their names.
    pub const ALL: [(&'static str, Self); 5] = [
        ("zulip", Self::Zulip),
        ("slack", Self::Slack),
        ("mattermost", Self::Mattermost),
        ("rocketchat", Self::RocketChat),
        ("json", Self::Json),
    ];

    fn marks(self) -> &'static [&'static str] {
        match self {
            Self::Zulip => zulip::MARKS,
            Self::Slack => slack::MARKS,
            Self::Mattermost => &["export.json", "data", "exported_emoji"],
            Self::RocketChat => rocketchat::MARKS,
            Self::Json => lines::MARKS,
        }
    }
}

/// The archive to import.
#[derive(Clone, Debug)]
pub struct Source {
    pub format: Format,
    /// The archive or folder.
    pub path: PathBuf,
    /// Addresses of the old server, of which links are rewritten.
    pub old_addresses: Vec<String>,
    /// The address of the new server.
    pub public_url: Option<String>,
    /// Addresses, files and images of people that archives of Slack lack.
    pub slack: slack::Extras,
    /// True if people without a password get a link to set one.
    pub password_links: bool,
}

/// Imports an archive into the database of an app that has no users yet. Blocks the thread. Progress is printed if standard
/// error is a terminal, or as lines of a log if `is_logged`.
pub fn run(
    app: Arc<App>,
    runtime: Handle,
    source: &Source,
    place: &Place,
    is_logged: bool,
) -> ImportResult<Report> {
    let progress = Progress::start(is_logged);
    let (unpacked, space) = (place.unpacked(), app.space_for_files());
    let archive = Archive::open(&source.path, &unpacked, source.format.marks(), space)?;
    let mut target = Target::new(app, runtime);
    let mut report = Report::default();
    let addresses = OldAddress::new(&source.old_addresses, source.public_url.clone());
    let imported = match source.format {
        Format::Zulip => zulip::import(&mut target, &archive, addresses, &progress, &mut report),
        Format::Slack => {
            slack::import(&mut target, &archive, &source.slack, addresses, &progress, &mut report)
        }
        Format::Mattermost => mattermost::import(&mut target, &archive, addresses, &progress, &mut report),
        Format::RocketChat => rocketchat::import(&mut target, &archive, addresses, &progress, &mut report),
        Format::Json => lines::import(&mut target, &archive, addresses, &progress, &mut report),
    };
    progress.finish();
    // A job that still runs may have failed first.
    target.wait().and(imported)?;
    if source.password_links {
        report.password_links = target.run(|tx| Ok(create_links(tx, false, false)?))?;
    }
    check(&target, &report)?;
    report.administrators = administrators(&target)?;
    report.seconds = (progress.seconds() * 10.0).round() / 10.0;
    Ok(report)
}

/// The active users with roles of administrators, the most powerful first.
fn administrators(target: &Target) -> ImportResult<Vec<Administrator>> {
    let mut users = target.read(|snapshot| Ok(users::all(snapshot)?))?;
    users.retain(|user| user.is_active && user.role.is_administrator());
    users.sort_by_key(|user| user.role.code());
    let named = users.into_iter().map(|user| Administrator {
        role: user.role.name(),
        full_name: user.full_name,
        email: user.delivery_email,
    });
    Ok(named.collect())
}

/// Checks the database: the file itself, its references, and the number of messages.
fn check(target: &Target, report: &Report) -> ImportResult<()> {
    target.read(|snapshot| {
        if let Some(problem) = integrity_problems(snapshot, 1)?.first() {
            return Err(ImportError::new(format!("the new database is not sound: {problem}")));
        }
        if let Some((table, _, other)) = missing_references(snapshot)?.first() {
            let what = format!("a row of {table} refers to a row of {other} that is not there");
            return Err(ImportError::new(what));
        }
        let messages: i64 = snapshot.query_row("SELECT count(*) FROM message", [], |row| row.get(0))?;
        if messages.unsigned_abs() == report.messages {
            Ok(())
        } else {
            Err(ImportError::new(format!("{messages} messages were written instead of {}", report.messages)))
        }
    })
}
