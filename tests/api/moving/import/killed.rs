//! Imports that are killed, and what they leave.

use super::Import;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const MESSAGES: u64 = 4000;

fn archive() -> Import {
    let import = Import::new("json");
    let mut lines = vec![
        json!({"type": "user", "id": "ada", "email": "ada@example.com", "full_name": "Ada", "role": "owner"}),
        json!({"type": "channel", "name": "general", "subscribers": ["ada"]}),
    ];
    lines.extend((0..MESSAGES).map(|number| {
        json!({"type": "message", "sender": "ada", "channel": "general", "topic": "boats", "date": 1_746_093_600 + number,
            "content": format!("message {number}")})
    }));
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    import.write("messages.jsonl", lines.join("\n"));
    import
}

fn start(import: &Import) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamchat"));
    command.args(["import", "json"]).arg(import.archive()).arg("--db").arg(import.database());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Kills imports at several moments. Nothing has the final name then, and the next import begins again.
#[test]
fn a_killed_import_begins_again() {
    let import = archive();
    let written =
        ["", "-wal"].map(|ending| import.folder.path().join(format!("chat.sqlite.importing{ending}")));
    for bytes in [1, 300_000, 900_000, 1_500_000] {
        let mut child = start(&import);
        while written.iter().map(|path| size(path)).sum::<u64>() < bytes
            && child.try_wait().unwrap().is_none()
        {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert!(!status.success(), "the import was killed in time");
        assert!(!import.database().exists());
        assert!(!import.left().is_empty());
    }
    let report = import.run(&[]);
    assert_eq!(report["messages"], MESSAGES);
    assert_eq!(import.left(), ["chat.sqlite"]);
}

#[test]
fn a_running_import_is_left_alone() {
    let import = archive();
    let folder = import.folder.path().join("chat.sqlite.importing.d");
    fs::create_dir(&folder).unwrap();
    let mark = File::create(folder.join(".unfinished")).unwrap();
    mark.try_lock().unwrap();
    fs::write(import.folder.path().join("chat.sqlite.importing"), "of the other one").unwrap();
    let output = import.run_on(&import.archive(), &[]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("another process writes it"), "{error}");
    let mut left = import.left();
    left.sort_unstable();
    assert_eq!(left, ["chat.sqlite.importing", "chat.sqlite.importing.d"]);
    drop(mark);
    import.run(&[]);
    assert_eq!(import.left(), ["chat.sqlite"]);
}

#[test]
fn a_file_of_the_name_is_never_replaced() {
    let import = archive();
    fs::write(import.database(), "something").unwrap();
    let output = import.run_on(&import.archive(), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read(import.database()).unwrap(), b"something");
    assert_eq!(import.left(), ["chat.sqlite"]);
    fs::remove_file(import.database()).unwrap();
    assert_eq!(import.run(&["--dry-run"])["messages"], MESSAGES);
    assert_eq!(import.left(), ["archive"; 0]);
}
