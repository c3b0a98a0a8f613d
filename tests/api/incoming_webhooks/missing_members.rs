//! Every integration with members of its payloads missing or null: a sender may leave out what its source makes optional.

use super::cases::{FORGES, Place, cases, members, paths};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Members without which a payload is refused, as `members` writes their paths: the integration, the reason why each payload has
/// them, and the paths. Members of one kind of event are optional in the others where these do not need them.
const REQUIRED: &[(&str, &str, &str)] = &[
    ("alertmanager", "a delivery has a list of alerts, each with its state", "/alerts /alerts/*/status"),
    ("forgejo", "every event has its repository and its author", "/repository /repository/name /sender"),
    (
        "forgejo",
        "a push has its branch, a page, and commits with these",
        "/ref /compare_url /commits/*/id /commits/*/message /commits/*/url",
    ),
    (
        "forgejo",
        "the event is about it",
        "/action /pull_request /pull_request/number /pull_request/title",
    ),
    (
        "gitea",
        "every event has its repository and its author",
        "/repository /repository/name /repository/full_name /repository/html_url /sender",
    ),
    (
        "gitea",
        "a push has its branch, a page, and commits with these",
        "/ref /compare_url /commits/*/id /commits/*/message /commits/*/url",
    ),
    (
        "gitea",
        "the event is about it",
        "/action /issue /issue/number /issue/title /pull_request /pull_request/number /pull_request/title /comment
         /release /release/tag_name /forkee /forkee/name /page",
    ),
    (
        "github",
        "every event of a repository has it",
        "/repository /repository/name /repository/full_name /repository/html_url",
    ),
    (
        "github",
        "a push has its branch, a page, and commits with these",
        "/ref /compare /commits /commits/*/id /commits/*/message /commits/*/url",
    ),
    ("github", "events with several actions name theirs", "/action"),
    (
        "github",
        "the event is about an object with a number, a title and a page",
        "/issue /issue/number /issue/title /issue/html_url
         /pull_request /pull_request/number /pull_request/title /pull_request/html_url
         /discussion /discussion/number /discussion/title /discussion/html_url
         /discussion/category /discussion/category/name",
    ),
    (
        "github",
        "a comment or a review has its page, and one of a commit its text and the commit",
        "/comment /comment/html_url /comment/body /comment/commit_id /review /review/html_url",
    ),
    (
        "github",
        "the event names the label, the milestone or the type that was added or removed",
        "/label/name /milestone/title /milestone/html_url /type/name",
    ),
    (
        "github",
        "a transfer names the other issue",
        "/changes/new_issue /changes/new_issue/number /changes/new_issue/html_url
         /changes/new_repository /changes/new_repository/full_name
         /changes/old_issue/number /changes/old_issue/html_url
         /changes/old_repository /changes/old_repository/full_name",
    ),
    (
        "github",
        "a completed check has its result",
        "/check_run /check_run/name /check_run/head_sha /check_run/status /check_run/conclusion",
    ),
    ("github", "the state of a commit names both", "/sha /state /commit /commit/html_url"),
    (
        "github",
        "a deployment has an environment, and its state",
        "/deployment /deployment/environment /deployment_status /deployment_status/state",
    ),
    (
        "github",
        "the event is about it",
        "/forkee /forkee/name /forkee/html_url /release /release/tag_name /release/html_url /ref_type
         /pages /pages/*/action /pages/*/title /pages/*/html_url /team /team/name /organization /organization/login",
    ),
    ("gitlab", "every event of a project has it", "/project /project/name /project/web_url"),
    (
        "gitlab",
        "a push has its branch, and commits with these",
        "/ref /before /after /commits /commits/*/id /commits/*/message /commits/*/url",
    ),
    (
        "gitlab",
        "the event has its author, and an object with these",
        "/user /user/name /object_attributes /object_attributes/iid /object_attributes/title /object_attributes/url",
    ),
    ("gitlab", "a wiki page is created, updated or deleted", "/object_attributes/action"),
    (
        "gitlab",
        "a comment has its text, and the object that it is about",
        "/object_attributes/note /commit /commit/id /commit/url /issue /issue/iid /issue/title
         /merge_request /merge_request/iid /merge_request/title /snippet /snippet/id /snippet/title",
    ),
    ("gitlab", "a job has its name and its state", "/build_name /build_stage /build_status"),
    (
        "gitlab",
        "a pipeline has its branch, its state, and jobs with these",
        "/object_attributes/ref /object_attributes/status /builds/*/name /builds/*/status",
    ),
    ("gitlab", "a release has its tag and its page", "/action /name /tag /url"),
    ("gitlab", "a deployment has its state", "/environment /status"),
    (
        "grafana",
        "a delivery has a list of alerts, each with its state and its start",
        "/alerts /alerts/*/status /alerts/*/startsAt",
    ),
    ("grafana", "an alert has a name, or else a fingerprint", "/alerts/*/fingerprint"),
    (
        "grafana",
        "versions before 8 send one alert, whose values have names",
        "/state /title /ruleName /evalMatches/*/metric",
    ),
    ("healthchecks", "the body in docs/integrations.md has them", "/name /status"),
    ("homeassistant", "a notification is about it", "/message"),
    ("ifttt", "the user writes the message", "/content /subject /topic"),
    ("proxmox", "the body in docs/integrations.md has it", "/title"),
    ("radarr", "every event has its type", "/eventType"),
    ("radarr", "the health of the program, and its updates", "/level /message /previousVersion /newVersion"),
    ("radarr", "events about a film other than ManualInteractionRequired", "/movie /movie/title"),
    ("sentry", "the event is about it", "/data/event/title /data/issue/title"),
    ("sentry", "an issue changes by an action", "/action"),
    ("sonarr", "every event has its type", "/eventType"),
    ("sonarr", "the health of the program, and its updates", "/level /message /previousVersion /newVersion"),
    ("sonarr", "events about a series other than ManualInteractionRequired", "/series /series/title"),
    ("uptimekuma", "every notification has its text", "/msg"),
    (
        "uptimekuma",
        "a heartbeat has a state, and a monitor with a name",
        "/heartbeat/status /monitor /monitor/name",
    ),
    (
        "zabbix",
        "the script in docs/integrations.md sends them",
        "/hostname /item /link /severity /status /trigger",
    ),
    ("zapier", "the user writes the message", "/content /topic"),
];

