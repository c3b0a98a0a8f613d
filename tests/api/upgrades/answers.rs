//! Requests and their kept answers.

use crate::harness::{Answer, Client, TestServer};
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write;
use teamchat::http::Route;

/// Routes that are not asked: `/events` is asked with a queue, the others say nothing of the file.
const NOT_ASKED: [&str; 4] =
    ["/api/v1/events", "/api/v1/dev_list_users", "/api/openapi.yaml", "/api/v1/server_settings"];

/// Parts of paths of which the file knows no values.
const NOT_FILLED: [&str; 3] = ["{key}", "{token}", "{hash}"];

/// Narrows, the ids in which are those of the kept organization.
const NARROWS: [&str; 14] = [
    "[]",
    r#"[["channel", "harbour"]]"#,
    r#"[["channel", "harbour"], ["topic", "tides of SHIP-7"]]"#,
    r#"[["channel", "wreck"]]"#,
    r#"[["is", "dm"]]"#,
    r#"[["is", "starred"]]"#,
    r#"[["is", "mentioned"]]"#,
    r#"[["is", "alerted"]]"#,
    r#"[["is", "unread"]]"#,
    r#"[["is", "followed"]]"#,
    r#"[["is", "resolved"]]"#,
    r#"[["has", "attachment"]]"#,
    r#"[["has", "reaction"]]"#,
    r#"[["search", "lantern"]]"#,
];

/// Requests to a file at the time it was kept.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    /// UNIX seconds.
    pub clock: i64,
    pub people: Vec<Person>,
    pub questions: Vec<Question>,
}

/// A user who sends requests.
#[derive(Serialize, Deserialize)]
pub struct Person {
    user_id: i64,
    email: String,
    api_key: String,
}

impl Person {
    /// The user of a client.
    pub fn of(client: &Client) -> Self {
        let api_key = client.api_key.clone().unwrap();
        Self { user_id: client.user_id, email: client.email.clone(), api_key }
    }

    fn client(&self, server: &TestServer) -> Client {
        let mut client = server.anonymous();
        client.user_id = self.user_id;
        client.email.clone_from(&self.email);
        client.api_key = Some(self.api_key.clone());
        client
    }
}

/// A request with its answer.
#[derive(Serialize, Deserialize)]
pub struct Question {
    /// A place in the list of people.
    person: usize,
    is_post: bool,
    pub path: String,
    parameters: Value,
    pub status: u16,
    /// JSON, or the digest of another body.
    answer: Value,
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { person, path, parameters, status, .. } = self;
        write!(f, "{path} {parameters} for person {person} ({status})")
    }
}

impl Question {
    /// A `GET` request, or that of a state.
    pub fn new(person: usize, path: impl Into<String>, parameters: Value) -> Self {
        let path = path.into();
        Self { person, is_post: path == "/api/v1/register", path, parameters, status: 0, answer: Value::Null }
    }

    /// Asks today's server.
    pub async fn ask(&self, server: &TestServer, people: &[Person]) -> (u16, Value) {
        let client = people[self.person].client(server);
        let method = if self.is_post { Method::POST } else { Method::GET };
        let request = client.request_outside(method, &self.path);
        let request =
            if self.is_post { request.form(&self.parameters) } else { request.query(&self.parameters) };
        let answer = request.send().await;
        let mut content = content(&answer);
        if self.is_post {
            // A queue of its own for each client that registers.
            let members = content.as_object_mut().expect("an answer is an object");
            members.retain(|name, _| !matches!(name.as_str(), "queue_id" | "last_event_id"));
        }
        (answer.status, content)
    }

    /// Differences between a kept answer and today's: the member, and both values. New members are ignored, and new items
    /// of lists whose items have a key.
    pub fn differences(&self, (status, answer): &(u16, Value)) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if self.status == *status {
            compare("", &self.answer, answer, &mut found);
        } else {
            found.push((
                "status".to_owned(),
                format!("{} is {status}: {}", self.status, excerpt(&answer.to_string(), 0)),
            ));
        }
        found
    }
}

/// The body as JSON, or the digest of one that is none.
fn content(answer: &Answer) -> Value {
    if !answer.json.is_null() {
        return answer.json.clone();
    }
    let digest = Sha256::digest(&answer.bytes);
    let mut hexadecimal = String::new();
    for byte in digest {
        write!(hexadecimal, "{byte:02x}").unwrap();
    }
    json!({"type": answer.header("content-type"), "location": answer.header("location"), "digest": hexadecimal})
}

/// Members by which the items of a list are recognized.
const KEYS: [&str; 5] = ["id", "user_id", "stream_id", "message_id", "name"];

