//! `teamchat user purge --all`: the tables whose rows it removes.

use crate::harness::{Client, START, TestServer, pictures};
use crate::program::run;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Output;
use teamchat::commands::{Command, Place, Purge, Purged};
use teamchat::domain::purge::Kind;

/// Tables with rows of a person, each with their column, and whether the purge removes these rows.
const TABLES: &[(&str, &str, Outcome)] = &[
    ("alert_word", "user_id", Removed),
    ("attachment", "user_id", Removed),
    ("bot_storage", "user_id", Removed),
    ("draft", "user_id", Removed),
    ("message", "sender_id", Removed),
    ("navigation_view", "user_id", Removed),
    ("profile_value", "user_id", Removed),
    ("realm_emoji", "author_id", Removed),
    ("reminder", "user_id", Removed),
    ("saved_snippet", "user_id", Removed),
    ("scheduled_message", "sender_id", Removed),
    ("stream", "creator_id", Removed),
    ("user_group", "creator_id", Removed),
    ("user_status", "user_id", Removed),
    ("api_key", "user_id", Kept("the account stays; deactivating it ends it")),
    ("bot", "user_id", Kept("bots are deactivated, and messages refer to them")),
    ("channel_email", "asker_id", Kept("addresses of channels; deactivating the account ends their use")),
    ("channel_folder", "creator_id", Kept("made by administrators, and used by channels of others")),
    ("confirmation", "user_id", Kept("a digest and an address, for a day")),
    ("direct_participant", "user_id", Kept("conversations of others, without text")),
    ("event_queue", "user_id", Kept("the account stays; it gets the events of the purge")),
    ("identity", "user_id", Kept("the account stays; a subject at a provider is a login like a password")),
    (
        "invite",
        "invited_by_user_id",
        Kept("administrators see and revoke them; deactivating the account revokes them"),
    ),
    ("known_login", "user_id", Kept("digests of addresses, for the security of the account")),
    ("digest", "user_id", Kept("no text")),
    ("mail_held", "user_id", Kept("no text; ends with a check within minutes")),
    ("mail_message", "edited_by", Kept("no text; ends with the decision after the commit")),
    ("message_edit", "user_id", Kept("edits of messages of others, whose texts these are")),
    ("missed_batch", "user_id", Kept("no text; ends with the letters about it")),
    ("muted_user", "user_id", Kept("no text")),
    ("onboarding_step", "user_id", Kept("no text")),
    (
        "outgoing_mail",
        "user_id",
        Kept("letters to the person, sent or dropped soon; deactivating the account drops them"),
    ),
    ("outgoing_webhook", "bot_id", Kept("no text, and delivered or dropped soon")),
    ("password_reset", "user_id", Kept("a digest; the account stays")),
    ("presence", "user_id", Kept("no text")),
    ("push_device", "user_id", Kept("tokens of phones; deactivating the account ends them")),
    ("push_held", "user_id", Kept("no text; ends with a check within minutes")),
    ("push_message", "edited_by", Kept("no text; ends with the decision after the commit")),
    (
        "push_subscription",
        "user_id",
        Kept("no text; browsers end with their sessions, phones with their keys"),
    ),
    ("reaction", "user_id", Kept("part of messages of others")),
    ("read_chunk", "user_id", Kept("no text")),
    ("read_state", "user_id", Kept("no text")),
    ("realm_export", "acting_user_id", Kept("exports of the organization, made by administrators")),
    ("recipient", "created_by", Kept("conversations of others, without text")),
    ("reply_email", "user_id", Kept("digests, removed with the messages")),
    ("sent_name", "sender_id", Kept("digests, removed with the messages")),
    ("session", "user_id", Kept("the account stays; deactivating it ends them")),
    ("submessage", "sender_id", Kept("votes and answers, part of messages of others")),
    ("subscription", "user_id", Kept("no text")),
    ("subscription_span", "user_id", Kept("no text")),
    ("unsubscribe_key", "user_id", Kept("the key of links in letters, for the account that stays")),
    ("upload_content", "user_id", Kept("unfinished uploads, which are removed when they time out")),
    ("user", "user_id", Kept("the account: name, email and image")),
    ("user_group_member", "user_id", Kept("no text")),
    ("user_message_flags", "user_id", Kept("no text")),
    ("user_setting", "user_id", Kept("choices from lists, for the account that stays")),
    ("user_topic", "user_id", Kept("names of topics of channels, most of them of others")),
    ("welcome_text", "user_id", Kept("a text of administrators, sent or dropped soon")),
];

