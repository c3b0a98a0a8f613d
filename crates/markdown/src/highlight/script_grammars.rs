//! The tables of further languages that people paste: scripts, languages of the Java machine, and functional ones.

use super::grammars::COMMON;
use super::numbers::Numbers;
use super::programs::{Grammar, Quote, State, scan};
use super::scanner::{Scanner, is_name, is_name_start};

/// Numbers with underscores, without the suffixes of C.
const NUMBERS: Numbers = Numbers { suffixes: "", separator: '_', signed: false, ..Numbers::C };

/// Takes one of some marks and the following name, such as `$name`, as one token.
fn take_marked(scanner: &mut Scanner<'_>, marks: &[char], class: &'static str) -> bool {
    let rest = scanner.rest();
    let Some(name) = rest.strip_prefix(marks).filter(|name| name.starts_with(is_name_start)) else {
        return false;
    };
    let length = name.find(|c| !is_name(c)).unwrap_or(name.len());
    scanner.take(rest.len() - name.len() + length, class);
    true
}

/// Annotations, as `@Override`.
fn annotation(scanner: &mut Scanner<'_>, _state: &State) -> bool {
    take_marked(scanner, &['@'], "nd")
}

pub fn dart(scanner: &mut Scanner<'_>) {
    scan(scanner, &DART);
}

static DART: Grammar = Grammar {
    words: &[
        (
            "k",
            "abstract as assert async await base break case catch continue covariant default deferred do else enum export \
             extends extension external factory final finally for get if implements in interface is late library mixin new \
             on operator part required rethrow return sealed set show static super switch sync this throw try typedef when \
             while with yield",
        ),
        ("kd", "class const var"),
        ("kn", "import"),
        ("kc", "true false null"),
        ("kt", "bool double dynamic int num void Function Future Iterable List Map Object Set Stream String"),
    ],
    after: &[("class", "nc"), ("enum", "nc"), ("mixin", "nc")],
    quotes: &[
        Quote { variables: true, ..Quote::new("\"\"\"", "s2", "se").multiline().with_code("${", '}') },
        Quote { variables: true, ..Quote::new("'''", "s1", "se").multiline().with_code("${", '}') },
        Quote { variables: true, ..Quote::new("\"", "s2", "se").with_code("${", '}') },
        Quote { variables: true, ..Quote::new("'", "s1", "se").with_code("${", '}') },
    ],
    numbers: NUMBERS,
    special: annotation,
    ..COMMON
};

pub fn elixir(scanner: &mut Scanner<'_>) {
    scan(scanner, &ELIXIR);
}

static ELIXIR: Grammar = Grammar {
    words: &[
        (
            "k",
            "after case catch cond do else end fn for if quote raise receive rescue super throw try unless unquote with",
        ),
        ("kd", "def defdelegate defexception defguard defimpl defmacro defmodule defp defprotocol defstruct"),
        ("kn", "alias import require use"),
        ("ow", "and in not or when"),
        ("kc", "false nil true"),
    ],
    after: &[("defmodule", "nc"), ("def", "nf"), ("defp", "nf"), ("defmacro", "nf")],
    name_characters: "?!",
    line_comments: &[("#", "c1")],
    block_comments: &[],
    quotes: &[
        Quote::new("\"\"\"", "s2", "se").multiline().with_code("#{", '}'),
        Quote::new("\"", "s2", "se").multiline().with_code("#{", '}'),
        Quote::new("'", "s1", "se"),
    ],
    numbers: NUMBERS,
    special: elixir_special,
    ..COMMON
};

/// Attributes of modules, and atoms.
fn elixir_special(scanner: &mut Scanner<'_>, _state: &State) -> bool {
    let follows_key = scanner.before().is_some_and(|c| is_name(c) || matches!(c, ':' | '"'));
    take_marked(scanner, &['@'], "na") || !follows_key && take_marked(scanner, &[':'], "ss")
}

pub fn groovy(scanner: &mut Scanner<'_>) {
    scan(scanner, &GROOVY);
}

static GROOVY: Grammar = Grammar {
    words: &[
        (
            "k",
            "as assert break case catch continue default do else finally for goto if in instanceof new return super switch \
             this throw try while",
        ),
        (
            "kd",
            "abstract class const def enum extends final implements interface native private protected public static \
             strictfp synchronized throws trait transient var volatile",
        ),
        ("kn", "import package"),
        ("kc", "false null true"),
        ("kt", "boolean byte char double float int long short void"),
    ],
    after: &[("class", "nc"), ("interface", "nc"), ("trait", "nc"), ("enum", "nc")],
    quotes: &[
        Quote { variables: true, ..Quote::new("\"\"\"", "s2", "se").multiline().with_code("${", '}') },
        Quote::new("'''", "s1", "se").multiline(),
        Quote { variables: true, ..Quote::new("\"", "s2", "se").with_code("${", '}') },
        Quote::new("'", "s1", "se"),
    ],
    numbers: Numbers { suffixes: "gGiIlLdDfF", ..NUMBERS },
    special: annotation,
    ..COMMON
};

