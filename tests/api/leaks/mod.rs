//! Randomized access-control test: a simulation against a model of the rules. Thousands of random steps change
//! messages, channels, accounts and groups while time passes. After each step the events of all users are checked, and
//! from time to time all readable data. All names, topics and texts are unique words, so a word in an answer identifies
//! its source. A user may know only what the rules allow at that moment or the moment before, must receive events of
//! everything they may know, and must be able to read everything they may.
//!
//! - [`rules`]: the rules, as plain sets;
//! - [`messages`] and [`people`]: the steps;
//! - [`listen`]: checks of events;
//! - [`looks`]: checks of readable data.

mod listen;
mod looks;
mod messages;
mod people;
mod rules;

use crate::harness::access::{Person, Privacy};
use crate::harness::{Client, Registered, Rng, START, TestServer, budget, seed};
use listen::{Expected, Listeners};
use rules::{Account, Rules, words};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Steps of a run, before the budget.
const STEPS: usize = 300;

/// Steps between two comparisons of everything that can be read.
const COMPARE_EVERY: usize = 100;

struct Simulation {
    server: TestServer,
    /// The first is the owner, who is in every channel and performs steps that need permission. The last is a bot.
    people: Vec<Client>,
    /// The queues of each, while the account is active.
    listeners: Vec<Option<Listeners>>,
    rules: Rules,
    /// The named groups.
    groups: Vec<i64>,
    files: Vec<File>,
    /// Words that users have received in events: followed topics keep their names.
    read: Vec<BTreeSet<String>>,
    /// Events that the current step must emit.
    expected: Vec<Expected>,
    /// Clients whose state is compared after many steps.
    registered: Vec<(Person, Vec<Registered>)>,
    /// The `GET` routes that have answered.
    answered: BTreeSet<String>,
    rng: Rng,
    done: Vec<String>,
}

/// An upload.
struct File {
    url: String,
    owner: Person,
    /// The message that links to it.
    message: Option<i64>,
}

impl Simulation {
    async fn new(seed: u64) -> Self {
        let server = TestServer::start().await;
        let owner = server.owner().await;
        let ada = server.member("ada").await;
        let robot = server.bot("robot", &ada).await;
        let people = vec![
            owner,
            server.administrator("adam").await,
            ada,
            server.member("bob").await,
            server.member("cyd").await,
            server.guest("gus").await,
            server.guest("gil").await,
            robot,
        ];
        let codes = [100, 200, 400, 400, 400, 600, 600, 400];
        let limits =
            json!({"message_content_edit_limit_seconds": "\"unlimited\"", "enable_spectator_access": true});
        people[0].patch("/realm", limits).await.ok();
        for client in &people[..people.len() - 1] {
            // A user who follows a topic keeps its name, even after losing the messages.
            let settings = json!({
                "automatically_follow_topics_policy": 4,
                "automatically_unmute_topics_in_muted_streams_policy": 4,
                "automatically_follow_topics_where_mentioned": false,
            });
            client.patch("/settings", settings).await.ok();
            let presence = json!({"status": "active", "last_update_id": -1});
            client.post("/users/me/presence", presence).await.ok();
        }
        let mut rules = Rules { now: START, ..Rules::default() };
        for (person, role) in codes.into_iter().enumerate() {
            let owner = (person == people.len() - 1).then_some(2);
            rules.accounts.push(Account { role, is_active: true, joined: START, owner });
        }
        // Each system group includes the one before it, from the owners on.
        for group in 3..=8 {
            rules.groups.subgroups.insert(group, BTreeSet::from([group - 1]));
        }
        let mut groups = Vec::new();
        for name in ["a", "b", "c"] {
            let parameters = json!({"name": name, "description": "", "members": []});
            let made = people[0].post("/user_groups/create", parameters).await.ok();
            let group = made["group_id"].as_i64().unwrap();
            rules.groups.members.insert(group, BTreeSet::new());
            rules.groups.subgroups.insert(group, BTreeSet::new());
            groups.push(group);
        }
        let count = people.len();
        let mut simulation = Self {
            server,
            people,
            listeners: Vec::new(),
            rules,
            groups,
            files: Vec::new(),
            read: vec![BTreeSet::new(); count],
            expected: Vec::new(),
            registered: Vec::new(),
            answered: BTreeSet::new(),
            rng: Rng::new(seed),
            done: Vec::new(),
        };
        for privacy in [Privacy::Public, Privacy::WebPublic, Privacy::Shared, Privacy::Protected] {
            for _ in 0..2 {
                simulation.create_channel(privacy).await;
            }
        }
        simulation.listeners.resize_with(count, || None);
        for person in 0..count {
            simulation.listen(person).await;
        }
        simulation
    }

