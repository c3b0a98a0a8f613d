//! `DELETE /users/{user_id}`, `DELETE /users/me` and `POST /users/{user_id}/reactivate`.

use crate::harness::{Client, TestServer, overtaken};
use crate::messages::bounds::count_steps;
use futures_util::FutureExt;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;
use teamchat::commands::{self, Command};
use teamchat::types::Role;

fn path(user: &Client) -> String {
    format!("/users/{}", user.user_id)
}

fn reactivate(user: &Client) -> String {
    format!("/users/{}/reactivate", user.user_id)
}

fn activity(user: &Client, is_active: bool) -> Value {
    let person = json!({"user_id": user.user_id, "is_active": is_active});
    json!({"type": "realm_user", "op": "update", "person": person})
}

// conformance: user-25, user-26
#[tokio::test]
async fn a_deactivated_user_is_out_everywhere() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.user("ada", Role::Member, None, Some("password")).await;
    let bot = server.bot("helper", &ada).await;
    let general = server.channel("general", &[&owner, &ada, &bot]).await;
    owner.send(general, "greetings", "hello").await;
    let types = json!({"event_types": ["realm_user", "subscription", "message"]});
    let mut queue = owner.register(types).await;
    let mut own = ada.register(()).await;
    let farewell = json!({"deactivation_notification_comment": "Farewell!"});
    // The text of a mail, which this server does not send.
    owner.delete(&path(&ada), farewell).await.ok();
    let left = |user: &Client| json!({"type": "subscription", "op": "peer_remove", "stream_ids": [general], "user_ids": [user.user_id]});
    queue.expect(&[left(&bot), activity(&bot, false), left(&ada), activity(&ada, false)]).await;

    let out = "Account is deactivated";
    for client in [&ada, &bot] {
        client.get("/users/me", ()).await.error(401, "UNAUTHORIZED", out);
    }
    let login = &[("username", "ada@example.com"), ("password", "password")];
    server.anonymous().post("/fetch_api_key", login).await.error(401, "USER_DEACTIVATED", out);
    let found = owner.get(&path(&ada), ()).await.ok();
    assert_eq!(found["user"]["is_active"], false);
    let subscribers = owner.get(&format!("/streams/{general}/members"), ()).await.ok();
    assert_eq!(subscribers["subscribers"], json!([owner.user_id]));
    let direct = json!({"type": "direct", "to": [ada.user_id], "content": "still there?"});
    let msg = "'Ada' is no longer using this organization.";
    owner.post("/messages", direct).await.error(400, "BAD_REQUEST", msg);
    owner.send(general, "greetings", "are you there?").await;
    queue.expect_kinds(&["message"]).await;

    // The queue ends with the deactivation, and is not restored.
    owner.post(&reactivate(&ada), ()).await.ok();
    queue.ignore();
    // Its keys are not restored either.
    ada.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
    server.anonymous().post("/fetch_api_key", login).await.ok();
    server.restore_key(&ada).await;
    let msg = format!("Bad event queue ID: {}", own.queue_id);
    ada.get("/events", own.poll(true)).await.error(400, "BAD_EVENT_QUEUE_ID", &msg);
    own.ignore();
}

/// Each bot may be in hundreds of channels.
#[tokio::test]
async fn bots_are_deactivated_before_their_owner_in_several_jobs() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let mut bots = Vec::new();
    for name in ["first", "second", "third"] {
        bots.push(server.bot(name, &ada).await);
    }
    let mut queue = owner.register(json!({"event_types": ["realm_user"]})).await;
    let background = server.app().writer.background();
    background.set_limit(Duration::ZERO);
    // A deactivation that has begun is completed, also while the server stops.
    background.stop();
    ada.delete("/users/me", ()).await.ok();
    let figures = background.figures()["deactivate"];
    assert_eq!((figures.jobs, figures.most_steps), (4, 1));
    let expected: Vec<Value> = bots.iter().chain([&ada]).map(|user| activity(user, false)).collect();
    queue.expect(&expected).await;
}

/// So they are by commands on the machine.
#[tokio::test]
async fn commands_deactivate_bots_before_their_owner_in_several_jobs() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let background = server.app().writer.background();
    background.set_limit(Duration::ZERO);
    for (name, delete, jobs) in [("ada", false, 3), ("bob", true, 6)] {
        let user = server.member(name).await;
        let bots = [
            server.bot(&format!("{name}-first"), &user).await,
            server.bot(&format!("{name}-second"), &user).await,
        ];
        let mut queue = owner.register(json!({"event_types": ["realm_user"]})).await;
        let email = user.email.clone();
        let command = if delete {
            Command::DeleteUser { email }
        } else {
            Command::SetActive { email, is_active: false }
        };
        server.command(command).await;
        let figures = background.figures()["deactivate"];
        assert_eq!((figures.jobs, figures.most_steps), (jobs, 1), "{name}");
        let mut events = queue.events().await;
        events.retain(|event| event["person"].get("is_active").is_some());
        let left: Vec<_> = events.iter().map(|event| event["person"]["user_id"].clone()).collect();
        assert_eq!(left, [json!(bots[0].user_id), json!(bots[1].user_id), json!(user.user_id)]);
    }
}

