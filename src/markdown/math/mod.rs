//! Formulas: `$$tex$$` in a line and `math` fences, typeset as clients expect (KaTeX's MathML and HTML).

mod write;

use std::{ops::Range, sync::LazyLock, thread};

use katex::{KatexContext, Settings, core::render_to_dom_tree};

use super::html::{Attribute, Element, Node, Tag, text};

/// Longer TeX is shown as it was typed.
const MAXIMUM_LENGTH: usize = 4000;

/// How many macros a formula may expand: enough for long derivations, too few for bombs.
const MAXIMUM_EXPANSIONS: usize = 200;

/// The typesetter calls itself for each level of nesting. Its own thread has room for the deepest formula of
/// [`MAXIMUM_LENGTH`]; pages that are not used cost nothing.
const STACK_SIZE: usize = 64 * 1024 * 1024;

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

    /// Well-formed HTML of the tags that `write` knows.
    pub fn html(&self) -> &str {
        &self.html
    }
}

/// A formula on lines of its own.
pub fn display(tex: &str) -> Node {
    typeset(tex, true).unwrap_or_else(|| error(vec![Node::FixedText(tex.to_owned())]))
}

/// A formula in a line of text.
fn inline(tex: &str) -> Node {
    typeset(tex, false).unwrap_or_else(|| error(vec![text(format!("$${tex}$$"))]))
}

/// TeX that cannot be typeset is shown as it was typed.
fn error(content: Vec<Node>) -> Node {
    Element::new(Tag::Span, content).with(vec![Attribute::Class("tex-error".to_owned())]).node()
}

fn typeset(tex: &str, display_mode: bool) -> Option<Node> {
    static CONTEXT: LazyLock<KatexContext> = LazyLock::new(KatexContext::default);
    if tex.len() > MAXIMUM_LENGTH {
        return None;
    }
    let source = tex.to_owned();
    // The tree is built, written and dropped in the thread: each of these goes down all levels.
    let typesetter =
        thread::Builder::new().name("typeset".to_owned()).stack_size(STACK_SIZE).spawn(move || {
            let settings = Settings::builder()
                .display_mode(display_mode)
                .throw_on_error(true)
                .max_expand(MAXIMUM_EXPANSIONS)
                .build();
            let tree = render_to_dom_tree(&CONTEXT, &source, &settings).ok()?;
            write::html(&tree).map(|html| Formula { source, html })
        });
    let formula = typesetter.ok()?.join().ok()??;
    Some(Node::Formula(formula))
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
        return Some((start..end + 2, Some(vec![inline(&source[start + 2..end])])));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::{html::write_blocks, tests::assert_harmless};

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
            assert_eq!(find_inline(source, 0).map(|(range, _)| &source[range]), found, "{source}");
        }
    }

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
            assert_harmless(&write_blocks(&[display(tex)]));
        }
    }

    #[test]
    fn deep_formulas_and_bombs_end() {
        for tex in [
            "{".repeat(MAXIMUM_LENGTH),
            "{".repeat(MAXIMUM_LENGTH / 2) + &"}".repeat(MAXIMUM_LENGTH / 2),
            r"\sqrt ".repeat(MAXIMUM_LENGTH / 6),
            "x^{".repeat(MAXIMUM_LENGTH / 4) + &"}".repeat(MAXIMUM_LENGTH / 4),
            r"\left(".repeat(MAXIMUM_LENGTH / 14) + &r"\right)".repeat(MAXIMUM_LENGTH / 14),
            r"\def\a{\a\a}\a".to_owned(),
            r"\def\a{{{{{{{{{{\b}}}}}}}}}}\def\b{{{{{{{{{{\a}}}}}}}}}}\a".to_owned(),
            r"\frac".repeat(MAXIMUM_LENGTH / 5),
        ] {
            let html = write_blocks(&[display(&tex)]);
            assert_harmless(&html);
        }
    }
}
