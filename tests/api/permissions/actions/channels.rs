//! Actions on channels and messages.

use super::{Action, LATER, change_message, delete, patch, post};
use crate::permissions::organization::{Case, Request};
use crate::permissions::people::ChannelKind::{Archived, PrivateShared, Public, WebPublic};
use crate::permissions::rules::Condition::{
    AdministersChannel, Administrator, All, Any, Holds, Is, IsNot, MayPost, NoGuest, Nobody, Owner,
    ReadsChannel, ReadsMessage, SeesChannel, Subscribed, WasThere,
};
use crate::permissions::rules::{
    CHANNEL_DOES_NOT_EXIST, Condition, INSUFFICIENT, NO_CHANNEL, NO_CHANNEL_WILDCARD, NO_GUESTS, NO_MESSAGE,
    NO_REACTION, NOT_ADMINISTRATOR, NOT_ARCHIVED, NOT_CHANNEL_ADMINISTRATOR, NOT_OWNER,
    READERS_OF_THE_MESSAGE, Refusal, Rule,
};
use crate::permissions::settings::{
    ADD_SUBSCRIBERS, CHANNEL_ADD_SUBSCRIBERS, CHANNEL_DELETE_ANY, CHANNEL_DELETE_OWN, CHANNEL_MOVE_OUT,
    CHANNEL_MOVE_WITHIN, CHANNEL_REMOVE_SUBSCRIBERS, CHANNEL_RESOLVE_TOPICS, CREATE_PRIVATE_CHANNEL,
    CREATE_PUBLIC_CHANNEL, DELETE_ANY_MESSAGE, DELETE_OWN_MESSAGE, MENTION_MANY_USERS, MOVE_BETWEEN_CHANNELS,
    MOVE_BETWEEN_TOPICS, RESOLVE_TOPICS, SET_DELETE_MESSAGE_POLICY, SET_TOPICS_POLICY,
};
use serde_json::{Value, json};
use teamchat::domain::groups::system::SystemGroup;

const NO_ENTRY: Refusal = Refusal::bad_request("Not authorized to send to channel '{name}'");
const NO_POST: Refusal = Refusal::bad_request("You do not have permission to post in this channel.");
const NOT_EDITABLE: Refusal = Refusal::bad_request("You don't have permission to edit this message");
const NOT_DELETABLE: Refusal = Refusal::bad_request("You don't have permission to delete this message");
const NO_ACCESS: Refusal = Refusal::bad_request("Unable to access channel ({name}).");
const NO_CHANNELS: Refusal = Refusal::bad_request("Channel(s) ({name}) do not exist");
const NOT_SUBSCRIBED: Refusal = Refusal::bad_request("Not subscribed to channel ID {id}");
const NO_CONTENT: Refusal = Refusal::bad_request("Channel content access is required.");

const READS: (Condition, Refusal) = (ReadsMessage, NO_MESSAGE);
const IN_USE: (Condition, Refusal) = (NOT_ARCHIVED, NO_MESSAGE);

/// Conditions for sending.
const WRITERS: Rule = &[
    (SeesChannel, CHANNEL_DOES_NOT_EXIST),
    (NOT_ARCHIVED, NO_ENTRY),
    (ReadsChannel, NO_ENTRY),
    (MayPost, NO_POST),
];
const READERS: Rule = &[(ReadsChannel, NO_CHANNEL)];
const READERS_IN_USE: Rule = &[(ReadsChannel, NO_CHANNEL), (NOT_ARCHIVED, NO_CHANNEL)];
const MESSAGE_IN_USE: Rule = &[READS, IN_USE];
const DELETE_ANYBODYS: Condition = Any(&[Holds(&DELETE_ANY_MESSAGE), Holds(&CHANNEL_DELETE_ANY)]);
const DELETE_OWN: Condition =
    All(&[WasThere, Any(&[Holds(&DELETE_OWN_MESSAGE), Holds(&CHANNEL_DELETE_OWN)])]);
