//! `POST /bots` and `GET /bots`.

use super::{bot, client, realm_bots};
use crate::harness::TestServer;
use hyper::Method;
use serde_json::{Value, json};
use teamchat::domain::groups::system::SystemGroup;

// conformance: bot-1, bot-2, bot-3
#[tokio::test]
async fn a_bot_belongs_to_its_maker_and_can_call() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let register = json!({"event_types": ["realm_bot", "realm_user"]});
    let mut of_owner = owner.register(&register).await;
    let mut of_ada = ada.register(&register).await;
    let mut of_bob = bob.register(&register).await;
    let made = ada.post("/bots", json!({"full_name": " Helper ", "short_name": " helper "})).await.ok();
    let id = &made["user_id"];
    let avatar = format!("/user_avatars/1/generated/{id}.png?version=1");
    let api_key = made["api_key"].as_str().unwrap();
    let expected = json!({"result": "success", "msg": "", "user_id": id, "api_key": api_key, "avatar_url": avatar,
        "default_sending_stream": null, "default_events_register_stream": null,
        "default_all_public_streams": false});
    assert_eq!(made, expected);
    let bot = client(&server, &ada, &made).await;
    let bot_email = bot.email.clone();
    assert!(bot_email.starts_with("helper-bot@"), "{bot_email}");
    let person = json!({"user_id": id, "delivery_email": bot_email, "email": bot_email, "full_name": "Helper",
        "date_joined": "*", "is_active": true, "is_owner": false, "is_admin": false, "is_guest": false,
        "is_bot": true, "bot_type": 1, "bot_owner_id": ada.user_id, "role": 400, "timezone": "",
        "avatar_url": avatar, "avatar_version": 1});
    let user_added = json!({"type": "realm_user", "op": "add", "person": person});
    let record = json!({"email": bot_email, "user_id": id, "full_name": "Helper", "bot_type": 1, "is_active": true,
        "api_key": api_key, "default_sending_stream": null, "default_events_register_stream": null,
        "default_all_public_streams": false, "avatar_url": avatar, "owner_id": ada.user_id, "services": []});
    let bot_added = json!({"type": "realm_bot", "op": "add", "bot": record});
    of_owner.expect(&[user_added.clone(), bot_added.clone()]).await;
    of_ada.expect(&[user_added.clone(), bot_added]).await;
    of_bob.expect(&[user_added]).await;
    for who in [&ada, &owner] {
        assert_eq!(realm_bots(who).await, std::slice::from_ref(&record));
    }
    assert_eq!(realm_bots(&bob).await, [Value::Null; 0]);
    let listed = json!([{"username": bot_email, "full_name": "Helper", "api_key": api_key, "avatar_url": avatar,
        "default_sending_stream": null, "default_events_register_stream": null,
        "default_all_public_streams": false}]);
    assert_eq!(ada.get("/bots", ()).await.ok()["bots"], listed);
    assert_eq!(owner.get("/bots", ()).await.ok()["bots"], json!([]));
    assert_eq!(bot.get("/users/me", ()).await.ok()["bot_owner_id"], ada.user_id);
    bot.get("/bots", ()).await.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");
}

// conformance: bot-4
#[tokio::test]
async fn bots_have_default_channels() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    server.channel("general", &[&ada]).await;
    server.private_channel("secret", &[&owner]).await;
    let params = json!({"full_name": "Helper", "short_name": "helper", "default_sending_stream": "General",
        "default_events_register_stream": "general", "default_all_public_streams": true});
    let made = ada.post("/bots", params).await.ok();
    assert_eq!(made["default_sending_stream"], "general");
    assert_eq!(made["default_events_register_stream"], "general");
    assert_eq!(made["default_all_public_streams"], true);
    for name in ["default_sending_stream", "default_events_register_stream"] {
        for channel in ["secret", "nowhere"] {
            let params = json!({"full_name": "Other", "short_name": "other", name: channel});
            let msg = format!("Invalid channel name '{channel}'");
            ada.post("/bots", params).await.error(400, "BAD_REQUEST", &msg);
        }
    }
}

// conformance: bot-5
#[tokio::test]
async fn names_are_checked_as_published() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    bot(&ada, "Helper").await;
    let long = "x".repeat(250);
    let cases = [
        (json!({"full_name": "New", "short_name": " "}), "Bad name or username"),
        (json!({"full_name": "New", "short_name": "a b"}), "Bad name or username"),
        (json!({"full_name": "New", "short_name": long}), "Bad name or username"),
        (json!({"full_name": "New", "short_name": "HELPER"}), "Username already in use"),
        (json!({"full_name": "", "short_name": "new"}), "Name too short!"),
        (json!({"full_name": long, "short_name": "new"}), "Name too long!"),
        (json!({"full_name": "A*", "short_name": "new"}), "Invalid characters in name!"),
        (json!({"full_name": "Helper", "short_name": "new"}), "Name is already in use!"),
        (json!({"full_name": "New", "short_name": "new", "bot_type": 4}), "Embedded bots are not enabled."),
        (json!({"full_name": "New", "short_name": "new", "bot_type": 9}), "Invalid bot type"),
        (json!({"full_name": "New", "short_name": "new", "interface_type": 3}), "Invalid interface type"),
        (json!({"full_name": "New", "short_name": "new", "bot_type": 3}), "payload_url is not a URL"),
        (
            json!({"full_name": "New", "short_name": "new", "bot_type": 3, "payload_url": "\"nowhere\""}),
            "payload_url is not a URL",
        ),
        (
            json!({"full_name": "New", "short_name": "new", "bot_type": 2, "service_name": "nothing"}),
            "Invalid integration 'nothing'.",
        ),
    ];
    for (params, msg) in cases {
        ada.post("/bots", &params).await.error(400, "BAD_REQUEST", msg);
    }
    // Longer than the address of a person can be, because no mail is sent to bots.
    ada.post("/bots", json!({"full_name": "Long", "short_name": "x".repeat(100)})).await.ok();
    let answer = ada.post("/bots", &[("full_name", "New")]).await;
    answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'short_name' argument");
    let answer = ada.post("/bots", &[("short_name", "new")]).await;
    answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'full_name' argument");
    let two = ada.request(Method::POST, "/bots");
    let params = json!({"full_name": "New", "short_name": "new"});
    let answer = two.multipart(params, &[("a", "a.png", b"a"), ("b", "b.png", b"b")]).send().await;
    answer.error(400, "BAD_REQUEST", "You may only upload one file at a time");
    assert_eq!(ada.get("/bots", ()).await.ok()["bots"].as_array().unwrap().len(), 2);
}

