//! The log of requests that a test server got.

use super::fixtures::Date;
use super::redaction::{headers_without_secrets, json_without_secrets, redact_parameter};
use crate::http::form::Form;
use crate::http::{ApiError, ApiResult, BodyTap, Outcome};
use crate::types::charset;
use hyper::{HeaderMap, Method};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The most requests that are kept. Beyond it the oldest are dropped.
const CAPACITY: usize = 10_000;

/// The largest body that is recorded as JSON or in a file, in bytes.
pub const BODY_LIMIT: usize = 1 << 20;

/// Default time to wait for requests.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// A request that a test server got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedRequest {
    /// Its number since the start, from 1.
    pub id: u64,
    /// When it came, by the clock of the server.
    #[serde(default)]
    pub time: Date,
    /// The HTTP method, such as `GET`.
    pub method: String,
    /// The path, without the query string.
    pub path: String,
    /// The parameters of the query string. Of several with one name, the last counts, as for the server. The values of passwords,
    /// keys and tokens are `REDACTED`, here and in `form`.
    pub query: Map<String, Value>,
    /// The headers by their names in lower case; several of one name are joined with commas. The values of credentials, cookies
    /// and other secrets are `REDACTED`.
    #[serde(default)]
    pub headers: Map<String, Value>,
    /// The parameters of the body.
    pub form: Map<String, Value>,
    /// The body, if it is JSON of at most 1 MiB. Secrets in it are `REDACTED`.
    #[serde(default)]
    pub body: Option<Value>,
    /// The email in its credentials, if it has any.
    pub user: Option<String>,
    /// The status of the response; `null` while there is none, and if the connection ended without one.
    pub status: Option<u16>,
    /// The `code` of the error, if the server refused it; a fault has none.
    #[serde(default)]
    pub code: Option<String>,
    /// The parameters that the operation does not know.
    #[serde(default)]
    pub ignored: Vec<String>,
}

/// A filter of requests. All conditions have to hold.
#[derive(Clone, Debug, Default)]
pub struct RequestFilter {
    /// The method, in any case.
    pub method: Option<String>,
    /// The path; see [`Pattern`].
    pub path: Option<Pattern>,
    /// The email in the credentials.
    pub user: Option<String>,
    /// Includes requests without a response yet; polls only once they wait for events.
    pub pending: bool,
}

impl RequestFilter {
    /// Checks that the path can match.
    pub fn check(&self) -> ApiResult<()> {
        let problem = self.path.as_ref().and_then(Pattern::problem);
        problem.map_or(Ok(()), |problem| Err(ApiError::bad_request(problem)))
    }
}

/// A pattern of paths: `*` matches any text. `/messages` means `/api/v1/messages`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(pub String);

impl Pattern {
    /// Returns an error if no path can match.
    pub fn problem(&self) -> Option<String> {
        let is_path = self.0.starts_with(['/', '*']);
        (!is_path).then(|| format!("\"path\": '{}' matches no path; paths begin with '/' or '*'", self.0))
    }

    /// True if a whole path matches.
    pub fn matches(&self, path: &str) -> bool {
        let pattern = self.0.trim_end_matches('/');
        let short = path.strip_prefix("/api/v1");
        matches_glob(pattern, path) || short.is_some_and(|short| matches_glob(pattern, short))
    }
}

