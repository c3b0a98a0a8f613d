//! Who may do what: every operation that changes something, tried by everybody, on every kind of channel. The result is
//! a page of the documentation, `docs/permissions.md`; the test fails when the page and the server disagree. After a
//! change that is meant, write the page again and read what changed:
//!
//! ```sh
//! WRITE_DOCS=1 cargo test --test api permissions
//! ```

mod actions;
mod organization;
mod page;

use crate::harness::Client;
use crate::harness::pictures::png;
use actions::{ACTIONS, Action, Scope};
use futures_util::StreamExt;
use organization::{Case, ChannelKind, Organization, Request, Who};
use page::Outcome;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use teamchat::http::{Found, Router};

/// Actions that are tried side by side, each on servers of its own.
const AT_ONCE: usize = 4;

// conformance: auth-22, delete-15, edit-23
#[tokio::test]
async fn the_page_of_permissions_is_true() {
    let organization = Organization::make().await;
    let tried: Vec<_> = futures_util::stream::iter(ACTIONS)
        .map(|action| try_all(&organization, action))
        .buffered(AT_ONCE)
        .collect()
        .await;
    let page = page::write(&tried);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/permissions.md");
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(written.lines()).find(|(found, written)| found != written);
    assert_eq!(
        differs, None,
        "the server's line, and the page's; see the head of tests/api/permissions/mod.rs"
    );
    assert_eq!(page.len(), written.len(), "the page is longer or shorter than it should be");
}

/// Every operation that changes something is on the page.
#[tokio::test]
async fn nothing_is_missing_on_the_page() {
    // Who calls these is not somebody with a role: whoever logs in, opens a page, or runs a command. The others change
    // nothing, since they are of services that are not configured.
    const NOT_FOR_ROLES: &[&str] = &[
        "/fetch_api_key",
        "/dev_fetch_api_key",
        "/accounts/login/",
        "/accounts/logout/",
        "/join/{key}/",
        "/join/password/{key}/",
        "/external/{integration}",
        "/users/me/android_gcm_reg_id",
        "/users/me/apns_device_token",
        "/mobile_push/register",
        "/mobile_push/e2ee/test_notification",
        "/mobile_push/test_notification",
        "/export/realm",
        "/export/realm/{export_id}",
        "/calls/zoom/create",
        "/zcommand",
    ];
    let organization = Organization::make().await;
    let case =
        Case { organization: &organization, who: Who::Owner, subscribed: true, kind: ChannelKind::Public };
    let router = Router::new(teamchat::api::routes()).unwrap();
    let mut tried = BTreeSet::new();
    for action in ACTIONS {
        let request = (action.request)(&case);
        let path = format!("/api/v1{}", request.path);
        let Found::Route(route, _) = router.find(&request.method, &path) else {
            panic!("{} leads nowhere: {path}", action.name);
        };
        tried.insert((route.method.as_str(), route.path));
    }
    let missing: Vec<_> = router
        .routes()
        .iter()
        .filter(|route| !matches!(route.method.as_str(), "GET" | "HEAD"))
        .filter(|route| !NOT_FOR_ROLES.contains(&route.path))
        .filter(|route| !tried.contains(&(route.method.as_str(), route.path)))
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    assert!(missing.is_empty(), "not on the page: {missing:#?}");
}

/// What a client does not survive, so that nobody could compare: the organization is closed.
const NOT_COMPARED: &[&str] = &["`POST /realm/deactivate`"];

/// Actions on the page that nobody may do, because they name what is not there or not the caller's. Other actions try the
/// same routes, or tests of their own do.
const NEVER_DONE: &[(&str, &str)] = &[
    ("DELETE", "/attachments/{attachment_id}"),
    ("DELETE", "/drafts/{draft_id}"),
    ("DELETE", "/events"),
    ("DELETE", "/invites/{invite_id}"),
    ("DELETE", "/messages/{message_id}/reactions"),
    ("DELETE", "/navigation_views/{fragment...}"),
    ("DELETE", "/reminders/{reminder_id}"),
    ("DELETE", "/saved_snippets/{saved_snippet_id}"),
    ("DELETE", "/scheduled_messages/{scheduled_message_id}"),
    ("DELETE", "/users/me/api_keys/{api_key_id}"),
    ("DELETE", "/users/me/muted_users/{muted_user_id}"),
    ("PATCH", "/drafts/{draft_id}"),
    ("PATCH", "/navigation_views/{fragment...}"),
    ("PATCH", "/saved_snippets/{saved_snippet_id}"),
    ("PATCH", "/scheduled_messages/{scheduled_message_id}"),
    ("POST", "/invites/{invite_id}/resend"),
    ("POST", "/messages/{message_id}/report"),
    ("POST", "/submessage"),
];

