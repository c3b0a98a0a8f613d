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

/// The name without its tone of skin.
pub fn without_tone(name: &str) -> &str {
    TONES.iter().find_map(|tone| name.strip_suffix(tone)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
