//! `GET /health`.

use crate::harness::TestServer;
use reqwest::Method;

// conformance: conv-84
#[tokio::test]
async fn health_succeeds_for_anonymous_callers() {
    let server = TestServer::start().await;
    let answer = server.anonymous().request_outside(Method::GET, "/health").send().await;
    assert_eq!(answer.ok()["status"], "ok");
    let head = server.anonymous().request_outside(Method::HEAD, "/health").send().await;
    assert_eq!(head.status, 200);
}

#[cfg(unix)]
#[tokio::test]
async fn missing_files_are_reported_by_health() {
    let server = TestServer::start().await;
    let elsewhere = server.database().with_extension("elsewhere");
    std::fs::rename(server.database(), &elsewhere).unwrap();
    let answer = server.anonymous().request_outside(Method::GET, "/health").send().await;
    let msg = "The database file is gone, or another one is in its place.";
    answer.error(503, "SERVICE_UNAVAILABLE", msg);
    std::fs::rename(&elsewhere, server.database()).unwrap();
    server.anonymous().request_outside(Method::GET, "/health").send().await.ok();
}

#[tokio::test]
async fn tables_that_cannot_be_read_are_reported_by_health() {
    let server = TestServer::start().await;
    let health = async || server.anonymous().request_outside(Method::GET, "/health").send().await;
    server.sql("ALTER TABLE realm RENAME TO elsewhere").await;
    health().await.error(503, "SERVICE_UNAVAILABLE", "The database cannot be read.");
    server.sql("ALTER TABLE elsewhere RENAME TO realm").await;
    health().await.ok();
}
