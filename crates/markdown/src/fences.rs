//! Fences (```` ``` ```` and `~~~`): lines to sections, before any other block.
//!
//! A fence is at the start of a line and is closed by exactly the same characters. Quotes and spoilers may contain further
//! fences; code and formulas are verbatim. A fence that is not closed ends with the section around it.

use super::html::MAX_DEPTH;
use std::borrow::Cow;

/// Distance of tab stops in columns.
const TAB_WIDTH: usize = 4;

/// A part of a message between fences, or the content of a fence.
#[derive(Debug, PartialEq, Eq)]
pub enum Section {
    /// Lines without fences.
    Lines(Vec<String>),
    /// The language as typed, empty if none.
    Code {
        language: String,
        text: String,
    },
    Math(String),
    Quote(Vec<Section>),
    Spoiler {
        header: String,
        content: Vec<Section>,
    },
}

/// The first line of a fence.
struct Opening<'a> {
    /// The characters that close it.
    fence: &'a str,
    language: &'a str,
    header: &'a str,
}

fn parse_opening(line: &str) -> Option<Opening<'_>> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let fence = &line[..line.len() - rest.len()];
    let rest = rest.trim_start_matches(' ');
    // Code within a line is not a fence.
    if fence.len() < 3 || rest.contains(['`', '~']) {
        return None;
    }
    // `{.rust}` is an old form of `rust`.
    let rest = rest.strip_prefix('{').map_or(rest, |inner| inner.strip_suffix('}').unwrap_or(inner));
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let is_language = |c: char| c.is_ascii_alphanumeric() || "_+-,./#".contains(c);
    let (language, header) = rest.split_at(rest.find(|c| !is_language(c)).unwrap_or(rest.len()));
    let header = header.trim_start_matches(' ');
    // Without a language first, the line is text.
    if language.is_empty() && !header.is_empty() {
        return None;
    }
    Some(Opening { fence, language, header })
}

/// Splits lines into sections.
pub fn parse(lines: &[&str]) -> Vec<Section> {
    let mut position = 0;
    sections_until(lines, &mut position, None, 0)
}

/// The source of sections without code and formulas, for alert words: a word may be the name of an emoji, an address or a part of
/// a name in a mention, which readers see in another form or not at all.
pub fn without_code(sections: &[Section]) -> String {
    fn collect(sections: &[Section], into: &mut String) {
        for section in sections {
            match section {
                Section::Lines(lines) => {
                    for line in lines {
                        into.extend([line.as_str(), "\n"]);
                    }
                }
                Section::Code { .. } | Section::Math(_) => {}
                Section::Quote(content) => collect(content, into),
                Section::Spoiler { header, content } => {
                    into.extend([header.as_str(), "\n"]);
                    collect(content, into);
                }
            }
        }
    }
    let mut source = String::new();
    collect(sections, &mut source);
    source.truncate(source.trim_end().len());
    source
}

/// A text with uniform line ends, and without the control characters that the renderer omits. Code that looks for marks before
/// rendering must use this text, because an omitted character can hide a mark.
pub fn without_controls(text: &str) -> Cow<'_, str> {
    let is_left_out = |character: char| character.is_control() && !matches!(character, '\t' | '\n');
    if text.contains(is_left_out) {
        text.replace("\r\n", "\n").replace('\r', "\n").replace(is_left_out, "").into()
    } else {
        text.into()
    }
}

/// Splits a text into lines as the renderer reads them, with spaces for tabs. Lines of spaces are empty, except for the first one.
pub fn normalized_lines(text: &str) -> Vec<String> {
    without_controls(text)
        .split('\n')
        .enumerate()
        .map(|(index, line)| {
            let mut expanded = String::with_capacity(line.len());
            let mut column = 0;
            for character in line.chars() {
                if character == '\t' {
                    let spaces = TAB_WIDTH - column % TAB_WIDTH;
                    expanded.extend(std::iter::repeat_n(' ', spaces));
                    column += spaces;
                } else {
                    expanded.push(character);
                    column += 1;
                }
            }
            if index > 0 && expanded.trim_matches(' ').is_empty() {
                expanded.clear();
            }
            expanded
        })
        .collect()
}

/// The content of an open fence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Verbatim,
    Quote,
    Spoiler,
}

impl Opening<'_> {
    /// The content of the fence. `depth` counts the fences around.
    fn content(&self, depth: usize) -> Content {
        match self.language.to_ascii_lowercase().as_str() {
            "quote" | "quoted" if depth < MAX_DEPTH => Content::Quote,
            "spoiler" if depth < MAX_DEPTH => Content::Spoiler,
            _ => Content::Verbatim,
        }
    }
}

