//! Slack's export.

use super::{Import, client, left_out, messages, with_content};
use crate::harness::pictures;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;

pub fn export() -> Import {
    let import = Import::new("slack");
    let person = |id: &str, name: &str, other: Value| {
        let mut person = json!({"id": id, "name": name.to_lowercase(), "real_name": name, "deleted": false,
            "profile": {"email": format!("{}@example.com", name.to_lowercase())}, "tz": "Europe/Berlin"});
        for (key, value) in other.as_object().unwrap() {
            person[key] = value.clone();
        }
        person
    };
    let users = json!([
        person("U2", "Bob", json!({})),
        person("U1", "Ada", json!({"is_primary_owner": true, "is_owner": true, "is_admin": true})),
        person("U3", "Cat", json!({"is_restricted": true, "profile": {}})),
        person("U4", "Dan", json!({"deleted": true})),
        person("U5", "Bobby", json!({"profile": {"email": "BOB@example.com"}})),
    ]);
    let channels = json!([
        {"id": "C1", "name": "general", "created": 1_700_000_000, "creator": "U1", "is_archived": false,
            "members": ["U1", "U2", "U5"], "purpose": {"value": "For\neverybody"}},
        {"id": "C2", "name": "past", "created": 1_700_000_000, "creator": "U9", "is_archived": true, "members": []},
    ]);
    let groups = json!([{"id": "G1", "name": "secret", "created": 1_700_000_000, "members": ["U1"]}]);
    let dms = json!([{"id": "D1", "created": 1_700_000_000, "members": ["U1", "U2"]}]);
    let mpims = json!([{"id": "G2", "name": "mpdm-ada--bob--cat-1", "members": ["U1", "U2", "U3"]}]);
    for (name, value) in
        [("users", users), ("channels", channels), ("groups", groups), ("dms", dms), ("mpims", mpims)]
    {
        import.write(&format!("{name}.json"), value.to_string());
    }
    import.write("general/2024-03-01.json", json!([
        {"type": "message", "subtype": "channel_join", "user": "U2", "text": "<@U2> has joined", "ts": "1709280000.000100"},
        {"type": "message", "user": "U1", "text": "*hello* <@U2> &amp; <!channel>", "ts": "1709280100.000200",
            "reactions": [{"name": "thumbsup", "users": ["U2", "U3"], "count": 2}], "thread_ts": "1709280100.000200"},
        {"type": "message", "user": "U2", "text": "an answer", "ts": "1709290000.000100",
            "thread_ts": "1709280100.000200", "edited": {"user": "U2", "ts": "1709290100.000000"}},
        {"type": "message", "user": "U9", "text": "who am I", "ts": "1709280200.000100"},
    ]).to_string());
    import.write("general/2024-03-02.json", json!([
        {"type": "message", "user": "U1", "text": "files", "ts": "1709366400.000100", "files": [
            {"id": "F1", "name": "list.txt", "title": "The list", "mimetype": "text/plain",
                "url_private": "https://files.slack.com/files-pri/T-F1/list.txt?t=xoxe-secret"},
            {"id": "F2", "name": "gone.txt", "title": "Gone", "url_private": "https://files.slack.com/x/gone.txt?t=xoxe-secret"},
            {"id": "F3", "mode": "tombstone"}]},
        {"type": "message", "subtype": "bot_message", "bot_id": "B1", "username": "deploy", "text": "",
            "attachments": [{"fallback": "f", "title": "Build", "text": "passed"}], "ts": "1709366500.000100"},
        {"type": "message", "user": "U2", "text": "late answer", "ts": "1709366600.000100",
            "thread_ts": "1709280100.000200"},
    ]).to_string());
    import.write("__uploads/F1/list.txt", "oars");
    import.write(
        "secret/2024-03-01.json",
        json!([
        {"type": "message", "user": "U1", "text": "to myself", "ts": "1709280050.000100"}])
        .to_string(),
    );
    import.write(
        "D1/2024-03-01.json",
        json!([
        {"type": "message", "user": "U2", "text": "psst", "ts": "1709280060.000100"}])
        .to_string(),
    );
    import.write(
        "mpdm-ada--bob--cat-1/2024-03-01.json",
        json!([
        {"type": "message", "user": "U3", "text": "three of us", "ts": "1709280070.000100"}])
        .to_string(),
    );
    import
}