/// True if every item of a list has a member, with a value of its own.
fn has_key(list: &[Value], key: &str) -> bool {
    let values: BTreeSet<String> =
        list.iter().filter_map(|item| item.get(key)).map(Value::to_string).collect();
    values.len() == list.len()
}

fn compare(member: &str, kept: &Value, found: &Value, differences: &mut Vec<(String, String)>) {
    match (kept, found) {
        (Value::Object(kept), Value::Object(found)) => {
            for (name, kept) in kept {
                let member = format!("{member}.{name}");
                compare(&member, kept, found.get(name).unwrap_or(&json!("(missing)")), differences);
            }
        }
        (Value::Array(kept_items), Value::Array(found_items)) => {
            let key = KEYS.iter().find(|key| has_key(kept_items, key) && has_key(found_items, key));
            if let Some(key) = key {
                compare_by(key, member, kept_items, found_items, differences);
            } else if kept_items.len() == found_items.len() {
                for (kept, found) in kept_items.iter().zip(found_items) {
                    compare(member, kept, found, differences);
                }
            } else {
                differences.push((member.to_owned(), difference(member, kept, found)));
            }
        }
        _ if kept == found => {}
        _ => differences.push((member.to_owned(), difference(member, kept, found))),
    }
}

/// Compares lists whose items have a key. New items are let pass; those that were there are still there, in their order.
fn compare_by(
    key: &str,
    member: &str,
    kept: &[Value],
    found: &[Value],
    differences: &mut Vec<(String, String)>,
) {
    let keys = |list: &[Value]| list.iter().map(|item| item[key].to_string()).collect::<BTreeSet<_>>();
    let (of_kept, of_found) = (keys(kept), keys(found));
    let (left, lost): (Vec<&Value>, Vec<&Value>) =
        kept.iter().partition(|item| of_found.contains(&item[key].to_string()));
    for item in lost {
        differences.push((member.to_owned(), difference(member, item, &json!("(missing)"))));
    }
    let still = found.iter().filter(|item| of_kept.contains(&item[key].to_string()));
    for (kept, found) in left.into_iter().zip(still) {
        compare(member, kept, found, differences);
    }
}

/// The most characters of a value that are shown.
const SHOWN: usize = 200;

/// Both values; of long ones the part where they differ.
fn difference(member: &str, kept: &Value, found: &Value) -> String {
    let (kept, found) = (kept.to_string(), found.to_string());
    let same = kept.chars().zip(found.chars()).take_while(|(one, other)| one == other).count();
    let is_long = [&kept, &found].iter().any(|text| text.chars().count() > SHOWN);
    let start = if is_long { same.saturating_sub(SHOWN / 4) } else { 0 };
    format!("{member}\n    was {}\n    is  {}", excerpt(&kept, start), excerpt(&found, start))
}

fn excerpt(text: &str, start: usize) -> String {
    let shown: String = text.chars().skip(start).take(SHOWN).collect();
    let is_cut = text.chars().count() > start + SHOWN;
    format!("{}{shown}{}", if start > 0 { "..." } else { "" }, if is_cut { "..." } else { "" })
}

#[test]
fn new_members_and_new_items_with_a_key_are_no_differences() {
    let found = |kept: Value, found: Value| {
        let mut differences = Vec::new();
        compare("", &kept, &found, &mut differences);
        differences.into_iter().map(|(member, _)| member).collect::<Vec<_>>()
    };
    let kept = json!({"bots": [{"name": "b", "x": 1}, {"name": "c", "x": 2}], "ids": [1, 2]});
    let more = json!({"bots": [{"name": "a", "x": 0}, {"name": "b", "x": 1, "y": 5}, {"name": "c", "x": 2}],
        "ids": [1, 2], "new": true});
    assert_eq!(found(kept.clone(), more), [""; 0]);
    let changed =
        json!({"bots": [{"name": "a", "x": 0}, {"name": "b", "x": 7}, {"name": "c", "x": 2}], "ids": [1]});
    assert_eq!(found(kept.clone(), changed), [".bots.x", ".ids"]);
    let lost = json!({"bots": [{"name": "c", "x": 2}], "ids": [1, 2]});
    assert_eq!(found(kept.clone(), lost), [".bots"]);
    let turned = json!({"bots": [{"name": "c", "x": 2}, {"name": "b", "x": 1}], "ids": [1, 2]});
    assert_eq!(found(kept, turned), [".bots.name", ".bots.x", ".bots.name", ".bots.x"]);
    let long = |end: &str| json!(format!("{}{end}", "x".repeat(300)));
    let text = difference(".a", &long("old"), &long("new"));
    assert!(text.contains("old\"\n    is  ...x") && text.ends_with("new\"") && text.len() < 200, "{text}");
    assert_eq!(difference(".a", &json!(1), &json!([2])), ".a\n    was 1\n    is  [2]");
}