/// A decision about the rows of a person.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Removed,
    /// With the reason.
    Kept(&'static str),
}

use Outcome::{Kept, Removed};

/// Deactivates the person, and runs the command to its end.
async fn purge(server: &TestServer, email: &str, kinds: &[Kind]) -> Purged {
    server.command(Command::SetActive { email: email.to_owned(), is_active: false }).await;
    let mut place = Some(Place { kind: kinds[0], from: 0 });
    let mut purged = Purged::default();
    while place.is_some() {
        let purge = Purge { email: email.to_owned(), kinds: kinds.to_vec(), invited: false, place };
        let part: Purged = serde_json::from_value(server.command(Command::Purge(purge)).await).unwrap();
        for (what, count) in part.counts {
            *purged.counts.entry(what).or_default() += count;
        }
        place = part.next;
    }
    purged
}

/// Creates rows of each table of which the purge removes rows.
async fn populate(server: &TestServer, owner: &Client, ada: &Client, general: i64) {
    let later = START + 90 * 24 * 60 * 60;
    let message = ada.send(general, "soup", "xqtext").await;
    ada.post("/users/me/alert_words", json!({"alert_words": ["xqtext"]})).await.ok();
    let upload =
        ada.request(Method::POST, "/user_uploads").multipart((), &[("file", "xqtext.txt", b"xqtext")]);
    upload.send().await.ok();
    let draft = json!({"type": "stream", "to": [general], "topic": "xqtext", "content": "xqtext"});
    ada.post("/drafts", json!({"drafts": [draft]})).await.ok();
    let view = json!({"fragment": "narrow/xqtext", "is_pinned": true, "name": "xqtext"});
    ada.post("/navigation_views", view).await.ok();
    let field =
        owner.post("/realm/profile_fields", json!({"name": "Likes", "field_type": 1})).await.ok()["id"]
            .clone();
    ada.patch("/users/me/profile_data", json!({"data": [{"id": field, "value": "xqtext"}]})).await.ok();
    let image = pictures::png(8, 8);
    let emoji = ada.request(Method::POST, "/realm/emoji/xqtext").multipart((), &[("file", "a.png", &image)]);
    emoji.send().await.ok();
    let reminder = json!({"message_id": message, "note": "xqtext", "scheduled_delivery_timestamp": later});
    ada.post("/reminders", reminder).await.ok();
    ada.post("/saved_snippets", json!({"title": "xqtext", "content": "xqtext"})).await.ok();
    let scheduled = json!({"type": "channel", "to": general, "topic": "xqtext", "content": "xqtext",
        "scheduled_delivery_timestamp": later});
    ada.post("/scheduled_messages", scheduled).await.ok();
    let channel = json!({"name": "xqtext", "description": "xqtext", "subscribers": [ada.user_id]});
    ada.post("/channels/create", channel).await.ok();
    let group = json!({"name": "xqtext", "description": "xqtext", "members": [ada.user_id]});
    ada.post("/user_groups/create", group).await.ok();
    ada.post("/users/me/status", json!({"status_text": "xqtext", "emoji_name": "tada"})).await.ok();
    let bot = server.bot("helper", ada).await;
    let storage = bot.request(Method::PUT, "/bot_storage").form(json!({"storage": {"xqtext": "xqtext"}}));
    storage.send().await.ok();
}

/// The number of rows of accounts in a table.
async fn rows(server: &TestServer, table: &str, column: &str, accounts: &str) -> i64 {
    let query = format!("SELECT count(*) FROM \"{table}\" WHERE {column} IN ({accounts})");
    server.column(&query).await[0].parse().unwrap()
}