#[tokio::test]
async fn an_export_becomes_channels_with_topics() {
    let import = export();
    let emails = import.folder.path().join("archive-emails.csv");
    // A spreadsheet writes a byte order mark before it.
    std::fs::write(&emails, "\u{feff}U3,cat@example.org\n").unwrap();
    let report = import.run(&["--emails", emails.to_str().unwrap()]);
    assert_eq!(
        (&report["users"], &report["channels"], &report["messages"], &report["attachments"]),
        (&json!(6), &json!(3), &json!(9), &json!(1)),
        "{report}"
    );
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let bob = client(&server, "bob@example.com").await;
    let cat = client(&server, "cat@example.org").await;
    let seen = messages(&ada, json!([])).await;
    let texts = with_content(&seen, "subject");
    let thread = "2024-03-01 Slack thread 1";
    let topic = "imported from Slack";
    let list = texts[6].1;
    assert_eq!(
        texts[..6],
        [
            (topic, "to myself"),
            ("", "psst"),
            ("", "three of us"),
            (thread, "**hello** @**Bob** & @**all**"),
            (topic, "who am I"),
            (thread, "an answer"),
        ]
    );
    assert_eq!(texts[7..], [(topic, "Build\npassed"), (thread, "late answer")]);
    assert!(
        list.starts_with("files\n[Gone](https://files.slack.com/x/gone.txt)\n[list.txt](/user_uploads/1/"),
        "{list}"
    );
    assert!(!list.contains("xoxe"));
    assert_eq!(seen[3]["reactions"].as_array().unwrap().len(), 2);
    assert_eq!(seen[3]["timestamp"], 1_709_280_100);
    assert_eq!(seen[5]["last_edit_timestamp"], 1_709_290_100);
    assert_eq!(messages(&cat, json!([])).await.len(), 1);
    let seen = messages(&bob, json!([{"operator": "channel", "operand": "general"}])).await;
    assert_eq!(seen.len(), 6);
    assert!(seen.iter().all(|one| one["flags"].as_array().unwrap().contains(&json!("read"))));
    let users = ada.get("/users", ()).await.ok();
    let mut roles: Vec<(&str, i64, bool)> = users["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| {
            (
                user["full_name"].as_str().unwrap(),
                user["role"].as_i64().unwrap(),
                user["is_active"] == json!(true),
            )
        })
        .collect();
    roles.sort_unstable();
    assert_eq!(
        roles,
        [
            ("Ada", 100, true),
            ("Bob", 400, true),
            ("Cat", 600, true),
            ("Dan", 400, false),
            ("Slack user U9", 400, false),
            ("deploy", 400, false)
        ]
    );
    let left: Vec<&str> =
        report["left_out"].as_array().unwrap().iter().map(|left| left["what"].as_str().unwrap()).collect();
    for expected in ["accounts", "names", "notices", "files"] {
        assert!(left.contains(&expected), "{expected}: {report}");
    }
}

/// Messages with a subtype, a file or a comment in the older form, and without a sender.
#[tokio::test]
async fn messages_of_all_kinds_have_their_senders() {
    let import = export();
    let day = json!([
        {"user": "U2", "subtype": "me_message", "text": "rows", "ts": "1709366400.000100"},
        {"user": "U2", "subtype": "sh_room_created", "text": "started a call", "ts": "1709366401.000100"},
        {"user": "U1", "subtype": "bot_add", "text": "added an integration", "ts": "1709366402.000100"},
        {"subtype": "file_share", "text": "the plan", "ts": "1709366403.000100",
            "file": {"id": "F1", "name": "list.txt", "user": "U2"}},
        {"subtype": "file_comment", "text": "about the plan", "ts": "1709366404.000100", "comment": {"user": "U1"}},
        {"user": "U00", "text": "from nobody", "ts": "1709366405.000100"},
        {"user": "U1", "subtype": "channel_topic", "text": "set the topic: tides", "ts": "1709366406.000100"},
    ]);
    import.write("general/2024-03-02.json", day.to_string());
    let report = import.run(&[]);
    let left = report["left_out"].as_array().unwrap();
    assert!(
        left.contains(&json!({"what": "messages", "count": 1, "why": "they have no sender"})),
        "{report}"
    );
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    let mut texts = with_content(&seen, "sender_full_name");
    let mut texts = texts.split_off(texts.len() - 6);
    let (sender, with_file) = texts.remove(3);
    assert!(sender == "Bob" && with_file.starts_with("the plan\n[list.txt](/user_uploads/1/"), "{with_file}");
    let expected = [
        ("Bob", "/me rows"),
        ("Bob", "/me started a call"),
        ("Ada", "/me added an integration"),
        ("Ada", "about the plan"),
        ("Ada", "set the topic: tides"),
    ];
    assert_eq!(texts, expected);
}

