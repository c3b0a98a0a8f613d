//! The page behind an invitation link, as a browser without scripts uses it.

mod chain;
mod first_owner;
mod limits;
mod password;
mod without_passwords;

use crate::harness::{Answer, Client, TestServer};
use hyper::Method;
use serde_json::{Value, json};
use teamchat::commands::Command;
use teamchat::types::Role;

/// A browser with the page open.
pub struct Page {
    client: Client,
    path: String,
    language: &'static str,
    cookie: String,
    token: String,
}

impl Page {
    pub async fn open(server: &TestServer, link: &str) -> Self {
        Self::open_in(server, link, "en").await
    }

    /// Opens a link in a browser that prefers a language.
    pub async fn open_in(server: &TestServer, link: &str, language: &'static str) -> Self {
        let path = link.strip_prefix(&format!("http://{}", server.address())).unwrap_or(link).to_owned();
        let client = server.anonymous();
        let answer =
            client.request_outside(Method::GET, &path).header("Accept-Language", language).send().await;
        assert_eq!(answer.status, 200, "{answer}");
        let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
        let token = between(&text(&answer), "name=\"token\" value=\"", "\"");
        assert_eq!(cookie, format!("teamchat_join={token}"));
        Self { client, path, language, cookie, token }
    }

    /// Sends the page back.
    pub async fn send(&self, fields: Value) -> Answer {
        let mut fields = fields;
        if fields.get("token").is_none() {
            fields["token"] = self.token.as_str().into();
        }
        let request = self.client.request_outside(Method::POST, &self.path).form(fields);
        let request = request.header("Accept-Language", self.language);
        request.header("Cookie", &format!("other=1; {}", self.cookie)).send().await
    }

    /// Sends the page back with the name of another host.
    pub async fn send_to(&self, host: &str, fields: Value) -> Answer {
        let mut fields = fields;
        fields["token"] = self.token.as_str().into();
        let request = self.client.request_outside(Method::POST, &self.path).form(fields);
        request.header("Cookie", &self.cookie).header("Host", host).send().await
    }

    /// Sends the page back filled in as it should be. Returns the email and key that the next page shows.
    async fn join(&self, name: &str) -> (String, String) {
        let fields = json!({"full_name": name, "email": format!("{}@example.com", name.to_lowercase()),
            "password": "correct horse"});
        let answer = self.send(fields).await;
        assert_eq!(answer.status, 200, "{answer}");
        let text = text(&answer);
        (between(&text, "email=", "\n"), between(&text, "key=", "\n"))
    }
}

pub fn text(answer: &Answer) -> String {
    String::from_utf8(answer.bytes.clone()).unwrap()
}

pub fn between(text: &str, before: &str, after: &str) -> String {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{before} in {text}"));
    rest.split_once(after).unwrap().0.to_owned()
}

/// Links in messages of the notification bot to a user, the oldest first.
async fn links_of_bot(client: &Client) -> Vec<String> {
    let fetch = json!({"anchor": "newest", "num_before": 9, "num_after": 0, "apply_markdown": false});
    let messages = client.get("/messages", fetch).await.ok()["messages"].clone();
    let texts = messages.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap());
    texts.flat_map(str::split_whitespace).filter(|word| word.contains("/join/")).map(str::to_owned).collect()
}

