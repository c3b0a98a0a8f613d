//! Limits count people, not accounts: a person shares them with their bots, and for a week with the accounts that they
//! invited.

use super::{ADA, OWNED, Owned, too_many};
use crate::harness::{Answer, Client, TestServer, pictures};
use reqwest::Method;
use serde_json::json;
use teamchat::domain::limits;

/// Requests that bots are refused anyway.
const OF_PEOPLE: [&str; 2] = ["bots", "groups of one creator"];

async fn upload_emoji(client: &Client, name: &str) -> Answer {
    let (path, picture) = (format!("/realm/emoji/{name}"), pictures::png(8, 8));
    client.request(Method::POST, &path).multipart((), &[("file", "a.png", &picture)]).send().await
}

async fn request(client: &Client, owned: &Owned, number: u32) -> Answer {
    let (path, parameters) = (owned.request)(number);
    client.post(path, parameters).await
}

/// Inserts rows for a user up to a limit but one.
async fn fill(server: &TestServer, fill: &str, user_id: i64, limit: usize) {
    let numbers = format!("SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {}", limit - 1);
    let fill = fill.replace("{user}", &user_id.to_string());
    server.sql(&format!("WITH RECURSIVE one (number) AS ({numbers}) {fill}")).await;
}

/// A person and their bots together have the limits of the person alone.
#[tokio::test]
async fn bots_share_the_limits_of_their_creator() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    assert_eq!(ada.user_id, ADA);
    let (first, second) = (server.bot("first", &ada).await, server.bot("second", &ada).await);
    let bob = server.member("bob").await;
    let channel = server.channel("channel", &[&ada, &bob, &first, &second]).await;
    assert_eq!((channel, ada.send(channel, "topic", "hello").await), (1, 1));
    server.sql("DELETE FROM user_topic").await;
    for owned in OWNED.iter().filter(|owned| !OF_PEOPLE.contains(&owned.what)) {
        fill(&server, owned.fill, first.user_id, owned.limit).await;
        request(&second, owned, 1).await.ok();
        for client in [&first, &second, &ada] {
            too_many(&request(client, owned, 2).await, owned.what, owned.limit);
        }
        request(&bob, owned, 3).await.ok();
    }

    let emoji = "INSERT INTO realm_emoji (name, file, is_animated, author_id)
                 SELECT 'e' || number, number, 0, {user} FROM one";
    fill(&server, emoji, first.user_id, limits::MAX_EMOJI_OF_AUTHOR).await;
    upload_emoji(&ada, "last").await.ok();
    for client in [&first, &second, &ada] {
        too_many(&upload_emoji(client, "more").await, "custom emoji", limits::MAX_EMOJI_OF_AUTHOR);
    }
    upload_emoji(&bob, "others").await.ok();

    let storage = format!(
        "INSERT INTO bot_storage (user_id, key, value)
         SELECT {}, 'k', replace(hex(zeroblob({})), '0', 'a')",
        first.user_id,
        limits::MAX_BOT_STORAGE / 2 - 2
    );
    server.sql(&storage).await;
    let put = json!({"storage": {"a": "b"}});
    second.request(Method::PUT, "/bot_storage").form(&put).send().await.ok();
    let refused =
        second.request(Method::PUT, "/bot_storage").form(json!({"storage": {"c": "ddd"}})).send().await;
    let msg = "Request exceeds storage limit by 3 characters. The limit is 10000000 characters.";
    refused.error(400, "BAD_REQUEST", msg);

    let message = ada.send(channel, "topic", "hello").await;
    let path = format!("/messages/{message}/reactions");
    server
        .sql(&format!(
            "INSERT INTO reaction (message_id, number, user_id, emoji_name, emoji_code, reaction_type)
             WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {})
             SELECT {message}, number, {}, 'x', 'x' || number, 'unicode_emoji' FROM one",
            limits::MAX_REACTIONS_OF_USER - 1,
            first.user_id
        ))
        .await;
    second.post(&path, json!({"emoji_name": "tada"})).await.ok();
    for client in [&first, &second, &ada] {
        let answer = client.post(&path, json!({"emoji_name": "heart"})).await;
        too_many(&answer, "reactions", limits::MAX_REACTIONS_OF_USER);
    }
    bob.post(&path, json!({"emoji_name": "heart"})).await.ok();
}

/// A deactivated bot makes room for another, and comes back only while there is room.
#[tokio::test]
async fn bots_are_not_multiplied_by_deactivating_them() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let bot = |name: &str| json!({"full_name": name, "short_name": name});
    let first = ada.post("/bots", bot("first")).await.ok()["user_id"].clone();
    let bots = OWNED.iter().find(|owned| owned.what == "bots").unwrap();
    fill(&server, bots.fill, ada.user_id, limits::MAX_BOTS_OF_OWNER).await;
    too_many(&ada.post("/bots", bot("second")).await, "bots", limits::MAX_BOTS_OF_OWNER);
    ada.delete(&format!("/bots/{first}"), ()).await.ok();
    ada.post("/bots", bot("second")).await.ok();
    let path = format!("/users/{first}/reactivate");
    too_many(&ada.post(&path, ()).await, "bots", limits::MAX_BOTS_OF_OWNER);
    owner.post(&path, ()).await.ok();
}

