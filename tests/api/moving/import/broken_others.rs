//! Broken and hostile archives of other programs: an error with the file and the line, and nothing left behind.

use super::Import;
use super::mattermost::post;
use super::{mattermost, rocketchat, slack};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use teamchat::app::{Options, Overrides};
use teamchat::moving::import;
use teamchat::moving::import::slack::Extras;
use teamchat::moving::import::{Format, Place, Source};
use teamchat::server::{Engine, runtime};
use teamchat::types::Clock;

/// Appends to a file of the archive.
fn append(import: &Import, name: &str, bytes: &[u8]) {
    File::options().append(true).open(import.archive().join(name)).unwrap().write_all(bytes).unwrap();
}

/// Writes a file with a line of 10 GB, which takes no space.
fn make_huge(import: &Import, name: &str, begin: &str) {
    import.write(name, begin);
    File::options().write(true).open(import.archive().join(name)).unwrap().set_len(10_000_000_000).unwrap();
}

/// Packs the archive of an import with a file that unpacks to 140 MiB.
fn zip_with_bomb(import: &Import, name: &str) -> std::path::PathBuf {
    let path = import.folder.path().join("archive.zip");
    let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
    zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
    for _ in 0..140 {
        zip.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    zip.finish().unwrap();
    path
}

#[test]
fn broken_lines_of_mattermost_are_named() {
    let user = |name: &str, email: &str| json!({"type": "user", "user": {"username": name, "email": email}});
    let reply = |other: Value| post(json!({"replies": [post(other)["post"]]}));
    let cases = [
        (reply(json!({"create_at": "now"})), "invalid type: string \"now\", expected i64"),
        (post(json!({"channel": "nowhere"})), "there is no channel nowhere before it"),
        (post(json!({"attachments": [{"path": "../../secret"}]})), "the path leads out of the archive"),
        (post(json!({"message": "a\0b"})), "a text has a NUL character"),
        (user("ada", "other@example.com"), "the user ada is there twice"),
        (user("eve", "ADA@example.com"), "the email ADA@example.com is there twice"),
        (json!({"type": "post"}), "it has no post"),
        (json!([1]), "invalid type: sequence, expected a map"),
    ];
    for (line, expected) in cases {
        let import = mattermost::export(&[line]);
        let error = import.refused(&import.archive());
        assert!(error.starts_with("export.json:9: ") && error.contains(expected), "{expected}: {error}");
    }
    for (bytes, expected) in [
        (&b"\n{\"type\": \"post\", \"post\": {\"us"[..], "EOF while parsing"),
        (b"\n{\"type\": \"\xff\"}", "it is not UTF-8"),
    ] {
        let import = mattermost::export(&[]);
        append(&import, "export.json", bytes);
        let error = import.refused(&import.archive());
        assert!(error.starts_with("export.json:9: ") && error.contains(expected), "{expected}: {error}");
    }
    let import = mattermost::export(&[]);
    make_huge(&import, "export.json", "{\"type\": \"version\"}\n{\"type\":");
    assert_eq!(import.refused(&import.archive()), "export.json:2: a row is longer than 64 MiB");
    let error = import.refused(&zip_with_bomb(&import, "export.json"));
    assert_eq!(error, "export.json: the unpacked archive is far larger than archives of messages are");
}

#[test]
fn broken_files_of_slack_are_named() {
    const DAY: &str = "general/2024-03-01.json";
    let cases = [
        ("users.json", "[\n{\"id\": 7}]", "users.json:2: invalid type: integer `7`, expected a string"),
        ("users.json", "[\n{\"id\": \"U1\"},\n{\"id\": \"U1\"}]", "users.json: the user U1 is there twice"),
        ("users.json", "[\n{\"id\": \"U1\"}", "users.json:2: EOF while parsing a list"),
        ("users.json", "{}", "users.json:1: invalid type: map, expected a list of rows"),
        (
            "channels.json",
            "[{\"id\": \"C1\", \"name\": \"a\"}, {\"id\": \"C2\", \"name\": \"A\"}]",
            "channels.json: the channel 'A' has no name, or is there twice",
        ),
        (
            DAY,
            "[\n{\"ts\": \"1709280000.0\", \"text\": [1]}]",
            "general/2024-03-01.json:2: invalid type: sequence, expected a string",
        ),
        (
            DAY,
            "[\n{\"ts\": \"1709280000.0\", \"user\": \"U1\",",
            "general/2024-03-01.json:2: EOF while parsing",
        ),
        (
            DAY,
            "[\n{\"ts\": \"1709280000.0\", \"user\": \"U1\", \"text\": \"a\\u0000b\"}]",
            "general/2024-03-01.json:2: a text has a NUL character",
        ),
    ];
    for (file, content, expected) in cases {
        let import = slack::export();
        import.write(file, content);
        let error = import.refused(&import.archive());
        assert!(error.starts_with(expected), "{expected}: {error}");
    }
    let import = slack::export();
    make_huge(&import, DAY, "[\n{\"text\": \"");
    let error = import.refused(&import.archive());
    assert!(error.starts_with("general/2024-03-01.json:2: "), "{error}");
    let error = import.refused(&zip_with_bomb(&import, "users.json"));
    assert_eq!(error, "users.json: the unpacked archive is far larger than archives of messages are");
    let emails = import.folder.path().join("archive-emails.csv");
    std::fs::write(&emails, "U3,cat@example.org\nU4 without an address\n").unwrap();
    let output = import.run_on(&import.archive(), &["--emails", emails.to_str().unwrap()]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("archive-emails.csv:2: "), "{error}");
    assert_eq!(import.left(), ["archive"; 0]);
}

#[test]
fn broken_documents_of_rocket_chat_are_named() {
    let user = |id: &str, email: &str| json!({"_id": id, "username": id, "type": "user", "emails": [{"address": email}]});
    let message = json!({"_id": "m9", "rid": "r1", "u": {"_id": "u1"}, "msg": "no time"});
    let mut deep = json!({});
    for _ in 0..200 {
        deep = json!({"a": deep});
    }
    let cases = [
        ("users", user("u1", "other@example.com"), "users.bson:4: the user u1 is there twice"),
        ("users", user("u9", "ADA@example.com"), "users.bson:4: the email ADA@example.com is there twice"),
        ("rocketchat_message", message, "rocketchat_message.bson:8: a message has no time"),
        ("rocketchat_message", deep, "rocketchat_message.bson:8: a document is nested too deeply"),
    ];
    for (collection, row, expected) in cases {
        let import = rocketchat::dump();
        append(&import, &format!("{collection}.bson"), &rocketchat::document(&row));
        assert_eq!(import.refused(&import.archive()), expected);
    }
    for collection in ["users", "rocketchat_room", "rocketchat_subscription", "rocketchat_uploads.chunks"] {
        let import = rocketchat::dump();
        append(&import, &format!("{collection}.bson"), &[40, 0, 0, 0, 2]);
        let error = import.refused(&import.archive());
        assert!(
            error.starts_with(&format!("{collection}.bson:")) && error.ends_with(": a document is cut"),
            "{error}"
        );
    }
}

#[test]
fn huge_and_cut_lines_are_named() {
    let cases: [(&[u8], &str); 4] = [
        (b"{\"type\": \"organization\", \"na", "messages.jsonl:1: EOF while parsing"),
        (b"\xff", "messages.jsonl:1: it is not UTF-8"),
        (
            b"{\"type\": \"organization\", \"name\": \"a\\u0000b\"}",
            "messages.jsonl:1: a text has a NUL character",
        ),
        (
            b"{\"type\": \"organization\", \"name\": [1]}",
            "messages.jsonl:1: invalid type: sequence, expected a string",
        ),
    ];
    for (content, expected) in cases {
        let import = Import::new("json");
        import.write("messages.jsonl", content);
        let error = import.refused(&import.archive());
        assert!(error.starts_with(expected), "{expected}: {error}");
    }
    let import = Import::new("json");
    make_huge(&import, "messages.jsonl", "\n{\"type\":");
    assert_eq!(import.refused(&import.archive()), "messages.jsonl:2: a row is longer than 64 MiB");
    let (import, other) = (Import::new("json"), super::json::people());
    let twice = [&other[5], &other[5]].map(Value::to_string).join("\n");
    let people: Vec<String> = other[2..5].iter().map(Value::to_string).collect();
    import.write("messages.jsonl", format!("{}\n{twice}", people.join("\n")).replace("\"ada\"", "\"bob\""));
    assert_eq!(
        import.refused(&import.archive()),
        "messages.jsonl:5: the channel 'general' has no name, or is there twice"
    );
}

/// Many messages with one file fill a disk, and so do the files of a small archive.
#[test]
fn files_leave_space_on_the_disk() {
    let archive = Import::new("json");
    archive.write("list.txt", "oars");
    let lines = [
        json!({"type": "user", "id": "ada", "email": "ada@example.com", "full_name": "Ada", "role": "owner"}),
        json!({"type": "message", "sender": "ada", "to": ["ada"], "content": "x", "date": 1_746_093_600,
            "files": [{"path": "list.txt"}]}),
    ];
    archive.write("messages.jsonl", lines.map(|line| line.to_string()).join("\n"));
    let packed = archive.folder.path().join("archive.zip");
    let mut zip = zip::ZipWriter::new(File::create(&packed).unwrap());
    zip.start_file("messages.jsonl", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(b"{}").unwrap();
    zip.finish().unwrap();
    for (path, file) in [(archive.archive(), ""), (packed, "messages.jsonl: ")] {
        let source = Source {
            format: Format::Json,
            path,
            old_addresses: Vec::new(),
            public_url: None,
            slack: Extras::default(),
            password_links: false,
        };
        let overrides = Overrides { disk_reserve_mib: Some(1 << 40), ..Overrides::default() };
        let options = Options { overrides, ..Options::default() };
        let (place, runtime) = (Place::prepare(&archive.database()).unwrap(), runtime().unwrap());
        let engine = runtime.block_on(Engine::open(&place.database(), Clock::System, options)).unwrap();
        let imported = import::run(Arc::clone(&engine.app), runtime.handle().clone(), &source, &place, false);
        engine.close();
        let error = imported.unwrap_err().to_string();
        let expected = format!("{file}the disk has no space for the files of the archive");
        assert!(error.contains(&expected), "{error}");
    }
}
