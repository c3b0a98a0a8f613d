//! Python.

use super::numbers::{self, Numbers};
use super::scanner::{Scanner, class_of, is_blank, is_name, is_name_start};

const WORDS: &[(&str, &str)] = &[
    (
        "k",
        "assert async await break continue del elif else except finally for global if lambda pass raise nonlocal \
         return try while yield as with def class",
    ),
    ("kn", "import from"),
    ("kc", "True False None"),
    ("ow", "in is and or not"),
];

/// Names that are the language's own, unless they stand after a point.
const BUILTINS: &[(&str, &str)] = &[
    ("bp", "self Ellipsis NotImplemented cls"),
    (
        "nb",
        "__import__ abs aiter all any bin bool bytearray breakpoint bytes callable chr classmethod compile complex \
         delattr dict dir divmod enumerate eval filter float format frozenset getattr globals hasattr hash hex id \
         input int isinstance issubclass iter len list locals map max memoryview min next object oct open ord pow \
         print property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type \
         vars zip",
    ),
    (
        "ne",
        "ArithmeticError AssertionError AttributeError BaseException BufferError BytesWarning DeprecationWarning \
         EOFError EnvironmentError Exception FloatingPointError FutureWarning GeneratorExit IOError ImportError \
         ImportWarning IndentationError IndexError KeyError KeyboardInterrupt LookupError MemoryError NameError \
         NotImplementedError OSError OverflowError PendingDeprecationWarning ReferenceError ResourceWarning \
         RuntimeError RuntimeWarning StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError \
         TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError \
         UnicodeWarning UserWarning ValueError VMSError Warning WindowsError ZeroDivisionError BlockingIOError \
         ChildProcessError ConnectionError BrokenPipeError ConnectionAbortedError ConnectionRefusedError \
         ConnectionResetError FileExistsError FileNotFoundError InterruptedError IsADirectoryError \
         NotADirectoryError PermissionError ProcessLookupError TimeoutError StopAsyncIteration \
         ModuleNotFoundError RecursionError EncodingWarning",
    ),
];

/// Names with two underscores on both sides that functions have, and that variables have.
const MAGIC: &[(&str, &str)] = &[
    (
        "fm",
        "abs add aenter aexit aiter and anext await bool bytes call complex contains del delattr delete delitem dir \
         divmod enter eq exit float floordiv format ge get getattr getattribute getitem gt hash iadd iand \
         ifloordiv ilshift imatmul imod imul index init instancecheck int invert ior ipow irshift isub iter itruediv \
         ixor le len length_hint lshift lt matmul missing mod mul ne neg new next or pos pow prepare radd rand \
         rdivmod repr reversed rfloordiv rlshift rmatmul rmod rmul ror round rpow rrshift rshift rsub rtruediv rxor \
         set setattr setitem str sub subclasscheck truediv xor",
    ),
    (
        "vm",
        "annotations bases class closure code defaults dict doc file func globals kwdefaults module mro name objclass \
         qualname self slots weakref",
    ),
];

const NUMBERS: Numbers =
    Numbers { integer: "mi", suffixes: "", suffix_class: "", separator: '_', signed: false };

/// A string that is open.
#[derive(Clone, Copy)]
struct Text {
    class: &'static str,
    close: &'static str,
    is_raw: bool,
    is_bytes: bool,
    /// True if it has code in braces.
    is_formatted: bool,
}

enum Mode {
    /// Code in braces in a string; how many brackets are open inside.
    Code {
        nesting: usize,
    },
    Text(Text),
    /// The format after the colon of code in braces.
    Format(Text),
}

/// Splits code into tokens.
pub fn scan(scanner: &mut Scanner<'_>) {
    let mut modes: Vec<Mode> = Vec::new();
    while let Some(next) = scanner.peek() {
        match modes.last_mut() {
            Some(Mode::Text(text)) => {
                let text = *text;
                scan_text(scanner, text, &mut modes);
            }
            Some(Mode::Format(text)) => {
                let text = *text;
                scan_format(scanner, text, &mut modes);
            }
            Some(Mode::Code { nesting }) => {
                if *nesting == 0 && take_end_of_code(scanner, &mut modes) {
                    continue;
                }
                if let Some(Mode::Code { nesting }) = modes.last_mut() {
                    match next {
                        '(' | '[' | '{' => *nesting += 1,
                        ')' | ']' | '}' => *nesting = nesting.saturating_sub(1),
                        _ => {}
                    }
                }
                scan_code(scanner, next, &mut modes);
            }
            None => scan_code(scanner, next, &mut modes),
        }
    }
}

