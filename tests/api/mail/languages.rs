//! Pages about accounts are in the language of the browser, and emails in that of their reader.

use super::mailbox::{Mailbox, PERIOD, URL};
use super::{DAY, digest, invitation, log_in, start};
use crate::harness::{Answer, TestServer};
use crate::join::{between, text};
use hyper::Method;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use teamchat::domain::notices;
use teamchat::scheduler;
use teamchat::types::Role;

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

/// Sends a page back, from a browser that prefers a language.
async fn submit_in(server: &TestServer, language: &str, path: &str, fields: Value) -> Answer {
    let request = server.anonymous().request_outside(Method::POST, path).form(fields);
    request.header("Accept-Language", language).send().await
}

/// Sends a page back. Returns the texts of the next one in German.
async fn submit(server: &TestServer, path: &str, fields: Value) -> BTreeSet<String> {
    texts(&text(&submit_in(server, "de", path, fields).await))
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

/// An email that waits for the mail server.
#[derive(Clone, Debug)]
struct Letter {
    kind: String,
    to: String,
    language: String,
    from_name: String,
    subject: String,
    text: String,
    html: String,
}

/// Takes the emails that wait, once all due work is done.
async fn take(server: &TestServer) -> Vec<Letter> {
    scheduler::settle(server.app()).await;
    let rows = server.column("SELECT json_array(kind, json(letter)) FROM outgoing_mail ORDER BY id").await;
    server.sql("DELETE FROM outgoing_mail").await;
    let letter = |row: &String| {
        let (kind, letter): (String, Value) = serde_json::from_str(row).unwrap();
        let text = |name: &str| letter[name].as_str().unwrap().to_owned();
        Letter {
            kind,
            to: text("to"),
            language: text("language"),
            from_name: text("from_name"),
            subject: text("subject"),
            text: text("text"),
            html: text("html"),
        }
    };
    rows.iter().map(letter).collect()
}

/// Emails of every kind, to people who have this language, in an organization and from pages that have it too.
async fn letters_in(language: &str) -> Vec<Letter> {
    let (_mailbox, server) = Mailbox::with_server().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    let ada = server.user("ada", Role::Member, None, Some("a password")).await;
    owner.patch("/realm", json!({"default_language": language, "invite_required": false})).await.ok();
    for person in [&owner, &ada, &bob] {
        person.patch("/settings", json!({"default_language": language})).await.ok();
    }
    // There are no emails about the notices that mail fails.
    owner.patch("/settings", json!({"enable_offline_email_notifications": false})).await.ok();
    let mut letters = Vec::new();
    owner.post("/invites", invitation("new@example.com")).await.ok();
    let cleo = json!({"email": "cleo@example.com", "full_name": "Cleo", "password": "a password"});
    let cleo = owner.post("/users", cleo).await.ok()["user_id"].as_i64().unwrap();
    for (path, field, email) in [
        ("/accounts/password/reset/", "email", "ada@example.com"),
        ("/accounts/password/reset/", "email", "nobody@example.com"),
        ("/accounts/find/", "emails", "ada@example.com"),
        ("/accounts/find/", "emails", "nobody@example.com"),
        ("/register/", "email", "other@example.com"),
    ] {
        let status = submit_in(&server, language, path, json!({field: email})).await.status;
        assert!([200, 302].contains(&status), "{path}: {status}");
    }
    letters.extend(take(&server).await);
    bob.patch("/settings", json!({"email": "changed@example.com"})).await.ok();
    let confirm = take(&server).await;
    let url = confirm[0].text.lines().find(|line| line.contains("confirm_new_email")).unwrap();
    let path = url.strip_prefix(URL).unwrap();
    assert_eq!(submit_in(&server, language, path, json!({})).await.status, 200);
    letters.extend(confirm);

    server.clock.advance(DAY);
    assert_eq!(log_in(&server, "ada@example.com", "a password").await, 200);
    let comment = json!({"deactivation_notification_comment": "Good-bye"});
    owner.delete(&format!("/users/{cleo}"), comment).await.ok();
    submit_in(&server, language, "/accounts/password/reset/", json!({"email": "cleo@example.com"})).await;
    owner.send_direct(&[&ada], "hello").await;
    scheduler::settle(server.app()).await;
    server.clock.advance(PERIOD);
    let fail = server.app().writer.run(|tx| notices::operation::backup_failed(tx, "disk full"));
    fail.await.unwrap();
    letters.extend(take(&server).await);
    owner.post("/realm/deactivate", json!({"deletion_delay_days": null})).await.ok();
    letters.extend(take(&server).await);

    let (_mailbox, server, ada, bob, channel) = digest::absent().await;
    let user_id = ada.user_id;
    let setting =
        format!("INSERT INTO user_setting VALUES ({user_id}, 'default_language', '\"{language}\"')");
    server.sql(&setting).await;
    bob.send(channel, "lunch", "hello").await;
    server.clock.advance(3 * DAY);
    letters.extend(take(&server).await.into_iter().filter(|letter| letter.kind == "digest"));
    letters
}

/// The emails by their kind, in the order in which they were composed.
fn by_kind(letters: Vec<Letter>) -> BTreeMap<String, Vec<Letter>> {
    let mut found: BTreeMap<String, Vec<Letter>> = BTreeMap::new();
    for letter in letters {
        found.entry(letter.kind.clone()).or_default().push(letter);
    }
    found
}

/// The texts of an email, without those of users, and without lines that are the same in English and in German.
fn own_texts(letter: &Letter) -> BTreeSet<String> {
    let is_own = |line: &&str| {
        let of_users = ["http", "> ", "#", "Bob:", "Good-bye", "Client: "];
        !line.is_empty()
            && !["Team chat", "Example"].contains(line)
            && !of_users.iter().any(|start| line.starts_with(start))
    };
    let headers = [letter.subject.as_str(), letter.from_name.as_str()];
    headers.into_iter().chain(letter.text.lines()).filter(is_own).map(str::to_owned).collect()
}

#[tokio::test]
async fn emails_of_every_kind_have_no_text_in_english() {
    let expected = [
        (
            "account_created",
            "Team chat: Die Daten deines neuen Kontos",
            "Willkommen bei Team chat. So meldest du dich an:",
        ),
        (
            "account_deactivated",
            "Dein Konto bei Team chat wurde deaktiviert",
            "Ein Administrator hat geschrieben:",
        ),
        (
            "backup_failed",
            "Die Sicherung von Team chat ist fehlgeschlagen",
            "Die Sicherung dieses Servers ist fehlgeschlagen: disk full. Sie wird wiederholt",
        ),
        (
            "confirm_email",
            "Bestätige deine neue E-Mail-Adresse für chat.example.com",
            "Du möchtest die E-Mail-Adresse deines Kontos bei Team chat von bob@example.com in changed@example.com ändern.",
        ),
        (
            "confirm_sign_up",
            "Aktiviere dein Konto bei Team chat",
            "Du möchtest ein Konto bei Team chat (chat.example.com) erstellen.",
        ),
        ("digest", "Zusammenfassung für Example", "Das ist in Example passiert, während du weg warst."),
        ("email_changed", "E-Mail-Adresse für Team chat geändert", "Melde dich mit der neuen Adresse an."),
        ("find_account", "Dein Konto bei Team chat", "Für ada@example.com gibt es ein Konto bei Team chat."),
        (
            "invitation",
            "Owner hat dich zu Team chat eingeladen",
            "Owner (owner@example.com) hat dich zu Team chat eingeladen, einem Chat für Teams.",
        ),
        (
            "invitation_reminder",
            "Erinnerung: Owner hat dich zu Team chat eingeladen",
            "Die Einladung läuft in zwei Tagen ab. Dies ist die letzte Erinnerung.",
        ),
        (
            "missed_messages",
            "Direktnachrichten mit Owner",
            "Antworten auf diese E-Mail werden nicht gelesen. Bitte antworte im Chat.",
        ),
        ("new_login", "Neue Anmeldung mit teamchat-tests", "Es gab eine neue Anmeldung bei deinem Konto."),
        (
            "organization_deactivated",
            "Deine Organisation Team chat wurde deaktiviert",
            "Deine Organisation Team chat (chat.example.com) wurde von Owner deaktiviert. Niemand kann sich anmelden.",
        ),
        (
            "password_reset",
            "Anforderung eines neuen Passworts für Team chat",
            "Du hast ein neues Passwort für dein Konto ada@example.com bei Team chat angefordert.",
        ),
    ];
    let (english, german) = (by_kind(letters_in("en").await), by_kind(letters_in("de").await));
    let kinds: Vec<&str> = german.keys().map(String::as_str).collect();
    assert_eq!(kinds, expected.map(|(kind, ..)| kind));
    assert_eq!(english.keys().collect::<Vec<_>>(), german.keys().collect::<Vec<_>>());
    for (kind, letters) in &german {
        let others = &english[kind];
        assert_eq!(others.len(), letters.len(), "{kind}");
        for (other, letter) in others.iter().zip(letters) {
            let (other, own) = (own_texts(other), own_texts(letter));
            let same: Vec<&String> = other.intersection(&own).collect();
            assert!(same.is_empty() && !own.is_empty(), "{kind}: {same:?} of {own:?}");
            assert_eq!(letter.language, "de", "{kind}");
            assert!(
                letter.html.starts_with("<!DOCTYPE html><html lang=\"de\" dir=\"ltr\">"),
                "{}",
                letter.html
            );
        }
    }
    for (kind, subject, sentence) in expected {
        let subjects: Vec<&str> = german[kind].iter().map(|letter| letter.subject.as_str()).collect();
        let letter = german[kind].iter().find(|letter| letter.subject == subject);
        let letter = letter.unwrap_or_else(|| panic!("{kind}: {subject:?} in {subjects:?}"));
        assert!(letter.html.contains(&format!("<title>{subject}</title>")), "{kind}: {}", letter.html);
        for part in [&letter.text, &letter.html] {
            assert!(part.contains(sentence), "{kind}: {part}");
        }
    }
    assert_eq!(german["password_reset"][0].from_name, "Kontosicherheit bei Team chat");
}

#[tokio::test]
async fn emails_are_in_the_language_of_the_account_or_else_of_the_page_or_the_organization() {
    let (_mailbox, server) = Mailbox::with_server().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let other = server.user("other", Role::Owner, None, None).await;
    owner.patch("/realm", json!({"default_language": "pl", "invite_required": false})).await.ok();
    ada.patch("/settings", json!({"default_language": "de"})).await.ok();
    other.patch("/settings", json!({"default_language": "ja"})).await.ok();
    for (language, path, field, email) in [
        ("fr", "/accounts/password/reset/", "email", "ada@example.com"),
        ("fr", "/accounts/password/reset/", "email", "nobody@example.com"),
        ("fr", "/accounts/find/", "emails", "ada@example.com"),
        ("fr", "/register/", "email", "new@example.com"),
        ("sv", "/accounts/find/", "emails", "nobody@example.com"),
    ] {
        let status = submit_in(&server, language, path, json!({field: email})).await.status;
        assert!([200, 302].contains(&status), "{path}: {status}");
    }
    owner.post("/invites", invitation("invited@example.com")).await.ok();
    let cleo = json!({"email": "cleo@example.com", "full_name": "Cleo", "password": "a password"});
    owner.post("/users", cleo).await.ok();
    owner.post("/realm/deactivate", json!({"deletion_delay_days": null})).await.ok();
    let letters = take(&server).await;
    let found: Vec<[&str; 3]> = letters
        .iter()
        .map(|letter| [letter.kind.as_str(), letter.to.as_str(), letter.language.as_str()])
        .collect();
    assert_eq!(
        found,
        [
            ["password_reset", "ada@example.com", "de"],
            ["password_reset", "nobody@example.com", "fr"],
            ["find_account", "ada@example.com", "de"],
            ["confirm_sign_up", "new@example.com", "fr"],
            ["find_account", "nobody@example.com", "pl"],
            ["invitation", "invited@example.com", "pl"],
            ["invitation_reminder", "invited@example.com", "pl"],
            ["account_created", "cleo@example.com", "pl"],
            ["organization_deactivated", "owner@example.com", "en"],
            ["organization_deactivated", "other@example.com", "ja"],
        ]
    );
    let subject = |index: usize| letters[index].subject.as_str();
    assert_eq!(subject(1), "Demande de nouveau mot de passe pour Team chat");
    assert_eq!(subject(5), "Owner zaprasza Cię do Team chat");
    assert_eq!(subject(9), "組織 Team chat が無効になりました");
}