/// Conditions for subscribing oneself.
const JOINERS: Rule = &[(NoGuest, NO_GUESTS), (ReadsChannel, NO_ACCESS)];
const SUBSCRIBERS: Rule = &[(ReadsChannel, NO_CHANNEL), (Subscribed, NOT_SUBSCRIBED)];
/// Users without access to the channel do not learn that it exists.
const KNOWS: (Condition, Refusal) = (SeesChannel, NO_CHANNEL);
const ADMINISTERS: (Condition, Refusal) = (AdministersChannel, NOT_CHANNEL_ADMINISTRATOR);
const CHANNEL_ADMINISTRATORS: Rule = &[KNOWS, ADMINISTERS];
const DEFAULT_CHANNEL_KEEPER: (Condition, Refusal) =
    (Administrator, Refusal::bad_request("You do not have permission to change default channels."));

/// `PATCH /streams/{stream_id}` with these parameters.
fn change_channel(case: &Case<'_>, parameters: Value) -> Request {
    patch(format!("/streams/{}", case.channel()), parameters)
}

/// `PATCH /streams/{stream_id}` of a permission.
fn give_to_members(case: &Case<'_>, permission: &str) -> Request {
    change_channel(case, json!({permission: {"new": SystemGroup::Members.id()}}))
}

fn subscribe(case: &Case<'_>, principals: Option<i64>) -> Request {
    let mut parameters = json!({"subscriptions": [{"name": case.channel_name()}]});
    if let Some(user_id) = principals {
        parameters["principals"] = json!([user_id]);
    }
    post("/users/me/subscriptions", parameters)
}

