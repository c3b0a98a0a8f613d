//! Messages that wait to be posted.

use super::{Hook, bot, messages, options, register, send_direct, server, url_of};
use crate::harness::{Client, ReservedPort, START, TestServer};
use serde_json::json;
use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use teamchat::app::Options;
use teamchat::domain::limits;
use teamchat::scheduler;

#[tokio::test]
async fn queued_webhooks_are_posted_after_a_restart() {
    let mut server = server().await;
    let ada = server.member("ada").await;
    let hook = Hook::answering(&[(200, r#"{"content": "late"}"#)]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let mut queue = register(&ada).await;
    let general = server.channel("general", &[&ada]).await;
    let id = ada.send(general, "lunch", "a message").await;
    server
        .sql(&format!(
            "INSERT INTO outgoing_webhook (message_id, bot_id, \"trigger\", next_try) VALUES ({id}, {bot}, 'mention', 0);
             INSERT INTO outgoing_webhook (message_id, bot_id, \"trigger\", next_try) VALUES (999, {bot}, 'mention', 0)"
        ))
        .await;
    server.restart().await;
    assert!(hook.request().1.contains("a message"));
    assert_eq!(messages(&mut queue, 2).await[1].2, "late");
}

#[tokio::test]
async fn a_message_that_the_bot_cannot_read_any_more_is_not_posted() {
    let mut server = server().await;
    let ada = server.member("ada").await;
    // No server listens on this port: a request would be retried.
    let bot = bot(&ada, "http://127.0.0.1:9/", 1).await;
    let secret = server.private_channel("secret", &[&ada]).await;
    let id = ada.send(secret, "lunch", "for us").await;
    server
        .sql(&format!(
            "INSERT INTO outgoing_webhook (message_id, bot_id, \"trigger\", next_try) VALUES ({id}, {bot}, 'mention', 0)"
        ))
        .await;
    server.restart().await;
    teamchat::api::outgoing_webhooks::deliver::deliver_due(server.app()).await.unwrap();
    assert_eq!(server.column("SELECT count(*) FROM outgoing_webhook").await, ["0"]);
}

/// A server that reports each request and never answers.
fn silent_hook() -> (SocketAddr, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (came, requests) = channel();
    thread::spawn(move || {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept() {
            stream.read_exact(&mut [0; 16]).unwrap();
            held.push(stream);
            if came.send(()).is_err() {
                return;
            }
        }
    });
    (address, requests)
}

#[tokio::test]
async fn a_slow_server_holds_up_only_the_bots_of_its_owner() {
    let server = server().await;
    let (ada, eve) = (server.member("ada").await, server.member("eve").await);
    let (silent, requests) = silent_hook();
    let hook = Hook::answering(&[(200, r#"{"content": "pong"}"#)]);
    let ping = bot(&ada, &hook.url(), 1).await;
    let mut queue = register(&ada).await;
    // Four messages are posted to one of them at a time, the fifth waits; sixteen to all of them.
    for index in 0..5 {
        let params = json!({"full_name": format!("Slow {index}"), "short_name": format!("slow{index}"), "bot_type": 3,
            "payload_url": format!("http://{silent}/"), "interface_type": 1});
        let slow = eve.post("/bots", params).await.ok()["user_id"].as_i64().unwrap();
        for _ in 0..5 {
            send_direct(&eve, slow, "hello").await;
        }
    }
    for _ in 0..16 {
        requests.recv().unwrap();
    }
    send_direct(&ada, ping, "ping").await;
    assert_eq!(messages(&mut queue, 2).await[1].2, "pong");
    assert!(requests.try_recv().is_err(), "a seventeenth message was posted");
    let tries = "SELECT sum(failed_tries) FROM outgoing_webhook";
    assert_eq!(server.column(tries).await, ["0"], "others waited until the slow server was given up");
}

async fn waiting(server: &TestServer) -> String {
    server.column("SELECT count(*) FROM outgoing_webhook").await.remove(0)
}

#[tokio::test]
async fn a_message_is_posted_to_ten_bots() {
    let server = server().await;
    let ada = server.member("ada").await;
    let closed = ReservedPort::new();
    let mut bots = Vec::new();
    for number in 0..12 {
        let params = json!({"full_name": format!("Hook {number}"), "short_name": format!("hook{number}"),
            "bot_type": 3, "payload_url": url_of(&closed)});
        bots.push(ada.post("/bots", params).await.ok()["user_id"].clone());
    }
    ada.post("/messages", json!({"type": "direct", "to": bots, "content": "hello"})).await.ok();
    assert_eq!(waiting(&server).await, limits::MAX_BOTS_CALLED.to_string());
    let general = server.channel("general", &[&ada]).await;
    let names: Vec<String> = (0..12).map(|number| format!("@**Hook {number}**")).collect();
    ada.send(general, "lunch", &names.join(" ")).await;
    assert_eq!(waiting(&server).await, (2 * limits::MAX_BOTS_CALLED).to_string());
}

/// Messages of others to the bots of a person have a part of the places.
#[tokio::test]
async fn messages_that_wait_for_the_bots_of_a_person_are_limited() {
    let server = server().await;
    let (ada, bob, eve) =
        (server.member("ada").await, server.member("bob").await, server.member("eve").await);
    let closed = ReservedPort::new();
    let to = bot(&ada, &url_of(&closed), 1).await;
    let fill = async |client: &Client, count: usize| {
        let id = send_direct(client, to, "hello").await;
        let numbers = format!("SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {}", count - 1);
        server
            .sql(&format!(
                "INSERT INTO outgoing_webhook (message_id, bot_id, \"trigger\", next_try)
                 WITH RECURSIVE one (number) AS ({numbers}) SELECT {id}, {to}, 'direct_message', 1900000000 FROM one"
            ))
            .await;
    };
    let of_sender = limits::MAX_WAITING_WEBHOOKS_OF_SENDER;
    fill(&bob, of_sender).await;
    send_direct(&bob, to, "one more").await;
    assert_eq!(waiting(&server).await, of_sender.to_string());
    fill(&ada, limits::MAX_WAITING_WEBHOOKS - of_sender - 1).await;
    send_direct(&eve, to, "the last").await;
    for client in [&ada, &eve] {
        send_direct(client, to, "one more").await;
        assert_eq!(waiting(&server).await, limits::MAX_WAITING_WEBHOOKS.to_string());
    }
}

#[tokio::test]
async fn posts_count_as_requests_of_the_bot() {
    let server = TestServer::start_with(Options { rate_limit: true, ..options() }).await;
    let ada = server.member("ada").await;
    let hook = Hook::answering(&[(200, r#"{"content": "pong"}"#)]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let mut queue = register(&ada).await;
    let mut client = ada.clone();
    let key = ada.get(&format!("/bots/{bot}/api_key"), ()).await.ok()["api_key"].clone();
    client.api_key = Some(key.as_str().unwrap().to_owned());
    client.email = server.column(&format!("SELECT email FROM user WHERE user_id = {bot}")).await.remove(0);
    for _ in 0..200 {
        client.get("/users/me", ()).await.ok();
    }
    send_direct(&ada, bot, "ping").await;
    let query = format!("SELECT failed_tries FROM outgoing_webhook WHERE next_try > {START}");
    while server.column(&query).await != ["0"] {
        tokio::task::yield_now().await;
    }
    server.clock.advance(61);
    scheduler::wake(server.app());
    hook.request();
    assert_eq!(messages(&mut queue, 2).await[1].2, "pong");
}
