//! Programs that watch others: Uptime Kuma, Healthchecks, Zabbix and Proxmox.

use super::payload::{Options, Payload, Post, PostsResult, Refusal};
use super::text::{bold, code_block, label, line, link, quote, sentence, start, time};
use std::fmt::Write;

/// The types of Uptime Kuma's events.
pub const UPTIMEKUMA_EVENTS: &[&str] = &["down", "up", "pending", "maintenance", "certificate", "test"];

/// Creates the message of a delivery of Uptime Kuma.
pub fn uptimekuma(payload: Payload<'_>, _options: &Options<'_>) -> PostsResult {
    let msg = payload.text("/msg")?;
    let monitor = payload.find("/monitor");
    let name = monitor.and_then(|monitor| monitor.find_text("/name"));
    let Some(heartbeat) = payload.find("/heartbeat") else { return Ok(vec![notice(msg)]) };
    let name = name.ok_or(Refusal::Anomalous)?;
    let (icon, state, event) = match heartbeat.integer("/status")? {
        0 => (":cross_mark:", "DOWN", "down"),
        1 => (":check:", "UP", "up"),
        2 => (":time_ticking:", "PENDING", "pending"),
        3 => (":working_on_it:", "MAINTENANCE", "maintenance"),
        _ => return Err(Refusal::Anomalous),
    };
    let monitor = monitor.ok_or(Refusal::Anomalous)?;
    let url = monitor.find_text("/url").unwrap_or_default();
    let host = monitor.find_text("/hostname").map(|host| match monitor.integer("/port") {
        Ok(port) => format!(" ({}:{port})", label(host)),
        Err(_) => format!(" ({})", label(host)),
    });
    let mut content = format!("{icon} **{state}** {}{}", link(name, url), host.unwrap_or_default());
    // The text of a heartbeat without one is `N/A`.
    if let Some(reason) = heartbeat.find_text("/msg").filter(|reason| *reason != "N/A") {
        let _infallible = write!(content, ": {}", line(reason));
    }
    if let Some(ping) = heartbeat.find("/ping").filter(|ping| ping.0.is_number()) {
        let _infallible = write!(content, " ({} ms)", ping.shown());
    }
    Ok(vec![Post::new(name, content, event)])
}

/// A message without a monitor: the test of a notification, or a certificate or domain that expires soon. Warnings name the
/// monitor, but for those of domains of some versions:
///
/// - `[Web shop][https://shop.example.com] server certificate shop.example.com will expire in 7 days`, or `will be expired in`
///   before version 2
/// - `[Web shop] Domain name example.com will expire in 14 days`
fn notice(msg: &str) -> Post {
    if ![" will expire in ", " will be expired in "].iter().any(|words| msg.contains(words)) {
        return Post::new("Uptime Kuma", format!(":check: {}", label(msg)), "test");
    }
    // A name may contain brackets too.
    let name = msg.strip_prefix('[').and_then(|rest| {
        let end = ["][http", "] Domain name "].iter().find_map(|end| rest.find(end));
        rest.get(..end.or_else(|| rest.find("]["))?)
    });
    let name = name.filter(|name| !name.trim().is_empty()).unwrap_or("Uptime Kuma");
    Post::new(name, format!(":warning: {}", label(msg)), "certificate")
}

/// The types of Healthchecks' events.
pub const HEALTHCHECKS_EVENTS: &[&str] = &["down", "up"];

/// Creates the message of a delivery of Healthchecks, whose members its owner chooses.
pub fn healthchecks(payload: Payload<'_>, _options: &Options<'_>) -> PostsResult {
    let name = payload.text("/name")?;
    let (icon, state) = match payload.text("/status")? {
        "down" => (":cross_mark:", "down"),
        "up" => (":check:", "up"),
        // `$JSON` has the status at the time of the request.
        other @ ("grace" | "new" | "paused" | "started") => {
            return Err(Refusal::Unsupported(other.to_owned()));
        }
        _ => return Err(Refusal::Anomalous),
    };
    let url = payload.find_text("/url").or(payload.find_text("/details_url")).unwrap_or_default();
    let shown = if name.trim().is_empty() { "(unnamed check)" } else { name };
    let mut content = format!("{icon} **{}** {}", state.to_uppercase(), link(shown, url));
    if let Some(tags) = payload.find_text("/tags") {
        let _infallible = write!(content, " ({})", label(tags));
    }
    if let Some(last) = payload.find_text("/last_ping") {
        let _infallible = write!(content, ", last ping {}", time(last));
    }
    content = sentence(content);
    if let Some(body) = payload.find_text("/body").filter(|body| !body.trim().is_empty()) {
        let _infallible = write!(content, "\n{}", code_block("", body.trim_matches('\n')));
    } else if let Some(description) = payload.find_text("/desc") {
        content.push_str(&quote(description));
    }
    Ok(vec![Post::new(shown, content, state)])
}

/// Creates the message of a delivery of Zabbix, whose members a script of its owner sends.
pub fn zabbix(payload: Payload<'_>, _options: &Options<'_>) -> PostsResult {
    alert(payload).map(|post| vec![post]).map_err(|_| Refusal::Misconfigured)
}

fn alert(payload: Payload<'_>) -> Result<Post, Refusal> {
    let host = payload.text("/hostname")?;
    let (status, severity) = (label(payload.text("/status")?), label(payload.text("/severity")?));
    let content = format!(
        "{status} ({severity}) alert on {}:\n* {}\n* {}",
        link(host, payload.text("/link")?),
        start(&line(payload.text("/trigger")?)),
        start(&line(payload.text("/item")?))
    );
    Ok(Post::new(host, content, ""))
}

/// The types of Proxmox's events, which are its severities.
pub const PROXMOX_EVENTS: &[&str] = &["info", "notice", "warning", "error", "unknown"];

/// Creates the message of a delivery of Proxmox, with the body from docs/integrations.md.
pub fn proxmox(payload: Payload<'_>, _options: &Options<'_>) -> PostsResult {
    let title = payload.text("/title")?;
    let severity = payload.find_text("/severity").unwrap_or("unknown");
    let (icon, event) = match severity {
        "info" => (":info:", "info"),
        "notice" => (":info:", "notice"),
        "warning" => (":warning:", "warning"),
        "error" => (":cross_mark:", "error"),
        _ => (":question:", "unknown"),
    };
    let host = payload.find_text("/hostname").or(payload.find_text("/fields/hostname"));
    let mut content = format!("{icon} **{}** {}", event.to_uppercase(), bold(title));
    let message = payload.find_text("/message").map(str::trim).unwrap_or_default();
    if message.contains('\n') {
        let _infallible = write!(content, "\n{}", code_block("", message));
    } else if !message.is_empty() && message != title.trim() {
        let _infallible = write!(content, "\n{}", start(message));
    }
    Ok(vec![Post::new(host.unwrap_or(title), content, event)])
}
