//! `GET /invites`, `DELETE /invites/multiuse/{invite_id}` and `DELETE /invites/{invite_id}`.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

/// Invites a user by email. Returns the invitation's id.
async fn invite(client: &Client, email: &str, invite_as: i64) -> Value {
    let params = json!({"invitee_emails": email, "stream_ids": [], "invite_as": invite_as});
    client.post("/invites", params).await.ok();
    let listed = client.get("/invites", ()).await.ok();
    listed["invites"].as_array().unwrap().last().unwrap()["id"].clone()
}

async fn ids(client: &Client) -> Value {
    let listed = client.get("/invites", ()).await.ok();
    listed["invites"].as_array().unwrap().iter().map(|invite| invite["id"].clone()).collect()
}

// conformance: invite-2, invite-13
#[tokio::test]
async fn people_manage_their_own_and_administrators_all() {
    let server = TestServer::start().await;
    let (owner, administrator) = (server.owner().await, server.administrator("alan").await);
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let (guest, bot) = (server.guest("guest").await, server.bot("helper", &owner).await);
    let of_owner = invite(&owner, "new@example.com", 100).await;
    let of_ada = invite(&ada, "other@example.com", 400).await;
    assert_eq!(ids(&owner).await, json!([of_owner, of_ada]));
    assert_eq!(ids(&administrator).await, json!([of_owner, of_ada]));
    assert_eq!(ids(&ada).await, json!([of_ada]));
    assert_eq!(ids(&bob).await, json!([]));
    guest.get("/invites", ()).await.error(400, "BAD_REQUEST", "Not allowed for guest users");
    bot.get("/invites", ()).await.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");

    let mut of_administrator = administrator.register(json!({"event_types": ["invites_changed"]})).await;
    let mut queue = ada.register(json!({"event_types": ["invites_changed"]})).await;
    let mut of_bob = bob.register(json!({"event_types": ["invites_changed"]})).await;
    let path = format!("/invites/{of_ada}");
    bob.delete(&path, ()).await.error(400, "BAD_REQUEST", "Must be an organization administrator");
    guest.delete(&path, ()).await.error(400, "BAD_REQUEST", "Not allowed for guest users");
    bot.delete(&path, ()).await.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");
    let of_owner = format!("/invites/{of_owner}");
    let answer = administrator.delete(&of_owner, ()).await;
    answer.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
    administrator.delete(&path, ()).await.ok();
    administrator.delete(&path, ()).await.error(400, "BAD_REQUEST", "No such invitation");
    queue.expect(&[json!({"type": "invites_changed"})]).await;
    of_administrator.expect(&[json!({"type": "invites_changed"})]).await;
    of_bob.expect_nothing().await;
    owner.delete(&of_owner, ()).await.ok();
    of_administrator.expect(&[json!({"type": "invites_changed"})]).await;
    assert_eq!(ids(&owner).await, json!([]));
}

#[tokio::test]
async fn invitation_links_are_listed_with_permission_for_the_role() {
    let server = TestServer::start().await;
    let (owner, administrator) = (server.owner().await, server.administrator("alan").await);
    let mut links = Vec::new();
    for role in [100, 200, 300, 400] {
        let made = owner.post("/invites/multiuse", json!({ "invite_as": role })).await.ok();
        links.push(made["invite_link"].clone());
    }
    invite(&owner, "new@example.com", 100).await;
    let listed = async |client: &Client| -> Vec<Option<Value>> {
        let listed = client.get("/invites", ()).await.ok();
        listed["invites"].as_array().unwrap().iter().map(|invite| invite.get("link_url").cloned()).collect()
    };
    let mut expected: Vec<_> = links.iter().cloned().map(Some).chain([None]).collect();
    assert_eq!(listed(&owner).await, expected);
    expected[0] = Some(json!(""));
    assert_eq!(listed(&administrator).await, expected);
    owner.patch(&format!("/users/{}", administrator.user_id), json!({"role": 100})).await.ok();
    expected[0] = Some(links[0].clone());
    assert_eq!(listed(&administrator).await, expected);
}

// conformance: invite-14
#[tokio::test]
async fn a_link_that_was_revoked_cannot_be_revoked_again() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    owner.post("/invites/multiuse", ()).await.ok();
    let path = "/invites/multiuse/1";
    ada.delete(path, ()).await.error(400, "BAD_REQUEST", "Must be an organization administrator");
    // Each kind has its own endpoint.
    owner.delete("/invites/1", ()).await.error(400, "BAD_REQUEST", "No such invitation");
    owner.delete("/invites/multiuse/2", ()).await.error(400, "BAD_REQUEST", "No such invitation");
    let email = invite(&owner, "new@example.com", 400).await;
    let answer = owner.delete(&format!("/invites/multiuse/{email}"), ()).await;
    answer.error(400, "BAD_REQUEST", "No such invitation");
    owner.delete(path, ()).await.ok();
    owner.delete(path, ()).await.error(400, "BAD_REQUEST", "Invitation has already been revoked");
    assert_eq!(ids(&owner).await, json!([email]));
}

// conformance: invite-15
#[tokio::test]
async fn invitations_go_with_their_inviter() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.administrator("ada").await);
    let of_owner = invite(&owner, "kept@example.com", 400).await;
    invite(&ada, "new@example.com", 400).await;
    ada.post("/invites/multiuse", ()).await.ok();
    let mut queue = owner.register(json!({"event_types": ["invites_changed"]})).await;
    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    assert_eq!(ids(&owner).await, json!([of_owner]));
    queue.expect(&[json!({"type": "invites_changed"})]).await;
    assert_eq!(server.column("SELECT is_revoked FROM invite WHERE email IS NULL").await, ["1"]);
    owner.post(&format!("/users/{}/reactivate", ada.user_id), ()).await.ok();
    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    queue.expect_nothing().await;
}

// conformance: invite-16
#[tokio::test]
async fn the_first_owners_link_cannot_be_managed() {
    let server = TestServer::start().await;
    let link = server.command(teamchat::commands::Command::OwnerLink).await;
    assert!(link.as_str().unwrap().starts_with("/join/"), "{link}");
    let owner = server.owner().await;
    assert_eq!(ids(&owner).await, json!([]));
    owner.delete("/invites/multiuse/1", ()).await.error(400, "BAD_REQUEST", "No such invitation");
}
