//! What a client wants of a file.

use hyper::header::{self, HeaderMap, HeaderName};

/// Headers with which a client asks for a part of a file, or for one that it does not have (RFC 9110, sections 13 and
/// 14).
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// `Range`.
    pub range: Option<String>,
    /// `If-Range`.
    pub if_range: Option<String>,
    /// `If-None-Match`.
    pub if_none_match: Option<String>,
}

impl Conditions {
    /// Those of a request; few have any.
    pub fn of(headers: &HeaderMap) -> Option<Box<Self>> {
        let text =
            |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let conditions = Self {
            range: text(header::RANGE),
            if_range: text(header::IF_RANGE),
            if_none_match: text(header::IF_NONE_MATCH),
        };
        let any = conditions.range.is_some() || conditions.if_none_match.is_some();
        any.then(|| Box::new(conditions))
    }
}
