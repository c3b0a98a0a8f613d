//! Notices that one person causes to another, or in a channel of others: a number in a day.

use crate::harness::{Client, TestServer};
use hyper::Method;
use serde_json::{Value, json};
use teamchat::domain::limits::MAX_CAUSED_NOTICES;
use teamchat::domain::notices::NOTIFICATION_BOT;

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;

fn from_bot() -> Value {
    json!({"operator": "sender", "operand": NOTIFICATION_BOT})
}

fn mention(client: &Client) -> String {
    format!("@_**{}|{}**", client.full_name, client.user_id)
}

/// The beginning of the last notice of a person on a day.
fn last_of(client: &Client) -> String {
    let (name, count) = (mention(client), MAX_CAUSED_NOTICES);
    format!(
        "{name} caused {count} of my messages here within a day. Further messages are omitted until <time:"
    )
}

/// Subscribes others to a channel of the caller, and unsubscribes them.
async fn subscribe_and_remove(client: &Client, channel: &str, others: &[&Client]) {
    let others: Vec<i64> = others.iter().map(|other| other.user_id).collect();
    let add = json!({"subscriptions": [{"name": channel}], "principals": others});
    client.post("/users/me/subscriptions", add).await.ok();
    let remove = json!({"subscriptions": [channel], "principals": others});
    client.delete("/users/me/subscriptions", remove).await.ok();
}

async fn create_channel(client: &Client, name: &str, announce: bool) -> i64 {
    let create = json!({"name": name, "subscribers": [client.user_id], "announce": announce});
    client.post("/channels/create", create).await.ok()["id"].as_i64().unwrap()
}

#[tokio::test]
async fn a_person_causes_a_number_of_notices_to_another_in_a_day() {
    let server = TestServer::start().await;
    let (ada, dora) = (server.member("ada").await, server.member("dora").await);
    let (bob, cleo) = (server.member("bob").await, server.member("cleo").await);
    create_channel(&ada, "den", false).await;
    create_channel(&dora, "garden", false).await;
    let (limit, text) =
        (MAX_CAUSED_NOTICES as usize, format!("{} subscribed you to #**den**.", mention(&ada)));
    for _ in 0..limit - 1 {
        subscribe_and_remove(&ada, "den", &[&bob, &cleo]).await;
    }
    assert_eq!(bob.notices().await, vec![text.clone(); limit - 1]);
    for _ in 0..3 {
        subscribe_and_remove(&ada, "den", &[&bob]).await;
    }
    let of_bob = bob.notices().await;
    assert_eq!((of_bob.len(), &of_bob[limit - 1]), (limit + 1, &text));
    assert!(of_bob[limit].starts_with(&last_of(&ada)), "{of_bob:?}");
    // Each recipient has a budget of their own.
    subscribe_and_remove(&ada, "den", &[&cleo]).await;
    let of_cleo = cleo.notices().await;
    assert_eq!((of_cleo.len(), &of_cleo[limit - 1]), (limit + 1, &text));

    // Other kinds of notices count with them, and those of bots.
    let group = json!({"name": "crew", "description": "", "members": [ada.user_id]});
    let group = ada.post("/user_groups/create", group).await.ok()["group_id"].clone();
    ada.post(&format!("/user_groups/{group}/members"), json!({"add": [bob.user_id]})).await.ok();
    let helper = server.bot("helper", &ada).await;
    let add = json!({"subscriptions": [{"name": "den"}], "principals": [bob.user_id]});
    helper.post("/users/me/subscriptions", add).await.ok();
    assert_eq!(bob.notices().await.len(), limit + 1);
    // Those of other people do not, nor those about the security of the account.
    subscribe_and_remove(&dora, "garden", &[&bob]).await;
    assert_eq!(bob.notices().await[limit + 1], format!("{} subscribed you to #**garden**.", mention(&dora)));
    let regenerated = bob.post("/users/me/api_key/regenerate", ()).await.ok();
    let bob = bob.with_key(regenerated["api_key"].as_str().unwrap());
    assert!(bob.notices().await[limit + 2].starts_with("A new API key of your account was created"));

    server.clock.advance(DAY - 1);
    ada.delete("/users/me/subscriptions", json!({"subscriptions": ["den"], "principals": [bob.user_id]}))
        .await
        .ok();
    subscribe_and_remove(&ada, "den", &[&bob]).await;
    assert_eq!(bob.notices().await.len(), limit + 3);
    server.clock.advance(1);
    for _ in 0..limit {
        subscribe_and_remove(&ada, "den", &[&bob]).await;
    }
    let of_bob = bob.notices().await;
    assert_eq!((of_bob.len(), &of_bob[limit + 3]), (2 * limit + 4, &text));
}

