//! Code blocks, in the frame that clients know: `div.codehilite > pre > code`.
//!
//! The code itself is plain text. Clients show it in one colour; the language is named for those that do more.

use super::html::{Attribute, Element, Node, Tag, text};

/// One line per language: its name, a tab, and what it is called in fences, in lower case.
const LANGUAGES: &str = include_str!("languages.tsv");

/// A block of code. `language` is as typed, empty if none.
pub fn block(language: &str, code: &str) -> Node {
    let content = Element::new(Tag::Code, vec![text(format!("{code}\n"))]);
    // Clients look for the empty element before the code.
    let frame = vec![Element::new(Tag::Span, Vec::new()).node(), content.node()];
    let mut attributes = vec![Attribute::Class("codehilite".to_owned())];
    if !language.is_empty() {
        let name = language_name(language).unwrap_or(language);
        attributes.push(Attribute::DataCodeLanguage(name.to_owned()));
    }
    Element::new(Tag::Division, vec![Element::new(Tag::Preformatted, frame).node()]).with(attributes).node()
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
}
