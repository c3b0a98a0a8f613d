//! Media types of uploaded files, and which of them browsers may show.

/// Media types by file extension. Scripts have none: they are served as unknown, so that no page of this server's origin
/// runs an upload even if it names one.
const BY_ENDING: &[(&str, &str)] = &[
    ("7z", "application/x-7z-compressed"),
    ("aac", "audio/aac"),
    ("apng", "image/apng"),
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("epub", "application/epub+zip"),
    ("flac", "audio/flac"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("heic", "image/heic"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ics", "text/calendar"),
    ("jpe", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("log", "text/plain"),
    ("m4a", "audio/mp4"),
    ("md", "text/markdown"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("oga", "audio/ogg"),
    ("ogg", "audio/ogg"),
    ("opus", "audio/ogg"),
    ("patch", "text/plain"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("ppt", "application/vnd.ms-powerpoint"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("rtf", "application/rtf"),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("weba", "audio/webm"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
    ("zip", "application/zip"),
];

/// Types that browsers may show: none of them can run scripts on the server's origin.
const SHOWN: &[&str] = &[
    "application/pdf",
    "audio/aac",
    "audio/flac",
    "audio/mp4",
    "audio/mpeg",
    "audio/ogg",
    "audio/wav",
    "audio/webm",
    "image/apng",
    "image/avif",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/plain",
    "video/mp4",
    "video/webm",
];

/// The type of files of unknown type.
const UNKNOWN: &str = "application/octet-stream";

/// The longest media type that is stored, in bytes; the longest registered one has 100.
const MAX_LENGTH: usize = 127;

/// The type of an uploaded file: the client's, or else by the extension.
pub fn of_upload(given: Option<&str>, name: &str) -> String {
    let given = given.map(essence).filter(|given| given.len() <= MAX_LENGTH && given != UNKNOWN);
    given.unwrap_or_else(|| by_ending(name).to_owned())
}

/// The `Content-Type` for a file, and whether browsers may show it rather than save it. Unknown types, which can be any
/// text of the client, are never sent.
pub fn served(content_type: &str) -> (&'static str, bool) {
    if content_type == "text/plain" {
        return ("text/plain; charset=utf-8", true);
    }
    if let Some(shown) = SHOWN.iter().find(|shown| **shown == content_type) {
        return (shown, true);
    }
    let known = BY_ENDING.iter().map(|(_, known)| *known).find(|known| *known == content_type);
    (known.unwrap_or(UNKNOWN), false)
}

fn by_ending(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let known = ending.and_then(|ending| BY_ENDING.iter().find(|(known, _)| *known == ending));
    known.map_or(UNKNOWN, |(_, content_type)| content_type)
}

/// A media type without its parameters.
fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_the_clients_or_the_endings() {
        let cases = [
            (Some("image/PNG"), "x", "image/png"),
            (Some("text/plain; charset=latin1"), "x.html", "text/plain"),
            (Some("application/octet-stream"), "x.JPG", "image/jpeg"),
            (None, "archive.tar.gz", "application/gzip"),
            (None, "none", UNKNOWN),
            (Some("application/octet-stream"), "none", UNKNOWN),
        ];
        for (given, name, expected) in cases {
            assert_eq!(of_upload(given, name), expected, "{given:?} {name}");
        }
    }

    #[test]
    fn scripts_are_served_as_attachments() {
        let cases = [
            ("image/png", ("image/png", true)),
            ("text/plain", ("text/plain; charset=utf-8", true)),
            ("application/pdf", ("application/pdf", true)),
            ("text/html", ("text/html", false)),
            ("image/svg+xml", ("image/svg+xml", false)),
            ("application/x-shockwave-flash", (UNKNOWN, false)),
            ("made/up", (UNKNOWN, false)),
            ("text/javascript", (UNKNOWN, false)),
            ("application/javascript", (UNKNOWN, false)),
        ];
        for (content_type, expected) in cases {
            assert_eq!(served(content_type), expected, "{content_type}");
        }
    }

    #[test]
    fn endings_are_sorted_and_shown_types_are_known() {
        assert!(BY_ENDING.is_sorted());
        for shown in SHOWN {
            assert!(BY_ENDING.iter().any(|(_, known)| known == shown), "{shown}");
        }
    }
}
