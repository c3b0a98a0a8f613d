//! The module tree of the crate and the imports of each file, read from the source with `syn`.
//!
//! A path is resolved to the file that defines the item: through `use` trees, aliases, globs and re-exports. Paths are
//! found in `use` declarations, in expressions, types and patterns, and in the tokens of macros and attributes, there also
//! in strings (`#[serde(default = "...")]`). Code for tests (`#[cfg(test)]`) is left out.

use super::source::{SourceFile, is_for_tests};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The name of the library where the program (`main.rs`) imports it.
const LIBRARY: &str = "teamchat";

/// Maximum length of a chain of re-exports.
const MAX_DEPTH: usize = 12;

/// Use of an import within a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It uses an item: a function, a type, a constant, or all items of a module.
    Item,
    /// It only names a module, as the beginning of other paths.
    Module,
    /// A re-export of an item defined in a module below.
    ReExport,
}

/// One file names something that another one defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// The file that imports, below `src`.
    pub from: String,
    /// Line in that file.
    pub line: usize,
    /// The file that defines the imported item, below `src`.
    pub to: String,
    /// The path as it is written.
    pub path: String,
    pub kind: Kind,
}

/// The modules of a crate.
pub struct Modules {
    by_path: BTreeMap<String, Module>,
    /// All imports between two files, sorted, each once.
    pub imports: Vec<Import>,
    /// The items that files use of others, by file and name.
    used: BTreeSet<(String, String)>,
}

/// A module, by its path from the root of the crate: `api::users`. The path of the root is empty.
#[derive(Default)]
struct Module {
    file: String,
    /// The modules that it declares, in the order of their declarations.
    children: Vec<String>,
    names: BTreeMap<String, Vec<Binding>>,
    /// The paths of `use path::*`.
    globs: Vec<Vec<String>>,
}

/// Meaning of a name in a module.
#[derive(Clone, Debug)]
enum Binding {
    Item,
    Module(String),
    Use { path: Vec<String>, is_public: bool },
}

/// Target of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Module(String),
    /// An item, and the module that defines it.
    Item(String, String),
}

/// A path in the source, not yet followed.
struct Site {
    file: String,
    module: String,
    line: usize,
    path: Vec<String>,
    form: Form,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Use { is_public: bool, is_glob: bool },
    Path,
}

impl Modules {
    /// Reads the files of a crate: `lib.rs`, `main.rs` and all below them.
    pub fn read(files: &[SourceFile]) -> Self {
        let test_files = files_for_tests(files);
        let mut reader = Reader::default();
        for file in files.iter().filter(|file| !test_files.contains(&file.path)) {
            reader.file.clone_from(&file.path);
            reader.module = file.module_path();
            let module = reader.modules.entry(reader.module.clone()).or_default();
            if file.path != "main.rs" {
                module.file.clone_from(&file.path);
            }
            reader.visit_file(file.tree());
        }
        let mut modules = Self { by_path: reader.modules, imports: Vec::new(), used: BTreeSet::new() };
        let found: Vec<(Import, Target)> =
            reader.sites.iter().flat_map(|site| modules.imports_of(site)).collect();
        let (mut imports, mut used) = (BTreeSet::new(), BTreeSet::new());
        for (import, target) in found {
            if let Target::Item(_, name) = target
                && import.kind == Kind::Item
            {
                used.insert((import.to.clone(), name));
            }
            imports.insert(import);
        }
        (modules.imports, modules.used) = (imports.into_iter().collect(), used);
        modules
    }

    /// True if another file uses an item of a file. A re-export above the file does not count.
    pub fn is_used(&self, file: &str, item: &str) -> bool {
        self.used.contains(&(file.to_owned(), item.to_owned()))
    }

    /// The modules that a module declares, in the order of their declarations.
    pub fn children(&self, module: &str) -> &[String] {
        self.by_path.get(module).map_or(&[], |module| &module.children)
    }

    fn imports_of(&self, site: &Site) -> Vec<(Import, Target)> {
        let targets = match site.form {
            Form::Path if site.path.len() == 1 => self.indirect(&site.module, &site.path[0]),
            Form::Path | Form::Use { .. } => self.resolve(&site.module, &site.path, 0),
        };
        let mut imports = Vec::new();
        for target in targets {
            let (Target::Module(module) | Target::Item(module, _)) = &target;
            let Some(to) = self.by_path.get(module).map(|module| module.file.clone()) else { continue };
            if to == site.file || to.is_empty() {
                continue;
            }
            let is_below = site.module.is_empty() || module.starts_with(&format!("{}::", site.module));
            let kind = match (site.form, &target) {
                (Form::Use { is_public: true, .. }, _) if is_below => Kind::ReExport,
                (Form::Use { is_glob: false, .. }, Target::Module(_)) => Kind::Module,
                _ => Kind::Item,
            };
            let glob = if matches!(site.form, Form::Use { is_glob: true, .. }) { "::*" } else { "" };
            let path = format!("{}{glob}", site.path.join("::"));
            imports.push((Import { from: site.file.clone(), line: site.line, to, path, kind }, target));
        }
        imports
    }

