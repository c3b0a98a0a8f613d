//! `POST /messages/{message_id}/report`.

use crate::harness::{Answer, Client, TestServer, overtaken};
use serde_json::{Value, json};

async fn report(client: &Client, id: i64, parameters: Value) -> Answer {
    client.post(&format!("/messages/{id}/report"), parameters).await
}

/// The newest message that a moderator sees: its topic and its Markdown.
async fn newest(client: &Client) -> (String, String) {
    let found = client
        .get(
            "/messages",
            &[("anchor", "newest"), ("num_before", "1"), ("num_after", "0"), ("apply_markdown", "false")],
        )
        .await
        .ok();
    let message = &found["messages"][0];
    (message["subject"].as_str().unwrap().to_owned(), message["content"].as_str().unwrap().to_owned())
}

// conformance: report-1, report-2
#[tokio::test]
async fn reports_reach_the_moderators() {
    let server = TestServer::start().await;
    let bot = server.notification_bot().await;
    let moderator = server.moderator("moderator").await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let requests = server.private_channel("requests", &[&moderator]).await;
    server.set_realm_setting("moderation_request_channel_id", json!(requests)).await;
    let id = bob.send(general, "food", "buy ```now```").await;
    let mut events = moderator.register(json!({"event_types": ["message"]})).await;
    let mut others = ada.register(json!({"event_types": ["message"]})).await;
    report(&ada, id, json!({"report_type": "spam", "description": "an *ad*"})).await.ok();
    let received = events.expect_kinds(&["message"]).await;
    assert_eq!(
        (&received[0]["message"]["sender_id"], &received[0]["message"]["stream_id"]),
        (&json!(bot), &json!(requests))
    );
    others.expect_nothing().await;
    let (a, b) = (ada.user_id, bob.user_id);
    let (topic, content) = newest(&moderator).await;
    assert_eq!(topic, "Bob moderation");
    assert_eq!(
        content,
        format!(
            "@_**Ada|{a}** reported a message sent by @_**Bob|{b}** at <time:2026-09-21T14:13:20+00:00>.\n\
             ```quote\n**Spam**. an *ad*\n```\n\n\
             ```` spoiler Original message at #**general>food@{id}**\nbuy ```now```\n````"
        )
    );
}

// conformance: report-3
#[tokio::test]
async fn reports_of_direct_messages_name_the_participants() {
    let server = TestServer::start().await;
    let moderator = server.moderator("moderator").await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let cleo = server.member("cleo").await;
    let requests = server.channel("requests", &[&moderator]).await;
    server.set_realm_setting("moderation_request_channel_id", json!(requests)).await;
    let (a, b, c) = (ada.user_id, bob.user_id, cleo.user_id);
    let time = "<time:2026-09-21T14:13:20+00:00>";
    let to_reporter = bob.send_direct(&[&ada], "x").await;
    let to_two = bob.send_direct(&[&cleo, &ada], "x").await;
    let own = ada.send_direct(&[&bob], "x").await;
    let note = ada.send_direct(&[&ada], "x").await;
    let cases = [
        (to_reporter, format!("@_**Ada|{a}** reported a message sent by @_**Bob|{b}** at {time}.")),
        (
            to_two,
            format!(
                "@_**Ada|{a}** reported a message sent by @_**Bob|{b}** to @_**Ada|{a}** and @_**Cleo|{c}** at {time}."
            ),
        ),
        (own, format!("@_**Ada|{a}** reported a message sent by @_**Ada|{a}** to @_**Bob|{b}** at {time}.")),
        (note, format!("@_**Ada|{a}** reported a message sent by @_**Ada|{a}** to @_**Ada|{a}** at {time}.")),
    ];
    for (id, expected) in cases {
        report(&ada, id, json!({"report_type": "norms"})).await.ok();
        let (_, content) = newest(&moderator).await;
        assert_eq!(content.lines().next(), Some(expected.as_str()));
        assert!(content.contains("```quote\n**Violates community norms**. \n```"), "{content}");
        assert!(content.contains("[Original message](/#narrow/dm/"), "{content}");
    }
}

