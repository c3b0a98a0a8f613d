//! Snapshots in families, one file for each member, so that two changes rarely touch the same file; and a check that
//! every snapshot has a test.

use super::source::{SourceFile, files_below};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders below `tests/api/architecture/snapshots` whose files a single test writes and checks.
const FAMILIES: [&str; 2] = ["plans", "routes"];

/// Checks a family of snapshots: `snapshots/{family}/{name}.snap` for each name, and no file more.
#[track_caller]
pub fn assert_written(family: &str, snapshots: &BTreeMap<String, String>) {
    assert!(FAMILIES.contains(&family), "{family} is a known family");
    assert!(!snapshots.is_empty(), "{family} has members");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("snapshots/{family}"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (name, text) in snapshots {
            insta::assert_snapshot!(name.as_str(), text);
        }
    });
    let folder = project().join("tests/api/architecture/snapshots").join(family);
    let left_over: Vec<String> = below(&folder, "snap")
        .iter()
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| !snapshots.contains_key(name))
        .collect();
    assert!(left_over.is_empty(), "snapshots of {family} that nothing writes; delete them: {left_over:?}");
}

/// A snapshot is in `snapshots` beside the file of its test, and is named after its module and the test's function, or
/// by the test.
#[test]
fn every_snapshot_has_its_test() {
    let of_families = FAMILIES.map(|family| project().join("tests/api/architecture/snapshots").join(family));
    let mut left_over = Vec::new();
    for folder in ["src", "crates", "tests"] {
        let sources = files_below(folder);
        let root = project().join(folder);
        for path in below(&root, "snap") {
            let is_of_family = of_families.iter().any(|family| path.starts_with(family));
            if !is_of_family && !has_test(path.strip_prefix(&root).unwrap(), &sources) {
                left_over.push(path.display().to_string());
            }
        }
    }
    assert!(left_over.is_empty(), "no test asserts these snapshots; delete them:\n{}", left_over.join("\n"));
}

/// True if a test asserts a snapshot. The path is relative to the folder of the sources.
fn has_test(snapshot: &Path, sources: &[SourceFile]) -> bool {
    let folder = snapshot.parent().and_then(Path::parent).unwrap();
    let names: Vec<&str> = snapshot.file_stem().unwrap().to_str().unwrap().split("__").collect();
    let Some((name, module)) = names.split_last() else { return false };
    // The test is in the file of the module, or in a module inside of the file above it.
    let modules = [module, &module[..module.len().saturating_sub(1)]].map(|names| names.join("::"));
    sources.iter().any(|file| {
        let crate_name =
            if file.path.starts_with("api/") && module.first() == Some(&"api") { "" } else { "teamchat::" };
        let is_beside = Path::new(&file.path).parent() == Some(folder);
        let asserts =
            file.text.contains(&format!("fn {name}(")) || file.text.contains(&format!("\"{name}\""));
        let is_module = modules.contains(&format!("{crate_name}{}", file.module_path()));
        is_beside && is_module && asserts && file.text.contains("snapshot!")
    })
}

#[test]
fn a_snapshot_of_a_test_that_is_gone_is_found() {
    let text = "fn every_route() { insta::assert_snapshot!(all); insta::assert_snapshot!(\"named\", all) }";
    let source = |path: &str| SourceFile::new(path, text);
    let tests = [source("api/routes.rs"), source("api/http/mod.rs")];
    let is_asserted = |snapshot: &str| has_test(Path::new(snapshot), &tests);
    assert!(is_asserted("api/snapshots/api__routes__every_route.snap"));
    assert!(is_asserted("api/snapshots/api__routes__tests__named.snap"));
    assert!(is_asserted("api/http/snapshots/api__http__every_route.snap"));
    assert!(!is_asserted("api/snapshots/api__routes__no_route.snap"));
    assert!(!is_asserted("api/snapshots/api__paths__every_route.snap"));
    assert!(!is_asserted("api/http/snapshots/api__routes__every_route.snap"));
    let unit_tests = [source("domain/cursor.rs")];
    assert!(has_test(Path::new("domain/snapshots/teamchat__domain__cursor__tests__named.snap"), &unit_tests));
}

fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a folder whose names end so.
fn below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(below(&path, extension));
        } else if path.extension().is_some_and(|ending| ending == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}
