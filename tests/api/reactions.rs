//! `POST` and `DELETE /messages/{message_id}/reactions`.

use crate::harness::{Answer, Client, TestServer};
use serde_json::{Value, json};
use teamchat_markdown::emoji::{self, Emoji};

async fn react(client: &Client, id: i64, parameters: Value) -> Answer {
    client.post(&format!("/messages/{id}/reactions"), parameters).await
}

async fn unreact(client: &Client, id: i64, parameters: Value) -> Answer {
    client.delete(&format!("/messages/{id}/reactions"), parameters).await
}

async fn reactions(client: &Client, id: i64) -> Value {
    client.message(id).await["reactions"].clone()
}

fn reaction(client: &Client, name: &str, code: &str, kind: &str) -> Value {
    json!({"emoji_name": name, "emoji_code": code, "reaction_type": kind, "user_id": client.user_id})
}

#[tokio::test]
async fn codes_and_names_of_older_tables_are_known() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let id = ada.send(general, "t", "hello").await;
    let cases = [
        ("man_detective", "1f575-fe0f-200d-2642-fe0f", "1f575-200d-2642"),
        ("transgender_flag", "1f3f3-fe0f-200d-26a7-fe0f", "1f3f3-200d-26a7"),
        ("flag_turkey", "1f1f9-1f1f7", "1f1f9-1f1f7"),
        ("folded_hands", "1f64f", "1f64f"),
        ("pray", "1f64f", "1f64f"),
    ];
    for (name, sent, code) in cases {
        let params = json!({"emoji_name": name, "emoji_code": sent, "reaction_type": "unicode_emoji"});
        react(&ada, id, params.clone()).await.ok();
        assert_eq!(reactions(&ada, id).await, json!([reaction(&ada, name, code, "unicode_emoji")]));
        unreact(&ada, id, params).await.ok();
    }
    assert_eq!(reactions(&ada, id).await, json!([]));
}

// conformance: fetch-34, react-1, react-20, react-21
#[tokio::test]
async fn reactions_are_added_removed_and_emitted() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let eve = server.member("eve").await;
    let general = server.private_channel("general", &[&ada, &bob]).await;
    let id = ada.send(general, "t", "hello").await;
    let mut events = ada.register(json!({"event_types": ["reaction"]})).await;
    let mut outsiders = eve.register(json!({"event_types": ["reaction"]})).await;
    react(&bob, id, json!({"emoji_name": "tada"})).await.ok();
    react(&bob, id, json!({"emoji_name": "zulip"})).await.ok();
    let tada = reaction(&bob, "tada", "1f389", "unicode_emoji");
    let extra = reaction(&bob, "zulip", "zulip", "zulip_extra_emoji");
    assert_eq!(reactions(&ada, id).await, json!([tada, extra]));
    unreact(&bob, id, json!({"emoji_name": "tada"})).await.ok();
    assert_eq!(reactions(&ada, id).await, json!([extra]));
    let event = |op: &str, reaction: &Value| {
        let mut event = reaction.clone();
        event["type"] = json!("reaction");
        event["op"] = json!(op);
        event["message_id"] = json!(id);
        event["user"] = json!({"user_id": bob.user_id, "email": bob.email, "full_name": "Bob"});
        event
    };
    events.expect(&[event("add", &tada), event("add", &extra), event("remove", &tada)]).await;
    outsiders.expect_nothing().await;
    react(&eve, id, json!({"emoji_name": "tada"})).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    unreact(&eve, id, json!({"emoji_name": "zulip"})).await.error(400, "BAD_REQUEST", "Invalid message(s)");
}

// conformance: react-2, react-7, react-8, react-9, react-11
#[tokio::test]
async fn name_code_and_type_have_to_fit() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let id = ada.send_direct(&[&ada], "hello").await;
    let emoji = |name: &str, code: &str, kind: &str| json!({"emoji_name": name, "emoji_code": code, "reaction_type": kind});
    let cases = [
        (json!({"emoji_name": "no_such"}), "Emoji 'no_such' does not exist"),
        (
            json!({"emoji_name": "no_such", "reaction_type": "unicode_emoji"}),
            "Emoji 'no_such' does not exist",
        ),
        (emoji("tada", "ffff", "unicode_emoji"), "Invalid emoji code."),
        (emoji("smile", "1f389", "unicode_emoji"), "Invalid emoji name."),
        (emoji("zulip", "1f389", "zulip_extra_emoji"), "Invalid emoji code."),
        (emoji("tada", "zulip", "zulip_extra_emoji"), "Invalid emoji name."),
        (emoji("mine", "1", "realm_emoji"), "Invalid custom emoji."),
        (emoji("tada", "1f389", "other"), "Invalid emoji type."),
    ];
    for (parameters, msg) in cases {
        react(&ada, id, parameters).await.error(400, "BAD_REQUEST", msg);
    }
    let missing = react(&ada, id, json!({})).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'emoji_name' argument");
    assert_eq!(reactions(&ada, id).await, json!([]));
    for parameters in [
        emoji("tada", "1f389", "unicode_emoji"),
        emoji("zulip", "zulip", "zulip_extra_emoji"),
        json!({"emoji_name": "smile", "emoji_code": "1f642"}),
        json!({"emoji_name": "cat", "reaction_type": "unicode_emoji"}),
    ] {
        react(&ada, id, parameters).await.ok();
    }
    assert_eq!(reactions(&ada, id).await.as_array().unwrap().len(), 4);
}

