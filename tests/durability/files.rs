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

/// The files of a folder: content and permissions.
#[cfg(unix)]
fn contents(folder: &Path) -> std::collections::BTreeMap<String, (Vec<u8>, u32)> {
    use std::os::unix::fs::PermissionsExt;

    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths
        .map(|path| {
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, (std::fs::read(&path).unwrap(), mode))
        })
        .collect()
}

/// A wrong `--db` harms no file of another program, and leaves nothing beside it.
#[cfg(unix)]
#[test]
#[expect(clippy::disallowed_methods, reason = "makes a file of another program")]
fn files_of_other_programs_stay_as_they_are() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("letter.txt"), "Dear friend, ".repeat(100)).unwrap();
    let recipes = rusqlite::Connection::open(folder.join("recipes.sqlite")).unwrap();
    recipes.execute_batch("CREATE TABLE recipe (id INTEGER)").unwrap();
    drop(recipes);
    for name in ["letter.txt", "recipes.sqlite"] {
        let readable = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(folder.join(name), readable).unwrap();
    }
    let before = contents(folder);
    for name in ["letter.txt", "recipes.sqlite"] {
        for command in [
            &["serve", "--listen", "127.0.0.1:0"][..],
            &["status"],
            &["audit"],
            &["check"],
            &["compact"],
            &["doctor"],
            &["backup", "out"],
            &["fixtures", "dump"],
            &["export", "zulip", "out.tar.gz"],
            &["organization", "deactivate", "--yes"],
            &["user", "list"],
            &CREATE,
        ] {
            let refused = run(folder, &[command, &["--db", name]].concat());
            let said = String::from_utf8([refused.stdout, refused.stderr].concat()).unwrap();
            let code = if matches!(command[0], "check" | "doctor") { 2 } else { 1 };
            assert_eq!(refused.status.code(), Some(code), "{command:?}: {said}");
            assert!(said.contains("is not a teamchat database: it is "), "{command:?}: {said}");
            let after = contents(folder);
            assert!(after == before, "{command:?}: {:?}", after.keys());
        }
    }
}
