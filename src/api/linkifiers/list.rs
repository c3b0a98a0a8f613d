//! `GET /realm/linkifiers`, and its older form.

use crate::domain::linkifiers::{LinkifierRecord, sql};
use crate::http::params::NoParams;
use crate::http::{ApiResult, Read, Reply, User};
use std::fmt::Write;

/// `GET /realm/linkifiers`: all of them, in the order in which they are tried.
pub fn get_linkifiers(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    Reply::field("linkifiers", &sql::all(read)?)
}

/// `GET /realm/filters`: the same as triples of pattern, format string and id, for clients from before feature level 54.
/// A template that no format string can express is left out.
pub fn get_filters(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    let filters: Vec<(String, String, i64)> = sql::all(read)?
        .into_iter()
        .filter_map(|LinkifierRecord { pattern, url_template, id }| {
            Some((pattern, format_string(&url_template)?, id))
        })
        .collect();
    Reply::field("filters", &filters)
}

/// A template as a format string, `%(name)s` for `{name}`; `None` if it says more than that.
fn format_string(url_template: &str) -> Option<String> {
    let mut format = String::new();
    let mut rest = url_template;
    while let Some((before, expression)) = rest.split_once('{') {
        let (name, after) = expression.split_once('}')?;
        if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
            return None;
        }
        format.push_str(&before.replace('%', "%%"));
        // Writing to a text cannot fail.
        let _ = write!(format, "%({name})s");
        rest = after;
    }
    format.push_str(&rest.replace('%', "%%"));
    Some(format)
}

#[cfg(test)]
mod tests {
    #[test]
    fn plain_templates_have_a_format_string() {
        for (url_template, expected) in [
            ("https://example.com/{id}", Some("https://example.com/%(id)s")),
            ("https://example.com/%20{a}/{b_2}?x=50%", Some("https://example.com/%%20%(a)s/%(b_2)s?x=50%%")),
            ("https://example.com", Some("https://example.com")),
            ("https://example.com/{+path}", None),
            ("https://example.com/{a,b}", None),
            ("https://example.com/{id:3}", None),
        ] {
            assert_eq!(super::format_string(url_template).as_deref(), expected, "{url_template}");
        }
    }
}
