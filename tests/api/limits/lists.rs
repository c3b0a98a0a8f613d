//! Limits on the number of items in one request.

use super::too_many;
use crate::harness::{Client, TestServer};
use reqwest::Method;
use serde_json::{Value, json};
use teamchat::domain::limits;

/// An id that is repeated is one.
#[tokio::test]
async fn an_invitation_has_a_limited_number_of_channels_and_groups() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let channel = server.channel("channel", &[&owner]).await;
    let made =
        owner.post("/user_groups/create", json!({"name": "a", "description": "", "members": []})).await.ok();
    let forms = |stream_ids: Value, group_ids: Value| {
        let link = json!({"stream_ids": stream_ids, "group_ids": group_ids});
        let mut by_email = link.clone();
        by_email["invitee_emails"] = "eve@example.com".into();
        [("/invites/multiuse", link), ("/invites", by_email)]
    };
    let numbers = |count: usize| json!((1..=count).collect::<Vec<_>>());
    let (channels, groups) = (limits::MAX_CHANNELS_PER_REQUEST, limits::MAX_GROUPS_OF_INVITE);
    for (path, form) in forms(numbers(channels + 1), json!([])) {
        too_many(&owner.post(path, form).await, "channels in one request", channels);
    }
    for (path, form) in forms(json!([]), numbers(groups + 1)) {
        too_many(&owner.post(path, form).await, "groups in one request", groups);
    }
    let repeated = |id: &Value| json!(vec![id; 90_000]);
    for (path, form) in forms(repeated(&channel.into()), repeated(&made["group_id"])) {
        owner.post(path, form).await.ok();
    }
    let stored = server.column("SELECT stream_ids || group_ids FROM invite WHERE NOT is_revoked").await;
    let expected = format!("[{channel}][{}]", made["group_id"]);
    assert_eq!(stored, [expected.as_str(), &expected]);
}

/// A repeated change is one more.
#[tokio::test]
async fn a_request_changes_a_limited_number_of_properties() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let channel = server.channel("channel", &[&ada]).await;
    let change = json!({"stream_id": channel, "property": "pin_to_top", "value": true});
    let path = "/users/me/subscriptions/properties";
    let changes = |count: usize| json!({"subscription_data": vec![&change; count]});
    let limit = limits::MAX_PROPERTIES_PER_REQUEST;
    too_many(&ada.post(path, changes(limit + 1)).await, "changes in one request", limit);
    ada.post(path, changes(limit)).await.ok();
}

#[tokio::test]
async fn a_request_sets_a_limited_number_of_profile_fields() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let field = async |name: &str, kind: i64| -> i64 {
        let made = owner.post("/realm/profile_fields", json!({"name": name, "field_type": kind})).await.ok();
        made["id"].as_i64().unwrap()
    };
    let (motto, friends) = (field("Motto", 1).await, field("Friends", 6).await);
    let limit = limits::MAX_PROFILE_VALUES_PER_REQUEST;
    let what = "profile fields in one request";
    let values = |count: usize| -> Vec<Value> {
        (0..count).map(|number| json!({"id": motto, "value": number.to_string()})).collect()
    };
    let own = "/users/me/profile_data";
    too_many(&ada.patch(own, json!({"data": values(limit + 1)})).await, what, limit);
    too_many(&ada.delete(own, json!({"data": vec![motto; limit + 1]})).await, what, limit);
    let of_ada = format!("/users/{}", ada.user_id);
    too_many(&owner.patch(&of_ada, json!({"profile_data": values(limit + 1)})).await, what, limit);

    let limit = limits::MAX_PROFILE_FIELD_USERS;
    let people = |count: usize| json!({"data": [{"id": friends, "value": vec![ada.user_id; count]}]});
    too_many(&ada.patch(own, people(limit + 1)).await, "users in a profile field", limit);
    let text = json!(vec![ada.user_id; limit + 1]).to_string();
    let as_text = json!({"data": [{"id": friends, "value": text}]});
    too_many(&ada.patch(own, as_text).await, "users in a profile field", limit);
    ada.patch(own, people(limit)).await.ok();

    let mut events = ada.register(json!({"event_types": ["realm_user"]})).await;
    ada.patch(own, json!({"data": values(100)})).await.ok();
    // If a field occurs several times, the last value is used.
    let last = json!({"id": motto, "value": "99", "rendered_value": "<p>99</p>"});
    let event = |field: Value| {
        let person = json!({"user_id": ada.user_id, "custom_profile_field": field});
        json!({"type": "realm_user", "op": "update", "person": person})
    };
    events.expect(&[event(last)]).await;
    ada.delete(own, json!({"data": vec![motto; 100]})).await.ok();
    events.expect(&[event(json!({"id": motto, "value": null}))]).await;
}

