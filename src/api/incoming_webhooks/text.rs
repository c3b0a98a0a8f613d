//! Markdown of other programs' texts.
//!
//! The Markdown dialect has no escapes. Text that would end a link, a quote or a line is replaced or omitted, and
//! addresses other than web addresses are shown without a link.

use percent_encoding::{AsciiSet, CONTROLS, PercentEncode, utf8_percent_encode};
use teamchat_markdown::{link_label, link_target};

/// A text in one line, without the brackets and backticks that would end a link.
pub fn label(text: &str) -> String {
    line(&link_label(&line(text)))
}

/// A text in one line.
pub fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text for the start of a line. A zero-width character prevents it from becoming a heading, a list, a quote, a fence
/// or a command.
pub fn start(text: &str) -> String {
    if begins_block(text) { format!("\u{200b}{text}") } else { text.to_owned() }
}

/// True if a line with this beginning is not a plain paragraph.
fn begins_block(text: &str) -> bool {
    let text = text.trim_start();
    let digits = text.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_numbered = digits.len() < text.len() && digits.starts_with(['.', ')']);
    let is_item = ["* ", "- ", "+ "].iter().any(|mark| text.starts_with(mark));
    let is_ruler = text.len() > 2
        && ['*', '-', '_', '=']
            .iter()
            .any(|mark| text.trim_end().chars().all(|other| other == *mark || other == ' '));
    let is_fence = ["```", "~~~", "$$"].iter().any(|mark| text.starts_with(mark));
    is_numbered || is_item || is_ruler || is_fence || text.starts_with(['#', '>', '|', '/'])
}

/// A link. An address that is not of the web leaves the text alone.
pub fn link(text: &str, url: &str) -> String {
    web_link(text, url).unwrap_or_else(|| label(text))
}

/// A link; `None` if the address is not of the web.
pub fn web_link(text: &str, url: &str) -> Option<String> {
    let url = web_address(url)?;
    let text = label(text);
    Some(if text.is_empty() { url } else { format!("[{text}]({url})") })
}

/// An http or https address with the characters encoded that would end a link.
pub fn web_address(url: &str) -> Option<String> {
    let url = url.trim();
    let scheme = url.get(..8).unwrap_or(url).to_ascii_lowercase();
    let rest = ["http://", "https://"]
        .iter()
        .find_map(|known| scheme.starts_with(known).then(|| url.get(known.len()..)).flatten());
    if rest.is_none_or(|rest| rest.starts_with(['/', '?', '#', ':']) || rest.is_empty()) {
        return None;
    }
    Some(link_target(url))
}

/// The characters of a name that end the path of an address, or mean something else there.
const NOT_IN_PATH: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#').add(b'\\');

/// The name of a branch, a tag or a page as a part of an address. Its slashes separate parts of the path.
pub fn in_path(name: &str) -> PercentEncode<'_> {
    utf8_percent_encode(name, NOT_IN_PATH)
}

/// Code within a line.
pub fn code(text: &str) -> String {
    let text = line(text).replace('`', "'");
    if text.is_empty() { text } else { format!("`{text}`") }
}

/// A quote of its own lines, with a line break before it.
pub fn quote(text: &str) -> String {
    let text = teamchat_markdown::close_fences(text.trim());
    let tildes = text.lines().map(str::trim_end).filter(|line| line.bytes().all(|byte| byte == b'~'));
    let fence = "~".repeat(tildes.map(str::len).max().unwrap_or(0).max(2) + 1);
    format!("\n{fence} quote\n{text}\n{fence}")
}

