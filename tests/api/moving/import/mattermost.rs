//! Mattermost's bulk export.

use super::archive::with;
use super::{Import, client, left_out, messages, with_content};
use crate::harness::pictures;
use serde_json::{Value, json};

pub fn export(lines: &[Value]) -> Import {
    let import = Import::new("mattermost");
    let user = |name: &str, team_roles: &str, roles: &str| {
        json!({"type": "user", "user": {"username": name, "email": format!("{name}@example.com"),
            "first_name": name.to_uppercase(), "last_name": "X", "roles": roles, "teams": [{"name": "boats",
            "roles": team_roles, "channels": [{"name": "town-square", "roles": "channel_user"}]}]}})
    };
    let mut all = vec![
        json!({"type": "version", "version": 1}),
        json!({"type": "team", "team": {"name": "boats", "display_name": "Boat club"}}),
        json!({"type": "channel", "channel": {"team": "boats", "name": "town-square", "display_name": "Town Square",
            "type": "O", "header": "a header", "purpose": ""}}),
        json!({"type": "channel", "channel": {"team": "boats", "name": "secret", "display_name": "Secret", "type": "P",
            "header": "", "purpose": "hush"}}),
        user("ada", "team_user", "system_admin system_user"),
        user("bob", "team_user", "system_user"),
        user("cat", "team_guest", "system_guest"),
        json!({"type": "emoji", "emoji": {"name": "anchor", "image": "exported_emoji/anchor/image"}}),
    ];
    all.extend_from_slice(lines);
    let text: Vec<String> = all.iter().map(Value::to_string).collect();
    import.write("export.json", text.join("\n"));
    import.write("exported_emoji/anchor/image", pictures::png(64, 64));
    import.write("data/20240301/list.txt", "oars");
    import
}

/// A post of Ada, with these members.
pub fn post(other: Value) -> Value {
    let post = json!({"team": "boats", "channel": "town-square", "user": "ada", "message": "x",
        "create_at": 1_709_280_000_000_i64});
    json!({"type": "post", "post": with(post, other)})
}

#[tokio::test]
async fn posts_become_messages_by_time_with_replies_in_topics() {
    let import = export(&[
        json!({"type": "post", "post": {"team": "boats", "channel": "town-square", "user": "ada",
            "message": "When do we @bob row?", "create_at": 1_709_280_000_123_i64, "replies": [
                {"user": "bob", "message": "on Monday", "create_at": 1_709_290_000_000_i64,
                    "reactions": [{"user": "ada", "create_at": 1, "emoji_name": "anchor"}]}]}}),
        json!({"type": "post", "post": {"team": "boats", "channel": "town-square", "user": "cat",
            "message": "hi @all, mail me at x@ada", "create_at": 1_709_285_000_000_i64, "replies": null,
            "attachments": [{"path": "20240301/list.txt"}]}}),
        json!({"type": "direct_post", "direct_post": {"channel_members": ["ada", "bob"], "user": "bob",
            "message": "psst", "create_at": 1_709_270_000_000_i64}}),
    ]);
    let report = import.run(&[]);
    assert_eq!(
        (&report["users"], &report["channels"], &report["messages"], &report["attachments"]),
        (&json!(3), &json!(2), &json!(4), &json!(1)),
        "{report}"
    );
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    let texts = with_content(&seen, "subject");
    assert_eq!(texts[..2], [("", "psst"), ("When do we @bob row?", "When do we @**BOB X** row?")]);
    assert_eq!(texts[2].0, "imported from mattermost");
    assert!(
        texts[2].1.starts_with("hi @**all**, mail me at x@ada\n[list.txt](/user_uploads/1/"),
        "{texts:?}"
    );
    assert_eq!(texts[3], ("When do we @bob row?", "on Monday"));
    assert_eq!(seen[3]["reactions"][0]["emoji_name"], "anchor");
    let realm = ada.get("/server_settings", ()).await.ok();
    assert_eq!(realm["realm_name"], "Boat club");
    let users = ada.get("/users", ()).await.ok();
    let roles: Vec<i64> =
        users["members"].as_array().unwrap().iter().map(|user| user["role"].as_i64().unwrap()).collect();
    assert_eq!(roles, [100, 400, 600]);
}

