//! `PATCH /bots/{bot_id}` and `DELETE /bots/{bot_id}`.

use super::{bot, client, realm_bots};
use crate::harness::TestServer;
use serde_json::{Value, json};

// conformance: bot-11, bot-12
#[tokio::test]
async fn owners_change_their_bots_and_administrators_all() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    server.channel("general", &[&ada]).await;
    let id = bot(&ada, "Helper").await;
    let path = format!("/bots/{id}");
    let register = json!({"event_types": ["realm_bot", "realm_user"]});
    let (mut of_owner, mut of_ada) = (owner.register(&register).await, ada.register(&register).await);
    let mut of_bob = bob.register(&register).await;
    let changed = json!({"full_name": " Better ", "default_sending_stream": "general",
        "default_events_register_stream": "general", "default_all_public_streams": true,
        "config_data": {"a": "1"}});
    let answer = ada.patch(&path, changed).await.ok();
    let expected = json!({"result": "success", "msg": "", "full_name": "Better",
        "avatar_url": format!("/user_avatars/1/generated/{id}.png?version=1"), "service_interface": 1, "service_payload_url": null,
        "config_data": {"a": "1"}, "default_sending_stream": "general",
        "default_events_register_stream": "general", "default_all_public_streams": true,
        "bot_owner": "ada@example.com"});
    assert_eq!(answer, expected);
    let change = |name: &str, value: Value| json!({"type": "realm_bot", "op": "update", "bot": {"user_id": id, name: value}});
    let renamed =
        json!({"type": "realm_user", "op": "update", "person": {"user_id": id, "full_name": "Better"}});
    let all = [
        renamed.clone(),
        change("full_name", json!("Better")),
        change("default_sending_stream", json!("general")),
        change("default_events_register_stream", json!("general")),
        change("default_all_public_streams", json!(true)),
    ];
    of_owner.expect(&all).await;
    of_ada.expect(&all).await;
    of_bob.expect(&[renamed]).await;
    let answer =
        owner.patch(&path, json!({"config_data": {"b": "2"}, "default_sending_stream": ""})).await.ok();
    assert_eq!(answer["config_data"], json!({"a": "1", "b": "2"}));
    assert_eq!(answer["default_sending_stream"], Value::Null);
    for queue in [&mut of_owner, &mut of_ada] {
        queue.expect(&[change("default_sending_stream", Value::Null)]).await;
    }
    // Unchanged values emit no event.
    ada.patch(&path, json!({"full_name": "Better", "bot_owner_id": ada.user_id, "role": 400})).await.ok();
    bob.patch(&path, json!({"full_name": "Mine"})).await.error(400, "BAD_REQUEST", "Insufficient permission");
    let cases = [
        (json!({"full_name": "Bob"}), "Name is already in use!"),
        (json!({"full_name": " "}), "Name too short!"),
        (json!({"default_sending_stream": "nowhere"}), "Invalid channel name 'nowhere'"),
        (json!({"default_events_register_stream": "nowhere"}), "Invalid channel name 'nowhere'"),
        (json!({"service_payload_url": "http://localhost/"}), "Invalid bot type"),
        (json!({"role": 500}), "Invalid role"),
    ];
    for (params, msg) in cases {
        ada.patch(&path, &params).await.error(400, "BAD_REQUEST", msg);
    }
    for unknown in [ada.user_id, server.notification_bot().await, 999] {
        let unknown = format!("/bots/{unknown}");
        owner.patch(&unknown, json!({"full_name": "X"})).await.error(400, "BAD_REQUEST", "No such bot");
        owner.delete(&unknown, ()).await.error(400, "BAD_REQUEST", "No such bot");
    }
}

