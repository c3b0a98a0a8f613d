//! `PATCH /users/{user_id}` and `PATCH /users/{email}`: name and email.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

fn update(person: Value) -> Value {
    json!({"type": "realm_user", "op": "update", "person": person})
}

fn path(user: &Client) -> String {
    format!("/users/{}", user.user_id)
}

// conformance: user-17, user-18
#[tokio::test]
async fn an_administrator_changes_a_name() {
    let server = TestServer::start().await;
    let (admin, ada, guest) =
        (server.administrator("admin").await, server.member("ada").await, server.guest("guest").await);
    server.set_realm_setting("name_changes_disabled", json!(true)).await;
    let mut queue = guest.register(json!({"event_types": ["realm_user"]})).await;
    for path in
        [path(&ada), "/users/ada@example.com".into(), format!("/users/user{}@bots.invalid", ada.user_id)]
    {
        admin.patch(&path, json!({"full_name": format!("Ada {}", path.len())})).await.ok();
        queue
            .expect(&[update(json!({"user_id": ada.user_id, "full_name": format!("Ada {}", path.len())}))])
            .await;
    }
    // Nothing to change.
    admin.patch(&path(&ada), json!({"full_name": " "})).await.ok();
    admin.patch(&path(&ada), ()).await.ok();
    queue.expect_nothing().await;
    let refused = admin.patch(&path(&ada), json!({"full_name": "A*"})).await;
    refused.error(400, "BAD_REQUEST", "Invalid characters in name!");
    server.set_realm_setting("require_unique_names", json!(true)).await;
    let refused = admin.patch(&path(&ada), json!({"full_name": "GUEST"})).await;
    refused.error(400, "BAD_REQUEST", "Unique names required in this organization.");
}

// conformance: role-1, role-7, user-17, user-19
#[tokio::test]
async fn permissions_to_change_others() {
    let server = TestServer::start().await;
    let (owner, moderator) = (server.owner().await, server.moderator("mod").await);
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let bot = server.bot("helper", &ada).await;
    let change = json!({"full_name": "Another"});
    for client in [&moderator, &ada] {
        client.patch(&path(&bob), &change).await.error(400, "BAD_REQUEST", "Insufficient permission");
    }
    bob.patch(&path(&bot), &change).await.error(400, "BAD_REQUEST", "Insufficient permission");
    ada.patch(&path(&bot), &change).await.ok();
    let msg = "Must be an organization administrator";
    ada.patch(&path(&bot), json!({"role": 300})).await.error(400, "UNAUTHORIZED_PRINCIPAL", msg);
    let notification_bot = server.notification_bot().await;
    for unknown in ["9999", "99999999999999999999", "nobody@example.com", "user9999@bots.invalid"] {
        owner.patch(&format!("/users/{unknown}"), &change).await.error(400, "BAD_REQUEST", "No such user");
    }
    let path_of_bot = format!("/users/{notification_bot}");
    owner.patch(&path_of_bot, &change).await.error(400, "BAD_REQUEST", "No such user");
    owner.patch(&path(&bob), json!({"role": 500})).await.error(400, "BAD_REQUEST", "Invalid role");
    let ignored = owner.patch(&path(&bob), json!({"full_name": "Bob", "is_admin": true})).await;
    ignored.ok_ignoring(&["is_admin"]);
    // A deactivated user can still be renamed.
    owner.delete(&path(&bob), ()).await.ok();
    owner.patch(&path(&bob), &change).await.ok();
}

// conformance: user-20, user-21
#[tokio::test]
async fn an_owner_changes_an_email() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let (mut ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let mut queue = guest.register(json!({"event_types": ["realm_user"]})).await;
    let cases = [
        ("nowhere", "Invalid new email address."),
        ("admin@example.com", "New email value error: Already has an account."),
    ];
    for (email, msg) in cases {
        owner.patch(&path(&ada), json!({"new_email": email})).await.error(400, "BAD_REQUEST", msg);
    }
    let change = json!({"new_email": "lovelace@example.com"});
    let msg = "User not authorized to change user emails";
    admin.patch(&path(&ada), &change).await.error(400, "BAD_REQUEST", msg);
    owner.patch(&path(&ada), change).await.ok();
    queue
        .expect(&[
            update(json!({"user_id": ada.user_id, "delivery_email": "lovelace@example.com"})),
            update(json!({"user_id": ada.user_id, "new_email": "lovelace@example.com"})),
        ])
        .await;
    ada.email = "lovelace@example.com".into();
    ada.get("/users/me", ()).await.ok();
    owner.delete(&path(&ada), ()).await.ok();
    let msg = "New email value error: Account has been deactivated.";
    let change = json!({"new_email": "Lovelace@example.com"});
    owner.patch(&path(&guest), change).await.error(400, "BAD_REQUEST", msg);
    queue.ignore();
}

