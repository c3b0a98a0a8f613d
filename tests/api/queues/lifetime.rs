//! Lifetime of queues, restarts and crashes, and trimming of the log.

use super::ping;
use crate::harness::{Blocked, Queue, START, TestServer, until};
use serde_json::json;
use teamchat::api::drafts::DraftRemoved;

const TEN_MINUTES: i64 = 600;

impl Queue {
    /// The queue has expired; its client has to register again.
    async fn expect_gone(&self, client: &crate::harness::Client) {
        let refusal = format!("Bad event queue ID: {}", self.queue_id);
        client.get("/events", self.poll(true)).await.error(400, "BAD_EVENT_QUEUE_ID", &refusal);
    }
}

/// The name of the queue is in no response.
#[tokio::test]
async fn a_client_that_hangs_up_leaves_no_queue() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let hub = &server.app().hub;
    let blocked = Blocked::new(server.app(), |app| &app.pools.slow_reads).await;
    let form = "event_types=[\"message\"]&idle_queue_timeout=604800";
    server.hang_up(&ada, ("POST /api/v1/register", form), || !hub.is_empty()).await;
    until(|| hub.is_empty()).await;
    blocked.end().await;
    server.hang_up(&ada, ("GET /api/v1/events", form), || !hub.is_empty()).await;
    until(|| hub.is_empty()).await;
    server.maintain().await;
    assert_eq!(server.column("SELECT queue_id FROM event_queue").await, [""; 0]);
}

// conformance: queue-19
#[tokio::test]
async fn idle_queues_expire_after_ten_minutes() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let idle = ada.register(()).await;
    let mut polled = ada.register(()).await;
    server.clock.advance(TEN_MINUTES);
    server.maintain().await;
    polled.expect_nothing().await;
    assert_eq!(server.column("SELECT queue_id FROM event_queue").await.len(), 2, "just in time");
    server.clock.advance(1);
    server.maintain().await;
    idle.expect_gone(&ada).await;
    assert_eq!(server.column("SELECT queue_id FROM event_queue").await, [polled.queue_id.as_str()]);
    polled.expect_nothing().await;
    server.restart().await;
    idle.expect_gone(&ada).await;
    polled.expect_nothing().await;
}

// conformance: queue-80
#[tokio::test]
async fn clients_choose_the_lifetime_of_queues() {
    const HOUR: i64 = 3600;
    const WEEK: i64 = 7 * 24 * HOUR;
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mobile = ada.register(json!({"idle_queue_timeout": "\"mobile\""})).await;
    assert_eq!(mobile.state["idle_queue_timeout_secs"], 12 * HOUR);
    let brief = ada.register(json!({"idle_queue_timeout": 60})).await;
    assert_eq!(brief.state["idle_queue_timeout_secs"], 60);
    let long = ada.register(json!({"idle_queue_timeout": 10 * WEEK, "queue_lifespan_secs": 1})).await;
    assert_eq!(long.state["idle_queue_timeout_secs"], WEEK);
    let usual = ada.register(json!({"idle_queue_timeout": 0})).await;
    assert_eq!(usual.state["idle_queue_timeout_secs"], TEN_MINUTES);
    let older = ada.register(json!({"queue_lifespan_secs": HOUR})).await;
    assert_eq!(older.state.get("idle_queue_timeout_secs"), None, "only for who asks by this name");

    let all = [&brief, &usual, &older, &mobile, &long];
    let mut since = 0;
    for (gone, after) in [60, TEN_MINUTES, HOUR, 12 * HOUR, WEEK].into_iter().enumerate() {
        server.clock.advance(after - since);
        server.maintain().await;
        assert_eq!(
            server.column("SELECT queue_id FROM event_queue").await.len(),
            all.len() - gone,
            "{after}"
        );
        server.clock.advance(1);
        server.maintain().await;
        all[gone].expect_gone(&ada).await;
        since = after + 1;
    }

    // The lifetime is stored in the file, so it applies after a restart too.
    let mut mobile =
        ada.register(json!({"idle_queue_timeout": "\"mobile\"", "event_types": ["drafts"]})).await;
    server.restart().await;
    server.clock.advance(11 * HOUR);
    server.maintain().await;
    server.ping(&[&ada], 1, true).await;
    mobile.expect(&[ping(1)]).await;
    let wrong = "idle_queue_timeout is neither a number of seconds nor \"mobile\"";
    for value in [json!("\"desktop\""), json!({}), json!(1.5)] {
        let refused = ada.post("/register", json!({"idle_queue_timeout": value})).await;
        refused.error(400, "BAD_REQUEST", wrong);
    }
}

