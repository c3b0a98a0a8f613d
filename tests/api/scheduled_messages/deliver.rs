//! Delivery of scheduled messages.

use super::{LATER, pass, schedule, scheduled, to_channel, to_people};
use crate::harness::{Client, Queue, TestServer};
use serde_json::{Value, json};
use teamchat::http::ApiError;

async fn hear(client: &Client) -> Queue {
    client.register(json!({"event_types": ["message", "scheduled_messages"], "apply_markdown": true})).await
}

/// Changes the file without the interface.
async fn change(server: &TestServer, sql: &'static str, id: i64) {
    let change = server.app().writer.run(move |tx| -> Result<(), ApiError> {
        tx.execute(sql, [id])?;
        Ok(())
    });
    change.await.unwrap();
}

// conformance: schedule-4, schedule-38, schedule-42, schedule-43, schedule-45
#[tokio::test]
async fn a_message_is_sent_at_its_time_and_not_before() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let mut parameters = to_channel(general, "hello @**Cleo**");
    parameters["read_by_sender"] = json!(true);
    let id = schedule(&ada, parameters).await;
    // Mentions resolve names at the time of sending.
    let cleo = server.member("cleo").await;
    let (mut own, mut others) = (hear(&ada).await, hear(&bob).await);
    pass(&server, 3599).await;
    own.expect_nothing().await;
    pass(&server, 1).await;
    let received = own.expect_kinds(&["message", "scheduled_messages/remove"]).await;
    assert_eq!(received[1]["scheduled_message_id"], id);
    assert_eq!(received[0]["flags"], json!(["read"]));
    let message = &received[0]["message"];
    assert_eq!((&message["timestamp"], &message["subject"]), (&json!(LATER), &json!("plans")));
    assert_eq!((&message["sender_id"], &message["client"]), (&json!(ada.user_id), &json!("teamchat-tests")));
    let mention = format!("data-user-id=\"{}\"", cleo.user_id);
    assert!(message["content"].as_str().unwrap().contains(&mention), "{message}");
    let heard = others.expect_kinds(&["message"]).await;
    assert_eq!((&heard[0]["message"]["id"], &heard[0]["flags"]), (&message["id"], &json!([])));
    assert_eq!(scheduled(&ada).await, json!([]));
    let (path, msg) = (format!("/scheduled_messages/{id}"), "Scheduled message was already sent");
    ada.patch(&path, &[("content", "too late")]).await.error(400, "BAD_REQUEST", msg);
    ada.delete(&path, ()).await.error(400, "BAD_REQUEST", msg);
    bob.delete(&path, ()).await.error(400, "BAD_REQUEST", "Scheduled message does not exist");
}

// conformance: schedule-44
#[tokio::test]
async fn messages_are_sent_in_the_order_of_their_times() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    for (content, time) in
        [("third", LATER + 2), ("first", LATER), ("second", LATER + 1), ("not yet", LATER + 9)]
    {
        let mut parameters = to_people(&[bob.user_id], content);
        parameters["scheduled_delivery_timestamp"] = json!(time);
        schedule(&ada, parameters).await;
    }
    let mut events = bob.register(json!({"event_types": ["message"]})).await;
    pass(&server, 3602).await;
    let received = events.expect_kinds(&["message"; 3]).await;
    let contents: Vec<&Value> = received.iter().map(|event| &event["message"]["content"]).collect();
    assert_eq!(contents, ["first", "second", "third"]);
    assert_eq!(scheduled(&ada).await[0]["content"], "not yet");
}

// conformance: schedule-46
#[tokio::test]
async fn the_sender_has_not_read_a_bots_message_nor_a_note_to_oneself() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let mut events = ada.register(json!({"event_types": ["message"]})).await;
    schedule(&ada, to_people(&[ada.user_id], "by default")).await;
    let mut parameters = to_people(&[ada.user_id], "as wanted");
    parameters["read_by_sender"] = json!(true);
    schedule(&ada, parameters).await;
    let mut parameters = to_people(&[ada.user_id], "by an app");
    parameters["client"] = json!("website");
    schedule(&ada, parameters).await;
    let mut parameters = to_people(&[ada.user_id, bob.user_id], "to others by an app");
    parameters["client"] = json!("website");
    schedule(&ada, parameters).await;
    schedule(&ada, to_people(&[bob.user_id], "to others by a script")).await;
    pass(&server, 3600).await;
    let received = events.expect_kinds(&["message"; 5]).await;
    let flags: Vec<&Value> = received.iter().map(|event| &event["flags"]).collect();
    assert_eq!(flags, [&json!([]), &json!(["read"]), &json!([]), &json!(["read"]), &json!([])]);
}