async fn link(client: &Client, params: Value) -> String {
    let made = client.post("/invites/multiuse", params).await.ok();
    made["invite_link"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn sign_up_page_is_safe_and_names_the_inviter() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    server.sql("UPDATE user SET full_name = 'Ada <b>& Co' WHERE email = 'owner@example.com'").await;
    let link = link(&owner, json!({"invite_as": 600})).await;
    let path = link.strip_prefix(&format!("http://{}", server.address())).unwrap();
    let answer = server.anonymous().request_outside(Method::GET, path).send().await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/html; charset=utf-8"));
    let text = text(&answer);
    assert!(text.contains("<p class=\"lead\">Ada &lt;b&gt;&amp; Co invited you as a guest.</p>"), "{text}");
    assert!(text.contains("<h1>Join Team chat</h1>"), "{text}");
    assert!(text.contains("<label for=\"full_name\">Full name</label>"), "{text}");
    assert!(!text.contains("<script"), "{text}");
    assert!(!text.contains("name=\"organization\""), "{text}");
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(policy.ends_with("form-action 'self'; base-uri 'none'; frame-ancestors 'none'"), "{policy}");
    assert_eq!(answer.header("x-frame-options"), "DENY");
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    let cookie = answer.header("set-cookie");
    assert!(cookie.ends_with("; Path=/join/; Max-Age=86400; HttpOnly; SameSite=Lax"), "{cookie}");
    // A second look keeps the token of the first.
    let pair = cookie.split(';').next().unwrap();
    let again = server.anonymous().request_outside(Method::GET, path).header("Cookie", pair).send().await;
    assert_eq!(again.header("set-cookie"), cookie);
    let redirect = server.anonymous().request_outside(Method::GET, path.trim_end_matches('/')).send().await;
    assert_eq!((redirect.status, redirect.header("location")), (301, path), "{redirect}");
}

#[tokio::test]
async fn a_newcomer_gets_an_account_with_which_they_log_in() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let page = Page::open(&server, &link(&owner, json!({})).await).await;
    let answer = page
        .send(json!({"full_name": " Ada & Co ", "email": " Ada@Example.com ", "password": "correct horse"}))
        .await;
    assert_eq!(answer.status, 200, "{answer}");
    assert_eq!(answer.header("cache-control"), "no-store");
    let text = text(&answer);
    assert!(text.contains("<h1>Welcome, Ada &amp; Co</h1>"), "{text}");
    let origin = format!("http://{}", server.address());
    let api_key = between(&text, "key=", "\n");
    assert!(
        text.contains(&format!(
            "(umask 077; cat &gt; ~/.zuliprc) &lt;&lt;'END'\n[api]\nemail=Ada@Example.com\nkey={api_key}\nsite={origin}\nEND\n"
        )),
        "{text}"
    );
    // A phone does not reach this one.
    assert!(text.contains(&format!("{origin} can be reached only from this machine.")), "{text}");

    let mut ada = server.anonymous();
    (ada.email, ada.api_key) = ("ada@example.com".to_owned(), Some(api_key.clone()));
    let own = ada.get("/users/me", ()).await.ok();
    assert_eq!((&own["full_name"], &own["role"]), (&json!("Ada & Co"), &json!(400)));
    let login = json!({"username": "ada@example.com", "password": "correct horse"});
    let login = server.anonymous().post("/fetch_api_key", login).await.ok();
    assert_ne!(login["api_key"], api_key.as_str());
    assert_eq!(login["user_id"], own["user_id"]);
}

#[tokio::test]
async fn mistakes_are_shown_beside_their_fields() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    server.set_realm_setting("require_unique_names", json!(true)).await;
    let page = Page::open(&server, &link(&owner, json!({})).await).await;
    let long_name = "x".repeat(101);
    let long_password = "é".repeat(101);
    let cases = [
        (json!({"full_name": ""}), "full_name", "Please enter your name."),
        (json!({"full_name": long_name}), "full_name", "Name too long!"),
        (json!({"full_name": "A*"}), "full_name", "Invalid characters in name!"),
        (json!({"full_name": "OWNER"}), "full_name", "Unique names required in this organization."),
        (json!({"email": ""}), "email", "Please enter your email address."),
        (json!({"email": "nonsense"}), "email", "Please enter your email address."),
        (
            json!({"email": "Owner@example.com"}),
            "email",
            "There is an account with this email address already.",
        ),
        (json!({"password": "12345"}), "password", "A password has 6 to 100 characters."),
        (json!({"password": long_password}), "password", "A password has 6 to 100 characters."),
    ];
    for (changed, field, words) in cases {
        let mut fields =
            json!({"full_name": "\"Ada\"s <i>", "email": "ada@example.com", "password": "correct horse"});
        if field != "full_name" {
            fields["full_name"] = "Ada's <i".into();
        }
        for (name, value) in changed.as_object().unwrap() {
            fields[name] = value.clone();
        }
        let answer = page.send(fields).await;
        assert_eq!(answer.status, 400, "{changed}: {answer}");
        let text = text(&answer);
        let note = format!("<p class=\"note wrong\" id=\"{field}-note\">{words}</p>");
        assert!(text.contains(&note), "{note} in {text}");
        assert_eq!(text.matches("aria-invalid=\"true\"").count(), 1, "{text}");
        if field != "full_name" {
            assert!(text.contains("value=\"Ada's &lt;i\""), "what was right stays: {text}");
        }
        assert!(!text.contains("correct horse"), "{text}");
    }
    assert_eq!(server.column("SELECT count(*) FROM user WHERE NOT is_system_bot").await, ["1"]);
}