// conformance: queue-19
#[tokio::test]
async fn setting_the_clock_expires_no_queue() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(()).await;
    server.clock.set_wall(START + 365 * 24 * 3600);
    server.maintain().await;
    server.ping(&[&ada], 1, true).await;
    queue.expect(&[ping(1)]).await;
    server.clock.set_wall(START - 365 * 24 * 3600);
    server.clock.advance(TEN_MINUTES + 1);
    server.maintain().await;
    queue.expect_gone(&ada).await;
}

#[tokio::test]
async fn clients_register_again_after_a_restored_backup() {
    for pings_after_restore in [0, 20] {
        let mut server = TestServer::start().await;
        let ada = server.member("ada").await;
        let mut queue = ada.register(()).await;
        server.ping(&[&ada], 1, true).await;
        queue.expect(&[ping(1)]).await;
        server.stop().await;
        let backup = std::fs::read(server.database()).unwrap();
        server.restart().await;
        for number in 2..5 {
            server.ping(&[&ada], number, true).await;
        }
        queue.expect(&[ping(2), ping(3), ping(4)]).await;
        server.stop().await;
        std::fs::write(server.database(), backup).unwrap();
        server.restart().await;
        // The id is used again, for another event.
        for number in 0..pings_after_restore {
            server.ping(&[&ada], number, true).await;
        }
        queue.expect_gone(&ada).await;
        let mut later = ada.register(()).await;
        server.ping(&[&ada], 5, true).await;
        later.expect(&[ping(5)]).await;
        server.restart().await;
        server.ping(&[&ada], 6, true).await;
        later.expect(&[ping(6)]).await;
    }
}

// conformance: queue-20
#[tokio::test]
async fn waiting_polls_keep_queues_alive() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let queue = ada.register(()).await;
    let waiting = queue.waiting_poll().await;
    server.clock.advance(10 * TEN_MINUTES);
    server.maintain().await;
    let receivers = [&ada];
    let (answer, ()) = tokio::join!(waiting, server.ping(&receivers, 1, true));
    let last = answer.ok()["events"][0]["id"].clone();
    let poll = json!({"queue_id": queue.queue_id, "last_event_id": last, "dont_block": true});
    assert_eq!(ada.get("/events", poll).await.ok()["events"], json!([]));
}

// conformance: queue-21
#[tokio::test]
async fn queues_go_on_where_they_were_after_a_restart_and_after_a_crash() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut reader = ada.register(()).await;
    let mut late = ada.register(json!({"event_types": ["drafts"]})).await;
    server.ping(&[&ada], 1, true).await;
    reader.expect(&[ping(1)]).await;
    server.ping(&[&ada], 2, true).await;
    server.restart().await;
    server.ping(&[&ada], 3, true).await;
    reader.expect(&[ping(2), ping(3)]).await;
    server.ping(&[&ada], 4, true).await;
    server.crash().await;
    server.ping(&[&ada], 5, true).await;
    reader.expect(&[ping(4), ping(5)]).await;
    server.crash().await;
    late.expect(&[ping(1), ping(2), ping(3), ping(4), ping(5)]).await;
    reader.expect_nothing().await;
}

// conformance: queue-22
#[tokio::test]
async fn a_poll_that_waits_is_answered_when_the_server_stops() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(()).await;
    let waiting = queue.waiting_poll().await;
    let (answer, ()) = tokio::join!(waiting, server.restart());
    assert_eq!(answer.ok()["events"], json!([]));
    server.ping(&[&ada], 1, true).await;
    queue.expect(&[ping(1)]).await;
}

#[tokio::test]
async fn a_poll_that_waits_is_refused_when_its_key_ends() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(()).await;
    let waiting = queue.waiting_poll().await;
    let end_and_send = async {
        ada.post("/users/me/api_key/regenerate", ()).await.ok();
        server.ping(&[&ada], 1, true).await;
    };
    let (answer, ()) = tokio::join!(waiting, end_and_send);
    answer.error(401, "UNAUTHORIZED", "Invalid API key");
    queue.ignore();
}