impl Kept {
    /// Asks a server all there is to ask.
    pub async fn ask(server: &TestServer, clock: i64, clients: &[Client], queues: &[Value]) -> Self {
        let people: Vec<Person> = clients.iter().map(Person::of).collect();
        let mut questions = questions(server, people.len()).await;
        for (person, queue) in queues.iter().enumerate() {
            let mut poll = queue.clone();
            poll["dont_block"] = json!(true);
            questions.push(Question::new(person, "/api/v1/events", poll));
        }
        for question in &mut questions {
            (question.status, question.answer) = question.ask(server, &people).await;
        }
        Self { clock, people, questions }
    }
}

/// Requests of all `GET` routes with what the organization has, and of the state, by each of some people.
pub async fn questions(server: &TestServer, people: usize) -> Vec<Question> {
    let parts = [
        ("{stream_id}", "SELECT stream_id FROM stream"),
        ("{message_id}", "SELECT id FROM message WHERE id % 3 = 0"),
        ("{user_id}", "SELECT user_id FROM user WHERE full_name NOT LIKE 'Crowd%'"),
        ("{user_id_or_email}", "SELECT user_id FROM user WHERE full_name NOT LIKE 'Crowd%'"),
        ("{bot_id}", "SELECT user_id FROM bot"),
        ("{user_group_id}", "SELECT id FROM user_group WHERE kind = 'named'"),
        (
            "thumbnail/{realm_id}/{filename...}",
            "SELECT 'thumbnail/' || path_id || '/' || format FROM thumbnail JOIN attachment ON id = attachment_id",
        ),
        ("{realm_id}/{filename...}", "SELECT path_id FROM attachment"),
        ("{path...}", "SELECT path FROM public_image"),
        ("public/{channel}", "SELECT 'public/' || stream_id FROM stream WHERE is_web_public"),
        ("/{topic}", "SELECT '/' || min(id) FROM message"),
    ];
    let mut values = Vec::new();
    for (part, query) in parts {
        values.push((part, server.column(query).await));
    }
    let routes: Vec<Route> = teamchat::api::routes().into_iter().filter(is_asked).collect();
    let mut questions = Vec::new();
    for person in 0..people {
        for route in &routes {
            let mut paths = vec![route.full_path()];
            for (part, values) in &values {
                if paths[0].contains(part) {
                    let fill = |path: &String| values.iter().map(|value| path.replace(part, value)).collect();
                    paths = paths.iter().flat_map(|path| -> Vec<String> { fill(path) }).collect();
                }
            }
            assert!(!paths[0].contains('{'), "a part without values: {}", paths[0]);
            let parameters = parameters_of(&route.full_path());
            for path in &paths {
                questions.extend(
                    parameters.iter().map(|parameters| Question::new(person, path, parameters.clone())),
                );
            }
        }
        let capabilities = json!({"archived_channels": true, "empty_topic_name": true,
            "include_deactivated_groups": true, "user_settings_object": true, "notification_settings_null": true});
        let state = json!({"client_capabilities": capabilities, "include_subscribers": true});
        questions.push(Question::new(person, "/api/v1/register", state));
    }
    questions
}

fn is_asked(route: &Route) -> bool {
    let path = route.full_path();
    let is_page = route.access == "anyone" && route.outside && !path.starts_with("/user_avatars/");
    route.method == Method::GET
        && !is_page
        && !NOT_ASKED.contains(&path.as_str())
        && !NOT_FILLED.iter().any(|part| path.contains(part))
}

/// The parameters with which a route is asked, each in turn.
fn parameters_of(path: &str) -> Vec<Value> {
    let everything =
        json!({"anchor": "newest", "num_before": 1000, "num_after": 0, "allow_empty_topic_name": true});
    match path {
        "/api/v1/messages" => {
            let narrowed = NARROWS.iter().map(|narrow| {
                let mut parameters = everything.clone();
                parameters["narrow"] = json!(narrow);
                parameters
            });
            narrowed.collect()
        }
        "/api/v1/messages/matches_narrow" => {
            let ids: Vec<i64> = (1..80).collect();
            vec![json!({"msg_ids": ids, "narrow": [["has", "link"]]})]
        }
        "/api/v1/get_stream_id" => vec![json!({"stream": "harbour"}), json!({"stream": "smugglers"})],
        "/api/v1/realm/logo" => vec![json!({"night": true})],
        "/api/v1/streams" => vec![json!({"include_all": true, "exclude_archived": false})],
        "/api/v1/users/me/subscriptions" => vec![json!({"include_subscribers": true})],
        "/api/v1/users" => vec![json!({"include_custom_profile_fields": true})],
        "/api/v1/messages/{message_id}" => vec![json!({"apply_markdown": false})],
        _ => vec![json!({})],
    }
}
