//! Files: uploads with their thumbnails, avatars, emoji, and the organization's images.

use crate::domain::accounts::avatar::AvatarImage;
use crate::domain::emoji::image::EmojiImage;
use crate::domain::files::blobs;
use crate::domain::files::media_types;
use crate::domain::files::names::stored_name;
use crate::domain::files::thumbnails;
use crate::domain::files::thumbnails::Thumbnails;
use crate::domain::images::decoding::decode;
use crate::domain::images::public;
use crate::domain::images::realm::RealmImage;
use crate::domain::images::scaling::{cover, fit_within, to_png};
use crate::domain::{files, realm};
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::target::Target;
use crate::moving::import::unpack::NO_SPACE;
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of one job, and their bytes.
const MAX_FILES: usize = 100;
const MAX_BYTES: u64 = 32 << 20;

/// The largest image that is decoded, in bytes.
const MAX_IMAGE: u64 = 32 << 20;

/// A file to upload.
#[derive(Debug)]
pub struct NewFile {
    /// The id, if the archive has one.
    pub id: Option<u32>,
    /// The uploader.
    pub owner: u32,
    /// The part of the URL after `/user_uploads/`.
    pub path_id: String,
    /// The name given by the uploader.
    pub name: String,
    /// The media type, if known.
    pub content_type: Option<String>,
    /// UNIX seconds.
    pub create_time: i64,
    /// The file with the content, in the unpacked archive.
    pub path: PathBuf,
}

/// Files that wait for a job.
#[derive(Default)]
pub struct Uploads {
    waiting: Vec<NewFile>,
    bytes: u64,
}

impl Uploads {
    /// Adds a file, and writes those that wait if there are many.
    pub fn add(&mut self, target: &mut Target, file: NewFile) -> ImportResult<()> {
        let file = NewFile { name: stored_name(&file.name), ..file };
        self.bytes += file.path.metadata()?.len();
        // Any number of messages can have the same file, each of which is stored.
        if !target.app.has_space_for(self.bytes) {
            return Err(ImportError::new(NO_SPACE));
        }
        self.waiting.push(file);
        if self.waiting.len() >= MAX_FILES || self.bytes >= MAX_BYTES {
            self.flush(target)?;
        }
        Ok(())
    }

    /// Writes the files that wait.
    pub fn flush(&mut self, target: &mut Target) -> ImportResult<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.bytes = 0;
        let waiting = std::mem::take(&mut self.waiting);
        let stored = target.run(move |tx| {
            let store = |file: NewFile| {
                let content = open(&file.path)?;
                let (content_id, size) = blobs::insert_whole(tx, content)?;
                let content_type = media_types::of_upload(file.content_type.as_deref(), &file.name);
                let head = blobs::head(tx, content_id, media_types::HEAD)?;
                let content_type = media_types::of_content(content_type, &head);
                Ok(Stored { file, content_id, size, content_type })
            };
            waiting.into_iter().map(store).collect::<ImportResult<Vec<_>>>()
        })?;
        let mut made = Vec::with_capacity(stored.len());
        for file in stored {
            let (app, user_id) = (Arc::clone(&target.app), UserId::from(file.file.owner));
            let thumbnails = target.runtime.block_on(async {
                thumbnails::make(&app, user_id, file.content_id, file.size, &file.content_type).await
            })?;
            made.push((file, thumbnails));
        }
        target.run(move |tx| {
            made.iter().try_for_each(|(file, thumbnails)| file.insert(tx, thumbnails.as_ref()))
        })
    }
}

/// A file whose content is stored.
struct Stored {
    file: NewFile,
    content_id: i64,
    size: u64,
    content_type: String,
}

