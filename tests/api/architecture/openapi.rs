//! `docs/openapi.yaml`: the operations with their parameters, written from the source: the table of routes, the structs of
//! parameters, and their documentation. The server sends the file at `/api/openapi.yaml`.
//!
//! `INSTA_UPDATE=always cargo test --test api openapi` writes it anew.

use super::source::{SourceFile, files};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use teamchat::api::routes;

/// The name of a type and its arguments: `Option<Vec<UserId>>` is `("Option", [Vec<UserId>])`.
fn text_of(kind: &syn::Type) -> (String, Vec<&syn::Type>) {
    let syn::Type::Path(path) = kind else { return (String::new(), Vec::new()) };
    let Some(segment) = path.path.segments.last() else { return (String::new(), Vec::new()) };
    let mut arguments = Vec::new();
    if let syn::PathArguments::AngleBracketed(list) = &segment.arguments {
        for argument in &list.args {
            if let syn::GenericArgument::Type(kind) = argument {
                arguments.push(kind);
            }
        }
    }
    (segment.ident.to_string(), arguments)
}

/// The names of a path; of a closure, those of the function that it calls.
fn names_of(expression: &syn::Expr) -> Vec<String> {
    match expression {
        syn::Expr::Path(path) => path.path.segments.iter().map(|segment| segment.ident.to_string()).collect(),
        syn::Expr::Closure(closure) => match &*closure.body {
            syn::Expr::Call(call) => names_of(&call.func),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// A route as it stands in the source.
struct SourceRoute {
    resource: String,
    module: String,
    method: String,
    path: String,
    handler: Vec<String>,
}

/// A handler.
struct Handler {
    module: String,
    docs: String,
    params: Vec<String>,
}

/// A parameter.
struct Parameter {
    name: String,
    docs: String,
    schema: &'static str,
    required: bool,
}

/// What the source says.
#[derive(Default)]
struct Api {
    routes: Vec<SourceRoute>,
    handlers: BTreeMap<String, Vec<Handler>>,
    /// By name: the module, and the parameters.
    structs: BTreeMap<String, Vec<(String, Vec<Parameter>)>>,
    /// Structs that are not read themselves, and the types of their fields.
    composed: BTreeMap<String, Vec<String>>,
    /// Other names of structs.
    aliases: BTreeMap<String, String>,
    enums: BTreeSet<String>,
    constants: BTreeMap<String, String>,
}

/// The documentation of an item, in one line for each paragraph.
fn docs_of(attributes: &[syn::Attribute]) -> String {
    let mut paragraphs = vec![String::new()];
    for attribute in attributes {
        let syn::Meta::NameValue(meta) = &attribute.meta else { continue };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &meta.value else { continue };
        if !meta.path.is_ident("doc") {
            continue;
        }
        let line = text.value();
        if line.trim().is_empty() {
            paragraphs.push(String::new());
        } else if let Some(paragraph) = paragraphs.last_mut() {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim());
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs.join("\n\n")
}

/// The text of `name = "text"` in the serde attributes of a field, or the empty text if the name stands alone.
fn serde_value(attributes: &[syn::Attribute], name: &str) -> Option<String> {
    let mut found = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let parsed = attribute.parse_nested_meta(|meta| {
            let is_wanted = meta.path.is_ident(name);
            let value = match meta.value() {
                Ok(value) => value.parse::<syn::LitStr>().map(|text| text.value()).unwrap_or_default(),
                Err(_) => String::new(),
            };
            if is_wanted {
                found = Some(value);
            }
            Ok(())
        });
        // What this does not understand has no name that is asked for.
        drop(parsed);
    }
    found
}

/// The schema of a type, as YAML in one line, and whether it may be missing.
fn schema_of(kind: &syn::Type, enums: &BTreeSet<String>) -> (&'static str, bool) {
    let (name, arguments) = text_of(kind);
    match (name.as_str(), arguments.as_slice()) {
        ("Option", [inner]) => (schema_of(inner, enums).0, true),
        ("Vec" | "BTreeSet", [item]) => match schema_of(item, enums).0 {
            "{ type: string }" => ("{ type: array, items: { type: string } }", false),
            "{ type: integer }" => ("{ type: array, items: { type: integer } }", false),
            _ => ("{ type: array, items: {} }", false),
        },
        ("bool", _) => ("{ type: boolean }", false),
        ("String" | "str" | "Trimmed" | "BoundedText" | "RequiredText" | "Cow" | "char", _) => {
            ("{ type: string }", false)
        }
        ("f64" | "f32", _) => ("{ type: number }", false),
        (
            "i64" | "i32" | "u64" | "u32" | "u16" | "u8" | "usize" | "UserId" | "StreamId" | "MessageId"
            | "GroupId" | "EventId" | "Role",
            _,
        ) => ("{ type: integer }", false),
        ("BTreeMap" | "HashMap" | "Map", _) => ("{ type: object }", false),
        (name, _) if enums.contains(name) => ("{ type: string }", false),
        _ => ("{}", false),
    }
}

/// Whether a struct is read from parameters as it stands.
fn is_deserialized(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => {
            list.path.is_ident("derive") && list.tokens.to_string().contains("Deserialize")
        }
        _ => false,
    })
}

struct Items<'a> {
    file: &'a SourceFile,
    api: &'a mut Api,
}

