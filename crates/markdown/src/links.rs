//! Links by syntax: `[text](url "title")`, and audio players: `![title](url)`.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use super::{
    directory::Directory,
    html::{Attribute, Element, Node, Tag, text_content, text_with_references},
    placeholders::Placeholders,
    url::SafeUrl,
};

/// A text in one line as the label of a link: without the backticks and brackets that would end it.
pub fn link_label(text: &str) -> Cow<'_, str> {
    let label = if backticks_match(text) { Cow::Borrowed(text) } else { Cow::Owned(text.replace('`', "'")) };
    if brackets_match(&label) { label } else { Cow::Owned(label.replace(['[', ']'], "")) }
}

/// An address as the target of a link: the characters are encoded that would end it.
pub fn link_target(address: &str) -> String {
    let mut encoded = String::with_capacity(address.len());
    for character in address.chars() {
        match character {
            '(' => encoded.push_str("%28"),
            ')' => encoded.push_str("%29"),
            '<' => encoded.push_str("%3C"),
            '>' => encoded.push_str("%3E"),
            '`' => encoded.push_str("%60"),
            // A quotation mark before the closing parenthesis would end a title.
            '"' => encoded.push_str("%22"),
            '\'' => encoded.push_str("%27"),
            ' ' => encoded.push_str("%20"),
            character if character.is_control() || character.is_whitespace() => {}
            character => encoded.push(character),
        }
    }
    encoded
}

/// True if brackets are balanced, and none of them is a link.
fn brackets_match(text: &str) -> bool {
    let mut open = 0_usize;
    for character in text.chars() {
        match character {
            '[' => open += 1,
            ']' if open == 0 => return false,
            ']' => open -= 1,
            _ => {}
        }
    }
    open == 0 && !text.contains("](")
}

/// True if all code in a line ends within it. Other code would go on behind the link.
fn backticks_match(text: &str) -> bool {
    let mut open = 0;
    let runs = text.split(|character| character != '`').map(str::len).filter(|length| *length > 0);
    for length in runs {
        open = match open {
            0 => length,
            open if open == length => 0,
            open => open,
        };
    }
    // A backslash makes the next backtick a character.
    open == 0 && !text.contains("\\`")
}

/// Removes the origin of URLs of this organization, so that they do not depend on its domain.
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

/// Replaces `[text](url "title")` by links. One whose URL is not safe stays text.
pub fn replace(source: &str, directory: &dyn Directory, placeholders: &mut Placeholders) -> String {
    let punctuation = Punctuation::of(source);
    placeholders.replace(source, |placeholders, source, from| {
        source[from..].match_indices('[').find_map(|(at, _)| {
            let start = from + at;
            let close = *punctuation.closings.get(&start)?;
            let Target { url, title, end } = punctuation.target(source, close + 1)?;
            let url = SafeUrl::from_text(&placeholders.text_content(url))?;
            let url = relative_to_realm(url, directory);
            let label = placeholders.label(&source[start + 1..close]);
            let label = if text_content(&label).trim().is_empty() && !label.iter().any(is_element) {
                text_with_references(url.as_str())
            } else {
                label
            };
            if source[from..start].ends_with('!') {
                // An image by this syntax stays text; only a sound gets a player.
                let player = audio_player(&url, &label, directory)?;
                return Some((start - 1..end, Some(vec![player])));
            }
            let mut attributes = vec![Attribute::Href(url)];
            attributes.extend(title.map(|title| {
                Attribute::Title(placeholders.text_content(title.trim()).replace(char::is_whitespace, " "))
            }));
            Some((start..end, Some(vec![Element::new(Tag::Anchor, label).with(attributes).node()])))
        })
    })
}

