//! The control of a test server.

use super::{BOT, HAMLET, IAGO, Program, SMALL};
use reqwest::Method;
use serde_json::{Value, json};

/// Method, path, user and status of recorded requests.
pub fn facts(requests: &Value) -> Vec<Value> {
    let list = requests["requests"].as_array().unwrap();
    list.iter().map(|one| json!([one["method"], one["path"], one["user"], one["status"]])).collect()
}

/// The path that polls a queue from its start.
fn poll_path(queue: &Value) -> String {
    let id = queue["queue_id"].as_str().unwrap();
    format!("/events?queue_id={id}&last_event_id={}", queue["last_event_id"])
}

#[tokio::test]
async fn requests_are_seen_with_their_parameters_and_status() {
    let server = Program::start(SMALL, &[]);
    server.send("hi there").await.unwrap();
    server.get("/users/me?client_gravatar=true", HAMLET).await;
    server.get("/nothing", HAMLET).await;
    let all = server.control("GET", "/requests", Value::Null).await;
    let expected = [
        json!(["POST", "/api/v1/messages", "iago@example.com", 200]),
        json!(["GET", "/api/v1/users/me", "hamlet@example.com", 200]),
        json!(["GET", "/api/v1/nothing", "hamlet@example.com", 404]),
    ];
    assert_eq!(facts(&all), expected);
    assert_eq!(
        all["requests"][0]["form"],
        json!({"type": "channel", "to": "Verona", "topic": "t", "content": "hi there"})
    );
    assert_eq!(all["requests"][1]["query"], json!({"client_gravatar": "true"}));
    let sent = server
        .control("GET", "/requests?path=/messages&method=post&user=iago@example.com", Value::Null)
        .await;
    assert_eq!(facts(&sent), expected[..1]);

    server.control("DELETE", "/requests", Value::Null).await;
    assert_eq!(server.control("GET", "/requests", Value::Null).await, json!({"requests": []}));
    let waiting = server.control("GET", "/requests?wait=2&timeout=60&path=/users/me", Value::Null);
    let (seen, _, _) = tokio::join!(waiting, server.get("/users/me", IAGO), server.get("/users/me", HAMLET));
    assert_eq!(seen["requests"].as_array().unwrap().len(), 2);
    assert_eq!(seen["timed_out"], false);
    let late = server.control("GET", "/requests?wait=9&timeout=0.01", Value::Null).await;
    assert_eq!(late["requests"].as_array().unwrap().len(), 2);
    assert_eq!(late["timed_out"], true);
}

#[tokio::test]
async fn requests_are_seen_with_their_time_headers_and_json() {
    let server = Program::start(SMALL, &[]);
    let time = "2027-01-01T00:00:00Z";
    server.control("PUT", "/clock", json!({"now": time, "frozen": true})).await;
    let message = json!({"type": "channel", "list": [1, {"api_key": "very secret"}]});
    let request = server.request(Method::POST, "/messages", IAGO).json(&message);
    request
        .header("X-Gitlab-Token", "very secret")
        .header("X-Part", "1")
        .header("X-Part", "2")
        .send()
        .await
        .unwrap();
    server.send("hi").await.unwrap();
    for body in ["{", r#"{"link": "\/join\/very_secret_link\/"}"#] {
        let request =
            server.request(Method::POST, "/messages", IAGO).header("Content-Type", "application/json");
        request.body(body).send().await.unwrap();
    }
    let login = json!({"username": "iago@example.com", "password": "very secret", "queue_id": "an id"});
    server.post("/fetch_api_key?api_key=very+secret&a=1", IAGO, login).await;
    let seen = server.control("GET", "/requests", Value::Null).await;
    assert!(!seen.to_string().contains("very secret") && !seen.to_string().contains("iago-key"), "{seen}");
    let requests = seen["requests"].as_array().unwrap().as_slice();
    let [with_json, with_form, malformed, with_link, login] = requests else { panic!("{seen}") };
    let headers = &with_json["headers"];
    let found = ["authorization", "x-gitlab-token", "x-part", "content-type"].map(|name| &headers[name]);
    assert_eq!(found, ["REDACTED", "REDACTED", "1, 2", "application/json"]);
    assert_eq!(with_json["body"], json!({"type": "channel", "list": [1, {"api_key": "REDACTED"}]}));
    assert_eq!((&with_json["form"], &with_json["time"]), (&json!({}), &json!(time)));
    assert_eq!((&with_form["form"]["content"], &with_form["body"]), (&json!("hi"), &Value::Null));
    assert_eq!((&malformed["body"], &malformed["status"]), (&Value::Null, &json!(400)));
    assert_eq!(with_link["body"], json!({"link": "/join/REDACTED/"}));
    let form = json!({"username": "iago@example.com", "password": "REDACTED", "queue_id": "an id"});
    assert_eq!((&login["form"], &login["query"]), (&form, &json!({"api_key": "REDACTED", "a": "1"})));
}

