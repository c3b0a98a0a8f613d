//! `/users/me/profile_data`: values of profile fields.

use super::{choices, field};
use crate::background_jobs::server_in_steps;
use crate::harness::{Client, TestServer, interrupt};
use serde_json::{Value, json};
use teamchat::app::Options;
use teamchat::domain::profile_values::change::{NewValue, ValueChange};
use teamchat::domain::{profile_values, rows};
use teamchat::http::ApiError;
use teamchat::types::UserId;

async fn profile(client: &Client, of: &Client) -> Value {
    let path = format!("/users/{}", of.user_id);
    client.get(&path, json!({"include_custom_profile_fields": true})).await.ok()["user"]["profile_data"]
        .clone()
}

async fn set(client: &Client, id: i64, value: Value) -> crate::harness::Answer {
    client.patch("/users/me/profile_data", json!({"data": [{"id": id, "value": value}]})).await
}

// conformance: profile-13, profile-14, profile-15
#[tokio::test]
async fn values_are_emitted_and_part_of_user_records() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let biography = field(&owner, json!({"name": "Biography", "field_type": 2})).await;
    let website = field(&owner, json!({"name": "Website", "field_type": 5})).await;
    let mut events = guest.register(json!({"event_types": ["realm_user"]})).await;
    let data = json!([
        {"id": biography, "value": "I *like* tea."},
        {"id": website, "value": "https://example.com/ada"},
    ]);
    ada.patch("/users/me/profile_data", json!({"data": data})).await.ok();
    // The same again is no change.
    ada.patch("/users/me/profile_data", json!({"data": data})).await.ok();
    let html = "<p>I <em>like</em> tea.</p>";
    let person = |field: Value| {
        let person = json!({"user_id": ada.user_id, "custom_profile_field": field});
        json!({"type": "realm_user", "op": "update", "person": person})
    };
    events
        .expect(&[
            person(json!({"id": biography, "value": "I *like* tea.", "rendered_value": html})),
            person(json!({"id": website, "value": "https://example.com/ada"})),
        ])
        .await;
    let expected = json!({
        biography.to_string(): {"value": "I *like* tea.", "rendered_value": html},
        website.to_string(): {"value": "https://example.com/ada"},
    });
    assert_eq!(profile(&guest, &ada).await, expected);
    assert_eq!(ada.get("/users/me", ()).await.ok()["profile_data"], expected);
    let with = json!({"include_custom_profile_fields": true});
    let all = guest.get("/users", &with).await.ok();
    let of = |list: &Value, client: &Client| {
        let list = list.as_array().unwrap();
        list.iter().find(|user| user["user_id"] == client.user_id).unwrap().get("profile_data").cloned()
    };
    assert_eq!(of(&all["members"], &ada), Some(expected.clone()));
    assert_eq!(of(&all["members"], &owner), Some(json!({})));
    let all = guest.get("/users", ()).await.ok();
    assert_eq!(of(&all["members"], &ada), None);
    let state = guest.post("/register", json!({"fetch_event_types": ["realm_user"]})).await.ok();
    assert_eq!(of(&state["realm_users"], &ada), Some(expected));

    ada.delete("/users/me/profile_data", json!({"data": [biography, biography]})).await.ok();
    set(&ada, website, json!("")).await.ok();
    events
        .expect(&[
            person(json!({"id": biography, "value": null})),
            person(json!({"id": website, "value": null})),
        ])
        .await;
    assert_eq!(profile(&guest, &ada).await, json!({}));
}

