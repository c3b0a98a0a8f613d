//! `/drafts`.

use crate::harness::{Client, START, TestServer};
use serde_json::{Value, json};

async fn drafts(client: &Client) -> Value {
    let listed = client.get("/drafts", ()).await.ok();
    assert_eq!(listed["count"], listed["drafts"].as_array().unwrap().len());
    listed["drafts"].clone()
}

// conformance: draft-1, draft-2, draft-6, draft-7, draft-8, draft-18
#[tokio::test]
async fn drafts_are_created_listed_changed_and_removed() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada]).await;
    let mut events = ada.register(json!({"event_types": ["drafts"]})).await;
    let mut others = bob.register(json!({"event_types": ["drafts"]})).await;
    let made = ada
        .post(
            "/drafts",
            json!({"drafts": [
                {"type": "stream", "to": [general], "topic": " lunch ", "content": "  pizza \n", "timestamp": 100},
                {"type": "private", "to": [ada.user_id, bob.user_id], "topic": "no", "content": "hi"},
                {"type": "", "to": [1, 2], "topic": "no", "content": "what", "timestamp": 50.75},
            ]}),
        )
        .await
        .ok();
    let ids = made["ids"].as_array().unwrap();
    let stream = json!({"id": ids[0], "type": "stream", "to": [general], "topic": "lunch",
        "content": "  pizza", "timestamp": 100});
    let direct = json!({"id": ids[1], "type": "private", "to": [bob.user_id], "topic": "",
        "content": "hi", "timestamp": START});
    let unaddressed =
        json!({"id": ids[2], "type": "", "to": [], "topic": "", "content": "what", "timestamp": 50});
    assert_eq!(drafts(&ada).await, json!([direct, stream, unaddressed]));
    assert_eq!(drafts(&bob).await, json!([]));

    let path = format!("/drafts/{}", ids[2]);
    let note =
        json!({"type": "private", "to": [ada.user_id], "topic": "", "content": "note", "timestamp": 60});
    ada.patch(&path, json!({"draft": note})).await.ok();
    let note = json!({"id": ids[2], "type": "private", "to": [ada.user_id], "topic": "",
        "content": "note", "timestamp": 60});
    ada.delete(&format!("/drafts/{}", ids[1]), ()).await.ok();
    assert_eq!(drafts(&ada).await, json!([stream, note]));
    events
        .expect(&[
            json!({"type": "drafts", "op": "add", "drafts": [stream, direct, unaddressed]}),
            json!({"type": "drafts", "op": "update", "draft": note}),
            json!({"type": "drafts", "op": "remove", "draft_id": ids[1]}),
        ])
        .await;
    others.expect_nothing().await;
}

// conformance: draft-10, draft-11, draft-12, draft-13, draft-14, draft-15, draft-16, draft-17
#[tokio::test]
async fn invalid_parameters_store_nothing() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let good = json!({"type": "stream", "to": [general], "topic": "t", "content": "c"});
    let with = |name: &str, value: Value| {
        let mut draft = good.clone();
        draft[name] = value;
        draft
    };
    let one_channel = "Must specify exactly 1 channel ID for channel messages";
    let cases = [
        (with("type", json!("channel")), "Invalid drafts[1][\"type\"]"),
        (with("to", json!("x")), "drafts[1][\"to\"] is not a list"),
        (with("to", json!(["x"])), "drafts[1][\"to\"][0] is not an integer"),
        (with("content", json!(" ")), "drafts[1][\"content\"] cannot be blank"),
        (with("content", json!("a\0")), "Message must not contain null bytes"),
        (with("topic", json!("a\0")), "Topic must not contain null bytes"),
        (with("timestamp", json!(-1)), "Timestamp must not be negative."),
        (with("timestamp", json!(START * 1000)), "drafts[1][\"timestamp\"] is too large"),
        (with("timestamp", json!(1e300)), "drafts[1][\"timestamp\"] is too large"),
        (with("to", json!([])), one_channel),
        (with("to", json!([general, general])), one_channel),
        (with("to", json!([9999])), "Invalid channel ID"),
        (with("id", json!(1)), "Argument \"id\" at drafts[1][\"id\"] is unexpected"),
        (json!({"type": "private", "to": [9999], "topic": "", "content": "c"}), "Invalid user ID 9999"),
        (
            json!({"type": "private", "to": [9999, ada.user_id, 8888], "topic": "", "content": "c"}),
            "Invalid user ID 8888",
        ),
        (
            json!({"type": "", "to": [], "topic": ""}),
            "drafts[1][\"content\"] field is missing: Field required",
        ),
    ];
    for (draft, msg) in cases {
        let answer = ada.post("/drafts", json!({"drafts": [good, draft]})).await;
        answer.error(400, "BAD_REQUEST", msg);
    }
    let missing = ada.post("/drafts", ()).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'drafts' argument");
    assert_eq!(drafts(&ada).await, json!([]));
}

// conformance: draft-19, draft-21
#[tokio::test]
async fn another_users_draft_does_not_exist() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let draft = json!({"type": "", "to": [], "topic": "", "content": "c"});
    let made = ada.post("/drafts", json!({"drafts": [draft]})).await.ok();
    let path = format!("/drafts/{}", made["ids"][0]);
    let msg = "Draft does not exist";
    bob.patch(&path, json!({"draft": draft})).await.error(400, "BAD_REQUEST", msg);
    bob.delete(&path, ()).await.error(400, "BAD_REQUEST", msg);
    assert_eq!(drafts(&ada).await[0]["content"], "c");
    let missing = ada.patch(&path, ()).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'draft' argument");
}

