//! HTML of mails as Markdown: paragraphs, lists, links, emphasis and code. The rest is left out, as are styles and scripts.

use html_escape::decode_html_entities;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use teamchat_markdown::{link_label, link_target, unused_fence};

/// The length of a text, in bytes, after which nothing is read any more: a message has less.
const MAX_LENGTH: usize = 200_000;

/// The part of an HTML text that is read, in bytes.
const MAX_HTML: usize = 4 << 20;

/// The most attributes of a tag that are read.
const MAX_ATTRIBUTES: usize = 50;

/// The most open elements that are remembered in one that is left out.
const MAX_LEFT_OUT: usize = 1000;

/// Elements whose content is not text.
const HIDDEN: [&str; 7] = ["head", "script", "style", "template", "title", "noscript", "object"];

/// Elements that begin and end a paragraph.
const BLOCKS: [&str; 33] = [
    "p",
    "div",
    "table",
    "tr",
    "ul",
    "ol",
    "section",
    "article",
    "header",
    "footer",
    "main",
    "center",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "form",
    "blockquote",
    "pre",
    "dl",
    "dt",
    "dd",
    "address",
    "aside",
    "nav",
    "figure",
    "figcaption",
    "details",
    "summary",
    "fieldset",
];

/// Blocks with an empty line before and after them.
const SPACED: [&str; 13] =
    ["p", "table", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "dl"];

/// Elements without an end.
const VOID: [&str; 9] = ["br", "hr", "img", "meta", "link", "input", "wbr", "col", "area"];

/// Classes and ids of quoted mails, as mail programs write them.
const QUOTES: [&str; 6] = [
    "gmail_quote",
    "gmail_extra",
    "moz-cite-prefix",
    "yahoo_quoted",
    "protonmail_quote",
    "mail-editor-reference-message-container",
];

/// Ids of elements before a quoted mail, which has no element of its own.
const QUOTE_FOLLOWS: [&str; 2] = ["divrplyfwdmsg", "appendonsend"];

/// Converts HTML to Markdown. Quoted mails are left out unless `keeps_quotes` is true.
pub fn to_markdown(html: &str, keeps_quotes: bool) -> String {
    let mut writer = Writer::default();
    let mut rest = html.get(..html.floor_char_boundary(MAX_HTML)).unwrap_or_default();
    while !rest.is_empty() && writer.out.len() < MAX_LENGTH {
        let Some(at) = rest.find('<') else {
            writer.text(rest);
            break;
        };
        writer.text(&rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        match Tag::read(rest) {
            Some((tag, after)) => {
                if !keeps_quotes && !tag.is_end && tag.has_word(&QUOTE_FOLLOWS) {
                    break;
                }
                rest = after;
                writer.tag(&tag, keeps_quotes);
            }
            None => {
                writer.text("<");
                rest = &rest[1..];
            }
        }
    }
    writer.finish()
}

/// A start tag or an end tag.
struct Tag {
    /// In lower case.
    name: String,
    is_end: bool,
    /// By names in lower case; values are not decoded yet.
    attributes: HashMap<String, String>,
}

impl Tag {
    /// Reads a tag at the beginning of a text, and returns it with the rest. `None` if it is text.
    fn read(text: &str) -> Option<(Self, &str)> {
        let inner = text.strip_prefix('<')?;
        let (is_end, inner) = inner.strip_prefix('/').map_or((false, inner), |inner| (true, inner));
        if inner.starts_with(['!', '?']) {
            let after = inner.split_once('>').map_or("", |(_, after)| after);
            return Some((Self { name: String::new(), is_end: true, attributes: HashMap::new() }, after));
        }
        if !inner.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let name_end =
            inner.find(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '/')).unwrap_or(inner.len());
        let name = inner[..name_end].to_ascii_lowercase();
        let mut attributes = HashMap::new();
        let mut rest = &inner[name_end..];
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            if let Some(after) = rest.strip_prefix('>') {
                return Some((Self { name, is_end, attributes }, after));
            }
            if rest.is_empty() {
                return Some((Self { name, is_end, attributes }, rest));
            }
            let key_end = rest
                .char_indices()
                .skip(1)
                .find(|(_, c)| c.is_ascii_whitespace() || matches!(c, '>' | '/' | '='))
                .map_or(rest.len(), |(at, _)| at);
            let key = rest[..key_end].to_ascii_lowercase();
            rest = rest[key_end..].trim_start();
            let mut value = "";
            if let Some(after) = rest.strip_prefix('=') {
                (value, rest) = attribute_value(after.trim_start());
            }
            if attributes.len() < MAX_ATTRIBUTES {
                attributes.entry(key).or_insert_with(|| value.to_owned());
            }
        }
    }

    fn attribute(&self, name: &str) -> Option<String> {
        self.attributes.get(name).map(|value| decode_html_entities(value).into_owned())
    }

    /// True for an element that holds a quoted mail.
    fn is_quote(&self) -> bool {
        let is_cited = self.name == "blockquote" && self.attribute("type").as_deref() == Some("cite");
        is_cited || self.has_word(&QUOTES)
    }

    /// True if one of its classes or its id is among these. Outlook puts `x_` before those of mails that it shows.
    fn has_word(&self, words: &[&str]) -> bool {
        ["class", "id"].iter().any(|name| {
            self.attribute(name).is_some_and(|value| {
                let value = value.to_ascii_lowercase();
                value.split_ascii_whitespace().any(|word| words.contains(&word.trim_start_matches("x_")))
            })
        })
    }
}

