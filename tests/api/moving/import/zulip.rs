//! The published archive.

use super::archive::{Archive, TIME, message, with};
use super::{Import, client, contents, messages};
use crate::harness::{START, pictures};
use serde_json::{Value, json};
use teamchat::commands::Command;

fn ids(messages: &[Value]) -> Vec<i64> {
    messages.iter().map(|message| message["id"].as_i64().unwrap()).collect()
}

/// The flags of a message, without those that clients do not show.
fn flags(messages: &[Value], id: i64) -> Vec<&str> {
    let message = messages.iter().find(|message| message["id"] == id).unwrap();
    message["flags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap()).collect()
}

#[tokio::test]
async fn people_keep_their_ids_roles_settings_and_images() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    archive
        .avatar(10)
        .row("zerver_customprofilefield", json!({"id": 4, "realm": 1, "name": "Boat", "order": 2, "field_type": 1}))
        .row("zerver_customprofilefieldvalue", json!({"id": 1, "user_profile": 11, "field": 4, "value": "the *Swan*"}))
        .row("zerver_alertword", json!({"id": 1, "realm": 1, "user_profile": 11, "word": "storm"}))
        .row("zerver_muteduser", json!({"id": 1, "user_profile": 10, "muted_user": 12, "date_muted": 1_745_000_000.0}))
        .row("zerver_userstatus", json!({"id": 1, "user_profile": 10, "timestamp": 1_745_000_000.0, "client": 1,
            "reaction_type": "unicode_emoji", "emoji_name": "boat", "emoji_code": "26f5", "status_text": "rowing"}))
        .row("zerver_savedsnippet", json!({"id": 1, "realm": 1, "user_profile": 10, "title": "hi", "content": "Hello!",
            "date_created": 1_745_000_000.0}))
        .row("zerver_usertopic", json!({"id": 1, "user_profile": 10, "stream": 5, "recipient": 105,
            "topic_name": "Boats", "last_updated": 1_745_000_000.0, "visibility_policy": 3}))
        .write(&import);
    let report = import.run(&[]);
    assert_eq!(
        (&report["users"], &report["channels"], &report["messages"], &report["attachments"]),
        (&json!(5), &json!(3), &json!(0), &json!(0)),
        "{report}"
    );
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let bob = client(&server, "bob@example.com").await;
    for (email, id) in [("helper@example.com", 14), ("cat@example.com", 12), ("dan@example.com", 13)] {
        let mint = Command::CreateKey { email: email.to_owned(), client: "test".to_owned() };
        assert_eq!(server.command(mint).await["user_id"], id);
    }
    assert_eq!((ada.user_id, bob.user_id), (10, 11));

    let users = ada.get("/users", json!({"include_custom_profile_fields": true})).await.ok();
    let find =
        |id: i64| users["members"].as_array().unwrap().iter().find(|user| user["user_id"] == id).unwrap();
    let facts = |id: i64| {
        let user = find(id);
        (
            user["full_name"].as_str().unwrap(),
            user["role"].as_i64().unwrap(),
            user["is_active"] == json!(true),
        )
    };
    assert_eq!(facts(10), ("Ada", 100, true));
    assert_eq!(facts(12), ("Cat", 600, true));
    assert_eq!(facts(13), ("Dan", 400, false));
    assert_eq!(find(10)["timezone"], "Europe/Berlin");
    assert_eq!(find(14)["bot_owner_id"], 11);
    assert_eq!(find(11)["email"], "user11@chat.old.example");
    assert_eq!(find(11)["profile_data"]["4"]["value"], "the *Swan*");
    assert_eq!(find(11)["profile_data"]["4"]["rendered_value"], "<p>the <em>Swan</em></p>");
    let avatar = find(10)["avatar_url"].as_str().unwrap();
    assert!(avatar.ends_with("?version=2"), "{avatar}");
    let image = ada.request_outside(hyper::Method::GET, avatar).send().await;
    assert_eq!(image.status, 200);

    let state = ada.post("/register", json!({"fetch_event_types": json!(["realm", "realm_user_groups",
        "update_display_settings", "user_settings", "user_topic", "muted_users", "user_status", "saved_snippets",
        "custom_profile_fields", "realm_bot"]).to_string()})).await.ok();
    assert_eq!(state["realm_name"], "Boat club");
    assert_eq!(state["realm_description"], "We **row**");
    let realm = ada.get("/server_settings", ()).await.ok();
    assert_eq!(realm["realm_description"], "<p>We <strong>row</strong></p>");
    assert_eq!(state["realm_message_content_edit_limit_seconds"], 1200);
    assert_eq!(state["realm_message_edit_history_visibility_policy"], "moves");
    assert_eq!(state["realm_topics_policy"], "disable_empty_topic");
    assert_eq!(state["realm_new_stream_announcements_stream_id"], 5);
    assert_eq!(state["user_settings"]["twenty_four_hour_time"], true);
    assert_eq!(state["user_topics"][0]["visibility_policy"], 3);
    assert_eq!(state["muted_users"][0]["id"], 12);
    assert_eq!(state["user_status"]["10"]["status_text"], "rowing");
    assert_eq!(state["saved_snippets"][0]["content"], "Hello!");
    assert_eq!(state["realm_can_create_public_channel_group"], 20);
    let invites = &state["realm_can_invite_users_group"];
    assert_eq!(*invites, json!({"direct_members": [12], "direct_subgroups": [20]}));
    let rowers =
        state["realm_user_groups"].as_array().unwrap().iter().find(|group| group["name"] == "rowers");
    let rowers = rowers.unwrap();
    assert_eq!((&rowers["id"], &rowers["members"]), (&json!(20), &json!([11, 12])));
    assert_eq!(rowers["description"], "They row");
    let words = bob.get("/users/me/alert_words", ()).await.ok();
    assert_eq!(words["alert_words"], json!(["storm"]));
}

