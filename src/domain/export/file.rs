//! An archive as a file, which appears under its name when it is complete.

use super::error::Result;
use super::report::Progress;
use super::report::Written;
use super::scope::Mode;
use super::write_archive;
use crate::store::{ScratchFolder, name_finished, private_file};
use rusqlite::Connection;
use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};

/// The ending of names of archives.
pub const ENDING: &str = ".tar.gz";

/// The longest name of the folder in an archive, in bytes: paths of members have room for 100.
const MAX_FOLDER: usize = 64;

/// A written archive.
#[derive(Clone, Debug, Serialize)]
pub struct ArchiveFile {
    /// The path of the complete file.
    pub path: PathBuf,
    /// The size, the digest and the contents.
    #[serde(flatten)]
    pub written: Written,
}

/// Writes an archive of a snapshot to a file that must not exist. Only the owner can read it.
pub fn write_file(
    connection: &Connection,
    mode: Mode,
    path: &Path,
    now: i64,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<ArchiveFile> {
    let (name, part) = unfinished_name(path)?;
    let folder = name.strip_suffix(ENDING).filter(|name| !name.is_empty()).unwrap_or("zulip-export");
    let folder = &folder[..folder.floor_char_boundary(MAX_FOLDER)];
    // Locked, so that no other export to this path writes to the same file, and removed with what a killed one left.
    let scratch = ScratchFolder::take(part)?;
    let unfinished = scratch.path().join("archive");
    let file = private_file().create_new(true).open(&unfinished)?;
    let out = BufWriter::with_capacity(256 * 1024, file);
    let (out, written) = write_archive(connection, mode, folder, now, out, progress)?;
    let file: File = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    name_finished(&unfinished, path)?;
    Ok(ArchiveFile { path: path.to_owned(), written })
}

/// Returns the name of a file or folder that must not exist, and the path under which it is written.
pub(super) fn unfinished_name(path: &Path) -> Result<(String, PathBuf)> {
    if fs::symlink_metadata(path).is_ok() {
        let exists =
            io::Error::new(ErrorKind::AlreadyExists, format!("{} exists; name another file", path.display()));
        return Err(exists.into());
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let part = path.with_file_name(format!("{name}.part"));
    Ok((name, part))
}