/// The value at the beginning of a text, and the rest.
fn attribute_value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return quoted.split_once(quote).unwrap_or((quoted, ""));
        }
    }
    let end = text.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(text.len());
    text.split_at(end)
}

/// An open element within lines.
struct Inline {
    kind: InlineKind,
    /// The number of open elements of this kind: `<b><strong>` are two.
    depth: usize,
    /// The position at which its text in the current line begins; `None` as long as it has none there.
    begin: Option<usize>,
}

#[derive(PartialEq, Eq)]
enum InlineKind {
    /// Markdown before and after the text of each line.
    Mark(&'static str),
    /// An address.
    Link(String),
}

/// Markdown that is being written.
#[derive(Default)]
struct Writer {
    out: String,
    /// Names of the open elements in one that is left out, from it on.
    left_out: Vec<String>,
    /// The number of them with each name. An end without a beginning is not looked for among them, so that the work is linear.
    left_out_names: HashMap<String, usize>,
    /// Line ends before the next text.
    line_ends: usize,
    /// True if white space came last.
    has_space: bool,
    /// True right after the mark of an item, beside which its first paragraph begins.
    is_at_item: bool,
    /// Numbers of the next items of the open lists; `None` in lists with bullets.
    lists: Vec<Option<u32>>,
    /// Open elements within lines, the outer ones first: at most one link, and one of each mark.
    inlines: Vec<Inline>,
    /// The number of open blocks with text as it is written, within each other.
    preformatted: usize,
    /// The position at which the text of the outermost of them begins.
    code_begin: usize,
}

impl Writer {
    fn text(&mut self, text: &str) {
        if !self.left_out.is_empty() || text.is_empty() {
            return;
        }
        let text = decode_html_entities(text);
        if self.preformatted > 0 {
            self.separate();
            self.begin_inlines();
            self.out.push_str(&text);
            return;
        }
        for word in text.split_inclusive(|c: char| c.is_whitespace()) {
            let trimmed = word.trim();
            if !trimmed.is_empty() {
                self.separate();
                self.begin_inlines();
                self.out.push_str(trimmed);
            }
            self.has_space |= trimmed.len() < word.len();
        }
    }

    /// Writes the white space before a text.
    fn separate(&mut self) {
        let lines = std::mem::take(&mut self.line_ends);
        let has_space = std::mem::take(&mut self.has_space);
        if std::mem::take(&mut self.is_at_item) || self.out.is_empty() {
            return;
        }
        if lines > 0 {
            self.end_inlines(0);
            self.out.push_str(&"\n".repeat(lines.min(2)));
        } else if has_space && !self.out.ends_with(['\n', ' ']) {
            self.out.push(' ');
        }
    }

