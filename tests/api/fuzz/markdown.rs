//! Markdown with formulas: rendering is bounded in time, size and memory, and the HTML is harmless.

use super::{Source, fuzz, peak_of};
use teamchat::domain::limits::{MAX_MESSAGE_LENGTH, MAX_RENDERED_LENGTH};
use teamchat_markdown::{Directory, LinkedChannel, MentionedUser, UserQuery, render};

/// The most memory that one text may take, in KiB.
const MAX_MEMORY: u64 = 256 << 10;

/// Longer HTML than the limit of a message is refused; this bounds the excess.
const MAX_HTML: usize = 8 * MAX_RENDERED_LENGTH;

const PIECES: &[&str] = &[
    "*",
    "**",
    "_",
    "~~",
    "`",
    "``",
    "```",
    "~~~",
    "```quote\n",
    "```spoiler x\n",
    "```math\n",
    "```py\n",
    "\n",
    "\n\n",
    " ",
    "    ",
    "\t",
    "> ",
    "* ",
    "- ",
    "+ ",
    "1. ",
    "99. ",
    "# ",
    "###### ",
    "---\n",
    "|",
    "-|-\n",
    "a|b\n-|-\n",
    ":-",
    "[",
    "]",
    "(",
    ")",
    "](",
    "[a](b)",
    "<",
    ">",
    "!",
    "\\",
    "\"",
    "'",
    "&",
    "&amp;",
    "&#60;",
    "\u{202e}",
    "\u{200d}",
    "@**",
    "@_**",
    "@**ada**",
    "@**ada|1**",
    "@**|1**",
    "@*",
    "@*group*",
    "@**all**",
    "#**",
    "#**general**",
    "#**general>a**",
    "#**general>a@1**",
    "https://",
    "http://a.example/",
    "a.example",
    "mailto:x@e.example",
    "javascript:",
    "https://e.example/x.png",
    "https://youtu.be/dQw4w9WgXcQ",
    "/user_uploads/1/a.png",
    ":tada:",
    ":",
    ":)",
    "<time:2026-01-01T00:00:00Z>",
    "<time:",
    "!avatar(a)",
    "/me ",
    "/poll a\nb",
    "x",
    "a",
    "word ",
    "é",
    "👍",
    "\u{0}",
];

const FORMULAS: &[&str] = &[
    "\\frac{",
    "\\sqrt{",
    "\\sqrt[",
    "}",
    "{",
    "^",
    "_",
    "^{",
    "_{",
    "x",
    "1",
    "+",
    "=",
    "\\left(",
    "\\right)",
    "\\left.",
    "\\begin{matrix}",
    "\\end{matrix}",
    "\\begin{array}{c|c}",
    "\\end{array}",
    "\\begin{aligned}",
    "\\end{aligned}",
    "&",
    "\\\\",
    "\\hline",
    "\\def\\a#1{",
    "\\gdef\\a{",
    "\\newcommand{\\a}[2]{",
    "\\let\\b\\a",
    "\\edef\\c{",
    "\\a",
    "\\b",
    "#1",
    "#1#1",
    "\\rule{9em}{9em}",
    "\\text{",
    "\\color{red}",
    "\\href{",
    "\\url{",
    "\\htmlClass{x}{",
    "\\includegraphics{",
    "\\underbrace{",
    "\\overbrace{",
    "\\sum",
    "\\int",
    "\\limits",
    "\\prod_",
    "\\Bigg|",
    "\\hspace{9em}",
    "\\kern9em",
    "\\phantom{",
    "\\boxed{",
    "\\stackrel{",
    "\\xrightarrow{",
    "\\mathbb{",
    "\\operatorname{",
    "\\tag{",
    "\\verb|",
    "%",
    "$",
    " ",
    "\\ ",
    "\\unknown",
    "\\char`a",
    "\\mathchoice{",
    "\\expandafter",
    "\\noexpand",
    "\\csname",
    "\\endcsname",
    "é",
    "\n",
];

struct Organization;

impl Directory for Organization {
    fn user(&self, wanted: UserQuery<'_>) -> Option<MentionedUser> {
        let is_known = match wanted {
            UserQuery::Id(id) => id == 1,
            UserQuery::FullName(name) => name == "ada",
            UserQuery::FullNameAndId(name, id) => (name, id) == ("ada", 1),
        };
        is_known.then(|| MentionedUser { user_id: 1, full_name: "<ada> \"&".to_owned(), is_active: true })
    }

    fn channel(&self, name: &str) -> Option<LinkedChannel> {
        (name == "general").then(|| LinkedChannel { stream_id: 1, name: "<general> \"&".to_owned() })
    }

    fn realm_url(&self) -> &'static str {
        "https://chat.example"
    }

    fn empty_topic_display_name(&self) -> &'static str {
        "general chat"
    }

    fn default_code_block_language(&self) -> &'static str {
        ""
    }
}

fn check(text: &str) {
    let text: String = text.chars().take(MAX_MESSAGE_LENGTH).collect();
    let mut html = String::new();
    let memory = peak_of(|| html = render(&text, &Organization).html);
    assert!(memory < MAX_MEMORY, "{memory} KiB for {text:?}");
    assert!(html.len() < MAX_HTML, "{} bytes of HTML", html.len());
    assert_harmless(&html);
}

/// All tags are closed, and none of them runs a program.
fn assert_harmless(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let after = &rest[start + 1..];
        let end = end_of_tag(after).unwrap_or_else(|| panic!("an unclosed tag: {html}"));
        let (tag, left) = (&after[..end], &after[end + 1..]);
        rest = left;
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        assert!(!["script", "style", "iframe", "object", "embed", "form", "base"].contains(&name), "{html}");
        let attributes = tag[tag.len().min(name.len())..].to_ascii_lowercase();
        assert!(!attributes.contains("=\"javascript:") && !attributes.contains("=\"data:"), "{html}");
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{html}");
        } else if !tag.ends_with('/') && !["br", "hr", "img", "input", "path", "line"].contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} are open: {html}");
}

/// Finds the end of a tag: the first `>` outside of quotes.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut is_quoted = false;
    text.bytes().position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b'>' && !is_quoted
    })
}

#[test]
fn texts() {
    fuzz!(|mut source: Source<'_>| {
        let text = source.text(PIECES, 256);
        check(&text);
    });
}

#[test]
fn formulas() {
    fuzz!(|mut source: Source<'_>| {
        let is_block = source.below(2) == 0;
        let formula = source.text(FORMULAS, 256);
        let text = if is_block { format!("```math\n{formula}\n```") } else { format!("$${formula}$$") };
        check(&text);
    });
}

#[test]
fn bytes() {
    fuzz!(|mut source: Source<'_>| {
        check(&String::from_utf8_lossy(source.rest()));
    });
}
