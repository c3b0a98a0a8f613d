//! Grafana and Prometheus Alertmanager: alerts that fire and are resolved.

use super::payload::{Options, Payload, Post, PostsResult, Refusal};
use super::text::{bold, label, line, link, start, time, web_link};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The types of Grafana's events: those before version 8, and those since.
pub const EVENTS: &[&str] = &["ok", "pending", "alerting", "paused", "firing", "resolved"];

/// The time of an end that has not come.
const NEVER: &str = "0001-01-01T00:00:00Z";

/// The most alerts of one delivery that become messages.
const MAX_ALERTS: usize = 20;

/// Creates the messages of a delivery of Grafana: one for each alert.
pub fn grafana(payload: Payload<'_>, _options: &Options<'_>) -> PostsResult {
    if payload.find("/alerts").is_none() {
        return Ok(vec![older(payload)?]);
    }
    let alerts = payload.list("/alerts")?;
    let more = alerts.len().saturating_sub(MAX_ALERTS);
    let mut posts: Vec<Post> = alerts.take(MAX_ALERTS).map(alert).collect::<Result<_, _>>()?;
    note_omitted(&mut posts, more, payload);
    Ok(posts)
}

/// Adds the number of alerts without a message to the last one: those beyond `MAX_ALERTS`, and those that the sender
/// omitted.
fn note_omitted(posts: &mut [Post], more: usize, payload: Payload<'_>) {
    let truncated = payload.integer("/truncatedAlerts").ok().and_then(|count| usize::try_from(count).ok());
    let omitted = more.saturating_add(truncated.unwrap_or_default());
    if omitted > 0
        && let Some(last) = posts.last_mut()
    {
        let _infallible = write!(last.content, "\n\n[and {omitted} more alert(s)]");
    }
}

fn alert(alert: Payload<'_>) -> Result<Post, Refusal> {
    let status = alert.text("/status")?;
    let icon = match status {
        "firing" => ":alert:",
        "resolved" => ":checkbox:",
        _ => return Err(Refusal::Anomalous),
    };
    let name = alert.find_text("/labels/alertname");
    let topic = format!("[{}]", name.or(alert.find_text("/fingerprint")).ok_or(Refusal::Anomalous)?);
    let mut sections = vec![format!("{icon} **{}**", status.to_uppercase())];
    sections.extend(name.map(bold));
    sections.push(format!("This alert was fired at {}.", time(alert.text("/startsAt")?)));
    if let Some(end) = alert.find_text("/endsAt").filter(|end| *end != NEVER && status == "resolved") {
        sections.push(format!("This alert was resolved at {}.", time(end)));
    }
    let list = |title: &str, path: &str| -> Option<String> {
        let members = alert
            .members(path)
            .map(|(name, value)| format!("\n- {}: {}", start(&line(name)), line(&value.shown())));
        let members: String = members.collect();
        (!members.is_empty()).then(|| format!("{title}:{members}"))
    };
    sections.extend(list("Labels", "/labels"));
    let values = list("Values", "/values");
    let values =
        values.or(alert.find_text("/valueString").map(|values| format!("Values:\n{}", start(&line(values)))));
    sections.extend(values);
    sections.extend(list("Annotations", "/annotations"));
    let links = [
        ("Generator", "/generatorURL"),
        ("Dashboard", "/dashboardURL"),
        ("Panel", "/panelURL"),
        ("Silence", "/silenceURL"),
        ("Image", "/imageURL"),
    ];
    // Some addresses have no host, such as those of a server that does not know its own.
    let links: Vec<String> =
        links.iter().filter_map(|(name, path)| web_link(name, alert.find_text(path)?)).collect();
    if !links.is_empty() {
        sections.push(links.join("\n"));
    }
    Ok(Post::new(topic, sections.join("\n\n"), status))
}