    fn tag(&mut self, tag: &Tag, keeps_quotes: bool) {
        let name = tag.name.as_str();
        if !self.left_out.is_empty() {
            if tag.is_end {
                self.end_left_out(name);
            } else if self.left_out.len() < MAX_LEFT_OUT {
                self.leave_out(name);
            }
            return;
        }
        if !tag.is_end && (HIDDEN.contains(&name) || !keeps_quotes && tag.is_quote()) {
            self.leave_out(name);
            return;
        }
        let is_list = matches!(name, "ul" | "ol");
        // Without an empty line, text after the outermost list would belong to its last item.
        if is_list && tag.is_end {
            self.lists.pop();
            self.is_at_item = false;
        }
        if BLOCKS.contains(&name) {
            self.line_ends =
                self.line_ends.max(1 + usize::from(SPACED.contains(&name) && self.lists.is_empty()));
        }
        match name {
            "br" => self.line_ends += 1,
            "b" | "strong" => self.mark("**", tag.is_end),
            "i" | "em" => self.mark("*", tag.is_end),
            "code" | "tt" if self.preformatted == 0 => self.mark("`", tag.is_end),
            "pre" => self.fence(tag.is_end),
            _ if is_list && !tag.is_end => self.list(tag),
            "li" if !tag.is_end => self.item(),
            "td" | "th" => self.has_space = true,
            "a" => self.link(tag),
            "img" => {
                if let Some(alt) = tag.attribute("alt").filter(|alt| !alt.trim().is_empty()) {
                    self.text(&alt);
                }
            }
            _ => {}
        }
    }

    /// Leaves an element out, until its end.
    fn leave_out(&mut self, name: &str) {
        if !VOID.contains(&name) {
            self.left_out.push(name.to_owned());
            *self.left_out_names.entry(name.to_owned()).or_default() += 1;
        }
    }

    /// Ends an element in one that is left out, and what was opened after it.
    fn end_left_out(&mut self, name: &str) {
        while self.left_out_names.contains_key(name) {
            let Some(open) = self.left_out.pop() else { return };
            let is_it = open == name;
            if let Entry::Occupied(mut count) = self.left_out_names.entry(open) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
            if is_it {
                return;
            }
        }
    }

    /// Opens or closes an element with marks around its text. An end without a beginning is left out.
    fn mark(&mut self, mark: &'static str, is_end: bool) {
        if self.preformatted > 0 {
            return;
        }
        let kind = InlineKind::Mark(mark);
        match self.inlines.iter().position(|inline| inline.kind == kind) {
            Some(index) if is_end => self.close_inline(index),
            Some(index) => self.inlines[index].depth += 1,
            None if is_end => {}
            None => self.inlines.push(Inline { kind, depth: 1, begin: None }),
        }
    }

    /// Begins the text of the open elements that have none in the current line yet. In Markdown, marks and links end with the line.
    fn begin_inlines(&mut self) {
        for inline in self.inlines.iter_mut().filter(|inline| inline.begin.is_none()) {
            match inline.kind {
                InlineKind::Mark(_) if self.preformatted > 0 => continue,
                InlineKind::Mark(mark) => self.out.push_str(mark),
                InlineKind::Link(_) => {}
            }
            inline.begin = Some(self.out.len());
        }
    }

    /// Ends the text of the open elements from this one on. More text may follow, in them or in another line.
    fn end_inlines(&mut self, first: usize) {
        for inline in self.inlines[first..].iter_mut().rev() {
            let Some(begin) = inline.begin.take() else { continue };
            match &inline.kind {
                InlineKind::Mark(mark) => self.out.push_str(mark),
                InlineKind::Link(address) => {
                    if let Some(shown) = self.out.get(begin..).and_then(|text| link(text, address)) {
                        self.out.truncate(begin);
                        self.out.push_str(&shown);
                    }
                }
            }
        }
    }

    fn close_inline(&mut self, index: usize) {
        self.inlines[index].depth -= 1;
        if self.inlines[index].depth == 0 {
            self.end_inlines(index);
            self.inlines.remove(index);
        }
    }

