//! Archives with one broken value: each is imported, or refused with the name of the file, and then nothing is left.

use super::Import;
use crate::harness::{Rng, budget};
use crate::moving::export;
use crate::moving::export::archive::Archive;
use crate::upgrades::populate::populate;
use serde_json::{Value, json};

/// Cases of a run, before the budget.
const CASES: usize = 40;

/// An id that nothing has.
const NOBODY: i64 = 987_654_321;

/// A change of the first row of a table.
#[derive(Clone, Debug)]
enum Change {
    /// The row is there twice.
    Twice,
    /// A number refers to nothing.
    Missing(String),
    /// A value has another type.
    Wrong(String),
}

fn cases(archive: &Archive) -> Vec<(String, String, Change)> {
    let mut cases = Vec::new();
    for (file, content) in &archive.files {
        let Ok(Value::Object(tables)) = serde_json::from_slice(content) else { continue };
        for (table, rows) in tables.iter().filter(|(table, _)| table.starts_with("zerver_")) {
            let Some(Value::Object(row)) = rows.get(0) else { continue };
            let mut changes = vec![Change::Twice];
            for (column, value) in row {
                changes.push(Change::Wrong(column.clone()));
                changes.extend(value.is_i64().then(|| Change::Missing(column.clone())));
            }
            cases.extend(changes.into_iter().map(|change| (file.clone(), table.clone(), change)));
        }
    }
    cases
}

fn changed(content: &[u8], table: &str, change: &Change) -> Vec<u8> {
    let mut tables: Value = serde_json::from_slice(content).unwrap();
    let rows = tables[table].as_array_mut().unwrap();
    match change {
        Change::Twice => rows.push(rows[0].clone()),
        Change::Missing(column) => rows[0][column] = json!(NOBODY),
        Change::Wrong(column) => rows[0][column] = json!({"wrong": [1]}),
    }
    serde_json::to_vec(&tables).unwrap()
}

#[tokio::test]
async fn no_broken_value_does_harm() {
    let (server, _, _) = populate().await;
    let (_, archive) = export::export(&server, &[]);
    drop(server);
    let import = Import::new("zulip");
    for (path, content) in &archive.files {
        import.write(path, content);
    }
    let mut cases = cases(&archive);
    let (mut rng, mut harm) = (Rng::new(7), Vec::new());
    for _ in 0..(CASES * budget()).min(cases.len()) {
        let (file, table, change) = cases.swap_remove(rng.below(cases.len()));
        import.write(&file, changed(&archive.files[&file], &table, &change));
        let output = import.run_on(&import.archive(), &["--json"]);
        let error = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        let is_named =
            error.strip_prefix("error: ").unwrap_or(&error).starts_with(file.trim_end_matches(".json"));
        let left = import.left();
        let is_harmless = match output.status.code() {
            Some(0) => left == ["chat.sqlite"],
            Some(1) => left.is_empty() && (is_named || error.contains("records.json")),
            _ => false,
        };
        if !is_harmless {
            harm.push(format!("{table}, {change:?}: {:?} {left:?} {error}", output.status.code()));
        }
        import.write(&file, &archive.files[&file]);
        let _missing = std::fs::remove_file(import.database());
    }
    assert!(harm.is_empty(), "{} of them:\n{}", harm.len(), harm.join("\n"));
}