// conformance: draft-5
#[tokio::test]
async fn disabled_draft_synchronization_removes_drafts() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let draft = json!({"type": "", "to": [], "topic": "", "content": "c"});
    let made = ada.post("/drafts", json!({"drafts": [draft]})).await.ok();
    ada.patch("/settings", &[("enable_drafts_synchronization", "false")]).await.ok();
    let msg = "User has disabled synchronizing drafts.";
    let path = format!("/drafts/{}", made["ids"][0]);
    ada.get("/drafts", ()).await.error(400, "BAD_REQUEST", msg);
    ada.post("/drafts", json!({"drafts": [draft]})).await.error(400, "BAD_REQUEST", msg);
    ada.patch(&path, json!({"draft": draft})).await.error(400, "BAD_REQUEST", msg);
    ada.delete(&path, ()).await.error(400, "BAD_REQUEST", msg);
    let state = ada.post("/register", json!({"fetch_event_types": ["drafts"]})).await.ok();
    assert_eq!(state["drafts"], json!([]));
    // They are deleted, not hidden.
    ada.patch("/settings", &[("enable_drafts_synchronization", "true")]).await.ok();
    assert_eq!(ada.get("/drafts", ()).await.ok()["drafts"], json!([]));
}

// conformance: draft-20
#[tokio::test]
async fn a_draft_is_checked_when_it_is_changed_too() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let secret = server.private_channel("secret", &[&bob]).await;
    let draft = json!({"type": "", "to": [], "topic": "", "content": "c", "timestamp": 5});
    let made = ada.post("/drafts", json!({"drafts": [draft]})).await.ok();
    let path = format!("/drafts/{}", made["ids"][0]);
    let before = drafts(&ada).await;
    let mut events = ada.register(json!({"event_types": ["drafts"]})).await;
    let with = |name: &str, value: Value| {
        let mut draft = draft.clone();
        draft[name] = value;
        draft
    };
    let cases = [
        (with("type", json!("channel")), "Invalid draft[\"type\"]"),
        (with("content", json!("\n")), "draft[\"content\"] cannot be blank"),
        (with("timestamp", json!(-1)), "Timestamp must not be negative."),
        (with("timestamp", json!(253_402_300_800_i64)), "draft[\"timestamp\"] is too large"),
        (
            json!({"type": "stream", "to": [], "topic": "", "content": "c"}),
            "Must specify exactly 1 channel ID for channel messages",
        ),
        (json!({"type": "stream", "to": [secret], "topic": "", "content": "c"}), "Invalid channel ID"),
        (json!({"type": "private", "to": [9999], "topic": "", "content": "c"}), "Invalid user ID 9999"),
        (
            json!({"type": "private", "to": [9999, ada.user_id, 8888], "topic": "", "content": "c"}),
            "Invalid user ID 8888",
        ),
        (json!([]), "draft is not a dict"),
    ];
    for (draft, msg) in cases {
        ada.patch(&path, json!({"draft": draft})).await.error(400, "BAD_REQUEST", msg);
    }
    assert_eq!(drafts(&ada).await, before);
    events.expect_nothing().await;
}

// conformance: draft-9
#[tokio::test]
async fn long_values_are_truncated() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let long =
        json!({"type": "stream", "to": [general], "topic": "é".repeat(61), "content": "é".repeat(10_001)});
    ada.post("/drafts", json!({"drafts": [long]})).await.ok();
    let kept = drafts(&ada).await[0].clone();
    assert_eq!(kept["topic"], "é".repeat(57) + "...");
    let content = kept["content"].as_str().unwrap();
    assert_eq!((content.chars().count(), content.ends_with("\n[message truncated]")), (10_000, true));
}

// conformance: draft-3
#[tokio::test]
async fn a_registration_tells_the_newest_thousand() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let draft = |time: i64| json!({"type": "", "to": [], "topic": "", "content": "c", "timestamp": time});
    let many: Vec<Value> = (1..=1001).map(draft).collect();
    ada.post("/drafts", json!({"drafts": many})).await.ok();
    let state = ada.post("/register", json!({"fetch_event_types": ["drafts"]})).await.ok();
    let newest = state["drafts"].as_array().unwrap();
    let (first, last) = (newest[0]["timestamp"].clone(), newest.last().unwrap()["timestamp"].clone());
    assert_eq!((newest.len(), first, last), (1000, json!(1001), json!(2)));
    assert_eq!(drafts(&ada).await.as_array().unwrap().len(), 1001);
}

// conformance: draft-4
#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let draft = |content: &str, timestamp: i64| json!({"type": "", "to": [], "topic": "", "content": content, "timestamp": timestamp});
    let kept = ada.post("/drafts", json!({"drafts": [draft("a", 1), draft("b", 2)]})).await.ok();
    server
        .check_state_sync(&[&ada], async || {
            ada.post("/drafts", json!({"drafts": [draft("c", 3), draft("d", 0)]})).await.ok();
            ada.patch(&format!("/drafts/{}", kept["ids"][0]), json!({"draft": draft("e", 4)})).await.ok();
            ada.delete(&format!("/drafts/{}", kept["ids"][1]), ()).await.ok();
        })
        .await;
}
