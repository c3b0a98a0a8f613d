//! Pass 4: leaves (paragraphs, headings, rules, tables) to nodes.

use super::{
    atoms::Atoms,
    html::{Element, Node, Tag},
    inline::{self, Context},
    tables::Table,
    tree,
};

/// The content of a paragraph, a tight list item, a heading or a cell.
pub fn running_text(source: &str, context: &mut Context<'_>) -> Vec<Node> {
    without_lone_indentation(inline::nodes(source, context))
}

/// Spaces at the start of a line are kept before text only.
fn without_lone_indentation(nodes: Vec<Node>) -> Vec<Node> {
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

fn is_break(node: &Node) -> bool {
    matches!(node, Node::Element(element) if element.tag == Tag::Break)
}

/// A heading of level 1 to 6.
pub fn heading(level: u8, source: &str, context: &mut Context<'_>) -> Node {
    Element::new(Tag::Heading(level), running_text(source, context)).node()
}

/// A line across.
pub fn rule() -> Node {
    Element::new(Tag::Rule, Vec::new()).node()
}

/// A table.
pub fn table(table: &Table, context: &mut Context<'_>) -> Node {
    let mut atoms = Atoms::default();
    let source = table.to_gfm(|cell| atoms.hold(running_text(cell, context)));
    tree::table(&source, &atoms)
        .unwrap_or_else(|| Element::new(Tag::Paragraph, atoms.restore(&source)).node())
}
