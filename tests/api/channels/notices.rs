//! What the notification bot says about channels.

use super::{channel, channel_with, set_realm_setting};
use crate::harness::{Client, TestServer};
use crate::subscriptions::subscribe;
use serde_json::{Value, json};

/// The newest message of a conversation, as Markdown; with its topic and the caller's flags.
async fn newest(client: &Client, operator: &str, operand: Value) -> (String, String, Value) {
    let narrow = json!([{"operator": operator, "operand": operand}]);
    let parameters = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": narrow, "apply_markdown": false});
    let found = client.get("/messages", parameters).await.ok();
    let message = found["messages"].as_array().unwrap().last().expect("a message").clone();
    let text = |name: &str| message[name].as_str().unwrap().to_owned();
    (text("subject"), text("content"), message["flags"].clone())
}

fn mention(client: &Client) -> String {
    format!("@_**{}|{}**", client.full_name, client.user_id)
}

#[tokio::test]
async fn a_channel_begins_with_a_notice_that_its_creator_has_read() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let parameters = json!({
        "name": "verona", "description": "Italy", "invite_only": true, "subscribers": [ada.user_id, bob.user_id],
    });
    let id = channel_with(&ada, parameters).await;
    let (topic, content, flags) = newest(&ada, "channel", json!(id)).await;
    let expected = format!(
        "**Private, protected history** channel created by {}. **Description:**\n```` quote\nItaly\n````",
        mention(&ada)
    );
    assert_eq!((topic.as_str(), content, flags), ("channel events", expected, json!(["read"])));
    let (_, _, flags) = newest(&bob, "channel", json!(id)).await;
    assert_eq!(flags, json!([]));
}

#[tokio::test]
async fn new_channels_are_announced_when_asked() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let news = channel(&ada, "news").await;
    channel_with(&ada, json!({"name": "before", "announce": true})).await;
    set_realm_setting(&server, "new_stream_announcements_stream_id", json!(news)).await;
    channel_with(&ada, json!({"name": "silent"})).await;
    let (topic, _, _) = newest(&ada, "channel", json!(news)).await;
    assert_eq!(topic, "channel events", "nothing was announced yet");
    channel_with(&ada, json!({"name": "one", "announce": true})).await;
    let (topic, content, _) = newest(&ada, "channel", json!(news)).await;
    let expected = format!("{} created a new channel #**one**.", mention(&ada));
    assert_eq!((topic.as_str(), content), ("new channels", expected));
    let parameters =
        json!({"subscriptions": [{"name": "two"}, {"name": "three"}, {"name": "one"}], "announce": true});
    ada.post("/users/me/subscriptions", parameters).await.ok();
    let (_, content, _) = newest(&ada, "channel", json!(news)).await;
    assert_eq!(content, format!("{} created the following channels: #**two**, #**three**.", mention(&ada)));
}

#[tokio::test]
async fn people_hear_who_subscribed_them_to_what_was_there_before() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let bot = server.bot("helper", &ada).await;
    channel(&ada, "old").await;
    channel(&ada, "older").await;
    let messages = json!({"event_types": ["message"]});
    let mut to_helper = bot.register(&messages).await;
    let mut to_bob = bob.register(&messages).await;
    let both = json!([bob.user_id, bot.user_id]);
    let silent = json!({"principals": both, "send_new_subscription_messages": false});
    let answer = subscribe(&ada, "new", silent).await.ok();
    assert!(answer.get("new_subscription_messages_sent").is_none(), "{answer}");
    // A new channel's own notice reaches its subscribers; nobody is written to.
    for queue in [&mut to_helper, &mut to_bob] {
        let events = queue.expect_kinds(&["message"]).await;
        assert_eq!(events[0]["message"]["type"], json!("stream"));
    }
    let parameters = json!({
        "subscriptions": [{"name": "older"}, {"name": "old"}, {"name": "newer"}], "principals": both,
    });
    ada.post("/users/me/subscriptions", parameters).await.ok();
    to_helper.expect_kinds(&["message"]).await;
    let events = to_bob.expect_kinds(&["message", "message"]).await;
    let direct = events.iter().find(|event| event["message"]["type"] == "private").expect("a direct message");
    assert_eq!(direct["message"]["sender_email"], json!("notification-bot@zulip.com"));
    assert_eq!(
        direct["message"]["content"],
        json!(format!(
            "{} subscribed you to the following channels:\n\n* #**old**\n* #**older**",
            mention(&ada)
        ))
    );
    channel(&ada, "same").await;
    subscribe(&ada, "same", json!({"principals": [bob.user_id]})).await.ok();
    let events = to_bob.expect_kinds(&["message"]).await;
    assert_eq!(
        events[0]["message"]["content"],
        json!(format!("{} subscribed you to #**same**.", mention(&ada)))
    );
    subscribe(&bob, "same", json!({})).await.ok();
    to_bob.expect_nothing().await;
}

#[tokio::test]
async fn renaming_and_archiving_are_told_in_the_channel() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let id = channel(&ada, "verona").await;
    let path = format!("/streams/{id}");
    ada.patch(&path, json!({"new_name": "rome"})).await.ok();
    let (topic, content, _) = newest(&ada, "channel", json!(id)).await;
    let expected = format!("{} renamed channel **verona** to **rome**.", mention(&ada));
    assert_eq!((topic.as_str(), content), ("channel events", expected));
    ada.delete(&path, ()).await.ok();
    let (_, content, _) = newest(&ada, "channel", json!(id)).await;
    assert_eq!(content, "Channel #**rome** has been archived.");
    ada.patch(&path, json!({"is_archived": false})).await.ok();
    let (_, content, _) = newest(&ada, "channel", json!(id)).await;
    assert_eq!(content, "Channel #**rome** has been unarchived.");
}
