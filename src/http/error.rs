//! The one error type of the interface, with the published codes and words (spec, "Errors").

use super::form::FormError;
use super::params::ParamError;
use crate::store::StoreError;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// What a handler answers.
pub type ApiResult<T> = Result<T, ApiError>;

/// An error for the client: HTTP status, `code`, `msg`, and for some codes further fields.
pub struct ApiError(Box<Parts>);

struct Parts {
    status: u16,
    code: &'static str,
    msg: Cow<'static, str>,
    fields: Map<String, Value>,
    headers: Vec<(&'static str, String)>,
}

impl ApiError {
    /// Any error, by status, code and text.
    pub fn new(status: u16, code: &'static str, msg: impl Into<Cow<'static, str>>) -> Self {
        let (fields, headers) = Default::default();
        Self(Box::new(Parts { status, code, msg: msg.into(), fields, headers }))
    }

    /// 400 `BAD_REQUEST`, the usual refusal.
    pub fn bad_request(msg: impl Into<Cow<'static, str>>) -> Self {
        Self::new(400, "BAD_REQUEST", msg)
    }

    /// 400 `BAD_REQUEST`: the caller's role or groups do not allow it.
    pub fn insufficient_permission() -> Self {
        Self::bad_request("Insufficient permission")
    }

    /// 400 `UNAUTHORIZED_PRINCIPAL`: only for administrators.
    pub fn administrators_only() -> Self {
        Self::new(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator")
    }

    /// 400 `UNAUTHORIZED_PRINCIPAL`: only for owners.
    pub fn owners_only() -> Self {
        Self::new(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner")
    }

    /// 400 `REQUEST_VARIABLE_MISSING`.
    pub fn missing(name: &str) -> Self {
        Self::new(400, "REQUEST_VARIABLE_MISSING", format!("Missing '{name}' argument"))
            .with("var_name", name)
    }

    /// 400 `REQUEST_VARIABLE_INVALID`: a value that is neither a number as it should be nor one of the words.
    pub fn bad_value(name: &str, value: &str) -> Self {
        let msg = format!("Bad value for '{name}': {value}");
        Self::new(400, "REQUEST_VARIABLE_INVALID", msg).with("var_name", name).with("bad_value", value)
    }

    /// 400 `BAD_REQUEST`: these parameters exclude each other.
    pub fn incompatible(names: &[&str]) -> Self {
        let names = names.join(", ");
        Self::bad_request(format!("Unsupported parameter combination: {names}")).with("parameters", names)
    }

    /// 400 `BAD_REQUEST`: problems with the fields of a record, each with the field's name. The first is the `msg`, and
    /// `errors` has all of them by field. `__all__` is the published name of what is wrong with a record as a whole.
    pub fn invalid_fields(problems: Vec<(&'static str, String)>) -> Self {
        let first = problems.first().map(|(_, problem)| problem.clone()).unwrap_or_default();
        let mut errors: Map<String, Value> = Map::new();
        for (field, problem) in problems {
            let of_field = errors.entry(field).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(of_field) = of_field {
                of_field.push(problem.into());
            }
        }
        Self::bad_request(first).with("errors", errors)
    }

    /// 400 `STREAM_DOES_NOT_EXIST` for a channel named by id.
    pub fn no_channel_with_id(stream_id: i64) -> Self {
        let msg = format!("Channel with ID '{stream_id}' does not exist");
        Self::new(400, "STREAM_DOES_NOT_EXIST", msg).with("stream_id", stream_id)
    }

    /// 400 `STREAM_DOES_NOT_EXIST` for a channel named by its name.
    pub fn no_channel_named(name: &str) -> Self {
        Self::new(400, "STREAM_DOES_NOT_EXIST", format!("Channel '{name}' does not exist"))
            .with("stream", name)
    }

    /// 400 `BAD_NARROW`; `desc` names the operator or operand.
    pub fn bad_narrow(desc: &str) -> Self {
        Self::new(400, "BAD_NARROW", format!("Invalid narrow operator: {desc}")).with("desc", desc)
    }

    /// 400 `BAD_EVENT_QUEUE_ID`: the client registers a new queue.
    pub fn bad_event_queue(queue_id: &str) -> Self {
        Self::new(400, "BAD_EVENT_QUEUE_ID", format!("Bad event queue ID: {queue_id}"))
            .with("queue_id", queue_id)
    }

    /// 429 `RATE_LIMIT_HIT`; `seconds` is when to try again.
    pub fn rate_limited(seconds: f64) -> Self {
        Self::new(429, "RATE_LIMIT_HIT", "API usage exceeded rate limit")
            .with("retry-after", seconds)
            .with_header("Retry-After", format!("{}", seconds.ceil()))
    }

    /// 401 `UNAUTHORIZED`: credentials are missing or make no sense.
    pub fn unauthorized(msg: &'static str) -> Self {
        Self::new(401, "UNAUTHORIZED", msg)
            .with_header("WWW-Authenticate", r#"Basic realm="zulip""#.to_owned())
    }

    /// 401 `UNAUTHORIZED`: there are no credentials.
    pub fn not_logged_in() -> Self {
        Self::unauthorized("Not logged in: API authentication or user session required")
    }

    /// 404 for a path that does not exist.
    pub fn not_found() -> Self {
        Self::new(404, "BAD_REQUEST", "Not found")
    }

    /// 404 for one of the few resources whose absence is published with this status (`semantics.md` section 3).
    pub fn no_such_resource(msg: impl Into<Cow<'static, str>>) -> Self {
        Self::new(404, "BAD_REQUEST", msg)
    }

    /// 413 for a body beyond the limit.
    pub fn too_large() -> Self {
        Self::new(413, "BAD_REQUEST", "Request body is too large")
    }

    /// 500: our fault. The text says no more; the log does.
    pub fn internal() -> Self {
        Self::new(500, "INTERNAL_SERVER_ERROR", "Internal server error")
    }

    /// Adds a field to the answer.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a header to the answer.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: String) -> Self {
        self.0.headers.push((name, value));
        self
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.0.status
    }

    /// The `code`.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// The `msg`.
    pub fn msg(&self) -> &str {
        &self.0.msg
    }

    /// Headers beyond the usual ones.
    pub fn headers(&self) -> &[(&'static str, String)] {
        &self.0.headers
    }

    /// The answer's body.
    pub fn body(&self) -> Value {
        let mut body = Map::new();
        body.insert("result".to_owned(), "error".into());
        body.insert("msg".to_owned(), self.msg().into());
        body.extend(self.0.fields.clone());
        body.insert("code".to_owned(), self.code().into());
        Value::Object(body)
    }
}

impl fmt::Debug for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status(), self.code(), self.msg())
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.msg())
    }
}

impl std::error::Error for ApiError {}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "a request failed in the store");
        if error.is_disk() {
            return Self::new(
                500,
                "INTERNAL_SERVER_ERROR",
                "The server could not save this change: its disk is full, read-only or failing",
            );
        }
        if matches!(error, StoreError::Stopped) {
            return Self::new(503, "INTERNAL_SERVER_ERROR", "The server is stopping");
        }
        Self::internal()
    }
}

impl From<ParamError> for ApiError {
    fn from(error: ParamError) -> Self {
        let answer = Self::new(400, error.code(), error.to_string());
        match error {
            ParamError::Invalid { .. } => answer,
            ParamError::Missing { var_name } => answer.with("var_name", var_name),
            ParamError::Confusing { var_name1, var_name2 } => {
                answer.with("var_name1", var_name1).with("var_name2", var_name2)
            }
        }
    }
}

impl From<FormError> for ApiError {
    fn from(error: FormError) -> Self {
        Self::bad_request(error.to_string())
    }
}

impl From<rusqlite::Error> for ApiError {
    fn from(error: rusqlite::Error) -> Self {
        StoreError::from(error).into()
    }
}

impl From<serde_json::Error> for ApiError {
    fn from(error: serde_json::Error) -> Self {
        tracing::error!(%error, "JSON of our own could not be written or read");
        Self::internal()
    }
}