// conformance: bot-13
#[tokio::test]
async fn an_outgoing_webhook_gets_another_address() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let params =
        json!({"full_name": "Out", "short_name": "out", "bot_type": 3, "payload_url": "http://a.example/"});
    let id = ada.post("/bots", params).await.ok()["user_id"].clone();
    let path = format!("/bots/{id}");
    let token = realm_bots(&ada).await[0]["services"][0]["token"].clone();
    let mut queue = ada.register(json!({"event_types": ["realm_bot"]})).await;
    let params = json!({"service_payload_url": "\"http://b.example/\"", "service_interface": 2});
    let answer = ada.patch(&path, params).await.ok();
    assert_eq!(answer["service_payload_url"], "http://b.example/");
    assert_eq!(answer["service_interface"], 2);
    let services = json!([{"base_url": "http://b.example/", "interface": 2, "token": token}]);
    queue
        .expect(&[json!({"type": "realm_bot", "op": "update", "bot": {"user_id": id, "services": services}})])
        .await;
    let bad = json!({"service_payload_url": "http://b.example/", "service_interface": 9});
    ada.patch(&path, bad).await.error(400, "BAD_REQUEST", "Invalid interface type");
    let bad = json!({"service_payload_url": "nowhere"});
    ada.patch(&path, bad).await.error(400, "BAD_REQUEST", "service_payload_url is not a URL");
}

// conformance: bot-14
#[tokio::test]
async fn roles_of_bots_are_given_by_administrators() {
    let server = TestServer::start().await;
    let (owner, administrator) = (server.owner().await, server.administrator("alan").await);
    let ada = server.member("ada").await;
    let id = bot(&ada, "Helper").await;
    let path = format!("/bots/{id}");
    let answer = ada.patch(&path, json!({"role": 300})).await;
    answer.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator");
    let answer = administrator.patch(&path, json!({"role": 100})).await;
    answer.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
    administrator.patch(&path, json!({"role": 600})).await.ok();
    administrator.patch(&path, json!({"role": 400})).await.ok();
    // The key of a bot is for its owner and for administrators, who must not rise by it.
    for (path, role) in [(path.clone(), 100), (path, 300), (format!("/users/{id}"), 200)] {
        let refused = owner.patch(&path, json!({"role": role})).await;
        refused.error(400, "BAD_REQUEST", "A bot is a member or a guest.");
    }
    assert_eq!(ada.get(&format!("/users/{id}"), ()).await.ok()["user"]["role"], 400);
    // A guest's bot sees only users and channels that the guest sees.
    owner.patch(&format!("/users/{}", ada.user_id), json!({"role": 600})).await.ok();
    assert_eq!(owner.get(&format!("/users/{id}"), ()).await.ok()["user"]["role"], 600);
}

// conformance: bot-15
#[tokio::test]
async fn bots_can_be_given_to_another_owner() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let id = bot(&ada, "Helper").await;
    let path = format!("/bots/{id}");
    let gone = server.member("gone").await;
    owner.delete(&format!("/users/{}", gone.user_id), ()).await.ok();
    let helper = server.bot("other", &ada).await;
    let cases = [
        (999, "Failed to change owner, no such user"),
        (server.notification_bot().await, "Failed to change owner, no such user"),
        (gone.user_id, "Failed to change owner, user is deactivated"),
        (helper.user_id, "Failed to change owner, bots can't own other bots"),
    ];
    for (bot_owner_id, msg) in cases {
        let answer = ada.patch(&path, json!({"bot_owner_id": bot_owner_id})).await;
        answer.error(400, "BAD_REQUEST", msg);
    }
    let register = json!({"event_types": ["realm_bot", "realm_user"]});
    let (mut of_owner, mut of_ada) = (owner.register(&register).await, ada.register(&register).await);
    let mut of_bob = bob.register(&register).await;
    let answer = ada.patch(&path, json!({"bot_owner_id": bob.user_id})).await.ok();
    assert_eq!(answer["bot_owner"], "bob@example.com");
    let person = json!({"user_id": id, "bot_owner_id": bob.user_id});
    let everybody = json!({"type": "realm_user", "op": "update", "person": person});
    let update =
        json!({"type": "realm_bot", "op": "update", "bot": {"user_id": id, "owner_id": bob.user_id}});
    let key = owner.get(&format!("{path}/api_key"), ()).await.ok()["api_key"].clone();
    let renewed = json!({"type": "realm_bot", "op": "update", "bot": {"user_id": id, "api_key": key}});
    of_owner.expect(&[update, renewed, everybody.clone()]).await;
    let delete = json!({"type": "realm_bot", "op": "delete", "bot": {"user_id": id}});
    of_ada.expect(&[delete, everybody.clone()]).await;
    let record = realm_bots(&bob).await.remove(0);
    assert_eq!(record["owner_id"], bob.user_id);
    of_bob.expect(&[json!({"type": "realm_bot", "op": "add", "bot": record}), everybody]).await;
    ada.patch(&path, json!({"full_name": "X"})).await.error(400, "BAD_REQUEST", "Insufficient permission");
}

