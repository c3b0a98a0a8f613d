//! Sections to blocks: lists, quotes with `>`, indented code, tables, headings, thematic breaks and paragraphs.
//!
//! The dialect is older than CommonMark, and its containers differ: two spaces nest a list, a list may interrupt a paragraph,
//! a quote takes all lines up to the next blank one, and only items next to a blank line are loose.

use std::collections::VecDeque;

use super::{
    fences::Section,
    html::MAX_DEPTH,
    leaf_blocks::{self, LeafBlock},
    tables::Table,
};

/// A block. The text of leaf blocks is source.
#[derive(Debug, PartialEq, Eq)]
pub enum Block {
    Paragraph(String),
    /// The text of a tight list item: a paragraph without a tag.
    TightText(String),
    Heading {
        level: u8,
        source: String,
    },
    ThematicBreak,
    Table(Table),
    List(List),
    Quote(Vec<Block>),
    /// The language as typed, empty if none.
    Code {
        language: String,
        text: String,
    },
    IndentedCode(String),
    Math(String),
    Spoiler {
        header: Vec<Block>,
        content: Vec<Block>,
    },
}

/// A numbered list or a bullet list.
#[derive(Debug, PartialEq, Eq)]
pub struct List {
    /// The number of the first item; `None` for a bullet list.
    pub start: Option<u64>,
    pub items: Vec<Vec<Block>>,
}

/// State that affects the parsing of the next chunk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Top level, a quote or a loose list item.
    Normal,
    /// An item of a tight list: text is not a paragraph.
    TightList,
    /// A list item whose indentation has been removed.
    Detabbed,
}

/// Parses the sections of a message.
pub fn parse(sections: Vec<Section>) -> Vec<Block> {
    parse_sections(sections, false, Interruption::ByList, 0)
}

/// Blocks that may follow a line of a paragraph without a blank line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interruption {
    ByList,
    None,
}

/// `depth` counts the fences around, so that both kinds of quotes end at the same depth.
fn parse_sections(
    sections: Vec<Section>,
    is_quote: bool,
    interruption: Interruption,
    depth: usize,
) -> Vec<Block> {
    let mut found = Vec::new();
    let mut sections = sections.into_iter().peekable();
    while let Some(section) = sections.next() {
        match section {
            Section::Lines(lines) => {
                let lines = if interruption == Interruption::ByList { detach_lists(lines) } else { lines };
                let ends_quote = is_quote && sections.peek().is_none();
                let chunks = if ends_quote { quoted_chunks(&lines) } else { chunks(&lines) };
                parse_chunks(&mut found, false, chunks, State::Normal, depth);
            }
            Section::Code { language, text } => found.push(Block::Code { language, text }),
            Section::Math(text) => found.push(Block::Math(text)),
            Section::Quote(inner) => {
                let inner = parse_sections(inner, true, interruption, depth + 1);
                // An empty quote is text, as with `>`.
                found.push(if inner.is_empty() {
                    Block::Paragraph("> ".to_owned())
                } else {
                    Block::Quote(inner)
                });
            }
            Section::Spoiler { header, content } => {
                let mut header_blocks = Vec::new();
                parse_chunks(&mut header_blocks, false, chunks(&[header]), State::Normal, depth + 1);
                let content = parse_sections(content, false, Interruption::None, depth + 1);
                found.push(Block::Spoiler { header: header_blocks, content });
            }
        }
    }
    found
}

/// Inserts a blank line before each list that follows a line of text or a list of the other kind.
fn detach_lists(lines: Vec<String>) -> Vec<String> {
    /// `Some(true)` for a numbered item, with one digit.
    fn numbered_item(line: &str) -> Option<bool> {
        let line = line.trim_start_matches(' ');
        let mut characters = line.chars();
        let numbered = match characters.next()? {
            '*' | '+' | '-' => false,
            '0'..='9' if characters.next() == Some('.') => true,
            _ => return None,
        };
        (characters.next() == Some(' ')).then_some(numbered)
    }
    let mut detached: Vec<String> = Vec::with_capacity(lines.len());
    for line in lines {
        if let (Some(above), Some(numbered)) = (detached.last(), numbered_item(&line))
            && !above.is_empty()
            && numbered_item(above) != Some(numbered)
        {
            detached.push(String::new());
        }
        detached.push(line);
    }
    detached
}