/// `!r`, `:` and `}` behind the code in braces.
fn take_end_of_code(scanner: &mut Scanner<'_>, modes: &mut Vec<Mode>) -> bool {
    let rest = scanner.rest();
    let sign = rest.strip_prefix('=').map_or(rest, |rest| rest.trim_start_matches(is_blank));
    let sign = ["!r", "!s", "!a"].iter().find_map(|conversion| sign.strip_prefix(conversion)).unwrap_or(sign);
    if !sign.starts_with(['}', ':']) {
        return false;
    }
    let is_end = sign.starts_with('}');
    scanner.take(rest.len() - sign.len() + 1, "si");
    modes.pop();
    if !is_end && let Some(Mode::Text(text) | Mode::Format(text)) = modes.last() {
        let text = *text;
        modes.push(Mode::Format(text));
    }
    true
}

fn scan_format(scanner: &mut Scanner<'_>, text: Text, modes: &mut Vec<Mode>) {
    while let Some(next) = scanner.peek() {
        if scanner.starts_with(text.close) || next == '\n' {
            modes.pop();
            return;
        }
        if scanner.take_text("}", "si") {
            modes.pop();
            return;
        }
        if scanner.take_text("{", "si") {
            modes.push(Mode::Code { nesting: 0 });
            return;
        }
        scanner.take_char(text.class);
    }
}

fn scan_text(scanner: &mut Scanner<'_>, text: Text, modes: &mut Vec<Mode>) {
    while let Some(next) = scanner.peek() {
        if scanner.take_text(text.close, text.class) {
            modes.pop();
            return;
        }
        let (length, class) = match next {
            '\n' if text.close.len() == 1 => {
                modes.pop();
                return;
            }
            '\\' => (escape(scanner.rest(), text), "se"),
            '{' if text.is_formatted && !scanner.starts_with("{{") => {
                scanner.take_char("si");
                modes.push(Mode::Code { nesting: 0 });
                return;
            }
            '{' if text.is_formatted => (2, "se"),
            '}' if text.is_formatted && scanner.starts_with("}}") => (2, "se"),
            '%' if !text.is_formatted => (percent_format(scanner.rest()), "si"),
            '{' if !text.is_bytes => (brace_format(scanner.rest()), "si"),
            _ => (0, ""),
        };
        if length == 0 {
            // A plain character.
            scanner.take_char(text.class);
        } else {
            scanner.take(length, class);
        }
    }
}

/// Length of the escape at the start of a text; 0 if there is none.
fn escape(text: &str, of: Text) -> usize {
    let mut characters = text.chars();
    characters.next();
    let Some(next) = characters.next() else { return 0 };
    let quote = of.close.chars().next();
    if next == '\\' || Some(next) == quote || next == '\n' {
        return 2;
    }
    if of.is_raw {
        return 0;
    }
    let after = &text[1 + next.len_utf8()..];
    let digits = |radix: u32, most: usize| after.chars().take(most).take_while(|c| c.is_digit(radix)).count();
    match next {
        'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '"' | '\'' => 2,
        'x' if digits(16, 2) == 2 => 4,
        'u' if !of.is_bytes && digits(16, 4) == 4 => 6,
        'U' if !of.is_bytes && digits(16, 8) == 8 => 10,
        'N' if !of.is_bytes && after.starts_with('{') => {
            let line = &after[..after.floor_char_boundary(100)];
            line.find('}').map_or(0, |end| 2 + end + 1)
        }
        '0'..='7' => 2 + digits(8, 2),
        _ => 0,
    }
}

/// Length of a format such as `%s`; 0 if there is none.
fn percent_format(text: &str) -> usize {
    let mut rest = &text[1..];
    if let Some(named) = rest.strip_prefix('(') {
        let name = named.trim_start_matches(is_name);
        match name.strip_prefix(')') {
            Some(after) if name.len() < named.len() => rest = after,
            _ => return 0,
        }
    }
    rest = rest.trim_start_matches(['-', '#', '0', ' ', '+']);
    rest = skip_count(rest);
    if let Some(precision) = rest.strip_prefix('.') {
        rest = skip_count(precision);
    }
    rest = rest.strip_prefix(['h', 'l', 'L']).unwrap_or(rest);
    match rest.chars().next() {
        Some(kind) if "EFGXcdefgiorsaux%".contains(kind) => text.len() - rest.len() + 1,
        _ => 0,
    }
}

