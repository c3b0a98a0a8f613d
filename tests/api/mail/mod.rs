//! Mail: who gets which email, once, and what a mail server that is down, busy or refuses changes.

mod accounts;
mod digest;
mod languages;
mod links;
pub mod mailbox;
mod new_address;
mod queue;
pub mod sink;
mod unsubscribe;

use crate::harness::{Answer, Client, TestServer};
use crate::join::{Page, text};
use hyper::Method;
use serde_json::{Value, json};
use sink::{MailSink, URL};
use teamchat::scheduler;
use teamchat::types::Role;

const DAY: i64 = 24 * 60 * 60;

/// A server that sends its mail to a sink. New accounts get no mail about messages, such as notices of the bots.
async fn start() -> (TestServer, MailSink) {
    let sink = MailSink::start();
    let server = TestServer::start_with(sink.options()).await;
    let setting =
        "INSERT INTO realm_user_setting_default VALUES ('enable_offline_email_notifications', 'false')";
    server.sql(setting).await;
    (server, sink)
}

/// Waits until all that is due was sent.
async fn settle(server: &TestServer) {
    scheduler::settle(server.app()).await;
}

async fn open(server: &TestServer, path: &str) -> Answer {
    server.anonymous().request_outside(Method::GET, path).send().await
}

async fn submit(server: &TestServer, path: &str, fields: Value) -> Answer {
    server.anonymous().request_outside(Method::POST, path).form(fields).send().await
}

fn invitation(emails: &str) -> Value {
    json!({"invitee_emails": emails, "stream_ids": []})
}

#[tokio::test]
async fn invited_people_get_letters_with_their_links() {
    let (server, mut sink) = start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    server.sql("UPDATE user SET full_name = 'Zoë <b>' WHERE email = 'ada@example.com'").await;
    ada.post("/invites", invitation("new@example.com, other@example.com")).await.ok();
    let (letter, other) = (sink.next().await, sink.next().await);
    assert_eq!((letter.from.as_str(), letter.to.as_str()), ("chat@example.com", "new@example.com"));
    assert_eq!(other.to, "other@example.com");
    for (name, expected) in [
        ("To", "new@example.com"),
        ("Reply-To", "chat@example.com"),
        ("X-Auto-Response-Suppress", "All"),
        ("Auto-Submitted", "auto-generated"),
        ("List-Unsubscribe", ""),
    ] {
        assert_eq!(letter.header(name), expected, "{name}");
    }
    assert_eq!(letter.header("List-Id").replace('"', ""), "Team chat <chat.example.com>");
    assert!(letter.header("From").contains("<chat@example.com>"), "{}", letter.header("From"));
    assert!(letter.header("Date").starts_with("Mon, 21 Sep 2026 14:13:20"), "{}", letter.header("Date"));
    assert_ne!(letter.header("Message-ID"), other.header("Message-ID"));
    assert!(letter.text.contains("Zoë <b> (ada@example.com) has invited you"), "{}", letter.text);
    assert!(letter.html.contains("Zoë &lt;b&gt; (ada@example.com)"), "{}", letter.html);
    let path = letter.path("/join/");
    assert!(letter.html.contains(&format!("{URL}{path}")), "{}", letter.html);
    assert_ne!(path, other.path("/join/"));
    // A name in which mail programs would see a link is left out, in the reminder too.
    ada.patch("/settings", json!({"full_name": "Win at evil.example/now"})).await.ok();
    ada.post("/invites", invitation("third@example.com")).await.ok();
    let letter = sink.next().await;
    assert_eq!(letter.subject(), "ada@example.com has invited you to join Team chat");
    assert!(letter.text.starts_with("ada@example.com has invited you"), "{}", letter.text);
    assert!(!letter.html.contains("evil.example"), "{}", letter.html);

    // No one else has the links: no message of the notification bot.
    for client in [&owner, &ada] {
        let fetch = json!({"anchor": "newest", "num_before": 9, "num_after": 0});
        assert_eq!(client.get("/messages", fetch).await.ok()["messages"], json!([]));
    }
    let page = Page::open(&server, &path).await;
    let joined =
        page.send(json!({"full_name": "New", "email": "x@example.com", "password": "correct horse"})).await;
    assert_eq!(joined.status, 200, "{joined}");
    let created = sink.next().await;
    assert_eq!(
        (created.to.as_str(), created.subject().as_str()),
        ("new@example.com", "Team chat: Your new account details")
    );
    assert_eq!(created.header("To"), "New <new@example.com>");
    settle(&server).await;
    assert!(sink.rest().is_empty(), "one letter each");
}

