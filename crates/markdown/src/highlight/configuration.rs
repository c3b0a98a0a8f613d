//! Files by which programs are configured and built: of lines, each with a word in front.

use super::scanner::{Scanner, is_blank, is_name, is_name_start};

/// INI files, and systemd's units: sections, keys and values.
pub fn ini(scanner: &mut Scanner<'_>) {
    while !scanner.is_at_end() {
        scanner.take_blanks("w");
        match scanner.peek() {
            Some('#' | ';') => scanner.take_line("c1"),
            Some('[') => scanner.take_line("k"),
            _ => {
                let line = scanner.ahead(|c| c != '\n');
                if let Some(end) = line.find(['=', ':']) {
                    scanner.take(line[..end].trim_end_matches(is_blank).len(), "na");
                    scanner.take_blanks("w");
                    scanner.take_char("o");
                    scanner.take_blanks("w");
                    scanner.take_line("s");
                } else {
                    // A continued value, or a key without one.
                    scanner.take_line("s");
                }
            }
        }
        scanner.take_text("\n", "");
    }
}

/// `$name`, `${name}` and `$(name)`.
fn take_variable(scanner: &mut Scanner<'_>) -> bool {
    let Some(rest) = scanner.rest().strip_prefix('$') else { return false };
    let length = match rest.chars().next() {
        Some('{') => rest.find(['}', '\n']).filter(|end| rest[*end..].starts_with('}')).map(|end| end + 1),
        Some('(') => rest.find([')', '\n']).filter(|end| rest[*end..].starts_with(')')).map(|end| end + 1),
        Some(first) if is_name_start(first) => Some(rest.find(|c| !is_name(c)).unwrap_or(rest.len())),
        Some('@' | '<' | '^' | '*' | '?' | '$') => Some(1),
        _ => None,
    };
    let Some(length) = length else { return false };
    scanner.take(1 + length, "nv");
    true
}

/// A string within a line, with its variables.
fn take_string(scanner: &mut Scanner<'_>, mark: char, class: &'static str) {
    scanner.take_char(class);
    while let Some(next) = scanner.peek().filter(|next| *next != '\n') {
        if next == '\\' {
            scanner.take_char(class);
            if scanner.peek().is_some_and(|escaped| escaped != '\n') {
                scanner.take_char(class);
            }
        } else if next == mark {
            scanner.take_char(class);
            return;
        } else if mark == '\'' || !take_variable(scanner) {
            scanner.take_char(class);
        }
    }
}

/// The rest of a line of arguments: strings, variables, and words that are plain.
fn take_arguments(scanner: &mut Scanner<'_>) {
    while let Some(next) = scanner.peek().filter(|next| *next != '\n') {
        match next {
            '"' => take_string(scanner, '"', "s2"),
            '\'' => take_string(scanner, '\'', "s1"),
            _ if is_blank(next) => scanner.take_blanks("w"),
            '$' if take_variable(scanner) => {}
            '=' | '&' | '|' | '>' | '<' => scanner.take_char("o"),
            _ => {
                let word = scanner.ahead(|c| !c.is_whitespace() && !"\"'$=&|><".contains(c));
                scanner.take(word.len().max(1), "");
            }
        }
    }
}

/// Dockerfiles: an instruction, and its arguments, which may go over lines.
pub fn docker(scanner: &mut Scanner<'_>) {
    const INSTRUCTIONS: &str = " add arg cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell \
                                stopsignal user volume workdir ";
    let mut goes_on = false;
    while !scanner.is_at_end() {
        scanner.take_blanks("w");
        if scanner.peek() == Some('#') {
            scanner.take_line("c1");
        } else {
            if !goes_on {
                take_instructions(scanner, INSTRUCTIONS);
            }
            take_image_name(scanner);
            take_arguments(scanner);
            goes_on = scanner.text_before().ends_with('\\');
        }
        scanner.take_text("\n", "");
    }
}

