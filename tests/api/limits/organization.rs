//! Limits on objects that all clients receive: they bound the answer of `POST /register`.

use super::too_many;
use crate::harness::{Answer, Client, TestServer, pictures};
use reqwest::Method;
use serde_json::json;
use teamchat::commands::{Command, Place, Purge};
use teamchat::domain::limits;
use teamchat::domain::purge::Kind;
use teamchat::domain::subscriptions::members;

/// A kind of object that all clients receive.
struct Shared {
    what: &'static str,
    /// Limit of the members together, and limit of the organization.
    limits: [usize; 2],
    /// Inserts rows made by the user `{user}` from a table `one (number)`.
    fill: &'static str,
    /// Deletes one of them.
    remove: &'static str,
}

const SHARED: [Shared; 4] = [
    Shared {
        what: "channels in the organization",
        limits: [4000, 20_000],
        fill: "INSERT INTO stream (name, name_key, date_created, creator_id)
               SELECT 'c' || number, 'c' || number, 0, {user} FROM one",
        remove: "DELETE FROM stream WHERE name = 'c{number}'",
    },
    Shared {
        what: "custom emoji in the organization",
        limits: [2000, 10_000],
        fill: "INSERT INTO realm_emoji (name, file, is_animated, author_id)
               SELECT 'e' || number, number, 0, {user} FROM one",
        remove: "DELETE FROM realm_emoji WHERE name = 'e{number}'",
    },
    Shared {
        what: "groups in the organization",
        limits: [1000, 5000],
        fill: "INSERT INTO user_group (kind, name, name_key, creator_id)
               SELECT 'named', 'g' || number, 'g' || number, {user} FROM one",
        remove: "DELETE FROM user_group WHERE name = 'g{number}'",
    },
    Shared {
        what: "bots in the organization",
        limits: [5000, 20_000],
        fill: "INSERT INTO user (email, delivery_email, delivery_email_key, full_name, role, bot_type, bot_owner_id,
                   is_active, date_joined)
               SELECT 'b' || number, 'b' || number, 'b' || number, 'b' || number, 400, 1, {user}, 0, 0 FROM one;
               INSERT OR IGNORE INTO bot (user_id, created_by)
               SELECT user_id, bot_owner_id FROM user WHERE bot_owner_id = {user}",
        remove: "DELETE FROM bot WHERE user_id = (SELECT user_id FROM user WHERE email = 'b{number}')",
    },
];

async fn make(client: &Client, what: &str, number: usize) -> Answer {
    let name = format!("new{number}");
    match what.split_once(' ').unwrap().0 {
        "channels" => client.post("/channels/create", json!({"name": name, "subscribers": []})).await,
        "custom" => {
            let request = client.request(Method::POST, &format!("/realm/emoji/{name}"));
            request.multipart((), &[("file", "a.png", &pictures::png(8, 8))]).send().await
        }
        "groups" => {
            let group = json!({"name": name, "description": "", "members": []});
            client.post("/user_groups/create", group).await
        }
        _ => client.post("/bots", json!({"full_name": name, "short_name": name})).await,
    }
}

#[tokio::test]
async fn shared_objects_have_limits_for_members_and_in_total() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    for Shared { what, limits: [members, all], fill, remove } in SHARED {
        // Others created all but one; the caller none.
        let rows = async |from: usize, to: usize, user_id: i64| {
            let numbers = format!("SELECT {from} UNION ALL SELECT number + 1 FROM one WHERE number < {to}");
            let fill = fill.replace("{user}", &user_id.to_string());
            server.sql(&format!("WITH RECURSIVE one (number) AS ({numbers}) {fill}")).await;
        };
        let there = async || -> usize {
            let statement = match what.split_once(' ').unwrap().0 {
                "channels" => "SELECT count(*) FROM stream",
                "custom" => "SELECT count(*) FROM realm_emoji",
                "groups" => "SELECT count(*) FROM user_group WHERE name_key IS NOT NULL",
                _ => "SELECT count(*) FROM bot",
            };
            server.column(statement).await[0].parse().unwrap()
        };
        rows(1, members - 1, bob.user_id).await;
        make(&ada, what, 1).await.ok();
        too_many(&make(&ada, what, 2).await, what, members);
        make(&owner, what, 2).await.ok();
        server.sql(&remove.replace("{number}", "1")).await;
        make(&ada, what, 3).await.ok();
        rows(members, members + all - there().await - 1, owner.user_id).await;
        assert_eq!(there().await, all, "{what}");
        too_many(&make(&owner, what, 4).await, what, all);
        server.sql(&remove.replace("{number}", &members.to_string())).await;
        make(&owner, what, 4).await.ok();
    }
}

