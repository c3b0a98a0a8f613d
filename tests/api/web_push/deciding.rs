//! Decisions about notifications: settings, muting, presence, queues, edits.

use super::service::{Browser, PushService, Reply};
use crate::harness::{Client, TestServer, copy_between};
use crate::messages::finding::found;
use serde_json::{Value, json};
use std::time::Duration;
use teamchat::domain::limits::PRESENCE_OFFLINE_THRESHOLD_SECONDS;
use teamchat::scheduler;

/// Title and body of what the service got, once all is sent.
async fn notified(
    server: &TestServer,
    service: &mut PushService,
    browser: &Browser,
) -> Vec<(String, String)> {
    let pushed = service.all(server).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let read = pushed.iter().map(|one| browser.read(one));
    read.map(|payload| (text(&payload["title"]), text(&payload["body"]))).collect()
}

fn nothing() -> Vec<(String, String)> {
    Vec::new()
}

fn one(title: &str, body: &str) -> Vec<(String, String)> {
    vec![(title.to_owned(), body.to_owned())]
}

// conformance: push-6
#[tokio::test]
async fn settings_and_muting_decide() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    let elsewhere = server.channel("elsewhere", &[&bob]).await;
    let set = |name: &'static str, value: bool| {
        let ada = &ada;
        async move { drop(ada.patch("/settings", json!({name: value})).await.ok()) }
    };
    let set_channel = |property: &'static str, value: Value| {
        let ada = &ada;
        async move {
            let data = json!([{"stream_id": channel, "property": property, "value": value}]);
            ada.post("/users/me/subscriptions/properties", json!({"subscription_data": data})).await.ok();
        }
    };
    let set_topic = |topic: &'static str, policy: i64| {
        let ada = &ada;
        async move {
            let params = json!({"stream_id": channel, "topic": topic, "visibility_policy": policy});
            ada.post("/user_topics", params).await.ok();
        }
    };

    bob.send(channel, "plain", "nothing").await;
    ada.send(channel, "own", "@**Ada** myself").await;
    ada.send_direct(&[&ada], "note to myself").await;
    bob.send(channel, "silent", "@_**Ada**").await;
    bob.send(elsewhere, "x", "@**Ada** is not here").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());

    bob.send_direct(&[&ada], "a *direct* message").await;
    assert_eq!(notified(&server, &mut service, &browser).await, one("Bob", "a direct message"));
    bob.send(channel, "named", "@**Ada** hello").await;
    assert_eq!(
        notified(&server, &mut service, &browser).await,
        one("#general > named", "Bob mentioned you:\n@Ada hello")
    );
    bob.send(channel, "all", "@**all** hello").await;
    assert_eq!(
        notified(&server, &mut service, &browser).await,
        one("#general > all", "Bob mentioned everyone:\n@all hello")
    );
    set("wildcard_mentions_notify", false).await;
    bob.send(channel, "all2", "@**all** hello").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    set_channel("wildcard_mentions_notify", json!(true)).await;
    bob.send(channel, "all3", "@**all** hello").await;
    assert_eq!(notified(&server, &mut service, &browser).await.len(), 1);

    set_channel("push_notifications", json!(true)).await;
    bob.send(channel, "plain", "now something").await;
    assert_eq!(
        notified(&server, &mut service, &browser).await,
        one("#general > plain", "Bob: now something")
    );
    set_topic("muted", 1).await;
    bob.send(channel, "muted", "nothing").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    bob.send(channel, "muted", "@**Ada** all the same").await;
    assert_eq!(
        notified(&server, &mut service, &browser).await.len(),
        1,
        "muting does not matter for mentions"
    );
    set_channel("is_muted", json!(true)).await;
    bob.send(channel, "quiet", "nothing").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    set_topic("loud", 2).await;
    bob.send(channel, "loud", "unmuted").await;
    assert_eq!(notified(&server, &mut service, &browser).await.len(), 1);
    set_topic("followed", 3).await;
    bob.send(channel, "followed", "followed").await;
    assert_eq!(notified(&server, &mut service, &browser).await, one("#general > followed", "Bob: followed"));
    set("enable_followed_topic_push_notifications", false).await;
    bob.send(channel, "followed", "not any more").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());

    set_channel("is_muted", json!(false)).await;
    server.sql("UPDATE subscription SET push_notifications = NULL").await;
    bob.send(channel, "default", "nothing by default").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    set("enable_stream_push_notifications", true).await;
    bob.send(channel, "default", "something now").await;
    assert_eq!(notified(&server, &mut service, &browser).await.len(), 1);
    set("enable_stream_push_notifications", false).await;
    set("enable_offline_push_notifications", false).await;
    bob.send_direct(&[&ada], "switched off").await;
    bob.send(channel, "named", "@**Ada** switched off").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());

    set("enable_offline_push_notifications", true).await;
    ada.post(&format!("/users/me/muted_users/{}", bob.user_id), ()).await.ok();
    bob.send_direct(&[&ada], "muted sender").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
}

