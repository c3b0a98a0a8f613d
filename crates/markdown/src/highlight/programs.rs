//! The lexer of most programming languages: words, numbers, strings, comments and signs, by a table.

use super::numbers::{self, Numbers};
use super::scanner::{Scanner, class_of, is_blank, is_name, is_name_start};

/// A kind of string.
#[derive(Clone, Copy, Debug)]
pub struct Quote {
    pub open: &'static str,
    pub close: &'static str,
    pub class: &'static str,
    /// The class of escapes; the class of the string if they are not distinguished.
    pub escape: &'static str,
    /// True if it may span lines.
    pub multiline: bool,
    /// Start and end of interpolated code.
    pub code: Option<(&'static str, char)>,
    /// True if names with a dollar sign inside are variables.
    pub variables: bool,
}

impl Quote {
    /// A string in one line between equal marks.
    pub const fn new(mark: &'static str, class: &'static str, escape: &'static str) -> Self {
        Self { open: mark, close: mark, class, escape, multiline: false, code: None, variables: false }
    }

    /// The same over lines.
    pub const fn multiline(self) -> Self {
        Self { multiline: true, ..self }
    }

    /// The same with code inside.
    pub const fn with_code(self, open: &'static str, close: char) -> Self {
        Self { code: Some((open, close)), ..self }
    }
}

/// The grammar of a language.
#[derive(Clone, Copy, Debug)]
pub struct Grammar {
    /// Classes, and the words of each.
    pub words: &'static [(&'static str, &'static str)],
    /// True if words are case-insensitive.
    pub any_case: bool,
    /// The class of other names.
    pub name: &'static str,
    /// Characters that names may have besides letters, digits and underscores.
    pub name_characters: &'static str,
    /// Words, and the class of the name after each.
    pub after: &'static [(&'static str, &'static str)],
    /// The class of a name after a point or an arrow; empty: as any other.
    pub member: &'static str,
    /// Beginnings of comments that end with the line, and their classes.
    pub line_comments: &'static [(&'static str, &'static str)],
    /// Beginnings and ends of other comments.
    pub block_comments: &'static [(&'static str, &'static str)],
    pub quotes: &'static [Quote],
    pub numbers: Numbers,
    /// The class of spaces between words.
    pub space: &'static str,
    /// The class of spaces after a word of `after`.
    pub space_after: &'static str,
    /// Texts of several characters and their classes, before the single ones below; the longest first.
    pub signs: &'static [(&'static str, &'static str)],
    pub operators: &'static str,
    pub punctuation: &'static str,
    /// Rules of the language alone: takes a token or returns `false`.
    pub special: fn(&mut Scanner<'_>, &State) -> bool,
}

/// State for the rules of a language.
#[derive(Debug, Default)]
pub struct State {
    /// Number of open braces.
    pub depth: usize,
    /// True if a value may follow, rather than an operator.
    pub wants_value: bool,
    /// True if a word precedes in the line, so that a name may be a declaration.
    pub follows_word: bool,
}

/// Mode of the lexer: interpolated code, or a string.
enum Mode {
    /// The sign that ends the code, and how many more of them have to come before.
    Code {
        close: char,
        nesting: usize,
    },
    Text(&'static Quote),
}

/// Splits code into the tokens of a language.
pub fn scan(scanner: &mut Scanner<'_>, grammar: &'static Grammar) {
    let mut modes: Vec<Mode> = Vec::new();
    let mut state = State { wants_value: true, ..State::default() };
    let mut after: Option<&'static str> = None;
    while let Some(next) = scanner.peek() {
        if let Some(Mode::Text(quote)) = modes.last() {
            if let Some(entered) = scan_string(scanner, quote) {
                modes.push(entered);
                state.wants_value = true;
            } else {
                modes.pop();
                state.wants_value = false;
            }
            continue;
        }
        if next.is_whitespace() {
            let space = if after.is_some() { grammar.space_after } else { grammar.space };
            let taken = scanner.ahead(char::is_whitespace);
            state.follows_word &= !taken.contains('\n');
            scanner.take_space(space);
            continue;
        }
        if take_comment(scanner, grammar) {
            continue;
        }
        if (grammar.special)(scanner, &state) {
            state.wants_value = false;
            continue;
        }
        if let Some(quote) = grammar.quotes.iter().find(|quote| scanner.starts_with(quote.open)) {
            scanner.take_text(quote.open, quote.class);
            modes.push(Mode::Text(quote));
            continue;
        }
        if numbers::take(scanner, grammar.numbers) {
            state.wants_value = false;
            let suffixes = grammar.numbers.suffix_class;
            if !suffixes.is_empty() {
                scanner.take_while(suffixes, is_name);
            }
            continue;
        }
        if is_name_start(next) || grammar.name_characters.contains(next) {
            take_word(scanner, grammar, &mut state, &mut after);
            continue;
        }
        after = None;
        take_sign(scanner, grammar, next, &mut modes, &mut state);
    }
}

fn take_comment(scanner: &mut Scanner<'_>, grammar: &Grammar) -> bool {
    // Comments over lines first: in some languages they begin as the others do.
    if let Some((open, close)) = grammar.block_comments.iter().find(|(open, _)| scanner.starts_with(open)) {
        scanner.take_text(open, "cm");
        scanner.take_through(close, "cm");
        return true;
    }
    if let Some((_, class)) = grammar.line_comments.iter().find(|(open, _)| scanner.starts_with(open)) {
        scanner.take_line(class);
        return true;
    }
    false
}

fn take_word(
    scanner: &mut Scanner<'_>,
    grammar: &Grammar,
    state: &mut State,
    after: &mut Option<&'static str>,
) {
    let word = scanner.ahead(|c| is_name(c) || grammar.name_characters.contains(c));
    let known = if grammar.any_case {
        class_of(grammar.words, &word.to_ascii_lowercase())
    } else {
        class_of(grammar.words, word)
    };
    let is_member = !grammar.member.is_empty() && matches!(scanner.before(), Some('.' | '>'));
    let class = match (after.take(), known) {
        (_, Some(known)) if !is_member => known,
        (Some(declared), _) => declared,
        _ if is_member => grammar.member,
        _ => grammar.name,
    };
    scanner.take(word.len(), class);
    *after = class_of_next(grammar, word);
    // After words such as `return` a value comes; after names, an operator.
    state.wants_value = known.is_some_and(|class| matches!(class, "k" | "kr" | "ow"));
    state.follows_word = true;
}

fn class_of_next(grammar: &Grammar, word: &str) -> Option<&'static str> {
    grammar.after.iter().find(|(before, _)| *before == word).map(|(_, class)| *class)
}

fn take_sign(
    scanner: &mut Scanner<'_>,
    grammar: &Grammar,
    next: char,
    modes: &mut Vec<Mode>,
    state: &mut State,
) {
    match next {
        '{' => state.depth += 1,
        '}' => state.depth = state.depth.saturating_sub(1),
        _ => {}
    }
    state.wants_value = !matches!(next, ')' | ']' | '}');
    state.follows_word &= matches!(next, '*' | '&' | '<' | '>' | '[' | ']' | '.');
    if let Some(Mode::Code { close, nesting }) = modes.last_mut() {
        if next == *close && *nesting == 0 {
            scanner.take_char("si");
            modes.pop();
            return;
        }
        match next {
            '{' => *nesting += 1,
            '}' => *nesting = nesting.saturating_sub(1),
            _ => {}
        }
    }
    if let Some((text, class)) = grammar.signs.iter().find(|(text, _)| scanner.starts_with(text)) {
        scanner.take(text.len(), class);
    } else if grammar.operators.contains(next) {
        scanner.take_char("o");
    } else if grammar.punctuation.contains(next) {
        scanner.take_char("p");
    } else {
        scanner.take_char("err");
    }
}

/// Takes a string up to its end or to code inside, which is answered.
fn scan_string(scanner: &mut Scanner<'_>, quote: &'static Quote) -> Option<Mode> {
    while let Some(next) = scanner.peek() {
        if scanner.take_text(quote.close, quote.class) {
            // A doubled mark is the mark itself.
            if quote.escape == DOUBLED && scanner.take_text(quote.close, quote.class) {
                continue;
            }
            return None;
        }
        if next == '\n' && !quote.multiline {
            return None;
        }
        if next == '\\' && !quote.escape.is_empty() && quote.escape != DOUBLED {
            take_escape(scanner, quote);
            continue;
        }
        if let Some((open, close)) = quote.code
            && scanner.take_text(open, "si")
        {
            return Some(Mode::Code { close, nesting: 0 });
        }
        if quote.variables && next == '$' && take_variable(scanner) {
            continue;
        }
        scanner.take_char(quote.class);
    }
    None
}

/// In place of a class of escapes: there are none, but a doubled mark.
pub const DOUBLED: &str = "doubled";

fn take_escape(scanner: &mut Scanner<'_>, quote: &Quote) {
    let class = if quote.escape == "se" && is_escape(&scanner.rest()[1..]) { "se" } else { quote.class };
    scanner.take_char(class);
    match (class, scanner.peek()) {
        ("se", Some('x')) => {
            scanner.take_char(class);
            for _ in 0..2 {
                if scanner.peek().is_some_and(|c| c.is_ascii_hexdigit()) {
                    scanner.take_char(class);
                }
            }
        }
        (_, Some('\n')) if !quote.multiline => {}
        (_, Some(_)) => scanner.take_char(class),
        (_, None) => {}
    }
}

/// True if a text after a backslash is a common escape.
fn is_escape(text: &str) -> bool {
    text.starts_with(['n', 't', 'r', '0', '\\', '"', '\'', 'a', 'b', 'f', 'v', 'e', 'x', '\n', '$'])
}

/// `$name` inside a string.
fn take_variable(scanner: &mut Scanner<'_>) -> bool {
    if !scanner.rest()[1..].starts_with(is_name_start) {
        return false;
    }
    scanner.take_char("si");
    scanner.take_name("si");
    true
}

/// Nothing is special.
pub fn nothing(_scanner: &mut Scanner<'_>, _state: &State) -> bool {
    false
}

/// True if a name is followed by an opening parenthesis.
pub fn is_called(scanner: &Scanner<'_>, name: &str) -> bool {
    scanner.rest()[name.len()..].trim_start_matches(is_blank).starts_with('(')
}