    fn fence(&mut self, is_end: bool) {
        if !is_end {
            if self.preformatted == 0 {
                self.is_at_item = false;
                self.separate();
                self.code_begin = self.out.len();
            }
            self.preformatted += 1;
        } else if self.preformatted > 0 {
            self.preformatted -= 1;
            if self.preformatted == 0 {
                self.end_inlines(0);
                let code = self.out.split_off(self.code_begin);
                let fence = unused_fence(&code);
                let line_end = if code.is_empty() || code.ends_with('\n') { "" } else { "\n" };
                self.out.extend([&*fence, "\n", &*code, line_end, &*fence]);
                self.line_ends = 2;
            }
        }
    }

    fn list(&mut self, tag: &Tag) {
        if self.lists.len() < 10 {
            let start = tag.attribute("start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
            self.lists.push((tag.name == "ol").then_some(start));
        }
    }

    fn item(&mut self) {
        self.line_ends = self.line_ends.max(1);
        self.is_at_item = false;
        self.separate();
        self.out.push_str(&"  ".repeat(self.lists.len().saturating_sub(1)));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                self.out.push_str(&number.to_string());
                self.out.push_str(". ");
                *number = number.saturating_add(1);
            }
            _ => self.out.push_str("* "),
        }
        self.is_at_item = true;
    }

    /// Opens or closes a link. One that is open ends where another one begins.
    fn link(&mut self, tag: &Tag) {
        if let Some(open) = self.inlines.iter().position(|inline| matches!(inline.kind, InlineKind::Link(_)))
        {
            self.close_inline(open);
        }
        if !tag.is_end
            && let Some(address) = tag.attribute("href").as_deref().and_then(shown_address)
        {
            self.inlines.push(Inline { kind: InlineKind::Link(address), depth: 1, begin: None });
        }
    }

    fn finish(mut self) -> String {
        while self.preformatted > 0 {
            self.fence(true);
        }
        self.end_inlines(0);
        self.out.trim().to_owned()
    }
}

/// The address of a link; `None` for one that is not shown.
fn shown_address(href: &str) -> Option<String> {
    let address = href.trim();
    let is_shown = ["https://", "http://", "mailto:"].iter().any(|scheme| address.starts_with(scheme));
    is_shown.then(|| address.to_owned())
}

