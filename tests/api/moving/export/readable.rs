//! Exports that people read: the data of one person, and static archives of channels.

use crate::harness::TestServer;
use crate::harness::pictures::png;
use crate::upgrades::populate::populate;
use crate::uploads::upload;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

fn run(db: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamchat"));
    command.arg("export").args(arguments).arg("--db").arg(db).arg("--json").output().unwrap()
}

/// Runs a command that succeeds and returns its report.
fn export(db: &Path, arguments: &[&str]) -> Value {
    let done = run(db, arguments);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

/// All files below a folder, by their path.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned());
            }
        }
    }
    found
}

#[tokio::test]
async fn the_data_of_a_person_has_all_parts_and_no_secrets() {
    let (server, clients, _) = populate().await;
    let ada = &clients[1];
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("ada");
    let report = export(&server.database(), &["person", &ada.email, out.to_str().unwrap()]);
    let found = files(&out);
    let data: Value = serde_json::from_str(&found["data.json"]).unwrap();
    assert_eq!(data["account"][0]["delivery_email"], json!(ada.email));
    for (part, rows) in data.as_object().unwrap() {
        // Of Ada there is everything but these.
        let is_empty = [
            "account_changes",
            "audit_log",
            "confirmation",
            "edits",
            "emoji",
            "invitations",
            "onboarding_steps",
        ]
        .contains(&part.as_str());
        assert!(!rows.as_array().unwrap().is_empty() || is_empty, "{part}");
    }
    let messages: Vec<Value> = serde_json::from_str(&found["messages.json"]).unwrap();
    assert_eq!(report["messages"], messages.len());
    let query = format!(
        "SELECT count(*) FROM (SELECT id FROM message WHERE sender_id = {0} UNION
             SELECT id FROM message JOIN direct_participant USING (recipient_id) WHERE user_id = {0})",
        ada.user_id
    );
    assert_eq!(server.column(&query).await, [messages.len().to_string()]);
    let uploaded =
        server.column(&format!("SELECT path_id FROM attachment WHERE user_id = {}", ada.user_id)).await;
    for path in &uploaded {
        assert!(found.contains_key(&format!("files/{path}")), "{path}");
    }
    assert_eq!(report["files"], uploaded.len());
    let query = format!(
        "SELECT length(content) FROM user JOIN public_image ON path = format('%016x-medium.png', avatar_key)
         WHERE user_id = {}",
        ada.user_id
    );
    let avatar = std::fs::read(out.join("avatar.png")).unwrap();
    assert_eq!(server.column(&query).await, [avatar.len().to_string()]);
    assert!(found["index.html"].contains("src=\"avatar.png\""));
    assert!(found["index.html"].contains("<h2>Channels</h2>") && found.contains_key("messages-0001.html"));

    let mut secrets = server.column("SELECT api_key FROM bot WHERE api_key IS NOT NULL").await;
    secrets.extend(server.column("SELECT token FROM bot WHERE token IS NOT NULL").await);
    secrets.extend(server.column("SELECT password_hash FROM user WHERE password_hash IS NOT NULL").await);
    secrets.extend(server.column("SELECT endpoint FROM push_subscription WHERE endpoint IS NOT NULL").await);
    secrets.extend(server.column("SELECT token FROM push_device").await);
    secrets.extend(server.column("SELECT token FROM channel_email").await);
    secrets.extend(ada.api_key.clone());
    for (path, text) in &found {
        assert!(!secrets.iter().any(|secret| text.contains(secret.as_str())), "{path}");
    }
}

#[tokio::test]
async fn files_of_others_in_direct_messages_are_exported() {
    let server = TestServer::start().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    let harbour = server.channel("harbour", &[&owner, &bob]).await;
    let (list, plan) =
        (upload(&owner, "list.txt", b"oars").await, upload(&owner, "plan.txt", b"tides").await);
    owner.send_direct(&[&bob], &format!("the [list]({list})")).await;
    owner.send(harbour, "files", &format!("the [plan]({plan})")).await;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("bob");
    let report = export(&server.database(), &["person", &bob.email, out.to_str().unwrap()]);
    assert_eq!(report["files"], 1);
    let found = files(&out);
    let path = format!("files/{}", list.trim_start_matches("/user_uploads/"));
    assert_eq!(found[&path], "oars");
    let link = path.replace('.', "%2E").replace('-', "%2D").replace('_', "%5F");
    assert!(found["messages-0001.html"].contains(&format!("href=\"{link}\"")), "{link}");
}

