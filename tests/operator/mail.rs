//! Mail by a mail server of its own (aiosmtpd): TLS, logins, refusals, restarts, and what the operator sees of it.
//!
//! `.ci/run` installs aiosmtpd (`tests/clients/run install`).
#![expect(clippy::float_cmp, reason = "values that are compared are small whole numbers")]

use crate::authority::{Authority, Files};
use crate::doctor::examine;
use crate::ports::ReservedPort;
use crate::program::{Serving, command, words};
use crate::requirements::program_or_skip;
use crate::status::{metrics, value};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

const PASSWORD: &str = "correct/horse@battery";
const ENCODED: &str = "correct%2Fhorse%40battery";

struct MailServer {
    child: Child,
    output: BufReader<ChildStdout>,
    port: u16,
}

impl MailServer {
    fn start(python: &Path, flags: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/operator/smtp.py");
        let mut command = Command::new(python);
        command.arg(script).args(flags).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut port = String::new();
        output.read_line(&mut port).unwrap();
        Self { child, output, port: port.trim().parse().unwrap() }
    }

    /// With a certificate for its address.
    fn start_tls(python: &Path, kind: &str, files: &Files, flags: &[&str]) -> Self {
        let (cert, key) = (files.certificate.to_str().unwrap(), files.key.to_str().unwrap());
        Self::start(python, &[flags, &["--tls", kind, "--cert", cert, "--key", key]].concat())
    }

