//! Bounds on the cost of one request in large organizations: the last message that is considered, and the first that is
//! not.

use super::edit;
use crate::harness::{Client, TestServer};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use teamchat::domain::rendering::render_for;
use teamchat::domain::user_topics::auto_follow;
use teamchat::domain::{limits, rows};
use teamchat::http::ApiError;
use teamchat::store::{StoreError, Tx};
use teamchat::types::{StreamId, Topic, UserId};

/// True if a message mentions a user as a participant of the topic.
async fn is_mentioned_as_participant(client: &Client, id: i64) -> bool {
    let flags = client.message(id).await["flags"].clone();
    flags.as_array().unwrap().contains(&json!("topic_wildcard_mentioned"))
}

#[tokio::test]
async fn participants_of_a_topic_are_found_in_its_newest_messages() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let garden = server.channel("garden", &[&ada, &bob, &cleo]).await;
    let first = bob.send(garden, "lunch", "hello").await;
    cleo.post(&format!("/messages/{first}/reactions"), json!({"emoji_name": "tada"})).await.ok();
    let second = ada.send(garden, "lunch", "hello").await;
    server.add_copies(second, limits::MAX_PARTICIPANT_ROWS - 2).await;
    let last = ada.send(garden, "lunch", "@**topic**").await;
    assert!(is_mentioned_as_participant(&bob, last).await);
    assert!(is_mentioned_as_participant(&cleo, last).await);
    let beyond = ada.send(garden, "lunch", "@**topic**").await;
    assert!(is_mentioned_as_participant(&ada, beyond).await);
    assert!(!is_mentioned_as_participant(&bob, beyond).await);
    assert!(!is_mentioned_as_participant(&cleo, beyond).await);
}

/// Groups of which each includes the next; the last has one member. The sender has to be in it to mention any.
async fn nest_groups(server: &TestServer, count: usize, member: &Client) {
    server
        .sql(&format!(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {count})
             INSERT INTO user_group (kind, name, name_key) SELECT 'named', 'g' || number, 'g' || number FROM one;
             INSERT INTO user_group_subgroup (group_id, subgroup_id)
             SELECT outer.id, inner.id FROM user_group AS outer JOIN user_group AS inner ON inner.id = outer.id + 1
             WHERE outer.kind = 'named';
             INSERT INTO user_group_member (group_id, user_id) SELECT id, {} FROM user_group WHERE name = 'g{count}';
             INSERT INTO group_setting (owner, owner_id, setting, group_id)
             SELECT 'group', id, 'can_mention_group', (SELECT id FROM user_group WHERE name = 'g{count}')
             FROM user_group WHERE kind = 'named';",
            member.user_id
        ))
        .await;
}

/// Mentions of this number of groups.
fn mentions(count: usize) -> String {
    let mentions: Vec<String> = (1..=count).map(|number| format!("@*g{number}*")).collect();
    mentions.join(" ")
}

/// Counts the steps of SQLite's machine that jobs take from now on.
pub async fn count_steps(server: &TestServer) -> Arc<AtomicUsize> {
    let counter = Arc::new(AtomicUsize::new(0));
    let steps_of_writer = Arc::clone(&counter);
    let count = move |tx: &mut Tx<'_>| -> Result<(), StoreError> {
        let count_step = move || {
            steps_of_writer.fetch_add(1, Ordering::Relaxed);
            false
        };
        Ok(tx.progress_handler(1, Some(count_step))?)
    };
    server.app().writer.run(count).await.unwrap();
    counter
}

#[tokio::test]
async fn groups_that_a_message_mentions_are_read_together() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    nest_groups(&server, 200, &ada).await;
    ada.send(garden, "lunch", "hello").await;
    let counter = count_steps(&server).await;
    let steps = async |content: String| {
        counter.store(0, Ordering::Relaxed);
        let id = ada.send(garden, "lunch", &content).await;
        let steps = counter.load(Ordering::Relaxed);
        let flags = ada.message(id).await["flags"].clone();
        assert!(flags.as_array().unwrap().contains(&json!("mentioned")), "{flags}");
        steps
    };
    let of_one = steps(mentions(1)).await;
    let of_many = steps(mentions(50)).await;
    assert!(of_many < 2 * of_one, "{of_many} steps for 50 groups, {of_one} for one");
    let refused = json!({"type": "channel", "to": garden, "topic": "lunch", "content": mentions(50)});
    let msg = "You are not allowed to mention user group 'g1'.";
    bob.post("/messages", refused).await.error(400, "BAD_REQUEST", msg);
}

