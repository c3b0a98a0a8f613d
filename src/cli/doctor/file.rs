//! The database, the files beside it, their folder, and the disk.

use super::findings::Findings;
use super::running::Running;
use crate::cli::backup::size;
use crate::cli::serve::Serve;
use rusqlite::{Connection, OptionalExtension};
use std::path::Path;
use std::time::Duration;
use teamchat::app::DISK_RESERVE_MIB;
use teamchat::commands::{LARGE_LOG, LOW_DISK};
use teamchat::domain::backups::space_needed;
use teamchat::domain::{files, upload_quota};
use teamchat::store::{Database, OpenError, beside, disk_usage, schema_differences};
#[cfg(target_os = "linux")]
use teamchat::store::{kind_of_file_system, network_name};
use teamchat::types::{Clock, timestamp};

/// Seconds by which rows may be ahead of the clock of this machine.
const TOLERANCE: i64 = 60;

/// The age from which copies of before an upgrade or a restore are probably forgotten.
const OLD_COPY: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The size of the write-ahead log at which the server empties it itself with a replicator, in bytes.
const LARGE_REPLICATED_LOG: u64 = 1 << 30;

/// Further kinds of file systems that are not fit, by their magic numbers (statfs(2)), with the remedies.
#[cfg(target_os = "linux")]
const UNFIT: [(i64, &str, &str); 4] = [
    (
        0x6573_5546,
        "FUSE",
        "make sure that it is a disk of this machine: locks over a network are not reliable",
    ),
    (0x0102_1994, "tmpfs, in memory", "it is lost when the machine stops; move it to a disk"),
    (0x8584_58F6, "ramfs, in memory", "it is lost when the machine stops; move it to a disk"),
    (0x794C_7630, "overlay", "it is lost with the container; put it on a volume"),
];

/// Opens the database for reading, and checks its version and its schema.
pub(super) fn open(path: &Path, findings: &mut Findings) -> Result<Connection, OpenError> {
    let (connection, is_current) = Database::inspect(path)?;
    let differences = schema_differences(&connection)
        .map_err(|source| OpenError::Sqlite { path: path.to_owned(), source })?;
    if let Some(difference) = differences.first() {
        findings.warning(
            "database",
            format!("{} has another schema than this program makes: {difference}", path.display()),
            "`teamchat restore` refuses backups of it; stop the server and correct the schema with SQLite",
        );
    }
    if is_current && differences.is_empty() {
        findings.ok("database", format!("{} has the schema of this version", path.display()));
    } else if !is_current {
        findings.warning(
            "database",
            format!("{} was written by an older version", path.display()),
            "the next start upgrades it and keeps a copy beside it; make a backup first",
        );
    }
    Ok(connection)
}

/// Checks the files, and the rows that tell about the machine.
pub(super) fn check(
    serve: &Serve,
    connection: &Connection,
    running: Option<&Running>,
    findings: &mut Findings,
) {
    // Links are followed, as by the server.
    let path = std::fs::canonicalize(&serve.file.db).unwrap_or_else(|_| serve.file.db.clone());
    let folder = path.parent().unwrap_or(Path::new("/"));
    check_clock(connection, findings);
    #[cfg(unix)]
    permissions::check(&path, folder, serve, findings);
    let refused = "free some space: uploads are refused below 256 MiB, and most changes below 64 MiB";
    check_disk("disk", folder, DISK_RESERVE_MIB << 20, refused, findings);
    #[cfg(target_os = "linux")]
    check_file_system(folder, findings);
    check_log(&path, serve, findings);
    check_copies(&path, folder, findings);
    if running.is_none() {
        check_uploads(serve, connection, findings);
    }
    check_backups(serve, connection, running, findings);
}

/// Rows of the future mean that the clock is wrong, or was.
fn check_clock(connection: &Connection, findings: &mut Findings) {
    let now = Clock::System.seconds();
    let newest =
        ["SELECT timestamp FROM message ORDER BY id DESC LIMIT 1", "SELECT max(time) FROM audit_entry"];
    // An older file may lack a table.
    let newest = newest.iter().filter_map(|statement| {
        connection.query_row(statement, [], |row| row.get::<_, Option<i64>>(0)).optional().ok()??
    });
    match newest.max() {
        Some(newest) if newest > now + TOLERANCE => findings.problem(
            "clock",
            format!("the newest data is from {}, but the clock of this machine says {}", timestamp(newest), timestamp(now)),
            "set the clock, for example with `timedatectl set-ntp true`; if it is right now, it was wrong before, and \
             some data has times in the future",
        ),
        _ => findings.ok("clock", format!("it is {}, and no data is from the future", timestamp(now))),
    }
}