    /// The next email that it took. With `--slow`, also the next command that waits for [`Self::go_on`].
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.parse().unwrap()
    }

    /// Lets a slow mail server answer a command.
    fn go_on(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// A folder with a database, an authority, and a certificate for the mail server.
struct Place {
    folder: tempfile::TempDir,
    files: Files,
    ca: PathBuf,
    /// The owner's email and API key.
    owner: (String, String),
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::new();
        let files = authority.issue(folder.path(), &["127.0.0.1", "localhost"], 9);
        let ca = folder.path().join("ca.pem");
        std::fs::write(&ca, authority.pem()).unwrap();
        let mut create = command(&[
            "user",
            "create",
            "--email",
            "ada@example.com",
            "--full-name",
            "Ada",
            "--role",
            "owner",
        ]);
        let created =
            create.arg("--json").arg("--db").arg(folder.path().join("chat.sqlite")).output().unwrap();
        let user: Value = serde_json::from_slice(&created.stdout).unwrap();
        let owner = ("ada@example.com".to_owned(), user["api_key"].as_str().unwrap().to_owned());
        Self { folder, files, ca, owner }
    }

    /// `mail test` with these flags: the code, and all that it printed.
    fn test(&self, flags: &[&str]) -> (i32, String) {
        let mut command = command(&["mail", "test", "bob@example.com"]);
        let output =
            command.args(flags).arg("--db").arg(self.folder.path().join("chat.sqlite")).output().unwrap();
        let (code, printed, error) = words(&output);
        (code, printed + &error)
    }

    async fn invite(&self, serving: &Serving, email: &str) {
        self.post(serving, "invites", &[("invitee_emails", email), ("stream_ids", "[]")]).await;
    }

    async fn post(&self, serving: &Serving, path: &str, fields: &[(&str, &str)]) {
        let url = format!("{}/api/v1/{path}", serving.origin());
        let request = reqwest::Client::new().post(url).basic_auth(&self.owner.0, Some(&self.owner.1));
        let answer = request.form(fields).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    }

    fn status(&self) -> Value {
        let mut command = command(&["status", "--json", "--db"]);
        let output = command.arg(self.folder.path().join("chat.sqlite")).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

const FROM: [&str; 2] = ["--mail-from", "chat@example.com"];

#[test]
fn a_test_letter_goes_over_each_kind_of_connection() {
    let Some(python) = program_or_skip("aiosmtpd") else { return };
    let place = Place::new();
    let ca = ["--smtp-ca", place.ca.to_str().unwrap()];
    for (kind, scheme, query, is_encrypted) in [
        ("none", "smtp", "?tls=none", false),
        ("none", "smtp", "", false),
        ("starttls", "smtp", "?tls=starttls", true),
        ("starttls", "smtp", "?tls=required", true),
        ("implicit", "smtps", "", true),
    ] {
        let mut server = match kind {
            "none" => MailServer::start(&python, &[]),
            kind => MailServer::start_tls(&python, kind, &place.files, &[]),
        };
        let url = format!("{scheme}://127.0.0.1:{}{query}", server.port);
        let listen = ["--listen", "127.0.0.1:8025"];
        let (code, printed) = place.test(&[&FROM[..], &["--smtp-url", &url], &ca[..], &listen[..]].concat());
        assert_eq!(code, 0, "{url}: {printed}");
        assert!(printed.contains("Sent") && printed.contains("taken as number 1"), "{printed}");
        let letter = server.next();
        assert_eq!(letter["is_encrypted"], is_encrypted, "{url}");
        assert_eq!(
            (&letter["from"], &letter["to"]),
            (&json!("chat@example.com"), &json!(["bob@example.com"]))
        );
        let content = letter["content"].as_str().unwrap();
        assert!(content.contains("Subject: Test mail of Team chat"), "{content}");
        assert!(content.contains("http://127.0.0.1:8025"), "the link leads to the server: {content}");
    }
}

#[test]
fn the_mail_server_is_greeted_with_the_public_name() {
    let Some(python) = program_or_skip("aiosmtpd") else { return };
    let place = Place::new();
    let mut server = MailServer::start(&python, &[]);
    let url = format!("smtp://127.0.0.1:{}?tls=none", server.port);
    for (flags, expected) in [
        (&[][..], "[127.0.0.1]"),
        (&["--public-url", "https://chat.example.com"][..], "chat.example.com"),
        (&["--public-url", "http://chat.lan:9991"][..], "[127.0.0.1]"),
    ] {
        let (code, printed) = place.test(&[&FROM[..], &["--smtp-url", &url], flags].concat());
        assert_eq!(code, 0, "{printed}");
        assert_eq!(server.next()["greeting"], expected);
    }
}

#[test]
fn certificates_are_checked_where_tls_is_required() {
    let Some(python) = program_or_skip("aiosmtpd") else { return };
    let place = Place::new();
    let mut server = MailServer::start_tls(&python, "starttls", &place.files, &[]);
    let url = |query: &str| format!("smtp://127.0.0.1:{}{query}", server.port);
    // The certificate is not trusted.
    let (code, printed) = place.test(&[&FROM[..], &["--smtp-url", &url("?tls=required")]].concat());
    assert_eq!(code, 1, "{printed}");
    let (code, printed) = place.test(&[&FROM[..], &["--smtp-url", &url("")]].concat());
    assert_eq!(code, 0, "{printed}");
    assert_eq!(server.next()["is_encrypted"], true);

    let plain = MailServer::start(&python, &[]);
    let url = format!("smtp://127.0.0.1:{}?tls=required", plain.port);
    let (code, printed) = place.test(&[&FROM[..], &["--smtp-url", &url]].concat());
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("does not offer STARTTLS"), "{printed}");
}

#[test]
fn passwords_are_checked_and_never_shown_or_sent_in_clear_text() {
    let Some(python) = program_or_skip("aiosmtpd") else { return };
    let place = Place::new();
    let ca = ["--smtp-ca", place.ca.to_str().unwrap()];
    let mut server = MailServer::start_tls(&python, "starttls", &place.files, &["--password", PASSWORD]);
    let right = format!("smtp://chat:{ENCODED}@127.0.0.1:{}", server.port);
    let (code, printed) = place.test(&[&FROM[..], &["--smtp-url", &right], &ca[..]].concat());
    assert_eq!(code, 0, "{printed}");
    assert_eq!(server.next()["login"], "chat");
    let wrong = format!("smtp://chat:wrong-secret@127.0.0.1:{}", server.port);
    let (code, printed) = place.test(&[&FROM[..], &["--smtp-url", &wrong], &ca[..]].concat());
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("535") && !printed.contains("wrong-secret"), "{printed}");
    // A server with a certificate that is not trusted, and one without TLS, do not get the password.
    let (code, printed) = place.test(&[&FROM[..], &["--smtp-url", &right]].concat());
    assert_eq!(code, 1, "{printed}");
    let plain = MailServer::start(&python, &["--password", PASSWORD]);
    let url = format!("smtp://chat:{ENCODED}@127.0.0.1:{}", plain.port);
    let (code, printed) = place.test(&[&FROM[..], &["--smtp-url", &url]].concat());
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("tls=none") && !printed.contains(ENCODED), "{printed}");
    let (code, printed) = place.test(&[&FROM[..], &["--smtp-url", &format!("{url}?tls=none")]].concat());
    assert_eq!(code, 0, "{printed}");
}

