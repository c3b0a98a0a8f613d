//! Logging in without a password, on servers of developers.

use super::{HAMLET, Program, SMALL, command};
use crate::harness::TestServer;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use teamchat::app::Options;

#[tokio::test]
async fn only_a_server_of_developers_hands_out_keys() {
    let msg = "Endpoint not available in production.";
    let server = TestServer::start().await;
    let login = json!({"username": "ada@example.com"});
    server.anonymous().post("/dev_fetch_api_key", login.clone()).await.error(400, "BAD_REQUEST", msg);
    server.anonymous().get("/dev_list_users", ()).await.error(400, "BAD_REQUEST", msg);

    let server = TestServer::start_with(Options { dev_login: true, ..Options::default() }).await;
    let (ada, owner) = (server.member("ada").await, server.owner().await);
    let key = server.anonymous().post("/dev_fetch_api_key", login).await.ok();
    assert_eq!((&key["email"], &key["user_id"]), (&json!("ada@example.com"), &json!(ada.user_id)));
    let listed = server.anonymous().get("/dev_list_users", ()).await.ok();
    let origin = format!("http://{}", server.address());
    let person = |email: &str| json!([{"email": email, "realm_uri": origin, "realm_url": origin}]);
    assert_eq!(
        (&listed["direct_admins"], &listed["direct_users"]),
        (&person("owner@example.com"), &person("ada@example.com"))
    );
    let settings = server.anonymous().get("/server_settings", ()).await.ok();
    assert_eq!(settings["authentication_methods"]["dev"], true);

    let unknown = server.anonymous().post("/dev_fetch_api_key", json!({"username": "eve@example.com"})).await;
    unknown.error(401, "AUTHENTICATION_FAILED", "Your username or password is incorrect");
    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    let gone = server.anonymous().post("/dev_fetch_api_key", json!({"username": "ada@example.com"})).await;
    gone.error(401, "USER_DEACTIVATED", "Account is deactivated");
}

#[tokio::test]
async fn the_program_refuses_it_where_others_can_reach() {
    let ended = command().args(["serve", "--ephemeral", "--dev", "--listen", "0.0.0.0:0"]).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("requires a loopback address"), "{said}");

    let public = ["--public-url", "https://chat.example.com"];
    let ended = command()
        .args(["serve", "--ephemeral", "--dev", "--listen", "127.0.0.1:0"])
        .args(public)
        .output()
        .unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("conflicts with --public-url"), "{said}");

    let mut loud = command();
    loud.args(["serve", "--ephemeral", "--dev", "--listen", "127.0.0.1:0"]).stdout(Stdio::null());
    let mut child = loud.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.starts_with("WARNING: --dev gives the API key of every user to any client"), "{line}");

    let server = Program::start(SMALL, &["--dev"]);
    let key = server.http.request(Method::POST, format!("{}/api/v1/dev_fetch_api_key", server.url));
    let key: Value = key.form(&json!({"username": HAMLET.0})).send().await.unwrap().json().await.unwrap();
    let me = server.get("/users/me", (HAMLET.0, key["api_key"].as_str().unwrap())).await;
    assert_eq!(me["full_name"], "Hamlet");
}

#[tokio::test]
async fn pages_of_other_names_and_proxies_are_refused() {
    let server = Program::start(SMALL, &["--dev"]);
    let control = server.control.clone();
    let msg = "With --dev, this server is for programs and pages of its own machine only.";
    for (name, value) in [
        ("Host", "evil.example"),
        ("Origin", "http://evil.example"),
        ("Sec-Fetch-Site", "cross-site"),
        ("X-Forwarded-For", "192.0.2.1"),
        ("X-Forwarded-Host", "chat.example.com"),
        ("Forwarded", "for=192.0.2.1"),
    ] {
        let list = server.http.get(format!("{}/api/v1/dev_list_users", server.url)).header(name, value);
        let refused = list.send().await.unwrap();
        assert_eq!(refused.status(), 403, "{name}");
        assert_eq!(refused.json::<Value>().await.unwrap()["msg"], msg, "{name}");
        for (method, path) in
            [(Method::POST, "/reset"), (Method::GET, "/requests"), (Method::POST, "/queues/expire")]
        {
            let asked = server.http.request(method, format!("{control}{path}")).header(name, value);
            let refused = asked.send().await.unwrap();
            assert_eq!(refused.status(), 403, "{name} {path}");
            assert_eq!(refused.json::<Value>().await.unwrap()["result"], "error", "{name} {path}");
        }
    }
    let asked =
        server.http.get(format!("{control}/requests")).header("Origin", &control).send().await.unwrap();
    assert_eq!(asked.status(), 403, "also a page of its own: tests are programs");
    let local = server.url.replace("127.0.0.1", "localhost");
    let list = server.http.get(format!("{}/api/v1/dev_list_users", server.url));
    let host = local.strip_prefix("http://").unwrap();
    assert_eq!(list.header("Host", host).send().await.unwrap().status(), 200);
}