/// Checks the free space of the disk of a folder. `remedy` is for less than `needed` bytes.
fn check_disk(check: &'static str, folder: &Path, needed: u64, remedy: &str, findings: &mut Findings) {
    let Some((free, total)) = disk_usage(folder) else { return };
    let left = format!("{} has {} of {} left", folder.display(), size(free), size(total));
    if free < needed {
        findings.problem(check, left, remedy);
    } else if free < LOW_DISK {
        findings.warning(check, left, "free some space, or move it to a larger disk");
    } else {
        findings.ok(check, left);
    }
}

#[cfg(target_os = "linux")]
fn check_file_system(folder: &Path, findings: &mut Findings) {
    let Some(kind) = kind_of_file_system(folder) else { return };
    let on = |name: &str| format!("the database is on {name}");
    match (network_name(kind), UNFIT.iter().find(|(magic, ..)| *magic == kind)) {
        (Some(name), _) => findings.problem(
            "file system",
            on(name),
            "its locks are not reliable over a network, and the file can be damaged; move it to a disk of this machine",
        ),
        (None, Some((_, name, remedy))) => findings.warning("file system", on(name), remedy),
        (None, None) => findings.ok("file system", "the database is on a disk of this machine"),
    }
}

fn check_log(path: &Path, serve: &Serve, findings: &mut Findings) {
    let log = std::fs::metadata(beside(path, "-wal")).map_or(0, |log| log.len());
    let (limit, remedy) = if serve.keeping.replicated {
        (LARGE_REPLICATED_LOG, "the replication is too slow or not running: see its log")
    } else {
        (LARGE_LOG, "another program, such as a backup that hangs, keeps it open: stop that program")
    };
    let what = format!("the write-ahead log of the database has {}", size(log));
    if log > limit { findings.warning("log", what, remedy) } else { findings.ok("log", what) }
}

/// The copies beside the database: those of the last two upgrades, and those of restores, which nothing removes.
fn check_copies(path: &Path, folder: &Path, findings: &mut Findings) {
    let prefix = format!("{}.before-", path.file_name().unwrap_or_default().to_string_lossy());
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let copies = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    let copies: Vec<_> = copies.filter_map(|entry| entry.metadata().ok()).collect();
    let Some(oldest) = copies.iter().filter_map(|copy| copy.modified().ok()).min() else { return };
    let bytes = size(copies.iter().map(std::fs::Metadata::len).sum());
    let what = format!("the copies of upgrades and restores ({prefix}...) take {bytes}");
    if oldest.elapsed().is_ok_and(|age| age > OLD_COPY) {
        findings.warning("copies", what, "delete the copies that you do not need any more");
    } else {
        findings.ok("copies", what);
    }
}

/// The quota of uploads. A running server has it among its warnings.
fn check_uploads(serve: &Serve, connection: &Connection, findings: &mut Findings) {
    let quota = serve.upload_quota_mib.saturating_mul(1 << 20);
    // An older file may lack a table.
    let Ok(used) = files::space_used(connection) else { return };
    let what = format!("uploaded files take {} of {}", size(used), size(quota));
    if quota > 0 && upload_quota::percent(used, quota) < upload_quota::ALMOST_FULL {
        findings.ok("uploads", what);
    } else {
        findings.warning("uploads", what, "ask people to delete old files, or raise --upload-quota-mib");
    }
}

fn check_backups(serve: &Serve, connection: &Connection, running: Option<&Running>, findings: &mut Findings) {
    let last = match running {
        Some(running) => running.status.backups.last_success.clone(),
        // An older file may lack the table.
        None => teamchat::domain::backups::last_recorded(connection).ok().flatten(),
    };
    let last = last.map_or_else(
        || "no backup was made yet".to_owned(),
        |last| format!("the last backup is of {}", timestamp(last.time)),
    );
    let folder = running.and_then(|running| running.status.backup_folder.clone());
    match folder.or_else(|| serve.keeping.backup_to.clone()) {
        None if serve.keeping.replicated => findings.ok("backups", "another program replicates the database"),
        None => findings.warning("backups", format!("automatic backups are off; {last}"), "set --backup-to"),
        Some(folder) if !folder.is_dir() => {
            findings.problem(
                "backups",
                format!("there is no folder {}", folder.display()),
                "create it, or mount its disk",
            );
        }
        Some(folder) => {
            let is_beside = is_same_disk(&serve.file.db, &folder);
            let hint = "; the folder is on the disk of the database: also copy the backups elsewhere";
            findings.ok("backups", if is_beside { format!("{last}{hint}") } else { last });
            let needed = space_needed(&serve.file.db);
            let remedy = format!(
                "free some space, or set --backup-to to a folder on a larger disk: a backup needs {} while it is made",
                size(needed)
            );
            check_disk("disk of backups", &folder, needed, &remedy, findings);
            #[cfg(unix)]
            permissions::check_backup_folder(&serve.file.db, &folder, findings);
        }
    }
}

