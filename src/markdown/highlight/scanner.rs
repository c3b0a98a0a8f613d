//! A place in a text, and the pieces that it was cut into so far.

/// A piece of code: its class, empty for none, and where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub class: &'static str,
    pub end: usize,
}

/// Cuts a text from its beginning to its end. Every step goes forward, and no step can leave a character in halves.
pub struct Scanner<'a> {
    source: &'a str,
    at: usize,
    tokens: Vec<Token>,
}

impl<'a> Scanner<'a> {
    pub fn new(source: &'a str) -> Self {
        Self { source, at: 0, tokens: Vec::new() }
    }

    /// The pieces. What was not cut has no class.
    pub fn finish(mut self) -> Vec<Token> {
        self.rest_of_text("");
        self.tokens
    }

    /// Cuts off the whole rest.
    pub fn rest_of_text(&mut self, class: &'static str) {
        self.take(self.source.len() - self.at, class);
    }

    /// What is still to be cut.
    pub fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    /// The place, in bytes.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.source.len()
    }

    /// The next character.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The character before this place.
    pub fn before(&self) -> Option<char> {
        self.source[..self.at].chars().next_back()
    }

    /// All that was cut.
    pub fn text_before(&self) -> &'a str {
        &self.source[..self.at]
    }

    /// Whether only spaces stand before this place in its line.
    pub fn is_first_in_line(&self) -> bool {
        let before = self.source[..self.at].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n')
    }

    /// Whether this is the beginning of a line.
    pub fn is_line_start(&self) -> bool {
        matches!(self.before(), None | Some('\n'))
    }

    pub fn starts_with(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Cuts off so many bytes, or one more where a character would be torn.
    pub fn take(&mut self, length: usize, class: &'static str) {
        let mut end = (self.at + length).min(self.source.len());
        while !self.source.is_char_boundary(end) {
            end += 1;
        }
        if end == self.at {
            return;
        }
        self.at = end;
        match self.tokens.last_mut() {
            Some(last) if last.class == class => last.end = end,
            _ => self.tokens.push(Token { class, end }),
        }
    }

    /// Cuts off one character.
    pub fn take_char(&mut self, class: &'static str) {
        self.take(1, class);
    }

    /// Cuts off a text, if it is next.
    pub fn take_text(&mut self, text: &str, class: &'static str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.take(text.len(), class);
        }
        found
    }

    /// Cuts off characters of a kind, and answers them.
    pub fn take_while(&mut self, class: &'static str, is_wanted: impl Fn(char) -> bool) -> &'a str {
        let taken = self.ahead(is_wanted);
        self.take(taken.len(), class);
        taken
    }

    /// The characters of a kind that are next.
    pub fn ahead(&self, is_wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(|c| !is_wanted(c)).unwrap_or(rest.len())]
    }

    /// Cuts off spaces and line ends.
    pub fn take_space(&mut self, class: &'static str) {
        self.take_while(class, char::is_whitespace);
    }

    /// Cuts off spaces of this line.
    pub fn take_blanks(&mut self, class: &'static str) {
        self.take_while(class, is_blank);
    }

    /// Cuts off the rest of the line, without its end.
    pub fn take_line(&mut self, class: &'static str) {
        self.take_while(class, |c| c != '\n');
    }

    /// Cuts off everything through a text, or all there is when it does not come.
    pub fn take_through(&mut self, text: &str, class: &'static str) {
        let rest = self.rest();
        self.take(rest.find(text).map_or(rest.len(), |start| start + text.len()), class);
    }

    /// Cuts off a name, and answers it; empty if none is next.
    pub fn take_name(&mut self, class: &'static str) -> &'a str {
        let name = self.name_ahead();
        self.take(name.len(), class);
        name
    }

    /// The name that is next.
    pub fn name_ahead(&self) -> &'a str {
        if self.peek().is_some_and(is_name_start) { self.ahead(is_name) } else { "" }
    }
}

pub fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

pub fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

pub fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The class of a word in a table of classes and the words of each.
pub fn class_of(table: &[(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    table
        .iter()
        .find(|(_, words)| words.split_ascii_whitespace().any(|one| one == word))
        .map(|(class, _)| *class)
}
