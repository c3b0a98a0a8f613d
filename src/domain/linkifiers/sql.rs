//! Statements on linkifiers.

use crate::domain::linkifiers::LinkifierRecord;
use crate::store::ExecuteCached;
use rusqlite::Connection;

const ALL: &str = "SELECT pattern, url_template, id FROM linkifier ORDER BY position";

/// All linkifiers, in the order of application.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<LinkifierRecord>> {
    connection
        .prepare_cached(ALL)?
        .query_map([], |row| {
            Ok(LinkifierRecord { pattern: row.get(0)?, url_template: row.get(1)?, id: row.get(2)? })
        })?
        .collect()
}

/// True if `known` equals the stored linkifiers. Allocates nothing, since it is called for every rendered message.
pub fn is_unchanged(connection: &Connection, known: &[LinkifierRecord]) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached(ALL)?;
    let mut rows = statement.query([])?;
    let mut known = known.iter();
    while let Some(row) = rows.next()? {
        let Some(linkifier) = known.next() else { return Ok(false) };
        let is_same = row.get_ref(0)?.as_str()? == linkifier.pattern
            && row.get_ref(1)?.as_str()? == linkifier.url_template
            && row.get::<_, i64>(2)? == linkifier.id;
        if !is_same {
            return Ok(false);
        }
    }
    Ok(known.next().is_none())
}

/// Inserts a linkifier after all others and returns its id.
pub fn insert(connection: &Connection, pattern: &str, url_template: &str) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO linkifier (position, pattern, url_template)
             VALUES ((SELECT coalesce(max(position), 0) + 1 FROM linkifier), ?1, ?2)",
        )?
        .insert((pattern, url_template))
}

/// Updates a linkifier.
pub fn update(connection: &Connection, id: i64, pattern: &str, url_template: &str) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE linkifier SET pattern = ?2, url_template = ?3 WHERE id = ?1",
        (id, pattern, url_template),
    )
}

/// Deletes a linkifier. Returns whether it existed.
pub fn delete(connection: &Connection, id: i64) -> rusqlite::Result<bool> {
    Ok(connection.prepare_cached("DELETE FROM linkifier WHERE id = ?1")?.execute([id])? > 0)
}

/// Sets the position of a linkifier.
pub fn set_position(connection: &Connection, id: i64, position: usize) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE linkifier SET position = ?2 WHERE id = ?1", (id, position as i64))
}
