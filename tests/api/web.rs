//! The web client's page and files, and sessions of browsers.

use crate::harness::pictures;
use crate::harness::{Answer, Client, TestServer};
use flate2::read::GzDecoder;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::Read;
use teamchat::app::{ClientFiles, Options};
use teamchat::types::Role;

const HTML: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

async fn page(server: &TestServer, path: &str) -> Answer {
    server.anonymous().request_outside(Method::GET, path).header("Accept", HTML).send().await
}

/// The cookies of a session and its token.
struct Session {
    cookies: String,
    token: String,
}

impl Session {
    async fn begin(server: &TestServer) -> Self {
        let login = json!({"username": "ada@example.com", "password": "correct horse"});
        let request = server.anonymous().request_outside(Method::POST, "/accounts/login/").form(login);
        Self::of(&request.send().await)
    }

    fn of(answer: &Answer) -> Self {
        let set = answer.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap());
        let pairs: Vec<&str> = set.map(|cookie| cookie.split(';').next().unwrap()).collect();
        let token = pairs[1].strip_prefix("teamchat_csrf=").unwrap().to_owned();
        Self { cookies: pairs.join("; "), token }
    }

    /// A request as a page of the server sends it.
    fn request(&self, client: &Client, method: Method, path: &str) -> crate::harness::Request {
        let request = client.request_outside(method, path).header("Cookie", &self.cookies);
        request.header("X-CSRFToken", &self.token).header("Sec-Fetch-Site", "same-origin")
    }
}

async fn with_ada() -> (TestServer, Client) {
    let server = TestServer::start().await;
    let ada = server.user("ada", Role::Member, None, Some("correct horse")).await;
    (server, ada)
}

