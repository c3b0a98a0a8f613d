//! Every integration with the payloads in `tests/api/integrations`. `<integration>/<case>.json` is the payload.
//! `<case>.md` has the headers of the request (as `Name: value`) and its parameters (as `?name=value`), a line `---`,
//! and the resulting messages. `INSTA_UPDATE=always` updates the messages; review the difference.

use crate::harness::{Client, TestServer};
use hyper::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A case: the integration, and its two files.
struct Case {
    integration: String,
    payload: PathBuf,
    expected: PathBuf,
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api/integrations");
    let mut cases = Vec::new();
    for folder in std::fs::read_dir(root).unwrap() {
        let folder = folder.unwrap().path();
        let integration = folder.file_name().unwrap().to_string_lossy().into_owned();
        for file in std::fs::read_dir(&folder).unwrap() {
            let payload = file.unwrap().path();
            if payload.extension().is_some_and(|ending| ending == "json") {
                let expected = payload.with_extension("md");
                cases.push(Case { integration: integration.clone(), payload, expected });
            }
        }
    }
    cases.sort_by(|one, other| one.payload.cmp(&other.payload));
    cases
}

/// Sends a payload, and formats the resulting messages or the error.
async fn delivered(server: &TestServer, ada: &Client, api_key: &str, case: &Case, head: &str) -> String {
    let mut query = json!({"api_key": api_key, "stream": "alerts"});
    let mut request = server.anonymous().request(Method::POST, &format!("/external/{}", case.integration));
    for line in head.lines() {
        if let Some((name, value)) = line.strip_prefix('?').and_then(|line| line.split_once('=')) {
            query[name] = json!(value);
        } else if let Some((name, value)) = line.split_once(": ") {
            request = request.header(name, value);
        }
    }
    let before = newest_id(ada).await;
    let payload = std::fs::read(&case.payload).unwrap();
    let answer = request.query(query).body("application/json", payload).send().await;
    if answer["result"] != "success" {
        return format!("{} {}\n", answer.status, answer["msg"].as_str().unwrap());
    }
    let fetch = json!({"anchor": before, "include_anchor": false, "num_before": 0, "num_after": 100,
        "apply_markdown": false, "narrow": [{"operator": "channel", "operand": "alerts"}]});
    let mut text = String::new();
    for message in ada.get("/messages", fetch).await.ok()["messages"].as_array().unwrap() {
        let topic = message["subject"].as_str().unwrap();
        let mentioned = message["flags"].as_array().unwrap().iter().any(|flag| flag != "read");
        let mark = if mentioned { " (mentions)" } else { "" };
        write!(text, "# {topic}{mark}\n{}\n\n", message["content"].as_str().unwrap()).unwrap();
    }
    if text.is_empty() { "nothing\n".to_owned() } else { text.trim_end().to_owned() + "\n" }
}

async fn newest_id(client: &Client) -> Value {
    let fetch = json!({"anchor": "newest", "num_before": 1, "num_after": 0});
    client.get("/messages", fetch).await.ok()["messages"][0]["id"].clone()
}

