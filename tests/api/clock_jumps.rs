//! Corrections of the system clock while the server runs: a machine without a battery sets its clock after the start,
//! and an operator may set it wrong. Work that waits for a duration continues unaffected.

use crate::harness::{Queue, START, TestServer};
use crate::mail::mailbox::Mailbox;
use crate::mail::sink::{MailSink, Reply};
use crate::uploads::upload;
use hyper::Method;
use serde_json::json;
use std::net::Ipv4Addr;
use teamchat::app::Options;
use teamchat::domain::audit;
use teamchat::domain::limits::PRESENCE_OFFLINE_THRESHOLD_SECONDS;
use teamchat::domain::logins::known::LoginSource;
use teamchat::domain::logins::sessions;
use teamchat::scheduler;
use teamchat::types::{Role, UserId};

const MINUTE: i64 = 60;

/// Ten minutes ahead, and two days back.
const JUMPS: [i64; 2] = [10 * MINUTE, -2 * 24 * 60 * MINUTE];

#[tokio::test]
async fn clock_jumps_do_not_expire_queues() {
    for jump in JUMPS {
        let server = TestServer::start().await;
        let ada = server.member("ada").await;
        let mut polled = ada.register(json!({"event_types": ["message"]})).await;
        let idle = ada.register(json!({"event_types": ["message"]})).await;
        let waiting = ada.register(json!({"event_types": ["message"]})).await;
        let poll = waiting.waiting_poll().await;
        server.clock.set_wall(START + jump);
        server.maintain().await;
        server.clock.advance(10 * MINUTE);
        server.maintain().await;
        let sent = async {
            ada.send_direct(&[&ada], "hello").await;
        };
        let (answer, ()) = tokio::join!(poll, sent);
        let events = answer.ok()["events"].clone();
        assert_eq!(events[0]["message"]["timestamp"], START + jump + 10 * MINUTE);
        let heard = async |queue: &mut Queue| queue.expect_kinds(&["message"]).await;
        heard(&mut polled).await;
        server.clock.advance(1);
        server.maintain().await;
        polled.expect_nothing().await;
        let refusal = format!("Bad event queue ID: {}", idle.queue_id);
        ada.get("/events", idle.poll(true)).await.error(400, "BAD_EVENT_QUEUE_ID", &refusal);
        let last = events[0]["id"].clone();
        let poll = json!({"queue_id": waiting.queue_id, "last_event_id": last, "dont_block": true});
        assert_eq!(ada.get("/events", poll).await.ok()["events"], json!([]));
    }
}

#[tokio::test]
async fn clock_jumps_do_not_extend_password_locks() {
    for jump in JUMPS {
        let server = TestServer::start().await;
        server.user("ada", Role::Member, None, Some("correct horse")).await;
        let log_in = async |password: &str| {
            let login = json!({"username": "ada@example.com", "password": password});
            server.anonymous().post("/fetch_api_key", login).await
        };
        for _ in 0..5 {
            assert_eq!(log_in("wrong").await.status, 401);
        }
        server.clock.set_wall(START + jump);
        let refused = log_in("correct horse").await;
        assert_eq!((refused.status, refused.header("retry-after")), (429, "1800"), "{jump}");
        server.clock.advance(30 * MINUTE - 1);
        assert_eq!(log_in("correct horse").await.header("retry-after"), "1", "{jump}");
        server.clock.advance(1);
        log_in("correct horse").await.ok();
    }
}

#[tokio::test]
async fn clock_jumps_do_not_extend_rate_limits() {
    for jump in JUMPS {
        let server = TestServer::start_with(Options { rate_limit: true, ..Options::default() }).await;
        let ada = server.member("ada").await;
        for _ in 0..200 {
            ada.get("/users/me", ()).await.ok();
        }
        server.clock.set_wall(START + jump);
        let refused = ada.get("/users/me", ()).await;
        assert_eq!((refused.status, refused.header("retry-after")), (429, "60"), "{jump}");
        server.clock.advance(MINUTE);
        ada.get("/users/me", ()).await.ok();
    }
}

/// A person who was present while the clock was ahead is not present until then.
#[tokio::test]
async fn clock_jumps_do_not_extend_presence() {
    let offline_since = START + 10 * MINUTE - PRESENCE_OFFLINE_THRESHOLD_SECONDS - 1;
    for (next_report, timestamp) in [(Some("active"), START), (Some("idle"), START), (None, offline_since)] {
        let server = TestServer::start().await;
        let ada = server.member("ada").await;
        let report = async |status: &str| {
            ada.post("/users/me/presence", json!({"status": status, "ping_only": true})).await.ok();
        };
        server.clock.set_wall(START + 24 * 60 * MINUTE);
        report("active").await;
        server.clock.set_wall(START);
        if let Some(status) = next_report {
            report(status).await;
        }
        server.clock.advance(10 * MINUTE);
        let found = ada.get(&format!("/users/{}/presence", ada.user_id), ()).await.ok();
        let expected = json!({"status": "offline", "timestamp": timestamp});
        assert_eq!(found["presence"]["aggregated"], expected, "{next_report:?}");
        let all = ada.get("/realm/presence", ()).await.ok();
        assert_eq!(all["presences"]["ada@example.com"]["website"]["timestamp"], timestamp, "{next_report:?}");
    }
}

