//! Operations that change data leave an entry in the audit log, except for those listed here with the reason.

use super::organization::{Case, Organization};
use super::people::{ChannelKind, Relation, Situation, Who};
use super::rules::judge;
use super::{AT_ONCE, Action, by_route};
use futures_util::StreamExt;
use teamchat::http::Router;

/// Routes without an entry, by the reason.
const WITHOUT_ENTRY: &[(&str, &[&str])] = &[
    (
        "what a user writes has its author, its time and its history in the conversation",
        &[
            "POST /messages",
            "PATCH /messages/{message_id}",
            "POST /messages/{message_id}/reactions",
            "DELETE /messages/{message_id}/reactions",
            "POST /messages/{message_id}/typing",
            "POST /submessage",
            "POST /typing",
            "POST /external/{integration}",
            "POST /messages/{message_id}/report",
            "POST /realm/test_welcome_bot_custom_message",
            "POST /user_uploads",
        ],
    ),
    (
        "only the caller's own state",
        &[
            "POST /users/me/alert_words",
            "DELETE /users/me/alert_words",
            "PUT /bot_storage",
            "DELETE /bot_storage",
            "POST /drafts",
            "PATCH /drafts/{draft_id}",
            "DELETE /drafts/{draft_id}",
            "POST /mark_all_as_read",
            "POST /mark_stream_as_read",
            "POST /mark_topic_as_read",
            "POST /messages/flags",
            "POST /messages/flags/narrow",
            "POST /users/me/muted_users/{muted_user_id}",
            "DELETE /users/me/muted_users/{muted_user_id}",
            "POST /navigation_views",
            "PATCH /navigation_views/{fragment...}",
            "DELETE /navigation_views/{fragment...}",
            "POST /users/me/onboarding_steps",
            "POST /users/me/presence",
            "POST /users/me/status",
            "POST /users/{user_id}/status",
            "PATCH /users/me/profile_data",
            "DELETE /users/me/profile_data",
            "POST /reminders",
            "DELETE /reminders/{reminder_id}",
            "POST /saved_snippets",
            "PATCH /saved_snippets/{saved_snippet_id}",
            "DELETE /saved_snippets/{saved_snippet_id}",
            "POST /scheduled_messages",
            "PATCH /scheduled_messages/{scheduled_message_id}",
            "DELETE /scheduled_messages/{scheduled_message_id}",
            "POST /user_topics",
            "PATCH /users/me/subscriptions/muted_topics",
            "POST /users/me/subscriptions/properties",
            "PATCH /users/me/subscriptions/{stream_id}",
            "PATCH /settings",
            "PATCH /settings/display",
            "PATCH /settings/notifications",
            "PATCH /users/me/subscriptions",
            "POST /users/me/avatar",
            "DELETE /users/me/avatar",
            "DELETE /attachments/{attachment_id}",
            "POST /users/me/web_push",
            "DELETE /users/me/web_push",
        ],
    ),
    ("the order of a list in displays", &["PATCH /realm/profile_fields", "PATCH /channel_folders"]),
    ("event queues are no data", &["POST /register", "DELETE /events"]),
    ("nothing is stored", &["POST /messages/render", "POST /zcommand", "POST /calls/zoom/create"]),
    (
        "nothing is pushed or exported",
        &[
            "POST /export/realm",
            "DELETE /export/realm/{export_id}",
            "POST /mobile_push/register",
            "POST /mobile_push/test_notification",
            "POST /mobile_push/e2ee/test_notification",
            "POST /users/me/android_gcm_reg_id",
            "DELETE /users/me/android_gcm_reg_id",
            "POST /users/me/apns_device_token",
            "DELETE /users/me/apns_device_token",
        ],
    ),
    (
        "without effect on the channel of this test; the tests of `audit_log` cover it",
        &["DELETE /default_streams"],
    ),
    (
        "no role decides about them; the tests of `audit_log` and `mail` cover them",
        &[
            "POST /accounts/confirm_new_email/{key}",
            "POST /fetch_api_key",
            "POST /dev_fetch_api_key",
            "POST /accounts/login/",
            "POST /accounts/logout/",
            "POST /join/{key}/",
            "POST /join/password/{key}/",
        ],
    ),
    (
        "they queue letters, or change a setting of the owner of the link",
        &[
            "POST /accounts/find/",
            "POST /accounts/home/",
            "POST /accounts/password/reset/",
            "POST /accounts/unsubscribe/{kind}/{key}",
            "POST /register/",
        ],
    ),
];

/// Performs an action as the first permitted user. Returns whether it left an entry with its author and address.
async fn leaves_entry(organization: &Organization, action: &Action) -> bool {
    let callers = [Who::Owner, Who::FullMember, Who::Maker, Who::Bot].into_iter().flat_map(|who| {
        let kinds = [ChannelKind::Public, ChannelKind::PrivateShared, ChannelKind::Archived];
        kinds.into_iter().flat_map(move |kind| {
            [Relation::In, Relation::Never].map(|relation| Situation { who, relation, kind, change: None })
        })
    });
    for situation in callers {
        if judge(action.rule, action.is_for_webhooks, &situation).is_err() {
            continue;
        }
        let server = organization.server().await;
        let last = server.column("SELECT coalesce(max(id), 0) FROM audit_entry").await;
        let caller = organization.caller(&server, &situation);
        (action.request)(&Case { organization, situation }).send(&caller).await.ok();
        let entries = format!(
            "SELECT count(*) FROM audit_entry
             WHERE id > {} AND actor = 'user' AND actor_id = {} AND address = '127.0.0.1'",
            last[0], caller.user_id
        );
        return server.column(&entries).await[0] != "0";
    }
    false
}

#[tokio::test]
async fn operations_leave_an_entry_in_the_audit_log_unless_listed() {
    let organization = Organization::make().await;
    let router = Router::new(teamchat::api::routes()).unwrap();
    let listed = |route: &str| WITHOUT_ENTRY.iter().any(|(_, routes)| routes.contains(&route));
    let by_route = by_route(&organization, &router);
    let unknown: Vec<String> = router
        .routes()
        .iter()
        .filter(|route| route.method != "GET")
        .filter(|route| !by_route.contains_key(&(route.method.as_str(), route.path)))
        .map(|route| format!("{} {}", route.method, route.path))
        .filter(|route| !listed(route))
        .collect();
    assert!(unknown.is_empty(), "neither tried nor listed: {unknown:#?}");
    let chosen = by_route.into_iter().filter(|((method, _), _)| *method != "GET");
    let wrong: Vec<String> = futures_util::stream::iter(chosen)
        .map(async |((method, path), actions)| {
            let route = format!("{method} {path}");
            let mut has_entry = false;
            for action in actions {
                has_entry |= leaves_entry(&organization, action).await;
            }
            (!has_entry && !listed(&route)).then_some(route)
        })
        .buffered(AT_ONCE)
        .filter_map(std::future::ready)
        .collect()
        .await;
    assert!(wrong.is_empty(), "without an entry: {wrong:#?}");
}

#[test]
fn listed_routes_exist() {
    let routes = teamchat::api::routes();
    let exists = |route: &str| routes.iter().any(|known| format!("{} {}", known.method, known.path) == route);
    let gone: Vec<&&str> =
        WITHOUT_ENTRY.iter().flat_map(|(_, routes)| *routes).filter(|route| !exists(route)).collect();
    assert!(gone.is_empty(), "no routes: {gone:?}");
}
