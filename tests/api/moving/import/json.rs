//! Lines of JSON, as `docs/moving.md` describes them.

use super::{Import, client, left_out, messages};
use crate::harness::pictures;
use serde_json::{Value, json};

fn write(import: &Import, lines: &[Value]) {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    import.write("messages.jsonl", lines.join("\n"));
}

pub fn people() -> Vec<Value> {
    vec![
        json!({"type": "organization", "name": "Boat club", "description": "We *row*"}),
        json!({"type": "user", "id": "ada", "email": "ada@example.com", "full_name": "Ada", "role": "owner",
            "timezone": "Europe/Berlin", "joined": "2024-01-02T03:04:05Z", "avatar": "ada.png"}),
        json!({"type": "user", "id": "bob", "email": "bob@example.com", "full_name": "Bob"}),
        json!({"type": "user", "id": "old", "full_name": "Old Joe", "active": false}),
        json!({"type": "user", "id": "helper", "full_name": "Helper", "bot": true, "bot_owner": "bob"}),
        json!({"type": "channel", "name": "general", "description": "For all", "subscribers": ["ada", "bob"],
            "default": true, "creator": "ada"}),
        json!({"type": "channel", "name": "secret", "private": true, "shared_history": false, "subscribers": ["ada"]}),
        json!({"type": "emoji", "name": "anchor", "path": "anchor.png", "author": "ada"}),
    ]
}

/// The file names others in its folder, which may have more than the archive. Hidden ones may be keys of the operator.
#[tokio::test]
async fn the_file_of_lines_may_be_given() {
    let import = Import::new("json");
    import.write("anchor.png", pictures::png(64, 64));
    import.write("files/list.txt", "oars");
    import.write("other.jsonl", "no line");
    std::os::unix::fs::symlink("/etc/hostname", import.archive().join("link")).unwrap();
    let mut lines = people();
    lines[1]["avatar"] = Value::Null;
    lines.push(json!({"type": "message", "sender": "ada", "to": ["bob"], "content": "the list:",
        "date": 1_746_093_600, "files": [{"path": "files/list.txt"}]}));
    write(&import, &lines);
    let path = import.archive().join("chat.jsonl");
    std::fs::rename(import.archive().join("messages.jsonl"), &path).unwrap();
    let error = import.refused(&import.archive().join("other.jsonl"));
    assert!(error.starts_with("other.jsonl:1: "), "{error}");
    import.write(".ssh/key", "secret");
    let all = std::fs::read_to_string(&path).unwrap();
    for hidden in [".ssh/key", "./.ssh/key"] {
        import.write("wrong.jsonl", all.replace("files/list.txt", hidden));
        let error = import.refused(&import.archive().join("wrong.jsonl"));
        assert!(error.contains("it is hidden beside the archive"), "{hidden}: {error}");
    }
    let report = import.report_on(&path, &[]);
    assert_eq!((&report["messages"], &report["attachments"]), (&json!(1), &json!(1)), "{report}");
}

/// Messages of one batch, and descriptions, refer to what comes after them in the archive.
#[tokio::test]
async fn links_and_descriptions_know_the_whole_archive() {
    let import = Import::new("json");
    import.write("ada.png", pictures::png(20, 20));
    import.write("anchor.png", pictures::png(64, 64));
    let mut lines = people();
    lines.insert(1, json!({"type": "user", "id": "eve", "email": "eve@example.com", "full_name": "Eve"}));
    lines.insert(
        6,
        json!({"type": "channel", "name": "first", "description": ":anchor: #**general>boats** @**Bob**"}),
    );
    let message = |channel: &str, topic: &str, content: &str, number: i64| {
        json!({"type": "message", "sender": "ada", "channel": channel, "topic": topic, "content": content,
            "date": 1_746_093_600 + number})
    };
    lines.extend([
        message("general", "boats", "one", 1),
        message("general", "Boats", "two #**general>oars**", 2),
        message("general", "oars", "three #**general>boats**", 3),
    ]);
    write(&import, &lines);
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let html_of = async |id: i64| ada.message(id).await["content"].as_str().unwrap().to_owned();
    assert!(html_of(2).await.contains("/topic/oars\""), "{}", html_of(2).await);
    assert!(html_of(3).await.contains("/topic/boats/with/2\""), "{}", html_of(3).await);
    let streams = ada.get("/streams", json!({"include_all": true})).await.ok();
    let first = streams["streams"].as_array().unwrap().iter().find(|stream| stream["name"] == "first");
    let html = first.unwrap()["rendered_description"].as_str().unwrap();
    for part in ["class=\"emoji\"", "/topic/boats/with/2", "class=\"user-mention\""] {
        assert!(html.contains(part), "{part} in {html}");
    }
}

