//! Accessors for the payloads of other programs, and the messages made from them.

use crate::error::ApiError;
use crate::http::form::FormError;
use serde_json::Value;

/// Options of a delivery, besides its payload.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The topic of all messages, which replaces that of the integration.
    pub topic: Option<&'a str>,
    /// The branches whose pushes are shown, separated by commas.
    pub branches: Option<&'a str>,
    /// True if events of private repositories are ignored.
    pub ignore_private_repositories: bool,
    /// Alertmanager: the label that is the topic.
    pub name_field: Option<&'a str>,
    /// Alertmanager: the label that is the text.
    pub desc_field: Option<&'a str>,
    /// The event that the sender names in a header of its own.
    pub event: Option<&'a str>,
}

impl Options<'_> {
    /// True if pushes to a branch are shown.
    pub fn shows_branch(&self, branch: &str) -> bool {
        self.branches.is_none_or(|branches| branches.split(',').any(|shown| shown.trim() == branch))
    }

    /// The event, which the integration needs.
    pub fn event(&self, header: &'static str) -> Result<&str, Refusal> {
        self.event.ok_or(Refusal::MissingHeader(header))
    }
}

/// A message created from a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// The topic, unless the address names one.
    pub topic: String,
    /// Markdown.
    pub content: String,
    /// The type of the event, for the filters of the address. Empty: the integration has no types.
    pub event: String,
}

impl Post {
    /// A message about an event. An empty `event` passes every filter.
    pub fn new(topic: impl Into<String>, content: impl Into<String>, event: impl Into<String>) -> Self {
        Self { topic: topic.into(), content: content.into(), event: event.into() }
    }
}

/// The messages of a delivery; empty if the event is not shown.
pub type PostsResult = Result<Vec<Post>, Refusal>;

/// Why a payload is not delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A member is missing or has another type: the payload is not of this sender, or of a version that is not known.
    Anomalous,
    /// The header that names the event is missing.
    MissingHeader(&'static str),
    /// The sender's documentation has the event, the integration has no message for it.
    Unsupported(String),
    /// The sender lacks members that its owner configures.
    Misconfigured,
    /// The body is not JSON.
    InvalidJson,
    /// The charset of the body is unknown.
    Charset(FormError),
    /// Any other reason.
    Invalid(&'static str),
}

impl Refusal {
    /// The published error; `name` is the name of the integration in its texts.
    pub fn error(&self, name: &str) -> ApiError {
        match self {
            Self::Anomalous => {
                let msg = format!("Unable to parse request: Did {name} generate this event?");
                ApiError::new(400, "ANOMALOUS_WEBHOOK_PAYLOAD", msg).with("webhook_name", name)
            }
            Self::MissingHeader(header) => {
                let msg = format!("Missing the HTTP event header '{header}'");
                ApiError::new(400, "MISSING_HTTP_EVENT_HEADER", msg).with("header", *header)
            }
            Self::Unsupported(event) => {
                let msg =
                    format!("The '{event}' event isn't currently supported by the {name} webhook; ignoring");
                ApiError::new(200, "UNSUPPORTED_WEBHOOK_EVENT_TYPE", msg)
                    .with("webhook_name", name)
                    .with("event_type", event.as_str())
            }
            Self::Misconfigured => ApiError::bad_request("Invalid payload"),
            Self::InvalidJson => ApiError::new(400, "INVALID_JSON", "Malformed JSON"),
            Self::Charset(error) => error.clone().into(),
            Self::Invalid(msg) => ApiError::bad_request(*msg),
        }
    }
}

/// Maximum length of a text in bytes: more than fits into a message, and small enough for any conversion.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// A JSON value of a payload. Paths are JSON pointers (RFC 6901): `/repository/name`. Of its texts only the beginning is
/// read.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a>(pub &'a Value);

impl<'a> Payload<'a> {
    /// The value at a path; `None` if it is missing or `null`.
    pub fn find(self, path: &str) -> Option<Self> {
        self.0.pointer(path).filter(|value| !value.is_null()).map(Self)
    }

    /// The value at a path.
    pub fn at(self, path: &str) -> Result<Self, Refusal> {
        self.find(path).ok_or(Refusal::Anomalous)
    }

    /// The text at a path, a JSON pointer; cut if it is very long. Refused if there is no text.
    pub fn text(self, path: &str) -> Result<&'a str, Refusal> {
        self.0.pointer(path).map(Self).and_then(Self::as_text).ok_or(Refusal::Anomalous)
    }

    /// The text at a path, if it is not empty.
    pub fn find_text(self, path: &str) -> Option<&'a str> {
        self.0.pointer(path).map(Self).and_then(Self::as_text).filter(|text| !text.is_empty())
    }

    /// The value, if it is a text.
    pub fn as_text(self) -> Option<&'a str> {
        self.0.as_str().map(beginning)
    }

    /// The text at the first of several paths that exists.
    pub fn first_text(self, paths: &[&str]) -> Result<&'a str, Refusal> {
        paths.iter().find_map(|path| self.find_text(path)).ok_or(Refusal::Anomalous)
    }

    /// The whole number at a path. Refused if there is none.
    pub fn integer(self, path: &str) -> Result<i64, Refusal> {
        self.0.pointer(path).and_then(Value::as_i64).ok_or(Refusal::Anomalous)
    }

    /// True if the value at a path is `true`.
    pub fn is_true(self, path: &str) -> bool {
        self.0.pointer(path).and_then(Value::as_bool).unwrap_or(false)
    }

    /// The elements of the list at a path. Refused if there is no list.
    pub fn list(self, path: &str) -> Result<impl ExactSizeIterator<Item = Payload<'a>>, Refusal> {
        let list = self.0.pointer(path).and_then(Value::as_array).ok_or(Refusal::Anomalous)?;
        Ok(list.iter().map(Payload))
    }

    /// The list at a path; nothing if it is missing.
    pub fn find_list(self, path: &str) -> impl Iterator<Item = Payload<'a>> {
        self.0.pointer(path).and_then(Value::as_array).into_iter().flatten().map(Payload)
    }

    /// The members of the object at a path; nothing if it is missing.
    pub fn members(self, path: &str) -> impl Iterator<Item = (&'a str, Payload<'a>)> {
        let members = self.0.pointer(path).and_then(Value::as_object).into_iter().flatten();
        members.map(|(name, value)| (name.as_str(), Payload(value)))
    }

    /// The value as text: the content of a string, and numbers and other values as JSON.
    pub fn shown(self) -> String {
        match self.as_text() {
            Some(text) => text.to_owned(),
            None => beginning(&self.0.to_string()).to_owned(),
        }
    }
}

