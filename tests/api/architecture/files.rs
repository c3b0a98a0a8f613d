//! Rules about single files of the source.

use super::source::{files, files_below};
use regex::Regex;
use std::collections::BTreeSet;
use std::path::Path;
use syn::visit::Visit;

/// Lines of a file that is still read in one sitting, without the ids of facts above tests.
const LONGEST_FILE: usize = 600;

fn assert_none(found: Vec<String>, rule: &str) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

#[test]
fn files_are_short() {
    let lines = |text: &str| text.lines().filter(|line| !line.trim().starts_with("// conformance:")).count();
    let files = ["src", "crates", "tests", "benches"].into_iter().flat_map(files_below);
    let long = files.map(|file| (lines(&file.text), file.path));
    let long = long.filter(|(lines, _)| *lines > LONGEST_FILE);
    assert_none(long.map(|(lines, path)| format!("{path}: {lines} lines")).collect(), "split by meaning");
}

/// An archive can have any size, and the check of the new database is one read.
#[test]
fn imports_read_without_a_time_limit() {
    let limited = |text: &str| [".read_now(", ".readers.read("].iter().any(|call| text.contains(call));
    let found = files().into_iter().filter(|file| file.path.starts_with("moving/") && limited(&file.text));
    assert_none(found.map(|file| file.path).collect(), "call `read_everything`");
}

/// A call is read without its imports: what is ours has one name. `as _` imports a trait for its methods only.
#[test]
fn nothing_of_ours_has_a_second_name() {
    let mut found = Vec::new();
    // Only files that may have such an import are parsed, since that takes long.
    let renames = Regex::new(r"\buse\s[^;]*\sas\s").unwrap();
    for folder in ["src", "crates", "tests", "benches"] {
        for file in files_below(folder).into_iter().filter(|file| renames.is_match(&file.text)) {
            let aliases = Aliases::of(file.tree()).into_iter();
            found.extend(aliases.map(|alias| format!("{folder}/{}: {alias}", file.path)));
        }
    }
    assert_none(found, "import the module above and say `module::name`");
}

/// Imports under another name, of paths that begin in this crate.
#[derive(Default)]
struct Aliases {
    roots: Vec<String>,
    found: Vec<String>,
}

impl Aliases {
    fn of(file: &syn::File) -> Vec<String> {
        let mut aliases = Self::default();
        aliases.roots.extend(["crate", "self", "super", "teamchat"].map(str::to_owned));
        aliases.roots.extend(file.items.iter().filter_map(|item| match item {
            syn::Item::Mod(module) => Some(module.ident.to_string()),
            _ => None,
        }));
        aliases.visit_file(file);
        aliases.found
    }
}

impl<'ast> Visit<'ast> for Aliases {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if let syn::UseTree::Path(path) = &item.tree
            && self.roots.iter().any(|root| path.ident == root)
        {
            syn::visit::visit_item_use(self, item);
        }
    }

    fn visit_use_rename(&mut self, rename: &'ast syn::UseRename) {
        if rename.rename != "_" {
            self.found.push(format!("{} as {}", rename.ident, rename.rename));
        }
    }
}

#[test]
fn aliases_are_found() {
    let aliases = |text: &str| Aliases::of(&syn::parse_str(text).unwrap());
    assert_eq!(aliases("use crate::domain::users as people;"), ["users as people"]);
    assert_eq!(aliases("fn f() { use super::{a::{b as c, d}, e as f}; }"), ["b as c", "e as f"]);
    assert_eq!(aliases("mod a; pub use a::b as c;"), ["b as c"]);
    assert_eq!(aliases("use std::io as i; use crate::Trait as _;"), [""; 0]);
}

#[test]
fn no_todo_marks_are_left() {
    let marks = Regex::new(r"\b(todo!|unimplemented!|TODO|FIXME|XXX)").unwrap();
    let mut found = Vec::new();
    for file in files().into_iter().chain(files_below("crates")) {
        for (number, line) in file.text.lines().enumerate().filter(|(_, line)| marks.is_match(line)) {
            found.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
        }
    }
    assert_none(found, "what is missing is not there, or an issue");
}

