//! A dump of Rocket.Chat's database.

use super::{Import, client, contents, left_out, messages, with_content};
use crate::harness::pictures;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use teamchat::domain::users::passwords::hash_quickly;

/// Writes a document: texts, numbers (64 bits), booleans, lists and objects. `$date` is a time; `$binary` is binary data as text,
/// `$base64` in base64.
pub fn document(value: &Value) -> Vec<u8> {
    let mut members = Vec::new();
    let pairs: Vec<(String, &Value)> = match value {
        Value::Object(object) => object.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(list) => {
            list.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        other => panic!("{other}"),
    };
    for (name, value) in pairs {
        let (kind, bytes) = match value {
            Value::String(text) => {
                let length = u32::try_from(text.len() + 1).unwrap().to_le_bytes();
                (0x02, [&length, text.as_bytes(), &[0]].concat())
            }
            Value::Bool(value) => (0x08, vec![u8::from(*value)]),
            Value::Number(number) => (0x12, number.as_i64().unwrap().to_le_bytes().to_vec()),
            Value::Null => (0x0a, Vec::new()),
            Value::Array(_) => (0x04, document(value)),
            Value::Object(object) => match object.iter().next().map(|(name, value)| (name.as_str(), value)) {
                Some(("$date", time)) => (0x09, time.as_i64().unwrap().to_le_bytes().to_vec()),
                Some(("$binary", data)) => (0x05, binary(data.as_str().unwrap().as_bytes())),
                Some(("$base64", data)) => (0x05, binary(&STANDARD.decode(data.as_str().unwrap()).unwrap())),
                _ => (0x03, document(value)),
            },
        };
        members.push(kind);
        members.extend(name.as_bytes());
        members.push(0);
        members.extend(bytes);
    }
    let length = u32::try_from(members.len() + 5).unwrap().to_le_bytes();
    [&length[..], &members, &[0]].concat()
}

fn binary(data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap().to_le_bytes();
    [&length[..], &[0], data].concat()
}

/// Adds documents to a collection.
fn append(import: &Import, collection: &str, rows: &[Value]) {
    let mut bytes = std::fs::read(import.archive().join(format!("{collection}.bson"))).unwrap_or_default();
    bytes.extend(rows.iter().flat_map(document));
    import.write(&format!("{collection}.bson"), bytes);
}

fn write(import: &Import, collection: &str, rows: &[Value]) {
    let bytes: Vec<u8> = rows.iter().flat_map(document).collect();
    import.write(&format!("{collection}.bson"), bytes);
}

pub fn dump() -> Import {
    let import = Import::new("rocketchat");
    let user = |id: &str, name: &str, kind: &str, roles: &[&str]| {
        json!({"_id": id, "username": name, "name": name.to_uppercase(), "type": kind, "roles": roles,
            "emails": [{"address": format!("{name}@example.com")}], "createdAt": {"$date": 1_700_000_000_000_i64},
            "active": true})
    };
    write(
        &import,
        "users",
        &[
            user("u1", "ada", "user", &["user", "admin"]),
            user("u2", "bob", "user", &["user"]),
            user("u3", "rocket.cat", "bot", &["bot"]),
        ],
    );
    write(
        &import,
        "rocketchat_room",
        &[
            json!({"_id": "r1", "t": "c", "name": "general", "ts": {"$date": 1_700_000_000_000_i64}, "description": "All"}),
            json!({"_id": "r2", "t": "p", "name": "plans", "fname": "a plan", "prid": "r1"}),
            json!({"_id": "r3", "t": "d", "uids": ["u1", "u2"]}),
            json!({"_id": "r4", "t": "l"}),
        ],
    );
    write(
        &import,
        "rocketchat_subscription",
        &[
            json!({"_id": "s1", "rid": "r1", "u": {"_id": "u1"}}),
            json!({"_id": "s2", "rid": "r1", "u": {"_id": "u2"}}),
        ],
    );
    let message = |id: &str, room: &str, user: &str, text: &str, time: i64, other: Value| {
        let mut row = json!({"_id": id, "rid": room, "u": {"_id": user}, "msg": text, "ts": {"$date": time}});
        for (name, value) in other.as_object().unwrap() {
            row[name] = value.clone();
        }
        row
    };
    write(
        &import,
        "rocketchat_message",
        &[
            message("m4", "r1", "u1", "last", 1_700_000_400_000, json!({"file": {"_id": "f1"}})),
            message(
                "m1",
                "r1",
                "u1",
                "hello @bob",
                1_700_000_100_500,
                json!({"reactions": {":tada:": {"usernames": ["bob"]}}}),
            ),
            message("m0", "r1", "u1", "bob", 1_700_000_050_000, json!({"t": "au"})),
            message("m2", "r1", "u2", "an answer", 1_700_000_200_000, json!({"tmid": "m1"})),
            message("m3", "r2", "u2", "planned", 1_700_000_300_000, json!({})),
            message(
                "m5",
                "r3",
                "u2",
                "psst",
                1_700_000_500_000,
                json!({"editedAt": {"$date": 1_700_000_600_000_i64}}),
            ),
            message("m6", "r4", "u2", "live", 1_700_000_700_000, json!({})),
        ],
    );
    write(&import, "rocketchat_uploads", &[json!({"_id": "f1", "name": "list.txt", "type": "text/plain"})]);
    write(
        &import,
        "rocketchat_uploads.chunks",
        &[
            json!({"_id": "c2", "files_id": "f1", "n": 1, "data": {"$binary": "rs"}}),
            json!({"_id": "c1", "files_id": "f1", "n": 0, "data": {"$binary": "oa"}}),
        ],
    );
    import
}

#[tokio::test]
async fn rooms_become_channels_with_threads_and_discussions_as_topics() {
    let import = dump();
    let report = import.run(&[]);
    assert_eq!(
        (&report["users"], &report["channels"], &report["messages"], &report["attachments"]),
        (&json!(3), &json!(1), &json!(5), &json!(1)),
        "{report}"
    );
    assert_eq!(import.left(), ["chat.sqlite"]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    let texts = with_content(&seen, "subject");
    let thread = "Thread 1 (Imported from Rocket.Chat)";
    assert_eq!(
        texts[..3],
        [
            (thread, "hello @**BOB**"),
            (thread, "an answer"),
            ("a plan (Imported from Rocket.Chat)", "planned")
        ]
    );
    assert_eq!(texts[4], ("", "psst"));
    assert_eq!(seen[0]["reactions"][0]["emoji_name"], "tada");
    assert_eq!(seen[4]["last_edit_timestamp"], 1_700_000_600);
    let link = texts[3].1;
    let path = &link[link.find("(/").unwrap() + 1..link.len() - 1];
    let file = ada.request_outside(hyper::Method::GET, path).send().await;
    assert_eq!((file.status, file.bytes.as_slice()), (200, &b"oars"[..]));
}

#[tokio::test]
async fn teams_groups_and_long_names_are_kept() {
    let import = dump();
    let guest = json!({"_id": "u4", "username": "cat", "name": "CAT", "type": "user", "roles": ["guest"],
        "emails": [{"address": "cat@example.com"}], "active": true});
    append(&import, "users", &[guest]);
    let long = "n".repeat(70);
    let rooms = [
        json!({"_id": "r5", "t": "p", "name": "crew", "teamId": "t1", "teamMain": true}),
        json!({"_id": "r6", "t": "c", "name": "tools", "teamId": "t1", "description": "Saws"}),
        json!({"_id": "r7", "t": "d", "uids": ["u1", "u2", "u4"]}),
        json!({"_id": "r8", "t": "p", "name": "aside", "prid": "r3"}),
        json!({"_id": "r9", "t": "c", "name": long}),
        json!({"_id": "r10", "t": "c", "name": long}),
    ];
    append(&import, "rocketchat_room", &rooms);
    let subscribed =
        ["r5", "r6", "r9", "r10"].map(|room| json!({"_id": room, "rid": room, "u": {"_id": "u1"}}));
    append(&import, "rocketchat_subscription", &subscribed);
    let sent = |id: &str, room: &str, text: &str, time: i64| json!({"_id": id, "rid": room, "u": {"_id": "u2"}, "msg": text, "ts": {"$date": time}});
    let messages_of_rooms = [
        sent("m7", "r7", "three of us", 1_700_000_800_000),
        sent("m8", "r8", "between us", 1_700_000_900_000),
    ];
    append(&import, "rocketchat_message", &messages_of_rooms);
    import.run(&[]);
    let server = import.serve().await;
    let channels = server.column("SELECT name || ': ' || description FROM stream ORDER BY stream_id").await;
    let expected = [
        "general: All".to_owned(),
        "[TEAM] crew: ".to_owned(),
        "tools: [Team crew channel]. Saws".to_owned(),
        format!("{}: ", "n".repeat(60)),
        format!("{} 2: ", "n".repeat(58)),
    ];
    assert_eq!(channels, expected);
    assert_eq!(server.column("SELECT role FROM user WHERE full_name = 'CAT'").await, ["600"]);
    let (ada, bob) = (client(&server, "ada@example.com").await, client(&server, "bob@example.com").await);
    let cat = client(&server, "cat@example.com").await;
    let group = messages(&cat, json!([])).await;
    assert_eq!((group.len(), &group[0]["content"]), (1, &json!("three of us")));
    assert_eq!(group[0]["display_recipient"].as_array().unwrap().len(), 3);
    // A discussion of two people is a part of their conversation.
    let direct = messages(&ada, json!([{"operator": "dm", "operand": [bob.user_id]}])).await;
    let texts = with_content(&direct, "subject");
    assert_eq!(texts, [("", "psst"), ("", "between us")]);
}

#[tokio::test]
async fn custom_emoji_have_all_their_names() {
    let import = dump();
    let emoji = |name: &str, aliases: &[&str]| json!({"_id": name, "name": name, "extension": "png", "aliases": aliases});
    append(&import, "rocketchat_custom_emoji", &[emoji("oar_lock", &["rowlock"]), emoji("lost", &[])]);
    let image = json!({"_id": "c3", "files_id": "oar_lock.png", "n": 0,
        "data": {"$base64": STANDARD.encode(pictures::png(40, 40))}});
    append(&import, "custom_emoji.chunks", &[image]);
    let liked = json!({"_id": "m7", "rid": "r1", "u": {"_id": "u1"}, "msg": "liked", "ts": {"$date": 1_700_000_800_000_i64},
        "reactions": {":rowlock:": {"usernames": ["bob"]}}});
    append(&import, "rocketchat_message", &[liked]);
    let report = import.run(&[]);
    assert_eq!(report["others"]["emoji"], 2, "{report}");
    let left_out = json!({"what": "emoji", "count": 1, "why": "their files are not in the dump"});
    assert!(report["left_out"].as_array().unwrap().contains(&left_out), "{report}");
    let server = import.serve().await;
    assert_eq!(server.column("SELECT name FROM realm_emoji ORDER BY name").await, ["oar_lock", "rowlock"]);
    let query = "SELECT emoji_name || ' ' || reaction_type FROM reaction WHERE emoji_name <> 'tada'";
    assert_eq!(server.column(query).await, ["rowlock realm_emoji"]);
}

/// Earlier releases keep the rooms of people with them.
#[tokio::test]
async fn people_are_subscribed_to_their_rooms_without_subscriptions() {
    let import = dump();
    std::fs::remove_file(import.archive().join("rocketchat_subscription.bson")).unwrap();
    let user = |id: &str, name: &str, rooms: &[&str]| json!({"_id": id, "username": name, "type": "user", "roles": ["admin"], "active": true, "__rooms": rooms});
    write(&import, "users", &[user("u1", "ada", &["r1", "r4"]), user("u2", "bob", &[])]);
    import.run(&[]);
    let server = import.serve().await;
    let query = "SELECT full_name FROM subscription JOIN user USING (user_id)";
    assert_eq!(server.column(query).await, ["ada"]);
}

#[tokio::test]
async fn messages_of_people_who_are_not_in_the_dump_are_kept() {
    let import = dump();
    let sent = json!({"_id": "m7", "rid": "r1", "u": {"_id": "u9", "username": "eve", "name": "Eve"},
        "msg": "good bye", "ts": {"$date": 1_700_000_450_000_i64}});
    let nameless = json!({"_id": "m8", "rid": "r1", "u": {"_id": "u8"}, "msg": "hm",
        "ts": {"$date": 1_700_000_460_000_i64}});
    write(&import, "rocketchat_message", &[sent, nameless]);
    let report = import.run(&[]);
    assert_eq!((&report["users"], &report["messages"]), (&json!(5), &json!(2)), "{report}");
    let why = "these people are in messages, but not in the dump; they are deactivated";
    let left_out = json!({"what": "accounts", "count": 2, "why": why});
    assert!(report["left_out"].as_array().unwrap().contains(&left_out), "{report}");
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    let senders: Vec<&str> = seen.iter().map(|one| one["sender_full_name"].as_str().unwrap()).collect();
    assert_eq!(senders, ["Eve", "u8"]);
}

/// A conversation with someone who is gone is no note to oneself.
#[tokio::test]
async fn direct_conversations_with_people_who_are_not_in_the_dump_are_kept() {
    let import = dump();
    let rooms = [
        json!({"_id": "r5", "t": "d", "uids": ["u1", "u9"], "usernames": ["eve", "ada"]}),
        json!({"_id": "r6", "t": "d", "uids": ["u1", "u7", "u8"], "usernames": ["ada", "fay", "guy"]}),
        json!({"_id": "r7", "t": "d", "uids": ["u1", "u6"], "usernames": ["ada", "hal"]}),
    ];
    append(&import, "rocketchat_room", &rooms);
    let sent = |id: &str, room: &str, time: i64| json!({"_id": id, "rid": room, "u": {"_id": "u1"}, "msg": id, "ts": {"$date": time}});
    let rows = [sent("m1", "r5", 1_700_000_100_000), sent("m2", "r6", 1_700_000_200_000)];
    write(&import, "rocketchat_message", &rows);
    let report = import.run(&[]);
    // The conversation with the last one has no messages.
    assert_eq!(report["users"], 6, "{report}");
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    let names = |message: &Value| -> Vec<String> {
        let people = message["display_recipient"].as_array().unwrap().iter();
        let mut names: Vec<String> =
            people.map(|one| one["full_name"].as_str().unwrap().to_owned()).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names(&seen[0]), ["ADA", "eve"]);
    assert_eq!(names(&seen[1]), ["ADA", "u7", "u8"]);
}

/// The server makes a small image of an image, which is a file of the message, too.
#[test]
fn small_images_are_no_files() {
    let import = dump();
    let files = json!([{"_id": "f1", "name": "a.png", "typeGroup": "image"},
        {"_id": "f2", "name": "thumb-a.png", "typeGroup": "thumb"}]);
    let sent = json!({"_id": "m7", "rid": "r1", "u": {"_id": "u1"}, "msg": "", "ts": {"$date": 1_700_000_800_000_i64},
        "files": files, "attachments": [{"type": "file", "title": "a.png"}]});
    write(&import, "rocketchat_message", &[sent]);
    append(
        &import,
        "rocketchat_uploads.chunks",
        &[json!({"_id": "c3", "files_id": "f2", "n": 0, "data": {"$binary": "x"}})],
    );
    let report = import.run(&[]);
    assert_eq!((&report["messages"], &report["attachments"]), (&json!(1), &json!(1)), "{report}");
}

#[tokio::test]
async fn attachments_are_added_to_the_text_of_a_message() {
    let import = dump();
    let sent = |id: &str, text: &str, attachment: Value, time: i64| json!({"_id": id, "rid": "r1", "u": {"_id": "u1"}, "msg": text, "ts": {"$date": time}, "attachments": [attachment]});
    let build = json!({"title": "Build 7", "title_link": "https://ci.example/7", "text": "passed", "pretext": "Done:",
        "fields": [{"title": "Branch", "value": "main", "short": true}], "image_url": "https://ci.example/7.png"});
    let file =
        json!({"title": "oars.txt", "title_link": "/file-upload/f9/oars.txt", "description": "for you"});
    let quote = json!({"message_link": "https://chat.example/x", "author_name": "bob", "title": "x", "text": "quoted"});
    let rows = [
        sent("m1", "", build, 1_700_000_100_000),
        sent("m2", "look", file, 1_700_000_200_000),
        sent("m3", "yes", quote, 1_700_000_300_000),
        sent("m4", "the same", json!({"text": "same"}), 1_700_000_400_000),
    ];
    write(&import, "rocketchat_message", &rows);
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    let build = "Done:\n[Build 7](https://ci.example/7)\npassed\n**Branch**: main\nhttps://ci.example/7.png";
    assert_eq!(contents(&seen), [build, "look\nfor you", "yes\nquoted", "the same"]);
}

#[tokio::test]
async fn people_keep_their_passwords() {
    let import = dump();
    // Browsers send a digest, which the server hashes.
    let digest = teamchat::types::hex(&Sha256::digest("correct horse"));
    let hash = bcrypt::hash_with_salt(&digest, 4, [7; 16]).unwrap().to_string();
    let argon2 = hash_quickly(&digest).unwrap();
    let user = |id: &str, name: &str, roles: &[&str], password: Value| {
        json!({"_id": id, "username": name, "name": name, "type": "user", "roles": roles, "active": true,
            "emails": [{"address": format!("{name}@example.com")}], "services": {"password": password}})
    };
    write(
        &import,
        "users",
        &[
            user("u1", "ada", &["admin"], json!({"bcrypt": hash})),
            user("u2", "bob", &["user"], json!({"argon2": argon2})),
            user("u3", "cat", &["user"], json!({"bcrypt": hash.replace("$04$", "$20$")})),
            user("u4", "dan", &["user"], json!({})),
            user(
                "u5",
                "eve",
                &["user"],
                json!({"argon2": "$argon2id$v=19$m=9999999,t=2,p=1$c2FsdHNhbHQ$aGFzaA"}),
            ),
            user("u6", "fay", &["user"], json!({"scrypt": "x"})),
        ],
    );
    let report = import.run(&["--password-links"]);
    let links = report["password_links"].as_array().unwrap().iter();
    let emails: Vec<&str> = links.map(|link| link["email"].as_str().unwrap()).collect();
    assert_eq!(emails, ["cat@example.com", "dan@example.com", "eve@example.com", "fay@example.com"]);
    let left_out = report["left_out"].as_array().unwrap().iter().find(|left| left["what"] == "passwords");
    let expected =
        "their hashes use an unknown or too slow method; --password-links prints links to set new passwords";
    assert_eq!(left_out, Some(&json!({"what": "passwords", "count": 3, "why": expected})));
    let server = import.serve().await;
    for email in ["ada@example.com", "bob@example.com"] {
        for (password, status) in [("correct cow", 401), ("correct horse", 200), ("correct horse", 200)] {
            let form = json!({"username": email, "password": password});
            assert_eq!(
                server.anonymous().post("/fetch_api_key", form).await.status,
                status,
                "{email}: {password}"
            );
        }
    }
    // Hashed as all others at the first login.
    let query =
        "SELECT password_hash FROM user WHERE delivery_email IN ('ada@example.com', 'bob@example.com')";
    let stored = server.column(query).await;
    assert!(stored.iter().all(|hash| hash.starts_with("$argon2id$v=19$m=19456")), "{stored:?}");
}

/// Bots have the first owner, who comes after them here.
#[tokio::test]
async fn bots_before_their_owner_have_one() {
    let import = dump();
    let user = |id: &str, kind: &str, roles: &[&str]| json!({"_id": id, "username": id, "type": kind, "roles": roles});
    write(
        &import,
        "users",
        &[
            user("u3", "bot", &["bot"]),
            user("u2", "user", &["user"]),
            user("u1", "user", &["admin"]),
            user("u4", "user", &["admin"]),
        ],
    );
    import.run(&[]);
    let server = import.serve().await;
    let owner = "SELECT owner.full_name FROM user JOIN user AS owner ON owner.user_id = user.bot_owner_id
        WHERE user.full_name = 'u3'";
    assert_eq!(server.column(owner).await, ["u1"]);
}

/// Documents of people can be as large as the database of Rocket.Chat allows.
#[cfg(target_os = "linux")]
#[test]
fn documents_of_people_are_not_kept_in_memory() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    const SIZE: usize = 8 << 20;
    const COUNT: usize = 24;
    let import = dump();
    let path = import.archive().join("users.bson");
    let mut users = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    let settings = "x".repeat(SIZE);
    for number in 0..COUNT {
        let name = format!("person{number}");
        let person = json!({"_id": name, "username": name, "type": "user", "settings": settings});
        users.write_all(&document(&person)).unwrap();
    }
    drop(users);
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamchat"));
    command.args(["import", "rocketchat"]).arg(import.archive()).arg("--db").arg(import.database());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    let done = loop {
        if let Some(done) = child.try_wait().unwrap() {
            break done;
        }
        // A process that is ending has no such line.
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let used = status.lines().find_map(|line| line.strip_prefix("RssAnon:")?.trim().strip_suffix(" kB"));
        most = most.max(used.map_or(0, |used| used.parse::<usize>().unwrap()));
        std::thread::yield_now();
    };
    assert!(done.success());
    assert!((1..COUNT * SIZE * 2 / 3 / 1024).contains(&most), "{most} KiB");
}

#[test]
fn encrypted_messages_are_counted() {
    let import = dump();
    let sent = json!({"_id": "m1", "rid": "r1", "u": {"_id": "u1"}, "msg": "c2VjcmV0", "t": "e2e",
        "ts": {"$date": 1_700_000_100_000_i64}});
    write(&import, "rocketchat_message", &[sent]);
    let report = import.run(&[]);
    assert_eq!(report["messages"], 0);
    let why = "they are encrypted, and the dump does not have the keys";
    assert_eq!(
        report["left_out"],
        json!([{"what": "rooms", "count": 1, "why": "this server does not support live chats"},
        {"what": "messages", "count": 1, "why": why}])
    );
}

#[test]
fn cut_dumps_are_refused() {
    let import = dump();
    let path = import.archive().join("rocketchat_message.bson");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
    assert_eq!(import.refused(&import.archive()), "rocketchat_message.bson:7: a document is cut");
    std::fs::write(&path, [0xff; 20]).unwrap();
    assert_eq!(
        import.refused(&import.archive()),
        "rocketchat_message.bson:1: 4294967295 is no length of a document"
    );
}

/// Reactions name people by their login names.
#[test]
fn reactions_of_people_who_are_not_in_the_dump_are_counted() {
    let import = dump();
    let sent = json!({"_id": "m7", "rid": "r1", "u": {"_id": "u2"}, "msg": "again",
        "ts": {"$date": 1_700_000_800_000_i64}, "reactions": {":tada:": {"usernames": ["bob", "gone"]}}});
    append(&import, "rocketchat_message", &[sent]);
    let report = import.run(&["--dry-run"]);
    assert_eq!(left_out(&report, "reactions"), [(1, "their users are not in the dump")]);
}
