//! `POST /external/{integration}`.

mod cases;
mod missing_members;

use crate::harness::{Answer, Client, TestServer};
use hyper::Method;
use serde_json::{Value, json};
use std::time::Duration;
use teamchat::app::{Options, Overrides};
use teamchat::commands;
use teamchat::commands::Command;

/// A bot that only delivers. Returns its key.
async fn key(owner: &Client) -> String {
    let params =
        json!({"full_name": "Deliverer", "short_name": "deliverer", "bot_type": 2, "service_name": "json"});
    owner.post("/bots", params).await.ok()["api_key"].as_str().unwrap().to_owned()
}

async fn tell(server: &TestServer, query: Value, body: &str) -> Answer {
    let request = server.anonymous().request(Method::POST, "/external/json").query(query);
    request.body("application/json", body.to_owned()).send().await
}

async fn newest(client: &Client) -> Value {
    let fetch = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "apply_markdown": false});
    client.get("/messages", fetch).await.ok()["messages"][0].clone()
}

#[tokio::test]
async fn json_is_shown_in_a_channel_or_to_the_owner() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let api_key = key(&ada).await;
    let body = r#"{"b":[1,"```"],"a":null}"#;
    let shown = "````json\n{\n  \"b\": [\n    1,\n    \"```\"\n  ],\n  \"a\": null\n}\n````";
    tell(&server, json!({"api_key": api_key, "stream": "general"}), body).await.ok();
    let message = newest(&ada).await;
    assert_eq!((&message["content"], &message["subject"]), (&json!(shown), &json!("JSON")));
    assert_eq!((&message["stream_id"], &message["client"]), (&json!(general), &json!("ZulipJSONWebhook")));
    tell(&server, json!({"api_key": api_key, "stream": general, "topic": "builds"}), "1").await.ok();
    let message = newest(&ada).await;
    assert_eq!((&message["content"], &message["subject"]), (&json!("```json\n1\n```"), &json!("builds")));
    tell(&server, json!({"api_key": api_key}), "\"hi\"").await.ok();
    let message = newest(&ada).await;
    assert_eq!((&message["type"], &message["content"]), (&json!("private"), &json!("```json\n\"hi\"\n```")));
    assert_eq!(message["sender_full_name"], "Deliverer");
}

#[tokio::test]
async fn channels_and_topics_may_be_encoded_twice() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let channel = server.channel("über uns", &[&ada]).await;
    let api_key = key(&ada).await;
    for (stream, topic, expected) in [
        ("%C3%BCber%20uns", "caf%C3%A9%20%231", "café #1"),
        ("über uns", "50% off", "50% off"),
        ("über uns", "%FF", "%FF"),
    ] {
        tell(&server, json!({"api_key": api_key, "stream": stream, "topic": topic}), "1").await.ok();
        let message = newest(&ada).await;
        assert_eq!((&message["stream_id"], &message["subject"]), (&json!(channel), &json!(expected)));
    }
}

/// Direct messages, and a channel without topics, which accepts messages of programs that give theirs topics, show the titles that
/// these would be.
#[tokio::test]
async fn messages_without_topics_show_titles() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let channel = json!({"name": "news", "subscribers": [ada.user_id], "topics_policy": "empty_topic_only"});
    let channel = crate::channels::channel_with(&owner, channel).await;
    let repository = json!({"name": "r", "full_name": "x/r", "html_url": "http://g"});
    let issue = json!({"number": 1, "title": "Crash", "html_url": "http://g/1", "body": null});
    let payload =
        json!({"action": "opened", "issue": issue, "repository": repository, "sender": {"login": "x"}});
    let api_key = key(&ada).await;
    let queries = [
        json!({"api_key": api_key, "stream": channel}),
        json!({"api_key": api_key, "stream": "news"}),
        json!({"api_key": api_key}),
    ];
    for (query, place) in queries.into_iter().zip([json!(channel), json!(channel), json!(null)]) {
        let request = server.anonymous().request(Method::POST, "/external/github").query(query);
        let request = request.header("X-GitHub-Event", "issues");
        request.body("application/json", payload.to_string()).send().await.ok();
        let message = newest(&ada).await;
        let found = (&message["stream_id"], &message["content"]);
        assert_eq!(found, (&place, &json!("x opened [issue #1 Crash](http://g/1).")));
    }
}

