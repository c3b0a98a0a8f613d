//! The tables of languages that need little more than words, strings and comments.

use super::grammars::COMMON;
use super::numbers::Numbers;
use super::programs::{Grammar, Quote, State, scan};
use super::scanner::{Scanner, is_name, is_name_start};

/// Numbers with underscores, without the suffixes of C.
const NUMBERS: Numbers = Numbers { suffixes: "", separator: '_', signed: false, ..Numbers::C };

/// Takes a mark and the following name, such as `$name` or `@Name`.
fn take_marked(scanner: &mut Scanner<'_>, mark: char, class: &'static str) -> bool {
    if scanner.peek() != Some(mark) || !scanner.rest()[mark.len_utf8()..].starts_with(is_name_start) {
        return false;
    }
    scanner.take_char(class);
    scanner.take_name(class);
    true
}

/// `@Name`.
fn decorator(scanner: &mut Scanner<'_>, _state: &State) -> bool {
    take_marked(scanner, '@', "nd")
}

/// C#.
pub fn csharp(scanner: &mut Scanner<'_>) {
    scan(scanner, &CSHARP);
}

static CSHARP: Grammar = Grammar {
    words: &[
        (
            "k",
            "abstract as async await base break by case catch checked const continue default delegate do else enum event \
             explicit extern finally fixed for foreach from get goto group if implicit in init interface internal into \
             is join let lock nameof new on operator orderby out override params private protected public readonly ref \
             record required return sealed select set sizeof stackalloc static switch this throw try typeof unchecked \
             unsafe value virtual void volatile when where while with yield class struct",
        ),
        ("kn", "namespace using"),
        ("kc", "true false null"),
        (
            "kt",
            "bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong \
             ushort var",
        ),
    ],
    after: &[
        ("class", "nc"),
        ("struct", "nc"),
        ("record", "nc"),
        ("interface", "nc"),
        ("enum", "nc"),
        ("namespace", "nn"),
        ("using", "nn"),
    ],
    quotes: &[
        Quote::new("\"\"\"", "s", "").multiline(),
        Quote { open: "@\"", ..Quote::new("\"", "s", "").multiline() },
        Quote { open: "$\"", ..Quote::new("\"", "s", "se").with_code("{", '}') },
        Quote::new("\"", "s", "se"),
        Quote::new("'", "sc", "se"),
    ],
    numbers: Numbers { separator: '_', ..Numbers::C },
    ..COMMON
};

pub fn kotlin(scanner: &mut Scanner<'_>) {
    scan(scanner, &KOTLIN);
}

static KOTLIN: Grammar = Grammar {
    words: &[
        (
            "k",
            "abstract actual annotation as break by catch companion const constructor continue crossinline data do \
             dynamic else enum expect external final finally for if import in infix init inline inner internal is \
             lateinit noinline open operator out override package private protected public reified return sealed \
             suspend tailrec throw try typealias vararg when where while",
        ),
        ("kd", "class fun interface object val var"),
        ("kc", "true false null"),
        ("bp", "this super it"),
        (
            "kt",
            "Any Array Boolean Byte Char Double Float Int List Long Map Nothing Set Short String Unit UInt ULong",
        ),
    ],
    after: &[
        ("class", "nc"),
        ("interface", "nc"),
        ("object", "nc"),
        ("fun", "nf"),
        ("package", "nn"),
        ("import", "nn"),
    ],
    quotes: &[
        Quote::new("\"\"\"", "s", "").multiline().with_code("${", '}'),
        Quote { variables: true, ..Quote::new("\"", "s2", "se").with_code("${", '}') },
        Quote::new("'", "sc", "se"),
    ],
    numbers: Numbers { separator: '_', ..Numbers::C },
    special: decorator,
    ..COMMON
};

pub fn swift(scanner: &mut Scanner<'_>) {
    scan(scanner, &SWIFT);
}

