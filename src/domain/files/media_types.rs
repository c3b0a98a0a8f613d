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
    ("heics", "image/heic-sequence"),
    ("heif", "image/heif"),
    ("heifs", "image/heif-sequence"),
    ("hif", "image/heif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ics", "text/calendar"),
    ("jp2", "image/jp2"),
    ("jpe", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("jxl", "image/jxl"),
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

/// Images by their first bytes. Those with brands are in [`of_brands`].
const BY_BEGINNING: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\xff\x0a", "image/jxl"),
    (b"\0\0\0\x0cJXL \r\n\x87\n", "image/jxl"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "image/jp2"),
];

/// The number of first bytes that [`of_content`] needs.
pub const HEAD: usize = 256;

/// The type of files of unknown type.
const UNKNOWN: &str = "application/octet-stream";

/// The longest media type that is stored, in bytes; the longest registered one has 100.
const MAX_LENGTH: usize = 127;

/// The type of an uploaded file: the client's, or else by the extension.
pub fn of_upload(given: Option<&str>, name: &str) -> String {
    let given = given.map(essence).filter(|given| given.len() <= MAX_LENGTH && given != UNKNOWN);
    given.unwrap_or_else(|| by_ending(name).to_owned())
}

/// The type of a file, by its name and by its first bytes: an image, video or sound of a known type that has the bytes of another
/// kind of image is that, since browsers cannot show it as what it is called.
pub fn of_content(content_type: String, head: &[u8]) -> String {
    let is_medium = ["image/", "video/", "audio/"].iter().any(|kind| content_type.starts_with(kind));
    let is_known = is_medium && served(&content_type).0 != UNKNOWN;
    of_image(head).filter(|_| is_known).map_or(content_type, str::to_owned)
}

/// The type of an image by its first bytes.
fn of_image(head: &[u8]) -> Option<&'static str> {
    let known = BY_BEGINNING.iter().find(|(beginning, _)| head.starts_with(beginning));
    known.map(|(_, content_type)| *content_type).or_else(|| match head {
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some("image/bmp"),
        _ => of_brands(head),
    })
}

/// The type of an image in a container that videos have too, by the brands of its first box.
fn of_brands(head: &[u8]) -> Option<&'static str> {
    let length = u32::from_be_bytes(head.get(..4)?.try_into().ok()?) as usize;
    let first_box = &head[..length.min(head.len())];
    if first_box.get(4..8)? != b"ftyp" {
        return None;
    }
    let of_brand = |brand: &[u8]| match brand {
        b"avif" | b"avis" => Some("image/avif"),
        b"heic" | b"heix" | b"heim" | b"heis" => Some("image/heic"),
        b"hevc" | b"hevx" | b"hevm" | b"hevs" => Some("image/heic-sequence"),
        _ => None,
    };
    let major = first_box.get(8..12)?;
    let of_any_image = match major {
        b"mif1" | b"miaf" | b"heif" => "image/heif",
        b"msf1" => "image/heif-sequence",
        _ => return of_brand(major),
    };
    // After the version.
    let mut compatible = first_box.get(16..).unwrap_or_default().chunks_exact(4);
    Some(compatible.find_map(of_brand).unwrap_or(of_any_image))
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

/// True if a browser that opens a file from a folder runs no scripts in it, by its name. It may show names that are not known
/// as pages, too.
pub fn is_harmless_in_folder(name: &str) -> bool {
    !["text/html", "image/svg+xml", "application/xml", UNKNOWN].contains(&by_ending(name))
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
            (None, "photo.HEIF", "image/heif"),
            (None, "none", UNKNOWN),
            (Some("application/octet-stream"), "none", UNKNOWN),
        ];
        for (given, name, expected) in cases {
            assert_eq!(of_upload(given, name), expected, "{given:?} {name}");
        }
    }

    #[test]
    fn a_medium_with_the_bytes_of_another_image_is_that() {
        let heic = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic";
        let cases: [(&str, &[u8], &str); 24] = [
            ("image/jpeg", heic, "image/heic"),
            ("video/mp4", heic, "image/heic"),
            ("text/plain", heic, "text/plain"),
            ("image/x-nikon-nef", b"MM\0*", "image/x-nikon-nef"),
            ("image/png", b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic", "image/heic"),
            ("image/png", b"\0\0\0\x18ftypmif1\0\0\0\0mif1avif", "image/avif"),
            ("image/png", b"\0\0\0\x14ftypmif1\0\0\0\0mif1avif", "image/heif"),
            ("image/png", b"\0\0\0\x14ftypmsf1\0\0\0\0msf1", "image/heif-sequence"),
            ("image/png", b"\0\0\0\x14ftypmsf1\0\0\0\0hevc", "image/heic-sequence"),
            ("image/jpeg", b"\0\0\0\x14ftypavif\0\0\0\0mif1", "image/avif"),
            ("video/mp4", b"\0\0\0\x14ftypisom\0\0\0\0avif", "video/mp4"),
            ("image/jpeg", b"II*\0", "image/tiff"),
            ("image/jpeg", b"MM\0*", "image/tiff"),
            ("image/jpeg", b"\x89PNG\r\n\x1a\n", "image/png"),
            ("image/heic", b"\xff\xd8\xff\xe0", "image/jpeg"),
            ("image/jpeg", b"GIF89a", "image/gif"),
            ("image/jpeg", b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
            ("audio/wav", b"RIFF\x10\0\0\0WAVEfmt ", "audio/wav"),
            ("image/jpeg", b"BM\x10\0\0\0\0\0\0\0", "image/bmp"),
            ("image/jpeg", b"\xff\x0a", "image/jxl"),
            ("image/png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/png"),
            ("image/png", b"", "image/png"),
            ("image/png", b"\0\0\0\0ftyp", "image/png"),
            ("image/png", b"\xff\xff\xff\xffftypmif1", "image/heif"),
        ];
        for (claimed, head, expected) in cases {
            assert_eq!(of_content(claimed.to_owned(), head), expected, "{claimed} {head:?}");
        }
        for (_, content_type) in BY_BEGINNING {
            assert!(BY_ENDING.iter().any(|(_, known)| known == content_type), "{content_type}");
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
            ("image/avif", ("image/avif", true)),
            ("image/heic", ("image/heic", false)),
            ("image/heif", ("image/heif", false)),
            ("image/tiff", ("image/tiff", false)),
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
    fn pages_are_not_harmless_in_folders() {
        for (name, expected) in [
            ("a/map.png", true),
            ("list.TXT", true),
            ("notes.html.zip", true),
            ("report.html", false),
            ("report.HTM", false),
            ("drawing.svg", false),
            ("feed.xml", false),
            ("page.xhtml", false),
            ("feed.atom", false),
            ("report", false),
            ("png", false),
            ("report.html ", false),
        ] {
            assert_eq!(is_harmless_in_folder(name), expected, "{name}");
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
