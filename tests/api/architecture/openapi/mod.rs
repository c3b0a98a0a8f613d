//! `docs/openapi.yaml`: the operations with their parameters and answers, and all events, written from the source: the
//! table of routes, the structs of parameters, replies and events, and their documentation. The server sends the file at
//! `/api/openapi.yaml`, and the tests hold each of its answers and events against it. `docs/operations.md` and
//! `docs/objects.md` show it to people.
//!
//! `.ci/bless` updates it.

mod described;
mod document;
mod errors;
mod items;
mod members;
mod page;
mod tables;
mod types;

use super::source::{SourceFile, files, files_below};
use crate::harness::description::yaml;
use crate::harness::generated::assert_generated;
use members::Members;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tables::{schema_of_setting, settable};
use teamchat::api::events::EVENTS;
use teamchat::domain::{realm, user_settings};
use teamchat::types::OnWire;
use types::{Types, Use};

/// The name of a type and its arguments: `Option<Vec<UserId>>` is `("Option", [Vec<UserId>])`.
fn text_of(kind: &syn::Type) -> (String, Vec<&syn::Type>) {
    if let syn::Type::Reference(reference) = kind {
        return text_of(&reference.elem);
    }
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

/// A route as written in the source.
struct SourceRoute {
    resource: String,
    module: String,
    method: String,
    path: String,
    handler: Vec<String>,
}

struct Handler {
    module: String,
    docs: String,
    params: Vec<syn::Type>,
    /// The members of its reply; `None` for a reply without any.
    reply: Option<syn::Type>,
}

struct Parameter {
    name: String,
    schema: Value,
    required: bool,
}

/// A part of the reply to `POST /register`: a field of a name, or all those of a struct.
struct StateField {
    module: String,
    name: Option<String>,
    docs: String,
    kind: syn::Type,
}

/// A form of an event on the wire.
struct EventForm {
    module: String,
    event: String,
    op: Option<String>,
    members: syn::Type,
}

/// Declarations found in the source.
#[derive(Default)]
struct Api {
    types: Types,
    routes: Vec<SourceRoute>,
    handlers: BTreeMap<String, Vec<Handler>>,
    constants: BTreeMap<String, String>,
    state: Vec<StateField>,
    /// Type and `op` of events, by the name of the struct.
    events: BTreeMap<String, (String, Option<String>)>,
    forms: Vec<EventForm>,
    /// Types of the members specific to each receiver, by the name of the event's struct.
    personal: BTreeMap<String, syn::Type>,
    error_codes: BTreeSet<String>,
    error_members: BTreeSet<String>,
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

/// True if a struct is deserialized from parameters directly.
fn is_deserialized(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => {
            list.path.is_ident("derive") && list.tokens.to_string().contains("Deserialize")
        }
        _ => false,
    })
}

/// True if a text has the form of an error code.
fn is_error_code(text: &str) -> bool {
    text.len() > 8 && text.chars().all(|letter| letter == '_' || letter.is_ascii_uppercase())
}

