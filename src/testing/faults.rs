//! Faults: requests that are refused, delayed, cut off or lost on purpose.

use super::requests::Pattern;
use crate::error::ApiError;
use crate::http::{Dropped, ResponseBody};
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use http_body_util::BodyExt;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Delay before the connection ends after half of a response.
const BEFORE_CUT: Duration = Duration::from_millis(20);

/// The time between two chunks of a slow response.
const CHUNK_INTERVAL: Duration = Duration::from_millis(50);

/// The longest delay, in seconds.
pub const MAX_DELAY: f64 = 24.0 * 3600.0;

/// A fault, and the requests that it applies to.
///
/// ```
/// use teamchat::testing::Fault;
///
/// let too_many = Fault::status(429).method("POST").path("/messages").header("Retry-After", "1").times(2);
/// let lost_answer = Fault::drop_answer().path("/messages").user("bot@example.com").skip(1);
/// # let _ = (too_many, lost_answer);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Fault {
    /// The method, in any case; by default any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The path; `*` matches any text, and `/messages` means `/api/v1/messages`. By default any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Pattern>,
    /// The email in the credentials; by default any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Number of requests that pass first.
    #[serde(default)]
    pub skip: u64,
    /// Number of requests affected; `null` for all.
    #[serde(default = "once")]
    pub times: Option<u64>,
    /// The status to answer with, in place of handling the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Headers of that answer.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub headers: Map<String, Value>,
    /// Its body: JSON, or text that is sent as it is. By default the published error of the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// Seconds to wait first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<f64>,
    /// The point at which the connection ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop: Option<Cut>,
    /// Sends the response slowly, in bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<u32>,
    /// Number of requests to which it has happened, in lists of faults. It begins at 0 when the fault is added.
    #[serde(default)]
    pub fired: u64,
}

/// A point at which a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// Before the request is handled.
    Request,
    /// After it is handled, without a response.
    Answer,
    /// After half of the response.
    Half,
}

#[expect(clippy::unnecessary_wraps, reason = "the default of an optional field")]
fn once() -> Option<u64> {
    Some(1)
}

impl Default for Fault {
    fn default() -> Self {
        Self {
            method: None,
            path: None,
            user: None,
            skip: 0,
            times: once(),
            status: None,
            headers: Map::new(),
            body: None,
            delay: None,
            drop: None,
            bytes_per_second: None,
            fired: 0,
        }
    }
}

impl Fault {
    /// Answers with a status in place of handling the request.
    pub fn status(status: u16) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// Ends the connection before the request is handled.
    pub fn drop_request() -> Self {
        Self { drop: Some(Cut::Request), ..Self::default() }
    }

    /// Handles the request and ends the connection without a response.
    pub fn drop_answer() -> Self {
        Self { drop: Some(Cut::Answer), ..Self::default() }
    }

    /// Handles the request and ends the connection after half of the response.
    pub fn half_answer() -> Self {
        Self { drop: Some(Cut::Half), ..Self::default() }
    }

    /// Handles the request after a time.
    pub fn delay(seconds: f64) -> Self {
        Self { delay: Some(seconds), ..Self::default() }
    }

