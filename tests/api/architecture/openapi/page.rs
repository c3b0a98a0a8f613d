//! `docs/operations.md` and `docs/objects.md`: the description of the interface as pages of the book, written from
//! `docs/openapi.yaml`.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

const OPERATIONS: &str = "\
# Operations

Every operation of the REST API, with its parameters, its response and its errors. A test generates this page from the
source, as it does [openapi.yaml](openapi.yaml), which programs can read.

- Paths are relative to `/api/v1`. Clients send an email and an API key by HTTP basic authentication.
- Parameters that are not strings are sent as JSON.
- A response is a JSON object with `\"result\": \"success\"`, `\"msg\": \"\"` and the listed members.
- An error is an [`Error`](objects.md#error). Each operation lists only the codes that not all operations have.
- Access is the lowest role that may call the operation. `visitor` includes clients without an account, if the organization
  allows that. [Permissions of operations](permissions.md) lists further conditions.
";

const OBJECTS: &str = "\
# Objects and events

The objects in requests, responses and events of the REST API, with their members. Names that begin with `Event` are events,
which `GET /events` returns. A test generates this page from the source, as it does [Operations](operations.md).
";

/// A text in a cell of a table.
fn cell(text: &Value) -> String {
    let words: Vec<&str> = text.as_str().unwrap_or_default().split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

/// The schema that a reference names.
fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The type of a value, with links to objects.
fn kind(schema: &Value) -> String {
    if let Some(name) = name_of(schema) {
        return format!("[{name}](objects.md#{})", name.to_ascii_lowercase());
    }
    for (key, separator) in [("anyOf", " or "), ("oneOf", " or "), ("allOf", " and ")] {
        if let Some(list) = schema[key].as_array() {
            return list.iter().map(kind).collect::<Vec<_>>().join(separator);
        }
    }
    match &schema["type"] {
        Value::Array(types) => {
            let one = |name: &Value| {
                let mut schema = schema.clone();
                schema["type"] = name.clone();
                kind(&schema)
            };
            types.iter().map(one).collect::<Vec<_>>().join(" or ")
        }
        Value::String(name) if name == "array" => format!("list of {}", kind(&schema["items"])),
        Value::String(name) => {
            let values = schema["enum"].as_array().filter(|_| name == "string");
            let quoted = |value: &Value| value.as_str().map(|value| format!("`{value}`"));
            values.map_or_else(
                || name.clone(),
                |values| values.iter().filter_map(quoted).collect::<Vec<_>>().join(", "),
            )
        }
        _ => "any".to_owned(),
    }
}

/// A row of a parameter or of a member.
fn row(name: &str, is_required: bool, schema: &Value, about: &Value) -> String {
    let required = if is_required { " (required)" } else { "" };
    format!("| `{name}`{required} | {} | {} |\n", kind(schema), cell(about))
}

/// The rows of the members of an object. Only those of requests say whether they are required.
fn rows(schema: &Value, is_request: bool) -> Vec<String> {
    let required = |name: &str| {
        is_request && schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name))
    };
    let members = schema["properties"].as_object();
    let members = members.into_iter().flatten();
    members.map(|(name, member)| row(name, required(name), member, &member["description"])).collect()
}

fn add_table(out: &mut String, head: &str, rows: &[String]) {
    if !rows.is_empty() {
        write!(out, "\n| {head} | Type | Description |\n|---|---|---|\n{}", rows.concat()).unwrap();
    }
}

fn add_operation(out: &mut String, document: &Value, method: &str, path: &str, operation: &Value) {
    let title = format!("`{} {path}`", method.to_ascii_uppercase());
    writeln!(out, "\n### {title}").unwrap();
    let about = operation["description"].as_str().unwrap_or_default();
    let about = about.strip_prefix(&title).unwrap_or(about).trim_start_matches(['.', ':', ' ']);
    if !about.is_empty() {
        writeln!(out, "\n{}", cell(&about.into())).unwrap();
    }
    writeln!(out, "\nAccess: `{}`.", operation["x-access"].as_str().unwrap_or_default()).unwrap();

    let of_path = operation["parameters"].as_array().into_iter().flatten();
    let mut parameters: Vec<String> = of_path
        .map(|parameter| {
            let schema = match parameter.get("schema") {
                Some(schema) => schema,
                None => &parameter["content"]["application/json"]["schema"],
            };
            let is_required = parameter["required"] == true;
            row(parameter["name"].as_str().unwrap(), is_required, schema, &parameter["description"])
        })
        .collect();
    let bodies = operation["requestBody"]["content"].as_object();
    if let Some(body) = bodies.and_then(|bodies| bodies.values().next()) {
        parameters.extend(rows(&body["schema"], true));
    }
    add_table(out, "Parameter", &parameters);

    let reply = &operation["responses"]["200"]["content"]["application/json"]["schema"]["allOf"];
    // The first part is that of every success.
    for part in reply.as_array().into_iter().flatten().skip(1) {
        let part = name_of(part).map_or(part, |name| &document["components"]["schemas"][name]);
        add_table(out, "Response", &rows(part, false));
    }
    let responses = operation["responses"].as_object().into_iter().flatten();
    let codes = responses.flat_map(|(_, response)| response["x-codes"].as_array().into_iter().flatten());
    let codes: Vec<String> = codes.filter_map(Value::as_str).map(|code| format!("`{code}`")).collect();
    if !codes.is_empty() {
        writeln!(out, "\nErrors: {}.", codes.join(", ")).unwrap();
    }
}

/// The page of operations, by resource.
pub fn operations(document: &Value) -> String {
    let mut by_resource: BTreeMap<&str, Vec<(&str, &str, &Value)>> = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let resource = operation["tags"][0].as_str().unwrap();
            by_resource.entry(resource).or_default().push((path.as_str(), method.as_str(), operation));
        }
    }
    let mut out = OPERATIONS.to_owned();
    for (resource, operations) in by_resource {
        let mut title = resource.replace('_', " ");
        title[..1].make_ascii_uppercase();
        writeln!(out, "\n## {title}").unwrap();
        for (path, method, operation) in operations {
            add_operation(&mut out, document, method, path, operation);
        }
    }
    out
}

/// The page of objects and events.
pub fn objects(document: &Value) -> String {
    let mut out = OBJECTS.to_owned();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        writeln!(out, "\n## {name}").unwrap();
        let about = cell(&schema["description"]);
        if !about.is_empty() {
            writeln!(out, "\n{about}").unwrap();
        }
        let variants: Vec<&Value> = schema["anyOf"].as_array().into_iter().flatten().collect();
        if variants.iter().any(|variant| !variant["properties"].is_object()) {
            writeln!(out, "\nOne of: {}.", kind(schema)).unwrap();
        }
        for variant in variants {
            add_table(&mut out, "Member", &rows(variant, false));
        }
        add_table(&mut out, "Member", &rows(schema, false));
    }
    out
}
