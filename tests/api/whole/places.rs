//! What may lean on what. The reasons are in `ARCHITECTURE.md`.

use super::source::{SourceFile, files, paths_named};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// The modules that know no resource.
const SPINE: &[&str] = &["http", "store", "events", "types", "markdown"];

/// Lines of a file that is still read in one sitting.
const LONGEST_FILE: usize = 600;

fn assert_none(found: Vec<String>, rule: &str) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

#[test]
fn the_spine_knows_no_slice() {
    let mut found = Vec::new();
    for file in files().iter().filter(|file| SPINE.contains(&file.module()[0])) {
        let named = paths_named(file);
        let upwards = named.iter().filter(|path| path.starts_with("api::") || *path == "api");
        found.extend(upwards.map(|path| format!("{} names {path}", file.path)));
    }
    assert_none(found, "http, store, events, types and markdown do not use slices");
}

/// An operation is a file with a handler. What two slices need is in a room of its own: rules, sql, events, row ...
#[test]
fn slices_do_not_use_each_others_operations() {
    let files = files();
    let handlers = handlers(&files);
    assert!(handlers.values().map(BTreeSet::len).sum::<usize>() > 5, "handlers are found: {handlers:?}");
    let mut found = Vec::new();
    for file in &files {
        let Some(slice) = file.slice() else { continue };
        for path in paths_named(file) {
            let parts: Vec<&str> = path.split("::").collect();
            let ["api", other, rest @ ..] = parts.as_slice() else { continue };
            let of_other = handlers.get(*other).filter(|_| *other != slice);
            if let (Some(of_other), Some(first)) = (of_other, rest.first())
                && of_other.contains(*first)
            {
                found.push(format!("{} uses {path}", file.path));
            }
        }
    }
    assert_none(found, "a slice uses other slices' rules, statements and events, not their operations");
}

/// For each slice: the modules that hold handlers, and the handlers that stand in the slice's own file.
fn handlers(files: &[SourceFile]) -> BTreeMap<String, BTreeSet<String>> {
    let route =
        Regex::new(r"Route::(?:read|write|call|upload)\(\s*Method::\w+,[^,]+,[^,]+,\s*([\w:]+)").unwrap();
    let mut handlers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files {
        let Some(slice) = file.slice() else { continue };
        for found in route.captures_iter(&file.code()) {
            let first =
                found[1].trim_start_matches("self::").split("::").next().unwrap_or_default().to_owned();
            handlers.entry(slice.to_owned()).or_default().insert(first);
        }
    }
    handlers
}

#[test]
fn files_are_read_in_one_sitting() {
    let long = files().into_iter().map(|file| (file.text.lines().count(), file.path));
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
fn slices_do_not_open_transactions() {
    let statement =
        Regex::new(r#""\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA|ATTACH|VACUUM)\b"#).unwrap();
    let mut found = Vec::new();
    for file in files().iter().filter(|file| file.slice().is_some() && !file.is_test()) {
        let code = file.code();
        let lines = code.lines().filter(|line| statement.is_match(line));
        found.extend(lines.map(|line| format!("{}: {}", file.path, line.trim())));
    }
    assert_none(found, "transactions belong to the store");
}
