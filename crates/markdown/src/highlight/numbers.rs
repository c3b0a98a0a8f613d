//! Numbers, as most languages write them.

use super::scanner::Scanner;

/// Kinds of numbers that a language distinguishes.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// The class of whole decimal numbers.
    pub integer: &'static str,
    /// Letters that may follow a number and belong to it.
    pub suffixes: &'static str,
    /// The class of a suffix that is a token of its own; empty: it belongs to the number.
    pub suffix_class: &'static str,
    /// Separator of digits.
    pub separator: char,
    /// True if a minus sign is part of the number.
    pub signed: bool,
}

impl Numbers {
    /// Decimal numbers as in C.
    pub const C: Self =
        Self { integer: "mi", suffixes: "uUlLfF", suffix_class: "", separator: '\'', signed: true };
}

/// Takes a number, if one is next.
pub fn take(scanner: &mut Scanner<'_>, numbers: Numbers) -> bool {
    let rest = scanner.rest();
    let sign = usize::from(numbers.signed && rest.starts_with('-'));
    let unsigned = &rest[sign..];
    let starts = |c: char| unsigned.starts_with(c);
    let point_first = starts('.') && unsigned[1..].starts_with(|c: char| c.is_ascii_digit());
    if !unsigned.starts_with(|c: char| c.is_ascii_digit()) && !point_first {
        return false;
    }
    let (mut length, class) = match prefixed(unsigned, numbers) {
        Some(found) => found,
        None => decimal(unsigned, numbers),
    };
    let suffix = &unsigned[length..];
    let suffix = &suffix[..suffix.find(|c: char| !numbers.suffixes.contains(c)).unwrap_or(suffix.len())];
    if numbers.suffix_class.is_empty() {
        length += suffix.len();
    }
    scanner.take(sign + length, class);
    true
}

/// Hexadecimal, octal and binary numbers.
fn prefixed(text: &str, numbers: Numbers) -> Option<(usize, &'static str)> {
    let mut characters = text.chars();
    if characters.next() != Some('0') {
        return None;
    }
    let (radix, class) = match characters.next()? {
        'x' | 'X' => (16, "mh"),
        'o' | 'O' => (8, "mo"),
        'b' | 'B' => (2, "mb"),
        _ => return None,
    };
    let digits = digits(&text[2..], radix, numbers.separator);
    (digits > 0).then_some((2 + digits, class))
}

fn decimal(text: &str, numbers: Numbers) -> (usize, &'static str) {
    let mut length = digits(text, 10, numbers.separator);
    let mut class = numbers.integer;
    if text[length..].starts_with('.') {
        let fraction = digits(&text[length + 1..], 10, numbers.separator);
        // `1..2` is a range, and `1.method` a call.
        let follows = text[length + 1..].chars().next();
        if fraction > 0 || !follows.is_some_and(|c| c == '.' || super::scanner::is_name_start(c)) {
            length += 1 + fraction;
            class = "mf";
        }
    }
    let exponent = &text[length..];
    if exponent.starts_with(['e', 'E']) {
        let sign = usize::from(exponent[1..].starts_with(['+', '-']));
        let digits = digits(&exponent[1 + sign..], 10, numbers.separator);
        if digits > 0 {
            length += 1 + sign + digits;
            class = "mf";
        }
    }
    (length, class)
}

/// Number of bytes of digits at the start; separators only between digits.
fn digits(text: &str, radix: u32, separator: char) -> usize {
    let mut end = 0;
    for (index, character) in text.char_indices() {
        if character.is_digit(radix) {
            end = index + 1;
        } else if character != separator || end != index || index == 0 {
            break;
        }
    }
    end
}
