//! A small archive with something of everything, built row by row.

use super::Import;
use crate::harness::SYSTEM_GROUPS;
use crate::harness::pictures;
use serde_json::{Map, Value, json};

/// The time of the first message.
pub const TIME: i64 = 1_750_000_000;

/// An archive in memory.
pub struct Archive {
    /// The tables of `realm.json`.
    pub realm: Map<String, Value>,
    /// The message files: messages, and rows of receivers.
    pub messages: Vec<(Vec<Value>, Vec<Value>)>,
    pub attachments: Vec<Value>,
    pub uploads: Vec<(Value, Vec<u8>)>,
    pub avatars: Vec<(Value, Vec<u8>)>,
    pub emoji: Vec<(Value, Vec<u8>)>,
}

pub fn user(id: i64, name: &str, role: i64) -> Value {
    let email = format!("{}@example.com", name.to_lowercase());
    json!({"id": id, "realm": 1, "full_name": name, "email": email, "delivery_email": email, "role": role,
        "date_joined": 1_740_000_000.5, "last_login": null, "last_reminder": null, "bot_owner": null,
        "default_sending_stream": null, "default_events_register_stream": null, "last_active_message_id": null,
        "groups": [], "user_permissions": []})
}

/// A row with other values.
pub fn with(mut row: Value, other: Value) -> Value {
    for (name, value) in other.as_object().unwrap() {
        row[name] = value.clone();
    }
    row
}

pub fn message(id: i64, sender: i64, recipient: i64, topic: &str, content: &str) -> Value {
    json!({"id": id, "realm": 1, "sender": sender, "recipient": recipient, "subject": topic, "content": content,
        "rendered_content": format!("<p>{content}</p>"), "rendered_content_version": 1,
        "date_sent": TIME + id, "last_edit_time": null, "edit_history": null, "sending_client": 1,
        "has_attachment": false, "has_link": false, "is_channel_message": recipient > 100})
}

pub fn received(message: i64, user: i64, flags: i64) -> Value {
    json!({"id": message * 100 + user, "user_profile": user, "message": message, "flags_mask": flags})
}

