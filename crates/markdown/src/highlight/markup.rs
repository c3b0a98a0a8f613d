//! HTML and XML.

use super::scanner::{Scanner, is_name};
use super::{css, grammars};

/// The classes of the tokens of a tag in HTML and XML.
struct Names {
    /// The marks around a tag's name; in XML they are part of it.
    marks: &'static str,
    /// The sign between an attribute's name and value.
    equals: &'static str,
    /// Spaces in tags.
    space: &'static str,
}

const HTML: Names = Names { marks: "p", equals: "o", space: "" };
const XML: Names = Names { marks: "nt", equals: "na", space: "w" };

/// HTML, with the scripts and style sheets in it.
pub fn html(scanner: &mut Scanner<'_>) {
    scan(scanner, &HTML);
}

pub fn xml(scanner: &mut Scanner<'_>) {
    scan(scanner, &XML);
}

fn scan(scanner: &mut Scanner<'_>, names: &Names) {
    while let Some(next) = scanner.peek() {
        if scanner.take_text("<!--", "cm") {
            scanner.take_through("-->", "cm");
        } else if scanner.take_text("<![CDATA[", "cp") {
            scanner.take_through("]]>", "cp");
        } else if scanner.starts_with("<?") || scanner.starts_with("<!") {
            scanner.take_through(">", "cp");
        } else if next == '<' && is_tag(&scanner.rest()[1..]) {
            take_tag(scanner, names);
        } else if next == '&' && reference_length(scanner.rest()) > 0 {
            scanner.take(reference_length(scanner.rest()), "ni");
        } else if next.is_whitespace() {
            scanner.take_space(names.space);
        } else {
            scanner.take_char("");
            // HTML's text includes its spaces; in XML, spaces before a sign are separate tokens.
            scanner
                .take_while("", |c| !matches!(c, '<' | '&' | '\n') && (names.space.is_empty() || c != ' '));
        }
    }
}

fn is_tag(text: &str) -> bool {
    text.strip_prefix('/').unwrap_or(text).starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Length of a character reference such as `&amp;`; 0 if there is none.
fn reference_length(text: &str) -> usize {
    let name = text[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '#').unwrap_or(0);
    if name > 0 && text[1 + name..].starts_with(';') { name + 2 } else { 0 }
}

fn take_tag(scanner: &mut Scanner<'_>, names: &Names) {
    let is_end = scanner.starts_with("</");
    scanner.take(1 + usize::from(is_end), names.marks);
    let is_word = |c: char| is_name(c) || matches!(c, ':' | '-' | '.');
    let name = scanner.take_while("nt", is_word);
    while let Some(next) = scanner.peek() {
        match next {
            '>' => {
                scanner.take_char(names.marks);
                break;
            }
            '/' if scanner.take_text("/>", names.marks) => return,
            '<' => return,
            _ if next.is_whitespace() => scanner.take_space(names.space),
            '=' => {
                scanner.take_char(names.equals);
                scanner.take_blanks("");
                take_value(scanner);
            }
            _ if is_word(next) => {
                scanner.take_while("na", is_word);
            }
            _ => scanner.take_char("err"),
        }
    }
    if is_end || names.marks != HTML.marks {
        return;
    }
    match name.to_ascii_lowercase().as_str() {
        "script" => grammars::javascript_until(scanner, "</script"),
        "style" => css::scan_until(scanner, |scanner| scanner.starts_with("</style")),
        _ => {}
    }
}

fn take_value(scanner: &mut Scanner<'_>) {
    match scanner.peek() {
        Some(mark @ ('"' | '\'')) => {
            scanner.take_char("s");
            scanner.take_through(if mark == '"' { "\"" } else { "'" }, "s");
        }
        _ => {
            scanner.take_while("s", |c| !c.is_whitespace() && c != '>');
        }
    }
}
