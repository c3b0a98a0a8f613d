//! Broken and hostile archives: an error with the file and the line, and nothing left behind.

use super::Import;
use super::archive::{Archive, message, received, user, with};
use serde_json::json;
use std::fs::File;
use std::io::Write;

/// A change that breaks an archive.
type Change = Box<dyn FnOnce(&mut Archive)>;

/// Refuses an archive that a change broke, and returns the error.
fn broken(change: impl FnOnce(&mut Archive)) -> String {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    archive.message(message(101, 10, 105, "boats", "hello"), &[(10, 1), (11, 0)]);
    change(&mut archive);
    archive.write(&import);
    import.refused(&import.archive())
}

#[test]
fn broken_rows_are_named_with_their_line() {
    let cases: [(&str, Change); 17] = [
        ("realm.json:", Box::new(|archive| archive.realm["zerver_userprofile"][1]["role"] = json!("high"))),
        (
            "the person 10 is there twice",
            Box::new(|archive| {
                archive.row("zerver_userprofile", user(10, "Eve", 400));
            }),
        ),
        (
            "the email ADA@example.com is there twice",
            Box::new(|archive| {
                let eve = with(user(15, "Eve", 400), json!({"delivery_email": "ADA@example.com"}));
                archive.row("zerver_userprofile", eve);
            }),
        ),
        (
            "the email Ada@Example.com is there twice",
            Box::new(|archive| archive.realm["zerver_userprofile"][1]["email"] = json!("Ada@Example.com")),
        ),
        (
            "group 20 includes itself through group 22",
            Box::new(|archive| {
                archive
                    .row("zerver_groupgroupmembership", json!({"id": 9, "supergroup": 20, "subgroup": 22}));
            }),
        ),
        (
            "zerver_subscription: there is no person 99",
            Box::new(|archive| {
                archive.row("zerver_subscription", json!({"id": 9, "user_profile": 99, "recipient": 105}));
            }),
        ),
        (
            "messages-000001.json:",
            Box::new(|archive| {
                archive.message(message(102, 99, 105, "boats", "who?"), &[]);
            }),
        ),
        (
            "there is no recipient 999 of message 102",
            Box::new(|archive| {
                archive.message(message(102, 10, 999, "boats", "where?"), &[]);
            }),
        ),
        (
            "message 101 is there twice",
            Box::new(|archive| {
                archive.message(message(101, 10, 105, "boats", "again"), &[]);
            }),
        ),
        (
            "there is no message 555 before it",
            Box::new(|archive| {
                archive.messages[0].1.push(received(555, 10, 1));
            }),
        ),
        (
            "zerver_usermessage: person 10 has message 101 twice",
            Box::new(|archive| {
                archive.messages[0].1.push(received(101, 10, 1024));
            }),
        ),
        (
            "1750000000000 is no time in UNIX seconds",
            Box::new(|archive| {
                let row =
                    with(message(102, 10, 105, "boats", "late"), json!({"date_sent": 1_750_000_000_000_i64}));
                archive.message(row, &[]);
            }),
        ),
        ("-3 is no id", Box::new(|archive| archive.realm["zerver_stream"][0]["id"] = json!(-3))),
        (
            "2000000001 is no id",
            Box::new(|archive| {
                archive.message(message(2_000_000_001, 10, 105, "boats", "the last one"), &[]);
            }),
        ),
        (
            "a text has a NUL character",
            Box::new(|archive| {
                archive.message(message(102, 10, 105, "boats", "a\0b"), &[]);
            }),
        ),
        (
            "edit_history: ",
            Box::new(|archive| {
                archive.message(with(message(102, 10, 105, "x", "y"), json!({"edit_history": "[{"})), &[]);
            }),
        ),
        (
            "uploads/records.json has no 1/a/b/c.txt",
            Box::new(|archive| {
                archive.upload(40, "1/a/b/c.txt", b"x", &[101]);
                archive.uploads.clear();
            }),
        ),
    ];
    for (expected, change) in cases {
        let error = broken(change);
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let error = broken(|archive| {
        archive.message(message(102, 99, 105, "boats", "who?"), &[]);
    });
    let line = error.split(':').nth(1).unwrap().parse::<usize>().unwrap();
    assert!(error.ends_with("zerver_message: there is no person 99, who sent message 102"), "{error}");
    assert!((20..45).contains(&line), "{error}");
}

#[test]
fn rows_that_refer_to_nothing_and_missing_tables_are_refused() {
    let bot_data = json!({"id": 1, "bot_profile": 99, "key": "k", "value": "v"});
    let service = json!({"id": 1, "user_profile": 99, "name": "s", "base_url": "https://x.org", "token": "", "interface": 1});
    let emoji = json!({"id": 1, "author": 99, "realm": 1, "name": "x", "file_name": "x.png", "is_animated": false,
        "deactivated": false});
    let reaction = json!({"id": 1, "user_profile": 11, "message": 101, "emoji_name": "tada", "emoji_code": "1f389",
        "reaction_type": "unicode_emoji"});
    let rows = [
        ("zerver_botconfigdata", bot_data, "zerver_botconfigdata: there is no person 99"),
        ("zerver_service", service, "zerver_service: there is no person 99"),
        ("zerver_realmemoji", emoji, "zerver_realmemoji: there is no person 99"),
        (
            "zerver_recipient",
            json!({"id": 999, "type": 2, "type_id": 5}),
            "there are two recipients of type 2 for 5",
        ),
    ];
    for (table, row, expected) in rows {
        let error = broken(|archive| {
            archive.row(table, row);
        });
        assert!(error.starts_with("realm.json:") && error.ends_with(expected), "{expected}: {error}");
    }
    let cells = [
        ("zerver_realm", 0, "new_stream_announcements_stream", "zerver_realm: there is no channel 99"),
        ("zerver_userprofile", 4, "default_sending_stream", "zerver_userprofile: there is no channel 99"),
        ("zerver_namedusergroup", 8, "usergroup_ptr", "zerver_namedusergroup: there is no group 99"),
    ];
    for (table, row, column, expected) in cells {
        let error = broken(|archive| archive.realm[table][row][column] = json!(99));
        assert_eq!(error, format!("realm.json: {expected}"));
    }
    let error = broken(|archive| {
        let other_name = with(reaction.clone(), json!({"id": 2, "emoji_name": "party"}));
        archive.row("zerver_reaction", reaction).row("zerver_reaction", other_name);
    });
    assert_eq!(error, "realm.json: zerver_reaction: person 11 has an emoji under message 101 twice");
    for table in ["zerver_subscription", "zerver_namedusergroup", "zerver_usergroupmembership"] {
        let error = broken(|archive| drop(archive.realm.remove(table)));
        assert_eq!(error, format!("realm.json: the table {table} is missing"));
    }
    for (file, table) in
        [("messages-000001.json", "zerver_usermessage"), ("attachment.json", "zerver_attachment")]
    {
        let import = Import::new("zulip");
        Archive::new().write(&import);
        import.write(file, r#"{"zerver_message": []}"#);
        assert_eq!(import.refused(&import.archive()), format!("{file}: the table {table} is missing"));
    }
}

#[test]
fn cut_and_missing_files_are_refused() {
    let import = Import::new("zulip");
    Archive::new().write(&import);
    let realm = std::fs::read(import.archive().join("realm.json")).unwrap();
    import.write("realm.json", &realm[..realm.len() / 2]);
    let error = import.refused(&import.archive());
    assert!(error.starts_with("realm.json:") && error.contains("EOF"), "{error}");
    std::fs::remove_file(import.archive().join("realm.json")).unwrap();
    let error = import.refused(&import.archive());
    assert_eq!(error, "realm.json: the archive does not have this file");
    let error = import.refused(&import.folder.path().join("archive-that-is-not-there"));
    assert!(error.contains("archive-that-is-not-there"), "{error}");
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    archive.message(message(101, 10, 105, "boats", "hello"), &[]);
    archive.write(&import);
    std::fs::rename(
        import.archive().join("messages-000001.json"),
        import.archive().join("messages-000002.json"),
    )
    .unwrap();
    let error = import.refused(&import.archive());
    assert_eq!(error, "messages-000002.json: messages-000001.json is missing before it");
}

/// Writes a tar file of one entry.
fn tar(import: &Import, change: impl FnOnce(&mut tar::Header, &mut Vec<u8>)) -> std::path::PathBuf {
    let path = import.folder.path().join("archive.tar");
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_mode(0o644);
    let mut content = b"{}".to_vec();
    change(&mut header, &mut content);
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut file = File::create(&path).unwrap();
    file.write_all(header.as_bytes()).unwrap();
    content.resize(content.len().next_multiple_of(512), 0);
    file.write_all(&content).unwrap();
    file.write_all(&[0; 1024]).unwrap();
    path
}

#[test]
fn paths_out_of_the_archive_and_links_are_refused() {
    let import = Import::new("zulip");
    let named = |name: &'static [u8]| {
        move |header: &mut tar::Header, _: &mut Vec<u8>| {
            header.as_mut_bytes()[..name.len()].copy_from_slice(name);
        }
    };
    let path = tar(&import, named(b"../outside.txt"));
    assert_eq!(import.refused(&path), "../outside.txt: the path leads out of the archive");
    let path = tar(&import, named(b"/etc/outside.txt"));
    assert_eq!(import.refused(&path), "/etc/outside.txt: the path leads out of the archive");
    let path = tar(&import, |header, content| {
        named(b"realm.json")(header, content);
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_link_name("/etc/passwd").unwrap();
        content.clear();
    });
    assert_eq!(import.refused(&path), "realm.json: it is a link or a device");
    let path = import.folder.path().join("archive.txt");
    std::fs::write(&path, "no archive").unwrap();
    assert!(import.refused(&path).ends_with("it is neither a folder nor a .tar.gz, .tar or .zip file"));

    let import = Import::new("zulip");
    let mut archive = Archive::new();
    archive.upload(40, "../../chat.key", b"x", &[]);
    archive.uploads[0].0["path"] = json!("../../chat.key");
    let written = archive.uploads.clone();
    archive.uploads.clear();
    archive.write(&import);
    import.write("uploads/records.json", serde_json::to_vec(&[&written[0].0]).unwrap());
    let error = import.refused(&import.archive());
    assert!(error.contains("uploads/../../chat.key: the path leads out of the archive"), "{error}");
    // The record names a file of the archive, but the file's address would lead out of the folders of exports.
    for path in ["../../outside.txt", "/outside.txt", "1/./a.txt"] {
        let error = broken(|archive| {
            archive.upload(40, "1/a/b/c.txt", b"x", &[101]);
            archive.attachments[0]["path_id"] = json!(path);
            archive.uploads[0].0["s3_path"] = json!(path);
        });
        assert!(error.ends_with(&format!("{path} is no path of a file")), "{error}");
    }
    #[cfg(unix)]
    {
        let import = Import::new("zulip");
        let mut archive = Archive::new();
        archive.upload(40, "1/a/b/c.txt", b"x", &[]);
        archive.write(&import);
        let link = import.archive().join("uploads/1/a/b/c.txt");
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
        let error = import.refused(&import.archive());
        assert!(error.contains("it is a link"), "{error}");
    }
}

/// Names and attributes are read into memory before the file that they are of.
#[test]
fn huge_names_are_refused() {
    for kind in [tar::EntryType::GNULongName, tar::EntryType::GNULongLink, tar::EntryType::XHeader] {
        let import = Import::new("zulip");
        let path = tar(&import, |header, content| {
            header.set_entry_type(kind);
            content.resize(3 << 20, b'x');
        });
        let error = import.refused(&path);
        assert!(error.contains("names or attributes of a file have more than 1 MiB"), "{kind:?}: {error}");
    }
}

#[test]
fn devices_and_hard_links_are_refused() {
    let kinds = [
        tar::EntryType::Link,
        tar::EntryType::Symlink,
        tar::EntryType::Char,
        tar::EntryType::Block,
        tar::EntryType::Fifo,
    ];
    for kind in kinds {
        let import = Import::new("zulip");
        let path = tar(&import, |header, content| {
            header.set_path("realm.json").unwrap();
            header.set_entry_type(kind);
            header.set_link_name("../outside.txt").unwrap();
            content.clear();
        });
        assert_eq!(import.refused(&path), "realm.json: it is a link or a device", "{kind:?}");
    }
}

#[test]
fn bombs_and_huge_rows_are_refused() {
    let import = Import::new("zulip");
    let path = import.folder.path().join("archive.tar.gz");
    let mut bomb = flate2::write::GzEncoder::new(File::create(&path).unwrap(), flate2::Compression::best());
    let mut header = tar::Header::new_gnu();
    header.set_path("realm.json").unwrap();
    header.set_size(140 << 20);
    header.set_cksum();
    bomb.write_all(header.as_bytes()).unwrap();
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..140 {
        bomb.write_all(&zeros).unwrap();
    }
    bomb.finish().unwrap();
    let error = import.refused(&path);
    assert_eq!(error, "realm.json: the unpacked archive is far larger than archives of messages are");

    let import = Import::new("zulip");
    Archive::new().write(&import);
    let mut long = File::create(import.archive().join("messages-000001.json")).unwrap();
    long.write_all(b"{\"zerver_message\": [\n{\"content\": \"").unwrap();
    for _ in 0..70 {
        long.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    drop(long);
    let error = import.refused(&import.archive());
    assert!(
        error.starts_with("messages-000001.json:") && error.contains("a row is longer than 64 MiB"),
        "{error}"
    );
}

#[test]
fn control_characters_of_an_archive_do_not_reach_the_terminal() {
    let import = Import::new("json");
    import.write("messages.jsonl", "{\"type\": \"\\u001b[2J\"}");
    let error = import.refused(&import.archive());
    assert!(error.contains("unknown variant `\\u{1b}[2J`"), "{error}");
}