impl Archive {
    /// Owner Ada (10), members Bob (11) and Dan (13, deactivated), guest Cat (12), Bob's bot (14). Channels general (5), secret
    /// (6, protected history), old (7, archived).
    pub fn new() -> Self {
        let mut groups: Vec<Value> =
            (1..=8).chain([20, 21]).map(|id| json!({"id": id, "realm": 1})).collect();
        groups.push(json!({"id": 22, "realm": 1}));
        let group = |id: i64, name: &str, is_system: bool| {
            json!({"id": id, "usergroup_ptr": id, "name": name, "description": "", "date_created": null,
                "creator": if is_system { Value::Null } else { json!(10) }, "is_system_group": is_system,
                "can_add_members_group": 1, "can_join_group": 1, "can_leave_group": 1, "can_manage_group": 1,
                "can_mention_group": 1, "can_remove_members_group": 1, "realm_for_sharding": 1,
                "deactivated": false})
        };
        let mut named: Vec<Value> =
            (1..).zip(SYSTEM_GROUPS).map(|(id, name)| group(id, name, true)).collect();
        named.push(with(
            group(20, "rowers", false),
            json!({"description": "They row", "can_mention_group": 7}),
        ));
        let stream = |id: i64, name: &str| {
            json!({"id": id, "realm": 1, "name": name, "description": "", "date_created": 1_740_000_000.0,
                "creator": 10, "can_add_subscribers_group": 1, "can_administer_channel_group": 21,
                "can_remove_subscribers_group": 3, "can_send_message_group": 7, "can_subscribe_group": 1})
        };
        let subscription = |user: i64, recipient: i64, other: Value| {
            let row = json!({"id": user * 1000 + recipient, "user_profile": user, "recipient": recipient});
            with(row, other)
        };
        let people = [10, 11, 12, 13, 14];
        let mut recipients: Vec<Value> =
            people.iter().map(|id| json!({"id": id, "type": 1, "type_id": id})).collect();
        recipients.extend([5, 6, 7].map(|id| json!({"id": 100 + id, "type": 2, "type_id": id})));
        recipients.push(json!({"id": 200, "type": 3, "type_id": 3}));
        let mut subscriptions: Vec<Value> =
            people.iter().map(|id| subscription(*id, *id, json!({}))).collect();
        subscriptions.extend([
            subscription(10, 105, json!({"color": "#76ce90", "pin_to_top": true})),
            subscription(11, 105, json!({"color": "#fae589", "is_muted": true, "push_notifications": true})),
            subscription(12, 105, json!({"color": "#a6c7e5", "active": false})),
            subscription(10, 106, json!({"color": "#e79ab5"})),
            subscription(11, 106, json!({"color": "#bfd56f"})),
            subscription(10, 107, json!({"color": "#f4ae55"})),
            subscription(10, 200, json!({})),
            subscription(11, 200, json!({})),
            subscription(12, 200, json!({})),
        ]);
        let realm_groups = json!({
            "can_add_custom_emoji_group": 6, "can_create_public_channel_group": 20,
            "can_create_private_channel_group": 6, "can_create_web_public_channel_group": 2,
            "can_delete_any_message_group": 3, "can_delete_own_message_group": 7,
            "can_invite_users_group": 22, "direct_message_permission_group": 7, "can_access_all_users_group": 7,
        });
        let realm = with(
            json!({"id": 1, "name": "Boat club", "description": "We **row**", "string_id": "boats",
                "uuid": "8a3a3ad4-5d8a-4bd0-9d4b-3e6f0a1b2c3d", "date_created": 1_735_689_600.0, "deactivated": false,
                "moderation_request_channel": null, "new_stream_announcements_stream": 5,
                "message_content_edit_limit_seconds": 1200, "message_edit_history_visibility_policy": 2,
                "waiting_period_threshold": 3, "mandatory_topics": true, "enable_read_receipts": false}),
            realm_groups,
        );
        let tables = json!({
            "zerver_realm": [realm],
            "zerver_userprofile": [
                with(user(10, "Ada", 100), json!({"timezone": "Europe/Berlin", "twenty_four_hour_time": true,
                    "avatar_source": "U", "avatar_version": 2})),
                with(user(11, "Bob", 400), json!({"email": "user11@chat.old.example", "email_address_visibility": 3})),
                user(12, "Cat", 600),
                with(user(13, "Dan", 400), json!({"is_active": false})),
                with(user(14, "Helper", 400), json!({"is_bot": true, "bot_type": 1, "bot_owner": 11})),
            ],
            "zerver_userprofile_mirrordummy": [],
            "zerver_userprofile_crossrealm": [{"id": 9, "email": "notification-bot@zulip.com", "recipient_id": 9}],
            "zerver_usergroup": groups,
            "zerver_namedusergroup": named,
            "zerver_usergroupmembership": [
                {"id": 1, "user_group": 2, "user_profile": 10}, {"id": 2, "user_group": 20, "user_profile": 11},
                {"id": 3, "user_group": 20, "user_profile": 12}, {"id": 4, "user_group": 21, "user_profile": 11},
                {"id": 5, "user_group": 22, "user_profile": 12},
            ],
            "zerver_groupgroupmembership": [
                {"id": 1, "supergroup": 3, "subgroup": 2}, {"id": 2, "supergroup": 4, "subgroup": 3},
                {"id": 3, "supergroup": 22, "subgroup": 20},
            ],
            "zerver_stream": [
                with(stream(5, "general"), json!({"description": "For *all*"})),
                with(stream(6, "secret"), json!({"invite_only": true, "history_public_to_subscribers": false})),
                with(stream(7, "old"), json!({"deactivated": true, "folder": 2, "topics_policy": 2})),
            ],
            "zerver_channelfolder": [{"id": 2, "name": "Attic", "description": "dust", "order": 1,
                "date_created": 1_740_000_000.0, "creator": 10, "is_archived": false}],
            "zerver_defaultstream": [{"id": 1, "realm": 1, "stream": 5}],
            "zerver_recipient": recipients,
            "zerver_huddle": [{"id": 3, "huddle_hash": "x", "group_size": 3}],
            "zerver_subscription": subscriptions,
            "zerver_client": [{"id": 1, "name": "website"}, {"id": 2, "name": "ZulipMobile"}],
            "zerver_reaction": [],
            "zerver_realmauditlog": [{"id": 1, "realm": 1, "event_type": 206, "event_time": 1_740_000_000.0,
                "acting_user": 10, "modified_user": null, "modified_stream": null, "modified_user_group": null}],
            "zerver_realmemoji": [],
            "zerver_customprofilefield": [],
            "zerver_customprofilefieldvalue": [],
        });
        let Value::Object(realm) = tables else { unreachable!() };
        Self {
            realm,
            messages: vec![(Vec::new(), Vec::new())],
            attachments: Vec::new(),
            uploads: Vec::new(),
            avatars: Vec::new(),
            emoji: Vec::new(),
        }
    }

