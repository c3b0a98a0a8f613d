//! Query plans of the statements that run for each message or each page of messages: one snapshot for each folder.
//! Statements with `INDEXED BY` are left out, because SQLite refuses them if the index cannot be used.

use super::snapshots::assert_written;
use super::source::files;
use super::statements::{Statement, complete_statements, empty_database, plan};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Folders and files with such statements.
const HOT: &[&str] = &[
    "api/messages/",
    "api/reactions.rs",
    "api/topics.rs",
    "domain/access/messages.rs",
    "domain/messages/",
    "domain/narrow/",
    "domain/search/",
    "domain/subscriptions/sql.rs",
    "domain/user_topics/",
];

/// Tables that grow with the messages. Statements on others are not in the snapshots.
const LARGE: [&str; 9] = [
    "message",
    "message_edit",
    "message_search",
    "reaction",
    "user_message_flags",
    "read_state",
    "read_chunk",
    "subscription_span",
    "arrival",
];

#[test]
fn query_plans() {
    let (_folder, database) = empty_database();
    let connection = database.connect_writer().unwrap();
    let statements = complete_statements(&files());
    check_index_of_subscribers(&connection, &statements);
    let mut plans: BTreeMap<String, String> = BTreeMap::new();
    for statement in statements {
        let is_hot = HOT.iter().any(|path| statement.path.starts_with(path));
        if !is_hot || !statement.text.starts_with("SELECT") || statement.text.contains("INDEXED BY") {
            continue;
        }
        let steps = plan(&connection, &statement.text);
        let is_large = LARGE
            .iter()
            .any(|table| statement.text.split(|letter: char| !is_word(letter)).any(|word| word == *table));
        if is_large {
            let folder: Vec<&str> = statement.path.trim_end_matches(".rs").split('/').take(2).collect();
            let text = plans.entry(folder.join("_")).or_default();
            writeln!(text, "{}\n    {}", statement.text, steps.join("\n    ")).unwrap();
        }
    }
    assert_written("plans", &plans);
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Checks that the index of subscribers covers every statement on it. They are counted and listed from the index alone: a row for
/// each would take ten times as long.
fn check_index_of_subscribers(connection: &Connection, statements: &[Statement]) {
    let mut count = 0;
    for statement in statements.iter().filter(|statement| statement.text.contains("subscription")) {
        for step in plan(connection, &statement.text) {
            if step.contains("subscription_stream") {
                assert!(step.contains("COVERING INDEX"), "{}: {step}", statement.text);
                count += 1;
            }
        }
    }
    assert!(count > 5, "{count} uses");
}
