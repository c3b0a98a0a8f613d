//! Markdown fragments for messages that the server writes: mentions, links to messages and topics, quotes.

use crate::domain::messages::record::MessageRow;
use crate::domain::messages::sql;
use crate::domain::{access, rows};
use crate::error::ApiResult;
use crate::types::{Language, UserId, fill};
use rusqlite::Connection;
use teamchat_markdown::{close_fences, encode_fragment, fits_into_a_link, link_text, unused_fence};

/// The Markdown of a silent mention, which notifies no one: `@_**Ada|9**`.
pub fn silent_mention(full_name: &str, user_id: UserId) -> String {
    format!("@_**{full_name}|{user_id}**")
}

/// Silent mentions of the participants of a direct message without its sender, by name, or of the sender if there are
/// no others.
pub fn mentions_of_others(
    connection: &Connection,
    people: &[UserId],
    sender_id: UserId,
) -> ApiResult<Vec<String>> {
    let mut others: Vec<UserId> = people.iter().copied().filter(|user_id| *user_id != sender_id).collect();
    if others.is_empty() {
        others.push(sender_id);
    }
    let mut others = sql::participants(connection, &others)?;
    others.sort_by(|one, other| one.full_name.cmp(&other.full_name));
    Ok(others.iter().map(|person| silent_mention(&person.full_name, person.id)).collect())
}

/// Truncates a text to `limit` characters, including a note about the truncation.
pub fn shortened(text: &str, limit: usize) -> String {
    const TRUNCATED: &str = "\n[message truncated]";
    if text.len() <= limit || text.chars().count() <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().take(limit.saturating_sub(TRUNCATED.chars().count())).collect();
    kept + TRUNCATED
}

/// A fenced block of this kind, such as `quote`, with user input, truncated so that the block has at most `limit`
/// characters. The text cannot close the block.
pub fn framed(kind: &str, text: &str, limit: usize) -> String {
    let mut kept = text.chars().count();
    loop {
        let shortened = shortened(text, kept);
        let content = close_fences(&shortened);
        let fence = unused_fence(&content);
        let block = format!("{fence}{kind}\n{content}\n{fence}");
        let excess = block.chars().count().saturating_sub(limit);
        if excess == 0 || kept == 0 {
            return block;
        }
        kept = kept.saturating_sub(excess);
    }
}

/// Location of a message, for texts about it.
pub enum Location {
    Channel {
        /// The URL of the message.
        url: String,
        /// A link that shows channel and topic.
        link: String,
    },
    /// In a direct conversation.
    Direct {
        /// All participants, ascending by id.
        people: Vec<UserId>,
        /// The URL of the message.
        url: String,
    },
}

impl Location {
    /// Loads the location of a message.
    pub fn of(connection: &Connection, message: &MessageRow) -> ApiResult<Self> {
        let id = message.id;
        let Some(stream_id) = access::messages::stream_of(connection, message.recipient_id)? else {
            let people =
                access::messages::direct_user_ids(connection, message.recipient_id)?.unwrap_or_default();
            let url = format!("/#narrow/dm/{}/near/{id}", sql::joined(&people));
            return Ok(Self::Direct { people, url });
        };
        let stream = rows::channel::existing(connection, stream_id)?;
        let name = encode_fragment(&stream.name.replace(' ', "-"));
        let topic = encode_fragment(&message.subject);
        let url = format!("/#narrow/channel/{stream_id}-{name}/topic/{topic}/near/{id}");
        let link = if [&stream.name, &message.subject].iter().all(|text| fits_into_a_link(text)) {
            format!("#**{}>{}@{id}**", stream.name, message.subject)
        } else {
            format!("[#{} > {} @ 💬]({url})", link_text(&stream.name), link_text(&message.subject))
        };
        Ok(Self::Channel { url, link })
    }

    /// The URL of the message.
    pub fn url(&self) -> &str {
        match self {
            Self::Channel { url, .. } | Self::Direct { url, .. } => url,
        }
    }

    /// The URL of its conversation, also after a move. The view there marks messages as read; that of [`Self::url`] does not.
    pub fn conversation_url(&self) -> String {
        // Slashes of names are encoded.
        self.url().replace("/near/", "/with/")
    }
}

/// Names as a list in a sentence: `a`, `a and b`, `a, b, and c`. A space is before each of them, without which mentions are not
/// recognized.
pub fn enumerated(language: Language, names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [one, two] => fill(language.t("{one} and {two}"), &[("one", one), ("two", two)]),
        [rest @ .., last] => {
            fill(language.t("{names}, and {last}"), &[("names", &rest.join(", ")), ("last", last)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_to_their_limit_and_stay_in_their_block() {
        assert_eq!(framed("quote", "~~~py\na", 50), "```quote\n~~~py\na\n~~~\n```");
        assert_eq!(framed("quote", &"`".repeat(900), 100), "```quote\n\n[message truncated]\n```");
        let cut = framed("quote", &"é".repeat(900), 100);
        assert!(cut.chars().count() == 100 && cut.ends_with("é\n[message truncated]\n```"));
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened(&"é".repeat(40), 30), "é".repeat(10) + "\n[message truncated]");
    }

    #[test]
    fn names_are_listed_as_in_each_language() {
        let names =
            |count: usize| ["a", "b", "c"][..count].iter().map(ToString::to_string).collect::<Vec<_>>();
        for (code, lists) in [
            ("en", ["a", "a and b", "a, b, and c"]),
            ("de", ["a", "a und b", "a, b und c"]),
            ("ja", ["a", "a と b", "a, b, c"]),
            ("zh-hans", ["a", "a 和 b", "a, b 和 c"]),
        ] {
            assert_eq!([1, 2, 3].map(|count| enumerated(Language::of(code), &names(count))), lists);
        }
    }
}
