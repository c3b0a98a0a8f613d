//! Markdown fragments for messages that the server writes: mentions, links to messages and topics, quotes.

use crate::domain::access::channel_rows as channels;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::messages as message_access;
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::sql;
use crate::http::{ApiError, ApiResult};
use crate::markdown::{encode_fragment, topic_url};
use crate::types::UserId;
use crate::types::shown_topic;
use rusqlite::Connection;

/// A mention that notifies nobody.
pub fn silent_mention(full_name: &str, user_id: UserId) -> String {
    format!("@_**{full_name}|{user_id}**")
}

/// Silent mentions of the participants of a direct message without its sender, by name. Of the sender, if there is nobody
/// else.
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

/// A time, in UNIX seconds, that readers see in their own time zone.
pub fn global_time(seconds: i64) -> String {
    let time = jiff::Timestamp::from_second(seconds).unwrap_or_default();
    format!("<time:{}>", time.strftime("%Y-%m-%dT%H:%M:%S+00:00"))
}

/// A fence of backticks that a text does not close.
pub fn unused_fence(text: &str) -> String {
    let (mut longest, mut run) = (2, 0);
    for character in text.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(longest + 1)
}

/// Truncates a text to `limit` characters, which include a note that says so.
pub fn shortened(text: &str, limit: usize) -> String {
    const TRUNCATED: &str = "\n[message truncated]";
    if text.len() <= limit || text.chars().count() <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().take(limit.saturating_sub(TRUNCATED.chars().count())).collect();
    kept + TRUNCATED
}

/// Where a message is, for texts about it.
pub enum Location {
    /// In a channel.
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
        let Some(stream_id) = message_access::stream_of(connection, message.recipient_id)? else {
            let people =
                message_access::direct_user_ids(connection, message.recipient_id)?.unwrap_or_default();
            let url = format!("/#narrow/dm/{}/near/{id}", sql::joined(&people));
            return Ok(Self::Direct { people, url });
        };
        let stream = channels::by_id(connection, stream_id)?
            .ok_or_else(|| ApiError::internal("the channel of a message has no row"))?;
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
}

/// A link that shows a channel and a topic of it.
pub fn topic_link(stream: &StreamRow, topic: &str) -> String {
    if [&stream.name, topic].iter().all(|text| fits_into_a_link(text)) {
        return format!("#**{}>{topic}**", stream.name);
    }
    let url = topic_url(stream.stream_id.0, &stream.name, topic);
    let shown = shown_topic(topic, false);
    format!("[#{} > {}]({})", link_text(&stream.name), link_text(shown), url.trim_start_matches('/'))
}

/// Whether a name can stand between `#**` and `**`.
fn fits_into_a_link(text: &str) -> bool {
    !text.contains(['`', '>', '*', '&', '[', ']']) && !text.contains("$$")
}

/// A name as the text of a plain link, without characters that would end the link or be markup.
fn link_text(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, '`' | '*' | '[' | ']' | '$' | '~')).collect()
}

/// Names as a list in a sentence: `a`, `a and b`, `a, b, and c`.
pub fn enumerated(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [rest @ .., last] => format!("{}, and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_about_messages() {
        assert_eq!(global_time(1_790_000_000), "<time:2026-09-21T14:13:20+00:00>");
        assert_eq!(unused_fence("plain `code`"), "```");
        assert_eq!(unused_fence("a\n````quote"), "`````");
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened(&"é".repeat(40), 30), "é".repeat(10) + "\n[message truncated]");
        let names =
            |count: usize| ["a", "b", "c"][..count].iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(enumerated(&names(1)), "a");
        assert_eq!(enumerated(&names(2)), "a and b");
        assert_eq!(enumerated(&names(3)), "a, b, and c");
        assert!(fits_into_a_link("lunch (today)") && !fits_into_a_link("2 > 1") && !fits_into_a_link("a*b"));
        assert_eq!(link_text("2 > 1 & **[x]**"), "2 > 1 & x");
    }
}
