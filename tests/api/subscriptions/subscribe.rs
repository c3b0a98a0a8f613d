//! `POST /users/me/subscriptions`.

use super::{members, subscribe};
use crate::channels::{NO_PERMISSION, channel, channel_with, names, private_channel};
use crate::harness::TestServer;
use serde_json::{Value, json};
use teamchat::domain::groups::system::SystemGroup;
use teamchat::domain::users;
use teamchat::http::ApiError;

// conformance: subscribe-1, subscribe-2
#[tokio::test]
async fn channels_are_created_and_joined_in_one_request() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    channel(&ada, "Denmark").await;
    let parameters = json!({
        "subscriptions": [
            {"name": "denmark"}, {"name": " Verona ", "description": "Italian city"}, {"name": "VERONA"},
        ],
        "principals": [bob.user_id, ada.user_id, bob.user_id],
        "authorization_errors_fatal": false,
        "announce": true,
        "invite_only": false,
    });
    let answer = ada.post("/users/me/subscriptions", &parameters).await.ok();
    let (a, b) = (ada.user_id.to_string(), bob.user_id.to_string());
    assert_eq!(answer["subscribed"], json!({a.clone(): ["Verona"], b.clone(): ["Denmark", "Verona"]}));
    assert_eq!(answer["already_subscribed"], json!({a: ["Denmark"]}));
    assert_eq!(answer["unauthorized"], json!([]));
    assert_eq!(answer["new_subscription_messages_sent"], json!(true));
    let streams = ada.get("/streams", ()).await.ok();
    assert_eq!(names(&streams["streams"]), ["Denmark", "Verona"]);
    assert_eq!(streams["streams"][1]["description"], json!("Italian city"));
    assert_eq!(streams["streams"][1]["creator_id"], json!(ada.user_id));

    let answer = ada.post("/users/me/subscriptions", &parameters).await.ok();
    assert_eq!(answer["subscribed"], json!({}));
    let answer = subscribe(&ada, "Verona", json!({"send_new_subscription_messages": false})).await.ok();
    assert!(answer.get("unauthorized").is_none(), "{answer}");
    assert!(answer.get("new_subscription_messages_sent").is_none(), "{answer}");
}

// conformance: subscribe-32
#[tokio::test]
async fn a_channel_that_is_there_stays_as_it_is() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    server.set_realm_setting("enable_spectator_access", json!(true)).await;
    let id = channel(&owner, "verona").await;
    let path = format!("/streams/{id}");
    let before = owner.get(&path, ()).await.ok()["stream"].clone();
    let group = SystemGroup::Administrators.id();
    let mut parameters = json!({
        "subscriptions": [{"name": "verona", "description": "Another description"}, {"name": "rome"}],
        "invite_only": true,
        "is_web_public": false,
        "is_default_stream": false,
        "history_public_to_subscribers": true,
        "message_retention_days": 7,
        "topics_policy": "disable_empty_topic",
    });
    let groups: Vec<String> =
        before.as_object().unwrap().keys().filter(|name| name.starts_with("can_")).cloned().collect();
    assert_eq!(groups.len(), 10, "{groups:?}");
    for name in &groups {
        parameters[name.as_str()] = json!(group);
    }
    let answer = owner.post("/users/me/subscriptions", &parameters).await.ok();
    assert_eq!(answer["already_subscribed"], json!({owner.user_id.to_string(): ["verona"]}));
    assert_eq!(owner.get(&path, ()).await.ok()["stream"], before);
    // The parameters are understood: a channel of the same request has them.
    let streams = owner.get("/streams", ()).await.ok();
    let rome = streams["streams"].as_array().unwrap().iter().find(|stream| stream["name"] == "rome").unwrap();
    let values = ["invite_only", "message_retention_days", "topics_policy"].map(|name| rome[name].clone());
    assert_eq!(values, [json!(true), json!(7), json!("disable_empty_topic")]);
    for name in &groups {
        assert_eq!(rome[name], json!(group), "{name}");
    }
    // Joining does not need the permission to create such a channel.
    for (name, value) in [
        ("invite_only", json!(true)),
        ("is_web_public", json!(true)),
        ("is_default_stream", json!(true)),
        ("message_retention_days", json!(7)),
        ("topics_policy", json!("disable_empty_topic")),
        ("can_delete_any_message_group", json!(group)),
    ] {
        server.set_realm_group("can_create_private_channel_group", SystemGroup::Nobody).await;
        server.set_realm_group("can_set_topics_policy_group", SystemGroup::Nobody).await;
        let joined = subscribe(&ada, "verona", json!({name: value})).await.ok();
        assert_eq!(joined["subscribed"], json!({ada.user_id.to_string(): ["verona"]}), "{name}");
        ada.delete("/users/me/subscriptions", json!({"subscriptions": ["verona"]})).await.ok();
    }
    let mut after = owner.get(&path, ()).await.ok()["stream"].clone();
    after["subscriber_count"] = before["subscriber_count"].clone();
    assert_eq!(after, before);
}

