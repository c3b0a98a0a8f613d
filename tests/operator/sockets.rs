//! `--listen`, socket activation, notifications, and restarts that refuse no connection.

use crate::authority::{address_of, exchange, request, send_plain, with};
use crate::doctor::examine;
use crate::program::{Serving, command, create_owner, folder_with_database, words};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use hyper::Version;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

/// The answer to a request over a Unix socket.
fn ask(path: &Path, request: &str) -> String {
    let mut stream = UnixStream::connect(path).unwrap();
    write!(stream, "{request}\r\nHost: chat.example.com\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// Two addresses of this machine. Containers often have none of IPv6.
fn two_addresses() -> &'static str {
    if TcpListener::bind("[::1]:0").is_ok() { "127.0.0.1:0,[::1]:0" } else { "127.0.0.1:0,127.0.0.2:0" }
}

#[tokio::test]
async fn a_server_listens_on_several_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("http");
    let unix = format!("unix:{}", path.display());
    let serving = Serving::start(folder.path(), &["--listen", two_addresses(), "--listen", &unix]);
    let origins = serving.origins();
    assert_eq!(origins.len(), 3, "{origins:?}");
    assert_eq!(origins[2], unix);
    for origin in &origins[..2] {
        let settings = reqwest::get(format!("{origin}/api/v1/server_settings")).await.unwrap();
        assert_eq!(settings.status(), 200, "{origin}");
    }
    let answer = ask(&path, "GET /api/v1/server_settings HTTP/1.1");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("\"realm_url\":\"http://chat.example.com\""), "{answer}");
    assert_eq!(mode(&path), 0o660);
    let health = || words(&command(&["health", "--url", &unix]).output().unwrap());
    assert_eq!(health(), (0, String::new(), String::new()));
    serving.stop();
    assert!(!path.exists(), "the socket is removed at the stop");
    let (code, _, said) = health();
    assert!(code == 1 && said.contains(&format!("{unix} does not answer: ")), "{said}");
}

/// Ports that the system chose are in the line of JSON, also that of the metrics.
#[tokio::test]
async fn the_line_of_readiness_has_all_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let mut serve = command(&["serve", "--json", "--listen", two_addresses(), "--metrics", "127.0.0.1:0"]);
    serve.arg("--db").arg(folder.path().join("chat.sqlite"));
    let mut server = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    let urls = ready["urls"].as_array().unwrap();
    assert_eq!((&ready["url"], urls.len()), (&urls[0], 2));
    assert_eq!(ready["created"], true, "the database was missing");
    for (address, path) in [(&urls[0], "/health"), (&urls[1], "/health"), (&ready["metrics_url"], "")] {
        let answer = reqwest::get(format!("{}{path}", address.as_str().unwrap())).await.unwrap();
        assert_eq!(answer.status(), 200, "{address}");
    }
    server.kill().unwrap();
    server.wait().unwrap();
}

/// Mail has a listener of its own, and its two flags need each other.
#[tokio::test]
async fn mail_is_received_on_a_socket_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mail");
    let unix = format!("unix:{}", path.display());
    let flags = ["--listen", "127.0.0.1:0", "--mail-listen", &unix, "--mail-pattern", "%s@mail.example.com"];
    let serving = Serving::start(folder.path(), &flags);
    assert!(serving.printed.contains(&format!("  mail       {unix}\n")), "{}", serving.printed);
    assert_eq!(mode(&path), 0o660);
    let mut stream = UnixStream::connect(&path).unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "220 mail.example.com ESMTP ready");
    stream.write_all(b"QUIT\r\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "221 2.0.0 Goodbye");
    serving.stop();
    assert!(!path.exists(), "the socket is removed at the stop");
    for (flags, missing) in [
        (["--mail-listen", "127.0.0.1:0"], "--mail-pattern"),
        (["--mail-pattern", "%s@mail.example.com"], "--mail-listen"),
        (["--mail-pattern", "chat@mail.example.com"], "chat+%s@example.com"),
    ] {
        let (code, _, said) = words(&command(&["serve"]).args(flags).output().unwrap());
        assert!(code == 2 && said.contains(missing), "{said}");
    }
}

