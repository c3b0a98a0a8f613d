//! HTTP/2: the same answers as over HTTP/1.1, and clients that break its rules or use them against the server.

use crate::authority::{Answer, Authority, NAME, address_of, exchange, request, with};
use crate::program::{Serving, command, words};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Request, Version};
use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A server and clients for it.
struct Secure {
    serving: Serving,
    authority: Authority,
    address: SocketAddr,
    folder: tempfile::TempDir,
}

impl Secure {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::new();
        let files = authority.issue(folder.path(), &[NAME], 90);
        let serving =
            Serving::start(folder.path(), &[&["--listen", "127.0.0.1:0"][..], &files.flags()].concat());
        let address = address_of(&serving.origin());
        Self { serving, authority, address, folder }
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        self.authority.send(self.address, Version::HTTP_2, request).await
    }

    fn url(&self, path: &str) -> String {
        format!("https://{NAME}:{}{path}", self.address.port())
    }

    /// A connection that has exchanged settings.
    async fn raw(&self) -> Raw {
        let mut raw = Raw(self.authority.connect(self.address, &[b"h2"]).await);
        raw.0.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        raw.send(SETTINGS, 0, 0, &[]).await.unwrap();
        raw.send(SETTINGS, 1, 0, &[]).await.unwrap();
        raw
    }

    /// Others are answered.
    async fn is_well(&self) {
        let answer = self.send(request("GET", &self.url("/health"), &[])).await;
        assert_eq!((answer.status, answer.version), (200, Version::HTTP_2));
    }
}

/// A client that writes frames itself.
struct Raw(TlsStream<TcpStream>);

/// A frame: its type, flags, stream and payload.
type Frame = (u8, u8, u32, Vec<u8>);

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head, payload].concat()
}

/// The head of `GET` for a path, with further headers, as HPACK without compression.
fn head(path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()][..], text.as_bytes()].concat();
    // `:method: GET`, `:scheme: https`, then literals for `:authority` and `:path`.
    let mut block = [&[0x82, 0x87, 0x01][..], &text(NAME), &[0x04], &text(path)].concat();
    for (name, value) in more {
        block.extend([&[0][..], &text(name), &text(value)].concat());
    }
    block
}

impl Raw {
    async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> std::io::Result<()> {
        self.0.write_all(&frame(kind, flags, stream, payload)).await
    }

    async fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let mut payload = vec![0; length as usize];
        self.0.read_exact(&mut payload).await.ok()?;
        Some((head[3], head[4], stream, payload))
    }

    /// The next frame of a type on a stream.
    async fn expect(&mut self, kind: u8, stream: u32) -> Vec<u8> {
        loop {
            let (found, _, on, payload) = self.next().await.expect("the connection is open");
            assert!(found != GOAWAY || kind == GOAWAY, "the connection ends: {payload:?}");
            if (found, on) == (kind, stream) {
                return payload;
            }
        }
    }

    /// Reads to the end of the connection, and returns the error code of the last GOAWAY, if there is one.
    async fn end(&mut self) -> Option<u8> {
        let mut code = None;
        while let Some((kind, _, _, payload)) = self.next().await {
            if kind == GOAWAY {
                code = Some(payload[7]);
            }
        }
        code
    }
}

/// As `tests/api/http` has them for HTTP/1.1.
#[tokio::test]
async fn errors_are_the_same_as_over_http1() {
    let server = Secure::start();
    let large = "x".repeat(70_000);
    let get = |path: &str| request("GET", &server.url(path), &[]);
    let settings = "/api/v1/server_settings";
    let foreign = request("POST", &server.url("/json/messages"), &[]);
    let cases = [
        (get("/no/such/path"), 404, "Not found"),
        (request("DELETE", &server.url(settings), &[]), 405, "Method Not Allowed"),
        (request("BREW", &server.url(settings), &[]), 405, "Method Not Allowed"),
        (with(get(settings), "x-large", &large), 431, "The headers of the request are too large"),
        (with(get(settings), "host", "other.example.com"), 400, "A request has one Host header."),
        (get("/api/v1/users/me"), 401, ""),
        (request("POST", &server.url("/api/v1/fetch_api_key"), &[("username", &large)]), 413, ""),
        (with(foreign, "origin", "https://evil.example"), 403, "CSRF error"),
    ];
    for (request, status, msg) in cases {
        let answer = server.send(request).await;
        assert_eq!((answer.status, answer.version), (status, Version::HTTP_2), "{msg}");
        assert_eq!(answer.headers["content-type"], "application/json");
        assert!(!answer.headers.contains_key("connection"));
        let body = answer.json();
        assert_eq!(body["result"], "error", "{body}");
        assert!(body["msg"].as_str().unwrap().contains(msg), "{status}: {body}");
    }
    server.is_well().await;
    server.serving.stop();
}