#[test]
fn a_test_letter_that_is_refused_ends_with_the_words_of_the_mail_server() {
    let Some(python) = program_or_skip("aiosmtpd") else { return };
    let place = Place::new();
    for (command, answer) in [
        ("MAIL", "550 5.7.1 sender not allowed"),
        ("RCPT", "550 5.1.1 no such box"),
        ("DATA", "452 4.3.1 disk is full"),
    ] {
        let server = MailServer::start(&python, &["--refuse", &format!("{command}:{answer}")]);
        let url = format!("smtp://127.0.0.1:{}?tls=none", server.port);
        let (code, printed) = place.test(&[&FROM[..], &["--smtp-url", &url]].concat());
        assert_eq!(code, 1, "{printed}");
        let (status, text) = answer.split_once(' ').unwrap();
        assert!(printed.contains(status) && printed.contains(text), "{printed}");
    }
}

#[test]
fn wrong_flags_of_mail_are_named_without_the_password() {
    let place = Place::new();
    let url = "smtp://chat:secret-word@127.0.0.1:1";
    for (flags, expected) in [
        (vec!["--smtp-url", url], "--smtp-url requires --mail-from"),
        (vec!["--mail-from", "chat@example.com"], "--mail-from requires --smtp-url"),
        (vec!["--smtp-url", url, "--mail-from", "nobody"], "'nobody' is not an email address"),
        (
            vec!["--smtp-url", "smtp://chat:secret-word@127.0.0.1?tls=maybe", "--mail-from", "a@example.com"],
            "none, starttls or required",
        ),
        (
            vec!["--smtp-url", "imap://chat:secret-word@127.0.0.1", "--mail-from", "a@example.com"],
            "smtp:// or smtps://",
        ),
        (vec![], "--smtp-url and --mail-from"),
    ] {
        let (code, printed) = place.test(&flags);
        assert_eq!(code, 2, "{flags:?}: {printed}");
        assert!(printed.contains(expected) && !printed.contains("secret-word"), "{flags:?}: {printed}");
        if !flags.is_empty() {
            let mut serve = command(&["serve", "--listen", "127.0.0.1:0", "--db"]);
            let output = serve.arg(place.folder.path().join("chat.sqlite")).args(&flags).output().unwrap();
            let (code, _, error) = words(&output);
            assert_eq!(code, 2, "{flags:?}: {error}");
            assert!(error.contains(expected) && !error.contains("secret-word"), "{flags:?}: {error}");
        }
    }
    let output = command(&["mail", "test", "bob@example.com", "--smtp-url", "smtp://127.0.0.1:1"]);
    let (mut output, missing) = (output, place.folder.path().join("missing.sqlite"));
    let (code, _, _) = words(&output.args(FROM).arg("--db").arg(&missing).output().unwrap());
    assert_eq!((code, missing.exists()), (1, false));
}

