//! Effects of moving a topic on its policies.

use crate::harness::{Client, TestServer};
use crate::messages::finding::{stream_id, subscribe};
use serde_json::{Value, json};
use teamchat::domain::user_topics::moved::{TopicPlace, move_policies};
use teamchat::http::ApiError;
use teamchat::types::{StreamId, Topic, UserId};

/// Three people with two channels, and their policies for `soup` in the first and `bread` in the second.
struct PolicyFixture {
    server: TestServer,
    people: Vec<Client>,
    lunch: i64,
    talk: i64,
}

impl PolicyFixture {
    async fn new(policies: [(i64, i64); 3]) -> Self {
        let server = TestServer::start().await;
        let people =
            vec![server.member("ada").await, server.member("bob").await, server.member("cleo").await];
        subscribe(&people[0], &["lunch", "talk"], json!({})).await;
        let (lunch, talk) = (stream_id(&people[0], "lunch").await, stream_id(&people[0], "talk").await);
        for (client, (source, target)) in people.iter().zip(policies) {
            for (stream_id, topic, policy) in [(lunch, "Soup", source), (talk, "Bread", target)] {
                let parameters = json!({"stream_id": stream_id, "topic": topic, "visibility_policy": policy});
                client.post("/user_topics", parameters).await.ok();
            }
        }
        Self { server, people, lunch, talk }
    }

    /// Moves the policies of `soup` to `bread`. `shut_out` may not read there.
    async fn move_soup(&self, at_target: bool, shut_out: Option<usize>) {
        let (lunch, talk) = (StreamId(self.lunch), StreamId(self.talk));
        let shut_out = shut_out.and_then(|index| UserId(self.people[index].user_id).bit());
        let job = move |tx: &mut teamchat::store::Tx<'_>| -> Result<(), ApiError> {
            let (soup, bread) = (Topic::stored("soup".into()), Topic::stored("bread".into()));
            let from = TopicPlace { stream_id: lunch, topic: &soup };
            let to = TopicPlace { stream_id: talk, topic: &bread };
            move_policies(
                tx,
                from,
                to,
                at_target,
                |_, user_ids| Ok(user_ids),
                |_, mut user_ids| {
                    if let Some(bit) = shut_out {
                        user_ids.remove(bit);
                    }
                    Ok(user_ids)
                },
            )
        };
        let moved = self.server.app().writer.run(job).await;
        assert!(moved.is_ok(), "{:?}", moved.err().map(|error| error.msg().to_owned()));
    }

    /// The policies of all users for the two topics.
    async fn policies(&self) -> Vec<(i64, i64)> {
        let mut policies = Vec::new();
        for client in &self.people {
            let state = client.register(&[("fetch_event_types", "[\"user_topic\"]")]).await.state.clone();
            let of = |stream_id: i64| {
                let topics = state["user_topics"].as_array().unwrap();
                let own = topics.iter().find(|topic| topic["stream_id"] == stream_id);
                own.map_or(0, |topic| topic["visibility_policy"].as_i64().unwrap())
            };
            policies.push((of(self.lunch), of(self.talk)));
        }
        policies
    }
}

// conformance: topic-26
#[tokio::test]
async fn policies_go_along_to_a_new_topic() {
    let fixture = PolicyFixture::new([(1, 0), (3, 0), (0, 2)]).await;
    fixture.move_soup(false, None).await;
    assert_eq!(fixture.policies().await, [(0, 1), (0, 3), (0, 2)]);
}

