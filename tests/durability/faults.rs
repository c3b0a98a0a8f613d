//! Failing disks: errors, full disks, blocked operations, and power cuts that lose unsynced data.

use crate::disk::{Disk, EIO, ENOSPC, changed_tables};
use crate::program::{Person, Server};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use teamchat::http::{Found, Router};
use tokio::task::JoinSet;

/// A client that sends messages and has a queue.
struct Sender {
    person: Person,
    queue_id: String,
    last_event_id: i64,
    /// The contents that the queue has brought.
    received: Vec<String>,
}

impl Sender {
    async fn register(person: Person, origin: &str) -> Self {
        let types = json!({"event_types": ["message"], "fetch_event_types": []});
        let queue = person.ask(origin, "POST", "/register", &types).await.unwrap();
        let queue_id = queue["queue_id"].as_str().unwrap().to_owned();
        let last_event_id = queue["last_event_id"].as_i64().unwrap();
        // A queue is returned before its row is on the disk. Once a later change is acknowledged, the row is there too.
        person.ask(origin, "PATCH", "/settings", &json!({"enter_sends": true})).await.unwrap();
        Self { person, queue_id, last_event_id, received: Vec::new() }
    }

    async fn send(&self, origin: &str, content: &str) -> Option<u16> {
        let message = json!({"type": "direct", "to": [self.person.user_id], "content": content});
        self.person.request(origin, "POST", "/messages", &message).await.map(|(status, _)| status)
    }

    /// Fetches the events of the queue.
    async fn poll(&mut self, origin: &str) {
        loop {
            let poll =
                json!({"queue_id": self.queue_id, "last_event_id": self.last_event_id, "dont_block": true});
            let answer = self.person.ask(origin, "GET", "/events", &poll).await.unwrap();
            let events = answer["events"].as_array().unwrap();
            let Some(last) = events.last() else { return };
            self.last_event_id = last["id"].as_i64().unwrap();
            // The notification bot also writes to owners, for example of a disk that is almost full.
            let own = events.iter().map(|event| &event["message"]);
            let own = own.filter(|message| message["sender_id"] == self.person.user_id);
            self.received.extend(own.map(|message| message["content"].as_str().unwrap().to_owned()));
        }
    }

    /// The contents of all messages that were sent, the oldest first.
    async fn stored(&self, origin: &str) -> Vec<String> {
        let own = json!([{"operator": "sender", "operand": self.person.user_id}]);
        let all = json!({"anchor": "newest", "num_before": 5000, "num_after": 0, "narrow": own, "apply_markdown": false});
        let answer = self.person.ask(origin, "GET", "/messages", &all).await.unwrap();
        let messages = answer["messages"].as_array().unwrap();
        messages.iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    }
}

/// Sends some messages at a time until the power goes, and returns those that were acknowledged.
async fn send_until_power_cut(disk: &Disk, server: Server, sender: &Sender, round: u32) -> Vec<String> {
    let mut sending = JoinSet::new();
    let (acknowledge, mut acknowledged) = tokio::sync::mpsc::unbounded_channel();
    for lane in 0..4 {
        let (origin, person, acknowledge) =
            (server.origin.clone(), sender.person.clone(), acknowledge.clone());
        sending.spawn(async move {
            for number in 0.. {
                let content = format!("{round} {lane} {number}");
                let message = json!({"type": "direct", "to": [person.user_id], "content": content});
                let Some((200, _)) = person.request(&origin, "POST", "/messages", &message).await else {
                    return;
                };
                acknowledge.send(content).unwrap();
            }
        });
    }
    drop(acknowledge);
    let mut all = Vec::new();
    for _ in 0..10 + round * 7 {
        all.push(acknowledged.recv().await.unwrap());
    }
    disk.cut_power(server);
    while let Some(content) = acknowledged.recv().await {
        all.push(content);
    }
    all
}

