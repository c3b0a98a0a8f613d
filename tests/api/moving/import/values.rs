//! Values that are rare, but right: nulls, old dates, long names, names that several people have.

use super::archive::{Archive, message, with};
use super::{Import, client, contents, left_out, mattermost, messages, rocketchat, slack};
use crate::harness::pictures;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;

/// The names and codes of the reactions to a message.
fn reactions(message: &Value) -> Vec<(&str, &str)> {
    let rows = message["reactions"].as_array().unwrap().iter();
    rows.map(|row| (row["emoji_name"].as_str().unwrap(), row["emoji_code"].as_str().unwrap())).collect()
}

fn put(import: &Import, lines: &[Value]) {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    import.write("messages.jsonl", lines.join("\n"));
}

#[tokio::test]
async fn lines_may_have_nulls_and_old_dates() {
    let import = Import::new("json");
    import.write("list.txt", "oars");
    put(
        &import,
        &[
            json!({"type": "user", "id": "ada", "email": "ada@example.com", "full_name": "Ada", "role": "owner",
                "timezone": null, "active": null, "bot": null, "joined": "1850-01-02T03:04:05Z"}),
            json!({"type": "channel", "name": "general", "description": null, "private": null, "archived": null,
                "shared_history": null, "default": null, "subscribers": ["ada"], "created": -4_000_000_000_i64}),
            json!({"type": "message", "sender": "ada", "channel": "general", "topic": null, "content": "first",
                "date": "1850-05-01T10:00:00Z", "to": null, "reactions": null, "files": null, "starred_by": null,
                "unread_by": null}),
            json!({"type": "message", "sender": "ada", "to": ["ada"], "content": null, "date": -1.5,
                "files": [{"path": "./list.txt"}]}),
        ],
    );
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    let times: Vec<i64> = seen.iter().map(|one| one["timestamp"].as_i64().unwrap()).collect();
    assert_eq!(times, [-3_776_421_600, -2]);
    let streams = ada.get("/streams", ()).await.ok();
    assert_eq!(streams["streams"][0]["date_created"], -4_000_000_000_i64);
}

#[test]
fn archives_without_people_are_refused() {
    let import = Import::new("json");
    put(&import, &[]);
    assert_eq!(import.refused(&import.archive()), "the archive has no people");
}

#[tokio::test]
async fn the_published_archive_may_have_old_dates_and_lacks_what_was_removed() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    archive.realm["zerver_userprofile"][1]["timezone"] = json!("Mars/Olympus");
    archive.realm["zerver_subscription"][5]["color"] = json!("red;x");
    archive.message(
        with(message(101, 10, 105, "boats", "old"), json!({"date_sent": -86_400.5})),
        &[(10, 1), (11, 1)],
    );
    let reaction = |id: i64, code: &str| {
        json!({"id": id, "user_profile": 10, "message": 101, "emoji_name": "x", "emoji_code": code,
            "reaction_type": "realm_emoji"})
    };
    archive
        .custom_emoji(30, "x")
        .row("zerver_reaction", reaction(1, "30"))
        .row("zerver_reaction", reaction(2, "77"));
    let reminder = json!({"id": 5, "sender": 10, "recipient": 10, "subject": "", "content": "x", "rendered_content": "x",
        "sending_client": 1, "stream": null, "realm": 1, "scheduled_timestamp": 4_000_000_000.0, "read_by_sender": true,
        "delivered": false, "delivered_message": null, "has_attachment": false, "delivery_type": 2,
        "reminder_target_message_id": 555});
    archive.row("zerver_scheduledmessage", reminder);
    archive.write(&import);
    let report = import.run(&[]);
    assert_eq!(left_out(&report, "reactions"), [(1, "their emoji are not in the archive, or have no image")]);
    assert_eq!(left_out(&report, "reminders"), [(1, "their messages are not in the archive")]);
    assert_eq!(left_out(&report, "time zones"), [(1, "this server does not know their names")]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    assert_eq!((seen.len(), &seen[0]["timestamp"]), (1, &json!(-86_401)));
    assert_eq!(reactions(&seen[0]), [("x", "30")]);
    let users = ada.get("/users", ()).await.ok();
    let bob = users["members"].as_array().unwrap().iter().find(|user| user["user_id"] == 11);
    assert_eq!(bob.unwrap()["timezone"], "");
    let subscriptions = ada.get("/users/me/subscriptions", ()).await.ok();
    let colors: Vec<&Value> =
        subscriptions["subscriptions"].as_array().unwrap().iter().map(|row| &row["color"]).collect();
    assert!(colors.contains(&&json!("#c2c2c2")), "{colors:?}");
}

