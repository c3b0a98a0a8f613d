//! Archives of the published format from its converters of other products, and from older releases.

use super::archive::{Archive, TIME, message, received, with};
use super::{Import, client, messages};
use serde_json::json;

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
