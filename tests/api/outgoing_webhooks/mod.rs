//! Outgoing webhooks, with a server of the test's own at the other end.

mod addresses;
mod failures;
mod waiting;

use crate::harness::{Client, OUTGOING_TIMEOUT, Queue, ReservedPort, START, TestServer};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use teamchat::app::{Options, Overrides};
use teamchat::domain::groups::system::SystemGroup;

/// A server at the other end: gives each request that comes to the test, and answers with the next of its answers.
struct Hook {
    address: SocketAddr,
    requests: Receiver<(Vec<String>, String)>,
}

impl Hook {
    fn answering(answers: &[(u16, &str)]) -> Self {
        let answers: Vec<_> =
            answers.iter().map(|(status, body)| (*status, "application/json", body.as_bytes())).collect();
        Self::answering_in(&answers)
    }

    /// Answers with a status, a `Content-Type` and a body.
    fn answering_in(answers: &[(u16, &str, &[u8])]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = channel();
        let answers: Vec<(u16, String, Vec<u8>)> =
            answers.iter().map(|(status, kind, body)| (*status, (*kind).to_owned(), body.to_vec())).collect();
        thread::spawn(move || {
            for (status, kind, body) in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut head = Vec::new();
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    let line = line.trim_end().to_owned();
                    if line.is_empty() {
                        break;
                    }
                    head.push(line);
                }
                let length = head.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                let mut sent = vec![0; length.parse().unwrap()];
                reader.read_exact(&mut sent).unwrap();
                sender.send((head, String::from_utf8(sent).unwrap())).unwrap();
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
                );
                stream.write_all(&[head.as_bytes(), &body].concat()).unwrap();
            }
        });
        Self { address, requests }
    }

    fn url(&self) -> String {
        format!("http://{}/hook?a=b", self.address)
    }

    /// The next request's head and body.
    fn request(&self) -> (Vec<String>, String) {
        self.requests.recv().unwrap()
    }
}

fn options() -> Options {
    let webhook_hosts = vec!["127.0.0.1:*".to_owned()];
    Options {
        webhook_hosts,
        overrides: Overrides { outgoing_timeout: Some(OUTGOING_TIMEOUT), ..Overrides::default() },
        ..Options::default()
    }
}

async fn server() -> TestServer {
    TestServer::start_with(options()).await
}

/// A bot that posts to an address.
async fn bot(owner: &Client, url: &str, interface: i64) -> i64 {
    let params = json!({"full_name": "Hook", "short_name": "hook", "bot_type": 3, "payload_url": url,
        "interface_type": interface});
    owner.post("/bots", params).await.ok()["user_id"].as_i64().unwrap()
}

async fn send_direct(client: &Client, to: i64, content: &str) -> i64 {
    let message = json!({"type": "direct", "to": [to], "content": content});
    client.post("/messages", message).await.ok()["id"].as_i64().unwrap()
}

async fn register(client: &Client) -> Queue {
    client.register(json!({"event_types": ["message"]})).await
}

/// Waits for a number of messages. Returns sender, client and content of each.
async fn messages(queue: &mut Queue, count: usize) -> Vec<(i64, Value, String)> {
    let mut found = Vec::new();
    while found.len() < count {
        for event in queue.wait().await {
            if event["type"] == "message" {
                let message = &event["message"];
                let content = message["content"].as_str().unwrap().to_owned();
                found.push((message["sender_id"].as_i64().unwrap(), message["client"].clone(), content));
            }
        }
    }
    found
}

/// The URL of a port that refuses connections: messages to it wait for their next attempt.
fn url_of(closed: &ReservedPort) -> String {
    format!("http://{}/", closed.address())
}

