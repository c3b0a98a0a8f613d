//! The pages of `docs/conformance`: each fact of the interface in a row of its own, with the tests that hold it.

use super::source::{SourceFile, files_below};
use std::collections::BTreeSet;
use std::path::Path;

/// The full names of all tests of the project: `api::messages::edit::nothing_to_change`.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for folder in ["src", "tests"] {
        for file in files_below(folder) {
            names.extend(tests_of(&file));
        }
    }
    assert!(names.len() > 500, "the tests are where they were");
    names
}

fn tests_of(file: &SourceFile) -> Vec<String> {
    let module = file.module().join("::");
    let mut names = Vec::new();
    let mut is_test = false;
    for line in file.text.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some(start) = line.find("fn ").filter(|_| is_test) {
            let name: String = line[start + 3..]
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                .collect();
            names.push(format!("{module}::{name}"));
            is_test = false;
        }
    }
    names
}

/// The rows of a page: the number of the line, the fact, and the cell that names tests.
fn rows(page: &str) -> Vec<(usize, &str, &str)> {
    let mut rows = Vec::new();
    for (index, line) in page.lines().enumerate() {
        let Some(cells) = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")) else { continue };
        let Some((fact, tests)) = cells.rsplit_once(" | ") else { continue };
        if tests != "Test" && !fact.starts_with("---") {
            rows.push((index + 1, fact, tests));
        }
    }
    rows
}

/// A row names each of its tests in backticks, by the end of its path that no other test has.
fn complaint(named: &str, tests: &BTreeSet<String>) -> Option<String> {
    let Some(name) = named.trim().strip_prefix('`').and_then(|named| named.strip_suffix('`')) else {
        return Some(format!("{named:?} is not a name in backticks"));
    };
    let ending = format!("::{name}");
    match tests.iter().filter(|test| test.ends_with(&ending)).count() {
        1 => None,
        0 => Some(format!("there is no test `{name}`")),
        several => Some(format!("`{name}` could be {several} tests")),
    }
}

#[test]
fn each_fact_of_the_conformance_pages_has_a_test() {
    let tests = tests();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/conformance");
    let mut complaints = Vec::new();
    let mut facts = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let page = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for (line, fact, cell) in rows(&page) {
            facts += 1;
            if fact.trim().is_empty() {
                complaints.push(format!("{name}:{line}: a row without a fact"));
            }
            let wrong = cell.split(',').filter_map(|named| complaint(named, &tests));
            complaints.extend(wrong.map(|wrong| format!("{name}:{line}: {wrong}")));
        }
    }
    assert!(facts > 0, "the pages are where they were");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_row_is_read_as_a_fact_and_its_tests() {
    let page = "# Page\n\n| What holds | Test |\n|---|---|\n| `a | b`: 400 | `one::two`, `three` |\ntext\n";
    assert_eq!(rows(page), [(5, "`a | b`: 400", "`one::two`, `three`")]);
    let tests = BTreeSet::from(["api::one::two".to_owned(), "api::four::two".to_owned()]);
    assert_eq!(complaint("`one::two`", &tests), None);
    assert_eq!(complaint(" `two`", &tests), Some("`two` could be 2 tests".to_owned()));
    assert_eq!(complaint("`three`", &tests), Some("there is no test `three`".to_owned()));
    assert_eq!(complaint("two", &tests), Some("\"two\" is not a name in backticks".to_owned()));
}
