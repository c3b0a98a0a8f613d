//! Every operation that changes the organization, or what belongs to other users, leaves an entry in the audit log.

use crate::harness::{Answer, Client, TestServer, pictures};
use crate::uploads::upload;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use teamchat::api::RESOURCES;
use teamchat::scheduler;
use teamchat::types::Role;

/// Operations without an entry: they change messages, what only their caller sees, or nothing that is kept.
const UNRECORDED: &str = "
    PUT /bot_storage  DELETE /bot_storage  POST /calls/zoom/create  DELETE /events  POST /register
    POST /accounts/find/  POST /accounts/home/  POST /register/  POST /accounts/unsubscribe/{kind}/{key}
    POST /accounts/password/reset/
    POST /drafts  PATCH /drafts/{draft_id}  DELETE /drafts/{draft_id}
    POST /external/{integration}  POST /messages  PATCH /messages/{message_id}  POST /submessage
    POST /mark_all_as_read  POST /mark_stream_as_read  POST /mark_topic_as_read
    POST /messages/flags  POST /messages/flags/narrow  POST /messages/render  POST /messages/{message_id}/report
    POST /messages/{message_id}/reactions  DELETE /messages/{message_id}/reactions
    POST /messages/{message_id}/typing  POST /typing  POST /zcommand
    POST /mobile_push/e2ee/test_notification  POST /mobile_push/register  POST /mobile_push/test_notification
    POST /navigation_views  PATCH /navigation_views/{fragment...}  DELETE /navigation_views/{fragment...}
    POST /realm/test_welcome_bot_custom_message
    POST /reminders  DELETE /reminders/{reminder_id}
    POST /saved_snippets  PATCH /saved_snippets/{saved_snippet_id}  DELETE /saved_snippets/{saved_snippet_id}
    POST /scheduled_messages  PATCH /scheduled_messages/{scheduled_message_id}
    DELETE /scheduled_messages/{scheduled_message_id}
    PATCH /settings/display  PATCH /settings/notifications
    POST /user_topics  POST /user_uploads
    POST /users/me/alert_words  DELETE /users/me/alert_words
    POST /users/me/android_gcm_reg_id  DELETE /users/me/android_gcm_reg_id
    POST /users/me/apns_device_token  DELETE /users/me/apns_device_token
    POST /users/me/avatar  DELETE /users/me/avatar
    POST /users/me/muted_users/{muted_user_id}  DELETE /users/me/muted_users/{muted_user_id}
    POST /users/me/onboarding_steps  POST /users/me/presence  POST /users/me/status
    PATCH /users/me/profile_data  DELETE /users/me/profile_data
    PATCH /users/me/subscriptions  PATCH /users/me/subscriptions/muted_topics
    PATCH /users/me/subscriptions/{stream_id}  POST /users/me/subscriptions/properties
    POST /users/me/web_push  DELETE /users/me/web_push
";

/// Operations of pages and of developers, whose entries other tests look at.
const ELSEWHERE: &str = "
    POST /dev_fetch_api_key  POST /accounts/login/  POST /accounts/logout/  POST /join/{key}/  POST /join/password/{key}/
    POST /accounts/confirm_new_email/{key}  DELETE /users/me/sessions/{session_id}
";

fn listed(operations: &str) -> BTreeSet<String> {
    let words: Vec<&str> = operations.split_whitespace().collect();
    words.chunks(2).map(|operation| operation.join(" ")).collect()
}

/// The operations that may change something.
fn operations() -> BTreeSet<String> {
    let routes = RESOURCES.iter().flat_map(|resource| (resource.routes)());
    let routes = routes.filter(|route| route.method != Method::GET);
    routes.map(|route| format!("{} {}", route.method, route.path)).collect()
}

/// Operations that were tried, and the newest entry that was looked at.
struct Walk {
    owner: Client,
    tried: BTreeSet<String>,
    newest: i64,
}

