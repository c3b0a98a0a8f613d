//! Pages of readable exports: HTML that opens from a folder, without a server.

use crate::domain::messages::foreign_media::as_links;
use crate::types::{pattern, timestamp};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Styles of all pages. Browsers show the MathML of a formula; its other form needs the fonts of the client. Formulas cannot draw
/// over other messages. A spoiler shows its content under the pointer, and when it has the focus.
const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}\
    a{color:#1a5fb4}table{display:block;overflow-x:auto;border-collapse:collapse;margin:.5rem 0 2rem}\
    td,th{border:1px solid #ccc;padding:.2rem .5rem;text-align:start;vertical-align:top}td{overflow-wrap:break-word}\
    article{border-top:1px solid #ddd;padding:.5rem 0}article>div{overflow:clip}\
    article header{color:#555;font-size:.9rem}img,video{max-width:100%}pre,code{background:#f4f4f4;overflow-x:auto}\
    blockquote{border-inline-start:3px solid #ccc;margin-inline-start:0;padding-inline-start:1rem}\
    .emoji{font-style:normal}.katex-html{display:none}.spoiler-block{border:1px dashed;padding:0 .5rem}\
    .spoiler-block:before{content:'Spoiler';opacity:.7}.spoiler-content:not(:hover,:focus-within)>*{visibility:hidden}\
    @media (prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}a{color:#8ab4f8}td,th,article{border-color:#444}\
    pre,code{background:#2a2a2a}article header{color:#aaa}}";

/// Nothing is loaded from elsewhere, and no script runs.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file: data:; media-src 'self' file:; \
    base-uri 'none'; form-action 'none'";

/// The end of the policy of a page that runs scripts of the folder.
const SCRIPTS: &str = "; script-src 'self' file:";

/// Renders a page of the archive. It runs no scripts: the HTML of messages in a backup from elsewhere may have some, and so may
/// files of the folder.
pub fn page(title: &str, content: Markup) -> String {
    page_with("", title, content)
}

/// Renders a page of the archive that runs scripts of the folder. It must not show HTML of messages.
pub fn page_with_scripts(title: &str, content: Markup) -> String {
    page_with(SCRIPTS, title, content)
}

fn page_with(scripts: &str, title: &str, content: Markup) -> String {
    html! {
        (DOCTYPE)
        html {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(format!("{POLICY}{scripts}"));
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (content) }
        }
    }
    .into_string()
}

/// A time in UNIX seconds as text, UTC.
pub fn time(seconds: i64) -> String {
    let time = timestamp(seconds);
    time.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// A message to show.
pub struct ShownMessage<'a> {
    /// The id, to which links lead.
    pub id: i64,
    /// The sender's name.
    pub sender: &'a str,
    /// The channel and topic, or the participants; empty where the page says it.
    pub place: &'a str,
    /// UNIX seconds.
    pub timestamp: i64,
    /// HTML with addresses of the archive.
    pub html: &'a str,
}

/// Renders a message.
pub fn message(shown: &ShownMessage<'_>) -> Markup {
    html! {
        article id=(format!("m{}", shown.id)) {
            header {
                strong dir="auto" { (shown.sender) } " · " time { (time(shown.timestamp)) }
                @if !shown.place.is_empty() { " · " bdi { (shown.place) } }
            }
            div dir="auto" { (PreEscaped(shown.html)) }
        }
    }
}

/// Replaces what only works on the server in a message's HTML: `file` returns the address of an uploaded file or an emoji in
/// the archive, if it is there. Emoji become characters, media of other sites become links, links to other places of the
/// server lead nowhere, and spoilers can have the focus.
pub fn detach(rendered: &str, file: impl Fn(&str) -> Option<String>) -> String {
    // A tag with attributes. Text may have what looks like one of them.
    static TAG: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"<[a-z][^\s<>/]*(?:\s+[^\s"<>/=]+(?:="[^"]*")?)+\s*/?>"#));
    static ADDRESS: LazyLock<Regex> = LazyLock::new(|| pattern(r#"(href|src|data-src|poster)="([^"]*)""#));
    static EMOJI: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"(<span[^>]*class="emoji emoji-([0-9a-f-]+)"[^>]*>)[^<]*</span>"#));
    let replace = |found: &Captures<'_>| {
        let (attribute, url) = (&found[1], &found[2]);
        match file(url) {
            Some(path) => format!(r#"{attribute}="{path}""#),
            None if attribute == "href"
                && ["https://", "http://", "mailto:"].iter().any(|start| url.starts_with(start)) =>
            {
                found[0].to_owned()
            }
            None => String::new(),
        }
    };
    let html = as_links(rendered);
    let html =
        TAG.replace_all(&html, |found: &Captures<'_>| ADDRESS.replace_all(&found[0], replace).into_owned());
    let html = EMOJI.replace_all(&html, |found: &Captures<'_>| {
        let characters: Option<String> = found[2]
            .split('-')
            .map(|code| u32::from_str_radix(code, 16).ok().and_then(char::from_u32))
            .collect();
        match characters {
            Some(text) => format!("{}{text}</span>", &found[1]),
            None => found[0].to_owned(),
        }
    });
    // The attribute would hide what the page shows from screen readers.
    html.replace(
        r#"<div class="spoiler-content" aria-hidden="true">"#,
        r#"<div class="spoiler-content" tabindex="0">"#,
    )
}

/// The path of an uploaded file, of a thumbnail its file, in an address of this server.
pub fn upload_path(url: &str) -> Option<&str> {
    let path = url.strip_prefix("/user_uploads/")?;
    match path.strip_prefix("thumbnail/") {
        Some(thumbnail) => thumbnail.rsplit_once('/').map(|(path, _)| path),
        None => Some(path),
    }
}

/// The file of a custom emoji in an address of this server.
pub fn emoji_file(url: &str) -> Option<&str> {
    url.strip_prefix("/user_avatars/1/emoji/images/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_server_are_replaced() {
        let rendered = r#"<p>see <a href="/user_uploads/1/ab/c/x.txt">x</a>, <a href="/#narrow/dm/7">there</a>,
            <a href="https://example.org/">web</a></p>
            <div class="message_inline_image"><a href="https://example.org/x.png"><img src="https://example.org/x.png"></a></div><p>
            <span aria-label="tada" class="emoji emoji-1f389" role="img" title="tada">:tada:</span></p>"#;
        let file = |url: &str| upload_path(url).map(|path| format!("files/{path}"));
        let detached = detach(rendered, file);
        assert!(detached.contains(r#"<a href="files/1/ab/c/x.txt">x</a>"#), "{detached}");
        assert!(detached.contains("<a >there</a>"), "{detached}");
        assert!(detached.contains(r#"<a href="https://example.org/">web</a>"#), "{detached}");
        let picture = r#"<p><a href="https://example.org/x.png">https://example.org/x.png</a></p>"#;
        assert!(detached.contains(picture) && !detached.contains("<img"), "{detached}");
        assert!(detached.contains("🎉</span>"), "{detached}");
    }

    #[test]
    fn messages_cannot_cover_others() {
        let shown = ShownMessage { id: 1, sender: "Ada", place: "", timestamp: 0, html: "<p>x</p>" };
        let page = page("title", message(&shown));
        assert!(
            page.contains("<article id=\"m1\"><header>") && page.contains("<div dir=\"auto\"><p>x</p></div>"),
            "{page}"
        );
        assert!(page.contains("article>div{overflow:clip}"), "{page}");
    }

    #[test]
    fn spoilers_are_hidden_until_they_have_the_focus() {
        let rendered = r#"<div class="spoiler-block"><div class="spoiler-header"><p>The end</p></div><div class="spoiler-content" aria-hidden="true"><p>They live</p></div></div>"#;
        let detached = detach(rendered, |_| None);
        assert_eq!(detached, rendered.replace(r#"aria-hidden="true""#, r#"tabindex="0""#));
        let page = page("title", PreEscaped(detached));
        assert!(page.contains(".spoiler-content:not(:hover,:focus-within)>*{visibility:hidden}"), "{page}");
    }

    /// A name in a right-to-left script would change the order of the digits after it.
    #[test]
    fn texts_of_users_have_their_own_direction() {
        let (sender, place) = ("עדה", "#נמל > סירות");
        let shown = ShownMessage { id: 1, sender, place, timestamp: 0, html: "<p>שלום!</p>" };
        let message = message(&shown).into_string();
        for part in ["<strong dir=\"auto\">עדה", "<bdi>#נמל &gt; סירות</bdi>", "<div dir=\"auto\"><p>שלום!"]
        {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn text_like_an_attribute_stays() {
        let rendered = r#"<p>src="<a href="https://example.org/">x</a> href="y" <code>src="/user_uploads/1/a"</code></p>"#;
        assert_eq!(
            detach(rendered, |_| Some("files/a".to_owned())),
            rendered.replace("https://example.org/", "files/a")
        );
    }

    #[test]
    fn thumbnails_are_those_of_files() {
        assert_eq!(upload_path("/user_uploads/thumbnail/1/ab/c/x.png/840x560.webp"), Some("1/ab/c/x.png"));
        assert_eq!(upload_path("/elsewhere/1/x"), None);
    }
}