/// Only the writer's jobs change the file, and only the writer and the opening of the file begin transactions.
#[test]
fn only_the_store_begins_transactions() {
    let word = r"(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA|ATTACH|VACUUM)\b";
    let statement = Regex::new(&format!(r"^\s*{word}")).unwrap();
    let word = Regex::new(word).unwrap();
    let mut found = Vec::new();
    // Only files that have one of the words are parsed, since that takes long.
    for file in files().iter().filter(|file| !file.is_test() && word.is_match(&file.text)) {
        if file.module().first() == Some(&"store") {
            continue;
        }
        let literals = file.literals();
        let statements = literals.iter().filter(|text| statement.is_match(text));
        found.extend(statements.map(|text| format!("{}: {text}", file.path)));
    }
    assert_none(found, "transactions belong to the store");
}

/// The container copies exactly the files that the source includes from other folders.
#[test]
fn container_copies_all_build_inputs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let container = std::fs::read_to_string(root.join("packaging/Dockerfile")).unwrap();
    let build = container.split("\nFROM ").nth(1).unwrap();
    let lines = build.lines().filter_map(|line| line.strip_prefix("COPY "));
    let copied: Vec<&str> = lines.flat_map(|line| line.rsplit_once(' ').unwrap().0.split(' ')).collect();
    assert!(copied.len() > 5, "{copied:?}");
    let missing = copied.iter().filter(|path| !root.join(path).exists());
    assert_none(missing.map(ToString::to_string).collect(), "the container copies what is not there");

    let included =
        Regex::new(r#"include_(?:str|bytes)!\("(?:\.\./)+([^/"]+)|rerun-if-changed=([^/"]+)"#).unwrap();
    let mut found = Vec::new();
    let script = std::fs::read_to_string(root.join("build.rs")).unwrap();
    let sources = files().into_iter().map(|file| (file.path, file.text));
    for (path, text) in sources.chain([("build.rs".to_owned(), script)]) {
        for captures in included.captures_iter(&text) {
            let beside = captures.get(1).or(captures.get(2)).unwrap().as_str();
            if root.join(beside).exists() && !copied.contains(&beside) {
                found.push(format!("{path}: {beside}"));
            }
        }
    }
    // Paths that the build script joins to that of the project.
    let script = std::fs::read_to_string(root.join("build.rs")).unwrap();
    let joined: Vec<_> = Regex::new(r#"root\.join\("([^"]+)"\)"#).unwrap().captures_iter(&script).collect();
    assert!(joined.len() > 3, "{}", joined.len());
    for captures in joined {
        let path = &captures[1];
        let is_copied = |one: &&str| path == *one || path.starts_with(&format!("{one}/"));
        if !copied.iter().any(is_copied) {
            found.push(format!("build.rs: {path}"));
        }
    }
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    for path in Regex::new(r#"path = "([^/"]+)/"#).unwrap().captures_iter(&manifest) {
        if !copied.contains(&&path[1]) {
            found.push(format!("Cargo.toml: {}", &path[1]));
        }
    }
    if !copied.contains(&"build.rs") {
        found.push("build.rs".to_owned());
    }
    assert_none(found, "the container copies what the source includes");
}

/// The version is that of Cargo.toml, also in files that people copy without `packaging/dist`, and in the examples of the book.
#[test]
fn files_name_the_version_of_the_manifest() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = [
        ("docs/install.md", r"teamchat[_:-](\d+\.\d+\.\d+)"),
        ("docs/testing.md", r"teamchat[_-]testing-(\d+\.\d+\.\d+)"),
        ("packaging/compose.yaml", r"TEAMCHAT_VERSION:-(\d+\.\d+\.\d+)"),
        ("packaging/home-assistant/config.yaml", r#"version: "(\d+\.\d+\.\d+)""#),
        ("packaging/javascript/package.json", r#""version": "(\d+\.\d+\.\d+)""#),
    ];
    let mut found = Vec::new();
    for (path, pattern) in places {
        let text = std::fs::read_to_string(root.join(path)).unwrap();
        let pattern = Regex::new(pattern).unwrap();
        let versions: Vec<&str> =
            pattern.captures_iter(&text).map(|captures| captures.get(1).unwrap().as_str()).collect();
        if versions.is_empty() || versions.iter().any(|version| *version != env!("CARGO_PKG_VERSION")) {
            found.push(format!("{path}: {versions:?}"));
        }
    }
    assert_none(found, "files name the version of Cargo.toml");
}

/// Containers have as much time to stop as the unit, in seconds.
#[test]
fn the_time_to_stop_is_the_same_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = [
        ("docs/install.md", r"podman stop -t (\d+)"),
        ("packaging/compose.yaml", r"stop_grace_period: (\d+)s"),
        ("packaging/teamchat.service", r"TimeoutStopSec=(\d+)"),
    ];
    let mut found = Vec::new();
    for (path, pattern) in places {
        let text = std::fs::read_to_string(root.join(path)).unwrap();
        let pattern = Regex::new(pattern).unwrap();
        let times: BTreeSet<&str> =
            pattern.captures_iter(&text).map(|captures| captures.get(1).unwrap().as_str()).collect();
        if times != BTreeSet::from(["30"]) {
            found.push(format!("{path}: {times:?}"));
        }
    }
    assert_none(found, "30 seconds to stop");
}

/// The largest size of all images of the book together, in bytes: they are a part of the program.
const LARGEST_IMAGES: u64 = 400_000;

/// The images of README and of the book are those that a script writes.
#[test]
fn a_script_writes_the_images_of_documents() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let names = |pattern: &str, text: &str| -> BTreeSet<String> {
        Regex::new(pattern).unwrap().captures_iter(text).map(|captures| captures[1].to_owned()).collect()
    };
    let files_in = |folder: &str, ending: &str| -> Vec<String> {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(ending)).collect()
    };
    let pages: String = files_in("docs", ".md").iter().map(|name| read(&format!("docs/{name}"))).collect();
    let of_book = names(r"!\[[^\]]+\]\(images/([\w.-]+)\)", &pages);
    let of_readme = names(r"!\[[^\]]+\]\(docs/images/([\w.-]+)\)", &read("README.md"));
    let used: BTreeSet<String> = of_book.union(&of_readme).cloned().collect();
    assert!(of_book.len() > 5 && of_readme.len() > 2, "{used:?}");
    assert_eq!(files_in("docs/images", "").into_iter().collect::<BTreeSet<_>>(), used, "each image is used");
    let script = names(r#"(?m)^  \["([\w-]+)", [A-Z]+, "#, &read("tests/web/images.js"));
    let written: BTreeSet<String> = script.iter().map(|name| format!("{name}.webp")).collect();
    assert_eq!(written, used, "`tests/web/run images` writes each image");

    let size = |name: &String| root.join("docs/images").join(name).metadata().unwrap().len();
    let all: u64 = of_book.iter().map(size).sum();
    assert!(all <= LARGEST_IMAGES, "the images of the book have {all} bytes");
}

