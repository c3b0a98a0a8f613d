//! Giving bots to other owners: the former owner gets no right of the new owner through the bot.

use super::{bot, client, realm_bots};
use crate::channels::private_channel;
use crate::groups::{direct, group, seen};
use crate::harness::{Answer, Client, START, TestServer};
use serde_json::{Value, json};
use teamchat::commands::Command;
use teamchat::domain::groups::system::SystemGroup;

/// A request with the key of a bot.
struct Right {
    name: &'static str,
    /// Checks the answer for a bot whose owner has the right.
    is_there: fn(&Answer) -> bool,
    /// Asks for it: with the bot, the private channel and the channel for announcements.
    ask: for<'a> fn(&'a Client, [i64; 2]) -> AnswerLater<'a>,
}

type AnswerLater<'a> = std::pin::Pin<Box<dyn Future<Output = Answer> + 'a>>;

fn post(bot: &Client, to: Value) -> impl Future<Output = Answer> {
    bot.post("/messages", json!({"type": "channel", "to": to, "topic": "t", "content": "hello"}))
}

fn is_ok(answer: &Answer) -> bool {
    answer.status == 200
}

/// Everything that a bot may do because its owner may.
const RIGHTS: &[Right] = &[
    Right {
        name: "sees the names of the owner's private channels",
        is_there: |answer| {
            let streams = answer.json["streams"].as_array();
            streams.is_some_and(|streams| streams.iter().any(|stream| stream["name"] == "layoffs"))
        },
        ask: |bot, _| {
            let filter = json!({"include_owner_subscribed": true, "include_public": false});
            Box::pin(bot.get("/streams", filter))
        },
    },
    Right {
        name: "posts into the owner's private channels, by id",
        is_there: is_ok,
        ask: |bot, [private, _]| Box::pin(post(bot, json!(private))),
    },
    Right {
        name: "posts into the owner's private channels, by name",
        is_there: is_ok,
        ask: |bot, _| Box::pin(post(bot, json!("layoffs"))),
    },
    Right {
        name: "posts where the owner may",
        is_there: is_ok,
        ask: |bot, [_, announcements]| Box::pin(post(bot, json!(announcements))),
    },
];

#[tokio::test]
async fn former_owners_keep_no_access_through_a_bot() {
    let server = TestServer::start().await;
    let (olga, eve) = (server.owner().await, server.member("eve").await);
    let layoffs = server.private_channel("layoffs", &[&olga]).await;
    let announcements = server.channel("announcements", &[&olga, &eve]).await;
    let only_owners = json!({"can_send_message_group": {"new": SystemGroup::Owners.id()}});
    olga.patch(&format!("/streams/{announcements}"), only_owners).await.ok();
    let made = eve.post("/bots", json!({"full_name": "Helper", "short_name": "helper"})).await.ok();
    let seen = client(&server, &eve, &made).await;
    let mut of_bot = seen.register(()).await;
    let channels = [layoffs, announcements];

    for right in RIGHTS {
        let answer = (right.ask)(&seen, channels).await;
        assert!(!(right.is_there)(&answer), "before, it {}", right.name);
    }
    let mut of_eve = eve.register(json!({"event_types": ["realm_bot"]})).await;
    let waiting = of_bot.waiting_poll().await;
    let given = eve.patch(&format!("/bots/{}", seen.user_id), json!({"bot_owner_id": olga.user_id})).await;
    assert_eq!(given.ok().get("api_key"), None);
    for right in RIGHTS {
        let answer = (right.ask)(&seen, channels).await;
        assert!(!(right.is_there)(&answer), "with the key that Eve knows, it {}", right.name);
        answer.error(401, "UNAUTHORIZED", "Invalid API key");
    }

    // The one who has the right has it by the new key.
    let path = format!("/bots/{}/api_key", seen.user_id);
    let mut of_olga = seen.clone();
    of_olga.api_key = Some(olga.get(&path, ()).await.ok()["api_key"].as_str().unwrap().to_owned());
    for right in RIGHTS {
        let answer = (right.ask)(&of_olga, channels).await;
        assert!((right.is_there)(&answer), "with the new key, it {}: {}", right.name, answer.json);
    }

    // Eve does not receive the new key, and her open requests end.
    drop(waiting.await);
    let ended = format!("Bad event queue ID: {}", of_bot.queue_id);
    of_olga.get("/events", of_bot.poll(true)).await.error(400, "BAD_EVENT_QUEUE_ID", &ended);
    of_bot.ignore();
    of_eve.expect(&[json!({"type": "realm_bot", "op": "delete", "bot": {"user_id": seen.user_id}})]).await;
    assert_eq!(realm_bots(&eve).await, [] as [Value; 0]);
    assert_eq!(eve.get("/bots", ()).await.ok()["bots"], json!([]));
    let refused = [
        eve.get(&path, ()).await,
        eve.post(&format!("{path}/regenerate"), ()).await,
        eve.patch(&format!("/bots/{}", seen.user_id), json!({"bot_owner_id": eve.user_id})).await,
    ];
    for answer in refused {
        answer.error(400, "BAD_REQUEST", "Insufficient permission");
    }
}

