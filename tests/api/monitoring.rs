//! Metrics for Prometheus, request ids, and the program's log.
#![expect(clippy::float_cmp, reason = "values that are compared are small whole numbers")]

use crate::harness::TestServer;
use crate::program::{Serving, program, run};
use regex::Regex;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Stdio;
use teamchat::app::Options;

async fn text(url: &str) -> (u16, String) {
    let response = reqwest::get(url).await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

/// The value of a metric with these labels.
fn value(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} is missing:\n{text}")).parse().unwrap()
}

/// Creates the owner, and returns the answer of the command.
fn create_owner(db: &std::path::Path) -> Value {
    let create =
        ["user", "create", "--email", "ada@example.com", "--full-name", "Ada", "--role", "owner", "--json"];
    serde_json::from_slice(&run(db, &create).stdout).unwrap()
}

#[tokio::test]
async fn metrics_are_on_their_own_listener() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let serving = Serving::start(&db, &["--metrics", "127.0.0.1:0"]);
    let (url, metrics) = (serving.value("listening").to_owned(), serving.value("metrics").to_owned());
    assert_eq!(text(&format!("{url}/metrics")).await.0, 404);
    let other = metrics.replace("/metrics", "/api/v1/server_settings");
    let (status, refused) = text(&other).await;
    let refused: Value = serde_json::from_str(&refused).unwrap();
    let expected = json!({"result": "error", "msg": "This address serves only /metrics and /health", "code": "BAD_REQUEST"});
    assert_eq!((status, refused), (404, expected));
    let posted = reqwest::Client::new().post(&metrics).send().await.unwrap();
    assert_eq!((posted.status().as_u16(), &posted.headers()["allow"]), (405, &"GET, HEAD".parse().unwrap()));
    let (status, health) = text(&metrics.replace("/metrics", "/health")).await;
    assert_eq!(
        (status, serde_json::from_str::<Value>(&health).unwrap()["status"].as_str()),
        (200, Some("ok"))
    );
    let first = text(&metrics).await.1;
    for _ in 0..3 {
        assert_eq!(text(&format!("{url}/api/v1/server_settings")).await.0, 200);
    }
    assert_eq!(text(&format!("{url}/api/v1/nothing")).await.0, 404);
    let client = reqwest::Client::new();
    let login = client.post(format!("{url}/api/v1/fetch_api_key"));
    login.form(&[("username", "nobody@example.com"), ("password", "x")]).send().await.unwrap();
    let ada = create_owner(&db);
    let register = client.post(format!("{url}/api/v1/register"));
    register
        .basic_auth("ada@example.com", ada["api_key"].as_str())
        .send()
        .await
        .unwrap()
        .error_for_status()
        .unwrap();
    let response = reqwest::get(&metrics).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let second = response.text().await.unwrap();
    let route = r#"method="GET",route="/api/v1/server_settings""#;
    let failed = r#"teamchat_requests_total{method="POST",route="/api/v1/fetch_api_key",status="401"}"#;
    for (name, expected) in [
        (&*format!(r#"teamchat_requests_total{{{route},status="200"}}"#), 3.0),
        (&format!("teamchat_request_seconds_count{{{route}}}"), 3.0),
        (&format!(r#"teamchat_request_seconds_bucket{{le="+Inf",{route}}}"#), 3.0),
        (r#"teamchat_requests_total{method="none",route="none",status="404"}"#, 2.0),
        (failed, 1.0),
        (r#"teamchat_users{kind="people"}"#, 1.0),
        ("teamchat_queues", 1.0),
        ("teamchat_polls_waiting", 0.0),
        ("teamchat_queue_lag_events", 0.0),
        ("teamchat_writer_queue_jobs", 0.0),
        ("teamchat_writer_failed_commits_total", 0.0),
        ("teamchat_database_readable", 1.0),
        ("teamchat_uploads_bytes", 0.0),
        (r#"teamchat_push_notifications_total{transport="browsers",outcome="sent"}"#, 0.0),
        (r#"teamchat_push_failures_total{transport="browsers"}"#, 0.0),
        (r#"teamchat_push_failed{transport="browsers"}"#, 0.0),
        (r#"teamchat_push_waiting{transport="browsers"}"#, 0.0),
        (r#"teamchat_pool_running{pool="rendering"}"#, 0.0),
        (r#"teamchat_pool_refusals_total{pool="passwords"}"#, 0.0),
        (r#"teamchat_refusals_total{limit="connections"}"#, 0.0),
        (r#"teamchat_refusals_total{limit="passwords"}"#, 0.0),
    ] {
        assert_eq!(value(&second, name), expected, "{name}");
    }
    for name in [
        "teamchat_writer_commits_total",
        "teamchat_writer_jobs_total",
        "teamchat_writer_commit_seconds_count",
        "teamchat_writer_group_seconds_sum",
        "teamchat_writer_jobs_per_commit_count",
        "teamchat_events_total",
    ] {
        assert!(value(&second, name) > value(&first, name), "{name}: {second}");
    }
    for name in [
        "teamchat_memory_resident_bytes",
        "teamchat_disk_free_bytes",
        "teamchat_start_time_seconds",
        r#"teamchat_file_bytes{file="database"}"#,
        r#"teamchat_file_bytes{file="wal"}"#,
    ] {
        assert!(value(&second, name) > 0.0, "{name}: {second}");
    }
    serving.stop();
}

/// Polls that wait, and the limits that refuse.
#[tokio::test]
async fn metrics_follow_polls_and_refusals() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let serving = Serving::start(&db, &["--metrics", "127.0.0.1:0"]);
    let (url, metrics) = (serving.value("listening").to_owned(), serving.value("metrics").to_owned());
    let ada = create_owner(&db);
    let key = ada["api_key"].as_str();
    let client = reqwest::Client::new();
    let register = client.post(format!("{url}/api/v1/register")).basic_auth("ada@example.com", key);
    let registered: Value = register.send().await.unwrap().json().await.unwrap();
    let queue_id = registered["queue_id"].as_str().unwrap();
    let poll = client.get(format!("{url}/api/v1/events?queue_id={queue_id}&last_event_id=-1"));
    let until_it_waits = async {
        loop {
            let found = text(&metrics).await.1;
            if value(&found, "teamchat_polls_waiting") == 1.0 {
                break value(&found, "teamchat_connections_open");
            }
            tokio::task::yield_now().await;
        }
    };
    let open = tokio::select! {
        answer = poll.basic_auth("ada@example.com", key).send() => panic!("{answer:?}"),
        open = until_it_waits => open,
    };
    assert!(open >= 1.0, "{open}");
    // The queue acknowledges nothing.
    let to = format!("[{}]", ada["user_id"]);
    for _ in 0..3 {
        let message = [("type", "direct"), ("to", to.as_str()), ("content", "hello")];
        let send = client.post(format!("{url}/api/v1/messages")).basic_auth("ada@example.com", key);
        assert_eq!(send.form(&message).send().await.unwrap().status(), 200);
    }
    let waiting = text(&metrics).await.1;
    for name in ["teamchat_event_log_events", "teamchat_queue_lag_events"] {
        assert!(value(&waiting, name) >= 3.0, "{name}: {waiting}");
    }
    for _ in 0..6 {
        let form = [("username", "ada@example.com"), ("password", "wrong")];
        client.post(format!("{url}/api/v1/fetch_api_key")).form(&form).send().await.unwrap();
    }
    let refused = text(&metrics).await.1;
    assert_eq!(value(&refused, r#"teamchat_refusals_total{limit="passwords"}"#), 1.0);
    serving.stop();
}

#[tokio::test]
async fn server_errors_have_the_id_of_the_request() {
    let proxies = vec!["127.0.0.1".parse().unwrap()];
    let server = TestServer::start_with(Options { trusted_proxies: proxies, ..Options::default() }).await;
    let health = |id: Option<&'static str>| {
        let request = server.anonymous().request_outside(Method::GET, "/health");
        match id {
            Some(id) => request.header("X-Request-Id", id),
            None => request,
        }
    };
    let fine = health(Some("abc-1")).send().await;
    assert!(fine.status == 200 && fine.header("x-request-id").is_empty(), "{fine}");
    let elsewhere = server.database().with_extension("elsewhere");
    std::fs::rename(server.database(), &elsewhere).unwrap();
    let given = health(Some("abc-1")).send().await;
    assert_eq!((given.status, given.header("x-request-id")), (503, "abc-1"));
    for id in [None, Some("not a plain id"), Some("")] {
        let made = health(id).send().await;
        let made = made.header("x-request-id");
        assert!(made.len() == 16 && made.bytes().all(|byte| byte.is_ascii_hexdigit()), "{made}");
    }
    std::fs::rename(&elsewhere, server.database()).unwrap();
}

/// Sends secrets to every route, in each place of a request, with this API key.
async fn send_secrets(url: &str, key: &str) {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let parts = Regex::new(r"\{\w+(\.\.\.)?\}").unwrap();
    let fields = [
        "api_key",
        "password",
        "old_password",
        "new_password",
        "token",
        "auth",
        "p256dh",
        "content",
        "queue_id",
    ];
    let of = |secret: &str| fields.map(|name| (name, format!("{secret}-{name}")));
    for route in &teamchat::api::routes() {
        let path = parts.replace_all(&route.full_path(), "SecretOfPath").into_owned();
        let address = url::Url::parse_with_params(&format!("{url}{path}"), of("SecretOfQuery")).unwrap();
        for key in [key, "SecretKeySecretKeySecretKey12345"] {
            let request = client
                .request(route.method.clone(), address.clone())
                .header("Cookie", "teamchat_session=SecretOfCookie");
            request.basic_auth("ada@example.com", Some(key)).form(&of("SecretOfForm")).send().await.unwrap();
        }
        let request =
            client.request(route.method.clone(), address).header("Cookie", "teamchat_session=SecretOfCookie");
        let json =
            request.header("Content-Type", "application/json").header("Authorization", "SecretOfHeader");
        json.body(r#"{"password": "SecretOfJson"}"#).send().await.unwrap();
    }
    let malformed = [
        "GET /SecretOfLine\u{1} HTTP/1.1",
        "SecretOfMethod / HTTP/9.9",
        "GET / HTTP/1.1\r\nSecretOfName\u{1}: SecretOfValue",
    ];
    for head in malformed {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let address = url.strip_prefix("http://").unwrap();
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(format!("{head}\r\nHost: SecretOfHost\r\n\r\n").as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        stream.read_to_end(&mut Vec::new()).await.unwrap();
    }
}

/// A line for each request, and no secret at the most detailed level, as text and as JSON.
#[tokio::test]
async fn no_secret_is_logged_at_any_level() {
    for format in ["text", "json"] {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("chat.sqlite");
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let mut child = program(&db, &["serve", "--log", "trace", "--log-format", format])
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let printed = Serving::read(&mut child);
        let word =
            |name: &str| printed.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap().trim();
        let url = word("listening");
        let link = word(url);
        let invitation = link.trim_matches('/').rsplit('/').next().unwrap();
        text(&format!("{url}{link}")).await;
        let ada = create_owner(&db);
        let (key, password) = (ada["api_key"].as_str().unwrap(), ada["password"].as_str().unwrap());
        let client = reqwest::Client::new();
        for given in [password, "SecretGuess"] {
            let form = [("username", "ada@example.com"), ("password", given)];
            for path in ["/api/v1/fetch_api_key", "/accounts/login/"] {
                client.post(format!("{url}{path}")).form(&form).send().await.unwrap();
            }
        }
        let me = client.get(format!("{url}/api/v1/users/me")).basic_auth("ada@example.com", Some(key));
        assert_eq!(me.send().await.unwrap().status(), 200);
        let message = [("type", "channel"), ("to", "general"), ("topic", "t"), ("content", "SecretMessage")];
        let send = client.post(format!("{url}/api/v1/messages")).basic_auth("ada@example.com", Some(key));
        send.form(&message).send().await.unwrap();
        send_secrets(url, key).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let logged = std::fs::read_to_string(folder.path().join("log")).unwrap();
        if format == "json" {
            let lines: Vec<Value> = logged.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let is_request =
                |line: &&Value| line["message"] == "a request" && line["route"] == "/api/v1/users/me";
            let request = lines.iter().find(is_request).unwrap_or_else(|| panic!("no request: {logged}"));
            assert_eq!((&request["method"], &request["status"]), (&"GET".into(), &200.into()));
            assert!(
                request["user_id"].is_i64() && request["request_id"].is_string() && request["ms"].is_f64()
            );
        } else {
            let expected = "a request method=\"GET\" route=\"/api/v1/users/me\" status=200";
            assert!(logged.contains(expected), "{logged}");
        }
        for secret in [key, password, invitation, "Secret", "api_key="] {
            let found = logged.lines().find(|line| line.contains(secret));
            assert_eq!(found, None, "{format}: {secret} is in the log");
        }
    }
}

/// The log of a server whose standard error leads to the journal of systemd.
#[cfg(unix)]
fn journal(format: &str) -> String {
    use std::os::unix::fs::MetadataExt;

    let folder = tempfile::tempdir().unwrap();
    let log = std::fs::File::create(folder.path().join("log")).unwrap();
    let metadata = log.metadata().unwrap();
    let db = folder.path().join("chat.sqlite");
    let mut command = program(&db, &["serve", "--listen", "0.0.0.0:0", "--log-format", format]);
    command.env("JOURNAL_STREAM", format!("{}:{}", metadata.dev(), metadata.ino()));
    let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    let serving = Serving::read(&mut child);
    assert!(serving.contains("Without a browser"));
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::read_to_string(folder.path().join("log")).unwrap()
}

/// Under systemd each line has its priority, and no time.
#[cfg(unix)]
#[tokio::test]
async fn lines_for_the_journal_begin_with_their_priority() {
    let logged = journal("text");
    assert!(logged.lines().all(|line| line.starts_with('<') && !line.contains("Z ")), "{logged}");
    assert!(
        logged.contains("<6>") && logged.contains("<4>") && logged.contains("there is no --public-url"),
        "{logged}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn json_for_the_journal_begins_with_its_priority() {
    let logged = journal("json");
    let mut priorities = BTreeSet::new();
    for line in logged.lines() {
        let (priority, json) = line.split_at(3);
        let json: Value = serde_json::from_str(json).unwrap_or_else(|_| panic!("{line}"));
        let expected = match json["level"].as_str().unwrap() {
            "ERROR" => "<3>",
            "WARN" => "<4>",
            "INFO" => "<6>",
            _ => "<7>",
        };
        assert_eq!((priority, &json["timestamp"]), (expected, &Value::Null), "{line}");
        priorities.insert(priority);
    }
    assert!(priorities.contains("<4>") && priorities.contains("<6>"), "{logged}");
}
