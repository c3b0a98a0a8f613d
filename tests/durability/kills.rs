//! `kill -9` under load, repeatedly: acknowledged messages are neither lost nor duplicated, and queues continue without
//! a new registration.
//!
//! `TEAMCHAT_SEED` sets the choices (not the timing), and `TEAMCHAT_TEST_BUDGET` multiplies the rounds.

use crate::budget::{budget, seed};
use crate::program::{Person, Server};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Number of kills, before the budget.
const ROUNDS: usize = 5;
const WRITERS: usize = 4;
const READERS: usize = 3;

/// Acknowledged messages in a round, at most, before the server is killed.
const MESSAGES_IN_ROUND: u32 = 60;

/// Sends messages, each with a content of its own, and never sends one again.
struct Writer {
    person: Person,
    name: usize,
    /// Messages that were sent, acknowledged or not.
    tried: BTreeSet<String>,
    /// Acknowledged messages: content by id.
    acknowledged: BTreeMap<i64, String>,
}

impl Writer {
    /// Sends until the server is killed; each answer adds a permit.
    async fn write(mut self, origin: String, answered: Arc<Semaphore>) -> Actor {
        loop {
            let content = format!("{} {}", self.name, self.tried.len());
            self.tried.insert(content.clone());
            let message = json!({"type": "channel", "to": "load", "topic": "test", "content": content});
            let Some(answer) = self.person.ask(&origin, "POST", "/messages", &message).await else {
                return Actor::Writer(self);
            };
            let twice = self.acknowledged.insert(answer["id"].as_i64().unwrap(), content);
            assert_eq!(twice, None, "an id is given out once");
            answered.add_permits(1);
        }
    }
}

/// Reads one queue, which it registered once.
struct Reader {
    person: Person,
    queue_id: String,
    last_event_id: i64,
    /// Loses half of the answers before it has looked at them, as a phone in a tunnel.
    forgetful: bool,
    random: Box<StdRng>,
    /// Contents by id, of the events that it looked at.
    received: Vec<(i64, String)>,
}

impl Reader {
    async fn register(person: Person, origin: &str, forgetful: bool, random: StdRng) -> Self {
        let parameters = json!({"event_types": ["message"], "fetch_event_types": []});
        let answer = person.ask(origin, "POST", "/register", &parameters).await.unwrap();
        // Once a later change is acknowledged, the queue is on the disk.
        person.ask(origin, "PUT", "/bot_storage", &json!({"storage": {"reads": "yes"}})).await.unwrap();
        let queue_id = answer["queue_id"].as_str().unwrap().to_owned();
        let last_event_id = answer["last_event_id"].as_i64().unwrap();
        let random = Box::new(random);
        Self { person, queue_id, last_event_id, forgetful, random, received: Vec::new() }
    }

    /// Polls for events until the server is killed.
    async fn read(mut self, origin: String) -> Actor {
        while self.poll(&origin, false).await.is_some() {}
        Actor::Reader(self)
    }

    /// Polls for events. Returns their number.
    async fn poll(&mut self, origin: &str, dont_block: bool) -> Option<usize> {
        let parameters =
            json!({"queue_id": self.queue_id, "last_event_id": self.last_event_id, "dont_block": dont_block});
        let answer = self.person.ask(origin, "GET", "/events", &parameters).await?;
        let events = answer["events"].as_array().unwrap();
        if self.forgetful && !dont_block && self.random.random_bool(0.5) {
            return Some(0);
        }
        for event in events {
            let id = event["id"].as_i64().unwrap();
            assert!(id > self.last_event_id, "event {id} comes after {}", self.last_event_id);
            self.last_event_id = id;
            if event["type"] == "message" {
                let message = &event["message"];
                let content = message["content"].as_str().unwrap().to_owned();
                self.received.push((message["id"].as_i64().unwrap(), content));
            }
        }
        Some(events.len())
    }
}

enum Actor {
    Writer(Writer),
    Reader(Reader),
}

/// One round: all clients work, and the server is killed after a number of answers.
async fn round(db: &Path, actors: Vec<Actor>, answers: u32) -> Vec<Actor> {
    let server = Server::start(db);
    let answered = Arc::new(Semaphore::new(0));
    let mut working = JoinSet::new();
    for actor in actors {
        let origin = server.origin.clone();
        match actor {
            Actor::Writer(writer) => working.spawn(writer.write(origin, Arc::clone(&answered))),
            Actor::Reader(reader) => working.spawn(reader.read(origin)),
        };
    }
    tokio::select! {
        enough = answered.acquire_many(answers) => enough.unwrap().forget(),
        Some(ended) = working.join_next() => {
            ended.unwrap();
            panic!("nobody stops while the server runs");
        }
    }
    server.kill();
    let mut actors = Vec::new();
    while let Some(actor) = working.join_next().await {
        actors.push(actor.unwrap());
    }
    actors
}