// conformance: conv-85
#[tokio::test]
async fn payloads_are_read_in_their_charset() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let api_key = key(&ada).await;
    let deliver = |integration: &str, content_type: &str, body: &[u8]| {
        let request = server.anonymous().request(Method::POST, &format!("/external/{integration}"));
        request.query(json!({"api_key": api_key})).body(content_type, body.to_vec()).send()
    };
    let cases: [(&str, &str, &[u8], &str); 6] = [
        ("json", "application/json; charset=iso-8859-1", b"\"caf\xe9 1\"", "```json\n\"café 1\"\n```"),
        ("json", "application/json", b"\xef\xbb\xbf\"caf\xc3\xa9 2\"", "```json\n\"café 2\"\n```"),
        ("json", "application/json; charset=utf-16", b"[\0\"\0\xe9\0\"\0]\0", "```json\n[\n  \"é\"\n]\n```"),
        (
            "json",
            "application/x-www-form-urlencoded; charset=iso-8859-1",
            b"payload=%22caf%E9+3%22",
            "```json\n\"café 3\"\n```",
        ),
        ("text", "text/plain; charset=windows-1251", b"\xcf\xf0\xe8", "При"),
        ("text", "text/plain", b"\xef\xbb\xbfcaf\xc3\xa9 4", "café 4"),
    ];
    for (integration, content_type, body, expected) in cases {
        deliver(integration, content_type, body).await.ok();
        assert_eq!(newest(&ada).await["content"], expected, "{content_type}");
    }
    for (integration, content_type) in
        [("json", "application/json; charset=klingon"), ("text", "text/plain; charset=klingon")]
    {
        let refused = deliver(integration, content_type, b"{}").await;
        refused.error(400, "BAD_REQUEST", "Unknown charset: klingon");
    }
    let notice = ada.notices().await.remove(0);
    assert!(notice.contains("Unknown charset") && notice.contains("klingon"), "{notice}");
    deliver("json", "application/json", b"\"caf\xe9\"").await.error(400, "INVALID_JSON", "Malformed JSON");
    deliver("text", "text/plain", b"caf\xe9").await.error(400, "BAD_REQUEST", "Malformed payload");
}

// conformance: send-22
#[tokio::test]
async fn line_feeds_around_delivered_texts_are_removed() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let api_key = key(&ada).await;
    for (integration, content_type, body) in [
        ("text", "text/plain", "\n/me waves\n"),
        ("ifttt", "application/json", r#"{"topic": "t", "content": "\n/me waves\n"}"#),
    ] {
        let request = server.anonymous().request(Method::POST, &format!("/external/{integration}"));
        request.query(json!({"api_key": api_key})).body(content_type, body).send().await.ok();
        let message = newest(&ada).await;
        let found = (&message["content"], &message["is_me_message"]);
        assert_eq!(found, (&json!("/me waves"), &json!(true)), "{integration}");
    }
}

#[tokio::test]
async fn undeliverable_messages_are_refused() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    server.private_channel("secret", &[&owner]).await;
    let api_key = key(&ada).await;
    let missing = tell(&server, json!({}), "1").await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'api_key' argument");
    tell(&server, json!({"api_key": "x"}), "1").await.error(401, "INVALID_API_KEY", "Malformed API key");
    let unknown = "0".repeat(32);
    tell(&server, json!({"api_key": unknown}), "1").await.error(401, "INVALID_API_KEY", "Invalid API key");
    for body in ["", "{", "hello"] {
        tell(&server, json!({"api_key": api_key}), body).await.error(400, "INVALID_JSON", "Malformed JSON");
    }
    let secret = tell(&server, json!({"api_key": api_key, "stream": "secret"}), "1").await;
    secret.error(400, "BAD_REQUEST", "Not authorized to send to channel 'secret'");
    let other =
        server.anonymous().request(Method::POST, "/external/nothing").query(json!({"api_key": api_key}));
    other.body("application/json", "1").send().await.error(404, "BAD_REQUEST", "Not found");
    ada.delete(&format!("/bots/{}", ada.user_id + 1), ()).await.ok();
    tell(&server, json!({"api_key": api_key}), "1").await.error(
        401,
        "USER_DEACTIVATED",
        "Account is deactivated",
    );
}

