//! A folder of readable files, which appears under its name when it is complete.

use super::error::Result;
use super::file::unfinished_name;
use super::page::{emoji_file, upload_path};
use crate::domain::emoji;
use crate::domain::files;
use crate::domain::files::blobs::BlobReader;
use crate::domain::files::media_types::is_harmless_in_folder;
use crate::domain::files::names::is_path_id;
use crate::domain::images::public;
use crate::store::{ScratchFolder, private_file};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A folder that is being written.
pub struct Folder {
    path: PathBuf,
    part: ScratchFolder,
}

impl Folder {
    /// Begins a folder that must not exist. Only its owner can read it.
    pub fn begin(path: &Path) -> Result<Self> {
        let (_, part) = unfinished_name(path)?;
        Ok(Self { path: path.to_owned(), part: ScratchFolder::take(part)? })
    }

    /// Creates a file, with the folders above it. `path` is of this program, not of users.
    pub fn create(&self, path: &str) -> Result<BufWriter<File>> {
        let path = self.part.path().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        Ok(BufWriter::new(private_file().create_new(true).open(path)?))
    }

    /// Writes a file.
    pub fn write(&self, path: &str, content: &[u8]) -> Result<()> {
        let mut file = self.create(path)?;
        file.write_all(content)?;
        Ok(file.flush()?)
    }

    /// Writes an uploaded file below `files`.
    fn write_upload(&self, connection: &Connection, path_id: &str) -> Result<bool> {
        // An earlier import may have taken any path from its archive.
        let row = if is_path_id(path_id) { files::by_path_id(connection, path_id)? } else { None };
        let Some(row) = row else { return Ok(false) };
        let mut out = self.create(&upload_name(path_id))?;
        io::copy(&mut BlobReader::new(connection, row.content_id), &mut out)?;
        out.flush()?;
        Ok(true)
    }

    /// Gives the folder its name.
    pub fn finish(self) -> Result<()> {
        Ok(self.part.finish(&self.path)?)
    }
}

/// The path of an uploaded file. One that a browser may show as a page is named as a text: its scripts could read the messages in
/// the folder.
fn upload_name(path_id: &str) -> String {
    let ending = if is_harmless_in_folder(path_id) { "" } else { ".txt" };
    format!("files/{path_id}{ending}")
}

/// The uploaded files and custom emoji that messages of a readable export show.
pub struct Linked {
    uploads: BTreeSet<String>,
    emoji: BTreeSet<String>,
}

impl Linked {
    /// Writes custom emoji, and begins without uploaded files.
    pub fn begin(folder: &Folder, connection: &Connection) -> Result<Self> {
        let mut names = BTreeSet::new();
        for row in emoji::all(connection)? {
            // A backup from elsewhere can have any path here.
            if !is_path_id(&row.file) || !is_harmless_in_folder(&row.file) {
                continue;
            }
            if let Some((_, content)) = public::load(connection, &emoji::image_path(&row.file))? {
                folder.write(&format!("emoji/{}", row.file), &content)?;
                names.insert(row.file);
            }
        }
        Ok(Self { uploads: BTreeSet::new(), emoji: names })
    }

    /// Writes an uploaded file, once.
    pub fn add(&mut self, folder: &Folder, connection: &Connection, path_id: &str) -> Result<()> {
        if !self.uploads.contains(path_id) && folder.write_upload(connection, path_id)? {
            self.uploads.insert(path_id.to_owned());
        }
        Ok(())
    }

    /// The number of uploaded files.
    pub fn count(&self) -> usize {
        self.uploads.len()
    }

    /// The address in the folder of an address of this server; `up` leads from the page to the folder.
    pub fn address(&self, url: &str, up: &str) -> Option<String> {
        if let Some(file) = emoji_file(url) {
            return self.emoji.contains(file).then(|| format!("{up}emoji/{file}"));
        }
        let path = percent_encoding::percent_decode_str(upload_path(url)?).decode_utf8().ok()?;
        let name = upload_name(&path);
        let encoded = percent_encoding::utf8_percent_encode(&name, percent_encoding::NON_ALPHANUMERIC);
        self.uploads.contains(&*path).then(|| format!("{up}{}", encoded.to_string().replace("%2F", "/")))
    }
}
