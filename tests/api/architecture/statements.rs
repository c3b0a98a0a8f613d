//! The SQL statements that stand in the source: each is prepared against the schema, and none walks a whole table that
//! grows, unless it is listed here with the reason.
//!
//! If a statement is built with `format!`, string constants that the file defines or imports are inserted. Statements
//! with remaining gaps are complete only at run time, and are covered by the tests that run them.

use super::modules::Modules;
use super::source::{SourceFile, files};
use regex::{Captures, Regex};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use teamchat::server::WATCHED;
use teamchat::store::Database;
use tempfile::TempDir;

/// Tables that may be walked, and why.
const WALKED_TABLES: &[(&str, &[&str])] = &[
    (
        "a few rows in an organization, made by its administrators",
        &[
            "channel_folder",
            "code_playground",
            "default_stream",
            "default_stream_group",
            "default_stream_group_stream",
            "invite",
            "linkifier",
            "mail_setup",
            "password_reset",
            "profile_field",
            "push_key",
            "realm",
            "realm_domain",
            "realm_emoji",
            "realm_export",
            "realm_setting",
            "realm_user_setting_default",
            "upload_state",
            "user_group",
            "user_group_subgroup",
        ],
    ),
    ("a queue whose length is limited", &["outgoing_mail"]),
    ("a row for each channel: clients ask for all of them", &["stream"]),
    (
        "rows of people: clients ask for all of them, and whom a change concerns is found in one pass",
        &["alert_word", "bot", "profile_value", "user", "user_group_member"],
    ),
    ("of SQLite itself", &["sqlite_master", "sqlite_sequence"]),
];

/// Statements that walk another table, by how they begin, and why they may.
const WALKS: &[(&str, &str)] = &[
    (
        "SELECT count(*) FROM (SELECT timestamp FROM message ORDER BY id DESC LIMIT ?2)",
        "the newest messages up to a limit, for `teamchat status`",
    ),
    (
        "SELECT count(*), coalesce(sum(size) FILTER",
        "all files, for `teamchat status`, in the pool of slow reads",
    ),
    ("SELECT stream_id, count(*) FROM subscription WHERE active", "the numbers of subscribers, counted once"),
    ("SELECT count(*) FROM subscription WHERE active", "the number of subscriptions, counted once"),
    (
        "SELECT id FROM session JOIN session_use",
        "maintenance, outside of the writer; people have few sessions",
    ),
    ("SELECT stream_id, user_id FROM subscription JOIN user", "who is subscribed to what, read once"),
    (
        "SELECT DISTINCT user_id FROM push_subscription",
        "after the commit of a message; people have few subscriptions",
    ),
    ("SELECT EXISTS (SELECT 1 FROM push_notification", "it ends at the first row"),
    ("SELECT EXISTS (SELECT 1 FROM push_subscription", "the same"),
    ("SELECT EXISTS (SELECT 1 FROM push_device", "the same"),
    ("SELECT NOT EXISTS (SELECT 1 FROM missed_batch", "the same"),
    (
        "DELETE FROM missed_message WHERE (batch_id, message_id) IN",
        "an operator turned mail off; it ends at a limit",
    ),
    ("DELETE FROM missed_batch WHERE id IN", "the same"),
    (
        "SELECT user_id FROM user_setting WHERE property = 'enable_stream_email_notifications'",
        "an index of the few who turned it on",
    ),
    ("SELECT user_id FROM user_setting WHERE property = 'enable_stream_push_notifications'", "the same"),
    ("SELECT count(*) FROM message", "an import, which counts the messages that it wrote"),
    ("UPDATE user SET user_id", "an import, whose database is empty"),
    ("DELETE FROM push_notification", "an operator turned Web Push off"),
    ("DELETE FROM scheduled_message WHERE stream_id", "an operator removes a channel"),
    ("DELETE FROM recipient WHERE stream_id", "the same, and SQLite looks whether anything still names it"),
    ("DELETE FROM stream WHERE stream_id", "the same"),
    ("DELETE FROM event_queue WHERE user_id", "an account ends; queues are few"),
    ("SELECT queue_id, user_id, registration, acknowledged FROM event_queue", "the start reads all queues"),
    (
        "SELECT user_id FROM user WHERE is_active AND (bot_type IS NOT NULL OR date_joined",
        "who has a queue, once",
    ),
    ("WITH hidden AS MATERIALIZED (SELECT user_id FROM user_setting", "a registration has all statuses"),
    ("SELECT CAST(emoji_code AS INTEGER) FROM reaction", "which emoji are shown, for an operator's command"),
    ("SELECT id, sender_id, stream_id, user_ids, subject", "fixtures are written of all messages"),
    ("SELECT id, content, subject FROM message WHERE id NOT IN", "an operator repairs the search index"),
    (
        "DELETE FROM scheduled_message WHERE scheduled_message_id IN",
        "now and then: those that were sent long ago",
    ),
];