async fn give(by: &Client, bot: i64, to: &Client) {
    by.patch(&format!("/bots/{bot}"), json!({"bot_owner_id": to.user_id})).await.ok();
}

#[tokio::test]
async fn bots_leave_private_channels_in_a_handover() {
    let server = TestServer::start().await;
    let (olga, eve, cleo) = (server.owner().await, server.member("eve").await, server.member("cleo").await);
    let helper = server.bot("helper", &eve).await;
    let of_eve = server.private_channel("plans", &[&eve, &helper]).await;
    let shared = server.private_channel("shared", &[&eve, &olga, &helper]).await;
    let public = server.channel("public", &[&eve, &helper]).await;
    let secret = eve.send(of_eve, "t", "for the old owner").await;
    let reminder = json!({"message_id": secret, "scheduled_delivery_timestamp": START + 3600});
    helper.post("/reminders", reminder).await.ok();
    let members = async |stream_id: i64| eve.get(&format!("/streams/{stream_id}/members"), ()).await.ok();
    let mut of_others = eve.register(json!({"event_types": ["subscription"]})).await;
    server
        .check_state_sync(&[&olga, &eve, &cleo], async || {
            give(&eve, helper.user_id, &olga).await;
        })
        .await;
    let event = json!({"type": "subscription", "op": "peer_remove", "stream_ids": [of_eve],
        "user_ids": [helper.user_id]});
    of_others.expect(&[event]).await;
    assert_eq!(members(of_eve).await["subscribers"], json!([eve.user_id]));
    for stream_id in [shared, public] {
        let subscribers = members(stream_id).await["subscribers"].clone();
        assert!(subscribers.as_array().unwrap().contains(&json!(helper.user_id)), "{stream_id}");
    }
    let mut now = helper.clone();
    let key = olga.get(&format!("/bots/{}/api_key", helper.user_id), ()).await.ok()["api_key"].clone();
    now.api_key = Some(key.as_str().unwrap().to_owned());
    let answer = now.get(&format!("/messages/{secret}"), ()).await;
    answer.error(400, "BAD_REQUEST", "Invalid message(s)");
    // Reminders quote their messages.
    assert_eq!(now.get("/reminders", ()).await.ok()["reminders"], json!([]));
    let text = "@_**Eve|5** gave you the bot @_**Helper|7**. It has a new API key, which its previous owner does not \
        know. Programs that use the bot need the new key. The bot was unsubscribed from private channels that you are not subscribed to.";
    assert_eq!(olga.notices().await.last().map(String::as_str), Some(text));
    assert_eq!(eve.notices().await, [""; 0]);
}

