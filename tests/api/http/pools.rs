//! Slow work runs in pools: permits, queues and refusals.

use crate::harness::pictures::png;
use crate::harness::{Blocked, Client, TestServer, until};
use serde_json::{Value, json};
use std::sync::mpsc;
use std::time::Duration;
use teamchat::app::{App, Options, Overrides};
use teamchat::pool::Pool;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

fn rendering(app: &App) -> &Pool {
    &app.pools.rendering
}

fn passwords(app: &App) -> &Pool {
    &app.pools.passwords
}

/// A formula whose macros would stand for 100,000 symbols.
fn bomb() -> String {
    let steps = "abcde".as_bytes().windows(2).fold(String::new(), |text, names| {
        let (name, next) = (char::from(names[0]), char::from(names[1]));
        format!(r"{text}\def\{name}#1{{\{next}{{{}}}}}", "#1".repeat(10))
    });
    format!(r"$${steps}\def\e#1{{#1}}\a{{x+y+z+w+}}$$")
}

// conformance: md-66
#[tokio::test]
async fn formulas_that_multiply_symbols_are_shown_as_typed() {
    let server = TestServer::start().await;
    let ada = server.guest("ada").await;
    let content = bomb();
    assert!(content.len() < 200, "{content}");
    let answer = ada.post("/messages/render", json!({ "content": content })).await.ok();
    let typed = content.replace('&', "&amp;");
    assert_eq!(answer["rendered"], format!("<p><span class=\"tex-error\">{typed}</span></p>"));
}

// conformance: md-67
#[tokio::test]
async fn html_that_is_too_long_is_refused() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    // Each has some 200 bytes of HTML.
    let content = "\u{1faf0}".repeat(9_000);
    let to = format!("[{}]", ada.user_id);
    let message = json!({"type": "direct", "to": to, "content": content});
    ada.post("/messages", message).await.error(400, "BAD_REQUEST", "Unable to render message");
    let text = json!({ "content": content });
    ada.post("/messages/render", text).await.error(400, "BAD_REQUEST", "Unable to render message");
    ada.post("/messages/render", json!({"content": "\u{1faf0}".repeat(900)})).await.ok();
}

#[tokio::test]
async fn tables_that_multiply_cells_are_text() {
    let server = TestServer::start().await;
    let ada = server.guest("ada").await;
    let bars = "|".repeat(2400);
    let content = format!("{bars}\n{bars}\n{}", "a\n".repeat(2400));
    assert!(content.len() < 10_000);
    let answer = ada.post("/messages/render", json!({ "content": content })).await.ok();
    let html = answer["rendered"].as_str().unwrap();
    assert!(html.starts_with("<p>|||"), "{}", &html[..100]);
}

/// All operations that render texts wait for the pool, and delay no others.
#[tokio::test]
async fn rendering_pool_delays_no_other_requests() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    let garden = crate::channels::channel(&owner, "garden").await;
    let say = json!({"type": "channel", "to": garden, "topic": "a", "content": "plain words"});
    let id = owner.post("/messages", say.clone()).await.ok()["id"].clone();
    let folder = owner.post("/channel_folders/create", json!({"name": "a", "description": ""})).await.ok();
    let field = owner.post("/realm/profile_fields", json!({"name": "About", "field_type": 2})).await.ok();
    let formula = "$$x$$ and more";
    let later = teamchat::types::Clock::seconds(&server.clock) + 600;
    let requests: Vec<(&str, String, Value)> = vec![
        ("POST", "/messages/render".to_owned(), json!({ "content": formula })),
        (
            "POST",
            "/messages".to_owned(),
            json!({"type": "channel", "to": garden, "topic": "a", "content": formula}),
        ),
        ("PATCH", format!("/messages/{id}"), json!({ "content": formula })),
        ("GET", format!("/messages/{id}/history"), json!({})),
        ("PATCH", format!("/streams/{garden}"), json!({ "description": formula })),
        (
            "POST",
            "/channels/create".to_owned(),
            json!({"name": "shed", "description": formula, "subscribers": []}),
        ),
        (
            "PATCH",
            format!("/channel_folders/{}", folder["channel_folder_id"]),
            json!({ "description": formula }),
        ),
        ("PATCH", "/realm".to_owned(), json!({ "description": formula })),
        (
            "PATCH",
            "/users/me/profile_data".to_owned(),
            json!({"data": [{"id": field["id"], "value": formula}]}),
        ),
        (
            "POST",
            "/scheduled_messages".to_owned(),
            json!({"type": "channel", "to": garden, "topic": "a", "content": formula, "scheduled_delivery_timestamp": later}),
        ),
        (
            "POST",
            "/realm/test_welcome_bot_custom_message".to_owned(),
            json!({"welcome_message_custom_text": formula}),
        ),
    ];
    for (method, path, parameters) in requests {
        let blocked = Blocked::new(server.app(), rendering).await;
        let all = blocked.count();
        let (client, at) = (owner.clone(), path.clone());
        let mut requests = JoinSet::new();
        let request = requests.spawn(async move {
            let answer = match method {
                "GET" => client.get(&at, parameters).await,
                "POST" => client.post(&at, parameters).await,
                _ => client.patch(&at, parameters).await,
            };
            answer.ok();
        });
        until(|| server.app().pools.rendering.admitted() > all || request.is_finished()).await;
        assert!(!request.is_finished(), "{method} {path} does not wait for the pool");
        // The writer and the threads that serve requests are free.
        ada.post("/users/me/status", json!({"status_text": "free"})).await.ok();
        owner.post("/messages", say.clone()).await.ok();
        blocked.end().await;
        requests.join_all().await;
    }
    assert_eq!(server.app().pools.rendering.admitted(), 0);
}