// conformance: subscribe-3
#[tokio::test]
async fn principals_are_ids_or_api_emails() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let bot = server.bot("helper", &ada).await;
    let id = channel(&ada, "verona").await;
    subscribe(&ada, "verona", json!({"principals": ["BOB@example.com", "helper@example.com"]})).await.ok();
    assert_eq!(members(&ada, id).await, json!([ada.user_id, bob.user_id, bot.user_id]));
    let answer = subscribe(&bob, "rome", json!({"principals": []})).await.ok();
    assert_eq!(answer["subscribed"], json!({bob.user_id.to_string(): ["rome"]}));
}

// conformance: subscribe-5, subscribe-6
#[tokio::test]
async fn bad_requests_are_refused_and_change_nothing() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let (gone, guest) = (server.member("gone").await, server.guest("guest").await);
    let deactivated = gone.user_id;
    let job = move |tx: &mut teamchat::store::Tx<'_>| -> Result<(), ApiError> {
        tx.execute("UPDATE user SET is_active = 0 WHERE user_id = ?1", [deactivated])?;
        Ok(())
    };
    server.app().writer.run(job).await.unwrap();
    let mut queue = owner.register(json!({"event_types": ["stream", "subscription"]})).await;
    let named = |name: &str| json!([{ "name": name }]);
    let cases = [
        (json!({"subscriptions": named("")}), "Channel name can't be empty."),
        (json!({"subscriptions": named(&"x".repeat(61))}), "Channel name too long (limit: 60 characters)."),
        (json!({"subscriptions": [{}]}), "subscriptions[0][\"name\"] field is missing: Field required"),
        (json!({"subscriptions": ["x"]}), "subscriptions[0] is not a dict"),
        (json!({"subscriptions": "x"}), "subscriptions is not valid JSON"),
        (
            json!({"subscriptions": [{"name": "x", "description": "x".repeat(1025)}]}),
            "subscriptions[0][\"description\"] is too long (limit: 1024 characters)",
        ),
        (
            json!({"subscriptions": [{"name": "x", "color": "red"}]}),
            "add.color is not a valid hex color code",
        ),
        (json!({"subscriptions": named("x"), "principals": [9999]}), "No such user"),
        (json!({"subscriptions": named("x"), "principals": ["nobody@example.com"]}), "No such user"),
        (json!({"subscriptions": named("x"), "principals": [gone.user_id]}), "User is deactivated"),
        (json!({"subscriptions": named("x"), "principals": "ada"}), "principals is not valid JSON"),
        (json!({"subscriptions": named("x"), "principals": [{}]}), "principals is not a list"),
        (json!({"subscriptions": named("x"), "announce": 1}), "announce is not a boolean"),
        (json!({"subscriptions": named("x"), "folder_id": 5}), "Invalid channel folder ID"),
        (json!({"subscriptions": named("x"), "is_web_public": true}), "Web-public channels are not enabled."),
        (json!({"subscriptions": named("x"), "can_subscribe_group": 77}), "Invalid user group"),
    ];
    for (parameters, msg) in cases {
        let answer = ada.post("/users/me/subscriptions", &parameters).await;
        let found = (answer.status, answer["code"].clone(), answer["msg"].clone());
        assert_eq!(found, (400, json!("BAD_REQUEST"), json!(msg)), "{parameters}");
    }
    let error = ada.post("/users/me/subscriptions", ()).await;
    error.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'subscriptions' argument");
    subscribe(&guest, "x", json!({})).await.error(400, "BAD_REQUEST", "Not allowed for guest users");
    queue.expect_nothing().await;
}