    /// Only requests with this method.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        self.method = Some(method.to_owned());
        self
    }

    /// Only requests with this path; see [`Fault::path`](struct@Fault).
    #[must_use]
    pub fn path(mut self, pattern: &str) -> Self {
        self.path = Some(Pattern(pattern.to_owned()));
        self
    }

    /// Only requests of the user with this email.
    #[must_use]
    pub fn user(mut self, email: &str) -> Self {
        self.user = Some(email.to_owned());
        self
    }

    /// Sets the number of requests that pass first.
    #[must_use]
    pub fn skip(mut self, requests: u64) -> Self {
        self.skip = requests;
        self
    }

    /// Sets the number of requests affected.
    #[must_use]
    pub fn times(mut self, requests: u64) -> Self {
        self.times = Some(requests);
        self
    }

    /// Happens to all requests from now on.
    #[must_use]
    pub fn always(mut self) -> Self {
        self.times = None;
        self
    }

    /// Adds a header to the answer.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.into());
        self
    }

    /// Sets the body of the answer: JSON, or text.
    #[must_use]
    pub fn body(mut self, body: impl Into<Value>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Returns an error if the fault is invalid.
    pub fn problem(&self) -> Option<String> {
        let does_nothing = self.status.is_none()
            && self.body.is_none()
            && self.delay.is_none()
            && self.drop.is_none()
            && self.bytes_per_second.is_none();
        if does_nothing {
            return Some(
                "a fault needs one of \"status\", \"body\", \"delay\", \"drop\", \"bytes_per_second\""
                    .to_owned(),
            );
        }
        if let Some(problem) = self.path.as_ref().and_then(Pattern::problem) {
            return Some(problem);
        }
        if let Some(status) = self.status.filter(|status| !(200..=599).contains(status)) {
            return Some(format!("\"status\": {status} is not a status from 200 to 599"));
        }
        if self.delay.is_some_and(|delay| !(0.0..=MAX_DELAY).contains(&delay)) {
            return Some(format!("\"delay\" is a number of seconds from 0 to {MAX_DELAY}"));
        }
        if self.times == Some(0) {
            return Some("\"times\" is at least 1, or null for all requests".to_owned());
        }
        if self.bytes_per_second == Some(0) {
            return Some("\"bytes_per_second\" is at least 1".to_owned());
        }
        for (name, value) in &self.headers {
            let is_header =
                name.parse::<HeaderName>().is_ok() && HeaderValue::from_str(&header_text(value)).is_ok();
            if !is_header || value.is_array() || value.is_object() {
                return Some(format!("\"headers\": '{name}' is not a header with a text"));
            }
        }
        None
    }

    fn matches(&self, method: &str, path: &str, user: Option<&str>) -> bool {
        self.method.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(method))
            && self.path.as_ref().is_none_or(|pattern| pattern.matches(path))
            && self
                .user
                .as_ref()
                .is_none_or(|wanted| user.is_some_and(|user| wanted.eq_ignore_ascii_case(user)))
    }

    /// The delay before the response.
    pub fn pause(&self) -> Duration {
        Duration::try_from_secs_f64(self.delay.unwrap_or(0.0)).unwrap_or_default()
    }

    /// The answer in place of a handler's, if the fault has one.
    pub fn answer(&self) -> Option<Response<ResponseBody>> {
        if self.status.is_none() && self.body.is_none() {
            return None;
        }
        let status = StatusCode::from_u16(self.status.unwrap_or(200)).unwrap_or(StatusCode::OK);
        let mut headers = self.headers.clone();
        let (content_type, body) = match &self.body {
            Some(Value::String(text)) => ("text/html; charset=utf-8", text.clone()),
            Some(value) => ("application/json", format!("{value}\n")),
            None => ("application/json", format!("{}\n", Self::published_error(status, &mut headers))),
        };
        let mut response = Response::new(ResponseBody::Full(body.into()));
        *response.status_mut() = status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        for (name, value) in &headers {
            if let (Ok(name), Ok(value)) =
                (name.parse::<HeaderName>(), HeaderValue::from_str(&header_text(value)))
            {
                response.headers_mut().insert(name, value);
            }
        }
        Some(response)
    }

    /// The body of an error with this status, as the server itself sends it. Its headers are added to those that were given.
    fn published_error(status: StatusCode, headers: &mut Map<String, Value>) -> Value {
        let error = match status.as_u16() {
            200..=299 => return json!({"result": "success", "msg": ""}),
            401 => ApiError::not_logged_in(),
            404 => ApiError::not_found(),
            408 => ApiError::request_timeout(),
            413 => ApiError::too_large(),
            429 => {
                let given = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
                let seconds = given.and_then(|(_, value)| header_text(value).parse().ok());
                ApiError::rate_limited(seconds.unwrap_or(1.0))
            }
            503 => ApiError::busy(),
            500..=599 => {
                let msg = "Internal server error";
                return json!({"result": "error", "msg": msg, "code": "INTERNAL_SERVER_ERROR"});
            }
            status => ApiError::bad_request(format!("A fault with status {status}")),
        };
        for (name, value) in error.headers() {
            if !headers.keys().any(|known| known.eq_ignore_ascii_case(name)) {
                headers.insert((*name).to_owned(), value.clone().into());
            }
        }
        error.body()
    }

    /// Applies the fault to a response: cuts it off, or slows it down.
    pub async fn apply(&self, response: Response<ResponseBody>) -> Result<Response<ResponseBody>, Dropped> {
        match (self.drop, self.bytes_per_second) {
            (Some(Cut::Request | Cut::Answer), _) => Err(Dropped),
            (Some(Cut::Half), _) => {
                let (head, body) = in_memory(response).await?;
                let half = body.slice(..body.len() / 2);
                let cut = async {
                    // The first half has to be sent before the connection ends.
                    tokio::time::sleep(BEFORE_CUT).await;
                    Err(ApiError::internal("the connection is cut on purpose"))
                };
                let chunks = stream::iter([Ok(half)]).chain(stream::once(cut));
                let remaining = body.len() as u64;
                Ok(Response::from_parts(head, ResponseBody::Streamed { remaining, stream: Box::pin(chunks) }))
            }
            (None, Some(speed)) => {
                let (head, body) = in_memory(response).await?;
                let remaining = body.len() as u64;
                let chunk = (speed as usize / 20).max(1);
                // Slower than a byte in each interval: the intervals grow.
                let pause = CHUNK_INTERVAL.mul_f64((20.0 / f64::from(speed)).max(1.0));
                let chunks = stream::unfold(body, move |mut rest: Bytes| async move {
                    if rest.is_empty() {
                        return None;
                    }
                    tokio::time::sleep(pause).await;
                    let next = rest.split_to(chunk.min(rest.len()));
                    Some((Ok(next), rest))
                });
                Ok(Response::from_parts(head, ResponseBody::Streamed { remaining, stream: Box::pin(chunks) }))
            }
            (None, None) => Ok(response),
        }
    }
}