/// The instruction of a line. `ONBUILD` is followed by another one.
fn take_instructions(scanner: &mut Scanner<'_>, instructions: &str) {
    loop {
        let word = scanner.name_ahead();
        if word.is_empty() || !instructions.contains(&format!(" {} ", word.to_ascii_lowercase())) {
            break;
        }
        scanner.take(word.len(), "k");
        scanner.take_blanks("w");
        // `ONBUILD` is followed by another instruction, `FROM image AS name` has a word of its own.
        if !word.eq_ignore_ascii_case("onbuild") {
            break;
        }
    }
}

/// `AS` in a line of `FROM`.
fn take_image_name(scanner: &mut Scanner<'_>) {
    let line = scanner.ahead(|c| c != '\n');
    let follows_from =
        scanner.text_before().trim_end_matches(is_blank).to_ascii_lowercase().ends_with("from");
    let found = [" AS ", " as "].iter().find_map(|word| line.find(word));
    if let Some(at) = found.filter(|_| follows_from) {
        scanner.take(at, "");
        scanner.take_blanks("w");
        scanner.take(2, "k");
    }
}

/// Makefiles: variables, targets and their recipes.
pub fn makefile(scanner: &mut Scanner<'_>) {
    const DIRECTIVES: [&str; 14] = [
        "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "include", "-include", "sinclude", "define",
        "endef", "export", "unexport", "override",
    ];
    while !scanner.is_at_end() {
        if scanner.peek() == Some('\t') {
            scanner.take_blanks("w");
            take_arguments(scanner);
            scanner.take_text("\n", "");
            continue;
        }
        scanner.take_blanks("w");
        let line = scanner.ahead(|c| c != '\n');
        let word = line.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
        if line.starts_with('#') {
            scanner.take_line("c1");
        } else if DIRECTIVES.contains(&word) {
            scanner.take(word.len(), "k");
            take_arguments(scanner);
        } else if let Some(end) = assignment(line) {
            scanner.take(line[..end].trim_end_matches(is_blank).len(), "nv");
            scanner.take_blanks("w");
            scanner.take_while("o", |c| ":+?!=".contains(c));
            scanner.take_blanks("w");
            take_arguments(scanner);
        } else if let Some(end) = line.find(':') {
            scanner.take(end, "nf");
            scanner.take_while("o", |c| c == ':');
            take_arguments(scanner);
        } else {
            take_arguments(scanner);
        }
        scanner.take_text("\n", "");
    }
}

/// Position of the sign of an assignment: `=`, `:=`, `::=`, `+=`, `?=` or `!=`.
fn assignment(line: &str) -> Option<usize> {
    let end = line.find('=')?;
    let name = line[..end].trim_end_matches([':', '+', '?', '!']);
    let is_one = !name.trim().is_empty()
        && !name.contains([':', '#', '"'])
        && !name.trim().contains(char::is_whitespace);
    is_one.then_some(name.len())
}

/// The configuration of nginx: directives, and blocks of them.
pub fn nginx(scanner: &mut Scanner<'_>) {
    let mut is_first = true;
    while let Some(next) = scanner.peek() {
        match next {
            '#' => scanner.take_line("c1"),
            '{' | '}' | ';' => {
                scanner.take_char("p");
                is_first = true;
            }
            '"' => take_string(scanner, '"', "s"),
            '\'' => take_string(scanner, '\'', "s"),
            '$' if take_variable(scanner) => {}
            _ if next.is_whitespace() => scanner.take_space(""),
            _ if is_first => {
                scanner.take_while("k", |c| !c.is_whitespace() && !"{};".contains(c));
                is_first = false;
            }
            _ => {
                let word = scanner.ahead(|c| !c.is_whitespace() && !"{};$\"'".contains(c));
                let class = match word {
                    "on" | "off" => "kc",
                    "~" | "~*" | "=" | "^~" | "!~" => "p",
                    word if is_amount(word) => "mi",
                    _ => "",
                };
                scanner.take(word.len().max(1), class);
            }
        }
    }
}

/// A number with or without a unit.
fn is_amount(word: &str) -> bool {
    let digits = word.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G', 's', 'h', 'd', '%']);
    !digits.is_empty() && word.len() - digits.len() <= 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
}