/// Otherwise the bot would give the guest more access.
#[tokio::test]
async fn bots_given_to_guests_become_guests() {
    let server = TestServer::start().await;
    let (owner, ada, guest) = (server.owner().await, server.member("ada").await, server.guest("guest").await);
    let (id, other) = (bot(&ada, "Helper").await, bot(&ada, "Other").await);
    let role = async |id: i64| ada.get(&format!("/users/{id}"), ()).await.ok()["user"]["role"].clone();
    server
        .check_state_sync(&[&owner, &ada, &guest], async || {
            ada.patch(&format!("/bots/{id}"), json!({"bot_owner_id": guest.user_id})).await.ok();
            owner.patch(&format!("/bots/{other}"), json!({"bot_owner_id": owner.user_id})).await.ok();
        })
        .await;
    assert_eq!((role(id).await, role(other).await), (json!(600), json!(400)));
    let mut queue = ada.register(json!({"event_types": ["realm_user"]})).await;
    let both = json!({"bot_owner_id": guest.user_id, "role": 400});
    let refused = owner.patch(&format!("/bots/{other}"), both).await;
    refused.error(400, "BAD_REQUEST", "The bot of a guest is a guest.");
    owner.patch(&format!("/bots/{other}"), json!({"bot_owner_id": guest.user_id})).await.ok();
    let event = |person: Value| json!({"type": "realm_user", "op": "update", "person": person});
    queue
        .expect(&[
            event(json!({"user_id": other, "bot_owner_id": guest.user_id})),
            event(json!({"user_id": other, "role": 600})),
        ])
        .await;
    assert_eq!(role(other).await, 600);
    // An administrator cannot make it a member later.
    for path in [format!("/bots/{other}"), format!("/users/{other}")] {
        let refused = owner.patch(&path, json!({"role": 400})).await;
        refused.error(400, "BAD_REQUEST", "The bot of a guest is a guest.");
    }
    let back = json!({"bot_owner_id": ada.user_id, "role": 400});
    owner.patch(&format!("/bots/{other}"), back).await.ok();
    assert_eq!(role(other).await, 400);
    queue.ignore();
}

/// While it was deactivated, its owner became a guest.
#[tokio::test]
async fn reactivated_bots_of_guests_become_guests() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let id = bot(&ada, "Helper").await;
    owner.delete(&format!("/bots/{id}"), ()).await.ok();
    owner.patch(&format!("/users/{}", ada.user_id), json!({"role": 600})).await.ok();
    server
        .check_state_sync(&[&owner, &ada, &bob], async || {
            owner.post(&format!("/users/{id}/reactivate"), ()).await.ok();
        })
        .await;
    assert_eq!(owner.get(&format!("/users/{id}"), ()).await.ok()["user"]["role"], 600);
}

