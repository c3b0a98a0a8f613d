//! `GET /health`.

use crate::harness::TestServer;
use reqwest::Method;

// conformance: conv-84
#[tokio::test]
async fn a_server_that_works_says_so_to_anybody() {
    let server = TestServer::start().await;
    let answer = server.anonymous().request_outside(Method::GET, "/health").send().await;
    assert_eq!(answer.ok()["status"], "ok");
    let head = server.anonymous().request_outside(Method::HEAD, "/health").send().await;
    assert_eq!(head.status, 200);
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_whose_file_is_gone_says_what_is_wrong() {
    let server = TestServer::start().await;
    let elsewhere = server.database().with_extension("elsewhere");
    std::fs::rename(server.database(), &elsewhere).unwrap();
    let answer = server.anonymous().request_outside(Method::GET, "/health").send().await;
    let msg = "The database file is gone, or another one is in its place.";
    answer.error(503, "SERVICE_UNAVAILABLE", msg);
    std::fs::rename(&elsewhere, server.database()).unwrap();
    server.anonymous().request_outside(Method::GET, "/health").send().await.ok();
}
