//! Actions on a user's own data, and direct messages.

use super::{Action, LATER, change_message, delete, patch, post, post_image, put, write_to_bystander};
use crate::permissions::rules::Condition::{
    Administrator, Any, Bot, DirectMessageIsAuthorized, DirectMessagesAreOn, Holds, KnowsBystander, Maker,
    Nobody,
};
use crate::permissions::rules::{ANYBODY, Condition, NO_QUEUE, PEOPLE, Refusal, Rule};
use crate::permissions::settings::{DELETE_ANY_MESSAGE, DIRECT_MESSAGE_INITIATOR, GROUP_MENTION};
use serde_json::json;

const NOT_EDITABLE: Refusal = Refusal::bad_request("You don't have permission to edit this message");
const NOT_DELETABLE: Refusal = Refusal::bad_request("You don't have permission to delete this message");

const KNOWN: (Condition, Refusal) =
    (KnowsBystander, Refusal::bad_request("You do not have permission to access some of the recipients."));
/// Bots may write to all users.
const ON: (Condition, Refusal) = (
    Any(&[DirectMessagesAreOn, Bot]),
    Refusal::bad_request("Direct messages are disabled in this organization."),
);
const AUTHORIZED: (Condition, Refusal) = (
    Any(&[DirectMessageIsAuthorized, Bot]),
    Refusal::bad_request("This conversation does not include any users who can authorize it."),
);
const INITIATOR: (Condition, Refusal) = (
    Any(&[Holds(&DIRECT_MESSAGE_INITIATOR), Bot]),
    Refusal::bad_request("You do not have permission to initiate direct message conversations."),
);
/// Conditions for a direct message to an unrelated member.
const WRITERS: Rule = &[KNOWN, ON, AUTHORIZED, INITIATOR];

