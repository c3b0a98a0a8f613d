//! The program's own source text.

use std::path::{Path, PathBuf};

/// One file of `src` or `tests`.
pub struct SourceFile {
    /// Below that folder, with slashes.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl SourceFile {
    /// The text up to the unit tests, without comments that take a line of their own.
    pub fn code(&self) -> String {
        let code = self.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    }

    /// The module that the file is: `["api", "users", "get"]`.
    pub fn module(&self) -> Vec<&str> {
        let path = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        let path = path.strip_suffix("/mod").unwrap_or(path);
        path.split('/').collect()
    }

    /// The slice that the file belongs to, for files of one.
    pub fn slice(&self) -> Option<&str> {
        match self.module()[..] {
            ["api", slice, ..] => Some(slice),
            _ => None,
        }
    }

    /// Whether the file holds only tests.
    pub fn is_test(&self) -> bool {
        self.module().contains(&"tests")
    }
}

/// All files of `src`, in the order of their paths.
pub fn files() -> Vec<SourceFile> {
    files_below("src")
}

/// All files of a folder of the project, in the order of their paths.
pub fn files_below(folder: &str) -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(files.len() > 30, "the source is where it was");
    files
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<SourceFile>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            files.push(SourceFile { path: name, text: std::fs::read_to_string(&path).unwrap() });
        }
    }
}

/// The paths that a file names, each from the crate's root: those of its `use` lines, taken apart, and those that are
/// written out with `crate::`.
pub fn paths_named(file: &SourceFile) -> Vec<String> {
    let code = file.code();
    let module = file.module();
    let mut paths = Vec::new();
    for statement in code.split(';') {
        let line = statement.rsplit("}\n").next().unwrap_or(statement);
        let found = line.find("use ").filter(|start| {
            let before = line[..*start].trim();
            before.is_empty() || before.ends_with("pub") || before.ends_with(']') || before.ends_with('{')
        });
        if let Some(start) = found {
            expand("", line[start + 4..].trim(), &mut paths);
        }
    }
    for (start, _) in code.match_indices("crate::") {
        let path: String = code[start..]
            .chars()
            .take_while(|letter| letter.is_alphanumeric() || "_:".contains(*letter))
            .collect();
        paths.push(path.trim_end_matches(':').to_owned());
    }
    let mut absolute: Vec<String> = paths.iter().filter_map(|path| from_root(path, &module)).collect();
    absolute.sort();
    absolute.dedup();
    absolute
}

/// Takes `a::{b, c::{d, e}}` apart.
fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((head, rest)) = tree.split_once('{') else {
        let name = tree.split(" as ").next().unwrap_or(tree).trim();
        if !name.is_empty() {
            paths.push(format!("{prefix}{name}"));
        }
        return;
    };
    let prefix = format!("{prefix}{}", head.trim());
    let mut depth = 0;
    let mut start = 0;
    let inner = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    for (index, letter) in inner.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&prefix, &inner[start..index], paths);
                start = index + 1;
            }
            _ => {}
        }
    }
    expand(&prefix, &inner[start..], paths);
}

/// A path from the crate's root: `None` for those of other crates.
fn from_root(path: &str, module: &[&str]) -> Option<String> {
    let mut parts: Vec<&str> = path.split("::").collect();
    let mut base: Vec<&str> = match parts[0] {
        "crate" => Vec::new(),
        "self" => module.to_vec(),
        "super" => module[..module.len() - 1].to_vec(),
        _ => return None,
    };
    parts.remove(0);
    while parts.first() == Some(&"super") {
        parts.remove(0);
        base.pop();
    }
    base.extend(parts.into_iter().filter(|part| *part != "self"));
    Some(base.join("::"))
}

#[test]
fn use_lines_are_taken_apart() {
    let file = SourceFile {
        path: "api/users/get.rs".to_owned(),
        text:
            "//! use crate::no::comment;\nuse super::record::{UserRecord, UserRow as Row};\nuse std::fmt;\n\
               pub use super::super::{self, realm::{self, settings}};\nfn f() { crate::api::keys::mint(); }\n\
               #[cfg(test)]\nmod tests {\n use super::*;\n}\n"
                .to_owned(),
    };
    assert_eq!(
        paths_named(&file),
        [
            "api",
            "api::keys::mint",
            "api::realm",
            "api::realm::settings",
            "api::users::record::UserRecord",
            "api::users::record::UserRow",
        ]
    );
}