    /// Resolves a name that is not imported by a private `use`: a re-export, or a name from a glob.
    fn indirect(&self, module: &str, name: &str) -> Vec<Target> {
        let bindings = self.by_path.get(module).and_then(|module| module.names.get(name));
        match bindings {
            None => self.lookup_in_globs(module, name, 0),
            Some(bindings) => {
                let re_exported = bindings.iter().filter_map(|binding| match binding {
                    Binding::Use { path, is_public: true } => Some(self.resolve(module, path, 0)),
                    _ => None,
                });
                re_exported.flatten().collect()
            }
        }
    }

    /// Follows a path that is written in a module. Empty for paths of other crates and for local names.
    fn resolve(&self, module: &str, path: &[String], depth: usize) -> Vec<Target> {
        let Some(first) = path.first().filter(|_| depth < MAX_DEPTH) else { return Vec::new() };
        let mut rest = &path[1..];
        let mut targets = match first.as_str() {
            "crate" | LIBRARY => vec![Target::Module(String::new())],
            "self" => vec![Target::Module(module.to_owned())],
            "super" => {
                let mut above = parent(module);
                while let Some("super") = rest.first().map(String::as_str) {
                    (above, rest) = (parent(above), &rest[1..]);
                }
                vec![Target::Module(above.to_owned())]
            }
            name => self.lookup(module, name, depth + 1),
        };
        for name in rest {
            // If a module and a function have the same name, only the module contains names.
            if targets.iter().any(|target| matches!(target, Target::Module(_))) {
                targets.retain(|target| matches!(target, Target::Module(_)));
            }
            targets = targets.into_iter().flat_map(|target| self.step(target, name, depth)).collect();
        }
        targets.sort();
        targets.dedup();
        targets
    }

    fn step(&self, target: Target, name: &str, depth: usize) -> Vec<Target> {
        let Target::Module(module) = &target else { return vec![target] };
        let found = self.lookup(module, name, depth + 1);
        // A name that is not declared is made by a macro of that module.
        if found.is_empty() { vec![Target::Item(module.clone(), name.to_owned())] } else { found }
    }

    fn lookup(&self, module: &str, name: &str, depth: usize) -> Vec<Target> {
        let Some(bindings) = self.by_path.get(module).and_then(|module| module.names.get(name)) else {
            return self.lookup_in_globs(module, name, depth);
        };
        let targets = bindings.iter().flat_map(|binding| match binding {
            Binding::Item => vec![Target::Item(module.to_owned(), name.to_owned())],
            Binding::Module(path) => vec![Target::Module(path.clone())],
            // `use name::other as name` would lead to itself.
            Binding::Use { path, .. } if path.len() == 1 && path[0] == name => Vec::new(),
            Binding::Use { path, .. } => self.resolve(module, path, depth + 1),
        });
        targets.collect()
    }

    fn lookup_in_globs(&self, module: &str, name: &str, depth: usize) -> Vec<Target> {
        let globs = self.by_path.get(module).filter(|_| depth < MAX_DEPTH).map(|module| &module.globs);
        let mut targets = Vec::new();
        for path in globs.into_iter().flatten() {
            for target in self.resolve(module, path, depth + 1) {
                if let Target::Module(other) = target
                    && other != module
                {
                    targets.extend(self.lookup(&other, name, depth + 1));
                }
            }
        }
        targets
    }
}

fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

/// The files of modules that are declared with `#[cfg(test)] mod name;`, and all below them.
fn files_for_tests(files: &[SourceFile]) -> BTreeSet<String> {
    let mut modules = Vec::new();
    for file in files {
        for item in &file.tree().items {
            if let syn::Item::Mod(module) = item
                && module.content.is_none()
                && is_for_tests(&module.attrs)
            {
                modules.push(child_of(&file.module_path(), &module.ident.to_string()));
            }
        }
    }
    let of_tests = files.iter().filter(|file| {
        let path = file.module_path();
        modules.iter().any(|module| path == *module || path.starts_with(&format!("{module}::")))
    });
    of_tests.map(|file| file.path.clone()).collect()
}

