//! Accounts that came by invitations invite others.

use super::{Page, link};
use crate::harness::{Client, TestServer};
use serde_json::json;
use teamchat::commands::Command;
use teamchat::domain::groups::system::SystemGroup;
use teamchat::domain::limits::MAX_JOINED_BY_INVITER;

/// A person joins by a link of another one, and the link of the new person.
async fn join(server: &TestServer, link_of_inviter: &str, inviter: &Client, name: &str) -> String {
    let (email, key) = Page::open(server, link_of_inviter).await.join(name).await;
    let mut person = inviter.with_key(&key);
    person.email = email;
    link(&person, json!({"invite_expires_in_minutes": null})).await
}

#[tokio::test]
async fn joins_are_counted_along_the_chain_of_invitations() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    server.set_realm_group("create_multiuse_invite_group", SystemGroup::Members).await;
    let mut last = link(&ada, json!({"invite_expires_in_minutes": null})).await;
    let of_ada = last.clone();
    // Each invites the next one.
    for number in 0..MAX_JOINED_BY_INVITER {
        last = join(&server, &last, &ada, &format!("Person{number}")).await;
    }
    let fields = json!({"full_name": "New", "email": "new@example.com", "password": "correct horse"});
    for link in [&last, &of_ada] {
        let answer = Page::open(&server, link).await.send(fields.clone()).await;
        assert_eq!(answer.status, 429, "{answer}");
    }
    let command = |dry_run| Command::DeactivateInvited { email: "person17@example.com".to_owned(), dry_run };
    let invited = json!(["person17@example.com", "person18@example.com", "person19@example.com"]);
    assert_eq!(server.command(command(true)).await, invited);
    let active = "SELECT count(*) FROM user WHERE is_active AND full_name LIKE 'Person%'";
    assert_eq!(server.column(active).await, ["20"]);
    assert_eq!(server.command(command(false)).await, invited);
    assert_eq!(server.column(active).await, ["17"]);
    server.clock.advance(24 * 60 * 60);
    assert_eq!(Page::open(&server, &of_ada).await.send(fields).await.status, 200);
}
