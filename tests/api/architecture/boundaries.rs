//! Import rules between modules. `ARCHITECTURE.md` has the reasons; the order is defined by the source:
//!
//! - `src/lib.rs` declares the top-level modules in order, and each may import those declared before it;
//! - `src/domain/mod.rs` declares the modules of `domain` in order, and each may import those declared before it;
//! - `src/api/mod.rs` declares the resources, none of which imports another.
//!
//! A module that is moved in one of these lists is checked against its new place.

use super::modules::{Import, Kind, Modules};
use super::source::{SourceFile, files, files_below};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Modules that import only the modules listed here.
const LIMITED: [(&str, &[&str]); 2] = [
    ("types", &[]),
    // Beside `domain`: neither knows the other.
    ("http", &["types", "error", "metrics", "memory", "pool", "turns", "store", "auth", "app"]),
];

/// Modules of `api` that list parts of all resources, like `api/mod.rs`. No resource imports them.
const LISTS: [&str; 1] = ["events"];

/// Modules of `api` that resources consist of or share. They import no resource.
const SHARED: [&str; 3] = ["channel_params", "resource", "setting_params"];

const ORDER: &str = "a top-level module imports only those that lib.rs declares before it";
const LIMITS: &str = "types and http import only what LIMITED has";
const DOMAIN: &str = "a module of domain imports only those that domain/mod.rs declares before it";
const RESOURCES: &str = "no resource of api imports another";
const CIRCLES: &str = "files do not import each other in a circle";
const DECLARED: &str = "lib.rs declares every module of src";

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    rule: &'static str,
    what: String,
}

/// Checks all rules on the source of a crate.
fn violations(files: &[SourceFile]) -> Vec<Violation> {
    let modules = Modules::read(files);
    let mut found = Vec::new();
    found.extend(misplaced(&modules));
    found.extend(circles(&modules));
    found.sort();
    found
}

#[test]
fn modules_import_downwards_and_in_no_circle() {
    let found = violations(&files());
    let mut report = String::new();
    let mut rule = "";
    for violation in &found {
        if violation.rule != rule {
            rule = violation.rule;
            let count = found.iter().filter(|other| other.rule == rule).count();
            writeln!(report, "{rule} ({count}):").unwrap();
        }
        writeln!(report, "  {}", violation.what).unwrap();
    }
    assert!(found.is_empty(), "{} violations\n{report}", found.len());
}

/// Cargo checks the direction between crates.
#[test]
fn files_of_other_crates_import_in_no_circle() {
    assert_eq!(circles(&Modules::read(&files_below("crates/markdown/src"))), []);
}

/// The parts of a file's path: `domain/users/sql.rs` is `["domain", "users", "sql"]`.
fn parts(path: &str) -> Vec<&str> {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    path.split('/').filter(|part| *part != "mod").collect()
}

fn misplaced(modules: &Modules) -> Vec<Violation> {
    let top = modules.children("");
    let domain = modules.children("domain");
    let position = |list: &[String], name: &str| list.iter().position(|other| other == name);
    let mut found: BTreeMap<(&str, &str, &str), Violation> = BTreeMap::new();
    for import in &modules.imports {
        let (from, to) = (parts(&import.from), parts(&import.to));
        if ["lib", "main"].contains(&from[0]) || to[0] == "lib" {
            continue;
        }
        let mut add = |rule| {
            let what = format!("{}:{} imports {} (`{}`)", import.from, import.line, import.to, import.path);
            // One import of a file by another says enough.
            found.entry((rule, &import.from, &import.to)).or_insert(Violation { rule, what });
        };
        let (Some(here), Some(there)) = (position(top, from[0]), position(top, to[0])) else {
            add(DECLARED);
            continue;
        };
        if from[0] != to[0] {
            match LIMITED.iter().find(|(name, _)| *name == from[0]) {
                Some((_, allowed)) if !allowed.contains(&to[0]) => add(LIMITS),
                None if there > here => add(ORDER),
                _ => {}
            }
        }
        if let ["domain", from, ..] = from[..]
            && let ["domain", to, ..] = to[..]
            && position(domain, to) > position(domain, from)
        {
            add(DOMAIN);
        }
        if let ["api", from, ..] = from[..]
            && let ["api", to, ..] = to[..]
            && from != to
            && !LISTS.contains(&from)
            && !SHARED.contains(&to)
        {
            add(RESOURCES);
        }
    }
    found.into_values().collect()
}

