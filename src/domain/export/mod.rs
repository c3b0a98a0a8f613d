//! Exports of an organization as the published archive, which the published server imports (release 10.2).
//!
//! An export reads one snapshot from its beginning to its end and writes a compressed tar file. Memory does not grow with the
//! number of messages: rows are written as they are read, and a member of the archive whose length has to be known before is
//! written twice, the first time only to count its bytes.
//!
//! - `report`: summaries of exports; `scope`: the modes of export, and which data of which users belong to them;
//! - `file`: the archive as a file; `archive`: its members; `tables`: tables of rows as JSON;
//! - `recipients`, `clients`: ids of the archive that differ from those of the database;
//! - `messages`: messages, and the rows of their receivers;
//! - `organization`, `people`, `groups`, `channels`, `audit`: the tables of `realm.json`;
//! - `files`: uploads, avatars, emoji and the organization's images;
//! - `newer`: settings and permissions that the format has no place for;
//! - `person`, `html`: exports that people read, in a `folder` of pages.

mod archive;
mod audit;
mod channels;
mod clients;
mod error;
mod file;
mod files;
mod folder;
mod groups;
mod html;
mod messages;
mod newer;
mod organization;
mod page;
mod people;
mod person;
mod recipients;
mod report;
mod scope;
mod tables;

pub use self::error::ExportError;
pub use self::file::{ArchiveFile, ENDING, write_file};
pub use self::html::{HtmlReport, write_html};
pub use self::person::{PersonReport, write_person};
pub use self::report::{LeftOut, Progress, Report, Written};
pub use self::scope::Mode;

use self::archive::Archive;
use self::clients::Clients;
use self::error::Result;
use self::messages::Exported;
use self::recipients::Recipients;
use self::scope::Scope;
use self::tables::{Counts, Tables};
use crate::types::{Hashing, hex};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::io::Write;

/// The release whose importer accepts the archive: its version, and the migrations of its database, which have to be equal.
const MIGRATION_STATUS: &str = include_str!("migration_status.json");

/// Writes an archive of a snapshot, and returns the writer of the compressed bytes.
///
/// `folder` is the name of the archive's only folder, `now` the time in UNIX seconds. `progress` is called from time to time;
/// an error that it returns ends the export.
pub fn write_archive<W: Write>(
    connection: &Connection,
    mode: Mode,
    folder: &str,
    now: i64,
    out: W,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<(W, Written)> {
    let out = Hashing::new(out);
    let scope = Scope::load(connection, mode)?;
    let recipients = Recipients::load(connection, &scope)?;
    let clients = Clients::load(connection)?;
    let mut archive = Archive::new(out, folder, now);
    let mut stats = BTreeMap::new();

    archive.add_bytes("migration_status.json", MIGRATION_STATUS.as_bytes())?;
    let exported = messages::write(&mut archive, connection, &scope, &recipients, &clients, progress)?;
    stats.insert("messages".to_owned(), exported.counts.clone());
    let realm = archive.add_written("realm.json", |out| {
        write_realm(out, connection, &scope, &recipients, &clients, &exported, now)
    })?;
    let (attachments, outside) = files::write(&mut archive, connection, &scope, &exported)?;
    let mut left_out = left_out(connection)?;
    left_out.push(outside);
    left_out.extend(exported.left_out());
    left_out.extend(scope.left_out());
    left_out.extend(newer::left_out(connection)?);
    left_out.retain(|item| item.count > 0);
    let count = |table: &str| realm.get(table).copied().unwrap_or(0);
    let report = Report {
        users: count("zerver_userprofile") + count("zerver_userprofile_mirrordummy"),
        channels: count("zerver_stream"),
        messages: exported.ids.len(),
        attachments,
        left_out,
    };
    stats.insert("realm.json".to_owned(), realm);
    archive.add_bytes("stats.json", &serde_json::to_vec_pretty(&stats)?)?;
    if mode == Mode::Consent {
        let users: Vec<u32> = scope.consenting.iter().collect();
        archive.add_bytes("consented_user_ids.json", &serde_json::to_vec(&users)?)?;
    }
    let (out, digest, size) = archive.finish()?.finish();
    let sha256 = hex(&digest);
    Ok((out, Written { size, sha256, report }))
}

fn write_realm(
    out: &mut dyn Write,
    connection: &Connection,
    scope: &Scope,
    recipients: &Recipients,
    clients: &Clients,
    exported: &Exported,
    now: i64,
) -> Result<Counts> {
    let mut tables = Tables::begin(out)?;
    let groups = groups::Groups::load(connection)?;
    organization::write(&mut tables, connection, scope, &groups)?;
    people::write(&mut tables, connection, scope, recipients, clients)?;
    groups.write(&mut tables, connection, scope, now)?;
    channels::write(&mut tables, connection, scope, recipients, exported, &groups)?;
    recipients.write(&mut tables, scope)?;
    messages::write_scheduled(&mut tables, connection, exported, clients)?;
    messages::write_reactions(&mut tables, connection, exported)?;
    audit::write(&mut tables, connection, scope, exported, now)?;
    // The last one, because it has the clients that other rows refer to.
    clients.write(&mut tables)?;
    tables.end()
}

/// Data that the format has no place for.
fn left_out(connection: &Connection) -> Result<Vec<LeftOut>> {
    const NO_PLACE: &str = "the published format has no place for them";
    let mut items = Vec::new();
    for (what, why, statement) in [
        ("channel folders", NO_PLACE, "SELECT count(*) FROM channel_folder"),
        ("default channel groups", NO_PLACE, "SELECT count(*) FROM default_stream_group"),
        (
            "domains",
            "the published release has domains of at most 80 characters",
            "SELECT count(*) FROM realm_domain WHERE length(domain) > 80",
        ),
        ("drafts", NO_PLACE, "SELECT count(*) FROM draft"),
        ("invitations", NO_PLACE, "SELECT count(*) FROM invite WHERE NOT is_revoked"),
        ("navigation views", NO_PLACE, "SELECT count(*) FROM navigation_view"),
        ("reminders", NO_PLACE, "SELECT count(*) FROM reminder"),
        ("votes, tasks and other submessages", NO_PLACE, "SELECT count(*) FROM submessage"),
        (
            "uploaded files without a message",
            "only files that messages link to are exported",
            "SELECT count(*) FROM attachment WHERE unclaimed_since IS NOT NULL",
        ),
        (
            "passwords and API keys",
            "they are never exported; people set a new password by email",
            "SELECT count(*) FROM user WHERE password_hash IS NOT NULL",
        ),
    ] {
        let count: i64 = connection.query_row(statement, [], |row| row.get(0))?;
        items.push(LeftOut { what, count: count.unsigned_abs(), why });
    }
    Ok(items)
}