/// Modules that examine a whole file, outside of the server or in a copy, and exports, which read each table once, in the
/// background or in a program of their own.
const EXAMINERS: [&str; 4] = ["domain/integrity/", "domain/backups/", "domain/export/", "cli/doctor/"];

/// A statement of the source.
pub struct Statement {
    /// The file, below `src`.
    pub path: String,
    /// On one line.
    pub text: String,
}

/// The source is read once for all rules, which takes longer than the rules.
#[test]
fn statements_follow_the_rules() {
    let (_folder, database) = empty_database();
    let connection = database.connect_writer().unwrap();
    let statements = complete_statements(&files());
    assert!(statements.len() > 300, "statements are found: {}", statements.len());
    check_fit_the_schema(&connection, &statements);
    check_changes_are_noticed(&connection, &statements);
    let is_examiner = |path: &str| EXAMINERS.iter().any(|module| path.starts_with(module));
    let statements: Vec<Statement> =
        statements.into_iter().filter(|statement| !is_examiner(&statement.path)).collect();
    check_walks(&connection, &statements);
    check_large_columns(&connection, &statements);
}

fn check_fit_the_schema(connection: &Connection, statements: &[Statement]) {
    let mut failures = Vec::new();
    for statement in statements {
        if let Err(error) = connection.prepare(&statement.text) {
            failures.push(format!("{}: {}: {error}", statement.path, statement.text));
        }
    }
    assert!(failures.is_empty(), "statements that the schema refuses:\n{}", failures.join("\n"));
}

/// Checks that the writer notices all changes of watched tables. SQLite reports no changes of tables without row ids, and none
/// by a `DELETE` without a condition.
fn check_changes_are_noticed(connection: &Connection, statements: &[Statement]) {
    let watched: Vec<&str> =
        WATCHED.counted.iter().copied().flatten().chain(WATCHED.cached).copied().collect();
    let mut failures = Vec::new();
    for table in watched {
        let without_row_id: i64 = connection
            .query_row("SELECT wr FROM pragma_table_list WHERE name = ?1", [table], |row| row.get(0))
            .unwrap();
        if without_row_id == 1 {
            failures.push(format!("{table} has no row ids"));
        }
        let unnoticed = format!("DELETE FROM {table}");
        let unnoticed = statements.iter().filter(|statement| statement.text.trim() == unnoticed);
        failures.extend(unnoticed.map(|statement| format!("{}: {}", statement.path, statement.text)));
    }
    assert!(failures.is_empty(), "changes that are not noticed:\n{}", failures.join("\n"));
}

/// Checks that no statement walks a table that grows.
fn check_walks(connection: &Connection, statements: &[Statement]) {
    let tables = tables(connection);
    let may_be_walked = |table: &str| WALKED_TABLES.iter().any(|(_, tables)| tables.contains(&table));
    let mut walks = Vec::new();
    let mut used = vec![false; WALKS.len()];
    for statement in statements {
        let steps = plan(connection, &statement.text);
        let walked = steps.iter().filter_map(|step| walked(step, &statement.text, &tables));
        for table in walked.filter(|table| !may_be_walked(table)) {
            match WALKS.iter().position(|(beginning, _)| statement.text.starts_with(beginning)) {
                Some(listed) => used[listed] = true,
                None => walks.push(format!("{}: {}\n    walks {table}", statement.path, statement.text)),
            }
        }
    }
    assert!(walks.is_empty(), "statements that walk a whole table:\n{}", walks.join("\n"));
    let unused: Vec<&str> =
        WALKS.iter().zip(used).filter(|(_, used)| !used).map(|(walk, _)| walk.0).collect();
    assert!(unused.is_empty(), "listed, but no statement begins so and walks a table: {unused:?}");
}

