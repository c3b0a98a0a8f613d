//! ATX headings and thematic breaks, parsed by the `markdown` crate.
//!
//! The dialect shares these two constructs with CommonMark. All other constructs of CommonMark and GFM are disabled,
//! because the dialect reads some text differently; `tests/commonmark.rs` has an example for each. The crate gets one
//! line at a time, and only lines that can be either, because it takes microseconds per line.

use markdown::{Constructs, ParseOptions, mdast, to_mdast};

/// A block that takes one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeafBlock<'a> {
    Heading { level: u8, source: &'a str },
    ThematicBreak,
}

/// Parses a line as a heading.
pub fn heading(line: &str) -> Option<LeafBlock<'_>> {
    if !line.starts_with('#') {
        return None;
    }
    // The dialect takes any white space for the space after `#`.
    match parse(&line.replace(char::is_whitespace, " "))? {
        mdast::Node::Heading(heading) => {
            let source = heading_source(line.trim_start_matches('#'))?;
            Some(LeafBlock::Heading { level: heading.depth, source })
        }
        _ => None,
    }
}

/// Parses a line as a thematic break.
pub fn thematic_break(line: &str) -> Option<LeafBlock<'_>> {
    let line = line.trim_end();
    let marks = line.trim_start_matches(' ');
    // With three spaces between two marks, they are list items.
    if marks.len() < 3 || marks.contains(|c| !"-_* ".contains(c)) || marks.contains("   ") {
        return None;
    }
    matches!(parse(line)?, mdast::Node::ThematicBreak(_)).then_some(LeafBlock::ThematicBreak)
}

fn parse(line: &str) -> Option<mdast::Node> {
    let mdast::Node::Root(root) = to_mdast(line, &options()).ok()? else { return None };
    root.children.into_iter().next()
}

/// Returns the text of a heading without the closing `#`, which need no space before them here. A backslash escapes a `#`,
/// and one that escapes nothing cannot end a heading.
fn heading_source(line: &str) -> Option<&str> {
    let source = line.strip_prefix(char::is_whitespace)?;
    let mut end = source.trim_end_matches('#').len();
    let backslashes = end - source[..end].trim_end_matches('\\').len();
    if !backslashes.is_multiple_of(2) {
        end += 1;
    }
    Some(source.get(..end)?.trim())
}

fn options() -> ParseOptions {
    let constructs = Constructs {
        heading_atx: true,
        thematic_break: true,
        // Limits the indentation of the others to three spaces.
        code_indented: true,
        attention: false,
        autolink: false,
        block_quote: false,
        character_escape: false,
        character_reference: false,
        code_fenced: false,
        code_text: false,
        definition: false,
        hard_break_escape: false,
        hard_break_trailing: false,
        heading_setext: false,
        html_flow: false,
        html_text: false,
        label_start_image: false,
        label_start_link: false,
        label_end: false,
        list_item: false,
        ..Constructs::default()
    };
    ParseOptions { constructs, ..ParseOptions::default() }
}
