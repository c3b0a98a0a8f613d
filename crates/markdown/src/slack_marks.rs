//! Slack's marks of bold, emphasized and deleted text as Markdown.

/// A part of a text in Slack's format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlackPart {
    /// A character, which may be a mark.
    Character(char),
    /// Markdown of code, or of the text between `<` and `>`. It has no marks, but there may be marks around it.
    Markdown(String),
}

impl SlackPart {
    /// True if a line ends with this part.
    pub fn ends_line(&self) -> bool {
        match self {
            Self::Character(character) => *character == '\n',
            Self::Markdown(markdown) => markdown.ends_with('\n'),
        }
    }

    fn is_space(&self) -> bool {
        matches!(self, Self::Character(character) if character.is_whitespace())
    }

    fn is_word(&self) -> bool {
        matches!(self, Self::Character(character) if character.is_alphanumeric())
    }

    fn has_line_break(&self) -> bool {
        match self {
            Self::Character(character) => *character == '\n',
            Self::Markdown(markdown) => markdown.contains('\n'),
        }
    }
}

/// Returns a text in Markdown. `*`, `_` and `~` at the edges of words are replaced.
pub fn slack_marks(parts: &[SlackPart]) -> String {
    let mut converted = String::with_capacity(parts.len() + 8);
    let mut position = 0;
    // Text within marks may have other marks: each opening mark is replaced, and its end is remembered.
    let mut ends: Vec<(usize, &str)> = Vec::new();
    while let Some(part) = parts.get(position) {
        if let Some(index) = ends.iter().position(|(end, _)| *end == position) {
            converted.push_str(ends.remove(index).1);
            position += 1;
            continue;
        }
        let mark = match part {
            SlackPart::Character('*') => Some("**"),
            SlackPart::Character('_') => Some("*"),
            SlackPart::Character('~') => Some("~~"),
            _ => None,
        };
        // A doubled mark is one of Markdown, which some programs send all the same.
        let before = position.checked_sub(1).map(|before| &parts[before]);
        let is_inside = before.is_some_and(|before| before.is_word() || before == part);
        let marked = mark.filter(|_| !is_inside).and_then(|mark| Some((mark, closing(parts, position)?)));
        match (marked, part) {
            (Some((mark, end)), _) => {
                ends.push((end, mark));
                converted.push_str(mark);
            }
            (None, SlackPart::Character(character)) => converted.push(*character),
            (None, SlackPart::Markdown(markdown)) => converted.push_str(markdown),
        }
        position += 1;
    }
    converted
}

/// The position of the mark that closes the one at a position: in the same line, with text between, and no word after
/// it.
fn closing(parts: &[SlackPart], start: usize) -> Option<usize> {
    /// The longest text between two marks, in parts, so that a text of marks alone takes little time.
    const LONGEST: usize = 2000;
    let mark = &parts[start];
    if parts.get(start + 1).is_none_or(|next| next.is_space() || next == mark) {
        return None;
    }
    for end in start + 1..parts.len().min(start + LONGEST) {
        let part = &parts[end];
        if part.has_line_break() {
            return None;
        }
        if part == mark {
            let is_word_after = parts.get(end + 1).is_some_and(|next| next.is_word() || next == mark);
            return (!parts[end - 1].is_space() && !is_word_after).then_some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_may_be_around_markdown() {
        let converted = |before: &str, markdown: &str, after: &str| {
            let mut parts: Vec<SlackPart> = before.chars().map(SlackPart::Character).collect();
            parts.push(SlackPart::Markdown(markdown.to_owned()));
            parts.extend(after.chars().map(SlackPart::Character));
            slack_marks(&parts)
        };
        assert_eq!(converted("*", "[a](http://x.example)", "*"), "**[a](http://x.example)**");
        assert_eq!(converted("*_a ", "`*b*`", "_ c*"), "***a `*b*`* c**");
        assert_eq!(converted("*a*", "`b`", "~c~"), "**a**`b`~~c~~");
        assert_eq!(converted("*a ", "\n```\n*\n```\n", "b*"), "*a \n```\n*\n```\nb*");
    }
}