impl Walk {
    /// Checks that an operation has succeeded, and that it left an entry of a user. Returns the answer.
    async fn expect(&mut self, operation: &str, answer: Answer, action: &str) -> Value {
        let answer = answer.ok();
        let log = self.owner.get("/audit_log", ()).await.ok();
        let entries = log["entries"].as_array().unwrap();
        let newer = entries.iter().filter(|entry| entry["id"].as_i64().unwrap() > self.newest);
        let actions: Vec<&str> = newer
            .filter(|entry| entry["actor"] != "server" && entry["address"] == "127.0.0.1")
            .map(|entry| entry["action"].as_str().unwrap())
            .collect();
        assert!(actions.contains(&action), "{operation}: {actions:?}");
        self.newest = entries[0]["id"].as_i64().unwrap();
        self.tried.insert(operation.to_owned());
        answer
    }
}

#[tokio::test]
async fn operations_are_recorded() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.administrator("ada").await);
    let (bob, eve) =
        (server.user("bob", Role::Member, None, Some("correct horse")).await, server.member("eve").await);
    let mut walk = Walk { owner: owner.clone(), tried: BTreeSet::new(), newest: 0 };
    Box::pin(accounts(&mut walk, &owner, &bob, &eve)).await;
    Box::pin(channels(&mut walk, &owner, &bob)).await;
    Box::pin(organization(&mut walk, &ada)).await;
    Box::pin(groups_and_invitations(&mut walk, &ada, &eve)).await;
    Box::pin(exports(&mut walk, &server)).await;
    // The last one: the log cannot be read after it.
    owner.post("/realm/deactivate", ()).await.ok();
    let newest = "SELECT action FROM audit_entry ORDER BY id DESC LIMIT 1";
    assert_eq!(server.column(newest).await, ["organization_deactivated"]);
    walk.tried.insert("POST /realm/deactivate".to_owned());

    let known: BTreeSet<String> =
        [&walk.tried, &listed(UNRECORDED), &listed(ELSEWHERE)].into_iter().flatten().cloned().collect();
    let operations = operations();
    let missing: Vec<_> = operations.difference(&known).collect();
    assert!(missing.is_empty(), "neither recorded nor listed as not recorded: {missing:#?}");
    let gone: Vec<_> = known.difference(&operations).collect();
    assert!(gone.is_empty(), "there is no such operation: {gone:#?}");
}

async fn accounts(walk: &mut Walk, owner: &Client, bob: &Client, eve: &Client) {
    let new = json!({"email": "new@example.com", "password": "battery staple", "full_name": "New"});
    walk.expect("POST /users", owner.post("/users", new).await, "account_created").await;
    let of_bob = format!("/users/{}", bob.user_id);
    let renamed = owner.patch(&of_bob, json!({"full_name": "Robert"})).await;
    walk.expect("PATCH /users/{user_id_or_email}", renamed, "name_changed").await;
    let status = owner.post(&format!("{of_bob}/status"), json!({"status_text": "away"})).await;
    walk.expect("POST /users/{user_id}/status", status, "profile_changed").await;
    let reset = owner.post(&format!("{of_bob}/password_reset"), ()).await;
    walk.expect("POST /users/{user_id}/password_reset", reset, "password_link_created").await;
    let login = json!({"username": bob.email, "password": "correct horse"});
    walk.expect("POST /fetch_api_key", bob.post("/fetch_api_key", login).await, "login").await;
    let keys = bob.get("/users/me/api_keys", ()).await.ok();
    let is_other = |key: &&Value| key["id"] != keys["current_api_key_id"];
    let other = keys["api_keys"].as_array().unwrap().iter().find(is_other).unwrap();
    let revoked = bob.delete(&format!("/users/me/api_keys/{}", other["id"]), ()).await;
    walk.expect("DELETE /users/me/api_keys/{api_key_id}", revoked, "key_revoked").await;
    bob.post("/fetch_api_key", json!({"username": bob.email, "password": "correct horse"})).await.ok();
    let revoked = bob.post("/users/me/api_keys/revoke_others", ()).await;
    walk.expect("POST /users/me/api_keys/revoke_others", revoked, "key_revoked").await;
    let renamed = bob.patch("/settings", json!({"full_name": "Bob again"})).await;
    walk.expect("PATCH /settings", renamed, "name_changed").await;
    let bot = json!({"full_name": "Helper", "short_name": "helper", "bot_type": 1});
    let bot =
        walk.expect("POST /bots", bob.post("/bots", bot).await, "account_created").await["user_id"].clone();
    let renamed = bob.patch(&format!("/bots/{bot}"), json!({"full_name": "Helper 2"})).await;
    walk.expect("PATCH /bots/{bot_id}", renamed, "name_changed").await;
    let key = bob.post(&format!("/bots/{bot}/api_key/regenerate"), ()).await;
    walk.expect("POST /bots/{bot_id}/api_key/regenerate", key, "key_created").await;
    let gone = bob.delete(&format!("/bots/{bot}"), ()).await;
    walk.expect("DELETE /bots/{bot_id}", gone, "account_deactivated").await;
    let gone = owner.delete(&format!("/users/{}", eve.user_id), ()).await;
    walk.expect("DELETE /users/{user_id}", gone, "account_deactivated").await;
    let back = owner.post(&format!("/users/{}/reactivate", eve.user_id), ()).await;
    walk.expect("POST /users/{user_id}/reactivate", back, "account_reactivated").await;
    let key = bob.post("/users/me/api_key/regenerate", ()).await;
    let key = walk.expect("POST /users/me/api_key/regenerate", key, "key_created").await["api_key"].clone();
    let bob = bob.with_key(key.as_str().unwrap());
    let link = upload(&bob, "plan.txt", b"plan").await;
    assert!(link.contains("plan.txt"));
    let files = bob.get("/attachments", ()).await.ok();
    let removed = owner.delete(&format!("/attachments/{}", files["attachments"][0]["id"]), ()).await;
    walk.expect("DELETE /attachments/{attachment_id}", removed, "file_deleted").await;
    walk.expect("DELETE /users/me", bob.delete("/users/me", ()).await, "account_deactivated").await;
    owner.post(&format!("/users/{}/reactivate", bob.user_id), ()).await.ok();
}

