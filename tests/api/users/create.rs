//! Creation of users.

use crate::harness::TestServer;
use serde_json::json;

// conformance: user-9
#[tokio::test]
async fn new_users_are_emitted_to_all_users() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let mut queue = owner.register(json!({"event_types": ["realm_user"]})).await;
    let mut other = owner.register(json!({"event_types": ["message"]})).await;
    let ada = server.guest("ada").await;
    queue
        .expect(&[json!({
            "type": "realm_user",
            "op": "add",
            "person": {
                "user_id": ada.user_id,
                "delivery_email": "ada@example.com",
                "email": "ada@example.com",
                "full_name": "Ada",
                "date_joined": "2026-09-21T14:13+00:00",
                "is_active": true,
                "is_owner": false,
                "is_admin": false,
                "is_guest": true,
                "is_bot": false,
                "role": 600,
                "timezone": "",
                "avatar_url": format!("/user_avatars/1/generated/{}.png?version=1", ada.user_id),
                "avatar_version": 1,
                "profile_data": {},
            },
        })])
        .await;
    other.expect_nothing().await;
}

// conformance: user-16
#[tokio::test]
async fn sign_up_events_reproduce_state() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let guest = server.guest("guest").await;
    server
        .check_state_sync(&[&owner, &guest], async || {
            server.member("ada").await;
            server.bot("helper", &owner).await;
        })
        .await;
}

// conformance: user-8, user-9
#[tokio::test]
async fn administrators_create_accounts_that_can_log_in() {
    let server = TestServer::start().await;
    let admin = server.administrator("admin").await;
    server.channel("general", &[]).await;
    server.sql("INSERT INTO default_stream (stream_id) SELECT stream_id FROM stream").await;
    let mut queue =
        admin.register(json!({"event_types": ["realm_user", "user_group", "subscription"]})).await;
    let new = json!({"email": " new@example.com ", "password": "secret", "full_name": " New User "});
    let user_id = admin.post("/users", new).await.ok()["user_id"].clone();
    let events = queue
        .expect_kinds(&[
            "realm_user/add",
            "user_group/add_members",
            "user_group/add_members",
            "subscription/peer_add",
        ])
        .await;
    let person = &events[0]["person"];
    assert_eq!(
        [&person["user_id"], &person["email"], &person["full_name"], &person["role"]],
        [&user_id, &json!("new@example.com"), &json!("New User"), &json!(400)]
    );
    assert_eq!((&events[1]["group_id"], &events[1]["user_ids"]), (&json!(6), &json!([user_id])));
    assert_eq!((&events[2]["group_id"], &events[3]["user_ids"]), (&json!(5), &json!([user_id])));
    let login = &[("username", "new@example.com"), ("password", "secret")];
    let key = server.anonymous().post("/fetch_api_key", login).await.ok();
    assert_eq!(key["user_id"], user_id);
}

// conformance: user-10, user-11, user-12, user-13
#[tokio::test]
async fn invalid_accounts_are_refused() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let (moderator, ada) = (server.moderator("mod").await, server.member("ada").await);
    let good = json!({"email": "new@example.com", "password": "secret", "full_name": "New"});
    for client in [&moderator, &ada] {
        let msg = "Must be an organization administrator";
        client.post("/users", &good).await.error(400, "UNAUTHORIZED_PRINCIPAL", msg);
    }
    for name in ["email", "password", "full_name"] {
        let mut missing = good.clone();
        missing.as_object_mut().unwrap().remove(name);
        let msg = format!("Missing '{name}' argument");
        admin.post("/users", missing).await.error(400, "REQUEST_VARIABLE_MISSING", &msg);
    }
    server.set_realm_setting("require_unique_names", json!(true)).await;
    let mut queue = admin.register(json!({"event_types": ["realm_user"]})).await;
    let cases = [
        ("email", json!("ADA@example.com"), "Email is already in use."),
        ("email", json!("nowhere"), "Enter a valid email address."),
        ("full_name", json!(" "), "Name too short!"),
        ("full_name", json!("x".repeat(101)), "Name too long!"),
        ("full_name", json!("N*w"), "Invalid characters in name!"),
        ("full_name", json!("New|12"), "Invalid format!"),
        ("full_name", json!("ada"), "Unique names required in this organization."),
        ("password", json!("short"), "The password is too weak."),
        ("password", json!("x".repeat(101)), "The password is too weak."),
    ];
    for (name, value, msg) in cases {
        let mut bad = good.clone();
        bad[name] = value;
        admin.post("/users", bad).await.error(400, "BAD_REQUEST", msg);
    }
    queue.expect_nothing().await;
    owner.post("/users", good).await.ok();
    queue.expect_kinds(&["realm_user/add"]).await;
}

// conformance: user-15
#[tokio::test]
async fn new_users_with_hidden_emails_have_placeholders() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    owner.patch("/realm/user_settings_defaults", json!({"email_address_visibility": 4})).await.ok();
    let mut queue = owner.register(json!({"event_types": ["realm_user"]})).await;
    let ada = server.member("ada").await;
    let events = queue.expect_kinds(&["realm_user/add"]).await;
    assert_eq!(events[0]["person"]["delivery_email"], json!(null));
    assert_eq!(events[0]["person"]["email"], format!("user{}@bots.invalid", ada.user_id));
    owner.get("/users/ada@example.com", ()).await.error(400, "BAD_REQUEST", "No such user");
    let found = owner.get(&format!("/users/user{}@bots.invalid", ada.user_id), ()).await.ok();
    assert_eq!(found["user"]["full_name"], "Ada");
}

// conformance: user-14
#[tokio::test]
async fn emails_belong_to_allowed_domains() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    owner.post("/realm/domains", json!({"domain": "example.com", "allow_subdomains": true})).await.ok();
    owner.patch("/realm", json!({"emails_restricted_to_domains": true})).await.ok();
    let create = async |email: &str| {
        owner.post("/users", json!({"email": email, "password": "secret", "full_name": "New"})).await
    };
    let msg = "Email 'new@example.net' not allowed in this organization";
    create("new@example.net").await.error(400, "BAD_REQUEST", msg);
    let msg = "Email addresses containing + are not allowed.";
    create("new+1@example.com").await.error(400, "BAD_REQUEST", msg);
    create("new@sub.example.com").await.ok();
}