/// The people of the test, and the channel they are in.
async fn prepare(db: &Path, random: &mut StdRng) -> (Person, Vec<Actor>) {
    let owner = Person::create(db, "owner", "owner");
    let mut people: Vec<Person> =
        (0..WRITERS + READERS).map(|number| Person::create(db, &format!("user{number}"), "member")).collect();
    let server = Server::start(db);
    let ids: Vec<i64> = people.iter().map(|person| person.user_id).chain([owner.user_id]).collect();
    let channel = json!({"subscriptions": [{"name": "load"}], "principals": ids});
    owner.ask(&server.origin, "POST", "/users/me/subscriptions", &channel).await.unwrap();
    let mut actors = Vec::new();
    for (number, person) in people.drain(WRITERS..).enumerate() {
        let random = StdRng::seed_from_u64(random.random());
        let reader = Reader::register(person, &server.origin, number % 2 == 1, random).await;
        actors.push(Actor::Reader(reader));
    }
    for (name, person) in people.into_iter().enumerate() {
        let (tried, acknowledged) = Default::default();
        actors.push(Actor::Writer(Writer { person, name, tried, acknowledged }));
    }
    server.kill();
    (owner, actors)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_when_the_server_is_killed() {
    let rounds = ROUNDS * budget();
    let mut random = StdRng::seed_from_u64(seed(0x5eed_0031));
    let folder = tempfile::tempdir().unwrap();
    let db: PathBuf = folder.path().join("chat.sqlite");
    let (owner, mut actors) = prepare(&db, &mut random).await;
    // A queue that is read only at the end.
    let server = Server::start(&db);
    let mut sleeper =
        Reader::register(owner.clone(), &server.origin, false, StdRng::seed_from_u64(random.random())).await;
    server.kill();

    for _ in 0..rounds {
        actors = round(&db, actors, random.random_range(0..MESSAGES_IN_ROUND)).await;
    }

    let server = Server::start(&db);
    let fetch = json!({
        "anchor": "newest",
        "num_before": 5000,
        "num_after": 0,
        "apply_markdown": false,
        "narrow": [{"operator": "channel", "operand": "load"}, {"operator": "topic", "operand": "test"}],
    });
    let answer = owner.ask(&server.origin, "GET", "/messages", &fetch).await.unwrap();
    assert_eq!(answer["found_oldest"], true, "all messages are in one answer");
    let stored: Vec<(i64, String)> = answer["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| (message["id"].as_i64().unwrap(), message["content"].as_str().unwrap().to_owned()))
        .collect();
    let by_id: BTreeMap<i64, &str> = stored.iter().map(|(id, content)| (*id, content.as_str())).collect();
    let contents: BTreeSet<&str> = by_id.values().copied().collect();
    assert_eq!((by_id.len(), contents.len()), (stored.len(), stored.len()), "nothing is doubled");

    let mut tried = BTreeSet::new();
    let mut acknowledged = 0;
    while sleeper.poll(&server.origin, true).await != Some(0) {}
    assert_eq!(sleeper.received, stored, "the queue that slept receives everything");
    for actor in actors {
        match actor {
            Actor::Writer(writer) => {
                for (id, content) in &writer.acknowledged {
                    assert_eq!(by_id.get(id), Some(&content.as_str()), "what was acknowledged is there");
                }
                acknowledged += writer.acknowledged.len();
                tried.extend(writer.tried);
            }
            Actor::Reader(mut reader) => {
                while reader.poll(&server.origin, true).await != Some(0) {}
                assert_eq!(reader.received, stored, "each queue receives each message once, in order");
            }
        }
    }
    println!("{acknowledged} messages were acknowledged in {rounds} rounds");
    assert!(acknowledged > 0, "there was load");
    assert!(contents.iter().all(|content| tried.contains(*content)), "nothing is made up");
    server.kill();
}

/// The memory of a process, in KiB.
#[cfg(target_os = "linux")]
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Tries a wrong password, again if the server is too busy.
#[cfg(target_os = "linux")]
async fn fail_to_log_in(origin: String, username: String) {
    let form = [("username", username.as_str()), ("password", "wrong horse")];
    let request = reqwest::Client::new().post(format!("{origin}/api/v1/fetch_api_key")).form(&form);
    loop {
        match request.try_clone().unwrap().send().await.unwrap().status().as_u16() {
            401 => return,
            status => assert_eq!(status, 503),
        }
    }
}

/// A hash takes 19 MiB, which are released after each login: as many logins as before need no more memory.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn logins_leave_no_memory() {
    const ALLOWED: u64 = 16 * 1024;
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("chat.sqlite"));
    let log_in = |name: &str, number: u32| {
        fail_to_log_in(server.origin.clone(), format!("{name}{number}@example.com"))
    };
    let mut resident_after = Vec::new();
    for name in ["nobody", "somebody"] {
        for number in 0..30 {
            log_in(name, number).await;
        }
        (30..46).map(|number| log_in(name, number)).collect::<JoinSet<_>>().join_all().await;
        // A hash whose login was given up runs to its end, before those of later logins.
        for number in 46..50 {
            log_in(name, number).await;
        }
        resident_after.push(resident(server.child.id()));
    }
    let [before, after] = resident_after[..] else { unreachable!() };
    assert!(after < before + ALLOWED, "{before} KiB grew to {after} KiB");
}
