//! The queue: each email comes once, also after restarts, and a mail server that fails delays nothing else.

use super::mailbox::{PERIOD, fill_queue};
use super::sink::{MailSink, Reply};
use super::{DAY, invitation, settle, start};
use crate::harness::{Blocked, ReservedPort, TestServer};
use serde_json::json;
use std::net::TcpListener;
use std::time::Duration;
use teamchat::app::{Options, Overrides};
use teamchat::commands::{self, Command};
use teamchat::domain::mail::Kind;
use teamchat::types::Role;

async fn waiting(server: &TestServer) -> Vec<String> {
    server
        .column(
            "SELECT recipient || ' ' || attempts FROM outgoing_mail WHERE kind = 'invitation' ORDER BY id",
        )
        .await
}

#[tokio::test]
async fn letters_that_are_refused_for_good_are_dropped_and_others_come() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    let spam = Reply::Refuse(".", "554 spam");
    sink.reply(&[Reply::Refuse("RCPT", "550 5.1.1 no such user"), spam]);
    owner.post("/invites", invitation("a@example.com,b@example.com,c@example.com")).await.ok();
    settle(&server).await;
    let to: Vec<String> = sink.rest().into_iter().map(|letter| letter.to).collect();
    assert_eq!(to, ["c@example.com"]);
    // The refusal of the content may have been about all emails. It was not: another one was taken since.
    assert_eq!(waiting(&server).await, ["b@example.com 1"]);
    sink.reply(&[spam]);
    server.clock.advance(60);
    settle(&server).await;
    assert!(sink.rest().is_empty());
    assert_eq!(waiting(&server).await, [""; 0]);
    let results = &server.app().mail.deliveries;
    assert_eq!((results.sent.get(), results.refused.get()), (1, 2));
}

#[tokio::test]
async fn a_letter_that_is_refused_for_now_is_tried_again_and_holds_up_no_other() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    sink.reply(&[Reply::Refuse("RCPT", "451 4.7.1 greylisted")]);
    owner.post("/invites", invitation("a@example.com,b@example.com")).await.ok();
    settle(&server).await;
    assert_eq!(sink.next().await.to, "b@example.com");
    assert_eq!(waiting(&server).await, ["a@example.com 1"]);
    server.clock.advance(60);
    settle(&server).await;
    assert_eq!(sink.next().await.to, "a@example.com");
    settle(&server).await;
    assert!(sink.rest().is_empty());
}

#[tokio::test]
async fn letters_that_are_refused_share_a_connection() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    sink.reply(&[
        Reply::Refuse("RCPT", "451 4.7.1 greylisted"),
        Reply::Refuse("RCPT", "550 5.1.1 no such user"),
        Reply::Refuse("DATA", "450 busy"),
        Reply::Refuse(".", "452 4.3.1 full"),
    ]);
    let people = "a@example.com,b@example.com,c@example.com,d@example.com,e@example.com";
    owner.post("/invites", invitation(people)).await.ok();
    settle(&server).await;
    assert_eq!((sink.next().await.to.as_str(), sink.connections()), ("e@example.com", 1));
    assert_eq!(waiting(&server).await, ["a@example.com 1", "c@example.com 1", "d@example.com 1"]);
}