#[tokio::test]
async fn bots_that_only_deliver_may_send_and_nothing_else() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut bot = server.anonymous();
    bot.api_key = Some(key(&ada).await);
    bot.email = ada.get("/bots", ()).await.ok()["bots"][0]["username"].as_str().unwrap().to_owned();
    let message = json!({"type": "direct", "to": [ada.user_id], "content": "built"});
    bot.post("/messages", message).await.ok();
    let msg = "This API is not available to incoming webhook bots.";
    bot.get("/messages", json!({"anchor": "newest"})).await.error(401, "UNAUTHORIZED", msg);
    bot.post("/register", ()).await.error(401, "UNAUTHORIZED", msg);
    bot.get("/users/me", ()).await.error(401, "UNAUTHORIZED", msg);
}

// conformance: bot-23
#[tokio::test]
async fn the_owner_learns_of_a_missing_channel_at_most_once_an_hour() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let api_key = key(&ada).await;
    let bot = &ada.get("/bots", ()).await.ok()["bots"][0]["username"].as_str().unwrap().to_owned();
    let missing = json!({"api_key": api_key, "stream": "no*where"});
    // The sender cannot do anything about it.
    tell(&server, missing.clone(), "1").await.ok();
    let notice = format!(
        "Your bot `{bot}` tried to send a message to channel #**`no*where`**, but that channel does not exist. Click \
         [here](#channels/new) to create it."
    );
    assert_eq!(ada.notices().await, std::slice::from_ref(&notice));
    tell(&server, missing.clone(), "1").await.ok();
    server.clock.advance(3599);
    tell(&server, missing.clone(), "1").await.ok();
    assert_eq!(ada.notices().await.len(), 1);
    server.clock.advance(1);
    tell(&server, json!({"api_key": api_key, "stream": 999}), "1").await.ok();
    let by_id = format!(
        "Your bot `{bot}` tried to send a message to channel ID 999, but there is no channel with that ID."
    );
    assert_eq!(ada.notices().await, [notice, by_id]);
}

// conformance: bot-24
#[tokio::test]
async fn undelivered_messages_of_bots_are_reported() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bot = server.bot("robot", &ada).await;
    let to_unknown = json!({"type": "channel", "to": "[999]", "topic": "a", "content": "hi"});
    let answer = bot.post("/messages", to_unknown.clone()).await;
    answer.error(400, "STREAM_DOES_NOT_EXIST", "Channel with ID '999' does not exist");
    let email = &bot.email;
    let notice = format!(
        "Your bot `{email}` tried to send a message to channel ID 999, but there is no channel with that ID."
    );
    assert_eq!(ada.notices().await, [notice]);
    server.clock.advance(3600);
    server.channel("empty", &[&ada]).await;
    ada.delete("/users/me/subscriptions", json!({"subscriptions": ["empty"]})).await.ok();
    let to_empty = json!({"type": "channel", "to": "empty", "topic": "a", "content": "hi"});
    bot.post("/messages", to_empty).await.ok();
    let notice = format!(
        "Your bot `{email}` tried to send a message to channel #**empty**. The channel exists but does not have any \
         subscribers."
    );
    assert_eq!(ada.notices().await[1], notice);
    // Users get the error, without a notice.
    ada.post("/messages", to_unknown).await.error(
        400,
        "STREAM_DOES_NOT_EXIST",
        "Channel with ID '999' does not exist",
    );
    assert_eq!(ada.notices().await.len(), 2);
}