#[tokio::test]
async fn names_of_files_are_as_those_of_uploads() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    archive.upload(40, "1/a/b/c.txt", b"oars", &[101]);
    archive.attachments[0]["file_name"] = json!("../the\r\n list.txt");
    archive.message(message(101, 10, 105, "boats", "[c](/user_uploads/1/a/b/c.txt)"), &[(10, 1)]);
    archive.write(&import);
    import.run(&[]);
    let server = import.serve().await;
    assert_eq!(server.column("SELECT name FROM attachment").await, ["the list.txt"]);
}

#[tokio::test]
async fn numbers_of_presences_cannot_overflow() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    for (id, user) in [(1, 10), (2, 11)] {
        archive.row(
            "zerver_userpresence",
            json!({"id": id, "user_profile": user, "realm": 1, "last_update_id": i64::MAX,
                "last_connected_time": 1_750_000_000.0, "last_active_time": 1_750_000_000.0}),
        );
    }
    archive.write(&import);
    import.run(&[]);
    let server = import.serve().await;
    let numbers = server.column("SELECT update_id FROM presence ORDER BY user_id").await;
    assert_eq!(numbers, ["2147483647", "2147483648"]);
}

#[tokio::test]
async fn values_of_settings_that_are_not_known_are_counted() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    archive.realm["zerver_realm"][0]["digest_weekday"] = json!(9);
    archive.realm["zerver_realm"][0]["message_edit_history_visibility_policy"] = json!(9);
    archive.realm["zerver_userprofile"][0]["color_scheme"] = json!(77);
    archive.realm["zerver_userprofile"][1]["enter_sends"] = json!(true);
    // Beyond the limits of clients.
    for (name, value) in [
        ("jitsi_server_url", json!("javascript:alert(1)")),
        ("message_retention_days", json!(0)),
        ("message_content_edit_limit_seconds", json!(-5)),
        ("message_content_delete_limit_seconds", json!(1_i64 << 40)),
        ("waiting_period_threshold", json!(-1)),
    ] {
        archive.realm["zerver_realm"][0][name] = value;
    }
    archive.realm["zerver_stream"][0]["message_retention_days"] = json!(0);
    archive.realm["zerver_stream"][1]["message_retention_days"] = json!(1_i64 << 40);
    archive.write(&import);
    assert_eq!(left_out(&import.run(&[]), "settings"), [(10, "their values are not known here")]);
    let server = import.serve().await;
    let limited = "SELECT count(*) FROM stream WHERE message_retention_days IS NOT NULL";
    assert_eq!(server.column(limited).await, ["0"]);
}

/// Addresses are in the headers of mails.
#[tokio::test]
async fn addresses_that_are_none_are_replaced() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    let bad = json!("cat@example.com\nBcc: eve@example.com");
    archive.realm["zerver_userprofile"][2]["delivery_email"] = bad.clone();
    archive.realm["zerver_userprofile"][2]["email"] = bad;
    archive.write(&import);
    let why = "these users have placeholder addresses, which can be changed by `teamchat user email`";
    assert_eq!(left_out(&import.run(&[]), "email addresses"), [(1, why)]);
    let server = import.serve().await;
    let stored = server.column("SELECT email || ' ' || delivery_email FROM user WHERE user_id = 12").await;
    assert_eq!(stored, ["user12@imported.invalid user12@imported.invalid"]);
}

#[tokio::test]
async fn texts_that_are_too_long_to_send_are_kept() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    // A text with more HTML than messages may have.
    let (long, heavy) = (vec!["oars"; 5000].join(" "), vec![":tada:"; 13_000].join(" "));
    let history = json!([{"user_id": 10, "timestamp": 1_750_000_900, "prev_content": heavy,
        "prev_rendered_content": "<p>x</p>", "prev_rendered_content_version": 1}]);
    let edited = json!({"edit_history": history.to_string(), "last_edit_time": 1_750_000_900.0});
    archive
        .message(message(101, 10, 105, "boats", &long), &[(10, 1)])
        .message(with(message(102, 10, 105, "boats", &heavy), json!({"rendered_content": null})), &[(10, 1)])
        .message(with(message(103, 10, 105, "boats", "short"), edited), &[(10, 1)]);
    archive.row(
        "zerver_scheduledmessage",
        json!({"id": 8, "sender": 10, "recipient": 105, "subject": "later", "content": heavy,
            "rendered_content": "<p>x</p>", "sending_client": 1, "stream": 5, "realm": 1,
            "scheduled_timestamp": 4_000_000_000.0, "read_by_sender": true, "delivered": false,
            "delivered_message": null, "has_attachment": false}),
    );
    archive.write(&import);
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    ada.patch("/realm", json!({"message_edit_history_visibility_policy": "all"})).await.ok();
    let content = async |id: i64, apply_markdown: bool| {
        let path = format!("/messages/{id}");
        let mut answer = ada.get(&path, json!({"apply_markdown": apply_markdown})).await.ok();
        answer["message"]["content"].take().as_str().unwrap().to_owned()
    };
    assert_eq!(content(101, true).await, format!("<p>{long}</p>"));
    assert!(content(102, false).await == heavy);
    // The beginning is shown as it is written.
    let is_shown = |html: &str| html.contains("<pre>") && html.contains(":tada: :tada:");
    assert!(is_shown(&content(102, true).await));
    let history = ada.get("/messages/103/history", ()).await.ok();
    let first = &history["message_history"][0];
    assert!(first["content"] == heavy && is_shown(first["rendered_content"].as_str().unwrap()));
    let scheduled = ada.get("/scheduled_messages", ()).await.ok();
    let scheduled = &scheduled["scheduled_messages"][0];
    assert!(scheduled["content"] == heavy && is_shown(scheduled["rendered_content"].as_str().unwrap()));
}

