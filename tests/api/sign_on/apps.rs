//! The mobile app and the desktop app, which log in with the person's browser.

use super::{Browser, LOGIN, TestProvider, parameters, redirected, server_with, text};
use crate::harness::TestServer;
use crate::join::between;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use serde_json::json;

const PAD: &str = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";

const DESKTOP_APP: &str =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 ZulipElectron/5.12.4 Chrome/138";

fn bytes_of(hexadecimal: &str) -> Vec<u8> {
    let digits = (0..hexadecimal.len()).step_by(2);
    digits.map(|at| u8::from_str_radix(&hexadecimal[at..at + 2], 16).unwrap()).collect()
}

async fn start() -> (TestProvider, TestServer) {
    let provider = TestProvider::start();
    let server = server_with(&provider, false).await;
    server.member("ada").await;
    (provider, server)
}

/// The token on the page of the person's browser.
async fn token(provider: &TestProvider, browser: &mut Browser, path: &str) -> String {
    let answer = browser.log_in_by(provider, path).await;
    assert_eq!(answer.status, 200, "{answer}");
    let sealed = bytes_of(&between(&text(&answer), "id=\"desktop-data\" value=\"", "\""));
    let (nonce, sealed) = sealed.split_at(12);
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &bytes_of(PAD)).unwrap());
    let mut opened = sealed.to_vec();
    let nonce = Nonce::try_assume_unique_for_key(nonce).unwrap();
    String::from_utf8(key.open_in_place(nonce, Aad::empty(), &mut opened).unwrap().to_vec()).unwrap()
}

// conformance: auth-53
#[tokio::test]
async fn the_mobile_app_gets_a_key_of_its_own() {
    let (provider, server) = start().await;
    let mut browser = Browser::of(&server);
    let answer = browser.log_in_by(&provider, &format!("{LOGIN}?mobile_flow_otp={PAD}")).await;
    let location = redirected(&answer);
    assert!(location.starts_with("zulip://login?"), "{location}");
    let found = parameters(&location);
    let ada = server.column("SELECT user_id FROM user WHERE delivery_email = 'ada@example.com'").await;
    assert_eq!(
        (found.len(), &found["email"], &found["user_id"]),
        (4, &"ada@example.com".to_owned(), &ada[0])
    );
    assert_eq!(found["realm"], format!("http://{}", server.address()));
    let encrypted = &found["otp_encrypted_api_key"];
    assert!(encrypted.len() == 64 && *encrypted == encrypted.to_lowercase(), "{encrypted}");
    let key = bytes_of(encrypted).into_iter().zip(bytes_of(PAD)).map(|(byte, pad)| byte ^ pad).collect();
    let key = String::from_utf8(key).unwrap();
    let mut phone = server.anonymous();
    (phone.email, phone.api_key) = ("ada@example.com".to_owned(), Some(key));
    let keys = phone.get("/users/me/api_keys", ()).await.ok();
    let current =
        keys["api_keys"].as_array().unwrap().iter().find(|key| key["id"] == keys["current_api_key_id"]);
    assert_eq!(current.unwrap()["client"], "ZulipMobile");
    // No session begins in the browser.
    assert_eq!(keys["sessions"], json!([]));
    assert_eq!(browser.user().await, None);
    let logins = "SELECT after FROM audit_entry WHERE action = 'login'";
    assert_eq!(server.column(logins).await, [r#"{"client":"ZulipMobile"}"#]);
}

// conformance: auth-53
#[tokio::test]
async fn pads_have_64_hexadecimal_digits() {
    let (provider, server) = start().await;
    for name in ["mobile_flow_otp", "desktop_flow_otp"] {
        for pad in ["", &PAD[1..], &format!("{PAD}0"), &PAD.replace('F', "G")] {
            let answer = Browser::of(&server).open(&format!("{LOGIN}?{name}={pad}")).await;
            answer.error(400, "BAD_REQUEST", "Invalid OTP");
        }
    }
    let both = format!("{LOGIN}?mobile_flow_otp={PAD}&desktop_flow_otp={PAD}");
    let msg = "Can't use both mobile_flow_otp and desktop_flow_otp together.";
    Browser::of(&server).open(&both).await.error(400, "BAD_REQUEST", msg);
    assert_eq!(provider.answers().requests.len(), 0);
}

// conformance: auth-54
#[tokio::test]
async fn the_desktop_app_opens_a_browser() {
    let (provider, server) = start().await;
    let mut app = Browser::of(&server);
    app.user_agent = DESKTOP_APP;
    let answer = app.open(&format!("{LOGIN}?next=/%23inbox")).await;
    assert_eq!(answer.status, 200, "{answer}");
    let html = text(&answer);
    assert!(html.contains("<title>Finish logging in</title>"), "{html}");
    assert!(html.contains("electron_bridge") && html.contains("/accounts/login/subdomain/"), "{html}");
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(provider.answers().requests.len(), 0, "the browser of the person asks the provider");

    let mut browser = Browser::of(&server);
    let token =
        token(&provider, &mut browser, &format!("{LOGIN}?next=/%23inbox&desktop_flow_otp={PAD}")).await;
    assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{token}");
    assert_eq!(browser.user().await, None, "the session is that of the app");
    assert_eq!(server.column("SELECT count(*) FROM session").await, ["0"]);
    // A page of another site may have led the browser of someone else there.
    let answer = browser.open(&format!("/accounts/login/subdomain/{token}")).await;
    assert_eq!((answer.status, answer.header("set-cookie")), (400, ""), "{answer}");
    let answer = app.open(&format!("/accounts/login/subdomain/{token}")).await;
    assert_eq!(redirected(&answer), "/#inbox");
    assert_eq!(app.user().await, Some(json!("ada@example.com")));
    let client = server.column("SELECT client FROM session").await;
    assert_eq!(client, ["Desktop app on Linux"]);
}

// conformance: auth-54
#[tokio::test]
async fn tokens_are_used_once_and_within_15_seconds() {
    let (provider, server) = start().await;
    let path = format!("{LOGIN}?desktop_flow_otp={PAD}");
    let mut app = Browser::of(&server);
    app.user_agent = DESKTOP_APP;
    let used = token(&provider, &mut Browser::of(&server), &path).await;
    assert_eq!(redirected(&app.open(&format!("/accounts/login/subdomain/{used}")).await), "/");
    let late = token(&provider, &mut Browser::of(&server), &path).await;
    server.clock.advance(15);
    for token in [&used, &late, &"a".repeat(32), "a", &"-".repeat(32)] {
        let answer = app.open(&format!("/accounts/login/subdomain/{token}")).await;
        assert_eq!((answer.status, answer.header("set-cookie")), (400, ""), "{answer}");
        assert!(text(&answer).contains("<h1>This link does not work</h1>"), "{answer}");
    }
    let in_time = token(&provider, &mut Browser::of(&server), &path).await;
    server.clock.advance(14);
    assert_eq!(redirected(&app.open(&format!("/accounts/login/subdomain/{in_time}")).await), "/");
}

// conformance: auth-54
#[tokio::test]
async fn a_token_ends_with_the_account() {
    let (provider, server) = start().await;
    let path = format!("{LOGIN}?desktop_flow_otp={PAD}");
    let token = token(&provider, &mut Browser::of(&server), &path).await;
    let email = "ada@example.com".to_owned();
    server.command(teamchat::commands::Command::SetActive { email, is_active: false }).await;
    let mut app = Browser::of(&server);
    app.user_agent = DESKTOP_APP;
    assert_eq!(redirected(&app.open(&format!("/accounts/login/subdomain/{token}")).await), "/login/");
    assert_eq!(app.user().await, None);
}
