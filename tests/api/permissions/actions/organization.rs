//! Actions on the organization, its users, groups and bots, and creation of channels.

use super::{Action, delete, patch, post, post_image};
use crate::permissions::organization::{Case, Request};
use crate::permissions::rules::Condition::{Administrator, Any, Holds, Maker, NoGuest, Owner, Person};
use crate::permissions::rules::{
    ADMINISTRATORS, Condition, INSUFFICIENT, NO_BOTS, NO_GUESTS, NOT_ADMINISTRATOR, NOT_OWNER, OWNERS,
    Refusal, Rule,
};
use crate::permissions::settings::{
    ADD_CUSTOM_EMOJI, CREATE_BOTS, CREATE_GROUPS, CREATE_MULTIUSE_INVITE, CREATE_PRIVATE_CHANNEL,
    CREATE_PUBLIC_CHANNEL, CREATE_WEB_PUBLIC_CHANNEL, CREATE_WRITE_ONLY_BOTS, GROUP_ADD_MEMBERS, GROUP_JOIN,
    GROUP_LEAVE, GROUP_MANAGE, GROUP_REMOVE_MEMBERS, INVITE_USERS, MANAGE_ALL_GROUPS, SET_TOPICS_POLICY,
};
use serde_json::{Value, json};
use teamchat::domain::groups::system::SystemGroup;

const NO_BOT: (Condition, Refusal) = (Person, NO_BOTS);
const NOT_A_GUEST: (Condition, Refusal) = (NoGuest, NO_GUESTS);

/// Conditions for changing other users.
const USER_ADMINISTRATORS: Rule = &[(Administrator, INSUFFICIENT)];
/// Conditions for changing owners and promoting to owner.
const USER_OWNERS: Rule = &[(Administrator, INSUFFICIENT), (Owner, NOT_OWNER)];
/// Conditions for settings of administrators that only owners may change.
const REALM_OWNERS: Rule = &[(Administrator, NOT_ADMINISTRATOR), (Owner, NOT_OWNER)];
const CHANNEL_CREATORS: Rule = &[NOT_A_GUEST, (Holds(&CREATE_PUBLIC_CHANNEL), INSUFFICIENT)];
const BOT_KEEPERS: Rule = &[NO_BOT, NOT_A_GUEST, (Any(&[Maker, Administrator]), INSUFFICIENT)];
/// Conditions for the key of an owner's bot, and for the destination of its messages.
const OWNERS_BOT_KEEPERS: Rule = &[NO_BOT, NOT_A_GUEST, (Administrator, INSUFFICIENT), (Owner, NOT_OWNER)];
const MANAGERS: Condition = Any(&[Holds(&GROUP_MANAGE), Holds(&MANAGE_ALL_GROUPS)]);
const GROUP_MANAGERS: Rule = &[NO_BOT, NOT_A_GUEST, (MANAGERS, INSUFFICIENT)];
const INVITATION_KEEPERS: Rule = &[
    NO_BOT,
    NOT_A_GUEST,
    (Any(&[Maker, Administrator]), Refusal::bad_request("Must be an organization administrator")),
];
const DEFAULT_CHANNEL_KEEPERS: Rule =
    &[(Administrator, Refusal::bad_request("You do not have permission to change default channels."))];

fn create_channel(parameters: Value) -> Request {
    let mut all = json!({"name": "new", "subscribers": []});
    all.as_object_mut().unwrap().extend(parameters.as_object().unwrap().clone());
    post("/channels/create", all)
}

/// `PATCH /realm` of a permission.
fn give_to_moderators(permission: &str) -> Request {
    patch("/realm", json!({permission: {"new": SystemGroup::Moderators.id()}}))
}

/// `PATCH /users/{user_id}` of a member.
fn change_user(case: &Case<'_>, parameters: Value) -> Request {
    patch(format!("/users/{}", case.bystander().user_id), parameters)
}

/// `POST /user_groups/{user_group_id}/members`.
fn change_members(group: i64, parameters: Value) -> Request {
    post(format!("/user_groups/{group}/members"), parameters)
}

/// `POST /user_groups/{user_group_id}/subgroups`.
fn change_subgroups(group: i64, parameters: Value) -> Request {
    post(format!("/user_groups/{group}/subgroups"), parameters)
}

