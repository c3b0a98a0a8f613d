//! Pass 2: lines to blocks. Lists, quotes with `>`, indented code; what remains are leaves for pass 3.
//!
//! The dialect is older than CommonMark, and its containers differ from it: two spaces nest a list, a list may
//! follow a paragraph directly, quotes swallow the lines below them, and only items behind a blank line are loose.

use std::collections::VecDeque;

use super::{MAXIMUM_DEPTH, fences::Section, tables::Table};

/// A block of a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Block {
    /// Lines of a paragraph.
    Paragraph(String),
    /// Text of a tight list item: like a paragraph, without a tag of its own.
    TightText(String),
    Heading {
        level: u8,
        source: String,
    },
    /// A line across.
    Rule,
    Table(Table),
    List(List),
    Quote(Vec<Block>),
    /// The language as typed, empty if none.
    Code {
        language: String,
        text: String,
    },
    /// Code by indentation; a second chunk continues it.
    IndentedCode(String),
    Math(String),
    Spoiler {
        header: Vec<Block>,
        content: Vec<Block>,
    },
}

/// A list and its items.
#[derive(Debug, PartialEq, Eq)]
pub struct List {
    /// The number of the first item; `None` for a list without numbers.
    pub start: Option<u64>,
    pub items: Vec<Vec<Block>>,
}

/// Where a block stands, as far as it matters for reading it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Top level, quotes and list items behind a blank line.
    Open,
    /// In an item of a tight list: text takes no paragraph.
    Tight,
    /// In a list item, with the indentation of the list already removed.
    Detabbed,
}

/// Blocks of the sections of a message.
pub fn blocks(sections: Vec<Section>) -> Vec<Block> {
    of_sections(sections, false, Hanging::Allowed, 0)
}

/// Whether a list may follow a line of text without a blank line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hanging {
    Allowed,
    Refused,
}

/// `depth` counts the fences around, so that quotes in quotes by either syntax end at the same depth.
fn of_sections(sections: Vec<Section>, is_quote: bool, hanging: Hanging, depth: usize) -> Vec<Block> {
    let mut found = Vec::new();
    let mut sections = sections.into_iter().peekable();
    while let Some(section) = sections.next() {
        match section {
            Section::Lines(lines) => {
                let lines = if hanging == Hanging::Allowed { detach_lists(lines) } else { lines };
                let ends_quote = is_quote && sections.peek().is_none();
                let chunks = if ends_quote { quoted_chunks(&lines) } else { chunks(&lines) };
                parse(&mut found, false, chunks, Place::Open, depth);
            }
            Section::Code { language, text } => found.push(Block::Code { language, text }),
            Section::Math(text) => found.push(Block::Math(text)),
            Section::Quote(inner) => {
                let inner = of_sections(inner, true, hanging, depth + 1);
                // As with a mark at the start of a line: a quote of nothing is the mark.
                found.push(if inner.is_empty() {
                    Block::Paragraph("> ".to_owned())
                } else {
                    Block::Quote(inner)
                });
            }
            Section::Spoiler { header, content } => {
                let mut header_blocks = Vec::new();
                parse(&mut header_blocks, false, chunks(&[header]), Place::Open, depth + 1);
                let content = of_sections(content, false, Hanging::Refused, depth + 1);
                found.push(Block::Spoiler { header: header_blocks, content });
            }
        }
    }
    found
}

/// Puts a blank line before each list that hangs off a line of text or off a list of the other kind.
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

/// Runs of lines that are not empty. Of the empty lines before a run all but the first stand at its start.
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

/// The chunks of a quote. A single empty line at its end is a line of what stands above it.
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

/// Reads chunks one after another into `parent`, a list of blocks that may be a list item's.
fn parse(parent: &mut Vec<Block>, is_item: bool, mut queue: VecDeque<String>, place: Place, depth: usize) {
    while let Some(chunk) = queue.pop_front() {
        let rest = chunk.trim_start_matches('\n');
        if rest.len() < chunk.len() {
            // Between two chunks of code, empty lines are code.
            if let Some(Block::IndentedCode(text)) = parent.last_mut() {
                text.push_str(&chunk[..chunk.len() - rest.len()]);
            }
            queue.push_front(rest.to_owned());
        } else if chunk.trim().is_empty() && !chunk.starts_with("    ") {
            // Nothing to show.
        } else if depth >= MAXIMUM_DEPTH {
            push_text(parent, chunk, place);
        } else if chunk.starts_with("  ")
            && place != Place::Detabbed
            && (is_item || matches!(parent.last(), Some(Block::List(_))))
        {
            continue_list(parent, is_item, &chunk, place, depth);
        } else if chunk.starts_with("    ") {
            let rest = push_indented_code(parent, &chunk);
            if !rest.is_empty() {
                queue.push_front(rest);
            }
        } else if let Some(heading) = heading(&chunk) {
            parent.push(heading);
        } else if is_rule(&chunk) {
            parent.push(Block::Rule);
        } else if let Some(parts) = parts_around(&chunk, |line| heading(line).is_some()) {
            prepend(&mut queue, parts);
        } else if let Some(table) = Table::of(&chunk) {
            parent.push(Block::Table(table));
        } else if let Some(parts) = parts_around(&chunk, is_rule) {
            for part in parts {
                // A rule never goes on with a list above it, even if it is indented like that.
                if is_rule(&part) {
                    parent.push(Block::Rule);
                } else {
                    parse(parent, is_item, VecDeque::from([part]), place, depth);
                }
            }
        } else if let Some(marker) = Marker::of(&chunk) {
            push_list(parent, &chunk, marker, depth);
        } else if let Some(at) = quote_start(&chunk) {
            push_quote(parent, is_item, &chunk, at, place, depth);
        } else {
            push_text(parent, chunk, place);
        }
    }
}

