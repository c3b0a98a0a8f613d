//! The published archive.
//!
//! `realm.json` is read once, into compact rows ([`organization`]); then files, messages and the rest are written in this
//! order. All ids stay as they are, because the new database has no others; only system groups have ids of their own here, and
//! messages of archives that want them to be sorted ([`order`]).

mod files;
mod messages;
mod order;
mod organization;
mod people;
mod personal;
mod policies;
mod rest;
mod settings;
mod tables;

use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::links::OldAddress;
use crate::moving::import::progress::Progress;
use crate::moving::import::report::Report;
use crate::moving::import::target::Target;
use crate::moving::import::unpack::Archive;
use order::Order;
use organization::{Organization, REALM};

/// The files by which an archive is known.
pub const MARKS: &[&str] = &[REALM, "migration_status.json"];

/// Imports an archive.
pub fn import(
    target: &mut Target,
    archive: &Archive,
    mut addresses: OldAddress,
    progress: &Progress,
    report: &mut Report,
) -> ImportResult<()> {
    for name in [REALM, "attachment.json"] {
        progress.expect(archive.file(name)?.metadata()?.len());
    }
    let mut message_files = messages::files(archive)?;
    for (_, path) in &message_files {
        // Each is read twice.
        progress.expect(2 * path.metadata()?.len());
    }
    let mut organization = Organization::read(archive, progress)?;
    addresses.detect(organization.dummy_domains.iter());
    let of_realm = |error: ImportError| error.or_in(REALM);
    people::insert(target, &mut organization, report).map_err(of_realm)?;
    files::insert(target, archive, &mut organization, progress, report)?;
    rest::insert_before_messages(target, &mut organization, &addresses, report).map_err(of_realm)?;
    personal::insert(target, &mut organization, report).map_err(of_realm)?;
    if organization.sorts_by_date
        && let Some(order) = Order::of(&message_files, progress)?
    {
        message_files = order.sorted_files(archive, &message_files, progress)?;
        organization.renumber_messages(&order);
    }
    if report.attachments > 0 {
        messages::detect_hosts(target, &message_files, &mut addresses, progress)?;
    }
    messages::insert(target, &mut organization, &message_files, &mut addresses, progress, report)?;
    rest::insert_after_messages(target, &mut organization, &mut addresses, report).map_err(of_realm)?;
    for (host, count) in addresses.others() {
        let why = format!("if this was the old server, --old-url https://{host} rewrites them");
        report.leave_out(&format!("links to conversations at {host}"), *count, &why);
    }
    Ok(())
}
