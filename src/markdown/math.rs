//! Formulas: `$$tex$$` in a line and `math` fences.

use std::ops::Range;

use super::html::Node;

/// A formula as HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    source: String,
    html: String,
}

impl Formula {
    /// The TeX as typed.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Well-formed HTML.
    pub fn html(&self) -> &str {
        &self.html
    }
}

/// Typesets a formula; `display` for one on lines of its own.
pub fn formula(tex: &str, display: bool) -> Node {
    let _ = display;
    Node::Formula(Formula { source: tex.to_owned(), html: String::new() })
}

/// The next `$$tex$$`.
pub fn find_inline(source: &str, from: usize) -> Option<(Range<usize>, Option<Vec<Node>>)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut position = from;
    while let Some(start) = source[position..].find("$$").map(|at| position + at) {
        position = start + 2;
        let body = &source[start + 2..];
        let before = source[..start].chars().next_back();
        if before.is_some_and(|c| is_word(c) || c == '$') || body.starts_with(['_', '$', '\n']) {
            continue;
        }
        let Some(length) = body_length(body) else { continue };
        let end = start + 2 + length;
        if source[end + 2..].starts_with(|c| is_word(c) || c == '$') {
            continue;
        }
        return Some((start..end + 2, Some(vec![formula(&source[start + 2..end], false)])));
    }
    None
}

/// The length of the TeX up to the closing `$$`. A dollar sign inside is escaped by a backslash.
fn body_length(body: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, character) in body.char_indices() {
        match character {
            '\n' => return None,
            '$' if !escaped => return (at > 0 && body[at..].starts_with("$$")).then_some(at),
            _ => {}
        }
        escaped = character == '\\' && !escaped;
    }
    None
}
