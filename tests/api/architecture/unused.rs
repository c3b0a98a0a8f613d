//! Public items that only their own file uses. All modules are `pub`, so the compiler reports none of them.

use super::modules::Modules;
use super::source::{SourceFile, files, files_below, is_for_tests};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};

/// The public interface of the crate, for other projects.
const INTERFACE: &str = "testing/";

#[test]
fn public_items_are_used_outside_their_file() {
    let callers: Vec<SourceFile> = ["tests", "benches"].into_iter().flat_map(files_below).collect();
    let mut called: BTreeSet<String> = callers.iter().flat_map(identifiers).collect();
    let source = files();
    let mut found = unused(&source, &called);
    called.extend(source.iter().flat_map(identifiers));
    found.extend(unused(&files_below("crates/markdown/src"), &called));
    assert!(found.is_empty(), "private or unused, but public:\n  {}", found.join("\n  "));
}

/// Public items of `files` that neither another file of them, or its unit tests, nor callers with these identifiers use.
fn unused(files: &[SourceFile], called: &BTreeSet<String>) -> Vec<String> {
    let modules = Modules::read(files);
    let of_unit_tests: Vec<(&str, BTreeSet<String>)> =
        files.iter().map(|file| (file.path.as_str(), identifiers_of_unit_tests(file))).collect();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for name in files.iter().flat_map(identifiers) {
        *numbers.entry(name).or_default() += 1;
    }
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !file.is_test() && !file.path.starts_with(INTERFACE)) {
        let tree = file.tree();
        let mut public = Public::default();
        public.visit_file(tree);
        for (name, kind) in public.0 {
            let is_used = called.contains(&name)
                || of_unit_tests.iter().any(|(path, names)| *path != file.path && names.contains(&name))
                || match kind {
                    Kind::Item => modules.is_used(&file.path, &name),
                    // It may be the type of an argument or of a result.
                    Kind::Type => modules.is_used(&file.path, &name) || is_mentioned(tree, &name),
                    // Methods are called without a path, so any file with the name may be a caller.
                    Kind::Method => numbers.get(&name).is_some_and(|files| *files > 1),
                };
            if !is_used {
                found.push(format!("{}: {name}", file.path));
            }
        }
    }
    found
}

/// The identifiers in the unit tests of a file.
fn identifiers_of_unit_tests(file: &SourceFile) -> BTreeSet<String> {
    if file.is_test() {
        return identifiers(file);
    }
    let mut names = Names::default();
    for item in &file.tree().items {
        if let syn::Item::Mod(module) = item
            && is_for_tests(&module.attrs)
        {
            names.visit_item_mod(module);
        }
    }
    names.0
}

/// The identifiers of a part of a file.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl<'ast> Visit<'ast> for Names {
    fn visit_ident(&mut self, name: &'ast proc_macro2::Ident) {
        self.0.insert(name.to_string());
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        collect(invocation.tokens.clone(), &mut self.0);
    }
}

/// The identifiers of a file, also those in macros, without comments and texts.
fn identifiers(file: &SourceFile) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let tokens: TokenStream = file.text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.path));
    collect(tokens, &mut found);
    found
}

fn collect(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Ident(name) => {
                found.insert(name.to_string());
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    /// A function, a constant or a static variable.
    Item,
    /// A type or a trait.
    Type,
    /// A method, or a function or constant of a type.
    Method,
}

/// The public items of a file outside of unit tests.
#[derive(Default)]
struct Public(Vec<(String, Kind)>);

impl Public {
    fn add(&mut self, visibility: &syn::Visibility, name: &syn::Ident, kind: Kind) {
        if matches!(visibility, syn::Visibility::Public(_)) {
            self.0.push((name.to_string(), kind));
        }
    }
}

impl<'ast> Visit<'ast> for Public {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            // Items of inline modules are public for the file itself.
            syn::Item::Mod(_) => return,
            syn::Item::Fn(item) => return self.add(&item.vis, &item.sig.ident, Kind::Item),
            syn::Item::Const(item) => self.add(&item.vis, &item.ident, Kind::Item),
            syn::Item::Static(item) => self.add(&item.vis, &item.ident, Kind::Item),
            syn::Item::Struct(item) => self.add(&item.vis, &item.ident, Kind::Type),
            syn::Item::Enum(item) => self.add(&item.vis, &item.ident, Kind::Type),
            syn::Item::Trait(item) => self.add(&item.vis, &item.ident, Kind::Type),
            syn::Item::Type(item) => self.add(&item.vis, &item.ident, Kind::Type),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        if !is_for_tests(&method.attrs) {
            self.add(&method.vis, &method.sig.ident, Kind::Method);
        }
    }

    fn visit_impl_item_const(&mut self, constant: &'ast syn::ImplItemConst) {
        self.add(&constant.vis, &constant.ident, Kind::Method);
    }
}

/// True if a file mentions a type of its own outside of its definition and implementations.
fn is_mentioned(file: &syn::File, name: &str) -> bool {
    let mut mentions = Mentions { name, found: false };
    mentions.visit_file(file);
    mentions.found
}

struct Mentions<'a> {
    name: &'a str,
    found: bool,
}

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let is_own = match item {
            syn::Item::Struct(item) => item.ident == self.name,
            syn::Item::Enum(item) => item.ident == self.name,
            syn::Item::Trait(item) => item.ident == self.name,
            syn::Item::Type(item) => item.ident == self.name,
            syn::Item::Impl(item) => match &*item.self_ty {
                syn::Type::Path(of) => {
                    of.path.segments.last().is_some_and(|segment| segment.ident == self.name)
                }
                _ => false,
            },
            _ => false,
        };
        if !is_own {
            visit::visit_item(self, item);
        }
    }

    fn visit_ident(&mut self, name: &'ast proc_macro2::Ident) {
        self.found |= name == self.name;
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        let mut names = BTreeSet::new();
        collect(invocation.tokens.clone(), &mut names);
        self.found |= names.contains(self.name);
    }
}

#[test]
fn unused_public_items_are_found() {
    let file = |path: &str, text: &str| SourceFile::new(path, text);
    let files = [
        file("lib.rs", "pub mod a; pub mod b;"),
        file(
            "a.rs",
            "pub fn used() -> Reply { own() } pub fn own() -> Reply { todo() } pub fn tested() {} pub fn parse() {}
             pub struct Reply; pub struct Dead(u8); impl Dead { pub fn new() {} pub fn call() {} }
             pub fn of_others() {} pub const ONE: u8 = 1; const TWO: u8 = 2; #[cfg(test)] mod tests { pub fn of_tests() {} }",
        ),
        file(
            "b.rs",
            "use crate::a; #[arg(parser = a::parse)] fn f(x: X) { a::used(); x.call(); g(own, ONE) }
             #[cfg(test)] mod tests { fn test() { a::of_others() } }",
        ),
        file("testing/mod.rs", "pub fn interface() {}"),
    ];
    let called = identifiers(&file("api/main.rs", "fn main() { teamchat::a::tested() }"));
    assert_eq!(unused(&files, &called), ["a.rs: own", "a.rs: Dead", "a.rs: new", "a.rs: ONE"]);
}
