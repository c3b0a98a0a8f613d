//! Names and emails that look like others.

use crate::harness::{Client, TestServer};
use hyper::Method;
use serde_json::{Value, json};
use teamchat::app::Options;
use teamchat::commands::Command;

const INVALID: &str = "Invalid characters in name!";
const TAKEN: &str = "Name is already in use!";
const UNIQUE: &str = "Unique names required in this organization.";

/// Gives a name in every way of the interface that takes one of a person or a bot, and checks the error.
async fn check_refused((owner, eve, bot): (&Client, &Client, i64), name: &str, msg: &str) {
    let new = json!({"email": "new@example.com", "full_name": name, "password": "correct horse"});
    owner.post("/users", new).await.error(400, "BAD_REQUEST", msg);
    owner.patch(&format!("/users/{}", eve.user_id), json!({"full_name": name})).await.error(
        400,
        "BAD_REQUEST",
        msg,
    );
    eve.patch("/settings", json!({"full_name": name})).await.error(400, "BAD_REQUEST", msg);
    let of_bots = if msg == UNIQUE { TAKEN } else { msg };
    let made = json!({"full_name": name, "short_name": "other", "bot_type": 1});
    eve.post("/bots", made).await.error(400, "BAD_REQUEST", of_bots);
    eve.patch(&format!("/bots/{bot}"), json!({"full_name": name})).await.error(400, "BAD_REQUEST", of_bots);
    for caller in [eve, owner] {
        let renamed = caller.patch(&format!("/users/{bot}"), json!({"full_name": name})).await;
        renamed.error(400, "BAD_REQUEST", of_bots);
    }
}

/// Gives a name in every other way: a sign-up, commands, fixtures.
async fn check_refused_elsewhere(server: &TestServer, owner: &Client, name: &str, msg: &str) {
    let invitation = owner.post("/invites/multiuse", json!({})).await.ok();
    let page = crate::join::Page::open(server, invitation["invite_link"].as_str().unwrap()).await;
    let form = json!({"full_name": name, "email": "new@example.com", "password": "correct horse"});
    let refused = page.send(form).await;
    assert!(refused.status == 400 && crate::join::text(&refused).contains(msg), "{name:?}: {refused}");
    for bot_owner in [None, Some(owner.email.clone())] {
        let command = Command::CreateUser {
            email: "ada@example.com".to_owned(),
            full_name: name.to_owned(),
            role: teamchat::types::Role::Member,
            password: None,
            bot_owner,
        };
        let refused = teamchat::commands::run(server.app(), command).await;
        assert_eq!(refused.unwrap_err().msg(), msg, "{name:?}");
    }
    let command = Command::CreateWebhookBot {
        integration: "github".to_owned(),
        channel: "hooks".to_owned(),
        owner: None,
        full_name: Some(name.to_owned()),
    };
    let refused = teamchat::commands::run(server.app(), command).await;
    assert_eq!(refused.unwrap_err().msg(), msg, "{name:?}");
    let fixtures = json!({"users": [{"email": "a@example.com", "full_name": name, "role": "member"}]});
    let loaded = match teamchat::testing::Fixtures::parse(&fixtures.to_string()) {
        Ok(fixtures) => teamchat::testing::TestServer::start(fixtures).await.is_ok(),
        Err(_) => false,
    };
    assert!(!loaded, "{name:?}");
}

async fn setting() -> (TestServer, Client, Client, i64) {
    let server = TestServer::start().await;
    let (owner, eve) = (server.owner().await, server.member("eve").await);
    let bot = eve.post("/bots", json!({"full_name": "Tool", "short_name": "tool", "bot_type": 1})).await.ok();
    server.channel("hooks", &[&owner]).await;
    (server, owner, eve, bot["user_id"].as_i64().unwrap())
}

