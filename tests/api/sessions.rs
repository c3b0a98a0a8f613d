//! Sessions of browsers: lifetime, logout, caching, and notices of logins.

use crate::harness::{Answer, Blocked, Client, START, TestServer, cookies_of, until};
use reqwest::Method;
use serde_json::{Value, json};
use teamchat::app::Options;
use teamchat::commands::Command;
use teamchat::types::Role;

const DAY: i64 = 24 * 60 * 60;

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const CHROME: &str = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) \
                      Chrome/141.0.0.0 Mobile Safari/537.36";

/// A server behind a proxy, with client addresses from requests, and a person with a password.
async fn with_ada() -> (TestServer, Client) {
    let trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    let server = TestServer::start_with(Options { trusted_proxies, ..Options::default() }).await;
    let ada = server.user("ada", Role::Member, None, Some("correct horse")).await;
    (server, ada)
}

/// A login in a browser.
async fn log_in(server: &TestServer, browser: &str, address: &str, password: &str) -> Answer {
    let login = json!({"username": "ada@example.com", "password": password});
    let request = server.anonymous().request_outside(Method::POST, "/accounts/login/").form(login);
    request.header("User-Agent", browser).header("X-Forwarded-For", address).send().await
}

fn secret_of(answer: &Answer) -> String {
    let cookie = answer.header("set-cookie");
    let value = cookie.strip_prefix("teamchat_session=").unwrap();
    value.split(';').next().unwrap().to_owned()
}

/// Ada in a browser where she has just logged in.
async fn begin(server: &TestServer, ada: &Client, browser: &str, address: &str) -> Client {
    let answer = log_in(server, browser, address, "correct horse").await;
    let secret = secret_of(&answer);
    answer.ok();
    ada.in_browser(Some(secret))
}

async fn is_alive(browser: &Client) -> bool {
    browser.get("/users/me", ()).await.status == 200
}

// conformance: auth-23, auth-32
#[tokio::test]
async fn sessions_expire_thirty_days_after_their_last_use() {
    let (server, ada) = with_ada().await;
    let answer = log_in(&server, FIREFOX, "198.51.100.1", "correct horse").await;
    let cookies: Vec<&str> =
        answer.headers.get_all("set-cookie").iter().map(|c| c.to_str().unwrap()).collect();
    assert!(cookies.iter().all(|cookie| cookie.contains("; Max-Age=2592000;")), "{cookies:?}");
    let browser = ada.in_browser(Some(secret_of(&answer)));
    for day in 0..4 {
        let answer = browser.get("/users/me", ()).await;
        // Cookies are renewed from time to time for another thirty days.
        assert_eq!(answer.header("set-cookie"), cookies[0], "day {day}");
        assert_eq!(answer.header("cache-control"), "no-store");
        answer.ok();
        assert_eq!(browser.get("/users/me", ()).await.header("set-cookie"), "", "but not with each answer");
        server.clock.advance(29 * DAY);
    }
    server.clock.advance(DAY);
    let answer = browser.get("/users/me", ()).await;
    answer.error(401, "UNAUTHORIZED", "Not logged in: API authentication or user session required");
    assert_eq!(ada.get("/users/me/api_keys", ()).await.ok()["sessions"], json!([]));
}

/// No list shows them, so that a backup from elsewhere could hide an owner among them.
#[tokio::test]
async fn system_bots_have_no_credentials() {
    let (server, ada) = with_ada().await;
    let browser = begin(&server, &ada, FIREFOX, "198.51.100.1").await;
    assert!(is_alive(&browser).await);
    server.sql("UPDATE user SET is_system_bot = 1 WHERE email = 'ada@example.com'").await;
    assert!(!is_alive(&browser).await);
    ada.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
}

