//! Tests of events on their way from the writer to a queue, on a file.

mod log;
mod memory;
mod queues;

use super::event::Members;
use super::{
    Audience, Delivery, Event, EventSink, Form, Hub, NewQueue, Poller, QueueError, QueueId, Receiver,
    Registration, Registry, Routed, broadcast, delete_queue, insert_queue, register_events, run_maintenance,
    uniform_event,
};
use crate::pool::Pools;
use crate::store::{Database, Readers, Snapshot, StoreError, Tx, WatchedTables, Writer};
use crate::types::{Clock, EventId, UserId};
use futures_util::FutureExt;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;
use tokio::task::JoinSet;

/// An event without variants.
#[derive(Serialize, Deserialize)]
struct Ping {
    number: i64,
}

uniform_event!(Ping: "ping", op "go", version 3);

/// For all but some users, in two forms, with a member of each user's own.
#[derive(Serialize, Deserialize)]
struct Note {
    text: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct NoteRouting {
    hidden_from: Vec<UserId>,
    text_in_full: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NoteVariant {
    Short,
    Full,
}

/// Number of serialized variants of notes.
static NOTES_WRITTEN: AtomicUsize = AtomicUsize::new(0);

impl Event for Note {
    const TYPE: &'static str = "note";
    const VERSION: u32 = 1;
    type Routing = NoteRouting;
    type Variant = NoteVariant;

    fn deliver(&self, routing: &NoteRouting, receiver: &Receiver<'_>) -> Option<NoteVariant> {
        if routing.hidden_from.contains(&receiver.user_id) {
            return None;
        }
        Some(if receiver.registration.apply_markdown { NoteVariant::Full } else { NoteVariant::Short })
    }

    fn form(&self, routing: &NoteRouting, variant: NoteVariant) -> serde_json::Result<Form> {
        NOTES_WRITTEN.fetch_add(1, Ordering::Relaxed);
        match variant {
            NoteVariant::Short => Form::of(self),
            NoteVariant::Full => Form::of(&Self { text: routing.text_in_full.clone() }),
        }
    }

    fn personal(&self, _routing: &NoteRouting, receiver: &Receiver<'_>, members: &mut Members<'_>) {
        members.add(&serde_json::Map::from_iter([("you".to_owned(), json!(receiver.user_id))]));
    }
}

/// Cannot be serialized.
#[derive(Deserialize)]
struct Broken {}

impl Serialize for Broken {
    fn serialize<S: Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("broken"))
    }
}

uniform_event!(Broken: "broken", version 1);

register_events! {
    static REGISTRY = [Ping, Note, Broken];
}

const ADA: UserId = UserId(1);
const BOB: UserId = UserId(2);

/// A file with its writer and its queues.
struct Bench {
    hub: Arc<Hub>,
    writer: Writer,
    thread: JoinHandle<()>,
    readers: Arc<Readers>,
    pools: Pools,
    clock: Clock,
    /// Holds the lock against other processes.
    _database: Database,
}

impl Bench {
    /// A bench on a new file, and the folder of the file.
    async fn start() -> (TempDir, Self) {
        let folder = tempfile::tempdir().unwrap();
        let bench = Self::open(&folder.path().join("chat.sqlite")).await;
        (folder, bench)
    }

    async fn open(path: &Path) -> Self {
        let database = Database::open(path).unwrap();
        let readers = Arc::new(Readers::open(&database, 2, 0));
        let clock = Clock::manual(0);
        let connection = database.connect_writer().unwrap();
        let hub = Arc::new(Hub::load(&connection, &REGISTRY, Arc::clone(&readers), 0).unwrap());
        let sink = EventSink::new(Arc::clone(&hub));
        let (writer, thread) =
            Writer::start(&database, connection, clock.clone(), WatchedTables::default(), sink).unwrap();
        let pools = Pools::new(Some(Duration::from_secs(3600)));
        let bench = Self { hub, writer, thread, readers, pools, clock, _database: database };
        for user_id in [ADA, BOB] {
            bench.execute(&format!("INSERT OR IGNORE INTO user (user_id, email, delivery_email, delivery_email_key, full_name, role, date_joined) VALUES ({user_id}, '{user_id}', '{user_id}', '{user_id}', '', 400, 0)")).await;
        }
        bench
    }

    fn close(self) {
        let Self { writer, thread, .. } = self;
        drop(writer);
        thread.join().unwrap();
    }

    async fn execute(&self, statement: &str) {
        let statement = statement.to_owned();
        let job = move |tx: &mut Tx<'_>| -> Result<(), StoreError> { Ok(tx.execute_batch(&statement)?) };
        self.writer.run(job).await.unwrap();
    }