/// Without `synchronous=FULL` this fails: the last messages are not on the disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_changes_survive_a_power_cut() {
    let disk = Disk::new();
    let person = Person::create(&disk.database(), "owner", "owner");
    let mut server = disk.start();
    let mut sender = Sender::register(person, &server.origin).await;
    let mut acknowledged = BTreeSet::new();
    for round in 0..5 {
        acknowledged.extend(send_until_power_cut(&disk, server, &sender, round).await);
        server = disk.start();
        let stored = sender.stored(&server.origin).await;
        let found: BTreeSet<String> = stored.iter().cloned().collect();
        assert_eq!(found.len(), stored.len(), "nothing is doubled");
        let lost: Vec<&String> = acknowledged.difference(&found).collect();
        assert!(lost.is_empty(), "lost in round {round}: {lost:?}");
        sender.poll(&server.origin).await;
        assert_eq!(sender.received, stored, "the queue goes on, with all messages in order");
        disk.check_integrity();
    }
}

/// The test above can fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lying_disks_lose_messages() {
    let disk = Disk::new();
    let person = Person::create(&disk.database(), "owner", "owner");
    let server = disk.start();
    let sender = Sender::register(person, &server.origin).await;
    disk.fail("lie", 0, 0);
    let acknowledged = send_until_power_cut(&disk, server, &sender, 0).await;
    let server = disk.start();
    let stored = sender.stored(&server.origin).await;
    assert!(acknowledged.iter().any(|content| !stored.contains(content)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_send_is_whole_or_refused_whichever_operation_of_the_disk_fails() {
    let disk = Disk::new();
    let person = Person::create(&disk.database(), "owner", "owner");
    let mut server = disk.start();
    let mut sender = Sender::register(person, &server.origin).await;
    let mut acknowledged = Vec::new();
    let mut refused = 0;
    for kind in ["write", "sync", "full", "truncate", "open"] {
        for error in [EIO, ENOSPC] {
            for after in 0..8 {
                let content = format!("{kind} {after} {error}");
                disk.fail(kind, after, error);
                let healed = format!("{content}, healed");
                match sender.send(&server.origin, &content).await.unwrap() {
                    200 => acknowledged.push(content),
                    503 | 507 => refused += 1,
                    status => panic!("{content}: {status}"),
                }
                disk.heal();
                assert_eq!(sender.send(&server.origin, &healed).await, Some(200), "{healed}");
                acknowledged.push(healed);
            }
        }
        assert_eq!(sender.stored(&server.origin).await, acknowledged, "{kind}");
        sender.poll(&server.origin).await;
        assert_eq!(sender.received, acknowledged, "{kind}");
        disk.cut_power(server);
        server = disk.start();
        assert_eq!(sender.stored(&server.origin).await, acknowledged, "{kind}, after a power cut");
        sender.poll(&server.origin).await;
        assert_eq!(sender.received, acknowledged, "{kind}, after a power cut");
        disk.check_integrity();
    }
    assert!(refused > 20, "{refused} were refused");
}

/// Placeholders of [`changes`]: numbers from a query before each change.
const NUMBERS: &[(&str, &str)] = &[
    ("channel", "SELECT max(stream_id) FROM stream WHERE name = 'load'"),
    (
        "message",
        "SELECT max(id) FROM message WHERE sender_id = (SELECT min(user_id) FROM user WHERE role = 100)",
    ),
    ("scheduled", "SELECT max(scheduled_message_id) FROM scheduled_message"),
    ("reminder", "SELECT max(reminder_id) FROM reminder"),
    ("draft", "SELECT max(id) FROM draft"),
    ("snippet", "SELECT max(id) FROM saved_snippet"),
    ("group", "SELECT max(id) FROM user_group WHERE name = 'group'"),
    ("subgroup", "SELECT max(id) FROM user_group WHERE name = 'subgroup'"),
    ("bot", "SELECT max(user_id) FROM user WHERE full_name = 'Bot'"),
    ("member", "SELECT max(user_id) FROM user WHERE delivery_email = 'member@example.com'"),
    ("invite", "SELECT max(invite_id) FROM invite"),
    ("field", "SELECT max(id) FROM profile_field"),
    ("folder", "SELECT max(id) FROM channel_folder"),
    ("filter", "SELECT max(id) FROM linkifier"),
    ("playground", "SELECT max(id) FROM code_playground"),
    ("stream_group", "SELECT max(id) FROM default_stream_group"),
];

/// Routes that change something and are not among [`changes`]: why.
const NOT_TRIED: &[(&str, &str)] = &[
    ("the file has its own pieces and is held by the tests of uploads", "POST /user_uploads"),
    ("images are stored like files", "POST /users/me/avatar"),
    ("images are stored like files", "POST /realm/emoji/{emoji_name...}"),
    ("images are stored like files", "DELETE /realm/emoji/{emoji_name...}"),
    ("images are stored like files", "POST /realm/icon"),
    ("images are stored like files", "POST /realm/logo"),
    ("needs a file", "DELETE /attachments/{attachment_id}"),
    ("ends the organization", "POST /realm/deactivate"),
    ("ends the account", "DELETE /users/me"),
    ("ends the key that the test uses", "POST /users/me/api_key/regenerate"),
    ("ends the key that the test uses", "DELETE /users/me/api_keys/{api_key_id}"),
    ("needs a session, which takes a password", "DELETE /users/me/sessions/{session_id}"),
    ("needs a session, which takes a password", "POST /users/me/web_push"),
    ("needs a session, which takes a password", "DELETE /users/me/web_push"),
    ("needs a password, which takes long to hash", "POST /fetch_api_key"),
    ("is not there without --dev", "POST /dev_fetch_api_key"),
    ("is for bots", "PUT /bot_storage"),
    ("is for bots", "DELETE /bot_storage"),
    ("is for bots that post", "POST /external/{integration}"),
    ("invites by email are answered by a link of their own", "POST /invites"),
    ("needs an invitation by email", "DELETE /invites/{invite_id}"),
    ("needs an invitation by email", "POST /invites/{invite_id}/resend"),
    ("needs a channel for reports", "POST /messages/{message_id}/report"),
    ("writes no row", "POST /messages/render"),
    ("writes no row", "POST /messages/{message_id}/typing"),
    ("writes no row", "POST /typing"),
    ("writes presence when it has time", "POST /users/me/presence"),
    ("writes its queue when it has time", "POST /register"),
    ("deletes a queue, which is no change of the organization", "DELETE /events"),
    ("is switched off", "POST /calls/zoom/create"),
    ("is switched off", "POST /export/realm"),
    ("is switched off", "DELETE /export/realm/{export_id}"),
    ("is switched off", "POST /mobile_push/e2ee/test_notification"),
    ("is switched off", "POST /mobile_push/register"),
    ("is switched off", "POST /mobile_push/test_notification"),
    ("is switched off", "POST /users/me/android_gcm_reg_id"),
    ("is switched off", "DELETE /users/me/android_gcm_reg_id"),
    ("is switched off", "POST /users/me/apns_device_token"),
    ("is switched off", "DELETE /users/me/apns_device_token"),
    ("is PATCH /settings by an older name", "PATCH /settings/display"),
    ("is PATCH /settings by an older name", "PATCH /settings/notifications"),
    ("is POST /user_topics by an older name", "PATCH /users/me/subscriptions/muted_topics"),
    (
        "is POST /users/me/subscriptions/properties for one channel",
        "PATCH /users/me/subscriptions/{stream_id}",
    ),
    ("is POST /mark_all_as_read for a part", "POST /mark_stream_as_read"),
    ("is POST /mark_all_as_read for a part", "POST /mark_topic_as_read"),
    ("is POST /users/me/status for others", "POST /users/{user_id}/status"),
    ("changes settings by a word", "POST /zcommand"),
];

/// A change of each kind, in an order in which each is possible.
fn changes(user_id: i64) -> Vec<(&'static str, &'static str, Value)> {
    let message = json!({"type": "channel", "to": "load", "topic": "test", "content": "hello **world**"});
    let later = json!({"type": "direct", "to": [user_id], "content": "later", "scheduled_delivery_timestamp": 4_000_000_000_i64});
    let draft = json!({"type": "", "to": [], "topic": "", "content": "draft"});
    let everything = json!({"anchor": "newest", "num_before": 10, "num_after": 0, "narrow": [], "op": "remove", "flag": "read"});
    let view = "/navigation_views/narrow/has/link";
    vec![
        ("POST", "/users/me/subscriptions", json!({"subscriptions": [{"name": "load"}]})),
        ("POST", "/messages", message.clone()),
        ("POST", "/messages", message),
        (
            "PATCH",
            "/messages/{message}",
            json!({"content": "edited", "topic": "moved", "propagate_mode": "change_all"}),
        ),
        ("POST", "/messages/{message}/reactions", json!({"emoji_name": "tada"})),
        ("DELETE", "/messages/{message}/reactions", json!({"emoji_name": "tada"})),
        ("POST", "/messages/flags", json!({"messages": "[{message}]", "op": "add", "flag": "starred"})),
        ("POST", "/messages/flags/narrow", everything),
        ("POST", "/mark_all_as_read", json!({})),
        ("POST", "/submessage", json!({"message_id": "{message}", "msg_type": "widget", "content": "{}"})),
        ("POST", "/scheduled_messages", later),
        ("PATCH", "/scheduled_messages/{scheduled}", json!({"content": "much later"})),
        ("DELETE", "/scheduled_messages/{scheduled}", json!({})),
        (
            "POST",
            "/reminders",
            json!({"message_id": "{message}", "scheduled_delivery_timestamp": 4_000_000_000_i64}),
        ),
        ("DELETE", "/reminders/{reminder}", json!({})),
        ("POST", "/drafts", json!({ "drafts": [draft] })),
        ("PATCH", "/drafts/{draft}", json!({ "draft": draft })),
        ("DELETE", "/drafts/{draft}", json!({})),
        ("POST", "/saved_snippets", json!({"title": "title", "content": "snippet"})),
        ("PATCH", "/saved_snippets/{snippet}", json!({"title": "another"})),
        ("DELETE", "/saved_snippets/{snippet}", json!({})),
        (
            "POST",
            "/navigation_views",
            json!({"fragment": "narrow/has/link", "is_pinned": true, "name": "Links"}),
        ),
        ("PATCH", view, json!({"is_pinned": false})),
        ("DELETE", view, json!({})),
        ("POST", "/users/me/alert_words", json!({"alert_words": ["alert"]})),
        ("DELETE", "/users/me/alert_words", json!({"alert_words": ["alert"]})),
        ("POST", "/users/me/status", json!({"status_text": "away"})),
        ("POST", "/users/me/onboarding_steps", json!({"onboarding_step": "intro_inbox_view_modal"})),
        ("PATCH", "/settings", json!({"enter_sends": true})),
        ("PATCH", "/settings", json!({"full_name": "Another Name"})),
        ("PATCH", "/realm", json!({"name": "Another name"})),
        ("PATCH", "/realm/user_settings_defaults", json!({"enter_sends": true})),
        ("POST", "/realm/test_welcome_bot_custom_message", json!({"welcome_message_custom_text": "Welcome"})),
        ("POST", "/realm/domains", json!({"domain": "example.com", "allow_subdomains": false})),
        ("PATCH", "/realm/domains/example.com", json!({"allow_subdomains": true})),
        ("DELETE", "/realm/domains/example.com", json!({})),
        (
            "POST",
            "/realm/filters",
            json!({"pattern": "#(?P<id>[0-9]+)", "url_template": "https://example.com/{id}"}),
        ),
        (
            "PATCH",
            "/realm/filters/{filter}",
            json!({"pattern": "!(?P<id>[0-9]+)", "url_template": "https://example.com/{id}"}),
        ),
        ("PATCH", "/realm/linkifiers", json!({"ordered_linkifier_ids": "[{filter}]"})),
        ("DELETE", "/realm/filters/{filter}", json!({})),
        (
            "POST",
            "/realm/playgrounds",
            json!({"name": "Play", "pygments_language": "Rust", "url_template": "https://example.com/{code}"}),
        ),
        ("DELETE", "/realm/playgrounds/{playground}", json!({})),
        ("POST", "/realm/profile_fields", json!({"field_type": 1, "name": "Field"})),
        ("PATCH", "/realm/profile_fields/{field}", json!({"name": "Other field"})),
        ("PATCH", "/realm/profile_fields", json!({"order": "[{field}]"})),
        ("PATCH", "/users/me/profile_data", json!({"data": r#"[{"id": {field}, "value": "text"}]"#})),
        ("DELETE", "/users/me/profile_data", json!({"data": "[{field}]"})),
        ("DELETE", "/realm/profile_fields/{field}", json!({})),
        ("DELETE", "/realm/icon", json!({})),
        ("DELETE", "/realm/logo", json!({"night": false})),
        ("DELETE", "/users/me/avatar", json!({})),
        ("POST", "/channel_folders/create", json!({"name": "folder", "description": ""})),
        ("PATCH", "/channel_folders/{folder}", json!({"name": "other folder"})),
        ("PATCH", "/channel_folders", json!({"order": "[{folder}]"})),
        ("POST", "/channels/create", json!({"name": "shed", "subscribers": [user_id]})),
        ("PATCH", "/streams/{channel}", json!({"description": "described"})),
        (
            "POST",
            "/users/me/subscriptions/properties",
            json!({"subscription_data": r##"[{"stream_id": {channel}, "property": "color", "value": "#000000"}]"##}),
        ),
        ("PATCH", "/users/me/subscriptions", json!({"add": [{"name": "yard"}]})),
        ("POST", "/default_streams", json!({"stream_id": "{channel}"})),
        ("DELETE", "/default_streams", json!({"stream_id": "{channel}"})),
        (
            "POST",
            "/default_stream_groups/create",
            json!({"group_name": "set", "description": "", "stream_names": ["load"]}),
        ),
        ("PATCH", "/default_stream_groups/{stream_group}", json!({"new_group_name": "other set"})),
        (
            "PATCH",
            "/default_stream_groups/{stream_group}/streams",
            json!({"op": "add", "stream_names": ["shed"]}),
        ),
        ("DELETE", "/default_stream_groups/{stream_group}", json!({})),
        ("POST", "/user_topics", json!({"stream_id": "{channel}", "topic": "moved", "visibility_policy": 1})),
        ("POST", "/user_groups/create", json!({"name": "group", "description": "", "members": [user_id]})),
        ("POST", "/user_groups/create", json!({"name": "subgroup", "description": "", "members": []})),
        ("PATCH", "/user_groups/{group}", json!({"description": "described"})),
        ("POST", "/user_groups/{group}/members", json!({"delete": [user_id]})),
        ("POST", "/user_groups/{group}/subgroups", json!({"add": "[{subgroup}]"})),
        ("POST", "/user_groups/{group}/deactivate", json!({})),
        ("POST", "/bots", json!({"full_name": "Bot", "short_name": "bot"})),
        ("PATCH", "/bots/{bot}", json!({"full_name": "Bot"})),
        ("POST", "/bots/{bot}/api_key/regenerate", json!({})),
        ("DELETE", "/bots/{bot}", json!({})),
        ("POST", "/invites/multiuse", json!({"invite_as": 400, "stream_ids": []})),
        ("DELETE", "/invites/multiuse/{invite}", json!({})),
        (
            "POST",
            "/users",
            json!({"email": "member@example.com", "password": "correct horse", "full_name": "Member"}),
        ),
        ("PATCH", "/users/{member}", json!({"role": 600})),
        ("POST", "/users/{member}/password_reset", json!({})),
        ("POST", "/users/me/muted_users/{member}", json!({})),
        ("DELETE", "/users/me/muted_users/{member}", json!({})),
        ("DELETE", "/users/{member}", json!({})),
        ("POST", "/users/{member}/reactivate", json!({})),
        ("POST", "/users/me/api_keys/revoke_others", json!({})),
        ("DELETE", "/messages/{message}", json!({})),
        ("POST", "/streams/{channel}/delete_topic", json!({"topic_name": "moved"})),
        ("DELETE", "/users/me/subscriptions", json!({"subscriptions": ["load"]})),
        ("DELETE", "/streams/{channel}", json!({})),
    ]
}

/// A route is tried, or there is a reason not to.
#[test]
fn every_route_that_changes_something_is_tried() {
    let router = Router::new(teamchat::api::routes()).unwrap();
    let mut tried: BTreeSet<String> = NOT_TRIED.iter().map(|(_, route)| (*route).to_owned()).collect();
    for (method, path, _) in changes(1) {
        let path =
            NUMBERS.iter().fold(path.to_owned(), |path, (name, _)| path.replace(&format!("{{{name}}}"), "1"));
        match router.find(&method.parse().unwrap(), &format!("/api/v1{path}")) {
            Found::Route(route, _) => tried.insert(format!("{method} {}", route.path)),
            _ => panic!("{method} {path} leads nowhere"),
        };
    }
    let all: BTreeSet<String> = teamchat::api::routes()
        .into_iter()
        .filter(|route| !matches!(route.method.as_str(), "GET" | "HEAD") && !route.outside)
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    assert_eq!(tried, all);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_is_whole_or_absent_whichever_operation_of_the_disk_fails() {
    let disk = Disk::new();
    let owner = Person::create(&disk.database(), "owner", "owner");
    let server = disk.start();
    let all = json!({"fetch_event_types": []});
    owner.ask(&server.origin, "POST", "/register", &all).await.unwrap();
    let mut never_done = Vec::new();
    for (method, path, parameters) in changes(owner.user_id) {
        let fill = |text: String| {
            NUMBERS.iter().fold(text, |text, (name, query)| {
                let mark = format!("{{{name}}}");
                if !text.contains(&mark) {
                    return text;
                }
                let number: Option<i64> = disk.connect().query_row(query, [], |row| row.get(0)).unwrap();
                let number = number.unwrap_or(0);
                text.replace(&format!("\"{mark}\""), &number.to_string()).replace(&mark, &number.to_string())
            })
        };
        let path = fill(path.to_owned());
        let parameters: Value = serde_json::from_str(&fill(parameters.to_string())).unwrap();
        let mut before = disk.rows();
        let mut is_done = false;
        for (kind, error) in [("write", EIO), ("sync", EIO), ("full", ENOSPC)] {
            for after in [0, 1, 3] {
                disk.fail(kind, after, error);
                let (status, answer) =
                    owner.request(&server.origin, method, &path, &parameters).await.unwrap();
                disk.heal();
                let context = format!("{method} {path} {kind} {after}: {status} {answer}");
                let rows = disk.rows();
                match status {
                    503 | 507 => {
                        let changed = changed_tables(&before, &rows);
                        assert!(
                            changed.is_empty(),
                            "a refused change left something in {changed:?}: {context}"
                        );
                    }
                    // Later failures have no effect; a repeated change may be refused.
                    200 | 400 | 409 => before = rows,
                    _ => panic!("{context}"),
                }
                is_done |= status == 200;
            }
        }
        let (status, answer) = owner.request(&server.origin, method, &path, &parameters).await.unwrap();
        if !is_done && status != 200 {
            never_done.push(format!("{method} {path} {parameters}: {answer}"));
        }
    }
    assert!(never_done.is_empty(), "{never_done:#?}");
    let rows = disk.rows();
    disk.cut_power(server);
    let _server = disk.start();
    assert_eq!(
        changed_tables(&rows, &disk.rows()),
        Vec::<&str>::new(),
        "all of it is there after a power cut"
    );
    disk.check_integrity();
}

/// Reads blocked by the disk do not delay requests without disk access.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_hangs_holds_up_no_other_request() {
    let disk = Disk::new();
    let person = Person::create(&disk.database(), "owner", "owner");
    let server = disk.start();
    let mut hanging = JoinSet::new();
    disk.fail("hang", 0, EIO);
    for _ in 0..3 {
        let (person, origin) = (person.clone(), server.origin.clone());
        let all = json!({"anchor": "newest", "num_before": 100, "num_after": 0});
        hanging.spawn(async move { person.request(&origin, "GET", "/messages", &all).await });
    }
    for _ in 0..10 {
        // Without a key, which would be looked up in the file.
        let answer = reqwest::get(format!("{}/api/v1/no/such/path", server.origin)).await.unwrap();
        assert_eq!(answer.status(), 404);
    }
    disk.heal();
    while let Some(answer) = hanging.join_next().await {
        assert_eq!(answer.unwrap().unwrap().0, 200);
    }
}
