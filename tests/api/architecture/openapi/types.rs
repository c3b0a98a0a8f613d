//! JSON schemas of types of the source, following the attributes of serde.

use super::super::source::{SourceFile, is_for_tests};
use super::members::{Members, one_of};
use super::tables::{described_effect, forms_of_settings, permissions};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};
use teamchat::domain::groups::permission::Permission;

/// Types without a definition that can be read: defined by macros, or written by code of their own.
const KNOWN: &[(&str, &str)] = &[
    ("AnyEvent", r##"{"$ref": "#/components/schemas/Event"}"##),
    ("BoundedText", r#"{"type": "string"}"#),
    ("DefaultGroup", r#"{"type": "string"}"#),
    ("EventId", r#"{"type": "integer"}"#),
    ("FieldType", r#"{"type": "integer"}"#),
    ("FractionalTime", r#"{"type": "number"}"#),
    ("GroupId", r#"{"type": "integer"}"#),
    ("JsonOrText", "{}"),
    ("MessageId", r#"{"type": "integer"}"#),
    ("NewValue", r#"{"type": ["string", "array", "null"]}"#),
    ("RecipientId", r#"{"type": "integer"}"#),
    ("RequiredText", r#"{"type": "string"}"#),
    ("StreamId", r#"{"type": "integer"}"#),
    ("Subscribers", r#"{"enum": ["true", "false", "partial"]}"#),
    ("SystemGroup", r#"{"type": "string"}"#),
    ("TopicId", r#"{"type": "integer"}"#),
    ("Trimmed", r#"{"type": "string"}"#),
    ("UnixTime", r#"{"type": "integer"}"#),
    ("UserId", r#"{"type": "integer"}"#),
    ("VisibilityPolicy", r#"{"type": "integer"}"#),
];

/// The definition of a type.
enum Definition {
    Struct(syn::ItemStruct),
    Enum(syn::ItemEnum),
    Alias(syn::ItemType),
}

/// Direction of a type: read or written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Members are written by the server.
    Written,
    /// Members are read by the server.
    Read,
}

/// All types of the source, and the schemas of those that were asked for.
#[derive(Default)]
pub struct Types {
    /// Modules and definitions, by name.
    definitions: BTreeMap<String, Vec<(String, Definition)>>,
    /// The module of an imported name, by importing module and name.
    imports: BTreeMap<(String, String), String>,
    /// The content of `#/components/schemas`, by name.
    pub schemas: BTreeMap<String, Value>,
}

struct Items<'a> {
    module: String,
    types: &'a mut Types,
}

impl<'ast> Visit<'ast> for Items<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.import(&item.tree, &mut Vec::new());
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.define(&item.ident, Definition::Struct(item.clone()));
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.define(&item.ident, Definition::Enum(item.clone()));
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.define(&item.ident, Definition::Alias(item.clone()));
    }
}

impl Items<'_> {
    fn define(&mut self, name: &syn::Ident, definition: Definition) {
        let known = self.types.definitions.entry(name.to_string()).or_default();
        known.push((self.module.clone(), definition));
    }

    fn import(&mut self, tree: &syn::UseTree, path: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.import(&inner.tree, path);
                path.pop();
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.import(item, path)),
            syn::UseTree::Name(name) => {
                let from = path.join("::");
                let from = from.trim_start_matches("crate::").to_owned();
                self.types.imports.insert((self.module.clone(), name.ident.to_string()), from);
            }
            syn::UseTree::Rename(_) | syn::UseTree::Glob(_) => {}
        }
    }
}

impl Types {
    /// Adds the types of a file.
    pub fn read(&mut self, file: &SourceFile, parsed: &syn::File) {
        Items { module: file.module_path(), types: self }.visit_file(parsed);
    }

    /// Resolves a name in a module.
    fn find(&self, name: &str, module: &str) -> Option<&(String, Definition)> {
        let known = self.definitions.get(name)?;
        let by_module = |wanted: &str| known.iter().find(|(module, _)| module == wanted);
        let imported = self.imports.get(&(module.to_owned(), name.to_owned()));
        by_module(module)
            .or_else(|| by_module(imported?))
            // Imported from a module that only passes it on, or from one that is named from here.
            .or_else(|| known.iter().find(|(other, _)| imported.is_some_and(|from| other.starts_with(from))))
            .or_else(|| known.iter().find(|(other, _)| imported.is_some_and(|from| other.ends_with(from))))
            .or_else(|| if known.len() == 1 { known.first() } else { None })
    }

    /// The type behind an alias of a module, and the module that it is in.
    pub fn alias(&self, name: &str, module: &str) -> Option<(String, syn::Type)> {
        match self.find(name, module)? {
            (home, Definition::Alias(alias)) => Some((home.clone(), (*alias.ty).clone())),
            _ => None,
        }
    }

    /// The struct that a module means by a name, and the module that it is in. Of several with that name, none is guessed.
    pub fn structure(&self, name: &str, module: &str) -> (String, syn::ItemStruct) {
        match self.find(name, module) {
            Some((home, Definition::Struct(item))) => (home.clone(), item.clone()),
            Some(_) => panic!("{module}: {name} is no struct, so it has no parameters"),
            None => panic!("{module}: no struct {name}, or several"),
        }
    }

    /// The schema of a type as a module names it.
    pub fn schema(&mut self, kind: &syn::Type, module: &str, usage: Use) -> Value {
        match kind {
            syn::Type::Reference(reference) => self.schema(&reference.elem, module, usage),
            syn::Type::Paren(inner) => self.schema(&inner.elem, module, usage),
            syn::Type::Array(array) if is_unit(&array.elem) => json!({"type": "array", "maxItems": 0}),
            syn::Type::Array(array) => list(self.schema(&array.elem, module, usage)),
            syn::Type::Slice(slice) => list(self.schema(&slice.elem, module, usage)),
            syn::Type::Tuple(tuple) => {
                let items: Vec<Value> =
                    tuple.elems.iter().map(|item| self.schema(item, module, usage)).collect();
                tuple_of(items)
            }
            syn::Type::Path(_) => self.named(kind, module, usage),
            _ => panic!("{module}: a type of another kind"),
        }
    }

    fn named(&mut self, kind: &syn::Type, module: &str, usage: Use) -> Value {
        let (name, arguments) = super::text_of(kind);
        if let Some((_, known)) = KNOWN.iter().find(|(known, _)| *known == name) {
            return serde_json::from_str(known).unwrap();
        }
        if let Some(rows) = permissions(&name) {
            let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
            return json!({"type": "string", "enum": names});
        }
        match (name.as_str(), arguments.as_slice()) {
            ("Option", [inner]) => nullable(self.schema(inner, module, usage)),
            ("Box" | "Arc" | "Cow", [inner]) => self.schema(inner, module, usage),
            ("Vec" | "BTreeSet", [item]) => list(self.schema(item, module, usage)),
            ("BTreeMap" | "HashMap" | "Map", [_, value]) => {
                json!({"type": "object", "additionalProperties": self.schema(value, module, usage)})
            }
            ("bool", _) => json!({"type": "boolean"}),
            ("String" | "str" | "char", _) => json!({"type": "string"}),
            ("f64" | "f32", _) => json!({"type": "number"}),
            ("i64" | "i32" | "u64" | "u32" | "u16" | "u8" | "usize", _) => json!({"type": "integer"}),
            ("Value", _) => json!({}),
            _ => self.defined(&name, module, usage),
        }
    }

    /// The schema of a type that the source defines: by reference if it is an object.
    fn defined(&mut self, name: &str, module: &str, usage: Use) -> Value {
        // The parameter of a generic type.
        if name.len() == 1 {
            return json!({});
        }
        let Some((home, definition)) = self.find(name, module) else {
            panic!("{module}: no type {name}, or several");
        };
        let home = home.clone();
        match definition {
            Definition::Alias(alias) => {
                let kind = alias.ty.clone();
                self.schema(&kind, &home, usage)
            }
            Definition::Struct(item) => {
                let item = item.clone();
                if let Some(kind) = serde_value(&item.attrs, "into").filter(|_| usage == Use::Written) {
                    return self.schema(&syn::parse_str(&kind).unwrap(), &home, usage);
                }
                if let syn::Fields::Unnamed(fields) = &item.fields {
                    let kinds: Vec<_> = fields.unnamed.iter().map(|field| field.ty.clone()).collect();
                    let mut schemas: Vec<Value> =
                        kinds.iter().map(|kind| self.schema(kind, &home, usage)).collect();
                    return if schemas.len() == 1 { schemas.remove(0) } else { tuple_of(schemas) };
                }
                if serde_value(&item.attrs, "transparent").is_some() {
                    let kind = item.fields.iter().next().unwrap().ty.clone();
                    return self.schema(&kind, &home, usage);
                }
                self.reference(name, &home, usage, &item.attrs, |types| {
                    one_of(types.members_of_fields(&item.fields, &home, usage))
                })
            }
            Definition::Enum(item) => {
                let item = item.clone();
                if let Some(kind) = serde_value(&item.attrs, "into").filter(|_| usage == Use::Written) {
                    return self.schema(&syn::parse_str(&kind).unwrap(), &home, usage);
                }
                if let Some(kind) = serde_value(&item.attrs, "try_from").filter(|_| usage == Use::Read) {
                    return self.schema(&syn::parse_str(&kind).unwrap(), &home, usage);
                }
                if item.variants.iter().all(|variant| variant.fields.is_empty())
                    && serde_value(&item.attrs, "untagged").is_none()
                {
                    return json!({"type": "string", "enum": names_of_variants(&item)});
                }
                self.reference(name, &home, usage, &item.attrs, |types| types.variants(&item, &home, usage))
            }
        }
    }

    /// Refers to a schema, which is made if it is not known yet.
    fn reference(
        &mut self,
        name: &str,
        home: &str,
        usage: Use,
        attributes: &[syn::Attribute],
        make: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let mut unique = if usage == Use::Read { format!("{name}Parameter") } else { name.to_owned() };
        if self.definitions[name].len() > 1 {
            // Several types with one name are prefixed by their module.
            let module = home.rsplit("::").find(|part| !["mod", "events", "record", "list"].contains(part));
            unique = format!("{}{unique}", in_camel_case(module.unwrap_or_default()));
        }
        if !self.schemas.contains_key(&unique) {
            self.schemas.insert(unique.clone(), Value::Null);
            let mut schema = make(self);
            describe(&mut schema, attributes);
            self.schemas.insert(unique.clone(), schema);
        }
        json!({"$ref": format!("#/components/schemas/{unique}")})
    }

    /// The members of an object, or of each form that it can have.
    pub fn members_of_fields(&mut self, fields: &syn::Fields, module: &str, usage: Use) -> Vec<Members> {
        let mut forms = vec![Members::default()];
        for field in fields {
            let Some(name) = &field.ident else { continue };
            let is_skipped = ["skip", "skip_serializing"].iter().any(|word| {
                serde_value(&field.attrs, word).is_some() && (usage == Use::Written || *word == "skip")
            });
            if is_skipped {
                continue;
            }
            if serde_value(&field.attrs, "flatten").is_some() {
                let (inner, is_required) = match super::text_of(&field.ty) {
                    (name, arguments) if name == "Option" => (arguments[0], false),
                    _ => (&field.ty, true),
                };
                let flattened = self.flattened(inner, module, usage);
                forms = forms
                    .iter()
                    .flat_map(|form| {
                        flattened.iter().map(|more| {
                            let mut form = form.clone();
                            form.extend(more, is_required);
                            form
                        })
                    })
                    .collect();
                continue;
            }
            let name = serde_value(&field.attrs, "rename")
                .unwrap_or_else(|| name.to_string().trim_start_matches("r#").to_owned());
            let (is_required, kind) = match usage {
                Use::Written => match serde_value(&field.attrs, "skip_serializing_if") {
                    // Omitted members are never null.
                    Some(test) if test == "Option::is_none" => {
                        (false, super::text_of(&field.ty).1.into_iter().next().unwrap_or(&field.ty))
                    }
                    Some(_) => (false, &field.ty),
                    None => (true, &field.ty),
                },
                Use::Read => {
                    let is_option = super::text_of(&field.ty).0 == "Option";
                    let kind = match super::text_of(&field.ty) {
                        (name, arguments) if name == "Option" => arguments[0],
                        _ => &field.ty,
                    };
                    (!is_option && serde_value(&field.attrs, "default").is_none(), kind)
                }
            };
            let mut schema = self.schema(kind, module, usage);
            describe(&mut schema, &field.attrs);
            if let Some(alias) = serde_value(&field.attrs, "alias").filter(|_| usage == Use::Read) {
                schema["x-alias"] = alias.into();
            }
            for form in &mut forms {
                form.add(&name, schema.clone(), is_required);
            }
        }
        forms
    }

    /// The members of a struct, or of each form that it can have.
    pub fn members_of(&mut self, kind: &syn::Type, module: &str, usage: Use) -> Vec<Members> {
        match kind {
            syn::Type::Reference(reference) => self.flattened(&reference.elem, module, usage),
            kind => self.flattened(kind, module, usage),
        }
    }

    /// The documentation of a type.
    pub fn docs(&self, name: &str, module: &str) -> String {
        match self.find(name, module) {
            Some((_, Definition::Struct(item))) => super::docs_of(&item.attrs),
            Some((_, Definition::Enum(item))) => super::docs_of(&item.attrs),
            _ => String::new(),
        }
    }

    /// The members that a flattened field adds, in each form.
    fn flattened(&mut self, kind: &syn::Type, module: &str, usage: Use) -> Vec<Members> {
        let (name, arguments) = super::text_of(kind);
        match (name.as_str(), arguments.as_slice()) {
            ("Arc" | "Box", [inner]) => return self.flattened(inner, module, usage),
            ("SettingUpdate", [table]) => return forms_of_settings(&super::text_of(table).0),
            ("BTreeMap", [permission, value]) if permissions(&super::text_of(permission).0).is_some() => {
                return vec![self.permissions(permission, value, true)];
            }
            ("BTreeMap" | "Map", [_, value]) => {
                return vec![Members::of_any_name(self.schema(value, module, usage))];
            }
            ("Settings", _) => {
                let [permission, value] =
                    ["StreamSetting", "GroupSetting"].map(|name| syn::parse_str(name).unwrap());
                return vec![self.permissions(&permission, &value, true)];
            }
            _ => {}
        }
        let Some((home, definition)) = self.find(&name, module) else {
            panic!("{module}: no type {name}, or several");
        };
        let home = home.clone();
        match definition {
            Definition::Struct(item) => {
                let fields = item.fields.clone();
                self.members_of_fields(&fields, &home, usage)
            }
            Definition::Enum(item) => {
                let item = item.clone();
                self.forms_of_variants(&item, &home, usage)
            }
            Definition::Alias(alias) => {
                let kind = alias.ty.clone();
                self.flattened(&kind, &home, usage)
            }
        }
    }

    /// Members that are called as permissions are.
    fn permissions(&mut self, permission: &syn::Type, value: &syn::Type, is_required: bool) -> Members {
        let [permission, value] = [permission, value].map(|kind| super::text_of(kind).0);
        let mut members = Members::default();
        for (name, schema) in self.of_permissions(&permission, &value, Use::Written) {
            members.add(name, schema, is_required);
        }
        members
    }

    /// The names of the permissions of a table, each with the schema of a type of values and the permission's text.
    pub fn of_permissions(&mut self, table: &str, value: &str, usage: Use) -> Vec<(&'static str, Value)> {
        let value: syn::Type = syn::parse_str(value).unwrap();
        let schema = self.schema(&value, "domain::groups::setting", usage);
        let described = |row: Permission| {
            let mut schema = schema.clone();
            let effect = described_effect(row.effect);
            schema["description"] = format!("{}{effect}", row.about).into();
            (row.name, schema)
        };
        permissions(table).unwrap().into_iter().map(described).collect()
    }

    /// The schema of an enum with data.
    fn variants(&mut self, item: &syn::ItemEnum, module: &str, usage: Use) -> Value {
        if serde_value(&item.attrs, "untagged").is_none() {
            return one_of(self.forms_of_variants(item, module, usage));
        }
        let forms: Vec<Value> = item
            .variants
            .iter()
            .map(|variant| match &variant.fields {
                syn::Fields::Unnamed(fields) => self.schema(&fields.unnamed[0].ty.clone(), module, usage),
                fields => one_of(self.members_of_fields(fields, module, usage)),
            })
            .collect();
        json!({"anyOf": forms})
    }

    /// The members of each variant of an enum: with a tag, in a member named after the variant, or untagged.
    fn forms_of_variants(&mut self, item: &syn::ItemEnum, module: &str, usage: Use) -> Vec<Members> {
        let tag = serde_value(&item.attrs, "tag");
        let content = serde_value(&item.attrs, "content");
        let names = names_of_variants(item);
        let mut all = Vec::new();
        for (variant, name) in item.variants.iter().zip(names) {
            let is_untagged = [&item.attrs, &variant.attrs]
                .iter()
                .any(|attributes| serde_value(attributes, "untagged").is_some());
            if let (None, false, syn::Fields::Unnamed(fields)) = (&tag, is_untagged, &variant.fields) {
                let mut form = Members::default();
                let mut schema = self.schema(&fields.unnamed[0].ty.clone(), module, usage);
                describe(&mut schema, &variant.attrs);
                form.add(&name, schema, true);
                all.push(form);
                continue;
            }
            let mut forms = match &variant.fields {
                syn::Fields::Unnamed(fields) => {
                    self.forms_of_one(&fields.unnamed[0].ty.clone(), module, usage)
                }
                fields => self.members_of_fields(fields, module, usage),
            };
            if let Some(content) = &content {
                let mut form = Members::default();
                let mut schema = one_of(forms);
                describe(&mut schema, &variant.attrs);
                form.add(content, schema, true);
                forms = vec![form];
            }
            for form in &mut forms {
                if let Some(tag) = tag.as_ref().filter(|_| !is_untagged) {
                    form.add(tag, json!({"type": "string", "enum": [name]}), true);
                }
            }
            all.extend(forms);
        }
        all
    }

    /// The members of the content of a variant. A map of permissions has one.
    fn forms_of_one(&mut self, kind: &syn::Type, module: &str, usage: Use) -> Vec<Members> {
        match super::text_of(kind) {
            (name, arguments) if name == "BTreeMap" => {
                vec![self.permissions(arguments[0], arguments[1], false)]
            }
            _ => self.flattened(kind, module, usage),
        }
    }
}

/// Adds the documentation of an item to its schema.
fn describe(schema: &mut Value, attributes: &[syn::Attribute]) {
    let docs = super::docs_of(attributes);
    if !docs.is_empty() {
        schema["description"] = docs.into();
    }
}

fn is_unit(kind: &syn::Type) -> bool {
    matches!(kind, syn::Type::Tuple(tuple) if tuple.elems.is_empty())
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn tuple_of(items: Vec<Value>) -> Value {
    let length = items.len();
    json!({"type": "array", "prefixItems": items, "minItems": length, "maxItems": length})
}

fn nullable(schema: Value) -> Value {
    match schema {
        Value::Object(mut members) if members.get("type").is_some_and(Value::is_string) => {
            members["type"] = json!([members["type"], "null"]);
            if let Some(Value::Array(choices)) = members.get_mut("enum") {
                choices.push(Value::Null);
            }
            members.into()
        }
        Value::Object(members) if members.is_empty() => members.into(),
        other => json!({"anyOf": [other, {"type": "null"}]}),
    }
}

fn names_of_variants(item: &syn::ItemEnum) -> Vec<String> {
    let rule = serde_value(&item.attrs, "rename_all").unwrap_or_default();
    let name = |variant: &syn::Variant| {
        serde_value(&variant.attrs, "rename").unwrap_or_else(|| {
            let name = variant.ident.to_string();
            match rule.as_str() {
                "lowercase" => name.to_lowercase(),
                "snake_case" => in_snake_case(&name),
                _ => name,
            }
        })
    };
    item.variants.iter().map(name).collect()
}

fn in_snake_case(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

fn in_camel_case(name: &str) -> String {
    name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// The text of `name = "text"` in the serde attributes of an item, or the empty text for a bare name.
pub fn serde_value(attributes: &[syn::Attribute], name: &str) -> Option<String> {
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
        // Unsupported attributes have no name that is looked up.
        drop(parsed);
    }
    found
}