/// A browser may send each cookie in a header of its own.
#[tokio::test]
async fn cookies_in_several_headers_are_one() {
    let server = Secure::start();
    let mut client = h2_client(&server).await;
    let secret = "0".repeat(32);
    let own = format!("__Host-teamchat_session={secret}");
    let together = format!("a=b; {own}");
    let mut answers = Vec::new();
    for cookies in [vec![together.as_str()], vec!["a=b", own.as_str()]] {
        let mut request = Request::get(server.url("/json/users/me"));
        for cookie in cookies {
            request = request.header("cookie", cookie);
        }
        let (response, _) = client.send_request(request.body(()).unwrap(), true).unwrap();
        let (head, mut body) = response.await.unwrap().into_parts();
        let mut text = Vec::new();
        while let Some(data) = body.data().await {
            text.extend(data.unwrap());
        }
        answers.push((head.status.as_u16(), String::from_utf8(text).unwrap()));
    }
    assert_eq!(answers[0], answers[1]);
    server.serving.stop();
}

async fn h2_client(server: &Secure) -> h2::client::SendRequest<Bytes> {
    let stream = server.authority.connect(server.address, &[b"h2"]).await;
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    client.ready().await.unwrap()
}

#[tokio::test]
async fn more_than_a_hundred_requests_at_a_time_are_refused() {
    let server = Secure::start();
    let mut raw = server.raw().await;
    // Each waits for its body.
    for number in 0..101 {
        raw.send(HEADERS, END_HEADERS, number * 2 + 1, &head("/api/v1/server_settings", &[])).await.unwrap();
    }
    assert_eq!(raw.expect(RST_STREAM, 201).await, [0, 0, 0, 7], "REFUSED_STREAM");
    server.is_well().await;
    // A server that stops would wait for the bodies.
    drop(raw);
    server.serving.stop();
}

#[tokio::test]
async fn many_cancelled_requests_end_the_connection() {
    let server = Secure::start();
    let mut raw = server.raw().await;
    let mut number = 1;
    // The write fails once the server has closed the connection.
    loop {
        let mut bytes = Vec::new();
        for _ in 0..50 {
            bytes.extend(frame(
                HEADERS,
                END_HEADERS | END_STREAM,
                number,
                &head("/api/v1/server_settings", &[]),
            ));
            bytes.extend(frame(RST_STREAM, 0, number, &[0, 0, 0, 8]));
            number += 2;
        }
        if raw.0.write_all(&bytes).await.is_err() || raw.0.flush().await.is_err() {
            break;
        }
        assert!(number < 2_000_000, "the connection stays open");
    }
    server.is_well().await;
    server.serving.stop();
}

#[tokio::test]
async fn endless_headers_end_the_connection() {
    let server = Secure::start();
    let filler = head("/", &[("x-filler", &"y".repeat(100))])[3 + NAME.len() + 4..].to_vec();
    for payload in [&[][..], &filler] {
        let mut raw = server.raw().await;
        raw.send(HEADERS, END_STREAM, 1, &head("/", &[])).await.unwrap();
        let mut sent = 0;
        while raw.send(CONTINUATION, 0, 1, payload).await.is_ok() {
            sent += 1;
            assert!(sent < 1_000_000, "the connection stays open");
        }
    }
    // A small block that becomes large: one entry of the table, named again and again.
    let mut raw = server.raw().await;
    let value = "z".repeat(120);
    let mut block = head("/", &[]);
    block.extend([&[0x40, 5][..], b"x-big", &[120], value.as_bytes()].concat());
    block.extend(vec![0xbe; 15_000]);
    raw.send(HEADERS, END_HEADERS | END_STREAM, 1, &block).await.unwrap();
    // Refused, or the end of the connection.
    let answer = loop {
        match raw.next().await {
            Some((HEADERS | GOAWAY | RST_STREAM, _, _, payload)) => break payload,
            Some(_) => {}
            None => break Vec::new(),
        }
    };
    assert!(!answer.windows(value.len()).any(|part| part == value.as_bytes()));
    server.is_well().await;
    server.serving.stop();
}

/// Control frames ask for answers, which a client need not read.
#[tokio::test]
async fn floods_of_control_frames_harm_only_their_connection() {
    let server = Secure::start();
    let setting = [0, 3, 0, 0, 0, 100];
    for (kind, payload) in [(PING, &[0; 8][..]), (SETTINGS, &setting), (WINDOW_UPDATE, &[0, 0, 0, 1])] {
        let mut raw = server.raw().await;
        let bytes = frame(kind, 0, 0, payload).repeat(1000);
        let flood = async {
            for _ in 0..1000 {
                if raw.0.write_all(&bytes).await.is_err() {
                    return;
                }
            }
        };
        // The server stops reading when its answers are not read, or goes on; others are answered meanwhile.
        tokio::select! {
            () = flood => {}
            () = async {
                for _ in 0..50 {
                    server.is_well().await;
                }
            } => {}
        }
    }
    server.is_well().await;
    server.serving.stop();
}

