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
    Request { method: Method::POST, path: path.into(), parameters, with_image: false }
}

fn patch(path: impl Into<String>, parameters: Value) -> Request {
    Request { method: Method::PATCH, path: path.into(), parameters, with_image: false }
}

fn delete(path: impl Into<String>, parameters: Value) -> Request {
    Request { method: Method::DELETE, path: path.into(), parameters, with_image: false }
}

fn put(path: impl Into<String>, parameters: Value) -> Request {
    Request { method: Method::PUT, ..post(path, parameters) }
}

/// Brings an image.
fn post_image(path: impl Into<String>, parameters: Value) -> Request {
    Request { with_image: true, ..post(path, parameters) }
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
        let moderators = teamchat::domain::groups::system::SystemGroup::Moderators.id();
        patch("/realm", json!({"can_create_bots_group": {"new": moderators}}))
    }),
    organization("`PATCH /realm`: `can_create_groups`", |_| {
        let moderators = teamchat::domain::groups::system::SystemGroup::Moderators.id();
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
    organization("`PATCH /drafts/{draft_id}` of another", |scene| {
        let draft = json!({"type": "private", "to": [], "topic": "", "content": "Hello"});
        patch(format!("/drafts/{}", scene.things().draft), json!({"draft": draft}))
    }),
    organization("`DELETE /drafts/{draft_id}` of another", |scene| {
        delete(format!("/drafts/{}", scene.things().draft), json!({}))
    }),
    organization("`PATCH /saved_snippets/{saved_snippet_id}` of another", |scene| {
        patch(format!("/saved_snippets/{}", scene.things().saved_snippet), json!({"title": "Hello"}))
    }),
    organization("`DELETE /saved_snippets/{saved_snippet_id}` of another", |scene| {
        delete(format!("/saved_snippets/{}", scene.things().saved_snippet), json!({}))
    }),
    organization("`PATCH /scheduled_messages/{scheduled_message_id}` of another", |scene| {
        let path = format!("/scheduled_messages/{}", scene.things().scheduled_message);
        patch(path, json!({"content": "Hello"}))
    }),
    organization("`DELETE /scheduled_messages/{scheduled_message_id}` of another", |scene| {
        delete(format!("/scheduled_messages/{}", scene.things().scheduled_message), json!({}))
    }),
    organization("`DELETE /reminders/{reminder_id}` of another", |scene| {
        delete(format!("/reminders/{}", scene.things().reminder), json!({}))
    }),
    organization("`PATCH /navigation_views/{fragment}` of another", |_| {
        patch("/navigation_views/inbox", json!({"is_pinned": false}))
    }),
    organization("`DELETE /navigation_views/{fragment}` of another", |_| {
        delete("/navigation_views/inbox", json!({}))
    }),
    organization("`POST /user_uploads`", |_| post_image("/user_uploads", json!({}))),
    organization("`DELETE /attachments/{attachment_id}` of another", |scene| {
        delete(format!("/attachments/{}", scene.things().attachment), json!({}))
    }),
    organization("`DELETE /users/me/alert_words`", |_| {
        delete("/users/me/alert_words", json!({"alert_words": ["fire"]}))
    }),
    organization("`PATCH /settings/display`", |_| patch("/settings/display", json!({"enter_sends": true}))),
    organization("`PATCH /settings/notifications`", |_| {
        patch("/settings/notifications", json!({"enable_sounds": false}))
    }),
    organization("`POST /users/me/avatar`", |_| post_image("/users/me/avatar", json!({}))),
    organization("`DELETE /users/me/avatar`", |_| delete("/users/me/avatar", json!({}))),
    organization("`POST /users/me/presence`", |_| post("/users/me/presence", json!({"status": "active"}))),
    organization("`POST /users/me/status`", |_| post("/users/me/status", json!({"status_text": "busy"}))),
    organization("`POST /users/{user_id}/status` of another", |scene| {
        post(format!("/users/{}/status", scene.bystander().user_id), json!({"status_text": "busy"}))
    }),
    organization("`POST /users/me/muted_users/{muted_user_id}`", |scene| {
        post(format!("/users/me/muted_users/{}", scene.bystander().user_id), json!({}))
    }),
    organization("`DELETE /users/me/muted_users/{muted_user_id}` of one not muted", |scene| {
        delete(format!("/users/me/muted_users/{}", scene.bystander().user_id), json!({}))
    }),
    organization("`PATCH /users/me/profile_data`", |scene| {
        let data = json!([{"id": scene.things().profile_field, "value": "12"}]);
        patch("/users/me/profile_data", json!({"data": data}))
    }),
    organization("`DELETE /users/me/profile_data`", |scene| {
        delete("/users/me/profile_data", json!({"data": [scene.things().profile_field]}))
    }),
    organization("`POST /users/me/onboarding_steps`", |_| {
        post("/users/me/onboarding_steps", json!({"onboarding_step": "intro_inbox_view_modal"}))
    }),
    organization("`POST /messages/render`", |_| post("/messages/render", json!({"content": "Hello"}))),
    organization("`POST /messages/flags/narrow`", |_| {
        let parameters = json!({
            "anchor": "newest", "num_before": 10, "num_after": 0, "narrow": [], "op": "add", "flag": "read",
        });
        post("/messages/flags/narrow", parameters)
    }),
    organization("`POST /mark_all_as_read`", |_| post("/mark_all_as_read", json!({}))),
    organization("`DELETE /events` of a queue that is not there", |_| {
        delete("/events", json!({"queue_id": "none"}))
    }),
    organization("`DELETE /users/me`", |_| delete("/users/me", json!({}))),
    organization("`POST /users`", |_| {
        post(
            "/users",
            json!({"email": "new@example.com", "password": "long enough, surely", "full_name": "New"}),
        )
    }),
    organization("`PATCH /users/{user_id}`: `full_name` of a member", |scene| {
        patch(format!("/users/{}", scene.bystander().user_id), json!({"full_name": "Somebody Else"}))
    }),
    organization("`PATCH /users/{user_id}`: `role` of a member", |scene| {
        patch(format!("/users/{}", scene.bystander().user_id), json!({"role": 600}))
    }),
    organization("`PATCH /users/{user_id}`: makes a member an owner", |scene| {
        patch(format!("/users/{}", scene.bystander().user_id), json!({"role": 100}))
    }),
    organization("`PATCH /users/{user_id}`: `role` of an owner", |scene| {
        patch(format!("/users/{}", scene.founder()), json!({"role": 400}))
    }),
    organization("`DELETE /users/{user_id}`, a member", |scene| {
        delete(format!("/users/{}", scene.bystander().user_id), json!({}))
    }),
    organization("`DELETE /users/{user_id}`, an owner", |scene| {
        delete(format!("/users/{}", scene.founder()), json!({}))
    }),
    organization("`POST /users/{user_id}/reactivate`", |scene| {
        post(format!("/users/{}/reactivate", scene.deactivated()), json!({}))
    }),
    organization("`POST /bots`", |_| post("/bots", json!({"full_name": "New", "short_name": "new"}))),
    organization("`PATCH /bots/{bot_id}` of another", |scene| {
        patch(format!("/bots/{}", scene.things().bot), json!({"full_name": "Other"}))
    }),
    organization("`DELETE /bots/{bot_id}` of another", |scene| {
        delete(format!("/bots/{}", scene.things().bot), json!({}))
    }),
    organization("`POST /bots/{bot_id}/api_key/regenerate` of another", |scene| {
        post(format!("/bots/{}/api_key/regenerate", scene.things().bot), json!({}))
    }),
    organization("`PUT /bot_storage`", |_| put("/bot_storage", json!({"storage": {"a": "b"}}))),
    organization("`DELETE /bot_storage`", |_| delete("/bot_storage", json!({}))),
    organization("`POST /user_groups/create`", |_| {
        post("/user_groups/create", json!({"name": "new", "description": "", "members": []}))
    }),
    organization("`PATCH /user_groups/{user_group_id}` of another", |scene| {
        patch(format!("/user_groups/{}", scene.things().group), json!({"description": "New"}))
    }),
    organization("`POST /user_groups/{user_group_id}/deactivate`", |scene| {
        post(format!("/user_groups/{}/deactivate", scene.things().group), json!({}))
    }),
    organization("`POST /user_groups/{user_group_id}/members`: adds another", |scene| {
        post(format!("/user_groups/{}/members", scene.things().group), json!({"add": [scene.founder()]}))
    }),
    organization("`POST /user_groups/{user_group_id}/members`: removes another", |scene| {
        let parameters = json!({"delete": [scene.bystander().user_id]});
        post(format!("/user_groups/{}/members", scene.things().group), parameters)
    }),
    organization("`POST /user_groups/{user_group_id}/subgroups`", |scene| {
        let guests = teamchat::domain::groups::system::SystemGroup::Moderators.id();
        post(format!("/user_groups/{}/subgroups", scene.things().group), json!({"add": [guests]}))
    }),
    organization("`POST /invites`", |_| {
        post("/invites", json!({"invitee_emails": "new@example.com", "stream_ids": []}))
    }),
    organization("`POST /invites/multiuse`", |_| post("/invites/multiuse", json!({}))),
    organization("`POST /invites/multiuse` for administrators", |_| {
        post("/invites/multiuse", json!({"invite_as": 200}))
    }),
    organization("`DELETE /invites/multiuse/{invite_id}` of another", |scene| {
        delete(format!("/invites/multiuse/{}", scene.things().invite), json!({}))
    }),
    organization("`DELETE /invites/{invite_id}` that is not there", |_| delete("/invites/999", json!({}))),
    organization("`POST /invites/{invite_id}/resend` that is not there", |_| {
        post("/invites/999/resend", json!({}))
    }),
    organization("`POST /channel_folders/create`", |_| {
        post("/channel_folders/create", json!({"name": "New", "description": ""}))
    }),
    organization("`PATCH /channel_folders`", |scene| {
        patch("/channel_folders", json!({"order": [scene.things().folder]}))
    }),
    organization("`PATCH /channel_folders/{channel_folder_id}`", |scene| {
        patch(format!("/channel_folders/{}", scene.things().folder), json!({"description": "New"}))
    }),
    organization("`PATCH /realm`: `description`", |_| patch("/realm", json!({"description": "New"}))),
    organization("`PATCH /realm`: `message_retention_days`", |_| {
        patch("/realm", json!({"message_retention_days": 30}))
    }),
    organization("`POST /realm/deactivate`", |_| post("/realm/deactivate", json!({}))),
    organization("`POST /realm/test_welcome_bot_custom_message`", |_| {
        post("/realm/test_welcome_bot_custom_message", json!({"welcome_message_custom_text": "Hello"}))
    }),
    organization("`POST /realm/domains`", |_| {
        post("/realm/domains", json!({"domain": "example.org", "allow_subdomains": false}))
    }),
    organization("`PATCH /realm/domains/{domain}`", |_| {
        patch("/realm/domains/example.com", json!({"allow_subdomains": true}))
    }),
    organization("`DELETE /realm/domains/{domain}`", |_| delete("/realm/domains/example.com", json!({}))),
    organization("`POST /realm/emoji/{emoji_name}`", |_| post_image("/realm/emoji/tulip", json!({}))),
    organization("`DELETE /realm/emoji/{emoji_name}` of another", |_| delete("/realm/emoji/rose", json!({}))),
    organization("`POST /realm/icon`", |_| post_image("/realm/icon", json!({}))),
    organization("`DELETE /realm/icon`", |_| delete("/realm/icon", json!({}))),
    organization("`POST /realm/logo`", |_| post_image("/realm/logo", json!({"night": false}))),
    organization("`DELETE /realm/logo`", |_| delete("/realm/logo", json!({"night": false}))),
    organization("`POST /realm/filters`", |_| {
        post(
            "/realm/filters",
            json!({"pattern": "T(?P<id>[0-9]+)", "url_template": "https://example.com/{id}"}),
        )
    }),
    organization("`PATCH /realm/filters/{filter_id}`", |scene| {
        let parameters = json!({"pattern": "T(?P<id>[0-9]+)", "url_template": "https://example.com/{id}"});
        patch(format!("/realm/filters/{}", scene.things().linkifier), parameters)
    }),
    organization("`DELETE /realm/filters/{filter_id}`", |scene| {
        delete(format!("/realm/filters/{}", scene.things().linkifier), json!({}))
    }),
    organization("`PATCH /realm/linkifiers`", |scene| {
        patch("/realm/linkifiers", json!({"ordered_linkifier_ids": [scene.things().linkifier]}))
    }),
    organization("`POST /realm/playgrounds`", |_| {
        let parameters = json!({
            "name": "New", "pygments_language": "Rust", "url_template": "https://example.com/{code}",
        });
        post("/realm/playgrounds", parameters)
    }),
    organization("`DELETE /realm/playgrounds/{playground_id}`", |scene| {
        delete(format!("/realm/playgrounds/{}", scene.things().playground), json!({}))
    }),
    organization("`POST /default_stream_groups/create`", |_| {
        let parameters = json!({"group_name": "New", "description": "", "stream_names": ["other"]});
        post("/default_stream_groups/create", parameters)
    }),
    organization("`PATCH /default_stream_groups/{group_id}`", |scene| {
        let path = format!("/default_stream_groups/{}", scene.things().default_stream_group);
        patch(path, json!({"new_description": "New"}))
    }),
    organization("`PATCH /default_stream_groups/{group_id}/streams`", |scene| {
        let path = format!("/default_stream_groups/{}/streams", scene.things().default_stream_group);
        patch(path, json!({"op": "add", "stream_names": ["square"]}))
    }),
    organization("`DELETE /default_stream_groups/{group_id}`", |scene| {
        delete(format!("/default_stream_groups/{}", scene.things().default_stream_group), json!({}))
    }),
    organization("`POST /realm/profile_fields`", |_| {
        post("/realm/profile_fields", json!({"name": "Town", "field_type": 1}))
    }),
    organization("`PATCH /realm/profile_fields`", |scene| {
        patch("/realm/profile_fields", json!({"order": [scene.things().profile_field]}))
    }),
    organization("`PATCH /realm/profile_fields/{field_id}`", |scene| {
        patch(format!("/realm/profile_fields/{}", scene.things().profile_field), json!({"name": "Town"}))
    }),
    organization("`DELETE /realm/profile_fields/{field_id}`", |scene| {
        delete(format!("/realm/profile_fields/{}", scene.things().profile_field), json!({}))
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
    channel("`DELETE /messages/{id}/reactions` of another's", |scene| {
        delete(format!("/messages/{}/reactions", scene.others_message()), json!({"emoji_name": "tada"}))
    }),
    channel("`POST /submessage`", |scene| {
        let parameters = json!({
            "message_id": scene.others_message(), "msg_type": "widget", "content": "{\"type\": \"vote\"}",
        });
        post("/submessage", parameters)
    }),
    channel("`PATCH /users/me/subscriptions`", |scene| {
        patch("/users/me/subscriptions", json!({"add": [{"name": scene.channel_name()}]}))
    }),
    channel("`PATCH /users/me/subscriptions/{stream_id}`", |scene| {
        let parameters = json!({"property": "pin_to_top", "value": true});
        patch(format!("/users/me/subscriptions/{}", scene.channel()), parameters)
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
        let members = teamchat::domain::groups::system::SystemGroup::Members.id();
        change_channel(scene, json!({"can_send_message_group": {"new": members}}))
    }),
    channel("`PATCH /streams/{stream_id}`: `can_add_subscribers_group`", |scene| {
        let members = teamchat::domain::groups::system::SystemGroup::Members.id();
        change_channel(scene, json!({"can_add_subscribers_group": {"new": members}}))
    }),
    channel("`PATCH /streams/{stream_id}`: `can_delete_any_message_group`", |scene| {
        let members = teamchat::domain::groups::system::SystemGroup::Members.id();
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
