//! Files and folders that a command cannot use: the error names them, with the remedy.

use crate::program::{command, create_owner, folder_with_database, words};
use flate2::read::GzDecoder;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;

/// A user without privileges, where the tests run as root: it may write everything.
const NOBODY: u32 = 65_534;

pub fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_directory_is_no_database() {
    let folder = folder_with_database();
    let backup = folder.path().join("backup.zst");
    let db = folder.path().join("chat.sqlite");
    assert!(command(&["backup", "--db"]).arg(&db).arg(&backup).output().unwrap().status.success());
    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let backup = backup.to_str().unwrap();
    let create = ["user", "create", "--email", "ada@example.com", "--full-name", "Ada"];
    for arguments in
        [&["serve", "--listen", "127.0.0.1:0"][..], &create, &["status"], &["check"], &["restore", backup]]
    {
        let (code, _, said) = words(&command(arguments).arg("--db").arg(&other).output().unwrap());
        assert_eq!(code, if arguments[0] == "check" { 2 } else { 1 }, "{arguments:?}: {said}");
        assert!(
            said.contains("other cannot be the database: it is not a regular file"),
            "{arguments:?}: {said}"
        );
    }
    assert!(std::fs::read_dir(&other).unwrap().next().is_none());
}

#[test]
fn a_backup_into_a_missing_folder_names_the_folder() {
    let folder = folder_with_database();
    let db = folder.path().join("chat.sqlite");
    let missing = folder.path().join("disk");
    let output = command(&["backup", "--db"]).arg(&db).arg(missing.join("backup.zst")).output().unwrap();
    let expected =
        format!("error: {}: there is no such directory; create it, or mount its disk\n", missing.display());
    assert_eq!(words(&output), (1, String::new(), expected));
}

#[test]
fn read_only_files_and_folders_are_named() {
    let folder = folder_with_database();
    let folder = std::fs::canonicalize(folder.path()).unwrap();
    let db = folder.join("chat.sqlite");
    // Only root can give files away.
    let is_root = chown(&folder, Some(NOBODY), None).is_ok();
    if is_root {
        for entry in std::fs::read_dir(&folder).unwrap() {
            chown(entry.unwrap().path(), Some(NOBODY), None).unwrap();
        }
    }
    let run = |arguments: &[&str]| {
        let mut command = command(arguments);
        if is_root {
            command.uid(NOBODY);
        }
        // The program may be in a folder that only root can enter.
        command.arg("--db").arg(&db).output().ok().map(|output| words(&output))
    };
    let Some((0, ..)) = run(&["status"]) else {
        assert!(is_root);
        return;
    };
    set_mode(&db, 0o400);
    for arguments in [&["status"][..], &["serve", "--listen", "127.0.0.1:0"], &["user", "list"]] {
        let (code, _, said) = run(arguments).unwrap();
        let expected = format!("{} is read-only: `chmod u+w {}` changes that", db.display(), db.display());
        assert!(code == 1 && said.contains(&expected), "{arguments:?}: {said}");
    }
    set_mode(&db, 0o600);
    set_mode(&folder, 0o500);
    let (code, _, said) = run(&["user", "list"]).unwrap();
    let expected = format!("{} is read-only: `chmod u+w {}`", folder.display(), folder.display());
    assert!(code == 1 && said.contains(&expected), "{said}");
    set_mode(&folder, 0o700);
    assert_eq!(run(&["user", "list"]).unwrap().0, 0);
    let (code, _, said) = run(&["backup", "/backup.zst"]).unwrap();
    let owner = std::fs::metadata("/").unwrap().uid();
    let expected = format!("(the folder / belongs to user {owner}, and this process runs as user ");
    assert!(code == 1 && said.contains(&expected), "{said}");
}

#[test]
fn an_account_creates_only_a_database_that_was_named() {
    let folder = tempfile::tempdir().unwrap();
    let create = ["user", "create", "--email", "ada@example.com", "--full-name", "Ada"];
    let run = || words(&command(&create).current_dir(folder.path()).output().unwrap());
    let error = "error: chat.sqlite does not exist here; to create it, pass --db chat.sqlite\n".to_owned();
    assert_eq!(run(), (1, String::new(), error));
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
    create_owner(folder.path());
    let (code, _, said) = run();
    assert!(code == 1 && said.contains("Email is already in use."), "{said}");
}

/// A folder with a database of version 0.1.0.
fn folder_with_older_database() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut older = Vec::new();
    let packed = &include_bytes!("../api/upgrades/0.1.0.sqlite.gz")[..];
    GzDecoder::new(packed).read_to_end(&mut older).unwrap();
    std::fs::write(folder.path().join("chat.sqlite"), &older).unwrap();
    folder
}

#[test]
fn the_copy_of_an_older_database_has_the_owner_of_its_folder() {
    let folder = folder_with_older_database();
    let db = folder.path().join("chat.sqlite");
    // Only root can give files away.
    for path in [folder.path(), &db] {
        let _refused = chown(path, Some(NOBODY), None);
    }
    assert_eq!(words(&command(&["user", "list", "--db"]).arg(&db).output().unwrap()).0, 0);
    let owner = |path: &Path| std::fs::metadata(path).unwrap().uid();
    assert_eq!(owner(&folder.path().join("chat.sqlite.before-0010_sessions")), owner(folder.path()));
}

#[test]
fn commands_name_the_copy_of_an_older_database() {
    for arguments in [&["status"][..], &["user", "list"], &["compact"]] {
        let folder = folder_with_older_database();
        let db = std::fs::canonicalize(folder.path()).unwrap().join("chat.sqlite");
        let run = || words(&command(arguments).arg("--db").arg(&db).output().unwrap());
        let name = db.display();
        let expected = format!(
            "Upgraded the database {name}; the previous file was saved as {name}.before-0010_sessions\n"
        );
        let (code, _, said) = run();
        assert!(code == 0 && said.contains(&expected), "{arguments:?}: {said}");
        let (code, _, said) = run();
        assert!(code == 0 && !said.contains("Upgraded"), "{arguments:?}: {said}");
    }
}

/// Clients know events of the newer version, whose ids the older one gives to others: without their queues, they register again.
#[test]
fn the_copy_of_an_older_database_is_restored_without_its_queues() {
    let folder = folder_with_older_database();
    let db = folder.path().join("chat.sqlite");
    let copy = folder.path().join("chat.sqlite.before-0010_sessions");
    let state = |path: &Path| -> (i64, i64) {
        let connection = rusqlite::Connection::open(path).unwrap();
        let query =
            "SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM event_queue)";
        connection.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    let (version, queues) = state(&db);
    assert!(queues > 0);
    assert_eq!(words(&command(&["user", "list", "--db"]).arg(&db).output().unwrap()).0, 0);
    assert_eq!(state(&copy), (version, queues));
    assert!(state(&db).0 > version);
    let restored = command(&["restore", "--db"]).arg(&db).arg(&copy).output().unwrap();
    assert_eq!(words(&restored).0, 0, "{restored:?}");
    assert_eq!(state(&db), (version, 0));
}
