//! Names of users, channels and other objects: allowed characters, and comparison by appearance.

use super::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::general_security_profile::IdentifierType;
use unicode_security::{GeneralSecurityProfile, MixedScript};

/// Contexts in which invisible characters are part of the text: inside of emoji, and between letters of joined scripts.
static EXPECTED_UNSEEN: LazyLock<Regex> = LazyLock::new(|| {
    let emoji = r"\p{Extended_Pictographic}(?:\u{fe0e}|[\u{1f3fb}-\u{1f3ff}]?\u{fe0f}?)";
    let keycap = r"[0-9#*]\u{fe0f}\u{20e3}";
    // England, Scotland and Wales: a black flag, and the name of the place in tags.
    let flag = r"\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}";
    let letter = r"[\p{Arabic}\p{Syriac}\p{Devanagari}\p{Bengali}\p{Gurmukhi}\p{Gujarati}\p{Oriya}\p{Tamil}\p{Telugu}\p{Kannada}\p{Malayalam}\p{Sinhala}&&[\p{L}\p{M}]]";
    let joined = format!(r"{letter}(?:[\u{{200c}}\u{{200d}}]?{letter})+");
    pattern(&format!(r"{flag}|{keycap}|{emoji}(?:\u{{200d}}{emoji})*|{joined}"))
});

/// Letters, numbers, punctuation, symbols and spaces.
static VISIBLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[\p{L}\p{N}\p{P}\p{S}\p{Zs}]$"));

/// Combining marks that belong to one script, such as the points of Hebrew and vowel signs of South Asia.
static SCRIPT_MARK: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[\p{M}&&\P{Script=Inherited}]$"));

/// The enclosing mark of keycap emoji.
const KEYCAP: char = '\u{20e3}';

/// Similarity from which on a name is suggested for an unknown one: that of unknown flags.
const MIN_SIMILARITY: f64 = 0.7;

/// Returns the most similar one of these names, if one is similar: for the error about an unknown name. They are in lower
/// case.
pub fn nearest_name<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let name = name.to_lowercase();
    let similarities = names.into_iter().map(|known| (strsim::jaro(&name, known), known));
    let close = similarities.filter(|(similarity, _)| *similarity > MIN_SIMILARITY);
    close.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, known)| known)
}

/// Returns the position, from 0, of the first forbidden character of a name: one that is neither a letter, mark or number of a
/// language in use, nor punctuation, a symbol or a space; an invisible one outside of emoji and joined scripts; or a mark
/// that is not on a letter of its script.
pub fn find_forbidden_in_name(name: &str) -> Option<usize> {
    if name.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return None;
    }
    // Some systems decompose what they send: accents, syllables of Korean.
    let composed: String = name.nfc().collect();
    let position = find_forbidden_in_composed(&composed)?;
    if composed == name { Some(position) } else { Some(find_forbidden_in_composed(name).unwrap_or(position)) }
}

/// Replaces each forbidden character of a name with a space.
pub fn without_forbidden(name: &str) -> String {
    let mut characters: Vec<char> = name.nfc().collect();
    while let Some(position) = find_forbidden_in_composed(&characters.iter().collect::<String>()) {
        characters[position] = ' ';
    }
    let cleaned: String = characters.into_iter().collect();
    cleaned.trim().to_owned()
}

fn find_forbidden_in_composed(name: &str) -> Option<usize> {
    let expected: Vec<_> = EXPECTED_UNSEEN.find_iter(name).map(|found| found.range()).collect();
    // The last character that is no mark.
    let mut base = None;
    name.char_indices().position(|(index, character)| {
        if is_unprintable(character) {
            return true;
        }
        if is_unseen(character) || character == KEYCAP {
            return !expected.iter().any(|range| range.contains(&index));
        }
        if is_combining_mark(character) {
            return !is_allowed(character) || base.is_none_or(|base| !can_carry(base, character));
        }
        base = Some(character);
        !is_allowed(character)
    })
}