/// Every operation that changes something is done once by somebody who may, and what the events tell is the state. The
/// actions are those of the page, of which none is missing. Each of the four tests has a part of the routes.
#[tokio::test]
async fn what_every_operation_changes_is_told_1() {
    compare_events_and_state(0).await;
}

#[tokio::test]
async fn what_every_operation_changes_is_told_2() {
    compare_events_and_state(1).await;
}

#[tokio::test]
async fn what_every_operation_changes_is_told_3() {
    compare_events_and_state(2).await;
}

#[tokio::test]
async fn what_every_operation_changes_is_told_4() {
    compare_events_and_state(3).await;
}

async fn compare_events_and_state(part: usize) {
    let organization = Organization::make().await;
    let router = Router::new(teamchat::api::routes()).unwrap();
    let any =
        Case { organization: &organization, who: Who::Owner, subscribed: true, kind: ChannelKind::Public };
    let mut by_route: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for action in ACTIONS.iter().filter(|action| !NOT_COMPARED.contains(&action.name)) {
        let request = (action.request)(&any);
        let path = format!("/api/v1{}", request.path);
        match router.find(&request.method, &path) {
            Found::Route(route, _) => {
                by_route.entry((route.method.as_str(), route.path)).or_default().push(action);
            }
            _ => panic!("{} leads nowhere: {path}", action.name),
        }
    }
    let chosen: Vec<_> = by_route.into_iter().skip(part).step_by(4).collect();
    let never_done: Vec<_> = futures_util::stream::iter(&chosen)
        .map(async |(route, actions)| {
            let mut is_done = false;
            for action in actions {
                is_done |= do_once(&organization, action).await;
            }
            (!is_done).then_some(*route)
        })
        .buffered(AT_ONCE)
        .filter_map(std::future::ready)
        .collect()
        .await;
    let expected: Vec<_> =
        chosen.iter().map(|(route, _)| *route).filter(|route| NEVER_DONE.contains(route)).collect();
    assert_eq!(never_done, expected, "operations that nobody could do");
}

/// Does an action as the first who may do it, watched by people of every kind who do nothing themselves.
/// Returns whether anybody could.
async fn do_once(organization: &Organization, action: &Action) -> bool {
    let server = organization.server().await;
    let person = |who, subscribed| {
        organization.caller(&server, &Case { organization, who, subscribed, kind: ChannelKind::Public })
    };
    let watching = [
        person(Who::Administrator, false),
        person(Who::NewMember, true),
        person(Who::Moderator, false),
        person(Who::Guest, true),
    ];
    let watching: Vec<&Client> = watching.iter().collect();
    let image = png(8, 8);
    let callers =
        [Who::Owner, Who::FullMember, Who::Bot].into_iter().flat_map(|who| [(who, true), (who, false)]);
    for (who, subscribed) in callers {
        for kind in [ChannelKind::Public, ChannelKind::PrivateShared] {
            let case = Case { organization, who, subscribed, kind };
            let caller = organization.caller(&server, &case);
            let Request { method, path, parameters, with_image } = (action.request)(&case);
            let answer = server
                .check_state_sync(&watching, async || {
                    let request = caller.request(method, &path);
                    let request = if with_image {
                        request.multipart(parameters, &[("file", "image.png", &image)])
                    } else {
                        request.form(parameters)
                    };
                    request.send().await
                })
                .await;
            if answer.status == 200 {
                return true;
            }
        }
    }
    false
}

/// An action with what it answered, for each case in the order of [`cases`].
pub struct Tried {
    pub action: &'static Action,
    pub outcomes: Vec<Outcome>,
}

/// The cases of an action, row by row.
pub fn cases(organization: &Organization, scope: Scope) -> Vec<Case<'_>> {
    let rows: Vec<(ChannelKind, bool)> = match scope {
        Scope::Organization => vec![(ChannelKind::Public, true)],
        Scope::Channel => {
            ChannelKind::ALL.into_iter().flat_map(|kind| [(kind, true), (kind, false)]).collect()
        }
    };
    let case = |(kind, subscribed)| Who::ALL.map(|who| Case { organization, who, subscribed, kind });
    rows.into_iter().flat_map(case).collect()
}

/// Tries an action as everybody. What was allowed may have changed something, so the next one gets a new server.
async fn try_all(organization: &Organization, action: &'static Action) -> Tried {
    let mut outcomes = Vec::new();
    let image = png(8, 8);
    let mut server = organization.server().await;
    for case in cases(organization, action.scope) {
        let caller = organization.caller(&server, &case);
        let Request { method, path, parameters, with_image } = (action.request)(&case);
        let request = caller.request(method, &path);
        let request = if with_image {
            request.multipart(parameters, &[("file", "image.png", &image)])
        } else {
            request.form(parameters)
        };
        let answer = request.send().await;
        let outcome = Outcome::of(&answer, &case);
        if outcome == Outcome::Allowed {
            server = organization.server().await;
        }
        outcomes.push(outcome);
    }
    Tried { action, outcomes }
}
