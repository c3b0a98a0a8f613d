//! The `markdown` crate's syntax tree, and what of it the dialect has.
//!
//! Where emphasis and cells begin and end, the dialect decides by rules of its own ([`super::emphasis`],
//! [`super::tables`]). What they found is written so that CommonMark and GFM cannot read it otherwise, and the tree that
//! the crate makes of it becomes ours. The crate never sees a mark without a partner, which keeps it linear.

use markdown::{
    Constructs, ParseOptions,
    mdast::{self, AlignKind},
};

use super::{
    atoms::{Atoms, NO_SPACE, NOTHING, push_node},
    html::{Attribute, Element, Node, Tag, TextAlign},
};

/// What the crate reads: marks of emphasis, and tables where there is one.
fn options(gfm_table: bool) -> ParseOptions {
    let constructs = Constructs {
        attention: true,
        autolink: false,
        block_quote: false,
        character_escape: false,
        character_reference: false,
        code_indented: false,
        code_fenced: false,
        code_text: false,
        definition: false,
        frontmatter: false,
        gfm_autolink_literal: false,
        gfm_footnote_definition: false,
        gfm_label_start_footnote: false,
        gfm_strikethrough: true,
        gfm_table,
        gfm_task_list_item: false,
        hard_break_escape: false,
        hard_break_trailing: false,
        heading_atx: false,
        heading_setext: false,
        html_flow: false,
        html_text: false,
        label_start_image: false,
        label_start_link: false,
        label_end: false,
        list_item: false,
        math_flow: false,
        math_text: false,
        mdx_esm: false,
        mdx_expression_flow: false,
        mdx_expression_text: false,
        mdx_jsx_flow: false,
        mdx_jsx_text: false,
        thematic_break: false,
    };
    ParseOptions { constructs, gfm_strikethrough_single_tilde: false, ..ParseOptions::default() }
}

fn blocks(source: &str, gfm_table: bool) -> Vec<mdast::Node> {
    match markdown::to_mdast(source, &options(gfm_table)) {
        Ok(mdast::Node::Root(root)) => root.children,
        _ => Vec::new(),
    }
}

// Text --------------------------------------------------------------------------------------------------------

/// A line of text for the crate, with marks that it has to take.
#[derive(Default)]
pub struct MarkedText(String);

/// What the crate would read something into, and what stands for it meanwhile.
const HIDDEN: [(char, char); 4] =
    [('*', '\u{100000}'), ('~', '\u{100001}'), ('_', '\u{100002}'), ('\n', '\u{100003}')];

/// Whether the character could be mistaken for one that stands for another.
pub fn is_reserved(character: char) -> bool {
    HIDDEN.iter().any(|(_, hidden)| *hidden == character)
}

impl MarkedText {
    /// Adds a character that is not a mark, whatever it looks like.
    pub fn push(&mut self, character: char) {
        let hidden = HIDDEN.iter().find(|(shown, _)| *shown == character);
        self.0.push(hidden.map_or(character, |(_, hidden)| *hidden));
    }

    /// Adds a mark that opens: by what surrounds it, it can do nothing else.
    pub fn open(&mut self, mark: &str) {
        self.0.push(NO_SPACE);
        self.0.push_str(mark);
        self.0.push(NOTHING);
    }

    /// Adds a mark that closes.
    pub fn close(&mut self, mark: &str) {
        self.0.push(NOTHING);
        self.0.push_str(mark);
        self.0.push(NO_SPACE);
    }

    /// The nodes of the text, with what atoms stand for.
    pub fn nodes(&self, atoms: &Atoms) -> Vec<Node> {
        // Spaces at the ends would be dropped.
        let source = format!("{NOTHING}{}{NOTHING}", self.0);
        let mut nodes = Vec::new();
        for block in blocks(&source, false) {
            match block {
                mdast::Node::Paragraph(paragraph) => inline(&paragraph.children, atoms, &mut nodes),
                other => inline(&[other], atoms, &mut nodes),
            }
        }
        nodes
    }
}

fn inline(tree: &[mdast::Node], atoms: &Atoms, nodes: &mut Vec<Node>) {
    for node in tree {
        let (tag, children) = match node {
            mdast::Node::Strong(strong) => (Tag::Strong, &strong.children),
            mdast::Node::Emphasis(emphasis) => (Tag::Emphasis, &emphasis.children),
            mdast::Node::Delete(delete) => (Tag::Deletion, &delete.children),
            // No other construct is switched on; its text is shown as text.
            other => {
                for node in plain(&shown(&other.to_string()), atoms) {
                    push_node(nodes, node);
                }
                continue;
            }
        };
        let mut inside = Vec::new();
        inline(children, atoms, &mut inside);
        nodes.push(Element::new(tag, inside).node());
    }
}

/// What was written, without what was put in for the crate.
fn shown(text: &str) -> String {
    let shown = |character| {
        HIDDEN.iter().find(|(_, hidden)| *hidden == character).map_or(character, |(shown, _)| *shown)
    };
    text.chars().filter(|character| !matches!(*character, NO_SPACE | NOTHING)).map(shown).collect()
}

/// Text without marks: line ends become breaks, atoms what they stand for.
pub fn plain(source: &str, atoms: &Atoms) -> Vec<Node> {
    let mut nodes = Vec::new();
    for (index, line) in source.split('\n').enumerate() {
        if index > 0 {
            nodes.push(Element::new(Tag::Break, Vec::new()).node());
        }
        for node in atoms.restore(line) {
            push_node(&mut nodes, node);
        }
    }
    nodes
}

// Tables ------------------------------------------------------------------------------------------------------

/// A table, from its source: each cell is one atom. `None` if it is none.
pub fn table(source: &str, atoms: &Atoms) -> Option<Node> {
    let table = blocks(source, true).into_iter().find_map(|block| match block {
        mdast::Node::Table(table) => Some(table),
        _ => None,
    })?;
    let row = |row: Option<&mdast::Node>, cell_tag: Tag| {
        // Each row has as many cells as the header.
        let cells = table.align.iter().enumerate().map(|(column, align)| {
            let content = row
                .and_then(mdast::Node::children)
                .and_then(|cells| cells.get(column))
                .map_or_else(Vec::new, |cell| atoms.restore(&cell.to_string()));
            let align = match align {
                AlignKind::Left => Some(TextAlign::Left),
                AlignKind::Center => Some(TextAlign::Center),
                AlignKind::Right => Some(TextAlign::Right),
                AlignKind::None => None,
            };
            // The row of a table without rows is not aligned.
            let attributes = align.filter(|_| row.is_some()).map(Attribute::TextAlign).into_iter().collect();
            Element::new(cell_tag, content).with(attributes).node()
        });
        Element::new(Tag::TableRow, cells.collect()).node()
    };
    let mut rows = table.children.iter();
    let head = Element::new(Tag::TableHead, vec![row(rows.next(), Tag::TableHeaderCell)]);
    let mut body: Vec<Node> = rows.map(|cells| row(Some(cells), Tag::TableCell)).collect();
    if body.is_empty() {
        body.push(row(None, Tag::TableCell));
    }
    let body = Element::new(Tag::TableBody, body);
    Some(Element::new(Tag::Table, vec![head.node(), body.node()]).node())
}
