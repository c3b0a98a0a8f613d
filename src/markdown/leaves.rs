//! Pass 4: leaves (paragraphs, headings, rules, tables) through the `markdown` crate's syntax tree.
//!
//! The crate decides what CommonMark and the dialect agree on. Emphasis they do not agree on: the dialect pairs
//! marks within a line, whatever surrounds them, and knows no `_`. So the marks that count are found here and framed
//! so that the crate must take them, and all others are hidden from it. That also keeps its running time linear:
//! it never sees a mark that has no partner.

use std::ops::Range;

use markdown::{
    Constructs, ParseOptions,
    mdast::{self, AlignKind},
};

use super::{
    atoms::{Atoms, NO_SPACE, NOTHING, push_text},
    html::{Attribute, Element, Node, Tag, TextAlign, text},
    inline::{self, Context},
};

/// What the crate reads in running text.
fn text_constructs() -> Constructs {
    Constructs {
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
        gfm_table: false,
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
    }
}

/// What it reads where the block pass has seen a heading, a rule or a table.
fn special_constructs() -> Constructs {
    Constructs { gfm_table: true, heading_atx: true, thematic_break: true, ..text_constructs() }
}

/// The content of a paragraph or tight list item.
pub fn running_text(source: &str, context: &mut Context<'_>) -> Vec<Node> {
    let mut atoms = Atoms::default();
    let recognised = inline::recognise(source, context, &mut atoms);
    let marked = frame_marks(&keep_spaces(&recognised, &mut atoms), &mut atoms);
    let translator = Translator { atoms: &atoms };
    // The crate reads nothing but marks here. Most messages have none.
    let tree = if marked.contains(['*', '~']) { syntax_tree(&marked, text_constructs()) } else { None };
    match tree {
        Some(tree) => tree
            .iter()
            .flat_map(|block| match block {
                mdast::Node::Paragraph(paragraph) => translator.inline(&paragraph.children),
                other => translator.inline(std::slice::from_ref(other)),
            })
            .collect(),
        None => translator.text(&marked),
    }
}

/// A heading, a rule or a table.
pub fn special(source: &str, context: &mut Context<'_>) -> Vec<Node> {
    let mut atoms = Atoms::default();
    // A mark or a code span does not reach from one row of a table into the next.
    let lines: Vec<String> = source
        .split('\n')
        .enumerate()
        .map(|(index, line)| {
            let structure = line.chars().all(|c| matches!(c, '|' | ':' | '-' | '_' | '*' | ' '));
            if structure && index <= 1 {
                return line.to_owned();
            }
            let recognised = inline::recognise(line, context, &mut atoms);
            let framed = frame_marks(&recognised, &mut atoms);
            // Below the header, a line without bars is a row of one cell.
            if index > 1 && !framed.trim_start().starts_with('|') { format!("|{framed}") } else { framed }
        })
        .collect();
    let source = lines.join("\n");
    let translator = Translator { atoms: &atoms };
    match syntax_tree(&source, special_constructs()) {
        Some(tree) => tree.iter().map(|block| translator.block(block)).collect(),
        None => vec![Element::new(Tag::Paragraph, translator.text(&source)).node()],
    }
}

fn syntax_tree(source: &str, constructs: Constructs) -> Option<Vec<mdast::Node>> {
    let options =
        ParseOptions { constructs, gfm_strikethrough_single_tilde: false, ..ParseOptions::default() };
    match markdown::to_mdast(source, &options) {
        Ok(mdast::Node::Root(root)) => Some(root.children),
        _ => None,
    }
}

/// Spaces at the start and the end of lines are kept by the dialect; the crate would drop them.
fn keep_spaces(source: &str, atoms: &mut Atoms) -> String {
    let lines: Vec<String> = source
        .split('\n')
        .map(|line| {
            let middle = line.trim_matches([' ', '\t']);
            let Some(start) = line.find(middle).filter(|_| !middle.is_empty()) else {
                return hold(line, atoms);
            };
            hold(&line[..start], atoms) + middle + &hold(&line[start + middle.len()..], atoms)
        })
        .collect();
    lines.join("\n")
}

fn hold(kept: &str, atoms: &mut Atoms) -> String {
    if kept.is_empty() {
        return String::new();
    }
    atoms.hold(vec![text(kept)]).map_or_else(|| kept.to_owned(), String::from)
}

// Marks of emphasis -------------------------------------------------------------------------------------------

/// Marks that enclose text, in order of precedence.
const MARKS: [&str; 4] = ["***", "**", "*", "~~"];

