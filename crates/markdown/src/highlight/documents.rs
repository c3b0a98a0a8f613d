//! Texts that are set: TeX and Markdown.

use super::scanner::{Scanner, is_blank, is_name};

/// TeX and LaTeX.
pub fn tex(scanner: &mut Scanner<'_>) {
    // End of the open formula, and its class.
    let mut formula: Option<(&'static str, &'static str)> = None;
    while let Some(next) = scanner.peek() {
        if let Some((end, class)) = formula {
            if scanner.take_text(end, class) {
                formula = None;
            } else {
                take_formula(scanner, next);
            }
            continue;
        }
        match next {
            '%' => scanner.take_line("c"),
            '\\' if scanner.take_text("\\[", "sb") => formula = Some(("\\]", "s")),
            '\\' if scanner.take_text("\\(", "s") => formula = Some(("\\)", "s")),
            '$' if scanner.take_text("$$", "sb") => formula = Some(("$$", "s")),
            '$' => {
                scanner.take_char("s");
                formula = Some(("$", "s"));
            }
            '\\' => take_command(scanner),
            '{' | '}' | '&' | '_' | '^' => scanner.take_char("nb"),
            _ => {
                scanner.take_while("", |c| !"%\\${}&_^".contains(c));
            }
        }
    }
}

/// A command and its arguments in brackets.
fn take_command(scanner: &mut Scanner<'_>) {
    scanner.take_char("k");
    let is_letter = |c: char| c.is_ascii_alphabetic() || matches!(c, '@' | '_' | ':');
    if scanner.take_while("k", is_letter).is_empty() {
        if scanner.peek() != Some('\n') {
            scanner.take_char("k");
        }
        return;
    }
    scanner.take_text("*", "k");
    let spaces = scanner.ahead(char::is_whitespace).len();
    if scanner.rest()[spaces..].starts_with('[') {
        scanner.take(spaces, "");
        let attribute = scanner.ahead(|c| c != ']' && c != '\n').len();
        scanner.take(attribute + usize::from(scanner.rest()[attribute..].starts_with(']')), "na");
    }
}

fn take_formula(scanner: &mut Scanner<'_>, next: char) {
    match next {
        '%' => scanner.take_line("c"),
        '\\' => {
            scanner.take_char("nv");
            if scanner.take_while("nv", |c| c.is_ascii_alphabetic()).is_empty() {
                scanner.take_char("nv");
            }
        }
        '-' | '=' | '!' | '+' | '*' | '/' | '(' | ')' | '[' | ']' | '<' | '>' => scanner.take_char("o"),
        _ if next.is_ascii_digit() => {
            scanner.take_while("m", |c| c.is_ascii_digit());
        }
        _ => scanner.take_char("nb"),
    }
}

/// Markdown. Code inside stays as it is.
pub fn markdown(scanner: &mut Scanner<'_>) {
    let mut fence: Option<&str> = None;
    while !scanner.is_at_end() {
        let line = scanner.ahead(|c| c != '\n');
        let marks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            Some(open) if line.trim_end() == open => {
                scanner.take_line("sb");
                fence = None;
            }
            Some(_) => scanner.take_line(""),
            None if marks.len() >= 3 => {
                scanner.take_line("sb");
                fence = Some(marks);
            }
            None => markdown_line(scanner, line),
        }
        scanner.take_text("\n", "");
    }
}

fn markdown_line(scanner: &mut Scanner<'_>, line: &str) {
    let text = line.trim_start_matches(is_blank);
    let hashes = text.len() - text.trim_start_matches('#').len();
    if hashes > 0 && text[hashes..].starts_with(' ') && text.len() == line.len() {
        scanner.take_line(if hashes == 1 { "gh" } else { "gu" });
        return;
    }
    scanner.take_blanks("w");
    if let Some(quoted) = text.strip_prefix('>') {
        let space = usize::from(quoted.starts_with(' '));
        scanner.take(1 + space, "k");
        scanner.take_line("ge");
        return;
    }
    take_marker(scanner, text);
    markdown_text(scanner);
}

/// The mark of a list's item, with its box.
fn take_marker(scanner: &mut Scanner<'_>, text: &str) {
    let boxes = ["- [ ]", "- [x]", "* [ ]", "* [x]"];
    let number = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if boxes.iter().any(|mark| text.starts_with(mark)) {
        scanner.take(5, "k");
    } else if text.starts_with(['*', '-']) && text[1..].starts_with(' ') {
        scanner.take_char("k");
        scanner.take_blanks("w");
    } else if number > 0 && text[number..].starts_with(". ") {
        scanner.take(number + 1, "k");
    }
}

fn markdown_text(scanner: &mut Scanner<'_>) {
    let end = scanner.at() + scanner.ahead(|c| c != '\n').len();
    while let Some(next) = scanner.peek().filter(|_| scanner.at() < end) {
        let line = &scanner.rest()[..end - scanner.at()];
        let emphasised = |mark: &str| {
            let inner = line.strip_prefix(mark)?;
            let length = inner.find(mark).filter(|length| *length > 0 && !inner.starts_with(' '))?;
            Some(2 * mark.len() + length)
        };
        let spans = [("**", "gs"), ("__", "gs"), ("~~", "gd"), ("`", "sb"), ("*", "ge"), ("_", "ge")];
        let begins_word = !scanner.before().is_some_and(is_name);
        let found = spans.into_iter().find(|(mark, _)| begins_word && line.starts_with(mark));
        match found.and_then(|(mark, class)| Some((emphasised(mark)?, class))) {
            Some((length, class)) => scanner.take(length, class),
            None if next == '[' && take_link(scanner, line) => {}
            None => scanner.take_char(""),
        }
    }
}

/// `[text](address)`.
fn take_link(scanner: &mut Scanner<'_>, line: &str) -> bool {
    let Some(end) = line[1..].find(['[', ']']) else { return false };
    let text = &line[1..=end];
    let Some(after) = line[1 + end..].strip_prefix("](") else { return false };
    let Some((address, _)) = after.split_once(')') else { return false };
    scanner.take_char("");
    scanner.take(text.len(), "nt");
    scanner.take(2, "");
    scanner.take(address.len(), "na");
    scanner.take_char("");
    true
}