// conformance: report-1, report-2, report-3
#[tokio::test]
async fn reports_are_in_the_language_of_the_organization() {
    let server = TestServer::start().await;
    let moderator = server.moderator("moderator").await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let cleo = server.member("cleo").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let requests = server.private_channel("requests", &[&moderator]).await;
    server.set_realm_setting("moderation_request_channel_id", json!(requests)).await;
    server.set_realm_setting("default_language", json!("de")).await;
    let (a, b, c) = (ada.user_id, bob.user_id, cleo.user_id);
    let time = "<time:2026-09-21T14:13:20+00:00>";
    let id = bob.send(general, "food", "x").await;
    report(&ada, id, json!({"report_type": "norms"})).await.ok();
    let (topic, content) = newest(&moderator).await;
    assert_eq!(topic, "Moderation: Bob");
    assert_eq!(
        content,
        format!(
            "@_**Ada|{a}** hat eine Nachricht von @_**Bob|{b}** gemeldet ({time}).\n\
             ```quote\n**Verstoß gegen die Regeln der Gemeinschaft**. \n```\n\n\
             ``` spoiler Die Nachricht: #**general>food@{id}**\nx\n```"
        )
    );
    let id = bob.send_direct(&[&cleo, &ada], "x").await;
    report(&ada, id, json!({"report_type": "spam"})).await.ok();
    let (_, content) = newest(&moderator).await;
    let sentence = format!(
        "@_**Ada|{a}** hat eine Nachricht gemeldet, die @_**Bob|{b}** an @_**Ada|{a}** und @_**Cleo|{c}** gesendet hat ({time})."
    );
    assert_eq!(content.lines().next(), Some(sentence.as_str()));
    assert!(content.contains("[Die Nachricht](/#narrow/dm/"), "{content}");
    // Mentions need a space before them, also in languages that are written without.
    for language in ["ja", "zh-hans"] {
        server.set_realm_setting("default_language", json!(language)).await;
        report(&ada, id, json!({"report_type": "spam"})).await.ok();
        let page = json!({"anchor": "newest", "num_before": 1, "num_after": 0});
        let message = moderator.get("/messages", page).await.ok()["messages"][0].clone();
        let html = message["content"].as_str().unwrap();
        assert_eq!(html.matches("user-mention").count(), 4, "{language}: {html}");
    }
}

// conformance: report-4, report-5, report-6, report-7, report-8, report-9
#[tokio::test]
async fn invalid_parameters_are_refused() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let eve = server.member("eve").await;
    let id = ada.send_direct(&[&ada], "hello").await;
    let spam = json!({"report_type": "spam"});
    let disabled = "Moderation request channel must be specified to enable message reporting.";
    report(&ada, id, spam.clone()).await.error(400, "BAD_REQUEST", disabled);
    let requests = server.channel("requests", &[]).await;
    server.set_realm_setting("moderation_request_channel_id", json!(requests)).await;
    let cases = [
        (json!({"report_type": "boring"}), "Invalid report_type"),
        (json!({"report_type": "other"}), "An explanation is required."),
        (
            json!({"report_type": "other", "description": "é".repeat(1001)}),
            "description is too long (limit: 1000 characters)",
        ),
    ];
    for (parameters, msg) in cases {
        report(&ada, id, parameters).await.error(400, "BAD_REQUEST", msg);
    }
    let missing = report(&ada, id, json!({})).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'report_type' argument");
    report(&eve, id, spam.clone()).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    for kind in ["spam", "harassment", "inappropriate", "norms"] {
        report(&ada, id, json!({"report_type": kind})).await.ok();
    }
    report(&ada, id, json!({"report_type": "other", "description": "é".repeat(1000)})).await.ok();
}

// conformance: report-11
#[tokio::test]
async fn a_long_message_is_cut_and_a_long_name_too() {
    let server = TestServer::start().await;
    let moderator = server.moderator("moderator").await;
    let bob = server.member(&"b".repeat(64)).await;
    let requests = server.channel("requests", &[&moderator]).await;
    server.set_realm_setting("moderation_request_channel_id", json!(requests)).await;
    let id = bob.send_direct(&[&bob], &"x".repeat(10_000)).await;
    report(&bob, id, json!({"report_type": "other", "description": "d".repeat(1000)})).await.ok();
    let (topic, content) = newest(&moderator).await;
    assert_eq!(topic.chars().count(), 60);
    assert!(content.chars().count() <= 10_000 && content.ends_with("x\n[message truncated]\n```"));
}

