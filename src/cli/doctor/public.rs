//! The public address: whether it leads to this server, through which proxies, and what these pass on.

use super::findings::Findings;
use super::running::Running;
use super::tls::{check_presented, explain};
use crate::cli::accounts::random_password;
use crate::cli::common::Failure;
use crate::cli::fetch::{Answer, FetchError, fetch};
use crate::cli::serve::Serve;
use std::sync::Arc;
use teamchat::app::SeenProbe;
use teamchat::commands::Command;
use teamchat::http_client::{client_config, trusted_roots};
use teamchat::server::ListenAddress;
use teamchat::types::Clock;
use tokio_rustls::rustls::ClientConfig;
use url::Url;

/// An address that no client has (RFC 5737), and that a server must not take for that of one.
const FORGED: &str = "198.51.100.1";

/// Seconds between two clocks that are fine.
const TOLERANCE: i64 = 60;

const CHECK: &str = "public address";
const PROXY: &str = "proxy";

/// Checks the address of `--public-url`.
pub(super) fn check(
    serve: &Serve,
    ca: Option<&str>,
    running: Option<&Running>,
    findings: &mut Findings,
) -> Result<(), Failure> {
    if let Some(running) = running.filter(|running| running.status.public_url != serve.public_url) {
        let own = running.status.public_url.as_deref().unwrap_or("none");
        let remedy = "pass the same flags, variables and --config to this command";
        findings.warning(
            CHECK,
            format!("the server runs with other settings: its --public-url is {own}"),
            remedy,
        );
    }
    let public_url = running.map_or(&serve.public_url, |running| &running.status.public_url);
    let Some(public_url) = public_url else {
        let remedy = "set --public-url if others reach the server by a name, or through a proxy";
        // A server of an older version does not name them.
        let listen = running.map(|running| &running.listen).filter(|listen| !listen.is_empty());
        let listen = listen.unwrap_or(&serve.listen);
        match (listen.iter().all(ListenAddress::is_local), running) {
            (false, _) => {
                findings.warning(CHECK, "there is no --public-url, and links use the Host header of each request", remedy);
            }
            (true, Some(_)) => findings.ok(CHECK, "there is no --public-url, and the server listens on this machine only"),
            (true, None) => findings.ok(
                CHECK,
                "there is no --public-url, and --listen names this machine only; a socket of systemd can have other addresses",
            ),
        }
        return Ok(());
    };
    let Some(running) = running else {
        let remedy = "start the server, and run the command again";
        findings.warning(
            CHECK,
            format!("{public_url} was not tested, because the server is stopped or does not answer"),
            remedy,
        );
        return Ok(());
    };
    let tls = Arc::new(client_config(trusted_roots(ca)?)?);
    let base = Url::parse(public_url)?;
    let token = random_password();
    running.send(&Command::ExpectProbe(token.clone()))?;
    let url = base.join(&format!("/health?probe={token}"))?;
    let answer = match fetch("GET", &url, &[("X-Forwarded-For", FORGED)], Some(&tls)) {
        Ok(answer) => answer,
        Err(error) => {
            report_failure(public_url, &error, findings);
            return Ok(());
        }
    };
    let seen: Option<SeenProbe> = serde_json::from_value(running.send(&Command::SeenProbe)?)?;
    check_answer(public_url, &answer, seen.is_some(), findings);
    if let Some(certificate) = answer.certificates.first() {
        check_presented(certificate, findings);
    }
    check_clock(&answer, findings);
    if let Some(seen) = seen {
        check_proxies(&answer, &seen, findings);
        check_uploads(serve, &base, &tls, findings);
    }
    Ok(())
}

fn report_failure(public_url: &str, error: &FetchError, findings: &mut Findings) {
    match error {
        FetchError::Unknown(host) => {
            let remedy = "create a DNS record for the name, with the address of this machine or of its router";
            findings.problem(CHECK, format!("{host} has no address"), remedy);
        }
        FetchError::Connection(error) => findings.problem(
            CHECK,
            format!("{public_url} does not answer: {error}"),
            "open its port in the firewall, forward it in the router, and start the proxy; a home router may not forward \
             requests from inside to its own address: test from another network",
        ),
        FetchError::NoCertificate => findings.problem(
            CHECK,
            format!("the server at {public_url} has no certificate yet"),
            "find the reason in its log",
        ),
        FetchError::Tls(error) => {
            let (what, remedy) = explain(error);
            findings.problem(CHECK, format!("{public_url}: {what}"), remedy);
        }
    }
}

