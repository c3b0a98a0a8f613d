//! Limits: sizes, numbers and rates.

use super::{Mailer, address_of, bare, last, mail, options, send, start, start_with};
use serde_json::json;
use teamchat::app::{Options, Overrides};

// conformance: channel-78
#[tokio::test]
async fn mails_have_the_size_of_uploads_at_most() {
    let (server, listener) = start_with(Options { max_file_upload_size_mib: Some(1), ..options() }).await;
    let ada = server.member("ada").await;
    let stream_id = server.channel("quay", &[&ada]).await;
    let email = bare(&address_of(&ada, stream_id, json!({})).await);
    let mut mailer = Mailer::lmtp(listener).await;
    assert!(mailer.say("LHLO mx.example").await.contains("\n250-SIZE 1048576\n"));
    assert_eq!(mailer.say("MAIL FROM:<a@example.org> SIZE=1048577").await, "552 5.3.4 The mail is too large");
    let line = format!("{}\n", "a".repeat(1022));
    let fits = mail("fits", &line.repeat(1000));
    assert_eq!(mailer.mail(&email, &fits).await, "250 2.0.0 OK");
    let (topic, content) = last(&ada).await;
    assert_eq!((topic.as_str(), content.chars().count()), ("fits", 10_000));
    assert!(content.ends_with("\n[message truncated]"));
    let large = mail("large", &line.repeat(1025));
    assert_eq!(mailer.mail(&email, &large).await, "552 5.3.4 The mail is too large");
    assert_eq!(last(&ada).await.0, "fits");
}

#[tokio::test]
async fn lines_commands_and_refusals_have_limits() {
    let (_server, listener) = start().await;
    let mut mailer = Mailer::connect(listener).await;
    mailer.send(&[b'a'; 2048]).await;
    assert!(mailer.reply().await.starts_with("500 5.5.2 "));
    assert!(mailer.is_closed().await);

    let mut mailer = Mailer::connect(listener).await;
    for _ in 0..20 {
        assert!(mailer.say("NONSENSE").await.starts_with("500 "));
    }
    assert_eq!(mailer.say("NONSENSE").await, "421 4.7.0 Too many errors");
    assert!(mailer.is_closed().await);

    let mut mailer = Mailer::connect(listener).await;
    mailer.send("NOOP\r\n".repeat(1000).as_bytes()).await;
    for _ in 0..1000 {
        assert_eq!(mailer.reply().await, "250 2.0.0 OK");
    }
    assert_eq!(mailer.reply().await, "421 4.7.0 Too many commands");
}

#[tokio::test]
async fn a_mail_has_fifty_recipients_at_most() {
    let (server, listener) = start().await;
    let ada = server.member("ada").await;
    let stream_id = server.channel("quay", &[&ada]).await;
    let email = address_of(&ada, stream_id, json!({})).await;
    let mut mailer = Mailer::lmtp(listener).await;
    mailer.say("MAIL FROM:<ann@example.org>").await;
    mailer.send(format!("RCPT TO:<{email}>\r\n").repeat(51).as_bytes()).await;
    for _ in 0..50 {
        assert_eq!(mailer.reply().await, "250 2.1.5 OK");
    }
    assert!(mailer.reply().await.starts_with("452 4.5.3 "));
}

#[tokio::test]
async fn an_address_has_few_connections() {
    let (_server, listener) = start_with(Options {
        overrides: Overrides { connections_per_address: Some(2), ..Overrides::default() },
        ..options()
    })
    .await;
    let (first, _second) = (Mailer::connect(listener).await, Mailer::connect(listener).await);
    let mut third = Mailer::begin(listener).await;
    assert_eq!(third.reply().await, "421 4.7.0 Too many connections");
    drop(first);
    loop {
        let mut fourth = Mailer::begin(listener).await;
        if fourth.reply().await.starts_with("220 ") {
            break;
        }
    }
}

// conformance: channel-79
#[tokio::test]
async fn channels_take_fifty_mails_a_minute() {
    let (server, listener) = start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let stream_id = server.channel("quay", &[&ada, &bob]).await;
    let email = address_of(&ada, stream_id, json!({})).await;
    let mut mailer = Mailer::lmtp(listener).await;
    let mut taken = 0;
    let refusal = loop {
        let reply = mailer.mail(&email, &mail("tides", "text")).await;
        if reply != "250 2.0.0 OK" {
            break reply;
        }
        taken += 1;
    };
    assert_eq!((taken, refusal.as_str()), (50, "451 4.7.1 Too many mails: try again later"));
    // Those to the addresses of another person do not wait.
    let other = address_of(&bob, stream_id, json!({})).await;
    send(listener, &other, &mail("tides", "at once")).await;
    server.clock.advance(60);
    send(listener, &email, &mail("tides", "later")).await;
}

