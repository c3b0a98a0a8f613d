//! Problems of certificates, public addresses, proxies and push services.

use super::{DAY, examine, serve_public};
use crate::authority::{Authority, Files, NAME};
use crate::files::set_mode;
use crate::ports::ReservedPort;
use crate::program::{Serving, folder_with_database};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::SystemTime;

/// Answers one request at an address with a text.
fn answer_once(text: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        read_head(&mut stream);
        stream.write_all(text.as_bytes()).unwrap();
    });
    address
}

fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// A proxy that passes requests on, after it changed their heads.
fn proxy(listener: TcpListener, upstream: SocketAddr, change: fn(String) -> String) {
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let head = change(read_head(&mut stream));
            let mut server = TcpStream::connect(upstream).unwrap();
            server.write_all(head.as_bytes()).unwrap();
            let mut answer = Vec::new();
            server.read_to_end(&mut answer).unwrap();
            let answer = String::from_utf8(answer).unwrap().replacen("\r\n", "\r\nVia: 1.1 proxy\r\n", 1);
            // The client may have read enough.
            let _gone = stream.write_all(answer.as_bytes());
        }
    });
}

#[test]
fn certificates_are_checked_as_clients_do() {
    let folder = folder_with_database();
    let folder = folder.path();
    let authority = Authority::new();
    let ca = folder.join("ca.pem");
    std::fs::write(&ca, authority.pem()).unwrap();
    let ca = ["--ca", ca.to_str().unwrap(), "--web-push", "off"];
    let url = format!("https://{NAME}");
    let examine_files = |files: &Files, flags: &[&str]| {
        set_mode(&files.key, 0o600);
        examine(folder, &[&files.flags()[..], &["--public-url", &url], flags].concat())
    };
    let good = authority.issue(folder, &[NAME], 90);
    let examined = examine_files(&good, &ca);
    examined.expect("ok", "certificate", &["the certificate ends at 20"]);
    assert!(!examined.findings().contains(&"certificate"), "{:?}", examined.results);
    examine_files(&good, &[]).expect("warning", "certificate", &["do not trust", "fullchain.pem", "--ca"]);
    let almost = authority.issue_from(folder, &[NAME], SystemTime::now() - DAY * 85, 90);
    examine_files(&almost, &ca).expect("warning", "certificate", &["ends at 20", "renew it"]);
    let other = authority.issue(folder, &["other.example.com"], 90);
    examine_files(&other, &ca).expect(
        "problem",
        "certificate",
        &["the certificate is for other.example.com", NAME],
    );
    let expired = authority.issue_from(folder, &[NAME], SystemTime::now() - DAY * 10, 9);
    examine_files(&expired, &ca).expect("problem", "certificate", &["expired at 20"]);
    let early = authority.issue_from(folder, &[NAME], SystemTime::now() + DAY, 9);
    examine_files(&early, &ca).expect("problem", "certificate", &["is valid from"]);
    std::fs::write(&early.key, "no key").unwrap();
    examine_files(&early, &ca).expect("problem", "certificate", &["has no private key"]);
    let acme = examine(folder, &["--acme", NAME, "--acme-email", "ada@example.com", "--web-push", "off"]);
    acme.expect("warning", "certificate", &["has issued no certificate yet", "port 443 or 80"]);
    let state = folder.join("chat.sqlite.acme");
    std::fs::create_dir(&state).unwrap();
    set_mode(&state, 0o700);
    let expired = authority.issue_from(&state, &[NAME], SystemTime::now() - DAY * 10, 9);
    let parts = [&expired.key, &expired.certificate].map(|path| std::fs::read(path).unwrap());
    std::fs::write(state.join("certificate.pem"), parts.concat()).unwrap();
    let acme = examine(folder, &["--acme", NAME, "--web-push", "off"]);
    acme.expect("problem", "certificate", &["expired at 20", "find the reason in its log"]);
}

#[test]
fn the_certificate_of_the_public_address_is_checked() {
    let folder = folder_with_database();
    let folder = folder.path();
    let authority = Authority::new();
    let ca = folder.join("ca.pem");
    std::fs::write(&ca, authority.pem()).unwrap();
    let ca = ["--ca", ca.to_str().unwrap()];
    for (names, age, level, parts) in [
        (&["localhost"][..], 1, "ok", &["leads to this server"][..]),
        (&["localhost"], 85, "warning", &["the certificate ends at 20"]),
        (&[NAME], 1, "problem", &["https://localhost:", "the certificate is for another name"]),
    ] {
        let files = authority.issue_from(folder, names, SystemTime::now() - DAY * age, 90);
        let (serving, url) = serve_public(folder, "https", "localhost", &files.flags());
        let flags = ["--public-url", &url, "--web-push", "off"];
        examine(folder, &[&flags[..], &ca].concat()).expect(level, "public address", parts);
        if level == "ok" {
            examine(folder, &flags).expect(
                "problem",
                "public address",
                &["do not trust the certificate", "--ca"],
            );
        }
        serving.stop();
    }
}

