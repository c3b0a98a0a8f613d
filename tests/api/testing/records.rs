//! Exchanges in a file, as HTTP Archive.

use super::{HAMLET, IAGO, Program, SMALL};
use serde_json::{Value, json};

#[tokio::test]
async fn exchanges_are_in_the_file_at_any_time_and_secrets_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exchanges.har");
    let server = Program::start(SMALL, &["--record", path.to_str().unwrap()]);
    let read = || std::fs::read_to_string(&path).unwrap();
    let entries = |text: &str| {
        serde_json::from_str::<Value>(text).unwrap()["log"]["entries"].as_array().unwrap().clone()
    };
    assert_eq!(entries(&read()), [] as [Value; 0]);
    server.send("hello from iago").await.unwrap();
    assert_eq!(entries(&read()).len(), 1);
    server
        .post("/fetch_api_key", HAMLET, json!({"username": "hamlet@example.com", "password": "a secret"}))
        .await;
    server.post("/users/me/api_key/regenerate", HAMLET, json!({})).await;
    server.post("/register", IAGO, json!({})).await;
    server.control("POST", "/faults", json!({"drop": "answer"})).await;
    assert!(server.send("lost").await.is_err());
    drop(server);
    let text = read();
    for secret in ["a secret", "iago-key", "hamlet's own: key"] {
        assert!(!text.contains(secret), "{secret}");
    }
    let entries = entries(&text);
    assert_eq!(entries.len(), 5);
    let sent = &entries[0];
    assert_eq!((&sent["request"]["method"], &sent["response"]["status"]), (&json!("POST"), &json!(200)));
    assert!(sent["request"]["url"].as_str().unwrap().ends_with("/api/v1/messages"));
    let content = json!({"name": "content", "value": "hello from iago"});
    assert!(sent["request"]["postData"]["params"].as_array().unwrap().contains(&content));
    let authorization = json!({"name": "authorization", "value": "REDACTED"});
    assert!(sent["request"]["headers"].as_array().unwrap().contains(&authorization));
    let regenerated: Value =
        serde_json::from_str(entries[2]["response"]["content"]["text"].as_str().unwrap()).unwrap();
    assert_eq!(regenerated["api_key"], "REDACTED");
    assert_eq!(
        (&entries[4]["response"]["status"], &entries[4]["comment"]),
        (&json!(0), &json!("the connection ended without a response"))
    );
}