fn push_text(parent: &mut Vec<Block>, chunk: String, place: Place) {
    if place != Place::Tight {
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

// Lines with a meaning of their own ---------------------------------------------------------------------------

/// One to six `#` and a space. Those at the end of the line do not count unless a backslash escapes them, and a
/// backslash that escapes nothing cannot end it.
fn heading(line: &str) -> Option<Block> {
    let rest = line.trim_start_matches('#');
    let level = u8::try_from(line.len() - rest.len()).ok().filter(|level| (1..=6).contains(level))?;
    let source = rest.strip_prefix(char::is_whitespace).filter(|_| !line.contains('\n'))?;
    let mut end = source.trim_end_matches('#').len();
    let backslashes = end - source[..end].trim_end_matches('\\').len();
    if !backslashes.is_multiple_of(2) {
        end += 1;
    }
    Some(Block::Heading { level, source: source.get(..end)?.trim().to_owned() })
}

fn is_rule(line: &str) -> bool {
    let line = line.trim_end();
    let marks = line.trim_start_matches(' ');
    let Some(mark) = marks.chars().next().filter(|c| matches!(c, '-' | '_' | '*')) else { return false };
    line.len() - marks.len() <= 3
        && marks.chars().all(|c| c == mark || c == ' ')
        && marks.matches(mark).count() >= 3
        && !marks.contains("   ")
}

/// The lines that `wanted` recognises, each on its own, and what stands around them; `None` without such a line.
fn parts_around(chunk: &str, wanted: fn(&str) -> bool) -> Option<Vec<String>> {
    let mut parts: Vec<String> = Vec::new();
    let mut found = false;
    let mut goes_on = false;
    for line in chunk.split('\n') {
        let alone = wanted(line);
        match parts.last_mut() {
            Some(part) if goes_on && !alone => {
                part.push('\n');
                part.push_str(line);
            }
            _ => parts.push(line.to_owned()),
        }
        goes_on = !alone;
        found |= alone;
    }
    found.then_some(parts)
}

fn prepend(queue: &mut VecDeque<String>, parts: Vec<String>) {
    for part in parts.into_iter().rev() {
        queue.push_front(part);
    }
}

/// Adds the lines with four spaces at the start; the rest is returned.
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

/// A line of a quote without its mark; `None` if it has no mark.
fn unquoted(line: &str) -> Option<&str> {
    if line.trim() == ">" {
        return Some("");
    }
    let marked = line.trim_start_matches(' ');
    let rest = (line.len() - marked.len() <= 3).then(|| marked.strip_prefix('>')).flatten()?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// The first line with a quote's mark, if anything at all is quoted from there on.
fn quote_start(chunk: &str) -> Option<usize> {
    let is_empty_quote = |line: &str| unquoted(line).unwrap_or(line).trim().is_empty();
    let lines: Vec<&str> = chunk.split('\n').collect();
    let last_with_content = lines.iter().rposition(|line| !is_empty_quote(line))?;
    lines[..=last_with_content].iter().position(|line| unquoted(line).is_some())
}

fn push_quote(parent: &mut Vec<Block>, is_item: bool, chunk: &str, at: usize, place: Place, depth: usize) {
    let lines: Vec<&str> = chunk.split('\n').collect();
    if at > 0 {
        parse(parent, is_item, VecDeque::from([lines[..at].join("\n")]), place, depth + 1);
    }
    let inner: Vec<String> =
        lines[at..].iter().map(|line| unquoted(line).unwrap_or(line).to_owned()).collect();
    let mut content = Vec::new();
    parse(&mut content, false, quoted_chunks(&inner), Place::Open, depth + 1);
    parent.push(Block::Quote(content));
}

// Lists -------------------------------------------------------------------------------------------------------

/// The mark at the start of a list item.
#[derive(Clone, Copy)]
struct Marker {
    /// `None` for `*`, `+` and `-`.
    number: Option<u64>,
    /// Where the item's text starts, in bytes.
    content: usize,
    /// Spaces before the mark.
    indentation: usize,
}

impl Marker {
    /// The mark of a line with any indentation.
    fn anywhere(line: &str) -> Option<Self> {
        let marked = line.trim_start_matches(' ');
        let indentation = line.len() - marked.len();
        let digits = marked.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = if digits > 0 {
            // A number too long for a list is still a list.
            (Some(marked[..digits].parse().unwrap_or(u64::MAX)), marked[digits..].strip_prefix('.')?)
        } else {
            (None, marked.strip_prefix(['*', '+', '-'])?)
        };
        let text = after.trim_start_matches(' ');
        (text.len() < after.len()).then_some(Self { number, content: line.len() - text.len(), indentation })
    }

    /// The mark of an item of the list at hand: at most one space before it.
    fn of(line: &str) -> Option<Self> {
        Self::anywhere(line.split('\n').next()?).filter(|marker| marker.indentation <= 1)
    }
}

/// The items of a chunk: texts of items, and (starting with two spaces) what belongs to the item above.
fn items(chunk: &str, numbered: bool) -> VecDeque<String> {
    let mut found: VecDeque<String> = VecDeque::new();
    for line in chunk.split('\n') {
        let marker = Marker::anywhere(line);
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
    let mut items = items(chunk, marker.number.is_some());
    let continued = match parent.last_mut() {
        Some(Block::List(list)) if list.start.is_some() == marker.number.is_some() => {
            // A blank line stands between: the item above and the first one here become paragraphs.
            if let Some(above) = list.items.last_mut() {
                make_loose(above);
            }
            let mut item = Vec::new();
            parse(&mut item, true, items.pop_front().into_iter().collect(), Place::Open, depth + 1);
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
                parse(item, true, VecDeque::from([text]), Place::Tight, depth + 1);
            }
            _ => {
                let mut item = Vec::new();
                parse(&mut item, true, VecDeque::from([text]), Place::Tight, depth + 1);
                list.items.push(item);
            }
        }
    }
}

/// Turns the text of a tight item into paragraphs.
fn make_loose(item: &mut [Block]) {
    for block in item {
        if let Block::TightText(text) = block {
            *block = Block::Paragraph(text.trim_start().to_owned());
        }
    }
}

/// Reads an indented chunk that belongs to a list above it (or to the item that `parent` is).
fn continue_list(parent: &mut Vec<Block>, is_item: bool, chunk: &str, place: Place, depth: usize) {
    let wanted = (chunk.len() - chunk.trim_start_matches(' ').len()) / 2;
    let own_level = usize::from(place == Place::Tight);
    if is_item {
        let chunk = detab(chunk, level_below(parent, wanted, own_level));
        // A list in this item goes on; anything else is content of the item.
        match (parent.last_mut(), Marker::of(&chunk)) {
            (Some(Block::List(list)), Some(marker)) => {
                let items = items(&chunk, marker.number.is_some());
                push_items(list, items, depth + 1);
            }
            _ => parse(parent, true, VecDeque::from([chunk]), Place::Detabbed, depth + 1),
        }
        return;
    }
    let level = level_below(parent, wanted, own_level);
    in_last_item(parent, level - own_level, &mut |item| {
        // Indented as far as the list: behind a blank line, so the item's text becomes a paragraph too.
        if wanted <= level
            && let Some(text @ Block::TightText(_)) = item.first_mut()
        {
            make_loose(std::slice::from_mut(text));
        }
        parse(item, true, VecDeque::from([detab(chunk, level)]), Place::Detabbed, depth + 1);
    });
}

/// Goes down into the last item of the last list, so many times.
fn in_last_item(blocks: &mut Vec<Block>, steps: usize, action: &mut dyn FnMut(&mut Vec<Block>)) {
    if steps == 0 {
        action(blocks);
    } else if let Some(Block::List(list)) = blocks.last_mut()
        && let Some(item) = list.items.last_mut()
    {
        in_last_item(item, steps - 1, action);
    }
}

/// How many levels of lists, ending with `parent`'s last block, an indentation reaches into.
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

/// Removes the indentation of `level` lists from the lines that have it.
fn detab(chunk: &str, level: usize) -> String {
    let indentation = "  ".repeat(level);
    let lines: Vec<&str> =
        chunk.split('\n').map(|line| line.strip_prefix(indentation.as_str()).unwrap_or(line)).collect();
    lines.join("\n")
}
