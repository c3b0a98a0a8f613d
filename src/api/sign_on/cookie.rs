//! The cookie that binds a login to its browser. Without it, a page of another site could log its visitor in to an account of
//! its own, with a code that the visitor never asked for.

use crate::auth::session::{cookie_name, is_secure};
use crate::http::RequestInfo;
use crate::oidc;
use crate::oidc::flows::FLOW_LIFETIME;

const NAME: &str = "teamchat_sign_on";

/// The secret of a browser, and the header that sets it. A browser keeps its secret, because it may log in in several tabs.
pub fn begin(info: &RequestInfo) -> (String, (&'static str, String)) {
    let secret = secret_of(info).map_or_else(oidc::secret, str::to_owned);
    let secure = if is_secure(&info.origin) { "; Secure" } else { "" };
    let name = cookie_name(NAME, &info.origin);
    // The provider sends the browser back from another site, which `Strict` would not allow.
    let cookie = format!("{name}={secret}; Path=/; Max-Age={FLOW_LIFETIME}; HttpOnly; SameSite=Lax{secure}");
    (secret, ("Set-Cookie", cookie))
}

/// True if a request has the secret of the browser that began a login, compared in constant time.
pub fn is_of(info: &RequestInfo, expected: &str) -> bool {
    secret_of(info).is_some_and(|secret| {
        let different = secret.bytes().zip(expected.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
        secret.len() == expected.len() && different == 0
    })
}

/// The secret of the cookie, if it has the form of one.
fn secret_of(info: &RequestInfo) -> Option<&str> {
    let name = cookie_name(NAME, &info.origin);
    let mut cookies = info.cookies.as_deref()?.split(';').filter_map(|cookie| cookie.trim().split_once('='));
    let secret = cookies.find(|(found, _)| *found == name).map(|(_, secret)| secret)?;
    oidc::is_secret(secret).then_some(secret)
}