/// The fences that are open at a line of a text.
#[derive(Default)]
pub struct OpenFences<'t> {
    /// The characters that close them, and their contents.
    open: Vec<(&'t str, Content)>,
    /// Number of fences around the text.
    around: usize,
}

impl<'t> OpenFences<'t> {
    fn around(count: usize) -> Self {
        Self { open: Vec::new(), around: count }
    }

    /// Reads the next line, without its end. Returns false for fences, code and formulas, and true for other lines.
    pub fn is_text(&mut self, line: &'t str) -> bool {
        let is_verbatim = matches!(self.open.last(), Some((_, Content::Verbatim)));
        let before = self.open.len();
        self.read(line);
        !is_verbatim && self.open.len() == before
    }

    /// Reads the next line. Returns the fence that it opens.
    fn read(&mut self, line: &'t str) -> Option<(Opening<'t>, Content)> {
        match self.open.last() {
            Some((fence, _)) if line.trim_end() == *fence => {
                self.open.pop();
                None
            }
            Some((_, Content::Verbatim)) => None,
            _ => {
                let opening = parse_opening(line)?;
                let content = opening.content(self.around + self.open.len());
                self.open.push((opening.fence, content));
                Some((opening, content))
            }
        }
    }
}

/// The normalized text with the fences closed that it leaves open, so that a fence around it ends where it should.
pub fn close_fences(text: &str) -> String {
    let lines = normalized_lines(text);
    // The text may be in a fence itself.
    let mut fences = OpenFences::around(1);
    for line in &lines {
        fences.read(line);
    }
    fences.open.iter().rev().fold(lines.join("\n"), |closed, (fence, _)| closed + "\n" + fence)
}

/// The normalized text with spoilers reduced to their headers, each with a note in parentheses, for readers of the source.
pub fn without_spoilers(text: &str, note: &str) -> String {
    let lines = normalized_lines(text);
    let mut shown: Vec<Cow<'_, str>> = Vec::new();
    let mut fences = OpenFences::around(0);
    for line in &lines {
        let is_hidden = fences.open.iter().any(|(_, content)| *content == Content::Spoiler);
        let opened = fences.read(line);
        if is_hidden {
            continue;
        }
        shown.push(match opened {
            Some((Opening { header, .. }, Content::Spoiler)) => {
                format!("{header} ({note})").trim_start().to_owned().into()
            }
            _ => line.into(),
        });
    }
    shown.join("\n")
}

/// Parses sections up to and including the line that closes the fence around them.
fn sections_until(lines: &[&str], position: &mut usize, closing: Option<&str>, depth: usize) -> Vec<Section> {
    let mut found = Vec::new();
    let mut open_lines: Vec<String> = Vec::new();
    while *position < lines.len() {
        let line = lines[*position];
        *position += 1;
        if closing.is_some_and(|closing| line.trim_end() == closing) {
            break;
        }
        let Some(opening) = parse_opening(line) else {
            open_lines.push(line.to_owned());
            continue;
        };
        if !open_lines.is_empty() {
            found.push(Section::Lines(std::mem::take(&mut open_lines)));
        }
        let language = opening.language.to_ascii_lowercase();
        found.push(match language.as_str() {
            "quote" | "quoted" if depth < MAX_DEPTH => {
                Section::Quote(sections_until(lines, position, Some(opening.fence), depth + 1))
            }
            "spoiler" if lines.get(*position).is_some_and(|line| line.trim_end() == opening.fence) => {
                // An empty spoiler is not shown.
                *position += 1;
                continue;
            }
            "spoiler" if depth < MAX_DEPTH => Section::Spoiler {
                header: opening.header.to_owned(),
                content: sections_until(lines, position, Some(opening.fence), depth + 1),
            },
            "math" => Section::Math(verbatim(lines, position, opening.fence)),
            _ => Section::Code {
                language: opening.language.to_owned(),
                text: verbatim(lines, position, opening.fence),
            },
        });
    }
    if !open_lines.is_empty() {
        found.push(Section::Lines(open_lines));
    }
    found
}

