//! Holds answers and events against `docs/openapi.yaml`: nothing that it does not describe, nothing missing, no value of
//! another type.

pub mod yaml;

use serde_json::Value;
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::sync::LazyLock;

static DESCRIPTION: LazyLock<Description> = LazyLock::new(Description::load);

/// Of longer lists, only the first items are looked at.
const MAX_ITEMS: usize = 64;

struct Description {
    document: Value,
    /// The names of the schemas of events, by their `type`.
    events: HashMap<String, Vec<String>>,
}

/// One form of an object: the schemas that its members come from.
type Form<'a> = Vec<&'a Value>;

/// Holds the answer to a request against the description. Answers that are not JSON, and those outside of the interface,
/// are none of its business.
#[track_caller]
pub fn check_answer(line: &str, status: u16, answer: &Value) {
    let Some((method, path)) = line.split_once(" /api/v1") else { return };
    let path = path.split('?').next().unwrap_or_default();
    let operation = DESCRIPTION.operation(method, path);
    if answer["result"] == "error" {
        DESCRIPTION.hold(line, &DESCRIPTION.document["components"]["schemas"]["Error"], answer);
        if let Some((path, operation)) = operation {
            check_error(&format!("{method} {path}"), operation, status, answer["code"].as_str().unwrap());
        }
        return;
    }
    if answer["result"] != "success" {
        return;
    }
    let (_, operation) = operation.unwrap_or_else(|| panic!("docs/openapi.yaml has no {method} {path}"));
    let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "docs/openapi.yaml has no JSON success for {method} {path}");
    DESCRIPTION.hold(line, schema, answer);
}

/// Holds the parameters of a request that succeeded against the description: those that the server took are described,
/// and those that the description calls required were there.
#[track_caller]
pub fn check_parameters(line: &str, names: &[String], answer: &Value) {
    let Some((method, path)) = line.split_once(" /api/v1") else { return };
    // The body of what other programs deliver is theirs, whatever its form.
    if answer["result"] != "success" || path.starts_with("/external/") {
        return;
    }
    let path = path.split('?').next().unwrap_or_default();
    let Some((_, operation)) = DESCRIPTION.operation(method, path) else { return };
    let mut described: Vec<(&str, &Value, bool)> = Vec::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let schema = parameter.get("schema").unwrap_or(&parameter["content"]["application/json"]["schema"]);
        let is_required = parameter["required"] == true && parameter["in"] != "path";
        described.push((parameter["name"].as_str().unwrap(), schema, is_required));
    }
    let form = &operation["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"];
    for (name, schema) in form["properties"].as_object().into_iter().flatten() {
        let is_required =
            form["required"].as_array().is_some_and(|required| required.contains(&name.as_str().into()));
        described.push((name, schema, is_required));
    }
    let is_of =
        |name: &str, (known, schema, _): &(&str, &Value, bool)| *known == name || schema["x-alias"] == name;
    let ignored = answer["ignored_parameters_unsupported"].as_array();
    let is_taken = |name: &str| !ignored.is_some_and(|ignored| ignored.contains(&name.into()));
    for name in names.iter().filter(|name| *name != "client" && is_taken(name)) {
        let is_described = described.iter().any(|known| is_of(name, known));
        assert!(is_described, "{line} takes {name}, which docs/openapi.yaml does not describe");
    }
    for known in described.iter().filter(|(_, _, is_required)| *is_required) {
        let is_there = names.iter().any(|name| is_of(name, known));
        assert!(is_there, "{line} succeeds without {}, which docs/openapi.yaml requires", known.0);
    }
}