#[tokio::test]
async fn hidden_default_channels_are_not_sent_to_owners() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let secret = server.private_channel("secret", &[&owner, &ada]).await;
    server.channel("general", &[&ada]).await;
    let id = bot(&ada, "Helper").await;
    let path = format!("/bots/{id}");
    let both = json!({"default_sending_stream": "secret", "default_events_register_stream": "general"});
    let changed = ada.patch(&path, both).await.ok();
    assert_eq!(changed["default_sending_stream"], "secret");
    let ada_leaves = async || {
        let params = json!({"subscriptions": ["secret"], "principals": [ada.user_id]});
        owner.delete("/users/me/subscriptions", params).await.ok();
    };
    server
        .check_state_sync(&[&owner, &ada], async || {
            ada_leaves().await;
            let params = json!({"subscriptions": [{"name": "secret"}], "principals": [ada.user_id]});
            owner.post("/users/me/subscriptions", params).await.ok();
            // Private channels are hidden from guests who are not in them, public ones too.
            ada_leaves().await;
            for role in [600, 400, 200, 400] {
                owner.patch(&format!("/users/{}", ada.user_id), json!({"role": role})).await.ok();
            }
            owner.patch(&format!("/streams/{secret}"), json!({"new_name": "merger"})).await.ok();
        })
        .await;

    owner.patch(&format!("/users/{id}"), json!({"role": 400})).await.ok();

    let channels =
        |bot: &Value| (bot["default_sending_stream"].clone(), bot["default_events_register_stream"].clone());
    let hidden = (Value::Null, json!("general"));
    assert_eq!(channels(&realm_bots(&ada).await[0]), hidden);
    assert_eq!(channels(&ada.get("/bots", ()).await.ok()["bots"][0]), hidden);
    assert_eq!(channels(&ada.patch(&path, json!({"full_name": "Better"})).await.ok()), hidden);
    assert_eq!(channels(&realm_bots(&owner).await[0]), (json!("merger"), json!("general")));

    // The same holds if an administrator chooses it, or gives the bot away.
    let register = json!({"event_types": ["realm_bot"]});
    let (mut of_owner, mut of_ada) = (owner.register(&register).await, ada.register(&register).await);
    let mut of_bob = bob.register(&register).await;
    owner.patch(&path, json!({"default_sending_stream": "merger"})).await.ok();
    let event = |name: Value| {
        let bot = json!({"user_id": id, "default_sending_stream": name});
        json!({"type": "realm_bot", "op": "update", "bot": bot})
    };
    of_owner.expect(&[event(json!("merger"))]).await;
    of_ada.expect(&[event(Value::Null)]).await;
    owner.patch(&path, json!({"bot_owner_id": bob.user_id})).await.ok();
    let added = of_bob.expect_kinds(&["realm_bot/add"]).await;
    assert_eq!(channels(&added[0]["bot"]), hidden);
    for queue in [&mut of_owner, &mut of_ada, &mut of_bob] {
        queue.ignore();
    }
    server
        .check_state_sync(&[&owner, &ada, &bob], async || {
            owner.patch(&path, json!({"bot_owner_id": ada.user_id})).await.ok();
            owner.patch(&path, json!({"default_events_register_stream": "merger"})).await.ok();
        })
        .await;
}

