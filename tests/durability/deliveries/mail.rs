//! Emails.

use super::{Steps, Stop};
use crate::program::{Person, Server};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// There is a connection, and the mail server has not said anything.
    Connected,
    /// The sender is named.
    Mail,
    /// The receiver is named.
    Rcpt,
    /// The email is announced.
    Data,
    /// The email is there, and not confirmed.
    Content,
    /// The email is confirmed, which the server has not read.
    Answered,
    /// The server has deleted the email, and says goodbye.
    Quit,
}

/// Something that the mail server got.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Got {
    /// An email: the receiver and the `Message-ID`.
    Letter(String, String),
    /// The end of a conversation.
    Quit,
}

struct MailServer {
    address: SocketAddr,
    steps: Steps<Step>,
    got: UnboundedReceiver<Got>,
}

impl MailServer {
    fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let steps = Steps::new();
        let (sender, got) = unbounded_channel();
        let stop = Arc::clone(&steps.stop);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stop, sender) = (Arc::clone(&stop), sender.clone());
                // A client that is killed ends the conversation.
                thread::spawn(move || converse(stream.unwrap(), &stop, &sender));
            }
        });
        Self { address, steps, got }
    }

    /// The emails that have come and were not looked at.
    fn letters(&mut self) -> Vec<Got> {
        let got = std::iter::from_fn(|| self.got.try_recv().ok());
        got.filter(|got| *got != Got::Quit).collect()
    }

    /// The emails up to the one for an address, once its conversation has ended: then it is deleted.
    async fn letters_until(&mut self, last: &str) -> Vec<Got> {
        let mut letters = Vec::new();
        loop {
            let got = self.got.recv().await.unwrap();
            if got != Got::Quit {
                letters.push(got);
            } else if matches!(letters.last(), Some(Got::Letter(to, _)) if to == last) {
                return letters;
            }
        }
    }
}

fn say(reader: &mut BufReader<TcpStream>, line: &str) -> Option<()> {
    reader.get_mut().write_all(format!("{line}\r\n").as_bytes()).ok()
}

/// A line; `None` at the end.
fn next_line(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    (reader.read_line(&mut line).ok()? > 0).then_some(line)
}

fn converse(stream: TcpStream, stop: &Stop<Step>, sender: &UnboundedSender<Got>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    stop.pass(Step::Connected);
    say(&mut reader, "220 ready")?;
    let mut to = String::new();
    loop {
        let line = next_line(&mut reader)?;
        let command = line.trim_end().split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
        let answer = match command.as_str() {
            "EHLO" => "250 ready",
            "MAIL" => {
                stop.pass(Step::Mail);
                "250 OK"
            }
            "RCPT" => {
                line.split(['<', '>']).nth(1).unwrap().clone_into(&mut to);
                stop.pass(Step::Rcpt);
                "250 OK"
            }
            "DATA" => {
                stop.pass(Step::Data);
                say(&mut reader, "354 go on")?;
                let mut id = String::new();
                loop {
                    let line = next_line(&mut reader)?;
                    if line == ".\r\n" {
                        break;
                    }
                    if let Some(value) = line.strip_prefix("Message-ID: ") {
                        value.trim_end().clone_into(&mut id);
                    }
                }
                sender.send(Got::Letter(to.clone(), id)).ok()?;
                stop.pass(Step::Content);
                let has_stopped = stop.pass(Step::Answered);
                say(&mut reader, "250 taken")?;
                if has_stopped {
                    stop.report();
                }
                continue;
            }
            "QUIT" => {
                stop.pass(Step::Quit);
                // After it: the test may name the next step at once, which is not for this conversation.
                sender.send(Got::Quit).ok()?;
                return say(&mut reader, "221 bye");
            }
            _ => "502 unknown",
        };
        say(&mut reader, answer)?;
    }
}

async fn invite(owner: &Person, server: &Server, email: &str) {
    let invitation = json!({"invitee_emails": email, "stream_ids": []});
    owner.ask(&server.origin, "POST", "/invites", &invitation).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_come_once_although_the_server_is_killed_at_any_step() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let owner = Person::create(&db, "owner", "owner");
    let mut mail = MailServer::start();
    let url = format!("smtp://{}?tls=none", mail.address);
    let variables = [
        ("TEAMCHAT_SMTP_URL", Path::new(url.as_str())),
        ("TEAMCHAT_MAIL_FROM", Path::new("chat@example.com")),
    ];
    let mut server = Server::start_with(&db, &variables);
    // The emails that come before the kill, and after it.
    for (step, before, after) in [
        (Step::Connected, 0, 1),
        (Step::Mail, 0, 1),
        (Step::Rcpt, 0, 1),
        (Step::Data, 0, 1),
        (Step::Content, 1, 1),
        (Step::Answered, 1, 1),
        (Step::Quit, 1, 0),
    ] {
        let email = format!("{step:?}@example.com").to_lowercase();
        mail.steps.stop_at(step);
        invite(&owner, &server, &email).await;
        mail.steps.reached().await;
        if step == Step::Answered {
            mail.steps.kill_after_answer(server).await;
        } else {
            mail.steps.kill(server);
        }
        let first = mail.letters();
        server = Server::start_with(&db, &variables);
        let next = format!("after-{email}");
        invite(&owner, &server, &next).await;
        let mut second = mail.letters_until(&next).await;
        second.pop();
        assert_eq!((first.len(), second.len()), (before, after), "{step:?}: {first:?} {second:?}");
        let Some(Got::Letter(to, id)) = first.iter().chain(&second).next().cloned() else {
            panic!("{step:?}: no letter")
        };
        assert!(to == email && id.len() > 2, "{step:?}: {to} {id}");
        let is_same = |got: &Got| *got == Got::Letter(to.clone(), id.clone());
        assert!(first.iter().chain(&second).all(is_same), "{step:?}: {first:?} {second:?}");
    }
    server.kill();
}
