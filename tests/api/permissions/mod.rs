//! Permissions of all operations that change data. Each is tried by all kinds of users, on every kind of channel, and
//! with several values of the group settings of its rule. The rules in `actions` define the expectations and generate
//! the page `docs/permissions.md`. After a change of a rule, `.ci/bless` updates the page.

mod actions;
mod audited;
mod organization;
mod others;
mod page;
mod people;
mod rules;
mod settings;

use crate::harness::generated::assert_generated;
use crate::harness::{Answer, Client, Fetched, Registered, TestServer, budget};
use actions::{Action, Scope};
use futures_util::StreamExt;
use organization::{Case, Organization, session_secret};
use people::{Change, ChannelKind, Relation, Situation, Who};
use reqwest::Method;
use rules::{Door, INVALID_KEY, NOT_LOGGED_IN, Refusal, judge, judge_at};
use serde_json::json;
use settings::{Holders, Setting};
use std::collections::{BTreeMap, BTreeSet};
use teamchat::domain::groups::permission::RealmGroup;
use teamchat::domain::groups::permission::StreamSetting;
use teamchat::domain::groups::permission::UserGroupSetting;
use teamchat::http::{Found, Router};

/// Actions that are tried side by side, each on a server of its own.
const AT_ONCE: usize = 4;

/// Tests that share the actions, so that they run side by side.
const PARTS: usize = 4;

#[test]
fn permissions_page_matches_the_rules() {
    assert_generated("docs/permissions.md", &page::write());
}

// conformance: auth-22, delete-15, edit-23
#[tokio::test]
async fn permissions_follow_the_rules_1() {
    try_part(0).await;
}

#[tokio::test]
async fn permissions_follow_the_rules_2() {
    try_part(1).await;
}

#[tokio::test]
async fn permissions_follow_the_rules_3() {
    try_part(2).await;
}

#[tokio::test]
async fn permissions_follow_the_rules_4() {
    try_part(3).await;
}

/// Settings of which nothing here depends: of the plan and of summaries, which this server does not have.
const WITHOUT_USE: [&str; 2] = ["can_manage_billing_group", "can_summarize_topics_group"];

/// Every action has its own name, and every group setting is named by a rule.
#[test]
fn names_are_unique_and_no_setting_is_forgotten() {
    let mut names = BTreeSet::new();
    let mut settings = BTreeSet::new();
    for action in actions::all() {
        assert!(names.insert(action.name), "twice: {}", action.name);
        let of_action = settings_of(action).into_iter().chain(access_settings_of(action));
        settings.extend(of_action.map(|setting| (format!("{:?}", setting.of), setting.name)));
    }
    let in_organization = RealmGroup::ALL.iter().map(|setting| ("Organization", setting.name()));
    let in_channels = StreamSetting::ALL.iter().map(|setting| ("Channel", setting.name()));
    let in_groups = UserGroupSetting::ALL.iter().map(|setting| ("Group", setting.name()));
    let all: BTreeSet<_> = in_organization
        .chain(in_channels)
        .chain(in_groups)
        .filter(|(_, name)| !WITHOUT_USE.contains(name))
        .map(|(of, name)| (of.to_owned(), name))
        .collect();
    assert_eq!(settings, all, "settings that rules name, and those of the interface");
}

/// The settings that the rule of an action names.
fn settings_of(action: &Action) -> Vec<&'static Setting> {
    let mut settings: Vec<&'static Setting> = Vec::new();
    for setting in action.rule.iter().flat_map(|(condition, _)| condition.settings()) {
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    settings
}

/// Settings that affect an action only through read access.
fn access_settings_of(action: &Action) -> Vec<&'static Setting> {
    let named = settings_of(action);
    let mut settings: Vec<&'static Setting> = Vec::new();
    for setting in action.rule.iter().flat_map(|(condition, _)| condition.access_settings()) {
        if !named.contains(&setting) && !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    settings
}