#[tokio::test]
async fn files_count_for_the_quotas_of_uploads() {
    let quota = Options { upload_quota_mib: Some(1), ..options() };
    let (server, listener) = start_with(quota).await;
    let ada = server.member("ada").await;
    let stream_id = server.channel("quay", &[&ada]).await;
    let email = bare(&address_of(&ada, stream_id, json!({})).await);
    send(listener, &email, &with_file(1100)).await;
    let (_, content) = last(&ada).await;
    assert!(content.starts_with("text\n\n(") && !content.contains("/user_uploads/"), "{content}");
    assert_eq!(server.column("SELECT count(*) FROM attachment").await, ["0"]);
}

/// A mail with a file of about this number of KiB.
fn with_file(size: usize) -> String {
    let line = format!("{}\n", "a".repeat(1022));
    format!(
        "Subject: file\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n--b\n\
         Content-Type: application/x-data; name=large\n\n{}--b--\n",
        line.repeat(size)
    )
}

/// A leaked address fills the quota of the person who asked for it, and no other.
#[tokio::test]
async fn files_count_for_the_person_who_asked_for_the_address() {
    let quota = Options { upload_quota_mib: Some(100), upload_quota_per_person_mib: Some(1), ..options() };
    let (server, listener) = start_with(quota).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let stream_id = server.channel("quay", &[&ada, &bob]).await;
    let of_ada = bare(&address_of(&ada, stream_id, json!({})).await);
    let of_bob = bare(&address_of(&bob, stream_id, json!({})).await);
    let mut queue = ada.register(json!({"event_types": ["attachment"]})).await;
    send(listener, &of_ada, &with_file(700)).await;
    let files = ada.get("/attachments", ()).await.ok()["attachments"].clone();
    assert_eq!((files[0]["name"].as_str(), files.as_array().unwrap().len()), (Some("large"), 1), "{files}");
    let added = json!({"type": "attachment", "op": "add", "attachment": files[0], "upload_space_used": "*"});
    queue.expect(&[added]).await;
    send(listener, &of_ada, &with_file(700)).await;
    let refusal = "text\n\n(Upload would exceed your share of your organization's upload quota.)";
    assert_eq!(last(&bob).await.1, refusal);
    assert_eq!(bob.get("/attachments", ()).await.ok()["attachments"], json!([]));
    send(listener, &of_bob, &with_file(700)).await;
    assert!(last(&bob).await.1.contains("(/user_uploads/"), "{:?}", last(&bob).await);
    assert_eq!(bob.get("/attachments", ()).await.ok()["attachments"].as_array().unwrap().len(), 1);
}

/// Otherwise they would count for no person, and fill the quota of all. The links of many files with long names do not fit into a
/// message, and one with too much HTML is not sent.
#[tokio::test]
async fn files_to_which_no_message_links_are_deleted() {
    let (server, listener) = start().await;
    let ada = server.member("ada").await;
    let stream_id = server.channel("quay", &[&ada]).await;
    let email = bare(&address_of(&ada, stream_id, json!({})).await);
    let with_files = |text: &str, count: usize| {
        let name = "x".repeat(250);
        let file =
            |number| format!("--b\nContent-Type: application/x-data; name={name}{number}\n\ncontent\n");
        let files: String = (0..count).map(file).collect();
        format!("Subject: files\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n{text}\n{files}--b--\n")
    };
    let messages = server.column("SELECT count(*) FROM message").await;
    send(listener, &email, &with_files(&format!("{}\n", "\u{1f600}".repeat(100)).repeat(50), 3)).await;
    assert_eq!(server.column("SELECT count(*) FROM message").await, messages, "it has too much HTML");
    assert_eq!(server.column("SELECT count(*) FROM attachment").await, ["0"]);

    send(listener, &email, &with_files("look", 50)).await;
    let text = last(&ada).await.1;
    assert!(text.starts_with("[message truncated]"), "{text}");
    let kept = server.column("SELECT user_id FROM attachment").await;
    assert!(!kept.is_empty() && kept.len() < 50, "{}", kept.len());
    assert!(kept.iter().all(|user_id| *user_id == ada.user_id.to_string()), "{kept:?}");
    let unlinked = "SELECT count(*) FROM attachment WHERE unclaimed_since IS NOT NULL";
    assert_eq!(server.column(unlinked).await, ["0"]);
    assert_eq!(
        server.column("SELECT space_used FROM upload_state").await,
        server.column("SELECT sum(size) FROM attachment").await
    );
}