#[tokio::test]
async fn no_name_has_unseen_characters() {
    let (server, owner, eve, bot) = setting().await;
    for name in [
        "Olga\u{200b}",
        "Ol\u{ad}ga",
        "Olga\u{2060}",
        "Olga\u{3164}",
        "Olga\u{fe0f}",
        "Ol\u{200d}ga",
        "\u{e0041}Olga",
        "Olga\u{600}",
        "Olga\u{fffb}",
        "Olga\u{fffc}",
        "Olga\u{e000}",
        "Olga\u{10fffd}",
        "Olga\u{13430}",
        "Olga\u{13441}",
        "Olga\u{1d159}",
        // Unassigned, the filler of an old script, and points of another script.
        "Olga\u{378}",
        "Olga\u{16fe4}",
        "Olga\u{5c4}",
        "Notification Bot\u{fff9}",
        "Welcome Bot\u{5b0}",
    ] {
        check_refused((&owner, &eve, bot), name, INVALID).await;
    }
    for name in ["Olga\u{200b}", "Olga\u{fffc}", "Olga\u{e000}", "Olga\u{378}", "Olga\u{5c4}"] {
        check_refused_elsewhere(&server, &owner, name, INVALID).await;
    }
    let image = crate::harness::pictures::png(4, 4);
    let upload = owner
        .request(Method::POST, "/realm/emoji/par%E2%80%8Brot")
        .multipart((), &[("file", "a.png", &image)]);
    let msg =
        "Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores.";
    upload.send().await.error(400, "BAD_REQUEST", msg);
    // Invisible characters are allowed within emoji and joined letters.
    for name in ["Olga ❤\u{fe0f}", "\u{1f469}\u{200d}\u{1f4bb}", "علی\u{200c}رضا", "Nguyễn Thị Hạnh", "ᏣᎳᎩ"]
    {
        eve.patch("/settings", json!({"full_name": name})).await.ok();
    }
    let channel = |name: &str| json!({"name": name, "subscribers": [eve.user_id]});
    let msg = "Invalid character in channel name, at position 8.";
    eve.post("/channels/create", channel("general\u{200b}")).await.error(400, "BAD_REQUEST", msg);
    let subscriptions = json!({"subscriptions": [{"name": "general\u{200b}"}]});
    eve.post("/users/me/subscriptions", subscriptions).await.error(400, "BAD_REQUEST", msg);
    let msg = "Invalid character in user group name, at position 7.";
    for name in ["admins\u{200b}", "admins\u{5c4}", "admins\u{378}"] {
        let group = json!({"name": name, "description": "", "members": [eve.user_id]});
        eve.post("/user_groups/create", group).await.error(400, "BAD_REQUEST", msg);
    }
    let msg = "Invalid character in channel folder name, at position 3.";
    owner.post("/channel_folders/create", json!({"name": "ab\u{200b}", "description": ""})).await.error(
        400,
        "BAD_REQUEST",
        msg,
    );
    let field = json!({"name": "Pro\u{ad}nouns", "hint": "", "field_type": 1});
    owner.post("/realm/profile_fields", field).await.error(
        400,
        "BAD_REQUEST",
        "Invalid characters in label.",
    );
    owner.patch("/realm", json!({"name": "Acme\u{200b}"})).await.error(
        400,
        "BAD_REQUEST",
        "Invalid characters in organization name!",
    );
    // Topics are as published: emoji and joiners stand in them as they are typed.
    let topic = json!({"type": "channel", "to": "town", "topic": "\u{1f469}\u{200d}\u{1f4bb}\u{200b}", "content": "x"});
    server.channel("town", &[&eve]).await;
    eve.post("/messages", topic).await.ok();
}

#[tokio::test]
async fn names_of_the_servers_bots_are_theirs_alone() {
    let (server, owner, eve, bot) = setting().await;
    for name in [
        "Notification Bot",
        "welcome bot",
        "Nοtification Bot",
        "Email  Gateway",
        "Reminder Bot",
        "Notification Bot\u{323}",
        "Welcóme Bot",
    ] {
        check_refused((&owner, &eve, bot), name, TAKEN).await;
        check_refused_elsewhere(&server, &owner, name, TAKEN).await;
    }
}

/// Bots are renamed by two routes, with the same rules. A person who has become a guest renames none.
#[tokio::test]
async fn bots_have_unique_names_by_every_route() {
    let (server, owner, eve, bot) = setting().await;
    server.member("olga").await;
    for (caller, path) in [(&eve, "users"), (&owner, "users"), (&eve, "bots"), (&owner, "bots")] {
        for name in ["Olga", "Оlga"] {
            let renamed = caller.patch(&format!("/{path}/{bot}"), json!({"full_name": name})).await;
            renamed.error(400, "BAD_REQUEST", TAKEN);
        }
        caller.patch(&format!("/{path}/{bot}"), json!({"full_name": format!("Tool of {path}")})).await.ok();
    }
    let command = Command::CreateUser {
        email: "tool@example.com".to_owned(),
        full_name: "Оlga".to_owned(),
        role: teamchat::types::Role::Member,
        password: None,
        bot_owner: Some(owner.email.clone()),
    };
    assert_eq!(teamchat::commands::run(server.app(), command).await.unwrap_err().msg(), TAKEN);
    owner.patch(&format!("/users/{}", eve.user_id), json!({"role": 600})).await.ok();
    let rename = json!({"full_name": "Another"});
    let msg = "Not allowed for guest users";
    eve.patch(&format!("/bots/{bot}"), rename.clone()).await.error(400, "BAD_REQUEST", msg);
    eve.patch(&format!("/users/{bot}"), rename).await.error(400, "BAD_REQUEST", "Insufficient permission");
}

