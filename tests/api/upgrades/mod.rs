//! Files of earlier versions. This folder has a file of each release, with a fully populated organization, and the
//! answers to requests at that time. The current code must give the same answers, except for those listed in
//! [`CHANGED`]. Before a release, keep its file:
//!
//! ```sh
//! KEEP_FILE=1 cargo test --test api upgrades
//! ```

pub mod answers;
pub mod populate;

use crate::harness::{Client, TestServer};
use answers::Kept;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use teamchat::domain::backups::{Identities, Progress, restore};
use teamchat::types::Clock;

/// Public URL of the organization, so that links do not depend on the port.
pub const ORIGIN: &str = "https://chat.example.com";

/// Intended differences from the kept answers: the beginning of the path, the member (without positions in lists;
/// includes everything below), and the reason. New members need no entry, nor do new items of lists whose items have a name or an id.
const CHANGED: &[(&str, &str, &str)] = &[
    (
        "/api/v1/users/me/api_keys",
        ".api_keys",
        "sessions of browsers are no keys any more, and those of before have ended",
    ),
    (
        "/api/v1/user_uploads/",
        ".url",
        "temporary addresses end with the access of their user, whom they name",
    ),
    (
        "/api/v1/register",
        ".server_emoji_data_url",
        "it changes with the names of emoji, which clients keep for ever",
    ),
    (
        "/api/v1/register",
        ".server_web_public_streams_enabled",
        "visitors read web-public channels where the organization allows it",
    ),
    ("/api/v1/register", ".realm_incoming_webhook_bots.all_event_types", "integrations know more events"),
    ("/api/v1/events", ".events", "events that wait lose the text of messages that are deleted"),
];

/// Columns, or tables, that nothing fills for long, with the reason.
const NOT_FILLED: &[(&str, &str)] = &[
    ("upload_content.removed_from", "what broke off is removed at the next start"),
    ("push_message.", "notifications are decided right after the commit"),
    ("search_backlog.", "moved messages are indexed again right after the move"),
    ("follow_up.", "follow-up jobs run right after the jobs that leave them"),
    ("welcome_text.", "welcome texts are sent right after the account is created"),
    ("mail_message.", "a server without mail has none"),
    ("mail_held.", "the same"),
    ("missed_batch.", "the same"),
    ("missed_message.", "the same"),
    ("mail_setup.", "the populated server has no mail server"),
    ("outgoing_mail.", "the populated server has no mail server"),
    ("invite.parent_id", "the populated server has no mail server"),
];

/// Path of a kept file or its answers.
fn path_of(version: &str, ending: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api/upgrades");
    folder.join(format!("{version}.{ending}.gz"))
}

fn unpack(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let packed = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn pack(path: &Path, bytes: &[u8]) {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).unwrap();
    std::fs::write(path, packed.finish().unwrap()).unwrap();
}

/// The versions of which files are kept.
fn kept() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api/upgrades");
    let files = std::fs::read_dir(folder).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(".sqlite.gz").map(str::to_owned)).collect()
}

