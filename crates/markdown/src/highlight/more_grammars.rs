//! The tables of PHP, Ruby and SQL.

use super::grammars::{COMMON, doubled};
use super::numbers::Numbers;
use super::programs::{Grammar, Quote, State, scan};
use super::scanner::{Scanner, class_of, is_blank, is_name, is_name_start};

/// PHP, which need not begin with a mark here.
pub fn php(scanner: &mut Scanner<'_>) {
    scan(scanner, &PHP);
}

static PHP: Grammar = Grammar {
    words: &[(
        "k",
        "and E_PARSE old_function E_ERROR or as E_WARNING parent eval PHP_OS break exit case extends PHP_VERSION cfunction \
         FALSE print for require continue foreach require_once declare return default static do switch die stdClass echo \
         else TRUE elseif var empty if xor enddeclare include virtual endfor include_once while endforeach global \
         endif list endswitch new endwhile not array E_ALL NULL final php_user_filter interface implements public \
         private protected abstract clone try catch throw this use namespace yield trait finally match const class \
         function fn true false null readonly enum",
    )],
    any_case: true,
    name: "nx",
    name_characters: "\\",
    after: &[
        ("function", "nf"),
        ("class", "nc"),
        ("interface", "nc"),
        ("trait", "nc"),
        ("enum", "nc"),
        ("const", "no"),
    ],
    line_comments: &[("//", "c1"), ("#", "c1")],
    quotes: &[
        Quote { variables: true, ..Quote::new("\"", "s2", "se").multiline().with_code("{", '}') },
        Quote::new("'", "s1", " ").multiline(),
        Quote::new("`", "sb", " ").multiline(),
    ],
    numbers: Numbers { suffixes: "", separator: '_', signed: false, ..Numbers::C },
    space: "",
    space_after: "",
    operators: "~!%^&*+=|:.<>/@-?",
    punctuation: "[]{}();,",
    special: php_special,
    ..COMMON
};

/// Variables, members, and functions that the language brings along.
fn php_special(scanner: &mut Scanner<'_>, _state: &State) -> bool {
    const BUILTINS: &[(&str, &str)] = &[(
        "nb",
        "array_filter array_key_exists array_keys array_map array_merge array_pop array_push array_slice array_values \
         count date define defined explode file_get_contents file_put_contents fopen header implode in_array \
         is_array is_null is_numeric is_string json_decode json_encode max md5 min preg_match preg_replace printf round \
         sort sprintf str_replace strlen strpos strtolower strtoupper strtotime substr time trim ucfirst var_dump",
    )];
    let rest = scanner.rest();
    if let Some(name) = rest.strip_prefix('$') {
        if name.starts_with(is_name_start) {
            scanner.take_char("nv");
            scanner.take_name("nv");
            return true;
        }
        return false;
    }
    for sign in ["->", "::"] {
        if rest.starts_with(sign) && rest[sign.len()..].starts_with(is_name_start) {
            scanner.take(sign.len(), "o");
            let is_class = scanner.name_ahead() == "class";
            scanner.take_name(if is_class { "k" } else { "na" });
            return true;
        }
    }
    let name = scanner.name_ahead();
    let after = &rest[name.len()..];
    let declares = scanner.text_before().trim_end_matches(is_blank).ends_with("function");
    if let Some(class) = class_of(BUILTINS, name)
        && after.starts_with('(')
        && !declares
    {
        scanner.take(name.len(), class);
        return true;
    }
    false
}

pub fn sql(scanner: &mut Scanner<'_>) {
    scan(scanner, &SQL);
}

static SQL: Grammar = Grammar {
    words: &[
        (
            "k",
            "abort add admin after all alter analyze and any as asc avg before begin between by cascade case cast \
             change check column commit conflict constraint count create cross current current_date current_time \
             current_timestamp database default delete desc distinct do drop else end escape except exec execute \
             exists explain false fetch filter first following for foreign from full function grant group grouping \
             having if ignore immediate in index inner insert intersect into is isnull join key last lateral leading \
             left like limit lock max min natural next no not nothing notnull null nulls of offset on only or order \
             outer over partition prepare primary procedure recursive references rename replace restrict returning \
             returns revoke right rollback row rows schema select sequence session set show some start sum table \
             temp temporary then to trailing transaction trigger trim true truncate type union unique update upper \
             lower use user using values view when where while window with work explain vacuum without",
        ),
        (
            "nb",
            "array bigint binary bit blob boolean char character date dec decimal float int integer interval number \
             numeric real serial smallint varchar varying int8 serial8 text",
        ),
    ],
    any_case: true,
    line_comments: &[("--", "c1")],
    quotes: &[doubled("'", "s1"), doubled("\"", "ss")],
    operators: "+*/<>=~!@#%^&|`?-",
    punctuation: ";:()[],.",
    special: take_whole_number,
    ..COMMON
};