#[tokio::test]
async fn the_control_reads_bodies_in_their_charset() {
    let server = Program::start(SMALL, &["--strict"]);
    let put = async |content_type: &str, body: &[u8]| {
        let request = server.http.put(format!("{}/clock", server.control));
        let answer = request.header("Content-Type", content_type).body(body.to_vec()).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    let utf_16: Vec<u8> = "{\"frozen\": true}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (content_type, body) in [
        ("application/json", b"\xef\xbb\xbf{\"frozen\": true}".to_vec()),
        ("application/json; charset=iso-8859-1", b"{\"frozen\": true}".to_vec()),
        ("application/json; charset=utf-16", utf_16),
    ] {
        let (status, answer) = put(content_type, &body).await;
        assert_eq!((status, &answer["frozen"]), (200, &json!(true)), "{content_type}: {answer}");
    }
    let (status, answer) = put("application/json; charset=klingon", b"{\"frozen\": true}").await;
    assert_eq!(
        (status, &answer["msg"]),
        (400, &json!("the body could not be read: Unknown charset: klingon"))
    );
}

#[tokio::test]
async fn a_poll_that_waits_is_pending_and_ends_when_its_queue_expires() {
    let server = Program::start(SMALL, &[]);
    let queue = server.post("/register", BOT, json!({"event_types": "[\"message\"]"})).await;
    let path = poll_path(&queue);
    let poll = server.get(&path, BOT);
    let expire = async {
        let seen =
            server.control("GET", "/requests?path=/events&pending=true&wait=1&timeout=60", Value::Null).await;
        assert_eq!(seen["requests"][0]["status"], Value::Null);
        let others = server.control("POST", "/queues/expire", json!({"user": "hamlet@example.com"})).await;
        assert_eq!(others["expired"], 0);
        server.control("POST", "/queues/expire", Value::Null).await
    };
    let (answer, expired) = tokio::join!(poll, expire);
    assert_eq!((&expired["expired"], &answer["code"]), (&json!(1), &json!("BAD_EVENT_QUEUE_ID")));
    assert_eq!(server.get(&path, BOT).await["code"], "BAD_EVENT_QUEUE_ID");
}

#[tokio::test]
async fn a_poll_is_pending_only_once_it_waits() {
    let server = Program::start(SMALL, &[]);
    let queue = server.post("/register", BOT, json!({"event_types": "[\"message\"]"})).await;
    let path = poll_path(&queue);
    // Holds the poll on its way to the queue.
    server.control("POST", "/faults", json!({"path": "/events", "delay": 1})).await;
    let advance = async {
        let seen =
            server.control("GET", "/requests?path=/events&pending=true&wait=1&timeout=60", Value::Null).await;
        server.control("PUT", "/clock", json!({"advance": 3600})).await;
        seen
    };
    let (answer, seen) = tokio::join!(server.get(&path, BOT), advance);
    assert_eq!(facts(&seen), [json!(["GET", "/api/v1/events", BOT.0, null])]);
    assert_eq!(answer["events"][0]["type"], "heartbeat", "a queue whose poll waits is kept: {answer}");
}

