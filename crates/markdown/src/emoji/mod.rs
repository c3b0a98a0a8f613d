//! Emoji names and code points. The tables are searched in place, so that they take no time at a start, and little memory
//! beside the binary.
//!
//! `emoji.tsv` has one line per emoji: its code (hexadecimal code points joined by `-`, without U+FE0F), a tab, and
//! its names, the canonical one first. The lines are sorted by code. `names.tsv` has a line per name: the name, a tab, and
//! the code. A test holds the two to each other.

use std::sync::LazyLock;

/// The emoji; see the module's documentation.
const TABLE: &str = include_str!("emoji.tsv");

/// The names; see the module's documentation.
const NAMES: &str = include_str!("names.tsv");

/// A checksum of the table (FNV-1a). Clients cache the names permanently, and reload them when it changes.
pub static TABLE_CHECKSUM: LazyLock<u32> = LazyLock::new(|| {
    TABLE.bytes().fold(0x811c_9dc5, |sum: u32, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
});

/// The name of the one emoji that is neither Unicode's nor the organization's (`zulip_extra_emoji`).
pub const EXTRA_EMOJI_NAME: &str = "zulip";

/// The path of the image of the emoji [`EXTRA_EMOJI_NAME`] at the server.
pub const EXTRA_EMOJI_URL: &str = "/static/generated/emoji/images/emoji/unicode/zulip.png";

/// One Unicode emoji.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emoji {
    /// Hexadecimal code points joined by `-`, for example `1f468-200d-2695`.
    pub code: &'static str,
    names: &'static str,
}

impl Emoji {
    /// Returns the canonical name.
    pub fn canonical_name(self) -> &'static str {
        self.names().next().unwrap_or_default()
    }

    /// Returns all names, the canonical one first.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.names.split(',')
    }
}

/// Returns all Unicode emoji, sorted by code: the `code_to_names` of the emoji data.
pub fn all() -> impl Iterator<Item = Emoji> {
    TABLE.lines().filter_map(|line| line.split_once('\t')).map(|(code, names)| Emoji { code, names })
}

/// Finds an emoji by its code.
pub fn by_code(code: &str) -> Option<Emoji> {
    let (code, names) = find_line(TABLE, code)?;
    Some(Emoji { code, names })
}

/// Finds an emoji by any of its names.
pub fn by_name(name: &str) -> Option<Emoji> {
    by_code(find_line(NAMES, name)?.1)
}

