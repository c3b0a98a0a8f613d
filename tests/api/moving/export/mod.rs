//! Exports: archives of organizations, checked against the description of the format.
//!
//! - [`archive`]: reading an archive; [`schema`] and `columns.txt`: its tables; [`checker`]: everything else;
//! - [`modes`]: data of people who consent, and public data; [`readable`]: exports that people read.

pub mod archive;
pub mod checker;
mod modes;
mod readable;
mod schema;

use super::import::Import;
use crate::harness::pictures::png;
use crate::harness::{Client, START, TestServer};
use crate::upgrades::populate::populate;
use crate::uploads::upload;
use archive::Archive;
use checker::{assert_sound, broken};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use teamchat::store::ScratchFolder;

/// Runs `teamchat export zulip`.
pub fn run(db: &Path, out: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamchat"));
    command.args(["export", "zulip"]).arg(out).arg("--db").arg(db).arg("--json").args(arguments);
    command.output().unwrap()
}

/// Exports the organization of a server, which runs on, and checks the archive. Returns the report with it.
pub fn export(server: &TestServer, arguments: &[&str]) -> (Value, Archive) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("house.tar.gz");
    let done = run(&server.database(), &out, arguments);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let bytes = std::fs::read(&out).unwrap();
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(report["size"], bytes.len());
    let archive = Archive::read(&bytes);
    assert_eq!(archive.folder, "house");
    assert_sound(&archive);
    (report, archive)
}

/// The names of flags, by their bits.
const FLAGS: [(i64, &str); 9] = [
    (1, "read"),
    (2, "starred"),
    (4, "collapsed"),
    (8, "mentioned"),
    (16, "stream_wildcard_mentioned"),
    (32, "topic_wildcard_mentioned"),
    (48, "wildcard_mentioned"),
    (512, "has_alert_word"),
    (1024, "historical"),
];