    fn value<T: rusqlite::types::FromSql>(&self, query: &str) -> T {
        self.readers
            .read_now(|snapshot| -> Result<T, StoreError> {
                Ok(snapshot.query_row(query, [], |row| row.get(0))?)
            })
            .unwrap()
    }

    /// Adds a queue that gets everything from now on.
    async fn register(&self, user_id: UserId, registration: Registration) -> QueueId {
        let queue = NewQueue { queue_id: QueueId::random(), user_id, registration: Arc::new(registration) };
        let queue_id = queue.queue_id.clone();
        let head = self.hub.add(&queue, &[user_id], &[user_id], 0);
        self.writer.run(move |tx| insert_queue(tx, &queue, head)).await.unwrap();
        queue_id
    }

    /// Adds a queue that is not in the file.
    fn add(&self, user_id: UserId, now: i64) -> QueueId {
        let queue = NewQueue { queue_id: QueueId::random(), user_id, registration: Arc::default() };
        self.hub.add(&queue, &[user_id], &[user_id], now);
        queue.queue_id
    }

    async fn ping(&self, number: i64) {
        let job = move |tx: &mut Tx<'_>| -> Result<(), StoreError> {
            tx.emit(Ping { number }, Audience::users([ADA, BOB]));
            Ok(())
        };
        self.writer.run(job).await.unwrap();
    }

    /// Emits a note to Ada.
    async fn note(&self) {
        let job = |tx: &mut Tx<'_>| -> Result<(), StoreError> {
            let routing = NoteRouting { hidden_from: Vec::new(), text_in_full: String::new() };
            tx.emit(Routed { event: Note { text: "short".to_owned() }, routing }, Audience::user(ADA));
            Ok(())
        };
        self.writer.run(job).await.unwrap();
    }

    async fn broadcast(&self, number: i64) {
        broadcast(&self.hub, &self.writer, Ping { number }, Audience::user(ADA)).await.unwrap();
    }

    async fn poll(&self, queue_id: &QueueId, user_id: UserId, last: i64) -> Result<Vec<Value>, QueueError> {
        let poller = Poller { user_id, quota_owner: user_id, pool: &self.pools.slow_reads };
        match self.hub.poll(queue_id, poller, Some(EventId(last)), None, &self.clock).await? {
            Delivery::Events(events) => Ok(serde_json::from_str(&format!("[{events}]")).unwrap()),
            Delivery::TimedOut => Ok(Vec::new()),
        }
    }

    /// All events of a queue. It acknowledges none of them.
    async fn events(&self, queue_id: &QueueId, user_id: UserId) -> Vec<Value> {
        self.poll(queue_id, user_id, -1).await.unwrap()
    }

    async fn maintain(&self) {
        run_maintenance(&self.hub, &self.writer, &self.clock).await;
    }

    async fn expect_expired(&self, queue_id: &QueueId, user_id: UserId) {
        assert!(matches!(self.poll(queue_id, user_id, -1).await, Err(QueueError::Unknown)));
        self.maintain().await;
        let rows = format!("SELECT count(*) FROM event_queue WHERE queue_id = '{queue_id}'");
        assert_eq!(self.value::<i64>(&rows), 0, "its row is deleted");
    }
}

/// The registration of a queue for one type of events.
fn only(event_type: &str) -> Registration {
    Registration { event_types: Some(vec![event_type.to_owned()]), ..Registration::default() }
}

fn numbers(events: &[Value]) -> Vec<i64> {
    events.iter().map(|event| event["number"].as_i64().unwrap()).collect()
}

