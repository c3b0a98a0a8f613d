//! `/realm/profile_fields`: the fields themselves.

use super::{choices, field, fields};
use crate::harness::TestServer;
use serde_json::{Value, json};

const ADMINISTRATORS_ONLY: (u16, &str, &str) =
    (400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator");

// conformance: profile-1, profile-2, profile-3, profile-4
#[tokio::test]
async fn fields_of_all_types_are_created_and_emitted() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let guest = server.guest("guest").await;
    let mut events = guest.register(json!({"event_types": ["custom_profile_fields"]})).await;
    let mut ids = Vec::new();
    for (code, more) in [
        (1, json!({"name": " Phone ", "hint": "With country code", "required": true})),
        (2, json!({"name": "Biography", "editable_by_user": false})),
        (3, json!({"name": "Editor", "field_data": choices(), "display_in_profile_summary": true})),
        (4, json!({"name": "Birthday", "field_data": {"is": "ignored"}})),
        (5, json!({"name": "Website"})),
        (6, json!({"name": "Mentor"})),
        (7, json!({"name": "ignored", "hint": "ignored", "field_data": {"subtype": "github"}})),
        (8, json!({"name": "Pronouns"})),
    ] {
        let mut parameters = more;
        parameters["field_type"] = json!(code);
        ids.push(field(&owner, parameters).await);
    }
    let plain = |index: usize, name: &str, code: i64| {
        json!({"id": ids[index], "name": name, "type": code, "hint": "", "field_data": "", "order": ids[index],
            "required": false, "editable_by_user": true})
    };
    let mut expected = [
        plain(0, "Phone", 1),
        plain(1, "Biography", 2),
        plain(2, "Editor", 3),
        plain(3, "Birthday", 4),
        plain(4, "Website", 5),
        plain(5, "Mentor", 6),
        plain(6, "GitHub username", 7),
        plain(7, "Pronouns", 8),
    ];
    expected[0]["hint"] = json!("With country code");
    expected[0]["required"] = json!(true);
    expected[1]["editable_by_user"] = json!(false);
    expected[2]["display_in_profile_summary"] = json!(true);
    expected[2]["field_data"] = json!("*");
    expected[6]["field_data"] = json!("{\"subtype\":\"github\"}");
    let found = fields(&guest).await;
    let data: Value = serde_json::from_str(found[2]["field_data"].as_str().unwrap()).unwrap();
    assert_eq!(data, choices());
    let changes: Vec<Value> = (1..=expected.len())
        .map(|count| json!({"type": "custom_profile_fields", "fields": expected[..count]}))
        .collect();
    let received = events.expect(&changes).await;
    assert_eq!(received[7]["fields"], found);
}

// conformance: profile-4, profile-6, profile-7, profile-8
#[tokio::test]
async fn fields_are_refused_as_published() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    field(&owner, json!({"name": "Phone", "field_type": 1, "display_in_profile_summary": true})).await;
    let other = json!({"name": "Website", "field_type": 5, "display_in_profile_summary": true});
    let website = field(&owner, other).await;
    let cases = [
        (json!({"field_type": 1}), "Label cannot be blank."),
        (json!({"name": "x".repeat(41), "field_type": 1}), "name is too long (limit: 40 characters)"),
        (
            json!({"name": "x", "hint": "x".repeat(81), "field_type": 1}),
            "hint is too long (limit: 80 characters)",
        ),
        (json!({"name": "x", "field_type": 9}), "Invalid field type."),
        (json!({"name": "x", "field_type": "text"}), "field_type is not valid JSON"),
        (json!({"name": "x", "field_type": 3}), "Field must have at least one choice."),
        (json!({"name": "x", "field_type": 3, "field_data": "[]"}), "field_data is not a dict"),
        (json!({"name": "x", "field_type": 3, "field_data": "x"}), "field_data is not valid JSON"),
        (
            json!({"name": "x", "field_type": 7, "field_data": {"subtype": "custom"}}),
            "Custom external account must define URL pattern",
        ),
        (json!({"name": "Phone", "field_type": 2}), "A field with that label already exists."),
        (
            json!({"name": "x", "field_type": 1, "display_in_profile_summary": true}),
            "Only 2 custom profile fields can be displayed in the profile summary.",
        ),
    ];
    for (parameters, msg) in cases {
        owner.post("/realm/profile_fields", parameters).await.error(400, "BAD_REQUEST", msg);
    }
    let missing = owner.post("/realm/profile_fields", &[("name", "x")]).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'field_type' argument");
    owner.delete(&format!("/realm/profile_fields/{website}"), ()).await.ok();
    let refused = json!({"name": "x", "field_type": 2, "display_in_profile_summary": true});
    let msg = "Field type not supported for display in profile summary.";
    owner.post("/realm/profile_fields", refused).await.error(400, "BAD_REQUEST", msg);
    // A known account exists once.
    let github = json!({"field_type": 7, "field_data": {"subtype": "github"}});
    owner.post("/realm/profile_fields", &github).await.ok();
    let msg = "A field with that label already exists.";
    owner.post("/realm/profile_fields", &github).await.error(400, "BAD_REQUEST", msg);
}