impl<'ast> Visit<'ast> for Items<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !super::source::is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let mut params = Vec::new();
        for input in &function.sig.inputs {
            let syn::FnArg::Typed(input) = input else { continue };
            let (name, arguments) = text_of(&input.ty);
            if name == "Params2" {
                params.extend(arguments.iter().map(|kind| text_of(kind).0));
            } else if name.ends_with("Params") || name == "SettingValues" {
                params.push(name);
            }
        }
        let handler = Handler { module: self.file.module_path(), docs: docs_of(&function.attrs), params };
        self.api.handlers.entry(function.sig.ident.to_string()).or_default().push(handler);
        visit::visit_item_fn(self, function);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        // Others are read by code of their own, or are made of several structs.
        if !is_deserialized(&item.attrs) {
            let part = |field: &syn::Field| match text_of(&field.ty) {
                (name, arguments) if name == "Option" => {
                    arguments.first().map_or(name, |kind| text_of(kind).0)
                }
                (name, _) => name,
            };
            let parts = item.fields.iter().map(part).collect();
            self.api.composed.insert(item.ident.to_string(), parts);
            return;
        }
        let generics: BTreeSet<String> =
            item.generics.type_params().map(|parameter| parameter.ident.to_string()).collect();
        let mut parameters = Vec::new();
        for field in &item.fields {
            let Some(name) = &field.ident else { continue };
            let name = serde_value(&field.attrs, "rename")
                .unwrap_or_else(|| name.to_string().trim_start_matches("r#").to_owned());
            let (schema, optional) = schema_of(&field.ty, &self.api.enums);
            let schema = if generics.contains(&text_of(&field.ty).0) { "{}" } else { schema };
            let has_default = serde_value(&field.attrs, "default").is_some();
            let docs = docs_of(&field.attrs);
            parameters.push(Parameter { name, docs, schema, required: !optional && !has_default });
        }
        let known = self.api.structs.entry(item.ident.to_string()).or_default();
        known.push((self.file.module_path(), parameters));
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        let list = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if invocation.path.is_ident("vec")
            && let Ok(list) = invocation.parse_body_with(list)
        {
            for expression in &list {
                Items { file: self.file, api: self.api }.visit_expr(expression);
            }
        }
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.api.aliases.insert(item.ident.to_string(), text_of(&item.ty).0);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let names = names_of(&call.func);
        let is_route = matches!(
            names.iter().map(String::as_str).collect::<Vec<_>>()[..],
            ["Route", "read" | "write" | "call" | "upload"]
        );
        if is_route && call.args.len() == 4 {
            let path = match &call.args[1] {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => text.value(),
                other => {
                    let name = names_of(other).pop().unwrap_or_default();
                    self.api.constants.get(&name).cloned().unwrap_or_default()
                }
            };
            self.api.routes.push(SourceRoute {
                resource: self.file.resource().unwrap_or_default().to_owned(),
                module: self.file.module_path(),
                method: names_of(&call.args[0]).pop().unwrap_or_default(),
                path,
                handler: names_of(&call.args[3]),
            });
        }
        visit::visit_expr_call(self, call);
    }
}

/// Reads the source: enums and constants first, since the rest refers to them.
fn read() -> Api {
    let files: Vec<SourceFile> = files().into_iter().filter(|file| !file.is_test()).collect();
    let mut api = Api::default();
    for file in &files {
        for item in &file.parse().items {
            match item {
                // Enums without data are texts on the wire.
                syn::Item::Enum(item) if item.variants.iter().all(|variant| variant.fields.is_empty()) => {
                    api.enums.insert(item.ident.to_string());
                }
                _ => {}
            }
        }
        if file.path.starts_with("api/") {
            api.constants.extend(file.text_constants());
        }
    }
    for file in &files {
        Items { file, api: &mut api }.visit_file(&file.parse());
    }
    api
}