#[tokio::test]
async fn the_owner_learns_why_a_delivery_failed() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    server.private_channel("secret", &[&owner]).await;
    let general = server.channel("general", &[&ada]).await;
    let api_key = key(&ada).await;
    let deliver = async |integration: &str, query: Value, body: &str| {
        let path = format!("/external/{integration}");
        let mut all = json!({"api_key": api_key, "stream": general});
        all.as_object_mut().unwrap().extend(query.as_object().unwrap().clone());
        let request = server.anonymous().request(Method::POST, &path).query(all);
        let answer = request.body("application/json", body.to_owned()).send().await;
        server.clock.advance(3600);
        answer
    };
    let cases = [
        ("json", json!({}), "{", 400, "INVALID_JSON", "Malformed JSON", Some("didn't correctly configure")),
        (
            "github",
            json!({}),
            "{}",
            400,
            "MISSING_HTTP_EVENT_HEADER",
            "Missing the HTTP event header 'X-GitHub-Event'",
            Some("missing the HTTP X-GitHub-Event header"),
        ),
        (
            "grafana",
            json!({}),
            "{\"alerts\": [{}]}",
            400,
            "ANOMALOUS_WEBHOOK_PAYLOAD",
            "Unable to parse request: Did Grafana generate this event?",
            Some("Your bot Deliverer just received"),
        ),
        (
            "zabbix",
            json!({}),
            "{}",
            400,
            "BAD_REQUEST",
            "Invalid payload",
            Some("Your bot Deliverer just received"),
        ),
        ("ifttt", json!({}), "{}", 400, "BAD_REQUEST", "Topic can't be empty", Some("Topic can't be empty")),
        (
            "ifttt",
            json!({}),
            "{\"topic\": \"a\"}",
            400,
            "BAD_REQUEST",
            "Content can't be empty",
            Some("Content can't be empty"),
        ),
        (
            "zapier",
            json!({}),
            "{\"topic\": 7}",
            400,
            "BAD_REQUEST",
            "Malformed payload",
            Some("Malformed payload"),
        ),
        (
            "sonarr",
            json!({}),
            "{\"eventType\": \"Later\"}",
            200,
            "UNSUPPORTED_WEBHOOK_EVENT_TYPE",
            "The 'Later' event isn't currently supported by the Sonarr webhook; ignoring",
            None,
        ),
        (
            "json",
            json!({"stream": "secret"}),
            "1",
            400,
            "BAD_REQUEST",
            "Not authorized to send to channel 'secret'",
            Some("Not authorized to send to channel 'secret'"),
        ),
    ];
    let mut count = 0;
    for (integration, query, body, status, code, msg, notice) in cases {
        deliver(integration, query, body).await.error(status, code, msg);
        let notices = ada.notices().await;
        count += usize::from(notice.is_some());
        assert_eq!(notices.len(), count, "{integration} {body}");
        if let Some(notice) = notice {
            assert!(notices[count - 1].contains(notice), "{}", notices[count - 1]);
        }
    }
}

#[tokio::test]
async fn payloads_come_as_forms_and_texts_too() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    server.channel("general", &[&ada]).await;
    let api_key = key(&ada).await;
    let request = |integration: &str, query: Value| {
        let mut all = json!({"api_key": api_key, "stream": "general"});
        all.as_object_mut().unwrap().extend(query.as_object().unwrap().clone());
        server.anonymous().request(Method::POST, &format!("/external/{integration}")).query(all)
    };
    let form = json!({"payload": "{\"text\": \"*hi*\", \"channel\": \"#ops\"}"});
    let answer = request("slack_incoming", json!({})).form(form).send().await.ok();
    assert_eq!(answer["ok"], true);
    let message = newest(&ada).await;
    assert_eq!((&message["content"], &message["subject"]), (&json!("**hi**"), &json!("ops")));
    assert_eq!(message["client"], "ZulipSlackIncomingWebhook");
    // `curl -d` says that JSON is a form. A parameter within its texts is none.
    let body = r#"{"text": "a&stream=secret&topic=b"}"#;
    request("slack_incoming", json!({})).body("application/x-www-form-urlencoded", body).send().await.ok();
    assert_eq!(newest(&ada).await["content"], "a&stream=secret&topic=b");
    let multipart = json!({"data": "{\"heartbeat\": null, \"monitor\": null, \"msg\": \"Testing\"}"});
    request("uptimekuma", json!({})).multipart(multipart, &[]).send().await.ok();
    assert_eq!(newest(&ada).await["content"], ":check: Testing");
    let text = request("text", json!({"topic": "backup"}));
    text.body("application/x-www-form-urlencoded", "Done: 100% & checked").send().await.ok();
    let message = newest(&ada).await;
    assert_eq!(
        (&message["content"], &message["subject"]),
        (&json!("Done: 100% & checked"), &json!("backup"))
    );
    let nothing = request("text", json!({})).send().await;
    nothing.error(400, "BAD_REQUEST", "Message must not be empty");
    let auth = request("zapier", json!({})).body("application/json", r#"{"type": "auth"}"#).send().await.ok();
    assert_eq!(auth["full_name"], "Deliverer");
    let large = vec![b' '; (4 << 20) + 1];
    let large = request("json", json!({})).body("application/json", large).send().await;
    large.error(413, "BAD_REQUEST", "Request body is too large");
    let deep = "[".repeat(10_000);
    let deep = request("json", json!({})).body("application/json", deep).send().await;
    deep.error(400, "INVALID_JSON", "Malformed JSON");
}

