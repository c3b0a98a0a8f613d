//! `teamchat mail deliver`: the command for aliases of mail servers, against a server that receives mail.

use crate::ports::ReservedPort;
use crate::program::{Serving, command, create_owner, words};
use reqwest::Method;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;

/// Exit codes, as mail servers know them.
const OK: i32 = 0;
const BAD_DATA: i32 = 65;
const NO_USER: i32 = 67;
const TRY_AGAIN: i32 = 75;

/// The exit code of wrong usage of any command.
const WRONG_USAGE: i32 = 2;

/// Runs the command. Returns its code, and what it printed.
fn deliver(listener: &str, recipient: &str, mail: &[u8]) -> (i32, String) {
    let mut command = command(&["mail", "deliver", "--mail-listen", listener, "--recipient", recipient]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that does not read it closes the pipe.
    let _closed = child.stdin.take().unwrap().write_all(mail);
    let (code, printed, error) = words(&child.wait_with_output().unwrap());
    (code, printed + &error)
}

/// The owner of a database, with a channel.
struct Owner {
    serving: Serving,
    key: String,
}

impl Owner {
    fn start(folder: &Path, listener: &str) -> Self {
        let created = create_owner(folder);
        let flags =
            ["--listen", "127.0.0.1:0", "--mail-listen", listener, "--mail-pattern", "%s@chat.example"];
        let limit = ["--max-file-upload-size-mib", "1"];
        let serving = Serving::start(folder, &[&flags[..], &limit[..]].concat());
        Self { serving, key: created["api_key"].as_str().unwrap().to_owned() }
    }

    /// The address at which it receives mail.
    fn listener(&self) -> String {
        let line = self.serving.printed.lines().find_map(|line| line.trim().strip_prefix("mail "));
        line.unwrap().trim().to_owned()
    }

    async fn ask(&self, method: Method, path: &str, parameters: Value) -> Value {
        let url = format!("{}/api/v1{path}", self.serving.origin());
        let is_get = method == Method::GET;
        let request = reqwest::Client::new().request(method, url);
        let request = request.basic_auth("ada@example.com", Some(&self.key));
        let request = if is_get { request.query(&parameters) } else { request.form(&parameters) };
        let answer = request.send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// The address of a new channel.
    async fn channel(&self, name: &str) -> String {
        let wanted = json!({"subscriptions": json!([{ "name": name }]).to_string()});
        self.ask(Method::POST, "/users/me/subscriptions", wanted).await;
        let found = self.ask(Method::GET, "/get_stream_id", json!({"stream": name})).await;
        let path = format!("/streams/{}/email_address", found["stream_id"]);
        let found = self.ask(Method::GET, &path, json!({})).await;
        found["email"].as_str().unwrap().replace(".show-sender", "")
    }

    /// The topics and texts of the messages that came by mail, from old to new.
    async fn received(&self) -> Vec<(String, String)> {
        let narrow = json!([["sender", "emailgateway@zulip.com"]]).to_string();
        let page = json!({
            "anchor": "newest", "num_before": 100, "num_after": 0, "apply_markdown": false, "narrow": narrow
        });
        let found = self.ask(Method::GET, "/messages", page).await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let messages = found["messages"].as_array().unwrap().iter();
        messages.map(|message| (text(&message["subject"]), text(&message["content"]))).collect()
    }
}

#[tokio::test]
async fn an_alias_delivers_emails_to_the_running_server() {
    let folder = tempfile::tempdir().unwrap();
    let owner = Owner::start(folder.path(), "127.0.0.1:0");
    let (listener, address) = (owner.listener(), owner.channel("design").await);
    // As Postfix pipes it: lines end with LF, after a line with the sender.
    let piped = b"From ann@example.org  Sun Nov 29 06:00:00 2026\nReturn-Path: <ann@example.org>\nFrom: Ann <ann@example.org>\n\
                  Subject: Re: tides\n\nHigh at *noon*.\n.\n.dot\nno end of a line";
    assert_eq!(deliver(&listener, &address, piped), (OK, String::new()));
    let crlf = b"From: Ann <ann@example.org>\r\nSubject: tides\r\n\r\nLow at six.\r\n";
    assert_eq!(deliver(&listener, &address, crlf), (OK, String::new()));
    let expected = ["High at *noon*.\n.\n.dot\nno end of a line", "Low at six."];
    assert_eq!(owner.received().await, expected.map(|text| ("tides".to_owned(), text.to_owned())));

    let large = [&b"Subject: large\n\n"[..], &b"0123456789\n".repeat(100_000)].concat();
    let long_line = format!("Subject: {}\n\nx\n", "tides ".repeat(30_000));
    let cases: [(&str, &[u8], i32, &str); 9] = [
        ("nobody@chat.example", crlf, NO_USER, "550 5.1.1"),
        ("someone@elsewhere.example", crlf, NO_USER, "550 5.1.1"),
        ("a>\r\nRSET\r\n@chat.example", crlf, NO_USER, "is not an email address"),
        ("", crlf, NO_USER, "550 5.1.1"),
        // A bounce.
        (&address, b"Return-Path: <>\nSubject: Undelivered\n\nx\n", NO_USER, "550 5.1.1"),
        (&address, &large, BAD_DATA, "552 5.3.4"),
        (&address, b"Subject: x\n\na\rb\n", BAD_DATA, "550 5.6.0"),
        (&address, long_line.as_bytes(), BAD_DATA, "554 5.6.0"),
        // It is dropped.
        (&address, b"Subject: x\nAuto-Submitted: auto-replied\n\nI am away.\n", OK, ""),
    ];
    for (recipient, mail, code, expected) in cases {
        let (found, printed) = deliver(&listener, recipient, mail);
        assert_eq!(found, code, "{recipient}: {printed}");
        assert!(printed.contains(expected), "{recipient}: {printed}");
    }
    assert_eq!(owner.received().await.len(), 2);
    owner.serving.stop();
}

#[cfg(unix)]
#[tokio::test]
async fn an_alias_delivers_to_a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let listener = format!("unix:{}", folder.path().join("mail").display());
    let owner = Owner::start(folder.path(), &listener);
    let address = owner.channel("design").await;
    assert_eq!(deliver(&listener, &address, b"Subject: tides\n\nHigh.\n"), (OK, String::new()));
    assert_eq!(owner.received().await, [("tides".to_owned(), "High.".to_owned())]);
    owner.serving.stop();
    assert_eq!(deliver(&listener, &address, b"Subject: tides\n\nHigh.\n").0, TRY_AGAIN);
}

#[test]
fn emails_wait_for_a_server_that_cannot_take_them_now() {
    let mail = b"Subject: x\n\ny\n";
    let port = ReservedPort::new();
    let (code, printed) = deliver(&port.address().to_string(), "a@chat.example", mail);
    assert_eq!(code, TRY_AGAIN, "{printed}");
    assert!(printed.contains("no server receives email at 127.0.0.1"), "{printed}");

    let (code, printed) = deliver("nowhere.invalid:9925", "a@chat.example", mail);
    assert_eq!(code, TRY_AGAIN, "{printed}");
    assert!(printed.contains("no server can be found at nowhere.invalid:9925"), "{printed}");

    let cases: [(&str, &[&str], &str); 6] = [
        ("421 4.7.0 Too many connections", &[], "421 4.7.0"),
        ("220 ok", &["250 ok", "250 ok", "451 4.3.0 Try again later"], "451 4.3.0"),
        ("220 ok", &["250 ok", "250 ok", "250 ok", "354 go on", "451 4.7.1 Too many mails"], "451 4.7.1"),
        // It is no server for mail, or it ends.
        ("HTTP/1.1 400 Bad Request", &[], "HTTP/1.1 400"),
        ("220 ok", &["502 5.5.1 There is no such command here"], "502 5.5.1"),
        ("220 ok", &["250 ok"], "closed the connection"),
    ];
    for (greeting, replies, expected) in cases {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = std::thread::spawn(move || {
            let mut stream = BufReader::new(listener.accept().unwrap().0);
            write!(stream.get_mut(), "{greeting}\r\n").unwrap();
            let mut line = String::new();
            for reply in replies {
                line.clear();
                stream.read_line(&mut line).unwrap();
                if line == "Subject: x\r\n" {
                    while line != ".\r\n" {
                        line.clear();
                        stream.read_line(&mut line).unwrap();
                    }
                }
                write!(stream.get_mut(), "{reply}\r\n").unwrap();
            }
            // The next command arrives before the connection ends.
            let _next = stream.read_line(&mut line);
        });
        let (code, printed) = deliver(&address, "a@chat.example", mail);
        server.join().unwrap();
        assert_eq!(code, TRY_AGAIN, "{printed}");
        assert!(printed.contains(expected), "{printed}");
    }
}

#[test]
fn emails_that_no_server_takes_are_refused_without_one() {
    let listener = "127.0.0.1:9";
    let (code, printed) = deliver(listener, "a@chat.example", &b"a".repeat((64 << 20) + 1));
    assert_eq!(code, BAD_DATA, "{printed}");
    assert!(printed.contains("the email is too large"), "{printed}");
    let output = command(&["mail", "deliver", "--mail-listen", listener]).output().unwrap();
    assert_eq!(words(&output).0, WRONG_USAGE);
}