#[tokio::test]
async fn lines_become_an_organization() {
    let import = Import::new("json");
    import.write("ada.png", pictures::png(200, 200));
    import.write("anchor.png", pictures::png(64, 64));
    import.write("files/list.txt", "oars");
    let mut lines = people();
    lines.extend([
        json!({"type": "message", "sender": "ada", "channel": "general", "topic": "boats", "content": "hi @**Bob**",
            "date": "2025-05-01T10:00:00Z", "reactions": [{"user": "bob", "emoji": "tada"},
            {"user": "ada", "emoji": "anchor"}, {"user": "bob", "emoji": "no_such_thing"}], "unread_by": ["bob"]}),
        json!({"type": "message", "sender": "bob", "channel": "General", "topic": "boats", "date": 1_746_093_700.5,
            "content": "the list:", "files": [{"path": "files/list.txt", "name": "the list.txt"}],
            "starred_by": ["ada"], "edited": 1_746_093_800}),
        json!({"type": "message", "sender": "old", "to": ["ada"], "content": "good bye", "date": 1_746_093_900}),
        json!({"type": "message", "sender": "ada", "channel": "secret", "topic": "x", "content": "alone",
            "date": 1_746_094_000}),
    ]);
    write(&import, &lines);
    let report = import.run(&[]);
    assert_eq!(
        (&report["users"], &report["channels"], &report["messages"], &report["attachments"]),
        (&json!(4), &json!(2), &json!(4), &json!(1)),
        "{report}"
    );
    let left: Vec<&str> =
        report["left_out"].as_array().unwrap().iter().map(|left| left["what"].as_str().unwrap()).collect();
    assert_eq!(left, ["email addresses", "reactions"]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let bob = client(&server, "bob@example.com").await;
    let seen = messages(&ada, json!([])).await;
    assert_eq!(seen.len(), 4);
    assert_eq!(
        (&seen[0]["timestamp"], &seen[1]["timestamp"]),
        (&json!(1_746_093_600), &json!(1_746_093_700))
    );
    assert_eq!(seen[0]["reactions"].as_array().unwrap().len(), 2);
    assert_eq!(seen[1]["last_edit_timestamp"], 1_746_093_800);
    assert!(seen[1]["content"].as_str().unwrap().starts_with("the list:\n[the list.txt](/user_uploads/1/"));
    assert_eq!(seen[1]["flags"], json!(["read", "starred"]));
    assert_eq!(seen[2]["type"], "private");
    let seen = messages(&bob, json!([])).await;
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_eq!(seen[0]["flags"], json!(["mentioned"]));
    let link = seen[1]["content"].as_str().unwrap();
    let path = &link[link.find("(/").unwrap() + 1..link.len() - 1];
    let file = bob.request_outside(hyper::Method::GET, path).send().await;
    assert_eq!((file.status, file.bytes.as_slice()), (200, &b"oars"[..]));
    let realm = bob.get("/server_settings", ()).await.ok();
    assert_eq!(
        (&realm["realm_name"], &realm["realm_description"]),
        (&json!("Boat club"), &json!("<p>We <em>row</em></p>"))
    );
    let users = bob.get("/users", ()).await.ok();
    let names: Vec<(&str, bool)> = users["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| (user["full_name"].as_str().unwrap(), user["is_active"] == json!(true)))
        .collect();
    assert_eq!(names, [("Ada", true), ("Bob", true), ("Old Joe", false), ("Helper", true)]);
}

#[tokio::test]
async fn names_that_cannot_be_here_are_changed() {
    let import = Import::new("json");
    let user = |id: &str, name: &str| {
        json!({"type": "user", "id": id, "email": format!("{id}@example.com"), "full_name": name,
            "role": if id == "ada" { "owner" } else { "member" }})
    };
    write(
        &import,
        &[
            json!({"type": "organization", "name": "Boat club\u{fff9}"}),
            user("ada", "Ada"),
            user("eve", "Notification Bot"),
            user("mal", "Ada\u{fff9}"),
            user("olga", "Welcome Bot\u{323}"),
            json!({"type": "channel", "name": "general\u{e000}", "subscribers": ["ada"]}),
            json!({"type": "message", "sender": "eve", "channel": "general\u{e000}", "topic": "x", "content": "hi",
                "date": 1_746_093_600}),
        ],
    );
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let users = ada.get("/users", ()).await.ok();
    let found: Vec<(&Value, &str)> = users["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| (&user["user_id"], user["full_name"].as_str().unwrap()))
        .collect();
    let expected = ["Ada".to_owned()].into_iter().chain(
        found[1..]
            .iter()
            .zip(["Notification Bot", "Ada", "Welcome Bot\u{323}"])
            .map(|((id, _), name)| format!("{name} {id}")),
    );
    assert_eq!(found.iter().map(|(_, name)| *name).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let streams = ada.get("/streams", json!({"include_all": true})).await.ok();
    let stream = &streams["streams"][0];
    assert_eq!(stream["name"], format!("general {}", stream["stream_id"]));
    assert_eq!(messages(&ada, json!([])).await.len(), 1);
    let realm = ada.get("/server_settings", ()).await.ok();
    assert_eq!(realm["realm_name"], "Boat club");
}

/// Editors and shells write files with a byte order mark, some of them in UTF-16.
#[tokio::test]
async fn lines_may_begin_with_a_byte_order_mark() {
    let import = Import::new("json");
    import.write("ada.png", pictures::png(20, 20));
    import.write("anchor.png", pictures::png(64, 64));
    let mut lines: Vec<String> = people().iter().map(Value::to_string).collect();
    let message = json!({"type": "message", "sender": "ada", "channel": "general", "topic": "boats", "content": "café",
        "date": 1_746_093_600});
    lines.push(message.to_string());
    let marked = format!("\u{feff}{}", lines.join("\n"));
    let utf_16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
    import.write("messages.jsonl", utf_16);
    assert_eq!(
        import.refused(&import.archive()),
        "messages.jsonl: the charset is UTF-16LE, and must be UTF-8"
    );
    import.write("messages.jsonl", marked);
    let report = import.run(&[]);
    assert_eq!(report["messages"], 1, "{report}");
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    assert_eq!(messages(&ada, json!([])).await[0]["content"], "café");
}

/// The interface refuses to make them default.
#[tokio::test]
async fn private_and_archived_channels_are_not_default() {
    let import = Import::new("json");
    import.write("ada.png", pictures::png(20, 20));
    import.write("anchor.png", pictures::png(64, 64));
    let mut lines = people();
    let channel = |name: &str, private: bool| {
        json!({"type": "channel", "name": name, "default": true, "private": private, "archived": !private,
            "subscribers": ["ada"]})
    };
    lines.extend([channel("hidden", true), channel("past", false)]);
    write(&import, &lines);
    let report = import.run(&[]);
    let why = "private and archived channels are not default here";
    assert_eq!(left_out(&report, "default channels"), [(2, why)]);
    let server = import.serve().await;
    let query = "SELECT name FROM default_stream JOIN stream USING (stream_id)";
    assert_eq!(server.column(query).await, ["general"]);
}

#[test]
fn wrong_lines_are_named() {
    let message = |other: Value| {
        let mut line = json!({"type": "message", "sender": "ada", "channel": "general", "topic": "x", "content": "y",
            "date": 1_746_093_600});
        for (name, value) in other.as_object().unwrap() {
            line[name] = value.clone();
        }
        line
    };
    let cases = [
        (json!({"type": "message"}), "missing field `sender`"),
        (json!({"type": "nonsense"}), "unknown variant `nonsense`"),
        (message(json!({"sender": "eve"})), "there is no user eve before it"),
        (message(json!({"channel": "nowhere"})), "there is no channel nowhere before it"),
        (message(json!({"date": "yesterday"})), "'yesterday' is not a time such as 2027-01-01T00:00:00Z"),
        (message(json!({"colour": "red"})), "unknown field `colour`"),
        (message(json!({"files": [{"path": "../../secret"}]})), "the path leads out of the archive"),
        (message(json!({"files": [{"path": "nowhere.txt"}]})), "the archive does not have this file"),
        (json!({"type": "user", "id": "ada", "full_name": "Ada"}), "the user ada is there twice"),
        (json!({"type": "user", "id": "x", "full_name": "X", "role": "king"}), "king is no role"),
        (
            json!({"type": "user", "id": "x", "full_name": "X", "email": "ADA@example.com"}),
            "the email ADA@example.com is there twice",
        ),
        (message(json!({"to": ["ada"]})), "a message has either a channel, or receivers in `to`"),
        (message(json!({"channel": null})), "a message has either a channel, or receivers in `to`"),
        (message(json!({"topic": "a\nb"})), "Invalid character in topic, at position 2!"),
        (json!({"type": "user", "id": "x", "full_name": " "}), "Name too short!"),
        (json!({"type": "channel", "name": "x".repeat(61)}), "Channel name too long (limit: 60 characters)."),
        (json!({"type": "emoji", "name": "", "path": "anchor.png"}), "a name of an emoji has letters"),
        (json!({"type": "emoji", "name": ":buoy:", "path": "anchor.png"}), "`-` and `+`: ':buoy:'"),
        (json!({"type": "emoji", "name": "red buoy", "path": "anchor.png"}), "`-` and `+`: 'red buoy'"),
        (json!({"type": "organization", "name": ""}), "the name of the organization has 1 to 40 characters"),
    ];
    for (line, expected) in cases {
        let import = Import::new("json");
        import.write("anchor.png", pictures::png(64, 64));
        let mut lines = people();
        lines[1].as_object_mut().unwrap().remove("avatar");
        lines.push(message(json!({})));
        lines.push(line);
        write(&import, &lines);
        let error = import.refused(&import.archive());
        assert!(error.starts_with("messages.jsonl:10: ") && error.contains(expected), "{expected}: {error}");
    }
}

/// The description of lines for programs.
const SCHEMA: &str = include_str!("../../../../docs/import-lines.schema.json");

/// The schema of a kind of line.
fn schema_of<'s>(schema: &'s Value, kind: &Value) -> &'s Value {
    let mut kinds = schema["oneOf"].as_array().unwrap().iter();
    kinds.find(|one| one["properties"]["type"]["const"] == *kind).unwrap_or_else(|| panic!("{kind}"))
}

#[test]
fn the_schema_has_the_members_that_lines_may_have() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    for kind in ["organization", "user", "channel", "emoji", "message"] {
        let import = Import::new("json");
        write(&import, &[json!({"type": kind, "nonsense": 1})]);
        let error = import.refused(&import.archive());
        let (_, expected) = error.split_once(", expected ").unwrap_or_else(|| panic!("{error}"));
        let mut known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        known.sort_unstable();
        let of_kind = schema_of(&schema, &json!(kind));
        let names = of_kind["properties"].as_object().unwrap().keys().map(String::as_str);
        let mut names: Vec<&str> = names.filter(|name| *name != "type").collect();
        names.sort_unstable();
        assert_eq!(names, known, "{kind}");
        for name in of_kind["required"].as_array().unwrap().iter().filter(|name| *name != "type") {
            assert!(known.contains(&name.as_str().unwrap()), "{kind}: {name}");
        }
    }
}

#[test]
fn the_documented_lines_are_imported() {
    let page = include_str!("../../../../docs/moving.md");
    let (_, section) = page.split_once("## Lines of JSON").unwrap();
    let block = section.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    for line in block.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let of_kind = schema_of(&schema, &line["type"]);
        assert!(
            line.as_object().unwrap().keys().all(|name| of_kind["properties"].get(name).is_some()),
            "{line}"
        );
        let mut required = of_kind["required"].as_array().unwrap().iter();
        assert!(required.all(|name| line.get(name.as_str().unwrap()).is_some()), "{line}");
    }
    let import = Import::new("json");
    import.write("ada.png", pictures::png(20, 20));
    import.write("anchor.png", pictures::png(64, 64));
    import.write("files/list.txt", "oars");
    import.write("messages.jsonl", block);
    let report = import.run(&[]);
    assert_eq!((&report["users"], &report["messages"]), (&json!(2), &json!(2)), "{report}");
}