#[tokio::test]
async fn control_errors_have_a_reason() {
    let server = Program::start(SMALL, &[]);
    let cases = [
        (Method::POST, "/faults", json!({"status": 429, "path ": "x"}), 400, "unknown field `path `"),
        (Method::POST, "/faults", json!(["GET", "/messages"]), 400, "the body is a list"),
        (Method::PUT, "/level", json!([5]), 400, "the body is a list"),
        (Method::PUT, "/level", json!(277), 400, "integer `277`, expected an object"),
        (Method::POST, "/queues/expire", json!([]), 400, "the body is a list"),
        (Method::POST, "/faults", json!({"times": 2}), 400, "a fault needs one of"),
        (
            Method::POST,
            "/faults",
            json!({"status": 500, "path": "messages"}),
            400,
            "'messages' matches no path",
        ),
        (Method::POST, "/faults", json!({"status": 42}), 400, "42 is not a status"),
        (Method::POST, "/faults", json!({"status": 500, "times": 0}), 400, "\"times\" is at least 1"),
        (Method::PUT, "/clock", json!({"now": "noon"}), 400, "'noon' is not a time such as"),
        (Method::PUT, "/clock", json!({}), 400, "give \"now\", \"advance\" or \"frozen\""),
        (Method::PUT, "/clock", json!({"advance": 1e12}), 400, "the clock cannot be beyond the year 9999"),
        (Method::POST, "/queues/expire", json!({"user": "nobody@example.com"}), 400, "no user has the email"),
        (Method::PUT, "/level", json!({"version": "1"}), 400, "missing field `feature_level`"),
        (
            Method::PUT,
            "/level",
            json!({"feature_level": 9999}),
            400,
            "\"feature_level\" is from 1 to 421, not 9999",
        ),
        (
            Method::PUT,
            "/level",
            json!({"feature_level": 0}),
            400,
            "\"feature_level\" is from 1 to 421, not 0",
        ),
        (Method::POST, "/act", json!({"user": "iago@example.com"}), 400, "give one of \"content\""),
        (
            Method::POST,
            "/act",
            json!({"user": "iago@example.com", "channel": "Verona", "content": "c"}),
            400,
            "a message to a channel needs a \"topic\"",
        ),
        (
            Method::POST,
            "/act",
            json!({"user": "iago@example.com", "to": "hamlet@example.com", "topic": "t", "content": "c"}),
            400,
            "\"topic\" has no effect with \"to\"",
        ),
        (
            Method::POST,
            "/act",
            json!({"user": "iago@example.com", "path": "/users/me?client_gravatar=true", "method": "GET"}),
            400,
            "parameters belong into \"form\"",
        ),
        (Method::POST, "/restart", json!({"down": -1}), 400, "\"down\" is a number of seconds"),
        (Method::POST, "/restart", json!({"down": 1e300}), 400, "\"down\" is a number of seconds"),
        (Method::POST, "/clock", Value::Null, 405, "/clock knows GET, PUT, not POST"),
        (Method::GET, "/request", Value::Null, 404, "there is no '/request' here"),
        (Method::GET, "/requests?wait=many", Value::Null, 400, "'wait' is not a number"),
        (Method::GET, "/requests?path=messages", Value::Null, 400, "'messages' matches no path"),
        (Method::GET, "/requests?pending=False", Value::Null, 400, "'pending' is neither true nor false"),
        (Method::DELETE, "/requests?path=/messages", Value::Null, 400, "unknown parameter 'path'"),
        (Method::GET, "/request?path=/messages", Value::Null, 404, "there is no '/request' here"),
        (Method::GET, "/requests?waits=1", Value::Null, 400, "unknown parameter 'waits'"),
    ];
    for (method, path, body, status, text) in cases {
        let (found, answer) = server.ask(method.clone(), path, body).await;
        assert!(found == status && answer["result"] == "error", "{method} {path}: {found} {answer}");
        assert!(answer["msg"].as_str().unwrap().contains(text), "{method} {path}: {answer}");
    }
}