// conformance: schedule-47, schedule-48, schedule-49, schedule-50
#[tokio::test]
async fn messages_due_during_downtime_are_sent_within_a_limit() {
    let mut server = TestServer::start().await;
    let bot = server.notification_bot().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    schedule(&ada, to_people(&[bob.user_id], "late")).await;
    let mut parameters = to_people(&[bob.user_id], "too late");
    parameters["scheduled_delivery_timestamp"] = json!(LATER - 1);
    let too_late = schedule(&ada, parameters).await;
    let (mut own, mut others) = (hear(&ada).await, hear(&bob).await);
    server.stop().await;
    server.clock.advance(3600 + 600);
    server.restart().await;
    pass(&server, 0).await;
    let heard = others.expect_kinds(&["message"]).await;
    assert_eq!(heard[0]["message"]["content"], "<p>late</p>");
    let kinds = ["scheduled_messages/update", "message", "message", "scheduled_messages/remove"];
    let received = own.expect_kinds(&kinds).await;
    let failed = &received[0]["scheduled_message"];
    assert_eq!((&failed["scheduled_message_id"], &failed["failed"]), (&json!(too_late), &json!(true)));
    let notice = &received[1]["message"];
    assert_eq!((&notice["sender_id"], &notice["type"]), (&json!(bot), &json!("private")));
    let raw = ada.get(&format!("/messages/{}", notice["id"]), ()).await.ok();
    assert_eq!(
        raw["raw_content"],
        "The message you scheduled for <time:2026-09-21T15:13:19+00:00> was not sent because of the following \
         error:\n\n> Message could not be sent at the scheduled time.\n\n[View scheduled messages](#scheduled)"
    );
    assert_eq!(scheduled(&ada).await, json!([failed]));
    // It is not tried again.
    pass(&server, 60).await;
    own.expect_nothing().await;
}

// conformance: schedule-51
#[tokio::test]
async fn permissions_are_asked_again() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.private_channel("general", &[&ada, &bob]).await;
    schedule(&ada, to_channel(general, "hello")).await;
    let left = "UPDATE subscription SET active = 0 WHERE user_id = ?1";
    change(&server, left, ada.user_id).await;
    let (mut own, mut others) = (hear(&ada).await, hear(&bob).await);
    pass(&server, 3600).await;
    let received = own.expect_kinds(&["scheduled_messages/update", "message"]).await;
    let notice = received[1]["message"]["content"].as_str().unwrap();
    assert!(notice.contains(&format!("Channel with ID '{general}' does not exist")), "{notice}");
    others.expect_nothing().await;
    assert_eq!(scheduled(&ada).await[0]["failed"], true);
}

// conformance: schedule-51
#[tokio::test]
async fn concurrent_changes_are_checked_again() {
    let archived = "UPDATE stream SET is_archived = 1";
    let only_empty = "UPDATE stream SET topics_policy = 'empty_topic_only'";
    for (change, reason) in [
        (Some(archived), "Not authorized to send to channel 'general'"),
        (Some(only_empty), "Only the general chat topic is allowed in this channel."),
        (None, "You do not have permission to post in this channel."),
    ] {
        let server = TestServer::start().await;
        let owner = server.owner().await;
        let ada = server.member("ada").await;
        let general = server.channel("general", &[&ada, &owner]).await;
        schedule(&ada, to_channel(general, "hello")).await;
        if let Some(change) = change {
            server.sql(change).await;
        } else {
            let owner_only = json!({"new": {"direct_members": [owner.user_id], "direct_subgroups": []}});
            let setting = json!({"can_send_message_group": owner_only});
            owner.patch(&format!("/streams/{general}"), setting).await.ok();
        }
        let mut own = hear(&ada).await;
        pass(&server, 3600).await;
        let received = own.expect_kinds(&["scheduled_messages/update", "message"]).await;
        let notice = received[1]["message"]["content"].as_str().unwrap();
        assert!(notice.contains(reason), "{notice}");
    }
}

