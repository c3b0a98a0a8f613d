//! Limits of one account: for each, the last allowed value and the first refused one.

mod accounts;
mod conversations;
mod lists;
mod moves;
mod notices;
mod organization;
mod permissions;
mod receipts;
mod texts;

use crate::harness::{Answer, Client, START, TestServer};
use serde_json::{Value, json};
use teamchat::domain::limits;

/// A limit on the objects of a user: the test inserts rows up to the limit minus one, then the request succeeds once.
struct Owned {
    what: &'static str,
    limit: usize,
    /// Inserts rows for the user `{user}` from a table `one (number)`.
    fill: &'static str,
    request: fn(u32) -> (&'static str, Value),
}

/// The id of the first person of an organization, after the server's own bots.
const ADA: i64 = 4;

const OWNED: &[Owned] = &[
    Owned {
        what: "alert words",
        limit: limits::MAX_ALERT_WORDS,
        fill: "INSERT INTO alert_word (user_id, word, word_key) SELECT {user}, number, number FROM one",
        request: |number| ("/users/me/alert_words", json!({"alert_words": [format!("word {number}")]})),
    },
    Owned {
        what: "drafts",
        limit: limits::MAX_DRAFTS,
        fill: "INSERT INTO draft (user_id, topic, content, last_edit_time) SELECT {user}, '', number, 0 FROM one",
        request: |_| {
            ("/drafts", json!({"drafts": [{"type": "", "to": [], "topic": "", "content": "Hello"}]}))
        },
    },
    Owned {
        what: "saved snippets",
        limit: limits::MAX_SAVED_SNIPPETS,
        fill: "INSERT INTO saved_snippet (user_id, title, content, date_created)
               SELECT {user}, number, number, 0 FROM one",
        request: |_| ("/saved_snippets", json!({"title": "Hi", "content": "Hello"})),
    },
    Owned {
        what: "scheduled messages",
        limit: limits::MAX_SCHEDULED_MESSAGES,
        fill: "INSERT INTO scheduled_message (sender_id, user_ids, topic, content, rendered_content,
                   scheduled_delivery_timestamp, client, read_by_sender, origin)
               SELECT {user}, '[{user}]', '', 'c', 'c', 1900000000, 'x', 1, '' FROM one",
        request: |_| {
            let at = START + 3600;
            ("/scheduled_messages",
                json!({"type": "direct", "to": [ADA], "content": "c", "scheduled_delivery_timestamp": at}))
        },
    },
    Owned {
        what: "reminders",
        limit: limits::MAX_REMINDERS,
        fill: "INSERT INTO reminder (user_id, message_id, note, content, rendered_content,
                   scheduled_delivery_timestamp, origin) SELECT {user}, 1, '', 'c', 'c', 1900000000, '' FROM one",
        request: |_| ("/reminders", json!({"message_id": 1, "scheduled_delivery_timestamp": START + 3600})),
    },
    Owned {
        what: "navigation views",
        limit: limits::MAX_NAVIGATION_VIEWS,
        fill: "INSERT INTO navigation_view (user_id, fragment, is_pinned, name)
               SELECT {user}, number, 0, number FROM one",
        request: |number| {
            let name = format!("view {number}");
            ("/navigation_views", json!({"fragment": name, "is_pinned": true, "name": name}))
        },
    },
    Owned {
        what: "topic policies",
        limit: limits::MAX_USER_TOPICS,
        fill: "INSERT INTO user_topic (user_id, stream_id, name_key, topic_name, visibility_policy, last_updated)
               SELECT {user}, 1, number, number, 1, 0 FROM one",
        request: |number| {
            ("/user_topics", json!({"stream_id": 1, "topic": format!("topic {number}"), "visibility_policy": 1}))
        },
    },
    Owned {
        what: "groups of one creator",
        limit: limits::MAX_GROUPS_OF_CREATOR,
        fill: "INSERT INTO user_group (kind, name, name_key, creator_id)
               SELECT 'named', 'g' || number, 'g' || number, {user} FROM one",
        request: |number| {
            let name = format!("group {number}");
            ("/user_groups/create", json!({"name": name, "description": "", "members": []}))
        },
    },
    Owned {
        what: "channels of one creator",
        limit: limits::MAX_CHANNELS_OF_CREATOR,
        fill: "INSERT INTO stream (name, name_key, date_created, creator_id)
               SELECT 'c' || number, 'c' || number, 0, {user} FROM one",
        request: |number| {
            ("/channels/create", json!({"name": format!("channel {number}"), "subscribers": []}))
        },
    },
    Owned {
        what: "bots",
        limit: limits::MAX_BOTS_OF_OWNER,
        fill: "INSERT INTO user (email, delivery_email, delivery_email_key, full_name, role, bot_type, bot_owner_id,
                   date_joined)
               SELECT 'b' || number, 'b' || number, 'b' || number, 'b' || number, 400, 1, {user}, 0 FROM one;
               INSERT OR IGNORE INTO bot (user_id, created_by) SELECT user_id, bot_owner_id FROM user WHERE bot_type = 1
                   AND bot_owner_id = {user}",
        request: |number| {
            let name = format!("robot{number}");
            ("/bots", json!({"full_name": name, "short_name": name}))
        },
    },
];