#[tokio::test]
async fn names_that_cannot_be_here_are_changed() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    archive.realm["zerver_userprofile"][2]["full_name"] = json!("Notification Bot\u{fff9}");
    archive.realm["zerver_userprofile"][3]["full_name"] = json!("welcome bot");
    for (table, name) in [("zerver_stream", "general"), ("zerver_namedusergroup", "rowers")] {
        let rows = archive.realm[table].as_array_mut().unwrap();
        let row = rows.iter_mut().find(|row| row["name"] == name).unwrap();
        row["name"] = json!(format!("{name}\u{378}"));
    }
    archive.write(&import);
    import.run(&[]);
    let server = import.serve().await;
    let names = server.column(
        "SELECT full_name FROM user WHERE user_id IN (12, 13)
         UNION ALL SELECT name FROM stream WHERE stream_id = 5 UNION ALL SELECT name FROM user_group WHERE id = 20",
    );
    assert_eq!(names.await, ["Notification Bot 12", "welcome bot 13", "general 5", "rowers 20"]);
}

/// The published server distinguishes the names of groups by case.
#[tokio::test]
async fn groups_whose_names_differ_by_case_arrive() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    let rowers = archive.realm["zerver_namedusergroup"][8].clone();
    assert_eq!(rowers["name"], "rowers");
    archive.row("zerver_usergroup", json!({"id": 23, "realm": 1}));
    archive
        .row("zerver_namedusergroup", with(rowers, json!({"id": 23, "usergroup_ptr": 23, "name": "Rowers"})));
    archive.write(&import);
    import.run(&[]);
    let server = import.serve().await;
    let names = server.column("SELECT name FROM user_group WHERE kind = 'named' ORDER BY id").await;
    assert_eq!(names, ["rowers", "Rowers 23"]);
}