/// Finds the line of a sorted table that begins with a key and a tab. Returns the key and the rest of the line.
fn find_line(table: &'static str, key: &str) -> Option<(&'static str, &'static str)> {
    // Binary search over bytes: each probe moves back to the start of its line.
    let (mut low, mut high) = (0, table.len());
    while low < high {
        let middle = low.midpoint(high);
        let start = table.as_bytes()[..middle].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let line = table[start..].lines().next()?;
        let (found, rest) = line.split_once('\t')?;
        match found.cmp(key) {
            std::cmp::Ordering::Equal => return Some((found, rest)),
            std::cmp::Ordering::Less => low = start + line.len() + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    None
}

/// Checks whether the emoji with this code has this name, as `emoji_name` and `emoji_code` of a reaction must.
pub fn is_valid_pair(name: &str, code: &str) -> bool {
    by_code(code).is_some_and(|emoji| emoji.names().any(|known| known == name))
}

/// The code of an emoji as it is here: without U+FE0F, which older tables of clients keep in a few codes.
pub fn without_variation_selectors(code: &str) -> String {
    code.split('-').filter(|point| *point != "fe0f").collect::<Vec<_>>().join("-")
}

/// Finds an emoji by its characters, with or without variation selectors.
pub fn by_characters(characters: &str) -> Option<Emoji> {
    let code: Vec<String> = characters
        .chars()
        .filter(|&c| c != VARIATION_SELECTOR)
        .map(|character| format!("{:04x}", u32::from(character)))
        .collect();
    by_code(&code.join("-"))
}

/// Selects the emoji presentation of the character before it.
const VARIATION_SELECTOR: char = '\u{fe0f}';
const JOINER: char = '\u{200d}';
const KEYCAP: char = '\u{20e3}';

/// Returns the length in bytes of the emoji sequence at the start of a text.
///
/// This is the grammar of emoji sequences of Unicode Technical Standard 51: flags, keycaps, skin tones, tags,
/// joined sequences. No part of a sequence is an emoji by itself, even if the sequence has no name.
pub fn sequence_length(text: &str) -> Option<usize> {
    let mut length = element_length(text)?;
    while let Some(rest) = text[length..].strip_prefix(JOINER) {
        let Some(next) = element_length(rest) else { break };
        length += JOINER.len_utf8() + next;
    }
    Some(length)
}

fn element_length(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    let mut length = first.len_utf8();
    let next = |length: usize| text[length..].chars().next();
    if is_regional_indicator(first) {
        return next(length).filter(|&c| is_regional_indicator(c)).map(|c| length + c.len_utf8());
    }
    if !may_start_emoji(first) {
        return None;
    }
    if let Some(tone) = next(length).filter(|c| ('\u{1f3fb}'..='\u{1f3ff}').contains(c)) {
        length += tone.len_utf8();
    } else if next(length) == Some(VARIATION_SELECTOR) {
        length += VARIATION_SELECTOR.len_utf8();
        if next(length) == Some(KEYCAP) {
            length += KEYCAP.len_utf8();
        }
    } else if next(length) == Some(KEYCAP) {
        length += KEYCAP.len_utf8();
    }
    while let Some(tag) = next(length).filter(|c| ('\u{e0020}'..='\u{e007f}').contains(c)) {
        length += tag.len_utf8();
    }
    Some(length)
}

fn is_regional_indicator(character: char) -> bool {
    ('\u{1f1e6}'..='\u{1f1ff}').contains(&character)
}

/// Checks for a superset of the characters that start an emoji.
fn may_start_emoji(character: char) -> bool {
    matches!(character, '#' | '*' | '0'..='9' | '©' | '®' | '‼' | '⁉' | '™' | 'ℹ' | '〰' | '〽' | '㊗' | '㊙')
        || ('\u{2190}'..='\u{2bff}').contains(&character)
        || ('\u{1f000}'..='\u{1faff}').contains(&character)
}

/// Checks whether a single character is shown as text unless U+FE0F follows: digits, arrows, old symbols.
///
/// Below the emoji blocks most characters are text, and these are the exceptions (`Emoji_Presentation`).
pub fn is_text_by_default(character: char) -> bool {
    match u32::from(character) {
        0x231a..=0x231b
        | 0x23e9..=0x23ec
        | 0x23f0
        | 0x23f3
        | 0x25fd..=0x25fe
        | 0x2614..=0x2615
        | 0x2648..=0x2653
        | 0x267f
        | 0x2693
        | 0x26a1
        | 0x26aa..=0x26ab
        | 0x26bd..=0x26be
        | 0x26c4..=0x26c5
        | 0x26ce
        | 0x26d4
        | 0x26ea
        | 0x26f2..=0x26f3
        | 0x26f5
        | 0x26fa
        | 0x26fd
        | 0x2705
        | 0x270a..=0x270b
        | 0x2728
        | 0x274c
        | 0x274e
        | 0x2753..=0x2755
        | 0x2757
        | 0x2795..=0x2797
        | 0x27b0
        | 0x27bf
        | 0x2b1b..=0x2b1c
        | 0x2b50
        | 0x2b55 => false,
        0x1f170..=0x1f171
        | 0x1f17e..=0x1f17f
        | 0x1f202
        | 0x1f237
        | 0x1f321
        | 0x1f324..=0x1f32c
        | 0x1f336
        | 0x1f37d
        | 0x1f396..=0x1f397
        | 0x1f399..=0x1f39b
        | 0x1f39e..=0x1f39f
        | 0x1f3cb..=0x1f3ce
        | 0x1f3d4..=0x1f3df
        | 0x1f3f3
        | 0x1f3f5
        | 0x1f3f7
        | 0x1f43f
        | 0x1f441
        | 0x1f4fd
        | 0x1f549..=0x1f54a
        | 0x1f56f..=0x1f570
        | 0x1f573..=0x1f579
        | 0x1f587
        | 0x1f58a..=0x1f58d
        | 0x1f590
        | 0x1f5a5
        | 0x1f5a8
        | 0x1f5b1..=0x1f5b2
        | 0x1f5bc
        | 0x1f5c2..=0x1f5c4
        | 0x1f5d1..=0x1f5d3
        | 0x1f5dc..=0x1f5de
        | 0x1f5e1
        | 0x1f5e3
        | 0x1f5e8
        | 0x1f5ef
        | 0x1f5f3
        | 0x1f5fa
        | 0x1f6cb
        | 0x1f6cd..=0x1f6cf
        | 0x1f6e0..=0x1f6e5
        | 0x1f6e9
        | 0x1f6f0
        | 0x1f6f3 => true,
        code => code < 0x1f000,
    }
}

/// True if a character may be part of the name in `:name:`.
pub fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '+')
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    // conformance: md-49
    #[test]
    fn the_table_is_sorted_and_its_names_are_unique() {
        let codes: Vec<&str> = all().map(|emoji| emoji.code).collect();
        assert!(codes.is_sorted());
        assert_eq!(codes.len(), TABLE.lines().count());
        let names: Vec<&str> = all().flat_map(Emoji::names).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        assert!(names.iter().all(|name| !name.is_empty() && name.chars().all(is_name_character)));
    }

    #[test]
    fn the_table_of_names_is_that_of_the_emoji() {
        let mut names: Vec<(&str, &str)> =
            all().flat_map(|emoji| emoji.names().map(move |name| (name, emoji.code))).collect();
        names.sort_unstable();
        let expected: String = names.iter().flat_map(|(name, code)| [*name, "\t", *code, "\n"]).collect();
        if expected != NAMES && std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/emoji/names.tsv");
            return std::fs::write(path, &expected).unwrap();
        }
        assert!(expected == NAMES, "names.tsv is not that of the table: run .ci/bless (or: just bless)");
    }

    // conformance: md-49
    #[test]
    fn every_emoji_is_found_by_code_and_by_each_name() {
        for emoji in all() {
            assert_eq!(by_code(emoji.code), Some(emoji));
            for name in emoji.names() {
                assert_eq!(by_name(name), Some(emoji), "{name}");
                assert!(is_valid_pair(name, emoji.code));
            }
        }
        for absent in ["", "smil", "mile", "1f642", "smile,frown", "no_such_emoji", "\t"] {
            assert_eq!(by_name(absent), None, "{absent:?}");
        }
        for absent in ["", "1f64", "1f642-", "zzzz", "0000", "smile"] {
            assert_eq!(by_code(absent), None, "{absent:?}");
        }
        assert!(!is_valid_pair("frown", "1f642"));
    }

    // conformance: md-49
    #[test]
    fn the_names_of_the_published_release_are_known() {
        let names = [
            ("xmas", "1f9d1-200d-1f384"),
            ("bday", "1f973"),
            ("point", "1fa9d"),
            ("automobile", "1f6fb"),
            ("thumb", "1faf0"),
        ];
        for (name, code) in names {
            assert_eq!(by_name(name).map(|emoji| emoji.code), Some(code), "{name}");
        }
        // Those of release 10.2 are 3,308; others are older or newer. The count detects any change.
        assert_eq!(all().flat_map(Emoji::names).count(), 3451);
    }

    // conformance: md-50
    #[test]
    fn every_emoji_is_one_sequence_of_characters() {
        for emoji in all() {
            let characters: String = emoji
                .code
                .split('-')
                .map(|hex| char::from_u32(u32::from_str_radix(hex, 16).unwrap()).unwrap())
                .collect();
            assert_eq!(sequence_length(&characters), Some(characters.len()), "{}", emoji.code);
            assert_eq!(by_characters(&characters), Some(emoji));
        }
        assert_eq!(by_characters("#️⃣").map(Emoji::canonical_name), Some("hash"));
        assert_eq!(sequence_length("💩💩"), Some(4));
        assert_eq!(sequence_length("x"), None);
    }
}