/// The people of a direct post are in the order of the export, and may be there twice.
#[tokio::test]
async fn direct_posts_of_several_people_become_a_group() {
    let post = |user: &str, members: Value, time: i64| {
        json!({"type": "direct_post", "direct_post": {"channel_members": members, "user": user,
            "message": format!("from {user}"), "create_at": 1_709_280_000_000_i64 + time}})
    };
    let import = export(&[
        json!({"type": "direct_channel", "direct_channel": {"members": ["ada", "bob", "cat"]}}),
        post("cat", json!(["cat", "ada", "bob"]), 1000),
        post("bob", json!(["ada", "bob", "cat", "ada"]), 2000),
        post("ada", json!(["ada", "bob"]), 3000),
    ]);
    import.run(&[]);
    let server = import.serve().await;
    let (bob, cat) = (client(&server, "bob@example.com").await, client(&server, "cat@example.com").await);
    let group = messages(&cat, json!([])).await;
    let texts = with_content(&group, "subject");
    assert_eq!(texts, [("", "from cat"), ("", "from bob")]);
    assert_eq!(group[0]["display_recipient"].as_array().unwrap().len(), 3);
    assert_eq!(group[0]["recipient_id"], group[1]["recipient_id"]);
    assert_eq!(messages(&bob, json!([])).await.len(), 3);
}

#[tokio::test]
async fn channels_of_several_teams_have_their_names() {
    let post = |team: &str, time: i64| {
        post(
            json!({"team": team, "message": format!("in {team}"), "create_at": 1_709_280_000_000_i64 + time}),
        )
    };
    let import = export(&[
        json!({"type": "team", "team": {"name": "cars", "display_name": "Car club"}}),
        json!({"type": "channel", "channel": {"team": "cars", "name": "town-square", "display_name": "Town Square",
            "type": "O", "header": "", "purpose": ""}}),
        json!({"type": "user", "user": {"username": "dan", "email": "dan@example.com", "roles": "system_user",
            "teams": [{"name": "cars", "roles": "team_user team_admin", "channels": [{"name": "town-square"}]}]}}),
        post("cars", 1000),
        post("boats", 2000),
    ]);
    import.run(&[]);
    let server = import.serve().await;
    let query = "SELECT name FROM stream ORDER BY stream_id";
    let names = ["Boat club: Town Square", "Boat club: Secret", "Car club: Town Square"];
    assert_eq!(server.column(query).await, names);
    let query = "SELECT stream.name || ', ' || content FROM message JOIN recipient USING (recipient_id)
        JOIN stream USING (stream_id) ORDER BY id";
    let places = ["Car club: Town Square, in cars", "Boat club: Town Square, in boats"];
    assert_eq!(server.column(query).await, places);
    let query = "SELECT role FROM user WHERE delivery_email = 'dan@example.com'";
    assert_eq!(server.column(query).await, ["200"], "an owner is there already");
    let query = "SELECT full_name FROM subscription JOIN user USING (user_id) JOIN stream USING (stream_id)
        WHERE stream.name LIKE 'Car club%'";
    assert_eq!(server.column(query).await, ["dan"]);
}