/// Returns cycles of imports between files. Re-exporting a child's definition is not an import of the parent, and
/// naming a module is not an import until an item of it is used.
fn circles(modules: &Modules) -> Vec<Violation> {
    let mut graph: BTreeMap<&str, BTreeMap<&str, &Import>> = BTreeMap::new();
    for import in modules.imports.iter().filter(|import| import.kind == Kind::Item) {
        graph.entry(&import.from).or_default().entry(&import.to).or_insert(import);
    }
    let components = components(&graph);
    let circles = components.iter().map(|files| {
        let way = shortest_circle(&graph, files);
        let steps: Vec<String> = way
            .iter()
            .map(|import| format!("{}:{} -> {} (`{}`)", import.from, import.line, import.to, import.path))
            .collect();
        let files: Vec<&str> = files.iter().copied().collect();
        let what = format!("{} files: {}\n    such as {}", files.len(), files.join(", "), steps.join(", "));
        Violation { rule: CIRCLES, what }
    });
    circles.collect()
}

type Graph<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a Import>>;

/// The strongly connected components of two files and more.
fn components<'a>(graph: &Graph<'a>) -> Vec<BTreeSet<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|file| (*file, reachable(graph, file))).collect();
    let mut components: Vec<BTreeSet<&str>> = Vec::new();
    for (file, others) in &reached {
        if !others.contains(file) || components.iter().any(|known| known.contains(file)) {
            continue;
        }
        let both = others.iter().filter(|other| reached.get(*other).is_some_and(|back| back.contains(file)));
        components.push(both.copied().collect());
    }
    components
}

fn reachable<'a>(graph: &Graph<'a>, start: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = graph.get(start).into_iter().flat_map(BTreeMap::keys).copied().collect();
    while let Some(file) = next.pop() {
        if reached.insert(file) {
            next.extend(graph.get(file).into_iter().flat_map(BTreeMap::keys));
        }
    }
    reached
}

/// The imports of a shortest circle within a component.
fn shortest_circle<'a>(graph: &Graph<'a>, component: &BTreeSet<&'a str>) -> Vec<&'a Import> {
    let mut shortest: Vec<&Import> = Vec::new();
    for start in component {
        let mut ways: Vec<Vec<&Import>> = vec![Vec::new()];
        let mut seen = BTreeSet::new();
        'search: while !ways.is_empty() && (shortest.is_empty() || ways[0].len() + 1 < shortest.len()) {
            let mut longer = Vec::new();
            for way in ways {
                let end = way.last().map_or(*start, |import| import.to.as_str());
                for (to, import) in &graph[end] {
                    let way = [way.as_slice(), &[*import]].concat();
                    if to == start {
                        shortest = way;
                        break 'search;
                    }
                    if component.contains(to) && seen.insert(*to) {
                        longer.push(way);
                    }
                }
            }
            ways = longer;
        }
    }
    shortest
}

#[cfg(test)]
mod tests {
    use super::{CIRCLES, DECLARED, DOMAIN, LIMITS, ORDER, RESOURCES, violations};
    use crate::architecture::source::SourceFile;

    /// A small crate that keeps all rules, with the forms in which it imports.
    const CRATE: &[(&str, &str)] = &[
        (
            "lib.rs",
            "pub mod types; pub mod store; pub mod pool; pub mod domain; pub mod http; pub mod api; pub mod server;",
        ),
        ("main.rs", "mod cli; fn main() { cli::run() }"),
        ("cli.rs", "use teamchat::server; pub fn run() { server::serve() }"),
        ("types/mod.rs", "mod ids; pub use ids::UserId; pub fn now() {}"),
        ("types/ids.rs", "pub struct UserId; #[cfg(test)] mod tests { use crate::api; }"),
        (
            "store/mod.rs",
            "mod tx; pub use self::tx::Tx; use crate::types::UserId; pub fn id() -> UserId { todo() }",
        ),
        ("store/tx.rs", "pub struct Tx; pub const ONE: u8 = 1;"),
        ("http/mod.rs", "pub mod route; pub use route::{Route, get}; #[cfg(test)] mod tests;"),
        (
            "http/route.rs",
            "use crate::{store::{self, Tx}, types as t}; pub struct Route; pub fn get() { t::now() }",
        ),
        ("http/tests.rs", "use crate::api::channels;"),
        ("pool.rs", "use crate::types::*; pub fn run(_: UserId) {}"),
        ("domain/mod.rs", "//! In this order.\npub mod realm; pub mod groups; pub mod channels;"),
        ("domain/realm.rs", "pub fn name() {} pub struct Realm;"),
        ("domain/groups/mod.rs", "pub mod sql; pub mod rules;"),
        ("domain/groups/sql.rs", "pub fn find() { crate::domain::realm::name() }"),
        ("domain/groups/rules.rs", "use super::sql; pub fn check() { sql::find() }"),
        (
            "domain/channels.rs",
            "use super::groups::{rules, sql as groups}; pub fn list() { groups::find(); rules::check() }",
        ),
        (
            "api/mod.rs",
            "pub mod channels; pub mod drafts; pub fn routes() { channels::routes(); drafts::routes() }",
        ),
        (
            "api/channels.rs",
            "use crate::http::Route; pub fn routes() -> Route { crate::domain::channels::list() }",
        ),
        ("api/drafts.rs", "pub fn routes() { vec![crate::pool::run(crate::types::UserId)] }"),
        ("server.rs", "pub fn serve() { crate::api::routes() }"),
    ];