#[tokio::test]
async fn pauses_between_attempts_grow_and_begin_again_after_a_success() {
    for (refusal, pauses) in [
        (Reply::Refuse("MAIL", "421 closing"), [5, 15, 60, 300, 600, 900, 900]),
        (Reply::Refuse("RCPT", "451 4.7.1 greylisted"), [60, 300, 900, 1800, 3600, 3600, 3600]),
    ] {
        let (server, mut sink) = start().await;
        let owner = server.owner().await;
        let failures = || server.app().mail.deliveries.failures.get();
        let pass = async |seconds: i64| {
            server.clock.advance(seconds);
            settle(&server).await;
        };
        sink.reply(&[refusal; 7]);
        owner.post("/invites", invitation("a@example.com")).await.ok();
        settle(&server).await;
        for (number, pause) in (1..).zip(pauses) {
            assert_eq!(failures(), number, "before {pause} seconds");
            pass(pause - 1).await;
            assert_eq!(failures(), number, "less than {pause} seconds");
            pass(1).await;
        }
        assert_eq!(sink.next().await.to, "a@example.com");
        sink.reply(&[refusal]);
        owner.post("/invites", invitation("b@example.com")).await.ok();
        settle(&server).await;
        pass(pauses[0] - 1).await;
        assert_eq!((failures(), sink.rest().len()), (8, 0));
        pass(1).await;
        assert_eq!(sink.next().await.to, "b@example.com");
    }
}

#[tokio::test]
async fn a_letter_at_which_the_mail_server_fails_holds_up_no_other() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    let failure = Reply::Refuse("RCPT", "421 4.3.2 try later");
    sink.reply(&[failure, Reply::Take, failure]);
    super::submit(&server, "/accounts/find/", json!({"emails": "slow@example.com"})).await;
    settle(&server).await;
    owner.post("/invites", invitation("a@example.com")).await.ok();
    // The pauses for the first one grow, though others are taken.
    let steps: [(i64, &[&str]); 4] =
        [(5, &["a@example.com"]), (5, &["b@example.com"]), (9, &[]), (1, &["slow@example.com"])];
    for (pause, expected) in steps {
        if expected == ["b@example.com"] {
            owner.post("/invites", invitation("b@example.com")).await.ok();
        }
        server.clock.advance(pause);
        settle(&server).await;
        let to: Vec<String> = sink.rest().into_iter().map(|letter| letter.to).collect();
        assert_eq!(to, expected);
    }
}

#[tokio::test]
async fn letters_wait_for_a_mail_server_that_refuses_the_sender_with_the_recipient() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    let refusals = [
        "554 5.7.1 <a@example.com>: Relay access denied",
        "550 5.1.8 <chat@example.com>: Sender address rejected: Domain not found",
        "550 relay not permitted",
    ];
    sink.reply(&refusals.map(|refusal| Reply::Refuse("RCPT", refusal)));
    owner.post("/invites", invitation("a@example.com,b@example.com,c@example.com")).await.ok();
    settle(&server).await;
    assert_eq!(waiting(&server).await, ["a@example.com 1", "b@example.com 1", "c@example.com 1"]);
    let failing = server.app().mail.deliveries.failing().unwrap();
    assert_eq!(failing.error, refusals[2]);
    server.clock.advance(60);
    settle(&server).await;
    let to: Vec<String> = sink.rest().into_iter().map(|letter| letter.to).collect();
    assert_eq!(to, ["a@example.com", "b@example.com", "c@example.com"]);
    assert_eq!(server.app().mail.deliveries.failing(), None);
}

#[tokio::test]
async fn letters_wait_for_a_mail_server_that_refuses_the_sender_with_the_content() {
    let (mut server, mut sink) = start().await;
    let owner = server.owner().await;
    let refusal = "554 Message rejected: Email address is not verified.";
    for (pause, attempts) in [(0, 1), (60, 2), (300, 3)] {
        sink.reply(&[Reply::Refuse(".", refusal); 2]);
        if attempts == 1 {
            owner.post("/invites", invitation("a@example.com,b@example.com")).await.ok();
        }
        server.clock.advance(pause);
        settle(&server).await;
        let expected = [format!("a@example.com {attempts}"), format!("b@example.com {attempts}")];
        assert_eq!(waiting(&server).await, expected);
    }
    let failing = server.app().mail.deliveries.failing().unwrap();
    assert_eq!(failing.error, refusal);
    server.restart().await;
    sink.reply(&[Reply::Refuse(".", refusal); 2]);
    server.clock.advance(900);
    settle(&server).await;
    assert_eq!(waiting(&server).await, ["a@example.com 4", "b@example.com 4"]);
    server.clock.advance(1800);
    settle(&server).await;
    let to: Vec<String> = sink.rest().into_iter().map(|letter| letter.to).collect();
    assert_eq!(to, ["a@example.com", "b@example.com"]);
    assert_eq!(server.app().mail.deliveries.failing(), None);
}