// conformance: schedule-52
#[tokio::test]
async fn wildcard_permission_is_checked_on_write_change_and_delivery() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    let mut people = vec![ada.clone()];
    for number in 0..15 {
        people.push(server.member(&format!("member{number}")).await);
    }
    let general = server.channel("general", &people.iter().collect::<Vec<_>>()).await;
    let (code, msg) = (
        "STREAM_WILDCARD_MENTION_NOT_ALLOWED",
        "You do not have permission to use channel wildcard mentions in this channel.",
    );
    let everybody = to_channel(general, "@**all** hello");
    ada.post("/scheduled_messages", &everybody).await.error(400, code, msg);
    let id = schedule(&ada, to_channel(general, "hello")).await;
    let path = format!("/scheduled_messages/{id}");
    ada.patch(&path, &[("content", "@**all** hello")]).await.error(400, code, msg);
    let members = json!({"new": {"direct_members": [ada.user_id], "direct_subgroups": []}});
    owner.patch("/realm", json!({"can_mention_many_users_group": members})).await.ok();
    ada.patch(&path, &[("content", "@**all** hello")]).await.ok();
    let nobody = json!({"new": {"direct_members": [], "direct_subgroups": []}});
    owner.patch("/realm", json!({"can_mention_many_users_group": nobody})).await.ok();
    let mut own = hear(&ada).await;
    pass(&server, 3600).await;
    let received = own.expect_kinds(&["scheduled_messages/update", "message"]).await;
    let notice = received[1]["message"]["content"].as_str().unwrap();
    assert!(notice.contains(msg), "{notice}");
}

// conformance: schedule-53
#[tokio::test]
async fn users_who_left_receive_no_messages() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    schedule(&ada, to_people(&[bob.user_id], "hello")).await;
    change(&server, "UPDATE user SET is_active = 0 WHERE user_id = ?1", bob.user_id).await;
    let mut own = hear(&ada).await;
    pass(&server, 3600).await;
    let received = own.expect_kinds(&["scheduled_messages/update", "message"]).await;
    let notice = received[1]["message"]["content"].as_str().unwrap();
    assert!(notice.contains("'Bob' is no longer using this organization."), "{notice}");
}

// conformance: schedule-55
#[tokio::test]
async fn nothing_is_sent_while_the_organization_is_closed() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    schedule(&ada, to_people(&[bob.user_id], "hello")).await;
    let (mut own, mut others) = (hear(&ada).await, hear(&bob).await);
    server.sql("UPDATE realm SET deactivated = 1").await;
    pass(&server, 3600).await;
    server.sql("UPDATE realm SET deactivated = 0").await;
    own.expect_nothing().await;
    others.expect_nothing().await;
    pass(&server, 600).await;
    others.expect_kinds(&["message"]).await;
    own.expect_kinds(&["message", "scheduled_messages/remove"]).await;
}

// conformance: schedule-54
#[tokio::test]
async fn failures_of_deactivated_accounts_are_silent() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    schedule(&ada, to_people(&[bob.user_id], "hello")).await;
    change(&server, "UPDATE user SET is_active = 0 WHERE user_id = ?1", ada.user_id).await;
    let mut others = hear(&bob).await;
    pass(&server, 3600).await;
    change(&server, "UPDATE user SET is_active = 1 WHERE user_id = ?1", ada.user_id).await;
    assert_eq!(scheduled(&ada).await[0]["failed"], true);
    let found = ada.get("/messages", &[("anchor", "newest"), ("num_before", "9"), ("num_after", "0")]).await;
    assert_eq!(found.ok()["messages"], json!([]));
    others.expect_nothing().await;
}

// conformance: schedule-4, schedule-5
#[tokio::test]
async fn delivery_events_reproduce_state() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    schedule(&ada, to_people(&[bob.user_id], "hello")).await;
    let mut parameters = to_people(&[bob.user_id], "too late");
    parameters["scheduled_delivery_timestamp"] = json!(LATER - 601);
    schedule(&ada, parameters).await;
    server.check_state_sync(&[&ada, &bob], async || pass(&server, 3600).await).await;
    let left = scheduled(&ada).await;
    assert_eq!((&left[0]["content"], &left[0]["failed"]), (&json!("too late"), &json!(true)));
    assert_eq!(left.as_array().unwrap().len(), 1);
}

