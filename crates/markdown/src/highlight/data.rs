//! Formats of data: JSON, TOML, YAML, and differences.

use super::numbers::{self, Numbers};
use super::scanner::{Scanner, is_blank, is_name};

const NUMBERS: Numbers =
    Numbers { integer: "mi", suffixes: "", suffix_class: "", separator: '_', signed: true };

/// The length of a string in one line, with its marks.
fn string_length(text: &str) -> usize {
    let Some(mark) = text.chars().next() else { return 0 };
    let mut escaped = false;
    for (index, character) in text.char_indices().skip(1) {
        match character {
            '\n' => return index,
            _ if escaped => escaped = false,
            '\\' if mark == '"' => escaped = true,
            _ if character == mark => return index + 1,
            _ => {}
        }
    }
    text.len()
}

pub fn json(scanner: &mut Scanner<'_>) {
    while let Some(next) = scanner.peek() {
        match next {
            _ if next.is_whitespace() => scanner.take_space("w"),
            '"' => {
                let length = string_length(scanner.rest());
                let is_key = scanner.rest()[length..].trim_start().starts_with(':');
                scanner.take(length, if is_key { "nt" } else { "s2" });
            }
            '{' | '}' | '[' | ']' | ':' | ',' => scanner.take_char("p"),
            '/' if scanner.starts_with("//") => scanner.take_line("c1"),
            '/' if scanner.take_text("/*", "cm") => scanner.take_through("*/", "cm"),
            _ if numbers::take(scanner, NUMBERS) => {}
            _ => {
                let word = scanner.ahead(is_name);
                let class = if matches!(word, "true" | "false" | "null") { "kc" } else { "err" };
                scanner.take(word.len().max(1), class);
            }
        }
    }
}

pub fn toml(scanner: &mut Scanner<'_>) {
    let mut depth = 0_usize;
    let mut is_value = false;
    while let Some(next) = scanner.peek() {
        match next {
            '\n' => {
                scanner.take_char("w");
                is_value = depth > 0;
            }
            _ if next.is_whitespace() => {
                scanner.take_while("w", |c| c.is_whitespace() && c != '\n');
            }
            '#' => scanner.take_line("c1"),
            '[' if !is_value && scanner.is_first_in_line() => {
                let line = scanner.ahead(|c| !matches!(c, '\n' | '#')).trim_end();
                scanner.take(line.len(), "k");
            }
            '=' => {
                scanner.take_char(if depth > 0 { "p" } else { "o" });
                is_value = true;
            }
            '[' | '{' => {
                depth += 1;
                scanner.take_char("p");
            }
            ']' | '}' => {
                depth = depth.saturating_sub(1);
                scanner.take_char("p");
            }
            ',' | '.' if !is_value || next == ',' => scanner.take_char("p"),
            '"' | '\'' => take_toml_string(scanner, next),
            _ if is_value && is_date(scanner.rest()) => {
                scanner.take_while("ld", |c| c.is_ascii_alphanumeric() || "-:+.".contains(c));
            }
            _ if is_value && numbers::take(scanner, NUMBERS) => {}
            _ => {
                let word = scanner.ahead(|c| is_name(c) || c == '-');
                let is_constant = is_value && matches!(word, "true" | "false" | "inf" | "nan");
                scanner.take(word.len().max(1), if is_constant { "kc" } else { "n" });
            }
        }
        if scanner.before() == Some('{') {
            is_value = false;
        }
    }
}

fn take_toml_string(scanner: &mut Scanner<'_>, mark: char) {
    let class = if mark == '"' { "s2" } else { "s1" };
    let triple = if mark == '"' { "\"\"\"" } else { "'''" };
    if scanner.take_text(triple, class) {
        scanner.take_through(triple, class);
    } else {
        scanner.take(string_length(scanner.rest()), class);
    }
}

fn is_date(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    digits(text) == 4 && text[4..].starts_with('-') && digits(&text[5..]) == 2
}

pub fn yaml(scanner: &mut Scanner<'_>) {
    // Indentation of the lines before a block of text.
    let mut block: Option<usize> = None;
    while !scanner.is_at_end() {
        let line = scanner.ahead(|c| c != '\n');
        let indent = line.len() - line.trim_start_matches(' ').len();
        match block {
            Some(outer) if indent > outer || line.trim().is_empty() => {
                scanner.take(indent, "w");
                scanner.take_line("no");
            }
            _ => {
                block = yaml_line(scanner).then_some(indent);
            }
        }
        scanner.take_text("\n", "");
    }
}