/// By a group or permission, the bot could join private channels again, or administer them.
#[tokio::test]
async fn bots_leave_groups_and_permissions_in_a_handover() {
    let server = TestServer::start().await;
    let (eve, bob, guest) =
        (server.member("eve").await, server.member("bob").await, server.guest("guest").await);
    let helper = server.bot("helper", &eve).await;
    let crew = group(&eve, "crew", &[&eve, &helper]).await;
    let old = group(&eve, "old", &[&helper]).await;
    eve.post(&format!("/user_groups/{old}/deactivate"), ()).await.ok();
    let shared = group(&eve, "shared", &[&eve, &bob, &helper]).await;
    let (plans, closed) = (private_channel(&eve, "plans").await, private_channel(&eve, "closed").await);
    let may_subscribe = json!({"can_subscribe_group": {"new": direct(&[&eve, &helper], &[])}});
    eve.patch(&format!("/streams/{plans}"), may_subscribe).await.ok();
    let may_administer = json!({"can_administer_channel_group": {"new": direct(&[&eve], &[crew])}});
    eve.patch(&format!("/streams/{closed}"), may_administer).await.ok();
    let may_manage = json!({"can_manage_group": {"new": direct(&[&bob, &helper], &[])}});
    eve.patch(&format!("/user_groups/{shared}"), may_manage).await.ok();

    server
        .check_state_sync(&[&eve, &bob, &guest], async || {
            give(&eve, helper.user_id, &bob).await;
        })
        .await;
    assert_eq!(seen(&eve, crew).await["members"], json!([eve.user_id]));
    assert_eq!(seen(&eve, old).await["members"], json!([]));
    // Bob is in these too.
    let shared = seen(&eve, shared).await;
    assert_eq!(shared["members"], json!([eve.user_id, bob.user_id, helper.user_id]));
    assert_eq!(shared["can_manage_group"], direct(&[&bob, &helper], &[]));
    let channel = eve.get(&format!("/streams/{plans}"), ()).await.ok()["stream"].clone();
    assert_eq!(channel["can_subscribe_group"], direct(&[&eve], &[]));
    let key = bob.get(&format!("/bots/{}/api_key", helper.user_id), ()).await.ok()["api_key"].clone();
    let of_bob = helper.with_key(key.as_str().unwrap());
    for name in ["plans", "closed"] {
        let msg = format!("Unable to access channel ({name}).");
        let join = json!({"subscriptions": [{"name": name}]});
        of_bob.post("/users/me/subscriptions", join).await.error(400, "BAD_REQUEST", &msg);
    }
    let describe = json!({"description": "taken"});
    of_bob.patch(&format!("/streams/{closed}"), describe).await.error(
        400,
        "BAD_REQUEST",
        "Invalid channel ID",
    );
    let notice = bob.notices().await.pop().unwrap();
    assert!(
        notice.ends_with(" The bot was removed from groups and permissions that you are not in."),
        "{notice}"
    );
}

#[tokio::test]
async fn bot_handovers_are_emitted_to_both_owners() {
    let server = TestServer::start().await;
    let (olga, eve, bob) = (server.owner().await, server.member("eve").await, server.member("bob").await);
    let id = bot(&eve, "Helper").await;
    // Another administrator gives it away.
    give(&olga, id, &bob).await;
    let given = "@_**Owner|4** gave you the bot @_**Helper|7**. It has a new API key, which its previous owner does \
        not know. Programs that use the bot need the new key.";
    assert_eq!(bob.notices().await.last().map(String::as_str), Some(given));
    let taken =
        "@_**Owner|4** gave your bot @_**Helper|7** to @_**Bob|6**. Its previous API key no longer works.";
    assert_eq!(eve.notices().await.last().map(String::as_str), Some(taken));
    // A user who takes a bot gets no notice.
    give(&olga, id, &olga).await;
    assert_eq!(olga.notices().await, [""; 0]);
    let taken =
        "@_**Owner|4** gave your bot @_**Helper|7** to @_**Owner|4**. Its previous API key no longer works.";
    assert_eq!(bob.notices().await.last().map(String::as_str), Some(taken));
}

#[tokio::test]
async fn scheduled_messages_of_a_bot_end_with_its_owner() {
    let server = TestServer::start().await;
    let (olga, eve) = (server.owner().await, server.member("eve").await);
    let general = server.channel("general", &[&olga, &eve]).await;
    let helper = server.bot("helper", &eve).await;
    let later = json!({"type": "channel", "to": general, "topic": "t", "content": "later",
        "scheduled_delivery_timestamp": START + 3600});
    helper.post("/scheduled_messages", later).await.ok();
    give(&eve, helper.user_id, &olga).await;
    // By then only owners may post there.
    let only_owners = json!({"can_send_message_group": {"new": SystemGroup::Owners.id()}});
    olga.patch(&format!("/streams/{general}"), only_owners).await.ok();
    let mut queue = olga.register(json!({"event_types": ["message"]})).await;
    server.clock.advance(3600);
    server.deliver_due().await;
    queue.expect_nothing().await;
    let notice = olga.notices().await.pop().unwrap();
    assert!(notice.ends_with(" The scheduled messages of the bot were cancelled."), "{notice}");
}