/// Otherwise a user who mutes and unmutes another again and again delays all other changes.
#[tokio::test]
async fn muting_a_user_again_reads_none_of_their_messages_in_the_writer() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let garden = server.channel("garden", &[&ada, &bob, &cleo]).await;
    // The first unread message is older than all messages of the muted user.
    cleo.send(garden, "lunch", "hello").await;
    let id = bob.send(garden, "lunch", "hello").await;
    let path = format!("/users/me/muted_users/{}", bob.user_id);
    let counter = count_steps(&server).await;
    let steps = async || {
        ada.post(&path, ()).await.ok();
        ada.delete(&path, ()).await.ok();
        counter.store(0, Ordering::Relaxed);
        ada.post(&path, ()).await.ok();
        let steps = counter.load(Ordering::Relaxed);
        ada.delete(&path, ()).await.ok();
        steps
    };
    let before = steps().await;
    server.add_copies(id, 5_000).await;
    let read = json!({"anchor": "oldest", "num_before": 0, "num_after": 5_000, "op": "add", "flag": "read",
        "narrow": [["sender", "bob@example.com"]]});
    ada.post("/messages/flags/narrow", read).await.ok();
    let after = steps().await;
    assert!(after < before + 5_000, "{after} steps with 5,000 messages more, {before} without");
}

#[tokio::test]
async fn adding_subgroups_takes_linear_time() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    nest_groups(&server, 200, &owner).await;
    let ids = server.column("SELECT id FROM user_group WHERE kind = 'named' ORDER BY id").await;
    let ids: Vec<i64> = ids.iter().map(|id| id.parse().unwrap()).collect();
    let counter = count_steps(&server).await;
    let steps = async |name: &str, subgroups: &[i64]| {
        let create = json!({"name": name, "description": "", "members": []});
        let id = owner.post("/user_groups/create", create).await.ok()["group_id"].clone();
        counter.store(0, Ordering::Relaxed);
        let path = format!("/user_groups/{id}/subgroups");
        owner.post(&path, json!({"add": subgroups, "delete": []})).await.ok();
        counter.load(Ordering::Relaxed)
    };
    let of_one = steps("one", &ids[..1]).await;
    let of_many = steps("many", &ids[..50]).await;
    // Each of them has at least 150 groups in it, at several steps a group.
    assert!(of_many < of_one + 50 * 150 * 5, "{of_many} steps for 50 subgroups, {of_one} for one");
    // A group cannot include a group that includes it, directly or indirectly.
    let path = format!("/user_groups/{}/subgroups", ids[199]);
    let msg = format!("User group {} is already a subgroup of one of the passed subgroups.", ids[199]);
    owner.post(&path, json!({"add": [ids[0]]})).await.error(400, "BAD_REQUEST", &msg);
}

/// One person can make hundreds of groups that include each other, and permissions of hundreds of channels that include these.
#[tokio::test]
async fn groups_that_permissions_include_are_read_once() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    nest_groups(&server, 100, &ada).await;
    server
        .sql(
            "INSERT OR IGNORE INTO user_group_subgroup (group_id, subgroup_id)
             SELECT above.id, below.id FROM user_group AS above JOIN user_group AS below ON below.id > above.id
             WHERE above.kind = 'named' AND below.kind = 'named'",
        )
        .await;
    let ids = server.column("SELECT id FROM user_group WHERE kind = 'named' ORDER BY id").await;
    let ids: Vec<i64> = ids.iter().map(|id| id.parse().unwrap()).collect();
    let crew = json!({"name": "crew", "description": "", "members": []});
    let crew = ada.post("/user_groups/create", crew).await.ok()["group_id"].clone();
    let path = format!("/user_groups/{crew}/subgroups");
    let counter = count_steps(&server).await;
    let steps = async |subgroup: i64| {
        counter.store(0, Ordering::Relaxed);
        ada.post(&path, json!({"add": [subgroup]})).await.ok();
        counter.load(Ordering::Relaxed)
    };
    let without = steps(ids[99]).await;
    let channels: Vec<Value> = (0..50).map(|number| json!({"name": format!("c{number}")})).collect();
    let holders = json!({"direct_members": [ada.user_id], "direct_subgroups": [ids[0]]});
    let channels = json!({"subscriptions": channels, "invite_only": true, "can_subscribe_group": holders});
    ada.post("/users/me/subscriptions", channels).await.ok();
    let with = steps(ids[98]).await;
    // There are 4,950 inclusions, which are read before and after the change, at several steps each.
    assert!(with < without + 1_000_000, "{with} steps with 50 channels, {without} without");
}

