//! Archives of the published format from its converters of other products, and from older releases.

use super::archive::{Archive, TIME, message, received, with};
use super::{Import, client, messages};
use crate::harness::{Client, SYSTEM_GROUPS};
use serde_json::{Value, json};

#[tokio::test]
async fn messages_are_numbered_by_time_if_the_archive_says_so() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    let at = |id: i64, recipient: i64, content: &str, time: f64| {
        with(message(id, 10, recipient, "boats", content), json!({"date_sent": time}))
    };
    let time = 1_750_000_000.0;
    archive
        .message(at(101, 105, "four", time + 9.0), &[(10, 1), (11, 0)])
        .message(at(102, 105, "one", time), &[(10, 1), (11, 1)])
        .message(at(103, 105, "two", time + 1.5), &[(10, 1), (11, 1)]);
    archive.messages.push((Vec::new(), Vec::new()));
    archive
        .message(at(110, 106, "three", time + 1.2), &[(10, 1), (11, 0)])
        .message(at(112, 200, "five", time + 9.0), &[(10, 3), (11, 1), (12, 1)]);
    archive.row(
        "zerver_reaction",
        json!({"id": 1, "user_profile": 11, "message": 101, "emoji_name": "tada", "emoji_code": "1f389",
            "reaction_type": "unicode_emoji"}),
    );
    archive.upload(40, "1/a7/YWJj/list.txt", b"oars", &[103]);
    archive.realm.insert("sort_by_date".to_owned(), json!(true));
    archive.write(&import);
    let report = import.run(&[]);
    assert_eq!(report["messages"], 5, "{report}");
    assert_eq!(import.left(), ["chat.sqlite"]);
    let server = import.serve().await;
    let (ada, bob) = (client(&server, "ada@example.com").await, client(&server, "bob@example.com").await);
    let seen = messages(&ada, json!([])).await;
    let rows: Vec<(i64, &str)> =
        seen.iter().map(|one| (one["id"].as_i64().unwrap(), one["content"].as_str().unwrap())).collect();
    assert_eq!(rows, [(101, "one"), (102, "two"), (103, "three"), (110, "four"), (112, "five")]);
    assert_eq!((&seen[3]["timestamp"], &seen[3]["reactions"][0]["user_id"]), (&json!(TIME + 9), &json!(11)));
    assert_eq!(seen[4]["flags"], json!(["read", "starred"]));
    let unread = messages(&bob, json!([{"operator": "is", "operand": "unread"}])).await;
    let unread: Vec<i64> = unread.iter().map(|message| message["id"].as_i64().unwrap()).collect();
    assert_eq!(unread, [103, 110]);
    let files = ada.get("/attachments", ()).await.ok();
    assert_eq!(files["attachments"][0]["messages"][0]["id"], 102);
}

#[tokio::test]
async fn ids_stay_if_messages_are_in_order() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    archive.message(message(101, 10, 105, "boats", "one"), &[(10, 1)]);
    archive.message(message(105, 10, 105, "boats", "two"), &[(10, 1)]);
    archive.realm.insert("sort_by_date".to_owned(), json!(true));
    archive.realm.insert("import_source".to_owned(), json!("slack"));
    archive.write(&import);
    let report = import.run(&[]);
    let left = report["left_out"].as_array().unwrap();
    assert!(left.iter().all(|left| left["what"] != "import_source"), "{report}");
    let server = import.serve().await;
    let seen = messages(&client(&server, "ada@example.com").await, json!([])).await;
    let ids: Vec<i64> = seen.iter().map(|message| message["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [101, 105]);
}

#[test]
fn receivers_of_messages_that_are_not_there_are_refused_in_sorted_archives() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    archive.message(with(message(101, 10, 105, "x", "late"), json!({"date_sent": TIME + 900})), &[(10, 1)]);
    archive.message(message(102, 10, 105, "x", "early"), &[(10, 1)]);
    archive.messages[0].1.push(received(555, 10, 1));
    archive.realm.insert("sort_by_date".to_owned(), json!(true));
    archive.write(&import);
    let error = import.refused(&import.archive());
    assert!(error.starts_with("messages-000001.json:"), "{error}");
    assert!(error.ends_with("zerver_usermessage: there is no message 555"), "{error}");
}

/// Removes the permissions of the organization and of channels, which are groups.
fn without_permissions() -> Archive {
    let mut archive = Archive::new();
    for table in ["zerver_realm", "zerver_stream"] {
        for row in archive.realm[table].as_array_mut().unwrap() {
            row.as_object_mut().unwrap().retain(|column, _| !column.ends_with("_group"));
        }
    }
    archive
}

