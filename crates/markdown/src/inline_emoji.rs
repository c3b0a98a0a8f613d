//! Emoji in plain text: `:name:`, emoticons such as `:)`, and the characters themselves.

use super::{
    directory::Directory,
    emoji,
    html::{Attribute, Element, Node, Tag, text},
    placeholders::Placeholders,
    url::SafeUrl,
};

/// Emoticons and the names of the emoji they become.
const EMOTICONS: [(&str, &str); 14] = [
    (":)", "smile"),
    ("(:", "smile"),
    (":(", "frown"),
    ("<3", "heart"),
    (":|", "neutral"),
    (":/", "confused"),
    (";)", "wink"),
    (":D", "grinning"),
    (":P", "stuck_out_tongue"),
    (":p", "stuck_out_tongue"),
    (":o", "open_mouth"),
    (":O", "open_mouth"),
    (":'(", "cry"),
    ("=)", "smile"),
];

/// Replaces emoji by placeholders.
pub fn replace(source: &str, directory: &dyn Directory, placeholders: &mut Placeholders) -> String {
    let may_start = |c: char| matches!(c, ':' | '(' | '<' | ';' | '=') || !c.is_ascii();
    if !source.contains(may_start) {
        return source.to_owned();
    }
    let mut output = String::with_capacity(source.len());
    let mut rest = source;
    let mut before: Option<char> = None;
    while let Some(character) = rest.chars().next() {
        // A `:name:` of no emoji is skipped with both colons.
        let (length, found) = named(rest, directory)
            .or_else(|| emoticon(rest, before).filter(|_| directory.translates_emoticons()))
            .or_else(|| character_sequence(rest))
            .unwrap_or((character.len_utf8(), None));
        match found.and_then(|node| placeholders.insert(vec![node])) {
            Some(placeholder) => output.push(placeholder),
            None => output.push_str(&rest[..length]),
        }
        before = rest[..length].chars().next_back();
        rest = &rest[length..];
    }
    output
}

/// Parses `:name:` at the start of a text. Returns its length, and no node if no emoji has the name.
fn named(source: &str, directory: &dyn Directory) -> Option<(usize, Option<Node>)> {
    let inner = source.strip_prefix(':')?;
    let length = inner.find(|c| !emoji::is_name_character(c))?;
    if length == 0 || !inner[length..].starts_with(':') {
        return None;
    }
    let name = &inner[..length];
    let node = if let Some(custom) = directory.custom_emoji(name) {
        image(name, &custom.source_url)
    } else if name == emoji::EXTRA_EMOJI_NAME {
        image(name, emoji::EXTRA_EMOJI_URL)
    } else {
        emoji::by_name(name).map(|found| span(found.code, name))
    };
    Some((length + 2, node))
}

/// Parses an emoticon at the start of a text, between spaces or punctuation.
fn emoticon(source: &str, before: Option<char>) -> Option<(usize, Option<Node>)> {
    const ENDS: &str = ",.;?!()[] \"'\n\t";
    let ends = |c: char| ENDS.contains(c);
    if !before.is_none_or(ends) {
        return None;
    }
    EMOTICONS.iter().find_map(|(emoticon, name)| {
        let after = source.strip_prefix(emoticon)?.chars().next();
        let found = emoji::by_name(name).filter(|_| after.is_none_or(ends))?;
        Some((emoticon.len(), Some(span(found.code, name))))
    })
}

/// Parses the characters of an emoji at the start of a text.
fn character_sequence(source: &str) -> Option<(usize, Option<Node>)> {
    let length = emoji::sequence_length(source)?;
    let mut characters = source[..length].chars();
    let first = characters.next()?;
    if characters.next().is_none() && emoji::is_text_by_default(first) {
        return None;
    }
    let found = emoji::by_characters(&source[..length]);
    Some((length, found.map(|found| span(found.code, found.canonical_name()))))
}

fn span(code: &str, name: &str) -> Node {
    let title = name.replace('_', " ");
    Element::new(Tag::Span, vec![text(format!(":{name}:"))])
        .with(vec![
            Attribute::AriaLabel(title.clone()),
            Attribute::Class(format!("emoji emoji-{code}")),
            Attribute::RoleImage,
            Attribute::Title(title),
        ])
        .node()
}

fn image(name: &str, url: &str) -> Option<Node> {
    let attributes = vec![
        Attribute::Alt(format!(":{name}:")),
        Attribute::Class("emoji".to_owned()),
        Attribute::Src(SafeUrl::from_text(url)?),
        Attribute::Title(name.replace('_', " ")),
    ];
    Some(Element::new(Tag::Image, Vec::new()).with(attributes).node())
}
