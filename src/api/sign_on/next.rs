//! The path to which the browser goes after a login.

use url::{Position, Url};

/// The longest path, in bytes.
const MAX_LENGTH: usize = 2000;

/// The path for a browser that reached the server at `origin`: that of `next` if it leads to this server, or else `/`.
pub fn path(next: Option<&str>, origin: &str) -> String {
    next.and_then(|next| own_path(next, origin)).unwrap_or_else(|| "/".to_owned())
}

fn own_path(next: &str, origin: &str) -> Option<String> {
    let is_path = next.starts_with('/') && !next.contains('\\') && !next.contains(char::is_control);
    if !is_path || next.len() > MAX_LENGTH {
        return None;
    }
    let base = Url::parse(origin).ok()?;
    let url = base.join(next).ok()?;
    let path = &url[Position::BeforePath..];
    // A path such as `/.//host` has two slashes once it is resolved.
    (url.origin() == base.origin() && !path.starts_with("//")).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_server_are_followed() {
        let origin = "https://chat.example.com";
        for (next, expected) in [
            ("/", "/"),
            ("/#narrow/channel/3-general", "/#narrow/channel/3-general"),
            ("/user_uploads/1/ab/ü.png?a=b", "/user_uploads/1/ab/%C3%BC.png?a=b"),
            ("/a/../b", "/b"),
        ] {
            assert_eq!(path(Some(next), origin), expected, "{next}");
        }
        let long = format!("/{}", "x".repeat(MAX_LENGTH));
        for next in [
            "",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/.//evil.example",
            "/a/..//evil.example",
            "https:evil.example",
            "https://evil.example/",
            "javascript:alert(1)",
            "evil.example",
            "/\t/evil.example",
            " /",
            "/\r\nSet-Cookie: a=b",
            &long,
        ] {
            assert_eq!(path(Some(next), origin), "/", "{next:?}");
        }
        assert_eq!(path(None, origin), "/");
    }
}