/// Numbers have no fractions: their points are punctuation.
fn take_whole_number(scanner: &mut Scanner<'_>, _: &State) -> bool {
    if scanner.peek() == Some('.') {
        scanner.take_char("p");
        return true;
    }
    !scanner.take_while("mi", |c| c.is_ascii_digit()).is_empty()
}

pub fn ruby(scanner: &mut Scanner<'_>) {
    scan(scanner, &RUBY);
}

static RUBY: Grammar = Grammar {
    words: &[
        (
            "k",
            "BEGIN END alias begin break case defined? else end ensure for if in next redo rescue raise retry return \
             super undef unless until when while yield do then def class module",
        ),
        (
            "kp",
            "loop include extend attr_accessor attr_reader attr_writer catch private protected public true false nil",
        ),
        ("kp", "module_function private_class_method throw"),
        ("ow", "not and or"),
        ("bp", "self"),
        (
            "nb",
            "Array Float Integer String abort at_exit autoload binding block_given? caller eval exec exit fail fork \
             format freeze gets hash id inspect lambda name object_id open p print printf proc putc puts raise rand \
             readline require require_relative select send sleep sprintf system test to_a to_s trap type warn",
        ),
    ],
    name_characters: "?",
    after: &[("def", "nf"), ("class", "nc"), ("module", "nn")],
    member: "n",
    line_comments: &[("#", "c1")],
    block_comments: &[],
    quotes: &[
        Quote::new("\"", "s2", "se").multiline().with_code("#{", '}'),
        Quote::new("'", "s1", " ").multiline(),
        Quote::new("`", "sb", "se").multiline().with_code("#{", '}'),
    ],
    numbers: Numbers { suffixes: "", separator: '_', signed: false, ..Numbers::C },
    operators: "+-*/%=<>!&|^~.:?[]",
    punctuation: "(){};,",
    special: ruby_special,
    ..COMMON
};

/// Symbols, variables with marks, constants and regular expressions.
fn ruby_special(scanner: &mut Scanner<'_>, state: &State) -> bool {
    let rest = scanner.rest();
    for (mark, class) in [("@@", "vc"), ("@", "vi"), ("$", "vg")] {
        if rest.strip_prefix(mark).is_some_and(|name| name.starts_with(is_name_start)) {
            scanner.take(mark.len(), class);
            scanner.take_name(class);
            return true;
        }
    }
    if rest.starts_with(':') && !rest.starts_with("::") && rest[1..].starts_with(is_name_start) {
        scanner.take_char("ss");
        scanner.take_while("ss", |c| is_name(c) || matches!(c, '?' | '!'));
        return true;
    }
    if rest.starts_with('/') && state.wants_value {
        let end = rest[1..].find(['/', '\n']).filter(|end| rest[1 + end..].starts_with('/'));
        if let Some(end) = end {
            scanner.take(end + 2, "sr");
            scanner.take_while("sr", |c| c.is_ascii_alphabetic());
            return true;
        }
    }
    let name = scanner.name_ahead();
    let after = &rest[name.len()..];
    let declares = |word| scanner.text_before().trim_end_matches(is_blank).ends_with(word);
    if !name.is_empty() && after.starts_with(':') && !after.starts_with("::") {
        scanner.take(name.len(), "ss");
        scanner.take_char("p");
        return true;
    }
    let is_constant = name.starts_with(|c: char| c.is_uppercase()) && scanner.before() != Some('.');
    if name == "self" && declares("def") {
        scanner.take(name.len(), "nc");
        scanner.take_text(".", "o");
        scanner.take_name("nf");
        return true;
    }
    if is_constant && !declares("class") && !declares("module") && class_of(RUBY.words, name).is_none() {
        scanner.take(name.len(), "no");
        return true;
    }
    false
}
