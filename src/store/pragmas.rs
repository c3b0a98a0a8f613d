//! SQLite's own checks of a file, and giving its free pages back to the disk.

use rusqlite::Connection;

/// Checks pages, indexes, types and the search index. Returns the problems, about `limit` at most.
pub fn integrity_problems(connection: &Connection, limit: usize) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({limit})"))?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    let mut problems = Vec::new();
    for row in rows {
        // Damaged pages are several lines in one row, under a heading.
        let row = row?;
        let lines = row.lines().filter(|line| *line != "ok" && !line.starts_with("*** in database "));
        problems.extend(lines.map(str::to_owned));
    }
    Ok(problems)
}

/// Finds rows that refer to a row that is not there: the table, the row's id if it has one, and the other table.
pub fn missing_references(connection: &Connection) -> rusqlite::Result<Vec<(String, Option<i64>, String)>> {
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}

/// Gives free pages back. The file becomes shorter with the next checkpoint.
pub fn release_pages(connection: &Connection, pages: u32) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = statement.query([])?;
    // Each row is a page.
    while rows.next()?.is_some() {}
    Ok(())
}