#[tokio::test]
async fn payloads_become_messages() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    server.channel("alerts", &[&ada]).await;
    let params = json!({"full_name": "Deliverer", "short_name": "deliverer", "bot_type": 2});
    let api_key = ada.post("/bots", params).await.ok()["api_key"].as_str().unwrap().to_owned();
    ada.post("/messages", json!({"type": "channel", "to": "alerts", "topic": "first", "content": "-"}))
        .await
        .ok();
    let update = std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always");
    let mut wrong = String::new();
    for case in cases() {
        let file = std::fs::read_to_string(&case.expected).unwrap();
        let (head, expected) = file.split_once("---\n").unwrap();
        let found = delivered(&server, &ada, &api_key, &case, head).await;
        if update {
            std::fs::write(&case.expected, format!("{head}---\n{found}")).unwrap();
        } else if found != expected {
            write!(wrong, "{}\nfound:\n{found}\nexpected:\n{expected}\n", case.expected.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Markup in titles, names and labels that must stay plain text.
const HOSTILE: &[&str] = &["@**all** x", "# x", "> x", "1. x", "/me x", "```x"];

/// The strings in a value, each replaced in turn.
fn with_each_string(value: &Value, by: &str) -> Vec<Value> {
    fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
        match value {
            Value::String(_) => found.push(path.to_owned()),
            Value::Array(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, item)| paths(item, &format!("{path}/{index}"), found));
            }
            Value::Object(members) => {
                for (name, member) in members {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    paths(member, &format!("{path}/{name}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    paths(value, "", &mut found);
    let replaced = found.iter().map(|path| {
        let mut copy = value.clone();
        *copy.pointer_mut(path).unwrap() = by.into();
        copy
    });
    replaced.collect()
}

/// The blocks of a message outside of quotes, in which strangers speak, and its mentions.
fn blocks(html: &str) -> BTreeSet<&'static str> {
    let mut outside = String::new();
    let mut rest = html;
    while let Some((before, quoted)) = rest.split_once("<blockquote>") {
        outside.push_str(before);
        rest = quoted.rsplit_once("</blockquote>").map_or("", |(_, after)| after);
    }
    outside.push_str(rest);
    let tags = [
        "<h1",
        "<h2",
        "<h3",
        "<h4",
        "<ol",
        "<ul",
        "<pre",
        "<hr",
        "<table",
        "class=\"user-mention\"",
        "me_message",
    ];
    tags.into_iter().filter(|tag| outside.contains(tag)).collect()
}

/// One case of each integration that strangers write to, with every string of its payload replaced in turn: no
/// message becomes more than it is with plain words in the same place.
#[tokio::test]
async fn text_of_strangers_is_plain() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    server.channel("alerts", &[&ada]).await;
    let params = json!({"full_name": "Deliverer", "short_name": "deliverer", "bot_type": 2});
    let api_key = ada.post("/bots", params).await.ok()["api_key"].as_str().unwrap().to_owned();
    let first = json!({"type": "channel", "to": "alerts", "topic": "t", "content": "-"});
    ada.post("/messages", first).await.ok();
    let of_members = ["homeassistant", "ifttt", "json", "slack_incoming", "zapier"];
    let mut wrong = String::new();
    let mut known = BTreeSet::new();
    for case in cases() {
        if of_members.contains(&case.integration.as_str()) || !known.insert(case.integration.clone()) {
            continue;
        }
        let file = std::fs::read_to_string(&case.expected).unwrap();
        let (head, _) = file.split_once("---\n").unwrap();
        let payload: Value = serde_json::from_slice(&std::fs::read(&case.payload).unwrap()).unwrap();
        let usual = rendered(&server, &ada, &api_key, &case, head, &payload).await;
        let hostile: Vec<Vec<Value>> = HOSTILE.iter().map(|text| with_each_string(&payload, text)).collect();
        for (index, plain) in with_each_string(&payload, "x").iter().enumerate() {
            let expected = rendered(&server, &ada, &api_key, &case, head, plain).await;
            // Most strings are not in the message.
            if expected == usual {
                continue;
            }
            for (payload, text) in hostile.iter().map(|payloads| &payloads[index]).zip(HOSTILE) {
                let found = rendered(&server, &ada, &api_key, &case, head, payload).await;
                let more: Vec<_> = blocks(&found).difference(&blocks(&expected)).copied().collect();
                if !more.is_empty() {
                    write!(wrong, "{} {text:?} {more:?}\n{found}\n", case.payload.display()).unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(known.len() > 8, "{known:?}");
}

/// Sends a payload, and returns the HTML of the resulting messages, or an empty list if it is refused.
async fn rendered(
    server: &TestServer,
    ada: &Client,
    api_key: &str,
    case: &Case,
    head: &str,
    payload: &Value,
) -> String {
    let mut query = json!({"api_key": api_key, "stream": "alerts", "topic": "t"});
    let mut request = server.anonymous().request(Method::POST, &format!("/external/{}", case.integration));
    for line in head.lines() {
        if let Some((name, value)) = line.strip_prefix('?').and_then(|line| line.split_once('=')) {
            query[name] = json!(value);
        } else if let Some((name, value)) = line.split_once(": ") {
            request = request.header(name, value);
        }
    }
    let before = newest_id(ada).await;
    let answer = request.query(query).body("application/json", payload.to_string()).send().await;
    if answer["result"] != "success" {
        return String::new();
    }
    let fetch = json!({"anchor": before, "include_anchor": false, "num_before": 0, "num_after": 100});
    let messages = ada.get("/messages", fetch).await.ok()["messages"].clone();
    let html = messages.as_array().unwrap().iter().map(|message| {
        let mark = if message["is_me_message"] == true { "me_message" } else { "" };
        format!("{}{mark}\n", message["content"].as_str().unwrap())
    });
    html.collect()
}

#[tokio::test]
async fn every_integration_has_cases() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let words = json!({"fetch_event_types": ["realm_incoming_webhook_bots"], "event_types": []});
    let queue = ada.register(words).await;
    let bots = queue.state["realm_incoming_webhook_bots"].as_array().unwrap();
    let known: BTreeSet<String> = bots.iter().map(|bot| bot["name"].as_str().unwrap().to_owned()).collect();
    let mut with_cases: BTreeSet<String> = cases().into_iter().map(|case| case.integration).collect();
    // A text is no JSON; it has tests of its own.
    with_cases.insert("text".to_owned());
    assert_eq!(known, with_cases);
    let page = include_str!("../../../docs/integrations.md");
    let missing: Vec<_> = known.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "not in docs/integrations.md: {missing:?}");
    let github = bots.iter().find(|bot| bot["name"] == "github").unwrap();
    assert!(github["all_event_types"].as_array().unwrap().contains(&json!("push_commits")));
}