/// Groups decide about private channels only.
#[tokio::test]
async fn subscriptions_to_public_channels_read_no_groups_of_people() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let crowd: Vec<i64> = server.crowd(40).await.iter().map(|client| client.user_id).collect();
    server.channel("garden", &[&ada]).await;
    let counter = count_steps(&server).await;
    let steps = async |people: &[i64]| {
        counter.store(0, Ordering::Relaxed);
        let garden = json!({"subscriptions": [{"name": "garden"}], "principals": people});
        ada.post("/users/me/subscriptions", garden).await.ok();
        counter.load(Ordering::Relaxed)
    };
    let before = steps(&crowd[..20]).await;
    let list = serde_json::to_string(&crowd).unwrap();
    server
        .sql(&format!(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < 300)
             INSERT INTO user_group (kind, name, name_key) SELECT 'named', 'g' || number, 'g' || number FROM one;
             INSERT INTO user_group_member (group_id, user_id)
             SELECT user_group.id, person.value FROM user_group CROSS JOIN json_each('{list}') AS person
             WHERE user_group.kind = 'named'"
        ))
        .await;
    let after = steps(&crowd[20..]).await;
    // Each of these people is in 300 groups.
    assert!(after < before + 20 * 300 * 5, "{after} steps with the groups, {before} without");
}

/// Many people can gain and lose many channels at once.
#[tokio::test]
async fn subscribers_are_not_looked_up_for_each_user_and_channel() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let crowd: Vec<i64> = server.crowd(100).await.iter().map(|client| client.user_id).collect();
    let group = async |name: &str, members: &[i64]| {
        let group = json!({"name": name, "description": "", "members": members});
        ada.post("/user_groups/create", group).await.ok()["group_id"].as_i64().unwrap()
    };
    let (holders, few, all) =
        (group("holders", &[]).await, group("few", &crowd[..40]).await, group("all", &crowd).await);
    let channels: Vec<Value> = (0..60).map(|number| json!({"name": format!("c{number}")})).collect();
    let channels =
        json!({"subscriptions": channels, "invite_only": true, "can_administer_channel_group": holders});
    ada.post("/users/me/subscriptions", channels).await.ok();
    let path = format!("/user_groups/{holders}/subgroups");
    let counter = count_steps(&server).await;
    let steps = async |subgroup: i64| {
        counter.store(0, Ordering::Relaxed);
        ada.post(&path, json!({"add": [subgroup]})).await.ok();
        let steps = counter.load(Ordering::Relaxed);
        ada.post(&path, json!({"delete": [subgroup]})).await.ok();
        steps
    };
    let (of_few, of_all) = (steps(few).await, steps(all).await);
    // A look-up takes several steps, and there are 60 users more for each of 60 channels.
    assert!(of_all < of_few + 60 * 60 * 3, "{of_all} steps for all, {of_few} for few");
}

#[tokio::test]
async fn recipients_of_a_draft_are_looked_up_together() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let crowd: Vec<i64> = server.crowd(200).await.iter().map(|client| client.user_id).collect();
    let counter = count_steps(&server).await;
    let steps = async |to: &[i64]| {
        counter.store(0, Ordering::Relaxed);
        let draft = json!({"type": "private", "to": to, "topic": "", "content": "hello"});
        ada.post("/drafts", json!({"drafts": [draft]})).await.ok();
        counter.load(Ordering::Relaxed)
    };
    let (of_one, of_all) = (steps(&crowd[..1]).await, steps(&crowd).await);
    // A statement for each person takes at least twenty steps: it reads a whole row.
    assert!(of_all < of_one + 200 * 15, "{of_all} steps for 200 people, {of_one} for one");
}