#[tokio::test]
async fn channels_that_a_deactivated_user_leaves_share_an_event() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let first = server.channel("first", &[&ada]).await;
    let second = server.channel("second", &[&ada, &bob]).await;
    // Cleo does not see the private one.
    server.member("cleo").await;
    let private = json!({"subscriptions": [{"name": "secret"}], "invite_only": true, "principals": [ada.user_id, bob.user_id]});
    ada.post("/users/me/subscriptions", private).await.ok();
    let secret = server.column("SELECT stream_id FROM stream WHERE name = 'secret'").await;
    let secret: i64 = secret[0].parse().unwrap();
    let types = json!({"event_types": ["subscription"]});
    let (mut of_bob, mut of_owner) = (bob.register(&types).await, owner.register(&types).await);
    owner.delete(&path(&ada), ()).await.ok();
    let left = |channels: &[i64]| json!({"type": "subscription", "op": "peer_remove", "stream_ids": channels, "user_ids": [ada.user_id]});
    of_bob.expect(&[left(&[first, second]), left(&[secret])]).await;
    of_owner.expect_kinds(&["subscription/peer_remove"; 2]).await;
}

// conformance: user-27
#[tokio::test]
async fn a_poll_that_waits_ends_with_the_account() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let queue = ada.register(json!({"event_types": ["message"]})).await;
    let waiting = queue.waiting_poll().await;
    owner.delete(&path(&ada), ()).await.ok();
    // Later requests get the reason; this one was admitted while the account was active.
    assert_eq!(waiting.await.ok()["events"], json!([]));
    let out = "Account is deactivated";
    ada.get("/events", queue.poll(false)).await.error(401, "UNAUTHORIZED", out);
}

#[tokio::test]
async fn a_deactivation_goes_on_without_its_caller() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bot = server.bot("helper", &ada).await;
    let types = json!({"event_types": ["message"]});
    let (of_bot, of_ada) = (bot.register(&types).await, ada.register(&types).await);
    let (first, second) = (of_bot.waiting_poll().await, of_ada.waiting_poll().await);
    // The bot is deactivated in the first job, and its owner in a follow-up job.
    server.app().writer.background().set_limit(Duration::ZERO);
    let command = Command::SetActive { email: ada.email.clone(), is_active: false };
    drop(commands::run(server.app(), command).now_or_never());
    assert_eq!(first.await.ok()["events"], json!([]));
    assert_eq!(second.await.ok()["events"], json!([]));
    for client in [&ada, &bot] {
        client.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Account is deactivated");
    }
}

// conformance: user-28
#[tokio::test]
async fn deactivation_permissions() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let bot = server.bot("helper", &ada).await;
    let cases = [
        (&ada, path(&bob), "BAD_REQUEST", "Insufficient permission"),
        (&ada, path(&ada), "BAD_REQUEST", "Insufficient permission"),
        (&admin, path(&owner), "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner"),
        (&owner, path(&owner), "BAD_REQUEST", "Cannot deactivate the only organization owner"),
        (&owner, path(&bot), "BAD_REQUEST", "No such user"),
        (&owner, "/users/9999".into(), "BAD_REQUEST", "No such user"),
    ];
    for (caller, path, code, msg) in cases {
        caller.delete(&path, ()).await.error(400, code, msg);
    }
    admin.delete(&path(&bob), ()).await.ok();
    admin.delete(&path(&bob), ()).await.error(400, "BAD_REQUEST", "User is deactivated");
    admin.delete("/users/bob@example.com", ()).await.error(400, "BAD_REQUEST", "user_id is not valid JSON");
}

