//! Conditional and range requests for files (RFC 9110, sections 13 and 14).

use crate::error::{ApiError, ApiResult};
use crate::http::{Conditions, PartSource, Reply, ReplyBody, StreamedReply};
use std::ops::Range;

/// The part of a file to respond with.
#[derive(Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The whole file.
    Whole,
    /// These bytes.
    Part(Range<u64>),
    /// Nothing: the file does not have the requested bytes.
    Unsatisfiable,
    /// Nothing: the client has the file.
    NotModified,
}

/// Evaluates the conditions of a request for a file of this length and `ETag`. The response to several ranges is the
/// whole file, as the RFC allows.
pub fn wanted(conditions: Option<&Conditions>, size: u64, etag: &str) -> Wanted {
    let Some(conditions) = conditions else { return Wanted::Whole };
    if conditions.if_none_match.as_deref().is_some_and(|tags| names(tags, etag)) {
        return Wanted::NotModified;
    }
    // The client has a part of another version.
    if conditions.if_range.as_deref().is_some_and(|tag| tag != etag) {
        return Wanted::Whole;
    }
    let range = conditions.range.as_deref().and_then(|range| range.trim().strip_prefix("bytes="));
    let Some((first, last)) =
        range.filter(|range| !range.contains(',')).and_then(|range| range.split_once('-'))
    else {
        return Wanted::Whole;
    };
    let part = match (number(first), number(last)) {
        (Some(Some(first)), Some(last)) => {
            let end = last.map_or(size, |last| last.saturating_add(1).min(size));
            if last.is_some_and(|last| last < first) {
                return Wanted::Whole;
            }
            first..end
        }
        (Some(None), Some(Some(length))) => size.saturating_sub(length)..size,
        _ => return Wanted::Whole,
    };
    if part.is_empty() { Wanted::Unsatisfiable } else { Wanted::Part(part) }
}

/// Responds with a file of this size, or with the part of it that is wanted. `read` returns the source of the bytes from an
/// offset on. Fails with 416 if the file does not have the requested bytes.
pub fn respond(
    wanted: Wanted,
    size: u64,
    content_type: &'static str,
    mut headers: Vec<(&'static str, String)>,
    read: impl FnOnce(u64) -> PartSource,
) -> ApiResult<Reply> {
    let (status, part) = match wanted {
        Wanted::Unsatisfiable => {
            let refusal = ApiError::new(416, "BAD_REQUEST", "There are no such bytes in this file");
            return Err(refusal.with_header("Content-Range", format!("bytes */{size}")));
        }
        Wanted::Part(part) => {
            headers.push(("Content-Range", format!("bytes {}-{}/{size}", part.start, part.end - 1)));
            (206, part)
        }
        Wanted::Whole | Wanted::NotModified => (200, 0..size),
    };
    let (length, source) = (part.end - part.start, read(part.start));
    Ok(ReplyBody::Streamed(StreamedReply { status, content_type, headers, length, source }).into())
}

/// Parses an optional number: `Some(None)` if the text is empty, `None` if it is not a number.
fn number(text: &str) -> Option<Option<u64>> {
    match text.trim() {
        "" => Some(None),
        digits => digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?.map(Some),
    }
}

/// True if a list of entity tags includes one.
fn names(tags: &str, etag: &str) -> bool {
    tags.split(',').map(str::trim).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_select_parts_of_a_file() {
        use Wanted::{Part, Unsatisfiable, Whole};
        let cases = [
            ("bytes=0-9", Part(0..10)),
            ("bytes=10-", Part(10..100)),
            ("bytes=-10", Part(90..100)),
            ("bytes=-1000", Part(0..100)),
            ("bytes=99-99", Part(99..100)),
            ("bytes=50-1000", Part(50..100)),
            ("bytes=0-18446744073709551615", Part(0..100)),
            (" bytes=1-2 ", Part(1..3)),
            ("bytes=100-", Unsatisfiable),
            ("bytes=-0", Unsatisfiable),
            ("bytes=200-300", Unsatisfiable),
            ("bytes=5-4", Whole),
            ("bytes=0-1,5-6", Whole),
            ("bytes=-", Whole),
            ("bytes=a-b", Whole),
            ("bytes=+1-2", Whole),
            ("bytes=99999999999999999999-", Whole),
            ("lines=0-9", Whole),
            ("", Whole),
        ];
        for (range, expected) in cases {
            let conditions = Conditions { range: Some(range.to_owned()), ..Conditions::default() };
            assert_eq!(wanted(Some(&conditions), 100, "\"a\""), expected, "{range}");
        }
        let all = Conditions { range: Some("bytes=0-".to_owned()), ..Conditions::default() };
        assert_eq!(wanted(Some(&all), 0, "\"a\""), Unsatisfiable);
        assert_eq!(wanted(None, 100, "\"a\""), Whole);
    }

    #[test]
    fn conditional_requests_compare_entity_tags() {
        let conditions = |if_none_match: Option<&str>, if_range: Option<&str>| Conditions {
            range: Some("bytes=0-0".to_owned()),
            if_range: if_range.map(str::to_owned),
            if_none_match: if_none_match.map(str::to_owned),
        };
        let cases = [
            (conditions(Some("\"a\""), None), Wanted::NotModified),
            (conditions(Some("\"b\", W/\"a\""), None), Wanted::NotModified),
            (conditions(Some("*"), None), Wanted::NotModified),
            (conditions(Some("\"b\""), None), Wanted::Part(0..1)),
            (conditions(None, Some("\"a\"")), Wanted::Part(0..1)),
            (conditions(None, Some("\"b\"")), Wanted::Whole),
        ];
        for (conditions, expected) in cases {
            assert_eq!(wanted(Some(&conditions), 100, "\"a\""), expected, "{conditions:?}");
        }
    }
}
