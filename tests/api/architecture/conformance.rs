//! The pages of `docs/conformance`. Each statement about the interface is a row with a short id, and its tests have the
//! id in a comment above them: `// conformance: send-12, send-13`. Ids are never reused: a new statement gets the next
//! number of its page, wherever its row is.

use super::source::files_below;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The prefix of a comment with ids.
const MARK: &str = "// conformance:";

/// The ids of a file, and errors in its comments.
#[derive(Default)]
struct Found {
    /// The ids, with their places.
    ids: BTreeMap<String, String>,
    complaints: Vec<String>,
}

/// Reads the rows of a page: `| send-12 | Statement |`.
fn read_page(name: &str, page: &str, found: &mut Found) {
    let mut prefix = None;
    for (index, line) in page.lines().enumerate() {
        let Some(cells) = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")) else { continue };
        let place = format!("{name}:{}", index + 1);
        let Some((id, fact)) = cells.split_once(" | ") else {
            found.complaints.push(format!("{place}: not a row with an id and a fact"));
            continue;
        };
        if id == "Id" {
            continue;
        }
        let word = id.rsplit_once('-').filter(|(word, number)| is_id(word, number)).map(|(word, _)| word);
        match (word, prefix) {
            (None, _) => found.complaints.push(format!("{place}: {id:?} is not an id such as send-12")),
            (Some(word), Some(other)) if word != other => {
                found.complaints.push(format!("{place}: {id} is on the page of {other}"));
            }
            (Some(word), _) => prefix = Some(word),
        }
        if fact.trim().is_empty() {
            found.complaints.push(format!("{place}: a row without a fact"));
        }
        if let Some(first) = found.ids.insert(id.to_owned(), place.clone()) {
            found.complaints.push(format!("{place}: {id} is there already, {first}"));
        }
    }
}

fn is_id(word: &str, number: &str) -> bool {
    !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        && !number.starts_with('0')
        && number.parse::<u32>().is_ok()
}

/// Reads the comments of a source file. Each must be above a test.
fn read_source(name: &str, text: &str, found: &mut Found) {
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let Some(ids) = line.trim().strip_prefix(MARK) else { continue };
        let place = format!("{name}:{}", index + 1);
        let next = lines.peek().map_or("", |(_, line)| line.trim());
        if ![MARK, "#[test]", "#[tokio::test"].iter().any(|start| next.starts_with(start)) {
            found.complaints.push(format!("{place}: no test follows"));
        }
        for id in ids.split(',') {
            found.ids.insert(id.trim().to_owned(), place.clone());
        }
    }
}

#[test]
fn each_fact_of_the_conformance_pages_has_a_test() {
    let (mut pages, mut tests) = (Found::default(), Found::default());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/conformance");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        read_page(&name, &std::fs::read_to_string(&path).unwrap(), &mut pages);
    }
    for folder in ["src", "crates", "tests"] {
        for file in
            files_below(folder).iter().filter(|file| !file.path.ends_with("architecture/conformance.rs"))
        {
            read_source(&format!("{folder}/{}", file.path), &file.text, &mut tests);
        }
    }
    assert!(pages.ids.len() > 500, "the facts are found");
    let mut complaints = [pages.complaints, tests.complaints].concat();
    let known: BTreeSet<&String> = tests.ids.keys().collect();
    for (id, place) in pages.ids.iter().filter(|(id, _)| !known.contains(id)) {
        complaints.push(format!("{place}: no test is marked with {id}"));
    }
    for (id, place) in tests.ids.iter().filter(|(id, _)| !pages.ids.contains_key(*id)) {
        complaints.push(format!("{place}: no page has {id}"));
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn a_row_is_an_id_and_a_fact() {
    let page = "# Page\n\n| Id | Statement |\n|---|---|\n| send-1 | `a | b`: 400 |\n| send-2 |  |\n| send-1 | x |\n\
         | move-3 | x |\n| Send | x |\n";
    let mut found = Found::default();
    read_page("send.md", page, &mut found);
    assert_eq!(found.ids["send-2"], "send.md:6");
    assert_eq!(
        found.complaints,
        [
            "send.md:6: a row without a fact",
            "send.md:7: send-1 is there already, send.md:5",
            "send.md:8: move-3 is on the page of send",
            "send.md:9: \"Send\" is not an id such as send-12",
        ]
    );
}

#[test]
fn conformance_comments_belong_to_tests() {
    let source = "// conformance: send-1, send-2\n// conformance: send-3\n#[tokio::test]\nasync fn a() {}\n\
         // conformance: send-4\nfn b() {}\n";
    let mut found = Found::default();
    read_source("a.rs", source, &mut found);
    assert_eq!(found.ids.keys().collect::<Vec<_>>(), ["send-1", "send-2", "send-3", "send-4"]);
    assert_eq!(found.complaints, ["a.rs:5: no test follows"]);
}