#[tokio::test]
async fn errors_for_slack_clients_have_the_members_that_they_know() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    server.private_channel("secret", &[&owner]).await;
    let api_key = key(&ada).await;
    let deliver = |integration: &str, body: &str| {
        let request = server.anonymous().request(Method::POST, &format!("/external/{integration}"));
        let request = request.query(json!({"api_key": api_key, "stream": "secret"}));
        request.body("application/json", body.to_owned()).send()
    };
    for (body, code, msg) in [
        (r#"{"text": "hi"}"#, "BAD_REQUEST", "Not authorized to send to channel 'secret'"),
        ("{", "INVALID_JSON", "Malformed JSON"),
    ] {
        let error = deliver("slack_incoming", body).await.error(400, code, msg);
        assert_eq!((&error["ok"], &error["error"]), (&json!(false), &json!(msg)));
    }
    let error = deliver("json", "{").await.error(400, "INVALID_JSON", "Malformed JSON");
    assert_eq!((error.get("ok"), error.get("error")), (None, None));
}

#[tokio::test]
async fn payloads_use_wildcards_with_the_bots_permission() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let mut people = vec![owner.clone()];
    for index in 0..16 {
        people.push(server.member(&format!("member{index}")).await);
    }
    let everybody: Vec<&Client> = people.iter().collect();
    server.channel("small", &everybody[..2]).await;
    server.channel("large", &everybody).await;
    let api_key = key(&people[1]).await;
    for (stream, flags) in
        [("small", json!(["stream_wildcard_mentioned", "wildcard_mentioned"])), ("large", json!([]))]
    {
        let request = server.anonymous().request(Method::POST, "/external/slack_incoming");
        let request = request.query(json!({"api_key": api_key, "stream": stream}));
        request.body("application/json", r#"{"text": "<!channel> down"}"#).send().await.ok();
        let message = newest(&owner).await;
        assert_eq!(message["flags"], flags, "{stream}");
    }
}

#[tokio::test]
async fn bot_create_prints_a_webhook_url() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let alerts = server.channel("alerts", &[&ada]).await;
    let create = |integration: &str, channel: &str, owner: Option<&str>| Command::CreateWebhookBot {
        integration: integration.to_owned(),
        channel: channel.to_owned(),
        owner: owner.map(str::to_owned),
        full_name: None,
    };
    let bot = server.command(create("grafana", "alerts", None)).await;
    assert_eq!((&bot["full_name"], &bot["owner"]), (&json!("Grafana"), &json!(owner.full_name)));
    let path = bot["path"].as_str().unwrap();
    assert!(path.ends_with(&format!("&stream={alerts}")), "{path}");
    let body = r#"{"title": "a", "ruleName": "b", "ruleUrl": "http://x.example", "state": "ok"}"#;
    let request = server.anonymous().request_outside(Method::POST, path);
    request.body("application/json", body).send().await.ok();
    assert_eq!(newest(&ada).await["sender_full_name"], "Grafana");
    let second = server.command(create("grafana", "alerts", Some(&ada.email))).await;
    assert_eq!((&second["full_name"], &second["owner"]), (&json!("Grafana 2"), &json!(ada.full_name)));
    let refusal =
        async |command: Command| commands::run(server.app(), command).await.unwrap_err().msg().to_owned();
    assert!(
        refusal(create("excel", "alerts", None))
            .await
            .starts_with("unknown integration 'excel'; available: ")
    );
    assert_eq!(refusal(create("json", "nowhere", None)).await, "There is no channel 'nowhere'");
    let msg = "No active person has the email 'eve@example.com'";
    assert_eq!(refusal(create("json", "alerts", Some("eve@example.com"))).await, msg);
}