/// Members made as many channels as they may but one, with as much text as they may.
#[tokio::test]
async fn state_stays_bounded() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let length = limits::organization::MAX_DESCRIPTIONS / 3999;
    server
        .sql(&format!(
            "INSERT INTO stream (name, name_key, date_created, creator_id, rendered_description)
             WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < 3999)
             SELECT 'c' || number, 'c' || number, 0, {}, replace(hex(zeroblob({})), '0', 'a') FROM one;
             INSERT INTO recipient (stream_id) SELECT stream_id FROM stream",
            bob.user_id,
            length / 2
        ))
        .await;
    let state = ada.post("/register", ()).await.ok();
    assert_eq!(state["never_subscribed"].as_array().unwrap().len(), 3999);
    assert!(state.to_string().len() < 48 << 20);
    let cleo = server.member("cleo").await;
    let new = |text: &str| json!({"name": "new", "description": text, "subscribers": []});
    let msg = "Too much text in descriptions of channels (limit: 16777216 bytes)";
    cleo.post("/channels/create", new(&":tada:".repeat(170))).await.error(400, "BAD_REQUEST", msg);
}

/// The values of permissions are part of each channel.
#[tokio::test]
async fn the_values_of_permissions_have_a_limit() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let channel = json!({"name": "channel", "subscribers": [ada.user_id]});
    let channel = ada.post("/channels/create", channel).await.ok()["id"].clone();
    let limit = limits::organization::MAX_GROUP_MEMBERS_OF_CREATOR;
    // A group of Ada's has nearly as many members as all of hers may have.
    let group = json!({"name": "crowd", "description": "", "members": []});
    let group = ada.post("/user_groups/create", group).await.ok()["group_id"].clone();
    server
        .sql(&format!(
            "INSERT INTO user (email, delivery_email, delivery_email_key, full_name, role, date_joined,
                 is_active)
             WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {limit} - 10)
             SELECT 'p' || number, 'p' || number, 'p' || number, 'p' || number, 400, 0, number < 20 FROM one;
             INSERT INTO user_group_member SELECT {group}, user_id FROM user WHERE email LIKE 'p%'"
        ))
        .await;
    let what = "members of groups and permissions of one creator";
    let some: Vec<i64> = server
        .column("SELECT user_id FROM user WHERE email LIKE 'p%' AND is_active LIMIT 11")
        .await
        .iter()
        .map(|id| id.parse().unwrap())
        .collect();
    let value = json!({"new": {"direct_members": some, "direct_subgroups": []}});
    let path = format!("/streams/{channel}");
    too_many(&ada.patch(&path, json!({"can_send_message_group": value})).await, what, limit);
    let creation = json!({"name": "b", "subscribers": [], "can_send_message_group": value["new"]});
    too_many(&ada.post("/channels/create", &creation).await, what, limit);
    let creation = json!({"name": "c", "description": "", "members": some});
    too_many(&ada.post("/user_groups/create", &creation).await, what, limit);
    too_many(
        &ada.patch(&format!("/user_groups/{group}"), json!({"can_join_group": value})).await,
        what,
        limit,
    );
    let small = json!({"new": {"direct_members": [ada.user_id, bob.user_id], "direct_subgroups": []}});
    ada.patch(&path, json!({"can_send_message_group": small})).await.ok();
    bob.post("/user_groups/create", creation).await.ok();
    owner.patch(&path, json!({"can_send_message_group": value})).await.ok();
}