/// A copy of a value without the member at a path.
fn without(value: &Value, path: &str) -> Value {
    let mut copy = value.clone();
    let (parent, name) = path.rsplit_once('/').unwrap();
    let name = name.replace("~1", "/").replace("~0", "~");
    copy.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(&name);
    copy
}

/// A copy of a value with null as the member at a path.
fn with_null(value: &Value, path: &str) -> Value {
    let mut copy = value.clone();
    copy.pointer_mut(path).unwrap().take();
    copy
}

/// True if a path names a member of an object.
fn is_member(value: &Value, path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(parent, _)| value.pointer(parent).is_some_and(Value::is_object))
}

/// The kind of event of a payload: its header, or its type. Else each payload is a kind of its own.
fn kind(head: &str, payload: &Value, name: String) -> String {
    let header = head.lines().find(|line| !line.starts_with('?'));
    header.or(payload["eventType"].as_str()).map_or(name, str::to_owned)
}

/// In the payloads of each kind of event, each member is null once. If two payloads have it, it is missing in the second. Members
/// of items are changed in the first item. The filter of events spares most messages.
async fn check_members(is_checked: impl Fn(&str) -> bool) {
    let place = Place::new().await;
    let (mut counts, mut refused, mut wrong) = (BTreeMap::new(), BTreeSet::new(), String::new());
    for case in cases().into_iter().filter(|case| is_checked(&case.integration)) {
        let (head, messages) = case.expected().unwrap_or_default();
        // A payload that is refused or ignored as it is shows nothing.
        if !messages.starts_with("# ") {
            continue;
        }
        let payload = case.payload();
        let kind = kind(&head, &payload, case.name());
        let mut changed = BTreeSet::new();
        for path in paths(&payload).into_iter().filter(|path| is_member(&payload, path)) {
            let member = members(&path);
            if !changed.insert(member.clone()) {
                continue;
            }
            let count = counts.entry((case.integration.clone(), kind.clone(), member.clone())).or_insert(0);
            *count += 1;
            let body = match *count {
                1 => with_null(&payload, &path),
                2 => without(&payload, &path),
                _ => continue,
            };
            let request = place.delivery(&case, &head, &[("only_events", r#"["none"]"#)]);
            let answer = request.body("application/json", body.to_string()).send().await;
            match answer.status {
                200 => {}
                400 => {
                    refused.insert((case.integration.clone(), member));
                }
                _ => writeln!(wrong, "{} {path}: {answer}", case.name()).unwrap(),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let required = REQUIRED.iter().filter(|(integration, ..)| is_checked(integration));
    let required: BTreeSet<(String, String)> = required
        .flat_map(|(integration, _, paths)| {
            paths.split_whitespace().map(move |path| ((*integration).to_owned(), path.to_owned()))
        })
        .collect();
    let unlisted: Vec<_> = refused.difference(&required).collect();
    assert!(unlisted.is_empty(), "refused without members that are not listed: {unlisted:#?}");
    let accepted: Vec<_> = required.difference(&refused).collect();
    assert!(accepted.is_empty(), "accepted without members that are listed: {accepted:#?}");
}

#[tokio::test]
async fn members_that_senders_leave_out_are_optional() {
    check_members(|integration| !FORGES.contains(&integration)).await;
}

#[tokio::test]
async fn members_that_github_leaves_out_are_optional() {
    check_members(|integration| integration == "github").await;
}

#[tokio::test]
async fn members_that_other_forges_leave_out_are_optional() {
    check_members(|integration| integration != "github" && FORGES.contains(&integration)).await;
}