/// A link in Markdown; `None` if its text is shown without one.
fn link(text: &str, address: &str) -> Option<String> {
    let named = address.trim_start_matches("mailto:").trim_end_matches('/');
    let is_text = text.trim().is_empty() || text.trim().trim_end_matches('/') == named || text.contains('\n');
    (!is_text).then(|| format!("[{}]({})", link_label(text), link_target(address)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_becomes_markdown() {
        for (html, expected) in [
            ("<p>Hello&nbsp;&amp; <b>bold</b> <i>it</i></p><p>second</p>", "Hello & **bold** *it*\n\nsecond"),
            ("a<br>b<br/>c", "a\nb\nc"),
            ("<div>one</div><div>two</div>", "one\ntwo"),
            ("<ul><li>x<li>y</ul><ol><li>1</li><li>2</li></ol>", "* x\n* y\n\n1. 1\n2. 2"),
            (
                "<ul><li><p>x</p></li><li>\n<div>y</div><ul><li> z</li></ul></li></ul>w",
                "* x\n* y\n  * z\n\nw",
            ),
            ("<ol start='3'><li>x</li><li><pre>y</pre></li></ol>", "3. x\n4. \n```\ny\n```"),
            ("<ul><li>x</li><li></li></ul>y", "* x\n* \n\ny"),
            ("<a href=\"https://example.com/?a=1&amp;b=2\">here</a>", "[here](https://example.com/?a=1&b=2)"),
            ("<a href='https://example.com/'>https://example.com</a>", "https://example.com"),
            ("<a href=\"javascript:alert(1)\">x</a>", "x"),
            ("<a href=\"https://e.com/) [y](\">x</a>", "[x](https://e.com/%29%20[y]%28)"),
            ("<a href='https://e.com/a_(b)'>a</a>", "[a](https://e.com/a_%28b%29)"),
            ("<a href='https://e.com/?a=\"b\"'>[e/x] a</a>", "[[e/x] a](https://e.com/?a=%22b%22)"),
            ("<a href='https://e.com/a_(b)'>https://e.com/a_(b)</a>", "https://e.com/a_(b)"),
            ("<a href='https://e.com/'>a] `b</a>", "[a 'b](https://e.com/)"),
            ("<head><title>t</title></head><style>p{}</style><script>1<2</script>text", "text"),
            ("<pre>a\n  b</pre>after", "```\na\n  b\n```\n\nafter"),
            ("<pre>a\n```\nb</pre>c", "````\na\n```\nb\n````\n\nc"),
            ("<pre>a<pre>b</pre>c</pre>d", "```\na\n\nb\n\nc\n```\n\nd"),
            ("<code>x</code><b></b>", "`x`"),
            ("<i><b>x</b></i></b>y", "***x***y"),
            // Marks and links end with the line.
            ("<b>one<br>two</b><i> three</i>", "**one**\n**two** *three*"),
            ("<strong><b>x</b> y</strong> z", "**x y** z"),
            ("<b><i>x</b>y</i> z", "***x****y* z"),
            ("<b>Hosts:<ul><li>a</li></ul></b><pre>b</pre>", "**Hosts:**\n\n* **a**\n\n```\nb\n```"),
            ("to <a href='https://e.com/1'><div>View build</div></a>", "to\n[View build](https://e.com/1)"),
            (
                "<a href='https://e.com/1'><p>One</p><p><b>Two</a> and</b></p>",
                "[One](https://e.com/1)\n\n[**Two**](https://e.com/1) **and**",
            ),
            ("<a href='https://e.com/1'>one <a name='x'>two</a></a>", "[one](https://e.com/1) two"),
            (
                "<pre><a href='https://e.com/1'>x</pre>y</a>",
                "```\n[x](https://e.com/1)\n```\n\n[y](https://e.com/1)",
            ),
            ("1 < 2 & 3 &unknown; &#233;&#xe9;", "1 < 2 & 3 &unknown; éé"),
            ("<!-- <b>c</b> --><!DOCTYPE html>x<img alt='pic' src=x>", "xpic"),
            ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
            (
                "<dl><dt>Build</dt><dd>#7</dd><dt>State</dt><dd>failed</dd></dl>x",
                "Build\n#7\nState\nfailed\n\nx",
            ),
            ("a<details><summary>Log</summary>b</details>c", "a\nLog\nb\nc"),
            ("<b", ""),
            ("<a href=\"", ""),
        ] {
            assert_eq!(to_markdown(html, false).replace('\u{a0}', " "), expected, "{html}");
        }
    }

    #[test]
    fn quoted_mails_are_left_out_unless_they_are_asked_for() {
        for html in [
            "new<blockquote type=\"cite\"><div>old</div></blockquote>",
            "new<div class=\"x gmail_quote\">On Monday<blockquote>old</blockquote></div>",
            "new<div id='x_divRplyFwdMsg'>From: someone</div><div>old</div>",
        ] {
            assert_eq!(to_markdown(html, false), "new");
            assert!(to_markdown(html, true).contains("old"));
        }
        assert_eq!(to_markdown("<blockquote>kept</blockquote>", false), "kept");
    }

    #[test]
    fn long_and_deep_html_is_cut() {
        assert_eq!(to_markdown(&"<div>".repeat(100_000), false), "");
        assert!(to_markdown(&"<p>word</p>".repeat(100_000), false).len() < MAX_LENGTH + 100);
        assert_eq!(to_markdown(&"<".repeat(1000), false), "<".repeat(1000));
        let hidden = format!("<title>{}{}</title>text", "<a>".repeat(1000), "</b>".repeat(200_000));
        assert_eq!(to_markdown(&hidden, false), "text");
        let unclosed = "<style><a><b><a></i></b></a>x</style><p>text</p>";
        assert_eq!(to_markdown(unclosed, false), "text");
    }
}