/// Holds the code of an error against those of the operation, and keeps it in the file that `TEAMCHAT_SEEN_ERRORS` names.
#[track_caller]
fn check_error(name: &str, operation: &Value, status: u16, code: &str) {
    if GENERAL.contains(&code) {
        return;
    }
    let listed = &operation["responses"][status.to_string()]["x-codes"];
    let is_listed = listed.as_array().is_some_and(|codes| codes.iter().any(|known| known == code));
    if let Some(path) = std::env::var_os("TEAMCHAT_SEEN_ERRORS") {
        let mut file = File::options().append(true).create(true).open(path).unwrap();
        // In one piece, because other tests write too. Whether they are the listed ones, a test says at the end.
        return file.write_all(format!("{name} {status} {code}\n").as_bytes()).unwrap();
    }
    assert!(is_listed, "tests/api/architecture/openapi/errors.txt has no {name} {status} {code}");
}

/// Codes with which every operation can refuse: about credentials, limits, the form of the request and the server, and for a
/// reason that has no code of its own.
const GENERAL: [&str; 13] = [
    "BAD_REQUEST",
    "CSRF_FAILED",
    "INTERNAL_SERVER_ERROR",
    "INVALID_API_KEY",
    "RATE_LIMIT_HIT",
    "REALM_DEACTIVATED",
    "REQUEST_CONFUSING_VAR",
    "REQUEST_TIMEOUT",
    "REQUEST_VARIABLE_MISSING",
    "SERVICE_UNAVAILABLE",
    "UNAUTHORIZED",
    "UNAUTHORIZED_PRINCIPAL",
    "USER_DEACTIVATED",
];

impl Description {
    fn load() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.yaml");
        let document = yaml::read(&std::fs::read_to_string(path).unwrap());
        let mut events: HashMap<String, Vec<String>> = HashMap::new();
        let schemas = &document["components"]["schemas"];
        for reference in schemas["Event"]["anyOf"].as_array().into_iter().flatten() {
            let name = reference["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
            let forms = schemas[name]["anyOf"].as_array();
            let first = forms.map_or(&schemas[name], |forms| &forms[0]);
            let kind = first["properties"]["type"]["enum"][0].as_str().unwrap();
            events.entry(kind.to_owned()).or_default().push(name.to_owned());
        }
        Self { document, events }
    }

    /// The operation that a request is for, and its path. Names in a path are worth less than what it says itself.
    fn operation(&self, method: &str, path: &str) -> Option<(&str, &Value)> {
        let wanted: Vec<&str> = path.trim_end_matches('/').split('/').collect();
        let paths = self.document["paths"].as_object()?.iter();
        let matching = paths.filter_map(|(template, operations)| {
            let operation = operations.get(method.to_ascii_lowercase())?;
            let parts: Vec<&str> = template.split('/').collect();
            // The last name may stand for several segments.
            let is_open = parts.last().is_some_and(|part| part.starts_with('{'));
            let fits = parts.len() == wanted.len() || (is_open && parts.len() < wanted.len());
            let mut literals = 0;
            for (part, segment) in parts.iter().zip(&wanted) {
                if part == segment {
                    literals += 1;
                } else if !part.starts_with('{') {
                    return None;
                }
            }
            fits.then_some(((parts.len() == wanted.len(), literals), (template.as_str(), operation)))
        });
        matching.max_by_key(|(rank, _)| *rank).map(|(_, operation)| operation)
    }