/// The last large column of each table whose rows can be large.
const LARGE_COLUMNS: &[(&str, &str)] = &[
    ("event", "payload"),
    ("message", "html"),
    ("message_edit", "prev_rendered_content"),
    ("reminder", "rendered_content"),
    ("scheduled_message", "rendered_content"),
];

/// Statements that read columns after a large one but not the large one itself, by their beginning, with a reason.
const LATE_COLUMNS: &[(&str, &str)] = &[(
    "SELECT recipient_id, subject, sender_id, attributes",
    "a narrow that no index answers, in the pool of slow reads, whose statements have a deadline",
)];

/// Checks that no statement reads large columns in vain. SQLite reads a row up to the last requested column, so a statement can
/// read a megabyte of each of many rows unnecessarily.
fn check_large_columns(connection: &Connection, statements: &[Statement]) {
    let (mut found, mut used) = (Vec::new(), vec![false; LATE_COLUMNS.len()]);
    // Updates and deletions read the row anyway.
    let reads = |text: &str| text.starts_with("SELECT") || text.starts_with("WITH");
    for statement in statements.iter().filter(|statement| reads(&statement.text)) {
        for (table, column) in LARGE_COLUMNS {
            let columns = columns_read(connection, &statement.text, table);
            let large = connection
                .query_row("SELECT cid FROM pragma_table_info(?1) WHERE name = ?2", (table, column), |row| {
                    row.get(0)
                })
                .unwrap();
            if columns.iter().all(|read| *read < large) || columns.contains(&large) {
                continue;
            }
            match LATE_COLUMNS.iter().position(|(beginning, _)| statement.text.starts_with(beginning)) {
                Some(listed) => used[listed] = true,
                None => found.push(format!("{}: {}", statement.path, statement.text)),
            }
        }
    }
    assert!(found.is_empty(), "statements that read large columns in vain:\n{}", found.join("\n"));
    assert!(used.iter().all(|used| *used), "listed, but not found: {LATE_COLUMNS:?}");
}

/// The columns of a table's rows that a statement reads, by their numbers.
fn columns_read(connection: &Connection, statement: &str, table: &str) -> BTreeSet<i64> {
    let page = "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?1";
    let page: i64 = connection.query_row(page, [table], |row| row.get(0)).unwrap();
    let mut program = connection.prepare(&format!("EXPLAIN {statement}")).unwrap();
    let steps = program.raw_query().mapped(|row| Ok((row.get("opcode")?, row.get("p1")?, row.get("p2")?)));
    let steps: Vec<(String, i64, i64)> = steps.map(Result::unwrap).collect();
    let is_open = |opcode: &str| matches!(opcode, "OpenRead" | "OpenWrite");
    let cursors: BTreeSet<i64> = steps
        .iter()
        .filter(|(opcode, _, number)| is_open(opcode) && *number == page)
        .map(|(_, cursor, _)| *cursor)
        .collect();
    let of_table = |(opcode, cursor, _): &&(String, i64, i64)| opcode == "Column" && cursors.contains(cursor);
    steps.iter().filter(of_table).map(|(_, _, column)| *column).collect()
}

fn tables(connection: &Connection) -> BTreeSet<String> {
    let mut statement = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").unwrap();
    let names = statement.query_map([], |row| row.get(0)).unwrap();
    names.map(Result::unwrap).chain(["sqlite_master".to_owned()]).collect()
}

