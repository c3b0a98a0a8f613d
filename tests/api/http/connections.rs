//! Connections: how many there may be.

use crate::harness::TestServer;
use std::io::Read;
use std::net::TcpStream;
use teamchat::app::Options;

// conformance: conv-43
#[tokio::test]
async fn one_address_has_so_many_connections() {
    let options = Options { connections_per_address: Some(3), ..Options::default() };
    let server = TestServer::start_with(options).await;
    let mut open: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    let mut answer = String::new();
    TcpStream::connect(server.address()).unwrap().read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{head}");
    let json: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(json["msg"], "There are too many connections. Please try again in a moment.");
    assert_eq!((&json["result"], &json["code"]), (&"error".into(), &"SERVICE_UNAVAILABLE".into()));
    // Whoever closes a connection makes room; the server notices in its own time.
    open.pop();
    loop {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        std::io::Write::write_all(&mut stream, b"GARBAGE\r\n\r\n").unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        if &status == b"HTTP/1.1 400" {
            break;
        }
        assert_eq!(&status, b"HTTP/1.1 503");
    }
}