/// That a field is required is for clients to remind people of.
// conformance: profile-21
#[tokio::test]
async fn a_required_field_may_have_no_value() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    let phone = field(&owner, json!({"name": "Phone", "field_type": 1, "required": true})).await;
    let town = field(&owner, json!({"name": "Town", "field_type": 1})).await;
    // Another field is filled in first.
    set(&ada, town, json!("Turin")).await.ok();
    let only_town = json!({town.to_string(): {"value": "Turin", "rendered_value": "<p>Turin</p>"}});
    assert_eq!(profile(&owner, &ada).await, only_town);
    // The value goes in each of the three ways.
    let path = format!("/users/{}", ada.user_id);
    for way in ["empty", "deleted", "by an administrator"] {
        set(&ada, phone, json!("123")).await.ok();
        assert_eq!(profile(&owner, &ada).await[phone.to_string()]["value"], "123", "{way}");
        match way {
            "empty" => set(&ada, phone, json!("")).await.ok(),
            "deleted" => ada.delete("/users/me/profile_data", json!({"data": [phone]})).await.ok(),
            _ => owner.patch(&path, json!({"profile_data": [{"id": phone, "value": ""}]})).await.ok(),
        };
        assert_eq!(profile(&owner, &ada).await, only_town, "{way}");
    }
    // New users and users who fill in their profile later may leave it empty.
    let new = json!({"email": "bob@example.com", "password": "long enough, surely", "full_name": "Bob"});
    owner.post("/users", new).await.ok();
    owner.patch(&format!("/realm/profile_fields/{town}"), json!({"required": true})).await.ok();
    assert_eq!(profile(&owner, &ada).await, only_town);
}

// conformance: profile-16, profile-17, profile-19
#[tokio::test]
async fn each_type_has_its_values() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let bot = server.bot("robot", &ada).await;
    let gone = server.member("gone").await;
    server.sql(&format!("UPDATE user SET is_active = 0 WHERE user_id = {}", gone.user_id)).await;
    let notifications = server.notification_bot().await;
    let short = field(&owner, json!({"name": "Phone", "field_type": 1})).await;
    let long = field(&owner, json!({"name": "Biography", "field_type": 2})).await;
    let select = field(&owner, json!({"name": "Editor", "field_type": 3, "field_data": choices()})).await;
    let date = field(&owner, json!({"name": "Birthday", "field_type": 4})).await;
    let url = field(&owner, json!({"name": "Website", "field_type": 5})).await;
    let people = field(&owner, json!({"name": "Mentor", "field_type": 6})).await;
    let account = field(&owner, json!({"field_type": 7, "field_data": {"subtype": "github"}})).await;
    let pronouns = field(&owner, json!({"name": "Pronouns", "field_type": 8})).await;
    let (fifty, five_hundred) = ("é".repeat(50), "é".repeat(500));
    let list = format!("[{}]", bob.user_id);
    for (id, value, stored) in [
        (short, json!(fifty), fifty.as_str()),
        (long, json!(five_hundred), &five_hundred),
        (select, json!("emacs"), "emacs"),
        (date, json!("1909-04-05"), "1909-04-05"),
        (url, json!("http://localhost:8000/x"), "http://localhost:8000/x"),
        (people, json!([bob.user_id]), &list),
        (account, json!("ada"), "ada"),
        (pronouns, json!("she/her"), "she/her"),
    ] {
        set(&ada, id, value).await.ok();
        assert_eq!(profile(&bob, &ada).await[id.to_string()]["value"], stored, "{id}");
    }
    // People are a list, or a list as text.
    set(&ada, people, json!("[]")).await.ok();
    assert_eq!(profile(&bob, &ada).await.get(people.to_string()), None);
    set(&ada, people, json!(format!("[ {} ]", bob.user_id))).await.ok();
    assert_eq!(profile(&bob, &ada).await[people.to_string()]["value"], list);
    let has_html: Vec<String> = profile(&bob, &ada)
        .await
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_id, value)| value.get("rendered_value").is_some())
        .map(|(id, _value)| id.clone())
        .collect();
    assert_eq!(has_html, [short.to_string(), long.to_string()]);

    let cases = [
        (short, json!("x".repeat(51)), "Phone is too long (limit: 50 characters)".to_owned()),
        (long, json!("x".repeat(501)), "Biography is too long (limit: 500 characters)".into()),
        (select, json!("ed"), "'ed' is not a valid choice for 'Editor'.".into()),
        (date, json!("1909-4-5"), "Birthday is not a date".into()),
        (url, json!("not a URL"), "Website is not a URL".into()),
        (people, json!("bob"), "User IDs is not a list".into()),
        (people, json!([bob.user_id, 998, 999]), "Invalid user IDs: 998, 999".into()),
        (people, json!([notifications]), format!("Invalid user IDs: {notifications}")),
        (people, json!([gone.user_id]), format!("User with ID {} is deactivated", gone.user_id)),
        (people, json!([bot.user_id]), format!("User with ID {} is a bot", bot.user_id)),
        (account, json!("x".repeat(51)), "GitHub username is too long (limit: 50 characters)".into()),
        (pronouns, json!("x".repeat(51)), "Pronouns is too long (limit: 50 characters)".into()),
        (short, json!([1]), "Phone is not a string".into()),
        (short, json!(7), "data[0][\"value\"] is not a string".into()),
        (short, json!(["x"]), "data[0][\"value\"] is not a list of integers".into()),
        (9999, json!("x"), "Field id 9999 not found.".into()),
    ];
    let before = profile(&bob, &ada).await;
    for (id, value, msg) in cases {
        set(&ada, id, value).await.error(400, "BAD_REQUEST", &msg);
    }
    // One bad value spoils all.
    let mixed = json!([{"id": short, "value": "new"}, {"id": date, "value": "soon"}]);
    let refused = ada.patch("/users/me/profile_data", json!({"data": mixed})).await;
    refused.error(400, "BAD_REQUEST", "Birthday is not a date");
    assert_eq!(profile(&bob, &ada).await, before);
    let refused = ada.delete("/users/me/profile_data", json!({"data": [9999]})).await;
    refused.error(400, "BAD_REQUEST", "Field id 9999 not found.");
    for method in ["PATCH", "DELETE"] {
        let missing = ada.request(method.parse().unwrap(), "/users/me/profile_data").send().await;
        missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'data' argument");
    }
    let refused = set(&bot, short, json!("x")).await;
    refused.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");
    let refused = bot.delete("/users/me/profile_data", json!({"data": [short]})).await;
    refused.error(400, "BAD_REQUEST", "This endpoint does not accept bot requests.");
}