#[tokio::test]
async fn changes_of_roles_are_notices_that_another_person_causes() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    for number in 0..MAX_CAUSED_NOTICES + 2 {
        let role = if number % 2 == 0 { 300 } else { 400 };
        owner.patch(&format!("/users/{}", ada.user_id), json!({"role": role})).await.ok();
    }
    let notices = ada.notices().await;
    assert_eq!(notices.len(), MAX_CAUSED_NOTICES as usize + 1);
    assert!(notices.last().unwrap().starts_with(&last_of(&owner)), "{notices:?}");
}

#[tokio::test]
async fn announcements_of_one_person_are_limited() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let news = server.channel("news", &[&bob]).await;
    server.set_realm_setting("new_stream_announcements_stream_id", json!(news)).await;
    for number in 0..MAX_CAUSED_NOTICES + 2 {
        create_channel(&ada, &format!("room {number}"), true).await;
    }
    let announced =
        async || bob.contents(json!([from_bot(), {"operator": "topic", "operand": "new channels"}])).await;
    let limit = MAX_CAUSED_NOTICES as usize;
    let found = announced().await;
    assert_eq!(found.len(), limit + 1);
    assert!(found[limit].starts_with(&last_of(&ada)), "{found:?}");
    create_channel(&bob, "attic", true).await;
    assert_eq!(announced().await.len(), limit + 2);
    server.clock.advance(DAY);
    create_channel(&ada, "cellar", true).await;
    let expected = format!("{} created a new channel #**cellar**.", mention(&ada));
    assert_eq!(announced().await[limit + 2], expected);
}

/// A report without a recipient is refused, and not left out.
#[tokio::test]
async fn reports_of_one_person_are_limited() {
    let server = TestServer::start().await;
    let moderator = server.moderator("moderator").await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let general = server.channel("general", &[&ada, &bob]).await;
    let requests = server.private_channel("requests", &[&moderator]).await;
    server.set_realm_setting("moderation_request_channel_id", json!(requests)).await;
    let path = format!("/messages/{}/report", bob.send(general, "food", "soup").await);
    let spam = json!({"report_type": "spam"});
    for _ in 0..MAX_CAUSED_NOTICES {
        ada.post(&path, &spam).await.ok();
    }
    let reports =
        async || moderator.contents(json!([from_bot(), {"operator": "channel", "operand": requests}])).await;
    let limit = MAX_CAUSED_NOTICES as usize;
    assert_eq!(reports().await.len(), limit + 1);
    let msg = "You have reported too many messages. Try again in 24 hours.";
    ada.post(&path, &spam).await.error(400, "BAD_REQUEST", msg);
    bob.post(&path, &spam).await.ok();
    assert_eq!(reports().await.len(), limit + 2);
    server.clock.advance(DAY - HOUR);
    let msg = "You have reported too many messages. Try again in an hour.";
    ada.post(&path, &spam).await.error(400, "BAD_REQUEST", msg);
    server.clock.advance(HOUR);
    ada.post(&path, &spam).await.ok();
    assert_eq!(reports().await.len(), limit + 3);
}

/// The links go to the administrators, also those of an invitation that is made again after it was revoked.
// conformance: invite-21
#[tokio::test]
async fn links_of_email_invitations_are_limited() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let invite = |email: &str| json!({"invitee_emails": email, "stream_ids": []});
    let first = async |client: &Client| client.get("/invites", ()).await.ok()["invites"][0]["id"].clone();
    for _ in 1..MAX_CAUSED_NOTICES {
        ada.post("/invites", invite("new@example.com")).await.ok();
        ada.delete(&format!("/invites/{}", first(&ada).await), ()).await.ok();
    }
    ada.post("/invites", invite("new@example.com")).await.ok();
    let limit = MAX_CAUSED_NOTICES as usize;
    let notices = owner.notices().await;
    assert_eq!(notices.len(), limit + 1);
    assert!(notices[limit].starts_with(&last_of(&ada)), "{notices:?}");
    let refused = ada.post("/invites", invite("other@example.com")).await;
    let msg = "To protect users, Zulip limits the number of invitations you can send in one day. Because you have \
               reached the limit, no invitations were sent. Try again in 24 hours.";
    let refused = refused.error(400, "INVITATION_FAILED", msg);
    let flags = ["daily_limit_reached", "sent_invitations"].map(|name| refused[name].clone());
    assert_eq!(flags, [json!(true), json!(false)]);
    let msg = "You have sent too many invitations. Try again in 24 hours.";
    let again = format!("/invites/{}/resend", first(&ada).await);
    ada.post(&again, ()).await.error(400, "BAD_REQUEST", msg);
    assert_eq!(server.column("SELECT email FROM invite").await, ["new@example.com"]);
    // The inviter got no notice of the refused ones, either.
    assert_eq!((ada.notices().await.len(), owner.notices().await.len()), (limit, limit + 1));

    // Administrators get the links themselves.
    for number in 0..2 * limit {
        owner.post("/invites", invite(&format!("person{number}@example.com"))).await.ok();
    }
    let bob = server.member("bob").await;
    bob.post("/invites", invite("other@example.com")).await.ok();
    server.clock.advance(DAY);
    ada.post(&again, ()).await.ok();
}

