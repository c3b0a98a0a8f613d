//! The languages of the server's own texts: pages, and messages of its bots.

use crate::harness::{Client, TestServer};
use crate::join::{Page, between, text};
use hyper::Method;
use serde_json::{Value, json};

/// The page at a path, for a browser that prefers these languages.
async fn page(server: &TestServer, path: &str, languages: &str) -> String {
    let request = server.anonymous().request_outside(Method::GET, path);
    text(&request.header("Accept-Language", languages).send().await)
}

/// The Markdown of the newest messages of a narrow, newest first.
async fn newest(client: &Client, narrow: Value) -> Vec<String> {
    let parameters = json!({"anchor": "newest", "num_before": 5, "num_after": 0, "narrow": narrow,
        "apply_markdown": false});
    let messages = client.get("/messages", parameters).await.ok()["messages"].clone();
    let texts =
        messages.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap().to_owned());
    texts.rev().collect()
}

async fn set_language(client: &Client, language: &str) {
    client.patch("/settings", json!({"default_language": language})).await.ok();
}

#[tokio::test]
async fn pages_are_in_the_language_of_the_browser_or_else_of_the_organization() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let path = "/accounts/password/reset/";
    for (languages, code, title) in [
        ("de-AT,de;q=0.9,en;q=0.8", "de", "Passwort vergessen?"),
        ("sv, ja;q=0.5", "ja", "パスワードをお忘れですか？"),
        ("zh-CN", "zh-hans", "忘记密码？"),
        ("en-US", "en", "Forgot your password?"),
        ("sv", "en", "Forgot your password?"),
    ] {
        let html = page(&server, path, languages).await;
        assert!(html.contains(&format!("<html lang=\"{code}\">")), "{languages}: {html}");
        assert!(html.contains(&format!("<h1>{title}</h1>")), "{languages}: {html}");
    }
    owner.patch("/realm", json!({"default_language": "pl"})).await.ok();
    assert!(page(&server, path, "sv").await.contains("<h1>Nie pamiętasz hasła?</h1>"));
    assert!(page(&server, path, "fr").await.contains("<h1>Mot de passe oublié ?</h1>"));
    let unknown = page(&server, "/join/unknown/", "it").await;
    assert!(unknown.contains("<h1>Questo invito non funziona</h1>"), "{unknown}");
}

#[tokio::test]
async fn who_accepts_an_invitation_has_the_language_of_the_page() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let params = json!({"invite_expires_in_minutes": 60, "invite_as": 400, "stream_ids": []});
    let link = owner.post("/invites/multiuse", params).await.ok()["invite_link"].as_str().unwrap().to_owned();
    let opened = Page::open_in(&server, &link, "nl").await;
    let invalid =
        opened.send(json!({"full_name": "", "email": "ada@example.com", "password": "short"})).await;
    let html = text(&invalid);
    assert!(
        html.contains("Vul je naam in.") && html.contains("Een wachtwoord heeft 6 tot 100 tekens."),
        "{html}"
    );
    let fields =
        json!({"full_name": "Ada {name} & Co", "email": "ada@example.com", "password": "correct horse"});
    let joined = opened.send(fields).await;
    let html = text(&joined);
    assert!(html.contains("<h1>Welkom, Ada {name} &amp; Co</h1>"), "{html}");
    let mut ada = server.anonymous();
    (ada.email, ada.api_key) = ("ada@example.com".to_owned(), Some(between(&html, "key=", "\n")));
    let register = json!({"fetch_event_types": ["user_settings"],
        "client_capabilities": {"user_settings_object": true}});
    let state = ada.post("/register", register).await.ok();
    assert_eq!(state["user_settings"]["default_language"], "nl");
    let hello = newest(&ada, json!([{"operator": "is", "operand": "dm"}])).await;
    assert!(hello[0].starts_with("Hallo, en welkom bij **"), "{hello:?}");
    // The inviter reads it in their own language.
    let notices = newest(&owner, json!([{"operator": "is", "operand": "dm"}])).await;
    assert!(notices.iter().any(|text| text.ends_with(" accepted your invitation!")), "{notices:?}");
}

#[tokio::test]
async fn new_people_have_the_language_of_the_organization() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    owner.patch("/realm", json!({"default_language": "es"})).await.ok();
    let params = json!({"email": "ada@example.com", "password": "correct horse", "full_name": "Ada"});
    owner.post("/users", params).await.ok();
    let login = json!({"username": "ada@example.com", "password": "correct horse"});
    let key = server.anonymous().post("/fetch_api_key", login).await.ok()["api_key"].clone();
    let mut ada = server.anonymous();
    (ada.email, ada.api_key) = ("ada@example.com".to_owned(), Some(key.as_str().unwrap().to_owned()));
    let hello = newest(&ada, json!([{"operator": "is", "operand": "dm"}])).await;
    assert!(hello[0].starts_with("¡Hola! Te damos la bienvenida a **"), "{hello:?}");
}

#[tokio::test]
async fn bots_write_in_the_language_of_the_reader_and_to_many_in_that_of_the_organization() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    set_language(&ada, "de").await;
    set_language(&bob, "ja").await;
    // What users type is no place for a parameter.
    owner.patch("/settings", json!({"full_name": "{group} Grace"})).await.ok();
    let group = json!({"name": "crew", "description": "", "members": [owner.user_id]});
    let id = owner.post("/user_groups/create", group).await.ok()["group_id"].as_i64().unwrap();
    owner.post(&format!("/user_groups/{id}/members"), json!({"add": [ada.user_id, bob.user_id]})).await.ok();
    let by = format!("@_**{{group}} Grace|{}**", owner.user_id);
    let directs = json!([{"operator": "is", "operand": "dm"}]);
    assert_eq!(
        newest(&ada, directs.clone()).await[0],
        format!("{by} hat dich zur Gruppe @_*crew* hinzugefügt.")
    );
    assert_eq!(newest(&bob, directs).await[0], format!("{by} があなたをグループ @_*crew* に追加しました。"));

    owner.patch("/realm", json!({"default_language": "pl"})).await.ok();
    let stream_id = server.channel("{old}", &[&owner, &ada]).await;
    owner.patch(&format!("/streams/{stream_id}"), json!({"new_name": "{new}"})).await.ok();
    let narrow = json!([{"operator": "channel", "operand": stream_id},
        {"operator": "topic", "operand": "zdarzenia kanału"}]);
    assert_eq!(
        newest(&ada, narrow).await,
        [format!("{by} zmienia nazwę kanału **`{{old}}`** na **`{{new}}`**.")]
    );
    let ids = send_two(&owner, stream_id).await;
    let params = json!({"topic": "elsewhere", "propagate_mode": "change_all",
        "send_notification_to_old_thread": true});
    owner.patch(&format!("/messages/{}", ids[0]), params).await.ok();
    let narrow =
        json!([{"operator": "channel", "operand": stream_id}, {"operator": "topic", "operand": "here"}]);
    let notices = newest(&ada, narrow).await;
    assert!(
        notices[0].starts_with("Ten temat przeniesiono do #**{new}>elsewhere**; zmiana: @_**"),
        "{notices:?}"
    );
    // Errors of the interface stay as published.
    ada.get("/messages/0", json!({})).await.error(400, "BAD_REQUEST", "Invalid message(s)");
}

/// Sends two messages to a topic. Returns their ids.
async fn send_two(client: &Client, stream_id: i64) -> [i64; 2] {
    [client.send(stream_id, "here", "one").await, client.send(stream_id, "here", "two").await]
}
