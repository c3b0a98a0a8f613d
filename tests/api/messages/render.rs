//! `POST /messages/render`: rendering with the permissions of the caller.

use crate::harness::{Client, TestServer};
use serde_json::json;

/// Renders a text as a user.
async fn rendered(client: &Client, content: &str) -> String {
    let answer = client.post("/messages/render", json!({"content": content})).await.ok();
    answer["rendered"].as_str().unwrap().to_owned()
}

// conformance: md-1, md-2, md-3
#[tokio::test]
async fn a_text_is_rendered_and_nothing_is_sent() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(json!({"event_types": ["message"]})).await;
    for (content, html) in [
        ("**foo**", "<p><strong>foo</strong></p>"),
        ("a\n\n* b  \n\n", "<p>a</p>\n<ul>\n<li>b</li>\n</ul>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("/me waves", "<p>/me waves</p>"),
        ("", ""),
        (" \n ", ""),
    ] {
        assert_eq!(rendered(&ada, content).await, html, "{content}");
    }
    let unknown = json!({"content": "a", "topic": "b"});
    let answer = ada.post("/messages/render", unknown).await.ok_ignoring(&["topic"]);
    assert_eq!(answer["rendered"], "<p>a</p>");
    let missing = ada.post("/messages/render", ()).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'content' argument");
    queue.expect_nothing().await;
}

// conformance: md-4
#[tokio::test]
async fn a_text_that_is_too_long_is_rendered_as_it_would_be_sent() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let html = rendered(&ada, &"a".repeat(10_001)).await;
    assert_eq!(html, format!("<p>{}<br>\n[message truncated]</p>", "a".repeat(10_000 - 20)));
}

// conformance: md-5
#[tokio::test]
async fn messages_store_their_rendered_text() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let garden = server.channel("garden", &[&ada]).await;
    for content in
        ["# a\n> b\n\n```spoiler c\nd\n```", "| a |\n|---|\n| `b` |", "@**ada** #**garden** :smile:"]
    {
        let id = ada.send(garden, "plants", content).await;
        let sent = ada.get(&format!("/messages/{id}"), ()).await.ok();
        assert_eq!(sent["message"]["content"], rendered(&ada, content).await, "{content}");
        assert_eq!(sent["raw_content"], content);
    }
}

// conformance: md-44, md-45, md-47
#[tokio::test]
async fn links_resolve_with_the_access_of_the_writer() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("the garden", &[&ada]).await;
    let cellar = server.private_channel("cellar", &[&ada]).await;
    let first = ada.send(garden, "plants", "one").await;
    let newest = ada.send(garden, "plants", "two").await;
    let in_cellar = ada.send(cellar, "wine", "red").await;
    let link = |class: &str, id: i64, path: &str, shown: &str| {
        format!(
            "<p><a class=\"{class}\" data-stream-id=\"{id}\" href=\"/#narrow/channel/{path}\">{shown}</a></p>"
        )
    };
    let topic = |id: i64, path: String, shown: &str| link("stream-topic", id, &path, shown);
    for client in [&ada, &bob] {
        let path = format!("{garden}-the-garden");
        assert_eq!(
            rendered(client, "#**The Garden**").await,
            link("stream", garden, &path, "#the garden"),
            "names are found in any case and shown as they are"
        );
        assert_eq!(
            rendered(client, "#**the garden>plants**").await,
            topic(garden, format!("{path}/topic/plants/with/{newest}"), "#the garden &gt; plants")
        );
        assert_eq!(
            rendered(client, "#**the garden>no such topic**").await,
            topic(garden, format!("{path}/topic/no.20such.20topic"), "#the garden &gt; no such topic")
        );
        assert_eq!(
            rendered(client, &format!("#**the garden>plants@{first}**")).await,
            format!(
                "<p><a class=\"message-link\" href=\"/#narrow/channel/{path}/topic/plants/near/{first}\">#the garden &gt; plants @ 💬</a></p>"
            )
        );
    }
    assert_eq!(
        rendered(&ada, "#**cellar>wine**").await,
        topic(cellar, format!("{cellar}-cellar/topic/wine/with/{in_cellar}"), "#cellar &gt; wine")
    );
    for content in ["#**cellar**", "#**cellar>wine**", "#**cellar>wine@1**", "#**nowhere**"] {
        let name = content.trim_matches(['#', '*']).replace('>', "&gt;");
        assert_eq!(rendered(&bob, content).await, format!("<p>#<strong>{name}</strong></p>"));
    }
}

// conformance: md-38
#[tokio::test]
async fn a_name_of_several_people_needs_an_id() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let other = server.member("carl").await;
    let bob_called = bob.full_name.clone();
    owner.patch(&format!("/users/{}", other.user_id), json!({"full_name": bob_called})).await.ok();
    let mention =
        |id: i64| format!("<p><span class=\"user-mention\" data-user-id=\"{id}\">@{bob_called}</span></p>");
    for user in [&bob, &other] {
        let id = user.user_id;
        for content in [format!("@**{bob_called}|{id}**"), format!("@**|{id}**")] {
            assert_eq!(rendered(&ada, &content).await, mention(id), "{content}");
        }
    }
    let content = format!("@**ada|{}**", bob.user_id);
    assert_eq!(rendered(&ada, &content).await, format!("<p>@<strong>ada|{}</strong></p>", bob.user_id));
}