/// Splits lines at empty ones into chunks. A chunk starts with all but one of the empty lines before it.
fn chunks(lines: &[String]) -> VecDeque<String> {
    let mut chunks: VecDeque<String> = VecDeque::new();
    let mut empty_lines = 0_usize;
    for line in lines {
        match chunks.back_mut() {
            _ if line.is_empty() => empty_lines += 1,
            Some(chunk) if empty_lines == 0 => {
                chunk.push('\n');
                chunk.push_str(line);
            }
            _ => {
                chunks.push_back("\n".repeat(empty_lines.saturating_sub(1)) + line);
                empty_lines = 0;
            }
        }
    }
    chunks
}

/// Splits the lines of a quote into chunks. A single empty line at the end belongs to the last chunk.
fn quoted_chunks(lines: &[String]) -> VecDeque<String> {
    let mut chunks = chunks(lines);
    if let ([.., above, last], Some(chunk)) = (lines, chunks.back_mut())
        && last.is_empty()
        && !above.is_empty()
    {
        chunk.push('\n');
    }
    chunks
}

/// Parses chunks and adds their blocks to `parent`; `is_item`: it is a list item.
fn parse_chunks(
    parent: &mut Vec<Block>,
    is_item: bool,
    mut queue: VecDeque<String>,
    state: State,
    depth: usize,
) {
    while let Some(chunk) = queue.pop_front() {
        let rest = chunk.trim_start_matches('\n');
        if rest.len() < chunk.len() {
            // Empty lines between two chunks of code are code.
            if let Some(Block::IndentedCode(text)) = parent.last_mut() {
                text.push_str(&chunk[..chunk.len() - rest.len()]);
            }
            queue.push_front(rest.to_owned());
        } else if chunk.trim().is_empty() && !chunk.starts_with("    ") {
            // Blank.
        } else if depth >= MAX_DEPTH {
            push_text(parent, chunk, state);
        } else if chunk.starts_with("  ")
            && state != State::Detabbed
            && (is_item || matches!(parent.last(), Some(Block::List(_))))
        {
            continue_list(parent, is_item, &chunk, state, depth);
        } else if chunk.starts_with("    ") {
            let rest = push_indented_code(parent, &chunk);
            if !rest.is_empty() {
                queue.push_front(rest);
            }
        } else if let Some(parts) = split_at_leaves(&chunk, leaf_blocks::heading) {
            push_parts(parent, is_item, parts, state, depth);
        } else if let Some(table) = Table::parse(&chunk) {
            parent.push(Block::Table(table));
        } else if let Some(parts) = split_at_leaves(&chunk, leaf_blocks::thematic_break) {
            push_parts(parent, is_item, parts, state, depth);
        } else if let Some(marker) = Marker::parse(&chunk) {
            push_list(parent, &chunk, marker, depth);
        } else if let Some(at) = quote_start(&chunk) {
            push_quote(parent, is_item, &chunk, at, state, depth);
        } else {
            push_text(parent, chunk, state);
        }
    }
}

fn push_parts(parent: &mut Vec<Block>, is_item: bool, parts: Vec<Part<'_>>, state: State, depth: usize) {
    for part in parts {
        match part {
            Part::Lines(lines) => parse_chunks(parent, is_item, VecDeque::from([lines]), state, depth),
            Part::Leaf(LeafBlock::Heading { level, source }) => {
                parent.push(Block::Heading { level, source: source.to_owned() });
            }
            Part::Leaf(LeafBlock::ThematicBreak) => parent.push(Block::ThematicBreak),
        }
    }
}

fn push_text(parent: &mut Vec<Block>, chunk: String, state: State) {
    if state != State::TightList {
        parent.push(Block::Paragraph(chunk.trim_start().to_owned()));
        return;
    }
    match parent.last_mut() {
        Some(Block::TightText(text)) => {
            text.push('\n');
            text.push_str(&chunk);
        }
        Some(_) => parent.push(Block::TightText(format!("\n{chunk}"))),
        None => parent.push(Block::TightText(chunk.trim_start().to_owned())),
    }
}

// Leaf blocks -------------------------------------------------------------------------------------------------

/// A part of a chunk.
enum Part<'a> {
    Lines(String),
    Leaf(LeafBlock<'a>),
}

