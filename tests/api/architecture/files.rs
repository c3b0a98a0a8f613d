//! Rules about single files of the source.

use super::source::files;
use regex::Regex;

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