/// The part of a text that is read.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_are_read_by_path_and_type() {
        let value = json!({"a": {"b": "text", "c": null, "d": 7, "e": true, "f": [1, 2], "g": ""}});
        let payload = Payload(&value);
        assert_eq!(payload.text("/a/b"), Ok("text"));
        assert_eq!((payload.text("/a/g"), payload.find_text("/a/g")), (Ok(""), None));
        assert_eq!(payload.text("/a/d"), Err(Refusal::Anomalous));
        assert!(payload.find("/a/c").is_none() && payload.at("/a/x").is_err());
        assert_eq!((payload.integer("/a/d"), payload.is_true("/a/e")), (Ok(7), true));
        assert_eq!(payload.list("/a/f").unwrap().len(), 2);
        assert_eq!(payload.find_list("/a/x").count(), 0);
        assert_eq!(payload.first_text(&["/a/g", "/a/b"]), Ok("text"));
        let names: Vec<&str> = payload.members("/a").map(|(name, _)| name).collect();
        assert_eq!(names.len(), 6);
    }

    #[test]
    fn refusals_have_the_published_texts() {
        let cases = [
            (Refusal::Anomalous, 400, "Unable to parse request: Did GitHub generate this event?"),
            (Refusal::MissingHeader("X-Y"), 400, "Missing the HTTP event header 'X-Y'"),
            (
                Refusal::Unsupported("x".to_owned()),
                200,
                "The 'x' event isn't currently supported by the GitHub webhook; ignoring",
            ),
            (Refusal::InvalidJson, 400, "Malformed JSON"),
            (Refusal::Invalid("Topic can't be empty"), 400, "Topic can't be empty"),
        ];
        for (refusal, status, msg) in cases {
            let error = refusal.error("GitHub");
            assert_eq!((error.status(), error.msg()), (status, msg));
        }
    }

    #[test]
    fn branches_are_chosen_by_name() {
        let options = Options { branches: Some("main, release"), ..Options::default() };
        assert!(options.shows_branch("main") && options.shows_branch("release"));
        assert!(!options.shows_branch("mai") && Options::default().shows_branch("x"));
    }
}