#[tokio::test]
async fn reminders_come_once_and_only_while_the_invitation_waits() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    for (email, minutes) in [
        ("long", json!(10 * 24 * 60)),
        ("short", json!(3 * 24 * 60)),
        ("ever", Value::Null),
        ("revoked", json!(10 * 24 * 60)),
        ("joined", json!(10 * 24 * 60)),
    ] {
        let mut params = invitation(&format!("{email}@example.com"));
        params["invite_expires_in_minutes"] = minutes;
        owner.post("/invites", params).await.ok();
        let letter = sink.next().await;
        assert_eq!(letter.subject(), "Owner has invited you to join Team chat");
        if email == "joined" {
            let page = Page::open(&server, &letter.path("/join/")).await;
            let fields = json!({"full_name": "Joined", "email": "", "password": "correct horse"});
            assert_eq!(page.send(fields).await.status, 200);
            sink.next().await;
        }
    }
    let listed = owner.get("/invites", ()).await.ok()["invites"].clone();
    let revoked =
        listed.as_array().unwrap().iter().find(|invite| invite["email"] == "revoked@example.com").unwrap();
    owner.delete(&format!("/invites/{}", revoked["id"]), ()).await.ok();
    server.clock.advance(8 * DAY - 1);
    settle(&server).await;
    assert!(sink.rest().is_empty());
    server.clock.advance(1);
    settle(&server).await;
    let reminders = sink.rest();
    assert_eq!(reminders.len(), 1, "{reminders:?}");
    assert_eq!(reminders[0].subject(), "Reminder: Join Owner at Team chat");
    assert_eq!(reminders[0].to, "long@example.com");
    Page::open(&server, &reminders[0].path("/join/")).await;
    server.clock.advance(2 * DAY);
    settle(&server).await;
    assert!(sink.rest().is_empty());
}

#[tokio::test]
async fn an_invitation_is_sent_again_with_a_link_that_replaces_the_first() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    owner.post("/invites", invitation("new@example.com")).await.ok();
    let first = sink.next().await.path("/join/");
    owner.post("/invites/1/resend", ()).await.ok();
    let second = sink.next().await.path("/join/");
    assert_eq!((open(&server, &first).await.status, open(&server, &second).await.status), (404, 200));
    // The reminder is that of the second.
    server.clock.advance(8 * DAY);
    settle(&server).await;
    let reminders = sink.rest();
    assert_eq!(reminders.len(), 1, "{reminders:?}");
    assert_eq!(reminders[0].path("/join/"), second);
}

#[tokio::test]
async fn a_member_sends_a_hundred_invitations_a_day() {
    let (server, _sink) = start().await;
    let ada = server.member("ada").await;
    let emails = |from: usize, count: usize| {
        let emails: Vec<String> =
            (from..from + count).map(|number| format!("p{number}@example.com")).collect();
        emails.join(",")
    };
    ada.post("/invites", invitation(&emails(0, 50))).await.ok();
    ada.post("/invites", invitation(&emails(50, 50))).await.ok();
    let refused = ada.post("/invites", invitation(&emails(100, 1))).await;
    assert_eq!((refused.status, &refused["code"]), (400, &json!("INVITATION_FAILED")));
    assert_eq!(
        (&refused["daily_limit_reached"], &refused["sent_invitations"]),
        (&json!(true), &json!(false))
    );
    server.clock.advance(DAY);
    ada.post("/invites", invitation(&emails(100, 1))).await.ok();
}

