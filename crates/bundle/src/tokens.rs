//! Tokens of a script.

use crate::{Error, Result};

/// Kinds of tokens that are written and joined differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A name or keyword, also a private one (`#name`).
    Word,
    Number,
    /// A string.
    Text,
    /// A part of a template: up to `${` or the end, from the beginning or `}`.
    Template,
    /// A regular expression with its flags.
    Regex,
    /// An operator or bracket. All have one character, except `++`, `--` and `=>`.
    Mark,
}

#[derive(Debug, Clone, Copy)]
pub struct Token<'a> {
    pub kind: Kind,
    /// The text as written.
    pub text: &'a str,
    /// The offset of the text.
    pub at: usize,
    /// Space or a comment comes before.
    pub after_space: bool,
    /// A line ends before.
    pub after_newline: bool,
    /// The number of open brackets around it. Brackets are outside of themselves.
    pub depth: usize,
}

impl Token<'_> {
    /// True for this name, keyword, operator or bracket.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Mark) && self.text == text
    }
}

/// Brackets that are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// `(` after `if`, `for`, `while` or `with`: a statement follows its end.
    Condition,
    /// Another `(`.
    Group,
    Bracket,
    Braces,
    Template,
}

/// Keywords after which an expression begins, so that `/` begins a regular expression.
const BEFORE_EXPRESSIONS: [&str; 16] = [
    "await",
    "case",
    "default",
    "delete",
    "do",
    "else",
    "extends",
    "in",
    "instanceof",
    "new",
    "of",
    "return",
    "throw",
    "typeof",
    "void",
    "yield",
];

/// Splits a script into tokens.
pub fn tokens<'a>(path: &str, source: &'a str) -> Result<Vec<Token<'a>>> {
    let mut lexer = Lexer { path, source, at: 0, open: Vec::new(), tokens: Vec::new(), ended: None };
    while lexer.next()? {}
    Ok(lexer.tokens)
}

/// An error at an offset.
pub fn error_at(path: &str, source: &str, at: usize, reason: &'static str) -> Error {
    let before = source.get(..at).unwrap_or(source);
    Error::Source { path: path.to_owned(), line: before.matches('\n').count() + 1, reason }
}

struct Lexer<'a, 'p> {
    path: &'p str,
    source: &'a str,
    at: usize,
    open: Vec<Open>,
    tokens: Vec<Token<'a>>,
    /// The bracket that the last token closed.
    ended: Option<Open>,
}

/// True for characters of names and numbers. Those beyond ASCII are letters in names, and occur nowhere else outside of
/// strings and comments.
pub fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$' | '#' | '\\') || !character.is_ascii()
}

