//! Channel folders.

use crate::channels::{channel, channel_with, seen};
use crate::harness::{Client, START, TestServer};
use serde_json::{Value, json};

/// Creates a folder and returns its id.
async fn folder(administrator: &Client, name: &str) -> i64 {
    let parameters = json!({"name": name, "description": ""});
    administrator.post("/channel_folders/create", parameters).await.ok()["channel_folder_id"]
        .as_i64()
        .unwrap()
}

async fn folders(client: &Client, include_archived: bool) -> Value {
    let parameters = json!({"include_archived": include_archived});
    client.get("/channel_folders", parameters).await.ok()["channel_folders"].clone()
}

fn path(id: i64) -> String {
    format!("/channel_folders/{id}")
}

// conformance: folder-1, folder-2
#[tokio::test]
async fn folders_are_created_and_emitted() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let guest = server.guest("guest").await;
    let mut events = guest.register(json!({"event_types": ["channel_folder"]})).await;
    let parameters = json!({"name": " Backend ", "description": "What *runs*."});
    let made = owner.post("/channel_folders/create", parameters).await.ok();
    let id = &made["channel_folder_id"];
    let expected = json!({
        "id": id,
        "name": "Backend",
        "description": "What *runs*.",
        "rendered_description": "<p>What <em>runs</em>.</p>",
        "date_created": START,
        "creator_id": owner.user_id,
        "order": id,
        "is_archived": false,
    });
    events.expect(&[json!({"type": "channel_folder", "op": "add", "channel_folder": expected})]).await;
    assert_eq!(guest.get("/channel_folders", ()).await.ok()["channel_folders"], json!([expected]));
    let state = guest.post("/register", json!({"fetch_event_types": ["channel_folders"]})).await.ok();
    assert_eq!(state["channel_folders"], json!([expected]));
}

// conformance: folder-4, folder-5, folder-6, folder-9, folder-11
#[tokio::test]
async fn folders_are_refused_as_published() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let first = folder(&owner, "Backend").await;
    let second = folder(&owner, "é".repeat(60).as_str()).await;
    let cases = [
        ("", "Channel folder name can't be empty.".to_owned()),
        ("  ", "Channel folder name can't be empty.".to_owned()),
        ("a\nb", "Invalid character in channel folder name, at position 2.".to_owned()),
        ("backEND", "Channel folder 'backEND' already exists".to_owned()),
        (&"é".repeat(61), "name is too long (limit: 60 characters)".to_owned()),
    ];
    for (name, msg) in cases {
        let parameters = json!({"name": name, "description": ""});
        owner.post("/channel_folders/create", &parameters).await.error(400, "BAD_REQUEST", &msg);
        owner.patch(&path(second), json!({"name": name})).await.error(400, "BAD_REQUEST", &msg);
    }
    let msg = "description is too long (limit: 1024 characters)";
    let long = json!({"name": "x", "description": "é".repeat(1025)});
    owner.post("/channel_folders/create", &long).await.error(400, "BAD_REQUEST", msg);
    owner.patch(&path(second), &long).await.error(400, "BAD_REQUEST", msg);
    let missing = owner.post("/channel_folders/create", &[("name", "x")]).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'description' argument");
    let missing = owner.post("/channel_folders/create", &[("description", "x")]).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'name' argument");
    owner.patch(&path(9999), json!({"name": "x"})).await.error(
        400,
        "BAD_REQUEST",
        "Invalid channel folder ID",
    );
    let short = owner.patch("/channel_folders", json!({"order": [first]})).await;
    short.error(400, "BAD_REQUEST", "Invalid order mapping.");
    let missing = owner.patch("/channel_folders", ()).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'order' argument");
    assert_eq!(folders(&owner, true).await.as_array().unwrap().len(), 2);
}

// conformance: folder-7
#[tokio::test]
async fn only_administrators_change_folders() {
    let server = TestServer::start().await;
    let administrator = server.administrator("admin").await;
    let moderator = server.moderator("moderator").await;
    let id = folder(&administrator, "Backend").await;
    let (code, msg) = ("UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator");
    let new = json!({"name": "x", "description": ""});
    moderator.post("/channel_folders/create", new).await.error(400, code, msg);
    moderator.patch("/channel_folders", json!({"order": [id]})).await.error(400, code, msg);
    moderator.patch(&path(id), json!({"name": "x"})).await.error(400, code, msg);
    assert_eq!(folders(&moderator, true).await[0]["name"], "Backend");
}

// conformance: folder-3, folder-5, folder-8
#[tokio::test]
async fn folders_are_changed_part_by_part() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let id = folder(&owner, "Backend").await;
    let mut events = owner.register(json!({"event_types": ["channel_folder"]})).await;
    let change = json!({"name": "backend", "description": "**New**", "is_archived": true});
    owner.patch(&path(id), &change).await.ok();
    let updated = |data: Value| json!({"type": "channel_folder", "op": "update", "channel_folder_id": id, "data": data});
    events
        .expect(&[
            updated(json!({"name": "backend"})),
            updated(json!({"description": "**New**", "rendered_description": "<p><strong>New</strong></p>"})),
            updated(json!({"is_archived": true})),
        ])
        .await;
    // The same again is no change.
    owner.patch(&path(id), &change).await.ok();
    owner.patch(&path(id), ()).await.ok();
    events.expect_nothing().await;
    let changes = "SELECT count(*) FROM audit_entry WHERE action = 'item_changed'";
    assert_eq!(server.column(changes).await, ["1"]);
    assert_eq!(folders(&owner, false).await, json!([]));
    let archived = folders(&owner, true).await;
    assert_eq!((&archived[0]["is_archived"], &archived[0]["name"]), (&json!(true), &json!("backend")));
    let state = owner.post("/register", json!({"fetch_event_types": ["channel_folders"]})).await.ok();
    assert_eq!(state["channel_folders"], archived);
    // The name of an archived folder may be reused, which prevents restoring the folder.
    let other = folder(&owner, "Backend").await;
    let back = json!({"is_archived": false});
    let refused = owner.patch(&path(id), &back).await;
    refused.error(400, "BAD_REQUEST", "Channel folder 'backend' already exists");
    owner.patch(&path(other), json!({"name": "Frontend"})).await.ok();
    owner.patch(&path(id), &back).await.ok();
    assert_eq!(folders(&owner, false).await.as_array().unwrap().len(), 2);
    events.ignore();
}