pub const ACTIONS: &[Action] = &[
    Action::organization("`PATCH /realm`: `name`", ADMINISTRATORS, |_| {
        patch("/realm", json!({"name": "New"}))
    }),
    Action::organization("`PATCH /realm`: `description`", ADMINISTRATORS, |_| {
        patch("/realm", json!({"description": "New"}))
    }),
    Action::organization("`PATCH /realm`: `can_create_bots_group`", ADMINISTRATORS, |_| {
        give_to_moderators("can_create_bots_group")
    }),
    Action::organization("`PATCH /realm`: `can_create_groups`", REALM_OWNERS, |_| {
        give_to_moderators("can_create_groups")
    }),
    Action::organization("`PATCH /realm`: `can_manage_all_groups`", REALM_OWNERS, |_| {
        give_to_moderators("can_manage_all_groups")
    }),
    Action::organization("`PATCH /realm`: `invite_required`", REALM_OWNERS, |_| {
        patch("/realm", json!({"invite_required": false}))
    }),
    Action::organization("`PATCH /realm`: `message_retention_days`", REALM_OWNERS, |_| {
        patch("/realm", json!({"message_retention_days": 30}))
    }),
    Action::organization("`PATCH /realm/user_settings_defaults`", ADMINISTRATORS, |_| {
        patch("/realm/user_settings_defaults", json!({"enter_sends": true}))
    }),
    Action::organization("`POST /realm/deactivate`", OWNERS, |_| post("/realm/deactivate", json!({}))),
    Action::organization("`POST /realm/test_welcome_bot_custom_message`", ADMINISTRATORS, |_| {
        post("/realm/test_welcome_bot_custom_message", json!({"welcome_message_custom_text": "Hello"}))
    }),
    Action::organization("`POST /realm/domains`", OWNERS, |_| {
        post("/realm/domains", json!({"domain": "example.org", "allow_subdomains": false}))
    }),
    Action::organization("`PATCH /realm/domains/{domain}`", OWNERS, |_| {
        patch("/realm/domains/example.com", json!({"allow_subdomains": true}))
    }),
    Action::organization("`DELETE /realm/domains/{domain}`", OWNERS, |_| {
        delete("/realm/domains/example.com", json!({}))
    }),
    Action::organization("`POST /realm/icon`", ADMINISTRATORS, |_| post_image("/realm/icon", json!({}))),
    Action::organization("`DELETE /realm/icon`", ADMINISTRATORS, |_| delete("/realm/icon", json!({}))),
    Action::organization("`POST /realm/logo`", ADMINISTRATORS, |_| {
        post_image("/realm/logo", json!({"night": false}))
    }),
    Action::organization("`DELETE /realm/logo`", ADMINISTRATORS, |_| {
        delete("/realm/logo", json!({"night": false}))
    }),
    Action::organization(
        "`POST /realm/emoji/{emoji_name}`",
        &[(Holds(&ADD_CUSTOM_EMOJI), INSUFFICIENT)],
        |_| post_image("/realm/emoji/our_mascot", json!({})),
    ),
    Action::organization(
        "`POST /realm/emoji/{emoji_name}` of a default emoji",
        &[
            (Holds(&ADD_CUSTOM_EMOJI), INSUFFICIENT),
            (Administrator, Refusal::bad_request("Only administrators can override default emoji.")),
        ],
        |_| post_image("/realm/emoji/tulip", json!({})),
    ),
    Action::organization(
        "`DELETE /realm/emoji/{emoji_name}`",
        &[(
            Any(&[Administrator, Maker]),
            Refusal::bad_request("Must be an organization administrator or emoji author"),
        )],
        |_| delete("/realm/emoji/our_logo", json!({})),
    ),
    Action::organization("`DELETE /export/realm/{export_id}`", ADMINISTRATORS, |_| {
        delete("/export/realm/1", json!({}))
    }),
    Action::organization("`POST /realm/filters`", ADMINISTRATORS, |_| {
        post(
            "/realm/filters",
            json!({"pattern": "T(?P<id>[0-9]+)", "url_template": "https://example.com/{id}"}),
        )
    }),
    Action::organization("`PATCH /realm/filters/{filter_id}`", ADMINISTRATORS, |case| {
        let parameters = json!({"pattern": "T(?P<id>[0-9]+)", "url_template": "https://example.com/{id}"});
        patch(format!("/realm/filters/{}", case.things().linkifier), parameters)
    }),
    Action::organization("`DELETE /realm/filters/{filter_id}`", ADMINISTRATORS, |case| {
        delete(format!("/realm/filters/{}", case.things().linkifier), json!({}))
    }),
    Action::organization("`PATCH /realm/linkifiers`", ADMINISTRATORS, |case| {
        patch("/realm/linkifiers", json!({"ordered_linkifier_ids": [case.things().linkifier]}))
    }),
    Action::organization("`POST /realm/playgrounds`", ADMINISTRATORS, |_| {
        let parameters = json!({
            "name": "New", "pygments_language": "Rust", "url_template": "https://example.com/{code}",
        });
        post("/realm/playgrounds", parameters)
    }),
    Action::organization("`DELETE /realm/playgrounds/{playground_id}`", ADMINISTRATORS, |case| {
        delete(format!("/realm/playgrounds/{}", case.things().playground), json!({}))
    }),
    Action::organization("`POST /realm/profile_fields`", ADMINISTRATORS, |_| {
        post("/realm/profile_fields", json!({"name": "Town", "field_type": 1}))
    }),
    Action::organization("`PATCH /realm/profile_fields`", ADMINISTRATORS, |case| {
        patch("/realm/profile_fields", json!({"order": [case.things().profile_field]}))
    }),
    Action::organization("`PATCH /realm/profile_fields/{field_id}`", ADMINISTRATORS, |case| {
        patch(format!("/realm/profile_fields/{}", case.things().profile_field), json!({"name": "Town"}))
    }),
    Action::organization("`DELETE /realm/profile_fields/{field_id}`", ADMINISTRATORS, |case| {
        delete(format!("/realm/profile_fields/{}", case.things().profile_field), json!({}))
    }),
    Action::organization("`POST /users`", ADMINISTRATORS, |_| {
        post(
            "/users",
            json!({"email": "new@example.com", "password": "long enough, surely", "full_name": "New"}),
        )
    }),
    Action::organization("`PATCH /users/{user_id}`: `full_name` of a member", USER_ADMINISTRATORS, |case| {
        change_user(case, json!({"full_name": "Somebody Else"}))
    }),
    Action::organization(
        "`PATCH /users/{user_id}`: `full_name` of a bot",
        &[(Any(&[Maker, Administrator]), INSUFFICIENT)],
        |case| patch(format!("/users/{}", case.things().bot), json!({"full_name": "Other"})),
    ),
    Action::organization("`PATCH /users/{user_id}`: `role` of a member", USER_ADMINISTRATORS, |case| {
        change_user(case, json!({"role": 600}))
    }),
    Action::organization("`PATCH /users/{user_id}`: makes a member an owner", USER_OWNERS, |case| {
        change_user(case, json!({"role": 100}))
    }),
    Action::organization("`PATCH /users/{user_id}`: `role` of an owner", USER_OWNERS, |case| {
        patch(format!("/users/{}", case.founder()), json!({"role": 400}))
    }),
    Action::organization("`DELETE /users/{user_id}`, a member", USER_ADMINISTRATORS, |case| {
        delete(format!("/users/{}", case.bystander().user_id), json!({}))
    }),
    Action::organization("`DELETE /users/{user_id}`, an owner", USER_OWNERS, |case| {
        delete(format!("/users/{}", case.founder()), json!({}))
    }),
    Action::organization("`POST /users/{user_id}/reactivate`", USER_ADMINISTRATORS, |case| {
        post(format!("/users/{}/reactivate", case.deactivated()), json!({}))
    }),
    Action::organization("`POST /users/{user_id}/status` of another", USER_ADMINISTRATORS, |case| {
        post(format!("/users/{}/status", case.bystander().user_id), json!({"status_text": "busy"}))
    }),
    Action::organization("`POST /users/{user_id}/password_reset`", ADMINISTRATORS, |case| {
        post(format!("/users/{}/password_reset", case.bystander().user_id), json!({}))
    }),
    Action::organization("`POST /bots`", &[NO_BOT, NOT_A_GUEST, (Holds(&CREATE_BOTS), INSUFFICIENT)], |_| {
        post("/bots", json!({"full_name": "New", "short_name": "new"}))
    }),
    Action::organization(
        "`POST /bots`, one that only sends",
        &[NO_BOT, NOT_A_GUEST, (Any(&[Holds(&CREATE_BOTS), Holds(&CREATE_WRITE_ONLY_BOTS)]), INSUFFICIENT)],
        |_| post("/bots", json!({"full_name": "New", "short_name": "new", "bot_type": 2})),
    ),
    Action::organization("`PATCH /bots/{bot_id}`", BOT_KEEPERS, |case| {
        patch(format!("/bots/{}", case.things().bot), json!({"full_name": "Other"}))
    }),
    Action::organization("`DELETE /bots/{bot_id}`", BOT_KEEPERS, |case| {
        delete(format!("/bots/{}", case.things().bot), json!({}))
    }),
    Action::organization(
        "`PATCH /bots/{bot_id}`: `bot_owner_id` of an owner's bot",
        OWNERS_BOT_KEEPERS,
        |case| {
            let bot_owner_id = case.bystander().user_id;
            patch(format!("/bots/{}", case.things().owners_bot), json!({"bot_owner_id": bot_owner_id}))
        },
    ),
    Action::organization(
        "`POST /bots/{bot_id}/api_key/regenerate` of an owner's bot",
        OWNERS_BOT_KEEPERS,
        |case| post(format!("/bots/{}/api_key/regenerate", case.things().owners_bot), json!({})),
    ),
    Action::organization("`POST /bots/{bot_id}/api_key/regenerate`", BOT_KEEPERS, |case| {
        post(format!("/bots/{}/api_key/regenerate", case.things().bot), json!({}))
    }),
    Action::organization(
        "`POST /user_groups/create`",
        &[NO_BOT, NOT_A_GUEST, (Holds(&CREATE_GROUPS), INSUFFICIENT)],
        |_| post("/user_groups/create", json!({"name": "new", "description": "", "members": []})),
    ),
    Action::organization("`PATCH /user_groups/{user_group_id}`", GROUP_MANAGERS, |case| {
        patch(format!("/user_groups/{}", case.things().group), json!({"description": "New"}))
    }),
    Action::organization(
        "`POST /user_groups/{user_group_id}/deactivate`",
        &[(MANAGERS, INSUFFICIENT)],
        |case| post(format!("/user_groups/{}/deactivate", case.things().group), json!({})),
    ),
    Action::organization(
        "`POST /user_groups/{user_group_id}/members`: adds another",
        &[NO_BOT, NOT_A_GUEST, (Any(&[Holds(&GROUP_ADD_MEMBERS), MANAGERS]), INSUFFICIENT)],
        |case| change_members(case.things().group, json!({"add": [case.founder()]})),
    ),
    Action::organization(
        "`POST /user_groups/{user_group_id}/members`: joins",
        &[
            NO_BOT,
            NOT_A_GUEST,
            (Any(&[Holds(&GROUP_JOIN), Holds(&GROUP_ADD_MEMBERS), MANAGERS]), INSUFFICIENT),
        ],
        |case| change_members(case.things().group, json!({"add": [case.caller_id()]})),
    ),
    Action::organization(
        "`POST /user_groups/{user_group_id}/members`: removes another",
        &[NO_BOT, NOT_A_GUEST, (Any(&[Holds(&GROUP_REMOVE_MEMBERS), MANAGERS]), INSUFFICIENT)],
        |case| change_members(case.things().group, json!({"delete": [case.bystander().user_id]})),
    ),
    Action::organization(
        "`POST /user_groups/{user_group_id}/members`: leaves",
        &[
            NO_BOT,
            NOT_A_GUEST,
            (Any(&[Holds(&GROUP_LEAVE), Holds(&GROUP_REMOVE_MEMBERS), MANAGERS]), INSUFFICIENT),
        ],
        |case| change_members(case.things().crew, json!({"delete": [case.caller_id()]})),
    ),
    Action::organization(
        "`POST /user_groups/{user_group_id}/subgroups`: adds one",
        &[NO_BOT, NOT_A_GUEST, (Any(&[Holds(&GROUP_ADD_MEMBERS), MANAGERS]), INSUFFICIENT)],
        |case| change_subgroups(case.things().group, json!({"add": [SystemGroup::Moderators.id()]})),
    ),
    Action::organization(
        "`POST /user_groups/{user_group_id}/subgroups`: removes one",
        GROUP_MANAGERS,
        |case| change_subgroups(case.things().crew, json!({"delete": [case.things().inner_group]})),
    ),
    Action::organization(
        "`POST /invites`",
        &[NO_BOT, NOT_A_GUEST, (Holds(&INVITE_USERS), INSUFFICIENT)],
        |_| post("/invites", json!({"invitee_emails": "new@example.com", "stream_ids": []})),
    ),
    Action::organization("`DELETE /invites/{invite_id}`", INVITATION_KEEPERS, |case| {
        delete(format!("/invites/{}", case.things().invitation), json!({}))
    }),
    Action::organization("`POST /invites/{invite_id}/resend`", INVITATION_KEEPERS, |case| {
        post(format!("/invites/{}/resend", case.things().invitation), json!({}))
    }),
    Action::organization(
        "`POST /invites/multiuse`",
        &[NO_BOT, NOT_A_GUEST, (Holds(&CREATE_MULTIUSE_INVITE), INSUFFICIENT)],
        |_| post("/invites/multiuse", json!({})),
    ),
    Action::organization(
        "`POST /invites/multiuse` for administrators",
        &[
            NO_BOT,
            NOT_A_GUEST,
            (Holds(&CREATE_MULTIUSE_INVITE), INSUFFICIENT),
            (Administrator, Refusal::bad_request("Must be an organization administrator")),
        ],
        |_| post("/invites/multiuse", json!({"invite_as": 200})),
    ),
    Action::organization(
        "`POST /invites/multiuse` for owners",
        &[NO_BOT, NOT_A_GUEST, (Holds(&CREATE_MULTIUSE_INVITE), INSUFFICIENT), (Owner, NOT_OWNER)],
        |_| post("/invites/multiuse", json!({"invite_as": 100})),
    ),
    Action::organization("`DELETE /invites/multiuse/{invite_id}`", INVITATION_KEEPERS, |case| {
        delete(format!("/invites/multiuse/{}", case.things().invite), json!({}))
    }),
    Action::organization("`POST /channel_folders/create`", ADMINISTRATORS, |_| {
        post("/channel_folders/create", json!({"name": "New", "description": ""}))
    }),
    Action::organization("`PATCH /channel_folders`", ADMINISTRATORS, |case| {
        patch("/channel_folders", json!({"order": [case.things().folder]}))
    }),
    Action::organization("`PATCH /channel_folders/{channel_folder_id}`", ADMINISTRATORS, |case| {
        patch(format!("/channel_folders/{}", case.things().folder), json!({"description": "New"}))
    }),
    Action::organization("`POST /channels/create`, public", CHANNEL_CREATORS, |_| create_channel(json!({}))),
    Action::organization(
        "`POST /channels/create`, private",
        &[NOT_A_GUEST, (Holds(&CREATE_PRIVATE_CHANNEL), INSUFFICIENT)],
        |_| create_channel(json!({"invite_only": true})),
    ),
    Action::organization(
        "`POST /channels/create`, web-public",
        &[
            NOT_A_GUEST,
            (Holds(&CREATE_PUBLIC_CHANNEL), INSUFFICIENT),
            (Holds(&CREATE_WEB_PUBLIC_CHANNEL), INSUFFICIENT),
        ],
        |_| create_channel(json!({"is_web_public": true})),
    ),
    Action::organization(
        "`POST /channels/create` with `is_default_stream`",
        &[NOT_A_GUEST, (Holds(&CREATE_PUBLIC_CHANNEL), INSUFFICIENT), (Administrator, NOT_ADMINISTRATOR)],
        |_| create_channel(json!({"is_default_stream": true})),
    ),
    Action::organization(
        "`POST /channels/create` with `message_retention_days`",
        &[NOT_A_GUEST, (Holds(&CREATE_PUBLIC_CHANNEL), INSUFFICIENT), (Owner, NOT_OWNER)],
        |_| create_channel(json!({"message_retention_days": 30})),
    ),
    Action::organization(
        "`POST /channels/create` with `topics_policy`",
        &[
            NOT_A_GUEST,
            (Holds(&CREATE_PUBLIC_CHANNEL), INSUFFICIENT),
            (Holds(&SET_TOPICS_POLICY), INSUFFICIENT),
        ],
        |_| create_channel(json!({"topics_policy": "disable_empty_topic"})),
    ),
    Action::organization(
        "`POST /users/me/subscriptions` to a channel that is not there",
        CHANNEL_CREATORS,
        |_| post("/users/me/subscriptions", json!({"subscriptions": [{"name": "new"}]})),
    ),
    Action::organization("`POST /default_stream_groups/create`", DEFAULT_CHANNEL_KEEPERS, |_| {
        let parameters = json!({"group_name": "New", "description": "", "stream_names": ["other"]});
        post("/default_stream_groups/create", parameters)
    }),
    Action::organization("`PATCH /default_stream_groups/{group_id}`", DEFAULT_CHANNEL_KEEPERS, |case| {
        let path = format!("/default_stream_groups/{}", case.things().default_stream_group);
        patch(path, json!({"new_description": "New"}))
    }),
    Action::organization(
        "`PATCH /default_stream_groups/{group_id}/streams`",
        DEFAULT_CHANNEL_KEEPERS,
        |case| {
            let path = format!("/default_stream_groups/{}/streams", case.things().default_stream_group);
            patch(path, json!({"op": "add", "stream_names": ["square"]}))
        },
    ),
    Action::organization("`DELETE /default_stream_groups/{group_id}`", DEFAULT_CHANNEL_KEEPERS, |case| {
        delete(format!("/default_stream_groups/{}", case.things().default_stream_group), json!({}))
    }),
];
