//! Every integration with the payloads in `tests/api/integrations`. `<integration>/<case>.json` is the payload.
//! `<case>.md` has the headers of the request (as `Name: value`) and its parameters (as `?name=value`), a line `---`,
//! and the resulting messages. `.ci/bless` updates the messages, and writes missing files.

use crate::harness::generated::{BLESS, is_blessing};
use crate::harness::{Client, Request, TestServer};
use hyper::Method;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A case: the integration, and its two files.
pub(super) struct Case {
    pub(super) integration: String,
    payload: PathBuf,
    expected: PathBuf,
}

impl Case {
    pub(super) fn payload(&self) -> Value {
        serde_json::from_slice(&std::fs::read(&self.payload).unwrap()).unwrap()
    }

    /// The head of the second file, with the headers and parameters, and the messages. `None` without that file.
    pub(super) fn expected(&self) -> Option<(String, String)> {
        let file = match std::fs::read_to_string(&self.expected) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => panic!("`{}`: {error}", self.name()),
        };
        let parts = file.split_once("---\n").unwrap_or_else(|| panic!("`{}` has no line `---`", self.name()));
        Some((parts.0.to_owned(), parts.1.to_owned()))
    }

    /// The second file within its folder, such as `github/push.md`.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.integration, self.expected.file_name().unwrap().display())
    }
}