// conformance: folder-11, folder-12
#[tokio::test]
async fn folders_have_an_order() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    let (one, two, three) =
        (folder(&owner, "one").await, folder(&owner, "two").await, folder(&owner, "three").await);
    owner.patch(&path(two), json!({"is_archived": true})).await.ok();
    let mut events = ada.register(json!({"event_types": ["channel_folder"]})).await;
    let order = json!({"order": [three, two, one]});
    owner.patch("/channel_folders", &order).await.ok();
    owner.patch("/channel_folders", &order).await.ok();
    events.expect(&[json!({"type": "channel_folder", "op": "reorder", "order": [three, two, one]})]).await;
    let all = folders(&ada, true).await;
    let seen: Vec<(i64, i64)> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|folder| (folder["id"].as_i64().unwrap(), folder["order"].as_i64().unwrap()))
        .collect();
    assert_eq!(seen, [(three, 0), (two, 1), (one, 2)]);
    // A new one comes last.
    let last = folder(&owner, "last").await;
    assert_eq!(folders(&ada, true).await[3]["id"], last);
    events.ignore();
}

// conformance: folder-10, folder-14, folder-15
#[tokio::test]
async fn channels_are_put_into_folders() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    let (id, archived) = (folder(&owner, "Backend").await, folder(&owner, "Old").await);
    owner.patch(&path(archived), json!({"is_archived": true})).await.ok();
    let made = channel_with(&ada, json!({"name": "made", "subscribers": [], "folder_id": id})).await;
    assert_eq!(seen(&ada, made).await["folder_id"], id);
    let subscriptions = json!([{"name": "subscribed"}]);
    ada.post("/users/me/subscriptions", json!({"subscriptions": subscriptions, "folder_id": id})).await.ok();
    let moved = channel(&ada, "moved").await;
    let mut events = ada.register(json!({"event_types": ["stream"]})).await;
    let to = format!("/streams/{moved}");
    ada.patch(&to, json!({"folder_id": id})).await.ok();
    ada.patch(&to, json!({"folder_id": id})).await.ok();
    ada.patch(&to, json!({"folder_id": null})).await.ok();
    let updated = |value: Value| {
        json!({"type": "stream", "op": "update", "stream_id": moved, "name": "moved", "property": "folder_id",
            "value": value})
    };
    events.expect(&[updated(json!(id)), updated(json!(null))]).await;
    for folder_id in [9999, archived] {
        let parameters = json!({"name": "x", "subscribers": [], "folder_id": folder_id});
        let refused = ada.post("/channels/create", parameters).await;
        refused.error(400, "BAD_REQUEST", "Invalid channel folder ID");
        let refused = ada.patch(&to, json!({"folder_id": folder_id})).await;
        refused.error(400, "BAD_REQUEST", "Invalid channel folder ID");
    }
    assert_eq!(seen(&ada, moved).await["folder_id"], json!(null));

    let archive = json!({"is_archived": true});
    let msg = "You need to remove all the channels from this folder to archive it.";
    owner.patch(&path(id), &archive).await.error(400, "BAD_REQUEST", msg);
    owner.delete(&format!("/streams/{made}"), ()).await.ok();
    let streams = owner.get("/streams", ()).await.ok()["streams"].clone();
    let subscribed =
        streams.as_array().unwrap().iter().find(|stream| stream["name"] == "subscribed").unwrap();
    assert_eq!(subscribed["folder_id"], id);
    ada.patch(&format!("/streams/{}", subscribed["stream_id"]), json!({"folder_id": null})).await.ok();
    // An archived channel is in its folder too.
    owner.patch(&path(id), &archive).await.error(400, "BAD_REQUEST", msg);
    owner.patch(&format!("/streams/{made}"), json!({"folder_id": null})).await.ok();
    owner.patch(&path(id), &archive).await.ok();
    events.ignore();
}

// conformance: folder-13
#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let (one, two) = (folder(&owner, "one").await, folder(&owner, "two").await);
    let stream = channel(&ada, "garden").await;
    server
        .check_state_sync(&[&ada, &guest], async || {
            let three = folder(&owner, "three").await;
            owner.patch("/channel_folders", json!({"order": [three, one, two]})).await.ok();
            owner.patch(&path(one), json!({"name": "uno", "description": "*first*"})).await.ok();
            owner.patch(&path(two), json!({"is_archived": true})).await.ok();
            folder(&owner, "four").await;
            ada.patch(&format!("/streams/{stream}"), json!({"folder_id": one})).await.ok();
            channel_with(&ada, json!({"name": "made", "subscribers": [ada.user_id], "folder_id": three}))
                .await;
        })
        .await;
}