// conformance: bot-6
#[tokio::test]
async fn permissions_to_create_bots_by_type() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let (guest, helper) = (server.guest("guest").await, server.bot("helper", &owner).await);
    let params = |name: &str, bot_type: i64| json!({"full_name": name, "short_name": name, "bot_type": bot_type, "payload_url": "http://localhost/hook"});
    guest.get("/bots", ()).await.error(400, "BAD_REQUEST", "Not allowed for guest users");
    guest.post("/bots", params("a", 1)).await.error(400, "BAD_REQUEST", "Not allowed for guest users");
    let answer = helper.post("/bots", params("a", 1)).await;
    answer.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");
    for (name, bot_type) in [("generic", 1), ("incoming", 2), ("outgoing", 3)] {
        let made = ada.post("/bots", params(name, bot_type)).await.ok();
        let user = ada.get(&format!("/users/{}", made["user_id"]), ()).await.ok();
        assert_eq!(user["user"]["bot_type"], bot_type);
    }
    server.set_realm_group("can_create_bots_group", SystemGroup::Administrators).await;
    for bot_type in [1, 3] {
        let answer = ada.post("/bots", params("x", bot_type)).await;
        answer.error(400, "BAD_REQUEST", "Insufficient permission");
    }
    ada.post("/bots", params("write-only", 2)).await.ok();
    server.set_realm_group("can_create_write_only_bots_group", SystemGroup::Administrators).await;
    ada.post("/bots", params("x", 2)).await.error(400, "BAD_REQUEST", "Insufficient permission");
    for (name, bot_type) in [("one", 1), ("two", 2), ("three", 3)] {
        owner.post("/bots", params(name, bot_type)).await.ok();
    }
}

// conformance: bot-7
#[tokio::test]
async fn an_outgoing_webhook_has_a_service_and_an_incoming_one_does_not() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let params = json!({"full_name": "Out", "short_name": "out", "bot_type": 3, "interface_type": 2,
        "payload_url": "\"http://hooks.example.com/a\"", "service_name": "anything"});
    ada.post("/bots", params).await.ok();
    let params = json!({"full_name": "In", "short_name": "in", "bot_type": 2, "service_name": "json",
        "config_data": {"key": "value"}});
    ada.post("/bots", params).await.ok();
    let bots = realm_bots(&ada).await;
    let token = bots[0]["services"][0]["token"].as_str().unwrap();
    assert_eq!(token.len(), 32);
    let service = json!([{"base_url": "http://hooks.example.com/a", "interface": 2, "token": token}]);
    assert_eq!((&bots[0]["bot_type"], &bots[0]["services"]), (&json!(3), &service));
    assert_eq!((&bots[1]["bot_type"], &bots[1]["services"]), (&json!(2), &json!([])));
}

// conformance: bot-8
#[tokio::test]
async fn integrations_of_bots_are_announced() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let words = json!({"fetch_event_types": ["realm_embedded_bots", "realm_incoming_webhook_bots"],
        "event_types": []});
    let queue = ada.register(words).await;
    assert_eq!(queue.state["realm_embedded_bots"], json!([]));
    let json_bot = json!({"name": "json", "display_name": "JSON formatter", "all_event_types": null,
        "config_options": [], "url_options": []});
    let bots = queue.state["realm_incoming_webhook_bots"].as_array().unwrap();
    assert!(bots.contains(&json_bot), "{bots:?}");
    let options = |name: &str| bots.iter().find(|bot| bot["name"] == name).unwrap()["url_options"].clone();
    let branches = json!({"key": "branches", "validator": "check_string",
        "label": "The branches whose pushes are shown, separated by commas"});
    let private = json!({"key": "ignore_private_repositories", "validator": "check_bool",
        "label": "Exclude notifications from private repositories"});
    assert_eq!(options("github"), json!([branches, private]));
    for name in ["gitea", "forgejo", "gitlab"] {
        assert_eq!(options(name), json!([branches]), "{name}");
    }
}

// conformance: bot-10
#[tokio::test]
async fn new_bot_events_reproduce_state() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let (bob, guest) = (server.member("bob").await, server.guest("guest").await);
    server
        .check_state_sync(&[&owner, &ada, &bob, &guest], async || {
            bot(&ada, "Helper").await;
            let params = json!({"full_name": "Out", "short_name": "out", "bot_type": 3,
                "payload_url": "http://localhost"});
            ada.post("/bots", params).await.ok();
            server.bot("made", &ada).await;
        })
        .await;
}