static SWIFT: Grammar = Grammar {
    words: &[
        (
            "k",
            "actor as async await break case catch continue default defer do else fallthrough for guard if in is repeat \
             return some any switch throw throws rethrows try where while",
        ),
        (
            "kd",
            "associatedtype class convenience deinit dynamic enum extension fileprivate final func import indirect init \
             infix internal lazy let mutating nonmutating open operator optional override postfix prefix private \
             protocol public required static struct subscript typealias unowned var weak",
        ),
        ("kc", "true false nil"),
        ("bp", "self Self super"),
        (
            "kt",
            "Any AnyObject Array Bool Character Dictionary Double Float Int Optional Set String UInt Void",
        ),
    ],
    after: &[
        ("class", "nc"),
        ("struct", "nc"),
        ("enum", "nc"),
        ("protocol", "nc"),
        ("extension", "nc"),
        ("actor", "nc"),
        ("func", "nf"),
        ("import", "nn"),
        ("let", "nv"),
        ("var", "nv"),
    ],
    quotes: &[Quote::new("\"\"\"", "s", "se").multiline(), Quote::new("\"", "s", "se")],
    numbers: NUMBERS,
    operators: "~!%^&*+=|?:<>/-@#\\",
    special: decorator,
    ..COMMON
};

pub fn lua(scanner: &mut Scanner<'_>) {
    scan(scanner, &LUA);
}

static LUA: Grammar = Grammar {
    words: &[
        ("k", "break do else elseif end for goto if in repeat return then until while"),
        ("kr", "function"),
        ("kd", "local"),
        ("ow", "and or not"),
        ("kc", "nil true false"),
        (
            "nb",
            "assert collectgarbage dofile error getmetatable ipairs load next pairs pcall print rawequal rawget rawlen \
             rawset require select setmetatable tonumber tostring type unpack xpcall coroutine debug io math os package \
             string table utf8",
        ),
    ],
    after: &[("function", "nf")],
    line_comments: &[("--", "c1")],
    block_comments: &[("--[[", "]]")],
    quotes: &[
        Quote { open: "[[", ..Quote::new("]]", "s", "").multiline() },
        Quote::new("\"", "s2", "se"),
        Quote::new("'", "s1", "se"),
    ],
    numbers: NUMBERS,
    operators: "~%^*+=<>/-#&|",
    punctuation: "()[]{},.;:",
    ..COMMON
};

/// PowerShell.
pub fn powershell(scanner: &mut Scanner<'_>) {
    scan(scanner, &POWERSHELL);
}

static POWERSHELL: Grammar = Grammar {
    words: &[(
        "k",
        "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach from \
         function if in param process return switch throw trap try until using while",
    )],
    any_case: true,
    name: "n",
    name_characters: "-",
    line_comments: &[("#", "c1")],
    block_comments: &[("<#", "#>")],
    quotes: &[
        Quote { close: "\"@", ..Quote::new("@\"", "sh", "").multiline() },
        Quote { close: "'@", ..Quote::new("@'", "sh", "").multiline() },
        Quote { variables: true, ..Quote::new("\"", "s2", "").multiline().with_code("$(", ')') },
        Quote::new("'", "s1", "").multiline(),
    ],
    numbers: NUMBERS,
    space: "",
    space_after: "",
    operators: "~!%^&*+=|?<>/-@`$:",
    special: powershell_special,
    ..COMMON
};

/// Variables, operators such as `-eq`, names of commands, and types in brackets.
fn powershell_special(scanner: &mut Scanner<'_>, _state: &State) -> bool {
    let rest = scanner.rest();
    if let Some(name) =
        rest.strip_prefix('$').filter(|name| name.starts_with(|c| is_name_start(c) || c == '{'))
    {
        let length = match name.strip_prefix('{') {
            Some(inside) => inside.find('}').map_or(1, |end| end + 2),
            None => name.find(|c| !is_name(c) && c != ':').unwrap_or(name.len()),
        };
        scanner.take(1 + length, "nv");
        return true;
    }
    if rest.starts_with('-') && rest[1..].starts_with(is_name_start) {
        scanner.take_char("o");
        scanner.take_name("o");
        return true;
    }
    let name = scanner.ahead(|c| is_name(c) || c == '-');
    let is_command = name.split_once('-').is_some_and(|(verb, noun)| !verb.is_empty() && !noun.is_empty());
    if is_command && name.starts_with(is_name_start) {
        scanner.take(name.len(), "nb");
        return true;
    }
    false
}

