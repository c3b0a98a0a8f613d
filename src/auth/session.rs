//! Sessions of browsers: a cookie that stands for an API key, and the checks against forged requests.
//!
//! A browser sends its cookies with requests that other sites cause. So a request that may change something counts only
//! if it comes from a page of this server, by `Sec-Fetch-Site` or else `Origin`, and if it names in a header a token that
//! only such a page can read.

use crate::auth::credentials::API_KEY_LENGTH;
use crate::error::{ApiError, ApiResult};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// The name of the cookie with the key. Scripts cannot read it.
const SESSION: &str = "sessionid";

/// The name of the cookie with the token. Scripts of this server's pages read it.
const TOKEN: &str = "csrftoken";

/// Binds a cookie to the host that set it, and to TLS.
const SECURE_PREFIX: &str = "__Host-";

/// The client of a session's key in lists of keys, and of what a session sends.
pub const CLIENT: &str = "website";

/// How long browsers keep the cookies, in seconds: 400 days, the most that they accept.
const LIFETIME: u32 = 400 * 24 * 60 * 60;

/// The header that names the token.
pub const TOKEN_HEADER: &str = "x-csrftoken";

/// What a request says of the page that caused it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Provenance<'a> {
    /// `Sec-Fetch-Site`.
    pub fetch_site: Option<&'a str>,
    /// `Origin`.
    pub origin: Option<&'a str>,
    /// `Host`.
    pub host: Option<&'a str>,
    /// `X-CSRFToken`.
    pub token: Option<&'a str>,
}

impl Provenance<'_> {
    /// Checks that a page of this server caused the request. Requests that browsers cause name at least one of the two
    /// headers; those of programs need not.
    pub fn check_origin(&self, own_origin: &str) -> ApiResult<()> {
        let is_own = match (self.fetch_site, self.origin) {
            (Some(site), _) => site == "same-origin",
            (None, Some(origin)) => {
                let authority = origin.split_once("://").map(|(_, authority)| authority);
                origin == own_origin || (authority.is_some() && authority == self.host)
            }
            (None, None) => true,
        };
        if is_own { Ok(()) } else { Err(forged("The request comes from another site.")) }
    }

    /// Checks that a page that belongs to the session of `key` caused the request.
    pub fn check(&self, own_origin: &str, key: &str) -> ApiResult<()> {
        self.check_origin(own_origin)?;
        let (expected, given) = (token(key), self.token.unwrap_or_default());
        let different = expected.bytes().zip(given.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
        let is_right = expected.len() == given.len() && different == 0;
        if is_right { Ok(()) } else { Err(forged("The token is missing or incorrect.")) }
    }
}

/// 403 `CSRF_FAILED`.
fn forged(reason: &str) -> ApiError {
    ApiError::new(403, "CSRF_FAILED", format!("CSRF error: {reason}"))
}

/// The token of the session of a key. It is derived from the key, so it needs no place, and ends with the session.
fn token(key: &str) -> String {
    let digest = Sha256::digest(format!("csrf token of the session {key}").as_bytes());
    URL_SAFE_NO_PAD.encode(digest.iter().take(16).copied().collect::<Vec<u8>>())
}

/// Returns the key in a `Cookie` header, if it has the form of one.
pub fn key_of<'a>(cookies: &'a str, own_origin: &str) -> Option<&'a str> {
    let name = cookie_name(SESSION, own_origin);
    let mut cookies = cookies.split(';').filter_map(|cookie| cookie.trim().split_once('='));
    let key = cookies.find(|(found, _)| *found == name).map(|(_, key)| key)?;
    let fits = key.len() == API_KEY_LENGTH && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then_some(key)
}

/// The headers that begin the session of a key.
pub fn begin(key: &str, own_origin: &str) -> Vec<(&'static str, String)> {
    set_cookies(key, &token(key), LIFETIME, own_origin)
}

/// The headers that end a session in the browser.
pub fn end(own_origin: &str) -> Vec<(&'static str, String)> {
    set_cookies("", "", 0, own_origin)
}

fn set_cookies(key: &str, token: &str, lifetime: u32, own_origin: &str) -> Vec<(&'static str, String)> {
    let secure = if is_secure(own_origin) { "; Secure" } else { "" };
    let cookie = |name: &str, value: &str, more: &str| {
        let name = cookie_name(name, own_origin);
        ("Set-Cookie", format!("{name}={value}; Path=/; Max-Age={lifetime}; SameSite=Lax{more}{secure}"))
    };
    vec![cookie(SESSION, key, "; HttpOnly"), cookie(TOKEN, token, "")]
}

fn cookie_name(name: &str, own_origin: &str) -> String {
    let prefix = if is_secure(own_origin) { SECURE_PREFIX } else { "" };
    format!("{prefix}{name}")
}

fn is_secure(own_origin: &str) -> bool {
    own_origin.starts_with("https://")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0123456789abcdefABCDEF0123456789";
    const PLAIN: &str = "http://127.0.0.1:9991";
    const TLS: &str = "https://chat.example.com";

    #[test]
    fn a_session_is_read_from_the_cookies_that_begin_it() {
        for (origin, name) in [(PLAIN, "sessionid"), (TLS, "__Host-sessionid")] {
            let headers = begin(KEY, origin);
            let session = &headers[0].1;
            assert!(session.starts_with(&format!("{name}={KEY}; Path=/;")), "{session}");
            assert!(session.contains("HttpOnly") && session.contains("SameSite=Lax"), "{session}");
            assert_eq!(session.ends_with("; Secure"), origin == TLS, "{session}");
            assert!(!headers[1].1.contains("HttpOnly") && !headers[1].1.contains(KEY), "{}", headers[1].1);
            assert_eq!(key_of(&format!("a=b; {name}={KEY}"), origin), Some(KEY));
            assert_eq!(key_of(&format!("{name}=short"), origin), None);
        }
        assert_eq!(key_of(&format!("sessionid={KEY}"), TLS), None, "another host may have set it");
    }

    #[test]
    fn only_pages_of_this_server_pass() {
        let token = token(KEY);
        let right = Provenance { token: Some(&token), host: Some("127.0.0.1:9991"), ..Provenance::default() };
        let passes = |provenance: Provenance<'_>| provenance.check(PLAIN, KEY).is_ok();
        let cases = [
            (right, true),
            (Provenance { token: None, ..right }, false),
            (Provenance { token: Some("wrong"), ..right }, false),
            (Provenance { fetch_site: Some("same-origin"), ..right }, true),
            (Provenance { fetch_site: Some("same-site"), ..right }, false),
            (Provenance { fetch_site: Some("cross-site"), origin: Some(PLAIN), ..right }, false),
            (Provenance { origin: Some("http://evil.example"), ..right }, false),
            (Provenance { origin: Some("null"), ..right }, false),
            (Provenance { origin: Some(PLAIN), host: None, ..right }, true),
            // Reached by another name than the configured one.
            (Provenance { origin: Some("http://chat.home"), host: Some("chat.home"), ..right }, true),
        ];
        for (provenance, expected) in cases {
            assert_eq!(passes(provenance), expected, "{provenance:?}");
        }
    }
}
