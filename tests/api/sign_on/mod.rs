//! Logging in at a provider of OpenID Connect, with browsers, the mobile app and the desktop app, and all that is refused.

mod accounts;
mod apps;
mod provider;
mod refusals;

use crate::harness::{Answer, Client, OUTGOING_TIMEOUT, START, TestServer};
use provider::{CLIENT_ID, CLIENT_SECRET, Form, Signer, TestProvider};
use reqwest::{Method, Url};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use teamchat::app::{Options, Overrides};
use teamchat::types::Role;

const LOGIN: &str = "/accounts/login/social/test";

/// A server with the provider. The first account is that of an owner, so that the server is set up.
async fn server_with(provider: &TestProvider, auto_create: bool) -> TestServer {
    let oidc = vec![provider.configured(auto_create)];
    let options = Options {
        oidc,
        overrides: Overrides { outgoing_timeout: Some(OUTGOING_TIMEOUT), ..Overrides::default() },
        ..Options::default()
    };
    let server = TestServer::start_with(options).await;
    server.owner().await;
    server
}

/// Has the address of a person proven, as an email does, so that their first login ends nothing.
async fn prove(server: &TestServer, person: &Client) {
    server.sql(&format!("UPDATE user SET is_email_proven = 1 WHERE user_id = {}", person.user_id)).await;
}

/// A browser with its cookies.
struct Browser {
    client: Client,
    user_agent: &'static str,
    language: &'static str,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    fn of(server: &TestServer) -> Self {
        let user_agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        Self { client: server.anonymous(), user_agent, language: "en", cookies: BTreeMap::new() }
    }

    /// Opens an address of the server, with the cookies, and keeps those of the answer.
    async fn open(&mut self, path: &str) -> Answer {
        let pairs: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = self.client.request_outside(Method::GET, path).header("Cookie", &pairs.join("; "));
        let request = request.header("User-Agent", self.user_agent).header("Accept-Language", self.language);
        let request = request.header("Sec-Fetch-Site", "cross-site").header("Accept", "text/html,*/*");
        let answer = request.send().await;
        for cookie in answer.headers.get_all("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        answer
    }

    /// Begins a login. Returns the page of the provider.
    async fn begin(&mut self, path: &str) -> String {
        let answer = self.open(path).await;
        assert_eq!(answer.status, 302, "{answer}");
        answer.header("location").to_owned()
    }

    /// Logs in at the provider, from a path of the first step.
    async fn log_in_by(&mut self, provider: &TestProvider, path: &str) -> Answer {
        let page = self.begin(path).await;
        self.open(&provider.authorize(&page)).await
    }

    async fn log_in(&mut self, provider: &TestProvider) -> Answer {
        self.log_in_by(provider, LOGIN).await
    }

    /// The user of the session, if there is one.
    async fn user(&self) -> Option<Value> {
        let session = self.cookies.get("teamchat_session")?;
        let client = self.client.in_browser(Some(session.clone()));
        let answer = client.get("/users/me", ()).await;
        (answer.status == 200).then(|| answer.json["email"].clone())
    }
}

/// The address to which an answer redirects.
#[track_caller]
fn redirected(answer: &Answer) -> String {
    assert_eq!(answer.status, 302, "{answer}");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    answer.header("location").to_owned()
}

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.bytes.clone()).unwrap()
}

/// The parameters of an address.
fn parameters(url: &str) -> HashMap<String, String> {
    Url::parse(url).unwrap().query_pairs().into_owned().collect()
}

