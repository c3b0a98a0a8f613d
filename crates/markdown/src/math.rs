//! Formulas: `$$tex$$` within a line, and `math` fences.

use super::{
    html::{Attribute, Element, Node, Tag, text},
    placeholders::Match,
    typeset::Typesetter,
};

/// Renders the formulas of a fence, which blank lines separate.
pub fn displays(tex: &str, typesetter: &mut Typesetter) -> Vec<Node> {
    let mut nodes = Vec::new();
    for formula in tex.split("\n\n") {
        if !nodes.is_empty() {
            nodes.push(text("\n\n"));
        }
        nodes.push(display(formula, typesetter));
    }
    nodes
}

/// Renders one formula on lines of its own.
fn display(tex: &str, typesetter: &mut Typesetter) -> Node {
    typesetter.typeset(tex, true).map_or_else(|| error(vec![Node::QuotedText(tex.to_owned())]), Node::Formula)
}

/// Renders a formula within a line.
fn inline(tex: &str, typesetter: &mut Typesetter) -> Node {
    typesetter.typeset(tex, false).map_or_else(|| error(vec![text(format!("$${tex}$$"))]), Node::Formula)
}

/// Renders TeX that has errors or is beyond a limit, as typed.
fn error(content: Vec<Node>) -> Node {
    Element::new(Tag::Span, content).with(vec![Attribute::Class("tex-error".to_owned())]).node()
}

/// Finds the next `$$tex$$`.
pub fn find_inline(source: &str, from: usize, typesetter: &mut Typesetter) -> Option<Match> {
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
        return Some((start..end + 2, Some(vec![inline(&source[start + 2..end], typesetter)])));
    }
    None
}

/// Returns the length of the TeX up to the closing `$$`. A backslash escapes a dollar sign.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{html::write_blocks, tests::assert_harmless, typeset::MAX_LENGTH};
    use std::time::Duration;

    fn typesetter() -> Typesetter {
        Typesetter::with_time(Duration::MAX)
    }

    // conformance: md-56
    #[test]
    fn formulas_stand_free_between_dollars() {
        for (source, found) in [
            ("a $$x$$ b", Some("$$x$$")),
            ("a$$x$$", None),
            ("$$x$$b", None),
            ("$$$x$$", None),
            ("$$_$$", None),
            ("$$x\ny$$", None),
            (r"$$5\$$$ $$", Some(r"$$5\$$$")),
            ("$$x", None),
        ] {
            assert_eq!(
                find_inline(source, 0, &mut typesetter()).map(|(range, _)| &source[range]),
                found,
                "{source}"
            );
        }
    }

    // conformance: md-57
    #[test]
    fn nothing_but_formulas_comes_out() {
        for tex in [
            r"\href{javascript:alert(1)}{x}",
            r"\url{javascript:alert(1)}",
            r"\includegraphics{https://example.com/x.png}",
            r"\htmlClass{x}{y}",
            r"\htmlStyle{color:red}{y}",
            r"\htmlData{a=b}{y}",
            r"\text{<script>alert(1)</script>}",
            r#"\color{red"onclick="x}{y}"#,
            r"\textcolor{url(x)}{y}",
            r"\rule{1em;x:y}{1em}",
            "\\unicode{x3c}",
        ] {
            assert_harmless(&write_blocks(&[display(tex, &mut typesetter())]));
        }
    }

    // conformance: md-57, md-65
    #[test]
    fn deep_formulas_and_bombs_end() {
        for tex in [
            "{".repeat(MAX_LENGTH),
            "{".repeat(MAX_LENGTH / 2) + &"}".repeat(MAX_LENGTH / 2),
            r"\sqrt ".repeat(MAX_LENGTH / 6),
            "x^{".repeat(MAX_LENGTH / 4) + &"}".repeat(MAX_LENGTH / 4),
            r"\left(".repeat(MAX_LENGTH / 14) + &r"\right)".repeat(MAX_LENGTH / 14),
            r"\def\a{\a\a}\a".to_owned(),
            r"\def\a{{{{{{{{{{\b}}}}}}}}}}\def\b{{{{{{{{{{\a}}}}}}}}}}\a".to_owned(),
            r"\frac".repeat(MAX_LENGTH / 5),
        ] {
            let html = write_blocks(&[display(&tex, &mut typesetter())]);
            assert_harmless(&html);
        }
    }
}
