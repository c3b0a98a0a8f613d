//! The languages of the server's own texts: pages, emails, push notifications and notices. Errors of the interface stay English,
//! because clients match on them.
//!
//! The English text in the source is the key of the catalogues in `words/`. Parameters are `{name}`.

use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Codes of the languages, as in settings, with their catalogues. English has none.
const CATALOGUES: [(&str, &str); 10] = [
    ("en", "{}"),
    ("de", include_str!("words/de.json")),
    ("fr", include_str!("words/fr.json")),
    ("es", include_str!("words/es.json")),
    ("pt-br", include_str!("words/pt-br.json")),
    ("it", include_str!("words/it.json")),
    ("nl", include_str!("words/nl.json")),
    ("pl", include_str!("words/pl.json")),
    ("ja", include_str!("words/ja.json")),
    ("zh-hans", include_str!("words/zh-hans.json")),
];

/// The most languages that are read of an `Accept-Language` header.
const MAX_ACCEPTED: usize = 16;

/// Texts by their English form.
type Catalogue = HashMap<String, Entry>;

/// The catalogues by code. A test checks that all can be read.
static TEXTS: LazyLock<HashMap<&str, Catalogue>> = LazyLock::new(|| {
    CATALOGUES
        .into_iter()
        .map(|(code, json)| (code, serde_json::from_str(json).unwrap_or_default()))
        .collect()
});

/// A text, or its plural forms by category.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Entry {
    Text(String),
    Forms(HashMap<String, String>),
}

/// A language of the server's texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English, the language of the source.
    #[default]
    English,
    /// One with a catalogue, by its code.
    Other(&'static str),
}

impl Language {
    /// The code, as in settings and in `lang` of HTML.
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Other(code) => code,
        }
    }

    /// The language for a code of a setting or browser: the nearest one, or else English.
    pub fn of(code: &str) -> Self {
        Self::nearest(code).unwrap_or_default()
    }

    /// The language that a browser prefers, by its `Accept-Language` header; `None` if there is no catalogue of any.
    pub fn accepted(header: &str) -> Option<Self> {
        let weighed = header.split(',').take(MAX_ACCEPTED).map(|part| {
            let mut parts = part.split(';');
            let code = parts.next().unwrap_or_default();
            let weight = parts.find_map(|part| part.trim().strip_prefix("q=")?.parse::<f32>().ok());
            (code, weight.unwrap_or(1.0))
        });
        let mut accepted: Vec<_> = weighed.filter(|(_, weight)| *weight > 0.0).collect();
        accepted.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        accepted.into_iter().find_map(|(code, _)| Self::nearest(code))
    }

    fn nearest(code: &str) -> Option<Self> {
        let code = code.trim().to_ascii_lowercase();
        let mut parts = code.split('-');
        let wanted = match parts.next().unwrap_or_default() {
            "pt" => "pt-br",
            "zh" if parts.any(|part| ["hant", "tw", "hk", "mo"].contains(&part)) => return None,
            "zh" => "zh-hans",
            other => other,
        };
        let (code, _) = CATALOGUES.into_iter().find(|(code, _)| *code == wanted)?;
        Some(if code == "en" { Self::English } else { Self::Other(code) })
    }

    /// A text in this language.
    pub fn t(self, english: &'static str) -> &'static str {
        match TEXTS.get(self.code()).and_then(|texts| texts.get(english)) {
            Some(Entry::Text(text)) => text,
            _ => english,
        }
    }

    /// The form of a text for a count. `other` is its key.
    pub fn counted(self, one: &'static str, other: &'static str, count: i64) -> &'static str {
        match TEXTS.get(self.code()).and_then(|texts| texts.get(other)) {
            Some(Entry::Forms(forms)) => forms.get(self.plural(count)).map_or(other, String::as_str),
            _ if count == 1 => one,
            _ => other,
        }
    }

    /// The space between sentences: Japanese and Chinese have none.
    pub const fn between_sentences(self) -> &'static str {
        match self.code().as_bytes() {
            b"ja" | b"zh-hans" => "",
            _ => " ",
        }
    }

    /// The plural category of a count, as in CLDR for whole numbers.
    const fn plural(self, count: i64) -> &'static str {
        match self.code().as_bytes() {
            b"ja" | b"zh-hans" => "other",
            b"fr" | b"pt-br" if count == 0 || count == 1 => "one",
            b"pl" => match (count, count % 10, count % 100) {
                (1, ..) => "one",
                (_, 2..=4, 0..=11 | 15..=99) => "few",
                _ => "many",
            },
            _ if count == 1 => "one",
            _ => "other",
        }
    }
}

/// A part of a text with parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Words.
    Text(&'a str),
    /// The place of a parameter with this name.
    Parameter(&'a str),
}

/// A text with its parameters, for places where it is escaped as a whole.
pub fn fill(text: &str, parameters: &[(&str, &str)]) -> String {
    let value = |piece| match piece {
        Piece::Text(text) => text,
        Piece::Parameter(name) => {
            parameters.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
        }
    };
    pieces(text).into_iter().map(value).collect()
}

/// Divides a text at its parameters.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, (name, after))) =
        rest.split_once('{').and_then(|(before, after)| Some((before, after.split_once('}')?)))
    {
        pieces.extend([Piece::Text(before), Piece::Parameter(name)]);
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalogues_can_be_read() {
        for (code, json) in CATALOGUES {
            let read: Catalogue =
                serde_json::from_str(json).unwrap_or_else(|error| panic!("{code}: {error}"));
            assert_eq!(read.is_empty(), code == "en", "{code}");
        }
    }

    #[test]
    fn languages_without_a_catalogue_have_the_nearest_one() {
        for (code, expected) in [
            ("de", "de"),
            ("de-AT", "de"),
            ("pt-pt", "pt-br"),
            ("zh-CN", "zh-hans"),
            ("zh", "zh-hans"),
            ("zh-hant", "en"),
            ("en-gb", "en"),
            ("klingon", "en"),
            ("", "en"),
        ] {
            assert_eq!(Language::of(code).code(), expected, "{code}");
        }
    }

    #[test]
    fn browsers_weigh_their_languages() {
        for (header, expected) in [
            ("de-AT,de;q=0.9,en;q=0.8", Some("de")),
            ("en;q=0.5, fr", Some("fr")),
            ("sv, zh-TW;q=0.9, ja;q=0.1", Some("ja")),
            ("de;q=0, en-US", Some("en")),
            ("sv", None),
            ("*", None),
            ("de;q=many", Some("de")),
            ("", None),
        ] {
            assert_eq!(Language::accepted(header).map(Language::code), expected, "{header}");
        }
    }

    #[test]
    fn plurals_follow_the_language() {
        let forms = |code, counts: &[i64]| -> Vec<&str> {
            counts.iter().map(|count| Language::of(code).plural(*count)).collect()
        };
        assert_eq!(forms("de", &[0, 1, 2]), ["other", "one", "other"]);
        assert_eq!(forms("fr", &[0, 1, 2]), ["one", "one", "other"]);
        assert_eq!(
            forms("pl", &[1, 2, 5, 12, 22, 25, 101, 112]),
            ["one", "few", "many", "many", "few", "many", "many", "many"]
        );
        assert_eq!(forms("ja", &[1, 2]), ["other", "other"]);
    }

    #[test]
    fn parameters_are_filled_in_once() {
        let text = fill("{one} and {other}.", &[("one", "{other}"), ("other", "two")]);
        assert_eq!(text, "{other} and two.");
        assert_eq!(pieces("{"), [Piece::Text("{")]);
    }
}