#[tokio::test]
async fn a_letter_whose_answer_is_lost_comes_again_with_the_same_message_id() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    sink.reply(&[Reply::Hangup]);
    owner.post("/invites", invitation("a@example.com")).await.ok();
    let first = sink.next().await;
    settle(&server).await;
    server.clock.advance(5);
    settle(&server).await;
    let second = sink.next().await;
    assert_eq!(first.header("Message-ID"), second.header("Message-ID"));
    assert_eq!(waiting(&server).await, [""; 0]);
}

#[tokio::test]
async fn restarts_and_crashes_lose_no_letter_and_send_none_twice() {
    let (mut server, mut sink) = start().await;
    let owner = server.owner().await;
    sink.reply(&[Reply::Refuse("MAIL", "421 closing")]);
    owner.post("/invites", invitation("a@example.com,b@example.com")).await.ok();
    settle(&server).await;
    assert_eq!(waiting(&server).await, ["a@example.com 1", "b@example.com 0"]);
    server.crash().await;
    server.clock.advance(5);
    settle(&server).await;
    let mut to: Vec<String> = sink.rest().into_iter().map(|letter| letter.to).collect();
    to.sort_unstable();
    assert_eq!(to, ["a@example.com", "b@example.com"]);
    server.restart().await;
    settle(&server).await;
    assert!(sink.rest().is_empty());
}

#[tokio::test]
async fn letters_that_people_wait_for_come_first_and_those_about_messages_last() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let general = server.channel("general", &[&ada, &bob]).await;
    settle(&server).await;
    ada.patch("/settings", json!({"enable_offline_email_notifications": true})).await.ok();
    for topic in ["one", "two", "three"] {
        bob.send(general, topic, "@**Ada** hello").await;
    }
    settle(&server).await;
    // All of them wait, because the mail server refuses the first one.
    sink.reply(&[Reply::Refuse("MAIL", "421 closing")]);
    server.clock.advance(PERIOD);
    settle(&server).await;
    server.command(Command::CreatePasswordLinks { all: false, mail: true }).await;
    owner.post("/invites", invitation("new@example.com")).await.ok();
    super::submit(&server, "/accounts/password/reset/", json!({"email": "ada@example.com"})).await;
    settle(&server).await;
    assert!(sink.rest().is_empty());
    server.clock.advance(5);
    settle(&server).await;
    let subjects: Vec<String> = sink.rest().into_iter().map(|letter| letter.subject()).collect();
    let expected = [
        "Password reset request for Team chat",
        "Set a password for Team chat",
        "Set a password for Team chat",
        "Owner has invited you to join Team chat",
        "#general > two",
        "#general > three",
        "#general > one",
    ];
    assert_eq!(subjects, expected);
}

/// The check of an email before it is sent needs no slot of the slow reads.
#[tokio::test]
async fn letters_about_messages_do_not_wait_for_searches() {
    let (server, mut sink) = start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    settle(&server).await;
    ada.patch("/settings", json!({"enable_offline_email_notifications": true})).await.ok();
    bob.send_direct(&[&ada], "hello").await;
    settle(&server).await;
    let blocked = Blocked::new(server.app(), |app| &app.pools.slow_reads).await;
    server.clock.advance(PERIOD);
    settle(&server).await;
    assert_eq!(sink.rest().len(), 1);
    blocked.end().await;
}

