//! Successful answers.

use super::body::Pieces;
use crate::error::ApiResult;
use serde::Serialize;
use serde_json::Value;

/// What a handler answers: the members of the success object, or a body of another kind.
pub enum Reply {
    /// The data of a JSON answer, an object's members without braces; `result` and `msg` come before them.
    Json(String),
    /// Anything else: pages, images, redirects.
    Other(OtherReply),
    /// A file that is read while it is sent.
    Streamed(StreamedReply),
}

/// An answer that is not JSON.
pub struct OtherReply {
    /// The HTTP status.
    pub status: u16,
    /// The body's media type.
    pub content_type: &'static str,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: bytes::Bytes,
}

/// An answer whose body is not in memory.
pub struct StreamedReply {
    /// The HTTP status.
    pub status: u16,
    /// The body's media type.
    pub content_type: &'static str,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// How long the body is, in bytes.
    pub length: u64,
    /// The body.
    pub pieces: Pieces,
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

    /// Success with members that are JSON text already.
    pub fn members(members: String) -> Self {
        Self::Json(members)
    }
}

/// The members of a struct or map as JSON, without the braces around them.
pub fn members_of(data: &impl Serialize) -> ApiResult<String> {
    let mut object = serde_json::to_string(data)?;
    object.pop();
    object.remove(0);
    Ok(object)
}

const HEAD: &str = r#"{"result":"success","msg":"""#;
const HEAD_AND_MORE: &str = r#"{"result":"success","msg":"","#;

/// The body of a successful JSON answer (spec, "Conventions", 3 and 4).
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
