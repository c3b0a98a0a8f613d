//! The program, and people who use it.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// The program, serving a file.
pub struct Server {
    pub child: Child,
    /// The address of the server.
    pub origin: String,
    /// Open as long as the server lives, which still writes to it.
    _output: BufReader<ChildStdout>,
}

impl Server {
    /// Starts and waits until it listens.
    pub fn start(db: &Path) -> Self {
        Self::start_with(db, &[])
    }

    /// Starts with these environment variables.
    pub fn start_with(db: &Path, variables: &[(&str, &Path)]) -> Self {
        Self::start_logging(db, variables, Stdio::null())
    }

    /// Likewise, with a log.
    pub fn start_logging(db: &Path, variables: &[(&str, &Path)], log: impl Into<Stdio>) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_teamchat"))
            .args(["serve", "--listen", "127.0.0.1:0", "--db"])
            .arg(db)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("listening") {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "the server says where it listens");
        }
        let origin = line.split_whitespace().last().unwrap().to_owned();
        Self { child, origin, _output: output }
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already removed, unless the test failed.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// A person with an account.
#[derive(Clone)]
pub struct Person {
    http: reqwest::Client,
    email: String,
    api_key: String,
    /// Of the owner only.
    #[cfg(target_os = "linux")]
    password: Option<String>,
    pub user_id: i64,
}

impl Person {
    /// Creates an account with the command line.
    pub fn create(db: &Path, name: &str, role: &str) -> Self {
        let email = format!("{name}@example.com");
        // Members are bots of the owner, which need no password: it would take long to hash.
        let owner = ["--bot-owner", "owner@example.com"];
        let output = Command::new(env!("CARGO_BIN_EXE_teamchat"))
            .args([
                "user",
                "create",
                "--json",
                "--email",
                &email,
                "--full-name",
                name,
                "--role",
                role,
                "--db",
            ])
            .arg(db)
            .args(if role == "member" { &owner[..] } else { &[][..] })
            .output()
            .unwrap();
        let user: Value = serde_json::from_slice(&output.stdout).unwrap();
        // The server closes idle connections, at the earliest after 20 seconds. A request at that moment would fail.
        let http = reqwest::Client::builder().pool_idle_timeout(Duration::from_secs(10)).build().unwrap();
        Self {
            http,
            email,
            api_key: user["api_key"].as_str().unwrap().to_owned(),
            #[cfg(target_os = "linux")]
            password: user["password"].as_str().map(str::to_owned),
            user_id: user["user_id"].as_i64().unwrap(),
        }
    }

    /// The answer to a request that succeeds; `None` when the server has been killed.
    pub async fn ask(&self, origin: &str, method: &str, path: &str, parameters: &Value) -> Option<Value> {
        let (status, answer) = self.request(origin, method, path, parameters).await?;
        assert_eq!(answer["result"], "success", "{status}: {method} {path} {parameters}: {answer}");
        Some(answer)
    }

    /// Logs in with a browser, and turns notifications on in it.
    #[cfg(target_os = "linux")]
    pub async fn subscribe_browser(&self, origin: &str, subscription: &Value) {
        let login = [("username", self.email.as_str()), ("password", self.password.as_deref().unwrap())];
        let answer = self.http.post(format!("{origin}/accounts/login/")).form(&login).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{answer:?}");
        let cookies = answer.headers().get_all("set-cookie").iter();
        let pairs: Vec<&str> =
            cookies.map(|cookie| cookie.to_str().unwrap().split(';').next().unwrap()).collect();
        let token = pairs.last().unwrap().split_once('=').unwrap().1;
        let request = self.http.post(format!("{origin}/json/users/me/web_push")).form(subscription);
        let request = request.header("Cookie", pairs.join("; ")).header("X-CSRFToken", token);
        let answer = request.header("Sec-Fetch-Site", "same-origin").send().await.unwrap();
        assert_eq!(answer.status(), 200, "{answer:?}");
    }

    /// The status and the answer; `None` when the server has been killed.
    pub async fn request(
        &self,
        origin: &str,
        method: &str,
        path: &str,
        parameters: &Value,
    ) -> Option<(u16, Value)> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let pairs: Vec<(&str, String)> = parameters
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.as_str(), text(value)))
            .collect();
        let url = format!("{origin}/api/v1{path}");
        let request = self.http.request(method.parse().unwrap(), url);
        let request =
            if matches!(method, "GET" | "DELETE") { request.query(&pairs) } else { request.form(&pairs) };
        let response = request.basic_auth(&self.email, Some(&self.api_key)).send().await.ok()?;
        let status = response.status().as_u16();
        let body = response.bytes().await.ok()?;
        Some((status, serde_json::from_slice(&body).unwrap()))
    }
}