pub fn nix(scanner: &mut Scanner<'_>) {
    scan(scanner, &NIX);
}

static NIX: Grammar = Grammar {
    words: &[
        ("k", "rec with let in inherit assert if then else"),
        (
            "nb",
            "import abort baseNameOf dirOf isNull builtins map removeAttrs throw toString derivation fetchTarball",
        ),
        ("kc", "true false null"),
    ],
    name: "",
    name_characters: "-",
    line_comments: &[("#", "c1")],
    quotes: &[
        Quote::new("\"", "s2", "se").multiline().with_code("${", '}'),
        Quote::new("''", "s", "").multiline().with_code("${", '}'),
    ],
    numbers: NUMBERS,
    space: "",
    space_after: "",
    operators: "+-*/!=<>&|?@:.$~^%",
    punctuation: "()[]{},;",
    ..COMMON
};

/// Terraform and other files in the HashiCorp configuration language.
pub fn hcl(scanner: &mut Scanner<'_>) {
    scan(scanner, &HCL);
}

static HCL: Grammar = Grammar {
    words: &[
        ("k", "for in if else endif endfor"),
        (
            "kr",
            "backend check connection data import dynamic ephemeral locals module moved output provider provisioner \
             removed required_providers resource terraform variable job group task service",
        ),
        ("kc", "true false null"),
        ("kt", "any bool list map number object set string tuple"),
    ],
    name: "nb",
    name_characters: "-",
    line_comments: &[("#", "c1"), ("//", "c1")],
    quotes: &[Quote::new("\"", "s2", "se").with_code("${", '}')],
    numbers: NUMBERS,
    ..COMMON
};

/// GraphQL.
pub fn graphql(scanner: &mut Scanner<'_>) {
    scan(scanner, &GRAPHQL);
}

static GRAPHQL: Grammar = Grammar {
    words: &[
        (
            "k",
            "query mutation subscription fragment on type interface union enum input scalar schema directive extend \
             implements repeatable",
        ),
        ("kt", "Int Float String Boolean ID"),
        ("kc", "true false null"),
    ],
    after: &[
        ("type", "nc"),
        ("interface", "nc"),
        ("union", "nc"),
        ("enum", "nc"),
        ("input", "nc"),
        ("scalar", "nc"),
        ("fragment", "nf"),
        ("query", "nf"),
        ("mutation", "nf"),
        ("subscription", "nf"),
        ("on", "nc"),
    ],
    line_comments: &[("#", "c1")],
    block_comments: &[],
    quotes: &[Quote::new("\"\"\"", "s", "").multiline(), Quote::new("\"", "s2", "se")],
    numbers: NUMBERS,
    space: "",
    space_after: "",
    operators: "",
    punctuation: "!$().:=@[]{|},&",
    special: graphql_special,
    ..COMMON
};

/// Variables and directives.
fn graphql_special(scanner: &mut Scanner<'_>, _state: &State) -> bool {
    take_marked(scanner, '$', "nv") || take_marked(scanner, '@', "nd")
}

/// Protocol Buffers.
pub fn protobuf(scanner: &mut Scanner<'_>) {
    scan(scanner, &PROTOBUF);
}

static PROTOBUF: Grammar = Grammar {
    words: &[
        (
            "k",
            "default edition enum export extend extensions import max message oneof option optional packed public \
             repeated required reserved returns rpc service stream syntax to weak map",
        ),
        ("kn", "package"),
        (
            "kt",
            "bool bytes double fixed32 fixed64 float int32 int64 sfixed32 sfixed64 sint32 sint64 string uint32 uint64",
        ),
        ("kc", "true false inf nan"),
    ],
    after: &[
        ("message", "nc"),
        ("enum", "nc"),
        ("service", "nc"),
        ("extend", "nc"),
        ("package", "nn"),
        ("rpc", "nf"),
    ],
    quotes: &[Quote::new("\"", "s2", "se"), Quote::new("'", "s1", "se")],
    numbers: NUMBERS,
    ..COMMON
};