#[tokio::test]
async fn the_page_is_for_browsers_and_its_files_are_cached_under_their_hash() {
    let server = TestServer::start().await;
    for path in ["/", "/login/", "/accounts/login/"] {
        let answer = page(&server, path).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, "text/html; charset=utf-8"),
            "{path}"
        );
        assert_eq!(answer.header("cache-control"), "no-cache");
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    }
    for (accepted, status) in [("*/*", 200), ("text/*", 200), ("application/json", 404)] {
        let request = server.anonymous().request_outside(Method::GET, "/").header("Accept", accepted);
        assert_eq!(request.send().await.status, status, "{accepted}");
    }
    let text = String::from_utf8(page(&server, "/").await.bytes).unwrap();
    let script = text.split('"').find(|part| part.ends_with("/main.js")).unwrap().to_owned();
    let load = async |accepted: &str| {
        let request = server.anonymous().request_outside(Method::GET, &script);
        request.header("Accept-Encoding", accepted).send().await
    };
    for (accepted, coding) in
        [("gzip", "gzip"), ("gzip, deflate, br, zstd", "br"), ("gzip;q=1, br;q=0", "gzip")]
    {
        let answer = load(accepted).await;
        assert_eq!((answer.status, answer.header("content-encoding")), (200, coding), "{accepted}");
        assert_eq!(answer.header("cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(answer.header("content-security-policy"), "", "the policy of the page counts");
        assert_eq!(answer.header("vary"), "Accept-Encoding");
    }
    let plain = load("identity").await;
    assert_eq!(plain.header("content-encoding"), "");
    let mut unpacked = String::new();
    GzDecoder::new(load("gzip").await.bytes.as_slice()).read_to_string(&mut unpacked).unwrap();
    assert_eq!(plain.bytes, unpacked.as_bytes());
    assert!(unpacked.contains("import(\"./later.js\""), "modules are joined");

    for missing in [script.replace("main.js", "nothing.js"), "/static/0123456789abcdef/main.js".to_owned()] {
        page(&server, &missing).await.error(404, "BAD_REQUEST", "Not found");
    }
}

#[tokio::test]
async fn the_manifest_has_the_name_and_icon_of_the_organization() {
    let server = TestServer::start().await;
    let owner = server.user("olga", Role::Owner, None, None).await;
    let anonymous = server.anonymous();
    let load = async |path: &str| {
        let answer = anonymous.request_outside(Method::GET, path).send().await;
        assert_eq!((answer.status, answer.header("cache-control")), (200, "no-cache"), "{path}");
        answer
    };
    let manifest = async || {
        let answer = load("/manifest.webmanifest").await;
        assert_eq!(answer.header("content-type"), "application/manifest+json");
        serde_json::from_slice::<Value>(&answer.bytes).unwrap()
    };
    let before = manifest().await;
    assert_eq!(
        (&before["id"], &before["start_url"], &before["scope"]),
        (&json!("/"), &json!("/"), &json!("/"))
    );
    assert_eq!(before["icons"][0]["src"], "/static/images/organization.png");
    assert_eq!(before["icons"][1]["purpose"], "maskable");
    let maskable = load(before["icons"][1]["src"].as_str().unwrap()).await;
    assert_eq!(maskable.header("content-type"), "image/svg+xml");
    assert!(String::from_utf8(maskable.bytes).unwrap().contains("<path"), "the icon of the program");

    let name = "Quotes \" & <angles>";
    owner.patch("/realm", json!({"name": name, "description": "We *chat*"})).await.ok();
    let icon = pictures::png(20, 20);
    owner
        .request(Method::POST, "/realm/icon")
        .multipart((), &[("file", "icon.png", &icon)])
        .send()
        .await
        .ok();
    let after = manifest().await;
    assert_eq!((&after["name"], &after["short_name"]), (&json!(name), &json!(name)));
    assert_eq!(after["description"], "We *chat*");
    assert_eq!(after["share_target"]["action"], "/share");
    for (index, has_margin) in [(0, false), (1, true)] {
        let image = load(after["icons"][index]["src"].as_str().unwrap()).await;
        assert_eq!(image.header("content-security-policy"), "default-src 'none'; img-src data:");
        let text = String::from_utf8(image.bytes).unwrap();
        assert!(text.contains("href=\"data:image/png;base64,iVBOR"), "{text}");
        assert_eq!(text.contains("<rect"), has_margin, "{text}");
    }
    let other = anonymous.request_outside(Method::GET, "/manifest_icon/other.svg").send().await;
    other.error(404, "BAD_REQUEST", "Not found");
}

#[tokio::test]
async fn published_paths_and_old_links_lead_into_the_client() {
    let server = TestServer::start().await;
    for (path, expected) in [
        ("/accounts/go/", "/login/"),
        ("/accounts/deactivated/", "/login/"),
        ("/?stream=big%20plans", "/#narrow/channel/big.20plans"),
        ("/?stream=big%20plans&topic=v1.0", "/#narrow/channel/big.20plans/topic/v1.2E0"),
        ("/?stream=5-x%0d%0aSet-Cookie:y", "/#narrow/channel/5-x.0D.0ASet-Cookie.3Ay"),
    ] {
        let answer = page(&server, path).await;
        assert_eq!((answer.status, answer.header("location")), (302, expected), "{path}");
    }
    assert_eq!(page(&server, "/?topic=v1.0").await.status, 200, "a topic alone is no place");
}

#[tokio::test]
async fn no_web_disables_the_web_client() {
    let server =
        TestServer::start_with(Options { client_files: ClientFiles::Off, ..Options::default() }).await;
    for path in ["/", "/?stream=x", "/login/", "/accounts/go/", "/service_worker.js", "/manifest.webmanifest"]
    {
        page(&server, path).await.error(404, "BAD_REQUEST", "Not found");
    }
}

// conformance: auth-23, auth-24, auth-26
#[tokio::test]
async fn a_session_belongs_to_one_browser_and_ends_with_it() {
    let (server, ada) = with_ada().await;
    let session = Session::begin(&server).await;
    let other = Session::begin(&server).await;
    let anonymous = server.anonymous();
    let me = session.request(&anonymous, Method::GET, "/json/users/me").send().await.ok();
    assert_eq!(me["user_id"], ada.user_id);
    let sent = session.request(&anonymous, Method::POST, "/json/messages");
    let sent = sent.form(json!({"type": "direct", "to": json!([ada.user_id]).to_string(), "content": "hi"}));
    let id = sent.send().await.ok()["id"].clone();
    let message = ada.get(&format!("/messages/{id}"), ()).await.ok()["message"].clone();
    assert_eq!((&message["client"], &message["flags"]), (&json!("website"), &json!(["read"])));

    let keys = session.request(&anonymous, Method::GET, "/json/users/me/api_keys").send().await.ok();
    let clients = |name: &str| -> Vec<_> {
        keys[name].as_array().unwrap().iter().map(|one| one["client"].clone()).collect()
    };
    assert_eq!((clients("api_keys"), clients("sessions").len()), (vec![json!("command line")], 2));
    assert_eq!(keys["current_session_id"], keys["sessions"][0]["id"]);

    session.request(&anonymous, Method::POST, "/accounts/logout/").send().await.ok();
    let answer = session.request(&anonymous, Method::GET, "/json/users/me").send().await;
    assert_eq!(answer.header("www-authenticate"), r#"Session realm="zulip""#);
    answer.error(401, "UNAUTHORIZED", "Not logged in: API authentication or user session required");
    other.request(&anonymous, Method::GET, "/json/users/me").send().await.ok();

    other.request(&anonymous, Method::POST, "/json/users/me/api_keys/revoke_others").send().await.ok();
    ada.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Invalid API key");
    let keys = other.request(&anonymous, Method::GET, "/json/users/me/api_keys").send().await.ok();
    let path = format!("/json/users/me/sessions/{}", keys["current_session_id"]);
    other.request(&anonymous, Method::DELETE, &path).send().await.ok();
    assert_eq!(other.request(&anonymous, Method::GET, "/json/users/me").send().await.status, 401);
}

// conformance: auth-24, auth-25
#[tokio::test]
async fn cross_site_requests_are_recognized() {
    let (server, ada) = with_ada().await;
    let session = Session::begin(&server).await;
    let anonymous = server.anonymous();
    let post = |path: &str| anonymous.request_outside(Method::POST, path).header("Cookie", &session.cookies);
    let wrong_token = "CSRF error: The token is missing or incorrect.";
    let wrong_site = "CSRF error: The request comes from another site.";
    post("/json/drafts").send().await.error(403, "CSRF_FAILED", wrong_token);
    post("/json/drafts").header("X-CSRFToken", "0").send().await.error(403, "CSRF_FAILED", wrong_token);
    for (name, value) in
        [("Sec-Fetch-Site", "cross-site"), ("Origin", "http://evil.example"), ("Origin", "null")]
    {
        let answer =
            post("/json/drafts").header("X-CSRFToken", &session.token).header(name, value).send().await;
        answer.error(403, "CSRF_FAILED", wrong_site);
        let login = anonymous.request_outside(Method::POST, "/json/fetch_api_key").header(name, value);
        login.send().await.error(403, "CSRF_FAILED", wrong_site);
    }
    // A cookie has no effect on the paths of API keys, and a form of another page is refused.
    let msg = "Not logged in: API authentication or user session required";
    post("/api/v1/drafts").header("X-CSRFToken", &session.token).send().await.error(401, "UNAUTHORIZED", msg);
    post("/accounts/logout/").send().await.error(401, "UNAUTHORIZED", msg);
    session.request(&anonymous, Method::GET, "/json/users/me").send().await.ok();
    // An API key is no session.
    ada.request_outside(Method::GET, "/json/users/me").send().await.error(401, "UNAUTHORIZED", msg);
}

#[tokio::test]
async fn files_are_shown_to_a_session() {
    let (server, ada) = with_ada().await;
    let session = Session::begin(&server).await;
    let upload = ada.request(Method::POST, "/user_uploads").multipart((), &[("file", "a.txt", b"secret")]);
    let url = upload.send().await.ok()["url"].as_str().unwrap().to_owned();
    let answer = session.request(&server.anonymous(), Method::GET, &url).send().await;
    assert_eq!((answer.status, answer.bytes.as_slice()), (200, b"secret".as_slice()));
    assert_ne!(server.anonymous().request_outside(Method::GET, &url).send().await.status, 200);
}

#[tokio::test]
async fn a_wrong_password_begins_no_session() {
    let (server, _) = with_ada().await;
    let login = json!({"username": "ada@example.com", "password": "wrong"});
    let answer =
        server.anonymous().request_outside(Method::POST, "/accounts/login/").form(login).send().await;
    assert_eq!(answer.header("set-cookie"), "");
    answer.error(401, "AUTHENTICATION_FAILED", "Your username or password is incorrect");
}
