//! Deleted data is absent from the file and its log after the hourly purge and a clean stop.

use crate::harness::{Client, START, TestServer};
use hyper::Method;
use serde_json::{Value, json};
use teamchat::app::Options;
use teamchat::domain::audit;
use teamchat::scheduler;

const HOUR: i64 = 60 * 60;

/// A user who deletes, and the object.
struct Place {
    server: TestServer,
    owner: Client,
    ada: Client,
    /// A channel that both are in.
    channel: i64,
}

/// A word that nothing else has, `suffix` apart. Its letters survive folding, stemming and being part of a path.
fn token(of: &str, suffix: &str) -> String {
    format!("xq{}{}zk", of.replace(|character: char| !character.is_ascii_lowercase(), ""), suffix)
}

impl Place {
    async fn new(options: Options) -> Self {
        let server = TestServer::start_with(options).await;
        let (owner, ada) = (server.owner().await, server.member("ada").await);
        let channel = server.channel("garden", &[&owner, &ada]).await;
        Self { server, owner, ada, channel }
    }

    /// Creates an object with the token, and deletes it.
    async fn make_and_delete(&self, what: &str) {
        let Self { server, owner, ada, channel } = self;
        let (word, other) = (token(what, ""), token(what, "o"));
        match what {
            "a message" => {
                let id = ada.send(*channel, "soup", &format!("{word} and more")).await;
                ada.delete_as(owner, id).await;
            }
            "an edited message and its history" => {
                let id = ada.send(*channel, "soup", &word).await;
                ada.patch(&format!("/messages/{id}"), json!({"content": other})).await.ok();
                ada.delete_as(owner, id).await;
            }
            "a direct message" => {
                let id = ada.send_direct(&[owner], &word).await;
                ada.delete_as(owner, id).await;
            }
            "a message with a submessage and a reaction" => {
                let id = ada.send_direct(&[owner], "vote").await;
                let content = format!("{{\"type\": \"question\", \"question\": \"{word}\"}}");
                let parameters = json!({"message_id": id, "msg_type": "widget", "content": content});
                ada.post("/submessage", parameters).await.ok();
                ada.post(&format!("/messages/{id}/reactions"), json!({"emoji_name": "tada"})).await.ok();
                ada.delete_as(owner, id).await;
            }
            "a topic with a long text" => {
                let text = format!("{word} {}", "and so on ".repeat(900));
                // The writer does not follow the topic automatically.
                owner.patch("/settings", json!({"automatically_follow_topics_policy": 4})).await.ok();
                owner
                    .patch("/settings", json!({"automatically_follow_topics_where_mentioned": false}))
                    .await
                    .ok();
                owner
                    .patch("/settings", json!({"automatically_unmute_topics_in_muted_streams_policy": 4}))
                    .await
                    .ok();
                owner.send(*channel, &other, &text).await;
                let path = format!("/streams/{channel}/delete_topic");
                owner.post(&path, json!({"topic_name": other})).await.ok();
            }
            "a file" => {
                let id = upload(ada, &format!("{other}.txt"), &content(&word)).await["id"].clone();
                ada.delete(&format!("/attachments/{id}"), ()).await.ok();
            }
            "a file of a message" => {
                let file = upload(ada, &format!("{other}.txt"), &content(&word)).await;
                let text = format!("[file](/user_uploads/{})", file["path_id"].as_str().unwrap());
                let id = ada.send(*channel, "soup", &text).await;
                ada.delete_as(owner, id).await;
            }
            "a draft" => {
                let draft = |content: &str| json!({"type": "stream", "to": [channel], "topic": other, "content": content});
                let made = ada.post("/drafts", json!({"drafts": [draft(&word)]})).await.ok();
                let path = format!("/drafts/{}", made["ids"][0]);
                ada.patch(&path, json!({"draft": draft(&format!("{word} {other}"))})).await.ok();
                ada.delete(&path, ()).await.ok();
            }
            "a saved snippet" => {
                let made = ada.post("/saved_snippets", json!({"title": other, "content": word})).await.ok();
                ada.delete(&format!("/saved_snippets/{}", made["saved_snippet_id"]), ()).await.ok();
            }
            "a scheduled message" => {
                let made = ada
                    .post(
                        "/scheduled_messages",
                        json!({"type": "channel", "to": channel, "topic": other, "content": word,
                            "scheduled_delivery_timestamp": START + 90 * 24 * HOUR}),
                    )
                    .await
                    .ok();
                ada.delete(&format!("/scheduled_messages/{}", made["scheduled_message_id"]), ()).await.ok();
            }
            "a reminder" => {
                let id = ada.send(*channel, "soup", "remember").await;
                let made = ada
                    .post(
                        "/reminders",
                        json!({"message_id": id, "note": word,
                            "scheduled_delivery_timestamp": START + 90 * 24 * HOUR}),
                    )
                    .await
                    .ok();
                ada.delete(&format!("/reminders/{}", made["reminder_id"]), ()).await.ok();
            }
            "a message that others are reminded of" => {
                let id = ada.send(*channel, "soup", &word).await;
                for user in [ada, owner] {
                    let due = START + 90 * 24 * HOUR;
                    let parameters = json!({"message_id": id, "scheduled_delivery_timestamp": due});
                    user.post("/reminders", parameters).await.ok();
                }
                let direct = ada.send_direct(&[owner], &other).await;
                let parameters = json!({"message_id": direct, "scheduled_delivery_timestamp": START + 1});
                ada.post("/reminders", parameters).await.ok();
                ada.delete_as(owner, id).await;
                ada.delete_as(owner, direct).await;
            }
            "a status" => {
                ada.post("/users/me/status", json!({"status_text": word})).await.ok();
                ada.post("/users/me/status", json!({"status_text": ""})).await.ok();
            }
            "an alert word" => {
                ada.post("/users/me/alert_words", json!({"alert_words": [word]})).await.ok();
                ada.delete("/users/me/alert_words", json!({"alert_words": [word]})).await.ok();
            }
            "a value of a profile field" => {
                let field = json!({"name": "Likes", "field_type": 1});
                let id = owner.post("/realm/profile_fields", field).await.ok()["id"].clone();
                ada.patch("/users/me/profile_data", json!({"data": [{"id": id, "value": word}]})).await.ok();
                ada.delete("/users/me/profile_data", json!({"data": [id]})).await.ok();
            }
            "a profile field" => {
                let field = json!({"name": word, "hint": other, "field_type": 1});
                let id = owner.post("/realm/profile_fields", field).await.ok()["id"].clone();
                owner.delete(&format!("/realm/profile_fields/{id}"), ()).await.ok();
            }
            "a linkifier" => {
                let linkifier = json!({"pattern": word, "url_template": format!("https://{other}.example")});
                let id = owner.post("/realm/filters", linkifier).await.ok()["id"].clone();
                owner.delete(&format!("/realm/filters/{id}"), ()).await.ok();
            }
            "an email domain" => {
                let domain = format!("{word}.example");
                owner.post("/realm/domains", json!({"domain": domain, "allow_subdomains": false})).await.ok();
                owner.delete(&format!("/realm/domains/{domain}"), ()).await.ok();
            }
            "a bot's storage" => {
                let bot = server.bot("helper", ada).await;
                let storage = json!({word: other});
                let put = bot.request(Method::PUT, "/bot_storage").form(json!({"storage": storage}));
                put.send().await.ok();
                bot.delete("/bot_storage", json!({"keys": [token(what, "")]})).await.ok();
            }
            "an old email address and name" => {
                let email = format!("{word}@example.com");
                let user_id = ada.user_id;
                owner.patch(&format!("/users/{user_id}"), json!({"full_name": other})).await.ok();
                owner.patch(&format!("/users/{user_id}"), json!({"full_name": "Ada"})).await.ok();
                owner.patch(&format!("/users/{user_id}"), json!({"new_email": email})).await.ok();
                owner.patch(&format!("/users/{user_id}"), json!({"new_email": "ada@example.com"})).await.ok();
            }
            "an expired message" => {
                ada.send_direct(&[owner], &format!("{word} {other}")).await;
                server.clock.advance(2 * 24 * HOUR);
                server.set_realm_setting("message_retention_days", json!(1)).await;
                server.remove_expired().await;
                server.set_realm_setting("message_retention_days", json!(-1)).await;
            }
            _ => unreachable!("nobody makes {what}"),
        }
    }
}

