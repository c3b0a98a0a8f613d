//! Limits on people who join: attempts, permissions of the inviter, the number a day.

use super::{Page, link, links_of_bot, text};
use crate::harness::TestServer;
use hyper::Method;
use serde_json::json;
use teamchat::domain::groups::system::SystemGroup;
use teamchat::types::Role;

#[tokio::test]
async fn attempts_of_an_address_are_limited() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let page = Page::open(&server, &link(&owner, json!({})).await).await;
    for _ in 0..100 {
        assert_eq!(page.send(json!({})).await.status, 400);
    }
    let answer = page.send(json!({})).await;
    assert_eq!((answer.status, answer.header("retry-after")), (429, "600"), "{answer}");
    assert!(text(&answer).contains("<h1>Too many attempts</h1>"), "{answer}");
    server.clock.advance(600);
    page.join("Ada").await;
}

// conformance: invite-18
#[tokio::test]
async fn links_are_limited_by_their_inviter() {
    let server = TestServer::start().await;
    let (owner, boss) = (server.owner().await, server.user("boss", Role::Owner, None, None).await);
    let admin = server.administrator("admin").await;
    let secret = server.private_channel("secret", &[&owner, &admin]).await;
    let as_owner = Page::open(&server, &link(&boss, json!({"invite_as": 100})).await).await;
    let as_member = Page::open(&server, &link(&admin, json!({"stream_ids": [secret]})).await).await;
    admin.post("/invites", json!({"invitee_emails": "new@example.com", "stream_ids": []})).await.ok();
    let for_one = Page::open(&server, &links_of_bot(&admin).await[0]).await;

    // A user without permission to invite sees no links.
    let mut of_owner = owner.register(json!({"event_types": ["invites_changed"]})).await;
    owner.patch(&format!("/users/{}", boss.user_id), json!({"role": 600})).await.ok();
    of_owner.expect(&[json!({"type": "invites_changed"})]).await;
    let gone = async |page: &Page| {
        let fields = json!({"full_name": "Eve", "email": "eve@example.com", "password": "correct horse"});
        let answer = page.send(fields).await;
        assert!(text(&answer).contains("<h1>This invitation does not work</h1>"), "{answer}");
        assert_eq!(answer.status, 404);
    };
    gone(&as_owner).await;
    assert_eq!(server.column("SELECT count(*) FROM invite WHERE is_revoked").await, ["1"]);

    of_owner.ignore();

    // A channel that the inviter has left is not given away.
    let leave = json!({"subscriptions": ["secret"]});
    admin.request(Method::DELETE, "/users/me/subscriptions").form(leave).send().await.ok();
    let (email, api_key) = as_member.join("Ada").await;
    let mut ada = server.anonymous();
    (ada.email, ada.api_key) = (email, Some(api_key));
    assert_eq!(ada.get("/users/me/subscriptions", ()).await.ok()["subscriptions"], json!([]));

    // The inviter's permission is checked when the link is used, and the link works again when the permission is
    // restored.
    let only_owners =
        json!({"can_invite_users_group": {"new": 2}, "create_multiuse_invite_group": {"new": 2}});
    owner.patch("/realm", only_owners).await.ok();
    gone(&as_member).await;
    gone(&for_one).await;
    owner.patch("/realm", json!({"can_invite_users_group": {"new": 6}})).await.ok();
    for_one.join("New").await;
}

// conformance: invite-20
#[tokio::test]
async fn members_invite_a_limited_number_of_users_per_day() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    server.set_realm_group("create_multiuse_invite_group", SystemGroup::Members).await;
    server
        .sql(&format!(
            "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 20)
             INSERT INTO user (email, delivery_email, delivery_email_key, full_name, role, date_joined, invited_by)
             SELECT n || '@x.example', n || '@x.example', n || '@x.example', n, 400,
                 (SELECT date_joined FROM user WHERE user_id = {0}), {0} FROM number",
            ada.user_id
        ))
        .await;
    let of_ada = link(&ada, json!({"invite_expires_in_minutes": null})).await;
    let fields = json!({"full_name": "New", "email": "new@example.com", "password": "correct horse"});
    let page = Page::open(&server, &of_ada).await;
    let answer = page.send(fields.clone()).await;
    assert_eq!(answer.status, 429, "{answer}");
    assert!(text(&answer).contains("Too many people joined today"), "{answer}");
    // Administrators make accounts anyway.
    Page::open(&server, &link(&owner, json!({})).await).await.join("Bob").await;
    server.clock.advance(24 * 60 * 60);
    assert_eq!(page.send(fields).await.status, 200);
    let inviters = "SELECT invited_by FROM user WHERE full_name IN ('Bob', 'New') ORDER BY full_name";
    assert_eq!(server.column(inviters).await, [owner.user_id.to_string(), ada.user_id.to_string()]);
}
