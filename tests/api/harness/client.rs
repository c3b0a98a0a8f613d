//! One user's way to the server, and the answers.

use super::{Endpoint, Queue, description};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use std::ops::Index;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use teamchat::app::App;
use teamchat::auth::session;
use teamchat::commands::CreatedUser;

/// A client of a user, or an anonymous one.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    endpoint: Arc<Mutex<Endpoint>>,
    /// 0 without credentials.
    pub user_id: i64,
    /// The real email, which is also the API email of a new user.
    pub email: String,
    /// The name shown.
    pub full_name: String,
    /// Absent without credentials.
    pub api_key: Option<String>,
    /// Set for a browser: the secret of its session, if it has one.
    browser: Option<Option<String>>,
}

impl Client {
    pub(super) fn anonymous(endpoint: Arc<Mutex<Endpoint>>) -> Self {
        let http = reqwest::Client::builder()
            .user_agent("teamchat-tests/1.0")
            .redirect(reqwest::redirect::Policy::none())
            // The server closes idle connections, at the earliest after 20 seconds. A request at that moment would fail.
            .pool_idle_timeout(Duration::from_secs(10))
            .build()
            .unwrap();
        let (email, full_name) = Default::default();
        Self { http, endpoint, user_id: 0, email, full_name, api_key: None, browser: None }
    }

    pub(super) fn new(endpoint: Arc<Mutex<Endpoint>>, user: CreatedUser) -> Self {
        Self {
            user_id: user.user_id.0,
            email: user.email,
            full_name: user.full_name,
            api_key: Some(user.api_key),
            ..Self::anonymous(endpoint)
        }
    }

    /// The same user at another server.
    pub(super) fn at(&self, endpoint: Arc<Mutex<Endpoint>>) -> Self {
        Self { endpoint, ..self.clone() }
    }

    /// The same user with another key.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        Self { api_key: Some(key.to_owned()), browser: None, ..self.clone() }
    }

    /// The same user in a browser, with or without a session. Paths below `/api/v1` become paths below `/json`.
    #[must_use]
    pub fn in_browser(&self, session: Option<String>) -> Self {
        Self { api_key: None, browser: Some(session), ..self.clone() }
    }

    /// The line of a request with the user's key.
    pub fn authorization(&self) -> String {
        let pair = format!("{}:{}", self.email, self.api_key.as_deref().unwrap());
        format!("Authorization: Basic {}\r\n", STANDARD.encode(pair))
    }

    /// The server behind the address; `None` while it is stopped.
    pub(super) fn app(&self) -> Option<Arc<App>> {
        Weak::upgrade(&self.endpoint.lock().unwrap().app)
    }

    /// `GET` with a query string. Paths are those below `/api/v1`.
    pub async fn get(&self, path: &str, parameters: impl Parameters) -> Answer {
        self.request(Method::GET, path).query(parameters).send().await
    }

    /// `POST` with an urlencoded body.
    pub async fn post(&self, path: &str, parameters: impl Parameters) -> Answer {
        self.request(Method::POST, path).form(parameters).send().await
    }

    /// `PATCH` with an urlencoded body.
    pub async fn patch(&self, path: &str, parameters: impl Parameters) -> Answer {
        self.request(Method::PATCH, path).form(parameters).send().await
    }

    /// `DELETE` with a query string; `request(Method::DELETE, ..).form(..)` sends a body.
    pub async fn delete(&self, path: &str, parameters: impl Parameters) -> Answer {
        self.request(Method::DELETE, path).query(parameters).send().await
    }

    /// Any request, built step by step.
    pub fn request(&self, method: Method, path: &str) -> Request {
        let prefix = if self.browser.is_some() { "/json" } else { "/api/v1" };
        self.request_outside(method, &format!("{prefix}{path}"))
    }

    /// A request for a path that is not below `/api/v1`.
    pub fn request_outside(&self, method: Method, path: &str) -> Request {
        let origin = self.endpoint.lock().unwrap().origin.clone();
        let line = format!("{method} {path}");
        let mut builder = self.http.request(method, format!("{origin}{path}"));
        if let Some(api_key) = &self.api_key {
            builder = builder.basic_auth(&self.email, Some(api_key));
        }
        if let Some(Some(secret)) = &self.browser {
            let (cookies, token) = cookies_of(secret);
            builder = builder.header("Cookie", cookies).header("X-CSRFToken", token);
            builder = builder.header("Sec-Fetch-Site", "same-origin");
        }
        let names = match path.split_once('?') {
            Some((_, query)) => {
                names(&form_urlencoded::parse(query.as_bytes()).into_owned().collect::<Vec<_>>())
            }
            None => Vec::new(),
        };
        Request { builder, line, names: Some(names), is_random: false }
    }

    pub async fn register(&self, parameters: impl Parameters) -> Queue {
        let parameters = parameters.pairs();
        let state = self.post("/register", parameters.as_slice()).await.ok();
        Queue::new(self.clone(), state)
    }
}

/// The cookies of a browser that was given a session, and the token that its pages send.
pub fn cookies_of(secret: &str) -> (String, String) {
    let set = session::begin(secret, "http://localhost");
    let pairs: Vec<&str> = set.iter().filter_map(|(_, cookie)| cookie.split(';').next()).collect();
    let token = pairs[1].split_once('=').unwrap().1.to_owned();
    (pairs.join("; "), token)
}

/// Parameters of a request: `()`, pairs of texts, or a JSON object. Strings of an object are sent as they are, other
/// values as JSON text, as the interface expects.
pub trait Parameters {
    /// Names and values.
    fn pairs(self) -> Vec<(String, String)>;
}

impl Parameters for () {
    fn pairs(self) -> Vec<(String, String)> {
        Vec::new()
    }
}