async fn channels(walk: &mut Walk, owner: &Client, bob: &Client) {
    let created =
        owner.post("/channels/create", json!({"name": "plans", "subscribers": [owner.user_id]})).await;
    let id = walk.expect("POST /channels/create", created, "channel_created").await["id"].clone();
    let others = json!({"subscriptions": [{"name": "plans"}], "principals": [bob.user_id]});
    let subscribed = owner.post("/users/me/subscriptions", others).await;
    walk.expect("POST /users/me/subscriptions", subscribed, "subscribers_changed").await;
    let others = json!({"subscriptions": ["plans"], "principals": [bob.user_id]});
    let removed = owner.delete("/users/me/subscriptions", others).await;
    walk.expect("DELETE /users/me/subscriptions", removed, "subscribers_changed").await;
    let changed =
        owner.patch(&format!("/streams/{id}"), json!({"topics_policy": "disable_empty_topic"})).await;
    walk.expect("PATCH /streams/{stream_id}", changed, "channel_changed").await;
    for (method, name) in
        [(Method::POST, "POST /default_streams"), (Method::DELETE, "DELETE /default_streams")]
    {
        let changed = owner.request(method, "/default_streams").form(json!({"stream_id": id})).send().await;
        walk.expect(name, changed, "channel_changed").await;
    }
    let group = json!({"group_name": "team", "description": "", "stream_names": ["plans"]});
    let created = owner.post("/default_stream_groups/create", group).await;
    walk.expect("POST /default_stream_groups/create", created, "item_created").await;
    let group = owner.post("/register", json!({"fetch_event_types": ["default_stream_groups"]})).await.ok();
    let group = format!("/default_stream_groups/{}", group["realm_default_stream_groups"][0]["id"]);
    let changed = owner.patch(&group, json!({"new_description": "ours"})).await;
    walk.expect("PATCH /default_stream_groups/{group_id}", changed, "item_changed").await;
    let changed =
        owner.patch(&format!("{group}/streams"), json!({"op": "remove", "stream_names": ["plans"]})).await;
    walk.expect("PATCH /default_stream_groups/{group_id}/streams", changed, "item_changed").await;
    walk.expect("DELETE /default_stream_groups/{group_id}", owner.delete(&group, ()).await, "item_deleted")
        .await;
    let message = json!({"type": "channel", "to": "plans", "topic": "t", "content": "hello"});
    owner.post("/messages", message).await.ok();
    let deleted = owner.post(&format!("/streams/{id}/delete_topic"), json!({"topic_name": "t"})).await;
    walk.expect("POST /streams/{stream_id}/delete_topic", deleted, "topic_deleted").await;
    walk.expect(
        "DELETE /streams/{stream_id}",
        owner.delete(&format!("/streams/{id}"), ()).await,
        "channel_archived",
    )
    .await;
    let folder = owner.post("/channel_folders/create", json!({"name": "first", "description": ""})).await;
    let first =
        walk.expect("POST /channel_folders/create", folder, "item_created").await["channel_folder_id"]
            .clone();
    let second = owner
        .post("/channel_folders/create", json!({"name": "second", "description": ""}))
        .await
        .ok()["channel_folder_id"]
        .clone();
    let changed = owner.patch(&format!("/channel_folders/{first}"), json!({"name": "1st"})).await;
    walk.expect("PATCH /channel_folders/{channel_folder_id}", changed, "item_changed").await;
    let ordered = owner.patch("/channel_folders", json!({"order": [second, first]})).await;
    walk.expect("PATCH /channel_folders", ordered, "item_changed").await;
}