/// The table that a step of a query plan reads from one end to the other, with or without an index. A step names it as
/// the statement does, which may be by an alias; other names are of common table expressions and table functions.
fn walked(step: &str, statement: &str, tables: &BTreeSet<String>) -> Option<String> {
    let mut words = step.strip_prefix("SCAN ")?.split_whitespace();
    let name = words.next()?;
    let rest: Vec<&str> = words.collect();
    // `VIRTUAL TABLE INDEX 0:=` is a search in a full-text index, `0:` a walk over it.
    if let ["VIRTUAL", "TABLE", "INDEX", index] = rest[..]
        && !index.ends_with(':')
    {
        return None;
    }
    if tables.contains(name) {
        return Some(name.to_owned());
    }
    let alias = Regex::new(&format!(r"\b(\w+)\s+(?:AS\s+)?{}\b", regex::escape(name))).unwrap();
    let mut named = alias.captures_iter(statement).map(|found| found[1].to_owned());
    named.find(|table| tables.contains(table))
}

#[test]
fn scans_are_distinguished_from_index_searches() {
    let tables: BTreeSet<String> = ["message", "user", "message_search"].map(str::to_owned).into();
    let walked = |step: &str| walked(step, "SELECT 1 FROM message AS m JOIN inside", &tables);
    assert_eq!(walked("SCAN message USING COVERING INDEX message_topic").as_deref(), Some("message"));
    assert_eq!(walked("SCAN m").as_deref(), Some("message"));
    assert_eq!(walked("SCAN message_search VIRTUAL TABLE INDEX 0:").as_deref(), Some("message_search"));
    for step in
        ["SCAN inside", "SCAN CONSTANT ROW", "SEARCH user", "SCAN message_search VIRTUAL TABLE INDEX 0:="]
    {
        assert_eq!(walked(step), None, "{step}");
    }
}

/// A new file with the schema.
pub fn empty_database() -> (TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(&folder.path().join("chat.sqlite")).unwrap();
    (folder, database)
}

/// The steps of a statement's query plan.
pub fn plan(connection: &Connection, statement: &str) -> Vec<String> {
    let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
    // A plan needs no parameters.
    let steps = plan.raw_query().mapped(|row| row.get::<_, String>("detail"));
    steps.map(Result::unwrap).collect()
}

/// The statements of files that can be prepared as they are.
pub fn complete_statements(files: &[SourceFile]) -> Vec<Statement> {
    let imports = Modules::read(files).imports;
    let by_file: BTreeMap<&str, Vec<(String, String)>> =
        files.iter().map(|file| (file.path.as_str(), file.text_constants())).collect();
    let mut statements = Vec::new();
    for file in files.iter().filter(|file| !file.is_test()) {
        let own = &by_file[file.path.as_str()];
        let mut constants: BTreeMap<&str, String> = BTreeMap::new();
        for import in imports.iter().filter(|import| import.from == file.path) {
            let imported = by_file[import.to.as_str()].iter();
            let imported = imported.filter(|(name, _)| import.path.rsplit("::").next() == Some(name));
            constants.extend(imported.map(|(name, text)| (name.as_str(), one_line(text))));
        }
        constants.extend(own.iter().map(|(name, text)| (name.as_str(), one_line(text))));
        for text in statements_of(file) {
            let is_part = own.iter().any(|(name, constant)| {
                one_line(constant) == text && file.text.contains(&format!("{{{name}}}"))
            });
            if let Some(text) = fill_in(&text, &constants).filter(|_| !is_part) {
                statements.push(Statement { path: file.path.clone(), text });
            }
        }
    }
    statements
}

/// The string literals of a file that are whole statements.
fn statements_of(file: &SourceFile) -> Vec<String> {
    static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(WITH|SELECT|INSERT( OR \w+)? INTO|UPDATE \w+ SET|DELETE FROM)\s").unwrap()
    });
    let literals = file.literals().into_iter().map(|text| one_line(&text));
    literals.filter(|text| STATEMENT.is_match(text)).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Puts constants in the place of `{NAME}`. `None` if one is unknown.
fn fill_in(statement: &str, constants: &BTreeMap<&str, String>) -> Option<String> {
    static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{(\w*)\}").unwrap());
    let mut complete = true;
    let filled = PLACEHOLDER.replace_all(statement, |found: &Captures<'_>| {
        let known = constants.get(&found[1]);
        complete &= known.is_some();
        known.cloned().unwrap_or_default()
    });
    complete.then(|| filled.into_owned())
}
