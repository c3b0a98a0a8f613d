//! Logins that are refused: forged, replayed, expired, for another client, and by providers that misbehave.

use super::{Browser, Form, LOGIN, Signer, TestProvider, parameters, redirected, server_with, text};
use crate::harness::{START, TestServer};
use serde_json::{Value, json};
use std::time::Duration;
use teamchat::app::{Options, Overrides};

/// Ada's browser, after the answers of the provider were changed.
async fn try_with(change: impl FnOnce(&TestProvider)) -> (TestServer, TestProvider, Browser, String) {
    let provider = TestProvider::start();
    let server = server_with(&provider, true).await;
    server.member("ada").await;
    server.set_realm_setting("invite_required", json!(false)).await;
    change(&provider);
    let mut browser = Browser::of(&server);
    let answer = browser.log_in(&provider).await;
    let location = redirected(&answer);
    (server, provider, browser, location)
}

// conformance: auth-48
#[tokio::test]
async fn tokens_that_prove_nothing_are_refused() {
    let other = "https://other.example";
    let signers = [Signer::None, Signer::Hs256, Signer::Wrong].map(|signer| (signer, json!({}), json!({})));
    let claims = [
        json!({"nonce": "of another login"}),
        json!({"nonce": null}),
        json!({"aud": "another client"}),
        json!({"aud": []}),
        json!({"aud": ["another client", "a third one"]}),
        json!({"azp": "another client"}),
        json!({"iss": other}),
        json!({"iss": null}),
        json!({"exp": START - 120}),
        json!({"exp": null}),
        json!({"nbf": START + 121}),
        json!({"iat": START + 121}),
        json!({"iat": START - 721}),
        json!({"at_hash": "of another token"}),
        json!({"sub": ""}),
        json!({"sub": null}),
        json!({"sub": "x".repeat(256)}),
        json!({"email": null}),
        json!({"email": " "}),
        json!({"email_verified": false}),
        json!({"email_verified": "false"}),
        json!({"email_verified": null}),
        json!({"email_verified": 1}),
    ];
    let claims = claims.map(|claims| (Signer::Rs256, claims, json!({})));
    let heads = [
        json!({"alg": "RS512"}),
        json!({"alg": "ES256"}),
        json!({"alg": "HS256"}),
        json!({"alg": "none"}),
        json!({"alg": null}),
        json!({"crit": ["exp"]}),
        json!({"kid": "another"}),
    ];
    let heads = heads.map(|head| (Signer::Rs256, json!({}), head));
    for (signer, claims, head) in signers.into_iter().chain(claims).chain(heads) {
        let case = format!("{claims} {head}");
        let (server, _, browser, location) = try_with(|provider| {
            let mut answers = provider.answers();
            (answers.signer, answers.claims, answers.head) = (signer, claims, head);
        })
        .await;
        assert_eq!(location, "/login/", "{case}");
        assert_eq!(browser.user().await, None, "{case}");
        assert_eq!(server.column("SELECT count(*) FROM identity").await, ["0"], "{case}");
        let recorded = server.column("SELECT count(*) FROM audit_entry WHERE action = 'login_failed'").await;
        assert_eq!(recorded, ["1"], "{case}");
    }
}

// conformance: auth-48
#[tokio::test]
async fn providers_that_misbehave_log_no_one_in() {
    for (path, form) in [
        ("/token", Form::Redirect),
        ("/token", Form::Failure),
        ("/token", Form::Huge),
        ("/keys", Form::Redirect),
        ("/keys", Form::Failure),
        ("/keys", Form::Huge),
    ] {
        let (server, provider, browser, location) = try_with(|provider| {
            provider.answers().forms.insert(path, form);
        })
        .await;
        assert_eq!(location, "/login/", "{path}");
        assert_eq!(browser.user().await, None, "{path}");
        assert_eq!(provider.count(&format!("{path}/")), 0, "redirects are not followed");
        provider.answers().forms.clear();
        assert_eq!(redirected(&Browser::of(&server).log_in(&provider).await), "/", "{path}");
    }
}

// conformance: auth-48
#[tokio::test]
async fn metadata_lead_to_no_other_place() {
    for metadata in [
        json!({"issuer": "https://other.example"}),
        json!({"token_endpoint": "http://auth.example.com/token"}),
        json!({"authorization_endpoint": "http://auth.example.com/authorize"}),
        json!({"authorization_endpoint": "javascript:alert(1)"}),
        json!({"userinfo_endpoint": "http://192.168.1.7/userinfo"}),
        json!({"jwks_uri": "file:///etc/passwd"}),
        json!({"jwks_uri": null}),
    ] {
        let provider = TestProvider::start();
        provider.answers().metadata = metadata.clone();
        let server = server_with(&provider, false).await;
        let answer = Browser::of(&server).open(LOGIN).await;
        assert_eq!(answer.status, 502, "{metadata} {answer}");
    }
}

