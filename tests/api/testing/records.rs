//! Exchanges in a file, as HTTP Archive.

use super::{HAMLET, IAGO, Program, SMALL};
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn exchanges_are_in_the_file_at_any_time_and_secrets_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exchanges.har");
    let server = Program::start(SMALL, &["--record", path.to_str().unwrap()]);
    let read = || std::fs::read_to_string(&path).unwrap();
    let entries = |text: &str| {
        serde_json::from_str::<Value>(text).unwrap()["log"]["entries"].as_array().unwrap().clone()
    };
    assert_eq!(entries(&read()), [] as [Value; 0]);
    server.send("hello from iago").await.unwrap();
    assert_eq!(entries(&read()).len(), 1);
    server
        .post("/fetch_api_key", HAMLET, json!({"username": "hamlet@example.com", "password": "a secret"}))
        .await;
    server.post("/users/me/api_key/regenerate", HAMLET, json!({})).await;
    server.post("/register", IAGO, json!({})).await;
    server.control("POST", "/faults", json!({"drop": "answer"})).await;
    assert!(server.send("lost").await.is_err());
    drop(server);
    let text = read();
    for secret in ["a secret", "iago-key", "hamlet's own: key"] {
        assert!(!text.contains(secret), "{secret}");
    }
    let entries = entries(&text);
    assert_eq!(entries.len(), 5);
    let sent = &entries[0];
    assert_eq!((&sent["request"]["method"], &sent["response"]["status"]), (&json!("POST"), &json!(200)));
    assert!(sent["request"]["url"].as_str().unwrap().ends_with("/api/v1/messages"));
    let content = json!({"name": "content", "value": "hello from iago"});
    assert!(sent["request"]["postData"]["params"].as_array().unwrap().contains(&content));
    let authorization = json!({"name": "authorization", "value": "REDACTED"});
    assert!(sent["request"]["headers"].as_array().unwrap().contains(&authorization));
    let regenerated: Value =
        serde_json::from_str(entries[2]["response"]["content"]["text"].as_str().unwrap()).unwrap();
    assert_eq!(regenerated["api_key"], "REDACTED");
    assert_eq!(
        (&entries[4]["response"]["status"], &entries[4]["comment"]),
        (&json!(0), &json!("the connection ended without a response"))
    );
}

#[tokio::test]
async fn nothing_in_the_file_gives_access() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exchanges.har");
    let server = Program::start(SMALL, &["--record", path.to_str().unwrap()]);
    let mut secrets: Vec<String> = Vec::new();
    let text_of = |answer: &Value, name: &str| answer[name].as_str().unwrap().to_owned();

    let queue = server.post("/register", IAGO, json!({"event_types": "[\"typing\"]"})).await;
    secrets.push(text_of(&queue, "queue_id"));
    let events = json!({"queue_id": queue["queue_id"], "last_event_id": -1, "dont_block": true});
    server.request(Method::GET, "/events", IAGO).query(&events).send().await.unwrap();
    let bot = json!({"full_name": "Tool", "short_name": "tool", "bot_type": 1});
    secrets.push(text_of(&server.post("/bots", IAGO, bot).await, "api_key"));

    // Links of invitations: for many, for one in a message, opened, used.
    let link = text_of(&server.post("/invites/multiuse", IAGO, json!({})).await, "invite_link");
    secrets.push(link.trim_end_matches('/').rsplit('/').next().unwrap().to_owned());
    let page = server.http.get(&link).send().await.unwrap();
    let cookie = page.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let token = cookie.split_once('=').unwrap().1.to_owned();
    let form = json!({"full_name": "New", "email": "new@example.com", "password": "correct horse", "token": token,
        "key": secrets.last().unwrap()});
    let joined = server.http.post(&link).header("Cookie", &cookie).form(&form).send().await.unwrap();
    let joined = joined.text().await.unwrap();
    let key = joined.split_once("key=").unwrap().1;
    secrets.extend([token, key[..32].to_owned(), "correct horse".to_owned()]);
    server.post("/invites", IAGO, json!({"invitee_emails": "one@example.com", "stream_ids": "[]"})).await;
    let fetch = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "apply_markdown": false});
    let fetched = server.request(Method::GET, "/messages", IAGO).query(&fetch).send().await.unwrap();
    let content = text_of(&fetched.json::<Value>().await.unwrap()["messages"][0], "content");
    secrets.push(content.split_once("/join/").unwrap().1[..24].to_owned());

    // Addresses of files that need no login.
    let file = reqwest::multipart::Part::bytes(b"a file".as_slice()).file_name("a.txt");
    let form = reqwest::multipart::Form::new().part("file", file);
    let uploaded = server.request(Method::POST, "/user_uploads", IAGO).multipart(form).send().await.unwrap();
    let url = text_of(&uploaded.json::<Value>().await.unwrap(), "url");
    let temporary = server.request(Method::GET, &url, IAGO).send().await.unwrap();
    let temporary = text_of(&temporary.json::<Value>().await.unwrap(), "url");
    server.http.get(format!("{}{temporary}", server.url)).send().await.unwrap();
    secrets.push(temporary.split('/').nth(3).unwrap().to_owned());

    // Links of letters.
    for (number, path) in [
        "/register/?invite=",
        "/accounts/do_confirm/",
        "/accounts/confirm_new_email/",
        "/accounts/unsubscribe/missed_messages/",
    ]
    .into_iter()
    .enumerate()
    {
        let secret = format!("linkofaletternumber{number:05}");
        server.http.get(format!("{}{path}{secret}", server.url)).send().await.unwrap();
        secrets.push(secret);
    }

    // Headers, by their names.
    for name in ["X-CSRFToken", "Cookie", "X-Gitlab-Token", "X-Hub-Signature-256", "X-Api-Key"] {
        let secret = format!("secret-of-{}", name.to_lowercase());
        server.request(Method::GET, "/users/me", IAGO).header(name, &secret).send().await.unwrap();
        secrets.push(secret);
    }
    drop(server);
    let text = std::fs::read_to_string(&path).unwrap();
    let found: Vec<_> = secrets.iter().filter(|secret| text.contains(secret.as_str())).collect();
    assert!(found.is_empty(), "{found:?}");
    assert!(text.contains("/join/REDACTED/") && text.contains("/user_uploads/temporary/REDACTED/a.txt"));
}
