//! Style sheets.

use super::numbers::{self, Numbers};
use super::scanner::{Scanner, is_name};

/// Numbers have units, which are tokens of their own.
const NUMBERS: Numbers =
    Numbers { integer: "mi", suffixes: "", suffix_class: "", separator: '\0', signed: true };

/// Splits a style sheet into tokens.
pub fn scan(scanner: &mut Scanner<'_>) {
    scan_until(scanner, |_| false);
}

/// Splits a style sheet into tokens until it ends in its surroundings.
pub fn scan_until(scanner: &mut Scanner<'_>, is_end: impl Fn(&Scanner<'_>) -> bool) {
    // Between braces stand declarations, unless the braces are those of an at-rule.
    let mut braces: Vec<bool> = Vec::new();
    let mut at_rule = false;
    let mut is_value = false;
    while let Some(next) = scanner.peek() {
        if is_end(scanner) {
            return;
        }
        let in_declarations = braces.last().copied().unwrap_or(false);
        match next {
            _ if next.is_whitespace() => scanner.take_space("w"),
            '/' if scanner.take_text("/*", "c") => scanner.take_through("*/", "c"),
            '/' if scanner.starts_with("//") => scanner.take_line("c1"),
            '"' | '\'' => take_string(scanner, next),
            '{' => {
                braces.push(!at_rule);
                at_rule = false;
                is_value = false;
                scanner.take_char("p");
            }
            '}' => {
                braces.pop();
                is_value = false;
                scanner.take_char("p");
            }
            ';' => {
                at_rule = false;
                is_value = false;
                scanner.take_char("p");
            }
            '@' => {
                scanner.take_char("p");
                let word = scanner.take_while("k", is_word);
                at_rule = matches!(word, "media" | "supports" | "document" | "layer" | "container");
            }
            _ if in_declarations && is_value => take_value(scanner, next),
            ':' if in_declarations => {
                scanner.take_char("p");
                is_value = true;
            }
            _ if in_declarations && is_word(next) => {
                let class = if scanner.starts_with("--") { "nv" } else { "k" };
                scanner.take_while(class, is_word);
            }
            _ => take_selector(scanner, next),
        }
    }
}

fn is_word(c: char) -> bool {
    is_name(c) || c == '-'
}

fn take_string(scanner: &mut Scanner<'_>, mark: char) {
    let class = if mark == '"' { "s2" } else { "s1" };
    scanner.take_char(class);
    scanner.take_while(class, |c| c != mark && c != '\n');
    if scanner.peek() == Some(mark) {
        scanner.take_char(class);
    }
}

fn take_selector(scanner: &mut Scanner<'_>, next: char) {
    match next {
        '.' | '#' => {
            scanner.take_char("p");
            scanner.take_while(if next == '.' { "nc" } else { "nn" }, is_word);
        }
        ':' => {
            let marks = if scanner.starts_with("::") { 2 } else { 1 };
            let is_pseudo = scanner.rest()[marks..].starts_with(is_word);
            scanner.take(marks, if is_pseudo { "p" } else { "o" });
            scanner.take_while("nd", is_word);
        }
        _ if is_word(next) => {
            scanner.take_while("nt", is_word);
        }
        _ if "~^*!%&()[]<>|+=@,./?".contains(next) => scanner.take_char("o"),
        _ => scanner.take_char("err"),
    }
}

fn take_value(scanner: &mut Scanner<'_>, next: char) {
    match next {
        '#' => {
            scanner.take_char("mh");
            scanner.take_while("mh", |c| c.is_ascii_hexdigit());
        }
        '!' => {
            scanner.take_char("cp");
            scanner.take_while("cp", is_word);
        }
        _ if scanner.rest()[next.len_utf8()..].starts_with(|c: char| c == '.' || c.is_ascii_digit())
            && next == '-'
            && numbers::take(scanner, NUMBERS) =>
        {
            take_unit(scanner);
        }
        _ if next.is_ascii_digit() || next == '.' => {
            if numbers::take(scanner, NUMBERS) {
                take_unit(scanner);
            } else {
                scanner.take_char("p");
            }
        }
        '-' if scanner.starts_with("--") => {
            scanner.take_while("nv", is_word);
        }
        '*' | '/' | '+' | '-' => scanner.take_char("o"),
        '(' | ')' | ',' | ':' | '%' => scanner.take_char("p"),
        _ if is_word(next) => take_keyword(scanner),
        _ => scanner.take_char("err"),
    }
}

fn take_unit(scanner: &mut Scanner<'_>) {
    if !scanner.take_text("%", "kt") {
        scanner.take_while("kt", |c| c.is_ascii_alphabetic());
    }
}

/// A word of a value: a function, a family of fonts, or a keyword.
fn take_keyword(scanner: &mut Scanner<'_>) {
    let word = scanner.ahead(is_word);
    let is_function = scanner.rest()[word.len()..].starts_with('(');
    let is_own = word.starts_with(|c: char| c.is_uppercase());
    let class = match word {
        "var" if is_function => "nf",
        _ if is_function => "nb",
        _ if is_own => "n",
        _ => "kc",
    };
    scanner.take(word.len(), class);
    if word == "url" && is_function {
        scanner.take_char("p");
        if !scanner.starts_with("\"") && !scanner.starts_with("'") {
            scanner.take_while("sx", |c| c != ')' && c != '\n');
        }
    }
}
