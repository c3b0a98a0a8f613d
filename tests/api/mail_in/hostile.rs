//! Mails that are made to do harm.

use super::{Mailer, address_of, bare, last, mail, send, start};
use crate::harness::{Client, TestServer};
use serde_json::json;
use std::net::SocketAddr;

/// A server with a channel, one who reads it, and an address of it.
async fn channel() -> (TestServer, SocketAddr, Client, String) {
    let (server, listener) = start().await;
    let ada = server.member("ada").await;
    let stream_id = server.channel("quay", &[&ada]).await;
    let email = bare(&address_of(&ada, stream_id, json!({})).await);
    (server, listener, ada, email)
}

#[tokio::test]
async fn no_second_mail_hides_behind_other_line_ends() {
    let (server, listener, _ada, email) = channel().await;
    for end in ["\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r\n", "\r\n.\r", "\n\n.\r\n"] {
        let mut mailer = Mailer::lmtp(listener).await;
        mailer.begin_mail(&email).await;
        let smuggled = format!(
            "Subject: one\r\n\r\none{end}MAIL FROM:<eve@example.org>\r\nRCPT TO:<{email}>\r\nDATA\r\n\
             Subject: two\r\n\r\ntwo\r\n.\r\n"
        );
        mailer.send(smuggled.as_bytes()).await;
        assert_eq!(mailer.reply().await, "550 5.6.0 Lines end with CRLF", "{end:?}");
        assert!(mailer.is_closed().await, "{end:?}");
    }
    assert_eq!(server.count("message").await, "0");
}

#[tokio::test]
async fn mails_and_commands_are_not_mixed() {
    let (server, listener, _ada, email) = channel().await;
    let mut mailer = Mailer::lmtp(listener).await;
    let early = format!(
        "MAIL FROM:<ann@example.org>\r\nRCPT TO:<{email}>\r\nDATA\r\nSubject: early\r\n\r\nearly\r\n.\r\n"
    );
    mailer.send(early.as_bytes()).await;
    let replies = [mailer.reply().await, mailer.reply().await, mailer.reply().await];
    assert!(replies[2].starts_with("554 5.5.0 "), "{replies:?}");
    assert_eq!(server.count("message").await, "0");
    for command in ["NOOP\n", "NO\rOP\r\n", "NO\0OP\r\n", "NOOP \u{e9}\r\n"] {
        let mut mailer = Mailer::connect(listener).await;
        let bytes: Vec<u8> =
            if command.is_ascii() { command.into() } else { command.chars().map(|c| c as u8).collect() };
        mailer.send(&bytes).await;
        assert!(mailer.reply().await.starts_with("500 5.5.2 "), "{command:?}");
        assert!(mailer.is_closed().await, "{command:?}");
    }
}

#[tokio::test]
async fn bombs_are_refused_and_the_session_goes_on() {
    let (server, listener, ada, email) = channel().await;
    let part = |n: i32| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n");
    let nested = (0..100).map(part).collect::<Vec<_>>().concat();
    let wide = format!("Content-Type: multipart/mixed; boundary=b\n\n{}", "--b\n\nx\n".repeat(5000));
    let header = format!("Subject: x\n{}\nx\n", "X-Filler: aaaaaaaaaaaaaaaaaaaaaaaa\n".repeat(10_000));
    let words = format!("Subject: {}\n\nx\n", "=?aa?q? ".repeat(1000));
    let mut mailer = Mailer::lmtp(listener).await;
    for (bomb, reply) in [
        (&nested, "554 5.6.0 The mail has too many parts"),
        (&wide, "554 5.6.0 The mail has too many parts"),
        (&header, "554 5.6.0 The headers are too long"),
        (&words, "554 5.6.0 The headers are malformed"),
        (&format!("Subject: {}\n\nx\n", "a".repeat(40_000)), "554 5.6.0 A line is too long"),
    ] {
        assert_eq!(mailer.mail(&email, bomb).await, reply);
    }
    assert_eq!(server.count("message").await, "0");
    // Mails within mails are one file, however deep.
    let deep = format!("Subject: deep\n{}x\n", "Content-Type: message/rfc822\n\n".repeat(20_000));
    assert_eq!(mailer.mail(&email, &deep).await, "250 2.0.0 OK");
    let (topic, content) = last(&ada).await;
    assert!(topic == "deep" && content.starts_with("(No email body)\n\n[message.eml]("), "{content}");
    let html = format!("Subject: html\nContent-Type: text/html\n\n{}", "<div><a href=\"\n".repeat(50_000));
    assert_eq!(mailer.mail(&email, &html).await, "250 2.0.0 OK");
    // Text in which each line could introduce a quote, and HTML in which each end could be that of a hidden element.
    let quotes =
        format!("Subject: quotes\n\n{}> quoted\nand not\n", "On Monday 1, Ada wrote:\n".repeat(8000));
    let ends =
        format!("Subject: ends\nContent-Type: text/html\n\n<title>{}", "<a></b></b></b>\n".repeat(50_000));
    for mail in [quotes, ends] {
        assert_eq!(mailer.mail(&email, &mail).await, "250 2.0.0 OK");
    }
}

// conformance: channel-76
#[tokio::test]
async fn subjects_are_topics_of_one_line() {
    let (_server, listener, ada, email) = channel().await;
    for (subject, topic) in [
        ("=?utf-8?q?tides=0D=0ABcc:_eve@example.org?=", "tides  Bcc: eve@example.org"),
        ("=?utf-8?b?YeKArmI=?=", "ab"),
        ("=?iso-8859-1?q?Caf=E9?=", "Café"),
        ("folded\n subject", "folded subject"),
    ] {
        send(listener, &email, &mail(subject, "text")).await;
        assert_eq!(last(&ada).await.0, topic, "{subject}");
    }
    send(listener, &email, &mail(&"long ".repeat(100), "text")).await;
    let (topic, _) = last(&ada).await;
    assert!(topic.chars().count() <= 60 && topic.ends_with("..."), "{topic}");
}

#[tokio::test]
async fn charsets_that_lie_lose_characters_only() {
    let (_server, listener, ada, email) = channel().await;
    for (charset, text) in
        [("utf-8", "n=FF!"), ("x-none", "n=FF!"), ("us-ascii", "n=FF!"), ("\"a;b\"", "n=FF!")]
    {
        let lying = format!(
            "Subject: x\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: quoted-printable\n\n{text}"
        );
        send(listener, &email, &lying).await;
        assert_eq!(last(&ada).await.1, "n\u{fffd}!", "{charset}");
    }
    let wrong =
        "Subject: x\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n*** no base64 ***";
    send(listener, &email, wrong).await;
    assert_eq!(last(&ada).await.1, "*** no base64 ***");
    let nul = "Subject: x\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\nYQBi";
    send(listener, &email, nul).await;
    assert_eq!(last(&ada).await.1, "ab");
}

// conformance: channel-77
#[tokio::test]
async fn answers_of_programs_and_mails_of_this_server_are_dropped() {
    let (server, listener, ada, email) = channel().await;
    for header in [
        "Auto-Submitted: auto-replied",
        "X-Autoreply: yes",
        "Reply-To: <mm0@chat.example>",
        "From: a@chat.example",
    ] {
        send(listener, &email, &format!("{header}\nSubject: loop\n\nx")).await;
    }
    assert_eq!(server.count("message").await, "0");
    // Programs and mailing lists may write to channels.
    for header in ["Auto-Submitted: auto-generated", "List-Id: <ships.example.org>"] {
        send(listener, &email, &format!("{header}\nSubject: {header}\n\nx")).await;
        assert_eq!(last(&ada).await.0, header);
    }
}