#[tokio::test]
async fn a_purge_removes_or_keeps_the_rows_of_each_table() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let general = server.channel("general", &[&owner, &ada]).await;
    populate(&server, &owner, &ada, general).await;
    let accounts = format!("SELECT user_id FROM user WHERE {} IN (user_id, bot_owner_id)", ada.user_id);

    let tables = "SELECT DISTINCT t.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c
        WHERE t.schema = 'main' AND t.type = 'table' AND (c.name IN ('user_id', 'sender_id')
            OR EXISTS (SELECT 1 FROM pragma_foreign_key_list(t.name) k WHERE k.\"table\" = 'user'))";
    let found: BTreeSet<String> = server.column(tables).await.into_iter().collect();
    let decided: BTreeSet<String> = TABLES.iter().map(|(table, ..)| (*table).to_owned()).collect();
    assert_eq!(found, decided, "decide in TABLES what a purge does with the rows of a new table");

    for (table, column, outcome) in TABLES {
        let before = rows(&server, table, column, &accounts).await;
        assert!(before > 0 || *outcome != Removed, "the test has no rows of {table}");
    }
    purge(&server, &ada.email, &Kind::ALL).await;
    for (table, column, outcome) in TABLES {
        if let Kept(reason) = outcome {
            assert!(!reason.is_empty(), "{table}");
            continue;
        }
        let left = match *table {
            // A row without text stays for a status that was set once.
            "user_status" => {
                let text = "SELECT count(*) FROM user_status WHERE status_text || emoji_name <> ''";
                server.column(text).await[0].parse().unwrap()
            }
            _ => rows(&server, table, column, &accounts).await,
        };
        assert_eq!(left, 0, "{table}");
    }
}

#[tokio::test]
async fn the_events_about_purged_texts_reproduce_the_state() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let general = server.channel("general", &[&owner, &ada]).await;
    populate(&server, &owner, &ada, general).await;
    let purged = server
        .check_state_sync(&[&owner], async || purge(&server, &ada.email, &[Kind::Personal]).await)
        .await;
    for what in [
        "alert_words",
        "bot_storage_entries",
        "drafts",
        "navigation_views",
        "profile_values",
        "reminders",
        "saved_snippets",
        "scheduled_messages",
        "statuses",
    ] {
        assert_eq!(purged.counts.get(what), Some(&1), "{what}: {:?}", purged.counts);
    }
}

#[tokio::test]
async fn drafts_for_a_purged_channel_lose_their_recipient() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let channel = json!({"name": "flood", "subscribers": [ada.user_id, bob.user_id]});
    let channel = ada.post("/channels/create", channel).await.ok()["id"].clone();
    let draft = json!({"type": "stream", "to": [channel], "topic": "soup", "content": "half a senten"});
    let id = bob.post("/drafts", json!({"drafts": [draft]})).await.ok()["ids"][0].clone();
    let mut queue = bob.register(json!({"event_types": ["drafts"]})).await;
    let purged =
        server.check_state_sync(&[&bob], async || purge(&server, &ada.email, &[Kind::Channels]).await).await;
    assert_eq!(purged.counts["channels"], 1);
    let changed = json!({"type": "drafts", "op": "update",
        "draft": {"id": id, "type": "", "to": [], "topic": "", "content": "half a senten", "timestamp": START}});
    queue.expect(&[changed]).await;
}