    /// The violations of the crate with one file added or replaced, as rules with texts.
    fn with(path: &str, text: &str) -> Vec<(&'static str, String)> {
        let kept = CRATE.iter().filter(|(known, _)| *known != path);
        let planted = [(path, text)];
        let planted = kept.chain(&planted).map(|(path, text)| SourceFile::new(*path, *text));
        let files: Vec<SourceFile> = planted.collect();
        violations(&files).into_iter().map(|violation| (violation.rule, violation.what)).collect()
    }

    #[track_caller]
    fn assert_found(path: &str, text: &str, expected: &[(&'static str, &str)]) {
        let found = with(path, text);
        let found: Vec<(&str, &str)> = found.iter().map(|(rule, what)| (*rule, what.as_str())).collect();
        assert_eq!(found, expected, "{path}: {text}");
    }

    #[test]
    fn a_crate_that_keeps_the_rules_has_no_violations() {
        assert_found("domain/realm.rs", "pub fn name() {}", &[]);
    }

    #[test]
    fn an_import_of_a_later_module_is_found_in_every_form() {
        let domain = "imports domain/realm.rs";
        for (code, path) in [
            ("use crate::domain::realm::name;", "crate::domain::realm::name"),
            ("use crate::{types::now, domain::{realm::{name as n}}};", "crate::domain::realm::name"),
            ("use super::super::domain::realm::*;", "super::super::domain::realm::*"),
            ("pub use crate::domain::realm;", "crate::domain::realm"),
            ("fn f() { crate::domain::realm::name() }", "crate::domain::realm::name"),
            ("fn f() { use crate::domain::realm::name; name() }", "crate::domain::realm::name"),
            ("fn f() -> Vec<crate::domain::realm::Realm> {}", "crate::domain::realm::Realm"),
            ("fn f() { println!(\"{}\", g(crate::domain::realm::name())) }", "crate::domain::realm::name"),
            ("macro_rules! m { () => { $crate::domain::realm::name() } }", "crate::domain::realm::name"),
            (
                "struct S { #[serde(default = \"crate::domain::realm::name\")] a: u8 }",
                "crate::domain::realm::name",
            ),
        ] {
            let expected = format!("store/tx.rs:1 {domain} (`{path}`)");
            assert_found("store/tx.rs", &format!("{code} pub struct Tx;"), &[(ORDER, &expected)]);
        }
    }

    #[test]
    fn a_re_export_is_followed_to_the_file_that_defines() {
        let expected = "domain/realm.rs:1 imports api/drafts.rs (`crate::api::routes`)";
        let mut files: Vec<(&str, &str)> = CRATE.to_vec();
        files.retain(|(path, _)| !["api/mod.rs", "domain/realm.rs"].contains(path));
        files.push(("api/mod.rs", "pub mod channels; pub mod drafts; pub use drafts::routes;"));
        files.push(("domain/realm.rs", "use crate::api::routes; pub fn name() { routes() }"));
        let files: Vec<SourceFile> = files.iter().map(|(path, text)| SourceFile::new(*path, *text)).collect();
        let found = violations(&files);
        assert!(found.iter().any(|one| one.rule == ORDER && one.what == expected), "{found:?}");
    }

    #[test]
    fn limited_modules_import_only_what_they_may() {
        let expected = "http/route.rs:1 imports domain/realm.rs (`crate::domain::realm::name`)";
        let route = "use crate::domain::realm::name; pub struct Route; pub fn get() { name() }";
        assert_found("http/route.rs", route, &[(LIMITS, expected)]);
        let found = with("types/ids.rs", "use crate::store::tx::ONE; pub struct UserId;");
        assert!(found.iter().any(|(rule, _)| *rule == LIMITS), "{found:?}");
    }

    #[test]
    fn a_module_of_domain_imports_only_earlier_ones() {
        let expected = "domain/realm.rs:1 imports domain/groups/sql.rs (`super::groups::sql::find`)";
        let found = with("domain/realm.rs", "use super::groups::sql::find; pub fn name() {}");
        assert!(found.contains(&(DOMAIN, expected.to_owned())), "{found:?}");
        // Naming a module is enough.
        let expected = "domain/realm.rs:1 imports domain/groups/sql.rs (`super::groups::sql`)";
        assert_found("domain/realm.rs", "use super::groups::sql; pub fn name() {}", &[(DOMAIN, expected)]);
    }

    #[test]
    fn domain_and_the_base_do_not_import_operations() {
        let expected = "domain/channels.rs:1 imports api/drafts.rs (`crate::api::drafts::routes`)";
        assert_found(
            "domain/channels.rs",
            "use crate::api::drafts::routes; pub fn list() {}",
            &[(ORDER, expected)],
        );
    }

    #[test]
    fn resources_do_not_import_each_other() {
        let expected = "api/drafts.rs:1 imports api/channels.rs (`super::channels::routes`)";
        assert_found("api/drafts.rs", "use super::channels::routes;", &[(RESOURCES, expected)]);
    }

    #[test]
    fn lists_of_resources_are_not_imported_by_them() {
        assert_found("api/events.rs", "use super::drafts::routes;", &[]);
        let expected = "api/drafts.rs:1 imports api/events.rs (`super::events::ALL`)";
        let mut files: Vec<(&str, &str)> = CRATE.to_vec();
        files.retain(|(path, _)| !["api/mod.rs", "api/drafts.rs"].contains(path));
        files.push(("api/mod.rs", "pub mod channels; pub mod drafts; pub mod events;"));
        files.push(("api/events.rs", "pub const ALL: u8 = 0;"));
        files.push(("api/drafts.rs", "use super::events::ALL;"));
        let files: Vec<SourceFile> = files.iter().map(|(path, text)| SourceFile::new(*path, *text)).collect();
        let found = violations(&files);
        assert!(found.iter().any(|one| one.rule == RESOURCES && one.what == expected), "{found:?}");
    }

    #[test]
    fn resources_share_modules_that_import_no_resource() {
        let found = |resource: &str, draft: &str| {
            let mut files: Vec<(&str, &str)> = CRATE.to_vec();
            files.retain(|(path, _)| !["api/mod.rs", "api/drafts.rs"].contains(path));
            files.push(("api/mod.rs", "pub mod channels; pub mod drafts; pub mod resource;"));
            files.extend([("api/resource.rs", resource), ("api/drafts.rs", draft)]);
            let files: Vec<SourceFile> =
                files.iter().map(|(path, text)| SourceFile::new(*path, *text)).collect();
            violations(&files).into_iter().map(|one| (one.rule, one.what)).collect::<Vec<_>>()
        };
        assert_eq!(found("pub struct Resource;", "use super::resource::Resource;"), []);
        let expected = "api/resource.rs:1 imports api/drafts.rs (`super::drafts::routes`)";
        let circle = found("use super::drafts::routes;", "pub fn routes() {}");
        assert_eq!(circle, [(RESOURCES, expected.to_owned())]);
    }

    #[test]
    fn files_in_a_circle_are_found() {
        let expected = "2 files: domain/groups/rules.rs, domain/groups/sql.rs\n    \
             such as domain/groups/rules.rs:1 -> domain/groups/sql.rs (`sql::find`), \
             domain/groups/sql.rs:1 -> domain/groups/rules.rs (`super::rules::check`)";
        assert_found(
            "domain/groups/sql.rs",
            "pub fn find() { super::rules::check() }",
            &[(CIRCLES, expected)],
        );
    }

    #[test]
    fn a_child_that_uses_its_parent_while_the_parent_uses_the_child_is_a_circle() {
        // A parent that only declares and re-exports may be used by its children.
        assert_found("store/tx.rs", "pub struct Tx; fn f() { super::id() }", &[]);
        let files = "2 files: types/ids.rs, types/mod.rs\n    ";
        let parent = "mod ids; pub use ids::UserId; pub fn now() { let _: UserId; }";
        let child = "pub struct UserId; fn f() { super::now() }";
        let mut all: Vec<(&str, &str)> = CRATE.to_vec();
        all.retain(|(path, _)| !path.starts_with("types/"));
        all.extend([("types/mod.rs", parent), ("types/ids.rs", child)]);
        let all: Vec<SourceFile> = all.iter().map(|(path, text)| SourceFile::new(*path, *text)).collect();
        let found = violations(&all);
        assert!(found.len() == 1 && found[0].what.starts_with(files), "{found:?}");
    }

    #[test]
    fn a_module_that_lib_does_not_declare_is_found() {
        let expected = "hidden.rs:1 imports store/tx.rs (`crate::store::Tx`)";
        assert_found("hidden.rs", "use crate::store::Tx;", &[(DECLARED, expected)]);
    }
}