#[tokio::test]
async fn owned_objects_of_a_user_are_limited() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    assert_eq!(ada.user_id, ADA);
    let channel = server.channel("channel", &[&ada]).await;
    assert_eq!((channel, ada.send(channel, "topic", "hello").await), (1, 1));
    for owned in OWNED {
        let count = owned.limit - 1;
        let fill = owned.fill.replace("{user}", &ada.user_id.to_string());
        let numbers = format!("SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {count}");
        server.sql(&format!("WITH RECURSIVE one (number) AS ({numbers}) {fill}")).await;
        let (path, parameters) = (owned.request)(1);
        let there = if owned.what == "topic policies" {
            // Sending has made one.
            "DELETE FROM user_topic WHERE name_key = 'topic'"
        } else {
            ""
        };
        server.sql(there).await;
        ada.post(path, parameters).await.ok();
        let (path, parameters) = (owned.request)(2);
        too_many(&ada.post(path, parameters).await, owned.what, owned.limit);
    }
}

fn too_many(answer: &Answer, what: &str, limit: usize) {
    let msg = format!("Too many {what} (limit: {limit})");
    assert_eq!((answer.status, &answer["code"], &answer["msg"]), (400, &json!("BAD_REQUEST"), &json!(msg)));
}

async fn subscribe(client: &Client, count: usize, principals: Option<Vec<i64>>) -> Answer {
    let channels: Vec<Value> = (0..count).map(|number| json!({"name": format!("c{number}")})).collect();
    let mut parameters = json!({"subscriptions": channels});
    if let Some(principals) = principals {
        parameters["principals"] = json!(principals);
    }
    client.post("/users/me/subscriptions", parameters).await
}

#[tokio::test]
async fn items_in_one_request_are_limited() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let channels = limits::MAX_CHANNELS_PER_REQUEST;
    too_many(&subscribe(&ada, channels + 1, None).await, "channels in one request", channels);
    assert_eq!(server.column("SELECT count(*) FROM stream").await, ["0"]);
    let what = "subscriptions in one request";
    let limit = limits::MAX_SUBSCRIPTIONS_PER_REQUEST_OF_MEMBER;
    let users = vec![ada.user_id; limit / 100 + 1];
    too_many(&subscribe(&ada, 100, Some(users.clone())).await, what, limit);
    let names = vec!["c0"; 100];
    let parameters = json!({"subscriptions": names, "principals": users});
    too_many(&ada.delete("/users/me/subscriptions", parameters).await, what, limit);
    let parameters = json!({"name": "c0", "subscribers": vec![ada.user_id; limit + 1]});
    too_many(&ada.post("/channels/create", parameters).await, what, limit);
    subscribe(&ada, channels, None).await.ok();
    let names: Vec<String> = (0..=channels).map(|number| format!("c{number}")).collect();
    let leave = ada.delete("/users/me/subscriptions", json!({"subscriptions": names})).await;
    too_many(&leave, "channels in one request", channels);

    let emails = |count: usize| {
        let emails: Vec<String> = (0..count).map(|number| format!("p{number}@example.com")).collect();
        json!({"invitee_emails": emails.join(","), "stream_ids": []})
    };
    let limit = limits::MAX_EMAILS_PER_REQUEST;
    let refused = ada.post("/invites", emails(limit + 1)).await;
    refused.error(400, "BAD_REQUEST", &format!("Too many email addresses (limit: {limit})"));
    for _ in 0..limits::MAX_INVITES / limit {
        ada.post("/invites", emails(limit)).await.ok();
    }
    let limit = limits::MAX_INVITES;
    let msg = format!("You have too many invitations (limit: {limit}). Revoke some of them first.");
    ada.post("/invites", emails(1)).await.error(400, "BAD_REQUEST", &msg);

    let members = vec![ada.user_id; limits::MAX_GROUP_MEMBERS_PER_REQUEST_OF_MEMBER + 1];
    let refused =
        ada.post("/user_groups/create", json!({"name": "a", "description": "", "members": members})).await;
    too_many(&refused, "members in one request", limits::MAX_GROUP_MEMBERS_PER_REQUEST_OF_MEMBER);

    let narrow = vec![json!({"operator": "is", "operand": "starred"}); limits::MAX_NARROW_TERMS + 1];
    let fetch =
        |narrow: &[Value]| json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": narrow});
    let refused = ada.get("/messages", fetch(&narrow)).await;
    refused.error(400, "BAD_REQUEST", "narrow is too long (limit: 100 terms)");
    ada.get("/messages", fetch(&narrow[1..])).await.ok();

    let length = limits::MAX_NAVIGATION_VIEW_LENGTH;
    let long = json!({"fragment": "x".repeat(length + 1), "is_pinned": true, "name": "x"});
    let msg = format!("fragment is too long (limit: {length} characters)");
    ada.post("/navigation_views", long).await.error(400, "BAD_REQUEST", &msg);
}