#[tokio::test]
async fn bots_may_have_one_name() {
    let import = export();
    let bot = |id: &str, name: &str| json!({"id": id, "name": name, "real_name": "Deploy", "is_bot": true, "profile": {}});
    let owner = json!({"id": "U1", "name": "ada", "is_owner": true, "profile": {"email": "ada@example.com"}});
    let slackbot = json!({"id": "USLACKBOT", "name": "slackbot", "real_name": "Slackbot", "is_bot": false, "profile": {}});
    let users =
        json!([owner, bot("B7", "deploy bot"), bot("B8", "Deploy-Bot"), bot("B9", "deploy bot"), slackbot]);
    import.write("users.json", users.to_string());
    import.run(&[]);
    let server = import.serve().await;
    let query = "SELECT delivery_email FROM user WHERE full_name = 'Deploy' AND bot_type IS NOT NULL ORDER BY user_id";
    let addresses = server.column(query).await;
    assert_eq!(addresses.len(), 3, "{addresses:?}");
    assert_eq!(addresses[0], "deploy-bot-bot@imported.invalid");
    assert!(addresses[1..].iter().all(|address| address.starts_with("user")), "{addresses:?}");
    assert_eq!(server.column("SELECT bot_type FROM user WHERE full_name = 'Slackbot'").await, ["1"]);
}

/// People who left and came back have two accounts.
#[tokio::test]
async fn of_two_accounts_with_an_address_the_active_one_is_kept() {
    let import = export();
    let person = |id: &str, name: &str, deleted: bool| {
        json!({"id": id, "name": name, "real_name": name, "deleted": deleted, "is_primary_owner": id == "U1",
            "profile": {"email": if id == "U1" { "ada@example.com" } else { "bob@example.com" }}})
    };
    let users =
        json!([person("U0", "Bob who left", true), person("U1", "Ada", false), person("U2", "Bob", false)]);
    import.write("users.json", users.to_string());
    let sent = json!([{"user": "U0", "text": "good bye", "ts": "1709366400.000100"}]);
    import.write("general/2024-03-02.json", sent.to_string());
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let last = messages(&ada, json!([])).await.pop().unwrap();
    assert_eq!(last["sender_full_name"], "Bob");
    let sender = ada.get(&format!("/users/{}", last["sender_id"]), ()).await.ok();
    assert_eq!(sender["user"]["is_active"], true);
}

/// `slackdump` saves files in the folder of their conversation. With the id, a name may be longer than file systems allow.
#[tokio::test]
async fn files_in_the_folder_of_a_conversation_are_taken() {
    let import = export();
    let long = format!("{}.txt", "x".repeat(251));
    let file = |id: &str, name: &str| json!({"id": id, "name": name, "mimetype": "text/plain", "url_private": format!("https://files.slack.com/{id}?t=xoxe-1")});
    let files = [file("F5", "list.txt"), file("F6", &long), json!({"id": "F7", "name": "lost.txt"})];
    let sent = json!([{"user": "U1", "text": "files", "ts": "1709366400.000100", "files": files}]);
    import.write("general/2024-03-02.json", sent.to_string());
    import.write("general/attachments/F5-list.txt", "oars");
    let report = import.run(&[]);
    assert_eq!(report["attachments"], 1, "{report}");
    let left = report["left_out"].as_array().unwrap();
    let why = "Slack has deleted them, or did not provide them";
    assert!(left.contains(&json!({"what": "files", "count": 1, "why": why})), "{report}");
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let last = messages(&ada, json!([])).await.pop().unwrap();
    let content = last["content"].as_str().unwrap();
    let begin = format!("files\n[{long}](https://files.slack.com/F6)\n[list.txt](/user_uploads/1/");
    assert!(content.starts_with(&begin), "{content}");
    let path = content.split_once("[list.txt](").unwrap().1.split(')').next().unwrap();
    let file = ada.request_outside(hyper::Method::GET, path).send().await;
    assert_eq!((file.status, file.bytes.as_slice()), (200, &b"oars"[..]));
}