/// All operations that decode images wait for the pool, and delay no others.
#[tokio::test]
async fn image_pool_delays_no_other_requests() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    for path in ["/users/me/avatar", "/realm/icon", "/realm/emoji/leaf"] {
        let blocked = Blocked::new(server.app(), |app| &app.pools.images).await;
        let all = blocked.count();
        let client = owner.clone();
        let mut requests = JoinSet::new();
        let request = requests.spawn(async move {
            let files = [("file", "image.png", &*png(64, 64))];
            client.request(reqwest::Method::POST, path).multipart(json!({}), &files).send().await.ok();
        });
        until(|| server.app().pools.images.admitted() > all || request.is_finished()).await;
        assert!(!request.is_finished(), "{path} does not wait for the pool");
        ada.post("/users/me/status", json!({"status_text": "free"})).await.ok();
        blocked.end().await;
        requests.join_all().await;
    }
    assert_eq!(server.app().pools.images.admitted(), 0);
}

/// Sends a login and does not wait for the answer.
async fn begin_login(server: &TestServer, number: usize) -> TcpStream {
    let body = format!("username=nobody{number}%40example.com&password=wrong+horse");
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let request = format!(
        "POST /api/v1/fetch_api_key HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn cancelled_logins_leave_the_queue() {
    let server = TestServer::start().await;
    let admitted = || server.app().pools.passwords.admitted();
    let blocked = Blocked::new(server.app(), passwords).await;
    let all = blocked.count();
    for number in 0..8 {
        let stream = begin_login(&server, number).await;
        until(|| admitted() == all + 1).await;
        drop(stream);
        until(|| admitted() == all).await;
    }
    assert_eq!(server.app().pools.passwords.running(), all);
    blocked.end().await;
}

#[tokio::test]
async fn a_login_is_refused_when_too_many_wait() {
    let server = TestServer::start().await;
    let pool = &server.app().pools.passwords;
    let blocked = Blocked::new(server.app(), passwords).await;
    let mut waiting: Vec<_> = (0..pool.limits().queue).map(|_| Box::pin(pool.run(None, || ()))).collect();
    for one in &mut waiting {
        let is_pending =
            std::future::poll_fn(|context| std::task::Poll::Ready(one.as_mut().poll(context).is_pending()));
        assert!(is_pending.await);
    }
    let refused = log_in(&server.anonymous()).await;
    refused.error(503, "SERVICE_UNAVAILABLE", "The server is busy. Please try again in a moment.");
    drop(waiting);
    blocked.end().await;
    log_in(&server.anonymous()).await.error(
        401,
        "AUTHENTICATION_FAILED",
        "Your username or password is incorrect",
    );
}

#[tokio::test]
async fn a_login_is_refused_when_the_deadline_of_its_pool_has_passed() {
    let overrides = Overrides { pool_deadline: Some(Duration::ZERO), ..Overrides::default() };
    let server = TestServer::start_with(Options { overrides, ..Options::default() }).await;
    let pool = &server.app().pools.passwords;
    let mut ends = Vec::new();
    for _ in 0..pool.limits().permits {
        let (end, ended) = mpsc::channel::<()>();
        // The caller is refused. Work that has begun keeps its permit.
        pool.run(None, move || ended.recv().unwrap_err()).await.unwrap_err();
        ends.push(end);
    }
    let before = pool.refusals();
    let refused = log_in(&server.anonymous()).await;
    refused.error(503, "SERVICE_UNAVAILABLE", "The server is busy. Please try again in a moment.");
    assert_eq!(pool.refusals(), before + 1);
}

async fn log_in(client: &Client) -> crate::harness::Answer {
    client.post("/fetch_api_key", &[("username", "nobody@example.com"), ("password", "wrong horse")]).await
}

#[tokio::test]
async fn generated_images_and_emoji_data_are_small_and_the_same_for_all() {
    let server = TestServer::start().await;
    let load = async |path: &str| {
        let request = server.anonymous().request_outside(reqwest::Method::GET, path);
        request.send().await.bytes
    };
    let small = load("/user_avatars/1/generated/7.png").await;
    let large = load("/user_avatars/1/generated/7-medium.png").await;
    for (file, side) in [(&small, 100), (&large, 500)] {
        let picture = image::load_from_memory(file).unwrap();
        assert_eq!((picture.width(), picture.height()), (side, side));
        // One bit for each pixel, and compressed.
        assert!(file.len() < 2000, "{}", file.len());
    }
    let emoji = load("/static/generated/emoji/emoji_api.json").await;
    assert_eq!(emoji, load("/static/generated/emoji/emoji_api.json").await);
}