/// Splits a chunk at the lines that `parse` accepts; `None` without such a line.
fn split_at_leaves(chunk: &str, parse: fn(&str) -> Option<LeafBlock<'_>>) -> Option<Vec<Part<'_>>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut found = false;
    for line in chunk.split('\n') {
        if let Some(leaf) = parse(line) {
            parts.push(Part::Leaf(leaf));
            found = true;
        } else if let Some(Part::Lines(lines)) = parts.last_mut() {
            lines.push('\n');
            lines.push_str(line);
        } else {
            parts.push(Part::Lines(line.to_owned()));
        }
    }
    found.then_some(parts)
}

/// Adds the lines that start with four spaces, and returns the rest.
fn push_indented_code(parent: &mut Vec<Block>, chunk: &str) -> String {
    let lines: Vec<&str> = chunk.split('\n').collect();
    let end = lines.iter().position(|line| !line.starts_with("    ")).unwrap_or(lines.len());
    let code: Vec<&str> = lines[..end].iter().map(|line| &line[4..]).collect();
    let code = code.join("\n").trim_end().to_owned();
    match parent.last_mut() {
        Some(Block::IndentedCode(text)) => {
            text.push_str("\n\n");
            text.push_str(&code);
        }
        _ => parent.push(Block::IndentedCode(code)),
    }
    lines[end..].join("\n")
}

// Quotes ------------------------------------------------------------------------------------------------------