#[tokio::test]
async fn channels_keep_history_kinds_folders_and_subscriptions() {
    let import = Import::new("zulip");
    Archive::new().write(&import);
    let report = import.run(&[]);
    assert_eq!(report["others"]["subscriptions"], 6, "those of direct messages are none");
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let state = ada.post("/register", json!({"fetch_event_types": json!(["subscription", "stream",
        "default_streams", "channel_folders"]).to_string(),
        "client_capabilities": json!({"notification_settings_null": true, "archived_channels": true}).to_string()}))
        .await.ok();
    let find = |name: &str| {
        let all = ["subscriptions", "unsubscribed", "never_subscribed"].iter();
        let mut all = all.flat_map(|kind| state[*kind].as_array().unwrap());
        all.find(|channel| channel["name"] == name).unwrap_or_else(|| panic!("{name}: {state}"))
    };
    let general = find("general");
    assert_eq!((&general["stream_id"], &general["color"]), (&json!(5), &json!("#76ce90")));
    assert_eq!(general["pin_to_top"], true);
    assert_eq!(general["rendered_description"], "<p>For <em>all</em></p>");
    assert_eq!(
        general["can_administer_channel_group"],
        json!({"direct_members": [11], "direct_subgroups": []})
    );
    let secret = find("secret");
    assert_eq!(
        (&secret["invite_only"], &secret["history_public_to_subscribers"]),
        (&json!(true), &json!(false))
    );
    let old = find("old");
    assert_eq!((&old["is_archived"], &old["folder_id"]), (&json!(true), &json!(2)));
    assert_eq!(old["topics_policy"], "allow_empty_topic");
    assert_eq!(state["channel_folders"][0]["name"], "Attic");
    assert_eq!(state["realm_default_streams"], json!([5]));
    let bob = client(&server, "bob@example.com").await;
    let subscriptions = bob.get("/users/me/subscriptions", ()).await.ok();
    let of = |name: &str| {
        let all = subscriptions["subscriptions"].as_array().unwrap();
        all.iter().find(|channel| channel["name"] == name).unwrap().clone()
    };
    assert_eq!(
        (&of("general")["is_muted"], &of("general")["push_notifications"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(of("secret")["color"], "#bfd56f");
}

/// An archive with messages of all kinds.
fn conversations() -> Archive {
    let mut archive = Archive::new();
    let moved = json!([{"user_id": 10, "timestamp": TIME + 500, "prev_topic": "x", "topic": "boats",
        "prev_stream": 7, "stream": 5}]);
    let edited = json!([
        {"user_id": 10, "timestamp": TIME + 700, "prev_content": "two", "prev_rendered_content": "<p>two</p>"},
        {"user_id": 10, "timestamp": TIME + 600, "prev_content": "<b>one</b>",
            "prev_rendered_content": "<script>one</script>"},
    ]);
    archive
        .message(message(101, 10, 105, "boats", "**hello** @**Bob**"), &[(10, 1), (11, 8), (12, 1)])
        .message(
            message(
                102,
                11,
                105,
                "boats",
                "see [it](https://chat.old.example/#narrow/channel/5-general/near/101)",
            ),
            &[(10, 0), (11, 1), (12, 0)],
        )
        .message(message(103, 10, 106, "plans", "only Ada was here"), &[(10, 1)])
        .message(message(104, 10, 106, "plans", "both"), &[(10, 1), (11, 3)])
        .message(message(105, 11, 10, "", "a word"), &[(10, 2048), (11, 2049)])
        .message(message(106, 12, 200, "", "all of us"), &[(10, 2049), (11, 2048), (12, 2049)])
        .message(message(107, 9, 10, "", "from the bot"), &[(10, 2049)])
        .message(
            with(
                message(108, 11, 105, "boats", "came from old"),
                json!({"edit_history": moved.to_string(), "last_edit_time": TIME + 500}),
            ),
            &[(10, 1)],
        );
    archive.messages.push((Vec::new(), Vec::new()));
    archive
        .message(
            with(
                message(109, 10, 105, "", "three"),
                json!({"edit_history": edited.to_string(), "last_edit_time": TIME + 700}),
            ),
            &[(10, 1), (11, 1)],
        )
        .message(with(message(110, 9, 105, "✔ boats", "resolved"), json!({"type": 2})), &[(10, 0), (11, 0)])
        .message(
            message(111, 10, 105, "files", "[list](/user_uploads/1/a7/YWJj/list.txt)"),
            &[(10, 1), (11, 0)],
        )
        .message(
            with(message(112, 11, 105, "boats", "liked :anchor:"), json!({"rendered_content": null})),
            &[(10, 1), (11, 1), (12, 1027)],
        )
        .message(message(113, 10, 105, "boats", "/poll Which?\none\ntwo"), &[(10, 1), (11, 1)])
        .message(
            // The file that it linked to was deleted.
            with(message(114, 10, 107, "past", "@**all** *not* the same"), json!({"has_attachment": true})),
            &[(10, 17)],
        )
        .upload(40, "1/a7/YWJj/list.txt", b"oars", &[111])
        .custom_emoji(30, "anchor")
        .row(
            "zerver_reaction",
            json!({"id": 1, "user_profile": 10, "message": 112, "emoji_name": "octopus",
            "emoji_code": "1f419", "reaction_type": "unicode_emoji"}),
        )
        .row(
            "zerver_reaction",
            json!({"id": 2, "user_profile": 11, "message": 112, "emoji_name": "anchor",
            "emoji_code": "30", "reaction_type": "realm_emoji"}),
        );
    // A receiver whose row comes with a later file.
    archive.messages[1].1.push(super::archive::received(102, 14, 0));
    archive
}

/// The part of a report about links to other servers.
fn links_left_out(report: &Value) -> Vec<&Value> {
    let rows = report["left_out"].as_array().unwrap().iter();
    rows.filter(|row| row["what"].as_str().unwrap().starts_with("links to conversations at ")).collect()
}

/// The address of the server is in its archive, and others that it had are not.
#[test]
fn links_to_named_addresses_are_rewritten() {
    let import = Import::new("zulip");
    let text = "see [it](https://first.example/#narrow/channel/5-general)";
    Archive::new().message(message(101, 10, 105, "boats", text), &[(10, 1)]).write(&import);
    let rewritten = |report: &Value| report["others"]["messages with links to the old address"].clone();
    let report = import.run(&["--dry-run"]);
    let why = "if this was the old server, --old-url https://first.example rewrites them";
    let left_out = json!({"what": "links to conversations at first.example", "count": 1, "why": why});
    assert_eq!((rewritten(&report), links_left_out(&report)), (Value::Null, vec![&left_out]));
    let report = import.run(&["--dry-run", "--old-url", "https://first.example/"]);
    assert_eq!((rewritten(&report), links_left_out(&report).len()), (json!(1), 0));
}

/// Emails that all may see do not name the old server. Links to its files do. A wrong one, which anyone can write, changes no
/// other link to its host.
#[tokio::test]
async fn links_to_files_of_the_archive_name_the_old_server() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    archive.realm["zerver_userprofile"][1]["email"] = json!("bob@example.com");
    let texts = [
        "see [it](https://First.example:8443/#narrow/channel/5-general/near/102)",
        "the list: https://first.example:8443/user_uploads/1/a7/YWJj/list.txt.",
        "https://other.example/user_uploads/1/a7/YWJj/other.txt https://other.example/#narrow/channel/1-x",
        "https://shop.example/orders https://shop.example/user_uploads/1/a7/YWJj/list.txt",
    ];
    for (id, text) in (101..).zip(texts) {
        archive.message(message(id, 10, 105, "boats", text), &[(10, 1)]);
    }
    archive.upload(40, "1/a7/YWJj/list.txt", b"oars", &[102]).write(&import);
    let report = import.run(&[]);
    assert_eq!(report["others"]["messages with links to the old address"], 3, "{report}");
    let whats: Vec<&Value> = links_left_out(&report).iter().map(|row| &row["what"]).collect();
    assert_eq!(whats, ["links to conversations at other.example"]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let file = "[/useruploads/1/a7/YWJj/list.txt](/user_uploads/1/a7/YWJj/list.txt)";
    let expected = [
        "see [it](/#narrow/channel/5-general/near/102)".to_owned(),
        format!("the list: {file}."),
        texts[2].to_owned(),
        format!("https://shop.example/orders {file}"),
    ];
    assert_eq!(contents(&messages(&ada, json!([])).await), expected);
}

#[tokio::test]
async fn messages_keep_ids_dates_receivers_and_flags() {
    let import = Import::new("zulip");
    conversations().write(&import);
    let report = import.run(&[]);
    assert_eq!((&report["messages"], &report["attachments"]), (&json!(14), &json!(1)), "{report}");
    assert_eq!(report["others"]["messages with links to the old address"], 1);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let bob = client(&server, "bob@example.com").await;
    let cat = client(&server, "cat@example.com").await;

    let seen = messages(&ada, json!([])).await;
    assert_eq!(ids(&seen), (101..=114).collect::<Vec<_>>());
    for message in &seen {
        let id = message["id"].as_i64().unwrap();
        assert_eq!(message["timestamp"], TIME + id);
        assert_eq!(message["client"], "website");
    }
    assert_eq!(flags(&seen, 101), ["read"]);
    assert_eq!(flags(&seen, 102), [""; 0]);
    assert_eq!(flags(&seen, 105), [""; 0]);
    assert_eq!(flags(&seen, 110), [""; 0]);
    assert!(flags(&seen, 114).contains(&"stream_wildcard_mentioned"), "{seen:?}");
    assert_eq!(seen[1]["content"], "see [it](/#narrow/channel/5-general/near/101)");
    assert_eq!(seen[8]["subject"], "");

    // The moved message is readable for all, and was received by Ada alone. Of the private channel Bob received one message.
    let seen = messages(&bob, json!([{"operator": "channel", "operand": 5}])).await;
    assert_eq!(ids(&seen), [101, 102, 108, 109, 110, 111, 112, 113]);
    assert_eq!(flags(&seen, 101), ["mentioned"]);
    assert!(flags(&seen, 108).contains(&"historical"), "{seen:?}");
    assert_eq!(flags(&seen, 111), [""; 0]);
    let secret = messages(&bob, json!([{"operator": "channel", "operand": 6}])).await;
    assert_eq!(ids(&secret), [104]);
    assert_eq!(flags(&secret, 104), ["read", "starred"]);
    let starred = messages(&bob, json!([{"operator": "is", "operand": "starred"}])).await;
    assert_eq!(ids(&starred), [104]);
    let unread = messages(&bob, json!([{"operator": "is", "operand": "unread"}])).await;
    assert_eq!(ids(&unread), [101, 106, 110, 111]);
    let direct = messages(&bob, json!([{"operator": "is", "operand": "dm"}])).await;
    assert_eq!(contents(&direct), ["a word", "all of us"]);
    let with_ada = messages(&bob, json!([{"operator": "dm", "operand": [10]}])).await;
    assert_eq!(ids(&with_ada), [105]);
    let group = messages(&cat, json!([{"operator": "is", "operand": "dm"}])).await;
    assert_eq!(ids(&group), [106]);
    let found = messages(&bob, json!([{"operator": "search", "operand": "liked"}])).await;
    assert_eq!(ids(&found), [112]);
    let sender = messages(&ada, json!([{"operator": "sender", "operand": 9}])).await;
    assert_eq!(ids(&sender), [107, 110]);
    assert_eq!(sender[0]["sender_email"], "notification-bot@zulip.com");

    // What follows is numbered after the archive's messages, and reaches subscribers.
    let sent = ada
        .post("/messages", json!({"type": "channel", "to": "5", "topic": "boats", "content": "new"}))
        .await;
    assert_eq!(sent.ok()["id"], 115);
    let newest = messages(&bob, json!([{"operator": "channel", "operand": 5}])).await;
    assert_eq!(flags(&newest, 115), [""; 0]);
}

#[tokio::test]
async fn messages_keep_edits_reactions_files_and_widgets() {
    let import = Import::new("zulip");
    conversations().write(&import);
    let report = import.run(&[]);
    // Markdown in the content of messages that were written as they are.
    assert_eq!(report["rendered_differently"]["compared"], 13);
    let differing = report["rendered_differently"]["examples"].as_array().unwrap();
    assert!(differing.contains(&json!(101)) && !differing.contains(&json!(105)), "{report}");
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    ada.patch("/realm", json!({"message_edit_history_visibility_policy": "all"})).await.ok();
    let history = ada.get("/messages/109/history", ()).await.ok();
    let history = history["message_history"].as_array().unwrap();
    let texts: Vec<&str> = history.iter().map(|entry| entry["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["<b>one</b>", "two", "three"]);
    assert_eq!(history[0]["rendered_content"], "<p>&lt;b&gt;one&lt;/b&gt;</p>");
    let seen = messages(&ada, json!([])).await;
    let find = |id: i64| seen.iter().find(|message| message["id"] == id).unwrap();
    assert_eq!(find(109)["last_edit_timestamp"], TIME + 700);
    assert_eq!(find(108)["last_moved_timestamp"], TIME + 500);
    let move_of = &find(108)["edit_history"][0];
    assert_eq!((&move_of["prev_stream"], &move_of["stream"]), (&json!(7), &json!(5)));
    assert_eq!(move_of["prev_topic"], "x");
    let reactions = find(112)["reactions"].as_array().unwrap();
    let codes: Vec<&str> = reactions.iter().map(|one| one["emoji_code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["1f419", "30"]);
    assert!(find(113)["submessages"][0]["content"].as_str().unwrap().contains("Which?"));
    let bob = client(&server, "bob@example.com").await;
    let file = bob.request_outside(hyper::Method::GET, "/user_uploads/1/a7/YWJj/list.txt").send().await;
    assert_eq!((file.status, file.bytes.as_slice()), (200, &b"oars"[..]));
    let files = ada.get("/attachments", ()).await.ok();
    assert_eq!(files["attachments"][0]["messages"][0]["id"], 111);
    assert_eq!(files["upload_space_used"], 4);
    let with_files = messages(&ada, json!([{"operator": "has", "operand": "attachment"}])).await;
    assert_eq!(ids(&with_files), [111, 114]);
    let emoji = ada.get("/realm/emoji", ()).await.ok();
    assert_eq!(emoji["emoji"]["30"]["name"], "anchor");
    let rendered = ada.get("/messages/112", ()).await.ok();
    assert!(rendered["message"]["content"].as_str().unwrap().contains("/user_avatars/"), "{rendered}");
}

/// The files of mails to channels.
#[tokio::test]
async fn files_of_bots_of_the_server_arrive() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    archive.upload(40, "1/a/b/c.txt", b"oars", &[101]);
    archive.attachments[0]["owner"] = json!(9);
    archive.message(message(101, 9, 105, "boats", "[c](/user_uploads/1/a/b/c.txt)"), &[(10, 1)]);
    archive.write(&import);
    assert_eq!(import.run(&[])["attachments"], 1);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let file = ada.request_outside(hyper::Method::GET, "/user_uploads/1/a/b/c.txt").send().await;
    assert_eq!((file.status, file.bytes.as_slice()), (200, &b"oars"[..]));
}

/// Names and access have changed since the messages were sent. Their HTML in the archive says who was meant.
#[tokio::test]
async fn messages_refer_to_the_same_as_before() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    let as_before = |id: i64, sender: i64, recipient: i64, content: &str, html: &str| {
        with(message(id, sender, recipient, "boats", content), json!({"rendered_content": html}))
    };
    let html = [
        "<p><span class=\"user-mention\" data-user-id=\"11\">@Robert</span> \
         <span class=\"user-mention\" data-user-id=\"13\">@Dan</span> \
         <span class=\"user-group-mention\" data-user-group-id=\"20\">@paddlers</span></p>",
        "<p><a class=\"stream\" data-stream-id=\"6\" href=\"/#narrow/channel/6-secret\">#secret</a> \
         <a class=\"stream-topic\" data-stream-id=\"5\" \
         href=\"/#narrow/channel/5-lobby/topic/boats/with/101\">#lobby &gt; boats</a></p>",
        "<p><img alt=\":anchor:\" class=\"emoji\" src=\"/user_avatars/1/emoji/images/8cc56b92.png\" title=\"anchor\"></p>",
        "<p>@<strong>Cat</strong> #<strong>general</strong></p>",
    ];
    archive
        .custom_emoji(30, "anchor")
        .message(as_before(101, 10, 105, "@**Robert** @**Dan** @*paddlers*", html[0]), &[(10, 1)])
        .message(as_before(102, 9, 105, "#**secret** #**lobby>boats**", html[1]), &[(10, 1)])
        .message(as_before(103, 11, 105, ":anchor:", html[2]), &[(10, 1)])
        .message(as_before(104, 11, 105, "@**Cat** #**general**", html[3]), &[(10, 1)]);
    archive.realm["zerver_realmemoji"][0]["deactivated"] = json!(true);
    archive.realm["zerver_stream"][0]["description"] = json!(":anchor: #**past**");
    archive.realm["zerver_stream"][0]["rendered_description"] = json!(html[2].replace(
        "</p>",
        " <a class=\"stream\" data-stream-id=\"7\" href=\"/#narrow/channel/7-past\">#past</a></p>"
    ));
    archive.write(&import);
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    for (id, html) in (101..).zip(html) {
        assert_eq!(ada.message(id).await["content"], html, "{id}");
    }
    let general = ada.get("/streams/5", ()).await.ok();
    let html = general["stream"]["rendered_description"].as_str().unwrap();
    assert!(html.contains("class=\"emoji\"") && html.contains(">#past</a>"), "{html}");
}

#[tokio::test]
async fn scheduled_messages_and_linkifiers_arrive() {
    let import = Import::new("zulip");
    let mut archive = Archive::new();
    archive
        .row("zerver_realmfilter", json!({"id": 3, "realm": 1, "pattern": "#(?P<id>[0-9]+)",
            "url_template": "https://bugs.example/{id}", "order": 1}))
        .row("zerver_realmfilter", json!({"id": 4, "realm": 1, "pattern": "(", "url_template": "x", "order": 2}))
        .row("zerver_realmfilter", json!({"id": 6, "realm": 1, "pattern": "@(?P<id>[0-9]+)",
            "url_template": "https://bugs.example/{number}", "order": 3}))
        .row("zerver_customprofilefield", json!({"id": 4, "realm": 1, "name": "Page", "order": 1, "field_type": 5}))
        .row("zerver_customprofilefield", json!({"id": 5, "realm": 1, "name": "Account", "order": 2, "field_type": 7,
            "field_data": r#"{"subtype": "custom", "url_pattern": "javascript:eval('%(username)s')"}"#}))
        .row("zerver_customprofilefieldvalue", json!({"id": 1, "user_profile": 10, "field": 4, "value": "https://ada.example"}))
        .row("zerver_customprofilefieldvalue", json!({"id": 2, "user_profile": 11, "field": 4, "value": "javascript:eval(1)"}))
        .row("zerver_customprofilefieldvalue", json!({"id": 3, "user_profile": 10, "field": 5, "value": "ada"}))
        .row("zerver_realmplayground", json!({"id": 2, "realm": 1, "name": "Run", "pygments_language": "Rust",
            "url_template": "https://play.example/?code={code}"}))
        .row("zerver_realmplayground", json!({"id": 3, "realm": 1, "name": "Run here", "pygments_language": "Rust",
            "url_template": "javascript:eval({code})"}))
        .row("zerver_scheduledmessage", json!({"id": 8, "sender": 10, "recipient": 105, "subject": "later",
            "content": "not yet", "rendered_content": "<p>not yet</p>", "sending_client": 1, "stream": 5, "realm": 1,
            "scheduled_timestamp": START + 1000, "read_by_sender": true, "delivered": false,
            "delivered_message": null}))
        .message(message(101, 10, 105, "boats", "see #12"), &[(10, 1)])
        .row("zerver_unheard_of", json!({"id": 1}));
    archive.write(&import);
    let report = import.run(&[]);
    let left: Vec<&str> =
        report["left_out"].as_array().unwrap().iter().map(|left| left["what"].as_str().unwrap()).collect();
    assert!(left.contains(&"zerver_unheard_of"), "{report}");
    let linkifiers = left.iter().position(|what| *what == "linkifiers").unwrap();
    assert_eq!(report["left_out"][linkifiers]["count"], 2);
    for (what, count) in [("code playgrounds", 1), ("profile fields", 1), ("values of profile fields", 2)] {
        let at = left.iter().position(|left| *left == what).unwrap();
        assert_eq!(report["left_out"][at]["count"], count, "{what}");
    }
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let scheduled = ada.get("/scheduled_messages", ()).await.ok();
    let scheduled = &scheduled["scheduled_messages"][0];
    assert_eq!((&scheduled["scheduled_message_id"], &scheduled["to"]), (&json!(8), &json!(5)));
    assert_eq!(scheduled["content"], "not yet");
    assert_eq!(server.column("SELECT name FROM code_playground").await, ["Run"]);
    assert_eq!(server.column("SELECT name FROM profile_field").await, ["Page"]);
    assert_eq!(server.column("SELECT value FROM profile_value").await, ["https://ada.example"]);
    let seen = ada.get("/messages/101", ()).await.ok();
    assert_eq!(seen["message"]["content"], "<p>see <a href=\"https://bugs.example/12\">#12</a></p>");
}

#[test]
fn reports_are_readable() {
    let import = Import::new("zulip");
    conversations().write(&import);
    let printed = |arguments: &[&str]| {
        let done = import.run_on(&import.archive(), arguments);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    let dry = printed(&["--dry-run"]);
    assert!(dry.starts_with("Would import in ") && !dry.contains("In the database"), "{dry}");
    let done = printed(&["--password-links", "--public-url", "https://chat.example/"]);
    assert!(done.starts_with("Imported in ") && done.contains("In the database"), "{done}");
    assert!(done.contains("Owners and administrators of the archive:\n          owner  Ada <"), "{done}");
    assert!(done.contains("\nada@example.com\thttps://chat.example/join/password/"), "{done}");
}

#[tokio::test]
async fn packed_archives_are_imported_and_dry_runs_keep_nothing() {
    let import = Import::new("zulip");
    conversations().write(&import);
    let packed = import.folder.path().join("archive.tar.gz");
    let file = std::fs::File::create(&packed).unwrap();
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast()));
    tar.append_dir_all("archive", import.archive()).unwrap();
    tar.into_inner().unwrap().finish().unwrap();
    let dry = import.run(&["--dry-run"]);
    assert_eq!((&dry["dry_run"], &dry["messages"]), (&json!(true), &json!(14)));
    assert_eq!(import.left(), [""; 0]);
    // What a killed import left.
    std::fs::write(import.folder.path().join("chat.sqlite.importing"), "half").unwrap();
    std::fs::create_dir(import.folder.path().join("chat.sqlite.importing.d")).unwrap();
    let output = import.run_on(&packed, &["--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(import.left(), ["chat.sqlite"]);
    let again = import.run_on(&packed, &["--json"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("exists"), "{again:?}");
    let usage = import.run_on(&packed, &["--nonsense"]);
    assert_eq!(usage.status.code(), Some(2));
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    assert_eq!(messages(&ada, json!([])).await.len(), 14);
    assert!(!pictures::png(1, 1).is_empty());
}
