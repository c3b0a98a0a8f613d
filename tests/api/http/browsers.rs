//! Browsers: cross-site requests and caching.

use crate::harness::TestServer;
use reqwest::Method;

// conformance: auth-41
#[tokio::test]
async fn cross_site_requests_change_nothing() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let own = format!("http://{}", server.address());
    let cases: &[(&[(&str, &str)], bool)] = &[
        (&[("Sec-Fetch-Site", "cross-site")], false),
        (&[("Sec-Fetch-Site", "same-site"), ("Origin", &own)], false),
        (&[("Origin", "https://evil.example")], false),
        (&[("Origin", "null")], false),
        (&[("Sec-Fetch-Site", "same-origin"), ("Origin", "null")], true),
        (&[("Sec-Fetch-Site", "none")], true),
        (&[("Origin", &own)], true),
        (&[], true),
    ];
    for (headers, passes) in cases {
        for method in [Method::POST, Method::GET] {
            let mut request = ada.request(method.clone(), "/users/me/subscriptions");
            if method == Method::POST {
                request = request.form(&[("subscriptions", "[]")]);
            }
            for (name, value) in *headers {
                request = request.header(name, value);
            }
            let answer = request.send().await;
            if *passes || method == Method::GET {
                answer.ok();
            } else {
                answer.error(403, "CSRF_FAILED", "CSRF error: The request comes from another site.");
            }
        }
    }
}

// conformance: auth-10
#[tokio::test]
async fn browsers_are_not_asked_for_a_password_of_their_own() {
    let server = TestServer::start().await;
    let challenge = async |name: &str, value: &str| {
        let answer = server.anonymous().request(Method::GET, "/users/me").header(name, value).send().await;
        answer.header("www-authenticate").to_owned()
    };
    assert_eq!(challenge("Accept", "text/html,*/*;q=0.8").await, r#"Session realm="zulip""#);
    assert_eq!(challenge("Sec-Fetch-Mode", "cors").await, r#"Session realm="zulip""#);
    assert_eq!(challenge("Accept", "*/*").await, r#"Basic realm="zulip""#);
}

// conformance: conv-44
#[tokio::test]
async fn json_is_not_cached() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    for path in ["/users/me", "/nothing", "/server_settings"] {
        assert_eq!(ada.get(path, ()).await.header("cache-control"), "no-store", "{path}");
    }
}
