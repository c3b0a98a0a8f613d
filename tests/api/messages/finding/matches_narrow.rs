//! `GET /messages/matches_narrow`.

use super::{outsider, send, subscribe};
use crate::harness::TestServer;
use serde_json::json;

// conformance: fetch-95
#[tokio::test]
async fn own_messages_that_match_come_with_marks() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let outsider = outsider(&server).await;
    subscribe(&ada, &["lunch"], json!({})).await;
    let soup = send(&ada, "lunch", "A & B", "hot soup").await;
    let bread = send(&ada, "lunch", "menu", "bread").await;
    let all = json!([soup, bread, 999_999]);
    let matches =
        ada.get("/messages/matches_narrow", json!({"msg_ids": all, "narrow": [["search", "soup"]]})).await;
    let marked = "<p>hot <span class=\"highlight\">soup</span></p>";
    assert_eq!(
        matches.ok()["messages"],
        json!({soup.to_string(): {"match_content": marked, "match_subject": "A &amp; B"}})
    );
    let matches =
        ada.get("/messages/matches_narrow", json!({"msg_ids": all, "narrow": [["topic", "a & b"]]})).await;
    assert_eq!(
        matches.ok()["messages"],
        json!({soup.to_string(): {"match_content": "<p>hot soup</p>", "match_subject": "A &amp; B"}})
    );
    let none = outsider.get("/messages/matches_narrow", json!({"msg_ids": all, "narrow": []})).await;
    assert_eq!(none.ok()["messages"], json!({}));
}

// conformance: fetch-96, fetch-97
#[tokio::test]
async fn missing_items_are_reported() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let answer = ada.get("/messages/matches_narrow", &[("narrow", "[]")]).await;
    answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'msg_ids' argument");
    let answer = ada.get("/messages/matches_narrow", &[("msg_ids", "[1]")]).await;
    answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'narrow' argument");
    let answer = ada.get("/messages/matches_narrow", json!({"msg_ids": [1], "narrow": [["is", "x"]]})).await;
    answer.error(400, "BAD_NARROW", "Invalid narrow operator: unknown 'is' operand x");
}
