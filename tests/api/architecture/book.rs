//! The pages of the book say what the program says.

use super::source::files;
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Texts of other programs, an address and a file in the first column of `docs/troubleshooting.md`.
const OTHERS: [&str; 9] = [
    "413",
    "Address already in use",
    "Permission denied",
    "Read-only file system",
    "chat.sqlite-wal",
    "error: unexpected argument",
    "http://127.0.0.1",
    "invalid peer certificate",
    "status=226/NAMESPACE",
];

/// The first cells of the rows of all tables, each with the first cell of its table.
fn first_cells(page: &str) -> Vec<(&str, &str)> {
    let lines: Vec<&str> = page.lines().collect();
    let mut cells = Vec::new();
    let mut head = None;
    for (number, line) in lines.iter().enumerate() {
        let Some((cell, _)) = line.strip_prefix("| ").and_then(|row| row.split_once(" | ")) else { continue };
        if lines.get(number + 1).is_some_and(|next| next.starts_with("|---")) {
            head = Some(cell);
        } else {
            cells.extend(head.map(|head| (head, cell)));
        }
    }
    cells
}

/// The texts of the program in quotation marks, without those of unit tests, and the texts of the web client.
fn texts(root: &Path) -> String {
    let continued = Regex::new(r"\\\n\s*").unwrap();
    let mut texts = String::new();
    for file in files().iter().filter(|file| !file.is_test()) {
        let source = file.text.split("#[cfg(test)]").next().unwrap();
        let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
        texts.push_str(&continued.replace_all(&code.collect::<Vec<_>>().join("\n"), ""));
    }
    let client = std::fs::read_to_string(root.join("web/words/de.json")).unwrap();
    for text in serde_json::from_str::<BTreeMap<String, Value>>(&client).unwrap().keys() {
        texts.push_str(text);
        texts.push('\n');
    }
    texts
}

/// A message in the book is one that the program or the web client shows. `...` in it is any other text.
#[test]
fn messages_of_troubleshooting_are_in_the_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/troubleshooting.md")).unwrap();
    let texts = texts(root);
    let code = Regex::new("`([^`]+)`").unwrap();
    let cells: Vec<_> =
        first_cells(&page).into_iter().filter(|(head, _)| head.starts_with("Message")).collect();
    let messages: Vec<&str> = cells
        .iter()
        .flat_map(|(_, cell)| code.captures_iter(cell))
        .map(|captures| captures.get(1).unwrap().as_str())
        .collect();
    assert!(messages.len() > 40, "{messages:?}");

    let mut unused: BTreeSet<&str> = OTHERS.into();
    let mut missing = Vec::new();
    for message in messages {
        let mut own = message.to_owned();
        for other in OTHERS.iter().filter(|other| message.contains(**other)) {
            own = own.replace(*other, "...");
            unused.remove(other);
        }
        let parts: Vec<String> = own.split("...").map(|part| regex::escape(part.trim())).collect();
        if !Regex::new(&parts.join("[^\"\n]*")).unwrap().is_match(&texts) {
            missing.push(message);
        }
    }
    assert!(missing.is_empty(), "no text of the program: {missing:#?}");
    assert!(unused.is_empty(), "no messages of the page: {unused:?}");
}

#[test]
fn rows_of_troubleshooting_are_there_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/troubleshooting.md")).unwrap();
    let mut seen = BTreeSet::new();
    let doubled: Vec<_> = first_cells(&page).into_iter().filter(|(_, cell)| !seen.insert(*cell)).collect();
    assert!(doubled.is_empty(), "{doubled:#?}");
}
