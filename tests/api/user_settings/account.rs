//! `PATCH /settings`: name, email and password, and who sees the email.

use crate::harness::{Blocked, Client, TestServer, until};
use serde_json::{Value, json};
use teamchat::domain::realm;
use teamchat::domain::users::passwords;
use teamchat::types::Role;

// conformance: setting-8
#[tokio::test]
async fn names_are_emitted_to_all_users() {
    let server = TestServer::start().await;
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let mut queue = guest.register(json!({"event_types": ["realm_user"]})).await;
    ada.patch("/settings", json!({"full_name": " Ada Lovelace "})).await.ok();
    let person = json!({"user_id": ada.user_id, "full_name": "Ada Lovelace"});
    queue.expect(&[json!({"type": "realm_user", "op": "update", "person": person})]).await;
    let msg = "Invalid characters in name!";
    ada.patch("/settings", json!({"full_name": "Ada*"})).await.error(400, "BAD_REQUEST", msg);
}

/// Changes a setting of the organization behind the interface.
async fn set_realm(server: &TestServer, name: &'static str, value: Value) {
    let changed = server.app().writer.run(move |tx| realm::settings::set(tx, name, &value)).await.unwrap();
    assert!(changed, "{name} is so already");
}

// conformance: setting-9
#[tokio::test]
async fn names_are_unique_where_the_organization_wants_it() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    bob.patch("/settings", json!({"full_name": "Björn"})).await.ok();
    ada.patch("/settings", json!({"full_name": "BJÖRN"})).await.ok();
    ada.patch("/settings", json!({"full_name": "Ada"})).await.ok();
    set_realm(&server, "require_unique_names", json!(true)).await;
    let msg = "Unique names required in this organization.";
    // The second is an o with a dots mark behind it.
    for name in ["BJÖRN", "bjo\u{308}rn"] {
        ada.patch("/settings", json!({"full_name": name})).await.error(400, "BAD_REQUEST", msg);
    }
    ada.patch("/settings", json!({"full_name": "ADA"})).await.ok();
}

// conformance: setting-10
#[tokio::test]
async fn disabled_changes_need_an_administrator() {
    let server = TestServer::start().await;
    let (ada, admin) = (server.member("ada").await, server.administrator("admin").await);
    let mut queue = admin.register(json!({"event_types": ["realm_user"]})).await;
    set_realm(&server, "name_changes_disabled", json!(true)).await;
    set_realm(&server, "email_changes_disabled", json!(true)).await;
    ada.patch("/settings", json!({"full_name": "Lovelace"})).await.ok();
    let msg = "Email address changes are disabled in this organization.";
    ada.patch("/settings", json!({"email": "lovelace@example.com"})).await.error(400, "BAD_REQUEST", msg);
    queue.expect_nothing().await;
    admin.patch("/settings", json!({"full_name": "Lovelace"})).await.ok();
    queue.expect_kinds(&["realm_user/update"]).await;
}

// conformance: setting-11
#[tokio::test]
async fn a_time_zone_is_a_setting_and_part_of_the_user() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let types = json!({"event_types": ["realm_user", "user_settings", "update_display_settings"]});
    let (mut own, mut other) = (ada.register(types.clone()).await, bob.register(types).await);
    ada.patch("/settings", json!({"timezone": "Asia/Kolkata"})).await.ok();
    ada.patch("/settings", json!({"timezone": "Asia/Kolkata"})).await.ok();
    let person = json!({"user_id": ada.user_id, "email": ada.email, "timezone": "Asia/Kolkata"});
    let event = json!({"type": "realm_user", "op": "update", "person": person});
    let setting =
        json!({"type": "user_settings", "op": "update", "property": "timezone", "value": "Asia/Kolkata"});
    let older = json!({
        "type": "update_display_settings",
        "user": ada.email,
        "setting_name": "timezone",
        "setting": "Asia/Kolkata",
    });
    own.expect(&[setting, older, event.clone()]).await;
    other.expect(&[event]).await;
}

