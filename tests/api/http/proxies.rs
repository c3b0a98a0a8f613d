//! Reverse proxies: trust in forwarded client addresses.

use crate::harness::{Answer, Client, START, TestServer};
use reqwest::Method;
use serde_json::{Value, json};
use teamchat::app::Options;

async fn guess(server: &TestServer, forwarded: &str) -> Answer {
    let mut stranger = server.anonymous();
    "ada@example.com".clone_into(&mut stranger.email);
    stranger.api_key = Some("x".repeat(32));
    stranger.request(Method::GET, "/users/me").header("X-Forwarded-For", forwarded).send().await
}

// conformance: auth-40
#[tokio::test]
async fn behind_a_trusted_proxy_each_client_has_its_own_limits() {
    let options = Options { trusted_proxies: vec!["127.0.0.1".parse().unwrap()], ..Options::default() };
    let server = TestServer::start_with(options).await;
    for number in 0..100 {
        // Addresses added by the client are ignored.
        let forwarded = format!("192.0.2.{number}, 203.0.113.1");
        guess(&server, &forwarded).await.error(401, "UNAUTHORIZED", "Invalid API key");
    }
    assert_eq!(guess(&server, "203.0.113.1").await.status, 429);
    assert_eq!(guess(&server, "203.0.113.2").await.status, 401);
}

// conformance: auth-40
#[tokio::test]
async fn only_trusted_proxies_name_the_client() {
    let server = TestServer::start().await;
    for number in 0..100 {
        let forwarded = format!("192.0.2.{number}");
        guess(&server, &forwarded).await.error(401, "UNAUTHORIZED", "Invalid API key");
    }
    assert_eq!(guess(&server, "203.0.113.2").await.status, 429);
}

#[tokio::test]
async fn links_begin_with_the_public_url_whatever_a_request_names() {
    let public_url = Some("https://chat.example.com".to_owned());
    let server = TestServer::start_with(Options { public_url, ..Options::default() }).await;
    let request = server.anonymous().request(Method::GET, "/server_settings");
    let settings =
        request.header("Host", "evil.example").header("X-Forwarded-Host", "evil.example").send().await;
    assert_eq!(settings.ok()["realm_url"], "https://chat.example.com");
    let server = TestServer::start().await;
    let request = server.anonymous().request(Method::GET, "/server_settings");
    let settings =
        request.header("X-Forwarded-Proto", "https").header("X-Forwarded-Host", "evil.example").send().await;
    assert_eq!(settings.ok()["realm_url"], format!("http://{}", server.address()));
}

/// Names of hosts that a request may claim.
const HOSTILE: [&str; 3] = ["evil.example", "evil.example:8080", "user@evil.example"];

/// Without `--public-url` a request may name any host. It gets links with that host, and others get none.
#[tokio::test]
async fn the_host_of_a_request_is_in_no_answer_to_others() {
    let server = TestServer::start().await;
    let (owner, eve, ada) = (server.owner().await, server.member("eve").await, server.member("ada").await);
    let general = server.channel("general", &[&owner, &eve, &ada]).await;
    let file = eve.request(Method::POST, "/user_uploads").multipart((), &[("file", "a.txt", b"text")]);
    let url = file.header("Host", HOSTILE[0]).send().await.ok()["url"].as_str().unwrap().to_owned();
    for (number, host) in HOSTILE.into_iter().enumerate() {
        let send = async |client: &Client, method: Method, path: &str, parameters: Value| {
            let request = client.request(method, path).form(parameters);
            request.header("Host", host).header("X-Forwarded-Host", host).send().await
        };
        let text =
            format!("#**general** [file]({url}) /user_uploads/1 :smile: #**general>soup** number {number}");
        let message = json!({"type": "channel", "to": general, "topic": "soup", "content": text});
        let id = send(&eve, Method::POST, "/messages", message).await.ok()["id"].clone();
        let edit = json!({"content": format!("{text} again")});
        send(&eve, Method::PATCH, &format!("/messages/{id}"), edit).await.ok();
        let bot = json!({"full_name": format!("Tool {number}"), "short_name": format!("tool{number}")});
        send(&eve, Method::POST, "/bots", bot).await.ok();
        send(&eve, Method::PATCH, "/settings", json!({"email_address_visibility": 4})).await.ok();
        send(&eve, Method::PATCH, "/settings", json!({"email_address_visibility": 1})).await.ok();
        send(&eve, Method::PATCH, "/settings", json!({"email_address_visibility": 5})).await.ok();
        let invitation = json!({"invitee_emails": format!("new{number}@example.com"), "stream_ids": []});
        send(&eve, Method::POST, "/invites", invitation).await.ok();
        let resend = format!("/invites/{}/resend", number + 1);
        send(&eve, Method::POST, &resend, json!({})).await.ok();
        let description = format!("[file]({url}) #**general>soup**");
        let channel = json!({"name": format!("channel {number}"), "subscribers": [ada.user_id], "description": description});
        send(&eve, Method::POST, "/channels/create", channel).await.ok();
        let scheduled = json!({"type": "channel", "to": general, "topic": "later", "content": text,
            "scheduled_delivery_timestamp": START + 60});
        send(&eve, Method::POST, "/scheduled_messages", scheduled).await.ok();
        let report = json!({"report_type": "spam", "description": text});
        send(&ada, Method::POST, &format!("/messages/{id}/report"), report).await;
        let created = json!({"email": format!("created{number}@example.com"), "password": "long enough, surely",
            "full_name": format!("Created {number}")});
        send(&owner, Method::POST, "/users", created).await.ok();
    }
    server.sql("INSERT INTO realm_user_setting_default VALUES ('email_address_visibility', '4')").await;
    let invitation = owner.post("/invites/multiuse", json!({})).await.ok();
    let link = invitation["invite_link"].as_str().unwrap().to_owned();
    let page = crate::join::Page::open(&server, &link).await;
    let form = json!({"full_name": "New", "email": "new@example.com", "password": "correct horse"});
    assert_eq!(page.send_to(HOSTILE[0], form).await.status, 200);
    server.clock.advance(60);
    server.deliver_due().await;
    for reader in [&owner, &ada] {
        let all = json!({"anchor": "newest", "num_before": 100, "num_after": 0, "client_gravatar": false});
        let as_text = json!({"anchor": "newest", "num_before": 100, "num_after": 0, "apply_markdown": false});
        for (method, path, parameters) in [
            (Method::POST, "/register", json!({})),
            (Method::GET, "/messages", all),
            (Method::GET, "/messages", as_text),
            (Method::GET, "/users", json!({})),
            (Method::GET, "/streams", json!({})),
            (Method::GET, "/invites", json!({})),
            (Method::GET, "/server_settings", json!({})),
            (Method::GET, "/realm/emoji", json!({})),
        ] {
            let answer = match method {
                Method::POST => reader.post(path, parameters).await,
                _ => reader.get(path, parameters).await,
            };
            let text = answer.to_string();
            assert!(
                !text.contains("evil.example"),
                "{path}: {}",
                &text[text.find("evil").unwrap().saturating_sub(200)..]
            );
        }
    }
    let stored = "SELECT email || delivery_email FROM user UNION ALL SELECT domain FROM dummy_email_domain
        UNION ALL SELECT content || rendered_content FROM message";
    assert!(!server.column(stored).await.concat().contains("evil.example"));
}