// conformance: user-29
#[tokio::test]
async fn the_last_user_cannot_be_deactivated() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let alone = owner.delete("/users/me", ()).await;
    let error = alone.error(400, "CANNOT_DEACTIVATE_LAST_USER", "Cannot deactivate the only user.");
    assert_eq!((&error["is_last_owner"], &error["entity"]), (&json!(false), &json!("user")));
    let ada = server.member("ada").await;
    let msg = "Cannot deactivate the only organization owner.";
    let error = owner.delete("/users/me", ()).await.error(400, "CANNOT_DEACTIVATE_LAST_USER", msg);
    assert_eq!((&error["is_last_owner"], &error["entity"]), (&json!(true), &json!("organization owner")));

    let mut queue = owner.register(json!({"event_types": ["realm_user"]})).await;
    ada.delete("/users/me", ()).await.ok();
    queue.expect(&[activity(&ada, false)]).await;
    ada.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Account is deactivated");
}

// conformance: user-43
#[tokio::test]
async fn messages_during_a_deactivation_are_not_received() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let vault = server.private_channel("vault", &[&owner, &ada]).await;
    let before = owner.send(vault, "plans", "before").await;
    owner.delete(&path(&ada), ()).await.ok();
    let meanwhile = owner.send(vault, "plans", "about ada").await;
    owner.post(&reactivate(&ada), ()).await.ok();
    let after = owner.send(vault, "plans", "after").await;
    // Messages that were moved there in the meantime are not received either.
    let garden = server.channel("garden", &[&owner, &ada]).await;
    let known = owner.send(garden, "plans", "known").await;
    owner.delete(&path(&ada), ()).await.ok();
    let unknown = owner.send(garden, "plans", "unknown").await;
    let to =
        json!({"stream_id": vault, "propagate_mode": "change_all", "send_notification_to_new_thread": false});
    owner.patch(&format!("/messages/{known}"), to).await.ok();
    owner.post(&reactivate(&ada), ()).await.ok();
    server.restore_key(&ada).await;
    ada.get(&format!("/messages/{unknown}"), ()).await.error(400, "BAD_REQUEST", "Invalid message(s)");

    let all = json!({"anchor": "newest", "num_before": 10, "num_after": 0, "narrow": [["channel", "vault"]]});
    let answer = ada.get("/messages", all).await.ok();
    let ids: Vec<_> = answer["messages"].as_array().unwrap().iter().map(|message| &message["id"]).collect();
    assert_eq!(ids, [before, after, known]);
    ada.get(&format!("/messages/{meanwhile}"), ()).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    let mut queue = ada.register(json!({"event_types": ["update_message"]})).await;
    owner.patch(&format!("/messages/{meanwhile}"), json!({"content": "still about ada"})).await.ok();
    queue.expect_nothing().await;

    // No messages were sent in between, so there is a single span of received messages.
    owner.delete(&path(&ada), ()).await.ok();
    owner.post(&reactivate(&ada), ()).await.ok();
    let count = "SELECT count(*) FROM subscription_span";
    let spans = format!("{count} WHERE user_id = {} AND stream_id = {vault}", ada.user_id);
    assert_eq!(server.column(&spans).await, ["3"]);
}

// conformance: user-30
#[tokio::test]
async fn reactivation_restores_the_account() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let bot = server.bot("helper", &ada).await;
    let general = server.channel("general", &[&owner, &ada, &bot]).await;
    ada.post(&reactivate(&bot), ()).await.ok();
    owner.delete(&path(&ada), ()).await.ok();
    let mut queue = owner.register(()).await;

    owner.post(&reactivate(&ada), ()).await.ok();
    let consent = json!({"type": "realm_export_consent", "user_id": ada.user_id, "consented": false});
    let group = |group_id: i64, user: &Client| json!({"type": "user_group", "op": "add_members", "group_id": group_id, "user_ids": [user.user_id]});
    let joined = |user: &Client| json!({"type": "subscription", "op": "peer_add", "stream_ids": [general], "user_ids": [user.user_id]});
    queue.expect(&[activity(&ada, true), consent, group(5, &ada), group(6, &ada), joined(&ada)]).await;
    server.restore_key(&ada).await;
    ada.send(general, "greetings", "here I am").await;
    queue.expect_kinds(&["message", "stream/update"]).await;
    bot.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Account is deactivated");
    owner.post(&reactivate(&bot), ()).await.ok();
    let administered = |name: &str, value: Value| json!({"type": "realm_bot", "op": "update", "bot": {"user_id": bot.user_id, name: value}});
    let back = [activity(&bot, true), administered("is_active", json!(true))];
    let key = async || {
        let key = owner.get(&format!("/bots/{}/api_key", bot.user_id), ()).await.ok()["api_key"].clone();
        administered("api_key", key)
    };
    let groups = [group(5, &bot), group(6, &bot), joined(&bot)];
    queue.expect(&[&back[..], &groups, &[key().await]].concat()).await;
    // Reactivating an active user changes nothing.
    owner.post(&reactivate(&ada), ()).await.ok();
    queue.expect_nothing().await;

    // A bot of a deactivated owner goes to the user who reactivates it.
    owner.delete(&path(&ada), ()).await.ok();
    queue.events().await;
    owner.post(&reactivate(&bot), ()).await.ok();
    let person = json!({"user_id": bot.user_id, "bot_owner_id": owner.user_id});
    let of_owner = json!({"type": "realm_user", "op": "update", "person": person});
    let of_owner = [administered("owner_id", json!(owner.user_id)), key().await, of_owner];
    queue.expect(&[&back[..], &groups, &of_owner].concat()).await;
}

