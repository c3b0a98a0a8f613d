//! Pass 3: the text of a leaf to nodes, by rules in order of precedence.
//!
//! Each rule reads the whole text, and what it recognises becomes an atom. The order is part of the dialect: code
//! before mentions, mentions before links, links before addresses, addresses before linkifiers. What is left is
//! plain text with marks of emphasis, which [`super::leaves`] reads.

use super::{
    atoms::Atoms,
    autolinks,
    directory::Directory,
    emoji_text,
    html::{Attribute, Element, Node, SafeUrl, Tag, text},
    links, math, mentions, times,
};

/// What was mentioned in a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    pub user_ids: std::collections::BTreeSet<i64>,
    pub group_ids: std::collections::BTreeSet<i64>,
    pub stream_wildcard: bool,
    pub topic_wildcard: bool,
}

/// What the rules need to know and what they find out.
pub struct Context<'a> {
    pub directory: &'a dyn Directory,
    /// In a quote nobody is notified again: mentions are silent.
    pub in_quote: bool,
    pub mentions: Mentions,
}

/// Applies the rules. The returned text has atoms instead of everything recognised.
pub fn recognise(source: &str, context: &mut Context<'_>, atoms: &mut Atoms) -> String {
    let mut text = hide_reserved(source, atoms);
    if text.contains('`') {
        text = code_spans(&text, atoms);
    }
    if text.contains('@') {
        text = atoms.replace(&text, |_, text, from| mentions::find_user(text, from, context));
    }
    if text.contains("$$") {
        text = atoms.replace(&text, |_, text, from| math::find_inline(text, from));
    }
    if text.contains("#**") {
        text = atoms.replace(&text, |_, text, from| links::find_message(text, from, context.directory));
        text = atoms.replace(&text, |_, text, from| links::find_topic(text, from, context.directory));
        text = atoms.replace(&text, |_, text, from| links::find_channel(text, from, context.directory));
    }
    if text.contains("<time:") {
        text = atoms.replace(&text, |_, text, from| times::find(text, from));
    }
    if text.contains('@') {
        text = atoms.replace(&text, |_, text, from| mentions::find_group(text, from, context));
    }
    if text.contains("](") {
        text = links::markdown_links(&text, context.directory, atoms);
    }
    text = atoms.replace(&text, |_, text, from| find_address(text, from, context.directory));
    for linkifier in context.directory.linkifiers() {
        text = atoms.replace(&text, |_, text, from| {
            let found = linkifier.find_at(text, from)?;
            let link = Element::new(Tag::Anchor, vec![Node::Text(text[found.range.clone()].to_owned())])
                .with(vec![Attribute::Href(found.url)]);
            Some((found.range, Some(vec![link.node()])))
        });
    }
    if text.contains('&') {
        text = atoms.replace(&text, |_, text, from| find_reference(text, from));
    }
    emoji_text::replace(&text, context.directory, atoms)
}

/// Characters that could be mistaken for atoms become atoms themselves.
fn hide_reserved(source: &str, atoms: &mut Atoms) -> String {
    if !source.contains(Atoms::is_reserved) {
        return source.to_owned();
    }
    let hidden = atoms.replace(source, |_, source, from| {
        let at = from + source[from..].find(Atoms::is_reserved)?;
        let character = source[at..].chars().next()?;
        Some((at..at + character.len_utf8(), Some(vec![text(character)])))
    });
    // With more of them than there are places, the rest is dropped rather than confused.
    hidden.chars().filter(|&c| !Atoms::is_reserved(c) || atoms.get(c).is_some()).collect()
}

/// Code between runs of backticks of the same length.
fn code_spans(source: &str, atoms: &mut Atoms) -> String {
    // The runs of each length, from the last to the first, so that the next one is found at once.
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in source.match_indices('`') {
        match runs.last_mut() {
            Some((start, length)) if *start + *length == at => *length += 1,
            _ => runs.push((at, 1)),
        }
    }
    let mut closings: std::collections::HashMap<usize, Vec<usize>> = std::collections::HashMap::new();
    for &(start, length) in runs.iter().rev() {
        closings.entry(length).or_default().push(start);
    }
    let mut openings = runs.iter();
    atoms.replace(source, |atoms, source, from| {
        for &(start, length) in openings.by_ref() {
            let escaped = source[..start].bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1;
            if start < from || escaped {
                continue;
            }
            let candidates = closings.get_mut(&length)?;
            while candidates.last().is_some_and(|&at| at <= start) {
                candidates.pop();
            }
            if let Some(&end) = candidates.last() {
                let code = atoms.restore(&source[start + length..end]);
                return Some((start..end + length, Some(vec![Element::new(Tag::Code, code).node()])));
            }
        }
        None
    })
}

fn find_address(
    source: &str,
    from: usize,
    directory: &dyn Directory,
) -> Option<(std::ops::Range<usize>, Option<Vec<Node>>)> {
    let range = autolinks::find_at(source, from)?;
    let typed = &source[range.clone()];
    let link = SafeUrl::from_text(typed).map(|url| {
        let url = links::relative_to_realm(url, directory);
        vec![Element::new(Tag::Anchor, vec![text(typed)]).with(vec![Attribute::Href(url)]).node()]
    });
    Some((range, link))
}

/// `&amp;`, `&#38;` and the like stay what they are.
fn find_reference(source: &str, from: usize) -> Option<(std::ops::Range<usize>, Option<Vec<Node>>)> {
    source[from..].match_indices('&').find_map(|(at, _)| {
        let start = from + at;
        let end = start + source[start..].bytes().take(40).position(|byte| byte == b';')?;
        let name = &source[start + 1..end];
        let is_reference = match name.strip_prefix('#') {
            Some(number) => match number.strip_prefix(['x', 'X']) {
                Some(digits) => !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
                None => !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()),
            },
            None => !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        };
        is_reference.then(|| (start..end + 1, Some(vec![Node::Reference(name.to_owned())])))
    })
}
