//! Test servers as authors of clients meet them: the library (`teamchat::testing`), and the program with its control.

mod bot;
mod control;
mod dev;
mod faults;
mod fixtures;
mod program;
mod records;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Fixtures of two people, a bot and two channels.
const SMALL: &str = r#"{
  "users": [
    {"email": "iago@example.com", "full_name": "Iago", "role": "owner", "api_key": "iago-key"},
    {"email": "hamlet@example.com", "full_name": "Hamlet", "role": "member", "api_key": "hamlet's own: key"},
    {"email": "echo-bot@example.com", "full_name": "Echo", "role": "member", "api_key": "echo-key", "is_bot": true, "bot_owner": "iago@example.com"}
  ],
  "channels": [
    {"name": "Verona", "subscribers": ["iago@example.com", "hamlet@example.com", "echo-bot@example.com"], "description": "A city"},
    {"name": "core", "private": true, "subscribers": ["iago@example.com"]}
  ],
  "messages": [
    {"sender": "iago@example.com", "channel": "Verona", "topic": "greetings", "content": "**hello**", "date": "2026-01-01T00:00:00Z"},
    {"sender": "hamlet@example.com", "to": ["iago@example.com"], "content": "in private"}
  ]
}"#;

/// The program as a test server, with its control.
struct Program {
    child: Child,
    url: String,
    control: String,
    /// Output of the program when it was ready.
    ready: Value,
    http: reqwest::Client,
    _folder: TempDir,
}

impl Program {
    /// Starts it on fixtures, with more flags.
    fn start(fixtures: impl AsRef<[u8]>, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = write(&folder, fixtures);
        let mut child = command()
            .args([
                "serve",
                "--ephemeral",
                "--listen",
                "127.0.0.1:0",
                "--test-control",
                "127.0.0.1:0",
                "--json",
            ])
            .arg("--fixtures")
            .arg(file)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let text = |name: &str| ready[name].as_str().unwrap().to_owned();
        let (url, control) = (text("url"), text("test_control_url"));
        Self { child, url, control, ready, http: reqwest::Client::new(), _folder: folder }
    }

    /// Sends a request to the control. Returns the status and the JSON.
    async fn ask(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        let mut request = self.http.request(method, format!("{}{path}", self.control));
        if !body.is_null() {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// Like `ask`, for requests that must succeed.
    async fn control(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, answer) = self.ask(method.parse().unwrap(), path, body).await;
        assert_eq!(status, 200, "{method} {path}: {answer}");
        answer
    }

    /// A request of a user, by email and key.
    fn request(&self, method: Method, path: &str, user: (&str, &str)) -> RequestBuilder {
        self.http.request(method, format!("{}/api/v1{path}", self.url)).basic_auth(user.0, Some(user.1))
    }

    async fn get(&self, path: &str, user: (&str, &str)) -> Value {
        self.request(Method::GET, path, user).send().await.unwrap().json().await.unwrap()
    }

    async fn post(&self, path: &str, user: (&str, &str), form: Value) -> Value {
        self.request(Method::POST, path, user).form(&form).send().await.unwrap().json().await.unwrap()
    }

    /// Sends a message to Verona and returns the response, if any.
    async fn send(&self, content: &str) -> reqwest::Result<Value> {
        let form = json!({"type": "channel", "to": "Verona", "topic": "t", "content": content});
        self.request(Method::POST, "/messages", IAGO).form(&form).send().await?.json().await
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

const IAGO: (&str, &str) = ("iago@example.com", "iago-key");
const HAMLET: (&str, &str) = ("hamlet@example.com", "hamlet's own: key");
const BOT: (&str, &str) = ("echo-bot@example.com", "echo-key");

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamchat"));
    command.stdin(Stdio::null());
    command
}

fn write(folder: &TempDir, fixtures: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join("fixtures.json");
    std::fs::write(&path, fixtures).unwrap();
    path
}
