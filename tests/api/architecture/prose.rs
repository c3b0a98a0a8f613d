//! Comments and documents are plain technical English: noun or verb first, present tense, one idea a sentence.
//!
//! The test looks for words and openings that such text does without.

use regex::Regex;
use std::path::{Path, PathBuf};

/// Folders with source, and with documents.
const FOLDERS: &[&str] = &["benches", "crates", "docs", "packaging", "src", "tests", "web"];

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
    let words = Regex::new(r"(?i)\b(nobody|somebody|everybody|told|anew|alike|stands|so\s+many)\b").unwrap();

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
