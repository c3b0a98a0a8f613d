//! `--tls-cert` and `--tls-key`: requests with and without TLS, replaced files, and files that cannot be used.

use crate::authority::{Authority, DAY, NAME, address_of, poll_for_message, request, send_plain, with};
use crate::program::{Serving, command, create_owner, words};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::Version;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::io::AsyncReadExt;

#[tokio::test]
async fn every_address_speaks_tls_and_redirects_what_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let files = authority.issue(folder.path(), &[NAME], 90);
    let owner = create_owner(folder.path());
    let arguments = [&["--listen", "127.0.0.1:0,127.0.0.1:0"][..], &files.flags()].concat();
    let serving = Serving::start(folder.path(), &arguments);
    let origins = serving.origins();
    assert!(
        origins.len() == 2 && origins.iter().all(|origin| origin.starts_with("https://127.0.0.1:")),
        "{origins:?}"
    );
    let first = address_of(&origins[0]);
    for origin in &origins {
        let address = address_of(origin);
        let site = format!("https://{NAME}:{}", address.port());
        for version in [Version::HTTP_11, Version::HTTP_2] {
            let settings = request("GET", &format!("{site}/api/v1/server_settings"), &[]);
            let settings = authority.send(address, version, settings).await;
            assert_eq!((settings.status, settings.version), (200, version));
            assert_eq!(settings.headers["strict-transport-security"], "max-age=31536000");
            assert_eq!(settings.json()["realm_url"], site.as_str());
            let form = [("username", "ada@example.com"), ("password", owner["password"].as_str().unwrap())];
            let login = request("POST", &format!("{site}/accounts/login/"), &form);
            let login = authority.send(address, version, login).await;
            let cookies: Vec<&str> =
                login.headers.get_all("set-cookie").iter().map(|cookie| cookie.to_str().unwrap()).collect();
            assert_eq!(cookies.len(), 2, "{cookies:?}");
            let is_bound =
                |cookie: &&str| cookie.starts_with("__Host-teamchat_") && cookie.ends_with("; Secure");
            assert!(cookies.iter().all(is_bound), "{cookies:?}");
        }
        // Without TLS: to the first address, and nothing else is answered there.
        let plain = format!("http://{NAME}:{}", address.port());
        for (method, path, status) in
            [("GET", "/?a=b", 301), ("HEAD", "/x", 301), ("POST", "/api/v1/messages", 308)]
        {
            let answer = send_plain(address, request(method, &format!("{plain}{path}"), &[])).await;
            assert_eq!(answer.status, status, "{method}");
            assert_eq!(answer.headers["location"], format!("https://{NAME}:{}{path}", first.port()));
            assert!(!answer.headers.contains_key("strict-transport-security"));
        }
        let health = send_plain(address, request("GET", &format!("{plain}/health"), &[])).await;
        assert_eq!(health.status, 200, "for monitors on this machine");
    }
    for url in [format!("http://{first}"), format!("https://{first}")] {
        let health = command(&["health", "--url", &url]).output().unwrap();
        assert_eq!(words(&health), (0, String::new(), String::new()), "{url}");
    }
    serving.stop();
    let health = command(&["health", "--url", &format!("https://{first}")]).output().unwrap();
    assert_eq!(words(&health).0, 1);
}

#[tokio::test]
async fn redirects_lead_to_the_public_url() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let files = authority.issue(folder.path(), &["*.example.com"], 90);
    let arguments =
        [&["--listen", "127.0.0.1:0", "--public-url", "https://chat.example.com"][..], &files.flags()]
            .concat();
    let serving = Serving::start(folder.path(), &arguments);
    let address = address_of(&serving.origin());
    let answer = send_plain(address, request("GET", &format!("http://{address}/x"), &[])).await;
    assert_eq!(answer.headers["location"], "https://chat.example.com/x");
    let logged = serving.stop();
    assert!(!logged.contains("--trusted-proxy") && !logged.contains("is not for the host"), "{logged}");
    // A certificate for another host is a warning: a proxy in front may have the right one.
    let files = authority.issue(folder.path(), &["other.example.com", "127.0.0.1"], 90);
    let arguments =
        [&["--listen", "127.0.0.1:0", "--public-url", "https://chat.example.com"][..], &files.flags()]
            .concat();
    let logged = Serving::start(folder.path(), &arguments).stop();
    assert!(logged.contains("the certificate is not for the host of --public-url"), "{logged}");
    assert!(logged.contains("host=\"chat.example.com\""), "{logged}");
    // Links without TLS would all be redirected.
    let plain = "the server has TLS, and --public-url begins with http://";
    assert!(!logged.contains(plain), "{logged}");
    let arguments =
        [&["--listen", "127.0.0.1:0", "--public-url", "http://other.example.com"][..], &files.flags()]
            .concat();
    let logged = Serving::start(folder.path(), &arguments).stop();
    assert!(logged.contains(plain), "{logged}");
}

