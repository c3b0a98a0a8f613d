//! The text of the description: paths with their operations, schemas, responses.

use super::members::Members;
use super::{Api, Parameter, SourceRoute, errors, read, text_of};
use crate::harness::description::yaml;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use teamchat::api::routes;

/// A name for an operation that no other has: its method and its path.
fn operation_id(method: &str, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    format!("{}_{}", method.to_ascii_lowercase(), words.collect::<Vec<_>>().join("_"))
}

/// The text of `docs/openapi.yaml`.
pub fn written() -> String {
    let mut api = read();
    let mut access: BTreeMap<(String, String), &'static str> = BTreeMap::new();
    for route in routes().iter().filter(|route| !route.outside) {
        access.insert((route.path.to_owned(), route.method.to_string()), route.access);
    }
    let source_routes = std::mem::take(&mut api.routes);
    let mut paths: BTreeMap<&str, Vec<&SourceRoute>> = BTreeMap::new();
    for route in &source_routes {
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
    let mut listed = errors::listed();
    let mut described = Map::new();
    for (path, mut operations) in paths {
        operations.sort_by(|one, other| one.method.cmp(&other.method));
        let mut methods = Map::new();
        let template = path.replace("...}", "}");
        for route in operations {
            let who = access[&(route.path.clone(), route.method.clone())];
            let mut operation = operation(&mut api, route, who);
            let errors = listed.remove(&(route.method.clone(), template.clone())).unwrap_or_default();
            errors::add(operation["responses"].as_object_mut().unwrap(), &errors);
            methods.insert(route.method.to_ascii_lowercase(), operation);
        }
        described.insert(template, methods.into());
    }
    assert!(listed.is_empty(), "errors.txt names operations that are not there: {listed:?}");
    api.add_events();
    let mut schemas = Map::new();
    schemas.insert("Success".to_owned(), success_schema());
    schemas.insert("Error".to_owned(), errors::schema(&api.error_codes, &api.error_members));
    schemas.extend(api.types.schemas);
    let error = json!({"description": "Refused",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}});
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "teamchat", "version": "feature level 421", "description": INTRODUCTION},
        "servers": [{"url": "/api/v1"}],
        "security": [{"basic": []}],
        "components": {
            "securitySchemes": {
                "basic": {"type": "http", "scheme": "basic", "description": "email and API key"},
            },
            "schemas": schemas,
            "responses": {"error": error},
        },
        "paths": described,
    });
    let Value::Object(document) = document else { unreachable!() };
    let text = yaml::write(&document);
    assert_eq!(yaml::read(&text), Value::Object(document), "what is written is read again");
    format!("# Written from the source by `.ci/bless`.\n{text}")
}

const INTRODUCTION: &str = "The operations of the REST API, with their parameters and responses. Parameters that are not \
    strings are sent as JSON. The schema Event describes the events that GET /events returns.";

fn success_schema() -> Value {
    json!({
        "type": "object",
        "description": "The members of every successful response.",
        "required": ["result", "msg"],
        "properties": {
            "result": {"type": "string", "enum": ["success"]},
            "msg": {"type": "string", "description": "Always empty."},
            "ignored_parameters_unsupported": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Parameters of the request that the operation does not have.",
            },
        },
    })
}

/// True if a parameter of a form is sent as JSON.
fn is_json(schema: &Value) -> bool {
    let text = schema.to_string();
    !text.contains("\"type\":\"string\"")
        && (text.contains("array") || text.contains("object") || text.contains("$ref"))
}

fn operation(api: &mut Api, route: &SourceRoute, who: &str) -> Value {
    let handler = api.handler(route);
    let handler = handler.unwrap_or_else(|| panic!("no handler for {} {}", route.method, route.path));
    let (module, params, reply) = (handler.module.clone(), handler.params.clone(), handler.reply.clone());
    // The documentation begins with method and path.
    let docs = match handler.docs.split_once("`: ") {
        Some((_, rest)) => {
            let mut letters = rest.chars();
            letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        }
        None => Some(handler.docs.clone()),
    };
    let parameters = api.parameters(&params, &module);
    let mut operation = json!({
        "operationId": operation_id(&route.method, &route.path),
        "tags": [route.resource],
        "description": docs.unwrap_or_default(),
        "x-access": who,
    });
    if who == "anyone" {
        operation["security"] = json!([]);
    }
    let in_path = |name: &str| {
        route.path.contains(&format!("{{{name}}}")) || route.path.contains(&format!("{{{name}...}}"))
    };
    let path_names = route.path.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0));
    let mut listed = Vec::new();
    for name in path_names.map(|name| name.trim_end_matches("...")) {
        let known = parameters.iter().find(|parameter| parameter.name == *name);
        let mut schema = known.map_or_else(|| json!({}), |known| known.schema.clone());
        let description = take_description(&mut schema);
        if schema == json!({}) {
            schema = json!({"type": "string"});
        }
        listed.push(json!({"name": name, "in": "path", "required": true, "description": description, "schema": schema}));
    }
    let in_query = matches!(route.method.as_str(), "GET" | "DELETE");
    let (query, body): (Vec<Parameter>, Vec<Parameter>) =
        parameters.into_iter().filter(|parameter| !in_path(&parameter.name)).partition(|_| in_query);
    for Parameter { name, mut schema, required } in query {
        let description = take_description(&mut schema);
        let mut parameter =
            json!({"name": name, "in": "query", "required": required, "description": description});
        if is_json(&schema) {
            parameter["content"] = json!({"application/json": {"schema": schema}});
        } else {
            parameter["schema"] = schema;
        }
        listed.push(parameter);
    }
    if !listed.is_empty() {
        operation["parameters"] = listed.into();
    }
    if !body.is_empty() {
        let mut members = Members::default();
        let mut encoding = Map::new();
        for Parameter { name, schema, required } in body {
            if is_json(&schema) {
                encoding.insert(name.clone(), json!({"contentType": "application/json"}));
            }
            members.add(&name, schema, required);
        }
        let mut form = json!({"schema": members.schema()});
        if !encoding.is_empty() {
            form["encoding"] = encoding.into();
        }
        operation["requestBody"] = json!({"content": {"application/x-www-form-urlencoded": form}});
    }
    let is_json = reply.as_ref().is_none_or(|kind| text_of(kind).0 != "NotJson");
    operation["responses"] = if is_json {
        let schema = api.success(reply.as_ref(), &module);
        json!({
            "200": {"description": "Done", "content": {"application/json": {"schema": schema}}},
            "default": {"$ref": "#/components/responses/error"},
        })
    } else {
        json!({"302": {"description": "Elsewhere"}, "default": {"$ref": "#/components/responses/error"}})
    };
    operation
}

/// Removes the description of a schema, for those who have it themselves.
fn take_description(schema: &mut Value) -> String {
    let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
    description.and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
}
