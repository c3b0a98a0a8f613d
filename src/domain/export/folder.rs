//! A folder of readable files, which appears under its name when it is complete.

use super::error::Result;
use super::file::unfinished_name;
use super::page::{emoji_file, upload_path};
use crate::domain::emoji;
use crate::domain::files;
use crate::domain::files::blobs::BlobReader;
use crate::domain::files::media_types::is_harmless_in_folder;
use crate::domain::files::names::{is_path_id, short_name};
use crate::domain::images::public;
use crate::store::{ScratchFolder, private_file};
use rusqlite::Connection;
use std::collections::BTreeMap;
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

    /// Writes an uploaded file, and returns its path. A file that a browser may show as a page is named as a text: its scripts
    /// could read the messages in the folder.
    fn write_upload(&self, connection: &Connection, path_id: &str) -> Result<Option<String>> {
        // An earlier import may have taken any path from its archive.
        let row = if is_path_id(path_id) { files::by_path_id(connection, path_id)? } else { None };
        let Some(row) = row else { return Ok(None) };
        let ending = if is_harmless_in_folder(path_id) { "" } else { ".txt" };
        let own = format!("files/{path_id}{ending}");
        let (path, mut out) = match self.create(&own) {
            Ok(out) => (own, out),
            // The name is too long for the file system, or another file is in its place.
            Err(_) => {
                // Beside `files`, which may have any path of a backup from elsewhere.
                let other = format!("renamed/{}{ending}", short_name(row.id, path_id));
                let out = self.create(&other)?;
                (other, out)
            }
        };
        io::copy(&mut BlobReader::new(connection, row.content_id), &mut out)?;
        out.flush()?;
        Ok(Some(path))
    }

    /// Gives the folder its name.
    pub fn finish(self) -> Result<()> {
        Ok(self.part.finish(&self.path)?)
    }
}

/// The uploaded files and custom emoji that messages of a readable export show, by path id and by file, with their paths in the
/// folder.
pub struct Linked {
    uploads: BTreeMap<String, String>,
    emoji: BTreeMap<String, String>,
}

impl Linked {
    /// Writes custom emoji, and begins without uploaded files.
    pub fn begin(folder: &Folder, connection: &Connection) -> Result<Self> {
        let mut paths = BTreeMap::new();
        for row in emoji::all(connection)? {
            // A backup from elsewhere can have any path here, of which only a known ending is used.
            let ending = row.file.rsplit_once('.').filter(|_| is_harmless_in_folder(&row.file));
            let Some((_, ending)) = ending else { continue };
            if let Some((_, content)) = public::load(connection, &emoji::image_path(&row.file))? {
                let path = format!("emoji/{}.{ending}", row.id);
                folder.write(&path, &content)?;
                paths.insert(row.file, path);
            }
        }
        Ok(Self { uploads: BTreeMap::new(), emoji: paths })
    }

    /// Writes an uploaded file, once.
    pub fn add(&mut self, folder: &Folder, connection: &Connection, path_id: &str) -> Result<()> {
        if !self.uploads.contains_key(path_id)
            && let Some(path) = folder.write_upload(connection, path_id)?
        {
            self.uploads.insert(path_id.to_owned(), path);
        }
        Ok(())
    }

    /// Writes the uploaded files to which a message links.
    pub fn add_of_message(
        &mut self,
        folder: &Folder,
        connection: &Connection,
        message_id: i64,
    ) -> Result<()> {
        let mut statement = connection.prepare_cached(
            "SELECT path_id FROM attachment_message JOIN attachment ON id = attachment_id WHERE message_id = ?1",
        )?;
        let mut paths = statement.query([message_id])?;
        while let Some(row) = paths.next()? {
            self.add(folder, connection, &row.get::<_, String>(0)?)?;
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
            return self.emoji.get(file).map(|path| format!("{up}{path}"));
        }
        let path_id = percent_encoding::percent_decode_str(upload_path(url)?).decode_utf8().ok()?;
        let path = self.uploads.get(&*path_id)?;
        let encoded = percent_encoding::utf8_percent_encode(path, percent_encoding::NON_ALPHANUMERIC);
        Some(format!("{up}{}", encoded.to_string().replace("%2F", "/")))
    }
}
