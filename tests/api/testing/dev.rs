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
    assert!(said.contains("listens on a loopback address only"), "{said}");

    let mut loud = command();
    loud.args(["serve", "--ephemeral", "--dev", "--listen", "127.0.0.1:0"]).stdout(Stdio::null());
    let mut child = loud.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.starts_with("WARNING: --dev gives the API key of every user to everybody"), "{line}");

    let server = Program::start(SMALL, &["--dev"]);
    let key = server.http.request(Method::POST, format!("{}/api/v1/dev_fetch_api_key", server.url));
    let key: Value = key.form(&json!({"username": HAMLET.0})).send().await.unwrap().json().await.unwrap();
    let me = server.get("/users/me", (HAMLET.0, key["api_key"].as_str().unwrap())).await;
    assert_eq!(me["full_name"], "Hamlet");
}