/// Twenty private channels with a message in each, which a user of 300 groups can read without being subscribed. Returns the
/// channels and the messages.
async fn hidden_channels(server: &TestServer, reader: &Client) -> (Vec<i64>, Vec<i64>) {
    nest_groups(server, 300, reader).await;
    let names: Vec<String> = (0..20).map(|number| format!("c{number}")).collect();
    let channels: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    let holders = json!({"direct_members": [reader.user_id], "direct_subgroups": []});
    let channels = json!({"subscriptions": channels, "invite_only": true, "can_subscribe_group": holders});
    reader.post("/users/me/subscriptions", channels).await.ok();
    let ids = server.column("SELECT stream_id FROM stream WHERE invite_only ORDER BY stream_id").await;
    let ids: Vec<i64> = ids.iter().map(|id| id.parse().unwrap()).collect();
    let mut messages = Vec::new();
    for id in &ids {
        messages.push(reader.send(*id, "lunch", "hello").await);
    }
    reader.delete("/users/me/subscriptions", json!({"subscriptions": names})).await.ok();
    (ids, messages)
}

/// A user can be in thousands of groups. They decide who reads a private channel without being subscribed.
#[tokio::test]
async fn groups_of_a_reader_are_loaded_once_for_many_channels() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let (ids, messages) = hidden_channels(&server, &ada).await;
    let counter = count_steps(&server).await;
    let draft = async |ids: &[i64]| {
        let drafts: Vec<Value> = ids
            .iter()
            .map(|id| json!({"type": "stream", "to": [id], "topic": "lunch", "content": "hello"}))
            .collect();
        counter.store(0, Ordering::Relaxed);
        ada.post("/drafts", json!({"drafts": drafts})).await.ok();
        counter.load(Ordering::Relaxed)
    };
    let star = async |messages: &[i64]| {
        counter.store(0, Ordering::Relaxed);
        let change = json!({"messages": messages, "op": "add", "flag": "starred"});
        let changed = ada.post("/messages/flags", change).await.ok();
        assert_eq!(changed["messages"], json!(messages));
        counter.load(Ordering::Relaxed)
    };
    // Each of 300 groups takes several steps.
    let (of_one, of_all) = (draft(&ids[..1]).await, draft(&ids).await);
    assert!(of_all < of_one + 20 * 1500, "{of_all} steps for 20 drafts, {of_one} for one");
    let (of_one, of_others) = (star(&messages[..1]).await, star(&messages[1..]).await);
    assert!(of_others < of_one + 20 * 1500, "{of_others} steps for 19 messages, {of_one} for one");
}

/// A message that mentions a group has a row with flags for each of its members.
#[tokio::test]
async fn moves_read_who_has_flags_from_an_index() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let crowd = server.crowd(100).await;
    let everybody: Vec<&Client> = crowd.iter().chain([&ada]).collect();
    let garden = server.channel("garden", &everybody).await;
    let first = ada.send(garden, "lunch", "hello").await;
    server.add_copies(first, 10).await;
    let counter = count_steps(&server).await;
    let steps = async |topic: &str| {
        counter.store(0, Ordering::Relaxed);
        edit(&ada, first, json!({"topic": topic, "propagate_mode": "change_all"})).await.ok();
        counter.load(Ordering::Relaxed)
    };
    steps("breakfast").await;
    let without = steps("dinner").await;
    server
        .sql(&format!(
            "INSERT INTO user_message_flags (user_id, message_id, flags)
             SELECT user_id, id, 4 FROM message CROSS JOIN user WHERE id > {first} AND full_name LIKE 'Person %'"
        ))
        .await;
    let with = steps("supper").await;
    // To look up a row of the table takes six steps more than one of the index.
    assert!(with < without + 10 * 100 * 7, "{with} steps with flags, {without} without");
}

