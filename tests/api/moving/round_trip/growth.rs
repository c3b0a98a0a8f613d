//! Random changes of an organization: requests of its people, most of which succeed.

use super::texts::{Names, text};
use crate::harness::pictures::png;
use crate::harness::{Client, Rng, START, TestServer};
use reqwest::Method;
use serde_json::{Value, json};

const DAY: i64 = 24 * 60 * 60;

const TOPICS: [&str; 7] = ["tides of SHIP-7", "lanterns", "✔ lanterns", "ropes", "", "maps", "über *alles*"];

const EMOJI: [&str; 5] = ["tada", "heart", "buoy", "rope", "anchor"];

const STATUSES: [&str; 3] = ["at sea", "", "in the _bilge_"];

/// System groups: administrators, moderators, full members, members.
const ROLES: [i64; 4] = [3, 4, 5, 6];

/// A request that changes something.
#[derive(Debug)]
pub struct Change {
    person: usize,
    method: Method,
    path: String,
    parameters: Value,
    file: Option<(String, Vec<u8>)>,
}

impl Change {
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Sends it, and returns the status and the answer.
    pub async fn send(&self, clients: &[Client]) -> (u16, Value) {
        let request = clients[self.person].request(self.method.clone(), &self.path);
        let request = match &self.file {
            Some((name, content)) => request.multipart(&self.parameters, &[("file", name, content)]),
            None if self.method == Method::GET => request.query(&self.parameters),
            None => request.form(&self.parameters),
        };
        let answer = request.send().await;
        assert!(answer.status < 500, "{self:?}: {answer}");
        (answer.status, answer.json)
    }
}

/// The rows of the organization at the moment.
struct Facts {
    channels: Vec<(i64, String)>,
    users: Vec<(i64, String)>,
    groups: Vec<(i64, String)>,
    messages: Vec<(i64, Option<i64>, String)>,
    /// Addresses, and whether messages link to them.
    files: Vec<(String, bool)>,
    linkifiers: Vec<i64>,
    fields: Vec<(i64, i64)>,
    scheduled: Vec<i64>,
}

/// The rows of a query whose only column is a list in JSON.
async fn rows<T: serde::de::DeserializeOwned>(server: &TestServer, query: &str) -> Vec<T> {
    let rows = server.column(query).await;
    rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect()
}

impl Facts {
    async fn of(server: &TestServer) -> Self {
        Self {
            channels: rows(server, "SELECT json_array(stream_id, name) FROM stream ORDER BY stream_id").await,
            users: rows(
                server,
                "SELECT json_array(user_id, full_name) FROM user
                 WHERE NOT is_system_bot AND full_name NOT LIKE 'Crowd%' ORDER BY user_id",
            )
            .await,
            groups: rows(
                server,
                "SELECT json_array(id, name) FROM user_group WHERE kind = 'named' AND id > 8 ORDER BY id",
            )
            .await,
            messages: rows(
                server,
                "SELECT json_array(id, stream_id, subject) FROM message JOIN recipient USING (recipient_id) ORDER BY id",
            )
            .await,
            files: rows(
                server,
                "SELECT json_array('/user_uploads/' || path_id, json(iif(unclaimed_since IS NULL, 'true', 'false')))
                 FROM attachment ORDER BY id",
            )
            .await,
            linkifiers: rows(server, "SELECT id FROM linkifier ORDER BY id").await,
            fields: rows(server, "SELECT json_array(id, type) FROM profile_field ORDER BY id").await,
            scheduled: rows(
                server,
                "SELECT scheduled_message_id FROM scheduled_message WHERE NOT sent ORDER BY scheduled_message_id",
            )
            .await,
        }
    }
}

/// Makes changes with a seed. Names that were given once are remembered, because texts may have them.
pub struct Growth {
    pub rng: Rng,
    /// True for changes of two servers: without new files, whose addresses are random, and without what the other server
    /// does not have.
    pub is_after: bool,
    names: Names,
    count: usize,
}

