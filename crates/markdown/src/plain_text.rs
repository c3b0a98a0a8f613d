//! Text without any markup, recognized in one pass.

/// Checks whether a text is one paragraph in which no rule but a linkifier can match: words and punctuation on lines that
/// start with a word.
pub fn is_plain(text: &str) -> bool {
    let mut before = '\n';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let is_plain = match character {
            // A number can be a list marker.
            _ if is_letter(character) => true,
            _ if before == '\n' => false,
            ' ' | '0'..='9' | ',' | '!' | '?' | '"' | '\'' | '(' | ')' | '-' => true,
            // A full stop; others are part of a URL.
            '.' => is_letter(before) && characters.peek().is_none_or(|after| matches!(after, ' ' | '\n')),
            '\n' => characters.peek().is_some(),
            _ => false,
        };
        if !is_plain {
            return false;
        }
        before = character;
    }
    !text.is_empty()
}

/// Checks for a letter of a script that has no emoji among its letters.
fn is_letter(character: char) -> bool {
    match character {
        '\0'..'\u{2000}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => {
            character.is_alphabetic()
        }
        _ => false,
    }
}

/// Renders plain text.
pub fn html(text: &str) -> String {
    format!("<p>{}</p>", text.replace('\n', "<br>\n"))
}