fn ids(events: &[Value]) -> Vec<i64> {
    events.iter().map(|event| event["id"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn an_event_is_the_same_live_and_from_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.sqlite");
    let bench = Bench::open(&path).await;
    let full = Registration { apply_markdown: true, ..Registration::default() };
    let (short, full) = (bench.register(ADA, Registration::default()).await, bench.register(ADA, full).await);
    let hidden = bench.register(BOB, Registration::default()).await;
    let job = |tx: &mut Tx<'_>| -> Result<(), StoreError> {
        let routing = NoteRouting { hidden_from: vec![BOB], text_in_full: "long \"text\"".to_owned() };
        tx.emit(Routed { event: Note { text: "short".to_owned() }, routing }, Audience::users([ADA, BOB]));
        Ok(())
    };
    bench.writer.run(job).await.unwrap();
    bench.ping(7).await;
    let mut live = Vec::new();
    for (queue, user_id) in [(&short, ADA), (&full, ADA), (&hidden, BOB)] {
        live.push(bench.events(queue, user_id).await);
    }
    let id = &live[0][0]["id"];
    assert_eq!(live[0][0], json!({"id": id, "type": "note", "text": "short", "you": 1}));
    assert_eq!(live[1][0], json!({"id": id, "type": "note", "text": "long \"text\"", "you": 1}));
    assert_eq!(live[2].len(), 1);
    assert_eq!(live[2][0]["type"], "ping");
    assert_eq!(live[2][0]["op"], "go");
    let routing: Option<String> = bench.value("SELECT routing FROM event WHERE type = 'ping'");
    assert_eq!(routing, None);
    let payload: String = bench.value("SELECT payload FROM event WHERE type = 'note'");
    assert_eq!(payload, r#"{"text":"short"}"#, "the routing is stored apart");
    bench.close();

    let bench = Bench::open(&path).await;
    let mut read = Vec::new();
    for (queue, user_id) in [(&short, ADA), (&full, ADA), (&hidden, BOB)] {
        read.push(bench.events(queue, user_id).await);
    }
    assert_eq!(read, live);
    bench.close();
}

#[tokio::test]
async fn a_form_is_written_once_for_all_queues_of_its_variant() {
    let routing = NoteRouting { hidden_from: vec![BOB], text_in_full: "full".to_owned() };
    let shared = super::delivery::share(Routed { event: Note { text: "short".to_owned() }, routing });
    let queue_id = QueueId::random();
    let full = Registration { apply_markdown: true, ..Registration::default() };
    let before = NOTES_WRITTEN.load(Ordering::Relaxed);
    for registration in [&Registration::default(), &full] {
        for _ in 0..10 {
            let receiver = Receiver { user_id: ADA, queue_id: &queue_id, registration };
            assert!(shared.write_for(&receiver, &mut String::new()).unwrap());
            let receiver = Receiver { user_id: BOB, ..receiver };
            assert!(!shared.write_for(&receiver, &mut String::new()).unwrap());
        }
    }
    // Other tests may write notes at the same time, but few.
    assert!(NOTES_WRITTEN.load(Ordering::Relaxed) - before < 10);
}

#[tokio::test]
async fn queues_that_wait_for_a_row_of_an_unknown_type_or_another_version_expire() {
    let changes = [
        "UPDATE event SET name = 'pong' WHERE type = 'ping'",
        "UPDATE event SET version = 2 WHERE type = 'ping'",
        "UPDATE event SET version = 4 WHERE type = 'ping'",
        "UPDATE event SET payload = '{}' WHERE type = 'ping'",
        "UPDATE event SET routing = '{}' WHERE type = 'ping'",
    ];
    for change in changes {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.sqlite");
        let bench = Bench::open(&path).await;
        let waits = bench.register(ADA, Registration::default()).await;
        let other_type = bench.register(ADA, only("note")).await;
        bench.ping(1).await;
        let later = bench.register(BOB, Registration::default()).await;
        bench.ping(2).await;
        bench.execute(&format!("{change} AND id = (SELECT min(id) FROM event)")).await;
        bench.close();

        let bench = Bench::open(&path).await;
        bench.expect_expired(&waits, ADA).await;
        assert_eq!(bench.events(&other_type, ADA).await, [Value::Null; 0], "{change}");
        assert_eq!(numbers(&bench.events(&later, BOB).await), [2], "{change}");
        bench.close();
    }
}

#[tokio::test]
async fn a_queue_far_behind_expires_at_a_row_that_cannot_be_read() {
    let (_folder, bench) = Bench::start().await;
    let queue = bench.register(ADA, Registration::default()).await;
    let job = |tx: &mut Tx<'_>| -> Result<(), StoreError> {
        for number in 0..5000 {
            tx.emit(Ping { number }, Audience::user(ADA));
        }
        Ok(())
    };
    bench.writer.run(job).await.unwrap();
    bench.execute("UPDATE event SET version = 2 WHERE id = (SELECT min(id) + 10 FROM event)").await;
    bench.expect_expired(&queue, ADA).await;
    bench.close();
}

#[tokio::test]
async fn queues_with_unreadable_registrations_expire() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.sqlite");
    let bench = Bench::open(&path).await;
    let queue = bench.register(ADA, Registration::default()).await;
    let other = bench.register(ADA, Registration::default()).await;
    bench.execute(&format!("UPDATE event_queue SET registration = '[1]' WHERE queue_id = '{queue}'")).await;
    bench.close();
    let bench = Bench::open(&path).await;
    bench.expect_expired(&queue, ADA).await;
    assert_eq!(bench.events(&other, ADA).await, [Value::Null; 0]);
    bench.close();
}