#[tokio::test]
async fn the_submessages_of_a_message_have_limits() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let id = ada.send_direct(&[&bob], "/poll What?\nthis").await;
    let vote = |id: i64, key: &str| {
        let content = json!({"type": "vote", "key": key, "vote": 1}).to_string();
        json!({"message_id": id, "msg_type": "widget", "content": content})
    };
    let length = limits::MAX_SUBMESSAGE_LENGTH;
    let msg = format!("content is too long (limit: {length} characters)");
    bob.post("/submessage", vote(id, &"x".repeat(length))).await.error(400, "BAD_REQUEST", &msg);
    let fill = |id: i64, count: usize, user: &Client, length: usize| {
        format!(
            "INSERT INTO submessage (message_id, sender_id, msg_type, content)
             WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {count})
             SELECT {id}, {}, 'widget', '{}' FROM one",
            user.user_id,
            "x".repeat(length)
        )
    };
    let limit = limits::MAX_SUBMESSAGES_OF_SENDER;
    server.sql(&fill(id, limit - 1, &bob, 1)).await;
    bob.post("/submessage", vote(id, "1,1")).await.ok();
    too_many(&bob.post("/submessage", vote(id, "1,1")).await, "submessages", limit);
    let limit = limits::MAX_SUBMESSAGES_LENGTH_OF_SENDER;
    let eve = server.member("eve").await;
    let id = ada.send_direct(&[&bob, &eve], "/poll What?\nthis").await;
    server.sql(&fill(id, limit / 1000, &eve, 1000)).await;
    too_many(&eve.post("/submessage", vote(id, "1,1")).await, "submessages", limit);
    bob.post("/submessage", vote(id, "1,1")).await.ok();
    let limit = limits::MAX_SUBMESSAGES_LENGTH;
    server.sql(&fill(id, limit / 1000, &eve, 1000)).await;
    too_many(&bob.post("/submessage", vote(id, "1,1")).await, "submessages", limit);
}

#[tokio::test]
async fn topics_are_not_followed_beyond_the_limit() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let channel = server.channel("channel", &[&ada]).await;
    let limit = limits::MAX_USER_TOPICS_BY_THEMSELVES;
    server
        .sql(&format!(
            "INSERT INTO user_topic (user_id, stream_id, name_key, topic_name, visibility_policy, last_updated)
             WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {limit})
             SELECT {}, {channel}, number, number, 3, 0 FROM one",
            ada.user_id
        ))
        .await;
    ada.send(channel, "new", "hello").await;
    assert_eq!(server.column("SELECT count(*) FROM user_topic").await, [limit.to_string()]);
    // Users whose policies were filled by mentions can still choose their own.
    ada.post("/user_topics", json!({"stream_id": channel, "topic": "mine", "visibility_policy": 3}))
        .await
        .ok();
}