impl<const N: usize> Parameters for &[(&str, &str); N] {
    fn pairs(self) -> Vec<(String, String)> {
        self.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }
}

impl Parameters for &[(String, String)] {
    fn pairs(self) -> Vec<(String, String)> {
        self.to_vec()
    }
}

impl Parameters for Value {
    fn pairs(self) -> Vec<(String, String)> {
        let Self::Object(members) = self else { panic!("parameters are an object, not {self}") };
        let text = |value| match value {
            Self::String(text) => text,
            other => other.to_string(),
        };
        members.into_iter().map(|(name, value)| (name, text(value))).collect()
    }
}

impl Parameters for &Value {
    fn pairs(self) -> Vec<(String, String)> {
        self.clone().pairs()
    }
}

/// A request that is being built.
pub struct Request {
    builder: RequestBuilder,
    line: String,
    /// The names of the parameters; `None` for a raw body.
    names: Option<Vec<String>>,
    is_random: bool,
}

fn names(pairs: &[(String, String)]) -> Vec<String> {
    pairs.iter().map(|(name, _)| name.clone()).collect()
}

impl Request {
    /// Adds parameters to the query string.
    #[must_use]
    pub fn query(self, parameters: impl Parameters) -> Self {
        let pairs = parameters.pairs();
        let request = self.with_names(&pairs);
        Self { builder: request.builder.query(&pairs), ..request }
    }

    /// Sends parameters as an urlencoded body.
    #[must_use]
    pub fn form(self, parameters: impl Parameters) -> Self {
        let pairs = parameters.pairs();
        let request = self.with_names(&pairs);
        Self { builder: request.builder.form(&pairs), ..request }
    }

    /// Sends parameters, and files of field name, file name and content, as a multipart body.
    #[must_use]
    pub fn multipart(self, parameters: impl Parameters, files: &[(&str, &str, &[u8])]) -> Self {
        let mut form = reqwest::multipart::Form::new();
        let pairs = parameters.pairs();
        let request = self.with_names(&pairs);
        for (name, value) in pairs {
            form = form.text(name, value);
        }
        for (field, file, content) in files {
            let part = reqwest::multipart::Part::bytes(content.to_vec()).file_name((*file).to_owned());
            form = form.part((*field).to_owned(), part);
        }
        Self { builder: request.builder.multipart(form), ..request }
    }

    /// Sends a raw body.
    #[must_use]
    pub fn body(self, content_type: &str, body: impl Into<reqwest::Body>) -> Self {
        Self { builder: self.builder.header("Content-Type", content_type).body(body), names: None, ..self }
    }

    fn with_names(mut self, pairs: &[(String, String)]) -> Self {
        if let Some(known) = &mut self.names {
            known.extend(names(pairs));
        }
        self
    }

    /// Marks a request of a random test, whose errors do not count as tested.
    #[must_use]
    pub fn random(self) -> Self {
        Self { is_random: true, ..self }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        Self { builder: self.builder.header(name, value), ..self }
    }

    /// Sends it and reads the whole answer.
    pub async fn send(self) -> Answer {
        let response = self.builder.send().await.unwrap_or_else(|error| panic!("{}: {error:?}", self.line));
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let bytes = response.bytes().await.unwrap().to_vec();
        let json = json_of(&bytes);
        description::check(&self.line, self.names.as_deref(), status, &json, self.is_random);
        Answer { line: self.line, status, headers, bytes, json }
    }
}

/// The bytes as JSON; null if they are none. `FromStr` is compiled with serde_json, which is optimized, and generic functions
/// are compiled here.
fn json_of(bytes: &[u8]) -> Value {
    std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

pub struct Answer {
    line: String,
    /// The HTTP status.
    pub status: u16,
    pub headers: HeaderMap,
    /// The body as it came.
    pub bytes: Vec<u8>,
    /// The body as JSON; null if it is none.
    pub json: Value,
}

impl Answer {
    /// Checks for success without ignored parameters. Returns the whole object.
    #[track_caller]
    pub fn ok(self) -> Value {
        self.ok_ignoring(&[])
    }

    /// Success, and exactly these parameters were not understood.
    #[track_caller]
    pub fn ok_ignoring(self, parameters: &[&str]) -> Value {
        self.check_form();
        assert_eq!((self.status, &self.json["result"]), (200, &"success".into()), "{self}");
        assert_eq!(self.json["msg"], "", "{self}");
        let ignored = self.json.get("ignored_parameters_unsupported").cloned();
        let expected = (!parameters.is_empty()).then(|| Value::from(parameters.to_vec()));
        assert_eq!(ignored, expected, "ignored parameters of {self}");
        self.json
    }

    /// Checks for this error. Returns the whole object, for additional members of the error.
    #[track_caller]
    pub fn error(self, status: u16, code: &str, msg: &str) -> Value {
        self.check_form();
        let found = (self.status, &self.json["result"], &self.json["code"], &self.json["msg"]);
        assert_eq!(found, (status, &"error".into(), &code.into(), &msg.into()), "{self}");
        assert_eq!(self.json.get("ignored_parameters_unsupported"), None, "{self}");
        self.json
    }

    /// A header's text; empty when it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Checks the form of every JSON answer.
    #[track_caller]
    fn check_form(&self) {
        assert_eq!(self.header("content-type"), "application/json", "{self}");
        assert_eq!(self.bytes.last(), Some(&b'\n'), "{self}");
        assert!(self.json.is_object(), "{self}");
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} {}", self.line, self.status, String::from_utf8_lossy(&self.bytes))
    }
}

impl Index<&str> for Answer {
    type Output = Value;

    fn index(&self, member: &str) -> &Value {
        &self.json[member]
    }
}