/// True if names can have a character: one that UTS 39 allows in identifiers, another letter of a language in use, or a sign.
/// UTS 39 restricts letters that few people write, and those people write their names with them. It excludes Mongolian, which
/// is in official use.
fn is_allowed(character: char) -> bool {
    if character.is_ascii() || character.identifier_allowed() {
        return true;
    }
    let mut buffer = [0; 4];
    let text: &str = character.encode_utf8(&mut buffer);
    // `None` if the character has several types, or is unassigned: the classes do not have those.
    match character.identifier_type() {
        Some(IdentifierType::Limited_Use | IdentifierType::Uncommon_Use) | None
            if is_combining_mark(character) =>
        {
            SCRIPT_MARK.is_match(text)
        }
        _ if is_combining_mark(character) => false,
        // Signs, also those of newer versions of Unicode than the classes.
        Some(IdentifierType::Not_XID) => true,
        Some(IdentifierType::Exclusion) => matches!(character, '\u{1820}'..='\u{1878}'),
        Some(
            IdentifierType::Not_Character | IdentifierType::Deprecated | IdentifierType::Default_Ignorable,
        ) => false,
        _ => VISIBLE.is_match(text),
    }
}

/// True if a mark can be on a character: a letter or number of its script.
fn can_carry(base: char, mark: char) -> bool {
    base.is_alphanumeric() && String::from_iter([base, mark]).as_str().is_single_script()
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

/// True for what is easily overlooked in a name: a dot above or below a letter, another mark below it, the points of Hebrew and
/// Arabic, which are optional, and the line that stretches Arabic words.
fn is_small_mark(character: char) -> bool {
    matches!(
        character,
        '\u{307}'
            | '\u{316}'..='\u{319}'
            | '\u{31c}'..='\u{333}'
            | '\u{339}'..='\u{33c}'
            | '\u{347}'..='\u{349}'
            | '\u{34d}'..='\u{34e}'
            | '\u{353}'..='\u{356}'
            | '\u{358}'..='\u{35a}'
            | '\u{591}'..='\u{5bd}'
            | '\u{5bf}'
            | '\u{5c1}'..='\u{5c2}'
            | '\u{5c4}'..='\u{5c5}'
            | '\u{5c7}'
            | '\u{610}'..='\u{61a}'
            | '\u{640}'
            | '\u{64b}'..='\u{652}'
            | '\u{656}'..='\u{65f}'
            | '\u{670}'
    )
}

/// Removes all combining marks.
pub fn without_marks(text: &str) -> String {
    text.nfd().filter(|character| !is_combining_mark(*character)).collect()
}

/// Returns the skeleton of a name (UTS 39): equal for names with the same appearance. White space becomes one space,
/// and invisible characters and small marks are removed. The table `name_skeleton` has skeletons: a change here needs a
/// migration that fills it again.
pub fn skeleton(name: &str) -> String {
    let is_kept = |character: &char| !is_unseen(*character) && !is_small_mark(*character);
    let seen: String = name.nfkd().filter(is_kept).collect();
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
    fn names_in_all_scripts_in_use_are_allowed() {
        let names = [
            "O’Neill",
            "O'Neill",
            "Anne-Marie J. R. R. Smith 3",
            "José Łukasz Ærø Müller ẞ İlker",
            "Nguyễn Thị Hạnh",
            "Ẹ̀kọ́ g̃ m̧",
            "ʻOkina ʿAbd Ḥasan",
            "Ольга Їжак Ӯлдош",
            "Μαρία Ἀθηνᾶ",
            "Հայկ",
            "გიორგი ᲒᲘᲝᲠᲒᲘ",
            "محمد مُحَمَّد اُردُو کٲشُر ھەولێر",
            "علی\u{200c}رضا",
            "יִצְחָק שָׁלוֹם ײַ",
            "ܐܪܡܝܐ",
            "ދިވެހި",
            "ߒߞߏ߫",
            "አበበ",
            "ⵜⵉⴼⵉⵏⴰⵖ",
            "𞤀𞤣𞤤𞤢𞤥",
            "राम हृषीकेश",
            "সৌরভ শ্রী",
            "ਗੁਰਪ੍ਰੀਤ",
            "ગુજરાતી",
            "ଓଡ଼ିଆ",
            "தமிழ்",
            "తెలుగు",
            "ಕನ್ನಡ",
            "മലയാളം",
            "ශ්\u{200d}රී",
            "สมชาย กิตติ์",
            "ລາວ",
            "ព្រះ ខ្មែរ",
            "အောင်ဆန်း",
            "བསྟན་འཛིན",
            "ꦗꦮ ᬩᬮᬶ ᮞᮥᮔ᮪ᮓ",
            "ꯃꯤꯇꯩ ᱥᱟᱱ",
            "王小明 山田太郎 𠮷田 ガイド ㄅㄆ",
            "김철수",
            "ꆈꌠ",
            "ᠮᠣᠩᠭᠣᠯ",
            "ᏣᎳᎩ ᐃᓄᒃᑎᑐᑦ",
            "Ｏlga №5 ½ ① © ™ ☕",
            "👍🏽 🇩🇪 👩🏿\u{200d}🚀 1\u{fe0f}\u{20e3}",
        ];
        for name in names {
            assert_eq!(find_forbidden_in_name(name), None, "{name}");
            let decomposed: String = name.nfd().collect();
            assert_eq!(find_forbidden_in_name(&decomposed), None, "{name}, decomposed");
            assert_eq!(without_forbidden(name), name.nfc().collect::<String>());
        }
    }

    #[test]
    fn marks_are_on_letters_of_their_script() {
        let cases = [
            ("Olga\u{5c4}", Some(4)),
            ("Olga\u{5b0}", Some(4)),
            ("Olga\u{64e}", Some(4)),
            ("Olga\u{941}", Some(4)),
            ("Olga\u{336}", Some(4)),
            ("Olga \u{301}", Some(5)),
            ("\u{301}Olga", Some(0)),
            ("Olga-\u{323}", Some(5)),
            ("☕\u{301}", Some(1)),
            ("Olga\u{20e3}", Some(4)),
            ("Olga\u{301}", None),
        ];
        for (name, position) in cases {
            assert_eq!(find_forbidden_in_name(name), position, "{name:?}");
        }
    }

    #[test]
    fn no_name_has_characters_that_are_drawn_as_nothing_or_a_box() {
        let unseen =
            Regex::new(r"^[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}\u{1d159}\u{16fe4}]$")
                .unwrap();
        let unassigned = Regex::new(r"^\p{Cn}$").unwrap();
        for character in '\0'..=char::MAX {
            // Characters that only the newer one of the two tables has.
            let text = character.to_string();
            let is_new = character.identifier_type().is_some() && unassigned.is_match(&text);
            if unseen.is_match(&text) && !is_new {
                let name = format!("t{character}");
                assert_eq!(find_forbidden_in_name(&name), Some(1), "{:x}", u32::from(character));
            }
        }
    }

    #[test]
    fn forbidden_characters_become_spaces() {
        let cases = [
            ("Olga", "Olga"),
            ("Olga\u{fff9}", "Olga"),
            ("Ol\u{200b}ga", "Ol ga"),
            ("\u{202e}\u{e000}\u{301}", ""),
            ("Cafe\u{301}\u{378}", "Café"),
        ];
        for (name, cleaned) in cases {
            assert_eq!(without_forbidden(name), cleaned, "{name:?}");
        }
    }

    #[test]
    fn similar_names_share_a_skeleton() {
        let looks_same = |one: &str, other: &str| {
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
            ("Olga", "Olga\u{323}"),
            ("Olga", "Olg\u{227}"),
            ("Olga", "Olga\u{5c4}"),
            ("محمد", "مُحَمَّد"),
            ("محمد", "محـمد"),
        ] {
            assert!(looks_same(one, other), "{one:?} {other:?}");
        }
        for (one, other) in [
            ("Ian", "Lan"),
            ("Ali", "All"),
            ("Jose", "José"),
            ("Hùng", "Hưng"),
            ("Olga", "Olgas"),
            ("a b", "ab"),
        ] {
            assert!(!looks_same(one, other), "{one:?} {other:?}");
        }
    }
}