#[tokio::test]
async fn links_to_files_elsewhere_keep_odd_addresses() {
    let import = export();
    let file =
        json!({"id": "F5", "title": "Plan [2]", "url_private": "https://boats.example/plan (1).pdf?v='2'"});
    let sent = json!([{"user": "U1", "text": "files", "ts": "1709366400.000100", "files": [file]}]);
    import.write("general/2024-03-02.json", sent.to_string());
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let last = messages(&ada, json!([])).await.pop().unwrap();
    assert_eq!(last["content"], "files\n[Plan 2](https://boats.example/plan%20%281%29.pdf?v=%272%27)");
}

/// `slackdump` also saves the images of people. Ada's is no image.
#[tokio::test]
async fn images_of_people_in_the_archive_are_taken() {
    let import = export();
    import.write("__avatars/U1/a.png", "oars");
    import.write("__avatars/U2/b.png", pictures::png(90, 90));
    let report = import.run(&[]);
    assert_eq!(report["others"]["avatars"], 1, "{report}");
    let server = import.serve().await;
    let query =
        "SELECT full_name FROM user WHERE avatar_key IS NOT NULL AND delivery_email LIKE '%@example.com'";
    assert_eq!(server.column(query).await, ["Bob"]);
}

/// Some programs leave the name of a conversation of several people out, and call its folder by the id.
#[test]
fn conversations_of_several_people_may_have_no_name() {
    let import = export();
    import.write("mpims.json", json!([{"id": "G2", "members": ["U1", "U2", "U3"]}]).to_string());
    let archive = import.archive();
    std::fs::rename(archive.join("mpdm-ada--bob--cat-1"), archive.join("G2")).unwrap();
    assert_eq!(import.run(&[])["messages"], 9);
}

#[test]
fn messages_that_no_person_can_read_are_reported() {
    let import = export();
    let groups = json!([
        {"id": "G1", "name": "secret", "members": ["U4"]},
        {"id": "G3", "name": "empty", "members": []},
        {"id": "G4", "name": "known", "members": ["U1"]},
    ]);
    import.write("groups.json", groups.to_string());
    import.write("mpims.json", "[]");
    let sent = json!([{"user": "U1", "text": "hello", "ts": "1709366400.000100"}]);
    import.write("known/2024-03-02.json", sent.to_string());
    import.write("notes/read me.txt", "oars");
    let report = import.run(&[]);
    let left = report["left_out"].as_array().unwrap();
    for (what, why) in [
        ("folders of messages", "no list of the archive names their conversations: mpdm-ada--bob--cat-1"),
        (
            "private channels without active subscribers",
            "no person can read their messages; add subscribers to the archive, and import it again",
        ),
    ] {
        assert!(left.contains(&json!({"what": what, "count": 1, "why": why})), "{report}");
    }
}

#[test]
fn files_outside_of_folders_are_no_messages() {
    let import = export();
    let messages = import.run(&["--dry-run"])["messages"].clone();
    let channels = json!([
        {"id": "C1", "name": "general", "members": ["U1", "U2"]},
        {"id": "C2", "name": "past", "members": []},
        {"id": "C3", "name": ".", "members": ["U1"]},
    ]);
    import.write("channels.json", channels.to_string());
    import.write("dms.json", json!([{"id": "", "members": ["U1", "U2"]}]).to_string());
    let sent = json!([{"user": "U1", "text": "hello", "ts": "1709366400.000100"}]);
    import.write("2024-03-02.json", sent.to_string());
    let report = import.run(&["--dry-run"]);
    // Without that of the folder `D1`, which no list names now.
    assert_eq!(report["messages"].as_u64(), messages.as_u64().map(|count| count - 1), "{report}");
    let why = "no list of the archive names their conversations: D1";
    assert_eq!(left_out(&report, "folders of messages"), [(1, why)]);
}