/// A link that was created while the clock was ahead does not work until then.
#[tokio::test]
async fn clock_jumps_do_not_extend_links() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let url = upload(&owner, "a.txt", b"hello").await;
    server.clock.set_wall(START + 365 * 24 * 60 * MINUTE);
    let file = owner.get(&url, ()).await.ok()["url"].as_str().unwrap().to_owned();
    let created = owner.post(&format!("/users/{}/password_reset", owner.user_id), ()).await.ok();
    let link = created["password_reset_link"].as_str().unwrap();
    let page = link.strip_prefix(&format!("http://{}", server.address())).unwrap();
    let anonymous = server.anonymous();
    let open = async |path: &str| anonymous.request_outside(Method::GET, path).send().await.status;
    assert_eq!((open(&file).await, open(page).await), (200, 200));
    server.clock.set_wall(START);
    assert_eq!((open(&file).await, open(page).await), (400, 404));
}

/// Deletion by age waits for a day, as that of messages and files.
#[tokio::test]
async fn clock_jumps_delete_no_sessions_and_no_audit_log() {
    const DAY: i64 = 24 * 60 * MINUTE;
    let server = TestServer::start().await;
    let user_id = UserId(server.member("ada").await.user_id);
    let source = LoginSource { client: "test".to_owned(), address: Ipv4Addr::LOCALHOST.into() };
    server.app().writer.run(move |tx| sessions::begin(tx, user_id, &source)).await.unwrap();
    let left = async || {
        scheduler::settle(server.app()).await;
        audit::prune_old(server.app()).await.unwrap();
        let counts = "SELECT count(*) FROM session UNION ALL SELECT count(*) > 0 FROM audit_entry";
        server.column(counts).await
    };
    assert_eq!(left().await, ["1", "1"]);
    server.clock.set_wall(START + 500 * DAY);
    assert_eq!(left().await, ["1", "1"]);
    server.clock.advance(DAY);
    assert_eq!(left().await, ["0", "0"]);
}

/// The order of events does not depend on the clock.
#[tokio::test]
async fn events_keep_their_order() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(json!({"event_types": ["message"]})).await;
    let mut sent = Vec::new();
    for jump in [0, JUMPS[0], JUMPS[1], 0] {
        server.clock.set_wall(START + jump);
        sent.push(ada.send_direct(&[&ada], "hello").await);
        server.restart().await;
    }
    let events = queue.expect_kinds(&["message"; 4]).await;
    let received: Vec<i64> = events.iter().map(|event| event["message"]["id"].as_i64().unwrap()).collect();
    let everything = json!({"anchor": "oldest", "num_before": 0, "num_after": 10, "narrow": []});
    let found = ada.get("/messages", everything).await.ok();
    let found = found["messages"].as_array().unwrap().iter().map(|message| message["id"].as_i64().unwrap());
    assert_eq!((&received, &found.collect()), (&sent, &sent));
}

#[tokio::test]
async fn clock_jumps_do_not_delay_retries_of_mail() {
    for jump in JUMPS {
        let mut sink = MailSink::start();
        let server = TestServer::start_with(sink.options()).await;
        let owner = server.owner().await;
        sink.reply(&[Reply::Refuse("RCPT", "451 4.7.1 greylisted"), Reply::Refuse("MAIL", "421 closing")]);
        let invitation = json!({"invitee_emails": "a@example.com, b@example.com", "stream_ids": []});
        owner.post("/invites", invitation).await.ok();
        scheduler::settle(server.app()).await;
        assert!(sink.rest().is_empty());
        server.clock.set_wall(START + jump);
        scheduler::settle(server.app()).await;
        let mut to: Vec<String> = sink.rest().into_iter().map(|letter| letter.to).collect();
        to.sort_unstable();
        assert_eq!(to, ["a@example.com", "b@example.com"]);
    }
}

#[tokio::test]
async fn clock_jumps_do_not_delay_mail_about_later_messages() {
    for jump in JUMPS {
        let (mailbox, server) = Mailbox::with_server().await;
        let (ada, bob) = (server.member("ada").await, server.member("bob").await);
        bob.send_direct(&[&ada], "one").await;
        scheduler::settle(server.app()).await;
        server.clock.set_wall(START + jump);
        bob.send_direct(&[&ada], "two").await;
        let letters = mailbox.later(&server, &ada).await;
        let text: String = letters.into_iter().map(|letter| letter.text).collect();
        assert!(text.contains("> one") && text.contains("> two"), "{jump}: {text}");
    }
}

#[tokio::test]
async fn clock_jumps_do_not_delay_mail_about_held_messages() {
    for jump in JUMPS {
        let (mailbox, server) = Mailbox::with_server().await;
        let (ada, bob) = (server.member("ada").await, server.member("bob").await);
        let mut queue = ada.register(json!({"event_types": ["message"]})).await;
        ada.post("/users/me/presence", json!({"status": "active"})).await.ok();
        bob.send_direct(&[&ada], "one").await;
        scheduler::settle(server.app()).await;
        assert_eq!(server.count("mail_held").await, "1");
        server.app().hub.expire_of(None);
        server.clock.set_wall(START + jump);
        assert_eq!(mailbox.subjects(&server, &ada).await, ["DMs with Bob"], "{jump}");
        queue.ignore();
    }
}
