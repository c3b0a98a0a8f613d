//! Emphasis: `***`, `**`, `*` and `~~`.
//!
//! The dialect has neither the flanking rules of CommonMark nor `_`. Delimiters are matched from the strongest kind to the
//! weakest, each leftmost first and within a line. A span becomes a placeholder, and only weaker delimiters are matched
//! inside of it. So a weaker span may contain a stronger one, but spans never overlap. `***` is matched before mentions and
//! links ([`replace_strong_emphasis`]), the others after them ([`nodes`]).

use std::ops::Range;

use super::{
    html::{Element, MAX_DEPTH, Node, Tag},
    placeholders::Placeholders,
};

/// Replaces emoji by placeholders, in text without delimiters.
pub type ReplaceEmoji<'a> = &'a dyn Fn(&str, &mut Placeholders) -> String;

/// The kinds of delimiters that are matched last, the strongest first.
const DELIMITERS: [(&str, Tag); 3] = [("**", Tag::Strong), ("*", Tag::Emphasis), ("~~", Tag::Deletion)];

/// Replaces `***a***` by placeholders. `apply_rules` applies the rules of precedence between `***` and `**` to the text
/// inside, which has no further star.
pub fn replace_strong_emphasis(
    source: &str,
    placeholders: &mut Placeholders,
    replace_emoji: ReplaceEmoji<'_>,
    apply_rules: &mut dyn FnMut(&str, &mut Placeholders) -> String,
) -> String {
    replace(source, find_strong_emphasis, &mut |inside| {
        let inside = apply_rules(inside, placeholders);
        let emphasis = Element::new(Tag::Emphasis, nodes(&inside, placeholders, replace_emoji));
        placeholders.insert(vec![Element::new(Tag::Strong, vec![emphasis.node()]).node()])
    })
}

/// Returns the nodes of a text in which every other rule has been applied.
pub fn nodes(source: &str, placeholders: &mut Placeholders, replace_emoji: ReplaceEmoji<'_>) -> Vec<Node> {
    weaker_nodes(&DELIMITERS, source, placeholders, replace_emoji)
}

fn weaker_nodes(
    delimiters: &[(&str, Tag)],
    source: &str,
    placeholders: &mut Placeholders,
    replace_emoji: ReplaceEmoji<'_>,
) -> Vec<Node> {
    let mut text = source.to_owned();
    let mut weaker = delimiters;
    while let Some((&(delimiter, tag), rest)) = weaker.split_first() {
        weaker = rest;
        if !text.contains(delimiter) {
            continue;
        }
        let mut insert = |inside: &str| {
            let inside = weaker_nodes(weaker, inside, placeholders, replace_emoji);
            placeholders.insert(vec![Element::new(tag, inside).node()])
        };
        text = match tag {
            Tag::Strong => replace(&text, find_strong, &mut insert),
            Tag::Emphasis => replace_emphasis(&text, &mut insert),
            _ => replace(&text, find_deletion, &mut insert),
        };
    }
    let text = replace_emoji(&text, placeholders);
    placeholders.expand_lines(&text)
}

/// A span: its range with and without delimiters, in bytes.
struct Span {
    outer: Range<usize>,
    inner: Range<usize>,
}

impl Span {
    fn new(start: usize, delimiter: usize, close: usize) -> Self {
        Self { outer: start..close + delimiter, inner: start + delimiter..close }
    }
}

/// Replaces spans from left to right by the result of `insert` for their text.
fn replace(
    source: &str,
    find: fn(&str, usize) -> Option<Span>,
    insert: &mut dyn FnMut(&str) -> Option<char>,
) -> String {
    let mut output = String::with_capacity(source.len());
    let mut position = 0;
    while let Some(span) = find(source, position) {
        output.push_str(&source[position..span.outer.start]);
        match insert(&source[span.inner]) {
            Some(placeholder) => output.push(placeholder),
            None => output.push_str(&source[span.outer.clone()]),
        }
        position = span.outer.end;
    }
    output.push_str(&source[position..]);
    output
}

/// `***a***`: no star, `^` or line end inside, and no space beside the marks.
fn find_strong_emphasis(source: &str, from: usize) -> Option<Span> {
    let mut position = from;
    while let Some(start) = source[position..].find("***").map(|at| position + at) {
        let inside = &source[start + 3..];
        let length = inside.find(['*', '^', '\n']).unwrap_or(inside.len());
        if has_no_outer_space(&inside[..length]) && inside[length..].starts_with("***") {
            return Some(Span::new(start, 3, start + 3 + length));
        }
        position = start + 1;
    }
    None
}

/// `**a**`: at least one character inside, and no line end.
fn find_strong(source: &str, from: usize) -> Option<Span> {
    let mut position = from;
    while let Some(start) = source[position..].find("**").map(|at| position + at) {
        let inside = &source[start + 2..];
        let first = inside.chars().next()?.len_utf8();
        let length = first + inside[first..].find("**")?;
        match inside[..length].find('\n') {
            None => return Some(Span::new(start, 2, start + 2 + length)),
            // Without an end for this one, there is none for a later one in the line.
            Some(line_end) => position = start + 2 + line_end,
        }
    }
    None
}

/// `~~a~~`: exactly two on either side, and none inside.
fn find_deletion(source: &str, from: usize) -> Option<Span> {
    let mut opening: Option<usize> = None;
    let mut position = from;
    while let Some(at) = source[position..].find(['~', '\n']).map(|at| position + at) {
        let rest = &source[at..];
        let length = rest.len() - rest.trim_start_matches('~').len();
        let follows_another = source[..at].ends_with('~');
        match opening {
            Some(start) if length == 2 => return Some(Span::new(start, 2, at)),
            _ => opening = (length == 2 && !follows_another).then_some(at),
        }
        position = at + length.max(1);
    }
    None
}

/// Replaces `*a*`: no star, `^` or line end inside, and no space beside the marks. A replaced span is text to the stars
/// around it.
fn replace_emphasis(source: &str, insert: &mut dyn FnMut(&str) -> Option<char>) -> String {
    let mut output = String::with_capacity(source.len());
    // For each open star, the text between the open star before it and itself, and the nesting depth of that text.
    let mut open: Vec<(String, usize)> = Vec::new();
    let (mut text, mut depth) = (String::new(), 0);
    for character in source.chars() {
        match character {
            '*' if !open.is_empty() && depth < MAX_DEPTH && has_no_outer_space(&text) => {
                let (before, depth_before) = open.pop().unwrap_or_default();
                let replaced = insert(&text).map_or_else(|| format!("*{text}*"), String::from);
                text = before + &replaced;
                depth = depth_before.max(depth + 1);
            }
            '*' => open.push((std::mem::take(&mut text), std::mem::take(&mut depth))),
            '^' | '\n' => {
                for (before, _) in open.drain(..) {
                    output.push_str(&before);
                    output.push('*');
                }
                output.push_str(&text);
                output.push(character);
                text.clear();
                depth = 0;
            }
            _ => text.push(character),
        }
    }
    for (before, _) in open {
        output.push_str(&before);
        output.push('*');
    }
    output + &text
}

fn has_no_outer_space(inside: &str) -> bool {
    !inside.is_empty() && !inside.starts_with(char::is_whitespace) && !inside.ends_with(char::is_whitespace)
}