/// An organization beyond its limits, as an older version let it grow, is within them again after a purge.
#[tokio::test]
async fn a_purge_brings_an_organization_back_within_its_limits() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    // Others have all but one that members may have together, and Ada has four beyond that.
    for (of_others, into) in [
        (3999, "stream (date_created, name, name_key, creator_id) SELECT 0, 'c' || number, 'c' || number"),
        (1999, "realm_emoji (is_animated, name, file, author_id) SELECT 0, 'e' || number, number"),
        (
            999,
            "user_group (kind, date_created, name, name_key, creator_id) SELECT 'named', 0, 'g' || number, 'g' || number",
        ),
    ] {
        for (from, to, user_id) in [(1, of_others, bob.user_id), (of_others + 1, of_others + 4, ada.user_id)]
        {
            let numbers = format!("SELECT {from} UNION ALL SELECT number + 1 FROM one WHERE number < {to}");
            let fill =
                format!("WITH RECURSIVE one (number) AS ({numbers}) INSERT INTO {into}, {user_id} FROM one");
            server.sql(&fill).await;
        }
    }
    server
        .sql(
            "INSERT INTO recipient (stream_id) SELECT stream_id FROM stream
             WHERE stream_id NOT IN (SELECT stream_id FROM recipient WHERE stream_id IS NOT NULL)",
        )
        .await;
    let make = async || {
        let channel = json!({"name": "new", "subscribers": []});
        let group = json!({"name": "new", "description": "", "members": []});
        let image = pictures::png(8, 8);
        let emoji =
            cleo.request(Method::POST, "/realm/emoji/our_own").multipart((), &[("file", "a.png", &image)]);
        [
            cleo.post("/channels/create", channel).await,
            emoji.send().await,
            cleo.post("/user_groups/create", group).await,
        ]
        .map(|answer| answer["msg"].as_str().unwrap_or_default().to_owned())
    };
    let full =
        ["channels", "custom emoji", "groups"].map(|what| format!("Too many {what} in the organization"));
    for (found, full) in make().await.iter().zip(full) {
        assert!(found.starts_with(&full), "{found}");
    }
    let purged = purge(&server, &ada.email, &[Kind::Channels, Kind::Emoji, Kind::Groups]).await;
    assert_eq!(["channels", "emoji", "groups"].map(|what| purged.counts[what]), [4; 3]);
    assert_eq!(make().await, [""; 3]);
}

