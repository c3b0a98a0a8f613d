//! Secrets are in no line of the log, and in no entry of the audit log.

use crate::authority::{Answer, address_of, request, send_plain, with};
use crate::program::{Serving, command, create_owner};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;

const EMAIL: &str = "ada@example.com";

/// Parameters that have secrets.
const PARAMETERS: &[&str] = &[
    "api_key",
    "auth",
    "authorization",
    "config_data",
    "csrfmiddlewaretoken",
    "endpoint",
    "key",
    "new_password",
    "old_password",
    "otp",
    "p256dh",
    "password",
    "push_key",
    "secret",
    "session",
    "stripe_token",
    "token",
    "username",
];

/// Operations that end the caller's credentials or the organization, or wait for events.
const LEFT_OUT: &[&str] = &[
    "DELETE /users/me",
    "GET /events",
    "POST /accounts/logout/",
    "POST /realm/deactivate",
    "POST /users/me/api_key/regenerate",
    "POST /users/me/api_keys/revoke_others",
];

/// A server, and the secrets that were sent to it and that it made.
struct Server {
    serving: Serving,
    address: SocketAddr,
    authorization: String,
    secrets: Vec<String>,
}

impl Server {
    /// A secret that nothing else contains.
    fn secret(&mut self) -> String {
        let secret = format!("zQ{:05}xK{:05}", self.secrets.len(), 99_999 - self.secrets.len());
        self.secrets.push(secret.clone());
        secret
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        send_plain(self.address, request).await
    }

    /// Sends a request of the owner, which succeeds.
    async fn call(&self, method: &str, path: &str, form: &[(&str, &str)]) -> Value {
        let sent = request(method, &self.url(&format!("/api/v1{path}")), form);
        let answer = self.send(with(sent, "authorization", &self.authorization)).await;
        assert_eq!(answer.status, 200, "{method} {path}: {:?}", answer.body);
        answer.json()
    }

    /// Adds a secret that the server made.
    fn keep(&mut self, secret: &str) {
        assert!(secret.len() >= 8, "{secret}");
        self.secrets.push(secret.to_owned());
    }

    /// Sends a page back that a link leads to, and keeps the secret of the link.
    async fn submit_page(&mut self, link: &str, form: &[(&str, &str)]) {
        self.keep(link.trim_end_matches('/').rsplit('/').next().unwrap());
        let path = &link[link.find("/join/").unwrap()..];
        let page = self.send(request("GET", &self.url(path), &[])).await;
        let cookie = page.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        let token = cookie.split_once('=').unwrap().1.to_owned();
        let form = [form, &[("token", &token)]].concat();
        let answer = self.send(with(request("POST", &self.url(path), &form), "cookie", &cookie)).await;
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        self.keep(&token);
    }

    /// Passwords: of logins, changed, reset, of new accounts, and entered in the field of the name.
    async fn passwords(&mut self, user_id: i64, password: &str) {
        let login = |username: &str, password: &str| {
            request(
                "POST",
                &self.url("/api/v1/fetch_api_key"),
                &[("username", username), ("password", password)],
            )
        };
        let right = self.send(login(EMAIL, password)).await;
        assert_eq!(right.status, 200);
        let cookie = self.url("/accounts/login/");
        let session =
            self.send(request("POST", &cookie, &[("username", EMAIL), ("password", password)])).await;
        assert_eq!(session.status, 200);
        let (wrong, by_mistake) = ("zQwrongxKwrong", "zQmistakexKmistake");
        for (username, password) in [(EMAIL, wrong), (by_mistake, wrong), (wrong, "")] {
            assert!(self.send(login(username, password)).await.status >= 400);
        }
        for secret in [wrong, by_mistake, right.json()["api_key"].as_str().unwrap()] {
            self.keep(secret);
        }
        for cookie in session.headers.get_all("set-cookie") {
            let value = cookie.to_str().unwrap().split(';').next().unwrap().split_once('=').unwrap().1;
            self.keep(value);
        }
        let new = self.secret();
        self.call("PATCH", "/settings", &[("old_password", password), ("new_password", &new)]).await;
        let reset = self.call("POST", &format!("/users/{user_id}/password_reset"), &[]).await;
        let (chosen, link) = (self.secret(), reset["password_reset_link"].as_str().unwrap().to_owned());
        self.submit_page(&link, &[("password", &chosen)]).await;
    }

    /// The key of the owner, who has lost the others with the password.
    fn set_key(&mut self, db: &Path) {
        let mut mint = command(&["user", "key", "mint", "--email", EMAIL, "--json"]);
        let printed = mint.arg("--db").arg(db).output().unwrap();
        let minted: Value = serde_json::from_slice(&printed.stdout).unwrap();
        let key = minted["api_key"].as_str().unwrap();
        self.keep(key);
        self.authorization = format!("Basic {}", STANDARD.encode(format!("{EMAIL}:{key}")));
        let credentials = self.authorization.trim_start_matches("Basic ").to_owned();
        self.keep(&credentials);
    }