#[tokio::test]
async fn only_people_of_the_organizations_domains_join() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    owner.post("/realm/domains", json!({"domain": "example.com", "allow_subdomains": false})).await.ok();
    server.set_realm_setting("emails_restricted_to_domains", json!(true)).await;
    let page = Page::open(&server, &link(&owner, json!({})).await).await;
    let fields = json!({"full_name": "Eve", "email": "eve@example.org", "password": "correct horse"});
    let answer = page.send(fields.clone()).await;
    let words = "Email 'eve@example.org' not allowed in this organization";
    assert!(answer.status == 400 && text(&answer).contains(words), "{answer}");
    let german = Page::open_in(&server, &link(&owner, json!({})).await, "de").await.send(fields).await;
    let words = "Die E-Mail-Adresse eve@example.org ist in dieser Organisation nicht erlaubt";
    assert!(german.status == 400 && text(&german).contains(words), "{german}");
    page.join("Ada").await;
}

#[tokio::test]
async fn cross_site_form_creates_no_account() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let page = Page::open(&server, &link(&owner, json!({})).await).await;
    let fields = json!({"full_name": "Ada", "email": "ada@example.com", "password": "correct horse",
        "token": "0123456789abcdef0123456789abcdef"});
    let refused = page.send(fields.clone()).await;
    assert_eq!(refused.status, 400);
    let words = "This page was open for too long, or your browser does not keep cookies. Please try again.";
    assert!(text(&refused).contains(words), "{refused}");
    let refused = page.client.request_outside(Method::POST, &page.path).form(&fields).send().await;
    assert!(refused.status == 400 && text(&refused).contains(words), "{refused}");
    page.join("Ada").await;
}

#[tokio::test]
async fn links_that_expired_or_were_revoked_are_not_found() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let fields = json!({"full_name": "Ada", "email": "ada@example.com", "password": "correct horse"});
    let gone = async |page: &Page| {
        for answer in [
            page.client.request_outside(Method::GET, &page.path).send().await,
            page.send(fields.clone()).await,
        ] {
            assert_eq!(
                (answer.status, answer.header("content-type")),
                (404, "text/html; charset=utf-8"),
                "{answer}"
            );
            assert!(text(&answer).contains("<h1>This invitation does not work</h1>"), "{answer}");
            assert_eq!(answer.header("x-frame-options"), "DENY");
        }
    };
    let page = Page::open(&server, &link(&owner, json!({"invite_expires_in_minutes": 1})).await).await;
    server.clock.advance(60);
    gone(&page).await;
    let page = Page::open(&server, &link(&owner, json!({})).await).await;
    owner.delete("/invites/multiuse/2", ()).await.ok();
    gone(&page).await;
    let page = Page { path: "/join/aaaaaaaaaaaaaaaaaaaaaaaa/".to_owned(), ..page };
    gone(&page).await;
}

#[tokio::test]
async fn a_link_for_one_person_is_used_once_and_with_their_email() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let params = json!({"invitee_emails": "ada@example.com", "stream_ids": []});
    owner.post("/invites", &params).await.ok();
    owner.post("/invites", &params).await.ok();
    let links = links_of_bot(&owner).await;
    let page = Page::open(&server, &links[0]).await;
    let mut queue = owner.register(json!({"event_types": ["invites_changed"]})).await;
    let answer =
        page.send(json!({"full_name": "Ada", "email": "eve@example.com", "password": "correct horse"})).await;
    assert_eq!(answer.status, 200, "{answer}");
    assert!(text(&answer).contains("email=ada@example.com\n"), "{answer}");
    queue.expect(&[json!({"type": "invites_changed"})]).await;
    // The other one for the same person is done with, too.
    assert_eq!(owner.get("/invites", ()).await.ok()["invites"], json!([]));
    let path = links[1].strip_prefix(&format!("http://{}", server.address())).unwrap();
    let answer = page.client.request_outside(Method::GET, path).send().await;
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn a_newcomer_begins_in_channels_and_groups() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let general = server.channel("general", &[&owner]).await;
    let lobby = server.channel("lobby", &[]).await;
    let secret = server.private_channel("secret", &[&owner]).await;
    let old = server.channel("old", &[&owner]).await;
    server
        .sql(&format!(
            "INSERT INTO default_stream VALUES ({lobby});
             INSERT INTO user_group (id, kind, name, name_key) VALUES (50, 'named', 'crew', 'crew'), (51, 'named', 'x', 'x')"
        ))
        .await;
    let params = json!({"stream_ids": [general, secret, old], "group_ids": [50, 51]});
    let with_defaults = json!({"include_realm_default_subscriptions": true, "invite_as": 600});
    let (link_one, link_two) = (link(&owner, params).await, link(&owner, with_defaults).await);
    server
        .sql(&format!(
            "UPDATE stream SET is_archived = 1 WHERE stream_id = {old}; UPDATE user_group SET deactivated = 1 WHERE id = 51"
        ))
        .await;
    let page = Page::open(&server, &link_one).await;
    let mut queue =
        owner.register(json!({"event_types": ["realm_user", "subscription", "user_group"]})).await;
    let (email, api_key) = page.join("Ada").await;
    let mut ada = server.anonymous();
    (ada.email, ada.api_key) = (email, Some(api_key));
    let ada_id = ada.get("/users/me", ()).await.ok()["user_id"].clone();
    let subscribed = async |client: &Client| -> Vec<Value> {
        let subscriptions = client.get("/users/me/subscriptions", ()).await.ok()["subscriptions"].clone();
        subscriptions.as_array().unwrap().iter().map(|stream| stream["stream_id"].clone()).collect()
    };
    assert_eq!(subscribed(&ada).await, [json!(general), json!(secret)]);
    let added = |group: i64| json!({"type": "user_group", "op": "add_members", "group_id": group, "user_ids": [ada_id]});
    queue
        .expect(&[
            json!({"type": "realm_user", "op": "add", "person": "*"}),
            added(6),
            added(5),
            json!({"type": "subscription", "op": "peer_add", "stream_ids": "*", "user_ids": [ada_id]}),
            json!({"type": "subscription", "op": "peer_add", "stream_ids": "*", "user_ids": [ada_id]}),
            added(50),
        ])
        .await;
    queue.ignore();
    let (email, api_key) = Page::open(&server, &link_two).await.join("Gast").await;
    let mut guest = server.anonymous();
    (guest.email, guest.api_key) = (email, Some(api_key));
    assert_eq!(subscribed(&guest).await, [json!(lobby)]);
    assert_eq!(guest.get("/users/me", ()).await.ok()["role"], 600);
}