/// Newer exports repeat the names of senders in their messages.
#[tokio::test]
async fn strangers_and_programs_have_the_names_in_their_messages() {
    let import = export();
    let sent = json!([
        {"user": "U8", "text": "one", "ts": "1709366400.000100", "user_profile": {"name": "eve", "real_name": "Eve Eder"}},
        {"subtype": "bot_message", "bot_id": "B7", "text": "two", "ts": "1709366401.000100",
            "bot_profile": {"id": "B7", "name": "Tide table", "icons": {"image_72": "https://a.slack-edge.com/b.png"}}},
        {"user": "U7", "text": "three", "ts": "1709366402.000100", "user_profile": null, "bot_profile": null},
    ]);
    import.write("general/2024-03-02.json", sent.to_string());
    let report = import.run(&[]);
    let left = report["left_out"].as_array().unwrap().iter();
    let nameless: Vec<&Value> = left.filter(|left| left["what"] == "names").collect();
    // One is in a message of another day.
    assert_eq!(nameless.len(), 1);
    assert_eq!(nameless[0]["count"], 2);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    let names: Vec<&str> = seen.iter().map(|one| one["sender_full_name"].as_str().unwrap()).collect();
    assert_eq!(names[names.len() - 3..], ["Eve Eder", "Tide table", "Slack user U7"]);
}

#[tokio::test]
async fn profile_fields_are_kept() {
    let import = export();
    let person = |id: &str, name: &str, profile: Value| json!({"id": id, "name": name, "real_name": name, "is_primary_owner": id == "U1", "profile": profile});
    let long = "x".repeat(60);
    let users = json!([
        person(
            "U1",
            "Ada",
            json!({"email": "ada@example.com", "phone": "+49 30 1", "skype": "",
            "fields": {"Xf2": {"value": "the *Swan*", "alt": ""}, "Xf1": {"value": "", "alt": ""}}})
        ),
        person(
            "U2",
            "Bob",
            json!({"email": "bob@example.com", "phone": null, "fields": [],
            "skype": "bob.rows"})
        ),
        person("U3", "Cat", json!({"fields": {"Xf1": {"value": long, "alt": ""}, "Xf2": {"value": "none"}}})),
        // The same person as Bob.
        person("U5", "Bobby", json!({"email": "BOB@example.com", "phone": "+49 30 2", "fields": null})),
    ]);
    import.write("users.json", users.to_string());
    let report = import.run(&[]);
    let others = &report["others"];
    assert_eq!((&others["profile fields"], &others["values of profile fields"]), (&json!(4), &json!(6)));
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let fields = ada.get("/realm/profile_fields", ()).await.ok();
    let fields = fields["custom_fields"].as_array().unwrap();
    let types: Vec<(&str, i64)> = fields
        .iter()
        .map(|field| (field["name"].as_str().unwrap(), field["type"].as_i64().unwrap()))
        .collect();
    assert_eq!(types, [("Slack custom field 1", 1), ("phone", 1), ("skype", 1), ("Slack custom field 2", 2)]);
    let users = ada.get("/users", json!({"include_custom_profile_fields": true})).await.ok();
    let value_of = |name: &str, field: usize| {
        let mut users = users["members"].as_array().unwrap().iter();
        let data = users.find(|user| user["full_name"] == name).unwrap()["profile_data"].clone();
        data[fields[field]["id"].to_string()].clone()
    };
    let rendered = json!({"value": "the *Swan*", "rendered_value": "<p>the <em>Swan</em></p>"});
    assert_eq!(value_of("Ada", 0), rendered);
    assert_eq!(value_of("Ada", 1)["value"], "+49 30 1");
    assert_eq!(value_of("Bob", 1)["value"], "+49 30 2");
    assert_eq!(value_of("Bob", 2)["value"], "bob.rows");
    assert_eq!(value_of("Cat", 3)["value"], long);
}