/// Removes the mark of a line of a quote; `None` if it has none.
fn unquoted(line: &str) -> Option<&str> {
    if line.trim() == ">" {
        return Some("");
    }
    let marked = line.trim_start_matches(' ');
    let rest = (line.len() - marked.len() <= 3).then(|| marked.strip_prefix('>')).flatten()?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// Returns the index of the first line with the mark of a quote, if any line after it has content.
fn quote_start(chunk: &str) -> Option<usize> {
    let is_empty_quote = |line: &str| unquoted(line).unwrap_or(line).trim().is_empty();
    let lines: Vec<&str> = chunk.split('\n').collect();
    let last_with_content = lines.iter().rposition(|line| !is_empty_quote(line))?;
    lines[..=last_with_content].iter().position(|line| unquoted(line).is_some())
}

fn push_quote(parent: &mut Vec<Block>, is_item: bool, chunk: &str, at: usize, state: State, depth: usize) {
    let lines: Vec<&str> = chunk.split('\n').collect();
    if at > 0 {
        parse_chunks(parent, is_item, VecDeque::from([lines[..at].join("\n")]), state, depth + 1);
    }
    let inner: Vec<String> =
        lines[at..].iter().map(|line| unquoted(line).unwrap_or(line).to_owned()).collect();
    let mut content = Vec::new();
    parse_chunks(&mut content, false, quoted_chunks(&inner), State::Normal, depth + 1);
    parent.push(Block::Quote(content));
}

// Lists -------------------------------------------------------------------------------------------------------

/// A list marker.
#[derive(Clone, Copy)]
struct Marker {
    /// `None` for `*`, `+` and `-`.
    number: Option<u64>,
    /// The offset of the text of the item.
    content: usize,
    /// Spaces before the marker.
    indentation: usize,
}

impl Marker {
    /// Parses the marker of a line with any indentation.
    fn parse_indented(line: &str) -> Option<Self> {
        let marked = line.trim_start_matches(' ');
        let indentation = line.len() - marked.len();
        let digits = marked.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = if digits > 0 {
            // A number that overflows is still a marker.
            (Some(marked[..digits].parse().unwrap_or(u64::MAX)), marked[digits..].strip_prefix('.')?)
        } else {
            (None, marked.strip_prefix(['*', '+', '-'])?)
        };
        let text = after.trim_start_matches(' ');
        (text.len() < after.len()).then_some(Self { number, content: line.len() - text.len(), indentation })
    }

    /// Parses the marker of the first line of a chunk, with at most one space before it.
    fn parse(line: &str) -> Option<Self> {
        Self::parse_indented(line.split('\n').next()?).filter(|marker| marker.indentation <= 1)
    }
}

/// Splits a chunk into the texts of items. One that starts with two spaces belongs to the item above.
fn split_items(chunk: &str, numbered: bool) -> VecDeque<String> {
    let mut found: VecDeque<String> = VecDeque::new();
    for line in chunk.split('\n') {
        let marker = Marker::parse_indented(line);
        if let Some(marker) = marker.filter(|m| m.indentation <= 1 && m.number.is_some() == numbered) {
            found.push_back(line[marker.content..].to_owned());
        } else if marker.is_some_and(|m| (2..=3).contains(&m.indentation))
            && found.back().is_none_or(|above| !above.starts_with("  "))
        {
            found.push_back(line.to_owned());
        } else if let Some(above) = found.back_mut() {
            above.push('\n');
            above.push_str(line);
        } else {
            found.push_back(line.to_owned());
        }
    }
    found
}

fn push_list(parent: &mut Vec<Block>, chunk: &str, marker: Marker, depth: usize) {
    let mut items = split_items(chunk, marker.number.is_some());
    let continued = match parent.last_mut() {
        Some(Block::List(list)) if list.start.is_some() == marker.number.is_some() => {
            // The items above and below the blank line are loose.
            if let Some(above) = list.items.last_mut() {
                make_loose(above);
            }
            let mut item = Vec::new();
            parse_chunks(&mut item, true, items.pop_front().into_iter().collect(), State::Normal, depth + 1);
            list.items.push(item);
            true
        }
        _ => false,
    };
    if !continued {
        parent.push(Block::List(List { start: marker.number, items: Vec::new() }));
    }
    if let Some(Block::List(list)) = parent.last_mut() {
        push_items(list, items, depth);
    }
}

fn push_items(list: &mut List, items: VecDeque<String>, depth: usize) {
    for text in items {
        match list.items.last_mut() {
            Some(item) if text.starts_with("  ") => {
                parse_chunks(item, true, VecDeque::from([text]), State::TightList, depth + 1);
            }
            _ => {
                let mut item = Vec::new();
                parse_chunks(&mut item, true, VecDeque::from([text]), State::TightList, depth + 1);
                list.items.push(item);
            }
        }
    }
}

/// Converts the text of a tight item to paragraphs.
fn make_loose(item: &mut [Block]) {
    for block in item {
        if let Block::TightText(text) = block {
            *block = Block::Paragraph(text.trim_start().to_owned());
        }
    }
}

/// Parses an indented chunk that belongs to the list above it, or to the item that `parent` is.
fn continue_list(parent: &mut Vec<Block>, is_item: bool, chunk: &str, state: State, depth: usize) {
    let wanted = (chunk.len() - chunk.trim_start_matches(' ').len()) / 2;
    let own_level = usize::from(state == State::TightList);
    if is_item {
        let chunk = detab(chunk, level_below(parent, wanted, own_level));
        // The chunk continues a list in this item, or is content of the item.
        match (parent.last_mut(), Marker::parse(&chunk)) {
            (Some(Block::List(list)), Some(marker)) => {
                let items = split_items(&chunk, marker.number.is_some());
                push_items(list, items, depth + 1);
            }
            _ => parse_chunks(parent, true, VecDeque::from([chunk]), State::Detabbed, depth + 1),
        }
        return;
    }
    let level = level_below(parent, wanted, own_level);
    in_last_item(parent, level - own_level, &mut |item| {
        // A chunk after a blank line with the indentation of the list makes the item loose.
        if wanted <= level
            && let Some(text @ Block::TightText(_)) = item.first_mut()
        {
            make_loose(std::slice::from_mut(text));
        }
        parse_chunks(item, true, VecDeque::from([detab(chunk, level)]), State::Detabbed, depth + 1);
    });
}

/// Applies `action` to the last item of the last list, nested `steps` deep.
fn in_last_item(blocks: &mut Vec<Block>, steps: usize, action: &mut dyn FnMut(&mut Vec<Block>)) {
    if steps == 0 {
        action(blocks);
    } else if let Some(Block::List(list)) = blocks.last_mut()
        && let Some(item) = list.items.last_mut()
    {
        in_last_item(item, steps - 1, action);
    }
}

/// Returns how many of the lists that end `parent` contain a block with this indentation.
fn level_below(parent: &[Block], wanted: usize, own_level: usize) -> usize {
    let mut level = own_level;
    let mut blocks = parent;
    while wanted > level {
        let Some(Block::List(list)) = blocks.last() else { break };
        let Some(item) = list.items.last() else { break };
        level += 1;
        blocks = item;
    }
    level
}

/// Removes the indentation of `level` lists from lines that have it.
fn detab(chunk: &str, level: usize) -> String {
    let indentation = "  ".repeat(level);
    let lines: Vec<&str> =
        chunk.split('\n').map(|line| line.strip_prefix(indentation.as_str()).unwrap_or(line)).collect();
    lines.join("\n")
}