#[tokio::test]
async fn the_clock_moves_queues_and_scheduled_messages() {
    let server = Program::start(SMALL.replacen('{', "{\"clock\": \"2027-01-01T00:00:00Z\",", 1), &[]);
    let start = server.control("PUT", "/clock", json!({"frozen": true, "now": "2027-01-01T00:00:00Z"})).await;
    assert_eq!(start, json!({"now": "2027-01-01T00:00:00Z", "timestamp": 1_798_761_600.0, "frozen": true}));
    let verona = server.get("/get_stream_id?stream=Verona", IAGO).await["stream_id"].clone();
    let later = json!({"type": "channel", "to": verona, "topic": "later", "content": "due",
        "scheduled_delivery_timestamp": 1_798_765_200});
    assert_eq!(server.post("/scheduled_messages", IAGO, later).await["result"], "success");
    let queue = server.post("/register", HAMLET, json!({"event_types": "[\"message\"]"})).await;
    let idle = server.post("/register", IAGO, json!({})).await;
    let of_hamlet = poll_path(&queue);
    let advance = async {
        server.control("GET", "/requests?path=/events&pending=true&wait=1&timeout=60", Value::Null).await;
        server.control("PUT", "/clock", json!({"advance": 3600})).await
    };
    let (events, now) = tokio::join!(server.get(&of_hamlet, HAMLET), advance);
    assert_eq!(now["now"], "2027-01-01T01:00:00Z");
    // The poll has waited longer than a heartbeat takes. The message is in the same answer or in the next.
    let mut list = events["events"].as_array().unwrap().clone();
    if list.iter().all(|event| event["type"] == "heartbeat") {
        assert_eq!(list.len(), 1);
        let next = of_hamlet.replace(&format!("={}", queue["last_event_id"]), &format!("={}", list[0]["id"]));
        list = server.get(&next, HAMLET).await["events"].as_array().unwrap().clone();
    }
    let message = &list.iter().find(|event| event["type"] == "message").unwrap()["message"];
    assert_eq!((&message["content"], &message["timestamp"]), (&json!("due"), &json!(1_798_765_200)));
    assert_eq!(
        server.get(&poll_path(&idle), IAGO).await["code"],
        "BAD_EVENT_QUEUE_ID",
        "nobody polled it for an hour"
    );
    let runs = server.control("PUT", "/clock", json!({"frozen": false})).await;
    assert_eq!(runs["frozen"], false);
}

/// The contents of all messages of Iago, the oldest first, with their dates.
async fn messages_of_iago(server: &Program) -> Vec<(String, i64)> {
    let page = "/messages?anchor=newest&num_before=99&num_after=0&apply_markdown=false";
    let answer = server.get(page, IAGO).await;
    let messages = answer["messages"].as_array().unwrap();
    let facts = messages.iter().map(|message| {
        (message["content"].as_str().unwrap().to_owned(), message["timestamp"].as_i64().unwrap())
    });
    facts.collect()
}