#[tokio::test]
async fn an_event_that_cannot_be_serialized_fails_its_job() {
    let (_folder, bench) = Bench::start().await;
    let queue = bench.register(ADA, Registration::default()).await;
    let job = |tx: &mut Tx<'_>| -> Result<(), StoreError> {
        tx.execute("INSERT INTO counter (name, value) VALUES ('row', 1)", [])?;
        tx.emit(Ping { number: 1 }, Audience::user(ADA));
        tx.emit(Broken {}, Audience::user(ADA));
        Ok(())
    };
    assert!(matches!(bench.writer.run(job).await, Err(StoreError::Serialize(_))));
    bench.ping(2).await;
    assert_eq!(numbers(&bench.events(&queue, ADA).await), [2]);
    assert_eq!(bench.value::<i64>("SELECT count(*) FROM counter WHERE name = 'row'"), 0);
    bench.close();
}

#[tokio::test]
async fn events_without_receivers_take_no_number() {
    let (_folder, bench) = Bench::start().await;
    let public = Registration { all_public_streams: true, ..Registration::default() };
    let queue = bench.register(ADA, public).await;
    let job = |tx: &mut Tx<'_>| -> Result<(), StoreError> {
        tx.emit(Ping { number: 1 }, Audience::user(ADA));
        tx.emit(Ping { number: 2 }, Audience::users([]));
        tx.emit_unlogged(Ping { number: 3 }, Audience::users([]));
        tx.emit(Ping { number: 4 }, Audience::users([]).and_public_queues());
        Ok(())
    };
    bench.writer.run(job).await.unwrap();
    broadcast(&bench.hub, &bench.writer, Ping { number: 5 }, Audience::users([])).await.unwrap();
    bench.broadcast(6).await;
    let events = bench.events(&queue, ADA).await;
    assert_eq!(numbers(&events), [1, 4, 6]);
    let first = ids(&events)[0];
    assert_eq!(ids(&events), [first, first + 1, first + 2]);
    bench.close();
}

#[tokio::test]
async fn events_that_are_not_logged_take_numbers_without_the_writer() {
    let (_folder, bench) = Bench::start().await;
    let queue = bench.register(ADA, Registration::default()).await;
    // The first one may have to reserve a block.
    bench.broadcast(1).await;
    let (open, gate) = mpsc::channel::<()>();
    let writer = bench.writer.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let job = move |_: &mut Tx<'_>| -> Result<(), StoreError> {
            gate.recv().unwrap();
            Ok(())
        };
        writer.run(job).await
    });
    tokio::task::yield_now().await;
    bench.broadcast(2).await;
    assert_eq!(numbers(&bench.events(&queue, ADA).await), [1, 2], "the writer is busy");
    open.send(()).unwrap();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    bench.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_that_are_not_logged_wait_for_the_group_before_them() {
    let (_folder, bench) = Bench::start().await;
    let queue = bench.register(ADA, Registration::default()).await;
    bench.broadcast(0).await;
    let mut last = -1;
    for succeeds in [true, false] {
        last = ids(&bench.poll(&queue, ADA, last).await.unwrap()).last().copied().unwrap_or(last);
        let (open_first, first_gate) = mpsc::channel::<()>();
        let (open_last, last_gate) = mpsc::channel::<()>();
        let (say, started) = mpsc::channel::<()>();
        let (writer, say_first) = (bench.writer.clone(), say.clone());
        let mut first = JoinSet::new();
        first.spawn(async move {
            let job = move |_: &mut Tx<'_>| -> Result<(), StoreError> {
                say_first.send(()).unwrap();
                first_gate.recv().unwrap();
                Ok(())
            };
            writer.run(job).await
        });
        started.recv().unwrap();
        // While the first job runs, the others come into its group.
        let writer = bench.writer.clone();
        let mut others = Box::pin(async move {
            let emits = writer.run(|tx| -> Result<(), StoreError> {
                tx.emit(Ping { number: 1 }, Audience::user(ADA));
                Ok(())
            });
            let ends = writer.run(move |tx| -> Result<(), StoreError> {
                say.send(()).unwrap();
                last_gate.recv().unwrap();
                tx.emit(Ping { number: 2 }, Audience::user(ADA));
                if !succeeds {
                    // Ends the transaction, so that the whole group is lost.
                    tx.execute_batch("ROLLBACK")?;
                }
                Ok(())
            });
            tokio::join!(emits, ends)
        });
        // The first poll submits the jobs.
        assert!(others.as_mut().now_or_never().is_none());
        open_first.send(()).unwrap();
        started.recv().unwrap();
        bench.broadcast(3).await;
        bench.broadcast(4).await;
        assert!(bench.poll(&queue, ADA, last).await.unwrap().is_empty(), "a group has smaller numbers");
        open_last.send(()).unwrap();
        first.join_next().await.unwrap().unwrap().unwrap_or_else(|error| assert!(!succeeds, "{error}"));
        let (emits, ends) = others.await;
        assert_eq!((emits.is_ok(), ends.is_ok()), (succeeds, succeeds));
        let events = bench.poll(&queue, ADA, last).await.unwrap();
        assert!(ids(&events).is_sorted_by(|one, other| one < other), "{events:?}");
        assert_eq!(numbers(&events), if succeeds { vec![1, 2, 3, 4] } else { vec![3, 4] });
    }
    bench.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_are_published_in_order_under_concurrency() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Arc::new(Bench::open(&folder.path().join("chat.sqlite")).await);
    let queue = bench.register(ADA, Registration::default()).await;
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let bench = Arc::clone(&bench);
        tasks.spawn(async move {
            for _ in 0..100 {
                if number % 2 == 0 {
                    bench.ping(number).await;
                } else {
                    bench.broadcast(number).await;
                    tokio::task::yield_now().await;
                }
            }
        });
    }
    // A client that acknowledges its events never misses one.
    let mut last = -1;
    let mut found = Vec::new();
    while found.len() < 800 {
        let events = bench.poll(&queue, ADA, last).await.unwrap();
        found.extend(ids(&events));
        last = found.last().copied().unwrap_or(-1);
        tokio::task::yield_now().await;
    }
    tasks.join_all().await;
    assert!(found.is_sorted_by(|one, other| one < other));
    Arc::into_inner(bench).unwrap().close();
}