/// Files of the project that documents mention as code exist.
#[test]
fn files_that_documents_name_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = Regex::new(r"`((?:src|crates|tests|docs|web|packaging|benches)/[\w./-]+)`").unwrap();
    let mut missing = Vec::new();
    for document in ["README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "DESIGN.md"] {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let paths = named.captures_iter(&text).map(|captures| captures[1].to_owned());
        missing
            .extend(paths.filter(|path| !root.join(path).exists()).map(|path| format!("{document}: {path}")));
    }
    assert_none(missing, "a document names a file that is not there");
}

#[test]
fn the_systemd_unit_restricts_the_server() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/teamchat.service");
    let unit = std::fs::read_to_string(unit).unwrap();
    let expected = [
        "DynamicUser=yes",
        "StateDirectory=teamchat",
        // For `unix:/run/teamchat/...`, as the book writes it.
        "RuntimeDirectory=teamchat",
        "UMask=0077",
        "ProtectSystem=strict",
        "ProtectHome=yes",
        "NoNewPrivileges=yes",
        "CapabilityBoundingSet=",
        "MemoryHigh=768M",
        "MemoryMax=1G",
    ];
    let missing = expected.into_iter().filter(|setting| !unit.lines().any(|line| line == *setting));
    assert_none(missing.map(str::to_owned).collect(), "the unit lacks settings that SECURITY.md promises");
    let writable =
        unit.lines().filter(|line| line.starts_with("ReadWritePaths") || line.starts_with("BindPaths"));
    assert_none(writable.map(str::to_owned).collect(), "the server writes one directory");
}
