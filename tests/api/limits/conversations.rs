//! Limits on direct conversations.

use super::too_many;
use crate::harness::{Answer, Client, TestServer};
use serde_json::json;
use teamchat::domain::limits;

async fn write(from: &Client, to: &[&Client]) -> Answer {
    let to: Vec<i64> = to.iter().map(|client| client.user_id).collect();
    from.post("/messages", json!({"type": "direct", "to": to, "content": "Hi"})).await
}

/// A conversation appears in the lists of all participants, so the bots of a user share the user's limit. Participants
/// do not lose their own allowance.
#[tokio::test]
async fn a_user_begins_a_limited_number_of_conversations() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let (bob, cleo, dora) =
        (server.member("bob").await, server.member("cleo").await, server.member("dora").await);
    let helper = server.bot("helper", &ada).await;
    let limit = limits::MAX_DIRECT_CONVERSATIONS;
    server
        .sql(&format!(
            "INSERT INTO recipient (user_ids, created_by)
             WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {})
             SELECT '0,' || number, {} FROM one;
             INSERT INTO direct_participant
             SELECT user_id, recipient_id FROM recipient CROSS JOIN user
             WHERE user_ids LIKE '0,%' AND user_id IN ({}, {})",
            limit - 2,
            ada.user_id,
            ada.user_id,
            bob.user_id
        ))
        .await;
    write(&ada, &[&bob, &cleo]).await.ok();
    write(&helper, &[&bob, &cleo]).await.ok();
    too_many(&write(&ada, &[&bob, &dora]).await, "direct conversations", limit);
    too_many(&write(&helper, &[&bob, &dora]).await, "direct conversations", limit);
    // Existing conversations continue, those of two users are unlimited, and other users are unaffected.
    write(&ada, &[&bob, &cleo]).await.ok();
    write(&ada, &[&dora]).await.ok();
    write(&bob, &[&ada, &dora]).await.ok();
    write(&bob, &[&cleo, &dora]).await.ok();
}

#[tokio::test]
async fn the_conversations_of_a_user_have_a_limited_number_of_participants() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let (bob, cleo, dora) =
        (server.member("bob").await, server.member("cleo").await, server.member("dora").await);
    let limit = limits::MAX_DIRECT_PARTICIPANTS;
    server
        .sql(&format!(
            "WITH RECURSIVE one (number) AS (SELECT 1000 UNION ALL SELECT number + 1 FROM one LIMIT {})
             INSERT INTO recipient (user_ids, created_by) SELECT group_concat(number), {} FROM one",
            limit - 3,
            ada.user_id
        ))
        .await;
    write(&ada, &[&bob, &cleo]).await.ok();
    too_many(&write(&ada, &[&bob, &dora]).await, "participants of direct conversations", limit);
    write(&ada, &[&bob, &cleo]).await.ok();
    write(&ada, &[&dora]).await.ok();
}