#[tokio::test]
async fn due_work_is_complete_when_the_clock_answers() {
    let server = Program::start(SMALL.replacen('{', "{\"clock\": \"2027-01-01T00:00:00Z\",", 1), &[]);
    let start = 1_798_761_600;
    server.control("PUT", "/clock", json!({"frozen": true, "now": start})).await;
    let to = server.get("/users/me", IAGO).await["user_id"].clone();
    // Further apart than the delay after which a scheduled message fails.
    for number in 1..=20 {
        let later = json!({"type": "direct", "to": format!("[{to}]"), "content": format!("scheduled {number}"),
            "scheduled_delivery_timestamp": start + 3600 * number});
        assert_eq!(server.post("/scheduled_messages", IAGO, later).await["result"], "success");
    }
    let reminder = json!({"message_id": 1, "scheduled_delivery_timestamp": start + 5400, "note": "look"});
    assert_eq!(server.post("/reminders", IAGO, reminder).await["result"], "success");
    let before = messages_of_iago(&server).await.len();

    // The queue of a poll that waits is kept, also if the poll ends on the way.
    let queue = server.post("/register", IAGO, json!({"event_types": "[\"message\"]"})).await;
    let path = |last: &Value| {
        format!("/events?queue_id={}&last_event_id={last}", queue["queue_id"].as_str().unwrap())
    };
    let first = path(&queue["last_event_id"]);
    let advance = async {
        server.control("GET", "/requests?path=/events&pending=true&wait=1&timeout=60", Value::Null).await;
        server.control("PUT", "/clock", json!({"advance": 24 * 3600})).await;
        messages_of_iago(&server).await
    };
    let (events, sent) = tokio::join!(server.get(&first, IAGO), advance);
    let of = |wanted: &str| -> Vec<i64> {
        sent.iter().filter(|(content, _)| content.starts_with(wanted)).map(|(_, time)| time - start).collect()
    };
    assert_eq!(of("scheduled "), (1..=20).map(|number| 3600 * number).collect::<Vec<_>>());
    assert_eq!(sent.len(), before + 21, "{sent:?}");
    assert!(sent.iter().any(|(content, time)| content.contains("look") && *time == start + 5400), "{sent:?}");
    // The poll answers with the first events, or with more if it comes to it later.
    let first = events["events"].as_array().unwrap();
    let last = first.last().unwrap()["id"].clone();
    let rest = server.get(&(path(&last) + "&dont_block=true"), IAGO).await;
    assert_eq!(first.len() + rest["events"].as_array().unwrap().len(), 21, "{events} {rest}");

    // All messages are older than the retention period.
    let kept = json!({"message_retention_days": "30"});
    assert_eq!(server.request(Method::PATCH, "/realm", IAGO).form(&kept).send().await.unwrap().status(), 200);
    server.control("PUT", "/clock", json!({"advance": 60 * 24 * 3600})).await;
    assert_eq!(messages_of_iago(&server).await, []);
    assert_eq!(server.get(&path(&last), IAGO).await["code"], "BAD_EVENT_QUEUE_ID");
}

#[tokio::test]
async fn presence_waiting_periods_and_activity_follow_the_clock() {
    const DAY: i64 = 24 * 3600;
    let start = 1_798_761_600;
    let fixtures = "{\"clock\": \"2027-01-01T00:00:00Z\", \"settings\": {\"waiting_period_threshold\": 3},";
    let server = Program::start(SMALL.replacen('{', fixtures, 1), &[]);
    server.control("PUT", "/clock", json!({"frozen": true, "now": start})).await;
    let groups = server.get("/user_groups", IAGO).await["user_groups"].clone();
    let full_members = groups.as_array().unwrap().iter().find(|group| group["name"] == "role:fullmembers");
    let permission =
        json!({"can_create_public_channel_group": format!("{{\"new\": {}}}", full_members.unwrap()["id"])});
    let changed = server.request(Method::PATCH, "/realm", IAGO).form(&permission).send().await.unwrap();
    assert_eq!(changed.status(), 200);
    let ping = json!({"status": "active", "ping_only": "true"});
    assert_eq!(server.post("/users/me/presence", HAMLET, ping).await["result"], "success");

    let presence = async || {
        let seen = server.get("/users/hamlet@example.com/presence", IAGO).await;
        (
            seen["presence"]["aggregated"]["status"].clone(),
            seen["presence"]["aggregated"]["timestamp"].clone(),
        )
    };
    let create = async || {
        let subscribe = json!({"subscriptions": "[{\"name\": \"of hamlet\"}]"});
        server.post("/users/me/subscriptions", HAMLET, subscribe).await["result"].clone()
    };
    let verona = async || {
        let channels = server.get("/streams", HAMLET).await["streams"].clone();
        let found = channels.as_array().unwrap().iter().find(|channel| channel["name"] == "Verona").cloned();
        found.unwrap()["is_recently_active"].clone()
    };
    server.send("now").await.unwrap();
    assert_eq!(presence().await, ("active".into(), start.into()));
    assert_eq!((create().await, verona().await), ("error".into(), true.into()));

    // One second before the period ends, and its end.
    server.control("PUT", "/clock", json!({"advance": 3 * DAY - 1})).await;
    assert_eq!(presence().await, ("offline".into(), start.into()));
    assert_eq!(create().await, "error");
    let queue = server.post("/register", HAMLET, json!({"event_types": "[\"user_group\"]"})).await;
    server.control("PUT", "/clock", json!({"advance": 1})).await;
    let poll = format!("/events?queue_id={}&last_event_id=-1", queue["queue_id"].as_str().unwrap());
    let joined = server.get(&poll, HAMLET).await["events"][0].clone();
    assert_eq!((&joined["type"], &joined["op"]), (&json!("user_group"), &json!("add_members")), "{joined}");
    assert_eq!(joined["group_id"], full_members.unwrap()["id"]);
    assert_eq!(create().await, "success");

    server.control("PUT", "/clock", json!({"advance": 180 * DAY})).await;
    assert_eq!(verona().await, false);
}

