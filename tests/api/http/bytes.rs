//! Requests that no HTTP library would send.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use teamchat::app::Options;

/// Sends bytes and reads the answer: status, head, body.
fn exchange(server: &TestServer, request: &[u8]) -> (u16, String, String) {
    exchange_on(&mut TcpStream::connect(server.address()).unwrap(), request)
}

/// The same on a connection that stays.
fn exchange_on(stream: &mut TcpStream, request: &[u8]) -> (u16, String, String) {
    stream.write_all(request).unwrap();
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "the head ends: {}", String::from_utf8_lossy(&head));
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let status = head[9..12].parse().unwrap();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    (status, head, String::from_utf8(body).unwrap())
}

/// An error of this status and text, in JSON.
#[track_caller]
fn expect(server: &TestServer, request: &[u8], status: u16, msg: &str) {
    expect_code(server, request, status, if status == 401 { "UNAUTHORIZED" } else { "BAD_REQUEST" }, msg);
}

#[track_caller]
fn expect_code(server: &TestServer, request: &[u8], status: u16, code: &str, msg: &str) {
    let (found, head, body) = exchange(server, request);
    let start = String::from_utf8_lossy(&request[..request.len().min(80)]).into_owned();
    assert!(head.contains("content-type: application/json\r\n"), "{start}: {head}");
    let json: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((found, &json["msg"], &json["result"]), (status, &msg.into(), &"error".into()), "{start}");
    assert_eq!(json["code"], code, "{start}: {body}");
    assert!(body.ends_with("}\n"), "{start}: {body}");
}

const INVALID: &str = "The request is not valid HTTP";

