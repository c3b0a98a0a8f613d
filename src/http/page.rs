//! Small pages for people whose browser opens an address that belongs to no page of the client: a title, some sentences, and
//! the way to the chat.

use crate::types::Language;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The media type of pages.
pub const HTML: &str = "text/html; charset=utf-8";

const STYLE: &str = ":root { color-scheme: light dark; } \
    body { margin: 15vh auto; max-width: 36rem; padding: 0 16px; font: 16px/1.5 system-ui, sans-serif; } \
    h1 { font-size: 1.5rem; }";

/// The content security policy: the inline style sheet, and nothing else.
static CONTENT_SECURITY_POLICY: LazyLock<String> = LazyLock::new(|| {
    let digest = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
});

/// The page for an address that leads nowhere.
pub fn not_found(language: Language) -> String {
    let sentence = language.t("This server has no page at this address.");
    plain(language, language.t("There is no such page"), &[sentence])
}

/// Returns the headers of a page: it loads nothing, cannot be framed, and is not cached.
pub fn headers() -> Vec<(&'static str, String)> {
    vec![
        ("Cache-Control", "no-store".to_owned()),
        ("Content-Security-Policy", CONTENT_SECURITY_POLICY.clone()),
        ("Referrer-Policy", "no-referrer".to_owned()),
        ("X-Frame-Options", "DENY".to_owned()),
    ]
}

/// Writes a page. All texts are escaped.
pub fn plain(language: Language, title: &str, sentences: &[&str]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang=(language.code()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { (title) }
                    @for sentence in sentences { p { (sentence) } }
                    p { a href="/" { (language.t("Open the chat")) } }
                }
            }
        }
    };
    page.into_string()
}
