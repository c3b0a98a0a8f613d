//! Atoms: finished parts of a text, each held in its place by one private character.
//!
//! What a rule has recognised (a code span, a mention, a link) no later rule may look into. So it becomes an atom,
//! and the text goes on with a single character that is neither a letter nor punctuation nor space.

use super::html::{Node, text_content, text_with_references};
use super::tree;

/// Atoms are U+F0001, U+F0002 and so on (a private use area).
const FIRST: u32 = 0xF_0001;
const LAST: u32 = 0xF_FFFD;

/// Stands for nothing. Beside a mark of emphasis it is "not space, not punctuation" for the CommonMark parser.
pub const NOTHING: char = '\u{F0000}';

/// Stands for nothing. Beside a mark of emphasis it is "space" for the CommonMark parser.
pub const NO_SPACE: char = '\u{2028}';

/// The atoms of one text.
#[derive(Debug, Default)]
pub struct Atoms {
    held: Vec<Vec<Node>>,
}

impl Atoms {
    /// Holds nodes and returns the character that stands for them; `None` when there are too many.
    pub fn hold(&mut self, nodes: Vec<Node>) -> Option<char> {
        let code = u32::try_from(self.held.len()).ok().and_then(|index| FIRST.checked_add(index))?;
        let place = char::from_u32(code).filter(|_| code <= LAST)?;
        self.held.push(nodes);
        Some(place)
    }

    /// What a character stands for; `None` for an ordinary character.
    pub fn get(&self, character: char) -> Option<&[Node]> {
        let index = u32::from(character).checked_sub(FIRST)?;
        self.held.get(usize::try_from(index).ok()?).map(Vec::as_slice)
    }

    /// Whether the character could be mistaken for an atom's, or for one that is put in for the CommonMark parser.
    pub fn is_reserved(character: char) -> bool {
        matches!(character, NOTHING | NO_SPACE)
            || tree::is_reserved(character)
            || (FIRST..=LAST).contains(&u32::from(character))
    }

    /// The nodes of a text that no rule reads any more.
    pub fn restore(&self, text: &str) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut plain = String::new();
        for character in text.chars() {
            if let Some(held) = self.get(character) {
                push_text(&mut nodes, std::mem::take(&mut plain));
                for node in held {
                    push_node(&mut nodes, node.clone());
                }
            } else {
                plain.push(character);
            }
        }
        push_text(&mut nodes, plain);
        nodes
    }

    /// A part of a text as its reader sees it.
    pub fn plain(&self, part: &str) -> String {
        text_content(&self.restore(part))
    }

    /// The nodes of a part that becomes the text of a link: character references stay what they are.
    pub fn label(&self, part: &str) -> Vec<Node> {
        let mut nodes = Vec::new();
        for node in self.restore(part) {
            match node {
                Node::Text(text) => nodes.extend(text_with_references(&text)),
                other => nodes.push(other),
            }
        }
        nodes
    }

    /// Replaces the parts of a text that `find` reports by atoms. `find` gets the text and the position from which
    /// to look, and answers with a part at or behind it and what it becomes; `None` leaves that part as it is.
    pub fn replace(
        &mut self,
        text: &str,
        mut find: impl FnMut(&Self, &str, usize) -> Option<(std::ops::Range<usize>, Option<Vec<Node>>)>,
    ) -> String {
        let mut output = String::with_capacity(text.len());
        let mut position = 0;
        while let Some((range, nodes)) = find(self, text, position) {
            output.push_str(&text[position..range.start]);
            match nodes.and_then(|nodes| self.hold(nodes)) {
                Some(place) => output.push(place),
                None => output.push_str(&text[range.clone()]),
            }
            position = range.end;
        }
        output.push_str(&text[position..]);
        output
    }
}

/// Adds a node; text is joined to the text before it.
pub fn push_node(nodes: &mut Vec<Node>, node: Node) {
    match node {
        Node::Text(text) => push_text(nodes, text),
        other => nodes.push(other),
    }
}

/// Adds text, joined to the text before it.
pub fn push_text(nodes: &mut Vec<Node>, text: String) {
    if text.is_empty() {
        return;
    }
    match nodes.last_mut() {
        Some(Node::Text(before)) => before.push_str(&text),
        _ => nodes.push(Node::Text(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::html::{Element, Tag, text};

    #[test]
    fn atoms_come_back_in_their_places() {
        let mut atoms = Atoms::default();
        let replaced = atoms.replace("one two three two", |_, text, from| {
            text[from..].find("two").map(|at| (from + at..from + at + 3, Some(vec![rule()])))
        });
        assert_eq!(replaced.chars().count(), "one 2 three 2".len());
        assert_eq!(atoms.restore(&replaced), [text("one "), rule(), text(" three "), rule()]);
    }

    fn rule() -> Node {
        Element::new(Tag::Rule, Vec::new()).node()
    }

    #[test]
    fn there_is_a_last_atom() {
        let mut atoms = Atoms::default();
        let last = (0..70_000).filter_map(|_| atoms.hold(Vec::new())).last();
        assert_eq!(last, char::from_u32(LAST));
        assert!(Atoms::is_reserved('\u{FFFFD}'));
        assert!(!Atoms::is_reserved('\u{E000}'));
    }
}
