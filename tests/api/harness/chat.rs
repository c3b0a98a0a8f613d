//! Channels and messages for tests of other features. Channels are inserted into the file, without events and notices.

use super::{Client, RUNTIME, TestServer};
use serde_json::{Value, json};
use std::sync::Arc;
use teamchat::api::{reminders, scheduled_messages};
use teamchat::domain::groups::setting::Owner;
use teamchat::domain::groups::system::SystemGroup;
use teamchat::domain::notices::NOTIFICATION_BOT;
use teamchat::domain::{groups, messages, realm};
use teamchat::http::ApiError;
use teamchat::types::{MessageId, UserId};

impl TestServer {
    /// A new public channel with these subscribers. Returns its id.
    pub async fn channel(&self, name: &str, subscribers: &[&Client]) -> i64 {
        self.make_channel(name, subscribers, false).await
    }

    /// Creates a private channel with protected history and these subscribers.
    pub async fn private_channel(&self, name: &str, subscribers: &[&Client]) -> i64 {
        self.make_channel(name, subscribers, true).await
    }

    /// Sends the scheduled messages and the reminders that are due by the test's clock.
    pub async fn deliver_due(&self) {
        let app = Arc::clone(self.app());
        let delivered = RUNTIME.spawn(async move {
            scheduled_messages::deliver::deliver_due(&app).await.unwrap();
            reminders::deliver::deliver_due(&app).await.unwrap();
        });
        delivered.await.unwrap();
    }

    /// Removes all messages that have expired by the test's clock.
    pub async fn remove_expired(&self) {
        let app = Arc::clone(self.app());
        let removed = RUNTIME.spawn(async move {
            while teamchat::api::messages::retention::remove_expired(&app).await.unwrap().is_some() {}
        });
        removed.await.unwrap();
    }

    /// Sets a setting of the organization without an event.
    pub async fn set_realm_setting(&self, name: &'static str, value: Value) {
        let set = self.app().writer.run(move |tx| realm::settings::set(tx, name, &value));
        set.await.unwrap();
    }

    /// Gives a permission in the organization to a system group without an event.
    pub async fn set_realm_group(&self, name: &'static str, group: SystemGroup) {
        let set = self.app().writer.run(move |tx| groups::setting::set(tx, Owner::Realm, name, group.id()));
        set.await.unwrap();
    }

    /// Limits guests to users with a shared conversation.
    pub async fn restrict_guests(&self) {
        self.set_realm_group("can_access_all_users_group", SystemGroup::Members).await;
    }

    /// The id of the notification bot.
    pub async fn notification_bot(&self) -> i64 {
        let found = self.app().writer.run(|tx| -> Result<i64, ApiError> {
            Ok(tx.query_row("SELECT user_id FROM user WHERE email = ?1", [NOTIFICATION_BOT], |row| {
                row.get(0)
            })?)
        });
        found.await.unwrap()
    }

    async fn make_channel(&self, name: &str, subscribers: &[&Client], is_private: bool) -> i64 {
        let name = name.to_owned();
        let users: Vec<UserId> = subscribers.iter().map(|client| UserId(client.user_id)).collect();
        let made = self.app().writer.run(move |tx| -> Result<i64, ApiError> {
            let key = name.to_lowercase();
            tx.execute(
                "INSERT INTO stream (name, name_key, date_created, invite_only, history_public_to_subscribers)
                 VALUES (?1, ?2, ?4, ?3, NOT ?3)",
                (&name, &key, is_private, tx.now()),
            )?;
            let stream_id = tx.last_insert_rowid();
            tx.execute("INSERT INTO recipient (stream_id) VALUES (?1)", [stream_id])?;
            for user_id in &users {
                tx.execute(
                    "INSERT INTO subscription (user_id, stream_id, active, color) VALUES (?1, ?2, 1, '#c2c2c2')",
                    (user_id, stream_id),
                )?;
                tx.execute(
                    "INSERT INTO subscription_span (user_id, stream_id, from_message_id)
                     SELECT ?1, ?2, 1 + coalesce(max(id), 0) FROM message",
                    (user_id, stream_id),
                )?;
            }
            Ok(stream_id)
        });
        made.await.unwrap()
    }
}

impl Client {
    /// Deletes the messages of system bots, for tests of searches.
    pub async fn forget_notices(&self) {
        let app = self.app().unwrap();
        let forgotten = app.writer.run(|tx| -> Result<(), ApiError> {
            let ids: Vec<MessageId> = tx
                .prepare("SELECT id FROM message JOIN user ON user_id = sender_id WHERE is_system_bot")?
                .query_map([], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            ids.into_iter().try_for_each(|id| Ok(messages::delete(tx, id)?))
        });
        forgotten.await.unwrap();
    }

    /// Sends a channel message. Returns its id.
    pub async fn send(&self, stream_id: i64, topic: &str, content: &str) -> i64 {
        let message = json!({"type": "channel", "to": stream_id, "topic": topic, "content": content});
        self.post("/messages", message).await.ok()["id"].as_i64().unwrap()
    }

    /// Sends a direct message to these people and the sender. Returns its id.
    pub async fn send_direct(&self, people: &[&Self], content: &str) -> i64 {
        let to: Vec<i64> = people.iter().map(|client| client.user_id).collect();
        let message = json!({"type": "direct", "to": to, "content": content});
        self.post("/messages", message).await.ok()["id"].as_i64().unwrap()
    }

    /// The Markdown of the newest messages of a narrow, 1,000 at most, the oldest first.
    pub async fn contents(&self, narrow: Value) -> Vec<String> {
        let newest = json!({"anchor": "newest", "num_before": 1000, "num_after": 0, "apply_markdown": false, "narrow": narrow});
        let found = self.get("/messages", newest).await.ok();
        let content = |message: &Value| message["content"].as_str().unwrap().to_owned();
        found["messages"].as_array().unwrap().iter().map(content).collect()
    }

    /// The direct messages of the notification bot to this user, as Markdown, the oldest first.
    pub async fn notices(&self) -> Vec<String> {
        self.contents(json!([["sender", NOTIFICATION_BOT], ["is", "dm"]])).await
    }

    /// A message as this user sees it.
    pub async fn message(&self, id: i64) -> Value {
        let parameters = json!({"allow_empty_topic_name": true});
        self.get(&format!("/messages/{id}"), parameters).await.ok()["message"].clone()
    }
}