// conformance: bot-3, bot-16
#[tokio::test]
async fn bots_are_deactivated_and_reactivated() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let made = ada.post("/bots", json!({"full_name": "Helper", "short_name": "helper"})).await.ok();
    let helper = client(&server, &ada, &made).await;
    let (id, path) = (helper.user_id, format!("/bots/{}", helper.user_id));
    bob.delete(&path, ()).await.error(400, "BAD_REQUEST", "Insufficient permission");
    let mut of_ada = ada.register(json!({"event_types": ["realm_bot"]})).await;
    let mut of_bob = bob.register(json!({"event_types": ["realm_bot", "realm_user"]})).await;
    ada.delete(&path, ()).await.ok();
    ada.delete(&path, ()).await.ok();
    helper.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Account is deactivated");
    let event = |active: bool| json!({"type": "realm_bot", "op": "update", "bot": {"user_id": id, "is_active": active}});
    let person = |active: bool| json!({"type": "realm_user", "op": "update", "person": {"user_id": id, "is_active": active}});
    of_ada.expect(&[event(false)]).await;
    of_bob.expect(&[person(false)]).await;
    assert_eq!(ada.get("/bots", ()).await.ok()["bots"], json!([]));
    assert_eq!(realm_bots(&ada).await[0]["is_active"], false);
    owner.post(&format!("/users/{id}/reactivate"), ()).await.ok();
    let key = ada.get(&format!("{path}/api_key"), ()).await.ok()["api_key"].clone();
    let key_change = json!({"type": "realm_bot", "op": "update", "bot": {"user_id": id, "api_key": key}});
    of_ada.expect(&[event(true), key_change]).await;
    of_bob.expect(&[person(true)]).await;
    helper.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
}

// conformance: bot-17
#[tokio::test]
async fn bots_of_deactivated_users_can_be_taken_over() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let id = bot(&ada, "Helper").await;
    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    assert_eq!(realm_bots(&owner).await[0]["is_active"], false);
    owner.patch(&format!("/bots/{id}"), json!({"full_name": "Orphan"})).await.ok();
    let mut queue = owner.register(json!({"event_types": ["realm_bot"]})).await;
    owner.post(&format!("/users/{id}/reactivate"), ()).await.ok();
    let event = |name: &str, value: Value| json!({"type": "realm_bot", "op": "update", "bot": {"user_id": id, name: value}});
    let key = owner.get(&format!("/bots/{id}/api_key"), ()).await.ok()["api_key"].clone();
    queue
        .expect(&[
            event("is_active", json!(true)),
            event("owner_id", json!(owner.user_id)),
            event("api_key", key),
        ])
        .await;
    assert_eq!(owner.get("/bots", ()).await.ok()["bots"][0]["full_name"], "Orphan");
}

// conformance: bot-19
#[tokio::test]
async fn update_events_reproduce_state() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let alan = server.administrator("alan").await;
    server.channel("general", &[&ada]).await;
    let (one, two) = (bot(&ada, "One").await, bot(&bob, "Two").await);
    let params =
        json!({"full_name": "Out", "short_name": "out", "bot_type": 3, "payload_url": "http://a.example/"});
    let out = ada.post("/bots", params).await.ok()["user_id"].clone();
    server
        .check_state_sync(&[&owner, &alan, &ada, &bob], async || {
            let changed = json!({"full_name": "Uno", "default_sending_stream": "general",
                "default_events_register_stream": "general", "default_all_public_streams": true});
            ada.patch(&format!("/bots/{one}"), changed).await.ok();
            ada.patch(&format!("/bots/{out}"), json!({"service_payload_url": "http://b.example/"}))
                .await
                .ok();
            ada.post(&format!("/bots/{one}/api_key/regenerate"), ()).await.ok();
            owner.patch(&format!("/users/{two}"), json!({"full_name": "Dos"})).await.ok();
            bob.delete(&format!("/bots/{two}"), ()).await.ok();
            ada.patch(&format!("/bots/{one}"), json!({"bot_owner_id": bob.user_id})).await.ok();
            ada.patch(&format!("/bots/{out}"), json!({"bot_owner_id": owner.user_id})).await.ok();
            owner.patch(&format!("/bots/{one}"), json!({"role": 600})).await.ok();
        })
        .await;
    server
        .check_state_sync(&[&owner, &alan, &ada, &bob], async || {
            owner.patch(&format!("/users/{}", bob.user_id), json!({"role": 200})).await.ok();
            owner.patch(&format!("/users/{}", alan.user_id), json!({"role": 400})).await.ok();
            owner.post(&format!("/users/{two}/reactivate"), ()).await.ok();
        })
        .await;
}
