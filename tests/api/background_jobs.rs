//! Background work holds the writer for a short time only, whatever it is about.
//!
//! A budget without time lets each job take one step. So the tests see that all work is divided into steps, without a clock.

use crate::harness::{Client, START, TestServer};
use crate::uploads::upload;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use teamchat::app::Options;
use teamchat::domain::audit;
use teamchat::domain::search::purge;
use teamchat::domain::search::purge::Candidates;
use teamchat::http::ApiResult;
use teamchat::scheduler;
use teamchat::store::{BackgroundFigures, StoreError, Tx};

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;

/// A server whose background jobs take one step each.
pub async fn server_in_steps(options: Options) -> TestServer {
    let server = TestServer::start_with(options).await;
    server.app().writer.background().set_limit(Duration::ZERO);
    server
}

fn figures(server: &TestServer) -> BTreeMap<&'static str, BackgroundFigures> {
    server.app().writer.background().figures()
}

/// Invented words with an ending.
fn words(count: usize, ending: &str) -> Vec<String> {
    let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
    (0..count).map(|number| format!("bakid{}{}p{ending}", letter(number), letter(number / 26))).collect()
}

async fn edit(client: &Client, id: i64, content: &str) {
    client.patch(&format!("/messages/{id}"), json!({"content": content})).await.ok();
}

/// The words of the list that begin as the invented ones.
async fn listed(server: &TestServer) -> Vec<String> {
    server.column("SELECT word FROM search_word WHERE word LIKE 'bakid%' ORDER BY word").await
}

/// Messages with the stems of all retired words, as long as they may be: each word is looked up in all of them.
#[tokio::test]
async fn looking_up_the_words_of_deleted_messages_takes_no_time_of_the_writer() {
    let server = server_in_steps(Options::default()).await;
    let ada = server.guest("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let emoji = format!("\n```\n{}\n```", "\u{1f600}".repeat(9_000));
    for _ in 0..19 {
        ada.send(general, "words", &format!("{}{emoji}", words(100, "").join(" "))).await;
    }
    let id = ada.send(general, "words", "start").await;
    for ending in ["s", "ed"] {
        edit(&ada, id, &words(100, ending).join(" ")).await;
        // Each version is indexed.
        let search =
            json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": [["search", "start"]]});
        ada.get("/messages", search).await.ok();
    }
    assert_eq!(listed(&server).await.len(), 300);
    edit(&ada, id, "end").await;
    server.clock.advance(HOUR);
    scheduler::settle(server.app()).await;
    let mut kept = words(100, "");
    kept.sort_unstable();
    assert_eq!(listed(&server).await, kept);
    assert_eq!(server.column("SELECT count(*) FROM retired_word").await, ["0"]);
    let figures = figures(&server);
    for (job, figures) in &figures {
        assert!(figures.most_steps <= 1, "{job}: {figures:?}");
    }
    // The words of two versions and of the first, one in each job.
    let removed = figures["search_words"];
    assert!(removed.jobs >= 200 && removed.steps <= removed.jobs, "{removed:?}");
    assert!(figures.contains_key("search_index_merge") && figures.contains_key("search_topics"));
}

/// Words of a text that stays are not looked up again.
#[tokio::test]
async fn an_edit_retires_only_the_words_that_go() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let id = ada.send(general, "words", "one two three").await;
    edit(&ada, id, "one two four").await;
    assert_eq!(server.column("SELECT word FROM retired_word").await, ["three"]);
    ada.delete(&format!("/messages/{id}"), ()).await.ok();
    let retired = server.column("SELECT word FROM retired_word ORDER BY word").await;
    assert_eq!(retired, ["four", "one", "three", "two", "words"]);
}

/// Beyond a limit, retired words are not written down: the purge looks up all words then.
#[tokio::test]
async fn many_retired_words_are_not_written_down() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let kept = ada.send(general, "words", "bakidkept").await;
    let id = ada.send(general, "words", "bakidgone").await;
    let search =
        json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": [["search", "bakidgone"]]});
    ada.get("/messages", search).await.ok();
    server
        .sql(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < 100000)
             INSERT INTO retired_word SELECT 'zz' || number FROM one",
        )
        .await;
    ada.delete(&format!("/messages/{id}"), ()).await.ok();
    assert_eq!(server.column("SELECT count(*) FROM retired_word").await, ["100000"]);
    assert_eq!(server.column("SELECT count(*) FROM counter WHERE name = 'search_sweep'").await, ["1"]);
    server.sql("DELETE FROM retired_word WHERE word > 'zz10'").await;
    server.clock.advance(HOUR);
    scheduler::settle(server.app()).await;
    assert_eq!(listed(&server).await, ["bakidkept"]);
    assert_eq!(server.column("SELECT count(*) FROM counter WHERE name = 'search_sweep'").await, ["0"]);
    assert_eq!(server.column("SELECT count(*) FROM retired_word").await, ["0"]);
    ada.message(kept).await;
}