impl Api {
    /// The handler of a route: in the module that is named, or in that of the route.
    fn handler(&self, route: &SourceRoute) -> Option<&Handler> {
        let (name, modules) = route.handler.split_last()?;
        let known = self.handlers.get(name)?;
        let module = match modules.last() {
            Some(module) => format!("::{module}"),
            None => String::new(),
        };
        let of_resource = format!("api::{}", route.resource);
        known
            .iter()
            .find(|handler| match modules {
                [] => handler.module == route.module,
                _ => handler.module.starts_with(&of_resource) && handler.module.ends_with(&module),
            })
            .or_else(|| known.iter().find(|handler| handler.module.starts_with(&of_resource)))
    }

    /// The parameters of a struct, as near to a module as there is one of that name.
    fn parameters(&self, name: &str, module: &str) -> &[Parameter] {
        let name = self.aliases.get(name).map_or(name, String::as_str);
        let Some(known) = self.structs.get(name) else { return &[] };
        let nearness = |other: &str| {
            other.split("::").zip(module.split("::")).take_while(|(one, other)| one == other).count()
        };
        known.iter().max_by_key(|(other, _)| nearness(other)).map_or(&[], |(_, parameters)| parameters)
    }
}

/// A text as a YAML string: JSON is YAML.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// A name for an operation that no other has: its method and its path.
fn operation_id(method: &str, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    format!("{}_{}", method.to_ascii_lowercase(), words.collect::<Vec<_>>().join("_"))
}

fn written() -> String {
    let api = read();
    let mut access: BTreeMap<(String, String), &'static str> = BTreeMap::new();
    for route in routes().iter().filter(|route| !route.outside) {
        access.insert((route.path.to_owned(), route.method.to_string()), route.access);
    }
    let mut paths: BTreeMap<&str, Vec<&SourceRoute>> = BTreeMap::new();
    for route in &api.routes {
        let operations = paths.entry(&route.path).or_default();
        // Files have the same path inside and outside the interface.
        let is_new = operations.iter().all(|known| known.method != route.method);
        if is_new && access.contains_key(&(route.path.clone(), route.method.clone())) {
            operations.push(route);
        }
    }
    paths.retain(|_, operations| !operations.is_empty());
    let mut described: Vec<(String, String)> =
        paths.values().flatten().map(|route| (route.path.clone(), route.method.clone())).collect();
    described.sort();
    assert_eq!(
        described,
        access.keys().cloned().collect::<Vec<_>>(),
        "every route is found once in the source"
    );
    let mut out = String::from(HEAD);
    for (path, mut operations) in paths {
        writeln!(out, "  {}:", path.replace("...}", "}")).unwrap();
        operations.sort_by(|one, other| one.method.cmp(&other.method));
        for route in operations {
            let who = access[&(route.path.clone(), route.method.clone())];
            write_operation(&mut out, &api, route, who);
        }
    }
    out
}

const HEAD: &str = "\
# Written from the source by `INSTA_UPDATE=always cargo test --test api openapi`.
openapi: 3.0.3
info:
  title: teamchat
  version: feature level 421
  description: >-
    The operations of the interface with their parameters. Values that are not texts are sent as JSON. The settings that
    PATCH /settings, PATCH /realm and PATCH /realm/user_settings_defaults change have the names that POST /register gives them.
servers:
  - url: /api/v1
security:
  - basic: []
components:
  securitySchemes:
    basic: { type: http, scheme: basic, description: email and API key }
  schemas:
    Success:
      type: object
      required: [result, msg]
      properties:
        result: { type: string, enum: [success] }
        msg: { type: string }
        ignored_parameters_unsupported: { type: array, items: { type: string } }
    Error:
      type: object
      required: [result, msg, code]
      properties:
        result: { type: string, enum: [error] }
        msg: { type: string }
        code: { type: string }
  responses:
    success:
      description: Done
      content: { application/json: { schema: { $ref: '#/components/schemas/Success' } } }
    error:
      description: Refused
      content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } }
paths:
";