/// Reads the source: types and constants first, since the rest refers to them.
fn read() -> Api {
    let of_markdown = files_below("crates/markdown/src").into_iter();
    let of_markdown = of_markdown.map(|file| SourceFile::new(format!("markdown/{}", file.path), file.text));
    let files: Vec<SourceFile> =
        files().into_iter().chain(of_markdown).filter(|file| !file.is_test()).collect();
    let mut api = Api::default();
    for file in &files {
        api.types.read(file, file.tree());
        if file.path.starts_with("api/") {
            api.constants.extend(file.text_constants());
        }
        if file.text.contains("ApiError") {
            api.error_codes.extend(file.literals().into_iter().filter(|text| is_error_code(text)));
        }
    }
    for file in &files {
        items::read(file, file.tree(), &mut api);
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

    /// The parameters of a handler.
    fn parameters(&mut self, params: &[syn::Type], module: &str) -> Vec<Parameter> {
        let mut parameters: Vec<Parameter> = Vec::new();
        for kind in params {
            for parameter in self.parameters_of(kind, module) {
                if !parameters.iter().any(|known| known.name == parameter.name) {
                    parameters.push(parameter);
                }
            }
        }
        parameters
    }

    /// The parameters of the struct that a module names.
    fn parameters_of(&mut self, kind: &syn::Type, module: &str) -> Vec<Parameter> {
        let optional =
            |(name, schema): (&str, Value)| Parameter { name: name.to_owned(), schema, required: false };
        let (name, arguments) = text_of(kind);
        match (name.as_str(), arguments.as_slice()) {
            ("SettingParams", [table]) => {
                return settable(&text_of(table).0).into_iter().map(optional).collect();
            }
            ("PermissionParams", [table, value]) => {
                let [table, value] = [table, value].map(|kind| text_of(kind).0);
                let changes = self.types.of_permissions(&table, &value, Use::Read);
                return changes.into_iter().map(optional).collect();
            }
            ("Params2", parts) => {
                return parts.iter().flat_map(|part| self.parameters_of(part, module)).collect();
            }
            _ => {}
        }
        if let Some((home, kind)) = self.types.alias(&name, module) {
            return self.parameters_of(&kind, &home);
        }
        let (home, item) = self.types.structure(&name, module);
        if !is_deserialized(&item.attrs) {
            // Made of several structs that are read from the same form.
            return item.fields.iter().flat_map(|field| self.parameters_of(&field.ty, &home)).collect();
        }
        let mut forms = self.types.members_of_fields(&item.fields, &home, Use::Read);
        let mut parameters = forms.remove(0).into_parameters();
        if types::serde_value(&item.attrs, "default").is_some() {
            for parameter in &mut parameters {
                parameter.required = false;
            }
        }
        parameters
    }

    /// The schema of a route's success.
    fn success(&mut self, reply: Option<&syn::Type>, module: &str) -> Value {
        let success = json!({"$ref": "#/components/schemas/Success"});
        match reply {
            None => success,
            Some(kind) if text_of(kind).0 == "State" => {
                let state = self.state();
                self.types.schemas.insert("State".to_owned(), state);
                json!({"allOf": [success, {"$ref": "#/components/schemas/State"}]})
            }
            Some(kind) => json!({"allOf": [success, self.types.schema(kind, module, Use::Written)]}),
        }
    }

    /// The reply to `POST /register`.
    fn state(&mut self) -> Value {
        let mut state = Members::default();
        for field in std::mem::take(&mut self.state) {
            // Members added by the operation itself are always present, the others only on request.
            let is_required = field.module == "api::queues::register" && text_of(&field.kind).0 != "Option";
            match field.name {
                Some(name) => {
                    let mut schema = self.types.schema(&field.kind, &field.module, Use::Written);
                    schema["description"] = field.docs.into();
                    state.add(&name, schema, is_required);
                }
                None => {
                    for form in self.types.members_of(&field.kind, &field.module, Use::Written) {
                        state.extend(&form, is_required);
                    }
                }
            }
        }
        for property in realm::settings::PROPERTIES.iter().filter(|row| row.on_wire != OnWire::Hidden) {
            state.add(&format!("realm_{}", property.name), schema_of_setting(property), false);
        }
        for (name, schema) in self.types.of_permissions("RealmGroup", "GroupSetting", Use::Written) {
            state.add(&format!("realm_{name}"), schema, false);
        }
        let mut settings = Members::default();
        for property in user_settings::table::PROPERTIES {
            settings.add(property.name, schema_of_setting(property), true);
            if property.on_wire != OnWire::Shown {
                state.add(property.name, schema_of_setting(property), false);
            }
        }
        for (name, is_required) in
            [("available_notification_sounds", true), ("emojiset_choices", true), ("timezone", false)]
        {
            settings.add(name, state.property(name), is_required);
        }
        self.types.schemas.insert("UserSettings".to_owned(), settings.schema());
        for (name, about) in [
            ("user_settings", "The settings of the user."),
            ("realm_user_settings_defaults", "The settings that new users start with."),
        ] {
            let schema = json!({"$ref": "#/components/schemas/UserSettings", "description": about});
            state.add(name, schema, false);
        }
        state.schema()
    }

    /// Adds the schemas of all events, and one for any of them.
    fn add_events(&mut self) {
        let mut names = BTreeSet::new();
        for form in std::mem::take(&mut self.forms) {
            let (kind, op) = self.events[&form.event].clone();
            let op = form.op.or(op);
            let personal = self.personal.get(&form.event).cloned();
            let mut variants = Vec::new();
            for mut members in self.types.members_of(&form.members, &form.module, Use::Written) {
                if let Some(kind) = &personal {
                    for own in self.types.members_of(kind, &form.module, Use::Written) {
                        members.extend(&own, true);
                    }
                }
                members.add("type", json!({"type": "string", "enum": [kind]}), true);
                if let Some(op) = &op {
                    members.add("op", json!({"type": "string", "enum": [op]}), true);
                }
                members.add("id", json!({"type": "integer", "description": "Grows with each event."}), true);
                variants.push(members);
            }
            let members = text_of(&form.members).0;
            let name =
                if members == form.event { form.event.clone() } else { format!("{}{members}", form.event) };
            let mut schema = members::one_of(variants);
            schema["description"] = self.types.docs(&members, &form.module).into();
            let name = format!("Event{name}");
            self.types.schemas.insert(name.clone(), schema);
            names.insert(name);
        }
        let found: BTreeSet<&str> = self.events.values().map(|(kind, _)| kind.as_str()).collect();
        let registered: BTreeSet<&str> = EVENTS.kinds().iter().map(|kind| kind.event_type).collect();
        assert_eq!(found, registered, "every event is found in the source");
        let all: Vec<Value> =
            names.iter().map(|name| json!({"$ref": format!("#/components/schemas/{name}")})).collect();
        self.types
            .schemas
            .insert("Event".to_owned(), json!({"anyOf": all, "description": "An event of any type."}));
    }
}

#[test]
fn the_description_is_that_of_the_source() {
    let description = document::written();
    assert_generated("docs/openapi.yaml", &description);
    let document = yaml::read(&description);
    assert_generated("docs/operations.md", &page::operations(&document));
    assert_generated("docs/objects.md", &page::objects(&document));
}