// conformance: subscribe-5, subscribe-7
#[tokio::test]
async fn channels_that_the_caller_may_not_read_fail_or_are_listed() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    private_channel(&ada, "private").await;
    let subscriptions = json!([{"name": "new"}, {"name": "private"}]);
    let error = bob.post("/users/me/subscriptions", json!({"subscriptions": subscriptions})).await;
    error.error(400, "BAD_REQUEST", "Unable to access channel (private).");
    let error = bob.get("/get_stream_id", json!({"stream": "new"})).await;
    error.error(400, "BAD_REQUEST", "Invalid channel name 'new'");
    let parameters = json!({"subscriptions": subscriptions, "authorization_errors_fatal": false});
    let answer = bob.post("/users/me/subscriptions", parameters).await.ok();
    assert_eq!(answer["unauthorized"], json!(["private"]));
    assert_eq!(answer["subscribed"], json!({bob.user_id.to_string(): ["new"]}));
}

// conformance: subscribe-8
#[tokio::test]
async fn channels_to_which_others_may_not_be_subscribed_are_unauthorized_too() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    server.channel("square", &[&ada]).await;
    server.set_realm_group("can_add_subscribers_group", SystemGroup::Administrators).await;
    let mut parameters = json!({"subscriptions": [{"name": "square"}], "principals": [bob.user_id]});
    let error = ada.post("/users/me/subscriptions", &parameters).await;
    error.error(400, "BAD_REQUEST", "Insufficient permission");
    parameters["authorization_errors_fatal"] = false.into();
    let answer = ada.post("/users/me/subscriptions", &parameters).await.ok();
    assert_eq!((&answer["unauthorized"], &answer["subscribed"]), (&json!(["square"]), &json!({})));
}

// conformance: subscribe-8
#[tokio::test]
async fn permissions_to_subscribe_others() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let guest = server.guest("guest").await;
    let group = |user: i64| json!({"direct_members": [user, guest.user_id], "direct_subgroups": []});
    channel(&ada, "public").await;
    let private = channel_with(
        &ada,
        json!({
            "name": "private", "invite_only": true, "subscribers": [ada.user_id],
            "can_subscribe_group": group(bob.user_id), "can_add_subscribers_group": group(cleo.user_id),
        }),
    )
    .await;
    server.set_realm_group("can_add_subscribers_group", SystemGroup::Moderators).await;
    let others = json!({"principals": [guest.user_id]});
    let (status, code, msg) = NO_PERMISSION;
    subscribe(&bob, "public", others.clone()).await.error(status, code, msg);
    subscribe(&bob, "private", others.clone()).await.error(status, code, msg);
    subscribe(&bob, "private", json!({})).await.ok();
    subscribe(&cleo, "private", others.clone()).await.ok();
    assert_eq!(members(&ada, private).await, json!([ada.user_id, bob.user_id, guest.user_id]));
    // The creator administers the channel, an owner everything that they may read.
    subscribe(&ada, "public", others.clone()).await.ok();
    subscribe(&owner, "public", others.clone()).await.ok();
    let error = subscribe(&owner, "private", others).await;
    error.error(400, "BAD_REQUEST", "Unable to access channel (private).");
}

// conformance: subscribe-9, subscribe-10, subscribe-11
#[tokio::test]
async fn events_reach_only_affected_users() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let (guest, outsider) = (server.guest("guest").await, server.guest("outsider").await);
    let (one, two) = (channel(&ada, "one").await, channel(&ada, "two").await);
    let private = private_channel(&ada, "private").await;
    let types = json!({"event_types": ["stream", "subscription"], "include_subscribers": true});
    let without = json!({"event_types": ["subscription"]});
    let [mut owners, mut adas, mut bobs, mut cleos, mut guests, mut outsiders] = [
        owner.register(&types).await,
        ada.register(&types).await,
        bob.register(&types).await,
        cleo.register(&types).await,
        guest.register(&types).await,
        outsider.register(&types).await,
    ];
    let mut bobs_older = bob.register(&without).await;

    let parameters = json!({"subscriptions": [{"name": "one"}, {"name": "two"}], "principals": [bob.user_id, guest.user_id]});
    ada.post("/users/me/subscriptions", parameters).await.ok();
    let peers = |ids: Value, users: Value| json!({"type": "subscription", "op": "peer_add", "stream_ids": ids, "user_ids": users});
    let both = peers(json!([one, two]), json!([bob.user_id, guest.user_id]));
    for queue in [&mut owners, &mut adas, &mut cleos] {
        queue.expect(std::slice::from_ref(&both)).await;
    }
    let events = bobs.expect_kinds(&["subscription/add"]).await;
    let all = json!([ada.user_id, bob.user_id, guest.user_id]);
    for (place, id) in [one, two].into_iter().enumerate() {
        let subscription = &events[0]["subscriptions"][place];
        assert_eq!((&subscription["stream_id"], &subscription["subscribers"]), (&json!(id), &all));
        assert_eq!(subscription["subscriber_count"], json!(3));
        assert_eq!(
            (&subscription["is_muted"], &subscription["in_home_view"], &subscription["pin_to_top"]),
            (&json!(false), &json!(true), &json!(false))
        );
    }
    assert_ne!(events[0]["subscriptions"][0]["color"], events[0]["subscriptions"][1]["color"]);
    let events = bobs_older.expect_kinds(&["subscription/add"]).await;
    assert!(events[0]["subscriptions"][0].get("subscribers").is_none(), "{events:?}");
    guests.expect_kinds(&["stream/create", "stream/create", "subscription/add"]).await;

    subscribe(&ada, "private", json!({"principals": [bob.user_id]})).await.ok();
    for queue in [&mut owners, &mut adas] {
        queue.expect(&[peers(json!([private]), json!([bob.user_id]))]).await;
    }
    bobs.expect_kinds(&["stream/create", "subscription/add"]).await;
    bobs_older.expect_kinds(&["subscription/add"]).await;
    for queue in [&mut cleos, &mut guests, &mut outsiders] {
        queue.expect_nothing().await;
    }
    subscribe(&bob, "private", json!({})).await.ok();
    for queue in [&mut owners, &mut adas, &mut bobs, &mut bobs_older] {
        queue.expect_nothing().await;
    }
}

