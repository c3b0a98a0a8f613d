//! Warnings of space and quotas that run out, and rows that are removed after a time.

use crate::harness::{Client, TestServer};
use crate::uploads::upload;
use serde_json::json;
use teamchat::app::Options;
use teamchat::scheduler;

/// Seconds after which the space is measured again.
const INTERVAL: i64 = 10 * 60;

/// Lets the time pass after which the space is measured.
async fn measure(server: &TestServer) {
    server.clock.advance(INTERVAL);
    scheduler::settle(server.app()).await;
}

#[tokio::test]
async fn owners_are_warned_before_the_quota_of_files_is_used_up() {
    let options = Options { upload_quota_mib: Some(20), ..Options::default() };
    let server = TestServer::start_with(options).await;
    let (owner, ada) = (server.owner().await, server.administrator("ada").await);
    let ok = "UPDATE upload_state SET space_used = 0";
    let fill = async |mib: i64| {
        server.sql(&format!("UPDATE upload_state SET space_used = {mib} << 20")).await;
        measure(&server).await;
    };
    fill(15).await;
    assert_eq!(owner.notices().await, [""; 0]);
    fill(16).await;
    let warned = owner.notices().await;
    assert_eq!(warned.len(), 1);
    assert!(warned[0].starts_with("Uploaded files take 80 % of their quota; 4 MiB are left."), "{warned:?}");
    // Not again, also after a start, nor while it is about the same.
    let mut server = server;
    server.restart().await;
    measure(&server).await;
    server.sql("UPDATE upload_state SET space_used = 31 << 19").await;
    measure(&server).await;
    server.sql("UPDATE upload_state SET space_used = 16 << 20").await;
    measure(&server).await;
    assert_eq!(owner.notices().await.len(), 1);
    // When it becomes worse, and when it is over and comes back.
    server.sql("UPDATE upload_state SET space_used = 19 << 20").await;
    measure(&server).await;
    assert!(owner.notices().await[1].contains("take 95 % of their quota; 1 MiB"));
    server.sql(ok).await;
    measure(&server).await;
    assert_eq!(owner.notices().await.len(), 2);
    server.sql("UPDATE upload_state SET space_used = 17 << 20").await;
    scheduler::settle(server.app()).await;
    assert_eq!(owner.notices().await.len(), 2, "it is measured every ten minutes");
    measure(&server).await;
    assert!(owner.notices().await[2].contains("take 85 %"));
    owner.patch("/settings", json!({"default_language": "de"})).await.ok();
    server.sql("UPDATE upload_state SET space_used = 20 << 20").await;
    measure(&server).await;
    assert!(
        owner.notices().await[3].starts_with("Hochgeladene Dateien belegen 100 % ihres Kontingents; 0 MiB")
    );
    assert_eq!(ada.notices().await, [""; 0], "only owners are told");
}

#[tokio::test]
async fn people_are_warned_before_their_own_quota_is_used_up() {
    let options = Options { upload_quota_per_person_mib: Some(20), ..Options::default() };
    let mut server = TestServer::start_with(options).await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let bot = server.bot("helper", &ada).await;
    for client in [&ada, &bot, &owner] {
        upload(client, "file", b"x").await;
    }
    let set = async |server: &TestServer, client: &Client, mib: i64| {
        let files = format!("UPDATE attachment SET size = {mib} << 20 WHERE user_id = {}", client.user_id);
        server.sql(&files).await;
        measure(server).await;
    };
    let told = async |client: &Client| {
        let mut told = client.notices().await;
        told.retain(|text| text.starts_with("Your uploaded files"));
        told
    };
    let levels = "SELECT value FROM counter WHERE name LIKE 'told_upload_quota_of%' ORDER BY value";
    set(&server, &ada, 8).await;
    set(&server, &bot, 7).await;
    assert_eq!(told(&ada).await, [""; 0]);
    set(&server, &bot, 8).await;
    let text = "Your uploaded files, with those of your bots, take 80 % of your quota; 4 MiB are left. When it is used up, \
                you cannot upload. You can delete old files in the settings.";
    assert_eq!(told(&ada).await, [text]);
    set(&server, &bot, 9).await;
    assert_eq!(told(&ada).await.len(), 1, "it is about the same");
    set(&server, &bot, 11).await;
    assert!(told(&ada).await[1].contains("take 95 % of your quota; 1 MiB"));
    // When it is over and comes back.
    set(&server, &bot, 1).await;
    assert_eq!(server.column(levels).await, [""; 0]);
    set(&server, &bot, 8).await;
    assert_eq!((told(&ada).await.len(), told(&owner).await.len()), (3, 0), "others are not told");
    set(&server, &owner, 19).await;
    assert!(told(&owner).await[0].contains("95 %"));
    server.restart().await;
    measure(&server).await;
    assert_eq!(server.column(levels).await, ["80", "95"]);
    assert_eq!((told(&ada).await.len(), told(&owner).await.len()), (3, 1), "not again after a start");
}