#[tokio::test]
async fn changed_names_are_not_too_long_for_the_published_server() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    let long = |length: usize| format!("\u{e000}{}", "n".repeat(length - 1));
    archive.realm["zerver_userprofile"][2]["full_name"] = json!(long(100));
    archive.realm["zerver_userprofile"][3].as_object_mut().unwrap().remove("full_name");
    archive.realm["zerver_stream"][0]["name"] = json!(long(60));
    archive.realm["zerver_stream"][1].as_object_mut().unwrap().remove("name");
    archive.write(&import);
    import.run(&[]);
    let server = import.serve().await;
    let names = server.column(
        "SELECT full_name FROM user WHERE user_id IN (12, 13)
         UNION ALL SELECT name FROM stream WHERE stream_id IN (5, 6)",
    );
    let expected =
        [format!("{} 12", "n".repeat(97)), "unnamed 13".to_owned(), format!("{} 5", "n".repeat(58))];
    let names = names.await;
    assert_eq!(names[..3], expected);
    assert_eq!(names[3], "unnamed 6");
}

#[tokio::test]
async fn messages_of_slack_are_sorted_although_days_overlap() {
    let import = slack::export();
    let user = |id: &str, name: &str, email: &str| {
        json!({"id": id, "name": name, "real_name": name, "tz": null,
        "profile": {"email": email, "real_name": null}})
    };
    let mut owner = user("U1", "Ada", "ada@example.com");
    owner["is_owner"] = json!(true);
    let people = [
        owner,
        user("U2", "Sam", "sam@example.com"),
        user("U3", "Sam", "sam@example.org"),
        user("U4", "Eve", ""),
        user("U5", "Joe", ""),
        json!({"id": "U6", "name": null, "real_name": null, "deleted": null, "profile": null}),
    ];
    import.write("users.json", json!(people).to_string());
    let long = "y".repeat(80);
    let channels = json!([
        {"id": "C1", "name": "general", "members": ["U1", "U2", "U3"], "purpose": null, "created": null, "creator": null},
        {"id": "C2", "name": long, "members": ["U1"], "purpose": {"value": null}},
    ]);
    import.write("channels.json", channels.to_string());
    for file in ["groups.json", "dms.json", "mpims.json"] {
        import.write(file, "[]");
    }
    let emoji = |name: &str| json!({"name": name, "users": ["U1"], "count": 1});
    import.write("general/2024-03-01.json", json!([
        {"user": "U1", "text": "hi <@U3>", "ts": "1709280100.000200", "reactions": [emoji("slightly_smiling_face"),
            emoji("smile"), emoji("man-shrugging"), emoji("flag-de"), emoji("tada::skin-tone-3")]},
        {"user": "U2", "text": "last", "ts": "1709370000.000100", "attachments": null, "reactions": null, "files": null},
    ]).to_string());
    import.write(
        "general/2024-03-02.json",
        json!([
        {"user": "U2", "text": "second", "ts": "1709366400.000100"}])
        .to_string(),
    );
    import.write(
        &format!("{long}/2024-03-01.json"),
        json!([
        {"user": "U1", "text": "third <#C2>", "ts": "1709366500.000100"}])
        .to_string(),
    );
    let report = import.run(&[]);
    assert_eq!((&report["users"], &report["messages"]), (&json!(6), &json!(4)), "{report}");
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let (one, other) = (client(&server, "sam@example.com").await, client(&server, "sam@example.org").await);
    let seen = messages(&ada, json!([])).await;
    let (hi, third) = (format!("hi @**Sam|{}**", other.user_id), format!("third #**{}**", "y".repeat(60)));
    assert_eq!(contents(&seen), [hi.as_str(), "second", third.as_str(), "last"]);
    assert_eq!(
        reactions(&seen[0]),
        [
            ("smile", "1f642"),
            ("big_smile", "1f604"),
            ("man_shrugging", "1f937-200d-2642"),
            ("flag_germany", "1f1e9-1f1ea"),
            ("tada", "1f389")
        ]
    );
    assert_eq!(messages(&one, json!([])).await[0]["flags"], json!(["read"]));
    assert_eq!(messages(&other, json!([])).await[0]["flags"], json!(["read", "mentioned"]));
}

