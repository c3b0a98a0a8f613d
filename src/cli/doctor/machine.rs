//! Limits of the process, and the services that notifications need.

use super::findings::Findings;
use super::running::Running;
use crate::cli::serve::{Serve, Switch};
use std::collections::BTreeSet;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;
use teamchat::server::runtime;
use teamchat::smtp::Connection;
use url::Url;

/// The number of open files from which on a team has enough connections.
const ENOUGH_FILES: u64 = 4096;

/// The most push services that are tested, and the time for each.
const PUSH_SERVICES: usize = 4;
const PATIENCE: Duration = Duration::from_secs(5);

/// Checks the limits of the process, Web Push and the push bouncer.
pub(super) fn check(
    serve: &Serve,
    database: &rusqlite::Connection,
    running: Option<&Running>,
    findings: &mut Findings,
) {
    if let Some(files) = open_files(running) {
        let what = format!("{files} files and connections can be open");
        if files < ENOUGH_FILES {
            let remedy =
                format!("raise it to {ENOUGH_FILES} or more: LimitNOFILE= of the unit, or `ulimit -n`");
            findings.warning("open files", what, remedy);
        } else {
            findings.ok("open files", what);
        }
    }
    check_web_push(serve, database, findings);
    check_push_bouncer(serve, findings);
    check_mail(serve, findings);
}

/// The mail server has to let this machine in. Nothing is sent.
fn check_mail(serve: &Serve, findings: &mut Findings) {
    let options = match serve.mail_options(&[]) {
        Ok(Some(options)) => options,
        Ok(None) => return findings.ok("mail", "it is off"),
        Err(error) => {
            return findings.problem("mail", error, "correct the flag, or the key of the configuration");
        }
    };
    let server = &options.server;
    let connected = runtime().map_err(|error| error.to_string()).and_then(|runtime| {
        runtime.block_on(async {
            let connection =
                Connection::open(server, Some(PATIENCE)).await.map_err(|refusal| refusal.text)?;
            connection.close().await;
            Ok::<(), String>(())
        })
    });
    match connected {
        Ok(()) => findings.ok("mail", format!("the mail server {server} accepts the login")),
        Err(error) => findings.problem(
            "mail",
            format!("the mail server {server} cannot be used: {error}"),
            "check --smtp-url: host, port, TLS, name and password",
        ),
    }
    if serve.public_url.is_none() {
        findings.warning("mail", "links in emails lead to the address of --listen", "set --public-url");
    }
}

/// The limit of the server, or that with which one would run that is started here: it raises it as far as it may.
#[cfg(unix)]
fn open_files(running: Option<&Running>) -> Option<u64> {
    let of_server = running.and_then(|running| running.announcement.pid).and_then(|process| {
        let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
        line.split_whitespace().next()?.parse().ok()
    });
    let own = || rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum.unwrap_or(u64::MAX);
    Some(of_server.unwrap_or_else(own))
}

#[cfg(not(unix))]
fn open_files(_running: Option<&Running>) -> Option<u64> {
    None
}

/// Browsers subscribe over https only, and their push services have to be reachable.
fn check_web_push(serve: &Serve, connection: &rusqlite::Connection, findings: &mut Findings) {
    if serve.web_push == Switch::Off {
        return findings.ok("web push", "it is off");
    }
    match &serve.public_url {
        Some(url) if url.starts_with("https:") => {}
        _ => findings.warning(
            "web push",
            "browsers show notifications only on https pages, except on this machine",
            "set --public-url to an https address, and get a certificate with --acme or a proxy",
        ),
    }
    let services = push_services(connection);
    for (host, port) in &services {
        if !is_reached(host, *port) {
            findings.warning(
                "web push",
                format!("the push service {host} of some browsers cannot be reached"),
                "allow outgoing connections to it, or disable push notifications with --web-push off",
            );
        }
    }
    if findings.is_fine("web push") {
        findings.ok(
            "web push",
            format!("{} push services of subscribed browsers can be reached", services.len()),
        );
    }
}

/// The push bouncer has to be reachable, if one is named.
fn check_push_bouncer(serve: &Serve, findings: &mut Findings) {
    let bouncer = match serve.push.bouncer() {
        Ok(Some(bouncer)) => bouncer,
        Ok(None) => return,
        Err(error) => {
            return findings.problem("push bouncer", error.to_string(), "set all three, or none of them");
        }
    };
    let url = Url::parse(&bouncer.url).ok();
    let place = url.as_ref().and_then(|url| Some((url.host_str()?, url.port_or_known_default()?)));
    match place {
        Some((host, port)) if is_reached(host, port) => {
            findings.ok("push bouncer", format!("{host} can be reached"));
        }
        _ => findings.warning(
            "push bouncer",
            format!("{} cannot be reached", bouncer.url),
            "allow outgoing connections to it, or remove --push-bouncer",
        ),
    }
}

fn is_reached(host: &str, port: u16) -> bool {
    let addresses = (host.trim_matches(['[', ']']), port).to_socket_addrs();
    addresses.ok().is_some_and(|mut addresses| {
        addresses.any(|address| TcpStream::connect_timeout(&address, PATIENCE).is_ok())
    })
}

/// Hosts and ports of the services that browsers of this organization use.
fn push_services(connection: &rusqlite::Connection) -> BTreeSet<(String, u16)> {
    let endpoints = || -> rusqlite::Result<Vec<String>> {
        let mut statement = connection
            .prepare("SELECT endpoint FROM push_subscription WHERE endpoint IS NOT NULL LIMIT 1000")?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    // An older file may lack the table.
    let urls = endpoints().unwrap_or_default().into_iter().filter_map(|endpoint| Url::parse(&endpoint).ok());
    let services = urls.filter_map(|url| Some((url.host_str()?.to_owned(), url.port_or_known_default()?)));
    services.collect::<BTreeSet<_>>().into_iter().take(PUSH_SERVICES).collect()
}