fn write_operation(out: &mut String, api: &Api, route: &SourceRoute, who: &str) {
    let handler = api.handler(route);
    let handler = handler.unwrap_or_else(|| panic!("no handler for {} {}", route.method, route.path));
    let mut parameters: Vec<&Parameter> = Vec::new();
    for name in &handler.params {
        let parts = api.composed.get(name).map_or(std::slice::from_ref(name), Vec::as_slice);
        for parameter in parts.iter().flat_map(|part| api.parameters(part, &handler.module)) {
            if !parameters.iter().any(|known| known.name == parameter.name) {
                parameters.push(parameter);
            }
        }
    }
    // The documentation begins with method and path.
    let docs = match handler.docs.split_once("`: ") {
        Some((_, rest)) => {
            let mut letters = rest.chars();
            letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        }
        None => Some(handler.docs.clone()),
    };
    writeln!(out, "    {}:", route.method.to_ascii_lowercase()).unwrap();
    writeln!(out, "      operationId: {}", operation_id(&route.method, &route.path)).unwrap();
    writeln!(out, "      tags: [{}]", route.resource).unwrap();
    writeln!(out, "      description: {}", quoted(&docs.unwrap_or_default())).unwrap();
    writeln!(out, "      x-access: {}", quoted(who)).unwrap();
    let in_path = |name: &str| {
        route.path.contains(&format!("{{{name}}}")) || route.path.contains(&format!("{{{name}...}}"))
    };
    let path_names: Vec<String> = route
        .path
        .split('{')
        .skip(1)
        .filter_map(|part| Some(part.split_once('}')?.0.trim_end_matches("...").to_owned()))
        .collect();
    let in_query = matches!(route.method.as_str(), "GET" | "DELETE");
    let (query, body): (Vec<&Parameter>, Vec<&Parameter>) =
        parameters.iter().filter(|parameter| !in_path(&parameter.name)).partition(|_| in_query);
    if !path_names.is_empty() || !query.is_empty() {
        writeln!(out, "      parameters:").unwrap();
    }
    for name in &path_names {
        let known = parameters.iter().find(|parameter| parameter.name == *name);
        let (schema, docs) =
            known.map_or(("{ type: string }", ""), |known| (known.schema, known.docs.as_str()));
        let schema = if schema == "{}" { "{ type: string }" } else { schema };
        writeln!(out, "        - name: {name}\n          in: path\n          required: true").unwrap();
        writeln!(out, "          description: {}\n          schema: {schema}", quoted(docs)).unwrap();
    }
    for parameter in query {
        let Parameter { name, docs, schema, required } = parameter;
        writeln!(out, "        - name: {name}\n          in: query\n          required: {required}").unwrap();
        writeln!(out, "          description: {}", quoted(docs)).unwrap();
        if schema.contains("array") || schema.contains("object") {
            writeln!(out, "          content: {{ application/json: {{ schema: {schema} }} }}").unwrap();
        } else {
            writeln!(out, "          schema: {schema}").unwrap();
        }
    }
    if !body.is_empty() {
        writeln!(out, "      requestBody:\n        content:\n          application/x-www-form-urlencoded:")
            .unwrap();
        writeln!(out, "            schema:\n              type: object").unwrap();
        let required: Vec<&str> = body
            .iter()
            .filter(|parameter| parameter.required)
            .map(|parameter| parameter.name.as_str())
            .collect();
        if !required.is_empty() {
            writeln!(out, "              required: [{}]", required.join(", ")).unwrap();
        }
        writeln!(out, "              properties:").unwrap();
        for parameter in body {
            let inner = parameter.schema.trim_start_matches('{').trim_end_matches('}').trim();
            let comma = if inner.is_empty() { "" } else { ", " };
            let docs = quoted(&parameter.docs);
            writeln!(out, "                {}: {{ {inner}{comma}description: {docs} }}", parameter.name)
                .unwrap();
        }
    }
    writeln!(out, "      responses:").unwrap();
    writeln!(out, "        '200': {{ $ref: '#/components/responses/success' }}").unwrap();
    writeln!(out, "        default: {{ $ref: '#/components/responses/error' }}").unwrap();
}

#[test]
fn the_description_is_that_of_the_source() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/openapi.yaml");
    let written = written();
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, &written).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let place = found.lines().zip(written.lines()).position(|(one, other)| one != other);
    let line = place.map_or("", |place| written.lines().nth(place).unwrap());
    assert!(found == written, "docs/openapi.yaml differs from line {place:?}: {line}");
}
