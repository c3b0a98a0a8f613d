//! The tables of C and its descendants.

use super::numbers::Numbers;
use super::programs::{DOUBLED, Grammar, Quote, State, is_called, nothing, scan};
use super::scanner::{Scanner, is_blank, is_name, is_name_start};

/// Shared properties of most of these languages.
pub const COMMON: Grammar = Grammar {
    words: &[],
    any_case: false,
    name: "n",
    name_characters: "",
    after: &[],
    member: "",
    line_comments: &[("//", "c1")],
    block_comments: &[("/*", "*/")],
    quotes: &[],
    numbers: Numbers::C,
    space: "w",
    space_after: "w",
    signs: &[],
    operators: "~!%^&*+=|?:<>/-@",
    punctuation: "()[]{},.;",
    special: nothing,
};

/// JavaScript.
pub fn javascript(scanner: &mut Scanner<'_>) {
    scan(scanner, &JAVASCRIPT);
}

/// JavaScript inside HTML, up to its end there.
pub fn javascript_until(scanner: &mut Scanner<'_>, end: &str) {
    let rest = scanner.rest();
    let script = &rest[..rest.find(end).unwrap_or(rest.len())];
    let mut inner = Scanner::new(script);
    scan(&mut inner, &JAVASCRIPT);
    let mut start = 0;
    for token in inner.finish() {
        scanner.take(token.end - start, token.class);
        start = token.end;
    }
}

const JAVASCRIPT_STRINGS: &[Quote] = &[
    Quote::new("\"", "s2", " "),
    Quote::new("'", "s1", " "),
    Quote::new("`", "sb", "se").multiline().with_code("${", '}'),
];

const JAVASCRIPT_NUMBERS: Numbers =
    Numbers { integer: "mf", suffixes: "n", suffix_class: "", separator: '_', signed: false };

static JAVASCRIPT: Grammar = Grammar {
    words: &[
        ("kd", "var let const class function"),
        ("ow", "typeof instanceof in void delete new"),
        (
            "k",
            "for while do break return continue switch case default if else throw try catch finally yield await async \
             this static import export of debugger super extends with",
        ),
        (
            "kr",
            "abstract boolean byte char double enum final float from goto implements int interface long native package \
             private protected public short synchronized throws transient volatile constructor",
        ),
        ("kc", "true false null NaN Infinity undefined"),
        (
            "nb",
            "Array Boolean Date BigInt Function Math ArrayBuffer Number Object RegExp String Promise Proxy Symbol \
             decodeURI decodeURIComponent encodeURI encodeURIComponent eval isFinite isNaN parseFloat parseInt \
             DataView document window globalThis global Map Set WeakMap WeakSet Intl JSON Reflect Atomics \
             SharedArrayBuffer",
        ),
        (
            "ne",
            "Error EvalError InternalError RangeError ReferenceError SyntaxError TypeError URIError AggregateError",
        ),
    ],
    name: "nx",
    name_characters: "$",
    quotes: JAVASCRIPT_STRINGS,
    numbers: JAVASCRIPT_NUMBERS,
    signs: &[("=>", "p"), ("...", "p")],
    operators: "~!%^&*+=|?:<>/-",
    special: regular_expression,
    ..COMMON
};

/// Maximum distance to the end of a regular expression.
const LONGEST_EXPRESSION: usize = 1000;

/// `/.../` where a value may come, and `#!` at the beginning.
fn regular_expression(scanner: &mut Scanner<'_>, state: &State) -> bool {
    if scanner.at() == 0 && scanner.starts_with("#!") {
        scanner.take_line("ch");
        return true;
    }
    if !state.wants_value || !scanner.starts_with("/") {
        return false;
    }
    let (mut escaped, mut in_class) = (false, false);
    for (index, character) in scanner.rest().char_indices().skip(1).take(LONGEST_EXPRESSION) {
        match character {
            '\n' => return false,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => {
                scanner.take(index + 1, "sr");
                scanner.take_while("sr", |c| c.is_ascii_alphabetic());
                return true;
            }
            _ => {}
        }
    }
    false
}

