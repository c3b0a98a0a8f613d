//! Placeholders: finished nodes of a text, each represented by one private-use character.
//!
//! Constructs recognized by a rule (a code span, a mention, a link) are hidden from the following rules. Their nodes go
//! into [`Placeholders`], and the text continues with a single character that is neither a letter nor punctuation nor
//! space.

use std::ops::Range;

use super::html::{Element, Node, Tag, text_content, text_with_references};

/// Placeholders are U+F0001 to U+FFFFD (a private use area).
const FIRST: u32 = 0xF_0001;
const LAST: u32 = 0xF_FFFD;

/// A match of a rule: its range in bytes, and its nodes. `None` leaves the range as it is.
pub type Match = (Range<usize>, Option<Vec<Node>>);

/// The placeholders of one text.
#[derive(Debug, Default)]
pub struct Placeholders {
    nodes: Vec<Vec<Node>>,
}

impl Placeholders {
    /// Stores nodes and returns their placeholder; `None` when all are in use.
    pub fn insert(&mut self, nodes: Vec<Node>) -> Option<char> {
        let code = u32::try_from(self.nodes.len()).ok().and_then(|index| FIRST.checked_add(index))?;
        let placeholder = char::from_u32(code).filter(|_| code <= LAST)?;
        self.nodes.push(nodes);
        Some(placeholder)
    }

    /// Returns the nodes of a placeholder; `None` for an ordinary character.
    pub fn get(&self, character: char) -> Option<&[Node]> {
        let index = u32::from(character).checked_sub(FIRST)?;
        self.nodes.get(usize::try_from(index).ok()?).map(Vec::as_slice)
    }

    /// Checks whether the character could be mistaken for a placeholder.
    pub fn is_reserved(character: char) -> bool {
        (FIRST..=LAST).contains(&u32::from(character))
    }

    /// Returns the nodes of a text, with placeholders replaced by theirs.
    pub fn expand(&self, text: &str) -> Vec<Node> {
        let mut nodes = Vec::new();
        self.expand_into(text, &mut nodes);
        nodes
    }

    /// Returns the nodes of a text, with a break for each line end.
    pub fn expand_lines(&self, text: &str) -> Vec<Node> {
        let mut nodes = Vec::new();
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                nodes.push(Element::new(Tag::Break, Vec::new()).node());
            }
            self.expand_into(line, &mut nodes);
        }
        nodes
    }

    fn expand_into(&self, text: &str, nodes: &mut Vec<Node>) {
        let mut rest = text;
        while let Some((at, character, found)) =
            rest.char_indices().find_map(|(at, character)| Some((at, character, self.get(character)?)))
        {
            push_text(nodes, &rest[..at]);
            for node in found {
                match node {
                    Node::Text(text) => push_text(nodes, text),
                    other => nodes.push(other.clone()),
                }
            }
            rest = &rest[at + character.len_utf8()..];
        }
        push_text(nodes, rest);
    }

    /// Returns the visible text of a part of the source.
    pub fn text_content(&self, source: &str) -> String {
        text_content(&self.expand(source))
    }

    /// Returns the nodes of the text of a link, in which character references are not decoded.
    pub fn label(&self, source: &str) -> Vec<Node> {
        let mut nodes = Vec::new();
        for node in self.expand(source) {
            match node {
                Node::Text(text) => nodes.extend(text_with_references(&text)),
                other => nodes.push(other),
            }
        }
        nodes
    }

    /// Replaces matches by placeholders. `find` gets the text and a position, and returns the first match at or after it.
    pub fn replace(
        &mut self,
        text: &str,
        mut find: impl FnMut(&Self, &str, usize) -> Option<Match>,
    ) -> String {
        let mut output = String::with_capacity(text.len());
        let mut position = 0;
        while let Some((range, nodes)) = find(self, text, position) {
            output.push_str(&text[position..range.start]);
            match nodes.and_then(|nodes| self.insert(nodes)) {
                Some(placeholder) => output.push(placeholder),
                None => output.push_str(&text[range.clone()]),
            }
            position = range.end;
        }
        output.push_str(&text[position..]);
        output
    }
}

/// Adds text, joined to the text before it.
fn push_text(nodes: &mut Vec<Node>, text: &str) {
    match nodes.last_mut() {
        _ if text.is_empty() => {}
        Some(Node::Text(before)) => before.push_str(text),
        _ => nodes.push(Node::Text(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::text;

    // conformance: md-64
    #[test]
    fn placeholders_expand_in_order() {
        let mut placeholders = Placeholders::default();
        let replaced = placeholders.replace("one two three two", |_, text, from| {
            text[from..].find("two").map(|at| (from + at..from + at + 3, Some(vec![rule()])))
        });
        assert_eq!(replaced.chars().count(), "one 2 three 2".len());
        assert_eq!(placeholders.expand(&replaced), [text("one "), rule(), text(" three "), rule()]);
    }

    fn rule() -> Node {
        Element::new(Tag::Rule, Vec::new()).node()
    }

    // conformance: md-64
    #[test]
    fn placeholders_run_out() {
        let mut placeholders = Placeholders::default();
        let last = (0..70_000).filter_map(|_| placeholders.insert(Vec::new())).last();
        assert_eq!(last, char::from_u32(LAST));
        assert!(Placeholders::is_reserved('\u{FFFFD}'));
        assert!(!Placeholders::is_reserved('\u{E000}'));
    }
}