#[tokio::test]
async fn similar_names_are_not_unique() {
    let (server, owner, eve, bot) = setting().await;
    server.member("olga").await;
    server.set_realm_setting("require_unique_names", json!(true)).await;
    for name in ["Оlga", "olga", "Ｏlga", "0lga", "Olga\u{323}", "Olġa"] {
        check_refused((&owner, &eve, bot), name, UNIQUE).await;
    }
    eve.patch("/settings", json!({"full_name": "Olgas"})).await.ok();
    // The own name is not in the way of its other spelling.
    eve.patch("/settings", json!({"full_name": "Оlgas"})).await.ok();

    let create = |name: &str| json!({"name": name, "subscribers": [eve.user_id]});
    let town = eve.post("/channels/create", create("town")).await.ok()["id"].clone();
    let msg = "Channel 'tоwn' already exists";
    eve.post("/channels/create", create("tоwn")).await.error(409, "CHANNEL_ALREADY_EXISTS", msg);
    let subscriptions = json!({"subscriptions": [{"name": "Tоwn"}]});
    let msg = "Channel name is already in use.";
    eve.post("/users/me/subscriptions", subscriptions).await.error(400, "BAD_REQUEST", msg);
    let other = eve.post("/channels/create", create("town-l")).await.ok()["id"].clone();
    // ASCII names are compared exactly.
    eve.post("/channels/create", create("town-1")).await.ok();
    eve.post("/channels/create", create("tọwn")).await.error(
        409,
        "CHANNEL_ALREADY_EXISTS",
        "Channel 'tọwn' already exists",
    );
    let renamed = owner.patch(&format!("/streams/{other}"), json!({"new_name": "TОWN"})).await;
    renamed.error(400, "BAD_REQUEST", msg);
    owner.patch(&format!("/streams/{town}"), json!({"new_name": "tоwn"})).await.ok();
    eve.post("/channels/create", create("town")).await.error(
        409,
        "CHANNEL_ALREADY_EXISTS",
        "Channel 'town' already exists",
    );

    let group = |name: &str| json!({"name": name, "description": "", "members": [eve.user_id]});
    let crew = eve.post("/user_groups/create", group("crew")).await.ok()["group_id"].clone();
    let msg = "User group 'сrew' already exists.";
    eve.post("/user_groups/create", group("сrew")).await.error(400, "BAD_REQUEST", msg);
    eve.patch(&format!("/user_groups/{crew}"), json!({"name": "сrew"})).await.ok();
}

#[tokio::test]
async fn new_emails_have_no_letters_that_look_like_others() {
    let (server, owner, eve, _) = setting().await;
    server.member("olga").await;
    for email in ["оlga@example.com", "olga@example.com\u{200b}", "ol\u{ad}ga@example.com"] {
        let new = json!({"email": email, "full_name": "New", "password": "correct horse"});
        owner.post("/users", new).await.error(400, "BAD_REQUEST", "Enter a valid email address.");
        let change = json!({"new_email": email});
        let changed = owner.patch(&format!("/users/{}", eve.user_id), change).await;
        changed.error(400, "BAD_REQUEST", "Invalid new email address.");
        let invited = owner.post("/invites", json!({"invitee_emails": email, "stream_ids": []})).await;
        let msg = "Some emails did not validate, so we didn't send any invitations.";
        invited.error(400, "INVITATION_FAILED", msg);
    }
    let new = json!({"email": "olga@ехample.com", "full_name": "New", "password": "correct horse"});
    owner.post("/users", new).await.error(400, "BAD_REQUEST", "Email is already in use.");
    let new = json!({"email": "olga@bücher.example", "full_name": "New", "password": "correct horse"});
    owner.post("/users", new).await.ok();
}