// conformance: queue-39
#[tokio::test]
async fn nulls_are_filled_in_for_clients_that_do_not_know_them() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let user_id = ada.user_id;
    let job = move |tx: &mut teamchat::store::Tx<'_>| -> Result<(), ApiError> {
        tx.execute(
            "INSERT INTO user_setting VALUES (?1, 'enable_stream_push_notifications', 'true'),
                 (?1, 'wildcard_mentions_notify', 'false')",
            [user_id],
        )?;
        Ok(())
    };
    server.app().writer.run(job).await.unwrap();
    let types = json!({"event_types": ["subscription"]});
    let nulls =
        json!({"event_types": ["subscription"], "client_capabilities": {"notification_settings_null": true}});
    let (mut filled, mut empty) = (ada.register(&types).await, ada.register(&nulls).await);
    subscribe(&ada, "verona", json!({})).await.ok();
    let names = [
        "desktop_notifications",
        "audible_notifications",
        "push_notifications",
        "email_notifications",
        "wildcard_mentions_notify",
    ];
    let added = filled.expect_kinds(&["subscription/add"]).await[0]["subscriptions"][0].clone();
    let state = ada.register(&types).await.state["subscriptions"][0].clone();
    for (name, value) in names.into_iter().zip([false, false, true, false, false]) {
        assert_eq!((&added[name], &state[name]), (&json!(value), &json!(value)), "{name}");
    }
    let added = empty.expect_kinds(&["subscription/add"]).await[0]["subscriptions"][0].clone();
    let state = ada.register(&nulls).await.state["subscriptions"][0].clone();
    for name in names {
        assert_eq!((&added[name], &state[name]), (&json!(null), &json!(null)), "{name}");
    }
}

// conformance: subscribe-12, subscribe-29
#[tokio::test]
async fn settings_survive_unsubscribing() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let parameters = json!({"subscriptions": [{"name": "verona", "color": "#ABC"}]});
    ada.post("/users/me/subscriptions", &parameters).await.ok();
    let own = ada.get("/users/me/subscriptions", ()).await.ok()["subscriptions"][0].clone();
    assert_eq!(own["color"], json!("#aabbcc"));
    let id = &own["stream_id"];
    let change = json!({"subscription_data": [{"stream_id": id, "property": "is_muted", "value": true}]});
    ada.post("/users/me/subscriptions/properties", change).await.ok();
    ada.delete("/users/me/subscriptions", json!({"subscriptions": ["verona"]})).await.ok();
    subscribe(&ada, "verona", json!({})).await.ok();
    let own = ada.get("/users/me/subscriptions", ()).await.ok()["subscriptions"][0].clone();
    assert_eq!((&own["color"], &own["is_muted"]), (&json!("#aabbcc"), &json!(true)));
}