async fn organization(walk: &mut Walk, ada: &Client) {
    let owner = walk.owner.clone();
    let named = ada.patch("/realm", json!({"name": "Crew"})).await;
    walk.expect("PATCH /realm", named, "setting_changed").await;
    let changed = ada.patch("/realm/user_settings_defaults", json!({"twenty_four_hour_time": true})).await;
    walk.expect("PATCH /realm/user_settings_defaults", changed, "default_changed").await;
    let domain =
        owner.post("/realm/domains", json!({"domain": "example.org", "allow_subdomains": false})).await;
    walk.expect("POST /realm/domains", domain, "item_created").await;
    let changed = owner.patch("/realm/domains/example.org", json!({"allow_subdomains": true})).await;
    walk.expect("PATCH /realm/domains/{domain}", changed, "item_changed").await;
    walk.expect(
        "DELETE /realm/domains/{domain}",
        owner.delete("/realm/domains/example.org", ()).await,
        "item_deleted",
    )
    .await;
    let image = pictures::png(32, 32);
    let file = [("file", "image.png", &image[..])];
    let emoji = ada.request(Method::POST, "/realm/emoji/sail").multipart((), &file).send().await;
    walk.expect("POST /realm/emoji/{emoji_name...}", emoji, "item_created").await;
    walk.expect(
        "DELETE /realm/emoji/{emoji_name...}",
        ada.delete("/realm/emoji/sail", ()).await,
        "item_deleted",
    )
    .await;
    let icon = ada.request(Method::POST, "/realm/icon").multipart((), &file).send().await;
    walk.expect("POST /realm/icon", icon, "setting_changed").await;
    walk.expect("DELETE /realm/icon", ada.delete("/realm/icon", ()).await, "setting_changed").await;
    let logo =
        ada.request(Method::POST, "/realm/logo").multipart(json!({"night": false}), &file).send().await;
    walk.expect("POST /realm/logo", logo, "setting_changed").await;
    walk.expect(
        "DELETE /realm/logo",
        ada.delete("/realm/logo", json!({"night": false})).await,
        "setting_changed",
    )
    .await;
    let filter = json!({"pattern": "#(?P<id>[0-9]+)", "url_template": "https://example.com/{id}"});
    let filter = ada.post("/realm/filters", filter).await;
    let id = walk.expect("POST /realm/filters", filter, "item_created").await["id"].clone();
    let filter = json!({"pattern": "#(?P<id>[0-9]+)", "url_template": "https://example.org/{id}"});
    let changed = ada.patch(&format!("/realm/filters/{id}"), filter).await;
    walk.expect("PATCH /realm/filters/{filter_id}", changed, "item_changed").await;
    let ordered = ada.patch("/realm/linkifiers", json!({"ordered_linkifier_ids": [id]})).await;
    walk.expect("PATCH /realm/linkifiers", ordered, "item_changed").await;
    let removed = ada.delete(&format!("/realm/filters/{id}"), ()).await;
    walk.expect("DELETE /realm/filters/{filter_id}", removed, "item_deleted").await;
    let playground =
        json!({"name": "Play", "pygments_language": "Rust", "url_template": "https://example.com/{code}"});
    let added = ada.post("/realm/playgrounds", playground).await;
    let id = walk.expect("POST /realm/playgrounds", added, "item_created").await["id"].clone();
    let removed = ada.delete(&format!("/realm/playgrounds/{id}"), ()).await;
    walk.expect("DELETE /realm/playgrounds/{playground_id}", removed, "item_deleted").await;
    let field = ada.post("/realm/profile_fields", json!({"name": "Boat", "field_type": 1})).await;
    let id = walk.expect("POST /realm/profile_fields", field, "item_created").await["id"].clone();
    let changed = ada.patch(&format!("/realm/profile_fields/{id}"), json!({"name": "Ship"})).await;
    walk.expect("PATCH /realm/profile_fields/{field_id}", changed, "item_changed").await;
    let ordered = ada.patch("/realm/profile_fields", json!({"order": [id]})).await;
    walk.expect("PATCH /realm/profile_fields", ordered, "item_changed").await;
    let removed = ada.delete(&format!("/realm/profile_fields/{id}"), ()).await;
    walk.expect("DELETE /realm/profile_fields/{field_id}", removed, "item_deleted").await;
}