// conformance: auth-27, auth-33
#[tokio::test]
async fn people_see_and_end_their_sessions() {
    let (server, ada) = with_ada().await;
    let bob = server.member("bob").await;
    let laptop = begin(&server, &ada, FIREFOX, "198.51.100.1").await;
    server.clock.advance(60);
    let phone = begin(&server, &ada, CHROME, "2001:db8::1").await;
    let listed = laptop.get("/users/me/api_keys", ()).await.ok();
    let ids: Vec<Value> =
        listed["sessions"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    let expected = json!([
        {"id": ids[0], "client": "Firefox on Linux", "address": "198.51.100.1", "date_created": START,
            "last_used": START},
        {"id": ids[1], "client": "Chrome on Android", "address": "2001:db8::1", "date_created": START + 60,
            "last_used": START + 60},
    ]);
    assert_eq!(listed["sessions"], expected);
    assert_eq!((&listed["current_session_id"], &listed["current_api_key_id"]), (&ids[0], &Value::Null));
    assert_eq!(listed["api_keys"].as_array().unwrap().len(), 1);

    let path = format!("/users/me/sessions/{}", ids[1]);
    bob.delete(&path, ()).await.error(400, "BAD_REQUEST", "Session does not exist");
    laptop.delete(&path, ()).await.ok();
    assert!(!is_alive(&phone).await && is_alive(&laptop).await);
    laptop.delete(&path, ()).await.error(400, "BAD_REQUEST", "Session does not exist");

    // A use an hour later, elsewhere.
    server.clock.advance(3600);
    let request = laptop.request(Method::GET, "/users/me").header("X-Forwarded-For", "203.0.113.9");
    request.send().await.ok();
    teamchat::domain::logins::save_uses(server.app()).await.unwrap();
    let listed = ada.get("/users/me/api_keys", ()).await.ok();
    let session = &listed["sessions"][0];
    assert_eq!((&session["address"], &session["last_used"]), (&json!("203.0.113.9"), &json!(START + 3660)));
    assert_eq!(listed["current_session_id"], Value::Null);
}

// conformance: auth-28, auth-33
#[tokio::test]
async fn ending_keys_ends_sessions() {
    let (server, ada) = with_ada().await;
    let owner = server.owner().await;
    let session = async || begin(&server, &ada, FIREFOX, "198.51.100.1").await;

    let (kept, other) = (session().await, session().await);
    let change = json!({"old_password": "correct horse", "new_password": "battery staple"});
    kept.patch("/settings", change).await.ok();
    assert!(is_alive(&kept).await && !is_alive(&other).await && !is_alive(&ada).await);
    let back = json!({"old_password": "battery staple", "new_password": "correct horse"});
    kept.patch("/settings", back).await.ok();

    let other = session().await;
    let key = kept.post("/users/me/api_key/regenerate", ()).await.ok()["api_key"].clone();
    assert!(is_alive(&kept).await && !is_alive(&other).await);
    let ada = ada.with_key(key.as_str().unwrap());
    ada.post("/users/me/api_keys/revoke_others", ()).await.ok();
    assert!(!is_alive(&kept).await && is_alive(&ada).await);

    let in_browser = session().await;
    let email = || "ada@example.com".to_owned();
    server.command(Command::SetPassword { email: email(), password: "correct horse".to_owned() }).await;
    assert!(!is_alive(&in_browser).await && !is_alive(&ada).await);

    let in_browser = session().await;
    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    assert!(!is_alive(&in_browser).await);
    owner.post(&format!("/users/{}/reactivate", ada.user_id), ()).await.ok();
    assert!(!is_alive(&in_browser).await, "it does not come back with the account");
    let in_browser = session().await;
    server.command(Command::SetActive { email: email(), is_active: false }).await;
    server.command(Command::SetActive { email: email(), is_active: true }).await;
    assert!(!is_alive(&in_browser).await);
}

/// A poll that waits ends with its session.
// conformance: auth-33
#[tokio::test]
async fn a_session_that_ends_under_a_poll_takes_it_along() {
    let (server, ada) = with_ada().await;
    let (laptop, phone) = (
        begin(&server, &ada, FIREFOX, "198.51.100.1").await,
        begin(&server, &ada, CHROME, "198.51.100.1").await,
    );
    let mut queue = laptop.register(json!({"event_types": ["message"]})).await;
    queue.ignore();
    let waiting = queue.waiting_poll().await;
    let end_and_send = async {
        phone.post("/users/me/api_keys/revoke_others", ()).await.ok();
        phone.send_direct(&[&ada], "hello").await;
    };
    let (answer, ()) = tokio::join!(waiting, end_and_send);
    answer.error(401, "UNAUTHORIZED", "Not logged in: API authentication or user session required");
}

// conformance: auth-26, auth-34
#[tokio::test]
async fn logout_clears_the_browsers_cache() {
    let (server, ada) = with_ada().await;
    let upload = ada.request(Method::POST, "/user_uploads").multipart((), &[("file", "a.txt", b"secret")]);
    let url = upload.send().await.ok()["url"].as_str().unwrap().to_owned();
    let login = log_in(&server, FIREFOX, "198.51.100.1", "correct horse").await;
    assert_eq!(login.header("cache-control"), "no-store");
    let browser = ada.in_browser(Some(secret_of(&login)));

    // Files are kept, but asked about each time.
    let first = browser.request_outside(Method::GET, &url).send().await;
    assert_eq!((first.status, first.header("cache-control")), (200, "private, no-cache"));
    let etag = first.header("etag").to_owned();
    let again = || browser.request_outside(Method::GET, &url).header("If-None-Match", &etag).send();
    let second = again().await;
    assert_eq!((second.status, second.header("cache-control")), (304, "private, no-cache"));
    // A program with a key of its own needs not ask.
    let of_program = ada.request_outside(Method::GET, &url).send().await;
    assert_eq!(of_program.header("cache-control"), "private, immutable");

    let logout = browser.request_outside(Method::POST, "/accounts/logout/").send().await;
    assert_eq!(logout.header("cache-control"), "no-store");
    // Not "cookies", which belong to other programs on the host too, and not "storage": drafts and the web client's own
    // files stay.
    assert_eq!(logout.header("clear-site-data"), r#""cache""#);
    let cookies: Vec<&str> =
        logout.headers.get_all("set-cookie").iter().map(|c| c.to_str().unwrap()).collect();
    assert_eq!(cookies.len(), 2);
    assert!(cookies.iter().all(|cookie| cookie.contains("=; Path=/; Max-Age=0;")), "{cookies:?}");
    logout.ok();
    assert_eq!(again().await.status, 401);
}

/// The token against forged requests is derived from the secret of the session.
// conformance: auth-24, auth-25
#[tokio::test]
async fn keys_are_no_sessions_and_no_tokens() {
    let (server, ada) = with_ada().await;
    let key = ada.api_key.clone().unwrap();
    let in_browser = ada.in_browser(Some(key.clone()));
    let msg = "Not logged in: API authentication or user session required";
    in_browser.get("/users/me", ()).await.error(401, "UNAUTHORIZED", msg);
    in_browser.post("/drafts", json!({"drafts": []})).await.error(401, "UNAUTHORIZED", msg);
    let session = log_in(&server, FIREFOX, "198.51.100.1", "correct horse").await;
    let secret = secret_of(&session);
    let (cookies, _) = cookies_of(&secret);
    let (_, token) = cookies_of(&key);
    let forged = server.anonymous().request_outside(Method::POST, "/json/drafts");
    let forged = forged.header("Cookie", &cookies).header("X-CSRFToken", &token).send().await;
    forged.error(403, "CSRF_FAILED", "CSRF error: The token is missing or incorrect.");
    ada.with_key(&secret).get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
    // Cookies of the same names with which other programs on the host work.
    let other = server.anonymous().request_outside(Method::GET, "/json/users/me");
    let other = other.header("Cookie", &format!("sessionid={secret}; csrftoken=x")).send().await;
    other.error(401, "UNAUTHORIZED", msg);
}

// conformance: auth-20, auth-35
#[tokio::test]
async fn known_places_stay_unlocked_after_a_restart() {
    let (mut server, _ada) = with_ada().await;
    log_in(&server, FIREFOX, "198.51.100.1", "correct horse").await.ok();
    server.restart().await;
    let mut judged = 0;
    for number in 0..10 {
        for _ in 0..3 {
            let answer = log_in(&server, CHROME, &format!("203.0.113.{number}"), "wrong").await;
            judged += u32::from(answer.status == 401);
        }
    }
    assert_eq!(judged, 20);
    assert_eq!(log_in(&server, FIREFOX, "203.0.113.200", "correct horse").await.status, 429);
    log_in(&server, FIREFOX, "198.51.100.1", "correct horse").await.ok();
    // Not for ever.
    server.clock.advance(31 * DAY);
    for number in 0..20 {
        log_in(&server, CHROME, &format!("203.0.113.{number}"), "wrong").await;
    }
    assert_eq!(log_in(&server, FIREFOX, "198.51.100.1", "correct horse").await.status, 429);
}

/// A session that ended by itself leaves no row with an address, also without another login.
#[tokio::test]
async fn rows_of_ended_sessions_are_deleted() {
    let (server, ada) = with_ada().await;
    begin(&server, &ada, FIREFOX, "198.51.100.1").await;
    let used = begin(&server, &ada, CHROME, "198.51.100.2").await;
    let left = async || {
        teamchat::scheduler::settle(server.app()).await;
        server.column("SELECT address FROM session JOIN session_use ON session_id = id").await
    };
    server.clock.advance(20 * DAY);
    used.get("/users/me", ()).await.ok();
    server.clock.advance(10 * DAY);
    assert_eq!(left().await.len(), 2, "uses are recorded to the hour");
    server.clock.advance(60 * 60);
    assert_eq!(left().await, ["127.0.0.1"], "where the other was used last");
    server.clock.advance(20 * DAY);
    assert!(left().await.is_empty());
}

/// The addresses at which a person uses API keys are known, too. An address is written once a day.
// conformance: auth-35
#[tokio::test]
async fn addresses_of_api_keys_are_known() {
    let (server, ada) = with_ada().await;
    let use_key = async |client: &Client| {
        let request = client.request(Method::GET, "/users/me").header("X-Forwarded-For", "198.51.100.7");
        request.send().await.ok();
        teamchat::domain::logins::save_uses(server.app()).await.unwrap();
    };
    let rows = async || server.column("SELECT user_id || ' ' || last_used FROM known_login").await;
    use_key(&ada).await;
    let first = format!("{} {START}", ada.user_id);
    assert_eq!(rows().await, std::slice::from_ref(&first));
    server.clock.advance(2 * 60 * 60);
    use_key(&ada).await;
    assert_eq!(rows().await, [first], "not each hour");
    server.clock.advance(DAY);
    use_key(&ada).await;
    assert_eq!(rows().await, [format!("{} {}", ada.user_id, START + 2 * 60 * 60 + DAY)]);
    let bot = server.bot("helper", &ada).await;
    use_key(&bot).await;
    assert_eq!(rows().await.len(), 1, "bots have no logins");
    for number in 0..20 {
        log_in(&server, CHROME, &format!("203.0.113.{number}"), "wrong").await;
    }
    assert_eq!(log_in(&server, FIREFOX, "203.0.113.200", "correct horse").await.status, 429);
    log_in(&server, FIREFOX, "198.51.100.7", "correct horse").await.ok();
}

/// A key that is used at two addresses in turn makes both known.
#[tokio::test]
async fn each_address_of_a_key_is_recorded() {
    let (server, ada) = with_ada().await;
    for _ in 0..3 {
        for address in ["198.51.100.7", "198.51.100.8"] {
            ada.request(Method::GET, "/users/me").header("X-Forwarded-For", address).send().await.ok();
        }
    }
    teamchat::domain::logins::save_uses(server.app()).await.unwrap();
    assert_eq!(server.column("SELECT count(*) FROM known_login").await, ["2"]);
}

/// Clients choose their names: many of them at one address do not displace others.
#[tokio::test]
async fn many_clients_at_one_address_displace_no_other_address() {
    let (server, _ada) = with_ada().await;
    log_in(&server, FIREFOX, "198.51.100.1", "correct horse").await.ok();
    for number in 0..40 {
        server.clock.advance(60);
        let fields = json!({"username": "ada@example.com", "password": "correct horse"});
        let request = server.anonymous().request(Method::POST, "/fetch_api_key").form(fields);
        let request = request.header("User-Agent", &format!("Agent{number}/1.0"));
        request.header("X-Forwarded-For", "203.0.113.1").send().await.ok();
    }
    let counts = "SELECT count(*) FROM known_login GROUP BY address ORDER BY min(last_used)";
    assert_eq!(server.column(counts).await, ["1", "8"]);
}

#[tokio::test]
async fn the_operator_unlocks_an_account() {
    let (server, ada) = with_ada().await;
    for number in 0..20 {
        log_in(&server, CHROME, &format!("203.0.113.{number}"), "wrong").await;
    }
    assert_eq!(log_in(&server, FIREFOX, "203.0.113.200", "correct horse").await.status, 429);
    server.command(Command::UnlockUser { email: ada.email.clone() }).await;
    log_in(&server, FIREFOX, "203.0.113.200", "correct horse").await.ok();
}

/// Places are a few for each person.
// conformance: auth-35
#[tokio::test]
async fn the_latest_places_are_remembered() {
    let (server, _ada) = with_ada().await;
    for number in 0..40 {
        server.clock.advance(60);
        log_in(&server, FIREFOX, &format!("198.51.100.{number}"), "correct horse").await.ok();
    }
    assert_eq!(server.column("SELECT count(*) FROM known_login").await, ["32"]);
    let texts = server.column("SELECT typeof(address) || length(address) FROM known_login").await;
    assert!(texts.iter().all(|text| text == "blob16"), "{texts:?}");
}

// conformance: auth-35
#[tokio::test]
async fn a_flood_of_guesses_keeps_no_known_login_waiting() {
    let (server, _ada) = with_ada().await;
    log_in(&server, FIREFOX, "198.51.100.1", "correct horse").await.ok();
    let blocked = Blocked::new(server.app(), |app| &app.pools.passwords).await;
    let before = server.app().pools.passwords.admitted();
    let guesses = async { log_in(&server, CHROME, "203.0.113.1", "wrong").await };
    let known = async {
        until(|| server.app().pools.passwords.admitted() == before + 1).await;
        let answer = log_in(&server, FIREFOX, "198.51.100.1", "correct horse").await;
        blocked.end().await;
        answer
    };
    let (guess, known) = tokio::join!(guesses, known);
    assert_eq!(guess.status, 401);
    known.ok();
}

// conformance: auth-36
#[tokio::test]
async fn logins_from_new_places_are_reported() {
    let (server, ada) = with_ada().await;
    log_in(&server, FIREFOX, "198.51.100.1", "correct horse").await.ok();
    log_in(&server, FIREFOX, "198.51.100.1", "correct horse").await.ok();
    assert_eq!(
        ada.notices().await,
        Vec::<String>::new(),
        "the first is expected, and the second from there too"
    );
    server.clock.advance(60);
    log_in(&server, "evil**@**all**", "203.0.113.1", "correct horse").await.ok();
    let notices = ada.notices().await;
    assert_eq!(notices.len(), 1, "{notices:?}");
    let expected = "There was a new login to your account.\n\n* **Client**: `evil**@**all**`\n";
    assert!(notices[0].starts_with(expected), "{notices:?}");
    assert!(notices[0].contains("* **IP address**: `203.0.113.1`\n* **Time**: <time:"), "{notices:?}");
    assert!(notices[0].contains("If this was not you, set a new password immediately"), "{notices:?}");
    log_in(&server, "evil**@**all**", "203.0.113.1", "correct horse").await.ok();
    assert_eq!(ada.notices().await.len(), 1, "once");
    // A program that fetches a key is another client.
    let key = server.anonymous().request(Method::POST, "/fetch_api_key");
    let login = json!({"username": "ada@example.com", "password": "correct horse"});
    key.header("X-Forwarded-For", "198.51.100.1").form(login).send().await.ok();
    let notices = ada.notices().await;
    assert!(notices.len() == 2 && notices[1].contains("* **Client**: teamchat-tests\n"), "{notices:?}");
    log_in(&server, CHROME, "203.0.113.1", "wrong").await;
    assert_eq!(ada.notices().await.len(), 2, "a wrong password is no login");
}

// conformance: auth-36
#[tokio::test]
async fn locks_are_reported_once() {
    let (server, ada) = with_ada().await;
    let mut queue = ada.register(json!({"event_types": ["message"]})).await;
    for _ in 0..7 {
        log_in(&server, CHROME, "203.0.113.1", "wrong").await;
    }
    // The answers do not wait for the notice, but this comes after it.
    server.sql("SELECT 1").await;
    queue.expect_kinds(&["message"]).await;
    let notices = ada.notices().await;
    assert_eq!(notices.len(), 1, "{notices:?}");
    let expected = "There were too many wrong passwords for your account, most recently from `203.0.113.1`. For up \
                    to 30 minutes, logins from the addresses of these attempts are refused";
    assert!(notices[0].starts_with(expected), "{notices:?}");
    // Failed logins to an unknown account notify no one and return the usual error.
    for _ in 0..6 {
        let login = json!({"username": "nobody@example.com", "password": "wrong"});
        server.anonymous().post("/fetch_api_key", login).await;
    }
    assert_eq!(ada.notices().await.len(), 1);
}

// conformance: auth-36
#[tokio::test]
async fn new_passwords_are_reported_with_their_setter() {
    let (server, ada) = with_ada().await;
    let change = json!({"old_password": "correct horse", "new_password": "battery staple"});
    ada.patch("/settings", change).await.ok();
    let notices = ada.notices().await;
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(
        notices[0].starts_with("The password of your account was changed in its settings."),
        "{notices:?}"
    );
    let email = || "ada@example.com".to_owned();
    server.command(Command::SetPassword { email: email(), password: "third one".to_owned() }).await;
    let key = server.command(Command::CreateKey { email: email(), client: "test".to_owned() }).await;
    let ada = ada.with_key(key["api_key"].as_str().unwrap());
    let notices = ada.notices().await;
    assert_eq!(notices.len(), 3, "{notices:?}");
    assert!(
        notices[1].starts_with("The password of your account was set by the operator of this server."),
        "{notices:?}"
    );
}
