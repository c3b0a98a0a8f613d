//! Owners of the rows that an operation changes: the caller, and other users only as listed in [`CHANGED`]. A refused
//! operation changes nothing. All operations of the page and all tables of the file are covered, so a new one must be
//! added here.

use super::organization::{Case, Organization, session_secret};
use super::people::{ChannelKind, Relation, Situation, Who};
use super::{Action, NOT_COMPARED, NOT_FOR_ROLES, Scope, by_route};
use crate::harness::{Client, Request, TestServer};
use futures_util::StreamExt;
use reqwest::Method;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use teamchat::http::Router;
use teamchat::store::StoreError;

mod expected;

use expected::CHANGED;

/// Owners of rows, if not the only user that the row references.
const OWNERS: &[(&str, &str)] = &[
    ("user", "user_id"),
    ("bot", "user_id"),
    ("muted_user", "user_id"),
    ("channel_email", "asker_id"),
    ("password_reset", "user_id"),
    ("read_chunk", "user_id"),
    ("api_key_use", "(SELECT user_id FROM api_key WHERE id = api_key_id)"),
    ("session_use", "(SELECT user_id FROM session WHERE id = session_id)"),
    ("realm_export", "acting_user_id"),
    ("push_notification", "(SELECT user_id FROM push_subscription WHERE id = subscription_id)"),
    ("missed_message", "(SELECT user_id FROM missed_batch WHERE id = batch_id)"),
    ("message_topic_link", "(SELECT sender_id FROM message WHERE id = message_id)"),
    ("thumbnail", "(SELECT user_id FROM attachment WHERE id = attachment_id)"),
    ("attachment_message", "(SELECT user_id FROM attachment WHERE id = attachment_id)"),
    ("attachment_scheduled_message", "(SELECT user_id FROM attachment WHERE id = attachment_id)"),
];

/// Tables whose rows have no owner.
const NOBODYS: &[&str] = &[
    "arrival",
    // Names users by ids without references.
    "audit_entry",
    "client",
    "code_playground",
    "counter",
    "default_stream",
    "default_stream_group",
    "default_stream_group_stream",
    "dummy_email_domain",
    "event",
    "event_audience",
    // Names users by ids without references.
    "follow_up",
    "group_setting",
    "linkifier",
    "mail_setup",
    // Follows from the names of people, channels and groups.
    "name_skeleton",
    // Names people by ids without references.
    "notice_budget",
    "profile_field",
    "public_image",
    "push_key",
    "realm",
    "realm_domain",
    "realm_setting",
    "realm_user_setting_default",
    "retired_word",
    // Names messages by ids without references.
    "search_backlog",
    "search_purge",
    "search_word",
    "topic",
    "upload_piece",
    "upload_state",
    "user_group_subgroup",
];

/// Each table with an SQL expression for the owner of a row.
fn owners(connection: &Connection) -> Vec<(String, String)> {
    let tables = "SELECT t.name, group_concat(k.\"from\") FROM pragma_table_list t
         LEFT JOIN pragma_foreign_key_list(t.name) k ON k.\"table\" = 'user'
         WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%' GROUP BY t.name";
    let mut statement = connection.prepare(tables).unwrap();
    let tables = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap);
    let tables: Vec<(String, Option<String>)> = tables.collect();
    let (mut owners, mut unclear) = (Vec::new(), Vec::<String>::new());
    for (table, references) in tables {
        let named = OWNERS.iter().find(|(name, _)| *name == table).map(|(_, owner)| (*owner).to_owned());
        let one = references.filter(|columns| !columns.contains(','));
        match (named.or(one), NOBODYS.contains(&table.as_str())) {
            (Some(owner), false) => owners.push((table, owner)),
            (None, true) => {}
            _ => unclear.push(table),
        }
    }
    assert!(
        unclear.is_empty(),
        "either OWNERS or NOBODYS of this file has to name each of these: {unclear:?}"
    );
    owners
}

