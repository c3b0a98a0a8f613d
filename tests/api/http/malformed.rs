//! Malformed requests for every route: the answer is JSON and never has status 500, and the server keeps working.
//!
//! `TEAMCHAT_SEED` sets the requests, and `TEAMCHAT_TEST_BUDGET` multiplies them.

use crate::architecture::source;
use crate::harness::{Answer, Client, TestServer, budget, seed};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use regex::Regex;
use serde_json::json;
use teamchat::http::Route;

/// Requests to each route, before the budget.
const REQUESTS: usize = 5;

/// Values that are right somewhere and wrong elsewhere, and some that are right nowhere.
const VALUES: &[&str] = &[
    "",
    " ",
    "0",
    "1",
    "2",
    "3",
    "5",
    "-1",
    "00",
    "1.5",
    "-0.0",
    "1e400",
    "NaN",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "4294967296",
    "2147483648",
    "true",
    "false",
    "null",
    "\"\"",
    "\"1\"",
    "\"a\\u0000b\"",
    "\"\\ud800\"",
    "[]",
    "[1]",
    "[1,2]",
    "[-1]",
    "[null]",
    "[[]]",
    "[[1]]",
    "[\"\"]",
    "[\"general\"]",
    "[\"ada@example.com\"]",
    "[1,\"a\"]",
    "[[\"is\",\"unread\"]]",
    "[{\"operator\":\"id\",\"operand\":-1}]",
    "[{\"operator\":\"search\",\"operand\":\"\\\"( NEAR * ^\"}]",
    "[{\"operator\":\"dm\",\"operand\":[1,1,99]}]",
    "{}",
    "{\"name\":\"x\"}",
    "[{\"name\":\"x\"}]",
    "[{\"name\":\"\"}]",
    "{\"new\":1}",
    "{\"new\":{\"direct_members\":[1],\"direct_subgroups\":[]}}",
    "{\"new\":1,\"old\":2}",
    "{\"1\":2}",
    "{\"a\":{\"a\":{\"a\":[]}}}",
    "{\"a\":1,\"a\":2}",
    "[",
    "{",
    "\"",
    "\\",
    "'",
    "general",
    "General",
    "GENERAL",
    "ada",
    "ada@example.com",
    "channel",
    "stream",
    "direct",
    "private",
    "add",
    "remove",
    "read",
    "starred",
    "newest",
    "oldest",
    "first_unread",
    "change_all",
    "change_one",
    "change_later",
    "thumbs_up",
    "tada",
    "1f389",
    "unicode_emoji",
    "#ff0000",
    "Europe/Berlin",
    "<script>",
    "@**ada**",
    "@**all**",
    "#**general**",
    "/me",
    "/poll a",
    "a\0b",
    "a\nb",
    "\u{202e}",
    "\u{feff}",
    "é",
    "e\u{301}",
    "💩",
    "ǅ",
    "ß",
    "\u{10ffff}",
    "; DROP TABLE user",
    "%00",
    "../..",
    "2026-09-21",
    "1790000000",
    "99999999999999",
];

/// Requests that ended the session would make the rest of the run pointless.
fn is_pointless(route: &Route) -> bool {
    route.path.ends_with("/regenerate") || route.path == "/realm/deactivate"
}

/// Every name that could be a parameter's: the fields of all structs of `api`.
fn parameter_names() -> Vec<String> {
    let field = Regex::new(r"(?m)^    (?:pub )?(?:r#)?([a-z_]+): ").unwrap();
    let mut names: Vec<String> = source::files()
        .iter()
        .filter(|file| file.resource().is_some())
        .flat_map(|file| field.captures_iter(&file.text).map(|found| found[1].to_owned()).collect::<Vec<_>>())
        .collect();
    names.sort();
    names.dedup();
    assert!(names.len() > 50, "the names are found");
    names
}

/// The names that stand in the files of a route's resource come often, others now and then.
struct Malformed {
    random: StdRng,
    names: Vec<String>,
    long: String,
    deep: String,
}

impl Malformed {
    fn value(&mut self) -> String {
        match self.random.random_range(0..40) {
            0 => self.long.clone(),
            1 => self.deep.clone(),
            2 => self.random.random_range(-3..30_i64).to_string(),
            3 => format!("[{}]", self.random.random_range(0..10_i64)),
            _ => (*VALUES.choose(&mut self.random).unwrap()).to_owned(),
        }
    }

    fn parameters(&mut self, own: &[String]) -> Vec<(String, String)> {
        let number = self.random.random_range(0..8);
        (0..number)
            .map(|_| {
                let names = if own.is_empty() || self.random.random_bool(0.1) { &self.names } else { own };
                (names.choose(&mut self.random).unwrap().clone(), self.value())
            })
            .collect()
    }

