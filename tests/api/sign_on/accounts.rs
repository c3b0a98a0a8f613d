//! The accounts of identities: deactivated ones, those of another subject, and new ones.

use super::{Browser, TestProvider, redirected, server_with, text};
use crate::harness::{Answer, Client, TestServer};
use serde_json::{Value, json};
use teamchat::types::Role;

const SIGN_UP: &str = "/accounts/register/social/test";

/// Checks that there is no account, for a reason.
#[track_caller]
fn refused(answer: &Answer, reason: &str) {
    assert_eq!((answer.status, answer.header("content-type")), (403, "text/html; charset=utf-8"), "{answer}");
    assert!(answer.header("content-security-policy").starts_with("default-src 'none'"));
    let text = text(answer);
    assert!(text.contains("<h1>You have no account here</h1>") && text.contains(reason), "{text}");
}

/// The secret part of a new invitation link.
async fn link(owner: &Client, parameters: Value) -> String {
    let made = owner.post("/invites/multiuse", parameters).await.ok();
    let link = made["invite_link"].as_str().unwrap().to_owned();
    link.split("/join/").nth(1).unwrap().trim_end_matches('/').to_owned()
}

async fn with_owner(auto_create: bool) -> (TestProvider, TestServer, Client) {
    let provider = TestProvider::start();
    let server = server_with(&provider, auto_create).await;
    let admin = server.user("admin", Role::Owner, None, None).await;
    (provider, server, admin)
}

async fn emails(server: &TestServer) -> Vec<String> {
    let query =
        "SELECT delivery_email FROM user WHERE NOT is_system_bot AND bot_type IS NULL ORDER BY user_id";
    server.column(query).await
}

const NOT_INVITED: &str = "Please request an invite for ada@example.com from the organization administrator.";

// conformance: auth-50
#[tokio::test]
async fn deactivated_accounts_are_named_on_the_login_page() {
    let (provider, server, owner) = with_owner(true).await;
    let ada = server.member("ada").await;
    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    let mut browser = Browser::of(&server);
    assert_eq!(redirected(&browser.log_in(&provider).await), "/login/?is_deactivated=ada%40example.com");
    assert_eq!(browser.user().await, None);
    assert_eq!(server.column("SELECT count(*) FROM identity").await, ["0"]);
    // Also for an identity that was used before.
    owner.post(&format!("/users/{}/reactivate", ada.user_id), ()).await.ok();
    assert_eq!(redirected(&browser.log_in(&provider).await), "/");
    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    assert_eq!(redirected(&browser.log_in(&provider).await), "/login/?is_deactivated=ada%40example.com");
    assert_eq!(browser.user().await, None);
}

// conformance: auth-50
#[tokio::test]
async fn a_deactivated_organization_logs_no_one_in() {
    let (provider, server, owner) = with_owner(true).await;
    server.member("ada").await;
    let mut browser = Browser::of(&server);
    let page = browser.begin(super::LOGIN).await;
    owner.post("/realm/deactivate", ()).await.ok();
    assert_eq!(redirected(&browser.open(&provider.authorize(&page)).await), "/login/");
    assert_eq!(server.column("SELECT count(*) FROM session").await, ["0"]);
}

// conformance: auth-51
#[tokio::test]
async fn the_identity_wins_over_the_email() {
    let (provider, server, _) = with_owner(false).await;
    let ada = server.member("ada").await;
    server.member("bob").await;
    let mut browser = Browser::of(&server);
    assert_eq!(redirected(&browser.log_in(&provider).await), "/");
    // The same person with the address of another account.
    provider.answers().profile["email"] = "bob@example.com".into();
    assert_eq!(redirected(&browser.log_in(&provider).await), "/");
    assert_eq!(browser.user().await, Some(json!("ada@example.com")));
    // Another person with the address of the account, in any case.
    for email in ["ada@example.com", "ADA@example.com"] {
        let mut other = Browser::of(&server);
        provider.answers().profile["email"] = email.into();
        provider.answers().subject = "subject-2".to_owned();
        assert_eq!(redirected(&other.log_in(&provider).await), "/login/", "{email}");
        assert_eq!(other.user().await, None);
    }
    let identities = server.column("SELECT subject || ' ' || user_id FROM identity").await;
    assert_eq!(identities, [format!("subject-1 {}", ada.user_id)]);
}

