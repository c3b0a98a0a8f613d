//! Resident memory after many small requests of each operation by one user.
//!
//! The operations come from the description that the server publishes, so new ones are included automatically.
//! Parameters are chosen by their names ([`VALUES`]), unless an operation needs others ([`OWN_VALUES`]). The organization
//! has one thing of each kind ([`THINGS`]), with the id 1 if nothing else is said.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use form_urlencoded::Serializer;
use tokio::task::JoinSet;

use super::{Bench, fresh};
use crate::load::Connection;
use crate::ours::{self, Account};
use crate::process::Process;
use crate::report::{Figure, Reach};
use crate::{Outcome, progress};

/// Maximum memory of the server in MiB.
const AT_MOST_MIB: f64 = 40.0;
/// Time for memory usage to settle.
const REST: Duration = Duration::from_millis(300);
/// Delay before a figure above the limit is measured again, after maintenance.
const LATER: Duration = Duration::from_secs(75);
/// Number of connections.
const CONNECTIONS: u64 = 8;

/// Values of parameters by name; `{n}` is the number of the request. Those with `true` are sent even if the operation does
/// not need them. A required parameter that is not here gets a value of its type.
const VALUES: &[(&str, &str, bool)] = &[
    ("add", r#"["w{n}"]"#, false),
    ("alert_words", r#"["word{n}"]"#, false),
    ("anchor", "newest", true),
    ("channel_folder_id", "1", false),
    ("client_gravatar", "true", false),
    ("content", "text {n}", true),
    ("data", r#"[{"id": 1, "value": "v{n}"}]"#, false),
    ("description", "about {n}", true),
    ("domain", "d{n}.example", false),
    ("dont_block", "true", true),
    ("draft", r#"{"type": "stream", "to": [1], "topic": "t{n}", "content": "c{n}"}"#, false),
    ("drafts", r#"[{"type": "stream", "to": [1], "topic": "t{n}", "content": "c{n}"}]"#, false),
    ("email", "x{n}@example.com", false),
    ("emoji_name", "tada", true),
    ("enter_sends", "true", true),
    ("event_types", "null", false),
    ("field_type", "1", false),
    ("flag", "starred", false),
    ("fragment", "narrow/{n}", false),
    ("full_name", "Name {n}", true),
    ("include_subscribers", "true", true),
    ("invitee_emails", "y{n}@example.com", false),
    ("last_event_id", "-1", true),
    ("message_id", "1", false),
    ("messages", "[1]", false),
    ("msg_type", "widget", false),
    ("name", "name {n}", true),
    ("narrow", r#"[["channel", "general"]]"#, true),
    ("num_after", "0", false),
    ("num_before", "2", false),
    ("onboarding_step", "intro_inbox_view_modal", false),
    ("op", "add", true),
    ("pattern", "#x{n}-(?P<id>[0-9]+)", false),
    ("pygments_language", "Lang{n}", false),
    ("queue_id", "{queue}", true),
    ("recipient_id", "{user}", false),
    ("scheduled_delivery_timestamp", "4000000000", false),
    ("short_name", "bot{n}", false),
    ("status", "active", false),
    ("status_text", "doing {n}", true),
    ("storage", r#"{"key{n}": "value"}"#, false),
    ("stream_id", "1", true),
    ("stream_ids", "[1]", true),
    ("subscribers", "[]", false),
    ("subscription_data", r##"[{"stream_id": 1, "property": "color", "value": "#aabbcc"}]"##, false),
    ("subscriptions", r#"[{"name": "channel {n}"}]"#, false),
    ("title", "title {n}", false),
    ("to", "1", true),
    ("topic", "topic {n}", true),
    ("topic_name", "topic {n}", false),
    ("type", "channel", true),
    ("url_template", "https://example.com/{id}", false),
    ("user_id", "{user}", false),
    ("user_id_or_email", "{user}", false),
    ("visibility_policy", "3", false),
];

/// Values of parameters for single operations. Optional parameters are sent, too.
const OWN_VALUES: &[(&str, &[(&str, &str)])] = &[];

/// Things of the organization before the requests: paths, and the forms posted to them.
const THINGS: &[(&str, &str)] = &[
    ("/messages", "type=channel&to=1&topic=first&content=hello"),
    ("/messages/1/reactions", "emoji_name=tada"),
    ("/bots", "full_name=Helper&short_name=helper&bot_type=2"),
    ("/drafts", "drafts=[{\"type\":\"stream\",\"to\":[1],\"topic\":\"t\",\"content\":\"c\"}]"),
    ("/saved_snippets", "title=title&content=text"),
    ("/user_groups/create", "name=people&description=text&members=[{user}]"),
    ("/channel_folders/create", "name=folder&description=text"),
    ("/realm/filters", "pattern=%23(?P<id>[0-9]%2B)&url_template=https://example.com/{id}"),
    ("/realm/playgrounds", "name=Rust&pygments_language=Rust&url_template=https://example.com/{code}"),
    ("/realm/profile_fields", "name=Pet&field_type=1"),
    ("/realm/domains", "domain=example.org&allow_subdomains=false"),
    ("/scheduled_messages", "type=channel&to=1&topic=t&content=c&scheduled_delivery_timestamp=4000000000"),
    ("/reminders", "message_id=1&scheduled_delivery_timestamp=4000000000"),
    ("/invites", "invitee_emails=guest@example.com&stream_ids=[1]"),
    ("/invites/multiuse", "stream_ids=[1]"),
    ("/default_stream_groups/create", "group_name=group&description=text&stream_names=[]"),
    ("/navigation_views", "fragment=narrow/first&is_pinned=true&name=First"),
];

/// The beginnings of paths to which files are posted.
const FILES: &[&str] = &["/user_uploads", "/users/me/avatar", "/realm/icon", "/realm/logo", "/realm/emoji/"];

/// A file that is an image, for operations that take one.
const IMAGE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

/// An operation of the description.
struct Operation {
    method: String,
    path: String,
    parameters: Vec<Parameter>,
    takes_file: bool,
}

struct Parameter {
    name: String,
    is_in_path: bool,
    is_required: bool,
    /// The text after the name or `schema:`, which contains the type.
    schema: String,
}

/// The server's memory after many requests of each operation, each time on a fresh copy of a small organization.
pub async fn run(bench: &Bench) -> Outcome<Vec<Figure>> {
    let Some(server) = &bench.server else { return Ok(Vec::new()) };
    let base = fresh(bench, "operations-base")?;
    let owner = ours::create_owner(&server.binary, &base, "owner@example.com")?.account;
    let process = ours::start(&server.binary, &base)?;
    ours::until_ready(&process).await?;
    let me = ours::call(process.address, &owner.get("/api/v1/users/me", &[])).await?;
    let user = me["user_id"].to_string();
    for (path, form) in THINGS {
        let form = form.replace("{user}", &user);
        let line = format!("POST /api/v1{path}");
        let request = owner.request(&line, "application/x-www-form-urlencoded", form.as_bytes());
        ours::call(process.address, &request).await.map_err(|error| format!("{path}: {error}"))?;
    }
    let description = description(process.address, &owner).await?;
    ours::stop(process)?;

    let mut figures = Vec::new();
    for operation in operations(&description) {
        let what = operation.name();
        progress(&what);
        let file = fresh(bench, "operations")?;
        std::fs::copy(&base, &file)?;
        figures.push(measure(bench, &server.binary, &file, &owner, &user, Arc::new(operation), what).await?);
    }
    // The largest first.
    figures.sort_by(|one, other| median(other).total_cmp(&median(one)));
    Ok(figures)
}

fn median(figure: &Figure) -> f64 {
    figure.measured.as_ref().map_or(0.0, crate::report::Spread::median)
}

async fn measure(
    bench: &Bench,
    binary: &Path,
    file: &Path,
    owner: &Account,
    user: &str,
    operation: Arc<Operation>,
    what: String,
) -> Outcome<Figure> {
    let process = ours::start(binary, file)?;
    ours::until_ready(&process).await?;
    // A client that gets all events and fetches none.
    let state = ours::call(process.address, &owner.post("/api/v1/register", &[])).await?;
    let queue = state["queue_id"].as_str().ok_or("register answered without queue_id")?.to_owned();
    let names = Arc::new([("{user}", user.to_owned()), ("{queue}", queue)]);
    let Tally { requests, successes, refusal } =
        send(bench, process.address, owner, &names, &operation).await?;
    tokio::time::sleep(REST).await;
    let after = mib(&process)?;
    let mut notes = vec![format!("{what}: {requests} requests, {successes} successes")];
    notes.extend(refusal.filter(|_| successes == 0).map(|text| format!("{what}: {text}")));
    if after > AT_MOST_MIB {
        tokio::time::sleep(LATER).await;
        notes.push(format!("{what}: {:.1} MiB a minute later", mib(&process)?));
    }
    drop(process);
    Ok(Figure {
        what,
        unit: "MiB",
        measured: Some(vec![after].into()),
        against: None,
        ratio: None,
        reach: Reach::AtMost(AT_MOST_MIB),
        notes,
    })
}

fn mib(process: &Process) -> Outcome<f64> {
    Ok(process.resident_kib()? / 1024.0)
}

/// Requests sent, successes among them, and the first refusal.
#[derive(Default)]
struct Tally {
    requests: u64,
    successes: u64,
    refusal: Option<String>,
}

/// Sends requests until there were enough or the time is over.
async fn send(
    bench: &Bench,
    address: SocketAddr,
    owner: &Account,
    names: &Arc<[(&'static str, String); 2]>,
    operation: &Arc<Operation>,
) -> Outcome<Tally> {
    let (requests, until) = (bench.requests, Instant::now() + bench.requests_for);
    let mut clients = JoinSet::new();
    for client in 0..CONNECTIONS {
        let (owner, names, operation) = (owner.clone(), Arc::clone(names), Arc::clone(operation));
        clients.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut all = Tally::default();
            for number in (client..requests).step_by(CONNECTIONS as usize) {
                if Instant::now() > until {
                    break;
                }
                let request = operation.request(&owner, &*names, number);
                all.requests += 1;
                match connection.exchange(&request).await {
                    Ok(answer) if answer.status < 400 => all.successes += 1,
                    Ok(answer) => {
                        let text = || String::from_utf8_lossy(answer.body).trim_end().to_owned();
                        all.refusal.get_or_insert_with(text);
                    }
                    // The server may close a connection after a refusal.
                    Err(_) => connection = Connection::open(address).await?,
                }
            }
            Outcome::Ok(all)
        });
    }
    let mut all = Tally::default();
    while let Some(client) = clients.join_next().await {
        let of_client = client??;
        all.requests += of_client.requests;
        all.successes += of_client.successes;
        all.refusal = all.refusal.or(of_client.refusal);
    }
    Ok(all)
}

impl Operation {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    fn request(&self, owner: &Account, names: &[(&str, String)], number: u64) -> Vec<u8> {
        let mut path = format!("/api/v1{}", self.path);
        let mut others = Vec::new();
        for parameter in &self.parameters {
            let own = OWN_VALUES.iter().filter(|(of, _)| *of == self.name()).flat_map(|(_, values)| *values);
            let own =
                own.clone().find(|(name, _)| *name == parameter.name).map(|(_, value)| (*value).to_owned());
            let Some(mut value) = own.or_else(|| parameter.value()) else { continue };
            value = value.replace("{n}", &number.to_string());
            for (name, known) in names {
                value = value.replace(name, known);
            }
            if parameter.is_in_path {
                path = path.replace(&format!("{{{}}}", parameter.name), &value);
            } else {
                others.push((parameter.name.clone(), value));
            }
        }
        let form: String = Serializer::new(String::new()).extend_pairs(&others).finish();
        let (content_type, body) = if self.takes_file {
            path = format!("{path}?{form}");
            let mut body =
                b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\r\n".to_vec();
            body.extend_from_slice(IMAGE);
            body.extend_from_slice(b"\r\n--b--\r\n");
            ("multipart/form-data; boundary=b", body)
        } else if self.method == "GET" {
            path = format!("{path}?{form}");
            ("application/x-www-form-urlencoded", Vec::new())
        } else {
            ("application/x-www-form-urlencoded", form.into_bytes())
        };
        owner.request(&format!("{} {path}", self.method), content_type, &body)
    }
}

impl Parameter {
    fn value(&self) -> Option<String> {
        let known = VALUES.iter().find(|(name, ..)| *name == self.name);
        if let Some((_, value, is_always_sent)) = known {
            return (self.is_required || *is_always_sent).then(|| (*value).to_owned());
        }
        self.is_required.then(|| {
            let of_type = [("integer", "1"), ("boolean", "true"), ("array", "[]"), ("object", "{}")];
            let found = of_type.iter().find(|(name, _)| self.schema.contains(&format!("\"{name}\"")));
            found.map_or("x{n}", |(_, value)| value).to_owned()
        })
    }
}

async fn description(address: SocketAddr, owner: &Account) -> Outcome<String> {
    let mut connection = Connection::open(address).await?;
    let answer = connection.exchange(&owner.request("GET /api/openapi.yaml", "text/plain", b"")).await?;
    Ok(String::from_utf8_lossy(answer.body).into_owned())
}

/// Reads the operations of the description, as the program writes it: paths are indented by two spaces, methods by four.
fn operations(description: &str) -> Vec<Operation> {
    let mut operations: Vec<Operation> = Vec::new();
    let (mut path, mut required, mut in_properties) = (String::new(), String::new(), false);
    let paths = description.lines().skip_while(|line| *line != "paths:");
    for line in paths {
        let indent = line.len() - line.trim_start().len();
        let text = line.trim();
        if indent == 2 {
            text.trim_end_matches(':').trim_matches('"').clone_into(&mut path);
            continue;
        }
        if indent == 4 && text.ends_with(':') {
            let method = text.trim_end_matches(':').to_ascii_uppercase();
            let takes_file = method == "POST" && FILES.iter().any(|prefix| path.starts_with(prefix));
            let operation = Operation { method, path: path.clone(), parameters: Vec::new(), takes_file };
            operations.push(operation);
            (required, in_properties) = (String::new(), false);
            continue;
        }
        let Some(operation) = operations.last_mut() else { continue };
        in_properties &= indent >= 16;
        match (indent, text.split_once(": ")) {
            (10, Some(("name", name))) => operation.parameters.push(Parameter {
                name: name.trim_matches('"').to_owned(),
                is_in_path: false,
                is_required: false,
                schema: String::new(),
            }),
            (10, Some(("in", place))) => {
                if let Some(last) = operation.parameters.last_mut() {
                    last.is_in_path = place == "\"path\"";
                }
            }
            (10, Some(("required", value))) => {
                if let Some(last) = operation.parameters.last_mut() {
                    last.is_required = value == "true";
                }
            }
            (14, Some(("required", names))) => names.clone_into(&mut required),
            (14, None) if text == "properties:" => in_properties = true,
            (16, _) if in_properties => {
                let (name, schema) = text.split_once(':').unwrap_or((text, ""));
                let name = name.trim_matches('"').to_owned();
                let is_required = required.contains(&format!("\"{name}\""));
                let schema = schema.to_owned();
                operation.parameters.push(Parameter { name, is_in_path: false, is_required, schema });
            }
            (12 | 18, Some(("type", value))) => {
                if let Some(last) =
                    operation.parameters.last_mut().filter(|last| last.schema.trim().is_empty())
                {
                    value.clone_into(&mut last.schema);
                }
            }
            (10, Some(("schema", schema))) => {
                if let Some(last) = operation.parameters.last_mut() {
                    schema.clone_into(&mut last.schema);
                }
            }
            _ => {}
        }
    }
    operations
}
