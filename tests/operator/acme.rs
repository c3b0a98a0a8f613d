//! `--acme` against pebble, the test server of Let's Encrypt: issued, kept, renewed and refused.
//!
//! `.ci/run` installs the program.

use crate::authority::{
    Authority, DAY, Files, address_of, connect, exchange, poll_for_message, request, with,
};
use crate::doctor::examine;
use crate::ports::ReservedPort;
use crate::program::{Serving, command, create_owner};
use crate::requirements::program_or_skip;
use crate::status::{metrics, value};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::Version;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;

/// The name that pebble resolves to this machine.
const NAME: &str = "chat.example.net";

/// Seconds that certificates of a test are valid.
const LIFETIME: u64 = 15;

/// A pebble and its DNS server.
struct Pebble {
    processes: Vec<Child>,
    /// The URL of its directory, and that of its state.
    directory: String,
    management: String,
    /// The port at which it checks TLS, and that for HTTP.
    tls_port: ReservedPort,
    http_port: ReservedPort,
    authority: Authority,
    certificate: Files,
    _folder: tempfile::TempDir,
}

impl Pebble {
    /// Starts one with further settings; `None` if it is not installed, and need not be.
    async fn start(more: Value) -> Option<Self> {
        let program = program_or_skip("pebble")?;
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::new();
        let certificate = authority.issue(folder.path(), &["127.0.0.1", "localhost"], 9);
        std::fs::write(folder.path().join("ca.pem"), authority.pem()).unwrap();
        // They stay reserved until all programs listen.
        let reserved: [ReservedPort; 4] = std::array::from_fn(|_| ReservedPort::new());
        let [listen, management, dns, dns_management] = reserved.each_ref().map(ReservedPort::address);
        let (tls_port, http_port) = (ReservedPort::new(), ReservedPort::new());
        let mut settings = json!({
            "listenAddress": listen, "managementListenAddress": management,
            "certificate": certificate.certificate, "privateKey": certificate.key,
            "httpPort": http_port.address().port(), "tlsPort": tls_port.address().port(), "ocspResponderURL": "",
        });
        settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let path = folder.path().join("pebble.json");
        std::fs::write(&path, json!({ "pebble": settings }).to_string()).unwrap();
        let start = |program: &Path, arguments: &[String]| {
            let mut command = Command::new(program);
            command.args(arguments).env("PEBBLE_VA_NOSLEEP", "1").env("PEBBLE_AUTHZREUSE", "0");
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let own =
            ["-dns01", "-management", "-defaultIPv4", "-defaultIPv6", "-http01", "-https01", "-tlsalpn01"];
        let values = [
            dns.to_string(),
            dns_management.to_string(),
            "127.0.0.1".to_owned(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
        ];
        let names: Vec<String> =
            own.iter().zip(values).flat_map(|(name, value)| [(*name).to_owned(), value]).collect();
        let of_pebble =
            ["-config", path.to_str().unwrap(), "-dnsserver", &dns.to_string()].map(str::to_owned);
        let of_names = program.with_file_name("pebble-challtestsrv");
        let processes = vec![start(&of_names, &names), start(&program, &of_pebble)];
        let pebble = Self {
            processes,
            directory: format!("https://{listen}/dir"),
            management: format!("https://{management}"),
            tls_port,
            http_port,
            authority,
            certificate,
            _folder: folder,
        };
        while pebble.root().await.is_none() {
            tokio::task::yield_now().await;
        }
        Some(pebble)
    }

    /// The certificate that signs those that it issues.
    async fn root(&self) -> Option<CertificateDer<'static>> {
        let address = address_of(&self.management);
        let question = request("GET", &format!("{}/roots/0", self.management), &[]);
        let stream = connect(self.authority.roots(), address, "127.0.0.1", &[b"http/1.1"]).await.ok()?;
        let answer = exchange(stream, Version::HTTP_11, question).await;
        CertificateDer::from_pem_slice(&answer.body).ok()
    }

    /// Starts a server that gets its certificate here.
    fn serve(&self, folder: &Path, names: &[&str], port: &ReservedPort) -> Serving {
        let ca = self.certificate.certificate.with_file_name("ca.pem");
        let listen = port.address().to_string();
        let mut arguments = vec!["--listen", &listen, "--acme-email", "ada@example.com"];
        arguments.extend(["--acme-directory", &self.directory, "--acme-ca", ca.to_str().unwrap()]);
        for name in names {
            arguments.extend(["--acme", name]);
        }
        Serving::start(folder, &arguments)
    }

    /// Waits for a certificate of the server that this authority has issued, and that is not `before`.
    async fn issued(
        &self,
        serving: &Serving,
        before: Option<&CertificateDer<'_>>,
    ) -> CertificateDer<'static> {
        let address: SocketAddr = address_of(&serving.origin());
        let mut roots = RootCertStore::empty();
        roots.add(self.root().await.unwrap()).unwrap();
        loop {
            if let Ok(stream) = connect(roots.clone(), address, NAME, &[]).await {
                let seen = stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned();
                if before != Some(&seen) {
                    return seen;
                }
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Pebble {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _gone = process.kill();
            let _gone = process.wait();
        }
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn a_certificate_is_issued_kept_and_renewed() {
    let Some(pebble) = Pebble::start(json!({ "certificateValidityPeriod": LIFETIME })).await else { return };
    let folder = tempfile::tempdir().unwrap();
    let serving = pebble.serve(folder.path(), &[NAME], &pebble.tls_port);
    let first = pebble.issued(&serving, None).await;
    assert!(
        serving.log().contains(&format!("a certificate was issued names=\"{NAME}\"")),
        "{}",
        serving.log()
    );
    let state = folder.path().join("chat.sqlite.acme");
    assert_eq!(mode(&state), 0o700);
    for name in ["account.json", "certificate.pem"] {
        assert_eq!(mode(&state.join(name)), 0o600, "{name}");
    }
    let account = std::fs::read(state.join("account.json")).unwrap();

    // A start with a certificate asks for none, and later ones come from the same account.
    serving.stop();
    let serving = pebble.serve(folder.path(), &[NAME], &pebble.tls_port);
    let second = pebble.issued(&serving, Some(&first)).await;
    let third = pebble.issued(&serving, Some(&second)).await;
    assert!(first != second && second != third);
    assert_eq!(std::fs::read(state.join("account.json")).unwrap(), account);
    assert!(!serving.log().contains("no certificate was issued"), "{}", serving.log());
    serving.stop();
}

#[tokio::test]
async fn names_share_a_certificate_and_a_further_name_gets_another() {
    const FURTHER: &str = "www.example.net";
    let Some(pebble) = Pebble::start(json!({})).await else { return };
    let folder = tempfile::tempdir().unwrap();
    let serving = pebble.serve(folder.path(), &[NAME], &pebble.tls_port);
    let first = pebble.issued(&serving, None).await;
    serving.stop();
    let serving = pebble.serve(folder.path(), &[NAME, FURTHER], &pebble.tls_port);
    let second = pebble.issued(&serving, Some(&first)).await;
    let mut roots = RootCertStore::empty();
    roots.add(pebble.root().await.unwrap()).unwrap();
    for name in [NAME, FURTHER] {
        let stream = connect(roots.clone(), address_of(&serving.origin()), name, &[]).await.unwrap();
        assert_eq!(stream.get_ref().1.peer_certificates().unwrap()[0], second, "{name}");
    }
    serving.stop();
    // A name less is no reason for an order.
    let serving = pebble.serve(folder.path(), &[NAME], &pebble.tls_port);
    assert_eq!(pebble.issued(&serving, None).await, second);
    let logged = serving.stop();
    assert_eq!(logged.matches("a certificate was issued").count(), 2, "{logged}");
}

#[tokio::test]
async fn an_account_that_the_acme_server_has_lost_is_replaced() {
    let Some(pebble) = Pebble::start(json!({})).await else { return };
    let folder = tempfile::tempdir().unwrap();
    let serving = pebble.serve(folder.path(), &[NAME], &pebble.tls_port);
    let first = pebble.issued(&serving, None).await;
    serving.stop();
    let path = folder.path().join("chat.sqlite.acme/account.json");
    let mut account: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let known = account["credentials"]["id"].as_str().unwrap().to_owned();
    let lost = format!("{}/0", known.rsplit_once('/').unwrap().0);
    account["credentials"]["id"] = Value::from(lost.clone());
    std::fs::write(&path, account.to_string()).unwrap();
    // A further name needs an order. The second attempt is checked over HTTP.
    let serving = pebble.serve(folder.path(), &[NAME, "www.example.net"], &pebble.http_port);
    pebble.issued(&serving, Some(&first)).await;
    let logged = serving.stop();
    assert!(logged.contains("accountDoesNotExist"), "{logged}");
    let account: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_ne!(account["credentials"]["id"], lost);
}

/// Polls that wait meanwhile are answered on their connections.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewal_ends_no_waiting_poll() {
    const POLLS: usize = 200;
    // Long enough for all of them to begin.
    let Some(pebble) = Pebble::start(json!({ "certificateValidityPeriod": 2 * LIFETIME })).await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let answer = |arguments: &[&str]| -> Value {
        let output = command(arguments).arg("--json").arg("--db").arg(&db).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    };
    let owner = create_owner(folder.path());
    let key = format!("ada@example.com:{}", owner["api_key"].as_str().unwrap());
    let authorization = format!("Basic {}", STANDARD.encode(key));
    let serving = pebble.serve(folder.path(), &[NAME], &pebble.tls_port);
    pebble.issued(&serving, None).await;
    let mut roots = RootCertStore::empty();
    roots.add(pebble.root().await.unwrap()).unwrap();
    let address = address_of(&serving.origin());
    let ask = move |method: &str, path: &str, form: &[(&str, &str)]| {
        let url = format!("https://{NAME}:{}/api/v1{path}", address.port());
        let request = with(request(method, &url, form), "authorization", &authorization);
        let roots = roots.clone();
        async move {
            // If a renewal takes longer than the certificate is valid, there are no connections until it is done.
            let stream = loop {
                if let Ok(stream) = connect(roots.clone(), address, NAME, &[b"http/1.1"]).await {
                    break stream;
                }
            };
            let answer = exchange(stream, Version::HTTP_11, request).await;
            assert_eq!(answer.status, 200, "{:?}", answer.body);
            answer.json()
        }
    };
    let mut polls = Vec::new();
    for _ in 0..POLLS {
        let queue = ask("POST", "/register", &[("event_types", r#"["message"]"#)]).await;
        let ask = ask.clone();
        let ask = move |path: String| ask("GET", &path, &[]);
        polls.push(tokio::spawn(poll_for_message(queue, ask)));
    }
    while answer(&["status"])["polls_waiting"] != POLLS {
        tokio::task::yield_now().await;
    }
    let before = pebble.issued(&serving, None).await;
    pebble.issued(&serving, Some(&before)).await;
    let to = format!("[{}]", owner["user_id"]);
    ask("POST", "/messages", &[("type", "direct"), ("to", &to), ("content", "renewed")]).await;
    for poll in polls {
        assert_eq!(poll.await.unwrap(), "renewed");
    }
    serving.stop();
}

#[tokio::test]
async fn a_name_is_also_checked_over_http() {
    let Some(pebble) = Pebble::start(json!({})).await else { return };
    let folder = tempfile::tempdir().unwrap();
    // Only the port for HTTP leads here: the check by TLS fails, and the next attempt is by HTTP.
    let serving = pebble.serve(folder.path(), &[NAME], &pebble.http_port);
    pebble.issued(&serving, None).await;
    let logged = serving.stop();
    assert!(logged.contains("no certificate was issued; the next attempt follows in "), "{logged}");
    assert!(logged.contains(&format!("the ACME server refuses {NAME}: ")), "{logged}");
}

/// The warnings of `teamchat status` about the server in a folder.
fn warnings(folder: &Path) -> String {
    let output = command(&["status", "--json", "--db"]).arg(folder.join("chat.sqlite")).output().unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    status["warnings"].to_string()
}

#[tokio::test]
async fn a_refusal_is_logged_and_the_server_goes_on() {
    let Some(pebble) = Pebble::start(json!({ "domainBlocklist": ["blocked.example.net"] })).await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let serving = pebble.serve(folder.path(), &["blocked.example.net"], &pebble.tls_port);
    while !serving.log().contains("no certificate was issued") {
        tokio::task::yield_now().await;
    }
    assert!(serving.log().contains("blocked.example.net"), "{}", serving.log());
    let warnings = warnings(folder.path());
    assert!(warnings.contains("There is no certificate, so clients cannot connect. "), "{warnings}");
    let address = address_of(&serving.origin());
    assert_eq!(reqwest::get(format!("http://{address}/health")).await.unwrap().status(), 200);
    assert!(connect(RootCertStore::empty(), address, "blocked.example.net", &[]).await.is_err());
    serving.stop();
}

/// The log has the reason, and SIGHUP ends the wait for the next attempt.
#[tokio::test]
async fn an_acme_server_that_cannot_be_asked_is_named_and_asked_again() {
    let other = tempfile::tempdir().unwrap();
    let files = Authority::new().issue(other.path(), &["127.0.0.1"], 90);
    let untrusted =
        Serving::start(other.path(), &[&["--listen", "127.0.0.1:0"][..], &files.flags()].concat());
    let closed = ReservedPort::new();
    for (directory, reason) in [
        (format!("https://{}/dir", closed.address()), "Connection refused"),
        (format!("{}/dir", untrusted.origin()), "invalid peer certificate"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let ca = folder.path().join("ca.pem");
        std::fs::write(&ca, Authority::new().pem()).unwrap();
        let flags = ["--listen", "127.0.0.1:0", "--acme", NAME, "--acme-directory", &directory, "--acme-ca"];
        let serving = Serving::start(folder.path(), &[&flags[..], &[ca.to_str().unwrap()]].concat());
        while !serving.log().contains("no certificate was issued") {
            tokio::task::yield_now().await;
        }
        assert!(serving.log().contains(reason), "{reason}: {}", serving.log());
        let health = format!("http://{}/health", address_of(&serving.origin()));
        assert_eq!(reqwest::get(health).await.unwrap().status(), 200);
        serving.signal("HUP");
        while !serving.log().contains("the ACME server is asked again") {
            tokio::task::yield_now().await;
        }
        serving.stop();
    }
    untrusted.stop();
}

/// The server runs, so the advice is not to start it.
#[tokio::test]
async fn commands_say_that_there_is_no_certificate_yet() {
    let folder = tempfile::tempdir().unwrap();
    let closed = ReservedPort::new();
    let directory = format!("https://{}/dir", closed.address());
    let own = ReservedPort::new();
    let (listen, url) = (own.address().to_string(), format!("https://{}", own.address()));
    let acme = ["--acme", NAME, "--acme-directory", &directory, "--public-url", &url, "--web-push", "off"];
    let listen = ["--listen", &listen, "--metrics", "127.0.0.1:0"];
    let serving = Serving::start(folder.path(), &[&listen[..], &acme].concat());
    let missing = "teamchat_certificate_missing";
    let figures = metrics(&serving, missing).await;
    assert!((value(&figures, missing) - 1.0).abs() < 1e-6, "{figures}");
    let health = command(&["health", "--url", &url]).output().unwrap();
    let said = String::from_utf8(health.stderr).unwrap();
    let expected =
        format!("error: {url} does not answer: it has no certificate yet; its log has the reason\n");
    assert_eq!((health.status.code(), said), (Some(1), expected));
    let missing = ["issued no certificate yet", "read the log of the server: the ACME server"];
    let examined = examine(folder.path(), &acme);
    examined.expect("warning", "certificate", &missing);
    let refused = format!("the server at {url} has no certificate yet");
    examined.expect("problem", "public address", &[&refused, "find the reason in its log"]);
    serving.stop();
    let missing = ["issued no certificate yet", "start the server and read its log: the ACME server"];
    examine(folder.path(), &acme).expect("warning", "certificate", &missing);
}

/// With ACME, there are no files that the operator could replace.
#[tokio::test]
async fn a_certificate_that_is_not_renewed_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    // Five days and a half are left: a whole number of days would depend on the second.
    let begin = SystemTime::now() - DAY * 84 - DAY / 2;
    let files = Authority::new().issue_from(folder.path(), &[NAME], begin, 90);
    let stored = folder.path().join("chat.sqlite.acme");
    std::fs::create_dir(&stored).unwrap();
    let read = |path| std::fs::read_to_string(path).unwrap();
    let stored_text = read(files.key) + &read(files.certificate);
    std::fs::write(stored.join("certificate.pem"), stored_text).unwrap();
    let closed = ReservedPort::new();
    let directory = format!("https://{}/dir", closed.address());
    let flags = ["--listen", "127.0.0.1:0", "--acme", NAME, "--acme-directory", &directory];
    let serving = Serving::start(folder.path(), &flags);
    while !serving.log().contains("the certificate expires in 5 days: the log has the reason why") {
        tokio::task::yield_now().await;
    }
    let warnings = warnings(folder.path());
    let remedy = ": it was not renewed. Remove the cause, which the lines `no certificate was issued` of the log name.";
    assert!(warnings.contains("The certificate ends at 20") && warnings.contains(remedy), "{warnings}");
    assert!(serving.log().contains("no certificate was issued"), "{}", serving.log());
    serving.stop();
}

/// A container has none.
#[tokio::test]
async fn authorities_of_the_system_are_not_needed() {
    let other = tempfile::tempdir().unwrap();
    let files = Authority::new().issue(other.path(), &["127.0.0.1"], 90);
    let untrusted =
        Serving::start(other.path(), &[&["--listen", "127.0.0.1:0"][..], &files.flags()].concat());
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    let directory = format!("{}/dir", untrusted.origin());
    let mut serve = command(&["serve", "--listen", "127.0.0.1:0", "--acme", NAME, "--acme-directory"]);
    serve.arg(directory).arg("--db").arg(folder.path().join("chat.sqlite"));
    serve.env("SSL_CERT_FILE", empty).env_remove("SSL_CERT_DIR");
    let serving = Serving::start_with(folder.path(), &mut serve);
    while !serving.log().contains("no certificate was issued") {
        tokio::task::yield_now().await;
    }
    assert!(serving.log().contains("invalid peer certificate"), "{}", serving.log());
    serving.stop();
    untrusted.stop();
}

/// Browsers refuse the certificate for an address.
#[tokio::test]
async fn the_link_of_the_owner_has_the_name_of_the_certificate() {
    let closed = ReservedPort::new();
    let directory = format!("https://{}/dir", closed.address());
    for (flag, expected) in [(None, "  https://"), (Some("--json"), "\"owner_url\":\"https://")] {
        let folder = tempfile::tempdir().unwrap();
        let flags = ["serve", "--listen", "127.0.0.1:0", "--acme", NAME, "--acme-directory", &directory];
        let mut serve = command(&flags);
        serve.args(flag).arg("--db").arg(folder.path().join("chat.sqlite"));
        let mut server = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
        let link = lines.find(|line| line.contains("/join/")).unwrap_or_default();
        server.kill().unwrap();
        server.wait().unwrap();
        assert!(link.contains(&format!("{expected}{NAME}/join/")), "{link}");
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_an_error_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chat.sqlite.acme"), "a file").unwrap();
    let output = command(&["serve", "--listen", "127.0.0.1:0", "--acme", NAME, "--db"])
        .arg(folder.path().join("chat.sqlite"))
        .output()
        .unwrap();
    let (code, _, said) = crate::program::words(&output);
    assert_eq!(code, 2, "{said}");
    let path = folder.path().join("chat.sqlite.acme");
    assert!(
        said.contains(&format!("the folder {} for the certificate cannot be used: ", path.display())),
        "{said}"
    );
    assert!(!folder.path().join("chat.sqlite").exists());
}