#[tokio::test]
async fn an_email_whose_lower_case_is_that_of_an_account_is_another_one() {
    let (provider, server, _) = with_owner(false).await;
    server.member("kim").await;
    let mut browser = Browser::of(&server);
    // The Kelvin sign, whose lower case is the letter k.
    provider.answers().profile["email"] = "\u{212a}im@example.com".into();
    refused(&browser.log_in(&provider).await, "Please request an invite for ");
    // The Angstrom sign, whose lower case is not in ASCII either.
    let asa = server.member("asa").await;
    server
        .sql(&format!(
            "UPDATE user SET delivery_email = '\u{e5}sa@example.com', delivery_email_key = '\u{e5}sa@example.com'
             WHERE user_id = {}",
            asa.user_id
        ))
        .await;
    provider.answers().profile["email"] = "\u{212b}sa@example.com".into();
    refused(&browser.log_in(&provider).await, "Please request an invite for ");
    assert_eq!(server.column("SELECT count(*) FROM identity").await, ["0"]);
    provider.answers().profile["email"] = "KIM@example.com".into();
    assert_eq!(redirected(&browser.log_in(&provider).await), "/");
    assert_eq!(browser.user().await, Some(json!("kim@example.com")));
}

// conformance: auth-56
#[tokio::test]
async fn reusable_links_lead_only_to_the_provider_while_people_do_not_log_in_with_passwords() {
    let (provider, server, owner) = with_owner(false).await;
    let key = link(&owner, json!({})).await;
    let page = format!("/join/{key}/");
    let button = format!("{SIGN_UP}?multiuse_object_key={key}");
    let mut browser = Browser::of(&server);
    let shown = text(&browser.open(&page).await);
    assert!(shown.contains("name=\"password\"") && shown.contains(&button), "{shown}");
    server.set_realm_setting("password_auth_enabled", json!(false)).await;
    let answer = browser.open(&page).await;
    let shown = text(&answer);
    assert_eq!(answer.status, 200, "{answer}");
    assert!(!shown.contains("<form") && shown.contains(&button), "{shown}");
    assert_eq!(redirected(&browser.log_in_by(&provider, &button).await), "/");
    assert_eq!(browser.user().await, Some(json!("ada@example.com")));
}

// conformance: realm-21
#[tokio::test]
async fn the_listed_methods_are_accepted_and_not_changed() {
    let (_provider, server, owner) = with_owner(false).await;
    let listed = json!({"Email": true, "OpenID Connect": true});
    owner.patch("/realm", json!({"authentication_methods": listed})).await.ok();
    for (methods, msg) in [
        (json!({"Email": false}), "At least one authentication method must be enabled."),
        (json!({"Email": false, "OpenID Connect": true}), "Authentication method Email cannot be changed."),
        (
            json!({"Email": true, "OpenID Connect": false}),
            "Authentication method OpenID Connect cannot be changed.",
        ),
        (
            json!({"SAML": true}),
            "Invalid authentication method: SAML. Valid methods are: ['Email', 'OpenID Connect']",
        ),
        (json!({"Email": 1}), "authentication_methods[\"Email\"] is not a boolean"),
    ] {
        let answer = owner.patch("/realm", json!({"authentication_methods": methods})).await;
        answer.error(400, "BAD_REQUEST", msg);
    }
    server.set_realm_setting("password_auth_enabled", json!(false)).await;
    let answer = owner.patch("/realm", json!({"authentication_methods": {"Email": true}})).await;
    answer.error(400, "BAD_REQUEST", "Authentication method Email cannot be changed.");
    owner.patch("/realm", json!({"authentication_methods": {"OpenID Connect": true}})).await.ok();
}

// conformance: auth-55
#[tokio::test]
async fn a_first_login_ends_what_another_person_has_of_the_account() {
    let (provider, server, owner) = with_owner(false).await;
    // Someone made the account with the address of Ada, and has its password and key.
    let eve = server.user("ada", Role::Member, None, Some("correct horse")).await;
    let login = json!({"username": "ada@example.com", "password": "correct horse"});
    server.anonymous().post("/fetch_api_key", &login).await.ok();
    let reset = owner.post(&format!("/users/{}/password_reset", eve.user_id), ()).await.ok();
    server.sql("DELETE FROM audit_entry").await;
    let mut browser = Browser::of(&server);
    assert_eq!(redirected(&browser.log_in(&provider).await), "/");
    let actions = server.column("SELECT action FROM audit_entry ORDER BY id").await;
    assert_eq!(actions, ["password_deleted", "key_revoked", "identity_linked", "login"]);
    assert_eq!(eve.get("/users/me", ()).await.status, 401);
    assert_eq!(server.anonymous().post("/fetch_api_key", &login).await.status, 401);
    let path = reset["password_reset_link"].as_str().unwrap().to_owned();
    let path = path.strip_prefix(&format!("http://{}", server.address())).unwrap();
    assert_eq!(Browser::of(&server).open(path).await.status, 404);
    // Once: later logins end nothing.
    assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/");
    assert_eq!(browser.user().await, Some(json!("ada@example.com")));
}