/// Earlier versions took the paths of files from archives as they were, and a restored backup may be of strangers.
#[tokio::test]
async fn files_stay_in_the_folder() {
    let server = TestServer::start().await;
    let bob = server.member("bob").await;
    upload(&bob, "list.txt", b"oars").await;
    server.sql("UPDATE attachment SET path_id = '../../outside.txt'").await;
    let emoji = bob.request(Method::POST, "/realm/emoji/oar_lock");
    emoji.multipart((), &[("file", "oar.png", &png(60, 60))]).send().await.ok();
    let path =
        "UPDATE public_image SET path = 'emoji/images/../../outside.png' WHERE path LIKE 'emoji/images/%'";
    server.sql(&format!("{path}; UPDATE realm_emoji SET file = '../../outside.png'")).await;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("bob");
    let report = export(&server.database(), &["person", &bob.email, out.to_str().unwrap()]);
    assert_eq!(report["files"], 0);
    let beside: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside, ["bob"]);
}

/// A restored backup may be of strangers.
#[tokio::test]
async fn conversations_without_readable_participants_are_exported() {
    let server = TestServer::start().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    owner.send_direct(&[&bob], "the password").await;
    server.sql("UPDATE recipient SET user_ids = user_ids || '[' WHERE user_ids IS NOT NULL").await;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("bob");
    export(&server.database(), &["person", &bob.email, out.to_str().unwrap()]);
    assert!(files(&out)["messages-0001.html"].contains("the password"));
}

/// A name of 100 characters can have more bytes than file systems allow, and a restored backup may be of strangers.
#[tokio::test]
async fn files_with_long_names_are_renamed() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let harbour = server.channel("harbour", &[&owner]).await;
    let url = upload(&owner, &format!("{}.txt", "日".repeat(96)), b"oars").await;
    let emoji = owner.request(Method::POST, "/realm/emoji/oar_lock");
    emoji.multipart((), &[("file", "oar.png", &png(60, 60))]).send().await.ok();
    let long = "x".repeat(300);
    let path =
        format!("UPDATE public_image SET path = 'emoji/images/{long}.png' WHERE path LIKE 'emoji/images/%'");
    server.sql(&format!("{path}; UPDATE realm_emoji SET file = '{long}.png'")).await;
    owner.send(harbour, "files", &format!("the [list]({url}) :oar_lock:")).await;
    let id = server.column("SELECT id FROM attachment").await;
    let renamed = format!("renamed/{}-{}.txt", id[0], "日".repeat(46));
    let link = renamed.replace('-', "%2D").replace('.', "%2E").replace('日', "%E6%97%A5");
    let id = server.column("SELECT id FROM realm_emoji").await;
    let image = format!("emoji/{}.png", id[0]);
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["html"][..], &["person", owner.email.as_str()]] {
        let out = folder.path().join(arguments[0]);
        let report = export(&server.database(), &[arguments, &[out.to_str().unwrap()]].concat());
        let found = files(&out);
        assert_eq!((&report["files"], found[&renamed].as_str()), (&json!(1), "oars"));
        assert!(found.contains_key(&image), "{:?}", found.keys());
        for address in [&link, &image] {
            assert!(found.values().any(|page| page.contains(&format!("{address}\""))), "{address}");
        }
    }
}

/// A restored backup may be of strangers.
#[tokio::test]
async fn no_path_of_a_file_is_that_of_a_renamed_one() {
    let server = TestServer::start().await;
    let bob = server.member("bob").await;
    for name in ["oars.txt", "sails.txt"] {
        upload(&bob, name, name.as_bytes()).await;
    }
    let long = format!("{}.txt", "x".repeat(300));
    let short = &long[long.len() - 50..];
    let paths = format!(
        "UPDATE attachment SET path_id = '{long}' WHERE name = 'sails.txt';
         UPDATE attachment SET path_id = 'renamed/' || (SELECT max(id) FROM attachment) || '-{short}'
             WHERE name = 'oars.txt'"
    );
    server.sql(&paths).await;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("bob");
    let report = export(&server.database(), &["person", &bob.email, out.to_str().unwrap()]);
    let id = server.column("SELECT max(id) FROM attachment").await;
    let (found, renamed) = (files(&out), format!("renamed/{}-{short}", id[0]));
    assert_eq!(report["files"], 2);
    assert_eq!((&*found[&renamed], &*found[&format!("files/{renamed}")]), ("sails.txt", "oars.txt"));
}

