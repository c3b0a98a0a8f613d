//! Everything in `docs/openapi.yaml` is described: operations, parameters, and the members of requests, answers and events.

use crate::harness::description::yaml;
use serde_json::{Value, json};

/// Members without a description, as paths into the document.
fn undescribed(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        look(document, schema, name, &mut found);
    }
    for (path, operations) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in operations.as_object().into_iter().flatten() {
            let name = format!("{method} {path}");
            if !is_sentence(&operation["description"], "") {
                found.push(name.clone());
            }
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let parameter_name = parameter["name"].as_str().unwrap_or_default();
                if !is_sentence(&parameter["description"], parameter_name) {
                    found.push(format!("{name} {parameter_name}"));
                }
            }
            look(document, &operation["requestBody"], &name, &mut found);
            look(document, &operation["responses"], &name, &mut found);
        }
    }
    found
}

/// Adds the members of a schema, and of all within it, that are not described.
fn look(document: &Value, schema: &Value, at: &str, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                if key != "properties" {
                    look(document, value, at, found);
                    continue;
                }
                for (name, member) in value.as_object().into_iter().flatten() {
                    let path = format!("{at}.{name}");
                    if !is_described(document, name, member) {
                        found.push(path.clone());
                    }
                    look(document, member, &path, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| look(document, item, at, found)),
        _ => {}
    }
}

/// True if a member is described: by itself, by the type that it refers to, or by its only possible value.
fn is_described(document: &Value, name: &str, schema: &Value) -> bool {
    if schema.get("description").is_some() {
        return is_sentence(&schema["description"], name);
    }
    if let Some(path) = schema["$ref"].as_str() {
        return is_sentence(&document.pointer(&path[1..]).unwrap()["description"], "");
    }
    if let Some(alternatives) = schema["anyOf"].as_array() {
        return alternatives.iter().all(|one| one["type"] == "null" || is_described(document, name, one));
    }
    let is_only_word = schema["enum"].as_array().is_some_and(|words| words.len() == 1);
    is_only_word || schema["items"].get("$ref").is_some() && is_described(document, name, &schema["items"])
}

/// True if a description is a sentence that adds something to the name.
fn is_sentence(description: &Value, name: &str) -> bool {
    let Some(text) = description.as_str() else { return false };
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).filter(|word| !["a", "an", "the"].contains(&word.as_str())).collect()
    };
    text.ends_with(['.', ')']) && words(text) != words(name)
}

#[test]
fn everything_is_described() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.yaml");
    let document = yaml::read(&std::fs::read_to_string(path).unwrap());
    let found = undescribed(&document);
    assert!(found.is_empty(), "not described, or only by their names:\n{}", found.join("\n"));
}

#[test]
fn missing_descriptions_are_found() {
    let document = json!({
        "components": {"schemas": {
            "Channel": {"type": "object", "description": "A channel.", "properties": {
                "name": {"type": "string", "description": "The name."},
                "folder": {"$ref": "#/components/schemas/Folder"},
                "type": {"type": "string", "enum": ["channel"]},
                "people": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}},
            }},
            "Folder": {"type": "object", "properties": {"channel": {"$ref": "#/components/schemas/Channel"}}},
        }},
        "paths": {"/channels": {"post": {"parameters": [{"name": "name"}], "responses": {}}}},
    });
    let expected = [
        "Channel.name",
        "Channel.folder",
        "Channel.people",
        "Channel.people.id",
        "post /channels",
        "post /channels name",
    ];
    assert_eq!(undescribed(&document), expected);
}