/// The versions that the changelog has a section of.
fn released() -> BTreeSet<String> {
    let changelog = include_str!("../../../CHANGELOG.md");
    let sections = changelog.lines().filter_map(|line| line.strip_prefix("## "));
    let names = sections.filter_map(|title| title.split_whitespace().next());
    names
        .map(|name| name.trim_matches(['[', ']']))
        .filter(|name| *name != "Unreleased")
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_file_of_each_release_is_kept() {
    let missing: Vec<_> = released().difference(&kept()).cloned().collect();
    assert!(missing.is_empty(), "KEEP_FILE=1 cargo test --test api upgrades, with each of {missing:?}");
    assert!(kept().contains("0.1.0"));
}

/// Their schema is the one that this version expects of them.
#[test]
fn files_of_earlier_versions_are_restored() {
    let folder = tempfile::tempdir().unwrap();
    for version in kept() {
        let (backup, database) = (folder.path().join("backup"), folder.path().join(&version));
        std::fs::write(&backup, unpack(&path_of(&version, "sqlite"))).unwrap();
        let mut progress = Progress { on_progress: &mut |_, _, _| {}, stop: Arc::default() };
        let input = &mut std::io::empty();
        restore(&database, &backup, input, &Identities::default(), 0, &mut progress).unwrap();
    }
}

#[tokio::test]
async fn files_of_earlier_versions_answer_as_before() {
    let mut needed = BTreeSet::new();
    for version in kept() {
        let kept: Kept = serde_json::from_slice(&unpack(&path_of(&version, "json"))).unwrap();
        let file = unpack(&path_of(&version, "sqlite"));
        let server = TestServer::start_on(&file, Clock::manual(kept.clock), populate::options()).await;
        assert_eq!(server.column("PRAGMA integrity_check").await, ["ok"], "{version}");
        assert_eq!(server.column("PRAGMA foreign_key_check").await, [""; 0], "{version}");
        let mut differences = Vec::new();
        for question in &kept.questions {
            let answer = question.ask(&server, &kept.people).await;
            for (member, difference) in question.differences(&answer) {
                let expected = CHANGED.iter().position(|(path, changed, _)| {
                    question.path.starts_with(path) && member.starts_with(changed)
                });
                match expected {
                    Some(line) => {
                        needed.insert(line);
                    }
                    None => differences.push(format!("{version}, {question}: {difference}")),
                }
            }
        }
        assert!(
            differences.is_empty(),
            "{} differ:\n{}\nif they shall differ, add a line to CHANGED in tests/api/upgrades/mod.rs",
            differences.len(),
            differences[..differences.len().min(40)].join("\n")
        );
    }
    let idle: Vec<_> =
        (0..CHANGED.len()).filter(|line| !needed.contains(line)).map(|line| CHANGED[line]).collect();
    assert!(idle.is_empty(), "nothing differs there, so delete these lines of CHANGED: {idle:?}");
}

/// The organization is worth keeping: no table is empty, and no column is null everywhere. With `KEEP_FILE`, it is kept
/// as that of this version.
#[tokio::test]
async fn the_kept_organization_has_everything() {
    let (server, people, queues) = populate::populate().await;
    let now = server.clock.seconds();
    let file = server.into_file().await;
    let empty = empty_columns(&file);
    assert!(empty.is_empty(), "add to tests/api/upgrades/populate.rs what fills {empty:?}");
    let server = TestServer::start_on(&file, Clock::manual(now), populate::options()).await;
    let people: Vec<Client> = people.iter().map(|client| server.client_of(client)).collect();
    let kept = Kept::ask(&server, now, &people, &queues).await;
    let refused = kept.questions.iter().filter(|question| question.status >= 500);
    assert_eq!(refused.map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
    if std::env::var_os("KEEP_FILE").is_some() {
        let version = env!("CARGO_PKG_VERSION");
        assert!(
            !self::kept().contains(version),
            "the file of {version} is kept already: it was its code that made it"
        );
        pack(&path_of(version, "sqlite"), &file);
        pack(&path_of(version, "json"), &serde_json::to_vec(&kept).unwrap());
    }
}

/// The columns that have a value in no row.
fn empty_columns(file: &[u8]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.sqlite");
    std::fs::write(&path, file).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the file belongs to no server")]
    let connection = Connection::open(&path).unwrap();
    let columns = "SELECT t.name, c.name FROM pragma_table_list t, pragma_table_info(t.name) c
         WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'";
    let mut statement = connection.prepare(columns).unwrap();
    let columns = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let columns: Vec<(String, String)> = columns.map(Result::unwrap).collect();
    assert!(columns.len() > 200, "the columns are found: {}", columns.len());
    let is_excused = |(table, column): &(String, String)| {
        NOT_FILLED.iter().any(|(name, _)| format!("{table}.{column}").starts_with(name))
    };
    let is_empty = |(table, column): &(String, String)| {
        let rows = format!("SELECT count(\"{column}\") FROM \"{table}\"");
        connection.query_row(&rows, [], |row| row.get::<_, i64>(0)).unwrap() == 0
    };
    columns
        .iter()
        .filter(|column| is_empty(column) && !is_excused(column))
        .map(|(table, column)| format!("{table}.{column}"))
        .collect()
}
