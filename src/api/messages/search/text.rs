//! The words of a text, as the index sees them.

use super::stem::stem;
use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A piece of a text that the index knows by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    /// A word: without case and accents, and its stem.
    Word {
        /// Lower-case, without accents.
        folded: String,
        /// What the index holds.
        stem: String,
    },
    /// A character of a script without spaces between words.
    Character(char),
}

/// An atom and where it stands, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its first byte.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
    /// What it is.
    pub atom: Atom,
}

/// The atoms of a text, in order.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word_start = None;
    let end_word = |start: &mut Option<usize>, end: usize, tokens: &mut Vec<Token>| {
        if let Some(start) = start.take() {
            let folded = fold(&text[start..end]);
            let stem = stem(&folded);
            tokens.push(Token { start, end, atom: Atom::Word { folded, stem } });
        }
    };
    for (index, character) in text.char_indices() {
        if is_unspaced(character) {
            end_word(&mut word_start, index, &mut tokens);
            let end = index + character.len_utf8();
            tokens.push(Token { start: index, end, atom: Atom::Character(character) });
        } else if is_part_of_word(character) {
            word_start.get_or_insert(index);
        } else {
            end_word(&mut word_start, index, &mut tokens);
        }
    }
    end_word(&mut word_start, text.len(), &mut tokens);
    tokens
}

/// The text to give to the index. Runs of characters of scripts without spaces become overlapping pairs, and their last
/// character alone: `東京都` becomes `東京 京都 都`. Other text stays as it is.
pub fn index_text(text: &str) -> Cow<'_, str> {
    // Their first script begins at U+0E00, whose first byte is 0xe0.
    if text.bytes().all(|byte| byte < 0xe0) || !text.chars().any(is_unspaced) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() * 3);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if !is_unspaced(character) {
            out.push(character);
            continue;
        }
        out.push(' ');
        out.push(character);
        match characters.peek() {
            Some(next) if is_unspaced(*next) => out.push(*next),
            _ => out.push(' '),
        }
    }
    Cow::Owned(out)
}

/// Whether a character belongs to a script that does not put spaces between words.
pub fn is_unspaced(character: char) -> bool {
    let is_of_script = matches!(u32::from(character),
        0x0e00..=0x0eff        // Thai, Lao
        | 0x1000..=0x109f      // Burmese
        | 0x1780..=0x17ff      // Khmer
        | 0x3005..=0x3007
        | 0x3040..=0x30ff      // Hiragana, Katakana
        | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf      // Chinese characters, here and below
        | 0x4e00..=0x9fff
        | 0xf900..=0xfaff
        | 0xff66..=0xff9f      // half-width Katakana
        | 0x20000..=0x3134f
    );
    is_of_script && is_part_of_word(character)
}

fn is_part_of_word(character: char) -> bool {
    character.is_alphanumeric() || is_combining_mark(character)
}

/// A word without case and, on Latin letters, without accents.
pub fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(word.len());
    for character in word.chars().flat_map(char::to_lowercase) {
        let first = std::iter::once(character).nfd().next().unwrap_or(character);
        if first.is_ascii() {
            folded.push(first);
        } else if !matches!(u32::from(character), 0x300..=0x331) {
            folded.push(character);
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text)
            .into_iter()
            .map(|token| match token.atom {
                Atom::Word { folded, .. } => folded,
                Atom::Character(character) => character.to_string(),
            })
            .collect()
    }

    #[test]
    fn words_and_characters_are_told_apart() {
        assert_eq!(words("Don't stop, Café—№5!"), ["don", "t", "stop", "cafe", "5"]);
        assert_eq!(words("iPhone手机v2"), ["iphone", "手", "机", "v2"]);
        assert_eq!(words("हिन्दी में"), ["हिन्दी", "में"]);
        assert_eq!(words(" \n!? 👍"), [""; 0]);
    }

    #[test]
    fn only_scripts_without_spaces_are_indexed_in_pairs() {
        assert!(matches!(index_text("plain text, Ünicode, Привет"), Cow::Borrowed(_)));
        assert_eq!(
            index_text("東京都。x").split_whitespace().collect::<Vec<_>>(),
            ["東京", "京都", "都", "。x"]
        );
        assert_eq!(index_text("a東b").split_whitespace().collect::<Vec<_>>(), ["a", "東", "b"]);
    }
}
