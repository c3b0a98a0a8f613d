//! Names of users, channels and other objects: forbidden characters, and comparison by appearance.

use regex::Regex;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

/// Contexts in which invisible characters are part of the text: inside of emoji, and between letters of joined scripts.
static EXPECTED_UNSEEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let emoji = r"\p{Extended_Pictographic}(?:\u{fe0e}|[\u{1f3fb}-\u{1f3ff}]?\u{fe0f}?)";
    let keycap = r"[0-9#*]\u{fe0f}\u{20e3}";
    // England, Scotland and Wales: a black flag, and the name of the place in tags.
    let flag = r"\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}";
    let letter = r"[\p{Arabic}\p{Syriac}\p{Devanagari}\p{Bengali}\p{Gurmukhi}\p{Gujarati}\p{Oriya}\p{Tamil}\p{Telugu}\p{Kannada}\p{Malayalam}\p{Sinhala}&&[\p{L}\p{M}]]";
    let joined = format!(r"{letter}(?:[\u{{200c}}\u{{200d}}]?{letter})+");
    Regex::new(&format!(r"{flag}|{keycap}|{emoji}(?:\u{{200d}}{emoji})*|{joined}")).ok()
});

/// Similarity from which on a name is suggested for an unknown one: that of unknown flags.
const MIN_SIMILARITY: f64 = 0.7;

/// Returns the most similar one of these names, if one is similar: for the error about an unknown name.
pub fn nearest_name<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let similarities = names.into_iter().map(|known| (strsim::jaro(name, known), known));
    let close = similarities.filter(|(similarity, _)| *similarity > MIN_SIMILARITY);
    close.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, known)| known)
}

/// Returns the position, from 0, of the first forbidden character of a name: an unprintable one, or an invisible one
/// outside of emoji and joined scripts.
pub fn find_forbidden_in_name(name: &str) -> Option<usize> {
    if !name.contains(|character| is_unprintable(character) || is_unseen(character)) {
        return None;
    }
    let expected: Vec<_> = match &*EXPECTED_UNSEEN {
        Some(pattern) => pattern.find_iter(name).map(|found| found.range()).collect(),
        None => Vec::new(),
    };
    name.char_indices().position(|(index, character)| {
        is_unprintable(character)
            || (is_unseen(character) && !expected.iter().any(|range| range.contains(&index)))
    })
}

/// True if a character is forbidden in names and topics: line ends and other control characters, which break the
/// clients' lists; characters that change the direction of the following text; and unassigned ones.
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(character, '\u{fdd0}'..='\u{fdef}')
        || u32::from(character) & 0xfffe == 0xfffe
}

/// True if a character has no appearance of its own, so that names that differ by it may look the same: Unicode's
/// `Default_Ignorable_Code_Point` and format characters (category `Cf`), code points for private use, the object
/// replacement character, the controls of hieroglyphs, and signs that are blank (a pattern of Braille, a note head).
pub fn is_unseen(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{e000}'..='\u{f8ff}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffc}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1345f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
            | '\u{f0000}'..='\u{ffffd}'
            | '\u{100000}'..='\u{10fffd}'
    )
}

/// Folds case, for comparing names.
pub fn fold(text: &str) -> String {
    text.to_lowercase()
}

/// Returns the skeleton of a name (UTS 39): equal for names with the same appearance. White space becomes one space,
/// and invisible characters are removed.
pub fn skeleton(name: &str) -> String {
    let seen: String = name.nfkc().filter(|character| !is_unseen(*character)).collect();
    let words: Vec<String> =
        seen.split_whitespace().map(|word| unicode_security::skeleton(word).collect()).collect();
    words.join(" ")
}

/// Returns the skeleton of a name in lower case: equal for names with the same appearance except for case.
pub fn folded_skeleton(name: &str) -> String {
    let normal: String = name.nfkc().collect();
    skeleton(&fold(&normal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unseen_characters_are_those_of_unicode() {
        let unseen =
            r"^[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\u{2800}\u{fffc}\u{13430}-\u{1345f}\u{1d159}]$";
        let unseen = Regex::new(unseen).unwrap();
        for character in '\0'..=char::MAX {
            let text = character.to_string();
            assert_eq!(is_unseen(character), unseen.is_match(&text), "{:x}", u32::from(character));
        }
    }

    #[test]
    fn invisible_characters_are_forbidden_except_in_emoji_and_joined_scripts() {
        let cases = [
            ("Olga", None),
            ("Olga\u{200b}", Some(4)),
            ("Ol\u{ad}ga", Some(2)),
            ("Olga\u{2060}", Some(4)),
            ("Olga\u{3164}", Some(4)),
            ("Olga\u{fe0f}", Some(4)),
            ("Ol\u{200d}ga", Some(2)),
            ("Ol\u{200c}ga", Some(2)),
            ("\u{2800}", Some(0)),
            ("Olga\u{600}", Some(4)),
            ("Olga\u{fffb}", Some(4)),
            ("Olga\u{fffc}", Some(4)),
            ("Olga\u{e000}", Some(4)),
            ("Olga\u{10fffd}", Some(4)),
            ("Olga\u{13441}", Some(4)),
            ("Olga\u{1d159}", Some(4)),
            ("Olga\u{202e}", Some(4)),
            ("Olga\u{fdd0}", Some(4)),
            ("Olga\u{1fffe}", Some(4)),
            ("a\nb", Some(1)),
            ("Olga ❤\u{fe0f}", None),
            ("Olga ❤\u{fe0f}\u{fe0f}", Some(7)),
            ("\u{1f468}\u{1f3fd}\u{200d}\u{1f4bb} Bob", None),
            ("\u{1f469}\u{200d}❤\u{fe0f}\u{200d}\u{1f468}", None),
            ("\u{1f469}\u{200d}", Some(1)),
            ("\u{200d}\u{1f469}", Some(0)),
            ("Team 1\u{fe0f}\u{20e3}", None),
            ("1\u{fe0f}", Some(1)),
            ("\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", None),
            ("\u{1f3f4}\u{e0067}\u{e0062}", Some(1)),
            ("علی\u{200c}رضا", None),
            ("علی\u{200c}", Some(3)),
            ("علی\u{200c}\u{200c}رضا", Some(3)),
            ("ශ්\u{200d}රී", None),
        ];
        for (name, position) in cases {
            assert_eq!(find_forbidden_in_name(name), position, "{name:?}");
        }
    }

    #[test]
    fn similar_names_share_a_skeleton() {
        let alike = |one: &str, other: &str| {
            skeleton(one) == skeleton(other) || folded_skeleton(one) == folded_skeleton(other)
        };
        for (one, other) in [
            ("Olga", "olga"),
            ("Olga", "Оlga"),
            ("olga", "ОLGA"),
            ("Olga", "Ol\u{ad}ga"),
            ("Olga", "Ｏlga"),
            ("Iris", "lris"),
            ("iris", "Іris"),
            ("0lga", "Olga"),
            ("Ada Lovelace", "Ada\u{a0} Lovelace"),
            ("José", "Jose\u{301}"),
            ("Notification Bot", "Nοtificаtion Bot"),
        ] {
            assert!(alike(one, other), "{one:?} {other:?}");
        }
        for (one, other) in
            [("Ian", "Lan"), ("Ali", "All"), ("Jose", "José"), ("Olga", "Olgas"), ("a b", "ab")]
        {
            assert!(!alike(one, other), "{one:?} {other:?}");
        }
    }
}