pub fn haskell(scanner: &mut Scanner<'_>) {
    scan(scanner, &HASKELL);
}

static HASKELL: Grammar = Grammar {
    words: &[
        (
            "kr",
            "case class data default deriving do else family forall foreign if in infix infixl infixr instance let newtype of \
             then type where",
        ),
        ("kn", "import module qualified"),
        ("kt", "Bool Char Double Either Float IO Int Integer Map Maybe Ordering Rational String Text Word"),
    ],
    name_characters: "'",
    line_comments: &[("--", "c1")],
    block_comments: &[("{-", "-}")],
    quotes: &[Quote::new("\"", "s", "se")],
    numbers: NUMBERS,
    signs: &[("::", "ow"), ("->", "ow"), ("<-", "ow"), ("=>", "ow")],
    operators: "~!%^&*+=|?:<>/-@$.\\#",
    punctuation: "()[]{},;`'",
    ..COMMON
};

pub fn perl(scanner: &mut Scanner<'_>) {
    scan(scanner, &PERL);
}

static PERL: Grammar = Grammar {
    words: &[
        (
            "k",
            "continue do else elsif for foreach given if last local my next our redo return say state sub unless until when \
             while BEGIN END",
        ),
        ("kn", "no package require use"),
        ("ow", "and cmp eq ge gt le lt ne not or x xor"),
        (
            "nb",
            "bless chomp chop chr close defined delete die each eval exec exists exit grep index join keys lc length map open \
             ord pop print printf push read ref reverse scalar shift sleep sort splice split sprintf substr system uc undef \
             unlink unshift values wantarray warn write",
        ),
    ],
    after: &[("sub", "nf"), ("package", "nn"), ("use", "nn")],
    line_comments: &[("#", "c1")],
    block_comments: &[],
    quotes: &[
        Quote { variables: true, ..Quote::new("\"", "s2", "se").multiline() },
        Quote::new("'", "s1", "").multiline(),
        Quote::new("`", "sb", "se"),
    ],
    numbers: NUMBERS,
    special: perl_variable,
    ..COMMON
};

/// Variables, and the length of an array.
fn perl_variable(scanner: &mut Scanner<'_>, _state: &State) -> bool {
    if scanner.rest().starts_with("$#") {
        scanner.take(2, "nv");
        scanner.take_name("nv");
        return true;
    }
    take_marked(scanner, &['$', '@', '%'], "nv")
}

pub fn r(scanner: &mut Scanner<'_>) {
    scan(scanner, &R);
}

static R: Grammar = Grammar {
    words: &[
        ("kr", "break else for function if in next repeat return while"),
        ("kc", "FALSE Inf NA NULL NaN TRUE"),
        (
            "nb",
            "c cat data.frame lapply length library list matrix mean names nrow paste print require sapply seq sum vector",
        ),
    ],
    name_characters: ".",
    line_comments: &[("#", "c1")],
    block_comments: &[],
    quotes: &[Quote::new("\"", "s", "se").multiline(), Quote::new("'", "s", "se").multiline()],
    numbers: Numbers { suffixes: "Li", ..NUMBERS },
    signs: &[("<<-", "o"), ("<-", "o"), ("->", "o"), ("|>", "o")],
    operators: "~!%^&*+=|?:<>/-@$",
    ..COMMON
};

pub fn scala(scanner: &mut Scanner<'_>) {
    scan(scanner, &SCALA);
}

static SCALA: Grammar = Grammar {
    words: &[
        (
            "k",
            "abstract case catch derives do else enum export extends extension final finally for forSome given if implicit \
             inline lazy macro match new opaque override private protected return sealed super then this throw try using \
             while with yield",
        ),
        ("kd", "class def object trait type val var"),
        ("kn", "import package"),
        ("kc", "false null true"),
        (
            "kt",
            "Any Boolean Byte Char Double Float Int List Long Map Nothing Option Seq Set Short String Unit",
        ),
    ],
    after: &[("class", "nc"), ("object", "nc"), ("trait", "nc"), ("enum", "nc"), ("def", "nf")],
    quotes: &[
        Quote::new("\"\"\"", "s", "").multiline(),
        Quote { open: "s\"", variables: true, ..Quote::new("\"", "s", "se").with_code("${", '}') },
        Quote::new("\"", "s", "se"),
    ],
    numbers: Numbers { suffixes: "lLfFdD", ..NUMBERS },
    special: annotation,
    ..COMMON
};
