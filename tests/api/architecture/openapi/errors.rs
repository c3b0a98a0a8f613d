//! The errors of the description: the meaning of each code and its members, and the codes of each operation.
//!
//! `errors.txt` lists the codes of the operations, as observed by all tests but random ones. An unlisted code fails the test
//! that observes it. With `TEAMCHAT_SEEN_ERRORS`, a run of all tests writes the observed codes into the file named there,
//! and the test below compares the list with it; with `INSTA_UPDATE=always` it updates the list.

use super::members::Members;
use crate::harness::generated::is_blessing;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// When an operation refuses with a code.
const CODES: &[(&str, &str)] = &[
    ("ANOMALOUS_WEBHOOK_PAYLOAD", "the payload is not what its sender documents"),
    ("AUTHENTICATION_FAILED", "the email or the password is wrong"),
    ("BAD_EVENT_QUEUE_ID", "the queue does not exist any more; the client registers a new one"),
    ("BAD_IMAGE", "the file cannot be decoded as an image"),
    ("BAD_NARROW", "an operator or operand of the narrow is unknown or invalid"),
    ("BAD_REQUEST", "any other reason, which `msg` gives"),
    ("CANNOT_ADMINISTER_CHANNEL", "the caller may see the channel, but not change it"),
    ("CANNOT_DEACTIVATE_GROUP_IN_USE", "settings or other groups refer to the group"),
    ("CANNOT_DEACTIVATE_LAST_USER", "no user, or no owner, would be left"),
    ("CHANNEL_ALREADY_EXISTS", "a channel has the name"),
    ("CSRF_FAILED", "the request has a cookie and comes from a page of another site"),
    ("EXPECTATION_MISMATCH", "the current value differs from the one that the client expects"),
    ("INTERNAL_SERVER_ERROR", "the server failed; its log has the details"),
    ("INVALID_API_KEY", "there are no valid credentials"),
    ("INVALID_JSON", "the body is not JSON"),
    ("INVALID_PUSH_DEVICE_TOKEN", "no device is registered with the token"),
    ("INVALID_REMOTE_PUSH_DEVICE_TOKEN", "the push bouncer does not have the token"),
    ("INVITATION_FAILED", "some of the emails, or all, were not invited"),
    ("MISSING_HTTP_EVENT_HEADER", "the request lacks the header that names the event"),
    (
        "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED",
        "only the newest messages of the topic are young enough to be moved",
    ),
    ("PASSWORD_AUTH_DISABLED", "login with a password is disabled"),
    ("PUSH_SERVICE_NOT_CONFIGURED", "the server sends no push notifications"),
    ("RATE_LIMIT_HIT", "there were too many requests; `retry-after` says when there may be more"),
    ("REACTION_ALREADY_EXISTS", "the caller has reacted to the message with this emoji"),
    ("REACTION_DOES_NOT_EXIST", "the caller has not reacted to the message with this emoji"),
    ("REALM_DEACTIVATED", "the organization is deactivated"),
    ("REALM_UPLOAD_QUOTA", "the quota of the organization or of the person is used up"),
    ("REQUEST_CONFUSING_VAR", "a parameter and its older name are both given"),
    ("REQUEST_TIMEOUT", "the body did not arrive in time"),
    ("REQUEST_VARIABLE_INVALID", "a parameter has a value that it cannot have"),
    ("REQUEST_VARIABLE_MISSING", "a parameter is missing"),
    ("SERVICE_UNAVAILABLE", "the server is overloaded; the client should retry soon"),
    ("STREAM_DOES_NOT_EXIST", "the channel does not exist, or the caller cannot see it"),
    ("STREAM_WILDCARD_MENTION_NOT_ALLOWED", "the caller may not mention everyone in this channel"),
    ("SYSTEM_GROUP_REQUIRED", "only a system group can have the permission"),
    ("TOPIC_WILDCARD_MENTION_NOT_ALLOWED", "the caller may not mention everyone in this topic"),
    ("UNAUTHORIZED", "the operation needs a login"),
    ("UNAUTHORIZED_PRINCIPAL", "the operation is for administrators or owners only"),
    ("UNSUPPORTED_WEBHOOK_EVENT_TYPE", "the integration has no message for this event"),
    ("USER_DEACTIVATED", "the account is deactivated"),
];

