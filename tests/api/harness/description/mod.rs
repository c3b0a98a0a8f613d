//! Holds answers and events against `docs/openapi.yaml`: nothing that it does not describe, nothing missing, no value of
//! another type.

pub mod yaml;

use super::generated::BLESS;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use teamchat::http::{Found, Router};
use yaml::Member;

static DESCRIPTION: LazyLock<Description> = LazyLock::new(Description::load);

/// Maximum number of checked items of a list.
const MAX_ITEMS: usize = 64;

struct Description {
    schemas: HashMap<&'static str, Member>,
    /// The schemas of events, by their `type`.
    events: OnceLock<HashMap<&'static str, Vec<&'static Value>>>,
    router: Router,
    /// The operations by method and path.
    operations: HashMap<(String, String), Operation>,
    /// The forms that schemas allow, by the address of the schema: most are asked for often.
    forms: Mutex<HashMap<usize, Forms>>,
    /// Objects and lists that were found as described, by the address of the schema: most are in many answers. Their digests are
    /// compiled with optimization, unlike the checks.
    known: Mutex<HashSet<(usize, [u8; 32])>>,
}

/// An operation of the interface.
struct Operation {
    /// The path, with names for variable segments.
    path: &'static str,
    described: Member,
}

/// One form of an object: the schemas that its members come from.
type Form = Vec<&'static Value>;

/// The forms that a schema allows.
type Forms = Arc<Vec<Form>>;

/// Holds an answer, and the parameters that were sent, against the description. Answers that are not JSON, and those outside
/// of the interface, are none of its business.
#[track_caller]
pub fn check(line: &str, names: Option<&[String]>, status: u16, answer: &Value, is_random: bool) {
    let Some((method, path)) = line.split_once(" /api/v1") else { return };
    let path = path.split('?').next().unwrap_or_default();
    let operation = DESCRIPTION.operation(method, path);
    if answer["result"] == "error" {
        DESCRIPTION.hold(line, DESCRIPTION.schema("Error"), answer);
        if let Some(Operation { path, described, .. }) = operation {
            let code = answer["code"].as_str().unwrap();
            check_error(&format!("{method} {path}"), described, status, code, is_random);
        }
        return;
    }
    if answer["result"] != "success" {
        return;
    }
    let operation =
        operation.unwrap_or_else(|| panic!("{method} {path} is not in docs/openapi.yaml\n{BLESS}"));
    let described = operation.described.value();
    let schema = &described["responses"]["200"]["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "docs/openapi.yaml has no JSON success for {method} {path}");
    DESCRIPTION.hold(line, schema, answer);
    // Bodies of deliveries to webhooks have any form.
    if let Some(names) = names.filter(|_| !path.starts_with("/external/")) {
        check_parameters(line, described, names, answer);
    }
}

/// Holds the parameters of a request that succeeded against the description: those that the server took are described,
/// and those that the description calls required were there.
#[track_caller]
fn check_parameters(line: &str, operation: &Value, names: &[String], answer: &Value) {
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
        assert!(is_described, "{line} takes {name}, which docs/openapi.yaml does not describe\n{BLESS}");
    }
    for known in described.iter().filter(|(_, _, is_required)| *is_required) {
        let is_there = names.iter().any(|name| is_of(name, known));
        assert!(is_there, "{line} succeeds without {}, which docs/openapi.yaml requires\n{BLESS}", known.0);
    }
}