/// A character that the renderer leaves out hides neither a mention nor the end of a quote.
#[tokio::test]
async fn text_of_strangers_cannot_mention_or_leave_quotes() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    server.channel("general", &[&ada, &bob]).await;
    let params = json!({"full_name": "Hub", "short_name": "hub", "bot_type": 2, "service_name": "github"});
    let key = ada.post("/bots", params).await.ok()["api_key"].as_str().unwrap().to_owned();
    for (title, body) in [
        ("@\u{1}**all** @\u{7f}**bob**", "x\n~\u{1}~~\n@\u{1}**all** outside"),
        ("@**all**", "x\r~~~\r@**all** outside"),
        ("@**bob**", "x\n~~~\u{85}\n@*role:members* outside"),
    ] {
        let user = json!({"login": "x"});
        let repository = json!({"name": "r", "full_name": "x/r", "html_url": "http://g"});
        let issue =
            json!({"number": 1, "title": title, "html_url": "http://g/1", "body": body, "user": user});
        let payload = json!({"action": "opened", "issue": issue, "repository": repository, "sender": user});
        let request = server.anonymous().request(Method::POST, "/external/github");
        let request = request.query(json!({"api_key": key, "stream": "general"}));
        let request = request.header("X-GitHub-Event", "issues");
        request.body("application/json", payload.to_string()).send().await.ok();
        let id = newest(&bob).await["id"].as_i64().unwrap();
        let message = bob.message(id).await;
        assert_eq!(message["flags"], json!([]), "{title:?}");
        let html = message["content"].as_str().unwrap();
        let (_, after) = html.rsplit_once("</blockquote>").unwrap();
        assert!(html.contains("outside") && !after.contains("outside"), "{html}");
    }
}

/// When the time for the formulas of a payload is over, its messages arrive with formulas as typed.
#[tokio::test]
async fn formulas_of_a_payload_have_a_limit_of_time() {
    let alert = |host: &str, status: &str| {
        let labels = json!({"alertname": "a load of $$x$$", "instance": host});
        json!({"status": status, "labels": labels, "annotations": {}})
    };
    let alerts = [alert("one", "firing"), alert("one", "resolved"), alert("two", "firing")];
    let body = json!({"alerts": alerts}).to_string();
    for (time_for_formulas, part) in [
        (None, "a load of <span class=\"katex\">"),
        (Some(Duration::ZERO), "a load of <span class=\"tex-error\">$$x$$</span></p>"),
    ] {
        let overrides = Overrides { time_for_formulas, ..Overrides::default() };
        let server = TestServer::start_with(Options { overrides, ..Options::default() }).await;
        let ada = server.member("ada").await;
        server.channel("general", &[&ada]).await;
        let query = json!({"api_key": key(&ada).await, "stream": "general"});
        let request = server.anonymous().request(Method::POST, "/external/alertmanager").query(query);
        request.body("application/json", body.clone()).send().await.ok();
        let fetch = json!({"anchor": "newest", "num_before": 3, "num_after": 0});
        let fetched = ada.get("/messages", fetch).await.ok();
        let messages = fetched["messages"].as_array().unwrap().iter();
        let shown: Vec<&str> = messages.map(|message| message["content"].as_str().unwrap()).collect();
        assert!(shown.len() == 3 && shown.iter().all(|html| html.contains(part)), "{shown:?}");
    }
}

/// A payload that is slow to convert does not delay other requests.
#[tokio::test]
async fn large_payloads_delay_no_other_requests() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let key = key(&ada).await;
    let deliver = async |integration: &str, body: String| {
        let path = format!("/external/{integration}");
        let request = server.anonymous().request(Method::POST, &path).query(json!({"api_key": key}));
        request.body("application/json", body).send().await
    };
    for marks in ["<", "~~~\n", "*a ", "`` ", "``` ", "[", "&amp;", "<@|"] {
        let text = marks.repeat(400_000 / marks.len());
        let attachments = vec![json!({"text": text, "fields": [{"title": text, "value": text}]})];
        deliver("slack_incoming", json!({"text": text, "attachments": attachments}).to_string()).await.ok();
        assert!(newest(&ada).await["content"].as_str().unwrap().chars().count() <= 10_000);
    }
    let many = format!("[{}1]", "{\"\":0},".repeat(400_000));
    let refused = deliver("json", many).await;
    refused.error(400, "BAD_REQUEST", "Too many values in the payload");
}