    async fn step(&mut self) {
        match self.rng.below(47) {
            0..=7 => self.send().await,
            8..=9 => self.send_direct().await,
            10..=11 => self.edit().await,
            12 => self.delete().await,
            13..=15 => self.relocate().await,
            16..=18 => self.subscribe().await,
            19..=21 => self.unsubscribe().await,
            22..=23 => self.change_privacy().await,
            24 => self.rename().await,
            25 => self.describe().await,
            26 => self.archive().await,
            27..=29 => self.change_permission().await,
            30..=31 => self.react().await,
            32 => self.type_something().await,
            33 => self.keep().await,
            34 => self.star().await,
            35 => self.set_topic_policy().await,
            36..=38 => self.change_role().await,
            39..=40 => self.change_account().await,
            41..=43 => self.change_group().await,
            44 => self.change_waiting_period().await,
            45 => self.change_retention().await,
            _ => self.pass_time().await,
        }
    }

    /// A random active user.
    fn person(&mut self) -> Person {
        let active: Vec<Person> = self.rules.active().map(|(person, _)| person).collect();
        self.rng.pick(&active).unwrap()
    }

    fn place_of(&self, stream_id: i64) -> Option<usize> {
        self.rules.channels.iter().position(|channel| channel.stream_id == stream_id)
    }

    #[track_caller]
    fn check_words(&self, person: Person, before: &Rules, answer: &Value) {
        for word in words(&answer.to_string()) {
            let allowed = before.may_know(person, &word) || self.rules.may_know(person, &word);
            let secret = self.rules.secrets.get(&word);
            self.assert_same(allowed, true, &format!("{person} read {word} ({secret:?}): {answer}"));
        }
    }

    #[track_caller]
    fn assert_same<T: PartialEq + std::fmt::Debug>(&self, found: T, expected: T, what: &str) {
        if found != expected {
            let last = self.done.len().saturating_sub(60);
            let done = self.done[last..].join("\n");
            panic!("{what}\nfound    {found:?}\nexpected {expected:?}\nafter:\n{done}");
        }
    }
}

/// The numbers under these names, anywhere in a value.
fn ids_in(value: &Value, names: &[&str]) -> Vec<i64> {
    match value {
        Value::Array(items) => items.iter().flat_map(|item| ids_in(item, names)).collect(),
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, value)| match value {
                Value::Number(number) if names.contains(&name.as_str()) => {
                    number.as_i64().into_iter().collect()
                }
                Value::Array(items) if names.contains(&name.as_str()) => {
                    items.iter().filter_map(Value::as_i64).collect()
                }
                other => ids_in(other, names),
            })
            .collect(),
        _ => Vec::new(),
    }
}

async fn run(seed: u64) {
    let mut simulation = Simulation::new(seed).await;
    for step in 1..=STEPS * budget() {
        let before = simulation.rules.clone();
        simulation.step().await;
        simulation.look_at_events(&before).await;
        if step % COMPARE_EVERY == 0 {
            simulation.look_at_everything().await;
        }
    }
    simulation.every_route_has_answered();
}

// conformance: fetch-46
#[tokio::test]
async fn visibility_follows_the_rules() {
    run(0x5eed_0011).await;
}

/// The order that `TEAMCHAT_SEED` gives; otherwise one that has found a mistake.
#[tokio::test]
async fn leaks_with_a_random_seed() {
    run(seed(0xf3b6_b124_0610_9a1b)).await;
}