/// Holds the code of an error against those of the operation, or keeps it in the file that `TEAMCHAT_SEEN_ERRORS` names. The
/// errors of random requests are not kept: a test of its own has to see each.
#[track_caller]
fn check_error(name: &str, operation: &Member, status: u16, code: &str, is_random: bool) {
    if GENERAL.contains(&code) {
        return;
    }
    let listed = &operation.value()["responses"][status.to_string()]["x-codes"];
    let is_listed = listed.as_array().is_some_and(|codes| codes.iter().any(|known| known == code));
    if !is_random && let Some(path) = std::env::var_os("TEAMCHAT_SEEN_ERRORS") {
        let mut file = File::options().append(true).create(true).open(path).unwrap();
        // Written in one piece, because other tests write too. A test at the end compares them with the list.
        return file.write_all(format!("{name} {status} {code}\n").as_bytes()).unwrap();
    }
    assert!(
        is_listed,
        "tests/api/architecture/openapi/errors.txt has no {name} {status} {code}; add the line\n{BLESS}"
    );
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
        let text: &'static str = Box::leak(std::fs::read_to_string(path).unwrap().into_boxed_str());
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let mut parts: HashMap<_, _> = yaml::members(Vec::leak(lines), 0).into_iter().collect();
        let mut components: HashMap<_, _> =
            parts.remove("components").unwrap().members().into_iter().collect();
        let schemas = components.remove("schemas").unwrap().members().into_iter().collect();
        let mut operations = HashMap::new();
        for (path, methods) in parts.remove("paths").unwrap().members() {
            for (method, described) in methods.members() {
                operations
                    .insert((method.to_ascii_uppercase(), path.to_owned()), Operation { path, described });
            }
        }
        let router = Router::new(teamchat::api::routes()).unwrap();
        Self {
            schemas,
            events: OnceLock::new(),
            router,
            operations,
            forms: Mutex::default(),
            known: Mutex::default(),
        }
    }

    fn schema(&'static self, name: &str) -> &'static Value {
        self.schemas.get(name).unwrap_or_else(|| panic!("docs/openapi.yaml has no schema {name}")).value()
    }

    /// The schemas of the events of a type.
    fn events(&'static self, kind: &str) -> Option<&'static Vec<&'static Value>> {
        let events = self.events.get_or_init(|| {
            let mut events: HashMap<_, Vec<_>> = HashMap::new();
            for reference in self.schema("Event")["anyOf"].as_array().into_iter().flatten() {
                let schema = self.resolve(reference);
                let first = schema["anyOf"].as_array().map_or(schema, |forms| &forms[0]);
                let kind = first["properties"]["type"]["enum"][0].as_str().unwrap();
                events.entry(kind).or_default().push(schema);
            }
            events
        });
        events.get(kind)
    }

    /// Returns the operation of a request: the one that describes its route.
    fn operation(&self, method: &str, path: &str) -> Option<&Operation> {
        let path = format!("/api/v1{}", path.trim_end_matches('/'));
        let Found::Route(route, _) = self.router.find(&method.parse().ok()?, &path) else { return None };
        self.operations.get(&(route.method.to_string(), route.path.replace("...}", "}")))
    }

    #[track_caller]
    fn hold(&'static self, line: &str, schema: &'static Value, answer: &Value) {
        let mut problems = Vec::new();
        self.check(schema, answer, "", &mut problems);
        problems.truncate(12);
        assert!(
            problems.is_empty(),
            "{line} differs from docs/openapi.yaml:\n{}\n{BLESS}",
            problems.join("\n")
        );
    }

    fn resolve(&'static self, schema: &'static Value) -> &'static Value {
        match schema["$ref"].as_str() {
            Some(path) => self.schema(path.strip_prefix("#/components/schemas/").unwrap_or(path)),
            None => schema,
        }
    }

    /// Collects the schemas without alternatives that a schema includes.
    fn alternatives(&'static self, schema: &'static Value, found: &mut Vec<&'static Value>) {
        let schema = self.resolve(schema);
        match schema["anyOf"].as_array() {
            Some(alternatives) => alternatives.iter().for_each(|one| self.alternatives(one, found)),
            None => found.push(schema),
        }
    }

    /// The forms of an object that a schema allows.
    fn forms(&'static self, schema: &'static Value) -> Forms {
        let address = std::ptr::from_ref(schema).addr();
        if let Some(forms) = self.forms.lock().unwrap().get(&address) {
            return Arc::clone(forms);
        }
        let forms = Arc::new(self.collect_forms(schema));
        self.forms.lock().unwrap().insert(address, Arc::clone(&forms));
        forms
    }

    fn collect_forms(&'static self, schema: &'static Value) -> Vec<Form> {
        let mut alternatives = Vec::new();
        self.alternatives(schema, &mut alternatives);
        let mut forms = Vec::new();
        for schema in alternatives {
            let Some(parts) = schema["allOf"].as_array() else {
                forms.push(vec![schema]);
                continue;
            };
            let mut combined: Vec<Form> = vec![Vec::new()];
            for part in parts {
                let more = self.forms(part);
                let join = |form: &Form| {
                    more.iter().map(|more| form.iter().chain(more).copied().collect()).collect::<Vec<_>>()
                };
                combined = combined.iter().flat_map(join).collect();
            }
            forms.extend(combined);
        }
        forms
    }

    fn check(&'static self, schema: &'static Value, value: &Value, at: &str, problems: &mut Vec<String>) {
        // A whole answer is rarely the same as another one.
        if at.is_empty() || !(value.is_object() || value.is_array()) {
            return self.check_forms(schema, value, at, problems);
        }
        let digest: [u8; 32] = Sha256::digest(value.to_string()).into();
        let key = (std::ptr::from_ref(schema).addr(), digest);
        if self.known.lock().unwrap().contains(&key) {
            return;
        }
        let before = problems.len();
        self.check_forms(schema, value, at, problems);
        if problems.len() == before {
            self.known.lock().unwrap().insert(key);
        }
    }

    fn check_forms(
        &'static self,
        schema: &'static Value,
        value: &Value,
        at: &str,
        problems: &mut Vec<String>,
    ) {
        let is_event = schema["$ref"] == "#/components/schemas/Event";
        let events = value["type"].as_str().filter(|_| is_event).and_then(|kind| self.events(kind));
        let forms: Vec<Forms> = match events {
            Some(schemas) => schemas.iter().map(|schema| self.forms(schema)).collect(),
            None => vec![self.forms(schema)],
        };
        let mut least: Option<Vec<String>> = None;
        for form in forms.iter().flat_map(|forms| forms.iter()) {
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

    fn check_form(
        &'static self,
        form: &[&'static Value],
        value: &Value,
        at: &str,
        problems: &mut Vec<String>,
    ) {
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

#[test]
fn operations_describe_the_route_of_a_request() {
    let path_of = |method, path| DESCRIPTION.operation(method, path).map(|operation| operation.path);
    assert_eq!(path_of("GET", "/users/5"), Some("/users/{user_id_or_email}"));
    assert_eq!(path_of("DELETE", "/users/5"), Some("/users/{user_id}"));
    assert_eq!(path_of("GET", "/users/me"), Some("/users/me"));
    assert_eq!(path_of("POST", "/realm/emoji/a/b"), Some("/realm/emoji/{emoji_name}"));
    // A route that is not described is not held against the one above it.
    assert_eq!(path_of("GET", "/users/5/nothing"), None);
    assert_eq!(path_of("BREW", "/users/5"), None);
}

#[test]
fn values_are_compared_each_time() {
    let schema = DESCRIPTION.schema("DirectGroup");
    let described = json!({"direct_members": [1], "direct_subgroups": []});
    let other = json!({"direct_members": ["1"], "direct_subgroups": []});
    let problems_of = |value: &Value| {
        let mut problems = Vec::new();
        DESCRIPTION.check(schema, value, ".group", &mut problems);
        problems
    };
    for _ in 0..2 {
        assert_eq!(problems_of(&described), [""; 0]);
        assert_eq!(problems_of(&other), [".group.direct_members[0]: \"1\" is not of type \"integer\""]);
    }
}

/// True if a value is of a type, or of one of several.
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
