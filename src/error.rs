//! The error type of the API, with the published codes and texts (spec, "Errors").
//!
//! The conversions from other errors stand beside those, so that this module depends on nothing.

use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::panic::Location;

/// The result of a handler, and of everything that a handler calls and that may refuse.
pub type ApiResult<T> = Result<T, ApiError>;

/// An error response: HTTP status, `code`, `msg`, and for some codes further fields and headers.
pub struct ApiError(Box<Parts>);

struct Parts {
    status: u16,
    code: &'static str,
    msg: Cow<'static, str>,
    fields: Map<String, Value>,
    headers: Vec<(&'static str, String)>,
    page: Option<String>,
    cause: Option<String>,
}

impl ApiError {
    /// An error with this status, code and text. Prefer the named constructors below.
    pub fn new(status: u16, code: &'static str, msg: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Parts {
            status,
            code,
            msg: msg.into(),
            fields: Map::new(),
            headers: Vec::new(),
            page: None,
            cause: None,
        }))
    }

    /// 400 `BAD_REQUEST`: most refusals.
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

    /// 400 `REQUEST_VARIABLE_INVALID`: the value is neither a number in range nor one of the known words.
    pub fn bad_value(name: &str, value: &str) -> Self {
        let msg = format!("Bad value for '{name}': {value}");
        Self::new(400, "REQUEST_VARIABLE_INVALID", msg).with("var_name", name).with("bad_value", value)
    }

    /// 400 `BAD_REQUEST`: these parameters exclude each other.
    pub fn incompatible(names: &[&str]) -> Self {
        let names = names.join(", ");
        Self::bad_request(format!("Unsupported parameter combination: {names}")).with("parameters", names)
    }

    /// 400 `BAD_REQUEST`: problems with fields of a record, as pairs of field name and text. The first text is the
    /// `msg`; `errors` has all of them by field. Problems of the record as a whole have the field name `__all__`.
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

    /// 400 `BAD_NARROW`; `desc` names the operator or operand.
    pub fn bad_narrow(desc: &str) -> Self {
        Self::new(400, "BAD_NARROW", format!("Invalid narrow operator: {desc}")).with("desc", desc)
    }

    /// 400 `BAD_EVENT_QUEUE_ID`: the queue does not exist; clients register a new one.
    pub fn bad_event_queue(queue_id: &str) -> Self {
        Self::new(400, "BAD_EVENT_QUEUE_ID", format!("Bad event queue ID: {queue_id}"))
            .with("queue_id", queue_id)
    }

    /// 429 `RATE_LIMIT_HIT`; the client may try again after `seconds`.
    pub fn rate_limited(seconds: f64) -> Self {
        Self::new(429, "RATE_LIMIT_HIT", "API usage exceeded rate limit")
            .with("retry-after", seconds)
            .with_header("Retry-After", format!("{}", seconds.ceil().max(1.0)))
    }

    /// 503 `SERVICE_UNAVAILABLE`: the server has too much to do; the client may try again soon.
    pub fn busy() -> Self {
        Self::new(503, "SERVICE_UNAVAILABLE", "The server is busy. Please try again in a moment.")
            .with_header("Retry-After", "1".to_owned())
    }

    /// 401 `UNAUTHORIZED`: credentials are missing or malformed.
    pub fn unauthorized(msg: impl Into<Cow<'static, str>>) -> Self {
        Self::new(401, "UNAUTHORIZED", msg)
            .with_header("WWW-Authenticate", r#"Basic realm="zulip""#.to_owned())
    }

    /// 401 `UNAUTHORIZED`: there are no credentials.
    pub fn not_logged_in() -> Self {
        Self::unauthorized("Not logged in: API authentication or user session required")
    }

    /// 401 `USER_DEACTIVATED`.
    pub fn user_deactivated() -> Self {
        Self::new(401, "USER_DEACTIVATED", "Account is deactivated")
    }

    /// 401 `REALM_DEACTIVATED`.
    pub fn realm_deactivated() -> Self {
        Self::new(401, "REALM_DEACTIVATED", "This organization has been deactivated")
    }

    /// 404 for a path that does not exist.
    pub fn not_found() -> Self {
        Self::new(404, "BAD_REQUEST", "Not found")
    }

    /// 408 `REQUEST_TIMEOUT`: the body did not arrive in time.
    pub fn request_timeout() -> Self {
        Self::new(408, "REQUEST_TIMEOUT", "The request body did not arrive in time")
    }

    /// 413 for a body beyond the limit.
    pub fn too_large() -> Self {
        Self::new(413, "BAD_REQUEST", "Request body is too large")
    }

    /// 500: an internal error. `context` describes it, and is logged with the place of the call; the client does not
    /// receive it.
    #[track_caller]
    pub fn internal(context: impl fmt::Display) -> Self {
        Self::internal_at(&context, Location::caller())
    }

    fn internal_at(context: &dyn fmt::Display, location: &Location<'_>) -> Self {
        tracing::error!(%context, %location, "internal error");
        let mut error = Self::new(500, "INTERNAL_SERVER_ERROR", "Internal server error");
        error.0.cause = Some(context.to_string());
        error
    }

    /// Adds a field to the response body.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a header to the response.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: String) -> Self {
        self.0.headers.push((name, value));
        self
    }

    /// Shows a person this page in place of the JSON body.
    #[must_use]
    pub fn with_page(mut self, page: String) -> Self {
        self.0.page = Some(page);
        self
    }

    /// The page that is shown in place of the JSON body.
    pub fn page(&self) -> Option<&str> {
        self.0.page.as_deref()
    }

    /// The description of an internal error, for the log.
    pub fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    /// The text for the operator, who also receives the description of an internal error.
    pub fn operator_msg(&self) -> String {
        match self.cause() {
            Some(cause) => format!("{cause}; `teamchat check` reports if the database is damaged"),
            None => self.msg().to_owned(),
        }
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.0.status
    }

    /// True if a retry may succeed (5xx or 429).
    pub fn is_transient(&self) -> bool {
        self.status() >= 500 || self.status() == 429
    }

    /// The error code, for programs: `code` on the wire.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// The error message, for people: `msg` on the wire.
    pub fn msg(&self) -> &str {
        &self.0.msg
    }

    /// The headers that this error adds to a response.
    pub fn headers(&self) -> &[(&'static str, String)] {
        &self.0.headers
    }

    /// The response body.
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

/// Returns the value of a check, or `None` if it was a refusal. Failures of the server stay errors.
pub fn ok_unless_refused<T>(checked: ApiResult<T>) -> ApiResult<Option<T>> {
    match checked {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.status() < 500 => Ok(None),
        Err(error) => Err(error),
    }
}

impl From<serde_json::Error> for ApiError {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(format_args!("the server's own JSON could not be written or read: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that may try again at once would, and would be refused again.
    #[test]
    fn retry_after_is_at_least_a_second() {
        let retry_after = |error: &ApiError| {
            let headers = error.headers().iter();
            headers
                .filter(|(name, _)| *name == "Retry-After")
                .map(|(_, value)| value.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(retry_after(&ApiError::busy()), ["1"]);
        for (seconds, expected) in [(0.0, "1"), (0.001, "1"), (1.0, "1"), (1.001, "2"), (59.5, "60")] {
            assert_eq!(retry_after(&ApiError::rate_limited(seconds)), [expected]);
        }
    }
}