/// TypeScript.
pub fn typescript(scanner: &mut Scanner<'_>) {
    scan(scanner, &TYPESCRIPT);
}

static TYPESCRIPT: Grammar = Grammar {
    words: &[
        ("kd", "var let const class function interface enum"),
        ("ow", "typeof instanceof in void delete new"),
        (
            "k",
            "for while do break return continue switch case default if else throw try catch finally yield await async \
             this static import export of debugger super extends with implements private protected public readonly \
             keyof override",
        ),
        ("kr", "abstract from constructor declare type as asserts satisfies goto native package"),
        ("kc", "true false null NaN Infinity undefined"),
        ("kt", "string boolean number any never bigint object symbol"),
        (
            "nb",
            "Array Boolean Date BigInt Function Math ArrayBuffer Number Object RegExp String Promise Proxy Symbol \
             decodeURI encodeURI eval isFinite isNaN parseFloat parseInt document window globalThis Map Set WeakMap \
             WeakSet Intl JSON Reflect",
        ),
        ("ne", "Error EvalError RangeError ReferenceError SyntaxError TypeError URIError"),
    ],
    special: decorator_or_expression,
    ..JAVASCRIPT
};

fn decorator_or_expression(scanner: &mut Scanner<'_>, state: &State) -> bool {
    if scanner.starts_with("@") && scanner.rest()[1..].starts_with(is_name_start) {
        scanner.take_char("kd");
        scanner.take_name("kd");
        return true;
    }
    regular_expression(scanner, state)
}

pub fn c(scanner: &mut Scanner<'_>) {
    scan(scanner, &C);
}

/// C++.
pub fn cpp(scanner: &mut Scanner<'_>) {
    scan(scanner, &CPP);
}

const C_STRINGS: &[Quote] = &[Quote::new("\"", "s", "se"), Quote::new("'", "sc", " ")];

const C_TYPES: &str = "int long float short double char unsigned signed void bool _Bool size_t ssize_t off_t wchar_t ptrdiff_t \
     sig_atomic_t fpos_t clock_t time_t va_list jmp_buf FILE DIR div_t ldiv_t mbstate_t int8_t int16_t int32_t int64_t \
     uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t char8_t char16_t char32_t";

static C: Grammar = Grammar {
    words: &[
        ("kt", C_TYPES),
        (
            "k",
            "asm auto break case const continue default do else enum extern for goto if register restricted return \
             sizeof struct static switch typedef volatile while union inline _Static_assert static_assert",
        ),
        ("nb", "true false NULL"),
    ],
    after: &[("struct", "nc"), ("union", "nc"), ("enum", "nc")],
    quotes: C_STRINGS,
    special: c_special,
    ..COMMON
};

static CPP: Grammar = Grammar {
    words: &[
        ("kt", C_TYPES),
        (
            "k",
            "asm auto break case const continue default do else enum extern for goto if register return sizeof struct \
             static switch typedef volatile while union static_assert catch class const_cast delete \
             dynamic_cast explicit export friend mutable namespace new operator private protected public \
             reinterpret_cast restrict static_cast template this throw throws try typeid typename using virtual \
             constexpr nullptr decltype thread_local alignas alignof noexcept override final constinit consteval \
             concept co_await co_return co_yield requires import module and bitand bitor not or xor",
        ),
        ("kr", "inline"),
        ("nb", "true false NULL"),
    ],
    after: &[("struct", "nc"), ("union", "nc"), ("class", "nc"), ("typename", "nc"), ("namespace", "nn")],
    quotes: C_STRINGS,
    special: c_special,
    ..COMMON
};