fn skip_count(text: &str) -> &str {
    text.strip_prefix('*').unwrap_or_else(|| text.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Length of a format such as `{}` or `{name}`; 0 if there is none.
fn brace_format(text: &str) -> usize {
    let inside = &text[1..];
    let mut rest = inside.trim_start_matches(|c| is_name(c) || c == '.');
    if let Some(index) = rest.strip_prefix('[') {
        rest = index.trim_start_matches(is_name).strip_prefix(']').unwrap_or(rest);
    }
    rest = ["!r", "!s", "!a"].iter().find_map(|conversion| rest.strip_prefix(conversion)).unwrap_or(rest);
    if let Some(format) = rest.strip_prefix(':') {
        let aligned = format.trim_start_matches(['<', '>', '=', '^', '-', '+', ' ', '#', '0', ',', '.']);
        let digits = aligned.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '.'));
        rest = digits.strip_prefix(|c: char| "EFGXbcdefgnosx%".contains(c)).unwrap_or(digits);
    }
    if rest.starts_with('}') { text.len() - rest.len() + 1 } else { 0 }
}

fn scan_code(scanner: &mut Scanner<'_>, next: char, modes: &mut Vec<Mode>) {
    if scanner.at() == 0 && take_docstring(scanner) {
    } else if next == '\n' {
        scanner.take_while("", |c| c == '\n');
        take_docstring(scanner);
    } else if next.is_whitespace() {
        let class = if modes.is_empty() { "" } else { "w" };
        scanner.take_while(class, |c| c.is_whitespace() && c != '\n');
    } else if scanner.at() == 0 && scanner.starts_with("#!") {
        scanner.take_line("ch");
    } else if next == '#' {
        scanner.take_line("c1");
    } else if let Some(text) = take_opening(scanner) {
        modes.push(Mode::Text(text));
    } else if numbers::take(scanner, NUMBERS) {
    } else if is_name_start(next) {
        take_word(scanner);
    } else if next == '@' && scanner.rest()[1..].starts_with(is_name_start) {
        scanner.take_char("nd");
        scanner.take_name("nd");
    } else if next == '\\' {
        scanner.take_char("");
    } else if scanner.take_text(":=", "o") {
    } else if "!=<>-~+/*%&^|.@".contains(next) {
        scanner.take_char("o");
    } else if "[]{}:(),;".contains(next) {
        scanner.take_char("p");
    } else {
        scanner.take_char("err");
    }
}

/// A string on its own at the beginning of a line.
fn take_docstring(scanner: &mut Scanner<'_>) -> bool {
    let rest = scanner.rest();
    let text = rest.trim_start_matches(is_blank);
    let unprefixed = text.trim_start_matches(['r', 'R', 'u', 'U', 'b', 'B']);
    let prefix = text.len() - unprefixed.len();
    let marks = ["\"\"\"", "'''"];
    let Some(mark) = marks.iter().find(|mark| prefix <= 2 && unprefixed.starts_with(*mark)) else {
        return false;
    };
    if !unprefixed[3..].contains(mark) {
        return false;
    }
    scanner.take(rest.len() - text.len(), "w");
    scanner.take(prefix, "sa");
    scanner.take(3, "sd");
    scanner.take_through(mark, "sd");
    true
}

/// The prefix and the marks that open a string.
fn take_opening(scanner: &mut Scanner<'_>) -> Option<Text> {
    let prefix = scanner.ahead(|c| "rRuUbBfF".contains(c));
    if prefix.len() > 2 {
        return None;
    }
    let marked = &scanner.rest()[prefix.len()..];
    let marks = [("\"\"\"", "s2"), ("'''", "s1"), ("\"", "s2"), ("'", "s1")];
    let (close, class) = marks.into_iter().find(|(mark, _)| marked.starts_with(mark))?;
    scanner.take(prefix.len(), "sa");
    scanner.take(close.len(), class);
    let has = |letter: char| prefix.to_ascii_lowercase().contains(letter);
    Some(Text { class, close, is_raw: has('r'), is_bytes: has('b'), is_formatted: has('f') })
}

/// One keyword of two words.
const YIELD_FROM: &str = "yield from";