impl Stored {
    fn insert(&self, tx: &Tx<'_>, thumbnails: Option<&Thumbnails>) -> ImportResult<()> {
        let (width, height) = thumbnails.map(|thumbnails| thumbnails.dimensions).unzip();
        let id = tx
            .prepare_cached(
                "INSERT INTO attachment (id, user_id, path_id, name, content_type, size, create_time, content_id, width,
                     height, unclaimed_since)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .insert((
                self.file.id,
                self.file.owner,
                &self.file.path_id,
                &self.file.name,
                thumbnails.map_or(self.content_type.as_str(), |thumbnails| thumbnails.content_type),
                self.size as i64,
                self.file.create_time,
                self.content_id,
                width,
                height,
                tx.now(),
            ))?;
        tx.execute_cached("UPDATE upload_state SET space_used = space_used + ?1", [self.size as i64])?;
        for (format, bytes) in thumbnails.iter().flat_map(|thumbnails| &thumbnails.formats) {
            files::insert_thumbnail(tx, id, format, bytes)?;
        }
        Ok(())
    }
}

/// Reads an image. `None` if it is too large to decode.
fn read_image(path: &Path) -> ImportResult<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    open(path)?.take(MAX_IMAGE + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= MAX_IMAGE))
}

fn open(path: &Path) -> ImportResult<File> {
    File::open(path).map_err(|error| ImportError::in_file(&path.display().to_string(), error))
}

/// Stores an avatar. Returns `false` if the file is no image.
pub fn insert_avatar(target: &mut Target, user: u32, version: i64, file: &Path) -> ImportResult<bool> {
    let image = read_image(file)?.and_then(|bytes| AvatarImage::scale(&bytes).ok());
    let Some(image) = image else { return Ok(false) };
    target.run(move |tx| Ok(image.store_first(tx, user.into(), version)?))?;
    Ok(true)
}

/// A custom emoji.
#[derive(Debug)]
pub struct NewEmoji {
    /// The id, if the archive has one.
    pub id: Option<u32>,
    pub name: String,
    /// The user who added it.
    pub author: Option<u32>,
    /// True if it can no longer be used.
    pub deactivated: bool,
    /// The name of the image's file in the archive, which links to the image have.
    pub file: Option<String>,
}

/// The name of a file without its ending, if it is made of letters, digits, `-` and `_`.
fn plain_stem(file: &str) -> Option<&str> {
    let (stem, _) = file.rsplit_once('.')?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (!stem.is_empty() && stem.len() <= 64 && stem.bytes().all(is_plain)).then_some(stem)
}

/// Stores an emoji. Returns `false` if the file is no image.
pub fn insert_emoji(target: &mut Target, emoji: NewEmoji, file: &Path) -> ImportResult<bool> {
    let image = read_image(file)?.and_then(|bytes| EmojiImage::scale(&bytes).ok());
    let Some(image) = image else { return Ok(false) };
    target.run(move |tx| {
        let file = match emoji.file.as_deref().and_then(plain_stem) {
            Some(stem) => image.store_as(tx, stem)?,
            None => image.store(tx)?,
        };
        tx.execute_cached(
            "INSERT INTO realm_emoji (id, name, file, is_animated, author_id, deactivated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (emoji.id, &emoji.name, file, image.is_animated(), emoji.author, emoji.deactivated),
        )?;
        Ok(true)
    })
}

/// Stores an image of the organization. Returns `false` if the file is no image.
pub fn insert_realm_image(target: &mut Target, kind: RealmImage, file: &Path) -> ImportResult<bool> {
    let Some(bytes) = read_image(file)? else { return Ok(false) };
    let scaled = decode(&bytes).and_then(|decoded| {
        let picture = match kind {
            RealmImage::Icon => cover(&decoded.picture, 100, 100)?,
            RealmImage::Logo | RealmImage::NightLogo => fit_within(&decoded.picture, 800, 100)?,
        };
        Ok(to_png(&picture)?)
    });
    let Ok(image) = scaled else { return Ok(false) };
    target.run(move |tx| {
        public::store(tx, &kind.path(), "image/png", &image)?;
        realm::settings::set(tx, &kind.source(), &"U".into())?;
        Ok(true)
    })
}