/// Creates the player of a sound: an uploaded one by its type, or an external one by its extension.
fn audio_player(url: &SafeUrl, label: &[Node], directory: &dyn Directory) -> Option<Node> {
    const TYPES: [&str; 6] =
        ["audio/aac", "audio/flac", "audio/mpeg", "audio/vnd.wave", "audio/wav", "audio/x-wav"];
    const EXTENSIONS: [&str; 4] = [".aac", ".flac", ".mp3", ".wav"];
    let source = match url.path_id() {
        Some(path_id) => {
            let file = directory.uploaded_file(path_id)?;
            TYPES.contains(&file.content_type.as_str()).then(|| url.clone())?
        }
        None => SafeUrl::from_text(&directory.external_media_url(url.as_str()))
            .filter(|_| url.is_external() && url.has_extension(&EXTENSIONS))?,
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

fn is_element(node: &Node) -> bool {
    matches!(node, Node::Element(_))
}

/// Positions of the punctuation of links, found in one pass: looking them up for each link keeps the time linear.
#[derive(Default)]
struct Punctuation {
    /// The closing bracket of each `[` or `(` that has one.
    closings: HashMap<usize, usize>,
    /// Quotation marks of each kind, in order.
    quotes: [Vec<usize>; 2],
    /// Quotation marks of each kind before a `)`, with the position after it: titles may end there.
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

    /// Returns the range of the title that this quotation mark or the next one of the other kind opens, whichever closes
    /// first, and the position behind the `)`.
    fn title(&self, quote: usize) -> Option<(Range<usize>, usize)> {
        let titles = self.quotes.iter().zip(&self.title_ends).filter_map(|(quotes, ends)| {
            let &start = quotes.get(quotes.partition_point(|&at| at < quote))?;
            let &(at, end) = ends.get(ends.partition_point(|&(at, _)| at <= start))?;
            Some((start..at, end))
        });
        titles.min_by_key(|(_, end)| *end)
    }

    /// Finds the first quotation mark at or after a position.
    fn next_quote(&self, from: usize) -> Option<usize> {
        let next = |quotes: &Vec<usize>| quotes.get(quotes.partition_point(|&at| at < from)).copied();
        self.quotes.iter().filter_map(next).min()
    }

    /// Parses `(url "title")` at a position. Parentheses in the URL may nest.
    fn target<'a>(&self, source: &'a str, from: usize) -> Option<Target<'a>> {
        let inner = source[from..].strip_prefix('(')?;
        if let Some(target) = pointed_target(source, inner) {
            return Some(target);
        }
        let closing = self.closings.get(&from).copied();
        let quote = self.next_quote(from).filter(|&quote| closing.is_none_or(|closing| quote < closing));
        match quote.and_then(|quote| self.title(quote)) {
            Some((title, end)) => Some(Target {
                url: source[from + 1..title.start].trim(),
                title: Some(&source[title.start + 1..title.end]),
                end,
            }),
            None => closing.map(|closing| Target {
                url: source[from + 1..closing].trim(),
                title: None,
                end: closing + 1,
            }),
        }
    }
}

/// The content of the parentheses of a link.
#[derive(Debug, PartialEq, Eq)]
struct Target<'a> {
    url: &'a str,
    title: Option<&'a str>,
    /// The position behind the closing parenthesis.
    end: usize,
}

/// Parses `<url>` or `<url> "title"`, up to the parenthesis.
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
    Some(Target { url: pointed[..end].trim(), title, end: source.len() - after.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_addresses_are_whole_targets() {
        for address in
            ["https://e.com/a_(b", "https://e.com/?a=\"b\"", "https://e.com/?a='b'", "https://e.com/a b)"]
        {
            let encoded = link_target(address);
            let source = format!("({encoded})");
            let whole = Target { url: &encoded, title: None, end: source.len() };
            assert_eq!(Punctuation::of(&source).target(&source, 0), Some(whole), "{address}");
        }
    }

    // conformance: md-28
    #[test]
    fn targets_end_with_their_parentheses() {
        for (source, url, title, after) in [
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
                Some(Target { url, title, end }),
                "{source}"
            );
        }
        for source in ["(a", "a)", "", "((a)"] {
            assert_eq!(Punctuation::of(source).target(source, 0), None, "{source}");
        }
    }
}