/// Compares what users see of messages with their rows in the archive.
pub async fn assert_same_messages(archive: &Archive, clients: &[Client]) {
    let rows: BTreeMap<(i64, i64), i64> = archive
        .table("zerver_usermessage")
        .iter()
        .map(|row| {
            let id = |column: &str| row[column].as_i64().unwrap();
            ((id("user_profile"), id("message")), id("flags_mask"))
        })
        .collect();
    let mut seen = 0;
    for client in clients {
        for narrow in ["[]", r#"[{"operator": "channels", "operand": "public"}]"#] {
            let page = json!({
                "anchor": "oldest", "num_before": 0, "num_after": 5000, "narrow": narrow, "apply_markdown": false,
                "allow_empty_topic_name": true,
            });
            for message in client.get("/messages", page).await.ok()["messages"].as_array().unwrap() {
                let id = message["id"].as_i64().unwrap();
                let row = archive.row("zerver_message", id);
                assert_eq!(row["content"], message["content"]);
                assert_eq!(row["subject"], message["subject"], "{message}");
                assert_eq!(row["sender"], message["sender_id"]);
                assert_eq!(row["date_sent"].as_f64(), message["timestamp"].as_f64());
                let flags = match rows.get(&(client.user_id, id)) {
                    Some(mask) => {
                        let set = FLAGS.iter().filter(|(bits, _)| mask & bits != 0);
                        set.map(|(_, name)| *name).collect()
                    }
                    None => vec!["read", "historical"],
                };
                assert_eq!(message["flags"], json!(flags), "{} sees {message}", client.user_id);
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

#[tokio::test]
async fn archives_have_no_secrets() {
    let (server, clients, _) = populate().await;
    let mut secrets: Vec<String> = clients.iter().filter_map(|client| client.api_key.clone()).collect();
    for query in [
        "SELECT api_key FROM bot WHERE api_key IS NOT NULL",
        "SELECT token FROM bot WHERE token IS NOT NULL",
        "SELECT password_hash FROM user WHERE password_hash IS NOT NULL",
        "SELECT endpoint FROM push_subscription WHERE endpoint IS NOT NULL",
        "SELECT token FROM push_device",
        "SELECT token FROM channel_email",
        "SELECT uuid FROM realm",
    ] {
        secrets.extend(server.column(query).await);
    }
    let folder = tempfile::tempdir().unwrap();
    let modes: [(&str, &[&str]); 3] =
        [("full", &[]), ("consent", &["--with-consent"]), ("public", &["--public-only"])];
    for (name, mode) in modes {
        let out = folder.path().join(format!("{name}.tar.gz"));
        let done = run(&server.database(), &out, mode);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        for (path, content) in &Archive::read(&std::fs::read(&out).unwrap()).files {
            let text = String::from_utf8_lossy(content);
            let found = secrets.iter().find(|secret| text.contains(secret.as_str()));
            assert_eq!(found, None, "{name}: {path}");
        }
    }
}

/// Paths in archives are short: the name of their folder is a part of the file's.
#[tokio::test]
async fn archives_may_have_long_names() {
    let (server, _, _) = populate().await;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join(format!("{}.tar.gz", "ä".repeat(100)));
    let done = run(&server.database(), &out, &[]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let archive = Archive::read(&std::fs::read(&out).unwrap());
    assert_eq!(archive.folder, "ä".repeat(32));
}

#[tokio::test]
async fn an_organization_with_everything_is_exported() {
    let (server, clients, _) = populate().await;
    let (report, archive) = export(&server, &[]);
    let count = |table: &str| archive.table(table).len();
    assert_eq!(report["users"], count("zerver_userprofile"));
    assert_eq!(report["channels"], count("zerver_stream"));
    assert_eq!(report["messages"], count("zerver_message"));
    assert_eq!(report["attachments"], count("zerver_attachment"));
    for table in archive.tables.keys() {
        let is_empty =
            ["zerver_useractivity", "zerver_useractivityinterval", "zerver_userprofile_mirrordummy"];
        assert_eq!(count(table) == 0, is_empty.contains(&table.as_str()), "{table}");
    }
    let left_out: Vec<&str> =
        report["left_out"].as_array().unwrap().iter().map(|item| item["what"].as_str().unwrap()).collect();
    for what in ["channel folders", "drafts", "reminders", "passwords and API keys"] {
        assert!(left_out.contains(&what), "{left_out:?}");
    }
    assert!(!left_out.contains(&"messages"), "{left_out:?}");
    assert_same_messages(&archive, &clients).await;

    // All rows of the file's tables, but for those of the server's own bots.
    for (table, query) in [
        ("zerver_message", "SELECT count(*) FROM message"),
        ("zerver_reaction", "SELECT count(*) FROM reaction"),
        ("zerver_alertword", "SELECT count(*) FROM alert_word"),
        ("zerver_savedsnippet", "SELECT count(*) FROM saved_snippet"),
        ("zerver_usertopic", "SELECT count(*) FROM user_topic"),
        ("zerver_muteduser", "SELECT count(*) FROM muted_user"),
        ("zerver_scheduledmessage", "SELECT count(*) FROM scheduled_message WHERE NOT sent"),
        ("zerver_customprofilefieldvalue", "SELECT count(*) FROM profile_value"),
        ("zerver_realmfilter", "SELECT count(*) FROM linkifier"),
        ("zerver_botstoragedata", "SELECT count(*) FROM bot_storage"),
        ("zerver_attachment", "SELECT count(DISTINCT attachment_id) FROM
             (SELECT attachment_id FROM attachment_message UNION SELECT attachment_id FROM attachment_scheduled_message)"),
    ] {
        assert_eq!(server.column(query).await, [count(table).to_string()], "{table}");
    }

    // The bytes of files.
    let owner = &clients[0];
    for record in archive.json("uploads/records.json").as_array().unwrap() {
        let path = record["path"].as_str().unwrap();
        let sizes = server.column(&format!("SELECT size FROM attachment WHERE path_id = '{path}'")).await;
        assert_eq!(sizes, [archive.files[&format!("uploads/{path}")].len().to_string()]);
    }
    let state = owner.post("/register", json!({"fetch_event_types": r#"["realm"]"#})).await.ok();
    let realm = &archive.table("zerver_realm")[0];
    assert_eq!(realm["name"], state["realm_name"]);
    assert_eq!(realm["description"], state["realm_description"]);
    assert_eq!(realm["waiting_period_threshold"], state["realm_waiting_period_threshold"]);
}

/// A user who is not subscribed to the channel that a message moved to did not receive it there.
#[tokio::test]
async fn flags_without_a_receipt_are_exported() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let harbour = server.channel("harbour", &[&owner, &ada]).await;
    let attic = server.channel("attic", &[&owner]).await;
    let id = owner.send(harbour, "boats", "hello").await;
    ada.post("/messages/flags", json!({"messages": [id], "op": "add", "flag": "starred"})).await.ok();
    owner.patch(&format!("/messages/{id}"), json!({"stream_id": attic})).await.ok();
    assert_eq!(ada.message(id).await["flags"], json!(["read", "starred", "historical"]));
    let (_, archive) = export(&server, &[]);
    let rows = archive.table("zerver_usermessage").iter();
    let of_ada = rows.filter(|row| row["message"] == id && row["user_profile"] == ada.user_id);
    let masks: Vec<&Value> = of_ada.map(|row| &row["flags_mask"]).collect();
    assert_eq!(masks, [&json!(1 | 2 | 1024)], "read, starred, historical");
}

#[tokio::test]
async fn what_the_release_does_not_know_is_counted() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let stream_id = server.channel("harbour", &[&owner]).await;
    owner.send(stream_id, "boats", "hello").await;
    let count = |report: &Value| {
        let rows = report["left_out"].as_array().unwrap().iter();
        let rows = rows.filter(|row| row["why"] == "the published release does not know them");
        rows.map(|row| (row["what"].as_str().unwrap().to_owned(), row["count"].as_i64().unwrap()))
            .collect::<Vec<_>>()
    };
    assert!(count(&export(&server, &[]).0).is_empty());
    let groups = owner.get("/user_groups", ()).await.ok();
    let mut groups = groups["user_groups"].as_array().unwrap().iter();
    let moderators = &groups.find(|group| group["name"] == "role:moderators").unwrap()["id"];
    let of_channel = json!({"topics_policy": "disable_empty_topic", "can_delete_any_message_group": {"new": moderators},
        "can_send_message_group": {"new": moderators}});
    owner.patch(&format!("/streams/{stream_id}"), of_channel).await.ok();
    owner.patch("/realm", json!({"welcome_message_custom_text": "Welcome *aboard*"})).await.ok();
    let own = json!({"resolved_topic_notice_auto_read_policy": "always", "web_channel_default_view": 3, "enter_sends": true});
    owner.patch("/settings", own).await.ok();
    let expected = [("permissions", 1), ("policies of topics for channels", 1), ("settings", 3)];
    assert_eq!(count(&export(&server, &[]).0), expected.map(|(what, number)| (what.to_owned(), number)));
}

/// The importer would end in the middle.
#[tokio::test]
async fn domains_that_the_release_has_no_room_for_are_left_out() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    for length in [72, 73] {
        let domain = format!("{}.example", "a".repeat(length));
        owner.post("/realm/domains", json!({"domain": domain, "allow_subdomains": false})).await.ok();
    }
    // Archives have messages.
    owner.send_direct(&[&owner], "hello").await;
    let (report, archive) = export(&server, &[]);
    let rows = archive.table("zerver_realmdomain");
    assert_eq!((rows.len(), rows[0]["domain"].as_str().unwrap().len()), (1, 80));
    let left_out = report["left_out"].as_array().unwrap().iter().find(|item| item["what"] == "domains");
    assert_eq!(left_out.unwrap()["count"], 1);
}

/// A change of a table.
type Change = Box<dyn FnOnce(&mut Vec<Value>)>;

/// The checker finds what the importer would refuse: one change at a time.
#[tokio::test]
async fn the_checker_finds_what_is_wrong() {
    let (server, _, _) = populate().await;
    let (_, mut archive) = export(&server, &[]);
    let set = |column: &'static str, value: Value| {
        move |rows: &mut Vec<Value>| {
            rows[0][column] = value;
        }
    };
    let remove = |column: &'static str| {
        move |rows: &mut Vec<Value>| {
            rows[0].as_object_mut().unwrap().remove(column);
        }
    };
    let cases: Vec<(&str, Change)> = vec![
        ("zerver_stream", Box::new(set("surprise", json!(1)))),
        ("zerver_stream", Box::new(remove("date_created"))),
        ("zerver_stream", Box::new(set("date_created", json!(1)))),
        ("zerver_stream", Box::new(set("name", json!("x".repeat(61))))),
        ("zerver_stream", Box::new(set("name", Value::Null))),
        ("zerver_stream", Box::new(set("creator", json!(987_654)))),
        ("zerver_message", Box::new(|rows| rows.swap(0, 1))),
        ("zerver_message", Box::new(set("sender", json!(987_654)))),
        ("zerver_message", Box::new(set("recipient", json!(987_654)))),
        ("zerver_usermessage", Box::new(set("flags_mask", json!(8192)))),
        ("zerver_usermessage", Box::new(set("message", json!(987_654)))),
        ("zerver_userprofile", Box::new(set("email", json!("no address")))),
        ("zerver_userprofile", Box::new(set("delivery_email", json!("a..b@example.com")))),
        ("zerver_userprofile", Box::new(set("delivery_email", json!("ada@-example.com")))),
        ("zerver_userprofile", Box::new(set("delivery_email", json!("ada@example.c")))),
        ("zerver_userprofile", Box::new(set("password", json!("x")))),
        ("zerver_recipient", Box::new(|rows| drop(rows.pop()))),
        ("zerver_subscription", Box::new(|rows| drop(rows.remove(0)))),
        ("zerver_huddle", Box::new(set("huddle_hash", json!("x")))),
        ("zerver_namedusergroup", Box::new(set("can_join_group", json!(5)))),
        ("zerver_usergroupmembership", Box::new(|rows| drop(rows.remove(0)))),
        ("zerver_groupgroupmembership", Box::new(|rows| drop(rows.remove(0)))),
        ("zerver_realmauditlog", Box::new(|rows| drop(rows.pop()))),
        ("zerver_attachment", Box::new(set("path_id", json!("1/x/y")))),
        ("zerver_realmemoji", Box::new(set("name", json!("other_name")))),
        (
            "zerver_realmemoji",
            Box::new(|rows| {
                let mut twin = rows.last().unwrap().clone();
                twin["id"] = json!(twin["id"].as_i64().unwrap() + 1);
                for row in [rows.last_mut().unwrap(), &mut twin] {
                    row["deactivated"] = json!(false);
                }
                rows.push(twin);
            }),
        ),
        ("zerver_client", Box::new(|rows| drop(rows.remove(0)))),
        ("zerver_presencesequence", Box::new(set("last_update_id", json!(0)))),
    ];
    for (index, (table, change)) in cases.into_iter().enumerate() {
        assert!(!broken(table, &mut archive, change).is_empty(), "change {index} of {table}");
    }
    assert_sound(&archive);
}

#[tokio::test]
async fn commands_that_cannot_work_are_refused() {
    let server = TestServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("house.tar.gz");
    let db = server.database();
    let fails = |db: &Path, out: &Path, arguments: &[&str], code: i32, text: &str| {
        let done = run(db, out, arguments);
        let error = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(code), "{error}");
        assert!(error.contains(text), "{error}");
    };
    fails(&folder.path().join("missing.sqlite"), &out, &[], 1, "missing.sqlite");
    fails(&db, &folder.path().join("no/folder.tar.gz"), &[], 1, "folder.tar.gz.part");
    fails(&db, &out, &["--public-only", "--with-consent"], 2, "cannot be used with");
    for other in ["house.zip", "house", "house.tar"] {
        let text = format!("the archive is a .tar.gz file, and {}", folder.path().join(other).display());
        fails(&db, &folder.path().join(other), &[], 2, &text);
    }
    assert!(run(&db, &out, &[]).status.success());
    let before = std::fs::read(&out).unwrap();
    fails(&db, &out, &[], 1, "exists");
    assert_eq!(std::fs::read(&out).unwrap(), before);
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["house.tar.gz"]);
    // An organization without messages.
    let archive = Archive::read(&before);
    assert!(archive.table("zerver_message").is_empty());
}

/// Two exports to one path would write to the same file.
#[tokio::test]
async fn one_export_at_a_time_writes_to_a_path() {
    let server = TestServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let (out, part) = (folder.path().join("house.tar.gz"), folder.path().join("house.tar.gz.part"));
    let other = ScratchFolder::take(part.clone()).unwrap();
    std::fs::write(part.join("archive"), "half").unwrap();
    let refused = run(&server.database(), &out, &[]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{error}");
    assert!(error.contains("another process writes it"), "{error}");
    assert_eq!(std::fs::read(part.join("archive")).unwrap(), b"half");
    drop(other);
    // What one left that was killed.
    std::fs::create_dir(&part).unwrap();
    for name in [".unfinished", "archive"] {
        std::fs::write(part.join(name), "half").unwrap();
    }
    assert!(run(&server.database(), &out, &[]).status.success());
    Archive::read(&std::fs::read(&out).unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn exports_need_no_server() {
    let mut server = TestServer::start().await;
    let owner = server.owner().await;
    let stream_id = server.channel("harbour", &[&owner]).await;
    let sent = owner.send(stream_id, "boats", "hello").await;
    server.stop().await;
    let (_, archive) = export(&server, &[]);
    assert_eq!(archive.row("zerver_message", sent)["content"], "hello");
}

/// The files of mails are of a bot of the server. A group with such a bot has no place in the format.
#[tokio::test]
async fn bots_of_the_server_have_files_but_no_groups() {
    let server = TestServer::start().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    let stream_id = server.channel("harbour", &[&owner, &bob]).await;
    let bot = server.column("SELECT user_id FROM user WHERE delivery_email = 'emailgateway@zulip.com'").await;
    let bot: i64 = bot[0].parse().unwrap();
    let mut links = Vec::new();
    for name in ["mail.txt", "later.txt"] {
        links.push(format!("[{name}]({})", upload(&owner, name, b"oars").await));
    }
    owner.send(stream_id, "mails", &links[0]).await;
    let later = json!({"type": "channel", "to": stream_id, "topic": "t", "content": links[1],
        "scheduled_delivery_timestamp": START + 100_000});
    owner.post("/scheduled_messages", later).await.ok();
    let mut group = [owner.user_id, bob.user_id, bot];
    group.sort_unstable();
    server.sql(&format!("UPDATE attachment SET user_id = {bot} WHERE name = 'mail.txt'")).await;
    server
        .sql(&format!("UPDATE scheduled_message SET stream_id = NULL, user_ids = '{}'", json!(group)))
        .await;
    let (report, archive) = export(&server, &[]);
    assert!(archive.table("zerver_scheduledmessage").is_empty());
    let files: Vec<(&Value, &Value)> =
        archive.table("zerver_attachment").iter().map(|row| (&row["file_name"], &row["owner"])).collect();
    assert_eq!(files, [(&json!("mail.txt"), &json!(bot))]);
    let record = &archive.json("uploads/records.json")[0];
    assert_eq!(record["user_profile_email"], "emailgateway@zulip.com");
    let what = "scheduled group messages with a bot of the server";
    let left_out = report["left_out"].as_array().unwrap().iter().find(|item| item["what"] == what);
    assert_eq!(left_out.unwrap()["count"], 1);
}

/// A restored backup may be of strangers.
#[tokio::test]
async fn paths_that_lead_out_of_the_archive_are_left_out() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let stream_id = server.channel("harbour", &[&owner]).await;
    for name in ["kept.txt", "outside.txt", "nowhere.txt"] {
        let url = upload(&owner, name, b"oars").await;
        owner.send(stream_id, "files", &format!("[{name}]({url})")).await;
    }
    let emoji = owner.request(Method::POST, "/realm/emoji/oar_lock");
    emoji.multipart((), &[("file", "oar.png", &png(60, 60))]).send().await.ok();
    server
        .sql(
            "UPDATE attachment SET path_id = '../../outside.txt' WHERE name = 'outside.txt';
             UPDATE attachment SET path_id = '1/' || char(0) WHERE name = 'nowhere.txt';
             UPDATE public_image SET path = 'emoji/images/../../outside.png' WHERE path LIKE 'emoji/images/%';
             UPDATE realm_emoji SET file = '../../outside.png'",
        )
        .await;
    let (report, archive) = export(&server, &[]);
    let files: Vec<&Value> = archive.table("zerver_attachment").iter().map(|row| &row["file_name"]).collect();
    assert_eq!((files, &report["attachments"]), (vec![&json!("kept.txt")], &json!(1)));
    let left_out =
        report["left_out"].as_array().unwrap().iter().find(|item| item["what"] == "uploaded files");
    let why = "their paths lead out of the archive";
    assert_eq!(left_out, Some(&json!({"what": "uploaded files", "count": 2, "why": why})));
    let emoji = &archive.table("zerver_realmemoji")[0];
    assert_eq!(emoji["file_name"], format!("{}.png", emoji["id"]));
}

/// A restored backup may be of strangers.
#[tokio::test]
async fn values_that_no_server_writes_do_not_end_an_export() {
    let server = TestServer::start().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    let bot = server.bot("helper", &owner).await;
    let stream_id = server.channel("harbour", &[&owner]).await;
    for name in ["larger.txt", "smaller.txt", "later.txt"] {
        let url = upload(&owner, name, b"oars").await;
        owner.send(stream_id, "files", &format!("[{name}]({url})")).await;
    }
    let later = json!({"type": "direct", "to": [bob.user_id], "content": "later",
        "scheduled_delivery_timestamp": START + 100_000});
    owner.post("/scheduled_messages", later).await.ok();
    server
        .sql(
            "UPDATE attachment SET size = 99 WHERE name = 'larger.txt';
             UPDATE attachment SET size = 1 WHERE name = 'smaller.txt';
             UPDATE upload_piece SET number = 5
                 WHERE content_id = (SELECT content_id FROM attachment WHERE name = 'later.txt');
             UPDATE scheduled_message SET user_ids = '[';
             UPDATE bot SET config_data = '[';
             UPDATE stream SET message_retention_days = 3000000000",
        )
        .await;
    let (report, archive) = export(&server, &[]);
    let rows = archive.table("zerver_attachment");
    assert_eq!(rows.len(), 3);
    for row in rows {
        let path = row["path_id"].as_str().unwrap();
        let content = archive.files[&format!("uploads/{path}")].as_slice();
        assert_eq!((&row["size"], content), (&json!(4), &b"oars"[..]), "{row}");
    }
    for record in archive.json("uploads/records.json").as_array().unwrap() {
        assert_eq!(record["size"], 4);
    }
    assert!(archive.table("zerver_scheduledmessage").is_empty());
    let mut left_out = report["left_out"].as_array().unwrap().iter();
    assert!(left_out.any(|item| item["what"].as_str().unwrap().starts_with("scheduled")), "{report}");
    assert_eq!(archive.row("zerver_userprofile", bot.user_id)["full_name"], bot.full_name.as_str());
}

/// The database of the published server refuses texts with NUL. The checker finds all of them.
#[tokio::test]
async fn texts_have_no_nul() {
    let server = TestServer::start().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    let stream_id = server.channel("harbour", &[&owner]).await;
    let path = format!("/streams/{stream_id}");
    owner.patch(&path, json!({"description": "the\0harbour"})).await.ok();
    owner.patch("/realm", json!({"description": "a\0house"})).await.ok();
    bob.post("/users/me/alert_words", json!({"alert_words": ["fire\0"]})).await.ok();
    bob.post("/users/me/status", json!({"status_text": "at\0sea"})).await.ok();
    bob.post("/saved_snippets", json!({"title": "oars\0", "content": "row\0row"})).await.ok();
    let (_, archive) = export(&server, &[]);
    assert_eq!(archive.table("zerver_alertword")[0]["word"], "fire\u{fffd}");
    assert_eq!(archive.row("zerver_stream", stream_id)["description"], "the\u{fffd}harbour");
}

/// A name of 100 characters can have more bytes than file systems allow.
#[tokio::test]
async fn files_with_long_names_are_renamed() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let stream_id = server.channel("harbour", &[&owner]).await;
    let url = upload(&owner, &format!("{}.txt", "日".repeat(96)), b"oars").await;
    owner.send(stream_id, "files", &format!("the [list]({url})")).await;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("house.tar.gz");
    assert!(run(&server.database(), &out, &[]).status.success());
    let archive = Archive::read(&std::fs::read(&out).unwrap());
    assert_sound(&archive);
    let row = &archive.table("zerver_attachment")[0];
    let path = format!("1/{}-{}.txt", row["id"], "日".repeat(46));
    let record = &archive.json("uploads/records.json")[0];
    assert_eq!((&record["path"], &record["s3_path"]), (&json!(path), &row["path_id"]));
    assert_eq!(archive.files[&format!("uploads/{path}")], b"oars");
    let imported = Import::new("zulip").run_on(&out, &["--json"]);
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
}

/// Each message of a large channel has many receivers, so a file has fewer messages.
#[tokio::test]
async fn files_of_messages_are_limited() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let stream_id = server.channel("harbour", &[&owner]).await;
    let sent = owner.send(stream_id, "boats", &"x".repeat(9_000)).await;
    server.add_copies(sent, 2_100).await;
    let (report, archive) = export(&server, &[]);
    let count = archive.table("zerver_message").len();
    assert_eq!(report["messages"], count);
    assert!(count > 2_100);
    let files: Vec<&String> = archive.files.keys().filter(|path| path.starts_with("messages-")).collect();
    assert!(files.len() > 3, "{files:?}");
    assert!(files.iter().all(|path| archive.files[*path].len() < 9 * 1024 * 1024));
}
