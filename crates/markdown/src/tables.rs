//! Tables: a header, a row of delimiters (dashes and colons), and rows of cells.

use std::{collections::HashMap, ops::Range};

use super::html::TextAlign;

/// Limit of cells. Every row has as many cells as the header, so that without it a few thousand characters could
/// produce millions of cells. A message has fewer than this if it has text for each of them.
const MAX_CELLS: usize = 10_000;

/// A table. Its cells are source text.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// The alignment of each column.
    pub alignments: Vec<Option<TextAlign>>,
    /// The header, with a cell for each column, and the rows, with any number of cells.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Parses the lines of a block; `None` if they are not a table.
    pub fn parse(block: &str) -> Option<Self> {
        let mut lines = block.split('\n').map(|line| line.trim_matches(' '));
        let first = lines.next()?;
        let has_border = first.starts_with('|') || ends_with_bar(first);
        let header = cells(first, has_border);
        let delimiters = cells(lines.next()?, has_border);
        // A single column needs a border in every line.
        let has_bar = |line: &str| line.starts_with('|') || ends_with_bar(line);
        let is_table = header.len() > 1
            || (has_border && block.split('\n').map(|line| line.trim_matches(' ')).all(has_bar));
        let is_delimiter = |cell: &str| cell.chars().all(|c| matches!(c, '|' | ':' | '-' | ' '));
        if !is_table || delimiters.len() != header.len() || !delimiters.iter().all(|cell| is_delimiter(cell))
        {
            return None;
        }
        if header.len().saturating_mul(block.split('\n').count()) > MAX_CELLS {
            return None;
        }
        let row =
            |cells: Vec<&str>| cells.into_iter().map(|cell| cell.trim_matches(' ').to_owned()).collect();
        Some(Self {
            alignments: delimiters.iter().map(|cell| alignment(cell.trim_matches(' '))).collect(),
            rows: std::iter::once(header).chain(lines.map(|line| cells(line, has_border))).map(row).collect(),
        })
    }
}

fn alignment(delimiter: &str) -> Option<TextAlign> {
    match (delimiter.starts_with(':'), delimiter.ends_with(':')) {
        (true, true) => Some(TextAlign::Center),
        (true, false) => Some(TextAlign::Left),
        (false, true) => Some(TextAlign::Right),
        (false, false) => None,
    }
}

/// Checks whether a line ends with a bar that is not escaped.
fn ends_with_bar(line: &str) -> bool {
    let Some(before) = line.strip_suffix('|') else { return false };
    (before.len() - before.trim_end_matches('\\').len()).is_multiple_of(2)
}

/// Splits a line into cells, without the bars around it if the header has some.
fn cells(line: &str, has_border: bool) -> Vec<&str> {
    let mut line = line;
    if has_border {
        line = line.strip_prefix('|').unwrap_or(line);
        if ends_with_bar(line) {
            line = &line[..line.len() - 1];
        }
    }
    let mut cells = Vec::new();
    let mut start = 0;
    for bar in bars(line) {
        cells.push(&line[start..bar]);
        start = bar + 1;
    }
    cells.push(&line[start..]);
    cells
}

/// A run of backticks.
struct Backticks {
    start: usize,
    end: usize,
    count: usize,
    is_escaped: bool,
}

/// Returns the positions of bars that are neither escaped nor in code.
fn bars(line: &str) -> Vec<usize> {
    let bytes = line.as_bytes();
    let mut bars = Vec::new();
    let mut runs: Vec<Backticks> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let is_escaped = bytes[at] == b'\\' && bytes.get(at + 1) == Some(&b'`');
        let start = at + usize::from(is_escaped);
        let count = bytes[start..].iter().take_while(|&&byte| byte == b'`').count();
        if count > 0 {
            runs.push(Backticks { start: at, end: start + count, count, is_escaped });
            at = start + count;
            continue;
        }
        match bytes[at] {
            b'|' => bars.push(at),
            b'\\' if matches!(bytes.get(at + 1), Some(b'\\' | b'|')) => at += 1,
            _ => {}
        }
        at += 1;
    }
    let code = code_ranges(&runs);
    let mut code = code.into_iter().peekable();
    bars.retain(|&bar| {
        while code.next_if(|range| range.end <= bar).is_some() {}
        code.peek().is_none_or(|range| bar < range.start)
    });
    bars
}

/// Returns the ranges between runs of equally many backticks.
fn code_ranges(runs: &[Backticks]) -> Vec<Range<usize>> {
    // The runs of each count from last to first: looking for the next one pops the passed ones.
    let mut closings: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, run) in runs.iter().enumerate().rev() {
        closings.entry(run.count).or_default().push(index);
    }
    let mut ranges = Vec::new();
    let mut index = 0;
    while let Some(run) = runs.get(index) {
        // A backslash escapes the first backtick.
        let wanted = run.count - usize::from(run.is_escaped);
        let closing = closings.get_mut(&wanted).and_then(|candidates| {
            while candidates.last().is_some_and(|&candidate| candidate <= index) {
                candidates.pop();
            }
            candidates.last().copied()
        });
        match closing.filter(|_| wanted > 0) {
            Some(closing) => {
                ranges.push(run.start..runs[closing].end);
                index = closing + 1;
            }
            None => index += 1,
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    // conformance: md-21
    #[test]
    fn bars_separate_cells_unless_escaped_or_in_code() {
        for (line, expected) in [
            ("a|b", vec!["a", "b"]),
            ("a\\|b|c", vec!["a\\|b", "c"]),
            ("a\\\\|b", vec!["a\\\\", "b"]),
            ("`a|b`|c", vec!["`a|b`", "c"]),
            ("``a`|`b``|c", vec!["``a`|`b``", "c"]),
            ("`a|b", vec!["`a", "b"]),
            ("\\`a|b`", vec!["\\`a", "b`"]),
            ("", vec![""]),
        ] {
            assert_eq!(cells(line, false), expected, "{line}");
        }
        assert_eq!(cells("|a|b|", true), ["a", "b"]);
        assert_eq!(cells("|a|b\\|", true), ["a", "b\\|"]);
    }

    // conformance: md-21
    #[test]
    fn tables_have_as_many_delimiters_as_header_cells() {
        for block in ["a|b", "a|b\n-", "a|b\n-|-|-", "a|b\nc|d", "a\n-", "|a|\n|-|\nb", "a|b\n=|="] {
            assert_eq!(Table::parse(block), None, "{block}");
        }
        let table = Table::parse("|a|b|c|\n|:-|-:|:-:|\n|d|\n").unwrap();
        assert_eq!(
            table.alignments,
            [Some(TextAlign::Left), Some(TextAlign::Right), Some(TextAlign::Center)]
        );
        assert_eq!(table.rows, [vec!["a", "b", "c"], vec!["d"], vec![""]]);
        assert_eq!(Table::parse("|a|\n|-|\n|b|").unwrap().rows, [["a"], ["b"]]);
    }
}