/// A group of the organization, by its name.
async fn group(client: &Client, name: &str) -> Value {
    let mut groups = client.get("/user_groups", ()).await.ok();
    let groups = groups["user_groups"].as_array_mut().unwrap();
    let found = groups.iter_mut().find(|group| group["name"] == name);
    found.unwrap_or_else(|| panic!("{name}")).take()
}

/// The published converters write no groups, and a number for who may post.
#[tokio::test]
async fn archives_without_groups_get_the_usual_permissions() {
    let import = Import::new("zulip");
    let mut archive = without_permissions();
    for table in [
        "zerver_usergroup",
        "zerver_namedusergroup",
        "zerver_usergroupmembership",
        "zerver_groupgroupmembership",
    ] {
        archive.realm.remove(table);
    }
    archive.realm["zerver_stream"][0]["stream_post_policy"] = json!(4);
    archive.realm["zerver_stream"][1]["stream_post_policy"] = json!(1);
    archive.write(&import);
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    assert_eq!(group(&ada, "role:owners").await["members"], json!([10]));
    for (stream, name) in [(5, "role:moderators"), (6, "role:everyone")] {
        let channel = ada.get(&format!("/streams/{stream}"), ()).await.ok();
        let holder = &channel["stream"]["can_send_message_group"];
        assert_eq!(*holder, group(&ada, name).await["id"], "{stream}");
    }
}

#[tokio::test]
async fn groups_of_releases_before_9_keep_names_members_and_permissions() {
    let import = Import::new("zulip");
    let mut archive = without_permissions();
    let row = |id: i64, name: &str, is_system_group: bool, mention: i64| {
        json!({"id": id, "realm": 1, "name": name, "description": "They row", "is_system_group": is_system_group,
            "can_mention_group": mention})
    };
    let mut groups: Vec<Value> = (1..).zip(SYSTEM_GROUPS).map(|(id, name)| row(id, name, true, 1)).collect();
    groups.extend([row(20, "rowers", false, 4), row(21, "Rowers", false, 7)]);
    archive.realm.remove("zerver_namedusergroup");
    archive.realm.insert("zerver_usergroup".to_owned(), json!(groups));
    let members = [(2, 10), (20, 11), (20, 12)];
    let members = (1..)
        .zip(members)
        .map(|(id, (group, user))| json!({"id": id, "user_group": group, "user_profile": user}));
    archive.realm.insert("zerver_usergroupmembership".to_owned(), members.collect());
    archive.realm.insert(
        "zerver_groupgroupmembership".to_owned(),
        json!([{"id": 1, "supergroup": 3, "subgroup": 2}, {"id": 2, "supergroup": 20, "subgroup": 4}]),
    );
    archive.write(&import);
    let report = import.run(&[]);
    assert_eq!(report["others"]["groups"], 2, "{report}");
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let (rowers, moderators) =
        (group(&ada, "rowers").await, group(&ada, "role:moderators").await["id"].clone());
    assert_eq!((&rowers["id"], &rowers["description"]), (&json!(20), &json!("They row")));
    assert_eq!(rowers["members"], json!([11, 12]));
    assert_eq!(rowers["direct_subgroup_ids"], json!([moderators]));
    assert_eq!(rowers["can_mention_group"], moderators);
    // Names that differ by case are one here.
    assert_eq!(group(&ada, "Rowers 21").await["id"], 21);
}

/// Releases from 11.0 on have them.
#[tokio::test]
async fn navigation_views_are_kept() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    for (id, user, fragment, name) in [
        (1, 10, "narrow/is/starred", Value::Null),
        (2, 10, "narrow/is/alerted", json!("Alerts")),
        (3, 11, "recent", Value::Null),
    ] {
        let row = json!({"id": id, "user": user, "fragment": fragment, "is_pinned": id == 1, "name": name});
        archive.row("zerver_navigationview", row);
    }
    archive.write(&import);
    assert_eq!(import.run(&[])["others"]["navigation views"], 3);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let views = ada.get("/navigation_views", ()).await.ok();
    let mut views: Vec<(&str, bool, &Value)> = views["navigation_views"]
        .as_array()
        .unwrap()
        .iter()
        .map(|view| (view["fragment"].as_str().unwrap(), view["is_pinned"] == true, &view["name"]))
        .collect();
    views.sort_by_key(|(fragment, ..)| *fragment);
    let expected =
        [("narrow/is/alerted", false, &json!("Alerts")), ("narrow/is/starred", true, &Value::Null)];
    assert_eq!(views, expected);
}