/// A server with a public address, on which the email of Ada is hidden.
async fn with_placeholder() -> (TestServer, Client, Client, Client, String) {
    let options = Options { public_url: Some("http://chat.home".to_owned()), ..Options::default() };
    let server = TestServer::start_with(options).await;
    let (owner, ada, eve) = (server.owner().await, server.member("ada").await, server.member("eve").await);
    ada.patch("/settings", json!({"email_address_visibility": 4})).await.ok();
    let placeholder = format!("user{}@chat.home", ada.user_id);
    // The domain of an earlier address of the server.
    server.sql("INSERT INTO dummy_email_domain VALUES ('old.example.com')").await;
    (server, owner, ada, eve, placeholder)
}

#[tokio::test]
async fn placeholder_addresses_are_reserved() {
    let (server, owner, ada, eve, placeholder) = with_placeholder().await;
    let of_others = ["user1000@chat.home", "USER5@old.example.com", "user05@chat.home", "user5@bots.invalid"];
    for email in of_others.into_iter().chain([placeholder.as_str()]) {
        let new = json!({"email": email, "full_name": "New", "password": "correct horse"});
        owner.post("/users", new).await.error(400, "BAD_REQUEST", "Email is already in use.");
        let changed = owner.patch(&format!("/users/{}", eve.user_id), json!({"new_email": email})).await;
        changed.error(400, "BAD_REQUEST", "New email value error: Already has an account.");
        let invited = owner.post("/invites", json!({"invitee_emails": email, "stream_ids": []})).await;
        let failed = invited.error(400, "INVITATION_FAILED", "We weren't able to invite anyone.");
        assert_eq!(failed["errors"], json!([[email, "Already has an account.", false]]));
        let command = Command::CreateUser {
            email: email.to_owned(),
            full_name: "New".to_owned(),
            role: teamchat::types::Role::Member,
            password: None,
            bot_owner: None,
        };
        let refused = teamchat::commands::run(server.app(), command).await;
        assert_eq!(refused.unwrap_err().msg(), "Email is already in use.");
    }
    let domain = json!({"domain": "bots.invalid", "allow_subdomains": false});
    let refused = owner.post("/realm/domains", domain).await;
    refused.error(400, "BAD_REQUEST", "Invalid domain: Domain is reserved.");
    // An address with another domain is not a placeholder.
    let new = json!({"email": "ada.two@chat.home", "full_name": "New", "password": "correct horse"});
    owner.post("/users", new).await.ok();
    drop(ada);
}

#[tokio::test]
async fn every_route_that_takes_an_email_means_the_same_person() {
    let (server, owner, ada, eve, placeholder) = with_placeholder().await;
    let of_old = format!("user{}@old.example.com", ada.user_id);
    server.channel("town", &[&owner, &eve, &ada]).await;
    // Ada's own address is hidden from Eve, so it is unknown to her.
    for (email, is_known) in [(placeholder, true), (of_old, true), (ada.email.clone(), false)] {
        let found = eve.get(&format!("/users/{email}"), ()).await;
        let sent = eve
            .post("/messages", json!({"type": "direct", "to": json!([email]).to_string(), "content": "x"}))
            .await;
        let narrow = json!([{"operator": "sender", "operand": email}]);
        let narrowed = eve
            .get("/messages", json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": narrow}))
            .await;
        let subscribed = eve
            .post(
                "/users/me/subscriptions",
                json!({"subscriptions": [{"name": "town"}], "principals": [email]}),
            )
            .await;
        let presence = eve.get(&format!("/users/{email}/presence"), ()).await;
        if !is_known {
            found.error(400, "BAD_REQUEST", "No such user");
            sent.error(400, "BAD_REQUEST", &format!("Invalid email '{email}'"));
            narrowed.error(400, "BAD_NARROW", &format!("Invalid narrow operator: unknown user {email}"));
            subscribed.error(400, "BAD_REQUEST", "No such user");
            presence.error(400, "BAD_REQUEST", "No such user");
            continue;
        }
        assert_eq!(found.ok()["user"]["user_id"], ada.user_id, "{email}");
        let id = sent.ok()["id"].clone();
        let received = ada.get(&format!("/messages/{id}"), ()).await.ok();
        assert_eq!(received["message"]["sender_id"], eve.user_id, "{email}");
        narrowed.ok();
        let already = subscribed.ok()["already_subscribed"].clone();
        let of_ada: Vec<&Value> = already.as_object().unwrap().values().collect();
        assert_eq!(of_ada, [&json!(["town"])], "{email}");
        presence.error(400, "BAD_REQUEST", &format!("No presence data for {email}"));
    }
}
