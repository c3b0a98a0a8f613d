//! The files of the web client.

use crate::app::ClientFiles;
use crate::http::unpacked;
use bytes::Bytes;
use std::path::{Component, Path};

/// Placeholder of the hash in the files.
const HASH_PLACEHOLDER: &str = "/static/HASH/";

/// The hash in the paths of files that are read from a folder. They may change at any time, so nothing caches them.
const FOLDER_HASH: &str = "folder";

/// The files that the build script joins and compresses.
mod embedded {
    /// A file. Text is compressed, other files are not.
    pub struct File {
        /// The path below the folder of the web client.
        pub path: &'static str,
        /// The content, unless it is compressed.
        pub plain: Option<&'static [u8]>,
        /// The content, compressed with gzip.
        pub gzip: Option<&'static [u8]>,
        /// The content, compressed with Brotli.
        pub brotli: Option<&'static [u8]>,
    }

    include!(concat!(env!("OUT_DIR"), "/web_files.rs"));
}

/// A file, as it is served.
pub struct Asset {
    /// The media type.
    pub content_type: &'static str,
    /// True if the content under this path never changes.
    pub is_immutable: bool,
    content: Content,
}

enum Content {
    Embedded(&'static embedded::File),
    InFolder(Bytes),
}

impl Asset {
    /// The content, and its compression.
    pub fn body(&self, accepts_brotli: bool, accepts_gzip: bool) -> (Bytes, Option<&'static str>) {
        let file = match &self.content {
            Content::Embedded(file) => file,
            Content::InFolder(content) => return (content.clone(), None),
        };
        match (file.plain, file.brotli, file.gzip) {
            (Some(plain), ..) => (Bytes::from_static(plain), None),
            (_, Some(brotli), _) if accepts_brotli => (Bytes::from_static(brotli), Some("br")),
            (_, _, Some(gzip)) if accepts_gzip => (Bytes::from_static(gzip), Some("gzip")),
            (_, _, gzip) => (unpacked(gzip.unwrap_or_default()), None),
        }
    }
}

/// Finds the file at `path` of the version with this hash, or of any version.
pub fn find(source: &ClientFiles, hash: Option<&str>, path: &str) -> Option<Asset> {
    let content_type = media_type(path)?;
    match source {
        ClientFiles::Off => None,
        ClientFiles::Embedded => {
            let is_current = hash.is_none_or(|hash| hash == embedded::HASH);
            let file = embedded::FILES.iter().find(|file| is_current && file.path == path)?;
            Some(Asset { content_type, is_immutable: true, content: Content::Embedded(file) })
        }
        ClientFiles::Folder(folder) => {
            let is_plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
            let is_current = hash.is_none_or(|hash| hash == FOLDER_HASH);
            let data = std::fs::read(folder.join(path)).ok().filter(|_| is_plain && is_current)?;
            let content = Content::InFolder(with_hash(&data).unwrap_or_else(|| Bytes::from(data)));
            Some(Asset { content_type, is_immutable: false, content })
        }
    }
}

/// The content of a file in a folder with the hash in its place; `None` if it has no such place.
fn with_hash(data: &[u8]) -> Option<Bytes> {
    let text = std::str::from_utf8(data).ok().filter(|text| text.contains(HASH_PLACEHOLDER))?;
    Some(Bytes::from(text.replace(HASH_PLACEHOLDER, &format!("/static/{FOLDER_HASH}/"))))
}

/// The media type of a served file. Files with other endings, such as notes for developers, are not served.
fn media_type(path: &str) -> Option<&'static str> {
    let (_, ending) = path.rsplit_once('.')?;
    Some(match ending {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        // The other JSON files configure tools.
        "json" if path.starts_with("words/") => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
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
        assert!(found(&embedded, Some(embedded::HASH), "main.js"));
        assert!(!found(&embedded, Some("0123456789abcdef"), "main.js"), "another version");
        assert!(!found(&embedded, None, "js/main.js"), "joined");
        assert!(found(&embedded, Some(embedded::HASH), "words/de.json"));
        assert!(!found(&embedded, None, "README.md"), "not for browsers");
        assert!(!found(&embedded, None, "tsconfig.json"), "not for browsers");
        assert!(!found(&ClientFiles::Off, None, "index.html"));

        let folder = ClientFiles::Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("web"));
        assert!(found(&folder, Some(FOLDER_HASH), "js/main.js"));
        assert!(!found(&folder, None, "../web/js/main.js"), "outside of the folder");
        assert!(!found(&folder, None, "/etc/hosts.css"));
    }

    #[test]
    fn a_page_names_its_files_under_the_hash() {
        let page = find(&ClientFiles::Embedded, None, "index.html").unwrap();
        let (text, coding) = page.body(false, false);
        let text = std::str::from_utf8(&text).unwrap();
        assert_eq!(coding, None);
        assert!(!text.contains("HASH") && text.contains(&format!("/static/{}/main.js", embedded::HASH)));
    }
}