impl<'a> Lexer<'a, '_> {
    fn error(&self, at: usize, reason: &'static str) -> Error {
        error_at(self.path, self.source, at, reason)
    }

    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// Reads one token; false at the end.
    fn next(&mut self) -> Result<bool> {
        let start = self.at;
        self.skip_space()?;
        let skipped = self.source.get(start..self.at).unwrap_or_default();
        let at = self.at;
        let Some(first) = self.rest().chars().next() else {
            return if self.open.is_empty() {
                Ok(false)
            } else {
                Err(self.error(at, "a bracket is not closed"))
            };
        };
        let mut depth = self.open.len();
        let mut ended = None;
        let kind = match first {
            '"' | '\'' => {
                self.skip_string(first)?;
                Kind::Text
            }
            '`' => {
                self.skip_template()?;
                Kind::Template
            }
            '}' if self.open.last() == Some(&Open::Template) => {
                self.open.pop();
                depth -= 1;
                self.skip_template()?;
                Kind::Template
            }
            '/' if self.begins_expression(at)? => {
                self.skip_regex()?;
                Kind::Regex
            }
            _ if first.is_ascii_digit() || (first == '.' && self.digit_follows()) => {
                self.skip_number();
                Kind::Number
            }
            _ if is_word(first) => {
                self.at += self.rest().find(|character| !is_word(character)).unwrap_or(self.rest().len());
                Kind::Word
            }
            _ => {
                let is_long = ["++", "--", "=>"].iter().any(|long| self.rest().starts_with(long));
                self.at += if is_long { 2 } else { first.len_utf8() };
                match first {
                    '(' => self.open.push(if self.is_condition() { Open::Condition } else { Open::Group }),
                    '[' => self.open.push(Open::Bracket),
                    '{' => self.open.push(Open::Braces),
                    ')' | ']' | '}' => {
                        ended = self.open.pop();
                        let is_right = match ended {
                            Some(Open::Condition | Open::Group) => first == ')',
                            Some(Open::Bracket) => first == ']',
                            Some(Open::Braces) => first == '}',
                            Some(Open::Template) | None => false,
                        };
                        if !is_right {
                            return Err(self.error(at, "a bracket closes that is not open"));
                        }
                        depth -= 1;
                    }
                    _ => {}
                }
                Kind::Mark
            }
        };
        let text = self.source.get(at..self.at).unwrap_or_default();
        let after_newline = skipped.contains('\n');
        self.tokens.push(Token { kind, text, at, after_space: !skipped.is_empty(), after_newline, depth });
        self.ended = ended;
        Ok(true)
    }

    fn skip_space(&mut self) -> Result<()> {
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let end = rest.find("*/").ok_or_else(|| self.error(self.at, "a comment has no end"))?;
                self.at += end + 2;
            } else {
                let space = rest.find(|character: char| !character.is_whitespace()).unwrap_or(rest.len());
                if space == 0 {
                    return Ok(());
                }
                self.at += space;
            }
        }
    }

    fn skip_string(&mut self, quote: char) -> Result<()> {
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((offset, character)) = characters.next() {
            match character {
                '\\' => drop(characters.next()),
                '\n' => break,
                _ if character == quote => {
                    self.at += offset + 1;
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(self.error(self.at, "a string has no end"))
    }

    /// From "`" or "}" to "`" or "${".
    fn skip_template(&mut self) -> Result<()> {
        let mut characters = self.rest().char_indices().skip(1).peekable();
        while let Some((offset, character)) = characters.next() {
            match character {
                '\\' => drop(characters.next()),
                '`' => {
                    self.at += offset + 1;
                    return Ok(());
                }
                '$' if characters.peek().is_some_and(|(_, next)| *next == '{') => {
                    self.at += offset + 2;
                    self.open.push(Open::Template);
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(self.error(self.at, "a template has no end"))
    }

    fn skip_regex(&mut self) -> Result<()> {
        let mut in_class = false;
        let rest = self.rest();
        let mut characters = rest.char_indices().skip(1);
        while let Some((offset, character)) = characters.next() {
            match character {
                '\\' => drop(characters.next()),
                '[' => in_class = true,
                ']' => in_class = false,
                '\n' => break,
                '/' if !in_class => {
                    let flags = rest.get(offset + 1..).unwrap_or_default();
                    let length = flags.find(|flag| !is_word(flag)).unwrap_or(flags.len());
                    self.at += offset + 1 + length;
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(self.error(self.at, "a regular expression has no end"))
    }

    fn digit_follows(&self) -> bool {
        self.rest().chars().nth(1).is_some_and(|digit| digit.is_ascii_digit())
    }

    /// Also with a fraction and a signed exponent. Hexadecimal numbers end in `e`, too, but have no exponent.
    fn skip_number(&mut self) {
        let rest = self.rest();
        let is_decimal = !["0x", "0X", "0b", "0o"].iter().any(|start| rest.starts_with(start));
        let mut before = ' ';
        let end = rest.find(|character| {
            let is_sign = matches!(character, '+' | '-') && matches!(before, 'e' | 'E');
            let is_part = is_word(character) || (is_decimal && (character == '.' || is_sign));
            before = character;
            !is_part
        });
        self.at += end.unwrap_or(rest.len());
    }

    /// True where the parenthesis that was just read holds a condition.
    fn is_condition(&self) -> bool {
        let mut before = self.tokens.iter().rev();
        let keyword =
            before.next().filter(|token| token.is("await")).map_or(self.tokens.last(), |_| before.next());
        let is_keyword =
            keyword.is_some_and(|token| ["if", "for", "while", "with"].iter().any(|word| token.is(word)));
        is_keyword && !before.next().is_some_and(|token| token.is("."))
    }

    /// True where `/` begins a regular expression, false where it divides.
    fn begins_expression(&self, at: usize) -> Result<bool> {
        let Some(last) = self.tokens.last() else { return Ok(true) };
        match last.kind {
            Kind::Number | Kind::Text | Kind::Regex => Ok(false),
            Kind::Template => Ok(last.text.ends_with("${")),
            Kind::Word => {
                let is_property = self.tokens.iter().rev().nth(1).is_some_and(|token| token.is("."));
                Ok(!is_property && BEFORE_EXPRESSIONS.contains(&last.text))
            }
            Kind::Mark => match last.text {
                ")" => Ok(self.ended == Some(Open::Condition)),
                "]" => Ok(false),
                "}" | "++" | "--" => {
                    Err(self.error(at, "`/` after `}`, `++` or `--` may be one of two things"))
                }
                _ => Ok(true),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(source: &str) -> Vec<(Kind, &str)> {
        tokens("a.js", source).unwrap().into_iter().map(|token| (token.kind, token.text)).collect()
    }

    fn regexes(source: &str) -> Vec<&str> {
        split(source).into_iter().filter(|(kind, _)| *kind == Kind::Regex).map(|(_, text)| text).collect()
    }

    fn refusal(source: &str) -> String {
        tokens("a.js", source).unwrap_err().to_string()
    }

    #[test]
    fn regular_expressions_are_distinguished_from_divisions() {
        assert_eq!(regexes("x = /a\\/[/]b/gu.test(y)"), ["/a\\/[/]b/gu"]);
        assert_eq!(regexes("a / b / c"), [""; 0]);
        assert_eq!(regexes("f(x) / 2 / g[1] / 2"), [""; 0]);
        assert_eq!(
            regexes("if (x) /a/.test(x); for (;;) /b/.test(y); while (f(x)) /c/.exec(z)"),
            ["/a/", "/b/", "/c/"]
        );
        assert_eq!(regexes("x.if(1) / 2 / 3"), [""; 0]);
        assert_eq!(
            regexes("return /a/; typeof /b/; x.return / 2 / 3; `${/c/.source}` / 2 / 1"),
            ["/a/", "/b/", "/c/"]
        );
        assert_eq!(regexes("1.5e-3 / 2 / 0xe / 3 + /x/"), ["/x/"]);
        assert_eq!(regexes("[/a/, (/b/), !/c/, x => /d/, { e: /e/ }]"), ["/a/", "/b/", "/c/", "/d/", "/e/"]);
        assert_eq!(
            refusal("if (x) { }\n/a/.test(x)"),
            "a.js:2: `/` after `}`, `++` or `--` may be one of two things"
        );
        assert_eq!(refusal("x++ / 2 / y"), "a.js:1: `/` after `}`, `++` or `--` may be one of two things");
    }

    #[test]
    fn templates_hold_expressions_that_hold_templates() {
        let parts = split("`a // ${b ? `<${c}>` : { d: '}' }} \\` \\${e} $ {` + 1");
        let templates: Vec<_> =
            parts.iter().filter(|(kind, _)| *kind == Kind::Template).map(|(_, text)| *text).collect();
        assert_eq!(templates, ["`a // ${", "`<${", "}>`", "} \\` \\${e} $ {`"]);
        assert_eq!(refusal("`${a"), "a.js:1: a bracket is not closed");
        assert_eq!(refusal("x\n\n`a"), "a.js:3: a template has no end");
    }

    #[test]
    fn strings_and_comments_end_where_they_should() {
        let source = "a('//', \"/* \\\" */\") /* ' */ // `\n+ 'it\\'s'";
        let texts: Vec<_> =
            split(source).iter().filter(|(kind, _)| *kind == Kind::Text).map(|(_, text)| *text).collect();
        assert_eq!(texts, ["'//'", "\"/* \\\" */\"", "'it\\'s'"]);
        for (source, reason) in [
            ("'a\n'", "a.js:1: a string has no end"),
            ("/* ", "a.js:1: a comment has no end"),
            ("x = /a\n/", "a.js:1: a regular expression has no end"),
            ("(]", "a.js:1: a bracket closes that is not open"),
            ("(}", "a.js:1: a bracket closes that is not open"),
            ("x)", "a.js:1: a bracket closes that is not open"),
        ] {
            assert_eq!(refusal(source), reason);
        }
    }
}