// conformance: user-44
#[tokio::test]
async fn a_user_is_changed_by_the_email_that_the_caller_may_see() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let ada = server.member("ada").await;
    let stand_in = format!("/users/user{}@bots.invalid", ada.user_id);
    let change = |name: &str| json!({"full_name": name});
    let name =
        async || owner.get(&path(&ada), ()).await.ok()["user"]["full_name"].as_str().unwrap().to_owned();
    // Shown to administrators: by either.
    ada.patch("/settings", json!({"email_address_visibility": 3})).await.ok();
    admin.patch("/users/ADA@example.com", change("Ada One")).await.ok();
    assert_eq!(name().await, "Ada One");
    admin.patch(&stand_in, change("Ada Two")).await.ok();
    assert_eq!(name().await, "Ada Two");
    // A hidden email is never shown, even to owners.
    ada.patch("/settings", json!({"email_address_visibility": 4})).await.ok();
    for caller in [&owner, &admin] {
        for email in ["ada@example.com", "nobody@example.com", "user9999@bots.invalid"] {
            let refused = caller.patch(&format!("/users/{email}"), change("Ada Three")).await;
            refused.error(400, "BAD_REQUEST", "No such user");
        }
    }
    assert_eq!(name().await, "Ada Two");
    admin.patch(&stand_in, change("Ada Four")).await.ok();
    assert_eq!(name().await, "Ada Four");
    // A user who may not change others does not learn whether the value is right.
    let bob = server.member("bob").await;
    for email in ["admin@example.com", "owner@example.com"] {
        bob.patch(&format!("/users/{email}"), change("Bob")).await.error(
            400,
            "BAD_REQUEST",
            "Insufficient permission",
        );
    }
}

// conformance: user-24
#[tokio::test]
async fn the_state_follows_names_and_emails() {
    let server = TestServer::start().await;
    let (owner, guest) = (server.owner().await, server.guest("guest").await);
    let ada = server.member("ada").await;
    ada.patch("/settings", json!({"email_address_visibility": 3})).await.ok();
    server
        .check_state_sync(&[&owner, &guest], async || {
            let change = json!({"full_name": "Ada Lovelace", "new_email": "lovelace@example.com"});
            owner.patch(&path(&ada), change).await.ok();
        })
        .await;
}

// conformance: user-22, user-23
#[tokio::test]
async fn an_administrator_fills_in_a_profile() {
    let server = TestServer::start().await;
    let (admin, ada, guest) =
        (server.administrator("admin").await, server.member("ada").await, server.guest("guest").await);
    let bot = server.bot("helper", &ada).await;
    let new =
        async |field: Value| admin.post("/realm/profile_fields", field).await.ok()["id"].as_i64().unwrap();
    let phone = new(json!({"name": "Phone", "field_type": 1})).await;
    let birthday = new(json!({"name": "Birthday", "field_type": 4, "editable_by_user": false})).await;
    let mut queue = guest.register(json!({"event_types": ["realm_user"]})).await;
    let data = json!([{"id": phone, "value": "123"}, {"id": birthday, "value": "1909-04-05"}]);
    admin.patch(&path(&ada), json!({"profile_data": data})).await.ok();
    let rendered = "<p>123</p>";
    let changed = |field: Value| update(json!({"user_id": ada.user_id, "custom_profile_field": field}));
    queue
        .expect(&[
            changed(json!({"id": phone, "value": "123", "rendered_value": rendered})),
            changed(json!({"id": birthday, "value": "1909-04-05"})),
        ])
        .await;
    admin.patch(&path(&ada), json!({"profile_data": [{"id": phone, "value": ""}]})).await.ok();
    queue.expect(&[changed(json!({"id": phone, "value": null}))]).await;
    let cases = [
        (json!([{"id": 99, "value": "x"}]), "Field id 99 not found."),
        (json!([{"id": birthday, "value": "tomorrow"}]), "Birthday is not a date"),
        (json!([{"value": "x"}]), "profile_data[0][\"id\"] field is missing: Field required"),
        (json!({"id": 1}), "profile_data is not a list"),
    ];
    for (data, msg) in cases {
        let refused = admin.patch(&path(&ada), json!({"profile_data": data})).await;
        refused.error(400, "BAD_REQUEST", msg);
    }
    let on_bot = json!({"profile_data": [{"id": phone, "value": "x"}]});
    admin.patch(&path(&bot), on_bot).await.error(400, "BAD_REQUEST", "Bots have no profile fields.");
    let found = ada.get("/users/me", ()).await.ok();
    assert_eq!(found["profile_data"], json!({birthday.to_string(): {"value": "1909-04-05"}}));
    queue.expect_nothing().await;
}
