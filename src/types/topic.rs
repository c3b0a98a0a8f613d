//! Topic names: limits, comparison, and the three spellings of the empty topic.

use crate::types::{fold, is_unprintable};
use std::borrow::Cow;

/// The name of the empty topic for clients without the `empty_topic_name` capability, which they may also send
/// (`realm_empty_topic_display_name` of `POST /register`).
pub const EMPTY_TOPIC_DISPLAY_NAME: &str = "general chat";

/// The older spelling of the empty topic that some clients still send.
const NO_TOPIC: &str = "(no topic)";

/// The name of a topic in its stored form: trimmed, at most [`Topic::MAX_LENGTH`] characters, possibly empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic(String);

/// A text cannot be a topic, because of this character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidCharacter {
    /// The character's position in the stripped text, from 1.
    pub position: usize,
}

impl Topic {
    /// `max_topic_length` of `POST /register`, in characters.
    pub const MAX_LENGTH: usize = 60;

    /// The prefix that marks a topic as resolved: a check mark and a space.
    pub const RESOLVED_PREFIX: &str = "✔ ";

    /// Parses a topic as sent by a client: trims it, reads both names of the empty topic, and truncates a long text so
    /// that it ends in `...`, as the published server does.
    pub fn from_client(text: &str) -> Result<Self, InvalidCharacter> {
        let text = text.trim();
        if let Some(index) = text.chars().position(is_unprintable) {
            return Err(InvalidCharacter { position: index + 1 });
        }
        if text == NO_TOPIC || text == EMPTY_TOPIC_DISPLAY_NAME {
            return Ok(Self(String::new()));
        }
        Ok(Self(shorten(text).into_owned()))
    }

    /// Wraps a text that is already in the stored form.
    pub fn stored(text: String) -> Self {
        Self(text)
    }

    /// The stored form; empty for the empty topic.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key of the topic: equal for spellings that differ only in case.
    pub fn key(&self) -> String {
        fold(&self.0)
    }

    /// True if the topic is marked as resolved.
    pub fn is_resolved(&self) -> bool {
        self.0.starts_with(Self::RESOLVED_PREFIX)
    }
}

fn shorten(text: &str) -> Cow<'_, str> {
    if text.chars().count() <= Topic::MAX_LENGTH {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(Topic::MAX_LENGTH - 3).collect();
    Cow::Owned(kept + "...")
}

/// A topic as a client may see it: those that do not know the empty one see its display name.
pub fn shown_topic(topic: &str, knows_empty: bool) -> &str {
    if topic.is_empty() && !knows_empty { EMPTY_TOPIC_DISPLAY_NAME } else { topic }
}

/// The client's form of the empty topic, one of the properties that select the variant of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyTopic {
    /// As an empty text.
    Empty,
    /// As its display name.
    Named,
}

impl EmptyTopic {
    /// Returns a topic as the client gets it.
    pub fn show(self, topic: &str) -> &str {
        shown_topic(topic, self == Self::Empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_read_as_clients_mean_it() {
        let cases = [
            ("lunch", Ok("lunch".to_owned())),
            ("  lunch \t", Ok("lunch".to_owned())),
            ("", Ok(String::new())),
            ("(no topic)", Ok(String::new())),
            ("general chat", Ok(String::new())),
            ("General chat", Ok("General chat".to_owned())),
            (&"é".repeat(60), Ok("é".repeat(60))),
            (&"é".repeat(61), Ok("é".repeat(57) + "...")),
            ("a\u{0}b", Err(InvalidCharacter { position: 2 })),
            ("a\nb", Err(InvalidCharacter { position: 2 })),
        ];
        for (text, expected) in cases {
            let read = Topic::from_client(text).map(|topic| topic.as_str().to_owned());
            assert_eq!(read, expected, "{text:?}");
        }
    }

    #[test]
    fn spellings_of_one_topic_share_a_key() {
        assert_eq!(Topic::stored("ÉTÉ".into()).key(), Topic::stored("été".into()).key());
        assert_ne!(Topic::stored("a".into()).key(), Topic::stored("b".into()).key());
    }
}