// conformance: conv-18, conv-23
#[tokio::test]
async fn malformed_http_is_answered_in_json() {
    let server = TestServer::start().await;
    let long = "a".repeat(70_000);
    let headers = "X: a\r\n".repeat(150);
    let too_long = "The address of the request is too long";
    let too_large = "The headers of the request are too large";
    let cases: &[(&[u8], u16, &str)] = &[
        (b"GARBAGE\r\n\r\n", 400, INVALID),
        (b"GET / HTTP/3.0\r\nHost: x\r\n\r\n", 400, INVALID),
        (b"PRI * HTTP/2.0\r\n\r\n", 400, INVALID),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "This server supports HTTP/1.1 here, and not HTTP/2"),
        (b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n", 400, INVALID),
        (b"GET / HTTP/1.1\nHost: x\r\n\r\n", 400, INVALID),
        (b"GET / HTTP/1.1\r\nHost: x\nX: y\r\n\r\n", 400, INVALID),
        (b"GET / HTTP/1.1\r\nHost: x\n\n", 400, INVALID),
        (
            b"GET /api/v1/server_settings HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
            400,
            "A request has one Host header.",
        ),
        (b"GET / HTTP/1.1\r\nBad Header\r\n\r\n", 400, INVALID),
        (b"GET / HTTP/1.1\r\nX: \x00\r\n\r\n", 400, INVALID),
        (b"\x16\x03\x01\x02\x00\x01\x00", 400, INVALID),
        (b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400, INVALID),
        (b"POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400, INVALID),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400, INVALID),
        (&format!("GET /{long} HTTP/1.1\r\n\r\n").into_bytes(), 414, too_long),
        (&format!("GET / HTTP/1.1\r\n{headers}\r\n").into_bytes(), 431, too_large),
    ];
    for (request, status, msg) in cases {
        expect(&server, request, *status, msg);
    }
}

/// Requests that arrive together are checked one by one.
#[tokio::test]
async fn a_malformed_head_behind_another_request_is_refused() {
    let server = TestServer::start().await;
    let fine = "GET /api/v1/server_settings HTTP/1.1\r\nHost: x\r\n\r\n";
    let form = "POST /api/v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na\nb";
    for (before, status) in [(fine, 200), (form, 404)] {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let malformed = fine.replace("Host: x\r\n", "Host: x\nX: y\r\n");
        let (found, head, _) = exchange_on(&mut stream, format!("{before}{fine}{malformed}").as_bytes());
        assert_eq!(found, status, "{head}");
        assert_eq!(exchange_on(&mut stream, b"").0, 200);
        assert_eq!(exchange_on(&mut stream, b"").0, 400);
    }
}

#[tokio::test]
async fn unusual_requests_reach_the_router() {
    let server = TestServer::start().await;
    // A target that is no path is ignored; without one, the page itself is the target.
    expect(&server, b"CONNECT chat.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", 405, "Method Not Allowed");
    for line in ["OPTIONS *", "GET http://elsewhere/api/v1/nothing", "GET /api/v1/%zz", "GET /nothing?%00"] {
        let request = format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n");
        expect(&server, request.as_bytes(), 404, "Not found");
    }
    for request in [
        "GET /api/v1/server_settings HTTP/1.0\r\n\r\n",
        "GET http://elsewhere/api/v1/server_settings HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /api/v1/server_settings HTTP/1.1\r\nHost: \r\n\r\n",
        "GET /api/v1/server_settings HTTP/1.1\r\nUser-Agent: \u{e4}/1\r\nAccept-Encoding: \u{e4}\r\n\r\n",
        "GET /api/v1/server_settings?%ZZ=%&=&&a HTTP/1.1\r\n\r\n",
        "GET /api/v1/server_settings HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    ] {
        let (status, _, body) = exchange(&server, request.as_bytes());
        assert_eq!(status, 200, "{request}: {body}");
    }
}

// conformance: conv-24
#[tokio::test]
async fn giant_bodies_are_refused_before_and_while_they_come() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let too_large = "Request body is too large";
    let head = format!("POST /api/v1/register HTTP/1.1\r\nHost: x\r\n{}", ada.authorization());
    let announced = format!("{head}Content-Length: 1048577\r\n\r\n");
    expect(&server, announced.as_bytes(), 413, too_large);
    let announced = format!("{head}Content-Length: 99999999999999\r\nExpect: 100-continue\r\n\r\n");
    expect(&server, announced.as_bytes(), 413, too_large);

    let chunk = format!("10000\r\n{}\r\n", "a".repeat(0x10000));
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n{}", chunk.repeat(16));
    let over = format!("{chunked}1\r\na\r\n");
    let (_, answer, _) = exchange(&server, over.as_bytes());
    assert!(answer.contains("connection: close\r\n"), "{answer}");
    expect(&server, over.as_bytes(), 413, too_large);
    let just_right = format!("{chunked}0\r\n\r\n");
    assert_eq!(exchange(&server, just_right.as_bytes()).0, 200);
    let broken = format!("{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n");
    expect(&server, broken.as_bytes(), 400, "The request body could not be read");
}

/// The answer arrives before the body is sent.
// conformance: conv-41
#[tokio::test]
async fn credentials_are_judged_before_the_body() {
    let server = TestServer::start().await;
    let mut eve = server.member("eve").await;
    let request = |line: &str, who: &str| {
        format!("{line} HTTP/1.1\r\nHost: x\r\n{who}Content-Length: 33554432\r\n\r\n").into_bytes()
    };
    let not_logged_in = "Not logged in: API authentication or user session required";
    for line in ["PUT /api/v1/bot_storage", "POST /api/v1/users/me/avatar", "POST /api/v1/messages"] {
        expect(&server, &request(line, ""), 401, not_logged_in);
    }
    let owners_only = request("POST /api/v1/realm/deactivate", &eve.authorization());
    expect_code(&server, &owners_only, 400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
    eve.api_key = Some("x".repeat(32));
    let wrong_key = request("PUT /api/v1/bot_storage", &eve.authorization());
    expect_code(&server, &wrong_key, 401, "UNAUTHORIZED", "Invalid API key");
}

// conformance: conv-41
#[tokio::test]
async fn strangers_send_little() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let log_in = |length: usize| {
        let body = "a".repeat(length);
        let head = "POST /api/v1/fetch_api_key HTTP/1.1\r\nHost: x\r\n";
        format!("{head}Content-Length: {length}\r\n\r\n{body}").into_bytes()
    };
    expect(&server, &log_in(65_537), 413, "Request body is too large");
    expect_code(&server, &log_in(65_536), 400, "REQUEST_VARIABLE_MISSING", "Missing 'username' argument");

    let params = json!({"full_name": "Hook", "short_name": "hook", "bot_type": 2});
    let key = ada.post("/bots", params).await.ok()["api_key"].as_str().unwrap().to_owned();
    let deliver = |key: &str, length: usize| {
        let body = " ".repeat(length);
        let head = format!("POST /api/v1/external/json?api_key={key} HTTP/1.1\r\nHost: x\r\n");
        format!("{head}Content-Length: {length}\r\n\r\n{body}").into_bytes()
    };
    expect_code(&server, &deliver(&key, 65_537), 400, "INVALID_JSON", "Malformed JSON");
    // A wrong key is refused before anything is read.
    let wrong = deliver(&"x".repeat(32), 65_537);
    expect_code(&server, &wrong, 401, "INVALID_API_KEY", "Invalid API key");
}