// conformance: user-31
#[tokio::test]
async fn reactivation_permissions() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    owner.delete(&path(&bob), ()).await.ok();
    ada.post(&reactivate(&bob), ()).await.error(400, "BAD_REQUEST", "Insufficient permission");
    owner.post("/users/9999/reactivate", ()).await.error(400, "BAD_REQUEST", "No such user");
    server.set_realm_setting("require_unique_names", json!(true)).await;
    ada.patch("/settings", json!({"full_name": "Bob"})).await.ok();
    let msg = "Unique names required in this organization.";
    owner.post(&reactivate(&bob), ()).await.error(400, "BAD_REQUEST", msg);
    ada.patch("/settings", json!({"full_name": "Ada"})).await.ok();
    owner.post(&reactivate(&bob), ()).await.ok();

    // Owners are reactivated by owners, and cannot be demoted in the meantime.
    let (alan, olga) =
        (server.administrator("alan").await, server.user("olga", Role::Owner, None, None).await);
    owner.delete(&path(&olga), ()).await.ok();
    let refused =
        [alan.post(&reactivate(&olga), ()).await, alan.patch(&path(&olga), json!({"role": 400})).await];
    for answer in refused {
        answer.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
    }
    let msg = "User not authorized to change user emails";
    alan.patch(&path(&olga), json!({"new_email": "mine@example.com"})).await.error(400, "BAD_REQUEST", msg);
    alan.post(&format!("{}/password_reset", path(&olga)), ()).await.error(
        400,
        "BAD_REQUEST",
        "User is deactivated",
    );
    owner.post(&reactivate(&olga), ()).await.ok();
}

/// A link to set a password that was made before, too.
#[tokio::test]
async fn credentials_end_with_a_reactivation() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let link = owner.post(&format!("{}/password_reset", path(&ada)), ()).await.ok();
    assert_eq!(server.column("SELECT count(*) FROM password_reset").await, ["1"], "{link}");
    for by_operator in [false, true] {
        owner.delete(&path(&ada), ()).await.ok();
        if by_operator {
            let email = ada.email.clone();
            server.command(Command::SetActive { email, is_active: true }).await;
        } else {
            owner.post(&reactivate(&ada), ()).await.ok();
        }
        ada.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
        assert_eq!(server.column("SELECT count(*) FROM password_reset").await, ["0"]);
        server.restore_key(&ada).await;
        let newest = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "apply_markdown": false});
        let who = if by_operator { "The operator of this server" } else { "@_**Owner|4**" };
        let text =
            format!("{who} reactivated your account. Earlier sessions and API keys do not work any more.");
        assert_eq!(ada.get("/messages", newest).await.ok()["messages"][0]["content"], text);
    }
}

// conformance: user-32
#[tokio::test]
async fn scheduled_messages_of_deactivated_users_are_not_sent() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let general = server.channel("general", &[&owner, &ada]).await;
    let due = crate::harness::START + 60;
    let message = json!({
        "type": "channel", "to": general, "topic": "later", "content": "hello",
        "scheduled_delivery_timestamp": due,
    });
    ada.post("/scheduled_messages", message).await.ok();
    owner.delete(&path(&ada), ()).await.ok();
    let mut queue = owner.register(json!({"event_types": ["message"]})).await;
    server.clock.advance(61);
    server.deliver_due().await;
    queue.expect_nothing().await;
    owner.post(&reactivate(&ada), ()).await.ok();
    server.restore_key(&ada).await;
    let waiting = ada.get("/scheduled_messages", ()).await.ok();
    assert_eq!(waiting["scheduled_messages"][0]["failed"], true);
}