// conformance: push-6
#[tokio::test]
async fn participants_are_notified_of_mentions_of_the_topic() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    bob.send(channel, "lunch", "@**topic** anyone?").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    ada.send(channel, "lunch", "me").await;
    bob.send(channel, "lunch", "@**topic** come").await;
    assert_eq!(
        notified(&server, &mut service, &browser).await,
        one("#general > lunch", "Bob mentioned everyone:\n@topic come")
    );
}

// conformance: push-9
#[tokio::test]
async fn groups_and_conversations_are_named() {
    let (mut service, server) = PushService::with_server().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let browser = Browser::subscribed(&server, &ada, &service).await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    let make_group = |name: &'static str, members: Vec<i64>| {
        let bob = &bob;
        async move {
            let group = json!({"name": name, "description": "", "members": members});
            bob.post("/user_groups/create", group).await.ok();
        }
    };
    make_group("crew", vec![ada.user_id, bob.user_id, cleo.user_id]).await;
    make_group("pilots", vec![ada.user_id]).await;
    bob.send(channel, "ships", "@*crew* and @*pilots*: ready?").await;
    assert_eq!(
        notified(&server, &mut service, &browser).await,
        one("#general > ships", "Bob mentioned @pilots:\n@crew and @pilots: ready?"),
        "the smallest group"
    );
    bob.send(channel, "ships", "@*crew* and @**Ada**").await;
    assert_eq!(notified(&server, &mut service, &browser).await[0].1, "Bob mentioned you:\n@crew and @Ada");
    bob.send_direct(&[&ada, &cleo], "three of us").await;
    assert_eq!(notified(&server, &mut service, &browser).await, one("Bob, Cleo", "Bob: three of us"));
    ada.patch("/settings", json!({"pm_content_in_desktop_notifications": false})).await.ok();
    cleo.send_direct(&[&ada], "a secret").await;
    assert_eq!(notified(&server, &mut service, &browser).await, one("Cleo", "New direct message from Cleo"));
    let no_topic = json!({"type": "channel", "to": channel, "topic": "", "content": "@**Ada** no topic"});
    bob.post("/messages", no_topic).await.ok();
    assert_eq!(notified(&server, &mut service, &browser).await[0].0, "#general > general chat");
}

// conformance: push-9
#[tokio::test]
async fn content_can_be_hidden() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    server.set_realm_setting("message_content_allowed_in_email_notifications", json!(false)).await;
    bob.send_direct(&[&ada], "a secret").await;
    assert_eq!(notified(&server, &mut service, &browser).await, one("New message", ""));
    server.set_realm_setting("message_content_allowed_in_email_notifications", json!(true)).await;
    let mut hidden = browser.subscription(&service);
    hidden["shows_content"] = json!(false);
    browser.client.post("/users/me/web_push", hidden).await.ok();
    bob.send_direct(&[&ada], "a secret").await;
    let pushed = service.all(&server).await;
    let payload = browser.read(&pushed[0]);
    assert_eq!(
        (&payload["title"], &payload["body"], &payload["icon"]),
        (&json!("New message"), &json!(""), &json!(null))
    );
}

