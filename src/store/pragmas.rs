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

#[cfg(test)]
mod tests {
    use crate::store::Database;
    use crate::store::file::beside;

    #[test]
    fn connections_enforce_foreign_keys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.sqlite");
        let database = Database::open(&path).unwrap();
        // The connection that opened the file, and another one.
        for _ in 0..2 {
            let connection = database.connect_writer().unwrap();
            let refused = connection.execute(
                "INSERT INTO presence (user_id, last_connected_time, update_id) VALUES (1000, 0, 1)",
                [],
            );
            let code = refused.unwrap_err().sqlite_error_code();
            assert_eq!(code, Some(rusqlite::ErrorCode::ConstraintViolation));
        }
    }

    /// The log has room for 1000 pages of 4 KiB and the last job. A larger one is cut at 16 MiB when it is used again.
    #[test]
    fn the_log_does_not_grow_with_every_job() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.sqlite");
        let database = Database::open(&path).unwrap();
        let connection = database.connect_writer().unwrap();
        let log_bytes = || std::fs::metadata(beside(&path, "-wal")).unwrap().len();
        connection.execute_batch("CREATE TABLE filler (bytes BLOB)").unwrap();
        let add = |bytes: i64| {
            connection.execute("INSERT INTO filler (bytes) VALUES (zeroblob(?1))", [bytes]).unwrap();
        };
        for _ in 0..16 {
            add(1 << 20);
        }
        assert!(log_bytes() < 8 << 20, "{}", log_bytes());
        add(20 << 20);
        assert!(log_bytes() > 20 << 20, "{}", log_bytes());
        add(1);
        assert!(log_bytes() <= 16 << 20, "{}", log_bytes());
    }
}