#[tokio::test]
async fn older_levels_hide_later_members() {
    let server = Program::start(SMALL, &[]);
    let level = server.control("PUT", "/level", json!({"feature_level": 237})).await;
    assert_eq!(level["version"], "8.0");
    let settings = server.get("/server_settings", IAGO).await;
    assert_eq!((&settings["zulip_feature_level"], &settings["zulip_version"]), (&json!(237), &json!("8.0")));
    let state = server.post("/register", IAGO, json!({})).await;
    assert_eq!(state["zulip_feature_level"], 237);
    assert!(state["channel_folders"].is_null() && state["navigation_views"].is_null());
    assert!(
        state["subscriptions"][0]["is_archived"].is_null() && state["subscriptions"][0]["name"] == "Verona"
    );
    // Permissions as groups came one at a time: two of the organization, one of channels and one of groups.
    let permissions = |object: &Value, is_permission: fn(&str) -> bool| -> Vec<String> {
        let mut names: Vec<_> = object.as_object().unwrap().keys().cloned().collect();
        names.retain(|name| is_permission(name));
        names.sort();
        names
    };
    let of_organization = permissions(&state, |name| name.starts_with("realm_") && name.ends_with("_group"));
    assert_eq!(of_organization, ["realm_can_access_all_users_group", "realm_create_multiuse_invite_group"]);
    assert_eq!(
        (&state["realm_delete_own_message_policy"], &state["realm_edit_topic_policy"]),
        (&json!(5), &json!(5))
    );
    let of_channel = permissions(&state["subscriptions"][0], |name| name.starts_with("can_"));
    assert_eq!(of_channel, ["can_remove_subscribers_group"]);
    let of_group = permissions(&state["realm_user_groups"][0], |name| name.starts_with("can_"));
    assert_eq!(of_group, ["can_mention_group"]);
    server.control("DELETE", "/level", Value::Null).await;
    assert_eq!(server.post("/register", IAGO, json!({})).await["zulip_feature_level"], 421);
}

