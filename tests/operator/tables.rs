//! Tables of the book.

/// The rows of the table with this head, each as its cells.
pub fn rows<'p>(page: &'p str, head: &str) -> impl Iterator<Item = Vec<&'p str>> {
    let (_, table) = page.split_once(&format!("{head}\n|---|---|")).unwrap();
    let rows = table.lines().skip(1).take_while(|row| row.starts_with('|'));
    rows.map(|row| row.split('|').skip(1).map(str::trim).collect())
}

/// The names in a cell, which are written as code.
pub fn names(cell: &str) -> impl Iterator<Item = &str> {
    cell.split(',').map(|name| name.trim().trim_matches('`'))
}