#[tokio::test]
async fn flags_of_many_users_are_deleted_in_several_jobs() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (bob, cleo) = (server.member("bob").await, server.member("cleo").await);
    let garden = server.channel("garden", &[&owner, &bob, &cleo]).await;
    let secret = server.private_channel("secret", &[&owner]).await;
    let id = owner.send(garden, "lunch", "hello").await;
    let star = json!({"messages": [id], "op": "add", "flag": "starred"});
    for client in [&owner, &bob, &cleo] {
        client.post("/messages/flags", &star).await.ok();
    }
    let writer = &server.app().writer;
    writer.background().set_limit(Duration::ZERO);
    edit(&owner, id, json!({"stream_id": secret})).await.ok();
    // The follow-up job comes before all later ones.
    let starred = "SELECT count(*) FROM user_message_flags WHERE flags & 1";
    let left = writer.run(|tx| Ok::<i64, StoreError>(tx.query_row(starred, [], |row| row.get(0))?));
    assert_eq!(left.await.unwrap(), 1);
    let figures = writer.background().figures()["lost_flags"];
    assert_eq!((figures.jobs, figures.most_steps), (2, 1));
}

#[tokio::test]
async fn few_messages_with_many_flags_are_deleted_in_one_step() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    server.crowd(600).await;
    let garden = server.channel("garden", &[&owner]).await;
    let first = owner.send(garden, "lunch", "hello").await;
    server.add_copies(first, 3).await;
    server
        .sql(&format!(
            "INSERT INTO user_message_flags (user_id, message_id, flags)
             SELECT user_id, id, 4 FROM message CROSS JOIN user WHERE id >= {first} AND full_name LIKE 'Person %'"
        ))
        .await;
    let path = format!("/streams/{garden}/delete_topic");
    assert_eq!(owner.post(&path, json!({"topic_name": "lunch"})).await.ok()["complete"], true);
    let figures = server.app().writer.background().figures()["delete_topic"];
    assert_eq!((figures.jobs, figures.steps), (1, 4));
    assert_eq!(server.column("SELECT count(*) FROM user_message_flags").await, ["0"]);
}

/// The words of a deleted message are written to a list, one by one.
#[tokio::test]
async fn texts_of_many_words_are_deleted_in_several_steps() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let garden = server.channel("garden", &[&owner]).await;
    let first = owner.send(garden, "lunch", &["soup"; 400].join(" ")).await;
    server.add_copies(first, 15).await;
    server.app().writer.background().set_limit(Duration::ZERO);
    let path = format!("/streams/{garden}/delete_topic");
    assert_eq!(owner.post(&path, json!({"topic_name": "lunch"})).await.ok()["complete"], true);
    let figures = server.app().writer.background().figures()["delete_topic"];
    assert_eq!((figures.jobs, figures.most_steps), (6, 1), "three in each step");
}

#[tokio::test]
async fn a_text_loads_the_groups_of_its_author_once() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    hidden_channels(&server, &ada).await;
    let author = UserId(ada.user_id);
    let counter = count_steps(&server).await;
    let steps = async |count: usize| {
        let links: Vec<String> =
            (0..count).map(|number| format!("#**c{number}** #**c{number}>lunch**")).collect();
        let text = links.join(" ");
        counter.store(0, Ordering::Relaxed);
        let render = move |tx: &mut Tx<'_>| -> Result<String, ApiError> {
            let author = rows::user::caller(tx, author)?;
            Ok(render_for(tx.ctx(&author), "https://chat.example.com", &text)?.html)
        };
        let html = server.app().writer.run(render).await.unwrap();
        let steps = counter.load(Ordering::Relaxed);
        assert_eq!(html.matches("class=\"stream").count(), 2 * count, "{html}");
        steps
    };
    let (of_one, of_all) = (steps(1).await, steps(20).await);
    assert!(of_all < of_one + 20 * 1500, "{of_all} steps for links to 20 channels, {of_one} for one");
}

