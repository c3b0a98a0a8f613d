//! Slack's export together with its API: addresses, images, emoji and files are fetched with a token.

use super::{Import, client, messages, slack};
use crate::harness::pictures;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

const TOKEN: &str = "xoxb-1-secret";

/// Requests: path with query, and the header with the token.
type Seen = Arc<Mutex<Vec<(String, String)>>>;

/// Starts a server that has the methods of the API and files. Returns its address and the requests.
fn start() -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (seen, own) = (Seen::default(), address.clone());
    let requests = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let head: Vec<String> = BufReader::new(&stream)
                .lines()
                .map(Result::unwrap)
                .take_while(|line| !line.is_empty())
                .collect();
            let path = head[0].split(' ').nth(1).unwrap().to_owned();
            let token = head
                .iter()
                .find_map(|line| line.to_lowercase().strip_prefix("authorization: ").map(str::to_owned));
            let repeated = requests.lock().unwrap().iter().filter(|(known, _)| *known == path).count();
            requests.lock().unwrap().push((path.clone(), token.unwrap_or_default()));
            let (status, kind, body) = answer(&own, &path, repeated);
            let length = body.len();
            let _closed = write!(
                stream,
                "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nRetry-After: 0\r\n\r\n"
            )
            .and_then(|()| stream.write_all(&body));
        }
    });
    (address, seen)
}

fn answer(own: &str, path: &str, repeated: usize) -> (u16, &'static str, Vec<u8>) {
    let json = |value: Value| (200, "application/json", value.to_string().into_bytes());
    let other =
        ["/bare", "/endless", "/busy", "/chain", "/grid"].iter().find_map(|other| path.strip_prefix(other));
    match other.unwrap_or(path) {
        _ if path.starts_with("/endless/api/users.list") => {
            json(json!({"ok": true, "members": [], "response_metadata": {"next_cursor": "again"}}))
        }
        _ if path.starts_with("/busy/api/users.info") => (429, "text/plain", Vec::new()),
        "/api/team.info" if path.starts_with("/bare") => json(json!({"ok": false, "error": "missing_scope"})),
        "/api/users.list?limit=200" if repeated == 0 => (429, "text/plain", Vec::new()),
        "/api/users.list?limit=200" => json(json!({"ok": true,
            "members": [{"id": "U3", "name": "cat", "profile": {"email": "cat@example.net"}}],
            "response_metadata": {"next_cursor": "more="}})),
        "/api/users.list?limit=200&cursor=more%3D" if path.starts_with("/grid") => json(json!({"ok": true,
            "members": [{"id": "U7", "name": "eve", "is_owner": true, "profile": {"email": "eve@example.net"},
                "enterprise_user": {"is_owner": false}}]})),
        "/api/users.list?limit=200&cursor=more%3D" => json(json!({"ok": true,
            "members": [{"id": "U7", "name": "eve", "real_name": "Eve", "profile": {"email": "eve@example.net"}}],
            "response_metadata": {"next_cursor": ""}})),
        "/api/emoji.list" if path.starts_with("/chain") => json(json!({"ok": true, "emoji": {
            "anchor": format!("{own}/emoji/anchor.png"), "grapnel": "alias:hook", "hook": "alias:anchor",
            "yes": "alias:thumbsup", "aye": "alias:yes", "tick": "alias:tock", "tock": "alias:tick"}})),
        "/api/emoji.list" => {
            let list = json!({"ok": true, "emoji": {"anchor": format!("{own}/emoji/anchor.png"),
                "hook": "alias:anchor", "yes": "alias:thumbsup", "gone": format!("{own}/emoji/gone.png")}});
            let utf_16 = list.to_string().encode_utf16().flat_map(u16::to_le_bytes).collect();
            (200, "application/json; charset=utf-16", utf_16)
        }
        "/api/team.info" => {
            json(json!({"ok": true, "team": {"id": "T1", "name": "The Boat Club", "domain": "boats",
            "icon": {"image_102": format!("{own}/gone.png"), "image_230": format!("{own}/icon.png")}}}))
        }
        "/api/users.info?user=U9" => {
            json(json!({"ok": true, "user": {"id": "U9", "name": "gus", "real_name": "x",
            "profile": {"real_name": "Gus of the guild"}}}))
        }
        "/api/users.info?user=U2" => json(json!({"ok": false, "error": "user_not_found"})),
        "/api/bots.info?bot=B7" => json(json!({"ok": true, "bot": {"id": "B7", "name": "Tide table",
            "icons": {"image_36": "x", "image_72": format!("{own}/avatars/ada.png")}}})),
        "/icon.png" => (200, "image/png", pictures::png(120, 120)),
        "/emoji/anchor.png" => (200, "image/png", pictures::png(64, 64)),
        "/avatars/ada.png" => (200, "image/png", pictures::png(90, 90)),
        "/files/list.txt?t=xoxe-secret" => (200, "text/plain", b"oars".to_vec()),
        "/files/private.txt" => (200, "text/html; charset=utf-8", b"<h1>Log in</h1>".to_vec()),
        _ => (404, "text/plain", Vec::new()),
    }
}

