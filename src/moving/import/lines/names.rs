//! Names and mentions of other products, made into those that are allowed here.

use crate::domain::emoji::short_names;
use crate::domain::limits::MAX_STREAM_NAME_LENGTH;
use crate::types::{fold, is_unprintable, without_forbidden};
use std::collections::HashSet;

/// The longest display name, in characters.
const MAX_PERSON: usize = 100;

/// Characters that are part of the syntax of mentions or quotes.
const SYNTAX: &[char] = &['*', '`', '\\', '>', '"', '@', '|'];

/// The name of people and channels whose own cannot be used.
const UNNAMED: &str = "unnamed";

/// A display name: what is left of a text without characters that names do not have here.
pub fn person(text: &str) -> String {
    let text: String = text.chars().filter(|character| !SYNTAX.contains(character)).collect();
    name(&text, MAX_PERSON)
}

/// The first display name that one of these texts leaves.
pub fn find_person<'t>(texts: impl IntoIterator<Item = &'t str>) -> Option<String> {
    texts.into_iter().map(person).find(|name| !name.is_empty())
}

/// The same, or a name for those without one.
pub fn person_or_unnamed<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    find_person(texts).unwrap_or_else(|| UNNAMED.to_owned())
}

/// A topic: the beginning of a text, without characters that topics do not have here.
pub fn topic(text: &str, length: usize) -> String {
    let plain: String =
        text.trim().chars().filter(|character| !is_unprintable(*character)).take(length).collect();
    plain.trim().to_owned()
}

/// The beginning of a name without forbidden characters. The end of the beginning may have become one.
fn name(text: &str, length: usize) -> String {
    let short: String = without_forbidden(text).chars().take(length).collect();
    without_forbidden(&short)
}

/// The names of channels so far.
#[derive(Default)]
pub struct ChannelNames(HashSet<String>);

impl ChannelNames {
    /// A name for another channel: as long as names may be here, and with a number if it is taken.
    pub fn make(&mut self, wanted: &str) -> String {
        let name = name(wanted, MAX_STREAM_NAME_LENGTH);
        let name = if name.is_empty() { UNNAMED.to_owned() } else { name };
        let mut unique = name.clone();
        for number in 2.. {
            if self.0.insert(fold(&unique)) {
                break;
            }
            let ending = format!(" {number}");
            unique = format!("{}{ending}", self::name(&name, MAX_STREAM_NAME_LENGTH - ending.len()));
        }
        unique
    }
}

/// Replaces `@username` by mentions of the display names that `name_of` has, and the words for all by theirs. Names of emoji
/// become those that they have here.
pub fn mentions(text: &str, name_of: impl Fn(&str) -> Option<String>) -> String {
    let mention_of = |word: &str| {
        let name = match word.to_lowercase().as_str() {
            "all" | "channel" | "here" => Some("all".to_owned()),
            lower => name_of(word).or_else(|| name_of(lower)),
        };
        name.map(|name| format!("@**{name}**"))
    };
    outside_code(text, |part| replace_words(&short_names::in_text(part), '@', mention_of))
}

/// Replaces words that follow `#` by links to the channels that `link_of` has.
pub fn channel_links(text: &str, link_of: impl Fn(&str) -> Option<String>) -> String {
    outside_code(text, |part| replace_words(part, '#', &link_of))
}

/// Converts a text but for the code in it.
fn outside_code(text: &str, convert: impl Fn(&str) -> String) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('`') {
        let (before, code) = rest.split_at(at);
        let (code, after) = code.split_at(code_length(code));
        out.push_str(&convert(before));
        out.push_str(code);
        rest = after;
    }
    out.push_str(&convert(rest));
    out
}

/// The length of the code at the beginning of a text, or of its backquotes if no others end it.
fn code_length(text: &str) -> usize {
    let marks = text.len() - text.trim_start_matches('`').len();
    text[marks..].find(&text[..marks]).map_or(marks, |inner| inner + 2 * marks)
}

/// Replaces words that follow a mark at the beginning of a word, if there is a replacement.
fn replace_words(text: &str, mark: char, replacement: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(mark) {
        out.push_str(&rest[..at]);
        let name = &rest[at + mark.len_utf8()..];
        let length =
            name.find(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c)).unwrap_or(name.len());
        let word = name[..length].trim_end_matches(['.', '-', '_']);
        let is_start = !out.ends_with(|c: char| c.is_alphanumeric());
        match replacement(word).filter(|_| is_start) {
            Some(replaced) => out.push_str(&replaced),
            None => out.push_str(&rest[at..at + mark.len_utf8() + word.len()]),
        }
        rest = &name[word.len()..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_unique() {
        assert_eq!([" A*d`a ", "a|7", "\u{202e}x\ny"].map(person), ["Ada", "a7", "x y"]);
        assert_eq!(person(&"n".repeat(200)).len(), 100);
        let (mut names, long) = (ChannelNames::default(), "c".repeat(80));
        assert_eq!(["a", "A", " "].map(|name| names.make(name)), ["a", "A 2", "unnamed"]);
        assert_eq!(names.make(&long), "c".repeat(60));
        assert_eq!(names.make(&long), format!("{} 2", "c".repeat(58)));
    }

    #[test]
    fn words_after_a_mark_are_replaced() {
        let channel = |word: &str| (word == "a-b").then(|| "#**A**".to_owned());
        assert_eq!(
            channel_links("#a-b, #a-b. x#a-b #c ## `#a-b`", channel),
            "#**A**, #**A**. x#a-b #c ## `#a-b`"
        );
        let name = |word: &str| (word == "ada").then(|| "Ada".to_owned());
        assert_eq!(mentions("@ada: @Ada x@ada @here @eve", name), "@**Ada**: @**Ada** x@ada @**all** @eve");
        assert_eq!(mentions(":dog: `:dog:`", name), ":puppy: `:dog:`");
        let code = "`@ada` @ada ```\n@here\n```@ada ``@ada` `@ada";
        assert_eq!(mentions(code, name), "`@ada` @**Ada** ```\n@here\n```@**Ada** ``@**Ada**` `@**Ada**");
    }
}
