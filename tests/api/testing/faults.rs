//! Faults that a test asks for.

use super::control::facts;
use super::{IAGO, Program, SMALL};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn faults_refuse_delay_and_cut_off() {
    let server = Program::start(SMALL, &[]);
    let fault = |fault: Value| server.control("POST", "/faults", fault);
    fault(json!({"path": "/messages", "method": "POST", "user": "iago@example.com", "status": 429, "skip": 1, "times": 2,
        "headers": {"Retry-After": "3"}})).await;
    assert_eq!(server.send("one").await.unwrap()["result"], "success");
    for _ in 0..2 {
        let refused = server.send("two").await.unwrap();
        assert_eq!((&refused["code"], &refused["retry-after"]), (&json!("RATE_LIMIT_HIT"), &json!(3.0)));
    }
    assert_eq!(server.send("three").await.unwrap()["result"], "success");

    // A request that is dropped is not handled; one whose answer is dropped is.
    fault(json!({"path": "/messages", "method": "POST", "drop": "request"})).await;
    assert!(server.send("never sent").await.is_err());
    fault(json!({"path": "/messages", "method": "POST", "drop": "answer"})).await;
    assert!(server.send("sent").await.is_err());
    fault(json!({"path": "/messages", "method": "POST", "drop": "half"})).await;
    assert!(server.send("half").await.is_err());
    let messages =
        server.get("/messages?anchor=newest&num_before=9&num_after=0&apply_markdown=false", IAGO).await;
    let contents: Vec<_> =
        messages["messages"].as_array().unwrap().iter().map(|message| message["content"].clone()).collect();
    assert_eq!(contents, ["**hello**", "in private", "one", "three", "sent", "half"]);
    let seen = server.control("GET", "/requests?path=/messages&method=POST", Value::Null).await;
    let statuses: Vec<_> = facts(&seen).iter().map(|fact| fact[3].clone()).collect();
    let expected = [json!(200), json!(429), json!(429), json!(200), Value::Null, Value::Null, json!(200)];
    assert_eq!(statuses, expected);
    assert_eq!(seen["requests"][4]["form"]["content"], "never sent");

    fault(json!({"status": 502, "body": "<h1>Bad gateway</h1>", "times": null})).await;
    let gateway = server.request(Method::GET, "/users/me", IAGO).send().await.unwrap();
    assert_eq!(
        (gateway.status().as_u16(), gateway.text().await.unwrap().as_str()),
        (502, "<h1>Bad gateway</h1>")
    );
    fault(json!({"status": 500, "path": "/mesages"})).await;
    let left = server.control("GET", "/faults", Value::Null).await;
    assert_eq!([&left["faults"][0]["fired"], &left["faults"][1]["fired"]], [1, 0]);
    server.control("DELETE", "/faults", Value::Null).await;
    // A listed fault can be added again, and begins again.
    fault(left["faults"][0].clone()).await;
    let again = server.control("GET", "/faults", Value::Null).await;
    assert_eq!((&again["faults"][0]["status"], &again["faults"][0]["fired"]), (&json!(502), &json!(0)));
    server.control("DELETE", "/faults", Value::Null).await;
    fault(json!({"status": 500, "headers": {"X-Request-Id": "7"}})).await;
    let error = server.request(Method::GET, "/users/me", IAGO).send().await.unwrap();
    assert_eq!((error.status().as_u16(), &error.headers()["x-request-id"]), (500, &"7".parse().unwrap()));
    let error: Value = error.json().await.unwrap();
    assert_eq!((&error["result"], &error["code"]), (&json!("error"), &json!("INTERNAL_SERVER_ERROR")));
    fault(json!({"status": 429, "headers": {"Retry-After": "2"}})).await;
    let limited = server.request(Method::GET, "/users/me", IAGO).send().await.unwrap();
    assert_eq!((limited.status().as_u16(), &limited.headers()["retry-after"]), (429, &"2".parse().unwrap()));

    let started = std::time::Instant::now();
    fault(json!({"delay": 0.2})).await;
    assert_eq!(server.get("/users/me", IAGO).await["email"], "iago@example.com");
    assert!(started.elapsed() >= Duration::from_millis(200));
    let body = server.request(Method::GET, "/users/me", IAGO).send().await.unwrap().bytes().await.unwrap();
    let started = std::time::Instant::now();
    fault(json!({"bytes_per_second": body.len() * 4})).await;
    let slow = server.request(Method::GET, "/users/me", IAGO).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(slow, body);
    assert!(started.elapsed() >= Duration::from_millis(200), "a quarter of a second, less rounding");
    assert_eq!(server.control("GET", "/faults", Value::Null).await, json!({"faults": []}));
}

/// Sends a request and reads until the connection ends.
fn exchange(server: &Program) -> (Vec<u8>, std::io::Result<usize>) {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    let head = "GET /api/v1/server_settings HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let ended = stream.read_to_end(&mut answer);
    (answer, ended)
}

#[tokio::test]
async fn a_dropped_connection_is_reset_and_a_half_answer_ends_in_the_middle() {
    let server = Program::start(SMALL, &[]);
    for cut in ["request", "answer"] {
        server.control("POST", "/faults", json!({"drop": cut})).await;
        let (answer, ended) = exchange(&server);
        assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset, "{cut}");
        assert_eq!(answer, b"", "{cut}");
    }
    server.control("POST", "/faults", json!({"drop": "half"})).await;
    let (answer, ended) = exchange(&server);
    assert!(ended.is_ok());
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    assert_eq!(Some(body.len()), length.map(|length: usize| length / 2), "{head}");
}