// conformance: react-3, react-12, react-14, react-16, react-17, react-18
#[tokio::test]
async fn duplicate_and_missing_reactions_are_refused() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let id = ada.send_direct(&[&bob], "hello").await;
    react(&ada, id, json!({"emoji_name": "+1"})).await.ok();
    let exists = "Reaction already exists.";
    react(&ada, id, json!({"emoji_name": "+1"})).await.error(400, "REACTION_ALREADY_EXISTS", exists);
    // Another name of the same emoji is the same reaction.
    let other_name =
        json!({"emoji_name": "thumbs_up", "emoji_code": "1f44d", "reaction_type": "unicode_emoji"});
    react(&ada, id, other_name).await.error(400, "REACTION_ALREADY_EXISTS", exists);
    // A further reaction uses the name of the existing one.
    react(&bob, id, json!({"emoji_name": "thumbs_up"})).await.ok();
    let both = json!([
        reaction(&ada, "+1", "1f44d", "unicode_emoji"),
        reaction(&bob, "+1", "1f44d", "unicode_emoji"),
    ]);
    assert_eq!(reactions(&ada, id).await, both);

    let none = "Reaction doesn't exist.";
    unreact(&ada, id, json!({"emoji_name": "tada"})).await.error(400, "REACTION_DOES_NOT_EXIST", none);
    let other_kind = json!({"emoji_code": "1f44d", "reaction_type": "realm_emoji"});
    unreact(&ada, id, other_kind).await.error(400, "REACTION_DOES_NOT_EXIST", none);
    let msg = "At least one of the following arguments must be present: emoji_name, emoji_code";
    unreact(&ada, id, json!({})).await.error(400, "BAD_REQUEST", msg);
    unreact(&ada, id, json!({"emoji_code": "1f44d"})).await.ok();
    unreact(&ada, id, json!({"emoji_name": "+1"})).await.error(400, "REACTION_DOES_NOT_EXIST", none);
    // The second name finds the first one's reaction, by the emoji that both mean.
    unreact(&bob, id, json!({"emoji_name": "thumbs_up"})).await.ok();
    assert_eq!(reactions(&ada, id).await, json!([]));
    unreact(&bob, id, json!({"emoji_name": "no_such"})).await.error(
        400,
        "BAD_REQUEST",
        "Emoji 'no_such' does not exist",
    );
}

// conformance: react-23
#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let id = ada.send_direct(&[&bob], "hello").await;
    react(&ada, id, json!({"emoji_name": "tada"})).await.ok();
    server
        .check_state_sync(&[&ada, &bob], async || {
            react(&bob, id, json!({"emoji_name": "tada"})).await.ok();
            react(&bob, id, json!({"emoji_name": "zulip"})).await.ok();
            unreact(&ada, id, json!({"emoji_name": "tada"})).await.ok();
        })
        .await;
}

// conformance: react-5, react-13, react-19, react-21
#[tokio::test]
async fn readers_can_react_except_in_archived_channels() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let (eve, guest) = (server.member("eve").await, server.guest("gus").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    let id = owner.send(garden, "t", "hello").await;
    let direct = owner.send_direct(&[&ada], "hello").await;
    let register = json!({"event_types": ["reaction"]});
    let (mut of_ada, mut of_eve) = (ada.register(&register).await, eve.register(&register).await);
    react(&eve, id, json!({"emoji_name": "tada"})).await.ok();
    let missing = "Invalid message(s)";
    react(&guest, id, json!({"emoji_name": "tada"})).await.error(400, "BAD_REQUEST", missing);
    react(&eve, direct, json!({"emoji_name": "tada"})).await.error(400, "BAD_REQUEST", missing);
    react(&eve, 999_999, json!({"emoji_name": "tada"})).await.error(400, "BAD_REQUEST", missing);
    unreact(&eve, 999_999, json!({"emoji_name": "tada"})).await.error(400, "BAD_REQUEST", missing);
    react(&ada, direct, json!({"emoji_name": "tada"})).await.ok();
    of_ada.expect_kinds(&["reaction/add", "reaction/add"]).await;
    of_eve.expect_kinds(&["reaction/add"]).await;
    owner.delete(&format!("/streams/{garden}"), ()).await.ok();
    react(&ada, id, json!({"emoji_name": "tada"})).await.error(400, "BAD_REQUEST", missing);
    unreact(&eve, id, json!({"emoji_name": "tada"})).await.error(400, "BAD_REQUEST", missing);
}

#[tokio::test]
async fn additions_to_a_message_are_limited_per_user() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let id = ada.send(general, "t", "hello").await;
    let names: Vec<_> = emoji::all().take(101).map(Emoji::canonical_name).collect();
    for name in &names[..100] {
        react(&ada, id, json!({"emoji_name": name})).await.ok();
    }
    react(&ada, id, json!({"emoji_name": names[100]})).await.error(
        400,
        "BAD_REQUEST",
        "Too many reactions (limit: 100)",
    );
    react(&bob, id, json!({"emoji_name": names[100]})).await.ok();
    unreact(&ada, id, json!({"emoji_name": names[0]})).await.ok();
    react(&ada, id, json!({"emoji_name": names[100]})).await.ok();
    assert_eq!(reactions(&ada, id).await.as_array().unwrap().len(), 101);
}
