//! Linkifiers: endpoints, and links in messages and topics.

use crate::harness::{Answer, Client, TestServer, grouped};
use serde_json::{Value, json};
use teamchat::store::StoreError;

const TICKETS: &str = "https://tickets.example.com/{id}";

/// Adds a linkifier. Returns its id.
async fn add(administrator: &Client, pattern: &str, url_template: &str) -> i64 {
    let parameters = json!({"pattern": pattern, "url_template": url_template});
    administrator.post("/realm/filters", parameters).await.ok()["id"].as_i64().unwrap()
}

/// Inserts linkifiers with the patterns `x1`, `x2` and so on, each with this end.
async fn insert_many(server: &TestServer, count: usize, end: &str) {
    server
        .sql(&format!(
            "WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT {count})
             INSERT INTO linkifier (id, position, pattern, url_template)
             SELECT number, number, 'x' || number || '{end}', 'https://example.com' FROM numbers"
        ))
        .await;
}

/// The end of a pattern of about 160 KB. A state takes half of the memory on machines of 32 bits.
fn large_end() -> String {
    format!("(?:a{{1000}}){{{}}}", 40 / size_of::<usize>())
}

/// Changes a message, without a word of the notification bot.
async fn change(client: &Client, id: i64, mut changes: Value) {
    changes["send_notification_to_new_thread"] = false.into();
    client.patch(&format!("/messages/{id}"), changes).await.ok();
}

/// A message as a client fetches it.
async fn message(client: &Client, id: i64) -> Value {
    client.get(&format!("/messages/{id}"), ()).await.ok()["message"].clone()
}

fn knows_templates() -> Value {
    json!({"event_types": ["realm_linkifiers", "realm_filters"],
        "client_capabilities": {"linkifier_url_template": true}})
}

// conformance: linkifier-1, linkifier-2, linkifier-3, queue-43
#[tokio::test]
async fn linkifiers_are_added_changed_ordered_and_removed() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let mut queues = [ada.register(knows_templates()).await, guest.register(knows_templates()).await];
    let mut older = ada.register(json!({"event_types": ["realm_linkifiers", "realm_filters"]})).await;
    assert_eq!(queues[0].state["realm_linkifiers"], json!([]));
    assert_eq!(queues[0].state["realm_filters"], json!([]));

    let first = add(&admin, " #(?P<id>[0-9]+) ", TICKETS).await;
    let one = json!({"pattern": "#(?P<id>[0-9]+)", "url_template": TICKETS, "id": first});
    let second = add(&owner, "T(?P<id>[0-9]+)", "https://example.com/{+id}").await;
    let two =
        json!({"pattern": "T(?P<id>[0-9]+)", "url_template": "https://example.com/{+id}", "id": second});
    admin.patch("/realm/linkifiers", json!({"ordered_linkifier_ids": [second, first]})).await.ok();
    let parameters = json!({"pattern": "@(?P<id>[0-9]+)", "url_template": TICKETS});
    owner.patch(&format!("/realm/filters/{second}"), parameters).await.ok();
    let changed = json!({"pattern": "@(?P<id>[0-9]+)", "url_template": TICKETS, "id": second});
    for client in [&owner, &ada, &guest] {
        let listed = client.get("/realm/linkifiers", ()).await.ok();
        assert_eq!(listed["linkifiers"], json!([changed, one]), "{}", client.full_name);
    }
    admin.delete(&format!("/realm/filters/{first}"), ()).await.ok();
    for queue in &mut queues {
        let event = |all: Value| json!({"type": "realm_linkifiers", "realm_linkifiers": all});
        queue
            .expect(&[
                event(json!([one])),
                event(json!([one, two])),
                event(json!([two, one])),
                event(json!([changed, one])),
                event(json!([changed])),
            ])
            .await;
    }
    older.expect_nothing().await;
    let state = ada.register(knows_templates()).await.state.clone();
    assert_eq!(state["realm_linkifiers"], json!([changed]));
    let state =
        ada.register(json!({"event_types": ["realm_linkifiers", "realm_filters"]})).await.state.clone();
    assert_eq!((&state["realm_linkifiers"], &state["realm_filters"]), (&json!([]), &json!([])));
}