pub const ACTIONS: &[Action] = &[
    Action::channel("`POST /messages`", WRITERS, |case| {
        let to = case.channel();
        post("/messages", json!({"type": "channel", "to": to, "topic": "plans", "content": "Hello"}))
    })
    .for_webhooks(),
    Action::channel(
        "`POST /messages` with `@**all**`, to more than 15 people",
        &[
            (SeesChannel, CHANNEL_DOES_NOT_EXIST),
            (NOT_ARCHIVED, NO_ENTRY),
            (ReadsChannel, NO_ENTRY),
            (MayPost, NO_POST),
            (Holds(&MENTION_MANY_USERS), NO_CHANNEL_WILDCARD),
        ],
        |case| {
            let to = case.channel();
            let content = "Hello @**all**";
            post("/messages", json!({"type": "channel", "to": to, "topic": "plans", "content": content}))
        },
    )
    .for_webhooks(),
    Action::channel("`POST /scheduled_messages`", WRITERS, |case| {
        let (to, at) = (case.channel(), LATER);
        let what = json!({"type": "channel", "to": to, "topic": "plans", "content": "Hi", "scheduled_delivery_timestamp": at});
        post("/scheduled_messages", what)
    }),
    Action::channel(
        "`POST /typing`",
        &[(ReadsChannel, NO_CHANNEL), (NOT_ARCHIVED, NO_ENTRY), (MayPost, NO_POST)],
        |case| {
            let stream_id = case.channel();
            post(
                "/typing",
                json!({"type": "channel", "op": "start", "stream_id": stream_id, "topic": "plans"}),
            )
        },
    ),
    Action::channel(
        "`PATCH /messages/{id}`: `content` of one's own (if never in, of another's)",
        &[READS, IN_USE, (WasThere, NOT_EDITABLE)],
        |case| change_message(case.own_message(), json!({"content": "Changed"})),
    ),
    Action::channel(
        "`PATCH /messages/{id}`: `content` of another's",
        &[READS, IN_USE, (Nobody, NOT_EDITABLE)],
        |case| change_message(case.others_message(), json!({"content": "Changed"})),
    ),
    Action::channel(
        "`PATCH /messages/{id}`: `topic` of another's",
        &[
            READS,
            IN_USE,
            (
                Any(&[Holds(&MOVE_BETWEEN_TOPICS), Holds(&CHANNEL_MOVE_WITHIN), AdministersChannel]),
                NOT_EDITABLE,
            ),
        ],
        |case| change_message(case.others_message(), json!({"topic": "other plans"})),
    ),
    Action::channel(
        "`PATCH /messages/{id}`: resolve its topic",
        &[
            READS,
            IN_USE,
            (
                Any(&[Holds(&RESOLVE_TOPICS), Holds(&CHANNEL_RESOLVE_TOPICS)]),
                Refusal::bad_request("You don't have permission to resolve topics."),
            ),
        ],
        |case| {
            change_message(case.others_message(), json!({"topic": "✔ plans", "propagate_mode": "change_all"}))
        },
    ),
    Action::channel(
        "`PATCH /messages/{id}`: `stream_id`, to a public channel",
        &[
            READS,
            IN_USE,
            (NoGuest, NO_CHANNEL),
            (
                Any(&[Holds(&MOVE_BETWEEN_CHANNELS), Holds(&CHANNEL_MOVE_OUT), AdministersChannel]),
                Refusal::bad_request("You don't have permission to move this message."),
            ),
        ],
        |case| change_message(case.others_message(), json!({"stream_id": case.things().other_channel})),
    ),
    Action::channel(
        "`DELETE /messages/{id}`, one's own (if never in, another's)",
        &[READS, IN_USE, (Any(&[DELETE_ANYBODYS, DELETE_OWN]), NOT_DELETABLE)],
        |case| delete(format!("/messages/{}", case.own_message()), json!({})),
    ),
    Action::channel(
        "`DELETE /messages/{id}`, another's",
        &[READS, IN_USE, (DELETE_ANYBODYS, NOT_DELETABLE)],
        |case| delete(format!("/messages/{}", case.others_message()), json!({})),
    ),
    Action::channel(
        "`POST /streams/{stream_id}/delete_topic`",
        &[(Administrator, NOT_ADMINISTRATOR), (ReadsChannel, NO_CHANNEL), (NOT_ARCHIVED, NO_CHANNEL)],
        |case| post(format!("/streams/{}/delete_topic", case.channel()), json!({"topic_name": "plans"})),
    ),
    Action::channel("`POST /messages/{id}/reactions`", MESSAGE_IN_USE, |case| {
        post(format!("/messages/{}/reactions", case.others_message()), json!({"emoji_name": "tada"}))
    }),
    Action::channel(
        "`DELETE /messages/{id}/reactions` of one's own (if never in, of another's)",
        &[READS, IN_USE, (WasThere, NO_REACTION)],
        |case| {
            delete(format!("/messages/{}/reactions", case.others_message()), json!({"emoji_name": "heart"}))
        },
    ),
    Action::channel("`POST /submessage` to a poll", MESSAGE_IN_USE, |case| {
        let vote = json!({"type": "vote", "key": "canned,0", "vote": 1}).to_string();
        post("/submessage", json!({"message_id": case.poll(), "msg_type": "widget", "content": vote}))
    }),
    Action::channel(
        "`POST /submessage` to another's message that is no poll",
        &[READS, IN_USE, (Nobody, Refusal::bad_request("You cannot attach a submessage to this message."))],
        |case| {
            let parameters = json!({
                "message_id": case.others_message(), "msg_type": "widget", "content": "{\"type\": \"vote\"}",
            });
            post("/submessage", parameters)
        },
    ),
    Action::channel(
        "`POST /messages/{id}/typing`, one's own (if never in, another's)",
        &[READS, IN_USE, (WasThere, NOT_EDITABLE)],
        |case| post(format!("/messages/{}/typing", case.own_message()), json!({"op": "start"})),
    ),
    Action::channel("`POST /messages/{id}/report`", READERS_OF_THE_MESSAGE, |case| {
        post(format!("/messages/{}/report", case.others_message()), json!({"report_type": "spam"}))
    }),
    Action::channel("`POST /reminders`", READERS_OF_THE_MESSAGE, |case| {
        let what = json!({"message_id": case.others_message(), "scheduled_delivery_timestamp": LATER});
        post("/reminders", what)
    }),
    Action::channel("`POST /messages/flags`: starred", READERS_OF_THE_MESSAGE, |case| {
        let what = json!({"messages": [case.others_message()], "op": "add", "flag": "starred"});
        post("/messages/flags", what)
    }),
    Action::channel("`POST /mark_stream_as_read`", READERS, |case| {
        post("/mark_stream_as_read", json!({"stream_id": case.channel()}))
    }),
    Action::channel(
        "`POST /mark_topic_as_read`",
        &[(ReadsChannel, NO_CHANNEL), (WasThere, Refusal::bad_request("No such topic 'plans'"))],
        |case| post("/mark_topic_as_read", json!({"stream_id": case.channel(), "topic_name": "plans"})),
    ),
    Action::channel("`POST /user_topics`", READERS_IN_USE, |case| {
        post("/user_topics", json!({"stream_id": case.channel(), "topic": "plans", "visibility_policy": 3}))
    }),
    Action::channel("`PATCH /users/me/subscriptions/muted_topics`", READERS_IN_USE, |case| {
        let what = json!({"stream_id": case.channel(), "topic": "plans", "op": "add"});
        patch("/users/me/subscriptions/muted_topics", what)
    }),
    Action::channel("`POST /users/me/subscriptions`", JOINERS, |case| subscribe(case, None)),
    Action::channel("`PATCH /users/me/subscriptions`", JOINERS, |case| {
        patch("/users/me/subscriptions", json!({"add": [{"name": case.channel_name()}]}))
    }),
    Action::channel(
        "`POST /users/me/subscriptions` for another",
        &[
            (NoGuest, NO_GUESTS),
            (ReadsChannel, NO_ACCESS),
            (
                Any(&[Holds(&ADD_SUBSCRIBERS), Holds(&CHANNEL_ADD_SUBSCRIBERS), AdministersChannel]),
                INSUFFICIENT,
            ),
        ],
        |case| subscribe(case, Some(case.bystander().user_id)),
    ),
    Action::channel("`DELETE /users/me/subscriptions`", &[(SeesChannel, NO_CHANNELS)], |case| {
        delete("/users/me/subscriptions", json!({"subscriptions": [case.channel_name()]}))
    }),
    Action::channel(
        "`DELETE /users/me/subscriptions` for another",
        &[
            (SeesChannel, NO_CHANNELS),
            (Any(&[Holds(&CHANNEL_REMOVE_SUBSCRIBERS), AdministersChannel]), INSUFFICIENT),
        ],
        |case| {
            let what = json!({"subscriptions": [case.channel_name()], "principals": [case.founder()]});
            delete("/users/me/subscriptions", what)
        },
    ),
    Action::channel("`POST /users/me/subscriptions/properties`", SUBSCRIBERS, |case| {
        let one = json!({"stream_id": case.channel(), "property": "pin_to_top", "value": true});
        post("/users/me/subscriptions/properties", json!({"subscription_data": [one]}))
    }),
    Action::channel("`PATCH /users/me/subscriptions/{stream_id}`", SUBSCRIBERS, |case| {
        let parameters = json!({"property": "pin_to_top", "value": true});
        patch(format!("/users/me/subscriptions/{}", case.channel()), parameters)
    }),
    Action::channel("`PATCH /streams/{stream_id}`: `description`", CHANNEL_ADMINISTRATORS, |case| {
        change_channel(case, json!({"description": "New"}))
    }),
    Action::channel("`PATCH /streams/{stream_id}`: `new_name`", CHANNEL_ADMINISTRATORS, |case| {
        change_channel(case, json!({"new_name": "new"}))
    }),
    Action::channel(
        "`PATCH /streams/{stream_id}`: `is_private`, with shared history",
        &[
            KNOWS,
            ADMINISTERS,
            (IsNot(&[WebPublic]), Refusal::bad_request("Invalid parameters")),
            (ReadsChannel, NO_CONTENT),
            (Any(&[Is(&[PrivateShared]), Holds(&CREATE_PRIVATE_CHANNEL)]), INSUFFICIENT),
        ],
        |case| change_channel(case, json!({"is_private": true, "history_public_to_subscribers": true})),
    ),
    Action::channel(
        "`PATCH /streams/{stream_id}`: `is_private` false",
        &[
            KNOWS,
            ADMINISTERS,
            (ReadsChannel, NO_CONTENT),
            (Any(&[Is(&[Public, WebPublic, Archived]), Holds(&CREATE_PUBLIC_CHANNEL)]), INSUFFICIENT),
        ],
        |case| change_channel(case, json!({"is_private": false})),
    ),
    Action::channel(
        "`PATCH /streams/{stream_id}`: `history_public_to_subscribers`",
        &[KNOWS, ADMINISTERS, (ReadsChannel, NO_CONTENT)],
        |case| change_channel(case, json!({"history_public_to_subscribers": true})),
    ),
    Action::channel(
        "`PATCH /streams/{stream_id}`: `message_retention_days`",
        &[KNOWS, ADMINISTERS, (Owner, NOT_OWNER)],
        |case| change_channel(case, json!({"message_retention_days": 30})),
    ),
    Action::channel(
        "`PATCH /streams/{stream_id}`: `topics_policy`",
        &[KNOWS, ADMINISTERS, (Holds(&SET_TOPICS_POLICY), INSUFFICIENT)],
        |case| change_channel(case, json!({"topics_policy": "disable_empty_topic"})),
    ),
    Action::channel(
        "`PATCH /streams/{stream_id}`: `can_send_message_group`",
        CHANNEL_ADMINISTRATORS,
        |case| give_to_members(case, "can_send_message_group"),
    ),
    Action::channel(
        "`PATCH /streams/{stream_id}`: `can_add_subscribers_group`",
        &[KNOWS, ADMINISTERS, (ReadsChannel, NO_CONTENT)],
        |case| give_to_members(case, "can_add_subscribers_group"),
    ),
    Action::channel(
        "`PATCH /streams/{stream_id}`: `can_delete_any_message_group`",
        &[KNOWS, ADMINISTERS, (Holds(&SET_DELETE_MESSAGE_POLICY), INSUFFICIENT)],
        |case| give_to_members(case, "can_delete_any_message_group"),
    ),
    Action::channel(
        "`PATCH /streams/{stream_id}`: `is_archived` false",
        &[
            KNOWS,
            ADMINISTERS,
            (Is(&[Archived]), Refusal::bad_request("Channel is not currently deactivated")),
        ],
        |case| change_channel(case, json!({"is_archived": false})),
    ),
    Action::channel(
        "`DELETE /streams/{stream_id}`",
        &[KNOWS, ADMINISTERS, (NOT_ARCHIVED, Refusal::bad_request("Channel is already deactivated"))],
        |case| delete(format!("/streams/{}", case.channel()), json!({})),
    ),
    Action::channel(
        "`POST /default_streams`",
        &[
            DEFAULT_CHANNEL_KEEPER,
            (NOT_ARCHIVED, NO_CHANNEL),
            (Is(&[Public, WebPublic]), Refusal::bad_request("Private channels cannot be made default.")),
        ],
        |case| post("/default_streams", json!({"stream_id": case.channel()})),
    ),
    Action::channel("`DELETE /default_streams`", &[DEFAULT_CHANNEL_KEEPER], |case| {
        delete("/default_streams", json!({"stream_id": case.channel()}))
    }),
];
