//! Domains whose addresses may join.

use crate::harness::TestServer;
use serde_json::json;

// conformance: realm-18
#[tokio::test]
async fn domains_are_added_changed_and_removed() {
    let server = TestServer::start().await;
    let (owner, guest) = (server.owner().await, server.guest("guest").await);
    let mut queue = guest.register(json!({"event_types": ["realm_domains"]})).await;
    assert_eq!(queue.state["realm_domains"], json!([]));
    let added =
        owner.post("/realm/domains", json!({"domain": " Example.COM ", "allow_subdomains": false})).await;
    let id: i64 = server.column("SELECT id FROM realm_domain").await[0].parse().unwrap();
    assert_eq!(added.ok()["new_domain"], json!([id, "example.com"]));
    owner.patch("/realm/domains/example.com", json!({"allow_subdomains": true})).await.ok();
    let changed = json!({"domain": "example.com", "allow_subdomains": true});
    assert_eq!(guest.get("/realm/domains", ()).await.ok()["domains"], json!([changed]));
    owner.delete("/realm/domains/example.com", ()).await.ok();
    queue
        .expect(&[
            json!({"type": "realm_domains", "op": "add",
                "realm_domain": {"domain": "example.com", "allow_subdomains": false}}),
            json!({"type": "realm_domains", "op": "change", "realm_domain": changed}),
            json!({"type": "realm_domains", "op": "remove", "domain": "example.com"}),
        ])
        .await;
    assert_eq!(guest.get("/realm/domains", ()).await.ok()["domains"], json!([]));
}

// conformance: realm-18
#[tokio::test]
async fn removing_the_last_domain_lifts_the_restriction() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    for domain in ["example.com", "example.org"] {
        owner.post("/realm/domains", json!({"domain": domain, "allow_subdomains": false})).await.ok();
    }
    owner.patch("/realm", json!({"emails_restricted_to_domains": true})).await.ok();
    let mut queue = owner.register(json!({"event_types": ["realm", "realm_domains"]})).await;
    owner.delete("/realm/domains/example.com", ()).await.ok();
    queue.expect(&[json!({"type": "realm_domains", "op": "remove", "domain": "example.com"})]).await;
    owner.delete("/realm/domains/example.org", ()).await.ok();
    queue
        .expect(&[
            json!({"type": "realm", "op": "update", "property": "emails_restricted_to_domains", "value": false}),
            json!({"type": "realm_domains", "op": "remove", "domain": "example.org"}),
        ])
        .await;
}

// conformance: realm-19
#[tokio::test]
async fn invalid_domains_are_refused() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let example = json!({"domain": "example.com", "allow_subdomains": false});
    owner.post("/realm/domains", &example).await.ok();
    for (domain, msg) in [
        ("", "Invalid domain: Domain can't be empty."),
        ("example", "Invalid domain: Domain must have at least one dot (.)"),
        ("EXAMPLE.com", "The domain example.com is already a part of your organization."),
    ] {
        let refused = owner.post("/realm/domains", json!({"domain": domain, "allow_subdomains": true})).await;
        refused.error(400, "BAD_REQUEST", msg);
    }
    let refused = owner.post("/realm/domains", json!({"domain": "example.org"})).await;
    refused.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'allow_subdomains' argument");
    let refused =
        owner.post("/realm/domains", json!({"domain": "a.example", "allow_subdomains": "yes"})).await;
    refused.error(400, "BAD_REQUEST", "allow_subdomains is not valid JSON");
    let unknown = "No entry found for domain example.net.";
    let refused = owner.patch("/realm/domains/example.net", json!({"allow_subdomains": true})).await;
    refused.error(400, "BAD_REQUEST", unknown);
    owner.delete("/realm/domains/example.net", ()).await.error(400, "BAD_REQUEST", unknown);
    let path = "/realm/domains/example.com";
    for refused in [
        admin.post("/realm/domains", &example).await,
        admin.patch(path, json!({"allow_subdomains": true})).await,
        admin.delete(path, ()).await,
    ] {
        refused.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
    }
}

#[tokio::test]
async fn email_changes_are_limited_to_allowed_domains() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    owner.post("/realm/domains", json!({"domain": "example.com", "allow_subdomains": false})).await.ok();
    owner.patch("/realm", json!({"emails_restricted_to_domains": true})).await.ok();
    for (email, msg) in [
        ("ada@example.net", "Outside your domain."),
        ("ada+1@example.com", "Email addresses containing + are not allowed."),
    ] {
        ada.patch("/settings", json!({"email": email})).await.error(400, "BAD_REQUEST", msg);
    }
    ada.patch("/settings", json!({"email": "lovelace@example.com"})).await.ok();
}

#[tokio::test]
async fn events_and_a_new_state_agree() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    server
        .check_state_sync(&[&owner, &admin, &ada, &guest], async || {
            for domain in ["example.com", "example.org"] {
                owner.post("/realm/domains", json!({"domain": domain, "allow_subdomains": false})).await.ok();
            }
            owner.patch("/realm", json!({"emails_restricted_to_domains": true})).await.ok();
            owner.patch("/realm/domains/example.org", json!({"allow_subdomains": true})).await.ok();
            for domain in ["example.com", "example.org"] {
                owner.delete(&format!("/realm/domains/{domain}"), ()).await.ok();
            }
        })
        .await;
}