// conformance: linkifier-1, linkifier-5, linkifier-6, linkifier-7, linkifier-8, linkifier-9
#[tokio::test]
async fn invalid_linkifiers_are_refused() {
    let server = TestServer::start().await;
    let (owner, admin, ada) =
        (server.owner().await, server.administrator("admin").await, server.member("ada").await);
    let id = add(&owner, "#(?P<id>[0-9]+)", TICKETS).await;
    let other = add(&owner, "T(?P<id>[0-9]+)", TICKETS).await;
    let patch = format!("/realm/filters/{other}");
    let cases = [
        ("", "https://example.com", "pattern", "This field cannot be blank."),
        ("x", " ", "url_template", "This field cannot be blank."),
        ("x", "https://example.com/{", "url_template", "Invalid URL template."),
        ("(?P<url>x)", "{+url}", "url_template", "Invalid URL template."),
        ("(?P<url>x)", "java{url}", "url_template", "Invalid URL template."),
        ("(?P<url>x)", "JavaScript:{url}", "url_template", "Invalid URL template."),
        ("(?P<url>x)", "data:text/html,{url}", "url_template", "Invalid URL template."),
        ("(?P<url>x)", "vbscript:{url}", "url_template", "Invalid URL template."),
        ("(?P<url>x)", "//{url}", "url_template", "Invalid URL template."),
        ("(x", "https://example.com", "__all__", "Bad regular expression: missing ): (x"),
        ("(?!x)y", "https://example.com", "__all__", "Bad regular expression: invalid perl operator: (?!"),
        (
            "x",
            "https://example.com/{id}",
            "__all__",
            "Group 'id' in URL template is not present in linkifier pattern.",
        ),
        (
            "(?P<id>x)",
            "https://example.com",
            "__all__",
            "Group 'id' in linkifier pattern is not present in URL template.",
        ),
        ("#(?P<id>[0-9]+)", TICKETS, "__all__", "Realm filter with this Realm and Pattern already exists."),
    ];
    for (pattern, url_template, field, msg) in cases {
        let parameters = json!({"pattern": pattern, "url_template": url_template});
        for refused in
            [admin.post("/realm/filters", &parameters).await, admin.patch(&patch, &parameters).await]
        {
            let error = refused.error(400, "BAD_REQUEST", msg);
            assert_eq!(error["errors"][field][0], msg, "{pattern} {url_template}");
        }
    }
    // The unchanged pattern of a linkifier does not conflict with itself.
    let same = json!({"pattern": "T(?P<id>[0-9]+)", "url_template": "https://example.com/{id}"});
    admin.patch(&patch, &same).await.ok();
    admin.post("/realm/filters", json!({"pattern": "x"})).await.error(
        400,
        "REQUEST_VARIABLE_MISSING",
        "Missing 'url_template' argument",
    );
    let unknown = format!("/realm/filters/{}", other + 1);
    admin.patch(&unknown, &same).await.error(400, "BAD_REQUEST", "Linkifier not found.");
    admin.delete(&unknown, ()).await.error(400, "BAD_REQUEST", "Linkifier not found.");
    let all = "The ordered list must enumerate all existing linkifiers exactly once";
    for (ids, msg) in [
        (json!([id]), all),
        (json!([]), all),
        (json!([id, other, 99]), all),
        (json!([id, other, id]), "The ordered list must not contain duplicated linkifiers"),
    ] {
        let order = json!({"ordered_linkifier_ids": ids});
        admin.patch("/realm/linkifiers", order).await.error(400, "BAD_REQUEST", msg);
    }
    let msg = "Must be an organization administrator";
    for refused in [
        ada.post("/realm/filters", &same).await,
        ada.patch(&patch, &same).await,
        ada.delete(&patch, ()).await,
        ada.patch("/realm/linkifiers", json!({"ordered_linkifier_ids": [other, id]})).await,
    ] {
        refused.error(400, "UNAUTHORIZED_PRINCIPAL", msg);
    }
    let listed = ada.get("/realm/linkifiers", ()).await.ok();
    let ids: Vec<_> =
        listed["linkifiers"].as_array().unwrap().iter().map(|linkifier| &linkifier["id"]).collect();
    assert_eq!(ids, [id, other]);
}

/// Compiled patterns are kept in memory.
#[tokio::test]
async fn large_patterns_have_a_limit_together() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    insert_many(&server, 200, &large_end()).await;
    let msg = "The patterns of all linkifiers are too large together";
    let small = json!({"pattern": "#(?P<id>[0-9]+)", "url_template": TICKETS});
    owner.post("/realm/filters", &small).await.error(400, "BAD_REQUEST", msg);
    owner.patch("/realm/filters/1", &small).await.error(400, "BAD_REQUEST", msg);
    server.sql("DELETE FROM linkifier WHERE id > 130").await;
    let mut changed = owner.patch("/realm/filters/1", &small).await;
    // A loaded machine may take longer than a request may wait. What it has compiled is kept for the next one.
    while changed.status == 503 {
        changed = owner.patch("/realm/filters/1", &small).await;
    }
    changed.ok();
}

