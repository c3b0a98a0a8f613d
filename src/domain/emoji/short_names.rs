//! Names that other products have for emoji: those of the packages emoji-datasource and emoji-toolkit (both under the MIT
//! license) that are not names here, or are names of another emoji.
//!
//! `short_names.tsv` has a line per name, sorted: the name, a tab, and the code.

use std::collections::HashMap;
use std::sync::LazyLock;
use teamchat_markdown::emoji;

static CODES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    include_str!("short_names.tsv").lines().filter_map(|line| line.split_once('\t')).collect()
});

/// Endings of names that are of another tone of skin, which is not a different emoji here.
const TONES: [&str; 10] = [
    "_tone1",
    "_tone2",
    "_tone3",
    "_tone4",
    "_tone5",
    "_medium_light_skin_tone",
    "_medium_dark_skin_tone",
    "_light_skin_tone",
    "_dark_skin_tone",
    "_medium_skin_tone",
];

/// The canonical name here of an emoji, if its name is not one here, or is that of another emoji.
pub fn canonical(name: &str) -> Option<&'static str> {
    Some(emoji::by_code(CODES.get(name)?)?.canonical_name())
}

/// Replaces names between colons that are those of other emoji here, or of none, and removes tones of skin. Colons within words
/// and paths are none of emoji: `https://boats.example/:x:/`, `std::io::Error`.
pub fn in_text(text: &str) -> String {
    in_text_with(text, |_| None)
}

/// Like [`in_text`], for a text in which emoji have further names: `meaning` returns the standard name of such a name.
pub fn in_text_with<'n>(text: &str, meaning: impl Fn(&str) -> Option<&'n str>) -> String {
    let is_part = |character: char| character.is_alphanumeric() || character == '/';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // True at the start and right after an emoji: there, a colon can begin one. Right after another colon it cannot.
    let mut is_free = true;
    while let Some(start) = rest.find(':') {
        let (before, after) = rest.split_at(start + 1);
        let is_begin = if start == 0 { is_free } else { !before[..start].ends_with(is_part) };
        is_free = false;
        out.push_str(before);
        rest = after;
        let length = rest.find(|character: char| !emoji::is_name_character(character)).unwrap_or(rest.len());
        let name = &rest[..length];
        let end = rest[length..].strip_prefix(':').filter(|after| !after.starts_with(is_part));
        let Some(after) = end.filter(|_| is_begin && !name.is_empty()) else { continue };
        if name.starts_with("skin-tone-") && out.ends_with("::") {
            out.pop();
        } else {
            let name = meaning(name).unwrap_or(name);
            out.extend([name_here(name).unwrap_or(name), ":"]);
        }
        rest = after;
        is_free = true;
    }
    out.push_str(rest);
    out
}

/// The name here of an emoji that has another one in a text.
fn name_here(name: &str) -> Option<&str> {
    let plain = without_tone(name);
    let is_known = || plain != name && emoji::by_name(plain).is_some();
    canonical(name).or_else(|| canonical(plain)).or_else(|| is_known().then_some(plain))
}

/// The name without its tone of skin.
pub fn without_tone(name: &str) -> &str {
    TONES.iter().find_map(|tone| name.strip_suffix(tone)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_texts_are_replaced() {
        let puppy = "1f436";
        assert_eq!(emoji::by_code(puppy).map(emoji::Emoji::canonical_name), Some("puppy"));
        let cases = [
            (":dog: (:dog::dog:)", ":puppy: (:puppy::puppy:)"),
            (":tada: :wave::skin-tone-3:!", ":tada: :wave:!"),
            (":wave_tone5: :dog::skin-tone-2::dog:", ":wave: :puppy::puppy:"),
            (
                "https://boats.example/:x:/a 10:dog:30 fe80::b:1 a:b:c",
                "https://boats.example/:x:/a 10:dog:30 fe80::b:1 a:b:c",
            ),
            (
                "std::io::Error app::x::y :x::tada::x:",
                "std::io::Error app::x::y :cross_mark::tada::cross_mark:",
            ),
            (":skin-tone-3: :no_such: :", ":skin-tone-3: :no_such: :"),
        ];
        for (text, expected) in cases {
            assert_eq!(in_text(text), expected, "{text}");
        }
    }

    #[test]
    fn names_lead_to_emoji_that_have_others_here() {
        let lines: Vec<&str> = include_str!("short_names.tsv").lines().collect();
        assert!(lines.is_sorted());
        assert_eq!(CODES.len(), lines.len());
        for (name, code) in CODES.iter() {
            let known = emoji::by_code(code);
            assert!(known.is_some_and(|emoji| !emoji.names().any(|known| known == *name)), "{name}");
        }
        assert_eq!(
            canonical("slightly_smiling_face"),
            emoji::by_code("1f642").map(emoji::Emoji::canonical_name)
        );
        assert_eq!((canonical("tada"), canonical("no_such_thing")), (None, None));
        assert_eq!(["+1_medium_skin_tone", "wave_tone5", "tada"].map(without_tone), ["+1", "wave", "tada"]);
    }
}
