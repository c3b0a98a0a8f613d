//! The catalogues of the server's own texts (`src/types/words`) have what the source asks for.

use super::source::{SourceFile, files};
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

/// A string literal with its escapes.
const LITERAL: &str = r#""((?:[^"\\]|\\(?s:.))*)""#;

/// Plural categories of whole numbers, by language.
const FORMS: [(&str, &[&str]); 9] = [
    ("de", &["one", "other"]),
    ("es", &["one", "other"]),
    ("fr", &["one", "other"]),
    ("it", &["one", "other"]),
    ("ja", &["other"]),
    ("nl", &["one", "other"]),
    ("pl", &["few", "many", "one"]),
    ("pt-br", &["one", "other"]),
    ("zh-hans", &["other"]),
];

/// The texts of the source that are translated, and whether they have plural forms.
fn texts_of_source() -> BTreeMap<String, bool> {
    let single = Regex::new(&format!(r"(?:\.t|Reasons::of)\(\s*{LITERAL}")).unwrap();
    let counted = Regex::new(&format!(r"\.counted\(\s*{LITERAL},\s*{LITERAL}")).unwrap();
    let line_end = Regex::new(r"\\\n\s*").unwrap();
    let text = |literal: &str| line_end.replace_all(literal, "").replace("\\\"", "\"");
    // The name of the empty topic is a constant of the interface.
    let mut texts = BTreeMap::from([(String::from("general chat"), false)]);
    for file in files().into_iter().filter(|file| file.path != "types/language.rs") {
        texts.extend(single.captures_iter(&file.text).map(|found| (text(&found[1]), false)));
        texts.extend(counted.captures_iter(&file.text).map(|found| (text(&found[2]), true)));
    }
    texts
}

fn parameters(text: &str) -> BTreeSet<String> {
    static PARAMETER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{(\w+)\}").unwrap());
    PARAMETER.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

/// Returns the problem of an entry, if it has one.
fn problem(key: &str, has_forms: bool, entry: Option<&Value>, forms: &[&str]) -> Option<&'static str> {
    match (entry, has_forms) {
        (None, _) => Some("is missing"),
        (Some(Value::String(text)), false) if parameters(text) != parameters(key) => {
            Some("has other parameters")
        }
        // Mail programs end the link of a URL at white space or an ASCII mark, not at a mark of another script.
        (Some(Value::String(text)), false) => {
            let goes_on = |after: &str| after.starts_with(|next: char| !next.is_ascii());
            text.split("{url}").skip(1).any(goes_on).then_some("does not end a URL")
        }
        (Some(Value::Object(entry)), true) => {
            let texts: Vec<&str> = entry.values().filter_map(Value::as_str).collect();
            // A form for one number may say it in words.
            let fits = |text: &str| {
                let (found, wanted) = (parameters(text), parameters(key));
                found.is_subset(&wanted) && wanted.difference(&found).all(|name| name == "count")
            };
            let has_all =
                entry.keys().map(String::as_str).collect::<BTreeSet<_>>() == forms.iter().copied().collect();
            (!has_all || !texts.iter().copied().all(fits)).then_some("has other forms or parameters")
        }
        _ => Some("has plural forms or should have some"),
    }
}

/// Folders and files with the texts of pages, emails and notifications.
const TRANSLATED: [&str; 11] = [
    "api/accounts/",
    "api/digest/",
    "api/join/",
    "api/missed_messages/",
    "api/public_pages/",
    "api/sign_on/",
    "api/web_push/payload.rs",
    "api/web_push/phone_payload.rs",
    "domain/invites/letters.rs",
    "domain/mail/letters.rs",
    "http/page.rs",
];

#[test]
fn pages_and_emails_have_no_sentence_without_a_translation() {
    let error = Regex::new(&format!(r"ApiError::\w+\(\s*{LITERAL}")).unwrap();
    let sentence = Regex::new(r"^[A-Z][a-z]*[ ,']").unwrap();
    let texts = texts_of_source();
    let mut count = 0;
    let mut problems = Vec::new();
    let is_translated = |file: &SourceFile| TRANSLATED.iter().any(|place| file.path.starts_with(place));
    for file in files().into_iter().filter(is_translated) {
        // Errors of the interface stay English.
        let errors: BTreeSet<String> =
            error.captures_iter(&file.text).map(|found| found[1].to_owned()).collect();
        for literal in file.literals().into_iter().filter(|literal| sentence.is_match(literal)) {
            count += 1;
            if !texts.contains_key(&literal) && !errors.contains(&literal) {
                problems.push(format!("{}: {literal:?}", file.path));
            }
        }
    }
    assert!(count > 80, "the sentences of pages are found: {count}");
    assert!(problems.is_empty(), "in no catalogue:\n{}", problems.join("\n"));
}

#[test]
fn the_servers_texts_are_in_every_catalogue() {
    let texts = texts_of_source();
    assert!(texts.len() > 150, "the texts of the source are found: {}", texts.len());
    let mut problems = Vec::new();
    for (language, forms) in FORMS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/types/words/{language}.json"));
        let catalogue: BTreeMap<String, Value> =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for (key, has_forms) in &texts {
            let found = problem(key, *has_forms, catalogue.get(key), forms);
            problems.extend(found.map(|found| format!("{language}: {key:?} {found}")));
        }
        let unused = catalogue.keys().filter(|key| !texts.contains_key(*key));
        problems.extend(unused.map(|key| format!("{language}: {key:?} is unused")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
