//! Comparison of the schema of a file with that of this program.

use super::migrations::{MIGRATIONS, create, migrate};
use rusqlite::Connection;
use std::collections::BTreeSet;

/// Tables that other programs keep in a database, and that this one does not read: those of Litestream, and of `ANALYZE`.
const OF_OTHERS: [(&str, &str); 4] = [
    ("_litestream_lock", "CREATE TABLE _litestream_lock (id INTEGER)"),
    ("_litestream_seq", "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)"),
    ("sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    ("sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
];

/// A table, an index, a view or a trigger.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Object {
    kind: String,
    name: String,
    table: String,
    /// The statement that makes it; empty if there is none.
    tokens: Vec<String>,
}

impl Object {
    fn is_in(&self, objects: &BTreeSet<Self>) -> bool {
        objects.iter().any(|other| (&other.kind, &other.name) == (&self.kind, &self.name))
    }

    fn is_of_others(&self) -> bool {
        let is_same = |(name, sql): &(&str, &str)| self.name == *name && self.tokens == tokens(sql);
        self.kind == "table" && self.table == self.name && OF_OTHERS.iter().any(is_same)
    }

    fn described(&self, what: &str) -> String {
        format!("the {} {} {what}", self.kind.escape_debug(), self.name.escape_debug())
    }
}

/// Lists the objects of a database that are missing, changed, or not of this program. Its version decides which are expected.
pub fn schema_differences(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let version = connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))?;
    let version = usize::try_from(version).unwrap_or(0).min(MIGRATIONS.len());
    let mut sample = Connection::open_in_memory()?;
    if version == MIGRATIONS.len() {
        create(&mut sample)?;
    } else {
        migrate(&mut sample, 0..version)?;
    }
    let (expected, found) = (objects(&sample)?, objects(connection)?);
    let foreign = found.difference(&expected).filter(|object| !object.is_of_others()).map(|object| {
        let is_known = object.is_in(&expected);
        object.described(if is_known { "was changed" } else { "is not of this program" })
    });
    let missing = expected.difference(&found).filter(|object| !object.is_in(&found));
    Ok(foreign.chain(missing.map(|object| object.described("is missing"))).collect())
}

fn objects(connection: &Connection) -> rusqlite::Result<BTreeSet<Object>> {
    // A file can have a table with the name of the alias, `sqlite_schema`.
    let mut statement =
        connection.prepare("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master")?;
    let rows = statement.query_map([], |row| {
        let tokens = tokens(&row.get::<_, String>(3)?);
        Ok(Object { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, tokens })
    })?;
    rows.collect()
}

/// The tokens of a statement. Comments and white space differ between a table that was made and one that was migrated.
fn tokens(sql: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = sql.trim_ascii_start();
    while let Some(first) = rest.chars().next() {
        let is_comment = rest.starts_with("--") || rest.starts_with("/*");
        let length = match first {
            '-' if is_comment => rest.find('\n'),
            '/' if is_comment => rest[2..].find("*/").map(|end| end + 4),
            '\'' | '"' | '`' => end_of_quoted(rest, first),
            '[' => rest.find(']').map(|end| end + 1),
            _ if is_in_word(first) => rest.find(|letter: char| !is_in_word(letter)),
            _ => Some(1),
        };
        let (token, after) = rest.split_at(length.unwrap_or(rest.len()));
        if !is_comment {
            tokens.push(token.to_owned());
        }
        rest = after.trim_ascii_start();
    }
    tokens
}

/// The end of a quoted token, in which the quote is written twice.
fn end_of_quoted(text: &str, quote: char) -> Option<usize> {
    let mut end = 1;
    loop {
        end += text[end..].find(quote)? + 1;
        if !text[end..].starts_with(quote) {
            return Some(end);
        }
        end += 1;
    }
}

/// As SQLite has it: all that is not ASCII is a letter.
fn is_in_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$') || !letter.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_sqlite() {
        for (sql, expected) in [
            ("a /* b */ c -- d\n e", vec!["a", "c", "e"]),
            ("a/*/ b */c --", vec!["a", "c"]),
            ("'--a' \"/*\"[it's] `b``c`", vec!["'--a'", "\"/*\"", "[it's]", "`b``c`"]),
            ("'it''s' 'a' 'b", vec!["'it''s'", "'a'", "'b"]),
            ("'a  b',x'00' <>1", vec!["'a  b'", ",", "x", "'00'", "<", ">", "1"]),
            ("a\u{a0}b é$_1", vec!["a\u{a0}b", "é$_1"]),
        ] {
            assert_eq!(tokens(sql), expected, "{sql}");
        }
    }

    #[test]
    fn foreign_changed_and_missing_objects_are_named() {
        for (sql, expected) in [
            ("CREATE INDEX costly ON client (hex(zeroblob(length(name))))", "the index costly is not of this program"),
            ("CREATE VIEW everything AS SELECT content FROM message", "the view everything is not of this program"),
            ("CREATE TRIGGER client AFTER INSERT ON client BEGIN SELECT 1; END", "the trigger client is not of this program"),
            ("CREATE TABLE \"x\ny\" (a)", "the table x\\ny is not of this program"),
            ("ALTER TABLE client ADD COLUMN size INTEGER AS (length(name))", "the table client was changed"),
            ("ALTER TABLE client ADD COLUMN size INTEGER DEFAULT (1 + 1)", "the table client was changed"),
            ("DROP INDEX user_email", "the index user_email is missing"),
            ("DROP INDEX user_email; CREATE INDEX user_email ON user (upper(email))", "the index user_email was changed"),
            (
                "PRAGMA writable_schema = on; UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL UNIQUE', 'NOT NULL
                     COLLATE NOCASE UNIQUE') WHERE name = 'client'",
                "the table client was changed",
            ),
            ("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY CHECK (id < 9), seq INTEGER)",
                "the table _litestream_seq is not of this program"),
        ] {
            let mut connection = Connection::open_in_memory().unwrap();
            create(&mut connection).unwrap();
            connection.execute_batch(sql).unwrap();
            assert_eq!(schema_differences(&connection).unwrap(), [expected], "{sql}");
        }
        let mut connection = Connection::open_in_memory().unwrap();
        create(&mut connection).unwrap();
        for (_, sql) in &OF_OTHERS[..2] {
            connection.execute_batch(sql).unwrap();
        }
        connection.execute_batch("ANALYZE").unwrap();
        assert_eq!(schema_differences(&connection).unwrap(), [""; 0]);
    }
}