#[tokio::test]
async fn a_full_queue_keeps_room_for_letters_that_people_wait_for() {
    let (server, mut sink) = start().await;
    let (owner, _ada) = (server.owner().await, server.member("ada").await);
    let ask = async || {
        super::submit(&server, "/accounts/password/reset/", json!({"email": "ada@example.com"})).await;
        settle(&server).await;
    };
    // Those about messages have no room any more: see `letters_that_find_no_room_wait`.
    fill_queue(&server, 15_000).await;
    owner.post("/invites", invitation("a@example.com")).await.ok();
    settle(&server).await;
    assert_eq!(sink.next().await.to, "a@example.com");
    fill_queue(&server, 3_000).await;
    owner.post("/invites", invitation("b@example.com")).await.ok();
    let links = Command::CreatePasswordLinks { all: false, mail: true };
    let refusal = commands::run(server.app(), links).await.unwrap_err();
    assert_eq!(refusal.msg(), "too many emails are waiting for the mail server");
    ask().await;
    assert_eq!(sink.next().await.to, "ada@example.com", "the invitation was dropped");
    fill_queue(&server, 2_000).await;
    ask().await;
    assert!(sink.rest().is_empty());
}

#[tokio::test]
async fn owners_hear_once_of_a_mail_server_that_fails_and_that_it_works_again() {
    let sink = MailSink::start();
    let mut options = sink.options();
    // A port at which no program listens.
    let closed = ReservedPort::new();
    let mail = options.mail.as_mut().unwrap();
    mail.server.port = closed.address().port();
    let server = TestServer::start_with(options).await;
    let owner = server.owner().await;
    owner.post("/invites", invitation("a@example.com")).await.ok();
    settle(&server).await;
    assert_eq!(owner.notices().await, [""; 0]);
    for _ in 0..8 {
        server.clock.advance(15 * 60);
        settle(&server).await;
    }
    let notices = owner.notices().await;
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(
        notices[0].starts_with("This server has not been able to send email for some time: "),
        "{notices:?}"
    );
    let server = server.with_options(sink.options()).await;
    server.clock.advance(15 * 60);
    settle(&server).await;
    let notices = owner.notices().await;
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert_eq!(notices[1], "This server sends email again.");
}

#[tokio::test]
async fn letters_that_have_become_useless_are_not_sent() {
    let (server, mut sink) = start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let busy = [Reply::Refuse("MAIL", "451 busy")];
    sink.reply(&busy);
    let mut params = invitation("a@example.com");
    params["invite_expires_in_minutes"] = json!(60);
    owner.post("/invites", params).await.ok();
    settle(&server).await;
    server.clock.advance(60 * 60);
    settle(&server).await;
    assert!(sink.rest().is_empty(), "the invitation has ended");

    sink.reply(&busy);
    super::submit(&server, "/accounts/password/reset/", json!({"email": "ada@example.com"})).await;
    settle(&server).await;
    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    server.clock.advance(DAY);
    settle(&server).await;
    assert!(sink.rest().is_empty(), "the account is deactivated");
    assert_eq!(server.column("SELECT count(*) FROM outgoing_mail").await, ["0"]);
}

#[tokio::test]
async fn letters_whose_links_have_ended_are_not_sent() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    let ada = server.user("ada", Role::Member, None, Some("a password")).await;
    let of_ada = format!("/users/{}", ada.user_id);
    // All of them wait, because the mail server refuses the first one.
    sink.reply(&[Reply::Refuse("MAIL", "421 closing")]);
    owner.post("/invites", invitation("a@example.com")).await.ok();
    settle(&server).await;
    let links = async || {
        server.column("SELECT kind FROM outgoing_mail WHERE kind IN ('confirm_email', 'password_reset') ORDER BY kind").await
    };
    let ask = async |password: &str| {
        ada.patch("/settings", json!({"email": "new@example.com", "old_password": password})).await.ok();
        super::submit(&server, "/accounts/password/reset/", json!({"email": "ada@example.com"})).await;
        assert_eq!(links().await, ["confirm_email", "password_reset"]);
    };
    ask("a password").await;
    ada.patch("/settings", json!({"old_password": "a password", "new_password": "another one"})).await.ok();
    assert_eq!(links().await, [""; 0], "Ada has set a password");
    ask("another one").await;
    owner.post(&format!("{of_ada}/password_reset"), ()).await.ok();
    assert_eq!(links().await, ["confirm_email"], "an administrator has made another link");
    owner.patch(&of_ada, json!({"new_email": "right@example.com"})).await.ok();
    assert_eq!(links().await, [""; 0], "an administrator has set the address");
    server.clock.advance(5);
    settle(&server).await;
    let to: Vec<String> = sink.rest().into_iter().map(|letter| letter.to).collect();
    assert_eq!(to, ["a@example.com"]);
}