// conformance: queue-1
#[tokio::test]
async fn event_numbers_are_never_used_again() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(()).await;
    let mut last = queue.last_event_id;
    for round in 0..6 {
        server.ping(&[&ada], round, round % 2 == 0).await;
        server.ping(&[&ada], round, round % 3 == 0).await;
        for event in queue.events().await {
            let id = event["id"].as_i64().unwrap();
            assert!(id > last, "{id} after {last} in round {round}");
            last = id;
        }
        if round % 2 == 0 {
            server.crash().await;
        } else {
            server.restart().await;
        }
        // An empty log does not start again at 1 either.
        server.maintain().await;
        server.sql("DELETE FROM event").await;
    }
}

#[tokio::test]
async fn a_clean_stop_wastes_no_numbers() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(()).await;
    let mut ids = Vec::new();
    for number in 0..3 {
        server.ping(&[&ada], number, true).await;
        ids.extend(queue.expect(&[ping(number)]).await.iter().map(|event| event["id"].as_i64().unwrap()));
        server.restart().await;
    }
    assert_eq!(ids, [ids[0], ids[0] + 1, ids[0] + 2]);
}

#[tokio::test]
async fn log_keeps_events_of_active_queues() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let logged = "SELECT json_extract(payload, '$.draft_id') FROM event WHERE type = 'drafts'";
    let mut slow = ada.register(()).await;
    let mut quick = bob.register(()).await;
    for number in 1..=3 {
        server.ping(&[&ada, &bob], number, true).await;
    }
    quick.expect(&[ping(1), ping(2), ping(3)]).await;
    server.maintain().await;
    assert_eq!(server.column(logged).await, ["1", "2", "3"], "one queue has not asked yet");
    server.crash().await;
    let events = slow.expect(&[ping(1), ping(2), ping(3)]).await;
    server.ping(&[&bob], 4, true).await;
    quick.expect(&[ping(4)]).await;
    server.maintain().await;
    assert_eq!(server.column(logged).await, ["4"], "what both acknowledged is gone");

    // A number that was trimmed is still one that the client may name.
    let poll = json!({"queue_id": slow.queue_id, "last_event_id": events[2]["id"], "dont_block": true});
    assert_eq!(ada.get("/events", poll).await.ok()["events"], json!([]));
    server.ping(&[&ada], 5, true).await;
    slow.expect(&[ping(5)]).await;
    quick.expect_nothing().await;
}

#[tokio::test]
async fn large_audiences_are_stored_once_and_go_with_their_events() {
    let mut server = TestServer::start().await;
    let mut clients = Vec::new();
    for number in 0..30 {
        clients.push(server.member(&format!("user{number}")).await);
    }
    let mut queue = clients[29].register(json!({"event_types": ["drafts"]})).await;
    let audience = teamchat::events::Audience::users(
        clients.iter().map(|client| teamchat::types::UserId(client.user_id)),
    );
    for number in 1..=2 {
        let audience = audience.clone();
        let job = move |tx: &mut teamchat::store::Tx<'_>| -> Result<(), teamchat::store::StoreError> {
            tx.emit(DraftRemoved { draft_id: number }, audience);
            Ok(())
        };
        server.app().writer.run(job).await.unwrap();
    }
    let audiences = "SELECT count(DISTINCT audience_id) FROM event WHERE type = 'drafts'";
    assert_eq!(server.column(audiences).await, ["1"]);
    server.crash().await;
    queue.expect(&[ping(1), ping(2)]).await;
    server.ping(&[&clients[0]], 3, true).await;
    queue.expect_nothing().await;
    server.app().hub.take_unsaved_positions();
    server.clock.advance(2 * TEN_MINUTES);
    server.maintain().await;
    assert_eq!(server.column("SELECT count(*) FROM event_audience").await, ["0"]);
    queue.expect_gone(&clients[29]).await;
}