/// A proxy on this machine is trusted by the address of this machine.
#[tokio::test]
async fn clients_of_a_unix_socket_count_as_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("http");
    let unix = format!("unix:{}", path.display());
    let serving = Serving::start(
        folder.path(),
        &["--listen", &unix, "--trusted-proxy", "127.0.0.1", "--unix-mode", "600"],
    );
    assert_eq!(mode(&path), 0o600);
    let answer = ask(
        &path,
        "POST /api/v1/fetch_api_key?username=nobody@example.com&password=wrong HTTP/1.1\r\nX-Forwarded-For: 203.0.113.9\r\n\
         Content-Length: 0",
    );
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    let logged = serving.stop();
    assert!(logged.contains("a login failed address=203.0.113.9"), "{logged}");
}

#[test]
fn a_stale_socket_is_replaced_and_another_file_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("http");
    let unix = format!("unix:{}", path.display());
    let refused = |expected: &str| {
        let output = command(&["serve", "--listen", &unix, "--db"])
            .arg(folder.path().join("chat.sqlite"))
            .output()
            .unwrap();
        let (code, _, said) = words(&output);
        assert_eq!(code, 1, "{said}");
        assert!(said.starts_with(&format!("error: cannot listen on {unix}: ")), "{said}");
        assert!(said.contains(expected), "{said}");
        assert!(!folder.path().join("chat.sqlite").exists());
    };
    std::fs::write(&path, "precious").unwrap();
    refused("no socket");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    std::fs::remove_file(&path).unwrap();
    let other = UnixListener::bind(&path).unwrap();
    refused("another process listens there");
    // As after a crash.
    drop(other);
    assert!(path.exists());
    let serving = Serving::start(folder.path(), &["--listen", &unix]);
    assert!(ask(&path, "GET /health HTTP/1.1").starts_with("HTTP/1.1 200 "));
    serving.stop();
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap()).collect();
    assert!(left.iter().all(|entry| !entry.file_type().unwrap().is_socket()), "{left:?}");
}

