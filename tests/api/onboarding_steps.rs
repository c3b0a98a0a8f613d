//! Hints for beginners.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

/// Names of the remaining steps of a user.
async fn left(client: &Client) -> Vec<String> {
    let state = client.post("/register", json!({"fetch_event_types": ["onboarding_steps"]})).await.ok();
    assert_eq!(state["navigation_tour_video_url"], Value::Null);
    let steps = state["onboarding_steps"].as_array().unwrap();
    steps.iter().map(|step| step["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_step_is_shown_until_it_was_seen() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let all = left(&ada).await;
    assert!(all.contains(&"intro_resolve_topic".to_owned()));
    assert!(!all.contains(&"navigation_tour_video".to_owned()), "there is none");
    let mut queues =
        [ada.register(json!({"event_types": ["onboarding_steps"]})).await, bob.register(()).await];
    for _ in 0..2 {
        let seen = json!({"onboarding_step": "intro_resolve_topic"});
        ada.post("/users/me/onboarding_steps", seen).await.ok();
    }
    let now = left(&ada).await;
    assert_eq!(now.len(), all.len() - 1);
    assert!(!now.contains(&"intro_resolve_topic".to_owned()));
    let events = queues[0].expect_kinds(&["onboarding_steps", "onboarding_steps"]).await;
    let notice = json!({"type": "one_time_notice", "name": "visibility_policy_banner"});
    assert_eq!(events[0]["onboarding_steps"][0], notice);
    assert_eq!(events[1]["onboarding_steps"].as_array().unwrap().len(), now.len());
    queues[1].expect_nothing().await;
    assert_eq!(left(&bob).await, all);
}

#[tokio::test]
async fn unknown_steps_and_bots_are_refused() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bot = server.bot("robot", &ada).await;
    let path = "/users/me/onboarding_steps";
    let unknown = ada.post(path, json!({"onboarding_step": "first_steps"})).await;
    unknown.error(400, "BAD_REQUEST", "Unknown onboarding_step: first_steps");
    let refused = bot.post(path, json!({"onboarding_step": "intro_resolve_topic"})).await;
    refused.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");
    let missing = ada.post(path, ()).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'onboarding_step' argument");
}

#[tokio::test]
async fn events_and_a_new_state_agree() {
    let server = TestServer::start().await;
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    server
        .check_state_sync(&[&ada, &guest], async || {
            for client in [&ada, &guest] {
                let seen = json!({"onboarding_step": "visibility_policy_banner"});
                client.post("/users/me/onboarding_steps", seen).await.ok();
            }
        })
        .await;
}