/// A purge removes the content of one user while others keep working, and informs them.
#[cfg(unix)]
#[tokio::test]
async fn purge_deletes_content_of_a_user() {
    let mut server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let helper = server.bot("helper", &ada).await;
    let general = server.channel("general", &[&owner, &ada, &bob]).await;
    let create = async |client: &crate::harness::Client, name: &str| {
        let subscribers = [bob.user_id, ada.user_id];
        let people = json!({"direct_members": subscribers, "direct_subgroups": []});
        let form = json!({"name": name, "subscribers": subscribers, "can_send_message_group": people});
        client.post("/channels/create", form).await.ok()["id"].as_i64().unwrap()
    };
    let flood = create(&ada, "flood").await;
    let shared = create(&ada, "shared").await;
    let of_bot = create(&helper, "robots").await;
    for number in 0..3 {
        ada.send(flood, "spam", &format!("spam {number}")).await;
    }
    ada.send(shared, "topic", "spam").await;
    let file = ada.request(Method::POST, "/user_uploads");
    let file = file.multipart((), &[("file", "a.txt", b"spam".as_slice())]).send().await.ok();
    let link = format!("[spam]({})", file["url"].as_str().unwrap());
    ada.send(general, "topic", &link).await;
    // A file that a message of another user links to is not deleted with the messages.
    let kept = bob.send(shared, "topic", &link).await;
    ada.send_direct(&[&bob], "spam").await;
    let image = pictures::png(8, 8);
    for name in ["plain", "shown"] {
        let request = ada.request(Method::POST, &format!("/realm/emoji/{name}"));
        request.multipart((), &[("file", "a.png", &image)]).send().await.ok();
    }
    bob.post(&format!("/messages/{kept}/reactions"), json!({"emoji_name": "shown"})).await.ok();
    for name in ["crowd", "team"] {
        let group = json!({"name": name, "description": "", "members": [ada.user_id, bob.user_id]});
        let id = ada.post("/user_groups/create", group).await.ok()["group_id"].clone();
        if name == "team" {
            let value = json!({"can_send_message_group": {"new": id}});
            owner.patch(&format!("/streams/{general}"), value).await.ok();
        }
    }
    let queue = bob.register(json!({"event_types": ["stream", "realm_emoji"]})).await;

    let program = async |arguments: &[&str]| {
        let database = server.database();
        let arguments: Vec<String> = ["user", "purge", "--email", "ada@example.com"]
            .iter()
            .chain(arguments)
            .map(|argument| (*argument).to_owned())
            .collect();
        let done = tokio::task::spawn_blocking(move || {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            run(&database, &arguments)
        });
        done.await.unwrap()
    };
    let json_of = |output: &Output| -> Value {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let error_of = |output: &Output| {
        assert!(!output.status.success());
        String::from_utf8(output.stderr.clone()).unwrap()
    };
    let unused = program(&[]).await;
    let refused = error_of(&unused);
    assert_eq!(unused.status.code(), Some(2), "{refused}");
    assert!(refused.contains("choose the content to remove: --all, or --messages"), "{refused}");
    let refused = error_of(&program(&["--emoji", "--bots"]).await);
    assert_eq!(refused, "error: nothing was removed; --yes removes 1 bots, 2 emoji of 2 accounts\n");
    let mut found = json!({"bots": 1, "channels": 3, "emoji": 2, "files": 1, "groups": 2, "messages": 6,
        "personal_texts": 0});
    let planned = json_of(&program(&["--all", "--dry-run", "--json"]).await);
    assert_eq!(planned, json!({"accounts": 2, "found": found}));

    // A person who could go on writing keeps everything but bots.
    let active =
        "ada@example.com is active: run 'teamchat user deactivate --email ada@example.com' before the purge";
    for (more, command) in
        [(None, active.to_owned()), (Some("--invited"), active.replace("' b", " --invited' b"))]
    {
        let arguments: Vec<&str> = ["--all", "--yes"].into_iter().chain(more).collect();
        let refused = error_of(&program(&arguments).await);
        assert!(refused.contains(&command), "{refused}");
    }
    let bots = json_of(&program(&["--bots", "--yes", "--json"]).await);
    assert_eq!(bots["removed"], json!({"bots": 1}));
    assert_eq!(json_of(&program(&["--messages", "--dry-run", "--json"]).await)["found"]["messages"], 6);
    server.command(Command::SetActive { email: ada.email.clone(), is_active: false }).await;

    found["bots"] = json!(0);
    let done = json_of(&program(&["--all", "--yes", "--json"]).await);
    let removed = json!({"channels": 2, "channels_archived": 1, "emoji": 1, "emoji_deactivated": 1,
        "files": 1, "groups": 1, "groups_in_use": 1, "messages": 6});
    assert_eq!(done, json!({"accounts": 2, "found": found, "removed": removed}));
    let poll = json!({"queue_id": queue.queue_id, "last_event_id": queue.last_event_id, "dont_block": true});
    let events = bob.get("/events", poll).await.ok()["events"].clone();
    let gone = events.as_array().unwrap().iter().filter(|event| event["op"] == "delete");
    let gone: Vec<&Value> = gone.map(|event| &event["stream_ids"][0]).collect();
    assert_eq!(json!(gone), json!([flood, shared, of_bot]));
    assert!(events.as_array().unwrap().iter().any(|event| event["type"] == "realm_emoji"));
    let capabilities = json!({"archived_channels": true, "include_deactivated_groups": true});
    let state = bob.post("/register", json!({"client_capabilities": capabilities})).await.ok();
    let names = |list: &Value, name: &str| -> Vec<String> {
        let list: Vec<&Value> = match list {
            Value::Object(by_id) => by_id.values().collect(),
            list => list.as_array().unwrap().iter().collect(),
        };
        list.iter().map(|one| one[name].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&state["subscriptions"], "name"), ["general", "shared"]);
    assert!(
        names(&state["never_subscribed"], "name").is_empty()
            && names(&state["unsubscribed"], "name").is_empty()
    );
    assert_eq!(names(&state["realm_emoji"], "name"), ["shown"]);
    let groups = names(&state["realm_user_groups"], "name");
    assert!(groups.contains(&"team".to_owned()) && !groups.contains(&"crowd".to_owned()), "{groups:?}");
    assert!(bob.message(kept).await["content"].as_str().unwrap().contains("spam"));
    assert_eq!(server.column("SELECT count(*) FROM attachment").await, ["0"]);
    helper.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Account is deactivated");
    assert_eq!(server.column("SELECT count(*) FROM pragma_foreign_key_check").await, ["0"]);
    // Names are free again.
    owner.post("/channels/create", json!({"name": "flood", "subscribers": [owner.user_id]})).await.ok();

    server.stop().await;
    let database = server.database();
    let left = ["user", "purge", "--email", "ada@example.com", "--all", "--yes", "--json"];
    let left = json_of(&run(&database, &left));
    assert_eq!(left["removed"], json!({"emoji_deactivated": 1, "groups_in_use": 1}));
}
