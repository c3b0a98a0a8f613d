//! The content of a leaf block to nodes, by rules in order of precedence.
//!
//! Each rule reads the whole text and replaces its matches by placeholders. The order is part of the dialect: code, `***`,
//! mentions, formulas, links to channels, times, links, autolinks, linkifiers, character references, emphasis, emoji.

use std::collections::HashMap;

use super::{
    autolinks, channel_links,
    context::Context,
    directory::Directory,
    emphasis,
    html::{Attribute, Element, Node, Tag, find_reference, text},
    inline_emoji, links, math, mentions,
    placeholders::{Match, Placeholders},
    times,
    url::SafeUrl,
};

/// Parses the content of a paragraph, a tight list item, a heading or a cell.
pub fn parse(source: &str, context: &mut Context<'_>) -> Vec<Node> {
    let mut placeholders = Placeholders::default();
    let mut text = hide_reserved(source, &mut placeholders);
    if text.contains('`') {
        text = replace_code_spans(&text, &mut placeholders);
    }
    let directory = context.directory;
    let replace_emoji =
        |text: &str, placeholders: &mut Placeholders| inline_emoji::replace(text, directory, placeholders);
    if text.contains("***") {
        let mut apply_rules =
            |inside: &str, placeholders: &mut Placeholders| apply_rules(inside, context, placeholders);
        text = emphasis::replace_strong_emphasis(&text, &mut placeholders, &replace_emoji, &mut apply_rules);
    }
    let text = apply_rules(&text, context, &mut placeholders);
    without_lone_indentation(emphasis::nodes(&text, &mut placeholders, &replace_emoji))
}

/// Applies the rules from mentions to character references.
fn apply_rules(source: &str, context: &mut Context<'_>, placeholders: &mut Placeholders) -> String {
    let mut text = source.to_owned();
    if text.contains('@') {
        text = placeholders.replace(&text, |_, text, from| mentions::find_user(text, from, context));
    }
    if text.contains("$$") {
        text = placeholders
            .replace(&text, |_, text, from| math::find_inline(text, from, &mut context.typesetter));
    }
    if text.contains("#**") {
        for find in [channel_links::find_message, channel_links::find_topic, channel_links::find_channel] {
            text = placeholders
                .replace(&text, |placeholders, text, from| find(text, from, placeholders, context.directory));
        }
    }
    if text.contains("<time:") {
        text = placeholders.replace(&text, |_, text, from| times::find(text, from));
    }
    if text.contains('@') {
        text = placeholders.replace(&text, |_, text, from| mentions::find_group(text, from, context));
    }
    if text.contains("](") {
        text = links::replace(&text, context.directory, placeholders);
    }
    text = placeholders.replace(&text, |placeholders, text, from| {
        find_autolink(text, from, placeholders, context.directory)
    });
    for linkifier in context.directory.linkifiers() {
        text = placeholders.replace(&text, |placeholders, text, from| {
            let found = linkifier.find_at(text, from, |group| placeholders.text_content(group))?;
            let link = Element::new(Tag::Anchor, placeholders.label(&text[found.range.clone()]))
                .with(vec![Attribute::Href(found.url)]);
            Some((found.range, Some(vec![link.node()])))
        });
    }
    if text.contains('&') {
        text = placeholders.replace(&text, |_, text, from| {
            let range = find_reference(text, from)?;
            let reference = Node::Reference(text[range.start + 1..range.end - 1].to_owned());
            Some((range, Some(vec![reference])))
        });
    }
    text
}

/// Replaces characters that could be mistaken for placeholders by placeholders.
fn hide_reserved(source: &str, placeholders: &mut Placeholders) -> String {
    if !source.contains(Placeholders::is_reserved) {
        return source.to_owned();
    }
    let hidden = placeholders.replace(source, |_, source, from| {
        let at = from + source[from..].find(Placeholders::is_reserved)?;
        let character = source[at..].chars().next()?;
        Some((at..at + character.len_utf8(), Some(vec![text(character)])))
    });
    // If placeholders run out, the rest is dropped.
    hidden.chars().filter(|&c| !Placeholders::is_reserved(c) || placeholders.get(c).is_some()).collect()
}

/// Replaces code between runs of backticks of the same length. A backslash before a run escapes its first backtick, and two
/// backslashes there are one.
fn replace_code_spans(source: &str, placeholders: &mut Placeholders) -> String {
    // The runs of each length from last to first: looking for the next one pops the passed ones.
    let runs = backtick_runs(source);
    let mut closings: HashMap<usize, Vec<usize>> = HashMap::new();
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
        // As many backticks as possible open the code; the rest are part of it.
        let start = start + backslashes % 2;
        let span = (1..=length - backslashes % 2).rev().find_map(|marks| {
            let candidates = closings.get_mut(&marks)?;
            while candidates.last().is_some_and(|&at| at <= start) {
                candidates.pop();
            }
            candidates.last().map(|&end| (marks, end))
        });
        let Some((marks, end)) = span else { continue };
        let code = Element::new(Tag::Code, placeholders.expand(&source[start + marks..end])).node();
        output.push_str(&source[position..start]);
        match placeholders.insert(vec![code]) {
            Some(placeholder) => output.push(placeholder),
            None => output.push_str(&source[start..end + marks]),
        }
        position = end + marks;
    }
    output.push_str(&source[position..]);
    output
}

/// Returns the start and length of each run of backticks.
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

/// Finds the next URL or email address that is not marked as a link.
fn find_autolink(
    source: &str,
    from: usize,
    placeholders: &Placeholders,
    directory: &dyn Directory,
) -> Option<Match> {
    let range = autolinks::find_at(source, from)?;
    let typed = &source[range.clone()];
    let link = SafeUrl::from_text(&placeholders.text_content(typed)).map(|url| {
        let url = links::relative_to_realm(url, directory);
        vec![Element::new(Tag::Anchor, placeholders.label(typed)).with(vec![Attribute::Href(url)]).node()]
    });
    Some((range, link))
}

/// Removes spaces at the start of a line that no text follows.
fn without_lone_indentation(nodes: Vec<Node>) -> Vec<Node> {
    let is_break = |node: &Node| matches!(node, Node::Element(element) if element.tag == Tag::Break);
    let mut kept: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut nodes = nodes.into_iter().peekable();
    while let Some(node) = nodes.next() {
        let is_blank = matches!(&node, Node::Text(text) if text.trim().is_empty());
        let starts_line = kept.last().is_some_and(is_break);
        if !(is_blank && starts_line && !matches!(nodes.peek(), Some(Node::Reference(_)))) {
            kept.push(node);
        }
    }
    kept
}
