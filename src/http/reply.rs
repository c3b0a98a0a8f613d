//! Successful responses.

use super::streamed::PartSource;
use crate::error::ApiResult;
use crate::types::members_of;
use serde::Serialize;
use serde_json::Value;
use std::marker::PhantomData;

/// The successful result of a handler: a JSON response with the members of `T`, or none.
///
/// `docs/openapi.yaml` has the members of `T` as the response of the handler's route.
pub struct Reply<T = ()> {
    body: ReplyBody,
    members: PhantomData<fn() -> T>,
}

/// The members of a [`Reply`] that is no JSON response, but a redirect.
pub enum NotJson {}

pub enum ReplyBody {
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
    /// Reads the body, by offsets in it.
    pub source: PartSource,
}

impl Reply {
    /// Success without data.
    pub fn ok() -> Self {
        Self::members(String::new())
    }
}

impl<T> Reply<T> {
    /// Success with members that are JSON already, without braces. They must be those of `T`.
    pub fn members(members: String) -> Self {
        ReplyBody::Json(members).into()
    }

    /// A response that is not JSON of the API.
    pub fn other(other: OtherReply) -> Self {
        ReplyBody::Other(other).into()
    }

    /// The body without the type of its members.
    pub fn into_body(self) -> ReplyBody {
        self.body
    }
}

impl<T: Serialize> Reply<T> {
    /// Success with the members of a struct or map.
    pub fn data(data: &T) -> ApiResult<Self> {
        Ok(Self::members(members_of(data)?))
    }
}

impl<T> From<ReplyBody> for Reply<T> {
    fn from(body: ReplyBody) -> Self {
        Self { body, members: PhantomData }
    }
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
