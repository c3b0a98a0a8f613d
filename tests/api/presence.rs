//! Presence.

use crate::harness::{Client, START, TestServer};
use serde_json::{Value, json};

async fn report(client: &Client, status: &str) -> Value {
    client.post("/users/me/presence", json!({"status": status})).await.ok()
}

/// Only reports.
async fn ping(client: &Client, status: &str) {
    let answer = client.post("/users/me/presence", json!({"status": status, "ping_only": true})).await.ok();
    assert_eq!(answer, json!({"result": "success", "msg": ""}));
}

fn modern(active: i64, idle: i64) -> Value {
    json!({"active_timestamp": active, "idle_timestamp": idle})
}

fn legacy(status: &str, timestamp: i64) -> Value {
    json!({
        "aggregated": {"client": "website", "status": status, "timestamp": timestamp},
        "website": {"client": "website", "status": status, "timestamp": timestamp, "pushable": false},
    })
}

#[tokio::test]
async fn reports_are_answered_in_the_form_that_the_client_knows() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    ping(&ada, "active").await;
    server.clock.advance(100);
    let answer = report(&bob, "idle").await;
    let bobs =
        json!({"ada@example.com": legacy("active", START), "bob@example.com": legacy("idle", START + 100)});
    assert_eq!(answer["presences"], bobs);
    assert_eq!(answer["server_timestamp"], json!(f64::from(i32::try_from(START + 100).unwrap())));
    assert!(answer["server_timestamp"].is_f64());
    let last = answer["presence_last_update_id"].as_i64().unwrap();
    let by_id = json!({
        ada.user_id.to_string(): modern(START, START),
        // Without activity, the time of joining is used.
        bob.user_id.to_string(): modern(START, START + 100),
    });
    for asked in [json!({"slim_presence": true}), json!({"last_update_id": -1}), json!({"last_update_id": 0})]
    {
        let mut parameters = asked.clone();
        parameters["status"] = json!("idle");
        parameters["new_user_input"] = json!(false);
        let answer = ada.post("/users/me/presence", parameters).await.ok();
        let mut expected = by_id.clone();
        expected[ada.user_id.to_string()] = modern(START, START + 100);
        assert_eq!(answer["presences"], expected, "{asked}");
        assert_eq!(answer["presence_last_update_id"], last + 1, "{asked}");
    }
    // A client with the newest update gets no users, however old it is.
    server.clock.advance(30 * 24 * 60 * 60);
    let since = |id: i64| json!({"status": "idle", "last_update_id": id});
    let answer = bob.post("/users/me/presence", since(last)).await.ok();
    let now = START + 100 + 30 * 24 * 60 * 60;
    let news = json!({
        ada.user_id.to_string(): modern(START, START + 100),
        bob.user_id.to_string(): modern(START, now),
    });
    assert_eq!(answer["presences"], news);
    let last = answer["presence_last_update_id"].as_i64().unwrap();
    let answer = bob.post("/users/me/presence", since(last)).await.ok();
    assert_eq!((&answer["presences"], &answer["presence_last_update_id"]), (&json!({}), &json!(last)));
}

#[tokio::test]
async fn old_presences_are_returned_on_request() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    ping(&ada, "active").await;
    let days = 24 * 60 * 60;
    server.clock.advance(14 * days);
    let state = bob.post("/register", json!({"fetch_event_types": ["presence"]})).await.ok();
    assert_eq!(state["presences"].as_object().unwrap().len(), 1, "the last second of 14 days");
    server.clock.advance(1);
    ping(&bob, "active").await;
    let (ada_id, bob_id) = (ada.user_id.to_string(), bob.user_id.to_string());
    let cases = [
        (json!({}), vec![&bob_id]),
        (json!({"history_limit_days": 15}), vec![&ada_id, &bob_id]),
        (json!({"history_limit_days": 0}), vec![]),
        (json!({"history_limit_days": 0, "last_update_id": 1}), vec![]),
        (json!({"history_limit_days": i64::MAX}), vec![&ada_id, &bob_id]),
        (json!({"history_limit_days": i64::MIN}), vec![]),
        (json!({"history_limit_days": 1, "last_update_id": 1}), vec![&bob_id]),
    ];
    for (asked, expected) in cases {
        let mut parameters = asked.clone();
        parameters["status"] = json!("idle");
        parameters["slim_presence"] = json!(true);
        let answer = bob.post("/users/me/presence", parameters).await.ok();
        let found: Vec<&String> = answer["presences"].as_object().unwrap().keys().collect();
        assert_eq!(found, expected, "{asked}");
    }
    for (days, count) in [(Value::Null, 1), (json!(15), 2), (json!(0), 0)] {
        let mut parameters = json!({"fetch_event_types": ["presence"], "slim_presence": true});
        if !days.is_null() {
            parameters["presence_history_limit_days"] = days.clone();
        }
        let state = bob.post("/register", parameters).await.ok();
        assert_eq!(state["presences"].as_object().unwrap().len(), count, "{days}");
        assert_eq!(state["presence_last_update_id"], if count == 0 { -1 } else { 2 }, "{days}");
    }
}

