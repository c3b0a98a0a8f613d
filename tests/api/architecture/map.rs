//! The map in `ARCHITECTURE.md`: the code block there whose lines begin with paths such as `src/store/`.
//!
//! A line has one or several paths, at least two spaces, and a description. Indented lines are in the folder of the
//! preceding line without indentation. `src/{main,cli}.rs` names two files.

use super::modules::Modules;
use super::source::{SourceFile, files};
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn the_map_in_the_documentation_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    // Only the declarations of the two folders matter.
    let is_read = |file: &SourceFile| ["domain/mod.rs", "lib.rs", "main.rs"].contains(&file.path.as_str());
    let modules = Modules::read(&files().into_iter().filter(is_read).collect::<Vec<_>>());
    let mut there: BTreeSet<String> = BTreeSet::new();
    for folder in ["crates", "src"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            there.insert(if path.is_dir() { format!("{name}/") } else { name });
        }
    }
    let exists = |path: &str| root.join(path).exists();
    let orders = [("src", modules.children("")), ("src/domain", modules.children("domain"))];
    let complaints = complaints(&page, &there, &orders, exists);
    assert!(complaints.is_empty(), "the map in ARCHITECTURE.md:\n{}", complaints.join("\n"));
}

/// Errors in the map of a page. `there` has the required paths, `orders` the folders with their modules in order.
fn complaints(
    page: &str,
    there: &BTreeSet<String>,
    orders: &[(&str, &[String])],
    exists: impl Fn(&str) -> bool,
) -> Vec<String> {
    let paths = paths_of(&map_of(page));
    if paths.is_empty() {
        return vec!["no code block has a line that begins with src/".to_owned()];
    }
    let mut complaints = Vec::new();
    for path in paths.iter().filter(|path| !exists(path)) {
        complaints.push(format!("{path} does not exist"));
    }
    for path in there {
        if !paths.iter().any(|known| known == path || (path.ends_with('/') && known.starts_with(path))) {
            complaints.push(format!("{path} is missing"));
        }
    }
    for (folder, modules) in orders {
        let mut last = 0;
        for module in *modules {
            let (file, inside) = (format!("{folder}/{module}.rs"), format!("{folder}/{module}/"));
            let place = paths.iter().position(|path| *path == file || path.starts_with(&inside));
            match place {
                // The loop above reports those of `src` itself.
                None if *folder == "src" => {}
                None => complaints.push(format!("{folder}/{module} is missing")),
                Some(place) if place < last => {
                    complaints
                        .push(format!("{folder}/{module} comes too early: the source declares it later"));
                }
                Some(place) => last = place,
            }
        }
    }
    complaints
}

/// The lines of the code block that is the map.
fn map_of(page: &str) -> Vec<&str> {
    let mut block: Vec<&str> = Vec::new();
    let mut is_fenced = false;
    for line in page.lines().chain([""]) {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced || line.starts_with("    ") {
            block.push(line);
            continue;
        }
        if block.iter().any(|line| line.trim_start().starts_with("src/")) {
            return block;
        }
        block.clear();
    }
    Vec::new()
}

/// The paths of a map, in their order, from the project's folder.
fn paths_of(map: &[&str]) -> Vec<String> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let outermost = map.iter().filter(|line| !line.trim().is_empty()).map(|line| indentation(line)).min();
    let mut folder = String::new();
    let mut paths = Vec::new();
    for line in map {
        let is_inside = Some(indentation(line)) != outermost;
        let mut beside = if is_inside { folder.clone() } else { String::new() };
        for (index, word) in line.split_whitespace().take_while(|word| is_path(word)).enumerate() {
            let path = format!("{beside}{word}");
            if index == 0 && !is_inside {
                let end = path.trim_end_matches('/').rfind('/').map_or(0, |slash| slash + 1);
                path[..end].clone_into(&mut beside);
                folder = if path.ends_with('/') { path.clone() } else { beside.clone() };
            }
            paths.extend(expand(&path));
        }
    }
    paths
}

fn is_path(word: &str) -> bool {
    let is_file = word.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty() && ["rs", "sql", "md", "toml", "css", "json"].contains(&ending)
    });
    word.ends_with('/') || is_file
}

/// Takes `a/{b,c}.rs` apart.
fn expand(path: &str) -> Vec<String> {
    let parts = path.split_once('{').and_then(|(start, rest)| Some((start, rest.split_once('}')?)));
    let Some((start, (names, end))) = parts else { return vec![path.to_owned()] };
    names.split(',').map(|name| format!("{start}{}{end}", name.trim())).collect()
}

#[test]
fn a_map_is_read_and_held_against_the_source() {
    let page = "# Page\n\n    some other block\n\nText\n\n    src/lib.rs  main.rs    the map\n    src/store/  BASE\n      \
         tx.rs  migrations/   jobs, and versions\n    src/domain/{b,a}.rs   two files\n    tests/api/     tests\n";
    let paths = paths_of(&map_of(page));
    assert_eq!(
        paths,
        [
            "src/lib.rs",
            "src/main.rs",
            "src/store/",
            "src/store/tx.rs",
            "src/store/migrations/",
            "src/domain/b.rs",
            "src/domain/a.rs",
            "tests/api/",
        ]
    );
    let there = ["src/lib.rs", "src/main.rs", "src/store/", "src/domain/", "src/http/"].map(str::to_owned);
    let [top, domain] = [["store", "domain"], ["a", "b"]].map(|names| names.map(str::to_owned));
    let orders: [(&str, &[String]); 2] = [("src", &top), ("src/domain", &domain)];
    let found = complaints(page, &there.into(), &orders, |path| path != "src/store/migrations/");
    assert_eq!(
        found,
        [
            "src/store/migrations/ does not exist",
            "src/http/ is missing",
            "src/domain/b comes too early: the source declares it later",
        ]
    );
}