// conformance: subscribe-13
#[tokio::test]
async fn messages_are_received_during_subscriptions_only() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let id = private_channel(&ada, "private").await;
    let mut seen = Vec::new();
    for step in 0..4 {
        let message = ada.send(id, "t", "hi").await;
        if step % 2 == 0 {
            subscribe(&ada, "private", json!({"principals": [bob.user_id]})).await.ok();
            // Leaving and coming back at once is one stay.
            bob.delete("/users/me/subscriptions", json!({"subscriptions": ["private"]})).await.ok();
            subscribe(&ada, "private", json!({"principals": [bob.user_id]})).await.ok();
        } else {
            seen.push(message);
            bob.delete("/users/me/subscriptions", json!({"subscriptions": ["private"]})).await.ok();
        }
    }
    subscribe(&ada, "private", json!({"principals": [bob.user_id]})).await.ok();
    let narrow = json!([{"operator": "channel", "operand": id}]);
    let parameters = json!({"anchor": "newest", "num_before": 10, "num_after": 0, "narrow": narrow});
    let found = bob.get("/messages", parameters).await.ok();
    let ids: Vec<i64> =
        found["messages"].as_array().unwrap().iter().map(|message| message["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, seen);
    for message in found["messages"].as_array().unwrap() {
        assert!(message["flags"].as_array().unwrap().contains(&json!("read")), "leaving reads: {message}");
    }
}

// conformance: subscribe-15
#[tokio::test]
async fn subscribe_events_reproduce_state() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    channel_with(&owner, json!({"name": "m", "subscribers": [guest.user_id]})).await;
    private_channel(&ada, "p").await;
    server
        .check_state_sync(&[&owner, &ada, &bob, &guest], async || {
            let parameters = json!({
                "subscriptions": [{"name": "m"}, {"name": "p"}, {"name": "new", "description": "x"}],
                "principals": [ada.user_id, bob.user_id, guest.user_id],
            });
            ada.post("/users/me/subscriptions", parameters).await.ok();
            subscribe(&owner, "m", json!({})).await.ok();
        })
        .await;
}

// conformance: subscribe-2, subscribe-14
#[tokio::test]
async fn ten_thousand_users_need_few_jobs_and_events() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let job = |tx: &mut teamchat::store::Tx<'_>| -> Result<Vec<i64>, ApiError> {
        let mut ids = Vec::new();
        for number in 0..10_000 {
            let email = format!("user{number}@example.com");
            let user = users::NewUserRow {
                email: &email,
                full_name: "Somebody",
                role: teamchat::types::Role::Member,
                bot_type: None,
                bot_owner_id: None,
                is_system_bot: false,
                password_hash: None,
                date_joined: tx.now(),
            };
            ids.push(users::insert(tx, &user)?.0);
        }
        Ok(ids)
    };
    let ids = server.app().writer.run(job).await.unwrap();
    let id = channel(&ada, "big").await;
    let mut bobs = bob.register(json!({"event_types": ["subscription"]})).await;
    let mut owners = owner.register(json!({"event_types": ["subscription"]})).await;
    let answer = subscribe(&ada, "big", json!({"principals": ids})).await.ok();
    assert_eq!(answer["subscribed"].as_object().unwrap().len(), 10_000);
    assert_eq!(answer["new_subscription_messages_sent"], json!(false));
    let events = |op: &str| -> Vec<Value> {
        let parts = ids.chunks(1000);
        parts
            .map(|ids| json!({"type": "subscription", "op": op, "stream_ids": [id], "user_ids": ids}))
            .collect()
    };
    bobs.expect(&events("peer_add")).await;
    owners.expect(&events("peer_add")).await;
    assert_eq!(members(&bob, id).await.as_array().unwrap().len(), 10_001);
    let answer = owner
        .request(reqwest::Method::DELETE, "/users/me/subscriptions")
        .form(json!({"subscriptions": ["big"], "principals": ids}))
        .send()
        .await
        .ok();
    assert_eq!(answer["removed"].as_array().unwrap().len(), 10_000);
    bobs.expect(&events("peer_remove")).await;
    owners.expect(&events("peer_remove")).await;
}

/// Up to a hundred users are notified that another user subscribed them. For more, there are no notices.
#[tokio::test]
async fn mass_subscriptions_send_no_notices() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let crowd = server.crowd(101).await;
    let ids: Vec<i64> = crowd.iter().map(|client| client.user_id).collect();
    let messages = async || server.column("SELECT count(*) FROM message").await[0].parse::<usize>().unwrap();
    for (name, people, notices) in [("few", &ids[..100], 100), ("many", &ids, 0)] {
        channel(&owner, name).await;
        let before = messages().await;
        let answer = subscribe(&owner, name, json!({"principals": people})).await.ok();
        assert_eq!(answer["new_subscription_messages_sent"], notices > 0, "{name}");
        assert_eq!(messages().await - before, notices, "{name}");
    }
}
