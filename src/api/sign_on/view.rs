//! The answers of logins at providers: redirects, short pages, and the two pages of the desktop app, whose scripts are inline.

use crate::http::page::{self, HTML};
use crate::http::{NotJson, OtherReply, Reply};
use crate::types::{Language, fill};
use bytes::Bytes;
use form_urlencoded::byte_serialize;
use maud::{Markup, PreEscaped, html};

const DESKTOP_LOGIN: &str = include_str!("desktop_login.js");

const DESKTOP_TOKEN: &str = include_str!("desktop_token.js");

const STYLE: &str = ":root { color-scheme: light dark; } \
    body { margin: 15vh auto; max-width: 36rem; padding: 0 16px; font: 16px/1.5 system-ui, sans-serif; } \
    h1 { font-size: 1.5rem; } \
    input, button { box-sizing: border-box; padding: 8px 12px; font: inherit; } \
    input { width: 100%; margin: 4px 0 12px; }";

/// Sends the browser to another address.
pub fn redirect(location: String, mut headers: Vec<(&'static str, String)>) -> Reply<NotJson> {
    headers.push(("Location", location));
    reply(302, headers, Bytes::new())
}

/// Sends the browser to the login page, which names the email of a deactivated account.
pub fn to_login(deactivated: Option<&str>) -> Reply<NotJson> {
    let query = deactivated
        .map(|email| format!("?is_deactivated={}", byte_serialize(email.as_bytes()).collect::<String>()));
    redirect(format!("/login/{}", query.unwrap_or_default()), Vec::new())
}

fn reply(status: u16, mut headers: Vec<(&'static str, String)>, body: Bytes) -> Reply<NotJson> {
    // Addresses have codes and tokens.
    headers.push(("Referrer-Policy", "no-referrer".to_owned()));
    headers.push(("Cache-Control", "no-store".to_owned()));
    Reply::other(OtherReply { status, content_type: HTML, headers, body })
}

/// The page for a provider that does not answer, with status 502.
pub fn unreachable(language: Language) -> Reply<NotJson> {
    let sentence = language.t("Please try again later, or ask the operator of the server.");
    page::reply(502, language, language.t("The login service cannot be reached"), &[sentence])
}

/// The page for a person without an account and without an invitation, with status 403.
pub fn not_invited(language: Language, email: &str) -> Reply<NotJson> {
    let text = language.t("Please request an invite for {email} from the organization administrator.");
    no_account(language, &fill(text, &[("email", email)]))
}

/// The page for a person who has no account for another reason, with status 403.
pub fn no_account(language: Language, reason: &str) -> Reply<NotJson> {
    page::reply(403, language, language.t("You have no account here"), &[reason])
}

/// The page for a token that is unknown, used or expired, with status 400.
pub fn unknown_token(language: Language) -> Reply<NotJson> {
    page::reply(400, language, language.t("This link does not work"), &[language.t("Please log in again.")])
}

/// The page of the desktop app, which opens the person's browser and waits for its token.
pub fn desktop_login(language: Language) -> Reply<NotJson> {
    let body = html! {
        p { (language.t("Log in with your browser, and then return to the app.")) }
        p { a #open href="#" target="_blank" { (language.t("Open the browser")) } }
        form #form hidden {
            label for="token" { (language.t("Paste the token that your browser shows")) }
            input #token autocomplete="off" required;
            p #bad-token role="alert" hidden { (language.t("This token is not correct.")) }
            button type="submit" { (language.t("Finish logging in")) }
        }
    };
    with_script(language, &body, DESKTOP_LOGIN)
}

/// The page of the person's browser with the encrypted token for the desktop app.
pub fn desktop_token(language: Language, sealed: &str) -> Reply<NotJson> {
    let body = html! {
        label for="desktop-data" { (language.t("Copy this token, and return to the app.")) }
        input #desktop-data value=(sealed) readonly;
        button #copy type="button" { (language.t("Copy the token")) }
        p #copied role="status" hidden { (language.t("Copied.")) }
    };
    with_script(language, &body, DESKTOP_TOKEN)
}

/// A page with a script, which may do nothing but go to another page.
fn with_script(language: Language, body: &Markup, script: &str) -> Reply<NotJson> {
    let title = language.t("Finish logging in");
    let body = html! { (body) script { (PreEscaped(script)) } };
    let page = page::document(language, title, STYLE, &body);
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; form-action 'none'; base-uri 'none'; \
         frame-ancestors 'none'",
        page::hash_source(script),
        page::hash_source(STYLE),
    );
    let headers = vec![("Content-Security-Policy", policy), ("X-Frame-Options", "DENY".to_owned())];
    reply(200, headers, Bytes::from(page))
}