/// A word that is sent, or retired again, while it is looked up.
#[tokio::test]
async fn words_that_are_used_during_their_lookup_stay() {
    for is_deleted_again in [false, true] {
        let server = TestServer::start().await;
        let ada = server.member("ada").await;
        let general = server.channel("general", &[&ada]).await;
        let search = async || {
            let search = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": [["search", "bakida"]]});
            ada.get("/messages", search).await.ok()["messages"].as_array().unwrap().len()
        };
        let id = ada.send(general, "words", "bakida bakidb").await;
        assert_eq!(search().await, 1);
        ada.delete(&format!("/messages/{id}"), ()).await.ok();
        let words = vec!["bakida".to_owned(), "bakidb".to_owned()];
        let app = Arc::clone(server.app());
        let watched = words.clone();
        let watch = move |tx: &mut Tx<'_>| -> ApiResult<()> {
            purge::watch(tx, &watched);
            Ok(())
        };
        app.writer.run(watch).await.unwrap();
        let look_up = |connection: &Connection| -> ApiResult<_> {
            let found = purge::words_after(connection, Candidates::Retired, "bakid")?;
            assert_eq!(found[..2], words);
            Ok(purge::look_up(connection, words.clone())?)
        };
        let mut looked_up = app.readers.read(|snapshot| look_up(snapshot)).await.unwrap();
        let again = ada.send(general, "words", "bakida").await;
        assert_eq!(search().await, 1);
        if is_deleted_again {
            ada.delete(&format!("/messages/{again}"), ()).await.ok();
        }
        let remove = move |tx: &mut Tx<'_>| -> ApiResult<bool> {
            let mut budget = tx.budget("search_words");
            purge::remove_words(tx, &mut budget, &mut looked_up)
        };
        assert!(app.writer.run(remove).await.unwrap());
        assert_eq!(listed(&server).await, ["bakida"], "the other is removed");
        server.clock.advance(HOUR);
        scheduler::settle(&app).await;
        assert_eq!(listed(&server).await.len(), usize::from(!is_deleted_again));
        assert_eq!(server.column("SELECT count(*) FROM retired_word").await, ["0"]);
    }
}

/// The purge ends between two jobs when the server stops, and goes on after the next start.
#[tokio::test]
async fn a_stop_interrupts_the_purge() {
    let mut server = server_in_steps(Options::default()).await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let id = ada.send(general, "words", &words(50, "").join(" ")).await;
    let search =
        json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": [["search", "bakid"]]});
    ada.get("/messages", search).await.ok();
    ada.delete(&format!("/messages/{id}"), ()).await.ok();
    server.app().writer.background().stop();
    server.clock.advance(HOUR);
    scheduler::settle(server.app()).await;
    assert_eq!(listed(&server).await.len(), 50);
    ada.send(general, "words", "other changes go on").await;
    server.restart().await;
    scheduler::settle(server.app()).await;
    assert_eq!(listed(&server).await, [""; 0]);
}

#[tokio::test]
async fn each_kind_of_background_work_is_divided() {
    let server = server_in_steps(Options { audit_keep_days: Some(1), ..Options::default() }).await;
    let app = Arc::clone(server.app());
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let general = server.channel("general", &[&owner, &ada]).await;
    let plans = server.channel("plans", &[&owner, &ada]).await;
    let long = "and so on ".repeat(900);
    for number in 0..30 {
        ada.send(general, "short", &format!("{number}")).await;
        ada.send(plans, "long", &format!("{number} {long}")).await;
    }
    let deleted = owner.post(&format!("/streams/{plans}/delete_topic"), json!({"topic_name": "long"})).await;
    assert_eq!(deleted.ok()["complete"], true);
    upload(&ada, "file", &vec![b'x'; 600_000]).await;
    let files = ada.get("/attachments", ()).await.ok();
    ada.delete(&format!("/attachments/{}", files["attachments"][0]["id"]), ()).await.ok();
    for number in 0..3 {
        owner.patch("/realm", json!({"name": format!("Name {number}")})).await.ok();
        ada.register(json!({"event_types": ["drafts"]})).await;
    }
    server.clock.advance(2 * DAY);
    server.set_realm_setting("message_retention_days", json!(1)).await;
    server.remove_expired().await;
    scheduler::settle(&app).await;
    server.maintain().await;
    audit::prune_old(&app).await.unwrap();

    let all = json!({"anchor": "newest", "num_before": 100, "num_after": 0});
    assert_eq!(ada.get("/messages", all).await.ok()["messages"], json!([]));
    for table in ["upload_piece", "event_queue"] {
        assert_eq!(server.column(&format!("SELECT count(*) FROM {table}")).await, ["0"], "{table}");
    }
    assert_eq!(server.column("SELECT count(*) FROM event").await, ["1"], "the newest stays");
    let figures = figures(&server);
    for (job, at_least) in [
        ("delete_topic", 4),
        ("retention", 1),
        ("deleted_files", 3),
        ("event_log", 20),
        ("expired_queues", 3),
        ("audit_log", 1),
        ("search_words", 10),
        ("search_topics", 1),
        ("search_index_merge", 1),
    ] {
        let Some(found) = figures.get(job) else { panic!("{job} did not run: {figures:?}") };
        assert!(found.jobs >= at_least, "{job}: {found:?}");
    }
    for (job, found) in &figures {
        assert!(found.most_steps <= 1, "{job}: {found:?}");
    }
}

