//! Links of people who sign up with a reusable link.

use super::{open, start, submit};
use crate::harness::{Client, TestServer};
use crate::mail::sink::MailSink;
use serde_json::json;
use teamchat::domain::groups::system::SystemGroup;

/// The secret part of a new reusable link.
async fn reusable(client: &Client) -> String {
    let made = client.post("/invites/multiuse", json!({})).await.ok();
    let link = made["invite_link"].as_str().unwrap().trim_end_matches('/').to_owned();
    link.rsplit('/').next().unwrap().to_owned()
}

/// The link that a person gets who signs up with a reusable link.
async fn sign_up(server: &TestServer, sink: &mut MailSink, email: &str, key: &str) -> String {
    let answer = submit(server, "/register/", json!({"email": email, "invite": key})).await;
    assert_eq!(answer.status, 302, "{answer}");
    open(server, &sink.next().await.path("do_confirm")).await.header("location").to_owned()
}

#[tokio::test]
async fn links_end_when_the_reusable_link_is_revoked() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    let key = reusable(&owner).await;
    let link = sign_up(&server, &mut sink, "new@example.com", &key).await;
    let other = reusable(&owner).await;
    let kept = sign_up(&server, &mut sink, "new@example.com", &other).await;
    assert_eq!((open(&server, &link).await.status, open(&server, &kept).await.status), (200, 200));
    let invites = owner.get("/invites", ()).await.ok()["invites"].clone();
    let first = invites.as_array().unwrap().iter().find(|invite| invite["is_multiuse"] == true).unwrap();
    owner.delete(&format!("/invites/multiuse/{}", first["id"]), ()).await.ok();
    assert_eq!((open(&server, &link).await.status, open(&server, &kept).await.status), (404, 200));
}

#[tokio::test]
async fn links_need_the_permission_of_the_reusable_link() {
    let (server, mut sink) = start().await;
    server.set_realm_group("create_multiuse_invite_group", SystemGroup::Members).await;
    server.set_realm_group("can_invite_users_group", SystemGroup::Administrators).await;
    server.owner().await;
    let ada = server.member("ada").await;
    let key = reusable(&ada).await;
    let link = sign_up(&server, &mut sink, "new@example.com", &key).await;
    assert_eq!(open(&server, &link).await.status, 200);
    server.set_realm_group("can_invite_users_group", SystemGroup::Members).await;
    server.set_realm_group("create_multiuse_invite_group", SystemGroup::Administrators).await;
    assert_eq!(open(&server, &link).await.status, 404);
}

#[tokio::test]
async fn links_do_not_count_as_invitations_of_the_inviter() {
    let (server, mut sink) = start().await;
    let owner = server.owner().await;
    let key = reusable(&owner).await;
    sign_up(&server, &mut sink, "new@example.com", &key).await;
    let copies = "WITH RECURSIVE copy (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM copy WHERE number < 500)
        INSERT INTO invite (digest, email, invited_by_user_id, invited, expiry_date, invited_as, stream_ids, group_ids,
            include_realm_default_subscriptions, notify_referrer_on_join, parent_id)
        SELECT randomblob(32), number || '@example.com', invited_by_user_id, invited, expiry_date, invited_as, stream_ids,
            group_ids, 0, 0, parent_id FROM copy JOIN invite WHERE email = 'new@example.com'";
    server.sql(copies).await;
    assert_eq!(server.column("SELECT count(*) FROM invite WHERE parent_id IS NOT NULL").await, ["501"]);
    reusable(&owner).await;
}