// conformance: push-9
#[tokio::test]
async fn notifications_of_browsers_are_in_the_language_of_the_user() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    let group = json!({"name": "pilots", "description": "", "members": [ada.user_id]});
    bob.post("/user_groups/create", group).await.ok();
    // Other languages of the sender and of the organization do not matter.
    server.set_realm_setting("default_language", json!("pl")).await;
    bob.patch("/settings", json!({"default_language": "fr"})).await.ok();
    ada.patch("/settings", json!({"default_language": "de"})).await.ok();
    for (topic, content, title, body) in [
        ("a", "@**Ada** hello", "#general > a", "Bob hat dich erwähnt:\n@Ada hello"),
        ("b", "@**all** hello", "#general > b", "Bob hat alle erwähnt:\n@all hello"),
        ("c", "@*pilots* hello", "#general > c", "Bob hat @pilots erwähnt:\n@pilots hello"),
        ("", "@**Ada** hello", "#general > Allgemeines", "Bob hat dich erwähnt:\n@Ada hello"),
    ] {
        bob.send(channel, topic, content).await;
        assert_eq!(notified(&server, &mut service, &browser).await, one(title, body), "{topic}");
    }
    ada.patch("/settings", json!({"pm_content_in_desktop_notifications": false})).await.ok();
    bob.send_direct(&[&ada], "a secret").await;
    assert_eq!(notified(&server, &mut service, &browser).await, one("Bob", "Neue Direktnachricht von Bob"));
    server.set_realm_setting("message_content_allowed_in_email_notifications", json!(false)).await;
    bob.send_direct(&[&ada], "a secret").await;
    assert_eq!(notified(&server, &mut service, &browser).await, one("Neue Nachricht", ""));
}

// conformance: push-7
#[tokio::test]
async fn active_people_are_notified_unless_they_do_not_want_it() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    let mut queue = ada.register(json!({"event_types": ["message"]})).await;
    let active = || ada.post("/users/me/presence", json!({"status": "active"}));
    active().await.ok();
    bob.send_direct(&[&ada], "one").await;
    assert_eq!(notified(&server, &mut service, &browser).await.len(), 1, "the default");

    ada.patch("/settings", json!({"enable_online_push_notifications": false})).await.ok();
    bob.send_direct(&[&ada], "two").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    assert_eq!(server.column("SELECT count(*) FROM push_held").await, ["1"]);
    // Her client acknowledges the events, and no notification follows later.
    queue.wait().await;
    queue.expect_nothing().await;
    server.clock.advance(61);
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    assert_eq!(server.column("SELECT count(*) FROM push_held").await, ["0"]);

    // Her clients were not used for some time, although one still has a queue.
    server.clock.advance(PRESENCE_OFFLINE_THRESHOLD_SECONDS);
    bob.send_direct(&[&ada], "three").await;
    assert_eq!(notified(&server, &mut service, &browser).await.len(), 1, "idle by presence");
    server.set_realm_setting("presence_disabled", json!(true)).await;
    bob.send_direct(&[&ada], "four").await;
    assert_eq!(
        notified(&server, &mut service, &browser).await,
        nothing(),
        "without presence, no one is idle"
    );
    server.set_realm_setting("presence_disabled", json!(false)).await;

    // She shuts the laptop right after she was active. Its queue ends.
    active().await.ok();
    queue.wait().await;
    bob.send_direct(&[&ada], "five").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    server.clock.advance(61);
    assert_eq!(notified(&server, &mut service, &browser).await, nothing(), "its queue may still deliver it");
    server.app().hub.expire_of(None);
    server.clock.advance(61);
    assert_eq!(notified(&server, &mut service, &browser).await.last().unwrap().1, "five");
    bob.send_direct(&[&ada], "six").await;
    assert_eq!(notified(&server, &mut service, &browser).await.last().unwrap().1, "six", "without any queue");
}

/// No reports of people who hide their presence are kept.
// conformance: push-7
#[tokio::test]
async fn people_who_hide_their_presence_are_idle() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    let mut queue = ada.register(json!({"event_types": ["message"]})).await;
    let active = || ada.post("/users/me/presence", json!({"status": "active"}));
    ada.patch("/settings", json!({"enable_online_push_notifications": false})).await.ok();
    active().await.ok();
    bob.send_direct(&[&ada], "held").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    ada.patch("/settings", json!({"presence_enabled": false})).await.ok();
    active().await.ok();
    bob.send_direct(&[&ada], "sent").await;
    assert_eq!(notified(&server, &mut service, &browser).await, one("Bob", "sent"));
    queue.ignore();
}