/// Inclusions of groups are followed to find the groups of each person.
#[tokio::test]
async fn the_inclusions_of_groups_have_a_limit() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let limit = limits::organization::MAX_SUBGROUPS_OF_CREATOR;
    let new = |name: &str, subgroups: &[i64]| json!({"name": name, "description": "", "members": [], "subgroups": subgroups});
    let create = async |name: &str| {
        bob.post("/user_groups/create", new(name, &[])).await.ok()["group_id"].as_i64().unwrap()
    };
    let two = [create("x").await, create("y").await];
    let crowd = ada.post("/user_groups/create", new("crowd", &[])).await.ok()["group_id"].clone();
    server
        .sql(&format!(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {limit})
             INSERT INTO user_group (kind) SELECT 'anonymous' FROM one;
             INSERT INTO user_group_subgroup (group_id, subgroup_id)
             SELECT {crowd}, id FROM user_group WHERE kind = 'anonymous' ORDER BY id DESC LIMIT {limit} - 1"
        ))
        .await;
    let what = "subgroups of groups and permissions of one creator";
    too_many(&ada.post("/user_groups/create", new("both", &two)).await, what, limit);
    let path = format!("/user_groups/{crowd}/subgroups");
    too_many(&ada.post(&path, json!({"add": two})).await, what, limit);
    let value = json!({"direct_members": [], "direct_subgroups": two});
    let channel = json!({"name": "b", "subscribers": [], "can_send_message_group": value});
    too_many(&ada.post("/channels/create", channel).await, what, limit);
    ada.post("/user_groups/create", new("one", &two[..1])).await.ok();
    bob.post("/user_groups/create", new("both", &two)).await.ok();
}

/// Normal texts are far below the limit; texts designed to be long are refused.
#[tokio::test]
async fn the_html_of_a_message_has_a_length() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let channel = server.channel("channel", &[&owner, &ada]).await;
    let to_length = |text: &str| text.repeat(10_000 / text.chars().count());
    let typical = [
        "Some words, **important** ones, and a [link](https://example.com/a/page) :tada: @**Ada**.\n\n",
        "* one\n* two\n* three\n\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
        "```python\ndef add(a, b):\n    return a + b\n```\n\n",
        "é",
    ];
    for text in typical {
        let id = ada.send(channel, "topic", &to_length(text)).await;
        let html = ada.message(id).await["content"].as_str().unwrap().len();
        assert!(html < limits::MAX_RENDERED_LENGTH_OF_MEMBERS * 4 / 5, "{text}: {html}");
    }
    let emoji = |count: usize| json!({"type": "channel", "to": channel, "topic": "topic", "content": "\u{1f600}".repeat(count)});
    ada.post("/messages", emoji(2000)).await.ok();
    ada.post("/messages", emoji(9_900)).await.error(400, "BAD_REQUEST", "Unable to render message");
    owner.post("/messages", emoji(9_900)).await.ok();
}

/// The number of subscriptions that limits compare is the number of rows, whatever changes them.
#[tokio::test]
async fn the_number_of_subscriptions_is_kept() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let check = async |step: &str| {
        let counted = server.app().writer.run(members::count).await.unwrap();
        let rows = server.column("SELECT count(*) FROM subscription WHERE active").await;
        assert_eq!(counted.to_string(), rows[0], "{step}");
    };
    check("at first").await;
    let all = [owner.user_id, ada.user_id, bob.user_id];
    for name in ["a", "b", "c"] {
        ada.post("/channels/create", json!({"name": name, "subscribers": all})).await.ok();
    }
    check("channels were created").await;
    ada.delete("/users/me/subscriptions", json!({"subscriptions": ["a", "b"]})).await.ok();
    check("somebody left").await;
    let again = json!({"subscriptions": [{"name": "a"}, {"name": "c"}, {"name": "d"}]});
    ada.post("/users/me/subscriptions", again).await.ok();
    check("somebody came back").await;
    let refused = json!({"subscriptions": [{"name": "e"}], "principals": [bob.user_id, 999]});
    assert_eq!(ada.post("/users/me/subscriptions", refused).await.status, 400);
    check("a job failed").await;
    owner.delete(&format!("/users/{}", bob.user_id), ()).await.ok();
    check("an account was deactivated").await;
    server.command(Command::SetActive { email: ada.email.clone(), is_active: false }).await;
    let place = Some(Place { kind: Kind::Channels, from: 0 });
    let purge = Purge { email: ada.email.clone(), kinds: vec![Kind::Channels], invited: false, place };
    server.command(Command::Purge(purge)).await;
    check("channels were purged").await;
    assert_eq!(server.column("SELECT count(*) FROM stream WHERE name = 'b'").await, ["0"]);
}
