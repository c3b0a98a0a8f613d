//! A mail server for tests: plain SMTP, with answers that a test chooses.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use teamchat::app::{MailOptions, Options};
use teamchat::smtp::MailServer;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The base of links in emails.
pub const URL: &str = "http://chat.example.com";

/// An action of the mail server on the next email.
#[derive(Clone, Copy, Debug)]
pub enum Reply {
    /// Takes the email.
    Take,
    /// Refuses a command with this line. The command is `MAIL`, `RCPT`, `DATA`, or `.` for the content.
    Refuse(&'static str, &'static str),
    /// Takes the email, and closes the connection without an answer.
    Hangup,
}

/// An email that was taken.
#[derive(Clone, Debug)]
pub struct Taken {
    pub from: String,
    pub to: String,
    /// As it was sent, with joined header lines.
    pub headers: Vec<String>,
    pub text: String,
    pub html: String,
}

impl Taken {
    fn read(from: String, to: String, content: &str) -> Self {
        let (head, body) = content.split_once("\r\n\r\n").unwrap();
        let headers: Vec<String> = unfolded(head);
        let kind = find(&headers, "Content-Type").unwrap();
        assert!(kind.starts_with("multipart/alternative"), "{kind}");
        let boundary = kind.split_once("boundary=").unwrap().1.trim_matches('"').to_owned();
        let parts: Vec<&str> = body.split(&format!("--{boundary}")).collect();
        assert_eq!(parts.len(), 4, "{body}");
        let part = |index: usize, kind: &str| {
            let (head, body) = parts[index].trim_start().split_once("\r\n\r\n").unwrap();
            let headers = unfolded(head);
            assert!(find(&headers, "Content-Type").unwrap().starts_with(kind), "{head}");
            let encoding = find(&headers, "Content-Transfer-Encoding").unwrap_or_default();
            decoded(&encoding, body.trim_end_matches("\r\n"))
        };
        let (text, html) = (part(1, "text/plain"), part(2, "text/html"));
        Self { from, to, headers, text, html }
    }

    /// The value of a header; empty if there is none.
    pub fn header(&self, name: &str) -> String {
        find(&self.headers, name).unwrap_or_default()
    }

    pub fn subject(&self) -> String {
        self.header("Subject")
    }

    /// The path of the first link that has a part.
    pub fn path(&self, part: &str) -> String {
        let words = self.text.split_whitespace();
        let link = words.into_iter().find(|word| word.starts_with(URL) && word.contains(part));
        link.unwrap_or_else(|| panic!("no link with {part}: {}", self.text))
            .strip_prefix(URL)
            .unwrap()
            .to_owned()
    }
}

fn unfolded(head: &str) -> Vec<String> {
    head.replace("\r\n ", " ").replace("\r\n\t", " ").split("\r\n").map(str::to_owned).collect()
}

fn find(headers: &[String], name: &str) -> Option<String> {
    let found = headers.iter().filter_map(|line| line.split_once(": "));
    let mut values = found.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    let value = values.next()?.trim().to_owned();
    assert_eq!(values.next(), None, "{name} is there twice");
    Some(value)
}

fn decoded(encoding: &str, body: &str) -> String {
    match encoding {
        "base64" => {
            let joined: String = body.split_whitespace().collect();
            String::from_utf8(STANDARD.decode(joined).unwrap()).unwrap().replace("\r\n", "\n")
        }
        "quoted-printable" => {
            let body = body.replace("=\r\n", "");
            let (mut bytes, mut rest) = (Vec::new(), body.as_bytes());
            while let [first, others @ ..] = rest {
                if *first == b'=' {
                    let digits = std::str::from_utf8(&others[..2]).unwrap();
                    bytes.push(u8::from_str_radix(digits, 16).unwrap());
                    rest = &others[2..];
                } else {
                    bytes.push(*first);
                    rest = others;
                }
            }
            String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
        }
        _ => body.replace("\r\n", "\n"),
    }
}

pub struct MailSink {
    pub address: SocketAddr,
    taken: UnboundedReceiver<Taken>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    connections: Arc<AtomicUsize>,
}

impl MailSink {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, taken) = unbounded_channel();
        let replies: Arc<Mutex<VecDeque<Reply>>> = Arc::default();
        let connections: Arc<AtomicUsize> = Arc::default();
        let (shared, count) = (Arc::clone(&replies), Arc::clone(&connections));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (sender, replies) = (sender.clone(), Arc::clone(&shared));
                count.fetch_add(1, Ordering::Relaxed);
                // A client that goes away ends the conversation.
                thread::spawn(move || converse(&stream.unwrap(), &sender, &replies));
            }
        });
        Self { address, taken, replies, connections }
    }

    /// The options of a server that sends its mail here.
    pub fn options(&self) -> Options {
        let server: MailServer = format!("smtp://{}?tls=none", self.address).parse().unwrap();
        let (sender, url) = ("chat@example.com".to_owned(), URL.to_owned());
        Options { mail: Some(MailOptions { server, sender, url }), ..Options::default() }
    }

    /// Sets the actions on the next emails.
    pub fn reply(&self, replies: &[Reply]) {
        self.replies.lock().unwrap().extend(replies);
    }

    /// The number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// The next email.
    pub async fn next(&mut self) -> Taken {
        self.taken.recv().await.unwrap()
    }

    /// The emails that have come and were not looked at.
    pub fn rest(&mut self) -> Vec<Taken> {
        std::iter::from_fn(|| self.taken.try_recv().ok()).collect()
    }
}

fn converse(
    stream: &TcpStream,
    sender: &UnboundedSender<Taken>,
    replies: &Mutex<VecDeque<Reply>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    let mut say = |line: &str| writer.write_all(format!("{line}\r\n").as_bytes()).ok();
    say("220 sink")?;
    let (mut from, mut to, mut reply) = (String::new(), String::new(), None);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let (command, rest) = line.trim_end().split_once([' ', ':']).unwrap_or((line.trim_end(), ""));
        let command = command.to_ascii_uppercase();
        let address = || rest.split_once('<').unwrap().1.split_once('>').unwrap().0.to_owned();
        if command == "MAIL" {
            reply = replies.lock().unwrap().pop_front();
        }
        if let Some(Reply::Refuse(at, answer)) = reply
            && at == command
        {
            say(answer)?;
            continue;
        }
        match command.as_str() {
            "EHLO" | "RSET" => say("250 sink")?,
            "MAIL" => {
                from = address();
                say("250 OK")?;
            }
            "RCPT" => {
                to = address();
                say("250 OK")?;
            }
            "DATA" => {
                say("354 go on")?;
                let mut content = String::new();
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).ok()?;
                    if line == ".\r\n" {
                        break;
                    }
                    content.push_str(line.strip_prefix('.').unwrap_or(&line));
                }
                match reply {
                    Some(Reply::Refuse(".", answer)) => say(answer)?,
                    Some(Reply::Hangup) => {
                        sender.send(Taken::read(from, to, &content)).ok()?;
                        return None;
                    }
                    _ => {
                        // First, so that an email that was answered has come.
                        sender.send(Taken::read(from.clone(), to.clone(), &content)).ok()?;
                        say("250 2.0.0 taken")?;
                    }
                }
            }
            "QUIT" => {
                say("221 bye")?;
                return None;
            }
            _ => say("502 unknown")?,
        }
    }
}