#[tokio::test]
async fn members_are_warned_of_their_share_and_administrators_have_none() {
    let options =
        Options { max_file_upload_size_mib: Some(1), upload_quota_mib: Some(80), ..Options::default() };
    let server = TestServer::start_with(options).await;
    let (admin, ada) = (server.administrator("admin").await, server.member("ada").await);
    for client in [&admin, &ada] {
        upload(client, "file", b"x").await;
    }
    server.sql("UPDATE attachment SET size = 18 << 20").await;
    server.sql("UPDATE upload_state SET space_used = 72 << 20").await;
    measure(&server).await;
    let told = "SELECT name || ' ' || value FROM counter WHERE name LIKE 'told_upload%' ORDER BY name";
    let expected = ["told_upload_quota 80".to_owned(), format!("told_upload_quota_of_{} 80", ada.user_id)];
    assert_eq!(server.column(told).await, expected);
}

#[tokio::test]
async fn owners_are_warned_of_a_full_disk() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let server = server.with_options(Options { disk_warning: Some(101), ..Options::default() }).await;
    measure(&server).await;
    assert_eq!(owner.notices().await, [""; 0]);
    let server = server.with_options(Options { disk_warning: Some(1), ..Options::default() }).await;
    scheduler::settle(server.app()).await;
    let warned = owner.notices().await;
    assert!(warned.len() == 1 && warned[0].starts_with("The disk of this server is "), "{warned:?}");
}

#[tokio::test]
async fn scheduled_messages_are_forgotten_a_month_after_they_were_sent() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let link = upload(&ada, "plan.txt", b"plan").await;
    let schedule = async |content: &str, days: i64| {
        let at = server.clock.seconds() + days * 24 * 60 * 60;
        let message = json!({"type": "direct", "to": [ada.user_id], "content": content,
            "scheduled_delivery_timestamp": at});
        ada.post("/scheduled_messages", message).await.ok();
    };
    schedule("soon", 1).await;
    schedule(&format!("with a [file]({link})"), 1).await;
    schedule("late", 40).await;
    let left = async || server.column("SELECT count(*) FROM scheduled_message").await;
    let pass = async |days: i64| {
        server.clock.advance(days * 24 * 60 * 60);
        scheduler::settle(server.app()).await;
    };
    pass(1).await;
    pass(29).await;
    assert_eq!(left().await, ["3"]);
    pass(2).await;
    assert_eq!(left().await, ["1"], "those that were sent are gone");
    pass(8).await;
    let received =
        ada.get("/messages", json!({"anchor": "newest", "num_before": 9, "num_after": 0})).await.ok();
    assert!(
        received["messages"].as_array().unwrap().iter().any(|message| message["content"] == "<p>late</p>")
    );
}

#[tokio::test]
async fn invitations_are_forgotten_a_month_after_their_end() {
    const DAY: i64 = 24 * 60 * 60;
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let link = async |minutes: Option<i64>| {
        let invite = json!({"invite_expires_in_minutes": minutes, "stream_ids": []});
        owner.post("/invites/multiuse", invite).await.ok();
        server.column("SELECT max(invite_id) FROM invite").await.remove(0)
    };
    let (expiring, lasting, revoked) = (link(Some(24 * 60)).await, link(None).await, link(None).await);
    owner.delete(&format!("/invites/multiuse/{revoked}"), ()).await.ok();
    let left = async || server.column("SELECT invite_id FROM invite ORDER BY invite_id").await;
    let pass = async |seconds: i64| {
        server.clock.advance(seconds);
        scheduler::settle(server.app()).await;
    };
    pass(DAY).await;
    pass(29 * DAY).await;
    let msg = "Invitation has already been revoked";
    owner.delete(&format!("/invites/multiuse/{revoked}"), ()).await.error(400, "BAD_REQUEST", msg);
    pass(INTERVAL).await;
    assert_eq!(left().await, [expiring.clone(), lasting.clone()]);
    pass(DAY).await;
    assert_eq!(left().await, [lasting]);
}

#[tokio::test]
async fn budgets_of_notices_are_removed_after_a_day() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    owner.patch(&format!("/users/{}", ada.user_id), json!({"role": 300})).await.ok();
    let left = async || server.column("SELECT count FROM notice_budget").await;
    measure(&server).await;
    assert_eq!(left().await, ["1"]);
    server.clock.advance(24 * 60 * 60);
    measure(&server).await;
    measure(&server).await;
    assert_eq!(left().await, [""; 0]);
}
