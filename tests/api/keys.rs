//! API keys: logging in, and getting rid of a key.

use crate::harness::{Answer, Blocked, Client, START, TestServer, until};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use teamchat::app::Options;
use teamchat::auth::Credential;
use teamchat::commands::Command;
use teamchat::domain::accounts::password;
use teamchat::domain::limits::MAX_API_KEYS;
use teamchat::domain::notices::security::PasswordSetBy;
use teamchat::domain::rows;
use teamchat::domain::users::passwords;
use teamchat::http::{ApiError, ApiResult};
use teamchat::store::Tx;
use teamchat::types::{Role, UserId};

async fn log_in(server: &TestServer, username: &str, password: &str) -> Answer {
    server.anonymous().post("/fetch_api_key", &[("username", username), ("password", password)]).await
}

async fn with_password(server: &TestServer) -> Client {
    server.user("ada", Role::Member, None, Some("correct horse")).await
}

const WRONG: &str = "Your username or password is incorrect";

// conformance: auth-15
#[tokio::test]
async fn a_password_opens_and_each_client_has_a_key_of_its_own() {
    let server = TestServer::start().await;
    let mut ada = with_password(&server).await;
    let first = log_in(&server, "ada@example.com", "correct horse").await.ok();
    let second = log_in(&server, " ADA@example.com ", "correct horse").await.ok();
    assert_ne!(first["api_key"], second["api_key"]);
    for answer in [first, second] {
        let key = answer["api_key"].as_str().unwrap().to_owned();
        let expected = json!({"result": "success", "msg": "", "api_key": key, "email": "ada@example.com", "user_id": ada.user_id});
        assert_eq!(answer, expected);
        ada.api_key = Some(key);
        ada.get("/users/me", ()).await.ok();
    }
    let clients = server.column("SELECT client FROM api_key ORDER BY id").await;
    assert_eq!(clients, ["command line", "teamchat-tests", "teamchat-tests"]);
}

// conformance: auth-16, auth-17, auth-18, auth-19
#[tokio::test]
async fn logging_in_fails_as_published() {
    let server = TestServer::start().await;
    let ada = with_password(&server).await;
    let bot = server.bot("helper", &ada).await;
    server.member("nokeyword").await;
    for (username, password) in [
        ("ada@example.com", "wrong"),
        ("ada@example.com", ""),
        ("nobody@example.com", "correct horse"),
        ("nokeyword@example.com", "correct horse"),
        (bot.email.as_str(), "correct horse"),
        ("", ""),
    ] {
        log_in(&server, username, password).await.error(401, "AUTHENTICATION_FAILED", WRONG);
    }
    let anonymous = server.anonymous();
    let answer = anonymous.post("/fetch_api_key", &[("username", "ada@example.com")]).await;
    answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'password' argument");
    let answer = anonymous.post("/fetch_api_key", &[("password", "x")]).await;
    answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'username' argument");

    server.sql("UPDATE user SET is_active = 0").await;
    let answer = log_in(&server, "ada@example.com", "correct horse").await;
    answer.error(401, "USER_DEACTIVATED", "Account is deactivated");
    server.sql("INSERT INTO realm_setting VALUES ('password_auth_enabled', 'false')").await;
    let answer = log_in(&server, "ada@example.com", "correct horse").await;
    answer.error(401, "PASSWORD_AUTH_DISABLED", "Password authentication is disabled in this organization");
}

// conformance: auth-20
#[tokio::test]
async fn five_wrong_passwords_in_half_an_hour_are_enough() {
    let server = TestServer::start().await;
    let ada = with_password(&server).await;
    for _ in 0..5 {
        log_in(&server, "ada@example.com", "wrong").await.error(401, "AUTHENTICATION_FAILED", WRONG);
    }
    server.clock.advance(60);
    let answer = log_in(&server, "Ada@example.com", "correct horse").await;
    assert_eq!(answer.header("retry-after"), "1740");
    let error = answer.error(429, "RATE_LIMIT_HIT", "API usage exceeded rate limit");
    assert_eq!(error["retry-after"], 1740.0);
    log_in(&server, "bob@example.com", "wrong").await.error(401, "AUTHENTICATION_FAILED", WRONG);
    ada.get("/users/me", ()).await.ok();
    server.clock.advance(1740);
    log_in(&server, "ada@example.com", "correct horse").await.ok();
}