// conformance: schedule-56
#[tokio::test]
async fn the_waiting_task_is_woken_when_something_is_scheduled() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let mut events = bob.register(json!({"event_types": ["message"]})).await;
    schedule(&ada, to_people(&[bob.user_id], "hello")).await;
    server.clock.advance(3600);
    // Nothing here says that the time has come but the timetable, which the next message rings.
    let mut next = to_people(&[bob.user_id], "again");
    next["scheduled_delivery_timestamp"] = json!(LATER + 60);
    let (received, _) = tokio::join!(events.wait(), schedule(&ada, next));
    assert_eq!(received[0]["message"]["content"], "hello");
}

/// Runs the task. Returns true if all due messages were processed.
async fn deliver(server: &TestServer) -> bool {
    teamchat::api::scheduled_messages::deliver::deliver_due(server.app()).await.is_ok()
}

// conformance: schedule-57
#[tokio::test]
async fn a_passing_error_of_the_server_fails_no_message() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut events = hear(&ada).await;
    schedule(&ada, to_people(&[ada.user_id], "hello")).await;
    events.expect_kinds(&["scheduled_messages/add"]).await;
    // A statement of the delivery fails, as on a full disk.
    server
        .sql("CREATE TRIGGER broken BEFORE INSERT ON message BEGIN SELECT RAISE(FAIL, 'broken'); END")
        .await;
    server.clock.advance(3600);
    assert!(!deliver(&server).await);
    events.expect_nothing().await;
    assert_eq!(scheduled(&ada).await[0]["failed"], false);
    server.sql("DROP TRIGGER broken").await;
    assert!(deliver(&server).await);
    events.expect_kinds(&["message", "scheduled_messages/remove"]).await;
}

// conformance: schedule-57
#[tokio::test]
async fn a_message_that_cannot_be_sent_stops_no_other() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bad = schedule(&ada, to_people(&[ada.user_id], "bad")).await;
    schedule(&ada, to_people(&[ada.user_id], "good")).await;
    let mut events = hear(&ada).await;
    let broken = "CREATE TRIGGER broken BEFORE UPDATE ON scheduled_message WHEN old.scheduled_message_id = ";
    server.sql(&format!("{broken}{bad} BEGIN SELECT RAISE(FAIL, 'broken'); END")).await;
    server.clock.advance(3600);
    assert!(!deliver(&server).await);
    let received = events.expect_kinds(&["message", "scheduled_messages/remove"]).await;
    assert_eq!(received[0]["message"]["content"], "<p>good</p>");
    let left = scheduled(&ada).await;
    assert_eq!((&left[0]["scheduled_message_id"], left.as_array().unwrap().len()), (&json!(bad), 1));
}

#[tokio::test]
async fn nothing_of_a_message_that_was_sent_is_kept_with_its_row() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    schedule(&ada, to_channel(general, "hello")).await;
    pass(&server, 3600).await;
    let texts = "SELECT topic || content || rendered_content FROM scheduled_message WHERE sent";
    assert_eq!(server.column(texts).await, [""]);
}

/// A prepared message is sent with the sender's role at the time of sending; deactivated senders send nothing.
#[tokio::test]
async fn permission_is_checked_again_when_sending() {
    for changed in ["is_active = 0", "role = 600"] {
        let server = TestServer::start().await;
        let (ada, bob) = (server.member("ada").await, server.member("bob").await);
        let general = server.channel("general", &[&bob]).await;
        schedule(&ada, to_channel(general, "hello")).await;
        let mut others = hear(&bob).await;
        server.clock.advance(3600);
        // The delivery reads the old state while the writer is blocked, and writes after the change.
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let held = server.app().writer.run(move |_| {
            gate.recv().unwrap();
            Ok::<(), ApiError>(())
        });
        let statement = format!("UPDATE user SET {changed} WHERE user_id = {}", ada.user_id);
        let change = server.sql(&statement);
        let release = async {
            for _ in 0..1000 {
                tokio::task::yield_now().await;
            }
            open.send(()).unwrap();
        };
        let (held, (), is_done, ()) = tokio::join!(held, change, deliver(&server), release);
        held.unwrap();
        assert!(is_done);
        others.expect_nothing().await;
        assert_eq!(server.column("SELECT failed FROM scheduled_message").await, ["1"], "{changed}");
    }
}