#[tokio::test]
async fn the_newest_topics_are_shown() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let channel = server.channel("channel", &[&ada]).await;
    let first = ada.send(channel, "first", "hello").await;
    let count = limits::MAX_SHOWN_TOPICS;
    server
        .sql(&format!(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {count})
             INSERT INTO topic (stream_id, name_key) SELECT {channel}, 't' || number FROM one;
             INSERT INTO message (recipient_id, topic_id, subject, sender_id, client_id, timestamp, content,
                 html, rendered_version, attributes)
             SELECT recipient_id, topic.topic_id, name_key, sender_id, client_id, timestamp, content, html,
                 rendered_version, attributes FROM message JOIN topic ON name_key <> 'first'
             WHERE id = {first} ORDER BY topic.topic_id;"
        ))
        .await;
    let topics = ada.get(&format!("/users/me/{channel}/topics"), ()).await.ok();
    let topics = topics["topics"].as_array().unwrap();
    assert_eq!((topics.len(), &topics[0]["name"]), (count, &json!(format!("t{count}"))));
    assert!(topics.iter().all(|topic| topic["name"] != "first"));
}

#[tokio::test]
async fn the_newest_messages_that_link_to_a_file_are_shown() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let files = [("file", "a.txt", b"hello".as_slice())];
    let made = ada.request(reqwest::Method::POST, "/user_uploads").multipart((), &files).send().await.ok();
    let link = format!("[a]({})", made["url"].as_str().unwrap());
    let first = ada.send_direct(&[&ada], &link).await;
    let count = limits::MAX_SHOWN_LINKING_MESSAGES;
    server.add_copies(first, count).await;
    server
        .sql(
            "INSERT OR IGNORE INTO attachment_message (attachment_id, message_id)
             SELECT attachment_id, message.id FROM attachment_message CROSS JOIN message",
        )
        .await;
    let attachments = ada.get("/attachments", ()).await.ok();
    let messages = attachments["attachments"][0]["messages"].as_array().unwrap();
    let ids: Vec<i64> = messages.iter().map(|message| message["id"].as_i64().unwrap()).collect();
    assert_eq!((ids.len(), ids[0]), (count as usize, first + 1));
    assert!(ids.is_sorted());
}

/// The parameters with a text of some length, about a message.
type Form = fn(&str, i64) -> Value;

/// The lengths are those that requests are held against: the last that is kept as it is, and the first that is not.
// conformance: conv-39
#[tokio::test]
async fn announced_lengths_are_enforced() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let channel = server.channel("channel", &[&owner]).await;
    let message_id = owner.send(channel, "topic", "hello").await;
    let state = owner.post("/register", json!({"fetch_event_types": ["realm"]})).await.ok();
    let announced = |name: &str| usize::try_from(state[name].as_i64().unwrap()).unwrap();
    let later = START + 3600;
    let requests: [(&str, usize, &str, Form, &str); 5] = [
        (
            "max_stream_name_length",
            60,
            "/channels/create",
            |text, _| json!({"name": text, "subscribers": []}),
            "Channel name too long (limit: 60 characters).",
        ),
        (
            "max_stream_description_length",
            1024,
            "/channels/create",
            |text, _| json!({"name": "described", "description": text, "subscribers": []}),
            "description is too long (limit: 1024 characters)",
        ),
        (
            "max_channel_folder_name_length",
            60,
            "/channel_folders/create",
            |text, _| json!({"name": text, "description": ""}),
            "name is too long (limit: 60 characters)",
        ),
        (
            "max_channel_folder_description_length",
            1024,
            "/channel_folders/create",
            |text, _| json!({"name": "Described", "description": text}),
            "description is too long (limit: 1024 characters)",
        ),
        (
            "max_reminder_note_length",
            1000,
            "/reminders",
            |text, message_id| json!({"message_id": message_id, "note": text}),
            "Maximum reminder note length: 1000 characters",
        ),
    ];
    for (name, published, path, form, msg) in requests {
        assert_eq!(announced(name), published, "{name}");
        let request = |length: usize| {
            let mut form = form(&"é".repeat(length), message_id);
            if path == "/reminders" {
                form["scheduled_delivery_timestamp"] = later.into();
            }
            form
        };
        owner.post(path, request(published + 1)).await.error(400, "BAD_REQUEST", msg);
        owner.post(path, request(published)).await.ok();
    }
    // These are shortened.
    for (name, published, ending) in
        [("max_topic_length", 60, "..."), ("max_message_length", 10_000, "\n[message truncated]")]
    {
        assert_eq!(announced(name), published, "{name}");
        for length in [published, published + 1] {
            let (long, field) = ("é".repeat(length), if published == 60 { "topic" } else { "content" });
            let mut message = json!({"type": "channel", "to": channel, "topic": "topic", "content": "hello"});
            message[field] = json!(long);
            let id = owner.post("/messages", message).await.ok()["id"].clone();
            let found = owner.get(&format!("/messages/{id}"), ()).await.ok();
            let kept = if published == 60 { &found["message"]["subject"] } else { &found["raw_content"] };
            let short = "é".repeat(published - ending.chars().count()) + ending;
            assert_eq!(*kept, if length == published { long } else { short }, "{name}");
        }
    }
    // These are bytes.
    for (name, path) in [
        ("max_avatar_file_size_mib", "/users/me/avatar"),
        ("max_icon_file_size_mib", "/realm/icon"),
        ("max_logo_file_size_mib", "/realm/logo"),
    ] {
        assert_eq!(announced(name), 5, "{name}");
        let picture = crate::harness::pictures::png(8, 8);
        for (length, fits) in [(5 << 20, true), ((5 << 20) + 1, false)] {
            // Data after the last chunk of a PNG is not part of the image.
            let mut file = picture.clone();
            file.resize(length, 0);
            let request = owner.request(reqwest::Method::POST, path);
            let answer =
                request.multipart(json!({"night": false}), &[("file", "picture.png", &file)]).send().await;
            assert_eq!(answer.status == 200, fits, "{name}: {answer}");
        }
    }
}

