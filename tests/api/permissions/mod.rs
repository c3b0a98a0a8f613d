//! Who may do what: every operation that changes something, tried by everybody, on every kind of channel, and with the
//! group settings that its rule names at other values. The rules of `actions` say what is expected, and write the page
//! of the documentation, `docs/permissions.md`. After a change of a rule write it again and read what changed:
//!
//! ```sh
//! WRITE_DOCS=1 cargo test --test api permissions
//! ```

mod actions;
mod organization;
mod others;
mod page;
mod people;
mod rules;
mod settings;

use crate::harness::{Answer, Client};
use actions::{Action, Scope};
use futures_util::StreamExt;
use organization::{Case, Organization, session_secret};
use people::{Change, ChannelKind, Relation, Situation, Who};
use reqwest::Method;
use rules::{Door, INVALID_KEY, NOT_LOGGED_IN, Refusal, judge, judge_at};
use serde_json::json;
use settings::{Holders, Setting};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use teamchat::domain::groups::channel_settings::StreamSetting;
use teamchat::domain::groups::permission::UserGroupSetting;
use teamchat::domain::groups::realm_settings::RealmGroup;
use teamchat::http::{Found, Router};

/// Actions that are tried side by side, each on a server of its own.
const AT_ONCE: usize = 4;

/// Tests that share the actions, so that they run side by side.
const PARTS: usize = 4;

#[test]
fn the_page_says_what_the_rules_say() {
    let page = page::write();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/permissions.md");
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(written.lines()).find(|(found, written)| found != written);
    assert_eq!(differs, None, "the rules, and the page; see the head of tests/api/permissions/mod.rs");
    assert_eq!(page.len(), written.len(), "the page is longer or shorter than it should be");
}

// conformance: auth-22, delete-15, edit-23
#[tokio::test]
async fn everybody_may_what_the_rules_say_1() {
    try_part(0).await;
}

#[tokio::test]
async fn everybody_may_what_the_rules_say_2() {
    try_part(1).await;
}

#[tokio::test]
async fn everybody_may_what_the_rules_say_3() {
    try_part(2).await;
}