pub(super) fn cases() -> Vec<Case> {
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

/// A server with a channel, a subscriber, and a bot that delivers to the channel.
pub(super) struct Place {
    _server: TestServer,
    ada: Client,
    /// Keeps its connection.
    anonymous: Client,
    api_key: String,
}

impl Place {
    pub(super) async fn new() -> Self {
        let server = TestServer::start().await;
        let ada = server.member("ada").await;
        let alerts = server.channel("alerts", &[&ada]).await;
        let params = json!({"full_name": "Deliverer", "short_name": "deliverer", "bot_type": 2});
        let api_key = ada.post("/bots", params).await.ok()["api_key"].as_str().unwrap().to_owned();
        ada.send(alerts, "first", "-").await;
        Self { anonymous: server.anonymous(), _server: server, ada, api_key }
    }

    /// The delivery of a case without its payload, with the headers and parameters of its head, and with further parameters.
    pub(super) fn delivery(&self, case: &Case, head: &str, further: &[(&str, &str)]) -> Request {
        let mut query = json!({"api_key": self.api_key, "stream": "alerts"});
        let mut request = self.anonymous.request(Method::POST, &format!("/external/{}", case.integration));
        for line in head.lines() {
            if let Some((name, value)) = line.strip_prefix('?').and_then(|line| line.split_once('=')) {
                query[name] = json!(value);
            } else if let Some((name, value)) = line.split_once(": ") {
                request = request.header(name, value);
            }
        }
        for (name, value) in further {
            query[*name] = json!(value);
        }
        request.query(query)
    }
}

/// Sends a payload, and formats the resulting messages or the error.
async fn delivered(place: &Place, case: &Case, head: &str) -> String {
    let ada = &place.ada;
    let before = newest_id(ada).await;
    let payload = std::fs::read(&case.payload).unwrap();
    let answer = place.delivery(case, head, &[]).body("application/json", payload).send().await;
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
    let place = Place::new().await;
    let update = is_blessing();
    let mut wrong = String::new();
    for case in cases() {
        let file = case.expected();
        if file.is_none() && !update {
            writeln!(wrong, "`{}` is missing\n", case.name()).unwrap();
            continue;
        }
        let (head, expected) = file.unwrap_or_default();
        let found = delivered(&place, &case, &head).await;
        if update {
            std::fs::write(&case.expected, format!("{head}---\n{found}")).unwrap();
        } else if found != expected {
            write!(wrong, "{}\nfound:\n{found}\nexpected:\n{expected}\n", case.expected.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}{BLESS}");
}

/// Markup in titles, names and labels that must stay plain text.
const HOSTILE: &[&str] =
    &["@**all** x", "# x", "> x", "1. x", "/me x", "```x", "x\n# x", "x\n\n> x", "x](https://evil.example)"];

/// A text with as many lines, without markup.
fn without_markup(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(|line| if line.is_empty() { "" } else { "x" }).collect();
    lines.join("\n")
}

/// The paths of all values in a value, and of the value itself.
pub(super) fn paths(value: &Value) -> Vec<String> {
    fn add(value: &Value, path: &str, found: &mut Vec<String>) {
        found.push(path.to_owned());
        match value {
            Value::Array(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, item)| add(item, &format!("{path}/{index}"), found));
            }
            Value::Object(members) => {
                for (name, member) in members {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    add(member, &format!("{path}/{name}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    add(value, "", &mut found);
    found
}

/// A copy of a value with another string at a path.
fn with_string(value: &Value, path: &str, text: &str) -> Value {
    let mut copy = value.clone();
    *copy.pointer_mut(path).unwrap() = text.into();
    copy
}

/// The path without the positions in lists: items have the same members.
pub(super) fn members(path: &str) -> String {
    let names = path.split('/').map(|name| if name.parse::<usize>().is_ok() { "*" } else { name });
    names.collect::<Vec<_>>().join("/")
}

/// The HTML of a message outside of quotes, in which strangers speak, with the beginnings of these.
fn outside_quotes(html: &str) -> String {
    const START: &str = "<blockquote>";
    const END: &str = "</blockquote>";
    let (mut outside, mut depth, mut rest) = (String::new(), 0_usize, html);
    while let Some(at) = [START, END].iter().filter_map(|tag| rest.find(tag)).min() {
        let (before, tag) = rest.split_at(at);
        if depth == 0 {
            outside.push_str(before);
        }
        if let Some(after) = tag.strip_prefix(START) {
            if depth == 0 {
                outside.push_str(START);
            }
            (depth, rest) = (depth + 1, after);
        } else {
            (depth, rest) = (depth.saturating_sub(1), &tag[END.len()..]);
        }
    }
    if depth == 0 {
        outside.push_str(rest);
    }
    outside
}

/// Counts the blocks of a message outside of quotes, its mentions, and its links that hide where they lead.
fn marks(html: &str) -> BTreeMap<&'static str, usize> {
    const TAGS: &[&str] =
        &["<blockquote", "<h1", "<h2", "<h3", "<h4", "<ol", "<ul", "<pre", "<hr", "<table", "me_message"];
    const EVIL: &str = "<a href=\"https://evil";
    let outside = outside_quotes(html);
    let mut marks: BTreeMap<&str, usize> =
        TAGS.iter().map(|tag| (*tag, outside.matches(tag).count())).collect();
    let mentions = outside.split("class=\"user-mention").skip(1);
    let loud = mentions.filter(|class| !class.split('"').next().unwrap().contains("silent"));
    marks.insert("mention", loud.count());
    let hides_address = |at: usize| {
        let (address, text) = outside[at + "<a href=\"".len()..].split_once('"').unwrap();
        !text.starts_with(&format!(">{address}</a>"))
    };
    marks.insert(EVIL, outside.match_indices(EVIL).filter(|(at, _)| hides_address(*at)).count());
    marks
}

/// The marks of which a message has more than another one.
fn more_marks(html: &str, other: &str) -> Vec<&'static str> {
    let expected = marks(other);
    let more = marks(html).into_iter().filter(|(mark, count)| *count > expected[mark]);
    more.map(|(mark, _)| mark).collect()
}

/// All cases of integrations that strangers write to, with every string of their payloads replaced in turn: no message
/// becomes more than it is with plain words in the same place.
async fn check_text_is_plain(is_checked: impl Fn(&str) -> bool) {
    let place = Place::new().await;
    let mut wrong = String::new();
    let (mut known, mut with_text) = (BTreeSet::new(), BTreeSet::new());
    for case in cases().into_iter().filter(|case| is_checked(&case.integration)) {
        known.insert(case.integration.clone());
        let (head, _) = case.expected().unwrap_or_default();
        let payload = case.payload();
        let usual = rendered(&place, &case, &head, std::slice::from_ref(&payload)).await.remove(0);
        if usual.is_empty() {
            continue;
        }
        let is_text = |path: &String| payload.pointer(path).is_some_and(Value::is_string);
        let paths: Vec<String> = paths(&payload).into_iter().filter(is_text).collect();
        let plain: Vec<Value> = paths.iter().map(|path| with_string(&payload, path, "x")).collect();
        let plain = rendered(&place, &case, &head, &plain).await;
        // Most strings are not in the message, or decide what it is about.
        let shown = paths.iter().zip(&plain).filter(|(_, html)| **html != usual && !html.is_empty());
        let shown: BTreeMap<String, (&String, &String)> =
            shown.map(|(path, html)| (members(path), (path, html))).collect();
        if !shown.is_empty() {
            with_text.insert(case.integration.clone());
        }
        let changes: Vec<(&String, &String, &str)> = shown
            .values()
            .flat_map(|(path, plain)| HOSTILE.iter().map(move |text| (*path, *plain, *text)))
            .collect();
        let payloads: Vec<Value> =
            changes.iter().map(|(path, _, text)| with_string(&payload, path, text)).collect();
        let htmls = rendered(&place, &case, &head, &payloads).await;
        for ((path, plain, text), found) in changes.into_iter().zip(&htmls) {
            let mut more = more_marks(found, plain);
            if !more.is_empty() && text.contains('\n') {
                // As many lines without markup may have more of them than one line.
                let lines = with_string(&payload, path, &without_markup(text));
                let lines = rendered(&place, &case, &head, std::slice::from_ref(&lines)).await.remove(0);
                more = more_marks(found, &lines);
            }
            if !more.is_empty() {
                write!(wrong, "{} {path} {text:?} {more:?}\n{found}\n", case.payload.display()).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(!known.is_empty());
    assert_eq!(known, with_text);
}

/// The integrations whose messages the user who sets them up writes.
const OF_MEMBERS: &[&str] = &["homeassistant", "ifttt", "json", "slack_incoming", "zapier"];

/// The integrations with the most cases, which have tests of their own.
pub(super) const FORGES: &[&str] = &["forgejo", "gitea", "github", "gitlab"];

#[tokio::test]
async fn text_of_strangers_is_plain() {
    check_text_is_plain(|integration| !OF_MEMBERS.contains(&integration) && !FORGES.contains(&integration))
        .await;
}

#[tokio::test]
async fn text_of_strangers_on_github_is_plain() {
    check_text_is_plain(|integration| integration == "github").await;
}

#[tokio::test]
async fn text_of_strangers_on_gitlab_is_plain() {
    check_text_is_plain(|integration| integration == "gitlab").await;
}

#[tokio::test]
async fn text_of_strangers_on_gitea_is_plain() {
    check_text_is_plain(|integration| matches!(integration, "gitea" | "forgejo")).await;
}

/// Sends payloads, and returns the HTML of the messages of each, empty if it is refused.
async fn rendered(place: &Place, case: &Case, head: &str, payloads: &[Value]) -> Vec<String> {
    let ada = &place.ada;
    let before = newest_id(ada).await;
    for (index, payload) in payloads.iter().enumerate() {
        // The topic identifies the payload, and titles become part of the messages.
        let request = place.delivery(case, head, &[("topic", index.to_string().as_str())]);
        request.body("application/json", payload.to_string()).send().await;
    }
    let fetch = json!({"anchor": before, "include_anchor": false, "num_before": 0, "num_after": 5000,
        "narrow": [{"operator": "channel", "operand": "alerts"}]});
    let mut htmls = vec![String::new(); payloads.len()];
    let page = ada.get("/messages", fetch).await.ok();
    assert_eq!(page["found_newest"], true, "more messages than fit into a page");
    for message in page["messages"].as_array().unwrap() {
        let index: usize = message["subject"].as_str().unwrap().parse().unwrap();
        let mark = if message["is_me_message"] == true { "me_message" } else { "" };
        writeln!(htmls[index], "{}{mark}", message["content"].as_str().unwrap()).unwrap();
    }
    htmls
}

/// The members of the payloads of forges that are ids of commits.
const COMMITS: &[&str] = &["after", "before", "checkout_sha", "commit_id", "head_sha", "sha"];

/// Payloads of forges have ids of 40 digits, and a push leads to the newest of its commits.
#[test]
fn commits_of_payloads_have_ids_as_forges_write_them() {
    let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    let is_id = |id: &Value| id.as_str().is_some_and(|id| id.len() == 40 && id.bytes().all(is_digit));
    let mut wrong = Vec::new();
    for case in cases().into_iter().filter(|case| FORGES.contains(&&*case.integration)) {
        let payload = case.payload();
        for path in paths(&payload) {
            let value = payload.pointer(&path).unwrap();
            let name = path.rsplit('/').next().unwrap();
            let is_of_commit = COMMITS.contains(&name) || members(&path) == "/commits/*/id";
            if is_of_commit && !value.is_null() && !is_id(value) {
                wrong.push(format!("{} {path}: {value}", case.name()));
            }
        }
        let commits = payload["commits"].as_array().map_or(&[][..], Vec::as_slice);
        let is_newest_first = matches!(&*case.integration, "gitea" | "forgejo");
        let newest = if is_newest_first { commits.first() } else { commits.last() };
        if newest.is_some_and(|newest| newest["id"] != payload["after"]) {
            wrong.push(format!("{}: `after` is not the newest commit", case.name()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
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