/// Lines for the preprocessor, labels, and the names of functions where they are declared.
fn c_special(scanner: &mut Scanner<'_>, state: &State) -> bool {
    if scanner.starts_with("#") && scanner.is_first_in_line() {
        take_directive(scanner);
        return true;
    }
    let name = scanner.name_ahead();
    if name.is_empty() || super::scanner::class_of(CPP.words, name).is_some() {
        return false;
    }
    let after = &scanner.rest()[name.len()..];
    let class = if after.starts_with(':') && !after.starts_with("::") && scanner.is_line_start() {
        "nl"
    } else if state.depth == 0 && state.follows_word && is_called(scanner, name) {
        "nf"
    } else {
        return false;
    };
    scanner.take(name.len(), class);
    if class == "nl" {
        scanner.take_char("p");
    }
    true
}

fn take_directive(scanner: &mut Scanner<'_>) {
    scanner.take_char("cp");
    scanner.take_while("cp", is_blank);
    let word = scanner.take_name("cp");
    if word == "include" {
        scanner.take_blanks("w");
        let close = if scanner.starts_with("<") { '>' } else { '"' };
        let file = scanner.ahead(|c| c != '\n');
        scanner.take(file[file.len().min(1)..].find(close).map_or(file.len(), |end| end + 2), "cpf");
        return;
    }
    // A backslash carries a directive over to the next line, and comments are none of it.
    while let Some(next) = scanner.peek() {
        match next {
            '\n' => return,
            '/' if scanner.starts_with("//") => {
                scanner.take_line("c1");
                return;
            }
            '/' if scanner.take_text("/*", "cm") => scanner.take_through("*/", "cm"),
            '\\' => scanner.take(2, "cp"),
            _ => scanner.take_char("cp"),
        }
    }
}

pub fn java(scanner: &mut Scanner<'_>) {
    scan(scanner, &JAVA);
}

static JAVA: Grammar = Grammar {
    words: &[
        (
            "kd",
            "abstract const enum extends final implements native private protected public sealed static strictfp super \
             synchronized throws transient volatile yield class interface record",
        ),
        (
            "k",
            "assert break case catch continue default do else finally for if goto instanceof new return switch this \
             throw try while",
        ),
        ("kt", "boolean byte char double float int long short void"),
        ("kc", "true false null"),
        ("kn", "package import"),
    ],
    after: &[("class", "nc"), ("interface", "nc"), ("record", "nc")],
    space_after: "",
    member: "na",
    quotes: &[Quote::new("\"", "s", " "), Quote::new("'", "sc", " ")],
    numbers: Numbers { suffixes: "lLfFdD", separator: '_', signed: false, ..Numbers::C },
    operators: "~^*!%&[]<>|+=/?-:",
    punctuation: "{}();.,",
    special: java_special,
    ..COMMON
};

/// Packages, annotations, and the names of methods where they are declared.
fn java_special(scanner: &mut Scanner<'_>, state: &State) -> bool {
    if scanner.starts_with("@") && scanner.rest()[1..].starts_with(is_name_start) {
        scanner.take_char("nd");
        scanner.take_while("nd", |c| is_name(c) || c == '.');
        return true;
    }
    let name = scanner.name_ahead();
    if matches!(name, "package" | "import") && scanner.is_first_in_line() {
        scanner.take(name.len(), "kn");
        scanner.take_blanks("w");
        if scanner.take_text("static", "kd") {
            scanner.take_blanks("w");
        }
        scanner.take_while("nn", |c| is_name(c) || matches!(c, '.' | '*'));
        return true;
    }
    let is_declared = !name.is_empty()
        && state.follows_word
        && !state.wants_value
        && scanner.before().is_some_and(is_blank)
        && is_called(scanner, name)
        && super::scanner::class_of(JAVA.words, name).is_none();
    if is_declared {
        scanner.take(name.len(), "nf");
    }
    is_declared
}

pub fn go(scanner: &mut Scanner<'_>) {
    scan(scanner, &GO);
}