    /// Adds a row to a table.
    pub fn row(&mut self, table: &str, row: Value) -> &mut Self {
        let rows = self.realm.entry(table).or_insert_with(|| json!([]));
        rows.as_array_mut().unwrap().push(row);
        self
    }

    /// Adds a message to the last file, with its receivers and their flags.
    pub fn message(&mut self, row: Value, receivers: &[(i64, i64)]) -> &mut Self {
        let (messages, rows) = self.messages.last_mut().unwrap();
        rows.extend(
            receivers.iter().map(|(user, flags)| received(row["id"].as_i64().unwrap(), *user, *flags)),
        );
        messages.push(row);
        self
    }

    /// Adds an upload of Ada, linked by messages.
    pub fn upload(&mut self, id: i64, path: &str, content: &[u8], messages: &[i64]) -> &mut Self {
        self.attachments.push(json!({"id": id, "realm": 1, "owner": 10, "file_name": "the list.txt",
            "path_id": path, "size": content.len(), "create_time": 1_745_000_000.0, "content_type": null,
            "messages": messages, "scheduled_messages": []}));
        let record = json!({"realm_id": 1, "user_profile_id": 10, "user_profile_email": "ada@example.com",
            "path": path, "s3_path": path, "size": content.len(), "last_modified": 1_745_000_000.0,
            "content_type": null});
        self.uploads.push((record, content.to_owned()));
        self
    }

    pub fn avatar(&mut self, user: i64) -> &mut Self {
        let path = "1/0123456789.original";
        let record = json!({"realm_id": 1, "user_profile_id": user, "avatar_version": 2, "path": path, "s3_path": path});
        self.avatars.push((record, pictures::png(300, 200)));
        self
    }

    pub fn custom_emoji(&mut self, id: i64, name: &str) -> &mut Self {
        self.row(
            "zerver_realmemoji",
            json!({"id": id, "author": 10, "realm": 1, "name": name,
            "file_name": "8cc56b92.png", "is_animated": false, "deactivated": false}),
        );
        let path = "1/emoji/images/8cc56b92.png";
        let record = json!({"realm_id": 1, "author": 10, "path": path, "s3_path": path, "file_name": "8cc56b92.png",
            "name": name, "deactivated": false});
        self.emoji.push((record, pictures::png(80, 80)));
        self
    }

    /// Writes all files.
    pub fn write(&self, to: &Import) {
        to.write("migration_status.json", r#"{"zulip_version": "10.2", "migrations_by_app": {}}"#);
        to.write("realm.json", serde_json::to_vec_pretty(&self.realm).unwrap());
        to.write(
            "attachment.json",
            serde_json::to_vec_pretty(&json!({"zerver_attachment": self.attachments})).unwrap(),
        );
        for (folder, files) in
            [("uploads", &self.uploads), ("avatars", &self.avatars), ("emoji", &self.emoji)]
        {
            let records: Vec<&Value> = files.iter().map(|(record, _)| record).collect();
            to.write(&format!("{folder}/records.json"), serde_json::to_vec_pretty(&records).unwrap());
            for (record, content) in files {
                to.write(&format!("{folder}/{}", record["path"].as_str().unwrap()), content);
            }
        }
        for (number, (messages, rows)) in (1..).zip(&self.messages) {
            let file = json!({"zerver_message": messages, "zerver_usermessage": rows});
            to.write(&format!("messages-{number:06}.json"), serde_json::to_vec_pretty(&file).unwrap());
        }
    }
}