#[tokio::test]
async fn frames_against_the_rules_end_the_connection() {
    let server = Secure::start();
    let request = || head("/api/v1/server_settings", &[]);
    let whole = END_HEADERS | END_STREAM;
    let cases: &[(&str, Vec<Vec<u8>>)] = &[
        ("a window beyond its limit", vec![frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff])]),
        ("a window that does not grow", vec![frame(WINDOW_UPDATE, 0, 0, &[0; 4])]),
        ("data before a head", vec![frame(DATA, 0, 1, b"x")]),
        ("a stream of the server", vec![frame(HEADERS, whole, 2, &request())]),
        (
            "streams that go back",
            vec![frame(HEADERS, whole, 5, &request()), frame(HEADERS, whole, 3, &request())],
        ),
        ("a frame inside a head", vec![frame(HEADERS, 0, 1, &request()), frame(PING, 0, 0, &[0; 8])]),
        ("a continuation of nothing", vec![frame(CONTINUATION, END_HEADERS, 1, &request())]),
        ("a head that HPACK cannot read", vec![frame(HEADERS, whole, 1, &[0xff; 20])]),
        ("an initial window beyond its limit", vec![frame(SETTINGS, 0, 0, &[0, 4, 0xff, 0xff, 0xff, 0xff])]),
        ("a frame that is too large", vec![frame(DATA, 0, 1, &[0; 20_000])]),
        ("a ping of another length", vec![frame(PING, 0, 0, &[0; 7])]),
    ];
    for (name, frames) in cases {
        let mut raw = server.raw().await;
        for frame in frames {
            // The connection may have ended.
            let _ended = raw.0.write_all(frame).await;
        }
        let code = raw.end().await;
        assert!(code.is_none_or(|code| code != 0), "{name}: {code:?}");
    }
    server.is_well().await;
    server.serving.stop();
}

/// The text after the choice of HTTP/2 is something else.
#[tokio::test]
async fn other_protocols_after_the_handshake_are_refused() {
    let server = Secure::start();
    let mut stream = server.authority.connect(server.address, &[b"h2"]).await;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _cut = stream.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP/1.1 200"), "{answer:?}");
    // And the other way round: HTTP/2 without its name in the handshake.
    let mut stream = server.authority.connect(server.address, &[b"http/1.1"]).await;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    // The server would wait for more.
    let _closed = stream.shutdown().await;
    let _cut = stream.read_to_end(&mut answer).await;
    server.is_well().await;
    server.serving.stop();
}

/// At the stop, waiting requests are answered, and new ones go elsewhere.
#[tokio::test]
async fn waiting_requests_are_answered_when_the_server_stops() {
    let server = Secure::start();
    let db = server.folder.path().join("chat.sqlite");
    let create = ["user", "create", "--email", "a@example.com", "--full-name", "A", "--json", "--db"];
    let created = command(&create).arg(&db).output().unwrap();
    let created: Value = serde_json::from_slice(&created.stdout).unwrap();
    let key = created["api_key"].as_str().unwrap();
    let credentials = format!("Basic {}", STANDARD.encode(format!("a@example.com:{key}")));
    let ask = |method: &str, path: &str| {
        with(request(method, &server.url(&format!("/api/v1{path}")), &[]), "authorization", &credentials)
    };
    let mut polls = Vec::new();
    for _ in 0..3 {
        let queue = server.send(ask("POST", "/register")).await.json();
        let (id, last) = (queue["queue_id"].as_str().unwrap(), &queue["last_event_id"]);
        let poll = ask("GET", &format!("/events?queue_id={id}&last_event_id={last}"));
        let stream = server.authority.connect(server.address, &[b"h2"]).await;
        polls.push(tokio::spawn(exchange(stream, Version::HTTP_2, poll)));
    }
    let status = || words(&command(&["status", "--json", "--db"]).arg(&db).output().unwrap()).1;
    while !status().contains("\"polls_waiting\":3,") {
        tokio::task::yield_now().await;
    }
    let serving = server.serving;
    tokio::task::spawn_blocking(move || serving.stop()).await.unwrap();
    for poll in polls {
        let answer = poll.await.unwrap();
        assert_eq!((answer.status, &answer.json()["result"]), (200, &"success".into()), "{:?}", answer.body);
    }
}