static GO: Grammar = Grammar {
    words: &[
        ("kn", "import package"),
        ("kd", "var func struct map chan type interface const"),
        ("k", "break default select case defer go else goto switch fallthrough if range continue for return"),
        ("kc", "true false iota nil"),
        (
            "kt",
            "uint uint8 uint16 uint32 uint64 int int8 int16 int32 int64 float float32 float64 complex64 complex128 byte \
             rune string bool error uintptr any comparable",
        ),
    ],
    name: "nx",
    quotes: &[Quote::new("\"", "s", " "), Quote::new("`", "s", "").multiline(), Quote::new("'", "sc", " ")],
    numbers: Numbers { suffixes: "i", separator: '_', signed: false, ..Numbers::C },
    signs: &[
        ("<<=", "o"),
        (">>=", "o"),
        ("&^=", "o"),
        ("...", "o"),
        ("<<", "o"),
        (">>", "o"),
        ("<=", "o"),
        (">=", "o"),
        ("&^", "o"),
        ("+=", "o"),
        ("-=", "o"),
        ("*=", "o"),
        ("/=", "o"),
        ("%=", "o"),
        ("&=", "o"),
        ("|=", "o"),
        ("==", "o"),
        ("!=", "o"),
        ("&&", "o"),
        ("||", "o"),
        ("<-", "o"),
        ("++", "o"),
        ("--", "o"),
        (":=", "o"),
    ],
    operators: "+-*/%&",
    punctuation: "|^<>=!()[]{}.,;:~",
    special: go_builtin,
    ..COMMON
};

fn go_builtin(scanner: &mut Scanner<'_>, _state: &State) -> bool {
    const BUILTINS: [&str; 18] = [
        "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make", "max", "min",
        "new", "panic", "print", "println", "real", "recover",
    ];
    let name = scanner.name_ahead();
    let is_builtin = BUILTINS.contains(&name)
        && scanner.before() != Some('.')
        && scanner.rest()[name.len()..].starts_with('(');
    if is_builtin {
        scanner.take(name.len(), "nb");
    }
    is_builtin
}

pub fn rust(scanner: &mut Scanner<'_>) {
    scan(scanner, &RUST);
}

static RUST: Grammar = Grammar {
    words: &[
        (
            "k",
            "as async await box const crate dyn else extern for if impl in loop match move mut pub ref return static \
             super trait unsafe use where while macro_rules break continue default fn struct enum union type mod \
             abstract become do final macro override priv typeof try unsized virtual yield",
        ),
        ("kd", "let"),
        ("kc", "true false"),
        ("bp", "self Self"),
        ("kt", "u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 usize isize f32 f64 char str bool"),
        (
            "nb",
            "Copy Send Sized Sync Unpin Drop Fn FnMut FnOnce drop Some None Ok Err AsMut AsRef Clone Default \
             DoubleEndedIterator Eq ExactSizeIterator Extend From FromIterator Into IntoIterator Iterator Option Ord \
             PartialEq PartialOrd Result ToOwned ToString TryFrom TryInto String Vec Box",
        ),
    ],
    after: &[("fn", "nf"), ("struct", "nc"), ("enum", "nc"), ("union", "nc"), ("type", "nc"), ("mod", "nn")],
    line_comments: &[("///", "sd"), ("//!", "sd"), ("//", "c1")],
    quotes: &[Quote::new("\"", "s", "se").multiline()],
    numbers: Numbers { suffixes: "", suffix_class: "k", separator: '_', signed: false, ..Numbers::C },
    signs: &[("->", "p"), ("::", "p")],
    operators: "+-*/%&|<>^!=.?",
    punctuation: "{}()[],;:#@$",
    special: rust_special,
    ..COMMON
};

/// Attributes, macros, raw strings, characters and lifetimes.
fn rust_special(scanner: &mut Scanner<'_>, _state: &State) -> bool {
    let rest = scanner.rest();
    if rest.starts_with("#[") || rest.starts_with("#![") {
        take_attribute(scanner);
        return true;
    }
    if rest.starts_with("->") || (rest.starts_with(':') && !rest.starts_with("::")) {
        take_type(scanner);
        return true;
    }
    if rest.starts_with('$') && rest[1..].starts_with(is_name_start) {
        scanner.take_char("cp");
        scanner.take_name("cp");
        return true;
    }
    if rest.starts_with('\'') {
        return take_quoted(scanner);
    }
    // One point is a sign between names, two are a range.
    if rest.starts_with('.') && !rest.starts_with("..") {
        let is_range = scanner.before() == Some('.');
        scanner.take_char(if is_range { "o" } else { "p" });
        return true;
    }
    let name = scanner.name_ahead();
    let after = &rest[name.len()..];
    match name {
        "r" | "br" | "b" if after.starts_with(['"', '#']) => take_raw(scanner, name, after),
        "b" if after.starts_with('\'') => {
            scanner.take(1, "s");
            take_quoted(scanner)
        }
        _ if !name.is_empty() && is_macro(after) => {
            scanner.take(name.len() + 1, "fm");
            true
        }
        _ => false,
    }
}