#[test]
fn the_page_says_when_letters_become_useless() {
    let page = include_str!("../../../docs/mail.md");
    for (email, kind, end) in [
        ("invitation", Kind::Invitation, "the end of the invitation, or 4 days if it has none"),
        ("reminder of an invitation", Kind::InvitationReminder, "2 days"),
        ("sign-up link", Kind::ConfirmSignUp, "1 day"),
        ("new account", Kind::AccountCreated, "4 days"),
        ("password link", Kind::PasswordLink, "1 day"),
        ("password reset link", Kind::PasswordReset, "1 day"),
        ("account lookup", Kind::FindAccount, "6 hours"),
        ("link to confirm a new address", Kind::ConfirmEmail, "1 day"),
        ("address changed", Kind::EmailChanged, "4 days"),
        ("new login", Kind::NewLogin, "2 days"),
        ("account deactivated", Kind::AccountDeactivated, "4 days"),
        ("organization deactivated, backup failed", Kind::OrganizationDeactivated, "4 days"),
        ("organization deactivated, backup failed", Kind::BackupFailed, "4 days"),
        ("missed messages, digest", Kind::MissedMessages, "4 days"),
        ("missed messages, digest", Kind::Digest, "4 days"),
    ] {
        let (start, end) = (format!("| {email} |"), format!("| {end} |"));
        assert!(page.lines().any(|row| row.starts_with(&start) && row.ends_with(&end)), "{email}");
        let hours = kind.lifetime() / (60 * 60);
        let period = match hours / 24 {
            0 => format!("{hours} hours"),
            1 => "1 day".to_owned(),
            days => format!("{days} days"),
        };
        assert!(end.contains(&period), "{email}: {period}");
    }
}

#[tokio::test]
async fn a_mail_server_that_does_not_answer_delays_nothing_else() {
    // It accepts connections, in the queue of the system, and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let sink = MailSink::start();
    let mut options = sink.options();
    options.mail.as_mut().unwrap().server.port = silent.local_addr().unwrap().port();
    let options = Options {
        overrides: Overrides { outgoing_timeout: Some(Duration::from_millis(200)), ..Overrides::default() },
        ..options
    };
    let server = TestServer::start_with(options).await;
    let owner = server.owner().await;
    owner.post("/invites", invitation("a@example.com")).await.ok();
    let general = server.channel("general", &[&owner]).await;
    owner.send(general, "topic", "hello").await;
    settle(&server).await;
    assert_eq!(waiting(&server).await, ["a@example.com 1"]);
    let error = server.column("SELECT last_error FROM outgoing_mail WHERE attempts = 1").await;
    assert_eq!(error, ["the mail server does not answer in time"]);
}

#[tokio::test]
async fn a_mail_server_that_talks_without_end_is_left() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // Until the server has had enough.
            while std::io::Write::write_all(&mut stream, &[b'2'; 4096]).is_ok() {}
        }
    });
    let mut options = MailSink::start().options();
    options.mail.as_mut().unwrap().server.port = port;
    let server = TestServer::start_with(options).await;
    let owner = server.owner().await;
    owner.post("/invites", invitation("a@example.com")).await.ok();
    settle(&server).await;
    let error = server.column("SELECT last_error FROM outgoing_mail WHERE attempts = 1").await;
    assert_eq!(error, ["the mail server sends too much"]);
}
