//! Pass 4: leaves (paragraphs, headings, rules, tables) to nodes.

use super::{
    html::{Attribute, Element, Node, Tag},
    inline::{self, Context},
    tables::Table,
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

/// A table. One without rows gets an empty row.
pub fn table(table: &Table, context: &mut Context<'_>) -> Node {
    let mut row = |cells: &[String], tag: Tag| {
        let cells = table.alignments.iter().zip(cells).map(|(alignment, cell)| {
            let attributes = alignment.map(Attribute::TextAlign).into_iter().collect();
            Element::new(tag, running_text(cell, context)).with(attributes).node()
        });
        Element::new(Tag::TableRow, cells.collect()).node()
    };
    let head = Element::new(Tag::TableHead, vec![row(&table.header, Tag::TableHeaderCell)]);
    let mut rows: Vec<Node> = table.rows.iter().map(|cells| row(cells, Tag::TableCell)).collect();
    if rows.is_empty() {
        let cells = table.alignments.iter().map(|_| Element::new(Tag::TableCell, Vec::new()).node());
        rows.push(Element::new(Tag::TableRow, cells.collect()).node());
    }
    let body = Element::new(Tag::TableBody, rows);
    Element::new(Tag::Table, vec![head.node(), body.node()]).node()
}