/// Situations of an action: those of the page, and for each value of each setting of its rule those with an account, on
/// channels that differ by it. If a setting only grants access, it is tried by users outside a private channel.
fn tries(action: &Action) -> Vec<(Option<Change>, Vec<Situation>)> {
    let all = page::situations(action.scope);
    let mut tries = vec![(None, all.clone())];
    for setting in access_settings_of(action) {
        for value in [Holders::Members, Holders::Named] {
            let change = Some((setting, value));
            let concerned = all
                .iter()
                .filter(|s| !matches!(s.who, Who::Deactivated | Who::Outsider))
                .filter(|s| s.kind.is_private() && s.relation != Relation::In)
                .map(|situation| Situation { change, ..*situation });
            tries.push((change, concerned.collect()));
        }
    }
    for setting in settings_of(action) {
        for value in setting.others {
            let change = Some((setting, *value));
            let concerned = all
                .iter()
                .filter(|s| !matches!(s.who, Who::Deactivated | Who::Outsider))
                .filter(|s| !matches!(s.kind, ChannelKind::WebPublic | ChannelKind::Archived))
                .map(|situation| Situation { change, ..*situation });
            tries.push((change, concerned.collect()));
        }
    }
    tries
}

/// Tries every fourth action with all users.
async fn try_part(part: usize) {
    let organization = Organization::make().await;
    let actions: Vec<_> = actions::all().skip(part).step_by(PARTS).collect();
    let wrong: Vec<String> = futures_util::stream::iter(actions)
        .map(|action| try_all(&organization, action))
        .buffered(AT_ONCE)
        .flat_map(futures_util::stream::iter)
        .collect()
        .await;
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Actions tried through one entry point only, because restoring the file does not undo them: queues are also in
/// memory.
const DONE_ONCE: [&str; 1] = ["`DELETE /events`"];

/// Tries an action with all users. Returns deviations from the rule. Each attempt is undone before the next one.
async fn try_all(organization: &Organization, action: &'static Action) -> Vec<String> {
    let server = organization.server().await;
    let made = server.copy();
    let mut wrong = Vec::new();
    let is_full = budget() > 1;
    let mut is_changed = false;
    for (change, situations) in tries(action) {
        if let Some(change) = change {
            server.restore(&made).await;
            organization.change(&server, change).await;
            is_changed = false;
        }
        let start = server.copy();
        let situations = situations.into_iter().enumerate().flat_map(|(number, situation)| {
            // A setting does not depend on the way in. Of the others a third, which differs by action, is tried with a
            // session too; with a larger budget all are.
            let has_session = change.is_none() && (is_full || (number + action.name.len()).is_multiple_of(3));
            let doors: &[Door] = if has_session { &[Door::Key, Door::Session] } else { &[Door::Key] };
            doors.iter().map(move |door| (*door, situation))
        });
        for (door, situation) in situations {
            let expected = judge_at(door, action, &situation);
            if door == Door::Session && expected.is_ok() && DONE_ONCE.contains(&action.name) {
                continue;
            }
            if is_changed {
                server.restore(&start).await;
            }
            let case = Case { organization, situation };
            let request = (action.request)(&case);
            let caller = match door {
                Door::Key => organization.caller(&server, &situation),
                Door::Session => organization.caller_in_browser(&server, &situation),
            };
            let answer = request.send(&caller).await;
            if !is_as_expected(&answer, expected, &case) {
                wrong.push(format!("{door:?}: {}", describe(action, &situation, expected, &answer)));
            }
            is_changed = answer.status == 200;
        }
    }
    wrong
}

/// Entry points with the credential of another one.
#[derive(Clone, Copy, Debug)]
enum WrongDoor {
    /// The API key as the session's cookie, with the token that belongs to it.
    KeyAsSession,
    /// The secret of the session as an API key.
    SessionAsKey,
    /// The API key in the query string.
    KeyInQuery,
    /// The session's cookie below `/api/v1`.
    SessionBelowApi,
    /// The header with the API key below `/json`.
    KeyBelowJson,
}

impl WrongDoor {
    const ALL: [Self; 5] =
        [Self::KeyAsSession, Self::SessionAsKey, Self::KeyInQuery, Self::SessionBelowApi, Self::KeyBelowJson];

    fn request(self, caller: &Client, method: Method, path: &str) -> crate::harness::Request {
        let key = caller.api_key.clone().unwrap_or_default();
        let secret = session_secret(caller.user_id);
        let anonymous = caller.in_browser(None);
        match self {
            Self::KeyAsSession => caller.in_browser(Some(key)).request(method, path),
            Self::SessionAsKey => caller.with_key(&secret).request(method, path),
            Self::KeyInQuery => anonymous.request_outside(method, &format!("/api/v1{path}?api_key={key}")),
            Self::SessionBelowApi => {
                caller.in_browser(Some(secret)).request_outside(method, &format!("/api/v1{path}"))
            }
            Self::KeyBelowJson => caller.request_outside(method, &format!("/json{path}")),
        }
    }

    fn refusal(self) -> Refusal {
        if let Self::SessionAsKey = self { INVALID_KEY } else { NOT_LOGGED_IN }
    }
}

/// A credential of one entry point is refused at the others, for every user and operation.
// conformance: auth-24, auth-31
#[tokio::test]
async fn no_credential_opens_another_door() {
    let organization = Organization::make().await;
    let server = organization.server().await;
    let mut wrong = Vec::new();
    for action in actions::all() {
        // Many refusals of one address would be refused for that.
        server.app().rate_limiter.clear();
        for who in Who::ALL.into_iter().filter(|who| *who != Who::Outsider) {
            let situation =
                Situation { who, relation: Relation::In, kind: ChannelKind::Public, change: None };
            let case = Case { organization: &organization, situation };
            for door in WrongDoor::ALL {
                let request = (action.request)(&case);
                let caller = organization.caller(&server, &situation);
                let answer = door.request(&caller, request.method, &request.path).send().await;
                // Below `/json` these are strangers, who may be visitors.
                let is_visit = action.is_for_visitors
                    && matches!(door, WrongDoor::KeyAsSession | WrongDoor::KeyBelowJson);
                if is_visit && answer.status == 200 && answer["queue_id"].is_null() {
                    continue;
                }
                if !is_as_expected(&answer, Err(door.refusal()), &case) {
                    wrong.push(format!(
                        "{door:?}: {}",
                        describe(action, &situation, Err(door.refusal()), &answer)
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The other entry points: the URL of a webhook accepts the keys of users and of bots of its kind, and the login page
/// accepts passwords of people.
// conformance: auth-31
#[tokio::test]
async fn webhook_urls_and_the_login_page_admit_the_right_callers() {
    let organization = Organization::make().await;
    let server = organization.server().await;
    server.app().rate_limiter.clear();
    let hash = teamchat::domain::users::passwords::hash_quickly("correct horse").unwrap();
    server.sql(&format!("UPDATE user SET password_hash = '{hash}' WHERE NOT is_system_bot")).await;
    for who in Who::ALL.into_iter().filter(|who| *who != Who::Outsider) {
        let situation = Situation { who, relation: Relation::In, kind: ChannelKind::Public, change: None };
        let caller = organization.caller(&server, &situation);
        let key = caller.api_key.clone().unwrap();
        let path = format!("/api/v1/external/json?api_key={key}&stream={}", ChannelKind::Public.name());
        let anonymous = server.anonymous();
        let hook = anonymous.request_outside(Method::POST, &path).body("application/json", "{}").send().await;
        let login = json!({"username": caller.email, "password": "correct horse"});
        let login = anonymous.request_outside(Method::POST, "/accounts/login/").form(login).send().await;
        let code = |answer: &Answer| answer["code"].as_str().unwrap_or_default().to_owned();
        let expected = match who {
            Who::Deactivated => ((401, "USER_DEACTIVATED"), (401, "USER_DEACTIVATED")),
            Who::Bot | Who::WebhookBot => ((200, ""), (401, "AUTHENTICATION_FAILED")),
            _ => ((200, ""), (200, "")),
        };
        let found = ((hook.status, code(&hook)), (login.status, code(&login)));
        let found = ((found.0.0, found.0.1.as_str()), (found.1.0, found.1.1.as_str()));
        assert_eq!(found, expected, "{who:?}: {hook} {login}");
    }
}

fn is_as_expected(answer: &Answer, expected: Result<(), Refusal>, case: &Case<'_>) -> bool {
    match expected {
        Ok(()) => answer.status == 200 && answer["result"] == "success",
        Err(Refusal { status, code, msg }) => {
            let msg = msg
                .replace("{id}", &case.channel().to_string())
                .replace("{name}", case.channel_name())
                .replace("{queue}", &case.things().queue);
            (answer.status, &answer["code"], &answer["msg"]) == (status, &code.into(), &msg.into())
        }
    }
}

fn describe(
    action: &Action,
    situation: &Situation,
    expected: Result<(), Refusal>,
    answer: &Answer,
) -> String {
    let Situation { who, relation, kind, change } = situation;
    let change = change.map(|(setting, value)| format!(", {} = {}", setting.name, value.title()));
    let place = match action.scope {
        Scope::Organization => String::new(),
        Scope::Channel => format!(", {}, {}", kind.title(), relation.title()),
    };
    let expected = expected.map_or_else(|refusal| refusal.msg, |()| "yes");
    let found = if answer.status == 200 { "yes".into() } else { answer["msg"].clone() };
    format!(
        "{}: {}{place}{}: by rule {expected:?}, by the server {} {found}",
        action.name,
        who.title(),
        change.unwrap_or_default(),
        answer.status,
    )
}

/// Routes that no role decides about, with the reason. [`others`] tries them, too.
const NOT_FOR_ROLES: &[(&str, &str)] = &[
    ("/fetch_api_key", "the password decides"),
    ("/dev_fetch_api_key", "only servers for development have it, for everybody"),
    ("/accounts/login/", "the password decides"),
    ("/accounts/logout/", "whoever has a session ends it"),
    ("/accounts/confirm_new_email/{key}", "the link decides"),
    ("/accounts/find/", "the letter goes to the owner of the address"),
    ("/accounts/home/", "the letter goes to the owner of the address"),
    ("/accounts/password/reset/", "the letter goes to the owner of the address"),
    ("/accounts/unsubscribe/{kind}/{key}", "the link decides"),
    ("/register/", "the letter goes to the owner of the address"),
    ("/join/{key}/", "the link decides"),
    ("/join/password/{key}/", "the link decides"),
    ("/external/{integration}", "the bot's key in the address decides"),
    ("/users/me/android_gcm_reg_id", "an app registers its own phone"),
    ("/users/me/apns_device_token", "an app registers its own phone"),
    ("/mobile_push/register", "no encrypted notifications are sent to phones"),
    ("/mobile_push/e2ee/test_notification", "no encrypted notifications are sent to phones"),
    ("/mobile_push/test_notification", "it is for the phones of the caller"),
    ("/export/realm", "an archive is written in the background: tests/api/exports.rs"),
    ("/calls/zoom/create", "no provider of calls is configured"),
    ("/users/me/web_push", "whoever has a session subscribes its browser"),
    ("/zcommand", "its one command changes nothing"),
];

/// Every operation that changes something is on the page.
#[tokio::test]
async fn nothing_is_missing_on_the_page() {
    let organization = Organization::make().await;
    let router = Router::new(teamchat::api::routes()).unwrap();
    let tried = by_route(&organization, &router);
    let missing: Vec<_> = router
        .routes()
        .iter()
        .filter(|route| route.method != "GET")
        .filter(|route| NOT_FOR_ROLES.iter().all(|(path, _)| *path != route.path))
        .filter(|route| !tried.contains_key(&(route.method.as_str(), route.path)))
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    assert!(
        missing.is_empty(),
        "no action in tests/api/permissions/actions, which docs/permissions.md is written from: {missing:#?}"
    );
}

/// The actions of each route.
fn by_route<'r>(
    organization: &Organization,
    router: &'r Router,
) -> BTreeMap<(&'r str, &'r str), Vec<&'static Action>> {
    let situation =
        Situation { who: Who::Owner, relation: Relation::In, kind: ChannelKind::Public, change: None };
    let case = Case { organization, situation };
    let mut by_route: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for action in actions::all() {
        let request = (action.request)(&case);
        let path = format!("/api/v1{}", request.path);
        let Found::Route(route, _) = router.find(&request.method, &path) else {
            panic!("{} leads nowhere: {path}", action.name);
        };
        by_route.entry((route.method.as_str(), route.path)).or_default().push(action);
    }
    by_route
}

/// Not compared, because clients cannot read the state afterwards: the organization is deactivated.
const NOT_COMPARED: (&str, &str) = ("POST", "/realm/deactivate");

/// Performs every operation that changes data with a permitted user, and compares the state updated by events with a
/// new registration. The actions are those of the page, without exception. Each of the four tests covers a part of the
/// routes.
#[tokio::test]
async fn events_of_all_operations_reproduce_state_1() {
    compare_events_and_state(0).await;
}

#[tokio::test]
async fn events_of_all_operations_reproduce_state_2() {
    compare_events_and_state(1).await;
}

#[tokio::test]
async fn events_of_all_operations_reproduce_state_3() {
    compare_events_and_state(2).await;
}

#[tokio::test]
async fn events_of_all_operations_reproduce_state_4() {
    compare_events_and_state(3).await;
}

async fn compare_events_and_state(part: usize) {
    let organization = Organization::make().await;
    let server = organization.server().await;
    let registered = Registered::of_each(&watching(&organization, &server).each_ref()).await;
    let fetched: Vec<Fetched> = registered.into_iter().map(Registered::into_fetched).collect();
    drop(server);
    let router = Router::new(teamchat::api::routes()).unwrap();
    let chosen = by_route(&organization, &router)
        .into_iter()
        .filter(|(route, _)| *route != NOT_COMPARED)
        .skip(part)
        .step_by(PARTS);
    let never_done: Vec<_> = futures_util::stream::iter(chosen)
        .map(async |(route, actions)| {
            let mut is_done = false;
            for action in actions {
                is_done |= do_once(&organization, action, &fetched).await;
            }
            (!is_done).then_some(route)
        })
        .buffered(AT_ONCE)
        .filter_map(std::future::ready)
        .collect()
        .await;
    assert!(never_done.is_empty(), "operations that nobody could do: {never_done:?}");
}

/// Users of several kinds, who watch the operations at a server.
fn watching(organization: &Organization, server: &TestServer) -> [Client; 4] {
    let watching = [
        (Who::Administrator, Relation::Never),
        (Who::NewMember, Relation::In),
        (Who::Moderator, Relation::Never),
        (Who::Guest, Relation::In),
    ];
    watching.map(|(who, relation)| {
        let situation = Situation { who, relation, kind: ChannelKind::Public, change: None };
        organization.caller(server, &situation)
    })
}

/// Performs an action as the first permitted user, watched by users who have fetched this. Returns false if no user is permitted.
async fn do_once(organization: &Organization, action: &Action, fetched: &[Fetched]) -> bool {
    let callers = [Who::Owner, Who::FullMember, Who::Maker, Who::Bot].into_iter().flat_map(|who| {
        let kinds = [ChannelKind::Public, ChannelKind::PrivateShared, ChannelKind::Archived];
        kinds.into_iter().flat_map(move |kind| {
            [Relation::In, Relation::Never].map(|relation| Situation { who, relation, kind, change: None })
        })
    });
    let may = |situation: &Situation| judge(action.rule, action.is_for_webhooks, situation).is_ok();
    let Some(situation) = callers.into_iter().find(may) else { return false };
    let server = organization.server().await;
    let registered = Registered::of_each_again(&watching(organization, &server).each_ref(), fetched).await;
    let caller = organization.caller(&server, &situation);
    let request = (action.request)(&Case { organization, situation });
    let answer = request.send(&caller).await;
    for one in registered {
        one.check().await;
    }
    assert_eq!(answer.status, 200, "{}: {answer}", action.name);
    true
}