// conformance: auth-51
#[tokio::test]
async fn bots_do_not_log_in() {
    let (provider, server, owner) = with_owner(true).await;
    server.set_realm_setting("invite_required", json!(false)).await;
    let bot = server.bot("helper", &owner).await;
    for email in [bot.email.as_str(), "notification-bot@zulip.com"] {
        provider.answers().profile["email"] = email.into();
        let mut browser = Browser::of(&server);
        assert_eq!(redirected(&browser.log_in(&provider).await), "/login/", "{email}");
        assert_eq!(browser.user().await, None);
    }
}

// conformance: auth-51
#[tokio::test]
async fn a_deleted_account_keeps_no_identity() {
    let (provider, server, _) = with_owner(false).await;
    server.member("ada").await;
    Browser::of(&server).log_in(&provider).await;
    let delete = teamchat::commands::Command::DeleteUser { email: "ada@example.com".to_owned() };
    server.command(delete).await;
    assert_eq!(server.column("SELECT count(*) FROM identity").await, ["0"]);
    refused(&Browser::of(&server).log_in(&provider).await, NOT_INVITED);
}

// conformance: auth-52
#[tokio::test]
async fn without_auto_create_an_account_needs_an_invitation() {
    let (provider, server, owner) = with_owner(false).await;
    owner.patch("/realm", json!({"invite_required": false})).await.ok();
    refused(&Browser::of(&server).log_in(&provider).await, NOT_INVITED);
    refused(&Browser::of(&server).log_in_by(&provider, SIGN_UP).await, NOT_INVITED);
    assert_eq!(emails(&server).await, ["owner@example.com", "admin@example.com"]);
}

// conformance: auth-52
#[tokio::test]
async fn with_auto_create_an_open_organization_gives_accounts() {
    let (provider, server, owner) = with_owner(true).await;
    // New organizations require an invitation.
    refused(&Browser::of(&server).log_in(&provider).await, NOT_INVITED);
    owner.patch("/realm", json!({"invite_required": false})).await.ok();
    let mut browser = Browser::of(&server);
    browser.language = "de";
    let mut queue = owner.register(json!({"event_types": ["realm_user"]})).await;
    assert_eq!(redirected(&browser.log_in(&provider).await), "/");
    queue.expect(&[json!({"type": "realm_user", "op": "add", "person": "*"})]).await;
    assert_eq!(browser.user().await, Some(json!("ada@example.com")));
    let row = "SELECT full_name || ' ' || role || ' ' || (password_hash IS NULL) FROM user WHERE delivery_email = 'ada@example.com'";
    assert_eq!(server.column(row).await, ["Ada Lovelace 400 1"]);
    let login = json!({"username": "ada@example.com", "password": "correct horse"});
    let answer = server.anonymous().post("/fetch_api_key", login).await;
    assert_eq!((answer.status, &answer["code"]), (401, &json!("AUTHENTICATION_FAILED")), "{answer}");
    // The second login finds the account.
    assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/");
    assert_eq!(emails(&server).await, ["owner@example.com", "admin@example.com", "ada@example.com"]);
}

// conformance: auth-52
#[tokio::test]
async fn the_first_account_is_not_created_by_a_provider() {
    let provider = TestProvider::start();
    let oidc = vec![provider.configured(true)];
    let server =
        TestServer::start_with(teamchat::app::Options { oidc, ..teamchat::app::Options::default() }).await;
    server.set_realm_setting("invite_required", json!(false)).await;
    refused(&Browser::of(&server).log_in(&provider).await, NOT_INVITED);
    assert_eq!(emails(&server).await, [""; 0]);
}