/// In a channel of very many people, the receivers of a topic take long to look up.
#[tokio::test]
async fn a_step_of_retention_is_about_one_topic() {
    let server = server_in_steps(Options::default()).await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    for number in 0..30 {
        ada.send(general, &format!("topic {}", number % 10), "hello").await;
    }
    server.clock.advance(2 * DAY);
    server.set_realm_setting("message_retention_days", json!(1)).await;
    let topics = server.column("SELECT count(DISTINCT topic_id) FROM message").await;
    server.remove_expired().await;
    assert_eq!(server.column("SELECT count(*) FROM message").await, ["0"]);
    let figures = figures(&server)["retention"];
    assert_eq!((figures.steps.to_string(), figures.most_steps), (topics[0].clone(), 1));
}

/// A flood of long messages is indexed a few at a time, and completely before a search.
#[tokio::test]
async fn long_messages_are_indexed_in_several_jobs() {
    let server = server_in_steps(Options::default()).await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let first = ada.send(general, "words", "turnip").await;
    server.add_copies(first, 299).await;
    ada.send(general, "words", "turnip").await;
    let waiting = "SELECT count(*) FROM message WHERE id NOT IN (SELECT id FROM message_search_docsize)";
    assert_eq!(server.column(waiting).await, ["300"], "one step");
    let search =
        json!({"anchor": "newest", "num_before": 1000, "num_after": 0, "narrow": [["search", "turnip"]]});
    let found: Value = ada.get("/messages", search).await.ok();
    assert_eq!(found["messages"].as_array().unwrap().len(), 301);
    let figures = figures(&server)["search_index"];
    assert_eq!((figures.jobs, figures.most_steps), (301, 1));
}

/// Moves all messages of a topic, without a notice.
async fn rename(client: &Client, id: i64, topic: &str) {
    let change =
        json!({"topic": topic, "propagate_mode": "change_all", "send_notification_to_new_thread": false});
    client.patch(&format!("/messages/{id}"), change).await.ok();
}

/// The number of messages that a search finds.
async fn found(client: &Client, word: &str) -> usize {
    let search =
        json!({"anchor": "newest", "num_before": 1000, "num_after": 0, "narrow": [["search", word]]});
    client.get("/messages", search).await.ok()["messages"].as_array().unwrap().len()
}

/// The job of a move indexes as many messages as there is time for, and follow-up jobs the others. A search waits for all.
#[tokio::test]
async fn moved_messages_are_indexed_in_several_jobs() {
    let server = server_in_steps(Options::default()).await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let first = ada.send(general, "turnip", "soup").await;
    server.add_copies(first, 99).await;
    assert_eq!(found(&ada, "turnip").await, 100);
    let before = figures(&server)["search_index"];
    rename(&ada, first, "parsnip").await;
    assert_eq!((found(&ada, "turnip").await, found(&ada, "parsnip").await), (0, 100));
    let after = figures(&server)["search_index"];
    assert_eq!((after.steps - before.steps, after.most_steps), (100, 1));
    assert!(after.jobs - before.jobs >= 100, "{before:?} {after:?}");
    assert_eq!(server.column("SELECT count(*) FROM search_backlog").await, ["0"]);
}