#[tokio::test]
async fn the_server_of_an_outgoing_webhook_is_asked_nothing_for_a_new_owner() {
    let server = TestServer::start().await;
    let (olga, eve, bob) = (server.owner().await, server.member("eve").await, server.member("bob").await);
    let params =
        json!({"full_name": "Out", "short_name": "out", "bot_type": 3, "payload_url": "http://a.example/"});
    let id = eve.post("/bots", params).await.ok()["user_id"].as_i64().unwrap();
    let token = realm_bots(&eve).await[0]["services"][0]["token"].clone();
    let path = format!("/bots/{id}");
    let mut of_olga = olga.register(json!({"event_types": ["realm_bot"]})).await;
    // Values that the former owner sets in the same request are removed too.
    let both = json!({"bot_owner_id": bob.user_id, "service_payload_url": "http://b.example/"});
    eve.patch(&path, both).await.ok();
    let service = realm_bots(&bob).await[0]["services"][0].clone();
    assert_eq!((&service["base_url"], &service["interface"]), (&json!(""), &json!(1)));
    assert_ne!(service["token"], token);
    let key = bob.get(&format!("{path}/api_key"), ()).await.ok()["api_key"].clone();
    let event = |name: &str, value: Value| json!({"type": "realm_bot", "op": "update", "bot": {"user_id": id, name: value}});
    let url = json!([{"base_url": "http://b.example/", "interface": 1, "token": token}]);
    of_olga
        .expect(&[
            event("services", url),
            event("owner_id", json!(bob.user_id)),
            event("api_key", key),
            event("services", json!([service])),
        ])
        .await;
    bob.patch(&path, json!({"service_payload_url": "http://c.example/"})).await.ok();
    assert_eq!(realm_bots(&bob).await[0]["services"][0]["base_url"], "http://c.example/");
    of_olga.ignore();
}

/// Operations of administrators on the bot of an owner: `true` if they give no right of the owner.
const ON_OWNERS_BOT: &[(&str, bool)] = &[
    ("key", false),
    ("regenerate", false),
    ("bot_owner_id", false),
    ("service_payload_url", false),
    ("config_data", false),
    ("default_sending_stream", false),
    ("default_events_register_stream", false),
    ("default_all_public_streams", false),
    ("full_name", true),
    ("role", true),
    ("deactivate", true),
    ("reactivate", true),
];

#[tokio::test]
async fn administrators_get_no_credential_of_the_bot_of_an_owner() {
    let server = TestServer::start().await;
    let (olga, alan) = (server.owner().await, server.administrator("alan").await);
    server.channel("general", &[&olga, &alan]).await;
    let params =
        json!({"full_name": "Out", "short_name": "out", "bot_type": 3, "payload_url": "http://a.example/"});
    let id = olga.post("/bots", params).await.ok()["user_id"].as_i64().unwrap();
    let path = format!("/bots/{id}");
    let mut of_alan = alan.register(json!({"event_types": ["realm_bot"]})).await;
    for (what, is_allowed) in ON_OWNERS_BOT {
        let answer = match *what {
            "key" => alan.get(&format!("{path}/api_key"), ()).await,
            "regenerate" => alan.post(&format!("{path}/api_key/regenerate"), ()).await,
            "deactivate" => alan.delete(&path, ()).await,
            "reactivate" => alan.post(&format!("/users/{id}/reactivate"), ()).await,
            name => {
                let value = match name {
                    "bot_owner_id" => json!(alan.user_id),
                    "service_payload_url" => json!("http://b.example/"),
                    "config_data" => json!({"a": "b"}),
                    "default_all_public_streams" => json!(true),
                    "full_name" => json!("Other"),
                    "role" => json!(600),
                    _ => json!("general"),
                };
                alan.patch(&path, json!({name: value})).await
            }
        };
        if *is_allowed {
            answer.ok();
        } else {
            answer.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
        }
    }
    // He does not receive a new one either, here or by an event.
    olga.post(&format!("{path}/api_key/regenerate"), ()).await.ok();
    let record = realm_bots(&alan).await.remove(0);
    assert_eq!(record.get("api_key"), None);
    let hidden = json!([{"base_url": "http://a.example/", "interface": 1, "token": ""}]);
    assert_eq!(record["services"], hidden);
    for event in of_alan.take().await {
        assert_eq!(event["bot"].get("api_key"), None, "{event}");
    }
    // The bot does not pass to him with the deactivation of the owner.
    let other = server.user("other", teamchat::types::Role::Owner, None, None).await;
    let orphan = bot(&other, "Orphan").await;
    olga.delete(&format!("/users/{}", other.user_id), ()).await.ok();
    let paths = [format!("/users/{orphan}/reactivate"), format!("/bots/{orphan}/api_key/regenerate")];
    for path in paths {
        alan.post(&path, ()).await.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
    }
    of_alan.ignore();
}