/// Events from the log after a restart equal the live ones.
#[tokio::test]
async fn events_from_the_log_equal_live_events() {
    let mut server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let general = server.channel("general", &[&owner, &ada]).await;
    let bot = json!({"full_name": "Bot", "short_name": "bot", "bot_type": 1});
    let bot = owner.post("/bots", bot).await.ok()["user_id"].clone();
    let group = json!({"name": "group", "description": "", "members": [ada.user_id]});
    let group = owner.post("/user_groups/create", group).await.ok()["group_id"].clone();
    let folder = json!({"name": "folder", "description": ""});
    let folder = owner.post("/channel_folders/create", folder).await.ok()["channel_folder_id"].clone();
    let modern =
        json!({"user_settings_object": true, "archived_channels": true, "include_deactivated_groups": true});
    let mut pairs = Vec::new();
    for capabilities in [json!({}), modern] {
        let parameters = json!({"client_capabilities": capabilities, "fetch_event_types": []});
        pairs.push((owner.register(parameters.clone()).await, owner.register(parameters).await));
    }

    let both = json!({"new": {"direct_members": [ada.user_id, owner.user_id], "direct_subgroups": []}});
    let changes = [
        (format!("/bots/{bot}"), json!({"full_name": "Robot", "default_sending_stream": "general"})),
        (format!("/bots/{bot}"), json!({"default_sending_stream": "", "default_all_public_streams": true})),
        (
            format!("/bots/{bot}"),
            json!({"default_events_register_stream": "general", "bot_owner_id": ada.user_id}),
        ),
        (
            format!("/streams/{general}"),
            json!({"new_name": "garden", "description": "*d*", "is_private": true}),
        ),
        (
            format!("/streams/{general}"),
            json!({"topics_policy": "allow_empty_topic", "message_retention_days": 7}),
        ),
        (format!("/streams/{general}"), json!({"folder_id": folder, "can_send_message_group": both})),
        (
            format!("/streams/{general}"),
            json!({"folder_id": null, "message_retention_days": "realm_default"}),
        ),
        (
            format!("/user_groups/{group}"),
            json!({"name": "others", "description": "d", "can_mention_group": both}),
        ),
        (
            format!("/channel_folders/{folder}"),
            json!({"name": "other", "description": "*d*", "is_archived": true}),
        ),
        (
            "/realm".to_owned(),
            json!({"name": "Harbour", "waiting_period_threshold": 3, "jitsi_server_url": "\"https://j.example\""}),
        ),
        (
            "/realm".to_owned(),
            json!({"allow_message_editing": false, "message_content_edit_limit_seconds": "\"unlimited\""}),
        ),
        ("/realm".to_owned(), json!({"topics_policy": "disable_empty_topic", "can_create_groups": both})),
        (
            "/settings".to_owned(),
            json!({"color_scheme": 2, "timezone": "Europe/Berlin", "default_language": "de"}),
        ),
        ("/settings".to_owned(), json!({"enable_sounds": false, "web_font_size_px": 15})),
        ("/realm/user_settings_defaults".to_owned(), json!({"emojiset": "text"})),
        (format!("/users/me/subscriptions/{general}"), json!({"property": "color", "value": "#00ff00"})),
        (format!("/users/me/subscriptions/{general}"), json!({"property": "is_muted", "value": true})),
    ];
    for (path, change) in changes {
        owner.patch(&path, change).await.ok();
    }
    owner.post(&format!("/user_groups/{group}/deactivate"), ()).await.ok();
    owner.delete(&format!("/streams/{general}"), ()).await.ok();
    owner.delete("/realm/icon", ()).await.ok();

    let mut received = Vec::new();
    for (live, _) in &mut pairs {
        received.push(live.events().await);
    }
    server.restart().await;
    for ((_, later), received) in pairs.iter_mut().zip(received) {
        assert!(received.len() > 30, "{}", json!(received));
        assert_eq!(json!(later.events().await), json!(received));
    }
}

#[tokio::test]
async fn acknowledgements_are_saved_periodically_and_at_shutdown() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(()).await;
    let saved = async |server: &TestServer| server.column("SELECT acknowledged FROM event_queue").await;
    server.ping(&[&ada], 1, true).await;
    let first = queue.expect(&[ping(1)]).await[0]["id"].to_string();
    assert_ne!(saved(&server).await, [first.as_str()]);
    server.maintain().await;
    assert_eq!(saved(&server).await, [first.as_str()]);
    server.ping(&[&ada], 2, true).await;
    let second = queue.expect(&[ping(2)]).await[0]["id"].to_string();
    server.restart().await;
    assert_eq!(saved(&server).await, [second.as_str()]);
}
