//! A cursor over source code that collects tokens.

/// A token: its class, empty for none, and its end in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub class: &'static str,
    pub end: usize,
}

/// Splits a text from start to end. Every step moves forward to a character boundary.
pub struct Scanner<'a> {
    source: &'a str,
    at: usize,
    tokens: Vec<Token>,
}

impl<'a> Scanner<'a> {
    pub fn new(source: &'a str) -> Self {
        Self { source, at: 0, tokens: Vec::new() }
    }

    /// Returns the tokens. The rest of the text has no class.
    pub fn finish(mut self) -> Vec<Token> {
        self.rest_of_text("");
        self.tokens
    }

    /// Takes the rest of the text.
    fn rest_of_text(&mut self, class: &'static str) {
        self.take(self.source.len() - self.at, class);
    }

    /// Returns the rest of the text.
    pub fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    /// Returns the position in bytes.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.source.len()
    }

    /// Returns the next character.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the character before the position.
    pub fn before(&self) -> Option<char> {
        self.source[..self.at].chars().next_back()
    }

    /// Returns the text before the position.
    pub fn text_before(&self) -> &'a str {
        &self.source[..self.at]
    }

    /// Checks whether only spaces are before the position in its line.
    pub fn is_first_in_line(&self) -> bool {
        let before = self.source[..self.at].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n')
    }

    /// Checks whether the position is the start of a line.
    pub fn is_line_start(&self) -> bool {
        matches!(self.before(), None | Some('\n'))
    }

    pub fn starts_with(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Takes `length` bytes, rounded up to a character boundary.
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

    /// Takes one character.
    pub fn take_char(&mut self, class: &'static str) {
        self.take(1, class);
    }

    /// Takes a text, if it is next.
    pub fn take_text(&mut self, text: &str, class: &'static str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.take(text.len(), class);
        }
        found
    }

    /// Takes characters of a kind, and returns them.
    pub fn take_while(&mut self, class: &'static str, is_wanted: impl Fn(char) -> bool) -> &'a str {
        let taken = self.ahead(is_wanted);
        self.take(taken.len(), class);
        taken
    }

    /// Returns the next characters of a kind.
    pub fn ahead(&self, is_wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(|c| !is_wanted(c)).unwrap_or(rest.len())]
    }

    /// Takes spaces and line ends.
    pub fn take_space(&mut self, class: &'static str) {
        self.take_while(class, char::is_whitespace);
    }

    /// Takes spaces of this line.
    pub fn take_blanks(&mut self, class: &'static str) {
        self.take_while(class, is_blank);
    }

    /// Takes the rest of the line, without its end.
    pub fn take_line(&mut self, class: &'static str) {
        self.take_while(class, |c| c != '\n');
    }

    /// Takes everything up to and including a text, or the rest if it does not occur.
    pub fn take_through(&mut self, text: &str, class: &'static str) {
        let rest = self.rest();
        self.take(rest.find(text).map_or(rest.len(), |start| start + text.len()), class);
    }

    /// Takes a name, and returns it; empty if none is next.
    pub fn take_name(&mut self, class: &'static str) -> &'a str {
        let name = self.name_ahead();
        self.take(name.len(), class);
        name
    }

    /// Returns the next name, or an empty one.
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

/// Returns the class of a word, from a table of classes and their words.
pub fn class_of(table: &[(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    table
        .iter()
        .find(|(_, words)| words.split_ascii_whitespace().any(|one| one == word))
        .map(|(class, _)| *class)
}