// conformance: setting-12
#[tokio::test]
async fn an_email_is_changed_at_once_and_is_the_new_login() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let mut queue = bob.register(json!({"event_types": ["realm_user"]})).await;
    ada.patch("/settings", json!({"email": "bob@example.com"})).await.error(
        400,
        "BAD_REQUEST",
        "Already has an account.",
    );
    ada.patch("/settings", json!({"email": "lovelace@example.com"})).await.ok();
    let update = |person: Value| json!({"type": "realm_user", "op": "update", "person": person});
    queue
        .expect(&[
            update(json!({"user_id": ada.user_id, "delivery_email": "lovelace@example.com"})),
            update(json!({"user_id": ada.user_id, "new_email": "lovelace@example.com"})),
        ])
        .await;
    ada.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
    let mut lovelace = ada;
    lovelace.email = "lovelace@example.com".into();
    assert_eq!(lovelace.get("/users/me", ()).await.ok()["email"], "lovelace@example.com");
}

// conformance: setting-13
#[tokio::test]
async fn a_hidden_email_is_hidden_everywhere() {
    let server = TestServer::start().await;
    let (owner, guest) = (server.owner().await, server.guest("guest").await);
    let ada = server.member("ada").await;
    let types = json!({"event_types": ["realm_user"]});
    let mut of_owner = owner.register(types.clone()).await;
    let mut of_guest = guest.register(types.clone()).await;
    let mut own = ada.register(types).await;
    ada.patch("/settings", json!({"email_address_visibility": 3})).await.ok();
    let update = |person: Value| json!({"type": "realm_user", "op": "update", "person": person});
    let dummy = format!("user{}@bots.invalid", ada.user_id);
    let renamed = update(json!({"user_id": ada.user_id, "new_email": dummy}));
    of_owner.expect(std::slice::from_ref(&renamed)).await;
    own.expect(std::slice::from_ref(&renamed)).await;
    of_guest.expect(&[update(json!({"user_id": ada.user_id, "delivery_email": null})), renamed]).await;

    for (client, real) in [(&owner, json!(ada.email)), (&ada, json!(ada.email)), (&guest, Value::Null)] {
        let path = format!("/users/{}", ada.user_id);
        let user = client.get(&path, ()).await.ok()["user"].clone();
        assert_eq!((&user["delivery_email"], &user["email"]), (&real, &json!(dummy)), "{}", client.full_name);
        let all = client.get("/users", ()).await.ok();
        let listed = all["members"].as_array().unwrap().iter().find(|user| user["user_id"] == ada.user_id);
        assert_eq!(listed.unwrap()["delivery_email"], real, "{}", client.full_name);
    }
    let by_email = format!("/users/{}", ada.email);
    guest.get(&by_email, ()).await.error(400, "BAD_REQUEST", "No such user");
    owner.get(&by_email, ()).await.ok();

    ada.patch("/settings", json!({"email_address_visibility": 1})).await.ok();
    let shown = update(json!({"user_id": ada.user_id, "new_email": ada.email}));
    of_owner.expect(std::slice::from_ref(&shown)).await;
    own.expect(std::slice::from_ref(&shown)).await;
    of_guest.expect(&[update(json!({"user_id": ada.user_id, "delivery_email": ada.email})), shown]).await;
}

// conformance: setting-15
#[tokio::test]
async fn email_visibility_events_reproduce_state() {
    let server = TestServer::start().await;
    let clients = [server.owner().await, server.moderator("mod").await, server.guest("guest").await];
    let ada = server.member("ada").await;
    let watching: Vec<&Client> = clients.iter().chain([&ada]).collect();
    let change = async |visibility: i64| {
        ada.patch("/settings", json!({"email_address_visibility": visibility})).await.ok();
    };
    server.check_state_sync_after_each(&watching, [2, 5, 4, 3, 1], change).await;
    // The new email is the login: the one who changed it cannot watch.
    let others: Vec<&Client> = clients.iter().collect();
    server
        .check_state_sync(&others, async || {
            ada.patch("/settings", json!({"email": "lovelace@example.com"})).await.ok();
        })
        .await;
}

/// The old password is verified before the change is made, and may have been changed in between.
// conformance: setting-14
#[tokio::test]
async fn a_password_that_was_changed_meanwhile_changes_nothing() {
    let server = TestServer::start().await;
    for (name, change) in [
        ("ada", json!({"new_password": "third password", "old_password": "first password"})),
        ("bob", json!({"email": "mallory@example.com", "old_password": "first password"})),
    ] {
        let user = server.user(name, Role::Member, None, Some("first password")).await;
        let hash = passwords::hash("second password").unwrap();
        let passwords = &server.app().pools.known_passwords;
        let blocked = Blocked::new(server.app(), |app| &app.pools.known_passwords).await;
        let before = passwords.admitted();
        let overtake = async {
            until(|| passwords.admitted() == before + 1).await;
            let id = user.user_id;
            server.sql(&format!("UPDATE user SET password_hash = '{hash}' WHERE user_id = {id}")).await;
            blocked.end().await;
        };
        let (answer, ()) = tokio::join!(user.patch("/settings", change), overtake);
        answer.error(400, "BAD_REQUEST", "Wrong password!");
        let login = json!({"username": user.email, "password": "second password"});
        server.anonymous().post("/fetch_api_key", login).await.ok();
    }
}