fn check_answer(public_url: &str, answer: &Answer, has_arrived: bool, findings: &mut Findings) {
    if has_arrived {
        return findings.ok(CHECK, format!("{public_url} leads to this server"));
    }
    match (answer.status, answer.header("location")) {
        (301 | 302 | 303 | 307 | 308, Some(location)) => {
            let remedy = "set --public-url to the target of the redirect, or remove the redirect";
            findings.problem(CHECK, format!("{public_url} redirects to {location}"), remedy);
        }
        (502..=504, _) => findings.problem(
            CHECK,
            format!("the proxy at {public_url} answers with status {}", answer.status),
            "the proxy does not reach this server: compare its upstream with --listen",
        ),
        (200, _) if answer.json()["status"] == "ok" => findings.problem(
            CHECK,
            format!("another teamchat server answers at {public_url}"),
            "compare the upstream of the proxy with --listen, and the DNS record with the address of this machine",
        ),
        (status, _) => findings.problem(
            CHECK,
            format!("something else answers at {public_url}, with status {status}"),
            "configure the proxy to forward this host to the server: docs/reverse-proxies.md has examples",
        ),
    }
}

/// Compares the clock with that of the public address, which may be that of a proxy on another machine.
fn check_clock(answer: &Answer, findings: &mut Findings) {
    let date = answer.header("date").and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
    let Some(date) = date.map(|date| date.timestamp().as_second()) else { return };
    let ahead = Clock::System.seconds() - date;
    if ahead.abs() > TOLERANCE {
        let word = if ahead > 0 { "ahead of" } else { "behind" };
        let what =
            format!("the clock of this machine is {} s {word} the clock of the public address", ahead.abs());
        findings.warning("clock", what, "set both clocks, for example with `timedatectl set-ntp true`");
    }
}

/// Checks whether the address of clients arrives, and whether a client can forge it.
fn check_proxies(answer: &Answer, seen: &SeenProbe, findings: &mut Findings) {
    let client = seen.client;
    let marks = ["via", "server"].iter().any(|name| answer.header(name).is_some());
    if seen.forwarded_for == FORGED && !marks {
        return findings.ok(PROXY, format!("there is no proxy; requests arrive from {client}"));
    }
    if !seen.is_proxied {
        return findings.problem(
            PROXY,
            format!("the proxy at {client} is not trusted, so all clients share its address and its limits"),
            format!("start the server with --trusted-proxy {client}"),
        );
    }
    match seen.forwarded_for.rsplit(',').next().unwrap_or_default().trim() {
        FORGED => findings.problem(
            PROXY,
            "clients can forge their address and so bypass limits",
            "configure the proxy to replace X-Forwarded-For, or to append the client's address to it",
        ),
        "" => findings.problem(
            PROXY,
            format!(
                "the proxy at {client} does not report the addresses of clients, so all share its address and its limits"
            ),
            "configure it to append the client's address to X-Forwarded-For: docs/reverse-proxies.md has examples",
        ),
        named => findings.ok(PROXY, format!("the proxy is trusted, and reports {named} as the client")),
    }
}

/// Asks for a large upload without sending it: proxies refuse it by its announced size.
fn check_uploads(serve: &Serve, base: &Url, tls: &Arc<ClientConfig>, findings: &mut Findings) {
    let Ok(url) = base.join("/api/v1/user_uploads") else { return };
    let mib = serve.max_file_upload_size_mib;
    let length = (mib << 20).to_string();
    let headers = [
        ("Content-Type", "multipart/form-data; boundary=doctor"),
        ("Content-Length", length.as_str()),
        ("Expect", "100-continue"),
    ];
    let Ok(answer) = fetch("POST", &url, &headers, Some(tls)) else { return };
    // The server's own answers are JSON.
    if answer.status == 413 && answer.json().is_null() {
        let remedy =
            format!("raise the limit of its bodies, such as `client_max_body_size {}m` of nginx", mib + 1);
        findings.problem(PROXY, format!("the proxy refuses uploads of {mib} MiB"), remedy);
    }
}