#[tokio::test]
async fn a_direct_message_is_posted_and_answered() {
    let server = server().await;
    let ada = server.member("ada").await;
    let hook = Hook::answering(&[(200, r#"{"content": "\n**pong**\n"}"#)]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let mut queue = register(&ada).await;
    let id = send_direct(&ada, bot, "*ping*").await;
    let (head, body) = hook.request();
    assert_eq!(head[0], "POST /hook?a=b HTTP/1.1");
    assert!(head.contains(&format!("host: {}", hook.address)), "{head:?}");
    assert!(head.contains(&"content-type: application/json".to_owned()), "{head:?}");
    assert!(head.iter().any(|line| line.starts_with("user-agent: ZulipOutgoingWebhook/")), "{head:?}");
    let payload: Value = serde_json::from_str(&body).unwrap();
    let state = ada.register(json!({"fetch_event_types": ["realm_bot"], "event_types": []})).await;
    let token = &state.state["realm_bots"][0]["services"][0]["token"];
    let email = &state.state["realm_bots"][0]["email"];
    let mut message = ada.message(id).await;
    assert_eq!(message["content"], "<p><em>ping</em></p>");
    let members = message.as_object_mut().unwrap();
    members.remove("flags");
    members.insert("rendered_content".to_owned(), json!("<p><em>ping</em></p>"));
    members.insert("content".to_owned(), json!("*ping*"));
    members.insert("content_type".to_owned(), json!("text/x-markdown"));
    let expected = json!({"bot_email": email, "bot_full_name": "Hook", "data": "*ping*",
        "trigger": "direct_message", "token": token, "message": message});
    assert_eq!(payload, expected);
    let said = messages(&mut queue, 2).await;
    assert_eq!(said[1], (bot, json!("OutgoingWebhookResponse"), "**pong**".to_owned()));
    assert_eq!(server.column("SELECT count(*) FROM outgoing_webhook").await, ["0"]);
}

// conformance: send-22
#[tokio::test]
async fn line_feeds_around_answers_are_removed() {
    let server = server().await;
    let ada = server.member("ada").await;
    let hook = Hook::answering(&[(200, r#"{"content": "\n/me waves\n"}"#)]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let mut queue = register(&ada).await;
    send_direct(&ada, bot, "hello").await;
    hook.request();
    assert_eq!(messages(&mut queue, 2).await[1].2, "/me waves");
    let newest = json!({"anchor": "newest", "num_before": 1, "num_after": 0});
    assert_eq!(ada.get("/messages", newest).await.ok()["messages"][0]["is_me_message"], true);
}

// conformance: conv-85
#[tokio::test]
async fn answers_are_read_in_their_charset() {
    let server = server().await;
    let ada = server.member("ada").await;
    let cases: [(u16, &str, &[u8], &str); 5] = [
        (200, "application/json; charset=iso-8859-1", b"{\"content\": \"caf\xe9\"}", "café"),
        (200, "text/plain; charset=windows-1251", b"{\"content\": \"\xcf\xf0\xe8\"}", "При"),
        (200, "application/json", b"\xef\xbb\xbf{\"content\": \"caf\xc3\xa9\"}", "café"),
        (200, "application/json; charset=klingon", b"{}", "Failure! Unknown charset: klingon"),
        (500, "text/plain; charset=iso-8859-1", b"caf\xe9", "Failure! Third party responded with 500"),
    ];
    let hook = Hook::answering_in(&cases.map(|(status, kind, body, _)| (status, kind, body)));
    let bot = bot(&ada, &hook.url(), 1).await;
    let mut queue = register(&ada).await;
    for (status, kind, _, expected) in cases {
        send_direct(&ada, bot, "ping").await;
        hook.request();
        // The failures are reported to the owner, too.
        let is_failure = expected.starts_with("Failure!");
        let said = messages(&mut queue, if is_failure { 3 } else { 2 }).await;
        assert!(said.iter().any(|(sender, _, content)| *sender == bot && content == expected), "{said:?}");
        if status == 500 {
            assert!(said.iter().any(|(_, _, content)| content.contains("café")), "{said:?}");
        }
        if is_failure {
            // The next failure is reported too.
            ada.patch(&format!("/bots/{bot}"), json!({"service_payload_url": hook.url()})).await.ok();
        }
        assert_eq!(server.column("SELECT count(*) FROM outgoing_webhook").await, ["0"], "{kind}");
    }
}

// conformance: send-46
#[tokio::test]
async fn a_mention_in_a_channel_is_posted_where_the_bot_may_read() {
    let server = server().await;
    let ada = server.member("ada").await;
    let hook = Hook::answering(&[
        (200, r#"{"response_string": "here"}"#),
        (200, r#"{"response_not_required": true}"#),
    ]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let general = server.channel("general", &[&ada]).await;
    let secret = server.private_channel("secret", &[&ada]).await;
    let mut queue = register(&ada).await;
    // Neither of these is for the bot.
    ada.send(general, "lunch", "@_**Hook** is quiet").await;
    ada.send(secret, "lunch", "@**Hook** may not read this").await;
    ada.send(general, "lunch", "@**Hook** are you there?").await;
    let (_, body) = hook.request();
    let payload: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (&payload["trigger"], &payload["data"]),
        (&json!("mention"), &json!("@**Hook** are you there?"))
    );
    assert_eq!(
        (&payload["message"]["stream_id"], &payload["message"]["subject"]),
        (&json!(general), &json!("lunch"))
    );
    let said = messages(&mut queue, 4).await;
    assert_eq!((said[3].0, said[3].2.as_str()), (bot, "here"));
    let newest =
        ada.get("/messages", json!({"anchor": "newest", "num_before": 1, "num_after": 0})).await.ok();
    assert_eq!(newest["messages"][0]["subject"], "lunch");
    // An answer that wants no reply.
    ada.send(general, "lunch", "@**Hook** thanks").await;
    hook.request();
    messages(&mut queue, 1).await;
}

// conformance: sub-80
#[tokio::test]
async fn replies_may_have_choices() {
    let server = server().await;
    let ada = server.member("ada").await;
    let choice = json!({"type": "multiple_choice", "short_name": "A", "long_name": "yes", "reply": "A"});
    let form = json!({"widget_type": "zform",
        "extra_data": {"type": "choices", "heading": "Well?", "choices": [choice]}});
    let answer = json!({"content": "Well?", "widget_content": form.to_string()}).to_string();
    let long = json!({"content": "Well?", "widget_content": "x".repeat(10_001)}).to_string();
    let hook = Hook::answering(&[
        (200, answer.as_str()),
        (200, r#"{"content": "Well?", "widget_content": {"widget_type": "zform"}}"#),
        (200, r#"{"content": "Well?", "widget_content": "{}"}"#),
        (200, long.as_str()),
    ]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let mut queue = register(&ada).await;
    send_direct(&ada, bot, "quiz").await;
    hook.request();
    assert_eq!(messages(&mut queue, 2).await[1].2, "Well?");
    let newest =
        ada.get("/messages", json!({"anchor": "newest", "num_before": 1, "num_after": 0})).await.ok();
    let data = &newest["messages"][0]["submessages"][0];
    assert_eq!((&data["msg_type"], &data["sender_id"]), (&json!("widget"), &json!(bot)));
    assert_eq!(serde_json::from_str::<Value>(data["content"].as_str().unwrap()).unwrap(), form);
    for msg in [
        "Widgets: API programmer sent invalid JSON content",
        "Widgets: widget_type is not in widget_content",
        "widget_content is too long (limit: 10000 characters)",
    ] {
        send_direct(&ada, bot, "quiz").await;
        hook.request();
        let said = messages(&mut queue, 3).await;
        let failure = format!("Failure! {msg}");
        assert!(said.iter().any(|(sender, _, content)| *sender == bot && *content == failure), "{said:?}");
        // The next failure is reported too.
        ada.patch(&format!("/bots/{bot}"), json!({"service_payload_url": hook.url()})).await.ok();
    }
}

#[tokio::test]
async fn replies_are_limited_by_the_bots_permission_to_mention() {
    let server = server().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let mut subscribers = vec![ada.clone()];
    for number in 0..15 {
        subscribers.push(server.member(&format!("member{number}")).await);
    }
    let general = server.channel("general", &subscribers.iter().collect::<Vec<_>>()).await;
    let group = json!({"name": "board", "description": "", "members": [owner.user_id],
        "can_mention_group": SystemGroup::Nobody.id()});
    owner.post("/user_groups/create", group).await.ok();
    let hook = Hook::answering(&[
        (200, r#"{"content": "@**all** wake up"}"#),
        (200, r#"{"content": "@*board* wake up"}"#),
    ]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let mut queue = ada.register(json!({"event_types": ["message"]})).await;
    for reason in [
        "You do not have permission to use channel wildcard mentions in this channel.",
        "You are not allowed to mention user group 'board'.",
    ] {
        ada.send(general, "lunch", "@**Hook** go on").await;
        hook.request();
        let said = messages(&mut queue, 3).await;
        let (notice, failure) = (&said[1], &said[2]);
        assert_eq!((failure.0, failure.2.clone()), (bot, format!("Failure! {reason}")));
        assert_eq!(notice.0, server.notification_bot().await);
        assert!(notice.2.contains(reason), "the owner is notified: {}", notice.2);
        // The next failure is reported too.
        ada.patch(&format!("/bots/{bot}"), json!({"service_payload_url": hook.url()})).await.ok();
    }
    let wildcards = format!("SELECT count(*) FROM message WHERE sender_id = {bot} AND content LIKE '%@%'");
    assert_eq!(server.column(&wildcards).await, ["0"]);
}

#[tokio::test]
async fn bots_do_not_talk_to_bots() {
    let server = server().await;
    let ada = server.member("ada").await;
    let bot = bot(&ada, "http://127.0.0.1:9/", 1).await;
    let helper = server.bot("helper", &ada).await;
    send_direct(&helper, bot, "hello").await;
    assert_eq!(server.column("SELECT count(*) FROM outgoing_webhook").await, ["0"]);
}

#[tokio::test]
async fn the_other_format_is_a_form() {
    let server = server().await;
    let ada = server.member("ada").await;
    let hook = Hook::answering(&[(200, r#"{"text": "done"}"#)]);
    let bot = bot(&ada, &hook.url(), 2).await;
    let general = server.channel("general", &[&ada]).await;
    let mut queue = register(&ada).await;
    ada.send(general, "lunch", "@**Hook** do it").await;
    let (head, body) = hook.request();
    assert!(head.contains(&"content-type: application/x-www-form-urlencoded".to_owned()), "{head:?}");
    let fields: Vec<(String, String)> = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let token = fields[0].1.clone();
    assert_eq!(token.len(), 32);
    let expected = [
        ("token", token.as_str()),
        ("team_id", "T1"),
        ("team_domain", "localhost"),
        ("channel_id", &format!("C{general}")),
        ("channel_name", "general"),
        ("thread_ts", &START.to_string()),
        ("timestamp", &START.to_string()),
        ("user_id", &format!("U{}", ada.user_id)),
        ("user_name", "Ada"),
        ("text", "@**Hook** do it"),
        ("trigger_word", "mention"),
        ("service_id", &bot.to_string()),
    ];
    let expected: Vec<(String, String)> =
        expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    assert_eq!(fields, expected);
    assert_eq!(messages(&mut queue, 2).await[1].2, "done");
    // It has no direct messages.
    send_direct(&ada, bot, "hello").await;
    let said = messages(&mut queue, 2).await;
    assert_eq!(said[1].2, "Failure! Slack outgoing webhooks don't support direct messages.");
}

#[tokio::test]
async fn the_other_format_does_not_name_users_inaccessible_to_bots_of_guests() {
    let server = server().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let hook = Hook::answering(&[(200, "{}")]);
    let bot = bot(&ada, &hook.url(), 2).await;
    let general = server.channel("general", &[&ada]).await;
    let subscribe = json!({"subscriptions": [{"name": "general"}], "principals": [bot]});
    ada.post("/users/me/subscriptions", subscribe).await.ok();
    // Her bots become guests too.
    owner.patch(&format!("/users/{}", ada.user_id), json!({"role": 600})).await.ok();
    server.restrict_guests().await;
    owner.send(general, "lunch", "@**Hook** do it").await;
    let (_, body) = hook.request();
    let name = form_urlencoded::parse(body.as_bytes()).find(|(name, _)| name == "user_name").unwrap().1;
    assert_eq!(name, "Unknown user");
}

#[tokio::test]
async fn reply_events_reproduce_state() {
    let server = server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let hook = Hook::answering(&[(200, r#"{"content": "@**Ada** hi"}"#)]);
    bot(&ada, &hook.url(), 1).await;
    let general = server.channel("general", &[&ada, &bob]).await;
    server
        .check_state_sync(&[&ada, &bob], async || {
            let mut queue = register(&ada).await;
            ada.send(general, "lunch", "@**Hook**").await;
            messages(&mut queue, 2).await;
        })
        .await;
}

/// A server that reports its one request and answers when the test allows it.
fn slow_hook(body: &'static str) -> (SocketAddr, Receiver<()>, Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (came, requests) = channel();
    let (go, gate) = channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 16];
        stream.read_exact(&mut head).unwrap();
        came.send(()).unwrap();
        gate.recv().unwrap();
        let answer = format!("HTTP/1.1 200 X\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).unwrap();
    });
    (address, requests, go)
}

#[tokio::test]
async fn replies_need_access_when_they_arrive() {
    let server = server().await;
    let (ada, eve) = (server.member("ada").await, server.member("eve").await);
    let (address, requests, go) = slow_hook(r#"{"content": "what I heard"}"#);
    let bot = bot(&ada, &format!("http://{address}/"), 1).await;
    // The owner is not subscribed, so that the bot has no access through the owner either.
    let general = server.channel("general", &[&eve]).await;
    let mut queue = register(&ada).await;
    eve.send(general, "lunch", "@**Hook** think").await;
    requests.recv().unwrap();
    server.sql(&format!("UPDATE stream SET invite_only = 1 WHERE stream_id = {general}")).await;
    go.send(()).unwrap();
    // The owner is notified of the failure, the channel is not.
    let said = messages(&mut queue, 1).await;
    assert_ne!(said[0].0, bot, "{said:?}");
    let count = format!("SELECT count(*) FROM message WHERE sender_id = {bot}");
    assert_eq!(server.column(&count).await, ["0"]);
    assert_eq!(server.column("SELECT count(*) FROM outgoing_webhook").await, ["0"]);
}
