//! Single sign-on: the log says why a login at a provider failed.

use crate::program::Serving;
use crate::received::Received;
use regex::Regex;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde_json::json;
use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// A provider that does not accept the secret of the server. Returns its address.
fn start_provider() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let issuer = format!("http://{}", listener.local_addr().unwrap());
    let at = issuer.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answer(&at, stream.unwrap()).unwrap();
        }
    });
    issuer
}

fn answer(issuer: &str, mut stream: TcpStream) -> std::io::Result<()> {
    let Some(received) = Received::read(&mut BufReader::new(&mut stream))? else { return Ok(()) };
    let (status, body) = if (received.method.as_str(), received.path.as_str()) == ("POST", "/token") {
        assert!(received.header("authorization").starts_with("Basic "), "{received:?}");
        assert!(String::from_utf8_lossy(&received.body).contains("code=1"), "{received:?}");
        (401, json!({"error": "invalid_client", "error_description": "The secret is wrong"}))
    } else {
        let at = |path: &str| format!("{issuer}{path}");
        let metadata = json!({"issuer": issuer, "authorization_endpoint": at("/authorize"),
            "token_endpoint": at("/token"), "jwks_uri": at("/keys")});
        (200, metadata)
    };
    let body = body.to_string();
    write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn the_log_has_the_words_of_the_provider() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("teamchat.toml");
    let table = format!(
        "[[oidc]]\nid = \"home\"\nissuer = \"{}\"\nclient-id = \"chat\"\nclient-secret = \"a secret\"\n",
        start_provider()
    );
    std::fs::write(&config, table).unwrap();
    let flags = ["--listen", "127.0.0.1:0", "--config", config.to_str().unwrap()];
    let serving = Serving::start(folder.path(), &flags);
    let client = Client::builder().redirect(Policy::none()).build().unwrap();
    let description = "There+is+no+such+scope:+a+login+failed+address%3D203.0.113.7";
    let refusal = format!("error=invalid_scope&error_description={description}");
    for answer in [refusal.as_str(), "code=1"] {
        let login = format!("{}/accounts/login/social/home", serving.origin());
        let begun = client.get(login).send().await.unwrap();
        let header = |name: &str| begun.headers()[name].to_str().unwrap();
        let cookie = header("set-cookie").split(';').next().unwrap();
        let page = Url::parse(header("location")).unwrap();
        let (_, state) = page.query_pairs().find(|(name, _)| name == "state").unwrap();
        let back = format!("{}/complete/home/?state={state}&{answer}", serving.origin());
        client.get(back).header("Cookie", cookie).send().await.unwrap();
    }
    let log = serving.stop();
    for words in
        ["invalid_scope", "There is no such scope", "status 401", "invalid_client", "The secret is wrong"]
    {
        assert!(log.contains(words), "{words}: {log}");
    }
    // By the filter of the book, nothing that a browser sends blocks another address.
    let page = include_str!("../../docs/reverse-proxies.md");
    let (_, filter) = page.split_once("failregex = ").unwrap();
    let filter = Regex::new(&filter.lines().next().unwrap().replace("<HOST>", r"\S+")).unwrap();
    assert_eq!(page.lines().filter(|line| filter.is_match(line)).count(), 2, "the examples");
    assert!(!log.lines().any(|line| filter.is_match(line)), "{log}");
}
