//! Names of uploaded files, for display and in URLs.

use crate::types::is_unprintable;
use rand::RngExt;
use rand::distr::Alphanumeric;
use unicode_normalization::UnicodeNormalization;

/// The longest stored name, in characters. Longer names lose their beginning, so that they keep the extension.
const MAX_LENGTH: usize = 255;

/// The longest name in a URL, in characters.
const MAX_PATH_LENGTH: usize = 100;

/// The longest part of a path in exports, in bytes. File systems allow 255, with the endings that exports add.
const MAX_PART_LENGTH: usize = 240;

/// The most characters of its name that a renamed file keeps, in exports.
const KEPT_LENGTH: usize = 50;

/// The name of files whose own name has no usable characters.
const NAMELESS: &str = "uploaded-file";

/// The number of random characters in a path id, so that it cannot be guessed.
const SECRET_LENGTH: usize = 24;

/// The client's name of a file without folders and control characters, and without characters that change the direction of
/// the text: they would hide the extension.
pub fn stored_name(given: &str) -> String {
    let own = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = own.chars().filter(|c| !is_unprintable(*c)).collect();
    let name = last_characters(clean.trim(), MAX_LENGTH);
    if name.is_empty() { NAMELESS.to_owned() } else { name.to_owned() }
}

/// The name of a file in its URL: letters, digits, dots, underscores and hyphens. White space becomes a hyphen.
fn path_name(name: &str) -> String {
    let mut safe = String::new();
    for character in name.nfkc() {
        match character {
            '-' if safe.ends_with('-') => {}
            c if c.is_whitespace() && safe.ends_with('-') => {}
            c if c.is_whitespace() => safe.push('-'),
            c if c.is_alphanumeric() || matches!(c, '_' | '.' | '-') => safe.push(c),
            _ => {}
        }
    }
    let safe = last_characters(safe.trim_matches('-'), MAX_PATH_LENGTH);
    if safe.chars().all(|c| c == '.') { NAMELESS.to_owned() } else { safe.to_owned() }
}

/// Generates a path id: `{realm_id}/{two digits}/{secret}/{name}`.
pub fn new_path_id(realm_id: i64, name: &str) -> String {
    let folder: u8 = rand::rng().random();
    let secret: String = rand::rng().sample_iter(Alphanumeric).take(SECRET_LENGTH).map(char::from).collect();
    format!("{realm_id}/{folder:02x}/{secret}/{}", path_name(name))
}

/// True if a path id names a file below the folder of uploads, and nothing outside of it.
pub fn is_path_id(path_id: &str) -> bool {
    path_id.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path_id.contains('\0')
}

/// True if the path is short enough for file systems.
pub fn is_short(path_id: &str) -> bool {
    path_id.split('/').all(|part| part.len() <= MAX_PART_LENGTH)
}

/// A name for a file whose path cannot be that of a file: its id, and the end of its name, with the extension.
pub fn short_name(id: i64, path_id: &str) -> String {
    let name = path_id.rsplit('/').next().unwrap_or_default();
    format!("{id}-{}", last_characters(name, KEPT_LENGTH))
}

fn last_characters(text: &str, count: usize) -> &str {
    let skipped = text.chars().count().saturating_sub(count);
    text.char_indices().nth(skipped).map_or("", |(at, _)| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_addresses_as_letters_digits_and_few_signs() {
        let cases = [
            ("zulip.txt", "zulip.txt"),
            ("my  holiday - 2026.tar.gz", "my-holiday-2026.tar.gz"),
            ("café (1).png", "café-1.png"),
            ("cafe\u{301}.png", "café.png"),
            ("ﬁle №5", "file-No5"),
            ("日本語.txt", "日本語.txt"),
            ("<script>alert('x')</script>.html", "scriptalertxscript.html"),
            ("a\u{202e}b\u{0}c.txt", "abc.txt"),
            ("", NAMELESS),
            (".", NAMELESS),
            ("..", NAMELESS),
            ("💩", NAMELESS),
            ("- -", NAMELESS),
            ("under_score", "under_score"),
        ];
        for (name, expected) in cases {
            assert_eq!(path_name(name), expected, "{name:?}");
        }
        assert_eq!(path_name(&format!("{}.txt", "x".repeat(200))), format!("{}.txt", "x".repeat(96)));
    }

    #[test]
    fn names_are_kept_without_folders() {
        let cases = [
            ("a b.txt", "a b.txt"),
            ("/etc/passwd", "passwd"),
            ("C:\\files\\x.doc", "x.doc"),
            ("../../up", "up"),
            (" x\r\ny ", "xy"),
            ("invoice\u{202e}fdp.exe", "invoicefdp.exe"),
            ("folder/", NAMELESS),
        ];
        for (given, expected) in cases {
            assert_eq!(stored_name(given), expected, "{given:?}");
        }
        assert_eq!(stored_name(&"é".repeat(300)).chars().count(), MAX_LENGTH);
    }

    #[test]
    fn short_names_keep_the_extension() {
        assert!(is_short("1/ab/c/日本語.txt") && is_short(&"x/".repeat(300)));
        let long = format!("1/ab/c/{}.txt", "日".repeat(96));
        assert!(!is_short(&long));
        assert_eq!(short_name(7, &long), format!("7-{}.txt", "日".repeat(46)));
        assert_eq!(short_name(7, "deck"), "7-deck");
    }

    #[test]
    fn paths_differ() {
        let (one, other) = (new_path_id(1, "x.txt"), new_path_id(1, "x.txt"));
        assert_ne!(one, other);
        let parts: Vec<&str> = one.split('/').collect();
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        assert_eq!((parts[0], lengths), ("1", vec![1, 2, SECRET_LENGTH, 5]));
    }
}