#[tokio::test]
async fn a_server_sends_its_letters_and_hides_the_password() {
    let Some(python) = program_or_skip("aiosmtpd") else { return };
    let place = Place::new();
    let folder = place.folder.path();
    let mut server = MailServer::start_tls(&python, "implicit", &place.files, &["--password", PASSWORD]);
    let (secret, config) = (folder.join("smtp"), folder.join("teamchat.toml"));
    std::fs::write(&secret, format!("smtps://chat:{ENCODED}@127.0.0.1:{}\n", server.port)).unwrap();
    let text =
        format!("smtp-url-file = {secret:?}\nmail-from = \"chat@example.com\"\nsmtp-ca = {:?}\n", place.ca);
    std::fs::write(&config, text).unwrap();
    let config = ["--config", config.to_str().unwrap()];

    let (code, _, error) = words(&command(&["config", "check"]).args(config).output().unwrap());
    assert_eq!(code, 0, "{error}");
    let (_, shown, _) = words(&command(&["config", "show"]).args(config).output().unwrap());
    assert!(shown.contains("(hidden)") && !shown.contains(ENCODED), "{shown}");

    let flags = ["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--log", "trace"];
    let serving = Serving::start(folder, &[&config[..], &flags].concat());
    place.invite(&serving, "new@example.com").await;
    let letter = server.next();
    assert_eq!((&letter["to"], &letter["login"]), (&json!(["new@example.com"]), &json!("chat")));
    assert!(
        letter["content"].as_str().unwrap().contains(&serving.origin()),
        "links lead to the server: {letter}"
    );
    // The running server sends the email of the test, too.
    let (code, printed) = place.test(&[]);
    assert_eq!(code, 0, "{printed}");
    assert_eq!(server.next()["to"], json!(["bob@example.com"]));
    loop {
        let status = place.status();
        if status["mail"]["sent"] == 1 {
            assert_eq!(status["mail"]["failing_since"], Value::Null);
            assert_eq!(status["mail"]["waiting"], 0);
            assert_eq!(status["mail"]["oldest_waiting"], Value::Null);
            assert!(status["mail"]["last_success"].is_i64(), "{status}");
            break;
        }
    }
    let metrics = metrics(&serving, "teamchat_mail_last_success_timestamp_seconds").await;
    for (name, expected) in [
        (r#"teamchat_mail_emails_total{outcome="sent"}"#, 1.0),
        (r#"teamchat_mail_emails_total{outcome="refused"}"#, 0.0),
        (r#"teamchat_mail_emails_total{outcome="expired"}"#, 0.0),
        ("teamchat_mail_failures_total", 0.0),
        ("teamchat_mail_failed", 0.0),
        ("teamchat_mail_waiting", 0.0),
    ] {
        assert_eq!(value(&metrics, name), expected, "{name}");
    }
    assert!(!metrics.contains("teamchat_mail_oldest_waiting"), "{metrics}");
    examine(folder, &config).expect("ok", "mail", &["accepts the login"]);
    let log = serving.stop();
    assert!(!log.contains(ENCODED) && !log.contains(PASSWORD), "{log}");
}

#[tokio::test]
async fn letters_wait_for_the_mail_server_through_restarts() {
    let Some(python) = program_or_skip("aiosmtpd") else { return };
    let place = Place::new();
    let folder = place.folder.path();
    let port = ReservedPort::new();
    let address = port.address();
    let url = format!("smtp://{address}?tls=none");
    let flags = [&FROM[..], &["--listen", "127.0.0.1:0", "--smtp-url", &url]].concat();
    let serving = Serving::start(folder, &flags);
    place.invite(&serving, "new@example.com").await;
    loop {
        let status = place.status();
        if !status["mail"]["failing_since"].is_null() {
            let warnings = status["warnings"].to_string();
            assert!(warnings.contains("No email could be sent since"), "{warnings}");
            assert!(status["mail"]["oldest_waiting"].is_i64(), "{status}");
            assert_eq!(status["mail"]["last_success"], Value::Null);
            break;
        }
    }
    serving.signal("KILL");
    drop(serving);
    let mut server = MailServer::start(&python, &["--port", &address.port().to_string()]);
    let serving = Serving::start(folder, &flags);
    assert_eq!(server.next()["to"], json!(["new@example.com"]));
    serving.stop();
    let serving = Serving::start(folder, &flags);
    place.invite(&serving, "other@example.com").await;
    assert_eq!(server.next()["to"], json!(["other@example.com"]), "the first does not come again");
    serving.stop();
}

#[tokio::test]
async fn a_slow_mail_server_takes_letters_and_delays_no_messages() {
    let Some(python) = program_or_skip("aiosmtpd") else { return };
    let place = Place::new();
    let mut server = MailServer::start(&python, &["--slow"]);
    let url = format!("smtp://127.0.0.1:{}?tls=none", server.port);
    let flags = [&FROM[..], &["--listen", "127.0.0.1:0", "--smtp-url", &url]].concat();
    let serving = Serving::start(place.folder.path(), &flags);
    place.invite(&serving, "one@example.com,two@example.com").await;
    for email in ["one@example.com", "two@example.com"] {
        for command in ["MAIL", "RCPT", "DATA"] {
            assert_eq!(server.next()["waits"], command);
            // It does not answer before the message is sent.
            let message = [("type", "direct"), ("to", "[\"ada@example.com\"]"), ("content", command)];
            place.post(&serving, "messages", &message).await;
            server.go_on();
        }
        assert_eq!(server.next()["to"], json!([email]));
    }
    serving.stop();
}
