//! Making a backup: a copy of one snapshot, checked, compressed, and read back.

use crate::domain::backups::archive::{self, ArchiveWriter, Identities, PIECE, Recipients, read_pieces};
use crate::domain::backups::scratch::Scratch;
use crate::domain::backups::{BackupError, Contents, Progress, Stage};
use crate::store::{Database, beside, free_space, sync_folder};
use crate::types::{Hashing, hex};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Pieces after which what was written goes to the disk, so that no other work waits for all of it at once.
const PIECES_PER_SYNC: u64 = 8;

/// The space that a backup leaves on its disk, in bytes.
pub(super) const RESERVE: u64 = 256 << 20;

/// The ending of the name of a copy that is being made, and of an archive.
const COPY: &str = ".copy";
const PARTIAL: &str = ".partial";

/// A backup to be made.
pub struct Request<'r> {
    /// The database, which a server may have open.
    pub database: &'r Path,
    /// The destination.
    pub target: Target<'r>,
    /// The keys that can read it.
    pub recipients: &'r Recipients,
    /// True if a server is running, which is not to be slowed down.
    pub is_gentle: bool,
}

/// The destination of a backup.
pub enum Target<'t> {
    /// A new file.
    File(&'t Path),
    /// A stream, such as standard output. It cannot be read back.
    Stream(&'t mut (dyn Write + Send)),
}

/// A backup that was made.
#[derive(Clone, Debug, Serialize)]
pub struct Backup {
    /// The file; `None` for a stream.
    pub path: Option<PathBuf>,
    /// Its size, in bytes.
    pub bytes: u64,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// True if it is encrypted.
    pub encrypted: bool,
    /// The size and counts of the database in it.
    #[serde(flatten)]
    pub contents: Contents,
    /// The first difference to the schema of this program, because of which a restore refuses it.
    pub schema_difference: Option<String>,
}

/// Makes a backup. If it fails, nothing is left of it.
pub fn create(request: Request<'_>, progress: &mut Progress<'_>) -> Result<Backup, BackupError> {
    let beside_target = match &request.target {
        Target::File(path) => path,
        // The system's directory for temporary files may be in memory.
        Target::Stream(_) => request.database,
    };
    if let Target::File(path) = &request.target
        && path.symlink_metadata().is_ok()
    {
        return Err(BackupError::Exists((*path).to_owned()));
    }
    Database::check_exists(request.database)?;
    if let Some(folder) = beside_target.parent().filter(|folder| !folder.as_os_str().is_empty())
        && !folder.is_dir()
    {
        return Err(BackupError::NoFolder(folder.to_owned()));
    }
    check_space(beside_target, request.database)?;
    let copy = Scratch::new(beside(beside_target, COPY))?;
    let mut report = |done, total| match progress.report(Stage::Copy, done, total) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    let copied = Database::copy_file(request.database, copy.path(), request.is_gentle, &mut report);
    progress.report(Stage::Copy, 1, 1)?;
    copied?;
    let (contents, schema_difference) = Contents::examine(copy.path(), request.database, false, progress)?;
    let (bytes, sha256, path) = match request.target {
        Target::Stream(out) => {
            let name = Path::new("standard output");
            let written = write_archive(&copy, out, name, None, &contents, request.recipients, progress)?;
            (written.bytes, written.sha256, None)
        }
        Target::File(path) => {
            let archive = Scratch::new(beside(path, PARTIAL))?;
            let failed = |error: std::io::Error| BackupError::file(path, error);
            let mut file = archive.create()?;
            let sync = file.try_clone().map_err(failed)?;
            let written =
                write_archive(&copy, &mut file, path, Some(sync), &contents, request.recipients, progress)?;
            file.sync_all().map_err(failed)?;
            forget_cached(&file);
            verify(&mut file, path, &written, request.recipients.is_empty(), progress)?;
            archive.finish(path)?;
            sync_folder(path).map_err(failed)?;
            (written.bytes, written.sha256, Some(path.to_owned()))
        }
    };
    let encrypted = !request.recipients.is_empty();
    Ok(Backup { path, bytes, sha256: hex(&sha256), encrypted, contents, schema_difference })
}

/// Returns the free space that a backup of a database needs while it is made, in bytes.
pub fn space_needed(database: &Path) -> u64 {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let database = size(database) + size(&beside(database, "-wal"));
    // The copy, and an archive that may be half of it.
    database + database / 2 + RESERVE
}

/// Refuses a backup that would fill the disk, which may be the one that the server writes to.
fn check_space(target: &Path, database: &Path) -> Result<(), BackupError> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let needed = space_needed(database);
    match free_space(folder) {
        Some(free) if free < needed => {
            Err(BackupError::NoSpace { path: folder.to_owned(), free: free >> 20, needed: needed >> 20 })
        }
        _ => Ok(()),
    }
}