impl Growth {
    pub fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed), is_after: false, names: Names::default(), count: 0 }
    }

    /// The next change of an organization; `people` have accounts, and the first is an owner.
    pub async fn next(&mut self, server: &TestServer, people: &[Client]) -> Change {
        self.count += 1;
        let facts = Facts::of(server).await;
        self.names.learn(&facts.users, &facts.groups, &facts.channels);
        let files = facts.files.iter().filter(|(_, is_linked)| *is_linked || !self.is_after);
        self.names.files = files.map(|(url, _)| url.clone()).collect();
        self.names.messages.clone_from(&facts.messages);
        let person = self.rng.below(people.len());
        let kind = self.rng.below(if self.is_after { 93 } else { 100 });
        let (method, path, parameters) = match kind {
            0..=21 => self.message(&facts),
            22..=27 => self.direct_message(&facts),
            28..=31 => self.edit(&facts),
            32..=36 => self.relocation(&facts),
            37 => self.deletion(&facts),
            38..=43 => self.reaction(&facts),
            44..=50 => self.flags(&facts),
            51..=54 => self.subscription(&facts),
            55..=58 => self.channel(&facts),
            59..=62 => self.permission(&facts),
            63..=66 => self.group(&facts),
            67..=71 => self.account(&facts),
            72..=76 => self.personal(&facts),
            77..=79 => self.topic_policy(&facts),
            80..=82 => self.later(&facts),
            83..=85 => self.profile(&facts),
            86..=88 => self.pattern(&facts),
            89..=92 => self.setting(&facts),
            _ => return self.upload(person),
        };
        // What needs a permission is mostly done by the owner.
        let is_of_organization = matches!(kind, 32..=36 | 51..=71 | 83..=92);
        let person = if is_of_organization && self.rng.below(4) > 0 { 0 } else { person };
        Change { person, method, path, parameters, file: None }
    }

    fn text(&mut self) -> String {
        text(&mut self.rng, &self.names)
    }

    fn word(&mut self, name: &str) -> String {
        format!("{name} {}", self.count)
    }

    fn place(&mut self, facts: &Facts) -> i64 {
        self.rng.pick(&facts.channels).unwrap().0
    }

    fn user(&mut self, facts: &Facts) -> i64 {
        self.rng.pick(&facts.users).unwrap().0
    }

    fn topic(&mut self) -> &'static str {
        // Policies for the empty topic are in no archive.
        let topic = self.rng.pick(&TOPICS).unwrap();
        if self.is_after && topic.is_empty() { "ropes" } else { topic }
    }

    /// A message, and the path of requests for it.
    fn known(&mut self, facts: &Facts) -> (i64, String) {
        let from = facts.messages.len().saturating_sub(60);
        let id = self.rng.pick(&facts.messages[from..]).unwrap().0;
        (id, format!("/messages/{id}"))
    }

    fn message(&mut self, facts: &Facts) -> (Method, String, Value) {
        let (to, topic, content) = (self.place(facts), self.topic(), self.text());
        let parameters = json!({"type": "channel", "to": to, "topic": topic, "content": content,
            "read_by_sender": self.rng.below(4) > 0});
        (Method::POST, "/messages".into(), parameters)
    }

    fn direct_message(&mut self, facts: &Facts) -> (Method, String, Value) {
        let to: Vec<i64> = (0..=self.rng.below(3)).map(|_| self.user(facts)).collect();
        (Method::POST, "/messages".into(), json!({"type": "direct", "to": to, "content": self.text()}))
    }

    fn edit(&mut self, facts: &Facts) -> (Method, String, Value) {
        let path = self.known(facts).1;
        (Method::PATCH, path, json!({"content": self.text()}))
    }

    fn relocation(&mut self, facts: &Facts) -> (Method, String, Value) {
        let path = self.known(facts).1;
        let mode = self.rng.pick(&["change_one", "change_later", "change_all"]).unwrap();
        let mut parameters = json!({"propagate_mode": mode, "send_notification_to_new_thread": self.rng.below(2) == 0,
            "send_notification_to_old_thread": self.rng.below(3) == 0});
        if self.rng.below(2) == 0 {
            parameters["stream_id"] = self.place(facts).into();
        }
        if self.rng.below(3) > 0 || parameters.get("stream_id").is_none() {
            parameters["topic"] = self.topic().into();
        }
        (Method::PATCH, path, parameters)
    }

    fn deletion(&mut self, facts: &Facts) -> (Method, String, Value) {
        (Method::DELETE, self.known(facts).1, json!({}))
    }

    fn reaction(&mut self, facts: &Facts) -> (Method, String, Value) {
        let path = format!("{}/reactions", self.known(facts).1);
        let method = if self.rng.below(4) == 0 { Method::DELETE } else { Method::POST };
        (method, path, json!({"emoji_name": self.rng.pick(&EMOJI)}))
    }

    fn flags(&mut self, facts: &Facts) -> (Method, String, Value) {
        let flag = self.rng.pick(&["read", "read", "starred", "collapsed"]).unwrap();
        let op = self.rng.pick(&["add", "add", "remove"]).unwrap();
        if self.rng.below(5) == 0 {
            let parameters = json!({"stream_id": self.place(facts)});
            return (Method::POST, "/mark_stream_as_read".into(), parameters);
        }
        let ids: Vec<i64> = (0..=self.rng.below(6)).map(|_| self.known(facts).0).collect();
        (Method::POST, "/messages/flags".into(), json!({"messages": ids, "op": op, "flag": flag}))
    }

    fn subscription(&mut self, facts: &Facts) -> (Method, String, Value) {
        let path = "/users/me/subscriptions".to_owned();
        let (_, name) = self.rng.pick(&facts.channels).unwrap();
        let who = json!([self.user(facts)]);
        if self.rng.below(5) < 2 {
            return (Method::DELETE, path, json!({"subscriptions": [name], "principals": who}));
        }
        (Method::POST, path, json!({"subscriptions": [{"name": name}], "principals": who}))
    }

    fn channel(&mut self, facts: &Facts) -> (Method, String, Value) {
        let path = format!("/streams/{}", self.place(facts));
        let is_private = self.rng.below(2) == 0;
        let shares = self.rng.below(2) == 0;
        match self.rng.below(7) {
            0 => {
                let name = self.word("basin");
                let subscribers: Vec<i64> = (0..4).map(|_| self.user(facts)).collect();
                let mut parameters = json!({"name": name, "description": self.text(), "subscribers": subscribers,
                    "announce": true, "invite_only": is_private});
                if is_private {
                    parameters["history_public_to_subscribers"] = shares.into();
                }
                (Method::POST, "/channels/create".into(), parameters)
            }
            1 => (Method::PATCH, path, json!({"new_name": self.word("quay")})),
            2..=3 => (Method::PATCH, path, json!({"description": self.text()})),
            4 if is_private => {
                (Method::PATCH, path, json!({"is_private": true, "history_public_to_subscribers": shares}))
            }
            4 => (Method::PATCH, path, json!({"is_private": false})),
            5 if self.rng.below(2) == 0 => (Method::DELETE, path, json!({})),
            5 => (Method::PATCH, path, json!({"is_archived": false})),
            _ => (Method::PATCH, path, json!({"message_retention_days": 400 + self.rng.below(100)})),
        }
    }

    fn holders(&mut self, facts: &Facts) -> Value {
        let mut groups = vec![self.rng.pick(&ROLES).unwrap()];
        groups.extend(self.rng.pick(&facts.groups).filter(|_| self.rng.below(2) == 0).map(|group| group.0));
        match self.rng.below(3) {
            0 => json!({"new": groups[0]}),
            1 => json!({"new": groups.last()}),
            _ => json!({"new": {"direct_members": [self.user(facts)], "direct_subgroups": groups}}),
        }
    }

    fn permission(&mut self, facts: &Facts) -> (Method, String, Value) {
        let of_channels = [
            "can_send_message_group",
            "can_add_subscribers_group",
            "can_administer_channel_group",
            "can_remove_subscribers_group",
            "can_subscribe_group",
        ];
        let of_groups = ["can_mention_group", "can_join_group", "can_leave_group", "can_manage_group"];
        let of_realm = [
            "can_create_groups",
            "can_invite_users_group",
            "can_move_messages_between_topics_group",
            "can_summarize_topics_group",
        ];
        let holders = self.holders(facts);
        match (self.rng.below(3), self.rng.pick(&facts.groups)) {
            (0, Some((group, _))) => {
                let name = self.rng.pick(&of_groups).unwrap();
                (Method::PATCH, format!("/user_groups/{group}"), json!({name: holders}))
            }
            (1, _) => (Method::PATCH, "/realm".into(), json!({self.rng.pick(&of_realm).unwrap(): holders})),
            _ => {
                let name = self.rng.pick(&of_channels).unwrap();
                (Method::PATCH, format!("/streams/{}", self.place(facts)), json!({name: holders}))
            }
        }
    }

    fn group(&mut self, facts: &Facts) -> (Method, String, Value) {
        let group = self.rng.pick(&facts.groups).map_or(9, |group| group.0);
        let path = format!("/user_groups/{group}");
        match self.rng.below(6) {
            0 => {
                let members: Vec<i64> = (0..3).map(|_| self.user(facts)).collect();
                let parameters = json!({"name": self.word("watch"), "description": "x", "members": members});
                (Method::POST, "/user_groups/create".into(), parameters)
            }
            1 => (Method::PATCH, path, json!({"name": self.word("shift")})),
            2 => {
                let other = self.rng.pick(&facts.groups).map_or(9, |group| group.0);
                (Method::POST, format!("{path}/subgroups"), json!({"add": [other]}))
            }
            3 if self.rng.below(3) == 0 => (Method::POST, format!("{path}/deactivate"), json!({})),
            _ => {
                let op = self.rng.pick(&["add", "delete"]).unwrap();
                (Method::POST, format!("{path}/members"), json!({op: [self.user(facts)]}))
            }
        }
    }

    /// Names, roles and states of others. The first account stays an owner.
    fn account(&mut self, facts: &Facts) -> (Method, String, Value) {
        let others: Vec<(i64, String)> = facts.users.iter().skip(1).cloned().collect();
        let (id, name) = self.rng.pick(&others).unwrap();
        let path = format!("/users/{id}");
        match self.rng.below(6) {
            0..=1 => {
                let first = name.split(' ').next().unwrap_or_default();
                (Method::PATCH, path, json!({"full_name": self.word(first)}))
            }
            2 => (Method::PATCH, path, json!({"role": self.rng.pick(&[200, 300, 400, 400, 600])})),
            3 if self.rng.below(2) == 0 => (Method::DELETE, path, json!({})),
            _ => (Method::POST, format!("{path}/reactivate"), json!({})),
        }
    }

    fn personal(&mut self, facts: &Facts) -> (Method, String, Value) {
        let word = self.word("note");
        match self.rng.below(6) {
            0 => (Method::POST, "/users/me/alert_words".into(), json!({"alert_words": [word]})),
            1 => (Method::POST, format!("/users/me/muted_users/{}", self.user(facts)), json!({})),
            2 => {
                let parameters =
                    json!({"status_text": self.rng.pick(&STATUSES), "emoji_name": self.rng.pick(&EMOJI)});
                (Method::POST, "/users/me/status".into(), parameters)
            }
            3 => (Method::POST, "/saved_snippets".into(), json!({"title": word, "content": self.text()})),
            4 => {
                let draft =
                    json!({"type": "stream", "to": [self.place(facts)], "topic": word, "content": "half"});
                (Method::POST, "/drafts".into(), json!({"drafts": [draft]}))
            }
            _ => {
                let property =
                    self.rng.pick(&["color", "is_muted", "pin_to_top", "push_notifications"]).unwrap();
                let value =
                    if property == "color" { json!("#a1b2c3") } else { json!(self.rng.below(2) == 0) };
                let data = json!([{"stream_id": self.place(facts), "property": property, "value": value}]);
                (
                    Method::POST,
                    "/users/me/subscriptions/properties".into(),
                    json!({"subscription_data": data}),
                )
            }
        }
    }

    fn topic_policy(&mut self, facts: &Facts) -> (Method, String, Value) {
        let parameters = json!({"stream_id": self.place(facts), "topic": self.topic(),
            "visibility_policy": self.rng.below(4)});
        (Method::POST, "/user_topics".into(), parameters)
    }

    fn later(&mut self, facts: &Facts) -> (Method, String, Value) {
        let at = START + (100 + self.rng.below(9) as i64) * DAY;
        match self.rng.below(4) {
            0 => {
                let parameters = json!({"message_id": self.known(facts).0, "scheduled_delivery_timestamp": at,
                    "note": "why?"});
                (Method::POST, "/reminders".into(), parameters)
            }
            1 if !facts.scheduled.is_empty() => {
                let id = self.rng.pick(&facts.scheduled).unwrap();
                (Method::PATCH, format!("/scheduled_messages/{id}"), json!({"content": self.text()}))
            }
            2 => {
                let to: Vec<i64> = (0..=self.rng.below(3)).map(|_| self.user(facts)).collect();
                let parameters = json!({"type": "direct", "to": to, "content": self.text(),
                    "scheduled_delivery_timestamp": at});
                (Method::POST, "/scheduled_messages".into(), parameters)
            }
            _ => {
                let parameters = json!({"type": "channel", "to": self.place(facts), "topic": self.topic(),
                    "content": self.text(), "scheduled_delivery_timestamp": at});
                (Method::POST, "/scheduled_messages".into(), parameters)
            }
        }
    }

    fn profile(&mut self, facts: &Facts) -> (Method, String, Value) {
        let (id, kind) = self.rng.pick(&facts.fields).unwrap();
        let value = match kind {
            1 => json!("Mate *first* :buoy:"),
            2 => self.text().chars().take(400).collect::<String>().into(),
            3 => json!("0"),
            4 => json!("1815-12-10"),
            5 => json!("https://other.example"),
            6 => json!([self.user(facts), self.user(facts)]),
            _ => json!("they"),
        };
        let path = format!("/users/{}", self.user(facts));
        (Method::PATCH, path, json!({"profile_data": [{"id": id, "value": value}]}))
    }

    fn pattern(&mut self, facts: &Facts) -> (Method, String, Value) {
        match self.rng.below(4) {
            0 => {
                let parameters = json!({"pattern": format!("BERTH{}-(?P<id>[0-9]+)", self.count),
                    "url_template": "https://berths.example/{id}"});
                (Method::POST, "/realm/filters".into(), parameters)
            }
            1 if facts.linkifiers.len() > 2 => {
                let id = facts.linkifiers[1 + self.rng.below(facts.linkifiers.len() - 1)];
                let mut order = facts.linkifiers.clone();
                order.sort_by_key(|other| (*other != id, *other));
                (Method::PATCH, "/realm/linkifiers".into(), json!({"ordered_linkifier_ids": order}))
            }
            2 => {
                let parameters = json!({"name": self.word("Sandbox"), "pygments_language": "Rust",
                    "url_template": "https://play.example/{code}"});
                (Method::POST, "/realm/playgrounds".into(), parameters)
            }
            _ => {
                let parameters =
                    json!({"domain": format!("port{}.example", self.count), "allow_subdomains": false});
                (Method::POST, "/realm/domains".into(), parameters)
            }
        }
    }

    fn setting(&mut self, facts: &Facts) -> (Method, String, Value) {
        let is_on = self.rng.below(2) == 0;
        match self.rng.below(8) {
            0 => (Method::PATCH, "/settings".into(), json!({"twenty_four_hour_time": is_on})),
            1 => (
                Method::PATCH,
                "/settings".into(),
                json!({"email_address_visibility": 1 + self.rng.below(5)}),
            ),
            2 => (
                Method::PATCH,
                "/realm/user_settings_defaults".into(),
                json!({"starred_message_counts": is_on}),
            ),
            3 => (Method::PATCH, "/realm".into(), json!({"description": self.text()})),
            4 => (
                Method::PATCH,
                "/realm".into(),
                json!({"message_content_edit_limit_seconds": "\"unlimited\""}),
            ),
            5 => (Method::PATCH, "/realm".into(), json!({"digest_weekday": self.rng.below(7)})),
            6 => {
                let parameters = json!({"new_stream_announcements_stream_id": self.place(facts)});
                (Method::PATCH, "/realm".into(), parameters)
            }
            _ => (Method::POST, "/default_streams".into(), json!({"stream_id": self.place(facts)})),
        }
    }

    /// A file, an emoji or an avatar.
    fn upload(&mut self, person: usize) -> Change {
        let side = 8 + self.rng.below(300) as u32;
        let picture = png(side, side / 2 + 1);
        let (person, path, method) = match self.rng.below(5) {
            0 => (0, format!("/realm/emoji/boat{}", self.count), Method::POST),
            1 => (person, "/users/me/avatar".to_owned(), Method::POST),
            2 => {
                let path = format!("/realm/emoji/{}", self.rng.pick(&["buoy", "anchor"]).unwrap());
                let method = self.rng.pick(&[Method::POST, Method::DELETE]).unwrap();
                (0, path, method)
            }
            _ => (person, "/user_uploads".to_owned(), Method::POST),
        };
        let file = (method == Method::POST).then_some(("map.png".to_owned(), picture));
        Change { person, method, path, parameters: json!({}), file }
    }
}