/// A pair of marks: both ranges in bytes.
struct Pair {
    open: Range<usize>,
    close: Range<usize>,
}

/// Frames the marks that count and hides the others.
fn frame_marks(source: &str, atoms: &mut Atoms) -> String {
    if !source.contains(['*', '~', '_']) {
        return source.to_owned();
    }
    let mut pairs = Vec::new();
    for line in lines_of(source) {
        collect_pairs(source, line, 0, &mut pairs);
    }
    let mut places: Vec<(Range<usize>, bool)> = Vec::with_capacity(pairs.len() * 2);
    for pair in pairs {
        places.push((pair.open, true));
        places.push((pair.close, false));
    }
    places.sort_by_key(|(range, _)| range.start);
    let mut framed = String::with_capacity(source.len() + places.len() * 8);
    let mut position = 0;
    for (range, opens) in places {
        hide_marks(&source[position..range.start], atoms, &mut framed);
        let mark = &source[range.clone()];
        match (mark, opens) {
            ("***", true) => {
                push_mark("**", true, &mut framed);
                push_mark("*", true, &mut framed);
            }
            ("***", false) => {
                push_mark("*", false, &mut framed);
                push_mark("**", false, &mut framed);
            }
            _ => push_mark(mark, opens, &mut framed),
        }
        position = range.end;
    }
    hide_marks(&source[position..], atoms, &mut framed);
    framed
}

fn push_mark(mark: &str, opens: bool, framed: &mut String) {
    let (before, after) = if opens { (NO_SPACE, NOTHING) } else { (NOTHING, NO_SPACE) };
    framed.push(before);
    framed.push_str(mark);
    framed.push(after);
}

fn hide_marks(source: &str, atoms: &mut Atoms, framed: &mut String) {
    let mut plain = source;
    while let Some(at) = plain.find(['*', '~', '_']) {
        let run = plain[at..].find(|c| !matches!(c, '*' | '~' | '_')).unwrap_or(plain.len() - at);
        framed.push_str(&plain[..at]);
        framed.push_str(&hold(&plain[at..at + run], atoms));
        plain = &plain[at + run..];
    }
    framed.push_str(plain);
}

fn lines_of(source: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    source.split('\n').map(move |line| {
        let range = start..start + line.len();
        start = range.end + 1;
        range
    })
}

/// Finds the pairs within a part of a line: first those of the strongest mark, then weaker ones inside each and
/// between them. A weaker pair may enclose a stronger one, but not cross it.
fn collect_pairs(source: &str, part: Range<usize>, from_mark: usize, pairs: &mut Vec<Pair>) {
    let mut taken: Vec<Range<usize>> = Vec::new();
    for (index, mark) in MARKS.iter().enumerate().skip(from_mark) {
        let mut position = part.start;
        while let Some(pair) = next_pair(source, position..part.end, mark, &taken) {
            position = pair.close.end;
            collect_pairs_inside(source, pair.open.end..pair.close.start, index + 1, &taken, pairs);
            let enclosed = pair.open.start..pair.close.end;
            taken.retain(|range| range.start < enclosed.start || range.end > enclosed.end);
            taken.push(enclosed);
            taken.sort_by_key(|range| range.start);
            pairs.push(pair);
        }
    }
}

/// The pairs of weaker marks inside a pair, around what stronger marks inside it have taken already.
fn collect_pairs_inside(
    source: &str,
    part: Range<usize>,
    from_mark: usize,
    taken: &[Range<usize>],
    pairs: &mut Vec<Pair>,
) {
    let mut start = part.start;
    for range in taken.iter().filter(|range| range.start >= part.start && range.end <= part.end) {
        collect_pairs(source, start..range.start, from_mark, pairs);
        start = range.end;
    }
    collect_pairs(source, start..part.end, from_mark, pairs);
}

/// The next pair of a mark in a part of a line that does not cross what is taken.
fn next_pair(source: &str, part: Range<usize>, mark: &str, taken: &[Range<usize>]) -> Option<Pair> {
    let mut position = part.start;
    while let Some(at) = find_free(source, position..part.end, mark, taken) {
        let open = at..at + mark.len();
        if let Some(close) = closing(source, open.clone(), part.clone(), mark, taken) {
            return Some(Pair { open, close });
        }
        position = at + 1;
    }
    None
}