/// True if the text after a name makes it a macro: a sign and, optionally after another name, a bracket.
fn is_macro(after: &str) -> bool {
    let Some(after) = after.strip_prefix('!') else { return false };
    let after = after.trim_start_matches(is_blank).trim_start_matches(is_name).trim_start_matches(is_blank);
    after.starts_with(['(', '[', '{'])
}

/// `#[...]`, over lines.
fn take_attribute(scanner: &mut Scanner<'_>) {
    let mut depth = 0_usize;
    while let Some(next) = scanner.peek() {
        match next {
            '"' => {
                scanner.take_char("s");
                scanner.take_through("\"", "s");
                continue;
            }
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        scanner.take_char("cp");
        if next == ']' && depth == 0 {
            return;
        }
    }
}

/// The sign before a type, and the type's first name.
fn take_type(scanner: &mut Scanner<'_>) {
    if !scanner.take_text("->", "p") {
        scanner.take_char("p");
    }
    scanner.take_space("w");
    while scanner.take_text("&", "kp") {
        scanner.take_space("w");
        if scanner.starts_with("'") && take_quoted(scanner) {
            scanner.take_space("w");
        }
    }
    let name = scanner.name_ahead();
    let known =
        super::scanner::class_of(RUST.words, name).filter(|class| matches!(*class, "kt" | "nb" | "bp"));
    let after = &scanner.rest()[name.len()..];
    if !is_macro(after) && !after.starts_with("::") {
        scanner.take(name.len(), known.unwrap_or("nc"));
    }
}

/// `r"..."`, `r#"..."#` and `b"..."`.
fn take_raw(scanner: &mut Scanner<'_>, prefix: &str, after: &str) -> bool {
    let hashes = after.len() - after.trim_start_matches('#').len();
    if !after[hashes..].starts_with('"') || hashes > 8 {
        return false;
    }
    scanner.take(prefix.len() + hashes + 1, "s");
    let close = format!("\"{}", &"########"[..hashes]);
    if prefix == "b" {
        while let Some(next) = scanner.peek() {
            scanner.take_char("s");
            match next {
                '\\' => scanner.take_char("s"),
                '"' => break,
                _ => {}
            }
        }
    } else {
        scanner.take_through(&close, "s");
    }
    true
}

/// A character, or a lifetime.
fn take_quoted(scanner: &mut Scanner<'_>) -> bool {
    let inside = &scanner.rest()[1..];
    let mut characters = inside.char_indices();
    let Some((_, first)) = characters.next() else { return false };
    if first == '\\' {
        let line = &inside[..inside.find('\n').unwrap_or(inside.len()).min(inside.floor_char_boundary(14))];
        let end = line.get(2..).and_then(|rest| rest.find('\'')).map_or(0, |end| end + 3);
        if end > 0 {
            scanner.take(1 + end, "sc");
            return true;
        }
        return false;
    }
    if inside[first.len_utf8()..].starts_with('\'') {
        scanner.take(2 + first.len_utf8(), "sc");
        return true;
    }
    if is_name_start(first) {
        scanner.take_char("o");
        let is_static = scanner.name_ahead() == "static";
        scanner.take_name(if is_static { "nb" } else { "na" });
        return true;
    }
    false
}

/// Strings whose mark is doubled inside.
pub const fn doubled(mark: &'static str, class: &'static str) -> Quote {
    Quote::new(mark, class, DOUBLED).multiline()
}