#[test]
fn certificates_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let now = SystemTime::now();
    let day = Duration::from_secs(24 * 60 * 60);
    let place = |name: &str| {
        let folder = folder.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        folder
    };
    let good = authority.issue(&place("good"), &[NAME], 90);
    let other = authority.issue(&place("other"), &[NAME], 90);
    let expired = authority.issue_from(&place("expired"), &[NAME], now - day * 10, 9);
    let early = authority.issue_from(&place("early"), &[NAME], now + day, 9);
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let text = path("text", "no certificate");
    let damaged = path("damaged", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let encrypted = path(
        "encrypted",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    let missing = folder.path().join("missing");
    for (certificate, key, expected) in [
        (&missing, &good.key, format!("cannot read {}: ", missing.display())),
        (&good.certificate, &missing, format!("cannot read {}: ", missing.display())),
        (&text, &good.key, format!("{} has no certificate: it should be PEM", text.display())),
        (&good.key, &good.key, format!("{} has no certificate", good.key.display())),
        (&damaged, &good.key, format!("the certificate in {} is damaged", damaged.display())),
        (&good.certificate, &text, format!("{} has no private key", text.display())),
        (&good.certificate, &encrypted, format!("the private key in {} is encrypted", encrypted.display())),
        (
            &good.certificate,
            &other.key,
            format!(
                "the private key in {} does not belong to the certificate in {}",
                other.key.display(),
                good.certificate.display()
            ),
        ),
        (
            &expired.certificate,
            &expired.key,
            format!("the certificate in {} expired at ", expired.certificate.display()),
        ),
        (
            &early.certificate,
            &early.key,
            format!("the certificate in {} is valid from ", early.certificate.display()),
        ),
    ] {
        let db = folder.path().join("chat.sqlite");
        let output = command(&["serve", "--listen", "127.0.0.1:0", "--db"])
            .arg(&db)
            .args([Path::new("--tls-cert"), certificate, Path::new("--tls-key"), key])
            .output()
            .unwrap();
        let (code, _, said) = words(&output);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(&format!("error: {expected}")), "{expected}: {said}");
        assert!(!db.exists(), "{said}");
        let file = path("teamchat.toml", &format!("tls-cert = {certificate:?}\ntls-key = {key:?}\n"));
        let (code, _, said) = words(&command(&["config", "check", "--config"]).arg(&file).output().unwrap());
        assert!(code == 2 && said.contains(&format!("error: {expected}")), "{said}");
    }
    let socket = format!("unix:{}", folder.path().join("http").display());
    let [cert_flag, cert, key_flag, key] = good.flags();
    for (arguments, expected) in [
        (&["--tls-cert", "x"][..], "--tls-key <FILE>"),
        (&["--listen", &socket, cert_flag, cert, key_flag, key], "TLS needs an ADDR:PORT in --listen"),
        (&["--tls-key", "x"], "--tls-cert <FILE>"),
        (&["--acme-email", "a@example.com"], "--acme <DOMAIN>"),
        (&["--acme-ca", good.certificate.to_str().unwrap()], "--acme <DOMAIN>"),
        (&["--acme", "a.example", "--acme-ca", "missing.pem"], "missing.pem: No such file"),
        (
            &["--acme", "a.example", "--acme-ca", text.to_str().unwrap()],
            "there is no certificate of an authority",
        ),
        (&["--acme", "a.example", "--acme-email", "ada"], "it is not an email address"),
        (&["--acme", "a.example", "--tls-cert", "x", "--tls-key", "y"], "cannot be used with"),
        (&["--acme", "*.example.com"], "need a check by DNS"),
        (&["--acme", "127.0.0.1"], "is an address"),
        (&["--acme", "a.example", "--acme-directory", "http://a"], "it begins with https://"),
        (&["--ephemeral", "--listen", "127.0.0.1:0", "--acme", "a.example"], "a test server has no TLS"),
    ] {
        let (code, _, said) = words(&command(&["serve"]).args(arguments).output().unwrap());
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

/// Polls that wait while the certificate is replaced.
const POLLS: usize = 200;

/// Files are replaced one after the other, and polls wait meanwhile.
#[tokio::test]
async fn a_replaced_certificate_is_for_new_connections() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let files = authority.issue(folder.path(), &[NAME], 90);
    let owner = create_owner(folder.path());
    let serving = Serving::start(folder.path(), &[&["--listen", "127.0.0.1:0"][..], &files.flags()].concat());
    let address = address_of(&serving.origin());
    let key = format!("ada@example.com:{}", owner["api_key"].as_str().unwrap());
    let credentials = format!("Basic {}", STANDARD.encode(key));
    let authority = Arc::new(authority);
    let of_clients = Arc::clone(&authority);
    let ask = move |version: Version, method: &str, path: &str, form: &[(&str, &str)]| {
        let url = format!("https://{NAME}:{}/api/v1{path}", address.port());
        let request = with(request(method, &url, form), "authorization", &credentials);
        let authority = Arc::clone(&of_clients);
        async move { authority.send(address, version, request).await.json() }
    };
    let mut polls = Vec::new();
    for version in [Version::HTTP_11, Version::HTTP_2].into_iter().cycle().take(POLLS) {
        let queue = ask(version, "POST", "/register", &[("event_types", "[\"message\"]")]).await;
        let ask = ask.clone();
        let ask = move |path: String| ask(version, "GET", &path, &[]);
        polls.push(tokio::spawn(poll_for_message(queue, ask)));
    }
    let waiting = || {
        let status = command(&["status", "--json", "--db"]).arg(folder.path().join("chat.sqlite")).output();
        serde_json::from_slice::<Value>(&status.unwrap().stdout).unwrap()["polls_waiting"].as_u64()
    };
    while waiting() != Some(POLLS as u64) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let before = authority.seen(address).await;

    // Half of it: the certificate of one key and another key.
    let next = tempfile::tempdir().unwrap();
    let replacement = authority.issue(next.path(), &[NAME], 80);
    std::fs::copy(&replacement.certificate, &files.certificate).unwrap();
    while !serving.log().contains("the certificate was not replaced") {
        tokio::task::yield_now().await;
    }
    assert!(serving.log().contains("does not belong to the certificate"), "{}", serving.log());
    assert_eq!(authority.seen(address).await, before, "the old one stays");
    std::fs::copy(&replacement.key, &files.key).unwrap();
    let mut now = before.clone();
    while now == before {
        now = authority.seen(address).await;
    }

    // On request, also when the time of the files is the same.
    std::fs::write(&files.key, "nothing").unwrap();
    let asked = |count: usize| serving.log().matches("has no private key").count() >= count;
    serving.signal("HUP");
    while !asked(1) {
        tokio::task::yield_now().await;
    }
    assert_eq!(authority.seen(address).await, now);
    assert!(polls.iter().all(|poll| !poll.is_finished()), "polls go on");

    let form = [("type", "direct"), ("to", "[\"ada@example.com\"]"), ("content", "x")];
    let sent = ask(Version::HTTP_11, "POST", "/messages", &form).await;
    assert_eq!(sent["result"], "success", "{sent}");
    for poll in polls {
        assert_eq!(poll.await.unwrap(), "x");
    }
    serving.stop();
}

#[tokio::test]
async fn certificates_that_end_soon_are_warned_of() {
    for (half_days, left) in [(166, "6 days"), (177, "1 day"), (179, "less than a day")] {
        let folder = tempfile::tempdir().unwrap();
        let begin = SystemTime::now() - DAY / 2 * half_days;
        let files = Authority::new().issue_from(folder.path(), &[NAME], begin, 90);
        let flags = [&["--listen", "127.0.0.1:0"][..], &files.flags()].concat();
        let serving = Serving::start(folder.path(), &flags);
        while !serving.log().contains(&format!("the certificate expires in {left}: replace it")) {
            tokio::task::yield_now().await;
        }
        serving.stop();
    }
}

/// Without a certificate SIGHUP has nothing to do, and does not end the server.
#[tokio::test]
async fn a_hangup_does_not_end_a_server_without_tls() {
    let folder = tempfile::tempdir().unwrap();
    let serving = Serving::start(folder.path(), &["--listen", "127.0.0.1:0"]);
    serving.signal("HUP");
    while !serving.log().contains("there is no certificate to read again") {
        tokio::task::yield_now().await;
    }
    serving.stop();
}

#[tokio::test]
async fn a_silent_handshake_and_nonsense_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let files = authority.issue(folder.path(), &[NAME], 90);
    let serving = Serving::start(folder.path(), &[&["--listen", "127.0.0.1:0"][..], &files.flags()].concat());
    let address = address_of(&serving.origin());
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(tokio::net::TcpStream::connect(address).await.unwrap());
    }
    for bytes in
        [&b"\x16\x03\x01\xff\xff"[..], b"\x16garbage garbage garbage", b"\x80\x2e\x01\x03\x01", b"\x00"]
    {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, bytes).await.unwrap();
        tokio::io::AsyncWriteExt::shutdown(&mut stream).await.unwrap();
        let mut answer = Vec::new();
        // An alert, an error for what looks like HTTP, or the end of the connection.
        let _reset = stream.read_to_end(&mut answer).await;
        assert!(answer.len() < 1000);
    }
    let health = request("GET", &format!("https://{NAME}:{}/health", address.port()), &[]);
    assert_eq!(authority.send(address, Version::HTTP_2, health).await.status, 200);
    drop(silent);
    serving.stop();
}