/// Operations that delete text.
const DELETED: [&str; 17] = [
    "a message",
    "an edited message and its history",
    "a direct message",
    "a message with a submessage and a reaction",
    "a topic with a long text",
    "a file",
    "a file of a message",
    "a draft",
    "a saved snippet",
    "a scheduled message",
    "a reminder",
    "a message that others are reminded of",
    "a status",
    "an alert word",
    "a value of a profile field",
    "a bot's storage",
    "an expired message",
];

/// Operations that delete values of settings, which the audit log records for as long as it is kept.
const RECORDED: [&str; 4] =
    ["a profile field", "a linkifier", "an email domain", "an old email address and name"];

impl Client {
    /// Deletes a message of this client as another user.
    async fn delete_as(&self, other: &Self, id: i64) {
        other.delete(&format!("/messages/{id}"), ()).await.ok();
    }
}

/// A file of several chunks that has a word in each part.
fn content(word: &str) -> Vec<u8> {
    format!("{word} ").repeat(600_000 / word.len()).into_bytes()
}

async fn upload(client: &Client, name: &str, content: &[u8]) -> Value {
    let request = client.request(Method::POST, "/user_uploads").multipart((), &[("file", name, content)]);
    request.send().await.ok();
    let files = client.get("/attachments", ()).await.ok()["attachments"].clone();
    files.as_array().unwrap().last().unwrap().clone()
}