// conformance: profile-3, profile-9
#[tokio::test]
async fn fields_are_changed_ordered_and_removed() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let phone = field(&owner, json!({"name": "Phone", "field_type": 1})).await;
    let editor = field(&owner, json!({"name": "Editor", "field_type": 3, "field_data": choices()})).await;
    let biography = field(&owner, json!({"name": "Biography", "field_type": 2})).await;
    let mut events = owner.register(json!({"event_types": ["custom_profile_fields"]})).await;
    let path = |id: i64| format!("/realm/profile_fields/{id}");
    let change = json!({"name": " Telephone ", "hint": "h", "required": true, "editable_by_user": false,
        "display_in_profile_summary": true});
    owner.patch(&path(phone), &change).await.ok();
    let all = fields(&owner).await;
    let expected = json!({"id": phone, "name": "Telephone", "type": 1, "hint": "h", "field_data": "", "order": phone,
        "required": true, "editable_by_user": false, "display_in_profile_summary": true});
    assert_eq!(all[0], expected);
    events.expect(&[json!({"type": "custom_profile_fields", "fields": all})]).await;
    // The same again is no change.
    owner.patch(&path(phone), &change).await.ok();
    owner.patch(&path(editor), json!({"field_data": choices()})).await.ok();
    events.expect_nothing().await;

    owner.patch("/realm/profile_fields", json!({"order": [biography, editor, phone]})).await.ok();
    let ordered = fields(&owner).await;
    let seen: Vec<_> = ordered.as_array().unwrap().iter().map(|field| field["order"].clone()).collect();
    assert_eq!(seen, [0, 1, 2]);
    assert_eq!([&ordered[0]["id"], &ordered[1]["id"], &ordered[2]["id"]], [biography, editor, phone]);
    events.expect(&[json!({"type": "custom_profile_fields", "fields": ordered})]).await;
    let short = owner.patch("/realm/profile_fields", json!({"order": [phone, editor]})).await;
    short.error(400, "BAD_REQUEST", "Invalid order mapping.");
    owner.patch("/realm/profile_fields", json!({"order": [biography, editor, phone]})).await.ok();
    events.expect_nothing().await;

    owner.delete(&path(editor), ()).await.ok();
    let left = fields(&owner).await;
    events.expect(&[json!({"type": "custom_profile_fields", "fields": left})]).await;
    assert_eq!(left.as_array().unwrap().len(), 2);
    // A new one comes last, also after another order.
    let last = field(&owner, json!({"name": "Last", "field_type": 1})).await;
    assert_eq!(fields(&owner).await[2]["id"], last);
    events.ignore();
}

