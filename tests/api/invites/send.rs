//! `POST /invites` and `POST /invites/{invite_id}/resend`.

use crate::harness::{START, TestServer};
use hyper::Method;
use serde_json::{Value, json};
use teamchat::domain::groups::system::SystemGroup;

/// The links in a message.
fn links_in(text: &str, origin: &str) -> Vec<String> {
    text.split_whitespace().filter(|word| word.starts_with(origin)).map(str::to_owned).collect()
}

fn emails(listed: &Value) -> Vec<&str> {
    listed["invites"].as_array().unwrap().iter().map(|invite| invite["email"].as_str().unwrap()).collect()
}

// conformance: invite-9, invite-17
#[tokio::test]
async fn each_person_gets_a_link_that_the_inviter_hands_over() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.administrator("ada").await);
    let mut of_owner = owner.register(json!({"event_types": ["invites_changed"]})).await;
    let params = json!({"invitee_emails": "new@example.com, Other <Other@example.com>\nnew@EXAMPLE.com",
        "stream_ids": [], "invite_expires_in_minutes": 5, "invite_as": 600, "notify_referrer_on_join": false});
    ada.post("/invites", params).await.ok();
    of_owner.expect(&[json!({"type": "invites_changed"})]).await;
    let listed = ada.get("/invites", ()).await.ok();
    assert_eq!(emails(&listed), ["new@example.com", "Other@example.com"]);
    assert_eq!(
        listed["invites"][0],
        json!({"id": 1, "invited_by_user_id": ada.user_id, "invited": START, "expiry_date": START + 300,
            "invited_as": 600, "is_multiuse": false, "notify_referrer_on_join": false, "email": "new@example.com"})
    );
    let origin = format!("http://{}", server.address());
    let text = "This server does not send email. Please give each of these people their own invitation link:";
    let links = links_in(&ada.notices().await[0], &origin);
    let (new, other) = (&links[0], &links[1]);
    let expected = format!("{text}\n\n* `new@example.com`: {new}\n* `Other@example.com`: {other}");
    assert_eq!(ada.notices().await, [expected]);
    // The file has only digests of links, so requesting one again creates another, and the first ends.
    assert_eq!(server.column("SELECT count(*) FROM invite WHERE key IS NULL").await, ["2"]);
    owner.post("/invites/1/resend", ()).await.ok();
    let again = links_in(&owner.notices().await[0], &origin).remove(0);
    assert_eq!(owner.notices().await, [format!("{text}\n\n* `new@example.com`: {again}")]);
    for (link, status) in [(new, 404), (&again, 200), (other, 200)] {
        let path = link.strip_prefix(&origin).unwrap();
        assert_eq!(
            server.anonymous().request_outside(Method::GET, path).send().await.status,
            status,
            "{link}"
        );
    }
    assert_eq!(ada.get("/invites", ()).await.ok(), listed);
    let bob = server.member("bob").await;
    assert_eq!(bob.notices().await, [""; 0]);
    let answer = bob.post("/invites/1/resend", ()).await;
    answer.error(400, "BAD_REQUEST", "Must be an organization administrator");
    owner.post("/invites/99/resend", ()).await.error(400, "BAD_REQUEST", "No such invitation");
    owner.post("/invites/multiuse", ()).await.ok();
    of_owner.expect(&[json!({"type": "invites_changed"})]).await;
    owner.post("/invites/3/resend", ()).await.error(400, "BAD_REQUEST", "No such invitation");
    server.clock.advance(300);
    owner.post("/invites/1/resend", ()).await.error(400, "BAD_REQUEST", "No such invitation");
    assert_eq!(owner.notices().await.len(), 1);
}

// conformance: invite-10, invite-11
#[tokio::test]
async fn registered_emails_are_not_invited() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    server.member("gone").await;
    server.sql("UPDATE user SET is_active = 0 WHERE email = 'gone@example.com'").await;
    let mut queue = ada.register(json!({"event_types": ["invites_changed"]})).await;
    let send =
        async |emails: &str| ada.post("/invites", json!({"invitee_emails": emails, "stream_ids": []})).await;

    let answer = send("owner@example.com,gone@example.com").await;
    let failed = answer.error(400, "INVITATION_FAILED", "We weren't able to invite anyone.");
    let errors = json!([
        ["owner@example.com", "Already has an account.", false],
        ["gone@example.com", "Account has been deactivated.", true]
    ]);
    assert_eq!((&failed["errors"], &failed["sent_invitations"]), (&errors, &json!(false)));
    assert_eq!(
        (&failed["daily_limit_reached"], &failed["license_limit_reached"]),
        (&json!(false), &json!(false))
    );

    let answer = send("new@example.com,nonsense,owner@example.com,a@evil.example/join,a`b`@x.example").await;
    let msg = "Some emails did not validate, so we didn't send any invitations.";
    let failed = answer.error(400, "INVITATION_FAILED", msg);
    let errors = json!([
        ["nonsense", "Invalid address.", false],
        ["a@evil.example/join", "Invalid address.", false],
        ["a`b`@x.example", "Invalid address.", false],
        ["owner@example.com", "Already has an account.", false]
    ]);
    assert_eq!((&failed["errors"], &failed["sent_invitations"]), (&errors, &json!(false)));
    queue.expect_nothing().await;
    assert_eq!(ada.notices().await, [""; 0]);

    let answer = send("new@example.com,owner@example.com").await;
    let msg = "Some of those addresses are already using Zulip, so we didn't send them an invitation. We did send \
               invitations to everyone else!";
    let failed = answer.error(400, "INVITATION_FAILED", msg);
    let errors = json!([["owner@example.com", "Already has an account.", false]]);
    assert_eq!((&failed["errors"], &failed["sent_invitations"]), (&errors, &json!(true)));
    queue.expect(&[json!({"type": "invites_changed"})]).await;
    assert_eq!(emails(&owner.get("/invites", ()).await.ok()), ["new@example.com"]);
}

