//! How many things one request may name.

use super::too_many;
use crate::harness::TestServer;
use serde_json::{Value, json};
use teamchat::domain::limits;

/// An id that is repeated is one.
#[tokio::test]
async fn an_invitation_has_a_limited_number_of_channels_and_groups() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let channel = server.channel("channel", &[&owner]).await;
    let made =
        owner.post("/user_groups/create", json!({"name": "a", "description": "", "members": []})).await.ok();
    let forms = |stream_ids: Value, group_ids: Value| {
        let link = json!({"stream_ids": stream_ids, "group_ids": group_ids});
        let mut by_email = link.clone();
        by_email["invitee_emails"] = "eve@example.com".into();
        [("/invites/multiuse", link), ("/invites", by_email)]
    };
    let numbers = |count: usize| json!((1..=count).collect::<Vec<_>>());
    let (channels, groups) = (limits::MAX_CHANNELS_PER_REQUEST, limits::MAX_GROUPS_OF_INVITE);
    for (path, form) in forms(numbers(channels + 1), json!([])) {
        too_many(&owner.post(path, form).await, "channels in one request", channels);
    }
    for (path, form) in forms(json!([]), numbers(groups + 1)) {
        too_many(&owner.post(path, form).await, "groups in one request", groups);
    }
    let repeated = |id: &Value| json!(vec![id; 90_000]);
    for (path, form) in forms(repeated(&channel.into()), repeated(&made["group_id"])) {
        owner.post(path, form).await.ok();
    }
    let stored = server.column("SELECT stream_ids || group_ids FROM invite WHERE NOT is_revoked").await;
    let expected = format!("[{channel}][{}]", made["group_id"]);
    assert_eq!(stored, [expected.as_str(), &expected]);
}
