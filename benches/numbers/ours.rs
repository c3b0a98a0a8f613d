//! The server under test: started from its binary and spoken to as any client would.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use form_urlencoded::Serializer;
use serde_json::Value;

use crate::load::{Connection, MakeRequest, check};
use crate::process::Process;
use crate::{Outcome, text};

/// An account, as the value of its `Authorization` header.
#[derive(Clone)]
pub struct Account(String);

impl Account {
    /// The account of that email and API key.
    pub fn new(email: &str, api_key: &str) -> Self {
        let credentials = base64::engine::general_purpose::STANDARD.encode(format!("{email}:{api_key}"));
        Self(format!("Basic {credentials}"))
    }

    /// A GET request; parameters go into the query string.
    pub fn get(&self, path: &str, parameters: &[(&str, &str)]) -> Vec<u8> {
        let query: String = Serializer::new(String::new()).extend_pairs(parameters).finish();
        let mut request = Vec::new();
        self.write(&mut request, &format!("GET {path}?{query}"), None);
        request
    }

    /// A POST request; parameters go into the body.
    pub fn post(&self, path: &str, parameters: &[(&str, &str)]) -> Vec<u8> {
        let form: String = Serializer::new(String::new()).extend_pairs(parameters).finish();
        let mut request = Vec::new();
        self.write(&mut request, &format!("POST {path}"), Some(&form));
        request
    }

    /// Any request. `first_line` has method and path.
    pub fn request(&self, first_line: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
        let head = format!(
            "{first_line} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: numbers/1.0\r\nAuthorization: {}\r\n\
             Content-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
            self.0,
            body.len()
        );
        [head.as_bytes(), body].concat()
    }

    /// No `Accept-Encoding`: answers come as they are.
    fn write(&self, request: &mut Vec<u8>, first_line: &str, form: Option<&str>) {
        let mut head = String::with_capacity(256);
        // Writing into a String cannot fail.
        let _ = write!(
            head,
            "{first_line} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: numbers/1.0\r\nAuthorization: {}\r\n",
            self.0
        );
        if let Some(form) = form {
            let _ = write!(
                head,
                "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
                form.len()
            );
        }
        request.extend_from_slice(head.as_bytes());
        request.extend_from_slice(b"\r\n");
        request.extend_from_slice(form.unwrap_or_default().as_bytes());
    }
}

/// Requests that send made-up sentences into a channel, 25 topics in turn.
pub fn send_message(account: &Account, stream_id: i64) -> MakeRequest {
    let account = account.clone();
    let to = stream_id.to_string();
    Arc::new(move |number, request| {
        let (topic, content) = (text::topic(number), text::sentence(number));
        let parameters = [("type", "channel"), ("to", &*to), ("topic", &*topic), ("content", &*content)];
        let form: String = Serializer::new(String::new()).extend_pairs(parameters).finish();
        account.write(request, "POST /api/v1/messages", Some(&form));
    })
}

/// Requests for the newest 100 messages of a channel.
pub fn newest_messages(account: &Account, channel_name: &str) -> MakeRequest {
    newest_of(account, &serde_json::json!([{"operator": "channel", "operand": channel_name}]), 100)
}

/// Requests for the newest messages of a narrow.
pub fn newest_of(account: &Account, narrow: &Value, count: usize) -> MakeRequest {
    let (narrow, count) = (narrow.to_string(), count.to_string());
    let parameters =
        [("anchor", "newest"), ("num_before", &*count), ("num_after", "0"), ("narrow", &*narrow)];
    let whole = account.get("/api/v1/messages", &parameters);
    Arc::new(move |_, request| request.extend_from_slice(&whole))
}

/// An owner and their password.
pub struct Owner {
    /// The account, with an API key.
    pub account: Account,
    /// The password of the account.
    pub password: String,
}

/// Creates the file with its organization and an owner.
pub fn create_owner(binary: &Path, file: &Path, email: &str) -> Outcome<Owner> {
    let output = command(binary)
        .args([
            "user",
            "create",
            "--role",
            "owner",
            "--json",
            "--full-name",
            "Owner",
            "--email",
            email,
            "--db",
        ])
        .arg(file)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        return Err(format!("user create failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let user: Value = serde_json::from_slice(&output.stdout)?;
    let api_key = user["api_key"].as_str().ok_or("user create printed no api_key")?;
    let password = user["password"].as_str().ok_or("user create printed no password")?.to_owned();
    Ok(Owner { account: Account::new(user["email"].as_str().unwrap_or(email), api_key), password })
}

/// Starts the server on that file, on a free port.
pub fn start(binary: &Path, file: &Path) -> Outcome<Process> {
    start_with(binary, file, &[])
}

/// The same with further arguments.
pub fn start_with(binary: &Path, file: &Path, arguments: &[&str]) -> Outcome<Process> {
    let mut command = command(binary);
    command.args(["serve", "--listen", "127.0.0.1:0"]).args(arguments).arg("--db").arg(file);
    Process::start(command)
}

/// Waits until the server answers `GET /api/v1/server_settings` with 200. Returns the time since its start.
pub async fn until_ready(process: &Process) -> Outcome<Duration> {
    let request = b"GET /api/v1/server_settings HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    loop {
        if let Ok(mut connection) = Connection::open(process.address).await
            && let Ok(answer) = connection.exchange(request).await
            && answer.status == 200
        {
            return Ok(process.started.elapsed());
        }
        if process.started.elapsed() > Duration::from_secs(30) {
            return Err("the server does not answer".into());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Sends one request and returns the JSON of its answer, which must be a success.
pub async fn call(address: SocketAddr, request: &[u8]) -> Outcome<Value> {
    let mut connection = Connection::open(address).await?;
    let answer = connection.exchange(request).await?;
    check(&answer)?;
    Ok(serde_json::from_slice(answer.body)?)
}

/// An event queue that receives messages.
pub struct Queue {
    /// Its name.
    pub queue_id: String,
    /// The last event it has acknowledged.
    pub last_event_id: i64,
}

/// Registers a queue for messages, over an open connection.
pub async fn register(connection: &mut Connection, account: &Account) -> Outcome<Queue> {
    let types = r#"["message"]"#;
    let request = account.post("/api/v1/register", &[("event_types", types), ("apply_markdown", "true")]);
    let answer = connection.exchange(&request).await?;
    check(&answer)?;
    let state: Value = serde_json::from_slice(answer.body)?;
    Ok(Queue {
        queue_id: state["queue_id"].as_str().ok_or("register answered without queue_id")?.to_owned(),
        last_event_id: state["last_event_id"].as_i64().ok_or("register answered without last_event_id")?,
    })
}

impl Queue {
    /// A long poll for the next events.
    pub fn poll(&self, account: &Account) -> Vec<u8> {
        let last_event_id = self.last_event_id.to_string();
        account.get("/api/v1/events", &[("queue_id", &*self.queue_id), ("last_event_id", &*last_event_id)])
    }
}

/// Stops a server and says how long that took.
pub fn stop(process: Process) -> Outcome<Duration> {
    let asked = Instant::now();
    process.stop()?;
    Ok(asked.elapsed())
}

/// The binary, without settings that the environment of this program happens to hold.
fn command(binary: &Path) -> Command {
    let mut command = Command::new(binary);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TEAMCHAT_") {
            command.env_remove(name);
        }
    }
    command
}