// conformance: invite-11
#[tokio::test]
async fn only_people_of_the_organizations_domains_are_invited() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    owner.post("/realm/domains", json!({"domain": "example.com", "allow_subdomains": false})).await.ok();
    server.set_realm_setting("emails_restricted_to_domains", json!(true)).await;
    let emails = "a@example.com,a@example.org,a+b@example.com";
    let answer = owner.post("/invites", json!({"invitee_emails": emails, "stream_ids": []})).await;
    let msg = "Some emails did not validate, so we didn't send any invitations.";
    let failed = answer.error(400, "INVITATION_FAILED", msg);
    let errors = json!([
        ["a@example.org", "Outside your domain.", false],
        ["a+b@example.com", "Email addresses containing + are not allowed.", false]
    ]);
    assert_eq!(failed["errors"], errors);
}

// conformance: invite-12
#[tokio::test]
async fn missing_or_forbidden_values_are_refused() {
    let server = TestServer::start().await;
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let answer = ada.post("/invites", json!({"stream_ids": []})).await;
    answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'invitee_emails' argument");
    let answer = ada.post("/invites", json!({"invitee_emails": "a@example.com"})).await;
    answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'stream_ids' argument");
    let answer = ada.post("/invites", json!({"invitee_emails": " ,\n", "stream_ids": []})).await;
    answer.error(400, "BAD_REQUEST", "You must specify at least one email address.");
    let params = json!({"invitee_emails": "a@example.com", "stream_ids": []});
    guest.post("/invites", &params).await.error(400, "BAD_REQUEST", "Not allowed for guest users");
    let of_administrator = json!({"invitee_emails": "a@example.com", "stream_ids": [], "invite_as": 300});
    let answer = ada.post("/invites", of_administrator).await;
    answer.error(400, "BAD_REQUEST", "Must be an organization administrator");
    let unknown = json!({"invitee_emails": "a@example.com", "stream_ids": [77]});
    ada.post("/invites", unknown).await.error(
        400,
        "BAD_REQUEST",
        "Invalid channel ID 77. No invites were sent.",
    );
    server.set_realm_group("can_invite_users_group", SystemGroup::Moderators).await;
    ada.post("/invites", &params).await.error(400, "BAD_REQUEST", "Insufficient permission");
    server.moderator("mary").await.post("/invites", &params).await.ok();
}

// conformance: invite-9
#[tokio::test]
async fn many_links_come_in_several_messages() {
    let server = TestServer::start().await;
    let ada = server.owner().await;
    let many: Vec<String> = (0..41).map(|number| format!("person{number}@example.com")).collect();
    ada.post("/invites", json!({"invitee_emails": many.join(","), "stream_ids": []})).await.ok();
    let notices = ada.notices().await;
    assert_eq!(notices.len(), 2);
    assert_eq!(notices[0].matches("/join/").count(), 40);
    assert!(notices[1].contains("person40@example.com"), "{}", notices[1]);
}

// conformance: invite-19
#[tokio::test]
async fn links_of_others_invitations_go_to_the_administrators() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let (ada, mary) = (server.member("ada").await, server.moderator("mary").await);
    let params = json!({"invitee_emails": "new@example.com", "stream_ids": []});
    ada.post("/invites", &params).await.ok();
    let listed = ada.get("/invites", ()).await.ok();
    assert_eq!((emails(&listed), &listed["invites"][0]["link_url"]), (vec!["new@example.com"], &Value::Null));
    // The host that the inviter's request names is in no link that others get.
    let origin = "/join/";
    let intro = format!(
        "@_**Ada|{}** invites these people. This server does not send email: if you agree, please give each of them \
         their own invitation link:",
        ada.user_id
    );
    for administrator in [&owner, &admin] {
        let notices = administrator.notices().await;
        let link = links_in(&notices[0], origin).remove(0);
        assert_eq!(notices, [format!("{intro}\n\n* `new@example.com`: {link}")]);
    }
    let passed_on = "This server does not send email. The administrators have the invitation links of these people, and \
                     one of them passes the links on:\n\n* `new@example.com`";
    assert_eq!(ada.notices().await, [passed_on]);
    assert_eq!(mary.notices().await, [""; 0]);

    // A new link goes the same way, and the old one ends.
    let old = links_in(&owner.notices().await[0], origin).remove(0);
    ada.post("/invites/1/resend", ()).await.ok();
    let new = links_in(&owner.notices().await[1], origin).remove(0);
    assert_eq!(ada.notices().await, [passed_on, passed_on]);
    for (link, status) in [(old, 404), (new, 200)] {
        let opened = server.anonymous().request_outside(Method::GET, &link).send().await;
        assert_eq!(opened.status, status, "{link}");
    }
    mary.post("/invites", json!({"invitee_emails": "other@example.com", "stream_ids": []})).await.ok();
    assert!(links_in(&mary.notices().await.concat(), origin).is_empty());
}
