//! Rules about single files of the source.

use super::source::files;
use regex::Regex;
use std::path::Path;

/// Lines of a file that is still read in one sitting, without the ids of facts above tests.
const LONGEST_FILE: usize = 600;

fn assert_none(found: Vec<String>, rule: &str) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

#[test]
fn files_are_read_in_one_sitting() {
    let lines = |text: &str| text.lines().filter(|line| !line.trim().starts_with("// conformance:")).count();
    let long = files().into_iter().map(|file| (lines(&file.text), file.path));
    let long = long.filter(|(lines, _)| *lines > LONGEST_FILE);
    assert_none(long.map(|(lines, path)| format!("{path}: {lines} lines")).collect(), "split by meaning");
}

#[test]
fn nothing_is_left_to_do() {
    let marks = Regex::new(r"\b(todo!|unimplemented!|TODO|FIXME|XXX)").unwrap();
    let mut found = Vec::new();
    for file in files() {
        for (number, line) in file.text.lines().enumerate().filter(|(_, line)| marks.is_match(line)) {
            found.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
        }
    }
    assert_none(found, "what is missing is not there, or an issue");
}

/// Only the writer's jobs change the file, and only the writer and the opening of the file begin transactions.
#[test]
fn only_the_store_begins_transactions() {
    let statement =
        Regex::new(r"^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA|ATTACH|VACUUM)\b").unwrap();
    let mut found = Vec::new();
    for file in files().iter().filter(|file| !file.is_test()) {
        // Markdown has words of programming languages.
        if file.module().first().is_some_and(|top| ["store", "markdown"].contains(top)) {
            continue;
        }
        let literals = file.literals();
        let statements = literals.iter().filter(|text| statement.is_match(text));
        found.extend(statements.map(|text| format!("{}: {text}", file.path)));
    }
    assert_none(found, "transactions belong to the store");
}

/// What the source includes from beside it is copied into the container that builds it, and all that is copied is there.
#[test]
fn the_container_has_what_the_build_needs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let container = std::fs::read_to_string(root.join("packaging/Dockerfile")).unwrap();
    let build = container.split("\nFROM ").nth(1).unwrap();
    let lines = build.lines().filter_map(|line| line.strip_prefix("COPY "));
    let copied: Vec<&str> = lines.flat_map(|line| line.rsplit_once(' ').unwrap().0.split(' ')).collect();
    assert!(copied.len() > 5, "{copied:?}");
    let missing = copied.iter().filter(|path| !root.join(path).exists());
    assert_none(missing.map(ToString::to_string).collect(), "the container copies what is not there");

    let included =
        Regex::new(r#"include_(?:str|bytes)!\("(?:\.\./)+([^/"]+)|#\[folder = "([^/"]+)"#).unwrap();
    let mut found = Vec::new();
    for file in files() {
        for captures in included.captures_iter(&file.text) {
            let beside = captures.get(1).or(captures.get(2)).unwrap().as_str();
            if root.join(beside).exists() && !copied.contains(&beside) {
                found.push(format!("{}: {beside}", file.path));
            }
        }
    }
    assert_none(found, "the container copies what the source includes");
}

/// Documents name files of the project as code; those are there.
#[test]
fn files_that_documents_name_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = Regex::new(r"`((?:src|tests|docs|web|packaging|benches)/[\w./-]+)`").unwrap();
    let mut missing = Vec::new();
    for document in ["README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "DESIGN.md"] {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let paths = named.captures_iter(&text).map(|captures| captures[1].to_owned());
        missing
            .extend(paths.filter(|path| !root.join(path).exists()).map(|path| format!("{document}: {path}")));
    }
    assert_none(missing, "a document names a file that is not there");
}
