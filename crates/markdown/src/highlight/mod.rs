//! Syntax highlighting: source code to tokens with the short class names of clients' style sheets (`k` for a keyword, `s2` for
//! a string in double quotes ...).
//!
//! Each common language has a small lexer of its own or a [`programs::Grammar`]; code in others stays plain. Lexers move
//! forward only and look ahead no further than to the end of the token, so the time is linear in the text.

mod configuration;
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
mod script_grammars;
mod shell;
mod table_grammars;
#[cfg(test)]
mod tests;

use self::scanner::{Scanner, Token};

/// A lexer: takes tokens until the end of the text.
type Lexer = fn(&mut Scanner<'_>);

/// The lexers by the full names of languages.
const LEXERS: &[(&str, Lexer)] = &[
    ("Bash", shell::bash),
    ("Bash Session", shell::session),
    ("C", grammars::c),
    ("C#", table_grammars::csharp),
    ("C++", grammars::cpp),
    ("CSS", css::scan),
    ("CSS+PHP", more_grammars::php),
    ("Dart", script_grammars::dart),
    ("Diff", data::diff),
    ("Docker", configuration::docker),
    ("Elixir", script_grammars::elixir),
    ("Fish", shell::bash),
    ("Go", grammars::go),
    ("GraphQL", table_grammars::graphql),
    ("Groovy", script_grammars::groovy),
    ("HTML", markup::html),
    ("HTML+PHP", more_grammars::php),
    ("Haskell", script_grammars::haskell),
    ("INI", configuration::ini),
    ("JSON", data::json),
    ("Java", grammars::java),
    ("JavaScript", grammars::javascript),
    ("JavaScript+PHP", more_grammars::php),
    ("Kotlin", table_grammars::kotlin),
    ("LessCss", css::scan),
    ("Lua", table_grammars::lua),
    ("Makefile", configuration::makefile),
    ("Markdown", documents::markdown),
    ("MySQL", more_grammars::sql),
    ("Nginx configuration file", configuration::nginx),
    ("Nix", table_grammars::nix),
    ("Objective-C", grammars::c),
    ("PHP", more_grammars::php),
    ("Perl", script_grammars::perl),
    ("PostgreSQL SQL dialect", more_grammars::sql),
    ("PowerShell", table_grammars::powershell),
    ("Protocol Buffer", table_grammars::protobuf),
    ("Python", python::scan),
    ("Python 2.x", python::scan),
    ("Ruby", more_grammars::ruby),
    ("Rust", grammars::rust),
    ("S", script_grammars::r),
    ("SCSS", css::scan),
    ("SQL", more_grammars::sql),
    ("Scala", script_grammars::scala),
    ("Swift", table_grammars::swift),
    ("Systemd", configuration::ini),
    ("TOML", data::toml),
    ("TSX", grammars::typescript),
    ("TeX", documents::tex),
    ("Terraform", table_grammars::hcl),
    ("TypeScript", grammars::typescript),
    ("XML", markup::xml),
    ("XML+PHP", more_grammars::php),
    ("YAML", data::yaml),
];

/// Splits code into tokens with their classes, which are empty for plain text. Only tokens without a class contain line ends.
/// `None` for unknown languages.
pub fn tokens<'a>(language: &str, code: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let (_, lexer) = LEXERS.iter().find(|(name, _)| *name == language)?;
    let mut scanner = Scanner::new(code);
    lexer(&mut scanner);
    let mut tokens = Vec::new();
    let mut start = 0;
    for Token { class, end } in scanner.finish() {
        push_by_lines(&mut tokens, class, &code[start..end]);
        start = end;
    }
    Some(tokens)
}

/// Splits a token at line ends: clients show each line by itself.
fn push_by_lines<'a>(tokens: &mut Vec<(&'static str, &'a str)>, class: &'static str, text: &'a str) {
    for line in text.split_inclusive('\n') {
        let (text, end) = match line.strip_suffix('\n') {
            Some(text) => (text, &line[text.len()..]),
            None => (line, ""),
        };
        for (class, token) in [(class, text), ("", end)] {
            if !token.is_empty() {
                tokens.push((class, token));
            }
        }
    }
}