#[test]
fn owners_and_administrators_are_named() {
    let import = Import::new("json");
    let user = |id: &str, role: &str, active: bool| {
        json!({"type": "user", "id": id, "email": format!("{id}@example.com"), "full_name": id, "role": role,
            "active": active})
    };
    write(
        &import,
        &[
            user("bob", "administrator", true),
            user("cat", "moderator", true),
            user("old", "owner", false),
            user("ada", "owner", true),
        ],
    );
    let expected = json!([{"role": "owner", "full_name": "ada", "email": "ada@example.com"},
        {"role": "administrator", "full_name": "bob", "email": "bob@example.com"}]);
    assert_eq!(import.run(&["--dry-run"])["administrators"], expected);
}

#[tokio::test]
async fn messages_are_sorted_by_time() {
    let import = Import::new("json");
    let user = |id: &str| json!({"type": "user", "id": id, "email": format!("{id}@example.com"), "full_name": id, "role": "owner"});
    let message = |to: &str, content: &str, date: i64| json!({"type": "message", "sender": "ada", "to": [to], "content": content, "date": date});
    write(
        &import,
        &[
            user("ada"),
            message("ada", "three", 1_746_093_602),
            message("ada", "one", 1_746_093_600),
            message("bob", "four", 1_746_093_602),
            user("bob"),
            message("ada", "two", 1_746_093_601),
        ],
    );
    import.run(&[]);
    let server = import.serve().await;
    let seen = messages(&client(&server, "ada@example.com").await, json!([])).await;
    let texts: Vec<&str> = seen.iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["one", "two", "three", "four"]);
}
