//! Outgoing webhooks, with a server of the test's own at the other end.

use crate::harness::{Client, OUTGOING_TIMEOUT, Queue, ReservedPort, START, TestServer};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use teamchat::app::{Options, Overrides};
use teamchat::domain::groups::system::SystemGroup;
use teamchat::domain::limits;
use teamchat::scheduler;

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

/// Waits for a number of messages. Returns sender, recipient, topic and content of each.
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
    server.sql("INSERT INTO group_setting VALUES ('realm', 1, 'can_access_all_users_group', 6)").await;
    owner.send(general, "lunch", "@**Hook** do it").await;
    let (_, body) = hook.request();
    let name = form_urlencoded::parse(body.as_bytes()).find(|(name, _)| name == "user_name").unwrap().1;
    assert_eq!(name, "Unknown user");
}

#[tokio::test]
async fn invalid_replies_are_reported() {
    let server = server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let notifier = server.notification_bot().await;
    let hook = Hook::answering(&[(404, "not here"), (200, "oops"), (200, "[]")]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let (mut of_ada, mut of_bob) = (register(&ada).await, register(&bob).await);
    let prefix = |id: i64| {
        let url = format!("/#narrow/dm/{},{bot}/near/{id}", bob.user_id);
        format!("[A message]({url}) to your bot @_**Hook|{bot}** triggered an outgoing webhook.\n")
    };
    let attempted = "The outgoing webhook server attempted to send a message, but that request resulted in \
                     the following error:\n";
    let payload = |text: &str| format!("\nThe response contains the following payload:\n```\n{text}\n```");
    let cases = [
        (
            "Failure! Third party responded with 404",
            format!("The webhook got a response with status code *404*.{}", payload("not here")),
        ),
        (
            "Failure! Invalid JSON in response",
            format!("{attempted}> Invalid JSON in response{}", payload("oops")),
        ),
        (
            "Failure! Invalid response format",
            format!("{attempted}> Invalid response format{}", payload("[]")),
        ),
    ];
    for (reply, reasons) in cases {
        let id = send_direct(&bob, bot, "hello").await;
        hook.request();
        let said = messages(&mut of_bob, 2).await;
        assert_eq!((said[1].0, said[1].2.as_str()), (bot, reply));
        let received = messages(&mut of_ada, 1).await;
        assert_eq!(received, [(notifier, json!("Internal"), prefix(id) + &reasons)]);
        ada.patch(&format!("/bots/{bot}"), json!({"service_payload_url": hook.url()})).await.ok();
    }
}

#[tokio::test]
async fn a_server_that_is_down_is_tried_four_times() {
    let server = server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let closed = ReservedPort::new();
    let bot = bot(&ada, &url_of(&closed), 1).await;
    let (mut of_ada, mut of_bob) = (register(&ada).await, register(&bob).await);
    send_direct(&bob, bot, "hello").await;
    for tries in 1..=3 {
        while server.column("SELECT failed_tries FROM outgoing_webhook").await != [tries.to_string()] {
            tokio::task::yield_now().await;
        }
        let next: i64 = server.column("SELECT next_try FROM outgoing_webhook").await[0].parse().unwrap();
        server.clock.advance(next - server.clock.seconds());
        scheduler::wake(server.app());
    }
    let said = messages(&mut of_bob, 2).await;
    assert_eq!((said[1].0, said[1].2.as_str()), (bot, "Failure! Bot is unavailable"));
    let received = messages(&mut of_ada, 1).await;
    assert!(received[0].2.ends_with("\nA connection error occurred. Is my bot server down?"), "{received:?}");
    assert_eq!(server.clock.seconds(), START + 2 + 10 + 60);
}

const NOT_ALLOWED: &str = "The URL configured for the webhook is for a private or disallowed network. The operator of \
                           this server can allow hosts with --webhook-hosts.";

#[tokio::test]
async fn only_hosts_that_were_allowed_are_posted_to() {
    let server = server().await;
    let ada = server.member("ada").await;
    let bot = bot(&ada, "http://localhost:9/", 1).await;
    let mut queue = register(&ada).await;
    send_direct(&ada, bot, "hello").await;
    let said = messages(&mut queue, 3).await;
    assert!(said[1].2.ends_with(&format!("\n{NOT_ALLOWED}")), "{said:?}");
    assert_eq!(said[2].2, "Failure! Bot is unavailable");
}

/// All spellings of local addresses are refused before a connection is made.
#[tokio::test]
async fn every_host_means_none_of_this_machine_or_of_private_networks() {
    let options = Options { webhook_hosts: vec!["*".to_owned()], ..Options::default() };
    let server = TestServer::start_with(options).await;
    let ada = server.member("ada").await;
    let port = server.address().port();
    let bot = bot(&ada, &format!("http://localhost:{port}/"), 1).await;
    let mut queue = register(&ada).await;
    for host in [
        "localhost",
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0",
        "169.254.169.254",
    ] {
        let url = format!("http://{host}:{port}/api/v1/server_settings");
        ada.patch(&format!("/bots/{bot}"), json!({"service_payload_url": url})).await.ok();
        send_direct(&ada, bot, "hello").await;
        let said = messages(&mut queue, 3).await;
        assert!(said[1].2.ends_with(&format!("\n{NOT_ALLOWED}")), "{host}: {said:?}");
    }
}

#[tokio::test]
async fn bots_with_unreachable_urls_are_refused() {
    let server = server().await;
    let ada = server.member("ada").await;
    let params = json!({"full_name": "Hook", "short_name": "hook", "bot_type": 3, "payload_url": "https://127.0.0.1/"});
    let msg = "payload_url: this server posts to http URLs, and not to https ones";
    ada.post("/bots", params).await.error(400, "BAD_REQUEST", msg);
    let bot = bot(&ada, "http://127.0.0.1/", 1).await;
    let params = json!({"service_payload_url": "https://127.0.0.1/"});
    let msg = "service_payload_url: this server posts to http URLs, and not to https ones";
    ada.patch(&format!("/bots/{bot}"), params).await.error(400, "BAD_REQUEST", msg);
}

#[tokio::test]
async fn a_message_that_the_server_fails_to_post_stops_no_other() {
    let server = server().await;
    let ada = server.member("ada").await;
    let hook = Hook::answering(&[(200, r#"{"content": "pong"}"#)]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let mut queue = register(&ada).await;
    server
        .sql(&format!(
            "INSERT INTO outgoing_webhook (message_id, bot_id, \"trigger\", next_try) VALUES (999, {bot}, 'mention', 0);
             CREATE TRIGGER broken BEFORE DELETE ON outgoing_webhook WHEN old.message_id = 999
             BEGIN SELECT RAISE(FAIL, 'broken'); END"
        ))
        .await;
    send_direct(&ada, bot, "ping").await;
    assert!(hook.request().1.contains("ping"));
    assert_eq!(messages(&mut queue, 2).await[1].2, "pong");
    assert_eq!(server.column("SELECT message_id FROM outgoing_webhook").await, ["999"], "it is tried again");
}

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

/// The URL set by the former owner is not used, and its late answer is not sent.
#[tokio::test]
async fn new_owners_have_to_set_the_url() {
    let server = server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    // No server listens there, so the first message waits for a retry.
    let closed = ReservedPort::new();
    let id = bot(&ada, &url_of(&closed), 1).await;
    send_direct(&ada, id, "waits").await;
    while server.column("SELECT failed_tries FROM outgoing_webhook").await != ["1"] {
        tokio::task::yield_now().await;
    }
    ada.patch(&format!("/bots/{id}"), json!({"bot_owner_id": bob.user_id})).await.ok();
    assert_eq!(server.column("SELECT count(*) FROM outgoing_webhook").await, ["0"]);
    let mut queue = register(&bob).await;
    send_direct(&bob, id, "hello").await;
    let said: Vec<String> =
        messages(&mut queue, 3).await.into_iter().map(|(_, _, content)| content).collect();
    assert!(
        said[1].ends_with("The webhook has no URL since it has a new owner. Set one in its settings."),
        "{said:?}"
    );
    assert_eq!(said[2], "Failure! Bot is unavailable");
    queue.ignore();
}

/// The URL of a port that refuses connections: messages to it wait for their next attempt.
fn url_of(closed: &ReservedPort) -> String {
    format!("http://{}/", closed.address())
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
async fn owners_are_notified_of_one_failure_in_an_hour() {
    let server = server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let (failure, success) = ((404, "not here"), (200, r#"{"content": "pong"}"#));
    let hook = Hook::answering(&[failure, failure, success, failure, failure]);
    let bot = bot(&ada, &hook.url(), 1).await;
    let mut of_bob = register(&bob).await;
    let notifier = server.notification_bot().await;
    let query = format!("SELECT count(*) FROM message WHERE sender_id = {notifier} AND content LIKE '%404%'");
    // After a success, and after an hour, the next failure is news.
    for notices in ["1", "1", "1", "2", "3"] {
        if notices == "3" {
            server.clock.advance(3600);
        }
        send_direct(&bob, bot, "hello").await;
        hook.request();
        messages(&mut of_bob, 2).await;
        assert_eq!(server.column(&query).await, [notices]);
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
