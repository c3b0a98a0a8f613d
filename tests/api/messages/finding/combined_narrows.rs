//! Narrows of several terms compared with a plain filter: index lookups must find the same messages as a scan. The
//! server is queried for the messages that a user reads and received; `messages::model` verifies these.

use super::{ids, subscribe};
use crate::harness::{Client, Rng, TestServer};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const MESSAGES: usize = 160;

/// Narrows that are tried for each viewer.
const NARROWS: usize = 200;

/// The anchor `newest`.
const NEWEST: i64 = 10_000_000_000_000_000;

const WORDS: [&str; 5] = ["tomato", "leek", "rye", "oat", "soup"];

const TOPICS: [&str; 4] = ["apples", "✔ pears", "plums", ""];

/// Condition of a term on a message.
#[derive(Clone, Debug)]
enum Test {
    Channel(i64),
    PublicChannels,
    WebPublicChannels,
    Topic(&'static str),
    Direct(BTreeSet<i64>),
    DirectIncluding(i64),
    GroupDirect(i64),
    Sender(i64),
    AnyDirect,
    Flag(&'static str),
    Unread,
    Mentioned,
    Resolved,
    Policy(i64),
    Muted,
    Home,
    Has(&'static str),
    Reaction,
    Word(&'static str),
    Id(i64),
    Everything,
}

#[derive(Clone, Debug)]
struct Term {
    operator: &'static str,
    operand: Value,
    negated: bool,
    test: Test,
}

/// Facts that a message does not show.
struct NarrowModel {
    server: TestServer,
    users: Vec<Client>,
    /// Channel id, public, web-public.
    channels: Vec<(i64, bool, bool)>,
    messages: Vec<i64>,
    words: BTreeMap<i64, BTreeSet<&'static str>>,
    has: BTreeMap<&'static str, BTreeSet<i64>>,
    /// Topic policies, by user, channel and topic.
    policies: BTreeMap<(i64, i64, &'static str), i64>,
    muted_channels: BTreeSet<(i64, i64)>,
    rng: Rng,
}

impl NarrowModel {
    async fn new(seed: u64) -> Self {
        let server = TestServer::start().await;
        let mut users = vec![server.owner().await];
        for name in ["ada", "bob", "eve"] {
            users.push(server.member(name).await);
        }
        users.push(server.guest("gus").await);
        let ids: Vec<i64> = users.iter().map(|user| user.user_id).collect();
        // Eve, a member, is in none; Gus, a guest, is in two.
        let makes = [
            ("lunch", json!({"principals": ids[..3]}), true),
            ("talk", json!({"principals": [ids[0], ids[2], ids[4]]}), true),
            ("open", json!({"principals": ids[..2]}), true),
            ("board", json!({"principals": ids[..3], "invite_only": true}), false),
            (
                "club",
                json!({"principals": [ids[0], ids[1], ids[4]], "invite_only": true,
                    "history_public_to_subscribers": true}),
                false,
            ),
        ];
        let mut channels = Vec::new();
        for (name, more, is_public) in makes {
            subscribe(&users[0], &[name], more).await;
            channels.push((super::stream_id(&users[0], name).await, is_public, name == "open"));
        }
        server.sql("UPDATE stream SET is_web_public = 1 WHERE name = 'open'").await;
        for user in &users {
            let settings = json!({"automatically_follow_topics_policy": 4,
                "automatically_follow_topics_where_mentioned": false});
            user.patch("/settings", settings).await.ok();
            user.post("/users/me/alert_words", json!({"alert_words": ["oat"]})).await.ok();
        }
        server.sql("DELETE FROM message").await;
        let (messages, words, has, policies, muted_channels) = Default::default();
        let rng = Rng::new(seed);
        let mut model = Self { server, users, channels, messages, words, has, policies, muted_channels, rng };
        model.fill().await;
        model
    }

    async fn fill(&mut self) {
        for number in 0..MESSAGES {
            self.send().await;
            if number == MESSAGES / 2 {
                // Some users leave and others join, so that not everyone received all readable messages.
                let leaves = json!({"subscriptions": ["lunch"]});
                self.users[1].delete("/users/me/subscriptions", leaves).await.ok();
                subscribe(&self.users[0], &["board"], json!({"principals": [self.users[3].user_id]})).await;
                subscribe(&self.users[0], &["club"], json!({"principals": [self.users[2].user_id]})).await;
            }
        }
        subscribe(&self.users[1], &["lunch"], json!({})).await;
        let notices = "sender_id IN (SELECT user_id FROM user WHERE is_system_bot)";
        assert_eq!(self.server.column(&format!("SELECT count(*) FROM message WHERE {notices}")).await, ["0"]);
        for (mask, name) in [(8, "image"), (16, "attachment")] {
            for id in self.some_messages(MESSAGES / 4) {
                let set = format!("UPDATE message SET attributes = attributes | {mask} WHERE id = {id}");
                self.server.sql(&set).await;
                self.has.entry(name).or_default().insert(id);
            }
        }
        self.move_some().await;
        for user in self.users.clone() {
            self.flag_some(&user).await;
        }
    }

    async fn send(&mut self) {
        let sender = self.users[self.rng.below(self.users.len())].clone();
        let mut content = String::new();
        let mut words = BTreeSet::new();
        for _ in 0..=self.rng.below(2) {
            let word = WORDS[self.rng.below(WORDS.len())];
            words.insert(word);
            content = content + word + " ";
        }
        content += ["", "", "@**Ada**", "@**all**", "@**Bob** @**topic**"][self.rng.below(5)];
        let has_link = self.rng.below(4) == 0;
        if has_link {
            content += " [x](https://example.com)";
        }
        let message = if self.rng.below(3) == 0 {
            let to: BTreeSet<i64> =
                (0..=self.rng.below(3)).map(|_| self.users[self.rng.below(5)].user_id).collect();
            json!({"type": "direct", "to": to, "content": content, "read_by_sender": self.rng.below(2) == 0})
        } else {
            let channel = self.channels[self.rng.below(self.channels.len())].0;
            let topic = TOPICS[self.rng.below(TOPICS.len())];
            json!({"type": "channel", "to": channel, "topic": topic, "content": content})
        };
        let answer = sender.post("/messages", message).await;
        // Some users may not send to some channels.
        let Some(id) = answer["id"].as_i64() else { return };
        self.messages.push(id);
        self.words.insert(id, words);
        if has_link {
            self.has.entry("link").or_default().insert(id);
        }
    }

    /// Many short subscriptions to a channel without messages, so that the estimate of received messages is high.
    async fn add_stays(&self) {
        subscribe(&self.users[0], &["silence"], json!({"principals": [self.users[1].user_id]})).await;
        self.server
            .sql(
                "DELETE FROM message WHERE recipient_id IN (
                     SELECT recipient_id FROM recipient JOIN stream USING (stream_id) WHERE name = 'silence'
                 )",
            )
            .await;
        let stays =
            "WITH RECURSIVE number (value) AS (SELECT 1 UNION ALL SELECT value + 2 FROM number LIMIT 100)
            INSERT INTO subscription_span (user_id, stream_id, from_message_id, until_message_id)
                SELECT user_id, stream_id, value, value + 1 FROM number, user, stream WHERE name = 'silence'";
        self.server.sql(stays).await;
    }

    fn some_messages(&mut self, count: usize) -> Vec<i64> {
        let messages = self.messages.clone();
        (0..count).filter_map(|_| self.rng.pick(&messages)).collect()
    }

    async fn move_some(&mut self) {
        for id in self.some_messages(25) {
            let mut mv =
                json!({"topic": TOPICS[self.rng.below(3)], "send_notification_to_new_thread": false});
            if self.rng.below(2) == 0 {
                mv["stream_id"] = self.channels[self.rng.below(self.channels.len())].0.into();
            }
            // Direct messages stay, and some go where they are already.
            self.users[0].patch(&format!("/messages/{id}"), mv).await;
        }
    }

    async fn flag_some(&mut self, user: &Client) {
        for (count, flag) in [(MESSAGES / 2, "read"), (MESSAGES / 6, "starred")] {
            let wanted = self.some_messages(count);
            let seen = ids(&user.get("/messages", json!({"message_ids": wanted})).await.ok());
            let change = json!({"messages": seen, "op": "add", "flag": flag});
            user.post("/messages/flags", change).await.ok();
        }
        for id in self.some_messages(15) {
            // Only channels that they see, and once.
            user.post(&format!("/messages/{id}/reactions"), json!({"emoji_name": "tada"})).await;
        }
        for _ in 0..6 {
            let (channel, topic) = (self.channels[self.rng.below(5)].0, TOPICS[self.rng.below(4)]);
            let policy = 1 + i64::try_from(self.rng.below(3)).unwrap();
            let choice = json!({"stream_id": channel, "topic": topic, "visibility_policy": policy});
            if user.post("/user_topics", choice).await.status == 200 {
                self.policies.insert((user.user_id, channel, topic), policy);
            }
        }
        let channel = self.channels[self.rng.below(5)].0;
        let mute = json!([{"stream_id": channel, "property": "is_muted", "value": true}]);
        let parameters = json!({"subscription_data": mute});
        if user.post("/users/me/subscriptions/properties", parameters).await.status == 200 {
            self.muted_channels.insert((user.user_id, channel));
        }
    }

    /// A random term in a random spelling.
    fn term(&mut self) -> Term {
        let user = self.users[self.rng.below(5)].user_id;
        let channel = self.channels[self.rng.below(5)].0;
        let topic = TOPICS[self.rng.below(4)];
        let word = WORDS[self.rng.below(WORDS.len())];
        let id = self.some_messages(1)[0];
        let people: BTreeSet<i64> =
            (0..=self.rng.below(2)).map(|_| self.users[self.rng.below(5)].user_id).collect();
        let name = ["link", "image", "attachment"][self.rng.below(3)];
        let (operator, operand, test) = match self.rng.below(29) {
            0..=2 => ("channel", json!(channel), Test::Channel(channel)),
            3 => ("channels", json!("public"), Test::PublicChannels),
            4 => ("channels", json!("web-public"), Test::WebPublicChannels),
            5..=6 => ("topic", json!(topic), Test::Topic(topic)),
            7 => ("dm", json!(people), Test::Direct(people)),
            8 => ("dm-including", json!(user), Test::DirectIncluding(user)),
            9 => ("group-pm-with", json!(user), Test::GroupDirect(user)),
            10..=11 => ("sender", json!(user), Test::Sender(user)),
            12 => ("is", json!("dm"), Test::AnyDirect),
            13 => ("is", json!("starred"), Test::Flag("starred")),
            14..=15 => ("is", json!("unread"), Test::Unread),
            16 => ("is", json!("mentioned"), Test::Mentioned),
            17 => ("is", json!("alerted"), Test::Flag("has_alert_word")),
            18 => ("is", json!("resolved"), Test::Resolved),
            19 => ("is", json!("followed"), Test::Policy(3)),
            20..=21 => ("is", json!("muted"), Test::Muted),
            22 => ("in", json!("home"), Test::Home),
            23..=24 => ("has", json!(name), Test::Has(name)),
            25 => ("has", json!("reaction"), Test::Reaction),
            26..=27 => ("search", json!(word), Test::Word(word)),
            _ => match self.rng.below(3) {
                0 => ("id", json!(id), Test::Id(id)),
                1 => ("near", json!(id), Test::Everything),
                _ => ("in", json!("all"), Test::Everything),
            },
        };
        Term { operator, operand, negated: self.rng.below(3) == 0, test }
    }

    fn policy(&self, viewer: i64, message: &Value) -> Option<i64> {
        let topic = message["subject"].as_str().unwrap();
        let known = TOPICS.into_iter().find(|known| *known == topic);
        let topic = known.unwrap_or_else(|| panic!("a topic of ours: {message}"));
        self.policies.get(&(viewer, message["stream_id"].as_i64()?, topic)).copied()
    }

    fn is_muted(&self, viewer: i64, message: &Value, with_channels: bool) -> bool {
        let Some(stream_id) = message["stream_id"].as_i64() else { return false };
        match self.policy(viewer, message) {
            Some(policy) => policy == 1,
            None => with_channels && self.muted_channels.contains(&(viewer, stream_id)),
        }
    }

    fn holds(&self, test: &Test, viewer: i64, message: &Value) -> bool {
        let people: BTreeSet<i64> = match message["display_recipient"].as_array() {
            Some(people) => people.iter().map(|person| person["id"].as_i64().unwrap()).collect(),
            None => BTreeSet::new(),
        };
        let id = message["id"].as_i64().unwrap();
        let flag = |name: &str| message["flags"].as_array().unwrap().iter().any(|flag| flag == name);
        let channel = self.channels.iter().find(|(stream_id, ..)| message["stream_id"] == *stream_id);
        match test {
            Test::Channel(stream_id) => message["stream_id"] == *stream_id,
            Test::PublicChannels => channel.is_some_and(|channel| channel.1),
            Test::WebPublicChannels => channel.is_some_and(|channel| channel.2),
            Test::Topic(topic) => channel.is_some() && message["subject"] == *topic,
            Test::Direct(wanted) => {
                let all: BTreeSet<i64> = wanted.iter().copied().chain([viewer]).collect();
                channel.is_none() && people == all
            }
            Test::DirectIncluding(user) => people.contains(user),
            Test::GroupDirect(user) => people.len() > 2 && people.contains(user),
            Test::Sender(user) => message["sender_id"] == *user,
            Test::AnyDirect => channel.is_none(),
            Test::Flag(name) => flag(name),
            Test::Unread => !flag("read"),
            Test::Mentioned => flag("mentioned") || flag("wildcard_mentioned"),
            Test::Resolved => message["subject"].as_str().unwrap().starts_with("✔ "),
            Test::Policy(policy) => self.policy(viewer, message) == Some(*policy),
            Test::Muted => self.is_muted(viewer, message, true),
            Test::Home => !self.is_muted(viewer, message, true),
            Test::Has(name) => self.has.get(name).is_some_and(|having| having.contains(&id)),
            Test::Reaction => message["reactions"] != json!([]),
            Test::Word(word) => self.words[&id].contains(word),
            Test::Id(wanted) => id == *wanted,
            Test::Everything => true,
        }
    }
}

/// Messages that a viewer can read, and those that they received.
struct Viewer {
    client: Client,
    is_guest: bool,
    /// By id.
    readable: BTreeMap<i64, Value>,
    received: BTreeSet<i64>,
    reads_history_of: BTreeSet<i64>,
    /// The channels that are as unknown to the viewer as ids that no channel has.
    hidden: BTreeSet<i64>,
}

impl Viewer {
    async fn new(model: &NarrowModel, place: usize) -> Self {
        let client = model.users[place].clone();
        let wanted = json!({"message_ids": model.messages, "allow_empty_topic_name": true});
        let all = client.get("/messages", wanted).await.ok();
        let all = all["messages"].as_array().unwrap().clone();
        let received = json!({"anchor": "newest", "num_before": 5000, "num_after": 0});
        let received = ids(&client.get("/messages", received).await.ok()).into_iter().collect();
        let is_guest = place == 4;
        // Among the private channels, "board" protects its history. Subscribers of "club" read all of it.
        let subscribed = client.get("/users/me/subscriptions", ()).await.ok()["subscriptions"].clone();
        let own: BTreeSet<i64> = subscribed
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["name"] != "board")
            .map(|one| one["stream_id"].as_i64().unwrap())
            .collect();
        let public = model
            .channels
            .iter()
            .filter(|(_, is_public, is_web_public)| *is_web_public || (*is_public && !is_guest));
        let reads_history_of = public.map(|channel| channel.0).chain(own).collect();
        let readable = all.into_iter().map(|one| (one["id"].as_i64().unwrap(), one)).collect();
        let mut hidden = BTreeSet::new();
        for (stream_id, ..) in &model.channels {
            if client.get(&format!("/streams/{stream_id}"), ()).await.status != 200 {
                hidden.insert(*stream_id);
            }
        }
        Self { client, is_guest, readable, received, reads_history_of, hidden }
    }

    /// The reason for which a narrow is refused: that of the first term which is wrong, after those before it.
    fn refusal(&self, terms: &[Term]) -> Option<String> {
        terms.iter().enumerate().find_map(|(place, term)| match term.test {
            Test::Channel(stream_id) if self.hidden.contains(&stream_id) => {
                Some(format!("unknown channel {stream_id}"))
            }
            _ if is_contradiction(&terms[..=place]) => {
                Some("No message can be both a channel message and direct message".to_owned())
            }
            _ => None,
        })
    }

    /// True if messages that the viewer did not receive are included.
    fn shares_history(&self, terms: &[Term]) -> bool {
        let is_personal = |term: &Term| term.operator == "is" && !matches!(term.test, Test::Resolved);
        let opens = |term: &Term| match &term.test {
            _ if term.negated => false,
            Test::Channel(stream_id) => self.reads_history_of.contains(stream_id),
            Test::PublicChannels => !self.is_guest,
            _ => false,
        };
        !terms.iter().any(is_personal) && terms.iter().any(opens)
    }

    /// The messages that a plain filter lets through, ascending.
    fn filtered(&self, model: &NarrowModel, terms: &[Term], of: impl Fn(i64) -> bool) -> Vec<i64> {
        let viewer = self.client.user_id;
        let passes = |message: &Value| {
            terms.iter().all(|term| match term.test {
                Test::Everything => true,
                _ => model.holds(&term.test, viewer, message) != term.negated,
            })
        };
        let found = self.readable.iter().filter(|(id, message)| of(**id) && passes(message));
        found.map(|(id, _)| *id).collect()
    }
}

fn narrow_of(terms: &[Term]) -> Value {
    let one =
        |term: &Term| json!({"operator": term.operator, "operand": term.operand, "negated": term.negated});
    terms.iter().map(one).collect()
}

/// True if terms combine channels and direct messages, which the interface refuses.
fn is_contradiction(terms: &[Term]) -> bool {
    let (mut channel, mut direct) = (false, false);
    for term in terms {
        match (&term.test, term.negated) {
            (Test::Channel(_) | Test::PublicChannels | Test::WebPublicChannels | Test::Topic(_), false)
            | (Test::AnyDirect, true) => channel = true,
            (Test::AnyDirect | Test::Direct(_) | Test::DirectIncluding(_) | Test::GroupDirect(_), false) => {
                direct = true;
            }
            _ => {}
        }
    }
    channel && direct
}

async fn run(seed: u64, has_many_stays: bool) {
    let mut model = NarrowModel::new(seed).await;
    if has_many_stays {
        model.add_stays().await;
    }
    let mut found_something = 0;
    for place in [1, 3, 4] {
        let viewer = Viewer::new(&model, place).await;
        for _ in 0..NARROWS {
            let terms: Vec<Term> = (0..=model.rng.below(4)).map(|_| model.term()).collect();
            let narrow = narrow_of(&terms);
            if let Some(reason) = viewer.refusal(&terms) {
                let request = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": narrow});
                let msg = format!("Invalid narrow operator: {reason}");
                viewer.client.get("/messages", request).await.error(400, "BAD_NARROW", &msg);
                continue;
            }
            let is_shared = viewer.shares_history(&terms);
            // A star stays on a message that went where its owner receives nothing.
            let asks_stars =
                terms.iter().any(|term| matches!(term.test, Test::Flag("starred")) && !term.negated);
            let is_own = |id: i64| asks_stars || viewer.received.contains(&id);
            let expected = viewer.filtered(&model, &terms, |id| is_shared || is_own(id));
            found_something += usize::from(!expected.is_empty());
            compare_page(&mut model, &viewer, &terms, &narrow, &expected).await;
            compare_first_unread(&model, &viewer, &terms, &narrow, &expected).await;
            // Messages selected by id are searched among all readable ones, received or not.
            let named = json!({"message_ids": model.messages, "narrow": narrow});
            let found = ids(&viewer.client.get("/messages", named).await.ok());
            assert_eq!(found, viewer.filtered(&model, &terms, |_| true), "by id: {narrow}");
            let asked = json!({"msg_ids": model.messages, "narrow": narrow});
            let matches = viewer.client.get("/messages/matches_narrow", asked).await.ok();
            let mut found: Vec<i64> =
                matches["messages"].as_object().unwrap().keys().map(|id| id.parse().unwrap()).collect();
            found.sort_unstable();
            assert_eq!(found, viewer.filtered(&model, &terms, is_own), "matches_narrow: {narrow}");
        }
    }
    assert!(found_something > NARROWS, "most narrows find something: {found_something}");
}

/// A page around an anchor by chance.
async fn compare_page(
    model: &mut NarrowModel,
    viewer: &Viewer,
    terms: &[Term],
    narrow: &Value,
    expected: &[i64],
) {
    let (before, after) = (model.rng.below(12), model.rng.below(12));
    let anchor = match model.rng.below(4) {
        0 => 0,
        1 => NEWEST,
        _ => model.some_messages(1)[0],
    };
    let request = json!({"anchor": anchor, "num_before": before, "num_after": after, "narrow": narrow});
    let answer = viewer.client.get("/messages", request).await.ok();
    let after = if anchor == NEWEST { 0 } else { after };
    let older: Vec<i64> = expected.iter().copied().filter(|id| *id < anchor).collect();
    let newer: Vec<i64> = expected.iter().copied().filter(|id| *id > anchor).collect();
    let mut page = older[older.len().saturating_sub(before)..].to_vec();
    page.extend(expected.iter().filter(|id| **id == anchor));
    page.extend(newer.iter().take(after));
    let what =
        format!("{} from {anchor}, {before} before and {after} after: {terms:?}", viewer.client.full_name);
    assert_eq!(ids(&answer), page, "{what}");
    assert_eq!(answer["found_anchor"], expected.contains(&anchor), "{what}");
    assert_eq!(answer["found_oldest"], anchor == 0 || older.len() < before, "{what}");
    assert_eq!(answer["found_newest"], anchor == NEWEST || newer.len() < after, "{what}");
}

/// The oldest unread message that is not muted; a channel that is named is not muted as a whole.
async fn compare_first_unread(
    model: &NarrowModel,
    viewer: &Viewer,
    terms: &[Term],
    narrow: &Value,
    expected: &[i64],
) {
    let names_channel = terms.iter().any(|term| matches!(term.test, Test::Channel(_)));
    let first = expected.iter().find(|id| {
        let message = &viewer.readable[*id];
        model.holds(&Test::Unread, viewer.client.user_id, message)
            && !model.is_muted(viewer.client.user_id, message, !names_channel)
    });
    let request = json!({"anchor": "first_unread", "num_before": 0, "num_after": 0, "narrow": narrow});
    let answer = viewer.client.get("/messages", request).await.ok();
    assert_eq!(answer["anchor"], first.copied().unwrap_or(NEWEST), "first unread: {narrow}");
}

// conformance: fetch-1, fetch-6, fetch-7, fetch-17, fetch-48, fetch-56, fetch-62, fetch-66, fetch-67
// conformance: fetch-79, fetch-95
#[tokio::test]
async fn narrows_equal_a_plain_filter() {
    run(0x5eed_0003, false).await;
}

// conformance: fetch-48
#[tokio::test]
async fn narrows_equal_a_plain_filter_on_other_messages() {
    run(0x5eed_0004, false).await;
}

/// Received messages are scanned only for users with few of them.
#[tokio::test]
async fn narrows_equal_a_plain_filter_with_many_received_messages() {
    run(0x5eed_0005, true).await;
}