/// Four users send all but the last byte of 32 MiB: the server does not keep all of that.
// conformance: conv-42
#[tokio::test]
async fn bodies_in_memory_have_a_budget() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bot = server.bot("keeper", &owner).await;
    let head = format!("PUT /api/v1/bot_storage HTTP/1.1\r\nHost: x\r\n{}", bot.authorization());
    let length = 32 << 20;
    let request = format!("{head}Content-Length: {length}\r\n\r\n");
    let (refused, refusals) = std::sync::mpsc::channel();
    let mut connections = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        connections.push(stream.try_clone().unwrap());
        let (request, refused) = (request.clone(), refused.clone());
        std::thread::spawn(move || {
            let chunk = vec![b'a'; 1 << 20];
            stream.write_all(request.as_bytes()).unwrap();
            // A connection that is refused, or shut down at the end of the test, takes no more.
            for _ in 0..31 {
                if stream.write_all(&chunk).is_err() {
                    break;
                }
            }
            let _closed = stream.write_all(&chunk[1..]);
            let mut answer = vec![0; 12];
            if stream.read_exact(&mut answer).is_ok() {
                refused.send(String::from_utf8(answer).unwrap()).unwrap();
            }
        });
    }
    assert_eq!(refusals.recv().unwrap(), "HTTP/1.1 503");
    // The share of one user does not reduce that of another.
    let other = server.bot("other", &server.member("ada").await).await;
    let large = format!("{{\"a\": \"{}\"}}", "x".repeat(1 << 20));
    other
        .request(reqwest::Method::PUT, "/bot_storage")
        .form(&[("storage", large.as_str())])
        .send()
        .await
        .ok();
    for stream in connections {
        stream.shutdown(std::net::Shutdown::Both).unwrap();
    }
    bot.request(reqwest::Method::PUT, "/bot_storage").form(&[("storage", "{}")]).send().await.ok();
}

/// A connection that is closed on a body that is still on its way is reset, and the answer is lost on that way.
// conformance: conv-31
#[tokio::test]
async fn unwanted_bodies_still_get_an_answer() {
    let server = TestServer::start().await;
    let body = "a".repeat(8 << 20);
    let length = body.len();
    let cases = [
        ("POST /api/v1/fetch_api_key", 413, "Request body is too large"),
        ("POST /api/v1/nothing", 404, "Not found"),
        ("PUT /api/v1/register", 405, "Method Not Allowed"),
    ];
    for (line, status, msg) in cases {
        let request = format!("{line} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{body}");
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let json: Value = serde_json::from_str(body).unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {head}");
        assert_eq!(json["msg"], msg, "{line}");
    }
}