/// Sets by whose invitation an account came.
async fn invited(server: &TestServer, client: &Client, inviter: &Client) {
    let statement =
        format!("UPDATE user SET invited_by = {} WHERE user_id = {}", inviter.user_id, client.user_id);
    server.sql(&statement).await;
}

#[tokio::test]
async fn new_accounts_count_for_the_inviter() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let (cleo, dora, eve) =
        (server.member("cleo").await, server.member("dora").await, server.member("eve").await);
    // Ada invited Bob, who invited Cleo; an administrator invited Eve.
    let helper = server.bot("helper", &cleo).await;
    invited(&server, &bob, &ada).await;
    invited(&server, &cleo, &bob).await;
    invited(&server, &dora, &ada).await;
    invited(&server, &eve, &owner).await;
    let words = OWNED.iter().find(|owned| owned.what == "alert words").unwrap();
    fill(&server, words.fill, helper.user_id, words.limit).await;
    request(&dora, words, 1).await.ok();
    for client in [&cleo, &helper] {
        too_many(&request(client, words, 2).await, words.what, words.limit);
    }
    // Each new account has a tenth for itself, with its bots.
    let of_bob = server.bot("of-bob", &bob).await;
    for number in 0..u32::try_from(words.limit / 10).unwrap() {
        request(if number % 2 == 0 { &bob } else { &of_bob }, words, number).await.ok();
    }
    for client in [&bob, &of_bob] {
        too_many(&request(client, words, 100).await, words.what, words.limit);
    }
    server
        .sql(&format!("DELETE FROM alert_word WHERE user_id IN ({}, {})", bob.user_id, of_bob.user_id))
        .await;
    // Objects of invited accounts do not reduce the inviter's limit.
    request(&ada, words, 1).await.ok();
    fill(&server, words.fill, owner.user_id, words.limit).await;
    request(&eve, words, 1).await.ok();
    server.clock.advance(7 * 24 * 60 * 60);
    for client in [&bob, &dora, &eve] {
        request(client, words, 2).await.ok();
    }
    // Bots count for ever.
    request(&cleo, words, 2).await.ok();
    too_many(&request(&helper, words, 3).await, words.what, words.limit);
}

/// Reactions, submessages, invitations and bot storage are counted by other means.
#[tokio::test]
async fn each_new_account_has_a_part_of_each_limit() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    invited(&server, &bob, &ada).await;
    invited(&server, &cleo, &ada).await;
    let helper = server.bot("helper", &cleo).await;
    let channel = server.channel("channel", &[&ada, &bob, &cleo]).await;
    let message = ada.send(channel, "topic", "/poll lunch?").await;
    let numbers = |count: usize| {
        format!(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {count})"
        )
    };
    let (bobs, storage) = (bob.user_id, limits::MAX_BOT_STORAGE);
    server
        .sql(&format!(
            "INSERT INTO reaction (message_id, number, user_id, emoji_name, emoji_code, reaction_type)
             {} SELECT {message}, number, {bobs}, 'x', 'x' || number, 'unicode_emoji' FROM one;
             INSERT INTO submessage (message_id, sender_id, msg_type, content)
             {} SELECT {message}, {bobs}, 'widget', '{{}}' FROM one;
             INSERT INTO invite (digest, email, invited_by_user_id, invited, invited_as, stream_ids, group_ids,
                 include_realm_default_subscriptions, notify_referrer_on_join)
             {} SELECT CAST(number AS BLOB), number || '@example.com', {bobs}, 0, 400, '[]', '[]', 0, 0 FROM one;
             INSERT INTO bot_storage (user_id, key, value)
             VALUES ({bobs}, 'k', replace(hex(zeroblob({storage} / 2)), '0', 'a'))",
            numbers(limits::MAX_REACTIONS_OF_USER),
            numbers(limits::MAX_SUBMESSAGES_OF_SENDER),
            numbers(limits::MAX_INVITES),
        ))
        .await;
    let react = |name: &str| (format!("/messages/{message}/reactions"), json!({"emoji_name": name}));
    let add = || {
        let content = json!({"type": "new_option", "idx": 1, "option": "soup"}).to_string();
        ("/submessage".to_owned(), json!({"message_id": message, "msg_type": "widget", "content": content}))
    };
    let invite = || ("/invites".to_owned(), json!({"invitee_emails": "new@example.com", "stream_ids": []}));
    let msg =
        format!("You have too many invitations (limit: {}). Revoke some of them first.", limits::MAX_INVITES);
    for (client, is_full) in [(&bob, true), (&cleo, false)] {
        for (path, parameters) in [react("tada"), add(), invite()] {
            let answer = client.post(&path, parameters).await;
            assert_eq!(answer.status, if is_full { 400 } else { 200 }, "{path}: {answer}");
        }
        if is_full {
            client.post("/invites", invite().1).await.error(400, "BAD_REQUEST", &msg);
        }
    }
    let put = json!({"storage": {"a": "b"}});
    helper.request(Method::PUT, "/bot_storage").form(&put).send().await.ok();
}

