//! Pages about accounts are in the language of the browser.

use super::start;
use crate::harness::TestServer;
use crate::join::{between, text};
use hyper::Method;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A secret part of a link.
const KEY: &str = "aaaaaaaaaaaaaaaaaaaaaaaa";

/// The texts of a page.
fn texts(html: &str) -> BTreeSet<String> {
    let between_tags = Regex::new(">([^<>]+)<").unwrap();
    let body = between(html, "<main>", "</main>");
    let texts = between_tags.captures_iter(&body).map(|found| found[1].trim().to_owned());
    texts.filter(|text| !text.is_empty()).collect()
}

/// Opens a page in a language.
async fn open(server: &TestServer, path: &str, language: &str) -> BTreeSet<String> {
    let request = server.anonymous().request_outside(Method::GET, path);
    texts(&text(&request.header("Accept-Language", language).send().await))
}

/// Sends a page back. Returns the texts of the next one in German.
async fn submit(server: &TestServer, path: &str, fields: Value) -> BTreeSet<String> {
    let request = server.anonymous().request_outside(Method::POST, path).form(fields);
    texts(&text(&request.header("Accept-Language", "de").send().await))
}

/// Opens a page, no text of which is the same in English and German, and which has these texts.
async fn check(server: &TestServer, path: &str, expected: &[&str]) {
    let (english, german) = (open(server, path, "en").await, open(server, path, "de").await);
    let same: Vec<&String> = english.intersection(&german).collect();
    assert!(same.is_empty() && english.len() == german.len(), "{path}: {same:?} of {german:?}");
    has(path, &german, expected);
}

fn has(path: &str, texts: &BTreeSet<String>, expected: &[&str]) {
    for one in expected {
        assert!(texts.contains(*one), "{path}: {one:?} in {texts:?}");
    }
}

#[tokio::test]
async fn pages_about_accounts_have_no_text_in_english() {
    let (server, mut sink) = start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let invitation = "Um dieser Organisation beizutreten, brauchst du eine Einladung. Bitte frage jemanden, der in ihr ist.";
    check(&server, "/register/", &["Du brauchst eine Einladung", invitation]).await;
    owner.patch("/realm", json!({"invite_required": false})).await.ok();
    let is_dead = "Er ist nicht vollständig, abgelaufen oder schon benutzt. Du kannst einen neuen anfordern.";
    for (path, expected) in [
        ("/register/", ["Registrieren", "E-Mail senden"]),
        ("/accounts/find/", ["Finde dein Konto", "E-Mails senden"]),
        ("/accounts/password/reset/", ["Passwort vergessen?", "E-Mail senden"]),
        (
            "/accounts/password/reset/done/",
            [
                "Sieh in deinem Postfach nach",
                "Wenn diese Adresse ein neues Passwort bekommen kann, ist eine E-Mail an sie unterwegs. Der Link darin \
                 funktioniert einmal und einen Tag lang.",
            ],
        ),
        (
            "/accounts/send_confirm/",
            [
                "Sieh in deinem Postfach nach",
                "Eine E-Mail ist an dich unterwegs. Der Link darin führt zu deinem neuen Konto und funktioniert einen Tag \
                 lang.",
            ],
        ),
        (
            "/accounts/send_confirm/?email=new%40example.com",
            [
                "Sieh in deinem Postfach nach",
                "Eine E-Mail ist unterwegs an new@example.com. Der Link darin führt zu deinem neuen Konto und \
                 funktioniert einen Tag lang.",
            ],
        ),
        ("/accounts/do_confirm/short", ["Dieser Link funktioniert nicht", is_dead]),
        ("/accounts/confirm_new_email/short", ["Dieser Link funktioniert nicht", is_dead]),
    ] {
        check(&server, path, &expected).await;
    }

    let path = "/accounts/find/";
    let refused = submit(&server, path, json!({"emails": ""})).await;
    has(path, &refused, &["Gib 1 bis 10 E-Mail-Adressen ein."]);
    let sent = submit(&server, path, json!({"emails": "new@example.com"})).await;
    has(path, &sent, &["Sieh in deinem Postfach nach", "E-Mails sind unterwegs an: new@example.com."]);
    assert_eq!(sink.next().await.to, "new@example.com");

    ada.patch("/settings", json!({"email": "changed@example.com"})).await.ok();
    let path = sink.next().await.path("confirm_new_email");
    let question = "Dein Konto bekommt die Adresse changed@example.com. Mit ihr meldest du dich an.";
    check(&server, &path, &["Bestätige deine Adresse", question, "Neue Adresse bestätigen"]).await;
    let answer = "Dein Konto hat jetzt die Adresse changed@example.com. Mit ihr meldest du dich an.";
    has(&path, &submit(&server, &path, json!({})).await, &["Deine Adresse ist bestätigt", answer]);
    has(&path, &submit(&server, &path, json!({})).await, &["Dieser Link funktioniert nicht", is_dead]);

    bob.patch("/settings", json!({"email": "taken@example.com"})).await.ok();
    sink.next().await;
    let path = sink.next().await.path("confirm_new_email");
    server.member("taken").await;
    let request = server.anonymous().request_outside(Method::POST, &path).header("Accept", "text/html");
    let refused = request.header("Accept-Language", "de").send().await;
    assert_eq!(refused.status, 400);
    let reason = "Ein anderes Konto hat sie, oder sie darf hier nicht verwendet werden. Bitte frage einen Administrator der \
         Organisation.";
    has(&path, &texts(&text(&refused)), &["Deine Adresse wurde nicht geändert", reason]);
}

#[tokio::test]
async fn pages_that_end_emails_have_no_text_in_english() {
    let (server, _sink) = start().await;
    let ada = server.member("ada").await;
    server
        .sql(&format!("INSERT INTO unsubscribe_key (user_id, key) VALUES ({}, '{KEY}')", ada.user_id))
        .await;
    for (kind, about) in [
        ("missed_messages", "E-Mails über Nachrichten, die du verpasst hast."),
        ("digest", "Zusammenfassungen dessen, was während deiner Abwesenheit geschehen ist."),
        ("login", "E-Mails über neue Anmeldungen bei deinem Konto."),
    ] {
        let path = format!("/accounts/unsubscribe/{kind}/{KEY}");
        check(&server, &path, &["Diese E-Mails abbestellen", about, "Keine mehr davon senden"]).await;
        has(
            &path,
            &submit(&server, &path, json!({})).await,
            &[
                "Du hast diese E-Mails abbestellt",
                "Du bekommst diese E-Mails nicht mehr. In deinen Benachrichtigungseinstellungen schaltest du sie wieder ein.",
            ],
        );
    }
    let path = format!("/accounts/unsubscribe/other/{KEY}");
    let unknown = [
        "Dieser Link funktioniert nicht",
        "Er ist nicht vollständig. Diese E-Mails kannst du auch in deinen Benachrichtigungseinstellungen abschalten.",
    ];
    check(&server, &path, &unknown).await;
    has(&path, &submit(&server, &path, json!({})).await, &unknown);
}