// conformance: auth-48
#[tokio::test]
async fn a_silent_provider_is_given_up() {
    let provider = TestProvider::start();
    provider.answers().forms.insert("/.well-known/openid-configuration", Form::Silence);
    let options = Options {
        oidc: vec![provider.configured(false)],
        overrides: Overrides { outgoing_timeout: Some(Duration::from_millis(1)), ..Overrides::default() },
        ..Options::default()
    };
    let server = TestServer::start_with(options).await;
    let answer = Browser::of(&server).open(LOGIN).await;
    assert_eq!(answer.status, 502, "{answer}");
    assert!(text(&answer).contains("The login service cannot be reached"), "{answer}");
}

// conformance: auth-49
#[tokio::test]
async fn a_login_belongs_to_the_browser_that_began_it() {
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    server.member("ada").await;
    let (mut eve, mut ada) = (Browser::of(&server), Browser::of(&server));
    // Without a cookie, with the cookie of another login, and with one that is made up.
    for step in 0..3 {
        let callback = provider.authorize(&eve.begin(LOGIN).await);
        match step {
            1 => drop(ada.begin(LOGIN).await),
            2 => drop(ada.cookies.insert("teamchat_sign_on".to_owned(), "a".repeat(48))),
            _ => {}
        }
        assert_eq!(redirected(&ada.open(&callback).await), "/login/", "{step}");
        assert_eq!(ada.user().await, None, "{step}");
        // Nor can the first browser use it any more.
        assert_eq!(redirected(&eve.open(&callback).await), "/login/", "{step}");
    }
    assert_eq!(provider.count("/token"), 0);
    // Two tabs of one browser.
    let (one, other) = (eve.begin(LOGIN).await, eve.begin(LOGIN).await);
    assert_eq!(redirected(&eve.open(&provider.authorize(&one)).await), "/");
    assert_eq!(redirected(&eve.open(&provider.authorize(&other)).await), "/");
}

// conformance: auth-49
#[tokio::test]
async fn a_login_is_completed_once_and_within_ten_minutes() {
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    server.member("ada").await;
    let mut browser = Browser::of(&server);
    let callback = provider.authorize(&browser.begin(LOGIN).await);
    assert_eq!(redirected(&browser.open(&callback).await), "/");
    assert_eq!(redirected(&browser.open(&callback).await), "/login/", "the code again");
    assert_eq!(provider.count("/token"), 1);

    // The code of an earlier login with the state of a later one: the provider knows the code no more.
    let code = parameters(&format!("http://host{callback}"))["code"].clone();
    let page = browser.begin(LOGIN).await;
    let state = parameters(&page)["state"].clone();
    let forged = format!("/complete/test/?code={code}&state={state}");
    assert_eq!(redirected(&browser.open(&forged).await), "/login/");

    for (seconds, expected) in [(599, "/"), (600, "/login/")] {
        let page = browser.begin(LOGIN).await;
        server.clock.advance(seconds);
        provider.answers().now = server.clock.seconds();
        assert_eq!(redirected(&browser.open(&provider.authorize(&page)).await), expected, "{seconds}");
    }
}

// conformance: auth-49
#[tokio::test]
async fn answers_without_a_code_lead_to_the_login_page() {
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    server.member("ada").await;
    let mut browser = Browser::of(&server);
    for rest in ["", "?code=code-1", "?state=unknown&code=code-1", "?error=access_denied"] {
        assert_eq!(redirected(&browser.open(&format!("/complete/test/{rest}")).await), "/login/", "{rest}");
    }
    for rest in ["error=access_denied&error_description=cancelled", "", "code=1&iss=https://other.example"] {
        let page = browser.begin(LOGIN).await;
        let state = parameters(&page)["state"].clone();
        let answer = browser.open(&format!("/complete/test/?state={state}&{rest}")).await;
        assert_eq!(redirected(&answer), "/login/", "{rest}");
    }
    assert_eq!(provider.count("/token"), 0);
    assert_eq!(browser.user().await, None);
}

// conformance: auth-49
#[tokio::test]
async fn a_login_ends_at_the_provider_where_it_began() {
    let (provider, second) = (TestProvider::start(), TestProvider::start());
    let mut other = second.configured(false);
    other.id = "other".to_owned();
    let oidc = vec![provider.configured(false), other];
    let server = TestServer::start_with(Options { oidc, ..Options::default() }).await;
    server.owner().await;
    server.member("ada").await;
    let mut browser = Browser::of(&server);
    let callback = provider.authorize(&browser.begin(LOGIN).await);
    let mixed = callback.replace("/complete/test/", "/complete/other/");
    assert_eq!(redirected(&browser.open(&mixed).await), "/login/");
    assert_eq!((provider.count("/token"), second.count("/token")), (0, 0));
    let settings = server.anonymous().get("/server_settings", ()).await.ok();
    let names: Vec<&Value> = settings["external_authentication_methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, ["oidc:test", "oidc:other"]);
}

// conformance: auth-49
#[tokio::test]
async fn begun_and_completed_by_get_only() {
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    for path in [LOGIN, "/complete/test/", "/accounts/login/subdomain/a"] {
        for method in [reqwest::Method::HEAD, reqwest::Method::POST] {
            let answer = server.anonymous().request_outside(method, path).send().await;
            assert_eq!(answer.status, 405, "{answer}");
        }
    }
    assert_eq!(provider.answers().requests.len(), 0);
}