pub const ACTIONS: &[Action] = &[
    Action::organization("`POST /messages` to a person", WRITERS, |case| write_to_bystander(case, "Hello"))
        .for_webhooks(),
    Action::organization(
        "`POST /messages` with the mention of a group",
        &[
            KNOWN,
            ON,
            AUTHORIZED,
            INITIATOR,
            (
                Holds(&GROUP_MENTION),
                Refusal::bad_request("You are not allowed to mention user group 'team'."),
            ),
        ],
        |case| write_to_bystander(case, "Hello @*team*"),
    )
    .for_webhooks(),
    Action::organization("`POST /scheduled_messages` to a person", WRITERS, |case| {
        let to = [case.bystander().user_id];
        let at = LATER;
        post(
            "/scheduled_messages",
            json!({"type": "direct", "to": to, "content": "Hi", "scheduled_delivery_timestamp": at}),
        )
    }),
    Action::organization("`POST /typing` to a person", ANYBODY, |case| {
        post("/typing", json!({"op": "start", "to": [case.bystander().user_id]}))
    }),
    Action::organization("`POST /messages/{id}/reactions` on a direct message", ANYBODY, |case| {
        post(format!("/messages/{}/reactions", case.direct_message()), json!({"emoji_name": "tada"}))
    }),
    Action::organization(
        "`PATCH /messages/{id}` of a direct message from another",
        &[(Nobody, NOT_EDITABLE)],
        |case| change_message(case.direct_message(), json!({"content": "Changed"})),
    ),
    Action::organization(
        "`DELETE /messages/{id}` of a direct message from another",
        &[(Holds(&DELETE_ANY_MESSAGE), NOT_DELETABLE)],
        |case| delete(format!("/messages/{}", case.direct_message()), json!({})),
    ),
    Action::organization("`POST /messages/render`", ANYBODY, |_| {
        post("/messages/render", json!({"content": "Hello"}))
    }),
    Action::organization("`POST /messages/flags/narrow`", ANYBODY, |_| {
        let parameters = json!({
            "anchor": "newest", "num_before": 10, "num_after": 0, "narrow": [], "op": "add", "flag": "read",
        });
        post("/messages/flags/narrow", parameters)
    }),
    Action::organization("`POST /mark_all_as_read`", ANYBODY, |_| post("/mark_all_as_read", json!({}))),
    Action::organization("`POST /register`", ANYBODY, |_| {
        post("/register", json!({"event_types": ["message"]}))
    })
    .for_visitors(),
    Action::organization("`DELETE /events`", &[(Maker, NO_QUEUE)], |case| {
        delete("/events", json!({"queue_id": case.things().queue}))
    }),
    Action::organization("`POST /drafts`", ANYBODY, |case| {
        let draft =
            json!({"type": "private", "to": [case.bystander().user_id], "topic": "", "content": "Hi"});
        post("/drafts", json!({"drafts": [draft]}))
    }),
    Action::organization("`PATCH /drafts/{draft_id}`", MAKER_OF_DRAFT, |case| {
        let draft = json!({"type": "private", "to": [], "topic": "", "content": "Hello"});
        patch(format!("/drafts/{}", case.things().draft), json!({"draft": draft}))
    }),
    Action::organization("`DELETE /drafts/{draft_id}`", MAKER_OF_DRAFT, |case| {
        delete(format!("/drafts/{}", case.things().draft), json!({}))
    }),
    Action::organization("`POST /saved_snippets`", ANYBODY, |_| {
        post("/saved_snippets", json!({"title": "Hi", "content": "Hello"}))
    }),
    Action::organization("`PATCH /saved_snippets/{saved_snippet_id}`", MAKER_OF_SNIPPET, |case| {
        patch(format!("/saved_snippets/{}", case.things().saved_snippet), json!({"title": "Hello"}))
    }),
    Action::organization("`DELETE /saved_snippets/{saved_snippet_id}`", MAKER_OF_SNIPPET, |case| {
        delete(format!("/saved_snippets/{}", case.things().saved_snippet), json!({}))
    }),
    Action::organization("`PATCH /scheduled_messages/{scheduled_message_id}`", MAKER_OF_SCHEDULED, |case| {
        let path = format!("/scheduled_messages/{}", case.things().scheduled_message);
        patch(path, json!({"content": "Hello"}))
    }),
    Action::organization("`DELETE /scheduled_messages/{scheduled_message_id}`", MAKER_OF_SCHEDULED, |case| {
        delete(format!("/scheduled_messages/{}", case.things().scheduled_message), json!({}))
    }),
    Action::organization(
        "`DELETE /reminders/{reminder_id}`",
        &[(Maker, Refusal::bad_request("Reminder does not exist"))],
        |case| delete(format!("/reminders/{}", case.things().reminder), json!({})),
    ),
    Action::organization("`POST /navigation_views`", ANYBODY, |_| {
        post("/navigation_views", json!({"fragment": "recent", "is_pinned": true}))
    }),
    Action::organization("`PATCH /navigation_views/{fragment}`", MAKER_OF_VIEW, |_| {
        patch("/navigation_views/inbox", json!({"is_pinned": false}))
    }),
    Action::organization("`DELETE /navigation_views/{fragment}`", MAKER_OF_VIEW, |_| {
        delete("/navigation_views/inbox", json!({}))
    }),
    Action::organization("`POST /user_uploads`", ANYBODY, |_| post_image("/user_uploads", json!({}))),
    Action::organization(
        "`DELETE /attachments/{attachment_id}`",
        &[(Any(&[Maker, Administrator]), Refusal::bad_request("Invalid attachment"))],
        |case| delete(format!("/attachments/{}", case.things().attachment), json!({})),
    ),
    Action::organization("`POST /users/me/alert_words`", ANYBODY, |_| {
        post("/users/me/alert_words", json!({"alert_words": ["fire"]}))
    }),
    Action::organization("`DELETE /users/me/alert_words`", ANYBODY, |_| {
        delete("/users/me/alert_words", json!({"alert_words": ["fire"]}))
    }),
    Action::organization("`PATCH /settings`", PEOPLE, |_| patch("/settings", json!({"enter_sends": true}))),
    Action::organization("`PATCH /settings` of the own name", PEOPLE, |_| {
        patch("/settings", json!({"full_name": "Somebody Else"}))
    }),
    Action::organization("`PATCH /settings/display`", PEOPLE, |_| {
        patch("/settings/display", json!({"enter_sends": true}))
    }),
    Action::organization("`PATCH /settings/notifications`", PEOPLE, |_| {
        patch("/settings/notifications", json!({"enable_sounds": false}))
    }),
    Action::organization("`POST /users/me/avatar`", ANYBODY, |_| post_image("/users/me/avatar", json!({}))),
    Action::organization("`DELETE /users/me/avatar`", ANYBODY, |_| delete("/users/me/avatar", json!({}))),
    Action::organization("`POST /users/me/presence`", PEOPLE, |_| {
        post("/users/me/presence", json!({"status": "active"}))
    }),
    Action::organization("`POST /users/me/status`", PEOPLE, |_| {
        post("/users/me/status", json!({"status_text": "busy"}))
    }),
    Action::organization(
        "`POST /users/me/muted_users/{muted_user_id}`",
        &[(KnowsBystander, Refusal::bad_request("No such user"))],
        |case| post(format!("/users/me/muted_users/{}", case.bystander().user_id), json!({})),
    ),
    Action::organization(
        "`DELETE /users/me/muted_users/{muted_user_id}`",
        &[(Maker, Refusal::bad_request("User is not muted"))],
        |case| delete(format!("/users/me/muted_users/{}", case.founder()), json!({})),
    ),
    Action::organization("`PATCH /users/me/profile_data`", PEOPLE, |case| {
        let data = json!([{"id": case.things().profile_field, "value": "12"}]);
        patch("/users/me/profile_data", json!({"data": data}))
    }),
    Action::organization("`DELETE /users/me/profile_data`", PEOPLE, |case| {
        delete("/users/me/profile_data", json!({"data": [case.things().profile_field]}))
    }),
    Action::organization("`POST /users/me/onboarding_steps`", PEOPLE, |_| {
        post("/users/me/onboarding_steps", json!({"onboarding_step": "intro_resolve_topic"}))
    }),
    Action::organization("`POST /users/me/api_key/regenerate`", ANYBODY, |_| {
        post("/users/me/api_key/regenerate", json!({}))
    }),
    Action::organization("`POST /users/me/api_keys/revoke_others`", ANYBODY, |_| {
        post("/users/me/api_keys/revoke_others", json!({}))
    }),
    Action::organization(
        "`DELETE /users/me/api_keys/{api_key_id}`",
        &[(Maker, Refusal::bad_request("API key does not exist"))],
        |case| delete(format!("/users/me/api_keys/{}", case.things().api_key), json!({})),
    ),
    Action::organization(
        "`DELETE /users/me/sessions/{session_id}`",
        &[(Maker, Refusal::bad_request("Session does not exist"))],
        |case| delete(format!("/users/me/sessions/{}", case.things().session), json!({})),
    ),
    Action::organization("`PUT /bot_storage`", ANYBODY, |_| {
        put("/bot_storage", json!({"storage": {"a": "b"}}))
    }),
    Action::organization("`DELETE /bot_storage`", ANYBODY, |_| delete("/bot_storage", json!({}))),
    Action::organization("`DELETE /users/me`", ANYBODY, |_| delete("/users/me", json!({}))),
];

const MAKER_OF_DRAFT: Rule = &[(Maker, Refusal::bad_request("Draft does not exist"))];
const MAKER_OF_SNIPPET: Rule = &[(Maker, Refusal::bad_request("Saved snippet does not exist."))];
const MAKER_OF_SCHEDULED: Rule = &[(Maker, Refusal::bad_request("Scheduled message does not exist"))];
const MAKER_OF_VIEW: Rule = &[(Maker, Refusal::bad_request("Navigation view does not exist."))];