#[tokio::test]
async fn moves_do_not_look_up_the_words_of_messages() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let garden = server.channel("garden", &[&ada]).await;
    let words: Vec<String> = (0..1_000).map(|number| format!("word{number}")).collect();
    let short = ada.send(garden, "short", "hello").await;
    let long = ada.send(garden, "long", &words.join(" ")).await;
    // A search has all messages indexed.
    let narrow = json!([{"operator": "search", "operand": "word999"}]);
    let search = json!({"narrow": narrow, "anchor": "newest", "num_before": 10, "num_after": 0});
    let found = ada.get("/messages", &search).await.ok();
    assert_eq!(found["messages"].as_array().unwrap().len(), 1);
    // The writer does not know any more which words are in the list.
    server.restart().await;
    let counter = count_steps(&server).await;
    let steps = async |id: i64, topic: &str| {
        counter.store(0, Ordering::Relaxed);
        edit(&ada, id, json!({"topic": topic})).await.ok();
        counter.load(Ordering::Relaxed)
    };
    steps(short, "warm").await;
    let (of_short, of_long) = (steps(short, "supper").await, steps(long, "dinner").await);
    // Inserting a word takes several steps, also if it is there.
    assert!(of_long < of_short + 1_000 * 3, "{of_long} steps for a thousand words, {of_short} for one");
    assert_eq!(ada.get("/messages", &search).await.ok()["messages"][0]["subject"], "dinner");
}

/// Others can have made each of them follow thousands of topics, which are counted.
#[tokio::test]
async fn many_mentioned_users_follow_a_topic_in_several_jobs() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let garden = server.channel("garden", &[&ada]).await;
    let crowd: Vec<UserId> = server.crowd(150).await.iter().map(|client| UserId(client.user_id)).collect();
    let (open, gate) = mpsc::channel::<()>();
    let mention = move |tx: &mut Tx<'_>| -> Result<(), ApiError> {
        gate.recv().unwrap();
        auto_follow::after_mention(tx, &crowd, StreamId(garden), &Topic::stored("lunch".to_owned()))
    };
    let followers = "SELECT count(*) FROM user_topic WHERE visibility_policy = 3";
    let writer = &server.app().writer;
    let beside = writer.run(|tx| Ok::<i64, StoreError>(tx.query_row(followers, [], |row| row.get(0))?));
    // The second job is in the group of the first, so it runs before the follow-up job of the first.
    let (mentioned, seen, ()) = tokio::join!(writer.run(mention), beside, async { open.send(()).unwrap() });
    mentioned.unwrap();
    assert_eq!(seen.unwrap(), 100);
    // The follow-up job comes before all later ones.
    let later = writer.run(|tx| Ok::<i64, StoreError>(tx.query_row(followers, [], |row| row.get(0))?));
    assert_eq!(later.await.unwrap(), 150);
}

#[tokio::test]
async fn topics_of_a_mentioned_user_are_counted_once() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let counter = count_steps(&server).await;
    let steps = async |topic: &str| {
        counter.store(0, Ordering::Relaxed);
        ada.send(garden, topic, "@**bob**").await;
        counter.load(Ordering::Relaxed)
    };
    steps("breakfast").await;
    let few = steps("lunch").await;
    server
        .sql(&format!(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < 3000)
             INSERT INTO user_topic (user_id, stream_id, name_key, topic_name, visibility_policy, last_updated)
             SELECT {}, {garden}, 't' || number, 't' || number, 3, 0 FROM one",
            bob.user_id
        ))
        .await;
    let many = steps("supper").await;
    // To count a row takes three steps.
    assert!(many < few + 3_000 * 4, "{many} steps with many topics, {few} with few");
    let followed = format!("SELECT count(*) FROM user_topic WHERE user_id = {}", bob.user_id);
    assert_eq!(server.column(&followed).await, ["3003"]);
}

#[tokio::test]
async fn a_message_mentions_a_limited_number_of_groups() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let garden = server.channel("garden", &[&ada]).await;
    let limit = limits::MAX_MENTIONED_GROUPS;
    nest_groups(&server, limit + 1, &ada).await;
    // A group counts once.
    let id = ada.send(garden, "lunch", &format!("{0} {0}", mentions(limit))).await;
    let msg = format!("Too many user groups mentioned (limit: {limit})");
    let more = json!({"type": "channel", "to": garden, "topic": "lunch", "content": mentions(limit + 1)});
    ada.post("/messages", &more).await.error(400, "BAD_REQUEST", &msg);
    edit(&ada, id, json!({"content": mentions(limit + 1)})).await.error(400, "BAD_REQUEST", &msg);
}