// conformance: auth-42, auth-43
#[tokio::test]
async fn a_provider_is_listed_and_logs_people_in() {
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    let ada = server.member("ada").await;
    prove(&server, &ada).await;
    let settings = server.anonymous().get("/server_settings", ()).await.ok();
    let expected = json!([{"name": "oidc:test", "display_name": "Test provider", "display_icon": null,
        "login_url": LOGIN, "signup_url": "/accounts/register/social/test"}]);
    assert_eq!(settings["external_authentication_methods"], expected);
    assert_eq!(settings["authentication_methods"]["openid connect"], true);
    let state = ada.post("/register", json!({"fetch_event_types": ["realm"]})).await.ok();
    let methods = json!({"Email": {"enabled": true, "available": true},
        "OpenID Connect": {"enabled": true, "available": true}});
    assert_eq!(state["realm_authentication_methods"], methods);

    let mut browser = Browser::of(&server);
    let begun = browser.open(&format!("{LOGIN}?next=/%23narrow/is/starred")).await;
    let cookie = begun.header("set-cookie").to_owned();
    assert!(cookie.starts_with("teamchat_sign_on="), "{cookie}");
    assert!(cookie.ends_with("; Path=/; Max-Age=600; HttpOnly; SameSite=Lax"), "{cookie}");
    let page = redirected(&begun);
    let asked = parameters(&page);
    assert_eq!(asked["redirect_uri"], format!("http://{}/complete/test/", server.address()));
    assert!(asked["state"].len() >= 32 && asked["nonce"].len() >= 32, "{asked:?}");
    let answer = browser.open(&provider.authorize(&page)).await;
    assert_eq!(redirected(&answer), "/#narrow/is/starred");
    assert_eq!(browser.user().await, Some(json!("ada@example.com")));
    let identities = server.column("SELECT issuer || ' ' || subject || ' ' || user_id FROM identity").await;
    assert_eq!(identities, [format!("{} subject-1 {}", provider.issuer, ada.user_id)]);
    let entries =
        server.column("SELECT action || ' ' || actor_id FROM audit_entry WHERE actor = 'user'").await;
    let [linked, login] = ["identity_linked", "login"].map(|action| format!("{action} {}", ada.user_id));
    assert_eq!(entries, [linked, login.clone()]);

    // A second login needs neither metadata nor keys again, and its session is another one.
    let mut other = Browser::of(&server);
    assert_eq!(redirected(&other.log_in(&provider).await), "/");
    assert_ne!(other.cookies["teamchat_session"], browser.cookies["teamchat_session"]);
    assert_eq!(provider.count("/.well-known/openid-configuration"), 1);
    assert_eq!((provider.count("/keys"), provider.count("/token")), (1, 2));
    let entries =
        server.column("SELECT action || ' ' || actor_id FROM audit_entry WHERE actor = 'user'").await;
    assert_eq!((entries.len(), &entries[2]), (3, &login));
    let sessions = ada.get("/users/me/api_keys", ()).await.ok()["sessions"].clone();
    assert_eq!(sessions.as_array().unwrap().len(), 2);
    assert_eq!(sessions[0]["client"], "Firefox on Linux");
}

// conformance: auth-42
#[tokio::test]
async fn without_a_provider_there_is_no_sign_on() {
    let server = TestServer::start().await;
    let token = format!("/accounts/login/subdomain/{}", "a".repeat(32));
    for path in [LOGIN, "/accounts/register/social/test", "/complete/test/", &token] {
        let answer = server.anonymous().request_outside(Method::GET, path).send().await;
        answer.error(404, "BAD_REQUEST", "Not found");
    }
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    for path in ["/accounts/login/social/other", "/complete/other/"] {
        let answer = Browser::of(&server).open(path).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (404, "text/html; charset=utf-8"),
            "{answer}"
        );
    }
}