#[tokio::test]
async fn posts_of_bots_are_kept_and_notices_left_out() {
    let post = |user: &str, time: i64, other: Value| {
        let own = json!({"user": user, "message": "", "create_at": 1_709_280_000_000_i64 + time});
        post(with(own, other))
    };
    let blocks =
        json!({"attachments": [{"title": "Build", "text": "passed for @ada"}, {"fallback": "more"}]});
    let import = export(&[
        post("deploy", 1, json!({"props": blocks})),
        json!({"type": "bot", "bot": {"username": "deploy", "display_name": "Deploy *Bot*", "owner": "ada"}}),
        json!({"type": "bot", "bot": {"username": "gone", "display_name": null, "owner": "eve", "delete_at": 5}}),
        post("bob", 2, json!({"type": "system_join_channel", "message": "bob joined"})),
        post("bob", 3, json!({"message": "keep this", "flagged_by": ["ada", "eve"]})),
        post("bob", 5, json!({"type": "me", "message": "*rows with `@ada`*"})),
        post("bob", 4, json!({"props": {}})),
        json!({"type": "direct_channel", "direct_channel": {"members": ["ada", "bob"]}}),
        json!({"type": "role", "role": {"name": "x"}}),
    ]);
    let report = import.run(&[]);
    assert_eq!((&report["users"], &report["messages"]), (&json!(5), &json!(3)), "{report}");
    let left: Vec<(&str, u64)> = report["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|left| (left["what"].as_str().unwrap(), left["count"].as_u64().unwrap()))
        .collect();
    assert_eq!(left, [("lines of the type role", 1), ("notices", 1), ("messages", 1)]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    assert_eq!(seen[0]["content"], "Build\npassed for @**ADA X**\n\nmore");
    assert_eq!(seen[0]["sender_full_name"], "Deploy Bot");
    assert_eq!(seen[1]["flags"], json!(["read", "starred"]));
    assert_eq!(seen[2]["content"], "/me rows with `@ada`");
    let users = ada.get("/users", ()).await.ok();
    let bots: Vec<(&str, bool, Option<i64>)> = users["members"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|user| user["is_bot"] == true)
        .map(|bot| {
            (bot["full_name"].as_str().unwrap(), bot["is_active"] == true, bot["bot_owner_id"].as_i64())
        })
        .collect();
    assert_eq!(bots, [("Deploy Bot", true, Some(ada.user_id)), ("gone", false, None)]);
}

/// Exports of `mmctl` have images of emoji beside the attachments. Exports of one team may lack the system administrators.
#[tokio::test]
async fn exports_of_one_team_have_owners() {
    let import = export(&[json!({"type": "emoji", "emoji": {"name": "buoy", "image": "emoji/1a/image"}})]);
    let text = std::fs::read_to_string(import.archive().join("export.json")).unwrap();
    let text = text.replacen("team_user", "team_admin", 1).replace("system_admin ", "");
    import.write("export.json", text);
    import.write("data/emoji/1a/image", pictures::png(64, 64));
    let report = import.run(&[]);
    assert_eq!(report["others"]["emoji"], 2, "{report}");
    let server = import.serve().await;
    let roles = server.column("SELECT role FROM user WHERE NOT is_system_bot ORDER BY user_id").await;
    assert_eq!(roles, ["100", "400", "600"]);
}

/// The only system administrator is deactivated.
#[tokio::test]
async fn administrators_of_teams_own_an_organization_without_active_administrators() {
    let import = export(&[]);
    let text = std::fs::read_to_string(import.archive().join("export.json")).unwrap();
    let changed = text.lines().map(|line| {
        let mut line: Value = line.parse().unwrap();
        let name = line["user"]["username"].as_str().map(str::to_owned);
        match name.as_deref() {
            Some("ada") => line["user"]["delete_at"] = json!(1_709_000_000_000_i64),
            Some("bob") => line["user"]["teams"][0]["roles"] = json!("team_user team_admin"),
            _ => {}
        }
        line.to_string()
    });
    import.write("export.json", changed.collect::<Vec<_>>().join("\n"));
    import.run(&[]);
    let server = import.serve().await;
    let people = "SELECT role || ' ' || is_active FROM user WHERE NOT is_system_bot ORDER BY user_id";
    assert_eq!(server.column(people).await, ["100 0", "100 1", "600 1"]);
}

#[tokio::test]
async fn channels_of_a_team_without_a_title_have_its_name() {
    let import = export(&[
        json!({"type": "team", "team": {"name": "cars", "display_name": ""}}),
        json!({"type": "channel", "channel": {"team": "cars", "name": "garage", "display_name": "Garage", "type": "O"}}),
    ]);
    import.run(&[]);
    let server = import.serve().await;
    let names = server.column("SELECT name FROM stream ORDER BY stream_id").await;
    assert_eq!(names, ["Boat club: Town Square", "Boat club: Secret", "cars: Garage"]);
}

/// Exports of the old command line, which have no `data` folder, may have any name.
#[test]
fn a_folder_of_emoji_is_not_the_archive() {
    let import = export(&[]);
    let archive = import.archive();
    std::fs::rename(archive.join("export.json"), archive.join("town.jsonl")).unwrap();
    std::fs::remove_dir_all(archive.join("data")).unwrap();
    assert_eq!(import.run(&[])["others"]["emoji"], 1);
}

/// The folder may have other files of this kind.
#[test]
fn the_file_of_lines_may_be_given() {
    let import = export(&[post(json!({"attachments": [{"path": "20240301/list.txt"}]}))]);
    import.write("other.json", "{}");
    let error = import.refused(&import.archive());
    assert!(error.starts_with("an export has one file of lines"), "{error}");
    let report = import.report_on(&import.archive().join("export.json"), &[]);
    assert_eq!((&report["messages"], &report["attachments"]), (&json!(1), &json!(1)), "{report}");
}

/// Posts are read again, at their place in the file.
#[tokio::test]
async fn an_export_may_begin_with_a_byte_order_mark() {
    let import = export(&[post(json!({"message": "hello"}))]);
    let text = std::fs::read_to_string(import.archive().join("export.json")).unwrap();
    import.write("export.json", format!("\u{feff}{text}"));
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    assert_eq!(messages(&ada, json!([])).await[0]["content"], "hello");
}

/// Programs of macOS write letters and their marks separately.
#[tokio::test]
async fn names_of_files_may_be_decomposed() {
    let import = export(&[post(json!({"message": "", "attachments": [{"path": "1/b\u{f6}jen.txt"}]}))]);
    import.write("data/1/bo\u{308}jen.txt", "wind");
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let content = messages(&ada, json!([])).await[0]["content"].clone();
    assert!(content.as_str().unwrap().starts_with("[b\u{f6}jen.txt](/user_uploads/1/"), "{content}");
}

#[tokio::test]
async fn blocks_are_added_to_the_text_of_a_post() {
    let fields = json!([{"title": "Branch", "value": "main", "short": true}, {"title": "Tries", "value": 3}]);
    let links = json!({"title": "the [log]", "title_link": "https://ci.example/7(1)",
        "image_url": "https://ci.example/7.png", "fallback": "not this"});
    let blocks =
        json!([{"title": "Build", "text": "passed", "fields": fields}, links, {"fallback": "deployed"}]);
    let import = export(&[post(json!({"message": "deployed", "props": {"attachments": blocks}}))]);
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let expected = "deployed\n\nBuild\npassed\n**Branch**: main\n**Tries**: 3\n\n\
                    [the log](https://ci.example/7%281%29)\nhttps://ci.example/7.png";
    assert_eq!(messages(&ada, json!([])).await[0]["content"], expected);
}

/// Accounts that were deleted for good are not among the people of an export.
#[tokio::test]
async fn posts_of_people_who_are_not_in_the_export_are_kept() {
    let direct = json!({"channel_members": ["ada", "fay"], "user": "ada", "message": "psst",
        "create_at": 1_709_280_000_009_i64});
    let reply = json!({"user": "guy", "message": "so long", "create_at": 1_709_280_000_002_i64});
    let import = export(&[
        post(json!({"user": "eve", "message": "good bye", "replies": [reply]})),
        post(
            json!({"reactions": [{"user": "eve", "emoji_name": "tada"}, {"user": "hal", "emoji_name": "tada"}],
            "create_at": 1_709_280_000_005_i64}),
        ),
        json!({"type": "direct_post", "direct_post": direct}),
    ]);
    let report = import.run(&[]);
    assert_eq!((&report["users"], &report["messages"]), (&json!(7), &json!(4)), "{report}");
    let why = "these people are in posts, but not in the export; they are deactivated";
    let left_out = json!({"what": "accounts", "count": 4, "why": why});
    assert!(report["left_out"].as_array().unwrap().contains(&left_out), "{report}");
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    let sent = with_content(&seen, "sender_full_name");
    assert_eq!(sent, [("eve", "good bye"), ("guy", "so long"), ("ADA X", "x"), ("ADA X", "psst")]);
    assert_eq!(seen[2]["reactions"].as_array().unwrap().len(), 2);
    let query = "SELECT full_name FROM user WHERE NOT is_active AND NOT is_system_bot ORDER BY full_name";
    assert_eq!(server.column(query).await, ["eve", "fay", "guy", "hal"]);
}

/// Mattermost goes on with an export if its store of files lacks one.
#[tokio::test]
async fn files_that_the_export_lacks_are_left_out() {
    let long = format!("1/{}.txt", "x".repeat(300));
    let import = export(&[
        post(json!({"attachments": [{"path": "gone.txt"}, {"path": "20240301/list.txt"}]})),
        post(json!({"message": "", "attachments": [{"path": long}]})),
        json!({"type": "emoji", "emoji": {"name": "buoy", "image": "exported_emoji/gone/image"}}),
    ]);
    let report = import.run(&[]);
    assert_eq!((&report["messages"], &report["attachments"]), (&json!(1), &json!(1)), "{report}");
    assert_eq!(report["others"]["emoji"], 1, "{report}");
    let left = report["left_out"].as_array().unwrap();
    let why = "the export names them, and does not have them";
    for (what, count) in [("files", 2), ("emoji", 1)] {
        assert!(left.contains(&json!({"what": what, "count": count, "why": why})), "{report}");
    }
    assert!(left.contains(&json!({"what": "messages", "count": 1, "why": "they are empty"})), "{report}");
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let content = messages(&ada, json!([])).await[0]["content"].clone();
    assert!(content.as_str().unwrap().starts_with("x\n[list.txt](/user_uploads/1/"), "{content}");
}

/// People who left all teams have no roles in teams.
#[tokio::test]
async fn guests_without_teams_stay_guests() {
    let user = |name: &str, roles: &str| {
        let email = format!("{name}@example.com");
        json!({"type": "user", "user": {"username": name, "email": email, "roles": roles, "teams": null}})
    };
    let import = export(&[user("dan", "system_guest"), user("eve", "system_user")]);
    import.run(&[]);
    let server = import.serve().await;
    let roles = "SELECT role FROM user WHERE full_name IN ('dan', 'eve') ORDER BY full_name";
    assert_eq!(server.column(roles).await, ["600", "400"]);
}

#[tokio::test]
async fn images_of_people_and_bots_are_taken() {
    let user = |name: &str, image: &str| {
        json!({"type": "user", "user": {"username": name, "email": format!("{name}@example.com"), "roles": "system_user",
            "profile_image": image}})
    };
    let import = export(&[
        user("dan", "users/1/profile.png"),
        user("eve", "users/gone/profile.png"),
        user("fay", ""),
        json!({"type": "bot", "bot": {"username": "deploy", "profile_image": "data/users/2/profile.png"}}),
    ]);
    for number in 1..=2 {
        import.write(&format!("data/users/{number}/profile.png"), pictures::png(90, 90));
    }
    let report = import.run(&[]);
    let why = "the export names them, and does not have them";
    assert_eq!(left_out(&report, "avatars"), [(1, why)]);
    let server = import.serve().await;
    let query =
        "SELECT full_name FROM user WHERE avatar_key IS NOT NULL AND NOT is_system_bot ORDER BY full_name";
    assert_eq!(server.column(query).await, ["dan", "deploy"]);
}

#[test]
fn broken_lines_are_named() {
    let import = export(&[post(json!({"channel": "nowhere"}))]);
    assert_eq!(import.refused(&import.archive()), "export.json:9: there is no channel nowhere before it");
    let import = export(&[json!({"type": "post", "post": {"message": 7}})]);
    assert!(import.refused(&import.archive()).starts_with("export.json:9: "));
}
