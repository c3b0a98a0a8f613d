//! Colours of code: pieces of source with the short class names that clients' style sheets know (`k` for a keyword, `s2`
//! for a string in double quotes ...).
//!
//! Each language that is used much has a small lexer of its own or a [`programs::Grammar`]; code in others stays as it
//! is. Lexers go forward only and look ahead no further than to the end of what they cut off, so the time is linear in
//! the text, whatever it is.

mod css;
mod data;
mod documents;
mod grammars;
mod markup;
mod more_grammars;
mod numbers;
mod programs;
mod python;
mod scanner;
mod shell;
#[cfg(test)]
mod tests;

use self::scanner::{Scanner, Token};

/// A lexer: cuts off everything that it knows.
type Lexer = fn(&mut Scanner<'_>);

/// The lexers, by the names of languages as they are shown.
const LEXERS: &[(&str, Lexer)] = &[
    ("Bash", shell::bash),
    ("Bash Session", shell::session),
    ("C", grammars::c),
    ("C++", grammars::cpp),
    ("CSS", css::scan),
    ("CSS+PHP", more_grammars::php),
    ("Diff", data::diff),
    ("Go", grammars::go),
    ("HTML", markup::html),
    ("HTML+PHP", more_grammars::php),
    ("JSON", data::json),
    ("Java", grammars::java),
    ("JavaScript", grammars::javascript),
    ("JavaScript+PHP", more_grammars::php),
    ("Markdown", documents::markdown),
    ("MySQL", more_grammars::sql),
    ("PHP", more_grammars::php),
    ("PostgreSQL SQL dialect", more_grammars::sql),
    ("Python", python::scan),
    ("Ruby", more_grammars::ruby),
    ("Rust", grammars::rust),
    ("SCSS", css::scan),
    ("SQL", more_grammars::sql),
    ("TOML", data::toml),
    ("TSX", grammars::typescript),
    ("TeX", documents::tex),
    ("TypeScript", grammars::typescript),
    ("XML", markup::xml),
    ("XML+PHP", more_grammars::php),
    ("YAML", data::yaml),
];

/// The pieces of a text in a language, with their classes; a piece without class has an empty one. No piece but those
/// without class holds a line end. `None` for languages that are not known.
pub fn pieces<'a>(language: &str, code: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let (_, lexer) = LEXERS.iter().find(|(name, _)| *name == language)?;
    let mut scanner = Scanner::new(code);
    lexer(&mut scanner);
    let mut pieces = Vec::new();
    let mut start = 0;
    for Token { class, end } in scanner.finish() {
        push_by_lines(&mut pieces, class, &code[start..end]);
        start = end;
    }
    Some(pieces)
}

/// Classes end with the line and begin again on the next: clients show lines apart.
fn push_by_lines<'a>(pieces: &mut Vec<(&'static str, &'a str)>, class: &'static str, text: &'a str) {
    for line in text.split_inclusive('\n') {
        let (text, end) = match line.strip_suffix('\n') {
            Some(text) => (text, &line[text.len()..]),
            None => (line, ""),
        };
        for (class, piece) in [(class, text), ("", end)] {
            if !piece.is_empty() {
                pieces.push((class, piece));
            }
        }
    }
}