#[tokio::test]
async fn everybody_may_what_the_rules_say_4() {
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

/// The settings on which an action depends only by what they let people read.
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

/// What an action is tried with: the situations of the page, and for each value of each setting that its rule names
/// those with an account, of channels that differ by it. Where a setting only lets people in, it is tried by those who
/// are not in a private channel.
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

/// Tries every fourth action as everybody.
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

/// What is done through one door only, because going back to the file does not undo it: queues are in memory too.
const DONE_ONCE: [&str; 1] = ["`DELETE /events`"];

/// Tries an action as everybody, and answers where the server does not do as the rule says. What was done is undone
/// before the next one.
async fn try_all(organization: &Organization, action: &'static Action) -> Vec<String> {
    let server = organization.server().await;
    let made = server.copy();
    let mut wrong = Vec::new();
    for (change, situations) in tries(action) {
        if let Some(change) = change {
            server.restore(&made).await;
            organization.change(&server, change).await;
        }
        let start = server.copy();
        let situations = situations.into_iter().flat_map(|situation| {
            // A setting does not depend on the way in.
            let doors: &[Door] = if change.is_none() { &[Door::Key, Door::Session] } else { &[Door::Key] };
            doors.iter().map(move |door| (*door, situation))
        });
        for (door, situation) in situations {
            let expected = judge_at(door, action.rule, action.is_for_webhooks, &situation);
            if door == Door::Session && expected.is_ok() && DONE_ONCE.contains(&action.name) {
                continue;
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
            if answer.status == 200 {
                server.restore(&start).await;
            }
        }
    }
    wrong
}

/// The ways in that are none: what is right for another one.
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
        let nobody = caller.in_browser(None);
        match self {
            Self::KeyAsSession => caller.in_browser(Some(key)).request(method, path),
            Self::SessionAsKey => caller.with_key(&secret).request(method, path),
            Self::KeyInQuery => nobody.request_outside(method, &format!("/api/v1{path}?api_key={key}")),
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

/// Nobody comes in with the credential of another way in, whoever they are and whatever they want.
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

/// The other two ways in: a webhook's address takes the key of everybody who may use the interface and of bots of its kind,
/// and the login page takes passwords of people.
// conformance: auth-31
#[tokio::test]
async fn addresses_of_webhooks_and_the_login_page_know_who_may_come_in() {
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
        let nobody = server.anonymous();
        let hook = nobody.request_outside(Method::POST, &path).body("application/json", "{}").send().await;
        let login = json!({"username": caller.email, "password": "correct horse"});
        let login = nobody.request_outside(Method::POST, "/accounts/login/").form(login).send().await;
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

/// Every operation that changes something is on the page.
#[tokio::test]
async fn nothing_is_missing_on_the_page() {
    // Routes that no role decides about, with the reason.
    const NOT_FOR_ROLES: &[(&str, &str)] = &[
        ("/fetch_api_key", "the password decides"),
        ("/dev_fetch_api_key", "only servers for development have it, for everybody"),
        ("/accounts/login/", "the password decides"),
        ("/accounts/logout/", "whoever has a session ends it"),
        ("/join/{key}/", "the link decides"),
        ("/join/password/{key}/", "the link decides"),
        ("/external/{integration}", "the bot's key in the address decides"),
        ("/users/me/android_gcm_reg_id", "nothing is pushed, so nothing is kept"),
        ("/users/me/apns_device_token", "nothing is pushed, so nothing is kept"),
        ("/mobile_push/register", "nothing is pushed, so nothing is kept"),
        ("/mobile_push/e2ee/test_notification", "nothing is pushed"),
        ("/mobile_push/test_notification", "nothing is pushed"),
        ("/export/realm", "nothing is exported"),
        ("/export/realm/{export_id}", "nothing is exported"),
        ("/calls/zoom/create", "no provider of calls is configured"),
        ("/zcommand", "its one command changes nothing"),
    ];
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
    assert!(missing.is_empty(), "not on the page: {missing:#?}");
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

/// What a client does not survive, so that nobody could compare: the organization is closed.
const NOT_COMPARED: (&str, &str) = ("POST", "/realm/deactivate");

/// Every operation that changes something is done by somebody who may, and what the events tell is the state. The
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
    let chosen = by_route(&organization, &router)
        .into_iter()
        .filter(|(route, _)| *route != NOT_COMPARED)
        .skip(part)
        .step_by(PARTS);
    let never_done: Vec<_> = futures_util::stream::iter(chosen)
        .map(async |(route, actions)| {
            let mut is_done = false;
            for action in actions {
                is_done |= do_once(&organization, action).await;
            }
            (!is_done).then_some(route)
        })
        .buffered(AT_ONCE)
        .filter_map(std::future::ready)
        .collect()
        .await;
    assert!(never_done.is_empty(), "operations that nobody could do: {never_done:?}");
}

/// Does an action as the first who may do it, watched by people of every kind who do nothing themselves.
/// Returns whether anybody may.
async fn do_once(organization: &Organization, action: &Action) -> bool {
    let callers = [Who::Owner, Who::FullMember, Who::Maker, Who::Bot].into_iter().flat_map(|who| {
        let kinds = [ChannelKind::Public, ChannelKind::PrivateShared, ChannelKind::Archived];
        kinds.into_iter().flat_map(move |kind| {
            [Relation::In, Relation::Never].map(|relation| Situation { who, relation, kind, change: None })
        })
    });
    let may = |situation: &Situation| judge(action.rule, action.is_for_webhooks, situation).is_ok();
    let Some(situation) = callers.into_iter().find(may) else { return false };
    let server = organization.server().await;
    let watching = [
        (Who::Administrator, Relation::Never),
        (Who::NewMember, Relation::In),
        (Who::Moderator, Relation::Never),
        (Who::Guest, Relation::In),
    ];
    let watching = watching
        .map(|(who, relation)| organization.caller(&server, &Situation { who, relation, ..situation }));
    let watching: Vec<&Client> = watching.iter().collect();
    let caller = organization.caller(&server, &situation);
    let request = (action.request)(&Case { organization, situation });
    let answer = server.check_state_sync(&watching, async || request.send(&caller).await).await;
    assert_eq!(answer.status, 200, "{}: {answer}", action.name);
    true
}
