//! Writing scripts and style sheets without comments and without space that has no meaning.

use crate::Result;
use crate::tokens::{Kind, Token, is_word, tokens};

/// Keywords whose statement ends with the line.
const RESTRICTED: [&str; 6] = ["async", "break", "continue", "return", "throw", "yield"];

/// A script without comments and space.
///
/// # Errors
/// Constructs that are not supported.
pub fn strip_script(path: &str, source: &str) -> Result<String> {
    let mut out = Writer::default();
    for token in tokens(path, source)? {
        out.token(&token);
    }
    Ok(out.text)
}

/// Writes tokens.
#[derive(Default)]
pub struct Writer {
    /// The script so far.
    pub text: String,
    last: Option<(Kind, String)>,
}

impl Writer {
    /// Appends a token, after a line end or a space if the two would mean something else without.
    pub fn token(&mut self, token: &Token<'_>) {
        if let Some((kind, last)) = &self.last {
            if token.after_newline && ends_statement(*kind, last, token) {
                self.text.push('\n');
            } else if must_be_apart(*kind, last, token) {
                self.text.push(' ');
            }
        }
        self.text.push_str(token.text);
        self.last = Some((token.kind, token.text.to_owned()));
    }

    /// Ends a statement, before one that is left out.
    pub fn end_statement(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([';', '\n']) {
            self.text.push('\n');
        }
        self.last = None;
    }

    /// Appends an expression of the joiner itself, which ends with a bracket.
    pub fn expression(&mut self, text: &str) {
        if self.last.as_ref().is_some_and(|(kind, _)| *kind == Kind::Word) {
            self.text.push(' ');
        }
        self.text.push_str(text);
        self.last = Some((Kind::Mark, ")".to_owned()));
    }
}

/// True if a line end between the two tokens may end a statement that has no semicolon.
fn ends_statement(kind: Kind, last: &str, next: &Token<'_>) -> bool {
    if kind == Kind::Word && RESTRICTED.contains(&last) {
        return true;
    }
    let is_open = kind == Kind::Mark && !matches!(last, ")" | "]" | "}" | "++" | "--");
    let goes_on = next.kind == Kind::Mark && !matches!(next.text, "(" | "[" | "{" | "++" | "--" | "!" | "~");
    let in_template = kind == Kind::Template && last.ends_with("${");
    let is_inside = is_open || in_template;
    let ends_block = next.text.starts_with('}');
    !(is_inside || goes_on || ends_block)
}

/// True if two tokens would become one, or another one.
fn must_be_apart(kind: Kind, last: &str, next: &Token<'_>) -> bool {
    let (Some(before), Some(after)) = (last.chars().next_back(), next.text.chars().next()) else {
        return false;
    };
    let both_words = is_word(before) && is_word(after);
    let after_regex = kind == Kind::Regex && is_word(after);
    let after_number = kind == Kind::Number && after == '.';
    // `+ +`, `- -`, `a / /b/`, and `<!--`, which begins a comment in scripts of old.
    let marks = next.after_space
        && ["++", "--", "//", "<!", "->"].iter().any(|pair| pair.chars().eq([before, after]));
    both_words || after_regex || after_number || marks
}

/// A style sheet without comments and space.
pub fn strip_style(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    let mut space = false;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("/*") {
            space = true;
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first.is_whitespace() {
            space = true;
            first.len_utf8()
        } else {
            if space
                && !out.is_empty()
                && !out.ends_with(['{', '}', ';', ',', ':'])
                && !matches!(first, '{' | '}' | ';' | ',')
            {
                out.push(' ');
            }
            space = false;
            if first == '}' && out.ends_with(';') {
                out.pop();
            }
            let length =
                if matches!(first, '"' | '\'') { string_length(rest, first) } else { first.len_utf8() };
            out.push_str(rest.get(..length).unwrap_or_default());
            length
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

fn string_length(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().skip(1);
    while let Some((offset, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return offset + 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(source: &str) -> String {
        strip_script("a.js", source).unwrap()
    }

    #[test]
    fn space_stays_where_tokens_would_become_others() {
        assert_eq!(strip("return  a  +  +b - -c + ++d;"), "return a+ +b- -c+ ++d;");
        assert_eq!(
            strip("a in  b; /x/g  in c; 'a'  in d; 1 .toFixed(); x / /y/.z"),
            "a in b;/x/g in c;'a'in d;1 .toFixed();x/ /y/.z"
        );
        assert_eq!(strip("x < !--y; x-- > 0"), "x< !--y;x-- >0");
        assert_eq!(strip("async  function  * f ( ) { yield  * g ( ) ; }"), "async function*f(){yield*g();}");
        assert_eq!(
            strip("class A { #b = 1; static  #c() {} get d() {} }"),
            "class A{#b=1;static #c(){}get d(){}}"
        );
        assert_eq!(strip("a ? .5 : b ?. c ?? d"), "a?.5:b?.c??d");
    }

    #[test]
    fn strings_templates_and_expressions_keep_their_space() {
        let source = "f('a  // b', `c  ${ d  +  `/* ${ e } */` }  f\n  `, /g  \\/\\/ [ /*]/)";
        assert_eq!(strip(source), "f('a  // b',`c  ${d+`/* ${e} */`}  f\n  `,/g  \\/\\/ [ /*]/)");
    }

    #[test]
    fn lines_end_where_a_statement_may() {
        assert_eq!(strip("a\nb\n(c)\n[d]\n`e`"), "a\nb\n(c)\n[d]\n`e`");
        assert_eq!(strip("a\n  .b()\n  ?.c\n  + d,\n e = {\n f,\n }\ng"), "a.b()?.c+d,e={f,}\ng");
        assert_eq!(strip("return\n-a\n++b\nreturn (\n c\n)\n"), "return\n-a\n++b\nreturn(c)");
        assert_eq!(strip("x = 1 // one\n/* two */ y = 2 /* three\n */ z"), "x=1\ny=2\nz");
        assert_eq!(strip("`${\na\n}`\nb"), "`${a}`\nb");
        assert_eq!(strip("if (a) {\n}\nelse {\n}"), "if(a){}\nelse{}");
    }

    #[test]
    fn style_sheets_keep_space_that_has_meaning() {
        let source = "/* a */\n.a > .b :hover,\n  a:hover { margin: 0 calc(1px + 2px) ; content: \"a  { /* ; */\" ; }\n@media (width >= 1px) and (print) { .c { --d: ; } }";
        assert_eq!(
            strip_style(source),
            ".a > .b :hover,a:hover{margin:0 calc(1px + 2px);content:\"a  { /* ; */\"}@media (width >= 1px) and (print){.c{--d:}}"
        );
        assert_eq!(strip_style("a{background:url('x\\'  y')/**/b}"), "a{background:url('x\\'  y') b}");
    }
}
