//! Every route, every event type, every statement.

use super::source::{SourceFile, files};
use regex::Regex;
use std::collections::BTreeMap;
use std::fmt::Write;
use teamchat::http::BODY_LIMIT;
use teamchat::store::Database;

#[test]
fn routes() {
    let mut routes = teamchat::api::routes();
    routes.sort_by_key(|route| (route.full_path(), route.method.to_string()));
    let lines = routes.iter().map(|route| {
        let mut line = format!("{:6} {:60} {}", route.method.as_str(), route.full_path(), route.access);
        if route.for_webhooks {
            line.push_str(", incoming webhooks");
        }
        if route.body_limit != BODY_LIMIT {
            write!(line, ", bodies up to {} bytes", route.body_limit).unwrap();
        }
        line
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

/// The names and versions under which events are stored. A change of the stored form that older rows cannot be read in
/// needs another version.
#[test]
fn event_types() {
    let kinds = teamchat::api::events::EVENTS.kinds().iter();
    let mut lines: Vec<_> =
        kinds.map(|kind| format!("{:30} {:30} {}", kind.event_type, kind.name, kind.version)).collect();
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"));
}

/// The statements that stand in the source as they are, each prepared against the schema. Where a statement is put
/// together from parts, the names of constants are filled in; what cannot be known here is marked and not prepared.
#[test]
fn statements() {
    let files = files();
    let constants = constants(&files);
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(&folder.path().join("chat.sqlite")).unwrap();
    let connection = database.connect_writer().unwrap();
    let mut all = String::new();
    let mut failures = Vec::new();
    for file in &files {
        let statements = statements_of(file);
        if file.is_test() || statements.is_empty() {
            continue;
        }
        writeln!(all, "{}", file.path).unwrap();
        for statement in statements {
            let part_of_others = constants.iter().any(|((path, name), text)| {
                *path == file.path && *text == statement && file.text.contains(&format!("{{{name}}}"))
            });
            if part_of_others {
                continue;
            }
            let (statement, complete) = fill_in(&statement, file, &constants);
            let mark = if complete { "" } else { " (in parts)" };
            writeln!(all, "  {statement}{mark}").unwrap();
            if complete && let Err(error) = connection.prepare(&statement) {
                failures.push(format!("{}: {statement}: {error}", file.path));
            }
        }
    }
    assert!(failures.is_empty(), "statements that the schema refuses:\n{}", failures.join("\n"));
    insta::assert_snapshot!(all);
}

/// String literals of a file that are whole statements, on one line each.
pub fn statements_of(file: &SourceFile) -> Vec<String> {
    let literal = Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap();
    let statement = Regex::new(r"^(WITH|SELECT|INSERT( OR \w+)? INTO|UPDATE \w+ SET|DELETE FROM)\s").unwrap();
    let code = file.code();
    let literals = literal.captures_iter(&code).map(|found| one_line(&found[1]));
    literals.filter(|text| statement.is_match(text)).collect()
}

fn one_line(text: &str) -> String {
    text.replace("\\\n", " ").replace("\\\"", "\"").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// String constants by file and name.
pub fn constants(files: &[SourceFile]) -> BTreeMap<(String, String), String> {
    let constant = Regex::new(r#"const (\w+): &(?:'static )?str =\s*"((?:[^"\\]|\\.)*)";"#).unwrap();
    let mut constants = BTreeMap::new();
    for file in files {
        for found in constant.captures_iter(&file.code()) {
            constants.insert((file.path.clone(), found[1].to_owned()), one_line(&found[2]));
        }
    }
    constants
}

/// Puts constants of the same file, or of the same slice, in the place of `{NAME}`.
pub fn fill_in(
    statement: &str,
    file: &SourceFile,
    constants: &BTreeMap<(String, String), String>,
) -> (String, bool) {
    let placeholder = Regex::new(r"\{(\w*)\}").unwrap();
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut complete = true;
    let filled = placeholder.replace_all(statement, |found: &regex::Captures<'_>| {
        let known = constants
            .iter()
            .filter(|((path, name), _)| path.starts_with(folder) && *name == found[1])
            .max_by_key(|((path, _), _)| *path == file.path);
        match known {
            Some((_, text)) => text.clone(),
            None => {
                complete = false;
                found[0].to_owned()
            }
        }
    });
    (filled.into_owned(), complete)
}
