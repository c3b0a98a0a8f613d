//! `GET /streams/{stream_id}/email_address`.

use super::{NO_CHANNEL, NO_PERMISSION, channel, private_channel};
use crate::harness::{Client, TestServer};
use serde_json::json;

async fn email(client: &Client, id: i64, sender: Option<i64>) -> String {
    let parameters = sender.map_or_else(|| json!({}), |sender| json!({"sender_id": sender}));
    let answer = client.get(&format!("/streams/{id}/email_address"), parameters).await.ok();
    answer["email"].as_str().unwrap().to_owned()
}

// conformance: channel-54
#[tokio::test]
async fn an_address_stays_and_differs_by_channel_caller_and_sender() {
    let server = TestServer::start().await;
    let (admin, ada) = (server.administrator("admin").await, server.member("ada").await);
    let bot = server.bot("helper", &ada).await;
    let (verona, rome) = (channel(&ada, "Verona").await, channel(&ada, "Röm").await);
    let gateway = server.column("SELECT user_id FROM user WHERE email = 'emailgateway@zulip.com'").await;
    let gateway: i64 = gateway[0].parse().unwrap();
    let first = email(&ada, verona, None).await;
    let (name, rest) = first.split_once('.').unwrap();
    let (token, rest) = rest.split_once('.').unwrap();
    assert_eq!((name, rest), ("verona", "show-sender@127.0.0.1"), "{first}");
    assert!(token.len() == 32 && token.chars().all(|digit| digit.is_ascii_hexdigit()), "{first}");
    assert_eq!(email(&ada, verona, Some(gateway)).await, first);
    let mut all = vec![
        first,
        email(&ada, rome, None).await,
        email(&admin, verona, None).await,
        email(&ada, verona, Some(ada.user_id)).await,
        email(&ada, verona, Some(bot.user_id)).await,
        email(&admin, verona, Some(bot.user_id)).await,
    ];
    assert_eq!(email(&ada, verona, Some(bot.user_id)).await, all[4]);
    let (token, _) = all[1].split_once('.').unwrap();
    assert_eq!(token.len(), 32, "the name is left out: {}", all[1]);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 6);
}

// conformance: channel-55
#[tokio::test]
async fn who_cannot_read_a_channel_does_not_write_to_it() {
    let server = TestServer::start().await;
    let (admin, ada, bob) =
        (server.administrator("admin").await, server.member("ada").await, server.member("bob").await);
    let bot = server.bot("helper", &ada).await;
    let private = private_channel(&ada, "private").await;
    let open = channel(&ada, "open").await;
    let (status, code, msg) = NO_CHANNEL;
    for client in [&admin, &bob] {
        client.get(&format!("/streams/{private}/email_address"), ()).await.error(status, code, msg);
    }
    ada.get("/streams/999/email_address", ()).await.error(status, code, msg);
    let path = format!("/streams/{open}/email_address");
    let notification_bot = server.notification_bot().await;
    for sender in [ada.user_id, 999, notification_bot] {
        bob.get(&path, json!({"sender_id": sender})).await.error(400, "BAD_REQUEST", "No such bot");
    }
    let (status, code, msg) = NO_PERMISSION;
    bob.get(&path, json!({"sender_id": bot.user_id})).await.error(status, code, msg);
}