fn take_word(scanner: &mut Scanner<'_>) {
    let word = scanner.name_ahead();
    let is_member = scanner.before() == Some('.');
    let is_statement = scanner.is_first_in_line();
    if is_statement && matches!(word, "match" | "case") && is_soft_keyword(&scanner.rest()[word.len()..]) {
        scanner.take(word.len(), "k");
        let line = scanner.ahead(|c| c != '\n');
        if line
            .find('_')
            .is_some_and(|at| !line[at + 1..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        {
            scanner.take_while("w", is_blank);
        }
        return;
    }
    if word == "_" && is_first_wildcard(scanner) {
        scanner.take(1, "k");
        return;
    }
    if scanner.starts_with(YIELD_FROM) && !scanner.rest()[YIELD_FROM.len()..].starts_with(is_name) {
        scanner.take(YIELD_FROM.len(), "k");
        return;
    }
    // Without a following name, it declares nothing.
    let declares = !matches!(word, "def" | "class")
        || scanner.rest()[word.len()..].starts_with(|c: char| c.is_whitespace() || c == '\\');
    if let Some(class) = class_of(WORDS, word).filter(|_| declares) {
        let class = if word == "from" && ends_with_word(scanner, "yield") { "k" } else { class };
        scanner.take(word.len(), class);
        match word {
            "def" => take_declared(scanner, "nf"),
            "class" => take_declared(scanner, "nc"),
            "import" if is_statement => take_imported(scanner),
            "from" if class == "kn" => take_source(scanner),
            _ => {}
        }
        return;
    }
    let builtin = if is_member { None } else { class_of(BUILTINS, word) };
    let class = builtin.or_else(|| magic(word)).unwrap_or("n");
    scanner.take(word.len(), class);
}

/// True if `match` or `case` is a keyword, judged by the following text.
fn is_soft_keyword(after: &str) -> bool {
    let rest = after.trim_start_matches(is_blank);
    after.starts_with(is_blank)
        && !rest.is_empty()
        && !rest.starts_with([':', ',', ';', '=', '^', '&', '|', '@', '~', ')', ']', '}', '\n'])
}

/// True if a `_` here is the first in a line that begins with `match` or `case`.
fn is_first_wildcard(scanner: &Scanner<'_>) -> bool {
    let before = scanner.text_before();
    // Only as far back as the one before.
    let start = before.rfind(['_', '\n']).unwrap_or(0);
    let line = before[start..].trim_start_matches(['\n', ' ', '\t']);
    ["match", "case"]
        .iter()
        .any(|word| line.strip_prefix(word).is_some_and(|after| after.starts_with(is_blank)))
}

/// True if this is the preceding word.
fn ends_with_word(scanner: &Scanner<'_>, word: &str) -> bool {
    scanner.text_before().trim_end_matches(is_blank).ends_with(word)
}

fn magic(word: &str) -> Option<&'static str> {
    let inner = word.strip_prefix("__")?.strip_suffix("__")?;
    class_of(MAGIC, inner)
}

/// The name of a function or class.
fn take_declared(scanner: &mut Scanner<'_>, class: &'static str) {
    scanner.take_blanks("w");
    let name = scanner.name_ahead();
    let class = if class == "nf" { magic(name).unwrap_or(class) } else { class };
    scanner.take(name.len(), class);
}

/// The part after `import`: modules, and their aliases.
fn take_imported(scanner: &mut Scanner<'_>) {
    loop {
        scanner.take_blanks("w");
        let name = scanner.ahead(|c| is_name(c) || c == '.');
        if name.is_empty() {
            return;
        }
        scanner.take(name.len(), "nn");
        let rest = scanner.rest();
        let next = rest.trim_start_matches(is_blank);
        if next.len() < rest.len() && next.starts_with("as") && next[2..].starts_with(is_blank) {
            scanner.take_blanks("w");
            scanner.take(2, "k");
        } else if next.starts_with(',') {
            scanner.take_blanks("w");
            scanner.take_char("o");
        } else {
            return;
        }
    }
}

/// The part after `from`: a module, and `import`.
fn take_source(scanner: &mut Scanner<'_>) {
    scanner.take_blanks("w");
    if scanner.name_ahead() == "None" {
        scanner.take(4, "kc");
        return;
    }
    scanner.take_while("nn", |c| is_name(c) || c == '.');
    let next = scanner.rest().trim_start_matches(is_blank);
    if next.starts_with("import") && !next[6..].starts_with(is_name) {
        scanner.take_blanks("w");
        scanner.take(6, "kn");
    }
}
