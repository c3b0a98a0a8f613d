//! The text of a message without markup, for notifications.

/// The end of a text that was cut.
const ELLIPSIS: &str = "…";

/// An open element.
struct Open<'h> {
    tag: &'h str,
    /// True if its text is left out.
    is_hidden: bool,
    /// The number of the next item, of an ordered list.
    number: Option<u64>,
    /// The start of the text of a quote.
    quote_start: Option<usize>,
}

/// Returns the text of HTML that the renderer of messages wrote, at most `limit` characters: emoji as characters, quotes shortened
/// if there is other text, the headers of spoilers, formulas as TeX.
pub fn of_html(html: &str, limit: usize) -> String {
    let text = Reader::default().read(html);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    cut(lines.join("\n").trim(), limit)
}

/// A text of at most `limit` characters.
pub fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    kept + ELLIPSIS
}

#[derive(Default)]
struct Reader<'h> {
    out: String,
    open: Vec<Open<'h>>,
    /// The quotes of `out`, as ranges.
    quotes: Vec<(usize, usize)>,
}

impl<'h> Reader<'h> {
    fn read(mut self, html: &'h str) -> String {
        for part in parts(html) {
            match part {
                Part::Text(text) => self.text(text),
                Part::Start(tag) => self.tag(tag),
                Part::End(name) => self.close(name),
            }
        }
        self.with_quotes()
    }

    fn is_hidden(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_hidden)
    }

    fn text(&mut self, text: &str) {
        if !self.is_hidden() {
            self.out.push_str(&unescaped(text));
        }
    }

    fn tag(&mut self, tag: &'h str) {
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let class = attribute(attributes, "class").unwrap_or_default();
        let has_class = |wanted: &str| class.split(' ').any(|found| found == wanted);
        let mut is_hidden = self.is_hidden();
        match name.trim_end_matches('/') {
            "br" | "hr" => return self.line(),
            "img" => {
                if !is_hidden && has_class("emoji") {
                    self.text(attribute(attributes, "alt").unwrap_or_default());
                }
                return;
            }
            "input" | "source" | "wbr" => return,
            "p" | "div" | "ul" | "ol" | "pre" | "table" | "tr" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6"
            | "blockquote" => self.line(),
            "td" | "th" => self.out.push(' '),
            "li" => self.item(),
            // The source of a formula is the only text in it that reads well.
            "annotation" => is_hidden = false,
            _ => {}
        }
        if has_class("spoiler-content") {
            self.out.truncate(self.out.trim_end().len());
            self.text(" (…)");
            is_hidden = true;
        }
        if has_class("katex") || has_class("message_inline_image") {
            is_hidden = true;
        }
        if has_class("emoji")
            && let Some(emoji) = emoji_of(class)
        {
            self.text(&emoji);
            is_hidden = true;
        }
        let starts_quote = name == "blockquote" && !self.open.iter().any(|open| open.quote_start.is_some());
        let number = (name == "ol").then(|| attribute(attributes, "start")?.parse().ok()).flatten();
        self.open.push(Open {
            tag: name,
            is_hidden,
            number: number.or((name == "ol").then_some(1)),
            quote_start: starts_quote.then_some(self.out.len()),
        });
    }

    fn close(&mut self, tag: &str) {
        let Some(index) = self.open.iter().rposition(|open| open.tag == tag) else { return };
        for open in self.open.drain(index..) {
            if let Some(start) = open.quote_start {
                self.quotes.push((start, self.out.len()));
            }
        }
        if matches!(tag, "p" | "div" | "li" | "pre" | "tr" | "blockquote") {
            self.line();
        }
    }

    fn line(&mut self) {
        if !self.is_hidden() && !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn item(&mut self) {
        self.line();
        if self.is_hidden() {
            return;
        }
        let number = self.open.iter_mut().rev().find(|open| matches!(open.tag, "ul" | "ol"));
        match number.and_then(|list| list.number.as_mut()) {
            Some(number) => {
                self.out.push_str(&number.to_string());
                self.out.push_str(". ");
                *number = number.saturating_add(1);
            }
            None => self.out.push_str("• "),
        }
    }

    /// Replaces quotes by an ellipsis, or marks their lines if there is no other text.
    fn with_quotes(self) -> String {
        let (mut text, mut position) = (String::new(), 0);
        let mut others = String::new();
        for (start, end) in &self.quotes {
            others.push_str(&self.out[position..*start]);
            position = *end;
        }
        others.push_str(&self.out[position..]);
        let has_others = !others.trim().is_empty();
        position = 0;
        for (start, end) in self.quotes {
            text.push_str(&self.out[position..start]);
            if has_others {
                text.push_str("[…]\n");
            } else {
                for line in self.out[start..end].lines().filter(|line| !line.trim().is_empty()) {
                    text.push_str("> ");
                    text.push_str(line);
                    text.push('\n');
                }
            }
            position = end;
        }
        text.push_str(&self.out[position..]);
        text
    }
}