// conformance: setting-14
#[tokio::test]
async fn a_password_needs_the_old_one() {
    let server = TestServer::start().await;
    let ada = server.user("ada", Role::Member, None, Some("first password")).await;
    let login = async |password: &str| {
        server
            .anonymous()
            .post("/fetch_api_key", &[("username", "ada@example.com"), ("password", password)])
            .await
    };
    let cases = [
        (json!({"new_password": "second password"}), "Wrong password!"),
        (json!({"new_password": "second password", "old_password": "guess"}), "Wrong password!"),
        (json!({"new_password": "short", "old_password": "first password"}), "New password is too weak!"),
        (
            json!({"new_password": "x".repeat(101), "old_password": "first password"}),
            "New password is too weak!",
        ),
    ];
    for (change, msg) in cases {
        ada.patch("/settings", change).await.error(400, "BAD_REQUEST", msg);
    }
    let change = json!({"new_password": "second password", "old_password": "first password"});
    ada.patch("/settings", change).await.ok();
    login("second password").await.ok();
    login("first password").await.error(
        401,
        "AUTHENTICATION_FAILED",
        "Your username or password is incorrect",
    );
}

// conformance: setting-14
#[tokio::test]
async fn guessing_the_old_password_ends_soon() {
    let server = TestServer::start().await;
    let ada = server.user("ada", Role::Member, None, Some("first password")).await;
    let guess = json!({"new_password": "second password", "old_password": "guess"});
    for _ in 0..5 {
        ada.patch("/settings", &guess).await.error(400, "BAD_REQUEST", "Wrong password!");
    }
    let msg = "You're making too many attempts! Try again in 1800 seconds.";
    ada.patch("/settings", &guess).await.error(400, "BAD_REQUEST", msg);
}

// conformance: setting-19
#[tokio::test]
async fn a_new_email_needs_the_password_that_there_is() {
    let server = TestServer::start().await;
    let ada = server.user("ada", Role::Member, None, Some("first password")).await;
    let change = |password: Option<&str>| {
        let mut change = json!({"email": "lovelace@example.com"});
        if let Some(password) = password {
            change["old_password"] = password.into();
        }
        change
    };
    let missing = ada.patch("/settings", change(None)).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'old_password' argument");
    ada.patch("/settings", change(Some("guess"))).await.error(400, "BAD_REQUEST", "Wrong password!");
    // Unchanged values need no password.
    ada.patch("/settings", json!({"email": "ada@example.com", "full_name": "Ada L."})).await.ok();
    ada.patch("/settings", change(Some("first password"))).await.ok();
    let login = json!({"username": "lovelace@example.com", "password": "first password"});
    server.anonymous().post("/fetch_api_key", login).await.ok();
}

/// A placeholder address cannot be registered by another user.
#[tokio::test]
async fn placeholder_addresses_cannot_be_registered() {
    let server = TestServer::start().await;
    let (owner, ada, eve) = (server.owner().await, server.member("ada").await, server.member("eve").await);
    ada.patch("/settings", json!({"email_address_visibility": 5})).await.ok();
    let stand_in = format!("user{}@bots.invalid", ada.user_id);
    // That of an account to come, too, and in any case.
    for email in [&*stand_in, "user99@bots.invalid", "USER99@bots.invalid"] {
        let taken = "Already has an account.";
        eve.patch("/settings", json!({"email": email})).await.error(400, "BAD_REQUEST", taken);
        let path = format!("/users/{}", eve.user_id);
        let refused = format!("New email value error: {taken}");
        owner.patch(&path, json!({"new_email": email})).await.error(400, "BAD_REQUEST", &refused);
        let new = json!({"email": email, "full_name": "New", "password": "long enough"});
        owner.post("/users", new).await.error(400, "BAD_REQUEST", "Email is already in use.");
    }
    let sent =
        owner.post("/messages", json!({"type": "direct", "to": [stand_in], "content": "for ada"})).await;
    assert_eq!(ada.message(sent.ok()["id"].as_i64().unwrap()).await["content"], "<p>for ada</p>");
}
