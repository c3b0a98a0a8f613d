//! The files of the web client.

use crate::app::ClientFiles;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Component, Path};
use std::sync::{LazyLock, OnceLock};

/// What stands in the files where the hash belongs.
const HASH_PLACEHOLDER: &str = "/static/HASH/";

/// The hash in the paths of files that are read from a folder. They may change at any time, so nothing caches them.
const FOLDER_HASH: &str = "folder";

#[derive(RustEmbed)]
#[folder = "web/"]
struct Embedded;

/// A file, as it is served.
pub struct Asset {
    /// The media type.
    pub content_type: &'static str,
    /// The content.
    pub body: Bytes,
    /// The content compressed with gzip, when somebody asked for it.
    packed: OnceLock<Bytes>,
}

impl Asset {
    fn new(content_type: &'static str, body: Bytes) -> Self {
        Self { content_type, body, packed: OnceLock::new() }
    }

    /// The content compressed with gzip.
    pub fn packed(&self) -> Bytes {
        let pack = || {
            let mut encoder = GzEncoder::new(Vec::with_capacity(self.body.len() / 3), Compression::best());
            // Writing to memory does not fail; a stream that is cut short would be refused by the browser.
            let packed = encoder.write_all(&self.body).and_then(|()| encoder.finish());
            packed.map(Bytes::from).unwrap_or_default()
        };
        self.packed.get_or_init(pack).clone()
    }
}

/// The embedded files, by path.
struct Bundle {
    hash: String,
    files: HashMap<String, Asset>,
}

static BUNDLE: LazyLock<Bundle> = LazyLock::new(Bundle::new);

impl Bundle {
    fn new() -> Self {
        let mut names: Vec<Cow<'static, str>> = Embedded::iter().collect();
        names.sort_unstable();
        let mut digest = Sha256::new();
        let mut found = Vec::new();
        for name in names {
            let (Some(content_type), Some(file)) = (media_type(&name), Embedded::get(&name)) else {
                continue;
            };
            digest.update(name.as_bytes());
            digest.update(file.metadata.sha256_hash());
            found.push((name, content_type, file.data));
        }
        let hash = URL_SAFE_NO_PAD.encode(digest.finalize().iter().take(9).copied().collect::<Vec<u8>>());
        let assets = found.into_iter().map(|(name, content_type, data)| {
            let body = match with_hash(&data, &hash) {
                Some(body) => body,
                None => match data {
                    Cow::Borrowed(data) => Bytes::from_static(data),
                    Cow::Owned(data) => Bytes::from(data),
                },
            };
            (name.into_owned(), Asset::new(content_type, body))
        });
        Self { files: assets.collect(), hash }
    }
}

/// A file that was found.
pub enum Found {
    /// One of the program's own.
    Embedded(&'static Asset),
    /// One from a folder.
    InFolder(Asset),
}

impl Found {
    /// The file.
    pub fn asset(&self) -> &Asset {
        match self {
            Self::Embedded(asset) => asset,
            Self::InFolder(asset) => asset,
        }
    }

    /// Whether the content under this path never changes.
    pub fn is_immutable(&self) -> bool {
        matches!(self, Self::Embedded(_))
    }
}

/// Finds the file at `path` of the version with this hash, or of any version.
pub fn find(source: &ClientFiles, hash: Option<&str>, path: &str) -> Option<Found> {
    match source {
        ClientFiles::Off => None,
        ClientFiles::Embedded => {
            let is_current = hash.is_none_or(|hash| hash == BUNDLE.hash);
            BUNDLE.files.get(path).filter(|_| is_current).map(Found::Embedded)
        }
        ClientFiles::Folder(folder) => {
            let is_plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
            let content_type = media_type(path)?;
            let is_current = hash.is_none_or(|hash| hash == FOLDER_HASH);
            let data = std::fs::read(folder.join(path)).ok().filter(|_| is_plain && is_current)?;
            let body = with_hash(&data, FOLDER_HASH).unwrap_or_else(|| Bytes::from(data));
            Some(Found::InFolder(Asset::new(content_type, body)))
        }
    }
}

/// The content with the hash in its place; `None` if it has no such place.
fn with_hash(data: &[u8], hash: &str) -> Option<Bytes> {
    let text = std::str::from_utf8(data).ok().filter(|text| text.contains(HASH_PLACEHOLDER))?;
    Some(Bytes::from(text.replace(HASH_PLACEHOLDER, &format!("/static/{hash}/"))))
}

/// The media type of a served file. Files with other endings, such as notes for developers, are not served.
fn media_type(path: &str) -> Option<&'static str> {
    let (_, ending) = path.rsplit_once('.')?;
    Some(match ending {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webmanifest" => "application/manifest+json",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_under_their_hash_and_nothing_else_is() {
        let found = |source: &ClientFiles, hash: Option<&str>, path: &str| find(source, hash, path).is_some();
        let embedded = ClientFiles::Embedded;
        assert!(found(&embedded, Some(&BUNDLE.hash), "js/main.js"));
        assert!(!found(&embedded, Some("0123456789abcdef"), "js/main.js"), "another version");
        assert!(!found(&embedded, None, "README.md"), "not for browsers");
        assert!(!found(&ClientFiles::Off, None, "index.html"));

        let folder = ClientFiles::Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("web"));
        assert!(found(&folder, Some(FOLDER_HASH), "js/main.js"));
        assert!(!found(&folder, None, "../web/js/main.js"), "outside of the folder");
        assert!(!found(&folder, None, "/etc/hosts.css"));
    }

    #[test]
    fn a_page_names_its_files_under_the_hash() {
        let page = find(&ClientFiles::Embedded, None, "index.html").unwrap();
        let text = std::str::from_utf8(&page.asset().body).unwrap();
        assert!(!text.contains("HASH") && text.contains(&format!("/static/{}/js/main.js", BUNDLE.hash)));
    }
}