#[tokio::test]
async fn bad_reports_are_refused() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bot = server.bot("robot", &ada).await;
    let refused = ada.post("/users/me/presence", &[("status", "away")]).await;
    refused.error(400, "BAD_REQUEST", "Invalid status: away");
    let refused = ada.post("/users/me/presence", ()).await;
    refused.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'status' argument");
    let refused = ada.post("/users/me/presence", &[("status", "idle"), ("ping_only", "maybe")]).await;
    refused.error(400, "BAD_REQUEST", "ping_only is not valid JSON");
    let refused = bot.post("/users/me/presence", &[("status", "idle")]).await;
    refused.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");
    assert_eq!(report(&ada, "idle").await["presences"].as_object().unwrap().len(), 1);
}

// conformance: queue-42
#[tokio::test]
async fn returning_users_are_emitted_immediately() {
    let server = TestServer::start().await;
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let modern_client =
        json!({"event_types": ["presence"], "client_capabilities": {"simplified_presence_events": true}});
    let mut older = guest.register(json!({"event_types": ["presence"]})).await;
    let mut newer = guest.register(modern_client).await;
    let mut own = ada.register(json!({"event_types": ["presence"]})).await;
    let event = |status: &str, now: i64| {
        json!({
            "type": "presence",
            "user_id": ada.user_id,
            "email": "ada@example.com",
            "server_timestamp": f64::from(i32::try_from(now).unwrap()),
            "presence": {"website": {"client": "website", "status": status, "timestamp": now, "pushable": false}},
        })
    };
    ping(&ada, "idle").await;
    older.expect_nothing().await;
    ping(&ada, "active").await;
    older.expect(&[event("active", START)]).await;
    own.expect(&[event("active", START)]).await;
    let simplified =
        json!({"type": "presence", "presences": {ada.user_id.to_string(): modern(START, START)}});
    newer.expect(&[simplified]).await;
    // Repeated activity emits no events.
    for _ in 0..3 {
        server.clock.advance(200);
        ping(&ada, "active").await;
        ping(&ada, "idle").await;
    }
    older.expect_nothing().await;
    server.clock.advance(150);
    ping(&ada, "idle").await;
    server.clock.advance(51);
    older.expect_nothing().await;
    ping(&ada, "active").await;
    older.expect(&[event("active", START + 801)]).await;
    newer.ignore();
    own.ignore();
    // Nothing of it is kept for later.
    assert_eq!(server.column("SELECT count(*) FROM event WHERE type = 'presence'").await, ["0"]);
}

#[tokio::test]
async fn hidden_presence_looks_offline() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    ping(&ada, "active").await;
    server.clock.advance(1000);
    ping(&ada, "active").await;
    let mut events = bob.register(json!({"event_types": ["presence", "user_status"]})).await;
    ada.patch("/settings", json!({"presence_enabled": false})).await.ok();
    let now = START + 1000;
    let presence = |status: &str, timestamp: i64| {
        let website =
            json!({"client": "website", "status": status, "timestamp": timestamp, "pushable": false});
        json!({"type": "presence", "user_id": ada.user_id, "email": "ada@example.com", "server_timestamp": "*",
            "presence": {"website": website}})
    };
    let away = |away: bool| json!({"type": "user_status", "user_id": ada.user_id, "away": away});
    events.expect(&[away(true), presence("idle", now - 201)]).await;
    server.clock.advance(1000);
    ping(&ada, "active").await;
    ping(&ada, "idle").await;
    events.expect_nothing().await;
    let path = format!("/users/{}/presence", ada.user_id);
    let seen = bob.get(&path, ()).await.ok()["presence"].clone();
    assert_eq!(seen["aggregated"], json!({"status": "offline", "timestamp": now - 201}));
    ada.patch("/settings", json!({"presence_enabled": true})).await.ok();
    events.expect(&[away(false), presence("active", now + 1000)]).await;
    // A user without presence emits no event when they hide it.
    bob.patch("/settings", json!({"presence_enabled": false})).await.ok();
    events.expect(&[json!({"type": "user_status", "user_id": bob.user_id, "away": true})]).await;
}

