//! Sessions of browsers: their cookies, and the checks against forged requests.
//!
//! A session is a row of its own table, and its cookie holds a random secret: no API key is a session, and no session
//! is an API key. The names of the cookies are unique to the program, since a browser sends cookies to all programs on
//! a host, on every port.
//!
//! A browser sends its cookies with requests that other sites cause. So a request that may change something counts only
//! if it comes from a page of this server, by `Sec-Fetch-Site` or else `Origin`, and if it names in a header a token that
//! only such a page can read.

use crate::error::{ApiError, ApiResult};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// The name of the cookie with the secret. Scripts cannot read it.
const SESSION: &str = "teamchat_session";

/// The name of the cookie with the token. Scripts of this server's pages read it.
const TOKEN: &str = "teamchat_csrf";

/// Binds a cookie to the host that set it, and to TLS.
const SECURE_PREFIX: &str = "__Host-";

/// The client name of requests with a session.
pub const CLIENT: &str = "website";

/// The length of a session's secret in characters.
pub const SECRET_LENGTH: usize = 32;

/// Lifetime of an unused session and of its cookies in seconds: 30 days.
pub const IDLE: i64 = 30 * 24 * 60 * 60;

/// The header in which pages of this server repeat the token of their cookie, which other sites cannot read.
pub const TOKEN_HEADER: &str = "x-csrftoken";

/// Headers about the page that caused a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Provenance<'a> {
    /// `Sec-Fetch-Site`.
    pub fetch_site: Option<&'a str>,
    pub origin: Option<&'a str>,
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

    /// Checks that a page that belongs to the session with this secret caused the request.
    pub fn check(&self, own_origin: &str, secret: &str) -> ApiResult<()> {
        self.check_origin(own_origin)?;
        let (expected, given) = (token(secret), self.token.unwrap_or_default());
        let different = expected.bytes().zip(given.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
        let is_right = expected.len() == given.len() && different == 0;
        if is_right { Ok(()) } else { Err(forged("The token is missing or incorrect.")) }
    }
}

/// 403 `CSRF_FAILED`.
fn forged(reason: &str) -> ApiError {
    ApiError::new(403, "CSRF_FAILED", format!("CSRF error: {reason}"))
}

/// The token of a session. It is derived from the secret, so it needs no place, and ends with the session.
fn token(secret: &str) -> String {
    let digest = Sha256::digest(format!("csrf token of the session {secret}").as_bytes());
    URL_SAFE_NO_PAD.encode(digest.iter().take(16).copied().collect::<Vec<u8>>())
}

/// Returns the secret in a `Cookie` header, if it has the form of one.
pub fn secret_of<'a>(cookies: &'a str, own_origin: &str) -> Option<&'a str> {
    let name = cookie_name(SESSION, own_origin);
    let mut cookies = cookies.split(';').filter_map(|cookie| cookie.trim().split_once('='));
    let secret = cookies.find(|(found, _)| *found == name).map(|(_, secret)| secret)?;
    let fits = secret.len() == SECRET_LENGTH && secret.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then_some(secret)
}

/// The headers that begin the session with a secret, or let its cookies last longer.
pub fn begin(secret: &str, own_origin: &str) -> Vec<(&'static str, String)> {
    set_cookies(secret, &token(secret), IDLE, own_origin)
}