fn matches_glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(found) = rest.find(part) else { return false };
        rest = rest.get(found + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

/// The requests of a test server, the oldest first.
#[derive(Default)]
pub struct RequestLog {
    entries: Mutex<Entries>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct Entries {
    list: VecDeque<Entry>,
    next_id: u64,
}

struct Entry {
    request: RecordedRequest,
    content_type: String,
    /// The body as far as it was read.
    body: BodyTap,
    is_pending: bool,
    /// True for a poll that does not wait for events yet.
    is_on_its_way: bool,
}

/// A request that is being handled. It counts as answered when this is dropped.
pub struct Pending {
    log: Arc<RequestLog>,
    id: u64,
    status: Option<u16>,
    outcome: Outcome,
}

impl Pending {
    /// Sets the status and the outcome of the response.
    pub fn set_outcome(&mut self, status: u16, outcome: Outcome) {
        self.status = Some(status);
        self.outcome = outcome;
    }

    /// Notes that the request waits for events, whenever it is called.
    pub fn on_wait(&self) -> Box<dyn Fn() + Send> {
        let (log, id) = (Arc::clone(&self.log), self.id);
        Box::new(move || log.change(id, |entry| entry.is_on_its_way = false))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.log.finish(self.id, self.status, std::mem::take(&mut self.outcome));
    }
}

impl RequestLog {
    /// Adds a request that has just come in.
    pub fn begin(
        self: &Arc<Self>,
        head: &hyper::Request<hyper::body::Incoming>,
        time: Date,
        user: Option<String>,
        body: BodyTap,
    ) -> Pending {
        let mut entries = self.entries.lock();
        entries.next_id += 1;
        let id = entries.next_id;
        let content_type = head.headers().get(hyper::header::CONTENT_TYPE);
        let query = head.uri().query().unwrap_or_default();
        let request = RecordedRequest {
            id,
            time,
            method: head.method().to_string(),
            path: head.uri().path().to_owned(),
            query: urlencoded(query.as_bytes()),
            headers: headers_of(head.headers()),
            form: Map::new(),
            body: None,
            user,
            status: None,
            code: None,
            ignored: Vec::new(),
        };
        let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        if entries.list.len() >= CAPACITY {
            entries.list.pop_front();
        }
        let is_on_its_way = is_poll(head.method(), head.uri().path());
        entries.list.push_back(Entry { request, content_type, body, is_pending: true, is_on_its_way });
        drop(entries);
        self.changed.send_replace(());
        Pending { log: Arc::clone(self), id, status: None, outcome: Outcome::default() }
    }

    fn finish(&self, id: u64, status: Option<u16>, outcome: Outcome) {
        self.change(id, |entry| {
            entry.read_body();
            entry.request.status = status;
            entry.request.code = outcome.code;
            entry.request.ignored = outcome.ignored;
            entry.is_pending = false;
        });
    }

    /// Changes the entry of a request, unless it was removed.
    fn change(&self, id: u64, change: impl FnOnce(&mut Entry)) {
        let mut entries = self.entries.lock();
        if let Some(entry) = entries.list.iter_mut().rev().find(|entry| entry.request.id == id) {
            change(entry);
        }
        drop(entries);
        self.changed.send_replace(());
    }

    /// Removes all requests.
    pub fn clear(&self) {
        self.entries.lock().list.clear();
    }

    /// Returns the requests that match, in the order in which they came.
    pub fn list(&self, filter: &RequestFilter) -> Vec<RecordedRequest> {
        let mut entries = self.entries.lock();
        let matching = entries.list.iter_mut().filter(|entry| entry.matches(filter));
        matching
            .map(|entry| {
                if entry.is_pending {
                    entry.read_body();
                }
                entry.request.clone()
            })
            .collect()
    }

    /// Waits until at least `count` requests match, and returns all that do; fewer if it takes too long.
    pub async fn wait(
        &self,
        filter: &RequestFilter,
        count: usize,
        timeout: Option<Duration>,
    ) -> Vec<RecordedRequest> {
        let mut changed = self.changed.subscribe();
        let waiting = async {
            loop {
                changed.mark_unchanged();
                let list = self.list(filter);
                // The sender is in `self`.
                if list.len() >= count || changed.changed().await.is_err() {
                    return list;
                }
            }
        };
        let waited = tokio::time::timeout(timeout.unwrap_or(DEFAULT_TIMEOUT), waiting).await;
        waited.unwrap_or_else(|_| self.list(filter))
    }
}

impl Entry {
    fn matches(&self, filter: &RequestFilter) -> bool {
        let RequestFilter { method, path, user, pending } = filter;
        let request = &self.request;
        (!self.is_pending || (*pending && !self.is_on_its_way))
            && method.as_ref().is_none_or(|method| method.eq_ignore_ascii_case(&request.method))
            && path.as_ref().is_none_or(|path| path.matches(&request.path))
            && user.as_ref().is_none_or(|user| {
                request.user.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(user))
            })
    }

    /// Reads the body as far as it has come.
    fn read_body(&mut self) {
        let body = self.body.bytes();
        self.request.form = form_of(&self.content_type, &body);
        self.request.body = json_of(&self.content_type, &body);
    }
}

/// The JSON in a body; `None` if it has another type, is not complete or is too long.
fn json_of(content_type: &str, body: &[u8]) -> Option<Value> {
    let media_type = content_type.split(';').next().unwrap_or_default().trim_ascii();
    let is_json = media_type.eq_ignore_ascii_case("application/json") || media_type.ends_with("+json");
    if !is_json || body.len() > BODY_LIMIT {
        return None;
    }
    json_without_secrets(&charset::decode(Some(content_type), body).ok()?)
}

fn headers_of(headers: &HeaderMap) -> Map<String, Value> {
    let mut joined = Map::new();
    for (name, value) in headers_without_secrets(headers) {
        let value = match joined.get(name).and_then(Value::as_str) {
            Some(before) => format!("{before}, {value}"),
            None => value,
        };
        joined.insert(name.to_owned(), value.into());
    }
    joined
}

/// True for a request that waits for events, under the prefix for API keys or the one for sessions.
fn is_poll(method: &Method, path: &str) -> bool {
    method == Method::GET && matches!(path, "/api/v1/events" | "/json/events")
}

/// The parameters in a body: names and values without secrets, and the names of files.
pub fn form_of(content_type: &str, body: &bytes::Bytes) -> Map<String, Value> {
    let Ok(form) = Form::new(None, Some(content_type), body.clone(), Vec::new()) else { return Map::new() };
    let fields = form.pairs().map(|(name, value)| (name.to_owned(), redact_parameter(name, value).into()));
    let files = form.files().iter().map(|file| (file.field_name.clone(), file.file_name.clone().into()));
    fields.chain(files).collect()
}

fn urlencoded(text: &[u8]) -> Map<String, Value> {
    let pairs = form_urlencoded::parse(text);
    pairs.map(|(name, value)| (name.to_string(), redact_parameter(&name, &value).into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_paths() {
        let cases = [
            ("/messages", "/api/v1/messages", true),
            ("/api/v1/messages", "/api/v1/messages", true),
            ("/messages", "/api/v1/messages/7", false),
            ("/messages/*", "/api/v1/messages/7/reactions", true),
            ("/messages/*/reactions", "/api/v1/messages/7/reactions", true),
            ("/messages/*/reactions", "/api/v1/messages/7", false),
            ("*", "/user_uploads/1", true),
            ("/user_uploads/*", "/user_uploads/1", true),
            ("", "/api/v1/messages", false),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(Pattern(pattern.to_owned()).matches(path), expected, "{pattern} {path}");
        }
    }
}
