//! Notices of the notification bot about channels.

use super::{channel, channel_with};
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

// conformance: channel-19
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

// conformance: channel-20
#[tokio::test]
async fn new_channels_are_announced_when_asked() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let news = channel(&ada, "news").await;
    channel_with(&ada, json!({"name": "before", "announce": true})).await;
    server.set_realm_setting("new_stream_announcements_stream_id", json!(news)).await;
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

// conformance: subscribe-4
#[tokio::test]
async fn subscriptions_by_others_are_reported() {
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
    // The notice of a new channel reaches its subscribers; there are no direct messages.
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

// conformance: channel-21
#[tokio::test]
async fn renaming_and_archiving_send_notices() {
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

// conformance: channel-22
#[tokio::test]
async fn channel_changes_send_notices() {
    let server = TestServer::start().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    let parameters =
        json!({"name": "verona", "invite_only": true, "subscribers": [owner.user_id, bob.user_id]});
    let id = channel_with(&owner, parameters).await;
    let crew = crate::groups::group(&owner, "crew", &[]).await;
    let by = mention(&owner);
    let privacy = |from: &str, to: &str| {
        format!(
            "{by} changed the [access permissions](/help/channel-permissions) for this channel from **{from}** to **{to}**."
        )
    };
    let retention = |from: &str, to: &str, summary: &str| {
        format!(
            "{by} has changed the [message retention period](/help/message-retention-policy) for this channel:\n\
             * **Old retention period**: {from}\n* **New retention period**: {to}\n\n{summary}"
        )
    };
    let deleted = |days: &str| {
        format!("Messages in this channel will now be automatically deleted {days} days after they are sent.")
    };
    let posting = |from: &str, to: &str| {
        format!(
            "{by} changed the [posting permissions](/help/channel-posting-policy) for this channel:\n\n\
             * **Old**: {from}\n* **New**: {to}"
        )
    };
    let description = |from: &str, to: &str| {
        format!(
            "{by} changed the description for this channel.\n\n* **Old description:**\n```` quote\n{from}\n````\n\
             * **New description:**\n```` quote\n{to}\n````"
        )
    };
    let topics = |from: &str, to: &str| {
        format!(
            "{by} changed the \"Allow posting to the *general chat* topic?\" setting from **{from}** to **{to}**."
        )
    };
    let some = json!({"direct_members": [bob.user_id, owner.user_id], "direct_subgroups": [crew, 2]});
    let names = format!("@_*role:owners*, @_*crew*, {by}, {}", mention(&bob));
    let cases = [
        (
            json!({"history_public_to_subscribers": true}),
            privacy("Private, protected history", "Private, shared history"),
        ),
        (json!({"is_private": false}), privacy("Private, shared history", "Public")),
        (json!({"message_retention_days": 7}), retention("Forever", "7 days", &deleted("7"))),
        (json!({"message_retention_days": 8}), retention("7 days", "8 days", &deleted("8"))),
        (
            json!({"message_retention_days": "unlimited"}),
            retention("8 days", "Forever", "Messages in this channel will now be retained forever."),
        ),
        (json!({"can_send_message_group": {"new": 4}}), posting("@_*role:everyone*", "@_*role:moderators*")),
        (json!({"can_send_message_group": {"new": some}}), posting("@_*role:moderators*", &names)),
        (json!({"description": "Italy"}), description("*No description.*", "Italy")),
        (json!({"description": ""}), description("Italy", "*No description.*")),
        (json!({"topics_policy": "disable_empty_topic"}), topics("Automatic", "No *general chat* topic")),
        (
            json!({"topics_policy": "allow_empty_topic"}),
            topics("No *general chat* topic", "*general chat* topic allowed"),
        ),
    ];
    let path = format!("/streams/{id}");
    for (change, expected) in cases {
        owner.patch(&path, change).await.ok();
        let (topic, content, flags) = newest(&owner, "channel", json!(id)).await;
        assert_eq!((topic.as_str(), content.as_str()), ("channel events", expected.as_str()));
        assert_eq!(flags, json!(["read"]), "who did it knows");
    }
    // Another spelling of the same time is no change, and neither is a permission unrelated to posting.
    let last = newest(&owner, "channel", json!(id)).await;
    owner.patch(&path, json!({"message_retention_days": "realm_default"})).await.ok();
    owner.patch(&path, json!({"can_resolve_topics_group": {"new": 4}})).await.ok();
    owner.patch(&path, json!({"description": ""})).await.ok();
    assert_eq!(newest(&owner, "channel", json!(id)).await, last);
}

/// The newest message of a channel as HTML, as raw JSON.
async fn shown(client: &Client, stream_id: i64) -> Value {
    let narrow = json!([{"operator": "channel", "operand": stream_id}]);
    let parameters = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": narrow});
    let found = client.get("/messages", parameters).await.ok();
    found["messages"].as_array().unwrap().last().expect("a message").clone()
}

#[tokio::test]
async fn names_of_channels_are_text_in_notices() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let news = channel(&ada, "news").await;
    subscribe(&bob, "news", json!({})).await.ok();
    server.set_realm_setting("new_stream_announcements_stream_id", json!(news)).await;
    let name = "a** @**all** [x](//e.example) #**b";
    let id = channel_with(&ada, json!({"name": name, "announce": true})).await;
    for client in [&ada, &bob] {
        let notice = shown(client, news).await;
        let html = notice["content"].as_str().unwrap();
        assert!(html.contains(&format!("data-stream-id=\"{id}\"")), "{html}");
        assert!(html.contains("#a** @**all** [x](//e.example) #**b</a>"), "{html}");
        assert!(!html.contains("data-user-id=\"*\""), "{html}");
    }
    assert_eq!(shown(&bob, news).await["flags"], json!([]), "nobody is mentioned");
    // Sending the Markdown of the notice again does not reveal it either.
    let (_, source, _) = newest(&bob, "channel", json!(news)).await;
    let again = bob.post("/messages/render", json!({ "content": source })).await.ok();
    assert!(!again["rendered"].as_str().unwrap().contains("data-user-id=\"*\""), "{again}");
    ada.patch(&format!("/streams/{id}"), json!({"new_name": "[x](https://e.example) **y**"})).await.ok();
    let notice = shown(&ada, id).await;
    let html = notice["content"].as_str().unwrap();
    assert!(html.ends_with("to <strong>[x](https://e.example) **y**</strong>.</p>"), "{html}");
}

#[tokio::test]
async fn descriptions_in_notices_use_the_access_of_their_author() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (eve, bob) = (server.member("eve").await, server.member("bob").await);
    let secret = super::private_channel(&owner, "layoffs").await;
    owner.send(secret, "eve goes", "soon").await;
    let description = format!("#**layoffs>eve goes** #**layoffs** @**Bob|{}**", bob.user_id);
    let id = channel_with(&eve, json!({"name": "gossip", "description": description})).await;
    let created = shown(&eve, id).await;
    eve.patch(&format!("/streams/{id}"), json!({"description": format!("{description} again")})).await.ok();
    let changed = shown(&eve, id).await;
    for notice in [&created, &changed] {
        let html = notice["content"].as_str().unwrap();
        assert!(!html.contains("data-stream-id") && !html.contains(&format!("{secret}-layoffs")), "{html}");
        assert!(html.contains("layoffs&gt;eve goes"), "{html}");
        assert!(
            html.contains(&format!("class=\"user-mention silent\" data-user-id=\"{}\"", bob.user_id)),
            "{html}"
        );
    }
    assert!(changed["content"].as_str().unwrap().contains("again</p>\n</blockquote>"), "{changed}");
    subscribe(&bob, "gossip", json!({})).await.ok();
    let flags = shown(&bob, id).await["flags"].clone();
    assert!(!flags.as_array().unwrap().contains(&json!("mentioned")), "{flags}");
}
