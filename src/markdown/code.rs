//! Code blocks, in the frame that clients know: `div.codehilite > pre > code`.
//!
//! The code of languages that are known is cut into pieces that clients colour; other code is plain text. The language
//! is named for clients that do more.

use super::{
    highlight,
    html::{Attribute, Element, Node, Tag, text},
};

/// One line per language: its name, a tab, and what it is called in fences, in lower case.
const LANGUAGES: &str = include_str!("languages.tsv");

/// A block of code. `language` is as typed, empty if none: then the first line may name one.
pub fn block(language: &str, code: &str) -> Node {
    let code = format!("{code}\n");
    let typed = if language.is_empty() { language_in_header(&code) } else { language };
    let name = language_name(typed);
    let pieces = name.and_then(|name| highlight::pieces(name, &code));
    let content = match pieces {
        Some(pieces) => pieces.into_iter().map(|(class, piece)| coloured(class, piece)).collect(),
        None => vec![text(code)],
    };
    // Clients look for the empty element before the code.
    let frame = vec![Element::new(Tag::Span, Vec::new()).node(), Element::new(Tag::Code, content).node()];
    let mut attributes = vec![Attribute::Class("codehilite".to_owned())];
    if !language.is_empty() {
        attributes.push(Attribute::DataCodeLanguage(name.unwrap_or(language).to_owned()));
    }
    Element::new(Tag::Division, vec![Element::new(Tag::Preformatted, frame).node()]).with(attributes).node()
}

fn coloured(class: &'static str, piece: &str) -> Node {
    if class.is_empty() {
        return text(piece);
    }
    Element::new(Tag::Span, vec![text(piece)]).with(vec![Attribute::Class(class.to_owned())]).node()
}

/// The language that a first line such as `:::python` or `#!/usr/bin/python` names; empty if none.
fn language_in_header(code: &str) -> &str {
    let line = code.lines().next().unwrap_or_default();
    let named = if let Some(path) = line.strip_prefix("#!") {
        // The last part of the path; or, behind a space, the program that it runs.
        let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/');
        let (path, arguments) = path.split_at(path.find(|c| !is_path(c)).unwrap_or(path.len()));
        let last = path.rsplit('/').next().unwrap_or(path);
        if last == "env" || path.is_empty() {
            arguments.trim_start_matches(' ')
        } else {
            &line[2..][path.len() - last.len()..]
        }
    } else if line.starts_with("::") {
        line.trim_start_matches(':')
    } else {
        return "";
    };
    let is_language = |c: char| c.is_ascii_alphanumeric() || "_#.+-".contains(c);
    &named[..named.find(|c| !is_language(c)).unwrap_or(named.len())]
}

/// The full name of a language: `Python` for `py`.
fn language_name(typed: &str) -> Option<&'static str> {
    let typed = typed.to_lowercase();
    LANGUAGES
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .find(|(_, aliases)| aliases.split(',').any(|alias| alias == typed))
        .map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_have_one_name() {
        assert_eq!(language_name("py"), Some("Python"));
        assert_eq!(language_name("LaTeX"), Some("TeX"));
        assert_eq!(language_name("c++"), Some("C++"));
        assert_eq!(language_name("inventedlanguage"), None);
        assert_eq!(language_name(""), None);
    }

    #[test]
    fn a_first_line_may_name_the_language() {
        for (line, language) in [
            (":::python", "python"),
            ("::c++ x", "c++"),
            (":python", ""),
            ("#!python", "python"),
            ("#!/usr/bin/python3", "python3"),
            ("#!/usr/bin/env bash", "bash"),
            ("# python", ""),
            ("", ""),
        ] {
            assert_eq!(language_in_header(&format!("{line}\nx")), language, "{line}");
        }
    }
}