// conformance: push-8
#[tokio::test]
async fn edits_tell_those_whom_they_mention_first() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    let edit = |id: i64, content: &'static str| {
        let bob = &bob;
        async move { drop(bob.patch(&format!("/messages/{id}"), json!({"content": content})).await.ok()) }
    };
    let id = bob.send(channel, "edits", "nothing").await;
    edit(id, "still nothing").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    edit(id, "@**Ada** look").await;
    assert_eq!(
        notified(&server, &mut service, &browser).await,
        one("#general > edits", "Bob mentioned you:\n@Ada look")
    );
    edit(id, "@**Ada** look again").await;
    edit(id, "@**Ada** and @**all**").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing(), "known from before");
    let id = bob.send(channel, "edits", "@**all** hello").await;
    assert_eq!(notified(&server, &mut service, &browser).await.len(), 1);
    edit(id, "@**all** and @**Ada**").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing(), "all were mentioned");
    let id = bob.send(channel, "moves", "plain").await;
    bob.patch(&format!("/messages/{id}"), json!({"topic": "moved"})).await.ok();
    assert_eq!(notified(&server, &mut service, &browser).await, nothing(), "a move");
    let id = ada.send(channel, "edits", "mine").await;
    ada.patch(&format!("/messages/{id}"), json!({"content": "@**Ada** mine"})).await.ok();
    assert_eq!(notified(&server, &mut service, &browser).await, nothing(), "her own edit");
    // Users who are notified of all messages are not notified of edits.
    ada.patch("/settings", json!({"enable_stream_push_notifications": true})).await.ok();
    let id = bob.send(channel, "all", "plain").await;
    assert_eq!(notified(&server, &mut service, &browser).await.len(), 1);
    edit(id, "@**Ada** edited").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    scheduler::settle(server.app()).await;
}

/// Both the message and its edit wait for the decision, and the text is the edited one.
// conformance: push-8
#[tokio::test]
async fn a_message_that_is_edited_before_the_decision_notifies_once() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    let channel = server.channel("general", &[&ada, &bob]).await;
    let id = bob.send(channel, "edits", "nothing").await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    bob.patch(&format!("/messages/{id}"), json!({"content": "@**Ada** look"})).await.ok();
    assert_eq!(notified(&server, &mut service, &browser).await.len(), 1);
    // As if the decision about the message itself had been the first.
    let edited_by = bob.user_id;
    server.sql(&format!("INSERT INTO push_message (message_id, edited_by) VALUES ({id}, {edited_by})")).await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    assert_eq!(server.count("push_message").await, "0");
}

/// Notifications of earlier messages are sent meanwhile.
// conformance: push-15
#[tokio::test]
async fn a_decision_that_fails_holds_up_no_notification() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    service.reply([Reply::Status(503, "")]);
    bob.send_direct(&[&ada], "hello").await;
    assert_eq!(service.all(&server).await.len(), 1);
    // The set of users is malformed, so that no decision can be made.
    server.sql("INSERT INTO push_message (message_id, known_to) VALUES (1, x'00')").await;
    server.clock.advance(10);
    assert_eq!(notified(&server, &mut service, &browser).await, one("Bob", "hello"));
    assert_eq!(server.count("push_message").await, "1");
}

/// The file is that between the job that sends a message of a muted sender and the follow-up job, which marks it as read for Ada.
#[tokio::test]
async fn messages_that_are_not_yet_read_for_many_muters_notify_none_of_them() {
    let (mut service, server, ada, bob, browser) = PushService::with_reader().await;
    server.app().writer.background().set_limit(Duration::ZERO);
    let crowd = server.crowd(60).await;
    let muters: Vec<&Client> = crowd.iter().chain([&ada]).collect();
    let everyone: Vec<&Client> = muters.iter().copied().chain([&bob]).collect();
    let channel = server.channel("general", &everyone).await;
    let notified_of_all = json!([{"stream_id": channel, "property": "push_notifications", "value": true}]);
    ada.post("/users/me/subscriptions/properties", json!({"subscription_data": notified_of_all})).await.ok();
    for muter in muters {
        muter.post(&format!("/users/me/muted_users/{}", bob.user_id), json!({})).await.ok();
    }
    let (_, copy) = copy_between(&server, bob.send(channel, "lunch", "muted")).await;
    assert_eq!(notified(&server, &mut service, &browser).await, nothing());
    server.restore(&copy).await;
    assert_eq!(found(&ada, json!([["is", "unread"]])).await.len(), 1);
    crowd[0].send_direct(&[&ada], "hello").await;
    assert_eq!(notified(&server, &mut service, &browser).await, one("Person 0", "hello"));
}
