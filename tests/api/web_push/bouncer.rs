//! A push bouncer for tests.

use crate::harness::{Client, OUTGOING_TIMEOUT, Received, TestServer};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use teamchat::app::{Options, Overrides, PushBouncer};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub const ORG_ID: &str = "6b9b4a3e-0c67-4f6c-9c2b-8d5c1f8a2e01";
pub const ORG_KEY: &str = "the key of this server";

/// The paths at which phones of Google are registered, and those of Apple.
pub const GOOGLE: &str = "/users/me/android_gcm_reg_id";
pub const APPLE: &str = "/users/me/apns_device_token";

/// The address of servers for apps.
pub const ORIGIN: &str = "https://chat.example.com";

/// The answer of the bouncer to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A status and a JSON body.
    Json(u16, Value),
    /// A status, and lines of the head, each with its end.
    Status(u16, &'static str),
    /// None, and the connection stays open.
    Silence,
    /// Bytes that are not HTTP.
    Noise,
    /// A body that does not end.
    EndlessBody,
    /// Success, once the test has come to the barrier as well.
    Held(Arc<Barrier>),
}

/// A request to the bouncer.
#[derive(Debug)]
pub struct Asked {
    /// The path below `/api/v1/remotes/push/`.
    pub endpoint: String,
    /// The members of JSON, or the fields of a form as texts.
    pub body: Value,
}

pub struct Bouncer {
    pub port: u16,
    requests: UnboundedReceiver<Asked>,
    replies: Arc<Mutex<Replies>>,
}

/// The next replies, and that to all others; success if there is none.
#[derive(Default)]
struct Replies {
    next: VecDeque<Reply>,
    always: Option<Reply>,
}

impl Bouncer {
    /// A bouncer, and a server whose operator names it.
    pub async fn with_server() -> (Self, TestServer) {
        let bouncer = Self::start();
        let server = TestServer::start_with(bouncer.options()).await;
        (bouncer, server)
    }

    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let replies = Arc::new(Mutex::new(Replies::default()));
        let (sender, requests) = unbounded_channel();
        let known = Arc::clone(&replies);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (known, sender) = (Arc::clone(&known), sender.clone());
                thread::spawn(move || drop(serve(stream.unwrap(), &known, &sender)));
            }
        });
        Self { port, requests, replies }
    }

    /// Options of a server whose operator names the bouncer.
    pub fn options(&self) -> Options {
        let bouncer = PushBouncer {
            url: format!("http://127.0.0.1:{}", self.port),
            org_id: ORG_ID.to_owned(),
            org_key: ORG_KEY.to_owned(),
        };
        Options {
            push_bouncer: Some(bouncer),
            public_url: Some(ORIGIN.to_owned()),
            overrides: Overrides { outgoing_timeout: Some(OUTGOING_TIMEOUT), ..Overrides::default() },
            ..Options::default()
        }
    }

    /// The next replies.
    pub fn reply(&self, replies: impl IntoIterator<Item = Reply>) {
        self.replies.lock().unwrap().next.extend(replies);
    }

    /// The reply to all requests from now on; `None` for success.
    pub fn always(&self, reply: Option<Reply>) {
        self.replies.lock().unwrap().always = reply;
    }

    /// Waits for the next request.
    pub async fn next(&mut self) -> Asked {
        self.requests.recv().await.unwrap()
    }

    /// Requests that have come, once all that is due was sent.
    pub async fn all(&mut self, server: &TestServer) -> Vec<Asked> {
        teamchat::scheduler::settle(server.app()).await;
        let mut found = Vec::new();
        while let Ok(asked) = self.requests.try_recv() {
            found.push(asked);
        }
        found
    }

    /// The endpoints of these requests.
    pub async fn endpoints(&mut self, server: &TestServer) -> Vec<String> {
        self.all(server).await.into_iter().map(|asked| asked.endpoint).collect()
    }
}

fn serve(
    stream: TcpStream,
    replies: &Mutex<Replies>,
    sender: &UnboundedSender<Asked>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let Some(received) = Received::read(&mut reader)? else { return Ok(()) };
    assert_eq!(received.method, "POST");
    let credentials = STANDARD.encode(format!("{ORG_ID}:{ORG_KEY}"));
    assert_eq!(received.header("authorization"), format!("Basic {credentials}"));
    let body = if received.header("content-type") == "application/json" {
        serde_json::from_slice(&received.body).unwrap()
    } else {
        let fields = form_urlencoded::parse(&received.body).into_owned();
        Value::Object(fields.map(|(name, value)| (name, Value::from(value))).collect::<Map<_, _>>())
    };
    let endpoint = received.path.strip_prefix("/api/v1/remotes/push/").unwrap().to_owned();
    let reply = {
        let mut replies = replies.lock().unwrap();
        let next = replies.next.pop_front();
        next.or_else(|| replies.always.clone()).unwrap_or_else(|| Reply::Json(200, success(&endpoint)))
    };
    let succeeded = success(&endpoint);
    let _no_test_waits = sender.send(Asked { endpoint, body });
    let stream = reader.get_mut();
    match reply {
        Reply::Json(status, body) => write_json(stream, status, &body)?,
        Reply::Held(barrier) => {
            barrier.wait();
            write_json(stream, 200, &succeeded)?;
        }
        Reply::Status(status, head) => {
            write!(stream, "HTTP/1.1 {status} X\r\n{head}Content-Length: 0\r\n\r\n")?;
        }
        Reply::Silence => {
            // Until the other side ends the connection.
            stream.read_to_end(&mut Vec::new())?;
        }
        Reply::Noise => stream.write_all(b"\x00\xffSSH-2.0 no HTTP\r\n\r\n")?,
        Reply::EndlessBody => {
            stream.write_all(b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n")?;
            loop {
                stream.write_all(b"10\r\naaaaaaaaaaaaaaaa\r\n")?;
            }
        }
    }
    stream.flush()
}

fn write_json(stream: &mut TcpStream, status: u16, body: &Value) -> std::io::Result<()> {
    let body = body.to_string();
    write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// The published answer to a request.
fn success(endpoint: &str) -> Value {
    let mut answer = json!({"result": "success", "msg": ""});
    if endpoint == "notify" {
        answer["total_android_devices"] = json!(1);
        answer["total_apple_devices"] = json!(1);
        answer["deleted_devices"] = json!({"android_devices": [], "apple_devices": []});
        answer["realm"] = Value::Null;
    }
    answer
}

/// A refusal in the published form.
pub fn refusal(code: &str, msg: &str) -> Reply {
    Reply::Json(400, json!({"result": "error", "code": code, "msg": msg}))
}

/// A phone of Google with this token, and the request with which it was registered.
pub async fn phone(bouncer: &mut Bouncer, client: &Client, token: &str) -> Asked {
    client.post(GOOGLE, json!({"token": token})).await.ok();
    let asked = bouncer.next().await;
    assert_eq!(asked.endpoint, "register");
    asked
}