#[tokio::test]
async fn keys_follow_changes_of_owners() {
    let server = TestServer::start().await;
    let (olga, alan) = (server.owner().await, server.administrator("alan").await);
    let (eve, anna) = (server.member("eve").await, server.administrator("anna").await);
    let params =
        json!({"full_name": "Out", "short_name": "out", "bot_type": 3, "payload_url": "http://a.example/"});
    let id = eve.post("/bots", params).await.ok()["user_id"].as_i64().unwrap();
    let of_anna = bot(&anna, "Annas").await;
    let has_key = async |who: &Client| realm_bots(who).await[0].get("api_key").is_some();
    let watching = [&olga, &alan, &eve, &anna];
    assert!(has_key(&alan).await);
    server
        .check_state_sync(&watching, async || {
            give(&eve, id, &olga).await;
        })
        .await;
    assert!(!has_key(&alan).await && has_key(&olga).await);
    server
        .check_state_sync(&watching, async || {
            give(&olga, id, &eve).await;
            give(&anna, of_anna, &olga).await;
            give(&olga, of_anna, &anna).await;
        })
        .await;
    assert!(has_key(&alan).await && has_key(&eve).await);
    for (who, roles) in [(&eve, [100, 400, 200, 600]), (&anna, [100, 400, 100, 200])] {
        let change = async |role: i64| {
            olga.patch(&format!("/users/{}", who.user_id), json!({"role": role})).await.ok();
        };
        server.check_state_sync_after_each(&watching, roles, change).await;
    }
}

#[tokio::test]
async fn bots_count_for_their_creator_after_a_handover() {
    let server = TestServer::start().await;
    let (eve, bob) = (server.member("eve").await, server.member("bob").await);
    let limit = teamchat::domain::limits::MAX_BOTS_OF_OWNER;
    let id = bot(&eve, "Given").await;
    give(&eve, id, &bob).await;
    server
        .sql(&format!(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {})
             INSERT INTO user (email, delivery_email, delivery_email_key, full_name, role, bot_type, bot_owner_id,
                 date_joined)
             SELECT 'b' || number, 'b' || number, 'b' || number, 'b' || number, 400, 1, {}, 0 FROM one;
             INSERT INTO bot (user_id, created_by) SELECT user_id, {} FROM user WHERE email LIKE 'b%' AND bot_type = 1
                 AND user_id NOT IN (SELECT user_id FROM bot)",
            limit - 1,
            bob.user_id,
            eve.user_id
        ))
        .await;
    let another = json!({"full_name": "Another", "short_name": "another"});
    let msg = format!("Too many bots (limit: {limit})");
    eve.post("/bots", &another).await.error(400, "BAD_REQUEST", &msg);
    bob.post("/bots", &another).await.ok();
}

#[tokio::test]
async fn reactivated_bots_get_a_new_key() {
    let server = TestServer::start().await;
    let (olga, eve) = (server.owner().await, server.member("eve").await);
    let helper = server.bot("helper", &eve).await;
    olga.delete(&format!("/bots/{}", helper.user_id), ()).await.ok();
    olga.post(&format!("/users/{}/reactivate", helper.user_id), ()).await.ok();
    helper.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
    let text = "@_**Owner|4** reactivated your bot @_**Helper|6**. It has a new API key.";
    assert_eq!(eve.notices().await.last().map(String::as_str), Some(text));
    eve.delete(&format!("/bots/{}", helper.user_id), ()).await.ok();
    let before = eve.get(&format!("/bots/{}/api_key", helper.user_id), ()).await.ok()["api_key"].clone();
    let email = helper.email.clone();
    server.command(Command::SetActive { email, is_active: true }).await;
    assert_ne!(eve.get(&format!("/bots/{}/api_key", helper.user_id), ()).await.ok()["api_key"], before);
    let text = "The operator of this server reactivated your bot @_**Helper|6**. It has a new API key.";
    assert_eq!(eve.notices().await.last().map(String::as_str), Some(text));
}
