//! `PATCH /users/{user_id}`: roles.

use crate::background_jobs::server_in_steps;
use crate::harness::{Client, TestServer, crash_between_jobs, interrupt};
use serde_json::{Value, json};
use teamchat::app::Options;
use teamchat::commands::Command;
use teamchat::types::Role;

fn path(user: &Client) -> String {
    format!("/users/{}", user.user_id)
}

fn members(op: &str, group_id: i64, user: &Client) -> Value {
    json!({"type": "user_group", "op": op, "group_id": group_id, "user_ids": [user.user_id]})
}

// conformance: role-2, role-3
#[tokio::test]
async fn roles_are_emitted_with_their_groups() {
    let server = TestServer::start().await;
    let (owner, ada, guest) = (server.owner().await, server.member("ada").await, server.guest("guest").await);
    let mut queue = guest.register(json!({"event_types": ["realm_user", "user_group"]})).await;
    owner.patch(&path(&ada), json!({"role": 300})).await.ok();
    let role = json!({"type": "realm_user", "op": "update", "person": {"user_id": ada.user_id, "role": 300}});
    let groups = [
        members("remove_members", 5, &ada),
        members("remove_members", 6, &ada),
        members("add_members", 4, &ada),
    ];
    queue.expect(&[[role].as_slice(), &groups].concat()).await;
    owner.patch(&path(&ada), json!({"role": 300})).await.ok();
    queue.expect_nothing().await;
    assert_eq!(ada.get("/users/me", ()).await.ok()["role"], 300);
}

/// A change by another user is reported; one's own is not.
#[tokio::test]
async fn role_changes_are_reported_to_the_user() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let bot = server.bot("helper", &ada).await;
    owner.patch(&path(&ada), json!({"role": 100})).await.ok();
    owner.patch(&path(&ada), json!({"role": 100})).await.ok();
    ada.patch(&path(&ada), json!({"role": 200})).await.ok();
    let email = ada.email.clone();
    server.command(Command::SetRole { email, role: Role::Guest }).await;
    let expected = [
        "@_**Owner|4** changed your role from **Member** to **Owner**. From now on, only owners can read the keys of your \
            bots. Administrators may know the earlier keys: regenerate them if in doubt.",
        "The operator of this server changed your role from **Administrator** to **Guest**.",
    ];
    assert_eq!(ada.notices().await, expected);
    assert_eq!([owner.notices().await, bot.notices().await].concat(), [""; 0]);
}

// conformance: role-1, role-4, role-5, role-6, role-7
#[tokio::test]
async fn roles_are_refused_as_published() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let only = "The owner permission cannot be removed from the only organization owner.";
    let cases = [
        (&admin, &owner, 400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner"),
        (&admin, &ada, 100, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner"),
        (&owner, &owner, 200, "BAD_REQUEST", only),
        (&owner, &guest, 200, "BAD_REQUEST", "Guests cannot be organization administrators"),
        (&admin, &ada, 401, "BAD_REQUEST", "Invalid role"),
        (&ada, &guest, 400, "BAD_REQUEST", "Insufficient permission"),
    ];
    for (caller, user, role, code, msg) in cases {
        caller.patch(&path(user), json!({"role": role})).await.error(400, code, msg);
    }
    owner.patch(&path(&ada), json!({"role": 100})).await.ok();
    owner.patch(&path(&owner), json!({"role": 200})).await.ok();
    assert_eq!(owner.get("/users/me", ()).await.ok()["role"], 200);
    let bot = server.bot("helper", &ada).await;
    admin.patch(&path(&bot), json!({"role": 600})).await.ok();
}

// conformance: role-9
#[tokio::test]
async fn the_state_follows_each_role() {
    let server = TestServer::start().await;
    let (owner, ada, guest) = (server.owner().await, server.member("ada").await, server.guest("guest").await);
    let hidden = server.member("hidden").await;
    hidden.patch("/settings", json!({"email_address_visibility": 3})).await.ok();
    server.channel("general", &[&ada, &guest]).await;
    server.channel("elsewhere", &[&hidden]).await;
    server.private_channel("secret", &[&hidden]).await;
    server.sql("INSERT INTO default_stream (stream_id) SELECT min(stream_id) FROM stream").await;
    let watching = [&owner, &ada, &hidden, &guest];
    let roles = [200, 300, 600, 400, 100, 400];
    let change = async |role: i64| {
        owner.patch(&path(&ada), json!({"role": role})).await.ok();
    };
    server.check_state_sync_after_each(&watching, roles, change).await;
}

/// The roles of a user's bots.
async fn roles_of_bots(server: &TestServer, owner: &Client) -> Vec<String> {
    let query = format!("SELECT role FROM user WHERE bot_owner_id = {} ORDER BY user_id", owner.user_id);
    server.column(&query).await
}

/// The bots of a new guest become guests one after another, so that other changes do not wait for all of them.
#[tokio::test]
async fn many_bots_become_guests_in_several_jobs() {
    let mut server = server_in_steps(Options::default()).await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    for name in ["one", "two", "three"] {
        server.bot(name, &ada).await;
    }
    server
        .check_state_sync(&[&owner, &ada, &bob], async || {
            owner.patch(&path(&ada), json!({"role": 600})).await.ok();
            while server.count("follow_up").await != "0" {}
            server.sql("").await;
        })
        .await;
    assert_eq!(roles_of_bots(&server, &ada).await, ["600", "600", "600"]);
    assert_eq!(server.app().writer.background().figures()["bots_of_guest"].most_steps, 1);

    // A crash does not end it.
    server.sql("UPDATE user SET role = 400 WHERE role = 600").await;
    let account = path(&ada);
    let demoted = owner.patch(&account, json!({"role": 600}));
    Box::pin(crash_between_jobs(&mut server, demoted)).await.ok();
    assert_eq!(roles_of_bots(&server, &ada).await, ["600", "600", "600"]);
}

#[tokio::test]
async fn bots_stay_members_if_their_owner_is_one_again() {
    let server = server_in_steps(Options::default()).await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    for name in ["one", "two"] {
        server.bot(name, &ada).await;
    }
    let account = path(&ada);
    let change = |role: i64| owner.patch(&account, json!({"role": role}));
    let again = async {
        change(400).await.ok();
    };
    Box::pin(interrupt(&server, change(600), again)).await.ok();
    // The first job changed the first bot.
    assert_eq!(roles_of_bots(&server, &ada).await, ["600", "400"]);
}

/// A bot whose job has not come yet could otherwise read for the guest, who has its key.
#[tokio::test]
async fn bots_of_a_new_guest_have_the_rights_of_guests_at_once() {
    let server = server_in_steps(Options::default()).await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner]).await;
    let first = owner.send(garden, "lunch", "one").await;
    let second = owner.send(garden, "lunch", "two").await;
    server.bot("one", &ada).await;
    let two = server.bot("two", &ada).await;
    let react =
        async |id: i64| two.post(&format!("/messages/{id}/reactions"), json!({"emoji_name": "tada"})).await;
    react(first).await.ok();
    let account = path(&ada);
    let demoted = owner.patch(&account, json!({"role": 600}));
    let meanwhile = async {
        react(second).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    };
    Box::pin(interrupt(&server, demoted, meanwhile)).await.ok();
    assert_eq!(roles_of_bots(&server, &ada).await, ["600", "600"]);
}
