//! Shell scripts, and sessions at a prompt.

use super::scanner::{Scanner, class_of, is_blank, is_name};

const WORDS: &[(&str, &str)] = &[
    ("k", "if fi else while in do done for then return function case select break continue until esac elif"),
    (
        "nb",
        "alias bg bind builtin caller cd command compgen complete declare dirs disown echo enable eval exec exit export \
         false fc fg getopts hash help history jobs kill let local logout popd printf pushd pwd read readonly set \
         shift shopt source suspend test time times trap true type typeset ulimit umask unalias unset wait",
    ),
];

/// Texts between `<<END` and `END` that are looked for: the end of each is sought in all that follows.
const MAX_DOCUMENTS: usize = 20;

enum Mode {
    /// A string in double quotes.
    Text,
    /// `${...}`.
    Variable,
    /// `$(...)`; how many parentheses are open inside.
    Command { nesting: usize },
    /// `$((...))`.
    Arithmetic { nesting: usize },
    /// Between backquotes.
    Backquotes,
}

/// A script.
pub fn bash(scanner: &mut Scanner<'_>) {
    scan(scanner, false);
}

/// A session: lines with a prompt are scripts, the others are output.
pub fn session(scanner: &mut Scanner<'_>) {
    let mut continues = false;
    while !scanner.is_at_end() {
        let line = scanner.ahead(|c| c != '\n');
        match prompt(line, continues) {
            Some(length) => {
                scanner.take(length, "gp");
                continues = line.ends_with('\\');
                scan(scanner, true);
            }
            None => {
                scanner.take_line("go");
                continues = false;
            }
        }
        scanner.take_text("\n", "");
    }
}

/// Length of the prompt at the start of a line.
fn prompt(line: &str, continues: bool) -> Option<usize> {
    if continues && line.starts_with("> ") {
        return Some(2);
    }
    let end = line.find(['$', '#', '%'])?;
    let before = &line[..end];
    let is_prompt = before.is_empty()
        || before.starts_with('[') && before.ends_with(']')
        || before.contains(['@', ':']) && !before.trim_end().contains(' ');
    let spaces = line[end + 1..].len() - line[end + 1..].trim_start_matches(' ').len();
    is_prompt.then_some(end + 1 + spaces)
}

/// Splits a script, or its first line, into tokens.
fn scan(scanner: &mut Scanner<'_>, one_line: bool) {
    let mut modes: Vec<Mode> = Vec::new();
    let mut documents = MAX_DOCUMENTS;
    while let Some(next) = scanner.peek() {
        if next == '\n' && one_line {
            return;
        }
        if next == '<' && !one_line && documents > 0 && scanner.starts_with("<<") {
            documents -= 1;
            if !matches!(modes.last(), Some(Mode::Text)) && take_document(scanner) {
                continue;
            }
        }
        match modes.last_mut() {
            Some(Mode::Text) => match next {
                '"' => {
                    scanner.take_char("s2");
                    modes.pop();
                }
                '\\' => scanner.take(2, "s2"),
                '$' if take_expansion(scanner, &mut modes) => {}
                '`' => toggle_backquotes(scanner, &mut modes),
                _ => scanner.take_char("s2"),
            },
            Some(Mode::Variable) => {
                if next == '}' {
                    scanner.take_char("si");
                    modes.pop();
                } else if is_name(next) {
                    scanner.take_while("nv", is_name);
                } else if "\"'`$\\".contains(next) {
                    take_code(scanner, next, &mut modes);
                } else if !scanner.take_text(":-", "k") {
                    scanner.take_char("p");
                    scanner.take_while("p", |c| !"}:\"'`$\\".contains(c));
                }
            }
            Some(Mode::Arithmetic { nesting }) => match next {
                ')' if *nesting == 0 => {
                    scanner.take(2, "k");
                    modes.pop();
                }
                '(' | ')' => {
                    *nesting = if next == '(' { *nesting + 1 } else { *nesting - 1 };
                    scanner.take_char("p");
                }
                _ if next.is_ascii_digit() => {
                    scanner.take_while("m", |c| c.is_ascii_digit());
                }
                _ if "+-*/%^|&!=<>".contains(next) => scanner.take_char("o"),
                _ if is_name(next) => {
                    scanner.take_while("nv", is_name);
                }
                _ => take_code(scanner, next, &mut modes),
            },
            Some(Mode::Command { nesting }) if next == ')' => {
                if *nesting == 0 {
                    scanner.take_char("k");
                    modes.pop();
                } else {
                    *nesting -= 1;
                    scanner.take_char("o");
                }
            }
            Some(Mode::Command { nesting }) if next == '(' => {
                *nesting += 1;
                scanner.take_char("o");
            }
            _ => take_code(scanner, next, &mut modes),
        }
    }
}