async fn groups_and_invitations(walk: &mut Walk, ada: &Client, eve: &Client) {
    let group = json!({"name": "crew", "description": "", "members": [ada.user_id]});
    let created = ada.post("/user_groups/create", group).await;
    let id = walk.expect("POST /user_groups/create", created, "group_created").await["group_id"].clone();
    let path = format!("/user_groups/{id}");
    let named = ada.patch(&path, json!({"name": "team"})).await;
    walk.expect("PATCH /user_groups/{user_group_id}", named, "group_changed").await;
    let members = ada.post(&format!("{path}/members"), json!({"add": [eve.user_id]})).await;
    walk.expect("POST /user_groups/{user_group_id}/members", members, "members_changed").await;
    let other = json!({"name": "other", "description": "", "members": [ada.user_id]});
    let other = ada.post("/user_groups/create", other).await.ok()["group_id"].clone();
    let subgroups = ada.post(&format!("{path}/subgroups"), json!({"add": [other]})).await;
    walk.expect("POST /user_groups/{user_group_id}/subgroups", subgroups, "members_changed").await;
    let gone = ada.post(&format!("{path}/deactivate"), ()).await;
    walk.expect("POST /user_groups/{user_group_id}/deactivate", gone, "group_deactivated").await;
    let invitation =
        json!({"invitee_emails": "guest@example.com", "stream_ids": [], "invite_expires_in_minutes": 60});
    walk.expect("POST /invites", ada.post("/invites", invitation).await, "invitation_created").await;
    let made = ada.post("/invites/multiuse", json!({"stream_ids": []})).await;
    walk.expect("POST /invites/multiuse", made, "invitation_created").await;
    let invites = ada.get("/invites", ()).await.ok();
    let id_of = |is_multiuse: bool| {
        let mut invites = invites["invites"].as_array().unwrap().iter();
        invites.find(|invite| invite["is_multiuse"] == is_multiuse).unwrap()["id"].clone()
    };
    let sent = ada.post(&format!("/invites/{}/resend", id_of(false)), ()).await;
    walk.expect("POST /invites/{invite_id}/resend", sent, "invitation_sent").await;
    let revoked = ada.delete(&format!("/invites/{}", id_of(false)), ()).await;
    walk.expect("DELETE /invites/{invite_id}", revoked, "invitation_revoked").await;
    let revoked = ada.delete(&format!("/invites/multiuse/{}", id_of(true)), ()).await;
    walk.expect("DELETE /invites/multiuse/{invite_id}", revoked, "invitation_revoked").await;
    let id = ada.send_direct(&[&walk.owner], "hello").await;
    let deleted = walk.owner.clone().delete(&format!("/messages/{id}"), ()).await;
    walk.expect("DELETE /messages/{message_id}", deleted, "message_deleted").await;
}

async fn exports(walk: &mut Walk, server: &TestServer) {
    let owner = walk.owner.clone();
    let started = owner.post("/export/realm", json!({"export_type": 1})).await;
    let id = walk.expect("POST /export/realm", started, "organization_exported").await["id"].clone();
    scheduler::settle(server.app()).await;
    let deleted = owner.delete(&format!("/export/realm/{id}"), ()).await;
    walk.expect("DELETE /export/realm/{export_id}", deleted, "item_deleted").await;
}