/// Messages wait for the index while they change again, and while the server is down.
#[tokio::test]
async fn moves_are_indexed_after_a_crash() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let first = ada.send(general, "turnip", "soup").await;
    server.add_copies(first, 29).await;
    assert_eq!(found(&ada, "turnip").await, 30);
    server.app().writer.background().stop();
    rename(&ada, first, "parsnip").await;
    // A message without an entry gets its first one.
    let new = ada.send(general, "parsnip", "broth").await;
    rename(&ada, first, "carrot").await;
    edit(&ada, first + 1, "salad").await;
    ada.delete(&format!("/messages/{}", first + 2), ()).await.ok();
    let indexed = "SELECT count(*) FROM message_search WHERE message_search MATCH 'turnip'";
    assert_eq!(server.column(indexed).await, ["28"], "all but the edited and the deleted one");
    let waiting = "SELECT count(*) FROM search_backlog";
    assert_eq!(server.column(waiting).await, ["60"]);

    server.crash().await;
    assert_eq!(server.column(indexed).await, ["28"]);
    for (word, count) in
        [("carrot", 30), ("turnip", 0), ("parsnip", 0), ("soup", 28), ("salad", 1), ("broth", 1)]
    {
        assert_eq!(found(&ada, word).await, count, "{word}");
    }
    assert_eq!(server.column(waiting).await, ["0"]);
    let deleted = first + 2;
    let entries = format!("SELECT id FROM message_search_docsize WHERE id IN ({deleted}, {new})");
    assert_eq!(server.column(&entries).await, [new.to_string()]);
}

/// A backup from elsewhere may have any numbers.
#[tokio::test]
async fn a_backlog_of_another_program_holds_nothing_up() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let first = ada.send(general, "turnip", "soup").await;
    server.sql(&format!("INSERT INTO search_backlog (number, message_id) VALUES (-3, {first})")).await;
    assert_eq!(found(&ada, "turnip").await, 1);
}

/// The purge of words looks them up in the index, so it waits for the moves.
#[tokio::test]
async fn words_of_an_earlier_topic_go_after_a_crash() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let first = ada.send(general, "bakidgone", "soup").await;
    server.add_copies(first, 29).await;
    assert_eq!(found(&ada, "bakidgone").await, 30);
    server.app().writer.background().stop();
    rename(&ada, first, "bakidkept").await;
    server.crash().await;
    assert_eq!(listed(&server).await, ["bakidgone"]);
    server.clock.advance(HOUR);
    scheduler::settle(server.app()).await;
    assert_eq!(listed(&server).await, ["bakidkept"]);
}

/// Sends a request with a form, and hangs up while its job waits for the writer. Returns when the job has run.
async fn hang_up_in_job(server: &TestServer, client: &Client, request: (&str, &str)) {
    let (started, has_started) = mpsc::channel();
    let (open, gate) = mpsc::channel::<()>();
    let writer = &server.app().writer;
    let other_job = writer.run(move |_tx| -> Result<(), StoreError> {
        started.send(()).unwrap();
        gate.recv().unwrap();
        Ok(())
    });
    let hung_up = async {
        has_started.recv().unwrap();
        server.hang_up(client, request, || writer.metrics().queued.get() > 0).await;
        open.send(()).unwrap();
    };
    tokio::join!(other_job, hung_up).0.unwrap();
    writer.run(|_tx| -> Result<(), StoreError> { Ok(()) }).await.unwrap();
}

/// The welcome text is rendered after the job that creates the account.
#[tokio::test(flavor = "multi_thread")]
async fn new_users_get_the_welcome_text_even_if_the_client_hangs_up() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    owner.patch("/realm", json!({"welcome_message_custom_text": "Mind the **roses**."})).await.ok();
    let form = "email=ada%40example.com&full_name=Ada&password=correct+horse";
    scheduler::settle(server.app()).await;
    hang_up_in_job(&server, &owner, ("POST /api/v1/users", form)).await;
    scheduler::settle(server.app()).await;
    let newest = "SELECT content FROM message ORDER BY id DESC LIMIT 1";
    assert_eq!(server.column(newest).await, ["Mind the **roses**."]);
    assert_eq!(server.column("SELECT count(*) FROM welcome_text").await, ["0"]);
}

/// Tasks look for due work once a minute, and when a job wakes them.
#[tokio::test(flavor = "multi_thread")]
async fn requests_wake_tasks_even_if_their_clients_hang_up() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let general = server.channel("general", &[&owner]).await;
    let message_id = owner.send(general, "plans", "sail").await;
    let time = format!("scheduled_delivery_timestamp={}", START + 30);
    let scheduled = format!("type=channel&to={general}&topic=plans&content=sail&{time}");
    let requests = [
        ("POST /api/v1/scheduled_messages", scheduled),
        ("PATCH /api/v1/scheduled_messages/1", "content=row".to_owned()),
        ("POST /api/v1/reminders", format!("message_id={message_id}&{time}")),
        ("POST /api/v1/export/realm", String::new()),
    ];
    for (line, form) in requests {
        scheduler::settle(server.app()).await;
        let wakeups = server.app().scheduler_wakeup.subscribe();
        hang_up_in_job(&server, &owner, (line, &form)).await;
        assert!(wakeups.has_changed().unwrap(), "{line}");
    }
    let rows = "SELECT (SELECT content FROM scheduled_message) || (SELECT count(*) FROM reminder)
        || (SELECT count(*) FROM realm_export)";
    assert_eq!(server.column(rows).await, ["row11"]);
}