// conformance: auth-52
#[tokio::test]
async fn an_invitation_link_gives_an_account() {
    let (provider, server, owner) = with_owner(false).await;
    let key = link(&owner, json!({"invite_as": 600, "stream_ids": []})).await;
    let page = Browser::of(&server).open(&format!("/join/{key}/")).await;
    let button = format!("href=\"{SIGN_UP}?multiuse_object_key={key}\"");
    let html = text(&page);
    assert!(html.contains(&button) && html.contains("Sign up with Test provider"), "{html}");
    for unknown in ["", "abcdefghijklmnopqrstuvwx", &"x".repeat(200)] {
        let path = format!("{SIGN_UP}?multiuse_object_key={unknown}");
        refused(&Browser::of(&server).log_in_by(&provider, &path).await, NOT_INVITED);
    }
    let mut browser = Browser::of(&server);
    let path = format!("{SIGN_UP}?multiuse_object_key={key}&next=/%23recent");
    assert_eq!(redirected(&browser.log_in_by(&provider, &path).await), "/#recent");
    assert_eq!(browser.user().await, Some(json!("ada@example.com")));
    let role = "SELECT role FROM user WHERE delivery_email = 'ada@example.com'";
    assert_eq!(server.column(role).await, ["600"]);
    let accepted = "SELECT count(*) FROM audit_entry WHERE action = 'invitation_accepted'";
    assert_eq!(server.column(accepted).await, ["1"]);
    // The link of a person who has an account logs in.
    assert_eq!(redirected(&Browser::of(&server).log_in_by(&provider, &path).await), "/#recent");
}

// conformance: auth-52
#[tokio::test]
async fn an_invitation_by_email_is_for_that_email() {
    let (provider, server, owner) = with_owner(true).await;
    let invite = json!({"invitee_emails": "Ada@example.com", "invite_as": 600, "stream_ids": []});
    owner.post("/invites", invite).await.ok();
    // It is used for the role, but does not replace the permission.
    refused(&Browser::of(&server).log_in(&provider).await, NOT_INVITED);
    owner.patch("/realm", json!({"invite_required": false})).await.ok();
    provider.answers().profile["email"] = "eve@example.com".into();
    provider.answers().subject = "subject-2".to_owned();
    assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/");
    provider.answers().profile["email"] = "ada@example.com".into();
    provider.answers().subject = "subject-1".to_owned();
    assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/");
    let roles = "SELECT role FROM user WHERE delivery_email IN ('ada@example.com', 'eve@example.com') ORDER BY user_id";
    assert_eq!(server.column(roles).await, ["400", "600"]);
    assert_eq!(owner.get("/invites", ()).await.ok()["invites"], json!([]));
}

// conformance: auth-52
#[tokio::test]
async fn emails_of_new_accounts_have_an_allowed_domain() {
    let (provider, server, owner) = with_owner(true).await;
    owner.patch("/realm", json!({"invite_required": false})).await.ok();
    owner.post("/realm/domains", json!({"domain": "example.org", "allow_subdomains": false})).await.ok();
    owner.patch("/realm", json!({"emails_restricted_to_domains": true})).await.ok();
    let answer = Browser::of(&server).log_in(&provider).await;
    refused(&answer, "Email 'ada@example.com' not allowed in this organization");
    provider.answers().profile["email"] = "ada+1@example.org".into();
    refused(&Browser::of(&server).log_in(&provider).await, "Email addresses containing + are not allowed.");
    provider.answers().profile["email"] = "no address".into();
    refused(&Browser::of(&server).log_in(&provider).await, "Enter a valid email address.");
    provider.answers().profile["email"] = "ada@example.org".into();
    assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/");
}

// conformance: auth-52
#[tokio::test]
async fn names_of_new_accounts_follow_the_rules() {
    let (provider, server, owner) = with_owner(true).await;
    let rules = json!({"invite_required": false, "require_unique_names": true});
    owner.patch("/realm", rules).await.ok();
    let email = |number: usize| format!("person{number}@example.com");
    let profiles = [
        (json!({"name": "Ada Lovelace"}), "Ada Lovelace"),
        (json!({"name": "ada lovelace"}), "ada lovelace 2"),
        (json!({"name": "**Bob** `x`"}), "Bob x"),
        (json!({"given_name": "Eve", "family_name": "Moor"}), "Eve Moor"),
        (json!({"preferred_username": "mallory"}), "mallory"),
        (json!({}), "person5"),
        (json!({"name": "Welcome Bot"}), "Welcome Bot 2"),
    ];
    for (number, (profile, expected)) in profiles.into_iter().enumerate() {
        let mut profile = profile;
        profile["email"] = email(number).into();
        profile["email_verified"] = true.into();
        provider.answers().profile = profile;
        provider.answers().subject = format!("subject-{number}");
        assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/", "{expected}");
        let name = format!("SELECT full_name FROM user WHERE delivery_email = '{}'", email(number));
        assert_eq!(server.column(&name).await, [expected]);
    }
}
