//! Successful responses.

use super::response_body::BodyStream;
use crate::error::ApiResult;
use serde::Serialize;
use serde_json::Value;

/// The successful result of a handler.
pub enum Reply {
    /// The members of the JSON response, without braces; `result` and `msg` are added before them.
    Json(String),
    /// A page, an image, a redirect: anything but JSON of the API.
    Other(OtherReply),
    /// A file that is streamed.
    Streamed(StreamedReply),
}

/// A response that is not JSON of the API.
pub struct OtherReply {
    /// The HTTP status.
    pub status: u16,
    /// The body's media type.
    pub content_type: &'static str,
    /// Additional headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: bytes::Bytes,
}

/// A response whose body is streamed.
pub struct StreamedReply {
    /// The HTTP status.
    pub status: u16,
    /// The body's media type.
    pub content_type: &'static str,
    /// Additional headers.
    pub headers: Vec<(&'static str, String)>,
    /// The length of the body in bytes.
    pub length: u64,
    /// The body.
    pub stream: BodyStream,
}

impl Reply {
    /// Success without data.
    pub fn ok() -> Self {
        Self::Json(String::new())
    }

    /// Success with the members of a struct or map.
    pub fn data(data: &impl Serialize) -> ApiResult<Self> {
        Ok(Self::Json(members_of(data)?))
    }

    /// Success with one member.
    pub fn field(name: &'static str, value: &impl Serialize) -> ApiResult<Self> {
        Ok(Self::Json(format!("\"{name}\":{}", serde_json::to_string(value)?)))
    }

    /// Success with members that are JSON already, without braces.
    pub fn members(members: String) -> Self {
        Self::Json(members)
    }
}

/// Serializes the members of a struct or map, without braces.
pub fn members_of(data: &impl Serialize) -> ApiResult<String> {
    let mut object = serde_json::to_string(data)?;
    object.pop();
    object.remove(0);
    Ok(object)
}

const HEAD: &str = r#"{"result":"success","msg":"""#;
const HEAD_AND_MORE: &str = r#"{"result":"success","msg":"","#;

/// The body of a successful JSON response (spec, "Conventions", 3 and 4).
pub fn success_body(members: String, ignored: &[String]) -> String {
    let mut body = members;
    body.insert_str(0, if body.is_empty() { HEAD } else { HEAD_AND_MORE });
    if !ignored.is_empty() {
        body.push_str(r#","ignored_parameters_unsupported":"#);
        body.push_str(&Value::from(ignored.to_vec()).to_string());
    }
    body.push_str("}\n");
    body
}
