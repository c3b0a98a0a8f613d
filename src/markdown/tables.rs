//! Tables: a line of cells, a line of dashes and colons, and lines of cells.

/// A table as it was typed.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// The delimiter of each column, in the shortest form.
    delimiters: Vec<&'static str>,
    /// The source of the cells of the header, one for each column, and of the rows.
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Reads the lines of a block; `None` if they are no table.
    pub fn of(block: &str) -> Option<Self> {
        let mut lines = block.split('\n').map(|line| line.trim_matches(' '));
        let first = lines.next()?;
        let has_border = first.starts_with('|') || ends_with_bar(first);
        let header = cells(first, has_border);
        let delimiters = cells(lines.next()?, has_border);
        // A single column has to be marked as one in every line.
        let is_marked = |line: &str| line.starts_with('|') || ends_with_bar(line);
        let is_table = header.len() > 1
            || (has_border && block.split('\n').map(|line| line.trim_matches(' ')).all(is_marked));
        let is_delimiter = |cell: &str| cell.chars().all(|c| matches!(c, '|' | ':' | '-' | ' '));
        if !is_table || delimiters.len() != header.len() || !delimiters.iter().all(|cell| is_delimiter(cell))
        {
            return None;
        }
        let row =
            |cells: Vec<&str>| cells.into_iter().map(|cell| cell.trim_matches(' ').to_owned()).collect();
        Some(Self {
            delimiters: delimiters.iter().map(|cell| delimiter(cell.trim_matches(' '))).collect(),
            rows: std::iter::once(header).chain(lines.map(|line| cells(line, has_border))).map(row).collect(),
        })
    }

    /// The table as GFM has it, with a character for each cell.
    pub fn to_gfm(&self, mut cell: impl FnMut(&str) -> Option<char>) -> String {
        let mut source = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            for content in row {
                source.push('|');
                source.extend(cell(content));
            }
            source.push_str("|\n");
            if index == 0 {
                source.push('|');
                source.push_str(&self.delimiters.join("|"));
                source.push_str("|\n");
            }
        }
        source
    }
}

fn delimiter(typed: &str) -> &'static str {
    match (typed.starts_with(':'), typed.ends_with(':')) {
        (true, true) => ":-:",
        (true, false) => ":-",
        (false, true) => "-:",
        (false, false) => "-",
    }
}

/// Whether the line ends with a bar that no backslash escapes.
fn ends_with_bar(line: &str) -> bool {
    let Some(before) = line.strip_suffix('|') else { return false };
    (before.len() - before.trim_end_matches('\\').len()).is_multiple_of(2)
}

/// The cells of a line. The bars around it do not count if the header has some.
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

/// Backticks side by side.
struct Backticks {
    start: usize,
    end: usize,
    count: usize,
    is_escaped: bool,
}

/// The bars that part cells: neither escaped nor in code.
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
            // Whatever is escaped does not count.
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

/// What stands between backticks of the same count.
fn code_ranges(runs: &[Backticks]) -> Vec<std::ops::Range<usize>> {
    // Where the runs of each count are, from the last to the first, so that the next one is found at once.
    let mut closings: std::collections::HashMap<usize, Vec<usize>> = std::collections::HashMap::new();
    for (index, run) in runs.iter().enumerate().rev() {
        closings.entry(run.count).or_default().push(index);
    }
    let mut ranges = Vec::new();
    let mut index = 0;
    while let Some(run) = runs.get(index) {
        // One backtick is lost to the backslash before it.
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

    #[test]
    fn bars_part_cells_unless_escaped_or_in_code() {
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

    #[test]
    fn a_table_has_a_line_of_dashes_with_as_many_cells() {
        for block in ["a|b", "a|b\n-", "a|b\n-|-|-", "a|b\nc|d", "a\n-", "|a|\n|-|\nb", "a|b\n=|="] {
            assert_eq!(Table::of(block), None, "{block}");
        }
        let table = Table::of("|a|b|c|\n|:-|-:|:-:|\n|d|\n").unwrap();
        assert_eq!(table.to_gfm(|cell| cell.chars().next()), "|a|b|c|\n|:-|-:|:-:|\n|d|\n||\n");
        assert_eq!(Table::of("|a|\n|-|\n|b|").unwrap().rows, [["a"], ["b"]]);
    }
}
