//! `GET /users/me`, `GET /users`, `GET /users/{user_id}` and `GET /users/{email}`.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

fn ids(members: &Value) -> Vec<i64> {
    members.as_array().unwrap().iter().map(|user| user["user_id"].as_i64().unwrap()).collect()
}

// conformance: user-1
#[tokio::test]
async fn own_user_has_every_published_field() {
    let server = TestServer::start().await;
    let ada = server.administrator("ada").await;
    let bot = server.bot("helper", &ada).await;
    let own = ada.get("/users/me", ()).await.ok();
    assert_eq!(
        own,
        json!({
            "result": "success",
            "msg": "",
            "user_id": ada.user_id,
            "email": "ada@example.com",
            "delivery_email": "ada@example.com",
            "full_name": "Ada",
            "avatar_url": format!("/user_avatars/1/generated/{}.png?version=1", ada.user_id),
            "avatar_version": 1,
            "role": 200,
            "is_owner": false,
            "is_admin": true,
            "is_guest": false,
            "is_bot": false,
            "is_active": true,
            "timezone": "",
            "date_joined": "2026-09-21T14:13+00:00",
            "max_message_id": own["max_message_id"],
            "profile_data": {},
        })
    );
    let of_bot = bot.get("/users/me", ()).await.ok();
    assert_eq!((&of_bot["is_bot"], &of_bot["bot_owner_id"]), (&json!(true), &json!(ada.user_id)));
    assert_eq!(of_bot.get("profile_data"), None);
}

// conformance: user-2, user-3, user-4
#[tokio::test]
async fn users_are_listed_with_deactivated_ones() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    owner.delete(&format!("/users/{}", bob.user_id), ()).await.ok();
    let all = ada.get("/users", ()).await.ok();
    assert_eq!(ids(&all["members"]), [owner.user_id, ada.user_id, bob.user_id]);
    let active: Vec<&Value> =
        all["members"].as_array().unwrap().iter().map(|user| &user["is_active"]).collect();
    assert_eq!(active, [&json!(true), &json!(true), &json!(false)]);
    assert!(all["members"].as_array().unwrap().iter().all(|user| user.get("profile_data").is_none()));

    let some = json!({"user_ids": [bob.user_id, 9999, owner.user_id], "include_custom_profile_fields": true});
    let some = ada.get("/users", some).await.ok();
    assert_eq!(ids(&some["members"]), [owner.user_id, bob.user_id]);
    assert_eq!(some["members"][0]["profile_data"], json!({}));
    let refused = ada.get("/users", json!({"user_ids": "ada"})).await;
    refused.error(400, "BAD_REQUEST", "user_ids is not valid JSON");

    // The lists of a registration say by themselves who is active.
    let state = ada.post("/register", json!({"fetch_event_types": ["realm_user"]})).await.ok();
    assert_eq!(ids(&state["realm_users"]), [owner.user_id, ada.user_id]);
    assert_eq!(ids(&state["realm_non_active_users"]), [bob.user_id]);
    for list in ["realm_users", "realm_non_active_users"] {
        assert_eq!(state[list][0].get("is_active"), None, "{list}");
    }
}

// conformance: user-5, user-6
#[tokio::test]
async fn one_user_is_found_by_id_and_by_email() {
    let server = TestServer::start().await;
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let dummy = format!("user{}@bots.invalid", ada.user_id);
    for name in [ada.user_id.to_string(), "ADA@example.com".into(), dummy.clone()] {
        let found = guest.get(&format!("/users/{name}"), json!({"client_gravatar": true})).await.ok();
        assert_eq!(found["user"]["user_id"], ada.user_id, "{name}");
    }
    ada.patch("/settings", json!({"email_address_visibility": 4})).await.ok();
    for name in [ada.user_id.to_string(), dummy] {
        let found = guest.get(&format!("/users/{name}"), ()).await.ok();
        assert_eq!(found["user"]["delivery_email"], json!(null), "{name}");
    }
    for name in ["ada@example.com", "0", "9999", "99999999999999999999", "nobody", "user9999@bots.invalid"] {
        guest.get(&format!("/users/{name}"), ()).await.error(400, "BAD_REQUEST", "No such user");
    }
}

// conformance: user-7
#[tokio::test]
async fn email_visibility_follows_roles() {
    let server = TestServer::start().await;
    let viewers: [Client; 5] = [
        server.owner().await,
        server.administrator("admin").await,
        server.moderator("mod").await,
        server.member("member").await,
        server.guest("guest").await,
    ];
    let ada = server.member("ada").await;
    let cases = [
        (1, [true, true, true, true, true]),
        (2, [true, true, true, true, false]),
        (5, [true, true, true, false, false]),
        (3, [true, true, false, false, false]),
        (4, [false, false, false, false, false]),
    ];
    for (visibility, expected) in cases {
        ada.patch("/settings", json!({"email_address_visibility": visibility})).await.ok();
        for (viewer, is_shown) in viewers.iter().zip(expected) {
            let found = viewer.get(&format!("/users/{}", ada.user_id), ()).await.ok();
            let email = if is_shown { json!("ada@example.com") } else { Value::Null };
            assert_eq!(found["user"]["delivery_email"], email, "{visibility} for {}", viewer.full_name);
        }
        assert_eq!(ada.get("/users/me", ()).await.ok()["delivery_email"], "ada@example.com");
    }
}