#[tokio::test]
async fn the_data_of_a_person_has_what_they_did() {
    let server = TestServer::start().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    let stream_id = server.channel("harbour", &[&owner, &bob]).await;
    let sent = bob.send(stream_id, "boats", "the first text").await;
    bob.patch(&format!("/messages/{sent}"), json!({"content": "the second text"})).await.ok();
    let emoji = bob.request(Method::POST, "/realm/emoji/oar_lock");
    emoji.multipart((), &[("file", "oar.png", &png(60, 60))]).send().await.ok();
    owner.patch(&format!("/users/{}", bob.user_id), json!({"role": 300})).await.ok();
    let step = json!({"onboarding_step": "intro_resolve_topic"});
    bob.post("/users/me/onboarding_steps", step).await.ok();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("bob");
    export(&server.database(), &["person", &bob.email, out.to_str().unwrap()]);
    let data: Value = serde_json::from_slice(&std::fs::read(out.join("data.json")).unwrap()).unwrap();
    let edit = &data["edits"][0];
    assert_eq!((&edit["message_id"], &edit["prev_content"]), (&json!(sent), &json!("the first text")));
    assert_eq!(data["emoji"], json!([{"name": "oar_lock", "deactivated": false}]));
    assert_eq!(data["onboarding_steps"][0]["onboarding_step"], "intro_resolve_topic");
    assert!(!data["audit_log"].as_array().unwrap().is_empty());
    let changes = data["account_changes"].as_array().unwrap();
    let role = changes.iter().find(|row| row["action"] == "role_changed").unwrap();
    assert_eq!((role.get("address"), role.get("actor_id")), (None, None));
}

#[tokio::test]
async fn a_static_archive_has_the_chosen_channels() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let harbour = server.channel("harbour", &[&owner, &ada]).await;
    let crew = server.private_channel("crew", &[&owner]).await;
    for number in 0..201 {
        owner.send(harbour, "boats", &format!("boat number {number}")).await;
    }
    ada.send(harbour, "<b>tides</b>", "<script>alert(1)</script> :tada: high **water** $$x^2$$").await;
    ada.send(harbour, "<b>tides</b>", "https://a.example/lock.png").await;
    owner.send(crew, "secret", "the treasure").await;
    owner.send_direct(&[&ada], "the password").await;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("house");
    let path = out.to_str().unwrap();
    let report = export(&server.database(), &["html", path]);
    let found = files(&out);
    assert_eq!(
        report["channels"].to_string(),
        server.column("SELECT count(*) FROM stream WHERE NOT invite_only").await[0]
    );
    let all = found.values().map(String::as_str).collect::<String>();
    assert!(!all.contains("the treasure") && !all.contains("the password"));
    let pages: Vec<&String> =
        found.keys().filter(|path| path.starts_with(&format!("channel-{harbour}/topic-"))).collect();
    assert_eq!(pages.len(), 3, "two pages of boats, one of tides: {pages:?}");
    let tides = pages.iter().map(|path| &found[*path]).find(|page| page.contains("tides")).unwrap();
    assert!(tides.contains("&lt;b&gt;tides&lt;/b&gt;") && !tides.contains("<script>alert"), "{tides}");
    assert!(tides.contains("🎉") && tides.contains("<strong>water</strong>"), "{tides}");
    let picture = r#"<p><a href="https://a.example/lock.png">https://a.example/lock.png</a></p>"#;
    assert!(tides.contains(picture) && !tides.contains("<img"), "{tides}");
    // A formula is there twice, and shown once.
    assert!(tides.contains("<msup>") && tides.contains(".katex-html{display:none}"), "{tides}");
    let word = u32::from('w') % 64;
    assert!(found[&format!("search/words-{word}.js")].contains("\"water\""));
    assert!(found["search/messages-0.js"].starts_with("loaded(\"messages-0\", [["));

    let both = folder.path().join("both");
    export(&server.database(), &["html", both.to_str().unwrap(), "--channel", "crew"]);
    let found = files(&both);
    assert!(found.values().any(|text| text.contains("the treasure")));
    assert!(!found.values().any(|text| text.contains("boat number")));
}

