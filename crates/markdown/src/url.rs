//! URLs as people type them, reduced to those that are safe to follow.

/// A URL that clients may follow: relative to this server, or of a scheme that runs no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafeUrl(String);

impl SafeUrl {
    /// Checks a URL as typed. One without a scheme is a path or fragment on this server if it starts with `/` or `#`,
    /// `mailto:` if it looks like an email address, and else `http://`. Returns `None` for schemes that are not known to
    /// be harmless and for an empty URL.
    pub fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || text.chars().any(char::is_control) {
            return None;
        }
        // An empty fragment or query is dropped.
        let text = without_last(without_last(text, &['#']), &['#', '?']);
        let text = &text.replace(' ', "%20");
        let scheme_end = text.find([':', '/', '?', '#']).filter(|&at| text.as_bytes()[at] == b':');
        if let Some((scheme, rest)) = scheme_end.map(|at| (text[..at].to_ascii_lowercase(), &text[at + 1..]))
        {
            let has_host =
                rest.strip_prefix("//").is_some_and(|host| !host.is_empty() && !host.starts_with('/'));
            return match scheme.as_str() {
                "http" | "https" | "ftp" if has_host => Some(Self(format!("{scheme}:{rest}"))),
                "mailto" | "news" | "bitcoin" | "sms" | "tel" if !rest.is_empty() => {
                    Some(Self(format!("{scheme}:{rest}")))
                }
                // `example.com:8080/x` has a host and a port, and no scheme.
                _ if scheme.contains('.') && rest.starts_with(|c: char| c.is_ascii_digit()) => {
                    Some(Self(format!("http://{text}")))
                }
                _ => None,
            };
        }
        // A host without a scheme would inherit the scheme of the page.
        if text.starts_with("//") {
            return None;
        }
        if text.starts_with('/') || (text.starts_with('#') && text.len() > 1) {
            return Some(Self(text.to_owned()));
        }
        if text.starts_with(['#', '?']) {
            return None;
        }
        if text.contains('@') && !text.contains('/') {
            return Some(Self(format!("mailto:{text}")));
        }
        Some(Self(format!("http://{text}")))
    }

    /// Returns the URL before escaping.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path id of an uploaded file: the part after `/user_uploads/`.
    pub fn path_id(&self) -> Option<&str> {
        let path = self.0.strip_prefix("/user_uploads/")?;
        let path = path.split(['?', '#']).next()?;
        (!path.is_empty() && !path.split('/').any(|part| part.is_empty() || part == "..")).then_some(path)
    }

    /// Checks whether the URL is on the web, and not on this server.
    pub fn is_external(&self) -> bool {
        matches!(self.0.split_once("://"), Some(("http" | "https", _)))
    }

    /// Checks whether the path ends with one of these file extensions.
    pub fn has_extension(&self, extensions: &[&str]) -> bool {
        let path = self.0.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
        // The host alone has no extension: `http://example.jpg` is no picture.
        path.split_once("://").is_some_and(|(_, rest)| rest.contains('/'))
            && extensions.iter().any(|extension| path.ends_with(extension))
    }
}

/// Removes the last character if it is the first one of `marks` in the text.
fn without_last<'a>(text: &'a str, marks: &[char]) -> &'a str {
    match text.find(marks) {
        Some(at) if at > 0 && at + 1 == text.len() => &text[..at],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_completed_or_refused() {
        for (typed, written) in [
            ("example.com", Some("http://example.com")),
            ("HTTPS://example.com", Some("https://example.com")),
            ("someone@example.com", Some("mailto:someone@example.com")),
            ("/user_uploads/1/x", Some("/user_uploads/1/x")),
            ("#narrow/search/x", Some("#narrow/search/x")),
            ("//example.com", None),
            ("example.com/a b", Some("http://example.com/a%20b")),
            ("http://example.com/#", Some("http://example.com/")),
            ("http://example.com/?#", Some("http://example.com/")),
            ("http://example.com/?#a", Some("http://example.com/?#a")),
            ("example.com:8080/x", Some("http://example.com:8080/x")),
            ("tel:+14155551234", Some("tel:+14155551234")),
            ("javascript:alert(1)", None),
            ("JavaScript://example.com", None),
            ("java\tscript:alert(1)", None),
            ("data:text/html,x", None),
            ("vbscript:x", None),
            ("http://", None),
            ("http:///x", None),
            ("", None),
            ("#", None),
        ] {
            assert_eq!(SafeUrl::from_text(typed).as_ref().map(SafeUrl::as_str), written, "{typed}");
        }
    }
}