/// The marks of YAML's own.
const INDICATOR: &str = "p p-Indicator";

/// One line; answers whether a block of text begins with it.
fn yaml_line(scanner: &mut Scanner<'_>) -> bool {
    let mut flow = 0_usize;
    let mut begins_block = false;
    scanner.take_while("w", is_blank);
    if scanner.starts_with("---") || scanner.starts_with("...") {
        scanner.take(3, "nn");
    }
    while let Some(next) = scanner.peek().filter(|c| *c != '\n') {
        let rest = scanner.rest();
        match next {
            _ if is_blank(next) => scanner.take_blanks("w"),
            '#' if scanner.before().is_none_or(char::is_whitespace) => scanner.take_line("c1"),
            '-' | '?' if flow == 0 && rest[1..].chars().next().is_none_or(char::is_whitespace) => {
                scanner.take_char(INDICATOR);
            }
            '{' | '[' => {
                flow += 1;
                scanner.take_char(INDICATOR);
            }
            '}' | ']' | ',' if flow > 0 => {
                flow -= usize::from(next != ',');
                scanner.take_char(INDICATOR);
            }
            ':' => {
                // Behind a key that is a text it is a mark like the others.
                let follows_text = scanner.before().is_some_and(|c| matches!(c, '"' | '\''));
                scanner.take_char(if follows_text { INDICATOR } else { "p" });
            }
            '&' => {
                scanner.take_while("nl", |c| !c.is_whitespace());
            }
            '*' => {
                scanner.take_while("nv", |c| !c.is_whitespace() && !",]}".contains(c));
            }
            '!' => {
                scanner.take_while("kt", |c| !c.is_whitespace());
            }
            '|' | '>' if flow == 0 => {
                scanner.take_while(INDICATOR, |c| "|>+-0123456789".contains(c));
                begins_block = true;
            }
            '"' | '\'' => {
                take_words(scanner, string_length(rest), "s");
            }
            _ => take_plain(scanner, flow > 0),
        }
    }
    begins_block
}

/// Takes a string of `length` bytes; its spaces are tokens of their own.
fn take_words(scanner: &mut Scanner<'_>, length: usize, class: &'static str) {
    let end = scanner.at() + length;
    while scanner.at() < end {
        let is_space = scanner.peek().is_some_and(is_blank);
        scanner.take_char(if is_space && class == "s" { "nv" } else { class });
    }
}

/// A text without marks: a key, or a value.
fn take_plain(scanner: &mut Scanner<'_>, in_flow: bool) {
    let rest = scanner.rest();
    let mut end = rest.len();
    let mut before = ' ';
    for (index, character) in rest.char_indices() {
        let follows = || rest[index + 1..].chars().next();
        let is_end = character == '\n'
            || (character == '#' && is_blank(before))
            || (in_flow && ",[]{}".contains(character))
            || (character == ':' && follows().is_none_or(char::is_whitespace));
        if is_end && index > 0 {
            end = index;
            break;
        }
        before = character;
    }
    let is_key = rest[end..].starts_with(':');
    let text = rest[..end].trim_end_matches(is_blank);
    let value = if in_flow { "nv" } else { "l l-Scalar l-Scalar-Plain" };
    scanner.take(text.len().max(1), if is_key { "nt" } else { value });
}

/// Differences between files.
pub fn diff(scanner: &mut Scanner<'_>) {
    while let Some(next) = scanner.peek() {
        match next {
            ' ' => {
                scanner.take_char("w");
                scanner.take_line("");
            }
            '+' => scanner.take_line("gi"),
            '-' => scanner.take_line("gd"),
            '!' => scanner.take_line("gs"),
            '@' => scanner.take_line("gu"),
            '=' => scanner.take_line("gh"),
            _ if scanner.starts_with("index")
                || scanner.starts_with("Index")
                || scanner.starts_with("diff") =>
            {
                scanner.take_line("gh");
            }
            _ => scanner.take_line(""),
        }
        scanner.take_text("\n", "");
    }
}
