//! Notifications of browsers, and of phones.

use super::{Steps, Stop, until_empty};
use crate::program::{Person, Server};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The keys of the browser in the example of RFC 8291.
const PUBLIC_KEY: &str =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
const AUTH_SECRET: &str = "BTBZMqHH6r4Tts7J_aSIgg";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// There is a connection, and no request yet.
    Connected,
    /// The request is there, and not answered.
    Requested,
    /// It is answered, which the server has not read.
    Answered,
}

/// A push service of browsers, or a push bouncer.
struct PushService {
    port: u16,
    steps: Steps<Step>,
    /// The subject of each notification: of browsers the topic, of phones the message.
    got: UnboundedReceiver<String>,
}

impl PushService {
    /// A service with TLS, or without it.
    fn start(tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let steps = Steps::new();
        let (sender, got) = unbounded_channel();
        let stop = Arc::clone(&steps.stop);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stop, sender, tls) = (Arc::clone(&stop), sender.clone(), tls.clone());
                // A client that is killed ends the conversation.
                thread::spawn(move || drop(converse(stream.unwrap(), tls, &stop, &sender)));
            }
        });
        Self { port, steps, got }
    }

    fn notifications(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.got.try_recv().ok()).collect()
    }
}

fn converse(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    stop: &Stop<Step>,
    sender: &UnboundedSender<String>,
) -> std::io::Result<()> {
    if stop.pass(Step::Connected) {
        // The program may have written its request before it was killed: this service has not taken it.
        return Ok(());
    }
    let Some(config) = tls else { return answer(stream, stop, sender) };
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    answer(&mut stream, stop, sender)?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// Reads one request, and answers it.
fn answer(
    stream: impl Read + Write,
    stop: &Stop<Step>,
    sender: &UnboundedSender<String>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut request, mut topic, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut request)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_lowercase().as_str() {
            "topic" => value.clone_into(&mut topic),
            "content-length" => length = value.parse().unwrap(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    // A bouncer also gets the tokens of phones.
    let is_notification = !topic.is_empty() || request.contains("/notify ");
    let mut has_stopped = false;
    if is_notification {
        if topic.is_empty() {
            let body: Value = serde_json::from_slice(&body).unwrap();
            topic = body["gcm_payload"]["zulip_message_id"].to_string();
        }
        // The test may be over.
        let _unread = sender.send(topic);
        stop.pass(Step::Requested);
        has_stopped = stop.pass(Step::Answered);
    }
    let body = r#"{"result": "success", "msg": ""}"#;
    let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
    reader.get_mut().write_all(format!("{head}{body}").as_bytes())?;
    reader.get_mut().flush()?;
    if has_stopped {
        stop.report();
    }
    Ok(())
}

/// A moderator, who is away, and a bot that mentions them. Owners also get notices, for example of a full disk.
struct People {
    ada: Person,
    bot: Person,
}

impl People {
    fn create(db: &Path) -> Self {
        Person::create(db, "owner", "owner");
        let (ada, bot) = (Person::create(db, "ada", "moderator"), Person::create(db, "bot", "member"));
        Self { ada, bot }
    }

    /// Both subscribe to a channel.
    async fn meet(&self, server: &Server) {
        let channel = json!({"subscriptions": [{"name": "general"}], "principals": [self.ada.user_id, self.bot.user_id]});
        self.ada.ask(&server.origin, "POST", "/users/me/subscriptions", &channel).await.unwrap();
    }

    /// Mentions Ada in a topic of its own, which has its own notification.
    async fn mention(&self, server: &Server, topic: &str) {
        let message =
            json!({"type": "channel", "to": "general", "topic": topic, "content": "@**ada** hello"});
        self.bot.ask(&server.origin, "POST", "/messages", &message).await.unwrap();
    }
}

/// Kills the server at each step of a notification.
async fn kill_at_each_step(
    db: &Path,
    variables: &[(&str, &Path)],
    mut server: Server,
    service: &mut PushService,
    (people, queue): (&People, &str),
) {
    // The first also waits for the phone, which the server names to the bouncer: a conversation of its own.
    people.mention(&server, "first").await;
    service.got.recv().await.unwrap();
    until_empty(db, queue);
    // The notifications that come before the kill, and after it. Without a step, the server has read the answer.
    for (step, before, after) in [
        (Some(Step::Connected), 0, 1),
        (Some(Step::Requested), 1, 1),
        (Some(Step::Answered), 1, 1),
        (None, 1, 0),
    ] {
        let topic = step.map_or_else(|| "done".to_owned(), |step| format!("{step:?}"));
        let mut first = Vec::new();
        match step {
            Some(step) => {
                service.steps.stop_at(step);
                people.mention(&server, &topic).await;
                service.steps.reached().await;
                if step == Step::Answered {
                    service.steps.kill_after_answer(server).await;
                } else {
                    service.steps.kill(server);
                }
            }
            None => {
                people.mention(&server, &topic).await;
                first.push(service.got.recv().await.unwrap());
                until_empty(db, queue);
                server.kill();
            }
        }
        first.extend(service.notifications());
        server = Server::start_with(db, variables);
        people.mention(&server, &format!("after {topic}")).await;
        let mut second = Vec::new();
        for _ in 0..=after {
            second.push(service.got.recv().await.unwrap());
        }
        until_empty(db, queue);
        second.extend(service.notifications());
        assert_eq!((first.len(), second.len()), (before, after + 1), "{topic}: {first:?} {second:?}");
        // Each has a notification of its own. Those that are due at once come in any order.
        let mut counts = BTreeMap::new();
        for about in first.iter().chain(&second) {
            *counts.entry(about).or_default() += 1;
        }
        let mut counts: Vec<usize> = counts.into_values().collect();
        counts.sort_unstable();
        assert_eq!(counts, [1, before + after], "{topic}: {first:?} {second:?}");
    }
    server.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notifications_of_phones_come_once_although_the_server_is_killed_at_any_step() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let people = People::create(&db);
    let mut bouncer = PushService::start(None);
    let url = format!("http://127.0.0.1:{}", bouncer.port);
    let variables = [
        ("TEAMCHAT_PUSH_BOUNCER", Path::new(url.as_str())),
        ("TEAMCHAT_PUSH_ORG_ID", Path::new("6b9b4a3e-0c67-4f6c-9c2b-8d5c1f8a2e01")),
        ("TEAMCHAT_PUSH_ORG_KEY", Path::new("a key")),
    ];
    let server = Server::start_with(&db, &variables);
    people.meet(&server).await;
    let phone = json!({"token": "a phone"});
    people.ada.ask(&server.origin, "POST", "/users/me/android_gcm_reg_id", &phone).await.unwrap();
    kill_at_each_step(&db, &variables, server, &mut bouncer, (&people, "phone_push")).await;
}

// conformance: push-16
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notifications_of_browsers_come_once_although_the_server_is_killed_at_any_step() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let people = People::create(&db);
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let mut service = PushService::start(Some(Arc::new(config)));
    let authority = folder.path().join("authority.pem");
    std::fs::write(&authority, cert.pem()).unwrap();
    let variables = [
        ("TEAMCHAT_WEB_PUSH_HOSTS", Path::new("127.0.0.1:*")),
        ("TEAMCHAT_WEB_PUSH_CA", authority.as_path()),
    ];
    let server = Server::start_with(&db, &variables);
    people.meet(&server).await;
    let endpoint = format!("https://127.0.0.1:{}/push", service.port);
    let subscription = json!({"endpoint": endpoint, "p256dh": PUBLIC_KEY, "auth": AUTH_SECRET});
    people.ada.subscribe_browser(&server.origin, &subscription).await;
    kill_at_each_step(&db, &variables, server, &mut service, (&people, "web_push")).await;
}