/// Each table whose rows have owners, with the statement that reads its rows, each after its owner.
fn owned_tables(server: &TestServer) -> Vec<(String, String)> {
    let read = server.app().readers.read_now(|snapshot| Ok::<_, StoreError>(owners(snapshot)));
    let statement = |(table, owner): (String, String)| {
        let statement = format!("SELECT {owner}, * FROM \"{table}\"");
        (table, statement)
    };
    read.unwrap().into_iter().map(statement).collect()
}

/// Digests of all rows of a table, by owner.
type Digests<'t> = BTreeMap<(&'t str, i64), u64>;

fn digests<'t>(server: &TestServer, tables: &'t [(String, String)]) -> Digests<'t> {
    let read = server.app().readers.read_now(|snapshot| -> Result<Digests<'t>, StoreError> {
        let mut digests = Digests::new();
        for (table, statement) in tables {
            let mut of_table: BTreeMap<i64, u64> = BTreeMap::new();
            let mut statement = snapshot.prepare_cached(statement)?;
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let mut hasher = DefaultHasher::new();
                for column in 1..columns {
                    match row.get_ref(column)? {
                        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.hash(&mut hasher),
                        ValueRef::Integer(number) => number.hash(&mut hasher),
                        other => format!("{other:?}").hash(&mut hasher),
                    }
                }
                let digest = of_table.entry(row.get::<_, Option<i64>>(0)?.unwrap_or(0)).or_default();
                *digest = digest.wrapping_add(hasher.finish());
            }
            digests.extend(of_table.into_iter().map(|(owner, digest)| ((table.as_str(), owner), digest)));
        }
        Ok(digests)
    });
    read.unwrap()
}

/// The tables in which rows of people differ who are not among these, and not the server's own bots.
fn changed<'t>(before: &Digests<'t>, after: &Digests<'t>, but: &BTreeSet<i64>) -> BTreeSet<&'t str> {
    if before == after {
        return BTreeSet::new();
    }
    let differ = before.iter().chain(after).filter(|(key, _)| before.get(*key) != after.get(*key));
    let others = differ.filter(|((_, owner), _)| !but.contains(owner));
    others.map(|((table, _), _)| *table).collect()
}

/// All users with an account, with and without a relation to the channel.
fn situations(action: &Action) -> Vec<Situation> {
    let kinds: &[ChannelKind] = match action.scope {
        Scope::Organization => &[ChannelKind::Public],
        Scope::Channel => &[ChannelKind::Public, ChannelKind::PrivateShared, ChannelKind::PrivateProtected],
    };
    let callers = Who::ALL.into_iter().filter(|who| !matches!(who, Who::Deactivated | Who::Outsider));
    callers
        .flat_map(|who| {
            kinds.iter().map(move |kind| Situation { who, relation: Relation::In, kind: *kind, change: None })
        })
        .collect()
}

/// Performs an action as every user. Returns the tables of others that it changed, and unexpected changes by refused
/// callers.
async fn do_as_everybody(
    organization: &Organization,
    action: &'static Action,
    allowed: &BTreeSet<&str>,
) -> (BTreeSet<String>, Vec<String>) {
    let server = organization.server().await;
    let tables = owned_tables(&server);
    let (start, before) = (server.copy(), digests(&server, &tables));
    let system_bots = server.column("SELECT user_id FROM user WHERE is_system_bot").await;
    let (mut found, mut wrong) = (BTreeSet::new(), Vec::new());
    for situation in situations(action) {
        let caller: Client = organization.caller(&server, &situation);
        let request = (action.request)(&Case { organization, situation });
        let answer = request.send(&caller).await;
        let after = digests(&server, &tables);
        let bots = format!("SELECT user_id FROM user WHERE bot_owner_id = {}", caller.user_id);
        let own = server.column(&bots).await;
        let own = own.iter().chain(&system_bots).map(|id| id.parse().unwrap());
        // Rows without an owner have the id 0.
        let own: BTreeSet<i64> = own.chain([caller.user_id, 0]).collect();
        let changed = changed(&before, &after, &own);
        let surprising: Vec<_> = if answer.status == 200 {
            changed.iter().copied().filter(|table| !allowed.contains(table)).collect()
        } else {
            changed.iter().copied().collect()
        };
        if !surprising.is_empty() {
            wrong.push(format!(
                "{} as {}: {surprising:?} of others, {answer}",
                action.name,
                situation.who.title()
            ));
        }
        found.extend(changed.into_iter().map(str::to_owned));
        if before != after || answer.status == 200 {
            server.restore(&start).await;
        }
    }
    (found, wrong)
}