#[tokio::test]
async fn numbers_of_older_releases_become_permissions() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    let realm = archive.realm["zerver_realm"][0].as_object_mut().unwrap();
    for name in
        ["can_invite_users_group", "can_add_custom_emoji_group", "message_edit_history_visibility_policy"]
    {
        realm.remove(name);
    }
    for (name, number) in [
        ("invite_to_realm_policy", 6),
        ("add_custom_emoji_policy", 2),
        ("wildcard_mention_policy", 7),
        ("bot_creation_policy", 2),
        ("edit_topic_policy", 9),
        // The archive has the permission itself.
        ("delete_own_message_policy", 2),
    ] {
        realm.insert(name.to_owned(), json!(number));
    }
    realm.insert("allow_edit_history".to_owned(), json!(false));
    archive.write(&import);
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let state = ada
        .post("/register", json!({"fetch_event_types": json!(["realm", "realm_user_groups"]).to_string()}));
    let state = state.await.ok();
    let groups = state["realm_user_groups"].as_array().unwrap();
    let name_of = |setting: &str| {
        let group = groups.iter().find(|group| group["id"] == state[format!("realm_{setting}")]);
        group.unwrap_or_else(|| panic!("{setting}"))["name"].as_str().unwrap()
    };
    let expected = [
        ("can_invite_users_group", "role:nobody"),
        ("can_add_custom_emoji_group", "role:administrators"),
        ("can_mention_many_users_group", "role:moderators"),
        ("can_create_bots_group", "role:administrators"),
        ("can_create_write_only_bots_group", "role:members"),
        ("can_move_messages_between_topics_group", "role:everyone"),
        ("can_delete_own_message_group", "role:everyone"),
    ];
    for (setting, group) in expected {
        assert_eq!(name_of(setting), group, "{setting}");
    }
    assert_eq!(state["realm_message_edit_history_visibility_policy"], "none");
}

#[tokio::test]
async fn settings_of_older_releases_are_read_under_their_names() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    let realm = archive.realm["zerver_realm"][0].as_object_mut().unwrap();
    for (name, earlier) in [
        ("new_stream_announcements_stream", "notifications_stream"),
        ("signup_announcements_stream", "signup_notifications_stream"),
    ] {
        realm.remove(name);
        realm.insert(earlier.to_owned(), json!(5));
    }
    let ada = archive.realm["zerver_userprofile"][0].as_object_mut().unwrap();
    for name in ["web_home_view", "web_escape_navigates_to_home_view"] {
        ada.remove(name);
    }
    ada.insert("default_view".to_owned(), json!("all_messages"));
    ada.insert("escape_navigates_to_default_view".to_owned(), json!(false));
    archive.write(&import);
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let names = json!(["realm", "user_settings"]).to_string();
    let state = ada.post("/register", json!({"fetch_event_types": names})).await.ok();
    assert_eq!(state["realm_new_stream_announcements_stream_id"], 5);
    assert_eq!(state["realm_signup_announcements_stream_id"], 5);
    let settings = &state["user_settings"];
    assert_eq!(settings["web_home_view"], "all_messages");
    assert_eq!(settings["web_escape_navigates_to_home_view"], false);
}

#[tokio::test]
async fn prefixes_of_code_playgrounds_become_templates() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    let row = json!({"id": 4, "realm": 1, "name": "Try it", "pygments_language": "Rust",
        "url_prefix": "https://play.example/{x}?code="});
    archive.row("zerver_realmplayground", row);
    archive.write(&import);
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let names = json!(["realm_playgrounds"]).to_string();
    let state = ada.post("/register", json!({"fetch_event_types": names})).await.ok();
    let expected = json!([{"id": 4, "name": "Try it", "pygments_language": "Rust",
        "url_template": "https://play.example/%7Bx%7D?code={code}"}]);
    assert_eq!(state["realm_playgrounds"], expected);
}

#[tokio::test]
async fn moves_before_release_5_get_the_place_to_which_they_went() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    let history = json!([
        {"user_id": 10, "timestamp": TIME + 900, "prev_subject": "boats"},
        {"user_id": 10, "timestamp": TIME + 800, "prev_content": "two", "prev_rendered_content": "<p>two</p>"},
        {"user_id": 10, "timestamp": TIME + 700, "prev_subject": "oars", "prev_stream": 7},
        {"user_id": null, "timestamp": TIME + 600, "prev_subject": "ores"},
    ]);
    let edited = json!({"edit_history": history.to_string(), "last_edit_time": TIME + 900});
    archive.message(with(message(101, 10, 105, "✔ boats", "three"), edited), &[(10, 1)]);
    archive.write(&import);
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    let expected = json!([
        {"user_id": 10, "timestamp": TIME + 900, "prev_topic": "boats", "topic": "✔ boats"},
        {"user_id": 10, "timestamp": TIME + 700, "prev_topic": "oars", "topic": "boats",
            "prev_stream": 7, "stream": 5},
        {"user_id": null, "timestamp": TIME + 600, "prev_topic": "ores", "topic": "oars"},
    ]);
    assert_eq!(seen[0]["edit_history"], expected);
    // Resolving the topic is no move.
    assert_eq!(seen[0]["last_moved_timestamp"], TIME + 700);
}