/// Otherwise the errors would reveal whether a user is active, and a person.
#[tokio::test]
async fn guests_name_only_people_whom_they_can_access() {
    let server = TestServer::start().await;
    let (owner, guest) = (server.owner().await, server.guest("guest").await);
    let (ada, bob, gone) =
        (server.member("ada").await, server.member("bob").await, server.member("gone").await);
    server.sql(&format!("UPDATE user SET is_active = 0 WHERE user_id = {}", gone.user_id)).await;
    server.channel("garden", &[&ada, &guest]).await;
    let people = field(&owner, json!({"name": "Mentor", "field_type": 6})).await;
    set(&guest, people, json!([bob.user_id])).await.ok();
    server.restrict_guests().await;
    set(&guest, people, json!([ada.user_id, guest.user_id])).await.ok();
    for hidden in [bob.user_id, gone.user_id, 999] {
        let msg = format!("Invalid user IDs: {hidden}");
        set(&guest, people, json!([ada.user_id, hidden])).await.error(400, "BAD_REQUEST", &msg);
    }
    set(&bob, people, json!([ada.user_id])).await.ok();
}

// conformance: profile-18
#[tokio::test]
async fn some_fields_are_filled_in_by_administrators() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    let id = field(&owner, json!({"name": "Desk", "field_type": 1, "editable_by_user": false})).await;
    let msg = "You are not allowed to change this field. Contact an administrator to update it.";
    set(&ada, id, json!("12")).await.error(400, "BAD_REQUEST", msg);
    let remove = json!({"data": [id]});
    ada.delete("/users/me/profile_data", &remove).await.error(400, "BAD_REQUEST", msg);
    set(&owner, id, json!("1")).await.ok();
    assert_eq!(profile(&ada, &owner).await[id.to_string()]["value"], "1");
    // An administrator fills in others' too.
    let (by, whose) = (UserId(owner.user_id), UserId(ada.user_id));
    let change = ValueChange { id, value: NewValue::Text("12".to_owned()) };
    let job = move |tx: &mut teamchat::store::Tx<'_>| -> Result<(), ApiError> {
        let caller = rows::user::caller(tx, by)?;
        let changes = profile_values::change::render_all(tx.ctx(&caller), vec![change])?;
        profile_values::change::set(tx, &caller, whose, changes)
    };
    server.check_state_sync(&[&ada], async || server.app().writer.run(job).await.unwrap()).await;
    assert_eq!(profile(&ada, &ada).await[id.to_string()]["value"], "12");
}