/// Members that an error can have in addition to `result`, `msg` and `code`: their schemas, and the condition.
fn members() -> Vec<(&'static str, Value, &'static str)> {
    let (text, number, boolean) =
        (json!({"type": "string"}), json!({"type": "integer"}), json!({"type": "boolean"}));
    let texts = json!({"type": "array", "items": text});
    vec![
        ("allowed_methods", texts, "With status 405: the methods that the path has."),
        ("bad_value", text.clone(), "With `REQUEST_VARIABLE_INVALID`: the value."),
        ("channel_name", text.clone(), "With `CHANNEL_ALREADY_EXISTS`: the name."),
        (
            "daily_limit_reached",
            boolean.clone(),
            "With `INVITATION_FAILED`: whether the caller sent too many today.",
        ),
        ("desc", text.clone(), "With `BAD_NARROW`: what is wrong with the narrow."),
        ("entity", text.clone(), "With `CANNOT_DEACTIVATE_LAST_USER`: `user` or `organization owner`."),
        (
            "error",
            text.clone(),
            "With errors of `slack_incoming`: the same text as `msg`, as Slack's clients expect.",
        ),
        (
            "errors",
            json!({"type": ["array", "object"], "additionalProperties": {}}),
            "With `INVITATION_FAILED`: lists of an email, the reason, and whether the account is deactivated. With \
             `BAD_REQUEST`, of some operations: lists of reasons by the field of the record that is wrong.",
        ),
        ("event_type", text.clone(), "With `UNSUPPORTED_WEBHOOK_EVENT_TYPE`: the event."),
        (
            "first_message_id_allowed_to_move",
            json!({"type": ["integer", "null"]}),
            "With `MOVE_MESSAGES_TIME_LIMIT_EXCEEDED`: the oldest message that can be moved; null if none can.",
        ),
        ("header", text.clone(), "With `MISSING_HTTP_EVENT_HEADER`: the name of the header."),
        (
            "is_last_owner",
            boolean.clone(),
            "With `CANNOT_DEACTIVATE_LAST_USER`: whether no owner would be left.",
        ),
        ("license_limit_reached", boolean.clone(), "With `INVITATION_FAILED`: always false."),
        (
            "objections",
            json!({"type": "array", "items": {"type": "object", "additionalProperties": {}}}),
            "With `CANNOT_DEACTIVATE_GROUP_IN_USE`: what refers to the group, by `type`: `realm`, `channel`, \
             `user_group` or `subgroup`.",
        ),
        ("ok", boolean.clone(), "With errors of `slack_incoming`: always false, as Slack's clients expect."),
        ("parameters", text.clone(), "Parameters that exclude each other, separated by commas."),
        ("queue_id", text.clone(), "With `BAD_EVENT_QUEUE_ID`: the queue."),
        ("retry-after", json!({"type": "number"}), "With `RATE_LIMIT_HIT`: seconds to wait."),
        ("sent_invitations", boolean, "With `INVITATION_FAILED`: whether the other emails were invited."),
        ("setting_name", text.clone(), "With `SYSTEM_GROUP_REQUIRED`: the permission."),
        ("stream", text.clone(), "With `STREAM_DOES_NOT_EXIST`: the channel, if the request has its name."),
        (
            "stream_id",
            number.clone(),
            "With `STREAM_DOES_NOT_EXIST`: the channel, if the request has its id.",
        ),
        (
            "total_messages_allowed_to_move",
            number.clone(),
            "With `MOVE_MESSAGES_TIME_LIMIT_EXCEEDED`: how many can be.",
        ),
        ("total_messages_in_topic", number, "With `MOVE_MESSAGES_TIME_LIMIT_EXCEEDED`: how many there are."),
        ("var_name", text.clone(), "The parameter that is missing, or has a value that it cannot have."),
        ("var_name1", text.clone(), "With `REQUEST_CONFUSING_VAR`: one of the names."),
        ("var_name2", text.clone(), "With `REQUEST_CONFUSING_VAR`: the other one."),
        ("webhook_name", text, "With errors of incoming webhooks: the integration."),
    ]
}