#[tokio::test]
async fn lines_of_mattermost_may_have_nulls() {
    let import = mattermost::export(&[
        json!({"type": "user", "user": {"username": "ada2", "email": "ada2@example.com", "first_name": "ADA",
            "last_name": "X", "roles": null, "teams": null}}),
        json!({"type": "user", "user": {"username": "joe", "email": null, "first_name": null, "last_name": null}}),
        json!({"type": "channel", "channel": {"team": "boats", "name": "nulls", "display_name": null, "type": "O",
            "header": null, "purpose": null}}),
        json!({"type": "post", "post": {"team": "boats", "channel": "town-square", "user": "ada",
            "message": "hi @ada2, @bob", "create_at": -1500, "edit_at": null, "attachments": null, "replies": null,
            "reactions": [{"user": "bob", "emoji_name": "slightly_smiling_face"},
                {"user": "bob", "emoji_name": "wave_medium_skin_tone"}]}}),
    ]);
    import.run(&[]);
    let server = import.serve().await;
    let (ada, namesake) =
        (client(&server, "ada@example.com").await, client(&server, "ada2@example.com").await);
    let seen = messages(&ada, json!([])).await;
    assert_eq!(contents(&seen), [format!("hi @**ADA X|{}**, @**BOB X**", namesake.user_id)]);
    assert_eq!(seen[0]["timestamp"], -2);
    assert_eq!(reactions(&seen[0]), [("smile", "1f642"), ("wave", "1f44b")]);
}

#[tokio::test]
async fn rooms_keep_their_rules_and_links() {
    let import = rocketchat::dump();
    let append = |collection: &str, row: Value| {
        let path = import.archive().join(format!("{collection}.bson"));
        File::options().append(true).open(path).unwrap().write_all(&rocketchat::document(&row)).unwrap();
    };
    append("users", json!({"_id": "u4", "type": "user", "name": "No Name", "roles": ["user"]}));
    append("users", json!({"_id": "u5", "type": "user", "name": "BOB", "username": null, "roles": ["user"]}));
    append("rocketchat_room", json!({"_id": "r5", "t": "c", "name": "news", "ro": true}));
    append("rocketchat_subscription", json!({"_id": "s3", "rid": "r5", "u": {"_id": "u1"}}));
    let sent = |id: &str, text: &str, time: i64| {
        json!({"_id": id, "rid": "r1", "u": {"_id": "u1"}, "msg": text, "ts": {"$date": time},
            "channels": [{"_id": "r5", "name": "news"}], "reactions": {":thumbsup_tone2:": {"usernames": ["bob"]}}})
    };
    append("rocketchat_message", sent("m8", "@bob see #news, #other", 1_700_000_800_000));
    append(
        "rocketchat_message",
        with(sent("m9", "before an edit", 1_700_000_700_000), json!({"_hidden": true})),
    );
    let report = import.run(&[]);
    assert_eq!((&report["users"], &report["messages"]), (&json!(5), &json!(6)), "{report}");
    assert!(left_out(&report, "passwords").is_empty(), "{report}");
    let server = import.serve().await;
    let (ada, bob) = (client(&server, "ada@example.com").await, client(&server, "bob@example.com").await);
    let seen = messages(&ada, json!([])).await;
    let expected = format!("@**BOB|{}** see #**news**, #other", bob.user_id);
    assert_eq!(contents(&seen).last(), Some(&expected.as_str()));
    assert_eq!(reactions(seen.last().unwrap()), [("+1", "1f44d")]);
    let streams = ada.get("/streams", ()).await.ok();
    let news = streams["streams"].as_array().unwrap().iter().find(|stream| stream["name"] == "news").unwrap();
    let groups = ada.get("/user_groups", ()).await.ok();
    let moderators =
        groups["user_groups"].as_array().unwrap().iter().find(|group| group["name"] == "role:moderators");
    assert_eq!(news["can_send_message_group"], moderators.unwrap()["id"]);
}

#[test]
fn lines_with_an_avatar_that_is_no_image_go_on() {
    let import = Import::new("json");
    import.write("ada.png", &pictures::png(20, 20)[..30]);
    let ada =
        json!({"type": "user", "id": "ada", "full_name": "Ada", "avatar": "./ada.png", "timezone": "Berlin"});
    put(&import, &[ada]);
    let report = import.run(&[]);
    assert_eq!(left_out(&report, "time zones"), [(1, "this server does not know their names")]);
    assert_eq!(left_out(&report, "avatars"), [(1, "the files are not images, or are too large")]);
}