// conformance: profile-12
#[tokio::test]
async fn a_deleted_choice_is_removed_from_all_profiles() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let id = field(&owner, json!({"name": "Editor", "field_type": 3, "field_data": choices()})).await;
    set(&ada, id, json!("vim")).await.ok();
    set(&bob, id, json!("emacs")).await.ok();
    let mut events = ada.register(json!({"event_types": ["realm_user", "custom_profile_fields"]})).await;
    let data = json!({"emacs": {"text": "GNU Emacs", "order": "1"}});
    owner.patch(&format!("/realm/profile_fields/{id}"), json!({"field_data": data})).await.ok();
    let person = json!({"user_id": ada.user_id, "custom_profile_field": {"id": id, "value": null}});
    events
        .expect(&[
            json!({"type": "realm_user", "op": "update", "person": person}),
            json!({"type": "custom_profile_fields", "fields": "*"}),
        ])
        .await;
    assert_eq!(profile(&ada, &ada).await, json!({}));
    assert_eq!(profile(&ada, &bob).await[id.to_string()]["value"], "emacs");
}

/// Values of many people are deleted in several jobs, so that other changes do not wait for all of them.
#[tokio::test]
async fn a_deleted_choice_of_many_is_removed_in_several_jobs() {
    let server = server_in_steps(Options::default()).await;
    let (owner, guest) = (server.owner().await, server.guest("guest").await);
    server.crowd(120).await;
    server.restrict_guests().await;
    let id = field(&owner, json!({"name": "Editor", "field_type": 3, "field_data": choices()})).await;
    let all_choose_vim = format!(
        "INSERT INTO profile_value (user_id, field_id, value)
         SELECT user_id, {id}, 'vim' FROM user WHERE NOT is_system_bot"
    );
    let choose = async |data: Value| {
        owner.patch(&format!("/realm/profile_fields/{id}"), json!({"field_data": data})).await.ok();
    };
    let without_vim = json!({"emacs": {"text": "GNU Emacs", "order": "1"}});
    server.sql(&all_choose_vim).await;
    // If no option is removed, the values are not read.
    owner.patch(&format!("/realm/profile_fields/{id}"), json!({"name": "Tool"})).await.ok();
    assert!(!server.app().writer.background().figures().contains_key("removed_options"));
    server
        .check_state_sync(&[&owner, &guest], async || {
            choose(without_vim.clone()).await;
            while server.count("follow_up").await != "0" {}
            server.sql("").await;
        })
        .await;
    assert_eq!(server.count("profile_value").await, "0");
    assert_eq!(server.app().writer.background().figures()["removed_options"].most_steps, 1);
    // An option that is back keeps the values that are left. The first job looked at fifty.
    choose(choices()).await;
    server.sql(&all_choose_vim).await;
    Box::pin(interrupt(&server, choose(without_vim), choose(choices()))).await;
    assert_eq!(server.count("profile_value").await, "72");
}

// conformance: profile-20
#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let kept = field(&owner, json!({"name": "Phone", "field_type": 1})).await;
    let other = field(&owner, json!({"name": "Editor", "field_type": 3, "field_data": choices()})).await;
    set(&ada, other, json!("vim")).await.ok();
    set(&owner, kept, json!("1")).await.ok();
    server
        .check_state_sync(&[&owner, &guest], async || {
            set(&ada, kept, json!("**2**")).await.ok();
            set(&guest, other, json!("emacs")).await.ok();
            set(&owner, kept, json!(null)).await.ok();
            owner.patch("/realm/profile_fields", json!({"order": [other, kept]})).await.ok();
            field(&owner, json!({"name": "Last", "field_type": 8, "required": true})).await;
            owner.delete(&format!("/realm/profile_fields/{other}"), ()).await.ok();
        })
        .await;
    assert_eq!(server.column("SELECT count(*) FROM profile_value").await, ["1"]);
}
