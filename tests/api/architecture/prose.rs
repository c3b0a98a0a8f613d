//! Comments, documents and the texts of clients are plain technical English: noun or verb first, present tense, one idea a
//! sentence.
//!
//! The tests look for words and openings that such text does without.

use super::source::files;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders with source, and with documents.
const FOLDERS: &[&str] = &["benches", "crates", "docs", "packaging", "src", "tests", "web"];

/// Words that comments and public pages do without.
const WORDS: &str =
    r"(?i)\b(nobody|somebody|everybody|told|tells|anew|alike|stands|whoever|hears\s+of|so\s+many)\b";

/// Words that names in the source do without.
const WORDS_IN_NAMES: [&str; 3] = ["alike", "anew", "told"];

/// The published name of a group, which the web client shows.
const NAME_OF_GROUP: &str = "Nobody";

/// A paragraph of a comment or of a document, and the line on which it begins.
struct Paragraph {
    line: usize,
    is_doc: bool,
    text: String,
}

/// The paragraphs of the comments of a Rust file.
fn comments(source: &str) -> Vec<Paragraph> {
    let comment = Regex::new(r"^\s*(///|//!|//)\s+(.*)$").unwrap();
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut previous = None;
    for (number, line) in source.lines().enumerate() {
        let Some(captures) = comment.captures(line) else {
            previous = None;
            continue;
        };
        let (marker, text) = (&captures[1], captures[2].trim());
        match paragraphs.last_mut() {
            Some(last) if previous == Some(marker.to_owned()) && !text.starts_with("- ") => {
                last.text.push(' ');
                last.text.push_str(text);
            }
            _ => {
                let is_doc = marker != "//";
                paragraphs.push(Paragraph { line: number + 1, is_doc, text: text.to_owned() });
            }
        }
        previous = Some(marker.to_owned());
    }
    paragraphs
}

/// The lines of a Markdown document outside of blocks of code.
fn lines(document: &str) -> Vec<Paragraph> {
    let mut in_code = false;
    let mut found = Vec::new();
    for (number, line) in document.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            found.push(Paragraph { line: number + 1, is_doc: false, text: line.to_owned() });
        }
    }
    found
}

/// The comments of a script or of settings.
fn remarks(source: &str) -> Vec<Paragraph> {
    let lines = source.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("# "));
    lines
        .map(|(number, line)| Paragraph { line: number + 1, is_doc: false, text: line.trim().to_owned() })
        .collect()
}

/// Adds the files below a folder.
fn add_files(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            paths.push(path);
        } else if !path.ends_with("node_modules") && !path.ends_with("target") {
            add_files(&path, paths);
        }
    }
}

#[test]
fn prose_is_plain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let code = Regex::new("`[^`]*`").unwrap();
    let opening =
        Regex::new(r"^(- )?(\*\*)?(What|Who|Whose|Whom|Whoever|Whatever|Whether|Which|How|Where|Those)\b")
            .unwrap();
    let words = Regex::new(WORDS).unwrap();

    let top = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = top.filter(|path| path.is_file()).collect();
    for folder in FOLDERS {
        add_files(&root.join(folder), &mut paths);
    }

    let mut found = Vec::new();
    for path in paths {
        let paragraphs: fn(&str) -> Vec<Paragraph> = match path.extension().and_then(|name| name.to_str()) {
            Some("rs") => comments,
            Some("md") => lines,
            Some("sh" | "toml" | "service" | "socket" | "yaml" | "yml") => remarks,
            _ => continue,
        };
        let name = path.strip_prefix(root).unwrap().display();
        for paragraph in paragraphs(&std::fs::read_to_string(&path).unwrap()) {
            let text = code.replace_all(&paragraph.text, "``");
            let mut marks: Vec<&str> = words.find_iter(&text).map(|word| word.as_str()).collect();
            marks.extend(opening.find(&text).filter(|_| paragraph.is_doc).map(|word| word.as_str()));
            found.extend(marks.into_iter().map(|mark| format!("{name}:{}: {mark}", paragraph.line)));
        }
    }
    assert!(found.is_empty(), "words to replace:\n{}", found.join("\n"));
}

#[test]
fn names_are_plain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let declared =
        Regex::new(r"\b(?:const|enum|fn|let|let mut|mod|static|struct|trait|type)\s+([A-Za-z0-9_]+)")
            .unwrap();
    let mut paths = Vec::new();
    for folder in FOLDERS {
        add_files(&root.join(folder), &mut paths);
    }
    let mut found = Vec::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|name| name == "rs")) {
        let source = std::fs::read_to_string(path).unwrap();
        let names = declared.captures_iter(&source).map(|declaration| declaration[1].to_owned());
        let refused = names.filter(|name| name.split('_').any(|word| WORDS_IN_NAMES.contains(&word)));
        found.extend(refused.map(|name| format!("{}: {name}", path.display())));
    }
    assert!(found.is_empty(), "names to replace:\n{}", found.join("\n"));
}

/// The English texts of a catalogue, which are its keys.
fn keys(catalogue: &str) -> Vec<String> {
    serde_json::from_str::<BTreeMap<String, Value>>(catalogue).unwrap().into_keys().collect()
}

/// The descriptions of the interface, a line each.
fn descriptions(openapi: &str) -> Vec<String> {
    openapi
        .lines()
        .filter(|line| line.contains("description") || line.contains("summary"))
        .map(Into::into)
        .collect()
}

#[test]
fn texts_of_clients_and_of_the_interface_are_plain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let code = Regex::new("`[^`]*`").unwrap();
    let words = Regex::new(WORDS).unwrap();
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let [client, server, interface] = ["web/words/de.json", "src/types/words/de.json", "docs/openapi.yaml"];
    let sources = [
        (client, keys(&read(client))),
        (server, keys(&read(server))),
        (interface, descriptions(&read(interface))),
    ];
    let mut found = Vec::new();
    for (name, texts) in sources {
        assert!(texts.len() > 150, "{name} has texts: {}", texts.len());
        for text in texts.iter().filter(|text| *text != NAME_OF_GROUP) {
            let plain = code.replace_all(text, "``");
            found.extend(words.find_iter(&plain).map(|word| format!("{name}: {} in {text}", word.as_str())));
        }
    }
    assert!(found.is_empty(), "words to replace:\n{}", found.join("\n"));
}

#[test]
fn messages_of_the_program_are_plain() {
    let words = Regex::new(WORDS).unwrap();
    // Only files that may have one of the words are parsed, since that takes long. In the source, line breaks are escaped.
    let escaped = WORDS.replace(r"\b", "").replace(r"\s+", r"[\s\\n]+");
    let escaped = Regex::new(&escaped).unwrap();
    let mut found = Vec::new();
    for file in files().into_iter().filter(|file| !file.is_test() && escaped.is_match(&file.text)) {
        // Names have no spaces.
        for text in file.literals().into_iter().filter(|text| text.contains(' ')) {
            found.extend(
                words.find_iter(&text).map(|word| format!("{}: {} in {text}", file.path, word.as_str())),
            );
        }
    }
    assert!(found.is_empty(), "words to replace:\n{}", found.join("\n"));
}