    /// Links of invitations, and keys and configurations of bots.
    async fn links_and_bots(&mut self) {
        let invite = self.call("POST", "/invites/multiuse", &[]).await;
        let (password, link) = (self.secret(), invite["invite_link"].as_str().unwrap().to_owned());
        let form = [("full_name", "Bob"), ("email", "bob@example.com"), ("password", password.as_str())];
        self.submit_page(&link, &form).await;
        let (token, changed, wrong) = (self.secret(), self.secret(), self.secret());
        let url = |token: &str| format!("http://hooks.example.com/{token}");
        let (made, changed) = (url(&token), url(&changed));
        let bot =
            [("full_name", "Helper"), ("short_name", "helper"), ("bot_type", "3"), ("payload_url", &made)];
        let bot = self.call("POST", "/bots", &bot).await;
        self.keep(bot["api_key"].as_str().unwrap());
        let path = format!("/bots/{}", bot["user_id"]);
        self.call("PATCH", &path, &[("service_payload_url", &format!("\"{changed}\""))]).await;
        let regenerated = self.call("POST", &format!("{path}/api_key/regenerate"), &[]).await;
        self.keep(regenerated["api_key"].as_str().unwrap());
        let bot = [("full_name", "Hook"), ("short_name", "hook"), ("bot_type", "2")];
        let bot = self.call("POST", "/bots", &bot).await;
        let key = bot["api_key"].as_str().unwrap().to_owned();
        self.keep(&key);
        for key in [key, wrong] {
            let url = self.url(&format!("/api/v1/external/json?api_key={key}&stream=none"));
            self.send(request("POST", &url, &[])).await;
        }
    }

    /// Each operation gets a secret in each parameter that has one, in its path and in its headers.
    async fn every_operation(&mut self) {
        for route in teamchat::api::routes() {
            if LEFT_OUT.contains(&format!("{} {}", route.method, route.path).as_str()) {
                continue;
            }
            let mut path = route.path.to_owned();
            while let (Some(start), Some(end)) = (path.find('{'), path.find('}')) {
                let secret = self.secret();
                path.replace_range(start..=end, &secret);
            }
            let values: Vec<(&str, String)> = PARAMETERS.iter().map(|name| (*name, self.secret())).collect();
            let form: Vec<(&str, &str)> =
                values.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let (cookie, wrong) = (self.secret(), self.secret());
            let wrong = format!("Basic {}", STANDARD.encode(format!("{EMAIL}:{wrong}")));
            for prefix in ["/api/v1", ""] {
                let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&form).finish();
                let url = self.url(&format!("{prefix}{path}?{query}"));
                for authorization in [&self.authorization, &wrong] {
                    let sent =
                        with(request(route.method.as_str(), &url, &form), "authorization", authorization);
                    self.send(with(sent, "cookie", &format!("session={cookie}"))).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn secrets_are_in_neither_log() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let account = create_owner(folder.path());
    let flags = ["--listen", "127.0.0.1:0", "--log", "info,teamchat=trace"];
    let serving = Serving::start(folder.path(), &flags);
    let address = address_of(&serving.origin());
    let (key, password) = (account["api_key"].as_str().unwrap(), account["password"].as_str().unwrap());
    let authorization = format!("Basic {}", STANDARD.encode(format!("{EMAIL}:{key}")));
    let secrets = vec![password.to_owned(), key.to_owned()];
    let mut server = Server { serving, address, authorization, secrets };
    server.passwords(account["user_id"].as_i64().unwrap(), password).await;
    server.set_key(&db);
    server.links_and_bots().await;
    server.every_operation().await;

    let Server { serving, secrets, .. } = server;
    let listed = command(&["audit", "--json"]).arg("--db").arg(&db).output().unwrap();
    let audit = String::from_utf8(listed.stdout).unwrap();
    let log = serving.stop();
    for action in ["login_failed", "password_set", "invitation_accepted", "bot_changed", "key_created"] {
        assert!(audit.contains(action), "{action}: {audit}");
    }
    assert!(log.contains("a login failed") && log.contains("an API key was created"), "{log}");
    for (name, text) in [("the log", log), ("the audit log", audit)] {
        let lines = text.lines().filter(|line| secrets.iter().any(|secret| line.contains(secret.as_str())));
        let lines: Vec<&str> = lines.take(10).collect();
        assert!(lines.is_empty(), "{name} has secrets: {lines:#?}");
    }
}
