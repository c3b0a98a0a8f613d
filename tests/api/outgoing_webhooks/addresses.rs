//! The addresses that are posted to.

use super::{bot, messages, register, send_direct, server, url_of};
use crate::harness::{ReservedPort, TestServer};
use serde_json::json;
use teamchat::app::Options;

const NOT_ALLOWED: &str = "The URL configured for the webhook is for a private or disallowed network. The operator of \
                           this server can allow hosts with --webhook-hosts.";

#[tokio::test]
async fn only_hosts_that_were_allowed_are_posted_to() {
    let server = server().await;
    let ada = server.member("ada").await;
    let bot = bot(&ada, "http://localhost:9/", 1).await;
    let mut queue = register(&ada).await;
    send_direct(&ada, bot, "hello").await;
    let said = messages(&mut queue, 3).await;
    assert!(said[1].2.ends_with(&format!("\n{NOT_ALLOWED}")), "{said:?}");
    assert_eq!(said[2].2, "Failure! Bot is unavailable");
}

/// All spellings of local addresses are refused before a connection is made.
#[tokio::test]
async fn every_host_means_none_of_this_machine_or_of_private_networks() {
    let options = Options { webhook_hosts: vec!["*".to_owned()], ..Options::default() };
    let server = TestServer::start_with(options).await;
    let ada = server.member("ada").await;
    let port = server.address().port();
    let bot = bot(&ada, &format!("http://localhost:{port}/"), 1).await;
    let mut queue = register(&ada).await;
    for host in [
        "localhost",
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0",
        "169.254.169.254",
    ] {
        let url = format!("http://{host}:{port}/api/v1/server_settings");
        ada.patch(&format!("/bots/{bot}"), json!({"service_payload_url": url})).await.ok();
        send_direct(&ada, bot, "hello").await;
        let said = messages(&mut queue, 3).await;
        assert!(said[1].2.ends_with(&format!("\n{NOT_ALLOWED}")), "{host}: {said:?}");
    }
}

#[tokio::test]
async fn bots_with_unreachable_urls_are_refused() {
    let server = server().await;
    let ada = server.member("ada").await;
    let params = json!({"full_name": "Hook", "short_name": "hook", "bot_type": 3, "payload_url": "https://127.0.0.1/"});
    let msg = "payload_url: this server posts to http URLs, and not to https ones";
    ada.post("/bots", params).await.error(400, "BAD_REQUEST", msg);
    let bot = bot(&ada, "http://127.0.0.1/", 1).await;
    let params = json!({"service_payload_url": "https://127.0.0.1/"});
    let msg = "service_payload_url: this server posts to http URLs, and not to https ones";
    ada.patch(&format!("/bots/{bot}"), params).await.error(400, "BAD_REQUEST", msg);
}

/// The URL set by the former owner is not used, and its late answer is not sent.
#[tokio::test]
async fn new_owners_have_to_set_the_url() {
    let server = server().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    // No server listens there, so the first message waits for a retry.
    let closed = ReservedPort::new();
    let id = bot(&ada, &url_of(&closed), 1).await;
    send_direct(&ada, id, "waits").await;
    while server.column("SELECT failed_tries FROM outgoing_webhook").await != ["1"] {
        tokio::task::yield_now().await;
    }
    ada.patch(&format!("/bots/{id}"), json!({"bot_owner_id": bob.user_id})).await.ok();
    assert_eq!(server.column("SELECT count(*) FROM outgoing_webhook").await, ["0"]);
    let mut queue = register(&bob).await;
    send_direct(&bob, id, "hello").await;
    let said: Vec<String> =
        messages(&mut queue, 3).await.into_iter().map(|(_, _, content)| content).collect();
    assert!(
        said[1].ends_with("The webhook has no URL since it has a new owner. Set one in its settings."),
        "{said:?}"
    );
    assert_eq!(said[2], "Failure! Bot is unavailable");
    queue.ignore();
}