/// The headers that end a session in the browser. They clear its cache, with pictures and files of messages and pages
/// of the history. They keep drafts, which are stored by user, files of the web client, and cookies of other programs
/// on the host.
pub fn end(own_origin: &str) -> Vec<(&'static str, String)> {
    let mut headers = set_cookies("", "", 0, own_origin);
    headers.push(("Clear-Site-Data", r#""cache""#.to_owned()));
    headers
}

fn set_cookies(secret: &str, token: &str, lifetime: i64, own_origin: &str) -> Vec<(&'static str, String)> {
    let secure = if is_secure(own_origin) { "; Secure" } else { "" };
    let cookie = |name: &str, value: &str, more: &str| {
        let name = cookie_name(name, own_origin);
        ("Set-Cookie", format!("{name}={value}; Path=/; Max-Age={lifetime}; SameSite=Lax{more}{secure}"))
    };
    vec![cookie(SESSION, secret, "; HttpOnly"), cookie(TOKEN, token, "")]
}

/// The name of the published desktop app.
const DESKTOP_APP: &str = "Desktop app";

/// True if the name of a browser is that of the published desktop app.
pub fn is_desktop_app(browser: &str) -> bool {
    browser.starts_with(DESKTOP_APP)
}

/// The longest name of a browser and its system, in characters.
const MAX_BROWSER_NAME: usize = 60;

/// The name of a browser and its system, from `User-Agent`: "Firefox on Linux". Other programs are named by the first
/// word.
pub fn browser_name(user_agent: &str) -> String {
    // The first that is found counts: most browsers name others too.
    const BROWSERS: [(&str, &str); 9] = [
        ("ZulipElectron", DESKTOP_APP),
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("SamsungBrowser", "Samsung Internet"),
        ("Firefox", "Firefox"),
        ("FxiOS", "Firefox"),
        ("CriOS", "Chrome"),
        ("Chrome", "Chrome"),
        ("Safari", "Safari"),
    ];
    const SYSTEMS: [(&str, &str); 7] = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("CrOS", "ChromeOS"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ];
    let find = |names: &[(&str, &'static str)]| {
        names.iter().find(|(part, _)| user_agent.contains(part)).map(|(_, name)| *name)
    };
    let name = match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => user_agent.split(['/', ' ']).next().unwrap_or_default().to_owned(),
    };
    let name: String = name.chars().take(MAX_BROWSER_NAME).collect();
    if name.is_empty() { "Browser".to_owned() } else { name }
}

/// The name of a cookie in the browser. Over TLS no other host can set it.
pub fn cookie_name(name: &str, own_origin: &str) -> String {
    let prefix = if is_secure(own_origin) { SECURE_PREFIX } else { "" };
    format!("{prefix}{name}")
}

/// True if cookies are sent over TLS only.
pub fn is_secure(own_origin: &str) -> bool {
    own_origin.starts_with("https://")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdefABCDEF0123456789";
    const PLAIN: &str = "http://127.0.0.1:9991";
    const TLS: &str = "https://chat.example.com";

    #[test]
    fn a_session_is_read_from_the_cookies_that_begin_it() {
        for (origin, name) in [(PLAIN, "teamchat_session"), (TLS, "__Host-teamchat_session")] {
            let headers = begin(SECRET, origin);
            let session = &headers[0].1;
            assert!(session.starts_with(&format!("{name}={SECRET}; Path=/;")), "{session}");
            assert!(session.contains("HttpOnly") && session.contains("SameSite=Lax"), "{session}");
            assert_eq!(session.ends_with("; Secure"), origin == TLS, "{session}");
            assert!(!headers[1].1.contains("HttpOnly") && !headers[1].1.contains(SECRET), "{}", headers[1].1);
            assert_eq!(secret_of(&format!("a=b; {name}={SECRET}"), origin), Some(SECRET));
            assert_eq!(secret_of(&format!("{name}=short"), origin), None);
        }
        assert_eq!(
            secret_of(&format!("teamchat_session={SECRET}"), TLS),
            None,
            "another host may have set it"
        );
    }

    #[test]
    fn browsers_are_named_as_people_know_them() {
        let cases = [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 \
                 Safari/537.36 Edg/141.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/18.6 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile \
                 Safari/537.36",
                "Chrome on Android",
            ),
            ("Mozilla/5.0 (Macintosh) ZulipElectron/5.12.0 Chrome/138", "Desktop app"),
            ("curl/8.5.0", "curl"),
            ("", "Browser"),
        ];
        for (user_agent, expected) in cases {
            assert_eq!(browser_name(user_agent), expected);
        }
        assert_eq!(browser_name(&"x".repeat(1000)).len(), MAX_BROWSER_NAME);
    }

    #[test]
    fn only_pages_of_this_server_pass() {
        let token = token(SECRET);
        let right = Provenance { token: Some(&token), host: Some("127.0.0.1:9991"), ..Provenance::default() };
        let passes = |provenance: Provenance<'_>| provenance.check(PLAIN, SECRET).is_ok();
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