/// The times are those that requests are held against; some are for clients alone.
// conformance: conv-39
#[tokio::test]
async fn announced_times_are_enforced() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let (garden, shed) = (server.channel("garden", &[&ada]).await, server.channel("shed", &[&ada]).await);
    let state = ada.post("/register", json!({"fetch_event_types": ["realm"]})).await.ok();
    for (name, published) in [
        ("event_queue_longpoll_timeout_seconds", 90),
        ("server_presence_ping_interval_seconds", 60),
        ("server_presence_offline_threshold_seconds", 200),
        ("server_typing_started_expiry_period_milliseconds", 45_000),
        ("server_typing_started_wait_period_milliseconds", 30_000),
        ("server_typing_stopped_wait_period_milliseconds", 12_000),
    ] {
        assert_eq!(state[name], published, "{name}");
    }
    let day = 24 * 60 * 60;
    let message = async || ada.send(garden, "plans", "hello").await;
    let path = |id: i64| format!("/messages/{id}");
    // An edit that was begun in time may take twenty seconds more.
    for (name, published, grace, change, msg) in [
        (
            "realm_message_content_edit_limit_seconds",
            600,
            20,
            Some(json!({"content": "changed"})),
            "The time limit for editing this message has passed",
        ),
        (
            "realm_message_content_delete_limit_seconds",
            600,
            0,
            None,
            "The time limit for deleting this message has passed",
        ),
        (
            "realm_move_messages_within_stream_limit_seconds",
            7 * day,
            20,
            Some(json!({"topic": "others"})),
            "The time limit for editing this message's topic has passed.",
        ),
        (
            "realm_move_messages_between_streams_limit_seconds",
            7 * day,
            20,
            Some(json!({"stream_id": shed})),
            "The time limit for editing this message's channel has passed",
        ),
    ] {
        assert_eq!(state[name], published, "{name}");
        for (age, fits) in [(published, true), (published + grace + 1, false)] {
            let id = message().await;
            server.clock.advance(age);
            let answer = match &change {
                Some(change) => ada.patch(&path(id), change).await,
                None => ada.delete(&path(id), ()).await,
            };
            if fits {
                answer.ok();
            } else {
                answer.error(400, "BAD_REQUEST", msg);
            }
        }
    }
}