/// An archive that was written.
struct Written {
    bytes: u64,
    /// Of the archive.
    sha256: [u8; 32],
    /// Of the database in it.
    content: [u8; 32],
    /// The size of the database in it.
    length: u64,
}

/// Compresses the copy to `out`, which is called `name` in errors.
fn write_archive(
    copy: &Scratch,
    out: &mut dyn Write,
    name: &Path,
    sync: Option<File>,
    contents: &Contents,
    recipients: &Recipients,
    progress: &mut Progress<'_>,
) -> Result<Written, BackupError> {
    let failed = |error: std::io::Error| BackupError::file(name, error);
    let unread = |error: std::io::Error| BackupError::file(copy.path(), error);
    let length = contents.database_bytes;
    let input = File::open(copy.path()).map_err(unread)?;
    let hashed = Hashing::new(BufWriter::with_capacity(PIECE, out));
    let mut archive = ArchiveWriter::new(hashed, recipients, length).map_err(failed)?;
    let mut hash = Sha256::new();
    let (mut done, mut pieces) = (0, 0);
    read_pieces(input, unread, |piece| {
        hash.update(piece);
        archive.write_all(piece).map_err(failed)?;
        done += piece.len() as u64;
        pieces += 1;
        if pieces % PIECES_PER_SYNC == 0
            && let Some(file) = &sync
        {
            file.sync_data().map_err(failed)?;
        }
        progress.report(Stage::Archive, done, length)
    })?;
    let mut hashed = archive.finish().map_err(failed)?;
    hashed.flush().map_err(failed)?;
    let (_, sha256, bytes) = hashed.finish();
    Ok(Written { bytes, sha256, content: hash.finalize().into(), length })
}

/// Reads the archive again and compares it; if it is not encrypted, also the database in it.
fn verify(
    file: &mut File,
    name: &Path,
    written: &Written,
    is_readable: bool,
    progress: &mut Progress<'_>,
) -> Result<(), BackupError> {
    let failed = |error: std::io::Error| BackupError::file(name, error);
    file.rewind().map_err(failed)?;
    let mut input = Hashing::new(std::io::sink());
    let raw = BufReader::with_capacity(PIECE, Tee { file, to: &mut input });
    let mut content = Sha256::new();
    let (total, reader): (u64, Box<dyn Read + '_>) = if is_readable {
        (written.length, archive::read(raw, name, &Identities::default())?)
    } else {
        (written.bytes, Box::new(raw))
    };
    let mut done = 0;
    let unread = |error: std::io::Error| BackupError::damaged(name, error);
    read_pieces(reader, unread, |piece| {
        content.update(piece);
        done += piece.len() as u64;
        progress.report(Stage::Verify, done, total)
    })?;
    let content: [u8; 32] = content.finalize().into();
    let (_, sha256, _) = input.finish();
    let expected = if is_readable { written.content } else { written.sha256 };
    if content != expected || sha256 != written.sha256 {
        return Err(BackupError::damaged(
            name,
            "what was read back is not what was written; the disk is failing",
        ));
    }
    Ok(())
}

/// Has the system read a file from the disk the next time.
fn forget_cached(file: &File) {
    #[cfg(target_os = "linux")]
    {
        // Without it, memory is compared with itself.
        let _kept = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
    }
    #[cfg(not(target_os = "linux"))]
    let _unused = file;
}

/// Writes what is read to somewhere else too.
struct Tee<'t, W> {
    file: &'t mut File,
    to: &'t mut W,
}

impl<W: Write> Read for Tee<'_, W> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(bytes)?;
        self.to.write_all(&bytes[..read])?;
        Ok(read)
    }
}