#[tokio::test]
async fn one_persons_presence_can_be_asked_for() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let bot = server.bot("robot", &ada).await;
    let gone = server.member("gone").await;
    ping(&ada, "active").await;
    ping(&gone, "active").await;
    server.sql(&format!("UPDATE user SET is_active = 0 WHERE user_id = {}", gone.user_id)).await;
    server.clock.advance(200);
    let by_id = format!("/users/{}/presence", ada.user_id);
    let active = json!({"status": "active", "timestamp": START});
    for path in [by_id.as_str(), "/users/ada@example.com/presence", "/users/ADA@example.com/presence"] {
        let seen = bot.get(path, ()).await.ok();
        assert_eq!(seen["presence"], json!({"aggregated": active, "website": active}), "{path}");
    }
    server.clock.advance(1);
    let offline = json!({"status": "offline", "timestamp": START});
    let seen = bob.get(&by_id, ()).await.ok();
    assert_eq!(seen["presence"], json!({"aggregated": offline, "website": active}));
    let cases = [
        (gone.user_id.to_string(), "No such user".to_owned()),
        ("9999".to_owned(), "No such user".to_owned()),
        ("nobody@example.com".to_owned(), "No such user".to_owned()),
        (bot.user_id.to_string(), "Presence is not supported for bot users.".to_owned()),
        (bob.user_id.to_string(), format!("No presence data for {}", bob.user_id)),
        ("bob@example.com".to_owned(), "No presence data for bob@example.com".to_owned()),
    ];
    for (name, msg) in cases {
        let refused = ada.get(&format!("/users/{name}/presence"), ()).await;
        refused.error(400, "BAD_REQUEST", &msg);
    }
    let all = ada.get("/realm/presence", ()).await.ok();
    assert_eq!(all["presences"], json!({"ada@example.com": legacy("active", START)}));
    assert!(all["server_timestamp"].is_f64());
    assert_eq!(all.as_object().unwrap().len(), 4, "{all}");
}

#[tokio::test]
async fn an_organization_without_presence_shows_none() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    ping(&ada, "active").await;
    server.set_realm_setting("presence_disabled", json!(true)).await;
    let mut events = ada.register(json!({"event_types": ["presence"]})).await;
    let answer = report(&bob, "active").await;
    assert_eq!((&answer["presences"], &answer["presence_last_update_id"]), (&json!({}), &json!(-1)));
    events.expect_nothing().await;
    let refused = bob.get("/users/ada@example.com/presence", ()).await;
    refused.error(400, "BAD_REQUEST", "No presence data for ada@example.com");
    assert_eq!(bob.get("/realm/presence", ()).await.ok()["presences"], json!({}));
    let state = bob.post("/register", json!({"fetch_event_types": ["presence"]})).await.ok();
    assert_eq!((&state["presences"], &state["presence_last_update_id"]), (&json!({}), &json!(-1)));
}

#[tokio::test]
async fn presence_survives_a_restart() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    ping(&ada, "active").await;
    let before = report(&ada, "active").await;
    server.restart().await;
    assert_eq!(report(&ada, "active").await, before);
    server.crash().await;
    assert_eq!(report(&ada, "active").await, before);
}

#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    ping(&ada, "active").await;
    server.clock.advance(300);
    server
        .check_state_sync(&[&ada, &bob], async || {
            ping(&ada, "active").await;
            ping(&bob, "active").await;
            ada.patch("/settings", json!({"presence_enabled": false})).await.ok();
        })
        .await;
    server
        .check_state_sync(&[&ada, &bob], async || {
            ada.patch("/settings", json!({"presence_enabled": true})).await.ok();
        })
        .await;
}

#[tokio::test]
async fn guests_receive_events_of_accessible_users() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    server.channel("garden", &[&ada, &guest]).await;
    server.restrict_guests().await;
    let mut events = guest.register(json!({"event_types": ["presence"]})).await;
    ping(&ada, "active").await;
    ping(&bob, "active").await;
    let received = events.expect_kinds(&["presence"]).await;
    assert_eq!(received[0]["user_id"], ada.user_id);
    let adas = json!({"ada@example.com": legacy("active", START)});
    assert_eq!(guest.get("/realm/presence", ()).await.ok()["presences"], adas);
    let state = guest.post("/register", json!({"fetch_event_types": ["presence"]})).await.ok();
    assert_eq!(state["presences"], adas);
    let path = format!("/users/{}/presence", bob.user_id);
    guest.get(&path, ()).await.error(400, "BAD_REQUEST", "Insufficient permission");
    let seen = guest.post("/users/me/presence", json!({"status": "idle", "last_update_id": -1})).await.ok();
    let seen: Vec<&String> = seen["presences"].as_object().unwrap().keys().collect();
    assert_eq!(seen, [&ada.user_id.to_string(), &guest.user_id.to_string()]);
    events.ignore();
}

#[tokio::test]
async fn users_who_become_accessible_have_a_presence_of_the_last_14_days() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    server.channel("attic", &[&ada]).await;
    server.channel("cellar", &[&bob]).await;
    server.restrict_guests().await;
    ping(&bob, "active").await;
    server.clock.advance(1);
    ping(&ada, "active").await;
    server.clock.advance(14 * 24 * 60 * 60);
    let mut events = guest.register(json!({"event_types": ["presence"]})).await;
    for (client, channel) in [(&bob, "cellar"), (&ada, "attic")] {
        let add = json!({"subscriptions": [{"name": channel}], "principals": [guest.user_id]});
        client.post("/users/me/subscriptions", add).await.ok();
    }
    let received = events.expect_kinds(&["presence"]).await;
    assert_eq!(received[0]["user_id"], ada.user_id);
}