/// The queue that was idle longest expires.
#[tokio::test]
async fn queues_are_counted_with_those_of_the_bots() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let bots = [server.bot("first", &ada).await, server.bot("second", &ada).await];
    let others = bob.register(json!({"fetch_event_types": []})).await;
    let oldest = bots[0].register(json!({"fetch_event_types": []})).await;
    server.clock.advance(1);
    let next = ada.register(json!({"fetch_event_types": []})).await;
    server.clock.advance(1);
    for number in 2..teamchat::events::MAX_QUEUES_PER_USER {
        bots[number % 2].register(json!({"fetch_event_types": []})).await;
    }
    let poll = async |client: &Client, queue_id: &str| {
        let poll = json!({"queue_id": queue_id, "last_event_id": -1, "dont_block": true});
        client.get("/events", poll).await.status
    };
    bots[1].register(json!({"fetch_event_types": []})).await;
    assert_eq!(poll(&bots[0], &oldest.queue_id).await, 400);
    assert_eq!(poll(&ada, &next.queue_id).await, 200);
    assert_eq!(poll(&bob, &others.queue_id).await, 200);
}

/// A new account ends none of the queues of its inviter and of others whom the same person invited.
#[tokio::test]
async fn queues_of_a_new_account_replace_its_own() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    invited(&server, &bob, &ada).await;
    invited(&server, &cleo, &ada).await;
    let new = json!({"fetch_event_types": []});
    let (of_ada, of_cleo) = (ada.register(new.clone()).await, cleo.register(new.clone()).await);
    let first = bob.register(new.clone()).await;
    server.clock.advance(1);
    let poll = async |client: &Client, queue_id: &str| {
        let poll = json!({"queue_id": queue_id, "last_event_id": -1, "dont_block": true});
        client.get("/events", poll).await.status
    };
    // With the two others, the last of these is one too many.
    for _ in 0..teamchat::events::MAX_QUEUES_PER_USER - 2 {
        bob.register(new.clone()).await;
    }
    assert_eq!(poll(&bob, &first.queue_id).await, 400);
    assert_eq!(poll(&ada, &of_ada.queue_id).await, 200);
    assert_eq!(poll(&cleo, &of_cleo.queue_id).await, 200);
    // All are full, and the others register more.
    let another = cleo.register(new.clone()).await;
    let of_inviter = ada.register(new).await;
    for (client, queue) in [(&cleo, &of_cleo), (&cleo, &another), (&ada, &of_ada), (&ada, &of_inviter)] {
        assert_eq!(poll(client, &queue.queue_id).await, 200);
    }
}

/// An account that fills a limit leaves room for others that the same person invited, in each kind of object.
#[tokio::test]
async fn a_new_account_leaves_room_for_the_others() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    assert_eq!(ada.user_id, ADA);
    let (bob, cleo) = (server.member("bob").await, server.member("cleo").await);
    let channel = server.channel("channel", &[&ada, &bob, &cleo]).await;
    assert_eq!((channel, ada.send(channel, "topic", "hello").await), (1, 1));
    server.sql("DELETE FROM user_topic").await;
    invited(&server, &bob, &ada).await;
    invited(&server, &cleo, &ada).await;
    for owned in OWNED {
        fill(&server, owned.fill, bob.user_id, owned.limit + 1).await;
        too_many(&request(&bob, owned, 1).await, owned.what, owned.limit);
        request(&cleo, owned, 2).await.ok();
        request(&ada, owned, 3).await.ok();
    }
    let uploads = format!(
        "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {})
         INSERT INTO upload_content (content_id) SELECT number FROM one;
         INSERT INTO attachment (user_id, path_id, name, content_type, size, create_time, content_id)
         SELECT {}, content_id, 'x', 'text/plain', 0, 0, content_id FROM upload_content",
        limits::MAX_FILES,
        bob.user_id
    );
    server.sql(&uploads).await;
    for (client, status) in [(&bob, 400), (&cleo, 200), (&ada, 200)] {
        let request = client.request(Method::POST, "/user_uploads");
        let answer = request.multipart((), &[("file", "empty.txt", b"")]).send().await;
        assert_eq!(answer.status, status, "{answer}");
    }
}