// conformance: topic-26
#[tokio::test]
async fn policies_of_merged_topics_become_the_one_that_shows_more() {
    let fixture = PolicyFixture::new([(1, 3), (1, 0), (2, 1)]).await;
    let [mut ada, mut bob] = [
        fixture.people[0].register(&[("event_types", "[\"user_topic\"]")]).await,
        fixture.people[1].register(&[("event_types", "[\"user_topic\"]")]).await,
    ];
    fixture.move_soup(true, None).await;
    assert_eq!(fixture.policies().await, [(0, 3), (0, 0), (0, 2)]);
    let gone = json!({"type": "user_topic", "stream_id": fixture.lunch, "topic_name": "soup", "last_updated": "*",
        "visibility_policy": 0});
    // Ada followed the target before, and Bob had nothing there: only the source changed for both.
    ada.expect(std::slice::from_ref(&gone)).await;
    bob.expect(&[gone]).await;
}

// conformance: topic-27
#[tokio::test]
async fn policies_are_lost_without_access_to_the_target() {
    let fixture = PolicyFixture::new([(3, 0), (3, 0), (0, 0)]).await;
    fixture.move_soup(false, Some(1)).await;
    assert_eq!(fixture.policies().await, [(0, 3), (0, 0), (0, 0)]);
    let state: Value = fixture.people[1].register(()).await.state.clone();
    assert_eq!(state["user_topics"], json!([]));
}

/// A topic may have thousands of followers, and anyone can resolve it.
#[tokio::test]
async fn followers_of_a_topic_share_the_events_of_its_move() {
    let fixture = PolicyFixture::new([(3, 0), (3, 0), (1, 0)]).await;
    let PolicyFixture { server, people, lunch, .. } = &fixture;
    subscribe(&people[0], &["lunch"], json!({"principals": [people[1].user_id, people[2].user_id]})).await;
    let id = people[0].send(*lunch, "soup", "hot").await;
    let mut queues = Vec::new();
    for client in people {
        queues.push(client.register(json!({"event_types": ["user_topic"]})).await);
    }
    let resolved = json!({"topic": "\u{2714} soup", "propagate_mode": "change_all"});
    people[0].patch(&format!("/messages/{id}"), resolved).await.ok();
    let stored = "SELECT count(*) FROM event WHERE type = 'user_topic' AND payload GLOB '*soup*'";
    assert_eq!(server.column(stored).await, ["4"]);
    for (queue, policy) in queues.iter_mut().zip([3, 3, 1]) {
        let events = queue.expect_kinds(&["user_topic", "user_topic"]).await;
        let changes: Vec<_> =
            events.iter().map(|event| (&event["topic_name"], &event["visibility_policy"])).collect();
        assert_eq!(changes, [(&json!("soup"), &json!(0)), (&json!("\u{2714} soup"), &json!(policy))]);
    }
}

#[tokio::test]
async fn moves_are_hidden_from_users_without_messages() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let [late, gone] = [server.member("late").await, server.member("gone").await];
    let team = server.private_channel("team", &[&owner, &gone]).await;
    let follow = |topic: &str| json!({"stream_id": team, "topic": topic, "visibility_policy": 3});
    let id = owner.send(team, "layoffs", "we have to").await;
    gone.post("/user_topics", follow("layoffs")).await.ok();
    // One has left, and the other came later and guesses the name.
    gone.delete("/users/me/subscriptions", json!({"subscriptions": ["team"]})).await.ok();
    subscribe(&owner, &["team"], json!({"principals": [late.user_id]})).await;
    late.post("/user_topics", follow("layoffs")).await.ok();
    let state = async |client: &Client| {
        let state = client.register(json!({"fetch_event_types": ["user_topic"]})).await.state.clone();
        state["user_topics"].clone()
    };
    let before = [state(&late).await, state(&gone).await];
    let mut queues = [
        late.register(json!({"event_types": ["user_topic"]})).await,
        gone.register(json!({"event_types": ["user_topic"]})).await,
    ];
    let to = json!({"topic": "layoffs of Zoe", "propagate_mode": "change_all"});
    owner.patch(&format!("/messages/{id}"), to).await.ok();
    for queue in &mut queues {
        queue.expect_nothing().await;
    }
    assert_eq!([state(&late).await, state(&gone).await], before);
}