// conformance: invite-22
#[tokio::test]
async fn an_invitation_is_sent_again_once_a_day() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let invite = json!({"invitee_emails": "one@example.com,two@example.com", "stream_ids": []});
    ada.post("/invites", invite).await.ok();
    let count = owner.notices().await.len();
    let refuse = async |path: &str, wait: &str| {
        let msg = format!("This invitation has been sent again within a day. Try again in {wait}.");
        ada.post(path, ()).await.error(400, "BAD_REQUEST", &msg);
    };
    ada.post("/invites/1/resend", ()).await.ok();
    refuse("/invites/1/resend", "24 hours").await;
    ada.post("/invites/2/resend", ()).await.ok();
    assert_eq!(owner.notices().await.len(), count + 2);
    server.clock.advance(DAY - HOUR);
    refuse("/invites/1/resend", "an hour").await;
    server.clock.advance(HOUR);
    ada.post("/invites/1/resend", ()).await.ok();
    for _ in 0..3 {
        owner.post("/invites/1/resend", ()).await.ok();
    }
}

/// Bots count for the person who created them, also after they have another owner.
#[tokio::test]
async fn the_bots_of_a_person_use_the_budget_of_that_person() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let (bob, dora) = (server.member("bob").await, server.member("dora").await);
    create_channel(&ada, "den", false).await;
    let (first, second) = (server.bot("first", &ada).await, server.bot("second", &ada).await);
    let subscribe = async |by: &Client| {
        let add = json!({"subscriptions": [{"name": "den"}], "principals": [bob.user_id]});
        by.post("/users/me/subscriptions", add).await.ok();
        let remove = json!({"subscriptions": ["den"], "principals": [bob.user_id]});
        ada.delete("/users/me/subscriptions", remove).await.ok();
    };
    let limit = MAX_CAUSED_NOTICES as usize;
    for number in 0..limit {
        subscribe(if number % 2 == 0 { &first } else { &second }).await;
    }
    let of_bob = bob.notices().await;
    assert_eq!(of_bob.len(), limit + 1);
    for (number, bot) in [&first, &second].into_iter().enumerate() {
        assert_eq!(of_bob[number], format!("{} subscribed you to #**den**.", mention(bot)));
    }
    assert!(of_bob[limit].starts_with(&last_of(&ada)), "{of_bob:?}");
    for by in [&first, &second, &ada] {
        subscribe(by).await;
    }
    let path = format!("/bots/{}", first.user_id);
    owner.patch(&path, json!({"bot_owner_id": dora.user_id})).await.ok();
    let api_key = dora.get(&format!("{path}/api_key"), ()).await.ok()["api_key"].clone();
    subscribe(&first.with_key(api_key.as_str().unwrap())).await;
    assert_eq!(bob.notices().await.len(), limit + 1);
    let other = server.bot("other", &dora).await;
    subscribe(&other).await;
    let expected = format!("{} subscribed you to #**den**.", mention(&other));
    assert_eq!(bob.notices().await[limit + 1], expected);
}

/// Notices that a person causes to themselves have no budget, also through bots: each bot reports once an hour.
#[tokio::test]
async fn incoming_webhooks_report_to_their_owner_without_a_budget() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bots = [server.webhook_bot("first", &ada).await, server.webhook_bot("second", &ada).await];
    let hours = MAX_CAUSED_NOTICES as usize / bots.len() + 1;
    for hour in 0..hours {
        for bot in &bots {
            let query = json!({"api_key": bot.api_key, "stream": format!("missing {hour}")});
            let delivery = server.anonymous().request(Method::POST, "/external/json").query(query);
            delivery.body("application/json", "{}").send().await.ok();
        }
        server.clock.advance(HOUR);
    }
    let notices = ada.notices().await;
    assert_eq!(notices.len(), hours * bots.len());
    let reports = |text: &String| text.contains("tried to send a message to channel #**missing ");
    assert!(notices.iter().all(reports), "{notices:?}");
}