/// Counted before they are judged: none slips through while another is being hashed.
// conformance: auth-20
#[tokio::test]
async fn concurrent_guesses_count_like_consecutive_ones() {
    let server = TestServer::start().await;
    let ada = with_password(&server).await;
    let guesses: Vec<String> = (0..61).map(|number| format!("guess {number}")).collect();
    let answers = join_all(guesses.iter().map(|guess| log_in(&server, "ada@example.com", guess))).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[401; 5].as_slice(), &[429; 56]].concat());
    assert_eq!(log_in(&server, "ada@example.com", "correct horse").await.status, 429);

    let bob = server.user("bob", Role::Member, None, Some("correct horse")).await;
    let guesses: Vec<_> = (0..20)
        .map(|number| json!({"new_password": "a new one", "old_password": format!("guess {number}")}))
        .collect();
    let answers = join_all(guesses.iter().map(|guess| bob.patch("/settings", guess))).await;
    let judged = answers.iter().filter(|answer| answer["msg"] == "Wrong password!").count();
    // Some are refused already because one user hashes few passwords at a time.
    let is_refused = |msg: &str| msg.contains("too many attempts") || msg == "API usage exceeded rate limit";
    let refused = answers.iter().filter(|answer| is_refused(answer["msg"].as_str().unwrap()));
    assert!((1..=5).contains(&judged), "{judged}");
    assert_eq!(judged + refused.count(), 20);
    ada.get("/users/me", ()).await.ok();
}

#[tokio::test]
async fn concurrent_right_passwords_succeed() {
    let server = TestServer::start().await;
    with_password(&server).await;
    let answers = join_all((0..12).map(|_| log_in(&server, "ada@example.com", "correct horse"))).await;
    for answer in answers {
        answer.ok();
    }
}

// conformance: auth-20
#[tokio::test]
async fn guesses_elsewhere_do_not_lock_known_addresses() {
    let trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    let server = TestServer::start_with(Options { trusted_proxies, ..Options::default() }).await;
    with_password(&server).await;
    let from = async |address: &str, password: &str| {
        let request = server.anonymous().request(Method::POST, "/fetch_api_key");
        let request = request.header("X-Forwarded-For", address);
        request.form(&[("username", "ada@example.com"), ("password", password)]).send().await.status
    };
    assert_eq!(from("198.51.100.1", "correct horse").await, 200);
    let mut judged = 0;
    for number in 0..10 {
        for _ in 0..5 {
            judged += u32::from(from(&format!("203.0.113.{number}"), "wrong").await == 401);
        }
    }
    assert_eq!(judged, 20);
    assert_eq!(from("203.0.113.200", "correct horse").await, 429);
    assert_eq!(from("198.51.100.1", "correct horse").await, 200);
    server.command(Command::UnlockUser { email: "Ada@example.com".to_owned() }).await;
    assert_eq!(from("203.0.113.200", "correct horse").await, 200);
}

// conformance: auth-17
#[tokio::test]
async fn a_name_that_no_account_can_have_is_refused_unread() {
    let server = TestServer::start().await;
    let long = format!("{}@example.com", "a".repeat(254));
    for _ in 0..10 {
        log_in(&server, &long, "x").await.error(401, "AUTHENTICATION_FAILED", WRONG);
    }
}

// conformance: auth-21
#[tokio::test]
async fn a_new_key_ends_all_others() {
    let server = TestServer::start().await;
    let mut ada = with_password(&server).await;
    let mut phone = ada.clone();
    let answer = log_in(&server, "ada@example.com", "correct horse").await.ok();
    phone.api_key = answer["api_key"].as_str().map(str::to_owned);
    let answer = phone.post("/users/me/api_key/regenerate", ()).await.ok();
    for old in [&ada, &phone] {
        old.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
    }
    ada.api_key = answer["api_key"].as_str().map(str::to_owned);
    ada.get("/users/me", ()).await.ok();
    assert_eq!(server.column("SELECT client FROM api_key").await, ["teamchat-tests"]);
}