// conformance: profile-5, profile-6, profile-8, profile-10
#[tokio::test]
async fn changes_are_refused_as_published() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let phone = field(&owner, json!({"name": "Phone", "field_type": 1})).await;
    let editor = field(&owner, json!({"name": "Editor", "field_type": 3, "field_data": choices()})).await;
    let github = field(&owner, json!({"field_type": 7, "field_data": {"subtype": "github"}})).await;
    let biography = field(&owner, json!({"name": "Biography", "field_type": 2})).await;
    let summary = "Field type not supported for display in profile summary.";
    let cases = [
        (phone, json!({"name": " "}), "Label cannot be blank."),
        (phone, json!({"name": "Editor"}), "A field with that label already exists."),
        (phone, json!({"hint": "x".repeat(81)}), "hint is too long (limit: 80 characters)"),
        (editor, json!({"field_data": {}}), "Field must have at least one choice."),
        (biography, json!({"display_in_profile_summary": true}), summary),
        (github, json!({"name": "Git"}), "Default custom field cannot be updated."),
        (github, json!({"hint": "Git"}), "Default custom field cannot be updated."),
        (github, json!({"field_data": {"subtype": "twitter"}}), "Default custom field cannot be updated."),
        (9999, json!({"name": "x"}), "Field id 9999 not found."),
    ];
    for (id, parameters, msg) in cases {
        let refused = owner.patch(&format!("/realm/profile_fields/{id}"), parameters).await;
        refused.error(400, "BAD_REQUEST", msg);
    }
    let gone = owner.delete("/realm/profile_fields/9999", ()).await;
    gone.error(400, "BAD_REQUEST", "Field id 9999 not found.");
    // Unchanged properties of a built-in account are accepted.
    let same = json!({"name": "GitHub username", "hint": "", "field_data": {"subtype": "github"},
        "display_in_profile_summary": true, "required": true, "editable_by_user": false});
    owner.patch(&format!("/realm/profile_fields/{github}"), same).await.ok();
    let third = format!("/realm/profile_fields/{editor}");
    let shown = json!({"display_in_profile_summary": true});
    owner.patch(&format!("/realm/profile_fields/{phone}"), &shown).await.ok();
    let msg = "Only 2 custom profile fields can be displayed in the profile summary.";
    owner.patch(&third, &shown).await.error(400, "BAD_REQUEST", msg);
    // A field that is shown already does not count again.
    owner.patch(&format!("/realm/profile_fields/{phone}"), &shown).await.ok();
}

// conformance: profile-11
#[tokio::test]
async fn only_administrators_change_fields() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let moderator = server.moderator("moderator").await;
    let phone = field(&owner, json!({"name": "Phone", "field_type": 1})).await;
    let (status, code, msg) = ADMINISTRATORS_ONLY;
    let path = format!("/realm/profile_fields/{phone}");
    let new = json!({"name": "x", "field_type": 1});
    moderator.post("/realm/profile_fields", new).await.error(status, code, msg);
    moderator.patch("/realm/profile_fields", json!({"order": [phone]})).await.error(status, code, msg);
    moderator.patch(&path, json!({"name": "x"})).await.error(status, code, msg);
    moderator.delete(&path, ()).await.error(status, code, msg);
    let administrator = server.administrator("admin").await;
    administrator.patch(&path, json!({"name": "x"})).await.ok();
    assert_eq!(fields(&moderator).await[0]["name"], "x");
}

// conformance: profile-2
#[tokio::test]
async fn the_state_names_the_types() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let state = ada.post("/register", json!({"fetch_event_types": ["custom_profile_fields"]})).await.ok();
    assert_eq!(state["custom_profile_fields"], json!([]));
    let types = json!({
        "SHORT_TEXT": {"id": 1, "name": "Text (short)"},
        "LONG_TEXT": {"id": 2, "name": "Text (long)"},
        "SELECT": {"id": 3, "name": "List of options"},
        "DATE": {"id": 4, "name": "Date"},
        "URL": {"id": 5, "name": "Link"},
        "USER": {"id": 6, "name": "Users"},
        "EXTERNAL_ACCOUNT": {"id": 7, "name": "External account"},
        "PRONOUNS": {"id": 8, "name": "Pronouns"},
    });
    assert_eq!(state["custom_profile_field_types"], types);
}