/// Refused before anything is looked up: none of these groups, words, channels and users exists.
#[tokio::test]
async fn names_in_one_request_are_limited() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let group = json!({"name": "a", "description": "", "members": []});
    let group = owner.post("/user_groups/create", group).await.ok()["group_id"].clone();
    let numbers = |count: usize| json!((1000..1000 + count).collect::<Vec<_>>());
    let words = |count: usize| json!((0..count).map(|number| format!("w{number}")).collect::<Vec<_>>());
    let refused = async |method: Method, path: &str, form: Value, what: &str, limit: usize| {
        too_many(&request(&owner, method, path, form).await, what, limit);
    };

    let (what, limit) = ("subgroups in one request", limits::MAX_SUBGROUPS_PER_REQUEST);
    let many = numbers(limit + 1);
    let create = json!({"name": "b", "description": "", "members": [], "subgroups": many});
    refused(Method::POST, "/user_groups/create", create, what, limit).await;
    let members = format!("/user_groups/{group}/members");
    refused(Method::POST, &members, json!({"add_subgroups": many}), what, limit).await;
    refused(Method::POST, &members, json!({"delete_subgroups": many}), what, limit).await;
    let subgroups = format!("/user_groups/{group}/subgroups");
    refused(Method::POST, &subgroups, json!({"add": many}), what, limit).await;
    refused(Method::POST, &subgroups, json!({"delete": many}), what, limit).await;
    let unknown = owner.post(&subgroups, json!({"add": numbers(limit)})).await;
    unknown.error(400, "BAD_REQUEST", "Invalid user group ID: 1000");

    let (what, limit) = ("keys in one request", limits::MAX_BOT_STORAGE_KEYS_PER_REQUEST);
    let storage = |count: usize| -> Value {
        let pairs = (0..count).map(|number| (format!("w{number}"), json!("")));
        json!({"storage": Value::Object(pairs.collect())})
    };
    refused(Method::PUT, "/bot_storage", storage(limit + 1), what, limit).await;
    request(&owner, Method::PUT, "/bot_storage", storage(limit)).await.ok();
    refused(Method::GET, "/bot_storage", json!({"keys": words(limit + 1)}), what, limit).await;
    refused(Method::DELETE, "/bot_storage", json!({"keys": words(limit + 1)}), what, limit).await;
    owner.delete("/bot_storage", json!({"keys": words(limit)})).await.ok();

    let (what, limit) = ("alert words", limits::MAX_ALERT_WORDS);
    let path = "/users/me/alert_words";
    refused(Method::DELETE, path, json!({"alert_words": words(limit + 1)}), what, limit).await;

    let (what, limit) = ("channels in one request", limits::MAX_CHANNELS_PER_REQUEST);
    let form = json!({"group_name": "a", "description": "", "stream_names": words(limit + 1)});
    refused(Method::POST, "/default_stream_groups/create", form, what, limit).await;
    let form = json!({"group_name": "a", "description": "", "stream_names": []});
    owner.post("/default_stream_groups/create", form).await.ok();
    let form = json!({"op": "add", "stream_names": words(limit + 1)});
    refused(Method::PATCH, "/default_stream_groups/1/streams", form, what, limit).await;

    let (what, limit) = ("subscriptions in one request", limits::MAX_SUBSCRIPTIONS_PER_REQUEST);
    let form = json!({"name": "c", "subscribers": numbers(limit + 1)});
    refused(Method::POST, "/channels/create", form, what, limit).await;
}

async fn request(client: &Client, method: Method, path: &str, form: Value) -> crate::harness::Answer {
    client.request(method, path).form(form).send().await
}

#[tokio::test]
async fn empty_files_are_limited_by_their_number() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let helper = server.bot("helper", &ada).await;
    let upload = async |client: &Client| {
        let request = client.request(Method::POST, "/user_uploads");
        request.multipart((), &[("file", "empty.txt", b"")]).send().await
    };
    let limit = limits::MAX_FILES;
    let fill = |user_id: i64, from: usize| {
        format!(
            "INSERT INTO upload_content (content_id)
                 WITH RECURSIVE one (number) AS (SELECT {from} + 1 UNION ALL SELECT number + 1 FROM one WHERE number < {from} + {limit} - 1)
                 SELECT number FROM one;
             INSERT INTO attachment (user_id, path_id, name, content_type, size, create_time, content_id)
                 SELECT {user_id}, content_id, 'x', 'text/plain', 0, 0, content_id FROM upload_content WHERE content_id > {from};"
        )
    };
    server.sql(&fill(ada.user_id, 0)).await;
    upload(&helper).await.ok();
    for client in [&ada, &helper] {
        too_many(&upload(client).await, "uploaded files", limit);
    }
    upload(&owner).await.ok();
}