/// Tests that share the routes.
const PARTS: usize = 3;

async fn compare_part(part: usize) {
    let organization = Organization::make().await;
    let router = Router::new(teamchat::api::routes()).unwrap();
    let by_route = by_route(&organization, &router);
    let chosen = by_route.into_iter().filter(|(route, _)| *route != NOT_COMPARED).skip(part).step_by(PARTS);
    let wrong: Vec<String> = futures_util::stream::iter(chosen)
        .map(async |(route, actions)| {
            let lines = CHANGED.iter().filter(|(method, path, ..)| (*method, *path) == route);
            let allowed: BTreeSet<&str> =
                lines.flat_map(|(_, _, tables, _)| tables.iter().copied()).collect();
            let (mut found, mut wrong) = (BTreeSet::new(), Vec::new());
            for action in actions {
                let (of_action, more) = do_as_everybody(&organization, action, &allowed).await;
                found.extend(of_action);
                wrong.extend(more);
            }
            let idle: Vec<_> = allowed.into_iter().filter(|table| !found.contains(*table)).collect();
            if !idle.is_empty() {
                wrong.push(format!("{route:?} changes nothing of others in {idle:?}"));
            }
            wrong
        })
        .buffered(super::AT_ONCE)
        .flat_map(futures_util::stream::iter)
        .collect()
        .await;
    assert!(wrong.is_empty(), "{} surprises:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn rows_of_others_stay_as_they_are_1() {
    compare_part(0).await;
}

#[tokio::test]
async fn rows_of_others_stay_as_they_are_2() {
    compare_part(1).await;
}

#[tokio::test]
async fn rows_of_others_stay_as_they_are_3() {
    compare_part(2).await;
}

/// The public key of a browser: a point of P-256.
const POINT: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";

/// Requests to a route of [`NOT_FOR_ROLES`], with credentials of a user.
fn without_a_rule(server: &TestServer, path: &str, caller: &Client) -> Vec<Request> {
    let (anonymous, password) = (server.anonymous(), "correct horse");
    let login = json!({"username": caller.email, "password": password});
    let post = |form| vec![caller.request(Method::POST, path).form(form)];
    match path {
        "/fetch_api_key" => vec![anonymous.request(Method::POST, path).form(login)],
        "/dev_fetch_api_key" => post(json!({"username": caller.email})),
        "/accounts/login/" => vec![anonymous.request_outside(Method::POST, path).form(login)],
        "/accounts/logout/" => {
            let browser = caller.in_browser(Some(session_secret(caller.user_id)));
            vec![browser.request_outside(Method::POST, path)]
        }
        "/accounts/find/" | "/accounts/home/" | "/accounts/password/reset/" | "/register/" => {
            let form = json!({"email": caller.email, "emails": caller.email});
            vec![anonymous.request_outside(Method::POST, path).form(form)]
        }
        "/accounts/unsubscribe/{kind}/{key}" => {
            let path = "/accounts/unsubscribe/digest/abcdefghijklmnopqrstuvwx";
            vec![anonymous.request_outside(Method::POST, path).form(())]
        }
        "/join/{key}/" | "/join/password/{key}/" | "/accounts/confirm_new_email/{key}" => {
            let form = json!({"full_name": "New", "email": "new@example.com", "password": password});
            let path = path.replace("{key}", "abcdefghijklmnopqrstuvwx");
            vec![anonymous.request_outside(Method::POST, &path).form(form)]
        }
        "/external/{integration}" => {
            let (key, channel) = (caller.api_key.clone().unwrap_or_default(), ChannelKind::Public.name());
            let path = format!("/api/v1/external/json?api_key={key}&stream={channel}");
            vec![anonymous.request_outside(Method::POST, &path).body("application/json", "{}")]
        }
        "/users/me/android_gcm_reg_id" | "/users/me/apns_device_token" => {
            let form = json!({"token": "aaaa", "appid": "org.example"});
            [Method::POST, Method::DELETE].map(|method| caller.request(method, path).form(&form)).into()
        }
        "/users/me/web_push" => {
            let browser = caller.in_browser(Some(session_secret(caller.user_id)));
            let form = json!({"endpoint": "https://push.example/1", "p256dh": POINT, "auth": "BTBZMqHH6r4Tts7J_aSIgg"});
            [Method::POST, Method::DELETE].map(|method| browser.request(method, path).form(&form)).into()
        }
        "/zcommand" => post(json!({"command": "/ping"})),
        "/mobile_push/test_notification" => post(json!({})),
        _ => post(json!({"token": "aaaa"})),
    }
}

/// Operations without a rule change rows of the caller at most.
#[tokio::test]
async fn operations_without_a_rule_change_no_rows_of_others() {
    let organization = Organization::make().await;
    let server = organization.server().await;
    let hash = teamchat::domain::users::passwords::hash_quickly("correct horse").unwrap();
    server.sql(&format!("UPDATE user SET password_hash = '{hash}' WHERE NOT is_system_bot")).await;
    let start = server.copy();
    let tables = owned_tables(&server);
    let before = digests(&server, &tables);
    let system_bots = server.column("SELECT user_id FROM user WHERE is_system_bot").await;
    let system_bots: Vec<i64> = system_bots.iter().map(|id| id.parse().unwrap()).collect();
    let mut wrong = Vec::new();
    for (path, _) in NOT_FOR_ROLES {
        let mut was_done = false;
        for who in Who::ALL.into_iter().filter(|who| *who != Who::Outsider) {
            server.app().rate_limiter.clear();
            let situation =
                Situation { who, relation: Relation::In, kind: ChannelKind::Public, change: None };
            let caller = organization.caller(&server, &situation);
            for request in without_a_rule(&server, path, &caller) {
                let answer = request.send().await;
                let after = digests(&server, &tables);
                was_done |= answer.status == 200;
                let own = system_bots.iter().copied().chain([caller.user_id, 0]).collect();
                let changed = changed(&before, &after, &own);
                if !changed.is_empty() {
                    wrong.push(format!("{path} as {}: {changed:?} of others, {answer}", who.title()));
                }
                if before != after {
                    server.restore(&start).await;
                }
            }
        }
        assert_eq!(was_done, !NEVER_DONE.contains(path), "{path}");
    }
    assert!(wrong.is_empty(), "{} surprises:\n{}", wrong.len(), wrong.join("\n"));
}

/// Routes that need more than the test has, or that always fail.
const NEVER_DONE: &[&str] = &[
    "/accounts/home/",
    "/register/",
    "/accounts/confirm_new_email/{key}",
    "/dev_fetch_api_key",
    "/join/{key}/",
    "/join/password/{key}/",
    "/mobile_push/register",
    "/mobile_push/e2ee/test_notification",
    "/export/realm",
    "/calls/zoom/create",
];

#[tokio::test]
async fn each_line_names_a_route_and_tables() {
    let server = TestServer::start().await;
    let routes = teamchat::api::routes();
    let app = Arc::clone(server.app());
    let tables: Vec<String> = app
        .readers
        .read_now(|snapshot| {
            Ok::<_, StoreError>(owners(snapshot).into_iter().map(|(table, _)| table).collect())
        })
        .unwrap();
    for (method, path, changed, why) in CHANGED {
        let is_route = routes.iter().any(|route| route.method == *method && route.path == *path);
        assert!(is_route, "no route: {method} {path}");
        assert!(changed.iter().all(|table| tables.iter().any(|name| name == table)), "{path}: {changed:?}");
        assert!(!why.is_empty(), "{path}");
    }
}