/// True if two paths are on one file system. Both are lost with its disk.
#[cfg(unix)]
fn is_same_disk(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.dev()).ok();
    device(one).is_some_and(|found| device(other) == Some(found))
}

#[cfg(not(unix))]
fn is_same_disk(_one: &Path, _other: &Path) -> bool {
    false
}

/// Owners and modes.
#[cfg(unix)]
mod permissions {
    use super::super::findings::Findings;
    use crate::cli::serve::Serve;
    use rustix::fs::{Access, access};
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};
    use teamchat::store::beside;

    /// Endings of files that belong to the database.
    const COMPANIONS: [&str; 5] = ["", "-wal", "-shm", ".lock", ".control"];

    /// Permissions of other users, and the one to write.
    const OTHERS: u32 = 0o007;
    const WRITE: u32 = 0o002;

    /// The bit of a folder in which only the owner of a file can replace it.
    const STICKY: u32 = 0o1000;

    pub(super) fn check(path: &Path, folder: &Path, serve: &Serve, findings: &mut Findings) {
        let Ok(database) = std::fs::metadata(path) else { return };
        let companions = COMPANIONS.iter().map(|ending| beside(path, ending));
        for (file, metadata) in
            companions.filter_map(|file| Some((file.clone(), std::fs::metadata(file).ok()?)))
        {
            if metadata.uid() != database.uid() {
                let (file, own, owner) = (file.display(), metadata.uid(), database.uid());
                let what = format!("{file} belongs to user {own}, and the database to user {owner}");
                findings.problem("permissions", what, format!("run `chown {owner} {file}`"));
            }
            check_private(&file, &metadata, findings);
        }
        for secret in secrets(path, serve) {
            if let Ok(metadata) = std::fs::metadata(&secret) {
                check_private(&secret, &metadata, findings);
            }
        }
        if let Ok(metadata) = std::fs::metadata(folder) {
            if metadata.mode() & WRITE != 0 && metadata.mode() & STICKY == 0 {
                let what = format!("all users of this machine can replace files in {}", folder.display());
                findings.problem("permissions", what, format!("run `chmod o-w {}`", folder.display()));
            }
            // Root leaves files to the owner of the folder.
            if metadata.uid() != database.uid() && metadata.mode() & 0o022 == 0 && database.uid() != 0 {
                let (folder, owner) = (folder.display(), database.uid());
                let what = format!(
                    "the folder {folder} belongs to user {}, and the database to user {owner}, who cannot create files there",
                    metadata.uid()
                );
                findings.problem("permissions", what, format!("run `chown {owner} {folder}`"));
            }
        }
        for place in [path, folder] {
            if let Err(error) = access(place, Access::WRITE_OK) {
                let user = rustix::process::geteuid().as_raw();
                let what = format!("user {user} cannot write {}: {error}", place.display());
                let remedy = format!(
                    "run the server and its commands as user {}, on a disk that is writable",
                    database.uid()
                );
                findings.problem("permissions", what, remedy);
            }
        }
        if findings.is_fine("permissions") {
            findings.ok(
                "permissions",
                format!("the files belong to user {}, and no other user can read them", database.uid()),
            );
        }
    }

    /// The folder that the server writes backups to.
    pub(super) fn check_backup_folder(database: &Path, folder: &Path, findings: &mut Findings) {
        let (Ok(database), Ok(metadata)) = (std::fs::metadata(database), std::fs::metadata(folder)) else {
            return;
        };
        let is_writable =
            metadata.uid() == database.uid() || database.uid() == 0 || metadata.mode() & 0o022 != 0;
        let is_writable = is_writable && access(folder, Access::WRITE_OK).is_ok();
        if !is_writable {
            let (folder, owner) = (folder.display(), database.uid());
            findings.problem(
                "backups",
                format!("user {owner} cannot write to {folder}"),
                format!("run `chown {owner} {folder}`"),
            );
        }
    }

    /// Files and folders with keys, beside the database and elsewhere.
    fn secrets(path: &Path, serve: &Serve) -> Vec<PathBuf> {
        let mut secrets: Vec<PathBuf> = serve.tls.tls_key.iter().cloned().collect();
        secrets.push(beside(path, ".acme"));
        secrets
    }

    fn check_private(file: &Path, metadata: &Metadata, findings: &mut Findings) {
        if metadata.mode() & OTHERS == 0 {
            return;
        }
        let verb = if metadata.mode() & WRITE == 0 { "read" } else { "change" };
        let what = format!("all users of this machine can {verb} {}", file.display());
        findings.problem("permissions", what, format!("run `chmod o-rwx {}`", file.display()));
    }
}
