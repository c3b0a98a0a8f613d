//! Default channel groups.

use crate::channels::channel;
use crate::harness::TestServer;
use serde_json::{Value, json};

fn event(groups: &Value) -> Value {
    json!({"type": "default_stream_groups", "default_stream_groups": groups})
}

// conformance: channel-51, channel-52
#[tokio::test]
async fn group_lists_are_emitted_to_members() {
    let server = TestServer::start().await;
    let (admin, ada, guest) =
        (server.administrator("admin").await, server.member("ada").await, server.guest("guest").await);
    let (one, two) = (channel(&admin, "one").await, channel(&admin, "two").await);
    let register = json!({"event_types": ["default_stream_groups"]});
    let (mut of_ada, mut of_guest) = (ada.register(&register).await, guest.register(&register).await);
    assert_eq!(of_ada.state["realm_default_stream_groups"], json!([]));
    let parameters = json!({"group_name": "science", "description": "Labs", "stream_names": ["two", "one"]});
    server
        .check_state_sync(&[&admin, &ada, &guest], async || {
            admin.post("/default_stream_groups/create", parameters).await.ok()
        })
        .await;
    let mut science = json!({"name": "science", "id": 1, "description": "Labs", "streams": [one, two]});
    of_ada.expect(&[event(&json!([science]))]).await;
    let arts = json!({"group_name": "arts", "description": "", "stream_names": []});
    admin.post("/default_stream_groups/create", arts).await.ok();
    let mut arts = json!({"name": "arts", "id": 2, "description": "", "streams": []});
    of_ada.expect(&[event(&json!([arts, science]))]).await;

    let change = json!({"new_group_name": "research", "new_description": "More"});
    admin.patch("/default_stream_groups/1", change).await.ok();
    (science["name"], science["description"]) = (json!("research"), json!("More"));
    of_ada.expect(&[event(&json!([arts, science]))]).await;
    let path = "/default_stream_groups/2/streams";
    admin.patch(path, json!({"op": "add", "stream_names": ["two"]})).await.ok();
    arts["streams"] = json!([two]);
    of_ada.expect(&[event(&json!([arts, science]))]).await;
    let remove = json!({"op": "remove", "stream_names": ["one"]});
    admin.patch("/default_stream_groups/1/streams", remove).await.ok();
    science["streams"] = json!([two]);
    of_ada.expect(&[event(&json!([arts, science]))]).await;
    // Archived channels get no new subscribers.
    admin.delete(&format!("/streams/{two}"), ()).await.ok();
    (arts["streams"], science["streams"]) = (json!([]), json!([]));
    of_ada.expect(&[event(&json!([arts, science]))]).await;
    admin.delete("/default_stream_groups/2", ()).await.ok();
    of_ada.expect(&[event(&json!([science]))]).await;
    of_guest.expect_nothing().await;
    let fetch = json!({"fetch_event_types": ["default_stream_groups"]});
    let of_member = ada.post("/register", &fetch).await.ok();
    assert_eq!(of_member["realm_default_stream_groups"], json!([science]));
    let of_guest = guest.post("/register", &fetch).await.ok();
    assert_eq!(of_guest["realm_default_stream_groups"], json!([]));
}

// conformance: channel-53
#[tokio::test]
async fn invalid_values_are_refused() {
    let server = TestServer::start().await;
    let (admin, ada) = (server.administrator("admin").await, server.member("ada").await);
    for name in ["one", "two"] {
        channel(&admin, name).await;
    }
    let id = channel(&admin, "default").await;
    admin.post("/default_streams", json!({"stream_id": id})).await.ok();
    let new =
        |name: &str, streams: Value| json!({"group_name": name, "description": "x", "stream_names": streams});
    admin.post("/default_stream_groups/create", new("a", json!(["one"]))).await.ok();
    admin.post("/default_stream_groups/create", new("b", json!([]))).await.ok();
    let long = "x".repeat(61);
    let cases = [
        (new(" ", json!([])), "Invalid default channel group name ' '"),
        (new(&long, json!([])), "Default channel group name too long (limit: 60 characters)"),
        (new("a\0b", json!([])), "Default channel group name 'a\0b' contains NULL (0x00) characters."),
        (new("a", json!([])), "Default channel group 'a' already exists"),
        (new("c", json!(["one", "none"])), "Invalid channel name 'none'"),
        (new("c", json!(["default"])), "'default' is a default channel and cannot be added to 'c'"),
    ];
    for (parameters, msg) in cases {
        admin.post("/default_stream_groups/create", parameters).await.error(400, "BAD_REQUEST", msg);
    }
    let cases = [
        (1, json!({}), "You must pass \"new_description\" or \"new_group_name\"."),
        (1, json!({"new_group_name": "a"}), "This default channel group is already named 'a'"),
        (1, json!({"new_group_name": "b"}), "Default channel group 'b' already exists"),
        (1, json!({"new_group_name": " "}), "Invalid default channel group name ' '"),
        (9, json!({"new_group_name": "z"}), "Default channel group with id '9' does not exist."),
    ];
    for (group, parameters, msg) in cases {
        admin.patch(&format!("/default_stream_groups/{group}"), parameters).await.error(
            400,
            "BAD_REQUEST",
            msg,
        );
    }
    let streams = |op: &str, name: &str| json!({"op": op, "stream_names": ["two", name]});
    let cases = [
        ("add", "one", "Channel 'one' is already present in default channel group 'a'"),
        ("add", "default", "'default' is a default channel and cannot be added to 'a'"),
        ("remove", "one", "Channel 'two' is not present in default channel group 'a'"),
        ("put", "one", "Invalid value for \"op\". Specify one of \"add\" or \"remove\"."),
    ];
    for (op, name, msg) in cases {
        admin.patch("/default_stream_groups/1/streams", streams(op, name)).await.error(
            400,
            "BAD_REQUEST",
            msg,
        );
    }
    admin.delete("/default_stream_groups/9", ()).await.error(
        400,
        "BAD_REQUEST",
        "Default channel group with id '9' does not exist.",
    );
    let msg = "You do not have permission to change default channels.";
    let create = ada.post("/default_stream_groups/create", new("c", json!([]))).await;
    create.error(400, "BAD_REQUEST", msg);
    let rename = ada.patch("/default_stream_groups/1", json!({"new_description": "x"})).await;
    rename.error(400, "BAD_REQUEST", msg);
    ada.patch("/default_stream_groups/1/streams", streams("add", "one")).await.error(400, "BAD_REQUEST", msg);
    ada.delete("/default_stream_groups/1", ()).await.error(400, "BAD_REQUEST", msg);
    let fetch = json!({"fetch_event_types": ["default_stream_groups"]});
    let groups = ada.post("/register", fetch).await.ok()["realm_default_stream_groups"].clone();
    assert_eq!(groups.as_array().unwrap().len(), 2);
    assert_eq!(groups[0]["streams"].as_array().unwrap().len(), 1);
}
