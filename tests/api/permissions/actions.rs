//! What is tried: the rows of the table.

use super::world::{Request, Scene};
use reqwest::Method;
use serde_json::{Value, json};

/// What an action is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The organization, its people, or the caller: one row.
    Organization,
    /// A channel or a message in it: a row for each kind of channel.
    Channel,
}

/// An operation with parameters.
pub struct Action {
    pub name: &'static str,
    pub scope: Scope,
    pub request: fn(&Scene<'_>) -> Request,
}

const fn organization(name: &'static str, request: fn(&Scene<'_>) -> Request) -> Action {
    Action { name, scope: Scope::Organization, request }
}

const fn channel(name: &'static str, request: fn(&Scene<'_>) -> Request) -> Action {
    Action { name, scope: Scope::Channel, request }
}

fn post(path: impl Into<String>, parameters: Value) -> Request {
    (Method::POST, path.into(), parameters)
}

fn patch(path: impl Into<String>, parameters: Value) -> Request {
    (Method::PATCH, path.into(), parameters)
}

fn delete(path: impl Into<String>, parameters: Value) -> Request {
    (Method::DELETE, path.into(), parameters)
}

/// `PATCH /streams/{stream_id}` with these parameters.
fn change_channel(scene: &Scene<'_>, parameters: Value) -> Request {
    patch(format!("/streams/{}", scene.channel()), parameters)
}

/// `PATCH /messages/{message_id}` with these parameters.
fn change_message(id: i64, parameters: Value) -> Request {
    patch(format!("/messages/{id}"), parameters)
}

fn subscribe(scene: &Scene<'_>, principals: Option<i64>) -> Request {
    let mut parameters = json!({"subscriptions": [{"name": scene.channel_name()}]});
    if let Some(user_id) = principals {
        parameters["principals"] = json!([user_id]);
    }
    post("/users/me/subscriptions", parameters)
}

fn create_channel(parameters: Value) -> Request {
    let mut all = json!({"name": "new", "subscribers": []});
    all.as_object_mut().unwrap().extend(parameters.as_object().unwrap().clone());
    post("/channels/create", all)
}

/// A time that is far enough ahead.
const LATER: i64 = 1_900_000_000;

