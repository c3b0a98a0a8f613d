//! Texts in Slack's format: entities, and marks of bold, emphasized and deleted text.

use std::ops::Range;

/// The longest text between two marks, in characters, so that a text of marks alone takes little time.
const LONGEST: usize = 2000;

/// Characters after which no mark opens, and before which none closes.
const CLOSING: &str = ")]}»”’";
const OPENING: &str = "([{«“‘";

/// A text in Slack's format, of which parts are Markdown already: code, and the text between `<` and `>`. These parts have no
/// marks, but there may be marks around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlackText {
    text: String,
    /// The places of the parts in the text, ascending.
    markdown: Vec<Range<usize>>,
}

/// A character, or a part that is Markdown already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit<'t> {
    Character(char),
    Markdown(&'t str),
}

/// The rest of a text.
#[derive(Clone)]
struct Units<'t> {
    text: &'t str,
    markdown: &'t [Range<usize>],
    position: usize,
}

/// Replaces the three entities that Slack writes: `&lt;`, `&gt;` and `&amp;`.
pub fn decode_slack_entities(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Returns a text of rich text with the marks of its styles, such as `bold`. Each line has its own marks, around its words:
/// with white space or a line break within, marks would be text.
pub fn styled_slack_text(text: &str, has_style: impl Fn(&str) -> bool) -> String {
    let marks: Vec<&str> = [("code", "`"), ("strike", "~~"), ("italic", "*"), ("bold", "**")]
        .into_iter()
        .filter(|(name, _)| has_style(name))
        .map(|(_, mark)| mark)
        .collect();
    let styled = |line: &str| {
        let words = line.trim();
        if words.is_empty() {
            return line.to_owned();
        }
        let marked = marks.iter().fold(words.to_owned(), |inner, mark| format!("{mark}{inner}{mark}"));
        let start = line.len() - line.trim_start().len();
        format!("{}{marked}{}", &line[..start], &line[start + words.len()..])
    };
    text.split('\n').map(styled).collect::<Vec<_>>().join("\n")
}

impl SlackText {
    /// Appends text with entities, which may have marks.
    pub fn push_text(&mut self, text: &str) {
        self.text.push_str(&decode_slack_entities(text));
    }

    /// Appends Markdown, which is not converted: its marks and entities stay.
    pub fn push_markdown(&mut self, markdown: &str) {
        let start = self.text.len();
        self.text.push_str(markdown);
        if !markdown.is_empty() {
            self.markdown.push(start..self.text.len());
        }
    }

    /// Appends a block of code between fences, which has lines of its own. `code` has no entities.
    pub fn push_code_block(&mut self, fence: &str, code: &str) {
        let before = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { "\n" };
        self.push_markdown(&format!("{before}{fence}\n{}\n{fence}\n", code.trim_matches('\n')));
    }

    /// Returns the text as Markdown: `*`, `_` and `~` at the edges of words are replaced.
    pub fn to_markdown(&self) -> String {
        let mut converted = String::with_capacity(self.text.len() + 8);
        let mut units = Units { text: &self.text, markdown: &self.markdown, position: 0 };
        // Text within marks may have other marks: each opening mark is replaced, and its end is remembered.
        let mut ends: Vec<(usize, &str)> = Vec::new();
        let mut before = None;
        while let Some((position, unit)) = units.next() {
            if let Some(index) = ends.iter().position(|(end, _)| *end == position) {
                converted.push_str(ends.remove(index).1);
            } else {
                // A doubled mark is one of Markdown, which some programs send all the same.
                let is_inside = before.is_some_and(|before: Unit<'_>| {
                    before.is_word() || before.is_one_of(CLOSING) || before == unit
                });
                let mark = unit.mark().filter(|_| !is_inside);
                match (mark.and_then(|mark| Some((mark, units.closing(unit)?))), unit) {
                    (Some((mark, end)), _) => {
                        ends.push((end, mark));
                        converted.push_str(mark);
                    }
                    (None, Unit::Character(character)) => converted.push(character),
                    (None, Unit::Markdown(markdown)) => converted.push_str(markdown),
                }
            }
            before = Some(unit);
        }
        converted
    }
}

impl<'t> Iterator for Units<'t> {
    /// A position in the text, and what is there.
    type Item = (usize, Unit<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        let position = self.position;
        if let Some((range, later)) = self.markdown.split_first()
            && range.start == position
        {
            (self.markdown, self.position) = (later, range.end);
            return Some((position, Unit::Markdown(&self.text[range.clone()])));
        }
        let character = self.text[position..].chars().next()?;
        self.position += character.len_utf8();
        Some((position, Unit::Character(character)))
    }
}

impl Units<'_> {
    /// The position of the mark that closes one just before this text: in the same line, with text between, and no word after it.
    fn closing(&self, mark: Unit<'_>) -> Option<usize> {
        let mut units = self.clone();
        let mut before = mark;
        for _ in 1..LONGEST {
            let (position, unit) = units.next()?;
            let is_first = position == self.position;
            if unit.has_line_break() || is_first && (unit.is_space() || unit == mark) {
                return None;
            }
            if unit == mark {
                let after = units.next().map(|(_, after)| after);
                let is_inside =
                    after.is_some_and(|after| after.is_word() || after.is_one_of(OPENING) || after == mark);
                return (!before.is_space() && !is_inside).then_some(position);
            }
            before = unit;
        }
        None
    }
}

impl Unit<'_> {
    fn mark(self) -> Option<&'static str> {
        match self {
            Self::Character('*') => Some("**"),
            Self::Character('_') => Some("*"),
            Self::Character('~') => Some("~~"),
            _ => None,
        }
    }

    fn is_space(self) -> bool {
        matches!(self, Self::Character(character) if character.is_whitespace())
    }

    /// True for letters and digits, and what belongs to a word with them, as on the published server.
    fn is_word(self) -> bool {
        matches!(self, Self::Character(character) if character.is_alphanumeric() || "@\\".contains(character))
    }

    fn is_one_of(self, characters: &str) -> bool {
        matches!(self, Self::Character(character) if characters.contains(character))
    }

    fn has_line_break(self) -> bool {
        match self {
            Self::Character(character) => character == '\n',
            Self::Markdown(markdown) => markdown.contains('\n'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_around_words() {
        let styled = |text: &str, styles: &[&str]| styled_slack_text(text, |style| styles.contains(&style));
        assert_eq!(styled("Note: ", &["bold"]), "**Note:** ");
        assert_eq!(styled(" a b", &["italic", "code"]), " *`a b`*");
        assert_eq!(styled("a\n\n b\n", &["bold"]), "**a**\n\n **b**\n");
        assert_eq!((styled(" a ", &[]), styled(" ", &["bold"])), (" a ".to_owned(), " ".to_owned()));
    }

    #[test]
    fn marks_may_be_around_markdown() {
        let converted = |before: &str, markdown: &str, after: &str| {
            let mut text = SlackText::default();
            text.push_text(before);
            text.push_markdown(markdown);
            text.push_text(after);
            text.to_markdown()
        };
        assert_eq!(converted("*", "[a](http://x.example)", "*"), "**[a](http://x.example)**");
        assert_eq!(converted("*_a ", "`*b*`", "_ c*"), "***a `*b*`* c**");
        assert_eq!(converted("*a*", "`b`", "~c~"), "**a**`b`~~c~~");
        assert_eq!(converted("*a ", "\n```\n*\n```\n", "b*"), "*a \n```\n*\n```\nb*");
        assert_eq!(converted("*é", "", "&lt;ö*"), "**é<ö**");
    }
}