/// Compiling many patterns takes long, and other changes wait for a job.
#[tokio::test(flavor = "multi_thread")]
async fn patterns_are_compiled_before_the_job() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    insert_many(&server, 200, &large_end()).await;
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let other_job = server.app().writer.run(move |_tx| -> Result<(), StoreError> {
        gate.recv().unwrap();
        Ok(())
    });
    let small = json!({"pattern": "#(?P<id>[0-9]+)", "url_template": TICKETS});
    let refused = async {
        let msg = "The patterns of all linkifiers are too large together";
        owner.post("/realm/filters", &small).await.error(400, "BAD_REQUEST", msg);
        owner.patch("/realm/filters/1", &small).await.error(400, "BAD_REQUEST", msg);
        open.send(()).unwrap();
    };
    tokio::join!(other_job, refused).0.unwrap();
}

/// Adds two linkifiers, both of which are checked before the job of the first. Returns the answer of the one that is added, and
/// that of the other.
async fn add_two(server: &TestServer, owner: &Client, patterns: [&str; 2]) -> (Answer, Answer) {
    let add = async |pattern: &str| {
        owner.post("/realm/filters", json!({"pattern": pattern, "url_template": "https://example.com"})).await
    };
    let both = async { tokio::join!(add(patterns[0]), add(patterns[1])) };
    let (one, other) = grouped(server.app(), "", 2, both).await;
    if one.status == 200 { (one, other) } else { (other, one) }
}

/// The patterns of all were checked together without the other one.
#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_linkifiers_of_many_comes_later() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    insert_many(&server, 128, "").await;
    let (added, later) = add_two(&server, &owner, ["one", "other"]).await;
    added.ok();
    later.error(503, "SERVICE_UNAVAILABLE", "The server is busy. Please try again in a moment.");
    assert_eq!(server.column("SELECT count(*) FROM linkifier").await, ["129"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_linkifiers_with_the_same_pattern_is_refused() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (added, refused) = add_two(&server, &owner, ["same", "same"]).await;
    added.ok();
    refused.error(400, "BAD_REQUEST", "Realm filter with this Realm and Pattern already exists.");
}

// conformance: linkifier-10
#[tokio::test]
async fn an_empty_order_of_no_linkifiers_changes_nothing() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let mut queue = owner.register(knows_templates()).await;
    owner.patch("/realm/linkifiers", json!({"ordered_linkifier_ids": []})).await.ok();
    queue.expect_nothing().await;
}

// conformance: linkifier-4
#[tokio::test]
async fn older_clients_get_format_strings() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let id = add(&owner, "#(?P<id>[0-9]+)", TICKETS).await;
    add(&owner, "T(?P<id>[0-9]+)", "https://example.com/{+id}").await;
    let listed = owner.get("/realm/filters", ()).await.ok();
    assert_eq!(listed["filters"], json!([["#(?P<id>[0-9]+)", "https://tickets.example.com/%(id)s", id]]));
}

// conformance: fetch-36, linkifier-11, linkifier-12, md-61, md-62
#[tokio::test]
async fn later_messages_link_and_earlier_ones_stay() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    let before = ada.send(garden, "about #1", "see #1").await;
    add(&owner, "#(?P<id>[0-9]+)", TICKETS).await;
    let after = ada.send(garden, "about #1", "see #1").await;
    let link = json!([{"text": "#1", "url": "https://tickets.example.com/1"}]);
    let html = r#"<p>see <a href="https://tickets.example.com/1">#1</a></p>"#;
    for (id, content, links) in [(before, "<p>see #1</p>", json!([])), (after, html, link.clone())] {
        let found = message(&ada, id).await;
        assert_eq!((&found["content"], &found["topic_links"]), (&json!(content), &links));
    }
    let rendered = ada.post("/messages/render", json!({"content": "see #1"})).await.ok();
    assert_eq!(rendered["rendered"], html);
    // An edit renders with the current linkifiers; a move keeps the links.
    change(&ada, before, json!({"content": "and #1", "topic": "now #1 and https://example.com"})).await;
    change(&ada, before, json!({"content": "and so #1"})).await;
    let found = message(&ada, before).await;
    assert_eq!(found["content"], r#"<p>and so <a href="https://tickets.example.com/1">#1</a></p>"#);
    let both = json!([
        {"text": "#1", "url": "https://tickets.example.com/1"},
        {"text": "https://example.com", "url": "https://example.com"},
    ]);
    assert_eq!(found["topic_links"], both);
    // Deleted with the topic, and with the message.
    change(&ada, before, json!({"topic": "plain"})).await;
    assert_eq!(message(&ada, before).await["topic_links"], json!([]));
    owner.delete(&format!("/messages/{after}"), ()).await.ok();
    assert_eq!(server.column("SELECT count(*) FROM message_topic_link").await, ["0"]);
}