fn child_of(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// Collects the names and the paths of one file after the other.
#[derive(Default)]
struct Reader {
    file: String,
    module: String,
    modules: BTreeMap<String, Module>,
    sites: Vec<Site>,
}

impl Reader {
    fn bind(&mut self, name: String, binding: Binding) {
        let module = self.modules.entry(self.module.clone()).or_default();
        module.names.entry(name).or_default().push(binding);
    }

    fn add_site(&mut self, path: Vec<String>, line: usize, form: Form) {
        let (file, module) = (self.file.clone(), self.module.clone());
        self.sites.push(Site { file, module, line, path, form });
    }

    /// Takes `a::{b, c as d, e::*}` apart.
    fn add_use(&mut self, prefix: &[String], tree: &syn::UseTree, is_public: bool) {
        let path_to = |name: &syn::Ident| {
            let mut path = prefix.to_vec();
            if name != "self" || path.is_empty() {
                path.push(name.to_string());
            }
            path
        };
        let (path, name) = match tree {
            syn::UseTree::Path(tree) => return self.add_use(&path_to(&tree.ident), &tree.tree, is_public),
            syn::UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.add_use(prefix, tree, is_public));
            }
            syn::UseTree::Glob(glob) => {
                let module = self.modules.entry(self.module.clone()).or_default();
                module.globs.push(prefix.to_vec());
                let form = Form::Use { is_public, is_glob: true };
                return self.add_site(prefix.to_vec(), glob.span().start().line, form);
            }
            syn::UseTree::Name(name) => {
                let path = path_to(&name.ident);
                let bound = path.last().cloned().unwrap_or_default();
                (path, (bound, name.ident.span()))
            }
            syn::UseTree::Rename(name) => {
                (path_to(&name.ident), (name.rename.to_string(), name.ident.span()))
            }
        };
        let (name, span) = name;
        self.bind(name, Binding::Use { path: path.clone(), is_public });
        self.add_site(path, span.start().line, Form::Use { is_public, is_glob: false });
    }

    /// Finds `a::b::c` in the tokens of a macro.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match &token {
                TokenTree::Ident(name) if colons == 2 && !path.is_empty() => path.push(name.to_string()),
                TokenTree::Ident(name) => {
                    self.end_path(&mut path, line);
                    path.push(name.to_string());
                    line = name.span().start().line;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => {
                    self.end_path(&mut path, line);
                    self.add_tokens(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.end_path(&mut path, line),
            }
            colons = 0;
        }
        self.end_path(&mut path, line);
    }

    fn end_path(&mut self, path: &mut Vec<String>, line: usize) {
        let path = std::mem::take(path);
        if !path.is_empty() {
            self.add_site(path, line, Form::Path);
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_for_tests(attributes(item)) {
            return;
        }
        let name = match item {
            syn::Item::Const(item) => Some(&item.ident),
            syn::Item::Enum(item) => Some(&item.ident),
            syn::Item::Fn(item) => Some(&item.sig.ident),
            syn::Item::Macro(item) => item.ident.as_ref(),
            syn::Item::Static(item) => Some(&item.ident),
            syn::Item::Struct(item) => Some(&item.ident),
            syn::Item::Trait(item) => Some(&item.ident),
            syn::Item::Type(item) => Some(&item.ident),
            syn::Item::Union(item) => Some(&item.ident),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name.to_string(), Binding::Item);
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let name = module.ident.to_string();
        let path = child_of(&self.module, &name);
        self.bind(name.clone(), Binding::Module(path.clone()));
        self.modules.entry(self.module.clone()).or_default().children.push(name);
        if let Some((_, items)) = &module.content {
            self.modules.entry(path.clone()).or_default().file.clone_from(&self.file);
            let above = std::mem::replace(&mut self.module, path);
            for item in items {
                self.visit_item(item);
            }
            self.module = above;
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            let is_public = !matches!(item.vis, syn::Visibility::Inherited);
            self.add_use(&[], &item.tree, is_public);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names = path.segments.iter().map(|segment| segment.ident.to_string());
            self.add_site(names.collect(), path.span().start().line, Form::Path);
        }
        visit::visit_path(self, path);
    }

    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        visit::visit_macro(self, invocation);
        self.add_tokens(invocation.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("doc") {
            return;
        }
        if let syn::Meta::List(list) = &attribute.meta {
            self.add_tokens(list.tokens.clone());
            let mut texts = Vec::new();
            super::source::literals_in(list.tokens.clone(), &mut texts);
            for text in texts.into_iter().filter(|text| text.contains("::")) {
                if let Ok(path) = syn::parse_str::<syn::Path>(&text) {
                    let names = path.segments.iter().map(|segment| segment.ident.to_string());
                    self.add_site(names.collect(), attribute.span().start().line, Form::Path);
                }
            }
        }
    }
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