/// Descriptions and messages cannot hide the following text, and long ones can be reported.
#[tokio::test]
async fn fences_end_where_they_should() {
    let server = TestServer::start().await;
    let moderator = server.moderator("moderator").await;
    let bob = server.member("bob").await;
    let requests = server.private_channel("requests", &[&moderator]).await;
    server.set_realm_setting("moderation_request_channel_id", json!(requests)).await;
    let description = "a\n~~~\nb\n``` quote";
    for (message, shown) in [
        ("``` quote\n~~~py\nc", "~~~py\nc\n~~~\n```\n````"),
        (&*"`".repeat(9_000), "[message truncated]\n```"),
    ] {
        let id = bob.send_direct(&[&bob], message).await;
        report(&bob, id, json!({"report_type": "spam", "description": description})).await.ok();
        let (_, content) = newest(&moderator).await;
        assert!(content.contains("b\n``` quote\n~~~\n````\n\n"), "{content}");
        assert!(content.ends_with(shown) && content.chars().count() <= 10_000, "{content}");
    }
    // Characters omitted by the renderer do not enable mentions in reports.
    let hidden = "x\n`\u{1}`\u{1}`\n~\u{7f}~~\r```\r@\u{1}**all** @**moderator** outside";
    let id = bob.send_direct(&[&bob], hidden).await;
    report(&bob, id, json!({"report_type": "other", "description": hidden})).await.ok();
    let page = json!({"anchor": "newest", "num_before": 1, "num_after": 0});
    let message = moderator.get("/messages", page).await.ok()["messages"][0].clone();
    assert_eq!(message["flags"], json!([]), "{message}");
    let html = message["content"].as_str().unwrap();
    assert_eq!(html.matches("outside").count(), 2, "{html}");
    let (_, after_quote) = html.split_once("</blockquote>").unwrap();
    let (between, spoiler) = after_quote.split_once("spoiler-block").unwrap();
    assert!(!between.contains("outside") && spoiler.trim_end().ends_with("</div></div>"), "{html}");
}

// conformance: report-8, report-10
#[tokio::test]
async fn reports_follow_the_channel_that_they_go_to() {
    let server = TestServer::start().await;
    let moderator = server.moderator("moderator").await;
    let ada = server.member("ada").await;
    let id = ada.send_direct(&[&ada], "hello").await;
    let requests = server.channel("requests", &[&moderator]).await;
    server.set_realm_setting("moderation_request_channel_id", json!(requests)).await;
    server.sql("UPDATE stream SET topics_policy = 'empty_topic_only'").await;
    report(&ada, id, json!({"report_type": "spam"})).await.ok();
    assert_eq!(newest(&moderator).await.0, "general chat");
    server.sql("UPDATE stream SET is_archived = 1").await;
    let msg = "Moderation request channel must be specified to enable message reporting.";
    report(&ada, id, json!({"report_type": "spam"})).await.error(400, "BAD_REQUEST", msg);
}

/// Another channel may be chosen after the report was rendered and before it is sent, and the former one may become public.
#[tokio::test]
async fn reports_go_to_no_former_channel() {
    let server = TestServer::start().await;
    let moderator = server.moderator("moderator").await;
    let ada = server.member("ada").await;
    let id = ada.send_direct(&[&ada], "hello").await;
    let requests = server.private_channel("requests", &[&moderator]).await;
    server.set_realm_setting("moderation_request_channel_id", json!(requests)).await;
    let changes = "UPDATE stream SET invite_only = 0;
        DELETE FROM realm_setting WHERE property = 'moderation_request_channel_id'";
    let refused = overtaken(server.app(), changes, report(&ada, id, json!({"report_type": "spam"}))).await;
    let msg = "Moderation request channel must be specified to enable message reporting.";
    refused.error(400, "BAD_REQUEST", msg);
    assert_eq!(server.column("SELECT count(*) FROM message WHERE subject = 'Ada moderation'").await, ["0"]);
}