// conformance: md-38
#[tokio::test]
async fn names_are_found_in_any_case_of_any_alphabet() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    for (name, typed) in [
        ("Élodie Ünal", vec!["Élodie Ünal", "élodie ünal", "ÉLODIE ÜNAL"]),
        ("Алиса", vec!["Алиса", "алиса"]),
        ("王小明", vec!["王小明"]),
        ("Plain Name", vec!["plain name", "PLAIN NAME"]),
    ] {
        owner.patch(&format!("/users/{}", bob.user_id), json!({"full_name": name})).await.ok();
        for typed in typed {
            assert_eq!(
                rendered(&ada, &format!("@**{typed}**")).await,
                format!(
                    "<p><span class=\"user-mention\" data-user-id=\"{}\">@{name}</span></p>",
                    bob.user_id
                )
            );
        }
    }
    assert_eq!(rendered(&ada, "@**Ада**").await, "<p>@<strong>Ада</strong></p>");
}

// conformance: md-52
#[tokio::test]
async fn emoticons_are_translated_by_the_users_setting() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    ada.patch("/settings", json!({"translate_emoticons": true})).await.ok();
    let emoji =
        r#"<span aria-label="smile" class="emoji emoji-1f642" role="img" title="smile">:smile:</span>"#;
    for (content, html) in [
        (":)", format!("<p>{emoji}</p>")),
        ("**:)**", format!("<p><strong>{emoji}</strong></p>")),
        ("a :), ( :) ) `:)` x:) :)x", format!("<p>a {emoji}, ( {emoji} ) <code>:)</code> x:) :)x</p>")),
    ] {
        assert_eq!(rendered(&ada, content).await, html, "{content}");
    }
    assert_eq!(rendered(&bob, ":)").await, "<p>:)</p>");
    // The description of a channel is not a message.
    let subscriptions = json!({"subscriptions": [{"name": "garden", "description": ":)"}]});
    ada.post("/users/me/subscriptions", subscriptions).await.ok();
    let channels = ada.get("/users/me/subscriptions", ()).await.ok();
    assert_eq!(channels["subscriptions"][0]["rendered_description"], "<p>:)</p>");
}

// conformance: md-41, md-43
#[tokio::test]
async fn mentions_set_flags_wherever_text_is_read() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let name = bob.full_name.as_str();
    let mentioned = &["mentioned"][..];
    let everybody = &["stream_wildcard_mentioned", "wildcard_mentioned"][..];
    for (content, flags) in [
        ("@**NAME**", mentioned),
        ("# @**NAME**", mentioned),
        ("* a\n  * **b** (@**NAME**)", mentioned),
        ("a|b\n-|-\n@**NAME**|c", mentioned),
        ("```spoiler @**NAME**\na\n```", mentioned),
        ("```spoiler a\n@**NAME**\n```", mentioned),
        ("[@**NAME**](https://example.com)", mentioned),
        ("> quoted\n\n@**NAME**", mentioned),
        ("@**all**", everybody),
        ("@**everyone** @**channel** @**stream**", everybody),
        ("@_**NAME**", &[]),
        ("@_**all**", &[]),
        ("`@**NAME**` `@**all**`", &[]),
        ("```\n@**NAME** @**all**\n```", &[]),
        ("    @**NAME** @**all**", &[]),
        ("> @**NAME** @**all**", &[]),
        ("```quote\n@**NAME** @**all**\n```", &[]),
        ("a@**NAME** @NAME @all", &[]),
    ] {
        let id = ada.send(garden, "plants", &content.replace("NAME", name)).await;
        let message = bob.get(&format!("/messages/{id}"), ()).await.ok()["message"].clone();
        let found: Vec<&str> =
            message["flags"].as_array().unwrap().iter().filter_map(|flag| flag.as_str()).collect();
        assert_eq!(found, flags, "{content}");
    }
}

// conformance: md-27
#[tokio::test]
async fn a_status_message_is_marked() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let garden = server.channel("garden", &[&ada]).await;
    for (content, is_me_message) in [
        ("/me waves", true),
        ("/me waves\nand smiles", true),
        ("/me waves\n\nand smiles", false),
        ("/menu", false),
    ] {
        let id = ada.send(garden, "plants", content).await;
        let message = ada.get(&format!("/messages/{id}"), ()).await.ok()["message"].clone();
        assert_eq!(message["is_me_message"], is_me_message, "{content}");
        assert!(message["content"].as_str().unwrap().starts_with("<p>/me"), "{content}");
    }
}

// conformance: md-35
#[tokio::test]
async fn previews_are_shown_where_the_organization_wants_them() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let content = "see https://example.com/a.png";
    let link = "<p>see <a href=\"https://example.com/a.png\">https://example.com/a.png</a></p>";
    let with_preview = rendered(&ada, content).await;
    assert!(
        with_preview.starts_with(&format!("{link}\n<div class=\"message_inline_image\">")),
        "{with_preview}"
    );
    owner.patch("/realm", json!({"inline_image_preview": false})).await.ok();
    assert_eq!(rendered(&ada, content).await, link);
}
