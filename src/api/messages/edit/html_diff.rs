//! The difference between two renderings of a message, as HTML (`content_html_diff`).
//!
//! The result has the tags of the newer rendering, so that it is as well-formed and as safe: inserted text is wrapped in
//! spans, deleted text is added without its tags.

use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};
use std::time::Instant;

const INSERTED: &str = r#"<span class="highlight_text_inserted">"#;
const DELETED: &str = r#"<span class="highlight_text_deleted">"#;
const END: &str = "</span>";

/// Marks the insertions in `new` compared with `old`, and adds the deletions after them. Both must be rendered by this
/// server. The comparison takes quadratic time for texts with little in common; after the deadline the rest is marked
/// as replaced.
pub fn html_diff(old: &str, new: &str, deadline: Instant) -> String {
    let (old, new) = (tokens(old), tokens(new));
    // Spaces are no difference.
    let words = [&old, &new].map(|tokens| tokens.iter().map(|token| token.word).collect::<Vec<_>>());
    let mut out = String::from("<div>");
    for op in differences(&words[0], &words[1], deadline) {
        match op {
            DiffOp::Equal { new_index, len, .. } => {
                for token in &new[new_index..new_index + len] {
                    out.extend([token.word, token.space]);
                }
            }
            DiffOp::Delete { old_index, old_len, .. } => {
                out.push_str(&deleted(&old[old_index..old_index + old_len]));
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                insert(&mut out, &new[new_index..new_index + new_len]);
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                insert(&mut out, &new[new_index..new_index + new_len]);
                let deleted = deleted(&old[old_index..old_index + old_len]);
                let deleted = deleted.trim_end();
                if !deleted.is_empty() {
                    // The space after the inserted text goes behind the deleted text, and one separates the two.
                    let end = out.trim_end().len();
                    let space = out.split_off(end);
                    out.extend([" ", deleted, &space]);
                }
            }
        }
    }
    out.push_str("</div>");
    out
}

/// The operations that turn one list of words into another. The algorithm is no parameter: the program would contain all
/// that the crate has, half a megabyte.
fn differences(old: &[&str], new: &[&str], deadline: Instant) -> Vec<DiffOp> {
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff_deadline(&mut found, old, 0..old.len(), new, 0..new.len(), Some(deadline));
    found.into_inner().into_inner().into_ops()
}

/// A tag or a word, and the space after it.
#[derive(Clone, Copy)]
struct Token<'a> {
    word: &'a str,
    space: &'a str,
}

impl Token<'_> {
    fn is_tag(&self) -> bool {
        self.word.starts_with('<')
    }
}

/// Splits HTML into tags and words.
fn tokens(html: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = html;
    while !rest.is_empty() {
        let length = if rest.starts_with('<') {
            rest.find('>').map_or(rest.len(), |end| end + 1)
        } else {
            rest.find(|character: char| character.is_whitespace() || character == '<').unwrap_or(rest.len())
        };
        let (word, after) = rest.split_at(length);
        rest = after.trim_start();
        tokens.push(Token { word, space: &after[..after.len() - rest.len()] });
    }
    tokens
}

/// Text between tags, without the space after it.
fn text_of(tokens: &[Token<'_>]) -> String {
    let text: String =
        tokens.iter().filter(|token| !token.is_tag()).flat_map(|token| [token.word, token.space]).collect();
    text.trim_end().to_owned()
}

/// Runs of text between tags, each in a span of its own; tags and the spaces around stay outside.
fn insert(out: &mut String, tokens: &[Token<'_>]) {
    for run in tokens.chunk_by(|one, other| one.is_tag() == other.is_tag()) {
        let text = text_of(run);
        if text.trim().is_empty() {
            for token in run {
                out.extend([token.word, token.space]);
            }
        } else {
            out.extend([INSERTED, &text, END, run.last().map_or("", |last| last.space)]);
        }
    }
}

/// Text without tags, in a span, with the space after it outside.
fn deleted(tokens: &[Token<'_>]) -> String {
    let mut spaced = String::new();
    for token in tokens {
        // Tags may stand between two words that have no space.
        let part = if token.is_tag() { token.space } else { token.word };
        spaced.push_str(part);
        if !token.is_tag() {
            spaced.push_str(token.space);
        }
    }
    let text = spaced.trim();
    if text.is_empty() {
        return String::new();
    }
    let space = tokens.last().map_or("", |last| last.space);
    format!("{DELETED}{text}{END}{space}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(3600)
    }

    #[test]
    fn after_the_deadline_the_whole_is_replaced() {
        let diff = html_diff("<p>a b c d</p>", "<p>x b y d</p>", Instant::now());
        let fine = html_diff("<p>a b c d</p>", "<p>x b y d</p>", later());
        assert_ne!(diff, fine);
        assert_eq!(diff.replace(INSERTED, "").matches("</p>").count(), 1, "{diff}");
    }

    // conformance: history-8
    #[test]
    fn differences_are_marked() {
        let inserted = |text: &str| format!("{INSERTED}{text}{END}");
        let deleted = |text: &str| format!("{DELETED}{text}{END}");
        let cases = [
            ("<p>same</p>", "<p>same</p>", "<p>same</p>".to_owned()),
            (
                "<p>content before edit</p>",
                "<p>content after edit</p>",
                format!("<p>content {} {} edit</p>", inserted("after"), deleted("before")),
            ),
            (
                "<p>Hello!</p>",
                "<p>Howdy!</p>",
                format!("<p>{} {}</p>", inserted("Howdy!"), deleted("Hello!")),
            ),
            (
                "<p>one two</p>",
                "<p>one two <strong>three</strong></p>",
                format!("<p>one two <strong>{}</strong></p>", inserted("three")),
            ),
            ("<p>a b c</p>", "<p>a c</p>", format!("<p>a {} c</p>", deleted("b"))),
            ("<p>a</p>\n<ul>\n<li>b</li>\n</ul>", "<p>a</p>", format!("<p>a</p>{}", deleted("b"))),
        ];
        for (old, new, expected) in cases {
            assert_eq!(html_diff(old, new, later()), format!("<div>{expected}</div>"), "{old} {new}");
        }
    }

    /// Small documents with markup that must not leak from one into the other.
    fn html() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-c ]{1,6}",
            Just("&lt;script&gt;".to_owned()),
            "[a-c ]{1,4}".prop_map(|text| format!("<em>{text}</em>")),
            "[a-c]{1,4}".prop_map(|text| format!("<a href=\"{text}\">{text}</a>")),
            Just("<br>\n".to_owned()),
        ];
        prop::collection::vec(piece, 0..8).prop_map(|pieces| format!("<p>{}</p>", pieces.concat()))
    }

    proptest! {
        // conformance: history-9
        #[test]
        fn html_diffs_without_marks_equal_the_new_version(old in html(), new in html()) {
            let mut rest = html_diff(&old, &new, later());
            while let Some(start) = rest.find(DELETED) {
                let end = start + rest[start..].find(END).unwrap() + END.len();
                prop_assert!(!rest[start + DELETED.len()..end - END.len()].contains('<'));
                rest.replace_range(start..end, "");
            }
            let without_space = |text: &str| text.split_whitespace().collect::<String>();
            let rest = rest.replace(INSERTED, "").replace(END, "");
            prop_assert_eq!(without_space(&rest), without_space(&format!("<div>{new}</div>")));
        }
    }
}