// conformance: auth-44
#[tokio::test]
async fn the_path_after_a_login_is_one_of_this_server() {
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    server.member("ada").await;
    for (next, expected) in [
        ("/%23narrow", "/#narrow"),
        ("//evil.example", "/"),
        ("/%5Cevil.example", "/"),
        ("/.//evil.example", "/"),
        ("https:evil.example", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ] {
        let mut browser = Browser::of(&server);
        let answer = browser.log_in_by(&provider, &format!("{LOGIN}?next={next}")).await;
        assert_eq!(redirected(&answer), expected, "{next}");
    }
}

// conformance: auth-45
#[tokio::test]
async fn tokens_with_both_kinds_of_signatures_are_accepted() {
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    server.member("ada").await;
    for signer in [Signer::Rs256, Signer::Es256] {
        provider.answers().signer = signer;
        assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/");
    }
    // Clocks that differ by two minutes, several audiences, and no name of the key.
    provider.answers().claims = json!({"aud": [CLIENT_ID, "other"], "azp": CLIENT_ID});
    provider.answers().head = json!({"kid": null});
    for now in [START - 119, START + 119] {
        provider.answers().now = now;
        assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/", "{now}");
    }
}

// conformance: auth-45
#[tokio::test]
async fn unknown_keys_are_loaded_again_but_not_for_each_token() {
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    server.member("ada").await;
    Browser::of(&server).log_in(&provider).await;
    // The provider has new keys.
    server.clock.advance(60);
    provider.answers().kid = "second";
    assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/");
    assert_eq!(provider.count("/keys"), 2);
    // Tokens with keys that do not exist.
    provider.answers().head = json!({"kid": "made-up"});
    for _ in 0..3 {
        assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/login/");
    }
    assert_eq!(provider.count("/keys"), 2);
    server.clock.advance(60);
    assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/login/");
    assert_eq!(provider.count("/keys"), 3);
    // After a day everything is loaded again.
    provider.answers().head = json!({});
    server.clock.advance(24 * 60 * 60);
    provider.answers().now = server.clock.seconds();
    assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/");
    assert_eq!((provider.count("/keys"), provider.count("/.well-known/openid-configuration")), (4, 2));
}

// conformance: auth-45
#[tokio::test]
async fn the_secret_is_sent_as_the_provider_takes_it() {
    for (methods, is_in_header) in [
        (json!(null), true),
        (json!([]), true),
        (json!(["client_secret_basic"]), true),
        (json!(["client_secret_post", "private_key_jwt"]), false),
    ] {
        let provider = TestProvider::start();
        provider.answers().metadata = json!({"token_endpoint_auth_methods_supported": methods});
        let server = server_with(&provider, false).await;
        server.member("ada").await;
        assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/", "{methods}");
        let answers = provider.answers();
        let (_, authorization, body) = answers.requests.iter().find(|(path, ..)| path == "/token").unwrap();
        assert_eq!(authorization.is_empty(), !is_in_header, "{methods}");
        let secret = form_urlencoded::byte_serialize(CLIENT_SECRET.as_bytes()).collect::<String>();
        assert_eq!(body.contains(&secret), !is_in_header, "{methods}");
    }
}

// conformance: auth-45
#[tokio::test]
async fn missing_claims_are_asked_for() {
    let provider = TestProvider::start();
    provider.answers().profile = json!({});
    provider.answers().userinfo = Some(json!({"email": "Ada@Example.com", "email_verified": "true"}));
    let server = server_with(&provider, false).await;
    server.member("ada").await;
    assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/");
    assert_eq!(provider.count("/userinfo"), 1);
    // The email of the token is not verified by what userinfo has of another one.
    provider.answers().profile = json!({"email": "owner@example.com", "name": "Eve"});
    provider.answers().userinfo = Some(json!({"email_verified": true}));
    assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/login/");
    // Claims about another person.
    provider.answers().profile = json!({});
    let other = json!({"sub": "subject-2", "email": "owner@example.com", "email_verified": true});
    provider.answers().userinfo = Some(other);
    assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/login/");
}

// conformance: auth-46
#[tokio::test]
async fn a_login_from_another_place_is_reported() {
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    let ada = server.member("ada").await;
    prove(&server, &ada).await;
    Browser::of(&server).log_in(&provider).await;
    assert_eq!(ada.notices().await, [""; 0], "not the first login");
    let mut phone = Browser::of(&server);
    phone.user_agent =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) Version/18.6 Mobile/15E148 Safari/604.1";
    phone.log_in(&provider).await;
    assert_eq!(ada.notices().await.len(), 1);
}

// conformance: auth-47
#[tokio::test]
async fn steps_of_logins_are_limited_by_address() {
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    server.member("ada").await;
    let mut browser = Browser::of(&server);
    for _ in 0..199 {
        browser.begin(LOGIN).await;
    }
    let page = browser.begin(LOGIN).await;
    let callback = provider.authorize(&page);
    for path in [LOGIN, &callback, &format!("/accounts/login/subdomain/{}", "a".repeat(32))] {
        let answer = browser.open(path).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (429, "text/html; charset=utf-8"),
            "{answer}"
        );
        assert!(!answer.header("retry-after").is_empty());
    }
    server.clock.advance(600);
    provider.answers().now = server.clock.seconds();
    assert_eq!(redirected(&browser.log_in(&provider).await), "/");
}

#[tokio::test]
async fn an_account_with_a_password_has_both_ways() {
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    let ada = server.user("ada", Role::Member, None, Some("correct horse")).await;
    prove(&server, &ada).await;
    assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/");
    let login = json!({"username": "ada@example.com", "password": "correct horse"});
    server.anonymous().post("/fetch_api_key", login).await.ok();
}

#[tokio::test]
async fn a_provider_that_is_down_is_named_on_a_page() {
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    provider.answers().forms.insert("/.well-known/openid-configuration", Form::Failure);
    let mut browser = Browser::of(&server);
    browser.language = "de";
    let answer = browser.open(LOGIN).await;
    assert_eq!(answer.status, 502, "{answer}");
    assert!(text(&answer).contains("<h1>Der Anmeldedienst ist nicht erreichbar</h1>"), "{answer}");
    assert!(answer.header("content-security-policy").starts_with("default-src 'none'; style-src 'sha256-"));
    provider.answers().forms.clear();
    browser.begin(LOGIN).await;
}