fn export(own: &str) -> Import {
    let import = slack::export();
    let users = json!([
        {"id": "U1", "name": "ada", "real_name": "Ada", "is_primary_owner": true, "is_owner": true,
            "profile": {"email": "ada@example.com", "image_original": format!("{own}/avatars/ada.png")}},
        {"id": "U3", "name": "cat", "real_name": "Cat", "profile": {
            "image_512": "https://secure.gravatar.com/avatar/1.jpg"}},
    ]);
    import.write("users.json", format!("\u{feff}{users}"));
    let file = |id: &str, path: &str| {
        json!({"id": id, "name": format!("{id}.txt"), "mimetype": "text/plain",
        "url_private": format!("{own}/files/{path}")})
    };
    import.write(
        "general/2024-03-02.json",
        json!([{"type": "message", "user": "U1", "text": "files", "ts": "1709366400.000100",
            "files": [file("F7", "list.txt?t=xoxe-secret"), file("F8", "private.txt"), file("F9", "gone.txt")],
            "reactions": [{"name": "hook", "users": ["U3"]}]}])
        .to_string(),
    );
    import
}

#[tokio::test]
async fn a_token_fetches_what_the_export_lacks() {
    let (own, seen) = start();
    let import = export(&own);
    let token = import.folder.path().join("archive-token");
    std::fs::write(&token, format!("\u{feff}{TOKEN}\n")).unwrap();
    let api = format!("{own}/api");
    let report = import.run(&["--token-file", token.to_str().unwrap(), "--slack-api", &api]);
    assert_eq!(
        (&report["others"]["avatars"], &report["others"]["emoji"]),
        (&json!(1), &json!(2)),
        "{report}"
    );
    assert_eq!(report["attachments"], 1);
    let left: Vec<(&str, u64)> = report["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|left| left["why"] == "Slack did not provide them")
        .map(|left| (left["what"].as_str().unwrap(), left["count"].as_u64().unwrap()))
        .collect();
    assert_eq!(left, [("emoji", 1), ("files", 2)]);
    assert!(seen.lock().unwrap().iter().all(|(_, token)| token == &format!("bearer {TOKEN}")), "{seen:?}");

    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let cat = client(&server, "cat@example.net").await;
    client(&server, "eve@example.net").await;
    let sent = messages(&ada, json!([{"operator": "channel", "operand": "general"}])).await.pop().unwrap();
    assert_eq!(sent["reactions"][0]["emoji_name"], "hook");
    let content = sent["content"].as_str().unwrap();
    assert!(content.contains(&format!("[F8.txt]({own}/files/private.txt)")), "{content}");
    let link = content.split_once("[F7.txt](").unwrap().1.split(')').next().unwrap();
    let file = ada.request_outside(hyper::Method::GET, link).send().await;
    assert_eq!((file.status, file.bytes.as_slice()), (200, &b"oars"[..]));
    let me = cat.get(&format!("/users/{}", ada.user_id), json!({"client_gravatar": false})).await.ok();
    assert!(me["user"]["avatar_url"].as_str().unwrap().starts_with("/user_avatars/"), "{me}");
}

#[tokio::test]
async fn a_token_names_the_workspace_and_strangers() {
    let (own, _) = start();
    let import = export(&own);
    let sent = json!([{"type": "message", "subtype": "bot_message", "bot_id": "B7", "text": "low at noon",
        "ts": "1709366400.000100"}]);
    import.write("general/2024-03-02.json", sent.to_string());
    let token = import.folder.path().join("archive-token");
    std::fs::write(&token, TOKEN).unwrap();
    let report = import.run(&["--token-file", token.to_str().unwrap(), "--slack-api", &format!("{own}/api")]);
    assert_eq!(report["others"]["images of the organization"], 1, "{report}");
    assert_eq!(report["others"]["avatars"], 2, "{report}");
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let state = ada.post("/register", json!({"fetch_event_types": r#"["realm"]"#})).await.ok();
    assert_eq!(state["realm_name"], "The Boat Club");
    assert_eq!(state["realm_icon_source"], "U");
    let seen = messages(&ada, json!([{"operator": "channel", "operand": "general"}])).await;
    let names: Vec<&str> = seen.iter().map(|one| one["sender_full_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Ada", "Gus of the guild", "Slack user U2", "Tide table"]);
}

/// Other names are also given to emoji that Slack has, and to other names.
#[tokio::test]
async fn other_names_of_emoji_are_followed() {
    let (own, _) = start();
    let import = export(&own);
    let reaction = |name: &str| json!({"name": name, "users": ["U1"]});
    let sent = json!([{"type": "message", "user": "U1", "text": ":aye:, :grapnel: and :tick:",
        "ts": "1709366400.000100", "reactions": [reaction("aye"), reaction("grapnel"), reaction("tick")]}]);
    import.write("general/2024-03-02.json", sent.to_string());
    let token = import.folder.path().join("archive-token");
    std::fs::write(&token, TOKEN).unwrap();
    let report =
        import.run(&["--token-file", token.to_str().unwrap(), "--slack-api", &format!("{own}/chain/api")]);
    assert_eq!(report["others"]["emoji"], 3, "{report}");
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let sent = messages(&ada, json!([{"operator": "channel", "operand": "general"}])).await.pop().unwrap();
    assert_eq!(sent["content"], ":+1:, :grapnel: and :tick:");
    let reactions = sent["reactions"].as_array().unwrap().iter();
    let mut names: Vec<&str> = reactions.map(|reaction| reaction["emoji_name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["+1", "grapnel"]);
}

/// The export is of an organization with several workspaces, and the token of one of them.
#[tokio::test]
async fn owners_of_a_workspace_whom_only_the_api_has_are_members() {
    let (own, _) = start();
    let import = export(&own);
    let ada = json!([{"id": "U1", "name": "ada", "profile": {"email": "ada@example.com"},
        "enterprise_user": {"is_owner": true, "is_primary_owner": true}}]);
    import.write("org_users.json", ada.to_string());
    let token = import.folder.path().join("archive-token");
    std::fs::write(&token, TOKEN).unwrap();
    import.run(&["--token-file", token.to_str().unwrap(), "--slack-api", &format!("{own}/grid/api")]);
    let server = import.serve().await;
    let roles =
        "SELECT role FROM user WHERE delivery_email IN ('ada@example.com', 'eve@example.net') ORDER BY role";
    assert_eq!(server.column(roles).await, ["100", "400"]);
}

/// Tokens made before have fewer scopes.
#[test]
fn the_name_of_the_workspace_is_not_needed() {
    let (own, _) = start();
    let import = export(&own);
    let token = import.folder.path().join("archive-token");
    std::fs::write(&token, TOKEN).unwrap();
    // The same API at another path, without this method.
    let report =
        import.run(&["--token-file", token.to_str().unwrap(), "--slack-api", &format!("{own}/bare/api")]);
    let left = json!({"what": "name and icon of the workspace", "count": 1,
        "why": "team.info of Slack failed: missing_scope"});
    assert!(report["left_out"].as_array().unwrap().contains(&left), "{report}");
}

/// Each message that shares a file has its address.
#[test]
fn a_file_of_several_messages_is_fetched_once() {
    let (own, seen) = start();
    let import = export(&own);
    let message = |time: &str, file: &str| {
        json!({"type": "message", "user": "U1", "text": "oars", "ts": time,
            "files": [{"id": "F7", "name": "list.txt", "url_private": format!("{own}/files/{file}")}]})
    };
    let (there, gone) = ("list.txt?t=xoxe-secret", "gone.txt");
    let messages = [("1", there), ("2", gone), ("3", there), ("4", gone)];
    let messages = messages.map(|(second, file)| message(&format!("170936640{second}.000100"), file));
    import.write("general/2024-03-02.json", json!(messages).to_string());
    let token = import.folder.path().join("archive-token");
    std::fs::write(&token, TOKEN).unwrap();
    let report = import.run(&["--token-file", token.to_str().unwrap(), "--slack-api", &format!("{own}/api")]);
    assert_eq!(report["attachments"], 2, "{report}");
    let seen = seen.lock().unwrap();
    let files: Vec<&str> =
        seen.iter().map(|(path, _)| path.as_str()).filter(|path| path.starts_with("/files/")).collect();
    assert_eq!(files, ["/files/list.txt?t=xoxe-secret", "/files/gone.txt"]);
}

/// Methods of Slack's API can be called like files are fetched, and a token may delete messages.
#[test]
fn files_are_no_methods_of_the_api() {
    let (own, seen) = start();
    let import = export(&own);
    let call = format!("{own}/api/chat.delete?channel=C1");
    let file = json!({"id": "F7", "name": "x.txt", "mimetype": "text/plain", "url_private": call});
    let sent = json!([{"type": "message", "user": "U1", "text": "files", "ts": "1709366400.000100", "files": [file]}]);
    import.write("general/2024-03-02.json", sent.to_string());
    let users = json!([{"id": "U1", "name": "ada", "is_owner": true,
        "profile": {"email": "ada@example.com", "image_original": call}}]);
    import.write("users.json", users.to_string());
    let token = import.folder.path().join("archive-token");
    std::fs::write(&token, TOKEN).unwrap();
    import.run(&["--token-file", token.to_str().unwrap(), "--slack-api", &format!("{own}/api")]);
    let seen = seen.lock().unwrap();
    assert!(!seen.is_empty() && !seen.iter().any(|(path, _)| path.contains("chat.delete")), "{seen:?}");
}

#[test]
fn without_a_token_links_stay() {
    let (own, seen) = start();
    let import = export(&own);
    let report = import.run(&[]);
    assert_eq!(report["attachments"], 0);
    assert!(
        report["left_out"].as_array().unwrap().contains(&json!({"what": "avatars", "count": 1,
        "why": "the archive has only links to them; --token-file fetches them"})),
        "{report}"
    );
    assert!(seen.lock().unwrap().is_empty(), "{seen:?}");
}

#[test]
fn tokens_and_servers_that_cannot_work_are_refused() {
    let (own, _) = start();
    let import = export(&own);
    let token = import.folder.path().join("archive-token");
    let refused = |text: &str, api: &str| {
        std::fs::write(&token, text).unwrap();
        let arguments = ["--token-file", token.to_str().unwrap(), "--slack-api", api];
        let output = import.run_on(&import.archive(), &arguments);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(import.left(), ["archive"; 0]);
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused("xoxe-1", &own).contains("a token of Slack begins with xoxb- or xoxp-"));
    let error = refused(TOKEN, &format!("{own}/nowhere"));
    assert!(error.contains("users.list of Slack failed: status 404"), "{error}");
    assert!(!error.contains(TOKEN));
    let error = refused(TOKEN, &format!("{own}/endless/api"));
    assert!(error.contains("users.list of Slack failed: a page names itself as the next one"), "{error}");
    let error = refused(TOKEN, &format!("{own}/busy/api"));
    assert!(
        error.contains("Slack refused 10 requests in succession with a rate limit (status 429)"),
        "{error}"
    );
}