/// Refused before the body is read: no such path, no such method, no login for a route that takes the body itself.
const REFUSED_EARLY: [(&str, u16); 5] = [
    ("POST /api/v1/nothing", 404),
    ("GET /api/v1/messages/1/nothing", 404),
    ("GET /api/v1/users/%ff", 404),
    ("PUT /api/v1/register", 405),
    ("POST /api/v1/user_uploads", 401),
];

/// A server that drops a body closes the connection without a word, and the client's next request is lost with it.
// conformance: conv-29
#[tokio::test]
async fn connections_survive_unread_bodies() {
    let server = TestServer::start().await;
    let body = "a=".to_owned() + &"b".repeat(100_000);
    let length = body.len();
    let next = "GET /api/v1/server_settings HTTP/1.1\r\nHost: x\r\n\r\n";
    let read_first = [("POST /api/v1/register", 401), ("GET /api/v1/messages/1/history", 401)];
    for (line, status) in REFUSED_EARLY.into_iter().chain(read_first) {
        let head = format!("{line} HTTP/1.1\r\nHost: x\r\n");
        for request in [
            format!("{head}Content-Length: {length}\r\n\r\n{body}"),
            format!("{head}Content-Length: 3\r\n\r\na=b"),
            format!("{head}Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n"),
        ] {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            let (found, head, _) = exchange_on(&mut stream, request.as_bytes());
            assert_eq!(found, status, "{line}");
            assert!(!head.contains("connection: close"), "{line}: {head}");
            assert_eq!(exchange_on(&mut stream, next.as_bytes()).0, 200, "after {line}");
        }
    }
}

// conformance: conv-30
#[tokio::test]
async fn closing_connections_announce_it() {
    let server = TestServer::start().await;
    for (line, status) in REFUSED_EARLY {
        for headers in ["Content-Length: 3\r\nExpect: 100-continue\r\n", "Content-Length: 1048577\r\n"] {
            let request = format!("{line} HTTP/1.1\r\nHost: x\r\n{headers}\r\n");
            let (found, head, _) = exchange(&server, request.as_bytes());
            assert_eq!(found, status, "{line}");
            assert!(head.contains("connection: close\r\n"), "{line} with {headers}: {head}");
        }
    }
}

// conformance: conv-28
#[tokio::test]
async fn requests_on_one_connection_are_answered_in_order() {
    let server = TestServer::start().await;
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let request = "GET /api/v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n";
    let last = "GET /api/v1/server_settings HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    stream.write_all(format!("{request}{request}{last}").as_bytes()).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    let statuses: Vec<&str> =
        answers.split("HTTP/1.1 ").filter(|answer| !answer.is_empty()).map(|answer| &answer[..3]).collect();
    assert_eq!(statuses, ["404", "404", "200"]);
}

/// A body may take a minute. Its request has the rights that the caller has at the end of it.
#[tokio::test]
async fn slow_requests_lose_the_access_that_their_caller_loses() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob, eve) =
        (server.administrator("ada").await, server.member("bob").await, server.member("eve").await);
    let begin = |path: &str, client: &Client| {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let head = format!("GET /api/v1/{path} HTTP/1.1\r\nHost: x\r\n{}", client.authorization());
        write!(stream, "{head}Content-Length: 1\r\nExpect: 100-continue\r\n\r\n").unwrap();
        // The server asks for the body when it knows the caller.
        let mut interim = [0; 25];
        stream.read_exact(&mut interim).unwrap();
        assert_eq!(interim, *b"HTTP/1.1 100 Continue\r\n\r\n");
        stream
    };
    let mut slow = [
        begin("export/realm", &ada),
        begin("messages?anchor=newest&num_before=1&num_after=0", &bob),
        begin("users/me", &eve),
        begin("users/me", &owner),
    ];
    owner.patch(&format!("/users/{}", ada.user_id), json!({"role": 400})).await.ok();
    owner.delete(&format!("/users/{}", bob.user_id), ()).await.ok();
    eve.post("/users/me/api_key/regenerate", ()).await.ok();
    let answers = slow.each_mut().map(|stream| {
        let (status, _, body) = exchange_on(stream, b"a");
        let body: Value = serde_json::from_str(&body).unwrap();
        (status, body["msg"].as_str().unwrap().to_owned())
    });
    let expected = [
        (400, "Must be an organization administrator"),
        (401, "Account is deactivated"),
        (401, "Invalid API key"),
        (200, ""),
    ];
    assert_eq!(answers, expected.map(|(status, msg)| (status, msg.to_owned())));
}

