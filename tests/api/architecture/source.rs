//! The source text of the program and its analysis.

use proc_macro2::{TokenStream, TokenTree};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// One file of `src` or `tests`.
#[derive(Clone)]
pub struct SourceFile {
    /// Below that folder, with slashes.
    pub path: String,
    /// The whole text.
    pub text: String,
    tree: OnceCell<syn::File>,
}

impl SourceFile {
    /// A file with a path below `src` or `tests`.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), tree: OnceCell::new() }
    }

    /// The syntax tree.
    pub fn tree(&self) -> &syn::File {
        self.tree.get_or_init(|| {
            syn::parse_file(&self.text).unwrap_or_else(|error| panic!("{}: {error}", self.path))
        })
    }

    /// The module that the file is: `["api", "users", "get"]`; empty for the root of the crate.
    pub fn module(&self) -> Vec<&str> {
        let path = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        if ["lib", "main"].contains(&path) {
            return Vec::new();
        }
        path.strip_suffix("/mod").unwrap_or(path).split('/').collect()
    }

    /// The same as a path: `api::users::get`.
    pub fn module_path(&self) -> String {
        self.module().join("::")
    }

    /// The resource of `api` that the file belongs to.
    pub fn resource(&self) -> Option<&str> {
        match self.module()[..] {
            ["api", resource, ..] => Some(resource),
            _ => None,
        }
    }

    /// True if the file contains only tests.
    pub fn is_test(&self) -> bool {
        self.module().contains(&"tests")
    }

    /// The string literals outside of unit tests and documentation, also those in the tokens of macros.
    pub fn literals(&self) -> Vec<String> {
        let mut literals = Literals::default();
        literals.visit_file(self.tree());
        literals.0
    }

    /// The constants outside of unit tests that are string literals, also those of `impl` blocks: name and text.
    pub fn text_constants(&self) -> Vec<(String, String)> {
        let mut constants = TextConstants::default();
        constants.visit_file(self.tree());
        constants.0
    }
}

/// True if an item is compiled for tests only.
pub fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

/// Adds the string literals in tokens, in their order.
pub fn literals_in(tokens: TokenStream, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => literals_in(group.stream(), found),
            TokenTree::Literal(literal) => {
                if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                    found.push(text.value());
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

#[derive(Default)]
struct Literals(Vec<String>);

impl<'ast> Visit<'ast> for Literals {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.0.push(literal.value());
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        literals_in(invocation.tokens.clone(), &mut self.0);
    }
}

#[derive(Default)]
struct TextConstants(Vec<(String, String)>);

impl TextConstants {
    fn add(&mut self, name: &syn::Ident, value: &syn::Expr) {
        if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = value {
            self.0.push((name.to_string(), text.value()));
        }
    }
}

impl<'ast> Visit<'ast> for TextConstants {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_const(&mut self, constant: &'ast syn::ItemConst) {
        self.add(&constant.ident, &constant.expr);
    }

    fn visit_impl_item_const(&mut self, constant: &'ast syn::ImplItemConst) {
        self.add(&constant.ident, &constant.expr);
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
    assert!(files.len() > 10, "there are source files in {folder}");
    files
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<SourceFile>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            files.push(SourceFile::new(name, std::fs::read_to_string(&path).unwrap()));
        }
    }
}