#[tokio::test]
async fn a_reset_undoes_everything_and_clients_go_on() {
    let server = Program::start(SMALL, &[]);
    for round in 0..3 {
        let queue = server.post("/register", HAMLET, json!({})).await;
        for number in 0..20 {
            assert_eq!(
                server.send(&format!("searchable {number}")).await.unwrap()["id"],
                3 + number,
                "round {round}"
            );
        }
        let subscribe = json!({"subscriptions": "[{\"name\": \"new\"}]"});
        assert_eq!(server.post("/users/me/subscriptions", IAGO, subscribe).await["result"], "success");
        let regenerated = server.post("/users/me/api_key/regenerate", IAGO, json!({})).await;
        assert_eq!(regenerated["result"], "success");
        assert_eq!(server.get("/users/me", IAGO).await["code"], "UNAUTHORIZED");
        server.control("PUT", "/clock", json!({"advance": 1_000_000, "frozen": true})).await;
        server.control("PUT", "/level", json!({"feature_level": 100})).await;
        server.control("POST", "/faults", json!({"status": 500, "path": "/never"})).await;

        server.control("POST", "/reset", Value::Null).await;
        assert_eq!(server.get("/users/me", IAGO).await["result"], "success");
        let path = format!("/events?queue_id={}&last_event_id=-1", queue["queue_id"].as_str().unwrap());
        assert_eq!(server.get(&path, HAMLET).await["code"], "BAD_EVENT_QUEUE_ID");
        let names: Vec<_> = server.get("/streams", IAGO).await["streams"]
            .as_array()
            .unwrap()
            .iter()
            .map(|channel| channel["name"].clone())
            .collect();
        assert_eq!(names, ["Verona", "core"]);
        let narrow = "[{\"operator\": \"search\", \"operand\": \"searchable\"}]";
        let found = server
            .request(Method::GET, "/messages", IAGO)
            .query(&[("narrow", narrow), ("anchor", "newest"), ("num_before", "9"), ("num_after", "0")])
            .send()
            .await
            .unwrap()
            .json::<Value>()
            .await
            .unwrap();
        assert_eq!(found["messages"], json!([]));
        assert_eq!(server.control("GET", "/clock", Value::Null).await["frozen"], false);
        assert_eq!(server.control("GET", "/faults", Value::Null).await, json!({"faults": []}));
        // A queue with the current level receives current events.
        let queue = server.post("/register", HAMLET, json!({"event_types": "[\"message\"]"})).await;
        assert_eq!(queue["zulip_feature_level"], 421);
        server.send("after the reset").await.unwrap();
        let path = poll_path(&queue);
        let events = server.get(&path, HAMLET).await;
        assert_eq!(events["events"][0]["message"]["id"], 3, "{events}");
        server.control("POST", "/reset", Value::Null).await;
    }
}

#[tokio::test]
async fn a_reset_goes_back_to_the_last_snapshot() {
    let server = Program::start(SMALL, &[]);
    let linkifier = json!({"pattern": "#(?P<id>[0-9]+)", "url_template": "https://example.com/{id}"});
    assert_eq!(server.post("/realm/filters", IAGO, linkifier).await["result"], "success");
    server.send("in the snapshot #7").await.unwrap();
    server.control("PUT", "/clock", json!({"now": "2031-05-01T00:00:00Z", "frozen": true})).await;
    server.control("POST", "/snapshot", Value::Null).await;
    for _ in 0..2 {
        let sent = server.send("after it").await.unwrap();
        assert_eq!(sent["id"], 4, "the message of the snapshot is there");
        server.control("PUT", "/clock", json!({"advance": 86400, "frozen": false})).await;
        server.control("POST", "/reset", Value::Null).await;
        let linkifiers = server.get("/realm/linkifiers", IAGO).await;
        assert_eq!(linkifiers["linkifiers"].as_array().unwrap().len(), 1);
        let clock = server.control("GET", "/clock", Value::Null).await;
        assert_eq!((&clock["now"], &clock["frozen"]), (&json!("2031-05-01T00:00:00Z"), &json!(true)));
    }
    // A clock that runs as the system's is not part of it.
    server.control("POST", "/restart", Value::Null).await;
    assert_eq!(server.get("/messages/3", IAGO).await["message"]["content"], EXPECTED_LINK);
}

const EXPECTED_LINK: &str = "<p>in the snapshot <a href=\"https://example.com/7\">#7</a></p>";

#[tokio::test]
async fn unknown_parameters_and_errors_are_recorded_and_refused_by_strict_servers() {
    let server = Program::start(SMALL, &[]);
    let misspelled =
        json!({"type": "channel", "to": "Verona", "topic": "t", "content": "x", "sendr": "1", "A": "2"});
    let sent = server.post("/messages", IAGO, misspelled.clone()).await;
    assert_eq!(
        (&sent["result"], &sent["ignored_parameters_unsupported"]),
        (&json!("success"), &json!(["A", "sendr"]))
    );
    server.get("/messages/99", IAGO).await;
    server.get("/users/me", IAGO).await;
    let recorded = server.control("GET", "/requests", Value::Null).await;
    let facts = |index: usize| {
        (recorded["requests"][index]["ignored"].clone(), recorded["requests"][index]["code"].clone())
    };
    assert_eq!(facts(0), (json!(["A", "sendr"]), Value::Null));
    assert_eq!(facts(1), (json!([]), json!("BAD_REQUEST")));
    assert_eq!(facts(2), (json!([]), Value::Null));

    let strict = Program::start(SMALL, &["--strict"]);
    let refused = strict.request(Method::POST, "/messages", IAGO).form(&misspelled).send().await.unwrap();
    assert_eq!(refused.status(), 400);
    let refused: Value = refused.json().await.unwrap();
    assert_eq!(
        (&refused["code"], &refused["msg"]),
        (&json!("BAD_REQUEST"), &json!("Unknown parameters (--strict): A, sendr"))
    );
    let recorded = strict.control("GET", "/requests", Value::Null).await;
    assert_eq!(recorded["requests"][0]["status"], 400);
    assert_eq!(strict.send("without").await.unwrap()["result"], "success");
}

