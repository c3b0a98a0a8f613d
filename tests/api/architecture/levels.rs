//! `src/testing/feature_levels.txt`: the members of `POST /register` and `GET /server_settings` that test servers of earlier
//! feature levels omit, compared with the description of the interface.

use crate::harness::description::yaml;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const LINES: &str = include_str!("../../../src/testing/feature_levels.txt");

/// Objects in the lists of `POST /register`, and the members that contain them, as in `src/testing/level.rs`.
const OBJECTS: [(&str, &[&str]); 5] = [
    ("channel", &["subscriptions", "unsubscribed", "never_subscribed", "streams"]),
    ("person", &["realm_users", "realm_non_active_users", "cross_realm_bots"]),
    ("group", &["realm_user_groups"]),
    ("linkifier", &["realm_linkifiers"]),
    ("setting", &["user_settings", "realm_user_settings_defaults"]),
];

/// The members of an object, or of the objects in a list, and their schemas.
fn members<'d>(schemas: &'d Value, schema: &'d Value) -> BTreeMap<&'d str, &'d Value> {
    if let Some(reference) = schema["$ref"].as_str() {
        let (_, name) = reference.rsplit_once('/').unwrap();
        return members(schemas, &schemas[name]);
    }
    let forms = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|form| schema[form].as_array());
    let parts = forms.flatten().chain(schema.get("items"));
    let mut found: BTreeMap<_, _> = parts.flat_map(|part| members(schemas, part)).collect();
    let own = schema["properties"].as_object().into_iter().flatten();
    found.extend(own.map(|(name, schema)| (name.as_str(), schema)));
    found
}

/// The differences between lines and a description.
fn differences(lines: &str, description: &Value) -> Vec<String> {
    let level = Regex::new(r"\(feature level (\d+)\)").unwrap();
    let schemas = &description["components"]["schemas"];
    let reply = |path: &str, method: &str| {
        let success = &description["paths"][path][method]["responses"]["200"];
        members(schemas, &success["content"]["application/json"]["schema"])
    };
    let state = reply("/register", "post");
    let mut objects = vec![("server_settings", reply("/server_settings", "get"))];
    for (object, lists) in OBJECTS {
        let lists = lists.iter().filter_map(|list| state.get(list).copied());
        objects.push((object, lists.flat_map(|list| members(schemas, list)).collect()));
    }
    objects.push(("register", state));

    let lines: BTreeSet<&str> = lines.lines().collect();
    let (mut known, mut found) = (BTreeSet::new(), Vec::new());
    for (object, members) in objects {
        assert!(!members.is_empty(), "docs/openapi.yaml describes no members of {object}");
        for (name, schema) in members {
            let described = level.captures(schema["description"].as_str().unwrap_or_default());
            let line = described.map(|captures| format!("{object} {name} {}", &captures[1]));
            // Every server has what came with level 1.
            let line = line.filter(|line| !line.ends_with(" 1"));
            found.extend(
                line.filter(|line| !lines.contains(line.as_str())).map(|line| format!("missing: {line}")),
            );
            // Permissions as groups came later than level 1.
            let of_organization = name.starts_with("realm_") && name.ends_with("_group");
            let prefix = if object == "register" { "realm_can_" } else { "can_" };
            let start = format!("{object} {name} ");
            if (of_organization || name.starts_with(prefix))
                && !lines.iter().any(|line| line.starts_with(&start))
            {
                found.push(format!("no line: {object} {name}"));
            }
            known.insert(format!("{object} {name}"));
        }
    }
    let is_stale = |line: &&&str| line.rsplit_once(' ').is_none_or(|(member, _)| !known.contains(member));
    found.extend(lines.iter().filter(is_stale).map(|line| format!("no such member: {line}")));
    found
}

#[test]
fn later_members_have_a_line() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.yaml");
    let description = yaml::read(&std::fs::read_to_string(path).unwrap());
    let found = differences(LINES, &description);
    assert!(found.is_empty(), "src/testing/feature_levels.txt differs from the description: {found:#?}");
}

#[test]
fn missing_and_stale_lines_are_found() {
    let about = |level: i64| json!({"description": format!("A member (feature level {level}).")});
    let record = json!({"properties": {"old": about(1), "new": about(300)}});
    let list = json!({"type": "array", "items": {"$ref": "#/components/schemas/Record"}});
    let lists = OBJECTS.iter().flat_map(|(_, lists)| *lists);
    let mut state: BTreeMap<&str, Value> = lists.map(|name| (*name, list.clone())).collect();
    state.insert("is_new", about(434));
    state.insert("realm_can_join_group", json!({}));
    let reply =
        |schema: Value| json!({"responses": {"200": {"content": {"application/json": {"schema": schema}}}}});
    let description = json!({
        "components": {"schemas": {"Record": record}},
        "paths": {
            "/register": {"post": reply(json!({"allOf": [{"properties": state}]}))},
            "/server_settings": {"get": reply(json!({"properties": {"old": about(1)}}))},
        },
    });
    let lines = "register is_new 433\nchannel new 300\nperson new 300\ngroup new 300\nsetting new 300\nsetting gone 7\n";
    let expected = [
        "missing: linkifier new 300",
        "missing: register is_new 434",
        "no line: register realm_can_join_group",
        "no such member: setting gone 7",
    ];
    assert_eq!(differences(lines, &description), expected);
}
