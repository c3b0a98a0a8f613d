//! Links: to channels, topics and messages (`#**channel>topic@123**`), and `[text](address)`.

use std::{collections::HashMap, fmt::Write as _, ops::Range};

use super::{
    atoms::Atoms,
    directory::Directory,
    html::{Attribute, Element, Node, SafeUrl, Tag, text, text_content, text_with_references},
    previews,
};

type Found = (Range<usize>, Option<Vec<Node>>);

/// The text between the next `#**` that stands free and the `**` behind it.
fn find_reference(source: &str, from: usize, accept: impl Fn(&str) -> bool) -> Option<(Range<usize>, &str)> {
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

/// The next link to a message.
pub fn find_message(source: &str, from: usize, atoms: &Atoms, directory: &dyn Directory) -> Option<Found> {
    let (range, inner) = find_reference(source, from, |inner| message_reference(inner).is_some())?;
    let (channel, topic, message_id) = message_reference(inner)?;
    let topic = &atoms.plain(topic);
    let nodes = directory.channel(channel).map(|channel| {
        let href = message_url(channel.stream_id, &channel.name, topic, message_id);
        let mut shown = topic_text(&channel.name, topic, directory);
        shown.push(text(" @ 💬"));
        link(vec![Attribute::Class("message-link".to_owned())], &href, shown)
    });
    Some((range, nodes.flatten()))
}

/// The next link to a topic. It names the topic's newest message, so that it survives a move of the topic.
pub fn find_topic(source: &str, from: usize, atoms: &Atoms, directory: &dyn Directory) -> Option<Found> {
    let is_topic = |inner: &str| inner.split_once('>').is_some_and(|(channel, _)| !channel.is_empty());
    let (range, inner) = find_reference(source, from, is_topic)?;
    let (channel, topic) = inner.split_once('>')?;
    let topic = &atoms.plain(topic);
    let nodes = directory.channel(channel).and_then(|channel| {
        let mut href = topic_url(channel.stream_id, &channel.name, topic);
        if let Some(message_id) = directory.newest_message_in_topic(channel.stream_id, topic) {
            let separator = if topic.is_empty() { "" } else { "/" };
            let _ = write!(href, "{separator}with/{message_id}");
        }
        let shown = topic_text(&channel.name, topic, directory);
        let class = Attribute::Class("stream-topic".to_owned());
        link(vec![class, Attribute::DataStreamId(channel.stream_id)], &href, shown)
    });
    Some((range, nodes))
}

/// The next link to a channel.
pub fn find_channel(source: &str, from: usize, _: &Atoms, directory: &dyn Directory) -> Option<Found> {
    let (range, inner) = find_reference(source, from, |_| true)?;
    let nodes = directory.channel(inner).and_then(|channel| {
        let href = channel_url(channel.stream_id, &channel.name);
        let class = Attribute::Class("stream".to_owned());
        link(
            vec![class, Attribute::DataStreamId(channel.stream_id)],
            &href,
            vec![text(format!("#{}", channel.name))],
        )
    });
    Some((range, nodes))
}

fn link(mut attributes: Vec<Attribute>, href: &str, shown: Vec<Node>) -> Option<Vec<Node>> {
    attributes.push(Attribute::Href(SafeUrl::from_text(href)?));
    Some(vec![Element::new(Tag::Anchor, shown).with(attributes).node()])
}

fn topic_text(channel_name: &str, topic: &str, directory: &dyn Directory) -> Vec<Node> {
    if topic.is_empty() {
        let name = Element::new(Tag::Emphasis, vec![text(directory.empty_topic_display_name())]);
        return vec![text(format!("#{channel_name} > ")), name.node()];
    }
    vec![text(format!("#{channel_name} > {topic}"))]
}

fn channel_url(stream_id: i64, name: &str) -> String {
    format!("/#narrow/channel/{stream_id}-{}", encode_fragment(&name.replace(' ', "-")))
}

/// The address of a topic of a channel, relative to the organization's.
pub fn topic_url(stream_id: i64, name: &str, topic: &str) -> String {
    format!("{}/topic/{}", channel_url(stream_id, name), encode_fragment(topic))
}

/// The address of a message in a topic of a channel, relative to the organization's.
pub fn message_url(stream_id: i64, name: &str, topic: &str, message_id: i64) -> String {
    format!("{}/near/{message_id}", topic_url(stream_id, name, topic))
}

/// Percent encoding with `.` for `%`, as addresses of narrows have it.
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

/// Links into this organization do not depend on its address.
pub fn relative_to_realm(url: SafeUrl, directory: &dyn Directory) -> SafeUrl {
    let realm_url = directory.realm_url();
    let local = url.as_str().strip_prefix(realm_url).filter(|_| !realm_url.is_empty());
    let relative = match local.map(|path| (path, path.strip_prefix("/#"))) {
        Some((_, Some(fragment))) => SafeUrl::from_text(&format!("#{fragment}")),
        Some((path, None)) if path.starts_with("/user_uploads/") => SafeUrl::from_text(path),
        _ => None,
    };
    relative.unwrap_or(url)
}

/// Replaces `[text](address "title")` by links; one whose address is not safe stays text.
pub fn markdown_links(source: &str, directory: &dyn Directory, atoms: &mut Atoms) -> String {
    let punctuation = Punctuation::of(source);
    atoms.replace(source, |atoms, source, from| {
        source[from..].match_indices('[').find_map(|(at, _)| {
            let start = from + at;
            let close = *punctuation.closings.get(&start)?;
            let Target { address, title, end } = punctuation.target(source, close + 1)?;
            let address = atoms.plain(address);
            let url = relative_to_realm(SafeUrl::from_text(&address)?, directory);
            let label = atoms.label(&source[start + 1..close]);
            let label = if text_content(&label).trim().is_empty() && !label.iter().any(is_element) {
                text_with_references(url.as_str())
            } else {
                label
            };
            if source[from..start].ends_with('!') {
                // An image by this syntax is text, and only a sound has a player.
                let player = audio_player(&url, &label, directory)?;
                return Some((start - 1..end, Some(vec![player])));
            }
            let mut attributes = vec![Attribute::Href(url)];
            attributes.extend(
                title.map(|title| {
                    Attribute::Title(atoms.plain(title.trim()).replace(char::is_whitespace, " "))
                }),
            );
            Some((start..end, Some(vec![Element::new(Tag::Anchor, label).with(attributes).node()])))
        })
    })
}

/// `![title](address)` of a sound: an uploaded one, or one of another site by its ending.
fn audio_player(url: &SafeUrl, label: &[Node], directory: &dyn Directory) -> Option<Node> {
    const TYPES: [&str; 6] =
        ["audio/aac", "audio/flac", "audio/mpeg", "audio/vnd.wave", "audio/wav", "audio/x-wav"];
    const ENDINGS: [&str; 4] = [".aac", ".flac", ".mp3", ".wav"];
    let source = match path_id(url) {
        Some(path_id) => {
            let file = directory.uploaded_file(path_id)?;
            TYPES.contains(&file.content_type.as_str()).then(|| url.clone())?
        }
        None => SafeUrl::from_text(&directory.external_media_url(url.as_str()))
            .filter(|_| previews::is_elsewhere_with_ending(url, &ENDINGS))?,
    };
    let mut attributes = vec![Attribute::Controls];
    if source != *url {
        attributes.push(Attribute::DataOriginalUrl(url.clone()));
    }
    attributes.extend([
        Attribute::PreloadMetadata,
        Attribute::Src(source),
        Attribute::Title(text_content(label)),
    ]);
    Some(Element::new(Tag::Audio, Vec::new()).with(attributes).node())
}

/// The path id of an uploaded file: what follows `/user_uploads/`.
pub fn path_id(url: &SafeUrl) -> Option<&str> {
    let path = url.as_str().strip_prefix("/user_uploads/")?;
    let path = path.split(['?', '#']).next()?;
    (!path.is_empty() && !path.split('/').any(|part| part.is_empty() || part == "..")).then_some(path)
}

fn is_element(node: &Node) -> bool {
    matches!(node, Node::Element(_))
}

/// The punctuation of links in a text, found in one go, so that no text makes us look at a part of it again and again.
#[derive(Default)]
struct Punctuation {
    /// Where each `[` or `(` that has a partner is closed.
    closings: HashMap<usize, usize>,
    /// The quotation marks, of each kind in the order they stand.
    quotes: [Vec<usize>; 2],
    /// Those before a `)`, with what is behind it: a title may end there.
    title_ends: [Vec<(usize, usize)>; 2],
}

impl Punctuation {
    fn of(source: &str) -> Self {
        let mut found = Self::default();
        let (mut brackets, mut parentheses) = (Vec::new(), Vec::new());
        for (at, byte) in source.bytes().enumerate() {
            match byte {
                b'[' => brackets.push(at),
                b'(' => parentheses.push(at),
                b']' => found.close(&mut brackets, at),
                b')' => found.close(&mut parentheses, at),
                b'"' | b'\'' => {
                    let kind = usize::from(byte == b'"');
                    found.quotes[kind].push(at);
                    let after = source[at + 1..].trim_start_matches(' ');
                    if after.starts_with(')') {
                        found.title_ends[kind].push((at, source.len() - after.len() + 1));
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn close(&mut self, open: &mut Vec<usize>, at: usize) {
        if let Some(start) = open.pop() {
            self.closings.insert(start, at);
        }
    }

    /// Where the title stands whose first quotation mark this may be, and what is behind the `)` after it. It may start
    /// with the next mark of the other kind as well, if that one is closed earlier.
    fn title(&self, quote: usize) -> Option<(Range<usize>, usize)> {
        let titles = self.quotes.iter().zip(&self.title_ends).filter_map(|(quotes, ends)| {
            let &start = quotes.get(quotes.partition_point(|&at| at < quote))?;
            let &(at, end) = ends.get(ends.partition_point(|&(at, _)| at <= start))?;
            Some((start..at, end))
        });
        titles.min_by_key(|(_, end)| *end)
    }

    /// The first quotation mark behind a position.
    fn next_quote(&self, from: usize) -> Option<usize> {
        let next = |quotes: &Vec<usize>| quotes.get(quotes.partition_point(|&at| at < from)).copied();
        self.quotes.iter().filter_map(next).min()
    }

    /// Reads `(address "title")` at a position. Parentheses in an address may nest.
    fn target<'a>(&self, source: &'a str, from: usize) -> Option<Target<'a>> {
        let inner = source[from..].strip_prefix('(')?;
        if let Some(target) = pointed_target(source, inner) {
            return Some(target);
        }
        let closing = self.closings.get(&from).copied();
        let quote = self.next_quote(from).filter(|&quote| closing.is_none_or(|closing| quote < closing));
        match quote.and_then(|quote| self.title(quote)) {
            Some((title, end)) => Some(Target {
                address: source[from + 1..title.start].trim(),
                title: Some(&source[title.start + 1..title.end]),
                end,
            }),
            None => closing.map(|closing| Target {
                address: source[from + 1..closing].trim(),
                title: None,
                end: closing + 1,
            }),
        }
    }
}

/// What stands in the parentheses of a link.
#[derive(Debug, PartialEq, Eq)]
struct Target<'a> {
    address: &'a str,
    title: Option<&'a str>,
    /// Behind the closing parenthesis.
    end: usize,
}

/// `<address>` or `<address> "title"`, up to the parenthesis.
fn pointed_target<'a>(source: &'a str, inner: &'a str) -> Option<Target<'a>> {
    let pointed = inner.trim_start().strip_prefix('<')?;
    let end = pointed.find(['>', '<']).filter(|&end| pointed[end..].starts_with('>'))?;
    let after = pointed[end + 1..].trim_start();
    let (title, after) = match after.strip_prefix(['"', '\'']) {
        Some(title) => {
            let length = title.find(&after[..1])?;
            (Some(&title[..length]), title[length + 1..].trim_start())
        }
        None => (None, after),
    };
    let after = after.strip_prefix(')')?;
    Some(Target { address: pointed[..end].trim(), title, end: source.len() - after.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_end_with_their_parentheses() {
        for (source, address, title, after) in [
            ("(a) b", "a", None, " b"),
            ("( a(b)c ) d", "a(b)c", None, " d"),
            ("(a \"title\") b", "a", Some("title"), " b"),
            ("(a 't\"') b", "a", Some("t\""), " b"),
            ("(a \"x) \" b", "a \"x", None, " \" b"),
            ("(a \"x) y\") b", "a", Some("x) y"), " b"),
            ("(a'b') c", "a", Some("b"), " c"),
            ("(a'b \"c\") d", "a'b", Some("c"), " d"),
            ("(it's) b", "it's", None, " b"),
            ("(<a b>) c", "a b", None, " c"),
            ("(<a> \"b\" ) c", "a", Some("b"), " c"),
            ("(<a) c", "<a", None, " c"),
        ] {
            let end = source.len() - after.len();
            assert_eq!(
                Punctuation::of(source).target(source, 0),
                Some(Target { address, title, end }),
                "{source}"
            );
        }
        for source in ["(a", "a)", "", "((a)"] {
            assert_eq!(Punctuation::of(source).target(source, 0), None, "{source}");
        }
    }

    #[test]
    fn fragments_are_encoded_with_dots() {
        assert_eq!(encode_fragment("a b/c.d(é)"), "a.20b.2Fc.2Ed.28.C3.A9.29");
        assert_eq!(channel_url(9, "my channel"), "/#narrow/channel/9-my-channel");
    }
}
