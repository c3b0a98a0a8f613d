//! What is tried: the rows of the table.

use super::organization::{Case, Request};
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
    pub request: fn(&Case<'_>) -> Request,
}

const fn organization(name: &'static str, request: fn(&Case<'_>) -> Request) -> Action {
    Action { name, scope: Scope::Organization, request }
}

const fn channel(name: &'static str, request: fn(&Case<'_>) -> Request) -> Action {
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
fn change_channel(case: &Case<'_>, parameters: Value) -> Request {
    patch(format!("/streams/{}", case.channel()), parameters)
}

/// `PATCH /messages/{message_id}` with these parameters.
fn change_message(id: i64, parameters: Value) -> Request {
    patch(format!("/messages/{id}"), parameters)
}

fn subscribe(case: &Case<'_>, principals: Option<i64>) -> Request {
    let mut parameters = json!({"subscriptions": [{"name": case.channel_name()}]});
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
    organization("`POST /messages` to a person", |case| {
        post("/messages", json!({"type": "direct", "to": [case.bystander().user_id], "content": "Hello"}))
    }),
    organization("`POST /messages/{id}/reactions` on a direct message", |case| {
        post(format!("/messages/{}/reactions", case.direct_message()), json!({"emoji_name": "tada"}))
    }),
    organization("`PATCH /messages/{id}` of a direct message from another", |case| {
        change_message(case.direct_message(), json!({"content": "Changed"}))
    }),
    organization("`DELETE /messages/{id}` of a direct message from another", |case| {
        delete(format!("/messages/{}", case.direct_message()), json!({}))
    }),
    organization("`POST /typing` to a person", |case| {
        post("/typing", json!({"op": "start", "to": [case.bystander().user_id]}))
    }),
    organization("`POST /scheduled_messages` to a person", |case| {
        let to = [case.bystander().user_id];
        let at = LATER;
        post(
            "/scheduled_messages",
            json!({"type": "direct", "to": to, "content": "Hi", "scheduled_delivery_timestamp": at}),
        )
    }),
    organization("`POST /drafts`", |case| {
        let draft =
            json!({"type": "private", "to": [case.bystander().user_id], "topic": "", "content": "Hi"});
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
    organization("`POST /users/me/api_keys/revoke_others`", |_| {
        post("/users/me/api_keys/revoke_others", json!({}))
    }),
    organization("`DELETE /users/me/api_keys/{api_key_id}` of another", |_| {
        delete("/users/me/api_keys/999999", json!({}))
    }),
    organization("`POST /users/{user_id}/password_reset`", |case| {
        post(format!("/users/{}/password_reset", case.bystander().user_id), json!({}))
    }),
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
    organization("`PATCH /drafts/{draft_id}` of another", |case| {
        let draft = json!({"type": "private", "to": [], "topic": "", "content": "Hello"});
        patch(format!("/drafts/{}", case.things().draft), json!({"draft": draft}))
    }),
    organization("`DELETE /drafts/{draft_id}` of another", |case| {
        delete(format!("/drafts/{}", case.things().draft), json!({}))
    }),
    organization("`PATCH /saved_snippets/{saved_snippet_id}` of another", |case| {
        patch(format!("/saved_snippets/{}", case.things().saved_snippet), json!({"title": "Hello"}))
    }),
    organization("`DELETE /saved_snippets/{saved_snippet_id}` of another", |case| {
        delete(format!("/saved_snippets/{}", case.things().saved_snippet), json!({}))
    }),
    organization("`PATCH /scheduled_messages/{scheduled_message_id}` of another", |case| {
        let path = format!("/scheduled_messages/{}", case.things().scheduled_message);
        patch(path, json!({"content": "Hello"}))
    }),
    organization("`DELETE /scheduled_messages/{scheduled_message_id}` of another", |case| {
        delete(format!("/scheduled_messages/{}", case.things().scheduled_message), json!({}))
    }),
    organization("`DELETE /reminders/{reminder_id}` of another", |case| {
        delete(format!("/reminders/{}", case.things().reminder), json!({}))
    }),
    organization("`PATCH /navigation_views/{fragment}` of another", |_| {
        patch("/navigation_views/inbox", json!({"is_pinned": false}))
    }),
    organization("`DELETE /navigation_views/{fragment}` of another", |_| {
        delete("/navigation_views/inbox", json!({}))
    }),
    organization("`POST /user_uploads`", |_| post_image("/user_uploads", json!({}))),
    organization("`DELETE /attachments/{attachment_id}` of another", |case| {
        delete(format!("/attachments/{}", case.things().attachment), json!({}))
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
    organization("`POST /users/{user_id}/status` of another", |case| {
        post(format!("/users/{}/status", case.bystander().user_id), json!({"status_text": "busy"}))
    }),
    organization("`POST /users/me/muted_users/{muted_user_id}`", |case| {
        post(format!("/users/me/muted_users/{}", case.bystander().user_id), json!({}))
    }),
    organization("`DELETE /users/me/muted_users/{muted_user_id}` of one not muted", |case| {
        delete(format!("/users/me/muted_users/{}", case.bystander().user_id), json!({}))
    }),
    organization("`PATCH /users/me/profile_data`", |case| {
        let data = json!([{"id": case.things().profile_field, "value": "12"}]);
        patch("/users/me/profile_data", json!({"data": data}))
    }),
    organization("`DELETE /users/me/profile_data`", |case| {
        delete("/users/me/profile_data", json!({"data": [case.things().profile_field]}))
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
    organization("`PATCH /users/{user_id}`: `full_name` of a member", |case| {
        patch(format!("/users/{}", case.bystander().user_id), json!({"full_name": "Somebody Else"}))
    }),
    organization("`PATCH /users/{user_id}`: `role` of a member", |case| {
        patch(format!("/users/{}", case.bystander().user_id), json!({"role": 600}))
    }),
    organization("`PATCH /users/{user_id}`: makes a member an owner", |case| {
        patch(format!("/users/{}", case.bystander().user_id), json!({"role": 100}))
    }),
    organization("`PATCH /users/{user_id}`: `role` of an owner", |case| {
        patch(format!("/users/{}", case.founder()), json!({"role": 400}))
    }),
    organization("`DELETE /users/{user_id}`, a member", |case| {
        delete(format!("/users/{}", case.bystander().user_id), json!({}))
    }),
    organization("`DELETE /users/{user_id}`, an owner", |case| {
        delete(format!("/users/{}", case.founder()), json!({}))
    }),
    organization("`POST /users/{user_id}/reactivate`", |case| {
        post(format!("/users/{}/reactivate", case.deactivated()), json!({}))
    }),
    organization("`POST /bots`", |_| post("/bots", json!({"full_name": "New", "short_name": "new"}))),
    organization("`PATCH /bots/{bot_id}` of another", |case| {
        patch(format!("/bots/{}", case.things().bot), json!({"full_name": "Other"}))
    }),
    organization("`DELETE /bots/{bot_id}` of another", |case| {
        delete(format!("/bots/{}", case.things().bot), json!({}))
    }),
    organization("`POST /bots/{bot_id}/api_key/regenerate` of another", |case| {
        post(format!("/bots/{}/api_key/regenerate", case.things().bot), json!({}))
    }),
    organization("`PUT /bot_storage`", |_| put("/bot_storage", json!({"storage": {"a": "b"}}))),
    organization("`DELETE /bot_storage`", |_| delete("/bot_storage", json!({}))),
    organization("`POST /user_groups/create`", |_| {
        post("/user_groups/create", json!({"name": "new", "description": "", "members": []}))
    }),
    organization("`PATCH /user_groups/{user_group_id}` of another", |case| {
        patch(format!("/user_groups/{}", case.things().group), json!({"description": "New"}))
    }),
    organization("`POST /user_groups/{user_group_id}/deactivate`", |case| {
        post(format!("/user_groups/{}/deactivate", case.things().group), json!({}))
    }),
    organization("`POST /user_groups/{user_group_id}/members`: adds another", |case| {
        post(format!("/user_groups/{}/members", case.things().group), json!({"add": [case.founder()]}))
    }),
    organization("`POST /user_groups/{user_group_id}/members`: removes another", |case| {
        let parameters = json!({"delete": [case.bystander().user_id]});
        post(format!("/user_groups/{}/members", case.things().group), parameters)
    }),
    organization("`POST /user_groups/{user_group_id}/subgroups`", |case| {
        let guests = teamchat::domain::groups::system::SystemGroup::Moderators.id();
        post(format!("/user_groups/{}/subgroups", case.things().group), json!({"add": [guests]}))
    }),
    organization("`POST /invites`", |_| {
        post("/invites", json!({"invitee_emails": "new@example.com", "stream_ids": []}))
    }),
    organization("`POST /invites/multiuse`", |_| post("/invites/multiuse", json!({}))),
    organization("`POST /invites/multiuse` for administrators", |_| {
        post("/invites/multiuse", json!({"invite_as": 200}))
    }),
    organization("`DELETE /invites/multiuse/{invite_id}` of another", |case| {
        delete(format!("/invites/multiuse/{}", case.things().invite), json!({}))
    }),
    organization("`DELETE /invites/{invite_id}` that is not there", |_| delete("/invites/999", json!({}))),
    organization("`POST /invites/{invite_id}/resend` that is not there", |_| {
        post("/invites/999/resend", json!({}))
    }),
    organization("`POST /channel_folders/create`", |_| {
        post("/channel_folders/create", json!({"name": "New", "description": ""}))
    }),
    organization("`PATCH /channel_folders`", |case| {
        patch("/channel_folders", json!({"order": [case.things().folder]}))
    }),
    organization("`PATCH /channel_folders/{channel_folder_id}`", |case| {
        patch(format!("/channel_folders/{}", case.things().folder), json!({"description": "New"}))
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
    organization("`PATCH /realm/filters/{filter_id}`", |case| {
        let parameters = json!({"pattern": "T(?P<id>[0-9]+)", "url_template": "https://example.com/{id}"});
        patch(format!("/realm/filters/{}", case.things().linkifier), parameters)
    }),
    organization("`DELETE /realm/filters/{filter_id}`", |case| {
        delete(format!("/realm/filters/{}", case.things().linkifier), json!({}))
    }),
    organization("`PATCH /realm/linkifiers`", |case| {
        patch("/realm/linkifiers", json!({"ordered_linkifier_ids": [case.things().linkifier]}))
    }),
    organization("`POST /realm/playgrounds`", |_| {
        let parameters = json!({
            "name": "New", "pygments_language": "Rust", "url_template": "https://example.com/{code}",
        });
        post("/realm/playgrounds", parameters)
    }),
    organization("`DELETE /realm/playgrounds/{playground_id}`", |case| {
        delete(format!("/realm/playgrounds/{}", case.things().playground), json!({}))
    }),
    organization("`POST /default_stream_groups/create`", |_| {
        let parameters = json!({"group_name": "New", "description": "", "stream_names": ["other"]});
        post("/default_stream_groups/create", parameters)
    }),
    organization("`PATCH /default_stream_groups/{group_id}`", |case| {
        let path = format!("/default_stream_groups/{}", case.things().default_stream_group);
        patch(path, json!({"new_description": "New"}))
    }),
    organization("`PATCH /default_stream_groups/{group_id}/streams`", |case| {
        let path = format!("/default_stream_groups/{}/streams", case.things().default_stream_group);
        patch(path, json!({"op": "add", "stream_names": ["square"]}))
    }),
    organization("`DELETE /default_stream_groups/{group_id}`", |case| {
        delete(format!("/default_stream_groups/{}", case.things().default_stream_group), json!({}))
    }),
    organization("`POST /realm/profile_fields`", |_| {
        post("/realm/profile_fields", json!({"name": "Town", "field_type": 1}))
    }),
    organization("`PATCH /realm/profile_fields`", |case| {
        patch("/realm/profile_fields", json!({"order": [case.things().profile_field]}))
    }),
    organization("`PATCH /realm/profile_fields/{field_id}`", |case| {
        patch(format!("/realm/profile_fields/{}", case.things().profile_field), json!({"name": "Town"}))
    }),
    organization("`DELETE /realm/profile_fields/{field_id}`", |case| {
        delete(format!("/realm/profile_fields/{}", case.things().profile_field), json!({}))
    }),
    channel("`POST /messages`", |case| {
        let to = case.channel();
        post("/messages", json!({"type": "channel", "to": to, "topic": "plans", "content": "Hello"}))
    }),
    channel("`POST /messages` with `@**all**`", |case| {
        let to = case.channel();
        post("/messages", json!({"type": "channel", "to": to, "topic": "plans", "content": "Hello @**all**"}))
    }),
    channel("`POST /scheduled_messages`", |case| {
        let (to, at) = (case.channel(), LATER);
        let what = json!({"type": "channel", "to": to, "topic": "plans", "content": "Hi", "scheduled_delivery_timestamp": at});
        post("/scheduled_messages", what)
    }),
    channel("`POST /typing`", |case| {
        let stream_id = case.channel();
        post("/typing", json!({"type": "channel", "op": "start", "stream_id": stream_id, "topic": "plans"}))
    }),
    channel("`PATCH /messages/{id}`: `content` of one's own (if not in, of another's)", |case| {
        change_message(case.own_message(), json!({"content": "Changed"}))
    }),
    channel("`PATCH /messages/{id}`: `content` of another's", |case| {
        change_message(case.others_message(), json!({"content": "Changed"}))
    }),
    channel("`PATCH /messages/{id}`: `topic` of another's", |case| {
        change_message(case.others_message(), json!({"topic": "other plans"}))
    }),
    channel("`PATCH /messages/{id}`: resolve its topic", |case| {
        change_message(case.others_message(), json!({"topic": "✔ plans", "propagate_mode": "change_all"}))
    }),
    channel("`PATCH /messages/{id}`: `stream_id`", |case| {
        change_message(case.others_message(), json!({"stream_id": case.things().other_channel}))
    }),
    channel("`DELETE /messages/{id}`, one's own (if not in, another's)", |case| {
        delete(format!("/messages/{}", case.own_message()), json!({}))
    }),
    channel("`DELETE /messages/{id}`, another's", |case| {
        delete(format!("/messages/{}", case.others_message()), json!({}))
    }),
    channel("`POST /streams/{stream_id}/delete_topic`", |case| {
        post(format!("/streams/{}/delete_topic", case.channel()), json!({"topic_name": "plans"}))
    }),
    channel("`POST /messages/{id}/reactions`", |case| {
        post(format!("/messages/{}/reactions", case.others_message()), json!({"emoji_name": "tada"}))
    }),
    channel("`POST /messages/{id}/typing`, one's own (if not in, another's)", |case| {
        post(format!("/messages/{}/typing", case.own_message()), json!({"op": "start"}))
    }),
    channel("`POST /messages/{id}/report`", |case| {
        post(format!("/messages/{}/report", case.others_message()), json!({"report_type": "spam"}))
    }),
    channel("`POST /reminders`", |case| {
        let what = json!({"message_id": case.others_message(), "scheduled_delivery_timestamp": LATER});
        post("/reminders", what)
    }),
    channel("`POST /messages/flags`: starred", |case| {
        let what = json!({"messages": [case.others_message()], "op": "add", "flag": "starred"});
        post("/messages/flags", what)
    }),
    channel("`POST /mark_stream_as_read`", |case| {
        post("/mark_stream_as_read", json!({"stream_id": case.channel()}))
    }),
    channel("`POST /mark_topic_as_read`", |case| {
        post("/mark_topic_as_read", json!({"stream_id": case.channel(), "topic_name": "plans"}))
    }),
    channel("`POST /user_topics`", |case| {
        post("/user_topics", json!({"stream_id": case.channel(), "topic": "plans", "visibility_policy": 3}))
    }),
    channel("`PATCH /users/me/subscriptions/muted_topics`", |case| {
        let what = json!({"stream_id": case.channel(), "topic": "plans", "op": "add"});
        patch("/users/me/subscriptions/muted_topics", what)
    }),
    channel("`POST /users/me/subscriptions`", |case| subscribe(case, None)),
    channel("`POST /users/me/subscriptions` for another", |case| {
        subscribe(case, Some(case.bystander().user_id))
    }),
    channel("`DELETE /users/me/subscriptions`", |case| {
        delete("/users/me/subscriptions", json!({"subscriptions": [case.channel_name()]}))
    }),
    channel("`DELETE /users/me/subscriptions` for another", |case| {
        let what = json!({"subscriptions": [case.channel_name()], "principals": [case.founder()]});
        delete("/users/me/subscriptions", what)
    }),
    channel("`POST /users/me/subscriptions/properties`", |case| {
        let one = json!({"stream_id": case.channel(), "property": "pin_to_top", "value": true});
        post("/users/me/subscriptions/properties", json!({"subscription_data": [one]}))
    }),
    channel("`DELETE /messages/{id}/reactions` of another's", |case| {
        delete(format!("/messages/{}/reactions", case.others_message()), json!({"emoji_name": "tada"}))
    }),
    channel("`POST /submessage`", |case| {
        let parameters = json!({
            "message_id": case.others_message(), "msg_type": "widget", "content": "{\"type\": \"vote\"}",
        });
        post("/submessage", parameters)
    }),
    channel("`PATCH /users/me/subscriptions`", |case| {
        patch("/users/me/subscriptions", json!({"add": [{"name": case.channel_name()}]}))
    }),
    channel("`PATCH /users/me/subscriptions/{stream_id}`", |case| {
        let parameters = json!({"property": "pin_to_top", "value": true});
        patch(format!("/users/me/subscriptions/{}", case.channel()), parameters)
    }),
    channel("`PATCH /streams/{stream_id}`: `description`", |case| {
        change_channel(case, json!({"description": "New"}))
    }),
    channel("`PATCH /streams/{stream_id}`: `new_name`", |case| {
        change_channel(case, json!({"new_name": "new"}))
    }),
    channel("`PATCH /streams/{stream_id}`: `is_private`", |case| {
        change_channel(case, json!({"is_private": true, "history_public_to_subscribers": true}))
    }),
    channel("`PATCH /streams/{stream_id}`: `message_retention_days`", |case| {
        change_channel(case, json!({"message_retention_days": 30}))
    }),
    channel("`PATCH /streams/{stream_id}`: `topics_policy`", |case| {
        change_channel(case, json!({"topics_policy": "disable_empty_topic"}))
    }),
    channel("`PATCH /streams/{stream_id}`: `can_send_message_group`", |case| {
        let members = teamchat::domain::groups::system::SystemGroup::Members.id();
        change_channel(case, json!({"can_send_message_group": {"new": members}}))
    }),
    channel("`PATCH /streams/{stream_id}`: `can_add_subscribers_group`", |case| {
        let members = teamchat::domain::groups::system::SystemGroup::Members.id();
        change_channel(case, json!({"can_add_subscribers_group": {"new": members}}))
    }),
    channel("`PATCH /streams/{stream_id}`: `can_delete_any_message_group`", |case| {
        let members = teamchat::domain::groups::system::SystemGroup::Members.id();
        change_channel(case, json!({"can_delete_any_message_group": {"new": members}}))
    }),
    channel("`PATCH /streams/{stream_id}`: `is_archived` false", |case| {
        change_channel(case, json!({"is_archived": false}))
    }),
    channel("`DELETE /streams/{stream_id}`", |case| {
        delete(format!("/streams/{}", case.channel()), json!({}))
    }),
    channel("`POST /default_streams`", |case| post("/default_streams", json!({"stream_id": case.channel()}))),
    channel("`DELETE /default_streams`", |case| {
        delete("/default_streams", json!({"stream_id": case.channel()}))
    }),
];
