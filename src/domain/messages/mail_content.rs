//! The content of messages in emails: Markdown for the text, and HTML with absolute links, without previews.

use crate::domain::messages::plain_text::{Part, attribute, emoji_of, parts};
use crate::types::pattern;
use maud::{Markup, PreEscaped, html};
use regex::Regex;
use std::fmt::Write;
use std::sync::LazyLock;
use teamchat_markdown::without_spoilers;

/// Links whose text is one word, in Markdown.
static LINK_OF_A_WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[[^\s\]]*\]\(([^\s)]+)\)"));

/// Relative links to files, in Markdown.
static FILE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(^|[\s(\[<])(/user_uploads/\S)"));

/// Elements that emails keep; the content of others stays.
const KEPT: &str = " a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i li ol p pre s strong sub sup table tbody td th thead tr u ul ";

/// The attributes that some of these get, because mail programs show them without quotes, borders and line breaks.
const STYLES: [(&str, &str); 3] = [
    ("blockquote", r#" style="margin:0;padding-left:12px;border-left:3px solid #999""#),
    ("pre", r#" style="margin:0;padding:8px;border:1px solid #999;border-radius:4px;white-space:pre-wrap""#),
    ("table", r#" border="1" cellpadding="4" style="border-collapse:collapse""#),
];

/// Elements without an end.
const VOID: &[&str] = &["br", "col", "hr", "img", "input", "path", "source", "wbr"];

/// The surroundings of a message in an email.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The address of the server, without a slash at the end.
    pub url: &'a str,
    /// The text in place of what a spoiler hides.
    pub spoiler_note: &'a str,
}

/// The Markdown of a message as a quote in plain text.
pub fn text(markdown: &str, around: Surroundings<'_>) -> String {
    let shown = without_spoilers(markdown, around.spoiler_note);
    let shown = LINK_OF_A_WORD.replace_all(&shown, "$1");
    let mut quoted = String::new();
    for line in shown.lines() {
        let line = FILE.replace_all(line, format!("${{1}}{}${{2}}", around.url));
        if !quoted.is_empty() {
            quoted.push('\n');
        }
        quoted.push_str("> ");
        quoted.push_str(&line);
    }
    quoted
}

/// The HTML of a message for an email, with this name in front of it. `rendered` is what the renderer wrote.
pub fn html(rendered: &str, sender: Option<&str>, around: Surroundings<'_>) -> Markup {
    let content = Rewriter::new(around).read(rendered);
    let Some(sender) = sender else { return PreEscaped(content) };
    let name = html! { b { (sender) } ": " }.into_string();
    match content.strip_prefix("<p>") {
        Some(rest) => PreEscaped(format!("<p>{name}{rest}")),
        None => PreEscaped(format!("<p>{name}</p>\n{content}")),
    }
}

/// An element that is open.
struct Open<'h> {
    tag: &'h str,
    /// True if it is in the email.
    is_kept: bool,
    /// True if its text is left out.
    is_hidden: bool,
    /// The text after its content.
    ending: &'static str,
}

struct Rewriter<'a, 'h> {
    around: Surroundings<'a>,
    out: String,
    open: Vec<Open<'h>>,
    /// The links of previews that were left out, as they are written in HTML.
    previewed: Vec<String>,
}

impl<'a, 'h> Rewriter<'a, 'h> {
    fn new(around: Surroundings<'a>) -> Self {
        Self { around, out: String::new(), open: Vec::new(), previewed: Vec::new() }
    }

    fn read(mut self, html: &'h str) -> String {
        for part in parts(html) {
            match part {
                Part::Text(text) => self.text(text),
                Part::Start(tag) => self.tag(tag),
                Part::End(name) => self.close(name),
            }
        }
        if self.out.trim().is_empty() {
            // The message was only a picture.
            for link in std::mem::take(&mut self.previewed) {
                let _ = write!(self.out, "<p><a href=\"{link}\">{link}</a></p>");
            }
        }
        self.out
    }

    fn is_hidden(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_hidden)
    }

    fn text(&mut self, text: &str) {
        if !self.is_hidden() {
            self.out.push_str(text);
        }
    }

    fn tag(&mut self, tag: &'h str) {
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let name = name.trim_end_matches('/');
        let class = attribute(attributes, "class").unwrap_or_default();
        let has_class = |wanted: &str| class.split(' ').any(|found| found == wanted);
        let was_hidden = self.is_hidden();
        if VOID.contains(&name) {
            match name {
                "br" | "hr" if !was_hidden => {
                    let _ = write!(self.out, "<{name}>");
                }
                "img" if !was_hidden && has_class("emoji") => self.custom_emoji(attributes),
                _ => {}
            }
            return;
        }
        let is_preview = has_class("message_inline_image") || has_class("message_embed");
        let is_in_hidden_block = self.open.iter().any(|open| open.tag == "div" && open.is_hidden);
        if name == "a"
            && is_in_hidden_block
            && let Some(link) = attribute(attributes, "href")
        {
            self.previewed.push(absolute(link, self.around.url));
        }
        let mut opened = Open {
            tag: name,
            is_kept: false,
            is_hidden: was_hidden || is_preview || has_class("katex"),
            ending: "",
        };
        if has_class("spoiler-content") && !was_hidden {
            self.out.push_str(&html! { p { em { "(" (self.around.spoiler_note) ")" } } }.into_string());
            opened.is_hidden = true;
        }
        if has_class("emoji")
            && !was_hidden
            && let Some(emoji) = emoji_of(class)
        {
            self.out.push_str(&emoji);
            opened.is_hidden = true;
        }
        if name == "annotation" && !is_in_hidden_block {
            // The source of a formula, in the hidden part of it.
            self.out.push_str("<code>");
            (opened.is_hidden, opened.ending) = (false, "</code>");
        }
        if !opened.is_hidden && KEPT.contains(&format!(" {name} ")) {
            opened.is_kept = true;
            self.start(name, attributes);
        }
        self.open.push(opened);
    }

    /// Writes the start of an element, with the attributes that emails keep and those that they need.
    fn start(&mut self, name: &str, attributes: &str) {
        let style = STYLES.iter().find(|(styled, _)| *styled == name).map_or("", |(_, added)| *added);
        let _ = write!(self.out, "<{name}{style}");
        let kept = match name {
            "td" | "th" => Some("style"),
            "a" => Some("href"),
            "ol" => Some("start"),
            _ => None,
        };
        if let Some((kept, value)) = kept.and_then(|kept| Some((kept, attribute(attributes, kept)?))) {
            let value = if kept == "href" { absolute(value, self.around.url) } else { value.to_owned() };
            let _ = write!(self.out, " {kept}=\"{value}\"");
        }
        self.out.push('>');
    }

    /// A picture of the organization's own emoji, as tall as a line.
    fn custom_emoji(&mut self, attributes: &str) {
        let source = attribute(attributes, "src").unwrap_or_default();
        let name = attribute(attributes, "alt").unwrap_or_default();
        let source = absolute(source, self.around.url);
        let _ = write!(self.out, "<img alt=\"{name}\" src=\"{source}\" width=\"20\" height=\"20\">");
    }

    fn close(&mut self, tag: &str) {
        let Some(index) = self.open.iter().rposition(|open| open.tag == tag) else { return };
        for open in self.open.drain(index..).rev() {
            self.out.push_str(open.ending);
            if open.is_kept {
                let _ = write!(self.out, "</{}>", open.tag);
            }
        }
    }
}

/// The absolute form of a link, as it is written in HTML.
fn absolute(link: &str, url: &str) -> String {
    match link.as_bytes() {
        [b'#', ..] => format!("{url}/{link}"),
        [b'/', b'/', ..] => format!("https:{link}"),
        [b'/', ..] => format!("{url}{link}"),
        _ => link.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AROUND: Surroundings<'static> =
        Surroundings { url: "https://chat.example", spoiler_note: "hidden" };

    #[test]
    fn markdown_is_quoted_as_plain_text() {
        let cases = [
            ("hello\n\nyou", "> hello\n> \n> you"),
            (
                "see [this](https://a.example/b) and [two words](https://c.example)",
                "> see https://a.example/b and [two words](https://c.example)",
            ),
            (
                "[a.png](/user_uploads/2/ab/a.png) /user_uploads/2/x https://b.example/user_uploads/y",
                "> https://chat.example/user_uploads/2/ab/a.png https://chat.example/user_uploads/2/x https://b.example/user_uploads/y",
            ),
            ("```spoiler The end\nThey live\n```\nafter", "> The end (hidden)\n> after"),
            ("```spoiler\nThey live", "> (hidden)"),
            ("````quote\n```spoiler A\nB\n```\n````", "> ````quote\n> A (hidden)\n> ````"),
            ("~~~~spoiler A\n~~~\nB\n~~~\n~~~~", "> A (hidden)"),
            ("```\n~~~spoiler A\n```", "> ```\n> ~~~spoiler A\n> ```"),
            ("~~~ SPOILER The end\nThey live\n~~~", "> The end (hidden)"),
        ];
        for (markdown, expected) in cases {
            assert_eq!(text(markdown, AROUND), expected, "{markdown}");
        }
    }

    #[test]
    fn html_is_written_for_mail_programs() {
        let cases = [
            ("<p>Hello <strong>you</strong> &lt;b&gt;</p>", "<p>Hello <strong>you</strong> &lt;b&gt;</p>"),
            (
                r##"<p><a class="stream" data-stream-id="1" href="/#narrow/channel/1-a">#a</a> <a href="#settings">s</a> <a href="https://b.example/?a=1&amp;b=2">b</a></p>"##,
                r#"<p><a href="https://chat.example/#narrow/channel/1-a">#a</a> <a href="https://chat.example/#settings">s</a> <a href="https://b.example/?a=1&amp;b=2">b</a></p>"#,
            ),
            (
                r#"<p>ok <span aria-label="thumbs up" class="emoji emoji-1f44d" role="img" title="thumbs up">:thumbs_up:</span></p>"#,
                "<p>ok 👍</p>",
            ),
            (
                r#"<p><img alt=":party:" class="emoji" src="/x.png" title="party"> on</p>"#,
                r#"<p><img alt=":party:" src="https://chat.example/x.png" width="20" height="20"> on</p>"#,
            ),
            (
                r#"<div class="spoiler-block"><div class="spoiler-header"><p>The end</p></div><div class="spoiler-content" aria-hidden="true"><p>They <a href="/x">live</a></p></div></div><p>after</p>"#,
                "<p>The end</p><p><em>(hidden)</em></p><p>after</p>",
            ),
            (
                r#"<p>so <span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">x^2</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">x2</span></span> it is</p>"#,
                "<p>so <code>x^2</code> it is</p>",
            ),
            (
                r#"<p><a href="/u/a.png">a.png</a></p><div class="message_inline_image"><a href="/u/a.png"><img src="/t"></a></div>"#,
                r#"<p><a href="https://chat.example/u/a.png">a.png</a></p>"#,
            ),
            (
                r#"<div class="message_inline_image"><a href="/u/a.png"><img src="/t"></a></div>"#,
                r#"<p><a href="https://chat.example/u/a.png">https://chat.example/u/a.png</a></p>"#,
            ),
            (
                r#"<div class="codehilite"><pre><span></span><code><span class="k">fn</span> a</code></pre></div>"#,
                r#"<pre style="margin:0;padding:8px;border:1px solid #999;border-radius:4px;white-space:pre-wrap"><code>fn a</code></pre>"#,
            ),
            (
                "<blockquote>\n<p>a</p>\n</blockquote>",
                "<blockquote style=\"margin:0;padding-left:12px;border-left:3px solid #999\">\n<p>a</p>\n</blockquote>",
            ),
            (
                r#"<table><tr><th style="text-align: right;">a</th><td>b</td></tr></table>"#,
                r#"<table border="1" cellpadding="4" style="border-collapse:collapse"><tr><th style="text-align: right;">a</th><td>b</td></tr></table>"#,
            ),
            ("<ol start=\"3\">\n<li>a<br>b</li>\n</ol>", "<ol start=\"3\">\n<li>a<br>b</li>\n</ol>"),
        ];
        for (rendered, expected) in cases {
            assert_eq!(html(rendered, None, AROUND).0, expected, "{rendered}");
        }
        assert_eq!(html("<p>x</p>", Some("A<b>"), AROUND).0, "<p><b>A&lt;b&gt;</b>: x</p>");
        assert_eq!(html("<ul></ul>", Some("A"), AROUND).0, "<p><b>A</b>: </p>\n<ul></ul>");
    }
}
