//! Emails as they wait for a mail server that does not answer.

use crate::harness::{Client, ReservedPort, TestServer};
use serde_json::Value;
use teamchat::app::{MailOptions, Options};
use teamchat::scheduler;

/// The default of `email_notifications_batching_period_seconds`.
pub const PERIOD: i64 = 120;

/// The base of links in emails.
pub const URL: &str = "https://chat.example.com";

/// An email.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    pub to: String,
    pub subject: String,
    pub text: String,
    pub html: String,
    /// The id of its thread.
    pub references: String,
    /// The rest, such as names and addresses.
    pub rest: Value,
}

/// Adds emails to the queue that are not tried again.
pub async fn fill_queue(server: &TestServer, count: i64) {
    server
        .sql(&format!(
            "WITH RECURSIVE copy (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM copy WHERE number < {count})
             INSERT INTO outgoing_mail (kind, recipient, letter, created, expires, next_try)
             SELECT 'x', 'x@example.com', '{{}}', 0, 4000000000, 4000000000 FROM copy"
        ))
        .await;
}

/// A mail server that is down, so that emails stay in the queue.
pub struct Mailbox {
    port: ReservedPort,
}

impl Mailbox {
    /// A server that sends mail.
    pub async fn with_server() -> (Self, TestServer) {
        let mailbox = Self { port: ReservedPort::new() };
        let server = TestServer::start_with(mailbox.options()).await;
        (mailbox, server)
    }

    pub fn options(&self) -> Options {
        let server = format!("smtp://{}?tls=none", self.port.address()).parse().unwrap();
        let mail = MailOptions { server, sender: "chat@example.com".to_owned(), url: URL.to_owned() };
        Options { mail: Some(mail), ..Options::default() }
    }

    /// Takes the emails to a person that are in the queue, once all due work is done.
    pub async fn take(&self, server: &TestServer, person: &Client) -> Vec<Letter> {
        scheduler::settle(server.app()).await;
        let written = server.column("SELECT letter FROM outgoing_mail ORDER BY id").await;
        server.sql("DELETE FROM outgoing_mail").await;
        let letters = written.iter().map(|letter| {
            let mut rest: Value = serde_json::from_str(letter).unwrap();
            let mut text = |name: &str| rest[name].take().as_str().unwrap_or_default().to_owned();
            let (to, subject, references) = (text("to"), text("subject"), text("references"));
            let (text, html) = (text("text"), text("html"));
            Letter { to, subject, text, html, references, rest }
        });
        letters.filter(|letter| letter.to == person.email).collect()
    }

    /// Moves the clock past the time of waiting messages, and takes the emails to a person.
    pub async fn later(&self, server: &TestServer, person: &Client) -> Vec<Letter> {
        // What waits for a decision begins its period now.
        scheduler::settle(server.app()).await;
        server.clock.advance(PERIOD);
        self.take(server, person).await
    }

    /// The same, of which only the subjects.
    pub async fn subjects(&self, server: &TestServer, person: &Client) -> Vec<String> {
        self.later(server, person).await.into_iter().map(|letter| letter.subject).collect()
    }
}
