//! `GET /streams/{stream_id}/email_address`.

use super::{NO_CHANNEL, NO_PERMISSION, channel, private_channel};
use crate::harness::TestServer;
use serde_json::json;

// conformance: channel-54
#[tokio::test]
async fn senders_are_accepted_where_no_mail_is_received() {
    let server = TestServer::start().await;
    let (admin, ada) = (server.administrator("admin").await, server.member("ada").await);
    let bot = server.bot("helper", &ada).await;
    let verona = channel(&ada, "Verona").await;
    let gateway = server.column("SELECT user_id FROM user WHERE email = 'emailgateway@zulip.com'").await;
    let gateway: i64 = gateway[0].parse().unwrap();
    let path = format!("/streams/{verona}/email_address");
    for (client, sender) in [(&ada, ada.user_id), (&ada, gateway), (&ada, bot.user_id), (&admin, bot.user_id)]
    {
        assert_eq!(client.get(&path, json!({"sender_id": sender})).await.ok()["email"], "");
    }
    assert_eq!(ada.get(&path, ()).await.ok()["email"], "");
}

// conformance: channel-55
#[tokio::test]
async fn sending_needs_read_access() {
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
