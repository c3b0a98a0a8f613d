//! The difference between two renderings of a message, as HTML (`content_html_diff`).
//!
//! The result has the tags of the newer rendering, so that it is as well-formed and as safe: inserted text is wrapped in
//! spans, deleted text is added without its tags.

use similar::{Algorithm, DiffOp, capture_diff_slices};

const INSERTED: &str = r#"<span class="highlight_text_inserted">"#;
const DELETED: &str = r#"<span class="highlight_text_deleted">"#;
const END: &str = "</span>";

/// Marks in `new` what was inserted since `old`, and adds what was deleted. Both must be rendered here.
pub fn html_diff(old: &str, new: &str) -> String {
    let (old, new) = (tokens(old), tokens(new));
    let mut out = String::with_capacity(new.iter().map(|token| token.len()).sum::<usize>() * 2);
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        match op {
            DiffOp::Equal { new_index, len, .. } => {
                new[new_index..new_index + len].iter().for_each(|token| out.push_str(token));
            }
            DiffOp::Delete { old_index, old_len, .. } => {
                delete(&mut out, &old[old_index..old_index + old_len]);
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                insert(&mut out, &new[new_index..new_index + new_len]);
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                delete(&mut out, &old[old_index..old_index + old_len]);
                insert(&mut out, &new[new_index..new_index + new_len]);
            }
        }
    }
    out
}

/// Splits HTML into tags, words with the space after them, and the space before tags.
fn tokens(html: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = html;
    while !rest.is_empty() {
        let length = if rest.starts_with('<') {
            rest.find('>').map_or(rest.len(), |end| end + 1)
        } else {
            let text = &rest[..rest.find('<').unwrap_or(rest.len())];
            let word = text.find(char::is_whitespace).unwrap_or(text.len());
            let space = text[word..].find(|character: char| !character.is_whitespace());
            space.map_or(text.len(), |space| word + space)
        };
        let (token, after) = rest.split_at(length.max(1));
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn is_tag(token: &str) -> bool {
    token.starts_with('<')
}

/// Runs of text between tags, each in a span of its own; tags stay outside.
fn insert(out: &mut String, tokens: &[&str]) {
    for run in tokens.chunk_by(|one, other| is_tag(one) == is_tag(other)) {
        let text = run.concat();
        if is_tag(&text) || text.trim().is_empty() {
            out.push_str(&text);
        } else {
            out.extend([INSERTED, &text, END]);
        }
    }
}

/// Text without tags.
fn delete(out: &mut String, tokens: &[&str]) {
    let text: String = tokens.iter().copied().filter(|token| !is_tag(token)).collect();
    if !text.trim().is_empty() {
        out.extend([DELETED, &text, END]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // conformance: history-8
    #[test]
    fn what_changed_is_marked() {
        let cases = [
            ("<p>same</p>", "<p>same</p>", "<p>same</p>"),
            (
                "<p>Hello!</p>",
                "<p>Howdy!</p>",
                r#"<p><span class="highlight_text_deleted">Hello!</span><span class="highlight_text_inserted">Howdy!</span></p>"#,
            ),
            (
                "<p>one two</p>",
                "<p>one two <strong>three</strong></p>",
                r#"<p>one <span class="highlight_text_deleted">two</span><span class="highlight_text_inserted">two </span><strong><span class="highlight_text_inserted">three</span></strong></p>"#,
            ),
            (
                "<p>a</p>\n<ul>\n<li>b</li>\n</ul>",
                "<p>a</p>",
                r#"<p>a</p><span class="highlight_text_deleted">
b
</span>"#,
            ),
        ];
        for (old, new, expected) in cases {
            let diff = html_diff(old, new);
            assert_eq!(diff.replace("\n\n", "\n"), expected, "{old} {new}");
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
        fn without_the_marks_it_is_the_newer_one(old in html(), new in html()) {
            let mut rest = html_diff(&old, &new);
            while let Some(start) = rest.find(DELETED) {
                let end = start + rest[start..].find(END).unwrap() + END.len();
                prop_assert!(!rest[start + DELETED.len()..end - END.len()].contains('<'));
                rest.replace_range(start..end, "");
            }
            prop_assert_eq!(rest.replace(INSERTED, "").replace(END, ""), new);
        }
    }
}
