//! Mail for channels, and answers to mails about messages: a raw client of SMTP and LMTP against the listener.

mod addresses;
mod hostile;
mod limits;
mod protocol;
mod replies;

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};
use std::net::SocketAddr;
use teamchat::app::Options;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// The pattern of addresses in tests.
const PATTERN: &str = "%s@chat.example";

/// Options of a server that receives mail.
fn options() -> Options {
    Options { mail_pattern: Some(PATTERN.parse().unwrap()), ..Options::default() }
}

/// A server that receives mail, and where.
async fn start() -> (TestServer, SocketAddr) {
    start_with(options()).await
}

async fn start_with(options: Options) -> (TestServer, SocketAddr) {
    let mut server = TestServer::start_with(options).await;
    let address = server.receive_mail();
    (server, address)
}

/// A connection to the listener.
struct Mailer(BufReader<TcpStream>);

impl Mailer {
    /// Connects, and reads the greeting.
    async fn connect(address: SocketAddr) -> Self {
        let mut mailer = Self::begin(address).await;
        assert_eq!(mailer.reply().await, "220 chat.example ESMTP ready");
        mailer
    }

    async fn begin(address: SocketAddr) -> Self {
        Self(BufReader::new(TcpStream::connect(address).await.unwrap()))
    }

    /// Connects and greets as a client of LMTP.
    async fn lmtp(address: SocketAddr) -> Self {
        let mut mailer = Self::connect(address).await;
        assert!(mailer.say("LHLO mx.example").await.starts_with("250-chat.example\n"));
        mailer
    }

    /// Sends bytes as they are.
    async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
    }

    /// Reads a reply: its lines without their ends. Empty at the end of the connection.
    async fn reply(&mut self) -> String {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).await.unwrap_or(0) == 0 {
                return lines.join("\n");
            }
            let line = line.strip_suffix("\r\n").unwrap().to_owned();
            let is_last = line.as_bytes().get(3) != Some(&b'-');
            lines.push(line);
            if is_last {
                return lines.join("\n");
            }
        }
    }

    /// Sends a command, and reads its reply.
    async fn say(&mut self, command: &str) -> String {
        self.send(format!("{command}\r\n").as_bytes()).await;
        self.reply().await
    }

    /// Begins a mail to an address.
    async fn begin_mail(&mut self, to: &str) {
        assert_eq!(self.say("MAIL FROM:<ann@example.org>").await, "250 2.1.0 OK");
        assert_eq!(self.say(&format!("RCPT TO:<{to}>")).await, "250 2.1.5 OK");
        assert!(self.say("DATA").await.starts_with("354 "));
    }

    /// Sends a mail to an address, and returns the reply. Lines of the mail end with LF here.
    async fn mail(&mut self, to: &str, mail: &str) -> String {
        self.begin_mail(to).await;
        let protected = mail.replace("\n.", "\n..").replace('\n', "\r\n");
        self.send(protected.as_bytes()).await;
        self.say("\r\n.").await
    }

    /// True if the server has closed the connection.
    async fn is_closed(&mut self) -> bool {
        // A connection that is reset is closed, too.
        self.0.read(&mut [0]).await.unwrap_or(0) == 0
    }
}

/// Sends a mail by LMTP on a connection of its own, and expects that it is taken.
async fn send(address: SocketAddr, to: &str, mail: &str) {
    assert_eq!(Mailer::lmtp(address).await.mail(to, mail).await, "250 2.0.0 OK");
}

/// A plain mail.
fn mail(subject: &str, text: &str) -> String {
    format!("From: Ann <ann@example.org>\nSubject: {subject}\n\n{text}")
}

/// The address of a channel, which the client asks for.
async fn address_of(client: &Client, stream_id: i64, parameters: Value) -> String {
    let path = format!("/streams/{stream_id}/email_address");
    client.get(&path, parameters).await.ok()["email"].as_str().unwrap().to_owned()
}

/// The token and the domain of an address of a channel, without its name and options.
fn bare(email: &str) -> String {
    let token = email.split(['.', '@']).find(|part| part.len() == 32).unwrap();
    format!("{token}@chat.example")
}

/// The newest messages that a client sees, as topic, sender and content; the newest last.
async fn newest(client: &Client, count: u32) -> Vec<Value> {
    let fetch = json!({"anchor": "newest", "num_before": count, "num_after": 0, "apply_markdown": false,
        "allow_empty_topic_name": true});
    client.get("/messages", fetch).await.ok()["messages"].as_array().unwrap().clone()
}

/// The topic and content of the newest message that a client sees.
async fn last(client: &Client) -> (String, String) {
    let message = newest(client, 1).await.pop().unwrap();
    let text = |name: &str| message[name].as_str().unwrap().to_owned();
    (text("subject"), text("content"))
}