#[test]
fn a_public_address_that_leads_elsewhere_is_named() {
    let folder = folder_with_database();
    let folder = folder.path();
    let other = folder_with_database();
    let (other, other_url) = serve_public(other.path(), "http", "127.0.0.1", &[]);
    let closed = ReservedPort::new();
    let at = |address: SocketAddr| format!("http://{address}");
    for (url, parts) in [
        (at(closed.address()), &["does not answer", "firewall"][..]),
        ("http://nowhere.invalid".to_owned(), &["nowhere.invalid has no address", "DNS"]),
        (other_url, &["another teamchat server"]),
        (at(answer_once("HTTP/1.1 200 OK\r\n\r\nhello")), &["something else answers", "status 200"]),
        (at(answer_once("HTTP/1.1 502 Bad Gateway\r\n\r\n")), &["status 502", "does not reach this server"]),
        (
            at(answer_once("HTTP/1.1 301 Moved\r\nLocation: https://www.example.com/\r\n\r\n")),
            &["redirects to https://www.example.com/"],
        ),
        (at(answer_once("SSH-2.0-x\r\n\r\n")), &["the answer is not HTTP"]),
    ] {
        let serving = Serving::start(folder, &["--listen", "127.0.0.1:0", "--public-url", &url]);
        examine(folder, &["--public-url", &url, "--web-push", "off"]).expect(
            "problem",
            "public address",
            parts,
        );
        serving.stop();
    }
    let ahead = answer_once("HTTP/1.1 200 OK\r\nDate: Fri, 01 Jan 2021 00:00:00 GMT\r\n\r\nhello");
    let url = at(ahead);
    let serving = Serving::start(folder, &["--listen", "127.0.0.1:0", "--public-url", &url]);
    examine(folder, &["--public-url", &url]).expect(
        "warning",
        "clock",
        &["ahead of the clock of the public address"],
    );
    serving.stop();
    other.stop();
}

#[test]
fn headers_of_proxies_are_tested() {
    const FORWARDED: &str = "X-Forwarded-For: ";
    let appended: fn(String) -> String = |head| {
        let start = head.find(FORWARDED).map(|start| start + FORWARDED.len());
        match start {
            Some(start) => {
                let end = start + head[start..].find('\r').unwrap();
                format!("{}, 203.0.113.5{}", &head[..end], &head[end..])
            }
            None => head,
        }
    };
    let unchanged: fn(String) -> String = |head| head;
    let removed: fn(String) -> String = |head| head.replace("X-Forwarded-For: 198.51.100.1\r\n", "");
    for (change, trusted, level, parts) in [
        (appended, true, "ok", &["reports 203.0.113.5 as the client"][..]),
        (appended, false, "problem", &["the proxy at 127.0.0.1 is not trusted", "--trusted-proxy 127.0.0.1"]),
        (unchanged, true, "problem", &["clients can forge their address"]),
        (unchanged, false, "problem", &["the proxy at 127.0.0.1 is not trusted"]),
        (removed, true, "problem", &["the proxy at 127.0.0.1 does not report the addresses of clients"]),
    ] {
        let folder = folder_with_database();
        let folder = folder.path();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let proxies = if trusted { &["--trusted-proxy", "127.0.0.1"][..] } else { &[] };
        let flags = [&["--public-url", &url, "--web-push", "off"][..], proxies].concat();
        let serving = Serving::start(folder, &[&["--listen", "127.0.0.1:0"][..], &flags].concat());
        proxy(listener, crate::authority::address_of(&serving.origin()), change);
        let examined = examine(folder, &flags);
        examined.expect(level, "proxy", parts);
        examined.expect("ok", "public address", &["leads to this server"]);
        serving.stop();
    }
}

/// Push services of browsers that subscribed.
#[test]
fn push_services_that_cannot_be_reached_are_named() {
    let folder = folder_with_database();
    let folder = folder.path();
    let subscribe = |address: SocketAddr| {
        let connection = rusqlite::Connection::open(folder.join("chat.sqlite")).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = off; DELETE FROM push_subscription").unwrap();
        let sql = "INSERT INTO push_subscription (user_id, session_id, endpoint, public_key, auth_secret, shows_content,
                origin)
            VALUES (1, 1, ?1, x'00', x'00', 0, '')";
        connection.execute(sql, [format!("https://{address}/push")]).unwrap();
    };
    let flags = ["--public-url", "https://chat.example.com"];
    let closed = ReservedPort::new();
    subscribe(closed.address());
    examine(folder, &flags).expect("warning", "web push", &["127.0.0.1 of some browsers cannot be reached"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    subscribe(listener.local_addr().unwrap());
    examine(folder, &flags).expect("ok", "web push", &["1 push services"]);
}

/// A push bouncer that the operator names.
#[test]
fn a_push_bouncer_that_cannot_be_reached_is_named() {
    let folder = folder_with_database();
    let folder = folder.path();
    let flags = |url: &str| {
        ["--push-bouncer", url, "--push-org-id", "an id", "--push-org-key", "a secret"].map(str::to_owned)
    };
    let examined = |url: &str| {
        let flags = flags(url);
        examine(folder, &flags.each_ref().map(String::as_str))
    };
    let closed = ReservedPort::new();
    let url = format!("http://{}", closed.address());
    examined(&url).expect("warning", "push bouncer", &[&url, "cannot be reached"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    examined(&url).expect("ok", "push bouncer", &["127.0.0.1 can be reached"]);
    examine(folder, &["--push-org-id", "an id"]).expect("problem", "push bouncer", &["belong together"]);
}

#[test]
fn a_public_address_without_tls_is_named() {
    let folder = folder_with_database();
    let folder = folder.path();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"SSH-2.0-server\r\n").unwrap();
        // Until the client has gone.
        let _gone = stream.read_to_end(&mut Vec::new());
    });
    let serving = Serving::start(folder, &["--listen", "127.0.0.1:0", "--public-url", &url]);
    let parts = ["TLS fails: ", "make sure that this address supports TLS 1.2 or 1.3"];
    examine(folder, &["--public-url", &url, "--web-push", "off"]).expect("problem", "public address", &parts);
    serving.stop();
}