#[tokio::test]
async fn members_invite_an_address_twice_in_an_hour() {
    let (server, mut sink) = start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    for client in [&ada, &bob] {
        client.post("/invites", invitation("new@example.com")).await.ok();
        assert_eq!(sink.next().await.to, "new@example.com");
        let invites = client.get("/invites", ()).await.ok()["invites"].clone();
        client.delete(&format!("/invites/{}", invites[0]["id"]), ()).await.ok();
    }
    let refused = ada.post("/invites", invitation("other@example.com,New@example.com")).await;
    assert_eq!((refused.status, &refused["daily_limit_reached"]), (400, &json!(true)));
    settle(&server).await;
    assert!(sink.rest().is_empty());
    // Administrators may.
    server.owner().await.post("/invites", invitation("new@example.com")).await.ok();
    assert_eq!(sink.next().await.to, "new@example.com");
}

#[tokio::test]
async fn without_a_mail_server_all_is_as_before() {
    let server = TestServer::start().await;
    let mut owner = server.user("owner", Role::Owner, None, Some("a password")).await;
    owner.post("/invites", invitation("new@example.com")).await.ok();
    let change = json!({"email": "changed@example.com", "old_password": "a password"});
    owner.patch("/settings", change).await.ok();
    owner.email = "changed@example.com".to_owned();
    assert_eq!(owner.get("/users/me", ()).await.ok()["delivery_email"], "changed@example.com");
    owner.patch("/realm", json!({"invite_required": false})).await.ok();
    let settings = server.anonymous().get("/server_settings", ()).await.ok();
    assert_eq!(settings["realm_sign_up_enabled"], false);
    for path in ["/register/", "/accounts/home/"] {
        assert_eq!(open(&server, path).await.status, 404, "{path}");
        assert_eq!(submit(&server, path, json!({"email": "x@example.com"})).await.status, 404, "{path}");
    }
    for path in ["/accounts/password/reset/", "/accounts/find/"] {
        assert_eq!(open(&server, path).await.status, 200, "{path}");
        let answer =
            submit(&server, path, json!({"email": "changed@example.com", "emails": "changed@example.com"}))
                .await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!text(&answer).contains("<form"), "{path}");
    }
    assert_eq!(server.column("SELECT count(*) FROM outgoing_mail").await, ["0"]);
}

#[tokio::test]
async fn letters_are_deleted_when_the_server_starts_without_a_mail_server() {
    let (server, sink) = start().await;
    sink.reply(&[sink::Reply::Refuse("MAIL", "451 not now")]);
    let owner = server.owner().await;
    owner.post("/invites", invitation("new@example.com")).await.ok();
    settle(&server).await;
    assert_eq!(server.column("SELECT count(*) FROM outgoing_mail WHERE attempts = 1").await, ["1"]);
    let server = server.with_options(teamchat::app::Options::default()).await;
    settle(&server).await;
    assert_eq!(server.column("SELECT count(*) FROM outgoing_mail").await, ["0"]);
    assert_eq!(server.column("SELECT count(*) FROM mail_setup").await, ["0"]);
}

/// The password of a person, as the login takes it.
async fn log_in(server: &TestServer, email: &str, password: &str) -> u16 {
    server.anonymous().post("/fetch_api_key", &[("username", email), ("password", password)]).await.status
}

/// The addresses that are known to be those of their users.
async fn proven(server: &TestServer) -> Vec<String> {
    server.column("SELECT delivery_email FROM user WHERE is_email_proven ORDER BY user_id").await
}

/// The owner's real email.
async fn email_of(client: &Client) -> String {
    client.get("/users/me", ()).await.ok()["delivery_email"].as_str().unwrap().to_owned()
}
