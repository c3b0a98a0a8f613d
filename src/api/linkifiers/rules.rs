//! What a linkifier has to be.

use crate::http::ApiError;
use crate::markdown::{Linkifier, LinkifierError, url_template_variables};

/// The published name of what is wrong with a whole record rather than with a field.
const WHOLE: &str = "__all__";

/// Checks a pattern and its template; `is_taken` says whether another linkifier has the pattern. The error names the
/// first problem, and in `errors` all of them by field.
pub fn check(pattern: &str, url_template: &str, is_taken: bool) -> Result<(), ApiError> {
    let blank = || "This field cannot be blank.".to_owned();
    let mut problems: Vec<(&'static str, String)> = Vec::new();
    if pattern.is_empty() {
        problems.push(("pattern", blank()));
    }
    if url_template.is_empty() {
        problems.push(("url_template", blank()));
    } else if url_template_variables(url_template).is_none() {
        problems.push(("url_template", LinkifierError::BadTemplate.to_string()));
    }
    match Linkifier::compile(pattern, url_template) {
        Ok(_) | Err(LinkifierError::BadTemplate) => {}
        Err(error) => problems.push((WHOLE, error.to_string())),
    }
    if is_taken {
        problems.push((WHOLE, "Realm filter with this Realm and Pattern already exists.".to_owned()));
    }
    if problems.is_empty() { Ok(()) } else { Err(ApiError::invalid_fields(problems)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn all_problems_are_told_and_the_first_is_the_message() {
        let cases = [
            ("#(?P<id>[0-9]+)", "https://example.com/{id}", false, json!(null)),
            ("", "https://example.com", false, json!({"pattern": ["This field cannot be blank."]})),
            ("x", "", false, json!({"url_template": ["This field cannot be blank."]})),
            ("x", "https://example.com/{", false, json!({"url_template": ["Invalid URL template."]})),
            (
                "(x",
                "{",
                false,
                json!({"url_template": ["Invalid URL template."], "__all__": ["Bad regular expression: missing ): (x"]}),
            ),
            (
                "x",
                "https://example.com/{id}",
                true,
                json!({"__all__": ["Group 'id' in URL template is not present in linkifier pattern.",
                    "Realm filter with this Realm and Pattern already exists."]}),
            ),
        ];
        for (pattern, url_template, is_taken, expected) in cases {
            let body =
                check(pattern, url_template, is_taken).map_or_else(|error| error.body(), |()| json!({}));
            assert_eq!(body.get("errors").unwrap_or(&Value::Null), &expected, "{pattern} {url_template}");
            let first = expected.as_object().and_then(|errors| errors.values().next()).map(|list| &list[0]);
            assert_eq!(body.get("msg"), first, "{pattern} {url_template}");
        }
    }
}