// conformance: auth-27
#[tokio::test]
async fn people_list_and_end_their_keys() {
    let server = TestServer::start().await;
    let (ada, bob) = (with_password(&server).await, server.member("bob").await);
    server.clock.advance(60);
    let login = log_in(&server, "ada@example.com", "correct horse").await.ok();
    let mut phone = ada.clone();
    phone.api_key = login["api_key"].as_str().map(str::to_owned);
    teamchat::domain::logins::save_uses(server.app()).await.unwrap();
    let listed = ada.get("/users/me/api_keys", ()).await.ok();
    let keys = listed["api_keys"].as_array().unwrap();
    let (first, second) = (&keys[0], &keys[1]);
    let record =
        json!({"id": first["id"], "client": "command line", "date_created": START, "last_used": null});
    assert_eq!((&listed["sessions"], &listed["current_session_id"]), (&json!([]), &Value::Null));
    assert_eq!(*first, record, "{listed}");
    assert_eq!((&second["client"], &second["date_created"]), (&json!("teamchat-tests"), &json!(START + 60)));
    assert_eq!((keys.len(), &listed["current_api_key_id"]), (2, &first["id"]));
    // The first request of a key is stored, and then one in an hour.
    teamchat::domain::logins::save_uses(server.app()).await.unwrap();
    let last_used = async || server.column("SELECT last_used FROM api_key_use").await;
    assert_eq!(last_used().await, [(START + 60).to_string()]);
    for (seconds, expected) in [(3599, START + 60), (1, START + 3660)] {
        server.clock.advance(seconds);
        ada.get("/users/me", ()).await.ok();
        // Another save has begun, or failed.
        server.app().credential_cache.unsaved_uses();
        teamchat::domain::logins::save_uses(server.app()).await.unwrap();
        assert_eq!(last_used().await, [expected.to_string()]);
    }

    let path = format!("/users/me/api_keys/{}", second["id"]);
    bob.delete(&path, ()).await.error(400, "BAD_REQUEST", "API key does not exist");
    phone.get("/users/me", ()).await.ok();
    ada.delete(&path, ()).await.ok();
    phone.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
    ada.delete(&path, ()).await.error(400, "BAD_REQUEST", "API key does not exist");
    // This includes the key of the request.
    ada.delete(&format!("/users/me/api_keys/{}", first["id"]), ()).await.ok();
    ada.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
}

// conformance: auth-28
#[tokio::test]
async fn a_new_password_ends_the_other_keys() {
    let server = TestServer::start().await;
    let ada = with_password(&server).await;
    let mut thief = ada.clone();
    let stolen = log_in(&server, "ada@example.com", "correct horse").await.ok();
    thief.api_key = stolen["api_key"].as_str().map(str::to_owned);
    let change = json!({"old_password": "correct horse", "new_password": "battery staple"});
    ada.patch("/settings", change).await.ok();
    thief.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
    ada.get("/users/me", ()).await.ok();
}

/// Begins logins with the right password on both paths, from an address that is not known, calls `meanwhile` when the stored hash has been read and before it
/// is verified, and returns the answers.
async fn log_in_while(server: &TestServer, meanwhile: impl AsyncFnOnce()) -> Vec<Answer> {
    let blocked = Blocked::new(server.app(), |app| &app.pools.passwords).await;
    let before = server.app().pools.passwords.admitted();
    server.sql("DELETE FROM known_login").await;
    let mut logins = tokio::task::JoinSet::new();
    for path in ["/api/v1/fetch_api_key", "/accounts/login/"] {
        let form = json!({"username": "ada@example.com", "password": "correct horse"});
        let request = server.anonymous().request_outside(Method::POST, path).form(form);
        logins.spawn(request.send());
    }
    until(|| server.app().pools.passwords.admitted() == before + 2).await;
    meanwhile().await;
    blocked.end().await;
    logins.join_all().await
}

// conformance: auth-28
#[tokio::test]
async fn logins_overtaken_by_a_new_password_create_no_key() {
    let server = TestServer::start().await;
    let ada = with_password(&server).await;
    for answer in log_in_while(&server, async || ()).await {
        answer.ok();
    }
    let hash = passwords::hash("battery staple").unwrap();
    let answers = log_in_while(&server, async || {
        let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
            let user = rows::user::by_id(tx, UserId(ada.user_id))?
                .ok_or_else(|| ApiError::internal("ada has no row"))?;
            password::set(tx, &user, &hash, PasswordSetBy::Operator)
        };
        server.app().writer.run(job).await.unwrap();
    });
    for answer in answers.await {
        answer.error(401, "AUTHENTICATION_FAILED", WRONG);
    }
    assert_eq!(server.column("SELECT count(*) FROM api_key").await, ["0"]);
    log_in(&server, "ada@example.com", "battery staple").await.ok();
}