#[tokio::test]
async fn the_bots_greet_and_tell() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let signups = server.channel("signups", &[&owner]).await;
    server.set_realm_setting("signup_announcements_stream_id", json!(signups)).await;
    server.set_realm_setting("welcome_message_custom_text", json!("Mind the gap.")).await;
    let newest = async |client: &Client| -> Vec<(Value, Value, String)> {
        let fetch = json!({"anchor": "newest", "num_before": 9, "num_after": 0, "apply_markdown": false});
        let messages = client.get("/messages", fetch).await.ok()["messages"].clone();
        let messages = messages.as_array().unwrap().iter();
        messages
            .map(|message| {
                let content = message["content"].as_str().unwrap().to_owned();
                (message["sender_email"].clone(), message["subject"].clone(), content)
            })
            .collect()
    };
    let join = async |params: Value, name: &str| -> Client {
        let (email, api_key) = Page::open(&server, &link(&owner, params).await).await.join(name).await;
        teamchat::scheduler::settle(server.app()).await;
        let mut client = server.anonymous();
        (client.email, client.api_key) = (email, Some(api_key));
        client
    };
    let ada = join(json!({}), "Ada").await;
    let ada_id = ada.get("/users/me", ()).await.ok()["user_id"].clone();
    let (bot, welcome) = (json!("notification-bot@zulip.com"), json!("welcome-bot@zulip.com"));
    let notices = newest(&owner).await;
    assert_eq!(
        notices,
        [
            (bot.clone(), json!(""), format!("@_**Ada|{ada_id}** accepted your invitation!")),
            (bot, json!("signups"), format!("@_**Ada|{ada_id}** joined this organization.")),
        ]
    );
    let greeted = newest(&ada).await;
    assert_eq!(greeted.len(), 2, "{greeted:?}");
    assert!(greeted[0].2.starts_with("Hello, and welcome to **Team chat**!"), "{greeted:?}");
    assert!(!greeted[0].2.contains("administer"), "{greeted:?}");
    assert_eq!(greeted[1], (welcome.clone(), json!(""), "Mind the gap.".to_owned()));
    let own_text = join(json!({"welcome_message_custom_text": "Hi!", "invite_as": 200}), "Bob").await;
    let greeted = newest(&own_text).await;
    assert!(greeted[0].2.contains("You are an administrator of this organization"), "{greeted:?}");
    assert_eq!(greeted[1], (welcome, json!(""), "Hi!".to_owned()));
    let no_text = join(json!({"welcome_message_custom_text": ""}), "Cyd").await;
    assert_eq!(newest(&no_text).await.len(), 1);
    // An inviter who did not ask for it is not notified.
    let before = newest(&owner).await.len();
    server.set_realm_setting("signup_announcements_stream_id", json!(-1)).await;
    server.sql("UPDATE invite SET notify_referrer_on_join = 0").await;
    let key = server.column("SELECT key FROM invite LIMIT 1").await.remove(0);
    Page::open(&server, &format!("/join/{key}/")).await.join("Dan").await;
    assert_eq!(newest(&owner).await.len(), before);
}