/// The next place of a mark outside of what is taken.
fn find_free(source: &str, part: Range<usize>, mark: &str, taken: &[Range<usize>]) -> Option<usize> {
    let mut position = part.start;
    while position < part.end {
        let at = position + source[position..part.end].find(mark)?;
        match taken.iter().find(|range| range.start < at + mark.len() && at < range.end) {
            Some(range) => position = range.end.max(at + 1),
            None => return Some(at),
        }
    }
    None
}

/// The mark that closes the one at `open`, by the rules of the mark.
fn closing(
    source: &str,
    open: Range<usize>,
    part: Range<usize>,
    mark: &str,
    taken: &[Range<usize>],
) -> Option<Range<usize>> {
    // At least one character stands between the marks.
    let first = source[open.end..part.end].chars().next()?;
    let close = find_free(source, open.end + first.len_utf8()..part.end, mark, taken)?;
    let inner = &source[open.end..close];
    let free_of = |characters: &[char]| {
        let mut outside = inner.char_indices().filter(|(at, _)| {
            let at = open.end + at;
            !taken.iter().any(|range| range.contains(&at))
        });
        !outside.any(|(_, character)| characters.contains(&character))
    };
    let holds = match mark {
        "**" => true,
        "~~" => {
            free_of(&['~'])
                && !source[part.start..open.start].ends_with('~')
                && !source[close + mark.len()..part.end].starts_with('~')
        }
        _ => free_of(&['*', '^']) && !first.is_whitespace() && !inner.ends_with(char::is_whitespace),
    };
    holds.then(|| close..close + mark.len())
}

// The crate's tree to ours ------------------------------------------------------------------------------------

struct Translator<'a> {
    atoms: &'a Atoms,
}

impl Translator<'_> {
    fn block(&self, node: &mdast::Node) -> Node {
        match node {
            mdast::Node::Heading(heading) => {
                Element::new(Tag::Heading(heading.depth), self.inline(&heading.children)).node()
            }
            mdast::Node::ThematicBreak(_) => Element::new(Tag::Rule, Vec::new()).node(),
            mdast::Node::Table(table) => self.table(table),
            mdast::Node::Paragraph(paragraph) => {
                Element::new(Tag::Paragraph, self.inline(&paragraph.children)).node()
            }
            other => Element::new(Tag::Paragraph, self.inline(std::slice::from_ref(other))).node(),
        }
    }

    fn table(&self, table: &mdast::Table) -> Node {
        let row = |row: Option<&mdast::Node>, cell_tag: Tag| {
            let cells: &[mdast::Node] = match row {
                Some(mdast::Node::TableRow(row)) => &row.children,
                _ => &[],
            };
            // Each row has as many cells as the header.
            let cells = table.align.iter().enumerate().map(|(column, align)| {
                let content = match cells.get(column) {
                    Some(mdast::Node::TableCell(cell)) => self.inline(&cell.children),
                    _ => Vec::new(),
                };
                let attributes = match align {
                    AlignKind::Left => vec![Attribute::TextAlign(TextAlign::Left)],
                    AlignKind::Center => vec![Attribute::TextAlign(TextAlign::Center)],
                    AlignKind::Right => vec![Attribute::TextAlign(TextAlign::Right)],
                    AlignKind::None => Vec::new(),
                };
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
        Element::new(Tag::Table, vec![head.node(), body.node()]).node()
    }

    fn inline(&self, nodes: &[mdast::Node]) -> Vec<Node> {
        let mut translated = Vec::new();
        for node in nodes {
            match node {
                mdast::Node::Strong(strong) => {
                    translated.push(Element::new(Tag::Strong, self.inline(&strong.children)).node());
                }
                mdast::Node::Emphasis(emphasis) => {
                    translated.push(Element::new(Tag::Emphasis, self.inline(&emphasis.children)).node());
                }
                mdast::Node::Delete(delete) => {
                    translated.push(Element::new(Tag::Deletion, self.inline(&delete.children)).node());
                }
                mdast::Node::Text(text) => translated.extend(self.text(&text.value)),
                // No other construct is switched on; its text is shown as text.
                other => push_text(&mut translated, other.to_string()),
            }
        }
        translated
    }

    /// Text: line ends become breaks, atoms what they stand for.
    fn text(&self, source: &str) -> Vec<Node> {
        let mut nodes = Vec::new();
        for (index, line) in source.split('\n').enumerate() {
            if index > 0 {
                nodes.push(Element::new(Tag::Break, Vec::new()).node());
            }
            nodes.extend(self.atoms.restore(line));
        }
        nodes
    }
}
