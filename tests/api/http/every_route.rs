//! What holds for each route: who is refused before anything else is looked at.

use crate::harness::{Answer, Client, TestServer};
use regex::Regex;
use teamchat::http::Route;

/// Asks for a route without parameters; those in its path are 1.
async fn ask(client: &Client, route: &Route) -> Answer {
    let path = Regex::new(r"\{\w+(\.\.\.)?\}").unwrap().replace_all(&route.full_path(), "1").into_owned();
    client.request_outside(route.method.clone(), &path).send().await
}

// conformance: auth-3
#[tokio::test]
async fn only_a_few_ask_for_no_login() {
    let server = TestServer::start().await;
    let mut open = Vec::new();
    for route in teamchat::api::routes().iter().filter(|route| !route.outside) {
        // So many refusals in a minute would be refused themselves.
        server.clock.advance(1);
        let answer = ask(&server.anonymous(), route).await;
        if answer.status == 401 && answer["code"] == "UNAUTHORIZED" {
            let msg = "Not logged in: API authentication or user session required";
            assert_eq!(answer["msg"], msg, "{answer}");
        } else {
            open.push(format!("{} {}", route.method, route.path));
        }
    }
    open.sort();
    assert_eq!(
        open,
        [
            "GET /dev_list_users",
            "GET /server_settings",
            "HEAD /server_settings",
            "POST /dev_fetch_api_key",
            "POST /external/{integration}",
            "POST /fetch_api_key"
        ]
    );
}

// conformance: auth-22
#[tokio::test]
async fn what_is_for_some_roles_is_refused_to_others_before_all_else() {
    let server = TestServer::start().await;
    let administrator = server.administrator("admin").await;
    let member = server.member("ada").await;
    let mut asked = 0;
    for route in &teamchat::api::routes() {
        let (client, msg) = match route.access {
            "administrator" => (&member, "Must be an organization administrator"),
            "owner" => (&administrator, "Must be an organization owner"),
            _ => continue,
        };
        ask(client, route).await.error(400, "UNAUTHORIZED_PRINCIPAL", msg);
        asked += 1;
    }
    assert!(asked > 20, "there are such routes: {asked}");
}