fn header_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A response with its whole body.
pub async fn in_memory(
    response: Response<ResponseBody>,
) -> Result<(hyper::http::response::Parts, Bytes), Dropped> {
    let (head, mut body) = response.into_parts();
    // Copied: the next part of a file is read once the last one was dropped.
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        bytes.extend_from_slice(&frame.map_err(|_| Dropped)?.into_data().unwrap_or_default());
    }
    Ok((head, bytes.into()))
}

/// The faults that are to come, in the order in which they were added.
#[derive(Default)]
pub struct Faults(Mutex<Vec<Fault>>);

impl Faults {
    /// Adds a fault, which has not happened yet.
    pub fn add(&self, fault: Fault) {
        self.0.lock().push(Fault { fired: 0, ..fault });
    }

    /// Removes all faults.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// The faults that are left.
    pub fn list(&self) -> Vec<Fault> {
        self.0.lock().clone()
    }

    /// Returns the fault that happens to a request: the first that matches and lets none pass. Each fault that matches
    /// counts the request until one happens.
    pub fn take(&self, method: &str, path: &str, user: Option<&str>) -> Option<Fault> {
        let mut faults = self.0.lock();
        let mut found = None;
        for (index, fault) in faults.iter_mut().enumerate() {
            if !fault.matches(method, path, user) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
                continue;
            }
            fault.fired += 1;
            if let Some(times) = &mut fault.times {
                *times = times.saturating_sub(1);
            }
            found = Some((index, fault.clone()));
            break;
        }
        let (index, fault) = found?;
        if fault.times == Some(0) {
            faults.remove(index);
        }
        Some(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_happens_to_the_requests_that_it_is_for_and_ends() {
        let faults = Faults::default();
        faults
            .add(Fault::status(500).method("post").path("/messages").user("A@example.com").skip(1).times(2));
        let take = |method, path, user| faults.take(method, path, user).is_some();
        let sent = || take("POST", "/api/v1/messages", Some("a@example.com"));
        assert_eq!([sent(), sent(), sent(), sent()], [false, true, true, false]);
        assert!(faults.list().is_empty());

        faults.add(Fault::delay(1.0).path("/events").always());
        assert!(!take("GET", "/api/v1/messages", None));
        assert_eq!(faults.list()[0].fired, 0);
        assert!((0..3).all(|_| take("GET", "/api/v1/events", None)));
        assert_eq!(faults.list()[0].fired, 3);
        faults.clear();
        assert!(!take("GET", "/api/v1/events", None));
    }

    #[test]
    fn a_rate_limit_looks_as_the_servers_own() {
        let answer = Fault::status(429).header("Retry-After", "7").answer().unwrap();
        assert_eq!(
            (answer.status(), &answer.headers()["retry-after"]),
            (StatusCode::TOO_MANY_REQUESTS, &"7".parse().unwrap())
        );
        let ResponseBody::Full(body) = answer.into_body() else { panic!("it is in memory") };
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((&body["code"], &body["retry-after"]), (&json!("RATE_LIMIT_HIT"), &json!(7.0)));
    }

    #[test]
    fn errors_look_as_the_servers_own() {
        let cases = [
            (401, "UNAUTHORIZED", Some(("www-authenticate", "Basic realm=\"zulip\""))),
            (408, "REQUEST_TIMEOUT", None),
            (500, "INTERNAL_SERVER_ERROR", None),
            (503, "SERVICE_UNAVAILABLE", Some(("retry-after", "1"))),
        ];
        for (status, code, expected) in cases {
            let answer = Fault::status(status).answer().unwrap();
            if let Some((name, value)) = expected {
                assert_eq!(answer.headers()[name], value, "{status}");
            }
            let ResponseBody::Full(body) = answer.into_body() else { panic!("it is in memory") };
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["code"], code, "{status}");
        }
        let answer = Fault::status(503).header("Retry-After", "9").answer().unwrap();
        assert_eq!(answer.headers()["retry-after"], "9");
    }
}
