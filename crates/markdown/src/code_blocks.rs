//! Code blocks: `div.codehilite > pre > code`.
//!
//! Code in a known language is split into tokens that clients color; other code is plain text.

use super::{
    highlight,
    html::{Attribute, Element, Node, Tag, text},
};

/// One line per language: its name, a tab, and its names in fences, in lower case.
const LANGUAGES: &str = include_str!("languages.tsv");

/// Renders a code block. `language` is as typed; if it is empty, the first line may name one.
pub fn render(language: &str, code: &str) -> Node {
    let code = format!("{code}\n");
    let typed = if language.is_empty() { language_in_header(&code) } else { language };
    let name = language_name(typed);
    let tokens = name.and_then(|name| highlight::tokens(name, &code));
    let content = match tokens {
        Some(tokens) => tokens.into_iter().map(|(class, token)| token_node(class, token)).collect(),
        None => vec![text(code)],
    };
    // Clients expect the empty element before the code.
    let frame = vec![Element::new(Tag::Span, Vec::new()).node(), Element::new(Tag::Code, content).node()];
    let mut attributes = vec![Attribute::Class("codehilite".to_owned())];
    if !language.is_empty() {
        attributes.push(Attribute::DataCodeLanguage(name.unwrap_or(language).to_owned()));
    }
    Element::new(Tag::Division, vec![Element::new(Tag::Preformatted, frame).node()]).with(attributes).node()
}

fn token_node(class: &'static str, token: &str) -> Node {
    if class.is_empty() {
        return text(token);
    }
    Element::new(Tag::Span, vec![text(token)]).with(vec![Attribute::Class(class.to_owned())]).node()
}

/// Returns the language that a first line such as `:::python` or `#!/usr/bin/python` names; empty if none.
fn language_in_header(code: &str) -> &str {
    let line = code.lines().next().unwrap_or_default();
    let named = if let Some(path) = line.strip_prefix("#!") {
        // The last segment of the path, or the argument of `env`.
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

/// Returns the full name of a language: `Python` for `py`.
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

    // conformance: md-16
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
