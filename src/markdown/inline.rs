//! Pass 3: the text of a leaf to nodes, by rules in order of precedence.
//!
//! Each rule reads the whole text, and what it recognises becomes an atom. The order is part of the dialect: code
//! before mentions, mentions before links, links before addresses, addresses before linkifiers, and then marks of
//! emphasis and emoji.

use super::{
    atoms::Atoms,
    autolinks,
    directory::Directory,
    emoji_text, emphasis,
    html::{Attribute, Element, Node, SafeUrl, Tag, find_reference, text},
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

/// The nodes of a text.
pub fn nodes(source: &str, context: &mut Context<'_>) -> Vec<Node> {
    let mut atoms = Atoms::default();
    let mut text = hide_reserved(source, &mut atoms);
    if text.contains('`') {
        text = code_spans(&text, &mut atoms);
    }
    let directory = context.directory;
    let replace_emoji = |text: &str, atoms: &mut Atoms| emoji_text::replace(text, directory, atoms);
    if text.contains("***") {
        let mut recognise = |inside: &str, atoms: &mut Atoms| recognise(inside, context, atoms);
        text = emphasis::replace_both(&text, &mut atoms, &replace_emoji, &mut recognise);
    }
    let text = recognise(&text, context, &mut atoms);
    emphasis::nodes(&text, &mut atoms, &replace_emoji)
}

/// Applies the rules from mentions on. The returned text has atoms instead of everything recognised.
fn recognise(source: &str, context: &mut Context<'_>, atoms: &mut Atoms) -> String {
    let mut text = source.to_owned();
    if text.contains('@') {
        text = atoms.replace(&text, |_, text, from| mentions::find_user(text, from, context));
    }
    if text.contains("$$") {
        text = atoms.replace(&text, |_, text, from| math::find_inline(text, from));
    }
    if text.contains("#**") {
        for find in [links::find_message, links::find_topic, links::find_channel] {
            text = atoms.replace(&text, |atoms, text, from| find(text, from, atoms, context.directory));
        }
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
    text = atoms.replace(&text, |atoms, text, from| find_address(text, from, atoms, context.directory));
    for linkifier in context.directory.linkifiers() {
        text = atoms.replace(&text, |atoms, text, from| {
            let found = linkifier.find_at(text, from, |group| atoms.plain(group))?;
            let link = Element::new(Tag::Anchor, atoms.label(&text[found.range.clone()]))
                .with(vec![Attribute::Href(found.url)]);
            Some((found.range, Some(vec![link.node()])))
        });
    }
    if text.contains('&') {
        text = atoms.replace(&text, |_, text, from| {
            let range = find_reference(text, from)?;
            let reference = Node::Reference(text[range.start + 1..range.end - 1].to_owned());
            Some((range, Some(vec![reference])))
        });
    }
    text
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

/// Code between runs of backticks of the same length. A backslash before a run takes its first backtick away; two
/// backslashes there are one.
fn code_spans(source: &str, atoms: &mut Atoms) -> String {
    // The runs of each length, from the last to the first, so that the next one is found at once.
    let runs = backtick_runs(source);
    let mut closings: std::collections::HashMap<usize, Vec<usize>> = std::collections::HashMap::new();
    for &(start, length) in runs.iter().rev() {
        closings.entry(length).or_default().push(start);
    }
    let mut output = String::with_capacity(source.len());
    let mut position = 0;
    for &(start, length) in &runs {
        if start < position {
            continue;
        }
        let backslashes = source[position..start].bytes().rev().take_while(|&byte| byte == b'\\').count();
        if backslashes % 2 == 0 {
            output.push_str(&source[position..start - backslashes / 2]);
            position = start;
        }
        // Of the backticks here as many as possible open the code; those left over are part of it.
        let start = start + backslashes % 2;
        let span = (1..=length - backslashes % 2).rev().find_map(|marks| {
            let candidates = closings.get_mut(&marks)?;
            while candidates.last().is_some_and(|&at| at <= start) {
                candidates.pop();
            }
            candidates.last().map(|&end| (marks, end))
        });
        let Some((marks, end)) = span else { continue };
        let code = Element::new(Tag::Code, atoms.restore(&source[start + marks..end])).node();
        output.push_str(&source[position..start]);
        match atoms.hold(vec![code]) {
            Some(place) => output.push(place),
            None => output.push_str(&source[start..end + marks]),
        }
        position = end + marks;
    }
    output.push_str(&source[position..]);
    output
}

/// Start and length of each run of backticks.
fn backtick_runs(source: &str) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in source.match_indices('`') {
        match runs.last_mut() {
            Some((start, length)) if *start + *length == at => *length += 1,
            _ => runs.push((at, 1)),
        }
    }
    runs
}

fn find_address(
    source: &str,
    from: usize,
    atoms: &Atoms,
    directory: &dyn Directory,
) -> Option<(std::ops::Range<usize>, Option<Vec<Node>>)> {
    let range = autolinks::find_at(source, from)?;
    let typed = &source[range.clone()];
    let link = SafeUrl::from_text(&atoms.plain(typed)).map(|url| {
        let url = links::relative_to_realm(url, directory);
        vec![Element::new(Tag::Anchor, atoms.label(typed)).with(vec![Attribute::Href(url)]).node()]
    });
    Some((range, link))
}