#[test]
fn addresses_that_cannot_work_are_refused() {
    for (arguments, expected) in [
        (&["--listen", "unix:"][..], "the path of a socket"),
        (&["--listen", "127.0.0.1:0,7410"], "write ADDR:PORT"),
        (&["--unix-mode", "999"], "write three octal digits"),
        (&["--ephemeral", "--listen", "127.0.0.1:0,127.0.0.1:0"], "a test server listens on one ADDR:PORT"),
        (&["--ephemeral", "--listen", "unix:x"], "a test server listens on one ADDR:PORT"),
        (&["--dev", "--listen", "127.0.0.1:0,0.0.0.0:0"], "requires a loopback address, not 0.0.0.0:0"),
    ] {
        let (code, _, said) = words(&command(&["serve"]).args(arguments).output().unwrap());
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

/// `serve` as systemd starts it: with a socket as descriptor 3.
fn activated(folder: &Path, socket: OwnedFd, arguments: &[&str]) -> Command {
    let script = r#"exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@""#;
    let serve = command(&["serve"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(serve.get_program()).arg("serve").args(arguments);
    shell.arg("--db").arg(folder.join("chat.sqlite")).stdin(Stdio::from(socket));
    for (name, value) in serve.get_envs().filter(|(_, value)| value.is_none()) {
        assert!(value.is_none());
        shell.env_remove(name);
    }
    shell
}

#[tokio::test]
async fn sockets_of_systemd_replace_the_default_address() {
    let folder = tempfile::tempdir().unwrap();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = format!("http://{}", socket.local_addr().unwrap());
    let pass = || OwnedFd::from(socket.try_clone().unwrap());
    let serving = Serving::start_with(folder.path(), &mut activated(folder.path(), pass(), &[]));
    assert_eq!(serving.origins(), [own.as_str()]);
    assert_eq!(reqwest::get(format!("{own}/health")).await.unwrap().status(), 200);
    serving.stop();
    // The same address in a flag is the same socket; another one is added.
    let same = socket.local_addr().unwrap().to_string();
    let arguments = ["--listen", &same, "--listen", "127.0.0.1:0"];
    let serving = Serving::start_with(folder.path(), &mut activated(folder.path(), pass(), &arguments));
    let origins = serving.origins();
    assert!(origins.len() == 2 && origins[0] == own && origins[1] != own, "{origins:?}");
    serving.stop();

    let path = folder.path().join("passed");
    let passed = UnixListener::bind(&path).unwrap();
    let serving = Serving::start_with(folder.path(), &mut activated(folder.path(), passed.into(), &[]));
    assert_eq!(serving.origins(), [format!("unix:{}", path.display())]);
    assert!(ask(&path, "GET /health HTTP/1.1").starts_with("HTTP/1.1 200 "));
    serving.stop();
    assert!(path.exists(), "it is not ours to remove");

    let file = std::fs::File::open(folder.path()).unwrap();
    let output = activated(folder.path(), file.into(), &[]).output().unwrap();
    let (code, _, said) = words(&output);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("socket activation: the passed socket 0 is neither a TCP socket nor"), "{said}");
}

/// Flags name other addresses than those of the sockets.
#[test]
fn doctor_looks_at_the_sockets_of_a_running_server() {
    let folder = folder_with_database();
    let local = "there is no --public-url, and the server listens on this machine only";
    for (address, level, expected) in [
        ("127.0.0.1:0", "ok", local),
        ("0.0.0.0:0", "warning", "links use the Host header of each request; set --public-url"),
    ] {
        let socket = TcpListener::bind(address).unwrap();
        let serving = Serving::start_with(folder.path(), &mut activated(folder.path(), socket.into(), &[]));
        examine(folder.path(), &["--web-push", "off"]).expect(level, "public address", &[expected]);
        serving.stop();
    }
    let stopped = examine(folder.path(), &["--web-push", "off"]);
    stopped.expect("ok", "public address", &["--listen names this machine only; a socket of systemd can"]);
    let open = examine(folder.path(), &["--web-push", "off", "--listen", "0.0.0.0:0"]);
    open.expect("warning", "public address", &["links use the Host header of each request"]);
}

#[test]
fn systemd_is_notified_of_the_start_life_and_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    let (received, messages) = mpsc::channel();
    // Read all the time: the socket has room for a few, and a server that sends another one waits.
    std::thread::spawn(move || {
        let mut bytes = [0; 100];
        while let Ok(length) = socket.recv(&mut bytes) {
            let message = String::from_utf8_lossy(&bytes[..length]).trim().to_owned();
            if received.send(message).is_err() {
                return;
            }
        }
    });
    let next = || messages.recv().unwrap();
    let mut serve = command(&["serve", "--listen", "127.0.0.1:0", "--db"]);
    serve.arg(folder.path().join("chat.sqlite")).env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "200000");
    let serving = Serving::start_with(folder.path(), &mut serve);
    let (mut starts, mut lives) = (0, 0);
    while starts < 1 || lives < 2 {
        match next().as_str() {
            "READY=1" => starts += 1,
            "WATCHDOG=1" => lives += 1,
            other => panic!("{other}"),
        }
    }
    serving.stop();
    UnixDatagram::unbound().unwrap().send_to(b"the end", &path).unwrap();
    let sent = std::iter::repeat_with(next).take_while(|message| message != "the end");
    let sent: Vec<String> = sent.filter(|message| message != "WATCHDOG=1").collect();
    assert_eq!(sent, ["STOPPING=1"]);
}

/// Of several filters, later ones win. Threads of slow work lower their priority with a call among `@resources`.
#[test]
fn the_unit_of_systemd_lets_threads_lower_their_priority() {
    let unit = include_str!("../../packaging/teamchat.service");
    let filters: Vec<&str> = unit.lines().filter_map(|line| line.strip_prefix("SystemCallFilter=")).collect();
    assert_eq!(filters, ["@system-service", "~@privileged @resources", "setpriority"]);
}

/// The first start of a new version may take minutes. At boot, addresses, disks and the right time may come late.
#[test]
fn the_unit_of_systemd_is_patient() {
    let unit = include_str!("../../packaging/teamchat.service");
    let expected = [
        "After=network-online.target time-sync.target",
        "Restart=on-failure",
        "RestartSec=3",
        "TimeoutStartSec=infinity",
    ];
    for setting in expected {
        assert!(unit.lines().any(|line| line == setting), "{setting}");
    }
    // Otherwise systemd counts starts over another time.
    assert!(!unit.contains("\nStartLimit"));
}

/// A client that did not know would send its next request on a connection that is being closed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn polls_answered_at_the_stop_end_their_connections() {
    const POLLS: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let key = create_owner(folder.path())["api_key"].as_str().unwrap().to_owned();
    let authorization = format!("Basic {}", STANDARD.encode(format!("ada@example.com:{key}")));
    let serving = Serving::start(folder.path(), &["--listen", "127.0.0.1:0"]);
    let (api, address) = (format!("{}/api/v1", serving.origin()), address_of(&serving.origin()));
    let mut polls = Vec::new();
    for _ in 0..POLLS {
        let register = request("POST", &format!("{api}/register"), &[("event_types", "[\"message\"]")]);
        let queue = send_plain(address, with(register, "authorization", &authorization)).await.json();
        let (id, last) = (queue["queue_id"].as_str().unwrap(), &queue["last_event_id"]);
        let poll = request("GET", &format!("{api}/events?queue_id={id}&last_event_id={last}"), &[]);
        polls.push(tokio::spawn(send_plain(address, with(poll, "authorization", &authorization))));
    }
    let status = || words(&command(&["status", "--json", "--db"]).arg(&db).output().unwrap()).1;
    while !status().contains(&format!("\"polls_waiting\":{POLLS},")) {
        tokio::task::yield_now().await;
    }
    tokio::task::block_in_place(|| serving.stop());
    for poll in polls {
        let answer = poll.await.unwrap();
        assert_eq!(answer.json()["result"], "success");
        assert_eq!(answer.headers["connection"], "close");
    }
}

