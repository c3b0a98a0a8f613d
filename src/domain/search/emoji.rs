//! Emoji in texts and queries. Readers cannot distinguish `:tada:` from the character, so either finds both: each emoji
//! of a text is indexed as a separate word, which no text contains. A character is indexed by its name too, so that
//! words and phrases find it.

use std::borrow::Cow;
use teamchat_markdown::emoji;
use teamchat_markdown::emoji::Emoji;

/// An emoji in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The first byte.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
    /// The code.
    pub emoji: Emoji,
    /// True if it is written as `:name:`.
    pub is_named: bool,
}

/// The emoji of a text, in order.
pub fn find(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].bytes().position(|byte| byte == b':' || !byte.is_ascii()) {
        let start = at + next;
        let rest = &text[start..];
        let is_named = rest.starts_with(':');
        let (length, emoji) = if is_named { named(rest) } else { shown(rest) };
        at = start + length;
        found.extend(emoji.map(|emoji| Found { start, end: at, emoji, is_named }));
    }
    found
}

/// A text with names in place of emoji characters.
pub fn with_names(text: &str) -> Cow<'_, str> {
    replace(text, &find(text))
}

/// A text with names in place of emoji characters, and the emoji's own words, each with a space before it.
pub fn with_words(text: &str) -> (Cow<'_, str>, String) {
    let found = find(text);
    let mut words = String::new();
    for one in &found {
        words.push(' ');
        words.push_str(&word(one.emoji.code));
    }
    (replace(text, &found), words)
}

/// An emoji's own word. It begins with a private-use character, which the index treats as a letter and users do not
/// type. The digit at the end prevents stemming.
pub fn word(code: &str) -> String {
    format!("\u{e000}{}0", code.replace('-', "x"))
}

fn replace<'t>(text: &'t str, found: &[Found]) -> Cow<'t, str> {
    if found.iter().all(|one| one.is_named) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16 * found.len());
    let mut copied = 0;
    for one in found.iter().filter(|one| !one.is_named) {
        out.push_str(&text[copied..one.start]);
        out.push(' ');
        out.push_str(one.emoji.canonical_name());
        out.push(' ');
        copied = one.end;
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Parses `:name:`. Returns its length, and the emoji if there is one.
fn named(text: &str) -> (usize, Option<Emoji>) {
    let inner = &text[1..];
    let length = inner.find(|character| !emoji::is_name_character(character)).unwrap_or(inner.len());
    if !inner[length..].starts_with(':') {
        return (1, None);
    }
    match emoji::by_name(&inner[..length]) {
        Some(emoji) => (length + 2, Some(emoji)),
        // The second colon may begin another one.
        None => (length + 1, None),
    }
}

/// Parses an emoji character, like [`named`].
fn shown(text: &str) -> (usize, Option<Emoji>) {
    let mut characters = text.chars();
    let first = characters.next().unwrap_or_default();
    let Some(length) = emoji::sequence_length(text) else { return (first.len_utf8(), None) };
    let is_text = length == first.len_utf8() && emoji::is_text_by_default(first);
    (length, if is_text { None } else { emoji::by_characters(&text[..length]) })
}

#[cfg(test)]
mod tests {
    use crate::domain::search::emoji::*;

    #[test]
    fn names_and_characters_are_the_same_emoji() {
        let codes = |text: &str| find(text).iter().map(|found| found.emoji.code).collect::<Vec<_>>();
        assert_eq!(codes("a :tada: b 🎉c"), ["1f389", "1f389"]);
        assert_eq!(codes("👨‍⚕️ ❤️ 🇩🇪"), ["1f468-200d-2695", "2764", "1f1e9-1f1ea"]);
        for none in
            ["", "plain", "http://a:80/b", "10:30:45", ":no_such_emoji:", "::", ":", "é 東京 ❤ → ™", ":tada"]
        {
            assert_eq!(codes(none), [""; 0], "{none}");
        }
        assert_eq!(codes(":no:tada:"), ["1f389"]);
    }

    #[test]
    fn characters_are_indexed_as_names_and_all_as_words() {
        assert!(matches!(with_words("http://a:80/b é"), (Cow::Borrowed(_), none) if none.is_empty()));
        let word = " \u{e000}1f3890";
        assert_eq!(with_words("big 🎉!"), ("big  tada !".into(), word.to_owned()));
        assert_eq!(with_words("big :tada:!"), ("big :tada:!".into(), word.to_owned()));
        assert_eq!(with_names("🎉🎉"), " tada  tada ");
    }
}
