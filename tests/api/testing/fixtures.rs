//! Members of fixtures, through the library.

use crate::harness;
use reqwest::Method;
use serde_json::{Value, json};
use teamchat::testing::{Channel, Fixtures, Message, TestServer, User, dump};

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_sample_has_people_and_channels_of_each_kind() {
    let server = TestServer::start(Fixtures::sample().unwrap()).await.unwrap();
    assert_eq!(server.api_key("Hamlet@zulip.com"), Some("hamlet-key"));
    let iago = "iago@zulip.com";
    let state = server.call(iago, "POST", "/register", Value::Null).await.unwrap();
    assert_eq!(state["realm_name"], "Zulip Dev");
    let mut subscribed = names(&state["subscriptions"]);
    subscribed.sort_unstable();
    assert_eq!(
        subscribed,
        ["Denmark", "Scotland", "Verona", "announce", "backstage", "core team", "general"]
    );
    let group = state["realm_user_groups"]
        .as_array()
        .unwrap()
        .iter()
        .find(|group| group["name"] == "hamletcharacters");
    assert_eq!(group.unwrap()["members"].as_array().unwrap().len(), 2);
    let of_guest = server.call("polonius@zulip.com", "POST", "/register", Value::Null).await.unwrap();
    assert_eq!(names(&of_guest["subscriptions"]).len(), 2);

    let page = json!({"anchor": "newest", "num_before": 50, "num_after": 0});
    let read = server.call("hamlet@zulip.com", "GET", "/messages", page).await.unwrap();
    let messages = read["messages"].as_array().unwrap();
    assert_eq!(messages[0]["flags"], json!(["read"]));
    let question = messages.iter().find(|message| message["id"] == 2).unwrap();
    assert_eq!(question["reactions"].as_array().unwrap().len(), 2);
    let answer = messages.iter().find(|message| message["id"] == 3).unwrap();
    assert_eq!(answer["flags"], json!(["starred", "mentioned"]));
    let refused = server.send_to_channel("hamlet@zulip.com", "announce", "t", "c").await.unwrap_err();
    assert_eq!(refused.to_string(), "You do not have permission to post in this channel. (BAD_REQUEST)");

    let login = [("username", "cordelia@zulip.com"), ("password", "cordelia-password")];
    let url = format!("{}/api/v1/fetch_api_key", server.url());
    let login: Value =
        reqwest::Client::new().post(url).form(&login).send().await.unwrap().json().await.unwrap();
    assert_eq!(login["result"], "success");
}

#[tokio::test]
async fn errors_of_fixtures_in_code_have_no_line() {
    let fixtures = Fixtures::new()
        .user(User::owner("iago@example.com", "Iago"))
        .channel(Channel::public("Verona").subscriber("ago@example.com"));
    let error = TestServer::start(fixtures).await.err().unwrap();
    assert_eq!(error.to_string(), "fixtures: no entry of \"users\" has the email 'ago@example.com'");
    let fixtures = Fixtures::new()
        .setting("name", "Play")
        .setting("nmae", "Play")
        .user(User::owner("a@example.com", "A"));
    let error = TestServer::start(fixtures).await.err().unwrap();
    assert_eq!(error.to_string(), "fixtures: PATCH /realm has no parameter nmae");
}

#[tokio::test]
async fn a_clock_before_1970_has_a_negative_timestamp() {
    let fixtures = Fixtures::new().user(User::owner("iago@example.com", "Iago")).frozen_at(-60);
    let server = TestServer::start(fixtures).await.unwrap();
    let clock = server.clock().await.unwrap();
    assert_eq!((clock.timestamp, clock.frozen), (-60.0, true));
}

#[test]
fn a_test_server_needs_no_runtime() {
    let fixtures = Fixtures::new()
        .user(User::owner("iago@example.com", "Iago"))
        .frozen_at(1_800_000_000)
        .message(Message::direct("iago@example.com", &[], "a note"));
    // An executor that knows nothing of the network or of time.
    let server = futures_util::future::FutureExt::boxed(TestServer::start(fixtures));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let server = runtime.block_on(server).unwrap();
    let clock = runtime.block_on(server.advance(60)).unwrap();
    assert_eq!((clock.timestamp, clock.frozen), (1_800_000_060.0, true));
    drop(server);
}

#[tokio::test]
async fn many_servers_run_concurrently() {
    let start = || TestServer::start(Fixtures::new().user(User::owner("iago@example.com", "Iago")));
    let servers = futures_util::future::join_all((0..20).map(|_| start())).await;
    let mut urls: Vec<String> = servers.iter().map(|server| server.as_ref().unwrap().url()).collect();
    urls.sort();
    urls.dedup();
    assert_eq!(urls.len(), 20);
}

/// Fixtures have no custom emoji.
#[tokio::test]
async fn reactions_with_custom_emoji_are_not_dumped() {
    let server = harness::TestServer::start().await;
    let owner = server.owner().await;
    let picture = harness::pictures::png(100, 50);
    let added =
        owner.request(Method::POST, "/realm/emoji/tick").multipart((), &[("file", "tick.png", &picture)]);
    added.send().await.ok();
    let id = owner.send_direct(&[&owner], "hello").await;
    for emoji in ["tick", "tada"] {
        owner.post(&format!("/messages/{id}/reactions"), json!({"emoji_name": emoji})).await.ok();
    }
    let dumped = dump(&server.database()).unwrap().to_json();
    let dumped: Value = serde_json::from_str(&dumped).unwrap();
    let sent = dumped["messages"].as_array().unwrap().iter().find(|message| message["content"] == "hello");
    assert_eq!(sent.unwrap()["reactions"], json!([{"user": owner.email, "emoji_name": "tada"}]));
}