/// `<<END` and all through that word.
fn take_document(scanner: &mut Scanner<'_>) -> bool {
    let rest = scanner.rest();
    let word = rest[2..].strip_prefix('-').unwrap_or(&rest[2..]).trim_start_matches(is_blank);
    let word = word.trim_start_matches(['\'', '"', '\\']);
    let start = rest.len() - word.len();
    let word = &word[..word.find(|c| !is_name(c)).unwrap_or(word.len())];
    let behind = start + word.len();
    match rest[behind..].find(word) {
        Some(end) if !word.is_empty() => {
            scanner.take(behind + end + word.len(), "s");
            true
        }
        _ => false,
    }
}

fn toggle_backquotes(scanner: &mut Scanner<'_>, modes: &mut Vec<Mode>) {
    scanner.take_char("sb");
    if modes.iter().any(|mode| matches!(mode, Mode::Backquotes)) {
        while !matches!(modes.pop(), Some(Mode::Backquotes) | None) {}
    } else {
        modes.push(Mode::Backquotes);
    }
}

/// An expansion after a dollar sign.
fn take_expansion(scanner: &mut Scanner<'_>, modes: &mut Vec<Mode>) -> bool {
    if scanner.take_text("$((", "k") {
        modes.push(Mode::Arithmetic { nesting: 0 });
    } else if scanner.take_text("$(", "k") {
        modes.push(Mode::Command { nesting: 0 });
    } else if scanner.take_text("${", "si") {
        scanner.take_text("#", "k");
        modes.push(Mode::Variable);
    } else {
        let name = &scanner.rest()[1..];
        let length = match name.chars().next() {
            Some('#' | '$' | '?' | '!' | '_' | '*' | '@' | '-') => 1,
            Some(first) if first.is_ascii_digit() => 1,
            _ => name.find(|c| !is_name(c)).unwrap_or(name.len()),
        };
        if length == 0 {
            return false;
        }
        scanner.take(1 + length, "nv");
    }
    true
}

fn take_code(scanner: &mut Scanner<'_>, next: char, modes: &mut Vec<Mode>) {
    match next {
        _ if next.is_whitespace() => {
            scanner.take_while("w", |c| c.is_whitespace() && c != '\n');
            scanner.take_text("\n", "");
        }
        '#' if scanner.at() == 0 && scanner.starts_with("#!") => scanner.take_line("ch"),
        '#' if scanner.before().is_none_or(char::is_whitespace) => scanner.take_line("c1"),
        '\'' => {
            scanner.take_char("s1");
            scanner.take_through("'", "s1");
        }
        '"' => {
            scanner.take_char("s2");
            modes.push(Mode::Text);
        }
        '`' => toggle_backquotes(scanner, modes),
        '$' if take_expansion(scanner, modes) => {}
        '\\' => {
            scanner.take_char("se");
            if scanner.peek() != Some('\n') {
                scanner.take_char("se");
            }
        }
        '&' if scanner.take_text("&&", "o") => {}
        '|' if scanner.take_text("||", "o") => {}
        ';' | '|' | '&' => scanner.take_char("p"),
        '[' | ']' | '{' | '}' | '(' | ')' | '=' => scanner.take_char("o"),
        '<' | '>' => scanner.take_char(""),
        _ => take_word(scanner),
    }
}

fn take_word(scanner: &mut Scanner<'_>) {
    let is_word = |c: char| !c.is_whitespace() && !"=\"'`$()[]{};|&<>\\".contains(c);
    let word = scanner.ahead(is_word);
    let after = scanner.rest()[word.len()..].chars().next();
    let stands_alone = after.is_none_or(|c| c.is_whitespace() || matches!(c, ')' | ';' | '`' | '|' | '&'));
    let begins = scanner.before().is_none_or(|c| is_blank(c) || "\n();|&`{".contains(c));
    if word.is_empty() {
        scanner.take_char("");
    } else if after == Some('=') && word.chars().all(is_name) && begins {
        scanner.take(word.len(), "nv");
    } else if word.bytes().all(|byte| byte.is_ascii_digit()) {
        scanner.take(word.len(), "m");
    } else {
        let class = if stands_alone && begins { class_of(WORDS, word) } else { None };
        scanner.take(word.len(), class.unwrap_or(""));
    }
}