/// The parent keeps the socket, as systemd does: what connects while no server runs waits for the next one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_refuses_no_connection_under_load() {
    const POLLS: usize = 40;
    const SENDERS: usize = 4;
    const RESTARTS: usize = 3;
    let folder = tempfile::tempdir().unwrap();
    let created = create_owner(folder.path());
    let key = created["api_key"].as_str().unwrap().to_owned();
    let own_id = created["user_id"].clone();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let api = format!("http://{}/api/v1", socket.local_addr().unwrap());
    let start = || {
        let socket = OwnedFd::from(socket.try_clone().unwrap());
        Serving::start_with(folder.path(), &mut activated(folder.path(), socket, &["--rate-limit", "off"]))
    };
    let mut serving = start();

    // Each request has a connection of its own: HTTP/1.1 cannot tell an idle connection that closes from a lost request.
    let client = reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap();
    let ask = move |method: &'static str, path: String, form: Vec<(&'static str, String)>| {
        let request = client.request(method.parse().unwrap(), format!("{api}{path}"));
        let request = if method == "GET" { request.query(&form) } else { request.form(&form) };
        let request = request.basic_auth("ada@example.com", Some(&key));
        async move {
            let answer: Value = request.send().await.expect("no connection fails").json().await.unwrap();
            assert_eq!(answer["result"], "success", "{answer}");
            answer
        }
    };
    let (ended, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let polled = Arc::new(AtomicUsize::new(0));
    let mut polls = Vec::new();
    for _ in 0..POLLS {
        let queue =
            ask("POST", "/register".to_owned(), vec![("event_types", "[\"message\"]".to_owned())]).await;
        let (ask, polled) = (ask.clone(), Arc::clone(&polled));
        polls.push(tokio::spawn(async move {
            let id = queue["queue_id"].as_str().unwrap().to_owned();
            let mut last = queue["last_event_id"].as_i64().unwrap();
            let mut contents = Vec::new();
            while contents.last().is_none_or(|content| content != "end") {
                let form = vec![("queue_id", id.clone()), ("last_event_id", last.to_string())];
                let answer = ask("GET", "/events".to_owned(), form).await;
                polled.fetch_add(1, Ordering::Relaxed);
                for event in answer["events"].as_array().unwrap() {
                    last = last.max(event["id"].as_i64().unwrap());
                    contents.extend(event["message"]["content"].as_str().map(str::to_owned));
                }
            }
            contents.len()
        }));
    }
    let post = {
        let ask = ask.clone();
        move |content: &str| {
            let form = vec![
                ("type", "direct".to_owned()),
                ("to", format!("[{own_id}]")),
                ("content", content.to_owned()),
            ];
            ask("POST", "/messages".to_owned(), form)
        }
    };
    let senders: Vec<_> = (0..SENDERS)
        .map(|_| {
            let (ended, count, post) = (Arc::clone(&ended), Arc::clone(&sent), post.clone());
            tokio::spawn(async move {
                while !ended.load(Ordering::Relaxed) {
                    post("again").await;
                    count.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for _ in 0..RESTARTS {
        let before = sent.load(Ordering::Relaxed);
        while sent.load(Ordering::Relaxed) < before + 20 {
            tokio::task::yield_now().await;
        }
        serving = tokio::task::block_in_place(|| {
            serving.stop();
            start()
        });
    }
    ended.store(true, Ordering::Relaxed);
    for sender in senders {
        sender.await.unwrap();
    }
    post("end").await;
    let expected = sent.load(Ordering::Relaxed) + 1;
    for poll in polls {
        assert_eq!(poll.await.unwrap(), expected, "each queue has each message once");
    }
    assert!(polled.load(Ordering::Relaxed) >= POLLS * RESTARTS);
    serving.stop();
}

fn unpack(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    bytes
}

/// The first version with a kept file. Connections wait in the socket, which the parent keeps, while the tables change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upgrade_of_the_tables_refuses_no_connection_under_load() {
    const CLIENTS: usize = 16;
    const MESSAGES: usize = 5;
    let folder = tempfile::tempdir().unwrap();
    let (db, saved) =
        (folder.path().join("chat.sqlite"), folder.path().join("chat.sqlite.before-0010_sessions"));
    let older = unpack(include_bytes!("../api/upgrades/0.1.0.sqlite.gz"));
    std::fs::write(&db, &older).unwrap();
    let kept: Value =
        serde_json::from_slice(&unpack(include_bytes!("../api/upgrades/0.1.0.json.gz"))).unwrap();
    let owner = &kept["people"][0];
    let credentials = format!("{}:{}", owner["email"].as_str().unwrap(), owner["api_key"].as_str().unwrap());
    let authorization = format!("Basic {}", STANDARD.encode(credentials));
    let to = format!("[{}]", owner["user_id"]);

    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let api = format!("http://{address}/api/v1");
    let (ended, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let connected = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (ended, sent, connected) = (Arc::clone(&ended), Arc::clone(&sent), Arc::clone(&connected));
            let (url, to, authorization) = (format!("{api}/messages"), to.clone(), authorization.clone());
            tokio::spawn(async move {
                let mut number = 0;
                while number < MESSAGES || !ended.load(Ordering::Relaxed) {
                    let stream =
                        tokio::net::TcpStream::connect(address).await.expect("no connection is refused");
                    connected.fetch_add(1, Ordering::Relaxed);
                    let content = format!("client {client} sends {number}");
                    let form = [("type", "direct"), ("to", to.as_str()), ("content", content.as_str())];
                    let message = with(request("POST", &url, &form), "authorization", &authorization);
                    let answer = exchange(stream, Version::HTTP_11, message).await;
                    assert_eq!(answer.json()["result"], "success", "{}", answer.json());
                    sent.fetch_add(1, Ordering::Relaxed);
                    number += 1;
                }
                number
            })
        })
        .collect();
    while connected.load(Ordering::Relaxed) < CLIENTS {
        tokio::task::yield_now().await;
    }
    let start = || {
        let socket = OwnedFd::from(socket.try_clone().unwrap());
        Serving::start_with(folder.path(), &mut activated(folder.path(), socket, &["--rate-limit", "off"]))
    };
    let serving = tokio::task::block_in_place(start);
    let steps = |serving: &Serving| serving.log().matches("upgrading the file step=").count();
    let upgraded = steps(&serving);
    assert!(upgraded > 0 && serving.log().contains("step=\"0010_sessions\""), "{}", serving.log());
    let after = sent.load(Ordering::Relaxed) + CLIENTS;
    while sent.load(Ordering::Relaxed) < after {
        tokio::task::yield_now().await;
    }
    // The next start finds tables of this version.
    let serving = tokio::task::block_in_place(|| {
        serving.stop();
        start()
    });
    assert_eq!(steps(&serving), upgraded, "{}", serving.log());
    ended.store(true, Ordering::Relaxed);
    let mut expected = BTreeMap::new();
    for (client, sending) in clients.into_iter().enumerate() {
        let count = sending.await.unwrap();
        expected.extend((0..count).map(|number| (format!("client {client} sends {number}"), 1)));
    }
    let mut found = BTreeMap::new();
    let sender = json!([{"operator": "sender", "operand": owner["user_id"]}]).to_string();
    let mut anchor = 0;
    loop {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("narrow", &sender)
            .append_pair("anchor", &anchor.to_string())
            .append_pair("num_before", "0")
            .append_pair("num_after", "1000")
            .append_pair("include_anchor", "false")
            .append_pair("apply_markdown", "false")
            .finish();
        let fetch =
            with(request("GET", &format!("{api}/messages?{query}"), &[]), "authorization", &authorization);
        let page = send_plain(address, fetch).await.json();
        for message in page["messages"].as_array().unwrap() {
            anchor = message["id"].as_i64().unwrap();
            *found.entry(message["content"].as_str().unwrap().to_owned()).or_insert(0) += 1;
        }
        if page["found_newest"] == true {
            break;
        }
    }
    found.retain(|content, _| content.starts_with("client "));
    assert_eq!(found, expected, "each message that was acknowledged is there once");
    tokio::task::block_in_place(|| serving.stop());
    // The number of the schema, in the header of the file.
    assert_eq!(std::fs::read(&saved).unwrap()[60..64], older[60..64]);
}
