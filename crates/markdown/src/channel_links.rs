//! Links to channels, topics and messages: `#**channel>topic@123**`.

use std::{fmt::Write as _, ops::Range};

use super::{
    directory::Directory,
    html::{Attribute, Element, Node, Tag, text},
    placeholders::{Match, Placeholders},
    url::SafeUrl,
};

/// Finds the next `#**text**` behind a space or an opening mark, and returns its text too.
fn find_marked(source: &str, from: usize, accept: impl Fn(&str) -> bool) -> Option<(Range<usize>, &str)> {
    source[from..].match_indices("#**").find_map(|(at, marks)| {
        let start = from + at;
        let before = source[..start].chars().next_back();
        if before.is_some_and(|c| !c.is_whitespace() && !matches!(c, '\'' | '"' | '(' | ',' | ':' | '<')) {
            return None;
        }
        let inner = &source[start + marks.len()..];
        let inner = &inner[..inner.find('*')?];
        let end = start + marks.len() + inner.len();
        (!inner.is_empty() && source[end..].starts_with("**") && accept(inner))
            .then(|| (start..end + 2, inner))
    })
}

/// Splits `channel>topic@123`.
fn message_reference(inner: &str) -> Option<(&str, &str, i64)> {
    let (channel, rest) = inner.split_once('>')?;
    let (topic, message_id) = rest.rsplit_once('@')?;
    let digits = !message_id.is_empty() && message_id.bytes().all(|byte| byte.is_ascii_digit());
    (digits && !channel.is_empty()).then_some(())?;
    Some((channel, topic, message_id.parse().ok()?))
}

/// Finds the next link to a message.
pub fn find_message(
    source: &str,
    from: usize,
    placeholders: &Placeholders,
    directory: &dyn Directory,
) -> Option<Match> {
    let (range, inner) = find_marked(source, from, |inner| message_reference(inner).is_some())?;
    let (channel, topic, message_id) = message_reference(inner)?;
    let topic = &placeholders.text_content(topic);
    let nodes = directory.channel(channel).map(|channel| {
        let href = message_url(channel.stream_id, &channel.name, topic, message_id);
        let mut shown = topic_text(&channel.name, topic, directory.empty_topic_display_name());
        shown.push(text(" @ 💬"));
        link(vec![Attribute::Class("message-link".to_owned())], &href, shown)
    });
    Some((range, nodes.flatten()))
}

/// Finds the next link to a topic. It has the id of the newest message, so that it survives a move of the topic.
pub fn find_topic(
    source: &str,
    from: usize,
    placeholders: &Placeholders,
    directory: &dyn Directory,
) -> Option<Match> {
    let is_topic = |inner: &str| inner.split_once('>').is_some_and(|(channel, _)| !channel.is_empty());
    let (range, inner) = find_marked(source, from, is_topic)?;
    let (channel, topic) = inner.split_once('>')?;
    let topic = &placeholders.text_content(topic);
    let nodes = directory.channel(channel).and_then(|channel| {
        let newest = directory.newest_message_in_topic(channel.stream_id, topic);
        let empty = directory.empty_topic_display_name();
        topic_link((channel.stream_id, &channel.name), topic, newest, empty)
    });
    Some((range, nodes))
}

/// Finds the next link to a channel.
pub fn find_channel(source: &str, from: usize, _: &Placeholders, directory: &dyn Directory) -> Option<Match> {
    let (range, inner) = find_marked(source, from, |_| true)?;
    let nodes = directory.channel(inner).and_then(|channel| channel_link(channel.stream_id, &channel.name));
    Some((range, nodes))
}

/// Creates a link to a channel, with its name after `#` as the text.
pub fn channel_link(stream_id: i64, name: &str) -> Option<Vec<Node>> {
    let attributes = vec![Attribute::Class("stream".to_owned()), Attribute::DataStreamId(stream_id)];
    link(attributes, &channel_url(stream_id, name), vec![text(format!("#{name}"))])
}

/// A link to a topic of a channel. `newest` is a message in it, with which the link survives a move. `empty` is the display
/// name of the empty topic.
pub fn topic_link(
    (stream_id, channel): (i64, &str),
    topic: &str,
    newest: Option<i64>,
    empty: &str,
) -> Option<Vec<Node>> {
    let mut href = topic_url(stream_id, channel, topic);
    if let Some(message_id) = newest {
        let _ = write!(href, "/with/{message_id}");
    }
    let attributes = vec![Attribute::Class("stream-topic".to_owned()), Attribute::DataStreamId(stream_id)];
    link(attributes, &href, topic_text(channel, topic, empty))
}

fn link(mut attributes: Vec<Attribute>, href: &str, shown: Vec<Node>) -> Option<Vec<Node>> {
    attributes.push(Attribute::Href(SafeUrl::from_text(href)?));
    Some(vec![Element::new(Tag::Anchor, shown).with(attributes).node()])
}

fn topic_text(channel_name: &str, topic: &str, empty: &str) -> Vec<Node> {
    if topic.is_empty() {
        let name = Element::new(Tag::Emphasis, vec![text(empty)]);
        return vec![text(format!("#{channel_name} > ")), name.node()];
    }
    vec![text(format!("#{channel_name} > {topic}"))]
}

fn channel_url(stream_id: i64, name: &str) -> String {
    format!("/#narrow/channel/{stream_id}-{}", encode_fragment(&name.replace(' ', "-")))
}

/// Returns the URL of a topic, relative to the organization.
pub fn topic_url(stream_id: i64, name: &str, topic: &str) -> String {
    format!("{}/topic/{}", channel_url(stream_id, name), encode_fragment(topic))
}

/// Returns the URL of a message, relative to the organization.
pub fn message_url(stream_id: i64, name: &str, topic: &str, message_id: i64) -> String {
    format!("{}/near/{message_id}", topic_url(stream_id, name, topic))
}

/// Percent-encodes with `.` for `%`, as URLs of narrows do.
pub fn encode_fragment(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'~') {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, ".{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    // conformance: md-48
    #[test]
    fn fragments_are_encoded_with_dots() {
        assert_eq!(encode_fragment("a b/c.d(é)"), "a.20b.2Fc.2Ed.28.C3.A9.29");
        assert_eq!(channel_url(9, "my channel"), "/#narrow/channel/9-my-channel");
    }
}