#[tokio::test]
async fn nested_lists_stay_nested() {
    let import = export();
    let list = |style: &str, indent: u64, offset: u64, items: &[&str]| {
        let items: Vec<Value> = items
            .iter()
            .map(|item| json!({"type": "rich_text_section", "elements": [{"type": "text", "text": item}]}))
            .collect();
        json!({"type": "rich_text_list", "style": style, "indent": indent, "offset": offset, "elements": items})
    };
    let bullets = [list("bullet", 0, 0, &["a"]), list("bullet", 1, 0, &["b"]), list("bullet", 0, 1, &["c"])];
    let numbers =
        [list("ordered", 0, 0, &["a"]), list("bullet", 1, 0, &["b"]), list("ordered", 0, 1, &["c"])];
    let message = |ts: &str, text: &str, elements: &[Value]| {
        json!({"type": "message", "user": "U2", "ts": ts, "text": text,
            "blocks": [{"type": "rich_text", "elements": elements}]})
    };
    let day = json!([
        message("1709280060.000100", "\u{2022} a\n    \u{25e6} b\n\u{2022} c", &bullets),
        message("1709280061.000100", "1. a\n    \u{2022} b\n2. c", &numbers),
    ]);
    import.write("D1/2024-03-01.json", day.to_string());
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([{"operator": "is", "operand": "dm"}])).await;
    let texts: Vec<&str> = seen.iter().map(|one| one["content"].as_str().unwrap()).collect();
    assert_eq!(texts[..2], ["* a\n  * b\n* c", "1. a\n\n  * b\n\n2. c"]);
}

#[test]
fn packed_exports_are_read_and_broken_ones_named() {
    let import = export();
    let path = import.folder.path().join("archive.zip");
    let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    for name in ["users.json", "channels.json", "general/2024-03-01.json"] {
        zip.start_file(format!("boats export/{name}"), options).unwrap();
        zip.write_all(&std::fs::read(import.archive().join(name)).unwrap()).unwrap();
    }
    // A folder that was packed on macOS.
    zip.start_file("__MACOSX/boats export/._users.json", options).unwrap();
    zip.write_all(b"\0\x05").unwrap();
    zip.finish().unwrap();
    let report = import.report_on(&path, &[]);
    assert_eq!(report["messages"], 3);
    std::fs::remove_file(import.database()).unwrap();

    import.write("general/2024-03-02.json", "[\n{\"ts\": \"x\"}]");
    assert_eq!(import.refused(&import.archive()), "general/2024-03-02.json:2: x is no time of Slack");
    import.write("channels.json", "[{\"id\": \"C1\", \"name\": \"../general\"}]");
    let error = import.refused(&import.archive());
    assert!(error.contains("the path leads out of the archive"), "{error}");
    std::fs::remove_file(import.archive().join("channels.json")).unwrap();
    assert!(import.refused(&import.archive()).contains("channels.json"));
}

/// Some programs write lists without rows so.
#[test]
fn lists_may_be_null() {
    let import = export();
    for name in ["channels.json", "mpims.json", "general/2024-03-01.json"] {
        import.write(name, "null");
    }
    let report = import.run(&[]);
    assert_eq!((&report["channels"], &report["messages"]), (&json!(1), &json!(2)), "{report}");
}

/// Programs of macOS write letters and their marks separately.
#[test]
fn names_of_folders_may_be_decomposed() {
    let import = export();
    let channels = json!([{"id": "C1", "name": "gr\u{fc}n", "members": ["U1"]}]);
    import.write("channels.json", channels.to_string());
    let sent = json!([{"type": "message", "user": "U1", "text": "hello", "ts": "1709280100.000200"}]);
    import.write("gru\u{308}n/2024-03-01.json", sent.to_string());
    let report = import.run(&[]);
    // The others are in the private conversations.
    assert_eq!(report["messages"], 4, "{report}");
}

/// Some programs for Windows write them, although the format forbids it.
#[test]
fn packed_exports_may_have_backslashes_between_folders() {
    let import = export();
    let path = import.folder.path().join("archive.zip");
    let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
    for name in ["users.json", "channels.json", "general/2024-03-01.json"] {
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file(format!("export/{name}").replace('/', "\\"), options).unwrap();
        zip.write_all(&std::fs::read(import.archive().join(name)).unwrap()).unwrap();
    }
    zip.finish().unwrap();
    let report = import.report_on(&path, &[]);
    assert_eq!(report["messages"], 3, "{report}");
}