/// JSON takes many times its length in memory, and who is written to is looked up.
// conformance: flag-54
#[tokio::test]
async fn a_request_has_a_limited_number_of_values() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let people = |count: usize| vec![ada.user_id; count];
    let send = |count: usize| json!({"type": "direct", "to": people(count), "content": "Hi"});
    ada.post("/messages", send(limits::MAX_RECIPIENTS)).await.ok();
    let (what, limit) = ("recipients", limits::MAX_RECIPIENTS);
    too_many(&ada.post("/messages", send(limit + 1)).await, what, limit);
    let emails = vec![ada.email.as_str(); limit + 1].join(",");
    let by_email = json!({"type": "direct", "to": emails, "content": "Hi"});
    too_many(&ada.post("/messages", by_email).await, what, limit);
    let typing = json!({"op": "start", "to": people(limit + 1)});
    too_many(&ada.post("/typing", typing).await, what, limit);
    let draft = json!({"type": "private", "to": people(limit + 1), "topic": "", "content": "Hi"});
    too_many(&ada.post("/drafts", json!({"drafts": [draft]})).await, what, limit);
    too_many(&ada.post("/messages", send(10_001)).await, "values in to", 10_000);
    let flags = |count: usize| json!({"op": "add", "flag": "read", "messages": vec![9_999; count]});
    ada.post("/messages/flags", flags(5000)).await.ok();
    let many = "Too many messages requested (maximum 5000).";
    ada.post("/messages/flags", flags(5001)).await.error(400, "BAD_REQUEST", many);
    too_many(&ada.post("/messages/flags", flags(100_001)).await, "values in messages", 100_000);
}

/// All of them get late receipts, those that were moved to the channel and the others.
#[tokio::test]
async fn old_messages_are_starred_together() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let bob = server.member("bob").await;
    let garden = server.channel("garden", &[&owner]).await;
    let shed = server.channel("shed", &[&owner, &bob]).await;
    let mut ids = Vec::new();
    for number in 0..6 {
        ids.push(owner.send(if number < 4 { garden } else { shed }, "topic", "x").await);
    }
    owner
        .patch(&format!("/messages/{}", ids[0]), json!({"stream_id": shed, "propagate_mode": "change_all"}))
        .await
        .ok();
    let starred = vec![ids[5], ids[0], ids[4], ids[2]];
    let add = json!({"messages": starred, "op": "add", "flag": "starred"});
    let mut changed = starred.clone();
    changed.sort_unstable();
    assert_eq!(ada.post("/messages/flags", add).await.ok()["messages"], json!(changed));
    for id in &ids {
        let expected = if changed.contains(id) {
            json!(["read", "starred", "historical"])
        } else {
            json!(["read", "historical"])
        };
        assert_eq!(ada.message(*id).await["flags"], expected, "{id}");
    }
    // One set without her, and one with her.
    assert_eq!(server.column("SELECT count(*) FROM arrival").await, ["2"]);
    assert_eq!(owner.message(ids[0]).await["flags"], json!([]));
}

/// Messages with as much HTML as they may have: answers end before they are too large, and the next has the rest.
// conformance: queue-15
#[tokio::test]
async fn answers_have_a_length() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.administrator("ada").await, server.member("bob").await);
    let general = server.channel("general", &[&ada, &bob]).await;
    let queue = bob.register(json!({"event_types": ["message"], "apply_markdown": true})).await;
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(ada.send(general, "topic", &"\u{1f600}".repeat(9_900)).await);
    }
    let mut last = queue.last_event_id;
    let mut pages = Vec::new();
    while pages.iter().sum::<usize>() < ids.len() {
        let poll = json!({"queue_id": queue.queue_id, "last_event_id": last, "dont_block": true});
        let events = bob.get("/events", poll).await.ok()["events"].as_array().unwrap().clone();
        for event in &events {
            let seen = pages.iter().sum::<usize>();
            assert!(ids[seen..].contains(&event["message"]["id"].as_i64().unwrap()), "in order, and once");
        }
        last = events.last().unwrap()["id"].as_i64().unwrap();
        pages.push(events.len());
    }
    assert!(pages.len() == 2 && pages[0] < ids.len(), "{pages:?}");

    server.add_copies(ids[0], 20).await;
    let all: Vec<i64> = (ids[0]..ids[0] + 26).collect();
    let matching = |ids: &[i64]| json!({"msg_ids": ids, "narrow": []});
    ada.get("/messages/matches_narrow", matching(&ids[..2])).await.ok();
    let too_long = "The messages are too long together (limit: 16777216 bytes)";
    ada.get("/messages/matches_narrow", matching(&all)).await.error(400, "BAD_REQUEST", too_long);
    let many = "Too many messages requested (maximum 5000).";
    ada.get("/messages/matches_narrow", matching(&vec![1; 5001])).await.error(400, "BAD_REQUEST", many);
}