/// A part of HTML that the renderer of messages wrote.
pub enum Part<'h> {
    /// Text between tags, still escaped.
    Text(&'h str),
    /// The name of an element, and its attributes.
    Start(&'h str),
    /// The name of the element that ends.
    End(&'h str),
}

/// Splits HTML into tags and the text between them.
pub fn parts(html: &str) -> impl Iterator<Item = Part<'_>> {
    let (mut rest, mut is_in_tag) = (html, false);
    std::iter::from_fn(move || {
        if std::mem::take(&mut is_in_tag)
            && let Some((tag, after)) = rest.split_once('>')
        {
            rest = after;
            return Some(tag.strip_prefix('/').map_or(Part::Start(tag), Part::End));
        }
        if rest.is_empty() {
            return None;
        }
        let (text, after) = rest.split_once('<').unwrap_or((rest, ""));
        is_in_tag = text.len() < rest.len();
        rest = after;
        Some(Part::Text(text))
    })
}

/// The value of an attribute, still escaped.
pub fn attribute<'h>(attributes: &'h str, name: &str) -> Option<&'h str> {
    let mut rest = attributes;
    loop {
        let (before, after) = rest.split_once("=\"")?;
        let (value, next) = after.split_once('"')?;
        // Attributes without a value may be before it.
        if before.split_whitespace().next_back() == Some(name) {
            return Some(value);
        }
        rest = next;
    }
}

/// The characters of an emoji, from a class such as `emoji-1f44d`.
pub fn emoji_of(class: &str) -> Option<String> {
    let code = class.split(' ').find_map(|class| class.strip_prefix("emoji-"))?;
    code.split('-').map(|code| char::from_u32(u32::from_str_radix(code, 16).ok()?)).collect()
}

/// Text with the characters that its entities stand for.
pub fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(';').filter(|end| *end <= 10);
        let found = end.and_then(|end| Some((end, character_of(&rest[1..end])?)));
        let (length, character) = found.map_or((1, '&'), |(end, character)| (end + 1, character));
        out.push(character);
        rest = &rest[length..];
    }
    out + rest
}

fn character_of(entity: &str) -> Option<char> {
    Some(match entity {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(number) => u32::from_str_radix(number, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_becomes_plain_text() {
        let cases = [
            (
                "<p>Hello <strong>you</strong>,<br>\nthere &amp; here &lt;b&gt;</p>",
                "Hello you,\nthere & here <b>",
            ),
            ("<p>one</p>\n<p>two</p>", "one\ntwo"),
            (
                r#"<p>ok <span aria-label="thumbs up" class="emoji emoji-1f44d" role="img" title="thumbs up">:thumbs_up:</span></p>"#,
                "ok 👍",
            ),
            (r#"<p><img alt=":party:" class="emoji" src="/x.png" title="party"> on</p>"#, ":party: on"),
            (r#"<p><span class="user-mention" data-user-id="9">@Ada</span> look</p>"#, "@Ada look"),
            ("<ul>\n<li>a</li>\n<li>b</li>\n</ul>", "• a\n• b"),
            ("<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>", "3. a\n4. b"),
            (
                "<ol start=\"18446744073709551615\">\n<li>a</li>\n<li>b</li>\n</ol>",
                "18446744073709551615. a\n18446744073709551615. b",
            ),
            ("<blockquote>\n<p>old</p>\n</blockquote>\n<p>new</p>", "[…]\nnew"),
            ("<blockquote>\n<p>old</p>\n<p>words</p>\n</blockquote>", "> old\n> words"),
            (
                r#"<div class="spoiler-block"><div class="spoiler-header">
<p>The end</p>
</div><div class="spoiler-content" aria-hidden="true">
<p>They live</p>
</div></div><p>after</p>"#,
                "The end (…)\nafter",
            ),
            (
                r#"<p>so <span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">x^2</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">x2</span></span> it is</p>"#,
                "so x^2 it is",
            ),
            (
                r#"<p><a href="/u/a.png">a.png</a></p><div class="message_inline_image"><a href="/u/a.png"><img src="/t"></a></div>"#,
                "a.png",
            ),
            ("no markup & no <end", "no markup & no end"),
            ("&#39;a&#x27; &unknown; &", "'a' &unknown; &"),
        ];
        for (html, expected) in cases {
            assert_eq!(of_html(html, 200), expected, "{html}");
        }
        assert_eq!(of_html(&format!("<p>{}</p>", "é".repeat(300)), 200), "é".repeat(199) + "…");
    }
}
