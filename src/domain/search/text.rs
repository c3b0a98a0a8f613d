//! Tokens of a text, as the index splits it.

use crate::domain::search::stem::stem;
use std::borrow::Cow;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A unit of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    /// A word: without case and accents, and its stem.
    Word {
        /// Lower-case, without accents.
        folded: String,
        /// The stem that is indexed.
        stem: String,
    },
    /// A character of a script without spaces between words.
    Character(char),
    /// An emoji, by its code; it overlaps the words of its name.
    Emoji(&'static str),
}

/// An atom and its position, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The first byte.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
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

/// The ranges of the words of a text, in bytes, without characters of scripts without spaces.
pub fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_of_word = |character: char| is_part_of_word(character) && !is_unspaced(character);
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(is_of_word)?;
        rest = text[start..]
            .find(|character| !is_of_word(character))
            .map_or(text.len(), |length| start + length);
        Some(start..rest)
    })
}

/// The text to index. Runs of characters of scripts without spaces become overlapping pairs, and their last
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

/// True if a character belongs to a script without spaces between words. The search of exported pages, `export/search.js`, has
/// the same ranges.
pub fn is_unspaced(character: char) -> bool {
    if character.is_ascii() {
        return false;
    }
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
    let mut folded = String::with_capacity(word.len());
    fold_into(word, &mut folded);
    folded
}

/// Appends a word without case and, on Latin letters, without accents.
pub fn fold_into(word: &str, folded: &mut String) {
    if word.is_ascii() {
        folded.extend(word.chars().map(|character| character.to_ascii_lowercase()));
        return;
    }
    for character in word.chars().flat_map(char::to_lowercase) {
        let first = std::iter::once(character).nfd().next().unwrap_or(character);
        if first.is_ascii() {
            folded.push(first);
        } else if !matches!(u32::from(character), 0x300..=0x331) {
            folded.push(character);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::search::text::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text)
            .into_iter()
            .map(|token| match token.atom {
                Atom::Word { folded, .. } => folded,
                Atom::Character(character) => character.to_string(),
                Atom::Emoji(code) => code.to_owned(),
            })
            .collect()
    }

    #[test]
    fn words_and_characters_are_distinguished() {
        assert_eq!(words("Don't stop, Café—№5!"), ["don", "t", "stop", "cafe", "5"]);
        assert_eq!(words("iPhone手机v2"), ["iphone", "手", "机", "v2"]);
        assert_eq!(words("हिन्दी में"), ["हिन्दी", "में"]);
        assert_eq!(words(" \n!? 👍"), [""; 0]);
    }

    #[test]
    fn tokens_match_the_positions_of_the_index() {
        for text in ["Don't stop, Café—№5!", "iPhone手机v2", "हिन्दी में", " \n!? 👍", "", "word"]
        {
            let of_tokens = tokens(text).into_iter().filter_map(|token| match token.atom {
                Atom::Word { .. } => Some(token.start..token.end),
                Atom::Character(_) | Atom::Emoji(_) => None,
            });
            assert_eq!(
                crate::domain::search::text::words(text).collect::<Vec<_>>(),
                of_tokens.collect::<Vec<_>>(),
                "{text}"
            );
        }
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