/// An alert of a version before 8.
fn older(payload: Payload<'_>) -> Result<Post, Refusal> {
    let state = payload.text("/state")?;
    let icon = match state {
        "alerting" => ":alert:",
        "ok" => ":squared_ok:",
        "no_data" | "paused" | "pending" | "unknown" => ":info:",
        _ => return Err(Refusal::Anomalous),
    };
    let rule = start(&link(payload.text("/ruleName")?, payload.find_text("/ruleUrl").unwrap_or_default()));
    let mut text = format!("{icon} **{}**\n\n{rule}\n\n", state.to_uppercase());
    if let Some(message) = payload.find_text("/message") {
        let lines: Vec<String> = message.lines().map(start).collect();
        let _infallible = write!(text, "{}\n\n", lines.join("\n"));
    }
    for found in payload.find_list("/evalMatches") {
        let value = found.find("/value").map_or("None".to_owned(), |value| line(&value.shown()));
        let _infallible = writeln!(text, "**{}:** {value}", label(found.text("/metric")?));
    }
    let image = payload.find_text("/imageUrl").and_then(|url| web_link("Click to view visualization", url));
    if let Some(image) = image {
        let _infallible = write!(text, "\n{image}");
    }
    Ok(Post::new(payload.text("/title")?, text.trim_end(), state))
}

/// Creates the messages of a delivery of Alertmanager: one for each topic and state.
pub fn alertmanager(payload: Payload<'_>, options: &Options<'_>) -> PostsResult {
    let (name_field, desc_field) =
        (options.name_field.unwrap_or("instance"), options.desc_field.unwrap_or("alertname"));
    let mut topics: BTreeMap<&str, BTreeMap<&str, Vec<String>>> = BTreeMap::new();
    for alert in payload.list("/alerts")? {
        let field = |name: &str| {
            let found = ["/labels", "/annotations"].iter().find_map(|path| {
                alert.members(path).find(|(member, _)| *member == name).and_then(|(_, value)| value.as_text())
            });
            found.map(str::trim).filter(|text| !text.is_empty())
        };
        let topic = field(name_field).unwrap_or("(unknown)");
        let text = field(desc_field).map_or_else(|| format!("<missing field: {}>", line(desc_field)), line);
        let status @ ("firing" | "resolved") = alert.text("/status")? else { return Err(Refusal::Anomalous) };
        let url = alert.find_text("/generatorURL").unwrap_or_default().replace("tab=1", "tab=0");
        let graph = web_link("graph", &url).map(|graph| format!(" ({graph})")).unwrap_or_default();
        topics.entry(topic).or_default().entry(status).or_default().push(format!("{}{graph}", start(&text)));
    }
    let mut posts = Vec::new();
    let mut topics = topics.into_iter();
    for (topic, states) in topics.by_ref().take(MAX_ALERTS) {
        let name = options.topic.map(|_| format!(" {}:", label(topic))).unwrap_or_default();
        for (status, alerts) in states {
            let title = if status == "firing" { ":alert: **FIRING**" } else { ":squared_ok: **Resolved**" };
            let content = match alerts.as_slice() {
                [only] => format!("{title}{name} {only}"),
                several => format!("{title}{name}\n* {}", several.join("\n* ")),
            };
            posts.push(Post::new(topic, content, ""));
        }
    }
    let more = topics.map(|(_, states)| states.values().map(Vec::len).sum::<usize>()).sum();
    note_omitted(&mut posts, more, payload);
    Ok(posts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn alerts_without_a_message_are_counted() {
        let alert = |index: usize| {
            json!({"status": "firing", "labels": {"alertname": "Down", "instance": format!("node{index:02}")},
                "annotations": {}, "startsAt": "2026-09-21T14:00:00Z"})
        };
        let alerts: Vec<Value> = (0..MAX_ALERTS + 2).map(alert).collect();
        for posts in [alertmanager, grafana] {
            let payload = json!({"alerts": alerts, "truncatedAlerts": 3});
            let shown = posts(Payload(&payload), &Options::default()).unwrap();
            assert_eq!(shown.len(), MAX_ALERTS);
            let noted = |post: &Post| post.content.ends_with("\n\n[and 5 more alert(s)]");
            let with_note: Vec<usize> = (0..shown.len()).filter(|index| noted(&shown[*index])).collect();
            assert_eq!(with_note, [MAX_ALERTS - 1]);

            let payload = json!({"alerts": alerts[..2], "truncatedAlerts": 0});
            let shown = posts(Payload(&payload), &Options::default()).unwrap();
            assert!(shown.iter().all(|post| !post.content.contains("more alert(s)")), "{shown:?}");
        }
    }
}
