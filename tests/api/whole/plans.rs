//! How SQLite answers the statements that reading and sending messages stand on. A walk over a whole table of messages,
//! flags or words does not belong there.

use super::snapshots::{constants, fill_in, statements_of};
use super::source::files;
use std::fmt::Write;
use teamchat::store::Database;

/// Slices and files whose statements run for each message or each page of messages.
const HOT: [&str; 5] =
    ["api/messages/", "api/subscriptions/sql.rs", "api/user_topics/", "api/topics.rs", "api/reactions.rs"];

/// Tables that grow with the messages. Their indexes count as the tables themselves.
const LARGE: [&str; 7] = [
    "message",
    "message_edit",
    "reaction",
    "user_message_flags",
    "read_state",
    "read_chunk",
    "subscription_span",
];

#[test]
fn query_plans() {
    let files = files();
    let constants = constants(&files);
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(&folder.path().join("chat.sqlite")).unwrap();
    let connection = database.connect_writer().unwrap();
    let mut all = String::new();
    let mut walks = Vec::new();
    for file in files.iter().filter(|file| HOT.iter().any(|path| file.path.starts_with(path))) {
        for statement in statements_of(file) {
            let (statement, complete) = fill_in(&statement, file, &constants);
            if !complete || !statement.starts_with("SELECT") {
                continue;
            }
            writeln!(all, "{statement}").unwrap();
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
            // A plan needs no parameters.
            let steps = plan.raw_query().mapped(|row| row.get::<_, String>("detail"));
            for step in steps.map(Result::unwrap) {
                writeln!(all, "    {step}").unwrap();
                let is_walk = LARGE.iter().any(|table| step == format!("SCAN {table}"));
                if is_walk {
                    walks.push(format!("{}: {statement}: {step}", file.path));
                }
            }
        }
    }
    assert!(walks.is_empty(), "statements that walk a whole table:\n{}", walks.join("\n"));
    insta::assert_snapshot!(all);
}