// conformance: user-33
#[tokio::test]
async fn deactivation_events_reproduce_state() {
    let server = TestServer::start().await;
    let (owner, ada, guest) = (server.owner().await, server.member("ada").await, server.guest("guest").await);
    let bob = server.member("bob").await;
    let bot = server.bot("helper", &ada).await;
    let general = server.channel("general", &[&ada, &bot, &guest, &bob]).await;
    server.private_channel("secret", &[&ada, &bob]).await;
    let named = json!({"direct_members": [ada.user_id, bob.user_id], "direct_subgroups": []});
    let setting = json!({"can_send_message_group": {"new": named}});
    owner.patch(&format!("/streams/{general}"), setting).await.ok();
    let watching = [&owner, &bob, &guest];
    server
        .check_state_sync(&watching, async || {
            owner.delete(&path(&ada), ()).await.ok();
        })
        .await;
    server
        .check_state_sync(&watching, async || {
            owner.post(&reactivate(&ada), ()).await.ok();
            owner.post(&reactivate(&bot), ()).await.ok();
        })
        .await;
}

/// The users of the organization are loaded once, and not for each channel and each setting that names the user.
#[tokio::test]
async fn a_reactivation_does_not_load_all_users_for_each_channel() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    server.crowd(400).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    server.channel("general", &[&owner, &bob]).await;
    for number in 0..20 {
        let id = server.channel(&format!("channel {number}"), &[&owner, &ada]).await;
        let new = json!({"direct_members": [owner.user_id, ada.user_id], "direct_subgroups": []});
        let setting = json!({"can_administer_channel_group": {"new": new}});
        owner.patch(&format!("/streams/{id}"), setting).await.ok();
    }
    let counter = count_steps(&server).await;
    let steps = async |user: &Client| {
        owner.delete(&path(user), ()).await.ok();
        counter.store(0, Ordering::Relaxed);
        owner.post(&reactivate(user), ()).await.ok();
        counter.load(Ordering::Relaxed)
    };
    let (of_one, of_many) = (steps(&bob).await, steps(&ada).await);
    // All users take some thousand steps, and a channel or a setting some hundred.
    assert!(of_many < of_one + 40 * 1_500, "{of_many} steps with twenty channels, {of_one} with one");
}

/// A setting that is replaced while one of its users is deactivated does not return to them.
#[tokio::test]
async fn a_permission_that_was_taken_meanwhile_does_not_come_back() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let secret = server.private_channel("secret", &[&owner]).await;
    let set = async |members: &[i64]| {
        let new = json!({"direct_members": members, "direct_subgroups": []});
        let setting = json!({"can_subscribe_group": {"new": new}});
        owner.patch(&format!("/streams/{secret}"), setting).await.ok();
    };
    set(&[ada.user_id]).await;
    ada.get(&format!("/streams/{secret}"), ()).await.ok();
    owner.delete(&path(&ada), ()).await.ok();
    set(&[]).await;
    owner.post(&reactivate(&ada), ()).await.ok();
    server.restore_key(&ada).await;
    ada.get(&format!("/streams/{secret}"), ()).await.error(400, "BAD_REQUEST", "Invalid channel ID");
}

/// A job that was authenticated before a change, and runs after it: also in the same group, whose rows no one else sees.
#[tokio::test(flavor = "multi_thread")]
async fn requests_that_wait_for_a_change_of_their_account_are_refused() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let admin = server.administrator("admin").await;
    let eve = server.member("eve").await;
    let waiting = async |statement: String, client: &Client, (path, body): (&str, Value)| {
        overtaken(server.app(), &statement, client.post(path, body)).await
    };
    let snippet = || ("/saved_snippets", json!({"title": "a", "content": "b"}));
    let off = format!("UPDATE user SET is_active = 0 WHERE user_id = {}", ada.user_id);
    waiting(off, &ada, snippet()).await.error(401, "UNAUTHORIZED", "Account is deactivated");
    let revoked = format!("DELETE FROM api_key WHERE user_id = {}", bob.user_id);
    waiting(revoked, &bob, snippet()).await.error(401, "UNAUTHORIZED", "Invalid API key");
    let demoted = format!("UPDATE user SET role = 400 WHERE user_id = {}", admin.user_id);
    let emoji = (
        "/realm/playgrounds",
        json!({"name": "a", "pygments_language": "b", "url_template": "https://c.example/{code}"}),
    );
    let msg = "Must be an organization administrator";
    waiting(demoted, &admin, emoji).await.error(400, "UNAUTHORIZED_PRINCIPAL", msg);
    let unrelated = "UPDATE stream SET description = description".to_owned();
    waiting(unrelated, &eve, snippet()).await.ok();
    let closed = "UPDATE realm SET deactivated = 1".to_owned();
    let msg = "This organization has been deactivated";
    waiting(closed, &eve, snippet()).await.error(401, "UNAUTHORIZED", msg);
    assert_eq!(server.column("SELECT count(*) FROM saved_snippet").await, ["1"]);
    assert_eq!(server.column("SELECT count(*) FROM code_playground").await, ["0"]);
}
