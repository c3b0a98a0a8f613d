//! The HTML of public pages. All texts are escaped but the stored rendering of messages, which is safe HTML.

use crate::http::page::hash_source;
use crate::types::{Language, MessageId, timestamp};
use maud::{DOCTYPE, PreEscaped, html};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::sync::LazyLock;

/// The path of the list of channels.
pub const ROOT: &str = "/public";

const STYLE: &str = include_str!("style.css");

/// Loads pictures of this server and the inline style sheet, and runs nothing. Links of messages are relative to the root.
static CONTENT_SECURITY_POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = hash_source(STYLE);
    format!(
        "default-src 'none'; style-src {style}; img-src 'self'; media-src 'self'; base-uri 'self'; \
         form-action 'none'; frame-ancestors 'none'"
    )
});

/// The characters of a path that are percent-encoded in a link.
const IN_PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`').add(b'%').add(b'#');

/// A path as written in headers and links to other servers.
pub fn encoded(path: &str) -> String {
    utf8_percent_encode(path, IN_PATH).to_string()
}

/// A page below `/public`: a list of channels or topics, or messages of a topic.
#[derive(Default)]
pub struct Page {
    /// Its canonical path.
    pub path: String,
    /// The heading: the name of the organization, a channel or a topic.
    pub title: String,
    /// Links and names of the pages above it.
    pub above: Vec<(String, String)>,
    /// Channels or topics.
    pub entries: Vec<Entry>,
    /// The messages of the page, the oldest first.
    pub posts: Vec<Post>,
    /// The link of the page before.
    pub previous: Option<String>,
    /// The link of the page after.
    pub next: Option<String>,
    /// The link of the conversation in the web client.
    pub chat: Option<String>,
}

/// A channel or a topic in a list.
pub struct Entry {
    /// The link to its page.
    pub link: String,
    /// The name of the channel or topic.
    pub name: String,
    /// The description below the link; empty for none.
    pub about: String,
}

/// A message.
pub struct Post {
    /// Identifies the message, in links to it on this page.
    pub id: MessageId,
    /// The sender's name.
    pub sender: String,
    /// The sender's image.
    pub avatar_url: String,
    /// UNIX seconds.
    pub time: i64,
    /// The stored rendering, with links in place of media of other sites.
    pub html: String,
}

/// Returns the headers of a page.
pub fn headers(is_found: bool) -> Vec<(&'static str, String)> {
    let mut headers = vec![
        ("Cache-Control", "no-cache".to_owned()),
        ("Content-Security-Policy", CONTENT_SECURITY_POLICY.clone()),
        ("Referrer-Policy", "no-referrer".to_owned()),
        ("X-Frame-Options", "DENY".to_owned()),
    ];
    if !is_found {
        headers.push(("X-Robots-Tag", "noindex, nofollow".to_owned()));
    }
    headers
}

/// Writes a page. `is_found`: search engines may list it.
pub fn write(page: &Page, language: Language, origin: &str, icon: &str, is_found: bool) -> String {
    let organization = page.above.first().map_or(page.title.as_str(), |(_, name)| name.as_str());
    let title =
        if page.above.is_empty() { page.title.clone() } else { format!("{} · {organization}", page.title) };
    let text = html! {
        (DOCTYPE)
        html lang=(language.code()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                base href="/";
                title { (title) }
                @if !is_found { meta name="robots" content="noindex, nofollow"; }
                link rel="canonical" href=(format!("{origin}{}", encoded(&page.path)));
                @if let Some(previous) = &page.previous { link rel="prev" href=(previous); }
                @if let Some(next) = &page.next { link rel="next" href=(next); }
                link rel="icon" href=(icon);
                meta property="og:title" content=(page.title);
                meta property="og:site_name" content=(organization);
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    nav aria-label=(language.t("Pages above")) {
                        @for (link, name) in &page.above { a href=(link) { (name) } " › " }
                    }
                    h1 dir="auto" { (page.title) }
                    p { a href=(page.chat.as_deref().unwrap_or("/")) { (language.t("Open in the chat")) } }
                }
                main {
                    @if !page.entries.is_empty() {
                        ul {
                            @for entry in &page.entries {
                                li {
                                    a href=(entry.link) dir="auto" { (entry.name) }
                                    @if !entry.about.is_empty() { p dir="auto" { (entry.about) } }
                                }
                            }
                        }
                    }
                    @for post in &page.posts { (article(post, &page.path)) }
                    @if page.entries.is_empty() && page.posts.is_empty() { p { (language.t("There is nothing here yet.")) } }
                }
                footer {
                    @if let Some(previous) = &page.previous {
                        a rel="prev" href=(previous) { (language.t("Older messages")) }
                    }
                    @if let Some(next) = &page.next { a rel="next" href=(next) { (language.t("Newer messages")) } }
                }
            }
        }
    };
    text.into_string()
}

fn article(post: &Post, path: &str) -> maud::Markup {
    let time = timestamp(post.time);
    html! {
        article id=(format!("message-{}", post.id)) {
            img src=(post.avatar_url) alt="" width="32" height="32" loading="lazy";
            p class="head" {
                strong dir="auto" { (post.sender) }
                " "
                a href=(format!("{path}#message-{}", post.id)) {
                    time datetime=(time.to_string()) { (time.strftime("%Y-%m-%d %H:%M UTC")) }
                }
            }
            div class="content" dir="auto" { (PreEscaped(&post.html)) }
        }
    }
}