    /// The path with values in the place of its parameters.
    fn path(&mut self, route: &Route) -> String {
        let parameter = Regex::new(r"\{\w+(\.\.\.)?\}").unwrap();
        let path = route.full_path();
        let filled = parameter.replace_all(&path, |_: &regex::Captures<'_>| {
            let value = if self.random.random_bool(0.5) { "1".to_owned() } else { self.value() };
            let short: String = value.chars().take(200).collect();
            utf8_percent_encode(&short, NON_ALPHANUMERIC).to_string()
        });
        filled.into_owned()
    }

    async fn request(&mut self, client: &Client, route: &Route, own: &[String]) -> Answer {
        let request = client.request_outside(route.method.clone(), &self.path(route)).random();
        let (mut query, body) = (self.parameters(own), self.parameters(own));
        // Addresses have a limit of their own, also in the library that sends them.
        query.retain(|(_, value)| value.len() < 5_000);
        let request = request.query(query.as_slice());
        match self.random.random_range(0..10) {
            0 => {
                request.multipart(body.as_slice(), &[("file", "../x\u{e9}.png", b"\x89PNG\r\n")]).send().await
            }
            1 => request.body("application/x-www-form-urlencoded", vec![b'%'; 100]).send().await,
            2 => request.body("multipart/form-data; boundary=x", vec![b'-'; 100]).send().await,
            3 => request.send().await,
            _ => request.form(body.as_slice()).send().await,
        }
    }
}

/// Errors are JSON and not internal errors; below `/api/v1` successes are JSON too. Pages report errors as a page.
fn is_proper(answer: &Answer, route: &Route) -> bool {
    let expected = if answer.status < 400 { "success" } else { "error" };
    let is_json = answer.header("content-type") == "application/json" && answer["result"] == expected;
    let is_image = matches!(route.path, "/realm/icon" | "/realm/logo") && answer.status == 302;
    let has_page =
        ["/join/", "/public", "/accounts/", "/register/"].iter().any(|start| route.path.starts_with(start));
    let is_page = has_page && answer.header("content-type").starts_with("text/html");
    answer.status < 500 && (is_json || (answer.status < 400 && route.outside) || is_page || is_image)
}

// conformance: conv-25
#[tokio::test]
async fn malformed_requests_are_answered_in_json_and_are_never_the_servers_fault() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let clients = [server.member("ada").await, server.guest("guest").await, server.anonymous()];
    let people = [&owner, &clients[0], &clients[1]].map(|client| client.user_id);
    let channel = json!({"subscriptions": [{"name": "general"}], "principals": people});
    owner.post("/users/me/subscriptions", channel).await.ok();
    for number in 0..5 {
        let message = json!({"type": "channel", "to": "general", "topic": "test", "content": format!("{number} @**Ada** *x*")});
        owner.post("/messages", message).await.ok();
    }
    let mut malformed = Malformed {
        random: StdRng::seed_from_u64(seed(0x5eed_0032)),
        names: parameter_names(),
        long: "ab ".repeat(20_000),
        deep: "[".repeat(4_000),
    };
    let field = Regex::new(r"(?m)^    (?:pub )?(?:r#)?([a-z_]+): ").unwrap();
    let files = source::files();
    let mut faults = Vec::new();
    for route in teamchat::api::routes().iter().filter(|route| !is_pointless(route)) {
        let literal = format!("\"{}\"", route.path);
        let resources: Vec<_> = files
            .iter()
            .filter(|file| file.text.contains(&literal))
            .filter_map(|file| file.resource())
            .collect();
        let own: Vec<String> = files
            .iter()
            .filter(|file| file.resource().is_some_and(|name| resources.contains(&name)))
            .flat_map(|file| {
                field.captures_iter(&file.text).map(|found| found[1].to_owned()).collect::<Vec<_>>()
            })
            .collect();
        for _ in 0..REQUESTS * budget() {
            let client = if malformed.random.random_bool(0.6) {
                &owner
            } else {
                clients.choose(&mut malformed.random).unwrap()
            };
            let waits = route.path == "/events" && route.method == reqwest::Method::GET;
            if waits {
                // It might wait for events forever; the tests of queues cover it.
                continue;
            }
            let answer = malformed.request(client, route, &own).await;
            if !is_proper(&answer, route) {
                faults.push(answer.to_string().chars().take(500).collect::<String>());
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    server.anonymous().get("/server_settings", ()).await.ok();
    server.member("still").await.register(()).await.ignore();
}