/// In a folder, a page could load the scripts of the search index.
#[tokio::test]
async fn a_static_archive_has_no_pages_of_users() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let harbour = server.channel("harbour", &[&owner]).await;
    for (name, archived) in [
        ("report.html", "report.html.txt"),
        ("list.txt", "list.txt"),
        ("deck", "deck.txt"),
        ("a.svg", "a.svg.txt"),
    ] {
        let url = upload(&owner, name, b"<script>1</script>").await;
        owner.send(harbour, name, &format!("the [file]({url})")).await;
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("house");
        export(&server.database(), &["html", out.to_str().unwrap(), "--channel", "harbour"]);
        let found = files(&out);
        let path =
            format!("files/{}{archived}", url.trim_start_matches("/user_uploads/").trim_end_matches(name));
        assert!(found[&path].contains("<script>"), "{name}");
        let link =
            format!("href=\"../{}\"", path.replace('.', "%2E").replace('-', "%2D").replace('_', "%5F"));
        assert!(found.values().any(|page| page.contains(&link)), "{link}");
        for (path, page) in found.iter().filter(|(path, _)| path.rsplit('.').next() == Some("html")) {
            assert_eq!(page.contains("script-src"), path == "index.html", "{path}");
        }
    }
}

/// Reads a script of the search index.
fn script(files: &BTreeMap<String, String>, name: &str) -> Value {
    let text = &files[&format!("search/{name}.js")];
    let data = text.strip_prefix(&format!("loaded(\"{name}\", ")).unwrap();
    serde_json::from_str(data.strip_suffix(");\n").unwrap()).unwrap()
}

#[tokio::test]
async fn a_static_archive_finds_messages_by_time() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let mut channels = Vec::new();
    for name in ["basin", "dock", "quay"] {
        channels.push(server.channel(name, &[&owner]).await);
    }
    for (place, text) in
        [(1, "anchor one"), (2, "anchor two"), (0, "anchor three"), (1, "anchor four"), (1, "今日は港へ")]
    {
        owner.send(channels[place], "ships", text).await;
        server.clock.advance(60);
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("house");
    export(&server.database(), &["html", out.to_str().unwrap()]);
    let found = files(&out);
    let words = script(&found, &format!("words-{}", u32::from('a') % 64));
    let mut ranks: Vec<usize> = serde_json::from_value(words["anchor"].clone()).unwrap();
    ranks.sort_unstable();
    let (order, messages) = (script(&found, "order-0"), script(&found, "messages-0"));
    let number = |rank: usize| usize::try_from(order[rank].as_u64().unwrap()).unwrap();
    let texts: Vec<&Value> = ranks.into_iter().map(|rank| &messages[number(rank)][4]).collect();
    assert_eq!(texts, ["anchor one", "anchor two", "anchor three", "anchor four"]);
    // A script without spaces between words is indexed as pairs of characters.
    for pair in ["今日", "は港", "港へ", "へ"] {
        let shard = u32::from(pair.chars().next().unwrap()) % 64;
        assert!(script(&found, &format!("words-{shard}"))[pair].is_array(), "{pair}");
    }
}

#[tokio::test]
async fn readable_exports_refuse_what_is_not_there() {
    let server = TestServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    for (arguments, text) in [
        (&["person", "nobody@example.com", out][..], "no user has the email nobody@example.com"),
        (&["html", out, "--channel", "nowhere"], "no channel has the name nowhere"),
        (&["html", folder.path().to_str().unwrap()], "exists"),
    ] {
        let done = run(&server.database(), arguments);
        let error = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(1), "{error}");
        assert!(error.contains(text), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A killed export leaves a folder, which the next one takes. Folders of others are left alone.
#[tokio::test]
async fn a_killed_export_begins_again() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let folder = tempfile::tempdir().unwrap();
    let (out, part) = (folder.path().join("me"), folder.path().join("me.part"));
    let arguments = ["person", &owner.email, out.to_str().unwrap()];
    std::fs::create_dir_all(part.join("files")).unwrap();
    std::fs::write(part.join("files/mine.txt"), "mine").unwrap();
    let refused = run(&server.database(), &arguments);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("me.part"), "{refused:?}");
    assert_eq!(files(&part)["files/mine.txt"], "mine");
    assert!(!out.exists());

    std::fs::write(part.join(".unfinished"), "").unwrap();
    export(&server.database(), &arguments);
    assert!(!part.exists());
    let found = files(&out);
    assert!(found.contains_key("data.json") && !found.contains_key("files/mine.txt"), "{:?}", found.keys());
    assert!(!found.contains_key(".unfinished"));
}