#[tokio::test]
async fn restarts_keep_address_rows_and_queues() {
    let server = Program::start(SMALL, &[]);
    let queue = server.post("/register", HAMLET, json!({"event_types": "[\"message\"]"})).await;
    let path = poll_path(&queue);
    for (number, how) in
        [Value::Null, json!({"abrupt": true}), json!({"abrupt": true, "down": 0.1})].into_iter().enumerate()
    {
        assert_eq!(server.send("before").await.unwrap()["id"], 3 + 2 * number);
        server.control("POST", "/restart", how).await;
        assert_eq!(server.send("after").await.unwrap()["id"], 4 + 2 * number);
        let events = server.get(&path, HAMLET).await;
        assert_eq!(events["events"].as_array().unwrap().len(), 2 + 2 * number, "{events}");
    }
    server.control("POST", "/reset", Value::Null).await;
    assert_eq!(server.send("again").await.unwrap()["id"], 3);
}

#[tokio::test]
async fn a_restart_is_completed_without_its_client() {
    let server = Program::start(SMALL, &[]);
    let restart = server.http.post(format!("{}/restart", server.control)).json(&json!({"down": 2}));
    tokio::select! {
        answer = restart.send() => panic!("the server was never away: {answer:?}"),
        () = async { while server.send("before").await.is_ok() {} } => {}
    }
    // It waits until the server is back.
    server.control("POST", "/reset", Value::Null).await;
    assert_eq!(server.send("after").await.unwrap()["id"], 3);
}

#[tokio::test]
async fn act_performs_operations_of_users() {
    let server = Program::start(SMALL, &[]);
    let queue = server
        .post("/register", IAGO, json!({"event_types": "[\"message\", \"reaction\", \"typing\"]"}))
        .await;
    let act = |act: Value| server.control("POST", "/act", act);
    let hamlet = "hamlet@example.com";
    let sent = act(json!({"user": hamlet, "channel": "Verona", "topic": "t", "content": "sent"})).await;
    assert_eq!(sent["id"], 3);
    act(json!({"user": hamlet, "to": "iago@example.com", "content": "direct"})).await;
    act(json!({"user": hamlet, "react": "tada", "message": 3})).await;
    act(json!({"user": hamlet, "typing": "start", "to": ["iago@example.com"]})).await;
    act(json!({"user": hamlet, "method": "PATCH", "path": "/messages/3", "form": {"content": "edited"}}))
        .await;
    let refused = server
        .ask(Method::POST, "/act", json!({"user": hamlet, "channel": "core", "topic": "t", "content": "x"}))
        .await;
    assert_eq!((refused.0, &refused.1["msg"]), (400, &json!("Not authorized to send to channel 'core'")));
    let path = poll_path(&queue);
    let events = server.get(&path, IAGO).await;
    let types: Vec<_> =
        events["events"].as_array().unwrap().iter().map(|event| event["type"].clone()).collect();
    assert_eq!(types, ["message", "message", "reaction", "typing"]);
    assert_eq!(
        server.control("GET", "/requests?user=hamlet@example.com", Value::Null).await,
        json!({"requests": []})
    );
    let dumped = server.control("GET", "/fixtures", Value::Null).await;
    assert_eq!(dumped["messages"][2]["content"], "edited");
}