/// Returns the text up to the closing line, without blank lines around it and without spaces at line ends.
fn verbatim(lines: &[&str], position: &mut usize, closing: &str) -> String {
    let mut text = String::new();
    while *position < lines.len() {
        let line = lines[*position].trim_end();
        *position += 1;
        if line == closing {
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    text.trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(text: &str) -> Vec<Section> {
        parse(&text.split('\n').collect::<Vec<_>>())
    }

    #[test]
    fn open_fences_are_closed() {
        for (text, closed) in [
            ("a", ""),
            ("```\na\n```\nb", ""),
            ("~~~\na", "\n~~~"),
            ("```` quote\n~~~ spoiler x\n``` py\n~~~", "\n```\n~~~\n````"),
            ("```py\n~~~ quote", "\n```"),
            ("``` spoiler x\n```", ""),
        ] {
            assert_eq!(close_fences(text), format!("{text}{closed}"));
            let framed = format!("`````` quote\n{}\n``````\nafter", close_fences(text));
            assert_eq!(sections(&framed).last(), Some(&Section::Lines(vec!["after".to_owned()])), "{framed}");
        }
        let deep = "```` quote\n".repeat(2 * MAX_DEPTH);
        let framed = format!("`````` quote\n{}\n``````\nafter", close_fences(deep.trim_end()));
        assert_eq!(sections(&framed).last(), Some(&Section::Lines(vec!["after".to_owned()])));
    }

    #[test]
    fn only_the_headers_of_spoilers_are_shown() {
        for (text, shown) in [
            ("```spoiler The end\nThey live\n```\nafter", "The end (hidden)\nafter"),
            ("```spoiler\nThey live", "(hidden)"),
            ("````quote\n```spoiler A\nB\n```\n````", "````quote\nA (hidden)\n````"),
            ("~~~~spoiler A\n~~~\nB\n~~~\n~~~~", "A (hidden)"),
            ("```\n~~~spoiler A\n```", "```\n~~~spoiler A\n```"),
            // In all forms that the renderer reads, and until it reads the end.
            ("```SPOILER A\nB\n```\nC", "A (hidden)\nC"),
            ("~~~ {.spoiler} A\nB\n~~~", "} A (hidden)"),
            ("```spoiler: A\nB\n```", ": A (hidden)"),
            ("``\u{1}`spoiler A\nB\n```", "A (hidden)"),
            ("```spoiler A\n  ```\nB\n```\nC", "A (hidden)\nC"),
            ("  ```spoiler A\nB", "  ```spoiler A\nB"),
        ] {
            assert_eq!(without_spoilers(text, "hidden"), shown, "{text}");
        }
        let deep = "```` quote\n".repeat(MAX_DEPTH) + "```spoiler A\nB";
        assert_eq!(without_spoilers(&deep, "hidden"), deep, "it is shown as code");
    }

    // conformance: alert-9
    #[test]
    fn alert_words_are_looked_for_outside_of_fences_of_code() {
        let cases = [
            ("a `b` :tada:\n> c", "a `b` :tada:\n> c"),
            ("a\n```py\nb\n```\nc", "a\nc"),
            ("~~~math\nb\n~~~\n@**c**", "@**c**"),
            ("```quote\na\n~~~\nb\n~~~\n```\nc", "a\nc"),
            ("```spoiler a\nb\n```", "a\nb"),
            ("```\nb", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(without_code(&sections(text)), expected, "{text:?}");
        }
    }

    fn code(language: &str, text: &str) -> Section {
        Section::Code { language: language.to_owned(), text: text.to_owned() }
    }

    // conformance: md-12
    #[test]
    fn fences_open_and_close_with_the_same_characters() {
        assert_eq!(sections("```py\na\n~~~\n````\nb\n```"), [code("py", "a\n~~~\n````\nb")]);
        assert_eq!(sections("~~~~ {.rust}\na"), [code("rust", "a")]);
        assert_eq!(sections("``` a ```"), [Section::Lines(vec!["``` a ```".to_owned()])]);
        assert_eq!(sections("```x: y\na"), [code("x", "a")]);
        assert_eq!(sections("```* x"), [Section::Lines(vec!["```* x".to_owned()])]);
        assert_eq!(sections("``x\n```x`"), [Section::Lines(vec!["``x".to_owned(), "```x`".to_owned()])]);
    }

    // conformance: md-14
    #[test]
    fn quotes_and_spoilers_contain_further_fences() {
        assert_eq!(
            sections("```spoiler the *end*\n~~~quote\n~~~~\ncode\n~~~~\n~~~\n```\nafter"),
            [
                Section::Spoiler {
                    header: "the *end*".to_owned(),
                    content: vec![Section::Quote(vec![code("", "code")])],
                },
                Section::Lines(vec!["after".to_owned()]),
            ]
        );
    }

    // conformance: md-15
    #[test]
    fn too_deep_a_quote_is_shown_as_code() {
        let text: String = (0..=MAX_DEPTH)
            .fold(String::new(), |text, level| text + &"`".repeat(level + 3) + "quote\n")
            + "inside";
        let mut found = sections(&text);
        for _ in 0..MAX_DEPTH {
            found = match found.pop() {
                Some(Section::Quote(inner)) => inner,
                other => panic!("expected a quote, found {other:?}"),
            };
        }
        assert_eq!(found, [code("quote", "inside")]);
    }
}
