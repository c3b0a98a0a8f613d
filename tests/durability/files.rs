//! Files that commands create and refuse.

use std::path::Path;
use std::process::{Command, Output};

/// Runs a command in a directory.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_teamchat");
    Command::new(program).args(arguments).current_dir(folder).env_remove("TEAMCHAT_DB").output().unwrap()
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

const CREATE: [&str; 8] =
    ["user", "create", "--email", "owner@example.com", "--full-name", "Owner", "--role", "owner"];

#[test]
fn user_create_creates_a_named_file_only() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for arguments in [
        &["user", "list"][..],
        &["user", "list", "--db", "other.sqlite"],
        &["user", "key", "list", "--email", "owner@example.com"],
        &["organization", "reactivate"],
        &CREATE,
    ] {
        let refused = run(folder, arguments);
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("does not exist"), "{refused:?}");
        assert_eq!(files(folder), 0, "{arguments:?}");
    }
    // A command that fails leaves no new database behind.
    for wrong in
        [&["--email", "owner"][..], &["--email", "bot@example.com", "--bot-owner", "nobody@example.com"]]
    {
        let create = ["user", "create", "--db", "new.sqlite", "--full-name", "Owner"];
        let refused = run(folder, &[&create[..], wrong].concat());
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert!(!String::from_utf8_lossy(&refused.stderr).contains("Created"), "{refused:?}");
        assert_eq!(files(folder), 0, "{wrong:?}");
    }
    let named: Vec<&str> = CREATE.iter().copied().chain(["--db", "chat.sqlite"]).collect();
    let created = run(folder, &named);
    assert!(created.status.success(), "{created:?}");
    assert!(
        String::from_utf8_lossy(&created.stderr).contains("Created the database chat.sqlite"),
        "{created:?}"
    );
    let listed = run(folder, &["user", "list", "--json"]);
    assert!(listed.status.success() && listed.stderr.is_empty(), "{listed:?}");
    let memory = run(folder, &["user", "list", "--db", ":memory:"]);
    assert!(String::from_utf8_lossy(&memory.stderr).contains("--ephemeral"), "{memory:?}");
}