/// All of them, in the order of the page.
pub const ACTIONS: &[Action] = &[
    organization("`POST /register`", |_| post("/register", json!({"event_types": ["message"]}))),
    organization("`POST /messages` to a person", |scene| {
        post("/messages", json!({"type": "direct", "to": [scene.bystander().user_id], "content": "Hello"}))
    }),
    organization("`POST /messages/{id}/reactions` on a direct message", |scene| {
        post(format!("/messages/{}/reactions", scene.direct_message()), json!({"emoji_name": "tada"}))
    }),
    organization("`PATCH /messages/{id}` of a direct message from another", |scene| {
        change_message(scene.direct_message(), json!({"content": "Changed"}))
    }),
    organization("`DELETE /messages/{id}` of a direct message from another", |scene| {
        delete(format!("/messages/{}", scene.direct_message()), json!({}))
    }),
    organization("`POST /typing` to a person", |scene| {
        post("/typing", json!({"op": "start", "to": [scene.bystander().user_id]}))
    }),
    organization("`POST /scheduled_messages` to a person", |scene| {
        let to = [scene.bystander().user_id];
        let at = LATER;
        post(
            "/scheduled_messages",
            json!({"type": "direct", "to": to, "content": "Hi", "scheduled_delivery_timestamp": at}),
        )
    }),
    organization("`POST /drafts`", |scene| {
        let draft =
            json!({"type": "private", "to": [scene.bystander().user_id], "topic": "", "content": "Hi"});
        post("/drafts", json!({"drafts": [draft]}))
    }),
    organization("`POST /saved_snippets`", |_| {
        post("/saved_snippets", json!({"title": "Hi", "content": "Hello"}))
    }),
    organization("`POST /navigation_views`", |_| {
        post("/navigation_views", json!({"fragment": "inbox", "is_pinned": true}))
    }),
    organization("`POST /users/me/alert_words`", |_| {
        post("/users/me/alert_words", json!({"alert_words": ["fire"]}))
    }),
    organization("`PATCH /settings`", |_| patch("/settings", json!({"enter_sends": true}))),
    organization("`PATCH /settings` of the own name", |_| {
        patch("/settings", json!({"full_name": "Somebody Else"}))
    }),
    organization("`PATCH /realm/user_settings_defaults`", |_| {
        patch("/realm/user_settings_defaults", json!({"enter_sends": true}))
    }),
    organization("`PATCH /realm`", |_| patch("/realm", json!({"name": "New"}))),
    organization("`PATCH /realm`: `invite_required`", |_| patch("/realm", json!({"invite_required": false}))),
    organization("`PATCH /realm`: `can_create_bots_group`", |_| {
        let moderators = teamchat::api::groups::system::SystemGroup::Moderators.id();
        patch("/realm", json!({"can_create_bots_group": {"new": moderators}}))
    }),
    organization("`PATCH /realm`: `can_create_groups`", |_| {
        let moderators = teamchat::api::groups::system::SystemGroup::Moderators.id();
        patch("/realm", json!({"can_create_groups": {"new": moderators}}))
    }),
    organization("`POST /realm/deactivate`", |_| post("/realm/deactivate", json!({}))),
    organization("`POST /realm/test_welcome_bot_custom_message`", |_| {
        post("/realm/test_welcome_bot_custom_message", json!({"welcome_message_custom_text": "Hello"}))
    }),
    organization("`POST /realm/filters`", |_| {
        post(
            "/realm/filters",
            json!({"pattern": "T(?P<id>[0-9]+)", "url_template": "https://example.com/{id}"}),
        )
    }),
    organization("`PATCH /realm/linkifiers`", |_| {
        patch("/realm/linkifiers", json!({"ordered_linkifier_ids": []}))
    }),
    organization("`POST /realm/playgrounds`", |_| {
        let playground = json!({"name": "Play", "pygments_language": "Rust", "url_template": "https://example.com/{code}"});
        post("/realm/playgrounds", playground)
    }),
    organization("`POST /realm/domains`", |_| {
        post("/realm/domains", json!({"domain": "example.org", "allow_subdomains": true}))
    }),
    organization("`POST /users/me/onboarding_steps`", |_| {
        post("/users/me/onboarding_steps", json!({"onboarding_step": "intro_resolve_topic"}))
    }),
    organization("`POST /users/me/api_key/regenerate`", |_| post("/users/me/api_key/regenerate", json!({}))),
    organization("`POST /channels/create`, public", |_| create_channel(json!({}))),
    organization("`POST /channels/create`, private", |_| create_channel(json!({"invite_only": true}))),
    organization("`POST /channels/create`, web-public", |_| create_channel(json!({"is_web_public": true}))),
    organization("`POST /channels/create` with `is_default_stream`", |_| {
        create_channel(json!({"is_default_stream": true}))
    }),
    organization("`POST /channels/create` with `message_retention_days`", |_| {
        create_channel(json!({"message_retention_days": 30}))
    }),
    organization("`POST /channels/create` with `topics_policy`", |_| {
        create_channel(json!({"topics_policy": "disable_empty_topic"}))
    }),
    organization("`POST /users/me/subscriptions` to a channel that is not there", |_| {
        post("/users/me/subscriptions", json!({"subscriptions": [{"name": "new"}]}))
    }),
    channel("`POST /messages`", |scene| {
        let to = scene.channel();
        post("/messages", json!({"type": "channel", "to": to, "topic": "plans", "content": "Hello"}))
    }),
    channel("`POST /messages` with `@**all**`", |scene| {
        let to = scene.channel();
        post("/messages", json!({"type": "channel", "to": to, "topic": "plans", "content": "Hello @**all**"}))
    }),
    channel("`POST /scheduled_messages`", |scene| {
        let (to, at) = (scene.channel(), LATER);
        let what = json!({"type": "channel", "to": to, "topic": "plans", "content": "Hi", "scheduled_delivery_timestamp": at});
        post("/scheduled_messages", what)
    }),
    channel("`POST /typing`", |scene| {
        let stream_id = scene.channel();
        post("/typing", json!({"type": "channel", "op": "start", "stream_id": stream_id, "topic": "plans"}))
    }),
    channel("`PATCH /messages/{id}`: `content` of one's own (if not in, of another's)", |scene| {
        change_message(scene.own_message(), json!({"content": "Changed"}))
    }),
    channel("`PATCH /messages/{id}`: `content` of another's", |scene| {
        change_message(scene.others_message(), json!({"content": "Changed"}))
    }),
    channel("`PATCH /messages/{id}`: `topic` of another's", |scene| {
        change_message(scene.others_message(), json!({"topic": "other plans"}))
    }),
    channel("`PATCH /messages/{id}`: resolve its topic", |scene| {
        change_message(scene.others_message(), json!({"topic": "✔ plans", "propagate_mode": "change_all"}))
    }),
    channel("`PATCH /messages/{id}`: `stream_id`", |scene| {
        change_message(scene.others_message(), json!({"stream_id": scene.things().other_channel}))
    }),
    channel("`DELETE /messages/{id}`, one's own (if not in, another's)", |scene| {
        delete(format!("/messages/{}", scene.own_message()), json!({}))
    }),
    channel("`DELETE /messages/{id}`, another's", |scene| {
        delete(format!("/messages/{}", scene.others_message()), json!({}))
    }),
    channel("`POST /streams/{stream_id}/delete_topic`", |scene| {
        post(format!("/streams/{}/delete_topic", scene.channel()), json!({"topic_name": "plans"}))
    }),
    channel("`POST /messages/{id}/reactions`", |scene| {
        post(format!("/messages/{}/reactions", scene.others_message()), json!({"emoji_name": "tada"}))
    }),
    channel("`POST /messages/{id}/typing`, one's own (if not in, another's)", |scene| {
        post(format!("/messages/{}/typing", scene.own_message()), json!({"op": "start"}))
    }),
    channel("`POST /messages/{id}/report`", |scene| {
        post(format!("/messages/{}/report", scene.others_message()), json!({"report_type": "spam"}))
    }),
    channel("`POST /reminders`", |scene| {
        let what = json!({"message_id": scene.others_message(), "scheduled_delivery_timestamp": LATER});
        post("/reminders", what)
    }),
    channel("`POST /messages/flags`: starred", |scene| {
        let what = json!({"messages": [scene.others_message()], "op": "add", "flag": "starred"});
        post("/messages/flags", what)
    }),
    channel("`POST /mark_stream_as_read`", |scene| {
        post("/mark_stream_as_read", json!({"stream_id": scene.channel()}))
    }),
    channel("`POST /mark_topic_as_read`", |scene| {
        post("/mark_topic_as_read", json!({"stream_id": scene.channel(), "topic_name": "plans"}))
    }),
    channel("`POST /user_topics`", |scene| {
        post("/user_topics", json!({"stream_id": scene.channel(), "topic": "plans", "visibility_policy": 3}))
    }),
    channel("`PATCH /users/me/subscriptions/muted_topics`", |scene| {
        let what = json!({"stream_id": scene.channel(), "topic": "plans", "op": "add"});
        patch("/users/me/subscriptions/muted_topics", what)
    }),
    channel("`POST /users/me/subscriptions`", |scene| subscribe(scene, None)),
    channel("`POST /users/me/subscriptions` for another", |scene| {
        subscribe(scene, Some(scene.bystander().user_id))
    }),
    channel("`DELETE /users/me/subscriptions`", |scene| {
        delete("/users/me/subscriptions", json!({"subscriptions": [scene.channel_name()]}))
    }),
    channel("`DELETE /users/me/subscriptions` for another", |scene| {
        let what = json!({"subscriptions": [scene.channel_name()], "principals": [scene.founder()]});
        delete("/users/me/subscriptions", what)
    }),
    channel("`POST /users/me/subscriptions/properties`", |scene| {
        let one = json!({"stream_id": scene.channel(), "property": "pin_to_top", "value": true});
        post("/users/me/subscriptions/properties", json!({"subscription_data": [one]}))
    }),
    channel("`PATCH /streams/{stream_id}`: `description`", |scene| {
        change_channel(scene, json!({"description": "New"}))
    }),
    channel("`PATCH /streams/{stream_id}`: `new_name`", |scene| {
        change_channel(scene, json!({"new_name": "new"}))
    }),
    channel("`PATCH /streams/{stream_id}`: `is_private`", |scene| {
        change_channel(scene, json!({"is_private": true, "history_public_to_subscribers": true}))
    }),
    channel("`PATCH /streams/{stream_id}`: `message_retention_days`", |scene| {
        change_channel(scene, json!({"message_retention_days": 30}))
    }),
    channel("`PATCH /streams/{stream_id}`: `topics_policy`", |scene| {
        change_channel(scene, json!({"topics_policy": "disable_empty_topic"}))
    }),
    channel("`PATCH /streams/{stream_id}`: `can_send_message_group`", |scene| {
        let members = teamchat::api::groups::system::SystemGroup::Members.id();
        change_channel(scene, json!({"can_send_message_group": {"new": members}}))
    }),
    channel("`PATCH /streams/{stream_id}`: `can_add_subscribers_group`", |scene| {
        let members = teamchat::api::groups::system::SystemGroup::Members.id();
        change_channel(scene, json!({"can_add_subscribers_group": {"new": members}}))
    }),
    channel("`PATCH /streams/{stream_id}`: `can_delete_any_message_group`", |scene| {
        let members = teamchat::api::groups::system::SystemGroup::Members.id();
        change_channel(scene, json!({"can_delete_any_message_group": {"new": members}}))
    }),
    channel("`PATCH /streams/{stream_id}`: `is_archived` false", |scene| {
        change_channel(scene, json!({"is_archived": false}))
    }),
    channel("`DELETE /streams/{stream_id}`", |scene| {
        delete(format!("/streams/{}", scene.channel()), json!({}))
    }),
    channel("`POST /default_streams`", |scene| {
        post("/default_streams", json!({"stream_id": scene.channel()}))
    }),
    channel("`DELETE /default_streams`", |scene| {
        delete("/default_streams", json!({"stream_id": scene.channel()}))
    }),
];