#[tokio::test]
async fn numbers_grow_over_stops_and_over_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.sqlite");
    let bench = Bench::open(&path).await;
    let queue = bench.register(ADA, Registration::default()).await;
    bench.ping(1).await;
    bench.broadcast(2).await;
    let before = *ids(&bench.events(&queue, ADA).await).last().unwrap();
    bench.close();
    let bench = Bench::open(&path).await;
    bench.ping(3).await;
    let last = *ids(&bench.events(&queue, ADA).await).last().unwrap();
    assert_eq!(last, before + 1, "a clean stop gives the rest of the block back");
    bench.broadcast(4).await;
    let last = *ids(&bench.events(&queue, ADA).await).last().unwrap();
    assert_eq!(last, before + 2);

    // The state after a crash: copies of the file and its log.
    let after_crash = folder.path().join("crashed.sqlite");
    for ending in ["", "-wal"] {
        let from = folder.path().join(format!("chat.sqlite{ending}"));
        std::fs::copy(from, folder.path().join(format!("crashed.sqlite{ending}"))).unwrap();
    }
    let crashed = Bench::open(&after_crash).await;
    assert_eq!(numbers(&crashed.events(&queue, ADA).await), [1, 3]);
    crashed.broadcast(5).await;
    let found = crashed.events(&queue, ADA).await;
    assert_eq!(numbers(&found), [1, 3, 5]);
    assert!(
        *ids(&found).last().unwrap() > last,
        "the number of an event that was not stored is not used again"
    );
    // The client continues after an event that the file does not have.
    assert_eq!(numbers(&crashed.poll(&queue, ADA, last).await.unwrap()), [5]);
    crashed.close();
    bench.close();
}

#[tokio::test]
async fn a_deleted_queue_is_unknown_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.sqlite");
    let bench = Bench::open(&path).await;
    let queue = bench.register(ADA, Registration::default()).await;
    assert!(bench.hub.remove(&queue));
    let name = queue.clone();
    bench.writer.run(move |tx| delete_queue(tx, &name)).await.unwrap();
    bench.close();
    let bench = Bench::open(&path).await;
    assert!(matches!(bench.poll(&queue, ADA, -1).await, Err(QueueError::Unknown)));
    bench.close();
}

#[test]
#[should_panic(expected = "two events have one name")]
fn two_events_of_one_name_are_refused() {
    static TWICE: [super::EventKind; 3] =
        [super::EventKind::of::<Ping>(), super::EventKind::of::<Note>(), super::EventKind::of::<Ping>()];
    let _registry = Registry::new(&TWICE);
}
