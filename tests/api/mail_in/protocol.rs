//! The commands of SMTP and LMTP.

use super::{Mailer, address_of, bare, last, mail, options, start};
use crate::harness::TestServer;
use serde_json::json;
use teamchat::app::Options;

#[tokio::test]
async fn smtp_takes_one_recipient_at_a_time_and_lmtp_replies_for_each() {
    let (server, listener) = start().await;
    let ada = server.member("ada").await;
    let (one, two) = (server.channel("one", &[&ada]).await, server.channel("two", &[&ada]).await);
    let one = bare(&address_of(&ada, one, json!({})).await);
    let two = bare(&address_of(&ada, two, json!({})).await);
    let mut smtp = Mailer::connect(listener).await;
    assert_eq!(
        smtp.say("EHLO mx.example").await,
        format!(
            "250-chat.example\n250-PIPELINING\n250-SIZE {}\n250-8BITMIME\n250-ENHANCEDSTATUSCODES\n250 SMTPUTF8",
            25 << 20
        )
    );
    assert_eq!(smtp.say("MAIL FROM:<ann@example.org> SIZE=100 BODY=8BITMIME SMTPUTF8").await, "250 2.1.0 OK");
    assert_eq!(smtp.say(&format!("RCPT TO:<{one}>")).await, "250 2.1.5 OK");
    assert!(smtp.say(&format!("RCPT TO:<{two}>")).await.starts_with("452 4.5.3 "));
    assert!(smtp.say("DATA").await.starts_with("354 "));
    assert_eq!(smtp.say("Subject: tides\r\n\r\nsmtp\r\n.").await, "250 2.0.0 OK");
    assert_eq!(last(&ada).await, ("tides".to_owned(), "smtp".to_owned()));
    assert_eq!(smtp.mail(&two, &mail("next", "again")).await, "250 2.0.0 OK");
    assert_eq!(last(&ada).await.1, "again");
    assert_eq!(smtp.say("QUIT").await, "221 2.0.0 Goodbye");
    assert!(smtp.is_closed().await);

    let mut lmtp = Mailer::lmtp(listener).await;
    // All commands at once, in which one recipient is unknown.
    let commands = format!(
        "MAIL FROM:<ann@example.org>\r\nRCPT TO:<{one}>\r\nRCPT TO:<nobody@chat.example>\r\nRCPT TO:<{two}>\r\nDATA\r\n"
    );
    lmtp.send(commands.as_bytes()).await;
    let mut codes = Vec::new();
    for _ in 0..5 {
        codes.push(lmtp.reply().await[..3].to_owned());
    }
    assert_eq!(codes, ["250", "250", "550", "250", "354"]);
    assert_eq!(lmtp.say("Subject: both\r\n\r\nlmtp\r\n.").await, "250 2.0.0 OK");
    assert_eq!(lmtp.reply().await, "250 2.0.0 OK");
    assert_eq!(server.column("SELECT count(*) FROM message WHERE subject = 'both'").await, ["2"]);
}

#[tokio::test]
async fn commands_are_refused_out_of_order_and_malformed() {
    let (server, listener) = start().await;
    let ada = server.member("ada").await;
    let stream_id = server.channel("quay", &[&ada]).await;
    let email = address_of(&ada, stream_id, json!({})).await;
    let mut mailer = Mailer::connect(listener).await;
    let rcpt = format!("RCPT TO:<{email}>");
    for (command, code) in [
        ("MAIL FROM:<a@example.org>", "503 5.5.1"),
        ("EHLO", "501 5.5.4"),
        ("HELO mx.example", "250 chat.example"),
        (rcpt.as_str(), "503 5.5.1"),
        ("DATA", "503 5.5.1"),
        ("MAIL a@example.org", "501 5.5.4"),
        ("MAIL FROM:<a@example.org> AUTH=<>", "555 5.5.4"),
        ("MAIL FROM:<a@example.org> SIZE=x", "501 5.5.4"),
        ("MAIL FROM:<a@example.org> SIZE=99999999999", "552 5.3.4"),
        ("mail from:<a@example.org>", "250 2.1.0"),
        ("MAIL FROM:<a@example.org>", "503 5.5.1"),
        (&format!("{rcpt} NOTIFY=NEVER"), "555 5.5.4"),
        ("RCPT TO:ada", "501 5.5.4"),
        ("DATA", "503 5.5.1"),
        (rcpt.as_str(), "250 2.1.5"),
        ("RSET", "250 2.0.0"),
        ("DATA", "503 5.5.1"),
        ("NOOP", "250 2.0.0"),
        ("VRFY ada", "252 2.5.0"),
        ("STARTTLS", "502 5.5.1"),
        ("BDAT 5 LAST", "502 5.5.1"),
        ("GET / HTTP/1.1", "500 5.5.1"),
        ("QUIT", "221 2.0.0"),
    ] {
        let reply = mailer.say(command).await;
        assert!(reply.starts_with(code), "{command}: {reply}");
    }
}

// conformance: channel-75
#[tokio::test]
async fn only_addresses_that_were_given_out_are_recipients() {
    let (server, listener) = start().await;
    let ada = server.member("ada").await;
    let stream_id = server.channel("quay", &[&ada]).await;
    let email = address_of(&ada, stream_id, json!({})).await;
    let token = bare(&email).replace("@chat.example", "");
    let mut mailer = Mailer::lmtp(listener).await;
    mailer.say("MAIL FROM:<ann@example.org>").await;
    for address in [
        "ann@example.org".to_owned(),
        "postmaster@chat.example".to_owned(),
        "quay@chat.example".to_owned(),
        format!("{}@chat.example", "0".repeat(32)),
        format!("mm{}@chat.example", "0".repeat(32)),
        format!("mm{token}@chat.example"),
        format!("{token}@chat.example.org"),
        format!("{token}%example.org@chat.example"),
        format!("{}@chat.example", &token[1..]),
        String::new(),
    ] {
        let reply = mailer.say(&format!("RCPT TO:<{address}>")).await;
        assert_eq!(reply, "550 5.1.1 There is no such address", "{address}");
    }
    // Notes about mails that could not be delivered have no sender.
    mailer.say("RSET").await;
    assert_eq!(mailer.say("MAIL FROM:<>").await, "250 2.1.0 OK");
    assert_eq!(mailer.say(&format!("RCPT TO:<{email}>")).await, "550 5.1.1 There is no such address");
}

#[tokio::test]
async fn sessions_end_when_the_server_stops() {
    let (mut server, listener) = start().await;
    let mut mailer = Mailer::lmtp(listener).await;
    server.stop().await;
    assert_eq!(mailer.reply().await, "421 4.3.2 The server is stopping");
    assert!(mailer.is_closed().await);
}

// conformance: channel-54
#[tokio::test]
async fn no_channel_has_an_address_where_no_mail_is_received() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let stream_id = server.channel("quay", &[&ada]).await;
    assert_eq!(address_of(&ada, stream_id, json!({})).await, "");
    assert_eq!(server.column("SELECT count(*) FROM channel_email").await, ["0"]);
    // An address that was given out works again when mail is received.
    let server = server.with_options(options()).await;
    let email = address_of(&ada, stream_id, json!({})).await;
    let server = server.with_options(Options::default()).await;
    assert_eq!(address_of(&ada, stream_id, json!({})).await, "");
    let _server = server.with_options(options()).await;
    assert_eq!(address_of(&ada, stream_id, json!({})).await, email);
}
