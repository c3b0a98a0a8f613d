//! Connections: how many there may be.

use crate::harness::TestServer;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use teamchat::app::{Options, Overrides};

// conformance: conv-43
#[tokio::test]
async fn one_address_has_so_many_connections() {
    let options = Options {
        overrides: Overrides { connections_per_address: Some(3), ..Overrides::default() },
        ..Options::default()
    };
    let server = TestServer::start_with(options).await;
    let mut open: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    let mut answer = String::new();
    TcpStream::connect(server.address()).unwrap().read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{head}");
    let json: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(json["msg"], "There are too many connections. Please try again in a moment.");
    assert_eq!((&json["result"], &json["code"]), (&"error".into(), &"SERVICE_UNAVAILABLE".into()));
    // Closing a connection releases its slot when the server notices it.
    open.pop();
    loop {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(b"GARBAGE\r\n\r\n").unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        if &status == b"HTTP/1.1 400" {
            break;
        }
        assert_eq!(&status, b"HTTP/1.1 503");
    }
}

/// Each head may be as long, and all of them together may not.
#[tokio::test]
async fn unfinished_heads_of_an_address_have_a_budget() {
    let options = Options {
        overrides: Overrides { connections_per_address: Some(100), ..Overrides::default() },
        ..Options::default()
    };
    let server = TestServer::start_with(options).await;
    let head = format!("GET /api/v1/server_settings HTTP/1.1\r\nHost: x\r\nX-A: {}", "a".repeat(60_000));
    let (answered, answers) = mpsc::channel();
    let mut open = Vec::new();
    for _ in 0..40 {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        open.push(stream.try_clone().unwrap());
        let answered = answered.clone();
        std::thread::spawn(move || {
            // To the end of the body: the server keeps the connection for a while, since the client may still send.
            let mut answer = Vec::new();
            if BufReader::new(stream).read_until(b'}', &mut answer).is_ok() && !answer.is_empty() {
                answered.send(String::from_utf8(answer).unwrap()).unwrap();
            }
        });
    }
    let answer = answers.recv().unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"), "{head}");
    assert!(head.contains("connection: close"), "{head}");
    let json: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        json,
        serde_json::json!({"result": "error", "msg": "The headers of the request are too large", "code": "BAD_REQUEST"})
    );
    // Heads of the usual size need nothing of the budget.
    let ada = server.member("ada").await;
    ada.get("/users/me", ()).await.ok();
    for stream in open {
        let _closed = stream.shutdown(std::net::Shutdown::Both);
    }
}