    #[track_caller]
    fn hold(&self, line: &str, schema: &Value, answer: &Value) {
        let mut problems = Vec::new();
        self.check(schema, answer, "", &mut problems);
        problems.truncate(12);
        assert!(problems.is_empty(), "{line} differs from docs/openapi.yaml:\n{}", problems.join("\n"));
    }

    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(path) => self.document.pointer(&path[1..]).unwrap_or_else(|| panic!("{path} is described")),
            None => schema,
        }
    }

    /// The schemas without alternatives that a schema stands for.
    fn alternatives<'a>(&'a self, schema: &'a Value, found: &mut Vec<&'a Value>) {
        let schema = self.resolve(schema);
        match schema["anyOf"].as_array() {
            Some(alternatives) => alternatives.iter().for_each(|one| self.alternatives(one, found)),
            None => found.push(schema),
        }
    }

    /// The forms of an object that a schema allows.
    fn forms<'a>(&'a self, schema: &'a Value) -> Vec<Form<'a>> {
        let mut alternatives = Vec::new();
        self.alternatives(schema, &mut alternatives);
        let mut forms = Vec::new();
        for schema in alternatives {
            let Some(parts) = schema["allOf"].as_array() else {
                forms.push(vec![schema]);
                continue;
            };
            let mut combined: Vec<Form<'a>> = vec![Vec::new()];
            for part in parts {
                let more = self.forms(part);
                let join = |form: &Form<'a>| {
                    more.iter().map(|more| form.iter().chain(more).copied().collect()).collect::<Vec<_>>()
                };
                combined = combined.iter().flat_map(join).collect();
            }
            forms.extend(combined);
        }
        forms
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
        let is_event = schema["$ref"] == "#/components/schemas/Event";
        let events = value["type"].as_str().filter(|_| is_event).and_then(|kind| self.events.get(kind));
        let forms: Vec<Form<'_>> = match events {
            Some(names) => {
                let schemas = &self.document["components"]["schemas"];
                names.iter().flat_map(|name| self.forms(&schemas[name])).collect()
            }
            None => self.forms(schema),
        };
        let mut least: Option<Vec<String>> = None;
        for form in &forms {
            let mut found = Vec::new();
            self.check_form(form, value, at, &mut found);
            if found.is_empty() {
                return;
            }
            if least.as_ref().is_none_or(|least| found.len() < least.len()) {
                least = Some(found);
            }
        }
        problems.extend(least.unwrap_or_default());
    }

    fn check_form(&self, form: &[&Value], value: &Value, at: &str, problems: &mut Vec<String>) {
        for schema in form {
            if !is_of_type(&schema["type"], value) {
                problems.push(format!("{at}: {value} is not of type {}", schema["type"]));
                return;
            }
            if let Some(choices) = schema["enum"].as_array()
                && !choices.contains(value)
            {
                problems.push(format!("{at}: {value} is none of {choices:?}"));
            }
        }
        match value {
            Value::Object(members) => {
                for name in form.iter().filter_map(|schema| schema["required"].as_array()).flatten() {
                    if !members.contains_key(name.as_str().unwrap()) {
                        problems.push(format!("{at}.{}: missing", name.as_str().unwrap()));
                    }
                }
                for (name, value) in members {
                    let known = form.iter().find_map(|schema| schema["properties"].get(name));
                    let known =
                        known.or_else(|| form.iter().find_map(|schema| schema.get("additionalProperties")));
                    match known {
                        Some(schema) => self.check(schema, value, &format!("{at}.{name}"), problems),
                        // A schema that says nothing allows everything.
                        None if form.iter().any(|schema| schema.get("type").is_none()) => {}
                        None => problems.push(format!("{at}.{name}: {value} is not described")),
                    }
                }
            }
            Value::Array(items) => {
                let listed = form.iter().find_map(|schema| schema["prefixItems"].as_array());
                let least = form.iter().find_map(|schema| schema["minItems"].as_u64()).unwrap_or(0);
                let most = form.iter().find_map(|schema| schema["maxItems"].as_u64()).unwrap_or(u64::MAX);
                if !(least..=most).contains(&(items.len() as u64)) {
                    problems.push(format!("{at}: {} items", items.len()));
                }
                for (index, item) in items.iter().enumerate().take(MAX_ITEMS) {
                    let schema = match listed {
                        Some(listed) => listed.get(index),
                        None => form.iter().find_map(|schema| schema.get("items")),
                    };
                    if let Some(schema) = schema {
                        self.check(schema, item, &format!("{at}[{index}]"), problems);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether a value is of a type, or of one of several.
fn is_of_type(kind: &Value, value: &Value) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| is_of_type(kind, value)),
        Value::String(kind) => match kind.as_str() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            _ => false,
        },
        _ => true,
    }
}
