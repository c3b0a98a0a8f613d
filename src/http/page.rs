//! Small pages for people whose browser opens an address that belongs to no page of the client: a title, some sentences, and
//! the way to the chat.

use super::reply::{OtherReply, Reply};
use crate::error::ApiError;
use crate::types::Language;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The media type of pages.
pub const HTML: &str = "text/html; charset=utf-8";

const STYLE: &str = ":root { color-scheme: light dark; } \
    body { margin: 15vh auto; max-width: 36rem; padding: 0 16px; font: 16px/1.5 system-ui, sans-serif; } \
    h1 { font-size: 1.5rem; }";

/// The content security policy: the inline style sheet, and nothing else.
static CONTENT_SECURITY_POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = hash_source(STYLE);
    format!(
        "default-src 'none'; style-src {style}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
});

/// Returns an inline style sheet or script, by its hash, as a source of a content security policy.
pub fn hash_source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// Redirects to another page. Browsers do not store the redirect.
pub fn redirect(location: String) -> Reply {
    let headers = vec![("Location", location), ("Cache-Control", "no-store".to_owned())];
    Reply::other(OtherReply { status: 302, content_type: HTML, headers, body: Bytes::new() })
}

/// The page for an address that leads nowhere.
pub fn not_found(language: Language) -> String {
    let sentence = language.t("This server has no page at this address.");
    plain(language, language.t("There is no such page"), &[sentence])
}

/// A response with a title and sentences.
pub fn reply<T>(status: u16, language: Language, title: &str, sentences: &[&str]) -> Reply<T> {
    let body = plain(language, title, sentences).into();
    Reply::other(OtherReply { status, content_type: HTML, headers: headers(), body })
}

/// The response to a rate-limited client, with status 429.
pub fn too_many_attempts<T>(language: Language, error: &ApiError) -> Reply<T> {
    let sentence = language.t("Please wait a few minutes, and then try again.");
    let body = plain(language, language.t("Too many attempts"), &[sentence]).into();
    let headers = headers().into_iter().chain(error.headers().iter().cloned()).collect();
    Reply::other(OtherReply { status: 429, content_type: HTML, headers, body })
}

/// Returns the headers of a page: it loads nothing, cannot be framed, and is not cached.
pub fn headers() -> Vec<(&'static str, String)> {
    headers_with(&CONTENT_SECURITY_POLICY)
}

/// The content security policy of pages with a form, which goes to this server.
static FORM_POLICY: LazyLock<String> =
    LazyLock::new(|| CONTENT_SECURITY_POLICY.replace("form-action 'none'", "form-action 'self'"));

/// Returns the headers of a page with a form.
pub fn form_headers() -> Vec<(&'static str, String)> {
    headers_with(&FORM_POLICY)
}

fn headers_with(policy: &str) -> Vec<(&'static str, String)> {
    vec![
        ("Cache-Control", "no-store".to_owned()),
        ("Content-Security-Policy", policy.to_owned()),
        ("Referrer-Policy", "no-referrer".to_owned()),
        ("X-Frame-Options", "DENY".to_owned()),
    ]
}

/// A page with a form, which is sent to the address of the page.
#[derive(Default)]
pub struct Form<'a> {
    pub language: Language,
    pub title: &'a str,
    /// Sentences above the form.
    pub sentences: &'a [&'a str],
    /// The error of what was sent.
    pub error: Option<&'a str>,
    /// Names and values of fields that are not shown.
    pub hidden: &'a [(&'a str, &'a str)],
    pub field: Option<Input<'a>>,
    /// The text of the button.
    pub button: &'a str,
}

/// A field of a form.
pub struct Input<'a> {
    pub name: &'a str,
    pub label: &'a str,
    /// The type of the element.
    pub kind: &'a str,
    /// The value at first.
    pub value: &'a str,
}

impl Form<'_> {
    /// Writes the page. All texts are escaped.
    pub fn write(&self) -> String {
        let body = html! {
            @for sentence in self.sentences { p { (sentence) } }
            @if let Some(error) = self.error { p role="alert" { strong { (error) } } }
            form method="post" {
                @for (name, value) in self.hidden { input type="hidden" name=(name) value=(value); }
                @if let Some(field) = &self.field {
                    p {
                        label for=(field.name) { (field.label) } " "
                        input id=(field.name) name=(field.name) type=(field.kind) value=(field.value) required;
                    }
                }
                button type="submit" { (self.button) }
            }
        };
        frame(self.language, self.title, &body)
    }
}

/// Writes a page. All texts are escaped.
pub fn plain(language: Language, title: &str, sentences: &[&str]) -> String {
    frame(language, title, &html! { @for sentence in sentences { p { (sentence) } } })
}

fn frame(language: Language, title: &str, body: &Markup) -> String {
    let way_back = html! { p { a href="/" { (language.t("Open the chat")) } } };
    document(language, title, STYLE, &html! { (body) (way_back) })
}

/// Writes a page with its style sheet. All texts are escaped.
pub fn document(language: Language, title: &str, style: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang=(language.code()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body {
                main {
                    h1 { (title) }
                    (body)
                }
            }
        }
    };
    page.into_string()
}
