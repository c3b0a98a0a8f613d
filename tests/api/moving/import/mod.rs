//! Archives of other servers, imported by the program into files on which servers then run.

mod archive;
mod broken;
mod broken_others;
mod broken_rows;
mod converted;
mod json;
mod killed;
mod mattermost;
mod passwords;
mod rocketchat;
mod slack;
mod slack_api;
mod slack_blocks;
mod slack_grid;
mod values;
mod zulip;

use crate::harness::{Client, START, TestServer};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use teamchat::app::Options;
use teamchat::domain::{keys, users};
use teamchat::http::ApiResult;
use teamchat::types::Clock;
use tempfile::TempDir;

/// A folder with an archive, and room for a database.
pub struct Import {
    pub folder: TempDir,
    format: &'static str,
}

impl Import {
    pub fn new(format: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("archive")).unwrap();
        Self { folder, format }
    }

    pub fn archive(&self) -> PathBuf {
        self.folder.path().join("archive")
    }

    pub fn database(&self) -> PathBuf {
        self.folder.path().join("chat.sqlite")
    }

    /// Writes a file of the archive.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.archive().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn run_on(&self, path: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_teamchat"));
        command.args(["import", self.format]).arg(path).arg("--db").arg(self.database()).args(arguments);
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// Imports, and returns the report.
    pub fn run(&self, arguments: &[&str]) -> Value {
        self.report_on(&self.archive(), arguments)
    }

    /// Imports a folder or file, and returns the report.
    pub fn report_on(&self, path: &Path, arguments: &[&str]) -> Value {
        let output = self.run_on(path, &[&["--json"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str(printed.lines().last().unwrap()).unwrap()
    }

    /// Expects a refusal, with nothing left behind, and returns its error.
    pub fn refused(&self, path: &Path) -> String {
        let output = self.run_on(path, &["--json"]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert_eq!(self.left(), ["archive"; 0], "{error}");
        error.strip_prefix("error: ").unwrap_or(&error).trim_end().to_owned()
    }

    /// The files beside the archive.
    pub fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.starts_with("archive")).collect()
    }

    /// A server on the imported file.
    async fn serve(&self) -> TestServer {
        let file = std::fs::read(self.database()).unwrap();
        TestServer::start_on(&file, Clock::manual(START), Options::default()).await
    }
}

/// The client of an imported account, with a key of which no notice is sent.
pub async fn client(server: &TestServer, email: &str) -> Client {
    let wanted = email.to_owned();
    let minted = server.app().writer.run(move |tx| -> ApiResult<(i64, String)> {
        let user = users::by_delivery_email(tx, &wanted)?.expect("the account was imported");
        Ok((user.user_id.0, keys::mint(tx, user.user_id, "test")?))
    });
    let (user_id, key) = minted.await.unwrap();
    let mut client = server.anonymous().with_key(&key);
    client.user_id = user_id;
    email.clone_into(&mut client.email);
    client
}

/// The reasons why things of a kind were left out, with their numbers.
fn left_out<'r>(report: &'r Value, what: &str) -> Vec<(i64, &'r str)> {
    let rows = report["left_out"].as_array().unwrap().iter().filter(|left| left["what"] == what);
    rows.map(|left| (left["count"].as_i64().unwrap(), left["why"].as_str().unwrap())).collect()
}

/// The contents of messages.
fn contents(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|one| one["content"].as_str().unwrap()).collect()
}

/// A member of each message, which is a text, and its content.
fn with_content<'m>(messages: &'m [Value], member: &str) -> Vec<(&'m str, &'m str)> {
    messages.iter().map(|one| (one[member].as_str().unwrap(), one["content"].as_str().unwrap())).collect()
}

/// All messages of a narrow, the oldest first, as Markdown.
async fn messages(client: &Client, narrow: Value) -> Vec<Value> {
    let page = serde_json::json!({
        "anchor": "newest", "num_before": 100, "num_after": 0, "narrow": narrow, "apply_markdown": false,
        "allow_empty_topic_name": true
    });
    let mut answer = client.get("/messages", page).await.ok();
    match answer["messages"].take() {
        Value::Array(messages) => messages,
        other => panic!("{other}"),
    }
}