/// Unread large answers count towards a memory budget, of which each user has a share.
// conformance: conv-42
#[tokio::test]
async fn answers_in_memory_have_a_budget() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    server
        .sql(&format!(
            "INSERT INTO draft (user_id, topic, content, last_edit_time)
             SELECT user_id, '', hex(zeroblob(4194304)), 0 FROM user WHERE user_id IN ({}, {})",
            ada.user_id, bob.user_id
        ))
        .await;
    let ask = async |client: &Client| {
        let mut stream = server.connect_with_small_buffer().await;
        let request = format!("GET /api/v1/drafts HTTP/1.1\r\nHost: x\r\n{}\r\n", client.authorization());
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = vec![0; 12];
        stream.read_exact(&mut answer).unwrap();
        (stream, String::from_utf8(answer).unwrap())
    };
    // Two of them are more than the part of a user. The first is dropped after 30 seconds without a reader, so that no more is
    // asked for than necessary.
    let (unread, status) = ask(&ada).await;
    assert_eq!(status, "HTTP/1.1 200");
    assert_eq!(ask(&ada).await.1, "HTTP/1.1 503");
    assert_eq!(ask(&bob).await.1, "HTTP/1.1 200", "others have their own part");
    ada.get("/users/me", ()).await.ok();
    drop(unread);
    while ask(&ada).await.1 != "HTTP/1.1 200" {}
}

/// An address with stalled login bodies does not prevent others from logging in.
// conformance: conv-42
#[tokio::test]
async fn unfinished_logins_do_not_use_up_those_of_others() {
    let server = TestServer::start().await;
    let head = "POST /api/v1/fetch_api_key HTTP/1.1\r\nHost: x\r\n";
    let body = "a".repeat(64_000);
    // One byte of each is missing, so that they wait. More follow until a complete one finds no room.
    let mut waiting = Vec::new();
    while exchange(&server, format!("{head}Content-Length: 64000\r\n\r\n{body}").as_bytes()).0 != 503 {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(format!("{head}Content-Length: 64001\r\n\r\n{body}").as_bytes()).unwrap();
        waiting.push(stream);
        assert!(waiting.len() < 1_000, "nothing is refused");
    }
    let login = "username=nobody@example.com&password=wrong";
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let request = format!("{head}{form}Content-Length: {}\r\n\r\n{login}", login.len());
    let msg = "Your username or password is incorrect";
    expect_code(&server, request.as_bytes(), 401, "AUTHENTICATION_FAILED", msg);
}

/// Bodies of anonymous clients are counted by address, even behind a proxy.
#[tokio::test]
async fn bodies_of_strangers_are_counted_by_address() {
    let options = Options { trusted_proxies: vec!["127.0.0.1".parse().unwrap()], ..Options::default() };
    let server = TestServer::start_with(options).await;
    let body = "a".repeat(64_000);
    let head = |address: &str, length: usize| {
        format!(
            "POST /api/v1/fetch_api_key HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {address}\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
    };
    let complete = |address: &str| exchange(&server, head(address, body.len()).as_bytes()).0;
    // One byte of each is missing, so that they wait. Those that arrive together may all be refused, so more follow until
    // a complete one finds no room.
    let mut waiting: Vec<TcpStream> = Vec::new();
    while complete("203.0.113.1") != 503 {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(head("203.0.113.1", body.len() + 1).as_bytes()).unwrap();
        waiting.push(stream);
        assert!(waiting.len() < 1_000, "nothing is refused");
    }
    assert_eq!(complete("203.0.113.2"), 400, "another address has a share of its own");
}