/// The schema of all errors, of which the source has these codes and members.
pub fn schema(codes: &BTreeSet<String>, names: &BTreeSet<String>) -> Value {
    let described: BTreeSet<String> = CODES.iter().map(|(code, _)| (*code).to_owned()).collect();
    assert_eq!(*codes, described, "every code of the source is described");
    let mut schema = Members::default();
    schema.add("result", json!({"type": "string", "enum": ["error"]}), true);
    schema.add("msg", json!({"type": "string", "description": "The error message, for people."}), true);
    let list: Vec<String> = CODES.iter().map(|(code, when)| format!("`{code}`: {when}.")).collect();
    let about = format!("The error code, for programs. {}", list.join(" "));
    schema.add("code", json!({"type": "string", "enum": codes, "description": about}), true);
    let members = members();
    let described: BTreeSet<String> = members.iter().map(|(name, ..)| (*name).to_owned()).collect();
    assert_eq!(*names, described, "every member of an error in the source is described");
    for (name, mut member, about) in members {
        member["description"] = about.into();
        schema.add(name, member, false);
    }
    let mut schema = schema.schema();
    schema["description"] =
        "An error. Every operation can return `BAD_REQUEST` and the codes for credentials, limits and \
        malformed requests. Each operation lists its other codes."
            .into();
    schema
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api/architecture/openapi/errors.txt")
}

/// The errors of one operation: its codes by status.
pub type OfOperation = BTreeMap<String, BTreeSet<String>>;

/// Reads the list: by method and path.
pub fn listed() -> BTreeMap<(String, String), OfOperation> {
    let text = std::fs::read_to_string(file()).unwrap_or_default();
    let mut operations: BTreeMap<(String, String), OfOperation> = BTreeMap::new();
    for line in text.lines() {
        let [method, path, status, code] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("errors.txt: {line} is method, path, status and code");
        };
        let operation = operations.entry((method.to_owned(), path.to_owned())).or_default();
        operation.entry(status.to_owned()).or_default().insert(code.to_owned());
    }
    operations
}

/// Adds the errors of an operation to its responses.
pub fn add(responses: &mut Map<String, Value>, errors: &OfOperation) {
    for (status, codes) in errors {
        let when = |code: &String| CODES.iter().find(|(known, _)| known == code).unwrap().1;
        let list: Vec<String> = codes.iter().map(|code| format!("`{code}`: {}.", when(code))).collect();
        if let Some(success) = responses.get_mut(status) {
            success["x-codes"] = json!(codes);
            continue;
        }
        let response = json!({
            "description": format!("Besides the errors common to all operations: {}", list.join(" ")),
            "x-codes": codes,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        });
        responses.insert(status.clone(), response);
    }
}

#[test]
#[ignore = "needs TEAMCHAT_SEEN_ERRORS of a run of all tests"]
fn error_codes_of_operations_match_the_tests() {
    let seen = std::env::var("TEAMCHAT_SEEN_ERRORS").expect("TEAMCHAT_SEEN_ERRORS names a file");
    let text = std::fs::read_to_string(seen).unwrap();
    let seen: BTreeSet<&str> = text.lines().collect();
    if is_blessing() {
        let lines: Vec<&str> = seen.into_iter().collect();
        std::fs::write(file(), lines.join("\n") + "\n").unwrap();
        return;
    }
    let text = std::fs::read_to_string(file()).unwrap();
    let listed: BTreeSet<&str> = text.lines().collect();
    let [unseen, unlisted] =
        [listed.difference(&seen), seen.difference(&listed)].map(Iterator::collect::<Vec<_>>);
    assert!(
        unseen.is_empty() && unlisted.is_empty(),
        "no test sees these errors of errors.txt; delete the lines, and run .ci/bless: {unseen:?}\n\
         errors.txt lacks these; add the lines, and run .ci/bless: {unlisted:?}"
    );
}