#[tokio::test]
async fn deleted_data_is_absent_from_the_file() {
    assert_eq!(left_of(&DELETED, Options::default(), 2 * HOUR).await, [""; 0], "of what was deleted");
}

#[tokio::test]
async fn deleted_settings_are_absent_after_the_audit_log_is_pruned() {
    let options = || Options { audit_keep_days: Some(1), ..Options::default() };
    assert_eq!(left_of(&RECORDED, options(), 26 * HOUR).await, [""; 0], "of what was deleted");
    let left = left_of(&RECORDED, options(), 2 * HOUR).await;
    for what in RECORDED {
        assert!(left.iter().any(|place| place.starts_with(what)), "the log has no {what}: {left:?}");
    }
}

/// Performs operations that delete, and returns what the files of the database have of it after a time and a clean stop.
async fn left_of(deleted: &[&str], options: Options, time: i64) -> Vec<String> {
    let mut place = Place::new(options).await;
    // Data that stays, so that the file has pages before and between the deleted data.
    let kept = token("kept", "");
    for number in 0..40 {
        let text = format!("{kept} number {number}, {}", "with some words around it ".repeat(number));
        place.ada.send(place.channel, &format!("topic {}", number % 7), &text).await;
    }
    for what in deleted {
        place.make_and_delete(what).await;
        place.ada.send(place.channel, "soup", &format!("{kept} between")).await;
    }
    let app = std::sync::Arc::clone(place.server.app());
    place.server.clock.advance(time);
    scheduler::settle(&app).await;
    place.server.maintain().await;
    audit::prune_old(&app).await.unwrap();
    let search = json!({"anchor": "newest", "num_before": 1, "num_after": 0,
        "narrow": [{"operator": "search", "operand": &kept[..5]}]});
    assert_eq!(place.ada.get("/messages", search).await.ok()["messages"].as_array().unwrap().len(), 1);
    drop(app);
    place.server.stop().await;
    let folder = place.server.database();
    let mut left = Vec::new();
    for file in std::fs::read_dir(folder.parent().unwrap()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(!name.ends_with("-wal") || bytes.is_empty(), "a clean stop empties the log of changes");
        for what in deleted {
            left.extend(
                ["", "o"]
                    .map(|suffix| token(what, suffix))
                    .into_iter()
                    .filter(|word| text.contains(word.as_str()))
                    .map(|word| format!("{what}: {word} in {name}")),
            );
        }
        if name == "chat.sqlite" {
            assert!(text.contains(&kept), "what was not deleted is there");
        }
    }
    left
}