// conformance: linkifier-12, md-62, move-50
#[tokio::test]
async fn events_tell_the_links_of_a_topic() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    add(&owner, "#(?P<id>[0-9]+)", TICKETS).await;
    let mut queue = owner.register(json!({"event_types": ["message", "update_message"]})).await;
    let id = ada.send(garden, "#7", "hello").await;
    let events = queue.expect_kinds(&["message"]).await;
    let link =
        |id: &str| json!([{"text": format!("#{id}"), "url": format!("https://tickets.example.com/{id}")}]);
    assert_eq!(events[0]["message"]["topic_links"], link("7"));
    change(&owner, id, json!({"topic": "#8"})).await;
    let events = queue.expect_kinds(&["update_message"]).await;
    assert_eq!(events[0]["topic_links"], link("8"));
    change(&owner, id, json!({"topic": "✔ #8"})).await;
    let events = queue.events().await;
    assert_eq!(events[0]["topic_links"], link("8"));
    ada.send_direct(&[&owner], "#9").await;
    let events = queue.expect_kinds(&["message"]).await;
    assert_eq!(events[0]["message"]["topic_links"], json!([]));
}

// conformance: md-59
#[tokio::test]
async fn the_first_of_the_order_wins() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    let narrow = add(&owner, "#(?P<id>[0-9]+)", "https://one.example.com/{id}").await;
    let wide = add(&owner, "(see )?#(?P<id>[0-9]+)", "https://two.example.com/{id}").await;
    let one = ada.send(garden, "see #1", "see #1").await;
    owner.patch("/realm/linkifiers", json!({"ordered_linkifier_ids": [wide, narrow]})).await.ok();
    let two = ada.send(garden, "see #1", "see #1").await;
    for (id, content, link) in [
        (
            one,
            r#"<p>see <a href="https://one.example.com/1">#1</a></p>"#,
            json!({"text": "#1", "url": "https://one.example.com/1"}),
        ),
        (
            two,
            r#"<p><a href="https://two.example.com/1">see #1</a></p>"#,
            json!({"text": "see #1", "url": "https://two.example.com/1"}),
        ),
    ] {
        let found = message(&ada, id).await;
        assert_eq!((&found["content"], &found["topic_links"]), (&json!(content), &json!([link])));
    }
}

#[tokio::test]
async fn events_and_a_new_state_agree() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let garden = server.channel("garden", &[&owner, &ada, &guest]).await;
    server
        .check_state_sync(&[&owner, &admin, &ada, &guest], async || {
            let first = add(&admin, "#(?P<id>[0-9]+)", TICKETS).await;
            let id = ada.send(garden, "about #1", "see #1").await;
            let second = add(&admin, "T(?P<id>[0-9]+)", TICKETS).await;
            admin.patch("/realm/linkifiers", json!({"ordered_linkifier_ids": [second, first]})).await.ok();
            owner.patch(&format!("/messages/{id}"), json!({"topic": "about T2"})).await.ok();
            admin.delete(&format!("/realm/filters/{second}"), ()).await.ok();
        })
        .await;
}

/// The server keeps linkifiers from one message to the next.
#[tokio::test]
async fn each_change_of_linkifiers_counts_from_the_next_message_on() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&ada]).await;
    let said = async || {
        let id = ada.send(garden, "T1", "see T1 there").await;
        let message = message(&ada, id).await;
        (message["content"].clone(), message["topic_links"].clone())
    };
    let plain = (json!("<p>see T1 there</p>"), json!([]));
    let linked = |url: &str| {
        let html = format!("<p>see <a href=\"{url}\">T1</a> there</p>");
        (json!(html), json!([{"text": "T1", "url": url}]))
    };
    for _ in 0..2 {
        assert_eq!(said().await, plain);
    }
    let id = add(&owner, "T(?P<id>[0-9]+)", TICKETS).await;
    for _ in 0..2 {
        assert_eq!(said().await, linked("https://tickets.example.com/1"));
    }
    let moved = json!({"pattern": "T(?P<id>[0-9]+)", "url_template": "https://moved.example.com/{id}"});
    owner.patch(&format!("/realm/filters/{id}"), moved).await.ok();
    assert_eq!(said().await, linked("https://moved.example.com/1"));
    owner.delete(&format!("/realm/filters/{id}"), ()).await.ok();
    for _ in 0..2 {
        assert_eq!(said().await, plain);
    }
}