#[tokio::test]
async fn logins_overtaken_by_a_deactivation_create_no_key() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, with_password(&server).await);
    let newest = "SELECT max(id) FROM api_key";
    let before = server.column(newest).await;
    let path = format!("/users/{}", ada.user_id);
    let answers = log_in_while(&server, async || {
        owner.delete(&path, ()).await.ok();
    });
    for answer in answers.await {
        answer.error(401, "USER_DEACTIVATED", "Account is deactivated");
    }
    assert_eq!(server.column(newest).await, before);
    owner.post(&format!("{path}/reactivate"), ()).await.ok();
    let before = server.column(newest).await;
    let answers = log_in_while(&server, async || server.sql("UPDATE realm SET deactivated = 1").await).await;
    for answer in answers {
        answer.error(401, "REALM_DEACTIVATED", "This organization has been deactivated");
    }
    assert_eq!(server.column(newest).await, before);
}

// conformance: auth-29
#[tokio::test]
async fn a_job_asks_again_for_the_key_and_the_organization() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let reload = async |statement: &'static str| {
        let user_id = teamchat::types::UserId(ada.user_id);
        let job = move |tx: &mut teamchat::store::Tx<'_>| -> teamchat::http::ApiResult<()> {
            let mut caller = teamchat::domain::rows::user::caller(tx, user_id)?;
            let key = "SELECT id FROM api_key WHERE user_id = ?1";
            caller.credential = Credential::ApiKey(tx.query_row(key, [user_id], |row| row.get(0))?);
            caller.reload(tx)?;
            tx.execute(statement, ())?;
            caller.reload(tx)
        };
        server.app().writer.run(job).await.map_err(|error| {
            assert_eq!((error.status(), error.code()), (401, "UNAUTHORIZED"));
            error.msg().to_owned()
        })
    };
    assert_eq!(reload("UPDATE user SET role = 600 WHERE email = 'ada@example.com'").await, Ok(()));
    let gone =
        "DELETE FROM api_key WHERE user_id = (SELECT user_id FROM user WHERE email = 'ada@example.com')";
    assert_eq!(reload(gone).await, Err("Invalid API key".to_owned()));
    let closed = "This organization has been deactivated".to_owned();
    assert_eq!(reload("UPDATE realm SET deactivated = 1").await, Err(closed));
    let deactivated = "Account is deactivated".to_owned();
    assert_eq!(reload("UPDATE user SET is_active = 0 WHERE role = 600").await, Err(deactivated));
    owner.get("/users/me", ()).await.ok();
}

#[tokio::test]
async fn logins_beyond_the_limit_end_the_key_that_was_used_least_recently() {
    let server = TestServer::start().await;
    let ada = with_password(&server).await;
    let limit = MAX_API_KEYS;
    server
        .sql(&format!(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < {limit})
             INSERT INTO api_key (user_id, digest, client, date_created)
             SELECT {}, randomblob(32), 'old ' || number, {START} - 1000 + number FROM one",
            ada.user_id
        ))
        .await;
    log_in(&server, "ada@example.com", "correct horse").await.ok();
    let clients = server.column("SELECT client FROM api_key ORDER BY id").await;
    assert_eq!(clients.len(), limit);
    assert_eq!((clients[0].as_str(), clients[1].as_str()), ("command line", "old 3"));
    ada.get("/users/me", ()).await.ok();
}

/// A key outlives the session with which it was created, so its person is notified of it.
#[tokio::test]
async fn new_api_keys_are_reported() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let regenerated = ada.post("/users/me/api_key/regenerate", ()).await.ok();
    let ada = ada.with_key(regenerated["api_key"].as_str().unwrap());
    let (email, client) = (ada.email.clone(), "backup".to_owned());
    server.command(Command::CreateKey { email, client }).await;
    let expected = [
        "A new API key of your account was created, in the settings or by a program. All other devices and programs were \
         logged out. If this was not you, set a new password immediately, log out all other devices in your settings, and \
         inform an administrator.",
        "The operator of this server created an API key of your account for `backup`. Keys are listed in your settings, \
         where they can be revoked.",
    ];
    assert_eq!(ada.notices().await, expected);
    // Owners of bots receive an event about a new key.
    let bot = server.bot("helper", &ada).await;
    bot.post("/users/me/api_key/regenerate", ()).await.ok();
    server.command(Command::CreateKey { email: bot.email.clone(), client: "backup".to_owned() }).await;
    assert_eq!((ada.notices().await.len(), owner.notices().await.len()), (2, 0));
}