/// Code of its own lines.
pub fn code_block(language: &str, text: &str) -> String {
    let fence = teamchat_markdown::unused_fence(text);
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Bold text in one line; empty for empty text.
pub fn bold(text: &str) -> String {
    let text = line(text).replace("**", "");
    if text.is_empty() { text } else { format!("**{text}**") }
}

/// A time (RFC 3339), shown in the time zone of the reader. Other text is unchanged.
pub fn time(text: &str) -> String {
    match text.trim().parse::<jiff::Timestamp>() {
        Ok(time) => teamchat_markdown::global_time(time.as_second()),
        Err(_) => line(text),
    }
}

/// The first characters of a commit id, as many as in published messages.
pub fn short_id(id: &str) -> &str {
    let end = id.char_indices().nth(11).map_or(id.len(), |(end, _)| end);
    &id[..end]
}

/// A text with a full stop, unless it has its own end.
pub fn sentence(text: String) -> String {
    if text.ends_with(['.', '!', '?', ':']) { text } else { text + "." }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_escape_their_context() {
        assert_eq!(link("[Bug] crash", "https://x.example/1"), "[[Bug] crash](https://x.example/1)");
        assert_eq!(link("a]\n(b", "https://x.example/1"), "[a (b](https://x.example/1)");
        assert_eq!(
            link("[a](http://evil.example)", "https://x.example"),
            "[a(http://evil.example)](https://x.example)"
        );
        assert_eq!(link("an odd `", "https://x.example"), "[an odd '](https://x.example)");
        for code in ["`a` ``b`` `c`", "`` a ` b ``"] {
            assert_eq!(label(code), code);
        }
        for (text, expected) in [("`a` `", "'a' '"), ("``a`", "''a'"), ("\\`a`", "\\'a'")] {
            assert_eq!(label(text), expected);
        }
        assert_eq!(link("a", "javascript:alert(1)"), "a");
        for url in ["https://", "http:///x", "http://:9090/x", "?orgId=1", "/x", ""] {
            assert_eq!((link("a", url), web_link("a", url)), ("a".to_owned(), None), "{url}");
        }
        assert_eq!(link("", "https://x.example/a b)c"), "https://x.example/a%20b%29c");
        assert_eq!(link("a", "HTTP://x.example/(1)"), "[a](HTTP://x.example/%281%29)");
        assert_eq!(
            link("a", "http://x.example/?a='b'&c=\"d\""),
            "[a](http://x.example/?a=%27b%27&c=%22d%22)"
        );
        let branch = in_path("fix/#12 50%?").to_string();
        assert_eq!(
            link("a", &format!("https://x.example/{branch}")),
            "[a](https://x.example/fix/%2312%2050%25%3F)"
        );
        assert_eq!(code("a`b\nc"), "`a'b c`");
        assert_eq!(quote("a\n~~~\nb"), "\n~~~~ quote\na\n~~~\nb\n~~~\n~~~~");
        assert_eq!(code_block("json", "```"), "````json\n```\n````");
        assert_eq!(bold("a **b**"), "**a b**");
        assert_eq!((bold(""), code("")), (String::new(), String::new()));
    }

    #[test]
    fn lines_begin_with_words() {
        for block in [
            "# a", "#", "> a", "* a", "- a", "+ a", "1. a", "23) a", "---", "* * *", "```a", "~~~", "$$",
            "|a|", "/me a", " # a",
        ] {
            assert_eq!(start(block), format!("\u{200b}{block}"));
        }
        for words in
            ["a", "*a*", "**a**", "-1", "1 a", "[a](https://x.example)", ":check: a", "`a`", "--", ""]
        {
            assert_eq!(start(words), words);
        }
    }

    #[test]
    fn times_and_ids_are_short() {
        assert_eq!(time("2026-09-21T14:13:20.5Z"), "<time:2026-09-21T14:13:20+00:00>");
        assert_eq!(time("2026-09-21T16:13:20+02:00"), "<time:2026-09-21T14:13:20+00:00>");
        assert_eq!(time("yesterday"), "yesterday");
        assert_eq!((short_id("0123456789abcdef"), short_id("é")), ("0123456789a", "é"));
        let sentences = ["a", "a!", "[a](b)"].map(|text| sentence(text.to_owned()));
        assert_eq!(sentences, ["a.", "a!", "[a](b)."]);
    }
}