#[tokio::test]
async fn new_user_events_reproduce_state() {
    let server = TestServer::start().await;
    let (owner, guest) = (server.owner().await, server.guest("guest").await);
    let general = server.channel("general", &[&owner, &guest]).await;
    server.set_realm_setting("signup_announcements_stream_id", json!(general)).await;
    server
        .sql("INSERT INTO user_group (id, kind, name, name_key) VALUES (50, 'named', 'crew', 'crew')")
        .await;
    let page =
        Page::open(&server, &link(&owner, json!({"stream_ids": [general], "group_ids": [50]})).await).await;
    server.check_state_sync(&[&owner, &guest], async || page.join("Ada").await).await;
}

#[tokio::test]
async fn deactivated_organizations_refuse_sign_ups() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let page = Page::open(&server, &link(&owner, json!({})).await).await;
    owner.post("/realm/deactivate", ()).await.ok();
    let fields = json!({"full_name": "Clo", "email": "clo@example.com", "password": "correct horse"});
    for answer in [page.client.request_outside(Method::GET, &page.path).send().await, page.send(fields).await]
    {
        assert_eq!(answer.status, 404);
        assert!(text(&answer).contains("<h1>This organization is closed</h1>"), "{answer}");
    }
    assert_eq!(server.column("SELECT count(*) FROM user WHERE email = 'clo@example.com'").await, ["0"]);
    server.command(Command::ReactivateRealm).await;
    page.join("Clo").await;
}

#[tokio::test]
async fn the_operator_manages_accounts_by_command() {
    let server = TestServer::start().await;
    let create = |email: &str, role: Role| Command::CreateUser {
        email: email.to_owned(),
        full_name: "Somebody".to_owned(),
        role,
        bot_owner: None,
        password: Some("first password".to_owned()),
    };
    // The first person of an organization finds a channel and a message, also by this way.
    let made = server.command(create("ada@example.com", Role::Owner)).await;
    let mut ada = server.anonymous();
    (ada.email, ada.api_key) = ("ada@example.com".into(), made["api_key"].as_str().map(str::to_owned));
    let subscriptions = ada.get("/users/me/subscriptions", ()).await.ok();
    assert_eq!(subscriptions["subscriptions"][0]["name"], "general");
    let fetch = json!({"anchor": "newest", "num_before": 9, "num_after": 0});
    assert_eq!(ada.get("/messages", fetch).await.ok()["messages"].as_array().unwrap().len(), 1);
    server.command(create("bob@example.com", Role::Guest)).await;

    let email = || "bob@example.com".to_owned();
    let role =
        async || server.column("SELECT role FROM user WHERE email = 'bob@example.com'").await.remove(0);
    server.command(Command::SetRole { email: email(), role: Role::Administrator }).await;
    assert_eq!(role().await, "200");
    server.command(Command::SetPassword { email: email(), password: "second password".into() }).await;
    assert_eq!(server.command(Command::ListKeys { email: email() }).await, json!([]));
    let login = |password: &str| json!({"username": "bob@example.com", "password": password});
    server.anonymous().post("/fetch_api_key", login("second password")).await.ok();
    server.command(Command::SetActive { email: email(), is_active: false }).await;
    let refused = server.anonymous().post("/fetch_api_key", login("second password")).await;
    refused.error(401, "USER_DEACTIVATED", "Account is deactivated");
    server.command(Command::SetActive { email: email(), is_active: true }).await;
    server.anonymous().post("/fetch_api_key", login("second password")).await.ok();

    let refused = async |command: Command| {
        let refusal = teamchat::commands::run(server.app(), command).await.unwrap_err();
        refusal.msg().to_owned()
    };
    let ada = || "ada@example.com".to_owned();
    for (command, msg) in [
        (
            Command::SetRole { email: ada(), role: Role::Member },
            "The owner permission cannot be removed from the only organization owner.",
        ),
        (
            Command::SetActive { email: ada(), is_active: false },
            "Cannot deactivate the only organization owner",
        ),
        (
            Command::SetPassword { email: ada(), password: "short".into() },
            "A password has 6 to 100 characters",
        ),
        (
            Command::SetRole { email: "nobody@example.com".into(), role: Role::Member },
            "No user has the email 'nobody@example.com'",
        ),
        (
            Command::SetRole { email: "notification-bot@zulip.com".into(), role: Role::Owner },
            "No user has the email 'notification-bot@zulip.com'",
        ),
    ] {
        assert_eq!(refused(command).await, msg);
    }
}
